#!/usr/bin/env python3
"""Content that gets another owner: offered, accepted, and served on without a copy."""
import cases
import harness


def transfer_of(user, node, name):
    return next((t for t in user.cli('transfers', '--json', node=node).json['transfers'] if t['name'] == name), None)


def a_leavers_private_content_is_taken_over_with_its_data():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/run.bin', 8_000_000)
        alice.cli('publish', source, '--name', 'run', '--access', 'private', node=alpha)

        cases.refused(bob.cli('handover', 'accept', 'run', expect=None), 3, 'gridtorrent handover list')
        cases.refused(alice.cli('handover', 'offer', 'run', '--to', 'bbo', expect=None), 3, 'no user "bbo"')
        alice.cli('handover', 'offer', 'run', '--to', 'bob', '--message', 'I leave in May')
        offers = bob.cli('inbox', '--json').json['offers']
        cases.check([(o['owner'], o['name'], o['by'], o['bytes'], o['message']) for o in offers]
                    == [('alice', 'run', 'alice', 8_000_000, 'I leave in May')], offers)
        cases.check('gridtorrent handover accept alice/run\n' in bob.cli('inbox').out, 'the inbox names the answer')
        cases.check('handover withdraw alice/run' in alice.cli('handover', 'list').out, 'alice sees what is open')
        cases.refused(bob.cli('get', 'alice/run', '--to', scene.dir / 'early', node=beta, expect=None), 3, 'alice/run')

        taken = bob.cli('handover', 'accept', 'alice/run')
        cases.check('who may have it: gridtorrent access bob/run\n' in taken.err, taken)
        shown = bob.cli('show', 'run', '--json').json
        cases.check(shown['owner'] == 'bob' and shown['access']['users'] == ['alice'], shown)
        cases.check(alice.cli('inbox', '--json').json['notices'][0]['kind'] == 'offer-accepted', 'alice is told')
        cases.refused(alice.cli('unpublish', 'bob/run', expect=None), 4)
        bob.cli('get', 'run', '--to', scene.dir / 'of-bob', node=beta)
        cases.same(source, scene.dir / 'of-bob/run.bin')
        cases.check(transfer_of(alice, alpha, 'run')['state'] == 'seeding', 'her node went on without hashing')
        cases.check('verifying' not in alpha.log(100_000), 'nothing was hashed again')

        # Now it is bob's alone, and his node serves it.
        bob.cli('access', 'run', '--set', 'private')
        alpha.stop()
        gamma = scene.node(bob, 'gamma')
        bob.cli('get', 'run', '--to', scene.dir / 'of-gamma', node=gamma)
        cases.same(source, scene.dir / 'of-gamma/run.bin')
        cases.refused(alice.cli('show', 'bob/run', expect=None), 3, 'or not yours to see')


def an_administrator_hands_over_what_a_disabled_account_owned():
    with harness.Scene() as scene:
        scene.server()
        admin, alice, bob, carol = scene.admin(), *(scene.user(n) for n in ('alice', 'bob', 'carol'))
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/run.bin', 3_000_000)
        alice.cli('publish', source, '--name', 'run', '--access', 'user:bob', node=alpha)
        bob.cli('get', 'alice/run', '--to', scene.dir / 'of-bob', node=beta)
        cases.refused(admin.cli('handover', 'offer', 'alice/run', '--to', 'bob', expect=None), 3, 'alice/run')
        admin.cli('user', 'disable', 'alice')
        admin.cli('handover', 'offer', 'alice/run', '--to', 'bob')
        mine = cases.make_file(scene.dir / 'in/mine.bin', 1_000)
        bob.cli('publish', mine, '--name', 'run', '--access', 'private', node=beta)
        cases.refused(bob.cli('handover', 'accept', 'alice/run', expect=None), 6, '--name')
        bob.cli('handover', 'accept', 'alice/run', '--name', 'run of alice')
        shown = bob.cli('show', 'bob/run of alice', '--json').json
        cases.check(shown['access']['level'] == 'private', shown)
        bob.cli('access', 'run of alice', '--set', 'user:carol')
        gamma = scene.node(carol, 'gamma')
        carol.cli('get', 'bob/run of alice', '--to', scene.dir / 'of-carol', node=gamma)
        cases.same(source, scene.dir / 'of-carol/run.bin')


cases.run(a_leavers_private_content_is_taken_over_with_its_data, an_administrator_hands_over_what_a_disabled_account_owned)
