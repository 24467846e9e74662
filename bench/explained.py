"""What the programs can be told about speed, and what they tell of it: options of `gridtorrent get`, and a tuner's decisions."""
import json
import re
import subprocess

import wide_check

MOST_LINES = 500  # of a node's log that are kept with a run
# "planned 4 lanes", "alice/data: lanes 8 → 16 at 120 Mbit/s, limited by loss: auto: …", "alice/data: limited by path: …"
OF_TUNING = re.compile(r'\b(tun(e|er|ing)|plan(s|ned)?|lanes \d+|limited by)\b', re.I)


class Program:
    """What a build of `gridtorrent` knows, by its own help."""

    def __init__(self, path):
        self.path, self.helped = path, {}

    def help(self, *command):
        if command not in self.helped:
            self.helped[command] = subprocess.run([self.path, *command, '--help'], capture_output=True, text=True).stdout
        return self.helped[command]

    def has(self, command, subcommand):
        return re.search(rf'^ +(?:{re.escape(command)} )?{re.escape(subcommand)}\b', self.help(command), re.M) is not None

    def missing(self, tool):
        """Of a scenario's tool: the first option that `get` lacks, as (key, option); None where it has all."""
        return missing(tool, self.help('get')) if tool['tool'].startswith('gridtorrent') else None


def missing(tool, help_of_get):
    known = set(re.findall(r'^ +(?:-\w, )?(--[\w-]+)', help_of_get, re.M))
    return next(((key, option) for key, option in wide_check.WISHES.items() if key in tool and option not in known), None)


def arguments(wishes):
    """The words on the command line of what somebody wishes for; what they left out is not named."""
    said = {key: f'{value:g}s' if key == 'by_s' else str(value) for key, value in wishes.items() if value is not None}
    return [word for key, option in wide_check.WISHES.items() if key in said for word in (option, said[key])]


def lines_of_tuning(text):
    """The lines of a node's log that are about plans and tuning, the last ones where there are very many."""
    return [line for line in text.splitlines() if OF_TUNING.search(line)][-MOST_LINES:]


def plot(user, node, program, transfer):
    """The drawing of a transfer's tuning as SVG; None where the programs draw none."""
    if '--plot' not in program.help('tune', 'explain'):
        return None
    said = user.cli('tune', 'explain', transfer, '--plot', '-', node=node, expect=None)
    return said.out if said.code == 0 else None


def decisions(user, node, program, transfer, log_from):
    """Why a transfer went about it as it did, as far as the node tells: {"explain": …} by `tune explain`, else {"reason": …, "limit_word": …,
    "log": […]}."""
    if program.has('tune', 'explain'):
        said = user.cli('tune', 'explain', transfer, '--json', node=node, expect=None)
        if said.code == 0:
            return {'explain': json.loads(said.out)}
    shown = user.cli('transfer', 'show', transfer, '--json', node=node).json
    shown = shown.get('transfer', shown)
    with open(node.log_path, 'rb') as log:
        log.seek(log_from)
        lines = lines_of_tuning(log.read().decode(errors='replace'))
    return {'reason': shown.get('plan_reason', ''), 'limit_word': shown.get('limit_word') or None, 'log': lines}
