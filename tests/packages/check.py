#!/usr/bin/env python3
"""./dev deb --check [--before DIR]: are the packages sound, and do they work on a clean Debian 12?

They are checked by lintian, then installed on a machine that systemd-nspawn boots without a network. docs/quickstart.md is played there
word for word; then all packages are upgraded during a transfer, and purged.
--before DIR has the packages that are upgraded from; without it the same ones are installed again.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from machine import Failed, Machine, run, typed, wait_until

PACKAGES = ('server', 'node', 'cli', 'gui')
DATA_MB = 200
PASSWORD = 'mia likes long passphrases'
RATE = '40Mbit'  # so slow that the upgrade falls into the transfer


def said(text):
    print(f'  {text}', flush=True)


def files_are_valid(debs):
    run('lintian', '--fail-on', 'error', '--allow-root', *debs)
    desktop = pathlib.Path(__file__).parents[2] / 'packaging/desktop'
    run('desktop-file-validate', desktop / 'gridtorrent-gui.desktop')
    run('appstreamcli', 'validate', '--no-net', desktop / 'org.gridtorrent.Desktop.metainfo.xml')
    said('lintian, desktop-file-validate and appstreamcli: no errors')


def units_are_valid(machine):
    for unit in ('system/gridtorrent-server.service', 'system/gridtorrent-node@.service', 'user/gridtorrent-node.service'):
        scope = ('--user',) if unit.startswith('user') else ()
        path = f'/usr/lib/systemd/{unit}' if scope else f'/lib/systemd/{unit}'
        machine.run('env', 'XDG_RUNTIME_DIR=/run', 'systemd-analyze', *scope, '--man=no', 'verify', path.replace('@.', '@root.'))
    for unit, bound, wanted in (('gridtorrent-server.service', 2.0, {'DynamicUser': 'yes', 'MemoryMax': str(4 << 30)}),
                                ('gridtorrent-node@mia.service', 3.0, {'MemoryMax': str(4 << 30)})):
        shown = machine.run('systemctl', 'show', unit, f'--property={",".join(wanted)}').split()
        missing = {f'{name}={value}' for name, value in wanted.items()} - set(shown)
        if missing:
            raise Failed(f'{unit} lacks {" ".join(sorted(missing))}: it has {" ".join(shown)}')
        last = machine.run('systemd-analyze', 'security', '--no-pager', unit).strip().splitlines()[-1]
        exposure = re.search(r': ([0-9]+\.[0-9]+) ', last)
        if not exposure or float(exposure[1]) > bound:
            raise Failed(f'{unit} is more exposed than {bound}: {last}')
        said(f'{unit}: valid; exposure {exposure[1]}, at most {bound}')


PAGES = ('man/man1/gridtorrent.1.gz', 'man/man8/gridtorrentd.8.gz', 'man/man8/gridtorrent-server.8.gz', 'man/man1/gridtorrent-gui.1.gz')
COMPLETIONS = ('bash-completion/completions/gridtorrent', 'zsh/vendor-completions/_gridtorrent', 'fish/vendor_completions.d/gridtorrent.fish')


DESKTOP = ('applications/gridtorrent-gui.desktop', 'metainfo/org.gridtorrent.Desktop.metainfo.xml')
SERVER_CONFIG = '/etc/gridtorrent/gridtorrent-server.toml'


def install(machine):
    machine.run('sh', '-c', 'apt-get install -y -qq --no-install-recommends /debs/*.deb')
    said('installed without a network but what apt had downloaded')


def nothing_is_left_out(machine):
    """Of the packages that are checked; those before them may have had less."""
    names = machine.run('dpkg-query', '-f', '${Package} ', '-W', 'gridtorrent-*').split()
    installed = machine.run('dpkg', '-L', *names).split()
    missing = [path for path in (*PAGES, *COMPLETIONS, *DESKTOP) if f'/usr/share/{path}' not in installed]
    if not any(re.fullmatch(r'/usr/share/icons/hicolor/.*/apps/.*gridtorrent.*', path, re.IGNORECASE) for path in installed):
        missing.append('an icon')
    if missing:
        raise Failed(f'the packages lack {" ".join(missing)}')
    if SERVER_CONFIG not in machine.run('dpkg-query', '-f', '${Conffiles}', '-W', 'gridtorrent-server'):
        raise Failed(f'{SERVER_CONFIG} is no conffile')
    if 'advertise = "127.0.0.1:7443"' not in machine.run('cat', SERVER_CONFIG):
        raise Failed(f'the upgrade lost what was written into {SERVER_CONFIG}')
    said('man pages, completions, desktop entry, AppStream and icon are there; the edited conffile was kept')


def quickstart(machine):
    """Plays docs/quickstart.md word for word, on one host: both people's nodes are there. Returns the two."""
    text = (pathlib.Path(__file__).parents[2] / 'docs/quickstart.md').read_text()
    lines = re.findall(r'^(admin|mia)\$ (.*)$', text, re.MULTILINE)
    mia = machine.user('mia')
    machine.run('sh', '-c', 'echo \'advertise = "127.0.0.1:7443"\' >> /etc/gridtorrent/gridtorrent-server.toml; '
                            f'mkdir -p /data/run42/sub; head -c {DATA_MB}000000 /dev/urandom > /data/run42/data.bin; echo x > /data/run42/sub/notes')
    started, link = time.monotonic(), 'LINK'
    for who, line in lines:
        line = line.replace('LINK', link).replace('sudo ', '')
        command = mia.in_shell(line) if who == 'mia' else machine.inside('sh', '-c', line)
        out = typed(command, {'[y/N]': 'y', 'assword for': PASSWORD, 'again': PASSWORD})
        found = re.search(r"gridtorrent:\S+code=\w+", out)
        link = found.group() if found else link
    seconds = time.monotonic() - started
    machine.run('diff', '-r', '/data/run42', '/home/mia/run42')
    if len(lines) > 6 or seconds > 120:
        raise Failed(f'the quickstart took {len(lines)} commands and {seconds:.0f} s')
    said(f'docs/quickstart.md: {len(lines)} commands, {seconds:.0f} s, {DATA_MB} MB in 2 files arrived, equal by diff')
    return machine.admin(), mia


