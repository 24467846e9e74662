#!/usr/bin/env python3
"""Getting files to a place of one's choice: what lies there already, names, choices of files, refusals that leave nothing."""
import os
import shutil
import stat

import cases
import harness


def setting(scene, **files):
    """A folder `run` of alice, published as run-2026; bob with a node of his own."""
    scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
    run = scene.dir / 'in/run'
    for i, name in enumerate(('a.nc', 'raw/b.nc', 'raw/c1.txt', 'raw/c?.txt', 'raw/odd\nname.txt', 'notes.txt')):
        cases.make_file(run / name, 300_000 + i, seed=i)
    alice.cli('publish', run, '--name', 'run-2026', '--access', 'public', node=alpha)
    return run, alice, bob, alpha, beta


def transfers(user, node):
    return user.cli('transfers', '--json', node=node).json['transfers']


def what_is_refused_at_once_leaves_no_transfer():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        out = scene.dir / 'out'
        cases.make_file(out / 'run/raw/b.nc', 10)
        cases.refused(bob.cli('get', 'run-2026', '--to', out, node=beta, expect=None), 6, out / 'run/raw/b.nc', '--as')
        cases.make_file(scene.dir / 'else/run/mine.txt', 10)
        cases.refused(bob.cli('get', 'run-2026', '--to', scene.dir / 'else', node=beta, expect=None), 6, scene.dir / 'else/run')
        cases.refused(bob.cli('get', 'run-2026', '--to', out, '--file', 'none*', node=beta, expect=None), 3, 'none*', '--files')
        cases.refused(bob.cli('get', 'run-2026', '--to', out, '--as', 'a/b', node=beta, expect=None), 2, '--as')
        cases.check(transfers(bob, beta) == [], transfers(bob, beta))
        bob.cli('get', 'run-2026', '--to', scene.dir / 'here', node=beta)
        cases.refused(bob.cli('get', 'run-2026', '--to', out, node=beta, expect=None), 6, out / 'run/raw/b.nc')
        cases.check(len(transfers(bob, beta)) == 1, 'a copy that was refused is listed')
        cases.check(os.listdir(out) == ['run'], f'something was left behind: {os.listdir(out)}')


def files_that_lie_there_and_are_right_are_adopted():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        out = scene.dir / 'out'
        shutil.copytree(run, out / 'run')
        done = bob.cli('get', 'run-2026', '--to', out, '--json', node=beta).event('done')
        cases.check((done['source'], done['seeders']) == ('attached', []), done)
        bob.cli('transfer', 'cancel', 'run-2026', node=beta)
        harness.wait_until(lambda: transfers(bob, beta) == [], 'it to be forgotten')

        (out / 'run/raw/b.nc').unlink()
        inode = (out / 'run/a.nc').stat().st_ino
        done = bob.cli('get', 'run-2026', '--to', out, '--json', node=beta).event('done')
        cases.check(sum(s['bytes'] for s in done['seeders']) < 700_000, f'what was there was fetched: {done}')
        cases.check((out / 'run/a.nc').stat().st_ino == inode, 'a file that was there was replaced')
        cases.check(not harness.difference(run / 'raw/b.nc', out / 'run/raw/b.nc'), 'the missing file')
        bob.cli('verify', 'run-2026', node=beta)


def an_empty_folder_that_is_there_is_filled_and_stays_what_it_is():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        folder = scene.dir / 'out/run'
        folder.mkdir(parents=True)
        folder.chmod(0o750)
        before = folder.stat()
        done = bob.cli('get', 'run-2026', '--to', folder.parent, '--json', node=beta).event('done')
        cases.check(done['source'] == 'swarm' and len(transfers(bob, beta)) == 1, done)
        now = folder.stat()
        cases.check((now.st_ino, now.st_mode, now.st_gid) == (before.st_ino, before.st_mode, before.st_gid), now)
        bob.cli('verify', 'run-2026', node=beta)
        cases.check(sorted(os.listdir(folder)) == sorted(os.listdir(run)), os.listdir(folder))
        cases.check(os.listdir(folder.parent) == ['run'], os.listdir(folder.parent))
        (scene.dir / 'link/run').mkdir(parents=True)
        (scene.dir / 'link/run/mine').symlink_to('nowhere')
        cases.refused(bob.cli('get', 'run-2026', '--to', scene.dir / 'link', node=beta, expect=None), 6, scene.dir / 'link/run')
        everybodys = scene.dir / 'everybody/run'
        everybodys.mkdir(parents=True)
        everybodys.chmod(0o777)  # whoever may write there could exchange files once they are verified
        cases.refused(bob.cli('get', 'run-2026', '--to', everybodys.parent, node=beta, expect=None), 6, everybodys)


