#!/usr/bin/env python3
"""Rights are enforced where data flows: encrypted lanes, lists of keys, and what happens when a right comes or goes."""
import time

import cases
import harness


def lanes_of(user, node, content):
    """Open lanes and state of the node's transfer of a content, and what it waits for."""
    for t in user.cli('transfers', '--json', node=node).json['transfers']:
        if t['name'] == content:
            return t
    return None


def ports_of(*nodes, tls):
    return {e['port'] for node in nodes for e in node.ready['lane_endpoints'] if e['tls'] == tls}


def remote_ports(user, node, content):
    """Of the open lanes that the node dialled."""
    t = lanes_of(user, node, content)
    shown = user.cli('transfer', 'show', t['transfer_id'], '--json', node=node).json
    return {int(lane['remote'].rpartition(':')[2]) for peer in shown['peers'] for lane in peer['lane_stats']
            if lane['state'] == 'open' and lane['outgoing']}


def start_get(user, node, content, target, *options):
    user.cli('get', content, '--to', target, '--detach', *options, node=node)


def progress(user, node, content):
    t = lanes_of(user, node, content)
    return t['verified_bytes'] if t else 0


def rested(user, node, content):
    """The progress once what came before has been hashed and written, which may take a moment."""
    while (before := progress(user, node, content)) != (time.sleep(2) or progress(user, node, content)):
        pass
    return before


def check_fetched_once(done, begun_pieces):
    """Of 60 MB nothing that was verified came again; pieces that were only begun may be lost with their lanes."""
    # On a busy machine blocks are asked for twice, too; that is not what this is about.
    received = sum(s['bytes'] for s in done['seeders']) - done['redundant_bytes']
    cases.check(received < 60_000_000 + begun_pieces, f'{received} bytes came for 60 MB: it was fetched again')


def private_content_travels_between_its_owners_nodes_alone():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta, other = scene.node(alice, 'alpha'), scene.node(alice, 'beta'), scene.node(bob, 'other')
        source = cases.make_file(scene.dir / 'in/secret.bin', 40_000_000)
        published = alice.cli('publish', source, '--name', 'secret', '--access', 'private', '--json', node=alpha).event('published')
        cases.refused(bob.cli('get', published['content_id'], '--to', scene.dir / 'bob', node=other, expect=None), 3,
                      'or not yours to see')
        start_get(alice, beta, 'secret', scene.dir / 'out', '--limit', '80Mbit', '--lanes', 4)
        dialled = harness.wait_until(lambda: remote_ports(alice, beta, 'secret'), 'a lane')
        cases.check(dialled <= ports_of(alpha, tls=True), f'plain lanes: {dialled}')
        done = alice.cli('get', 'secret', '--to', scene.dir / 'out', '--json', node=beta).event('done')
        cases.check(done['source'] == 'swarm', done)
        cases.same(source, scene.dir / 'out/secret.bin')


def content_shared_with_a_user_is_theirs_to_have_and_nobody_elses():
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        alpha, beta, gamma = (scene.node(u, n) for u, n in ((alice, 'alpha'), (bob, 'beta'), (carol, 'gamma')))
        source = cases.make_file(scene.dir / 'in/data.bin', 5_000_000)
        alice.cli('publish', source, '--name', 'data', '--access', 'user:bob', node=alpha)
        bob.cli('get', 'alice/data', '--to', scene.dir / 'bob', node=beta)
        cases.same(source, scene.dir / 'bob/data.bin')
        cases.refused(carol.cli('get', 'alice/data', '--to', scene.dir / 'carol', node=gamma, expect=None), 3, 'alice/data')
        cases.refused(alice.cli('access', 'data', '--set', 'user:nobody', expect=None), 3, 'no user "nobody"')
        # Who had it serves it to who is added, without its publisher.
        alpha.stop()
        alice.cli('access', 'data', '--set', 'user:bob,user:carol')
        carol.cli('get', 'alice/data', '--to', scene.dir / 'carol', node=gamma)
        cases.same(source, scene.dir / 'carol/data.bin')


