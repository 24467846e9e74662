"""A node with very many restricted contents: how soon it serves all of them after a restart, and what that costs."""
import base64
import os
import random
import re
import secrets
import sqlite3
import time
import urllib.request

import data
import harness

CONTENTS = 20_000
TRIED = 5


def new_id(prefix):
    return prefix + '_' + base64.b32encode(secrets.token_bytes(16)).decode().lower().rstrip('=')


def columns(db, table):
    return [row[1] for row in db.execute(f'PRAGMA table_info({table})')]


def multiply(db, table, where, changes):
    """Copies of the one row that fits, with some columns changed."""
    names = columns(db, table)
    row = dict(zip(names, db.execute(f'SELECT {", ".join(names)} FROM {table} WHERE {where[0]}', where[1:]).fetchone()))
    places = ', '.join('?' * len(names))
    db.executemany(f'INSERT INTO {table}({", ".join(names)}) VALUES ({places})',
                   [[{**row, **change}[n] for n in names] for change in changes])


def put_contents(scene, node, first, how_many):
    """Puts copies of the first content into both databases, each with a folder of its own. The front door takes 600 an hour, and hashes."""
    copies = [(new_id('c'), f'set-{i:05}') for i in range(1, how_many)]
    with sqlite3.connect(scene.the_server.data / 'gridtorrent.db') as db:
        multiply(db, 'content', ('content_id = ?', first), [{'content_id': i, 'name': n, 'name_folded': n} for i, n in copies])
        multiply(db, 'content_user', ('content_id = ?', first), [{'content_id': i} for i, _ in copies])
        multiply(db, 'replica', ('content_id = ?', first), [{'content_id': i} for i, _ in copies])
    put_transfers(scene, node, first, copies)
    return [name for _, name in copies]


def put_transfers(scene, node, first, copies):
    """Puts copies of the transfer of the first content into the node's database, by content and name, each with a folder of its own."""
    database = next(p for p in node.data.iterdir() if p.suffix == '.db')
    with sqlite3.connect(database) as db:
        target = db.execute('SELECT target FROM transfer WHERE content_id = ?', (first,)).fetchone()[0]
        base = db.execute('SELECT base_name FROM transfer WHERE content_id = ?', (first,)).fetchone()[0]
        source = os.path.join(target, base)
        changes = []
        for content, name in copies:
            folder = os.path.join(os.fsencode(scene.dir), b'sets', name.encode())
            os.makedirs(folder)
            os.link(source, os.path.join(folder, base))
            changes.append({'transfer_id': new_id('x'), 'content_id': content, 'name': name, 'target': folder, 'checksums_due': 0})
        multiply(db, 'transfer', ('content_id = ?', first), changes)


def swarms(address):
    time.sleep(0.5)  # it takes the server some milliseconds
    text = urllib.request.urlopen(f'http://{address}/metrics', timeout=10).read().decode()
    return int(float(re.search(r'^gridtorrent_swarms ([\d.e+]+)', text, re.M).group(1)))


def bench_many(args):
    """Rights, G: a node that seeds 20,000 restricted contents is restarted; until all of them are served."""
    how_many = args.runs or CONTENTS
    metrics = f'127.0.0.1:{random.randint(20_000, 30_000)}'
    with harness.Scene(args.bin) as scene:
        server = scene.server(args=('--metrics-listen', metrics))
        alice, bob = scene.user('alice'), scene.user('bob')
        node = scene.node(alice, 'many')
        (scene.dir / 'first').mkdir()
        data.random_file(scene.dir / 'first/data.bin', 100_000)
        published = alice.cli('publish', scene.dir / 'first/data.bin', '--name', 'first', '--access', 'user:bob', '--json', node=node).event('published')
        node.stop()
        server.stop()
        names = put_contents(scene, node, published['content_id'], how_many)
        server.start()
        node.start()  # once before: the lists' ids are the server's of today, and the page cache is as warm as a node's that was running
        harness.wait_until(lambda: swarms(metrics) >= how_many, 'all contents to be announced', 900)
        node.stop(timeout_s=120)
        harness.wait_until(lambda: swarms(metrics) == 0, 'the swarms to forget the node', 900)
        papers = sorted(p.name for p in node.data.glob('lane-certificate-*'))

        begun = time.monotonic()
        node.start()
        ready = time.monotonic() - begun
        harness.wait_until(lambda: swarms(metrics) >= how_many, 'all contents to be announced', 900)
        announced = time.monotonic() - begun
        get = scene.node(bob, 'get')
        fetched = []
        for name in random.sample(names, TRIED):
            at = time.monotonic()
            bob.cli('get', f'alice/{name}', '--to', scene.dir / f'of-{name}', node=get)
            fetched.append(round(time.monotonic() - at, 2))
            assert harness.difference(scene.dir / 'first/data.bin', scene.dir / f'of-{name}/data.bin') is None
        now_kb, peak_kb = node.memory_kb()
        certificates = sorted(p.name for p in node.data.glob('lane-certificate-*'))
        asked = len(scene.admin().cli('audit', '--action', 'node.certify', '--actor', 'alice', '--json').json['records'])
        hashed = 'verifying' in node.log(10_000_000)
        print(f'  {how_many} contents: ready after {ready:.1f} s, all announced after {announced:.1f} s; {TRIED} of them fetched in {fetched} s\n'
              f'  the node has {now_kb / 1024:.0f} MiB, had {peak_kb / 1024:.0f} at most; certificates: {certificates} (before: {papers}), '
              f'asked for {asked} times; hashed: {hashed}')
        return {'contents': how_many, 'ready_s': round(ready, 1), 'announced_s': round(announced, 1), 'fetched_s': fetched,
                'peak_mib': peak_kb // 1024, 'certificates': certificates, 'hashed': hashed}
