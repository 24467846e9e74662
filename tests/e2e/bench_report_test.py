#!/usr/bin/env python3
"""The report over kept benchmark runs, bench/report.py: its figures, the words it makes of them, what it refuses. Runs are made up."""
import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parents[2] / 'bench'
sys.path.append(str(BENCH))

import cases  # noqa: E402
import paper_figures  # noqa: E402
import report  # noqa: E402

IPERF = {'tool': 'iperf3', 'streams': 16, 'seconds': 12, 'omit_s': 4}
GLOBUS_4, GLOBUS_16 = {'tool': 'globus', 'parallelism': 4}, {'tool': 'globus', 'parallelism': 16}
PUBLIC, TLS = {'tool': 'gridtorrent', 'lanes': 16, 'access': 'public'}, {'tool': 'gridtorrent', 'lanes': 16, 'access': 'group:bench'}
ARIA = {'tool': 'aria2_http', 'connections': 16}
SCENARIO = {'title': '1 GB, made up', 'why': 'for a test', 'repetitions': 5, 'tools': [IPERF, GLOBUS_4, GLOBUS_16, PUBLIC, TLS],
            'network': {'hosts': {'server': {'address': '198.18.0.1'},
                                  'seed': {'address': '198.18.0.2', 'delay_ms': 12.5, 'loss': 5e-05, 'up': '1Gbit'}}}}
NO_PLOTS = {}


def run(tool, rate, repeat=0, void=None, commit='aaaaaaa', day='2026-01-01', steady=None, steal=0.01, **more):
    """A run at `rate` Mbit/s, which was reached after a second; of iperf3 a steady one alone."""
    whole = tool['tool'] != 'iperf3'
    seconds = 8e3 / rate if whole else 16
    series = [[round(t * 0.2, 1), int(max(0, t * 0.2 - 1) * rate * 125e3)] for t in range(int(seconds * 5) + 1)]
    checks = [{'host': h, 'congestion': ['cubic'], 'data_sockets': n, 'tcp_congestion_control': 'cubic'} for h, n in (('a', 16), ('b', 17))]
    return {'scenario': 'made-up', 'machine': {'cpu': 'A processor', 'cores': 2, 'kernel': '6.1', 'commit': commit, 'date': day},
            'at': f'{day}T00:00:{repeat:02}Z', 'label': report.wide.label(tool), 'tool': tool, 'repeat': repeat, 'bytes': 10**9,
            'seconds': round(seconds, 3) if whole else None, 'mbit_s': rate if whole else None, 'steady_mbit_s': steady if whole else rate,
            'cpu_s_per_gb': 2.5, 'emulator': {'cores': 0.25, 'late': 0.001, 'steal': steal}, 'void': void,
            'checks': [*checks, {'content': 'sizes', 'files': 1}], 'figures': {}, 'series': series, **more}


def runs(tool, *rates, **more):
    return [run(tool, rate, repeat, **more) for repeat, rate in enumerate(rates)]


def all_runs(**more):
    return [*runs(IPERF, 900, 910, 920, **more), *runs(GLOBUS_4, 600, 610, 620, **more), *runs(GLOBUS_16, 690, 700, 710, **more),
            *runs(PUBLIC, 770, 777, 784, **more), *runs(TLS, 695, 700, 703, **more)]


def page(kept, scenario=SCENARIO):
    return report.outputs(kept, {'made-up': scenario} if scenario else {}, NO_PLOTS)['benchmarks.md'].decode()


def row(text, label):
    found = [line for line in text.split('\n') if line.startswith('| ') and line.strip('| *').startswith(label)]
    cases.check(len(found) == 1, f'{len(found)} rows of {label}:\n{text}')
    return [cell.strip() for cell in found[0].strip('|').split('|')]


def equal(found, wanted):
    cases.check(found == wanted, f'{found!r}, not {wanted!r}')


def like_hosts_are_named_together():
    host = {'address': '198.18.0.2', 'delay_ms': 10, 'up': '10Mbit'}
    hosts = {'server': {'delay_ms': 1}, 'seed': {'delay_ms': 5}, **{f'leecher-{i}': host for i in (1, 2, 3)}}
    equal(report.path_of({'hosts': hosts}), 'seed: 5 ms; leecher-1 to leecher-3, each: 10 ms, up 10Mbit')
    del hosts['leecher-2']
    equal(report.path_of({'hosts': hosts}), 'seed: 5 ms; leecher-1 and leecher-3: 10 ms, up 10Mbit')


