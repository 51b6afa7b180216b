#!/usr/bin/python3
"""The commands of the module on a real server, against an exact set.
Usage: basics.py MODULE COMMAND [test_NAME ...]"""

import os
import random
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(__file__))
from server import Client, Error, Server, Tests, flat  # noqa: E402

MODULE = os.path.abspath(sys.argv[1])
COMMAND = os.path.abspath(sys.argv[2])

# Every kind that can be filled key by key, and what it can do.
KINDS = {
    "bloom": (["KIND", "bloom"], {"merge", "intersect", "avoid"}),
    "bloom flat": (["KIND", "bloom", "LAYOUT", "flat"], {"merge", "intersect"}),
    "retouched": (["KIND", "retouched", "FN", "0.01"], {"avoid"}),
    "generalized": (["UNTRUSTED", "KIND", "generalized", "FP", "0.1"], {"forgets"}),
    "counting": (["DELETES", "KIND", "counting"], {"merge", "remove"}),
    "fingerprint": (["DELETES", "KIND", "fingerprint"], {"remove"}),
    "recycling": (["ENDLESS", "KIND", "recycling"], {"forgets"}),
    "growing": (["GROW", "KIND", "growing"], {"remove", "merge"}),
    "chain": (["GROW", "KIND", "chain"], {"merge"}),
}


def reserve(c, key, kind, keys=1000, fp="0.01", seed=7):
    words = KINDS[kind][0]
    if "FP" not in words:
        words = ["FP", fp] + words
    c("DEL", key)
    return c("TEPAL.RESERVE", key, "KEYS", keys, *words, "SEED", seed)


def test_kinds_against_a_set(t):
    with Server(MODULE) as s:
        c = s.client()
        names = [flat(k)["kind"].decode() for k in c("TEPAL.KINDS")]
        t.check("KINDS lists the kinds", set(k.split()[0] for k in KINDS) <= set(names), names)
        for kind, (_, can) in KINDS.items():
            t.equal("%s: reserve" % kind, reserve(c, "f", kind), "OK")
            members = ["m%d" % i for i in range(1000)]
            new = c("TEPAL.MADD", "f", *members)
            t.check("%s: nearly all are new" % kind, sum(new) > 950, sum(new))
            found = c("TEPAL.MEXISTS", "f", *members)
            if "forgets" not in can:
                t.equal("%s: every member is found" % kind, sum(found), 1000)
            one = [c("TEPAL.EXISTS", "f", m) for m in members[:100]]
            t.equal("%s: one by one as in a batch" % kind, one, found[:100])
            strangers = c("TEPAL.MEXISTS", "f", *["s%d" % i for i in range(10000)])
            # At most 1 % (generalized 10 %) is promised: 10^4 strangers exceed 100 by 6 deviations
            # of 10 with a probability below 10^-8.
            most = 1000 + 6 * 30 if kind == "generalized" else 100 + 60
            t.check("%s: few strangers" % kind, sum(strangers) <= most, sum(strangers))
            t.equal("%s: verify" % kind, c("TEPAL.VERIFY", "f"), "OK")
            info = flat(c("TEPAL.INFO", "f"))
            full = flat(c("TEPAL.INFO", "f", "FULL"))
            t.equal("%s: info tells the kind" % kind, info["kind"].decode(), kind.split()[0])
            t.check("%s: full tells more" % kind, set(info) < set(full) and "fp_now" in full)
            t.equal("%s: seed" % kind, info["seed"], 7)
            if kind not in ("chain", "recycling"):
                t.equal("%s: card" % kind, c("TEPAL.CARD", "f"), 1000)


def test_remove(t):
    with Server(MODULE) as s:
        c = s.client()
        for kind, (_, can) in KINDS.items():
            reserve(c, "f", kind)
            c("TEPAL.ADD", "f", "a")
            c("TEPAL.ADD", "f", "b")
            if "remove" not in can:
                t.error("%s: cannot remove" % kind, c, "UNSUPPORTED", "TEPAL.REM", "f", "a")
                t.equal("%s: a is there" % kind, c("TEPAL.EXISTS", "f", "a"), 1)
                continue
            t.equal("%s: removes" % kind, c("TEPAL.REM", "f", "a"), 1)
            t.equal("%s: a is gone" % kind, c("TEPAL.EXISTS", "f", "a"), 0)
            t.equal("%s: b is there" % kind, c("TEPAL.EXISTS", "f", "b"), 1)
            t.equal("%s: no second time" % kind, c("TEPAL.REM", "f", "a"), 0)
            t.equal("%s: many" % kind, c("TEPAL.MREM", "f", "a", "b"), [0, 1])
            t.equal("%s: card" % kind, c("TEPAL.CARD", "f"), 0)
        t.error("absent key", c, "ERR", "TEPAL.REM", "nothing", "x")


