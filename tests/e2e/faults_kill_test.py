#!/usr/bin/env python3
"""kill -9 of a node at a random moment of a transfer, again and again (the issue's row G; sizes by GT_E2E_KILL_BYTES, _KILLS)."""
import os
import random
import time

import cases
import harness

SIZE = cases.scaled('KILL_BYTES', 64_000_000)
KILLS = cases.scaled('KILLS', 3)
MBIT = cases.scaled('KILL_MBIT', 200)
SEED = cases.scaled('SEED', int(time.time()))
# What a slow disk still has to write when the node is killed (max_queued_disk_bytes) was told as verified.
REFETCH_LIMIT = min(64 << 20, SIZE * 3 // 8)
BLOCK = 16 << 10


def in_flight(transfer, piece_bytes):
    """What a kill loses besides verified pieces: blocks asked for, and the pieces that they belong to."""
    lanes = [lane for peer in transfer['peers'] for lane in peer['lane_stats']]
    return sum(lane['outstanding_blocks'] * BLOCK for lane in lanes) + 2 * len(lanes) * piece_bytes


def all_sent(user, node):
    """What it has sent once nothing is added: its figures are a second old."""
    before, now = None, cases.transfer_of(user, node, 'data')['sent_bytes']
    while now != before:
        time.sleep(1.5)
        before, now = now, cases.transfer_of(user, node, 'data')['sent_bytes']
    return now


def a_killed_node_goes_on_where_it_was():
    print(f'seed {SEED}: GT_E2E_SEED={SEED} repeats it', flush=True)
    generator = random.Random(SEED)
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        folder = scene.dir / 'in'
        cases.make_file(folder / 'large.bin', SIZE * 3 // 4, seed=SEED)
        for i in range(8):
            cases.make_file(folder / f'part-{i}', SIZE // 32, seed=SEED + 1 + i)
        total = sum(p.stat().st_size for p in folder.iterdir())
        alice.cli('publish', folder, '--name', 'data', '--access', 'public', node=alpha)
        piece_bytes = bob.cli('show', 'data', '--json').json['piece_bytes']
        sent_before = 0
        for number in range(KILLS):
            target = scene.dir / f'out-{number}'
            bob.cli('get', 'data', '--to', target, '--limit', f'{MBIT}Mbit', '--refetch', '--detach', node=beta)
            moment = generator.random()
            last = cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] >= moment * 0.9 * total, f'{moment:.0%} of it', 300)
            beta.kill()
            beta.start()
            cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('seeding', 'complete'), 'the end', 600)
            cases.same(folder, target / 'in')
            cases.check([n for n in os.listdir(target) if n != 'in'] == [], f'left behind: {os.listdir(target)}')
            sent = all_sent(alice, alpha)
            again = sent - sent_before - total
            sent_before = sent
            limit = REFETCH_LIMIT + in_flight(last, piece_bytes)
            print(f'  killed at {moment:.0%}: {max(again, 0) / 2**20:.1f} MiB sent again, of {limit / 2**20:.1f} allowed', flush=True)
            cases.check(again <= limit, f'{again} bytes were fetched again, more than {limit}')


def a_killed_seeder_seeds_again_without_hashing():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        alpha.kill()
        alpha.start()
        bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
        cases.same(source, scene.dir / 'out/data.bin')
        cases.check('verifying' not in alpha.log(100_000), f'it was hashed anew:\n{alpha.log()}')


cases.run(a_killed_node_goes_on_where_it_was, a_killed_seeder_seeds_again_without_hashing)
