#!/usr/bin/env python3
"""Who greets under a seeder's node id, on public content, takes no lane of the seeder's, says nothing in its name, and is not taken for it
where data is bad; nor does who relays the seeder's proof of its key (GT_E2E_ECLIPSE_MBIT=200)."""
import base64
import hashlib
import re
import time

import cases
import harness
from plain_strangers import Strangers, info_hash_of
from relays import Relays

MBIT = cases.scaled('ECLIPSE_MBIT', 24)
WATCH_S = 24  # a side that gives way does so within 15 s; ef69d6b stood still after 10
LONGEST_S = 10  # printed is less than 1; a slow disk may hold a node up for some


def raw(identifier):
    return base64.b32decode(identifier[2:].upper() + '======')


def plain_torrent_of(source, shown):
    """The .torrent of a file's plain edition, derived as docs/protocol.md says."""
    def big(n):
        return n.to_bytes(4, 'big')
    label = b'gridtorrent torrent name 1\0' + raw(shown['content_id']) + big(shown['version']) + big(0) + big(0)
    name = 'gt-' + base64.b32encode(hashlib.sha256(label).digest()[:16]).decode().lower().rstrip('=')
    data, size = source.read_bytes(), shown['piece_bytes']
    pieces = b''.join(hashlib.sha1(data[i:i + size]).digest() for i in range(0, len(data), size))
    return {'info': {'files': [{'length': len(data), 'path': ['00000000']}], 'name': name, 'piece length': size, 'pieces': pieces, 'private': 1}}


def plain_ports(node):
    return [('127.0.0.1', e['port']) for e in node.ready['lane_endpoints'] if not e['tls'] and ':' not in e['address']]


class Target:
    """Public content of alice's node alpha, and bob's node beta, which fetches it at a limited rate."""

    def __init__(self, scene, seconds):
        self.scene = scene
        scene.server()
        self.alice, self.bob = scene.user('alice'), scene.user('bob')
        self.alpha, self.beta = scene.node(self.alice, 'alpha'), scene.node(self.bob, 'beta')
        self.source = cases.make_file(scene.dir / 'in/data.bin', int(MBIT * 125_000 * seconds))
        self.alice.cli('publish', self.source, '--name', 'data', '--access', 'public', node=self.alpha)
        self.info_hash = info_hash_of(plain_torrent_of(self.source, self.alice.cli('show', 'data', '--json').json))

    def strangers(self, count, **kwargs):
        return Strangers(plain_ports(self.beta), self.info_hash, raw(self.alpha.node_id), count, **kwargs)

    def relays(self, count, **kwargs):
        return Relays(plain_ports(self.beta), plain_ports(self.alpha), self.info_hash, count, **kwargs)

    def start(self, place, limit=MBIT):
        self.bob.cli('get', 'alice/data', '--to', self.scene.dir / place, '--lanes', 4, '--limit', f'{limit}Mbit', '--detach', '--refetch', node=self.beta)
        cases.wait_transfer(self.bob, self.beta, 'data', lambda t: t['verified_bytes'] > 0, 'the first bytes')

    def now(self):
        return cases.transfer_of(self.bob, self.beta, 'data')

    def whole(self, place, timeout_s=120):
        cases.wait_transfer(self.bob, self.beta, 'data', lambda t: t['state'] in ('complete', 'seeding'), 'all of it', timeout_s)
        cases.same(self.source, self.scene.dir / place / 'data.bin')


def flows_on(target, strangers, what):
    """Over WATCH_S the transfer never stands still for LONGEST_S together."""
    at, started, longest = time.monotonic(), time.monotonic(), 0.0
    last = target.now()['verified_bytes']
    while time.monotonic() < started + WATCH_S:
        told = target.now()
        if told['verified_bytes'] > last or told['state'] != 'fetching':
            at, last = time.monotonic(), told['verified_bytes']
        longest = max(longest, time.monotonic() - at)
        cases.check(longest < LONGEST_S, lambda: f'{what}: nothing came for {longest:.0f} s; {told}\n{target.beta.log()}')
        time.sleep(0.2)
    cases.check(strangers.greeted >= strangers.count, f'{what}: only {strangers.greeted} connections were answered')
    print(f'        {what}: at most {longest:.1f} s without new data; {strangers.opened} connections, {strangers.greeted} answered', flush=True)


