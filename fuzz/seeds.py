#!/usr/bin/python3
"""seeds.py FOLDER: inputs that the fuzzers start from, besides fuzz/corpus: FOLDER/TARGET/...

Filters with one number of the header changed, their checksum right; plans with one field changed;
and for every reader of text the lines that it has words for. A fuzzer would find them, in hours.
"""
import bz2
import gzip
import json
import lzma
import os
import pathlib
import re
import struct
import subprocess
import sys

import xxhash

here = pathlib.Path(__file__).resolve().parent
out = pathlib.Path(sys.argv[1])
# Golden files that are small enough to be changed in all ways, and small ones of the kinds that have none.
golden = [*sorted((here.parent / "tests" / "golden").glob("*.tepal")), *sorted((here / "filters").glob("*.tepal"))]
count = {}


def seed(target, data):
    count[target] = count.get(target, 0) + 1
    folder = out / target
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(data, str):
        data = data.encode()
    (folder / f"seed-{count[target]:04}").write_bytes(data)


def zstd(data, *options):
    return subprocess.run(["zstd", "-qc", *options], input=data, stdout=subprocess.PIPE, check=True).stdout


# ---- filters -------------------------------------------------------------------------------------

HEADER, AT_SUM = 256, 248
FIELDS32 = [8, 12, 16, 20, 24, 28, 216, 220]
FIELDS64 = [32, 40, 48, 56, 64] + list(range(72, 216, 8))


def right(header):
    return header[:AT_SUM] + struct.pack("<Q", xxhash.xxh3_64_intdigest(header[:AT_SUM]))


def changed(data):
    """The file with each field of its header changed, one at a time."""
    for width, fields in (4, FIELDS32), (8, FIELDS64):
        top = 256 ** width
        for at in fields:
            old = int.from_bytes(data[at:at + width], "little")
            for new in {0, 1, 2, 9, 65, 2 ** 20, 2 ** 32, 2 ** 57, 2 ** 60, top - 1, old + 1, old - 1, 2 * old,
                        old + 8, old + 512} - {old}:
                yield right(data[:at] + (new % top).to_bytes(width, "little") + data[at + width:HEADER]) \
                    + data[HEADER:]
    yield right(data[:230] + b"\1" + data[231:HEADER]) + data[HEADER:]
    for at in 0, 100, AT_SUM, HEADER, len(data) - 1:
        yield data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
    for length in 0, 4, 100, HEADER, HEADER + 1, len(data) - 1:
        yield data[:length]
    yield data + b"\0"


kinds = {}
for path in golden:
    data = path.read_bytes()
    if len(data) < 1100 or path.parent.name == "filters":
        kinds.setdefault(data[12:28] + data[72:80], data)
first = next(iter(kinds.values()))
for data in kinds.values():
    for file in changed(data):
        seed("decode", b"\x00" + file)
    seed("decode", b"\x10" + data)
    for failing in range(24):
        seed("store", bytes([2 * (failing % 3), failing, failing % 9]) + data)
    seed("store", bytes(3) + data[:HEADER] + bytes([data[HEADER] ^ 1]) + data[HEADER + 1:])
    # terms: agreed in all, otherwise in one, limits of bytes and keys, rates
    for wrong in range(9):
        for terms in ({}, {3: 1}, {4: 1}, {5: 0xff}, {5: 0xfe}, {6: 1}, {8: 1}, {10: 255}, {11: 255}, {12: 255},
                      {13: 255}, {14: 255}):
            how = bytearray(16)
            how[1:3] = b"\xff\xff"
            how[15] = wrong
            for at, value in terms.items():
                how[at] = value
            seed("receive", bytes(how) + data)
    for pack in gzip.compress, lzma.compress, bz2.compress, zstd:
        seed("stream", b"\0" + pack(data))
        seed("stream", b"\0" + pack(data)[:-9])
    for how in 4, 8, 12:
        seed("stream", bytes([how]) + data)
    for failing in range(12):
        seed("stream", bytes([failing << 4]) + data)

for place in *range(13), 65:
    for failing in range(24):
        for error in 0, 2, 3, 6, 8, failing % 9:
            seed("store", bytes([2 * place, failing, error]) + first)

