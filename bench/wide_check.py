"""What a scenario of bench/wide may say. A wrong one gets one line that names the place, the reason and the way out, before anything starts.

Roles go by name: `server`; `seed…` seeds, all of them; `rival…` runs no node, only traffic beside the tools; every other host fetches.
"""
NUMBER = (int, float)
LIMIT_WORDS = ('window', 'loss', 'seeder', 'path', 'receiver-cpu', 'disk', 'target', 'cap')  # what a tuner may say; "unknown" is never true
RIVAL = {'from': str, 'to': str, 'flows': int, 'congestion': str, 'at_s': NUMBER, 'until_s': NUMBER}
KILL = {'host': str, 'at_s': NUMBER}
SCENARIO = {'title': str, 'why': str, 'network': dict, 'tcp': dict, 'tcp_of': dict, 'cpu': dict, 'uploads': dict, 'disk': dict,
            'congestion_allowed': list, 'repetitions': int, 'data': dict, 'tools': list, 'rivals': list, 'kills': list, 'limits': list}
MOST_RIVALS = 32  # common.RIVAL_PORTS
NEEDED = ('title', 'why', 'network', 'tcp', 'repetitions', 'data', 'tools')

# What a user of GridTorrent may set: by its name in a scenario, the option of `gridtorrent get` that takes it.
WISHES = {'lanes': '--lanes', 'seeders': '--seeders', 'limit': '--limit', 'tuner': '--tuner', 'mode': '--mode', 'target_rate': '--target-rate',
          'min_rate': '--min-rate', 'by_s': '--by'}
HISTORY = ('cold', 'warm')
SCHEDULES = ('pcp', 'mc', 'fstream')
COMMON = {'rivals': list, 'limits': list}  # a tool's own, instead of the scenario's
WISHED = {'lanes': int, 'seeders': int, 'limit': str, 'tuner': str, 'mode': str, 'target_rate': str, 'min_rate': str, 'by_s': NUMBER}
TOOLS = {'iperf3': {'streams': int, 'seconds': NUMBER, 'omit_s': NUMBER, 'bytes': int, 'congestion': str, 'window': str},
         'globus': {'parallelism': int, 'verify_checksum': bool, 'tcp_buffer': str, 'block_size': str},
         'globus_folder': {'concurrency': int, 'parallelism': int}, 'globus_scheduled': {'by': str}, 'aria2_http': {'connections': int}, 'aria2': {}, 'udt': {},
         'aria2_swarm': {}, 'transmission_swarm': {}, 'gridtorrent': {'access': str, 'history': str, 'estimate': bool, **WISHED},
         'gridtorrent_swarm': {'access': str, **WISHED}, 'gridtorrent_side_by_side': {'access': str, 'lanes': list}}


class Wrong(ValueError):
    """One line about a scenario: place, reason, way out."""


def seeders(hosts):
    return [name for name in hosts if name.startswith('seed')]


def fetchers(hosts):
    return [name for name in hosts if name != 'server' and not name.startswith(('seed', 'rival'))]


def wrong(place, why, way_out):
    raise Wrong(f'{place}: {why}; {way_out}')


def listed(names):
    return ', '.join(names)


