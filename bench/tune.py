"""./dev bench tune [ROW...]: what the tuner has to show, row by row.

Each row runs a scenario of bench/wide. Where plans are compared, two rounds find the two best fixed plans and the best static GridFTP;
then what nobody chose runs beside these in five rounds with other losses, over TLS in three. Runs are kept in bench/results/tune; a call
goes on where the last one stopped, and ends after --minutes (default: 30). Rows that were complete at an earlier commit stand with it,
unless they are named: by number, by scenario, or by both, as 12/tune-wan. Medians of the ratios of one round count, with quartiles; a bar
that lies between these is `unsure`.
"""
import pathlib
import time

import cpu_bound
import lab
import quiet
import tune_figures
import tune_plan
import tune_rows
import wide

A_RUN_S = 60  # what a run that was never made is taken to last, to end in time


def results_of(args, row):
    return pathlib.Path(args.results) / 'tune' / f'{row.scenario}.jsonl'


def rounds_of(row, args):
    rounds = args.runs or row.rounds
    return rounds, min(rounds, tune_rows.TLS_ROUNDS)


class State:
    """Of one row: its tools, as far as the programs can run them, and the runs that count for it."""

    def __init__(self, row, args, machine):
        self.row, self.args, self.machine, self.scenario = row, args, machine, wide.load(row.scenario)
        self.wanted = tune_rows.candidates(row, self.scenario)
        self.lacking = wide.lacking(self.wanted.always, args.bin)
        self.tools = tune_plan.Tools(self.wanted.fixed, self.wanted.peers, tuple(t for t in self.wanted.always if not any(
            t is unable for unable, _, _ in self.lacking)), self.wanted.tls)
        self.kept = of_machine(wide.kept(results_of(args, row)), machine)
        self.runs, self.commit = chosen(self.kept, machine['commit'], self.complete)

    def complete(self, runs):
        return tune_plan.next_run(self.tools, runs, *rounds_of(self.row, self.args)) is None

    def left(self):
        return tune_plan.left(self.tools, self.runs, *rounds_of(self.row, self.args))

    def stands(self):
        """Complete, at an earlier commit."""
        return self.commit != self.machine['commit']

    def begin_anew(self):
        """At this commit, with what was begun there."""
        self.runs, self.commit = self.kept.get(self.machine['commit'], []), self.machine['commit']


def of_machine(kept, machine):
    """Commit → its runs on this machine, the oldest first."""
    by_commit = {}
    for run in kept:
        if wide.same_machine({**run['machine'], 'commit': None}, {**machine, 'commit': None}):
            by_commit.setdefault(run['machine']['commit'], []).append(run)
    return by_commit


def chosen(by_commit, commit, complete):
    """(runs, commit): of this commit if the row is complete there, or never was; else of the newest at which it was.

    Rows share scenarios, so runs of this commit may be another row's.
    """
    whole = [c for c in (commit, *reversed(by_commit)) if complete(by_commit.get(c, []))]
    best = whole[0] if whole else commit
    return by_commit.get(best, []), best


def names_of(row):
    return row.number, row.scenario, f'{row.number}/{row.scenario}'


def wanted_rows(names):
    """Rows by number, scenario or both; without names all of them."""
    for name in names:
        if name in tune_rows.ELSEWHERE:
            raise SystemExit(f'row {name} is measured elsewhere: {tune_rows.ELSEWHERE[name]}')
        if not any(name in names_of(row) for row in tune_rows.ROWS):
            known = dict.fromkeys(word for row in tune_rows.ROWS for word in names_of(row)[:2])
            raise SystemExit(f'there is no row {name}; there are {", ".join(known)}, or both, as {"/".join(names_of(tune_rows.ROWS[0])[:2])}')
    return [row for row in tune_rows.ROWS if not names or any(name in names_of(row) for name in names)]


def length_of(runs, tool):
    """Seconds that a run is likely to take: the longest of this tool, else of any."""
    own = [r['series'][-1][0] for r in runs if r['series'] and r['tool'] == tool]
    return max(own or [r['series'][-1][0] for r in runs if r['series']] or [A_RUN_S])


