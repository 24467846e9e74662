#!/usr/bin/env python3
"""A disk that is full, read-only, lossy or not mounted, played by tmpfs, a loop device and bind mounts. Needs root."""
import contextlib
import os
import pathlib
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


def remounted(folder, options):
    return subprocess.run(['mount', '-o', f'remount,{options}', folder], capture_output=True).returncode == 0


def published(scene, other=0):
    """alice's content `data`, and one of `other` bytes, both served by her node; its file, and bob with a node."""
    scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
    source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
    alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
    if other:
        alice.cli('publish', cases.make_file(scene.dir / 'in/other.bin', other, seed=2), '--name', 'other', '--access', 'public', node=alpha)
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
            # Slow enough to be far from its end when the disk is full.
            transfer = bob.cli('get', 'data', '--to', disk, '--limit', '8Mbit', '--detach', '--json', node=beta).event('started')['transfer_id']
            cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > 0, 'the first bytes')
            with contextlib.suppress(OSError), open(disk / 'somebody-elses', 'wb') as other:
                while True:
                    other.write(bytes(1 << 20))
                    other.flush()
            paused = cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] == 'paused', 'it to pause on the full disk', 120)
            cases.check(paused['error_code'] == 'disk', paused)
            cases.check(all(part in paused['message'] for part in (str(disk), 'free', 'need')), paused)
            bob.cli('transfer', 'set', transfer, '--limit', 'unlimited', node=beta)
            os.unlink(disk / 'somebody-elses')
            cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('seeding', 'complete'), 'it to go on by itself', 180)
            cases.same(source, disk / 'data.bin')
            beta.stop()


def a_read_only_disk_is_exit_8():
    with harness.Scene() as scene:
        _, bob, beta = published(scene)
        with small_disk(scene.dir / 'disk', 60) as disk:
            cases.check(remounted(disk, 'ro'), 'the disk cannot be made read-only')
            cases.refused(bob.cli('get', 'data', '--to', disk, node=beta, expect=None), 8, disk)


def a_disk_that_turns_read_only_meanwhile_is_exit_8_and_nothing_is_lost():
    with harness.Scene() as scene:
        source, bob, beta = published(scene)
        with small_disk(scene.dir / 'disk', 50) as disk:
            started = bob.cli('get', 'data', '--to', disk, '--limit', '16Mbit', '--detach', '--json', node=beta).event('started')
            transfer = started['transfer_id']
            # So much that the disk has no room for all of it a second time: only the rest may be asked for.
            cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > SIZE * 2 // 5, 'two fifths of it')
            # The kernel takes no disk from a program that is writing to it: the transfer rests for that moment.
            bob.cli('transfer', 'pause', transfer, node=beta)
            harness.wait_until(lambda: remounted(disk, 'ro'), 'the disk to become read-only')
            bob.cli('transfer', 'resume', transfer, node=beta)
            cases.refused(bob.cli('transfer', 'wait', transfer, '--timeout', '40s', node=beta, expect=None), 8, f'cannot write {disk}', 'Read-only file system',
                          f'gridtorrent transfer resume {transfer}')
            failed = cases.transfer_of(bob, beta, 'data')
            cases.check(failed['state'] == 'failed' and failed['error_code'] == 'disk', failed)
            cases.check(failed['verified_bytes'] > SIZE * 2 // 5, failed)
            cases.check(remounted(disk, 'rw'), 'the disk stays read-only')
            bob.cli('transfer', 'set', transfer, '--limit', '0', node=beta)
            bob.cli('transfer', 'resume', transfer, node=beta)
            cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('seeding', 'complete'), 'the rest', 180)
            cases.same(source, disk / 'data.bin')
            cases.check(os.listdir(disk) == ['data.bin'], f'left behind: {os.listdir(disk)}')
            received = cases.transfer_of(bob, beta, 'data')['received_bytes']
            cases.check(received < SIZE + SIZE // 4, f'{received} bytes were received: what was there is fetched again')
            beta.stop()


@contextlib.contextmanager
def thin_disk(folder, pool, megabytes):
    """A filesystem of `megabytes` on a device whose `pool` has room for a part of that: it takes what is written, and loses it."""
    image = pool / 'image'
    with open(image, 'wb') as file:
        file.truncate(megabytes << 20)
    subprocess.run(['mkfs.ext4', '-q', '-O', '^has_journal', '-m', '0', '-E', 'lazy_itable_init=0,nodiscard', image], check=True)
    folder.mkdir()
    subprocess.run(['mount', '-o', 'loop,errors=continue', image, folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(['umount', '-l', folder], check=True)


def what_a_disk_loses_is_noticed_and_fetched_again():
    with harness.Scene() as scene:
        source, bob, beta = published(scene)
        with small_disk(scene.dir / 'pool', 24) as pool, thin_disk(scene.dir / 'disk', pool, 100) as disk:
            started = bob.cli('get', 'data', '--to', disk, '--detach', '--json', node=beta).event('started')
            transfer = started['transfer_id']
            cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] == 'failed', 'it to give up on that disk', 180)
            cases.check(not (disk / 'data.bin').exists(), 'lost bytes were put in place')
            cases.refused(bob.cli('transfer', 'wait', transfer, node=beta, expect=None), 8, f'gridtorrent transfer resume {transfer}')
            cases.check(remounted(pool, 'size=200m'), 'the pool does not grow')
            bob.cli('transfer', 'resume', transfer, node=beta)
            cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('seeding', 'complete'), 'what was lost', 180)
            pathlib.Path('/proc/sys/vm/drop_caches').write_text('1')  # what counts is on the disk
            cases.same(source, disk / 'data.bin')
            beta.stop()


