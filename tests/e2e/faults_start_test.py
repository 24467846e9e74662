#!/usr/bin/env python3
"""Programs that cannot start say why in one line; what cannot be trusted or reached is named."""
import shutil
import socket
import subprocess

import cases
import harness


def a_wrong_certificate_is_named_by_command_line_and_node():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        other = scene.dir / 'other-ca.pem'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=other',
                        '-days', '2', '-keyout', '/dev/null', '-out', other], check=True, capture_output=True)
        server = scene.the_server.address
        cases.refused(alice.cli('--ca', other, 'whoami', expect=None), 5, f'certificate of {server}', 'not signed by', other)
        node = scene.node(alice, 'alpha', start=False)
        node.argv[node.argv.index('--ca') + 1] = str(other)
        node.start(wait=False)
        cases.ended_with(node, 5, f'certificate of {server}', 'not signed by')


def a_port_in_use_is_a_conflict():
    with harness.Scene() as scene, socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = harness.Server(scene, 'second', listen=f'127.0.0.1:{port}')
        scene.daemons.append(server)
        server.start(wait=False)
        cases.ended_with(server, 6, port)
        scene.server()
        node = scene.node(scene.user('alice'), 'alpha', start=False, ports=str(port), args=())
        node.start(wait=False)
        cases.ended_with(node, 6, port)


def two_daemons_on_one_data_folder_are_a_conflict():
    with harness.Scene() as scene:
        server = scene.server()
        alpha = scene.node(scene.user('alice'), 'alpha')
        for first, argument, value in ((server, '--listen', '127.0.0.1:0'), (alpha, '--socket', scene.sockets / 'twin.sock')):
            argv = list(first.argv)
            argv[argv.index(argument) + 1] = str(value)
            twin = harness.Daemon(scene, f'{first.name}-twin', argv)
            scene.daemons.append(twin)
            twin.start(wait=False)
            cases.ended_with(twin, 6, first.data)
            cases.check(first.running(), f'{first.name} ended')


def a_wrong_ca_at_a_later_start_costs_nothing():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        alpha.stop()
        at = alpha.argv.index('--ca')
        right, wrong = alpha.argv[at + 1], scene.dir / 'wrong.pem'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=wrong',
                        '-days', '2', '-keyout', '/dev/null', '-out', wrong], check=True, capture_output=True)
        alpha.argv[at + 1] = str(wrong)
        alpha.start()
        harness.wait_until(lambda: 'not signed by' in alpha.log(), 'the node to say that the CA is wrong')
        alpha.stop()
        del alpha.argv[at:at + 2]
        before = alpha.log().count('connected to the server')
        alpha.start()
        harness.wait_until(lambda: alpha.log().count('connected to the server') > before, f'the node to go on with {right}')


def an_enrolment_token_is_good_once():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        argv = [a.replace('node-alpha', 'node-thief').replace('alpha.sock', 'thief.sock') for a in alpha.argv]
        argv[argv.index('--name') + 1] = 'thief'
        twin = harness.Daemon(scene, 'thief', argv)
        scene.daemons.append(twin)
        twin.start(wait=False)
        cases.ended_with(twin, 4)
        alpha.stop()
        shutil.rmtree(scene.dir / 'node-thief', ignore_errors=True)
        alpha.start()
        cases.check(alpha.running(), 'the node needs its token no more')


def a_node_without_a_server_says_so_at_enrolment():
    with harness.Scene() as scene:
        server = scene.server()
        node = scene.node(scene.user('alice'), 'alpha', start=False)
        address = server.address
        server.stop()
        node.start(wait=False)
        cases.ended_with(node, 5, address)


def an_orderly_end_is_exit_0():
    with harness.Scene() as scene:
        server = scene.server()
        alpha = scene.node(scene.user('alice'), 'alpha')
        cases.check(alpha.stop() == 0, alpha.log())
        cases.check(not alpha.socket.exists(), 'the control socket is left behind')
        cases.check(server.stop() == 0, server.log())


cases.run(a_wrong_certificate_is_named_by_command_line_and_node, a_wrong_ca_at_a_later_start_costs_nothing, a_port_in_use_is_a_conflict,
          two_daemons_on_one_data_folder_are_a_conflict, an_enrolment_token_is_good_once,
          a_node_without_a_server_says_so_at_enrolment, an_orderly_end_is_exit_0)
