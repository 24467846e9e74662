#!/usr/bin/env python3
"""The server goes away and comes back, or gets another certificate: what runs goes on, what needs it says so, nothing is fetched twice."""
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import threading

import cases
import harness

SIZE = cases.scaled('SERVER_BYTES', 40_000_000)
ROTATED_SIZE = cases.scaled('ROTATED_BYTES', 20_000_000)
CALLERS = 3
LEAST_CALLS = 20


def open_lanes(transfer):
    return sorted((lane['local'], lane['remote']) for peer in transfer['peers'] for lane in peer['lane_stats'] if lane['state'] == 'open')


def a_transfer_outlives_the_server_and_fetches_nothing_twice():
    with harness.Scene() as scene:
        server = scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        started = bob.cli('get', 'data', '--to', scene.dir / 'out', '--lanes', 4, '--limit', '8Mbit', '--detach', '--json', node=beta).event('started')
        before = cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > 0 and len(open_lanes(t)) == 4, 'the first bytes')
        server.kill()
        cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > SIZE // 4, 'a quarter of it without a server')
        # Slow enough that the end game, in which blocks are asked of two lanes on purpose, waits for the server, too.
        bob.cli('transfer', 'set', started['transfer_id'], '--limit', '1Mbit', node=beta)
        cases.refused(bob.cli('search', expect=None), 5, server.address)
        server.start()
        harness.wait_until(lambda: bob.cli('node', 'show', 'beta', '--json').json['online'], 'the node to be known again', 90)
        meanwhile = cases.transfer_of(bob, beta, 'data')
        cases.check(meanwhile['verified_bytes'] < SIZE * 3 // 4, f'too far to tell: {meanwhile}')
        cases.check(open_lanes(meanwhile) == open_lanes(before), f'lanes ended: {open_lanes(before)} became {open_lanes(meanwhile)}')
        # On a busy machine some blocks are asked of two lanes.
        cases.check(meanwhile['redundant_bytes'] < 1_000_000, f'{meanwhile["redundant_bytes"]} bytes were fetched again')
        bob.cli('transfer', 'set', started['transfer_id'], '--limit', 'unlimited', node=beta)
        cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('seeding', 'complete'), 'the end')
        cases.same(source, scene.dir / 'out/data.bin')
        harness.wait_until(lambda: sum(r['complete'] for r in alice.cli('show', 'data', '--replicas', '--json').json['replicas']) == 2,
                           'both replicas to be known again', 90)


def a_publish_waits_for_the_server_and_says_so():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        source = cases.make_file(scene.dir / 'data.bin', 100_000)
        server.kill()
        publish = alice.start_cli('publish', source, '--name', 'data', '--json', node=alpha)
        told = publish.stderr.readline()
        cases.check(server.address in told, f'the first line on stderr: {told!r}')
        server.start()
        out, err = publish.communicate(timeout=90)
        cases.check(publish.returncode == 0, f'{out}\n{err}')
        cases.check(harness.Result([], 0, out, err, 0).event('published')['name'] == 'data', out)
        found = alice.cli('search', '--json').json['contents']
        cases.check(len(found) == 1, f'published {len(found)} times')


def a_node_starts_without_its_server_and_joins_it_later():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        alpha.stop()
        server.stop()
        alpha.start()
        alice.cli('transfers', node=alpha)
        server.start()
        harness.wait_until(lambda: alice.cli('node', 'show', 'alpha', '--json').json['online'], 'the node to be online again', 90)


def accounts_and_contents_survive_a_killed_server():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        for i in range(5):
            source = cases.make_file(scene.dir / f'in/{i}.bin', 10_000, seed=i)
            alice.cli('publish', source, '--name', f'data-{i}', '--access', 'public', node=alpha)
        server.kill()
        server.start()
        names = {c['name'] for c in alice.cli('search', '--json').json['contents']}
        cases.check(names == {f'data-{i}' for i in range(5)}, names)


def a_task_that_is_waited_for_is_seen_to_its_end_across_a_restart_of_the_server():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        root = cases.make_file(scene.dir / 'in/data.bin', 100_000).parent
        alpha = scene.node(alice, 'alpha', args=('--share-root', f'raw={root}'))
        alpha.stop()
        waits = alice.start_cli('publish', 'raw:data.bin', '--name', 'data', '--node', 'alpha', '--json')
        harness.wait_until(lambda: alice.cli('task', 'list', '--json').json['tasks'], 'the task')
        cases.check(json.loads(waits.stdout.readline())['event'] == 'task', 'it is watched')
        server.kill()
        # That the node is off was told before.
        told = next((line for line in waits.stderr if 'the server went away' in line), '')
        cases.check('the server went away; waiting for it to come back' in told, 'nothing is said of it')
        server.start()
        alpha.start()
        out, err = waits.communicate(timeout=90)
        cases.check(waits.returncode == 0, f'{out}\n{err}')
        cases.check(harness.Result([], 0, out, err, 0).event('published')['name'] == 'data', out)


class Callers:
    """People who call all the time, each command over a new connection. One that fails is remembered."""

    def __init__(self, *people):
        self.done, self.failed, self.stopped = 0, [], threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(person,), daemon=True) for person in people]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join(60)

    def run(self, person):
        while not self.stopped.is_set():
            for command in ('whoami', 'search'):
                result = person.cli(command, expect=None)
                self.done += 1
                if result.code != 0:
                    self.failed.append(result)


