#!/usr/bin/env python3
"""Bad input: each has its exit code and one clear line, and nothing is lost (docs/exit-codes.md)."""
import os
import signal

import cases
import harness

scene = None


def setting():
    """One scene for all cases: none of them may harm it."""
    alice, bob = scene.users['alice'], scene.users['bob']
    return alice, bob, scene.nodes['alpha'], scene.nodes['beta']


def a_missing_path_is_not_found():
    alice, _, alpha, _ = setting()
    cases.refused(alice.cli('publish', '/no/such/run', '--name', 'gone', node=alpha, expect=None), 3, '/no/such/run')


def an_empty_folder_is_refused():
    alice, _, alpha, _ = setting()
    empty = scene.dir / 'empty'
    empty.mkdir()
    cases.refused(alice.cli('publish', empty, '--name', 'empty', node=alpha, expect=None), 2, empty)


def a_name_that_is_taken_is_a_conflict():
    alice, _, alpha, _ = setting()
    other = cases.make_file(scene.dir / 'other.bin', 1000, seed=5)
    cases.refused(alice.cli('publish', other, '--name', 'data', '--access', 'public', node=alpha, expect=None), 6, 'data')


def a_name_in_the_form_of_an_id_is_refused():
    alice, _, alpha, _ = setting()
    name = 'c_' + 'a' * 26
    cases.refused(alice.cli('publish', scene.dir / 'in/data.bin', '--name', name, node=alpha, expect=None), 2, name)


def an_unknown_content_is_not_found():
    _, bob, _, beta = setting()
    cases.refused(bob.cli('get', 'nobody/nothing', '--to', scene.dir, node=beta, expect=None), 3, 'nobody/nothing')


def what_is_private_looks_like_what_does_not_exist():
    alice, bob, alpha, beta = setting()
    secret = cases.make_file(scene.dir / 'secret.bin', 1000, seed=6)
    alice.cli('publish', secret, '--name', 'secret', '--access', 'private', node=alpha)
    hidden = cases.refused(bob.cli('get', 'alice/secret', '--to', scene.dir, node=beta, expect=None), 3)
    absent = cases.refused(bob.cli('get', 'alice/absent', '--to', scene.dir, node=beta, expect=None), 3)
    cases.check(hidden.replace('secret', '*') == absent.replace('absent', '*'), f'{hidden}\n{absent}')
    cases.check('secret' not in bob.cli('search', '--json').out, 'a search shows it')


def a_foreign_file_in_the_way_is_a_conflict_and_stays():
    _, bob, _, beta = setting()
    target = scene.dir / 'occupied'
    target.mkdir()
    (target / 'data.bin').write_text('mine')
    cases.refused(bob.cli('get', 'data', '--to', target, node=beta, expect=None), 6, target / 'data.bin')
    cases.check((target / 'data.bin').read_text() == 'mine', 'the foreign file was altered')
    cases.check(os.listdir(target) == ['data.bin'], f'left behind: {os.listdir(target)}')


def a_file_where_a_folder_is_wanted_is_exit_8_and_hides_no_good_copy():
    _, bob, _, beta = setting()
    good = scene.dir / 'good'
    bob.cli('get', 'data', '--to', good, node=beta)
    for wrong in (good / 'data.bin', good / 'data.bin' / 'below'):
        cases.refused(bob.cli('get', 'data', '--to', wrong, node=beta, expect=None), 8, wrong, 'Not a directory')
    cases.same(scene.dir / 'in/data.bin', good / 'data.bin')
    bob.cli('get', 'data', '--to', scene.dir / 'better', '--refetch', node=beta)
    told = bob.cli('verify', 'data', node=beta)
    cases.check(told.out == 'alice/data: 1 file, 1.00 MB, all as published\n', told)


def strict_refuses_links_and_the_usual_way_skips_them():
    alice, _, alpha, _ = setting()
    folder = scene.dir / 'linked'
    cases.make_file(folder / 'file', 1000, seed=7)
    (folder / 'link').symlink_to('file')
    cases.refused(alice.cli('publish', folder, '--name', 'strict', '--strict', node=alpha, expect=None), 2, 'link')
    done = alice.cli('publish', folder, '--name', 'lenient', '--json', node=alpha)
    cases.check('link' in done.err, done)


def sparse(name, size):
    """A file that takes long to hash and no room."""
    path = scene.dir / name
    with open(path, 'wb') as file:
        file.truncate(size)
    return path


