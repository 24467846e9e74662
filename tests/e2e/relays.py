"""Somebody between two nodes, on plain lanes: dials both, passes on what each says to the other, their proofs of who they are included, and does
to the data what they like."""
import asyncio
import os
import struct
import threading

REQUEST, PIECE, EXTENDED = 6, 7, 20
PROOF = 44  # under this number nodes receive gt_proof (docs/protocol.md)


class Relays:
    """`count` relays between a leecher and a seeder, opened again where they end, in a thread of their own. The leecher's requests are withheld;
    with `spoil` they pass, and the blocks that answer them are altered. `source`: the address that they come from."""

    def __init__(self, leecher, seeder, info_hash, count, spoil=False, source='127.0.0.1'):
        self.leecher, self.seeder, self.info_hash, self.count, self.spoil, self.source = leecher, seeder, info_hash, count, spoil, source
        self.opened = self.greeted = self.proofs = self.withheld = self.spoiled = 0
        self.done = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self.run()))

    async def dial(self, address):
        reader, writer = await asyncio.open_connection(*address, local_addr=(self.source, 0))
        writer.write(b'\x13BitTorrent protocol' + bytes((0, 0, 0, 0, 0, 0x10, 0, 0x04)) + self.info_hash + b'-XX0000-' + os.urandom(12))
        return reader, writer

    def from_leecher(self, body):
        if body[:1] == bytes((REQUEST,)) and not self.spoil:
            self.withheld += 1
            return None
        return body

    def from_seeder(self, body):
        if body[:2] == bytes((EXTENDED, PROOF)):
            self.proofs += 1
        if body[:1] == bytes((PIECE,)):
            self.spoiled += 1
            return body[:9] + os.urandom(len(body) - 9)
        return body

    @staticmethod
    async def pass_on(reader, writer, change):
        while True:
            size = struct.unpack('>I', await reader.readexactly(4))[0]
            body = change(await reader.readexactly(size))
            if body is not None:
                writer.write(struct.pack('>I', len(body)) + body)
                await writer.drain()

    async def relay(self, number):
        while True:
            writers = []
            try:
                to_leecher, to_seeder = [await self.dial(a[number % len(a)]) for a in (self.leecher, self.seeder)]
                writers = [to_leecher[1], to_seeder[1]]
                self.opened += 1
                for reader, _ in (to_leecher, to_seeder):
                    await reader.readexactly(68)  # the handshake; each end has one of ours
                self.greeted += 1
                passing = [asyncio.create_task(self.pass_on(to_leecher[0], to_seeder[1], self.from_leecher)),
                           asyncio.create_task(self.pass_on(to_seeder[0], to_leecher[1], self.from_seeder))]
                try:
                    await asyncio.wait(passing, return_when=asyncio.FIRST_EXCEPTION)
                finally:
                    for task in passing:
                        task.cancel()
                    await asyncio.gather(*passing, return_exceptions=True)
            except (OSError, asyncio.IncompleteReadError):
                pass
            finally:
                for writer in writers:
                    writer.close()
            await asyncio.sleep(0.05)

    async def run(self):
        relays = [asyncio.create_task(self.relay(i)) for i in range(self.count)]
        while not self.done.is_set():
            await asyncio.sleep(0.05)
        for relay in relays:
            relay.cancel()
        await asyncio.gather(*relays, return_exceptions=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
