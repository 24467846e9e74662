#!/usr/bin/env python3
"""What ./dev bench tune decides: which run is next, which plans are the best, what ratios say, what single runs show. Runs are made up."""
import contextlib
import io
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / 'bench'
sys.path.append(str(BENCH))

import cases  # noqa: E402
import ours  # noqa: E402
import quiet  # noqa: E402
import tune  # noqa: E402
import tune_figures as figures  # noqa: E402
import tune_plan  # noqa: E402
import tune_rows  # noqa: E402
import wide  # noqa: E402

AUTO = tune_rows.AUTO
PAYLOAD = figures.PAYLOAD


def lanes(number, **more):
    return {'tool': 'gridtorrent', 'lanes': number, 'access': 'public', **more}


def globus(number):
    return {'tool': 'globus', 'parallelism': number}


def run(tool, repeat, rate=100.0, void=None, **more):
    return {'tool': tool, 'repeat': repeat, 'mbit_s': rate, 'void': void, 'steady_mbit_s': rate, 'seconds': 30.0, 'bytes': 10**9, 'figures': {},
            'checks': [], 'series': None, **more}


def equal(found, wanted):
    cases.check(found == wanted, f'{found!r}, not {wanted!r}')


def played(tools, rates, rounds=5, tls_rounds=0):
    """All runs that are made one after the other, where each tool has its rate."""
    runs = []
    while (step := tune_plan.next_run(tools, runs, rounds, tls_rounds)) is not None:
        runs.append(run(step[1], step[0], rates(step[1])))
        cases.check(len(runs) < 1000, 'it never ends')
    return runs


TOOLS = tune_plan.Tools(fixed=tuple(map(lanes, tune_rows.LANES)), peers=tuple(map(globus, tune_rows.STREAMS)), always=(AUTO,))


def lossy(tool):
    number = tool.get('lanes', tool.get('parallelism', 4))
    return min(190, 15 * (number if isinstance(number, int) else 4) * (0.9 if tool['tool'] == 'globus' else 1))


def two_rounds_choose_and_five_others_compare():
    runs = played(TOOLS, lossy)
    first, second = tune_plan.first_pass(runs), tune_plan.second_pass(runs)
    equal([r['tool'].get('lanes') for r in first if r['repeat'] == 0], [16, 12, 8, 4, None, None, None])
    equal({r['repeat'] for r in second}, {100, 101, 102, 103, 104})
    equal([r['tool'] for r in second[:4]], [AUTO, lanes(16), lanes(12), globus(16)])
    equal([r['tool'] for r in second[4:8]], [globus(16), lanes(12), lanes(16), AUTO])
    equal(len(second), 20)


def plans_that_are_far_behind_a_larger_one_are_left_out():
    runs = [run(lanes(16), 0, 190), run(lanes(8), 0, 120), run(lanes(4), 0, 60)]
    fixed = TOOLS.fixed
    equal([tune_plan.hopeless(lanes(n), fixed, runs) for n in (16, 8, 4, 2, 1)], [False, False, False, True, True])
    flat = [run(lanes(n), 0, 290 - n) for n in (16, 12, 8, 4, 2)]
    equal([tune_plan.hopeless(t, fixed, flat) for t in fixed], [False] * 6)
    grid = (lanes(8, seeders=2), lanes(4, seeders=2), lanes(4, seeders=4))
    slow = [run(grid[0], 0, 50), run(grid[2], 0, 190)]
    equal([tune_plan.hopeless(t, grid, slow) for t in grid], [False, True, False])


def what_is_void_runs_again_three_times_at_most():
    tools = tune_plan.Tools(always=(AUTO,))
    runs = [run(AUTO, 100, void='late')] * 2
    equal(tune_plan.next_run(tools, runs, 1), (100, AUTO))
    equal(tune_plan.next_run(tools, runs + [run(AUTO, 100, void='late')], 1), None)
    equal(tune_plan.next_run(tools, runs + [run(AUTO, 100)], 1), None)


