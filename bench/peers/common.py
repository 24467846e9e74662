"""What every peer runner needs: programs on hosts and their CPU time, samples of sockets and links while they run, copies that are whole.

A host is one of netns.Host (argv, run, popen, ns, address).
"""
import collections
import contextlib
import ctypes
import dataclasses
import os
import pathlib
import re
import select
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time

import harness

CLONE_NEWNET = 0x40000000
LEAST_DATA = 64 << 10  # a socket that carried less is no data socket
LEAST_BLOCK = 16 << 10  # a lane that carried less since the last look had nothing to fetch: one block of the BitTorrent protocol
RIVAL_PORTS = range(5301, 5333)  # of iperf3 flows that run beside a tool: never its own data
SETTINGS = ('ipv4/tcp_congestion_control', 'ipv4/tcp_no_metrics_save', 'ipv4/tcp_rmem', 'ipv4/tcp_wmem', 'core/rmem_max', 'core/wmem_max')


@dataclasses.dataclass
class Transfer:
    """One run of a tool.

    plan     the settings that make this run what it is
    bytes    of the data set (a swarm moves them once to each leecher)
    seconds  from the start of the client's command to its exit; of a swarm, until its last leecher is complete
    cpu_s    user and system seconds that all the tool's processes at all hosts spent within these seconds (Crew.cpu_s tells which);
             neither a tracker nor what samples is among them
    checks   one dict for each host (Watch.checks), and one about the content
    series   [(seconds, bytes that the links of all receivers took in so far, headers included)], some five a second
    each     of a swarm: the seconds of each leecher
    figures  what else this tool tells
    """
    tool: str
    plan: dict
    bytes: int
    seconds: float
    cpu_s: float
    checks: list
    series: list | None = None
    each: list = dataclasses.field(default_factory=list)
    figures: dict = dataclasses.field(default_factory=dict)

    @property
    def bit_s(self):
        return self.bytes * 8 / self.seconds


def enter(host):
    """Moves this thread, and it alone, into the network namespace of a host."""
    with open(host.ns if host.ns.startswith('/') else f'/run/netns/{host.ns}') as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f'cannot enter the network namespace {host.ns}')


def inside(host, job):
    """What job() returns, run in a thread that is on the host: sockets that it opens stay there, as do programs that it starts."""
    def there():
        enter(host)
        return job()
    return harness.run_parallel(there)[0]


def descendants(pid):
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for child in pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split():
            found += [int(child), *descendants(child)]
    return found


def own_cpu_s(pid):
    """User and system time so far of one process, with that of its children that ended and were waited for."""
    try:
        fields = pathlib.Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf('SC_CLK_TCK')


class Program:
    """One program on a host, in a process group of its own. `ip netns exec` becomes the program, so the pid is the program's."""

    def __init__(self, host, command, log_path, **options):
        self.host, self.command, self.log_path, self.usage = host, [str(c) for c in command], log_path, None
        with open(log_path, 'wb') as log:
            self.popen = host.popen(self.command, **{'stdout': log, 'stderr': log, **options})
        self.pid = self.popen.pid

    def log(self, tail=3000):
        return self.log_path.read_text(errors='replace')[-tail:]

    def ended(self):
        if self.usage is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.usage, self.popen.returncode = usage, os.waitstatus_to_exitcode(status)
        return self.usage is not None

    def dead(self, timeout_s):
        """Whether it died within that time, not yet waited for; returns at once when it does."""
        descriptor = os.pidfd_open(self.pid)
        try:
            return bool(select.select([descriptor], [], [], timeout_s)[0])
        finally:
            os.close(descriptor)

    def wait(self, timeout_s):
        """Whether it ended within that time; its CPU time is exact from then."""
        return self.ended() or (self.dead(timeout_s) and self.ended())

    def finish(self, timeout_s=1200):
        """Waits for its end, which has to be a success."""
        assert self.wait(timeout_s), f'{self.command[0]} did not end within {timeout_s:.0f} s:\n{self.log()}'
        assert self.popen.returncode == 0, f'{" ".join(self.command)}: exit {self.popen.returncode}\n{self.log()}'

    def assert_alive(self):
        assert not self.ended(), f'{" ".join(self.command)} ended early: exit {self.popen.returncode}\n{self.log()}'

    def cpu_s(self):
        """User and system seconds so far: its own, those of children it waited for, and of descendants that live."""
        if self.ended():
            return self.usage.ru_utime + self.usage.ru_stime
        return own_cpu_s(self.pid) + sum(own_cpu_s(pid) for pid in descendants(self.pid))

    def stop(self):
        """Ends it and its descendants, also those in groups of their own: asked to first, then killed. It is waited for last, so that its
        pid, and the group's, stay its own until then."""
        if self.ended():
            return
        left = [os.pidfd_open(pid) for pid in descendants(self.pid)]
        os.kill(self.pid, signal.SIGTERM)
        if not self.dead(3):
            os.kill(self.pid, signal.SIGKILL)
            self.dead(10)
        os.killpg(self.pid, signal.SIGKILL)
        for descriptor in left:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            os.close(descriptor)
        self.ended()


