#!/usr/bin/env python3
"""./dev demo [PATH]: the whole of GridTorrent on one machine, with nothing pretended.

A server and three nodes on loopback. Alice's node publishes PATH; Bob's and Carol's fetch it at the same time, over several
lanes, from Alice and from each other. The copies are compared byte for byte, and the table says who got what from whom.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

LEAST_BYTES = 200_000_000
CANDIDATES = ('/usr/lib/gcc', '/usr/share/doc', '/usr/share/locale', '/usr/include', '/usr/bin', '/usr/share', '/usr/lib')


def size_of(path):
    done = subprocess.run(['du', '-sbx', path], capture_output=True, text=True)
    return int(done.stdout.split()[0]) if done.stdout else 0


def real_files():
    """The smallest folder of this machine that has enough to show."""
    sizes = sorted((size, path) for path in CANDIDATES if os.path.isdir(path) and (size := size_of(path)) >= LEAST_BYTES)
    if not sizes:
        raise SystemExit('no folder with 200 MB of files was found here: name one, as in ./dev demo ~/data')
    return sizes[0][1]


def human(n):
    for unit in ('B', 'kB', 'MB', 'GB', 'TB'):
        if n < 999.5 or unit == 'TB':
            return f'{n:.0f} {unit}' if unit == 'B' else f'{n:.3g} {unit}' if n < 100 else f'{n:.0f} {unit}'
        n /= 1000


def main():
    parser = argparse.ArgumentParser(prog='./dev demo', description=__doc__.split('\n\n')[1])
    parser.add_argument('path', nargs='?', help='file or folder to publish (default: real files found on this machine)')
    parser.add_argument('--bin', help=argparse.SUPPRESS)
    parser.add_argument('--lanes', default='4', help='parallel sockets to each peer (default 4)')
    args = parser.parse_args()
    path = os.path.abspath(args.path or real_files())
    if not os.path.exists(path):
        raise SystemExit(f'{path} does not exist: name a file or a folder')

    with harness.Scene(args.bin) as scene:
        print(f'starting a server and three nodes in {scene.dir}')
        server = scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        alpha, beta, gamma = (scene.node(u, n) for u, n in ((alice, 'alpha'), (bob, 'beta'), (carol, 'gamma')))
        print(f'  server {server.address} (TLS); nodes ' +
              ', '.join(f'{n.short_name} ({n.user.name}, {len(n.ready["lane_endpoints"])} lane ports)' for n in (alpha, beta, gamma)))

        print(f'alice publishes {path}')
        published = alice.cli('publish', path, '--name', 'demo', '--access', 'public', '--json', node=alpha).event('published')
        print(f'  {published["content_id"]}: {human(published["bytes"])} in {published["files"]:,} files, '
              f'hashed and published in {published["seconds"]:.1f} s')

        print(f'bob and carol get it, at once, {args.lanes} lanes a peer')
        targets = {}
        jobs = []
        for user, node in ((bob, beta), (carol, gamma)):
            target = scene.dir / f'data-{user.name}'
            target.mkdir()
            targets[node.short_name] = target
            jobs.append(lambda u=user, n=node, t=target:
                        u.cli('get', 'alice/demo', '--to', t, '--lanes', args.lanes, '--json', node=n).event('done'))
        started = time.monotonic()
        done = dict(zip(('beta', 'gamma'), harness.run_parallel(*jobs)))
        elapsed = time.monotonic() - started

        names = {n.node_id: f'{n.short_name} ({n.user.name})' for n in (alpha, beta, gamma)}
        verdicts = {}
        for name, target in targets.items():
            verdicts[name] = harness.difference(path, target / os.path.basename(path))

        print(f'\n  {"who":<16}{"from whom":<18}{"lanes":>6}{"bytes":>10}{"share":>7}{"Mbit/s":>9}  verified')
        for name, event in done.items():
            total = sum(s['bytes'] for s in event['seeders']) or 1
            for s in sorted(event['seeders'], key=lambda s: -s['bytes']):
                rate = s['bytes'] * 8 / 1e6 / max(event['seconds'], 1e-3)
                verdict = 'byte for byte' if verdicts[name] is None else 'NO'
                who = f'{name} ({"bob" if name == "beta" else "carol"})'
                print(f'  {who:<16}{names.get(s["node"], s["node"]):<18}{s["lanes"]:>6}{human(s["bytes"]):>10}'
                      f'{s["bytes"] / total:>6.0%} {rate:>8.0f}  {verdict}')
        rate = 2 * published['bytes'] * 8 / 1e6 / elapsed
        print(f'\n  two copies in {elapsed:.1f} s, {rate:.0f} Mbit/s together, checked piece by piece (SHA-1), '
              'file by file (Merkle SHA-256) and here byte for byte')
        for name, difference in verdicts.items():
            if difference is not None:
                raise SystemExit(f'{name} differs: {difference}')
    print('  everything stopped, nothing left behind')


if __name__ == '__main__':
    main()