def a_right_that_is_taken_ends_the_lanes_and_one_that_returns_goes_on():
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        alpha, beta, gamma = (scene.node(u, n) for u, n in ((alice, 'alpha'), (bob, 'beta'), (carol, 'gamma')))
        source = cases.make_file(scene.dir / 'in/data.bin', 60_000_000)
        alice.cli('publish', source, '--name', 'data', '--access', 'user:bob,user:carol', node=alpha)
        for user, node in ((bob, beta), (carol, gamma)):
            start_get(user, node, 'alice/data', scene.dir / f'of-{user.name}', '--limit', '4Mbit', '--lanes', 2)
        for user, node in ((bob, beta), (carol, gamma)):
            harness.wait_until(lambda: progress(user, node, 'data') > 2_000_000, f'{user.name} to fetch')

        alice.cli('access', 'data', '--set', 'user:carol')
        taken = time.monotonic()
        harness.wait_until(lambda: lanes_of(bob, beta, 'data')['lanes'] == 0, 'the lanes to end', harness.SOON_S)
        print(f'        lanes ended after {time.monotonic() - taken:.2f} s (asked: 5 s)')
        # What it says first may be that nobody answers: beta hears why with its next announce.
        harness.wait_until(lambda: 'not yours to have any more' in (lanes_of(bob, beta, 'data').get('message') or ''), 'the reason', harness.SOON_S)
        had = rested(bob, beta, 'data')
        theirs = progress(carol, gamma, 'data')
        harness.wait_until(lambda: progress(carol, gamma, 'data') > theirs + 2_000_000, 'the entitled to go on')
        cases.check(progress(bob, beta, 'data') == had, 'nothing came to who may not have it')
        cases.refused(bob.cli('show', 'alice/data', expect=None), 3, 'or not yours to see')

        alice.cli('access', 'data', '--set', 'user:bob,user:carol')
        bob.cli('transfer', 'set', lanes_of(bob, beta, 'data')['transfer_id'], '--limit', '0', node=beta)
        done = bob.cli('get', 'alice/data', '--to', scene.dir / 'of-bob', '--json', node=beta).event('done')
        cases.same(source, scene.dir / 'of-bob/data.bin')
        check_fetched_once(done, 1_000_000)


def access_moves_content_between_editions_while_it_travels():
    """Public, group, user, public, while three nodes seed and one fetches (the issue's row C)."""
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol, dave = (scene.user(n) for n in ('alice', 'bob', 'carol', 'dave'))
        alpha, beta, gamma, delta = (scene.node(u, n) for u, n in
                                     ((alice, 'alpha'), (bob, 'beta'), (carol, 'gamma'), (dave, 'delta')))
        alice.cli('group', 'create', 'lab')
        for user in (bob, carol):
            alice.cli('group', 'invite', 'lab', user.name)
            user.cli('group', 'accept', 'lab')
        source = cases.make_file(scene.dir / 'in/data.bin', 60_000_000)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        for user, node in ((carol, gamma), (dave, delta)):
            user.cli('get', 'alice/data', '--to', scene.dir / user.name, node=node)
        start_get(bob, beta, 'alice/data', scene.dir / 'bob', '--limit', '4Mbit', '--lanes', 2)
        harness.wait_until(lambda: progress(bob, beta, 'data') > 2_000_000, 'the first bytes')
        for access, entitled in (('group:lab', {carol}), ('user:bob,user:dave', {dave}), ('public', {carol, dave})):
            alice.cli('access', 'data', '--set', access)
            before = progress(bob, beta, 'data')
            changed = time.monotonic()
            tls = access != 'public'
            ports = ports_of(alpha, gamma, delta, tls=tls)

            def on_the_right_lanes():
                dialled = remote_ports(bob, beta, 'data')
                return dialled and dialled <= ports
            harness.wait_until(on_the_right_lanes, f'lanes of the edition for {access}', harness.SOON_S)
            for user, node in ((carol, gamma), (dave, delta)):
                harness.wait_until(lambda: (lanes_of(user, node, 'data')['state'] == 'seeding') == (user in entitled),
                                   f'{user.name} to follow to {access}', harness.SOON_S)
            print(f'        all four on the edition for {access} after {time.monotonic() - changed:.2f} s')
            harness.wait_until(lambda: progress(bob, beta, 'data') > before + 500_000, 'the fetch to go on')
            cases.check(progress(bob, beta, 'data') >= before, 'nothing that was verified is lost')
        bob.cli('transfer', 'set', lanes_of(bob, beta, 'data')['transfer_id'], '--limit', '0', node=beta)
        done = bob.cli('get', 'alice/data', '--to', scene.dir / 'bob', '--json', node=beta).event('done')
        cases.same(source, scene.dir / 'bob/data.bin')
        check_fetched_once(done, 3_000_000)
        for node in (alpha, beta, gamma, delta):
            cases.check('verifying' not in node.log(100_000), f'{node.name} hashed')


