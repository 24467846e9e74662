#!/usr/bin/env python3
"""Steering a transfer: pause, resume, cancel, limit, join, wait; every command with its exit code."""
import os
import signal
import time
import xml.etree.ElementTree

import cases
import harness

SIZE = 30_000_000


def setting(scene):
    _, bob, _, beta, source = cases.published_to_all(scene, SIZE)
    return source, bob, beta


def begun(bob, beta, target, *options):
    """A get that is under way, slow enough to be steered; its id."""
    started = bob.cli('get', 'data', '--to', target, '--detach', '--json', *options, node=beta).event('started')
    cases.wait_transfer(bob, beta, 'data', lambda t: t['verified_bytes'] > 0, 'the first bytes')
    return started['transfer_id']


def a_paused_transfer_rests_and_a_resumed_one_arrives():
    with harness.Scene() as scene:
        source, bob, beta = setting(scene)
        transfer = begun(bob, beta, scene.dir / 'out', '--limit', '8Mbit')
        bob.cli('transfer', 'pause', transfer, node=beta)
        cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] == 'paused' and t['lanes'] == 0, 'no lane to be left')
        cases.refused(bob.cli('transfer', 'wait', transfer, '--timeout', '2s', node=beta, expect=None), 9, transfer)
        resting = cases.transfer_of(bob, beta, 'data')
        cases.refused(bob.cli('transfer', 'wait', transfer, '--timeout', '2s', node=beta, expect=None), 9, transfer)
        still = cases.transfer_of(bob, beta, 'data')
        cases.check(still['state'] == 'paused' and still['received_bytes'] == resting['received_bytes'], still)
        beta.stop()
        beta.start()
        cases.check(cases.transfer_of(bob, beta, 'data')['state'] == 'paused', 'a restart resumed it')
        bob.cli('transfer', 'set', transfer, '--limit', '0', node=beta)
        bob.cli('transfer', 'resume', transfer, node=beta)
        bob.cli('transfer', 'wait', transfer, node=beta)
        cases.same(source, scene.dir / 'out/data.bin')


def a_cancelled_transfer_leaves_nothing_behind():
    with harness.Scene() as scene:
        _, bob, beta = setting(scene)
        target = scene.dir / 'out'
        transfer = begun(bob, beta, target, '--limit', '8Mbit')
        bob.cli('transfer', 'cancel', transfer, node=beta)
        harness.wait_until(lambda: os.listdir(target) == [], 'the staging folder to go')
        harness.wait_until(lambda: bob.cli('transfers', '--json', node=beta).json['transfers'] == [], 'it to leave the list')
        cases.check(bob.cli('transfer', 'show', transfer, '--json', node=beta).json['state'] == 'cancelled', 'it is not known as cancelled')


def a_transfer_is_named_by_a_begin_of_its_id_or_by_its_content():
    with harness.Scene() as scene:
        _, bob, beta = setting(scene)
        transfer = begun(bob, beta, scene.dir / 'out', '--limit', '20Mbit')
        for name in (transfer, transfer[:12], 'data', 'alice/data'):
            told = bob.cli('transfer', 'show', name, '--json', node=beta).json
            cases.check(told['transfer_id'] == transfer, (name, told))
        cases.refused(bob.cli('transfer', 'pause', 'dat', node=beta, expect=None), 3, 'dat', 'gridtorrent transfers')
        cases.check(bob.cli('tune', 'explain', 'data', '--json', node=beta).json['transfer_id'] == transfer, 'another was explained')
        bob.cli('transfer', 'set', 'data', '--limit', '0', node=beta)
        bob.cli('transfer', 'wait', 'data', node=beta)
        bob.cli('get', 'data', '--to', scene.dir / 'again', node=beta)
        line = cases.refused(bob.cli('transfer', 'show', 'data', node=beta, expect=None), 6, '2 transfers', transfer)
        cases.check(str(scene.dir / 'again/data.bin') in line, line)


