#!/usr/bin/env python3
"""What this user may not read or write is named, and nothing else happens. Runs as an unprivileged user."""
import os

import cases
import harness


def an_unreadable_file_is_named():
    alice, alpha = scene.users['alice'], scene.alpha
    folder = scene.dir / 'locked'
    cases.make_file(folder / 'open', 1000)
    locked = cases.make_file(folder / 'shut', 1000)
    locked.chmod(0)
    cases.refused(alice.cli('publish', folder, '--name', 'locked', node=alpha, expect=None), 4, locked)


def an_unreadable_folder_is_named():
    alice, alpha = scene.users['alice'], scene.alpha
    folder = scene.dir / 'closed'
    cases.make_file(folder / 'inner/file', 1000)
    (folder / 'inner').chmod(0)
    cases.refused(alice.cli('publish', folder, '--name', 'closed', node=alpha, expect=None), 4, folder / 'inner')
    (folder / 'inner').chmod(0o700)


def a_target_that_cannot_be_written_is_exit_8():
    alice, alpha = scene.users['alice'], scene.alpha
    target = scene.dir / 'readonly'
    target.mkdir(mode=0o555)
    cases.refused(alice.cli('get', 'data', '--to', target, '--refetch', node=alpha, expect=None), 8, target)
    cases.check(os.listdir(target) == [], os.listdir(target))


cases.become_nobody()
with harness.Scene() as scene:
    scene.server()
    alice = scene.user('alice')
    scene.alpha = scene.node(alice, 'alpha')
    alice.cli('publish', cases.make_file(scene.dir / 'data.bin', 100_000), '--name', 'data', '--access', 'public', node=scene.alpha)
    cases.run(an_unreadable_file_is_named, an_unreadable_folder_is_named, a_target_that_cannot_be_written_is_exit_8)
