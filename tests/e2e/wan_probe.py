"""What wan_test.py runs inside of the hosts: `serve ADDRESS`, `rtt ADDRESS N [PAUSE_S]`, `count ADDRESS N`, `fetch ADDRESS SECONDS FLOWS`."""
import json
import socket
import sys
import threading
import time

PORT = 9000


def serve(address):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    udp.bind((address, PORT))
    tcp = socket.create_server((address, PORT))

    def pour():
        while True:
            to, _ = tcp.accept()
            threading.Thread(target=send_on, args=(to,), daemon=True).start()

    def send_on(to):
        try:
            while True:
                to.sendall(bytes(65536))
        except OSError:
            to.close()
    threading.Thread(target=pour, daemon=True).start()
    print('ready', flush=True)
    while True:
        data, sender = udp.recvfrom(2000)
        udp.sendto(data, sender)


def rtt(address, count, pause_s=0):
    """Milliseconds, one at a time, with pauses in which the machine falls asleep."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.settimeout(10)
    times = []
    for i in range(count):
        started = time.monotonic()
        udp.sendto(str(i).encode(), (address, PORT))
        assert udp.recv(100) == str(i).encode()
        times.append((time.monotonic() - started) * 1e3)
        time.sleep(pause_s)
    return times


def count(address, packets):
    """How many of so many come back."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    back = 0
    for i in range(packets):
        udp.sendto(b'x' * 100, (address, PORT))
        if i % 20 == 19:
            back += drain(udp, 2)
    return back + drain(udp, 5)


def drain(udp, first_s):
    """What has come back. Waits so long for the first of them: a machine that stands still must not fill a queue."""
    got = 0
    udp.settimeout(first_s)
    try:
        while True:
            udp.recv(200)
            got += 1
            udp.settimeout(0.02)
    except TimeoutError:
        return got


def fetch(address, seconds, flows):
    """Bit/s of each flow: since it connected, and steady, which is from one second later."""
    rates = [None] * flows

    def one(i):
        connected = time.monotonic()
        with socket.create_connection((address, PORT)) as tcp:
            got = warm = 0
            begun = None
            while begun is None or time.monotonic() < begun + seconds:
                got += len(tcp.recv(1 << 18))
                if begun is None and time.monotonic() > connected + 1:
                    begun, warm = time.monotonic(), got
            ended = time.monotonic()
        rates[i] = {'mean': got * 8 / (ended - connected), 'steady': (got - warm) * 8 / (ended - begun)}
    threads = [threading.Thread(target=one, args=(i,)) for i in range(flows)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return rates


what, address, *rest = sys.argv[1:]
if what == 'serve':
    serve(address)
print(json.dumps({'rtt': lambda: rtt(address, int(rest[0]), *map(float, rest[1:])), 'count': lambda: count(address, int(rest[0])),
                  'fetch': lambda: fetch(address, float(rest[0]), int(rest[1]))}[what]()))