def files_are_read_again_without_a_command_that_waits():
    with harness.Scene() as scene:
        _, bob, beta = setting(scene)
        bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
        cases.refused(bob.cli('transfer', 'verify', node=beta, expect=None), 2, '--all')
        line = bob.cli('transfer', 'verify', 'data', node=beta).err
        cases.check('verifying 1 transfer' in line and 'transfer wait x_' in line, line)
        bob.cli('transfer', 'wait', 'data', node=beta)

        place = scene.dir / 'out/data.bin'
        times = place.stat()
        with open(place, 'r+b') as file:
            file.seek(SIZE // 2)
            file.write(b'a bit that has turned over')
        os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))
        told = bob.cli('transfer', 'verify', '--all', '--json', node=beta).json
        cases.check((told['changed'], told['failed']) == (1, 0), told)
        beta.kill()
        beta.start()
        cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] == 'failed', 'what differs to be found after a kill')
        cases.check('data.bin' in cases.transfer_of(bob, beta, 'data')['message'], cases.transfer_of(bob, beta, 'data'))
        place.unlink()
        bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
        cases.same(scene.dir / 'in/data.bin', place)


def the_list_is_kept_clean_without_touching_data():
    with harness.Scene() as scene:
        source, bob, beta = setting(scene)
        alice, alpha = scene.users['alice'], scene.daemons[1]
        transfer = begun(bob, beta, scene.dir / 'out', '--limit', '8Mbit')
        for word in ('stop-seeding', 'forget', 'remove'):
            options = ['--yes'] if word == 'remove' else []
            cases.refused(bob.cli('transfer', word, 'data', *options, node=beta, expect=None), 6, 'transfer cancel', transfer)
        bob.cli('transfer', 'clear', node=beta)
        bob.cli('transfer', 'set', 'data', '--limit', '0', node=beta)
        bob.cli('transfer', 'wait', 'data', node=beta)
        bob.cli('get', 'data', '--to', scene.dir / 'again', node=beta)

        def states():
            return sorted((t['state'], t['path']) for t in bob.cli('transfers', '--json', node=beta).json['transfers'])

        cases.check(bob.cli('transfer', 'clear', '--failed', '--json', node=beta).json == {'cleared': 0, 'left': 2, 'failed': 0, 'failures': []}, states())
        harness.wait_until(lambda: [s for s, _ in states()] == ['complete', 'seeding'], 'one of two to seed')
        cases.check(bob.cli('transfer', 'clear', '--json', node=beta).json['cleared'] == 1, states())
        harness.wait_until(lambda: [s for s, _ in states()] == ['seeding'], 'the one that seeds to be left')
        bob.cli('transfer', 'stop-seeding', 'data', node=beta)
        harness.wait_until(lambda: states() == [], 'an empty list')
        for folder in ('out', 'again'):
            cases.same(source, scene.dir / folder / 'data.bin')
        cases.refused(alice.cli('transfer', 'remove', 'data', '--yes', node=alpha, expect=None), 6, 'published from here')
        cases.check(source.exists(), 'what was published is gone')


def has_terminal():
    """Whether a command could ask somebody here."""
    try:
        os.close(os.open('/dev/tty', os.O_RDWR))
    except OSError:
        return False
    return True


def a_finished_get_is_removed_with_the_files_that_it_brought():
    with harness.Scene() as scene:
        source, bob, beta = setting(scene)
        alice, alpha = scene.users['alice'], scene.daemons[1]
        run = scene.dir / 'in/run'
        for name in ('a', 'sub/b', 'sub/c'):
            cases.make_file(run / name, 100_000, seed=hash(name))
        alice.cli('publish', run, '--name', 'run', '--access', 'public', node=alpha)
        out = scene.dir / 'out/run'
        cases.make_file(out / 'a', 1)
        (out / 'a').write_bytes((run / 'a').read_bytes())
        bob.cli('get', 'run', '--to', scene.dir / 'out', node=beta)
        beta.kill()
        (out / 'sub/c').write_text('changed')
        (out / 'mine.txt').write_text('mine')
        beta.start()
        harness.wait_until(lambda: [t['state'] for t in bob.cli('transfers', '--json', node=beta).json['transfers']] == ['failed'],
                           'what changed meanwhile to be found')
        if not has_terminal():
            cases.refused(bob.cli('transfer', 'remove', 'run', node=beta, expect=None), 2, '--yes')
        removed = bob.cli('transfer', 'remove', 'run', '--yes', '--json', node=beta).json
        cases.check((removed['files'], removed['kept'], removed['first_kept']) == (1, 1, str(out / 'sub/c')), removed)
        left = sorted(str(p.relative_to(out)) for p in out.rglob('*') if p.is_file())
        cases.check(left == ['a', 'mine.txt', 'sub/c'], left)
        cases.check(bob.cli('transfers', '--json', node=beta).json['transfers'] == [], 'it is still listed')
        bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
        bob.cli('transfer', 'remove', 'data', '--yes', node=beta)
        cases.check(not (scene.dir / 'out/data.bin').exists(), 'it is still there')


