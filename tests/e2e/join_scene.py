"""People who begin with a home and nothing else, and a server that they can be invited to."""
import os
import socket

import harness

FIRST_UID = 61_001  # of nobody: files and processes of such an id need no account


class Newcomer(harness.User):
    """Somebody who has a home and nothing else; no systemd of theirs runs here."""

    def __init__(self, scene, name):
        super().__init__(scene, name)
        runtime = scene.sockets / name
        runtime.mkdir(mode=0o700)
        path = scene.dir / 'no-systemd'
        path.mkdir(exist_ok=True)
        (path / 'systemctl').write_text('#!/bin/sh\nexit 1\n')
        (path / 'systemctl').chmod(0o755)
        self.env.update({'XDG_RUNTIME_DIR': str(runtime), 'USER': name, 'PATH': f'{path}:{self.env["PATH"]}',
                         'GRIDTORRENT_CONFIG': '', 'XDG_STATE_HOME': str(self.home / '.local/state')})
        self.password = scene.dir / f'{name}.secret'
        self.password.touch(mode=0o600)
        self.password.write_text(f'{name} likes long passphrases')
        scene.secret_files.append(self.password)
        scene.users[name] = self

    def join(self, link, *args, expect=0):
        return self.cli('join', link, '--yes', '--password-file', self.password, *args, expect=expect)

    @property
    def data(self):
        """Where the node has its data, unless it was told otherwise."""
        return self.home / '.local/share/gridtorrent/node'

    @property
    def state(self):
        """What is kept of the node of this host: its log, what a first start needs."""
        return self.home / '.local/state/gridtorrent/node' / socket.gethostname()

    def node_runs(self):
        return self.cli('node', 'status', expect=None).code == 0

    def stop_node(self):
        self.cli('node', 'stop', expect=None)


class HostUser(Newcomer):
    """One of several users of this host, with a user id of their own; needs root."""

    def __init__(self, scene, name, uid):
        super().__init__(scene, name)
        self.uid = uid
        for path in (scene.dir, scene.sockets):
            path.chmod(0o711)
        for path in (self.home, scene.sockets / name):
            os.chown(path, uid, uid)
            path.chmod(0o700)
        os.chown(self.password, uid, uid)

    def as_self(self, *command):
        return ['setpriv', f'--reuid={self.uid}', f'--regid={self.uid}', '--clear-groups', '--', *command]

    def argv(self, args, node=None):
        return self.as_self(*super().argv(args, node))

    def check_reach(self):
        """Skips where a user other than root cannot run the programs."""
        if self.cli('--version', expect=None).code != 0:
            harness.skip(f'user {self.uid} cannot run the programs in {self.scene.bin}')


def with_advertised_server(scene):
    """The server knows an address for other hosts; here they are this one."""
    port = harness.free_ports()
    scene.server(listen=f'127.0.0.1:{port}', advertise=f'127.0.0.1:{port}')
    return scene.admin()
