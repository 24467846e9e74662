#!/usr/bin/env python3
"""What is said of a content is corrected while data of it is on its way."""
import os
import pty

import cases
import harness


def a_content_is_renamed_while_it_is_fetched():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/run.bin', 20_000_000)
        alice.cli('publish', source, '--name', 'rnu42', '--access', 'public', '--tag', 'raw', node=alpha)
        get = bob.cli('get', 'rnu42', '--to', scene.dir / 'out', '--limit', '20Mbit', '--detach', '--json', node=beta)
        transfer = get.event('started')['transfer_id']

        cases.refused(bob.cli('content', 'rename', 'rnu42', 'mine', expect=None), 4, 'only its owner')
        cases.refused(alice.cli('content', 'rename', 'rnu42', 'a/b', expect=None), 2, 'a/b')
        content = alice.cli('content', 'rename', 'rnu42', 'run42', '--json').json
        cases.check((content['name'], content['revision']) == ('run42', 1), content)
        cases.refused(alice.cli('show', 'rnu42', expect=None), 3, 'rnu42')
        other = cases.make_file(scene.dir / 'in/other.bin', 1000)
        alice.cli('publish', other, '--name', 'rnu42', '--access', 'public', node=alpha)

        for user, node in ((alice, alpha), (bob, beta)):
            names = lambda u=user, n=node: {t['content_id']: t['name'] for t in u.cli('transfers', '--json', node=n).json['transfers']}
            harness.wait_until(lambda: names().get(content['content_id']) == 'run42', f'{node.name} to show the new name')
        bob.cli('transfer', 'set', transfer, '--limit', '0', node=beta)
        bob.cli('transfer', 'wait', transfer, node=beta)
        cases.same(source, scene.dir / 'out/run.bin')
        bob.cli('verify', 'run42', node=beta)


def descriptions_tags_and_licence_are_changed_and_found():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha = scene.node(alice, 'alpha')
        alice.cli('publish', cases.make_file(scene.dir / 'in/run.bin', 1000), '--name', 'run', '--access', 'public', '--tag', 'raw', node=alpha)
        alice.cli('content', 'describe', 'run', 'beam time of May')
        alice.cli('content', 'licence', 'run', 'CC-BY-4.0')
        alice.cli('content', 'tags', 'run', '--remove', 'raw', '--add', 'calibrated')
        shown = bob.cli('show', 'run', '--json').json
        cases.check((shown['description'], shown['license'], shown['tags'], shown['revision'])
                    == ('beam time of May', 'CC-BY-4.0', ['calibrated'], 3), shown)
        cases.check(bob.cli('content', 'tags', 'run').out == 'calibrated\n', 'tags are listed')
        cases.check(bob.cli('search', '--tag', 'raw', '--json').json['contents'] == [], 'an old tag finds nothing')
        cases.check(len(bob.cli('search', '--tag', 'calibrated', '--json').json['contents']) == 1, 'the new one does')
        cases.refused(alice.cli('content', 'describe', 'run', 'x', '--if-revision', '2', expect=None), 6, 'revision 3')
        alice.cli('content', 'describe', 'run', 'x', '--if-revision', '3')
        alice.cli('content', 'describe', 'run', '')
        alice.cli('content', 'licence', 'run', '')
        shown = bob.cli('show', 'run', '--json').json
        cases.check((shown['description'], shown['license']) == ('', ''), f'what is empty is taken away: {shown}')
        cases.refused(alice.cli('content', 'rename', 'run', '', expect=None), 2, 'NAME is empty')


def what_was_withdrawn_is_taken_back_and_its_name_given_again():
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = scene.user('alice'), scene.user('bob'), scene.user('carol')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        source = cases.make_file(scene.dir / 'in/run.bin', 8_000_000)
        alice.cli('publish', source, '--name', 'run', '--access', 'public', node=alpha)
        bob.cli('get', 'run', '--to', scene.dir / 'of-bob', node=beta)
        content = alice.cli('unpublish', 'run', '--json').json['content_id']
        state = lambda user, node: {t['content_id']: t['state'] for t in user.cli('transfers', '--json', node=node).json['transfers']}[content]
        for user, node in ((alice, alpha), (bob, beta)):
            harness.wait_until(lambda u=user, n=node: state(u, n) != 'seeding', f'{node.name} to stop seeding')
        cases.refused(bob.cli('content', 'restore', content, expect=None), 4, 'only its owner')
        alpha.stop()

        # Its owner's node is away: whoever fetched it serves it.
        alice.cli('content', 'restore', 'run')
        harness.wait_until(lambda: state(bob, beta) == 'seeding', 'beta to seed again', 60)
        gamma = scene.node(carol, 'gamma')
        carol.cli('get', 'alice/run', '--to', scene.dir / 'of-carol', node=gamma)
        cases.same(source, scene.dir / 'of-carol/run.bin')

        alpha.start()
        alice.cli('unpublish', 'run', '--yes')
        better = cases.make_file(scene.dir / 'better/run.bin', 3_000_000, seed=2)
        second = alice.cli('publish', better, '--name', 'run', '--access', 'public', '--json', node=alpha).event('published')['content_id']
        cases.check(second != content, 'another content')
        cases.refused(alice.cli('content', 'restore', content, expect=None), 6, second)
        carol.cli('get', 'run', '--to', scene.dir / 'better-of-carol', node=gamma)
        cases.same(better, scene.dir / 'better-of-carol/run.bin')
        carol.cli('verify', 'run', node=gamma)
        alice.cli('content', 'restore', content, '--name', 'run of May')
        cases.check(bob.cli('show', 'run of May', '--json').json['content_id'] == content, 'under another name')


def unpublish_asks_a_person_and_not_a_script():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        alice.cli('publish', cases.make_file(scene.dir / 'in/run.bin', 1000), '--name', 'run', node=alpha)

        def answered(key, *more):
            pid, terminal = pty.fork()
            if pid == 0:
                argv = alice.argv(('unpublish', 'run', *more))
                os.execve(argv[0], argv, alice.env)
            said = b''
            try:
                while b'[y/N]' not in said:
                    said += os.read(terminal, 1000)
                os.write(terminal, key)
                while True:
                    said += os.read(terminal, 1000)
            except OSError:  # it ended
                pass
            os.close(terminal)
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode()

        code, said = answered(b'n\n')
        cases.check(code == 10 and 'Withdraw alice/run' in said, said)
        cases.check(alice.cli('show', 'run', '--json').json['state'] == 'published', 'no means no')
        code, said = answered(b'', '--yes')
        cases.check(code == 0 and '[y/N]' not in said, said)
        cases.check(alice.cli('show', 'run', '--json').json['state'] == 'withdrawn', 'it was told not to ask')


cases.run(a_content_is_renamed_while_it_is_fetched, descriptions_tags_and_licence_are_changed_and_found,
          what_was_withdrawn_is_taken_back_and_its_name_given_again, unpublish_asks_a_person_and_not_a_script)
