#!/usr/bin/env python3
"""Records what the programs of an older build send to their server, for tests/integration/server_recorded_test.cc.

    apt-get install python3-grpcio
    GT_BIN=OLDER_BUILD/bin python3 tests/recorded/record.py tests/recorded/node_ef69d6b.jsonl

A proxy stands between the programs and a real server of the same build, with that server's certificate. It passes every
call on unchanged. The file has a line for each call, in the order in which calls begin:

    method    its full name
    bearer    the placeholder of the token that it carries; "" for none
    requests  hex, a string for each message
    replies   hex, of those messages that came back; of a stream, each different one once
    status    the number of the gRPC status; 1 where the caller ended a stream

The first line holds `names`, the keys of the nodes that enrol. Where a value of that one server stands, the hex has a
placeholder of the value's length instead: {gtp_1:48} is the first personal token, {c_1:28} the first content id,
{proof_1:71} the signature of the first node's key over its enrolment token, {now:6} the time. So no token is in the
file. The keys are those of nodes that live in a temporary folder for a few seconds.
"""
import concurrent.futures
import json
import pathlib
import re
import sys
import threading

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'e2e'))
import cases  # noqa: E402
import harness  # noqa: E402

# Tokens, and those ids that the server makes: of audiences, contents, groups, nodes, tasks and users.
VALUE = re.compile(rb'gt[a-z]_[A-Za-z0-9_]{20,}|\b[acgntu]_[a-z2-7]{26}')
ENROLL = '/gridtorrent.v1.Nodes/Enroll'
# Of the messages that begin with a Hello: where its time is.
HELLO_TIME = (1, 4)
WITH_HELLO = {f'/gridtorrent.v1.{name}' for name in
              ('Accounts/Login', 'Accounts/WhoAmI', 'Nodes/Enroll', 'Nodes/RenewNode', 'Tasks/WatchNode', 'Collaboration/GetInbox',
               'Collaboration/WatchInbox')}
PROOF = (5,)
CANCELLED = grpc.StatusCode.CANCELLED.value[0]


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def place_of(data, path, begin=0, end=None):
    """Where the value of a field is in a message, as (begin, end); None where it has no such field."""
    at, end = begin, len(data) if end is None else end
    while at < end:
        key, at = varint(data, at)
        kind = key & 7
        if kind == 2:
            size, at = varint(data, at)
            after = at + size
        else:
            after = varint(data, at)[1] if kind == 0 else at + {1: 8, 5: 4}[kind]
        if key >> 3 == path[0]:
            return (at, after) if len(path) == 1 else place_of(data, path[1:], at, after)
        at = after
    return None


def time_left(context):
    """What is left of a call's deadline. A call without one has centuries, which the next call cannot take over."""
    left = context.time_remaining()
    return left if left < 1e9 else None


class Call:
    def __init__(self, method, bearer):
        self.method, self.bearer, self.requests, self.replies, self.status = method, bearer, [], [], CANCELLED


class Proxy(grpc.GenericRpcHandler):
    """Takes every call of every service as a stream of bytes each way."""

    def __init__(self, server):
        pem = pathlib.Path(server.data, 'tls.pem').read_bytes()
        ca = pathlib.Path(server.ready['ca_file']).read_bytes()
        self.upstream = grpc.secure_channel(server.address, grpc.ssl_channel_credentials(ca))
        self.calls, self.lock = [], threading.Lock()
        self.own = grpc.server(concurrent.futures.ThreadPoolExecutor(64), handlers=(self,))
        port = self.own.add_secure_port('127.0.0.1:0', grpc.ssl_server_credentials([(pem, pem)]))
        self.own.start()
        self.address = f'127.0.0.1:{port}'

    def service(self, details):
        def handler(requests, context):
            return self.pass_on(details, requests, context)
        return grpc.stream_stream_rpc_method_handler(handler)

    def pass_on(self, details, requests, context):
        carried = [(key, value) for key, value in details.invocation_metadata if key == 'authorization']
        call = Call(details.method, carried[0][1].removeprefix('Bearer ').encode() if carried else b'')
        with self.lock:
            self.calls.append(call)

        def heard():
            for request in requests:
                call.requests.append(request)
                yield request
        passed = self.upstream.stream_stream(details.method)(heard(), timeout=time_left(context), metadata=carried)
        context.add_callback(passed.cancel)
        try:
            for reply in passed:
                call.replies.append(reply)
                yield reply
        except grpc.RpcError:
            pass
        call.status = passed.code().value[0]
        context.set_trailing_metadata([(k, v) for k, v in passed.trailing_metadata() if not k.startswith(':')])
        context.set_code(passed.code())
        context.set_details(passed.details())