def test_receipts(t):
    with Server(MODULE) as s, tempfile.TemporaryDirectory() as d:
        c = s.client()
        path = os.path.join(d, "f.tepal")
        subprocess.run([COMMAND, "build", "-o", path, "--kind", "counting", "--choices", "4",
                        "--capacity", "1000", "--cells", "16000", "--hashes", "7", "--seed", "1", "-q"],
                       input=b"", check=True)
        with open(path, "rb") as f:
            c("TEPAL.SET", "f", f.read())
        items = ["i%d" % i for i in range(300)]
        receipts = c("TEPAL.MADD", "f", *items, "RECEIPT")
        t.check("receipts are groups", set(receipts) == {0, 1, 2, 3}, set(receipts))
        one = c("TEPAL.ADD", "f", "one", "RECEIPT")
        t.equal("removed by receipt", c("TEPAL.REM", "f", "one", "RECEIPT", one), 1)
        gone = [c("TEPAL.REM", "f", i, "RECEIPT", r) for i, r in zip(items, receipts)]
        t.equal("all are removed", sum(gone), 300)
        t.equal("the filter is empty", flat(c("TEPAL.INFO", "f", "FULL"))["ones"], 0)
        t.error("a receipt of nowhere", c, "ERR", "TEPAL.REM", "f", "x", "RECEIPT", 64)
        reserve(c, "b", "bloom")
        t.error("no receipts of a Bloom filter", c, "UNSUPPORTED", "TEPAL.ADD", "b", "x", "RECEIPT")
        t.equal("an item of that name", c("TEPAL.MADD", "b", "RECEIPT", "NORECEIPT"), [1])
        t.equal("is there", c("TEPAL.EXISTS", "b", "receipt"), 0)
        t.equal("is there", c("TEPAL.EXISTS", "b", "RECEIPT"), 1)


def test_seen(t):
    with Server(MODULE) as s:
        c = s.client()
        reserve(c, "f", "recycling")
        t.equal("first", c("TEPAL.SEEN", "f", "a"), 0)
        t.equal("second", c("TEPAL.SEEN", "f", "a"), 1)
        t.equal("many", c("TEPAL.MSEEN", "f", "b", "a", "b"), [0, 1, 1])
        c("TEPAL.RESERVE", "w", "KEYS", 1000, "FP", "0.01", "WINDOW", 60)
        t.equal("at 1000", c("TEPAL.SEEN", "w", "a", "NOW", 1000), 0)
        t.equal("59 s later", c("TEPAL.SEEN", "w", "a", "NOW", 1059), 1)
        t.equal("a minute of silence", c("TEPAL.MSEEN", "w", "a", "b", "NOW", 1119), [1, 0])
        t.equal("two windows later", c("TEPAL.SEEN", "w", "a", "NOW", 1240), 0)
        t.error("back", c, "CLOCK", "TEPAL.SEEN", "w", "a", "NOW", 10)
        t.equal("the server's clock", c("TEPAL.SEEN", "w", "now"), 0)
        t.equal("the server's clock again", c("TEPAL.ADD", "w", "now"), 0)
        t.error("a clock for a filter without one", c, "UNSUPPORTED",
                "TEPAL.SEEN", reserve(c, "b", "bloom") and "b", "x", "NOW", 1)


def test_avoid(t):
    with Server(MODULE) as s:
        c = s.client()
        for words in (["KIND", "bloom"], ["KIND", "counting", "DELETES"]):
            c("DEL", "f")
            c("TEPAL.RESERVE", "f", "KEYS", 1000, "FP", "0.05", "FN", "0.02", "SEED", 3, *words)
            members = ["m%d" % i for i in range(1000)]
            c("TEPAL.MADD", "f", *members)
            strangers = ["s%d" % i for i in range(2000)]
            wrong = [x for x, y in zip(strangers, c("TEPAL.MEXISTS", "f", *strangers)) if y]
            t.check("there are false positives", len(wrong) > 20, len(wrong))
            done = flat(c("TEPAL.AVOID", "f", *wrong[:5]))
            t.equal("%s: five are avoided" % words[1], done["avoided"], 5)
            t.equal("%s: they are not found" % words[1],
                    c("TEPAL.MEXISTS", "f", *wrong[:5]), [0] * 5)
            for w in wrong[5:]:
                done = flat(c("TEPAL.AVOID", "f", w))
            lost = 1000 - sum(c("TEPAL.MEXISTS", "f", *members))
            t.check("%s: within the budget" % words[1], float(done["lost_all"]) <= 20, done)
            # A Bloom filter's losses are expectations, of at most 20.
            t.check("%s: members lost" % words[1],
                    lost <= (20 if words[1] == "counting" else 20 + 6 * 20 ** 0.5), lost)
            left = [x for x, y in zip(wrong, c("TEPAL.MEXISTS", "f", *wrong)) if y]
            before, generation = c("TEPAL.GET", "f"), c("TEPAL.GET", "f", 0, 1)[0]
            done = flat(c("TEPAL.AVOID", "f", left[0]))
            t.equal("%s: beyond it" % words[1], [done["avoided"], done["refused"]], [0, 1])
            t.equal("%s: nothing changed" % words[1],
                    [c("TEPAL.GET", "f"), c("TEPAL.GET", "f", 0, 1)[0]], [before, generation])
        reserve(c, "b", "bloom")
        t.error("no budget", c, "ERR", "TEPAL.AVOID", "b", "x")


