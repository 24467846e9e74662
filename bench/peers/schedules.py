"""How PCP, MC and FStream schedule files, as their authors did it: what is copied together, with which concurrency and parallelism.

Pure but for what copies. The laws are those of client/tuning/pcp_law.h, mc_law.h and fstream_law.h, on whole files: here a chunk has no more
channels than files. Sizes in bytes, rates in bits a second; `files` are (name, size).
"""
import math

MOST_PIPELINING, MOST = 20, 32
LEAST_BDPS, LEAST_CHUNKS = 10, 6
DROP = 0.95
ORDER = ('huge', 'small', 'large', 'middle')
WANTED_OF_LINK, NEAR_WANTED = 0.8, 0.15  # FStream's rho and x
MOST_FSTREAM, SMALL_S, INTERVAL_S, FIRST_S = 10, 0.4, 10, 2


def total(files):
    return sum(size for _, size in files)


def optimal_pipelining(bdp, size, most=MOST_PIPELINING):
    if size <= 0:
        return most
    return 1 if size >= bdp else min(max(math.ceil(bdp / size) - 1, 1), most)


def rcd(files, bdp, least, most=MOST_PIPELINING, parent=0):
    """[(files, pipelining)] of files sorted by size: divided at the mean size while that asks for another pipelining."""
    if not files:
        return []
    mean = total(files) / len(files)
    own = optimal_pipelining(bdp, mean, most + 1)
    middle = sum(1 for _, size in files if size <= mean)  # so many up to the mean
    if own not in (1, parent) and own <= most and 1 < middle < len(files) and total(files) > 2 * least:
        return rcd(files[:middle], bdp, least, most, own) + rcd(files[middle:], bdp, least, most, own)
    return [(files, parent or min(own, most))]


