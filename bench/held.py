"""./dev bench held: `auto` on links that hold each connection by itself, beside fixed lanes.

Shapers by connection, small buffers of senders, small windows, losses on a near path: what looks like a full path there is none, and a
plan with few lanes is slow for good. tests/sim/held_links.h has the same kinds, simulated. Each run becomes a line of
bench/results/held/NAME.jsonl.
"""
import pathlib
import time

import drawn
import lab

LANES = (4, 16)
WHOLE = 67108864  # bytes: windows and buffers that hold nothing


def link(title, mbit_s, round_trip_ms, megabytes, flow=None, congestion='cubic', window=WHOLE, send_buffer=WHOLE, loss=0):
    """`flow`: Mbit/s that a connection has at the most; `window`, `send_buffer`: bytes; the queue is one bandwidth-delay product."""
    delay_ms = round_trip_ms / 4
    seed = {'address': '198.18.0.2', 'delay_ms': delay_ms, 'up': f'{mbit_s}Mbit', 'down': f'{mbit_s}Mbit', 'loss': loss,
            'queue': f'{max(60, mbit_s * round_trip_ms / 8):.0f}kB', **({'flow': f'{flow}Mbit'} if flow else {})}
    others = {'server': {'address': '198.18.0.1', 'delay_ms': delay_ms}, 'get': {'address': '198.18.0.3', 'delay_ms': delay_ms}}
    return {'title': f'{title}: {megabytes} MB, {mbit_s} Mbit/s, RTT {round_trip_ms} ms, {congestion.upper()}', 'why': 'each connection is held by itself',
            'network': {'mtu': 1500, 'hosts': {**others, 'seed': seed}},
            'tcp': {'tcp_congestion_control': congestion, 'tcp_rmem': f'4096 131072 {window}', 'tcp_wmem': f'4096 65536 {send_buffer}'},
            'repetitions': 1, 'data': {'file': f'{megabytes}MB'}, 'tools': [drawn.AUTO, *({**drawn.AUTO, 'lanes': n} for n in LANES)]}


LINKS = {
    'shaped near': link('40 Mbit/s a connection', 600, 2, 900, flow=40),
    'shaped bbr': link('40 Mbit/s a connection', 400, 60, 900, flow=40, congestion='bbr'),
    'shaped few bytes': link('20 Mbit/s a connection', 300, 40, 90, flow=20),
    'shaped many bytes': link('20 Mbit/s a connection', 300, 40, 900, flow=20),
    'sndbuf bbr': link('send buffers of 4 MiB', 600, 100, 900, congestion='bbr', send_buffer=4194304),
    'sndbuf few bytes': link('send buffers of 1 MiB', 600, 100, 90, send_buffer=1048576),
    'windows few bytes': link('windows of 256 KiB', 600, 100, 90, window=262144),
    'near lossy': link('0.1 % loss', 600, 4.5, 900, loss=0.001),
}


def run(args, machine):
    """One run a tool on each link, until --minutes are over."""
    lab.require_root()
    deadline, found = time.monotonic() + 60 * (args.minutes or 30), {}
    for name, scenario in LINKS.items():
        runs = drawn.on_link(name, scenario, pathlib.Path(args.results) / 'held' / f'{name.replace(" ", "-")}.jsonl', args, machine, deadline)
        if runs is None:
            print('  the time is over; the same command goes on from here')
            break
        found[name] = drawn.ratios_of(runs)
    print('\n'.join(['', *drawn.summary(found)]))
