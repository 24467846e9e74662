"""A data set gets new versions: what the publisher reads of it and what goes over the link, beside what changed."""
import os
import time

import cases
import data
import harness
import netns

FILES, CHANGED = 1000, 10
SETTLE_S = 5  # files that were written to less than 2 s ago are read again by the next version


def write_files(root, file_bytes):
    for i in range(FILES):
        folder = root / f'{i // 100}'
        folder.mkdir(parents=True, exist_ok=True)
        data.random_file(folder / f'{i:04}.bin', file_bytes, seed=i)


def files_of(root):
    return sorted(path for path in root.rglob('*') if path.is_file())


def spread(root):
    """Ten files from all over the data set."""
    files = files_of(root)
    return files[len(files) // 20::len(files) // CHANGED][:CHANGED]


def in_place(root):
    """Bytes that change: the files whose bytes do, as a publisher cannot know which of them."""
    for path in spread(root):
        with open(path, 'r+b') as file:
            file.seek(path.stat().st_size // 2)
            file.write(os.urandom(1000))
    return sum(path.stat().st_size for path in spread(root))


def longer(root):
    for path in spread(root):
        with open(path, 'ab') as file:
            file.write(b'x')
    return sum(path.stat().st_size for path in spread(root))


def added_and_removed(root):
    files = spread(root)
    size = files[0].stat().st_size
    for path in files[5:]:
        path.unlink()
    for i, path in enumerate(files[:5]):
        data.random_file(path.with_name(f'{path.stem}-new.bin'), size, seed=FILES + i)
    return 5 * size


def behind(root, changed):
    """Bytes from the first of these files on, in the order of their paths, which is that of the pieces."""
    files = files_of(root)
    first = next(i for i, path in enumerate(files) if str(path) >= str(changed))
    return sum(path.stat().st_size for path in files[first:])


def bytes_read(daemon):
    with open(f'/proc/{daemon.pid}/io') as file:
        return {key: int(value) for key, value in (line.split(': ') for line in file)}['rchar']


def settled(read):
    """Waits until the node reads no more: checksums are taken a while after a content is published."""
    last, since = read(), time.monotonic()
    while time.monotonic() - since < 15:
        time.sleep(1)
        if read() - last > 100_000:
            since = time.monotonic()
        last = read()
    return last


def one_version(scene, net, people, root, what, change):
    ada, alpha, bea, beta = people
    before = {path: path.stat().st_mtime_ns for path in files_of(root)}
    changed = change(root)
    now = files_of(root)
    touched = [path for path in now if before.get(path) != path.stat().st_mtime_ns] + [path for path in before if not path.exists()]
    passed = behind(root, min(touched))
    time.sleep(SETTLE_S)
    started = bytes_read(alpha)
    done = ada.cli('publish', root, '--update', 'data', '--json', node=alpha, timeout_s=1200).event('published')
    read = bytes_read(alpha) - started
    with_checksums = settled(lambda: bytes_read(alpha)) - started
    sent = net['ada'].sent_bytes()
    got = bea.cli('get', 'ada/data', '--update', '--json', node=beta, timeout_s=1200).event('done')
    fetched = net['ada'].sent_bytes() - sent
    piece = ada.cli('show', 'data', '--json').json['piece_bytes']
    cases.same(root, scene.dir / 'out/data')
    asked = {'read': int((changed + 2 * piece * CHANGED) * 1.01), 'fetched': changed + 2 * piece * CHANGED}
    if what != 'in place':
        asked['read'] = passed
    missed = [f'{what}: {figure} {got_bytes} bytes (asked: at most {asked[figure]})' for figure, got_bytes in (('read', read), ('fetched', fetched))
              if got_bytes > asked[figure]]
    result = {'missed': missed, 'what': what, 'changed': changed, 'piece_bytes': piece, 'read': read, 'read_with_checksums': with_checksums,
              'read_for_pieces': done['read_bytes'], 'fetched': fetched,
              'asked': asked, 'publish_s': round(done['seconds'], 1), 'get_s': round(got['seconds'], 1)}
    def mb(count):
        return f'{count / 1e6:.1f} MB'
    print(f'  {what}: {mb(changed)} of files changed; read {mb(read)} (asked ≤ {mb(asked["read"])}), with the checksums afterwards '
          f'{mb(with_checksums)}; fetched {mb(fetched)} (asked ≤ {mb(asked["fetched"])}) in pieces of {mb(piece)}; '
          f'publish {result["publish_s"]} s, get {result["get_s"]} s; equal', flush=True)
    return result


def bench_update(args):
    """Row C: 1,000 files, 10 GB (--size), ten changed in place, ten a byte longer, five added and five removed. Needs root."""
    netns.require_root()
    total = data.parse_size(args.size, 10_000_000_000)
    with netns.Network('hub', 'ada', 'bea') as net, harness.Scene() as scene:
        hub = net['hub']
        scene.server(listen=f'{hub.address}:7443', advertise=f'{hub.address}:7443', netns=hub.ns)
        scene.admin(hub.ns)
        ada, bea = (scene.user(name, netns=net[name].ns) for name in ('ada', 'bea'))
        alpha, beta = (scene.node(user, user.name, netns=net[user.name].ns, address=net[user.name].address, ports='50000-50015')
                       for user in (ada, bea))
        root = scene.dir / 'in/data'
        write_files(root, total // FILES)
        time.sleep(SETTLE_S)
        started = bytes_read(alpha)
        ada.cli('publish', root, '--name', 'data', '--access', 'public', node=alpha, timeout_s=1200)
        settled(lambda: bytes_read(alpha))
        print(f'  first version: read {(bytes_read(alpha) - started) / 1e6:.0f} MB, hashes and checksums', flush=True)
        bea.cli('get', 'ada/data', '--to', scene.dir / 'out', node=beta, timeout_s=1200)
        people = ada, alpha, bea, beta
        return [one_version(scene, net, people, root, what, change)
                for what, change in (('in place', in_place), ('a byte longer', longer), ('added and removed', added_and_removed))]
