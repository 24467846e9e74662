#!/usr/bin/env python3
"""Clocks that are wrong: up to 48 hours work, more is refused by how much, and an impossible date is told from the certificate's."""
import os
import subprocess

import cases
import harness
from faketime import LIBRARIES, clock_off

YEARS_H = 2 * 365 * 24


def published(scene):
    scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha = scene.node(alice, 'alpha')
    source = cases.make_file(scene.dir / 'in/data.bin', 3_000_000)
    alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
    return bob, source


def with_clock(user, hours):
    """The same person at a machine whose clock is wrong."""
    other = harness.User.__new__(harness.User)
    other.__dict__.update(user.__dict__, env={**user.env, **clock_off(hours)})
    return other


def up_to_48_hours_work_for_person_and_node():
    with harness.Scene() as scene:
        bob, source = published(scene)
        for hours in (47, -47):
            off = with_clock(bob, hours)
            off.cli('whoami')
            beta = scene.node(bob, f'beta{hours}', env=clock_off(hours))
            target = scene.dir / f'out{hours}'
            done = off.cli('get', 'data', '--to', target, '--json', node=beta).event('done')
            cases.check(done['source'] == 'swarm', done)
            cases.same(source, target / 'data.bin')
            told = off.cli('doctor', node=beta)
            cases.check('1 d 23 h ' + ('behind' if hours > 0 else 'ahead') in told.out, told)


def more_than_48_hours_are_refused_by_how_much():
    with harness.Scene() as scene:
        bob, _ = published(scene)
        cases.refused(with_clock(bob, 72).cli('whoami', expect=None), 2, 'the clock of the client', "3 d 0 h ahead of the server's", 'set ')
        beta = scene.node(bob, 'beta', start=False, env=clock_off(72)).start(wait=False)
        cases.ended_with(beta, 2, 'the clock of the node', "3 d 0 h ahead of the server's", 'set ')


def a_clock_that_fails_tls_is_told_from_the_dates_of_the_certificate():
    with harness.Scene() as scene:
        bob, _ = published(scene)
        certificate = f'the certificate of {scene.the_server.address} is valid from '
        # The certificate is back-dated by 48 hours and good for a year.
        for hours, by in ((-72, ('1 d 0 h before', 'the clock is behind')), (-YEARS_H, ('728 d 0 h before', 'the clock is behind')),
                          (YEARS_H, ('365 d 0 h after', 'set the clock'))):
            cases.refused(with_clock(bob, hours).cli('search', expect=None), 5, certificate, *by)
            node = scene.node(bob, f'beta{hours}', start=False, env=clock_off(hours)).start(wait=False)
            cases.ended_with(node, 5, certificate, *by)


def a_node_whose_clock_goes_wrong_says_so_and_goes_on_once_it_is_set():
    with harness.Scene() as scene:
        bob, source = published(scene)
        beta = scene.node(bob, 'beta')
        bob.cli('get', 'data', '--to', scene.dir / 'out', node=beta)
        right = beta.env
        for hours, reason in ((72, "3 d 0 h ahead of the server's"), (-72, '1 d 0 h before')):
            beta.stop()
            beta.env = {**right, **clock_off(hours)}
            beta.start()
            harness.wait_until(lambda r=reason: r in beta.log(), f'the log to say {reason!r}')
            told = with_clock(bob, hours).cli('doctor', node=beta)
            cases.check('the node is not connected' in told.out and reason in told.out, told)
            # By this clock the server was heard days ago, or will be in days: whether it may still be seeded is not known.
            cases.check(cases.transfer_of(bob, beta, 'data')['state'] in ('complete', 'seeding'), 'it is lost')
        beta.stop()
        beta.env = right
        beta.start()
        harness.wait_until(lambda: bob.cli('node', 'show', 'beta', '--json').json['online'], 'the node to be online again', 60)
        harness.wait_until(lambda: cases.transfer_of(bob, beta, 'data')['state'] == 'seeding', 'it to seed again')
        bob.cli('verify', 'data', node=beta)
        cases.same(source, scene.dir / 'out/data.bin')


if not LIBRARIES:
    harness.skip('a clock of its own for one program needs the package faketime')
probe = subprocess.run([harness.default_bin() / 'gridtorrent', '--version'], env={**os.environ, **clock_off(1)}, capture_output=True)
if probe.returncode != 0:
    harness.skip(f'this build does not run with libfaketime: {probe.stderr.decode(errors="replace").strip()[:200]}')
cases.run(up_to_48_hours_work_for_person_and_node, more_than_48_hours_are_refused_by_how_much,
          a_clock_that_fails_tls_is_told_from_the_dates_of_the_certificate,
          a_node_whose_clock_goes_wrong_says_so_and_goes_on_once_it_is_set)