def what_the_host_spoilt_runs_again_more_often():
    tools = tune_plan.Tools(always=(AUTO,))
    def spoilt(share):
        return run(AUTO, 100, void='late', emulator={'steal': share})
    cases.check(tune_plan.host_stole(spoilt(0.02)) and not tune_plan.host_stole(spoilt(0.0)), 'what was stolen is not seen')
    cases.check(not tune_plan.host_stole(run(AUTO, 100, emulator={'steal': 0.5})), 'a run that counts needs no other')
    equal(tune_plan.next_run(tools, [spoilt(0.02)] * 7 + [spoilt(0.0)], 1), None)  # eight in all
    equal(tune_plan.next_run(tools, [spoilt(0.02)] * 5 + [spoilt(0.0)] * 2, 1), (100, AUTO))
    equal(tune_plan.next_run(tools, [spoilt(0.0)] * 3, 1), None)
    equal(tune_plan.next_run(tools, [spoilt(0.02)] * 8, 1), None)


def a_run_waits_for_a_quiet_host_but_not_for_ever():
    def waited(shares, deadline):
        now, left = [0.0], list(shares)
        def seen():
            now[0] += quiet.PROBE_S
            return left.pop(0) if left else 0.1
        with contextlib.redirect_stdout(io.StringIO()):
            return quiet.wait(deadline, seen, lambda: now[0], lambda s: now.__setitem__(0, now[0] + s)), now[0]
    equal(waited([0.0], 1000), (0.0, 5))
    equal(waited([0.05, 0.02, 0.001], 1000), (0.001, 45))
    cases.check(waited([], 1000)[1] <= quiet.MOST_S, 'it waits longer than it may')
    cases.check(waited([], 60)[1] <= 60, 'it waits past the end of the call')


def encrypted_plans_have_fewer_rounds():
    runs = played(tune_plan.Tools(TOOLS.fixed, TOOLS.peers, TOOLS.always, tls=True), lossy, 5, 3)
    counts = {wide.label(t): len(tune_plan.counted(tune_plan.second_pass(runs), t))
              for t in (AUTO, tune_plan.over_tls(AUTO), tune_plan.over_tls(lanes(16)), globus(16))}
    equal(list(counts.values()), [5, 3, 3, 5])


def what_is_left_shrinks_to_nothing():
    runs = played(TOOLS, lossy)
    equal(tune_plan.left(TOOLS, runs, 5), 0)
    equal(tune_plan.left(TOOLS, runs[:-3], 5), 3)
    cases.check(tune_plan.left(TOOLS, [], 5) >= len(runs), 'it promised less than there was')


def a_plan_of_16_lanes_that_is_also_among_the_best_runs_once():
    tools = tune_plan.Tools(TOOLS.fixed, TOOLS.peers, (AUTO, lanes(16)))
    equal([wide.label(t) for t in tune_plan.paired(tools, played(tools, lossy))[0]],
          ['gridtorrent, auto, public', 'gridtorrent, 16 lanes, public', 'gridtorrent, 12 lanes, public', 'globus -p 16'])


def ratios_are_of_one_round_and_void_runs_make_none():
    runs = [run(AUTO, 100, 90), run(lanes(8), 100, 100), run(AUTO, 101, 80), run(lanes(8), 101, 160), run(AUTO, 102, 99),
            run(lanes(8), 102, 99, void='late'), run(AUTO, 103, 70)]
    found = tune_plan.ratios(runs, AUTO, lanes(8), figures.whole)
    equal((round(found.median, 3), found.count), (0.7, 2))
    equal(tune_plan.ratios(runs, AUTO, globus(4), figures.whole), None)
    equal(tune_plan.summary([1.0]), tune_plan.Ratios(1.0, 1.0, 1.0, 1))


