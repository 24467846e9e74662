"""./dev bench --against BIN_DIR: another build's programs in turn with this one's, in any scenario.

A round runs the scenario once with each build; which one comes first changes from round to round. Each figure of this build is
divided by the other build's of the same round, and the median of these ratios counts: what the machine does beside the bench
meets both builds alike. On a wide area both builds meet the same losses in a round, and only our own programs run, no peers.
"""
import argparse
import json
import pathlib
import statistics
import time

import wide

ROUNDS = 5
BUILDS = ('this', 'other')


def build_folder(text):
    folder = pathlib.Path(text)
    for program in ('gridtorrent', 'gridtorrentd', 'gridtorrent-server'):
        if not (folder / program).exists():
            raise argparse.ArgumentTypeError(f'{folder} holds no {program}: name the bin folder of another build, as ../other/build/release/bin')
    return folder.resolve()


def numbers(figures, name=''):
    """The numbers in nested figures by their place, as {'one.seconds': 3.2}; lists and texts are passed over."""
    found = {}
    for key, value in figures.items():
        place = f'{name}.{key}' if name else str(key)
        if isinstance(value, dict):
            found.update(numbers(value, place))
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found[place] = value
    return found


def ratios(rounds):
    """Of [{'this': {place: number}, 'other': {...}}]: by place the ratios this : other of the rounds that have both."""
    found = {}
    for both in rounds:
        for place, mine in both['this'].items():
            if theirs := both['other'].get(place):
                found.setdefault(place, []).append(mine / theirs)
    return found


def say(found):
    width = max(map(len, found), default=0)
    for place, values in found.items():
        print(f'  {place:{width}}  this : other {statistics.median(values):.3f}  [{min(values):.3f} to {max(values):.3f}], {len(values)} rounds')
    if not found:
        print('  no round of both builds counts')


def in_one_run(scenario):
    """A scenario of scenarios.py as a function (args, build, round) -> numbers."""
    return lambda args, build, number: numbers(scenario(args))


def over_distance(name, about, folder, emulator):
    """A scenario of bench/wide as such a function; one emulator serves both builds."""
    def once(args, build, number):
        args.results, args.runs = folder / build, number + 1
        wide.run(name, args, {**about, 'commit': build},
                 only=lambda tool: tool['tool'].startswith('gridtorrent'), emulator=emulator)
        lines = [json.loads(line) for line in (args.results / f'{name}.jsonl').read_text().splitlines()]
        counted = [line for line in lines if line['repeat'] == number and not line['void']]
        return {place: value for line in counted
                for place, value in numbers({line['label']: {k: line[k] for k in ('seconds', 'steady_mbit_s', 'cpu_s_per_gb')}}).items()}
    return once


def run(once, args):
    """Rounds of both builds; the figures of each round."""
    builds = {'this': args.bin, 'other': args.against}
    rounds = []
    for number in range(args.runs or ROUNDS):
        both = {}
        for build in BUILDS if number % 2 == 0 else BUILDS[::-1]:
            print(f'  round {number + 1}, {build} build ({builds[build]})', flush=True)
            both[build] = once(argparse.Namespace(**{**vars(args), 'bin': builds[build], 'runs': 1}), build, number)
        rounds.append(both)
    say(ratios(rounds))
    return {'against': str(args.against), 'rounds': rounds, 'ratios': ratios(rounds)}


def results_folder(root):
    folder = root / f'against-{int(time.time())}'
    folder.mkdir()
    return folder
