#!/usr/bin/env python3
"""People give each other data: what arrives is what was published, byte for byte, from every node that has it."""
import json
import os
import shutil
import stat
import subprocess

import cases
import harness


def a_real_folder_travels_to_two_nodes_and_is_identical():
    folder = cases.real_folder()
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        alpha, beta, gamma = (scene.node(u, n) for u, n in ((alice, 'alpha'), (bob, 'beta'), (carol, 'gamma')))
        published = alice.cli('publish', folder, '--name', 'tools', '--access', 'public', '--json', node=alpha).event('published')
        found = bob.cli('search', 'TOOL', '--json').json['contents']
        cases.check([c['content_id'] for c in found] == [published['content_id']], found)

        jobs = []
        for user, node in ((bob, beta), (carol, gamma)):
            (scene.dir / f'of-{user.name}').mkdir()
            jobs.append(lambda u=user, n=node: u.cli('get', 'alice/tools', '--to', scene.dir / f'of-{u.name}', '--lanes', 4,
                                                     '--json', node=n).event('done'))
        for user, done in zip((bob, carol), harness.run_parallel(*jobs)):
            copy = scene.dir / f'of-{user.name}' / folder.name
            cases.check(done['source'] == 'swarm', done)
            cases.check(done['verified_bytes'] == published['bytes'], done)
            cases.check(os.path.samefile(done['path'], copy), done)
            cases.same(folder, copy)
            links = [p for p in folder.rglob('*') if p.is_symlink()]
            if not links:
                subprocess.run(['diff', '-r', folder, copy], check=True)
        replicas = alice.cli('show', 'tools', '--replicas', '--json').json['replicas']
        harness.wait_until(lambda: sum(r['complete'] for r in alice.cli('show', 'tools', '--replicas', '--json').json['replicas']) == 3,
                           f'three complete replicas, not {replicas}')
        for user, node in ((bob, beta), (carol, gamma)):
            user.cli('verify', 'alice/tools', node=node)


def a_single_file_stays_a_file_and_a_second_get_needs_no_network():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/scan 7.h5', 3_000_001)
        alice.cli('publish', source, '--name', 'scan', '--access', 'public', node=alpha)
        target = scene.dir / 'out'
        first = bob.cli('get', 'scan', '--to', target, '--json', node=beta).event('done')
        cases.same(source, target / 'scan 7.h5')
        again = bob.cli('get', 'scan', '--to', target, '--json', node=beta).event('done')
        cases.check(first['source'] == 'swarm' and again['source'] == 'local', (first, again))
        other = bob.cli('get', 'scan', '--to', scene.dir / 'other', '--json', node=beta).event('done')
        cases.check(other['source'] == 'local', other)
        cases.same(source, scene.dir / 'other/scan 7.h5')


def chosen_files_arrive_alone():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        run = scene.dir / 'run'
        for i, name in enumerate(('a.nc', 'raw/b.nc', 'raw/c.txt', 'notes.txt')):
            cases.make_file(run / name, 400_000 + i, seed=i)
        alice.cli('publish', run, '--name', 'run', '--access', 'public', node=alpha)
        bob.cli('get', 'run', '--to', scene.dir / 'out', '--file', '*.nc', node=beta)
        out = scene.dir / 'out/run'
        files = sorted(str(p.relative_to(out)) for p in out.rglob('*') if p.is_file())
        cases.check(files == ['a.nc', 'raw/b.nc'], files)
        for name in files:
            cases.same(run / name, out / name)


def further_files_join_those_that_are_there():
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        alpha, beta, gamma = (scene.node(u, n) for u, n in ((alice, 'alpha'), (bob, 'beta'), (carol, 'gamma')))
        run, out = scene.dir / 'run', scene.dir / 'out/run'
        # Not multiples of a piece, so that neighbours share pieces.
        for i, name in enumerate(('a.nc', 'raw/b.nc', 'raw/c.txt', 'notes.txt')):
            cases.make_file(run / name, 400_000 + i, seed=i)
        (run / 'empty').mkdir()
        os.chmod(run / 'raw', 0o555)
        alice.cli('publish', run, '--name', 'run', '--access', 'public', node=alpha)

        def get(*files):
            wish = [part for name in files for part in ('--file', name)]
            return bob.cli('get', 'run', '--to', scene.dir / 'out', '--json', *wish, node=beta).event('done')

        def names():
            return sorted(str(p.relative_to(out)) for p in out.rglob('*') if p.is_file())

        get('a.nc')
        (out / 'mine.txt').write_text('mine')
        before = (out / 'a.nc').stat()
        added = get('raw/*', 'a.nc')
        cases.check(names() == ['a.nc', 'mine.txt', 'raw/b.nc', 'raw/c.txt'], names())
        cases.check((out / 'a.nc').stat().st_ino == before.st_ino, 'a file that was there was replaced')
        cases.check(sum(s['bytes'] for s in added['seeders']) < 1_200_000, f'what was there is fetched again: {added}')
        cases.check(get('*.nc')['source'] == 'local', 'what is there is fetched again')
        (out / 'notes.txt').write_text('mine')
        cases.refused(bob.cli('get', 'run', '--to', scene.dir / 'out', node=beta, expect=None), 6, out / 'notes.txt', 'already exists')
        (out / 'notes.txt').unlink()
        cases.check((out / 'mine.txt').read_text() == 'mine', 'what is not of the content was touched')
        (out / 'mine.txt').unlink()
        get()
        cases.same(run, out)
        cases.check(stat.S_IMODE((out / 'raw').stat().st_mode) == 0o555, 'the mode of a folder that was added to')
        cases.wait_transfer(bob, beta, 'run', lambda t: t['state'] == 'seeding', 'its one transfer to seed')
        bob.cli('verify', 'run', node=beta)
        alpha.stop()
        carol.cli('get', 'alice/run', '--to', scene.dir / 'third', node=gamma)
        cases.same(run, scene.dir / 'third/run')