def shown_certificate(server):
    """What the server shows to a new connection, in DER form."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(['h2'])
    host, port = server.address.split(':')
    with socket.create_connection((host, int(port)), 10) as connection, context.wrap_socket(connection) as tls:
        return tls.getpeercert(binary_form=True)


def connections_to(server, daemon):
    """The local ports of a daemon's connections to the server."""
    sockets = set()
    for fd in os.listdir(f'/proc/{daemon.pid}/fd'):
        try:
            sockets.add(os.readlink(f'/proc/{daemon.pid}/fd/{fd}'))
        except FileNotFoundError:  # closed meanwhile
            pass
    port = int(server.address.split(':')[1])
    rows = [line.split() for table in ('tcp', 'tcp6') for line in pathlib.Path(f'/proc/net/{table}').read_text().splitlines()[1:]]
    return {row[1] for row in rows if int(row[2].split(':')[1], 16) == port and f'socket:[{row[9]}]' in sockets}


class ServerKey:
    """Keys and certificates for the server, made as an operator would, and put in the place of the one that it has."""

    def __init__(self, scene, server):
        self.folder, self.server, self.file = scene.dir / 'operator', server, server.data / 'tls.pem'
        self.folder.mkdir(mode=0o700)

    def make(self, name):
        """A fresh key and a certificate of the server's own CA, as (key, certificate) in PEM form."""
        key, request, leaf, names = (self.folder / f'{name}.{kind}' for kind in ('key', 'csr', 'pem', 'names'))
        names.write_text('subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n')
        for command in (['ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key],
                        ['req', '-new', '-key', key, '-subj', f'/CN={name}', '-out', request],
                        ['x509', '-req', '-in', request, '-CA', self.server.data / 'ca.pem', '-CAkey', self.server.data / 'ca-key.pem',
                         '-days', '300', '-extfile', names, '-out', leaf]):
            subprocess.run(['openssl', *map(str, command)], check=True, capture_output=True)
        return key.read_text(), leaf.read_text()

    def put(self, text):
        fresh = self.folder / 'tls.pem'
        fresh.touch(mode=0o600)
        fresh.write_text(text)
        fresh.rename(self.file)

    def refused(self):
        return self.server.log_path.read_text().count("the server's new certificate is not taken up")


def the_servers_key_changes_while_people_call_and_data_flows():
    with harness.Scene() as scene:
        server = scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        others = [scene.user(f'caller-{i}') for i in range(CALLERS)]
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/data.bin', ROTATED_SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        started = bob.cli('get', 'data', '--to', scene.dir / 'out', '--limit', '1Mbit', '--detach', '--json', node=beta).event('started')
        cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > 0, 'the first bytes')
        streams = {node.name: connections_to(server, node) for node in (alpha, beta)}
        cases.check(all(streams.values()), f'no connection to the server: {streams}')
        keys = ServerKey(scene, server)
        shown = [shown_certificate(server)]

        def expect_new(what):
            harness.wait_until(lambda: shown_certificate(server) not in shown, what, 30)
            shown.append(shown_certificate(server))

        def expect_refused(text, what):
            before = keys.refused()
            keys.put(text)
            harness.wait_until(lambda: keys.refused() > before, f'a line of log about {what}', 30)
            cases.check(shown_certificate(server) == shown[-1], f'{what}: another certificate is shown')

        with Callers(*others) as callers:
            key, leaf = keys.make('first')
            keys.put(key + leaf)
            expect_new('the certificate of the changed file')
            other_key, other_leaf = keys.make('second')
            expect_refused((other_key + other_leaf)[:len(other_key) + len(other_leaf) // 2], 'a file that is half there')
            expect_refused(other_key + leaf, 'a key of another certificate')
            keys.put(other_key + other_leaf)
            os.kill(server.pid, signal.SIGHUP)
            expect_new('the certificate of the changed file, after SIGHUP')
            keys.file.unlink()
            os.kill(server.pid, signal.SIGHUP)
            expect_new("the server's own new certificate")
            cases.check(cases.transfer_of(bob, beta, 'data')['state'] == 'fetching', 'the transfer ended before the last change')
            enough = callers.done + LEAST_CALLS
            harness.wait_until(lambda: callers.done >= enough, 'calls after the last change', 60)
        print(f'  {callers.done} calls over new connections, {len(shown)} certificates', flush=True)
        cases.check(not callers.failed, lambda: f'{len(callers.failed)} calls failed, the first: {callers.failed[0]}')
        for node in (alpha, beta):
            cases.check(streams[node.name] <= connections_to(server, node), f'{node.name} had to connect again')
        bob.cli('transfer', 'set', started['transfer_id'], '--limit', 'unlimited', node=beta)
        cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] in ('seeding', 'complete'), 'the end')
        cases.same(source, scene.dir / 'out/data.bin')


cases.run(a_transfer_outlives_the_server_and_fetches_nothing_twice, a_publish_waits_for_the_server_and_says_so,
          a_task_that_is_waited_for_is_seen_to_its_end_across_a_restart_of_the_server,
          a_node_starts_without_its_server_and_joins_it_later, accounts_and_contents_survive_a_killed_server,
          the_servers_key_changes_while_people_call_and_data_flows)
