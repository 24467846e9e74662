#!/usr/bin/env python3
"""The window by its own clock: how soon it is there, and how it does with 20,000 transfers of which 2,000 change four times a second.

On a screen of its own (Xvfb), used by mouse and keys. Transfers stand in a real node's database; see moving_node.cc for what is played.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tests/e2e'), str(ROOT / 'bench')]
import data  # noqa: E402
import desk  # noqa: E402
import gui_times  # noqa: E402
import harness  # noqa: E402
import many  # noqa: E402

TRANSFERS, MOVING = 20_000, 2_000
STARTS, ROUNDS = 10, 5
DATA_BYTES, LINK = 600_000_000, '400Mbit'
FETCHED = 'the one that is fetched'
COLUMNS = ('Name', 'State', 'Done', 'Down', 'Up')


def bench_gui(args):
    """The window: exec to first paint; 20,000 transfers of which 2,000 change, beside a transfer."""
    with tempfile.NamedTemporaryFile() as file:
        command = [desk.DEBIAN, __file__, '--bin', args.bin, '--json', file.name, *(['--runs', str(args.runs)] if args.runs else [])]
        code = subprocess.run(list(map(str, command))).returncode
        if code:
            sys.exit(code)
        return json.loads(pathlib.Path(file.name).read_text())


# C: exec to the first picture, and to a window that answers

def measure_start(screen, user, node, file):
    """Without assistive technology, as most people start it: asking for its names would slow it down."""
    began = time.monotonic_ns()
    window = desk.Window(screen, user, node.socket, env={'GRIDTORRENT_EVENT_TIMES': str(file), 'QT_LINUX_ACCESSIBILITY_ALWAYS_ON': None,
                                                        'NO_AT_BRIDGE': '1'})
    number = harness.wait_until(lambda: screen.xdotool('search', '--onlyvisible', '--pid', window.process.pid), 'the window', 30)[-1]
    time.sleep(1)  # it is left alone until it has told that the server is away
    screen.xdotool('windowactivate', '--sync', number, 'key', '--clearmodifiers', 'ctrl+q')
    assert window.process.wait(30) == 0, window.log()
    times = gui_times.Times(file)
    return times.since('first-paint-ns', began), times.since('first-answer-ns', began)


def starts(scene, count):
    """C: after one start that warms the page cache; the node answers, the server is away."""
    server = scene.server()
    alice = scene.user('alice')
    node = scene.node(alice, 'alpha')
    server.stop()
    with desk.Desk(scene, 'bench_gui') as screen:
        found = [measure_start(screen, alice, node, scene.dir / 'times') for _ in range(count + 1)][1:]
    server.start()
    figures = {}
    for name, values in zip(('first paint', 'usable'), zip(*found)):
        figures[name] = {'median_ms': round(statistics.median(values)), 'worst_ms': round(max(values))}
        print(f'  exec to {name}: median {statistics.median(values):.0f} ms, worst {max(values):.0f} ms of {count} starts', flush=True)
    return figures


# D: 20,000 transfers, 2,000 of which change

class MovingNode(harness.Daemon):
    """moving_node over the data folder that a real node has left."""

    def __init__(self, scene, data_dir, count):
        self.socket = scene.sockets / 'moving.sock'
        super().__init__(scene, 'moving-node', [scene.bin / 'moving_node', data_dir, self.socket, count])
        scene.daemons.append(self)


def many_transfers(scene, user, transfers, moving):
    """A node with so many transfers: one is published by a real node, the others are copies of its row."""
    node = scene.node(user, 'many')
    first = scene.dir / 'first'
    first.mkdir()
    data.random_file(first / 'data.bin', 100_000)
    published = user.cli('publish', first / 'data.bin', '--name', 'first', '--access', 'public', '--json', node=node).event('published')
    node.stop()
    many.put_transfers(scene, node, published['content_id'], [(many.new_id('c'), f'set-{i:05}') for i in range(1, transfers)])
    node = MovingNode(scene, node.data, moving)
    began = time.monotonic()
    node.start(wait=False)
    harness.wait_until(lambda: node.ready_file.exists() or not node.running(), 'the node with all transfers', 900)
    node.wait_ready()
    print(f'  a node with {node.ready["transfers"]} transfers seeds all of them after {time.monotonic() - began:.1f} s', flush=True)
    return node


def shown(window, name, role):
    """As Window.find, but does not look into tables: 20,000 rows would take minutes."""
    def walk(thing):
        if desk.quiet(thing.get_role_name, '') in role and desk.fits(desk.quiet(thing.get_name, ''), name):
            return thing
        if desk.quiet(thing.get_role_name, '') in desk.TABLES:
            return None
        visible = (child for child in desk.children(thing) if desk.has(child, 'SHOWING'))
        return next(filter(None, map(walk, visible)), None)
    return next(filter(None, map(walk, desk.children(window.app))), None)


class Table:
    """The table of transfers on the screen, used by mouse."""

    def __init__(self, screen, window):
        self.screen, self.window = screen, window
        self.thing = harness.wait_until(lambda: shown(window, 'Transfers', desk.TABLES), 'the table of transfers', 60)

    def rows(self):
        return desk.quiet(lambda: desk.Atspi.Table.get_n_rows(self.thing), -1)

    def wait_for_rows(self, fits, what):
        harness.wait_until(lambda: fits(self.rows()), f'a table of {what}', 120)

    def pointer_to(self, thing, down=0.5):
        box = desk.Atspi.Component.get_extents(thing, desk.Atspi.CoordType.SCREEN)
        self.screen.xdotool('mousemove', box.x + box.width // 2, box.y + int(box.height * down))

    def sort_by(self, column):
        """The largest first: one click on its header. Headers are the first row of children; the first of them is the corner."""
        header = self.thing.get_child_at_index(COLUMNS.index(column) + 1)
        assert header.get_name() == column, f'{header.get_name()!r} is where {column!r} was looked for'
        self.pointer_to(header)
        self.screen.xdotool('click', 1)

    def filter(self, text):
        self.window.keys('ctrl+f', 'ctrl+a', 'Delete')
        if text:
            self.screen.xdotool('type', '--delay', '60', text)

    def wheel(self, button, times):
        self.pointer_to(self.thing, 0.7)
        self.screen.xdotool('click', '--repeat', times, '--delay', 8, button)


def choose(table, window, name):
    """Chooses a transfer as a person would: filtered, by keys; and opens its plot."""
    table.filter(name)
    table.wait_for_rows(lambda rows: 0 < rows < 10, 'few rows')
    window.choose('Transfers', re.compile(re.escape(name) + '.*'))
    window.press('Rate')
    table.filter('')


@contextlib.contextmanager
def open_window(screen, user, node, file, transfers):
    """The window with all transfers, sorted by rate, a transfer chosen and its plot open. Its Times are in `.times` at the end."""
    window = screen.window(user, node, GRIDTORRENT_EVENT_TIMES=str(file))
    table = Table(screen, window)
    with gui_times.Waits(window.process.pid) as window.waits:
        table.wait_for_rows(lambda rows: rows > transfers, 'all transfers')
        choose(table, window, FETCHED)
        table.wait_for_rows(lambda rows: rows > transfers, 'all transfers')
        table.sort_by('Up')
        yield window, table
        window.close()
    screen.windows.remove(window)
    window.times = gui_times.Times(file)


def use(table, until):
    """Scrolls and filters until told to stop."""
    while not until.is_set():
        table.wheel(5, 60)
        table.wheel(4, 30)
        table.filter('set-1')
        table.wheel(5, 40)
        table.filter('')


def cpu_seconds(daemon):
    fields = pathlib.Path(f'/proc/{daemon.pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


class Beside:
    """A transfer between two real nodes at a steady limit, and what the node with many transfers takes meanwhile."""

    def __init__(self, scene, alice, many_node):
        self.many_node, self.scene, self.bob = many_node, scene, scene.user('bob')
        self.get_node = scene.node(self.bob, 'get')
        self.source = scene.dir / 'data.bin'
        data.random_file(self.source, DATA_BYTES)
        seed = scene.node(alice, 'seed', args=('--upload-limit', LINK))
        alice.cli('publish', self.source, '--name', 'data', '--access', 'public', node=seed)

    def run(self):
        """Seconds of the transfer, and the node's share of a core."""
        target = pathlib.Path(tempfile.mkdtemp(dir=self.scene.dir))
        before, began = cpu_seconds(self.many_node), time.monotonic()
        done = self.bob.cli('get', 'alice/data', '--to', target, '--lanes', 4, '--refetch', '--json', node=self.get_node, timeout_s=1200).event('done')
        core = (cpu_seconds(self.many_node) - before) / (time.monotonic() - began)
        assert harness.difference(self.source, target / 'data.bin') is None
        (target / 'data.bin').unlink()
        return done['seconds'], core


