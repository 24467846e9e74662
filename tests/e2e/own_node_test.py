#!/usr/bin/env python3
"""A person's own node: where it has its data, where commands find it, what it is called, and what it takes from the shell that started it."""
import os
import pathlib
import shutil
import subprocess

import cases
import harness
from join_scene import FIRST_UID, HostUser, Newcomer, with_advertised_server

NETWORK_DISK = harness.default_bin().resolve().parent / 'tests/libgt_network_disk.so'
OWN_NODE_UID = FIRST_UID + 10  # of no other test


class ClusterUser(Newcomer):
    """Somebody with one home on several hosts; `host` is where the next command runs."""
    host = 'login1'

    def argv(self, args, node=None):
        return ['unshare', '--uts', '--', 'sh', '-c', 'hostname "$0" && exec "$@"', self.host, *super().argv(args, node)]


def link_for(admin, name):
    return admin.cli('invite', name, '--json').json['link']


def status(user):
    return user.cli('node', 'status', '--json').json


def on_network_disk(folder):
    """The environment of a program for which this folder is on NFS."""
    if harness.sanitized():
        harness.skip('a sanitizer wants to be loaded before anything else')
    return {'LD_PRELOAD': str(NETWORK_DISK), 'GT_TEST_NETWORK_DISK': str(folder)}


def with_network_home(scene, name):
    user = Newcomer(scene, name)
    user.env.update(on_network_disk(user.home))
    return user


def a_daemon_on_a_network_disk_does_not_enrol():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        node = scene.node(alice, 'alpha', start=False, env=on_network_disk(scene.dir / 'node-alpha'))
        node.start(wait=False)
        cases.ended_with(node, 1, 'lies on NFS', '--data-dir', node.data)
        cases.check([t['uses_left'] for t in alice.cli('token', 'list', '--json').json['tokens'] if t['kind'] == 'enroll'] == [1], 'the token was used')
        cases.check(alice.cli('node', 'list', '--json').json['nodes'] == [], 'a node was enrolled')


def a_home_on_a_network_disk_is_told_before_anything_is_made():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia, ben = with_network_home(scene, 'mia'), with_network_home(scene, 'ben')
        source = cases.make_file(scene.dir / 'in/run42', 100_000)
        link, local = link_for(admin, 'mia'), scene.dir / 'local'
        local.mkdir()
        try:
            cases.refused(mia.join(link, expect=None), 1, 'lies on NFS', '--data-dir', mia.data)
            cases.check([u['name'] for u in admin.cli('user', 'list', '--json').json['users']] == ['admin'], 'no account was made')
            ben.join(link_for(admin, 'ben'), '--no-node')
            for command in (('node', 'start'), ('publish', source, '--name', 'run42'), ('get', 'run42')):
                cases.refused(ben.cli(*command, expect=None), 1, 'lies on NFS', "'gridtorrent node start'", '--data-dir')
            cases.check([t for t in ben.cli('token', 'list', '--json').json['tokens'] if t['kind'] == 'enroll'] == [], 'no token was made')
            cases.check(not (mia.data.exists() or ben.data.exists()), 'no folder was made on the network disk')

            mia.join(link, '--data-dir', local / 'mia')
            first = status(mia)
            cases.check(first['data_dir'] == str(local / 'mia'), first)
            cases.refused(mia.cli('node', 'start', '--data-dir', local / 'other', expect=None), 6, local / 'mia', 'node stop')
            mia.cli('publish', source, '--name', 'run42', '--access', 'public')
            mia.cli('node', 'stop')
            mia.cli('publish', source, '--name', 'run43', '--access', 'public')
            again = status(mia)
            cases.check((again['node_id'], again['data_dir']) == (first['node_id'], first['data_dir']), again)
            ben.cli('node', 'start', '--data-dir', local / 'ben')
            ben.cli('get', 'mia/run42', '--to', scene.dir / 'out')
            cases.same(source, scene.dir / 'out/run42')
        finally:
            mia.stop_node()
            ben.stop_node()


