#!/usr/bin/env python3
"""The limits of a whole node: kept, shared, and changed while it runs."""
import datetime
import os
import pathlib
import re
import signal
import subprocess
import time

import cases
import harness

SIZE = 20_000_000
MBIT = 40


def shown(alice, alpha):
    limits = alice.cli('node', 'limit', '--json', node=alpha).json
    return {key: value for key, value in limits.items() if key.endswith('bits_per_s')}


def zone_where_it_is(hour, minute):
    """A POSIX zone whose clocks show that time now."""
    now = datetime.datetime.now(datetime.timezone.utc)
    behind = (now.hour - hour) * 60 + now.minute - minute
    return f'GT{"T" if behind >= 0 else "U"}{"-" if behind < 0 else ""}{abs(behind) // 60}:{abs(behind) % 60:02d}'


def uploads_keep_to_the_limit_and_reach_it():
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        alpha = scene.node(alice, 'alpha', args=('--upload-limit', f'{MBIT}Mbit'))
        beta, gamma = scene.node(bob, 'beta'), scene.node(carol, 'gamma')
        for name in ('one', 'two'):
            alice.cli('publish', cases.make_file(scene.dir / f'in/{name}.bin', SIZE), '--name', name, '--access', 'public', node=alpha)
        began = time.monotonic()
        harness.run_parallel(*(lambda u=u, n=n, c=c: u.cli('get', f'alice/{c}', '--to', scene.dir / u.name, node=n)
                               for u, n, c in ((bob, beta, 'one'), (carol, gamma, 'two'))))
        seconds = time.monotonic() - began
        least = 2 * SIZE * 8 / (MBIT * 1e6)
        print(f'  two contents of {SIZE / 1e6:.0f} MB at {MBIT} Mbit/s: {seconds:.1f} s, {least:.1f} s are the least', flush=True)
        cases.check(seconds > 0.97 * least, 'faster than the limit')
        cases.check(seconds < 3 * least, 'far slower than the limit')
        for user, name in ((bob, 'one'), (carol, 'two')):
            cases.same(scene.dir / f'in/{name}.bin', scene.dir / f'{user.name}/{name}.bin')


def downloads_of_two_transfers_share_the_limit():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta', args=('--download-limit', f'{MBIT}Mbit'))
        for name in ('one', 'two'):
            alice.cli('publish', cases.make_file(scene.dir / f'in/{name}.bin', SIZE), '--name', name, '--access', 'public', node=alpha)
        began = time.monotonic()
        done = harness.run_parallel(*(lambda c=c, k=k: bob.cli('get', f'alice/{c}', '--to', scene.dir / 'out', '--lanes', k, '--json',
                                                               node=beta).event('done') for c, k in (('one', 1), ('two', 8))))
        seconds = time.monotonic() - began
        least = 2 * SIZE * 8 / (MBIT * 1e6)
        print(f'  {seconds:.1f} s, {least:.1f} s are the least; {done[0]["seconds"]:.1f} s over 1 lane, {done[1]["seconds"]:.1f} s over 8',
              flush=True)
        cases.check(seconds > 0.97 * least, 'faster than the limit')
        cases.check(seconds < 3 * least, 'far slower than the limit')
        cases.check(done[0]['seconds'] < 1.5 * done[1]['seconds'] + 5, 'one lane got less than eight')


