#!/usr/bin/env python3
"""What ./dev bench drawn draws and sums up. Runs are made up; nothing is measured."""
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / 'bench'
sys.path.append(str(BENCH))

import cases  # noqa: E402
import drawn  # noqa: E402
import held  # noqa: E402
import wide  # noqa: E402
import wide_check  # noqa: E402

LINKS = range(1, 301)


def equal(found, wanted):
    cases.check(found == wanted, f'{found!r}, not {wanted!r}')


def run(tool, rate, void=None):
    return {'tool': tool, 'mbit_s': rate, 'void': void}


def lanes(number):
    return {**drawn.AUTO, 'lanes': number}


def globus(number):
    return {'tool': 'globus', 'parallelism': number}


def a_seed_draws_the_same_link_each_time_and_others_draw_others():
    equal(drawn.draw(7), drawn.draw(7))
    equal(len({drawn.draw(seed)['title'] for seed in LINKS}), len(LINKS))


def what_is_drawn_is_a_scenario():
    for seed in LINKS:
        wide_check.check(drawn.draw(seed))


def links_that_hold_connections_are_scenarios():
    for name, scenario in held.LINKS.items():
        wide_check.check(scenario)
        cases.check(len(scenario['tools']) == 1 + len(held.LANES), name)
    equal(held.LINKS['shaped near']['network']['hosts']['seed']['flow'], '40Mbit')
    cases.check('flow' not in held.LINKS['near lossy']['network']['hosts']['seed'], 'no shaper where none is meant')


def links_data_and_seeders_are_within_what_the_emulator_and_memory_carry():
    for seed in LINKS:
        scenario = drawn.draw(seed)
        hosts = scenario['network']['hosts']
        link, round_trip_s, _ = wide.path_of(scenario)
        seeders = wide_check.seeders(hosts)
        cases.check(14e6 <= wide.bit_s(hosts['get']['down']) <= 900e6 and link <= 900e6, lambda s=scenario: s['title'])
        cases.check(0.0019 <= round_trip_s <= 0.21, lambda s=scenario: s['title'])
        cases.check(20e6 <= wide.size(scenario['data']['file']) <= 1500e6 and 1 <= len(seeders) <= 4, lambda s=scenario: s['title'])
        cases.check(len({host['address'] for host in hosts.values()}) == len(hosts), lambda s=scenario: s['title'])
        cases.check(all(wide.size(host['queue']) >= 60_000 for host in hosts.values() if 'queue' in host), lambda s=scenario: s['title'])


def every_kind_of_link_is_drawn():
    drawn_links = [drawn.draw(seed) for seed in LINKS]
    seeders = {len(wide_check.seeders(scenario['network']['hosts'])) for scenario in drawn_links}
    equal(seeders, {1, 2, 3, 4})
    for what in ('0.0000% loss', 'windows of', 'may use BBR'):
        share = sum(what in scenario['title'] for scenario in drawn_links) / len(LINKS)
        cases.check(0.15 < share < 0.5, lambda w=what, s=share: f'{w}: {s:.0%} of the links')


def ratios_are_to_the_best_of_what_counts():
    runs = [run(drawn.AUTO, 90), run(lanes(1), 30), run(lanes(16), 100), run(globus(4), 60), run(globus(8), 200, void='busy')]
    equal(drawn.ratios_of(runs), {'fixed': 0.9, 'GridFTP': 1.5})
    equal(drawn.ratios_of([run(drawn.AUTO, 90, void='busy'), *runs[1:]]), {})
    equal(drawn.ratios_of(runs[:3]), {'fixed': 0.9})


def the_summary_names_the_worst_link():
    found = {3: {'fixed': 0.9, 'GridFTP': 1.5}, 4: {'fixed': 1.0}, 5: {'fixed': 0.8}, 6: {}}
    equal(drawn.summary(found), ['auto : best fixed, of 3 links: median 0.90, worst 0.80 (link 5)',
                                 'auto : best GridFTP, of 1 links: median 1.50, worst 1.50 (link 3)'])
    equal(drawn.summary({}), [])


def it_stands_in_the_help_and_takes_no_other_scenario():
    done = subprocess.run([sys.executable, BENCH / 'run.py', '--help'], capture_output=True, text=True)
    cases.check('drawn: auto beside fixed lanes and GridFTP' in done.stdout, done)
    done = subprocess.run([sys.executable, BENCH / 'run.py', 'drawn', 'small'], capture_output=True, text=True)
    cases.check(done.returncode == 2 and 'unknown scenario drawn' in done.stderr, done)
    for name in ('drawn', 'held'):
        done = subprocess.run([sys.executable, BENCH / 'run.py', name, '--list'], capture_output=True, text=True)
        cases.check(done.returncode == 2 and '--list goes with tune' in done.stderr, done)


if __name__ == '__main__':
    cases.run(a_seed_draws_the_same_link_each_time_and_others_draw_others, what_is_drawn_is_a_scenario, links_that_hold_connections_are_scenarios,
              links_data_and_seeders_are_within_what_the_emulator_and_memory_carry, every_kind_of_link_is_drawn,
              ratios_are_to_the_best_of_what_counts, the_summary_names_the_worst_link, it_stands_in_the_help_and_takes_no_other_scenario)
