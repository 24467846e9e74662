"""Figures 7, 10 and 13 of "GridTorrent Framework", drawn anew from the runs of gtf-lan and gtf-wan: rate by the number of sockets.

The paper's PTCP is one source with parallel TCP sockets: here iperf3 -P (memory to memory, steady) and globus-url-copy -p (files, whole).
GridTorrent's sockets are lanes × seeders; `auto` is one point, at the median of the lanes that it had in use at its end.
"""
import dataclasses
import statistics

import tune_figures
from pictures import BLUE, GREEN, ORANGE, axes, svg

PTCP = ('iperf3 -P', 'globus -p')
AUTO = 'auto'
FIVE, EIGHT_BY_FIVE = 5, 'GridTorrent, 5 lanes to each of 8 seeders'  # the most that the paper had: 40 sockets


@dataclasses.dataclass(frozen=True)
class Figure:
    number: int
    scenario: str
    lanes: int  # to each seeder
    title: str
    paper: str  # what it found

    def name(self):
        return f'paper-{self.number}'

    def ours(self):
        return f'GridTorrent, {self.lanes} {"lane" if self.lanes == 1 else "lanes"} to each of 1 to 16 seeders'


FIGURES = (
    Figure(7, 'gtf-lan', 1, 'LAN: 857 Mbit/s, 1 ms', '80 to 100 Mbit/s for both, up and down without a pattern'),
    Figure(10, 'gtf-wan', 1, 'WAN: 118 Mbit/s a seeder, 165 to who fetches, 35 ms, windows of 34 kB',
           'PTCP rises to 118 Mbit/s with 15 sockets, then falls; GridTorrent likewise, and falls after 13'),
    Figure(13, 'gtf-wan', 4, 'WAN as in figure 10, four lanes to each seeder', 'GridTorrent rises to 145 Mbit/s, without a decline up to 40 sockets'),
)
SCENARIOS = tuple(dict.fromkeys(figure.scenario for figure in FIGURES))


def group(runs):
    """The runs of the machine and commit that has the most runs that count; of equals the newest."""
    groups = {}
    for run in runs:
        groups.setdefault((run['machine']['cpu'], run['machine']['kernel'], run['machine']['commit']), []).append(run)
    return max(groups.values(), key=lambda g: (sum(not r['void'] for r in g), g[-1]['at']), default=[])


def place(run, figure):
    """(series, sockets) of a run; None where it belongs to another figure."""
    tool = run['tool']
    if tool['tool'] == 'iperf3':
        return PTCP[0], tool['streams']
    if tool['tool'] == 'globus':
        return PTCP[1], tool['parallelism']
    if 'lanes' not in tool:
        seen = max((c['data_sockets'] for c in run['checks'] if c.get('data_sockets')), default=None)
        sockets = tune_figures.end_lanes(run) or seen  # a few seconds have no last third
        return (AUTO, round(sockets)) if sockets else None
    if tool['lanes'] == FIVE and figure.lanes > 1:
        return EIGHT_BY_FIVE, tool['lanes'] * tool['seeders']
    return (figure.ours(), tool['lanes'] * tool['seeders']) if tool['lanes'] == figure.lanes else None


def series(runs, figure, void):
    """{series: {sockets: median rate in Mbit/s}} of the runs that count, or of those that are void."""
    found = {}
    for run in runs:
        at, rate = place(run, figure), run['mbit_s'] or run['steady_mbit_s']
        if at and rate and bool(run['void']) == void:
            found.setdefault(at[0], {}).setdefault(at[1], []).append(rate)
    if auto := found.get(AUTO):
        sockets = statistics.median_low([n for n, rates in auto.items() for _ in rates])
        found[AUTO] = {sockets: [rate for rates in auto.values() for rate in rates]}
    return {name: {n: statistics.median(rates) for n, rates in sorted(points.items())} for name, points in found.items()}


