#!/usr/bin/env python3
"""What limits a transfer where a disk is slow, at the receiver or at the seeder: the disk is told, not what waits for it."""
import os
import pathlib

import cases
import harness

SLOW_DISK = pathlib.Path(os.environ.get('GT_BIN', 'build/release/bin')).parent / 'tests/libgt_slow_disk.so'
SIZE = 100_000_000
THREADS = min(max(len(os.sched_getaffinity(0)), 2), 16)  # that a node reads and writes with
EACH_MS = 6 * THREADS  # all together 2.7 MB/s; what is queued, 24 MB, is still written at the end: 9 s by two threads, 18 s by one
ON_SECONDS = 8  # that the word is looked at: longer than the five seconds that its figures cover


def slow(**milliseconds):
    """The environment of a node whose disk takes so much longer for each block of 16 KiB."""
    return {'LD_PRELOAD': str(SLOW_DISK), **{f'GT_TEST_{what.upper()}_MS': str(ms) for what, ms in milliseconds.items()}}


def wait_for_word(expected, because, seeder, receiver):
    """Gets something until this word has held for some seconds, and is explained so."""
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha', env=seeder), scene.node(bob, 'beta', env=receiver)
        source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        get = bob.cli('get', 'data', '--to', scene.dir / 'out', '--detach', '--json', node=beta)
        transfer = get.event('started')['transfer_id']
        words, why = [], []

        def held():
            told = bob.cli('tune', 'explain', transfer, '--json', node=beta, expect=None)
            if told.code != 0:
                return None
            words[:] = [sample['limit_word'] for sample in told.json['samples']]
            why[:] = [told.json['limit_word'], told.json['limit_detail']]
            return words[-ON_SECONDS:].count(expected) >= ON_SECONDS - 2 and why[0] == expected and because in why[1]
        try:
            harness.wait_until(held, f'the word {expected} to hold', 90)
        except AssertionError as e:
            raise AssertionError(f'{e}; it was {words}, at last {why}\n{beta.log()}') from None
        bob.cli('transfer', 'cancel', transfer, node=beta)


def a_receiver_whose_disk_is_slow_is_held_by_it():
    wait_for_word('disk', 'too much to write', {}, slow(write=EACH_MS))


def a_seeder_whose_disk_is_slow_holds_the_transfer():
    wait_for_word('seeder', 'waits for its disk', slow(read=EACH_MS), {})


if harness.sanitized():
    harness.skip('a sanitizer wants to be loaded before anything else')
cases.run(a_receiver_whose_disk_is_slow_is_held_by_it, a_seeder_whose_disk_is_slow_holds_the_transfer)