for hash in range(4):
    entries = struct.pack("<QQ", 1, 2) + struct.pack("<QQ", 3, 4)
    for version in 1, 2:
        for entry_count in 2, 3:
            seed("exceptions", b"\1tepalex\n" + struct.pack("<IIQQQQ", version, hash, entry_count, 7, 0, 0)
                 + entries)
            seed("exceptions", b"\0tepalex\n" + struct.pack("<IIQQQQ", version, hash, entry_count, 7, 0, 0)
                 + entries)
seed("exceptions", b"\0tepal")
seed("exceptions", b"\0tepalex\n1234")
seed("exceptions", b"\1" + bytes(range(200)) * 5)

# ---- keys ----------------------------------------------------------------------------------------

texts = [b"a\nbb\n\nccc", b"x" * 1500 + b"\ny", b"\n".join(b"%d" % i for i in range(700)), b"a\0b\0",
         first, b"", b"\xef\xbb\xbf", b"\xef\xbb\xbfa\nbb\n"]
for text in texts:
    for choice in 0, 4, 8, 16, 32, 72, 128, 132, 160, 144:
        seed("keys", bytes([choice]) + text)
        for pack in gzip.compress, lzma.compress, bz2.compress, zstd:
            packed = pack(text)
            seed("keys", bytes([choice]) + packed)
            if choice in (0, 16, 128):
                seed("keys", bytes([choice]) + packed[:-5])
                seed("keys", bytes([choice]) + packed + b"rest")
                seed("keys", bytes([choice]) + packed[:len(packed) // 2] + b"\xff\xff" + packed[len(packed) // 2 + 2:])
huge = lzma.compress(b"a\n", format=lzma.FORMAT_XZ, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}])
seed("keys", b"\0" + huge)
seed("keys", b"\0" + lzma.compress(b"a\n", format=lzma.FORMAT_XZ,
                                  filters=[{"id": lzma.FILTER_DELTA, "dist": 1}, {"id": lzma.FILTER_LZMA2}]))
stream = bytearray(lzma.compress(b"a\n"))
stream[7] = 0x3 # a check that nobody knows
seed("keys", b"\0" + stream)
seed("keys", b"\0" + zstd(b"a\n" * 100, "--ultra", "--long=30", "-1"))

# ---- plans ---------------------------------------------------------------------------------------

plan = {"keys": 400, "weighted": False, "plans": [{
    "kind": "bloom", "layout": "flat", "feasible": True, "bits": 2921, "hashes": 5, "positions": "colliding"}]}
own = {
    "bloom": {"max_fn": 0.1},
    "retouched": {"max_fn": 0.03},
    "generalized": {"reset_hashes": 2, "set_hashes": 3, "tolerance": 1},
    "counting": {"cells": 2923, "choices": 2, "line_cells": None, "counter_bits": 8},
    "fingerprint": {"fingerprint_bits": 8, "hashes": 2, "bits": 3520},
    "yesno": {"yes_bits": 565, "no_bits": 374, "no_filters": 3, "no_hashes": 2, "own_seeds": True},
    "recycling": {"phases": 4, "phase_bits": 1470, "sigma": None, "fp": 0.01},
    "cascade": {"first_level_bits": 2941, "max_bits": 3200},
    "growing": {"first_bits": 8 * 4 * 1024, "tag_bits": 5, "extension_bits": 3, "hashes": 2},
    "chain": {"first_bits": 5120, "first_keys": 100, "fp_any_size": 0.01, "growth": 2.0, "series": "even",
              "parts": 10},
}
wrong = [None, -1, 0, 1, 2.5, "x", [], 2 ** 62, True, 0.5, 512, 128]
for kind, fields in own.items():
    best = {**plan["plans"][0], "kind": kind, **fields}
    seed("plan", "0" + json.dumps({**plan, "plans": [best]}))
    for name in best:
        for value in wrong:
            seed("plan", "0" + json.dumps({**plan, "plans": [{**best, name: value}]}))
        seed("plan", "0" + json.dumps({**plan, "plans": [{n: v for n, v in best.items() if n != name}]}))