class Crew:
    """The programs of one transfer and a temporary folder for them; leaving it ends the programs and removes the folder."""

    def __init__(self, folder=None):
        self.parent, self.programs = folder, []

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='gt-peer-', dir=self.parent))
        return self

    def __exit__(self, *_):
        for program in reversed(self.programs):
            program.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, host, command, **options):
        self.programs.append(Program(host, command, self.folder / f'{len(self.programs)}.log', **options))
        return self.programs[-1]

    def cpu_s(self):
        """Of all its programs so far; a program that ended counts with all it used, to the microsecond, others by clock ticks."""
        return sum(program.cpu_s() for program in self.programs)

    def wait_listening(self, program, port, kind='t', timeout_s=20):
        """Waits until somebody listens on that port there, without connecting: a server for one client would take that for its client."""
        command = ['ss', f'-{kind}lnH', f'sport = :{port}']

        def heard():
            program.assert_alive()
            return inside(program.host, lambda: subprocess.run(command, capture_output=True, text=True).stdout)
        harness.wait_until(heard, f'{program.command[0]} to listen on port {port}', timeout_s)


@dataclasses.dataclass
class Socket:
    congestion: str
    carried: int
    retransmitted: int


def tcp_sockets():
    """{(local, remote): Socket} of this thread's network namespace, loopback left out."""
    text = subprocess.run(['ss', '-tinHO', 'state', 'established'], capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        local, remote, *words = line.split()[2:]
        if local.startswith(('127.', '[::1]', '[::ffff:127.')):
            continue
        counts = dict(re.findall(r'\b(bytes_sent|bytes_received|bytes_retrans):(\d+)', line))
        congestion = next((w for w in words if w not in ('ts', 'sack', 'ecn', 'ecnseen', 'fastopen')), '?')
        carried = max(int(counts.get('bytes_sent', 0)), int(counts.get('bytes_received', 0)))
        found[local, remote] = Socket(congestion, carried, int(counts.get('bytes_retrans', 0)))
    return found


def port_of(address):
    return int(address.rpartition(':')[2])


def received_bytes():
    """What the links of this thread's network namespace took in, loopback left out."""
    lines = pathlib.Path('/proc/thread-self/net/dev').read_text().splitlines()[2:]
    return sum(int(line.split(':')[1].split()[0]) for line in lines if line.split(':')[0].strip() != 'lo')


def network_settings():
    """The settings of this thread's network namespace that decide about TCP; None where this kernel shows it in none but the first."""
    found = {}
    for name in SETTINGS:
        path = pathlib.Path('/proc/sys/net') / name
        found[path.name] = ' '.join(path.read_text().split()) if path.exists() else None
    return found


class Watch:
    """Samples hosts in the background: links five times a second (in the first second each 10 ms, to see when data begin), TCP sockets
    by ss five times in the first second, then every 0.6 s, and once more when it is left. Of many hosts each is looked at less often,
    that measuring takes no more of the machine."""

    def __init__(self, *hosts, receivers, apart_from=(), least=LEAST_DATA):
        """`apart_from`: ports whose sockets carry no data, at either end."""
        self.rarer = max(1.0, len(hosts) / 4)
        self.hosts, self.receivers, self.apart_from, self.least = hosts, receivers, {*apart_from, *RIVAL_PORTS}, least
        self.settings, self.links, self.samples, self.seen, self.moving = {}, {}, {}, {}, {}
        self.begun, self.done, self.started = threading.Barrier(len(hosts) + 1), threading.Event(), None
        self.threads = [threading.Thread(target=self.watch, args=(h,), daemon=True) for h in hosts]

    def watch(self, host):
        enter(host)
        key = host.address
        self.settings[key], self.links[key], self.samples[key], self.seen[key], self.moving[key] = network_settings(), [], [], {}, []
        self.links[key].append((time.monotonic(), received_bytes()))
        self.begun.wait(30)
        turn, begun = 0, time.monotonic()
        while not self.pause(key, begun):
            self.links[key].append((time.monotonic(), received_bytes()))
            turn += 1
            if turn <= 5 / self.rarer or turn % 3 == 0:
                self.sample(key)
        self.links[key].append((time.monotonic(), received_bytes()))
        self.sample(key)  # the programs of a swarm still hold their connections

    def pause(self, key, begun):
        """Until the next look; True: it was the last."""
        until = time.monotonic() + 0.2 * self.rarer
        while time.monotonic() < min(until, begun + 1):
            if self.done.wait(0.01 * self.rarer):
                return True
            self.links[key].append((time.monotonic(), received_bytes()))
        return self.done.wait(max(0, until - time.monotonic()))

    def sample(self, key):
        now = tcp_sockets()
        self.samples[key].append(set(now))
        carried = {ends: s.carried for ends, s in now.items() if not {port_of(e) for e in ends} & self.apart_from}
        before = self.seen[key]
        busy = [ends for ends, sum_so_far in carried.items() if sum_so_far - (before[ends].carried if ends in before else 0) >= LEAST_BLOCK]
        self.moving[key].append((time.monotonic(), collections.Counter(remote.rpartition(':')[0] for _, remote in busy)))
        self.seen[key].update({ends: now[ends] for ends in carried})

    def __enter__(self):
        for t in self.threads:
            t.start()
        self.begun.wait(30)
        self.started = time.monotonic()
        return self

    def __exit__(self, *_):
        self.done.set()
        for t in self.threads:
            t.join()

    def checks(self):
        """For each host: congestion control of its data sockets, how many it had at most at once, bytes it sent again, and its settings.

        What happened after the last sample is missing; a transfer of less than a fifth of a second shows nothing."""
        found = []
        for host in self.hosts:
            key = host.address
            data = {ends: s for ends, s in self.seen[key].items() if s.carried >= self.least}
            found.append({'host': key, 'congestion': sorted({s.congestion for s in data.values()}),
                          'data_sockets': max((len(ends & data.keys()) for ends in self.samples[key]), default=0),
                          'bytes_retransmitted': sum(s.retransmitted for s in data.values()), **self.settings[key]})
        return found

    def series(self):
        """[(seconds since the start, bytes that all receivers' links took in)]."""
        links = {host.address: self.links[host.address] for host in self.receivers}
        events = sorted((t, key, got - samples[0][1]) for key, samples in links.items() for t, got in samples)
        latest, found = {}, []
        for t, key, got in events:
            latest[key] = got
            found.append((round(max(0.0, t - self.started), 3), sum(latest.values())))
        return found

    def lanes(self, host):
        """[(seconds since the start, sockets that carried data since the look before, other ends that they led to)]."""
        return [(round(max(0.0, t - self.started), 2), sum(of.values()), len(of)) for t, of in self.moving[host.address]]

    def lanes_at_the_end(self, host):
        """{other end: median of such sockets} in the last third of the time, the last look left out."""
        looks = self.moving[host.address][:-1]
        last = [of for t, of in looks if t - self.started >= (looks[-1][0] - self.started) * 2 / 3] if looks else []
        return {end: statistics.median(of[end] for of in last) for end in sorted(set().union(*last))}

    def first_data_s(self):
        """Seconds until the first data reached a receiver: more than what connecting to peers and to a tracker takes."""
        return next((t for t, got in self.series() if got >= self.least), None)


def files_of(path):
    """{name within: size} of a folder; a file is its own only one, named '.'."""
    path = pathlib.Path(path)
    paths = [p for p in path.rglob('*') if p.is_file()] if path.is_dir() else [path]
    return {str(p.relative_to(path)): p.stat().st_size for p in paths}


def size_of(path):
    """Bytes of a file, or of all files below a folder."""
    return sum(files_of(path).values())


def assert_absent(tool, target):
    """That nothing of an earlier run could pass for what this one brought."""
    assert not pathlib.Path(target).exists(), f'{tool}: {target} is there already'


def assert_whole(tool, source, target, verify):
    """That the copy has all files at their sizes and, with `verify`, every byte; what was looked at, for Transfer.checks."""
    assert pathlib.Path(target).exists(), f'{tool}: there is no {target}'
    sent, got = files_of(source), files_of(target)
    wrong = sorted(n for n in sent.keys() | got.keys() if sent.get(n) != got.get(n))
    assert not wrong, (f'{tool}: {target} is not whole: {len(wrong)} files differ in size, as {wrong[0]} with {got.get(wrong[0])} bytes, '
                       f'not {sent.get(wrong[0])}')
    if verify:
        done = subprocess.run(['diff', '-rq', source, target], capture_output=True, text=True)
        assert done.returncode == 0, f'{tool}: {target} differs from its source: {done.stdout.strip()[:300]}'
    return {'content': 'every byte' if verify else 'sizes', 'files': len(sent)}
