#!/usr/bin/env python3
"""Every system call of every command that writes, made to fail in turn (shim.c), or to be the last.

Usage: faults.py TEPAL SHIM [--quick | --kills N] [--only NAME]

The commands are read from the command itself (its completions): an option that writes a file and is
in none of the scenarios fails the test.

SIGTERM before a call: all outputs are old or all are new, and nothing else is left.

After each run: every output is the old one or the new one, whole; the exit status is right; the
message does not deny what happened; what could not get its name is where the message says; nothing
else is left. What is no failure (EINTR, EAGAIN, fewer bytes than asked for) changes nothing at all.
A recorded run shows the order: write, sync, rename, sync the directory; and the lock before it.
--kills N: SIGKILL at N random moments instead.
"""
import errno
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing beside the sources
from server import serve

TEPAL = os.path.abspath(sys.argv[1])
SHIM = os.path.abspath(sys.argv[2])
QUICK = "--quick" in sys.argv
KILLS = int(sys.argv[sys.argv.index("--kills") + 1]) if "--kills" in sys.argv else 0
ONLY = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""

ERRORS = {
    "open": ["EIO", "ENOSPC", "EMFILE", "EINTR"],
    "read": ["EIO", "EINTR", "EAGAIN", "short"],
    "pread": ["EIO", "EINTR", "EAGAIN", "short"],
    "write": ["EIO", "ENOSPC", "EINTR", "EAGAIN", "short"],
    "close": ["EIO", "EINTR"],
    "fsync": ["EIO", "ENOSPC", "EINTR"],
    "rename": ["EBUSY", "EIO", "ENOSPC"],
    "unlink": ["EIO"],
    "flock": ["EIO", "ENOLCK", "EINTR", "EAGAIN"],
    "fchmod": ["EIO", "EPERM"],
    "fchown": ["EIO", "EPERM"],
    "access": ["EIO"],
    "stat": ["EIO", "EACCES"],
    "lstat": ["EIO"],
    "fstat": ["EIO"],
    "realpath": ["EIO"],
    "mmap": ["ENOMEM", "ENODEV"],
    "getentropy": ["EIO"],
}
# No failures at all: whoever is told so tries again.
HARMLESS = {(call, what) for call in ("read", "pread", "write") for what in ("EINTR", "EAGAIN", "short")}
HARMLESS |= {("fsync", "EINTR"), ("flock", "EINTR"), ("close", "EINTR"), ("flock", "ENOLCK")}

COUNTING = ["--kind", "counting", "--cells", "8192", "--choices", "2", "--seed", "7", "-q"]


class Scenario:
    def __init__(self, name, prepare, command, outputs, stdin=None, lists=False, holds=None,
                 turns=False, slow=False, timed=False, decides=()):
        self.name = name
        self.prepare = prepare      # lists of arguments; > NAME at the end: standard output goes there
        self.command = command
        self.outputs = outputs      # the filter first
        self.stdin = stdin
        self.lists = lists          # there is no filter among them
        self.holds = holds          # what a server has: names of keys and files
        self.turns = turns          # one output after the other: some may be new
        self.slow = slow            # --quick: only what decides
        self.decides = decides      # --quick: calls of which all fail, besides rename and fsync
        self.timed = timed          # a picture, of times among others: no two are alike


def keys(first, last, tab=""):
    return "".join(f"{i}{tab}\n" for i in range(first, last))


