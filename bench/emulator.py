"""What voids a run on the emulated wide area: how far rates and round trips go wrong when the machine has no processor left.

Two things are known in advance. A get that fills its link has the link's rate. Flows limited by their own window have the rate
window / round trip, as long as nothing queues. What either gets beside busy loops, divided by what it gets beside none, tells how wrong
a measured rate would be; what the emulator and the kernel count meanwhile is what lab.void_reason() has to tell it by.
"""
import contextlib
import re
import shutil
import statistics
import subprocess
import sys
import threading

import data
import lab
import ours
from peers import common, iperf3

# Of each link: Mbit/s, one-way delay of each end in ms, flows, the window of each in kB (a third of the link stays free), MB for a get.
LINKS = {'1000 Mbit/s, 50 ms, 16 flows': (1000, 12.5, 16, 128, 500), '200 Mbit/s, 60 ms, 12 flows': (200, 15, 12, 48, 120),
         '100 Mbit/s, 40 ms, 9 flows': (100, 10, 9, 20, 60), '2500 Mbit/s, 20 ms, 64 flows': (2500, 5, 64, 64, 0)}
BUSY_LOOPS = (0, 1, 2, 4)
SECONDS, OMITTED_S = 6, 2


@contextlib.contextmanager
def busy(loops):
    """Programs that want all of a processor each, as a build on the same machine does."""
    started = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(loops)]
    try:
        yield
    finally:
        for loop in started:
            loop.kill()
            loop.wait()


class RoundTrips(threading.Thread):
    """What TCP measured at the sending host, twice a second, in ms."""

    def __init__(self, host):
        super().__init__(daemon=True)
        self.host, self.done, self.seen = host, threading.Event(), []

    def run(self):
        common.enter(self.host)
        while not self.done.wait(0.5):
            shown = subprocess.run(['ss', '-tinHO', 'state', 'established', f'dport = :{iperf3.PORT}'], capture_output=True, text=True).stdout
            self.seen += [float(m[1]) for line in shown.splitlines() if 'bytes_sent' in line for m in [re.search(r'\brtt:([\d.]+)/', line)] if m]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.join()


def held_by_window(net, flows, window_kb, round_trip_ms):
    with RoundTrips(net['seed']) as trips, net.watch() as watch:
        run = iperf3.measure(net['get'], net['seed'], flows, SECONDS, omit_s=OMITTED_S, congestion='cubic', window=f'{window_kb}K')
    watch.judge(run.cpu_s)
    seen = [ms for ms in trips.seen if ms >= 0.9 * round_trip_ms]  # not the connection for its reports
    return {'mbit_s': run.figures['steady_bit_s'] / 1e6, 'rtt_ms': statistics.median(seen) if seen else None, **watch.figures}


def filled_by_a_get(net, gt, source, lanes):
    with net.watch() as watch:
        run = gt.get(source, 'data', gt.scene.dir / 'got', verify=False, lanes=lanes)
    watch.judge(run.cpu_s)
    shutil.rmtree(gt.scene.dir / 'got')
    return {'mbit_s': run.bit_s / 1e6, 'rtt_ms': None, **watch.figures}


def on_link(args, mbit, delay, flows, window_kb, megabytes):
    """[(what, busy loops, figures)]."""
    hosts = {'server': {'address': '198.18.0.1'}, 'get': {'address': '198.18.0.3', 'delay_ms': delay},
             'seed': {'address': '198.18.0.2', 'delay_ms': delay, 'up': f'{mbit}Mbit', 'down': f'{mbit}Mbit'}}
    settings = {'tcp_congestion_control': 'cubic', 'tcp_rmem': '4096 131072 67108864', 'tcp_wmem': '4096 65536 67108864'}
    with contextlib.ExitStack() as stack:
        net = stack.enter_context(lab.Lab({'hosts': hosts}, args.bin, settings))
        jobs = {'iperf3, held by its window': lambda: held_by_window(net, flows, window_kb, 2 * delay)}
        if megabytes:
            gt = stack.enter_context(ours.Ours(net.hosts, args.bin))
            source = gt.scene.dir / 'data.bin'
            data.random_file(source, megabytes * 1_000_000)
            gt.publish(source, 'data', 'public')
            jobs['get that fills the link'] = lambda: filled_by_a_get(net, gt, source, flows)
        rows = []
        for _ in range(args.runs or 2):
            for loops in BUSY_LOOPS:
                for what, job in jobs.items():
                    with busy(loops):
                        rows.append((what, loops, job()))
        return rows


def bench_emulator(args):
    """What voids a run: rates that are known, beside 0 to 4 busy loops, and what the emulator says of itself meanwhile"""
    lab.require_root()
    found = {}
    for name, link in LINKS.items():
        rows = on_link(args, *link)
        calm = {what: max(row['mbit_s'] for w, loops, row in rows if w == what and loops == 0) for what, _, _ in rows}
        print(f'  {name}: {", ".join(f"{what} {rate:.0f} Mbit/s" for what, rate in calm.items())} beside no busy loop', flush=True)
        for what, loops, row in rows:
            row.pop('links')
            trip = f'RTT {row["rtt_ms"]:.2f} ms, ' if row['rtt_ms'] else ''
            print(f'    {what}, {loops} busy loops: {row["mbit_s"] / calm[what]:6.1%}, {trip}late {row["late"]:.2%} to hand over, '
                  f'{row["read_late"]:.2%} to read, {row["idle"]:.0%} idle, cores: {row["busy"]:.2f} busy, emulator {row["cores"]:.2f}, '
                  f'tools {row["tools"]:.2f}; stolen {row["steal"]:.1%}', flush=True)
        found[name] = [{'what': what, 'busy_loops': loops, 'of_calm': round(row['mbit_s'] / calm[what], 4), **row} for what, loops, row in rows]
    return found
