#!/usr/bin/env python3
"""Accounts, tokens and the server's own housekeeping: what is revoked is revoked, and a backup brings everything back."""
import os
import shutil
import subprocess

import cases
import harness


def server_command(scene, *args, expect=0):
    done = subprocess.run([scene.bin / 'gridtorrent-server', '--data-dir', scene.the_server.data, *args], env=scene.env,
                          capture_output=True, text=True, timeout=120)
    cases.check(done.returncode == expect, f'{args}: exit {done.returncode}\n{done.stdout}{done.stderr}')
    return done


def a_logout_and_a_revoked_token_end_at_once():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        token = alice.cli('token', 'create', '--label', 'script', '--ttl', '1h', '--json').json
        secret = scene.dir / 'script.token'
        secret.touch(mode=0o600)
        secret.write_text(token['token'])
        cases.check(alice.cli('whoami', '--token-file', secret, '--json').json['user'] == 'alice', 'the token is not good')
        alice.cli('token', 'revoke', token['token_id'])
        harness.wait_until(lambda: alice.cli('whoami', '--token-file', secret, expect=None).code == 4, 'the token to end', 35)
        alice.cli('logout')
        cases.refused(alice.cli('search', expect=None), 4, 'log')
        leftovers = [p for p in alice.home.rglob('*') if p.is_file() and 'token' in str(p)]
        cases.check(leftovers == [], leftovers)


def only_an_admin_adds_users_and_the_disabled_are_out():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        secret = scene.dir / 'x.password'
        secret.touch(mode=0o600)
        secret.write_text('carol likes long passphrases')
        cases.refused(alice.cli('user', 'add', 'carol', '--password-file', secret, expect=None), 4)
        cases.refused(scene.admin().cli('user', 'add', 'bob', '--password-file', secret, expect=None), 6, 'bob')
        scene.admin().cli('user', 'disable', 'bob')
        harness.wait_until(lambda: bob.cli('whoami', expect=None).code == 4, "bob's login to end", 35)


def secrets_are_private_and_never_shown():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        alice.cli('search', node=alpha)
        for top in (scene.the_server.data, alpha.data, alice.home):
            cases.check(os.stat(top).st_mode & 0o077 == 0 or top == alice.home, f'{top} is open to others')
            for path in top.rglob('*'):
                if path.is_file() and any(word in path.name for word in ('token', 'key', 'sqlite', '.db')):
                    cases.check(path.stat().st_mode & 0o077 == 0, f'{path} is open to others')
        token = next((alice.home / 'state').rglob('tokens/*')).read_text().strip()
        for daemon in scene.daemons:
            cases.check(token not in daemon.log(1 << 20), f'the token is in the log of {daemon.name}')
            arguments = open(f'/proc/{daemon.pid}/cmdline').read()
            cases.check('gte_' not in arguments and 'gtn_' not in arguments, arguments)


def secret_file(scene, name, text):
    path = scene.dir / name
    path.touch(mode=0o600)
    path.write_text(text)
    return path


