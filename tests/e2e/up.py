#!/usr/bin/env python3
"""./dev up: a server and one node for this user, in the foreground, ready for the command line.

State lives in $XDG_STATE_HOME/gridtorrent/up and is found again at the next start. Ctrl-C stops both.
With --window (./dev gui) the desktop application is shown, and closing it stops both.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time


def wait_ready(process, ready_file, what):
    while not ready_file.exists():
        if process.poll() is not None:
            raise SystemExit(f'{what} ended with {process.returncode} before it was ready')
        time.sleep(0.05)
    return json.loads(ready_file.read_text())


def main():
    bin_dir = pathlib.Path(sys.argv[sys.argv.index('--bin') + 1])
    home = pathlib.Path(os.environ.get('XDG_STATE_HOME') or pathlib.Path.home() / '.local/state') / 'gridtorrent/up'
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    ready = {n: home / f'{n}.ready.json' for n in ('server', 'node')}
    for file in ready.values():
        file.unlink(missing_ok=True)

    def cli(*args):
        return subprocess.run([bin_dir / 'gridtorrent', *map(str, args)], check=True, capture_output=True, text=True).stdout

    server = subprocess.Popen([bin_dir / 'gridtorrent-server', '--data-dir', home / 'server', '--listen', '127.0.0.1:8460',
                               '--ready-file', ready['server']], start_new_session=True)
    node = None
    try:
        at = wait_ready(server, ready['server'], 'the server')
        cli('login', '--server', at['address'], '--ca', at['ca_file'], '--user', 'admin', '--token-file', at['admin_token_file'])
        token = home / 'enroll.token'
        token.touch(mode=0o600)
        if not (home / 'node').exists():
            token.write_text(json.loads(cli('node', 'enroll-token', '--name', 'here', '--json'))['token'])
        node = subprocess.Popen([bin_dir / 'gridtorrentd', '--data-dir', home / 'node', '--server', at['address'], '--ca', at['ca_file'],
                                 '--enroll-token-file', token, '--name', 'here', '--lane-ports', '0', '--tls-lane-ports', '0',
                                 '--ready-file', ready['node']], start_new_session=True)
        mine = wait_ready(node, ready['node'], 'the node')
        print(f'server   {at["address"]}   (CA: {at["ca_file"]})\nnode     {mine["node_id"]}\nsocket   {mine["control_socket"]}\n'
              f'you are logged in as admin; try, in another terminal:\n\n  export PATH={bin_dir}:$PATH GRIDTORRENT_SOCKET={mine["control_socket"]}\n'
              '  gridtorrent publish ~/some-folder --name first\n  gridtorrent search\n\nCtrl-C stops both.', flush=True)
        if '--window' in sys.argv:
            subprocess.run([bin_dir / 'gridtorrent-gui', '--socket', mine['control_socket']])
        else:
            signal.pause()
    except KeyboardInterrupt:
        print('\nstopping')
    finally:
        for process in (node, server):
            if process is not None and process.poll() is None:
                process.terminate()
                process.wait()


main()
