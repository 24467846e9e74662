#!/usr/bin/env python3
"""A content gets a new version: only what changed is read and fetched, and what a person changed is never lost."""
import os
import shutil
import time

import cases
import harness

FILES, FILE_BYTES = 40, 1_000_000


def data_set(scene, name='set'):
    """Forty files of random bytes in four folders, written to long enough ago to be relied on."""
    root = scene.dir / 'in' / name
    for i in range(FILES):
        cases.make_file(root / f'part{i % 4}' / f'{i:02}.bin', FILE_BYTES, seed=i)
    settle(root)
    return root


def settle(root):
    """Files that were written to a moment ago are read again by the next version: their times may not tell a change."""
    for top, folders, names in os.walk(root):
        for name in names:
            path = os.path.join(top, name)
            age = os.stat(path).st_mtime - 3600
            os.utime(path, (age, age))


def change(root):
    """Ten bytes of one file in place, one file longer, one more, one less."""
    path = root / 'part1/05.bin'
    with open(path, 'r+b') as file:
        file.seek(400_000)
        file.write(b'corrected!')
    with open(root / 'part2/06.bin', 'ab') as file:
        file.write(b'more')
    cases.make_file(root / 'part3/new.bin', 300_000, seed=99)
    (root / 'part2/38.bin').unlink()


def behind_first_change(root):
    """Bytes of what stands at or behind the first file that `change` touches."""
    paths = [path for path in root.rglob('*') if path.is_file()]
    return sum(path.stat().st_size for path in paths if str(path.relative_to(root)) >= 'part1/05.bin')


def published(user, node, path, *args):
    return user.cli('publish', path, *args, '--json', node=node, timeout_s=120).event('published')


def two_people(scene):
    """Alice's data set is at Bob's, too."""
    scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
    root = data_set(scene)
    published(alice, alpha, root, '--name', 'set', '--access', 'public')
    bob.cli('get', 'alice/set', '--to', scene.dir / 'out', node=beta)
    cases.same(root, scene.dir / 'out/set')
    return alice, alpha, bob, beta, root


def get_update(bob, beta, *args, expect=0):
    return bob.cli('get', 'alice/set', '--update', *args, '--json', node=beta, expect=expect, timeout_s=120)


def received(user, node, transfer):
    return user.cli('transfer', 'show', transfer, '--json', node=node).json['received_bytes']


def only_what_changed_is_read_and_fetched():
    with harness.Scene() as scene:
        alice, alpha, bob, beta, root = two_people(scene)
        first = alice.cli('show', 'set', '--json').json['content_id']
        change(root)
        done = published(alice, alpha, root, '--update', 'set')
        cases.check((done['content_id'], done['version']) == (first, 2), done)
        cases.check(done['unchanged_files'] == FILES - 3, done)
        # What was changed, and what lies behind it elsewhere in the stream of bytes.
        cases.check(0 < done['read_bytes'] <= 1.01 * behind_first_change(root), (done, behind_first_change(root)))
        told = get_update(bob, beta).event('done')
        cases.same(root, scene.dir / 'out/set')
        got = received(bob, beta, told['transfer_id'])
        changed, piece = FILE_BYTES + FILE_BYTES + 4 + 300_000, alice.cli('show', 'set', '--json').json['piece_bytes']
        cases.check(0 < got <= changed + 3 * 2 * piece, f'{got} bytes were fetched for {changed} of three files that changed, in pieces of {piece}')
        cases.check([t['version'] for t in bob.cli('transfers', '--json', node=beta).json['transfers']] == [2], 'one version is held')
        cases.check(sorted(os.listdir(scene.dir / 'out')) == ['set'], os.listdir(scene.dir / 'out'))
        again = get_update(bob, beta).event('done')
        cases.check(again['transfer_id'] == told['transfer_id'], again)


def files_that_did_not_change_are_not_read():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        root = data_set(scene)
        published(alice, alpha, root, '--name', 'set', '--access', 'public')
        with open(root / 'part3/39.bin', 'r+b') as file:
            file.write(b'corrected!')
        done = published(alice, alpha, root, '--update', 'set')
        cases.check(done['unchanged_files'] == FILES - 1, done)
        cases.check(done['read_bytes'] <= FILE_BYTES + 2 * 1_048_576, done)
        alice.cli('verify', 'set', node=alpha)


