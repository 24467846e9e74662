#!/usr/bin/env python3
"""gridtorrent-once, without Slurm and without a node: where it puts what a job fetches, and what it refuses there. ./dev slurm-check has the rest."""
import os
import pathlib
import stat
import subprocess
import tempfile

import cases

ONCE = pathlib.Path(__file__).resolve().parents[2] / 'packaging/slurm/gridtorrent-once'


class Job:
    """A job of array 7 on host c1, whose node does not start."""

    def __init__(self, folder):
        self.dir = pathlib.Path(folder)
        self.local = self.dir / 'local'
        self.here = self.local / f'gridtorrent-{os.getuid()}-7-c1'
        (self.dir / 'run/hosts').mkdir(parents=True)
        node = self.dir / 'bin/gridtorrentd'
        node.parent.mkdir()
        node.write_text('#!/bin/sh\nexit 1\n')
        node.chmod(0o755)
        self.env = {'PATH': f'{node.parent}:{os.environ["PATH"]}', 'SLURMD_NODENAME': 'c1', 'GRIDTORRENT_ARRAY': '7',
                    'GRIDTORRENT_RUN': str(self.dir / 'run'), 'GRIDTORRENT_LOCAL': str(self.local)}

    def fetch(self):
        return subprocess.run([str(ONCE), 'mia/run42'], env=self.env, capture_output=True, text=True, check=False)


def of_a_job(case):
    def run():
        with tempfile.TemporaryDirectory() as folder:
            case(Job(folder))
    run.__name__ = case.__name__
    return run


def refused(done, place):
    cases.check(done.returncode == 6, done)
    cases.check(str(place) in done.stderr and 'GRIDTORRENT_LOCAL' in done.stderr, done.stderr)


@of_a_job
def a_link_to_another_folder_is_refused(job):
    other = job.dir / 'other'
    other.mkdir()
    job.local.mkdir()
    job.here.symlink_to(other)
    refused(job.fetch(), job.here)
    cases.check(os.listdir(other) == [], f'written behind the link: {os.listdir(other)}')


@of_a_job
def a_link_to_nowhere_is_refused(job):
    job.local.mkdir()
    job.here.symlink_to(job.dir / 'nowhere')
    refused(job.fetch(), job.here)
    cases.check(not (job.dir / 'nowhere').exists(), 'a folder was made behind the link')


@of_a_job
def a_file_is_refused(job):
    job.local.mkdir()
    job.here.touch()
    refused(job.fetch(), job.here)


@of_a_job
def a_folder_of_somebody_else_is_refused(job):
    if os.getuid() != 0:
        return
    job.here.mkdir(parents=True)
    os.chown(job.here, 65534, 65534)
    refused(job.fetch(), job.here)


@of_a_job
def a_folder_that_is_made_is_private_and_serves_the_next_job_too(job):
    for _ in range(2):
        done = job.fetch()
        cases.check(done.returncode == 5 and 'did not start' in done.stderr, done)
        cases.check(stat.S_IMODE(job.here.stat().st_mode) == 0o700, f'{job.here.stat().st_mode:o}')


cases.run(a_link_to_another_folder_is_refused, a_link_to_nowhere_is_refused, a_file_is_refused, a_folder_of_somebody_else_is_refused,
          a_folder_that_is_made_is_private_and_serves_the_next_job_too)
