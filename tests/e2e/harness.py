"""Real servers, nodes and command lines for tests, the demo and the bench: everything in one temporary folder, gone at the end.

    with Scene(bin_dir) as scene:
        server = scene.server()
        alice = scene.user('alice')
        node = scene.node(alice, 'alpha')
        result = alice.cli('publish', path, '--name', 'data', '--json', node=node)

Nothing here mocks: programs are the built ones, TLS is on, ports are free ones, and readiness is a ready file, never a sleep.
"""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import sound

START_TIMEOUT_S = 60
CLI_TIMEOUT_S = 300


def default_bin():
    if 'GT_BIN' in os.environ:
        return pathlib.Path(os.environ['GT_BIN'])
    return pathlib.Path(__file__).resolve().parents[2] / 'build/release/bin'


def sanitized(program='gridtorrentd'):
    """Whether this build carries a sanitizer, which takes memory and time of its own."""
    text = (default_bin() / program).read_bytes()
    return b'__asan_init' in text or b'__tsan_init' in text


def skip(reason):
    """Ends a test program as visibly skipped (ctest: SKIP_RETURN_CODE 77)."""
    print(f'SKIPPED: {reason}', flush=True)
    sys.exit(77)


# For what a server tells at once: asked is less, and printed. Two commits to a slow disk take seconds each; what is not told but found
# out by the usual announce takes 30 s.
SOON_S = 25


def wait_until(condition, what, timeout_s=30.0):
    """Waits for a condition with a deadline; fails with `what` where it never holds. Returns the condition's value."""
    deadline = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f'waited {timeout_s:.0f} s in vain for {what}')
        time.sleep(0.02)


_reserved = []


def free_ports(count=1):
    """The first of so many ports in a row that nobody has, kept from other tests until this program ends.

    They lie below those of outgoing connections: one of these could take the port of a daemon that is to start again,
    be it by a client's calling there in vain and meeting itself.
    """
    for first in range(12_000, 30_000, count):
        held = []
        try:
            for port in range(first, first + count):
                held.append(open(pathlib.Path(tempfile.gettempdir()) / f'gridtorrent-port-{port}.lock', 'a'))
                fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
                for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                    with socket.socket(socket.AF_INET, kind) as probe:
                        probe.bind(('0.0.0.0', port))
        except OSError:
            for file in held:
                file.close()
            continue
        _reserved.extend(held)
        return first
    raise AssertionError(f'no {count} free ports in a row')


class Result:
    """What a finished command said."""

    def __init__(self, args, code, out, err, seconds):
        self.args, self.code, self.out, self.err, self.seconds = args, code, out, err, seconds

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def events(self):
        return [json.loads(line) for line in self.out.splitlines() if line.strip()]

    def event(self, name):
        found = [e for e in self.events if e.get('event') == name]
        assert found, f'no event {name!r} in:\n{self.out}\n{self.err}'
        return found[-1]

    def __str__(self):
        return f'{" ".join(map(str, self.args))}\n-> exit {self.code}\nstdout:\n{self.out}\nstderr:\n{self.err}'


def inside(netns):
    """What to put before a command so that it runs in a network namespace: one with a name, or one known by a path (`/proc/PID/fd/N`)."""
    if not netns:
        return []
    return ['nsenter', f'--net={netns}', '--'] if netns.startswith('/') else ['ip', 'netns', 'exec', netns]


