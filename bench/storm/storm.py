"""Row of many streams: nodes that hold a stream each over a TLS connection of its own, people who watch, and all of them cut at once.

    python3 bench/storm/storm.py [--nodes 1000] [--people 50] [--bin build/release/bin]

Builds nothing (ninja -C build/release storm gridtorrent-server gridtorrent). A real server; nodes and their credentials are written into its
database beforehand, since 10,000 enrolments measure something else. Prints one line of JSON for each step, and the whole at the end.
"""
import argparse
import base64
import hashlib
import json
import os
import pathlib
import secrets
import sqlite3
import subprocess
import sys
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/e2e'))
import harness  # noqa: E402

ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
NODE_SCOPES = 1 | 2 | 16
PERSON_SCOPES = 1 | 2 | 4 | 8 | 32 | 128
YEAR_MS = 366 * 86_400_000
LEFT_KB = 150_000  # of 10,000 streams, 60 s after all have left


def base62(count):
    return ''.join(secrets.choice(ALPHABET) for _ in range(count))


def new_id(prefix):
    raw = bytearray(int(time.time() * 1000).to_bytes(6, 'big') + secrets.token_bytes(10))
    raw[6], raw[8] = raw[6] & 0x0F | 0x70, raw[8] & 0x3F | 0x80
    return f'{prefix}_' + base64.b32encode(bytes(raw)).decode().rstrip('=').lower()


def new_token(kind):
    """As tracker/authority/tokens.h describes it: the text, its public id, the hash of its secret."""
    public, secret = base62(10), base62(43)
    text = f'gt{kind}_{public}_{secret}'
    crc, check = zlib.crc32(text.encode()), ''
    for _ in range(6):
        crc, digit = divmod(crc, 62)
        check = ALPHABET[digit] + check
    return text + check, public, hashlib.sha256(secret.encode()).digest()


class Population:
    """Nodes of one owner, and people, with credentials, in the database of a server that is stopped."""

    def __init__(self, database, owner, nodes, people):
        self.nodes, self.people = [], []
        now = int(time.time() * 1000)
        db = sqlite3.connect(database)
        owner_id = db.execute('SELECT user_id FROM user WHERE name = ?', (owner,)).fetchone()[0]

        def token(kind, text, user, node, scopes):
            db.execute('INSERT INTO token(token_id, secret_hash, kind, user_id, node_id, scopes, label, created_ms, expires_ms, last_used_ms, '
                       "revoked_ms, uses_left, node_name, ephemeral) VALUES (?, ?, ?, ?, ?, ?, 'storm', ?, ?, 0, 0, 0, '', 0)",
                       (text[1], text[2], kind, user, node, scopes, now, now + YEAR_MS))

        with db:
            for i in range(nodes):
                node, text = new_id('n'), new_token('n')
                db.execute('INSERT INTO node(node_id, owner_id, name, public_key, ephemeral, created_ms, last_seen_ms, program_version, '
                           "last_sequence, acked_sequence) VALUES (?, ?, ?, ?, 0, ?, ?, '', 0, 0)",
                           (node, owner_id, f'storm-{i}', secrets.token_bytes(91), now, now))
                token('node', text, owner_id, node, NODE_SCOPES)
                self.nodes.append(f'{text[0]} {node}')
            for i in range(people):
                user, text = new_id('u'), new_token('p')
                db.execute("INSERT INTO user(user_id, name, admin, disabled, created_ms, password_hash) VALUES (?, ?, 0, 0, ?, '')",
                           (user, f'storm-{i}', now))
                token('personal', text, user, None, PERSON_SCOPES)
                self.people.append(text[0])
            owner_token = new_token('p')
            token('personal', owner_token, owner_id, None, PERSON_SCOPES)
            self.owner = owner_token[0]
        db.close()