for slots in range(16, 45):
    seed("plan", "0" + json.dumps({**plan, "plans": [{**plan["plans"][0], "kind": "growing", **own["growing"],
                                                      "first_bits": slots * 1024}]}))
for name in plan:
    for value in wrong:
        seed("plan", "0" + json.dumps({**plan, name: value}))
for text in ("{", "[]", '{"plans":[3]}', '{"plans":[{"fp_unknown":0.1}]}', '{"plans":[{"feasible":false,"likely":0.5}]}'):
    seed("plan", "0" + text)
gaps = "# fresh 0.5\ngap\trepeats\tsurvival\n"
for text in (gaps, gaps + "1\t1\t0.5\n2\t1\t0.25\n", gaps + "1\t1\n", gaps + "2\t1\t0.5\n1\t1\t0.2\n", gaps + "1\t1\tx\n",
             gaps + "1\t\t0.5\n", gaps + "1\t1\t0.5\t3\n", gaps + "1\t" + "1" * 90 + "\t0\n", gaps + "1\t1\t9\n",
             "# fresh x\n1\t1\t0\n", "1\t1\t0\n", "# fresh 2\n1\t1\t0\n", gaps + "".join(
                 f"{i}\t1\t{1 / i}\n" for i in range(1, 70))):
    seed("plan", "1" + text)
    seed("wish", "\0--endless\n--gaps\nFILE\n--memory\n64Ki\nFILE\n" + text)

wishes = """--keys 1000 --known-negatives FILE --weights --fp 1%
--keys 1000 --known-negatives FILE --fp 1%
--keys 1000 --known-negatives 5 --weights
--keys 1000 --avoid FILE --fp-known 0.1%
--keys 1000 --avoid FILE --fp-known 1e-30
--keys 1000 --known-negatives FILE --fp-known 0.1% --closed-world
--bits-per-key 8
--bits-per-key 1e30 --keys 5
--keys 1M..2M --first 3 --grow
--keys 100..10 --grow
--grow --fp 1%
--grow --first 100 --fp 1%
--grow --first 100 --capacity 10 --fp 1%
--endless --stream geometric --memory 1Ki
--endless --stream pareto:1 --memory 1Ki
--endless --stream zipf:1 --memory 1Ki
--endless --stream poisson:3 --memory 1Ki
--endless --stream geometric:100 --memory 1Ki --fp 1%
--endless --stream pareto:2,10 --gaps FILE --memory 1Ki
--endless --gaps FILE
--keys 10 --gaps FILE
--keys 10 --max-bytes 100 --prefer size --fp 1%
--keys 10 --header-bits 256 --known-negatives 3
--keys 10 --cost-fp 1 --cost-fn 2
--keys 10 --learn --max-fn 1% --fp 1%""".split("\n")
for line in wishes:
    for file in "", "a 1\nb 2\nc 0.5\n", "a\nb\nc\n", "a x\n", "a\tx\n", "a -1\n", "5\ta\n1\tb\n0\tc\n", "1 a\n1 a\n":
        seed("wish", "\0" + line.replace(" ", "\n") + "\nFILE\n" + file)

# ---- readers of the applications -----------------------------------------------------------------

header = "#cycle\tmonitor\ttarget_as\tdst\tdst_ttl\tpen_transit\thops\n"
good = ["1", "m1", "AS1", "9.0.0.1", "4", "0", "1.0.0.1 * 1.0.0.3"]
odd = ["", "x", "-1", "256", "1.2.3", "9" * 20, "a\0b", "1.0.0.1  1.0.0.2", "* " * 260, "1.0.0.1 x", "2001:db8::1"]
for i in range(len(good)):
    for value in odd:
        seed("traceroute", header + "\t".join(good[:i] + [value] + good[i + 1:]) + "\n")
for text in ("#" + "\t".join("abcdefgh" * 9) + "\n", "#cycle\tmonitor\n", header + "1\tm\n", header + "\t".join(good * 12),
             header, "\n", "x\n"):
    seed("traceroute", text)