class Daemon:
    """A program in the foreground with a ready file and a log; subclassed by Server and Node."""

    def __init__(self, scene, name, argv, netns=None, env=None):
        self.scene, self.name, self.argv, self.netns = scene, name, [str(a) for a in argv], netns
        self.ready_file = scene.dir / f'{name}.ready.json'
        self.log_path = scene.dir / f'{name}.log'
        self.env = {**scene.env, **(env or {})}
        self.process = None
        self.ready = None

    def start(self, wait=True):
        self.ready_file.unlink(missing_ok=True)
        prefix = inside(self.netns)
        self.scene.commands.append(self.argv)
        log = open(self.log_path, 'ab')
        self.process = subprocess.Popen(prefix + self.argv + ['--ready-file', str(self.ready_file)], stdout=log, stderr=log,
                                        stdin=subprocess.DEVNULL, env=self.env, start_new_session=True)
        log.close()
        if wait:
            self.wait_ready()
        return self

    def wait_ready(self):
        def ready():
            if self.process.poll() is not None:
                raise AssertionError(f'{self.name} ended with {self.process.returncode} before it was ready:\n{self.log()}')
            return self.ready_file.exists()
        try:
            wait_until(ready, f'{self.name} to be ready', START_TIMEOUT_S)
        except AssertionError as e:
            raise AssertionError(f'{e}\n{self.log()}') from None
        self.ready = json.loads(self.ready_file.read_text())

    @property
    def pid(self):
        return self.ready['pid'] if self.ready else self.process.pid

    def log(self, tail=4000):
        return self.log_path.read_text(errors='replace')[-tail:] if self.log_path.exists() else ''

    def running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """kill -9, as a power failure would but for the page cache."""
        if self.running():
            os.kill(self.pid, signal.SIGKILL)
            self.process.wait()

    def stop(self, timeout_s=30):
        """SIGTERM and an orderly end; its exit code."""
        if self.running():
            os.kill(self.pid, signal.SIGTERM)
            try:
                self.process.wait(timeout_s)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
                raise AssertionError(f'{self.name} did not end within {timeout_s} s of SIGTERM:\n{self.log()}') from None
        return self.process.returncode if self.process else None

    def memory_kb(self):
        """Anonymous plus shared memory now, and the peak of the whole resident set."""
        fields = {}
        for line in pathlib.Path(f'/proc/{self.pid}/status').read_text().splitlines():
            key, _, value = line.partition(':')
            if key in ('RssAnon', 'RssShmem', 'VmHWM'):
                fields[key] = int(value.split()[0])
        return fields['RssAnon'] + fields['RssShmem'], fields['VmHWM']


class Server(Daemon):
    at_start = None  # what it held when it was first ready

    def __init__(self, scene, name='server', listen=None, advertise=None, netns=None, args=(), env=None):
        self.data = scene.dir / name
        listen = listen or f'127.0.0.1:{free_ports()}'
        argv = [scene.bin / 'gridtorrent-server', '--data-dir', self.data, '--listen', listen, *args]
        if advertise:
            argv += ['--advertise', advertise]
        super().__init__(scene, name, argv, netns, env)

    def wait_ready(self):
        super().wait_ready()
        self.at_start = sound.measure(self)

    @property
    def address(self):
        return self.ready['address']


class Node(Daemon):
    def __init__(self, scene, user, name, netns=None, address=None, args=(), ports='0', tls_ports='0', env=None):
        self.data = scene.dir / f'node-{name}'
        self.user = user
        self.socket = scene.sockets / f'{name}.sock'
        token = scene.dir / f'{name}.enroll'
        scene.secret_files.append(token)
        reply = user.cli('node', 'enroll-token', '--name', name, '--json').json
        token.touch(mode=0o600)
        token.write_text(reply['token'])
        server = scene.the_server
        argv = [scene.bin / 'gridtorrentd', '--data-dir', self.data, '--server', server.address, '--ca',
                server.ready['ca_file'], '--enroll-token-file', token, '--name', name, '--socket', self.socket,
                '--lane-ports', ports, '--tls-lane-ports', tls_ports, *args]
        if address:
            argv += ['--address', address]
        super().__init__(scene, f'node-{name}', argv, netns, env)
        self.short_name = name

    @property
    def node_id(self):
        return self.ready['node_id']


