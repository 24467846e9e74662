"""What the BitTorrent peers share: a torrent with a tracker, and the wait until all leechers are complete."""
import http.client
import json
import pathlib
import socket
import time

from peers import common, torrents, tracker


class Rpc:
    """JSON over HTTP to a program that listens on the loopback of its host, over one connection while that lives."""

    def __init__(self, program, port, path):
        self.program, self.port, self.path = program, port, path
        self.connection, self.headers = None, {'Content-Type': 'application/json'}

    def connect(self):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=30)
        connection.sock = common.inside(self.program.host, lambda: socket.create_connection(('127.0.0.1', self.port), 30))
        return connection

    def post(self, body):
        """The answer as (status, headers, text); a connection that the other side closed meanwhile is made anew once."""
        for attempt in (1, 2):
            self.connection = self.connection or self.connect()
            try:
                self.connection.request('POST', self.path, json.dumps(body), self.headers)
                answer = self.connection.getresponse()
                return answer.status, answer.headers, answer.read().decode()
            except (http.client.HTTPException, ConnectionError):
                self.connection.close()
                self.connection = None
                if attempt == 2:
                    raise


class Swarm:
    """The torrent of a source in the crew's folder, its tracker, and a folder for each leecher; leaving it ends the tracker."""

    def __init__(self, crew, host, source, leechers, piece_length):
        self.source = pathlib.Path(source).absolute()
        self.tracker = tracker.Tracker(host)
        content, self.info_hash, self.piece_length = torrents.make(self.source, self.tracker.url, piece_length)
        self.torrent = crew.folder / 'data.torrent'
        self.torrent.write_bytes(content)
        self.targets = [crew.folder / f'leecher-{i}' for i in range(len(leechers))]
        for target in self.targets:
            target.mkdir()

    def __enter__(self):
        self.tracker.__enter__()
        return self

    def __exit__(self, *_):
        self.tracker.__exit__()

    def wait(self, started, complete, programs, timeout_s):
        """Seconds since `started` at which each leecher was complete; complete(i) tells, asked some twenty times a second."""
        seconds = {}
        while len(seconds) < len(self.targets):
            for i in range(len(self.targets)):
                if i not in seconds and complete(i):
                    seconds[i] = time.monotonic() - started
            for program in programs:
                program.assert_alive()
            late = time.monotonic() - started > timeout_s
            assert not late, f'after {timeout_s:.0f} s only {len(seconds)} of {len(self.targets)} leechers are complete'
            time.sleep(0.05)
        return [seconds[i] for i in range(len(self.targets))]

    def assert_whole(self, tool, verify):
        found = [common.assert_whole(tool, self.source, target / self.source.name, verify) for target in self.targets]
        return {**found[0], 'leechers': len(found)}
