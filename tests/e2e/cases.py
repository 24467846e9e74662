"""What the end-to-end tests share: running cases one after the other, real and made-up data, and what a clear error is."""
import concurrent.futures
import os
import pathlib
import random
import subprocess
import sys
import time
import traceback

import harness


def run(*cases, at_once=1):
    """Runs every case, says which held, and ends the program: 1 where one failed, else 77 where one was skipped. Cases that mostly wait can run `at_once`."""
    wanted = sys.argv[1:]
    if at_once > 1 and not wanted:
        run_at_once(cases, at_once)
    failed, skipped = [], False
    for case in cases:
        name = case.__name__.replace('_', ' ')
        if wanted and case.__name__ not in wanted:
            continue
        started = time.monotonic()
        try:
            case()
        except SystemExit as ended:  # harness.skip said why
            if ended.code != 77:
                raise
            skipped = True
        except Exception:  # every kind of failure is reported, and the other cases still run
            failed.append(name)
            print(f'not ok  {name} ({time.monotonic() - started:.1f} s)\n{traceback.format_exc()}', flush=True)
        else:
            print(f'ok      {name} ({time.monotonic() - started:.1f} s)', flush=True)
    sys.exit(1 if failed else 77 if skipped else 0)


def run_at_once(cases, most):
    """Each case in a process of its own, at most so many of them together; says what each said once it has ended."""
    def run_one(case):
        return subprocess.run([sys.executable, sys.argv[0], case.__name__], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    codes = set()
    with concurrent.futures.ThreadPoolExecutor(most) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_one, case) for case in cases]):
            print(done.result().stdout, end='', flush=True)
            codes.add(done.result().returncode)
    sys.exit(1 if codes - {0, 77} else max(codes))


def check(condition, what):
    if not condition:
        raise AssertionError(what() if callable(what) else what)


def published_to_all(scene, size):
    """alice's file `data.bin`, published as `data`, and bob with a node of his own: (alice, bob, alpha, beta, the file)."""
    scene.server()
    alice, bob = scene.user('alice'), scene.user('bob')
    alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
    source = make_file(scene.dir / 'in/data.bin', size)
    alice.cli('publish', source, '--name', 'data', '--access', 'public', node=alpha)
    return alice, bob, alpha, beta, source


def alter(path):
    """Other bytes in place; size and time stay, so that nothing but their hash can tell."""
    before = os.stat(path)
    with open(path, 'r+b') as file:
        for offset in range(0, before.st_size, 1_000_000):
            file.seek(offset)
            file.write(b'altered!')
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def refused(result, code, *parts):
    """The command failed with this exit code and one clear line on stderr that names all the parts."""
    lines = [line for line in result.err.splitlines() if line.strip()]
    check(result.code == code, f'expected exit {code}:\n{result}')
    check(len(lines) == 1 and lines[0].startswith('gridtorrent: '), f'expected one line of error:\n{result}')
    for part in parts:
        check(str(part) in lines[0], f'the line does not name {part!r}:\n{result}')
    return lines[0]


def ended_with(daemon, code, *parts, timeout_s=60):
    """A daemon that cannot start ends by itself with this exit code; the last line of its log names all the parts."""
    harness.wait_until(lambda: not daemon.running(), f'{daemon.name} to end', timeout_s)
    lines = [line for line in daemon.log().splitlines() if line.strip()]
    check(daemon.process.returncode == code, f'{daemon.name} ended with {daemon.process.returncode}, not {code}:\n{daemon.log()}')
    check(lines, f'{daemon.name} ended without a word')
    for part in parts:
        check(str(part) in lines[-1], f'the last line of {daemon.name} does not name {part!r}:\n{daemon.log()}')


def scaled(name, default):
    """A size or count of a test: small for every commit, larger by the environment (GT_E2E_…)."""
    return int(os.environ.get(f'GT_E2E_{name}', default))


def make_file(path, size, seed=0):
    """`size` bytes that do not compress and differ in every block; the same for the same seed."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    generator = random.Random(seed)
    with open(path, 'wb') as file:
        left = size
        while left > 0:
            block = generator.randbytes(min(left, 1 << 20))
            file.write(block)
            left -= len(block)
    return path


def real_folder(at_least=5_000_000, at_most=150_000_000):
    """A folder of real files that every Debian with a compiler or Python has."""
    candidates = ('/usr/include/c++', '/usr/share/perl', os.path.dirname(os.__file__), '/usr/include', '/usr/share/doc')
    for candidate in candidates:
        real = os.path.realpath(candidate)
        total = sum(os.lstat(os.path.join(top, name)).st_size for top, _, names in os.walk(real) for name in names)
        if at_least <= total <= at_most:
            return pathlib.Path(real)
    harness.skip('this machine has no folder of real files between 5 and 150 MB in the usual places')


def same(a, b):
    """Equal in names, kinds, bytes, modes and times."""
    found = harness.difference(a, b)
    check(found is None, found)


def transfers_of(user, node, content):
    """The node's transfers of that content (name or id), as `transfers --json` tells them."""
    listed = user.cli('transfers', '--json', node=node).json['transfers']
    return [t for t in listed if content in (t['name'], t['content_id'], f'{t["owner"]}/{t["name"]}')]


def transfer_of(user, node, content):
    """The one there is."""
    found = transfers_of(user, node, content)
    check(len(found) == 1, f'{len(found)} transfers of {content} on {node.name}: {found}')
    return found[0]


def wait_transfer(user, node, content, condition, what, timeout_s=60):
    """Waits until the transfer fulfils the condition; returns it."""
    last = {}

    def fulfilled():
        found = transfers_of(user, node, content)
        check(len(found) < 2, f'{len(found)} transfers of {content}: {found}')
        if not found:  # what another node or a program asks for begins a moment later
            return False
        last.update(found[0])
        return condition(last)
    try:
        harness.wait_until(fulfilled, what, timeout_s)
    except AssertionError as e:
        raise AssertionError(f'{e}; it is {last}\n{node.log()}') from None
    return last


def with_descriptors(daemon, limit):
    """The daemon as it would be started after `ulimit -n`."""
    daemon.argv = ['sh', '-c', f'ulimit -n {limit} && exec "$0" "$@"', *daemon.argv]
    return daemon.start()


def become_nobody():
    """Root may read and write anything: tests of permissions run as somebody who may not."""
    if os.geteuid() != 0:
        return
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    os.environ['HOME'] = '/nonexistent'
    if not os.access(harness.default_bin() / 'gridtorrentd', os.X_OK):
        harness.skip(f'an unprivileged user cannot reach the programs in {harness.default_bin()}')
