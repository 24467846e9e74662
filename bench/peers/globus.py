"""GridFTP without certificates: globus-gridftp-server with anonymous access and globus-url-copy.

Data channels need no authentication here, as there is no security at all with ftp:// URLs (-nodcau would change nothing). Extended block
mode (MODE E) is what makes parallel channels and their reuse possible; in it the sender dials, the receiver listens.
"""
import os
import pathlib
import subprocess
import tempfile
import time

import harness
from peers import common, schedules

PORT = 2811


def versions():
    said = [subprocess.run([p, '-version'], capture_output=True, text=True) for p in ('globus-url-copy', 'globus-gridftp-server')]
    return '; '.join((s.stdout + s.stderr).strip().splitlines()[0] for s in said)


def start_server(crew, host):
    """Its control port is open at all of the host's addresses: told one (-control-interface, GLOBUS_HOSTNAME) it ends, nameless."""
    server = crew.start(host, ['globus-gridftp-server', '-aa', '-allow-root', '-anonymous-user', 'root', '-data-interface', host.address,
                               '-p', PORT, '-log-level', 'ERROR'])
    crew.wait_listening(server, PORT)
    return server


def url(host, path, folder=False):
    return f'ftp://anonymous:x@{host.address}:{PORT}{os.path.abspath(path)}{"/" if folder else ""}'


def options(parallelism, fast, tcp_buffer, block_size, verify_checksum):
    return [*(['-fast'] if fast else []), *(['-p', parallelism] if parallelism else []), *(['-tcp-bs', tcp_buffer] if tcp_buffer else []),
            *(['-bs', block_size] if block_size else []), *(['-verify-checksum'] if verify_checksum else [])]


def copy(crew, client, command, servers, watch_hosts, receiver, timeout_s):
    """Runs the client; seconds, CPU seconds, Watch. What a server's child for a connection does to its end counts, too."""
    with common.Watch(*watch_hosts, receivers=[receiver], apart_from=[PORT]) as watch:
        before = crew.cpu_s()
        started = time.monotonic()
        program = crew.start(client, command)
        program.finish(timeout_s)
        took = time.monotonic() - started
    harness.wait_until(lambda: not any(common.descendants(s.pid) for s in servers), 'GridFTP servers to end their connections', 20)
    return took, crew.cpu_s() - before, watch


def get(seed, getter, source, target, parallelism=1, verify_checksum=False, fast=True, tcp_buffer=None, block_size=None, verify=True,
        timeout_s=1200):
    """One file from a server at `seed`, by a client at `getter` that writes it itself. parallelism=None leaves -p out.

    With neither -p nor -fast the file comes in stream mode over one socket, which saves two round trips; -p N brings it in extended block
    mode over N sockets, for N = 1 as well, and -fast alone means just that: -p 1. With verify_checksum, the MD5 sums of both ends are
    compared, that of the source taken before the transfer, that of the target after it."""
    source, target = pathlib.Path(source), pathlib.Path(target)
    common.assert_absent('globus', target)
    with common.Crew() as crew:
        server = start_server(crew, seed)
        command = ['globus-url-copy', *options(parallelism, fast, tcp_buffer, block_size, verify_checksum), url(seed, source),
                   f'file://{target.resolve()}']
        took, cpu_s, watch = copy(crew, getter, command, [server], [seed, getter], getter, timeout_s)
        content = common.assert_whole('globus', source, target, verify)
    plan = {'third_party': False, 'parallelism': parallelism, 'fast': fast, 'tcp_buffer': tcp_buffer, 'block_size': block_size,
            'verify_checksum': verify_checksum}
    return common.Transfer('globus', plan, common.size_of(source), took, cpu_s, [*watch.checks(), content], watch.series())


