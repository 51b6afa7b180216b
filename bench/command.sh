#!/usr/bin/env bash
# How fast the command is, beside what it cannot avoid: reading the lines (wc -l) and the library's
# own work on them (tepal_command_limit: hash and add, or hash and ask, nothing else). All take
# turns, round by round, and the median counts. Compare within a run only.
#
#     bench/command.sh TEPAL [LIMIT [KEYS [PART...]]]
#
# LIMIT is tepal_command_limit (default: beside TEPAL), KEYS the number of keys of 16 bytes (default
# 10 million). Parts are `lines` (against wc -l), `cores` (two against one), `files` (saving and
# loading) and `start` (starting, and the library's size); default: all. Output is TSV: the peak of
# memory includes the pages of a filter that is mapped.
set -eu
export LC_ALL=C
tepal=$(realpath "$1")
limit=$(realpath "${2:-$(dirname "$tepal")/tepal_command_limit}")
count=${3:-10000000}
shift $(($# < 3 ? $# : 3))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
seq 1000000000000001 $((1000000000000000 + count)) >keys

cat >measure.py <<'PY'
import os, statistics, sys, time

tepal, limit, count, *parts = sys.argv[1:]
ROUNDS, LAYOUTS = 3, ("flat", "blocked")
null = os.open("/dev/null", os.O_RDWR)


def run(*command):
    """Seconds, and the peak of memory in bytes."""
    start = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ,
                            file_actions=[(os.POSIX_SPAWN_DUP2, null, 1)])
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - start
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return seconds, usage.ru_maxrss * 1024


def library(layout):
    """Seconds of adding and of asking, without reading and splitting."""
    with os.popen(f"'{limit}' {layout}.tepal keys") as lines:
        pairs = dict(line.split("\t") for line in lines)
    if len(pairs) != 2:
        sys.exit(f"failed: {limit}")
    return float(pairs["add"]), float(pairs["query"])


def commands(layout):
    file = f"{layout}.tepal"
    build = (tepal, "build", "keys", "-o", file, "--layout", layout, "--seed", "1", "-q",
             "--jobs", "1")
    return {"build": ("add", build),
            "build --capacity": ("add", (*build, "--capacity", count)),
            "query -c": ("query", (tepal, "query", "-c", file, "keys", "--jobs", "1")),
            "query": ("query", (tepal, "query", file, "keys", "--jobs", "1"))}


def wanted(part):
    return part in parts or "all" in parts


def bar(what, seconds, reference, at_most):
    ratio = seconds / reference
    print("bar: " + what, f"{seconds:.4f}", f"{reference:.4f}", f"{ratio:.2f}", at_most,
          "-" if at_most == "-" else "yes" if ratio <= at_most else "NO", sep="\t", flush=True)


def lines():
    """Against reading the lines, and against reading and the library's own work, on one core."""
    times, peaks = {}, {}
    for turn in range(ROUNDS + 1):  # the first warms up and does not count
        seconds = {("wc -l", "-"): run("wc", "-l", "keys")[0]}
        for layout in LAYOUTS:
            for name, (_, command) in commands(layout).items():
                seconds[name, layout], peaks[name, layout] = run(*command)
            seconds["add", layout], seconds["query_many", layout] = library(layout)
        for key, value in seconds.items() if turn > 0 else ():
            times.setdefault(key, []).append(value)
        print(f"round {turn} of {ROUNDS}", file=sys.stderr)
    median = {key: statistics.median(values) for key, values in times.items()}
    print("what", "layout", "keys", "seconds", "limit_seconds", "ratio", "peak_bytes",
          "filter_bytes", sep="\t")
    wc = median["wc -l", "-"]
    print("wc -l", "-", count, f"{wc:.3f}", "-", "-", "-", "-", sep="\t")
    for layout in LAYOUTS:
        size = os.path.getsize(f"{layout}.tepal")
        own = {"add": median["add", layout], "query": median["query_many", layout]}
        for name, seconds in own.items():
            print(f"library {name}", layout, count, f"{seconds:.3f}", "-", "-", "-", size, sep="\t")
        for name, (kind, _) in commands(layout).items():
            seconds, least = median[name, layout], wc + own[kind]
            print(f"tepal {name}", layout, count, f"{seconds:.3f}", f"{least:.3f}",
                  f"{seconds / least:.2f}", peaks[name, layout], size, sep="\t")
    for name in ("query -c", "build"):
        for layout in LAYOUTS:
            bar(f"command: {name}, {layout} / wc -l", median[name, layout], wc, 2.5)


def several(jobs):
    """What takes --jobs: the same command on `jobs` cores."""
    one = {"query -c, blocked": ("query", "-c", "blocked.tepal", "keys"),
           "query, flat": ("query", "flat.tepal", "keys"),
           "build, blocked": ("build", "keys", "-o", "out", "--layout", "blocked", "--seed", "1"),
           "build, flat": ("build", "keys", "-o", "out", "--seed", "1"),
           "verify, 4 files": ("verify", *["flat.tepal"] * 4),
           "merge, 4 files": ("merge", *["flat.tepal"] * 4, "-o", "out"),
           # In order: reading and hashing are all that is divided.
           "dedup, in order": ("dedup", "keys", "--seed", "1", "-c"),
           "build generalized, in order": ("build", "keys", "-o", "out", "--seed", "1", "--kind",
                                           "generalized", "--fp", "1%", "--fn", "1%"),
           "build fingerprint, in order": ("build", "keys", "-o", "out", "--seed", "1", "--kind",
                                           "fingerprint"),
           "build counting --choices 4, in order": (
               "build", "keys", "-o", "out", "--seed", "1", "--kind", "counting", "--choices", "4",
               "--cells", str(15 * int(count)))}
    return {name: (tepal, *words, "-q", "--jobs", str(jobs)) if words[0] != "query" else
            (tepal, *words, "--jobs", str(jobs)) for name, words in one.items()}


def cores():
    """Two against one, command by command, so that both meet the same neighbours."""
    for layout in LAYOUTS:
        run(*commands(layout)["build"][1])
    for name in several(1):
        pair = [], []
        for turn in range(ROUNDS):
            for jobs in (1, 2):
                pair[jobs - 1].append(run(*several(jobs)[name])[0])
        one, two = (statistics.median(times) for times in pair)
        bar(f"command: two cores / one, {name}", two, one,
            "-" if name.endswith("in order") else 0.6)


def files():
    """A filter of 100 MB to a file and back, against the bytes alone."""
    os.system(f"'{tepal}' build -o big.tepal --seed 1 -q --bits 800000000 /dev/null")
    moves = [[float(word) for word in os.popen(f"'{limit}' --move big.tepal").read().split()]
             for _ in range(5)]
    save, load, writing, reading = (statistics.median(m[i] for m in moves) for i in range(4))
    bar("command: save / write and fsync", save, writing, 1.1)
    bar("command: load / read", load, reading, 1.1)


def start():
    """What it takes to start at all, and the library's code against half of that of 0.1.0."""
    starts = [(run(tepal, "--version")[0], run("true")[0]) for _ in range(100)]
    bar("command: start-up / an empty program", statistics.median(s for s, _ in starts),
        statistics.median(t for _, t in starts), 1.5)
    library = os.path.join(os.path.dirname(tepal), "libtepal.a")
    sizes = os.popen(f"size '{library}' 2>/dev/null").read().splitlines()[1:]
    if sizes:
        bar("library: bytes of code and constants / 0.1.0",
            sum(int(line.split()[0]) for line in sizes), 823000, 0.5)


print("bar", "seconds", "reference_seconds", "ratio", "at_most", "met", sep="\t")
for part in (lines, cores, files, start):
    if wanted(part.__name__):
        part()
PY
python3 measure.py "$tepal" "$limit" "$count" "${@:-all}"
