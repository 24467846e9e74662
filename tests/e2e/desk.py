"""A screen of its own with a window manager, a session bus and the accessibility bus, and windows on it that are used as a person uses
them: by the names that a screen reader speaks, and by keys.

    desk.need()
    with harness.Scene() as scene, desk.Desk(scene, 'gui_click') as screen:
        window = screen.window(alice, node)
        window.type_into('Filter transfers by name or owner', 'climate')
        window.press('Pause')

Nothing of the program under test is linked or asked but by AT-SPI. Each wait is for a condition, with a deadline.
"""
import contextlib
import importlib.util
import itertools
import os
import pathlib
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import time
import zlib

import harness

DEBIAN = '/usr/bin/python3'  # what python3-gi is for; another python3 may come first on PATH
PROGRAMS = {'Xvfb': 'xvfb', 'openbox': 'openbox', 'xdotool': 'xdotool', 'dbus-daemon': 'dbus'}
WAIT_S = 30
SIZE = (1280, 800)
CALL_TIMEOUT_MS = 5000
TABLES = ('table', 'tree', 'tree table')

Atspi = GLib = None  # once a Desk is there: they read their bus from the environment as they are loaded


def need():
    """Ends the test as visibly skipped where a program or a module is missing; goes on with Debian's Python."""
    missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if not pathlib.Path('/usr/libexec/at-spi-bus-launcher').exists():
        missing.append('at-spi2-core')
    here = importlib.util.find_spec('gi') is not None
    if not here and (sys.executable == DEBIAN or
                     subprocess.run([DEBIAN, '-c', 'import gi; gi.require_version("Atspi", "2.0")'], capture_output=True).returncode):
        missing += ['python3-gi', 'gir1.2-atspi-2.0']
    if missing:
        harness.skip(f'no screen to test the window on; apt-get install {" ".join(missing)}')
    if not (harness.default_bin() / 'gridtorrent-gui').exists():
        harness.skip('gridtorrent-gui is not built (GRIDTORRENT_GUI=OFF, or no Qt)')
    if not here:
        os.execv(DEBIAN, [DEBIAN, *sys.argv])


