#!/usr/bin/env python3
"""What scenarios of the bench may say, and what is made of it: refusals first, then options, rivals, windows of time, void runs."""
import contextlib
import copy
import io
import pathlib
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parents[2] / 'bench'
sys.path.append(str(BENCH))

import cases  # noqa: E402
import cpu_bound  # noqa: E402
import during  # noqa: E402
import explained  # noqa: E402
import kernel_settings  # noqa: E402
import lab  # noqa: E402
import wide  # noqa: E402
import wide_check  # noqa: E402

SCENARIO = {'title': 'made up', 'why': 'for a test', 'repetitions': 1, 'data': {'file': '1MB'}, 'tcp': {'tcp_congestion_control': 'cubic'},
            'network': {'hosts': {'server': {}, 'seed-1': {}, 'seed-2': {}, 'rival': {}, 'get': {}, 'other': {}}},
            'tools': [{'tool': 'gridtorrent', 'lanes': 4}, {'tool': 'iperf3', 'streams': 1, 'seconds': 5}]}
RIVAL = {'from': 'seed-1', 'to': 'rival', 'flows': 2, 'at_s': 1, 'until_s': 5}


def equal(found, wanted):
    cases.check(found == wanted, f'{found!r}, not {wanted!r}')


def refusal(**changes):
    scenario = {**copy.deepcopy(SCENARIO), **changes}
    try:
        wide_check.check({k: v for k, v in scenario.items() if v is not None})
    except wide_check.Wrong as e:
        cases.check('\n' not in str(e) and '; ' in str(e), f'not one line with a way out: {e}')
        return str(e)
    return ''


def a_wrong_scenario_gets_one_line_that_names_the_place():
    for changes, start in (({'rival': []}, 'scenario.rival: this key is unknown'), ({'title': None}, 'scenario.title: this is missing'),
                           ({'repetitions': '5'}, "scenario.repetitions: '5' is not a whole number"),
                           ({'network': {'hosts': {'server': {}, 'seed': {}}}}, 'network.hosts: nobody is "get"'),
                           ({'rivals': [{**RIVAL, 'to': 'nobody'}]}, 'rivals[0].to: there is no host "nobody"; there are server, seed-1'),
                           ({'rivals': [{**RIVAL, 'to': 'get'}]}, 'rivals[0].to: "get" fetches'),
                           ({'rivals': [{**RIVAL, 'to': 'seed-1'}]}, 'rivals[0].to: it is the host that the flow comes from'),
                           ({'rivals': [{**RIVAL, 'until_s': 1}]}, 'rivals[0].until_s: the rival ends before it begins'),
                           ({'rivals': [{**RIVAL, 'flows': 0}]}, 'rivals[0].flows: 0 is no number'),
                           ({'rivals': [{**RIVAL, 'flows': True}]}, 'rivals[0].flows: True is not a whole number'),
                           ({'rivals': [{**RIVAL, 'speed': 1}]}, 'rivals[0].speed: this key is unknown'),
                           ({'kills': [{'host': 'get', 'at_s': 1}]}, 'kills[0].host: "get" does not seed'),
                           ({'kills': [{'host': 'seed-9', 'at_s': 1}]}, 'kills[0].host: there is no host "seed-9"'),
                           ({'limits': ['moon']}, 'limits: "moon" is no word'), ({'cpu': {'rival': 0.2}}, 'cpu.rival: only a node'),
                           ({'cpu': {'get': 2}}, 'cpu.get: only a node'), ({'uploads': {'get': '8Mbit'}}, 'uploads.get: only the owner'),
                           ({'disk': {'other': 10e6}}, 'disk.other: only the disk'), ({'disk': {'get': '10MB'}}, 'disk.get: only the disk'),
                           ({'tcp_of': {'x': {}}}, 'tcp_of.x: there is no host'),
                           ({'tools': [{'tool': 'scp'}]}, 'tools[0].tool: there is no tool "scp"'),
                           ({'tools': [{'tool': 'gridtorrent', 'lane': 4}]}, 'tools[0].lane: this key is unknown'),
                           ({'tools': [{'tool': 'globus', 'lanes': 4}]}, 'tools[0].lanes: this key is unknown'),
                           ({'tools': [{'tool': 'gridtorrent', 'history': 'hot'}]}, 'tools[0].history: "hot" is none'),
                           ({'tools': [{'tool': 'gridtorrent_side_by_side', 'lanes': [1]}]}, 'tools[0].lanes: [1] says nothing of 2 hosts'),
                           ({'tools': [{'tool': 'iperf3', 'streams': 1, 'rivals': [{**RIVAL, 'from': 'x'}]}]}, 'tools[0].rivals[0].from: ')):
        cases.check(refusal(**changes).startswith(start), lambda c=changes, s=start: f'{c}: {refusal(**c)!r} does not begin with {s!r}')
    equal(refusal(rivals=[RIVAL], kills=[{'host': 'seed-2', 'at_s': 3}], limits=['loss'], cpu={'get': 0.2}, uploads={'seed-2': '8Mbit'}, disk={'get': 10e6}), '')


