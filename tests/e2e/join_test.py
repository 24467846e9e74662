#!/usr/bin/env python3
"""Joining by one string: an invitation makes account, login, membership and this machine's node; a node started so is stopped so."""
import fcntl
import os
import pathlib
import subprocess

import cases
import harness
from join_scene import Newcomer, with_advertised_server
from terminal import Terminal


def said(result, exit_code, *parts):
    """The last line, after what was shown of the server, is the error."""
    line = result.err.strip().splitlines()[-1]
    cases.check(result.code == exit_code and line.startswith('gridtorrent: ') and all(p in line for p in parts), result)


def is_free(lock):
    with open(lock, 'rb') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def play_the_line_that_the_first_start_prints(scene):
    """Its ready file lies where no client looks, so that the line logs in, too."""
    lines = [line for line in scene.the_server.log().splitlines() if 'this server is new; next: ' in line]
    cases.check(len(lines) == 1, scene.the_server.log())
    command = lines[0].split('; next: ', 1)[1].removesuffix('"').replace('invite NAME', 'invite nobody --json')
    first = Newcomer(scene, 'first')
    printed = subprocess.run(['sh', '-e', '-c', command], env={**first.env, 'PATH': f'{harness.default_bin()}:{first.env["PATH"]}'}, capture_output=True, text=True, timeout=60)
    cases.check(printed.returncode == 0 and 'code=' in printed.stdout, (command, printed))


def two_people_meet_by_two_strings():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        play_the_line_that_the_first_start_prints(scene)
        mia, ben = Newcomer(scene, 'mia'), Newcomer(scene, 'ben')
        try:
            mia.join(admin.cli('invite', 'mia', '--json').json['link'])
            cases.check(mia.node_runs(), 'her node runs')
            source = cases.make_file(scene.dir / 'in/run42', 3_000_000)
            mia.cli('group', 'create', 'lab')
            cases.refused(mia.cli('invite', '--group', 'lab', expect=None), 4, 'administrator')
            admin.cli('user', 'add', 'ben', '--password-file', ben.password)
            invited = mia.cli('invite', 'ben', '--group', 'lab')
            cases.check('private way' in invited.err and invited.out.startswith('gridtorrent:'), invited)
            joined = ben.join(invited.out.strip())
            cases.check('joined' in joined.err and 'all is well' in joined.out or 'warning' in joined.out, joined)
            mia.cli('publish', source, '--name', 'run42', '--access', 'group:lab')
            ben.cli('get', 'mia/run42', '--to', scene.dir / 'out')
            cases.check((scene.dir / 'out/run42').read_bytes() == source.read_bytes(), 'what ben got is what mia has')
            uses = [t for t in mia.cli('token', 'list', '--json').json['tokens'] if t['kind'] == 'invite']
            cases.check([t['uses_left'] for t in uses] == [0], uses)
            content = mia.cli('show', 'run42', '--json').json['content_id']
            again = mia.cli('invite', 'ben', '--group', 'lab', '--content', 'run42')
            cases.check(f'/{content}?ca=' in again.out, again)
            rejoined = ben.join(again.out.strip())
            cases.check(f'next: gridtorrent get {content}' in rejoined.err, rejoined)
        finally:
            mia.stop_node()
            ben.stop_node()


