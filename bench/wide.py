"""Scenarios on an emulated wide area, bench/wide/*.json: tools in turn, over the same link, with the same data.

    {"title": ..., "network": {...}, "tcp": {"tcp_congestion_control": "cubic", ...}, "repetitions": 5,
     "data": {"file": "1200MB"} or {"files": 1500, "from": "16kB", "to": "400kB"} or {"files": 100000, "of": "10kB"},
     "tools": [{"tool": "iperf3", "streams": 8, "seconds": 15, "omit_s": 4},
               {"tool": "globus", "parallelism": 8}, {"tool": "globus_folder", "concurrency": 4, "parallelism": 1},
               {"tool": "globus_scheduled", "by": "pcp", "mc" or "fstream"} (files of a folder, chunk by chunk, as these papers' authors did it),
               {"tool": "gridtorrent", "lanes": 8, "access": "public"}, ...]}

Hosts named seed… all seed; rival… run no node; every other one but `server` fetches. More that a scenario may say (wide_check.py):

    "network": {..., "changes": [{"at_s": 30, "host": "seed", "up": "500Mbit"}]}   in each run, undone afterwards
    "rivals": [{"from": "seed", "to": "rival", "flows": 1, "congestion": "cubic", "at_s": 0, "until_s": 60}]   iperf3 flows beside the tool
    "kills": [{"host": "seed-2", "at_s": 20}]   nodes that are killed in each run of ours, and started again afterwards
    "limits": ["loss"]   what truly limits a transfer here
    "congestion_allowed": ["reno", "cubic", "bbr"]   what programs may choose, and our seeders grant who fetches
    "tcp_of": {"get": {"tcp_rmem": "4096 131072 262144"}}   "cpu": {"get": 0.2}   of single hosts
    "uploads": {"seed": "80Mbit"}   what the owner of a node that seeds gives at most
    "disk": {"get": 10e6}   the disk that data are fetched to takes so many bytes a second

A tool may have "rivals" and "limits" of its own. GridTorrent's also take "lanes", "seeders", "limit", "tuner", "mode", "target_rate",
"min_rate", "by_s", "history" ("cold", the default, or "warm": after a fetch over the same path) and "estimate" (true: `estimate` is asked
first, and what it fetched is kept). A tool with an option that the programs
lack is left out, with a line that says so.

Where there are several hosts that fetch, the tools are "gridtorrent_swarm", "aria2_swarm" and "transmission_swarm", or
{"tool": "gridtorrent_side_by_side", "lanes": [1, 16], ...}: they fetch different contents, and what counts is their shares.

In each repetition all tools meet the same random losses, and other ones in the next: what is compared is then what they make of
them, not who was lucky.

Each run becomes a line of bench/results/SCENARIO.jsonl as soon as it ended; of GridTorrent's, the drawing of its tuning is left in
bench-results/plots (not committed). A scenario that was interrupted, or that ran into
--minutes, goes on where it was, for the same commit and machine.
"""
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import tempfile
import time

import cpu_bound
import data
import explained
import kernel_settings
import lab
import ours
import slow_disk
import wide_check
from during import During
from peers import aria2, common, globus, iperf3, transmission, udt

FOLDER = pathlib.Path(__file__).parent
PLOTS = FOLDER.parent / 'bench-results/plots'
UNITS = {'': 1, 'kB': 1e3, 'MB': 1e6, 'GB': 1e9}
PAYLOAD = 1448 / 1500  # of a full segment with timestamps
HEADERS = 52  # bytes of a packet: IPv4, TCP, timestamps
WARM_S, TAIL_S = 4, 1  # not counted where a rate is called steady


def size(text):
    m = re.fullmatch(r'(\d+(?:\.\d+)?)(kB|MB|GB|)', text)
    if not m:
        raise SystemExit(f'a size is written like 200MB, not {text}')
    return int(float(m[1]) * UNITS[m[2]])


def names():
    return sorted(p.stem for p in (FOLDER / 'wide').glob('*.json'))


