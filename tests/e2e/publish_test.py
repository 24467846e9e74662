#!/usr/bin/env python3
"""Publishing is the node's work: it goes on without its caller and after a kill, and is paused, resumed and cancelled like any transfer."""
import os
import re
import signal

import cases
import harness

GB = cases.scaled('CHANGING_BYTES', 1_000_000_000)


def setting(scene):
    scene.server()
    alice = scene.user('alice')
    return alice, scene.node(alice, 'alpha')


def shown(alice, alpha, transfer):
    return alice.cli('transfer', 'show', transfer, '--json', node=alpha).json


def wait_state(alice, alpha, transfer, *states):
    last = {}

    def there():
        last.update(shown(alice, alpha, transfer))
        return last['state'] in states
    try:
        harness.wait_until(there, f'{transfer} to be {" or ".join(states)}', 120)
    except AssertionError as e:
        raise AssertionError(f'{e}; it is {last}\n{alpha.log()}') from None
    return last


def detached(alice, alpha, path, name):
    return alice.cli('publish', path, '--name', name, '--access', 'public', '--detach', node=alpha).out.strip()


def hashing(scene, alice, alpha):
    """A publish that is being hashed, of a file that takes long to hash and no room: path, name and transfer."""
    for larger in (1, 2, 4, 8, 16):  # until it is one that the machine does not finish at once
        name, path = f'large-{larger}', scene.dir / f'large-{larger}.bin'
        with open(path, 'wb') as file:
            file.truncate(larger * GB)
        transfer = detached(alice, alpha, path, name)

        def begun(transfer=transfer):
            now = shown(alice, alpha, transfer)
            return now['state'] in ('seeding', 'failed') or now['verified_bytes'] > 0
        harness.wait_until(begun, 'the hashing to begin', 60)
        now = shown(alice, alpha, transfer)
        if now['state'] == 'hashing' and now['verified_bytes'] < now['total_bytes'] // 10:  # time is left for what follows
            return path, name, transfer
    raise AssertionError(f'{larger * GB} bytes were hashed at once')


def found(alice):
    return {c['name'] for c in alice.cli('search', '--json').json['contents']}


def listed(alice, alpha):
    return {t['transfer_id'] for t in alice.cli('transfers', '--json', node=alpha).json['transfers']}


def a_caller_who_leaves_is_not_missed():
    with harness.Scene() as scene:
        alice, alpha = setting(scene)
        path, name, transfer = hashing(scene, alice, alpha)
        now = shown(alice, alpha, transfer)
        cases.check(now['publish']['files'] == 1 and now['publish']['phase'] in ('hash', 'upload'), now)
        cases.check(now['total_bytes'] == path.stat().st_size, now)
        cases.check(name in alice.cli('transfers', node=alpha).out, 'it is not listed')
        cases.check(name not in found(alice), 'it is found before it is published')
        done = alice.cli('publish', path, '--name', name, '--access', 'public', '--json', node=alpha).event('published')
        cases.check(done['transfer_id'] == transfer and done['bytes'] == path.stat().st_size, done)
        cases.check(name in found(alice), found(alice))


def who_will_get_it_is_said_and_ctrl_c_lets_it_go_on():
    with harness.Scene() as scene:
        alice, alpha = setting(scene)
        path, name, transfer = hashing(scene, alice, alpha)
        watching = alice.start_cli('publish', path, '--name', name, '--access', 'public', node=alpha)
        told = watching.stderr.readline()
        cases.check('Everyone with an account on this server' in told, told)
        watching.send_signal(signal.SIGINT)
        _, err = watching.communicate(timeout=30)
        if watching.returncode != 0:  # it was not published just then
            cases.check(watching.returncode == 10 and 'goes on' in err and 'gridtorrent transfer cancel' in err, err)
        wait_state(alice, alpha, transfer, 'seeding')


def a_killed_node_goes_on_where_it_was():
    with harness.Scene() as scene:
        alice, alpha = setting(scene)
        path, name, transfer = hashing(scene, alice, alpha)
        alpha.kill()
        noted = alpha.data / 'hashing' / transfer
        killed_early = noted.exists()
        alpha.start()
        wait_state(alice, alpha, transfer, 'seeding')
        cases.check(killed_early, 'the hashing left no checkpoint')
        cases.check(not noted.exists(), 'the checkpoint stays')
        cases.check(name in found(alice), found(alice))
        again = alice.cli('publish', path, '--name', name, '--access', 'public', node=alpha, expect=None)
        cases.refused(harness.Result(again.args, again.code, again.out, again.err, 0), 6, name)