def a_new_version_leaves_out_what_the_one_before_left_out():
    with harness.Scene() as scene:
        scene.server()
        alice, root = scene.user('alice'), scene.dir / 'in/run'
        for seed, name in enumerate(('data.bin', 'secrets/key')):
            cases.make_file(root / name, 10_000, seed)
        (root / 'latest').symlink_to('data.bin')
        alpha = scene.node(alice, 'alpha', args=('--share-root', f'raw={root.parent}'))
        rules = ('--exclude', 'secrets', '--links', 'keep')
        published(alice, alpha, root, '--name', 'here', *rules)
        alice.cli('publish', 'raw:run', '--name', 'there', *rules, '--node', 'alpha')

        def paths(name):
            return sorted(f['path'] for f in alice.cli('show', name, '--manifest', 'merkle', '--json').json['files'] if not f['folder'])
        cases.make_file(root / 'more.bin', 10_000, seed=2)
        look = alice.cli('publish', root, '--update', 'here', '--dry-run', node=alpha)
        cases.check('in 2 files, 1 symbolic link' in look.out and '--links keep --exclude secrets' in look.err, look)
        done = alice.cli('publish', root, '--update', 'here', node=alpha)
        cases.check('by the rules of the version before: --links keep --exclude secrets; ' in done.err, done)
        done = alice.cli('publish', 'raw:run', '--update', 'there', '--node', 'alpha', '--json').event('published')
        cases.check((done['version'], done['rules_as_before']) == (2, '--links keep --exclude secrets'), done)
        for name in ('here', 'there'):
            cases.check(paths(name) == ['run/data.bin', 'run/latest', 'run/more.bin'], paths(name))
        alpha.stop()
        alpha.start()
        cases.make_file(root / 'more.bin', 10_000, seed=3)
        cases.check(published(alice, alpha, root, '--update', 'here')['version'] == 3, 'a restart changes nothing')
        cases.check('run/secrets/key' not in paths('here'), paths('here'))
        for to in (('here',), ('there', '--node', 'alpha')):
            alice.cli('publish', 'raw:run' if to[1:] else root, '--update', *to, '--links', 'skip', node=None if to[1:] else alpha)
            cases.check(paths(to[0]) == ['run/data.bin', 'run/more.bin', 'run/secrets/key'], paths(to[0]))
        # Another node knows of no version before: a habit goes there, too.
        alice.env['GRIDTORRENT_PUBLISH_EXCLUDE'] = 'secrets'
        alice.cli('publish', 'raw:run', '--update', 'there', '--node', 'alpha')
        cases.check(paths('there') == ['run/data.bin', 'run/more.bin'], paths('there'))


def files_made_anew_with_the_old_times_are_read():
    """As an archive does whose files all have one time; the filesystem may give them the old inodes."""
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        root = scene.dir / 'in/set'
        for made, seed in enumerate((0, 5000)):
            shutil.rmtree(root, ignore_errors=True)
            for i in range(FILES):
                os.utime(cases.make_file(root / f'{i:02}.bin', 100_000, seed=seed + i), (1_500_000_000, 1_500_000_000))
            done = published(alice, alpha, root, *(('--update', 'set') if made else ('--name', 'set', '--access', 'public')))
        cases.check(done['unchanged_files'] == 0, done)
        alice.cli('verify', 'set', node=alpha)


def what_a_person_changed_is_a_conflict_that_names_it():
    with harness.Scene() as scene:
        alice, alpha, bob, beta, root = two_people(scene)
        change(root)
        published(alice, alpha, root, '--update', 'set')
        out = scene.dir / 'out/set'
        (out / 'part1/notes.txt').write_text('mine')
        line = cases.refused(get_update(bob, beta, expect=None), 6, 'set/part1/notes.txt', 'was added', '--to')
        cases.check('version 1' in line, line)
        (out / 'part1/notes.txt').unlink()
        with open(out / 'part3/07.bin', 'r+b') as file:
            file.write(b'my own')
        cases.refused(get_update(bob, beta, expect=None), 6, 'part3/07.bin')
        listed = [t['version'] for t in bob.cli('transfers', '--json', node=beta).json['transfers']]
        cases.check(listed == [1], listed)
        cases.check((out / 'part3/07.bin').read_bytes()[:6] == b'my own', 'it is as it was')
        cases.check(not any(name.startswith('.') for name in os.listdir(scene.dir / 'out')), os.listdir(scene.dir / 'out'))
        bob.cli('get', 'alice/set', '--to', scene.dir / 'beside', node=beta)
        cases.same(root, scene.dir / 'beside/set')


