"""UDT (libudt 4.11) by udt_copy, our small sender and receiver around its sendfile and recvfile; it has a congestion control of its own."""
import pathlib
import re
import subprocess
import time

from peers import common

PORT = 9000


def versions():
    said = subprocess.run(['dpkg-query', '-W', '-f', '${Version}', 'libudt0'], capture_output=True, text=True).stdout
    return f'libudt {said or "of unknown version"}'


def udp_buffers(host):
    """What the kernel granted UDT's UDP socket there: (receive, send) in bytes; it grants twice of what it was asked for."""
    def there():
        return subprocess.run(['ss', '-uanmH'], capture_output=True, text=True).stdout
    found = re.findall(r'\brb(\d+),t\d+,tb(\d+)', common.inside(host, there))
    return max(((int(r), int(s)) for r, s in found), default=None)


def get(seed, getter, source, target, binary, buffer=64 << 20, window=51_200, udp_send=None, udp_receive=None, mss=None, verify=True,
        timeout_s=1200):
    """One file from `seed`. The buffers hold the bandwidth-delay product of 1 Gbit/s over half a second; None leaves libudt's values: 12 MB
    of its own, 64 kB queued in the UDP socket, a 12 MB receive buffer there, 1500 bytes a packet.

    A larger udp_send fills the queue of a shaped link with bursts, and costs rate. The kernel grants no more than net.core.rmem_max and
    wmem_max allow (checks: udp_buffers, as the seed's kernel counts them)."""
    source, target, binary = pathlib.Path(source).absolute(), pathlib.Path(target).absolute(), pathlib.Path(binary).absolute()
    common.assert_absent('udt', target)
    given = {'--mss': mss, '--window': window, '--buffer': buffer, '--udp-send': udp_send, '--udp-receive': udp_receive}
    options = [word for name, value in given.items() if value for word in (name, value)]
    with common.Crew() as crew:
        sending = crew.start(seed, [binary, *options, 'send', PORT, source])
        crew.wait_listening(sending, PORT, 'u')
        granted = udp_buffers(seed)
        with common.Watch(seed, getter, receivers=[getter]) as watch:
            before = crew.cpu_s()
            started = time.monotonic()
            crew.start(getter, [binary, *options, 'get', seed.address, PORT, target]).finish(timeout_s)
            took = time.monotonic() - started
        sending.finish(30)
        cpu_s = crew.cpu_s() - before
        content = common.assert_whole('udt', source, target, verify)
    own = {'congestion': ['udt'], 'data_sockets': 1, 'bytes_retransmitted': None, 'udp_buffers': granted}
    checks = [{**check, **own} for check in watch.checks()]
    plan = {'buffer': buffer, 'window': window, 'udp_send': udp_send, 'udp_receive': udp_receive, 'mss': mss}
    return common.Transfer('udt', plan, common.size_of(source), took, cpu_s, [*checks, content], watch.series())
