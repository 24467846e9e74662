"""Figures of single runs that the rows of ./dev bench tune are judged by. Each takes a run as it is kept, and is None where the run lacks it.

Rates are in Mbit/s of payload. A run's series is [seconds since the start of the command, bytes at the receiver's link].
"""
import statistics

PAYLOAD = 1448 / 1500  # as wide.PAYLOAD
BAND = 0.05  # a target is held within ± 5 %
SAID_S = 15  # so early has to be said that a wish cannot be kept
WORD_S = 20  # so far into a transfer its word is judged
WINDOW_S = 5  # over which a rate is compared with a target, a floor, or an optimum after a change


def whole(run):
    return run['mbit_s']


def steady(run):
    return run['steady_mbit_s']


def cpu_per_gb(run):
    """Seconds of a core that the daemons of all hosts took."""
    return run['cpu_s_per_gb']


def at_bytes(series, wanted):
    """When so many bytes had come, between two looks in proportion."""
    before = (0.0, 0)
    for t, got in series:
        if got >= wanted:
            return before[0] + (t - before[0]) * (wanted - before[1]) / max(1, got - before[1])
        before = (t, got)
    return series[-1][0]


def last_third(run):
    """The rate of the last third of the bytes: what a search has come to."""
    series = run['series']
    if not series or series[-1][1] <= 0:
        return None
    end = series[-1][1]
    took = at_bytes(series, end) - at_bytes(series, end * 2 / 3)
    return end / 3 * 8 * PAYLOAD / took / 1e6 if took > 0 else None


def end_lanes(run):
    """Median of the lanes that carried data in the last third of the time, the last look left out: lanes run dry there."""
    lanes = run['figures'].get('lanes')
    if not lanes or len(lanes) < 4:
        return None
    inner = [n for t, n, _ in lanes[:-1] if t >= lanes[-1][0] * 2 / 3]
    return statistics.median(inner) if inner else None


def end_lanes_of(run, seeders):
    """The most lanes that carried data from any of these, by address, likewise."""
    lanes = run['figures'].get('lanes_at_the_end')
    return max((lanes.get(seeder, 0) for seeder in seeders), default=None) if lanes else None


def resent_per_gb(run):
    """Bytes that all hosts sent again, for each GB of data."""
    sent = [c['bytes_retransmitted'] for c in run['checks'] if 'bytes_retransmitted' in c]
    return sum(sent) / (run['bytes'] / 1e9) if sent else None


def received_twice(run):
    """As a share of the data."""
    twice = run['figures'].get('redundant_bytes')
    return None if twice is None else twice / run['bytes']


def of_rival(run):
    rivals = run['figures'].get('rivals') or []
    return rivals[0]['mbit_s'] if rivals else None


def jain(run):
    """Of those that fetched side by side, once they had settled: 1 where all got the same."""
    shares = run['figures'].get('settled_shares')
    return sum(shares) ** 2 / (len(shares) * sum(s * s for s in shares)) if shares and any(shares) else None


def rate_between(series, start, end):
    """Mbit/s of payload, between looks in proportion; None where the run was shorter."""
    if not series or series[-1][0] < end or end <= start:
        return None

    def got(t):
        before = (0.0, 0)
        for at, so_far in series:
            if at >= t:
                return before[1] + (so_far - before[1]) * (t - before[0]) / max(1e-9, at - before[0])
            before = (at, so_far)
        return before[1]
    return (got(end) - got(start)) * 8 * PAYLOAD / (end - start) / 1e6


def recovered_s(series, event_s, wanted_mbit, hold_s=3):
    """Seconds after an event until a rate was reached and held for `hold_s`; None where it never was."""
    end, step = series[-1][0] if series else 0, 0.5
    after = 0.0
    while event_s + after + hold_s <= end:
        if rate_between(series, event_s + after, event_s + after + hold_s) >= wanted_mbit:
            return after
        after += step
    return None


def windows(series, from_s):
    """[Mbit/s] of the WINDOW_S long windows, one after the other, from then to the end."""
    end, found = (series[-1][0] if series else 0), []
    while from_s + WINDOW_S <= end:
        found.append(rate_between(series, from_s, from_s + WINDOW_S))
        from_s += WINDOW_S
    return found


def mbit(text):
    number = float(text.removesuffix('Gbit').removesuffix('Mbit').removesuffix('kbit'))
    return number * {'G': 1e3, 'M': 1, 'k': 1e-3}[text[-4]]


def target_error(run, settled_s=10):
    """Mean distance from the rate that was asked for, as a share of it, from the tenth second on."""
    if 'target_rate' not in run['tool']:
        return None
    target, found = mbit(run['tool']['target_rate']), windows(run['series'], settled_s)
    return sum(abs(rate - target) for rate in found) / len(found) / target if found else None


def above_target(run, settled_s=10):
    """How many windows were above the band."""
    if 'target_rate' not in run['tool']:
        return None
    return sum(rate > mbit(run['tool']['target_rate']) * (1 + BAND) for rate in windows(run['series'], settled_s))


def floor_held(run, settled_s=10):
    """The share of windows that were not below the least rate that was asked for."""
    if 'min_rate' not in run['tool']:
        return None
    found = windows(run['series'], settled_s)
    return sum(rate >= mbit(run['tool']['min_rate']) for rate in found) / len(found) if found else None


def shortfall_error(run):
    """How far what the node said SAID_S in lacks of a target that the path cannot carry is from what lacked, as a share of the latter; 1 where
    it said nothing, or that the target is held."""
    said = run['figures'].get('target')
    if 'target_rate' not in run['tool'] or said is None or not run['steady_mbit_s']:
        return None
    lacked = 1 - run['steady_mbit_s'] / mbit(run['tool']['target_rate'])
    held, lacks = next(((held, lacks) for t, held, lacks in reversed(said) if t <= SAID_S), (True, 0))
    return 1.0 if held or lacked <= 0 else abs(lacks / lacked - 1)


def in_time(run):
    """1 where the deadline was kept, else 0."""
    return float(run['seconds'] <= run['tool']['by_s']) if 'by_s' in run['tool'] else None


def estimate_error(run):
    """How far the time that `estimate` said was from that of the get that followed it, as a share of the latter."""
    said = run['figures'].get('estimate')
    return abs(said['likely_ms'] / 1000 / run['seconds'] - 1) if said and run['seconds'] else None


def word(run):
    """What the node said limits the transfer, 20 s in; None where it said nothing. Without samples: the last that it said."""
    decisions = run['figures'].get('decisions') or {}
    explained = decisions.get('explain') or decisions
    samples = explained.get('samples')
    asked = min(samples, key=lambda sample: abs(sample['at_ms'] / 1000 - WORD_S)) if samples else explained
    return asked.get('limit_word')


def confusion(runs, truth):
    """{(true words, said word): runs}, the share that was right, and that of each truth; `truth` maps a run to its words, or None. Runs that
    said nothing count as "unknown"; those of less than 20 s said nothing yet, and are left out."""
    table = {}
    for run in runs:
        words = truth(run)
        if words and run['seconds'] and run['seconds'] >= WORD_S and not run['void']:
            key = ('/'.join(words), word(run) or 'unknown')
            table[key] = table.get(key, 0) + 1
    runs_of, right_of = {}, {}
    for (words, said), n in table.items():
        runs_of[words] = runs_of.get(words, 0) + n
        right_of[words] = right_of.get(words, 0) + (n if said in words.split('/') else 0)
    right = sum(right_of.values()) / sum(runs_of.values()) if table else None
    return table, right, {words: right_of[words] / n for words, n in runs_of.items()}