def an_old_version_is_there_while_somebody_holds_it():
    with harness.Scene() as scene:
        alice, alpha, bob, beta, root = two_people(scene)
        before = scene.dir / 'before'
        shutil.copytree(root, before / 'set', copy_function=shutil.copy2)
        change(root)
        published(alice, alpha, root, '--update', 'set')
        shown = bob.cli('show', 'alice/set', '--versions').out
        cases.check('1' in shown and '2' in shown, shown)
        carol = scene.user('carol')
        gamma = scene.node(carol, 'gamma')
        carol.cli('get', 'alice/set', '--version', 1, '--to', scene.dir / 'one', node=gamma)
        cases.same(before / 'set', scene.dir / 'one/set')
        carol.cli('get', 'alice/set@2', '--to', scene.dir / 'two', node=gamma)
        cases.same(root, scene.dir / 'two/set')
        cases.refused(carol.cli('get', 'alice/set', '--version', 3, '--to', scene.dir / 'three', node=gamma, expect=None), 3, '3')


def a_new_version_of_another_name_is_told_to_its_publisher():
    """Who holds it cannot take it with --update; the publisher is the one who can mend that."""
    with harness.Scene() as scene:
        scene.server()
        alice, raw = scene.user('alice'), scene.dir / 'raw'
        alpha = scene.node(alice, 'alpha', args=('--share-root', f'raw={raw}'))
        for seed, name in enumerate(('run42', 'run42-v2')):
            cases.make_file(raw / name / 'data.bin', 10_000, seed)
        alice.cli('publish', raw / 'run42', '--name', 'run', node=alpha)
        said = "is called 'run42' on disk, this one 'run42-v2': 'get --update' refuses it"
        look = alice.cli('publish', raw / 'run42-v2', '--update', 'run', '--dry-run', node=alpha)
        cases.check(said in look.err, look)
        told = alice.cli('publish', raw / 'run42-v2', '--update', 'run', '--json', node=alpha)
        cases.check(said in told.event('warning')['message'] and said in told.err, told)
        back = alice.cli('publish', 'raw:run42', '--update', 'run', '--node', 'alpha')
        cases.check("'run42-v2' on disk, this one 'run42'" in back.err, back)
        cases.make_file(raw / 'run42/data.bin', 10_000, seed=2)
        for to in ((raw / 'run42', '--update', 'run'), (raw / 'run42', '--update', 'run', '--dry-run')):
            same = alice.cli('publish', *to, node=alpha)
            cases.check('is called' not in same.err, same)


def only_the_owner_makes_a_version():
    with harness.Scene() as scene:
        alice, alpha, bob, beta, root = two_people(scene)
        mine = cases.make_file(scene.dir / 'mine/set', 1000)
        cases.refused(bob.cli('publish', mine, '--update', 'alice/set', node=beta, expect=None), 4, 'only its owner')
        cases.refused(alice.cli('publish', root, '--update', 'nothing', node=alpha, expect=None), 3, 'nothing')
        cases.refused(alice.cli('publish', root, '--update', 'set', '--name', 'other', node=alpha, expect=None), 2, '--name')
        cases.check(alice.cli('show', 'set', '--json').json['version'] == 1, 'it has one version')


