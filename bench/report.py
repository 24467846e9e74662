#!/usr/bin/env python3
"""./dev bench --report: docs/benchmarks.md, its plots and docs/benchmarks.csv, from the runs that are kept in bench/results.

The same results give the same bytes. Everything is made before anything is written, so a refusal leaves docs/ as it was. Rates are in
Mbit/s of payload, spreads and changes in percent, shares (steal, late) between 0 and 1.
"""
import bisect
import csv
import dataclasses
import importlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / 'tests/e2e'), str(pathlib.Path(__file__).resolve().parent)]
import paper_figures  # noqa: E402
import wide  # noqa: E402
from pictures import BLUE, GREEN, GREY, ORANGE, axes, svg  # noqa: E402

DEBIAN = '/usr/bin/python3'  # what python3-matplotlib is for; another python3 may come first on PATH
LEAST_RUNS = 3  # with fewer a spread means nothing
UNEQUAL_STEAL = 0.05  # where that much more was stolen from one side of a comparison than from the other, this is said
GRIDFTP, OTHERS, TCP = ('globus', 'globus_folder'), ('aria2_http', 'aria2', 'udt'), ('iperf3',)
NUMBER, MAYBE = (int, float), (int, float, type(None))
FIELDS = {'scenario': str, 'machine': dict, 'at': str, 'label': str, 'tool': dict, 'repeat': int, 'bytes': int,
          'seconds': MAYBE, 'mbit_s': MAYBE, 'steady_mbit_s': MAYBE, 'cpu_s_per_gb': NUMBER, 'emulator': dict, 'void': (str, type(None)),
          'checks': list, 'series': (list, type(None))}
WITHIN = {'machine': ('cpu', 'cores', 'kernel', 'commit'), 'tool': ('tool',), 'emulator': ('cores', 'late', 'steal')}
COLUMNS = ('scenario', 'commit', 'at', 'label', 'repeat', 'bytes', 'seconds', 'mbit_s', 'steady_mbit_s', 'cpu_s_per_gb', 'void',
           'emulator_cores', 'steal', 'sockets', 'congestion')


# Reading

def parsed(line):
    """A run as wide.record() wrote it; ValueError says what is wrong."""
    def refuse(constant):
        raise ValueError(f'{constant} is no number')
    run = json.loads(line, parse_constant=refuse)
    if not isinstance(run, dict):
        raise ValueError('not an object')
    for name, kind in FIELDS.items():
        if name not in run or not isinstance(run[name], kind):
            raise ValueError(f'"{name}" is {json.dumps(run[name])[:40]}' if name in run else f'"{name}" is missing')
    for name, inner in WITHIN.items():
        for key in inner:
            if key not in run[name]:
                raise ValueError(f'"{name}" has no "{key}"')
    if not all(isinstance(run['emulator'][key], NUMBER) for key in WITHIN['emulator']):
        raise ValueError('"emulator" has something else than numbers')
    if not all(isinstance(c, dict) for c in run['checks']):
        raise ValueError('"checks" is not a list of objects')
    if any(run[key] is not None and run[key] <= 0 for key in ('bytes', 'seconds', 'mbit_s', 'steady_mbit_s')):
        raise ValueError('no bytes, no time or no rate')
    if not re.fullmatch(r'\w[\w.-]*', run['scenario']):
        raise ValueError(f'"scenario" is no name: {run["scenario"]!r}')
    if run['series'] and not all(isinstance(s, list) and len(s) == 2 and all(isinstance(v, NUMBER) for v in s) for s in run['series']):
        raise ValueError('"series" is not a list of [seconds, bytes]')
    return run


def read_file(path):
    """The runs of one scenario; the first broken line ends it. Without the file there are none."""
    runs = []
    for number, line in enumerate(path.read_bytes().splitlines() if path.exists() else [], 1):
        try:
            runs.append(parsed(line))
        except ValueError as e:
            raise SystemExit(f'report: {path.name}:{number}: {e}; nothing was written') from None
    return runs