FILES = {
    "low": keys(0, 100),
    "high": keys(100, 200),
    "few": keys(0, 20),
    "mixed": keys(90, 300),
    "few2": keys(500, 520),
    "mixed2": keys(1000, 1400),
    "routes": "#cycle\tmonitor\tdst\thops\n" +
              "".join(f"1\t{'mn'[i % 2]}\t10.9.{i % 5}.{i}\t10.0.0.1 10.1.{i % 3}.1 10.3.{i % 9}.1\n"
                      for i in range(40)),
    "net": "a\tb\nb\tc\nc\td\nb\te\nc\tf\n",
    "packets": "".join(f"a\t{i}\ttcp\t10.0.0.{i % 4}\t1001\t10.9.9.9\t80\t{'S' if i < 4 else 'A'}\t60\n"
                       for i in range(12)),
    "table.tsv": "experiment\titem\tpublished\tours\tlow\thigh\tverdict\texpected\tsource\twidth\n",
}
BLOOM = ["build", "low", "-o", "f", "--capacity", "1000", "--seed", "7", "-q"]
OTHER = ["build", "high", "-o", "g", "--capacity", "1000", "--seed", "7", "-q"]
GROWING = ["--kind", "growing", "--seed", "7", "-q"]
CHAIN = ["--kind", "chain", "--capacity", "20", "--seed", "7", "-q"]
STATE = ["dedup", "--state", "f", "--memory", "2Ki", "--seed", "7", "-q", "low"]
LEARN = ["app", "stopset", "learn", "routes", "--seed", "7", "-q"]
ROUTE = ["app", "route", "net", "--from", "a", "--to", "d", "--allocations", "1", "--seed", "7", "-q"]
PULL = ["pull", "--server", "SERVER", "--key", "x", "-o", "p", "-q"]
SCENARIOS = [
    Scenario("build", [], BLOOM, ["f"]),
    Scenario("build, keys counted", [], ["build", "low", "-o", "f", "--fp", "1%", "--seed", "7", "-q"], ["f"]),
    Scenario("build --plan", [["plan", "--keys", "100", "--fp", "1%", "--json", ">", "plan"]],
             ["build", "low", "--plan", "plan", "-o", "f", "--seed", "7", "-q"], ["f"]),
    Scenario("build over another", [OTHER[:3] + ["f"] + OTHER[4:]], BLOOM, ["f"]),
    Scenario("build, receipts", [["build", "high", "-o", "f", *COUNTING, "--receipts", "r"]],
             ["build", "low", "-o", "f", *COUNTING, "--receipts", "r", "--force"], ["f", "r"]),
    Scenario("build --auto from a pipe", [],
             ["build", "--auto", "--fp", "1%", "-o", "f", "--seed", "7", "-q"], ["f"], "low"),
    Scenario("build, compressed", [BLOOM + ["--compress", "gzip"]],
             ["build", "high", "-o", "f", "--capacity", "1000", "--seed", "7", "-q", "--compress",
              "zstd", "--force"], ["f"]),
    Scenario("add", [BLOOM], ["add", "f", "high", "-q"], ["f"]),
    Scenario("add, growing", [["build", "low", "-o", "f", *GROWING]], ["add", "f", "high", "-q"], ["f"]),
    Scenario("remove, growing", [["build", "low", "-o", "f", *GROWING]],
             ["remove", "f", "few", "-o", "o", "-q"], ["o"]),
    Scenario("merge, growing", [["build", "low", "-o", "f", *GROWING], ["build", "high", "-o", "g", *GROWING]],
             ["merge", "f", "g", "-o", "f", "--force", "-q"], ["f"]),
    Scenario("settle, growing", [["build", "low", "-o", "f", *GROWING]],
             ["convert", "f", "-o", "f", "--force", "--settle", "--members", "low", "-q"], ["f"]),
    Scenario("settle, chain", [["build", "low", "-o", "f", *CHAIN]],
             ["convert", "f", "-o", "f", "--force", "--settle", "--members", "low", "-q"], ["f"]),
    Scenario("add, receipts", [["build", "low", "-o", "f", *COUNTING]],
             ["add", "f", "high", "--receipts", "r", "-q"], ["f", "r"]),
    Scenario("add, kept", [["build", "low", "-o", "f", *COUNTING], ["remove", "f", "few", "--kept", "k", "-q"]],
             ["add", "f", "high", "--kept", "k", "-q"], ["f", "k"]),
    Scenario("remove", [["build", "low", "-o", "f", *COUNTING]],
             ["remove", "f", "mixed", "--refused", "x", "--kept", "k", "-q"], ["f", "x", "k"]),
    Scenario("avoid", [["build", "low", "-o", "f", "--kind", "counting", "--cells", "512", "--seed", "7", "-q"]],
             ["avoid", "f", "mixed2", "--max-fn", "20%", "--refused", "x", "-q"], ["f", "x"]),
    Scenario("avoid, bloom", [["build", "low", "-o", "f", "--bits", "700", "--hashes", "3", "--seed", "7", "-q"]],
             ["avoid", "f", "mixed2", "--max-fn", "20%", "--refused", "x", "-o", "o", "-q"], ["o", "x"]),
    Scenario("add, chain", [["build", "low", "-o", "f", *CHAIN]], ["add", "f", "high", "-q"], ["f"]),
    Scenario("add, elsewhere", [["build", "low", "-o", "f", *CHAIN]], ["add", "f", "high", "-o", "o", "-q"], ["o"]),
    Scenario("veto", [["build", "low", "-o", "f", "--kind", "yesno", "--avoid", "few2", "--bits", "900",
                       "--seed", "7", "-q"]],
             ["veto", "f", "--members", "low", "--avoid", "mixed2", "-q"], ["f"]),
    Scenario("repair", [["build", "low", "-o", "f", "--kind", "counting", "--cells", "256", "--seed", "7", "-q"],
                        ["remove", "f", "high", "-q"]],
             ["repair", "f", "--members", "low", "-q"], ["f"]),
    Scenario("veto, elsewhere", [["build", "low", "-o", "f", "--kind", "yesno", "--avoid", "few2", "--bits", "900",
                       "--seed", "7", "-q"]],
             ["veto", "f", "--members", "low", "--avoid", "mixed2", "-o", "o", "-q"], ["o"]),
    Scenario("repair, elsewhere", [["build", "low", "-o", "f", "--kind", "counting", "--cells", "256", "--seed", "7", "-q"],
                        ["remove", "f", "high", "-q"]],
             ["repair", "f", "--members", "low", "-o", "o", "-q"], ["o"]),
    Scenario("retouch", [["build", "low", "-o", "f", "--bits", "700", "--hashes", "3", "--seed", "7", "-q"]],
             ["retouch", "f", "--members", "low", "--avoid", "mixed2", "--max-fn", "20%", "-o", "f",
              "--force", "--victims", "v", "--exceptions", "e", "-q"], ["f", "v", "e"]),
    Scenario("diff", [["build", "low", "-o", "f", *COUNTING], ["build", "few", "-o", "g", *COUNTING]],
             ["diff", "f", "g", "-o", "f", "--force", "-q"], ["f"]),
    Scenario("convert", [BLOOM[:-3] + ["--bits", "8192", "--seed", "7", "-q"]],
             ["convert", "f", "-o", "f", "--force", "--fold", "2", "-q"], ["f"]),
    Scenario("convert, compressed", [BLOOM, BLOOM[:3] + ["g"] + BLOOM[4:] + ["--compress", "gzip"]],
             ["convert", "f", "-o", "g", "--force", "--compress", "zstd", "-q"], ["g"]),
    Scenario("merge", [BLOOM, OTHER], ["merge", "f", "g", "-o", "f", "--force", "-q"], ["f"]),
    Scenario("receive", [BLOOM, OTHER],
             ["receive", "f", "-o", "g", "--any-fill", "--force", "-q"], ["g"]),
    Scenario("receive, in place", [BLOOM + ["--compress", "gzip"]],
             ["receive", "f", "-o", "f", "--any-fill", "--force", "-q"], ["f"]),
    Scenario("receive, several", [["build", "low", "-o", "a.in", "--capacity", "1000", "--seed", "7", "-q"],
                                  ["build", "high", "-o", "b.in", "--capacity", "1000", "--seed", "7", "-q"]],
             ["receive", "a.in", "b.in", "-o", "d", "--any-fill", "-q"], ["d/a.in", "d/b.in"], turns=True),
    Scenario("pull", [BLOOM[:3] + ["p"] + BLOOM[4:], OTHER], PULL, ["p"], holds={"x": "g"}),
    Scenario("pull, parts", [BLOOM, OTHER], PULL + ["--parts", "2"], ["p.0", "p.1"],
             holds={"{x:0}": "f", "{x:1}": "g"}, turns=True),
    Scenario("dedup", [STATE], ["dedup", "--state", "f", "-q", "mixed"], ["f"], decides=("stat",)),
    Scenario("dedup, a new state", [], STATE[:-1] + ["mixed"], ["f"]),
    Scenario("dedup, ages", [], ["dedup", "mixed", "--memory", "2Ki", "--within", "1h", "--seed",
                                 "7", "--ages", "s", "--svg", "v", "-q"], ["s", "v"], lists=True),
    Scenario("gaps", [], ["gaps", "mixed", "--save", "s", "--svg", "v", "-q"], ["s", "v"], lists=True),
    Scenario("split", [], ["split", "low", "--parts", "2", "-o", "p", "-q"], ["p.0", "p.1"], lists=True),
    Scenario("audit", [["build", "low", "-o", "g", *COUNTING]],
             ["audit", "g", "--members", "mixed", "--exposed", "x", "--potential", "p", "--several", "s",
              "--svg", "v", "-q"], ["x", "p", "s", "v"], lists=True),
    Scenario("retouch, dry", [["build", "low", "-o", "g", "--bits", "700", "--hashes", "3", "--seed", "7", "-q"]],
             ["retouch", "g", "--members", "low", "--avoid", "mixed2", "--dry-run", "--svg", "v", "-q"],
             ["v"], lists=True),
    Scenario("plan", [], ["plan", "--keys", "1k", "--fp", "1%", "--svg", "v", "-q"], ["v"], lists=True,
             slow=True),
    Scenario("compare", [], ["compare", "--members", "few", "--bits-per-key", "8", "--seed", "7", "--svg", "v", "-q"],
             ["v"], lists=True, slow=True, timed=True),
    Scenario("learn", [LEARN + ["-o", "s", "--monitor", "n"]],
             LEARN + ["-o", "s", "--force"], ["s"], lists=True),
    Scenario("learn, a filter", [], LEARN + ["-o", "f", "--bits", "512", "--seen", "s"], ["f", "s"]),
    Scenario("combine", [LEARN + ["-o", "s"]],
             ["app", "stopset", "combine", "s", "--bits", "600", "-o", "f", "--seed", "7", "-q"], ["f"]),
    Scenario("trace", [LEARN + ["-o", "g", "--bits", "512"]],
             ["app", "stopset", "trace", "routes", "--set", "g", "--in-full", "50%", "-o", "s", "--seed", "7",
              "-q"], ["s"], lists=True),
    Scenario("route", [], ROUTE + ["--headers", "h", "--tables", "s", "--c", "c", "--svg", "v"],
             ["v", "h", "s", "c"], lists=True),
    Scenario("route, figures", [], ["app", "route", "net", "--allocations", "1", "--seed", "7", "-q", "--figures", "d"],
             [f"d/fig{n}.{end}" for n in (16, 17, 18) for end in ("tsv", "svg")], lists=True),
    Scenario("flows", [], ["app", "flows", "packets", "--seed", "7", "--svg", "v", "-q"], ["v"], lists=True),
    Scenario("lab run", [], ["lab", "run", "001-table-5", "--out", "d", "--jobs", "1", "-q"],
             ["d/001-table-5.tsv", "d/001-table-5.svg", "d/settings.tsv"], lists=True, turns=True, slow=True),
    Scenario("lab report", [["lab", "run", "001-table-5", "--out", "d", "--jobs", "1", "-q"]],
             ["lab", "report", "d", "--out", "s"], ["s"], lists=True),
]

