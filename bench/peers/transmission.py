"""Transmission: a BitTorrent swarm of transmission-daemon, one on each host, as a service that runs before a torrent is given to it."""
import base64
import json
import pathlib
import subprocess
import time

import harness
from peers import common, swarms

RPC_PORT = 9091
PEER_PORT = 51413


def versions():
    said = subprocess.run(['transmission-daemon', '--version'], capture_output=True, text=True)
    return (said.stdout + said.stderr).strip()


def settings(host, folder, utp, cache_mb, congestion):
    """No limits, no queue, no search for peers but the tracker and what peers tell; plain connections preferred."""
    return {
        'alt-speed-enabled': False, 'bind-address-ipv4': host.address, 'blocklist-enabled': False, 'cache-size-mb': cache_mb,
        'dht-enabled': False, 'download-dir': str(folder), 'download-queue-enabled': False, 'encryption': 0,
        'idle-seeding-limit-enabled': False,
        'incomplete-dir-enabled': False, 'lpd-enabled': False, 'message-level': 1, 'peer-congestion-algorithm': congestion or '',
        'peer-limit-global': 1000, 'peer-limit-per-torrent': 1000, 'peer-port': PEER_PORT, 'peer-port-random-on-start': False,
        'pex-enabled': True, 'port-forwarding-enabled': False, 'preallocation': 0, 'prefetch-enabled': True, 'queue-stalled-enabled': False,
        'ratio-limit-enabled': False,
        'rename-partial-files': False, 'rpc-authentication-required': False, 'rpc-bind-address': '127.0.0.1', 'rpc-enabled': True,
        'rpc-host-whitelist-enabled': False, 'rpc-port': RPC_PORT, 'rpc-whitelist-enabled': False, 'scrape-paused-torrents-enabled': False,
        'seed-queue-enabled': False, 'speed-limit-down-enabled': False, 'speed-limit-up-enabled': False, 'start-added-torrents': True,
        'trash-original-torrent-files': False, 'upload-slots-per-torrent': 1000, 'utp-enabled': utp, 'watch-dir-enabled': False}


class Peer:
    """One daemon with a configuration of its own and at most one torrent."""

    def __init__(self, crew, host, folder, number, utp, cache_mb, congestion):
        config = crew.folder / f'transmission-{number}'
        config.mkdir()
        (config / 'settings.json').write_text(json.dumps(settings(host, folder, utp, cache_mb, congestion)))
        self.program = crew.start(host, ['transmission-daemon', '--foreground', '--config-dir', config])
        self.rpc = swarms.Rpc(self.program, RPC_PORT, '/transmission/rpc')
        crew.wait_listening(self.program, RPC_PORT)

    def call(self, method, **arguments):
        status, headers, text = self.rpc.post({'method': method, 'arguments': arguments})
        if status == 409:
            self.rpc.headers['X-Transmission-Session-Id'] = headers['X-Transmission-Session-Id']
            status, headers, text = self.rpc.post({'method': method, 'arguments': arguments})
        assert status == 200, f'transmission: {method} answers {status}: {text[:300]}'
        answer = json.loads(text)
        assert answer['result'] == 'success', f'transmission: {method}: {answer["result"]}'
        return answer['arguments']

    def add(self, torrent):
        self.call('torrent-add', metainfo=base64.b64encode(torrent.read_bytes()).decode())

    def complete(self):
        self.program.assert_alive()
        found = self.call('torrent-get', fields=['leftUntilDone', 'sizeWhenDone', 'status', 'error', 'errorString'])['torrents']
        if not found:
            return False
        assert found[0]['error'] < 2, f'transmission: {found[0]["errorString"]}'  # 1 is a tracker's warning
        return found[0]['status'] == 6 and found[0]['sizeWhenDone'] > 0 and found[0]['leftUntilDone'] == 0  # 6: seeding


def swarm(seeds, leechers, source, piece_length=None, utp=False, cache_mb=64, congestion=None, tracker_host=None, folder=None, verify=True,
          timeout_s=1200):
    """A file or a folder from `seeds` (a host or several) to all leechers, which seed until the last is complete.

    All daemons run before the clock starts, and the seeds have checked their data; it starts when the leechers are given the torrent.
    A daemon decides in whom it is interested when a torrent starts, before it has peers, and every ten seconds from then: so data flow
    after some 11 s (figures: first_data_s), and leechers notice as seldom which pieces others have. A daemon has 512 requests (8 MB)
    outstanding at a peer at most and asks anew every half second. No setting changes any of this.
    What the leechers got goes to a temporary folder (below `folder` if given) and is removed."""
    seeds = seeds if isinstance(seeds, (list, tuple)) else [seeds]
    with common.Crew(folder) as crew, swarms.Swarm(crew, tracker_host or seeds[0], source, leechers, piece_length) as torrent:
        places = [*((h, torrent.source.parent) for h in seeds), *zip(leechers, torrent.targets)]
        peers = [Peer(crew, h, place, i, utp, cache_mb, congestion) for i, (h, place) in enumerate(places)]
        complete, peers = peers[:len(seeds)], peers[len(seeds):]
        for peer in complete:
            peer.add(torrent.torrent)
        harness.wait_until(lambda: all(p.complete() for p in complete), 'transmission to check what it seeds', 600)
        torrent.tracker.wait_for_seeds(torrent.info_hash, len(seeds))
        for peer in peers:
            peer.call('session-get')  # with the session's id at hand, adding is one request
        with common.Watch(*seeds, *leechers, receivers=leechers, apart_from=[torrent.tracker.server_port]) as watch:
            before = crew.cpu_s()
            started = time.monotonic()
            harness.run_parallel(*(lambda peer=peer: peer.add(torrent.torrent) for peer in peers))
            each = torrent.wait(started, lambda i: peers[i].complete(), crew.programs, timeout_s)
            cpu_s = crew.cpu_s() - before
        for program in crew.programs:
            program.stop()
        content = torrent.assert_whole('transmission', verify)
    plan = {'seeds': len(seeds), 'leechers': len(leechers), 'piece_length': torrent.piece_length, 'utp': utp, 'cache_mb': cache_mb,
            'congestion': congestion}
    return common.Transfer('transmission', plan, common.size_of(source), max(each), cpu_s, [*watch.checks(), content], watch.series(), each,
                           {'first_data_s': watch.first_data_s()})


def get(seed, getter, source, **options):
    """One seed, one leecher."""
    return swarm(seed, [getter], source, **options)
