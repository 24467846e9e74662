"""What hold_reads.py and hold_writes.py share: a scene with people, their tokens, and calls by hold_load."""
import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / 'tests/e2e'), str(ROOT / 'bench')]
import harness  # noqa: E402


def arguments(doc, **options):
    parser = argparse.ArgumentParser(description=doc.split('\n')[0])
    parser.add_argument('--bin', default=ROOT / 'build/release/bin', type=pathlib.Path, help='with hold_load: ninja hold_load')
    for name, (default, text) in options.items():
        parser.add_argument(f'--{name}', default=default, type=type(default), help=text)
    args = parser.parse_args()
    if not (args.bin / 'hold_load').exists():
        raise SystemExit(f'{args.bin} holds no hold_load: build it first, with ninja -C build/release hold_load')
    return args


def token_of(user):
    files = list((user.home / 'state/gridtorrent/tokens').iterdir())
    assert len(files) == 1, files
    return files[0].read_text().strip()


def node_token_of(node):
    return json.loads((node.data / 'credential.json').read_text())['token']


def hello():
    return {'programVersion': '0.1.0', 'protocolMin': 1, 'protocolMax': 1000, 'timeMs': str(int(time.time() * 1000))}


def load(args, scene, seconds, jobs):
    """Runs the jobs side by side; their outcomes by name."""
    server = scene.the_server
    wanted = {'server': server.address, 'ca': server.ready['ca_file'], 'seconds': seconds, 'jobs': jobs}
    done = subprocess.run([args.bin / 'hold_load'], input=json.dumps(wanted), capture_output=True, text=True, timeout=seconds + 180)
    assert done.returncode == 0, done.stderr
    return {one['name']: one for one in map(json.loads, done.stdout.splitlines())}
