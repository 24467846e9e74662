"""People who begin with a home and nothing else, and a server that they can be invited to."""
import harness


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

    def node_runs(self):
        return self.cli('node', 'status', expect=None).code == 0

    def stop_node(self):
        self.cli('node', 'stop', expect=None)


def with_advertised_server(scene):
    """The server knows an address for other hosts; here they are this one."""
    port = harness.free_ports()
    scene.server(listen=f'127.0.0.1:{port}', advertise=f'127.0.0.1:{port}')
    return scene.admin()