def a_get_into_an_empty_folder_that_is_cancelled_leaves_nothing():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        folder = scene.dir / 'out/run'
        folder.mkdir(parents=True)
        alpha.stop()  # it is under way until it is cancelled
        bob.cli('get', 'run-2026', '--to', folder.parent, '--detach', node=beta)
        harness.wait_until(lambda: len(os.listdir(folder.parent)) == 2, 'its staging folder to be there')
        cases.check(len(transfers(bob, beta)) == 1, transfers(bob, beta))
        bob.cli('transfer', 'cancel', 'run-2026', node=beta)
        harness.wait_until(lambda: transfers(bob, beta) == [], 'it to be forgotten')
        cases.check(os.listdir(folder.parent) == ['run'] and os.listdir(folder) == [], os.listdir(folder.parent))


def a_place_is_kept_without_the_way_that_led_there():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        build = scene.dir / 'build'
        build.mkdir()
        bob.cli('get', 'run-2026', '--to', '../out', node=beta, cwd=build)
        alice.cli('publish', '../in/run', '--name', 'again', '--access', 'public', node=alpha, cwd=build)
        build.rmdir()
        cases.make_file(run / 'more.nc', 1_000)
        alice.cli('publish', run, '--update', 'run-2026', node=alpha)
        bob.cli('get', 'run-2026', '--update', '--to', scene.dir / 'out', node=beta)
        cases.same(run, scene.dir / 'out/run')
        listed = {t['path'] for user, node in ((alice, alpha), (bob, beta)) for t in transfers(user, node)}
        cases.check(not any('..' in path for path in listed), listed)


def a_file_of_the_same_size_with_other_bytes_stays_a_conflict():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        out = scene.dir / 'out'
        shutil.copytree(run, out / 'run')
        cases.alter(out / 'run/notes.txt')
        before = (out / 'run/notes.txt').read_bytes()
        refused = bob.cli('get', 'run-2026', '--to', out, '--json', node=beta, expect=None)
        cases.check(refused.code == 6 and str(out / 'run/notes.txt') in refused.event('failed')['message'], refused)
        cases.check((out / 'run/notes.txt').read_bytes() == before, 'it was altered')
        cases.check(transfers(bob, beta) == [], transfers(bob, beta))
        os.remove(out / 'run/notes.txt')
        bob.cli('get', 'run-2026', '--to', out, node=beta)
        bob.cli('verify', 'run-2026', node=beta)


def a_further_file_that_is_there_and_right_is_adopted_too():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        out = scene.dir / 'out'
        bob.cli('get', 'run-2026', '--to', out, '--file', 'a.nc', node=beta)
        shutil.copyfile(run / 'notes.txt', out / 'run/notes.txt')
        bob.cli('get', 'run-2026', '--to', out, node=beta)
        bob.cli('verify', 'run-2026', node=beta)
        listed = transfers(bob, beta)
        cases.check(len(listed) == 1 and listed[0]['total_bytes'] == sum(300_000 + i for i in range(6)), listed)


def a_content_gets_the_name_that_is_asked_for():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        out = scene.dir / 'out'
        told = bob.cli('get', 'run-2026', '--to', out, '--limit', '100Mbit', node=beta)
        cases.check('run-2026 is called run on disk' in told.err, told)
        named = bob.cli('get', 'run-2026', '--to', out, '--as', 'mine', node=beta)
        cases.check('is called' not in named.err and named.out.endswith(f'{out}/mine\n'), named)
        cases.same(run, out / 'mine')
        bob.cli('transfer', 'cancel', cases_of(bob, beta, out / 'run'), node=beta)
        harness.wait_until(lambda: [t['state'] for t in transfers(bob, beta)] == ['seeding'], 'the other name to be seeded')
        cases.refused(bob.cli('verify', out / 'none', node=beta, expect=None), 3, out / 'none')
        bob.cli('verify', out / 'mine', node=beta)
        beta.stop()
        beta.start()
        harness.wait_until(lambda: [t['state'] for t in transfers(bob, beta)] == ['seeding'], 'it to be seeded after a restart')
        cases.check(transfers(bob, beta)[0]['path'] == str(out / 'mine'), transfers(bob, beta))
        alpha.stop()
        third = scene.user('carol')
        gamma = scene.node(third, 'gamma')
        third.cli('get', 'alice/run-2026', '--to', scene.dir / 'third', node=gamma)
        cases.same(run, scene.dir / 'third/run')


def cases_of(user, node, path):
    """The id of the transfer whose files lie there."""
    return next(t['transfer_id'] for t in transfers(user, node) if t['path'] == str(path))


