"""A disk that takes only so many bytes a second: a file system in a file, whose device the kernel holds back."""
import os
import pathlib
import subprocess

from cpu_bound import Unable

# Of version 1 of control groups: there the root group is what writes pages back.
WRITES = pathlib.Path('/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device')
# Per cent of what may wait to be written on this machine that may wait for this disk. With the kernel's own 100, memory would take in the
# whole of a transfer of gigabytes, and nobody would wait.
WAITS = '1'


class SlowDisk:
    """The context in which `folder` is such a disk, with room for `size` bytes. Its bytes are kept beside it, in a file."""

    def __init__(self, folder, size, bytes_per_s):
        self.folder, self.size, self.bytes_per_s = pathlib.Path(folder), size, int(bytes_per_s)
        self.image, self.device = self.folder.with_name(self.folder.name + '.image'), None

    def __enter__(self):
        self.folder.mkdir()
        if not WRITES.exists():
            raise Unable(f'this machine holds no disk back: {WRITES} is missing (control groups of version 1)')
        try:
            with open(self.image, 'wb') as image:
                image.truncate(self.size)
            self.device = run('losetup', '--find', '--show', self.image)
            # Nothing is left to write after mkfs, which would share the rate with the first run.
            run('mkfs.ext4', '-q', '-O', '^has_journal', '-m', '0', '-E', 'lazy_itable_init=0,nodiscard', self.device)
            run('mount', self.device, self.folder)
            self.hold(self.bytes_per_s)
            waiting = pathlib.Path('/sys/class/bdi', self.number())
            (waiting / 'max_ratio').write_text(WAITS)
            (waiting / 'strict_limit').write_text('1')  # though the rest of memory waits for nothing
        except (OSError, subprocess.CalledProcessError) as e:
            self.__exit__()
            raise Unable(f'this machine has no slow disk: {getattr(e, "stderr", "").strip() or e}') from None
        return self

    def number(self):
        device = os.stat(self.device).st_rdev
        return f'{os.major(device)}:{os.minor(device)}'

    def hold(self, bytes_per_s):
        """0: no longer."""
        WRITES.write_text(f'{self.number()} {bytes_per_s}')

    def __exit__(self, *_):
        if self.device is None:
            return
        self.hold(0)
        if os.path.ismount(self.folder):
            run('umount', '--lazy', self.folder)  # nodes may have files open there
        run('losetup', '--detach', self.device)
        self.device = None


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