traces = ['{"type":"trace"}', '{"type":"trace","dst":3}', '{"type":"trace","dst":"x"}', '{"type":"trace","dst":"9.0.0.1"}',
          '{"type":"trace","dst":"9.0.0.1","src":"x"}', '{"type":"trace","dst":"9.0.0.1","src":"5.5.5.5","hops":3}',
          '{"type":"trace","dst":"9.0.0.1","src":"5.5.5.5"}', '{"type":"cycle-start"}', '{"type":"cycle-start","id":-1}',
          '{"type":"cycle-start","id":1}', '{"type":"cycle-stop"}', "{}", "[]", "{", '{"type":3}', '{"type":"x"}']
hop = '{"type":"trace","dst":"9.0.0.1","src":"5.5.5.5","stop_reason":"%s","hops":[%s]}'
for reason in "COMPLETED", "GAPLIMIT":
    for hops in ("", "3", '{"addr":"1.0.0.1"}', '{"addr":"1.0.0.1","probe_ttl":0}', '{"addr":"1.0.0.1","probe_ttl":300}',
                 '{"probe_ttl":1}', '{"addr":"x","probe_ttl":1}', '{"addr":"1.0.0.1","probe_ttl":2}',
                 '{"addr":"1.0.0.1","probe_ttl":2},{"addr":"1.0.0.2","probe_ttl":2}',
                 '{"addr":"9.0.0.1","probe_ttl":3},{"addr":"1.0.0.2","probe_ttl":1}'):
        traces.append(hop % (reason, hops))
for trace in traces:
    seed("traceroute", trace + "\n")
    seed("traceroute", '{"type":"cycle-start","id":3,"hostname":"h"}\n' + trace + "\n")
seed("traceroute", "".join(header) + "".join("\t".join([str(i), f"m{i}", "A", f"9.0.{i}.1", "3", "0",
                                                        f"1.{i}.0.1 1.{i}.0.2"]) + "\n" for i in range(40)))

key = '<key id="%s" for="%s" attr.name="%s"/>'
doc = '<graphml>%s<graph edgedefault="%s">%s</graph></graphml>'
names = "".join(key % k for k in (("d0", "node", "label"), ("d1", "node", "Longitude"), ("d2", "node", "Latitude"),
                                  ("d3", "edge", "weight"), ("d4", "node", "x"), ("d5", "node", "y")))
nodes = "".join(f'<node id="{i}"><data key="d0">n{i % 3}</data><data key="d1">1.5</data><data key="d2">{i}</data></node>'
                for i in range(6))
edges = "".join(f'<edge source="{i}" target="{(i + 1) % 6}"/>' for i in range(6)) + '<edge source="0" target="3"/>'
docs = [doc % (names, "undirected", nodes + edges), doc % (names, "directed", nodes + edges),
        doc % (names, "both", nodes), doc % ("<key/>", "directed", nodes), doc % ("", "directed", "<node/>"),
        doc % ("", "directed", '<node id="1"/><node id="1"/>'), doc % ("", "directed", '<node id=""/>'),
        doc % ("", "directed", '<node id="&#10;"/>'), doc % ("", "directed", '<edge source="1"/>'),
        doc % ("", "directed", '<edge source="1" target=""/>'), doc % ("", "directed", '<node id="1"/><edge source="1" target="2"/>'),
        doc % ("", "directed", "<hyperedge/>"), doc % ("", "directed", '<node id="1"><graph/></node>'),
        doc % ("", "directed", ""), "<graphml/>", "<graphml><graph/><graph/></graphml>", "<html/>", "<graphml",
        "<a>" * 80, "  \n<graphml/>", doc % (names, "directed", '<node id="1"><data key="d0">' + "x" * 1000 + "</data></node>"),
        doc % (names, "directed", '<node id="1"><data key="d0">' + "<x/>y" * 9 + '</data><data key="zz">q</data><data/></node>'),
        doc % (names, "directed", '<node id="%s"/>' % ("x" * 900)), doc % ("", "directed", nodes.replace("n", "a#") + edges),
        doc % (names, "undirected", '<node id="1"><data key="d0">a</data></node><node id="2"><data key="d0">a</data></node>'
               '<node id="3"><data key="d0">b#1</data></node><edge source="1" target="2"/>')]
for text in docs:
    for how in "0145":
        seed("graph", how + text)