def files_that_are_here_already_are_seeded_and_not_fetched():
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        alpha, beta, gamma = (scene.node(u, n) for u, n in ((alice, 'alpha'), (bob, 'beta'), (carol, 'gamma')))
        source = cases.make_file(scene.dir / 'in/data.bin', 5_000_000)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        shared = cases.make_file(scene.dir / 'shared/data.bin', 5_000_000)
        bob.cli('seed', 'alice/data', '--from', shared, node=beta)
        seeding = cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] == 'seeding', 'it to seed')
        cases.check(seeding['received_bytes'] == 0, seeding)
        alpha.stop()
        done = carol.cli('get', 'data', '--to', scene.dir / 'out', '--json', node=gamma).event('done')
        cases.check([s['node'] for s in done['seeders']] == [beta.node_id], done)
        cases.check((scene.dir / 'out/data.bin').read_bytes() == source.read_bytes(), 'bytes differ')


def two_seeders(scene):
    """Alice's and bob's nodes have alice/data, 20 MB; the file, and carol with a node that may fetch it."""
    scene.server()
    alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
    alpha, beta, gamma = (scene.node(u, n) for u, n in ((alice, 'alpha'), (bob, 'beta'), (carol, 'gamma')))
    source = cases.make_file(scene.dir / 'in/data.bin', 20_000_000)
    alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
    bob.cli('get', 'alice/data', '--to', scene.dir / 'copy', node=beta)
    return source, carol, gamma


def no_more_seeders_serve_than_a_person_wishes():
    """One that is left out dials by itself after 2 s, since it cannot know."""
    with harness.Scene() as scene:
        source, carol, gamma = two_seeders(scene)
        done = carol.cli('get', 'alice/data', '--to', scene.dir / 'out', '--seeders', 1, '--limit', '16Mbit', '--json', node=gamma).event('done')
        brought = sorted(seeder['bytes'] for seeder in done['seeders'])
        cases.check(brought[-1] > 19_000_000, f'all but what a first lane brought before the plan came from one: {done["seeders"]}')
        cases.check((scene.dir / 'out/data.bin').read_bytes() == source.read_bytes(), 'bytes differ')


def a_seeder_that_was_left_out_serves_once_it_is_wanted():
    """What it dialled meanwhile was told that nothing is wanted, and has to let this node ask."""
    with harness.Scene() as scene:
        source, carol, gamma = two_seeders(scene)
        getting = carol.start_cli('get', 'alice/data', '--to', scene.dir / 'out', '--seeders', 1, '--limit', '16Mbit', '--json', node=gamma)

        def both_stand():
            peers = carol.cli('transfer', 'show', 'data', '--json', node=gamma, expect=None)
            return peers.code == 0 and sum(bool(peer['lanes']) for peer in peers.json['peers']) == 2
        harness.wait_until(both_stand, 'the one that is left out to dial')
        carol.cli('transfer', 'set', 'data', '--seeders', 2, node=gamma)
        events = [json.loads(line) for line in getting.communicate(timeout=60)[0].splitlines()]
        brought = sorted(seeder['bytes'] for seeder in events[-1]['seeders'])
        cases.check(len(brought) == 2 and brought[0] > 2_000_000, f'both of them serve: {events[-1]["seeders"]}')
        cases.check((scene.dir / 'out/data.bin').read_bytes() == source.read_bytes(), 'bytes differ')


def another_node_of_mine_does_it_by_task():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        share, store = scene.dir / 'share', scene.dir / 'store'
        store.mkdir()
        source = cases.make_file(share / 'sub/data.bin', 2_000_000)
        alpha = scene.node(alice, 'alpha', args=('--share-root', f'data={share}'))
        scene.node(alice, 'beta', args=('--download-root', f'in={store}'))
        listed = alice.cli('node', 'ls', 'alpha:data/sub', '--json').json['entries']
        cases.check([e['name'] for e in listed] == ['data.bin'], listed)
        alice.cli('publish', 'data:sub', '--name', 'sub', '--access', 'public', '--node', 'alpha')
        alice.cli('get', 'sub', '--node', 'beta', '--to', 'in:deep/er')
        cases.same(source, store / 'deep/er/sub/data.bin')
        cases.refused(alice.cli('publish', 'data:../../etc', '--name', 'etc', '--node', 'alpha', expect=None), 2, '..')
        cases.check(alpha.running(), 'the node ended')


cases.run(a_real_folder_travels_to_two_nodes_and_is_identical, a_single_file_stays_a_file_and_a_second_get_needs_no_network,
          chosen_files_arrive_alone, further_files_join_those_that_are_there, files_that_are_here_already_are_seeded_and_not_fetched,
          no_more_seeders_serve_than_a_person_wishes,
          a_seeder_that_was_left_out_serves_once_it_is_wanted, another_node_of_mine_does_it_by_task)
