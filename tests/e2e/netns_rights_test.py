#!/usr/bin/env python3
"""A member is removed in the middle of a large transfer, from two seeders that see them and somebody entitled under one address
(the issue's row B)."""
import shutil
import time

import cases
import harness
import netns

SIZE = 1_000_000_000


def transfer(user, node):
    for t in user.cli('transfers', '--json', node=node).json['transfers']:
        if t['name'] == 'data':
            return t
    return None


def lanes_to(user, node, other):
    """Lanes from the node to the other, what it has sent over them, and the addresses that it sees at their far end."""
    shown = user.cli('transfer', 'show', transfer(user, node)['transfer_id'], '--json', node=node).json
    for peer in shown['peers']:
        if peer['node'] == other.node_id:
            return peer['lanes'], peer['sent_bytes'], {lane['remote'].rpartition(':')[0] for lane in peer['lane_stats']}
    return 0, 0, set()


def a_removed_member_is_cut_off_and_their_neighbour_is_not():
    with netns.Network('hub', 'one', 'two', 'gate') as net, harness.Scene() as scene:
        net.hide_behind('gate', 'inner', 'outer')
        hub = net['hub']
        scene.server(listen=f'{hub.address}:7443', advertise=f'{hub.address}:7443', netns=hub.ns)
        scene.admin(hub.ns)
        alice, dave = scene.user('alice', netns=net['one'].ns), scene.user('dave', netns=net['two'].ns)
        bob, carol = scene.user('bob', netns=net['inner'].ns), scene.user('carol', netns=net['outer'].ns)
        alpha = scene.node(alice, 'alpha', netns=net['one'].ns, address=net['one'].address, ports='50000-50003', tls_ports='50016-50019')
        delta = scene.node(dave, 'delta', netns=net['two'].ns, address=net['two'].address, ports='50000-50003', tls_ports='50016-50019')
        beta = scene.node(bob, 'beta', netns=net['inner'].ns, ports='50000-50003', tls_ports='50016-50019')
        gamma = scene.node(carol, 'gamma', netns=net['outer'].ns, ports='50000-50003', tls_ports='50016-50019')
        alice.cli('group', 'create', 'lab')
        for user in (bob, carol, dave):
            alice.cli('group', 'invite', 'lab', user.name)
            user.cli('group', 'accept', 'lab')
        source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'group:lab', node=alpha)
        dave.cli('seed', 'alice/data', '--from', source, node=delta)
        for user, node in ((bob, beta), (carol, gamma)):
            user.cli('get', 'alice/data', '--to', scene.dir / user.name, '--limit', '120Mbit', '--lanes', 2, '--detach', node=node)
        for user, node in ((bob, beta), (carol, gamma)):
            harness.wait_until(lambda: transfer(user, node)['verified_bytes'] > SIZE // 20, f'{user.name} to fetch', 60)
        seeders = ((alice, alpha), (dave, delta))
        for user, node in seeders:
            for other in (beta, gamma):
                addresses = lanes_to(user, node, other)[2]
                cases.check(addresses == {net['gate'].address}, f'{node.name} sees {other.name} under {addresses}')

        alice.cli('group', 'remove', 'lab', 'bob')
        removed = time.monotonic()
        for user, node in seeders:
            harness.wait_until(lambda: lanes_to(user, node, beta)[0] == 0, f'the lanes of {node.name} to end', harness.SOON_S)
            print(f'        {node.name} ended its lanes within {time.monotonic() - removed:.2f} s (asked: 5 s)')
        for user, node in seeders:
            lanes, sent, _ = lanes_to(user, node, gamma)
            cases.check(lanes > 0, 'the entitled one has no lanes')
            harness.wait_until(lambda: lanes_to(user, node, gamma)[1] > sent + 2_000_000, 'the entitled one to go on')
        harness.wait_until(lambda: 'not yours to have any more' in (transfer(bob, beta).get('message') or ''), 'the reason', harness.SOON_S)
        had = transfer(bob, beta)
        while had['verified_bytes'] != (time.sleep(2) or transfer(bob, beta))['verified_bytes']:  # what came before is hashed and written
            had = transfer(bob, beta)
        news = bob.cli('inbox').out
        cases.check('alice removed you from lab' in news, news)
        members = alice.cli('group', 'show', 'lab').out
        cases.check('bob' not in members, members)
        cases.check(transfer(bob, beta)['verified_bytes'] == had['verified_bytes'], 'something still came')

        alice.cli('group', 'invite', 'lab', 'bob')
        bob.cli('group', 'accept', 'lab')
        back = time.monotonic()
        harness.wait_until(lambda: transfer(bob, beta)['verified_bytes'] > had['verified_bytes'], 'the transfer to go on by itself', 60)
        print(f'        went on {time.monotonic() - back:.2f} s after rejoining')
        for user, node in ((bob, beta), (carol, gamma)):
            user.cli('transfer', 'set', transfer(user, node)['transfer_id'], '--limit', '0', node=node)
        done = bob.cli('get', 'alice/data', '--to', scene.dir / 'bob', '--json', node=beta).event('done')
        received = sum(s['bytes'] for s in done['seeders'])
        print(f'        {received} bytes came for {SIZE}')
        cases.check(received < SIZE + 64 * 2**20, f'{received} bytes came for {SIZE}: it was fetched again')
        cases.same(source, scene.dir / 'bob/data.bin')
        carol.cli('get', 'alice/data', '--to', scene.dir / 'carol', node=gamma)


netns.require_root()
if not shutil.which('nft'):
    harness.skip('address translation needs nftables')
cases.run(a_removed_member_is_cut_off_and_their_neighbour_is_not)
