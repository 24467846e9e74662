"""The scenarios of ./dev bench: every function bench_NAME(args) prints its figures and returns them."""
import hashlib
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

import data
import harness
import netns
import rights_flood_test
from absence import bench_absence  # noqa: F401 (a scenario, too)
from cpu_profile import bench_profile  # noqa: F401
from data import parse_size
from emulator import bench_emulator  # noqa: F401
from gui import bench_gui  # noqa: F401
from many import bench_many  # noqa: F401
from node_limits import bench_node_limits  # noqa: F401
from update import bench_update  # noqa: F401

GB = 1_000_000_000


def median_iqr(values):
    q = statistics.quantiles(values, n=4) if len(values) > 1 else [values[0]] * 3
    return statistics.median(values), q[2] - q[0]


def openssl_sha256_mb_s():
    """One core of `openssl speed -evp sha256` at 16 KiB blocks, in MB/s."""
    text = subprocess.run(['openssl', 'speed', '-seconds', '2', '-bytes', '16384', '-evp', 'sha256'], capture_output=True, text=True).stdout
    return float(re.findall(r'([\d.]+)k\s*$', text.strip())[-1]) / 1000


def start_server(scene, host):
    at = f'{host.address}:7443'
    return scene.server(listen=at, advertise=at, netns=host.ns)


class PeakMemory:
    """Samples anonymous plus shared memory of daemons until stopped."""

    def __init__(self, *daemons):
        self.daemons, self.peak = daemons, {d.name: 0 for d in daemons}
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.sample)

    def sample(self):
        while not self.done.wait(0.2):
            for d in self.daemons:
                try:
                    self.peak[d.name] = max(self.peak[d.name], d.memory_kb()[0])
                except (FileNotFoundError, ProcessLookupError, KeyError):
                    continue  # it is being restarted

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def bench_swarm(args):
    """B: one seeder behind 200 Mbit/s, two leechers at once; what each got from the other, and memory."""
    netns.require_root()
    size = parse_size(args.size, 2 * GB)
    with netns.Network('server', 'seed', 'one', 'two') as net, harness.Scene(args.bin) as scene:
        start_server(scene, net['server'])
        scene.admin(netns=net['server'].ns)
        alice, bob, carol = (scene.user(n, netns=net['server'].ns) for n in ('alice', 'bob', 'carol'))
        nodes = [scene.node(u, n, netns=net[n].ns, address=net[n].address)
                 for u, n in ((alice, 'seed'), (bob, 'one'), (carol, 'two'))]
        source = scene.dir / 'data.bin'
        data.random_file(source, size)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=nodes[0])
        net['seed'].shape_uplink(200)
        before = net['seed'].sent_bytes()

        def get(user, node):
            target = scene.dir / f'to-{node.short_name}'
            target.mkdir()
            event = user.cli('get', 'alice/data', '--to', target, '--json', node=node, timeout_s=1200).event('done')
            assert harness.difference(source, target / 'data.bin') is None
            return event

        with PeakMemory(*nodes) as memory:
            one, two = harness.run_parallel(lambda: get(bob, nodes[1]), lambda: get(carol, nodes[2]))
        sent = net['seed'].sent_bytes() - before
        figures = {'bytes': size, 'seeder_sent_copies': round(sent / size, 3), 'peak_memory_mb': {k: round(v / 1024) for k, v in memory.peak.items()}}
        for event, me, other in ((one, nodes[1], nodes[2]), (two, nodes[2], nodes[1])):
            got = {s['node']: s['bytes'] for s in event['seeders']}
            share = got.get(other.node_id, 0) / max(1, sum(got.values()))
            figures[me.short_name] = {'seconds': event['seconds'], 'share_from_the_other': round(share, 3), 'redundant_bytes': event['redundant_bytes']}
            print(f'  {me.short_name}: {event["seconds"]:.1f} s, {share:.1%} from the other, {event["redundant_bytes"]} redundant bytes')
        print(f'  the seeder sent {sent / size:.2f} copies; peak anonymous + shared memory (MB): {figures["peak_memory_mb"]}')
        return figures


