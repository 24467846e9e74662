#!/usr/bin/env python3
"""What operators install for monitoring asks for figures that server and node really have, and its rules do what they say."""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import urllib.request

import cases
import harness

FOLDER = pathlib.Path(__file__).resolve().parents[2] / 'packaging/monitoring'
NAME = re.compile(r'\bgridtorrent_\w+')


def figures(address):
    """Name → names of its labels, as /metrics tells them."""
    with urllib.request.urlopen(f'http://{address}/metrics', timeout=10) as answer:
        text = answer.read().decode()
    found = {}
    for name, labels in re.findall(r'^(\w+)(?:\{(.*)\})? ', text, re.MULTILINE):
        found.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return found


def expressions():
    """(where it stands, expression) of the dashboard and the rules."""
    board = json.loads((FOLDER / 'grafana-dashboard.json').read_text())
    found = [(panel['title'], target['expr']) for panel in board['panels'] for target in panel['targets']]
    found += [(variable['label'], variable['query']['query']) for variable in board['templating']['list'] if variable['type'] == 'query']
    rules = (FOLDER / 'prometheus-rules.yml').read_text()
    found += [('prometheus-rules.yml', text) for text in re.findall(r'expr: (?:\|\n)?((?:.+\n)(?: {12}.*\n)*)', rules)]
    return found


def every_figure_that_is_asked_for_is_there():
    with harness.Scene() as scene:
        port = harness.free_ports()
        server = scene.server(args=('--metrics-listen', f'127.0.0.1:{port}'))
        alice = scene.user('alice')
        node = scene.node(alice, 'alpha', args=('--metrics-listen', '127.0.0.1:0'))
        source = cases.make_file(scene.dir / 'in/data', 100_000)
        alice.cli('publish', source, '--name', 'data', node=node)
        host, _, number = server.address.rpartition(':')
        with socket.create_connection((host, int(number))) as stranger:
            stranger.sendall(b'GET / HTTP/1.0\r\n\r\n')  # no TLS: it is refused, which is a figure, too
            harness.wait_until(lambda: {'gridtorrent_connections_refused_total', 'gridtorrent_connections'}
                               <= set(figures(f'127.0.0.1:{port}')), 'the figures of connections')
        there = {**figures(f'127.0.0.1:{port}'), **figures(node.ready['metrics_address'])}
        asked = expressions()
        cases.check(len(asked) > 20, f'{len(asked)} expressions were found')
        used = set()
        for where, text in asked:
            for name in NAME.findall(text):
                cases.check(name in there, f'{where}: neither server nor node has {name}')
                used.add(name)
            for name, labels in re.findall(r'(gridtorrent_\w+)\{([^}]*)\}', text):
                for label in re.findall(r'(\w+)=', labels):
                    cases.check(label in there[name] | {'instance', 'job'}, f'{where}: {name} has no label {label}')
            for labels in re.findall(r'\bby \(([\w, ]+)\)', text):
                known = set().union(*(there[name] for name in NAME.findall(text))) | {'instance', 'job'}
                cases.check(set(labels.split(', ')) <= known, f'{where}: nothing has a label of {labels}')
        ours = {name.removesuffix('_bucket').removesuffix('_sum').removesuffix('_count') for name in there if name.startswith('gridtorrent_')}
        left = ours - {name.removesuffix('_bucket') for name in used}
        cases.check(not left, f'nobody looks at {sorted(left)}')


def the_rules_do_what_they_say():
    if not shutil.which('promtool'):
        harness.skip('promtool is not here (Debian: prometheus); figures were checked, rules were not')
    for command in (['check', 'rules', 'prometheus-rules.yml'], ['test', 'rules', 'prometheus-rules-test.yml']):
        done = subprocess.run(['promtool', *command], cwd=FOLDER, capture_output=True, text=True)
        cases.check(done.returncode == 0, f'promtool {" ".join(command)}:\n{done.stdout}{done.stderr}')


cases.run(every_figure_that_is_asked_for_is_there, the_rules_do_what_they_say)