def nothing_is_claimed_within_the_spread():
    wide_spread = tune_plan.summary([0.8, 0.9, 1.0, 1.1, 1.2])
    equal(tune_plan.verdict(wide_spread, least=0.95, rounds=5), 'unsure')
    equal(tune_plan.verdict(wide_spread, least=0.9, rounds=5), 'met')
    equal(tune_plan.verdict(wide_spread, least=1.15, rounds=5), 'missed')
    equal(tune_plan.verdict(wide_spread, most=1.0, rounds=5), 'unsure')
    equal(tune_plan.verdict(wide_spread, most=1.1, rounds=5), 'met')
    equal(tune_plan.verdict(wide_spread, most=0.85, rounds=5), 'missed')
    equal(tune_plan.verdict(wide_spread, least=0.5, rounds=6), 'few')
    equal(tune_plan.verdict(None, least=0.5), 'few')


def the_fewest_lanes_are_those_of_plans_that_reach_the_share():
    runs = [run(lanes(n), 0, rate) for n, rate in ((16, 190), (12, 188), (8, 120))]
    equal(tune_plan.fewest_lanes(TOOLS.fixed, runs, figures.whole, 0.98), 12)
    equal(tune_plan.fewest_lanes(TOOLS.fixed, [], figures.whole, 0.98), None)


def series(*parts):
    """Of (seconds, Mbit/s of payload) one after the other, a look each half second."""
    found, t, got = [[0.0, 0]], 0.0, 0.0
    for length, rate in parts:
        for _ in range(int(length * 2)):
            t, got = t + 0.5, got + rate * 1e6 / 8 / PAYLOAD / 2
            found.append([t, got])
    return found


def about(value, wanted, within=0.02):
    cases.check(value is not None and abs(value - wanted) <= within * max(1e-9, abs(wanted)), f'{value}, not {wanted}')


def the_last_third_is_of_the_bytes():
    about(figures.last_third(run(AUTO, 0, series=series((10, 20), (5, 40)))), 40)
    equal(figures.last_third(run(AUTO, 0)), None)


def lanes_at_the_end_leave_out_the_very_last_look():
    looks = [[i, n, 1] for i, n in enumerate((4, 4, 8, 8, 8, 8, 8, 12, 12, 0))]
    equal(figures.end_lanes(run(AUTO, 0, figures={'lanes': looks})), 12)
    equal(figures.end_lanes(run(AUTO, 0)), None)


def lanes_of_some_seeders_are_the_most_of_any():
    counted = run(AUTO, 0, figures={'lanes_at_the_end': {'198.18.1.1': 8, '198.18.1.5': 2, '198.18.1.6': 1.5}})
    equal(figures.end_lanes_of(counted, ('198.18.1.4', '198.18.1.5', '198.18.1.6')), 2)
    equal(figures.end_lanes_of(run(AUTO, 0), ('198.18.1.5',)), None)


def what_lacks_of_a_target_is_judged_fifteen_seconds_in():
    wish = {**AUTO, 'target_rate': '150Mbit'}
    def said(*states):
        return run(wish, 0, 96, figures={'target': states})
    cases.check(abs(figures.shortfall_error(said((3, False, 0.9), (14.8, False, 0.36), (16, False, 0.9)))) < 0.001, 'the state 15 s in counts')
    cases.check(abs(figures.shortfall_error(said((14.8, False, 0.45))) - 0.25) < 0.001, 'off by a quarter')
    equal([figures.shortfall_error(said((14, True, 0))), figures.shortfall_error(said((16, False, 0.36))), figures.shortfall_error(run(wish, 0))], [1, 1, None])


def states_of_a_target_count_from_the_start_of_the_transfer():
    def event(name, second, **more):
        return {'event': name, 'time': f'2026-11-28T00:00:{second:02d}.500Z', **more}
    events = [event('started', 1), event('progress', 2), event('progress', 5, target={'held': False, 'shortfall': 0.25, 'kind': 'target'})]
    equal(ours.said_of_target(events), [(4.0, False, 0.25)])


