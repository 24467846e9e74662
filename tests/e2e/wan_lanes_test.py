#!/usr/bin/env python3
"""Lanes over a long path, on the wide-area emulator of bench/: what only shows where a round trip takes time."""
import os
import pathlib
import re
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'bench'))

import cases  # noqa: E402
import data  # noqa: E402
import harness  # noqa: E402
import lab  # noqa: E402
import ours  # noqa: E402

BIN = pathlib.Path(os.environ.get('GT_BIN', 'build/release/bin'))
STUCK_WINDOW = 90_000  # what a connection has before its window grows; over 50 ms that is 14 Mbit/s


WIDE_BUFFERS = {'tcp_rmem': '4096 131072 67108864', 'tcp_wmem': '4096 65536 67108864'}


def kernel_has_bbr():
    found = 'bbr' in lab.AVAILABLE_CONGESTION.read_text().split()
    if not found:
        print('        skipped: this kernel has no BBR (net.ipv4.tcp_available_congestion_control)', flush=True)
    return found


def long_path():
    """50 ms from the seeder to who gets."""
    network = {'hosts': {name: {'address': f'198.18.0.{i}', 'delay_ms': 12.5} for i, name in enumerate(('server', 'seed', 'get'), 1)}}
    network['hosts']['seed'].update(up='400Mbit', queue='2MB')
    return network


def widest_window(host, ports):
    """The largest window, in bytes, that one of this host's lanes lets its seeder use."""
    shown = host.run(['ss', '-tinOH', 'state', 'established'])
    lanes = [line for line in shown.splitlines() if any(f':{port}' in line for port in ports)]
    return max((int(m.group(1)) for line in lanes for m in [re.search(r'rcv_ssthresh:(\d+)', line)] if m), default=0)


def windows_of_plain_and_tls_lanes_grow_with_the_path():
    with lab.Lab(long_path(), BIN, WIDE_BUFFERS) as net, ours.Ours(net.hosts, BIN) as gt:
        source = gt.scene.dir / 'data.bin'
        data.random_file(source, 120_000_000)
        for name, access, ports in (('plain', 'public', range(50000, 50016)), ('tls', 'user:bob', range(50016, 50032))):
            gt.publish(source, name, access)
            target = gt.scene.dir / name
            target.mkdir()
            get = gt.bob.start_cli('get', f'alice/{name}', '--to', target, '--lanes', 4, '--refetch', node=gt.nodes['get'])
            widest = 0
            while get.poll() is None and widest <= 10 * STUCK_WINDOW:
                widest = max(widest, widest_window(net['get'], ports))
            _, errors = get.communicate(timeout=300)
            cases.check(get.returncode == 0, f'{name}: exit {get.returncode}\n{errors}')
            cases.check(widest > 1.5 * STUCK_WINDOW, f'{name}: no lane had a window of more than {widest} bytes')
            difference = harness.difference(source, target / 'data.bin')
            cases.check(difference is None, difference)


def lanes_where_nobody_asks(congestion, lanes, said):
    with lab.Lab(long_path(), BIN, WIDE_BUFFERS | {'tcp_congestion_control': congestion}) as net, ours.Ours(net.hosts, BIN) as gt:
        node = gt.nodes['get']
        source = gt.scene.dir / 'data.bin'
        data.random_file(source, 300_000_000)
        gt.publish(source, 'data', 'public')
        gt.bob.cli('get', 'alice/data', '--to', gt.scene.dir / 'out', '--detach', node=node)
        told = cases.wait_transfer(gt.bob, node, 'data', lambda t: t['lanes'] == lanes and t['verified_bytes'] > 0, f'{lanes} lanes under {congestion}')
        cases.check(said in told['plan_reason'], told['plan_reason'])


def a_long_path_has_sixteen_lanes_under_cubic():
    lanes_where_nobody_asks('cubic', 16, 'auto: 16 lanes to 1 seeder')


def a_long_path_has_two_lanes_where_the_sender_uses_bbr():
    if kernel_has_bbr():
        lanes_where_nobody_asks('bbr', 2, 'bbr: BBR needs few')


def lossy_path():
    """100 Mbit/s, 50 ms, of 200 packets one gets lost: a CUBIC lane comes to 4 Mbit/s, sixteen do not fill it."""
    network = long_path()
    network['hosts']['seed'].update(up='100Mbit', loss=0.005, queue='625kB')
    return network


def a_lossy_path_gets_bbr_where_the_seeder_grants_it():
    if not kernel_has_bbr():
        return
    with lab.Lab(lossy_path(), BIN, WIDE_BUFFERS | {'tcp_congestion_control': 'cubic'}, allowed=['reno', 'cubic', 'bbr']) as net, \
            ours.Ours(net.hosts, BIN, congestion=['bbr']) as gt:
        source = gt.scene.dir / 'data.bin'
        data.random_file(source, 400_000_000)
        gt.publish(source, 'data', 'public')
        gt.bob.cli('get', 'alice/data', '--to', gt.scene.dir / 'out', '--detach', node=gt.nodes['get'])
        cases.wait_transfer(gt.bob, gt.nodes['get'], 'data', lambda t: 0 < t['lanes'] <= 4 and 'BBR brought' in t['plan_reason'], 'a few lanes with BBR')


lab.require_root()
cases.run(windows_of_plain_and_tls_lanes_grow_with_the_path, a_long_path_has_sixteen_lanes_under_cubic,
          a_long_path_has_two_lanes_where_the_sender_uses_bbr, a_lossy_path_gets_bbr_where_the_seeder_grants_it)