def idle_connections_under_the_seeders_id_displace_no_lane():
    with harness.Scene() as scene:
        target = Target(scene, 2 * WATCH_S + 30)
        target.start('out')
        with target.strangers(16) as strangers:
            flows_on(target, strangers, '16 idle connections')
        with target.strangers(1, grant=0) as strangers:
            flows_on(target, strangers, 'one that grants no lane')

        def four_lanes_carry(told):
            return sum(lane['receive_bits_per_s'] > 0 for peer in told['peers'] for lane in peer['lane_stats']) >= 4
        cases.wait_transfer(target.bob, target.beta, 'data', four_lanes_carry, 'four lanes that carry')


def garbage_under_the_seeders_id_is_not_blamed_on_the_seeder():
    with harness.Scene() as scene:
        target = Target(scene, 60)
        target.start('out')
        with target.strangers(16, garbage=True) as strangers:
            harness.wait_until(lambda: 'failed its hash' in target.beta.log(100_000), 'a bad piece', 60)
            target.bob.cli('transfer', 'set', target.now()['transfer_id'], '--limit', '0', node=target.beta)
            target.whole('out')
        blamed = [line for line in target.beta.log(1_000_000).splitlines() if 'failed its hash' in line]
        seeder = target.alpha.node_id
        for line in blamed:
            cases.check(not re.search(f'from {seeder}', line), f'the seeder is blamed: {line}')
            cases.check('127.0.0.1' in line and 'has not proved it' in line, line)
        print(f'        {strangers.asked} blocks asked of strangers; {blamed[-1][-200:]}', flush=True)


def two_hundred_strangers_cost_four_honest_lanes_little():
    with harness.Scene() as scene:
        target = Target(scene, 20)
        rates = []
        for place in ('quiet', 'beside'):
            started = time.monotonic()
            if place == 'quiet':
                target.start(place)
                target.whole(place)
            else:
                with target.strangers(200, seeds=True) as strangers:
                    target.start(place)
                    target.whole(place)
                cases.check(strangers.greeted >= 200, f'only {strangers.greeted} of 200 strangers were answered')
            rates.append(target.source.stat().st_size * 8e-6 / (time.monotonic() - started))
        print(f'        {rates[0]:.1f} Mbit/s in quiet, {rates[1]:.1f} beside 200 strangers: {rates[1] / rates[0]:.2f}', flush=True)
        cases.check(rates[1] > 0.5 * rates[0], rates)


def relayed_proofs_displace_no_lane_that_delivers():
    with harness.Scene() as scene:
        target = Target(scene, WATCH_S + 20)
        target.start('out')
        with target.relays(16) as relays:
            flows_on(target, relays, '16 relays that withhold the data')
            cases.check(relays.proofs >= 16, f'only {relays.proofs} proofs of the seeder were relayed')
            target.whole('out')
        cases.check(relays.withheld > 0, 'nothing was asked of them')
        log = target.beta.log(1_000_000)
        cases.check('failed its hash' not in log, 'nothing bad came, so nobody is to blame')
        print(f'        {relays.proofs} proofs relayed, {relays.withheld} requests withheld', flush=True)


def what_a_relay_spoils_is_not_blamed_on_the_seeder():
    with harness.Scene() as scene:
        target = Target(scene, 20)
        target.start('out')
        with target.relays(16, spoil=True, source='127.0.0.66') as relays:
            target.whole('out')
            cases.check(relays.proofs >= 1, 'no proof of the seeder was relayed')
        blamed = [line for line in target.beta.log(1_000_000).splitlines() if 'failed its hash' in line]
        for line in blamed:
            cases.check('127.0.0.66' in line, f'somebody else is blamed: {line}')
        print(f'        {relays.proofs} proofs relayed, {relays.spoiled} blocks spoiled, {len(blamed)} lines of blame {blamed[-1:]}', flush=True)


cases.run(idle_connections_under_the_seeders_id_displace_no_lane, garbage_under_the_seeders_id_is_not_blamed_on_the_seeder,
          two_hundred_strangers_cost_four_honest_lanes_little, relayed_proofs_displace_no_lane_that_delivers,
          what_a_relay_spoils_is_not_blamed_on_the_seeder, at_once=2)