def read(folder):
    """All runs that are kept."""
    runs = [run for path in sorted(pathlib.Path(folder).glob('*.jsonl')) for run in read_file(path)]
    if not runs:
        raise SystemExit(f'report: there are no results in {folder}; ./dev bench NAME makes some')
    return runs


# Figures

def quantile(values, share):
    """Between neighbours in proportion, as numpy does."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(values):
    return quantile(values, 0.5) if values else None


def spread(values):
    """Interquartile range in percent of the median; None for fewer than LEAST_RUNS."""
    if len(values) < LEAST_RUNS:
        return None
    return 100 * (quantile(values, 0.75) - quantile(values, 0.25)) / median(values)


def ratio(values, peer):
    return median(values) / median(peer) if values and peer else None


def change(ours, peer):
    """By how many percent the median is above the peer's, and what that is: a difference within the peer's own spread is none, and one in
    our favour has to exceed our own spread as well."""
    if min(len(ours), len(peer)) < LEAST_RUNS:
        return None, 'few'
    by = 100 * (ratio(ours, peer) - 1)
    if abs(by) <= spread(peer):
        return by, 'within'
    return by, 'slower' if by < 0 else 'faster' if by > spread(ours) else 'unsure'


def claim(ours, peer):
    """What may be said about these rates, in words."""
    by, kind = change(ours, peer)
    if kind == 'few':
        return f'no claim: {len(ours)} against {len(peer)} runs with this figure, and {LEAST_RUNS} of each are the least'
    amount = f'{abs(by):.1f} % {"faster" if by > 0 else "slower"}'
    if kind == 'within':
        return f'no difference ({amount}: within the spread)'
    if kind == 'unsure':
        return f'no claim ({amount}: within its own spread of {spread(ours):.1f} %)'
    return f'**{amount}**, beyond the spread'


@dataclasses.dataclass
class Row:
    """All runs with one label."""
    label: str
    kind: str
    tool: dict
    runs: list
    void: list

    def values(self, key):
        """Of all runs that count; none where one lacks it, for the slow ones alone would have a steady rate then."""
        found = [r[key] for r in self.runs]
        return [] if None in found else found

    def median(self, key):
        return median(self.values(key))

    def steal(self):
        return median([r['emulator']['steal'] for r in self.runs])

    def public(self):
        return self.tool.get('access', 'public') == 'public'

    def limited(self):
        return 'limit' in self.tool


def sockets(run):
    """The most data sockets that one host had at once, as ss showed them; None where nobody looked."""
    return max((c['data_sockets'] for c in run['checks'] if c.get('data_sockets') is not None), default=None)


def congestion(run):
    return sorted({name for c in run['checks'] for name in c.get('congestion', [])})


def rows_of(runs, scenario):
    """A row for each label: in the scenario's order, then those that it no longer names."""
    labels = dict.fromkeys([*labels_of(scenario), *(r['label'] for r in runs)])
    rows = []
    for label in labels:
        own = [r for r in runs if r['label'] == label]
        if own:
            tool = own[0]['tool']
            rows.append(Row(label, tool['tool'], tool, [r for r in own if not r['void']], [r for r in own if r['void']]))
    return rows


def labels_of(scenario):
    return [wide.label(t) for t in scenario['tools']] if scenario else []


def best(rows, kinds, key):
    """The row of these tools with the highest median; None where none has that figure."""
    return max((r for r in rows if r.kind in kinds and r.values(key)), key=lambda r: r.median(key), default=None)


def best_ours(rows, public, key='mbit_s'):
    """Of those that ran without a limit, if there are such."""
    free = [r for r in rows if not r.limited()] or rows
    return best([r for r in free if r.public() == public], ('gridtorrent',), key)


def groups(runs):
    """Runs of the same machine and commit, the newest group first."""
    found = {}
    for run in runs:
        found.setdefault(tuple(run['machine'][k] for k in WITHIN['machine']), []).append(run)
    return sorted(found.values(), key=lambda group: max(r['at'] for r in group), reverse=True)


