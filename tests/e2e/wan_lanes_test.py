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
    if 'bbr' not in lab.AVAILABLE_CONGESTION.read_text().split():
        print('        skipped: this kernel has no BBR (net.ipv4.tcp_available_congestion_control)', flush=True)
        return
    lanes_where_nobody_asks('bbr', 2, 'bbr: BBR needs few')


lab.require_root()
cases.run(windows_of_plain_and_tls_lanes_grow_with_the_path, a_long_path_has_sixteen_lanes_under_cubic,
          a_long_path_has_two_lanes_where_the_sender_uses_bbr)
