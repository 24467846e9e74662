"""aria2: over HTTP from nginx with many connections, and as a BitTorrent swarm."""
import json
import pathlib
import subprocess
import time

import harness
from peers import common, swarms

HTTP_PORT = 8080
RPC_PORT = 6800
PEER_PORT = 6881
QUIET = ('--no-conf', '--quiet', '--summary-interval=0', '--disable-ipv6', '--file-allocation=none')
NGINX = """
daemon off;
user root;
worker_processes auto;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 100000;
  {temporary}
  server {{
    listen {address}:{port} backlog=1024;
    root {root};
  }}
}}
"""


def versions():
    aria2 = subprocess.run(['aria2c', '--version'], capture_output=True, text=True).stdout.splitlines()[0]
    return f'{aria2}; {subprocess.run(["nginx", "-v"], capture_output=True, text=True).stderr.strip()}'


def start_nginx(crew, host, root, number):
    """An HTTP server with ranges and sendfile for the files of a folder, all its own files in the crew's folder."""
    folder = crew.folder / f'nginx-{number}'
    folder.mkdir()
    temporary = ' '.join(f'{kind}_temp_path {folder}/{kind};' for kind in ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'))
    config = folder / 'nginx.conf'
    config.write_text(NGINX.format(folder=folder, temporary=temporary, address=host.address, port=HTTP_PORT, root=root))
    program = crew.start(host, ['nginx', '-p', folder, '-e', 'stderr', '-c', config])
    crew.wait_listening(program, HTTP_PORT)
    return program


def http(seeds, getter, source, target, connections_per_server=16, split=None, min_split='1M', cache='64M', verify=True, timeout_s=1200):
    """One file, which each of `seeds` serves, over that many connections to each (aria2 has 16 at most) and `split` in all."""
    assert 1 <= connections_per_server <= 16, 'aria2 makes 1 to 16 connections to a server'
    source, target = pathlib.Path(source).absolute(), pathlib.Path(target).absolute()
    common.assert_absent('aria2 http', target)
    split = split or connections_per_server * len(seeds)
    with common.Crew() as crew:
        for i, seed in enumerate(seeds):
            start_nginx(crew, seed, source.parent, i)
        command = ['aria2c', *QUIET, '-x', connections_per_server, '-s', split, '-k', min_split, f'--disk-cache={cache}',
                   '-d', target.parent, '-o', target.name, *(f'http://{s.address}:{HTTP_PORT}/{source.name}' for s in seeds)]
        with common.Watch(*seeds, getter, receivers=[getter], apart_from=[RPC_PORT]) as watch:
            before = crew.cpu_s()
            started = time.monotonic()
            crew.start(getter, command).finish(timeout_s)
            took, cpu_s = time.monotonic() - started, crew.cpu_s() - before
        content = common.assert_whole('aria2 http', source, target, verify)
    plan = {'seeds': len(seeds), 'connections_per_server': connections_per_server, 'split': split, 'min_split': min_split}
    return common.Transfer('aria2 http', plan, common.size_of(source), took, cpu_s, [*watch.checks(), content], watch.series())


class Peer:
    """One aria2c with one torrent."""

    def __init__(self, crew, host, torrent, folder, seed, cache):
        own = ['--bt-seed-unverified=true'] if seed else []  # the torrent was made of these files a moment ago
        self.program = crew.start(host, [
            'aria2c', *QUIET, '--enable-rpc', f'--rpc-listen-port={RPC_PORT}', f'--listen-port={PEER_PORT}', '--seed-ratio=0',
            '--enable-dht=false', '--enable-dht6=false', '--bt-enable-lpd=false', '--enable-peer-exchange=true', '--bt-max-peers=0',
            '--bt-request-peer-speed-limit=1000M', '--bt-max-open-files=1024', '--max-upload-limit=0', '--max-overall-upload-limit=0',
            f'--disk-cache={cache}', *own, '-d', folder, torrent])
        self.rpc = swarms.Rpc(self.program, RPC_PORT, '/jsonrpc')

    def complete(self):
        self.program.assert_alive()
        try:
            status, _, text = self.rpc.post({'jsonrpc': '2.0', 'id': '1', 'method': 'aria2.tellActive',
                                             'params': [['completedLength', 'totalLength', 'seeder', 'errorMessage']]})
        except ConnectionRefusedError:
            return False  # it is starting
        assert status == 200, f'aria2: RPC answers {status}: {text[:300]}'
        active = json.loads(text)['result']
        return bool(active) and active[0].get('seeder') == 'true' and active[0]['completedLength'] == active[0]['totalLength']


def swarm(seeds, leechers, source, piece_length=None, cache='64M', tracker_host=None, folder=None, verify=True, timeout_s=1200):
    """A file or a folder from `seeds` (a host or several) to all leechers, which seed until the last is complete.

    What the leechers got goes to a temporary folder (below `folder` if given) and is removed."""
    seeds = seeds if isinstance(seeds, (list, tuple)) else [seeds]
    with common.Crew(folder) as crew, swarms.Swarm(crew, tracker_host or seeds[0], source, leechers, piece_length) as torrent:
        complete = [Peer(crew, h, torrent.torrent, torrent.source.parent, True, cache) for h in seeds]
        harness.wait_until(lambda: all(p.complete() for p in complete), 'aria2 to seed', 60)
        torrent.tracker.wait_for_seeds(torrent.info_hash, len(seeds))
        with common.Watch(*seeds, *leechers, receivers=leechers, apart_from=[torrent.tracker.server_port]) as watch:
            before = crew.cpu_s()
            started = time.monotonic()
            peers = [Peer(crew, h, torrent.torrent, t, False, cache) for h, t in zip(leechers, torrent.targets)]
            each = torrent.wait(started, lambda i: peers[i].complete(), crew.programs, timeout_s)
            cpu_s = crew.cpu_s() - before
        for program in crew.programs:
            program.stop()
        content = torrent.assert_whole('aria2', verify)
    plan = {'seeds': len(seeds), 'leechers': len(leechers), 'piece_length': torrent.piece_length, 'cache': cache}
    return common.Transfer('aria2', plan, common.size_of(source), max(each), cpu_s, [*watch.checks(), content], watch.series(), each,
                           {'first_data_s': watch.first_data_s()})


def get(seed, getter, source, **options):
    """One seed, one leecher."""
    return swarm(seed, [getter], source, **options)
