#!/usr/bin/env python3
"""A disk that is full or read-only, played by a small tmpfs. Needs root."""
import contextlib
import os
import subprocess

import cases
import harness

SIZE = 40_000_000


@contextlib.contextmanager
def small_disk(folder, megabytes):
    folder.mkdir()
    subprocess.run(['mount', '-t', 'tmpfs', '-o', f'size={megabytes}m', 'gt-test', folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(['umount', '-l', folder], check=True)


def remount(folder, options):
    subprocess.run(['mount', '-o', f'remount,{options}', folder], check=True)


def published(scene):
    scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
    source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
    alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
    return source, bob, beta


def a_disk_that_is_too_small_is_refused_with_both_figures():
    with harness.Scene() as scene:
        _, bob, beta = published(scene)
        with small_disk(scene.dir / 'disk', 24) as disk:
            line = cases.refused(bob.cli('get', 'data', '--to', disk, node=beta, expect=None), 8, disk, 'free', 'needed', SIZE)
            cases.check(str(24 << 20) in line, line)
            cases.check(os.listdir(disk) == [], f'left behind: {os.listdir(disk)}')


def a_disk_that_fills_up_meanwhile_pauses_the_transfer_too():
    with harness.Scene() as scene:
        source, bob, beta = published(scene)
        with small_disk(scene.dir / 'disk', 60) as disk:
            bob.cli('get', 'data', '--to', disk, '--limit', '80Mbit', '--detach', node=beta)
            cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > 0, 'the first bytes')
            with contextlib.suppress(OSError), open(disk / 'somebody-elses', 'wb') as other:
                while True:
                    other.write(bytes(1 << 20))
                    other.flush()
            paused = cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] == 'paused', 'it to pause on the full disk', 120)
            cases.check(paused['error_code'] == 'disk', paused)
            cases.check(all(part in paused['message'] for part in (str(disk), 'free', 'need')), paused)
            os.unlink(disk / 'somebody-elses')
            cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('seeding', 'complete'), 'it to go on by itself', 180)
            cases.same(source, disk / 'data.bin')
            beta.stop()


def a_read_only_disk_is_exit_8():
    with harness.Scene() as scene:
        _, bob, beta = published(scene)
        with small_disk(scene.dir / 'disk', 60) as disk:
            remount(disk, 'ro')
            cases.refused(bob.cli('get', 'data', '--to', disk, node=beta, expect=None), 8, disk)


if os.geteuid() != 0:
    harness.skip('a tmpfs of its own needs root')
with harness.Scene() as probe:
    try:
        with small_disk(probe.dir / 'probe', 1):
            pass
    except subprocess.CalledProcessError:
        harness.skip('this machine lets nobody mount a tmpfs')
cases.run(a_disk_that_is_too_small_is_refused_with_both_figures, a_disk_that_fills_up_meanwhile_pauses_the_transfer_too,
          a_read_only_disk_is_exit_8)