class User:
    """A person with a login of their own: a config and a state folder, and the command line."""

    def __init__(self, scene, name, netns=None):
        self.scene, self.name, self.netns = scene, name, netns
        self.home = scene.dir / f'home-{name}'
        self.home.mkdir()
        self.env = {**scene.env, 'HOME': str(self.home), 'XDG_CONFIG_HOME': str(self.home / 'config'),
                    'XDG_STATE_HOME': str(self.home / 'state'), 'NO_COLOR': '1'}

    def argv(self, args, node=None):
        command = [str(self.scene.bin / 'gridtorrent')]
        if node is not None:
            command += ['--socket', str(node.socket)]
        netns = (node.netns if node is not None else None) or self.netns
        return inside(netns) + command + [os.fspath(a) if not isinstance(a, int) else str(a) for a in args]

    def cli(self, *args, node=None, expect=0, cwd=None, timeout_s=CLI_TIMEOUT_S):
        """Runs the command line; checks the exit code unless `expect` is None."""
        argv = self.argv(args, node)
        self.scene.commands.append(argv)
        started = time.monotonic()
        done = subprocess.run(argv, env=self.env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s)
        result = Result(argv, done.returncode, done.stdout.decode(errors='replace'), done.stderr.decode(errors='replace'),
                        time.monotonic() - started)
        if expect is not None and result.code != expect:
            logs = f'\n{node.name}:\n{node.log()}' if node is not None else ''
            raise AssertionError(f'expected exit {expect}:\n{result}{logs}')
        return result

    def start_cli(self, *args, node=None):
        """The command line in the background: a Popen with text pipes."""
        return subprocess.Popen(self.argv(args, node), env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)


class Scene:
    """A temporary folder with all daemons that were started in it; leaving it stops and removes everything."""

    def __init__(self, bin_dir=None, keep=False, unsound='', memory_slack_kb=sound.MEMORY_SLACK_KB):
        """`unsound`: why the server's data cannot be sound at the end, where the test itself breaks it. `memory_slack_kb`: what
        the server may hold at the end beyond its start."""
        self.unsound, self.memory_slack_kb = unsound, memory_slack_kb
        self.commands, self.secret_files = [], []
        self.bin = pathlib.Path(bin_dir) if bin_dir else default_bin()
        if not (self.bin / 'gridtorrent-server').exists():
            raise SystemExit(f'{self.bin} holds no gridtorrent-server: build first, with ./dev build')
        self.keep = keep or bool(os.environ.get('GT_KEEP'))
        self.daemons, self.users = [], {}
        self.the_server = None

    def __enter__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix='gridtorrent-'))
        # Control sockets have 107 bytes for their path; a folder of their own keeps them short.
        self.sockets = pathlib.Path(tempfile.mkdtemp(prefix='gts-'))
        clean = {k: v for k, v in os.environ.items() if not k.startswith(('GRIDTORRENT_', 'XDG_'))}
        # A session of their own, or commands would find the node of whoever runs the tests below /run/user.
        (self.sockets / 'session').mkdir(mode=0o700)
        self.env = {**clean, 'LC_ALL': 'C.UTF-8', 'XDG_CONFIG_HOME': str(self.dir / 'no-config'), 'XDG_RUNTIME_DIR': str(self.sockets / 'session')}
        return self

    def __exit__(self, kind, value, trace):
        failed = kind is not None and not (kind is SystemExit and value.code in (0, 77))
        try:
            if not failed and not (kind is SystemExit and value.code == 77):
                self.close()
        except BaseException:
            failed = True
            raise
        finally:
            self.clear(failed)

    def close(self):
        """Ends everything in order, and raises where something is left that sound.py does not allow."""
        server = self.the_server
        running = server is not None and server.running()
        told = {}
        if running and not self.unsound:
            for name, user in self.users.items():
                quotas = self.users['admin'].cli('user', 'quota', name, '--json', expect=None)
                if quotas.code == 0:
                    told[name] = {quota['quota']: quota['used'] for quota in quotas.json['quotas']}
        for daemon in reversed(self.daemons):
            if daemon is not server and daemon.running():
                daemon.stop()
        if running:
            sound.check_holdings(server, wait_until, sanitized(), self.memory_slack_kb)
            server.stop()
        if server is not None and not self.unsound:
            sound.check_data(self, server)
            sound.check_quotas(self, server, told)
            server.start()
            self.admin().cli('whoami')
            server.stop()
        sound.check_secrets(self)

    def clear(self, failed):
        for daemon in reversed(self.daemons):
            if daemon.running():
                try:
                    os.killpg(daemon.process.pid, signal.SIGKILL if failed else signal.SIGTERM)
                    daemon.process.wait(15)
                except (ProcessLookupError, subprocess.TimeoutExpired):
                    daemon.kill()
        if failed:
            for daemon in self.daemons:
                print(f'--- {daemon.name} (last lines)\n{daemon.log(2500)}', file=sys.stderr)
        if self.keep:
            print(f'kept: {self.dir}', file=sys.stderr)
            return
        shutil.rmtree(self.dir, ignore_errors=True)
        shutil.rmtree(self.sockets, ignore_errors=True)

    def server(self, start=True, **kwargs):
        self.the_server = Server(self, **kwargs)
        self.daemons.append(self.the_server)
        if start:
            self.the_server.start()
        return self.the_server

    def admin(self, netns=None):
        """The account `admin`, logged in by the token file that the server's first start wrote."""
        if 'admin' not in self.users:
            admin = User(self, 'admin', netns)
            self.users['admin'] = admin
            admin.cli('login', '--server', self.the_server.address, '--ca', self.the_server.ready['ca_file'], '--user', 'admin',
                      '--token-file', self.the_server.ready['admin_token_file'])
        return self.users['admin']

    def user(self, name, netns=None, password=None):
        """A new account, logged in by password."""
        password = password or f'{name} likes long passphrases'
        secret = self.dir / f'{name}.password'
        self.secret_files.append(secret)
        secret.touch(mode=0o600)
        secret.write_text(password)
        self.admin(netns).cli('user', 'add', name, '--password-file', secret)
        user = User(self, name, netns)
        self.users[name] = user
        user.cli('login', '--server', self.the_server.address, '--ca', self.the_server.ready['ca_file'], '--user', name,
                 '--password-file', secret)
        return user

    def node(self, user, name, start=True, **kwargs):
        node = Node(self, user, name, **kwargs)
        self.daemons.append(node)
        if start:
            node.start()
        return node