def load(name):
    path = FOLDER / 'wide' / f'{name}.json'
    try:
        scenario = json.loads(path.read_text())
        wide_check.check(scenario)
        return scenario
    except ValueError as e:
        raise SystemExit(f'{path.name}: {e}') from None


def make_data(folder, what):
    """The data set of a scenario; a file or a folder."""
    if 'file' in what:
        path = folder / 'data.bin'
        data.random_file(path, size(what['file']))
        return path
    path = folder / 'data'
    path.mkdir()
    rng = random.Random(1)
    for i in range(what['files']):
        sub = path / f'{i // 500:03d}'
        sub.mkdir(exist_ok=True)
        length = size(what['of']) if 'of' in what else rng.randint(size(what['from']), size(what['to']))
        (sub / f'file-{i:06d}').write_bytes(rng.randbytes(length))
    return path


def label(tool):
    """How a run is called in tables, as 'globus -p 8'."""
    t = dict(tool)
    kind = t.pop('tool')
    if kind == 'iperf3':
        return f'iperf3 -P {t["streams"]}' + (f', {t["congestion"]}' if 'congestion' in t else '') + beside(t)
    if kind == 'globus':
        checked = ', checksum' if t.get('verify_checksum') else ''
        return (f'globus -p {t["parallelism"]}' if t.get('parallelism') else 'globus, one stream') + checked
    if kind == 'globus_folder':
        return f'globus -pp -cc {t["concurrency"]} -p {t["parallelism"]}'
    if kind == 'globus_scheduled':
        return f'globus, files by {t["by"]}'
    if kind == 'aria2_http':
        return f'aria2 HTTP -x {t["connections"]}'
    if kind == 'aria2':
        return 'aria2 BitTorrent'
    if kind == 'udt':
        return 'UDT'
    if kind in ('aria2_swarm', 'transmission_swarm'):
        return kind.removesuffix('_swarm')
    access = 'public' if t.get('access', 'public') == 'public' else 'group, TLS'
    if kind == 'gridtorrent_side_by_side':
        return f'gridtorrent, {" against ".join(f"{n}" for n in t["lanes"])} lanes, {access}'
    auto = 'auto' if kind == 'gridtorrent' else ''
    wishes = [f'{t["lanes"]} lanes' if 'lanes' in t else t.get('tuner', auto), *(f'{t[key]} {key}' for key in ('seeders',) if key in t), t.get('mode', ''),
              *(f'{what} {t[key]}' for key, what in (('target_rate', 'target'), ('min_rate', 'floor')) if key in t),
              f'by {t["by_s"]:g} s' if 'by_s' in t else '', 'warm' if t.get('history') == 'warm' else '', 'estimated' if t.get('estimate') else '']
    return ', '.join(['gridtorrent', *filter(None, wishes), access]) + (f', limit {t["limit"]}' if 'limit' in t else '') + beside(t)


def beside(tool):
    """Of a tool that has other rivals than its scenario."""
    return f', {sum(r["flows"] for r in tool["rivals"]) or "no"} rivals' if 'rivals' in tool else ''


