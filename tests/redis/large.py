#!/usr/bin/python3
"""A large filter is saved, loaded and replicated in hardly more memory than its own.
Usage: large.py MODULE COMMAND [MEBIBYTES, 50 unless told]"""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(__file__))
from server import Server, Tests, flat  # noqa: E402

MODULE = os.path.abspath(sys.argv[1])
SIZE = (int(sys.argv[3]) if len(sys.argv) > 3 else 50) << 20
ABOVE = 3000000
LOADS = [("repl-diskless-load", "on-empty-db"), ("repl-timeout", "600")]


def memory(c, field):
    text = c("INFO", "memory").decode()
    return int([line for line in text.splitlines() if line.startswith(field + ":")][0].split(":")[1])


def replicate(master, replica):
    """From the first byte to the last; the most memory that the replica had."""
    d = replica.client(timeout=500)
    d("REPLICAOF", "127.0.0.1", master.port)
    end = time.time() + 400
    while time.time() < end:
        try:
            if b"master_link_status:up" in d("INFO", "replication"):
                break
        except Exception:  # pylint: disable=broad-except
            pass
        time.sleep(0.1)
    return d, memory(d, "used_memory_peak")


def keys(c, found=None):
    """Adds ten thousand keys, or counts how many are found."""
    answers = c("TEPAL.MEXISTS" if found else "TEPAL.MADD", "f", *range(10000))
    return sum(answers)


def test_large(t):
    with Server(MODULE, settings=[("rdbcompression", "no"), ("repl-diskless-sync-delay", "0"),
                                  ("client-output-buffer-limit", ["replica", "0", "0", "0"]),
                                  ("repl-timeout", "600")]) as m:
        c = m.client(timeout=500)
        base = memory(c, "used_memory")
        with Server(MODULE, settings=LOADS) as r:
            link = replicate(m, r)[1]  # what a replica of an empty server takes
        shown = {"link": link - base}
        c("TEPAL.RESERVE", "f", "KEYS", SIZE * 8 // 10, "MEMORY", SIZE, "KIND", "bloom",
          "LAYOUT", "blocked", "SEED", 1)
        keys(c)
        takes = c("MEMORY", "USAGE", "f")
        t.check("as large as asked", takes >= SIZE * 0.95, takes)
        bytes_now = flat(c("TEPAL.INFO", "f"))["memory"]
        t.check("no more than the next size class", bytes_now <= SIZE * 1.25)
        before = c("DEBUG", "DIGEST-VALUE", "f")
        c("CONFIG", "RESETSTAT")
        c("SAVE")
        peak = memory(c, "used_memory_peak")
        shown["saved"] = peak - base - takes
        t.check("saved in little more", shown["saved"] <= ABOVE, peak, base, takes)
        with Server(MODULE, settings=LOADS) as r:
            d, peak = replicate(m, r)
            t.equal("replicated", d("DEBUG", "DIGEST-VALUE", "f"), before)
            t.equal("and found there", keys(d, True), 10000)
            over = peak - link - d("MEMORY", "USAGE", "f")
            t.check("replicated in little more", over <= ABOVE, over)
            shown["replicated"] = over
        m.stop()
        m.start(wait=False)
        m.ready(seconds=400)
        c = m.client(timeout=500)
        over = memory(c, "used_memory_peak") - base - c("MEMORY", "USAGE", "f")
        shown["loaded"] = over
        t.check("loaded in little more", over <= ABOVE, over)
        t.equal("the same", c("DEBUG", "DIGEST-VALUE", "f"), before)
        t.equal("and found", keys(c, True), 10000)
        print("bytes above the filter's:", shown)


if __name__ == "__main__":
    Tests().run([test_large], seconds=900)
