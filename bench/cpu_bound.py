"""Holds a program to a part of one core, by a cgroup of its own."""
import os
import pathlib

# A program that used its part stands still for the rest of the period. 10 ms is short beside the round trips of all scenarios; a period of
# 100 ms, the kernel's own, would show as jitter of the path.
PERIOD_US = 10_000
VERSION_1 = pathlib.Path('/sys/fs/cgroup/cpu')
VERSION_2 = pathlib.Path('/sys/fs/cgroup')


class Unable(RuntimeError):
    """This machine holds nobody to a part of a core; why."""


def files_of(folder, version):
    """What to write into a group so that it gets `quota` microseconds a period: [(file, text with {quota})]."""
    if version == 1:
        return [(folder / 'cpu.cfs_period_us', str(PERIOD_US)), (folder / 'cpu.cfs_quota_us', '{quota}')]
    return [(folder / 'cpu.max', f'{{quota}} {PERIOD_US}')]


class CpuBound:
    """The context in which a process and all its threads have `cores` of one core."""

    def __init__(self, pid, cores):
        self.pid, self.cores = pid, cores

    def __enter__(self):
        version = 1 if (VERSION_1 / 'cpu.cfs_quota_us').exists() or (VERSION_1 / 'cgroup.procs').exists() else 2
        root = VERSION_1 if version == 1 else VERSION_2
        self.folder = root / f'gridtorrent-bench-{self.pid}'
        try:
            if version == 2 and 'cpu' not in (root / 'cgroup.subtree_control').read_text().split():
                (root / 'cgroup.subtree_control').write_text('+cpu')
            self.folder.mkdir()
            for file, text in files_of(self.folder, version):
                file.write_text(text.format(quota=round(self.cores * PERIOD_US)))
            (self.folder / 'cgroup.procs').write_text(str(self.pid))
        except OSError as e:
            self.__exit__()
            raise Unable(f'this machine holds no program to {self.cores} of a core: {e}') from None
        return self

    def __exit__(self, *_):
        """The program goes on without the bound, if it still runs."""
        if not self.folder.exists():
            return
        for pid in (self.folder / 'cgroup.procs').read_text().split():
            try:
                (self.folder.parent / 'cgroup.procs').write_text(pid)
            except OSError:
                continue  # it ended meanwhile
        os.rmdir(self.folder)