def a_transfer_explains_its_lanes():
    with harness.Scene() as scene:
        _, bob, beta = setting(scene)
        cases.refused(bob.cli('tune', 'explain', 'x_aguox6ktnj2w3jvyvdh2ehzvmi', node=beta, expect=None), 3, 'tune list')
        transfer = begun(bob, beta, scene.dir / 'out', '--limit', '8Mbit')
        told = bob.cli('tune', 'explain', transfer, '--json', node=beta).json
        cases.check(told['running'] and told['decisions'][-1]['lanes'] > 0 and told['samples'], told)
        cases.check(told['decisions'][0]['reason'].startswith(told['tuner'] + ':'), told['decisions'])
        harness.wait_until(lambda: '\nalpha ' in bob.cli('tune', 'explain', transfer, node=beta).out, 'the seeder to be named')
        cases.check(told['decisions'][0]['reason'] in beta.log(), 'the log does not say why')
        bob.cli('transfer', 'set', transfer, '--lanes', '3', '--limit', '0', node=beta)
        bob.cli('tune', 'explain', transfer, '--follow', node=beta)
        bob.cli('transfer', 'wait', transfer, node=beta)
        listed = bob.cli('tune', 'list', '--json', node=beta).json['tunings']
        cases.check([(t['transfer_id'], t['running']) for t in listed] == [(transfer, False)], listed)
        cases.check(bob.cli('tune', 'explain', transfer, '--json', node=beta).json['decisions'][-1]['lanes'] == 3, 'it kept no last decision')


def what_was_explained_outlives_a_kill_and_a_restart():
    with harness.Scene() as scene:
        _, bob, beta = setting(scene)
        transfer = begun(bob, beta, scene.dir / 'out', '--limit', '8Mbit')

        def explained():
            return bob.cli('tune', 'explain', transfer, '--json', node=beta).json

        harness.wait_until(lambda: len(explained()['samples']) > 3, 'some samples', 30)
        beta.kill()
        beta.start()
        before = explained()
        cases.check(before['running'] and before['decisions'][0]['number'] == 1 and before['decisions'][0]['lanes_before'] == 0, before)
        bob.cli('transfer', 'set', transfer, '--limit', '0', node=beta)
        bob.cli('transfer', 'wait', transfer, node=beta)
        ended = explained()
        cases.check(ended['decisions'][0] == before['decisions'][0] and len(ended['decisions']) > 1, (before, ended))
        beta.stop()
        beta.start()
        listed = bob.cli('tune', 'list', '--json', node=beta).json['tunings']
        cases.check([(t['transfer_id'], t['running']) for t in listed] == [(transfer, False)], listed)
        told = explained()
        cases.check(told['samples'] == ended['samples'] and told['decisions'] == ended['decisions'], (ended, told))
        bob.cli('tune', 'explain', transfer, '--plot', scene.dir / 'plot.svg', node=beta)
        cases.check(xml.etree.ElementTree.parse(scene.dir / 'plot.svg').getroot().tag.endswith('svg'), 'no picture')


