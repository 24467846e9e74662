#!/usr/bin/env python3
"""How PCP, MC and FStream schedule files for globus-url-copy, on the examples of their papers: the laws of client/tuning on whole files."""
import pathlib
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / 'bench'
sys.path.append(str(BENCH))

import cases  # noqa: E402
import wide  # noqa: E402
import wide_check  # noqa: E402
from peers import schedules  # noqa: E402

MB = 1_000_000


def equal(found, wanted):
    cases.check(found == wanted, f'{found!r}, not {wanted!r}')


def files(*groups):
    """(count, from, to) of each group: evenly spread sizes."""
    return [(f'{i}-{k}', int(start + (end - start) * k / max(count - 1, 1))) for i, (count, start, end) in enumerate(groups) for k in range(count)]


def pipelining_fills_the_bandwidth_delay_product():
    equal([schedules.optimal_pipelining(8 * MB, size) for size in (1.5 * MB, 7.5 * MB, 8 * MB, 20 * MB, 1, 0)], [5, 1, 1, 1, 20, 20])


def division_finds_the_papers_three_clusters():
    mixed = files((300, 1 * MB, 2 * MB), (100, 7 * MB, 8 * MB - 1))
    equal([(len(chunk), pp) for chunk, pp in schedules.rcd(mixed, 8 * MB, 150 * MB)], [(150, 5), (150, 5), (100, 2)])
    equal(len(schedules.rcd(mixed[:300], 8 * MB, 300 * MB)), 1)
    equal(schedules.rcd([], 8 * MB, 1), [])


def small_chunks_join_and_large_ones_are_halved():
    chunks = [(files((10, MB, MB)), 5), (files((100, 5 * MB, 5 * MB)), 2)]
    found = schedules.revised(chunks, 20 * MB, 4)
    equal([pp for _, pp in found], [2] * 4)
    equal(sum(len(chunk) for chunk, _ in found), 110)
    equal(schedules.revised([], 20 * MB), [])


class Path:
    """Brings what one channel carries for each lane, up to a most; keeps what it was asked."""

    def __init__(self, each, most):
        self.each, self.most, self.asked = each, most, []

    def __call__(self, chunk, pipelining, parallelism, concurrency):
        self.asked.append((pipelining, parallelism, concurrency))
        self.got = getattr(self, 'got', []) + chunk
        lanes = parallelism * concurrency
        return min(self.each * lanes, self.most) if lanes <= 8 else self.most / 2


def pcp_doubles_until_a_chunk_is_slower_and_copies_every_file_once():
    many = files((2000, 100_000, 100_000), (100, 20 * MB, 30 * MB))
    path = Path(10, 80)
    schedules.pcp(many, MB, path)
    equal(sorted(path.got), sorted(many))
    equal([cc for pp, _, cc in path.asked if pp != 2], [1, 2, 4, 8, 16, 8])
    large = [(p, cc) for pp, p, cc in path.asked if pp == 2]
    equal(large[:5], [(1, 1), (2, 1), (4, 1), (8, 1), (16, 1)])
    equal(large[5:], [(8, 1), (8, 2), (8, 1)])


def pcp_copies_a_single_file_with_one_channel():
    path = Path(10, 80)
    schedules.pcp(files((1, 1200 * MB, 1200 * MB)), MB, path)
    equal(path.asked, [(2, 1, 1)])


def classes_are_bordered_by_the_time_on_the_link():
    equal([schedules.class_of(size * MB, 10e9) for size in (62.5, 63, 250, 251, 2500, 2501)], ['small', 'middle', 'middle', 'large', 'large', 'huge'])


def channels_are_dealt_to_huge_small_large_middle_in_turn():
    four = {name: files((9, MB, MB)) for name in ('small', 'middle', 'large', 'huge')}
    equal(schedules.dealt(four, 5), {'small': 1, 'middle': 1, 'large': 1, 'huge': 2})
    equal(schedules.dealt({'huge': files((2, MB, MB))}, 32), {'huge': 2})


def mc_copies_every_file_once_with_the_setting_of_its_class():
    mixed = files((400, MB, MB), (4, 1000 * MB, 1000 * MB), (1, 100 * MB, 100 * MB))
    plan = schedules.mc(mixed, 1e9, 6_250_000, 4 * MB)
    equal(sorted(f for chunk, *_ in plan for f in chunk), sorted(mixed))
    equal([(len(chunk), *setting) for chunk, *setting in plan], [(401, 5, 1, 28), (4, 1, 2, 4)])


