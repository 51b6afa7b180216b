#!/usr/bin/python3
"""read_filter.py: a second reader of tepal's files, written from docs/format.md alone.

It shares no code with the library. Where the two disagree, one of them does not do what the page
says. Slow and plain on purpose: the page's words, one after the other.

    read_filter.py FILE                       the parameters, as JSON, after all checks
    read_filter.py FILE --query KEY ...       one line a key: 1 or 0, a tab, the key
    read_filter.py FILE --query-lines         the same, for the lines of standard input
    read_filter.py FILE --rebuild-lines       is the payload that of exactly these keys?
    ... --key HEX                             the secret key of a keyed filter, 32 digits

Exit: 0 done, 1 a rebuilt payload differs, 2 the file was refused.
"""
import argparse
import json
import math
import struct
import sys

import xxhash

M64 = (1 << 64) - 1
LAYOUTS = ["flat", "partitioned", "blocked", "paired"]
POSITIONS = ["colliding", "distinct"]
HASHES = ["xxh3-128", "siphash-128"]
MOST_HASHES = [64, 64, 16, 32]
BLOCK = 65536


class Refused(Exception):
    pass


def need(condition, sentence):
    if not condition:
        raise Refused(sentence)


# ---- SipHash-2-4 with 128 bits of output --------------------------------------------------------


def rotate(x, n):
    return ((x << n) | (x >> (64 - n))) & M64


def siphash128(key, message):
    k0, k1 = struct.unpack("<QQ", key)
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D ^ 0xEE,
        k0 ^ 0x6C7967656E657261,
        k1 ^ 0x7465646279746573,
    ]

    def rounds(n):
        v0, v1, v2, v3 = v
        for _ in range(n):
            v0 = (v0 + v1) & M64
            v1 = rotate(v1, 13) ^ v0
            v0 = rotate(v0, 32)
            v2 = (v2 + v3) & M64
            v3 = rotate(v3, 16) ^ v2
            v0 = (v0 + v3) & M64
            v3 = rotate(v3, 21) ^ v0
            v2 = (v2 + v1) & M64
            v1 = rotate(v1, 17) ^ v2
            v2 = rotate(v2, 32)
        v[:] = [v0, v1, v2, v3]

    padded = message + bytes(7 - len(message) % 8) + bytes([len(message) & 0xFF])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xEE
    rounds(4)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    v[1] ^= 0xDD
    rounds(4)
    return struct.pack("<QQ", first, v[0] ^ v[1] ^ v[2] ^ v[3])


# ---- positions ----------------------------------------------------------------------------------


GOLDEN = 0x9E3779B97F4A7C15


def fold(product):
    return (product >> 64) ^ (product & M64)


def scale(word, r):
    return word * r >> 64


def subsets(r):
    return [mask for mask in range(256) if bin(mask).count("1") == r]


SUBSETS = [subsets(r) for r in range(9)]


def sectors(r, x):
    choices = SUBSETS[r]
    mask = choices[(x & 0xFFFFFFFF) * len(choices) >> 32]
    return [s for s in range(8) if mask >> s & 1]


def low_six(w, s):
    return w >> (8 * s) & 63


