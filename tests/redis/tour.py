#!/usr/bin/python3
"""The tour of docs/redis.md: every command as it is typed there, on a real server.
Usage: tour.py MODULE COMMAND"""

import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
from server import Server, Tests  # noqa: E402

MODULE = os.path.abspath(sys.argv[1])
COMMAND = os.path.abspath(sys.argv[2])
GUIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "redis.md")


def test_tour(t):
    with open(GUIDE, encoding="utf-8") as f:
        text = f.read()
    blocks = re.findall(r"```redis\n(.*?)```", text, re.S)
    t.check("there is a tour", len(blocks) >= 5, len(blocks))
    with Server(MODULE, arguments=["compat", "yes"]) as s:
        for block in blocks:
            for step in re.split(r"^> ", block, flags=re.M)[1:]:
                command, _, want = step.partition("\n")
                got = subprocess.run(["redis-cli", "--no-raw", "-p", str(s.port)] +
                                     shlex.split(command), capture_output=True, check=False,
                                     text=True, timeout=60).stdout
                t.equal(command, got.strip(), want.strip())


def test_install(t):
    """What `make install-redis` puts into a folder loads from there."""
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run(["cmake", "--install", os.path.dirname(MODULE), "--prefix", prefix,
                        "--component", "redis"], stdout=subprocess.DEVNULL, check=True, timeout=60)
        found = [os.path.join(folder, name) for folder, _, names in os.walk(prefix)
                 for name in names]
        t.equal("one file", [os.path.relpath(path, prefix).split(os.sep)[-3:] for path in found],
                [["redis", "modules", "tepal-redis.so"]])
        with Server(found[0]) as s:
            t.equal("it answers", s.client()("TEPAL.EXISTS", "nothing", "a"), 0)


def test_demo(t):
    demo = os.path.join(os.path.dirname(GUIDE), "..", "servers", "redis", "demo")
    ran = subprocess.run([demo, MODULE, COMMAND], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         check=False, text=True, timeout=60)
    t.equal("it ends well", ran.returncode, 0)
    t.equal("ten commands", ran.stdout.count("\n> ") + 1, 10)
    t.check("and push, ask, pull", "{offline:3}: bloom" in ran.stdout and
            "$ tepal ask asked\nkey-7\nkey-99999\n$ tepal pull" in ran.stdout, ran.stdout[-500:])


def test_sizing(t):
    """The plan for many nodes, as it is printed there; and against a draw."""
    with open(GUIDE, encoding="utf-8") as f:
        want = re.search(r"```\n\$ tepal (plan .*?)\n(.*?)```", f.read(), re.S)
    words = [COMMAND] + want.group(1).split()
    got = subprocess.run(words, capture_output=True, check=True, text=True, timeout=60).stdout
    t.check("as in the guide", len(want.group(2)) > 200 and want.group(2) in got, got)
    draw = random.Random(4)
    for keys, nodes in ((10 ** 12, 1000), (10 ** 9, 3), (10 ** 11, 20), (5, 1), (10 ** 13, 6)):
        plan = json.loads(subprocess.run(
            [COMMAND, "plan", "--keys", str(keys), "--fp", "1%", "--cluster", str(nodes), "--json"],
            capture_output=True, check=True, text=True, timeout=60).stdout)
        c = plan["cluster"]
        parts = c["parts"]
        mean = keys / parts
        t.check("a power of two, enough for the nodes, and small", parts & (parts - 1) == 0 and
                parts >= 16 * nodes and c["part_bytes"] <= 1 << 27, c)
        t.check("no more than that", parts == 1 or parts / 2 < 16 * nodes or
                2 * c["part_bytes"] > 0.99 * (1 << 27), c)
        t.check("room for six deviations", abs(c["part_reserve"] - mean - 6 * mean ** 0.5) <= 1, c)
        t.check("bits", c["part_bytes"] * 8 >= c["part_reserve"] * plan["plans"][0]["bits_per_key"]
                * 0.98, c)
        fullest = []
        for _ in range(15 if parts > 20000 else 101):
            held = [0] * nodes
            for _ in range(parts):
                held[draw.randrange(nodes)] += 1
            fullest.append(max(held))
        fullest.sort()
        # The median of 101 lies within their middle 62 % with a probability of 1 - 2e-10 or so; of
        # the 15 between the first and the last with 1 - 6e-5, and a deviation is added.
        less, more = (fullest[19], fullest[-20]) if len(fullest) > 15 else (
            fullest[0] - (parts / nodes) ** 0.5, fullest[-1] + (parts / nodes) ** 0.5)
        t.check("the fullest node", less <= c["fullest_parts"] <= more, c, fullest)
        t.equal("evened", c["evened_parts"], -(-parts // nodes))


if __name__ == "__main__":
    Tests().run([test_tour, test_install, test_demo, test_sizing])