def fstream_begins_by_the_mean_size_of_small_and_of_large_files():
    # 1 Gbit/s, 50 ms: files of less than 50 MB take less than 0.4 s.
    mixed = files((100, MB, MB), (3, 400 * MB, 400 * MB))
    found = schedules.fstream_clusters(mixed, 1e9, 6_250_000, 4 * MB)
    equal([(len(chunk), *setting) for chunk, *setting in found], [(100, 6, 1, 6), (3, 1, 2, 2)])
    equal([c[3] for c in schedules.fstream_clusters(mixed[100:101], 1e9, 6_250_000, 4 * MB)], [1])


def fstream_asks_for_as_many_channels_as_the_rate_of_each_makes_it():
    equal([schedules.profiled(rate, 1000, 4) for rate in (800, 700, 900, 500, 300, 950, 0)], [4, 4, 4, 7, 8, 3, 4])
    equal(schedules.profiled(100, 1000, 8), 10)


def channels_are_shared_out_and_nobody_has_none():
    equal([schedules.shared_out([6, 2], n) for n in (10, 8, 4, 2, 1)], [[8, 2], [6, 2], [3, 1], [1, 1], [1, 1]])
    equal(schedules.shared_out([2], 7), [7])


def fstream_copies_every_file_once_in_intervals_of_ten_seconds():
    mixed, asked = files((3000, MB, MB), (10, 200 * MB, 200 * MB)), []

    def copy(chunks):
        asked.append(chunks)
        return 50e6 * sum(cc for *_, cc in chunks)
    schedules.fstream(mixed, 1e9, 6_250_000, 4 * MB, copy)
    equal(sorted(f for chunks in asked for chunk, *_ in chunks for f in chunk), sorted(mixed))
    equal([sum(cc for *_, cc in chunks) for chunks in asked][:3], [7, 9, 10])  # one large file has one channel
    sizes = [sum(schedules.total(chunk) for chunk, *_ in chunks) for chunks in asked]
    cases.check(250 * MB <= sizes[0] <= 451 * MB, f'the first interval has {sizes[0]} bytes')


def a_scenario_names_one_of_the_schedules():
    for by, refused in (('pcp', False), ('mc', False), ('fstream', False), ('rcd', True), (None, True)):
        tool = {'tool': 'globus_scheduled', **({'by': by} if by else {})}
        try:
            wide_check.check_tool('tools[0]', tool, ['server', 'seed', 'get'])
        except wide_check.Wrong as e:
            cases.check(refused and 'there are pcp, mc, fstream' in str(e), str(e))
        else:
            cases.check(not refused, f'{by} passes')
    equal(wide.label({'tool': 'globus_scheduled', 'by': 'mc'}), 'globus, files by mc')


def the_path_that_is_given_is_that_of_the_scenario():
    hosts = {'server': {}, 'seed': {'delay_ms': 12.5, 'up': '1Gbit'}, 'get': {'delay_ms': 12.5, 'down': '200Mbit'}}
    tcp = {'tcp_rmem': '4096 131072 67108864', 'tcp_wmem': '4096 65536 4194304'}
    equal(wide.path_of({'network': {'hosts': hosts}, 'tcp': tcp}), (200e6, 0.05, 4194304))


if __name__ == '__main__':
    cases.run(pipelining_fills_the_bandwidth_delay_product, division_finds_the_papers_three_clusters, small_chunks_join_and_large_ones_are_halved,
              pcp_doubles_until_a_chunk_is_slower_and_copies_every_file_once, pcp_copies_a_single_file_with_one_channel,
              classes_are_bordered_by_the_time_on_the_link, channels_are_dealt_to_huge_small_large_middle_in_turn,
              mc_copies_every_file_once_with_the_setting_of_its_class, fstream_begins_by_the_mean_size_of_small_and_of_large_files,
              fstream_asks_for_as_many_channels_as_the_rate_of_each_makes_it, channels_are_shared_out_and_nobody_has_none,
              fstream_copies_every_file_once_in_intervals_of_ten_seconds, a_scenario_names_one_of_the_schedules,
              the_path_that_is_given_is_that_of_the_scenario)