def complete(runs, scenario):
    """Every tool of the scenario has as many counted runs as a claim needs, or as the scenario asks for, if that is less."""
    least = min(LEAST_RUNS, scenario['repetitions']) if scenario else LEAST_RUNS
    counted = [r['label'] for r in runs if not r['void']]
    return all(counted.count(label) >= least for label in labels_of(scenario) or {r['label'] for r in runs})


def chosen(runs, scenario):
    """The newest group that is complete, else the newest; and the groups that are newer than the chosen one."""
    ordered = groups(runs)
    index = next((i for i, group in enumerate(ordered) if complete(group, scenario)), 0)
    return ordered[index], ordered[:index]


def bit_s(text):
    """Bits a second of a limit as it is written: 400Mbit."""
    m = re.fullmatch(r'(\d+(?:\.\d+)?)([kMG]?)bit', text)
    return float(m[1]) * {'': 1, 'k': 1e3, 'M': 1e6, 'G': 1e9}[m[2]] if m else None


def rates(series, window=0.5, most=240):
    """[(seconds, Mbit/s of payload)] over a moving window of that many seconds, in at most `most` + 1 points."""
    end = series[-1][0]
    if end <= 0:
        return []
    step = max(window / 4, end / most)
    half, times, found = max(window, step) / 2, [t for t, _ in series], []

    def got(t):
        i = bisect.bisect_right(times, t)
        if i in (0, len(series)):
            return series[max(0, i - 1)][1]
        (t1, b1), (t2, b2) = series[i - 1], series[i]
        return b1 + (b2 - b1) * (t - t1) / (t2 - t1)

    for t in (*(i * step for i in range(int(end / step))), end):
        first, last = max(0, t - half), min(end, t + half)
        found.append((round(t, 3), (got(last) - got(first)) * 8 * wide.PAYLOAD / (last - first) / 1e6))
    return found


