"""GridTorrent on the hosts of a lab: a server, a seeding and some fetching nodes, and transfers measured as their users would see them."""
import contextlib
import datetime
import json
import os
import shutil
import time

import cpu_bound
import explained
import harness
import wide_check
from peers import common

SERVER_PORT = 7443


def cpu_seconds(*daemons):
    """User and system time of programs so far."""
    total = 0
    for daemon in daemons:
        with open(f'/proc/{daemon.pid}/stat') as stat:
            fields = stat.read().rpartition(')')[2].split()
        total += (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
    return total


class Ours:
    """alice, whose nodes seed, and bob, whose nodes fetch, are members of the group `bench`. `hosts` maps roles to hosts of a lab: 'server',
    one or more that begin with 'seed', and others, which fetch; those that begin with 'rival' run no node. `cpu`: parts of a core that the
    nodes of some roles are held to. `congestion`: what fetching nodes may ask the seeding ones for. `uploads`: what owners of seeding
    nodes give at most."""

    def __init__(self, hosts, bin_dir, args=(), cpu=None, congestion=(), uploads=None):
        self.hosts, self.args, self.cpu, self.congestion, self.uploads = hosts, args, cpu or {}, congestion, uploads or {}
        self.scene = harness.Scene(bin_dir)
        self.program = explained.Program(self.scene.bin / 'gridtorrent')
        self.held = contextlib.ExitStack()
        self.places, self.killed, self.gone_cpu_s, self.has_history = {}, [], 0.0, False

    def __enter__(self):
        self.scene.__enter__()
        try:
            self.start()
        except BaseException as e:
            self.scene.__exit__(type(e), e, None)
            raise
        return self

    def start(self):
        server = self.hosts['server']
        self.scene.server(listen=f'{server.address}:{SERVER_PORT}', advertise=f'{server.address}:{SERVER_PORT}', netns=server.ns)
        self.scene.admin(netns=server.ns)
        self.alice = self.scene.user('alice', netns=server.ns)
        self.bob = self.scene.user('bob', netns=server.ns)
        self.alice.cli('group', 'create', 'bench')
        self.alice.cli('group', 'invite', 'bench', 'bob')
        self.bob.cli('group', 'accept', 'bench')
        self.seeders, self.fetchers = wide_check.seeders(self.hosts), wide_check.fetchers(self.hosts)
        self.nodes = {}
        grants = ['--lane-congestion-control', ','.join(self.congestion)] if self.congestion else []
        for role in (*self.seeders, *self.fetchers):
            host = self.hosts[role]
            given = ['--upload-limit', self.uploads[role]] if role in self.uploads else []
            self.nodes[role] = self.scene.node(self.alice if role in self.seeders else self.bob, role, netns=host.ns, address=host.address,
                                               ports='50000-50015', tls_ports='50016-50031',
                                               args=[*self.args, *(grants if role in self.seeders else []), *given])
            if role in self.cpu:
                self.held.enter_context(cpu_bound.CpuBound(self.nodes[role].pid, self.cpu[role]))
        self.seed = self.nodes[self.seeders[0]]

    def __exit__(self, *error):
        self.held.close()
        return self.scene.__exit__(*error)

    def publish(self, path, name, access):
        """All seeders serve it, each from the same place."""
        self.alice.cli('publish', path, '--name', name, '--access', access, node=self.seed, timeout_s=1200)
        for role in self.seeders[1:]:
            self.alice.cli('seed', f'alice/{name}', '--from', path, node=self.nodes[role], timeout_s=1200)
        self.places[name] = path

    def kill(self, role):
        self.gone_cpu_s += cpu_seconds(self.nodes[role])
        self.nodes[role].kill()
        self.killed.append(role)

    def revive(self):
        """The nodes that were killed serve again what they did."""
        while self.killed:
            self.nodes[self.killed.pop()].start()
        for name in self.places:
            harness.wait_until(lambda n=name: self.alice.cli('show', f'alice/{n}', '--json', node=self.seed).json['seeders'] >= len(self.seeders),
                               f'all seeders to serve {name} again', 120)

    def cpu_s(self):
        """Of all nodes so far, those that were killed included."""
        return self.gone_cpu_s + cpu_seconds(*(node for node in self.nodes.values() if node.running()))

    def forget(self, role, events):
        """Ends the seeding of what one command fetched: its files are deleted next, and a node that still offers them is dialled in vain."""
        started = next(e for e in events if e['event'] == 'started')
        self.bob.cli('transfer', 'cancel', started['transfer_id'], node=self.nodes[role])

    def remember(self, history, source, name, target, role):
        """Has the node know nothing of the path (cold), or what one fetch has taught it (warm)."""
        if history == 'cold':
            self.forget_history(role)
        elif not self.has_history:
            self.get(source, name, target, role=role, history=None, verify=False)
            shutil.rmtree(target)

    def forget_history(self, role):
        if self.program.has('tune', 'history'):
            self.bob.cli('tune', 'history', '--forget', 'all', node=self.nodes[role])
        self.has_history = False

    def estimate(self, name, target, role):
        """What `estimate` says of the get that follows it. What it fetches in order to know stays in the folder."""
        said = self.bob.cli('estimate', f'alice/{name}', '--to', target, '--json', node=self.nodes[role]).event('estimate')
        return {key: said[key] for key in ('basis', 'bytes', 'likely_ms', 'least_ms', 'most_ms', 'limit_word', 'probed_ms', 'kept_bytes')}

    def get(self, source, name, target, role=None, verify=True, timeout_s=1800, history='cold', estimate=False, **wishes):
        """One fetch of a published file or folder, from the start of the command to its exit."""
        role = role or self.fetchers[0]
        if history and 'lanes' not in wishes:
            self.remember(history, source, name, target, role)
        target.mkdir()
        node = self.nodes[role]
        estimated = self.estimate(name, target, role) if estimate else None
        anew = [] if estimated and estimated['kept_bytes'] else ['--refetch']
        args = ['get', f'alice/{name}', '--to', target, *anew, '--json', *explained.arguments(wishes)]
        sending, getter = [self.hosts[seeder] for seeder in self.seeders], self.hosts[role]
        log_from = node.log_path.stat().st_size
        with common.Watch(*sending, getter, receivers=[getter], apart_from=[SERVER_PORT]) as watch:
            cpu = self.cpu_s()
            started = time.monotonic()
            process = self.bob.start_cli(*args, node=node)
            out, errors = process.communicate(timeout=timeout_s)
            took = time.monotonic() - started
            cpu_s = self.cpu_s() - cpu
        if process.returncode != 0:
            raise AssertionError(f'get {name}: exit {process.returncode}\n{errors}\n{node.log()}')
        events = list(map(json.loads, out.splitlines()))
        done = next(e for e in events if e['event'] == 'done')
        transfer = next(e for e in events if e['event'] == 'started')['transfer_id']
        decisions = explained.decisions(self.bob, node, self.program, transfer, log_from)
        plot = explained.plot(self.bob, node, self.program, transfer)
        content = common.assert_whole('gridtorrent', source, target / source.name, verify)
        self.forget(role, events)
        self.has_history = self.has_history or 'lanes' not in wishes
        figures = {'redundant_bytes': done['redundant_bytes'], 'first_data_s': watch.first_data_s(), 'lanes': watch.lanes(getter),
                   'lanes_at_the_end': watch.lanes_at_the_end(getter), 'decisions': decisions, 'plot': plot}
        if any('target' in e for e in events):
            figures['target'] = said_of_target(events)
        if estimated:
            figures['estimate'] = estimated
            wishes['estimate'] = True
        return common.Transfer('gridtorrent', {**wishes, 'content': name}, common.size_of(source), took, cpu_s, [*watch.checks(), content],
                               watch.series(), figures=figures)

    def swarm(self, source, name, folder, verify=True, timeout_s=1800, **options):
        """All nodes but the seeder fetch at once, each as its user would; they go on seeding as they do."""
        roles = self.fetchers
        hosts = [self.hosts[role] for role in roles]
        targets = [folder / role for role in roles]
        args = explained.arguments(options)
        for target in targets:
            target.mkdir()
        with common.Watch(*(self.hosts[role] for role in self.seeders), *hosts, receivers=hosts, apart_from=[SERVER_PORT]) as watch:
            cpu = cpu_seconds(*self.nodes.values())
            started = time.monotonic()

            def get(role, target):
                done = self.bob.cli('get', f'alice/{name}', '--to', target, '--refetch', '--json', *args, node=self.nodes[role], timeout_s=timeout_s)
                return time.monotonic() - started, done
            ended = harness.run_parallel(*(lambda r=role, t=target: get(r, t) for role, target in zip(roles, targets)))
            cpu_s = cpu_seconds(*self.nodes.values()) - cpu
        content = [common.assert_whole('gridtorrent', source, target / source.name, verify) for target in targets][0]
        harness.run_parallel(*(lambda r=role, e=done.events: self.forget(r, e) for role, (_, done) in zip(roles, ended)))
        each = [seconds for seconds, _ in ended]
        figures = {'redundant_bytes': sum(done.event('done')['redundant_bytes'] for _, done in ended), 'first_data_s': watch.first_data_s()}
        return common.Transfer('gridtorrent', {'leechers': len(roles), 'content': name, **options}, common.size_of(source), max(each), cpu_s,
                               [*watch.checks(), content], watch.series(), each, figures)

    def side_by_side(self, contents, folder, timeout_s=1800):
        """Nodes fetch different contents from the seeder at once, `contents` being [(source, name, lanes)], one for each node; what each of
        them got of the uplink while all of them were at it."""
        roles = self.fetchers[:len(contents)]
        hosts = [self.hosts[role] for role in roles]
        gets = []
        with common.Watch(*(self.hosts[role] for role in self.seeders), *hosts, receivers=hosts, apart_from=[SERVER_PORT]) as watch:
            cpu = cpu_seconds(*self.nodes.values())
            started = time.monotonic()
            for role, (_, name, lanes) in zip(roles, contents):
                (folder / role).mkdir()
                gets.append(self.bob.start_cli('get', f'alice/{name}', '--to', folder / role, '--refetch', '--json', '--lanes', lanes,
                                               node=self.nodes[role]))
            samples = []
            while all(get.poll() is None for get in gets):
                samples.append((time.monotonic() - started, [common.inside(host, common.received_bytes) for host in hosts]))
                time.sleep(0.5)
            said = {}
            for role, get in zip(roles, gets):
                said[role], errors = get.communicate(timeout=timeout_s)
                if get.returncode != 0:
                    raise AssertionError(f'get on {role}: exit {get.returncode}\n{errors}\n{self.nodes[role].log()}')
            took, cpu_s = time.monotonic() - started, cpu_seconds(*self.nodes.values()) - cpu
        content = [common.assert_whole('gridtorrent', source, folder / role / source.name, True) for role, (source, _, _) in zip(roles, contents)][0]
        for role, out in said.items():
            self.forget(role, map(json.loads, out.splitlines()))
        return common.Transfer('gridtorrent', {'lanes': [lanes for _, _, lanes in contents]}, sum(common.size_of(c[0]) for c in contents), took,
                               cpu_s, [*watch.checks(), content], watch.series(), figures=shares_of(samples))


def said_of_target(events):
    """[(seconds since the transfer began, whether what was asked for is kept, the part of it that lacks)] of what `get --json` printed."""
    def at(event):
        return datetime.datetime.fromisoformat(event['time']).timestamp()
    begun = at(next(e for e in events if e['event'] == 'started'))
    return [(round(at(e) - begun, 1), e['target']['held'], round(e['target']['shortfall'], 3)) for e in events if 'target' in e]


SETTLED_S = 10  # a window that was small, or a measurement of what the uplink carries, takes seconds


def shares_of(samples):
    """Of [(seconds, [bytes that each got so far])]: each one's part of it all, of all but the first seconds, and when the last 5 s were
    first within 40 to 60 % for each of two."""
    def parts(a, b):
        got = [y - x for x, y in zip(a, b)]
        return [round(g / max(1, sum(got)), 3) for g in got]
    settled = next((i for i, (t, _) in enumerate(samples) if t >= SETTLED_S), len(samples) - 1)
    even = None
    for i, (t, got) in enumerate(samples):
        before = next(((u, b) for u, b in reversed(samples[:i]) if u <= t - 5), None)
        if before and even is None and all(abs(p - 1 / len(got)) <= 0.1 for p in parts(before[1], got)):
            even = round(before[0], 1)
    return {'shares': parts(samples[0][1], samples[-1][1]), 'settled_shares': parts(samples[settled][1], samples[-1][1]),
            'even_from_s': even}
