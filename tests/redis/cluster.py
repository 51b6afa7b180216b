#!/usr/bin/python3
"""A cluster of three masters and three replicas: parts, slots that move, masters that die.
Usage: cluster.py MODULE COMMAND [--full] [test_NAME ...]"""

import os
import random
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(__file__))
from server import Client, Error, Server, Tests, free_port  # noqa: E402
from push import Folder  # noqa: E402

MODULE = os.path.abspath(sys.argv[1])
FULL = "--full" in sys.argv
PARTS = 16


class Cluster:
    """Nodes on loopback; `call` follows MOVED and ASK, as a client does."""

    def __init__(self):
        self.nodes, self.clients = [], {}
        for _ in range(6):
            self.nodes.append(Server(MODULE, port=free_port(), settings=[
                ("cluster-enabled", "yes"), ("cluster-port", str(free_port())),
                ("cluster-node-timeout", "1500"), ("cluster-replica-validity-factor", "0"),
                ("cluster-config-file", "nodes.conf"), ("appendonly", "yes"),
                ("appendfsync", "always"), ("repl-diskless-sync-delay", "0")]))
        made = subprocess.run(
            ["redis-cli", "--cluster", "create"] + ["127.0.0.1:%d" % n.port for n in self.nodes] +
            ["--cluster-replicas", "1", "--cluster-yes"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        assert made.returncode == 0, made.stdout
        self.until(lambda: all(b"cluster_state:ok" in self.at(n.port)("CLUSTER", "INFO")
                               for n in self.nodes), "the cluster is up")
        self.until(self.synced, "replicas are in sync")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.__exit__()

    def until(self, holds, what, seconds=40):
        end = time.time() + seconds
        while time.time() < end:
            try:
                if holds():
                    return
            except (OSError, Error, ValueError, KeyError):
                self.clients = {}
            time.sleep(0.05)
        raise TimeoutError("never: " + what)

    def at(self, port):
        if port not in self.clients:
            self.clients[port] = Client(port, timeout=5)
        return self.clients[port]

    def masters(self):
        """Slots of each master, by port."""
        out = {}
        for node in self.nodes:
            if node.process.poll() is not None:
                continue
            out = {}
            for first, last, master, *_ in self.at(node.port)("CLUSTER", "SLOTS"):
                out.setdefault(master[1], []).append((first, last))
            return out
        return out

    def synced(self):
        """Every master has a replica that follows it."""
        for port in self.masters():
            info = self.at(port)("INFO", "replication").decode()
            if "role:master" not in info or "state=online" not in info:
                return False
        return len(self.masters()) == 3

    def agreed(self, slot):
        """Do all masters say the same of the slot, and know of each other's latest epoch? After a
        move that takes a moment, and a move before it can leave them divided for good."""
        says = {next(entry[2][1] for entry in self.at(port)("CLUSTER", "SLOTS")
                     if entry[0] <= slot <= entry[1]) for port in self.masters()}
        epochs = {line for port in self.masters()
                  for line in self.at(port)("CLUSTER", "INFO").split()
                  if line.startswith(b"cluster_current_epoch")}
        return len(epochs) == 1 and says == {self.owner(slot)}

    def owner(self, slot):
        return next(port for port, ranges in self.masters().items()
                    for first, last in ranges if first <= slot <= last)

    def move(self, slot, to):
        """The slot and its keys, as redis-cli --cluster reshard moves them."""
        self.until(lambda: self.agreed(slot), "all agree on the slot")
        source = self.owner(slot)
        if source == to:
            return
        here, there = self.at(source), self.at(to)
        here_id, there_id = here("CLUSTER", "MYID"), there("CLUSTER", "MYID")
        there("CLUSTER", "SETSLOT", slot, "IMPORTING", here_id)
        here("CLUSTER", "SETSLOT", slot, "MIGRATING", there_id)
        while True:
            keys = here("CLUSTER", "GETKEYSINSLOT", slot, 10)
            if not keys:
                break
            here("MIGRATE", "127.0.0.1", to, "", 0, 5000, "KEYS", *keys)
        others = [self.at(port) for port in self.masters() if port not in (source, to)]
        for node in [there, here] + others:
            node("CLUSTER", "SETSLOT", slot, "NODE", there_id)


def fill(t, f, c, name="big", count=40000):
    """Split, built, pushed; the members and strangers, and which of these the filters find."""
    members = ["m%d" % i for i in range(count)]
    f.write("members", "\n".join(members) + "\n")
    f.write("strangers", "".join("s%d\n" % i for i in range(count)))
    t.equal("split", f.run("split", "members", "--parts", str(PARTS), "-o", "part", "-q"), (0, ""))
    t.equal("split of strangers", f.run("split", "strangers", "--parts", str(PARTS), "-o", "other",
                                        "-q"), (0, ""))
    found = set()
    files = []
    for i in range(PARTS):
        n = "%02d" % i
        files.append(n + ".tepal")
        code, said = f.run("build", "part." + n, "-o", files[-1], "--fp", "1%", "--layout",
                           "blocked", "--seed", str(100 + i), "-q")
        t.check("part %d is built" % i, code == 0, said)
        found |= set(f.run("query", files[-1], "other." + n)[1].split())
    to = ["--server", "127.0.0.1:%d" % c.nodes[0].port, "--key", name, "--parts", str(PARTS)]
    t.equal("push", f.run("push", *files, *to, "-q"), (0, ""))
    return to, files, found


def test_parts(t, cluster):
    with Folder() as f:
        to, files, found = fill(t, f, cluster)
        held = [cluster.at(port)("DBSIZE") for port in cluster.masters()]
        # 16 parts on three masters: one is empty with a probability of 3 (2/3)^16 = 0.5 %, but the
        # names and so the slots are fixed.
        t.check("the parts are spread", sum(held) == PARTS + 1 and min(held) >= 2, held)
        to = to[:-2]  # the number of parts is stored beside them
        code, said = f.run("ask", "members", *to, "-c")
        t.equal("every member is found", (code, said), (0, "40000\n"))
        code, said = f.run("ask", "strangers", *to)
        t.equal("strangers: as the filters say, in order", said.split(), sorted(
            found, key=lambda s: int(s[1:])))
        # 1 % of 40,000 is 400, with a deviation of 20 and a little more for the parts' own.
        t.check("the rate of the whole is that of the parts", 240 < len(found) < 560, len(found))
        t.equal("pull", f.run("pull", *to, "-o", "back", "-q"), (0, ""))
        t.check("byte for byte", all(f.bytes("back.%02d" % i) == f.bytes(files[i])
                                     for i in range(PARTS)))
        f.write("new", "".join("n%d\n" % i for i in range(1000)))
        t.equal("add", f.run("ask", "--add", "new", *to, "-q"), (0, ""))
        t.equal("they are found", f.run("ask", "new", *to, "-c"), (0, "1000\n"))
        t.equal("all of them, each in one part", sum(
            cluster.at(cluster.owner(cluster.at(cluster.nodes[0].port)(
                "CLUSTER", "KEYSLOT", "{big:%d}" % i)))("TEPAL.CARD", "{big:%d}" % i)
            for i in range(PARTS)), 41000)


def test_slots_that_move(t, cluster):
    """Lookups while the slots of all parts go from master to master: no wrong answer. In full 10^6
    lookups of members and as many of strangers."""
    rng = random.Random(5)
    queries = 10 ** 6 if FULL else 200000
    with Folder() as f:
        to, _, found = fill(t, f, cluster, "moving")
        slots = [cluster.at(cluster.nodes[0].port)("CLUSTER", "KEYSLOT", "{moving:%d}" % i)
                 for i in range(PARTS)]
        f.write("many", "".join("m%d\n" % (i % 40000) for i in range(queries)))
        f.write("others", "".join("s%d\n" % (i % 40000) for i in range(queries)))
        moves = 0
        while moves < (60 if FULL else 6):
            told = []
            threads = [threading.Thread(target=lambda words=words: told.append(f.run(*words)))
                       for words in (["ask", "many", *to, "-c"], ["ask", "others", *to])]
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                cluster.move(rng.choice(slots), rng.choice(list(cluster.masters())))
                moves += 1
            told.sort(key=lambda answer: len(answer[1]))
            t.equal("every member is found", told[0], (0, "%d\n" % queries))
            got = told[1][1].split()
            t.check("strangers: as before", set(got) == found and
                    len(got) == len(found) * queries // 40000, len(got), told[1][1][-200:])
        t.check("slots were moved", moves >= (60 if FULL else 6), moves)
        if "--times" in sys.argv:
            print("%d moves" % moves)


def add_until(cluster, key, name, stop, acked, errors):
    """Adds one item after the other; those that a replica has, too, are acknowledged."""
    n = 0
    client, port = None, None
    while not stop.is_set():
        item = "%s-%d" % (name, n)
        try:
            if client is None:
                ports = [port] if port else [x.port for x in cluster.nodes
                                             if x.process.poll() is None]
                client = Client(random.choice(ports), timeout=3)
            client("TEPAL.ADD", key, item)
            if client("WAIT", 1, 1000) >= 1:
                acked.append(item)
            n += 1
        except Error as e:
            words = str(e).split()
            port = int(words[2].rsplit(":", 1)[1]) if words[0] == "MOVED" else None
            if words[0] not in ("MOVED", "CLUSTERDOWN", "LOADING", "READONLY"):
                errors.append(str(e))
            client = None
        except (OSError, ValueError, IndexError):
            client, port = None, None
            time.sleep(0.02)


def test_masters_that_die(t, cluster):
    """kill -9 of the master of a filter during additions; its replica takes over, and it returns
    as a replica. No addition that was acknowledged is lost. In full 20 kills."""
    key = "{dying}"
    slot = cluster.at(cluster.nodes[0].port)("CLUSTER", "KEYSLOT", key)
    cluster.at(cluster.owner(slot))("TEPAL.RESERVE", key, "KEYS", 10 ** 6, "FP", "0.0001", "SEED", 3)
    acked, errors, stop = [], [], threading.Event()
    writers = [threading.Thread(target=add_until, args=(cluster, key, "w%d" % i, stop, acked,
                                                        errors)) for i in range(2)]
    for writer in writers:
        writer.start()
    try:
        for i in range(20 if FULL else 1):
            cluster.until(cluster.synced, "replicas are in sync")
            before = len(acked)
            cluster.until(lambda: len(acked) > before + 50, "additions go on")
            port = cluster.owner(slot)
            node = next(n for n in cluster.nodes if n.port == port)
            node.kill()
            cluster.clients = {}
            cluster.until(lambda: cluster.owner(slot) != port, "failover")
            at = len(acked)
            node.start()
            cluster.until(lambda: len(acked) > at + 50, "additions are acknowledged again")
            t.check("kill %d: another master" % i, cluster.owner(slot) != port)
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    cluster.until(cluster.synced, "replicas are in sync")
    t.equal("no other errors", errors, [])
    master = cluster.at(cluster.owner(slot))
    lost = [item for at in range(0, len(acked), 1000)
            for item, found in zip(acked[at:at + 1000],
                                   master("TEPAL.MEXISTS", key, *acked[at:at + 1000])) if not found]
    t.check("acknowledged additions: none is lost", len(acked) > 100 and not lost, len(acked),
            lost[:5])
    t.equal("the filter is sound", master("TEPAL.VERIFY", key), "OK")


def main():
    with Cluster() as cluster:
        def bound(test):
            def run(t):
                return test(t, cluster)
            run.__name__ = test.__name__
            return run
        Tests().run([bound(test) for test in (test_parts, test_slots_that_move,
                                              test_masters_that_die)],
                    seconds=1500 if FULL else 110)


if __name__ == "__main__":
    main()
