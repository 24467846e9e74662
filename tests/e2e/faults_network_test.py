#!/usr/bin/env python3
"""Networks that lose packets, and networks that part in the middle of a transfer, on the wide-area emulator of bench/."""
import os
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'bench'))

import cases  # noqa: E402
import data  # noqa: E402
import harness  # noqa: E402
import lab  # noqa: E402
import ours  # noqa: E402

BIN = pathlib.Path(os.environ.get('GT_BIN', 'build/release/bin'))
BYTES = 12_000_000
PARTED_S = 12  # several of TCP's retransmissions, and longer than a silent lane is waited for


def network(**seed):
    hosts = {name: {'address': f'198.18.0.{i}', 'delay_ms': 5} for i, name in enumerate(('server', 'seed', 'get'), 1)}
    hosts['seed'].update(seed)
    return {'hosts': hosts}


def start_get(gt, access):
    source = gt.scene.dir / 'data.bin'
    if not source.exists():
        data.random_file(source, BYTES)
    name = 'plain' if access == 'public' else 'restricted'
    gt.publish(source, name, access)
    target = gt.scene.dir / name
    target.mkdir()
    return source, target / 'data.bin', gt.bob.start_cli('get', f'alice/{name}', '--to', target, '--json', node=gt.nodes['get'])


def ended_well(get, source, copy):
    out, errors = get.communicate(timeout=240)
    cases.check(get.returncode == 0, f'exit {get.returncode}\n{out}{errors}')
    cases.same(source, copy)


def both_editions_come_whole_through_loss():
    with lab.Lab(network(loss=0.03), BIN) as net, ours.Ours(net.hosts, BIN) as gt:
        for access in ('public', 'user:bob'):
            source, copy, get = start_get(gt, access)
            ended_well(get, source, copy)
        drops = sum(link['losses'] for link in net.stats()['links'].values())
        cases.check(drops > 100, f'the emulator lost {drops} packets: this was no test of loss')


def a_node_that_is_parted_from_seeder_and_server_goes_on_where_it_was():
    with lab.Lab(network(up='8Mbit', queue='200kB'), BIN) as net, ours.Ours(net.hosts, BIN) as gt:
        source, copy, get = start_get(gt, 'user:bob')
        node = gt.nodes['get']
        cases.wait_transfer(gt.bob, node, 'restricted', lambda t: t['verified_bytes'] > BYTES // 5, 'a fifth of the data')
        net.change('get', loss=1)
        before = cases.transfer_of(gt.bob, node, 'restricted')['verified_bytes']
        time.sleep(PARTED_S)  # the fault itself
        parted = cases.transfer_of(gt.bob, node, 'restricted')
        cases.check(parted['verified_bytes'] < BYTES and parted['state'] not in ('failed', 'complete'), f'while parted: {parted}')
        net.change('get', loss=0)
        ended_well(get, source, copy)
        cases.check(parted['verified_bytes'] >= before, 'what was verified was lost')


def a_round_trip_of_more_than_two_seconds_is_crossed():
    """A dial that is given up after two seconds would be given up each time."""
    with lab.Lab(network(), BIN) as net, ours.Ours(net.hosts, BIN) as gt:
        source = gt.scene.dir / 'small.bin'
        data.random_file(source, 300_000)
        gt.publish(source, 'small', 'public')
        net.change('get', delay_ms=1100)
        (gt.scene.dir / 'far').mkdir()
        get = gt.bob.start_cli('get', 'alice/small', '--to', gt.scene.dir / 'far', '--json', node=gt.nodes['get'])
        ended_well(get, source, gt.scene.dir / 'far/small.bin')


lab.require_root()
cases.run(both_editions_come_whole_through_loss, a_node_that_is_parted_from_seeder_and_server_goes_on_where_it_was,
          a_round_trip_of_more_than_two_seconds_is_crossed)
