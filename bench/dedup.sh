#!/usr/bin/env bash
# tepal dedup beside awk '!s[$0]++' and sort -u, which are exact and need memory for every line, or a
# disk. All take turns, round by round, and the median counts. Compare within a run only.
#
#     bench/dedup.sh TEPAL [--quick]
#
# On 10 million lines of 16 bytes, all different and in no order, for all three, and on 100 million
# for tepal alone (--quick: 1 and 4 million). The lines come from tepal_dedup_lines, beside TEPAL.
# Output is TSV: seconds, seconds of processors, nanoseconds a line, how many times slower than tepal
# on the same lines, the peak of memory, and how many times that of tepal.
set -eu
export LC_ALL=C
tepal=$(realpath "$1")
small=10000000
large=100000000
rounds=${ROUNDS:-3}
memory=8Mi # of the filter
if [ "${2:-}" = --quick ]; then
    small=1000000 large=4000000 rounds=1 memory=1Mi
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >measure.py <<'PY'
import os, statistics, sys, time

tepal, source, memory = sys.argv[1:4]
small, large, rounds = map(int, sys.argv[4:])
null = os.open("/dev/null", os.O_RDWR)


def spawn(command, stdin, stdout):
    return os.posix_spawnp(command[0], command, os.environ,
                           file_actions=[(os.POSIX_SPAWN_DUP2, stdin, 0),
                                         (os.POSIX_SPAWN_DUP2, stdout, 1)])


def peak_of(child):
    """What the process has used at most so far. (What wait4 tells includes its parent's.)"""
    try:
        with open(f"/proc/{child}/status") as lines:
            return max((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")),
                       default=0)
    except OSError:
        return 0


def run(command, stdin):
    """Seconds, seconds of processors, and the peak of memory in bytes."""
    start, peak = time.monotonic(), 0
    child = spawn(command, stdin, null)
    os.close(stdin)
    while True:
        peak = max(peak, peak_of(child))
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.002)
    if status != 0:
        sys.exit(f"failed: {' '.join(command)}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, peak


dedup = (tepal, "dedup", "-q", "--seed", "1", "--memory", memory)
commands = {"tepal dedup": dedup, "awk": ("awk", "!s[$0]++"), "sort -u": ("sort", "-u")}
with open("lines", "w") as out:
    os.waitpid(spawn((source, str(small)), null, out.fileno()), 0)
times, cpu, peaks = {}, {}, {}
for turn in range(rounds):
    for name, command in commands.items():
        seconds, used, peak = run(command, os.open("lines", os.O_RDONLY))
        times.setdefault(name, []).append(seconds)
        cpu.setdefault(name, []).append(used)
        peaks[name] = max(peak, peaks.get(name, 0))
    print(f"round {turn + 1} of {rounds}", file=sys.stderr)
os.remove("lines")

print("what", "lines", "seconds", "cpu_seconds", "ns_per_line", "slower", "peak_bytes", "larger",
      sep="\t")
median = {name: statistics.median(values) for name, values in times.items()}
for name, seconds in median.items():
    print(name, small, f"{seconds:.3f}", f"{statistics.median(cpu[name]):.3f}",
          f"{seconds / small * 1e9:.1f}", f"{seconds / median['tepal dedup']:.2f}", peaks[name],
          f"{peaks[name] / peaks['tepal dedup']:.1f}", sep="\t")
# Through a pipe, so that no disk is measured.
get, put = os.pipe()
os.set_inheritable(get, False)
feeder = spawn((source, str(large)), null, put)
os.close(put)
seconds, used, peak = run(dedup, get)
os.waitpid(feeder, 0)
each = seconds / large
print("tepal dedup", large, f"{seconds:.3f}", f"{used:.3f}", f"{each * 1e9:.1f}",
      f"{each / (median['tepal dedup'] / small):.2f}", peak, f"{peak / peaks['tepal dedup']:.1f}",
      sep="\t")
print(f"# a line of {large} by tepal against one of {small}: {median['awk'] / small / each:.1f} times "
      f"faster than awk, {median['sort -u'] / small / each:.1f} times than sort -u, in 1/"
      f"{peaks['awk'] / peak:.0f} of awk's memory")
PY
python3 measure.py "$tepal" "$(dirname "$tepal")/tepal_dedup_lines" "$memory" "$small" "$large" "$rounds"