def a_limit_changes_while_the_node_runs():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        config = pathlib.Path(scene.dir / 'alpha.toml')
        config.write_text('upload-limit = "2Mbit"\n')
        alpha, beta = scene.node(alice, 'alpha', args=('--config', config)), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/data.bin', SIZE)  # 80 s at 2 Mbit/s
        alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
        bob.cli('get', 'data', '--to', scene.dir / 'out', '--detach', node=beta)
        cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > 0, 'the first bytes')
        cases.check('upload 2.00 Mbit/s' in alice.cli('transfers', node=alpha).out, 'transfers does not tell of the limit')
        cases.check('upload 2.00 Mbit/s' in alice.cli('doctor', node=alpha, expect=None).out, 'doctor does not tell of it')

        began = time.monotonic()
        alice.cli('node', 'limit', '--upload', '400Mbit', node=alpha)
        cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] == 'seeding', 'the rest to arrive')
        cases.check(time.monotonic() - began < 60, 'the lifted limit still held')
        cases.same(source, scene.dir / 'out/data.bin')
        cases.check(shown(alice, alpha) == {'upload_bits_per_s': 400_000_000, 'download_bits_per_s': 0}, 'it is not shown')

        config.write_text('upload-limit = "30Mbit"\ndownload-limit = "1Gbit"\n')
        os.kill(alpha.pid, signal.SIGHUP)
        harness.wait_until(lambda: shown(alice, alpha) == {'upload_bits_per_s': 30_000_000, 'download_bits_per_s': 10 ** 9},
                           'SIGHUP to bring the new limits')
        cases.check(re.search(r'upload-limit, download-limit changed', alpha.log()), alpha.log())

        cases.refused(alice.cli('node', 'limit', '--upload', '10kbit', node=alpha, expect=None), 2, 'upload-limit', '1Mbit')
        cases.check(shown(alice, alpha)['upload_bits_per_s'] == 30_000_000, 'a refused limit took hold')


def limits_by_hours_hold_by_themselves():
    """A zone for the node alone puts its clock at five minutes to eight."""
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        config = pathlib.Path(scene.dir / 'alpha.toml')
        config.write_text('limits = [{from="08:00", up="50Mbit", day="mon"}]\n')
        refused = subprocess.run([scene.bin / 'gridtorrentd', '--data-dir', scene.dir / 'none', '--config', config], env=scene.env,
                                 capture_output=True, text=True, timeout=60)
        cases.check(refused.returncode == 2, refused)
        for part in ('alpha.toml, line 1: limits', "'day=mon' is none of from, to, days, up and down"):
            cases.check(part in refused.stderr, refused.stderr)
        config.write_text('upload-limit = "200Mbit"\nlimits = [{from="08:00", to="18:00", up="50Mbit"}, {from="18:00", to="08:00", up="20Mbit"}]\n')
        alpha = scene.node(alice, 'alpha', args=('--config', config), env={'TZ': zone_where_it_is(7, 55)})
        limits = alice.cli('node', 'limit', '--json', node=alpha).json
        cases.check((limits['upload_bits_per_s'], limits['upload_held_by']) == (20_000_000, 'hours 18:00-08:00'), limits)
        until = datetime.datetime.fromisoformat(limits['until'].replace('Z', '+00:00'))
        seconds = (until - datetime.datetime.now(datetime.timezone.utc)).total_seconds()
        cases.check(120 < seconds <= 300, f'{limits["until"]} is {seconds:.0f} s away')
        cases.check('upload 20.0 Mbit/s (by hours 18:00-08:00), download unlimited, until ' in alice.cli('node', 'limit', node=alpha).out,
                    alice.cli('node', 'limit', node=alpha).out)
        limits = alice.cli('node', 'limit', '--upload', '300Mbit', '--json', node=alpha).json
        cases.check((limits['upload_bits_per_s'], limits['upload_held_by']) == (300_000_000, 'hand'), limits)
        config.write_text('limits = [{up="30Mbit"}]\n')
        os.kill(alpha.pid, signal.SIGHUP)
        harness.wait_until(lambda: shown(alice, alpha)['upload_bits_per_s'] == 30_000_000, 'SIGHUP to bring the new limits')
        cases.check(alice.cli('node', 'limit', '--json', node=alpha).json['until'] is None, 'a limit of every hour ends')


cases.run(uploads_keep_to_the_limit_and_reach_it, downloads_of_two_transfers_share_the_limit, a_limit_changes_while_the_node_runs,
          limits_by_hours_hold_by_themselves)
