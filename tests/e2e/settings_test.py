#!/usr/bin/env python3
"""Options that a node's owner sets while it runs are kept, also by a node that is killed; its status is watched."""
import os
import signal

import cases
import harness
from watching import until, watching


def setting(user, node, name):
    listed = user.cli('node', 'settings', '--json', node=node).json['settings']
    return next(s for s in listed if s['name'] == name)


def what_makes_no_sense_changes_nothing():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha = scene.node(alice, 'alpha', args=('--max-fetching', '3'))
        for words, code, names in (((), 2, ('--reset', 'node settings')),
                                   (('max-fetching',), 2, ('NAME=VALUE', "'max-fetching'")),
                                   (('max-fetching=many',), 2, ('max-fetching', "'many'")),
                                   (('max-fetching=8', 'upload-limit=10kbit'), 2, ('upload-limit', '1Mbit')),
                                   (('frob=1',), 2, ("'frob'", 'node settings')),
                                   (('socket=/tmp/s',), 2, ('socket', 'gridtorrentd.toml')),
                                   (('max-fetching=8', '--reset', 'max-fetching'), 2, ('max-fetching', 'twice'))):
            cases.refused(alice.cli('node', 'set', *words, node=alpha, expect=None), code, *names)
        cases.refused(bob.cli('node', 'set', 'max-fetching=8', node=alpha, expect=None), 4, 'alice')
        cases.refused(bob.cli('node', 'settings', node=alpha, expect=None), 4, 'alice')
        cases.check(setting(alice, alpha, 'max-fetching')['values'] == ['3'], 'a refused setting took hold')
        cases.check(not (alpha.data / 'settings.toml').exists(), 'a refused setting was kept')


def what_is_set_holds_after_a_kill():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        folder = scene.dir / 'incoming'
        folder.mkdir()
        alpha = scene.node(alice, 'alpha', args=('--max-fetching', '3'))
        told = alice.cli('node', 'set', 'max-fetching=8', 'upload-limit=20Mbit', f'download-root=in={folder}', node=alpha)
        cases.check('max-fetching is 8 now (node set; configured: 3)' in told.err, told)
        alpha.kill()
        alpha.start()
        cases.check(setting(alice, alpha, 'max-fetching') == {**setting(alice, alpha, 'max-fetching'), 'values': ['8'], 'configured': ['3'],
                                                              'source': 'set'}, setting(alice, alpha, 'max-fetching'))
        limits = alice.cli('node', 'limit', '--json', node=alpha).json
        cases.check((limits['upload_bits_per_s'], limits['upload_held_by']) == (20_000_000, 'configuration'), limits)
        cases.check(alice.cli('node', 'ls', 'alpha:in', '--json').json['entries'] == [], 'the root is not there')
        alice.cli('node', 'limit', '--download', '50Mbit', node=alpha)
        alice.cli('node', 'set', '--reset', 'max-fetching', 'upload-limit=30Mbit', 'download-root=', node=alpha)
        shown = alice.cli('node', 'settings', node=alpha).out
        cases.check('max-fetching' in shown and 'command line' in shown and 'socket' not in shown, shown)
        cases.check(setting(alice, alpha, 'download-root')['values'] == [], 'the root is still there')
        os.kill(alpha.pid, signal.SIGHUP)
        harness.wait_until(lambda: 'configuration read again' in alpha.log(), 'SIGHUP')
        cases.check(setting(alice, alpha, 'upload-limit')['values'] == ['30Mbit'], 'SIGHUP took back what was set')
        alpha.stop()
        (alpha.data / 'settings.toml').write_text('max-fetching = "lots"\n')
        alpha.start(wait=False)
        cases.ended_with(alpha, 2, 'settings.toml', "'lots'")


def the_status_is_watched():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        with watching(alice, 'node', 'status', node=alpha) as following:
            told = until(following, lambda e: e['server_connected'], 'the connection is not told')
            cases.check(told['event'] == 'status' and told['node'] == 'alpha' and told['server_error'] is None, told)
            server.stop()
            until(following, lambda e: not e['server_connected'] and e['server_error'], 'the end of the server is not told')
            server.start()
            until(following, lambda e: e['server_connected'], 'the server that came back is not told')


cases.run(what_makes_no_sense_changes_nothing, what_is_set_holds_after_a_kill, the_status_is_watched)