def middle_run(row, key):
    """The run whose figure is the median, the lower of two; None where none has a series."""
    runs = sorted((r for r in row.runs if r[key] is not None and r['series']), key=lambda r: r[key])
    return runs[(len(runs) - 1) // 2] if runs else None


# Words

def number(value, digits=0):
    return '–' if value is None else f'{value:,.{digits}f}'


def percent(value, digits=1):
    return '–' if value is None else f'{value:.{digits}f} %'


def span(values):
    values = [v for v in values if v is not None]
    return '–' if not values else f'{min(values)}' if min(values) == max(values) else f'{min(values)}–{max(values)}'


def shown(text):
    """Safe in a cell of a table."""
    return text.replace('|', '\\|').replace('\n', ' ')


def name_of(row):
    return f'**{shown(row.label)}**' if row.kind == 'gridtorrent' else shown(row.label)


def table(rows):
    """Markdown; columns that no row has a figure for are left out."""
    gridftp, limit = best(rows, GRIDFTP, 'mbit_s'), best(rows, TCP, 'steady_mbit_s')
    lines = []
    for row in rows:
        whole, steady = row.values('mbit_s'), row.values('steady_mbit_s')
        void = f' + {len(row.void)} void' if row.void else ''
        lines.append({
            'tool': name_of(row), 's': number(row.median('seconds'), 2), 'Mbit/s': number(median(whole)), 'spread': percent(spread(whole)),
            '× GridFTP': number(ratio(whole, gridftp.values('mbit_s') if gridftp else []), 2),
            'steady Mbit/s': number(median(steady)), 'its spread': percent(spread(steady)),
            '× TCP': number(ratio(steady, limit.values('steady_mbit_s') if limit else []), 2),
            **beside_data(row), 'CPU s/GB': number(row.median('cpu_s_per_gb'), 1), 'runs': f'{len(row.runs)}{void}', 'sockets': span(map(sockets, row.runs)),
            'control': ', '.join(sorted({c for r in row.runs for c in congestion(r)})) or '–'})
    heads = [h for h in lines[0] if any(line[h] != '–' for line in lines)]
    return ['| ' + ' | '.join(heads) + ' |', '| --- |' + ' ---: |' * (len(heads) - 2) + ' --- |',
            *('| ' + ' | '.join(line[h] for h in heads) + ' |' for line in lines)]


def beside_data(row):
    """When data began, and what else crossed the receiver's link, where that was measured."""
    figures = [r['figures'] for r in row.runs if 'other_received_share' in r['figures']]
    first, received, both = (median([f[key] for f in figures]) for key in ('first_data_s', 'other_received_share', 'other_share'))
    return {'first data s': number(first, 2), 'no data: received': percent(received and 100 * received, 2), 'both ways': percent(both and 100 * both, 2)}


def void_lines(rows):
    """Which runs do not count, and why."""
    return [f'- {row.label}: {len(row.void)} void: {"; ".join(dict.fromkeys(r["void"] for r in row.void))}' for row in rows if row.void]


def stolen(row, peer):
    a, b = row.steal(), peer.steal()
    if abs(a - b) < UNEQUAL_STEAL:
        return ''
    return f'; conditions differ: {percent(100 * a, 0)} of the CPU was stolen in its runs, {percent(100 * b, 0)} in the peer\'s'


def limit_kept(row, limit):
    """Share of a limit in bit/s that was used, and whether it was exceeded: in a whole run, or for a second."""
    steady = row.values('steady_mbit_s')
    seconds = [rate for r in row.runs if r['series'] for _, rate in rates(r['series'], window=1, most=100_000)]
    return ', '.join(f'{what} {percent(100e6 * value / limit)}' for what, value in
                     (('median', median(steady)), ('highest run', max(steady)), ('highest second of any run', max(seconds, default=None)))
                     if value is not None)


def comparisons(rows):
    """For each peer a line that says who it is, and one for each of ours."""
    ours = [r for r in rows if r.kind == 'gridtorrent' and not r.limited()]
    lines = []
    for what, key, kinds, role in (('Whole transfer', 'mbit_s', GRIDFTP, 'the best GridFTP plan here'),
                                   ('Whole transfer', 'mbit_s', OTHERS, 'the best of the other tools'),
                                   ('Steady rate', 'steady_mbit_s', GRIDFTP, 'the best GridFTP plan here'),
                                   ('Steady rate', 'steady_mbit_s', TCP, 'what TCP does on this path')):
        peer = best(rows, kinds, key)
        if not peer or not any(r.values(key) for r in ours):
            continue
        theirs = peer.values(key)
        lines += [f'{what} against {shown(peer.label)}, {role} ({number(median(theirs))} Mbit/s, spread {percent(spread(theirs))}):', '']
        lines += [f'- {r.label}: {claim(r.values(key), theirs)}{stolen(r, peer) if r.values(key) else ""}' for r in ours] + ['']
    limits = [(r, bit_s(r.tool['limit'])) for r in rows if r.limited() and r.values('steady_mbit_s')]
    if any(limit for _, limit in limits):
        lines += ['Steady rate in percent of the limit that was set:', '']
        lines += [f'- {r.label}: {limit_kept(r, limit)}' for r, limit in limits if limit] + ['']
    return lines


def shares(rows):
    """How a seeder's uplink was shared among nodes that fetched side by side."""
    def middle(row, key):
        return ' and '.join(percent(100 * median(part), 0) for part in zip(*(r['figures'][key] for r in row.runs)))
    shared = [row for row in rows if row.runs and all('shares' in r['figures'] for r in row.runs)]
    if not shared:
        return []
    lines = ['Of the seeder\'s uplink each got, in this order (medians):', '']
    for row in shared:
        even = [r['figures']['even_from_s'] for r in row.runs]
        began = 'never even' if None in even else f'even from {number(median(even), 0)} s on (highest {number(max(even), 0)} s)'
        least = min(min(r['figures']['settled_shares']) for r in row.runs)
        lines.append(f'- {row.label}: {middle(row, "settled_shares")} after ten seconds, in the least even run {percent(100 * least, 0)}; '
                     f'{began}; {middle(row, "shares")} from the first second to the end of the first')
    return lines + ['']


def path_of(network):
    """The links in words, like ones together; the server that only tells who has what is left out."""
    def link(host):
        said = {'delay_ms': lambda v: f'{v:g} ms', 'loss': lambda v: f'loss {100 * v:g} %'}
        return ', '.join(said.get(k, lambda v, k=k: f'{k} {v}')(v) for k, v in host.items() if k != 'address')
    def called(names):
        return f'{names[0]} to {names[-1]}, each' if len(names) > 2 else ' and '.join(names)
    alike = {}
    for name, host in network['hosts'].items():
        if name != 'server':
            alike.setdefault(link(host), []).append(name)
    return '; '.join(f'{called(names)}: {text}' for text, names in alike.items())


def tcp_of(runs):
    """Settings that the hosts had while the runs went on."""
    found = {}
    for check in (c for r in runs for c in r['checks']):
        for key in ('tcp_congestion_control', 'tcp_rmem', 'tcp_wmem'):
            if check.get(key):
                found.setdefault(key, set()).add(check[key])
    return ', '.join(f'{key} {" or ".join(sorted(values))}' for key, values in found.items())


def section(name, runs, newer, scenario, plots):
    """What the page says about a scenario."""
    rows = rows_of(runs, scenario)
    machine = runs[0]['machine']
    counted = [r for r in runs if not r['void']]
    days = sorted({r['at'][:10] for r in runs})
    each = span(len(row.runs) for row in rows)
    wanted = f' of {scenario["repetitions"]} planned' if scenario and each != str(scenario['repetitions']) else ''
    facts = [f'`./dev bench {name}`, commit {machine["commit"]}, {" to ".join(dict.fromkeys((days[0], days[-1])))}; '
             f'runs that count: {each}{wanted} of each tool; void: {sum(len(row.void) for row in rows)} in all']
    facts.append(f'Machine: {machine["cpu"]}, {machine["cores"]} cores, Linux {machine["kernel"]}')
    facts += [f'Path: {path_of(scenario["network"])}'] if scenario else ['This scenario is no longer in bench/wide.']
    facts += [f'TCP at both ends: {tcp_of(runs)}'] if tcp_of(runs) else []
    if counted:
        steal = [r['emulator']['steal'] for r in counted]
        facts.append(f'Stolen CPU: median {percent(100 * median(steal))}, worst run {percent(100 * max(steal))}. Emulator: median '
                     f'{median([r["emulator"]["cores"] for r in counted]):.2f} cores, '
                     f'{percent(100 * median([r["emulator"]["late"] for r in counted]))} of packets more than 0.5 ms late')
        if scenario and any('loss' in h for h in scenario['network']['hosts'].values()) and all('losses' in r['emulator'] for r in counted):
            facts.append('Random losses: others in each repetition, the same for all tools of one')
    missing = [label for label in labels_of(scenario) if label not in {row.label for row in rows}]
    facts += [f'Not measured: {"; ".join(missing)}'] if missing else []
    facts += [f'Incomplete: not every tool has {LEAST_RUNS} runs that count'] if not complete(runs, scenario) else []
    facts += ['Left out: newer, incomplete results of ' + ', '.join(f'commit {g[0]["machine"]["commit"]}' for g in newer)] if newer else []
    lines = [f'## {name}', '', *([f'**{scenario["title"]}.** {scenario["why"]}.', ''] if scenario else []), *(f'- {f}' for f in facts), '']
    lines += [*table(rows), '', *([*void_lines(rows), ''] if void_lines(rows) else []), *comparisons(rows), *shares(rows)]
    for kind, text in (('bars', 'rates of whole transfers'), ('rate', 'rate over time')):
        lines += [f'![{name}: {text}](benchmarks/{name}-{kind}.svg)', ''] if kind in plots else []
    return lines


def in_short(name, rows, scenario):
    """A row of the overview: the best of ours against the best peers, unclaimable ratios marked."""
    def cell(public, key, kinds):
        ours, peer = best_ours(rows, public, key), best(rows, kinds, key)
        if not ours or not peer:
            return '–'
        mark = {'within': ' =', 'unsure': ' ?', 'few': ' ?'}.get(change(ours.values(key), peer.values(key))[1], '')
        return number(ratio(ours.values(key), peer.values(key)), 2) + mark
    cells = [cell(public, key, kinds) for key, kinds in (('mbit_s', GRIDFTP), ('steady_mbit_s', TCP)) for public in (True, False)]
    return f'| [{name}](#{name.lower().replace(".", "")}) | {shown(scenario["title"]) if scenario else ""} | {" | ".join(cells)} |'


def intro(names):
    return f"""# Transfers over a wide area

Made by `./dev bench --report` from the runs kept in bench/results. [Every run as CSV](benchmarks.csv).

## What was measured

Tools fetch the same data over the same emulated path, in turn, in reverse order every second time:

- GridTorrent: `gridtorrent get` from one node that seeds. *public* content crosses in the clear; *group, TLS* is
  encrypted and given to members only. Every block is checked against its hash.
- GridFTP: `globus-url-copy` from `globus-gridftp-server` with the static plan in the row (`-fast` with `-p`), without
  authentication or encryption. It compares contents only where the row says *checksum*. For folders: third party between
  two servers, pipelined.
- iperf3: memory to memory, for what TCP itself does on the path. It has no whole transfer to time.
- Others as named in the rows.

The path is emulated by one program (bench/wan) that delays, queues and drops packets between network namespaces of one
machine. Kernel, TCP and tools are real; tools, both TCP ends and the emulator share the machine's cores. Files are in memory
where they fit, so disks play no part. Sizes of every copy are compared with the source, and every byte of each tool's first.
The machines are virtual and shared: compare rows of one table, not tables.

To repeat, as root: `./dev bench {names[0]}`, likewise for the other names. It goes on where it stopped when called again.
A run counts unless it is void: more than {100 * wide.lab.MOST_LATE:g} % of the packets were late, or less than {100 * wide.lab.LEAST_IDLE:g} % of the machine was idle while
other programs than the tools took most of it, or packets were lost at the emulator's devices. Before November 24 it was void where
the emulator took more than 0.5 cores.

## How to read it

- *s*, *Mbit/s*: from the start of the client's command to its exit; bytes of the data set only. Medians, as all figures.
- *spread*: interquartile range / median, from {LEAST_RUNS} runs on.
- *steady*: rate at the receiver's link, headers taken off by calculation, without the first {wide.WARM_S} s of data and the last
  {wide.TAIL_S} s. Tools whose transfers are too short for that have none.
- *× GridFTP*: rate of the whole / that of the best GridFTP row. *× TCP*: steady rate / that of the best iperf3 row.
- *first data*: until {wide.common.LEAST_DATA >> 10} KiB had reached the receiver, from the start of the command. *no data*: bytes that crossed the receiver's link
  and were neither headers nor the data set once.
- *CPU s/GB*: user and system time of the tool's programs at both ends.
- *sockets*, *control*: most data sockets of a host at once, and their congestion control, seen by `ss` during the runs.
- A difference within the peer's spread is none; one in GridTorrent's favour has to exceed its own spread, too.
  Fewer than {LEAST_RUNS} runs allow no claim. "Best" is by median: GridTorrent's rows are all compared, not its best alone.
- Plots of rates over time: the run with the median rate of the best row of each kind; payload, over a moving 0.5 s.
- Path: delay of a host is one way, between it and the middle; a round trip takes twice the sum of both.

## In short

Ratios of the best GridTorrent row of its kind: of whole transfers to the best GridFTP row, of steady rates to the best iperf3 row.
`=`: within the spread, no difference. `?`: too few runs or too wide a spread of its own for a claim.

| scenario | | whole × GridFTP: public | TLS | steady × TCP: public | TLS |
| --- | --- | ---: | ---: | ---: | ---: |""".split('\n')


def table_of_runs(runs):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator='\n')
    writer.writerow(COLUMNS)
    for r in sorted(runs, key=lambda r: (r['scenario'], r['at'], r['label'], r['repeat'])):
        more = {'commit': r['machine']['commit'], 'emulator_cores': r['emulator']['cores'], 'steal': r['emulator']['steal'],
                'sockets': sockets(r), 'congestion': '+'.join(congestion(r))}
        writer.writerow([more[c] if c in more else r[c] for c in COLUMNS])
    return out.getvalue()


