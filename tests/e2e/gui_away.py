#!/usr/bin/env python3
"""Node and server are killed or stopped, and the login ends, while the window runs: it says so within seconds, goes on by itself, and
what was typed stays."""
import os
import re
import signal
import sqlite3
import time

import cases
import desk
import harness

FIND, NAME = 'Find data sets by a part of their name', 'Name of the data set'
TYPED = 'half a name'
# What is asked is 3 s and 10 s, and what it took is printed; a busy machine may take longer. A broken connection must not
# be noticed by its silence alone, which takes more than 8 s.
BROKEN_S, SILENT_S, AGAIN_S = 8, 30, 40
ASKED = {BROKEN_S: ('broken', 3), SILENT_S: ('silent', 10)}
told_after = {BROKEN_S: [], SILENT_S: []}


def told(words, since):
    """The bar above the page says so, and the page still has what was typed; after how many seconds."""
    window.wait_for(re.compile(words), timeout_s=SILENT_S)
    took = time.monotonic() - since
    print(f'        told after {took:.1f} s', flush=True)
    cases.check(window.text_of(FIND) == TYPED, 'what was typed is gone')
    return took


def over(words):
    """It goes on by itself."""
    since = time.monotonic()
    window.wait_gone(re.compile(words), AGAIN_S)
    window.wait_for('● Server connected', timeout_s=AGAIN_S)
    window.wait_for(re.compile('● Node running.*'), timeout_s=AGAIN_S)
    print(f'        over after {time.monotonic() - since:.1f} s', flush=True)
    cases.check(window.text_of(FIND) == TYPED, 'what was typed is gone')


def broken(daemon, words):
    """Within BROKEN_S once of three times: a machine that stands still for seconds is no fault of the window's."""
    for _ in range(3):
        since = time.monotonic()
        daemon.kill()
        took = told(words, since)
        daemon.start()
        over(words)
        if took <= BROKEN_S:
            told_after[BROKEN_S].append(took)
            return
    raise AssertionError(f'told after {took:.1f} s, three times: its silence alone was noticed')


def silent(daemon, words):
    since = time.monotonic()
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        told_after[SILENT_S].append(told(words, since))
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    over(words)


def a_node_that_is_killed():
    broken(node, 'The node does not answer.*')


def a_node_that_is_stopped():
    silent(node, 'The node does not answer.*')


def a_server_that_is_killed():
    broken(server, 'The server does not answer.*')


def a_server_that_is_stopped():
    silent(server, 'The server does not answer.*')


def a_login_that_ends():
    with sqlite3.connect(f'file:{server.data / "gridtorrent.db"}?mode=ro', uri=True) as database:
        tokens = [row[0] for row in database.execute("SELECT token_id FROM token t JOIN user u ON u.user_id = t.user_id WHERE u.name = 'alice'")]
    since = time.monotonic()
    for token in tokens:
        scene.admin().cli('token', 'revoke', token)
    words = 'Your login has ended.*gridtorrent login'
    told_after[SILENT_S].append(told(words, since))
    alice.cli('login', '--user', 'alice', '--password-file', scene.dir / 'alice.password')
    over(words)


def a_draft_outlives_a_node_that_is_killed():
    window.keys('ctrl+n')
    window.type_into(NAME, TYPED)
    window.keys('Escape')
    window.wait_gone(NAME)
    broken(node, 'The node does not answer.*')
    window.keys('ctrl+n')
    window.wait_for(NAME)
    cases.check(window.text_of(NAME) == TYPED, 'the draft is gone')
    window.keys('Escape')
    window.wait_gone(NAME)


def a_session_that_ends_keeps_the_window():
    global window
    window.keys('ctrl+1')
    window.wait_for(FIND)
    window.terminate()
    [kept] = scene.dir.rglob('window.conf')
    text = re.sub(r'^width \d+\nheight \d+$', 'width 1011\nheight 707', kept.read_text(), flags=re.M)
    cases.check('\nwidth 1011\nheight 707\npage find\n' in text, text)
    kept.write_text(text)
    window = screen.window(alice, node)
    window.wait_for(FIND)
    cases.check(window.size() == '1011x707', f'it is {window.size()} now')
    window.terminate()
    cases.check(kept.read_text() == text, kept.read_text())


desk.need()
with harness.Scene() as scene, desk.Desk(scene, 'gui_away') as screen:
    server = scene.server()
    alice = scene.user('alice')
    node = scene.node(alice, 'alpha')
    window = screen.window(alice, node)
    window.wait_for('● Server connected')
    window.keys('ctrl+1')
    window.type_into(FIND, TYPED)
    for case in (a_node_that_is_killed, a_node_that_is_stopped, a_server_that_is_killed, a_server_that_is_stopped, a_login_that_ends,
                 a_draft_outlives_a_node_that_is_killed, a_session_that_ends_keeps_the_window):
        with screen.step(case.__name__.replace('_', ' ')):
            case()
for limit_s, (what, asked_s) in ASKED.items():
    print(f'{what}: told within {max(told_after[limit_s]):.1f} s (asked: {asked_s} s)')