def lists_outlive_restarts_and_an_absent_server():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        first = harness.free_ports(16)
        alpha = scene.node(alice, 'alpha', tls_ports=f'{first}-{first + 15}')
        beta = scene.node(alice, 'beta')
        source = cases.make_file(scene.dir / 'in/data.bin', 30_000_000)
        alice.cli('publish', source, '--name', 'data', '--access', 'private', node=alpha)
        start_get(alice, beta, 'data', scene.dir / 'out', '--limit', '4Mbit', '--lanes', 2)
        harness.wait_until(lambda: progress(alice, beta, 'data') > 1_000_000, 'the first bytes')
        server.stop()
        alpha.kill()
        alpha.start()
        before = progress(alice, beta, 'data')
        harness.wait_until(lambda: progress(alice, beta, 'data') > before + 500_000, 'the seeder to serve by what it kept', 60)


def lists_end_with_their_lease_and_come_back_with_the_server():
    """The issue's row H: closed when the server was not heard for --list-lifetime, and open again with it."""
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        lease = ('--list-lifetime', '60s')
        alpha, beta = scene.node(alice, 'alpha', args=lease), scene.node(alice, 'beta', args=lease)
        source = cases.make_file(scene.dir / 'in/data.bin', 60_000_000)
        alice.cli('publish', source, '--name', 'data', '--access', 'private', node=alpha)
        start_get(alice, beta, 'data', scene.dir / 'out', '--limit', '3Mbit', '--lanes', 2)
        harness.wait_until(lambda: progress(alice, beta, 'data') > 500_000, 'the first bytes')
        server.stop()
        stopped = time.monotonic()
        harness.wait_until(lambda: lanes_of(alice, beta, 'data')['lanes'] == 0, 'the lease to end', 75)
        print(f'        lanes ended {time.monotonic() - stopped:.0f} s after the server was last there')
        cases.check(time.monotonic() - stopped > 20, 'the lease did not count')
        before = rested(alice, beta, 'data')
        time.sleep(4)
        cases.check(progress(alice, beta, 'data') == before, 'something came without a list')
        server.start()
        back = time.monotonic()
        harness.wait_until(lambda: progress(alice, beta, 'data') > before, 'the transfer to go on by itself', 60)
        print(f'        went on {time.monotonic() - back:.0f} s after the server was back')
        alice.cli('transfer', 'set', lanes_of(alice, beta, 'data')['transfer_id'], '--limit', '0', node=beta)
        alice.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
        cases.same(source, scene.dir / 'out/data.bin')


if __name__ == '__main__':
    cases.run(private_content_travels_between_its_owners_nodes_alone, content_shared_with_a_user_is_theirs_to_have_and_nobody_elses,
              a_right_that_is_taken_ends_the_lanes_and_one_that_returns_goes_on,
              access_moves_content_between_editions_while_it_travels,
              lists_outlive_restarts_and_an_absent_server,
              lists_end_with_their_lease_and_come_back_with_the_server)