def test_merge(t):
    with Server(MODULE) as s:
        c = s.client()
        for kind, (_, can) in KINDS.items():
            c("DEL", "d")
            for name in "ab":
                reserve(c, name, kind)
                c("TEPAL.MADD", name, *["%s%d" % (name, i) for i in range(400)])
            if "merge" not in can:
                t.error("%s: cannot merge" % kind, c, "UNSUPPORTED", "TEPAL.MERGE", "d", "a", "b")
                t.equal("%s: nothing was made" % kind, c("EXISTS", "d"), 0)
                continue
            rate = float(c("TEPAL.MERGE", "d", "a", "b"))
            # The parts of chains have room for the keys of one: united they are more crowded.
            t.check("%s: tells the rate" % kind, 0 < rate < (0.2 if kind == "chain" else 0.01), rate)
            every = ["%s%d" % (n, i) for n in "ab" for i in range(400)]
            t.equal("%s: both are there" % kind, sum(c("TEPAL.MEXISTS", "d", *every)), 800)
            t.equal("%s: the source stays" % kind, flat(c("TEPAL.INFO", "a"))["keys_added"], 400)
            c("TEPAL.MERGE", "a", "b")
            t.equal("%s: into a" % kind, sum(c("TEPAL.MEXISTS", "a", *every)), 800)
            if "intersect" in can:
                c("DEL", "i")
                c("TEPAL.INTERSECT", "i", "a", "b")
                t.equal("%s: the common ones" % kind,
                        sum(c("TEPAL.MEXISTS", "i", *every[400:])), 400)
                few = sum(c("TEPAL.MEXISTS", "i", *every[:400]))
                t.check("%s: and few others" % kind, few < 40, few)
        reserve(c, "x", "bloom", seed=8)
        reserve(c, "y", "bloom", seed=9)
        before = c("TEPAL.GET", "x")
        t.error("other parameters", c, "MISMATCH", "TEPAL.MERGE", "x", "x", "y")
        t.equal("nothing changed", c("TEPAL.GET", "x"), before)


def test_plan(t):
    with Server(MODULE) as s:
        c = s.client()
        plans = [flat(p) for p in c("TEPAL.PLAN", "KEYS", 1000000, "FP", "0.01")]
        t.check("the best first", plans[0]["feasible"] == 1 and float(plans[0]["fp"]) <= 0.01,
                plans[0])
        t.check("refusals have reasons", all(p["reason"] for p in plans))
        flatly = [p for p in plans if p["kind"] == b"bloom" and p.get("layout") == b"flat"][0]
        lines = [p for p in plans if p["kind"] == b"bloom" and p.get("layout") == b"blocked"][0]
        t.check("9.62 bits a key flat", float(flatly["bits_per_key"]) <= 9.62)
        t.check("9.95 bits a key blocked", float(lines["bits_per_key"]) <= 9.95)
        t.equal("touches no key", c("DBSIZE"), 0)
        for layout, plan in (("flat", flatly), ("blocked", lines)):
            c("TEPAL.RESERVE", layout, "KEYS", 1000000, "FP", "0.01", "KIND", "bloom",
              "LAYOUT", layout)
            usage = c("MEMORY", "USAGE", layout)
            t.check("%s: at most the next class" % layout, usage <= plan["bytes"] * 1.25 + 4096,
                    usage, plan["bytes"])
        t.error("a wish that no filter grants", c, "INFEASIBLE",
                "TEPAL.RESERVE", "x", "KEYS", 1000, "DELETES", "ENDLESS")
        t.error("a kind that is built from all keys", c, "INFEASIBLE",
                "TEPAL.RESERVE", "x", "KEYS", 1000, "KIND", "cascade")
        for kind in ("cascade", "yesno"):
            t.check("%s: how else" % kind, "tepal build" in c.fails(
                "TEPAL.RESERVE", "x", "KEYS", 1000, "FP", "0.01", "KIND", kind))
        for kind in ("growing", "chain"):  # which grow, whether that is said or not
            c("TEPAL.RESERVE", kind, "KEYS", 1000000, "FP", "0.01", "KIND", kind, "SEED", 1)
            c("TEPAL.RESERVE", "said", "KEYS", 1000000, "FP", "0.01", "KIND", kind, "SEED", 1, "GROW")
            t.equal("%s grows" % kind, c("TEPAL.GET", kind), c("TEPAL.GET", "said"))
            t.check("%s begins small" % kind, len(c("TEPAL.GET", kind)) < 10000)
            t.error("%s: how far" % kind, c, "ERR", "TEPAL.RESERVE", "x", "MEMORY", 1000, "KIND", kind)
            c("DEL", "said")
        for words in (["MEMORY", 5000], ["FP", "0.01", "MEMORY", 5000], ["FP", "0.02", "LAYOUT", "paired"],
                      ["FP", "0.02", "LAYOUT", "partitioned"], ["FN", "0.01", "FP", "0.01"]):
            c("DEL", "w")
            t.equal("%s" % words, c("TEPAL.RESERVE", "w", "KEYS", 1000, *words), "OK")
            info = flat(c("TEPAL.INFO", "w", "FULL"))
            if "MEMORY" in words:
                t.check("within the memory", int(info["bits"]) <= 40000 and len(
                    c("TEPAL.GET", "w")) >= (4000 if len(words) == 2 else 1000), info)
            if "LAYOUT" in words:
                t.equal("the layout", info["layout"], words[-1].encode())


