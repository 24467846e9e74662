#!/usr/bin/env python3
"""The server goes away and comes back: what runs goes on, what needs it says so, nothing is fetched twice."""
import cases
import harness

SIZE = cases.scaled('SERVER_BYTES', 40_000_000)


def a_transfer_outlives_the_server_and_fetches_nothing_twice():
    with harness.Scene() as scene:
        server = scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        bob.cli('get', 'data', '--to', scene.dir / 'out', '--limit', '80Mbit', '--detach', node=beta)
        cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > 0, 'the first bytes')
        server.kill()
        cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > SIZE // 2, 'half of it without a server')
        cases.refused(bob.cli('search', expect=None), 5, server.address)
        server.restart_on_same_port()
        cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('seeding', 'complete'), 'the end')
        cases.same(source, scene.dir / 'out/data.bin')
        sent = cases.transfer_of(alice, alpha, 'data')['sent_bytes']
        twice = cases.transfer_of(bob, beta, 'data')['redundant_bytes']  # by the end game, with or without a server
        cases.check(sent <= SIZE + twice, f'{sent - SIZE - twice} bytes were fetched again')
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
        server.restart_on_same_port()
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
        server.restart_on_same_port()
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
        server.restart_on_same_port()
        names = {c['name'] for c in alice.cli('search', '--json').json['contents']}
        cases.check(names == {f'data-{i}' for i in range(5)}, names)


cases.run(a_transfer_outlives_the_server_and_fetches_nothing_twice, a_publish_waits_for_the_server_and_says_so,
          a_node_starts_without_its_server_and_joins_it_later, accounts_and_contents_survive_a_killed_server)
