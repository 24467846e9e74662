#!/usr/bin/env python3
"""What of a folder is published: symbolic links, patterns, the ignore file; and what a dry run says of it."""
import os

import cases
import harness


def folder_with_links(scene):
    top = scene.dir / 'in/run'
    cases.make_file(top / 'raw/a.h5', 400_000)
    cases.make_file(top / 'raw/b.tmp', 1_000)
    cases.make_file(top / 'notes/today', 1_000)
    os.symlink('raw/a.h5', top / 'best')
    os.symlink('../raw', top / 'notes/data')
    return top


def links(top):
    return {os.path.relpath(path, top): os.readlink(path) for folder, folders, files in os.walk(top)
            for path in (os.path.join(folder, name) for name in folders + files) if os.path.islink(path)}


def kept_links_arrive_and_others_are_refused_by_name():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        top = folder_with_links(scene)
        os.symlink('../../secret', top / 'notes/out')
        refused = alice.cli('publish', top, '--name', 'run', '--links', 'keep', node=alpha, expect=None)
        cases.refused(refused, 2, 'run/notes/out', "'../../secret' leads outside", '--links skip')
        skipped = alice.cli('publish', top, '--name', 'plain', '--access', 'public', '--json', node=alpha).event('published')
        cases.check(skipped['skipped'] == 3, skipped)
        os.unlink(top / 'notes/out')

        alice.cli('publish', top, '--name', 'run', '--access', 'public', '--links', 'keep', node=alpha)
        bob.cli('get', 'run', '--to', scene.dir / 'out', node=beta)
        cases.check(links(scene.dir / 'out/run') == links(top) == {'best': 'raw/a.h5', 'notes/data': '../raw'}, links(scene.dir / 'out/run'))
        cases.check((scene.dir / 'out/run/raw/a.h5').read_bytes() == (top / 'raw/a.h5').read_bytes(), 'other bytes')
        bob.cli('verify', 'run', node=beta)
        listed = {f['path']: f for f in bob.cli('show', 'run', '--manifest', 'merkle', '--json').json['files']}
        cases.check(listed['run/best']['link'] == 'raw/a.h5' and not listed['run/best']['folder'], listed)

        # What somebody bent is found, and what got lost comes again.
        os.unlink(scene.dir / 'out/run/best')
        os.symlink('/etc/passwd', scene.dir / 'out/run/best')
        found = bob.cli('verify', 'run', node=beta, expect=7)
        cases.check('run/best: leads elsewhere' in found.out + found.err, found)
        os.unlink(scene.dir / 'out/run/best')
        bob.cli('get', 'run', '--to', scene.dir / 'out', node=beta)
        cases.check(links(scene.dir / 'out/run') == links(top), links(scene.dir / 'out/run'))
        bob.cli('get', 'run', '--to', scene.dir / 'some', '--file', 'notes', node=beta)
        cases.check(links(scene.dir / 'some/run') == {'notes/data': '../raw'}, links(scene.dir / 'some/run'))


def patterns_and_the_ignore_file_choose_and_a_dry_run_says_why():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha', args=('--share-root', f'data={scene.dir / "in"}'))
        top = folder_with_links(scene)
        for i in range(9):
            os.symlink('nowhere', top / f'raw/link{i}')
        (top / '.gridtorrentignore').write_text('# scratch\n*.tmp\n')
        look = lambda *args, **more: alice.cli('publish', top, '--name', 'run', '--dry-run', *args, node=alpha, **more)

        said = look('--exclude', 'notes')
        cases.check('would publish run: ' in said.out and 'in 2 files' in said.out, said)
        for part in ("run/raw/b.tmp': ignored by line 2 of .gridtorrentignore", "run/notes': excluded by 'notes'", 'a symbolic link', 'and 5 more'):
            cases.check(part in said.err, (part, said))
        told = look('--include', '*.h5', '--links', 'keep', '--json').event('scanned')
        cases.check((told['files'], told['links'], told['skipped']) == (1, 0, 0) and told['exclusions'], told)
        cases.refused(look('--exclude', '*', expect=None), 2, 'no entries that can be published')
        cases.check(alice.cli('search', '--json').json['contents'] == [], 'a dry run publishes nothing')

        done = alice.cli('publish', top, '--name', 'run', '--exclude', 'notes', '--json', node=alpha)
        cases.check(done.event('published')['files'] == 2, done)
        warned = [line for line in done.err.splitlines() if line.startswith('warning: ')]
        cases.check(len(warned) == 5 and 'and 5 more' in done.err, done)
        cases.check(len([e for e in done.events if e['event'] == 'warning']) == 10, 'scripts get all of them')

        # The same as a task of the node.
        alice.cli('publish', 'data:run', '--name', 'task', '--exclude', 'raw', '--links', 'keep', '--node', alpha.node_id)
        paths = [f['path'] for f in alice.cli('show', 'task', '--manifest', 'merkle', '--json').json['files']]
        cases.check('run/notes/data' in paths and not any(p.startswith('run/raw') for p in paths), paths)


def followed_links_arrive_as_files_and_are_seeded_after_a_restart():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha', args=('--share-root', f'data={scene.dir / "in"}')), scene.node(bob, 'beta')
        top = folder_with_links(scene)
        cases.make_file(scene.dir / 'archive/2024/c.h5', 700_000)
        os.symlink(scene.dir / 'archive', top / 'archive')
        os.symlink('gone', top / 'dangling')
        said = alice.cli('publish', top, '--name', 'run', '--dry-run', '--links', 'follow', node=alpha)
        cases.check('in 7 files, 3 symbolic links followed' in said.out and 'leads to nothing' in said.err, said)
        done = alice.cli('publish', top, '--name', 'run', '--access', 'public', '--links', 'follow', '--json', node=alpha).event('published')
        cases.check((done['files'], done['skipped']) == (7, 1), done)
        alpha.stop()
        alpha.start()
        bob.cli('get', 'run', '--to', scene.dir / 'out', node=beta)
        cases.check(links(scene.dir / 'out/run') == {}, 'links arrived')
        for path in ('best', 'notes/data/a.h5', 'notes/data/b.tmp', 'archive/2024/c.h5'):
            cases.check((scene.dir / 'out/run' / path).read_bytes() == (top / path).read_bytes(), path)
        bob.cli('verify', 'run', node=beta)
        alice.cli('verify', 'run', node=alpha)

        # Forgotten and seeded again, from where the links lead.
        started = [t['transfer_id'] for t in alice.cli('transfers', '--json', node=alpha).json['transfers']]
        alice.cli('transfer', 'forget', started[0], node=alpha)
        alice.cli('seed', 'run', '--from', top, node=alpha)
        bob.cli('get', 'run', '--to', scene.dir / 'again', '--refetch', node=beta)

        # What a link leads to by now is other data, and no longer offered.
        os.unlink(top / 'best')
        os.symlink(top / 'raw/b.tmp', top / 'best')
        found = alice.cli('verify', 'run', node=alpha, expect=7)
        cases.check('run/best: size' in found.out + found.err, found)

        refused = alice.cli('publish', 'data:run', '--name', 'task', '--links', 'follow', '--node', alpha.node_id, expect=None)
        cases.refused(refused, 4, 'below a named root', 'no symbolic link is followed', '--links skip or keep')


cases.run(kept_links_arrive_and_others_are_refused_by_name, followed_links_arrive_as_files_and_are_seeded_after_a_restart,
          patterns_and_the_ignore_file_choose_and_a_dry_run_says_why)
