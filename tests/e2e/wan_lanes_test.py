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


def widest_window(host, ports):
    """The largest window, in bytes, that one of this host's lanes lets its seeder use."""
    shown = host.run(['ss', '-tinOH', 'state', 'established'])
    lanes = [line for line in shown.splitlines() if any(f':{port}' in line for port in ports)]
    return max((int(m.group(1)) for line in lanes for m in [re.search(r'rcv_ssthresh:(\d+)', line)] if m), default=0)


def windows_of_plain_and_tls_lanes_grow_with_the_path():
    network = {'hosts': {name: {'address': f'198.18.0.{i}', 'delay_ms': 12.5} for i, name in enumerate(('server', 'seed', 'get'), 1)}}
    network['hosts']['seed'].update(up='400Mbit', queue='2MB')
    wide_buffers = {'tcp_rmem': '4096 131072 67108864', 'tcp_wmem': '4096 65536 67108864'}
    with lab.Lab(network, BIN, wide_buffers) as net, ours.Ours(net.hosts, BIN) as gt:
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


lab.require_root()
cases.run(windows_of_plain_and_tls_lanes_grow_with_the_path)
