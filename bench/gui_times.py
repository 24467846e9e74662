"""What the window writes of its own moments (GRIDTORRENT_EVENT_TIMES), and what that comes to."""
import bisect
import os
import pathlib
import threading
import time

MS = 1_000_000  # ns
STEP_NS = 100_000  # of the counts of events by processor time
TYPES = {1: 'Timer', 2: 'MouseButtonPress', 3: 'MouseButtonRelease', 6: 'KeyPress', 7: 'KeyRelease', 12: 'Paint', 31: 'Wheel', 43: 'MetaCall',
         76: 'LayoutRequest', 77: 'UpdateRequest'}  # of QEvent::Type


class Times:
    """One run of the window. Times are of CLOCK_MONOTONIC, durations in ns."""

    def __init__(self, path):
        self.moments, self.counts, self.slow = {}, {}, []
        for line in pathlib.Path(path).read_text().splitlines():
            word, *rest = line.split()
            if word == 'events':
                self.counts[int(rest[0])] = int(rest[1])
            elif word == 'slow':
                began, cpu, wall = map(int, rest[:3])
                self.slow.append({'began': began, 'cpu': cpu, 'wall': wall, 'what': f'{rest[3]} {TYPES.get(int(rest[4]), rest[4])}'})
            else:
                self.moments[word] = int(rest[0])

    def since(self, word, start):
        """Milliseconds from `start` to that moment."""
        assert self.moments.get(word, 0) > 0, f'the window did not write {word}'
        return (self.moments[word] - start) / MS


def events(runs):
    """Of several runs together: how many, the 99th percentile and the worst by processor time, in ms; those over 50 ms."""
    counts = {}
    for run in runs:
        for step, count in run.counts.items():
            counts[step] = counts.get(step, 0) + count
    total, seen, p99 = sum(counts.values()), 0, 0
    for step in sorted(counts):
        seen += counts[step]
        p99 = (step + 1) * STEP_NS / MS
        if seen >= 0.99 * total:
            break
    slow = [event for run in runs for event in run.slow]
    worst = max((event['cpu'] for event in slow), default=(max(counts) + 1) * STEP_NS)
    return {'events': total, 'p99_ms': round(p99, 1), 'worst_cpu_ms': round(worst / MS, 1),
            'over_16_ms': sum(count for step, count in counts.items() if step >= 160),
            'over_50_ms_cpu': [event for event in slow if event['cpu'] > 50 * MS],
            'over_50_ms_wall': [event for event in slow if event['wall'] > 50 * MS]}


class Waits:
    """Notes, until stopped, how long the machine's processors were stolen by its host, and how long a thread that could run waited for one."""

    def __init__(self, pid):
        self.file = pathlib.Path(f'/proc/{pid}/task/{pid}/schedstat')
        self.at, self.stolen, self.waited = [], [], []
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.sample)

    def sample(self):
        tick_ns = 1e9 / os.sysconf('SC_CLK_TCK')
        while not self.done.wait(0.02):
            try:
                waited = int(self.file.read_text().split()[1])
            except (FileNotFoundError, ProcessLookupError):
                return
            self.at.append(time.monotonic_ns())
            self.stolen.append(int(pathlib.Path('/proc/stat').read_text().split('\n')[0].split()[8]) * tick_ns)
            self.waited.append(waited)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def during(self, event):
        """Milliseconds stolen of all processors, and waited for one, from the last note before the event to the first one after it."""
        first = max(0, bisect.bisect_right(self.at, event['began']) - 1)
        last = bisect.bisect_left(self.at, event['began'] + event['wall'])
        if last >= len(self.at):
            return None
        return round((self.stolen[last] - self.stolen[first]) / MS), round((self.waited[last] - self.waited[first]) / MS)


def describe(event, waits):
    """A slow event in words, with what took the rest of its time."""
    text = f'{event["what"]}: {event["wall"] / MS:.0f} ms, {event["cpu"] / MS:.0f} of them on a processor'
    found = waits.during(event)
    return text if found is None else f'{text}; around it {found[0]} ms stolen by the host, {found[1]} ms waited for a processor'