def a_rate_is_recovered_when_it_is_held():
    found = series((20, 200), (4, 50), (1, 150), (5, 50), (20, 150))
    equal(figures.recovered_s(found, 20, 140), 10.0)
    equal(figures.recovered_s(found, 20, 160), None)
    equal(figures.recovered_s(series((10, 100)), 20, 50), None)


def a_target_is_judged_after_ten_seconds():
    tool = {**AUTO, 'target_rate': '30Mbit'}
    about(figures.target_error(run(tool, 0, series=series((10, 90), (10, 33), (10, 30)))), 0.05)
    equal(figures.above_target(run(tool, 0, series=series((10, 90), (10, 33), (10, 30)))), 2)
    equal(figures.target_error(run(AUTO, 0, series=series((30, 30)))), None)
    equal(figures.floor_held(run({**AUTO, 'min_rate': '30Mbit'}, 0, series=series((10, 1), (15, 31), (5, 20)))), 0.75)
    equal((figures.mbit('1.5Gbit'), figures.mbit('30Mbit'), figures.mbit('64kbit')), (1500.0, 30.0, 0.064))


def deadlines_rivals_and_shares():
    equal([figures.in_time(run({**AUTO, 'by_s': s}, 0)) for s in (29, 30)], [0.0, 1.0])
    equal(figures.of_rival(run(AUTO, 0, figures={'rivals': [{'mbit_s': 41.0}]})), 41.0)
    equal(figures.jain(run(AUTO, 0, figures={'settled_shares': [0.5, 0.5]})), 1.0)
    about(figures.jain(run(AUTO, 0, figures={'settled_shares': [0.9, 0.1]})), 0.61)
    equal(figures.received_twice(run(AUTO, 0, figures={'redundant_bytes': 10**7})), 0.01)
    equal(figures.resent_per_gb(run(AUTO, 0, checks=[{'bytes_retransmitted': 5}, {'content': 'sizes'}, {'bytes_retransmitted': 6}])), 11.0)


def words_are_counted_by_what_is_true():
    def says(word, **more):
        return run(AUTO, 0, figures={'decisions': {'explain': {'limit_word': word}}}, **more)
    runs = [says('loss'), says('loss'), says('path'), run(AUTO, 0), says('disk', seconds=10.0), says('disk', void='late')]
    equal(figures.confusion(runs, lambda _: ['loss']), ({('loss', 'loss'): 2, ('loss', 'path'): 1, ('loss', 'unknown'): 1}, 0.5, {'loss': 0.5}))
    equal(figures.confusion(runs, lambda run: ['path'] if run is runs[2] else ['loss'])[1:], (0.75, {'path': 1.0, 'loss': 2 / 3}))
    equal(figures.confusion(runs, lambda _: None), ({}, None, {}))


def the_word_is_that_of_twenty_seconds_in():
    def word(**decisions):
        return figures.word(run(AUTO, 0, figures={'decisions': decisions}))
    samples = [{'at_ms': 1000 * s, 'limit_word': 'unknown' if s < 5 else 'path' if s < 23 else 'seeder'} for s in range(1, 40)]
    equal(word(explain={'limit_word': 'loss', 'samples': samples}), 'path')
    equal(word(explain={'limit_word': 'loss', 'samples': []}), 'loss')
    equal(word(reason='planned', limit_word='window', log=[]), 'window')
    equal(word(reason='planned', log=[]), None)


def an_estimate_is_off_by_a_share_of_what_the_get_took():
    def off(likely_ms, seconds=50):
        return figures.estimate_error({'seconds': seconds, 'figures': {'estimate': {'likely_ms': likely_ms}}})
    equal([round(off(ms), 3) for ms in (50_000, 60_000, 40_000)], [0, 0.2, 0.2])
    equal(figures.estimate_error({'seconds': 50, 'figures': {}}), None)
    equal(off(5, seconds=None), None)