def with_window(screen, user, node, beside, transfers):
    ended = threading.Event()
    with open_window(screen, user, node, screen.scene.dir / 'times', transfers) as (window, table):
        if os.environ.get('GT_PICTURES'):
            time.sleep(2)
            screen.keep_picture('moving')
        user_of_it = threading.Thread(target=use, args=(table, ended))
        user_of_it.start()
        try:
            figures = beside.run()
        finally:
            ended.set()
            user_of_it.join()
    return *figures, window


def moving(scene, rounds, transfers, moving_count):
    scene.server()
    alice = scene.user('alice')
    node = many_transfers(scene, alice, transfers, moving_count)
    beside = Beside(scene, alice, node)
    windows, seconds, cores = [], {'with': [], 'without': []}, {'with': [], 'without': []}
    with desk.Desk(scene, 'bench_gui') as screen:
        for number in range(rounds):
            for kind in ('with', 'without') if number % 2 == 0 else ('without', 'with'):
                if kind == 'with':
                    took, core, window = with_window(screen, alice, node, beside, transfers)
                    windows.append(window)
                else:
                    took, core = beside.run()
                seconds[kind].append(took)
                cores[kind].append(core)
            print(f'  round {number + 1}: the transfer beside took {seconds["with"][-1]:.2f} s with the window, {seconds["without"][-1]:.2f} s '
                  f'without; the node {100 * cores["with"][-1]:.1f} % of a core, {100 * cores["without"][-1]:.1f} % without', flush=True)
    return figures_of(windows, seconds, cores)


