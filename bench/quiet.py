"""Waiting until the host of this virtual machine leaves its processors alone. It steals in bursts of minutes, and only from who is busy, so
that nothing is seen of it without load.
"""
import multiprocessing
import os
import time

import lab

PROBE_S = 5  # how long all processors are kept busy to see it
QUIET = 0.01  # of their time; of 33 runs of tune-wan with at most that much stolen 4 had too many late packets, of 5 with more all
PAUSE_S = 15
MOST_S = 300  # then the next run is tried all the same


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def stolen():
    """Part of all processors that the host takes now; lasts PROBE_S."""
    before = lab.processor_ticks()
    loops = [multiprocessing.Process(target=spin, args=(PROBE_S,)) for _ in range(os.cpu_count())]
    for loop in loops:
        loop.start()
    for loop in loops:
        loop.join()
    ticks = [b - a for a, b in zip(before, lab.processor_ticks())]
    return ticks[7] / max(1, sum(ticks))


def wait(deadline, share=stolen, clock=time.monotonic, sleep=time.sleep):
    """Until little is stolen, MOST_S or `deadline` are over; the last share that was seen."""
    end = min(deadline, clock() + MOST_S)
    while (found := share()) > QUIET and clock() + PAUSE_S < end:
        print(f'    the host steals {found:.0%} of the processors; the next run waits', flush=True)
        sleep(PAUSE_S)
    return found