# Options that name a file to be read, whatever the command; and those of some commands.
READ = set("""key-file members avoid plan gaps known-negatives like password-file cacert cert cert-key strangers
    negatives queries known demands set objects""".split())
READ_BY = {"query": {"exceptions"}, "remove": {"receipts"}, "repair": {"receipts"}, "audit": {"receipts"}}

passed = 0
failed = 0


def check_listed():
    """Every option that writes a file is in a scenario."""
    global passed
    done = set()
    for scenario in SCENARIOS:
        words = scenario.command
        name = words[words[:3].index("stopset") + 1] if "stopset" in words else words[words[0] == "app"]
        for word in words:
            letter = {"-o": "out" if name == "lab" else "output"}
            if word[0] == "-":
                done.add((name, letter.get(word, word[2:])))
    listed = subprocess.run([TEPAL, "completion", "fish"], stdout=subprocess.PIPE, check=True).stdout.decode()
    found = re.findall(r"__fish_seen_subcommand_from (\S+)' -l (\S+)(?: -s .)? -r -F", listed)
    for name, option in found:
        if option in READ or option in READ_BY.get(name, ()) or (name, option) in done:
            passed += 1
        else:
            fail(Scenario(f"{name} --{option}", [], [], []), None, "no scenario writes this", (None, ""))
    if len(found) < 50:
        fail(Scenario("completion fish", [], [], []), None, "options are missing", (None, ""))