def revised(chunks, least, count=LEAST_CHUNKS):
    """Chunks below the least join a neighbour; the largest is halved until there are enough, by files."""
    joined = []
    for files, pipelining in chunks:
        if joined and (total(files) < least or total(joined[-1][0]) < least):
            before, pp = joined.pop()
            files, pipelining = before + files, pp if total(before) >= total(files) else pipelining
        joined.append((files, pipelining))
    while joined and len(joined) < count:
        i = max(range(len(joined)), key=lambda k: total(joined[k][0]))
        files, pipelining = joined[i]
        if len(files) < 2 or total(files) < 2 * least:
            break
        joined[i:i + 1] = [(files[:len(files) // 2], pipelining), (files[len(files) // 2:], pipelining)]
    return joined


def doubled(take, copy):
    """Copies what take(value) gives for 1, 2, 4, … until that is more than 5 % slower than before, or nothing is left; the best value."""
    best, before, value = 1, 0, 1
    while value <= MOST and (chunk := take(value)):
        rate = copy(chunk, value)
        if rate <= DROP * before:
            break
        best, before, value = value, rate, value * 2
    return best


def pcp(files, bdp, copy):
    """Small files first, then those of a BDP and more. copy(files, pipelining, parallelism, concurrency) gives bits a second."""
    files, least = sorted(files, key=lambda f: f[1]), LEAST_BDPS * bdp
    small, large = [f for f in files if f[1] < bdp], [f for f in files if f[1] >= bdp]
    chunks = revised(rcd(small, bdp, least), least)

    def next_small(_):
        return chunks.pop(0) if chunks else None

    def next_large(channels):
        """More than the least chunk for each channel, and more files than channels."""
        count = next((i for i in range(channels + 1, len(large) + 1) if total(large[:i]) > least * channels), 0)
        chunk, large[:count] = large[:count], []
        return chunk
    channels = doubled(next_small, lambda chunk, cc: copy(*chunk, 1, cc))
    for level in sorted({pipelining for _, pipelining in chunks}, reverse=True):
        copy([f for chunk, pipelining in chunks if pipelining == level for f in chunk], level, 1, channels)
    lanes = doubled(lambda _: next_large(1), lambda chunk, p: copy(chunk, 2, p, 1))
    channels = doubled(next_large, lambda chunk, cc: copy(chunk, 2, lanes, cc))
    if large:
        copy(large, 2, lanes, channels)


def class_of(size, link):
    second = link / 8
    return 'small' if size <= second / 20 else 'middle' if size <= second / 5 else 'large' if size <= 2 * second else 'huge'


def classes(files, link, bdp):
    """{class: files}; one of fewer than two files or less than five BDPs joins that of the nearest mean size."""
    found = {}
    for f in sorted(files, key=lambda f: f[1]):
        found.setdefault(class_of(f[1], link), []).append(f)

    def mean(name):
        return total(found[name]) / len(found[name])
    while len(found) > 1:
        little = next((k for k, v in found.items() if len(v) < 2 or total(v) < 5 * bdp), None)
        if little is None:
            break
        nearest = min((k for k in found if k != little), key=lambda k: abs(mean(k) - mean(little)))
        found[nearest] = sorted(found[nearest] + found.pop(little), key=lambda f: f[1])
    return found


def dealt(found, channels):
    """Channels of each class: one by one to huge, small, large, middle, no more than it has files."""
    got = dict.fromkeys(found, 0)
    while channels and any(got[k] < len(found[k]) for k in found):
        for name in ORDER:
            if channels and name in found and got[name] < len(found[name]):
                got[name] += 1
                channels -= 1
    return got


def mc(files, link, bdp, buffer, channels=MOST):
    """[(files, pipelining, parallelism, concurrency)], all copied at the same time."""
    found = classes(files, link, bdp)
    got = dealt(found, channels)
    plan = []
    for name, chunk in found.items():
        mean = total(chunk) / len(chunk)
        lanes = max(1, min(math.ceil(bdp / buffer), math.ceil(mean / buffer)))
        plan.append((chunk, min(max(round(bdp / mean), 1), 100) if mean else 100, lanes, got[name]))
    return plan


def fstream_clusters(files, link, bdp, buffer):
    """[[files, pipelining, parallelism, channels]] of small files and of large ones, each by the heuristic; together at most ten channels."""
    parts = [[f for f in files if (8 * f[1] / link < SMALL_S) == small] for small in (True, False)]
    clusters = []
    for part in filter(None, parts):
        mean = max(total(part) / len(part), 1)
        lanes = max(1, min(math.ceil(bdp / buffer), math.ceil(mean / buffer)))
        channels = min(max(round(bdp / mean), 2), len(part), MOST_FSTREAM)
        clusters.append([part, min(max(round(bdp / mean), 1), 100), lanes, channels])
    return clusters


def shared_out(weights, channels):
    """So many channels in parts as the weights, at least one each."""
    found = [max(1, int(channels * w / sum(weights))) for w in weights]
    while sum(found) < channels:
        found[max(range(len(found)), key=lambda i: weights[i] * channels / sum(weights) - found[i])] += 1
    return found


def profiled(rate, link, channels):
    """FStream's algorithm 2: so many channels after an interval of that rate."""
    wanted = WANTED_OF_LINK * link
    if rate <= 0 or abs(rate - wanted) <= NEAR_WANTED * wanted:
        return channels
    required = wanted / rate * channels
    return max(1, min(math.ceil(required), 2 * channels, MOST_FSTREAM) if required > channels else min(int(required), MOST_FSTREAM))


def first_of(files, least):
    """Taken from the front: so many files that they have at least that many bytes, or all."""
    count, size = 0, 0
    while count < len(files) and (count == 0 or size < least):
        size += files[count][1]
        count += 1
    taken, files[:count] = files[:count], []
    return taken


def fstream(files, link, bdp, buffer, copy):
    """Small and large files beside each other. copy([(files, pipelining, parallelism, concurrency)]) gives bits a second of all of them; one
    call is an interval: what takes ten seconds at the rate of the last one, at first what the link carries in two."""
    clusters = fstream_clusters(files, link, bdp, buffer)
    channels, size = min(sum(c[3] for c in clusters), MOST_FSTREAM), FIRST_S * link / 8
    while clusters:
        dealt, left = shared_out([c[3] for c in clusters], channels), sum(total(c[0]) for c in clusters)
        batch = [(first_of(c[0], size * total(c[0]) / max(left, 1)), c[1], c[2], cc) for c, cc in zip(clusters, dealt)]
        rate = copy([(taken, pipelining, lanes, min(cc, len(taken))) for taken, pipelining, lanes, cc in batch])
        clusters = [c for c in clusters if c[0]]
        channels, link = profiled(rate, max(link, rate), channels), max(link, rate)
        size = INTERVAL_S * rate / 8
