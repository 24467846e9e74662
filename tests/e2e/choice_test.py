#!/usr/bin/env python3
"""Other files of a get that is under way: chosen anew, also across kills, and added by another get to the same place."""
import os

import cases
import harness


def transfers(user, node):
    return user.cli('transfers', '--json', node=node).json['transfers']


def has_some(user, node, least=2_000_000):
    harness.wait_until(lambda: transfers(user, node)[0]['verified_bytes'] >= least, f'{least} bytes to come')


def slow_choice(scene):
    """A folder `set` of three files of 12 MB; bob's node fetches the first, slowly, and has some of it."""
    scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
    folder = scene.dir / 'in/set'
    for i, name in enumerate(('one', 'more/two', 'more/three')):
        cases.make_file(folder / name, 12_000_000 + i, seed=i)
    alice.cli('publish', folder, '--name', 'set', '--access', 'public', node=alpha)
    bob.cli('get', 'set', '--to', scene.dir / 'out', '--file', 'one', '--limit', '4Mbit', '--detach', node=beta)
    has_some(bob, beta)
    return folder, bob, beta


def files_are_chosen_anew_and_what_stays_chosen_is_kept():
    with harness.Scene() as scene:
        folder, bob, beta = slow_choice(scene)
        out = scene.dir / 'out'
        chosen = bob.cli('transfer', 'set', 'set', '--file', 'one', '--file', 'more/two', '--json', node=beta).json
        cases.check(chosen['total_bytes'] == 24_000_001, chosen)
        harness.wait_until(lambda: transfers(bob, beta)[0]['verified_bytes'] >= 1_500_000, 'what is there to be kept')
        beta.kill()
        beta.start()
        has_some(bob, beta)
        cases.check(transfers(bob, beta)[0]['total_bytes'] == 24_000_001, 'the choice is lost')
        bob.cli('transfer', 'set', 'set', '--file', 'more', node=beta)
        harness.wait_until(lambda: not list(out.glob('.gridtorrent-*/set/one')), 'the other file to go')
        bob.cli('transfer', 'set', 'set', '--limit', '0', node=beta)
        bob.cli('transfer', 'wait', 'set', node=beta)
        cases.check(sorted(os.listdir(out / 'set')) == ['more'], os.listdir(out / 'set'))
        cases.same(folder / 'more', out / 'set/more')
        cases.refused(bob.cli('transfer', 'set', 'set', '--file', 'one', node=beta, expect=None), 6, 'gridtorrent get')
        bob.cli('get', 'set', '--to', out, node=beta)
        cases.same(folder, out / 'set')
        bob.cli('verify', 'set', node=beta)


def another_get_to_the_same_place_adds_its_files():
    with harness.Scene() as scene:
        folder, bob, beta = slow_choice(scene)
        out = scene.dir / 'out'
        cases.refused(bob.cli('get', 'set', '--to', out, '--file', 'none', node=beta, expect=None), 3, 'none')
        cases.refused(bob.cli('get', 'set', '--to', scene.dir / 'else', node=beta, expect=None), 6, out)
        cases.refused(bob.cli('transfer', 'set', 'set', '--file', 'none', node=beta, expect=None), 3, 'none')
        cases.check(transfers(bob, beta)[0]['total_bytes'] == 12_000_000, transfers(bob, beta))
        added = bob.cli('get', 'set', '--to', out, '--file', 'more/three', '--limit', '1Gbit', node=beta)
        cases.check('being fetched to this place already' in added.err, added)
        cases.check(len(transfers(bob, beta)) == 1, transfers(bob, beta))
        for name in ('one', 'more/three'):
            cases.check(not harness.difference(folder / name, out / 'set' / name), name)
        cases.check(not (out / 'set/more/two').exists(), 'a file came that nobody chose')


cases.run(files_are_chosen_anew_and_what_stays_chosen_is_kept, another_get_to_the_same_place_adds_its_files)
