#!/usr/bin/env python3
"""Runs every peer once with little data over 200 Mbit/s, to see that all of them work: one line for each. Needs root."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / 'tests/e2e'), str(ROOT / 'bench')]
import data  # noqa: E402
import netns  # noqa: E402
from peers import aria2, globus, iperf3, transmission, udt  # noqa: E402

MB = 1_000_000


def compiled(folder):
    binary = folder / 'udt_copy'
    source = ROOT / 'bench/peers/udt_copy.cc'
    subprocess.run(['g++', '-std=c++20', '-O2', '-Wall', '-Wextra', source, '-o', binary, '-ludt', '-lpthread'], check=True)
    return binary


def line(label, run):
    hosts = [c for c in run.checks if 'host' in c]
    content = next((c['content'] for c in run.checks if 'content' in c), 'none kept')
    more = ''.join(f', {k} {v:.4g}' for k, v in run.figures.items() if isinstance(v, (int, float)))
    each = f' ({", ".join(f"{s:.2f}" for s in run.each)})' if len(run.each) > 1 else ''
    sockets = '/'.join(str(h['data_sockets']) for h in hosts)
    congestion = '/'.join(sorted({c for h in hosts for c in h['congestion']})) or '?'
    return (f'{label:<29} {run.seconds:6.2f} s{each}, {run.bit_s / 1e6:.0f} Mbit/s, CPU {run.cpu_s:.2f} s, sockets {sockets}, '
            f'{congestion}, no_metrics_save {hosts[0]["tcp_no_metrics_save"]}, checked: {content}{more}')


def runs(net, folder, binary, megabytes):
    """(label, function) of each run."""
    seed, one, two = (net[n] for n in ('seed', 'one', 'two'))
    source, many = folder / 'data.bin', folder / 'many'
    data.random_file(source, megabytes * MB)
    many.mkdir()
    for i in range(100):
        data.random_file(many / f'{i}.bin', 50_000, seed=i)
    numbers = iter(range(1000))

    def target():
        return folder / f'target-{next(numbers)}'

    return [
        ('iperf3, 4 streams, 3 s', lambda: iperf3.measure(one, seed, 4, 3, omit_s=1, congestion='cubic')),
        ('iperf3, 2 streams', lambda: iperf3.measure(one, seed, 2, bytes=megabytes * MB)),
        ('globus, stream mode', lambda: globus.get(seed, one, source, target(), parallelism=None, fast=False)),
        ('globus -p 4', lambda: globus.get(seed, one, source, target(), parallelism=4)),
        ('globus -p 4, checksum', lambda: globus.get(seed, one, source, target(), parallelism=4, verify_checksum=True)),
        ('globus -pp -cc 4, 100 files', lambda: globus.third_party(seed, one, None, many, target(), concurrency=4)),
        ('globus by pcp, 100 files', lambda: globus.scheduled(seed, one, many, target(), 'pcp', 200e6, 0.001, 4 << 20)),
        ('globus by mc, 100 files', lambda: globus.scheduled(seed, one, many, target(), 'mc', 200e6, 0.001, 4 << 20)),
        ('globus by fstream, 100 files', lambda: globus.scheduled(seed, one, many, target(), 'fstream', 200e6, 0.001, 4 << 20)),
        ('aria2 http -x 4', lambda: aria2.http([seed], one, source, target(), connections_per_server=4)),
        ('aria2 http, 2 servers', lambda: aria2.http([seed, two], one, source, target(), connections_per_server=2)),
        ('udt', lambda: udt.get(seed, one, source, target(), binary)),
        ('aria2 get', lambda: aria2.get(seed, one, source)),
        ('aria2 swarm', lambda: aria2.swarm(seed, [one, two], source)),
        ('aria2 swarm, 100 files', lambda: aria2.swarm(seed, [one, two], many)),
        ('transmission get', lambda: transmission.get(seed, one, source)),
        ('transmission swarm', lambda: transmission.swarm(seed, [one, two], source)),
        ('transmission swarm, 100 files', lambda: transmission.swarm(seed, [one, two], many))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('only', nargs='?', default='', help='only runs whose label begins so')
    parser.add_argument('--megabytes', type=int, default=20)
    parser.add_argument('--udt-copy', type=pathlib.Path, help='the built program (default: it is compiled here)')
    args = parser.parse_args()
    netns.require_root()
    for tool in (iperf3, globus, aria2, transmission, udt):
        print(tool.versions())
    with tempfile.TemporaryDirectory(prefix='gt-smoke-') as folder, netns.Network('seed', 'one', 'two') as net:
        folder = pathlib.Path(folder)
        for name in ('seed', 'one', 'two'):
            net[name].run(['sysctl', '-qw', 'net.ipv4.tcp_no_metrics_save=1'])
            net[name].shape_uplink(200)
        binary = args.udt_copy or compiled(folder)
        for label, run in runs(net, folder, binary, args.megabytes):
            if label.startswith(args.only):
                print(line(label, run()), flush=True)


main()