def test_transfer(t):
    with Server(MODULE) as s, tempfile.TemporaryDirectory() as d:
        c = s.client()
        path = os.path.join(d, "f.tepal")
        keys = "".join("k%d\n" % i for i in range(20000)).encode()
        subprocess.run([COMMAND, "build", "-o", path, "--seed", "1", "-q"], input=keys, check=True)
        with open(path, "rb") as f:
            whole = f.read()
        t.equal("set", c("TEPAL.SET", "f", whole), "OK")
        t.equal("get", c("TEPAL.GET", "f"), whole)
        t.equal("found", sum(c("TEPAL.MEXISTS", "f", *keys.split())), 20000)
        t.equal("nx", c("TEPAL.SET", "f", whole, "NX"), None)
        t.equal("xx", c("TEPAL.SET", "g", whole, "XX"), None)
        t.equal("maxfp", c("TEPAL.SET", "g", whole, "MAXFP", "0.02"), "OK")
        t.error("too many", c, "REFUSED", "TEPAL.SET", "g", whole, "MAXFP", "0.001")
        for cut in (0, 1, 255, 256, len(whole) - 1):
            t.error("cut at %d" % cut, c, "REFUSED", "TEPAL.SET", "g", whole[:cut])
        t.error("too long", c, "REFUSED", "TEPAL.SET", "g", whole + b"x")
        c("EXPIRE", "g", 1000)
        c("TEPAL.SET", "g", whole)
        c("TEPAL.PART", "g", "id", 0, len(whole), whole)
        t.check("the time to live stays", 900 < c("TTL", "g") <= 1000)
        t.equal("nothing changed", c("TEPAL.GET", "g"), whole)
        t.equal("absent", c("TEPAL.GET", "nothing"), None)

        # By ranges.
        got, generation = b"", None
        while True:
            more = ["GENERATION", generation] if generation else []
            generation, total, piece = c("TEPAL.GET", "f", len(got), 5000, *more)
            got += piece
            if len(got) == total:
                break
        t.equal("by ranges", got, whole)
        c("TEPAL.ADD", "f", "new")
        t.error("it has changed", c, "CHANGED", "TEPAL.GET", "f", 0, 10, "GENERATION", generation)
        t.error("beyond", c, "ERR", "TEPAL.GET", "f", len(whole) + 1, 1)
        t.equal("at the end", c("TEPAL.GET", "f", len(whole), 1)[2], b"")

        # In parts, of every size; the old filter answers until the last.
        for size in (100, 256, 4097, len(whole)):
            for at in range(0, len(whole), size):
                t.equal("the old one", c("TEPAL.EXISTS", "f", "new"), 1)
                piece = whole[at:at + size]
                t.equal("part", c("TEPAL.PART", "f", "id", at, len(whole), piece), at + len(piece))
            t.equal("swapped at %d" % size, c("TEPAL.GET", "f"), whole)
            c("TEPAL.ADD", "f", "new")
        t.equal("parts to a new key", c("TEPAL.PART", "p", "a", 0, len(whole), whole[:1000]), 1000)
        t.error("not yet", c, "ARRIVING", "TEPAL.EXISTS", "p", "k1")
        t.error("another id", c, "NOPART", "TEPAL.PART", "p", "b", 1000, len(whole), whole[1000:])
        t.error("a gap", c, "OFFSET the next part begins at 1000",
                "TEPAL.PART", "p", "a", 2000, len(whole), whole[2000:])
        bad = bytearray(whole)
        bad[5000] ^= 1
        t.error("damaged", c, "REFUSED", "TEPAL.PART", "p", "a", 1000, len(whole), bytes(bad[1000:]))
        t.equal("the key is gone", c("EXISTS", "p"), 0)
        c("TEPAL.PART", "p", "a", 0, len(whole), whole[:1000])
        t.equal("cancelled", c("TEPAL.PART", "p", "a", "CANCEL"), 1)
        t.equal("the key is gone", c("EXISTS", "p"), 0)
        c("CONFIG", "SET", "tepal.part-timeout", 200)
        c("TEPAL.PART", "p", "a", 0, len(whole), whole[:1000])
        end = time.time() + 20
        while c("EXISTS", "p") and time.time() < end:
            time.sleep(0.1)
        t.equal("abandoned", c("EXISTS", "p"), 0)
        t.check("and counted", b"tepal_transfers_expired:1" in c("INFO", "tepal_filters"))
        parts_begun_often(t, c, whole)
        c("TEPAL.GET", "f")
        with open(os.path.join(d, "back.tepal"), "wb") as f:
            f.write(c("TEPAL.GET", "f"))
        out = subprocess.run([COMMAND, "query", "-c", os.path.join(d, "back.tepal")],
                             input=keys, capture_output=True, check=True)
        t.equal("the command reads it back", out.stdout.strip(), b"20000")