def medians_and_spreads():
    equal(report.median([]), None)
    equal(report.median([3, 1, 2]), 2)
    equal(report.median([4, 1, 2, 3]), 2.5)
    equal((report.quantile([1, 2, 3, 4, 5], 0.25), report.quantile([1, 2, 3, 4, 5], 0.75)), (2, 4))
    equal(report.quantile([7], 0.75), 7)
    equal(report.spread([90, 100, 110]), 10)
    equal(report.spread([90, 110]), None)
    equal(report.ratio([2, 4], [2]), 1.5)
    equal(report.ratio([], [2]), None)


def a_claim_needs_runs_and_a_difference_beyond_the_spreads():
    peer = [95, 100, 105]  # its spread: 5 %
    equal(report.change([104, 104, 104], peer)[1], 'within')
    equal(report.change([96, 96, 96], peer)[1], 'within')
    equal(report.change([106, 106, 106], peer)[1], 'faster')
    equal(report.change([94, 94, 94], peer)[1], 'slower')
    equal(report.change([90, 108, 120], peer)[1], 'unsure')
    equal(report.change([60, 94, 130], peer)[1], 'slower')
    equal(report.change([200, 200], peer)[1], 'few')
    equal(report.claim([110, 110, 110], peer), '**10.0 % faster**, beyond the spread')
    equal(report.claim([80, 80, 80], peer), '**20.0 % slower**, beyond the spread')
    equal(report.claim([102, 102, 102], peer), 'no difference (2.0 % faster: within the spread)')
    equal(report.claim([90, 108, 120], peer), 'no claim (8.0 % faster: within its own spread of 13.9 %)')
    equal(report.claim([200, 200], peer), 'no claim: 2 against 3 runs with this figure, and 3 of each are the least')


def the_best_peer_is_the_one_with_the_highest_median():
    rows = report.rows_of([*all_runs(), *runs(ARIA, 800, 800, 800)], SCENARIO)
    equal([r.label for r in rows], ['iperf3 -P 16', 'globus -p 4', 'globus -p 16', 'gridtorrent, 16 lanes, public',
                                    'gridtorrent, 16 lanes, group, TLS', 'aria2 HTTP -x 16'])
    equal(report.best(rows, report.GRIDFTP, 'mbit_s').label, 'globus -p 16')
    equal(report.best(rows, report.TCP, 'steady_mbit_s').label, 'iperf3 -P 16')
    equal(report.best(rows, report.TCP, 'mbit_s'), None)
    equal(report.best_ours(rows, False).label, 'gridtorrent, 16 lanes, group, TLS')
    lucky = report.rows_of([*all_runs(), *runs(GLOBUS_4, 999, void='the emulator took 0.61 cores')], SCENARIO)
    equal(report.best(lucky, report.GRIDFTP, 'mbit_s').label, 'globus -p 16')


def a_steady_rate_of_some_runs_alone_is_none():
    rows = report.rows_of([run(PUBLIC, 800, 0, steady=700), run(PUBLIC, 900, 1), run(PUBLIC, 900, 2)], SCENARIO)
    equal(rows[0].values('steady_mbit_s'), [])
    equal(len(rows[0].values('mbit_s')), 3)


def rates_over_time_are_smooth_and_few():
    series = [[t / 5, t * 25_000_000] for t in range(1001)]
    points = report.rates(series, most=100)
    cases.check(len(points) == 101 and points[-1][0] == 200, lambda: f'{len(points)} points to {points[-1]}')
    cases.check(all(abs(rate - 1000 * report.wide.PAYLOAD) < 0.1 for _, rate in points), lambda: f'{points}')
    step = report.rates([[0, 0], [1, 0], [1, 0], [2, 125_000_000]])
    cases.check(step[0][1] == 0 and abs(dict(step)[1.0] - 500 * report.wide.PAYLOAD) < 1, lambda: f'{step}')
    equal(report.rates([[0, 0]]), [])


def the_newest_complete_group_is_reported():
    old, new = all_runs(), all_runs(commit='bbbbbbb', day='2026-01-02')
    picked, newer = report.chosen(old + new, SCENARIO)
    equal(({r['machine']['commit'] for r in picked}, newer), ({'bbbbbbb'}, []))
    picked, newer = report.chosen(old + new[:-1], SCENARIO)
    equal(({r['machine']['commit'] for r in picked}, len(newer)), ({'aaaaaaa'}, 1))
    text = page(old + new[:-1])
    cases.check('commit aaaaaaa' in text and 'newer, incomplete results of commit bbbbbbb' in text, text)
    picked, newer = report.chosen(old[:-1] + new[:-1], SCENARIO)
    equal(({r['machine']['commit'] for r in picked}, newer), ({'bbbbbbb'}, []))
    cases.check('Incomplete: ' in page(new[:-1]), 'an incomplete comparison is not called so')
    cases.check('Not measured: gridtorrent, 16 lanes, group, TLS' in page(new[:-3]), 'a missing tool is not named')


