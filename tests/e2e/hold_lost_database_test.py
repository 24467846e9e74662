#!/usr/bin/env python3
"""A server whose database is lost does not start as a new one by itself; a first start that was killed goes on."""
import os
import pathlib
import random
import shutil
import subprocess
import time

import cases
import harness

SEED = cases.scaled('SEED', int(time.time()))
KILLS = cases.scaled('START_KILLS', 8)
# In the order in which a first start makes them.
STAGES = ('gridtorrent.db', 'gridtorrent.db-wal', 'metadata', 'ca-key.pem', 'ca.pem', 'tls.pem', 'sealing-key', 'admin-token')


def tool(server, *args):
    """A subcommand of the server's program: its exit code and what it wrote to stderr."""
    done = subprocess.run([*server.argv[:3], *args], env=server.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def refused_as_lost(server, *names):
    """It ends by itself with 7 and one line that names the ways out; nothing in its folder changed."""
    before = contents_of(server.data)
    log = server.log_path.stat().st_size if server.log_path.exists() else 0
    server.start(wait=False)
    cases.ended_with(server, 7, 'gridtorrent.db is missing or empty', 'restore FILE', '--new', *names)
    said = server.log_path.read_bytes()[log:].decode().splitlines()
    cases.check(len(said) == 1, f'more than one line: {said}')
    cases.check(contents_of(server.data) == before, f'the refusal changed {server.data}')


def contents_of(folder):
    """Names and bytes, but for the lock files, which name the process."""
    return {p.relative_to(folder): p.read_bytes() for p in pathlib.Path(folder).rglob('*') if p.is_file() and 'lock' not in p.name}


def remove_database(server):
    for suffix in ('', '-wal', '-shm'):
        pathlib.Path(f'{server.data}/gridtorrent.db{suffix}').unlink(missing_ok=True)


def a_lost_database_is_refused_until_it_is_restored():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        backup = scene.dir / 'backup'
        cases.check(tool(server, 'backup', backup) == (0, ''), 'no backup')
        server.stop()
        remove_database(server)
        refused_as_lost(server, 'ca.pem', 'the sealing key')
        database = server.data / 'gridtorrent.db'
        database.touch(mode=0o600)
        refused_as_lost(server, 'ca.pem')
        for command in (('check',), ('backup', scene.dir / 'of-nothing')):
            code, said = tool(server, *command)
            cases.check(code == 7 and 'is missing or empty' in said, f'{command[0]}: {code} {said}')
        cases.check(not (scene.dir / 'of-nothing').exists(), 'a backup of nothing')
        cases.check(tool(server, 'restore', backup)[0] == 0, 'the backup is not taken')
        server.start()
        cases.check(alice.cli('whoami', '--json').json['user'] == 'alice', 'the login is gone')


def each_remainder_alone_is_enough():
    with harness.Scene() as scene:
        key = scene.dir / 'elsewhere' / 'sealing-key'
        key.parent.mkdir()
        server = scene.server(args=('--sealing-key', key))
        server.stop()
        whole = scene.dir / 'whole'
        server.data.rename(whole)
        server.data.mkdir(mode=0o700)
        refused_as_lost(server, key)  # the disk of the data folder is not mounted
        hidden = key.rename(scene.dir / 'hidden-key')
        for name in ('ca.pem', 'ca-key.pem', 'tls.pem', 'admin-token'):
            shutil.copy2(whole / name, server.data / name)
            refused_as_lost(server, name)
            (server.data / name).unlink()
        (server.data / 'metadata').mkdir()
        (server.data / 'metadata' / ('0' * 64)).write_text('a document')
        refused_as_lost(server, '1 metadata document')
        shutil.rmtree(server.data / 'metadata')
        for name in ('gridtorrent.db.replaced-1', 'gridtorrent.db.restoring'):  # a restore that was killed
            shutil.copy2(whole / 'gridtorrent.db', server.data / name)
            refused_as_lost(server, name)
            (server.data / name).unlink()
        shutil.rmtree(server.data)
        whole.rename(server.data)
        hidden.rename(key)
        server.start()


def new_starts_a_new_server_and_once_only():
    with harness.Scene() as scene:
        server = scene.server()
        scene.user('alice')
        ca = (server.data / 'ca.pem').read_bytes()
        server.stop()
        remove_database(server)
        server.argv.append('--new')
        server.start()
        cases.check((server.data / 'ca.pem').read_bytes() == ca, 'clients would have to trust another CA')
        admin = scene.users['admin'] = harness.User(scene, 'again')
        admin.cli('login', '--server', server.address, '--ca', server.ready['ca_file'], '--user', 'admin', '--token-file',
                  server.ready['admin_token_file'])
        cases.check([u['name'] for u in admin.cli('user', 'list', '--json').json['users']] == ['admin'], 'it is not new')
        server.stop()
        server.start(wait=False)
        cases.ended_with(server, 6, 'gridtorrent.db', 'without --new')
        server.argv.remove('--new')
        server.start()


def kill_at(server, reached):
    """Starts it and kills it as soon as `reached()` holds, or it is ready. Whether it was killed before that."""
    server.ready = None
    server.start(wait=False)
    while not reached() and not server.ready_file.exists():
        cases.check(server.process.poll() is None, lambda: f'it ended by itself:\n{server.log()}')
    early = not server.ready_file.exists()
    server.kill()
    return early


def a_first_start_that_was_killed_goes_on():
    print(f'seed {SEED}: GT_E2E_SEED={SEED} repeats it', flush=True)
    generator = random.Random(SEED)
    with harness.Scene() as scene:
        server = scene.server()
        began = time.monotonic()
        server.stop()
        server.start()
        usual = time.monotonic() - began
        server.stop()
        early = 0
        for stage in (*STAGES, *(generator.random() * usual for _ in range(KILLS))):
            shutil.rmtree(server.data)
            began = time.monotonic()
            early += kill_at(server, lambda: (server.data / stage).exists() if isinstance(stage, str) else time.monotonic() - began > stage)
            server.start()  # without --new: it fails where the server takes its database for lost
            cases.check('admin_token_file' in server.ready, 'nobody could log in')
            server.stop()
        print(f'  {early} of {len(STAGES) + KILLS} were killed before they were ready', flush=True)
        cases.check(early >= len(STAGES) // 2, 'the starts were not killed in time')


cases.run(a_lost_database_is_refused_until_it_is_restored, each_remainder_alone_is_enough, new_starts_a_new_server_and_once_only,
          a_first_start_that_was_killed_goes_on)