@contextlib.contextmanager
def mounted(folder, disk):
    subprocess.run(['mount', '--bind', disk, folder], check=True)
    try:
        yield
    finally:
        subprocess.run(['umount', folder], check=True)


def a_disk_that_is_not_mounted_yet_is_waited_for():
    with harness.Scene() as scene:
        source, bob, beta = published(scene, other=1_000_000)
        disk, folder = scene.dir / 'disk', scene.dir / 'mnt'
        disk.mkdir()
        folder.mkdir()

        def wait(name, condition, what):
            return cases.wait_transfer(bob, beta, name, condition, what, 120)

        with mounted(folder, disk):
            bob.cli('get', 'other', '--to', folder, node=beta)
            bob.cli('get', 'data', '--to', folder, '--limit', '16Mbit', '--detach', node=beta)
            wait('data', lambda t: t['verified_bytes'] > SIZE // 5, 'a fifth of it')
            beta.stop()
        beta.start()
        paused = wait('data', lambda t: t['state'] == 'paused', 'the fetch to wait for its disk')
        cases.check('is its disk mounted?' in paused['message'], paused)
        missed = wait('other', lambda t: t['state'] == 'complete' and 'is the disk mounted?' in t.get('message', ''), 'what is held to be missed')
        cases.check(os.listdir(folder) == [], f'put below the mount point: {os.listdir(folder)}')
        with mounted(folder, disk):
            wait('data', lambda t: t['state'] == 'fetching', 'the fetch to go on by itself')
            bob.cli('transfer', 'set', paused['transfer_id'], '--limit', 'unlimited', node=beta)
            wait('data', lambda t: t['state'] == 'seeding', 'all of it')
            bob.cli('transfer', 'resume', missed['transfer_id'], node=beta)  # without this within half a minute
            wait('other', lambda t: t['state'] == 'seeding', 'what is held to be seeded again')
            cases.same(source, folder / 'data.bin')
            received = cases.transfer_of(bob, beta, 'data')['received_bytes']
            cases.check(received < SIZE + SIZE // 4, f'{received} bytes were received: what was there is fetched again')
            beta.stop()


if os.geteuid() != 0:
    harness.skip('a tmpfs of its own needs root')
with harness.Scene() as probe:
    try:
        with small_disk(probe.dir / 'probe', 1):
            pass
    except subprocess.CalledProcessError:
        harness.skip('this machine lets nobody mount a tmpfs')
cases.run(a_disk_that_is_too_small_is_refused_with_both_figures, a_disk_that_fills_up_meanwhile_pauses_the_transfer_too,
          a_read_only_disk_is_exit_8, a_disk_that_turns_read_only_meanwhile_is_exit_8_and_nothing_is_lost,
          what_a_disk_loses_is_noticed_and_fetched_again, a_disk_that_is_not_mounted_yet_is_waited_for)
