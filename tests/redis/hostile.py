#!/usr/bin/python3
"""Mutated filters with right checksums on a real server, by SET, PART, LOADCHUNK and RESTORE: no
crash, nothing beyond the limit; and commands of every kind at random, on a master with a replica,
with kills and restarts in between.
Usage: hostile.py MODULE COMMAND [PAYLOADS, 100] [COMMANDS, 4000]"""

import os
import random
import struct
import sys

import xxhash

sys.path.insert(0, os.path.dirname(__file__))
NUMBERS = [int(word) for word in sys.argv[3:] if word.isdigit()]
PAYLOADS = NUMBERS[0] if NUMBERS else 100
COMMANDS = NUMBERS[1] if len(NUMBERS) > 1 else 4000

from basics import KINDS, MODULE, reserve  # noqa: E402
from persistence import digest, mixed, wait_for_sync  # noqa: E402
from server import Server, Tests  # noqa: E402

LIMIT = 1 << 20


def crc64_table():
    """The server's checksum of a DUMP: CRC-64, Jones' polynomial, reflected."""
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = crc64_table()


def crc64(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc


def seal(data):
    """Makes the checksums of a filter right, as far as its lengths allow (docs/format.md)."""
    if len(data) >= 256:
        payload, = struct.unpack_from("<Q", data, 200)
        struct.pack_into("<Q", data, 248, xxhash.xxh3_64_intdigest(bytes(data[:248])))
        if payload <= len(data) - 256:
            for block in range((payload + 65535) // 65536):
                at = 256 + payload + 8 * block
                piece = bytes(data[256 + 65536 * block:256 + min(payload, 65536 * (block + 1))])
                if at + 8 <= len(data):
                    struct.pack_into("<Q", data, at, xxhash.xxh3_64_intdigest(piece, seed=block))
    return bytes(data)


def mutate(draw, filters):
    data = bytearray(draw.choice(filters))
    for _ in range(draw.randrange(4)):
        what = draw.randrange(4)
        strange = draw.choice([0, 1, 255, 65536, 1 << 40, (1 << 64) - 1, 1 << draw.randrange(64),
                               draw.randrange(1 << 64)])
        if what == 0:
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        elif what == 1:
            struct.pack_into("<Q", data, 8 * draw.randrange(31), strange)
        elif what == 2:
            struct.pack_into("<Q", data, 8 * draw.randrange(len(data) // 8), strange)
        elif draw.randrange(4) == 0:
            del data[draw.randrange(256, len(data)):]
    return seal(data)


def test_payloads(t):
    draw = random.Random(11)
    with Server(MODULE, arguments=["compat", "yes", "max-filter-bytes", str(LIMIT)]) as s:
        c = s.client()
        for i, kind in enumerate(KINDS):
            reserve(c, "f:" + kind, kind, keys=300, seed=i)
            c("TEPAL.MADD", "f:" + kind, *range(300))
        filters = [c("TEPAL.GET", "f:" + kind) for kind in KINDS]
        dumps = [c("DUMP", "f:" + kind) for kind in KINDS]
        t.equal("we compute what the server does", crc64(dumps[0][:-8]),
                struct.unpack("<Q", dumps[0][-8:])[0])
        c("FLUSHALL")
        accepted = 0
        for _ in range(PAYLOADS):
            data = mutate(draw, filters)
            way = draw.randrange(4)
            if way == 0:
                c.fails("TEPAL.SET", "k", data)
            elif way == 1:
                half = draw.randrange(1, len(data))
                c.fails("TEPAL.PART", "k", "id", 0, len(data), data[:half])
                c.fails("TEPAL.PART", "k", "id", half, len(data), data[half:])
            elif way == 2:
                header = b"tepal-dump-1\n\0\0\0" + struct.pack("<6Q", len(data), 1, 0, 0, 0, 0)
                digest = xxhash.xxh3_128_intdigest(header)
                header += struct.pack("<2Q", digest & (1 << 64) - 1, digest >> 64)
                t.equal("a sound header", c.fails("BF.LOADCHUNK", "k", 1, header),
                        None if len(data) <= LIMIT else "ERR Insufficient memory to create filter")
                c.fails("BF.LOADCHUNK", "k", 1 + len(data), data)
            else:
                dump = bytearray(draw.choice(dumps)[:-8])
                for _ in range(draw.randrange(1, 4)):
                    dump[draw.randrange(len(dump) - 2)] ^= 1 << draw.randrange(8)
                at = dump.find(b"\x89TEPAL\r\n")
                if at >= 0 and draw.randrange(4):
                    dump[at:] = seal(dump[at:-3]) + bytes(dump[-3:])
                c.fails("RESTORE", "k", 0, bytes(dump) + struct.pack("<Q", crc64(dump)))
            if c("EXISTS", "k") and c.fails("TEPAL.CARD", "k") is None:
                accepted += 1
                c("TEPAL.VERIFY", "k")
                c.fails("TEPAL.MADD", "k", "a", "b", "c")
                c.fails("TEPAL.MREM", "k", "a")
                c("TEPAL.MEXISTS", "k", *range(100))
                c("TEPAL.INFO", "k", "FULL")
                c("TEPAL.VERIFY", "k")
                t.check("within the limit", c("MEMORY", "USAGE", "k") <= 2 * LIMIT)
            c("DEL", "k")
        t.check("some are sound, most are not", 0 < accepted < PAYLOADS * 0.6, accepted)
        t.equal("the server lives", [c("PING"), s.process.poll()], ["PONG", None])


def mixed_commands(t, aof):
    """A half of the commands, in two parts; after each the master ends."""
    settings = [("appendonly", aof), ("appendfsync", "always"),
                ("repl-diskless-sync-delay", "0")]
    compat = ["compat", "yes"]
    with Server(MODULE, settings=settings, arguments=compat) as m, \
            Server(MODULE, arguments=compat) as r:
        c, d = m.client(), r.client()
        d("REPLICAOF", "127.0.0.1", m.port)
        wait_for_sync(c, d)
        for part in range(2):
            mixed(c, COMMANDS // 4, seed=part)
            c("WAIT", 1, 10000)
            before = digest(c)
            t.equal("aof %s: the replica is the same" % aof, digest(d), before)
            if aof == "yes":
                m.kill()
                m.start()
            else:
                c("SAVE")
                m.restart()
            c = m.client()
            t.equal("aof %s: the same after the end" % aof, digest(c), before)
            d("REPLICAOF", "127.0.0.1", m.port)
            wait_for_sync(c, d)
            t.equal("aof %s: and the replica" % aof, digest(d), before)


def test_mixed_aof(t):
    mixed_commands(t, "yes")


def test_mixed_rdb(t):
    mixed_commands(t, "no")


if __name__ == "__main__":
    Tests().run([test_payloads, test_mixed_aof, test_mixed_rdb],
                seconds=3000 if PAYLOADS > 1000 else 110)
