#!/usr/bin/env python3
"""The authority behind encrypted lanes: replaced while data flows, restored from a backup, and its key lost for good."""
import shutil
import subprocess
import time

import cases
import harness


def states(admin):
    return [(g['generation'], g['state']) for g in admin.cli('data-ca', 'list', '--json').json['generations']]


def a_new_generation_takes_over_while_data_flows():
    with harness.Scene() as scene:
        scene.server()
        admin, alice, bob = scene.admin(), scene.user('alice'), scene.user('bob')
        alpha, beta, away = scene.node(alice, 'alpha'), scene.node(alice, 'beta'), scene.node(alice, 'away')
        flowing = cases.make_file(scene.dir / 'in/flowing.bin', 40_000_000, seed=1)
        still = cases.make_file(scene.dir / 'in/still.bin', 3_000_000, seed=2)
        for source in (flowing, still):
            alice.cli('publish', source, '--name', source.stem, '--access', 'private', node=alpha)
        alice.cli('get', 'still', '--to', scene.dir / 'away', node=away)
        away.stop()
        cases.refused(bob.cli('data-ca', 'rotate', expect=None), 4)
        alice.cli('get', 'flowing', '--to', scene.dir / 'out', '--detach', '--limit', '4Mbit', '--lanes', 2, node=beta)
        begun = cases.wait_transfer(alice, beta, 'flowing', lambda t: t['verified_bytes'] > 2_000_000, 'to begin')

        rotated = time.monotonic()
        cases.check('contents move by themselves' in admin.cli('data-ca', 'rotate').err, 'the answer says what happens')
        harness.wait_until(lambda: states(admin) == [(1, 'ended'), (2, 'current')], 'the first generation to end')
        cases.wait_transfer(alice, beta, 'flowing',
                            lambda t: t['lanes'] > 0 and t['verified_bytes'] > begun['verified_bytes'] + 3_000_000, 'to go on')
        print(f'        3 MB more after {time.monotonic() - rotated:.2f} s')
        alice.cli('transfer', 'set', begun['transfer_id'], '--limit', '0', node=beta)
        done = alice.cli('get', 'flowing', '--to', scene.dir / 'out', '--json', node=beta).event('done')
        cases.same(flowing, scene.dir / 'out/flowing.bin')
        received = sum(s['bytes'] for s in done['seeders']) - done['redundant_bytes']
        cases.check(received < 42_000_000, f'{received} bytes came for 40 MB')
        cases.check('verifying' not in alpha.log(100_000), 'nothing was hashed again')

        # Who was away while it happened follows when it is back, and serves alone.
        alpha.stop()
        beta.stop()
        away.start()
        late = scene.node(alice, 'late')
        alice.cli('get', 'still', '--to', scene.dir / 'late', node=late)
        cases.same(still, scene.dir / 'late/still.bin')
        actions = {r['action']: r for r in admin.cli('audit', '--action', 'data-ca', '--json').json['records']}
        cases.check(set(actions) == {'data-ca.rotate', 'data-ca.move', 'data-ca.retire'}, actions)
        cases.check(actions['data-ca.rotate']['actor'] == 'admin' and actions['data-ca.move']['outcome'] == 'ok: 2 contents',
                    actions)


def restored_elsewhere(scene, backup, keep):
    """The server in an empty folder on the same port, from a backup and the files that an operator has kept."""
    old = scene.the_server
    old.stop()
    place = scene.dir / 'elsewhere'
    place.mkdir(mode=0o700)
    for name in keep:
        shutil.copy2(old.data / name, place / name)
    subprocess.run([scene.bin / 'gridtorrent-server', '--data-dir', place, 'restore', backup], check=True,
                   capture_output=True, env=scene.env, timeout=60)
    old.argv[old.argv.index(str(old.data))] = str(place)
    shutil.rmtree(old.data)
    old.data = place
    old.start()
    for node in (d for d in scene.daemons if d is not old):
        harness.wait_until(lambda: node.user.cli('node', 'show', node.short_name, '--json').json['online'],
                           f'{node.name} to be back', 60)


def published_and_backed_up(scene):
    """Server, administrator, publisher, her node, the source of `run`, and Monday's backup."""
    server = scene.server()
    admin, alice = scene.admin(), scene.user('alice')
    alpha = scene.node(alice, 'alpha')
    source = cases.make_file(scene.dir / 'in/run.bin', 3_000_000)
    alice.cli('publish', source, '--name', 'run', '--access', 'private', node=alpha)
    backup = scene.dir / 'monday'
    subprocess.run([scene.bin / 'gridtorrent-server', '--data-dir', server.data, 'backup', backup], check=True,
                   capture_output=True, env=scene.env, timeout=60)
    return server, admin, alice, alpha, source, backup


def another_node_gets_it(scene, alice, source):
    beta = scene.node(alice, 'beta')
    alice.cli('get', 'run', '--to', scene.dir / 'out', node=beta)
    cases.same(source, scene.dir / 'out/run.bin')


def a_backup_without_the_sealing_key_cannot_sign_until_it_is_said_to_be_lost():
    with harness.Scene() as scene:
        server, admin, alice, alpha, source, backup = published_and_backed_up(scene)
        cases.check(b'PRIVATE KEY' not in backup.read_bytes(), 'no key lies open in a backup')

        restored_elsewhere(scene, backup, ('ca.pem', 'ca-key.pem', 'tls.pem'))
        cases.check('put the sealing key back' in server.log(20_000), server.log())
        shown = admin.cli('data-ca', 'list', '--json').json['generations']
        cases.check([(g['state'], g['signs'], g['contents']) for g in shown] == [('current', False, 1)], shown)
        cases.refused(alice.cli('publish', source, '--name', 'more', '--access', 'private', node=alpha, expect=None), 1,
                      'sealing key')
        cases.refused(admin.cli('data-ca', 'rotate', expect=None), 6, str(server.data / 'sealing-key'), '--sealing-key-lost')
        cases.check(not (server.data / 'sealing-key').exists(), 'nothing is replaced without being told')

        admin.cli('data-ca', 'rotate', '--sealing-key-lost')
        harness.wait_until(lambda: states(admin) == [(1, 'ended'), (2, 'current')], 'the first generation to end')
        another_node_gets_it(scene, alice, source)


def a_backup_and_the_sealing_key_go_on_as_before():
    with harness.Scene() as scene:
        _, admin, alice, _, source, backup = published_and_backed_up(scene)
        restored_elsewhere(scene, backup, ('ca.pem', 'ca-key.pem', 'tls.pem', 'sealing-key'))
        cases.check(states(admin) == [(1, 'current')], 'the same generation')
        another_node_gets_it(scene, alice, source)


cases.run(a_new_generation_takes_over_while_data_flows, a_backup_without_the_sealing_key_cannot_sign_until_it_is_said_to_be_lost,
          a_backup_and_the_sealing_key_go_on_as_before)
