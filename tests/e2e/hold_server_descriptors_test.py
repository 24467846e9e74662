#!/usr/bin/env python3
"""A server with few descriptors, and strangers from many addresses who hold all that they can: who is connected is served,
nobody waits in vain for an answer, the log stays small, and once the strangers have left everybody is served as before."""
import collections
import re
import resource
import select
import socket
import ssl
import statistics
import threading
import time

import cases
import harness
import sound

STRANGERS = cases.scaled('STRANGERS', 120)
HOLD_S = cases.scaled('HOLD_S', 15)
# Room for 29 connections beside what the server keeps for itself: more are refused before descriptors are short.
FEW = 600
# What is left to a running server whose limit is lowered: far less than its places for connections need.
LEFT = 40
ANSWERED_WITHIN_S = 5
SERVED_WITHIN_S = 30
DISK = 8  # exit code
# The client's preface and empty SETTINGS.
GREETING = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])


class Strangers:
    """Hold so many connections, each from an address of its own, and open anew at once what is ended. One half greets and then says
    no more, the other half does not even shake hands."""

    def __init__(self, server):
        host, port = server.address.split(':')
        self.server, self.held, self.opened, self.ended = (host, int(port)), [], 0, 0
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE
        self.tls.set_alpn_protocols(['h2'])
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        harness.wait_until(lambda: self.ended, 'the first refusal', 60)
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join(30)
        for connection in self.held:
            connection.close()

    def open(self):
        """None where it was refused."""
        self.opened += 1
        own_address = f'127.{1 + self.opened % 200}.{self.opened // 200 % 200}.7'
        try:
            connection = socket.create_connection(self.server, ANSWERED_WITHIN_S, (own_address, 0))
            if self.opened % 2:
                connection = self.tls.wrap_socket(connection)
                connection.sendall(GREETING)
            return connection
        except OSError:
            return None

    def let_go_of_ended(self):
        for connection in select.select(self.held, [], [], 0)[0]:
            try:
                ended = not connection.recv(4096)
            except OSError:
                ended = True
            if ended:
                connection.close()
                self.held.remove(connection)
                self.ended += 1

    def run(self):
        while not self.stopped.wait(0.005):
            self.let_go_of_ended()
            if len(self.held) == STRANGERS:
                continue
            fresh = self.open()
            if fresh:
                self.held.append(fresh)
            else:
                self.ended += 1


def seconds_to_an_answer(server):
    """How long the server takes to shake hands with one more, or to refuse it."""
    host, port = server.address.split(':')
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    started = time.monotonic()
    with socket.create_connection((host, int(port)), HOLD_S) as connection:
        try:
            tls.wrap_socket(connection).close()
        except TimeoutError:
            raise AssertionError(f'no answer within {HOLD_S} s') from None
        except OSError:
            pass  # refused: an answer, too
    return time.monotonic() - started


def refusals_logged(server):
    """How many lines of log there are, by reason."""
    return collections.Counter(re.findall(r'connections refused or ended.*?reason=(\S+)', server.log_path.read_text()))


def publish(scene, alice, alpha, name):
    """By the node's connection, which stood before the strangers came. False: the server refused it for want of a descriptor."""
    source = cases.make_file(scene.dir / f'in/{name}.bin', 10_000)
    result = alice.cli('publish', source, '--name', name, '--access', 'public', node=alpha, expect=None)
    if result.code != 0:  # who can find it is a line before, where the server had a descriptor for that question
        errors = [line for line in result.err.splitlines() if line.startswith('gridtorrent: ')]
        cases.check(result.code == DISK and len(errors) == 1 and 'Too many open files' in errors[0], f'expected one line of error:\n{result}')
    return result.code == 0


def hold_out(scene, alice, alpha, reason, serves_all):
    """`serves_all`: so few connections are let in that descriptors are left for what the calls of those who are connected need."""
    server = scene.the_server
    before, answers, most, tried, published = server.log_path.stat().st_size, [], 0, 0, set()
    started = time.monotonic()
    with Strangers(server) as strangers:
        while time.monotonic() < started + HOLD_S:
            answers.append(seconds_to_an_answer(server))
            most = max(most, sound.descriptors(server) or 0)
            tried += 1
            if publish(scene, alice, alpha, f'data-{tried}'):
                published.add(f'data-{tried}')
            time.sleep(0.5)
    left = time.monotonic()
    harness.wait_until(lambda: alice.cli('whoami', expect=None).code == 0, 'a new connection to be served', SERVED_WITHIN_S)
    logged, grown = refusals_logged(server), server.log_path.stat().st_size - before
    print(f'  {strangers.opened} connections in {left - started:.0f} s, {strangers.ended} of them ended by the server; at most {most} descriptors; '
          f'an answer within {max(answers):.1f} s; {len(published)} of {tried} contents published meanwhile; '
          f'served {time.monotonic() - left:.1f} s after they left; {grown} bytes of log', flush=True)
    cases.check(statistics.median(answers) < ANSWERED_WITHIN_S, f'answers took {answers} s')
    cases.check(logged[reason] >= 1, lambda: f'no line of log names {reason}:\n{server.log()}')
    minutes = 1 + int((time.monotonic() - started) // 60)
    cases.check(max(logged.values()) <= minutes, f'lines of log in {minutes} min: {logged}')
    cases.check(grown < 20_000, f'{grown} bytes of log')
    cases.check('no connection to the server' not in alpha.log(100_000), lambda: f'the node lost its connection:\n{alpha.log()}')
    cases.check(not serves_all or len(published) == tried, f'{tried - len(published)} of {tried} contents were refused')
    cases.check(publish(scene, alice, alpha, 'afterwards'), 'no content could be published afterwards')
    names = {content['name'] for content in alice.cli('search', '--json').json['contents']}
    cases.check(names == published | {'afterwards'}, f'{names}, but published were {published}')


def connections_beyond_the_limit_are_refused_and_those_that_stand_go_on():
    with harness.Scene() as scene:
        cases.with_descriptors(scene.server(start=False), FEW)
        alice = scene.user('alice')
        hold_out(scene, alice, scene.node(alice, 'alpha'), 'connections_in_all', serves_all=True)


def a_server_without_descriptors_refuses_and_is_never_deaf():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        limit = (sound.descriptors(server) or 50) + LEFT  # 50: about what it has, where only root may look
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (limit, limit))
        hold_out(scene, alice, alpha, 'descriptors', serves_all=False)


cases.run(connections_beyond_the_limit_are_refused_and_those_that_stand_go_on, a_server_without_descriptors_refuses_and_is_never_deaf)