def used_memory(c):
    return int(c("INFO", "memory").split(b"used_memory:")[1].split()[0])


def parts_begun_often(t, c, whole):
    """A transfer that begins 20,000 times is watched once."""
    c("CONFIG", "SET", "tepal.part-timeout", 60000)
    c("TEPAL.PART", "p", "a", 0, len(whole), whole[:100])
    before = used_memory(c)
    for name in "ab":
        c.pipeline([["TEPAL.PART", "p", name, 0, len(whole), whole[:100]]] * 10000)
    end = time.time() + 20
    while used_memory(c) > before + 200000 and time.time() < end:  # 4 MB if all are kept
        time.sleep(0.1)
    t.check("begun often, watched once", used_memory(c) <= before + 200000, before, used_memory(c))


def test_paused(t):
    """While clients are paused nothing is written: abandoned parts are dropped after that."""
    with Server(MODULE, settings=[("appendonly", "yes"), ("tepal.part-timeout", "100")]) as s:
        c = s.client()
        c("CLIENT", "PAUSE", 60000, "WRITE")
        c("CLIENT", "UNPAUSE")
        c("TEPAL.PART", "p", "id", 0, 1000, "x" * 100)
        c("CLIENT", "PAUSE", 60000, "WRITE")
        time.sleep(0.5)
        t.equal("still there", [s.process.poll(), c("EXISTS", "p")], [None, 1])
        c("CLIENT", "UNPAUSE")
        end = time.time() + 20
        while c("EXISTS", "p") and time.time() < end:
            time.sleep(0.05)
        t.equal("dropped", c("EXISTS", "p"), 0)


