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
import copy
import json
import math
import struct
import sys

import xxhash

M64 = (1 << 64) - 1
LAYOUTS = ["flat", "partitioned", "blocked", "paired"]
POSITIONS = ["colliding", "distinct"]
HASHES = ["xxh3-128", "siphash-128", "siphash13-128"]
MOST_HASHES = [64, 64, 16, 32]
BLOCK = 65536


class Refused(Exception):
    pass


def need(condition, sentence):
    if not condition:
        raise Refused(sentence)


# ---- SipHash-c-d with 128 bits of output, or 64 -------------------------------------------------


def rotate(x, n):
    return ((x << n) | (x >> (64 - n))) & M64


def siphash(key, message, c=2, d=4, wide=True):
    k0, k1 = struct.unpack("<QQ", key)
    v = [
        k0 ^ 0x736F6D6570736575,
        k1 ^ 0x646F72616E646F6D ^ (0xEE if wide else 0),
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
        rounds(c)
        v[0] ^= word
    v[2] ^= 0xEE if wide else 0xFF
    rounds(d)
    first = v[0] ^ v[1] ^ v[2] ^ v[3]
    if not wide:
        return struct.pack("<Q", first)
    v[1] ^= 0xDD
    rounds(d)
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


def ways_of(cells, resets):
    """All ways to choose sectors, and which of them are reset, in the page's order."""
    return [
        [(s, bool(r >> s & 1)) for s in range(8) if u >> s & 1]
        for u in range(256)
        if bin(u).count("1") == cells
        for r in range(256)
        if bin(r).count("1") == resets and r & ~u == 0
    ]


def rehash(lo, hi, number):
    """Another digest of the same key."""
    step = ((1 << 20) + 2 * number) * GOLDEN & M64
    return fold((lo ^ step) * (hi | 1)), fold((lo ^ (step + GOLDEN & M64)) * (hi | 1))


class Filter:
    """What all kinds share; and the Bloom filter."""

    name = "bloom"
    cell_bits = 1
    sector = 64  # cells in a 64-bit word of a line

    def __init__(self, data):
        (header_sum,) = struct.unpack_from("<Q", data, 248)
        need(xxhash.xxh3_64_intdigest(data[:248], 0) == header_sum, "the header's checksum is wrong")
        self.version, self.kind, self.layout, self.positions, self.hash, self.k = struct.unpack_from("<6I", data, 8)
        self.m, self.capacity, self.seed, self.check, self.added = struct.unpack_from("<5Q", data, 32)
        own = struct.unpack_from("<16Q", data, 72)
        payload, whole, log, bits = struct.unpack_from("<QQII", data, 200)
        if self.kind == 4 and own[4] == 1:
            self.sector = 64
        self.line = 8 * self.sector
        self.check_fields(log, bits, data[224:248])
        self.check_own(own[:8], own[8:])
        need(payload == self.payload_bytes(), "the payload's length is wrong")
        blocks = (payload + BLOCK - 1) // BLOCK
        need(whole == 256 + payload + 8 * blocks, "the file's length is wrong in the header")
        need(whole == len(data), "the file is shorter or longer than its header says")
        self.payload = data[256 : 256 + payload]
        for i in range(blocks):
            (block_sum,) = struct.unpack_from("<Q", data, 256 + payload + 8 * i)
            block = self.payload[i * BLOCK : (i + 1) * BLOCK]
            need(xxhash.xxh3_64_intdigest(block, i) == block_sum, f"block {i}'s checksum is wrong")
        self.subkey = None
        self.ones = bin(int.from_bytes(self.bits(), "little")).count("1")
        self.check_payload(own[8:])

    def check_fields(self, log, bits, reserved):
        need(self.layout < 4, "unknown layout")
        need(self.positions < 2, "unknown positions")
        need(self.hash < 3, "unknown hash")
        need(1 <= self.k <= MOST_HASHES[self.layout], "too few or too many hashes")
        need(1 <= self.m <= 1 << 60, "too few or too many cells")
        need(self.layout < 2 or self.m % self.line == 0, "not whole lines")
        need(self.layout != 1 or self.k <= self.m, "fewer cells than hashes")
        if self.positions == 1:
            need(self.layout != 0 or self.k <= self.m, "fewer cells than hashes")
            need(self.layout != 3 or self.m >= 2 * self.line, "fewer than two lines")
        need((self.hash != 0) == (self.check != 0), "a key check without a key, or a key without")
        need(log == 16 and bits == self.cell_bits, "blocks or cells of another size")
        need(not any(reserved), "a reserved byte is not zero")

    # ---- what a kind may do in its own way

    def check_own(self, own, state):
        need(not any(own), "own parameters")
        need(not any(state), "own state")

    def payload_bytes(self):
        return 8 * ((self.m + 63) // 64)

    def bits(self):
        """The part of the payload that has a bit a cell."""
        return self.payload

    def check_payload(self, state):
        need(int.from_bytes(self.bits(), "little") >> self.m == 0, "a bit beyond the last cell is set")

    def query(self, key):
        return all(self.payload[p // 8] >> (p % 8) & 1 for p in self.places(key))

    def rebuilt(self, keys):
        cells = bytearray(len(self.payload))
        for key in keys:
            places = self.places(key)
            assert len(places) == self.k
            assert self.positions == 0 or len(set(places)) == self.k
            for p in places:
                cells[p // 8] |= 1 << (p % 8)
        return bytes(cells)

    def same_as(self, keys):
        return self.rebuilt(keys) == self.payload

    # ---- digests and positions

    def set_key(self, secret):
        need(self.hash != 0, "the filter has no secret key")
        need(len(secret) == 16, "a secret key has 16 bytes")
        of_bytes, of_integers = (b"\x01", b"\x03") if self.hash == 1 else (b"\x04", b"\x05")
        subkey = siphash(secret, b"tepal" + of_bytes + b"\0\0" + struct.pack("<Q", self.seed))
        check = int.from_bytes(self.keyed(subkey, b"tepal\x02\0\0")[:8], "little") or 1
        need(self.check == check, "this is not the filter's secret key")
        self.subkey = subkey
        self.integer_subkey = siphash(secret, b"tepal" + of_integers + b"\0\0" + struct.pack("<Q", self.seed))

    def keyed(self, subkey, message):
        return siphash(subkey, message, *((2, 4) if self.hash == 1 else (1, 3)))

    def integer_digest(self, key):
        if self.hash != 0:
            need(self.subkey is not None, "give the secret key (--key)")
            return struct.unpack("<QQ", self.keyed(self.integer_subkey, struct.pack("<Q", key)))
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
        return struct.unpack("<QQ", self.keyed(self.subkey, key))

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

    def places(self, key):
        return self.places_of(*self.digest(key))

    def places_of(self, lo, hi):
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

    def about(self):
        return {
            "version": self.version,
            "kind": self.name,
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


class Retouched(Filter):
    name = "retouched"

    def check_own(self, own, state):
        need(not any(own), "own parameters")
        members, victims, cleared, expected, _budget, part = state[:6]
        need(not any(state[6:]), "own state")
        need(victims <= members and cleared <= self.m and expected <= 1, "a state that cannot be")
        need(part < 1 << 32 if expected else part == 0, "a part of a victim that is none")


class Generalized(Filter):
    name = "generalized"

    def check_own(self, own, state):
        self.k0, self.tolerance, self.share = own[:3]
        need(self.layout in (0, 2), "a layout that the kind does not know")
        need(self.k0 <= self.k, "more resets than hashes")
        need(self.tolerance < self.k, "a tolerance of all hashes")
        need(self.share <= 1 << 32, "more than all bits are one at first")
        need(not any(own[3:]), "own parameters")
        need(not any(state), "own state")

    def roles(self, key):
        """The positions that a key resets, and those that it sets."""
        if self.layout == 0:
            places = self.places(key)
            return set(places[: self.k0]), set(places[self.k0 :]) - set(places[: self.k0])
        lo, hi = self.digest(key)
        start = 512 * scale(hi, self.m // 512)
        second = self.k - 8 if self.k > 8 else self.k
        first_resets = (8 * self.k0 + self.k // 2) // self.k if self.k > 8 else 0
        reset, put = [], []

        def place(s, cell, is_reset):
            (reset if is_reset else put).append(start + 64 * s + cell)

        if self.k > 8:
            rest = sum((lo >> (8 * s + 6) & 3) << (2 * s) for s in range(8))
            ways = ways_of(8, first_resets)
            for s, is_reset in ways[rest * len(ways) >> 16]:
                place(s, low(lo, s, 64), is_reset)
        ways = ways_of(second, self.k0 - first_resets)
        word2 = fold((lo ^ (2 * GOLDEN & M64)) * (hi | 1))
        for s, is_reset in ways[(hi & 0xFFFFFFFF) * len(ways) >> 32]:
            cell = low(lo, s, 64)
            if self.k > 8:
                other = low(word2, s, 64)
                apart = self.k0 > 0 or self.positions == 1
                cell = (cell + (other or 1)) % 64 if apart else other
            place(s, cell, is_reset)
        return set(reset), set(put) - set(reset)

    def first_bits(self):
        state = self.seed ^ 0x7465706174617261
        cells = bytearray()
        for _ in range(len(self.payload) // 8):
            less = M64 if self.share == 1 << 32 else 0
            low = (self.share & -self.share).bit_length() - 1
            for digit in range(low if 0 < self.share < 1 << 32 else 32, 32):
                state = (state + GOLDEN) & M64
                z = state
                z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
                z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
                z ^= z >> 31
                less = less | ~z & M64 if self.share >> digit & 1 else less & ~z & M64
            cells += struct.pack("<Q", less)
        tail = int.from_bytes(cells, "little") & ((1 << self.m) - 1)
        return bytearray(tail.to_bytes(len(cells), "little"))

    def query(self, key):
        reset, put = self.roles(key)
        ones = sum(self.payload[p // 8] >> (p % 8) & 1 for p in reset)
        zeros = sum(1 - (self.payload[p // 8] >> (p % 8) & 1) for p in put)
        return ones + zeros <= self.tolerance

    def rebuilt(self, keys):
        cells = self.first_bits()
        for key in keys:
            reset, put = self.roles(key)
            for p in put:
                cells[p // 8] |= 1 << (p % 8)
            for p in reset:
                cells[p // 8] &= ~(1 << (p % 8))
        return bytes(cells)


class Counting(Filter):
    name = "counting"
    cell_bits = 4
    sector = 16

    def check_own(self, own, state):
        self.choices, self.rule, self.policy, self.form, self.lines = own[:5]
        need(1 <= self.choices <= 64, "no or too many choices")
        need(self.rule <= 2 and self.policy <= 1 and self.form <= 2, "unknown rule, policy or form")
        if self.choices == 1:
            need(self.rule == 0 and self.policy == 0, "a rule or a policy with one choice")
        else:
            need((self.rule == 2) == (self.layout >= 2), "a rule that the layout does not have")
        need(self.lines <= (1 if self.layout >= 2 else 0), "unknown lines")
        self.most_lost = own[5]
        need(not any(own[6:]), "own parameters")

    def slot(self, p):
        """The number of a position's counter."""
        if self.lines == 0:
            return p
        line, sector, cell, word = p // 512, p // 64 % 8, p % 64, 8 if self.form == 2 else 16
        return 512 * line + 8 * word * (cell // word) + word * sector + cell % word

    def payload_bytes(self):
        return self.counter_bytes() + 8 * ((self.m + 63) // 64)

    def counter_bytes(self):
        return {0: 8 * ((self.m + 15) // 16), 1: 0, 2: 8 * ((self.m + 7) // 8)}[self.form]

    def bits(self):
        return self.payload[-8 * ((self.m + 63) // 64) :]

    def counters(self, payload):
        payload = payload[: self.counter_bytes()]
        stored = list(payload) if self.form == 2 else [b >> s & 15 for b in payload for s in (0, 4)]
        return [stored[self.slot(p)] for p in range(len(stored))]

    def check_payload(self, state):
        super().check_payload(state)
        bits = int.from_bytes(self.bits(), "little")
        need(state[7] == 0 or self.most_lost > 0, "own state")
        if self.form == 1:
            need(state[4] == bin(bits).count("1"), "the bits disagree with the header's counts")
            need(state[5] == 0 and state[6] == 0, "own state")
            return
        counters = self.counters(self.payload)
        need(state[4] == sum(c > 0 for c in counters), "the counters disagree with the header's counts")
        need(state[5] == sum(counters), "the counters disagree with the header's counts")
        need(state[6] == counters.count(255 if self.form == 2 else 15), "the counters disagree with the header's counts")
        need(not any(counters[self.m :]), "a counter beyond the last cell is set")
        cleared = [c for i, c in enumerate(counters) if c > 0 and not bits >> i & 1]
        need(all(c > 0 for i, c in enumerate(counters) if bits >> i & 1), "bits and counters disagree")
        need(not cleared or self.most_lost > 0, "bits and counters disagree")
        need((255 if self.form == 2 else 15) not in cleared, "a stuck counter's bit is cleared")
        need(state[7] == sum(cleared), "the cleared bits disagree with the header's count")

    def places(self, key, g=0):
        lo, hi = self.digest(key)
        return self.places_of(*(rehash(lo, hi, g) if g > 0 else (lo, hi)))

    def query(self, key):
        bits = self.bits()
        return any(all(bits[p // 8] >> (p % 8) & 1 for p in self.places(key, g)) for g in range(self.choices))

    def cost(self, counters, places):
        if self.rule < 2:
            values = [counters[p] for p in places]
            return (values.count(0), -values.count(1), max(values))[: 1 if self.rule == 1 else 3]
        growth = 0
        for line in {p // self.line for p in places}:
            now = sum(c > 0 for c in counters[self.line * line : self.line * line + self.line])
            then = now + sum(counters[p] == 0 for p in places if p // self.line == line)
            growth += then**4 - now**4
        return growth

    def rebuilt(self, keys):
        counters = [0] * (16 * ((self.m + 15) // 16))
        for key in keys:
            groups = [set(self.places(key, g)) for g in range(self.choices)]
            costs = [self.cost(counters, places) for places in groups]
            tied = [places for places, cost in zip(groups, costs) if cost == min(costs)]
            lo, hi = self.digest(key)
            word = fold((lo ^ ((2**20 - 1) * GOLDEN & M64)) * (hi | 1))
            for p in tied[scale(word, len(tied))]:
                counters[p] = min(255 if self.form == 2 else 15, counters[p] + 1)
        stored = [0] * len(counters)
        for p, c in enumerate(counters):
            stored[self.slot(p)] = c
        halves = bytes(stored[i] | stored[i + 1] << 4 for i in range(0, len(stored), 2))
        whole = bytes(stored[: self.counter_bytes()])
        bits = bytearray(8 * ((self.m + 63) // 64))
        for p, c in enumerate(counters):
            bits[p // 8] |= (c > 0) << (p % 8)
        return (halves, b"", whole)[self.form] + bytes(bits)

    def same_as(self, keys):
        """Bits that were cleared since aside: check_payload has seen that they may be."""
        again = self.rebuilt(keys)
        here = self.counter_bytes() if self.most_lost > 0 else len(again)
        return again[:here] == self.payload[:here]


class Fingerprint(Filter):
    name = "fingerprint"

    def check_own(self, own, state):
        self.f = own[0]
        need(4 <= self.f <= 32 and not any(own[1:]), "own parameters")
        need(self.m % (8 * self.f) == 0, "not whole pairs of buckets")
        self.buckets = self.m // (4 * self.f)
        need(self.buckets < 1 << 32, "too many buckets")
        need(self.layout == 0 and self.positions == 0 and self.k == 2, "a layout of another kind")
        self.held, removed = state[:2]
        need(not any(state[2:]), "own state")
        need(self.added in (self.held + removed, M64), "a state that cannot be")

    def payload_bytes(self):
        return super().payload_bytes() + 8

    def check_payload(self, state):
        super().check_payload(state)
        need(sum(self.prints().values()) == self.held, "the fingerprints are not as many as stated")

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

    def query(self, key):
        return self.prints()[self.class_of_key(key)] > 0

    def same_as(self, keys):
        """Where a fingerprint lies depends on the history; its class does not."""
        return self.prints() == collections.Counter(map(self.class_of_key, keys))


def splitmix(state):
    """The first word of the generator."""
    z = state + GOLDEN & M64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & M64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & M64
    return z ^ z >> 31


class Growing(Filter):
    name = "growing"

    def check_own(self, own, state):
        self.t, self.e, first, self.exact = own[:4]
        need(4 <= self.t <= 15 and 1 <= self.e <= 16, "tags or extensions too short or too long")
        need(not any(own[4:]) and not any(state[6:]), "own parameters or state")
        need(self.exact == 0 or (4 <= self.exact <= 1 << 40 and self.exact & (self.exact - 1) == 0), "an exact table that cannot be")
        self.slot = self.t + self.e + 1
        bucket = 4 * self.slot
        need(self.m % bucket == 0 and 256 <= self.m // bucket <= 1 << 40, "not whole buckets, or too few or many")
        need(first % bucket == 0 and 256 * bucket <= first <= self.m, "a first size that cannot be")
        need(self.layout == 0 and self.positions == 0 and self.k == 2, "a layout of another kind")
        self.buckets = self.m // bucket
        self.first = first // bucket
        self.held, _, self.sum, copies, self.over, self.over_used = state[:6]
        need(copies <= 1 << 62 and self.over <= 1 << 62 and 2 * self.over_used <= self.exact, "a state that cannot be")

    def payload_bytes(self):
        return super().payload_bytes() + 8 + 24 * self.exact

    def bits(self):
        return self.payload[: 8 * ((self.m + 63) // 64) + 8]

    def check_payload(self, state):
        super().check_payload(state)
        self.read_entries()
        self.ones = len(self.entries)
        need(len(self.entries) == self.held, "the entries are not as many as stated")
        need(sum(1 << 60 - known for _, known, _ in self.entries) == self.sum, "the sum is not that of the entries")
        self.read_table()

    @staticmethod
    def depth(buckets, address):
        level = buckets.bit_length() - 1
        return level + (address % (1 << level) < buckets - (1 << level))

    @staticmethod
    def offset(tag):
        return splitmix(tag * GOLDEN & M64) | 1

    def read_entries(self):
        """Tag, T and the low T bits of the address of every entry."""
        cells = int.from_bytes(self.bits(), "little")
        self.entries = []
        for bucket in range(self.buckets):
            for slot in range(4):
                entry = cells >> ((4 * bucket + slot) * self.slot) & ((1 << self.slot) - 1)
                if entry == 0:
                    continue
                tag, marked = entry % (1 << self.t), entry >> self.t
                need(marked > 0, "an entry has no mark of its length")
                length = marked.bit_length() - 1
                depth = self.depth(self.buckets, bucket)
                address = bucket | (marked - (1 << length)) << depth
                other = self.depth(self.buckets, address ^ self.offset(tag))
                need(depth + length <= self.e + min(depth, other), "an entry knows more than it can")
                self.entries.append((tag, depth + length, address))
        self.lookup = collections.Counter(self.entries)

    def read_table(self):
        words = struct.unpack(f"<{3 * self.exact}Q", self.payload[len(self.bits()) :])
        self.table = {}
        used = [words[3 * i + 2] > 0 for i in range(self.exact)]
        for i in range(self.exact):
            lo, hi, count = words[3 * i : 3 * i + 3]
            if count == 0:
                need(lo == 0 and hi == 0, "an empty slot of the exact table is not zero")
                continue
            home = lo % self.exact
            need(all(used[(home + j) % self.exact] for j in range((i - home) % self.exact)), "a key cannot be found in the exact table")
            self.table[lo, hi] = count
        need(sum(used) == self.over_used and sum(self.table.values()) == self.over, "the exact table differs from its counts")

    def addresses(self, lo, hi):
        tag = lo >> (64 - self.t)
        return tag, (hi, hi ^ self.offset(tag))

    def query(self, key):
        lo, hi = self.digest(key)
        tag, both = self.addresses(lo, hi)
        if (lo, hi) in self.table:
            return True
        for address in both:
            depth = self.depth(self.buckets, address)
            if any(self.lookup[tag, depth + x, address % (1 << depth + x)] for x in range(self.e + 1)):
                return True
        return False

    def same_as(self, keys):
        """Added one after the other, without removals, before any entry has used up its extension: the
        same entries, up to which of its two addresses each lies by."""
        digests = [self.digest(key) for key in keys]
        slots = collections.Counter(digests) - collections.Counter(self.table)
        buckets, held, expected = self.first, 0, collections.Counter()
        for digest in digests:
            if slots[digest] == 0:
                continue
            slots[digest] -= 1
            tag, both = self.addresses(*digest)
            known = self.e + min(self.depth(buckets, a) for a in both)
            expected[tag, known, min(a % (1 << known) for a in both)] += 1
            held += 1
            for _ in range(4):
                buckets += 2 * held > 7 * buckets
        found = collections.Counter(
            (tag, known, min(address, (address ^ self.offset(tag)) % (1 << known))) for tag, known, address in self.entries
        )
        return buckets == self.buckets and found == expected and sum(self.table.values()) + held == len(digests)


class Parted(Filter):
    """Several filters in one payload, each with a digest of its own of a key."""

    def part(self, start, m, k, layout, number):
        """The filter of m bits from `start` on that takes digest `number` of a key (0: as it is)."""
        part = copy.copy(self)
        part.start, part.m, part.k, part.layout = start, m, k, layout
        # Through self in either case: its secret key may come later.
        part.digest = (lambda key: rehash(*self.digest(key), number)) if number > 0 else self.digest
        return part

    def holds(self, key):
        return all(self.payload[(self.start + p) // 8] >> ((self.start + p) % 8) & 1 for p in self.places(key))


class YesNo(Parted):
    name = "yesno"

    def check_own(self, own, state):
        self.own = own
        q, r, hashes, own_seeds, salt = own[:5]
        members, avoid, positive, left, lost = state[:5]
        need(not any(own[5:]) and not any(state[6:]), "own parameters or state")
        need(r <= 64 and own_seeds <= 1 and salt < 1 << 20, "own parameters")
        if r == 0:
            need(q == 0 and hashes == 0 and own_seeds == 0, "no no-filters, and still something of them")
        else:
            need(1 <= q < 1 << 32 and 1 <= hashes <= 64 and q * r < self.m, "no-filters that cannot be")
            need(self.positions == 0 or hashes <= q, "fewer bits than hashes")
        need(self.layout < 2 or (self.m - q * r) % 512 == 0, "a yes-filter not of whole lines")
        need(lost <= members and left <= positive <= avoid, "a state that cannot be")

    def query(self, key):
        q, r, hashes, own_seeds, salt = self.own[:5]
        p = self.m - q * r
        if not self.part(0, p, self.k, self.layout, 65 * salt).holds(key):
            return False
        vetoes = (self.part(p + j * q, q, hashes, 0, 65 * salt + 1 + j * own_seeds) for j in range(r))
        return not any(veto.holds(key) for veto in vetoes)


class Cascade(Parted):
    name = "cascade"

    def check_own(self, own, state):
        self.own = own
        rest, beyond = own[:2]
        need(not any(own[2:]) and not any(state[5:]), "own parameters or state")
        need(beyond < 63 and beyond <= rest < self.m and (beyond > 0 or rest == 0), "levels that cannot be")
        need(state[3] <= state[2] <= state[1], "a state that cannot be")

    def payload_bytes(self):
        return super().payload_bytes() + 8 * self.own[1]

    def bits(self):
        return self.payload[: 8 * ((self.m + 63) // 64)]

    def check_payload(self, state):
        super().check_payload(state)
        self.ones = bin(int.from_bytes(self.payload, "little")).count("1")
        self.read_levels(self.payload[len(self.bits()) :])

    def read_levels(self, directory):
        rest = self.own[0]
        self.levels = [self.part(0, self.m - rest, self.k, self.layout, 0)]
        start = self.m - rest
        for i, (entry,) in enumerate(struct.iter_unpack("<Q", directory)):
            bits, k = entry >> 8, entry & 255
            need(bits > 0 and 1 <= k <= 64, "a level that cannot be")
            self.levels.append(self.part(start, bits, k, 0, i + 1))
            start += bits
        need(start == self.m, "the directory does not add up")

    def query(self, key):
        for i, level in enumerate(self.levels):
            if not level.holds(key):
                return i % 2 == 1
        return len(self.levels) % 2 == 1


class Chain(Parted):
    name = "chain"

    def check_own(self, own, state):
        self.own = own
        first_keys, rate, growth, series, planned, parts, first_bits, nothing = own
        need(nothing == 0 and not any(state), "own parameters or state")
        need(1 <= first_keys <= 1 << 56 and rate >= 1 and series <= 1, "own parameters")
        need(growth == 0 or 257 - series <= growth <= 1 << 24, "growth")
        need(1 <= planned <= 64 if series == 0 else planned == 0, "planned parts")
        need(1 <= parts <= 64 and self.m % 512 == 0 and first_bits % 512 == 0, "parts")

    def payload_bytes(self):
        return self.m // 8 + 32 * self.own[5]

    def bits(self):
        return self.payload[: self.m // 8]

    def check_payload(self, state):
        first_keys, first_bits = self.own[0], self.own[6]
        self.directory = list(struct.iter_unpack("<4Q", self.payload[self.m // 8 :]))
        need(self.directory[0][:3] == (first_bits, self.k, first_keys), "the first part is another one")
        self.parts, start = [], 0
        for i, (bits, k, room, _) in enumerate(self.directory):
            need(bits % 512 == 0 and bits >= 512 and 1 <= k <= MOST_HASHES[self.layout], "a part that cannot be")
            need(bits >= 1024 or self.layout != 3 or self.positions == 0, "fewer than two lines")
            need(1 <= room <= 1 << 56, "a part that cannot be")
            self.parts.append(self.part(start, bits, k, self.layout, i))
            start += bits
        need(start == self.m, "the directory does not add up")

    def query(self, key):
        return any(part.holds(key) for part in self.parts)

    def same_as(self, keys):
        """Added one after the other, without unions: the same bits and counts."""
        cells = [set() for _ in self.parts]
        counts, at = [0] * len(self.parts), 0
        for key in keys:
            places = [set(part.places(key)) for part in self.parts]
            if any(p <= c for p, c in zip(places, cells)):
                continue
            at += counts[at] == self.directory[at][2]
            need(at < len(self.parts), "more keys than the parts have room for")
            cells[at] |= places[at]
            counts[at] += 1
        whole = bytearray(self.m // 8)
        for part, bits in zip(self.parts, cells):
            for p in bits:
                whole[(part.start + p) // 8] |= 1 << (part.start + p) % 8
        return bytes(whole) == self.bits() and counts == [entry[3] for entry in self.directory]


class Recycling(Filter):
    name = "recycling"

    def check_own(self, own, state):
        self.phases, self.rule, self.limit, flags = own[:4]
        need(1 <= self.phases <= 8 and self.rule <= 3 and self.limit >= 1 and flags < 8, "own parameters")
        need(self.rule != 0 or self.k <= self.limit < self.m, "sigma is outside hashes .. cells - 1")
        need(self.rule != 3 or flags == 1, "by average the trigger is retained, and nothing else")
        need(not any(own[4:]), "own parameters")
        self.retain, self.keep, self.misses = flags & 1, flags & 2, flags & 4
        self.phase_bytes = 8 * ((self.m + 63) // 64)

    def payload_bytes(self):
        return self.phases * self.phase_bytes + (40 if self.rule == 3 else 0)

    def check_sums(self, messages, expected):
        """By average: the words behind the phases, and what they leave of the state."""
        told_low, told_high, low, high, arrivals = struct.unpack("<5Q", self.payload[-40:])
        need(expected == 0, "by average nothing is expected")
        need(arrivals <= self.added and messages <= arrivals + 1, "arrivals that cannot be")
        need(told_low + (told_high << 64) <= self.added * M64, "a sum that cannot be")
        need(low + (high << 64) <= arrivals * M64, "a sum that cannot be")

    def check_payload(self, state):
        for i in range(self.phases):
            last = self.payload[(i + 1) * self.phase_bytes - 8 : (i + 1) * self.phase_bytes]
            need(int.from_bytes(last, "little") >> ((self.m - 1) % 64 + 1) == 0, "a bit beyond the last cell is set")
        cycles, ones, messages, fresh, expected, clocked, clock, began = state
        if self.rule == 3:
            self.check_sums(messages, expected)
        (expected,) = struct.unpack("<d", struct.pack("<Q", expected))
        self.told = {"cycles": cycles, "ones": ones, "messages": messages, "fresh": fresh}
        counts = [
            bin(int.from_bytes(self.payload[i * self.phase_bytes : (i + 1) * self.phase_bytes], "little")).count("1")
            for i in range(self.phases)
        ]
        need(cycles < 1 << 62 and self.added < 1 << 62, "the number of messages is impossible")
        need(counts[cycles % self.phases] == ones, "other ones in the active phase than it says")
        need(all(i <= cycles or counts[i] == 0 for i in range(self.phases)), "a phase that was never active is not empty")
        need(self.rule != 0 or ones <= self.limit, "more ones than sigma")
        need(self.rule != 1 or messages <= self.limit, "more messages than the limit")
        need(messages <= ones and fresh <= self.added, "the counts contradict each other")
        need(0 <= expected <= 2.0**82, "the expected false positives cannot be")
        need(clocked <= 1 and began <= clock and (clocked or clock == 0), "the clock is inconsistent")
        need(self.rule != 2 or clock - began < self.limit, "the active phase is older than its limit")
        self.ones = ones

    def phase_places(self, key, phase):
        """Where a key's cells lie in a phase, counted from its start."""
        lo, hi = self.digest(key)
        if phase > 0 and (self.misses or (self.retain and self.keep)):
            lo, hi = (fold((lo ^ (i * GOLDEN & M64)) * (hi | 1)) for i in (0x10000 + 2 * phase, 0x10001 + 2 * phase))
        return self.places_of(lo, hi)

    def rate(self, cells):
        """The chance that a message's cells are all among these, in units of 2^-64."""
        need(self.layout == 0, "only flat filters can be replayed by average")
        rate = None
        for i in range(self.k):
            ones, m = (max(len(cells) - i, 0), self.m - i) if self.positions else (len(cells), self.m)
            share = min((ones << 64) // m, M64)
            rate = share if rate is None else rate * share >> 64
        return rate

    def replay_average(self, keys):
        """The phases by age, the number of cycles, and all else that is counted."""
        bits = [set() for _ in range(self.phases)]
        told = total = cycle = arrivals = cycles = messages = fresh = 0
        for key in keys:
            asked = set(self.phase_places(key, 0))
            fresh += not any(asked <= phase for phase in bits)
            now = sum(map(self.rate, bits)) - sum(self.rate(a & b) for a, b in zip(bits, bits[1:]))
            told, total, cycle, arrivals = told + min(now, M64), total + 1, cycle + self.rate(bits[0]), arrivals + 1
            error = told - total * self.limit
            owed = abs(error) // (arrivals + 1) * (1 if error > 0 else -1)
            owed = max(-(self.limit // 2), min(self.limit // 2, owed))
            if cycle < arrivals * (self.limit - owed - (self.phases - 1) * self.rate(bits[0] | asked)):
                messages += not asked <= bits[0]
                bits[0] |= asked
            else:
                bits = [asked] + bits[:-1]
                cycles, messages, cycle, arrivals = cycles + 1, 1, 0, 0
        counts = {"cycles": cycles, "ones": len(bits[0]), "messages": messages, "fresh": fresh}
        return bits, counts, struct.pack("<5Q", told & M64, told >> 64, cycle & M64, cycle >> 64, arrivals)

    def rebuilt_average(self, keys):
        bits, counts, sums = self.replay_average(keys)
        need(counts == self.told, f"replayed {counts}, the file says {self.told}")
        cells = bytearray(len(self.payload) - len(sums))
        for age, phase in enumerate(bits):
            for p in phase:
                cells[(counts["cycles"] - age) % self.phases * self.phase_bytes + p // 8] |= 1 << (p % 8)
        return bytes(cells) + sums

    def rebuilt(self, keys):
        """A recycling filter that took in these messages, one after the other: its bits and counts."""
        if self.rule == 3:
            return self.rebuilt_average(keys)
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

    def query(self, key):
        return any(
            all(self.payload[i * self.phase_bytes + p // 8] >> (p % 8) & 1 for p in self.phase_places(key, i))
            for i in range(self.phases)
        )


class Unknown(Filter):
    def check_own(self, own, state):
        need(False, "unknown kind")


KINDS = {1: Filter, 2: Retouched, 3: Generalized, 4: Counting, 5: Fingerprint, 6: YesNo, 7: Recycling, 8: Cascade, 9: Growing, 10: Chain}


def open_filter(data):
    need(data[:8] == b"\x89TEPAL\r\n", "not a tepal filter")
    need(len(data) >= 12, "the file ends within the header")
    (version,) = struct.unpack_from("<I", data, 8)
    need(version <= 1, "written by a newer version")
    need(version == 1, "there is no version 0")
    need(len(data) >= 256, "the file ends within the header")
    (kind,) = struct.unpack_from("<I", data, 12)
    return KINDS.get(kind, Unknown)(data)


def self_test():
    """The reference's vectors: key 00..0f; the messages of no byte, and of 00..3e."""
    key = bytes(range(16))
    need(siphash(key, b"").hex() == "a3817f04ba25a8e66df67214c7550293", "SipHash is wrong")
    need(siphash(key, bytes(range(63))).hex() == "5150d1772f50834a503e069a973fbd7c", "SipHash is wrong")
    need(siphash(key, b"", 1, 3).hex() == "e77ebcb22788a5befd62db6add303001", "SipHash-1-3 is wrong")
    need(siphash(key, bytes(range(63)), 1, 3).hex() == "4c5800e34efe426f079f6b0aa75260ad", "SipHash-1-3 is wrong")


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
            filter = open_filter(f.read())
        if args.key and filter.hash != 0:
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