def a_data_folder_that_others_may_write_in_is_refused():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        shared = scene.dir / 'shared'
        shared.mkdir()
        shared.chmod(0o1777)
        cases.refused(mia.join(link_for(admin, 'mia'), '--data-dir', shared, expect=None), 4, shared, 'of your own')


def hosts_that_share_a_home_have_a_node_each():
    if os.geteuid() != 0:
        harness.skip('another name of the host needs root')
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = ClusterUser(scene, 'mia')
        mia.join(link_for(admin, 'mia'), '--no-node')
        try:
            found = {}
            for host in ('login1', 'login2'):
                mia.host = host
                mia.cli('node', 'start', '--data-dir', scene.dir / 'disk-of' / host)
                found[host] = status(mia)
                cases.check(found[host]['data_dir'] == str(scene.dir / 'disk-of' / host), found)
                cases.check(found[host]['node'] == host, found)
            cases.check(found['login1']['node_id'] != found['login2']['node_id'], found)
            mia.host = 'login1'
            cases.check(status(mia)['node_id'] == found['login1']['node_id'], 'the node of the first host is found there')
            mia.cli('node', 'stop')
            cases.check(not mia.node_runs(), 'it has ended')
            mia.host = 'login2'
            cases.check(status(mia)['node_id'] == found['login2']['node_id'], 'the other one runs on')
            mia.cli('node', 'stop')
            mia.cli('node', 'start')
            cases.check(status(mia)['node_id'] == found['login2']['node_id'], 'what was chosen here is remembered')
        finally:
            for mia.host in ('login1', 'login2'):
                mia.stop_node()


