#!/usr/bin/env python3
"""`./dev bench --against`: both builds take turns, figures of one round are compared, and a wrong folder is refused. Runs are made up."""
import argparse
import contextlib
import io
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / 'bench'
sys.path.append(str(BENCH))

import against  # noqa: E402
import cases  # noqa: E402


def a_folder_without_programs_is_refused():
    done = subprocess.run([sys.executable, BENCH / 'run.py', '--against', '/nonexistent', 'swarm'], capture_output=True, text=True)
    cases.check(done.returncode == 2 and '/nonexistent holds no gridtorrent' in done.stderr, done.stderr)


def builds_take_turns_and_the_median_of_the_rounds_ratios_counts():
    seconds = {('mine', 0): 9, ('theirs', 0): 10, ('mine', 1): 20, ('theirs', 1): 10, ('mine', 2): 8, ('theirs', 2): 10}
    order = []

    def once(args, build, number):
        order.append((args.bin, number, args.runs))
        return {'get.seconds': seconds[args.bin, number]}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        figures = against.run(once, argparse.Namespace(bin='mine', against='theirs', runs=3))
    cases.check(order == [('mine', 0, 1), ('theirs', 0, 1), ('theirs', 1, 1), ('mine', 1, 1), ('mine', 2, 1), ('theirs', 2, 1)], order)
    cases.check(figures['ratios'] == {'get.seconds': [0.9, 2.0, 0.8]}, figures)
    cases.check('get.seconds  this : other 0.900  [0.800 to 2.000], 3 rounds' in said.getvalue(), said.getvalue())


def a_round_that_one_build_lacks_is_left_out():
    rounds = [{'this': {'a': 1}, 'other': {}}, {'this': {'a': 3}, 'other': {'a': 2}}, {'this': {'a': 3}, 'other': {'a': 0}}]
    cases.check(against.ratios(rounds) == {'a': [1.5]}, against.ratios(rounds))


def nested_figures_are_compared_by_their_place():
    found = against.numbers({'bytes': 5, 'one': {'seconds': 2.5, 'name': 'x', 'series': [1, 2]}, 'whole': True})
    cases.check(found == {'bytes': 5, 'one.seconds': 2.5}, found)


if __name__ == '__main__':
    cases.run(a_folder_without_programs_is_refused, builds_take_turns_and_the_median_of_the_rounds_ratios_counts,
              a_round_that_one_build_lacks_is_left_out, nested_figures_are_compared_by_their_place)