seed("graph", b"0\xff\xfe<\0g\0/\0>\0")
seed("graph", b"0\xfe\xff\0<\0g")
seed("graph", b"0\xef\xbb\xbf<graphml/>")
ring = "".join(f"n{i}\tn{i + 1}\n" for i in range(40))
pairs = "".join(f"a{i}\tb{i}\n" for i in range(60))
for text in (ring, pairs, "a\tb\tx\ty\tz and much more that nobody reads\n" * 9, "a\n", "\tb\n", "a\t\n", "#u\tv\na\tb\n",
             "#u\tw\na\tb\n", "#asn\tu\tv\n1\ta\tb\n2\ta\tc\n", "#asn\tu\tv\n\ta\tb\n", "#asn\tu\tv\n2\ta\tb\n", "a b\n",
             "#" + "x\t" * 80 + "\n", "a\x01\tb\n", "a\tb\r\n\r\nb\tc\r\n", ("x" * 700) + "\tb\n", "",
             "#network\tu\tv\n1\ta\tb\n2\tb\tc\n1\tb\td\n"):
    for how in "02468:":
        seed("graph", how + text)

logs = ["one\n\ntwo\n", "a x\nb y\n", "a b c\n", "#time\tproxy\turl\tbytes\n1\t2\t/a\t12\n2\t3\t/b\t-\n3\t3\t\t1\n4\t4\n5\t5\t/c\tx\n",
        "#time url bytes\n1 /a 12\n  2   /b  -  \n   \n", "#x\n1\n", 'h - - [01/Aug] "GET /x HTTP/1.0" 200 7\n',
        "a\0b\n", "#\n1 2 3\n", "1\t\t3\n", "/a 99999999999999999999\n", "\n", "#url\tbytes\r\n/a\t1\r\n"]
logs.append("".join(f"k{i}\tw{i % 7}\n" for i in range(60)))
for text in logs:
    for form in ((0, 0, 0), (7, 0, 8), (1, 2, 0), (2, 1, 3), (1, 0, 2), (9, 0, 0), (10, 0, 0), (11, 0, 0), (4, 0, 0),
                 (5, 0, 0), (6, 0, 0), (0, 7, 0), (0, 0, 7), (1, 1, 1)):
        seed("requests", bytes(form) + text.encode())

columns = "#capture\tt\tproto\tsrc\tsport\tdst\tdport\tflags\tlen\n"
row = ["a", "0.5", "tcp", "10.0.0.1", "80", "10.0.0.2", "1234", "S", "60"]
for i in range(len(row)):
    for value in ("", "x", "-1", "99999999", "SAFRPUEC-", "1" * 60, "65535", "::1", "udp", "icmp", "1e999", "nan", "70000", "A"):
        seed("packets", columns + "\t".join(row[:i] + [value] + row[i + 1:]) + "\n")
seed("packets", "#" + "\t".join("abcdefgh" * 5) + "\n")
seed("packets", "#t\tproto\n1\ttcp\n")
seed("packets", columns + "a\t1\n" + "\t".join(row) + "\n")
seed("packets", columns + "".join("\t".join(row[:3] + [f"10.0.0.{i}"] + row[4:]) + "\n" for i in range(60)))
ip4 = bytes.fromhex("45000028000100004006000000000a0100000a02") + bytes.fromhex("005004d2000000010000000050020000") + bytes(4)
ip6 = bytes.fromhex("6000000000140640") + bytes(15) + b"\1" + bytes(15) + b"\2" + ip4[20:]
inner = {0: bytes(12) + b"\x08\0", 1: b"", 2: bytes(14) + b"\x08\0", 3: b"\x08\0" + bytes(18), 4: bytes(4), 5: b""}
inner6 = {0: bytes(12) + b"\x86\xdd", 1: b"", 2: bytes(14) + b"\x86\xdd", 3: b"\x86\xdd" + bytes(18), 4: bytes(4), 5: b""}


