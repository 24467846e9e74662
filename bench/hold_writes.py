#!/usr/bin/env python3
"""What one caller at full speed on each method that may change something leaves in the database.

Each method is called for so many seconds over four connections, with large requests. Of the calls no more may be taken than docs/operating.md
declares, and the database may grow by no more than the declared bytes for each that was taken, and 5 MB.
"""
import base64
import re
import secrets
import subprocess
import time

import hold_scene
from hold_scene import harness

CONNECTIONS = 4
SLACK_BYTES = 5_000_000
SLACK_CALLS = 1.02  # a bucket fills while the last call is under way


def declared():
    """By method: calls a minute, calls at once, bytes a call."""
    rows = re.findall(r'^\| `(\w+/\w+)` \| \w+ \| ([\d,]+) \| ([\d,]+) \| [^|]* \| ([\d,]+) \|$', (hold_scene.ROOT / 'docs/operating.md').read_text(), re.M)
    return {name: tuple(int(number.replace(',', '')) for number in numbers) for name, *numbers in rows}


def settled_size(server):
    """Of the database, once its log is written back."""
    log = server.data / 'gridtorrent.db-wal'
    harness.wait_until(lambda: log.stat().st_size == 0, 'the log to be written back', 30)
    return (server.data / 'gridtorrent.db').stat().st_size


def text(size):
    return 'x' * size


def enrolment(scene, node):
    """A request of the node's own key with its token, which is used up."""
    token = (scene.dir / f'{node.short_name}.enroll').read_text().strip()
    key = node.data / 'node_key.pem'

    def openssl(*args, data=b''):
        return base64.b64encode(subprocess.run(['openssl', *args], input=data, capture_output=True, check=True).stdout).decode()
    return token, {'hello': hold_scene.hello(), 'requestId': '$ID', 'publicKey': openssl('pkey', '-in', key, '-pubout', '-outform', 'DER'),
                   'proof': openssl('dgst', '-sha256', '-sign', key, data=f'gridtorrent-enroll:{token}'.encode())}


class Cases:
    """The requests for each method, with the token that they are made with."""

    def __init__(self, scene):
        self.scene = scene
        server = scene.server()
        self.people = {name: scene.user(name) for name in ('alice', 'bob', 'victim', 'leaver')}
        self.token = {name: hold_scene.token_of(user) for name, user in self.people.items()} | {'admin': hold_scene.token_of(scene.admin())}
        alice = self.people['alice']
        self.node = scene.node(alice, 'n1')
        (scene.dir / 'data.bin').write_bytes(secrets.token_bytes(100_000))
        self.content = [alice.cli('publish', scene.dir / 'data.bin', '--name', name, '--access', 'public', '--json', node=self.node).event('published')['content_id']
                        for name in ('one', 'two', 'three')]
        for group in ('lab', 'doomed'):
            alice.cli('group', 'create', group)
        self.node.stop()
        self.task = alice.cli('get', 'one', '--node', 'n1', '--detach').out.strip()  # it waits for the node
        self.server = server

    def all(self):
        """(method, [(token, request), …]): requests of one method run side by side."""
        alice, admin, node = self.token['alice'], self.token['admin'], hold_scene.node_token_of(self.node)
        with_id = {'requestId': '$ID'}
        enroll_token, enroll = enrolment(self.scene, self.node)
        one, two, three = self.content
        listing = {**with_id, 'node': 'n1', 'work': {'listFolder': {'rootPath': 'data:' + text(4000)}}}
        yield 'Tasks/CreateTask', [(alice, listing),
                                   (alice, {**with_id, 'node': 'n1', 'work': {'get': {'contentId': one, 'globs': [text(4000)] * 15}}})]
        task = self.task
        yield 'Tasks/ReportTask', [(node, {'taskId': task, 'state': 'running', 'done': '$N', 'total': '1000000000', 'resultJson': text(1_000_000)})]
        yield 'Tasks/AckTask', [(node, {'sequence': '1'})]
        yield 'Tasks/CancelTask', [(alice, {**with_id, 'taskId': task})]
        yield 'Contents/BeginPublish', [(alice, {**with_id, 'name': 'run $N', 'access': {'level': 'SHARED', 'users': ['bob'], 'groups': ['lab']},
                                                 'description': text(4000), 'tags': [f'tag-{i}-{text(50)}' for i in range(32)]})]
        yield 'Contents/FinishPublish', [(alice, {**with_id, 'contentId': one, 'version': 1, 'totalBytes': '3', 'sha256': text(64), 'data': 'YWJj'})]
        yield 'Contents/AddChecksums', [(alice, {'contentId': one, 'version': 1, 'data': 'YWJj'})]
        yield 'Contents/SetAccess', [(alice, {**with_id, 'contentId': two, 'access': access})
                                     for access in ({'level': 'PUBLIC'}, {'level': 'SHARED', 'users': ['bob'], 'groups': ['lab'], 'buddies': True})]
        yield 'Contents/Unpublish', [(alice, {**with_id, 'contentId': three})]
        yield 'Collaboration/CreateGroup', [(alice, {**with_id, 'name': 'g-$N', 'description': text(1000)})]
        yield 'Collaboration/DescribeGroup', [(alice, {**with_id, 'group': 'lab', 'description': '$N ' + text(1000)})]
        yield 'Collaboration/DeleteGroup', [(alice, {**with_id, 'group': 'doomed'})]
        yield 'Collaboration/ChangeMembership', [(alice, {**with_id, 'group': 'lab', 'user': 'bob', 'step': step, 'message': text(500) if step == 'invite' else ''})
                                                 for step in ('invite', 'withdraw-invitation')]
        yield 'Collaboration/AddBuddy', [(alice, {**with_id, 'user': 'bob'})]
        yield 'Collaboration/RemoveBuddy', [(alice, {**with_id, 'user': 'bob'})]
        yield 'Collaboration/MarkInboxRead', [(alice, {})]
        yield 'Collaboration/OfferContent', [(alice, {**with_id, 'content': 'one', 'to': 'bob', 'message': text(1000)})]
        yield 'Collaboration/AnswerOffer', [(alice, {**with_id, 'content': 'one', 'answer': 'withdraw'})]
        yield 'Accounts/CreateToken', [(alice, {**with_id, 'label': text(100), 'scopes': ['content:read'], 'ttlMs': '3600000'})]
        yield 'Accounts/RevokeToken', [(alice, {**with_id, 'tokenId': '$N'})]
        yield 'Accounts/ChangePassword', [(admin, {**with_id, 'user': 'victim', 'newPassword': 'a long passphrase, number $N'})]
        yield 'Accounts/AddUser', [(admin, {**with_id, 'name': 'user-$N', 'roles': ['service']})]
        yield 'Accounts/DisableUser', [(admin, {**with_id, 'user': 'victim'})]
        yield 'Accounts/EnableUser', [(admin, {**with_id, 'user': 'victim'})]
        yield 'Accounts/ChangeQuotas', [(admin, {**with_id, 'user': 'victim', 'changes': [{'quota': 'contents', 'limit': '$N'}]})]
        yield 'Accounts/ListUsers', [(admin, {})]
        yield 'Accounts/ListAuditRecords', [(admin, {'limit': 1})]
        yield 'Accounts/Logout', [(self.token['leaver'], with_id)]
        yield 'Accounts/Login', [('', {'hello': hold_scene.hello(), 'user': 'bob', 'password': password, 'device': text(100)})
                                 for password in ('bob likes long passphrases', 'a wrong passphrase')]
        yield 'Nodes/CreateEnrollToken', [(alice, {**with_id, 'uses': 1, 'ttlMs': '60000'})]
        yield 'Nodes/Enroll', [(enroll_token, enroll)]
        yield 'Nodes/RotateDataCa', [(admin, with_id)]

    def of_the_node(self, token):
        """Methods for nodes alone; before Enroll, which ends this credential."""
        yield 'Nodes/RenewNode', [(token, {'hello': hold_scene.hello()})]
        yield 'Nodes/Certify', [(token, {'certificateRequest': base64.b64encode(text(500).encode()).decode()})]
        yield 'Swarms/UpdateEndpoints', [(token, {'endpoints': [{'address': '127.0.0.1', 'port': '$N', 'path': f'net{i}'} for i in range(60)], 'declared': True})]
        yield 'Swarms/Announce', [(token, {'contentId': self.content[0], 'version': 1, 'role': role, 'verifiedBytes': '100000', 'totalBytes': '100000',
                                           'refusedLanes': '1', 'refusedHandshakes': '1'}) for role in ('SEEDING', 'GONE')]


