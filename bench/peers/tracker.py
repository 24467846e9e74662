"""A BitTorrent tracker over HTTP with compact answers, in threads of this process, listening on a host."""
import http.server
import socket
import struct
import threading
import urllib.parse

import harness
from peers import common, torrents

INTERVAL_S = 10  # a swarm of a bench forms within seconds


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query, keep_blank_values=True, encoding='latin-1')
        value = {k: v[0] for k, v in asked.items()}
        answer = torrents.bencode(self.server.announce(value, self.client_address[0]))
        self.send_response(200)
        self.send_header('Content-Type', 'text/plain')
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Tracker(http.server.ThreadingHTTPServer):
    """Within `with Tracker(host) as tracker`, peers may announce themselves to tracker.url."""
    daemon_threads = True

    def __init__(self, host, port=6969):
        common.inside(host, lambda: super(Tracker, self).__init__((host.address, port), Handler))
        self.url = f'http://{host.address}:{port}/peers'  # with "announce" in its place, clients would look for a scrape page, too
        self.lock, self.peers = threading.Lock(), {}  # info hash -> {(address, port): whether complete}
        self.thread = threading.Thread(target=self.serve_forever, kwargs={'poll_interval': 0.1}, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.thread.join()
        self.server_close()

    def announce(self, asked, address):
        if not {'info_hash', 'port', 'left'} <= asked.keys():
            return {'failure reason': 'info_hash, port and left are needed'}
        me = address, int(asked['port'])
        with self.lock:
            swarm = self.peers.setdefault(asked['info_hash'].encode('latin-1'), {})
            others = [peer for peer in swarm if peer != me]
            if asked.get('event') == 'stopped':
                swarm.pop(me, None)
            else:
                swarm[me] = asked['left'] == '0'
            complete = sum(swarm.values())
        compact = b''.join(socket.inet_aton(a) + struct.pack('!H', p) for a, p in others)
        return {'interval': INTERVAL_S, 'min interval': INTERVAL_S // 2, 'complete': complete, 'incomplete': len(swarm) - complete,
                'peers': compact}

    def wait_for_seeds(self, info_hash, count, timeout_s=60):
        """Until that many complete peers have announced themselves."""
        harness.wait_until(lambda: sum(self.peers.get(info_hash, {}).values()) >= count, f'{count} seeds at the tracker', timeout_s)
