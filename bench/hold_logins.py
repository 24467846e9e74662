#!/usr/bin/env python3
"""bench/hold_logins.py: can people log in and work while others guess passwords?

A real server on loopback. Attackers at 2,000 addresses of 127/8 try 200 wrong passwords a second, most of them for the accounts that log in, too.
Meanwhile known devices log in and tokens are shown. Exit code 1 where a known device's login took more than 2 s (p99) or failed, or a token's call
took more than three times as long as in quiet and 25 ms (p99).
"""
import argparse
import asyncio
import multiprocessing
import os
import pathlib
import resource
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tests/e2e'), str(ROOT / 'bench')]
import harness  # noqa: E402
from plain_grpc import Connection, fields, text  # noqa: E402

HELLO = bytes([0x10, 1, 0x18, 1])  # protocol_min and protocol_max
PEOPLE = ['ada', 'emmy', 'lise', 'mia']
LOGIN_EVERY_S = 3.2  # a device has 20 attempts a minute
CALL_EVERY_S = 0.02
QUIET_S = 15


def password_of(name):
    return f'{name} likes long passphrases'


def login(name, password, secret=None):
    message = text(1, HELLO) + text(2, name) + text(3, password) + text(4, 'bench')
    return message if secret is None else message + text(5, secret)


def p99(times):
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.99))]


async def attack(address, ca_file, options, ready, stop):
    """Each address keeps one connection and takes its turn; who is cut off connects again."""
    places = [f'127.{16 + i // 65536}.{i // 256 % 256}.{i % 256}' for i in range(1, options.addresses + 1)]
    connections = {}
    limit = asyncio.Semaphore(50)

    async def connect(place):
        async with limit:
            try:
                connections[place] = await Connection.open(address, ca_file, place)
            except (OSError, asyncio.TimeoutError):
                connections.pop(place, None)
    await asyncio.gather(*(connect(place) for place in places))
    ready.value = len(connections)

    async def guess(number):
        place = places[number % len(places)]
        if place not in connections or not connections[place].alive():
            await connect(place)
        if place in connections:
            name = PEOPLE[number % len(PEOPLE)] if number % 10 else f'nobody-{number}'
            await connections[place].call('Accounts/Login', login(name, f'wrong guess {number}'))
    tasks, number, began = set(), 0, time.monotonic()
    while not stop.is_set():
        while number < (time.monotonic() - began) * options.rate:
            task = asyncio.create_task(guess(number))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            number += 1
        await asyncio.sleep(0.005)
    ready.value = -number


def attacker(address, ca_file, options, ready, stop):
    os.nice(options.nice)
    asyncio.run(attack(address, ca_file, options, ready, stop))


class People:
    """Each with a connection of their own: one logs in, the other shows a token."""

    def __init__(self, server, anew):
        self.address, self.ca, self.anew = server.address, server.ready['ca_file'], anew

    async def meet(self):
        self.devices, self.tokens, self.connections = {}, {}, {}
        for name in PEOPLE:
            self.connections[name] = await Connection.open(self.address, self.ca)
            reply = await self.connections[name].call('Accounts/Login', login(name, password_of(name), ''))
            if not reply:
                raise SystemExit(f'{name} could not log in in quiet')
            self.tokens[name], self.devices[name] = fields(reply)[2], fields(reply).get(6)
        self.worker = await Connection.open(self.address, self.ca)

    async def watch(self, seconds):
        """Seconds of each token call and each login; None for those that failed."""
        calls, logins, end = [], [], time.monotonic() + seconds

        async def timed(into, connection, *call, began=None, **how):
            began = began or time.monotonic()
            reply = await connection.call(*call, **how)
            into.append(time.monotonic() - began if reply else None)

        async def work():
            while time.monotonic() < end:
                await timed(calls, self.worker, 'Accounts/WhoAmI', b'', token=self.tokens[PEOPLE[0]])
                await asyncio.sleep(CALL_EVERY_S)

        async def log_in(name, delay):
            await asyncio.sleep(delay)
            while time.monotonic() < end:
                began = time.monotonic()
                try:
                    connection = await Connection.open(self.address, self.ca) if self.anew else self.connections[name]
                    await timed(logins, connection, 'Accounts/Login', login(name, password_of(name), self.devices[name]), began=began)
                    if self.anew:
                        connection.writer.close()
                except (OSError, asyncio.TimeoutError):
                    logins.append(None)
                await asyncio.sleep(LOGIN_EVERY_S)
        await asyncio.gather(work(), *(log_in(name, LOGIN_EVERY_S * i / len(PEOPLE)) for i, name in enumerate(PEOPLE)))
        return calls, logins


async def measure(server, options, ready, stop):
    people = People(server, options.anew)
    await people.meet()
    await asyncio.sleep(LOGIN_EVERY_S)
    quiet = await people.watch(QUIET_S)
    attackers = multiprocessing.Process(target=attacker, args=(server.address, people.ca, options, ready, stop))
    attackers.start()
    while ready.value == 0:
        await asyncio.sleep(0.2)
    print(f'{ready.value} addresses are connected', flush=True)
    await asyncio.sleep(5)
    then = await people.watch(options.seconds)
    stop.set()
    attackers.join(60)
    print(f'{-ready.value} wrong passwords in {options.seconds + 5} s, nice {options.nice}')
    return quiet, then


def tell(what, times, allowed_s=float('inf')):
    """Whether all went well and nearly all in time."""
    done = [t for t in times if t is not None] or [float('inf')]
    failed = sum(1 for t in times if t is None)
    print(f'{what:30} {len(times):5}  median {sorted(done)[len(done) // 2] * 1000:8.1f} ms  p99 {p99(done) * 1000:8.1f} ms  failed {failed}'
          + (f'  allowed {allowed_s * 1000:.0f} ms' if allowed_s < float('inf') else ''))
    return not failed and p99(done) <= allowed_s


def judge(quiet, then):
    (quiet_calls, quiet_logins), (calls, logins) = quiet, then
    tell('token calls in quiet', quiet_calls)
    tell("known devices' logins in quiet", quiet_logins)
    allowed = 3 * p99([t for t in quiet_calls if t is not None]) + 0.025
    good = [tell('token calls then', calls, allowed), tell("known devices' logins then", logins, 2)]
    return all(good)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bin', help='folder of the programs (default: build/release/bin)')
    parser.add_argument('--seconds', type=int, default=60)
    parser.add_argument('--rate', type=int, default=200, help='wrong passwords a second')
    parser.add_argument('--addresses', type=int, default=2000)
    parser.add_argument('--anew', action='store_true', help='known devices connect anew for each login, as the command line does')
    parser.add_argument('--nice', type=int, default=0, help='of the attackers')
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with harness.Scene(options.bin) as scene:
        server = scene.server()
        for name in PEOPLE:
            secret = scene.dir / f'{name}.password'
            secret.touch(mode=0o600)
            secret.write_text(password_of(name))
            scene.admin().cli('user', 'add', name, '--password-file', secret)
        ready, stop = multiprocessing.Value('i', 0), multiprocessing.Event()
        held = judge(*asyncio.run(measure(server, options, ready, stop)))
    sys.exit(0 if held else 1)


if __name__ == '__main__':
    main()