def the_page_says_what_the_figures_allow():
    text = page(all_runs())
    equal(row(text, 'gridtorrent, 16 lanes, public'),
          ['**gridtorrent, 16 lanes, public**', '10.30', '777', '0.9 %', '1.11', '–', '–', '–', '2.5', '3', '17', 'cubic'])
    equal(row(text, 'iperf3 -P 16'), ['iperf3 -P 16', '–', '–', '–', '–', '910', '1.1 %', '1.00', '2.5', '3', '17', 'cubic'])
    for line in ('**1 GB, made up.** for a test.', '- Machine: A processor, 2 cores, Linux 6.1',
                 '- Path: seed: 12.5 ms, loss 0.005 %, up 1Gbit',
                 'Whole transfer against globus -p 16, the best GridFTP plan here (700 Mbit/s, spread 1.4 %):',
                 '- gridtorrent, 16 lanes, public: **11.0 % faster**, beyond the spread',
                 '- gridtorrent, 16 lanes, group, TLS: no difference (0.0 % slower: within the spread)',
                 '| [made-up](#made-up) | 1 GB, made up | 1.11 | 1.00 = | – | – |'):
        cases.check(f'\n{line}\n' in text, f'no line {line!r}:\n{text}')
    cases.check('Stolen CPU: median 1.0 %' in text and '3 of 5 planned of each tool' in text, text)
    cases.check('Steady rate against' not in text, f'there is no steady rate of ours:\n{text}')
    cases.check('conditions differ' not in text, text)
    unlike = [r for r in all_runs() if r['tool'] != TLS] + runs(TLS, 500, 500, 500, steal=0.2, steady=600)
    text = page(unlike)
    cases.check('TLS: **28.6 % slower**, beyond the spread; conditions differ: 20 % of the CPU was stolen in its runs, 1 %' in text, text)
    cases.check('Steady rate against iperf3 -P 16, what TCP does on this path' in text, text)


def void_runs_count_for_nothing_and_are_named():
    why = 'the emulator took 0.61 cores (at most 0.5)'
    kept = [r for r in all_runs() if r['tool'] != TLS] + runs(TLS, 100, 100, void=why) + [run(PUBLIC, 10, 3, void=why)]
    text = page(kept)
    public = row(text, 'gridtorrent, 16 lanes, public')
    equal((public[2], public[3], public[-3]), ('777', '0.9 %', '3 + 1 void'))
    equal(row(text, 'gridtorrent, 16 lanes, group, TLS')[1:], ['–'] * 8 + ['0 + 2 void', '–', '–'])
    cases.check(f'- gridtorrent, 16 lanes, group, TLS: 2 void: {why}\n' in text, text)
    cases.check('- gridtorrent, 16 lanes, group, TLS: no claim: 0 against 3 runs' in text, text)
    text = page([{**r, 'void': why} for r in all_runs()])
    equal(row(text, 'globus -p 16')[-1], '0 + 3 void')


def a_limit_is_compared_with_itself():
    tool = {**PUBLIC, 'limit': '400Mbit'}
    text = page(runs(tool, 380, 385, 390, steady=396), {**SCENARIO, 'tools': [tool]})
    found = next((line for line in text.split('\n') if line.startswith('- gridtorrent, 16 lanes, public, limit 400Mbit: ')), text)
    cases.check(found.endswith(': median 99.0 %, highest run 99.0 %, highest second of any run 94.1 %'), found)
    equal((report.bit_s('1.5Gbit'), report.bit_s('64kbit'), report.bit_s('much')), (1.5e9, 64e3, None))


def a_scenario_that_is_gone_is_still_reported():
    text = page(all_runs(), None)
    cases.check('no longer in bench/wide' in text and row(text, 'globus -p 4')[2] == '610', text)


