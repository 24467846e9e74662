"""A whole node keeps to its limits and divides them: five leechers, three gets, and a change by the hour in between."""
import datetime
import os
import signal
import time

import cases
import data
import harness
import netns

UP_MBIT, DOWN_MBIT, HOUR_MBIT = 100, 200, 50
LEAST, MOST, UNEVEN = 0.97, 1.00, 0.10  # of the limit; how far a share may be from an even one
WARM_UP_S, WINDOW_S = 8, 40
TO_LEECHERS = 1_700_000_000  # bytes: 100 Mbit/s for the 93 s that a full minute may be away, 50 for the 44 s after it, and a sixth more
LEECHERS = ('bea', 'cid', 'dee', 'eva', 'fay')


def sent_by_peer(user, node):
    """Payload that the node has sent in its one transfer, by peer."""
    transfer = cases.transfer_of(user, node, 'data')['transfer_id']
    peers = user.cli('transfer', 'show', transfer, '--json', node=node).json['peers']
    return {peer['node']: peer['sent_bytes'] for peer in peers}


def received_by_content(user, node):
    return {t['name']: t['received_bytes'] for t in user.cli('transfers', '--json', node=node).json['transfers']}


def just_changed(counters):
    """(when at the latest, when at the earliest, counters): a node takes them once a second, so that any other look is at figures of up to a
    second ago."""
    asked, seen = time.monotonic(), counters()
    while True:
        before, asked = asked, time.monotonic()
        if (now := counters()) != seen:
            return time.monotonic(), before, now


def measured(counters, seconds, limit_mbit):
    """Of the limit, the whole and the parts of an even share, by two looks at the counters."""
    began, earliest, before = just_changed(counters)
    time.sleep(seconds)
    ended, no_sooner, after = just_changed(counters)
    spent, unsure_s = ended - began, max(began - earliest, ended - no_sooner)
    rates = [(after[name] - before.get(name, 0)) * 8 / spent / 1e6 for name in sorted(after)]
    whole = sum(rates) / limit_mbit
    shares = [rate * len(rates) / sum(rates) for rate in rates] if sum(rates) > 0 else []
    unsure = unsure_s / spent
    print(f'  {limit_mbit} Mbit/s: {whole:.3f} ± {unsure:.3f} of it; even shares: {", ".join(f"{share:.2f}" for share in shares)}', flush=True)
    return {'limit_mbit': limit_mbit, 'of_the_limit': round(whole, 3), 'shares': [round(share, 2) for share in shares],
            'unsure': round(unsure, 3), 'missed': missed(limit_mbit, round(whole, 3), shares, unsure)}


def missed(limit_mbit, whole, shares, unsure=0.0):
    """Lines about what is not as asked, as far as can be told."""
    lines = [] if LEAST - unsure <= whole <= MOST + unsure else [f'{limit_mbit} Mbit/s: {whole:.3f} of it (asked: {LEAST:.2f} to {MOST:.2f})']
    return lines + [f'{limit_mbit} Mbit/s: a share of {share:.2f} of an even one (asked: ± {UNEVEN:.0%})' for share in shares if abs(share - 1) > UNEVEN]


def people(scene, net, names):
    users = [scene.user(name, netns=net[name].ns) for name in names]
    nodes = [scene.node(user, user.name, netns=net[user.name].ns, address=net[user.name].address, ports='50000-50015') for user in users]
    return list(zip(users, nodes))


def to_leechers():
    """One content, its seeder limited to 100 Mbit/s, and to 50 from the next full minute on."""
    with netns.Network('hub', 'ada', *LEECHERS) as net, harness.Scene() as scene:
        hub = net['hub']
        scene.server(listen=f'{hub.address}:7443', advertise=f'{hub.address}:7443', netns=hub.ns)
        scene.admin(hub.ns)
        ada = scene.user('ada', netns=net['ada'].ns)
        config = scene.dir / 'ada.toml'
        config.write_text(f'upload-limit = "{UP_MBIT}Mbit"\n')
        seed = scene.node(ada, 'ada', netns=net['ada'].ns, address=net['ada'].address, ports='50000-50015', env={'TZ': 'UTC0'},
                          args=('--config', config))
        source = scene.dir / 'data.bin'
        data.random_file(source, TO_LEECHERS)
        ada.cli('publish', source, '--name', 'data', '--access', 'public', node=seed, timeout_s=600)
        for user, node in people(scene, net, LEECHERS):
            user.cli('get', 'ada/data', '--to', scene.dir / user.name, '--detach', node=node)

        time.sleep(WARM_UP_S)
        now = datetime.datetime.now(datetime.timezone.utc)
        change = now.replace(second=0, microsecond=0) + datetime.timedelta(minutes=1 if now.second < 35 else 2)
        with config.open('a') as file:
            file.write(f'limits = [{{from="{change:%H:%M}", up="{HOUR_MBIT}Mbit"}}]\n')
        os.kill(seed.pid, signal.SIGHUP)

        def left():
            return (change - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
        before = measured(lambda: sent_by_peer(ada, seed), min(WINDOW_S, max(5.0, left() - 3)), UP_MBIT)
        time.sleep(max(0.0, left()))
        harness.wait_until(lambda: ada.cli('node', 'limit', '--json', node=seed).json['upload_bits_per_s'] == HOUR_MBIT * 1_000_000,
                           'the hour to change the limit', 10)
        late = -left()
        time.sleep(3)
        after = measured(lambda: sent_by_peer(ada, seed), WINDOW_S, HOUR_MBIT)
        print(f'  the hour changed the limit within {late:.1f} s', flush=True)
        return before, after


def to_three_gets():
    """Three contents at once to one node that is limited to 200 Mbit/s."""
    with netns.Network('hub', 'ada', 'bea') as net, harness.Scene() as scene:
        hub = net['hub']
        scene.server(listen=f'{hub.address}:7443', advertise=f'{hub.address}:7443', netns=hub.ns)
        scene.admin(hub.ns)
        (ada, seed), = people(scene, net, ('ada',))
        bea = scene.user('bea', netns=net['bea'].ns)
        node = scene.node(bea, 'bea', netns=net['bea'].ns, address=net['bea'].address, ports='50000-50015',
                          args=('--download-limit', f'{DOWN_MBIT}Mbit'))
        for i in range(3):
            source = scene.dir / f'part{i}.bin'
            data.random_file(source, 500_000_000, seed=i + 1)
            ada.cli('publish', source, '--name', f'part{i}', '--access', 'public', node=seed, timeout_s=600)
        for i in range(3):
            bea.cli('get', f'ada/part{i}', '--to', scene.dir / 'out', '--detach', node=node)
        time.sleep(WARM_UP_S)
        return measured(lambda: received_by_content(bea, node), WINDOW_S, DOWN_MBIT)


def bench_node_limits(_args):
    """Limits, D: 100 Mbit/s up with five leechers, 50 from a full minute on; 200 Mbit/s down with three gets. Needs root."""
    netns.require_root()
    before, after = to_leechers()
    return {'up': before, 'up_after_the_hour': after, 'down': to_three_gets()}
