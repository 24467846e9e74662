#!/usr/bin/env python3
"""What limits a transfer where a disk is slow, at the receiver or at the seeder: the disk is told, not what waits for it."""
import os
import pathlib

import cases
import harness

SLOW_DISK = pathlib.Path(os.environ.get('GT_BIN', 'build/release/bin')).parent / 'tests/libgt_slow_disk.so'
SIZE = 100_000_000
THREADS = min(max(os.cpu_count(), 2), 16)  # that a node reads and writes with
EACH_MS = 6 * THREADS  # all together 2.7 MB/s; what is queued, 24 MB, is still written at the end: 9 s by two threads, 18 s by one
ON_SECONDS = 8  # that the word is looked at: longer than the five seconds that its figures cover


def slow(**milliseconds):
    """The environment of a node whose disk takes so much longer for each block of 16 KiB."""
    return {'LD_PRELOAD': str(SLOW_DISK), **{f'GT_TEST_{what.upper()}_MS': str(ms) for what, ms in milliseconds.items()}}


def word_of(seeder, receiver):
    """(word, detail) of a get, once there is one that has held for some seconds."""
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha', env=seeder), scene.node(bob, 'beta', env=receiver)
        source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        get = bob.cli('get', 'data', '--to', scene.dir / 'out', '--detach', '--json', node=beta)
        transfer = get.event('started')['transfer_id']

        def held():
            told = bob.cli('tune', 'explain', transfer, '--json', node=beta, expect=None)
            words = [sample['limit_word'] for sample in told.json['samples']][-ON_SECONDS:] if told.code == 0 else []
            return len(words) == ON_SECONDS and words[0] != 'unknown' and len(set(words)) == 1 and told.json
        told = harness.wait_until(held, 'a word that holds', 60)
        bob.cli('transfer', 'cancel', transfer, node=beta)
        return told['limit_word'], told['limit_detail']


def a_receiver_whose_disk_is_slow_is_held_by_it():
    word, detail = word_of({}, slow(write=EACH_MS))
    cases.check(word == 'disk' and 'too much to write' in detail, f'{word}: {detail}')


def a_seeder_whose_disk_is_slow_holds_the_transfer():
    word, detail = word_of(slow(read=EACH_MS), {})
    cases.check(word == 'seeder' and 'waits for its disk' in detail, f'{word}: {detail}')


if harness.sanitized():
    harness.skip('a sanitizer wants to be loaded before anything else')
cases.run(a_receiver_whose_disk_is_slow_is_held_by_it, a_seeder_whose_disk_is_slow_holds_the_transfer)
