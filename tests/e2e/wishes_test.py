#!/usr/bin/env python3
"""What a person asks of a tuner: it reaches the node, outlives it, can be changed on the way, and travels with a task."""
import datetime

import cases
import harness

SIZE = 30_000_000


def setting(scene):
    scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha = scene.node(alice, 'alpha')
    beta = scene.node(bob, 'beta', args=('--download-root', f'in={scene.dir / "root"}', '--tuning-mode', 'greedy'))
    source = cases.make_file(scene.dir / 'in/data.bin', SIZE)
    alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
    return source, bob, beta


def asked(transfer):
    return {key: transfer[key] for key in ('tuner', 'mode', 'target_bits_per_s', 'floor_bits_per_s')}


def wishes_outlive_the_node_and_change_on_the_way():
    with harness.Scene() as scene:
        (scene.dir / 'root').mkdir()
        source, bob, beta = setting(scene)
        get = ('get', 'data', '--to', scene.dir / 'out', '--detach')
        cases.refused(bob.cli(*get, '--tuner', 'nobody', node=beta, expect=None), 2, 'auto, fixed')
        cases.refused(bob.cli(*get, '--tuner', 'fixed', '--mode', 'greedy', node=beta, expect=None), 2, '--mode')
        transfer = bob.cli(*get, '--tuner', 'fixed', '--limit', '8Mbit', '--json', node=beta).event('started')['transfer_id']
        fixed = cases.wait_transfer(bob, beta, 'data', lambda t: t['plan_reason'].startswith('fixed:'), 'the tuner that was asked for')
        cases.check(asked(fixed) == {'tuner': 'fixed', 'mode': None, 'target_bits_per_s': 0, 'floor_bits_per_s': 0}, fixed)
        beta.kill()
        beta.start()
        cases.wait_transfer(bob, beta, 'data', lambda t: t['tuner'] == 'fixed' and t['plan_reason'].startswith('fixed:'), 'it to come back')

        change = ('transfer', 'set', transfer, '--json')
        cases.refused(bob.cli(*change, '--min-rate', '1Mbit', node=beta, expect=None), 2, "'fixed' does not heed --min-rate")
        changed = bob.cli(*change, '--tuner', 'auto', '--mode', 'background', '--min-rate', '1Mbit', '--by', '+2h', node=beta).json
        cases.check(asked(changed) == {'tuner': 'auto', 'mode': 'background', 'target_bits_per_s': 0, 'floor_bits_per_s': 1_000_000}, changed)
        left = datetime.datetime.fromisoformat(changed['by']) - datetime.datetime.now(datetime.timezone.utc)
        cases.check(datetime.timedelta(minutes=110) < left <= datetime.timedelta(hours=2), changed['by'])
        cases.wait_transfer(bob, beta, 'data', lambda t: t['plan_reason'].startswith('auto:'), 'the other tuner to decide')
        cases.refused(bob.cli(*change, '--target-rate', '4Mbit', node=beta, expect=None), 2, 'a time with none')
        beta.kill()
        beta.start()
        again = cases.transfer_of(bob, beta, 'data')
        cases.check(asked(again) == asked(changed) and again['by'] == changed['by'], again)
        cases.check('mode background' in bob.cli('transfer', 'show', transfer, node=beta).out, 'it is not shown')

        bob.cli(*change, '--mode', 'default', '--min-rate', '0', '--limit', '0', node=beta)
        done = bob.cli('transfer', 'wait', transfer, '--json', node=beta).event('done')
        cases.check(done['in_time'] is True and done['by'] == changed['by'], done)
        cases.same(source, scene.dir / 'out/data.bin')
        cases.refused(bob.cli(*change, '--tuner', 'fixed', node=beta, expect=None), 6, transfer)


def a_task_carries_wishes():
    with harness.Scene() as scene:
        (scene.dir / 'root').mkdir()
        source, bob, beta = setting(scene)
        get = ('get', 'data', '--to', 'in:there', '--node', 'beta', '--json')
        cases.refused(bob.cli(*get, '--tuner', 'nobody', expect=None), 2, 'auto, fixed')
        task = bob.cli(*get, '--mode', 'background', '--min-rate', '2Mbit', '--limit', '8Mbit', '--by', '2h', '--detach').events[-1]
        wish = bob.cli('task', 'show', task['task_id'], '--json').json['wish']
        cases.check((wish['mode'], wish['floor_bits_per_s'], wish['tuner']) == ('background', 2_000_000, None), wish)
        there = cases.wait_transfer(bob, beta, 'data', lambda t: t['state'] == 'fetching', 'the task to begin')
        cases.check(asked(there) == {'tuner': None, 'mode': 'background', 'target_bits_per_s': 0, 'floor_bits_per_s': 2_000_000}, there)
        cases.check(there['by'] == wish['by'], (there['by'], wish))
        bob.cli('transfer', 'set', there['transfer_id'], '--limit', '0', node=beta)
        cases.check(bob.cli('task', 'wait', task['task_id'], '--json').events[-1]['result']['in_time'] is True, 'the result does not say it')
        cases.same(source, scene.dir / 'root/there/data.bin')


def a_node_says_which_tuners_it_has():
    with harness.Scene() as scene:
        (scene.dir / 'root').mkdir()
        _, bob, beta = setting(scene)
        told = bob.cli('tune', 'tuners', '--json', node=beta).json
        cases.check({'auto', 'fixed'} <= {tuner['name'] for tuner in told['tuners']}, told)
        cases.check((told['tuner'], told['mode']) == ('auto', 'greedy'), told)


cases.run(wishes_outlive_the_node_and_change_on_the_way, a_task_carries_wishes, a_node_says_which_tuners_it_has)
