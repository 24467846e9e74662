#!/usr/bin/env python3
"""Metadata that is cut, random or hostile: a node refuses it in one clear line, writes nothing, and takes the right one afterwards."""
import contextlib
import hashlib
import os
import random
import sqlite3

import cases
import harness
from bencode import bencode


class Stored:
    """The document of one content as the server keeps it, to be spoilt and mended."""

    def __init__(self, server, name):
        self.database, self.folder, self.name = server.data / 'gridtorrent.db', server.data / 'metadata', name
        with contextlib.closing(sqlite3.connect(self.database)) as db:
            self.sha256, = db.execute('SELECT metadata_sha256 FROM content WHERE name = ?', (name,)).fetchone()
        self.bytes = self.path(self.sha256).read_bytes()

    def path(self, sha256):
        return self.folder / sha256

    def spoil(self, content):
        """The file alone: what a failing disk or a careless hand does."""
        self.path(self.sha256).write_bytes(content)

    def announce(self, content):
        """File and row: what a server does that has turned against its nodes. Its sums are right."""
        sha256 = hashlib.sha256(content).hexdigest()
        self.path(sha256).write_bytes(content)
        with contextlib.closing(sqlite3.connect(self.database, timeout=30)) as db, db:
            db.execute('UPDATE content SET metadata_sha256 = ?, metadata_bytes = ? WHERE name = ?', (sha256, len(content), self.name))

    def mend(self):
        self.spoil(self.bytes)
        self.announce(self.bytes)


@contextlib.contextmanager
def published():
    """A folder of two files, published; yields scene, getter, the getter's node and the stored document."""
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        for i, name in enumerate(('aaa', 'bbb')):
            cases.make_file(scene.dir / 'in/run' / name, 300_000, seed=i)
        alice.cli('publish', scene.dir / 'in/run', '--name', 'data', '--access', 'public', node=alpha)
        yield scene, bob, beta, Stored(scene.the_server, 'data')


def refuses(scene, bob, beta, *parts):
    """A get ends with 7 and one line; nothing is on the disk, nothing is left in the list, the node lives."""
    target = scene.dir / 'out'
    target.mkdir(exist_ok=True)
    cases.refused(bob.cli('show', 'data', '--manifest', 'merkle', expect=None), 7, 'the metadata of c_', *parts)
    cases.refused(bob.cli('get', 'data', '--to', target, node=beta, expect=None), 7, 'alice/data', *parts)
    cases.check(os.listdir(target) == [], f'left behind: {os.listdir(target)}')
    cases.check(bob.cli('transfers', '--json', node=beta).json['transfers'] == [], 'a transfer is left behind')


def arrives(scene, bob, beta):
    bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
    cases.same(scene.dir / 'in/run', scene.dir / 'out/run')