class Bench:
    def __init__(self, scenario, net, gt, source, folder, bin_dir):
        self.scenario, self.net, self.gt, self.source, self.folder, self.bin = scenario, net, gt, source, folder, bin_dir
        self.published = {}
        self.target = folder / ('disk' if 'disk' in scenario else '.') / 'target'

    def content(self, access):
        if access not in self.published:
            name = 'public' if access == 'public' else f'restricted-{len(self.published)}'
            self.gt.publish(self.source, name, access)
            self.published[access] = name
        return self.published[access]

    def contents(self, lanes, access):
        """Another content for each node that fetches, all as large as the data set."""
        found = []
        for i, number in enumerate(lanes):
            source, name = self.folder / f'content-{i}.bin', f'{"public" if access == "public" else "restricted"}-content-{i}'
            if not source.exists():
                data.random_file(source, common.size_of(self.source), seed=i + 2)
            if name not in self.published:
                self.gt.publish(source, name, access)
                self.published[name] = name
            found.append((source, name, number))
        return found

    def run(self, tool):
        kind, net = tool['tool'], self.net
        options = {k: v for k, v in tool.items() if k not in ('tool', *wide_check.COMMON)}
        seed, get = net[self.gt.seeders[0]], net[self.gt.fetchers[0]]
        target = self.target
        verify = self.first
        try:
            if kind == 'iperf3':
                return iperf3.measure(get, seed, **{'congestion': self.scenario['tcp']['tcp_congestion_control'], **options})
            if kind == 'globus':
                return globus.get(seed, get, self.source, target, verify=verify, fast=bool(options.get('parallelism')), **options)
            if kind == 'globus_folder':
                return globus.third_party(seed, get, None, self.source, target, verify=verify, **options)
            if kind == 'globus_scheduled':
                return globus.scheduled(seed, get, self.source, target, options['by'], *path_of(self.scenario), verify=verify)
            if kind == 'aria2_http':
                return aria2.http([seed], get, self.source, target, options['connections'], verify=verify)
            if kind == 'aria2':
                return aria2.get(seed, get, self.source, verify=verify)
            if kind == 'udt':
                return udt.get(seed, get, self.source, target, self.bin / 'udt_copy', verify=verify, **options)
            leechers = [net[name] for name in self.gt.fetchers]
            if kind == 'aria2_swarm':
                return aria2.swarm(seed, leechers, self.source, verify=verify)
            if kind == 'transmission_swarm':
                return transmission.swarm(seed, leechers, self.source, verify=verify)
            if kind == 'gridtorrent_side_by_side':
                target.mkdir()
                return self.gt.side_by_side(self.contents(options['lanes'], options.get('access', 'public')), target)
            name = self.content(options.pop('access', 'public'))
            if kind == 'gridtorrent_swarm':
                target.mkdir()
                return self.gt.swarm(self.source, name, target, verify=verify, **options)
            return self.gt.get(self.source, name, target, verify=verify, **options)
        finally:
            shutil.rmtree(target, ignore_errors=True) if target.is_dir() else target.unlink(missing_ok=True)


def steady_bit_s(series):
    """Payload rate without the start and the end; None where a transfer is too short for that."""
    first = next((t for t, got in series if got >= common.LEAST_DATA), None)
    if first is None:
        return None
    whole = series[-1][1]
    last = next(t for t, got in series if got >= whole - 100_000)
    inner = [(t, got) for t, got in series if first + WARM_S <= t <= last - TAIL_S]
    if len(inner) < 10 or inner[-1][0] - inner[0][0] < 3:
        return None
    (t1, b1), (t2, b2) = inner[0], inner[-1]
    return (b2 - b1) * 8 / (t2 - t1) * PAYLOAD


def record(name, machine, tool, repeat, transfer, watch):
    seconds = None if tool['tool'] == 'iperf3' and not tool.get('bytes') else transfer.seconds
    return {'scenario': name, 'machine': machine, 'at': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()), 'label': label(tool), 'tool': tool,
            'repeat': repeat, 'bytes': transfer.bytes, 'seconds': seconds and round(seconds, 3),
            'mbit_s': seconds and round(transfer.bit_s / 1e6, 1), 'steady_mbit_s': round((steady_bit_s(transfer.series) or 0) / 1e6, 1) or None,
            'cpu_s_per_gb': round(transfer.cpu_s * 1e9 / transfer.bytes, 2), 'emulator': {k: v for k, v in watch.figures.items() if k != 'links'},
            'void': watch.void, 'checks': transfer.checks, 'figures': {k: v for k, v in transfer.figures.items() if k != 'per_second'},
            'series': transfer.series}


def bit_s(text):
    """Of a host's "up" or "down"."""
    m = re.fullmatch(r'(\d+(?:\.\d+)?)(M|G)bit', text)
    return float(m[1]) * {'M': 1e6, 'G': 1e9}[m[2]]