def shown_order(name, figure):
    return (figure.ours(), EIGHT_BY_FIVE, AUTO, *PTCP).index(name)


def row(figure, name, points):
    """Of the table: the fewest sockets, the best number, the most, and the least rate from the best number on, as a part of it."""
    best = max(points, key=points.get)
    beyond = min(rate for n, rate in points.items() if n >= best) / points[best]
    fewest, most = min(points), max(points)
    return (f'| {figure.number} | {name} | {points[fewest]:.0f} with {fewest} | {points[best]:.0f} with {best} | {points[most]:.0f} with {most} '
            f'| {beyond:.3f} |')


def section(runs):
    """Lines of the page; none without runs. `runs` are those of SCENARIOS."""
    lines = []
    for figure in FIGURES:
        own = group([r for r in runs if r['scenario'] == figure.scenario])
        if not own:
            continue
        machine, rounds = own[0]['machine'], len({r['repeat'] for r in own})
        found = series(own, figure, void=False)
        void = sum(bool(r['void']) for r in own)
        lines += [f'**Figure {figure.number}.** {figure.title}. `./dev bench tune {figure.scenario}`, commit {machine["commit"]}, {machine["cpu"]}, '
                  f'{machine["cores"]} cores; rounds: {rounds}, void runs: {void}. The paper: {figure.paper}.', '',
                  f'![Figure {figure.number}: rate by sockets](benchmarks/{figure.name()}.svg)', '',
                  '| figure | tool | Mbit/s with the fewest sockets | highest | with the most sockets | lowest after the highest : the highest |',
                  '| ---: | --- | ---: | ---: | ---: | ---: |',
                  *(row(figure, name, found[name]) for name in sorted(found, key=lambda n: shown_order(n, figure))), '']
    if not lines:
        return []
    return ['## The figures of the GridTorrent paper', '',
            '300 MB, rate by the number of sockets. GridTorrent has one or four lanes to each of 1, 2, 4, 8, 12, 15 and 16 seeders; `auto` chooses',
            'both. The paper\'s PTCP is one source: `iperf3 -P` from memory to memory (steady rates), `globus -p` with files (whole transfers, as',
            'GridTorrent\'s). Medians; hollow marks are void runs, where the emulator was late, and count for nothing.', '', *lines]


def drawn(runs):
    """{path below docs: SVG} of the figures that have runs."""
    files = {}
    for figure in FIGURES:
        own = group([r for r in runs if r['scenario'] == figure.scenario])
        if own:
            files[f'benchmarks/{figure.name()}.svg'] = plot(figure, series(own, figure, void=False), series(own, figure, void=True))
    return files


def plot(figure, counted, void):
    styles = {figure.ours(): (BLUE, 'o', '-'), EIGHT_BY_FIVE: (BLUE, 'X', ''), AUTO: (ORANGE, 'D', ''), PTCP[0]: ('black', 's', ':'), PTCP[1]: (GREEN, '^', '--')}
    canvas, ax = axes(3.9)
    for name, (shade, mark, dashes) in styles.items():
        if name in counted:
            ax.plot(*zip(*counted[name].items()), color=shade, marker=mark, markersize=6, linestyle=dashes or 'none', linewidth=1.7, label=name)
        if name in void:
            ax.plot(*zip(*void[name].items()), color=shade, marker=mark, markersize=6, markerfacecolor='none', linestyle='none')
    ax.set_xlim(left=0)
    ax.set_ylim(0, 1.05 * ax.dataLim.ymax)
    ax.set_xlabel('TCP sockets with data (hollow: void)', fontsize=9.5)
    ax.set_ylabel('Mbit/s', fontsize=9.5)
    ax.legend(loc='upper center', bbox_to_anchor=(0.45, -0.17), ncol=2, fontsize=9.5, frameon=False, handlelength=3)
    return svg(canvas, ax, f'Figure {figure.number}, drawn anew. {figure.title}')
