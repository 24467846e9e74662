"""Hosts of our own on one machine: network namespaces joined by a bridge, with veth pairs and shaped uplinks.

Addresses are from 198.18.0.0/15 (RFC 2544, benchmarking): libtorrent treats private ones as local, which would hide choking and
limits. Traffic stays inside the namespaces made here. Needs root; `require_root` skips visibly where it is missing.
"""
import os
import shutil
import subprocess

import harness


def require_root():
    if os.geteuid() != 0:
        harness.skip('network namespaces need root')
    if not shutil.which('ip') or not shutil.which('tc'):
        harness.skip('network namespaces need iproute2')
    probe = f'gt-probe-{os.getpid()}'
    if subprocess.run(['ip', 'netns', 'add', probe], capture_output=True).returncode != 0:
        harness.skip('this machine lets nobody make network namespaces')
    subprocess.run(['ip', 'netns', 'del', probe], check=True)


def run(*args, text=None):
    done = subprocess.run([str(a) for a in args], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f'{" ".join(map(str, args))}: {done.stderr.strip()}')
    return done.stdout


class Network:
    """Hosts on one bridge, which lives in a namespace of its own. Leaving it removes everything."""

    def __init__(self, *hosts, prefix=None):
        self.prefix = prefix or f'gt{os.getpid() % 100000}'
        self.switch = f'{self.prefix}-sw'
        self.hosts = {}
        self.names = hosts

    def __enter__(self):
        run('ip', 'netns', 'add', self.switch)
        run('ip', '-n', self.switch, 'link', 'add', 'br0', 'type', 'bridge')
        run('ip', '-n', self.switch, 'link', 'set', 'br0', 'up')
        for i, name in enumerate(self.names, 1):
            ns, address = f'{self.prefix}-{name}', f'198.18.0.{i}'
            run('ip', 'netns', 'add', ns)
            run('ip', '-n', ns, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', f'v{i}', 'netns', self.switch)
            run('ip', '-n', ns, 'addr', 'add', f'{address}/24', 'dev', 'eth0')
            run('ip', '-n', ns, '-6', 'addr', 'add', f'fd12::{i}/64', 'dev', 'eth0', 'nodad')
            run('ip', '-n', ns, 'link', 'set', 'eth0', 'up')
            run('ip', '-n', ns, 'link', 'set', 'lo', 'up')
            run('ip', '-n', self.switch, 'link', 'set', f'v{i}', 'master', 'br0')
            run('ip', '-n', self.switch, 'link', 'set', f'v{i}', 'up')
            self.hosts[name] = Host(ns, address, f'fd12::{i}')
        return self

    def hide_behind(self, gateway, *names):
        """New hosts behind a gateway of this network: outside they all have its address, and nobody can dial them."""
        gw = self.hosts[gateway]
        run('ip', '-n', gw.ns, 'link', 'add', 'in0', 'type', 'bridge')
        run('ip', '-n', gw.ns, 'addr', 'add', '198.19.0.254/24', 'dev', 'in0')
        run('ip', '-n', gw.ns, 'link', 'set', 'in0', 'up')
        for i, name in enumerate(names, 1):
            ns, address = f'{self.prefix}-{name}', f'198.19.0.{i}'
            run('ip', 'netns', 'add', ns)
            self.hosts[name] = Host(ns, address, None)
            run('ip', '-n', ns, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', f'n{i}', 'netns', gw.ns)
            run('ip', '-n', ns, 'addr', 'add', f'{address}/24', 'dev', 'eth0')
            for device in ('eth0', 'lo'):
                run('ip', '-n', ns, 'link', 'set', device, 'up')
            run('ip', '-n', gw.ns, 'link', 'set', f'n{i}', 'master', 'in0')
            run('ip', '-n', gw.ns, 'link', 'set', f'n{i}', 'up')
            run('ip', '-n', ns, 'route', 'add', 'default', 'via', '198.19.0.254')
        run('ip', 'netns', 'exec', gw.ns, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward')
        rules = """
            table ip gridtorrent_nat {
                chain out {
                    type nat hook postrouting priority 100;
                    oifname "eth0" masquerade
                }
            }
        """
        run('ip', 'netns', 'exec', gw.ns, 'nft', '-f', '-', text=rules)

    def __exit__(self, *_):
        for ns in [*(h.ns for h in self.hosts.values()), self.switch]:
            subprocess.run(['ip', 'netns', 'del', ns], capture_output=True)

    def __getitem__(self, name):
        return self.hosts[name]


class Host:
    def __init__(self, ns, address, address6):
        self.ns, self.address, self.address6 = ns, address, address6

    def argv(self, command):
        """The command as it runs on this host."""
        return harness.inside(self.ns) + [os.fspath(a) if isinstance(a, os.PathLike) else str(a) for a in command]

    def run(self, command, timeout_s=600, **options):
        """Runs it to its end there; its output as text. Another exit code than 0 is a failure that shows all it said."""
        done = subprocess.run(self.argv(command), capture_output=True, text=True, timeout=timeout_s, stdin=subprocess.DEVNULL, **options)
        if done.returncode != 0:
            raise AssertionError(f'{" ".join(map(str, command))}: exit {done.returncode}\n{done.stdout}{done.stderr}')
        return done.stdout

    def popen(self, command, **options):
        """Starts it there, in a process group of its own."""
        return subprocess.Popen(self.argv(command), stdin=subprocess.DEVNULL, start_new_session=True, **options)

    def shape_uplink(self, mbit, limit_bytes=None):
        """Everything that this host sends goes through a token bucket; the queue holds 50 ms by default."""
        burst = max(32_000, mbit * 1_000_000 // 8 // 500)
        limit = limit_bytes or max(4 * burst, mbit * 1_000_000 // 8 // 20)
        run('tc', '-n', self.ns, 'qdisc', 'replace', 'dev', 'eth0', 'root', 'tbf', 'rate', f'{mbit}mbit', 'burst', burst,
            'limit', limit)

    def drop_inbound(self):
        """A firewall that lets nobody in: only replies to what this host started (and loopback)."""
        rules = """
            table inet gridtorrent {
                chain input {
                    type filter hook input priority 0; policy drop;
                    iif lo accept
                    ct state established,related accept
                    meta l4proto ipv6-icmp accept
                }
            }
        """
        run('ip', 'netns', 'exec', self.ns, 'nft', '-f', '-', text=rules)

    def allow_inbound(self):
        run('ip', 'netns', 'exec', self.ns, 'nft', 'delete', 'table', 'inet', 'gridtorrent')

    def established(self, ports):
        """Established TCP connections with a local or remote port among `ports`, as ss counts them."""
        lines = run('ip', 'netns', 'exec', self.ns, 'ss', '-tnH', 'state', 'established').splitlines()
        count = 0
        for line in lines:
            local, remote = line.split()[2:4]
            if int(local.rsplit(':', 1)[1]) in ports or int(remote.rsplit(':', 1)[1]) in ports:
                count += 1
        return count

    def sent_bytes(self):
        text = run('ip', '-n', self.ns, '-s', '-j', 'link', 'show', 'dev', 'eth0')
        import json
        return json.loads(text)[0]['stats64']['tx']['bytes']
