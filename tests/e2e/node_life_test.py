#!/usr/bin/env python3
"""A node's life: it takes its places before it enrols, is removed, renamed, and enrolled anew while it goes on with its work."""
import socket
import time

import cases
import harness

RIGHTS_END_S = 5  # of a node, after it was removed
SLACK_S = 10  # for a slow disk under the server, and for the looks that find out


def transfer(user, node, content):
    return cases.transfer_of(user, node, content)


def private_transfer_under_way(scene, owner, size=60_000_000):
    """Two nodes of one person; the second fetches slowly from the first. Returns both and the source."""
    alpha, beta = scene.node(owner, 'alpha'), scene.node(owner, 'beta')
    source = cases.make_file(scene.dir / 'in/data.bin', size)
    owner.cli('publish', source, '--name', 'data', '--access', 'private', node=alpha)
    owner.cli('get', 'data', '--to', scene.dir / 'out', '--limit', '16Mbit', '--lanes', 2, '--detach', node=beta)
    cases.wait_transfer(owner, beta, 'data', lambda t: t['verified_bytes'] > 2_000_000, 'the first bytes')
    return alpha, beta, source


def log_in_again(scene, user):
    user.cli('login', '--password-file', scene.dir / f'{user.name}.password')


def a_removed_node_ends_and_its_name_is_free():
    with harness.Scene() as scene:
        scene.server()
        admin, alice, bob = scene.admin(), scene.user('alice'), scene.user('bob')
        alpha, beta, _ = private_transfer_under_way(scene, alice)
        cases.refused(bob.cli('node', 'remove', 'alice/beta', '--yes', expect=None), 3, 'alice/beta')
        cases.refused(alice.cli('node', 'remove', 'beta', expect=None), 2, '--yes')
        cases.refused(alice.cli('node', 'remove', 'gamma', '--yes', expect=None), 3, 'gamma', 'node list')
        removed = admin.cli('node', 'remove', 'alice/beta', '--yes', '--json').json
        cases.check(removed == {'node_id': beta.node_id, 'node': 'beta', 'removed': True}, removed)
        started = time.monotonic()
        harness.wait_until(lambda: all(t['lanes'] == 0 for t in alice.cli('transfers', '--json', node=alpha).json['transfers']),
                           f'the lanes to the removed node to end, for which {RIGHTS_END_S} s are asked', RIGHTS_END_S + SLACK_S)
        print(f'        lanes ended after {time.monotonic() - started:.2f} s (asked: {RIGHTS_END_S} s)')
        cases.ended_with(beta, 4, beta.node_id, 'was removed', 'beta of alice', 'node start', '--enroll-token-file')
        cases.check(not beta.socket.exists() and not beta.ready_file.exists(), 'it ended in order')
        beta.start(wait=False)
        cases.ended_with(beta, 4)
        names = [n['name'] for n in alice.cli('node', 'list', '--json').json['nodes']]
        cases.check(names == ['alpha'], names)
        records = admin.cli('audit', '--action', 'node.remove', '--json').json['records']
        cases.check([(r['actor'], r['object']) for r in records] == [('admin', beta.node_id)], records)


def a_removed_node_comes_back_as_another_with_its_transfers():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha, beta, source = private_transfer_under_way(scene, alice, 20_000_000)
        before = beta.node_id
        alice.cli('node', 'remove', 'beta', '--yes')
        cases.ended_with(beta, 4, 'was removed')
        token = scene.dir / 'beta.enroll'
        token.write_text(alice.cli('node', 'enroll-token', '--name', 'beta', '--json').json['token'])
        beta.start()
        cases.check(beta.node_id != before and beta.ready['node_name'] == 'beta', beta.ready)
        cases.wait_transfer(alice, beta, 'data', lambda t: t['state'] == 'seeding', 'what was under way to be fetched')
        cases.same(source, scene.dir / 'out/data.bin')


def a_renamed_node_knows_its_name():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(alice, 'beta')
        cases.refused(alice.cli('node', 'rename', 'beta', 'alpha', expect=None), 6, 'alpha')
        cases.refused(alice.cli('node', 'rename', 'beta', 'Beta!', expect=None), 2, 'node name')
        renamed = alice.cli('node', 'rename', 'beta', 'desk', '--json').json
        cases.check((renamed['node_id'], renamed['name']) == (beta.node_id, 'desk'), renamed)

        def told():
            return alice.cli('node', 'status', '--json', node=beta).json['node']
        harness.wait_until(lambda: told() == 'desk', 'the running node to hear of it', harness.SOON_S)
        alpha.stop()
        alice.cli('node', 'rename', 'alpha', 'beta')
        alpha.start()
        harness.wait_until(lambda: alice.cli('node', 'status', '--json', node=alpha).json['node'] == 'beta',
                           'the node that was away to hear of it', harness.SOON_S)
        beta.stop()
        beta.start()
        cases.check(beta.ready['node_name'] == 'desk', beta.ready)