def who_may_have_it_stays_the_same():
    with harness.Scene() as scene:
        scene.server()
        alice, bob, carol = scene.user('alice'), scene.user('bob'), scene.user('carol')
        alpha, beta, gamma = scene.node(alice, 'alpha'), scene.node(bob, 'beta'), scene.node(carol, 'gamma')
        source = cases.make_file(scene.dir / 'in/scan.bin', 3_000_000)
        settle(source.parent)
        published(alice, alpha, source, '--name', 'scan', '--access', 'user:bob')
        bob.cli('get', 'alice/scan', '--to', scene.dir / 'out', node=beta)
        cases.make_file(source, 3_500_000)
        published(alice, alpha, source, '--update', 'scan')
        bob.cli('get', 'alice/scan', '--update', node=beta)
        cases.same(source, scene.dir / 'out/scan.bin')
        for version in ((), ('--version', 1)):
            cases.refused(carol.cli('get', 'alice/scan', *version, '--to', scene.dir / 'carol', node=gamma, expect=None), 3, 'alice/scan')


def another_node_of_the_owner_publishes_the_next_version():
    with harness.Scene() as scene:
        alice, alpha, bob, beta, root = two_people(scene)
        other = scene.node(alice, 'other')
        alice.cli('get', 'set', '--to', scene.dir / 'there', node=other)
        change(scene.dir / 'there/set')
        done = published(alice, other, scene.dir / 'there/set', '--update', 'set')
        cases.check(done['version'] == 2 and done['unchanged_files'] == 0, done)
        get_update(bob, beta)
        cases.same(scene.dir / 'there/set', scene.dir / 'out/set')
        alice.cli('get', 'set', '--update', node=alpha)
        cases.same(scene.dir / 'there/set', root)


def a_choice_of_files_stays_one():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        root = data_set(scene)
        published(alice, alpha, root, '--name', 'set', '--access', 'public')
        bob.cli('get', 'alice/set', '--file', 'part1/*', '--to', scene.dir / 'out', node=beta)
        change(root)
        published(alice, alpha, root, '--update', 'set')
        get_update(bob, beta)
        cases.same(root / 'part1', scene.dir / 'out/set/part1')
        cases.check(os.listdir(scene.dir / 'out/set') == ['part1'], os.listdir(scene.dir / 'out/set'))


def where_nothing_changed_no_version_is_made():
    with harness.Scene() as scene:
        alice, alpha, bob, beta, root = two_people(scene)
        for _ in range(2):
            told = published(alice, alpha, root, '--update', 'set')
            cases.check((told['unchanged'], told['version'], told['read_bytes']) == (True, 1, 0), told)
        line = alice.cli('publish', root, '--update', 'set', node=alpha).out
        cases.check('nothing changed since version 1 of set' in line, line)
        cases.check(len(alice.cli('show', 'set', '--versions', '--json').json['versions']) == 1, 'one version')
        cases.check(bob.cli('inbox', '--json').json.get('notices', []) == [], 'nobody is told')
        harness.wait_until(lambda: len(alice.cli('transfers', '--json', node=alpha).json['transfers']) == 1, 'one transfer')
        alpha.stop()
        alpha.start()
        bob.cli('get', 'alice/set', '--to', scene.dir / 'anew', '--refetch', node=beta)
        cases.same(root, scene.dir / 'anew/set')
        change(root)
        cases.check(published(alice, alpha, root, '--update', 'set')['version'] == 2, 'a change makes a version')


def other_nodes_publish_and_take_the_next_version():
    with harness.Scene() as scene:
        scene.server()
        alice, root = scene.user('alice'), data_set(scene)
        (scene.dir / 'downloads').mkdir()
        scene.node(alice, 'alpha', args=('--share-root', f'raw={root.parent}'))
        scene.node(alice, 'beta', args=('--download-root', f'in={scene.dir}/downloads'))
        alice.cli('publish', 'raw:set', '--name', 'set', '--node', 'alpha')
        cases.make_file(root.parent / 'odd/data.bin', 1000)
        (root.parent / 'odd/latest').symlink_to('data.bin')
        told = alice.cli('publish', 'raw:odd', '--name', 'odd', '--node', 'alpha')
        cases.check('in 1 file, private' in told.out and 'gridtorrent access --set public c_' in told.err, told)
        cases.check('warning: skipped' in told.err and 'latest' in told.err and 'neither file nor folder: 1 ' in told.err, told)
        alice.cli('get', 'set', '--node', 'beta', '--to', 'in:')
        some = alice.cli('get', 'set', '--file', 'part0', '--file', 'typo', '--node', 'beta', '--to', 'in:some')
        cases.check("warning: no file matches 'typo'" in some.err, some)
        unchanged = alice.cli('publish', 'raw:set', '--update', 'set', '--node', 'alpha')
        cases.check('nothing changed since version 1 of set' in unchanged.out, unchanged.out)
        cases.refused(alice.cli('get', 'set', '--update', '--node', 'beta', '--to', 'in:elsewhere', expect=None), 3, 'in that folder')
        change(root)
        done = alice.cli('publish', 'raw:set', '--update', 'set', '--node', 'alpha', '--json').event('published')
        cases.check((done['version'], done['unchanged_files']) == (2, FILES - 3), done)
        alice.cli('get', 'set', '--update', '--node', 'beta', '--to', 'in:')
        cases.same(root, scene.dir / 'downloads/set')
        alice.cli('get', 'set', '--version', 2, '--node', 'beta', '--to', 'in:two')
        cases.same(root, scene.dir / 'downloads/two/set')
        root.joinpath('part0/00.bin').write_text('new')
        third = alice.cli('publish', 'raw:set', '--update', 'set', '--node', 'alpha')
        cases.check('published set, version 3 (' in third.out and ' did not change; ' in third.err, third)


