#!/usr/bin/env python3
"""Whether one person's searches, or eight people's, hold up everybody else.

400,000 contents; eight people search at full speed for a word that none has. Meanwhile others call whoami, write and announce, as they did in
the quiet just before. Rounds of quiet and load alternate; the median of their 99th percentiles counts: at most 3 x quiet + 10 ms.
"""
import base64
import secrets
import sqlite3
import statistics

import hold_scene
from hold_scene import harness

SEARCHERS = 8
CONNECTIONS = 4  # of each searcher
FACTOR, SLACK_MS = 3, 10


def new_id(prefix):
    return prefix + '_' + base64.b32encode(secrets.token_bytes(16)).decode().lower().rstrip('=')


def put_contents(database, content_id, how_many):
    """Copies of the first content's row: the front door takes one a second."""
    with sqlite3.connect(database) as db:
        names = [row[1] for row in db.execute('PRAGMA table_info(content)')]
        row = dict(zip(names, db.execute('SELECT * FROM content WHERE content_id = ?', (content_id,)).fetchone()))
        marks = ', '.join('?' * len(names))

        def copies():
            for i in range(1, how_many):
                copy = {**row, 'content_id': new_id('c'), 'name': f'run {i:07} of the detector', 'name_folded': f'run {i:07} of the detector',
                        'published_ms': row['published_ms'] + i}
                yield [copy[name] for name in names]
        db.executemany(f'INSERT INTO content({", ".join(names)}) VALUES ({marks})', copies())


def others(tokens, node_token, content_id, total):
    return [
        {'name': 'whoami', 'method': 'Accounts/WhoAmI', 'token': tokens['quick'], 'pause_ms': 20, 'request': {}},
        {'name': 'read mark', 'method': 'Collaboration/MarkInboxRead', 'token': tokens['writer'], 'pause_ms': 400, 'request': {}},
        {'name': 'group', 'method': 'Collaboration/DescribeGroup', 'token': tokens['writer'], 'pause_ms': 400,
         'request': {'requestId': '$ID', 'group': 'lab', 'description': 'text $N'}},
        {'name': 'announce', 'method': 'Swarms/Announce', 'token': node_token, 'pause_ms': 20,
         'request': {'contentId': content_id, 'version': 1, 'role': 'SEEDING', 'verifiedBytes': str(total), 'totalBytes': str(total)}}]


def searches(tokens):
    return [{'name': name, 'method': 'Contents/Search', 'token': token, 'connections': CONNECTIONS, 'request': {'query': 'absent $N', 'limit': 200}}
            for name, token in tokens.items() if name.startswith('searcher')]


def verdict(name, quiet, loaded):
    limit = FACTOR * quiet + SLACK_MS
    print(f'{name:>10}: p99 {quiet:8.1f} ms quiet, {loaded:8.1f} ms beside searches, at most {limit:8.1f}: {"ok" if loaded <= limit else "TOO SLOW"}')
    return loaded <= limit


def main():
    args = hold_scene.arguments(__doc__, contents=(400_000, 'in the database'), seconds=(30, 'of each half of a round'), rounds=(3, 'of quiet and load'))
    with harness.Scene(args.bin) as scene:
        server = scene.server()
        people = ['owner', 'quick', 'writer'] + [f'searcher{i}' for i in range(SEARCHERS)]
        tokens = {name: hold_scene.token_of(scene.user(name)) for name in people}
        owner = scene.users['owner']
        scene.users['writer'].cli('group', 'create', 'lab')
        node = scene.node(owner, 'seeder')
        (scene.dir / 'data.bin').write_bytes(secrets.token_bytes(100_000))
        first = owner.cli('publish', scene.dir / 'data.bin', '--name', 'first', '--access', 'public', '--json', node=node).event('published')
        node.stop()
        server.stop()
        put_contents(server.data / 'gridtorrent.db', first['content_id'], args.contents)
        server.start()

        quick = others(tokens, hold_scene.node_token_of(node), first['content_id'], 100_000)
        rounds = []
        for _ in range(args.rounds):
            quiet = hold_scene.load(args, scene, args.seconds, quick)
            loaded = hold_scene.load(args, scene, args.seconds, quick + searches(tokens))
            rounds.append((quiet, loaded))
        ended = {}
        for _, loaded in rounds:
            for name, outcome in loaded.items():
                if name.startswith('searcher'):
                    for code, count in outcome['codes'].items():
                        ended[code] = ended.get(code, 0) + count
        print(f'{args.contents:,} contents, {SEARCHERS} people with {CONNECTIONS} searches at once: {ended}')
        fine = []
        for job in quick:
            name = job['name']
            assert all('ok' in half[name]['codes'] for round_ in rounds for half in round_), rounds
            p99 = [statistics.median(round_[half][name]['p99_ms'] for round_ in rounds) for half in (0, 1)]
            fine.append(verdict(name, *p99))
        return 0 if all(fine) else 1


if __name__ == '__main__':
    raise SystemExit(main())
