"""Data sets for measurements, made fast and the same every time."""
import os
import re


def random_file(path, size, seed=1):
    """`size` bytes that no compression or deduplication can shorten; the same for the same seed (a xorshift per MiB would be
    slow in Python, so one random MiB is XORed with a counter)."""
    import random
    base = bytearray(random.Random(seed).randbytes(1 << 20))
    with open(path, 'wb') as f:
        block = 0
        left = size
        while left > 0:
            base[0:8] = block.to_bytes(8, 'little')
            for i in range(4096, len(base), 16384):  # every 16 KiB block differs
                base[i:i + 8] = (block * 64 + i).to_bytes(8, 'little')
            f.write(base[:min(left, len(base))])
            left -= len(base)
            block += 1
    os.sync()


def in_page_cache(path):
    """Reads everything once, so that disks play no part."""
    for folder, _, files in os.walk(path) if os.path.isdir(path) else [(os.path.dirname(path), [], [os.path.basename(path)])]:
        for name in files:
            with open(os.path.join(folder, name), 'rb') as f:
                while f.read(1 << 22):
                    pass


def parse_size(text, default):
    if not text:
        return default
    m = re.fullmatch(r'(\d+(?:\.\d+)?)(kB|MB|GB|)', text)
    if not m:
        raise SystemExit(f'--size {text}: write it like 200MB or 2GB')
    return int(float(m.group(1)) * {'': 1, 'kB': 1e3, 'MB': 1e6, 'GB': 1e9}[m.group(2)])