def rows_stand_at_an_earlier_commit_if_they_were_complete_there():
    here = {'cpu': 'x', 'cores': 2, 'kernel': '6', 'commit': 'new'}
    kept = [{**run(AUTO, 100 + i), 'machine': {**here, 'commit': c}} for c, n in (('oldest', 5), ('old', 3)) for i in range(n)]

    def complete(runs):
        return len(runs) == 5
    def chosen(runs, machine=here):
        found, commit = tune.chosen(tune.of_machine(runs, machine), machine['commit'], complete)
        return len(found), commit
    begun = {**run(AUTO, 100), 'machine': here}
    equal(chosen(kept), (5, 'oldest'))
    equal(chosen(kept[5:]), (0, 'new'))
    equal(chosen([*kept, begun]), (5, 'oldest'))  # begun for another row, or to be gone on with by name
    equal(chosen([*kept[5:], begun]), (1, 'new'))
    equal(chosen([*kept, *[begun] * 5]), (5, 'new'))
    equal(chosen(kept, {**here, 'kernel': '7'}), (0, 'new'))


def rows_are_named_by_number_by_scenario_or_by_both():
    def named(*names):
        return [(row.number, row.scenario) for row in tune.wanted_rows(names)]
    equal(named('12/tune-wan'), [('12', 'tune-wan')])
    equal(named('13/tune-wan', '7'), [('7', 'tune-change'), ('13', 'tune-wan')])
    equal(named('tune-wan'), [('3', 'tune-wan'), ('12', 'tune-wan'), ('13', 'tune-wan')])


def every_bar_of_every_row_means_a_tool_that_runs():
    for row in tune_rows.ROWS:
        tools = tune_rows.candidates(row, wide.load(row.scenario))
        runs = played(tools, lossy, 5, 3)
        for bar in row.bars:
            for name in filter(None, (bar.of, bar.against)):
                cases.check(tune_rows.named(name, tools, runs), lambda n=name, r=row: f'row {r.number}, {r.scenario}: no tool is "{n}"')


def an_unknown_row_is_refused_in_one_line():
    for words, part in ((['tune', '99'], 'there is no row 99; there are 1, tune-loss'), (['tune', '14', '--list'], 'row 14 is measured elsewhere'),
                        (['swarm', '--list'], '--list goes with tune')):
        done = subprocess.run([sys.executable, BENCH / 'run.py', *words, '--list'], capture_output=True, text=True)
        cases.check(done.returncode != 0 and part in done.stderr, f'{words}: {done}')


if __name__ == '__main__':
    cases.run(two_rounds_choose_and_five_others_compare, plans_that_are_far_behind_a_larger_one_are_left_out,
              what_is_void_runs_again_three_times_at_most, what_the_host_spoilt_runs_again_more_often,
              a_run_waits_for_a_quiet_host_but_not_for_ever, encrypted_plans_have_fewer_rounds, what_is_left_shrinks_to_nothing,
              a_plan_of_16_lanes_that_is_also_among_the_best_runs_once, ratios_are_of_one_round_and_void_runs_make_none,
              nothing_is_claimed_within_the_spread, the_fewest_lanes_are_those_of_plans_that_reach_the_share, the_last_third_is_of_the_bytes,
              lanes_at_the_end_leave_out_the_very_last_look, lanes_of_some_seeders_are_the_most_of_any,
              what_lacks_of_a_target_is_judged_fifteen_seconds_in, states_of_a_target_count_from_the_start_of_the_transfer,
              a_rate_is_recovered_when_it_is_held, a_target_is_judged_after_ten_seconds,
              deadlines_rivals_and_shares, words_are_counted_by_what_is_true, the_word_is_that_of_twenty_seconds_in, an_estimate_is_off_by_a_share_of_what_the_get_took,
              rows_stand_at_an_earlier_commit_if_they_were_complete_there, rows_are_named_by_number_by_scenario_or_by_both,
              every_bar_of_every_row_means_a_tool_that_runs, an_unknown_row_is_refused_in_one_line)
