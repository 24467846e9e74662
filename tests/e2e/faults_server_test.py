#!/usr/bin/env python3
"""The server goes away and comes back: what runs goes on, what needs it says so, nothing is fetched twice."""
import cases
import harness

SIZE = cases.scaled('SERVER_BYTES', 40_000_000)


def open_lanes(transfer):
    return sorted((lane['local'], lane['remote']) for peer in transfer['peers'] for lane in peer['lane_stats'] if lane['state'] == 'open')


def a_transfer_outlives_the_server_and_fetches_nothing_twice():
    with harness.Scene() as scene:
        server = scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        started = bob.cli('get', 'data', '--to', scene.dir / 'out', '--limit', '40Mbit', '--detach', '--json', node=beta).event('started')
        before = cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > 0 and len(open_lanes(t)) == 4, 'the first bytes')
        server.kill()
        cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > SIZE // 4, 'a quarter of it without a server')
        cases.refused(bob.cli('search', expect=None), 5, server.address)
        # Slow enough that the end game, in which blocks are asked of two lanes on purpose, waits for the server, too.
        bob.cli('transfer', 'set', started['transfer_id'], '--limit', '4Mbit', node=beta)
        server.start()
        harness.wait_until(lambda: bob.cli('node', 'show', 'beta', '--json').json['online'], 'the node to be known again', 90)
        meanwhile = cases.transfer_of(bob, beta, 'data')
        cases.check(meanwhile['verified_bytes'] < SIZE * 3 // 4, f'too far to tell: {meanwhile}')
        cases.check(open_lanes(meanwhile) == open_lanes(before), f'lanes ended: {open_lanes(before)} became {open_lanes(meanwhile)}')
        cases.check(meanwhile['redundant_bytes'] == 0, f'{meanwhile["redundant_bytes"]} bytes were fetched again')
        bob.cli('transfer', 'set', started['transfer_id'], '--limit', 'unlimited', node=beta)
        cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('seeding', 'complete'), 'the end')
        cases.same(source, scene.dir / 'out/data.bin')
        harness.wait_until(lambda: sum(r['complete'] for r in alice.cli('show', 'data', '--replicas', '--json').json['replicas']) == 2,
                           'both replicas to be known again', 90)


def a_publish_waits_for_the_server_and_says_so():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        source = cases.make_file(scene.dir / 'data.bin', 100_000)
        server.kill()
        publish = alice.start_cli('publish', source, '--name', 'data', '--json', node=alpha)
        told = publish.stderr.readline()
        cases.check(server.address in told, f'the first line on stderr: {told!r}')
        server.start()
        out, err = publish.communicate(timeout=90)
        cases.check(publish.returncode == 0, f'{out}\n{err}')
        cases.check(harness.Result([], 0, out, err, 0).event('published')['name'] == 'data', out)
        found = alice.cli('search', '--json').json['contents']
        cases.check(len(found) == 1, f'published {len(found)} times')


def a_node_starts_without_its_server_and_joins_it_later():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        alpha.stop()
        server.stop()
        alpha.start()
        alice.cli('transfers', node=alpha)
        server.start()
        harness.wait_until(lambda: alice.cli('node', 'show', 'alpha', '--json').json['online'], 'the node to be online again', 90)


def accounts_and_contents_survive_a_killed_server():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        for i in range(5):
            source = cases.make_file(scene.dir / f'in/{i}.bin', 10_000, seed=i)
            alice.cli('publish', source, '--name', f'data-{i}', '--access', 'public', node=alpha)
        server.kill()
        server.start()
        names = {c['name'] for c in alice.cli('search', '--json').json['contents']}
        cases.check(names == {f'data-{i}' for i in range(5)}, names)


cases.run(a_transfer_outlives_the_server_and_fetches_nothing_twice, a_publish_waits_for_the_server_and_says_so,
          a_node_starts_without_its_server_and_joins_it_later, accounts_and_contents_survive_a_killed_server)