def fail(scenario, fault, why, run):
    global failed
    failed += 1
    if failed <= 30:
        print(f"FAILED: {scenario.name}, {fault}: {why}\n    {run[0]} {run[1].strip()}", file=sys.stderr)


def files_of(folder):
    """Names of all files in it, with those of folders on the way."""
    return {os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder)
            for name in names}


def content(folder, name):
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def start(scenario, folder, fault=None, log=None):
    env = {"PATH": "/usr/bin:/bin", "TERM": "dumb", "TMPDIR": folder, "LC_ALL": "C"}
    if fault is not None or log is not None:
        env["LD_PRELOAD"] = SHIM
    if fault is not None:
        call, at, what = fault
        what = str(getattr(errno, what)) if what[0] == "E" else what
        env["TEPAL_FAULT"] = f"{call}:{at}:{what}"
    if log is not None:
        env["TEPAL_FAULT_LOG"] = log
    stdin = open(os.path.join(folder, scenario.stdin)) if scenario.stdin else subprocess.DEVNULL
    command = [scenario.server if word == "SERVER" else word for word in scenario.command]
    child = subprocess.Popen([TEPAL, *command], cwd=folder, env=env, stdin=stdin,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if scenario.stdin:
        stdin.close()
    return child


def run(scenario, folder, fault=None, log=None):
    child = start(scenario, folder, fault, log)
    err = child.communicate(timeout=300)[1].decode(errors="replace")
    return child.returncode, err


class Case:
    """A scenario's files before, and what they are after it went well."""

    def __init__(self, scenario, base):
        self.scenario = scenario
        self.template = os.path.join(base, "template")
        self.folder = os.path.join(base, "work")
        os.mkdir(self.template)
        for name, text in FILES.items():
            with open(os.path.join(self.template, name), "w") as file:
                file.write(text)
        os.mkdir(os.path.join(self.template, "d"))
        for command in scenario.prepare:
            to = os.path.join(self.template, command[-1]) if command[-2] == ">" else os.devnull
            with open(to, "w") as out:
                code = subprocess.run([TEPAL, *command[:-2 if command[-2] == ">" else None]], cwd=self.template,
                                      stdin=subprocess.DEVNULL, stdout=out).returncode
            assert code in (0, 1), (scenario.name, command, code)
        if scenario.holds is not None:
            scenario.server = serve({key: content(self.template, name)
                                     for key, name in scenario.holds.items()})
        self.names = files_of(self.template)
        self.old = {name: content(self.template, name) for name in scenario.outputs}
        self.log = os.path.join(base, "log")
        self.fault_log = os.path.join(base, "fault-log")
        self.fresh()
        self.normal, words = run(scenario, self.folder, log=self.log)
        assert self.normal in (0, 1), (scenario.name, self.normal, words)
        self.new = {name: content(self.folder, name) for name in scenario.outputs}
        assert all(self.new[name] is not None for name in self.new), scenario.name
        assert self.old != self.new, scenario.name
        with open(self.log) as file:
            self.calls = [line.split() for line in file]
        assert self.calls, "the shim is not in the way of the calls"

    def fresh(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.template, self.folder)

    def counts(self):
        count = {}
        for name, _, fd, *_ in self.calls:
            if name == "write" and fd == "2":
                continue
            name = "open" if name == "create" else name
            count[name] = count.get(name, 0) + 1
        return count


def is_old(case, name, now):
    return now[name] == case.old[name]


def is_new(case, name, now):
    if case.scenario.timed:
        return now[name] is not None and now[name].startswith(b"<svg ") and now[name].endswith(b"</svg>\n")
    return now[name] == case.new[name]


def leftovers(case):
    return files_of(case.folder) - case.names - set(case.scenario.outputs)


def check_told(case, fault, result, now, left):
    """Exit status 2: does the message tell what is true?"""
    words = result[1]
    main = case.scenario.outputs[0]
    if not re.search(r"^tepal: ", words, re.M):
        return "no message"
    if "nothing was" in words and not all(is_old(case, name, now) for name in now):
        return "it denies what was written"
    if "the previous one is kept" in words and not is_old(case, main, now):
        return "it denies the new state"
    for name in re.findall(r"^tepal: (\S+): the new file is in place", words, re.M):
        if name in now and not is_new(case, name, now):
            return f"it claims what was not written: {name}"
    if "filter was written" in words and not is_new(case, main, now):
        return "it claims what was not written"
    if is_old(case, main, now) and case.old[main] != case.new[main]:
        return None
    if case.scenario.turns and re.search(r"it was not written|the parts before it|in place|did not finish", words):
        return None
    named = [os.path.relpath(os.path.join(os.path.realpath(case.folder), file), os.path.realpath(case.folder))
             for file in re.findall(r"is in (\S+\.tmp)", words)]
    for name in case.scenario.outputs[1:]:
        kept = [file for file in named if content(case.folder, file) == case.new[name]]
        if not is_new(case, name, now) and not kept:
            return f"{name} is lost"
        left -= set(kept)
    if not re.search(r"in place|filter was written|were written|go into the state|standard output"
                     r"|cannot be synced", words):
        return "it does not tell that the new one is there"
    return None


def must_tell(case, fault):
    """Did the call that failed write, sync or close a new file, or sync a directory? From the log."""
    if fault[0] not in ("write", "fsync", "close") or (fault[0], fault[2]) in HARMLESS or fault[2] == "kill":
        return False
    new = set()
    with open(case.fault_log) as log:
        for name, result, fd, first, _ in (line.split() for line in log):
            if name == "create" and int(result) >= 0 and first.endswith(".tmp"):
                new.add(fd)
            elif name == fault[0] and result == "-1":
                return name == "fsync" or fd in new
            elif name in ("close", "open", "create"):
                new.discard(fd)
    return False


def check(case, fault, result):
    code = result[0]
    if code == case.normal and must_tell(case, fault):
        return "an error of what was written is not told"
    now = {name: content(case.folder, name) for name in case.scenario.outputs}
    left = leftovers(case)
    for name in now:
        if not is_old(case, name, now) and not is_new(case, name, now):
            return f"{name} is neither old nor new"
    if (fault[0], fault[2]) in HARMLESS and code != case.normal:
        return "no reason to fail"
    if code == case.normal:
        if not all(is_new(case, name, now) for name in now):
            return "done, and not done"
    elif code != 2:
        return f"exit status {code}"
    else:
        why = check_told(case, fault, result, now, left)
        if why is not None:
            return why
    if fault[0] in ("unlink", "flock", "fstat", "lstat"):
        left -= {name for name in left if name.endswith(".lock")}  # it may be another's
    if left and fault[0] != "unlink":
        return f"left behind: {left}"
    return None


def check_killed(case):
    """Whatever is there is whole, and the next command is not kept from its work."""
    now = {name: content(case.folder, name) for name in case.scenario.outputs}
    for name in now:
        if not is_old(case, name, now) and not is_new(case, name, now):
            return f"{name} is neither old nor new"
    for name in leftovers(case):
        if not re.fullmatch(r"(d/)?(\.tepal-[0-9a-f]{16}\.tmp|[a-z.01]+\.lock|tepal-keys-\w+)", name):
            return f"left behind: {name}"
    if all(is_old(case, name, now) for name in now):
        code, words = run(case.scenario, case.folder)
        after = {name: content(case.folder, name) for name in now}
        if code != case.normal or not all(is_new(case, name, after) for name in after):
            return f"the next one does not work: {code} {words}"
        if any(name.endswith(".lock") for name in leftovers(case)):
            return "the lock stays"
    return None


def check_interrupted(case, result):
    """All outputs are old, or all are new, and nothing is left behind."""
    now = {name: content(case.folder, name) for name in case.scenario.outputs}
    old = [name for name in now if is_old(case, name, now)]
    new = [name for name in now if is_new(case, name, now)]
    if case.scenario.command[0] == "dedup" and "--state" in case.scenario.command:
        # It ends as if the input had ended, and keeps what it has seen.
        if now["f"] is not None and subprocess.run([TEPAL, "verify", "f"], cwd=case.folder, stdout=subprocess.DEVNULL,
                                                   stderr=subprocess.DEVNULL).returncode != 0:
            return "the state is damaged"
        left = leftovers(case)
        return f"left behind: {left}" if left else None
    if set(old) | set(new) != set(now):
        return "an output is neither old nor new"
    if len(old) < len(now) and len(new) < len(now) and not case.scenario.turns:
        return f"some are old, {old}, and some new, {new}"
    left = leftovers(case)
    if left:
        return f"left behind: {left}"
    if result[0] == case.normal and len(new) < len(now):
        return "done, and not done"
    return None


def check_order(case):
    """From the log: what a file needs before it gets its name, and what the name needs after."""
    opened = {}     # descriptor: path
    written = {}    # path: "written" or "synced"
    modes = {}      # path: with which it was created
    locked = False
    for number, (name, result, fd, first, second) in enumerate(case.calls):
        if name in ("open", "create") and int(result) >= 0:
            opened[fd] = first
            if name == "create" and first.endswith(".tmp"):
                written[os.path.basename(first)] = "new"
                modes[os.path.basename(first)] = second
        path = os.path.basename(opened.get(fd, ""))
        if name == "write" and path in written:
            written[path] = "written"
        if name == "fsync" and path in written:
            written[path] = "synced"
        if name == "flock":
            locked = True
        if name == "close":
            opened.pop(fd, None)
        if name == "rename":
            if written.get(os.path.basename(first)) != "synced":
                return f"{first} gets its name before it is synced"
            target = os.path.basename(second)
            if case.old.get(target) is not None and modes.get(os.path.basename(first)) != "600":
                return f"what will replace {target} is others' to read at first"
            is_filter = target == os.path.basename(case.scenario.outputs[0])
            if is_filter and not locked and not case.scenario.lists:
                return f"{target} is replaced without a lock"
            syncs = [(c, f) for c, _, f, *_ in case.calls[number + 1:] if c in ("fsync", "rename")]
            if not syncs or syncs[0][0] != "fsync":
                return f"the directory is not synced after {target}"
    if not case.scenario.lists and case.scenario.command[0] in ("add", "remove", "avoid", "veto", "repair", "retouch", "diff", "convert", "merge"):
        flocks = [i for i, call in enumerate(case.calls) if call[0] == "flock"]
        reads = [i for i, call in enumerate(case.calls)
                 if call[0] == "open" and os.path.basename(call[3]) == "f" and int(call[1]) >= 0]
        if not flocks or not reads or reads[-1] < flocks[0]:
            return "the filter is read before it is locked"
    return None


FEW = 4  # calls of a name that --quick lets fail in a scenario, besides those that decide


def faults_of(case, index):
    for call, count in sorted(case.counts().items()):
        what = ERRORS.get(call, [])
        decisive = call in ("rename", "fsync") or call in case.scenario.decides
        if QUICK and case.scenario.slow and not decisive:
            continue
        step = max(1, count // FEW) if QUICK and not decisive else 1
        for at in range(1 + index % step, count + 1, step):
            if QUICK:
                # one error each, another one for each call and scenario; all of the decisive ones
                some = what if decisive else what[(at + index) % len(what):][:1]
            else:
                some = what
            for each in some:
                yield call, at, each
            if not QUICK or (at + index) % 4 == 0:
                yield call, at, "kill"
            if not QUICK or (at + index) % 4 == 1 or decisive:
                yield call, at, "term"


def attempt(case, fault):
    global passed
    case.fresh()
    try:
        with open(case.fault_log, "w"):
            pass
        result = run(case.scenario, case.folder, fault, case.fault_log)
    except subprocess.TimeoutExpired:
        fail(case.scenario, fault, "it hangs", (None, ""))
        return
    why = check_killed(case) if fault[2] == "kill" else \
        check_interrupted(case, result) if fault[2] == "term" else check(case, fault, result)
    if why is None:
        passed += 1
    else:
        fail(case.scenario, fault, why, result)


def kill_at_random(cases, number):
    """SIGKILL at moments spread over the time that the command takes."""
    global passed
    draw = random.Random(1)
    took = {}
    for case in cases:
        case.fresh()
        began = time.monotonic()
        run(case.scenario, case.folder)
        took[case] = time.monotonic() - began
    killed = 0
    for i in range(number):
        case = cases[i % len(cases)]
        case.fresh()
        child = start(case.scenario, case.folder)
        try:
            child.wait(draw.random() * took[case])
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
        child.communicate()
        killed += child.returncode == -signal.SIGKILL
        why = check_killed(case)
        if why is None:
            passed += 1
        else:
            fail(case.scenario, f"SIGKILL {i}", why, (child.returncode, ""))
    print(f"{killed} of {number} were killed before their end")


def check_links(base):
    """A link that leads nowhere, of which the system cannot tell that it is one, is not replaced."""
    global passed
    for link in "f", "r":
        folder = os.path.join(base, "link-" + link)
        log = os.path.join(base, "log-" + link)
        os.mkdir(folder)
        with open(os.path.join(folder, "low"), "w") as file:
            file.write(FILES["low"])
        os.symlink("nowhere", os.path.join(folder, link))
        scenario = Scenario(f"a link in place of {link}", [],
                            ["build", "low", "-o", "f", *COUNTING, "--receipts", "r"], ["f", "r"])
        run(scenario, folder, log=log)
        with open(log) as file:
            calls = sum(line.startswith("lstat ") for line in file)
        for fault in [None] + [("lstat", at, what) for at in range(1, calls + 1) for what in ("EIO", "EACCES")]:
            result = run(scenario, folder, fault)
            there = set(os.listdir(folder)) - {"f.lock"}
            if calls > 0 and result[0] == 2 and there == {"low", link} and \
                    os.readlink(os.path.join(folder, link)) == "nowhere":
                passed += 1
            else:
                fail(scenario, fault, f"{calls} lookups of links; left: {there}", result)


def check_planted(base):
    """A link that is planted where a lock will be, after the look whether there is one, is not followed."""
    global passed
    folder = os.path.join(base, "planted")
    log = os.path.join(base, "log-planted")
    os.mkdir(folder)
    with open(os.path.join(folder, "low"), "w") as file:
        file.write(FILES["low"])
    os.symlink("nowhere", os.path.join(folder, "f.lock"))
    scenario = Scenario("a link in place of the lock", [], BLOOM, ["f"])
    run(scenario, folder, log=log)
    with open(log) as file:
        opens = [line.split() for line in file if line.startswith(("open ", "create "))]
    looks = [number for number, call in enumerate(opens, 1) if call[3].endswith("f.lock")]
    for fault in [None] + [("open", at, "ENOENT") for at in looks]:
        try:
            result = run(scenario, folder, fault)
        except subprocess.TimeoutExpired:
            result = (None, "it hangs")
        there = set(os.listdir(folder))
        if looks and result[0] == 2 and there == {"low", "f.lock"}:
            passed += 1
        else:
            fail(scenario, fault, f"{len(looks)} looks for a lock; there: {there}", result)
    # Nor is one in place of the temporary file, by whoever has guessed its name.
    os.unlink(os.path.join(folder, "f.lock"))
    guessed = f".tepal-{0:016x}.tmp"
    for plant in "link", "file":
        if plant == "link":
            os.symlink("nowhere", os.path.join(folder, guessed))
        else:
            with open(os.path.join(folder, guessed), "w") as file:
                file.write("theirs")
        result = run(scenario, folder, ("getentropy", 1, "zero"))
        there = set(os.listdir(folder))
        if result[0] == 0 and there == {"low", "f", guessed}:
            passed += 1
        else:
            fail(scenario, ("getentropy", 1, "zero"), f"a {plant} in its place; there: {there}", result)
        for name in there & {guessed, "f"}:
            os.unlink(os.path.join(folder, name))


def check_without_locks(base):
    """A file system that has no locks is warned of, and the command does its work."""
    global passed
    folder = os.path.join(base, "lockless")
    os.mkdir(folder)
    with open(os.path.join(folder, "low"), "w") as file:
        file.write(FILES["low"])
    for what in "ENOLCK", "ENOSYS", "EOPNOTSUPP":
        scenario = Scenario("without locks", [], [*BLOOM[:-1], "--force"], ["f"])
        result = run(scenario, folder, ("flock", 1, what))
        if result[0] == 0 and "warning: cannot be locked" in result[1] and set(os.listdir(folder)) == {"low", "f"}:
            passed += 1
        else:
            fail(scenario, ("flock", 1, what), "no warning, or something else", result)


def main():
    global passed
    with tempfile.TemporaryDirectory() as base:
        cases = []
        for index, scenario in enumerate(SCENARIOS):
            if not scenario.name.startswith(ONLY) or (0 < KILLS < 1000 and scenario.slow):
                continue
            place = os.path.join(base, str(index))
            os.mkdir(place)
            case = Case(scenario, place)
            cases.append(case)
            if KILLS > 0:
                continue
            why = check_order(case)
            if why is None:
                passed += 1
            else:
                fail(scenario, "order", why, (case.normal, ""))
            for fault in faults_of(case, index):
                attempt(case, fault)
        if KILLS > 0:
            kill_at_random(cases, KILLS)
        else:
            check_links(base)
            check_planted(base)
            check_without_locks(base)
        if KILLS == 0 and not ONLY:
            check_listed()
    print(f"{os.path.basename(sys.argv[0])}: {passed} passed, {failed} failed")
    sys.exit(failed > 0 or passed == 0)


main()
