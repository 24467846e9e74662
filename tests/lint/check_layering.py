#!/usr/bin/env python3
"""Checks every #include against the table of allowed edges in cmake/Layering.cmake.

Link edges alone catch no header: a room that includes another room's header without linking it would pass. The third-party
doors are checked too: each library's headers only in the rooms that are its door.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FREE = {'tests', 'bench'}  # may lean on anything
DOORS = {  # header prefix -> rooms that may include it
    'libtorrent/': {'client/engine'},
    'sqlite3.h': {'base/sql'},
    'openssl/': {'base/crypto', 'client/engine'},
    'intel-ipsec-mb.h': {'base/crypto'},
    'grpc': {'base/rpc', 'ccm/rpc', 'tracker/rpc', 'tracker/app', 'client/remote', 'client/control', 'client/api/call',
             'client/api/server', 'client/api/node'},
    'CLI/': {'base/options'},
    'toml++/': {'base/options'},
    'spdlog/': {'base/logging'},
    'prometheus/': {'base/metrics'},
    'utf8proc.h': {'ccm/domain', 'client/cli'},
    'Q': {'gui/models', 'gui/plots', 'gui/views', 'gui/session', 'gui/app'},  # Qt's headers, and no others, begin so
    'nlohmann/': {'client/cli', 'client/core', 'client/app', 'client/profile', 'client/security', 'client/service', 'client/store', 'tracker/app', 'tracker/store',
                  'base/logging'},
}


def table():
    text = re.sub(r'#.*', '', (ROOT / 'cmake/Layering.cmake').read_text())
    return {words[0]: set(words[1:]) for words in
            (m.group(1).split() for m in re.finditer(r'^gt_allow\(([^)]*)\)', text, re.M))}


def check_acyclic(edges):
    state = {}

    def visit(room, trail):
        if state.get(room) == 'done':
            return
        if room in trail:
            sys.exit('layering: the table has a cycle: ' + ' -> '.join(trail[trail.index(room):] + [room]))
        for other in edges.get(room, ()):
            if other not in edges:
                sys.exit(f'layering: {room} may depend on {other}, which is no room')
            visit(other, trail + [room])
        state[room] = 'done'

    for room in edges:
        visit(room, [])


def room_of(path, rooms):
    best = ''
    for room in rooms:
        if path.startswith(room + '/') and len(room) > len(best):
            best = room
    return best


def reaches_grpc(header, seen):
    """The first header behind `header` that brings gRPC; None where there is none. `seen` is of one search."""
    if header.startswith('grpc') or header.endswith('.grpc.pb.h'):
        return header
    file = ROOT / header
    if header in seen or not file.exists():
        return None
    seen.add(header)
    found = (reaches_grpc(inner, seen) for inner in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', file.read_text(), re.M))
    return next((header for header in found if header), None)


def main():
    edges = table()
    check_acyclic(edges)
    faults = []
    files = sorted(f for top in ('common', 'base', 'metainfo', 'ccm', 'tracker', 'client', 'gui')
                   for f in (ROOT / top).rglob('*') if f.suffix in {'.h', '.cc'})
    for file in files:
        name = file.relative_to(ROOT).as_posix()
        room = room_of(name, edges)
        if not room:
            faults.append(f'{name}: lies in no room of cmake/Layering.cmake')
            continue
        for number, line in enumerate(file.read_text().split('\n'), 1):
            m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not m:
                continue
            header = m.group(2)
            if room.startswith('gui/') and (grpc := reaches_grpc(header, set())):
                faults.append(f'{name}:{number}: "{header}" brings <{grpc}> into the desktop, which leaves gRPC to client/api')
            if m.group(1) == '"':
                target = 'common' if header == 'common/version.h' else \
                    'proto' if header.startswith(('gridtorrent/v1/', 'google/rpc/')) else room_of(header, edges)
                if not target:
                    faults.append(f'{name}:{number}: "{header}" is no path from the root into a room')
                elif target != room and target not in edges[room]:
                    faults.append(f'{name}:{number}: {room} may not include {target} ("{header}")')
            else:
                for prefix, doors in DOORS.items():
                    if header.startswith(prefix) and room not in doors:
                        faults.append(f'{name}:{number}: <{header}> belongs behind {", ".join(sorted(doors))}, not in {room}')
    if faults:
        print('\n'.join(faults))
        sys.exit(f'layering: {len(faults)} faults')
    print(f'layering: {len(files)} files keep to the table of {len(edges)} rooms')


main()
