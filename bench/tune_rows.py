"""The rows of ./dev bench tune: on which scenarios, against what, and the least that is asked for. Nothing in them reaches the programs.

A bar compares a figure of one tool with that of another in the same round, or with a number. Tools have names here: see `named`.
"""
import dataclasses
import statistics

import tune_figures as figures
import tune_plan
import wide_check
from tune_figures import PAYLOAD

LANES, STREAMS = (1, 2, 4, 8, 12, 16), (4, 8, 16)
ROUNDS, TLS_ROUNDS = 5, 3
AUTO = {'tool': 'gridtorrent', 'access': 'public'}
WISHES = ('lanes', 'seeders', 'limit', 'tuner', 'mode', 'target_rate', 'min_rate', 'by_s', 'history', 'estimate')
PUBLISHED = ('pcp', 'mc', 'e2e', 'fstream')
LANES_AT_THE_END = 'lanes in use at the end'
CAPPED = ('198.18.1.4', '198.18.1.5', '198.18.1.6')  # of tune-unlike: 20, 10 and 5 Mbit/s, which one or two lanes carry


@dataclasses.dataclass(frozen=True)
class Bar:
    """`figure` of `of`, divided by that of `against` or by `by`, is at least or at most that much."""
    text: str
    of: str
    figure: object
    against: str | None = None
    by: float = 1.0
    least: float | None = None
    most: float | None = None
    fewest: float | None = None  # at most so many times the fewest lanes of fixed plans that reach this bar's share; `by`: seeders


@dataclasses.dataclass(frozen=True)
class Row:
    number: str
    scenario: str
    bars: tuple = ()
    gate: bool = False
    grid: bool = False  # two passes: fixed plans and static GridFTP are chosen first
    tls: bool = False
    rounds: int = ROUNDS
    open: str = ''  # what of the row is not judged here


def ratio(text, figure, against, least, of='auto'):
    return Bar(text, of, figure, against, least=least)


WHOLE_TLS = (ratio('over TLS, whole : best fixed over TLS', figures.whole, 'best fixed, TLS', 0.95, 'auto, TLS'),)


def long_row(name, gridftp, tls=None):
    more = (ratio('over TLS, whole : best static GridFTP', figures.whole, 'best GridFTP', tls, 'auto, TLS'),) if tls else ()
    return Row('2', name, (ratio('cold, whole : 16 lanes', figures.whole, '16 lanes', 0.97),
                           ratio('cold, whole : best static GridFTP', figures.whole, 'best GridFTP', gridftp), *more),
               gate=True, grid=True, tls=True, open='"first-data" no later than today: ./dev bench first-data --against BIN_DIR')


