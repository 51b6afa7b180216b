#!/usr/bin/python3
"""What a server does with filters: save, load, rewrite, copy, dump, free, replicate.
Usage: persistence.py MODULE COMMAND [test_NAME ...]"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from basics import KINDS, MODULE, reserve  # noqa: E402
from server import Client, Error, Server, Tests, flat  # noqa: E402


def fill(c, keys=1000):
    """A filter of each kind; returns the digest of all."""
    for i, kind in enumerate(KINDS):
        reserve(c, "f:" + kind, kind, keys=keys, seed=i)
        c("TEPAL.MADD", "f:" + kind, *["m%d" % i for i in range(keys)])
    return digest(c)


def digest(c):
    return c("DEBUG", "DIGEST")


def half_a_transfer(c):
    """A transfer that has begun and is not at its end, to a key with and to one without a filter."""
    whole = c("TEPAL.GET", "f:bloom")
    for key in ("f:bloom", "arriving"):
        c("TEPAL.PART", key, "half", 0, len(whole), whole[:100])
        c("TEPAL.PART", key, "half", 100, len(whole), whole[100:700])
    return whole


def finish_transfer(t, c, whole, what):
    for key in ("f:bloom", "arriving"):
        t.equal("%s: a transfer goes on" % what,
                c("TEPAL.PART", key, "half", 700, len(whole), whole[700:]), len(whole))
        t.equal("%s: and ends" % what, c("TEPAL.GET", key), whole)


def test_rdb(t):
    with Server(MODULE) as s:
        c = s.client()
        fill(c)
        whole = half_a_transfer(c)
        before = digest(c)
        c("SAVE")
        s.restart()
        c = s.client()
        t.equal("the same after a restart", digest(c), before)
        finish_transfer(t, c, whole, "rdb")
        before = digest(c)
        c("DEBUG", "RELOAD")
        t.equal("the same after a reload", digest(c), before)


def test_golden_rdb(t):
    """The name of the type and the encoding, pinned by a file that was saved once."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.rdb"),
                    os.path.join(folder, "dump.rdb"))
        with Server(MODULE, arguments=["compat", "yes"], folder=folder) as s:
            c = s.client()
            t.equal("the digest of all", digest(c), "a1451958b30ba7e5d6cfbb885e25507844512707")
            keys = ["m%d" % i for i in range(100)]
            for kind, (_, can) in KINDS.items():
                if "forgets" not in can and kind != "retouched":
                    t.equal("%s: all are there" % kind,
                            sum(c("TEPAL.MEXISTS", "golden:" + kind, *keys)), 100)
                t.equal("%s: sound" % kind, c("TEPAL.VERIFY", "golden:" + kind), "OK")
            t.equal("bf", [sum(c("BF.MEXISTS", "golden:bf", *keys)),
                           c("BF.INFO", "golden:bf", "EXPANSION")], [100, [2]])
            t.equal("cf", [sum(c("CF.MEXISTS", "golden:cf", *keys)),
                           c("CF.DEBUG", "golden:cf")[:18]], [100, b"bktsize:4 buckets:"])
            whole = c("TEPAL.GET", "golden:bloom")
            c("TEPAL.PART", "golden:arriving", "id", 300, len(whole), whole[300:])
            t.equal("a transfer goes on", c("TEPAL.GET", "golden:arriving"), whole)


def test_aof(t):
    for preamble in ("yes", "no"):
        with Server(MODULE, settings=[("appendonly", "yes"), ("appendfsync", "always"),
                                      ("aof-use-rdb-preamble", preamble)]) as s:
            c = s.client()
            c("TEPAL.RESERVE", "w", "KEYS", 100, "FP", "0.01", "WINDOW", 60)
            c("TEPAL.RESERVE", "k", "KEYS", 100, "FP", "0.01")  # a seed is drawn
            c("TEPAL.SEEN", "w", "now")
            c("TEPAL.ADD", "w", "too")
            fill(c)
            c("TEPAL.RESERVE", "budget", "KEYS", 1000, "FP", "0.1", "FN", "0.1", "KIND", "bloom")
            c("TEPAL.MADD", "budget", *range(1000))
            c("TEPAL.AVOID", "budget", *["x%d" % i for i in range(100)])
            whole = half_a_transfer(c)
            before = digest(c)
            s.kill()
            s.start()
            c = s.client()
            t.equal("the same after kill -9", digest(c), before)
            c("BGREWRITEAOF")
            c("TEPAL.ADD", "f:counting", "during")
            end = time.time() + 30
            while time.time() < end and (b"aof_rewrite_in_progress:1" in c("INFO", "persistence") or
                                         b"aof_rewrite_scheduled:1" in c("INFO", "persistence")):
                time.sleep(0.05)
            c("TEPAL.ADD", "f:counting", "after")
            before = digest(c)
            s.kill()
            s.start()
            c = s.client()
            t.equal("the same after a rewrite, preamble %s" % preamble, digest(c), before)
            finish_transfer(t, c, whole, "aof")


