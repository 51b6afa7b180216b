#!/usr/bin/python3
"""BF.* and CF.* through the clients that people use: python3-redis, hiredis, and from npm node-redis
(RESP2 and RESP3) and ioredis, at the versions that clients/package-lock.json pins.
Usage: clients.py MODULE COMMAND HIREDIS FOLDER [test_NAME ...]; FOLDER is for the packages."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from compat import server  # noqa: E402
from server import Tests  # noqa: E402

HIREDIS, FOLDER = sys.argv[3:5]
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")


def counted(t, what, words, **more):
    """A program that ends with `N passed, M failed`."""
    ran = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         timeout=60, check=False, **more)
    end = ran.stdout.strip().split("\n")[-1].split()
    if t.check(what, len(end) == 4 and end[1] == "passed," and end[3] == "failed", ran.stdout):
        t.passed += int(end[0])
        t.failed += int(end[2])
        t.check(what, (ran.returncode == 0) == (end[2] == "0"), ran.returncode)
        if ran.returncode != 0:
            print(ran.stdout)


def test_python(t):
    """python3-redis knows the commands and reads their answers."""
    import redis
    with server() as s:
        r = redis.Redis(port=s.port)
        b, c = r.bf(), r.cf()
        t.equal("bf", [b.create("b", 0.01, 1000), b.add("b", "x"), b.madd("b", "x", "y"),
                       b.exists("b", "y"), b.mexists("b", "x", "z")], [True, 1, [0, 1], 1, [1, 0]])
        info = b.info("b")
        t.equal("bf info", [info.capacity, info.filterNum, info.insertedNum, info.expansionRate],
                [1000, 1, 2, 2])
        b.create("n", 0.01, 3, noScale=True)
        b.madd("n", 1, 2, 3)
        try:
            b.add("n", 4)
            t.check("full", False)
        except redis.ResponseError as problem:
            t.equal("full", str(problem), "non scaling filter is full")
        at, chunks = 0, []
        while True:
            at, data = b.scandump("b", at)
            if at == 0:
                break
            chunks.append((at, data))
        r.delete("b")
        for at, data in chunks:
            b.loadchunk("b", at, data)
        t.equal("dumped and loaded", b.mexists("b", "x", "y", "z"), [1, 1, 0])
        t.equal("cf", [c.create("c", 1000), c.add("c", "x"), c.addnx("c", "x"), c.count("c", "x"),
                       c.insert("c", ["x", "y"]), c.insertnx("c", ["y", "z"]), c.delete("c", "x"),
                       c.exists("c", "y")], [True, 1, 0, 1, [1, 1], [0, 1], 1, 1])
        info = c.info("c")
        t.equal("cf info", [info.insertedNum, info.deletedNum, info.bucketSize, info.filterNum],
                [3, 1, 2, 1])


def test_hiredis(t):
    with server() as s:
        counted(t, "hiredis", [HIREDIS, str(s.port)])


def packages():
    """Installs what is pinned; why not, or None."""
    if not shutil.which("npm") or not shutil.which("node"):
        return "node and npm are not installed"
    os.makedirs(FOLDER, exist_ok=True)
    wanted = open(os.path.join(HERE, "package-lock.json")).read()
    done = os.path.join(FOLDER, "installed")
    if os.path.exists(done) and open(done).read() == wanted:
        return None
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(HERE, name), FOLDER)
    try:
        ran = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=FOLDER,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return "npm took longer than a minute"
    if ran.returncode != 0:
        return "npm says: " + ran.stdout[-300:]
    with open(done, "w") as f:
        f.write(wanted)
    return None


def test_node(t):
    missing = packages()
    if missing:
        print("NOT TESTED: node-redis and ioredis cannot be had here. %s" % missing, flush=True)
        return
    with server() as s:
        counted(t, "node", ["node", os.path.join(HERE, "clients.js"), str(s.port)], cwd=FOLDER)


TESTS = [v for k, v in list(globals().items()) if k.startswith("test_")]

if __name__ == "__main__":
    Tests().run(TESTS)
