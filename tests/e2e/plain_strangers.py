"""Strangers on a node's plain lane ports: they speak BitTorrent and greet under whatever node id they like, over as many connections as they like."""
import hashlib
import os
import selectors
import socket
import struct
import threading
import time

from bencode import bencode

HAVE_ALL, UNCHOKE, REQUEST, PIECE, EXTENDED = 14, 1, 6, 7, 20


def message(number, body=b''):
    return struct.pack('>IB', len(body) + 1, number) + body


class Connection:
    def __init__(self, address, strangers):
        self.strangers, self.received, self.greeted, self.to_send = strangers, b'', False, b''
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.connect_ex(address)
        self.to_send = b'\x13BitTorrent protocol' + bytes((0, 0, 0, 0, 0, 0x10, 0, 0x04)) + strangers.info_hash + b'-XX0000-' + os.urandom(12)

    def write(self):
        sent = self.socket.send(self.to_send)
        self.to_send = self.to_send[sent:]

    def read(self):
        """False: the other end is gone."""
        data = self.socket.recv(1 << 16)
        if not data:
            return False
        self.received += data
        if not self.greeted:
            if len(self.received) < 68:
                return True
            self.received, self.greeted = self.received[68:], True
            self.to_send += self.strangers.greeting()
        while len(self.received) >= 4:
            length = struct.unpack('>I', self.received[:4])[0]
            if len(self.received) < 4 + length:
                break
            self.handle(self.received[4:4 + length])
            self.received = self.received[4 + length:]
        return True

    def handle(self, body):
        if body[:1] == bytes((REQUEST,)):
            self.strangers.asked += 1
            if self.strangers.garbage:
                piece, start, length = struct.unpack('>III', body[1:13])
                self.to_send += message(PIECE, struct.pack('>II', piece, start) + os.urandom(length))


class Strangers:
    """`count` connections from this machine to the ports, opened again where they end, in a thread of their own. `seeds`: they say that they
    have everything and may be asked; `garbage`: they answer, with random bytes; otherwise never."""

    def __init__(self, addresses, info_hash, node_id, count, grant=16, seeds=False, garbage=False):
        self.addresses, self.info_hash, self.node, self.count, self.grant = addresses, info_hash, node_id, count, grant
        self.seeds, self.garbage = seeds or garbage, garbage
        self.asked = self.opened = self.greeted = 0
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def greeting(self):
        self.greeted += 1
        gt = {'grant': self.grant, 'lane': 0, 'node': self.node, 'v': 1}
        hello = message(EXTENDED, b'\0' + bencode({'gt': gt, 'm': {}, 'reqq': 500}))
        return (message(HAVE_ALL) if self.seeds else b'') + hello + (message(UNCHOKE) if self.seeds else b'')

    def run(self):
        selector, connections = selectors.DefaultSelector(), set()

        def end(connection):
            selector.unregister(connection.socket)
            connection.socket.close()
            connections.discard(connection)
        next_open = 0.0
        while not self.done.is_set():
            while len(connections) < self.count and time.monotonic() > next_open:
                connection = Connection(self.addresses[self.opened % len(self.addresses)], self)
                self.opened += 1
                connections.add(connection)
                selector.register(connection.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, connection)
                if self.opened >= self.count:
                    next_open = time.monotonic() + 0.05
            for key, events in selector.select(0.05):
                connection = key.data
                try:
                    if events & selectors.EVENT_WRITE and connection.to_send:
                        connection.write()
                    if events & selectors.EVENT_READ and not connection.read():
                        end(connection)
                        continue
                except OSError:
                    end(connection)
                    continue
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.to_send else 0)
                selector.modify(connection.socket, wanted, connection)
        for connection in list(connections):
            end(connection)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()


def info_hash_of(torrent):
    """Of a dictionary as a .torrent file has it."""
    return hashlib.sha1(bencode(torrent['info'])).digest()