def test_aof_in_parts(t):
    """A filter of more than 16 MiB is rewritten in parts."""
    with Server(MODULE, settings=[("appendonly", "yes"), ("aof-use-rdb-preamble", "no")]) as s:
        c = s.client()
        c("TEPAL.RESERVE", "f", "KEYS", 30000000, "FP", "0.01", "KIND", "bloom")
        c("TEPAL.MADD", "f", *range(10000))
        before = digest(c)
        c("BGREWRITEAOF")
        end = time.time() + 60
        while time.time() < end and (b"aof_rewrite_in_progress:1" in c("INFO", "persistence") or
                                     b"aof_rewrite_scheduled:1" in c("INFO", "persistence")):
            time.sleep(0.05)
        s.kill()
        s.start()
        c = s.client()
        t.equal("the same", digest(c), before)
        t.equal("all are there", sum(c("TEPAL.MEXISTS", "f", *range(10000))), 10000)


def test_dump_copy_unlink(t):
    with Server(MODULE) as s:
        c = s.client()
        fill(c)
        for kind in KINDS:
            key = "f:" + kind
            dump = c("DUMP", key)
            c("RESTORE", "r", 0, dump, "REPLACE")
            t.equal("%s: restored" % kind, c("TEPAL.GET", "r"), c("TEPAL.GET", key))
            t.equal("%s: the same digest" % kind, c("DEBUG", "DIGEST-VALUE", "r"),
                    c("DEBUG", "DIGEST-VALUE", key))
            c("COPY", key, "c", "REPLACE")
            before = c("TEPAL.GET", "c")
            t.equal("%s: copied" % kind, before, c("TEPAL.GET", key))
            c("TEPAL.ADD", "c", "another")
            t.check("%s: a copy of its own" % kind, c("TEPAL.GET", key) == before)
            t.error("%s: cut" % kind, c, "ERR", "RESTORE", "x", 0, dump[:-1])
            reserve(c, "large", kind, keys=200000)
            if "GROW" in KINDS[kind][0]:
                c("TEPAL.MADD", "large", *range(50000))
            used = c("MEMORY", "USAGE", "large")
            told = flat(c("TEPAL.INFO", "large"))["bytes"]
            t.check("%s: what it takes" % kind, told <= used <= 1.25 * told + 16384, used, told)
        c("RENAME", "f:bloom", "renamed")
        t.equal("renamed", c("TEPAL.EXISTS", "renamed", "m1"), 1)
        t.equal("expires", c("PEXPIRE", "renamed", 1), 1)
        time.sleep(0.05)
        t.equal("expired", c("EXISTS", "renamed"), 0)
        c("TEPAL.RESERVE", "big", "KEYS", 30000000, "FP", "0.01")
        for command in ("UNLINK", "DEL"):
            c("COPY", "big", "other")
            c(command, "other")
        c("FLUSHALL", "ASYNC")
        end = time.time() + 20
        while b"tepal_filters:0\r" not in c("INFO", "tepal_filters") and time.time() < end:
            time.sleep(0.05)
        info = c("INFO", "tepal_filters")
        t.check("all was freed", b"tepal_filters:0\r" in info and b"tepal_bytes:0\r" in info, info)


def wait_for_sync(master, replica):
    end = time.time() + 30
    while time.time() < end:
        info = replica("INFO", "replication")
        if b"master_link_status:up" in info and b"master_sync_in_progress:0" in info:
            break
        time.sleep(0.05)
    master("WAIT", 1, 5000)


