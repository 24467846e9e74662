#!/usr/bin/env python3
"""./dev image --check: a server and two nodes run in containers of the image, and a file goes over.

podman runs them where this machine lets it; else buildah does, in a chroot, and that is said. Their network is this host's.
"""
import argparse
import json
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from machine import Failed, run, wait_until

USER = 10001


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Podman:
    name = 'podman'

    def __init__(self, folder, archive):
        self.base = ['podman', '--storage-driver', 'vfs', '--root', folder / 'podman', '--runroot', folder / 'podman-run', '--cgroup-manager', 'cgroupfs',
                     '--events-backend', 'file']
        run(*self.base, 'load', '--quiet', '--input', archive)

    def command(self, data, *argv, env=()):
        options = [option for pair in env for option in ('--env', pair)]
        for name, limit in (('nofile', resource.RLIMIT_NOFILE), ('nproc', resource.RLIMIT_NPROC)):  # podman's own may be above this host's
            most = resource.getrlimit(limit)[1]
            options += ['--ulimit', f'{name}={most}:{most}']
        return [*self.base, 'run', '--rm', '--network', 'host', '--volume', f'{data}:/data', *options, 'gridtorrent', *argv]

    def works(self, data):
        done = subprocess.run([str(a) for a in self.command(data, '--version')], capture_output=True, text=True)
        return '' if done.returncode == 0 else (done.stderr.strip().splitlines() or ['no word'])[-1]

    def close(self):
        pass


class Buildah:
    name = 'buildah in a chroot'

    def __init__(self, folder, archive):
        self.base = ['buildah', '--storage-driver', 'vfs', '--root', folder / 'buildah', '--runroot', folder / 'buildah-run']
        self.archive, self.containers = archive, []

    def command(self, data, *argv, env=()):
        container = run(*self.base, 'from', '--quiet', f'oci-archive:{self.archive}').strip()
        self.containers.append(container)
        return [*self.base, 'run', '--isolation', 'chroot', '--user', str(USER), '--volume', f'{data}:/data', container, 'env', *env,
                '/usr/bin/gridtorrent-container', *argv]

    def works(self, data):
        done = subprocess.run([str(a) for a in self.command(data, '--version')], capture_output=True, text=True)
        return '' if done.returncode == 0 else (done.stderr.strip().splitlines() or ['no word'])[-1]

    def close(self):
        for container in self.containers:
            subprocess.run([str(a) for a in (*self.base, 'rm', container)], capture_output=True)


class Place:
    """A data folder, and what runs on it."""

    def __init__(self, runner, folder, name):
        self.runner, self.data, self.processes = runner, folder / name, []
        self.data.mkdir()
        shutil.chown(self.data, USER, USER)
        self.log = open(folder / f'{name}.log', 'ab')

    def start(self, *argv, env=()):
        command = [str(a) for a in self.runner.command(self.data, *argv, env=env)]
        self.processes.append(subprocess.Popen(command, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL))

    def run(self, *argv, env=()):
        return run(*self.runner.command(self.data, *argv, env=env))

    def give(self, name, text):
        path = self.data / name
        path.write_text(text)
        path.chmod(0o600)
        shutil.chown(path, USER, USER)

    def stop(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(30)
        self.log.close()


def runner_of(folder, archive):
    scratch = folder / 'scratch'
    scratch.mkdir()
    shutil.chown(scratch, USER, USER)
    podman = Podman(folder, archive)
    reason = podman.works(scratch)
    if not reason:
        return podman
    print(f'  podman cannot run it here ({reason}); buildah does, in a chroot', flush=True)
    buildah = Buildah(folder, archive)
    reason = buildah.works(scratch)
    if reason:
        print(f'SKIPPED: neither podman nor buildah runs containers on this machine: {reason}')
        sys.exit(77)
    return buildah


def data_goes_over(runner, folder):
    address = f'127.0.0.1:{free_port()}'
    server = Place(runner, folder, 'server')
    nodes = [Place(runner, folder, name) for name in ('one', 'two')]
    try:
        server.start('gridtorrent-server', '--listen', address, '--advertise', address, '--ready-file', '/data/ready.json')
        wait_until(lambda: (server.data / 'ready.json').exists(), 'the server')
        login = (f'GRIDTORRENT_SERVER={address}', 'GRIDTORRENT_CA=/data/ca.pem', 'GRIDTORRENT_TOKEN_FILE=/data/token')
        for place in nodes:
            place.give('ca.pem', (server.data / 'server/ca.pem').read_text())
            place.give('token', (server.data / 'server/admin-token').read_text())
            token = json.loads(place.run('node', 'enroll-token', '--json', env=login))['token']
            place.give('enroll', token)
            place.start('gridtorrentd', '--lane-ports', '0', '--tls-lane-ports', '0', '--name', place.data.name, '--ready-file', '/data/ready.json',
                        env=(*login[:2], 'GRIDTORRENT_ENROLL_TOKEN_FILE=/data/enroll'))
            wait_until(lambda place=place: (place.data / 'ready.json').exists(), 'a node')
        one, two = nodes
        one.give('run42', 'a line of data\n' * 100_000)
        one.run('publish', '/data/run42', '--name', 'run42', env=login)
        two.run('get', 'run42', '--to', '/data/in', env=login)
        if (two.data / 'in/run42').read_bytes() != (one.data / 'run42').read_bytes():
            raise Failed('what arrived differs')
    finally:
        for place in (*nodes, server):
            place.stop()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('archive', type=pathlib.Path)
    options = options.parse_args()
    started = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix='gridtorrent-containers-'))
    try:
        runner = runner_of(folder, options.archive.resolve())
        try:
            data_goes_over(runner, folder)
        finally:
            runner.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f'image: a server and two nodes ran in containers by {runner.name}, and a file went over; {time.monotonic() - started:.0f} s')


try:
    main()
except Failed as failure:
    sys.exit(f'image: {failure}')
