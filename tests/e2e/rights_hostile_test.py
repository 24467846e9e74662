#!/usr/bin/env python3
"""A stock libtorrent client that knows metadata, info-hash and addresses of restricted content gets nothing without a listed key."""
import base64
import hashlib
import json
import pathlib
import socket
import sqlite3
import ssl
import subprocess

import cases
import harness

PYTHON = '/usr/bin/python3'  # Debian's, which sees Debian's module
REFUSALS = 1000
LEECHER = pathlib.Path(__file__).with_name('stock_leecher.py')


def bencode(value):
    if isinstance(value, int):
        return b'i%de' % value
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return b'%d:%s' % (len(value), value)
    if isinstance(value, list):
        return b'l' + b''.join(map(bencode, value)) + b'e'
    return b'd' + b''.join(bencode(k) + bencode(value[k]) for k in sorted(value)) + b'e'


def torrent_of(source, shown, node):
    """The .torrent of a file's TLS edition, derived as docs/protocol.md says, with the CA as an entitled node knows it."""
    def big(n):
        return n.to_bytes(4, 'big')
    content = base64.b32decode(shown['content_id'][2:].upper() + '======')
    generation = 1
    label = b'gridtorrent torrent name 1\0' + content + big(shown['version']) + big(0) + big(generation)
    name = 'gt-' + base64.b32encode(hashlib.sha256(label).digest()[:16]).decode().lower().rstrip('=')
    data, size = source.read_bytes(), shown['piece_bytes']
    pieces = b''.join(hashlib.sha1(data[i:i + size]).digest() for i in range(0, len(data), size))
    database = next(p for p in node.data.iterdir() if p.suffix == '.db')
    with sqlite3.connect(f'file:{database}?mode=ro', uri=True) as db:
        ca = db.execute('SELECT ca_pem FROM transfer').fetchone()[0]
    return bencode({'info': {'files': [{'length': len(data), 'path': ['00000000']}], 'name': name, 'piece length': size, 'pieces': pieces,
                             'private': 1, 'ssl-cert': ca}})


def other_authority(scene):
    """A certificate of the same form, by somebody else."""
    folder = scene.dir / 'other-ca'
    folder.mkdir()
    run = lambda *args: subprocess.run(['openssl', *args], check=True, cwd=folder, capture_output=True)
    run('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'ca-key.pem', '-out', 'ca.pem', '-days', '9',
        '-subj', '/CN=GridTorrent data CA 1')
    run('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=node')
    (folder / 'names').write_text('subjectAltName=DNS:*')
    run('x509', '-req', '-in', 'request.pem', '-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-CAcreateserial', '-out', 'leaf.pem', '-days', '7',
        '-extfile', 'names')
    return folder / 'leaf.pem', folder / 'key.pem'


class Target:
    """Content of alice, shared with bob and held by her node; carol has a node and no right."""

    def __init__(self, scene):
        scene.server()
        self.scene = scene
        self.alice, self.bob, self.carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        self.alpha, self.beta, self.gamma = (scene.node(u, n) for u, n in ((self.alice, 'alpha'), (self.bob, 'beta'), (self.carol, 'gamma')))
        self.source = cases.make_file(scene.dir / 'in/data.bin', 4_000_000)
        self.alice.cli('publish', self.source, '--name', 'data', '--access', 'user:bob', node=self.alpha)
        self.bob.cli('get', 'alice/data', '--to', scene.dir / 'bob', node=self.beta)
        self.torrent = torrent_of(self.source, self.alice.cli('show', 'data', '--json').json, self.alpha)
        self.tries = 0

    def ports(self, tls):
        return [['127.0.0.1', e['port']] for e in self.alpha.ready['lane_endpoints'] if e['tls'] == tls and ':' not in e['address']][:4]

    def papers(self, node):
        certificate = harness.wait_until(lambda: next(iter(node.data.glob('lane-certificate-*.pem')), None), 'a certificate')
        return certificate, node.data / 'node_key.pem'

    def attack(self, certificate, key, tls=True, seconds=5):
        self.tries += 1
        job = {'torrent': self.torrent.hex(), 'folder': str(self.scene.dir / f'attack-{self.tries}'), 'peers': self.ports(tls),
               'certificate': certificate and str(certificate), 'key': key and str(key), 'seconds': seconds}
        done = subprocess.run([PYTHON, LEECHER], input=json.dumps(job), capture_output=True, text=True, timeout=seconds + 60)
        cases.check(done.returncode == 0, done.stderr)
        return json.loads(done.stdout)

    def gets_nothing(self, what, *args, **kwargs):
        got = self.attack(*args, **kwargs)
        cases.check(got['payload_bytes'] == 0 and got['bitfields'] == 0 and got['pieces'] == 0, f'{what}: {got}')
        cases.check(self.alpha.running(), f'{what}: the seeder died')
        print(f'        {what}: 0 bytes, 0 bitfields in {got["connected"]} connections; the last: {(got["errors"] or ["none"])[-1][-90:]}')


