"""A command with a terminal of its own, as a person has one."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time


def set_size(fd, columns, rows=24):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))


class Terminal:
    """Runs `argv` in a session whose terminal is this one; `close` hangs up, as closing the window does."""

    def __init__(self, argv, env, columns=80):
        self.said = ''
        self.code = None
        self._read = 0
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            try:
                set_size(0, columns)
                os.execve(argv[0], argv, env)
            finally:
                os._exit(127)

    def resize(self, columns):
        set_size(self.master, columns)

    def type(self, text):
        os.write(self.master, text.encode())

    def _pump(self, seconds):
        """Takes what the command writes for so long; False once it has closed its terminal."""
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return True
        try:
            new = os.read(self.master, 65536)
        except OSError:  # EIO: nobody holds the other side
            return False
        self.said += new.decode(errors='replace')
        return bool(new)

    def until(self, condition, what, timeout_s=30):
        """Reads until `condition(what was said since the last until)` holds."""
        deadline = time.monotonic() + timeout_s
        while not condition(self.said[self._read:]):
            if time.monotonic() > deadline or not self._pump(0.1):
                raise AssertionError(f'{what} never came; the terminal shows:\n{self.said}')
        shown, self._read = self.said[self._read:], len(self.said)
        return shown

    def end(self, timeout_s=30):
        """Its exit code, once it has ended."""
        deadline = time.monotonic() + timeout_s
        while self.code is None:
            open_ = self._pump(0.05)
            pid, status = os.waitpid(self.pid, 0 if not open_ else os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
                while select.select([self.master], [], [], 0)[0] and self._pump(0):
                    pass
            elif time.monotonic() > deadline:
                raise AssertionError(f'the command goes on; the terminal shows:\n{self.said}')
        return self.code

    def close(self):
        """Hangs up; what still listens to this terminal is told by the kernel (SIGHUP)."""
        if self.master >= 0:
            os.close(self.master)
        self.master = -1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
        if self.code is None:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