def a_node_is_found_with_and_without_a_session():
    if os.geteuid() != 0:
        harness.skip('a session of another user needs root')
    session = pathlib.Path(f'/run/user/{OWN_NODE_UID}')
    by_hand = None
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = HostUser(scene, 'mia', OWN_NODE_UID)
        mia.check_reach()
        shutil.rmtree(session, ignore_errors=True)  # of a run that was killed
        try:
            session.mkdir(mode=0o700, parents=True)
            os.chown(session, mia.uid, mia.uid)
            del mia.env['XDG_RUNTIME_DIR']  # as by cron or sudo
            mia.join(link_for(admin, 'mia'))
            node = status(mia)['node_id']
            mia.env['XDG_RUNTIME_DIR'] = str(session)
            cases.check(status(mia)['node_id'] == node, 'found from a session')
            mia.cli('node', 'stop')

            # As systemd starts it: it listens in the folder of the session.
            by_hand = subprocess.Popen(mia.as_self(scene.bin / 'gridtorrentd', '--data-dir', mia.data), env=mia.env, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            harness.wait_until(mia.node_runs, 'the node to run')
            cases.check(status(mia)['socket'].startswith(str(session)), status(mia))
            for runtime in (None, '/root', '/run/user/0'):  # none, and those of another user, as su and runuser leave them
                mia.env.pop('XDG_RUNTIME_DIR')
                if runtime:
                    mia.env['XDG_RUNTIME_DIR'] = runtime
                cases.check('runs already' in mia.cli('node', 'start').err, f'not found with XDG_RUNTIME_DIR={runtime}')
                mia.env['XDG_RUNTIME_DIR'] = ''
        finally:
            if by_hand:
                by_hand.terminate()
                by_hand.wait()
            mia.stop_node()
            shutil.rmtree(session, ignore_errors=True)


def variables_of_the_shell_are_not_the_nodes():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        mia.env.update({'GRIDTORRENT_DATA_DIR': str(scene.dir / 'of-a-job'), 'GRIDTORRENT_MAX_FETCHING': 'many',
                        'GRIDTORRENT_ENROLL_TOKEN_FILE': '/nowhere'})
        try:
            mia.join(link_for(admin, 'mia'))
            cases.check(status(mia)['data_dir'] == str(mia.data), status(mia))
        finally:
            mia.stop_node()


def a_node_starts_by_what_the_configuration_says():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        config, listens_at = mia.home / 'config/gridtorrent', str(scene.sockets / 'mia/own.sock')
        config.mkdir(parents=True, exist_ok=True)
        (config / 'gridtorrent.toml').write_text(f'socket = "{listens_at}"\n')
        (config / 'gridtorrentd.toml').write_text('name = "of-a-habit"\n')
        link = link_for(admin, 'mia')
        cases.refused(mia.join(link, '--no-node', '--data-dir', scene.dir / 'local', expect=None), 2, '--data-dir', '--no-node')
        try:
            mia.join(link)
            found = status(mia)
            cases.check(found['socket'] == listens_at, found)
            cases.check(found['node'] not in ('', 'of-a-habit'), found)
            mia.cli('node', 'stop')
            mia.cli('publish', cases.make_file(scene.dir / 'in/run42', 10_000), '--name', 'run42')
            again = status(mia)
            cases.check((again['socket'], again['node_id']) == (listens_at, found['node_id']), again)
            mia.cli('node', 'stop')
            other = scene.sockets / 'mia/other.sock'
            cases.refused(mia.cli('get', 'run42', '--socket', other, expect=None), 5, 'no node answers at ' + str(other))
            cases.check(not mia.node_runs(), 'a node was started')
        finally:
            mia.stop_node()


def commands_that_start_at_once_start_one_node():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        mia = Newcomer(scene, 'mia')
        mia.join(link_for(admin, 'mia'), '--no-node')
        try:
            for begin in ('new', 'known'):
                files = [cases.make_file(scene.dir / f'in/{begin}-{i}', 10_000, i) for i in range(3)]
                running = [mia.start_cli('publish', file, '--name', file.name) for file in files]
                for command in running:
                    out, err = command.communicate(timeout=harness.CLI_TIMEOUT_S)
                    cases.check(command.returncode == 0, f'{out}{err}')
                cases.check(len(mia.cli('node', 'list', '--json').json['nodes']) == 1, 'one node')
                mia.cli('node', 'stop')
        finally:
            mia.stop_node()


def a_second_machine_of_the_same_name_gets_a_name_of_its_own():
    with harness.Scene() as scene:
        admin = with_advertised_server(scene)
        machines = [Newcomer(scene, name) for name in ('mia', 'mia-2', 'mia-3')]  # one person
        for machine in machines:
            machine.password.write_text('mia likes long passphrases')
        first, second, third = machines
        link = link_for(admin, 'mia')  # used up by the first, and good for who has the account
        try:
            for machine in (first, second):
                machine.join(link, '--user', 'mia')
            names = [status(machine)['node'] for machine in (first, second)]
            cases.check(all(names) and names[0] != names[1], names)
            listed = [n['name'] for n in first.cli('node', 'list', '--json').json['nodes']]
            cases.check(sorted(listed) == sorted(names), (listed, names))
            third.join(link, '--user', 'mia', '--no-node')
            cases.refused(third.cli('node', 'start', '--name', names[0], expect=None), 6, f'a node named {names[0]}')
            # What a person did not ask for is taken by another meanwhile: no reason to refuse.
            second.cli('node', 'remove', names[1], '--yes')
            harness.wait_until(lambda: not second.node_runs(), 'the removed node to end', 60)
            third.cli('node', 'start', '--name', names[1])
            second.cli('node', 'reenroll')
            cases.check(status(second)['node'] not in ('', names[1]), status(second))
        finally:
            for machine in machines:
                machine.stop_node()


cases.run(a_daemon_on_a_network_disk_does_not_enrol, a_home_on_a_network_disk_is_told_before_anything_is_made, a_data_folder_that_others_may_write_in_is_refused,
          hosts_that_share_a_home_have_a_node_each, a_node_is_found_with_and_without_a_session, variables_of_the_shell_are_not_the_nodes,
          a_node_starts_by_what_the_configuration_says, commands_that_start_at_once_start_one_node, a_second_machine_of_the_same_name_gets_a_name_of_its_own)
