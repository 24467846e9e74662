#!/usr/bin/env python3
"""`show --replicas` is the line on which people delete their originals: it counts what is verified and served now."""
import re
import time

import cases
import harness

SIZE = cases.scaled('REPLICA_BYTES', 5_000_000)


def heading(user, name):
    """How many of how many replicas count, as people read it."""
    text = user.cli('show', name, '--replicas').out
    found = re.search(r'^(\d+) of (\d+) replicas?', text, re.MULTILINE)
    assert found, text
    return int(found[1]), int(found[2])


def seeders(user, name):
    contents = user.cli('search', name, '--json').json['contents']
    return next(c['seeders'] for c in contents if c['name'] == name)


def both_count(user, name, count):
    return heading(user, name)[0] == count and seeders(user, name) == count


def wait_for_count(user, count, what):
    since = time.monotonic()
    harness.wait_until(lambda: both_count(user, 'data', count), what, harness.SOON_S)  # the usual announce comes after 30 s
    print(f'        waited {time.monotonic() - since:.2f} s for {what} (asked: 5 s)', flush=True)


def two_copies(scene):
    server = scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
    cases.make_file(scene.dir / 'in/data.bin', SIZE)
    alice.cli('publish', scene.dir / 'in/data.bin', '--name', 'data', '--access', 'public', node=alpha)
    bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
    harness.wait_until(lambda: both_count(alice, 'data', 2), 'two replicas that count')
    return server, alice, bob, alpha, beta


def copies_that_fail_count_no_more():
    with harness.Scene() as scene:
        server, alice, bob, alpha, beta = two_copies(scene)
        cases.alter(scene.dir / 'in/data.bin')
        (scene.dir / 'out/data.bin').unlink()
        cases.refused(alice.cli('verify', 'data', '--json', node=alpha, expect=None), 7)
        wait_for_count(alice, 1, 'the corrupt copy to count no more')
        cases.refused(bob.cli('verify', 'data', '--json', node=beta, expect=None), 7)
        wait_for_count(alice, 0, 'the deleted copy to count no more')
        cases.check(alice.cli('show', 'data', '--replicas', '--json').json['replicas'] == [], 'a claim stays')


def a_claim_is_withdrawn_after_a_crash():
    """Nothing could be said to the server between what `verify` found and kill -9."""
    with harness.Scene() as scene:
        server, alice, bob, alpha, beta = two_copies(scene)
        server.stop()
        cases.alter(scene.dir / 'out/data.bin')
        cases.refused(bob.cli('verify', 'data', '--json', node=beta, expect=None), 7)
        beta.kill()
        server.start()
        beta.start()
        harness.wait_until(lambda: heading(alice, 'data') == (1, 1) and seeders(alice, 'data') == 1,
                           'the claim of a node that crashed to be withdrawn', 90)


def what_is_whole_but_not_served_is_told_apart():
    with harness.Scene() as scene:
        server, alice, bob, alpha, beta = two_copies(scene)
        before = {r['node_name']: r for r in alice.cli('show', 'data', '--replicas', '--json').json['replicas']}
        cases.check(all(r['verified'] for r in before.values()), before)
        bob.cli('verify', 'data', node=beta)

        def verified_again():
            now = {r['node_name']: r for r in alice.cli('show', 'data', '--replicas', '--json').json['replicas']}
            return now['beta']['verified'] >= before['beta']['verified'] and now['beta']['served']
        harness.wait_until(verified_again, 'the time of the verification')
        beta.kill()
        harness.wait_until(lambda: both_count(alice, 'data', 1), 'a dead node to count no more', harness.SOON_S)
        cases.check(heading(alice, 'data') == (1, 2), 'the copy of the dead node is still known')


cases.run(copies_that_fail_count_no_more, a_claim_is_withdrawn_after_a_crash, what_is_whole_but_not_served_is_told_apart)