def test_replication(t):
    with Server(MODULE, settings=[("repl-diskless-sync-delay", "0")]) as m, \
            Server(MODULE) as r:
        c, d = m.client(), r.client()
        fill(c)
        whole = half_a_transfer(c)
        d("REPLICAOF", "127.0.0.1", m.port)
        wait_for_sync(c, d)
        t.equal("the same after a sync", digest(d), digest(c))
        finish_transfer(t, c, whole, "replica")
        mixed(c, 2000, 5)
        c.fails("TEPAL.PART", "p", "x", 0, len(whole), whole[:700])
        c.fails("TEPAL.PART", "p", "x", 700, len(whole), b"garbage")
        c("TEPAL.PART", "q", "x", 0, len(whole), whole[:700])
        c("TEPAL.PART", "q", "x", "CANCEL")
        for key in ("q", "f:bloom"):  # one that goes on, and another in its place that is refused
            c("TEPAL.PART", key, "x", 0, len(whole), whole[:700])
            t.error("another", c, "REFUSED", "TEPAL.PART", key, "y", 0, 900, b"garbage" * 100)
        c("TEPAL.RESERVE", "w", "KEYS", 100, "FP", "0.01", "WINDOW", 1)
        c("TEPAL.SEEN", "w", "a", "NOW", 1)  # the server's clock is far from there
        t.error("no receipts", c, "UNSUPPORTED", "TEPAL.ADD", "w", "x", "RECEIPT")
        c("WAIT", 1, 5000)
        t.equal("the same after mixed commands", digest(d), digest(c))
        c("CONFIG", "SET", "tepal.part-timeout", 200)
        c("TEPAL.PART", "q", "x", 0, len(whole), whole[:700])
        end = time.time() + 20
        while (c("EXISTS", "q") or d("EXISTS", "q")) and time.time() < end:
            time.sleep(0.1)
        t.equal("an abandoned transfer ends there too", d("EXISTS", "q"), 0)
        t.equal("the same in the end", digest(d), digest(c))


def mixed(c, count, seed):
    """Commands of every kind, drawn at random."""
    draw = random.Random(seed)
    kinds = list(KINDS)
    names = ["x%d" % i for i in range(12)]
    blobs = []

    def command():
        key = draw.choice(names)
        items = ["i%d" % draw.randrange(3000) for _ in range(draw.randrange(1, 20))]
        what = draw.randrange(100)
        if what < 12:
            kind = draw.choice(kinds)
            words = KINDS[kind][0]
            words = words if "FP" in words else ["FP", "0.02"] + words
            return ["TEPAL.RESERVE", key, "KEYS", draw.randrange(100, 2000)] + words
        if what < 15:
            return ["TEPAL.RESERVE", key, "KEYS", 500, "FP", "0.01", "WINDOW", 5]
        if what < 45:
            return ["TEPAL.MADD", key] + items
        if what < 55:
            return ["TEPAL.ADD", key, items[0]]
        if what < 65:
            return ["TEPAL.MREM", key] + items
        if what < 75:
            return ["TEPAL.MSEEN", key] + items
        if what < 79:
            return ["TEPAL.AVOID", key] + items
        if what < 84:
            return [draw.choice(["TEPAL.MERGE", "TEPAL.INTERSECT"]), key, draw.choice(names)]
        if what < 88:
            return ["COPY", key, draw.choice(names), "REPLACE"]
        if what < 89:
            return ["TEPAL.GET", key]
        if what < 93 and blobs:
            blob = draw.choice(blobs)
            if what < 91:
                return ["TEPAL.SET", key, blob]
            half = draw.randrange(1, len(blob))
            if draw.randrange(2):
                return ["TEPAL.PART", key, "id%d" % len(blob), 0, len(blob), blob[:half]]
            return ["TEPAL.PART", key, "one", 0, len(blob), blob]
        if what < 95:
            return ["DEL", key]
        if what < 96:
            return ["RENAME", key, draw.choice(names)]
        family = draw.choice(["BF", "CF"])  # unknown to a server without `compat yes`
        key = family + str(draw.randrange(5))
        rate = ["0.01"] if family == "BF" else []
        return draw.choice([[family + ".RESERVE", key] + rate + [draw.randrange(10, 300)],
                            [family + ".INSERT", key, "ITEMS"] + items,
                            [family + ".ADD", key, items[0]],
                            ["CF.DEL", key, items[0]],
                            ["CF.INSERTNX", key, "ITEMS"] + items,
                            ["DEL", key]])

    done = 0
    while done < count:
        some = [command() for _ in range(min(200, count - done))]
        for words, answer in zip(some, c.pipeline(some)):
            if words[0] == "TEPAL.GET" and isinstance(answer, bytes):
                blobs = (blobs + [answer])[-20:]
        done += len(some)