def go_on(state, deadline):
    """Runs what is left of a row; whether that is all of it."""
    row, args = state.row, state.args
    rounds = rounds_of(row, args)
    try:
        with wide.Session(row.scenario, state.scenario, args, state.machine, results_of(args, row)) as session:
            while (step := tune_plan.next_run(state.tools, state.runs, *rounds)) is not None:
                if time.monotonic() + length_of(state.runs, step[1]) > deadline:
                    return False
                state.runs.append(session.run(*step))
                if tune_plan.host_stole(state.runs[-1]):
                    quiet.wait(deadline)
    except cpu_bound.Unable as e:
        print(f'  SKIPPED: {row.scenario}: {e}', flush=True)
    return True


def lines_about(state):
    """What a row's runs say, bar by bar."""
    row, lines = state.row, []
    for bar in row.bars:
        found, verdict = tune_rows.judged(row, bar, state.tools, state.runs)
        asked = f'≥ {bar.least:g}' if bar.least is not None else f'≤ {bar.most:g}'
        figure = f'{found.median:.3f} [{found.low:.3f} to {found.high:.3f}], {found.count} rounds' if found else 'no runs'
        lines.append(f'    {verdict:6} {bar.text}: {figure} (asked: {asked})')
    return lines + ([f'    not judged here: {row.open}'] if row.open else [])


def picks(state):
    kept = tune_plan.first_pass(state.runs)
    named = [*tune_plan.best(state.tools.fixed, kept, 2), *tune_plan.best(state.tools.peers, kept)]
    return ', '.join(f'{wide.label(t)} {tune_plan.rate(kept, t):.0f} Mbit/s' for t in named)


def show(state):
    row, left = state.row, state.left()
    what = f'{left} runs to do' if left else 'nothing that can run' if not state.runs else f'complete{f" at commit {state.commit}" if state.stands() else ""}'
    if state.lacking:
        options = ', '.join(dict.fromkeys(option for _, _, option in state.lacking))
        what += f'; {len(state.lacking)} of its tools CANNOT RUN: this gridtorrent get lacks {options}'
    print(f'  {row.number:3} {row.scenario}{" (gate)" if row.gate else ""}: {what}', flush=True)
    if state.runs:
        if row.grid and picks(state):
            print(f'    best so far in the first pass: {picks(state)}')
        print('\n'.join(lines_about(state)) or '    no bars', flush=True)


def show_words(states):
    truth = {}
    for state in states:
        for run in state.runs:
            truth[id(run)] = run['tool'].get('limits', state.scenario.get('limits'))
    table, right, right_of = tune_figures.confusion([r for s in states for r in s.runs if r['tool']['tool'] == 'gridtorrent' and 'lanes' not in r['tool']],
                                          lambda run: truth[id(run)])
    for (words, said), count in sorted(table.items()):
        print(f'    {words:20} was called {said:14} {count} times')
    if table:
        each = ', '.join(f'{words} {share:.0%}' for words, share in sorted(right_of.items()))
        print(f'    right in {right:.0%} of {sum(table.values())} runs (asked: 90 %), by the true word: {each} (asked: 75 %)')


def run(names, args, machine):
    """Goes on with the rows that are named, or with all; prints what stands."""
    rows = wanted_rows(names)
    states = [State(row, args, machine) for row in rows]
    if not args.list:
        lab.require_root()
        minutes = args.minutes or 30
        deadline = time.monotonic() + 60 * minutes
        for state in states:
            if names and state.stands():
                state.begin_anew()
            if state.left() == 0:
                continue
            print(f'\n== row {state.row.number}, {state.row.scenario}: {state.scenario["title"]}', flush=True)
            if not go_on(state, deadline):
                print(f'  {minutes:g} minutes are over, or would be with the next run; the same command goes on from here')
                break
    print('\nRows:')
    for state in states:
        show(state)
    show_words(states)
    if not names:
        for number, why in tune_rows.ELSEWHERE.items():
            print(f'  {number:3} {why}')
