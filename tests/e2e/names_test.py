#!/usr/bin/env python3
"""Many small files with every name, mode and time that Linux allows arrive as they were (the issue's row F)."""
import os
import subprocess

import cases
import harness

NASTY = [b'with space', 'gr\u00fc\u00dfe-\u6570\u636e'.encode(), b'not\xffutf8', b'new\nline', b'.hidden', b'...', b'-rf', b'quote"\'`$', b'back\\slash',
         b'tab\there', b'Case', b'case', b'CASE', b'x' * 255, '\u202eright-to-left'.encode(), b'bell\x07', b'~', b'con', b'a:b*c?<d>|e', b' lead', b'trail ']


def make_tree(top, files):
    """`files` files of 10 KB in nested folders, the nasty names among them, with all kinds of modes and times."""
    os.makedirs(top)
    block = os.urandom(10_240)
    for i in range(files):
        folder = os.path.join(top, b'd%02d' % (i % 40), b's%d' % (i % 7))
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, b'f%05d.dat' % i)
        with open(path, 'wb') as file:
            file.write(i.to_bytes(8, 'big') + block[8:])
        os.chmod(path, (0o644, 0o600, 0o755, 0o440)[i % 4])
        os.utime(path, ns=(0, 1_000_000_000_000_000_000 + i * 1_234_567_891))
    nasty = os.path.join(top, b'nasty')
    os.makedirs(nasty)
    for i, name in enumerate(NASTY):
        with open(os.path.join(nasty, name), 'wb') as file:
            file.write(block[:i * 97])
        os.makedirs(os.path.join(nasty, b'in', name[:250] + b'.d'))
        with open(os.path.join(nasty, b'in', name[:250] + b'.d', name), 'wb') as file:
            file.write(name)
    for name in (b'empty-file', b'.empty-hidden'):
        open(os.path.join(top, name), 'wb').close()
    os.makedirs(os.path.join(top, b'empty-folder', b'deeper', b'still'))
    os.chmod(os.path.join(top, b'empty-folder'), 0o700)
    os.utime(os.path.join(top, b'empty-folder'), ns=(0, 1_100_000_000_123_456_789))


def every_name_mode_and_time_arrives():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        top = os.fsencode(scene.dir) + b'/many'
        make_tree(top, cases.scaled('FILES', 10_000))
        published = alice.cli('publish', top, '--name', 'many', '--access', 'public', '--json', node=alpha).event('published')
        bob.cli('get', 'many', '--to', scene.dir / 'out', '--lanes', 4, node=beta)
        copy = os.fsencode(scene.dir) + b'/out/many'
        subprocess.run([b'diff', b'-r', top, copy], check=True)
        cases.same(top, copy)
        count = sum(len(files) for _, _, files in os.walk(top))
        cases.check(published['files'] == count, f'{published} but {count} files')
        bob.cli('verify', 'many', node=beta)


cases.run(every_name_mode_and_time_arrives)