def what_lies_where_an_older_version_was_is_verified_as_what_it_is():
    with harness.Scene() as scene:
        alice, alpha, bob, beta, root = two_people(scene)
        change(root)
        published(alice, alpha, root, '--update', 'set')
        shutil.rmtree(scene.dir / 'out/set')
        bob.cli('get', 'alice/set', '--to', scene.dir / 'out', node=beta)
        cases.same(root, scene.dir / 'out/set')
        for subject in ('alice/set', scene.dir / 'out/set'):
            cases.check('not as published' not in bob.cli('verify', subject, node=beta).err, subject)


def killed_at_any_moment_it_goes_on():
    with harness.Scene() as scene:
        alice, alpha, bob, beta, root = two_people(scene)
        for i in range(FILES):
            if i % 2:
                cases.make_file(root / f'part{i % 4}' / f'{i:02}.bin', FILE_BYTES, seed=1000 + i)
        alice.cli('publish', root, '--update', 'set', '--detach', node=alpha)
        alpha.kill()
        alpha.start()
        harness.wait_until(lambda: alice.cli('show', 'set', '--json').json['version'] == 2, 'the second version', 60)
        bob.cli('get', 'alice/set', '--update', '--detach', '--limit', '80Mbit', node=beta)

        def whole():
            return [t for t in bob.cli('transfers', '--json', node=beta).json['transfers']
                    if t['version'] == 2 and t['state'] == 'seeding']
        kills, until = 0, time.monotonic() + 90
        while not whole() and kills < 20 and time.monotonic() < until:
            beta.kill()
            kills += 1
            found = harness.difference(root, scene.dir / 'out/set')
            beta.start()
            cases.check((scene.dir / 'out/set').is_dir(), f'the data set is gone: {found}')
            cases.check(len(list((scene.dir / 'out/set').rglob('*.bin'))) == FILES, 'half a version stands there')
            try:
                harness.wait_until(whole, 'the update', 1)
            except AssertionError:
                pass
        harness.wait_until(whole, f'the update after {kills} kills', 60)
        cases.same(root, scene.dir / 'out/set')
        harness.wait_until(lambda: os.listdir(scene.dir / 'out') == ['set'], 'what gave way to be removed', 30)
        print(f'        killed {kills} times')


cases.run(only_what_changed_is_read_and_fetched, files_that_did_not_change_are_not_read,
          a_new_version_leaves_out_what_the_one_before_left_out, files_made_anew_with_the_old_times_are_read,
          what_a_person_changed_is_a_conflict_that_names_it, an_old_version_is_there_while_somebody_holds_it,
          a_new_version_of_another_name_is_told_to_its_publisher, only_the_owner_makes_a_version, who_may_have_it_stays_the_same,
          another_node_of_the_owner_publishes_the_next_version, a_choice_of_files_stays_one, where_nothing_changed_no_version_is_made,
          other_nodes_publish_and_take_the_next_version, what_lies_where_an_older_version_was_is_verified_as_what_it_is, killed_at_any_moment_it_goes_on)
