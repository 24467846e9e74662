#!/usr/bin/env python3
"""Two people use a window each, with a node each, by names, keys and one drop of the mouse: one finds and gets what the other has published, also for their
group and from the window, and is told why a transfer stops when the right to it is taken."""
import re

import cases
import desk
import harness

FIND, FOUND, FOLDER = 'Find data sets by a part of their name', 'Data sets found', 'Folder for fetched data'
NO_RIGHT = 'not yours to have any more'


def begin():
    """Alice has published a small and a large data set for Bob. Both windows are there."""
    cases.make_file(scene.dir / 'in/climate/first.bin', 3_000_000, seed=1)
    cases.make_file(scene.dir / 'in/climate/more/second.bin', 2_000_000, seed=2)
    cases.make_file(scene.dir / 'in/genome/genome.bin', 60_000_000, seed=3)
    cases.make_file(scene.dir / 'in/genome/notes.bin', 1_000_000, seed=6)
    for name in ('climate', 'genome'):
        alice.cli('publish', scene.dir / 'in' / name, '--name', name, '--access', 'user:bob', node=alpha)
    cases.make_file(scene.dir / 'in/results/run.bin', 3_000_000, seed=4)
    cases.make_file(scene.dir / 'in/results/log/run.txt', 1_000_000, seed=5)
    alice.cli('group', 'create', 'lab')
    alice.cli('group', 'invite', 'lab', 'bob')
    bob.cli('group', 'accept', 'lab')
    windows = [screen.window(alice, alpha), screen.window(bob, beta)]
    for window in windows:
        window.wait_for('● Server connected')
        window.wait_for(re.compile('● Node running.*'))
    return windows


def find(window, text, name):
    """Types into Find, and chooses what is found."""
    window.keys('ctrl+1')
    window.type_into(FIND, text)
    window.wait_for('1 found')
    window.choose(FOUND, re.compile(f'{name} of alice, .*'))


def choose_files(window, words, chosen):
    """Ticks the files with these words in their path, and no others."""
    window.press('Files')
    window.press('Choose none of the files that are shown')
    window.type_into('Filter files by a part of their path', words)
    window.wait_gone('first.bin')
    window.press('Choose all files that are shown')
    window.wait_for(chosen)


def get(window):
    window.type_into(FOLDER, str(scene.dir / 'bob'))
    window.press('Get')


def what_is_found_as_one_types_is_fetched_in_part():
    find(bobs, 'clim', 'climate')
    choose_files(bobs, 'second', 'Chosen: 1 of 2, 2.00 MB')
    get(bobs)
    bobs.wait_for(re.compile('climate of alice, [a-z]+, 100 % of 2.00 MB.*'))
    cases.same(scene.dir / 'in/climate/more', scene.dir / 'bob/climate/more')
    cases.check(not (scene.dir / 'bob/climate/first.bin').exists(), 'a file came that was not chosen')


def other_files_are_chosen_while_it_fetches():
    bob.cli('node', 'limit', '--download', '6Mbit', node=beta)
    find(bobs, 'gen', 'genome')
    get(bobs)
    bobs.wait_for(re.compile('genome of alice, fetching, .*Mbit/s down.*'))
    bobs.choose('Transfers', re.compile('genome of alice, .*'))
    bobs.press('Files', role=('page tab',))
    bobs.wait_for(re.compile(r'Chosen: 2 of 2, 61\.0+ MB'))
    bobs.focus('Files', role=('tree', 'tree table'))
    bobs.keys('Home', 'Down', 'space')
    bobs.wait_for(re.compile(r'Chosen: 1 of 2, 60\.0+ MB'))
    bobs.press('Fetch the chosen files and no others')
    bobs.wait_for(re.compile(r'genome of alice, fetching, .* of 60\.0+ MB.*'))


def a_transfer_whose_right_is_taken_stops_and_says_why():
    bobs.wait_for(re.compile('genome of alice, fetching, .*Mbit/s down.*'))
    alice.cli('access', 'genome', '--set', 'private')
    bobs.wait_for(re.compile(f'genome of alice, .*{NO_RIGHT}.*'), role=('table cell',))
    bobs.choose('Transfers', re.compile('genome of alice, .*'))
    bobs.press('Overview', role=('page tab',))
    bobs.wait_for(re.compile(f'.*{NO_RIGHT}.*'), role=('label',))
    bobs.wait_for(re.compile('genome of alice, (?!.* down).*'))


def a_folder_that_is_shared_with_a_group_is_found_and_fetched_by_a_member():
    screen.drag(scene.dir / 'in/results', alices)
    alices.wait_for(re.compile('Files: 2, size: 4.00 MB'))
    cases.check(alices.text_of('File or folder to publish') == str(scene.dir / 'in/results'), 'the folder that was dropped')
    alices.keys('alt+h')
    alices.keys('alt+g')
    alices.desk.xdotool('type', '--delay', '15', 'lab')
    alices.wait_for(re.compile('.* of 1 group can find and fetch this.*'))
    alices.press('Publish', role=('push button',))  # the dialog has the same name
    alices.wait_gone('File or folder to publish')
    alices.wait_for(re.compile('results of alice, seeding, 100 %.*'))
    find(bobs, 'resu', 'results')
    get(bobs)
    bobs.wait_for(re.compile('results of alice, [a-z]+, 100 % of 4.00 MB.*'))
    cases.same(scene.dir / 'in/results', scene.dir / 'bob/results')


def a_right_that_returns_lets_it_go_on():
    alice.cli('access', 'genome', '--set', 'user:bob')
    bob.cli('node', 'limit', '--download', 'none', node=beta)
    bobs.wait_for(re.compile('genome of alice, seeding, 100 %.*'))
    cases.check(not harness.difference(scene.dir / 'in/genome/genome.bin', scene.dir / 'bob/genome/genome.bin'), 'genome.bin')
    cases.check(not (scene.dir / 'bob/genome/notes.bin').exists(), 'a file came that is not chosen any more')


desk.need()
with harness.Scene() as scene, desk.Desk(scene, 'gui_click') as screen:
    scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
    with screen.step('a window for each of two people'):
        alices, bobs = begin()
    for step in (what_is_found_as_one_types_is_fetched_in_part, a_folder_that_is_shared_with_a_group_is_found_and_fetched_by_a_member, other_files_are_chosen_while_it_fetches, a_transfer_whose_right_is_taken_stops_and_says_why, a_right_that_returns_lets_it_go_on):
        with screen.step(step.__name__.replace('_', ' ')):
            step()
