#!/usr/bin/env python3
"""IPv6 from end to end: the server, the nodes' addresses and the lanes."""
import cases
import harness
import netns


def data_travels_over_ipv6_alone():
    with netns.Network('near', 'far') as net, harness.Scene() as scene:
        near, far = net['near'], net['far']
        scene.server(listen=f'[{near.address6}]:7443', advertise=f'[{near.address6}]:7443', netns=near.ns)
        scene.admin(near.ns)
        alice, bob = scene.user('alice', netns=near.ns), scene.user('bob', netns=far.ns)
        alpha = scene.node(alice, 'alpha', netns=near.ns, address=near.address6, ports='50000-50003')
        beta = scene.node(bob, 'beta', netns=far.ns, address=far.address6, ports='50000-50003')
        source = cases.make_file(scene.dir / 'data.bin', 20_000_000)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        done = bob.cli('get', 'data', '--to', scene.dir / 'out', '--lanes', 4, '--limit', '80Mbit', '--json', node=beta).event('done')
        cases.same(source, scene.dir / 'out/data.bin')
        addresses = {s['address'] for s in done['seeders']}
        cases.check(addresses and all(near.address6 in a for a in addresses), done)


netns.require_root()
cases.run(data_travels_over_ipv6_alone)
