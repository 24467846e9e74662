"""A clean Debian 12 with systemd in a folder, booted by systemd-nspawn without a network but its own loopback."""
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import time

BOOT_S = 60


class Failed(Exception):
    pass


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], text=True, capture_output=True, **options)
    if done.returncode:
        raise Failed(f'{" ".join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}')
    return done.stdout


class Machine:
    """Made once by make(); start() boots it. `debs` is seen inside as /debs."""

    def __init__(self, debs):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='gridtorrent-machine-'))
        self.root = self.folder / 'root'
        self.debs = pathlib.Path(debs).resolve()
        self.console = open(self.folder / 'console.log', 'wb')
        self.process = None
        self.leader = None

    def make(self):
        """Debian's packages come through apt of this machine; what ours depend on is downloaded, not installed."""
        sources = [s for s in ('/etc/apt/sources.list.d/debian.sources', '/etc/apt/sources.list') if os.path.exists(s)][:1]
        run('mmdebstrap', '--variant=apt', '--include=systemd,dbus,libpam-systemd,procps', '--customize-hook',
            f'printf "127.0.0.1 localhost clean\n" > "$1/etc/hosts" && mkdir -p "$1/debs" && cp {self.debs}/*.deb "$1/debs/" && chroot "$1" sh -c "apt-get update -qq && '
            'apt-get install -y -qq --download-only --no-install-recommends /debs/*.deb" && rm -r "$1/debs"/*',
            '--skip=cleanup/apt', 'bookworm', self.root, *sources)

    def start(self):
        self.process = subprocess.Popen(
            ['systemd-nspawn', '--quiet', '--register=no', '--keep-unit', '--private-network', '--hostname=clean', '-D', self.root,
             f'--bind={self.debs}:/debs', '--boot'],
            stdout=self.console, stderr=self.console, stdin=subprocess.DEVNULL, start_new_session=True)
        until = time.monotonic() + BOOT_S
        while time.monotonic() < until:
            children = subprocess.run(['pgrep', '-P', str(self.process.pid)], capture_output=True, text=True).stdout.split()
            if children:
                self.leader = children[0]
                state = subprocess.run(self.inside('systemctl', 'is-system-running'), capture_output=True, text=True).stdout.strip()
                if state in ('running', 'degraded'):
                    return
            time.sleep(0.2)
        raise Failed(f'the machine did not boot within {BOOT_S} s; see {self.console.name}')

    def inside(self, *command):
        return ['nsenter', '--target', self.leader, '--all', '--', 'env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'LANG=C.UTF-8', 'HOME=/root',
                'DEBIAN_FRONTEND=noninteractive', *map(str, command)]

    def run(self, *command, **options):
        return run(*self.inside(*command), **options)

    def succeeds(self, *command):
        return subprocess.run(self.inside(*command), capture_output=True).returncode == 0

    def admin(self):
        return User(self, 'root', 0)

    def user(self, name):
        self.run('useradd', '--create-home', '--shell', '/bin/bash', name)
        self.run('loginctl', 'enable-linger', name)
        uid = self.run('id', '-u', name).strip()
        wait_until(lambda: self.succeeds('test', '-S', f'/run/user/{uid}/systemd/private'), f"systemd of {name}")
        return User(self, name, uid)

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.console.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class User:
    def __init__(self, machine, name, uid):
        self.machine, self.name, self.uid = machine, name, uid

    def command(self, *command):
        if self.name == 'root':  # as with sudo: no session, no systemd of their own
            return list(map(str, command))
        return ['runuser', '-u', self.name, '--', 'env', f'HOME=/home/{self.name}', f'XDG_RUNTIME_DIR=/run/user/{self.uid}', f'USER={self.name}',
                *map(str, command)]

    def run(self, *command, **options):
        return self.machine.run(*self.command(*command), **options)

    def in_shell(self, script):
        return self.machine.inside(*self.command('bash', '-ec', f'cd ~; {script}'))

    def shell(self, script):
        return run(*self.in_shell(script))


def typed(command, answers, seconds=120):
    """Runs a command on a terminal of its own and types the answer (a line) where a question shows; returns what was shown."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    shown, answered, until = b'', 0, time.monotonic() + seconds
    while time.monotonic() < until:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                part = os.read(terminal, 4096)
            except OSError:  # the terminal's other end is closed
                break
            if not part:
                break
            shown += part
        for question, answer in answers.items():
            place = shown.find(question.encode(), answered)
            if place >= 0:
                answered = place + len(question)
                os.write(terminal, answer.encode() + b'\n')
    else:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    text = shown.decode(errors='replace').replace('\r', '')
    if code:
        raise Failed(f'{" ".join(command)} ended with {code}:\n{text}')
    return text


def wait_until(true, what, seconds=30):
    until = time.monotonic() + seconds
    while not true():
        if time.monotonic() > until:
            raise Failed(f'{what}: not within {seconds} s')
        time.sleep(0.2)