def a_node_that_does_not_start_says_why(mia):
    """By mia's systemd, which neither hides the reason nor tries for ever."""
    mia.shell('gridtorrent node stop; mkdir -p ~/.config/gridtorrent; echo "nonsense = 1" > ~/.config/gridtorrent/gridtorrentd.toml')
    told = mia.shell('if gridtorrent node start 2>&1; then exit 1; fi')
    if 'nonsense' not in told:
        raise Failed(f'a node that could not start did not say why: {told}')
    state = mia.shell('systemctl --user is-enabled gridtorrent-node || true; systemctl --user is-active gridtorrent-node || true').split()
    if state[0] != 'disabled' or state[1] not in ('inactive', 'failed'):
        raise Failed(f'a node that could not start is tried on: {state}')
    mia.shell('rm ~/.config/gridtorrent/gridtorrentd.toml; gridtorrent node start')
    said('a node that cannot start says why, and is not tried for ever')


SERVICE_NODE = 'gridtorrent-node@mia.service'


def pid_of(machine, unit):
    return machine.run('systemctl', 'show', unit, '--property=MainPID', '--value').strip()


def a_node_runs_without_a_login(machine, admin, mia):
    """As docs/operating.md has it: enrolled once by hand, then run by the system's systemd."""
    machine.run('install', '-d', '-o', 'mia', '-m', '700', '/var/lib/gridtorrent-node/mia')
    machine.run('install', '-m', '644', '/var/lib/private/gridtorrent/ca.pem', '/tmp/ca.pem')
    mia.shell('(umask 077; gridtorrent node enroll-token > enroll.token); data=/var/lib/gridtorrent-node/mia; '
              'gridtorrentd --data-dir $data --socket ~/first.sock --server 127.0.0.1:7443 --ca /tmp/ca.pem --enroll-token-file enroll.token --name service '
              '> first.log 2>&1 & node=$!; for i in $(seq 150); do [ ! -s $data/credential.json ] || break; sleep 0.1; done; '
              'kill $node; wait $node || { cat first.log; exit 1; }; test -s $data/credential.json')
    machine.run('systemctl', 'enable', '--now', SERVICE_NODE)
    mia.shell('mkdir /tmp/run44; head -c 5000000 /dev/urandom > /tmp/run44/data.bin; export GRIDTORRENT_SOCKET=/run/gridtorrent-node/mia/control.sock; '
              'gridtorrent publish /tmp/run44 --name run44 --access group:lab')
    admin.shell('gridtorrent get mia/run44 --to /data/of-mia')
    machine.run('cmp', '/tmp/run44/data.bin', '/data/of-mia/run44/data.bin')
    said(f'{SERVICE_NODE} publishes from /tmp; the admin fetched it, equal by cmp')


