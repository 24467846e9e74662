#!/usr/bin/env python3
"""Tasks stay below the named roots, also where somebody else may write there and exchanges folders for links."""
import ctypes
import os
import threading

import cases
import harness

SIZE = cases.scaled('ROOTS_BYTES', 20_000_000)
TRIES = cases.scaled('ROOTS_TRIES', 12)

_libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE = -100, 2


def exchange(one, other):
    """The two names stand for each other's file or folder from now on; in one step."""
    if _libc.renameat2(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), f'{one} and {other} cannot be exchanged')


class Room:
    """root/box is a folder, root/link leads to outside."""

    def __init__(self, scene):
        self.root, self.outside = scene.dir / 'root', scene.dir / 'outside'
        self.box, self.link = self.root / 'box', self.root / 'link'
        self.box.mkdir(parents=True)
        self.outside.mkdir()
        self.link.symlink_to(self.outside)

    def exchange(self):
        exchange(self.box, self.link)

    def untouched(self):
        found = sorted(str(p) for p in self.outside.rglob('*'))
        cases.check(not found, f'written outside of the root: {found}')


def published(scene, alice, alpha):
    source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
    alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
    return source


def ended(user, task):
    """The task as it ended."""
    user.cli('task', 'wait', task, '--timeout', '120s', expect=None)
    return user.cli('task', 'show', task, '--json').json


def a_get_does_not_follow_a_link_after_a_restart():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        room = Room(scene)
        alpha, beta = scene.node(alice, 'alpha'), scene.node(alice, 'beta', args=('--download-root', f'in={room.root}'))
        published(scene, alice, alpha)
        task = alice.cli('get', 'data', '--node', 'beta', '--to', 'in:box/here', '--limit', '16Mbit', '--detach',
                         '--json').json['task_id']

        def comes():
            return any(t['verified_bytes'] > 0 for t in alice.cli('transfers', '--json', node=beta).json['transfers'])
        harness.wait_until(comes, 'data to come')
        beta.kill()
        room.exchange()
        beta.start()
        last = ended(alice, task)
        room.untouched()
        cases.check(last['state'] == 'failed' and 'link' in str(last), last)


def what_is_served_comes_from_the_folder_that_was_published():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        room = Room(scene)
        alpha = scene.node(alice, 'alpha', args=('--share-root', f'raw={room.root}'))
        beta = scene.node(bob, 'beta')
        inside = cases.make_file(room.box / 'run/data.bin', SIZE, seed=1)
        cases.make_file(room.outside / 'run/data.bin', SIZE, seed=2)
        alice.cli('publish', 'raw:box/run', '--name', 'run', '--access', 'public', '--node', 'alpha')
        room.exchange()
        bob.cli('get', 'run', '--to', scene.dir / 'out', node=beta, timeout_s=120)
        room.exchange()
        cases.same(inside, scene.dir / 'out/run/data.bin')
        cases.check('piece' not in beta.log(100_000), f'other data was sent:\n{beta.log()}')


def a_link_inside_of_what_is_served_is_not_followed():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        room = Room(scene)
        alpha = scene.node(alice, 'alpha', args=('--share-root', f'raw={room.root}'))
        beta = scene.node(bob, 'beta')
        cases.make_file(room.box / 'run/sub/data.bin', SIZE, seed=1)
        cases.make_file(room.outside / 'data.bin', SIZE, seed=2)
        alice.cli('publish', 'raw:box/run', '--name', 'run', '--access', 'public', '--node', 'alpha')
        exchange(room.box / 'run/sub', room.link)
        bob.cli('get', 'run', '--to', scene.dir / 'out', '--detach', node=beta)
        harness.wait_until(lambda: cases.transfer_of(alice, alpha, 'run')['state'] == 'failed', 'the node to notice the link', 60)
        got = cases.transfer_of(bob, beta, 'run')
        cases.check(got['received_bytes'] == 0 and 'piece' not in beta.log(100_000), f'other data was sent: {got}\n{beta.log()}')


def tasks_stay_inside_while_folders_are_exchanged_all_the_time():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        room = Room(scene)
        alpha = scene.node(alice, 'alpha')
        beta = scene.node(alice, 'beta', args=('--download-root', f'in={room.root}', '--share-root', f'raw={room.root}'))
        small = cases.make_file(scene.dir / 'in/small.bin', 300_000)
        alice.cli('publish', small, '--name', 'small', '--access', 'public', node=alpha)
        stop = threading.Event()

        def attack():
            while not stop.is_set():
                room.exchange()
        attacker = threading.Thread(target=attack)
        attacker.start()
        try:
            for i in range(TRIES):
                alice.cli('get', 'small', '--node', 'beta', '--to', f'in:box/{i}', '--refetch', expect=None)
                alice.cli('publish', f'raw:box/{i}/small.bin', '--name', f'again-{i}', '--node', 'beta', expect=None)
                room.untouched()
        finally:
            stop.set()
            attacker.join()
        beta.kill()
        beta.start()
        room.untouched()


def a_link_below_a_root_is_refused_with_a_way_out():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        room = Room(scene)
        scene.node(alice, 'beta', args=('--share-root', f'raw={room.root}'))
        cases.make_file(room.outside / 'run/data.bin', 1000)
        cases.refused(alice.cli('publish', 'raw:link/run', '--name', 'run', '--node', 'beta', expect=None), 4,
                      'link', 'root of its own')


cases.run(a_get_does_not_follow_a_link_after_a_restart, what_is_served_comes_from_the_folder_that_was_published,
          a_link_inside_of_what_is_served_is_not_followed, tasks_stay_inside_while_folders_are_exchanged_all_the_time,
          a_link_below_a_root_is_refused_with_a_way_out)