class Desk:
    """The screen. Ends its windows, and everything that it started, when it is left; keeps a picture where that is by an error."""

    def __init__(self, scene, name, size=SIZE):
        self.scene, self.name, self.size = scene, name, size
        self.processes, self.windows = [], []
        self.pictures = scene.bin.parent / 'tests' / f'{name}-pictures'
        self.frames = scene.dir / 'screen'
        self.frames.mkdir()
        # Sockets have 107 bytes for their path.
        self.env = {'XDG_RUNTIME_DIR': str(scene.sockets), 'QT_QPA_PLATFORM': 'xcb', 'QT_LINUX_ACCESSIBILITY_ALWAYS_ON': '1',
                    'NO_AT_BRIDGE': '0', 'DBUS_SESSION_BUS_ADDRESS': f'unix:path={scene.sockets / "bus"}'}

    def __enter__(self):
        shutil.rmtree(self.pictures, ignore_errors=True)
        try:
            self.env['DISPLAY'] = ':' + self.start_and_read('Xvfb', '-screen', '0', f'{self.size[0]}x{self.size[1]}x24', '-fbdir', self.frames,
                                                            '-nolisten', 'tcp', '-displayfd')
            self.start_and_read('dbus-daemon', '--session', '--nofork', f'--address={self.env["DBUS_SESSION_BUS_ADDRESS"]}', '--print-address')
            self.start('openbox', '--sm-disable')
            harness.wait_until(lambda: self.xdotool('get_desktop'), 'openbox to manage the windows', WAIT_S)
            load_atspi(self.env)
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, kind, value, trace):
        try:
            if kind is None:
                for window in self.windows:
                    window.close()
            elif kind is not SystemExit:
                self.keep_picture('failed')
                for window in self.windows:
                    print(f'--- {window.title}: what a screen reader finds\n{window.outline()}\n{window.log()}', file=sys.stderr)
        finally:
            self.end()

    def start(self, *argv, **kwargs):
        log = open(self.scene.dir / f'{argv[0]}.log', 'ab')
        self.processes.append(subprocess.Popen([str(a) for a in argv], env={**self.scene.env, **self.env}, stdin=subprocess.DEVNULL,
                                               stdout=log, stderr=log, start_new_session=True, **kwargs))
        log.close()

    def start_and_read(self, *argv):
        """Starts a program whose last option takes a descriptor to write a line to once it is ready; that line."""
        read, write = os.pipe()
        self.start(*argv[:-1], *([f'{argv[-1]}={write}'] if argv[-1].startswith('--') else [argv[-1], write]), pass_fds=[write])
        os.close(write)
        with open(read) as ready:
            line = ready.readline().strip()
        if not line:
            raise AssertionError(f'{argv[0]} did not start:\n{(self.scene.dir / (argv[0] + ".log")).read_text()}')
        return line

    def end(self):
        for window in self.windows:
            window.kill()
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def window(self, user, node, *args, program=None, **env):
        """The desktop application of one person with one node, the one that was built or a copy; returns once its window is there."""
        window = Window(self, user, node.socket, args, env, program)
        self.windows.append(window)
        window.wait_shown()
        return window

    def xdotool(self, *args):
        done = subprocess.run(['xdotool', *map(str, args)], env={**self.scene.env, **self.env}, capture_output=True, text=True, timeout=WAIT_S)
        return done.stdout.split() if done.returncode == 0 else []

    def drag(self, path, window):
        """Drags a file or folder with the mouse out of another program and drops it in the middle of the window."""
        window.activate()
        x, y = window.middle()
        source = subprocess.Popen([self.scene.bin.parent / 'tests/drag_source', path], env={**self.scene.env, **self.env},
                                  stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.processes.append(source)  # who takes the drop asks it what was dropped, and may do so late
        with source.stdout as told:
            def says(word):
                line = told.readline() if select.select([told], [], [], WAIT_S)[0] else 'nothing'
                if line != f'{word}\n':
                    raise AssertionError(f'{window.title}: {path} is dragged over it: {word!r} expected, {line!r} told')
            says('ready')
            harness.wait_until(lambda: self.xdotool('search', '--onlyvisible', '--pid', source.pid), 'something to drag', WAIT_S)
            self.xdotool('mousemove', '--sync', 20, 20, 'mousedown', 1)
            # Who drags moves the mouse bit by bit, and the target answers to each.
            for step in range(1, 21):
                self.xdotool('mousemove', 20 + (x - 20) * step // 20, 20 + (y - 20) * step // 20, 'sleep', 0.02)
            says('accepted')
            self.xdotool('mouseup', 1)
            says('dropped')

    def keep_picture(self, name):
        self.pictures.mkdir(parents=True, exist_ok=True)
        path = self.pictures / f'{name}.png'
        path.write_bytes(png_of_xwd((self.frames / 'Xvfb_screen0').read_bytes()))
        print(f'        picture: {path}', flush=True)

    @contextlib.contextmanager
    def step(self, title):
        """One step of a test: how long it took is printed; a picture of its end is kept where GT_PICTURES is set."""
        started = time.monotonic()
        try:
            yield
        except BaseException:
            print(f'not ok  {title} ({time.monotonic() - started:.1f} s)', flush=True)
            raise
        print(f'ok      {title} ({time.monotonic() - started:.1f} s)', flush=True)
        if os.environ.get('GT_PICTURES'):
            self.keep_picture(title.replace(' ', '-'))


class Window:
    """gridtorrent-gui of one person. Names are those that a screen reader speaks: a string, or a compiled pattern for all of it."""

    def __init__(self, desk, user, socket, args=(), env=None, program=None):
        """`env`: beside that of the user and the screen; None for what is not to be there."""
        self.desk, self.title, self.app = desk, f'window of {user.name}', None
        self.log_path = desk.scene.dir / f'window-{user.name}.log'
        argv = [str(program or desk.scene.bin / 'gridtorrent-gui'), '--socket', str(socket), *map(str, args)]
        env = {name: value for name, value in {**user.env, **desk.env, **(env or {})}.items() if value is not None}
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def log(self):
        return self.log_path.read_text(errors='replace')[-2000:]

    # What is there

    def wait_shown(self):
        def shown():
            if self.process.poll() is not None:
                raise AssertionError(f'{self.title} ended with {self.process.returncode}:\n{self.log()}')
            root = Atspi.get_desktop(0)
            for app in children(root):
                if quiet(app.get_process_id, 0) == self.process.pid:
                    app.set_cache_mask(Atspi.Cache.NONE)
                    self.app = app
            return self.app is not None and any(has(top, 'SHOWING') for top in children(self.app))
        harness.wait_until(shown, f'{self.title} to be shown', WAIT_S)

    def each(self):
        """Everything that is shown, dialogs first, with its depth."""
        def walk(node, depth):
            yield node, depth
            for child in children(node):
                if has(child, 'VISIBLE') and has(child, 'SHOWING'):
                    yield from walk(child, depth + 1)
        tops = [top for top in children(self.app) if has(top, 'SHOWING')]
        for top in sorted(tops, key=lambda top: quiet(top.get_role, None) == Atspi.Role.FRAME):
            yield from walk(top, 0)

    def find(self, name, *states, role=()):
        """The first thing shown with this name, in all of these states, and of one of these roles; or None."""
        for thing, _ in self.each():
            if fits(quiet(thing.get_name, ''), name) and all(has(thing, state) for state in states):
                if not role or quiet(thing.get_role_name, '') in role:
                    return thing
        return None

    def wait_for(self, name, *states, role=(), timeout_s=WAIT_S):
        what = f'{self.title}: {" or ".join(role) or "something"} named {name.pattern if isinstance(name, re.Pattern) else name!r} {" ".join(states).lower()}'
        return harness.wait_until(lambda: self.find(name, *states, role=role), what.rstrip(), timeout_s)

    def wait_gone(self, name, timeout_s=WAIT_S):
        harness.wait_until(lambda: self.find(name) is None, f'{self.title}: {name!r} to be gone', timeout_s)

    def text_of(self, name):
        thing = self.wait_for(name)
        return Atspi.Text.get_text(thing, 0, Atspi.Text.get_character_count(thing))

    def place_of(self, name, role=()):
        """The middle of it, in pixels from the window's upper left corner."""
        box = Atspi.Component.get_extents(self.wait_for(name, role=role), Atspi.CoordType.WINDOW)
        return box.x + box.width // 2, box.y + box.height // 2

    def outline(self):
        """Names and roles of everything that is shown, for a failure's report."""
        lines = []
        with contextlib.suppress(Exception):
            for thing, depth in self.each():
                lines.append(f'{"  " * depth}{quiet(thing.get_role_name, "?")}: {quiet(thing.get_name, "")!r}')
        return '\n'.join(lines)

    # What a person does

    def press(self, name, role=(), timeout_s=WAIT_S):
        """A button, a box or an entry of a menu that can be used."""
        thing = self.wait_for(name, 'ENABLED', role=role, timeout_s=timeout_s)
        actions = [Atspi.Action.get_action_name(thing, i) for i in range(Atspi.Action.get_n_actions(thing))]
        wanted = next((a for a in ('Press', 'Toggle') if a in actions), None)
        if wanted is None:
            raise AssertionError(f'{self.title}: {name!r} can only be asked to {actions}')
        Atspi.Action.do_action(thing, actions.index(wanted))

    def focus(self, name, role=()):
        """By name, or with Tab where Qt lets nobody else do it: tables and trees."""
        thing = self.wait_for(name, 'ENABLED', role=role)
        self.activate()
        quiet(lambda: Atspi.Component.grab_focus(thing), False)

        def there():
            if self.find(name, 'FOCUSED', role=role):
                return True
            self.keys('Tab')
            return False
        harness.wait_until(there, f'{self.title}: the focus on {name!r}', WAIT_S)

    def type_into(self, name, text):
        """Replaces what is in the field."""
        self.focus(name)
        self.keys('ctrl+a', 'Delete')
        if text:
            self.desk.xdotool('type', '--delay', '15', text)
        harness.wait_until(lambda: self.text_of(name) == text, f'{self.title}: {text!r} in {name!r}', WAIT_S)

    def choose(self, table, row):
        """Goes down a table by keys until it is at the row with this name."""
        self.focus(table, TABLES)
        self.keys('ctrl+Home')
        pressed = itertools.count(1)

        def there():
            if self.find(row, 'FOCUSED'):
                return True
            # One that was reached too late to be seen is passed: from the start again.
            self.keys('ctrl+Home' if next(pressed) % 30 == 0 else 'Down')
            return False
        harness.wait_until(there, f'{self.title}: a row {row!r} in {table!r}', WAIT_S)

    def keys(self, *keys):
        self.activate()
        self.desk.xdotool('key', '--clearmodifiers', '--delay', '15', *keys)

    def activate(self):
        """Brings the window, or its dialog, to the front."""
        def active():
            if any(has(top, 'ACTIVE') for top in children(self.app)):
                return True
            for number in self.desk.xdotool('search', '--onlyvisible', '--pid', self.process.pid)[-1:]:
                self.desk.xdotool('windowactivate', number)
            return False
        harness.wait_until(active, f'{self.title} to be in front', WAIT_S)

    def close(self):
        """As Ctrl+Q does; it ends orderly."""
        self.check_runs()
        self.keys('ctrl+q')
        self.wait_end('Ctrl+Q')

    def terminate(self):
        """As a desktop session that ends does; it ends orderly."""
        self.check_runs()
        self.process.terminate()
        self.wait_end('SIGTERM')
        self.desk.windows.remove(self)

    def check_runs(self):
        if self.process.poll() is not None:
            raise AssertionError(f'{self.title} has ended with {self.process.returncode}:\n{self.log()}')

    def wait_end(self, cause):
        try:
            code = self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f'{self.title} did not end within {WAIT_S} s of {cause}') from None
        if code != 0:
            raise AssertionError(f'{self.title} ended with {code}:\n{self.log()}')

    def middle(self):
        """Of the window, in pixels from the upper left corner of the screen."""
        [own] = self.desk.xdotool('search', '--onlyvisible', '--pid', self.process.pid)
        place = dict(word.split('=') for word in self.desk.xdotool('getwindowgeometry', '--shell', own))
        return int(place['X']) + int(place['WIDTH']) // 2, int(place['Y']) + int(place['HEIGHT']) // 2

    def size(self):
        """Of the window, in pixels, without its frame."""
        [own] = self.desk.xdotool('search', '--onlyvisible', '--pid', self.process.pid)
        return self.desk.xdotool('getwindowgeometry', own)[-1]

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


# AT-SPI: what it names may be gone when it is asked for more

def load_atspi(env):
    global Atspi, GLib
    os.environ.update({name: env[name] for name in ('DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XDG_RUNTIME_DIR')})
    import gi
    gi.require_version('Atspi', '2.0')
    from gi.repository import Atspi as atspi, GLib as glib
    Atspi, GLib = atspi, glib
    Atspi.init()
    Atspi.set_timeout(CALL_TIMEOUT_MS, CALL_TIMEOUT_MS)
    Atspi.get_desktop(0).set_cache_mask(Atspi.Cache.NONE)


def quiet(call, otherwise):
    try:
        return call()
    except GLib.Error:
        return otherwise


def children(node):
    count = quiet(node.get_child_count, 0)
    found = (quiet(lambda i=i: node.get_child_at_index(i), None) for i in range(count))
    return [child for child in found if child is not None]


def has(node, state):
    states = quiet(node.get_state_set, None)
    return states is not None and states.contains(getattr(Atspi.StateType, state))


def fits(text, name):
    return name.fullmatch(text) is not None if isinstance(name, re.Pattern) else text == name


# The screen as a picture, without a program for it

def png_of_xwd(xwd):
    """The frame that Xvfb keeps in a file (XWD, 32 bits a pixel, little-endian) as PNG."""
    header = struct.unpack('>25I', xwd[:100])
    width, height, line, colours = header[4], header[5], header[12], header[19]
    pixels = xwd[header[0] + 12 * colours:]
    rows = bytearray()
    for y in range(height):
        row = pixels[y * line:y * line + 4 * width]
        rgb = bytearray(3 * width)
        rgb[0::3], rgb[1::3], rgb[2::3] = row[2::4], row[1::4], row[0::4]
        rows += b'\0' + rgb

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(bytes(rows), 6)) + chunk(b'IEND', b''))