def third_party(seed, getter, client_host, source_dir, target_dir, pipelining=True, concurrency=1, parallelism=1, fast=True,
                tcp_buffer=None, block_size=None, verify_checksum=False, verify=True, timeout_s=1200):
    """A folder from a server at `seed` to a server at `getter`, directed by a client at `client_host` (None: at the getter's).

    Third-party transfers are the only ones that globus-url-copy pipelines; with pipelining they are in extended block mode anyway."""
    source_dir, target_dir = pathlib.Path(source_dir), pathlib.Path(target_dir)
    common.assert_absent('globus', target_dir)
    with common.Crew() as crew:
        servers = [start_server(crew, h) for h in (seed, getter)]
        command = ['globus-url-copy', '-r', '-cd', *(['-pp'] if pipelining else []), '-cc', concurrency,
                   *options(parallelism, fast, tcp_buffer, block_size, verify_checksum),
                   url(seed, source_dir, True), url(getter, target_dir, True)]
        took, cpu_s, watch = copy(crew, client_host or getter, command, servers, [seed, getter], getter, timeout_s)
        content = common.assert_whole('globus', source_dir, target_dir, verify)
    plan = {'third_party': True, 'pipelining': pipelining, 'concurrency': concurrency, 'parallelism': parallelism, 'fast': fast,
            'tcp_buffer': tcp_buffer, 'block_size': block_size, 'verify_checksum': verify_checksum}
    return common.Transfer('globus', plan, common.size_of(source_dir), took, cpu_s, [*watch.checks(), content], watch.series())


def scheduled(seed, getter, source_dir, target_dir, by, link_bit_s, round_trip_s, buffer_bytes, verify=True, timeout_s=1200):
    """A folder, third-party, as PCP (by='pcp'), MC ('mc') or FStream ('fstream') schedules its files: each chunk is a run of globus-url-copy
    with its own -p and -cc; those of MC, and those of one interval of FStream, run at the same time. Link, round trip and buffer are given, as
    in the papers. globus-url-copy pipelines or does not (-pp): how many commands wait cannot be said. A run connects anew, which is what PCP's
    chunks cost, too; MC's channels stay where they are, and FStream's would have stayed connected from one interval to the next."""
    source_dir, target_dir = pathlib.Path(source_dir).resolve(), pathlib.Path(target_dir).resolve()
    common.assert_absent('globus', target_dir)
    files = list(common.files_of(source_dir).items())
    bdp = link_bit_s * round_trip_s / 8
    steps = []
    with common.Crew() as crew, tempfile.TemporaryDirectory(prefix='gt-globus-') as folder:
        servers = [start_server(crew, h) for h in (seed, getter)]

        def start(chunk, pipelining, parallelism, concurrency):
            pairs = pathlib.Path(folder) / f'{len(steps)}.txt'
            pairs.write_text(''.join(f'"{url(seed, source_dir / name)}" "{url(getter, target_dir / name)}"\n' for name, _ in chunk))
            steps.append({'files': len(chunk), 'bytes': schedules.total(chunk), 'pipelining': pipelining, 'parallelism': parallelism,
                          'concurrency': concurrency})
            return crew.start(getter, ['globus-url-copy', '-cd', '-pp', '-fast', '-cc', concurrency, '-p', parallelism, '-f', pairs])

        def one_chunk(chunk, *setting):
            begun = time.monotonic()
            start(chunk, *setting).finish(timeout_s)
            steps[-1]['mbit_s'] = schedules.total(chunk) * 8 / (time.monotonic() - begun) / 1e6
            return steps[-1]['mbit_s'] * 1e6

        def together(chunks):
            begun = time.monotonic()
            for client in [start(*chunk) for chunk in chunks]:
                client.finish(timeout_s)
            rate = sum(schedules.total(chunk[0]) for chunk in chunks) * 8 / (time.monotonic() - begun)
            steps[-1]['mbit_s'] = rate / 1e6
            return rate
        with common.Watch(seed, getter, receivers=[getter], apart_from=[PORT]) as watch:
            before, started = crew.cpu_s(), time.monotonic()
            if by == 'pcp':
                schedules.pcp(files, bdp, one_chunk)
            elif by == 'mc':
                together(schedules.mc(files, link_bit_s, bdp, buffer_bytes))
            else:
                schedules.fstream(files, link_bit_s, bdp, buffer_bytes, together)
            took = time.monotonic() - started
        harness.wait_until(lambda: not any(common.descendants(s.pid) for s in servers), 'GridFTP servers to end their connections', 20)
        cpu_s = crew.cpu_s() - before
        content = common.assert_whole('globus', source_dir, target_dir, verify)
    return common.Transfer('globus', {'third_party': True, 'by': by}, common.size_of(source_dir), took, cpu_s, [*watch.checks(), content],
                           watch.series(), figures={'steps': steps})