class Storm:
    def __init__(self, program, scene, population):
        files = []
        for name, lines in (('nodes', population.nodes), ('people', population.people), ('owner', [population.owner])):
            path = scene.dir / f'storm-{name}'
            path.touch(mode=0o600)
            path.write_text('\n'.join(lines) + '\n')
            files.append(str(path))
        self.nodes, self.people = len(population.nodes), len(population.people)
        server = scene.the_server
        port = server.address.rsplit(':', 1)[1]
        self.process = subprocess.Popen([program, port, server.ready['ca_file'], *files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise AssertionError(f'the generator ended with {self.process.wait()}')
        return json.loads(answer)

    def wait_until_back(self, since, timeout_s):
        """Seconds until 99 % and until all nodes and people are connected; None where that never came."""
        whole = self.nodes + self.people
        most = None
        while time.monotonic() - since < timeout_s:
            state = self.tell('state')
            up = state['nodes'] + state['people']
            if most is None and up >= 0.99 * whole:
                most = round(time.monotonic() - since, 1)
            if up == whole:
                return most, round(time.monotonic() - since, 1)
            time.sleep(0.1)
        print('  not all came:', self.tell('state'), flush=True)
        return most, None

    def end(self):
        self.process.stdin.write('quit\n')
        self.process.stdin.close()
        self.process.wait(30)


def memory(server):
    """MiB: anonymous memory of the server, and kernel memory of the whole machine (slab, and TCP's buffers)."""
    status = dict(line.split(':', 1) for line in pathlib.Path(f'/proc/{server.pid}/status').read_text().splitlines())
    machine = dict(line.split(':', 1) for line in pathlib.Path('/proc/meminfo').read_text().splitlines())
    pages = [line.split() for line in pathlib.Path('/proc/net/sockstat').read_text().splitlines() if line.startswith('TCP:')][0]
    return {'rss': int(status['RssAnon'].split()[0]) / 1024, 'slab': int(machine['Slab'].split()[0]) / 1024,
            'tcp': int(pages[pages.index('mem') + 1]) * os.sysconf('SC_PAGE_SIZE') / (1 << 20),
            'descriptors': len(os.listdir(f'/proc/{server.pid}/fd'))}


def say(what, **figures):
    print(json.dumps({'step': what, **{k: round(v, 3) if isinstance(v, float) else v for k, v in figures.items()}}), flush=True)
    return figures


def run(args):
    out = {}
    with harness.Scene(args.bin, memory_slack_kb=LEFT_KB) as scene:
        server = scene.server(args=tuple(args.server_arg))
        owner = scene.user('owner')
        server.stop()
        population = Population(server.data / 'gridtorrent.db', owner.name, args.nodes, args.people)
        server.start()
        whole = args.nodes + args.people
        owner.cli('whoami')
        start = memory(server)
        out['start'] = say('start', **start)
        storm = Storm(args.bin / 'storm', scene, population)
        try:
            begun = time.monotonic()
            storm.tell('gather')
            say('gathered', seconds=storm.wait_until_back(begun, 120 + whole / 200))
            time.sleep(args.settle)
            now = memory(server)
            out['gathered'] = say('memory', **now, kb_a_stream=(now['rss'] - start['rss']) * 1024 / whole,
                                  kernel_kb_a_stream_both_ends=(now['slab'] + now['tcp'] - start['slab'] - start['tcp']) * 1024 / whole)
            out['one'] = say('task to one', **storm.tell(f'one {args.tasks}'))
            out['all'] = say('task to all', **storm.tell('all'))
            for storm_number in (1, 2, 3):
                begun = time.monotonic()
                if storm_number == 2:
                    server.kill()
                    server.start()
                else:
                    storm.tell('cut')
                back = storm.wait_until_back(begun, 180)
                time.sleep(args.settle)
                out[f'storm {storm_number}'] = say(f'storm {storm_number}', killed=storm_number == 2, back_99_s=back[0], back_all_s=back[1],
                                                   **memory(server))
            # Alone, by a server of its own age: the kill in the middle began the server's memory anew.
            for storm_number in (4, 5):
                begun = time.monotonic()
                storm.tell('cut')
                back = storm.wait_until_back(begun, 180)
                time.sleep(args.settle)
                out[f'storm {storm_number}'] = say(f'storm {storm_number}', back_99_s=back[0], back_all_s=back[1], **memory(server))
            out['losses'] = storm.tell('state')['losses']
            storm.tell('leave')
            for waited in (5, 60):
                time.sleep(waited - (5 if waited == 60 else 0))
                out[f'left {waited}'] = say(f'{waited} s after all left', **memory(server))
            storms = [out[f'storm {i}']['rss'] for i in (2, 3, 4, 5)]
            say('summary', kb_a_stream=out['gathered']['kb_a_stream'], above_start_60_s_after=out['left 60']['rss'] - start['rss'],
                third_to_first=storms[3] / storms[1], losses=out['losses'])
        finally:
            storm.end()
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--bin', type=pathlib.Path, default=harness.default_bin())
    parser.add_argument('--nodes', type=int, default=1000)
    parser.add_argument('--people', type=int, default=50)
    parser.add_argument('--tasks', type=int, default=200, help='given to single nodes, one after the other')
    parser.add_argument('--settle', type=float, default=10, help='seconds before memory is read')
    parser.add_argument('--server-arg', action='append', default=[])
    parser.add_argument('--out', type=pathlib.Path)
    args = parser.parse_args()
    figures = run(args)
    if args.out:
        args.out.write_text(json.dumps(figures, indent=1) + '\n')


if __name__ == '__main__':
    main()
