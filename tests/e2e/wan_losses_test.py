#!/usr/bin/env python3
"""The loss events that a sender tells of, beside the drops that the wide-area emulator made: random ones and those of a full queue apart."""
import os
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'bench'))

import cases  # noqa: E402
import data  # noqa: E402
import lab  # noqa: E402
import ours  # noqa: E402

BIN = pathlib.Path(os.environ.get('GT_BIN', 'build/release/bin'))
SETTINGS = {'tcp_rmem': '4096 131072 67108864', 'tcp_wmem': '4096 65536 67108864', 'tcp_congestion_control': 'cubic'}
LANES, SIZE = 4, 200_000_000
ROUND_TRIP_S = 0.04  # without a queue
SLOW_START_S = 4  # it overshoots, which takes some round trips to repair: not what is counted here
COUNTED_S = 10
TOLD_WITHIN_S = 1.5  # lanes tell each second, and are looked at each second
DATA_BYTES = 1000  # a packet that is smaller carries no segment of a lane's data


def events(drops, since, until, apart_s):
    """Loss events of that time, if what a flow loses within `apart_s` of an event's first loss belongs to it."""
    count, begun = 0, {}
    for drop in drops:
        if since <= drop['at_s'] <= until and drop['at_s'] - begun.get(drop['flow'], 0) >= apart_s:
            begun[drop['flow']] = drop['at_s']
            count += 1
    return count


def told(user, node, transfer):
    """(when at the earliest, when at the latest, loss events of each lane so far), as its seeder tells."""
    at = time.monotonic()
    peers = user.cli('transfer', 'show', transfer, '--json', node=node).json['peers']
    return at, time.monotonic(), {lane['local']: lane['loss_events'] for peer in peers for lane in peer['lane_stats']}


def compare(queue_s, by, **seed):
    """A get over lanes of which some drop; what the seeder told of its losses after slow start lies between two counts of the drops.

    A sender learns of a loss a round trip later (with the queue that it met): what it loses until then is in the same event. Another round
    trip later the loss is repaired: what it loses from then on is another event. So drops of a flow that are less than one round trip apart
    are one event, and those that are two apart are two; in between either may be. The least number is of what was dropped after the first
    look, and long enough before the last one to be told; the most is of what may have been told between the two. A tenth more or less is
    allowed: a probe for a lost tail (RFC 8985, 7) looks like a loss, and a sampler that gets no processor time sees two events as one.

    What came at random and what a full queue dropped is told apart by the round trips at the events: most of the ones, few of the others
    have to be taken for random.
    """
    hosts = {name: {'address': f'198.18.0.{i}', 'delay_ms': 1000 * ROUND_TRIP_S / 4} for i, name in enumerate(('server', 'seed', 'get'), 1)}
    hosts['seed'].update(seed)
    with lab.Lab({'hosts': hosts}, BIN, SETTINGS) as net, ours.Ours(net.hosts, BIN) as gt:
        node, source = gt.nodes['get'], gt.scene.dir / 'data.bin'
        data.random_file(source, SIZE)
        gt.publish(source, 'data', 'public')
        get = gt.bob.cli('get', 'alice/data', '--to', gt.scene.dir / 'out', '--lanes', LANES, '--detach', '--json', node=node)
        transfer = get.event('started')['transfer_id']
        cases.wait_transfer(gt.bob, node, 'data', lambda t: t['verified_bytes'] > 0, 'the first bytes')
        time.sleep(SLOW_START_S)
        since, since_latest, before = told(gt.bob, node, transfer)
        time.sleep(COUNTED_S)
        until, until_latest, after = told(gt.bob, node, transfer)
        explained = gt.bob.cli('tune', 'explain', transfer, '--json', node=node).json['sources'][0]
        drops = [d for d in net.drops() if d['address'] == net['seed'].address and d['way'] == 'up' and d['bytes'] >= DATA_BYTES]
        sent = next(link['up_packets'] for link in net.stats()['links'].values() if link['host'] == 'seed')
        shown = cases.transfer_of(gt.bob, node, 'data')
        cases.check(shown['state'] == 'fetching', f'it ended before it was looked at: {shown}')
        gt.bob.cli('transfer', 'cancel', transfer, node=node)
    cases.check(set(before) == set(after) and len(after) == LANES, f'other lanes than before: {before}, {after}')
    cases.check(drops and all(d['by'] == by for d in drops), f'not only dropped by {by}: {[d for d in drops if d["by"] != by][:3]}')
    round_trip = ROUND_TRIP_S + queue_s
    number = sum(after.values()) - sum(before.values())
    least = events(drops, since_latest, until - TOLD_WITHIN_S, 2 * round_trip)
    most = events(drops, since - TOLD_WITHIN_S, until_latest, round_trip)
    at_random = explained['loss_events_per_segment'] * sent / events(drops, 0, until, 2 * round_trip)
    print(f'        {number} events told; {least} to {most} by {len(drops)} packets dropped ({by}); {at_random:.0%} taken for random', flush=True)
    cases.check(least >= 10, f'no more than {least} events to compare')
    cases.check(at_random >= 0.5 if by == 'random' else at_random <= 0.25, f'{at_random:.0%} of the events were taken for random losses')
    cases.check(0.9 * least - 1 <= number <= 1.1 * most + 1, f'{number} events told of {least} to {most}')


def random_losses_are_told_as_they_were():
    compare(0, 'random', up='400Mbit', queue='8MB', loss=0.001)


def drops_of_a_full_queue_are_told_as_they_were():
    compare(0.02, 'queue', up='40Mbit', queue='100kB')


lab.require_root()
cases.run(random_losses_are_told_as_they_were, drops_of_a_full_queue_are_told_as_they_were)
