#!/usr/bin/env python3
"""Two users of one host (user ids of their own): each has a node with the usual settings; neither reaches the other's."""
import os

import cases
import harness
import join_scene

FIRST_UID = 61_001  # of nobody: files and processes of such an id need no account


class HostUser(join_scene.Newcomer):
    def __init__(self, scene, name, uid):
        super().__init__(scene, name)
        self.uid = uid
        for path in (self.home, scene.sockets / name):
            os.chown(path, uid, uid)
            path.chmod(0o700)
        os.chown(self.password, uid, uid)

    def argv(self, args, node=None):
        return ['setpriv', f'--reuid={self.uid}', f'--regid={self.uid}', '--clear-groups', '--', *super().argv(args, node)]

    def socket(self):
        return self.scene.sockets / self.name / 'gridtorrent/control.sock'


def check_that_others_reach_the_programs(scene, user):
    probe = user.cli('--version', expect=None)
    if probe.code != 0:
        harness.skip(f'user {user.uid} cannot run the programs in {scene.bin}')


def each_has_a_node_of_their_own():
    with harness.Scene() as scene:
        for path in (scene.dir, scene.sockets):
            path.chmod(0o711)
        admin = join_scene.with_advertised_server(scene)
        mia, ben = HostUser(scene, 'mia', FIRST_UID), HostUser(scene, 'ben', FIRST_UID + 1)
        check_that_others_reach_the_programs(scene, mia)
        try:
            said = []
            for user in (mia, ben):
                said.append(user.join(admin.cli('invite', user.name, '--json').json['link']).err)
                cases.check(user.node_runs(), f'the node of {user.name} runs')
            cases.check(any('listens on free ports' in one for one in said), said)  # a node of another test may have the usual ones
            places = [user.cli('node', 'status', '--json').json for user in (mia, ben)]
            cases.check(places[0]['node_id'] != places[1]['node_id'], places)
            cases.check(places[0]['lane_ports'] and not set(places[0]['lane_ports']) & set(places[1]['lane_ports']), places)
            logs = [(user.home / '.local/state/gridtorrent/node/log').read_text() for user in (mia, ben)]
            cases.check(any('taking free ports' in log for log in logs), 'the second node says that it took other ports')

            source = cases.make_file(mia.home / 'run42', 3_000_000)
            os.chown(source, mia.uid, mia.uid)
            source.chmod(0o600)
            mia.cli('publish', source, '--name', 'run42', '--access', 'user:ben')
            ben.cli('get', 'mia/run42', '--to', ben.home / 'in', timeout_s=60)
            cases.same(source, ben.home / 'in/run42')
            cases.check((ben.home / 'in/run42').stat().st_uid == ben.uid, 'it belongs to who fetched it')

            cases.refused(ben.cli('publish', source, '--name', 'hers', expect=None), 4, 'ermission')
            cases.check(mia.socket().exists(), f'no socket at {mia.socket()}')
            cases.refused(ben.cli('transfers', '--socket', mia.socket(), expect=None), 4, "another user's node")
            for user in (mia, ben):
                open_to_others = [str(p) for p in user.home.rglob('*') if not p.is_symlink() and p.stat().st_mode & 0o007
                                  and 'in' not in p.relative_to(user.home).parts[:1]]
                cases.check(not [p for p in open_to_others if '.key' in p or 'token' in p or 'profiles' in p], open_to_others)
        finally:
            mia.stop_node()
            ben.stop_node()


if os.geteuid() != 0:
    harness.skip('two users of one host need root')
cases.run(each_has_a_node_of_their_own)