def a_node_goes_on_after_its_owner_was_disabled_and_enabled():
    with harness.Scene() as scene:
        scene.server()
        admin, alice, bob = scene.admin(), scene.user('alice'), scene.user('bob')
        alpha, beta, source = private_transfer_under_way(scene, alice)
        cases.check('credentials of nodes' in admin.cli('user', 'disable', 'alice').err, 'the line names them')
        cases.check('node reenroll' in admin.cli('user', 'enable', 'alice').err, 'the line names the way out')
        cases.refused(alice.cli('node', 'reenroll', node=beta, expect=None), 4, 'login')
        log_in_again(scene, alice)

        def fix():
            checks = alice.cli('doctor', '--json', node=beta).json['checks']
            return next(c for c in checks if c['check'] == 'node_server')['fix']
        harness.wait_until(lambda: fix() == 'gridtorrent node reenroll', 'the doctor to name the command', 90)
        cases.refused(bob.cli('node', 'reenroll', node=beta, expect=None), 4, 'belongs to user alice')
        pids = [node.process.pid for node in (alpha, beta)]
        for node in (alpha, beta):
            done = alice.cli('node', 'reenroll', '--json', node=node).json
            cases.check(done['node_id'] == node.node_id and not done['restart_needed'], done)
        t = transfer(alice, beta, 'data')
        alice.cli('transfer', 'set', t['transfer_id'], '--limit', '0', node=beta)
        cases.wait_transfer(alice, beta, 'data', lambda t: t['state'] == 'seeding', 'the transfer to go on')
        cases.same(source, scene.dir / 'out/data.bin')
        cases.check([node.process.pid for node in (alpha, beta)] == pids and alpha.running() and beta.running(), 'both run on')
        beta.kill()
        beta.start()
        harness.wait_until(lambda: alice.cli('node', 'status', '--json', node=beta).json['server_connected'],
                           'the credential to be there after kill -9')


def a_taken_place_costs_no_enrolment():
    with harness.Scene() as scene, socket.socket() as port, socket.socket(socket.AF_UNIX) as control:
        scene.server()
        alice = scene.user('alice')
        port.bind(('127.0.0.1', 0))
        port.listen()
        taken = scene.sockets / 'taken.sock'
        control.bind(str(taken))
        control.listen()

        def uses():
            tokens = alice.cli('token', 'list', '--json').json['tokens']
            return [t['uses_left'] for t in tokens if t['kind'] == 'enroll']
        node = scene.node(alice, 'alpha', start=False)
        right = list(node.argv)
        places = (('--lane-ports', str(port.getsockname()[1])), ('--socket', str(taken)),
                  ('--metrics-listen', f'127.0.0.1:{port.getsockname()[1]}'))
        for option, value in places:
            node.argv = right + [option, value]  # of an option given twice the last counts
            node.start(wait=False)
            cases.ended_with(node, 6, value.rpartition(':')[2])
            cases.check(uses() == [1], f'{option}: the token was used')
            cases.check(alice.cli('node', 'list', '--json').json['nodes'] == [], f'{option}: a node was enrolled')
        node.argv = right
        node.start()
        cases.check(uses() == [0], 'now it is')


def a_port_of_the_range_that_is_in_use_is_left_out():
    with harness.Scene() as scene, socket.socket() as port:
        scene.server()
        alice = scene.user('alice')
        first = harness.free_ports(4)
        port.bind(('0.0.0.0', first + 1))
        port.listen()
        node = scene.node(alice, 'alpha', start=False)
        node.argv += ['--lane-ports', f'{first}-{first + 3}']
        node.start()
        plain = {endpoint['port'] for endpoint in node.ready['lane_endpoints'] if not endpoint['tls']}
        cases.check(plain == {first, first + 2, first + 3}, plain)
        cases.check('--lane-ports: 1 of 4 ports' in node.log(), node.log())


if __name__ == '__main__':
    cases.run(a_removed_node_ends_and_its_name_is_free, a_removed_node_comes_back_as_another_with_its_transfers,
              a_renamed_node_knows_its_name, a_node_goes_on_after_its_owner_was_disabled_and_enabled,
              a_taken_place_costs_no_enrolment, a_port_of_the_range_that_is_in_use_is_left_out)
