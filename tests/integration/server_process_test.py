"""The program gridtorrent-server as a process: ready file, signals, subcommands, exit codes and their one line.

    server_process_test.py PATH-OF-gridtorrent-server
"""
import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv.pop(1)
PATIENCE_S = 60


def run(*arguments, **environment):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE_S,
                          env={**os.environ, **environment})


class Server:
    """Runs until the end of the `with`."""

    def __init__(self, data_dir, *arguments):
        self.ready_file = pathlib.Path(data_dir).resolve().parent / 'ready.json'
        self.process = subprocess.Popen(
            [PROGRAM, '--data-dir', str(data_dir), '--listen', '127.0.0.1:0', '--ready-file', str(self.ready_file),
             *arguments], stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + PATIENCE_S
        while not self.ready_file.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError('the server did not start: ' + self.process.communicate()[1])
            time.sleep(0.02)
        self.ready = json.loads(self.ready_file.read_text())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.log = self.process.communicate(timeout=PATIENCE_S)[1]
        return self.process.returncode


class ServerProcess(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        self.data = self.root / 'data'

    def assert_one_line(self, result, code, part):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stderr.count('\n'), 1, result.stderr)
        self.assertIn(part, result.stderr)

    def test_first_start_names_what_a_client_needs(self):
        with Server(self.data) as server:
            self.assertEqual(server.ready['pid'], server.process.pid)
            self.assertRegex(server.ready['address'], r'^127\.0\.0\.1:\d+$')
            self.assertIn('BEGIN CERTIFICATE', pathlib.Path(server.ready['ca_file']).read_text())
            token = pathlib.Path(server.ready['admin_token_file'])
            self.assertEqual(stat.S_IMODE(token.stat().st_mode), 0o600)
            self.assertRegex(token.read_text(), r'^gtp_\w+\n$')
            self.assertEqual(stat.S_IMODE(self.data.stat().st_mode), 0o700)
            for secret in ('ca-key.pem', 'tls.pem', 'gridtorrent.db'):
                self.assertEqual(stat.S_IMODE((self.data / secret).stat().st_mode), 0o600, secret)
            self.assertEqual(server.end(), 0)
            self.assertFalse(server.ready_file.exists())
            self.assertNotIn(token.read_text().strip(), server.log)

    def test_a_relative_data_dir_is_named_in_full(self):
        folder = os.path.relpath(self.data) + '/'
        with Server(folder) as server:
            self.assertEqual(server.ready['ca_file'], str(self.data.resolve() / 'ca.pem'))

    def test_a_second_signal_does_not_wait(self):
        with Server(self.data) as server:
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(server.end(), 0)

    def test_a_kill_does_no_harm(self):
        with Server(self.data) as server:
            address_ca = pathlib.Path(server.ready['ca_file']).read_text()
            server.end(signal.SIGKILL)
            server.ready_file.unlink()
        with Server(self.data) as server:
            self.assertEqual(pathlib.Path(server.ready['ca_file']).read_text(), address_ca)
        self.assertEqual(run('--data-dir', self.data, 'check').returncode, 0)

    def test_sighup_makes_a_missing_certificate_anew_and_goes_on(self):
        with Server(self.data, '--log-format', 'json') as server:
            (self.data / 'tls.pem').unlink()
            server.process.send_signal(signal.SIGHUP)
            deadline = time.monotonic() + PATIENCE_S
            while not (self.data / 'tls.pem').exists():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            self.assertEqual(server.end(), 0)
            self.assertIn('made a new server certificate', [json.loads(line)['message'] for line in
                                                             server.log.splitlines()])

    def test_two_servers_on_one_folder(self):
        with Server(self.data):
            self.assert_one_line(run('--data-dir', self.data, '--listen', '127.0.0.1:0'), 6,
                                 'another gridtorrent-server')

    def test_port_in_use(self):
        with Server(self.data) as server:
            self.assert_one_line(run('--data-dir', self.root / 'other', '--listen', server.ready['address']), 6,
                                 'the port is in use')

    def test_an_environment_that_would_print_tokens(self):
        self.assert_one_line(run('--data-dir', self.data, GRPC_TRACE='http'), 2, 'GRPC_TRACE')

    def test_wrong_usage(self):
        self.assert_one_line(run('--data-dir', self.data, '--listen', 'nonsense'), 2, 'listen')

    def test_backup_beside_a_running_server_and_restore(self):
        backup = self.root / 'backup'
        with Server(self.data) as server:
            token = pathlib.Path(server.ready['admin_token_file']).read_text()
            self.assertEqual(run('--data-dir', self.data, 'backup', backup).returncode, 0)
            self.assert_one_line(run('--data-dir', self.data, 'backup', backup), 6, 'backup')
            self.assert_one_line(run('--data-dir', self.data, 'restore', backup), 6, 'another gridtorrent-server')
        fresh = self.root / 'fresh'
        restored = run('--data-dir', fresh, 'restore', backup)
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.assertEqual(run('--data-dir', fresh, 'check').returncode, 0)
        self.assertTrue(token)

    def test_a_damaged_database_is_refused(self):
        with Server(self.data):
            pass
        database = self.data / 'gridtorrent.db'
        damaged = bytearray(database.read_bytes())
        damaged[:100] = b'x' * 100
        database.write_bytes(damaged)
        result = run('--data-dir', self.data, '--listen', '127.0.0.1:0')
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertEqual(database.read_bytes(), bytes(damaged))

    def test_reflection_can_be_asked_for(self):
        with Server(self.data, '--reflection') as server:
            self.assertEqual(server.end(), 0)


if __name__ == '__main__':
    unittest.main(verbosity=2)