def a_paused_publish_rests_also_after_a_restart():
    with harness.Scene() as scene:
        alice, alpha = setting(scene)
        _, name, transfer = hashing(scene, alice, alpha)
        alice.cli('transfer', 'pause', transfer, node=alpha)
        wait_state(alice, alpha, transfer, 'paused')
        alpha.stop()
        alpha.start()
        cases.check(shown(alice, alpha, transfer)['state'] == 'paused', 'a restart resumed it')
        cases.check(name not in found(alice), 'it was published')
        alice.cli('transfer', 'resume', transfer, node=alpha)
        wait_state(alice, alpha, transfer, 'seeding')
        cases.check(name in found(alice), found(alice))


def a_cancelled_publish_frees_its_name_on_every_node():
    with harness.Scene() as scene:
        alice, alpha = setting(scene)
        beta = scene.node(alice, 'beta')
        _, name, transfer = hashing(scene, alice, alpha)
        alice.cli('transfer', 'pause', transfer, node=alpha)  # or it may be published before it is cancelled
        cases.check(name not in found(alice), 'it is published already')
        small = cases.make_file(scene.dir / 'in/small.bin', 100_000)
        cases.refused(alice.cli('publish', small, '--name', name, node=beta, expect=None), 6, name)
        alice.cli('transfer', 'cancel', transfer, node=alpha)
        alice.cli('transfer', 'cancel', transfer, node=alpha, expect=None)  # gone by now, or not
        harness.wait_until(lambda: transfer not in listed(alice, alpha), 'the transfer to go')
        harness.wait_until(lambda: alice.cli('publish', small, '--name', name, node=beta, expect=None).code == 0, 'the name to be free')
        harness.wait_until(lambda: os.listdir(alpha.data / 'hashing') == [], 'the checkpoint to go')
        shown_now = alice.cli('show', name, '--json').json
        cases.check(shown_now['bytes'] == 100_000, shown_now)


def a_publish_waits_for_a_server_that_is_away_and_can_be_cancelled_meanwhile():
    with harness.Scene() as scene:
        alice, alpha = setting(scene)
        sources = [cases.make_file(scene.dir / f'in/{i}.bin', 100_000, seed=i) for i in range(2)]
        scene.the_server.stop()
        kept = detached(alice, alpha, sources[0], 'kept')
        dropped = detached(alice, alpha, sources[1], 'dropped')
        harness.wait_until(lambda: 'server down' in shown(alice, alpha, kept).get('message', ''), 'it to say what it waits for')
        alpha.kill()
        alpha.start()
        alice.cli('transfer', 'cancel', dropped, node=alpha)
        scene.the_server.start()
        wait_state(alice, alpha, kept, 'seeding')
        harness.wait_until(lambda: listed(alice, alpha) == {kept}, 'the other to go')
        cases.check(found(alice) == {'kept'}, found(alice))


def what_cannot_be_hashed_fails_with_the_reason_and_is_tried_again():
    with harness.Scene() as scene:
        alice, alpha = setting(scene)
        empty = scene.dir / 'in/empty'
        empty.mkdir(parents=True)
        cases.refused(alice.cli('publish', empty, '--name', 'run', node=alpha, expect=None), 2, empty, 'gridtorrent transfer cancel')
        failed = cases.transfer_of(alice, alpha, 'run')
        cases.check(failed['state'] == 'failed' and failed['error_code'] == 'invalid', failed)
        cases.make_file(empty / 'a', 1000)
        alice.cli('transfer', 'resume', failed['transfer_id'], node=alpha)
        wait_state(alice, alpha, failed['transfer_id'], 'seeding')
        cases.check(re.search(r'run.* is not published: ', alpha.log(100_000)), 'the log does not say it')


cases.run(a_caller_who_leaves_is_not_missed, who_will_get_it_is_said_and_ctrl_c_lets_it_go_on, a_killed_node_goes_on_where_it_was,
          a_paused_publish_rests_also_after_a_restart, a_cancelled_publish_frees_its_name_on_every_node,
          a_publish_waits_for_a_server_that_is_away_and_can_be_cancelled_meanwhile,
          what_cannot_be_hashed_fails_with_the_reason_and_is_tried_again)
