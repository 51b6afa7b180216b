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
import collections
import json
import math
import struct
import sys

import xxhash

M64 = (1 << 64) - 1
LAYOUTS = ["flat", "partitioned", "blocked", "paired"]
POSITIONS = ["colliding", "distinct"]
HASHES = ["xxh3-128", "siphash-128"]
KINDS = {1: "bloom", 2: "retouched", 4: "counting", 5: "fingerprint"}
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


def low(w, s, size):
    return w >> (8 * s) & (size - 1)


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
        need(payload == self.payload_bytes(), "the payload's length is wrong")
        blocks = (payload + BLOCK - 1) // BLOCK
        need(whole == 256 + payload + 8 * blocks, "the file's length is wrong in the header")
        need(whole == len(data), "the file is shorter or longer than its header says")
        self.payload = data[256 : 256 + payload]
        for i in range(blocks):
            (block_sum,) = struct.unpack_from("<Q", data, 256 + payload + 8 * i)
            block = self.payload[i * BLOCK : (i + 1) * BLOCK]
            need(xxhash.xxh3_64_intdigest(block, i) == block_sum, f"block {i}'s checksum is wrong")
        if self.kind == 4:
            self.check_counters(own[8:])
        self.ones = bin(int.from_bytes(self.bits(), "little")).count("1")
        need(int.from_bytes(self.bits(), "little") >> self.m == 0, "a bit beyond the last cell is set")
        if self.kind == 5:
            need(sum(self.prints().values()) == self.held, "the fingerprints are not as many as stated")
        self.subkey = None

    def payload_bytes(self):
        counters = 8 * ((self.m + 15) // 16) if self.kind == 4 and self.form == 0 else 0
        behind = 8 if self.kind == 5 else 0
        return counters + 8 * ((self.m + 63) // 64) + behind

    def bits(self):
        if self.kind == 5:
            return self.payload
        return self.payload[-8 * ((self.m + 63) // 64) :]

    def counters(self, payload):
        return [payload[i // 2] >> (4 * (i % 2)) & 15 for i in range(16 * ((self.m + 15) // 16))]

    def check_counters(self, state):
        bits = int.from_bytes(self.bits(), "little")
        need(state[7] == 0, "own state")
        need(state[4] == bin(bits).count("1"), "the counters disagree with the header's counts")
        if self.form == 1:
            need(state[5] == 0 and state[6] == 0, "own state")
            return
        counters = self.counters(self.payload)
        need(state[5] == sum(counters), "the counters disagree with the header's counts")
        need(state[6] == counters.count(15), "the counters disagree with the header's counts")
        need(not any(counters[self.m :]), "a counter beyond the last cell is set")
        need(all((bits >> i & 1) == (c > 0) for i, c in enumerate(counters)), "bits and counters disagree")

    def check_fields(self, own, log, bits, reserved):
        need(self.kind in KINDS, "unknown kind")
        self.sector = 16 if self.kind == 4 else 64
        self.line = 8 * self.sector
        need(self.layout < 4, "unknown layout")
        need(self.positions < 2, "unknown positions")
        need(self.hash < 2, "unknown hash")
        need(1 <= self.k <= MOST_HASHES[self.layout], "too few or too many hashes")
        need(1 <= self.m <= 1 << 60, "too few or too many cells")
        need(self.layout < 2 or self.m % self.line == 0, "not whole lines")
        need(self.layout != 1 or self.k <= self.m, "fewer cells than hashes")
        if self.positions == 1:
            need(self.layout != 0 or self.k <= self.m, "fewer cells than hashes")
            need(self.layout != 3 or self.m >= 2 * self.line, "fewer than two lines")
        need((self.hash == 1) == (self.check != 0), "a key check without a key, or a key without")
        self.choices = 1
        if self.kind == 4:
            self.check_choices(own)
            need(log == 16 and bits == 4, "blocks or cells of another size")
            need(not any(reserved), "a reserved byte is not zero")
            return
        need(self.kind == 5 or not any(own[:8]), "own parameters")
        if self.kind == 5:
            self.check_fingerprint(own)
        elif self.kind == 1:
            need(not any(own[8:]), "own state")
        else:
            members, victims, cleared = own[8:11]
            need(not any(own[11:]), "own state")
            need(victims <= members and cleared <= self.m, "a state that cannot be")
            self.victims = victims
        need(log == 16 and bits == 1, "blocks or cells of another size")
        need(not any(reserved), "a reserved byte is not zero")

    def check_choices(self, own):
        self.choices, self.rule, self.policy, self.form = own[:4]
        need(1 <= self.choices <= 64, "no or too many choices")
        need(self.rule <= 2 and self.policy <= 1 and self.form <= 1, "unknown rule, policy or form")
        if self.choices == 1:
            need(self.rule == 0 and self.policy == 0, "a rule or a policy with one choice")
        else:
            need((self.rule == 2) == (self.layout >= 2), "a rule that the layout does not have")
        need(not any(own[4:8]), "own parameters")

    def check_fingerprint(self, own):
        self.f = own[0]
        need(4 <= self.f <= 32 and not any(own[1:8]), "own parameters")
        need(self.m % (8 * self.f) == 0, "not whole pairs of buckets")
        self.buckets = self.m // (4 * self.f)
        need(self.buckets < 1 << 32, "too many buckets")
        need(self.layout == 0 and self.positions == 0 and self.k == 2, "a layout of another kind")
        self.held, removed = own[8:10]
        need(not any(own[10:]), "own state")
        need(self.added in (self.held + removed, M64), "a state that cannot be")

    def class_of(self, print_, bucket):
        """A fingerprint and its two buckets: all that tells keys apart."""
        x = print_ * 0x9E3779B1
        x = ((x ^ x >> 16) & 0xFFFFFFFF) * 0x85EBCA77
        h = 2 * (((x ^ x >> 32) & 0xFFFFFFFF) * (self.buckets // 2) >> 32) + 1
        return print_, frozenset((bucket, (h - bucket) % self.buckets))

    def class_of_key(self, key):
        lo, hi = self.digest(key)
        return self.class_of(max(lo >> (64 - self.f), 1), scale(hi, self.buckets))

    def prints(self):
        """How many fingerprints of each class the slots hold."""
        cells = int.from_bytes(self.payload, "little")
        found = collections.Counter()
        for slot in range(4 * self.buckets):
            p = cells >> (slot * self.f) & ((1 << self.f) - 1)
            if p:
                found[self.class_of(p, slot // 4)] += 1
        return found

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
        size = self.sector
        start = self.line * line
        if n <= 8:
            return [start + size * s + low(u, s, size) for s in sectors(n, x)]
        cells = [start + size * s + low(u, s, size) for s in range(8)]
        for s in sectors(n - 8, x):
            c, d = low(u, s, size), low(v, s, size)
            if self.positions == 1:
                d = (c + (d or 1)) % size
            cells.append(start + size * s + d)
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

    def group(self, key, g):
        lo, hi = self.digest(key)
        if g == 0:
            return lo, hi
        n = 2**20 + 2 * g
        return [fold((lo ^ (i * GOLDEN & M64)) * (hi | 1)) for i in (n, n + 1)]

    def places(self, key, g=0):
        lo, hi = self.group(key, g)
        k, m, lines = self.k, self.m, self.m // self.line

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
        if self.kind == 5:
            return self.prints()[self.class_of_key(key)] > 0
        bits = self.bits()
        return any(all(bits[p // 8] >> (p % 8) & 1 for p in self.places(key, g)) for g in range(self.choices))

    def cost(self, counters, places):
        if self.rule < 2:
            values = [counters[p] for p in places]
            return (values.count(0), -values.count(1), max(values))[: 1 if self.rule == 1 else 3]
        growth = 0
        for line in {p // 128 for p in places}:
            now = sum(c > 0 for c in counters[128 * line : 128 * line + 128])
            then = now + sum(counters[p] == 0 for p in places if p // 128 == line)
            growth += then**4 - now**4
        return growth

    def counted(self, keys):
        counters = [0] * (16 * ((self.m + 15) // 16))
        for key in keys:
            groups = [set(self.places(key, g)) for g in range(self.choices)]
            costs = [self.cost(counters, places) for places in groups]
            tied = [places for places, cost in zip(groups, costs) if cost == min(costs)]
            lo, hi = self.digest(key)
            word = fold((lo ^ ((2**20 - 1) * GOLDEN & M64)) * (hi | 1))
            for p in tied[scale(word, len(tied))]:
                counters[p] = min(15, counters[p] + 1)
        halves = bytes(counters[i] | counters[i + 1] << 4 for i in range(0, len(counters), 2))
        bits = bytearray(8 * ((self.m + 63) // 64))
        for p, c in enumerate(counters):
            bits[p // 8] |= (c > 0) << (p % 8)
        return (halves if self.form == 0 else b"") + bytes(bits)

    def same_as(self, keys):
        if self.kind == 5:  # where a fingerprint lies depends on the history; its class does not
            return self.prints() == collections.Counter(map(self.class_of_key, keys))
        return self.rebuilt(keys) == self.payload

    def rebuilt(self, keys):
        if self.kind == 4:
            return self.counted(keys)
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
            "kind": KINDS[self.kind],
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
            same = filter.same_as(keys)
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
