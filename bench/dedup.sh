#!/usr/bin/env bash
# tepal dedup beside awk '!s[$0]++' and sort -u, which are exact and need memory for every line, or a
# disk. All take turns, round by round, and the median counts. Compare within a run only.
#
#     bench/dedup.sh TEPAL [--quick]
#
# On 10 million lines of 16 bytes, all different, for all three, and on 100 million for tepal alone
# (--quick: 1 and 4 million). Output is TSV: seconds, nanoseconds a line, how many times slower than
# tepal on the same lines, the peak of memory, and how many times that of tepal.
set -eu
export LC_ALL=C
tepal=$(realpath "$1")
small=10000000
large=100000000
rounds=3
memory=8Mi
if [ "${2:-}" = --quick ]; then
    small=1000000 large=4000000 rounds=1 memory=1Mi
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >measure.py <<'PY'
import os, statistics, sys, time

tepal, memory = sys.argv[1:3]
small, large, rounds = map(int, sys.argv[3:])
null = os.open("/dev/null", os.O_RDWR)
FIRST = 1000000000000001


def lines(count):
    """16 digits and a newline, from a process of its own through a pipe: no disk is measured."""
    get, put = os.pipe()
    child = os.posix_spawnp("seq", ("seq", str(FIRST), str(FIRST + count - 1)), os.environ,
                            file_actions=[(os.POSIX_SPAWN_DUP2, put, 1), (os.POSIX_SPAWN_CLOSE, get)])
    os.close(put)
    return get, child


def run(command, count=0, file=None):
    """Seconds, and the peak of memory in bytes."""
    feeder = None
    if file is None:
        source, feeder = lines(count)
    else:
        source = os.open(file, os.O_RDONLY)
    start = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ,
                            file_actions=[(os.POSIX_SPAWN_DUP2, source, 0),
                                          (os.POSIX_SPAWN_DUP2, null, 1)])
    os.close(source)
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - start
    if feeder is not None:
        os.waitpid(feeder, 0)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return seconds, usage.ru_maxrss * 1024


dedup = (tepal, "dedup", "-q", "--seed", "1", "--memory", memory)
awk = ("awk", "!s[$0]++")
sort = ("sort", "-u")
with open("keys", "w") as out:
    child = os.posix_spawnp("seq", ("seq", str(FIRST), str(FIRST + small - 1)), os.environ,
                            file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1)])
    os.waitpid(child, 0)
times, peaks = {}, {}
for turn in range(rounds):
    for name, command in (("tepal dedup", dedup), ("awk", awk), ("sort -u", sort)):
        seconds, peak = run(command, file="keys")
        times.setdefault(name, []).append(seconds)
        peaks[name] = max(peak, peaks.get(name, 0))
    print(f"round {turn + 1} of {rounds}", file=sys.stderr)
os.remove("keys")
print("what", "lines", "seconds", "ns_per_line", "slower", "peak_bytes", "larger", sep="\t")
own = statistics.median(times["tepal dedup"])
for name, values in times.items():
    seconds = statistics.median(values)
    print(name, small, f"{seconds:.3f}", f"{seconds / small * 1e9:.1f}", f"{seconds / own:.2f}",
          peaks[name], f"{peaks[name] / peaks['tepal dedup']:.1f}", sep="\t")
seconds, peak = run(dedup, count=large)
awk_each = statistics.median(times["awk"]) / small
sort_each = statistics.median(times["sort -u"]) / small
each = seconds / large
print("tepal dedup", large, f"{seconds:.3f}", f"{each * 1e9:.1f}", "1.00", peak, "1.0", sep="\t")
print(f"# a line of {large} with tepal against one of {small} with awk: {awk_each / each:.1f} times "
      f"faster, with sort -u: {sort_each / each:.1f}; a {peaks['awk'] / peak:.0f}th of awk's memory")
PY
python3 measure.py "$tepal" "$memory" "$small" "$large" "$rounds"