def test_hostile_words(t):
    """Wrong arity, types, numbers, items: a clear error, nothing changed."""
    with Server(MODULE) as s:
        c = s.client()
        reserve(c, "f", "counting")
        c("TEPAL.MADD", "f", "", "\0", b"\xff\xfe", "a" * 100000)
        t.equal("any bytes are an item",
                c("TEPAL.MEXISTS", "f", "", "\0", b"\xff\xfe", "a" * 100000), [1] * 4)
        c("SET", "string", "x")
        before = c("DEBUG", "DIGEST")
        names = ["RESERVE", "PLAN", "ADD", "MADD", "EXISTS", "MEXISTS", "REM", "MREM", "SEEN",
                 "MSEEN", "AVOID", "MERGE", "INTERSECT", "SET", "GET", "PART", "INFO", "CARD",
                 "VERIFY"]
        for name in names:
            t.error("%s alone" % name, c, "ERR wrong number", "TEPAL." + name)
            if name in ("PLAN",):
                continue
            words = {"RESERVE": ["KEYS", 10, "FP", "0.1"], "SET": ["x"], "GET": [],
                     "PART": ["id", 0, 10, "x"], "INFO": [], "CARD": [], "VERIFY": [],
                     "MERGE": ["f"], "INTERSECT": ["f"]}.get(name, ["item"])
            t.error("%s of a string" % name, c, "WRONGTYPE", "TEPAL." + name, "string", *words)
        numbers = ["-1", "0", "1e6", "18446744073709551616", "99999999999999999999999", "", "1 ",
                   "0x10", "nan", "inf", "1\0"]
        for n in numbers:
            t.error("KEYS %r" % n, c, "ERR", "TEPAL.RESERVE", "x", "KEYS", n, "FP", "0.01")
            if n not in ("0",):
                t.error("SEED %r" % n, c, "ERR", "TEPAL.RESERVE", "x", "KEYS", 10, "SEED", n)
            t.error("GET %r" % n, c, "ERR", "TEPAL.GET", "f", n, "x")
            t.error("PART %r" % n, c, "ERR", "TEPAL.PART", "f", "id", n, "0", "x")
        for rate in ("0", "1", "-0.5", "2", "x", "", "nan", "1e-400", "0.5x"):
            t.error("FP %r" % rate, c, "ERR", "TEPAL.RESERVE", "x", "KEYS", 10, "FP", rate)
            t.error("FN %r" % rate, c, "ERR", "TEPAL.RESERVE", "x", "KEYS", 10, "FN", rate)
        for keys in (1 << 50, (1 << 64) - 1):
            got = c.fails("TEPAL.RESERVE", "x", "KEYS", keys, "FP", "0.001")
            t.check("%d keys are refused" % keys, got and got.split()[0] in ("OOM", "ERR",
                                                                            "INFEASIBLE"), got)
        t.error("128 GiB", c, "OOM", "TEPAL.RESERVE", "x", "KEYS", 100000000000, "FP", "0.01")
        t.error("exists already", c, "ERR", "TEPAL.RESERVE", "f", "KEYS", 10)
        t.error("unknown", c, "ERR", "TEPAL.RESERVE", "x", "KEYS", 10, "COLOUR", "red")
        t.error("no value", c, "ERR", "TEPAL.RESERVE", "x", "KEYS", 10, "FP")
        t.error("params", c, "ERR", "TEPAL.RESERVE", "x", "PARAMS", 1, 2, 3)
        t.error("params of nothing", c, "ERR", "TEPAL.RESERVE", "x", "PARAMS", *[0] * 23)
        t.equal("nothing changed", c("DEBUG", "DIGEST"), before)
        t.equal("two keys", c("DBSIZE"), 2)
        t.equal("an absent filter has nothing", c("TEPAL.EXISTS", "none", "x"), 0)
        t.equal("nor many", c("TEPAL.MEXISTS", "none", "x", "y"), [0, 0])
        t.equal("nor any", c("TEPAL.CARD", "none"), 0)
        t.error("and takes nothing", c, "ERR", "TEPAL.ADD", "none", "x")


def test_protocol_3(t):
    with Server(MODULE) as s:
        c = s.client(protocol=3)
        reserve(c, "f", "bloom")
        t.check("booleans", c("TEPAL.ADD", "f", "a") is True)
        t.check("booleans", c("TEPAL.ADD", "f", "a") is False)
        t.check("booleans", c("TEPAL.MEXISTS", "f", "a", "b") == [True, False])
        t.check("maps", isinstance(c("TEPAL.INFO", "f"), dict))