def measure(args, scene, server, allowed, method, calls):
    a_minute, at_once, bytes_a_call = allowed[method]
    before = settled_size(server)
    jobs = [{'name': str(i), 'method': method, 'token': token, 'connections': max(1, CONNECTIONS // len(calls)), 'request': request}
            for i, (token, request) in enumerate(calls)]
    outcomes = hold_scene.load(args, scene, args.seconds, jobs).values()
    time.sleep(2.5)  # it writes its log back when idle for two seconds
    grown = settled_size(server) - before
    codes = {}
    for outcome in outcomes:
        for code, count in outcome['codes'].items():
            codes[code] = codes.get(code, 0) + count
    # Who is not logged in any more (Logout) is refused before anything is counted.
    refused = {'busy', 'unauthenticated'} if calls[0][0] else {'busy'}
    taken = sum(count for code, count in codes.items() if code not in refused)
    most = (at_once + a_minute / 60 * args.seconds) * SLACK_CALLS + 1
    fine = taken <= most and grown <= min(taken, most) * bytes_a_call + SLACK_BYTES
    print(f'{method:32} {grown:12,} bytes  {taken:7,} taken, {most:8,.0f} allowed  {"ok" if fine else "TOO MUCH"}  {codes}', flush=True)
    return fine


def main():
    args = hold_scene.arguments(__doc__, seconds=(60, 'for each method'), after=('', 'begin with the method after this one'))
    allowed = declared()
    with harness.Scene(args.bin) as scene:
        cases = Cases(scene)
        fine, measured = [], set()
        skipping = {args.after} - {''}

        def run(all_of):
            for method, calls in all_of:
                measured.add(method)
                if skipping:
                    skipping.discard(method)
                    continue
                fine.append(measure(args, scene, cases.server, allowed, method, calls))
        # The node's own first: Enroll ends its credential.
        run(cases.of_the_node(hold_scene.node_token_of(cases.node)))
        run(cases.all())
        print(f'not called: {", ".join(sorted(set(allowed) - measured))}')
        return 0 if all(fine) else 1


if __name__ == '__main__':
    raise SystemExit(main())
