#!/usr/bin/python3
"""A stock libtorrent client (Debian's python3-libtorrent) as a hostile peer: a program of its own, with Debian's Python.

Reads one JSON object from stdin: {"torrent": hex of the .torrent file, "folder", "listen": its own address, "peers": [[address, port]…], "certificate", "key": files or
null, "seconds"}. Writes what it got: {"payload_bytes", "bitfields", "pieces", "connected", "errors": [...]}.
"""
import json
import os
import pathlib
import sys
import time

import libtorrent as lt

DH_PARAMETERS = """-----BEGIN DH PARAMETERS-----
MIIBCAKCAQEA//////////+t+FRYortKmq/cViAnPTzx2LnFg84tNpWp4TZBFGQz
+8yTnc4kmz75fS/jY2MMddj2gbICrsRhetPfHtXV/WVhJDP1H18GbtCFY2VVPe0a
87VXE15/V8k1mE8McODmi3fipona8+/och3xWKE2rec1MKzKT0g6eXq8CrGCsyT7
YdEIqUuyyOP7uWrat2DX9GgdT0Kj3jlN9K5W7edjcrsZCwenyO4KbXCeAvzhzffi
7MA0BM0oNC9hkXL+nOmFg/+OTxIy7vKBg8P+OxtMb61zO7X8vC7CIAXFjvGDfRaD
ssbzSibBsu/6iGtCOGEoXJf//////////wIBAg==
-----END DH PARAMETERS-----
"""


def main():
    job = json.load(sys.stdin)
    folder = pathlib.Path(job['folder'])
    folder.mkdir(parents=True, exist_ok=True)
    session = lt.session({'listen_interfaces': job['listen'] + ':0s', 'enable_dht': False, 'enable_lsd': False, 'enable_upnp': False,
                          'enable_natpmp': False, 'enable_outgoing_utp': False, 'enable_incoming_utp': False, 'allow_multiple_connections_per_ip': True,
                          'alert_mask': lt.alert.category_t.all_categories})
    torrent = lt.torrent_info(lt.bdecode(bytes.fromhex(job['torrent'])))
    handle = session.add_torrent({'ti': torrent, 'save_path': str(folder)})
    if job['certificate']:
        parameters = folder / 'dh.pem'
        parameters.write_text(DH_PARAMETERS)
        handle.set_ssl_certificate(job['certificate'], job['key'], str(parameters), '')
    got = {'bitfields': 0, 'pieces': 0, 'connected': 0, 'errors': []}
    until, next_dial = time.monotonic() + job['seconds'], 0.0
    while time.monotonic() < until:
        if time.monotonic() > next_dial:
            next_dial = time.monotonic() + 0.5
            for peer in job['peers']:
                handle.connect_peer(tuple(peer))
        session.wait_for_alert(100)
        for alert in session.pop_alerts():
            text = alert.message()
            if isinstance(alert, lt.peer_connect_alert):
                got['connected'] += 1
            elif isinstance(alert, lt.peer_log_alert) and '<==' in text:
                kind = text.split('<==', 1)[1].split()[0]
                got['bitfields'] += kind in ('BITFIELD', 'HAVE', 'HAVE_ALL')
                got['pieces'] += kind == 'PIECE'
            elif isinstance(alert, (lt.peer_error_alert, lt.peer_disconnected_alert)) and len(got['errors']) < 20:
                got['errors'].append(text[-160:])
        if handle.status().is_seeding:
            break
    got['payload_bytes'] = handle.status().total_payload_download
    print(json.dumps(got), flush=True)
    # Not by ending the session: libtorrent 2.0.8 frees sockets whose TLS handshake is under way, and the handshake goes on to use them.
    os._exit(0)


main()