def a_code_is_in_no_list_of_processes():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        invite = lambda: admin.cli('invite', '--json').json['link']
        mia, ben = Newcomer(scene, 'mia'), Newcomer(scene, 'ben')
        link = invite()
        code = link.split('code=')[1]
        waiting = Terminal(mia.argv(['join', link, '--no-node', '--yes']), mia.env)
        waiting.until(lambda said: 'assword' in said, 'the question for a password')
        seen = pathlib.Path(f'/proc/{waiting.pid}/cmdline').read_text()
        cases.check('gridtorrent:' in seen and code not in seen and code[8:] not in seen, seen)
        secret = mia.password.read_text()
        waiting.type(secret + '\r')
        waiting.until(lambda said: ':' in said, 'the question once more')
        waiting.type(secret + '\r')
        cases.check(waiting.end() == 0, waiting.said)
        argv = ben.argv(['join', '-', '--no-node', '--yes', '--password-file', ben.password])
        piped = subprocess.run(argv, env=ben.env, input=invite() + '\n', capture_output=True, text=True, timeout=60)
        cases.check(piped.returncode == 0 and 'joined' in piped.stderr, piped)
        nothing = subprocess.run(argv, env=ben.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        cases.check(nothing.returncode == 2 and 'the standard input has no link' in nothing.stderr, nothing)


def managers_invite_where_the_server_lets_them():
    with harness.Scene() as scene:
        port = harness.free_ports()
        scene.server(listen=f'127.0.0.1:{port}', advertise=f'127.0.0.1:{port}', args=['--managers-invite'])
        admin = scene.admin()
        mia, ben = Newcomer(scene, 'mia'), Newcomer(scene, 'ben')
        mia.join(admin.cli('invite', 'mia', '--json').json['link'], '--no-node')
        cases.refused(mia.cli('invite', 'ben', expect=None), 4, 'administrator')
        mia.cli('group', 'create', 'lab')
        ben.join(mia.cli('invite', 'ben', '--group', 'lab', '--json').json['link'], '--no-node')
        members = mia.cli('group', 'show', 'lab', '--json').json['members']
        cases.check(sorted(m['user'] for m in members) == ['ben', 'mia'], members)
        cases.refused(ben.cli('invite', 'kim', '--group', 'lab', expect=None), 4, 'only a manager of the group invites')


def what_cannot_join_says_why_and_leaves_nothing():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        link = admin.cli('invite', 'mia', '--json').json['link']
        cases.refused(mia.join('https://example.org', expect=None), 2, 'gridtorrent:')
        cases.refused(mia.join(link.split('?')[0], expect=None), 2, 'ca= is missing')
        other = link.replace('?ca=' + link.split('?ca=')[1][:64], '?ca=' + 'a' * 64)
        cases.refused(mia.join(other, expect=None), 4, 'not the one of the invitation', 'SHA-256')
        said(mia.join(link[:-1] + ('a' if link[-1] != 'a' else 'b'), expect=None), 4, 'no invitation')
        said(mia.join(link, '--user', 'ben', expect=None), 4, 'for user mia')
        said(mia.cli('join', link, '--password-file', mia.password, expect=None), 2, '--yes')
        weak = scene.dir / 'weak'
        weak.touch(mode=0o600)
        weak.write_text('mia')
        said(mia.cli('join', link, '--yes', '--password-file', weak, expect=None), 2, '12')
        cases.check(not list(mia.home.rglob('profiles/*.json')), 'no login was kept')
        cases.refused(mia.cli('node', 'status', expect=None), 5, 'node start')
        cases.refused(mia.cli('node', 'stop', expect=None), 3, 'no node of yours runs here')
        cases.refused(mia.cli('node', 'start', expect=None), 4, 'log in')
        mia.join(link, '--no-node')
        cases.check(not mia.node_runs(), 'no node was asked for')


def a_node_starts_stops_and_starts_again():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        mia.join(admin.cli('invite', 'mia', '--json').json['link'], '--no-node')
        try:
            first = mia.cli('node', 'start', '--name', 'desk', '--json').json
            cases.check(first['node'] == 'desk', first)
            cases.check('runs already' in mia.cli('node', 'start').err, 'one node')
            cases.check(not (mia.state / 'enroll-token').exists() and not (mia.state / 'first-start.env').exists(), 'its token is used up')
            for path in (mia.state, mia.data):
                cases.check(os.stat(path).st_mode & 0o077 == 0, f'{path} is open to others')
            # Another account's login must not mistake this node for its own.
            admin_token = scene.dir / 'admin.token'
            admin_token.touch(mode=0o600)
            admin_token.write_text(open(scene.the_server.ready['admin_token_file']).read())
            mia.cli('login', '--profile', 'other', '--server', scene.the_server.address, '--ca', scene.the_server.ready['ca_file'],
                    '--user', 'admin', '--token-file', admin_token)
            cases.refused(mia.cli('node', 'start', '--profile', 'other', expect=None), 4, 'belongs to user mia')
            mia.cli('node', 'stop')
            cases.check(not mia.node_runs(), 'it has ended')
            again = mia.cli('node', 'start', '--json').json
            cases.check(again['node_id'] == first['node_id'], 'the same node')
        finally:
            mia.stop_node()


def a_removed_node_starts_as_a_new_one():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        cases.refused(mia.cli('node', 'reenroll', expect=None), 4, 'log in')
        mia.join(admin.cli('invite', 'mia', '--json').json['link'], '--no-node')
        cases.refused(mia.cli('node', 'reenroll', expect=None), 5, 'no node answers')
        try:
            first = mia.cli('node', 'start', '--name', 'desk', '--json').json
            mia.cli('node', 'remove', 'desk', '--yes')
            log = mia.state / 'log'
            harness.wait_until(lambda: 'gridtorrentd: this node' in log.read_text() and is_free(mia.data / 'lock'), 'the removed node to end', 60)
            last = log.read_text().strip().splitlines()[-1]
            cases.check('was removed' in last and 'node start' in last, last)
            second = mia.cli('node', 'start', '--name', 'desk', '--json').json
            cases.check(second['node_id'] != first['node_id'] and second['node'] == 'desk', second)
            mia.cli('node', 'stop')
            third = mia.cli('node', 'reenroll', '--json').json
            cases.check((third['node_id'], third['node']) == (second['node_id'], 'desk'), 'one that does not run is started with it')
        finally:
            mia.stop_node()


def a_login_that_there_is_is_kept():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        mia.join(admin.cli('invite', 'mia', '--json').json['link'], '--no-node')
        mia.cli('group', 'create', 'lab')
        other = admin.cli('invite', '--json').json['link']
        cases.refused(mia.join(other, '--user', 'mimi', '--no-node', expect=None), 6, 'logged in to', 'as mia', '--profile NAME --no-node')
        cases.check(mia.cli('whoami', '--json').json['user'] == 'mia', 'her login is as it was')
        mia.join(other, '--user', 'mimi', '--no-node', '--profile', 'second')
        cases.check(mia.cli('whoami', '--profile', 'second', '--json').json['user'] == 'mimi', 'the other account is beside it')
        again = mia.join(mia.cli('invite', 'mimi', '--group', 'lab', '--json').json['link'], '--no-node', '--profile', 'second')
        cases.check('as mimi' in again.err, again)


def after_a_logout_a_login_needs_no_server_and_another_may_join():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        mia.join(admin.cli('invite', 'mia', '--json').json['link'], '--no-node')
        mia.cli('logout')
        cases.refused(mia.cli('whoami', expect=None), 4, 'not logged in to', "'gridtorrent login'")
        mia.cli('login', '--password-file', mia.password)
        cases.check(mia.cli('whoami', '--json').json['user'] == 'mia', 'she is back')
        mia.cli('logout')
        mia.join(admin.cli('invite', '--json').json['link'], '--user', 'mimi', '--no-node')
        cases.check(mia.cli('whoami', '--json').json['user'] == 'mimi', 'the other account has the profile now')


def a_second_account_whose_node_would_have_no_place_is_not_made():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        try:
            mia.join(admin.cli('invite', 'mia', '--json').json['link'], '--node-name', 'desk')
            other = admin.cli('invite', '--json').json['link']
            for moment in ('while it runs', 'once it is stopped'):
                if 'stopped' in moment:
                    mia.cli('node', 'stop')
                refused = mia.join(other, '--user', 'mimi', '--profile', 'second', expect=None)
                cases.refused(refused, 6, 'node desk is of mia', '--no-node', 'node remove desk')
                cases.check('mimi' not in admin.cli('user', 'list').out, f'no account was made {moment}')
            mia.join(other, '--user', 'mimi', '--profile', 'second', '--no-node')
            mia.cli('node', 'start')
            mia.cli('node', 'remove', 'desk', '--yes')
            harness.wait_until(lambda: is_free(mia.data / 'lock'), 'the removed node to end', 60)
            mia.cli('node', 'start', '--profile', 'second')
            cases.check(mia.cli('node', 'status', '--profile', 'second', '--json').json['owner'] == 'mimi', 'her place is free now')
        finally:
            mia.stop_node()


def a_second_machine_joins_by_the_old_string_or_by_one_without_a_code():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia, laptop, third = Newcomer(scene, 'mia'), Newcomer(scene, 'laptop'), Newcomer(scene, 'third')
        for machine in (laptop, third):
            machine.password.write_text(mia.password.read_text())
        made = admin.cli('invite', 'mia', '--json').json
        mia.join(made['link'], '--no-node')
        admin.cli('token', 'revoke', made['token_id'])
        cases.check('as mia' in laptop.join(made['link'], '--user', 'mia', '--no-node').err, 'her own string is good for her')
        said(third.join(made['link'], '--user', 'ben', '--no-node', expect=None), 4, '--no-code')
        cases.refused(admin.cli('invite', 'mia', expect=None), 6, 'has an account', '--no-code')
        shown = mia.cli('invite', '--no-code')
        link = shown.out.strip()
        cases.check('code=' not in link and 'no secret' in shown.err, shown)
        cases.check(link == admin.cli('invite', '--no-code', '--json').json['link'], 'it is of the server, and of nobody')
        third.join(link, '--user', 'mia', '--no-node')
        cases.check(third.cli('whoami', '--json').json['user'] == 'mia', 'the third machine is hers')
        fourth = Newcomer(scene, 'fourth')
        with Terminal(fourth.argv(['join', link, '--yes', '--user', 'mia', '--no-node']), fourth.env) as screen:
            screen.until(lambda said: 'Password of mia: ' in said, 'the question for her password')
            screen.type(mia.password.read_text() + '\n')
            cases.check(screen.end() == 0 and 'The same again' not in screen.said, screen.said)


def an_address_of_this_host_alone_is_in_no_invitation():
    with harness.Scene() as scene:
        scene.server()
        admin = scene.admin()
        cases.refused(admin.cli('invite', 'mia', expect=None), 2, '--advertise', '--address')
        cases.check(all(t['revoked'] for t in admin.cli('token', 'list', '--json').json['tokens'] if t['kind'] == 'invite'), 'its code is void')
        link = admin.cli('invite', 'mia', '--address', 'data.example.org:7443', '--json').json['link']
        cases.check(link.startswith('gridtorrent:data.example.org:7443?ca='), link)


cases.run(two_people_meet_by_two_strings, a_code_is_in_no_list_of_processes, managers_invite_where_the_server_lets_them, what_cannot_join_says_why_and_leaves_nothing, a_node_starts_stops_and_starts_again, a_removed_node_starts_as_a_new_one,
          a_login_that_there_is_is_kept, after_a_logout_a_login_needs_no_server_and_another_may_join, a_second_account_whose_node_would_have_no_place_is_not_made, a_second_machine_joins_by_the_old_string_or_by_one_without_a_code,
          an_address_of_this_host_alone_is_in_no_invitation)