def figures_of(windows, seconds, cores):
    found = gui_times.events([window.times for window in windows])
    print(f'  {found["events"]} events of the GUI thread in {len(windows)} windows: 99 % within {found["p99_ms"]} ms of processor time, worst '
          f'{found["worst_cpu_ms"]} ms, {found["over_16_ms"]} over 16 ms, {len(found["over_50_ms_cpu"])} over 50 ms')
    print(f'  {len(found["over_50_ms_wall"])} events over 50 ms by the wall clock')
    told = [gui_times.describe(event, window.waits) for window in windows for event in window.times.slow
            if max(event['wall'], event['cpu']) > 50 * gui_times.MS]
    for line in told:
        print('   ', line)
    ratios = [without / with_it for with_it, without in zip(seconds['with'], seconds['without'])]
    core = statistics.median(w - wo for w, wo in zip(cores['with'], cores['without']))
    print(f'  the rate of a transfer beside it: {statistics.median(ratios):.3f} of that without ({min(ratios):.3f} to {max(ratios):.3f}); '
          f'the window costs the node {100 * core:.1f} % of a core '
          f'({100 * statistics.median(cores["with"]):.1f} % with it, {100 * statistics.median(cores["without"]):.1f} % without)')
    return {**found, 'over_50_ms_cpu': len(found['over_50_ms_cpu']), 'over_50_ms_wall': told, 'seconds': seconds, 'rate_ratio': round(statistics.median(ratios), 3),
            'node_cores': cores, 'node_core_for_window': round(core, 4)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0], formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument('row', nargs='*', default=['start', 'moving'], help='start: exec to first paint; moving: 20,000 transfers (default: both)')
    parser.add_argument('--bin', default=ROOT / 'build/release/bin', help='the programs that are measured')
    parser.add_argument('--runs', type=int, help=f'starts, and rounds with and without the window (default: {STARTS} and {ROUNDS})')
    parser.add_argument('--transfers', type=int, default=TRANSFERS)
    parser.add_argument('--moving', type=int, default=MOVING)
    parser.add_argument('--json', type=pathlib.Path, help='write the figures to this file, too')
    args = parser.parse_args()
    os.environ['GT_BIN'] = str(args.bin)
    desk.need()
    if not (pathlib.Path(args.bin) / 'moving_node').exists():
        harness.skip('moving_node is not built: ninja -C build/release moving_node')
    figures = {}
    if 'start' in args.row:
        with harness.Scene(args.bin) as scene:
            figures['start'] = starts(scene, args.runs or STARTS)
    if 'moving' in args.row:
        with harness.Scene(args.bin) as scene:
            figures['moving'] = moving(scene, args.runs or ROUNDS, args.transfers, args.moving)
    if args.json:
        args.json.write_text(json.dumps(figures))


if __name__ == '__main__':
    main()