ROWS = (
    Row('1', 'tune-loss', (ratio('cold, whole : best fixed', figures.whole, 'best fixed', 0.95),
                           ratio('cold, whole : best static GridFTP', figures.whole, 'best GridFTP', 1.0),
                           ratio('last third : best fixed', figures.last_third, 'best fixed', 0.98),
                           Bar(f'{LANES_AT_THE_END} : the fewest that reach it', 'auto', figures.end_lanes, fewest=0.98, most=1.5),
                           ratio('second time, whole : best fixed', figures.whole, 'best fixed', 0.97, 'warm'), *WHOLE_TLS,
                           Bar('CPU a GB : best fixed', 'auto', figures.cpu_per_gb, 'best fixed', most=1.05)),
        gate=True, grid=True, tls=True),
    Row('1b', 'tune-loss-150MB', (ratio('cold, whole : best fixed', figures.whole, 'best fixed', 0.90),
                                  ratio('second time, whole : best fixed', figures.whole, 'best fixed', 0.97, 'warm')), grid=True),
    long_row('long-300MB', 1.0), long_row('long-1200MB', 1.05), long_row('long-6GB', 1.05, 1.0), long_row('small-files', 1.0),
    Row('3', 'tune-wan', (Bar('steady : the link', 'auto', figures.steady, by=165 * PAYLOAD, least=0.97),
                          ratio('steady : best iperf3 -P of one source', figures.steady, 'best iperf3', 1.33),
                          Bar(f'{LANES_AT_THE_END} : the fewest that reach it', 'auto', figures.end_lanes, by=8, fewest=0.97, most=1.3),
                          ratio('steady, 8 × 5 lanes : 8 × 3', figures.steady, '3 lanes', 1.0, '5 lanes')), gate=True),
    Row('3b', 'gtf-lan', rounds=3, open='figure 7: from the runs'), Row('3b', 'gtf-wan', rounds=3, open='figures 10 and 13: from the runs'),
    Row('4', 'tune-unlike', (ratio('whole : best of the grid', figures.whole, 'best fixed', 0.95),
                             Bar('the most lanes at the end at a capped seeder', 'auto', lambda run: figures.end_lanes_of(run, CAPPED), most=2)), grid=True),
    *(Row('5', f'tune-bbr-{kind}', (Bar('steady : the link', 'auto', figures.steady, by=100 * PAYLOAD, least=0.95),
                                    Bar('over TLS, steady : the link', 'auto, TLS', figures.steady, by=100 * PAYLOAD, least=0.95),
                                    Bar(LANES_AT_THE_END, 'auto', figures.end_lanes, most=2),
                                    Bar('bytes sent again a GB : iperf3 -P 1 over BBR', 'auto', figures.resent_per_gb, 'best iperf3', most=2)),
          tls=True) for kind in 'ab'),
    Row('6', 'tune-near', (ratio('whole : best fixed', figures.whole, 'best fixed', 0.98),
                           Bar(LANES_AT_THE_END, 'auto', figures.end_lanes, most=2)), grid=True),
    Row('7', 'tune-change', (Bar('s until 0.9 of 160 Mbit/s after two seeders were killed', 'auto',
                                 lambda run: figures.recovered_s(run['series'], 20, 0.9 * 160 * PAYLOAD), most=10),
                             Bar('s until 0.9 of 100 Mbit/s after the link halved', 'auto',
                                 lambda run: figures.recovered_s(run['series'], 50, 0.9 * 100 * PAYLOAD), most=10),
                             Bar('received twice', 'auto', figures.received_twice, most=0.01))),
    Row('8', 'tune-rival', (ratio('rival, beside auto : beside iperf3', figures.of_rival, 'best iperf3', 0.40),
                            ratio('rival, beside auto over TLS : beside iperf3', figures.of_rival, 'best iperf3', 0.40, 'auto, TLS'),
                            ratio('rival, beside background : beside iperf3', figures.of_rival, 'best iperf3', 0.85, 'background'),
                            Bar('Jain\'s index of two autos', 'side by side', figures.jain, least=0.95)), gate=True, tls=True),
    Row('9', 'tune-target', tuple(bar for rate in ('15', '30', '60') for rivals in ('no', '4', '8') for bar in (
        Bar(f'error at a target of {rate} Mbit/s, {rivals} rivals', f'target {rate}Mbit, {rivals} rivals', figures.target_error, most=0.03),
        Bar(f'windows above a target of {rate} Mbit/s, {rivals} rivals', f'target {rate}Mbit, {rivals} rivals', figures.above_target, most=0)))
        + tuple(Bar(f'windows at the floor of 30 Mbit/s, {rivals} rivals', f'floor 30Mbit, {rivals} rivals', figures.floor_held, least=0.95)
                for rivals in ('4', '8'))
        + tuple(Bar(f'in time, {wish}', wish, figures.in_time, least=1) for wish in ('by 60 s, no rivals', 'by 60 s, 4 rivals', 'by 120 s, 8 rivals'))
        + (Bar('a target of 150 Mbit/s: what lacks, as said 15 s in, off by', 'target 150Mbit, no rivals', figures.shortfall_error, most=0.10),)),
    Row('10', 'swarm-8', (ratio('time of today\'s plan : time', lambda run: 1 / run['seconds'], 'swarm, fixed', 1 / 1.03, 'swarm'),)),
    *(Row('11', name, gate=True, open='the word: in the table of words') for name in ('tune-window', 'tune-lossy', 'tune-cpu', 'tune-seeder', 'tune-disk')),
    *(Row('12', name, tuple(ratio(f'whole : {tuner}', figures.whole, tuner, 0.97) for tuner in PUBLISHED),
          open='why a tuner is a tenth behind: its decisions are kept with each run') for name in ('tune-loss', 'tune-wan', 'tune-unlike', 'tune-change')),
    Row('12', 'small-files', tuple(ratio(f'whole : GridFTP, files by {by}', figures.whole, f'{by}, files', 0.97) for by in wide_check.SCHEDULES),
        rounds=3, open='what each chunk had, and brought: with the runs'),
    *(Row('13', name, (Bar('estimate : the get that follows, unknown path, off by', 'estimated', figures.estimate_error, most=0.25),
                       Bar('estimate : the get that follows, known path, off by', 'estimated, warm', figures.estimate_error, most=0.10)))
      for name in ('tune-loss', 'tune-wan', 'tune-bbr-a', 'tune-bbr-b')))

ELSEWHERE = {'14': 'the simulation: ctest -R tuning_sim'}


def plain(tool):
    return tool['tool'] == 'gridtorrent' and tool.get('access', 'public') == 'public' and 'rivals' not in tool