def path_of(scenario):
    """What the papers take as given of the path from the first seeder to who fetches: bits a second, round trip in s, bytes of a buffer."""
    hosts = scenario['network']['hosts']
    seed, get = hosts[wide_check.seeders(hosts)[0]], hosts[wide_check.fetchers(hosts)[0]]
    link = min(bit_s(host[way]) for host, way in ((seed, 'up'), (get, 'down')) if way in host)
    buffers = [int(scenario['tcp'][name].split()[-1]) for name in ('tcp_rmem', 'tcp_wmem') if name in scenario['tcp']]
    return link, 2 * (seed['delay_ms'] + get['delay_ms']) / 1e3, min(buffers, default=4 << 20)


def swarm_figures(scenario, transfer, watch):
    """Of a swarm: the time that no distribution can beat, and how many copies left the seeder. Kumar and Ross 2006: F bytes for N leechers
    take max(F/u_seed, F/d_min, N F/(u_seed + sum of u_i))."""
    hosts = scenario['network']['hosts']

    def rate(host, way):
        return bit_s(hosts[host][way])
    leechers, seed = wide_check.fetchers(hosts), wide_check.seeders(hosts)[0]
    bits, up = transfer.bytes * 8, rate(seed, 'up')
    bound = max(bits / up, bits / min(rate(h, 'down') for h in leechers), len(leechers) * bits / (up + sum(rate(h, 'up') for h in leechers)))
    copies = watch.figures['links'][hosts[seed]['address']]['up_bytes'] / transfer.bytes
    return {'bound_s': round(bound, 2), 'of_bound': round(transfer.seconds / bound, 3), 'seeder_copies': round(copies, 3),
            'each_s': [round(s, 2) for s in transfer.each]}


def other_shares(link, transfer):
    """What crossed a receiver's link and was neither headers nor data, as shares of the data, towards it and both ways: requests, what it
    tells of its pieces, TLS, lists of files, what a node and a command say to the server. Data sent again count here, too."""
    up, down = (link[f'{way}_bytes'] - HEADERS * link[f'{way}_packets'] for way in ('up', 'down'))
    return {'other_received_share': round(down / transfer.bytes - 1, 5), 'other_share': round((up + down) / transfer.bytes - 1, 5)}


def congestion_allowed(scenario):
    """What programs may choose: without a word about it, what the scenario's hosts use anyway."""
    return scenario.get('congestion_allowed', ['reno', scenario['tcp']['tcp_congestion_control']])


def granted(scenario, bin_dir):
    """What our seeders grant who fetches: all that the scenario names; nothing in builds that cannot."""
    daemon = explained.Program(pathlib.Path(bin_dir) / 'gridtorrentd')
    return scenario.get('congestion_allowed', []) if '--lane-congestion-control' in daemon.help() else []


def sockets_checked(scenario, tool, transfer):
    """The settings of a scenario held in this run: what ss showed of its sockets, and the namespaces' own."""
    wanted = [scenario['tcp']['tcp_congestion_control'], *scenario.get('congestion_allowed', []), *([tool['congestion']] if 'congestion' in tool else [])]
    for check in transfer.checks:
        if 'host' not in check:
            continue
        if set(check['congestion']) - {*wanted, 'udt'}:
            raise AssertionError(f'{check["host"]}: sockets used {check["congestion"]}, not {" or ".join(wanted)}')
        if check['tcp_no_metrics_save'] != '1':
            raise AssertionError(f'{check["host"]}: metrics of earlier runs are kept')


def same_machine(a, b):
    return all(a.get(k) == b.get(k) for k in ('cpu', 'cores', 'kernel', 'commit'))


def size_of_data(scenario):
    """Bytes, at the most."""
    what = scenario['data']
    return size(what['file']) if 'file' in what else what['files'] * size(what.get('of') or what['to'])


