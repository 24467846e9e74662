#!/usr/bin/env python3
"""What a server holds while strangers attack it, beside what others notice of it.

    python3 bench/hold.py [--bin BIN_DIR] [--seconds 60] [ATTACK...]
    python3 bench/hold.py --calls --against BIN_DIR [--rounds 15]

The first runs each attack of bench/attack.cc for so long against a server of its own, samples the server's resident memory each 10 ms, and
lets another caller ask "who am I" meanwhile, whose stream must stand, and newcomers, a connection each. The second compares calls a second of two builds in turn.
Build with: ninja -C build/release gridtorrent-server attack calls. Everything happens on loopback.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
MIB = 1 << 20
# name: mode, connections, addresses
ATTACKS = {
    'continuation-1': ('continuation', 1, 1),
    'continuation-64': ('continuation', 64, 1),
    'unfinished-1': ('unfinished', 24, 1),
    'unfinished-100': ('unfinished', 100, 100),
    'unfinished-2400': ('unfinished', 2400, 100),
    'unfinished-512': ('unfinished', 512, 1),
    'resets': ('resets', 8, 1),
    'silent-2000': ('silent', 2000, 1),
    'silent-tls-2000': ('silent-tls', 2000, 1),
    'silent-8000': ('silent', 8000, 40),  # more than a server with 20,000 descriptors has places for
}


class Server:
    """A server in a folder of its own, gone at the end of the `with`."""

    def __init__(self, programs):
        self.folder = tempfile.TemporaryDirectory(prefix='gt-hold-')
        data = pathlib.Path(self.folder.name)
        self.log = open(data / 'log', 'w')
        self.process = subprocess.Popen([programs / 'gridtorrent-server', '--data-dir', data / 'data', '--listen', '127.0.0.1:0',
                                         '--ready-file', data / 'ready'], stderr=self.log)
        while not (data / 'ready').exists():
            if self.process.poll() is not None:
                raise SystemExit((data / 'log').read_text())
            time.sleep(0.05)
        self.ready = json.loads((data / 'ready').read_text())
        self.port = int(self.ready['address'].rsplit(':', 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(30)
        self.folder.cleanup()

    def status(self):
        lines = (line.split() for line in open(f'/proc/{self.process.pid}/status'))
        return {words[0]: int(words[1]) for words in lines if words[0] in ('VmRSS:', 'Threads:')}

    def resident(self):
        return self.status()['VmRSS:'] * 1024

    def cpu_s(self):
        fields = open(f'/proc/{self.process.pid}/stat').read().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def start_calls(self, seconds, connections=1, pause_ms=10, message_bytes=0):
        command = [ROOT / 'build/release/bin/calls', self.ready['address'], self.ready['ca_file'], self.ready['admin_token_file'],
                   seconds, connections, pause_ms, message_bytes]
        return subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)

    def calls(self, *args, **kwargs):
        return json.loads(self.start_calls(*args, **kwargs).communicate()[0])


class Memory:
    """Samples resident memory each 10 ms until the end of the `with`."""

    def __init__(self, server):
        self.server, self.peak, self.done = server, 0, threading.Event()
        self.thread = threading.Thread(target=self.sample)

    def sample(self):
        while not self.done.wait(0.01):
            self.peak = max(self.peak, self.server.resident())

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


class Newcomers:
    """One after the other: a program that connects anew and asks once, until the end of the `with`."""

    def __init__(self, server):
        self.server, self.seconds, self.failed, self.done = server, [], 0, threading.Event()
        self.thread = threading.Thread(target=self.come)

    def come(self):
        while not self.done.wait(0.5):
            began = time.monotonic()
            self.failed += self.server.calls(0.001)['failed']
            self.seconds.append(time.monotonic() - began)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def hold(programs, name, seconds):
    mode, connections, addresses = ATTACKS[name]
    with Server(programs) as server:
        quiet = server.calls(min(10, seconds))
        start, cpu = server.resident(), server.cpu_s()
        with Memory(server) as memory:
            asking = server.start_calls(seconds)
            with Newcomers(server) as newcomers:
                attack = json.loads(subprocess.run(
                    [ROOT / 'build/release/bin/attack', mode, str(server.port), str(seconds), str(connections), str(addresses)],
                    stdout=subprocess.PIPE, text=True, check=True).stdout)
            others = json.loads(asking.communicate()[0])
        figures = {'attack': attack, 'memory_added_mib': round((memory.peak - start) / MIB, 1),
                   'memory_after_mib': round((server.resident() - start) / MIB, 1), 'cpu_s': round(server.cpu_s() - cpu, 1),
                   'quiet_p99_ms': quiet['p99_ms'], 'others_p99_ms': others['p99_ms'], 'others_failed': others['failed'],
                   'newcomers': len(newcomers.seconds), 'newcomers_longest_s': round(max(newcomers.seconds, default=0), 2), 'newcomers_failed': newcomers.failed}
    held = figures['memory_added_mib'] <= 64 and others['failed'] == 0 and others['p99_ms'] <= 3 * quiet['p99_ms'] + 25
    print(f'{name:16} {"holds" if held else "FAILS"}  {json.dumps(figures)}', flush=True)
    return held


def compare(ours, others, rounds):
    """Calls a second of `ours` over those of `others`, alternating; the median of the rounds' ratios and their range."""
    for connections, message_bytes in ((1, 0), (16, 0), (64, 0), (4, 200_000)):
        ratios, tails, costs = [], [], []
        with Server(ours) as one, Server(others) as two:
            for number in range(rounds):
                pair = {}
                for server in ((one, two), (two, one))[number % 2]:
                    cpu = server.cpu_s()
                    pair[server] = server.calls(2, connections, 0, message_bytes)
                    pair[server]['cpu_us'] = (server.cpu_s() - cpu) * 1e6 / pair[server]['calls']
                ratios.append(pair[one]['calls_per_s'] / pair[two]['calls_per_s'])
                tails.append(pair[one]['p99_ms'] / pair[two]['p99_ms'])
                costs.append((pair[one]['cpu_us'], pair[two]['cpu_us']))
        ours_us, others_us = (statistics.median(column) for column in zip(*costs))
        print(f'{connections} connections, {message_bytes} bytes: {ours_us:.0f} and {others_us:.0f} µs of CPU a call; calls {statistics.median(ratios):.2f} [{min(ratios):.2f}–{max(ratios):.2f}], '
              f'p99 {statistics.median(tails):.2f} [{min(tails):.2f}–{max(tails):.2f}]', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('attack', nargs='*', choices=[[], *ATTACKS], help=', '.join(ATTACKS))
    parser.add_argument('--bin', type=pathlib.Path, default=ROOT / 'build/release/bin')
    parser.add_argument('--seconds', type=int, default=60)
    parser.add_argument('--calls', action='store_true', help='compare calls a second with --against')
    parser.add_argument('--against', type=pathlib.Path, help="another build's programs")
    parser.add_argument('--rounds', type=int, default=15)
    args = parser.parse_args()
    if args.calls:
        return compare(args.bin, args.against, args.rounds)
    held = [hold(args.bin, name, args.seconds) for name in args.attack or ATTACKS]
    sys.exit(0 if all(held) else 1)


if __name__ == '__main__':
    main()
