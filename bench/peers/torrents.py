"""Torrent files (BitTorrent version 1) by hashlib alone, so that any Python can run the bench."""
import hashlib
import pathlib

from bencode import bencode


def usual_piece_length(size):
    """What torrent makers choose: about a thousand pieces, of 256 KiB to 4 MiB."""
    length = 256 << 10
    while length < 4 << 20 and size / length > 1200:
        length *= 2
    return length


def pieces(paths, length):
    """The SHA-1 of each piece of the files' bytes in a row."""
    digest, room, found = hashlib.sha1(), length, []
    for path in paths:
        with open(path, 'rb') as f:
            while block := f.read(room):
                digest.update(block)
                room -= len(block)
                if room == 0:
                    found.append(digest.digest())
                    digest, room = hashlib.sha1(), length
    if room < length:
        found.append(digest.digest())
    return b''.join(found)


def make(source, tracker_url, piece_length=None):
    """The bytes of a torrent of a file or a folder, its info hash and its piece length."""
    source = pathlib.Path(source)
    paths = sorted(p for p in source.rglob('*') if p.is_file()) if source.is_dir() else [source]
    size = sum(p.stat().st_size for p in paths)
    length = piece_length or usual_piece_length(size)
    info = {'name': source.name, 'piece length': length, 'pieces': pieces(paths, length)}
    if source.is_dir():
        info['files'] = [{'length': p.stat().st_size, 'path': list(p.relative_to(source).parts)} for p in paths]
    else:
        info['length'] = size
    return bencode({'announce': tracker_url, 'info': info}), hashlib.sha1(bencode(info)).digest(), length
