#!/usr/bin/env python3
"""Every pair of commands that may write one file, at the same time: nothing is lost, or it is refused.

Usage: pairs.py TEPAL [ROUNDS]

The first command waits in the middle of its work for keys that come through a pipe; the second one
starts meanwhile. The file must be what the two give one after the other, in that order, and their
exit statuses the same; only dedup refuses instead of waiting. With ROUNDS, pairs are also started
together, that often, and either order is right.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # nothing beside the sources
from server import serve

TEPAL = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 0
ENV = {"PATH": "/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C"}


def keys(first, last):
    return "".join(f"{i}\n" for i in range(first, last))


FILES = {"low": keys(0, 100), "high": keys(100, 200), "few": keys(0, 20), "more": keys(200, 230),
         "wrong": keys(1000, 1300), "bad": keys(500, 520)}
COUNTING = ["--kind", "counting", "--cells", "4096", "--seed", "7", "-q"]
BLOOM = ["--bits", "8192", "--hashes", "3", "--seed", "7", "-q"]
YESNO = ["--kind", "yesno", "--avoid", "bad", "--bits", "900", "--seed", "7", "-q"]
GROWING = ["--kind", "growing", "--seed", "7", "-q"]
CHAIN = ["--kind", "chain", "--capacity", "40", "--seed", "7", "-q"]
SETTLE = ["convert", "f", "-o", "f", "--force", "--settle", "--members", "KEYS", "-q"]

# By kind of filter: what makes f and g, and the commands; KEYS is where keys are read, if that can
# be made slow (None: it cannot).
SETS = {
    "counting": ([["build", "low", "-o", "f", *COUNTING], ["build", "few", "-o", "g", *COUNTING]], {
        "add": (["add", "f", "KEYS", "-q"], "high"),
        "remove": (["remove", "f", "KEYS", "-q"], "few"),
        "repair": (["repair", "f", "--members", "KEYS", "-q"], "low"),
        "retouch": (["retouch", "f", "--avoid", "KEYS", "-o", "f", "--force", "-q"], "wrong"),
        "diff": (["diff", "f", "KEYS", "-o", "f", "--force", "-q"], "g"),
        "merge": (["merge", "f", "KEYS", "-o", "f", "--force", "-q"], "g"),
        "convert": (["convert", "f", "-o", "f", "--force", "--to", "bits", "-q"], None),
        "receive": (["receive", "f", "-o", "f", "--any-fill", "--max-fp", "0.99", "--force", "-q"], None),
        "avoid": (["avoid", "f", "KEYS", "--max-fn", "50%", "-q"], "wrong"),
        "build": (["build", "more", "-o", "f", *COUNTING], None),
    }),
    "bloom": ([["build", "low", "-o", "f", *BLOOM], ["build", "few", "-o", "g", *BLOOM]], {
        "add": (["add", "f", "KEYS", "-q"], "high"),
        "retouch": (["retouch", "f", "--members", "low", "--avoid", "KEYS", "-o", "f", "--force", "-q"],
                    "wrong"),
        "merge": (["merge", "f", "KEYS", "-o", "f", "--force", "-q"], "g"),
        "convert": (["convert", "f", "-o", "f", "--force", "--fold", "2", "-q"], None),
        "avoid": (["avoid", "f", "KEYS", "--max-fn", "50%", "-q"], "wrong"),
        "pull": (["pull", "--server", "SERVER", "--key", "x", "-o", "f", "-q"], None),
    }),
    "yesno": ([["build", "low", "-o", "f", *YESNO]], {
        "add": (["add", "f", "KEYS", "-q"], "high"),
        "veto": (["veto", "f", "--members", "low", "--avoid", "KEYS", "-q"], "wrong"),
    }),
    "growing": ([["build", "low", "-o", "f", *GROWING], ["build", "few", "-o", "g", *GROWING]], {
        "add": (["add", "f", "KEYS", "-q"], "high"),
        "remove": (["remove", "f", "KEYS", "-q"], "few"),
        "merge": (["merge", "f", "KEYS", "-o", "f", "--force", "-q"], "g"),
        "settle": (SETTLE, "low"),
    }),
    "chain": ([["build", "low", "-o", "f", *CHAIN], ["build", "few", "-o", "g", *CHAIN]], {
        "add": (["add", "f", "KEYS", "-q"], "high"),
        "merge": (["merge", "f", "KEYS", "-o", "f", "--force", "-q"], "g"),
        "settle": (SETTLE, "low"),
    }),
    "recycling": ([["dedup", "--state", "f", "--memory", "2Ki", "--seed", "7", "-q", "low"]], {
        "dedup": (["dedup", "--state", "f", "-q", "KEYS"], "high"),
        "add": (["add", "f", "KEYS", "-q"], "few"),
        "convert": (["convert", "f", "-o", "f", "--force", "-q"], None),
    }),
    "lists": ([["split", "low", "--parts", "2", "-o", "f", "-q"]], {
        "split": (["split", "KEYS", "--parts", "2", "-o", "f", "--force", "-q"], "high"),
        "split others": (["split", "KEYS", "--parts", "2", "-o", "f", "--force", "-q"], "more"),
    }),
}

passed = 0
failed = 0
server = None   # has a filter for pull


def check_listed():
    """Every command that may have to wait for another is in one of the sets."""
    listed = subprocess.run([TEPAL, "completion", "fish"], stdout=subprocess.PIPE, check=True).stdout.decode()
    names = re.findall(r"__fish_seen_subcommand_from (\S+)' -l no-wait", listed)
    there = {command[0][0] for _, commands in SETS.values() for command in commands.values()}
    for name in names:
        check(f"{name} is in a pair", name in there, "it is not")
    check("there are such commands", len(names) > 10, names)


def check(name, good, why):
    global passed, failed
    if good:
        passed += 1
    else:
        failed += 1
        print(f"FAILED: {name}: {why}", file=sys.stderr)


def start(folder, command, source, pipe=None):
    there = {"KEYS": pipe or source, "SERVER": server}
    words = [there.get(word, word) for word in command]
    return subprocess.Popen([TEPAL, *words], cwd=folder, env=ENV, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ended(child):
    words = child.communicate(timeout=60)[1].decode()
    return child.returncode, words


def content(folder):
    """Of the filter, or of the parts that one command writes."""
    found = []
    for name in ("f", "f.0", "f.1"):
        if os.path.exists(os.path.join(folder, name)):
            with open(os.path.join(folder, name), "rb") as file:
                found.append(file.read())
    return found


class Set:
    def __init__(self, base, kind):
        self.template = os.path.join(base, kind)
        self.folder = os.path.join(base, kind + "-work")
        prepare, self.commands = SETS[kind]
        os.mkdir(self.template)
        for name, text in FILES.items():
            with open(os.path.join(self.template, name), "w") as file:
                file.write(text)
        for command in prepare:
            subprocess.run([TEPAL, *command], cwd=self.template, env=ENV, check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def fresh(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.template, self.folder)

    def serial(self, *names):
        self.fresh()
        codes = [ended(start(self.folder, *self.commands[name]))[0] for name in names]
        return codes, content(self.folder)


def held(one, first, second):
    """The first is in the middle, its filter read, when the second starts."""
    command, source = one.commands[first]
    one.fresh()
    pipe = os.path.join(one.folder, "pipe")
    os.mkfifo(pipe)
    with open(os.path.join(one.folder, source), "rb") as file:
        data = file.read()
    a = start(one.folder, command, source, "pipe")
    feed = open(pipe, "wb", buffering=0)    # it is there, and has begun to read
    feed.write(data[:2])
    lock = os.path.join(one.folder, "f.lock")
    for _ in range(2000):
        if os.path.exists(lock):
            break
        time.sleep(0.005)
    b = start(one.folder, *one.commands[second])
    refusal = ended(b) if second == "dedup" else None
    if refusal is None:
        time.sleep(0.03)
        if b.poll() is not None:
            return [b.returncode, "did not wait"], content(one.folder), None
    writer = threading.Thread(target=lambda: (feed.write(data[2:]), feed.close()))
    writer.start()
    codes = [ended(a)[0], (refusal or ended(b))[0]]
    writer.join()
    left = [name for name in os.listdir(one.folder) if name.endswith((".lock", ".tmp"))]
    check(f"{first}, {second}: nothing is left", not left, left)
    return codes, content(one.folder), refusal


def pair(kind, one, first, second):
    codes, result, refusal = held(one, first, second)
    name = f"{kind}: {first}, {second}"
    if refusal is not None:
        check(f"{name}: refused", refusal[0] == 2 and "another command is changing this file" in
              refusal[1], refusal)
        want_codes, want = one.serial(first)
        check(name, codes[0] == want_codes[0] and result == want, codes)
        return
    want_codes, want = one.serial(first, second)
    check(name, codes == want_codes and result == want, f"{codes}, one after the other {want_codes}")


def together(kind, one, first, second):
    one.fresh()
    a = start(one.folder, *one.commands[first])
    b = start(one.folder, *one.commands[second])
    codes = [ended(a)[0], ended(b)[0]]
    result = content(one.folder)
    orders = [one.serial(first, second), one.serial(second, first)]
    orders[1][0].reverse()
    if first == "dedup" or second == "dedup":   # it may have refused
        orders += [([one.serial(first)[0][0], 2], one.serial(first)[1]),
                   ([2, one.serial(second)[0][0]], one.serial(second)[1])]
    check(f"{kind}: {first} and {second} together", (codes, result) in orders, codes)


def main():
    global server
    check_listed()
    with tempfile.TemporaryDirectory() as base:
        for kind in SETS:
            one = Set(base, kind)
            if kind == "bloom":
                with open(os.path.join(one.template, "g"), "rb") as file:
                    server = serve({"x": file.read()})
            for first in one.commands:
                for second in one.commands:
                    if one.commands[first][1] is not None:
                        pair(kind, one, first, second)
                    for _ in range(ROUNDS):
                        together(kind, one, first, second)
    print(f"{os.path.basename(sys.argv[0])}: {passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


main()