# Arity, whether it writes, whether it is fast, and its keys: the first, the last, the step.
ONE, ALL, NONE = [1, 1, 1], [1, -1, 1], [0, 0, 0]
COMMANDS = {
    "TEPAL.RESERVE": (-4, True, False, ONE), "TEPAL.PLAN": (-3, False, False, NONE),
    "TEPAL.ADD": (-3, True, True, ONE), "TEPAL.MADD": (-3, True, False, ONE),
    "TEPAL.EXISTS": (3, False, True, ONE), "TEPAL.MEXISTS": (-3, False, True, ONE),
    "TEPAL.REM": (-3, True, True, ONE), "TEPAL.MREM": (-3, True, False, ONE),
    "TEPAL.SEEN": (-3, True, True, ONE), "TEPAL.MSEEN": (-3, True, False, ONE),
    "TEPAL.AVOID": (-3, True, False, ONE), "TEPAL.MERGE": (-3, True, False, ALL),
    "TEPAL.INTERSECT": (-3, True, False, ALL), "TEPAL.SET": (-3, True, False, ONE),
    "TEPAL.GET": (-2, False, False, ONE), "TEPAL.PART": (-4, True, False, ONE),
    "TEPAL.INFO": (-2, False, False, ONE), "TEPAL.CARD": (2, False, False, ONE),
    "TEPAL.VERIFY": (2, False, False, ONE), "TEPAL.KINDS": (1, False, True, NONE),
    "BF.RESERVE": (-4, True, False, ONE), "BF.ADD": (3, True, True, ONE),
    "BF.MADD": (-3, True, False, ONE), "BF.INSERT": (-4, True, False, ONE),
    "BF.EXISTS": (3, False, True, ONE), "BF.MEXISTS": (-3, False, True, ONE),
    "BF.INFO": (-2, False, False, ONE), "BF.CARD": (2, False, True, ONE),
    "BF.SCANDUMP": (3, False, False, ONE), "BF.LOADCHUNK": (4, True, False, ONE),
    "BF.DEBUG": (2, False, False, ONE), "CF.RESERVE": (-3, True, False, ONE),
    "CF.ADD": (3, True, True, ONE), "CF.ADDNX": (3, True, True, ONE),
    "CF.INSERT": (-4, True, False, ONE), "CF.INSERTNX": (-4, True, False, ONE),
    "CF.EXISTS": (3, False, True, ONE), "CF.MEXISTS": (-3, False, True, ONE),
    "CF.DEL": (3, True, True, ONE), "CF.COUNT": (3, False, True, ONE),
    "CF.INFO": (2, False, False, ONE), "CF.SCANDUMP": (3, False, False, ONE),
    "CF.LOADCHUNK": (4, True, False, ONE), "CF.DEBUG": (2, False, False, ONE),
    "CF.COMPACT": (2, False, False, ONE),
}


def test_what_servers_are_told(t):
    """Of every command: arity, flags, keys, categories where the server has them, documentation."""
    with Server(MODULE, arguments=["compat", "yes"]) as s:
        c = s.client(protocol=3)
        old = s.client()("INFO", "server").find(b"redis_version:7.0") >= 0
        listed = [name.decode() for name in c("COMMAND", "LIST", "FILTERBY", "MODULE", "tepal")]
        t.equal("all commands, in small letters", sorted(listed), sorted(map(str.lower, COMMANDS)))
        for name, (arity, writes, fast, keys) in COMMANDS.items():
            info = c("COMMAND", "INFO", name)[0]
            flags = {str(flag) for flag in info[2]}
            t.equal(name + ": arity and keys", [info[1], info[3:6]], [arity, keys])
            t.equal(name + ": flags", flags - {"denyoom"},
                    {"module", "write" if writes else "readonly"} | ({"fast"} if fast else set()))
            # What removes needs no memory.
            t.equal(name + ": memory", "denyoom" in flags,
                    writes and name not in ("TEPAL.REM", "TEPAL.MREM", "CF.DEL"))
            t.equal(name + ": categories", {str(word) for word in info[6]}, set() if old else
                    {"@write" if writes else "@read", "@fast" if fast else "@slow"})
            spec = [{str(f) for f in flat(spec)["flags"]} for spec in info[8]]
            t.equal(name + ": key specs", len(spec), {"[0, 0, 0]": 0, "[1, 1, 1]": 1}.get(str(keys), 2))
            for i, words in enumerate(spec):
                t.check(name + ": what it does to the key", words & {"RW", "OW"} if
                        writes and i == 0 else "RO" in words, words)
            docs = flat(flat(c("COMMAND", "DOCS", name))[name.lower()])
            t.check(name + ": docs", docs["summary"] and docs["complexity"] and docs["since"] and
                    (name == "TEPAL.KINDS" or docs["arguments"]), docs)
        docs = flat(flat(c("COMMAND", "DOCS", "TEPAL.RESERVE"))["tepal.reserve"])["arguments"]
        t.equal("words of a wish", [flat(word).get("token") for word in docs[1:]],
                [word.encode() for word in "KEYS FP FN MEMORY KIND LAYOUT DELETES ENDLESS WINDOW "
                 "UNTRUSTED GROW KEYED KEYED13 SEED".split()])
        t.equal("keys", c("COMMAND", "GETKEYS", "TEPAL.MERGE", "a", "b", "c"), [b"a", b"b", b"c"])
        for name in "ab":
            reserve(c, name, "bloom")
        c("ACL", "SETUSER", "merger", "on", ">secret", "%RW~a", "%R~b", "+tepal.merge")
        d = s.client()
        d("AUTH", "merger", "secret")
        t.check("sources are read", float(d("TEPAL.MERGE", "a", "b")) >= 0)
        t.error("and not written", d, "NOPERM", "TEPAL.MERGE", "b", "a")
        # A user who may read alone, by the names of the commands or by category.
        c("ACL", "SETUSER", "reader", "on", ">secret", "~*", *(
            ["+tepal.exists"] if old else ["+@read"]))
        d = s.client()
        d("AUTH", "reader", "secret")
        t.equal("reads", d("TEPAL.EXISTS", "none", "x"), 0)
        t.error("and does not write", d, "NOPERM", "TEPAL.ADD", "none", "x")
    shown = subprocess.run(["nm", "-D", "--defined-only", MODULE], check=True,
                           stdout=subprocess.PIPE).stdout
    t.equal("the entry point is all that shows", [line.split()[-1] for line in shown.splitlines()],
            [b"RedisModule_OnLoad"])