def frames(link):
    for front, packet in (inner[link], ip4), (inner6[link], ip6):
        for frame in (packet, packet[:9] + b"\x11" + packet[10:], packet[:9] + b"\x01" + packet[10:],
                      b"\x41" + packet[1:], b"\x4f" + packet[1:], packet[:6] + b"\x20\x05" + packet[8:], b"\x10" + packet[1:]):
            yield front + frame
        for length in range(0, len(front + packet), 3):
            yield (front + packet)[:length]
    for after in 0, 43, 44, 51, 60, 135, 58, 59, 6:
        for fill in b"\0\0", b"\0\x09", b"\x06\0":
            for extra in bytes([6]) + bytes(7), bytes([6, 1]) + fill + bytes(14), bytes([6, 9]), bytes(3):
                yield inner6[link] + ip6[:6] + bytes([after]) + ip6[7:40] + extra + ip4[20:]
    if link == 0:
        yield bytes(12) + b"\x81\0\0\1\x08\0" + ip4
        yield bytes(12) + b"\x88\xa8\0\1\x81\0\0\1\x86\xdd" + ip6
        yield bytes(12) + b"\x81\0\0"
        yield bytes(12) + b"\x08\x06" + ip4


for link in range(6):
    for frame in frames(link):
        seed("packets", bytes([link]) + frame)


def capture(link, packets, order="<"):
    return struct.pack(order + "IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, link) + b"".join(
        struct.pack(order + "IIII", 1 + i, 5, len(p), len(p)) + p for i, p in enumerate(packets))


for link in 1, 101, 113, 276, 0, 108, 229, 147:
    data = capture(link, [ip4, ip6])
    seed("packets", data)
    seed("packets", data[:-7])
    seed("packets", gzip.compress(data))
    seed("packets", gzip.compress(data)[:-6])
    seed("packets", data[:20])
    seed("packets", capture(link, [ip4], ">"))
seed("packets", capture(101, [ip4])[:-4] + b"\0" * 4 + struct.pack("<IIII", 9, 9, 2 ** 31, 2 ** 31))
seed("packets", b"\xd4\xc3\xb2\xa1\x09\0\0\0" + bytes(16))
seed("packets", gzip.compress(columns.encode() + "\t".join(row).encode()))
seed("packets", gzip.compress(columns.encode() + "\t".join(row).encode())[:-6])
seed("packets", bz2.compress(columns.encode()))

tables = "#tepal-tables\tbits=21\tno_bits=7\tno_filters=2\tsalts=1\tseed=1\thashes=1\tno_hashes=3\town_seeds=1\tpositions=distinct\n#node\tto\tmask\n"
links = ["a\tb\t90890c", "a\td\t900516", "b\ta\t02B403", "b\tc\t811116", "c\tb\t40d608", "d\ta\ta04909"]
for old, new in (("bits=21", "bits=20"), ("bits=21", "bits=x"), ("bits=21", "bit=3"), ("salts=1", "salts=0"), ("salts=1", "salts=63"),
                 ("salts=1", "salts=2"), ("no_bits=7", "no_bits=70"), ("#tepal", "#x"), ("bits=21", "bits=99999999999"), ("\t", " ")):
    seed("tables", tables.replace(old, new, 1) + "\n".join(links) + "\n")
for line in ("a\ta\t90890c", "a\tb", "a\tb\t90", "a\tb\t9089zz", "a\tb\tffffff", "\tb\t90890c", "a\t\t90890c", "a\tb\t90890c\t1",
             "q\tr\t90890c", "a\x01\tb\t90890c"):
    seed("tables", tables + "\n".join(links) + "\n" + line + "\n")
seed("tables", tables)

for line in ("192.0.2.1\t3\t17", "192.0.2.1\t18\t17", "192.0.2.1\t1e1\t17", "192.0.2.1\t3", "\t1\t2", "a\tx\t1", "a\t1\tinf", "a\0b\t1\t2",
             "a\t" + "1" * 70 + "\t3", "a\t-1\t3", "a\t1\t1e400", "a\t1\t"):
    seed("sightings", line + "\n" + "b\t1\t2\n")
seed("sightings", "".join(f"10.0.0.{i}\t{i}\t{i + 1}\n" for i in range(60)))

for text in "", "experiment\n":
    seed("lab", text)
print(sum(count.values()), "seeds:", ", ".join(f"{name} {n}" for name, n in sorted(count.items())))
