#!/usr/bin/env python3
"""Lanes as the kernel counts them, on a shaped link (the issue's row E; GT_E2E_LANES_MBIT=200 GT_E2E_LANES_STEADY_S=60)."""
import time

import cases
import harness
import netns

MBIT = cases.scaled('LANES_MBIT', 50)
STEADY_S = cases.scaled('LANES_STEADY_S', 4)
PORTS = range(50000, 50016)
ASKED_S = 3
CHANGE_S = cases.scaled('LANES_CHANGE_S', 10)  # that a busy machine may take


def two_hosts(scene, net, ports='50000-50015'):
    """A server and a seeder on one host, a leecher on the other."""
    near, far = net['near'], net['far']
    scene.server(listen=f'{near.address}:7443', advertise=f'{near.address}:7443', netns=near.ns)
    scene.admin(near.ns)
    alice, bob = scene.user('alice', netns=near.ns), scene.user('bob', netns=far.ns)
    alpha = scene.node(alice, 'alpha', netns=near.ns, address=near.address, ports=ports)
    beta = scene.node(bob, 'beta', netns=far.ns, address=far.address, ports=ports)
    return alice, bob, alpha, beta


def seconds_until(net, lanes):
    """How long it takes until there are so many lanes."""
    since = time.monotonic()
    harness.wait_until(lambda: net['far'].established(PORTS) == lanes, f'{lanes} lanes by ss', CHANGE_S)
    return time.monotonic() - since


def lanes_are_as_many_as_wished():
    with netns.Network('near', 'far') as net, harness.Scene() as scene:
        alice, bob, alpha, beta = two_hosts(scene, net)
        net['near'].shape_uplink(MBIT)
        wishes = (1, 4, 8, 16, 32, 4, 1)
        seconds = len(wishes) * (STEADY_S + CHANGE_S) + 20
        source = cases.make_file(scene.dir / 'data.bin', int(MBIT * 125_000 * seconds))
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        started = bob.cli('get', 'data', '--to', scene.dir / 'out', '--lanes', wishes[0], '--detach', '--json', node=beta).event('started')
        cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > 0, 'the first bytes')
        for wish in wishes:
            bob.cli('transfer', 'set', started['transfer_id'], '--lanes', wish, node=beta)
            reached = seconds_until(net, wish)
            samples, steady_until = [], time.monotonic() + STEADY_S
            while time.monotonic() < steady_until:
                samples.append(net['far'].established(PORTS))
                time.sleep(0.1)
            print(f'  {wish:>2} lanes after {reached:.2f} s (asked: {ASKED_S} s), then {min(samples)} to {max(samples)} in {len(samples)} samples', flush=True)
            # A lane that a busy machine keeps silent for some seconds is dialled anew.
            cases.check(samples.count(wish) >= 0.9 * len(samples), f'{wish} lanes wished, seen: {samples}')
            cases.check(cases.transfer_of(bob, beta, 'data')['state'] == 'fetching', 'it ended too early: publish more')
        told = cases.transfer_of(bob, beta, 'data')
        cases.check(told['lanes_peak'] >= 32 and told['lanes'] == wishes[-1], told)


def one_open_port_takes_all_lanes():
    """As where a router forwards a single port."""
    with netns.Network('near', 'far') as net, harness.Scene() as scene:
        alice, bob, alpha, beta = two_hosts(scene, net, '50000-50000')
        net['near'].shape_uplink(MBIT)
        source = cases.make_file(scene.dir / 'data.bin', int(MBIT * 125_000 * (CHANGE_S + 5)))
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        bob.cli('get', 'data', '--to', scene.dir / 'out', '--lanes', 6, '--detach', node=beta)
        print(f'   6 lanes to one port after {seconds_until(net, 6):.2f} s', flush=True)
        bob.cli('transfer', 'wait', 'data', node=beta)
        cases.same(source, scene.dir / 'out/data.bin')


def lanes_measure_the_path():
    with netns.Network('near', 'far') as net, harness.Scene() as scene:
        alice, bob, alpha, beta = two_hosts(scene, net)
        net['near'].shape_uplink(MBIT)
        source = cases.make_file(scene.dir / 'data.bin', int(MBIT * 125_000 * 40))
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        bob.cli('get', 'data', '--to', scene.dir / 'out', '--lanes', 4, '--detach', node=beta)

        def measured(transfer):
            lanes = [lane for peer in transfer['peers'] for lane in peer['lane_stats']]
            return len(lanes) == 4 and all(lane['srtt_us'] > 0 and lane['receive_bits_per_s'] > 0 for lane in lanes)
        both = cases.wait_transfer(bob, beta, 'data', measured, 'four lanes with figures of their sender')
        rate = sum(lane['receive_bits_per_s'] for peer in both['peers'] for lane in peer['lane_stats'])
        cases.check(rate < 1.3e6 * MBIT, f'{rate} bit/s over a link of {MBIT} Mbit/s')


def a_near_path_ends_with_two_lanes_where_nobody_asks_for_a_number():
    with netns.Network('near', 'far') as net, harness.Scene() as scene:
        alice, bob, alpha, beta = two_hosts(scene, net)
        net['near'].shape_uplink(MBIT)
        source = cases.make_file(scene.dir / 'data.bin', int(MBIT * 125_000 * (2 * CHANGE_S + 10)))
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        bob.cli('get', 'data', '--to', scene.dir / 'out', '--detach', node=beta)
        cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > 0, 'the first bytes')
        reached = seconds_until(net, 2)
        told = cases.transfer_of(bob, beta, 'data')
        cases.check(told['plan_reason'].startswith('auto: 2 lanes to 1 seeder'), told['plan_reason'])
        cases.check(told["plan_reason"] in beta.log(), 'the log does not say why')
        bob.cli('transfer', 'set', told['transfer_id'], '--lanes', 5, node=beta)
        print(f'   2 lanes after {reached:.2f} s, 5 after {seconds_until(net, 5):.2f} s (asked: {ASKED_S} s)', flush=True)


netns.require_root()
cases.run(lanes_are_as_many_as_wished, one_open_port_takes_all_lanes, lanes_measure_the_path,
          a_near_path_ends_with_two_lanes_where_nobody_asks_for_a_number)
