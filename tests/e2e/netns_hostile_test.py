#!/usr/bin/env python3
"""Hosts of their own: what a stock client without the right can get of restricted content (the issue's row A), what it cannot, and what is
written down of it."""
import shutil

import cases
import harness
import netns
from faketime import LIBRARIES, elsewhen
from hostile import Target, other_authority, require_stock_client, server_place

AGO_H = 10 * 24  # certificates of then are good for seven days


def expired_papers(scene, net):
    """What a node of bob was certified for ten days ago: the server's clock and the node's stood at that time."""
    with elsewhen(scene, -AGO_H):
        server = scene.server(**server_place(net))
        scene.admin(net['hub'].ns)
        bob = scene.user('bob', netns=net['bob'].ns)
        node = scene.node(bob, 'long-ago', netns=net['bob'].ns, address=net['bob'].address)
        paper = harness.wait_until(lambda: next(iter(node.data.glob('lane-certificate-*.pem')), None), 'a certificate')
        copies = [shutil.copy2(file, scene.dir / f'expired-{file.name}') for file in (paper, node.data / 'node_key.pem')]
        node.stop()
        server.stop()
    server.env = dict(scene.env)
    server.start()
    return copies


def audited(admin, action):
    return [r['outcome'] for r in admin.cli('audit', '--action', action, '--json').json['records']]


def nobody_without_a_listed_key_gets_a_byte_and_each_is_written_down():
    with netns.Network('hub', 'alice', 'bob', 'carol', 'stranger') as net, harness.Scene() as scene:
        expired = expired_papers(scene, net) if LIBRARIES else None
        t = Target(scene, net)
        stolen = t.papers(t.beta)
        got = t.attack(*stolen, seconds=20)
        cases.check(got['payload_bytes'] >= 4_000_000 and got['bitfields'] > 0, f'the listed key: {got}')
        refused = t.gets_nothing('no certificate', None, None)['connected']
        refused += t.gets_nothing('another authority', *other_authority(scene))['connected']
        if expired:
            refused += t.gets_nothing('an expired certificate', *expired)['connected']
        else:
            print('        # an expired certificate: not tried, there is no libfaketime')
        lanes = t.gets_nothing('a node without the right', *t.papers(t.gamma))['connected']
        t.gets_nothing('a plain port', *stolen, tls=False)
        t.alice.cli('access', 'data', '--set', 'private')
        harness.wait_until(lambda: cases.transfer_of(t.bob, t.beta, 'data')['state'] == 'complete', 'the list to change', harness.SOON_S)
        lanes += t.gets_nothing('a stolen key that was removed', *stolen)['connected']

        def told(action, least):
            records = audited(scene.admin(), action)
            return sum(int(r.split()[0]) for r in records) >= least and records
        handshakes = harness.wait_until(lambda: told('handshake.refused', refused // 2), 'refused handshakes in the audit records', 90)
        without = harness.wait_until(lambda: told('lane.refused', lanes // 2), 'refused lanes in the audit records', 90)
        print(f'        written down: {handshakes} of {refused} dials, {without} of {lanes}')


netns.require_root()
require_stock_client()
cases.run(nobody_without_a_listed_key_gets_a_byte_and_each_is_written_down)