def events_of(c):
    got = []
    c.socket.settimeout(0.3)
    try:
        while True:
            got.append(c.reply()[2:])
    except TimeoutError:
        pass
    return [b" ".join(map(bytes, reversed(e))) for e in got]


def test_events(t):
    with Server(MODULE, settings=[("notify-keyspace-events", "EA")]) as s:
        c, listener = s.client(), s.client()
        listener("PSUBSCRIBE", "__keyevent@0__:*")
        reserve(c, "f", "bloom")
        c("TEPAL.ADD", "f", "a")
        c("TEPAL.ADD", "f", "a")  # changes nothing
        c.fails("TEPAL.REM", "f", "a")
        c.fails("TEPAL.SET", "f", "garbage")
        c("TEPAL.PLAN", "KEYS", 1000, "FP", "0.01")
        c("TEPAL.KINDS")
        c("TEPAL.MEXISTS", "f", "a", "b")
        for word in ("INFO", "CARD", "VERIFY", "GET"):
            c("TEPAL." + word, "f")
        reserve(c, "d", "counting")
        c("TEPAL.REM", "d", "x")  # is not there
        c("TEPAL.ADD", "d", "x")
        c("TEPAL.REM", "d", "x")
        got = events_of(listener)
        want = [b"f tepal.reserve", b"f tepal.add", b"d tepal.reserve", b"d tepal.add",
                b"d tepal.rem"]
        t.equal("events", [b" ".join([e.split()[0], e.split(b":")[-1]]) for e in got], want)


def test_events_of_many(t):
    """Unions, intersections and transfers: events only of what changed a filter or took a key."""
    with Server(MODULE, settings=[("notify-keyspace-events", "EA")]) as s:
        c, listener = s.client(), s.client()
        listener("PSUBSCRIBE", "__keyevent@0__:*")
        for kind in ("bloom", "counting"):
            for name in "ab":
                reserve(c, name, kind)
            c("TEPAL.MADD", "a", 1, 2)
            c("TEPAL.ADD", "b", 1)
            events_of(listener)
            before = c("TEPAL.GET", "a", 0, 1)[0]
            for words in (["a", "a"], ["a", "a", "a"]):
                t.check("the rate", 0 < float(c("TEPAL.MERGE", *words)) < 0.01)
            t.equal("with itself: the same", c("TEPAL.GET", "a", 0, 1)[0], before)
            c("TEPAL.MERGE", "a", "a", "b")  # a Bloom filter has that key already
            t.check("another: perhaps not", c("TEPAL.GET", "a", 0, 1)[0] > before)
            c("TEPAL.MERGE", "c", "a", "b")
            if kind == "bloom":
                c("TEPAL.INTERSECT", "a", "b")
                c("TEPAL.INTERSECT", "a", "b")
                c("TEPAL.INTERSECT", "a", "a", "b")
            c("DEL", "c")
            t.equal("%s: events" % kind, [e.split(b":")[-1] for e in events_of(listener)],
                    [b"tepal.merge", b"tepal.intersect", b"del"] if kind == "bloom" else
                    [b"tepal.merge", b"tepal.merge", b"del"])
        whole = c("TEPAL.GET", "a")
        c("TEPAL.PART", "p", "id", 0, len(whole), whole[:300])
        c("TEPAL.PART", "p", "id", "CANCEL")
        c("TEPAL.PART", "p", "id", 0, len(whole), whole[:300])
        c.fails("TEPAL.PART", "p", "id", 300, len(whole), b"x" * (len(whole) - 300))
        c("TEPAL.PART", "a", "id", 0, len(whole), whole[:300])
        c("TEPAL.PART", "a", "id", "CANCEL")  # it has a filter, and stays
        c("CONFIG", "SET", "tepal.part-timeout", 100)
        c("TEPAL.PART", "p", "id", 0, len(whole), whole[:300])
        end = time.time() + 20
        while c("EXISTS", "p") and time.time() < end:
            time.sleep(0.05)
        t.equal("keys that were arriving are gone", events_of(listener),
                [b"p __keyevent@0__:del"] * 3)


TESTS = [v for k, v in list(globals().items()) if k.startswith("test_")]

if __name__ == "__main__":
    Tests().run(TESTS)