def only_a_listed_key_gets_anything():
    with harness.Scene() as scene:
        t = Target(scene)
        stolen = t.papers(t.beta)
        # The same client with a key that is in the list gets all of it: so what follows is refused for want of one.
        got = t.attack(*stolen, seconds=20)
        cases.check(got['payload_bytes'] >= 4_000_000 and got['bitfields'] > 0, f'the listed key: {got}')
        t.gets_nothing('no certificate', None, None)
        t.gets_nothing('another authority', *other_authority(scene))
        t.gets_nothing('a node without the right', *t.papers(t.gamma))
        t.gets_nothing('a plain port', *stolen, tls=False)
        t.alice.cli('access', 'data', '--set', 'private')
        harness.wait_until(lambda: cases.transfer_of(t.bob, t.beta, 'data')['state'] == 'complete', 'the list to change', 10)
        t.gets_nothing('a stolen key that was removed', *stolen)


def a_plain_handshake_with_the_hash_of_restricted_content_is_not_answered():
    with harness.Scene() as scene:
        t = Target(scene)
        info = t.torrent[len(b'd4:info'):-1]
        hello = b'\x13BitTorrent protocol' + bytes(8) + hashlib.sha1(info).digest() + b'-XX0001-' + b'0' * 12
        for tls in (False, True):
            with socket.create_connection(tuple(t.ports(tls)[0]), timeout=10) as connection:
                connection.settimeout(10)
                answer = b''
                try:
                    connection.sendall(hello)
                    while chunk := connection.recv(4096):
                        answer += chunk
                except (ConnectionError, TimeoutError):
                    pass
            cases.check(b'BitTorrent protocol' not in answer, f'tls={tls}: {answer[:80]}')


def a_stranger_refused_a_thousand_times_does_no_harm():
    """A certificate of the server's own data CA, for a node without the right: TLS is fine, the rest is not."""
    with harness.Scene() as scene:
        t = Target(scene)
        hash_of_info = hashlib.sha1(t.torrent[len(b'd4:info'):-1]).digest()
        hello = b'\x13BitTorrent protocol' + bytes(5) + b'\x10\0\0' + hash_of_info + b'-XX0001-' + b'0' * 12
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(*t.papers(t.gamma))
        before, most, versions = t.alpha.memory_kb()[0], 0, set()
        for i in range(REFUSALS):
            address = tuple(t.ports(True)[i % 4])
            with socket.create_connection(address, timeout=30) as plain, \
                    context.wrap_socket(plain, server_hostname=hash_of_info.hex()) as connection:
                versions.add(connection.version())
                answer = b''
                try:
                    connection.sendall(hello)
                    while chunk := connection.recv(4096):
                        answer += chunk
                except (ConnectionError, ssl.SSLError):
                    pass
                most = max(most, len(answer))
            cases.check(t.alpha.running(), f'the node ended after {i + 1} refusals')
        # A BitTorrent handshake has 68 bytes; a bitfield would come after it.
        cases.check(most <= 68, f'{most} bytes came')
        cases.check(versions == {'TLSv1.3'}, versions)
        grown = t.alpha.memory_kb()[0] - before
        print(f'        {REFUSALS} refused, at most {most} bytes to each; the node grew by {grown} KiB')
        t.alice.cli('access', 'data', '--set', 'user:bob,user:carol')
        t.carol.cli('get', 'alice/data', '--to', scene.dir / 'carol', node=t.gamma)
        cases.same(t.source, scene.dir / 'carol/data.bin')


if subprocess.run([PYTHON, '-c', 'import libtorrent'], capture_output=True).returncode != 0:
    harness.skip('a stock client needs the package python3-libtorrent')
cases.run(only_a_listed_key_gets_anything, a_plain_handshake_with_the_hash_of_restricted_content_is_not_answered,
          a_stranger_refused_a_thousand_times_does_no_harm)