def a_file_that_changes_while_it_is_hashed_is_named():
    alice, _, alpha, _ = setting()
    changing = sparse('changing.bin', cases.scaled('CHANGING_BYTES', 1_000_000_000))
    publish = alice.start_cli('publish', changing, '--name', 'changing', '--json', node=alpha)
    with open(changing, 'ab') as file:  # never at rest, so that it does not matter when the hashing looks
        while publish.poll() is None:
            file.write(b'more')
            file.flush()
    out, err = publish.communicate(timeout=120)
    changing.unlink()
    cases.refused(harness.Result(['publish', changing], publish.returncode, out, err, 0), 6, changing.name)


def ctrl_c_leaves_a_publish_which_goes_on():
    alice, _, alpha, _ = setting()
    for larger in (1, 2, 4, 8):  # until it is one that the machine does not finish before the signal comes
        large, name = sparse(f'large-{larger}.bin', larger * cases.scaled('CHANGING_BYTES', 1_000_000_000)), f'large-{larger}'
        publish = alice.start_cli('publish', large, '--name', name, '--json', node=alpha)
        publish.stdout.readline()
        publish.send_signal(signal.SIGINT)
        out, err = publish.communicate(timeout=120)
        if publish.returncode != 0:
            break
    cases.refused(harness.Result(['publish', large], publish.returncode, out, err, 0), 10, 'goes on')
    done = alice.cli('publish', large, '--name', name, '--json', node=alpha).event('published')
    cases.check(done['bytes'] == large.stat().st_size, done)
    large.unlink()


def another_users_login_is_not_served_by_my_node():
    _, bob, alpha, _ = setting()
    cases.refused(bob.cli('transfers', node=alpha, expect=None), 4, 'alice')


def a_wrong_password_and_a_made_up_token_are_not_let_in():
    secret = scene.dir / 'wrong.password'
    secret.touch(mode=0o600)
    secret.write_text('alice likes something else')
    stranger = harness.User(scene, 'stranger')
    server = scene.the_server
    at = ('--server', server.address, '--ca', server.ready['ca_file'])
    cases.refused(stranger.cli('login', *at, '--user', 'alice', '--password-file', secret, expect=None), 4)
    secret.write_text('gtp_' + 'A' * 59)
    cases.refused(stranger.cli('whoami', *at, '--token-file', secret, expect=None), 4)
    cases.refused(stranger.cli('whoami', expect=None), 4, 'login')


def what_is_not_there_yet_says_so():
    alice, _, alpha, _ = setting()
    result = alice.cli('subscribe', 'climate', '--node', 'alpha', node=alpha, expect=None)
    cases.check(result.code != 0 and 'yet' in result.err, result)


def wrong_usage_is_exit_2():
    alice, _, alpha, _ = setting()
    for named, *command in (('PATH', 'publish'), ('--name', 'publish', 'data'), ('33', 'get', 'data', '--lanes', '33'), ('frobnicate', 'frobnicate'),
                            ('fast', 'get', 'data', '--limit', 'fast'), ('--ttl', 'token', 'create', '--ttl', '0s'),
                            ('one of the two', 'login', '--password-file', '/dev/null', '--token-file', '/dev/null')):
        cases.refused(alice.cli(*command, node=alpha, expect=None), 2, named)


with harness.Scene() as scene:
    scene.server()
    scene.nodes = {n: scene.node(scene.user(u), n) for u, n in (('alice', 'alpha'), ('bob', 'beta'))}
    data = cases.make_file(scene.dir / 'in/data.bin', 1_000_000)
    scene.users['alice'].cli('publish', data, '--name', 'data', '--access', 'public', node=scene.nodes['alpha'])
    cases.run(a_missing_path_is_not_found, an_empty_folder_is_refused, a_name_that_is_taken_is_a_conflict,
              a_name_in_the_form_of_an_id_is_refused, an_unknown_content_is_not_found,
              what_is_private_looks_like_what_does_not_exist, a_foreign_file_in_the_way_is_a_conflict_and_stays,
              a_file_where_a_folder_is_wanted_is_exit_8_and_hides_no_good_copy,
              strict_refuses_links_and_the_usual_way_skips_them, a_file_that_changes_while_it_is_hashed_is_named,
              ctrl_c_leaves_a_publish_which_goes_on, another_users_login_is_not_served_by_my_node,
              a_wrong_password_and_a_made_up_token_are_not_let_in, what_is_not_there_yet_says_so, wrong_usage_is_exit_2)
