"""GridTorrent on the hosts of a lab: a server, a seeding and some fetching nodes, and transfers measured as their users would see them."""
import json
import os
import time

import harness
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
    """alice, whose node seeds, and bob, whose nodes fetch, are members of the group `bench`. `hosts` maps the roles 'server', 'seed', and one or more others, which fetch, to hosts of a lab."""

    def __init__(self, hosts, bin_dir, args=()):
        self.hosts, self.args = hosts, args
        self.scene = harness.Scene(bin_dir)

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
        self.nodes = {}
        for role, host in self.hosts.items():
            if role == 'server':
                continue
            self.nodes[role] = self.scene.node(self.alice if role == 'seed' else self.bob, role, netns=host.ns, address=host.address,
                                               ports='50000-50015', tls_ports='50016-50031', args=self.args)
        self.seed = self.nodes['seed']

    def __exit__(self, *error):
        return self.scene.__exit__(*error)

    def publish(self, path, name, access):
        self.alice.cli('publish', path, '--name', name, '--access', access, node=self.seed, timeout_s=1200)

    def forget(self, role, events):
        """Ends the seeding of what one command fetched: its files are deleted next, and a node that still offers them is dialled in vain."""
        started = next(e for e in events if e['event'] == 'started')
        self.bob.cli('transfer', 'cancel', started['transfer_id'], node=self.nodes[role])

    def get(self, source, name, target, lanes=None, limit=None, role='get', verify=True, timeout_s=1800):
        """One fetch of a published file or folder, from the start of the command to its exit."""
        target.mkdir()
        node = self.nodes[role]
        args = ['get', f'alice/{name}', '--to', target, '--refetch', '--json']
        args += ['--lanes', lanes] if lanes else []
        args += ['--limit', limit] if limit else []
        seed, getter = self.hosts['seed'], self.hosts[role]
        with common.Watch(seed, getter, receivers=[getter], apart_from=[SERVER_PORT]) as watch:
            cpu = cpu_seconds(self.seed, node)
            started = time.monotonic()
            process = self.bob.start_cli(*args, node=node)
            out, errors = process.communicate(timeout=timeout_s)
            took = time.monotonic() - started
        if process.returncode != 0:
            raise AssertionError(f'get {name}: exit {process.returncode}\n{errors}\n{node.log()}')
        events = list(map(json.loads, out.splitlines()))
        done = next(e for e in events if e['event'] == 'done')
        content = common.assert_whole('gridtorrent', source, target / source.name, verify)
        self.forget(role, events)
        figures = {'redundant_bytes': done['redundant_bytes'], 'first_data_s': watch.first_data_s()}
        return common.Transfer('gridtorrent', {'lanes': lanes, 'limit': limit, 'content': name}, common.size_of(source), took,
                               cpu_seconds(self.seed, node) - cpu, [*watch.checks(), content], watch.series(), figures=figures)

    def swarm(self, source, name, folder, verify=True, timeout_s=1800, **options):
        """All nodes but the seeder fetch at once, each as its user would; they go on seeding as they do."""
        roles = [role for role in self.nodes if role != 'seed']
        hosts = [self.hosts[role] for role in roles]
        targets = [folder / role for role in roles]
        args = [word for key, value in options.items() for word in (f'--{key}', value)]
        for target in targets:
            target.mkdir()
        with common.Watch(self.hosts['seed'], *hosts, receivers=hosts, apart_from=[SERVER_PORT]) as watch:
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
        roles = [role for role in self.nodes if role != 'seed'][:len(contents)]
        hosts = [self.hosts[role] for role in roles]
        gets = []
        with common.Watch(self.hosts['seed'], *hosts, receivers=hosts, apart_from=[SERVER_PORT]) as watch:
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
