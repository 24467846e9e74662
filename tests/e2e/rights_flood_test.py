#!/usr/bin/env python3
"""Thousands of connections to TLS lane ports that never finish their handshake do not keep out who is entitled (the issue's row H)."""
import os
import resource
import selectors
import socket
import threading
import time

import cases
import harness

CONNECTIONS = 2000
SIZE = 300_000_000
HALF_A_HELLO = bytes.fromhex('16030100c8010000c40303') + bytes(20)


class Flood:
    """Holds so many connections open, half of them silent, half stuck in the middle of their first message; those that are ended are
    opened anew, at most 500 a second."""

    def __init__(self, ports):
        self.ports, self.selector, self.opened, self.ended = ports, selectors.DefaultSelector(), 0, 0
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(CONNECTIONS + 500, hard)), hard))
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        harness.wait_until(lambda: self.opened >= CONNECTIONS, 'the flood', 60)
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join(30)
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()

    def open(self):
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(self.ports[self.opened % len(self.ports)])
        self.opened += 1
        self.selector.register(connection, selectors.EVENT_READ | (selectors.EVENT_WRITE if self.opened % 2 else 0))

    def run(self):
        while not self.stopped.is_set():
            started = time.monotonic()
            for _ in range(min(50, CONNECTIONS - len(self.selector.get_map()))):
                self.open()
            for key, events in self.selector.select(0.01):
                try:
                    if events & selectors.EVENT_WRITE:
                        key.fileobj.send(HALF_A_HELLO)
                        self.selector.modify(key.fileobj, selectors.EVENT_READ)
                    if events & selectors.EVENT_READ and not key.fileobj.recv(4096):
                        raise ConnectionError
                except OSError:
                    self.selector.unregister(key.fileobj)
                    key.fileobj.close()
                    self.ended += 1
            time.sleep(max(0, 0.1 - (time.monotonic() - started)))


def tls_ports(node):
    return [('127.0.0.1', e['port']) for e in node.ready['lane_endpoints'] if e['tls'] and ':' not in e['address']]


def descriptors(node):
    return len(os.listdir(f'/proc/{node.pid}/fd'))


def good_peers_get_their_data_through_a_flood_of_half_open_handshakes():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(alice, 'beta')
        for name in ('calm', 'flooded', 'after'):
            source = cases.make_file(scene.dir / f'in/{name}.bin', SIZE)
            alice.cli('publish', source, '--name', name, '--access', 'private', node=alpha)

        def fetch(name):
            done = alice.cli('get', name, '--to', scene.dir / 'out', '--json', node=beta).event('done')
            return done['bits_per_s'] / 1e6
        calm = fetch('calm')
        with Flood(tls_ports(alpha)) as flood:
            flooded = fetch('flooded')
            harness.wait_until(lambda: flood.ended > 0 and descriptors(alpha) < 600, 'descriptors to stay few', 20)
            print(f'        {calm:.0f} Mbit/s without, {flooded:.0f} with {CONNECTIONS} half-open handshakes ({flooded / calm:.2f}); '
                  f'{flood.ended} of {flood.opened} ended, {descriptors(alpha)} descriptors in use')
        fetch('after')
        cases.same(scene.dir / 'in/after.bin', scene.dir / 'out/after.bin')
        cases.check('handshake did not get on' in alpha.log(100_000), 'the log says nothing of it')


if __name__ == '__main__':
    cases.run(good_peers_get_their_data_through_a_flood_of_half_open_handshakes)