def every_run_is_in_the_csv():
    kept = [*all_runs(), run(PUBLIC, 10, 3, void='a, "quoted" reason')]
    found = list(csv.DictReader(io.StringIO(report.table_of_runs(kept))))
    equal(len(found), len(kept))
    equal(','.join(found[0]), 'scenario,commit,at,label,repeat,bytes,seconds,mbit_s,steady_mbit_s,cpu_s_per_gb,void,emulator_cores,steal,'
                              'sockets,congestion')
    equal([r['void'] for r in found if r['void']], ['a, "quoted" reason'])
    first = next(r for r in found if r['label'] == 'iperf3 -P 16')
    equal((first['seconds'], first['steady_mbit_s'], first['sockets'], first['congestion']), ('', '900', '17', 'cubic'))


def ours(lanes, seeders, rate, **more):
    return run({'tool': 'gridtorrent', 'lanes': lanes, 'seeders': seeders, 'access': 'public'}, rate, **more)


def of_paper(**more):
    """Rates of the paper, about: PTCP falls after 15 sockets, four lanes to each seeder do not."""
    ptcp = [run({'tool': 'iperf3', 'streams': n, 'seconds': 12, 'omit_s': 4}, rate, **more) for n, rate in ((1, 8), (15, 118), (16, 110))]
    gtf = [*(ours(1, n, rate, **more) for n, rate in ((1, 9), (15, 119))), *(ours(4, n, rate, **more) for n, rate in ((1, 33), (10, 145), (16, 145)))]
    auto = run({'tool': 'gridtorrent', 'access': 'public'}, 157, figures={'lanes': [[t, 24, 8] for t in range(12)]}, **more)
    again = run({'tool': 'gridtorrent', 'access': 'public'}, 157, repeat=1, figures={'lanes': [[t, 28, 8] for t in range(12)]}, **more)
    return [{**r, 'scenario': 'gtf-wan'} for r in (*ptcp, *gtf, ours(5, 8, 150, **more), auto, again)]


def the_papers_figures_have_rates_by_sockets():
    void = {**ours(4, 16, 20, repeat=1, void='8.0 % of the packets were late'), 'scenario': 'gtf-wan'}
    text = '\n'.join(paper_figures.section([*of_paper(), void]))
    cases.check('**Figure 7' not in text, 'a figure without runs')
    at = text.index('**Figure 13')
    equal(row(text[:at], '10 | iperf3')[2:], ['8 with 1', '118 with 15', '110 with 16', '0.932'])
    equal(row(text[:at], '10 | GridTorrent, 1 lane to')[2:], ['9 with 1', '119 with 15', '119 with 15', '1.000'])
    equal(row(text[at:], '13 | GridTorrent, 4 lanes to')[2:], ['33 with 4', '145 with 40', '145 with 64', '1.000'])
    equal(row(text[at:], '13 | auto')[2:], ['157 with 24', '157 with 24', '157 with 24', '1.000'])
    equal(row(text[at:], '13 | GridTorrent, 5 lanes to')[2], '150 with 40')
    cases.check('void runs: 1' in text[at:], 'a void run is not named')
    equal(paper_figures.section([]), [])


def the_papers_figures_are_of_one_commit():
    newer = [{**ours(4, 16, 20, commit='bbbbbbb', day='2026-02-01'), 'scenario': 'gtf-wan'}]
    equal({r['machine']['commit'] for r in paper_figures.group([*of_paper(), *newer])}, {'aaaaaaa'})
    equal({r['machine']['commit'] for r in paper_figures.group([*of_paper(), *of_paper(commit='bbbbbbb', day='2026-02-01')])}, {'bbbbbbb'})


def reported(results, docs):
    return subprocess.run([sys.executable, BENCH / 'report.py', results, docs], capture_output=True, text=True)


def kept_in(folder, lines):
    results = pathlib.Path(folder) / 'results'
    results.mkdir(exist_ok=True)
    (results / 'made-up.jsonl').write_text(''.join(line + '\n' for line in lines))
    return results


def refused(done, start):
    cases.check(done.returncode == 1 and done.stderr.startswith(start) and done.stderr.count('\n') == 1, f'not one line {start!r}: {done}')