def keys(place, said, known, needed=()):
    """That an object has known keys alone, each of its kind, and those that it needs."""
    if not isinstance(said, dict):
        wrong(place, 'this is no object', f'write it as {{"{next(iter(known))}": …}}')
    for key, value in said.items():
        if key not in known:
            wrong(f'{place}.{key}', 'this key is unknown', f'there are {listed(known)}' if known else 'it takes none')
        kind = known[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            names = {str: 'text', int: 'a whole number', NUMBER: 'a number', list: 'a list', dict: 'an object', bool: 'true or false'}
            wrong(f'{place}.{key}', f'{value!r} is not {names[kind]}', 'write it as such')
    for key in needed:
        if key not in said:
            wrong(f'{place}.{key}', 'this is missing', 'write it')


def host_named(place, name, hosts):
    if name not in hosts:
        wrong(place, f'there is no host "{name}"', f'there are {listed(hosts)}')


def check_rivals(place, rivals, hosts):
    if len(rivals) > MOST_RIVALS:
        wrong(place, f'{len(rivals)} of them have no ports left', f'write at most {MOST_RIVALS}; each may have many flows')
    for i, rival in enumerate(rivals):
        here = f'{place}[{i}]'
        keys(here, rival, RIVAL, ('from', 'to', 'flows'))
        for end in ('from', 'to'):
            host_named(f'{here}.{end}', rival[end], hosts)
        if rival['from'] == rival['to']:
            wrong(f'{here}.to', 'it is the host that the flow comes from', 'name another one')
        if rival['to'] in fetchers(hosts):
            wrong(f'{here}.to', f'"{rival["to"]}" fetches, and a rate at its link would count the rival\'s bytes', 'send it to a host named rival…')
        if rival['flows'] < 1:
            wrong(f'{here}.flows', f'{rival["flows"]} is no number of flows', 'write at least 1, or leave the rival out')
        if not 0 <= rival.get('at_s', 0) < rival.get('until_s', float('inf')):
            wrong(f'{here}.until_s', 'the rival ends before it begins', 'write a later time, or leave it out: until the run ends')


def check_limits(place, words):
    for word in words:
        if word not in LIMIT_WORDS:
            wrong(place, f'"{word}" is no word for what limits a transfer', f'there are {listed(LIMIT_WORDS)}')


def check_tool(place, tool, hosts):
    kind = tool.get('tool') if isinstance(tool, dict) else None
    if kind not in TOOLS:
        wrong(f'{place}.tool', f'there is no tool "{kind}"', f'there are {listed(TOOLS)}')
    keys(place, {k: v for k, v in tool.items() if k != 'tool'}, TOOLS[kind] | COMMON)
    check_rivals(f'{place}.rivals', tool.get('rivals', []), hosts)
    check_limits(f'{place}.limits', tool.get('limits', []))
    if kind == 'globus_scheduled' and tool.get('by') not in SCHEDULES:
        wrong(f'{place}.by', f'"{tool.get("by")}" schedules no files', f'there are {listed(SCHEDULES)}')
    if tool.get('history', HISTORY[0]) not in HISTORY:
        wrong(f'{place}.history', f'"{tool["history"]}" is none', f'there are {listed(HISTORY)}')
    if kind == 'gridtorrent_side_by_side':
        lanes = tool.get('lanes', [])
        if not 2 <= len(lanes) <= len(fetchers(hosts)) or not all(n == 'auto' or isinstance(n, int) for n in lanes):
            wrong(f'{place}.lanes', f'{lanes} says nothing of {len(fetchers(hosts))} hosts that fetch', 'write a number or "auto" for two of them or more')


def check(scenario):
    """Raises Wrong at the first thing that a scenario may not say. Links are the emulator's to check."""
    keys('scenario', scenario, SCENARIO, NEEDED)
    keys('network', scenario['network'], {'mtu': int, 'seed': int, 'hosts': dict, 'changes': list}, ('hosts',))
    hosts = list(scenario['network']['hosts'])
    for role, found in (('server', 'server' in hosts), ('seed', seeders(hosts)), ('get', fetchers(hosts))):
        if not found:
            wrong('network.hosts', f'nobody is "{role}"', f'add a host of that name{"" if role == "server" else ", or one that begins with it" if role == "seed" else ""}')
    check_rivals('rivals', scenario.get('rivals', []), hosts)
    for i, kill in enumerate(scenario.get('kills', [])):
        keys(f'kills[{i}]', kill, KILL, ('host', 'at_s'))
        host_named(f'kills[{i}].host', kill['host'], hosts)
        if kill['host'] not in seeders(hosts):
            wrong(f'kills[{i}].host', f'"{kill["host"]}" does not seed', f'only nodes that seed are killed: {listed(seeders(hosts))}')
    check_limits('limits', scenario.get('limits', []))
    for place in ('tcp_of', 'cpu', 'uploads', 'disk'):
        for host in scenario.get(place, {}):
            host_named(f'{place}.{host}', host, hosts)
    for host, cores in scenario.get('cpu', {}).items():
        if host == 'server' or host.startswith('rival') or not isinstance(cores, NUMBER) or not 0 < cores <= 1:
            wrong(f'cpu.{host}', 'only a node can be held, to a part of one core', 'write 0.2 for a fifth of a core, at a host that seeds or fetches')
    for host, rate in scenario.get('uploads', {}).items():
        if host not in seeders(hosts) or not isinstance(rate, str):
            wrong(f'uploads.{host}', 'only the owner of a node that seeds gives less than it could', 'write "80Mbit" at a host that seeds')
    for host, rate in scenario.get('disk', {}).items():
        if host != fetchers(hosts)[0] or not isinstance(rate, NUMBER) or isinstance(rate, bool) or rate <= 0:
            wrong(f'disk.{host}', 'only the disk that data are fetched to is slow, by bytes a second', f'write 10e6 at "{fetchers(hosts)[0]}"')
    for i, tool in enumerate(scenario['tools']):
        check_tool(f'tools[{i}]', tool, hosts)