def run_parallel(*jobs):
    """Runs callables at once; returns their results in order, or raises the first failure."""
    results, failures = [None] * len(jobs), []

    def run(i, job):
        try:
            results[i] = job()
        except BaseException as e:  # passed on below, in the caller's thread
            failures.append(e)

    threads = [threading.Thread(target=run, args=(i, job)) for i, job in enumerate(jobs)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]
    return results


def difference(a, b):
    """The first difference between two trees in kind, bytes, permission bits or mtime (to the nanosecond); None where equal.

    Symbolic links and special files are not carried by a publication and are passed over.
    """
    a, b = os.fsencode(a), os.fsencode(b)

    def compare(x, y):
        sx, sy = os.lstat(x), os.lstat(y)
        kind = (sx.st_mode & 0o170000)
        if kind != (sy.st_mode & 0o170000):
            return f'{x!r} and {y!r} are of different kinds'
        if (sx.st_mode & 0o777) != (sy.st_mode & 0o777):
            return f'{x!r}: mode {sx.st_mode & 0o777:o}, not {sy.st_mode & 0o777:o}'
        if sx.st_mtime_ns != sy.st_mtime_ns:
            return f'{x!r}: mtime {sx.st_mtime_ns}, not {sy.st_mtime_ns}'
        if kind == 0o040000:
            carried = {n for n in os.listdir(x) if (os.lstat(os.path.join(x, n)).st_mode & 0o170000) in (0o040000, 0o100000)}
            there = set(os.listdir(y))
            if carried != there:
                return f'{x!r}: names differ: {sorted(carried ^ there)[:5]}'
            for name in sorted(carried):
                found = compare(os.path.join(x, name), os.path.join(y, name))
                if found:
                    return found
        elif kind == 0o100000:
            if sx.st_size != sy.st_size:
                return f'{x!r}: {sx.st_size} bytes, not {sy.st_size}'
            with open(x, 'rb') as fx, open(y, 'rb') as fy:
                while True:
                    bx, by = fx.read(1 << 20), fy.read(1 << 20)
                    if bx != by:
                        return f'{x!r}: bytes differ'
                    if not bx:
                        break
        return None

    return compare(a, b)
