#!/usr/bin/env python3
"""Data that is not what was published never arrives, and never goes unnoticed."""
import os
import subprocess

import cases
import harness

SIZE = cases.scaled('DATA_BYTES', 20_000_000)


def an_altered_seeder_is_refused_and_others_are_used():
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        alpha, beta, gamma = (scene.node(u, n) for u, n in ((alice, 'alpha'), (bob, 'beta'), (carol, 'gamma')))
        source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        bob.cli('get', 'data', '--to', scene.dir / 'good', node=beta)
        cases.alter(source)
        carol.cli('get', 'data', '--to', scene.dir / 'out', node=gamma)
        cases.same(scene.dir / 'good/data.bin', scene.dir / 'out/data.bin')


def an_altered_seeder_alone_gives_nothing_and_it_is_said():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        cases.alter(source)
        bob.cli('get', 'data', '--to', scene.dir / 'out', '--detach', node=beta)
        harness.wait_until(lambda: alpha.node_id in beta.log(100_000) and 'piece' in beta.log(100_000),
                           f'the node to name {alpha.node_id} as a source of bad pieces', 60)
        cases.check(cases.transfer_of(bob, beta, 'data')['state'] not in ('seeding', 'complete'), 'it arrived')
        cases.check(not (scene.dir / 'out/data.bin').exists(), 'it arrived')
        cases.refused(alice.cli('verify', 'data', '--json', node=alpha, expect=None), 7)


def verify_names_what_differs():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        run = scene.dir / 'run'
        for i in range(4):
            cases.make_file(run / f'{i}.dat', 100_000, seed=i)
        alice.cli('publish', run, '--name', 'run', '--access', 'public', node=alpha)
        alice.cli('verify', 'run', node=alpha)
        cases.alter(run / '1.dat')
        (run / '2.dat').unlink()
        os.truncate(run / '3.dat', 99_999)
        result = alice.cli('verify', 'run', '--json', node=alpha, expect=None)
        cases.check(result.code == 7, result)
        faults = {f['path']: f['reason'] for f in result.event('verified')['faults']}
        cases.check(sorted(faults) == ['run/1.dat', 'run/2.dat', 'run/3.dat'], faults)
        cases.check('missing' in faults['run/2.dat'] and '99999' in faults['run/3.dat'], faults)


def what_got_lost_is_fetched_alone_and_nothing_is_replaced():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        run, out = scene.dir / 'run', scene.dir / 'out/run'
        for name in ('raw/0.dat', 'raw/1.dat', 'raw/2.dat', 'notes.txt'):
            cases.make_file(run / name, 700_001, seed=len(name) + ord(name[4]))
        alice.cli('publish', run, '--name', 'run', '--access', 'public', node=alpha)

        def get(user, node, to, **more):
            return user.cli('get', 'alice/run', '--to', to, '--json', node=node, **more)

        get(bob, beta, scene.dir / 'out')
        (out / 'mine.txt').write_text('mine')
        cases.alter(out / 'raw/1.dat')
        (out / 'raw/2.dat').unlink()
        cases.refused(bob.cli('verify', 'alice/run', node=beta, expect=None), 7, 'move away what differs')
        cases.refused(get(bob, beta, scene.dir / 'out', expect=None), 6, 'raw/1.dat', 'move away what differs')
        cases.check(not (out / 'raw/2.dat').exists(), 'fetched beside a file that differs')
        (out / 'raw/1.dat').rename(scene.dir / 'altered')
        before = (out / 'raw/0.dat').stat().st_ino
        get(bob, beta, scene.dir / 'out')
        # 1.4 of 2.8 MB, and what shares a piece with them.
        received = cases.transfer_of(bob, beta, 'run')['received_bytes']
        cases.check(1_400_002 <= received < 2_800_004, f'what was there is fetched again: {received} bytes')
        cases.check((out / 'raw/0.dat').stat().st_ino == before, 'a file that was there was replaced')
        cases.check((out / 'mine.txt').read_text() == 'mine', 'what is not of the content was touched')
        times = out.stat()
        (out / 'mine.txt').unlink()
        os.utime(out, ns=(times.st_atime_ns, times.st_mtime_ns))
        cases.same(run, out)

        # And its publisher gets back what he lost, from whoever has it.
        (run / 'notes.txt').unlink()
        cases.refused(alice.cli('verify', 'run', node=alpha, expect=None), 7)
        done = get(alice, alpha, scene.dir).event('done')
        cases.check(beta.node_id in [s['node'] for s in done['seeders']], done)
        cases.same(out, run)
        cases.wait_transfer(alice, alpha, 'run', lambda t: t['state'] == 'seeding', 'its one transfer to seed')


def checksums_fit_sha256sum():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        run = scene.dir / 'run'
        for i, name in enumerate(('a', 'b c', 'new\nline', 'back\\slash')):
            cases.make_file(run / name, 50_000, seed=i)
        alice.cli('publish', run, '--name', 'run', '--access', 'public', node=alpha)
        harness.wait_until(lambda: alice.cli('show', 'run', '--json').json['has_checksums'], 'the checksums in the background')
        sums = alice.cli('show', 'run', '--manifest', 'sha256').out
        subprocess.run(['sha256sum', '--strict', '-c', '-'], input=sums.encode(), cwd=scene.dir, check=True, capture_output=True)
        sums = alice.cli('verify', 'run', '--sha256', node=alpha).out
        subprocess.run(['sha256sum', '--strict', '-c', '-'], input=sums.encode(), cwd=scene.dir, check=True, capture_output=True)


cases.run(an_altered_seeder_is_refused_and_others_are_used, an_altered_seeder_alone_gives_nothing_and_it_is_said,
          verify_names_what_differs, what_got_lost_is_fetched_alone_and_nothing_is_replaced, checksums_fit_sha256sum)