# Pictures

def colour(row):
    return GREY if row.kind != 'gridtorrent' else BLUE if row.public() else ORANGE


def lines_of(rows):
    """[(label, colour, dashes, points)] for the plot of rates; iperf3 from its first data on, and no longer than the transfers."""
    found = []
    for row, shade, dashes in ((best_ours(rows, True), BLUE, '-'), (best_ours(rows, False), ORANGE, '-'),
                               (best(rows, GRIDFTP, 'mbit_s'), GREEN, (0, (5, 1.5)))):
        run = row and middle_run(row, 'mbit_s')
        if run:
            found.append((row.label, shade, dashes, rates(run['series'])))
    limit = best(rows, TCP, 'steady_mbit_s')
    run = limit and middle_run(limit, 'steady_mbit_s')
    if run and found:
        end = max(points[-1][0] for _, _, _, points in found)
        start = next((t for t, got in run['series'] if got >= wide.common.LEAST_DATA), 0)
        series = [(t - start, got) for t, got in run['series'] if start <= t <= start + end]
        if len(series) > 1:
            found.append((f'{limit.label}, from its first data', 'black', (0, (1, 1.5)), rates(series)))
    return [line for line in found if line[3]]


def bars_svg(title, rows):
    """SVG: medians of whole transfers with quartiles and every run; None where there is none."""
    limit = best(rows, TCP, 'steady_mbit_s')
    rows = [r for r in rows if r.kind not in TCP]
    if not any(r.values('mbit_s') for r in rows):
        return None
    figure, ax = axes(1.4 + 0.36 * len(rows))
    most = max([*(v for r in rows for v in r.values('mbit_s')), *(limit.values('steady_mbit_s') if limit else [])])
    for y, row in enumerate(rows):
        values = row.values('mbit_s')
        if not values:
            ax.text(most * 0.01, y, 'no run that counts', va='center', fontsize=9, color='#555555')
            continue
        ax.barh(y, median(values), height=0.68, color=colour(row))
        if len(values) >= LEAST_RUNS:
            low, high = quantile(values, 0.25), quantile(values, 0.75)
            ax.errorbar((low + high) / 2, y - 0.13, xerr=(high - low) / 2, color='black', capsize=4, linewidth=1.3, fmt='none')
        ax.plot(values, [y + 0.19] * len(values), 'o', markersize=3.8, color='white', markeredgecolor='black', markeredgewidth=0.7)
        ax.text(most * 0.012, y, f'{median(values):,.0f}', va='center', fontsize=9, color='white' if row.kind == 'gridtorrent' else 'black')
    ax.set_yticks(range(len(rows)), [r.label for r in rows], fontsize=9.5)
    for text, row in zip(ax.get_yticklabels(), rows):
        text.set_fontweight('bold' if row.kind == 'gridtorrent' else 'normal')
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set_xlim(0, most * 1.04)
    ax.set_xlabel('Mbit/s, whole transfers: median (bar), quartiles (whisker), each run (dot)', fontsize=9.5)
    if limit:
        at = limit.median('steady_mbit_s')
        ax.axvline(at, color='black', linestyle=(0, (4, 2)), linewidth=1.2)
        ax.annotate(f'limit of TCP: {at:,.0f} ({limit.label}, steady)', (at, 1), (0, 3), xycoords=('data', 'axes fraction'),
                    textcoords='offset points', ha='right', va='bottom', fontsize=9)
    return svg(figure, ax, title)


