"""What ./dev bench tune decides, without doing it: which run is next, which plans are the best, what ratios say. Runs are lines of
bench/results/tune/SCENARIO.jsonl, as wide.record() makes them.

The first pass finds the best fixed plans and the best static GridFTP; the second pairs what nobody chose with them, with other losses,
so that no plan is compared by the runs that it was chosen by.
"""
import dataclasses
import statistics

FIRST_PASS_ROUNDS = 2
SECOND_PASS = 100  # the number of its first round: losses are drawn by it, so those of the first pass do not come again
MOST_VOID = 3  # so often one run is tried; a machine that is busy all the time would keep it up for ever
MOST_STOLEN = 8  # so often, where the host stole: that passes, and a run waits for it (quiet.py)
STOLEN = 0.01  # of the CPU; measured as quiet.QUIET
# A fixed plan is left out where the next one, with more lanes, came to less than this part of the best. Fewer lanes carry less where
# packets are lost or windows are small, and elsewhere no plan comes to so little; what is left out would take the most time of all.
HOPELESS = 0.6


def counted(runs, tool, repeat=None):
    return [r for r in runs if r['tool'] == tool and not r['void'] and repeat in (None, r['repeat'])]


def host_stole(run):
    """The run is void, and the host of this virtual machine took processors from it meanwhile."""
    return bool(run['void']) and run.get('emulator', {}).get('steal', 0) > STOLEN


def given_up(runs, tool, repeat):
    void = [r for r in runs if r['tool'] == tool and r['repeat'] == repeat and r['void']]
    return sum(1 for r in void if not host_stole(r)) >= MOST_VOID or len(void) >= MOST_STOLEN


def over(runs, tool, repeat):
    """Nothing is left to do for this run: it counts, or it was void too often."""
    return bool(counted(runs, tool, repeat)) or given_up(runs, tool, repeat)


def first_pass(runs):
    return [r for r in runs if r['repeat'] < SECOND_PASS]


def second_pass(runs):
    return [r for r in runs if r['repeat'] >= SECOND_PASS]


def rate(runs, tool):
    """Median of whole transfers in Mbit/s; None where no run counts."""
    found = [r['mbit_s'] for r in counted(runs, tool) if r['mbit_s']]
    return statistics.median(found) if found else None


def hopeless(tool, fixed, runs):
    """Whether a fixed plan need not be run: see HOPELESS. Plans of other numbers of seeders say nothing about it."""
    alike = [t for t in fixed if t.get('seeders') == tool.get('seeders') and t['lanes'] > tool['lanes']]
    if not alike:
        return False
    nearest = min(alike, key=lambda t: t['lanes'])
    if hopeless(nearest, fixed, runs):
        return True
    best = max((rate(runs, t) or 0 for t in fixed), default=0)
    return rate(runs, nearest) is not None and rate(runs, nearest) < HOPELESS * best


def best(tools, runs, count=1):
    """Those with the highest median rate, the highest first."""
    return sorted((t for t in tools if rate(runs, t)), key=lambda t: rate(runs, t), reverse=True)[:count]


@dataclasses.dataclass(frozen=True)
class Tools:
    """What one scenario compares: `fixed` and `peers` are chosen from, `always` are in every round of the second pass."""
    fixed: tuple = ()
    peers: tuple = ()
    always: tuple = ()
    tls: bool = False


def over_tls(tool):
    return {**tool, 'access': 'group:bench'}


def next_of_first_pass(tools, runs):
    """(repeat, tool), or None: the first pass is over. Many lanes come first, so that few may be left out."""
    kept = first_pass(runs)
    for repeat in range(FIRST_PASS_ROUNDS):
        for tool in (*sorted(tools.fixed, key=lambda t: -t['lanes']), *tools.peers):
            if not over(kept, tool, repeat) and not (tool in tools.fixed and hopeless(tool, tools.fixed, kept)):
                return repeat, tool
    return None


def paired(tools, runs):
    """What runs side by side in the second pass; over TLS those that speak it."""
    kept = first_pass(runs)
    plain = [*tools.always, *best(tools.fixed, kept, 2), *best(tools.peers, kept)]
    plain = [tool for i, tool in enumerate(plain) if tool not in plain[:i]]
    encrypted = [over_tls(tool) for tool in plain if tool['tool'] == 'gridtorrent'] if tools.tls else []
    return plain, encrypted


def next_of_second_pass(tools, runs, rounds, tls_rounds):
    plain, encrypted = paired(tools, runs)
    kept = second_pass(runs)
    for number in range(max(rounds, tls_rounds if encrypted else 0)):
        turn = [*(plain if number < rounds else []), *(encrypted if number < tls_rounds else [])]
        for tool in turn if number % 2 == 0 else turn[::-1]:
            if not over(kept, tool, SECOND_PASS + number):
                return SECOND_PASS + number, tool
    return None


def next_run(tools, runs, rounds, tls_rounds=0):
    """(repeat, tool) that is to run next, or None where all is done."""
    if tools.fixed or tools.peers:
        first = next_of_first_pass(tools, runs)
        if first:
            return first
    return next_of_second_pass(tools, runs, rounds, tls_rounds)


def left(tools, runs, rounds, tls_rounds=0):
    """How many runs are left if all of them count, as far as can be said: before the first pass is over, plans may drop out."""
    runs, count = list(runs), 0
    while (step := next_run(tools, runs, rounds, tls_rounds)) is not None:
        runs.append({'repeat': step[0], 'tool': step[1], 'void': None, 'mbit_s': rate(runs, step[1]) or 1.0})
        count += 1
    return count


# What ratios say

@dataclasses.dataclass(frozen=True)
class Ratios:
    """Of paired runs: median, quartiles, and how many."""
    median: float
    low: float
    high: float
    count: int


def summary(values):
    """None where there are none."""
    if not values:
        return None
    quartiles = statistics.quantiles(values, n=4, method='inclusive') if len(values) > 1 else [values[0]] * 3
    return Ratios(statistics.median(values), quartiles[0], quartiles[2], len(values))


def ratios(runs, tool, other, figure):
    """Of the rounds in which both count and have the figure."""
    found = []
    for mine in counted(runs, tool):
        theirs = counted(runs, other, mine['repeat'])
        a, b = figure(mine), figure(theirs[0]) if theirs else None
        if a is not None and b:
            found.append(a / b)
    return summary(found)


def verdict(found, least=None, most=None, rounds=1):
    """`few`: fewer rounds than asked for; `met` and `missed`: by the median, and beyond the quartiles; `unsure`: the bar is within them."""
    if found is None or found.count < rounds:
        return 'few'
    if least is not None:
        return 'met' if found.low >= least else 'missed' if found.high < least else 'unsure'
    return 'met' if found.high <= most else 'missed' if found.low > most else 'unsure'


def fewest_lanes(tools, runs, figure, share):
    """The fewest lanes in use at the end among fixed plans whose figure is at least that share of the best one's; None without runs."""
    reached = {}
    for tool in tools:
        values = [v for v in (figure(r) for r in counted(runs, tool)) if v]
        if values:
            reached[tool['lanes'] * tool.get('seeders', 1)] = statistics.median(values)
    highest = max(reached.values(), default=0)
    return min((lanes for lanes, value in reached.items() if value >= share * highest), default=None)