def test_memory_limits(t):
    with Server(MODULE, arguments=["max-filter-bytes", "1000000"]) as s:
        c = s.client()
        t.equal("as an argument", c("CONFIG", "GET", "tepal.max-filter-bytes")[1], b"1000000")
        t.error("reserve", c, "OOM", "TEPAL.RESERVE", "x", "KEYS", 1000000, "FP", "0.01")
        c("TEPAL.RESERVE", "ok", "KEYS", 500000, "FP", "0.01")
        c("CONFIG", "SET", "tepal.max-filter-bytes", 500000)
        whole, dump = c("TEPAL.GET", "ok"), c("DUMP", "ok")
        t.error("set", c, "REFUSED", "TEPAL.SET", "x", whole)
        t.error("part", c, "REFUSED", "TEPAL.PART", "x", "id", 0, len(whole), whole[:1000])
        t.error("restore", c, "ERR", "RESTORE", "x", 0, dump)
        t.error("copy", c, "ERR", "COPY", "ok", "x")
        t.error("merge", c, "OOM", "TEPAL.MERGE", "x", "ok")
        t.equal("nothing came of it", c("DBSIZE"), 1)
        c("CONFIG", "SET", "tepal.max-filter-bytes", 100000)
        for kind in ("growing", "chain"):
            c("TEPAL.RESERVE", kind, "KEYS", 1000000, "FP", "0.01", "GROW", "KIND", kind)
            added, refused = 0, None
            while refused is None and added < 200000:
                items = ["%s%d" % (kind, i) for i in range(added, added + 1000)]
                refused = c.fails("TEPAL.MADD", kind, *items)
                added += 0 if refused else 1000
            t.check("%s: grows up to the limit" % kind,
                    refused is not None and refused.startswith("OOM") and added > 10000,
                    refused, added)
            t.check("%s: within it" % kind, c("MEMORY", "USAGE", kind) <= 110000)
            every = ["%s%d" % (kind, i) for i in range(added)]
            t.equal("%s: nothing is lost" % kind, sum(c("TEPAL.MEXISTS", kind, *every)), added)
    with Server(MODULE, settings=[("maxmemory", "20mb")]) as s:
        c = s.client()
        t.error("maxmemory", c, "OOM", "TEPAL.RESERVE", "x", "KEYS", 30000000, "FP", "0.01")
        c("TEPAL.RESERVE", "ok", "KEYS", 8000000, "FP", "0.01")
        t.error("a second", c, "OOM", "TEPAL.RESERVE", "x", "KEYS", 8000000, "FP", "0.01")
        t.error("a copy", c, "ERR", "COPY", "ok", "x")
        t.equal("one", c("DBSIZE"), 1)
        info = c("INFO", "tepal_filters")
        t.check("refusals are counted", b"refused_for_memory:3" in info, info)


def until(holds, seconds=20):
    end = time.time() + seconds
    while not holds() and time.time() < end:
        time.sleep(0.05)
    return holds()