def a_limit_holds():
    with harness.Scene() as scene:
        _, bob, beta = setting(scene)
        began = time.monotonic()
        bob.cli('get', 'data', '--to', scene.dir / 'out', '--limit', '60Mbit', node=beta)
        seconds = time.monotonic() - began
        cases.check(seconds > 0.8 * SIZE * 8 / 60e6, f'{SIZE} bytes at 60 Mbit/s took {seconds:.1f} s')


def a_second_get_joins_and_one_to_elsewhere_is_a_conflict():
    with harness.Scene() as scene:
        source, bob, beta = setting(scene)
        transfer = begun(bob, beta, scene.dir / 'out', '--limit', '8Mbit')
        cases.refused(bob.cli('get', 'data', '--to', scene.dir / 'elsewhere', node=beta, expect=None), 6, transfer)
        joined = bob.start_cli('get', 'data', '--to', scene.dir / 'out', '--json', node=beta)
        joined.stdout.readline()  # it has joined
        bob.cli('transfer', 'set', transfer, '--limit', '0', node=beta)
        out, err = joined.communicate(timeout=60)
        done = harness.Result([], joined.returncode, out, err, 0).event('done')
        cases.check(done['transfer_id'] == transfer, done)
        cases.same(source, scene.dir / 'out/data.bin')


def ctrl_c_stops_the_watching_and_not_the_transfer():
    with harness.Scene() as scene:
        source, bob, beta = setting(scene)
        get = bob.start_cli('get', 'data', '--to', scene.dir / 'out', '--limit', '8Mbit', '--json', node=beta)
        get.stdout.readline()
        get.send_signal(signal.SIGINT)
        out, err = get.communicate(timeout=30)
        ended = harness.Result(['get'], get.returncode, out, err, 0)
        cases.refused(ended, 10, 'cancel')
        transfer = cases.transfer_of(bob, beta, 'data')['transfer_id']
        last = ended.events[-1]
        cases.check((last['event'], last['transfer_id'], last['exit_code']) == ('detached', transfer, 10), last)
        bob.cli('transfer', 'set', transfer, '--limit', '0', node=beta)
        bob.cli('transfer', 'wait', transfer, node=beta)
        cases.same(source, scene.dir / 'out/data.bin')


def what_is_withdrawn_is_served_no_more_and_its_files_stay():
    with harness.Scene() as scene:
        source, bob, beta = setting(scene)
        bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
        alice, alpha = scene.users['alice'], scene.daemons[1]
        alice.cli('unpublish', 'data')
        for user, node in ((alice, alpha), (bob, beta)):
            harness.wait_until(lambda u=user, n=node: all(t['state'] != 'seeding' for t in u.cli('transfers', '--json', node=n).json['transfers']),
                               f'{node.name} to stop seeding')
        cases.same(source, scene.dir / 'out/data.bin')
        cases.refused(bob.cli('get', 'alice/data', '--to', scene.dir / 'again', '--refetch', node=beta, expect=None), 3, 'alice/data')


def doctor_finds_a_well_node_and_a_lost_server():
    with harness.Scene() as scene:
        _, bob, beta = setting(scene)
        well = bob.cli('doctor', '--json', node=beta)
        cases.check(isinstance(well.json, dict), well)
        scene.the_server.kill()
        address = scene.the_server.address
        ill = bob.cli('doctor', node=beta, expect=None)
        cases.check(address in ill.out + ill.err, ill)


cases.run(a_paused_transfer_rests_and_a_resumed_one_arrives, a_cancelled_transfer_leaves_nothing_behind,
          files_are_read_again_without_a_command_that_waits,
          a_transfer_is_named_by_a_begin_of_its_id_or_by_its_content, the_list_is_kept_clean_without_touching_data,
          a_finished_get_is_removed_with_the_files_that_it_brought, a_transfer_explains_its_lanes,
          what_was_explained_outlives_a_kill_and_a_restart, a_limit_holds,
          a_second_get_joins_and_one_to_elsewhere_is_a_conflict, ctrl_c_stops_the_watching_and_not_the_transfer,
          what_is_withdrawn_is_served_no_more_and_its_files_stay, doctor_finds_a_well_node_and_a_lost_server)
