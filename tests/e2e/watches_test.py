#!/usr/bin/env python3
"""Lists that are watched until Ctrl-C: tasks, nodes with their roots, replicas."""
import cases
import harness
from watching import until, watching


def tasks_and_nodes_are_watched():
    with harness.Scene() as scene:
        scene.server()
        alice = scene.user('alice')
        folder = scene.dir / 'incoming'
        folder.mkdir()
        alpha = scene.node(alice, 'alpha', args=('--download-root', f'in={folder}'))
        with watching(alice, 'node', 'list') as following:
            told = until(following, lambda e: e['nodes'][0]['download_roots'] == ['in'], 'the root is not told')
            cases.check(told['event'] == 'nodes' and told['more'] is False and told['nodes'][0]['share_roots'] == [], told)
            alice.cli('node', 'rename', 'alpha', 'gamma')
            until(following, lambda e: e['nodes'][0]['name'] == 'gamma', 'the new name is not told')
        shown = alice.cli('node', 'show', 'gamma').out
        alpha.stop()
        cases.check('downloads       in\n' in shown and str(folder) not in shown, shown)
        with watching(alice, 'task', 'list') as following:
            cases.check(following()['tasks'] == [], 'there is a task already')
            alice.cli('node', 'ls', 'gamma:in', '--timeout', '1s', expect=9)
            listed = until(following, lambda e: e['tasks'], 'the task is not told')
            cases.check(listed['tasks'][0]['kind'] == 'list_folder', listed)
            alice.cli('task', 'cancel', listed['tasks'][0]['task_id'])
            until(following, lambda e: e['tasks'] == [], 'the cancelled task stays')


def replicas_are_watched():
    with harness.Scene() as scene:
        scene.server()
        alice, bob = scene.user('alice'), scene.user('bob')
        alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
        alice.cli('publish', cases.make_file(scene.dir / 'run', 100_000), '--name', 'run', '--access', 'public', node=alpha)
        cases.refused(bob.cli('show', 'run', '--watch', expect=None), 2, '--replicas')
        with watching(bob, 'show', 'run', '--replicas') as following:
            until(following, lambda e: [r['complete'] for r in e['replicas']] == [True], 'the first replica')
            bob.cli('get', 'run', '--to', scene.dir / 'out', node=beta)
            until(following, lambda e: sorted(r['complete'] for r in e['replicas']) == [True, True], 'the second replica')


cases.run(tasks_and_nodes_are_watched, replicas_are_watched)
