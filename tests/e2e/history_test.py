#!/usr/bin/env python3
"""What a node remembers of the paths that it fetched over. The seeder's uplink is what limits, so that a get takes its time."""
import cases
import harness

MBIT = 20
SIZE = MBIT * 1_000_000 // 8 * 16  # 16 s: a whole transfer that was settled for half of its time is remembered


def setting(scene):
    scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha = scene.node(alice, 'alpha', args=('--upload-limit', f'{MBIT}Mbit'))
    beta = scene.node(bob, 'beta')
    for name in ('one', 'two'):
        alice.cli('publish', cases.make_file(scene.dir / f'in/{name}.bin', SIZE, seed=len(name)), '--name', name, '--access', 'public', node=alpha)
    return alpha, bob, beta


def paths(bob, beta):
    return bob.cli('tune', 'history', '--json', node=beta).json['paths']


def what_a_path_carried_is_remembered_until_it_is_forgotten():
    with harness.Scene() as scene:
        alpha, bob, beta = setting(scene)
        cases.check(paths(bob, beta) == [], 'it remembers what never was')
        cases.refused(bob.cli('tune', 'history', '--forget', alpha.node_id, node=beta, expect=None), 3, alpha.node_id, 'tune history')
        bob.cli('get', 'alice/one', '--to', scene.dir / 'out', '--lanes', 2, node=beta)
        cases.check(paths(bob, beta) == [], 'a person chose these lanes')
        for i in range(3):  # one that waited for its disk half of the time is not remembered
            bob.cli('get', 'alice/two', '--to', scene.dir / f'out{i}', '--refetch', node=beta)
            if paths(bob, beta):
                break
        beta.stop()
        beta.start()
        kept = paths(bob, beta)
        cases.check(len(kept) == 1 and kept[0]['node_id'] == alpha.node_id and kept[0]['lanes'] > 0 and kept[0]['transfers'] == 1, kept)
        cases.check(0.5 * MBIT * 1e6 < kept[0]['bits_per_s'] < 1.2 * MBIT * 1e6, kept)
        cases.check('alpha' in bob.cli('tune', 'history', node=beta).out, 'the table does not name the seeder')
        cases.check(alpha.node_id in bob.cli('tune', 'history', '--ids', node=beta).out, 'the table does not show its id')

        bob.cli('get', 'alice/one', '--to', scene.dir / 'again', '--refetch', '--detach', node=beta)
        told = cases.wait_transfer(bob, beta, 'one', lambda t: 'before' in t['plan_reason'] or t['state'] == 'seeding', 'a plan')
        cases.check(f'auto: {kept[0]["lanes"]} lane' in told['plan_reason'] and 'as on 1 transfer before' in told['plan_reason'], told['plan_reason'])
        bob.cli('transfer', 'cancel', told['transfer_id'], node=beta)

        gone = bob.cli('tune', 'history', '--forget', 'all', '--json', node=beta).json['forgotten']
        cases.check([path['node_id'] for path in gone] == [alpha.node_id], gone)
        cases.check(paths(bob, beta) == [], 'it is still there')


def within(outcome, seconds, part):
    likely = outcome['likely_ms'] / 1000
    cases.check((1 - part) * seconds < likely < (1 + part) * seconds, f'about {likely:.1f} s, not {seconds:.1f}: {outcome["text"]}')


def an_estimate_probes_and_later_remembers():
    with harness.Scene() as scene:
        alpha, bob, beta = setting(scene)
        out = scene.dir / 'out'
        cases.refused(bob.cli('estimate', 'alice/one', '--to', out, '--no-probe', node=beta, expect=None), 3, '--no-probe')
        cases.check(bob.cli('transfers', '--json', node=beta).json['transfers'] == [], 'it began something')
        cold = bob.cli('estimate', 'alice/one', '--to', out, '--json', node=beta).event('estimate')
        cases.check(cold['basis'] == 'probe' and cold['kept_bytes'] > 0 and cold['probed_ms'] < 30_000, cold)  # asked is 5 s; what is kept is written to the disk as well
        kept = cases.transfer_of(bob, beta, 'one')
        cases.check(kept['state'] == 'paused' and kept['transfer_id'] == cold['transfer_id'], kept)
        done = bob.cli('get', 'alice/one', '--to', out, '--json', node=beta).event('done')
        cases.check(done['transfer_id'] == cold['transfer_id'], 'the get began anew')
        cases.same(scene.dir / 'in/one.bin', out / 'one.bin')
        cases.check(cases.transfer_of(bob, beta, 'one')['received_bytes'] < 1.1 * SIZE, 'it was fetched twice')
        within(cold, (SIZE - cold['kept_bytes']) * 8 / (MBIT * 1e6), 0.4)
        cases.refused(bob.cli('estimate', 'alice/one', '--to', out, node=beta, expect=None), 6, 'here already')

        for i in range(3):  # one that waited for its disk half of the time is not remembered
            if paths(bob, beta):
                break
            bob.cli('get', 'alice/one', '--to', scene.dir / f'again{i}', '--refetch', node=beta)
        warm = bob.cli('estimate', 'alice/two', '--to', out, '--json', node=beta).event('estimate')
        cases.check(warm['basis'] == 'history' and warm['transfers'] == 1, warm)
        within(warm, SIZE * 8 / paths(bob, beta)[0]['bits_per_s'], 0.3)
        alpha.stop()

        def nobody_is_left():
            return bob.cli('estimate', 'alice/two', '--to', out, node=beta, expect=None).code == 5
        harness.wait_until(nobody_is_left, 'the server to know that the seeder is gone', 90)
        cases.refused(bob.cli('estimate', 'alice/two', '--to', out, node=beta, expect=None), 5, 'no seeder of alice/two is online')


cases.run(what_a_path_carried_is_remembered_until_it_is_forgotten, an_estimate_probes_and_later_remembers, at_once=2)