def candidates(row, scenario):
    """What the runs of a row are chosen from. Scenarios that were made for other comparisons get every fixed plan, too."""
    listed = scenario['tools']
    if not row.grid:
        if row.number == '12' and 'files' in scenario['data']:
            return tune_plan.Tools(always=(AUTO, *({'tool': 'globus_scheduled', 'by': by} for by in wide_check.SCHEDULES)))
        if row.number == '12':
            return tune_plan.Tools(always=(AUTO, *({**AUTO, 'tuner': tuner} for tuner in PUBLISHED)))
        if row.number == '13':
            return tune_plan.Tools(always=({**AUTO, 'estimate': True}, {**AUTO, 'estimate': True, 'history': 'warm'}))
        if row.number == '10':
            swarm = {'tool': 'gridtorrent_swarm', 'access': 'public'}
            return tune_plan.Tools(always=(swarm, {**swarm, 'tuner': 'fixed'}))
        ours = [tune_plan.over_tls(t) for t in listed if t == AUTO] if row.tls else []
        return tune_plan.Tools(always=(*listed, *ours))
    fixed = [t for t in listed if plain(t) and 'lanes' in t and 'limit' not in t]
    if not any('seeders' in t for t in fixed):
        fixed = [{'tool': 'gridtorrent', 'lanes': n, 'access': 'public'} for n in LANES]
    peers = [t for t in listed if t['tool'] == 'globus_folder'] or ([{'tool': 'globus', 'parallelism': n} for n in STREAMS] if any(
        t['tool'] == 'globus' for t in listed) else [])
    always = [AUTO, *(t for t in listed if plain(t) and t.get('history') == 'warm')]
    if any(bar.against == '16 lanes' for bar in row.bars):
        always.append({'tool': 'gridtorrent', 'lanes': 16, 'access': 'public'})
    return tune_plan.Tools(tuple(fixed), tuple(peers), tuple(always), row.tls)


def named(name, tools, runs):
    """The tool that a bar means, among those of a row that ran; None where there is none."""
    kept = tune_plan.second_pass(runs)
    ran = {str(sorted(r['tool'].items(), key=str)): r['tool'] for r in kept}.values()
    encrypted = name.endswith(', TLS')
    name = name.removesuffix(', TLS')
    ours = [t for t in ran if t['tool'] == 'gridtorrent' and (t.get('access', 'public') != 'public') == encrypted]

    def first(found):
        return next(iter(found), None)
    if name == 'auto':
        return first(t for t in ours if not any(w in t for w in (*WISHES, 'rivals')))
    if name in ('warm', 'estimated', 'estimated, warm'):
        return first(t for t in ours if ('estimate' in t, t.get('history') == 'warm') == ('estimated' in name, 'warm' in name))
    if name.endswith(', files'):
        return first(t for t in ran if t['tool'] == 'globus_scheduled' and t['by'] == name.removesuffix(', files'))
    if name in PUBLISHED:
        return first(t for t in ours if t.get('tuner') == name)
    if name == 'background':
        return first(t for t in ours if t.get('mode') == 'background' and 'min_rate' not in t)
    if name == 'best fixed':
        return first(tune_plan.best([t for t in ours if 'lanes' in t], kept))
    if name == 'best GridFTP':
        return first(tune_plan.best([t for t in ran if t['tool'] in ('globus', 'globus_folder')], kept))
    if name == 'best iperf3':
        def middle(tool):
            return statistics.median([r['steady_mbit_s'] or 0 for r in tune_plan.counted(kept, tool)] or [0])
        return first(sorted((t for t in ran if t['tool'] == 'iperf3'), key=middle, reverse=True))
    if name.endswith(' lanes'):
        return first(t for t in ours if t.get('lanes') == int(name.split()[0]) and 'seeders' not in t)
    if name == 'side by side':
        return first(t for t in ran if t['tool'] == 'gridtorrent_side_by_side')
    if name.startswith('swarm'):
        return first(t for t in ran if t['tool'] == 'gridtorrent_swarm' and ('tuner' in t) == (name == 'swarm, fixed'))
    return first(t for t in ours if asked_for(t) == name)


def asked_for(tool):
    """As 'target 30Mbit, 4 rivals'."""
    words = [f'{what} {tool[key]}' for key, what in (('target_rate', 'target'), ('min_rate', 'floor')) if key in tool]
    words += [f'by {tool["by_s"]:g} s'] if 'by_s' in tool else []
    return ', '.join([*words, f'{sum(r["flows"] for r in tool.get("rivals", [])) or "no"} rivals'])


def judged(row, bar, tools, runs):
    """(Ratios or None, verdict) of a bar."""
    kept, tool = tune_plan.second_pass(runs), named(bar.of, tools, runs)
    rounds = min(row.rounds, TLS_ROUNDS if 'TLS' in bar.of else row.rounds)
    if tool is None:
        return None, 'few'
    if bar.fewest:
        plans = tools.fixed or [t for t in tools.always if plain(t) and 'lanes' in t]
        fewest = tune_plan.fewest_lanes(plans, tune_plan.first_pass(runs) if tools.fixed else kept, figures.last_third, bar.fewest)
        by = fewest * bar.by if fewest else None
    else:
        by = bar.by
    if by is None:
        return None, 'few'
    if bar.against:
        other = named(bar.against, tools, runs)
        found = tune_plan.ratios(kept, tool, other, bar.figure) if other else None
    else:
        values = [v for v in (bar.figure(r) for r in tune_plan.counted(kept, tool)) if v is not None]
        found = tune_plan.summary([v / by for v in values])
    return found, tune_plan.verdict(found, bar.least, bar.most, rounds)
