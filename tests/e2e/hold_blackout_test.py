#!/usr/bin/env python3
"""The path to the only seeder is cut in mid-transfer and comes back: data flows again at once, and the message says what was so meanwhile
(GT_E2E_BLACKOUT_S=40)."""
import time

import cases
import harness
import netns

CUT_S = cases.scaled('BLACKOUT_S', 40)
MBIT = 20
ASKED_S = 3
MOST_S = 15  # for busy machines; it is 18 to 20 s where TCP alone tries again
CUT = """
    table inet gridtorrent_cut {
        chain input { type filter hook input priority 0; iif lo accept; drop; }
        chain output { type filter hook output priority 0; oif lo accept; drop; }
    }
"""


def cut(host):
    netns.run('ip', 'netns', 'exec', host.ns, 'nft', '-f', '-', text=CUT)


def join(host):
    netns.run('ip', 'netns', 'exec', host.ns, 'nft', 'delete', 'table', 'inet', 'gridtorrent_cut')


def verified(user, node):
    return cases.transfer_of(user, node, 'data')['verified_bytes']


def data_flows_again_soon_after(lanes, access):
    with netns.Network('hub', 'far', 'near') as net, harness.Scene() as scene:
        hub = net['hub']
        scene.server(listen=f'{hub.address}:7443', advertise=f'{hub.address}:7443', netns=hub.ns)
        scene.admin(hub.ns)
        alice, bob = scene.user('alice', netns=net['far'].ns), scene.user('bob', netns=net['near'].ns)
        alpha = scene.node(alice, 'alpha', netns=net['far'].ns, address=net['far'].address, ports='50000-50015', tls_ports='50016-50031')
        beta = scene.node(bob, 'beta', netns=net['near'].ns, address=net['near'].address, ports='50000-50015', tls_ports='50016-50031')
        net['far'].shape_uplink(MBIT)
        source = cases.make_file(scene.dir / 'data.bin', MBIT * 125_000 * 25)
        alice.cli('publish', source, '--name', 'data', '--access', access, node=alpha)
        bob.cli('get', 'alice/data', '--to', scene.dir / 'out', '--lanes', lanes, '--detach', node=beta)
        harness.wait_until(lambda: verified(bob, beta) > MBIT * 125_000 * 4, 'four seconds\' worth of data', 30)
        cut(net['far'])
        time.sleep(CUT_S / 2)
        message = cases.transfer_of(bob, beta, 'data').get('message', '')
        # By its name, where the server tells that and answers within half a second.
        if access == 'public':
            harness.wait_until(lambda: 'alpha has not answered for' in bob.cli('transfers', node=beta).out, 'the name of the seeder in the list', 30)
        time.sleep(CUT_S / 2)
        before = verified(bob, beta)
        join(net['far'])
        back = time.monotonic()
        harness.wait_until(lambda: verified(bob, beta) > before, 'new data', 90)
        after = time.monotonic() - back
        print(f'        {lanes} lanes, {access}: new data {after:.1f} s (asked: {ASKED_S} s) after {CUT_S} s without a path; meanwhile it said: {message}', flush=True)
        cases.check(alpha.node_id in message and 'has not answered for' in message, f'the message says: {message}')
        cases.check(after <= MOST_S, f'{after:.1f} s until new data\n{beta.log()}')
        cases.wait_transfer(bob, beta, 'data', lambda t: t['lanes'] == lanes or t['state'] in ('complete', 'seeding'), f'{lanes} lanes again', 60)
        cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('complete', 'seeding'), 'all of it', 90)
        cases.same(source, scene.dir / 'out/data.bin')


def four_lanes_carry_again_soon_after_a_blackout():
    data_flows_again_soon_after(4, 'public')


def sixteen_lanes_on_all_ports_do_too():
    data_flows_again_soon_after(16, 'user:bob')


netns.require_root()
cases.run(four_lanes_carry_again_soon_after_a_blackout, sixteen_lanes_on_all_ports_do_too, at_once=2)
