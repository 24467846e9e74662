"""What happens beside a tool while it runs: links change, iperf3 flows compete, seeders are killed. Undone when the run is over.

Times count from the moment when the tool is started.
"""
import re
import threading
import time

from peers import common

ENDLESS_S = 86_400  # a rival without an end is stopped with the run
SETTLED_S = 4  # what flows get in their first seconds is no share: of slow start, as in wide.WARM_S
PRINTED = re.compile(r'^\[\s*(SUM|\d+)\]\s+([\d.]+)-([\d.]+)\s+sec\s+[\d.]+ \w+\s+([\d.]+) Kbits/sec\s*$', re.M)


def intervals(text, flows):
    """[(from_s, until_s, Mbit/s)] of what a receiving iperf3 printed for each second (-f k), the flows together. An interrupted one prints
    its last second twice, and all of them a sum, which is marked as the receiver's."""
    found = {}
    for who, start, end, rate in PRINTED.findall(text):
        if (who == 'SUM') == (flows > 1):
            found.setdefault(float(start), (float(start), float(end), float(rate) / 1e3))
    return sorted(found.values())


def mean_rate(seconds, until_s):
    """Of such intervals, in Mbit/s: without the first SETTLED_S and what came after `until_s`; None where nothing is left."""
    inner = [(end - start, rate) for start, end, rate in seconds if start >= SETTLED_S and end <= until_s]
    length = sum(t for t, _ in inner)
    return round(sum(t * rate for t, rate in inner) / length, 2) if length > 0 else None


class During:
    """The context of one run. `figures` afterwards: what each rival got, and who was killed."""

    def __init__(self, net, gt, scenario, tool):
        self.net, self.gt, self.scenario = net, gt, scenario
        self.rivals = tool.get('rivals', scenario.get('rivals', []))
        self.kills = scenario.get('kills', []) if tool['tool'].startswith('gridtorrent') else []
        self.over, self.figures, self.failure = threading.Event(), {}, None

    def __enter__(self):
        self.crew = common.Crew().__enter__()
        try:
            self.listening = [self.listen(i, rival) for i, rival in enumerate(self.rivals)]
        except BaseException:
            self.crew.__exit__()
            raise
        events = [*((rival.get('at_s', 0), lambda i=i, r=rival: self.send(i, r)) for i, rival in enumerate(self.rivals)),
                  *((kill['at_s'], lambda k=kill: self.gt.kill(k['host'])) for kill in self.kills)]
        self.started = time.monotonic()
        if self.scenario['network'].get('changes'):
            self.net.start_changes()
        self.thread = threading.Thread(target=self.play, args=(sorted(events, key=lambda e: e[0]),), daemon=True)
        self.thread.start()
        return self

    def listen(self, number, rival):
        port = common.RIVAL_PORTS[number]
        program = self.crew.start(self.net[rival['to']], ['iperf3', '-s', '-1', '-p', port, '-i', 1, '-f', 'k', '--forceflush'])
        self.crew.wait_listening(program, port)
        return program

    def send(self, number, rival):
        congestion = rival.get('congestion', self.scenario['tcp']['tcp_congestion_control'])
        seconds = rival['until_s'] - rival.get('at_s', 0) if 'until_s' in rival else ENDLESS_S
        self.crew.start(self.net[rival['from']], ['iperf3', '-c', self.net[rival['to']].address, '-p', common.RIVAL_PORTS[number], '-P', rival['flows'],
                                                  '-C', congestion, '-t', seconds])

    def play(self, events):
        try:
            for at_s, event in events:
                if self.over.wait(max(0, self.started + at_s - time.monotonic())):
                    return
                event()
        except BaseException as e:  # told to the run's own thread when it leaves
            self.failure = e

    def __exit__(self, kind, *_):
        took = time.monotonic() - self.started
        self.over.set()
        self.thread.join()
        for program in reversed(self.crew.programs):
            program.stop()
        texts = [program.log_path.read_text(errors='replace') for program in self.listening]
        self.crew.__exit__()
        if self.scenario['network'].get('changes'):
            self.net.reset()
        if self.kills:
            self.gt.revive()
        if self.failure and kind is None:
            raise self.failure
        if self.rivals:
            self.figures['rivals'] = [self.got(rival, text, took) for rival, text in zip(self.rivals, texts)]
        if self.kills:
            self.figures['kills'] = [kill for kill in self.kills if kill['at_s'] < took]

    @staticmethod
    def got(rival, text, took):
        begun, seconds = rival.get('at_s', 0), intervals(text, rival['flows'])
        return {'to': rival['to'], 'flows': rival['flows'], 'at_s': begun, 'mbit_s': mean_rate(seconds, took - begun),
                'per_second': [round(rate, 1) for _, _, rate in seconds]}