def bench_lan(args):
    """C: 2 GB over veth against globus-url-copy -p 4 and a SHA-256 of the result, alternating."""
    netns.require_root()
    if not shutil.which('globus-url-copy'):
        harness.skip('install globus-gass-copy-progs and globus-gridftp-server-progs for the comparison')
    size, runs = parse_size(args.size, 2 * GB), args.runs or 5
    with netns.Network('server', 'seed', 'get') as net, harness.Scene(args.bin) as scene:
        start_server(scene, net['server'])
        scene.admin(netns=net['server'].ns)
        alice, bob = (scene.user(n, netns=net['server'].ns) for n in ('alice', 'bob'))
        seed, get = (scene.node(u, n, netns=net[n].ns, address=net[n].address) for u, n in ((alice, 'seed'), (bob, 'get')))
        source = scene.dir / 'data.bin'
        data.random_file(source, size)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=seed)
        ftp = subprocess.Popen(['ip', 'netns', 'exec', net['seed'].ns, 'globus-gridftp-server', '-aa', '-allow-root', '-anonymous-user', 'root', '-p', '2811',
                                '-log-level', 'ERROR'],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            harness.wait_until(lambda: subprocess.run(['ip', 'netns', 'exec', net['get'].ns, 'bash', '-c',
                                                       f'echo >/dev/tcp/{net["seed"].address}/2811'], capture_output=True).returncode == 0,
                               'the GridFTP server')
            ours, theirs, coreutils, checks = [], [], [], []
            for run in range(runs):
                target = scene.dir / f'run{run}'
                target.mkdir()
                data.in_page_cache(source)
                result = bob.cli('get', 'alice/data', '--to', target, '--json', '--refetch', node=get)
                ours.append(result.seconds)
                engine = result.event('done')['seconds']
                shutil.rmtree(target)
                data.in_page_cache(source)
                copy = scene.dir / 'globus.bin'
                started = time.monotonic()
                subprocess.run(['ip', 'netns', 'exec', net['get'].ns, 'globus-url-copy', '-p', '4',
                                f'ftp://anonymous:x@{net["seed"].address}:2811{source}', f'file://{copy}'], check=True)
                copied = time.monotonic() - started
                digest = subprocess.run(['openssl', 'dgst', '-sha256', copy], check=True, capture_output=True, text=True).stdout
                theirs.append(time.monotonic() - started)
                checks.append(theirs[-1] - copied)
                assert digest.split()[-1]
                started = time.monotonic()
                subprocess.run(['sha256sum', copy], check=True, capture_output=True)
                coreutils.append(time.monotonic() - started)
                copy.unlink()
                print(f'  run {run + 1}: ours {ours[-1]:.2f} s (fetch {engine:.2f}), globus {copied:.2f} + openssl {checks[-1]:.2f} = '
                      f'{theirs[-1]:.2f} s, sha256sum {coreutils[-1]:.2f} s', flush=True)
        finally:
            ftp.terminate()
        ratio = statistics.median(ours) / statistics.median(theirs)
        figures = {'bytes': size, 'ours_s': ours, 'globus_openssl_s': theirs, 'openssl_s': checks, 'sha256sum_s': coreutils, 'median_ratio': round(ratio, 3)}
        print(f'  median: ours {statistics.median(ours):.2f} s, globus-url-copy -p 4 + openssl dgst {statistics.median(theirs):.2f} s: ratio {ratio:.2f}')
        return figures


def cpu_seconds(daemon):
    """User and system time of a program so far."""
    fields = pathlib.Path(f'/proc/{daemon.pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def bench_tls(args):
    """Rights, F: the same data over encrypted and over plain lanes, 4 of them through 500 Mbit/s, alternating."""
    netns.require_root()
    size, runs = parse_size(args.size, GB), args.runs or 5
    with netns.Network('server', 'seed', 'get') as net, harness.Scene(args.bin) as scene:
        start_server(scene, net['server'])
        scene.admin(netns=net['server'].ns)
        alice, bob = (scene.user(n, netns=net['server'].ns) for n in ('alice', 'bob'))
        seed, get = (scene.node(u, n, netns=net[n].ns, address=net[n].address) for u, n in ((alice, 'seed'), (bob, 'get')))
        source = scene.dir / 'data.bin'
        data.random_file(source, size)
        for name, access in (('plain', 'public'), ('tls', 'user:bob')):
            alice.cli('publish', source, '--name', name, '--access', access, node=seed)
        net['seed'].shape_uplink(500)
        seconds, cpu = {'plain': [], 'tls': []}, {'plain': [], 'tls': []}
        for run in range(runs):
            for name in ('plain', 'tls') if run % 2 == 0 else ('tls', 'plain'):
                target = scene.dir / f'{name}-{run}'
                target.mkdir()
                before = cpu_seconds(seed) + cpu_seconds(get)
                done = bob.cli('get', f'alice/{name}', '--to', target, '--lanes', 4, '--refetch', '--json', node=get, timeout_s=1200).event('done')
                seconds[name].append(done['seconds'])
                cpu[name].append((cpu_seconds(seed) + cpu_seconds(get) - before) * GB / size)
                assert harness.difference(source, target / 'data.bin') is None
                (target / 'data.bin').unlink()
            print(f'  {run + 1}: plain {seconds["plain"][-1]:.2f} s, tls {seconds["tls"][-1]:.2f} s; '
                  f'CPU s a GB of both nodes: {cpu["plain"][-1]:.2f}, {cpu["tls"][-1]:.2f}', flush=True)
        ratio = statistics.median(p / t for p, t in zip(seconds['plain'], seconds['tls']))
        print(f'  median: tls has {ratio:.3f} of the rate of plain; CPU seconds a GB, seeder and leecher together: '
              f'plain {statistics.median(cpu["plain"]):.2f}, tls {statistics.median(cpu["tls"]):.2f}')
        return {'bytes': size, 'seconds': seconds, 'cpu_s_per_gb': cpu, 'ratio': round(ratio, 3)}


def bench_flood(args):
    """Rights, H: an entitled peer's rate with and without 2,000 half-open handshakes at the seeder's TLS lane ports, alternating."""
    size, runs = parse_size(args.size, GB), args.runs or 5
    with harness.Scene(args.bin) as scene:
        scene.server()
        alice = scene.user('alice')
        seed, get = scene.node(alice, 'seed'), scene.node(alice, 'get')
        source = scene.dir / 'data.bin'
        data.random_file(source, size)
        alice.cli('publish', source, '--name', 'data', '--access', 'private', node=seed)
        seconds = {'calm': [], 'flooded': []}

        def fetch(kind):
            target = scene.dir / f'{kind}-{len(seconds[kind])}'
            target.mkdir()
            done = alice.cli('get', 'data', '--to', target, '--lanes', 4, '--refetch', '--json', node=get, timeout_s=1200).event('done')
            seconds[kind].append(done['seconds'])
            (target / 'data.bin').unlink()
        for run in range(runs):
            for kind in ('calm', 'flooded') if run % 2 == 0 else ('flooded', 'calm'):
                if kind == 'flooded':
                    with rights_flood_test.Flood(rights_flood_test.tls_ports(seed)):
                        fetch(kind)
                else:
                    fetch(kind)
            print(f'  {run + 1}: {seconds["calm"][-1]:.2f} s calm, {seconds["flooded"][-1]:.2f} s flooded', flush=True)
        ratios = [c / f for c, f in zip(seconds['calm'], seconds['flooded'])]
        median, iqr = median_iqr(ratios)
        print(f'  median: {median:.2f} of the rate (IQR {iqr:.2f}); the flood runs on the same cores')
        return {'bytes': size, 'seconds': seconds, 'ratio': round(median, 3)}


def bench_publish(args):
    """D: publishing 4 GB as 64 files and as one, from cache, against one core of openssl speed."""
    size, runs = parse_size(args.size, 4 * GB), args.runs or 3
    with harness.Scene(args.bin) as scene:
        scene.server()
        alice = scene.user('alice')
        node = scene.node(alice, 'alpha')
        one = scene.dir / 'one.bin'
        data.random_file(one, size)
        many = scene.dir / 'many'
        many.mkdir()
        for i in range(64):
            data.random_file(many / f'part-{i:02d}.bin', size // 64, seed=i)
        figures = {'bytes': size, 'openssl_one_core_mb_s': openssl_sha256_mb_s()}
        print(f'  openssl speed, one core, SHA-256: {figures["openssl_one_core_mb_s"]:.0f} MB/s')
        for label, path in (('one file', one), ('64 files', many)):
            rates = []
            for run in range(runs):
                data.in_page_cache(path)
                event = alice.cli('publish', path, '--name', f'{label}-{run}', '--access', 'public', '--json', node=node).event('published')
                rates.append(event['bytes'] / 1e6 / event['seconds'])
            figures[label] = {'mb_s': rates, 'ratio': round(statistics.median(rates) / figures['openssl_one_core_mb_s'], 2)}
            print(f'  {label}: {statistics.median(rates):.0f} MB/s, {figures[label]["ratio"]:.2f} of one openssl core')
        return figures


def awkward_tree(root, files=10_000, size=10_000):
    """F's tree: nested folders and every kind of name that has broken a transfer tool."""
    rng = random.Random(7)
    os.makedirs(root)
    names = [b'plain', b'with space', 'm\u00fcnchen'.encode(), b'bad\xff\xfeutf8', b'new\nline', b'.hidden', b'x' * 255, b'Case', b'case',
             b'back\\slash', b'tab\there', b'-dash', b'trailing ', '\u202egnp.exe'.encode()]
    folders = [os.fsencode(root)]
    for i in range(200):
        folder = os.path.join(rng.choice(folders[-20:]), b'd%03d-' % i + names[i % len(names)][:200])
        if len(folder) < 1500:
            os.mkdir(folder)
            folders.append(folder)
    for name in names:
        open(os.path.join(folders[0], name), 'wb').close()  # empty files
    for i in range(files):
        path = os.path.join(rng.choice(folders), b'f%05d-' % i + names[i % len(names)][:200])
        with open(path, 'wb') as f:
            f.write(rng.randbytes(size))
        os.chmod(path, rng.choice((0o644, 0o600, 0o755, 0o444)))
        os.utime(path, ns=(0, 1_600_000_000_000_000_000 + rng.randrange(10 ** 17)))
    os.mkdir(os.path.join(folders[0], b'empty folder'))
    for folder in reversed(folders):
        os.chmod(folder, rng.choice((0o755, 0o750, 0o700)))
        os.utime(folder, ns=(0, 1_500_000_000_000_000_000 + rng.randrange(10 ** 17)))


def bench_tree(args):
    """F: 10,000 files of 10 KB in nested folders under awkward names; identical by diff -r and stat."""
    with harness.Scene(args.bin) as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source, target = scene.dir / 'tree', scene.dir / 'to'
        awkward_tree(source)
        target.mkdir()
        published = alice.cli('publish', source, '--name', 'tree', '--access', 'public', '--json', node=alpha).event('published')
        done = bob.cli('get', 'alice/tree', '--to', target, '--json', node=beta).event('done')
        diff = subprocess.run(['diff', '-r', source, target / 'tree'], capture_output=True)
        assert diff.returncode == 0, diff.stdout[:2000]
        assert harness.difference(source, target / 'tree') is None, harness.difference(source, target / 'tree')
        print(f'  {published["files"]} files: published in {published["seconds"]:.1f} s, fetched in {done["seconds"]:.1f} s, identical')
        return {'files': published['files'], 'publish_s': published['seconds'], 'fetch_s': done['seconds'], 'identical': True}


def bench_lanes(args):
    """E: --lanes 1, 4, 8, 16 as ss counts them, steady for 60 s on a 200 Mbit/s link; changed at runtime within 3 s; a lane again after an outage."""
    netns.require_root()
    steady_s = 60 if args.runs is None else args.runs
    figures = {}
    with netns.Network('server', 'seed', 'get') as net, harness.Scene(args.bin) as scene:
        start_server(scene, net['server'])
        scene.admin(netns=net['server'].ns)
        alice, bob = (scene.user(n, netns=net['server'].ns) for n in ('alice', 'bob'))
        seed, get = (scene.node(u, n, netns=net[n].ns, address=net[n].address, ports='50000-50015') for u, n in ((alice, 'seed'), (bob, 'get')))
        source = scene.dir / 'data.bin'
        data.random_file(source, 8 * GB)  # more than the whole scenario can move
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=seed)
        net['seed'].shape_uplink(200)
        ports = set(range(50000, 50016))
        target = scene.dir / 'to'
        target.mkdir()

        def settle(lanes, limit_s):
            started = time.monotonic()
            harness.wait_until(lambda: net['get'].established(ports) == lanes, f'{lanes} lanes', limit_s)
            return time.monotonic() - started

        transfer = None
        for lanes in (1, 4, 8, 16):
            if transfer is None:
                transfer = bob.cli('get', 'alice/data', '--to', target, '--lanes', lanes, '--detach', '--json', node=get).event('started')['transfer_id']
                took = settle(lanes, 15)
            else:
                bob.cli('transfer', 'set', transfer, '--lanes', lanes, node=get)
                took = settle(lanes, 15)
            counts = []
            for _ in range(steady_s * 2):
                time.sleep(0.5)
                counts.append(net['get'].established(ports))
            figures[str(lanes)] = {'settled_s': round(took, 2), 'min': min(counts), 'max': max(counts)}
            print(f'  {lanes} lanes after {took:.2f} s; over {steady_s} s between {min(counts)} and {max(counts)}', flush=True)
        changes = []
        for lanes in (2, 16, 1, 12, 4):
            bob.cli('transfer', 'set', transfer, '--lanes', lanes, node=get)
            changes.append((lanes, round(settle(lanes, 15), 2)))
        figures['changes'] = changes
        print('  changes at runtime: ' + ', '.join(f'to {n} in {t:.2f} s' for n, t in changes))
        back = []
        for _ in range(3):
            seed.kill()
            time.sleep(15)  # long enough for the pauses between dials to be at their longest
            seed.start()
            started = time.monotonic()
            harness.wait_until(lambda: net['get'].established(ports) > 0, 'a lane to the seeder that is back', 60)
            back.append(round(time.monotonic() - started, 2))
        figures['seconds_without_lane_after_outage'] = back
        print(f'  after the seeder was killed for 15 s: a lane again {", ".join(f"{s:.2f}" for s in back)} s after it was ready')
        bob.cli('transfer', 'cancel', transfer, node=get)
    return figures


def bench_kill(args):
    """G: transfers with the node killed once at a random moment; what was fetched again."""
    return kills(args, 'node', args.runs or 20)


def bench_server_kill(args):
    """G: transfers with the server killed and started again meanwhile; what was fetched again."""
    return kills(args, 'server', args.runs or 10)


def kills(args, victim_name, runs):
    size = parse_size(args.size, 2 * GB)
    rng = random.Random(args.seed)
    print(f'  seed {args.seed}')
    figures = {'seed': args.seed, 'bytes': size, 'sent_beyond_one_copy': [], 'of_that_received_twice': []}
    with harness.Scene(args.bin) as scene:
        server = scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = scene.dir / 'data.bin'
        data.random_file(source, size)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        limit = f'{max(1, size * 8 // 12 // 1_000_000)}Mbit'  # some twelve seconds each, so that a moment can be hit
        victim = beta if victim_name == 'node' else server
        for run in range(runs):
            target = scene.dir / f'run{run}'
            target.mkdir()
            sent_before = settled_sent(alice, alpha)
            started = bob.cli('get', 'alice/data', '--to', target, '--detach', '--json', '--refetch', '--limit', limit, node=beta).event('started')
            fraction = rng.uniform(0.02, 0.95)

            def view():
                shown = bob.cli('transfer', 'show', started['transfer_id'], '--json', node=beta).json
                return shown.get('transfer', shown)

            harness.wait_until(lambda: view()['verified_bytes'] >= fraction * size, f'{fraction:.0%}', 300)
            verified = view()['verified_bytes']
            victim.kill()
            if victim is beta:
                beta.start()
            else:
                time.sleep(rng.uniform(0.5, 3))
                server.start()
            bob.cli('transfer', 'set', started['transfer_id'], '--limit', 'unlimited', node=beta)
            done = bob.cli('transfer', 'wait', started['transfer_id'], '--json', node=beta, timeout_s=600).event('done')
            difference = harness.difference(source, target / 'data.bin')
            assert difference is None, difference
            again = settled_sent(alice, alpha) - sent_before - size
            figures['sent_beyond_one_copy'].append(again)
            figures['of_that_received_twice'].append(done['redundant_bytes'])
            print(f'  run {run + 1}: {victim.name} killed at {verified / size:.0%}; {again / 1048576:.1f} MiB sent beyond one copy, '
                  f'{done["redundant_bytes"] / 1048576:.1f} of them received twice; roots match', flush=True)
            bob.cli('transfer', 'cancel', started['transfer_id'], node=beta)
            shutil.rmtree(target)
    beyond = figures['sent_beyond_one_copy']
    print(f'  worst {max(beyond) / 1048576:.1f} MiB, median {statistics.median(beyond) / 1048576:.1f} MiB sent beyond one copy')
    return figures


def settled_sent(user, node):
    """Payload bytes that the publisher's node has sent so far, over all transfers, once the figure stands still.

    Its node looks once a second, and later while the disk is busy writing what another node fetched."""
    def sent():
        return sum(t.get('sent_bytes', 0) for t in user.cli('transfers', '--json', node=node).json['transfers'])

    last, still = sent(), 0
    while still < 4:
        time.sleep(1)
        now = sent()
        still = still + 1 if now == last else 0
        last = now
    return last
