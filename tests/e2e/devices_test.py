#!/usr/bin/env python3
"""Known devices: a good login with a password makes one, the next one shows it, a new password and `user disable` end it, and who guesses an
account's password holds up strangers alone."""
import asyncio
import contextlib
import hashlib
import itertools
import json
import pathlib
import sqlite3
import stat
import sys
import threading

import cases
import harness

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / 'bench'))
from plain_grpc import Connection, text  # noqa: E402

HELLO = bytes([0x10, 1, 0x18, 1])  # protocol_min and protocol_max
ADDRESSES = [f'127.0.7.{i}' for i in range(1, 41)]  # two guesses from each are twice what an account has from strangers

CHECKSUM = 6  # characters at the end of each token


def device_file(user):
    found = [p for p in (user.home / 'state').rglob('devices/*') if p.is_file()]
    cases.check(len(found) == 1, found)
    return found[0]


def secret_of(user):
    return json.loads(device_file(user).read_text())['secret']


def devices_at_the_server(scene, name):
    """(id, hash of the secret, whether it is revoked) of each, oldest first."""
    with contextlib.closing(sqlite3.connect(f'file:{scene.the_server.data}/gridtorrent.db?mode=ro', uri=True)) as database:
        return database.execute("SELECT token_id, secret_hash, revoked_ms <> 0 FROM token t JOIN user u ON u.user_id = t.user_id "
                                "WHERE t.kind = 'device' AND u.name = ? ORDER BY t.created_ms, t.token_id", (name,)).fetchall()


def good_devices(scene, name):
    return [device for device in devices_at_the_server(scene, name) if not device[2]]


def log_in(user, password, expect=0):
    server = user.scene.the_server
    return user.cli('login', '--server', server.address, '--ca', server.ready['ca_file'], '--user', user.name, '--password-file', password,
                    expect=expect)


def a_login_leaves_a_device_secret_that_the_next_login_shows():
    with harness.Scene() as scene:
        scene.server()
        mia = scene.user('mia')
        first, path = secret_of(mia), device_file(mia)
        cases.check(first.startswith('gtd_'), first[:4])
        cases.check(stat.S_IMODE(path.stat().st_mode) == 0o600, oct(path.stat().st_mode))
        cases.check(path.parent.stat().st_mode & 0o077 == 0, oct(path.parent.stat().st_mode))
        (known,) = devices_at_the_server(scene, 'mia')
        number, secret = first.removeprefix('gtd_').split('_', 1)
        secret = secret[:-CHECKSUM]
        cases.check(known[0] == number and bytes(known[1]) == hashlib.sha256(secret.encode()).digest(), known)
        listed = [t for t in mia.cli('token', 'list', '--json').json['tokens'] if t['kind'] == 'device']
        cases.check([t['token_id'] for t in listed] == [known[0]], listed)

        log_in(mia, scene.dir / 'mia.password')
        cases.check(secret_of(mia) == first and good_devices(scene, 'mia') == [known], 'it was shown, and stays')
        mia.cli('logout')
        log_in(mia, scene.dir / 'mia.password')
        cases.check(secret_of(mia) == first and good_devices(scene, 'mia') == [known], 'a logout leaves it')
        path.chmod(0o644)
        cases.refused(log_in(mia, scene.dir / 'mia.password', expect=None), 4, path, 'chmod 600')
        path.unlink()
        log_in(mia, scene.dir / 'mia.password')
        cases.check(secret_of(mia) != first, 'who has none gets another')


def a_new_password_and_a_disabled_account_end_known_devices():
    with harness.Scene() as scene:
        scene.server()
        admin, mia = scene.admin(), scene.user('mia')
        old, new = scene.dir / 'mia.password', scene.dir / 'mia.new.password'
        new.touch(mode=0o600)
        new.write_text('correct horse battery staple')
        secrets = [secret_of(mia)]

        def ended(what, password):
            cases.check(good_devices(scene, 'mia') == [], f'{what}: a device is still known')
            log_in(mia, password)
            secrets.append(secret_of(mia))
            cases.check(len(set(secrets)) == len(secrets), f'{what}: the old secret came back')
            cases.check(len(good_devices(scene, 'mia')) == 1, f'{what}: the device is known again')
        mia.cli('password', '--old-password-file', old, '--password-file', new)
        ended('a new password of her own', new)
        admin.cli('password', 'mia', '--password-file', old)
        ended("an administrator's password", old)
        admin.cli('user', 'disable', 'mia')
        cases.refused(log_in(mia, old, expect=None), 4, 'wrong user name or password')
        admin.cli('user', 'enable', 'mia')
        ended('a disabled account', old)


class Guesser:
    """Wrong passwords for one account from many addresses, one after the other, without an end."""

    def __init__(self, server, name):
        self.server, self.name, self.guesses, self.stop = server, name, 0, threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.run()))

    async def run(self):
        connections = [await Connection.open(self.server.address, self.server.ready['ca_file'], a) for a in ADDRESSES]
        while not self.stop.is_set():
            message = text(1, HELLO) + text(2, self.name) + text(3, f'wrong guess {self.guesses}') + text(4, 'guesser')
            reply = await connections[self.guesses % len(connections)].call('Accounts/Login', message)
            cases.check(reply is None, 'a wrong password logged in')
            self.guesses += 1
            await asyncio.sleep(0.01)
        for connection in connections:
            connection.writer.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()


def guesses_from_many_addresses_hold_up_strangers_and_no_known_device():
    with harness.Scene() as scene:
        server = scene.server()
        mia = scene.user('mia')
        homes = itertools.count()
        at = ('--server', server.address, '--ca', server.ready['ca_file'], '--user', 'mia', '--password-file', scene.dir / 'mia.password')
        with Guesser(server, 'mia') as guesser:
            def stranger_is_held_up():
                cases.check(guesser.thread.is_alive(), 'the guesser ended')
                tried = harness.User(scene, f'stranger-{next(homes)}').cli('login', *at, expect=None)
                # Between two guesses that are let in, a stranger may come first.
                return tried.code != 0 and cases.refused(tried, 1, 'too many login attempts', 'try again in')
            harness.wait_until(lambda: guesser.guesses >= 2 * len(ADDRESSES), 'the guesses', 120)
            harness.wait_until(stranger_is_held_up, 'a stranger to be held up')
            # Her device goes first, again and again, while the line is held.
            for _ in range(5):
                log_in(mia, scene.dir / 'mia.password')
            harness.wait_until(stranger_is_held_up, 'a stranger to be held up')
        cases.check(mia.cli('whoami', '--json').json['user'] == 'mia', 'her login is good')


cases.run(a_login_leaves_a_device_secret_that_the_next_login_shows, a_new_password_and_a_disabled_account_end_known_devices,
          guesses_from_many_addresses_hold_up_strangers_and_no_known_device)