class Filter:
    def __init__(self, data):
        need(data[:8] == b"\x89TEPAL\r\n", "this is not a tepal filter")
        need(len(data) >= 12, "the file ends within the header")
        (self.version,) = struct.unpack_from("<I", data, 8)
        need(self.version <= 1, "written by a newer version")
        need(self.version == 1, "there is no version 0")
        need(len(data) >= 256, "the file ends within the header")
        (header_sum,) = struct.unpack_from("<Q", data, 248)
        need(xxhash.xxh3_64_intdigest(data[:248], 0) == header_sum, "the header's checksum is wrong")
        self.kind, self.layout, self.positions, self.hash, self.k = struct.unpack_from("<5I", data, 12)
        self.m, self.capacity, self.seed, self.check, self.added = struct.unpack_from("<5Q", data, 32)
        own = struct.unpack_from("<16Q", data, 72)
        payload, whole, log, bits = struct.unpack_from("<QQII", data, 200)
        self.check_fields(own, log, bits, data[224:248])
        self.phases = own[0] if self.kind == 7 else 1
        self.phase_bytes = 8 * ((self.m + 63) // 64)
        need(payload == self.phases * self.phase_bytes, "the payload's length is wrong")
        blocks = (payload + BLOCK - 1) // BLOCK
        need(whole == 256 + payload + 8 * blocks, "the file's length is wrong in the header")
        need(whole == len(data), "the file is shorter or longer than its header says")
        self.payload = data[256 : 256 + payload]
        for i in range(blocks):
            (block_sum,) = struct.unpack_from("<Q", data, 256 + payload + 8 * i)
            block = self.payload[i * BLOCK : (i + 1) * BLOCK]
            need(xxhash.xxh3_64_intdigest(block, i) == block_sum, f"block {i}'s checksum is wrong")
        self.ones = bin(int.from_bytes(self.payload, "little")).count("1")
        for i in range(self.phases):
            last = self.payload[(i + 1) * self.phase_bytes - 8 : (i + 1) * self.phase_bytes]
            need(int.from_bytes(last, "little") >> ((self.m - 1) % 64 + 1) == 0, "a bit beyond the last cell is set")
        if self.kind == 7:
            self.check_recycling(own)
        self.subkey = None

    def check_recycling(self, own):
        """The state of a recycling filter, against its payload."""
        self.rule, self.limit, flags = own[1:4]
        self.retain, self.keep, self.misses = flags & 1, flags & 2, flags & 4
        cycles, ones, messages, fresh, expected, clocked, clock, began = own[8:16]
        (expected,) = struct.unpack("<d", struct.pack("<Q", expected))
        self.told = {"cycles": cycles, "ones": ones, "messages": messages, "fresh": fresh}
        counts = [
            bin(int.from_bytes(self.payload[i * self.phase_bytes : (i + 1) * self.phase_bytes], "little")).count("1")
            for i in range(self.phases)
        ]
        need(cycles < 1 << 62 and self.added < 1 << 62, "nobody has lived through so many messages")
        need(counts[cycles % self.phases] == ones, "other ones in the active phase than it says")
        need(all(i <= cycles or counts[i] == 0 for i in range(self.phases)), "a phase that was never active is not empty")
        need(self.rule != 0 or ones <= self.limit, "more ones than sigma")
        need(self.rule != 1 or messages <= self.limit, "more messages than the limit")
        need(messages <= ones and fresh <= self.added, "the counts contradict each other")
        need(0 <= expected <= 1e6 * fresh, "the expected false positives cannot be")
        need(clocked <= 1 and began <= clock and (clocked or clock == 0), "the clock contradicts itself")
        need(self.rule != 2 or clock - began < self.limit, "the active phase is older than its limit")
        self.ones = ones

    def phase_places(self, key, phase):
        """Where a key's cells lie in a phase, counted from its start."""
        lo, hi = self.digest(key)
        if phase > 0 and (self.misses or (self.retain and self.keep)):
            lo, hi = (fold((lo ^ (i * GOLDEN & M64)) * (hi | 1)) for i in (0x10000 + 2 * phase, 0x10001 + 2 * phase))
        return self.places_of(lo, hi)

    def replay(self, keys):
        """A recycling filter that took in these messages, one after the other: its bits and counts."""
        bits = [set() for _ in range(self.phases)]
        cycles = messages = fresh = 0
        for key in keys:
            at = cycles % self.phases
            asked = [set(self.phase_places(key, i)) for i in range(self.phases)]
            held = [asked[i] <= bits[i] for i in range(self.phases)]
            fresh += not any(held)
            if held[at] or (self.misses and any(held)):
                continue
            full = len(bits[at] | asked[at]) > self.limit if self.rule == 0 else self.rule == 1 and messages == self.limit
            if not full or self.keep:
                bits[at] |= asked[at]
                messages += 1
            if full:
                cycles += 1
                at = cycles % self.phases
                bits[at] = set(asked[at]) if self.retain else set()
                messages = 1 if self.retain else 0
        cells = bytearray(len(self.payload))
        for i in range(self.phases):
            for p in bits[i]:
                cells[i * self.phase_bytes + p // 8] |= 1 << (p % 8)
        at = cycles % self.phases
        counts = {"cycles": cycles, "ones": len(bits[at]), "messages": messages, "fresh": fresh}
        need(counts == self.told, f"replayed {counts}, the file says {self.told}")
        return bytes(cells)

    def check_fields(self, own, log, bits, reserved):
        need(self.kind in (1, 2, 7), "unknown kind")
        need(self.layout < 4, "unknown layout")
        need(self.positions < 2, "unknown positions")
        need(self.hash < 2, "unknown hash")
        need(1 <= self.k <= MOST_HASHES[self.layout], "too few or too many hashes")
        need(1 <= self.m <= 1 << 60, "too few or too many cells")
        need(self.layout < 2 or self.m % 512 == 0, "not whole lines")
        need(self.layout != 1 or self.k <= self.m, "fewer cells than hashes")
        if self.positions == 1:
            need(self.layout != 0 or self.k <= self.m, "fewer cells than hashes")
            need(self.layout != 3 or self.m >= 1024, "fewer than two lines")
        need((self.hash == 1) == (self.check != 0), "a key check without a key, or a key without")
        if self.kind == 7:
            phases, rule, limit, flags = own[:4]
            need(1 <= phases <= 8 and rule <= 2 and limit >= 1 and flags < 8, "own parameters")
            need(rule != 0 or self.k <= limit < self.m, "sigma is outside hashes .. cells - 1")
            need(not any(own[4:8]), "own parameters")
        else:
            need(not any(own[:8]), "own parameters")
        if self.kind == 7:
            pass  # its state is checked against the payload
        elif self.kind == 1:
            need(not any(own[8:]), "own state")
        else:
            members, victims, cleared = own[8:11]
            need(not any(own[11:]), "own state")
            need(victims <= members and cleared <= self.m, "a state that cannot be")
            self.victims = victims
        need(log == 16 and bits == 1, "blocks or cells of another size")
        need(not any(reserved), "a reserved byte is not zero")

    def set_key(self, secret):
        need(self.hash == 1, "the filter has no secret key")
        need(len(secret) == 16, "a secret key has 16 bytes")
        subkey = siphash128(secret, b"tepal\x01\0\0" + struct.pack("<Q", self.seed))
        check = int.from_bytes(siphash128(subkey, b"tepal\x02\0\0")[:8], "little") or 1
        need(self.check == check, "this is not the filter's secret key")
        self.subkey = subkey
        self.integer_subkey = siphash128(secret, b"tepal\x03\0\0" + struct.pack("<Q", self.seed))

    def integer_digest(self, key):
        if self.hash == 1:
            need(self.subkey is not None, "give the secret key (--key)")
            return struct.unpack("<QQ", siphash128(self.integer_subkey, struct.pack("<Q", key)))
        x = key ^ xxhash.xxh3_64_intdigest(b"tepal-a", self.seed)
        x ^= x >> 30
        x = x * 0xBF58476D1CE4E5B9 & M64
        x ^= x >> 27
        x ^= xxhash.xxh3_64_intdigest(b"tepal-b", self.seed)
        x = x * 0x94D049BB133111EB & M64
        x ^= x >> 31
        return x * 0xD1342543DE82EF95 & M64, x

    def digest(self, key):
        if isinstance(key, int):
            return self.integer_digest(key)
        if self.hash == 0:
            both = xxhash.xxh3_128_intdigest(key, self.seed)
            return both & M64, both >> 64
        need(self.subkey is not None, "give the secret key (--key)")
        return struct.unpack("<QQ", siphash128(self.subkey, key))

    def cells_of_line(self, line, n, x, u, v):
        start = 512 * line
        if n <= 8:
            return [start + 64 * s + low_six(u, s) for s in sectors(n, x)]
        cells = [start + 64 * s + low_six(u, s) for s in range(8)]
        for s in sectors(n - 8, x):
            c, d = low_six(u, s), low_six(v, s)
            if self.positions == 1:
                d = (c + (d or 1)) % 64
            cells.append(start + 64 * s + d)
        return cells

    def flat_distinct(self, word):
        found = []
        taken = 0
        for _ in range(self.k):
            p = scale(word(taken), self.m)
            taken += 1
            while p in found:
                if taken < 4096:
                    p = scale(word(taken), self.m)
                    taken += 1
                else:
                    p = (p + 1) % self.m
            found.append(p)
        return found

    def places(self, key):
        return self.places_of(*self.digest(key))

    def places_of(self, lo, hi):
        k, m, lines = self.k, self.m, self.m // 512

        def word(i):
            return (hi, lo)[i] if i < 2 else fold((lo ^ (i * GOLDEN & M64)) * (hi | 1))

        if self.layout == 0:
            if self.positions == 1:
                return self.flat_distinct(word)
            return [scale(word(i), m) for i in range(k)]
        if self.layout == 1:
            edges = [i * m // k for i in range(k + 1)]
            return [edges[i] + scale(word(i), edges[i + 1] - edges[i]) for i in range(k)]
        a = scale(word(0), lines)
        if self.layout == 2:
            return self.cells_of_line(a, k, word(0), word(1), word(2))
        if self.positions == 0:
            b = scale(word(2), lines)
        else:
            b = scale(word(2), lines - 1)
            b += b >= a
        first = self.cells_of_line(a, (k + 1) // 2, word(0), word(1), word(4))
        return first + self.cells_of_line(b, k // 2, word(2), word(3), word(5))

    def query(self, key):
        if self.kind == 7:
            return any(
                all(self.payload[i * self.phase_bytes + p // 8] >> (p % 8) & 1 for p in self.phase_places(key, i))
                for i in range(self.phases)
            )
        return all(self.payload[p // 8] >> (p % 8) & 1 for p in self.places(key))

    def rebuilt(self, keys):
        if self.kind == 7:
            return self.replay(keys)
        cells = bytearray(len(self.payload))
        for key in keys:
            places = self.places(key)
            assert len(places) == self.k
            assert self.positions == 0 or len(set(places)) == self.k
            for p in places:
                cells[p // 8] |= 1 << (p % 8)
        return bytes(cells)

    def about(self):
        return {
            "version": self.version,
            "kind": {1: "bloom", 2: "retouched", 7: "recycling"}[self.kind],
            "layout": LAYOUTS[self.layout],
            "positions": POSITIONS[self.positions],
            "hash": HASHES[self.hash],
            "hashes": self.k,
            "bits": self.m,
            "capacity": self.capacity or None,
            "seed": self.seed,
            "key_check": self.check,
            "keys_added": self.added,
            "ones": self.ones,
            "payload_bytes": len(self.payload),
            "blocks": math.ceil(len(self.payload) / BLOCK),
        }


def self_test():
    """The reference's vectors: key 00..0f; the messages of no byte, and of 00..3e."""
    key = bytes(range(16))
    need(siphash128(key, b"").hex() == "a3817f04ba25a8e66df67214c7550293", "SipHash is wrong")
    need(siphash128(key, bytes(range(63))).hex() == "5150d1772f50834a503e069a973fbd7c", "SipHash is wrong")


def lines_of_input():
    for line in sys.stdin.buffer:
        yield line.rstrip(b"\n")


def main():
    parser = argparse.ArgumentParser(description="A second reader of tepal's files.")
    parser.add_argument("file")
    parser.add_argument("--key", help="the secret key, in hexadecimal digits")
    parser.add_argument("--query", nargs="+", metavar="KEY")
    parser.add_argument("--query-lines", action="store_true")
    parser.add_argument("--rebuild-lines", action="store_true")
    parser.add_argument("--rebuild-integers", type=int, metavar="N", help="from keys 0 .. N-1")
    args = parser.parse_args()
    try:
        self_test()
        with open(args.file, "rb") as f:
            filter = Filter(f.read())
        if args.key and filter.hash == 1:
            filter.set_key(bytes.fromhex(args.key))
        if args.rebuild_lines or args.rebuild_integers:
            keys = range(args.rebuild_integers) if args.rebuild_integers else lines_of_input()
            same = filter.rebuilt(keys) == filter.payload
            print("same" if same else "different")
            return 0 if same else 1
        if args.query or args.query_lines:
            keys = [k.encode() for k in args.query or []] if args.query else lines_of_input()
            for key in keys:
                sys.stdout.buffer.write(b"%d\t%s\n" % (filter.query(key), key))
            return 0
        print(json.dumps(filter.about(), indent=2))
        return 0
    except (Refused, OSError) as error:
        print(f"{args.file}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
