#!/usr/bin/env python3
"""Where the filesystem can share blocks between files, a new version takes over what is unchanged without writing it again."""
import os
import shutil
import subprocess
import sys

import cases
import harness

IMAGE_BYTES = 600_000_000  # mkfs.xfs makes none below 300 MB
FILES, FILE_BYTES = 20, 4_000_000


def in_a_mount_namespace():
    """Goes on in one of this test's own, so that nothing stays mounted whatever happens."""
    if os.geteuid() != 0:
        harness.skip('mounting a filesystem needs root')
    if not shutil.which('mkfs.xfs'):
        harness.skip('mkfs.xfs is not installed (Debian: xfsprogs)')
    if subprocess.run(['unshare', '--mount', 'true'], capture_output=True).returncode != 0:
        harness.skip('this machine makes no mount namespaces')
    if 'GT_OWN_MOUNTS' not in os.environ:
        os.environ['GT_OWN_MOUNTS'] = 'yes'
        os.execvp('unshare', ['unshare', '--mount', '--propagation', 'private', sys.executable, *sys.argv])


def mounted_xfs(scene):
    """An empty XFS, and the device below it."""
    image, place = scene.dir / 'xfs.img', scene.dir / 'xfs'
    with open(image, 'wb') as file:
        file.truncate(IMAGE_BYTES)
    place.mkdir()
    subprocess.run(['mkfs.xfs', '-q', '-m', 'reflink=1', image], check=True)
    done = subprocess.run(['mount', '-o', 'loop', image, place], capture_output=True, text=True)
    if done.returncode != 0:
        harness.skip(f'this machine mounts no XFS: {done.stderr.strip()}')
    device = subprocess.run(['findmnt', '-n', '-o', 'SOURCE', place], check=True, capture_output=True, text=True).stdout.strip()
    return place, os.path.basename(device)


def written_bytes(place, device):
    os.sync()
    with open(f'/sys/block/{device}/stat') as file:
        return int(file.read().split()[6]) * 512


def what_is_unchanged_is_not_written_again():
    with harness.Scene() as scene:
        place, device = mounted_xfs(scene)
        try:
            scene.server()
            alice, bob = scene.user('alice'), scene.user('bob')
            alpha, beta = scene.node(alice, 'alpha'), scene.node(bob, 'beta')
            root = scene.dir / 'in/set'
            for i in range(FILES):
                cases.make_file(root / f'{i:02}.bin', FILE_BYTES, seed=i)
            alice.cli('publish', root, '--name', 'set', '--access', 'public', node=alpha)
            empty = written_bytes(place, device)
            bob.cli('get', 'set', '--to', place, node=beta)
            whole = written_bytes(place, device) - empty
            cases.check(whole > FILES * FILE_BYTES, f'{whole} bytes were written for {FILES * FILE_BYTES}: what is counted?')
            with open(root / '07.bin', 'r+b') as file:
                file.seek(2_000_000)
                file.write(b'corrected!')
            alice.cli('publish', root, '--update', 'set', node=alpha)
            before = written_bytes(place, device)
            bob.cli('get', 'set', '--update', node=beta)
            update = written_bytes(place, device) - before
            cases.same(root, place / 'set')
            print(f'written: {whole / 1e6:.1f} MB for the first version, {update / 1e6:.1f} MB for the second', flush=True)
            cases.check(update < whole / 4, f'{update} bytes were written for 10 that changed, of {whole}')
        finally:
            for daemon in scene.daemons:
                if daemon is not scene.the_server:
                    daemon.stop()
            subprocess.run(['umount', place], check=True)


in_a_mount_namespace()
cases.run(what_is_unchanged_is_not_written_again)
