#!/usr/bin/env python3
"""Firewalls that let nobody in: whoever can dial does, seeders too; where neither can, it is said (the issue's row H)."""
import shutil

import cases
import harness
import netns

SIZE = 8_000_000


def node_on(scene, host, user, name, **more):
    return scene.node(user, name, netns=host.ns, address=host.address, ports='50000-50003', **more)


def two_people(net, scene, closed):
    """A server on the hub, alice with a node near, bob with one far; the hosts `closed` drop what comes in."""
    hub, near, far = net['hub'], net['near'], net['far']
    for name in closed:
        net[name].drop_inbound()
    scene.server(listen=f'{hub.address}:7443', advertise=f'{hub.address}:7443', netns=hub.ns)
    scene.admin(hub.ns)
    alice, bob = scene.user('alice', netns=near.ns), scene.user('bob', netns=far.ns)
    return alice, node_on(scene, near, alice, 'alpha'), bob, node_on(scene, far, bob, 'beta')


def fetch(closed, also_closed=()):
    """A transfer between two hosts of which some drop what comes in."""
    with netns.Network('hub', 'near', 'far') as net, harness.Scene() as scene:
        alice, alpha, bob, beta = two_people(net, scene, (*closed, *also_closed))
        source = cases.make_file(scene.dir / 'data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        bob.cli('get', 'data', '--to', scene.dir / 'out', '--lanes', 4, '--detach', node=beta)
        if also_closed:
            stuck = cases.wait_transfer(bob, beta, 'data', lambda t: 'no path' in t.get('message', ''), 'the ports to open to be said', 90)
            cases.check(f'no path to {alpha.node_id}: neither' in stuck['message'], stuck)
            cases.check("on beta 'ufw allow 50000:50003/tcp'" in stuck['message'], stuck)
            cases.check(f"on {alpha.node_id} 'ufw allow 50000:50003/tcp'" in stuck['message'], stuck)
            cases.check(stuck['verified_bytes'] == 0, stuck)
            net['far'].allow_inbound()
        cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('seeding', 'complete'), 'the end', 120)
        cases.same(source, scene.dir / 'out/data.bin')
        if also_closed:
            return
        seen = {e['reachability'] for e in alice.cli('node', 'show', 'alpha', '--json').json['endpoints'] if not e['tls']}
        cases.check(seen == {'unreachable' if 'near' in closed else 'reachable'}, f'the seeder is said to be {seen}')
        # The seeder has seen it complete, and lanes come again all the same where it fetches anew.
        (scene.dir / 'out/data.bin').unlink()
        bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta, timeout_s=60)
        cases.same(source, scene.dir / 'out/data.bin')


def a_leecher_behind_a_firewall_dials():
    fetch(('far',))


def a_seeder_behind_a_firewall_dials():
    fetch(('near',))


def two_firewalls_need_a_relay_and_one_opened_is_enough():
    fetch(('near',), ('far',))


def two_firewalls_are_crossed_by_way_of_a_third_node():
    """Neither can be dialled; the person has a node that both can dial, and is told so."""
    with netns.Network('hub', 'near', 'far') as net, harness.Scene() as scene:
        alice, alpha, bob, beta = two_people(net, scene, ('near', 'far'))
        (scene.dir / 'relay').mkdir()
        node_on(scene, net['hub'], bob, 'relay', args=('--download-root', f'in={scene.dir}/relay'))
        source = cases.make_file(scene.dir / 'data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'user:bob', node=alpha)
        get = bob.start_cli('get', 'alice/data', '--to', scene.dir / 'out', node=beta)
        harness.wait_until(lambda: bob.cli('transfers', '--json', node=beta).json['transfers'], 'the transfer to begin')
        cases.wait_transfer(bob, beta, 'data', lambda t: 'no path' in t.get('message', ''), 'that there is no path', 90)
        bob.cli('get', '--node', 'relay', 'alice/data', '--timeout', '90s', timeout_s=120)
        told = get.communicate(timeout=120)[1]
        cases.check(get.returncode == 0 and 'by way of relay, a node of yours' in told, told)
        cases.check('gridtorrent get --node relay alice/data' in told, told)
        cases.same(source, scene.dir / 'out/data.bin')


netns.require_root()
if not shutil.which('nft'):
    harness.skip('firewalls need nftables')
cases.run(a_leecher_behind_a_firewall_dials, a_seeder_behind_a_firewall_dials, two_firewalls_need_a_relay_and_one_opened_is_enough,
          two_firewalls_are_crossed_by_way_of_a_third_node)
