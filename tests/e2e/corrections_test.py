#!/usr/bin/env python3
"""What is said of a content is corrected while data of it is on its way."""
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


cases.run(a_content_is_renamed_while_it_is_fetched, descriptions_tags_and_licence_are_changed_and_found)
