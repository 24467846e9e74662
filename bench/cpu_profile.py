"""Where the processor's time goes at both ends of a transfer at the limit of the path."""
import collections
import json
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import data
import lab
import ours

SCENARIO = pathlib.Path(__file__).parent / 'wide/long-1200MB.json'
SAMPLES_A_SECOND = 999
HASHERS = ('gt-pieces', 'gt-hash', 'gt-verify', 'gt-flat-sums')

KERNEL_KINDS = [('kernel: copying', r'copy|memcpy|memset|clear_page|rep_movs|csum'),
                ('kernel: network', r'tcp|skb|sock|inet|ip_|ipv4|net|tun_|napi|softirq|nf_|\bsk_|dst_|qdisc|dev_|xmit|bictcp|cubic'),
                ('kernel: files and memory', r'shmem|filemap|folio|page|xas_|fault|lru|mem_cgroup|alloc|free|kmem|slab|vfs|write_begin|write_end')]


def kind_of(thread, symbol, library):
    """What a sample was spent on. Debian's libcrypto names no inner functions, but what is hashed is hashed in threads of its own."""
    if 'kernel' in library or library.startswith('['):
        return next((kind for kind, names in KERNEL_KINDS if re.search(names, symbol)), 'kernel: calls, waking and the rest')
    if 'IPSec_MB' in library:
        return f'hashing in {thread}'
    if re.search('libcrypto|libssl', library):
        return f'hashing in {thread}' if thread in HASHERS else 'TLS'
    if 'libtorrent' in library:
        return 'libtorrent'
    if 'gridtorrentd' in library:
        return 'ours, and Asio as built into it'
    return 'C and C++ libraries'


class Perf:
    """`perf record` of the machine for the length of a block: of one process, it misses threads whose parents it came too late for."""

    def __init__(self, file):
        self.command, self.file = ['perf', 'record', '-q', '-a', '-e', 'cpu-clock', '-F', str(SAMPLES_A_SECOND), '-o', str(file)], file

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        errors = self.process.communicate()[1]
        if not self.file.exists():
            raise SystemExit(f'perf recorded nothing: {errors.strip()}')

    def samples(self, pid):
        """Of one process: by kind, and by kind and symbol."""
        text = subprocess.run(['perf', 'script', '-i', self.file, '--pid', str(pid), '-F', 'comm,ip,sym,dso'],
                              capture_output=True, text=True, check=True).stdout
        kinds, symbols = collections.Counter(), collections.Counter()
        for line in text.splitlines():
            found = re.fullmatch(r'\s*(.+?)\s+[0-9a-f]+ (.+) \((.*)\)\s*', line)
            if found:
                kind = kind_of(*found.groups())
                kinds[kind] += 1
                symbols[kind, found[2]] += 1
        if not kinds:
            raise AssertionError(f'no samples in what perf says:\n{text[:500]}')
        return kinds, symbols


def show(label, end, samples, size):
    kinds, symbols = samples
    seconds = {kind: n / SAMPLES_A_SECOND / (size / 1e9) for kind, n in kinds.most_common()}
    print(f'  {label}, {end}: {sum(seconds.values()):.2f} s/GB')
    for kind, spent in seconds.items():
        most = ', '.join(f'{symbol} {n / SAMPLES_A_SECOND / (size / 1e9):.2f}' for (k, symbol), n in symbols.most_common() if k == kind and n * 50 > kinds.total())
        print(f'    {spent:5.2f}  {kind}' + (f'  ({most})' if most else ''))
    return {kind: round(spent, 3) for kind, spent in seconds.items()}


def bench_profile(args):
    """CPU of seeder and receiver by what it is for (perf), 16 lanes over 1 Gbit/s, RTT 50 ms; public and TLS."""
    if not shutil.which('perf'):
        raise SystemExit('profile: perf is not installed; Debian has it as linux-perf')
    lab.require_root()
    scenario = json.loads(SCENARIO.read_text())
    size = data.parse_size(args.size, 1_200_000_000)
    results = {}
    with tempfile.TemporaryDirectory(dir='/dev/shm') as folder, lab.Lab(scenario['network'], args.bin, scenario['tcp']) as path:
        folder = pathlib.Path(folder)
        source = folder / 'data.bin'
        data.random_file(source, size)
        with ours.Ours({name: path[name] for name in scenario['network']['hosts']}, args.bin) as grid:
            for label, access in (('public', 'public'), ('TLS', 'group:bench')):
                grid.publish(source, label, access)
                path.reseed(1)
                pids = {'seeder': grid.seed.pid, 'receiver': grid.nodes['get'].pid}
                with Perf(folder / f'{label}.perf') as perf:
                    done = grid.get(source, label, folder / 'got', lanes=16)
                shutil.rmtree(folder / 'got')
                print(f'  {label}: {done.seconds:.2f} s; by the kernel\'s own count {done.cpu_s / (size / 1e9):.2f} s/GB for both ends')
                results[label] = {end: show(label, end, perf.samples(pid), size) for end, pid in pids.items()}
    return results
