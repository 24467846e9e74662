"""Scenarios on an emulated wide area, bench/wide/*.json: tools in turn, over the same link, with the same data.

    {"title": ..., "network": {...}, "tcp": {"tcp_congestion_control": "cubic", ...}, "repetitions": 5,
     "data": {"file": "1200MB"} or {"files": 1500, "from": "16kB", "to": "400kB"} or {"files": 100000, "of": "10kB"},
     "tools": [{"tool": "iperf3", "streams": 8, "seconds": 15, "omit_s": 4},
               {"tool": "globus", "parallelism": 8}, {"tool": "globus_folder", "concurrency": 4, "parallelism": 1},
               {"tool": "gridtorrent", "lanes": 8, "access": "public"}, ...]}

Where there are several hosts that fetch, the tools are "gridtorrent_swarm", "aria2_swarm" and "transmission_swarm", or
{"tool": "gridtorrent_side_by_side", "lanes": [1, 16], ...}: they fetch different contents, and what counts is their shares.

In each repetition all tools meet the same random losses, and other ones in the next: what is compared is then what they make of
them, not who was lucky.

Each run becomes a line of bench/results/SCENARIO.jsonl as soon as it ended. A scenario that was interrupted, or that ran into
--minutes, goes on where it was, for the same commit and machine.
"""
import json
import os
import pathlib
import random
import re
import shutil
import tempfile
import time

import data
import lab
import ours
from peers import aria2, common, globus, iperf3, transmission, udt

FOLDER = pathlib.Path(__file__).parent
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
        return json.loads(path.read_text())
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
        return f'iperf3 -P {t["streams"]}'
    if kind == 'globus':
        checked = ', checksum' if t.get('verify_checksum') else ''
        return (f'globus -p {t["parallelism"]}' if t.get('parallelism') else 'globus, one stream') + checked
    if kind == 'globus_folder':
        return f'globus -pp -cc {t["concurrency"]} -p {t["parallelism"]}'
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
    lanes = f'{t["lanes"]} lanes, ' if 'lanes' in t else ''
    return f'gridtorrent, {lanes}{access}' + (f', limit {t["limit"]}' if 'limit' in t else '')


class Bench:
    def __init__(self, scenario, net, gt, source, folder, bin_dir):
        self.scenario, self.net, self.gt, self.source, self.folder, self.bin = scenario, net, gt, source, folder, bin_dir
        self.published = {}

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
        options = {k: v for k, v in tool.items() if k != 'tool'}
        target = self.folder / 'target'
        verify = self.first
        try:
            if kind == 'iperf3':
                return iperf3.measure(net['get'], net['seed'], congestion=self.scenario['tcp']['tcp_congestion_control'], **options)
            if kind == 'globus':
                return globus.get(net['seed'], net['get'], self.source, target, verify=verify, fast=bool(options.get('parallelism')), **options)
            if kind == 'globus_folder':
                return globus.third_party(net['seed'], net['get'], None, self.source, target, verify=verify, **options)
            if kind == 'aria2_http':
                return aria2.http([net['seed']], net['get'], self.source, target, options['connections'], verify=verify)
            if kind == 'aria2':
                return aria2.get(net['seed'], net['get'], self.source, verify=verify)
            if kind == 'udt':
                return udt.get(net['seed'], net['get'], self.source, target, self.bin / 'udt_copy', verify=verify, **options)
            leechers = [host for name, host in net.hosts.items() if name not in ('server', 'seed')]
            if kind == 'aria2_swarm':
                return aria2.swarm(net['seed'], leechers, self.source, verify=verify)
            if kind == 'transmission_swarm':
                return transmission.swarm(net['seed'], leechers, self.source, verify=verify)
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


def swarm_figures(scenario, transfer, watch):
    """Of a swarm: the time that no distribution can beat, and how many copies left the seeder. Kumar and Ross 2006: F bytes for N leechers
    take max(F/u_seed, F/d_min, N F/(u_seed + sum of u_i))."""
    def rate(host, way):
        m = re.fullmatch(r'(\d+(?:\.\d+)?)(M|G)bit', hosts[host][way])
        return float(m[1]) * {'M': 1e6, 'G': 1e9}[m[2]]
    hosts = scenario['network']['hosts']
    leechers = [h for h in hosts if h not in ('server', 'seed')]
    bits, up = transfer.bytes * 8, rate('seed', 'up')
    bound = max(bits / up, bits / min(rate(h, 'down') for h in leechers), len(leechers) * bits / (up + sum(rate(h, 'up') for h in leechers)))
    copies = watch.figures['links'][hosts['seed']['address']]['up_bytes'] / transfer.bytes
    return {'bound_s': round(bound, 2), 'of_bound': round(transfer.seconds / bound, 3), 'seeder_copies': round(copies, 3),
            'each_s': [round(s, 2) for s in transfer.each]}


