#!/usr/bin/env python3
"""./dev demo [PATH]: the whole of GridTorrent on one machine, with nothing pretended.

A server and four nodes on loopback. Alice's node publishes PATH for Bob and Carol, and sends no more than 200 Mbit/s. Bob's
and Carol's nodes fetch it at the same time, from Alice and from each other; Dave, who was not named, is refused. The copies
are compared byte for byte, and the table says who got what from whom.
"""
import argparse
import os
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

UPLINK_MBIT = 200
# Long enough for a swarm to form (8 s at 200 Mbit/s), short enough to wait for.
LEAST_BYTES, MOST_BYTES = 200_000_000, 300_000_000
CANDIDATES = ('/usr/bin', '/usr/include', '/usr/lib/gcc', '/usr/share/doc', '/usr/share/locale', '/usr/share', '/usr/lib')


def size_of(path):
    done = subprocess.run(['du', '-sbx', path], capture_output=True, text=True)
    return int(done.stdout.split()[0]) if done.stdout else 0


def real_files():
    """The first folder of this machine that has enough to show and not too much, or else the smallest that has enough."""
    sizes = []
    for path in filter(os.path.isdir, CANDIDATES):
        size = size_of(path)
        if LEAST_BYTES <= size <= MOST_BYTES:
            return path
        if size > MOST_BYTES:
            sizes.append((size, path))
    if not sizes:
        raise SystemExit('no folder with 200 MB of files was found here: name one, as in ./dev demo ~/data')
    size, path = min(sizes)
    print(f'{path} has {human(size)}, {size * 8 / 1e6 / UPLINK_MBIT:.0f} s at {UPLINK_MBIT} Mbit/s; to take less: ./dev demo PATH')
    return path


def human(n):
    for unit in ('B', 'kB', 'MB', 'GB', 'TB'):
        if n < 999.5 or unit == 'TB':
            return f'{n:.0f} {unit}' if unit == 'B' else f'{n:.3g} {unit}' if n < 100 else f'{n:.0f} {unit}'
        n /= 1000


class Plans(threading.Thread):
    """The last lane plan of each node that fetches, and its reason, as `gridtorrent transfers --json` has them."""

    def __init__(self, nodes):
        super().__init__(daemon=True)
        self.nodes, self.reasons, self.ended = nodes, {}, threading.Event()

    def run(self):
        while not self.ended.wait(0.5):
            for node in self.nodes:
                for transfer in node.user.cli('transfers', '--json', node=node).json['transfers']:
                    if transfer['state'] == 'fetching' and transfer['plan_reason']:
                        self.reasons[node.short_name] = transfer['plan_reason']

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def refusal(user, node, target):
    """What somebody reads who may not have it, and how many bytes came all the same."""
    refused = user.cli('get', 'alice/demo', '--to', target, node=node, expect=3)
    transfers = user.cli('transfers', '--json', node=node).json['transfers']
    return refused.err.strip(), sum(t['received_bytes'] for t in transfers)


def print_table(done, names, verdicts):
    print(f'\n  {"who":<16}{"from whom":<18}{"most lanes":>10}{"bytes":>10}{"share":>7}{"Mbit/s":>9}  verified')
    for node, event in done.items():
        total = sum(s['bytes'] for s in event['seeders']) or 1
        for s in sorted(event['seeders'], key=lambda s: -s['bytes']):
            rate = s['bytes'] * 8 / 1e6 / max(event['seconds'], 1e-3)
            verdict = 'byte for byte' if verdicts[node] is None else 'NO'
            print(f'  {names[node.node_id]:<16}{names.get(s["node"], s["node"]):<18}{s["lanes"]:>10}{human(s["bytes"]):>10}'
                  f'{s["bytes"] / total:>6.0%} {rate:>8.0f}  {verdict}')


def main():
    parser = argparse.ArgumentParser(prog='./dev demo', description=__doc__.split('\n\n')[1])
    parser.add_argument('path', nargs='?', help='file or folder to publish (default: real files found on this machine)')
    parser.add_argument('--bin', help=argparse.SUPPRESS)
    parser.add_argument('--lanes', default='auto', help='parallel sockets to each peer, 1 to 32 (default auto)')
    args = parser.parse_args()
    began = time.monotonic()
    path = os.path.abspath(args.path or real_files())
    if not os.path.exists(path):
        raise SystemExit(f'{path} does not exist: name a file or a folder')

    with harness.Scene(args.bin) as scene:
        print(f'starting a server and four nodes in {scene.dir}')
        server = scene.server()
        scene.admin()
        people = harness.run_parallel(*(lambda n=n: scene.user(n) for n in ('alice', 'bob', 'carol', 'dave')))
        limit = ('--upload-limit', f'{UPLINK_MBIT}Mbit')
        alpha, beta, gamma, delta = harness.run_parallel(
            *(lambda u=u, n=n, a=a: scene.node(u, n, args=a)
              for u, n, a in zip(people, ('alpha', 'beta', 'gamma', 'delta'), (limit, (), (), ()))))
        names = {n.node_id: f'{n.short_name} ({n.user.name})' for n in (alpha, beta, gamma, delta)}
        print(f'  server {server.address} (TLS); nodes ' + ', '.join(names.values()))
        print(f'  {names[alpha.node_id]} sends no more than {UPLINK_MBIT} Mbit/s (--upload-limit), all others as fast as they can')

        print(f'alice publishes {path} for bob and carol')
        published = alpha.user.cli('publish', path, '--name', 'demo', '--access', 'user:bob,user:carol', '--json', node=alpha).event('published')
        print(f'  {published["content_id"]}: {human(published["bytes"])} in {published["files"]:,} files, '
              f'hashed and published in {published["seconds"]:.1f} s')

        print('dave, who was not named, tries to get it')
        line, came = refusal(delta.user, delta, scene.dir / 'data-dave')
        print(f'  {line}\n  {human(came)} came')

        print('bob and carol get it, at once, over TLS')
        targets = {beta: scene.dir / 'data-bob', gamma: scene.dir / 'data-carol'}
        started = time.monotonic()
        with Plans(list(targets)) as plans:
            results = harness.run_parallel(
                *(lambda n=n, t=t: n.user.cli('get', 'alice/demo', '--to', t, '--lanes', args.lanes, '--json', node=n).event('done')
                  for n, t in targets.items()))
        elapsed = time.monotonic() - started
        done = dict(zip(targets, results))
        for node, reason in sorted(plans.reasons.items()):
            print(f'  lane plan of {node}: {reason}')

        verdicts = dict(zip(targets, harness.run_parallel(
            *(lambda t=t: harness.difference(path, t / os.path.basename(path)) for t in targets.values()))))
        print_table(done, names, verdicts)
        rate = 2 * published['bytes'] * 8 / 1e6 / elapsed
        print(f'\n  two copies in {elapsed:.1f} s, {rate:.0f} Mbit/s together out of an uplink of {UPLINK_MBIT}, checked piece by piece (SHA-1),\n'
              '  file by file (Merkle SHA-256) and here byte for byte')
        for node, difference in verdicts.items():
            if difference is not None:
                raise SystemExit(f'{node.short_name} differs: {difference}')
    print(f'  everything stopped, nothing left behind; {time.monotonic() - began:.0f} s in all')


if __name__ == '__main__':
    main()
