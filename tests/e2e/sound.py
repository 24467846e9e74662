"""What must hold at the end of every end-to-end test, whatever it was about. `Scene` calls it where a test has passed.

The nodes end in order. The server holds no more descriptors and not much more memory than at its start. Its data is sound
by its own `check` (integrity, audit chain, two consents for each membership) and by its quotas, which must equal the rows
that they count. It starts again on that data and answers a new connection. No secret that the harness made stands in a log,
in an argument or in a file that others can read.
"""
import os
import pathlib
import re
import sqlite3
import stat
import subprocess

# The tests' most were 3 MB and 2 descriptors when this was written: caches that fill once, connections that just ended.
MEMORY_SLACK_KB = 32 * 1024
DESCRIPTOR_SLACK = 16
LARGEST_SEARCHED = 4 << 20

# A content, and each of its versions but the newest.
VERSIONS = ("(SELECT owner_id, state, metadata_bytes FROM content UNION ALL "
            "SELECT c.owner_id, c.state, v.metadata_bytes FROM content c JOIN content_version v USING (content_id))")
COUNTS = {
    'contents': f"SELECT count(*) FROM {VERSIONS} WHERE owner_id = ? AND state <> 'purged'",
    'metadata-bytes': f"SELECT coalesce(sum(metadata_bytes), 0) FROM {VERSIONS} WHERE owner_id = ? AND state <> 'purged'",
    'nodes': 'SELECT count(*) FROM node WHERE owner_id = ?',
    'groups': "SELECT count(*) FROM membership WHERE user_id = ? AND standing = 'manager'",
    'buddies': 'SELECT count(*) FROM buddy WHERE owner_id = ?',
}


class Unsound(AssertionError):
    """Something that must hold after every test does not."""


def require(condition, what):
    if not condition:
        raise Unsound(what)


def descriptors(daemon):
    """How many a daemon has open. None where the kernel does not tell: to root alone, of the server, which hides its memory from others."""
    try:
        return len(os.listdir(f'/proc/{daemon.pid}/fd'))
    except PermissionError:
        return None


def measure(daemon):
    """What a daemon holds at its start, to be compared with at the end."""
    return {'memory_kb': daemon.memory_kb()[0], 'descriptors': descriptors(daemon)}


def check_holdings(server, wait_until, sanitized, memory_slack_kb=MEMORY_SLACK_KB):
    if server.at_start['descriptors'] is not None:
        check_descriptors(server, wait_until)
    grown = server.memory_kb()[0] - server.at_start['memory_kb']
    require(sanitized or grown <= memory_slack_kb, f'{server.name} holds {grown} kB more than at its start')


def check_descriptors(server, wait_until):
    try:
        wait_until(lambda: descriptors(server) <= server.at_start['descriptors'] + DESCRIPTOR_SLACK, 'descriptors', 15)
    except AssertionError:
        require(False, f'{server.name} holds {descriptors(server)} descriptors, {server.at_start["descriptors"]} at its start')


def check_data(scene, server):
    done = subprocess.run([scene.bin / 'gridtorrent-server', '--data-dir', server.data, 'check'], env=scene.env, capture_output=True, text=True)
    require(done.returncode == 0, f'check of {server.data} failed:\n{done.stdout}{done.stderr}')


def check_quotas(scene, server, told):
    """`told`: by user, what `user quota` said while the server still ran."""
    database = sqlite3.connect(f'file:{server.data}/gridtorrent.db?mode=ro', uri=True)
    try:
        for name, quotas in told.items():
            (user_id,) = database.execute('SELECT user_id FROM user WHERE name = ?', (name,)).fetchone()
            for quota, sql in COUNTS.items():
                (rows,) = database.execute(sql, (user_id,)).fetchone()
                require(quotas[quota] == rows, f'quota {quota} of {name}: the server counts {quotas[quota]}, its rows are {rows}')
    finally:
        database.close()


def secrets_of(scene):
    """Every secret that this scene's users and daemons have, with what it is."""
    found = {}
    for path in scene.secret_files:
        for line in path.read_text(errors='replace').splitlines() if path.exists() else ():
            if len(line.strip()) >= 12:
                found[line.strip()] = str(path)
    for user in scene.users.values():
        for path in pathlib.Path(user.home, 'state').rglob('*'):
            if path.is_file():
                for token in re.findall(r'gt[a-z]*_[A-Za-z0-9_-]{20,}', path.read_text(errors='replace')):
                    found[token] = str(path)
    for key in scene.dir.glob('*/*key*'):
        if key.is_file() and key.stat().st_size < 10_000:
            text = key.read_text(errors='replace')
            body = [line for line in text.splitlines() if line and not line.startswith('-----')]
            if body and len(body[0]) >= 20:
                found[body[0]] = str(key)
    return found


def check_secrets(scene):
    secrets = secrets_of(scene)
    logs = [daemon.log_path for daemon in scene.daemons]
    readable = [path for path in scene.dir.rglob('*')
                if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST_SEARCHED
                and stat.S_IMODE(path.stat().st_mode) & 0o044]
    for path in {*logs, *readable}:
        text = path.read_bytes() if path.exists() else b''
        for secret, origin in secrets.items():
            require(secret.encode() not in text, f'{path} holds the secret of {origin}')
    for argv in scene.commands:
        for secret, origin in secrets.items():
            require(not any(secret in str(part) for part in argv), f'an argument of {argv[0]} is the secret of {origin}')