def other_shares(link, transfer):
    """What crossed a receiver's link and was neither headers nor data, as shares of the data, towards it and both ways: requests, what it
    tells of its pieces, TLS, lists of files, what a node and a command say to the server. Data sent again count here, too."""
    up, down = (link[f'{way}_bytes'] - HEADERS * link[f'{way}_packets'] for way in ('up', 'down'))
    return {'other_received_share': round(down / transfer.bytes - 1, 5), 'other_share': round((up + down) / transfer.bytes - 1, 5)}


def sockets_checked(scenario, transfer):
    """The settings of a scenario held in this run: what ss showed of its sockets, and the namespaces' own."""
    wanted = scenario['tcp']['tcp_congestion_control']
    for check in transfer.checks:
        if 'host' not in check:
            continue
        if set(check['congestion']) - {wanted, 'udt'}:
            raise AssertionError(f'{check["host"]}: sockets used {check["congestion"]}, not {wanted}')
        if check['tcp_no_metrics_save'] != '1':
            raise AssertionError(f'{check["host"]}: metrics of earlier runs are kept')


def same_machine(a, b):
    return all(a.get(k) == b.get(k) for k in ('cpu', 'cores', 'kernel', 'commit'))


def room_for(scenario):
    """A folder in memory where source and copy fit, so that disks play no part; else the usual one."""
    what = scenario['data']
    fetching = len(scenario['network']['hosts']) - 2
    need = size(what['file']) if 'file' in what else what['files'] * size(what.get('of') or what['to'])
    memory = pathlib.Path('/dev/shm')
    free = shutil.disk_usage(memory).free if memory.is_dir() else 0
    available = int(re.search(r'MemAvailable:\s+(\d+)', pathlib.Path('/proc/meminfo').read_text())[1]) * 1024
    return str(memory) if min(free, available) > 1.1 * need * (1 + fetching) + 2e9 else None


def run(name, args, machine, only=lambda tool: True, emulator=None):
    """Runs what is missing of a scenario, of its tools those that `only` lets through; whether it is complete. `emulator`: the folder of
    its program, where it is not that of the others."""
    scenario = load(name)
    scenario['tools'] = list(filter(only, scenario['tools']))
    lab.require_root()
    results = pathlib.Path(args.results) / f'{name}.jsonl'
    results.parent.mkdir(parents=True, exist_ok=True)
    known = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
    done = {(json.dumps(r['tool'], sort_keys=True), r['repeat']) for r in known if same_machine(r['machine'], machine) and not r['void']}
    repetitions = args.runs or scenario['repetitions']
    left = [(repeat, tool) for repeat in range(repetitions) for tool in in_turn(scenario['tools'], repeat)
            if (json.dumps(tool, sort_keys=True), repeat) not in done]
    print(f'  {scenario["title"]}: {len(left)} of {repetitions * len(scenario["tools"])} runs to do', flush=True)
    if not left:
        return True
    minutes = args.minutes or 30
    deadline = time.monotonic() + 60 * minutes
    tempfile.tempdir = room_for(scenario)
    with lab.Lab(scenario['network'], emulator or args.bin, scenario['tcp']) as net, ours.Ours(net.hosts, args.bin) as gt:
        folder = gt.scene.dir / 'bench'
        folder.mkdir()
        bench = Bench(scenario, net, gt, make_data(folder, scenario['data']), folder, pathlib.Path(args.bin))
        data.in_page_cache(bench.source)
        verified = set()
        for repeat, tool in left:
            if time.monotonic() > deadline:
                print(f'  {minutes:g} minutes are over; the same command goes on from here')
                return False
            bench.first = label(tool) not in verified
            if tool['tool'] == 'gridtorrent_side_by_side':
                bench.contents(tool['lanes'], tool.get('access', 'public'))
            elif tool['tool'].startswith('gridtorrent'):
                bench.content(tool.get('access', 'public'))
            net.reseed(repeat + 1)
            with net.watch() as watch:
                transfer = bench.run(tool)
            watch.figures['losses'] = repeat + 1
            verified.add(label(tool))
            sockets_checked(scenario, transfer)
            if transfer.each:
                transfer.figures.update(swarm_figures(scenario, transfer, watch))
            elif tool['tool'] == 'gridtorrent':
                transfer.figures.update(other_shares(watch.figures['links'][net['get'].address], transfer))
            line = record(name, machine, tool, repeat, transfer, watch)
            with open(results, 'a') as out:
                out.write(json.dumps(line) + '\n')
            say(line)
    return True


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
    void = f'  VOID: {r["void"]}' if r['void'] else ''
    print(f'  {r["repeat"] + 1}: {r["label"]:34} {whole}{steady}, CPU {r["cpu_s_per_gb"]:.1f} s/GB; emulator {r["emulator"]["cores"]:.2f} cores, '
          f'{r["emulator"]["steal"]:.0%} stolen{void}', flush=True)