def an_administrator_runs_accounts_by_the_command_line():
    with harness.Scene() as scene:
        scene.server()
        admin, mia = scene.admin(), scene.user('mia')
        # A program's account: no password, one narrow token.
        cases.refused(admin.cli('user', 'add', 'robot', '--role', 'service', '--password-file',
                                secret_file(scene, 'p', 'a password for a robot'), expect=None), 2, 'service account')
        admin.cli('user', 'add', 'robot', '--role', 'service')
        cases.refused(admin.cli('token', 'create', '--for', 'robot', expect=None), 2, '--scope')
        cases.refused(admin.cli('token', 'create', '--for', 'mia', '--scope', 'content:read', expect=None), 4, 'mia is a person')
        cases.refused(mia.cli('token', 'create', '--for', 'robot', '--scope', 'content:read', expect=None), 4, 'admin')
        made = admin.cli('token', 'create', '--for', 'robot', '--scope', 'content:read', '--ttl', '1d', '--json').json
        robot = harness.User(scene, 'robot')
        robot.cli('login', '--server', scene.the_server.address, '--ca', scene.the_server.ready['ca_file'], '--token-file',
                  secret_file(scene, 'robot.token', made['token']))
        who = robot.cli('whoami', '--json').json
        cases.check(who['roles'] == ['service'] and who['scopes'] == ['content:read'], who)
        cases.check('scopes: content:read\n' in robot.cli('whoami').out, 'whoami tells the scopes')
        cases.refused(admin.cli('token', 'create', '--for', 'robot', '--scope', 'node:run', expect=None), 2, 'enroll-token')
        cases.check(robot.cli('search', '--json').json['contents'] == [], 'it may look')
        cases.refused(robot.cli('token', 'create', expect=None), 4, 'scope')
        cases.check([t['token_id'] for t in admin.cli('token', 'list', '--of', 'robot', '--json').json['tokens']] == [made['token_id']],
                    'the administrator sees its tokens')
        admin.cli('token', 'revoke', made['token_id'])
        cases.refused(robot.cli('search', expect=None), 4, 'login')

        # Quotas.
        cases.refused(mia.cli('user', 'quota', 'mia', '--set', 'contents=1', expect=None), 4, 'admin')
        cases.refused(admin.cli('user', 'quota', 'mia', '--set', 'disk=1', expect=None), 2, 'disk', 'metadata-bytes')
        cases.refused(admin.cli('user', 'quota', 'mia', '--set', 'contents', expect=None), 2, 'contents=500')
        admin.cli('user', 'quota', 'mia', '--set', 'contents=1', '--set', 'metadata-bytes=1GiB')
        alpha = scene.node(mia, 'alpha')
        for name, exit_code in (('one', 0), ('two', 1)):
            file = cases.make_file(scene.dir / f'in/{name}', 1000)
            result = mia.cli('publish', file, '--name', name, '--access', 'private', node=alpha, expect=None)
            cases.check((result.code != 0) == bool(exit_code), result)
        cases.check('as many as the quota allows' in result.err, result)
        mine = {q['quota']: q for q in mia.cli('user', 'quota', '--json').json['quotas']}
        cases.check((mine['contents']['used'], mine['contents']['limit'], mine['contents']['own_limit']) == (1, 1, True), mine)
        cases.check(mine['metadata-bytes']['limit'] == 1 << 30 and mine['nodes']['used'] == 1, mine)
        admin.cli('user', 'quota', 'mia', '--set', 'contents=default')
        mia.cli('publish', file, '--name', 'two', '--access', 'private', node=alpha)

        # Passwords.
        old, new = scene.dir / 'mia.password', secret_file(scene, 'new', 'correct horse battery')
        weak = secret_file(scene, 'weak', 'mia')
        cases.refused(mia.cli('password', '--old-password-file', old, '--password-file', weak, expect=None), 2, '12')
        cases.refused(mia.cli('password', '--old-password-file', new, '--password-file', new, expect=None), 4, 'old password')
        cases.refused(mia.cli('password', '--password-file', new, expect=None), 2, '--old-password-file')
        mia.cli('password', '--old-password-file', old, '--password-file', new)
        mia.cli('whoami')
        cases.refused(mia.cli('password', 'admin', '--password-file', new, expect=None), 4, 'admin')
        admin.cli('password', 'mia', '--password-file', old)
        cases.refused(mia.cli('whoami', expect=None), 4, 'login')
        mia.cli('login', '--user', 'mia', '--password-file', old)
        cases.check(mia.cli('node', 'list', '--json').json['nodes'][0]['online'], 'her node went on')

        # Out and in again.
        admin.cli('user', 'disable', 'mia')
        cases.refused(mia.cli('login', '--user', 'mia', '--password-file', old, expect=None), 4, 'wrong user name or password')
        admin.cli('user', 'enable', 'mia')
        mia.cli('login', '--user', 'mia', '--password-file', old)

        # Who did what.
        cases.refused(mia.cli('audit', expect=None), 4, 'admin')
        records = admin.cli('audit', '--actor', 'admin', '--action', 'user', '--json').json['records']
        cases.check([r['action'] for r in records][:2] == ['user.enable', 'user.disable'] and records[0]['object'] == 'mia', records)
        older = admin.cli('audit', '--limit', '1', '--below', records[0]['number'], '--json').json['records']
        cases.check(older[0]['number'] == records[0]['number'] - 1, older)


def a_backup_brings_everything_back():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        source = cases.make_file(scene.dir / 'in/data.bin', 1_000_000)
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        backup = scene.dir / 'backup'
        server_command(scene, 'backup', backup)
        late = cases.make_file(scene.dir / 'in/late.bin', 1_000, seed=1)
        alice.cli('publish', late, '--name', 'late', '--access', 'public', node=alpha)
        server.stop()
        server_command(scene, 'check')
        for name in os.listdir(server.data):
            if 'metadata' in name or 'sqlite' in name or name.endswith('.db') or '.db-' in name:
                path = server.data / name
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        server_command(scene, 'restore', backup)
        server_command(scene, 'check')
        server.start()
        names = [c['name'] for c in alice.cli('search', '--json').json['contents']]
        cases.check(names == ['data'], names)
        bob = scene.user('bob')
        beta = scene.node(bob, 'beta')
        harness.wait_until(lambda: bob.cli('show', 'data', '--json').json['seeders'] == 1, 'the seeder to be known again', 90)
        bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
        cases.same(source, scene.dir / 'out/data.bin')


cases.run(a_logout_and_a_revoked_token_end_at_once, only_an_admin_adds_users_and_the_disabled_are_out,
          secrets_are_private_and_never_shown, an_administrator_runs_accounts_by_the_command_line, a_backup_brings_everything_back)
