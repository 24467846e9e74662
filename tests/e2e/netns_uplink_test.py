#!/usr/bin/env python3
"""Two fetch at once through one slow uplink and help each other (the issue's row B; GT_E2E_UPLINK_BYTES=2000000000 _MBIT=200)."""
import threading

import cases
import harness
import netns

SIZE = cases.scaled('UPLINK_BYTES', 100_000_000)
FULL_SIZE = 1_000_000_000
MBIT = cases.scaled('UPLINK_MBIT', 100)
LEAST_SHARE = 0.20
MEMORY_LIMIT_KB = 300_000


class MemoryWatch:
    """The peak of anonymous plus shared memory of some daemons, sampled in the background."""

    def __init__(self, *daemons):
        self.peaks = {d: 0 for d in daemons}
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self):
        while not self.done.wait(0.1):
            for daemon in self.peaks:
                if daemon.running():
                    self.peaks[daemon] = max(self.peaks[daemon], daemon.memory_kb()[0])

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def leechers_give_to_each_other_in_little_memory():
    with netns.Network('hub', 'a', 'b', 'c') as net, harness.Scene() as scene:
        hub = net['hub']
        scene.server(listen=f'{hub.address}:7443', advertise=f'{hub.address}:7443', netns=hub.ns)
        scene.admin(hub.ns)
        users = [scene.user(n, netns=net[h].ns) for n, h in (('alice', 'a'), ('bob', 'b'), ('carol', 'c'))]
        nodes = [scene.node(u, n, netns=net[h].ns, address=net[h].address, ports='50000-50015')
                 for u, n, h in zip(users, ('alpha', 'beta', 'gamma'), 'abc')]
        source = cases.make_file(scene.dir / 'data.bin', SIZE)
        with MemoryWatch(*nodes) as memory:
            users[0].cli('publish', source, '--name', 'data', '--access', 'public', node=nodes[0])
            net['a'].shape_uplink(MBIT)
            jobs = [lambda u=u, n=n: u.cli('get', 'data', '--to', scene.dir / u.name, '--json', node=n, timeout_s=1800).event('done')
                    for u, n in zip(users[1:], nodes[1:])]
            done = harness.run_parallel(*jobs)
        shares = []
        for user, event, other in zip(users[1:], done, (nodes[2], nodes[1])):
            cases.same(source, scene.dir / user.name / 'data.bin')
            got = {s['node']: s['bytes'] for s in event['seeders']}
            share = got.get(other.node_id, 0) / SIZE
            print(f'  {user.name}: {share:.0%} from {other.short_name}, {event["seconds"]:.1f} s '
                  f'({SIZE * 8 / 1e6 / MBIT:.1f} s would be the uplink alone for one copy)', flush=True)
            shares.append(share)
        # Over seconds one leecher may get most of the uplink and hand it on; the row's limit for each is for its full size.
        cases.check(sum(shares) >= 2 * LEAST_SHARE, f'shares from each other: {shares}')
        cases.check(SIZE < FULL_SIZE or min(shares) >= LEAST_SHARE, f'shares from each other: {shares}')
        for daemon, peak in memory.peaks.items():
            print(f'  {daemon.name}: at most {peak / 1000:.0f} MB anonymous and shared memory', flush=True)
            cases.check(peak > 0 and (harness.sanitized() or peak < MEMORY_LIMIT_KB), f'{daemon.name} took {peak} kB')


netns.require_root()
cases.run(leechers_give_to_each_other_in_little_memory)
