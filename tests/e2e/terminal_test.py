#!/usr/bin/env python3
"""What a person has who sits at a terminal: lines of its width, questions, and a node that outlives it."""
import re

import cases
import harness
from join_scene import Newcomer, with_advertised_server
from terminal import Terminal

SIZE = 30_000_000


def setting(scene):
    return cases.published_to_all(scene, SIZE)[:4]


def at_terminal(user, node, *args, columns=80):
    return Terminal(user.argv(args, node), {**user.env, 'TERM': 'xterm'}, columns)


def progress_lines(shown):
    """What was drawn over and over in one line, without the last, which may be half there."""
    parts = [part.split('\x1b[K')[0] for part in shown.split('\r') if '\x1b[K' in part]
    return [part for part in parts if '%' in part]


def a_progress_line_is_as_wide_as_the_terminal():
    with harness.Scene() as scene:
        _, bob, _, beta = setting(scene)
        with at_terminal(bob, beta, 'get', 'data', '--to', scene.dir / 'out', '--limit', '8Mbit', columns=50) as terminal:
            narrow = progress_lines(terminal.until(lambda shown: len(progress_lines(shown)) > 3, 'a line of progress'))
            cases.check(all(len(line) <= 50 for line in narrow), narrow)
            terminal.resize(110)
            wide = terminal.until(lambda shown: any(60 < len(line) <= 110 for line in progress_lines(shown)), 'a wider line')
            cases.check(all(len(line) <= 110 for line in progress_lines(wide)), wide)
            terminal.resize(40)
            terminal.until(lambda shown: len(progress_lines(shown)) > 2 and len(progress_lines(shown)[-1]) <= 40, 'a narrower line')
            last = progress_lines(terminal.until(lambda shown: len(progress_lines(shown)) > 2, 'more'))
            cases.check(all(len(line) <= 40 for line in last), last)
            cases.check(all(re.search(r'\d+ ?%', line) for line in narrow + last), narrow + last)
            terminal.type('\x03')
            cases.check(terminal.end() == 10, terminal.said)


def a_list_that_is_watched_never_wraps():
    with harness.Scene() as scene:
        alice, bob, _, beta = setting(scene)
        alice.cli('group', 'create', 'a-group-with-a-name-that-is-nearly-as-long-as-it-may-be')
        alice.cli('group', 'invite', 'a-group-with-a-name-that-is-nearly-as-long-as-it-may-be', 'bob')
        bob.cli('get', 'data', '--to', scene.dir / 'a folder with a name that is much longer than the terminal is wide', node=beta)
        for words in (('transfers', '--watch'), ('inbox', '--watch', '--all'), ('show', 'data', '--replicas', '--watch')):
            with at_terminal(bob, beta, *words, columns=50) as terminal:
                shown = terminal.until(lambda shown: shown.endswith('\r\n') and len(shown) > 40, f'what {words[0]} shows')
                lines = [re.sub('\x1b\\[[0-9;]*[A-Za-z]', '', line) for line in shown.split('\r\n')]
                cases.check(all(len(line) <= 50 for line in lines), lines)
                terminal.type('\x03')
                cases.check(terminal.end() == 0, terminal.said)


def nobody_joins_who_answers_no():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        link = admin.cli('invite', 'mia', '--json').json['link']
        join = mia.argv(['join', link, '--password-file', mia.password, '--no-node'])
        with Terminal(join, {**mia.env, 'TERM': 'xterm'}, 200) as terminal:
            asked = terminal.until(lambda shown: '[y/N]' in shown, 'the question')
            cases.check(link.split('?ca=')[1][:64] in asked.replace('\r\n', '').replace(':', '').lower(), asked)
            terminal.type('n\n')
            cases.check(terminal.end() != 0 and 'nothing was done' in terminal.said, terminal.said)
        cases.check(not list(mia.home.rglob('profiles/*.json')), 'a login was kept')
        with Terminal(join, {**mia.env, 'TERM': 'xterm'}, 200) as terminal:
            terminal.until(lambda shown: '[y/N]' in shown, 'the question')
            terminal.type('y\n')
            cases.check(terminal.end() == 0, terminal.said)
        cases.check(mia.cli('whoami', '--json').json['user'] == 'mia', 'she has no login')


def files_are_removed_where_a_person_says_yes():
    with harness.Scene() as scene:
        _, bob, _, beta = setting(scene)
        bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
        place = scene.dir / 'out/data.bin'
        for answer in ('n\n', '\n', 'q\n'):
            with at_terminal(bob, beta, 'transfer', 'remove', 'data') as terminal:
                asked = terminal.until(lambda shown: '[y/N]' in shown, 'the question')
                cases.check(str(place) in asked.replace('\r\n', '') and '1 file' in asked, asked)
                terminal.type(answer)
                cases.check(terminal.end() != 0 and 'nothing was done' in terminal.said, terminal.said)
        cases.check(place.exists(), 'a no removed it')
        with at_terminal(bob, beta, 'transfer', 'remove', 'data') as terminal:
            terminal.until(lambda shown: '[y/N]' in shown, 'the question')
            terminal.type('y\n')
            cases.check(terminal.end() == 0, terminal.said)
        cases.check(not place.exists(), 'it is still there')


def what_is_withdrawn_is_asked_for_and_can_be_left():
    with harness.Scene() as scene:
        alice, bob, alpha, _ = setting(scene)
        with at_terminal(alice, alpha, 'unpublish', 'data') as terminal:
            terminal.until(lambda shown: '[y/N]' in shown, 'the question')
            terminal.type('n\n')
            cases.check(terminal.end() != 0, terminal.said)
        cases.check(len(bob.cli('search', 'data', '--json').json['contents']) == 1, 'a no withdrew it')
        with at_terminal(alice, alpha, 'unpublish', 'data') as terminal:
            terminal.until(lambda shown: '[y/N]' in shown, 'the question')
            terminal.type('y\n')
            cases.check(terminal.end() == 0, terminal.said)
        cases.check(bob.cli('search', 'data', '--json').json['contents'] == [], 'it is still found')


def a_node_outlives_the_terminal_that_started_it():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        mia.join(admin.cli('invite', 'mia', '--json').json['link'], '--no-node')
        start = ' '.join(mia.argv(['node', 'start', '--name', 'desk']))
        try:
            # A shell that is left open, as a person leaves it; its terminal goes and with it all that belongs to it.
            with Terminal(['/bin/sh', '-c', f'{start} && echo started; read line'], {**mia.env, 'TERM': 'xterm'}) as terminal:
                terminal.until(lambda shown: 'started\r\n' in shown, 'the node')
                terminal.close()
                harness.wait_until(lambda: not harness.pathlib.Path(f'/proc/{terminal.pid}/exe').exists(), 'the shell to end')
            cases.check(mia.node_runs(), 'the node went with the terminal')
        finally:
            mia.stop_node()


cases.run(a_progress_line_is_as_wide_as_the_terminal, a_list_that_is_watched_never_wraps, nobody_joins_who_answers_no,
          files_are_removed_where_a_person_says_yes, what_is_withdrawn_is_asked_for_and_can_be_left,
          a_node_outlives_the_terminal_that_started_it)