def rate_svg(title, rows):
    """SVG: rate over time of one median run each; None where no run has a series."""
    drawn = lines_of(rows)
    if not drawn:
        return None
    figure, ax = axes(3.9)
    for label, shade, dashes, points in drawn:
        ax.plot(*zip(*points), color=shade, linestyle=dashes, linewidth=1.7, label=label)
    for text in dict.fromkeys(r.tool['limit'] for r in rows if r.limited() and bit_s(r.tool['limit'])):
        ax.axhline(bit_s(text) / 1e6, color='black', linestyle=(0, (1, 1.5)), linewidth=1.2, label=f'the limit, {text}')
    ax.set_xlim(0, max(points[-1][0] for _, _, _, points in drawn))
    ax.set_ylim(0, 1.05 * ax.dataLim.ymax)
    ax.set_xlabel('seconds since the command started', fontsize=9.5)
    ax.set_ylabel('Mbit/s at the receiver, over 0.5 s', fontsize=9.5)
    ax.legend(loc='upper center', bbox_to_anchor=(0.45, -0.17), ncol=2, fontsize=9.5, frameon=False, handlelength=3)
    return svg(figure, ax, title)


# The whole

def outputs(runs, scenarios, plots, paper=()):
    """{path below docs: bytes}. `plots` maps 'bars' and 'rate' to functions of (title, rows) that return an SVG or None, `scenarios`
    names to what bench/wide has. `paper` has the runs that paper_figures draws."""
    known = dict.fromkeys(r['scenario'] for r in runs)
    names = [n for n in scenarios if n in known] + sorted(n for n in known if n not in scenarios)
    files, short, sections = {}, [], []
    for name in names:
        scenario = scenarios.get(name)
        picked, newer = chosen([r for r in runs if r['scenario'] == name], scenario)
        rows = rows_of(picked, scenario)
        title = scenario['title'] if scenario else name
        drawn = {kind: image for kind, plot in plots.items() if (image := plot(title, rows))}
        files |= {f'benchmarks/{name}-{kind}.svg': image for kind, image in drawn.items()}
        short.append(in_short(name, rows, scenario))
        sections += section(name, picked, newer, scenario, drawn)
    sections += paper_figures.section(paper)
    if plots:
        files |= paper_figures.drawn(paper)
    page = '\n'.join([*intro(names), *short, '', *sections]).rstrip('\n') + '\n'
    return {**files, 'benchmarks.md': page.encode(), 'benchmarks.csv': table_of_runs(runs).encode()}


