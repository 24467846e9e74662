#!/usr/bin/env python3
"""What bench/gui.py makes of the moments that the window writes. They are made up."""
import pathlib
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'bench'))

import cases  # noqa: E402
import gui_times  # noqa: E402


def times(text):
    with tempfile.NamedTemporaryFile('w') as file:
        file.write(text)
        file.flush()
        return gui_times.Times(file.name)


def a_window_that_painted_nothing_is_refused():
    try:
        times('first-paint-ns 0\n').since('first-paint-ns', 0)
    except AssertionError as error:
        cases.check('did not write first-paint-ns' in str(error), error)
        return
    raise AssertionError('a window without a picture has a time')


def moments_count_from_the_start():
    run = times('first-paint-ns 7000000\nfirst-answer-ns 8500000\n')
    cases.check(run.since('first-answer-ns', 5_000_000) == 3.5, run.moments)


def the_worst_one_in_a_hundred_counts_over_all_windows():
    found = gui_times.events([times('events 0 980\nevents 159 5\n'), times('events 20 10\nevents 160 5\n')])
    cases.check(found['events'] == 1000 and found['p99_ms'] == 2.1 and found['over_16_ms'] == 5, found)


def an_event_is_slow_by_either_clock():
    found = gui_times.events([times('events 0 1\nevents 510 1\nslow 1 51000000 51000000 A 77\nslow 2 0 60000000 B 31\n')])
    cases.check(found['worst_cpu_ms'] == 51.0, found)
    cases.check([event['what'] for event in found['over_50_ms_cpu']] == ['A UpdateRequest'], found)
    cases.check([event['what'] for event in found['over_50_ms_wall']] == ['A UpdateRequest', 'B Wheel'], found)


cases.run(a_window_that_painted_nothing_is_refused, moments_count_from_the_start, the_worst_one_in_a_hundred_counts_over_all_windows,
          an_event_is_slow_by_either_clock)
