"""Hosts on an emulated wide area (`wan-emulator`), for measurements and for the emulator's own tests.

    with Lab(network, bin) as lab:        # network: what bench/wide/*.json have under "network"
        lab['seed'].run(['ping', '-c1', lab['get'].address])

Namespaces have no names: they go with the emulator, and that goes with this process, however it ends.
"""
import atexit
import json
import os
import pathlib
import subprocess
import tempfile
import threading

import harness
import netns

# A run is void beyond these. Set by `./dev bench emulator`: docs/decisions/2026-11-24-what-voids-a-run.md.
MOST_LATE = 0.01  # of the packets, handed over or read more than 0.5 ms too late
LEAST_IDLE = 0.1  # of the machine, where it is not the tools that take it

ALLOWED_CONGESTION = pathlib.Path('/proc/sys/net/ipv4/tcp_allowed_congestion_control')
AVAILABLE_CONGESTION = pathlib.Path('/proc/sys/net/ipv4/tcp_available_congestion_control')


def require_root():
    if os.geteuid() != 0:
        harness.skip('the wide-area emulator makes network namespaces, which needs root')
    if not os.path.exists('/dev/net/tun'):
        harness.skip('this machine has no /dev/net/tun')


class Lab:
    def __init__(self, network, bin_dir, tcp=None, tcp_of=None, allowed=None):
        """`tcp`: settings of net.ipv4 for every host, as {'tcp_congestion_control': 'cubic'}, and `tcp_of` for some by name; read back, and an
        error if they do not hold. `allowed`: the congestion controls that programs may choose, and no others; without it, what the machine
        allows and those that `tcp` names."""
        self.network, self.bin, self.tcp, self.tcp_of = network, pathlib.Path(bin_dir), tcp or {}, tcp_of or {}
        self.allowed = allowed
        self.hosts = {}
        self.talk = threading.Lock()

    def __enter__(self):
        with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
            json.dump(self.network, file)
            file.flush()
            self.process = subprocess.Popen([self.bin / 'wan-emulator', file.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, text=True, bufsize=1)
            line = self.process.stdout.readline()
        if not line:
            error = self.process.stderr.read().strip()
            self.process.wait()
            raise AssertionError(error)
        ready = json.loads(line)
        for name, host in ready['hosts'].items():
            self.hosts[name] = LabHost(name, host['netns'], host['addresses'])
        try:
            for name, host in self.hosts.items():
                host.set_tcp({'tcp_no_metrics_save': 1, **self.tcp, **self.tcp_of.get(name, {})})
            if self.allowed is not None:
                set_allowed_congestion_control(self.allowed)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def __getitem__(self, name):
        return self.hosts[name]

    def ask(self, **command):
        with self.talk:
            self.process.stdin.write(json.dumps(command) + '\n')
            answer = json.loads(self.process.stdout.readline())
        if answer['event'] == 'error':
            raise AssertionError(answer['message'])
        return answer

    def stats(self):
        return self.ask(do='stats')

    def drops(self):
        """What the network dropped since the last call (at most 100,000): [{"at_s": by the monotonic clock, "address": whose link,
        "way": "up" or "down", "by": "queue" or "random", "flow": number, "bytes": on the wire}]."""
        return self.ask(do='drops')['drops']

    def start_changes(self):
        self.ask(do='start')

    def change(self, host, **values):
        self.ask(do='change', host=host, **values)

    def reset(self):
        """Every link is again as the scenario has it, and the changes wait for their start."""
        self.ask(do='reset')

    def reseed(self, seed):
        self.ask(do='reseed', seed=seed)

    def watch(self):
        """A context: what the emulator did between its two ends, in `.figures`, and in `.void` why that says nothing, if so."""
        return Watch(self)


def void_reason(figures):
    """Why a run says nothing about its tools, or None. `figures`: those of a Watch, with the cores that the tools' own programs took."""
    late = max(figures['late'], figures['read_late'])
    if figures['dropped_unread']:
        return f'the kernel dropped {figures["dropped_unread"]} packets at the emulator\'s devices'
    if late > MOST_LATE:
        return f'{100 * late:.1f} % of the packets were more than 0.5 ms late (at most {100 * MOST_LATE:g} %)'
    if figures['idle'] < LEAST_IDLE and figures['tools'] < figures['busy'] / 2:
        return (f'the machine was {100 * figures["idle"]:.0f} % idle (at least {100 * LEAST_IDLE:g} %), and of {figures["busy"]:.2f} busy cores the '
                f'tools took {figures["tools"]:.2f} only')
    return None


class Watch:
    """What the emulator and the machine did during a run; judge() says whether the run counts."""

    def __init__(self, lab):
        self.lab, self.figures, self.void = lab, {}, None

    def __enter__(self):
        self.before, self.ticks = self.lab.stats(), processor_ticks()
        return self

    def __exit__(self, *_):
        after, ticks = self.lab.stats(), [b - a for a, b in zip(self.ticks, processor_ticks())]
        gone = {k: after[k] - self.before[k] for k in ('wall_s', 'cpu_s', 'packets', 'late_packets', 'read_packets', 'read_late_packets',
                                                       'unread_drops', 'unroutable', 'refused_writes')}
        links = {ip: {k: link[k] - self.before['links'][ip][k] for k in link if k != 'host'} for ip, link in after['links'].items()}
        share = {name: ticks[place] / max(1, sum(ticks)) for name, place in (('idle', 3), ('iowait', 4), ('steal', 7))}
        self.wall_s = gone['wall_s']
        self.figures = {'cores': round(gone['cpu_s'] / gone['wall_s'], 3), 'late': round(gone['late_packets'] / max(1, gone['packets']), 4),
                        'read_late': round(gone['read_late_packets'] / max(1, gone['read_packets']), 4),
                        'steal': round(share['steal'], 3), 'idle': round(share['idle'], 3),
                        'busy': round((1 - sum(share.values())) * os.cpu_count(), 3),
                        'dropped_unread': gone['unread_drops'] + gone['refused_writes'], 'unroutable': gone['unroutable'], 'links': links}

    def judge(self, tools_cpu_s):
        """`tools_cpu_s`: what the programs that are measured took, at both ends."""
        self.figures['tools'] = round(tools_cpu_s / self.wall_s, 3)
        self.void = void_reason(self.figures)


def processor_ticks():
    """Of all processors so far: user, nice, system, idle, iowait, irq, softirq, steal."""
    return [int(x) for x in pathlib.Path('/proc/stat').read_text().splitlines()[0].split()[1:9]]


class LabHost(netns.Host):
    def __init__(self, name, ns, addresses):
        super().__init__(ns, addresses[0], None)
        self.name, self.addresses = name, addresses

    def set_tcp(self, settings):
        for key, value in settings.items():
            if key == 'tcp_congestion_control':
                allow_congestion_control(value)
            path = f'/proc/sys/net/ipv4/{key}'
            self.run(['sh', '-c', f'echo {value} > {path}'])
            if self.tcp(key) != str(value):
                raise AssertionError(f'{self.name}: net.ipv4.{key} is {self.tcp(key)}, not {value}')

    def tcp(self, key):
        return ' '.join(self.run(['cat', f'/proc/sys/net/ipv4/{key}']).split())


def allow_congestion_control(name):
    """A namespace may only choose what the machine allows to all."""
    allowed = ALLOWED_CONGESTION.read_text().split()
    if name not in allowed:
        set_allowed_congestion_control([*allowed, name])


def set_allowed_congestion_control(names):
    """For the whole machine, restored when this process ends."""
    available, before = AVAILABLE_CONGESTION.read_text().split(), ALLOWED_CONGESTION.read_text()
    for name in names:
        if name not in available:
            raise AssertionError(f'this kernel has no congestion control "{name}"; it has {" ".join(available)}')
    if set(names) != set(before.split()):
        atexit.register(ALLOWED_CONGESTION.write_text, before)  # the last one registered is the first to be called
        ALLOWED_CONGESTION.write_text(' '.join(names))
