"""gRPC calls over hand-made HTTP/2, for load from many addresses: gRPC's own clients cannot bind theirs. Small unary messages only."""
import asyncio
import ssl
import struct

PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 3, 4, 6, 8
ACK = END_STREAM = 1
END_HEADERS = 4


def frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload


def header(name, value):
    """A literal that no table keeps (RFC 7541, 6.2.2); each shorter than 127 bytes."""
    return b'\0' + bytes([len(name)]) + name + bytes([len(value)]) + value


def text(number, value):
    """A protobuf field of bytes."""
    value = value.encode() if isinstance(value, str) else value
    length, out = len(value), b''
    while length > 127:
        out, length = out + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + out + bytes([length]) + value


def fields(message):
    """The fields of bytes in a protobuf message; the last of each number."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    while at < len(message):
        tag = varint()
        value = varint()
        if tag & 7 == 2:
            found[tag >> 3], at = message[at:at + value], at + value
    return found


class Connection:
    def __init__(self, reader, writer, authority):
        self.reader, self.writer, self.authority = reader, writer, authority
        self.next_stream, self.calls, self.messages = 1, {}, {}
        self.task = asyncio.create_task(self.read())

    @classmethod
    async def open(cls, address, ca_file, local=None):
        host, port = address.rsplit(':', 1)
        tls = ssl.create_default_context(cafile=ca_file)
        tls.set_alpn_protocols(['h2'])
        connecting = asyncio.open_connection(host, int(port), ssl=tls, local_addr=(local, 0) if local else None)
        reader, writer = await asyncio.wait_for(connecting, 60)
        writer.write(PREFACE + frame(SETTINGS, 0, 0))
        return cls(reader, writer, address)

    def alive(self):
        return not self.task.done()

    async def read(self):
        try:
            while True:
                head = await self.reader.readexactly(9)
                self.take(head[3], head[4], int.from_bytes(head[5:], 'big'), await self.reader.readexactly(int.from_bytes(head[:3], 'big')))
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            for call in self.calls.values():
                if not call.done():
                    call.set_result(None)
            self.writer.close()

    def take(self, kind, flags, stream, payload):
        if kind == SETTINGS and not flags & ACK:
            self.writer.write(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.writer.write(frame(PING, ACK, 0, payload))
        elif kind == DATA and payload:
            self.messages[stream] = self.messages.get(stream, b'') + payload
            self.writer.write(frame(WINDOW_UPDATE, 0, 0, struct.pack('>I', len(payload))))
        if kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
            message, call = self.messages.pop(stream, b''), self.calls.pop(stream, None)
            if call and not call.done():
                call.set_result(message[5:] if len(message) > 5 else None)

    async def call(self, method, message, token=None, timeout_s=30):
        """The reply; None where there was an error, or nothing in it."""
        if not self.alive():
            return None
        stream, self.next_stream = self.next_stream, self.next_stream + 2
        block = header(b':method', b'POST') + header(b':scheme', b'https') + header(b':path', f'/gridtorrent.v1.{method}'.encode())
        block += header(b':authority', self.authority.encode()) + header(b'content-type', b'application/grpc') + header(b'te', b'trailers')
        if token:
            block += header(b'authorization', b'Bearer ' + token)
        body = b'\0' + struct.pack('>I', len(message)) + message
        call = self.calls[stream] = asyncio.get_running_loop().create_future()
        self.writer.write(frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, END_STREAM, stream, body))
        try:
            return await asyncio.wait_for(call, timeout_s)
        except asyncio.TimeoutError:
            self.calls.pop(stream, None)
            return None
