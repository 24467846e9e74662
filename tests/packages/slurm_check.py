#!/usr/bin/env python3
"""./dev slurm-check: an array of 32 jobs on two hosts of a real Slurm fetches a data set once a host and leaves nothing behind.

One slurmctld and two slurmd run here as root, each with a host name and a network namespace of its own. The scripts are those of
packaging/slurm. The hosts are in a partition that is not the default one. One job asks for a second, small data set, whose folder has the
name of the first one's. What each host received is read from its link's counter.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests/e2e'))
import cases  # noqa: E402
import harness  # noqa: E402
import netns  # noqa: E402

JOBS, HOSTS, MEGABYTES, SMALL = 32, ('c1', 'c2'), 500, 100_000
SLURM = ROOT / 'packaging/slurm'
SCRIPT = f'''#!/bin/bash
set -e
if [ "$SLURM_ARRAY_TASK_ID" = {JOBS} ]; then  # the last one, when the hosts have the first data set
  for content in mia/run42 mia/small mia/run42; do gridtorrent-once "$content"; done >paths.out
  stat -c %s $(cat paths.out) >sizes.out
fi
exec {SLURM}/analyse.sh
'''


def conf(folder, hosts):
    nodes = ''.join(f'NodeName={name} NodeAddr={hosts[name].address} CPUs=4 State=UNKNOWN\n' for name in HOSTS)
    return f'''
ClusterName=check
SlurmctldHost=ctl({hosts["ctl"].address})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SchedulerParameters=sched_min_interval=100000
MinJobAge=300
{nodes}NodeName=away CPUs=1 State=DOWN
PartitionName=usual Nodes=away Default=YES MaxTime=INFINITE State=UP
PartitionName=data Nodes={",".join(HOSTS)} MaxTime=INFINITE State=UP OverSubscribe=NO
'''


class Cluster:
    """munged, slurmctld and two slurmd in a folder of their own, on hosts of a netns.Network."""

    def __init__(self, folder, network):
        self.folder, self.network, self.running = folder, network, []
        self.conf = folder / 'slurm.conf'
        self.env = {**os.environ, 'SLURM_CONF': str(self.conf)}

    def start(self, argv, name, host=None):
        log = open(self.folder / f'{name}.out', 'ab')
        if host:  # a host name of its own, as a host has
            argv = harness.inside(self.network[host].ns) + ['unshare', '--uts', '--', 'sh', '-c', f'hostname {host} && exec "$0" "$@"', *argv]
        self.running.append(subprocess.Popen([str(a) for a in argv], stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.env,
                                             start_new_session=True))

    def __enter__(self):
        try:
            self.boot()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def boot(self):
        (self.folder / 'state').mkdir()
        key = self.folder / 'munge.key'
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        self.folder.chmod(0o755)
        self.start(['munged', '--foreground', '--force', f'--key-file={key}', f'--socket={self.folder}/munge.sock', f'--pid-file={self.folder}/munge.pid',
                    f'--log-file={self.folder}/munge.log', f'--seed-file={self.folder}/munge.seed'], 'munged')
        harness.wait_until(lambda: (self.folder / 'munge.sock').exists(), 'munged')
        self.conf.write_text(conf(self.folder, self.network))
        # No control groups are used; slurmd looks for some all the same, and autodetection wants them mounted.
        (self.folder / 'cgroup.conf').write_text(f'CgroupPlugin=cgroup/v1\nCgroupMountpoint={self.folder}/cgroup\n')
        self.start(['slurmctld', '-D', '-f', self.conf], 'slurmctld', 'ctl')
        for name in HOSTS:
            (self.folder / f'spool-{name}').mkdir()
            self.start(['slurmd', '-D', '-f', self.conf], f'slurmd-{name}', name)
        harness.wait_until(lambda: self.ask('sinfo', '-h', '-N', '-t', 'idle', '-o', '%N', check=False).split() == list(HOSTS), 'two idle hosts', 60)

    def ask(self, *argv, check=True):
        done = subprocess.run(harness.inside(self.network['ctl'].ns) + list(argv), env=self.env, capture_output=True, text=True)
        if check and done.returncode:
            raise AssertionError(f'{" ".join(argv)}: {done.stderr}')
        return done.stdout

    def __exit__(self, *failure):
        for process in reversed(self.running):
            process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if failure[0]:
            for log in sorted(self.folder.glob('*.log')) + sorted(self.folder.glob('*.out')):
                print(f'--- {log.name}\n{log.read_text(errors="replace")[-2000:]}', file=sys.stderr)


def received(host):
    text = netns.run('ip', '-n', host.ns, '-s', 'link', 'show', 'dev', 'eth0')
    return int(re.search(r'RX:.*\n\s*(\d+)', text)[1])


def submit(cluster, user, server, work, local):
    env = {**user.env, **{k: v for k, v in cluster.env.items() if k == 'SLURM_CONF'}, 'PATH': f'{SLURM}:{user.scene.bin}:{os.environ["PATH"]}',
           'GRIDTORRENT_SERVER': server.address, 'GRIDTORRENT_CA': server.ready['ca_file'], 'GRIDTORRENT_LOCAL': str(local), 'CONTENT': 'mia/run42'}
    script = user.scene.dir / 'job.sh'
    script.write_text(SCRIPT)
    done = subprocess.run(harness.inside(cluster.network['ctl'].ns) + [str(SLURM / 'gridtorrent-array'), str(script), f'--array=1-{JOBS}',
                          '--partition=data', f'--output={work}/%a.out'], cwd=work, env=env, capture_output=True, text=True)
    cases.check(done.returncode == 0, f'gridtorrent-array: {done.stdout}{done.stderr}')
    return done.stdout.strip()


def check(cluster, scene, mia, megabytes):
    size = megabytes * 1_000_000
    source = cases.make_file(scene.dir / 'in/run42', size)
    seeder = scene.node(mia, 'seeder', netns=cluster.network['data'].ns)
    mia.cli('publish', source, '--name', 'run42', '--access', 'private', node=seeder)
    mia.cli('publish', cases.make_file(scene.dir / 'in/small/run42', SMALL), '--name', 'small', '--access', 'private', node=seeder)
    work, local = scene.dir / 'work', scene.dir / 'local'
    for folder in (work, local):
        folder.mkdir()
    before = {name: received(cluster.network[name]) for name in HOSTS}
    started = time.monotonic()
    submit(cluster, mia, scene.the_server, work, local)
    harness.wait_until(lambda: not cluster.ask('squeue', '-h', '-o', '%i').split(), 'all jobs to end', 600)
    seconds = time.monotonic() - started
    lines = [(work / f'{job}.out').read_text().splitlines()[-1].split() for job in range(1, JOBS + 1)]
    cases.check(all(line[0] == str(job) and line[2] == str(size) for job, line in enumerate(lines, 1)), f'what the jobs say: {lines}')
    ran = {name: sum(line[1] == name for line in lines) for name in HOSTS}
    cases.check(all(ran.values()), f'both hosts had jobs: {ran}')
    for name in HOSTS:
        ratio = (received(cluster.network[name]) - before[name]) / size
        print(f'  {name}: {ran[name]} jobs, received {ratio:.3f} times the data set', flush=True)
        cases.check(0.99 < ratio <= 1.05, f'{name} received {ratio:.3f} times the data set')
    first, second, again = (work / 'paths.out').read_text().split()
    sizes = (work / 'sizes.out').read_text().split()
    cases.check(first == again != second and sizes == [str(size), str(SMALL), str(size)], f'two contents of one job: {first} {second} {again} {sizes}')
    harness.wait_until(lambda: not list(local.iterdir()), 'the folders of the hosts to go', 5)
    left = [path.name for path in work.iterdir() if path.suffix != '.out']
    cases.check(not left, f'left in the folder of the submission: {left}')
    daemons = [pid for pid in os.listdir('/proc') if pid.isdigit() and str(local).encode() in cmdline(pid)]
    cases.check(not daemons, f'processes are left: {daemons}')
    print(f'  {JOBS} jobs on {len(HOSTS)} hosts in {seconds:.0f} s, {megabytes} MB; nothing is left behind', flush=True)


def cmdline(pid):
    try:
        return pathlib.Path(f'/proc/{pid}/cmdline').read_bytes()
    except OSError:
        return b''


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--bin', type=pathlib.Path, default=harness.default_bin())
    options.add_argument('--megabytes', type=int, default=MEGABYTES)
    options = options.parse_args()
    netns.require_root()
    for program in ('slurmctld', 'slurmd', 'munged'):
        if not shutil.which(program):
            harness.skip(f'{program} is not here (Debian: slurm-wlm, munge)')
    with netns.Network('ctl', 'data', *HOSTS) as network, harness.Scene(options.bin) as scene:
        scene.server(netns=network['ctl'].ns, listen=f'{network["ctl"].address}:7443')
        mia = scene.user('mia', netns=network['ctl'].ns)
        folder = pathlib.Path(tempfile.mkdtemp(prefix='gridtorrent-slurm-'))
        try:
            with Cluster(folder, network) as cluster:
                check(cluster, scene, mia, options.megabytes)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print('slurm: all checks passed')


main()
