"""A hostile peer: Debian's python3-libtorrent, told metadata, info-hash and addresses of restricted content, and what it may show."""
import base64
import hashlib
import json
import pathlib
import sqlite3
import subprocess

import cases
import harness
from bencode import bencode

PYTHON = '/usr/bin/python3'  # Debian's, which sees Debian's module
LEECHER = pathlib.Path(__file__).with_name('stock_leecher.py')


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


def server_place(net):
    if not net:
        return {}
    address = f'{net["hub"].address}:7443'
    return {'listen': address, 'advertise': address, 'netns': net['hub'].ns}


def node_place(net, host):
    return {'netns': net[host].ns, 'address': net[host].address} if net else {}


class Target:
    """Content of alice, shared with bob and held by her node; carol has a node and no right.

    On one machine, or on hosts of a network: server and nodes each on their own, and the attack from another."""

    def __init__(self, scene, net=None):
        if not scene.the_server:
            scene.server(**server_place(net))
        self.scene, self.net = scene, net
        people = ('alice', 'bob', 'carol')
        if net:
            scene.admin(net['hub'].ns)
        self.alice, self.bob, self.carol = (scene.users.get(n) or scene.user(n, netns=net and net[n].ns) for n in people)
        self.alpha, self.beta, self.gamma = (
            scene.node(user, name, **node_place(net, user.name))
            for user, name in zip((self.alice, self.bob, self.carol), ('alpha', 'beta', 'gamma')))
        self.source = cases.make_file(scene.dir / 'in/data.bin', 4_000_000)
        self.alice.cli('publish', self.source, '--name', 'data', '--access', 'user:bob', node=self.alpha)
        self.bob.cli('get', 'alice/data', '--to', scene.dir / 'bob', node=self.beta)
        self.torrent = torrent_of(self.source, self.alice.cli('show', 'data', '--json').json, self.alpha)
        self.tries = 0

    def ports(self, tls):
        at = self.net['alice'].address if self.net else '127.0.0.1'
        return [[at, e['port']] for e in self.alpha.ready['lane_endpoints'] if e['tls'] == tls and ':' not in e['address']][:4]

    def papers(self, node):
        certificate = harness.wait_until(lambda: next(iter(node.data.glob('lane-certificate-*.pem')), None), 'a certificate')
        return certificate, node.data / 'node_key.pem'

    def attack(self, certificate, key, tls=True, seconds=5, again=False):
        self.tries += 1
        job = {'torrent': self.torrent.hex(), 'folder': str(self.scene.dir / f'attack-{self.tries}'), 'peers': self.ports(tls),
               'listen': self.net['stranger'].address if self.net else '127.0.0.1', 'certificate': certificate and str(certificate), 'key': key and str(key), 'seconds': seconds}
        from_where = ['ip', 'netns', 'exec', self.net['stranger'].ns] if self.net else []
        done = subprocess.run([*from_where, PYTHON, LEECHER], input=json.dumps(job), capture_output=True, text=True, timeout=seconds + 60)
        if done.returncode < 0 and not again:  # libtorrent's Python module is not ours; once in some fifty runs it crashed
            print(f'        the stock client died of signal {-done.returncode}; once more', flush=True)
            return self.attack(certificate, key, tls, seconds, again=True)
        cases.check(done.returncode == 0, f'the stock client ended with {done.returncode}: {done.stderr}')
        return json.loads(done.stdout)

    def gets_nothing(self, what, *args, **kwargs):
        got = self.attack(*args, **kwargs)
        cases.check(got['payload_bytes'] == 0 and got['bitfields'] == 0 and got['pieces'] == 0, f'{what}: {got}')
        cases.check(got['connected'] > 0, f'{what}: nobody was reached: {got}')
        cases.check(self.alpha.running(), f'{what}: the seeder died')
        print(f'        {what}: 0 bytes, 0 bitfields in {got["connected"]} connections; the last: {(got["errors"] or ["none"])[-1][-90:]}')
        return got


def require_stock_client():
    if subprocess.run([PYTHON, '-c', 'import libtorrent'], capture_output=True).returncode != 0:
        harness.skip('a stock client needs the package python3-libtorrent')