def every_scenario_that_is_kept_is_a_right_one():
    for name in wide.names():
        scenario = wide.load(name)
        labels = [wide.label(tool) for tool in scenario['tools']]
        cases.check(len(set(labels)) == len(labels), lambda n=name, l=labels: f'{n}: two tools have one label: {l}')


def a_broken_file_is_named():
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        before, wide.FOLDER = wide.FOLDER, pathlib.Path(folder)
        stack.callback(setattr, wide, 'FOLDER', before)
        (wide.FOLDER / 'wide').mkdir()
        (wide.FOLDER / 'wide/bad.json').write_text('{"rivals": []}')
        try:
            wide.load('bad')
        except SystemExit as e:
            cases.check(str(e).startswith('bad.json: scenario.title: this is missing'), f'{e}')
        else:
            raise AssertionError('a scenario without anything was taken')


def roles_go_by_name():
    hosts = SCENARIO['network']['hosts']
    equal((wide_check.seeders(hosts), wide_check.fetchers(hosts)), (['seed-1', 'seed-2'], ['get', 'other']))


HELP = """Options:
  --to DIR                  put it below this folder (default: here); not --tuner
  --lanes N                 parallel sockets to each seeder, 1 to 32 (default: auto)
  --seeders N               fetch from at most so many nodes at once
  --limit RATE              no faster than this
  -h, --help                show this help
"""


def an_option_that_the_program_lacks_is_named():
    equal(explained.missing({'tool': 'gridtorrent', 'lanes': 4, 'limit': '1Gbit'}, HELP), None)
    equal(explained.missing({'tool': 'gridtorrent', 'tuner': 'mc'}, HELP), ('tuner', '--tuner'))
    equal(explained.missing({'tool': 'gridtorrent', 'by_s': 60}, HELP), ('by_s', '--by'))


def subcommands_are_found_in_the_help_as_it_is_printed():
    program = explained.Program('/nonexistent')
    program.helped['tune',] = 'Transfers of this node:\n  tune list                 list …\n  tune explain ID           say what limits a transfer\n'
    equal([program.has('tune', word) for word in ('list', 'explain', 'history', 'limits')], [True, True, False, False])


def wishes_become_options_and_what_is_left_out_does_not():
    equal(explained.arguments({'lanes': 8, 'limit': None, 'by_s': 90, 'target_rate': '30Mbit'}),
          ['--lanes', '8', '--target-rate', '30Mbit', '--by', '90s'])
    equal(explained.arguments({}), [])


def a_tool_with_an_unknown_option_is_left_out_in_one_line():
    tools = [{'tool': 'gridtorrent', 'tuner': 'mc'}, {'tool': 'gridtorrent', 'lanes': 2}, {'tool': 'globus', 'parallelism': 1}]
    before, explained.Program.help = explained.Program.help, lambda *_: HELP
    try:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            found = wide.able(tools, '/nonexistent')
    finally:
        explained.Program.help = before
    equal(found, tools[1:])
    equal(said.getvalue(), '  NOT RUN: gridtorrent, mc, public: "tuner" needs --tuner, which this gridtorrent get lacks; build one that has it\n')


def labels_tell_tools_apart():
    for tool, wanted in (({'tool': 'gridtorrent'}, 'gridtorrent, auto, public'),
                         ({'tool': 'gridtorrent', 'lanes': 16, 'access': 'group:bench'}, 'gridtorrent, 16 lanes, group, TLS'),
                         ({'tool': 'gridtorrent', 'lanes': 5, 'seeders': 8}, 'gridtorrent, 5 lanes, 8 seeders, public'),
                         ({'tool': 'gridtorrent', 'tuner': 'pcp', 'history': 'warm'}, 'gridtorrent, pcp, warm, public'),
                         ({'tool': 'gridtorrent', 'target_rate': '30Mbit', 'by_s': 60, 'rivals': []},
                          'gridtorrent, auto, target 30Mbit, by 60 s, public, no rivals'),
                         ({'tool': 'gridtorrent', 'limit': '1Gbit', 'rivals': [{**RIVAL, 'flows': 4}]}, 'gridtorrent, auto, public, limit 1Gbit, 4 rivals'),
                         ({'tool': 'iperf3', 'streams': 1, 'congestion': 'bbr'}, 'iperf3 -P 1, bbr'),
                         ({'tool': 'gridtorrent_swarm', 'access': 'public'}, 'gridtorrent, public')):
        equal(wide.label(tool), wanted)