def a_folder_with_another_name_is_seeded():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        shutil.copytree(run, scene.dir / 'archive/copy-7')
        cases.refused(bob.cli('seed', 'run-2026', '--from', scene.dir / 'archive', node=beta, expect=None), 3, 'run')
        done = bob.cli('seed', 'run-2026', '--from', scene.dir / 'archive/copy-7', '--json', node=beta).event('done')
        cases.check(done['path'] == str(scene.dir / 'archive/copy-7'), done)
        alpha.stop()
        carol = scene.user('carol')
        gamma = scene.node(carol, 'gamma')
        carol.cli('get', 'alice/run-2026', '--to', scene.dir / 'third', node=gamma)
        cases.same(run, scene.dir / 'third/run')


def files_are_chosen_by_the_paths_that_are_shown():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        shown = bob.cli('show', 'run-2026', '--files', 'raw', node=beta)
        lines = [line.split(None, 2)[2] for line in shown.out.splitlines()]
        cases.check(lines == ['raw/b.nc', 'raw/c1.txt', 'raw/c?.txt', 'raw/odd\\nname.txt'], shown)
        lines.remove('raw/c1.txt')
        cases.refused(bob.cli('show', 'run-2026', '--files', 'none', node=beta, expect=None), 3, 'none')
        first = bob.cli('show', 'run-2026', '--files', '--limit', '2', '--json').json
        rest = bob.cli('show', 'run-2026', '--files', '--limit', '9', '--page', first['next_page'], '--json').json
        cases.check(len(first['files']) == 2 and len(rest['files']) == 4 and rest['next_page'] is None, (first, rest))
        tree = bob.cli('show', 'run-2026', '--files', '--tree').out.splitlines()
        cases.check(tree[0].split() == ['1.80', 'MB', 'run/'] and tree[-2].endswith('    c?.txt'), tree)
        wish = [part for name in (*lines, 'none*') for part in ('--file', name)]
        got = bob.cli('get', 'run-2026', '--to', scene.dir / 'out', *wish, node=beta)
        cases.check("warning: no file matches 'none*'" in got.err, got)
        names = sorted(p.name for p in (scene.dir / 'out').rglob('*') if p.is_file())
        cases.check(names == ['b.nc', 'c?.txt', 'odd\nname.txt'], names)


def a_get_gives_up_where_nobody_serves_or_time_is_over():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        timed = bob.cli('get', 'run-2026', '--to', scene.dir / 'slow', '--limit', '1Mbit', '--timeout', '1s', '--json', node=beta, expect=None)
        cases.check(timed.code == 9 and timed.event('failed')['exit_code'] == 9, timed)
        bob.cli('transfer', 'cancel', 'run-2026', node=beta)
        harness.wait_until(lambda: transfers(bob, beta) == [], 'it to be cancelled')
        bob.cli('get', 'run-2026', '--to', scene.dir / 'served', '--if-seeded', node=beta)
        bob.cli('transfer', 'cancel', 'run-2026', node=beta)
        alpha.stop()
        harness.wait_until(lambda: bob.cli('show', 'run-2026', '--json').json['seeders'] == 0, 'no seeder to be left')
        cases.refused(bob.cli('get', 'run-2026', '--to', scene.dir / 'out', '--if-seeded', node=beta, expect=None), 5, 'nobody serves')
        cases.check(transfers(bob, beta) == [], transfers(bob, beta))


def a_new_folder_and_what_is_fetched_have_the_modes_that_the_caller_would_give_them():
    with harness.Scene() as scene:
        run, alice, bob, alpha, beta = setting(scene)
        (run / 'a.nc').chmod(0o666)
        alice.cli('publish', run, '--update', 'run-2026', node=alpha)
        for mask, mode in ((0o027, 0o750), (0o002, 0o775), (0o777, 0o700)):
            target = scene.dir / f'new-{mask:o}/folder'
            before = os.umask(mask)
            try:
                bob.cli('get', 'run-2026', '--to', target, '--refetch', node=beta)
            finally:
                os.umask(before)
            for folder in (target, target.parent):
                found = stat.S_IMODE(folder.stat().st_mode)
                cases.check(found == mode, f'{folder} has {found:o}, not {mode:o}')
            found = stat.S_IMODE((target / 'run/a.nc').stat().st_mode)
            cases.check(found == 0o666 & ~(mask & 0o077), f'a file has {found:o} under a umask of {mask:o}')


cases.run(what_is_refused_at_once_leaves_no_transfer, files_that_lie_there_and_are_right_are_adopted,
          an_empty_folder_that_is_there_is_filled_and_stays_what_it_is, a_get_into_an_empty_folder_that_is_cancelled_leaves_nothing,
          a_place_is_kept_without_the_way_that_led_there,
          a_file_of_the_same_size_with_other_bytes_stays_a_conflict, a_further_file_that_is_there_and_right_is_adopted_too,
          a_content_gets_the_name_that_is_asked_for, a_folder_with_another_name_is_seeded, files_are_chosen_by_the_paths_that_are_shown,
          a_get_gives_up_where_nobody_serves_or_time_is_over, a_new_folder_and_what_is_fetched_have_the_modes_that_the_caller_would_give_them)
