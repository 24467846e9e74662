#!/usr/bin/env python3
"""Groups, buddies and the inbox, as people use them from the command line."""
import json
import queue
import threading

import cases
import harness


def members(user, group):
    return {m['user']: m['standing'] for m in user.cli('group', 'show', group, '--json').json['members']}


def both_sides_accept_and_either_ends_it():
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        made = alice.cli('group', 'create', 'lab', '--description', 'The lab', '--json').json
        cases.check(made['standing'] == 'manager' and made['group_id'].startswith('g_'), made)
        cases.refused(bob.cli('group', 'create', 'lab', expect=None), 6, 'choose another name')
        alice.cli('group', 'invite', 'lab', 'bob', '--message', 'for the run data')
        inbox = bob.cli('inbox', '--json').json
        cases.check(inbox['invitations'][0]['message'] == 'for the run data', inbox)
        cases.check('gridtorrent group accept lab\n' in bob.cli('inbox').out, 'the inbox names the answer')
        bob.cli('group', 'accept', 'lab')
        carol.cli('group', 'request', 'lab')
        cases.refused(bob.cli('group', 'accept', 'lab', 'carol', expect=None), 4, 'only its managers')
        alice.cli('group', 'accept', 'lab', 'carol')
        cases.check(members(bob, 'lab') == {'alice': 'manager', 'bob': 'member', 'carol': 'member'}, members(bob, 'lab'))
        cases.refused(alice.cli('group', 'leave', 'lab', expect=None), 6, 'group promote')
        alice.cli('group', 'promote', 'lab', 'bob')
        alice.cli('group', 'leave', 'lab')
        bob.cli('group', 'remove', 'lab', 'carol')
        cases.check(members(bob, 'lab') == {'bob': 'manager'}, members(bob, 'lab'))
        news = [(n['kind'], n['by']) for n in carol.cli('inbox', '--json').json['notices']]
        cases.check(news == [('removed', 'bob'), ('request-accepted', 'alice')], news)
        bob.cli('group', 'delete', 'lab')
        cases.refused(bob.cli('group', 'show', 'lab', expect=None), 3, 'no group "lab"')


def a_hidden_group_is_nobody_elses_business():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alice.cli('group', 'create', 'secret', '--hidden')
        for command in (('show', 'secret'), ('request', 'secret'), ('leave', 'secret'), ('invite', 'secret', 'alice')):
            hidden = bob.cli('group', *command, expect=None)
            missing = bob.cli('group', command[0], 'absent', *command[2:], expect=None)
            cases.refused(hidden, 3)
            cases.check(hidden.err.replace('secret', 'absent') == missing.err, f'{hidden}\n{missing}')
        cases.check(bob.cli('group', 'list', '--all', '--json').json['groups'] == [], 'it is listed')
        alice.cli('group', 'set', 'secret', '--hidden', 'no')
        cases.check(len(bob.cli('group', 'list', '--all', '--json').json['groups']) == 1, 'it is not listed')


def what_is_shared_follows_groups_and_buddies_down_to_the_node():
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = (scene.user(n) for n in ('alice', 'bob', 'carol'))
        alpha, beta, gamma = (scene.node(u, n) for u, n in ((alice, 'alpha'), (bob, 'beta'), (carol, 'gamma')))
        alice.cli('group', 'create', 'lab')
        source = cases.make_file(scene.dir / 'in/data.bin', 5_000_000)
        cases.refused(bob.cli('publish', source, '--name', 'x', '--access', 'group:lab', node=beta, expect=None), 3,
                      'that you are a member of')
        alice.cli('publish', source, '--name', 'data', '--access', 'group:lab,buddies', node=alpha)
        for user, node in ((bob, beta), (carol, gamma)):
            cases.refused(user.cli('get', 'alice/data', '--to', scene.dir / 'no', node=node, expect=None), 3)
        alice.cli('buddy', 'add', 'bob')
        alice.cli('group', 'invite', 'lab', 'carol')
        carol.cli('group', 'accept', 'lab')
        for user, node in ((bob, beta), (carol, gamma)):
            user.cli('get', 'alice/data', '--to', scene.dir / user.name, node=node)
            cases.same(source, scene.dir / user.name / 'data.bin')
        cases.check('group lab' in alice.cli('access', 'data', '--explain', 'carol').out, 'why carol may')
        cases.check('buddies' in alice.cli('access', 'data', '--explain', 'bob').out, 'why bob may')
        seen = bob.cli('show', 'alice/data', '--json').json['access']
        cases.check(seen == {'level': 'shared', 'groups': [], 'users': [], 'buddies': False}, f'bob is told {seen}')
        cases.check([c['name'] for c in carol.cli('search', '--group', 'lab', '--json').json['contents']] == ['data'], 'search')
        cases.refused(bob.cli('search', '--group', 'lab', expect=None), 3, 'that you are a member of')

        # Each right ends on the node of whom it was taken from, and comes back with it.
        def states():
            return [user.cli('transfers', '--json', node=node).json['transfers'][0]['state'] for user, node in ((bob, beta), (carol, gamma))]
        harness.wait_until(lambda: states() == ['seeding', 'seeding'], 'both to seed')
        alice.cli('buddy', 'remove', 'bob')
        harness.wait_until(lambda: states() == ['complete', 'seeding'], 'bob to stop', harness.SOON_S)
        carol.cli('group', 'leave', 'lab')
        harness.wait_until(lambda: states() == ['complete', 'complete'], 'carol to stop', harness.SOON_S)
        alice.cli('buddy', 'add', 'bob')
        harness.wait_until(lambda: states() == ['seeding', 'complete'], 'bob to seed again', harness.SOON_S)


def the_inbox_tells_a_program_as_it_happens():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        watch = bob.start_cli('inbox', '--watch', '--json')
        lines = queue.Queue()
        threading.Thread(target=lambda: [lines.put(json.loads(line)) for line in watch.stdout], daemon=True).start()
        try:
            cases.check(lines.get(timeout=60)['invitations'] == [], 'the inbox as it is')
            alice.cli('group', 'create', 'lab')
            alice.cli('group', 'invite', 'lab', 'bob')
            cases.check(lines.get(timeout=60)['invitations'][0]['group'] == 'lab', 'the invitation')
            alice.cli('group', 'withdraw', 'lab', 'bob')
            cases.check(lines.get(timeout=60)['invitations'] == [], 'its withdrawal')
        finally:
            watch.terminate()
            watch.wait(20)


if __name__ == '__main__':
    cases.run(both_sides_accept_and_either_ends_it, a_hidden_group_is_nobody_elses_business,
              what_is_shared_follows_groups_and_buddies_down_to_the_node, the_inbox_tells_a_program_as_it_happens)