PRINTED = """[  5]   0.00-1.00   sec  1.25 MBytes  10484 Kbits/sec
[  8]   0.00-1.00   sec  1.25 MBytes  10484 Kbits/sec
[SUM]   0.00-1.00   sec  2.50 MBytes  20968 Kbits/sec
- - - - - - - - - - - - - - - - - - - - - - - - -
[SUM]   1.00-2.00   sec   640 KBytes  5000 Kbits/sec
[SUM]   1.00-2.00   sec  2.25 MBytes  18874 Kbits/sec
[ ID] Interval           Transfer     Bitrate
[SUM]   0.00-3.00   sec  7.25 MBytes  20271 Kbits/sec                  receiver
"""


def what_a_rival_got_is_read_from_what_iperf3_prints():
    equal(during.intervals(PRINTED, 2), [(0.0, 1.0, 20.968), (1.0, 2.0, 5.0)])
    equal(during.intervals(PRINTED, 1), [(0.0, 1.0, 10.484)])
    equal(during.intervals('', 1), [])


def a_rivals_rate_leaves_out_its_start_and_what_came_after_the_run():
    seconds = [(float(i), i + 1.0, 100.0 if i < 4 else 10.0 if i < 8 else 90.0) for i in range(12)]
    equal(during.mean_rate(seconds, 8), 10.0)
    equal(during.mean_rate(seconds, 10), 36.67)
    equal(during.mean_rate(seconds, 4), None)


CALM = {'dropped_unread': 0, 'late': 0.001, 'read_late': 0.0, 'idle': 0.4, 'busy': 1.2, 'tools': 0.8, 'cores': 0.3}


def log_lines_about_plans_are_kept_and_others_are_not():
    kept = ['planned 4 lanes', 'Tuner: grow 4 to 8', 'alice/data: lanes 8 → 16 at 120 Mbit/s, limited by loss: auto: 16 lanes', 'alice/data: limited by path: full']
    equal(explained.lines_of_tuning('\n'.join(['a lane is ready', *kept, 'an explanation'])), kept)


def a_bound_is_written_as_the_kernel_wants_it():
    folder = pathlib.Path('/group')
    equal([(f.name, t.format(quota=2000)) for f, t in cpu_bound.files_of(folder, 1)], [('cpu.cfs_period_us', '10000'), ('cpu.cfs_quota_us', '2000')])
    equal([(f.name, t.format(quota=2000)) for f, t in cpu_bound.files_of(folder, 2)], [('cpu.max', '2000 10000')])


def a_run_is_void_where_packets_were_late_or_others_took_the_machine():
    equal(lab.void_reason(CALM), None)
    equal(lab.void_reason({**CALM, 'cores': 0.9}), None)
    for figures, part in (({'late': 0.02}, '2.0 % of the packets'), ({'read_late': 0.02}, '2.0 % of the packets'),
                          ({'dropped_unread': 3}, 'dropped 3 packets'), ({'idle': 0.05, 'busy': 1.9, 'tools': 0.3}, '5 % idle')):
        cases.check(part in (lab.void_reason({**CALM, **figures}) or ''), lambda f=figures: f'{f}: {lab.void_reason({**CALM, **f})}')
    equal(lab.void_reason({**CALM, 'idle': 0.05, 'busy': 1.9, 'tools': 1.1}), None)  # the tools themselves wanted it


def settings_of_the_kernel_hold_for_a_bench_and_are_as_before_after_it():
    with tempfile.TemporaryDirectory() as folder:
        known, missing = pathlib.Path(folder, 'known'), pathlib.Path(folder, 'missing')
        known.write_text('9\n')
        with contextlib.suppress(ZeroDivisionError), kernel_settings.held(((missing, '1'), (known, '11'))) as held:
            equal((held, known.read_text()), ({'known': '11'}, '11'))
            raise ZeroDivisionError
        equal((known.read_text(), missing.exists()), ('9', False))


def memory_that_was_touched_is_free_again():
    with tempfile.TemporaryDirectory() as folder:
        kernel_settings.touch(pathlib.Path(folder), 3_000_000)
        equal(list(pathlib.Path(folder).iterdir()), [])


if __name__ == '__main__':
    cases.run(a_wrong_scenario_gets_one_line_that_names_the_place, every_scenario_that_is_kept_is_a_right_one, a_broken_file_is_named,
              roles_go_by_name, an_option_that_the_program_lacks_is_named, subcommands_are_found_in_the_help_as_it_is_printed, wishes_become_options_and_what_is_left_out_does_not,
              a_tool_with_an_unknown_option_is_left_out_in_one_line, labels_tell_tools_apart, what_a_rival_got_is_read_from_what_iperf3_prints,
              a_rivals_rate_leaves_out_its_start_and_what_came_after_the_run, log_lines_about_plans_are_kept_and_others_are_not,
              a_bound_is_written_as_the_kernel_wants_it, a_run_is_void_where_packets_were_late_or_others_took_the_machine,
              settings_of_the_kernel_hold_for_a_bench_and_are_as_before_after_it, memory_that_was_touched_is_free_again)