def data_goes_over_while_all_is_upgraded(machine, admin, mia, newer):
    admin.shell('mkdir -p /data/run43; head -c 100000000 /dev/urandom > /data/run43/data.bin; '
                'gridtorrent publish /data/run43 --name run43 --access group:lab')
    mia.shell('mkdir ~/shared; chmod g+s ~/shared')  # a folder below it keeps the bit, which a sandbox may deny
    started = json.loads(mia.shell(f'gridtorrent get admin/run43 --to ~/shared --limit {RATE} --detach --json'))
    wait_until(lambda: 0 < fetched(mia, started), 'the first bytes')
    for deb in machine.debs.glob('*.deb'):
        deb.unlink()
    for deb in newer:
        (machine.debs / deb.name).write_bytes(deb.read_bytes())
    machine.run('sh', '-c', 'apt-get install -y -qq --reinstall --allow-downgrades -o Dpkg::Options::=--force-confold /debs/*.deb')
    mia.run('systemctl', '--user', 'daemon-reload')  # a package does that for the system's units alone
    mia.run('systemctl', '--user', 'restart', 'gridtorrent-node')
    admin.shell('gridtorrent node stop; gridtorrent node start')
    wait_until(lambda: fetched(mia, started) > 0, "mia's node is back")
    at_upgrade = fetched(mia, started)
    if at_upgrade >= 100_000_000:
        raise Failed('the transfer ended before the upgrade: nothing was shown')
    mia.shell(f'gridtorrent transfer set {started["transfer_id"]} --limit 0; gridtorrent transfer wait {started["transfer_id"]}')
    machine.run('cmp', '/data/run43/data.bin', '/home/mia/shared/run43/data.bin')
    machine.run('test', '-g', '/home/mia/shared/run43')
    said(f'upgraded with {at_upgrade / 1e6:.0f} of 100 MB there; all of it arrived, equal by cmp')


def service_goes_on_with_the_new_program(machine, pid_before):
    pid = pid_of(machine, SERVICE_NODE)
    if machine.run('systemctl', 'is-active', SERVICE_NODE).strip() != 'active' or pid == pid_before:
        raise Failed(f'the upgrade left {SERVICE_NODE} with process {pid}, as before')
    said(f'the upgrade restarted {SERVICE_NODE}')


def fetched(user, started):
    try:
        listed = json.loads(user.shell('gridtorrent transfers --json'))
    except Failed:
        return 0
    return next((t['verified_bytes'] for t in listed['transfers'] if t['transfer_id'] == started['transfer_id']), 0)


def purged(machine, admin, mia):
    for user in (admin, mia):
        user.shell('gridtorrent node stop')
    machine.run('apt-get', 'purge', '-y', '-qq', *(f'gridtorrent-{p}' for p in PACKAGES))
    left = machine.run('find', '/', '-xdev', '-iname', '*gridtorrent*', '-not', '-path', '/proc/*', '-not', '-path', '/sys/*', '-not', '-path', '/debs*').split()
    data = ('/var/lib/private/gridtorrent', '/var/lib/gridtorrent', '/home/', '/root/', '/data/', '/var/lib/gridtorrent-node')
    stray = [path for path in left if not path.startswith(data)]
    if stray:
        raise Failed(f'a purge left {" ".join(stray)}')
    machine.run('test', '-s', '/var/lib/private/gridtorrent/gridtorrent.db')
    machine.run('test', '-s', '/home/mia/.local/share/gridtorrent/node/node.db')
    machine.run('cmp', '/data/run43/data.bin', '/home/mia/shared/run43/data.bin')
    said('purged: nothing is left but data')


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('--debs', type=pathlib.Path, required=True)
    options.add_argument('--before', type=pathlib.Path)
    options = options.parse_args()
    newer = sorted(options.debs.glob('*.deb'))
    before = sorted((options.before or options.debs).glob('*.deb'))
    if not newer or not before:
        raise Failed('there are no packages: ./dev deb makes them')
    files_are_valid(newer)
    with tempfile.TemporaryDirectory(prefix='gridtorrent-debs-') as debs:
        for deb in before:
            (pathlib.Path(debs) / deb.name).write_bytes(deb.read_bytes())
        machine = Machine(debs)
        try:
            machine.make()
            machine.start()
            install(machine)
            units_are_valid(machine)
            admin, mia = quickstart(machine)
            if options.before is None:  # the packages before may not know it
                a_node_that_does_not_start_says_why(mia)
                a_node_runs_without_a_login(machine, admin, mia)
                before_upgrade = pid_of(machine, SERVICE_NODE)
            data_goes_over_while_all_is_upgraded(machine, admin, mia, newer)
            if options.before is None:
                service_goes_on_with_the_new_program(machine, before_upgrade)
            nothing_is_left_out(machine)
            purged(machine, admin, mia)
        finally:
            machine.close()
    print('packages: all checks passed')


try:
    main()
except Failed as failure:
    sys.exit(f'packages: {failure}')
except subprocess.SubprocessError as failure:
    sys.exit(f'packages: {failure}')