def with_matplotlib(*arguments):
    """Goes on here if matplotlib is at hand, else starts this report again under Debian's Python if it is there."""
    try:
        importlib.import_module('matplotlib')
        return
    except ImportError:
        pass
    has = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("matplotlib") is None)'
    same = os.path.realpath(sys.executable) == os.path.realpath(DEBIAN)
    if same or not os.access(DEBIAN, os.X_OK) or subprocess.run([DEBIAN, '-c', has]).returncode != 0:
        raise SystemExit('report: matplotlib is missing; nothing was written: apt install python3-matplotlib')
    sys.stdout.flush()
    os.execv(DEBIAN, [DEBIAN, str(pathlib.Path(__file__).resolve()), *map(str, arguments)])


def main(results_dir, docs_dir):
    """Writes the report over all results there; plots of scenarios that it no longer has are removed."""
    runs = read(results_dir)
    paper = [run for name in paper_figures.SCENARIOS for run in read_file(pathlib.Path(results_dir) / 'tune' / f'{name}.jsonl')]
    with_matplotlib(results_dir, docs_dir)
    files = outputs(runs, {name: wide.load(name) for name in wide.names()}, {'bars': bars_svg, 'rate': rate_svg}, paper)
    docs = pathlib.Path(docs_dir)
    (docs / 'benchmarks').mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (docs / name).write_bytes(content)
    for path in docs.glob('benchmarks/*.svg'):
        if f'benchmarks/{path.name}' not in files and (path.name.startswith('paper-') or path.name.endswith(('-bars.svg', '-rate.svg'))):
            path.unlink()
    print(f'report: {len(runs)} runs; wrote ' + ', '.join(sorted(files)) + f' in {docs}')


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit('usage: report.py RESULTS DOCS')
    main(*sys.argv[1:])