def room_for(scenario):
    """A folder in memory where source and copy fit, so that disks play no part; else the usual one."""
    fetching = len(wide_check.fetchers(scenario['network']['hosts']))
    need = size_of_data(scenario)
    memory = pathlib.Path('/dev/shm')
    free = shutil.disk_usage(memory).free if memory.is_dir() else 0
    available = int(re.search(r'MemAvailable:\s+(\d+)', pathlib.Path('/proc/meminfo').read_text())[1]) * 1024
    return str(memory) if min(free, available) > 1.1 * need * (1 + fetching) + 2e9 else None


class Session:
    """The hosts, nodes and data of a scenario, for as many runs as its context lasts. `results`: the file that each run becomes a line of."""

    def __init__(self, name, scenario, args, machine, results, emulator=None):
        self.name, self.scenario, self.args, self.machine, self.results = name, scenario, args, machine, results
        self.emulator, self.verified, self.stack = emulator or args.bin, set(), contextlib.ExitStack()

    def __enter__(self):
        scenario = self.scenario
        tempfile.tempdir = room_for(scenario)
        with contextlib.ExitStack() as stack:
            self.machine = {**self.machine, 'kernel_settings': stack.enter_context(kernel_settings.held())}
            self.net = stack.enter_context(lab.Lab(scenario['network'], self.emulator, scenario['tcp'], scenario.get('tcp_of'),
                                                   congestion_allowed(scenario)))
            self.gt = stack.enter_context(ours.Ours(self.net.hosts, self.args.bin, cpu=scenario.get('cpu'),
                                                    congestion=granted(scenario, self.args.bin), uploads=scenario.get('uploads')))
            folder = self.gt.scene.dir / 'bench'
            folder.mkdir()
            for rate in scenario.get('disk', {}).values():
                stack.enter_context(slow_disk.SlowDisk(folder / 'disk', 2 * size_of_data(scenario), rate))
            self.bench = Bench(scenario, self.net, self.gt, make_data(folder, scenario['data']), folder, pathlib.Path(self.args.bin))
            data.in_page_cache(self.bench.source)
            if tempfile.tempdir:  # in memory
                kernel_settings.touch(folder, size_of_data(scenario) * len(wide_check.fetchers(scenario['network']['hosts'])))
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def run(self, repeat, tool):
        """One run, kept and said; `repeat` decides about its random losses."""
        bench, net = self.bench, self.net
        bench.first = label(tool) not in self.verified
        if tool['tool'] == 'gridtorrent_side_by_side':
            bench.contents(tool['lanes'], tool.get('access', 'public'))
        elif tool['tool'].startswith('gridtorrent'):
            bench.content(tool.get('access', 'public'))
        net.reseed(repeat + 1)
        with net.watch() as watch, During(net, self.gt, self.scenario, tool) as during:
            transfer = bench.run(tool)
        watch.judge(transfer.cpu_s)
        watch.figures['losses'] = repeat + 1
        self.verified.add(label(tool))
        sockets_checked(self.scenario, tool, transfer)
        transfer.figures.update(during.figures)
        if transfer.each:
            transfer.figures.update(swarm_figures(self.scenario, transfer, watch))
        elif tool['tool'] == 'gridtorrent':
            transfer.figures.update(other_shares(watch.figures['links'][net[self.gt.fetchers[0]].address], transfer))
        if plot := transfer.figures.pop('plot', None):
            keep_plot(f'{self.name}-{repeat + 1}-{label(tool)}', plot)
        line = record(self.name, self.machine, tool, repeat, transfer, watch)
        with open(self.results, 'a') as out:
            out.write(json.dumps(line) + '\n')
        say(line)
        return line