def a_document_that_is_cut_or_altered_at_the_server_is_refused():
    with published() as (scene, bob, beta, stored):
        noise = random.Random(7).randbytes(len(stored.bytes))
        flipped = bytearray(stored.bytes)
        flipped[len(flipped) // 2] ^= 1
        for spoilt in (stored.bytes[:len(stored.bytes) // 2], b'', noise, bytes(flipped), stored.bytes + b'more'):
            stored.spoil(spoilt)
            refuses(scene, bob, beta)
        stored.path(stored.sha256).unlink()
        refuses(scene, bob, beta)
        stored.mend()
        arrives(scene, bob, beta)


def checksums_that_are_altered_at_the_server_are_not_shown():
    with published() as (scene, bob, beta, stored):
        harness.wait_until(lambda: bob.cli('show', 'data', '--json').json['has_checksums'], 'the checksums in the background')
        right = bob.cli('show', 'data', '--manifest', 'sha256').out
        with contextlib.closing(sqlite3.connect(stored.database)) as db:
            sums = stored.path(*db.execute('SELECT checksums_sha256 FROM content WHERE name = ?', (stored.name,)).fetchone())
        before = sums.read_bytes()
        sums.write_bytes(before[:-1] + bytes([before[-1] ^ 1]))
        cases.refused(bob.cli('show', 'data', '--manifest', 'sha256', expect=None), 7, 'gridtorrent-server check')
        sums.write_bytes(before)
        cases.check(bob.cli('show', 'data', '--manifest', 'sha256').out == right, 'other checksums than before')


def a_server_that_announces_nonsense_is_not_believed():
    with published() as (scene, bob, beta, stored):
        document = stored.bytes
        for hostile, rule in ((document[:-10], 'metadata'), (random.Random(8).randbytes(5_000), 'metadata'), (b'l' * 100_000, 'metadata'),
                              (document.replace(b'4:base3:run', b'4:base2:..'), 'not allowed'),
                              (document.replace(b'3:aaa', b'5:../aa'), 'not allowed'), (document.replace(b'3:aaa', b'3:/aa'), 'absolute'),
                              (document.replace(b'3:aaa', b'3:a\0a'), 'NUL'), (document.replace(b'3:aaa', b'3:bbb'), 'listed twice'),
                              (document.replace(b'i300000e', b'i-30000e'), 'out of its range'),
                              (document.replace(b'i300000e', b'i9223372036854775807e'), '2^60'),
                              (document.replace(b'i300000e', b'i300000000e'), 'pieces')):
            cases.check(hostile != document, f'nothing was altered for {rule!r}')
            stored.announce(hostile)
            refuses(scene, bob, beta, rule)
        cases.check(not (scene.dir / 'aaa').exists(), 'a file was written outside')
        stored.mend()
        arrives(scene, bob, beta)


def with_links(document, *links):
    """The document with links of our own, each a path and a target, in the format that has them."""
    listed = b''.join(bencode([path, 0, target]) for path, target in sorted(links))
    return document.replace(b'6:formati1e', b'6:formati2e5:linksl' + listed + b'e')


def hostile_links_are_refused_and_nothing_is_written_through_one():
    with published() as (scene, bob, beta, stored):
        document = stored.bytes
        secret = scene.dir / 'secret'
        secret.mkdir()
        for links, rule in (((('l', str(secret)),), 'leads outside of the content: it is absolute'), ((('l', '../../secret'),), 'leads outside'),
                            ((('l', '..'),), 'leads outside'), ((('l', 'x/../../secret'),), 'no folder of the content'),
                            ((('l', 'm'), ('m', 'l')), 'loop of links'), ((('aaa', 'bbb'),), 'listed twice'),
                            ((('l', '.'), ('l/m', 'x')), 'listed as a file or a link'), ((('l', 'a\0b'),), 'NUL'), ((('l', ''),), 'names nothing'),
                            ((('../l', 'x'),), 'not allowed'), ((), 'no links where')):
            stored.announce(with_links(document, *links))
            refuses(scene, bob, beta, rule)
        # A file below a link: the data would go where it leads.
        below = document.replace(b'3:bbb', b'5:l/bbb')
        stored.announce(with_links(below, ('l', '.')))
        refuses(scene, bob, beta, 'listed as a file or a link')
        stored.announce(document.replace(b'6:formati1e', b'6:formati9e'))
        refused = bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta, expect=None)
        cases.check('format 9' in refused.err and 'newer version' in refused.err, refused)
        cases.check(os.listdir(secret) == [], 'something was written outside')
        stored.mend()
        arrives(scene, bob, beta)


def a_wrong_merkle_root_is_found_before_a_file_is_called_done():
    with published() as (scene, bob, beta, stored):
        altered = bytearray(stored.bytes)
        altered[stored.bytes.index(b'i300000e32:') + len(b'i300000e32:')] ^= 1
        stored.announce(bytes(altered))
        cases.refused(bob.cli('get', 'data', '--to', scene.dir / 'out', '--as', 'run', node=beta, expect=None), 7, 'run/aaa')
        cases.check(not (scene.dir / 'out/run').exists(), 'it is called done')


cases.run(a_document_that_is_cut_or_altered_at_the_server_is_refused, checksums_that_are_altered_at_the_server_are_not_shown,
          a_server_that_announces_nonsense_is_not_believed, hostile_links_are_refused_and_nothing_is_written_through_one,
          a_wrong_merkle_root_is_found_before_a_file_is_called_done)