def a_broken_line_is_named_and_docs_stay_as_they_were():
    good = run(PUBLIC, 700)
    line = json.dumps(good)
    for bad, what in ((line[:-9], 'line 1 column'), ('', 'Expecting value'), ('[]', 'not an object'),
                      (line.replace('700', 'NaN', 1), 'NaN'), (b'\xff' + line.encode(), 'decode'),
                      (json.dumps({k: v for k, v in good.items() if k != 'emulator'}), '"emulator" is missing'),
                      (json.dumps({**good, 'emulator': {'cores': 1, 'late': 0}}), '"emulator" has no "steal"'),
                      (json.dumps({**good, 'bytes': 'many'}), '"bytes" is "many"'), (json.dumps({**good, 'mbit_s': 0}), 'no rate'),
                      (json.dumps({**good, 'scenario': '../up'}), '"scenario" is no name'),
                      (json.dumps({**good, 'checks': [1]}), '"checks" is not a list'),
                      (json.dumps({**good, 'series': [[0, 0], [1]]}), '"series" is not a list')):
        try:
            report.parsed(bad)
        except ValueError as e:
            cases.check(what in str(e), f'{e}, which does not say {what!r}')
        else:
            raise AssertionError(f'accepted: {bad[:80]}')
    with tempfile.TemporaryDirectory() as folder:
        docs = pathlib.Path(folder) / 'docs'
        docs.mkdir()
        (docs / 'benchmarks.md').write_text('as it was')
        refused(reported(kept_in(folder, [line, line[:-9], line]), docs), 'report: made-up.jsonl:2: ')
        equal([(p.name, p.read_text()) for p in docs.iterdir()], [('benchmarks.md', 'as it was')])


def no_results_are_a_clear_line():
    with tempfile.TemporaryDirectory() as folder:
        refused(reported(kept_in(folder, []), pathlib.Path(folder) / 'docs'), 'report: there are no results in ')
        cases.check(not (pathlib.Path(folder) / 'docs').exists(), 'there are docs of nothing')


def plots_are_small_and_the_same_each_time():
    kept = [*all_runs(), *runs(ARIA, 100, 90, 80, void='the emulator took 0.61 cores')]
    with tempfile.TemporaryDirectory() as folder:
        results, docs = kept_in(folder, map(json.dumps, kept)), pathlib.Path(folder) / 'docs'
        (results / 'tune').mkdir()
        (results / 'tune/gtf-wan.jsonl').write_text(''.join(json.dumps(r) + '\n' for r in of_paper()))
        done = reported(results, docs)
        if 'matplotlib is missing' in done.stderr:
            refused(done, 'report: matplotlib is missing')
            cases.check(not docs.exists(), 'docs were written without plots')
            print('SKIPPED inside: plots, as there is no matplotlib')
            return
        cases.check(done.returncode == 0, f'{done}')
        stale = docs / 'benchmarks/gone-bars.svg'
        stale.write_text('of a scenario that is gone')
        first = {p.name: p.read_bytes() for p in docs.rglob('*') if p.is_file() and p != stale}
        equal(sorted(first), ['benchmarks.csv', 'benchmarks.md', 'made-up-bars.svg', 'made-up-rate.svg', 'paper-10.svg', 'paper-13.svg'])
        cases.check(reported(results, docs).returncode == 0, 'a second report failed')
        equal({p.name for p in docs.rglob('*') if p.is_file()}, set(first))
        for path in docs.rglob('*.svg'):
            text = path.read_text()
            cases.check(path.read_bytes() == first[path.name], f'{path.name} is another each time')
            cases.check(path.stat().st_size < 60_000, f'{path.name} has {path.stat().st_size} bytes')
            cases.check(('GridTorrent, ' if path.name.startswith('paper') else 'gridtorrent, 16 lanes, public') in text, f'{path.name} does not show ours')
            cases.check(f'](benchmarks/{path.name})' in first['benchmarks.md'].decode(), f'the page does not show {path.name}')
            small = [float(s) for s in re.findall(r'font: (?:bold )?([\d.]+)px', text) if float(s) < 9]
            cases.check(not small, f'{path.name} has letters of {small} points')
        cases.check('limit of TCP: 910' in (docs / 'benchmarks/made-up-bars.svg').read_text(), 'the limit of TCP is not named')


cases.run(medians_and_spreads, like_hosts_are_named_together, a_claim_needs_runs_and_a_difference_beyond_the_spreads, the_best_peer_is_the_one_with_the_highest_median,
          a_steady_rate_of_some_runs_alone_is_none, rates_over_time_are_smooth_and_few, the_newest_complete_group_is_reported,
          the_page_says_what_the_figures_allow, void_runs_count_for_nothing_and_are_named, a_limit_is_compared_with_itself,
          a_scenario_that_is_gone_is_still_reported, every_run_is_in_the_csv, the_papers_figures_have_rates_by_sockets,
          the_papers_figures_are_of_one_commit, a_broken_line_is_named_and_docs_stay_as_they_were,
          no_results_are_a_clear_line, plots_are_small_and_the_same_each_time)