def test_secret_keys(t):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "keys")
        with open(path, "w") as f:
            f.write("00112233445566778899aabbccddeeff\nffeeddccbbaa99887766554433221100\n")
        folder = os.path.join(d, "data")
        os.mkdir(folder)
        with Server(MODULE, arguments=["key-file", path], folder=folder,
                    settings=[("repl-diskless-sync-delay", "0")]) as s, \
                Server(MODULE) as r:
            c, e = s.client(), r.client()
            c("TEPAL.RESERVE", "k", "KEYS", 1000, "FP", "0.01", "KEYED")
            c("TEPAL.MADD", "k", *range(1000))
            t.equal("keyed", sum(c("TEPAL.MEXISTS", "k", *range(1000))), 1000)
            t.equal("info tells", flat(c("TEPAL.INFO", "k"))["keyed"], 1)
            c("TEPAL.RESERVE", "fast", "KEYS", 1000, "FP", "0.01", "KEYED13")
            c("TEPAL.MADD", "fast", *range(1000))
            t.equal("keyed by 1-3", sum(c("TEPAL.MEXISTS", "fast", *range(1000))), 1000)
            t.equal("info names it", flat(c("TEPAL.INFO", "fast"))["hash"], b"siphash13-128")
            c("DEL", "fast")
            whole, dump = c("TEPAL.GET", "k"), c("DUMP", "k")
            secret = bytes.fromhex("00112233445566778899aabbccddeeff")
            shown = whole + dump + repr(c("CONFIG", "GET", "*")).encode() + s.text().encode()
            t.check("the key shows nowhere", secret not in shown and b"00112233" not in shown)
            t.error("another server", e, "REFUSED it was made with a secret key",
                    "TEPAL.SET", "k", whole)
            t.error("nor by restore", e, "ERR", "RESTORE", "k", 0, dump)
            t.check("a clear line", "made with a secret key" in r.text())
            t.error("nor reserve", e, "NOKEY", "TEPAL.RESERVE", "k", "KEYS", 10, "KEYED")
            # A server that cannot load what it is sent ends, whichever way it comes.
            line = "tepal: a filter cannot be loaded: it was made with a secret key"
            for way in "disabled", "on-empty-db":
                with Server(MODULE, settings=[("repl-diskless-load", way)]) as lost:
                    lost.client()("REPLICAOF", "127.0.0.1", s.port)
                    t.check("a replica without it ends",
                            until(lambda: lost.process.poll() is not None))
                    t.check("and says why", line in lost.text())
            with Server(MODULE, arguments=["key-file", path]) as found:
                f = found.client()
                f("REPLICAOF", "127.0.0.1", s.port)
                t.check("a replica with it loads it", until(lambda: f("DBSIZE") == 1))
                t.equal("and has all", sum(f("TEPAL.MEXISTS", "k", *range(1000))), 1000)
            e("CONFIG", "SET", "tepal.key-file", path)
            t.equal("with it it does", e("TEPAL.SET", "k", whole), "OK")
            t.equal("and finds", sum(e("TEPAL.MEXISTS", "k", *range(1000))), 1000)
            t.error("a file that is none", e, "ERR", "CONFIG", "SET", "tepal.key-file", "/none")
            with open(path, "w") as f:
                f.write("ffeeddccbbaa99887766554433221100\n")
            e("CONFIG", "SET", "tepal.key-file", "")
            e("CONFIG", "SET", "tepal.key-file", path)
            t.error("another key", e, "REFUSED", "TEPAL.SET", "j", whole)
            # A file that changes is read again when a key is needed.
            fresh = path + ".new"

            def replace(text):
                with open(fresh, "w") as f:
                    f.write(text)
                os.rename(fresh, path)

            replace("0123456789abcdef0123456789abcdef\n00112233445566778899aabbccddeeff\n")
            t.equal("the key is there again", e("TEPAL.SET", "j", whole), "OK")
            e("TEPAL.RESERVE", "new", "KEYS", 1000, "FP", "0.01", "KEYED")
            latest = e("TEPAL.GET", "new")
            replace("no key\n")
            t.equal("a bad file changes nothing", e("TEPAL.SET", "j", whole), "OK")
            t.check("and is told", "the keys stay as they were" in r.text())
            os.remove(path)
            t.equal("nor does none", e("TEPAL.SET", "j", latest), "OK")
            replace("00112233445566778899aabbccddeeff\n")
            t.error("the first key was for new filters", e, "REFUSED", "TEPAL.SET", "j", latest)
            t.equal("and is gone", e("TEPAL.SET", "j", whole), "OK")


def jemalloc_class(size):
    """The size class of a request: four in every doubling."""
    step = max(16, 1 << max(0, (size - 1).bit_length() - 3))
    return -(-size // step) * step


def test_allocator_classes(t):
    """What a filter takes: its cells in exactly their size class, and a little for the rest."""
    with Server(MODULE) as s:
        c = s.client()
        if b"mem_allocator:jemalloc" not in c("INFO", "memory"):
            print("the server's allocator is not jemalloc: its size classes are not known")
            return
        for layout in ("blocked", "flat"):
            rest = set()
            for size in (16384, 20000, 1 << 17, 10 ** 6, 1 << 20, (1 << 20) + 64, 3 << 20,
                         12500000, 1 << 26, 5 << 24, 1 << 28):
                c("TEPAL.RESERVE", "f", "KEYS", size * 8 // 10, "MEMORY", size, "KIND", "bloom",
                  "LAYOUT", layout)
                info = flat(c("TEPAL.INFO", "f"))
                t.check("the size", size - 512 <= info["bytes"] <= size, info["bytes"], size)
                rest.add(info["memory"] - jemalloc_class(info["bytes"]))
                usage = c("MEMORY", "USAGE", "f")
                t.check("%s, %d bytes" % (layout, size),
                        usage <= jemalloc_class(info["bytes"]) + 2048, usage, info["bytes"])
                c("DEL", "f")
            t.check("the rest is the same for all", len(rest) == 1 and 0 < min(rest) < 2048, rest)


def test_bad_arguments(t):
    for words in (["compat"], ["compat", "perhaps"], ["max-filter-bytes", "-1"], ["what", "ever"],
                  ["key-file", "/nowhere"], ["part-timeout", "1"]):
        s = None
        try:
            s = Server(MODULE, arguments=words)
            t.check("refused: %s" % words, False)
        except RuntimeError as problem:
            t.check("refused with a word: %s" % words, "tepal: " in str(problem), problem)
        finally:
            if s:
                s.__exit__()


TESTS = [v for k, v in list(globals().items()) if k.startswith("test_")]

if __name__ == "__main__":
    Tests().run(TESTS)