class Names:
    """Placeholders of the values that one server hands out, numbered as they first appear."""

    def __init__(self):
        self.known, self.proofs = {}, 0

    def of(self, value):
        kind = value.decode().split('_')[0]
        if value not in self.known:
            self.known[value] = f'{kind}_{sum(n.startswith(kind + "_") for n in self.known.values()) + 1}'
        return self.known[value]

    def hex_of(self, message, more=()):
        """`more`: further (begin, end, name)."""
        cuts = sorted([*more, *((m.start(), m.end(), self.of(m[0])) for m in VALUE.finditer(message))])
        text, at = '', 0
        for begin, end, name in cuts:
            text += message[at:begin].hex() + f'{{{name}:{end - begin}}}'
            at = end
        return text + message[at:].hex()

    def request(self, method, message):
        more = []
        if method in WITH_HELLO and place_of(message, HELLO_TIME):
            more.append((*place_of(message, HELLO_TIME), 'now'))
        if method == ENROLL:
            self.proofs += 1
            more.append((*place_of(message, PROOF), f'proof_{self.proofs}'))
        return self.hex_of(message, more)


def lines(calls):
    names = Names()
    for call in calls:
        # What a program that ends no longer waits for has no status.
        if call.status == CANCELLED and not call.replies:
            continue
        bearer = names.of(call.bearer) if call.bearer else ''
        requests = [names.request(call.method, message) for message in call.requests]
        replies = list(dict.fromkeys(names.hex_of(message) for message in call.replies))
        yield {'method': call.method, 'bearer': bearer, 'requests': requests, 'replies': replies, 'status': call.status}


def let_credential_age(node):
    """Its token looks as if two thirds of its life were over, so that it is renewed."""
    file = node.data / 'credential.json'
    identity = json.loads(file.read_text())
    life = identity['expires_ms'] - identity['issued_ms']
    identity['issued_ms'] -= 3 * life
    file.write_text(json.dumps(identity))


def renewed(proxy):
    return any(call.method.endswith('/RenewNode') and call.status == 0 for call in proxy.calls)


def play(scene):
    """Login, enrolment, publish, get by a second node, a task, renewal; returns the proxy and the nodes."""
    server = scene.server()
    proxy = Proxy(server)
    server.ready['address'] = proxy.address
    alice, bob = scene.user('alice'), scene.user('bob')
    share = scene.dir / 'share'
    cases.make_file(share / 'run/a.bin', 70_000, seed=1)
    cases.make_file(share / 'run/b.bin', 3_000, seed=2)
    alpha = scene.node(alice, 'alpha', args=('--share-root', f'data={share}'))
    alice.cli('publish', share / 'run', '--name', 'run', '--access', 'public', node=alpha)
    beta = scene.node(bob, 'beta')
    bob.cli('search')
    bob.cli('show', 'alice/run')
    bob.cli('get', 'alice/run', '--to', scene.dir / 'out', node=beta)
    alice.cli('publish', 'data:run/b.bin', '--name', 'by-task', '--node', 'alpha')
    alice.cli('node', 'list')
    beta.stop()
    let_credential_age(beta)
    beta.start()
    harness.wait_until(lambda: renewed(proxy), 'the renewal')
    beta.stop()
    alpha.stop()
    return proxy, (alpha, beta)


def main():
    target = pathlib.Path(sys.argv[1])
    with harness.Scene(unsound='its server is watched through a proxy') as scene:
        proxy, nodes = play(scene)
        keys = [(node.data / 'node_key.pem').read_text() for node in nodes]
        written = [json.dumps({'keys': keys}), *(json.dumps(line) for line in lines(list(proxy.calls)))]
        target.write_text('\n'.join(written) + '\n')
        print(f'{len(written) - 1} calls, {target.stat().st_size} bytes in {target}')


main()
