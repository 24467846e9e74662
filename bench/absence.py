"""The server is away for long while restricted content travels."""
import random
import time

import cases
import data
import harness

LIMIT_BITS = 4_000_000


def fetched(user, node):
    return cases.transfer_of(user, node, 'data')['verified_bytes']


def bench_absence(args):
    """Rights, H: the server is away for --minutes (60) while two people fetch restricted content; the seeder is killed half-way."""
    seconds = (args.minutes or 60) * 60
    size = int(LIMIT_BITS / 8 * (seconds + 900))
    with harness.Scene(args.bin) as scene:
        server = scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        first = random.randrange(20_000, 30_000, 16)
        seed = scene.node(alice, 'seed', ports=f'{first}-{first + 3}', tls_ports=f'{first + 4}-{first + 7}')  # found again without the server
        beta, gamma = scene.node(bob, 'beta'), scene.node(carol, 'gamma')
        source = scene.dir / 'data.bin'
        data.random_file(source, size)
        alice.cli('publish', source, '--name', 'data', '--access', 'user:bob,user:carol', node=seed)
        people = ((bob, beta), (carol, gamma))
        for user, node in people:
            user.cli('get', 'alice/data', '--to', scene.dir / user.name, '--detach', '--limit', f'{LIMIT_BITS // 1_000_000}Mbit', node=node)
        for user, node in people:
            cases.wait_transfer(user, node, 'data', lambda t: t['verified_bytes'] > 4_000_000, 'to begin')
        server.stop()
        gone = time.monotonic()
        before = [fetched(u, n) for u, n in people]
        time.sleep(seconds / 2)
        seed.kill()  # it has to go on by the list that it kept, without the server
        seed.start()
        killed = time.monotonic()
        cases.wait_transfer(alice, seed, 'data', lambda t: t['lanes'] > 0, 'to have lanes again')
        lanes_after = time.monotonic() - killed
        time.sleep(max(0.0, gone + seconds - time.monotonic()))
        away = time.monotonic() - gone
        rates = [(fetched(u, n) - b) * 8 / away / LIMIT_BITS for (u, n), b in zip(people, before)]
        server.start()
        back = time.monotonic()
        for user, node in people:
            harness.wait_until(lambda: user.cli('node', 'show', node.short_name, '--json').json['online'], f'{node.name} to be back', 90)
        online_after = time.monotonic() - back
        alice.cli('access', 'data', '--set', 'user:carol')
        taken = time.monotonic()
        cases.wait_transfer(bob, beta, 'data', lambda t: t['lanes'] == 0, 'the lanes to end')
        ended_after = time.monotonic() - taken
        carol.cli('transfer', 'set', cases.transfer_of(carol, gamma, 'data')['transfer_id'], '--limit', '0', node=gamma)
        carol.cli('get', 'alice/data', '--to', scene.dir / 'carol', node=gamma, timeout_s=1200)
        assert harness.difference(source, scene.dir / 'carol/data.bin') is None
        print(f'  away for {away:.0f} s: of their limit they had {rates[0]:.3f} and {rates[1]:.3f}; the seeder was killed half-way and had lanes again '
              f'after {lanes_after:.1f} s; nodes online {online_after:.1f} s after the server was; a right taken then ended lanes after {ended_after:.2f} s')
        return {'away_s': round(away), 'of_the_limit': [round(r, 3) for r in rates], 'lanes_after_kill_s': round(lanes_after, 1),
                'online_after_s': round(online_after, 1), 'ended_after_s': round(ended_after, 2)}
