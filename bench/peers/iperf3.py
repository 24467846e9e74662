"""iperf3: what TCP itself does on a link, from memory to memory."""
import json
import subprocess
import time

from peers import common

PORT = 5201


def versions():
    return subprocess.run(['iperf3', '--version'], capture_output=True, text=True).stdout.splitlines()[0]


def measure(server, client, streams, seconds=None, omit_s=0, congestion=None, bytes=None, reverse=False, zerocopy=False, window=None,
            timeout_s=1200):
    """Data flow from `client` to `server` (with `reverse` the other way), for `seconds` after `omit_s`, or until `bytes` are received.

    figures: steady_bit_s (at the receiver, over the time that is not omitted), per_second (the receiver's: [start, bit/s, omitted]),
    retransmits (segments). With `bytes`, Transfer.seconds is the whole: as a sender, iperf3 would end as soon as the last byte is in its
    socket buffer, so the receiver is the one that dials and counts then.
    """
    assert (seconds is None) != (bytes is None), 'iperf3: give either seconds or bytes'
    sender, receiver = (server, client) if reverse else (client, server)
    listener, dialer = (sender, receiver) if bytes else (server, client)
    command = ['iperf3', '-J', '-c', listener.address, '-p', PORT, '-P', streams, '-i', 1]
    command += ['-n', bytes] if bytes else ['-t', seconds, '-O', omit_s]
    command += ['-R'] if dialer is receiver else []
    command += ['-C', congestion] if congestion else []
    command += ['-Z'] if zerocopy else []
    command += ['-w', window] if window else []
    with common.Crew() as crew:
        listening = crew.start(listener, ['iperf3', '-s', '-1', '-J', '-B', listener.address, '-p', PORT])
        crew.wait_listening(listening, PORT)
        with common.Watch(sender, receiver, receivers=[receiver], least=256 << 10) as watch:
            started = time.monotonic()
            dialing = crew.start(dialer, command)
            dialing.finish(timeout_s)
            took = time.monotonic() - started
        listening.wait(5)
        reports = {dialer: json.loads(dialing.log_path.read_text()), listener: json.loads(listening.log_path.read_text())}
        for report in reports.values():
            assert 'error' not in report, f'iperf3: {report["error"]}'
        end, received = reports[dialer]['end'], reports[receiver]['intervals']
        checks = watch.checks()
        used = end.get('sender_tcp_congestion')
        if congestion:
            assert used == congestion, f'iperf3: the sender used {used}, not {congestion}'
            seen = checks[0]['congestion']
            assert set(seen) <= {congestion}, f'iperf3: ss shows {seen} at the sender, not {congestion}'
        got = end['sum_received']['bytes']
        assert not bytes or got >= bytes, f'iperf3: {got} bytes arrived of {bytes}'
        figures = {'steady_bit_s': end['sum_received']['bits_per_second'], 'retransmits': end['sum_sent'].get('retransmits'),
                   'congestion': used,
                   'per_second': [(round(i['sum']['start'], 2), i['sum']['bits_per_second'], i['sum']['omitted']) for i in received]}
        plan = {'streams': streams, 'seconds': seconds, 'omit_s': omit_s, 'bytes': bytes, 'congestion': congestion, 'reverse': reverse,
                'zerocopy': zerocopy, 'window': window}
        return common.Transfer('iperf3', plan, got, took, crew.cpu_s(), checks, watch.series(), figures=figures)
