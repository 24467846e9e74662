#!/usr/bin/env python3
"""A stock libtorrent client that knows metadata, info-hash and addresses of restricted content gets nothing without a listed key."""
import hashlib
import socket
import ssl

import cases
import harness
from hostile import Target, other_authority, require_stock_client

REFUSALS = 1000


def only_a_listed_key_gets_anything():
    with harness.Scene() as scene:
        t = Target(scene)
        stolen = t.papers(t.beta)
        # The same client with a key that is in the list gets all of it: so what follows is refused for want of one.
        got = t.attack(*stolen, seconds=20)
        cases.check(got['payload_bytes'] >= 4_000_000 and got['bitfields'] > 0, f'the listed key: {got}')
        t.gets_nothing('no certificate', None, None)
        t.gets_nothing('another authority', *other_authority(scene))
        t.gets_nothing('a node without the right', *t.papers(t.gamma))
        t.gets_nothing('a plain port', *stolen, tls=False)
        t.alice.cli('access', 'data', '--set', 'private')
        harness.wait_until(lambda: cases.transfer_of(t.bob, t.beta, 'data')['state'] == 'complete', 'the list to change', harness.SOON_S)
        t.gets_nothing('a stolen key that was removed', *stolen)


def a_plain_handshake_with_the_hash_of_restricted_content_is_not_answered():
    with harness.Scene() as scene:
        t = Target(scene)
        info = t.torrent[len(b'd4:info'):-1]
        hello = b'\x13BitTorrent protocol' + bytes(8) + hashlib.sha1(info).digest() + b'-XX0001-' + b'0' * 12
        for tls in (False, True):
            with socket.create_connection(tuple(t.ports(tls)[0]), timeout=10) as connection:
                connection.settimeout(10)
                answer = b''
                try:
                    connection.sendall(hello)
                    while chunk := connection.recv(4096):
                        answer += chunk
                except (ConnectionError, TimeoutError):
                    pass
            cases.check(b'BitTorrent protocol' not in answer, f'tls={tls}: {answer[:80]}')


def a_stranger_refused_a_thousand_times_does_no_harm():
    """A certificate of the server's own data CA, for a node without the right: TLS is fine, the rest is not."""
    with harness.Scene() as scene:
        t = Target(scene)
        hash_of_info = hashlib.sha1(t.torrent[len(b'd4:info'):-1]).digest()
        hello = b'\x13BitTorrent protocol' + bytes(5) + b'\x10\0\0' + hash_of_info + b'-XX0001-' + b'0' * 12
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.load_cert_chain(*t.papers(t.gamma))
        before, most, versions = t.alpha.memory_kb()[0], 0, set()
        for i in range(REFUSALS):
            address = tuple(t.ports(True)[i % 4])
            with socket.create_connection(address, timeout=30) as plain, \
                    context.wrap_socket(plain, server_hostname=hash_of_info.hex()) as connection:
                versions.add(connection.version())
                answer = b''
                try:
                    connection.sendall(hello)
                    while chunk := connection.recv(4096):
                        answer += chunk
                except (ConnectionError, ssl.SSLError):
                    pass
                most = max(most, len(answer))
            cases.check(t.alpha.running(), f'the node ended after {i + 1} refusals')
        # A BitTorrent handshake has 68 bytes; a bitfield would come after it.
        cases.check(most <= 68, f'{most} bytes came')
        cases.check(versions == {'TLSv1.3'}, versions)
        grown = t.alpha.memory_kb()[0] - before
        print(f'        {REFUSALS} refused, at most {most} bytes to each; the node grew by {grown} KiB')
        t.alice.cli('access', 'data', '--set', 'user:bob,user:carol')
        t.carol.cli('get', 'alice/data', '--to', scene.dir / 'carol', node=t.gamma)
        cases.same(t.source, scene.dir / 'carol/data.bin')


require_stock_client()
cases.run(only_a_listed_key_gets_anything, a_plain_handshake_with_the_hash_of_restricted_content_is_not_answered,
          a_stranger_refused_a_thousand_times_does_no_harm)
