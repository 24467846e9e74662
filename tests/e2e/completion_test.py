#!/usr/bin/env python3
"""What the tab key offers, in real shells: names that the server and the node know, and nothing where they are away."""
import os
import shlex
import shutil
import subprocess

import cases
import harness

NAMES = ['run42', 'run 43', "run's \"44\"", '-run45']

# Calls the function as readline would, and prints what it offers.
BASH = '''
source <(gridtorrent completion bash)
COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_gridtorrent
printf '%%s\\n' "${COMPREPLY[@]}"
'''

# The completion system takes words from a line editor alone: its two functions are stood in for.
ZSH = '''
compdef() { }
compadd() { while [[ "$1" == -* && "$1" != -- ]]; do shift; done; shift; print -rl -- "$@" }
_describe() { }
_message() { }
source <(gridtorrent completion zsh)
words=(%s); CURRENT=${#words}; PREFIX="${words[CURRENT]}"
_gridtorrent
'''

FISH = '''
gridtorrent completion fish | source
complete -C %s
'''


def shell(user, node, *command):
    env = {**user.env, 'PATH': f'{user.scene.bin}:{os.environ["PATH"]}', 'GRIDTORRENT_SOCKET': str(node.socket) if node else '/nowhere'}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    cases.check(done.stderr == '', f'{command[0]} says {done.stderr}')
    return [line for line in done.stdout.splitlines() if line]


def in_bash(user, node, *words):
    """The offers, as bash would read them back from its line."""
    offers = shell(user, node, 'bash', '--norc', '-c', BASH % ' '.join(shlex.quote(word) for word in ('gridtorrent', *words)))
    return sorted(shlex.split(' '.join(offers)))


def in_zsh(user, node, *words):
    return sorted(shell(user, node, 'zsh', '-f', '-c', ZSH % ' '.join(shlex.quote(word) for word in ('gridtorrent', *words))))


def in_fish(user, node, *words):
    line = ' '.join(('gridtorrent', *words))
    return sorted(offer.split('\t')[0] for offer in shell(user, node, 'fish', '--no-config', '-c', FISH % shlex.quote(line)))


SHELLS = {'bash': in_bash, 'zsh': in_zsh, 'fish': in_fish}


def every_shell_offers_what_there_is():
    with harness.Scene() as scene:
        server = scene.server()
        alice = scene.user('alice')
        alpha = scene.node(alice, 'alpha')
        for name in NAMES:
            alice.cli('publish', cases.make_file(scene.dir / 'in/data.bin', 1000), f'--name={name}', '--access', 'public', node=alpha)
        alice.cli('group', 'create', 'geo-lab')
        transfer = alice.cli('transfers', '--json', node=alpha).json['transfers'][0]['transfer_id']
        found = {name: ask for name, ask in SHELLS.items() if shutil.which(name)}
        for name, ask in found.items():
            def offers(words, fits, ask=ask):
                # Who presses the tab key waits 0.7 s at most: a machine that stands still for so long offers nothing.
                harness.wait_until(lambda: fits(ask(alice, alpha, *words)), f'{name} to offer for {words}')
            print(f'  {name}', flush=True)
            offers(('get', 'run4'), lambda offered: offered == ['run42'])
            offers(('get', 'run'), lambda offered: set(NAMES[:3]) <= set(offered))
            offers(('show', 'alice/run4'), lambda offered: offered == ['alice/run42'])
            offers(('group', 'show', ''), lambda offered: offered == ['geo-lab'])
            offers(('get', 'run42', '--node', 'al'), lambda offered: offered == ['alpha'])
            offers(('get', '--node', 'alpha', '--limit=25MB', 'run4'), lambda offered: offered == ['run42'])
            offers(('transfer', 'show', 'run4'), lambda offered: offered == ['run42'])
            offers(('transfer', 'show', transfer[:9]), lambda offered: offered != [])
            offers(('transfer', 'pause', 'run42', 'run4'), lambda offered: offered == ['run42'])
            if name != 'zsh':  # whose completion of files is stood in for
                offers(('verify', str(scene.dir / 'in/dat')), lambda offered: offered == [str(scene.dir / 'in/data.bin')])
            cases.check(ask(alice, alpha, 'get', 'nothing') == [], 'something is offered for what is not there')
            for second in (('group', 'invite', 'geo-lab', ''), ('content', 'rename', 'run42', ''), ('get', 'run42', '')):
                cases.check(ask(alice, alpha, *second) == [], f'{name} offers the first argument again for {second}')
        server.stop()
        for name, ask in found.items():
            cases.check(ask(alice, None, 'get', 'run') == [], f'{name} offers something without a server')
            cases.check(ask(alice, None, 'transfer', 'show', '') == [], f'{name} offers something without a node')
        server.start()
    missing = SHELLS.keys() - found.keys()
    if missing:
        harness.skip(f'not installed, so not looked at: {", ".join(sorted(missing))}')


cases.run(every_shell_offers_what_there_is)
