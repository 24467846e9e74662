"""./dev bench drawn: `auto` on links that nobody chose, beside fixed lanes and static GridFTP.

Rates, round trips, losses, queues, windows, seeders and data are drawn by a seed, so that nothing can be tuned to them. On each link all
tools meet the same random losses, once. What counts is the distribution of ratios over many links, and the worst of them: one run a tool
says little about one link. Each run becomes a line of bench/results/drawn/SEED.jsonl; the same seed goes on where it was.
"""
import math
import pathlib
import random
import statistics
import time

import lab
import quiet
import tune_plan
import wide
import wide_check

LINKS = 8  # of a call, unless --runs says otherwise
SEGMENT, LEAST_QUEUE = 1500, 40  # bytes, and packets: what the smallest switches hold
FIXED, STREAMS = (1, 4, 16), (4, 8, 16)
AUTO = {'tool': 'gridtorrent', 'access': 'public'}


def spread(rng, low, high):
    """Each power of ten is as likely as any other."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def seeding(rng, mbit_s, delay_ms):
    """{name: host} of one to four seeders, which together have 0.7 to 2 times the link of who fetches."""
    count = rng.choice((1, 1, 1, 2, 3, 4))
    hosts = {}
    for i in range(count):
        up = mbit_s if count == 1 else mbit_s / count * rng.uniform(0.7, 2)
        hosts['seed' if count == 1 else f'seed-{i + 1}'] = (up, delay_ms * (1 if i == 0 else rng.uniform(0.3, 2)))
    return hosts


def draw(seed):
    """The scenario of one seed, as a file of bench/wide has it."""
    rng = random.Random(f'link {seed}')
    mbit_s, round_trip_ms = spread(rng, 20, 900), spread(rng, 2, 200)
    loss = 0 if rng.random() < 0.3 else round(spread(rng, 1e-5, 1e-3), 6)
    queue_bdp, window = spread(rng, 0.25, 2), 67108864 if rng.random() < 0.75 else int(spread(rng, 200e3, 2e6))
    megabytes = max(20, min(1500, round(mbit_s / 8 * rng.uniform(12, 25))))
    bbr = rng.random() < 0.3
    hosts = {'server': {'address': '198.18.0.1', 'delay_ms': round(round_trip_ms / 4, 2)},
             'get': {'address': '198.18.0.3', 'delay_ms': round(round_trip_ms / 4, 2), 'up': f'{mbit_s:.1f}Mbit', 'down': f'{mbit_s:.1f}Mbit'}}
    for i, (name, (up, delay_ms)) in enumerate(seeding(rng, mbit_s, round_trip_ms / 4).items()):
        hosts[name] = {'address': f'198.18.1.{i + 1}', 'delay_ms': round(delay_ms, 2), 'up': f'{up:.1f}Mbit', 'down': f'{up:.1f}Mbit', 'loss': loss}
    for host in hosts.values():
        if 'up' in host:
            host['queue'] = f'{max(LEAST_QUEUE * SEGMENT, queue_bdp * float(host["up"][:-4]) * 1e3 / 8 * round_trip_ms) / 1e3:.0f}kB'
    seeds = wide_check.seeders(hosts)
    title = (f'{megabytes} MB from {len(seeds)} of {", ".join(hosts[s]["up"] for s in seeds)} to {mbit_s:.1f} Mbit/s, RTT {round_trip_ms:.1f} ms, '
             f'{loss:.4%} loss, queue {queue_bdp:.2f} BDP' + (f', windows of {window / 1e3:.0f} kB' if window < 67108864 else '') + (', may use BBR' if bbr else ''))
    # GridFTP takes from the first seeder alone: one run says by how much that is less.
    streams = STREAMS if len(seeds) == 1 else STREAMS[1:2]
    tools = [AUTO, *({**AUTO, 'lanes': n} for n in FIXED), *({'tool': 'globus', 'parallelism': n} for n in streams)]
    return {'title': title, 'why': 'links that nobody chose', 'network': {'mtu': 1500, 'hosts': hosts},
            'tcp': {'tcp_congestion_control': 'cubic', 'tcp_rmem': f'4096 131072 {window}', 'tcp_wmem': '4096 65536 67108864'},
            'repetitions': 1, 'data': {'file': f'{megabytes}MB'}, 'tools': tools, **({'congestion_allowed': ['reno', 'cubic', 'bbr']} if bbr else {})}


def ratios_of(runs):
    """{'fixed': ratio, 'GridFTP': ratio} of the rate of `auto` to the best of each; without those that have no run that counts."""
    counted = [r for r in runs if not r['void']]
    mine = next((r['mbit_s'] for r in counted if r['tool'] == AUTO), None)
    others = {'fixed': [r['mbit_s'] for r in counted if 'lanes' in r['tool']], 'GridFTP': [r['mbit_s'] for r in counted if r['tool']['tool'] == 'globus']}
    return {name: mine / max(rates) for name, rates in others.items() if mine and rates}


def on_link(name, scenario, results, args, machine, deadline):
    """All runs of a link that are still to do; its runs, or None where time ran out."""
    wide_check.check(scenario)
    runs = [r for r in wide.kept(results) if wide.same_machine(r['machine'], machine)]
    left = [tool for tool in scenario['tools'] if not tune_plan.over(runs, tool, 0)]
    print(f'\n== {name}: {scenario["title"]}', flush=True)
    if not left:
        return runs
    with wide.Session(name.replace(' ', '-'), scenario, args, machine, results) as session:
        for tool in left:
            while not tune_plan.over(runs, tool, 0):
                if time.monotonic() > deadline:
                    return None
                runs.append(session.run(0, tool))
                if tune_plan.host_stole(runs[-1]):
                    quiet.wait(deadline)
    return runs


def summary(found):
    """Lines about all links: median and worst of each ratio. `found`: {seed: ratios}."""
    lines = []
    for name in ('fixed', 'GridFTP'):
        values = {seed: ratios[name] for seed, ratios in found.items() if name in ratios}
        if values:
            worst = min(values, key=values.get)
            lines.append(f'auto : best {name}, of {len(values)} links: median {statistics.median(values.values()):.2f}, worst {values[worst]:.2f} (link {worst})')
    return lines


def run(args, machine):
    """As many links as --runs says, from --seed on, until --minutes are over."""
    lab.require_root()
    links, minutes = args.runs or LINKS, args.minutes or 30
    deadline, found = time.monotonic() + 60 * minutes, {}
    print(f'links {args.seed} to {args.seed + links - 1} (--seed {args.seed} --runs {links})', flush=True)
    for seed in range(args.seed, args.seed + links):
        runs = on_link(f'link {seed}', draw(seed), pathlib.Path(args.results) / 'drawn' / f'{seed}.jsonl', args, machine, deadline)
        if runs is None:
            print(f'  {minutes:g} minutes are over; the same command goes on from here')
            break
        found[seed] = ratios_of(runs)
        print('  auto is ' + ' and '.join(f'{ratio:.2f} of the best {name}' for name, ratio in found[seed].items()), flush=True)
    print('\n'.join(['', *summary(found)]))
