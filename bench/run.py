#!/usr/bin/env python3
"""./dev bench [scenario...]: what docs/verification.md quotes, measured again on this machine.

Each scenario prints its figures and the machine, and writes JSON below bench-results/ (not committed). Absolute times on a shared
machine mean little: where a claim is about speed, a peer runs in the same scenario, alternating, and the ratio counts.
"""
import argparse
import fcntl
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tests/e2e'), str(ROOT / 'bench')]
import against  # noqa: E402
import drawn  # noqa: E402
import held  # noqa: E402
import report  # noqa: E402
import scenarios  # noqa: E402
import tune  # noqa: E402
import wide  # noqa: E402


# A run is of the last commit that changed one of these, so that results which are committed do not end a series; with changes to them that are not
# committed there is a + behind it.
CODE = ['client', 'tracker', 'ccm', 'common', 'base', 'proto', 'metainfo', 'bench/wan']


def machine():
    cpu = next((line.split(':')[1].strip() for line in open('/proc/cpuinfo') if line.startswith('model name')), platform.machine())
    flags = next((line for line in open('/proc/cpuinfo') if line.startswith('flags')), '')
    def git(*args):
        return subprocess.run(['git', '-C', str(ROOT), *args], capture_output=True, text=True).stdout.strip()
    commit = git('log', '-1', '--format=%h', '--', *CODE) + ('+' if git('status', '--porcelain', '--', *CODE) else '')
    return {'cpu': cpu, 'cores': os.cpu_count(), 'kernel': platform.release(), 'sha_ni': ' sha_ni' in flags, 'avx2': ' avx2' in flags,
            'commit': commit, 'date': time.strftime('%Y-%m-%dT%H:%MZ', time.gmtime())}


def above_zero(number):
    def parse(text):
        try:
            if (value := number(text)) > 0:
                return value
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f'"{text}" is not {"a whole number" if number is int else "a number"} above 0')
    return parse


def alone():
    """Keeps a second bench of this machine out until this process ends; each would spoil the other's figures."""
    lock = open('/var/tmp/gridtorrent-bench.lock', 'a+')
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        raise SystemExit(f'another ./dev bench is under way here (process {lock.read().strip()}), and both would measure each other: '
                         'wait for it, or end it')
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was changed for the whole machine is undone
    known = {name[len('bench_'):]: fn for name, fn in vars(scenarios).items() if name.startswith('bench_')}
    parser = argparse.ArgumentParser(prog='./dev bench', description=__doc__.split('\n\n')[1], formatter_class=argparse.RawTextHelpFormatter)
    over_distance = {name: wide.load(name)['title'] for name in wide.names()}
    parser.add_argument('scenario', nargs='*', help='\n'.join(
        ['on loopback and on hosts in namespaces:', *(f'  {n}: {f.__doc__.splitlines()[0]}' for n, f in known.items()),
         'on an emulated wide area, against peers (each run is kept in bench/results/):', *(f'  {n}: {t}' for n, t in over_distance.items()),
         'what the tuner has to show (each run is kept in bench/results/tune/):', '  tune [ROW...]: two passes of each row, what is left first',
         'on links that nobody chose (each run is kept in bench/results/drawn/):', '  drawn: auto beside fixed lanes and GridFTP, on --runs links from --seed on',
         'on links that hold each connection by itself (each run is kept in bench/results/held/):', '  held: auto beside 4 and 16 lanes, on each of them']).replace('%', '%%'))
    parser.add_argument('--bin', default=ROOT / 'build/release/bin', help=argparse.SUPPRESS)
    parser.add_argument('--against', type=against.build_folder, metavar='BIN_DIR',
                        help='run the programs of another build in turn with this one\'s, and print the ratios')
    parser.add_argument('--size', help='bytes a scenario moves, as 2GB (default: what the issue asks for)')
    parser.add_argument('--runs', type=above_zero(int), help='repetitions, or links of drawn (default: what the issue asks for; 8 links)')
    parser.add_argument('--minutes', type=above_zero(float), help='how long something is away (default: 60); on a wide area, how long to go on (default: 30)')
    parser.add_argument('--results', default=ROOT / 'bench/results', help='where runs on a wide area are kept (default: bench/results)')
    parser.add_argument('--seed', type=int, default=int(time.time()), help='for random moments, or the first link of drawn; printed')
    parser.add_argument('--list', action='store_true', help='with tune: say what is still to run, and what the runs say so far; run nothing')
    parser.add_argument('--report', action='store_true', help='write docs/benchmarks.md from the runs that are kept')
    args = parser.parse_intermixed_args()
    os.environ.setdefault('GT_BIN', str(args.bin))  # what the end-to-end harness looks at beside what it is told to run
    if args.report:
        return report.main(args.results, ROOT / 'docs')
    if args.scenario[:1] == ['tune']:
        return measured_alone(args, lambda about: tune.run(args.scenario[1:], args, about))
    if args.list:
        parser.error('--list goes with tune: ./dev bench tune --list')
    if args.scenario == ['drawn']:
        return measured_alone(args, lambda about: drawn.run(args, about))
    if args.scenario == ['held']:
        return measured_alone(args, lambda about: held.run(args, about))
    unknown = [s for s in args.scenario if s not in known and s not in over_distance]
    if unknown:
        parser.error(f'unknown scenario {unknown[0]}; there are {", ".join([*known, *over_distance, "tune", "drawn", "held"])}')
    lock = alone()  # noqa: F841 (held until the end)
    about = machine()
    print('machine:', ', '.join(f'{k} {v}' for k, v in about.items()))
    out = ROOT / 'bench-results'
    out.mkdir(exist_ok=True)
    missed = []
    for name in args.scenario or known:
        if args.against:
            print(f'\n== {name}, this build in turn with {args.against}', flush=True)
            once = against.in_one_run(known[name]) if name in known else against.over_distance(name, about, against.results_folder(out), args.bin)
            keep(out, name, about, against.run(once, args))
            continue
        if name in over_distance:
            print(f'\n== {name}', flush=True)
            wide.run(name, args, about)
            continue
        print(f'\n== {name}: {known[name].__doc__.splitlines()[0]}', flush=True)
        figures = known[name](args)
        keep(out, name, about, figures)
        missed += misses(figures)
    if missed:
        raise SystemExit('\n'.join(['', *(f'MISSED: {line}' for line in missed)]))


def misses(figures):
    """The lines that a scenario, or a part of one, has about what came out otherwise than asked."""
    if isinstance(figures, dict):
        return [*figures.get('missed', []), *(line for value in figures.values() for line in misses(value))]
    return [line for value in figures for line in misses(value)] if isinstance(figures, list | tuple) else []


def measured_alone(args, measure):
    lock = None if args.list else alone()  # noqa: F841 (held until the end)
    about = machine()
    print('machine:', ', '.join(f'{k} {v}' for k, v in about.items()))
    measure(about)


def keep(out, name, about, figures):
    record = {'scenario': name, 'machine': about, 'figures': figures}
    (out / f'{name}-{int(time.time())}.json').write_text(json.dumps(record, indent=1) + '\n')


main()
