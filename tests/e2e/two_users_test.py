#!/usr/bin/env python3
"""Two users of one host (user ids of their own): each has a node with the usual settings; neither reaches the other's."""
import os

import cases
import harness
import join_scene
from join_scene import FIRST_UID, HostUser


def each_has_a_node_of_their_own():
    with harness.Scene() as scene:
        admin = join_scene.with_advertised_server(scene)
        mia, ben = HostUser(scene, 'mia', FIRST_UID), HostUser(scene, 'ben', FIRST_UID + 1)
        mia.check_reach()
        try:
            said = []
            for user in (mia, ben):
                said.append(user.join(admin.cli('invite', user.name, '--json').json['link']).err)
                cases.check(user.node_runs(), f'the node of {user.name} runs')
            cases.check(any('listens on free ports' in one for one in said), said)  # a node of another test may have the usual ones
            places = [user.cli('node', 'status', '--json').json for user in (mia, ben)]
            cases.check(places[0]['node_id'] != places[1]['node_id'], places)
            cases.check(places[0]['lane_ports'] and not set(places[0]['lane_ports']) & set(places[1]['lane_ports']), places)
            logs = [(user.state / 'log').read_text() for user in (mia, ben)]
            cases.check(any('taking free ports' in log for log in logs), 'the second node says that it took other ports')

            source = cases.make_file(mia.home / 'run42', 3_000_000)
            os.chown(source, mia.uid, mia.uid)
            source.chmod(0o600)
            mia.cli('publish', source, '--name', 'run42', '--access', 'user:ben')
            ben.cli('get', 'mia/run42', '--to', ben.home / 'in', timeout_s=60)
            cases.same(source, ben.home / 'in/run42')
            cases.check((ben.home / 'in/run42').stat().st_uid == ben.uid, 'it belongs to who fetched it')

            cases.refused(ben.cli('publish', source, '--name', 'hers', expect=None), 4, 'ermission')
            hers = mia.data / 'control.sock'
            cases.check(hers.exists(), f'no socket at {hers}')
            cases.refused(ben.cli('transfers', '--socket', hers, expect=None), 4, "another user's node")
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