def keep_plot(name, svg):
    PLOTS.mkdir(parents=True, exist_ok=True)
    (PLOTS / (re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') + '.svg')).write_text(svg)


def kept(results):
    """The runs in a file, which may not be there yet."""
    results.parent.mkdir(parents=True, exist_ok=True)
    return [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []


def lacking(tools, bin_dir):
    """[(tool, key, option)] of those with an option that the programs lack."""
    program = explained.Program(pathlib.Path(bin_dir) / 'gridtorrent')
    return [(tool, *missing) for tool in tools if (missing := program.missing(tool))]


def able(tools, bin_dir):
    """The tools whose options the programs have; of the others a line each."""
    unable = lacking(tools, bin_dir)
    for tool, key, option in unable:
        print(f'  NOT RUN: {label(tool)}: "{key}" needs {option}, which this gridtorrent get lacks; build one that has it', flush=True)
    return [tool for tool in tools if not any(tool is other for other, _, _ in unable)]


def run(name, args, machine, only=lambda tool: True, emulator=None):
    """Runs what is missing of a scenario, of its tools those that `only` lets through; whether it is complete. `emulator`: the folder of
    its program, where it is not that of the others."""
    scenario = load(name)
    wanted = list(filter(only, scenario['tools']))
    lab.require_root()
    scenario['tools'] = able(wanted, args.bin)
    results = pathlib.Path(args.results) / f'{name}.jsonl'
    done = {(json.dumps(r['tool'], sort_keys=True), r['repeat']) for r in kept(results) if same_machine(r['machine'], machine) and not r['void']}
    repetitions = args.runs or scenario['repetitions']
    left = [(repeat, tool) for repeat in range(repetitions) for tool in in_turn(scenario['tools'], repeat)
            if (json.dumps(tool, sort_keys=True), repeat) not in done]
    print(f'  {scenario["title"]}: {len(left)} of {repetitions * len(scenario["tools"])} runs to do', flush=True)
    if not left:
        return len(scenario['tools']) == len(wanted)
    minutes = args.minutes or 30
    deadline = time.monotonic() + 60 * minutes
    try:
        with Session(name, scenario, args, machine, results, emulator) as session:
            for repeat, tool in left:
                if time.monotonic() > deadline:
                    print(f'  {minutes:g} minutes are over; the same command goes on from here')
                    return False
                session.run(repeat, tool)
    except cpu_bound.Unable as e:
        print(f'  SKIPPED: {name}: {e}', flush=True)
        return False
    return len(scenario['tools']) == len(wanted)


def in_turn(tools, repeat):
    """Another order each time, so that none always comes after the same other."""
    return tools if repeat % 2 == 0 else tools[::-1]


def say(r):
    steady = f', steady {r["steady_mbit_s"]:.0f}' if r['steady_mbit_s'] else ''
    whole = f'{r["seconds"]:7.2f} s {r["mbit_s"]:6.0f} Mbit/s' if r['seconds'] else ' ' * 23
    if 'of_bound' in r['figures']:
        whole += f' {r["figures"]["of_bound"]:.2f} of the bound, {r["figures"]["seeder_copies"]:.2f} copies'
    if 'shares' in r['figures']:
        whole += f' shares {" ".join(f"{s:.0%}" for s in r["figures"]["settled_shares"])} once settled, even from {r["figures"]["even_from_s"]} s on'
    if 'other_share' in r['figures']:
        steady += f', first data after {r["figures"]["first_data_s"]:.2f} s, {r["figures"]["other_received_share"]:.2%} and {r["figures"]["other_share"]:.2%} beside data'
    for rival in r['figures'].get('rivals', []):
        steady += f', rival of {rival["flows"]} {rival["mbit_s"] or 0:.1f} Mbit/s'
    void = f'  VOID: {r["void"]}' if r['void'] else ''
    print(f'  {r["repeat"] + 1}: {r["label"]:34} {whole}{steady}, CPU {r["cpu_s_per_gb"]:.1f} s/GB; emulator {r["emulator"]["cores"]:.2f} cores, '
          f'late {max(r["emulator"]["late"], r["emulator"]["read_late"]):.2%}, {r["emulator"]["idle"]:.0%} idle, {r["emulator"]["steal"]:.0%} stolen{void}', flush=True)
