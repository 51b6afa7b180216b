#!/usr/bin/env bash
# dedup: first sightings out, for ever; states that outlive the process, whatever ends it.
source "$(dirname "$0")/lib.sh"

# Lines with repeats, and what is right: awk forgets nothing, and neither does enough memory.
awk 'BEGIN { srand(5); for (i = 0; i < 30000; i++) print "line " int(rand() * rand() * 9000) }' >lines
awk '!s[$0]++' lines >first
awk 's[$0]++' lines >again
dedup() {
    "$tepal" dedup --seed 7 -q --fp 1e-6 "$@"
}
run dedup --memory 1Mi lines
same 'first sightings' "$work/out" first
is 'nothing is said with -q' "$code $(cat "$work/err")" '0 '
run dedup -d lines
same '-d: repeats' "$work/out" again
for layout in flat partitioned blocked paired; do
    run dedup --memory 1Mi --layout $layout lines
    same "$layout: first sightings" "$work/out" first
done
for phases in 1 3 8; do
    run dedup --phases $phases lines
    same "$phases phases: first sightings" "$work/out" first
done
expect '-c' 0 "$(wc -l <first)"$'\n' '' dedup -c lines
expect '-c -d' 0 "$(wc -l <again)"$'\n' '' dedup -cd lines
run dedup <lines
same 'from standard input' "$work/out" first
gzip -c lines >lines.gz
run dedup lines.gz
same 'compressed' "$work/out" first
run dedup lines lines.gz
same 'across files' "$work/out" first
expect 'an empty line is a line' 0 $'\na\n' '' dedup <<<$'\n\na\n'
printf 'a\nb\na' >unended
expect 'the last line needs no newline' 0 $'a\nb\n' '' dedup unended
printf 'b\0a\nx\0b\0' >nulls
run dedup -0 nulls
is '-0' "$(od -An -c <"$work/out" | tr -d ' \n')" 'b\0a\nx\0'
expect '--hex' 0 $'6a\n7b\n' '' dedup --hex <<<$'6a\n7b\n6A'
refused '--hex: a wrong line' 'standard input: line 1, character 1: not a hexadecimal digit; nothing was read' \
    dedup --hex <<<$'xx\n6a'
wrong='standard input: line 3, character 2: not a hexadecimal digit'
refused '--hex: a wrong line, counting' "$wrong; the lines before it were read" \
    dedup --hex -c <<<$'6a\n6a\n7x\n8b'
expect '--hex: lines before a wrong one' 2 $'6a\n' "tepal: $wrong; the lines before it are out"$'\n' \
    dedup --hex <<<$'6a\n6a\n7x\n8b'
expect '--hex: repeats before a wrong one' 2 $'6a\n' \
    "tepal: $wrong; the repeats before it are out"$'\n' dedup --hex -d <<<$'6a\n6a\n7x\n8b'
in_pieces() {
    for piece in $'6a\n' $'6a\n7' $'x\n8b\n'; do
        printf %s "$piece"
        sleep 0.05
    done
}
expect '--hex: the same in pieces' 2 $'6a\n' "tepal: $wrong; the lines before it are out"$'\n' \
    dedup --hex < <(in_pieces)
run dedup </dev/null
is 'no lines: done' "$code $(cat "$work/out" "$work/err")" '0 '

# ---- fields
cat >log <<'LOG'
10.0.0.1 - GET /a 200
10.0.0.2   -  GET /a 200
10.0.0.1 - GET /b 404
short
	10.0.0.2 - GET /c 200

LOG
expect '--field 1' 0 $'10.0.0.1 - GET /a 200\n10.0.0.2   -  GET /a 200\nshort\n\n' '' \
    dedup --field 1 log
expect '--field 4' 0 $'10.0.0.1 - GET /a 200\n10.0.0.1 - GET /b 404\nshort\n\t10.0.0.2 - GET /c 200\n' '' \
    dedup --field 4 log
expect '--field -d' 0 $'10.0.0.1 - GET /b 404\n\t10.0.0.2 - GET /c 200\n' '' dedup -d --field 1 log
expect '--delimiter' 0 $'a,,1\nb,x,1\n' '' dedup --field 2 --delimiter , <<<$'a,,1\nb,x,1\nc,,2\nnone'
expect '--delimiter \t' 0 $'a\t1\nb\t2\n' '' dedup --field 2 --delimiter '\t' <<<$'a\t1\nb\t2\nc\t1'
refused 'a long delimiter' 'dedup: --delimiter ab: one character is needed (\t is a tab)' \
    "$tepal" dedup --delimiter ab
refused 'field 0' 'dedup: --field 0: too small: the minimum is 1' "$tepal" dedup --field 0

# ---- figures
like 'the line of figures' "$("$tepal" dedup --seed 7 -c lines 2>&1 >/dev/null)" \
    "^lines 30000, new $(wc -l <first), repeated $(wc -l <again), cycles 0, fill 0\.[0-9] %, false positives .*, false negatives 0 %\$"
run "$tepal" dedup -c --json --seed 7 --memory 512 lines
is '-c --json: to standard output' "$(field "$work/out" lines)" 30000
is '--json: new and repeated make lines' \
    "$(($(field "$work/out" new) + $(field "$work/out" repeated)))" 30000
is '--json: memory' "$(field "$work/out" memory)" 512
is '--json: it recycled' "$(python3 -c "print($(field "$work/out" cycles) > 10)")" True
is '--json: the average rate is about that asked for' \
    "$(python3 -c "print(0.008 < $(field "$work/out" fp_average) < 0.0115)")" True
# The false negatives, as awk counts them: of the repeats, those that were printed.
"$tepal" dedup --seed 7 --memory 512 -q lines >some
truth=$(awk 'NR == FNR { n[$0]++; next } { seen[$0]++ } END { for (k in seen) { r += seen[k] - 1; m += n[k] > 0 ? n[k] - 1 : 0 } print m / r }' some lines)
is '--json: false negatives as counted (the sample is everything here)' \
    "$(python3 -c "print(abs($(field "$work/out" fn_estimated) - $truth) < 0.02 * $truth)")" True
# The ways of counting false positives: by hand from what was printed (all keys are watched here).
awk 'BEGIN { srand(6); for (i = 0; i < 30000; i++) print "key" int(rand() * rand() * 9000) }' >keys
"$tepal" dedup --seed 7 --memory 2Ki --fp 5% -q -c --json keys >ways
nl -ba -w1 -s ' ' keys >numbered
"$tepal" dedup --seed 7 --memory 2Ki --fp 5% -q --field 2 numbered >kept
is 'count-first, count-each, count-instance as counted' "$(python3 - <<'PY'
import collections, json
lines = [line.split() for line in open("numbered")]
kept = {line.split()[0] for line in open("kept")}
eta, taken = collections.Counter(key for _, key in lines), set()
came = set()
for number, key in lines:
    if key not in came and number not in kept:
        taken.add(key)
    came.add(key)
by_hand = {"fp_first": len(taken) / len(lines), "fp_each": sum(eta[k] for k in taken) / len(lines),
           "fp_instance": len(taken) / len(came), "distinct": len(came),
           "distinct_low": len(came), "distinct_high": len(came)}
got = json.load(open("ways"))
print(len(taken) > 50, [name for name, value in by_hand.items() if abs(got[name] / value - 1) > 1e-12])
PY
)" 'True []'

# ---- how many different lines
expect '--count-distinct: exact for few' 0 "$(sort -u keys | wc -l) (exact)"$'\n' '' \
    "$tepal" dedup --seed 7 --memory 64 --phases 1 -q --count-distinct keys
seq 1 60000 | awk '{ print int($1 * $1 * 7919 % 100003 / 1.5); print $1 }' >many
run "$tepal" dedup --seed 7 --memory 4Ki -q --count-distinct many
# Four and a half standard errors: once in 10^5.
is '--count-distinct: the number, and a narrow interval' "$(python3 - "$(sort -u many | wc -l)" <<PY
import re, sys
n, low, high = map(int, re.fullmatch(r"(\\d+) \\(95 %: (\\d+) to (\\d+)\\)\\n", open("$work/out").read()).groups())
truth = int(sys.argv[1])
print(abs(n - truth) < 4.5 * (high - low) / 2 / 1.96, low < n < high, high - low < 0.05 * truth)
PY
)" 'True True True'
run "$tepal" dedup --seed 7 --memory 4Ki -q --count-distinct --json many
is '--count-distinct --json' "$(python3 -c '
import json, sys
d = json.load(open(sys.argv[1])); print(d["distinct_low"] < d["distinct"] < d["distinct_high"], d["new"] > 1.02 * d["distinct"])' "$work/out")" 'True True'
run "$tepal" dedup --count-distinct -c keys
is '--count-distinct and -c' "$code" 2
run "$tepal" dedup --seed 7 -q --state distinct.state -c keys
run "$tepal" dedup -q --state distinct.state --count-distinct --json keys
is 'a state: different lines of this run, no ways of counting' "$(python3 -c '
import json, sys
d = json.load(open(sys.argv[1])); print(d["distinct"], d["fp_first"], d["fp_each"], d["fp_instance"])' "$work/out")" \
    "$(sort -u keys | wc -l).0 None None None"
run "$tepal" dedup --json lines
is '--json: figures to standard error' "$(field "$work/err" lines)" 30000
like 'a rate that is not kept is told' "$("$tepal" dedup -c --fp 1e-6 --count 5000 --memory 1Ki lines 2>&1 >/dev/null)" \
    'warning: the average false-positive rate is above --fp 1e-6: give more --memory, or recycle sooner$'
for rule in '--count 5000' '--sigma 4000' '--every 7d'; do
    like "a rate that is not kept is told: $rule and no --fp" \
        "$("$tepal" dedup -c $rule --memory 1Ki lines 2>&1 >/dev/null)" \
        'warning: the average false-positive rate is above --fp 1% \(the default\): give more --memory, or recycle sooner$'
done
"$tepal" dedup -c --fp 20% --memory 1Ki --state lax lines >/dev/null 2>&1
is 'a state made for a higher rate is no fault' \
    "$("$tepal" dedup -c --state lax lines 2>&1 >/dev/null | grep -c warning)" 0

# ---- when it recycles
cycles() {
    "$tepal" dedup -c --json --seed 7 "$@" lines | python3 -c 'import json, sys; print(json.load(sys.stdin)["cycles"])'
}
is '--count: a cycle every 100 new lines' "$(cycles --count 100 --phases 8 --memory 1Mi)" \
    "$(python3 - <<'PY'
count, cycles, phases = 100, 0, []
active, n = set(), 0
for line in open("lines"):
    if line not in active:
        if n == count:
            cycles, active, n = cycles + 1, set(), 0
        active.add(line)
        n += 1
print(cycles)
PY
)"
is '--sigma: fewer bits, more cycles' \
    "$(($(cycles --sigma 500 --memory 1Ki) > $(cycles --sigma 2000 --memory 1Ki)))" 1
# Inserted only when it comes out: sets that do the same. A line that is always there comes again.
awk 'BEGIN { for (i = 0; i < 2000; i++) print i % 3 == 0 ? "alert" : i }' >alerts
python3 - >want <<'PY'
active, frozen = set(), set()
for line in open("alerts"):
    if line not in active and line not in frozen:
        if len(active) == 50:
            active, frozen = set(), active
        active.add(line)
        print(line, end="")
PY
run dedup --count 50 --only-misses alerts
same '--only-misses: as sets say' "$work/out" want
is '--only-misses: the alert comes again' "$(($(grep -c alert want) > 10))" 1
is 'without: it never does' "$(dedup --count 50 alerts | grep -c alert)" 1
head -777 alerts | dedup --count 50 --only-misses --state once >got
tail -n +778 alerts | "$tepal" dedup -q --state once >>got
same '--only-misses: the state remembers' got want
rm once
is '--every: a long time, no cycle' "$(cycles --every 7d)" 0

# ---- by the times of the lines: phases of 60 / (P - 1) seconds, counted by hand
python3 - >events <<'PY'
import random
random.seed(4)
t = 1e9
for i in range(40000):
    t += random.expovariate(10)
    print(f"{t:.3f} " + (f"event{int(1200 * random.random() ** 1.5)}" if random.random() < 0.9 else f"once{i}"))
PY
cat >"$work/within.py" <<'PY'
import sys
frame, phases = int(sys.argv[1]), int(sys.argv[2])
only_misses = "--only-misses" in sys.argv
every = -(-frame // (phases - 1))
last, start = {}, None
for line in open("events"):
    time, key = line.split()
    ms = int(time.replace(".", ""))
    start = ms if start is None else start
    phase = (ms - start) // every
    seen = key in last and phase - last[key] < phases
    if not seen:
        print(line, end="")
    if not (only_misses and seen):
        last[key] = phase
PY
for phases in 2 3 8; do
    python3 "$work/within.py" 60000 $phases >want
    run dedup --within 60s --phases $phases --time-field 1 --field 2 events
    same "--within: $phases phases by the times of the lines" "$work/out" want
done
run dedup --within 1m --time-field 1 --field 2 events
same '--within: 8 phases by default' "$work/out" want
run dedup --every 8572ms --phases 8 --time-field 1 --field 2 events
same '--every: the same phases' "$work/out" want
python3 "$work/within.py" 60000 8 --only-misses >want
run dedup --within 1m --time-field 1 --field 2 --only-misses events
same '--within --only-misses' "$work/out" want
python3 "$work/within.py" 60000 8 >want
head -15000 events | dedup --within 1m --time-field 1 --field 2 --state timed >got
tail -n +15001 events | "$tepal" dedup -q --state timed --time-field 1 --field 2 >>got
same '--within: the state knows the clock' got want

# What was forgotten, by age: none up to 60 s, all from 8 / 7 of that on, a line between.
run "$tepal" dedup --within 1m --time-field 1 --field 2 --lines 700 -c --json --seed 7 --ages ages.tsv --svg ages.svg events
cp "$work/out" figures
is 'ages: each step counted by hand; none, a straight line, all' "$(python3 - <<'PY'
import math
every, phases = 8572, 8
step = 1.5 * every * phases / 60
rows = [list(map(float, line.split("\t"))) for line in open("ages.tsv").readlines()[1:]]
repeats, missed, last, start = [0] * 60, [0] * 60, {}, None
for line in open("events"):
    time, key = line.split()
    now = int(time.replace(".", ""))
    start = now if start is None else start
    if key in last and (now - last[key]) / step < 60:
        repeats[int((now - last[key]) / step)] += 1
        missed[int((now - last[key]) / step)] += (now - start) // every - (last[key] - start) // every >= phases
    last[key] = now
print([(int(r[1]), int(r[2])) for r in rows] == list(zip(repeats, missed)))
young = [r for r in rows if (r[0] * 1000 + step / 2) <= (phases - 1) * every + 1]
old = [r for r in rows if (r[0] * 1000 - step / 2) >= phases * every - 1]
between = [r for r in rows if r not in young and r not in old]
print(len(young), all(r[3] == 0 == r[4] for r in young), len(old), all(r[3] == 1 and r[4] > 0.9999 for r in old))
print(len(between), all(abs(r[3] - r[4]) < 6.5 * math.sqrt(r[4] * (1 - r[4]) / r[1]) for r in between),
      all(abs(r[4] - (r[0] * 1000 / every - 7)) < 0.03 for r in between))
PY
)" 'True
35 True 20 True
5 True True'
like 'ages: drawn' "$(head -c 4 ages.svg) $(grep -c 'class="curve' ages.svg)" '^<svg [1-9]'

# --lines: as many different lines in every phase; the average is what was asked for.
awk 'BEGIN { for (i = 0; i < 40000; i++) printf "%.3f line%d\n", i / 100, i }' >fresh
for layout in flat blocked; do
    run "$tepal" dedup --every 10s --phases 4 --lines 1000 --time-field 1 --field 2 -c --json --seed 7 -l $layout fresh
    is "--lines, $layout: the average rate, in memory that is not too much" "$(python3 -c "
import json
f = json.load(open('$work/out'))
print(0.85 < f['fp_average'] / 0.01 <= 1.02, f['cycles'], 4 * 1000 * 9 < 8 * f['memory'] < 4 * 1000 * 16)")" 'True 39 True'
done
tac events | head -100 >backwards
like 'times that go backwards' "$("$tepal" dedup --within 1m --time-field 1 --field 2 -c backwards 2>&1 >/dev/null | head -1)" \
    'dedup: warning: the clock went backwards'
printf '1 a\n2 b\nx c\n' >bad
expect 'a time that is none' 2 $'1 a\n2 b\n' \
    $'tepal: bad: line 3: the time is not a number of seconds; the lines before it are out\n' \
    dedup --within 1m --time-field 1 --field 2 bad
expect 'a time that is none, counting' 2 '' \
    $'tepal: bad: line 3: the time is not a number of seconds; the lines before it were read\n' \
    dedup -c --within 1m --time-field 1 --field 2 bad
for time in -1 1e3 .5 1.2.3 inf 99999999999999999; do
    run dedup --within 1m --time-field 1 --field 2 <<<"$time a"
    like "no time: $time" "$code $(cat "$work/err" "$work/out")" \
        '^2 tepal: standard input: line 1: the time is (not a number of seconds|too large); nothing was read$'
done
refused 'no time field' 'standard input: line 1: no time: the line has too few fields; nothing was read' \
    dedup --within 1m --time-field 3 --field 2 <<<'1 a'
refused 'times without --every' 'dedup: --time-field needs --every or --within; nothing was read' dedup --time-field 1 lines
refused 'ages without --every' 'dedup: --ages needs --every or --within; nothing was read' dedup --ages x lines
refused '--within one phase' 'dedup: --within needs 2 phases at least; nothing was read' dedup --within 1m --phases 1 lines
refused '--within and --every' 'dedup: --within and --every cannot be combined: give one of them' \
    dedup --within 1m --every 1m lines
refused '--lines and --memory' 'dedup: --lines and --memory cannot be combined: give one of them' \
    dedup --lines 5 --memory 5k lines
refused 'ages over the lines' 'events: the output would overwrite another file of this command; nothing was read' \
    dedup --within 1m --ages events events
refused 'ages and picture in one' 'new: the output would overwrite another file of this command; nothing was read' \
    dedup --within 1m --ages new --svg new events
refused 'ages are not overwritten' 'ages.tsv: the file exists; use --force to overwrite it; nothing was read' \
    dedup --within 1m --ages ages.tsv events

# ---- refused
refused 'sigma too large' 'dedup: --sigma 8192: a phase has 4096 bits, and sigma must be below that; nothing was read' \
    "$tepal" dedup --memory 1Ki --sigma 8192 lines
run "$tepal" dedup --memory 1Ki --sigma 3 --hashes 5 lines
is 'sigma below the hashes' "$code $(wc -l <"$work/err") $(wc -c <"$work/out")" '2 1 0'
refused 'no phases' 'dedup: --phases 0: too small: the minimum is 1' "$tepal" dedup --phases 0
refused 'nine phases' 'dedup: --phases 9: too large: the maximum is 8' "$tepal" dedup --phases 9
refused 'too little memory' \
    'dedup: --memory 127: too little for one line: 2 phases of the blocked layout need at least 128 bytes; nothing was read' \
    "$tepal" dedup --memory 127 lines
refused 'a rate that digests cannot keep' \
    'dedup: --fp 1e-60: too low: digests of 128 bits keep 7.5e-37 or more for 1 key; nothing was read' \
    "$tepal" dedup --fp 1e-60 lines
refused 'a rate that cannot be kept' \
    'dedup: the rate cannot be kept: give more --memory, a higher --fp, other --hashes or --layout flat; nothing was read' \
    "$tepal" dedup --memory 16 --layout flat --fp 1e-12 lines
refused 'two rules' 'dedup: --count and --every cannot be combined: give one of them' \
    "$tepal" dedup --count 5 --every 5s
refused 'no unit of time' 'dedup: --every 10: not a duration: write 500ms, 90s, 10m or 10min, 2h, 1h30m or 7d' \
    "$tepal" dedup --every 10
refused 'no time at all' 'dedup: --every 0s: too short: the minimum is 1ms' "$tepal" dedup --every 0s
refused 'no such file' 'none: No such file or directory; nothing was read' "$tepal" dedup none
cp lines mine
"$tepal" dedup mine >>mine 2>"$work/err"
is 'input is output' "$? $(cat "$work/err")" \
    '2 tepal: mine: the lines are also the output; nothing was read'
"$tepal" dedup lines >/dev/full 2>"$work/err"
is 'a full device' "$? $(tail -1 "$work/err")" '2 tepal: standard output: No space left on device'

# ---- states
head -13000 lines >part1
tail -n +13001 lines >part2
small=(--memory 2Ki --fp 1% --seed 7)
"$tepal" dedup "${small[@]}" -q --state whole lines >want
"$tepal" dedup "${small[@]}" -q --state parts part1 >got
"$tepal" dedup --state parts -q part2 >>got
same 'a restart goes on identically: output' got want
same 'a restart goes on identically: state' parts whole
absent 'the lock is gone' parts.lock
is 'the state is a sound filter' "$("$tepal" verify parts)" 'parts: OK'
"$tepal" dedup "${small[@]}" -q --state parts2 part1 >got
"$tepal" dedup "${small[@]}" -q --state parts2 part2 >>got
same 'the same options again' got want
: >empty
"$tepal" dedup "${small[@]}" -q --state empty lines >got
same 'an empty file is a new state' empty whole
cp whole before
inode=$(stat -c %i whole)
"$tepal" dedup --state whole -q </dev/null
is 'nothing came, nothing is written' "$(stat -c %i whole)" "$inode"

other() {
    refused "another $1" "whole: this state was made with other parameters: $2; nothing was read" \
        "$tepal" dedup --state whole "${@:3}" lines
    same "another $1: not overwritten" whole before
}
other phases 'its number of phases is 2, and the options give 1' --phases 1
other memory 'its memory in bytes is 2048, and the options give 4096' --memory 4Ki
other layout 'its layout is blocked, and the options give flat' --layout flat
other rule 'it recycles by average, and the options give count' --count 5 --hashes 7
other time 'it recycles by average, and the options give every' --every 5m
other sigma 'it recycles by average, and the options give sigma' --rule sigma
other hashes 'its number of hashes is 7, and the options give 3' --hashes 3
other rate 'its false-positive rate is 1 %, and --fp gives 5 %' --fp 5%
other way 'it holds every line, but --only-misses is given' --only-misses
other seed 'its seed is 7, and the options give 8' --seed 8
cp whole average
rm whole
"$tepal" dedup "${small[@]}" --rule sigma -q --state whole lines >/dev/null
cp whole before
other sigma "its sigma is $("$tepal" info --json whole | python3 -c 'import json, sys; print(json.load(sys.stdin)["limit"])'), and the options give 99" \
    --sigma 99 --hashes 7
other 'rate of sigma' 'its false-positive rate is 0.9989 %, and --fp gives 5 %' --fp 5%
cp average whole
"$tepal" build lines -o bloom -q --seed 7
cp bloom before
refused 'a state of another kind' \
    'bloom: this is a filter of the kind bloom, not a state of dedup; nothing was read' \
    "$tepal" dedup --state bloom lines
same 'another kind: not overwritten' bloom before
refused 'a state that is no filter' \
    'first: the first bytes are not those of a tepal filter (byte 0); nothing was read' \
    "$tepal" dedup --state first lines
head -c 100 whole >cut
run "$tepal" dedup --state cut lines
is 'a damaged state' "$code $(wc -c <cut) $(wc -l <"$work/err")" '2 100 1'
refused 'a state in no folder' \
    "none/s: cannot write to the directory none: No such file or directory; nothing was read" \
    "$tepal" dedup --state none/s lines
refused 'the state is the input' 'whole: the state would overwrite the lines; nothing was read' \
    "$tepal" dedup --state whole whole
refused 'no state on standard output' 'dedup: --state -: the state must be a file; nothing was read' \
    "$tepal" dedup --state - lines
is 'no locks are left' "$(ls ./*.lock 2>/dev/null)" ''
printf '0123456789abcdef' >key
"$tepal" dedup --memory 64Ki --key-file key -q --state keyed part1 >got
"$tepal" dedup --key-file key -q --state keyed part2 >>got
sort got | uniq -d >twice
is 'a keyed state' "$(wc -l <twice | tr -d ' ') $(($(wc -l <got) > $(wc -l <first) * 97 / 100))" '0 1'
refused 'a keyed state without its key' \
    "keyed: this filter was made with a secret key: give --key-file; nothing was read" \
    "$tepal" dedup --state keyed lines
refused 'a state of another hash' \
    "keyed: this state was made with other parameters: its hash is siphash-128, and the options give siphash13-128; nothing was read" \
    "$tepal" dedup --state keyed --key-file key --hash siphash13 lines
"$tepal" dedup --memory 64Ki --key-file key --hash siphash13 -q --state keyed13 part1 >got
"$tepal" dedup --key-file key -q --state keyed13 part2 >>got
is 'a state by SipHash-1-3' "$(sort got | uniq -d | wc -l | tr -d ' ')" 0
refused '--hash alone' 'dedup: --hash needs --key-file; nothing was read' "$tepal" dedup --hash siphash13 lines

# ---- the rate, for new lines
# 2 % of the lines are new, the others any of 4290: by sigma 3 % of the new ones are lost.
awk 'BEGIN { srand(9); for (i = 0; i < 400000; i++)
    print rand() < 0.02 ? "new" i : int(4290 * rand()) }' >repeats
lost() { # lost OPTIONS...: the share of the new lines that are not printed, in units of 1e-4
    "$tepal" dedup --memory 4Ki --fp 1% --seed 7 -q "$@" repeats | grep -c new >got
    awk -v got="$(cat got)" '/new/ { n++ } END { printf "%.0f\n", 1e4 * (n - got) / n }' repeats
}
# 8000 new lines: 1 % of them is 80 +- 9, and 6.5 standard errors are 0.73 %.
for phases in 1 2; do
    share=$(lost --phases $phases)
    is "average: 1 % of the new lines are lost, $phases phases ($share)" $((share > 27 && share < 173)) 1
done
share=$(lost --phases 1 --rule sigma)
is "sigma: twice as many and more ($share)" $((share > 200)) 1
"$tepal" dedup --memory 4Ki --phases 1 --seed 7 -c -q --json repeats >figures
is 'average: the rate is told' "$(python3 -c "print(0.0099 < $(field figures fp_average) < 0.01005)")" True
like 'a figure at its floor: less than' "$(printf 'a\nb\n' | "$tepal" dedup -c 2>&1 >/dev/null)" \
    'false positives less than [0-9.]+e-[0-9]+ \(1 in '
like 'a figure at its floor, by sigma' "$(echo a | "$tepal" dedup --rule sigma -c 2>&1 >/dev/null)" \
    'false positives less than [0-9.]+e-[0-9]+ \(1 in '
refused 'average and only misses' \
    'dedup: --only-misses cannot be combined with --rule average: give --rule sigma, --count or --every; nothing was read' \
    "$tepal" dedup --rule average --only-misses lines
refused 'two ways' 'dedup: --rule and --count cannot be combined: give one of them' \
    "$tepal" dedup --rule average --count 5 lines

# A state of 0.1.0 goes on as it would there, and says how to change it; then it is changed.
seq -f 'golden-%.0f' 200 400 >later
cp "$here/../golden/dedup-0.1.0.tepal" old
run "$tepal" dedup --state old -c later
is 'a state of 0.1.0: as 0.1.0 goes on' "$code $(cat "$work/out")" '0 147'
is 'a state of 0.1.0: how to change it, once' "$(grep -c -- '--rule' "$work/err") $(head -1 "$work/err")" \
    '1 tepal: old: this state recycles by sigma, and more new lines than its rate are lost if lines repeat a lot; --rule average changes that, --rule sigma keeps it'
"$tepal" info --json old >about
is 'a state of 0.1.0: it keeps its rule' \
    "$(python3 -c 'import json; d = json.load(open("about")); print(d["rule"], d["keys_added"])')" 'sigma 451'
for quiet in -q '--rule sigma'; do
    cp "$here/../golden/dedup-0.1.0.tepal" old
    is "a state of 0.1.0: $quiet says nothing of it" \
        "$("$tepal" dedup --state old -c $quiet later 2>&1 >/dev/null | grep -c -- --rule)" 0
done
cp "$here/../golden/dedup-0.1.0.tepal" old
cp old before
run "$tepal" dedup --state old --rule average --fp 5% --phases 1 -c later
is 'changed in other ways too: refused' "$code" 2
same 'changed in other ways too: it stays' old before
tail -n 20 later >last
run "$tepal" dedup --state old -c --rule average </dev/null
is 'a state of 0.1.0: changed' "$code $("$tepal" info --json old | python3 -c '
import json, sys
d = json.load(sys.stdin); print(d["rule"], round(d["fp_average"], 4), d["cycles"])')" '0 average 0.0099 2'
is 'it has not forgotten' "$(seq -f 'golden-%.0f' 230 249 | "$tepal" dedup --state old -c -q)" 0
is 'and says no more' "$("$tepal" dedup --state old -c last 2>&1 >/dev/null | grep -c -- --rule)" 0
cp before old
"$tepal" dedup --state old -c -q --rule average --fp 5% last >/dev/null
is '--fp: the new rate' "$("$tepal" info old | awk '$1 == "fp_average"')" 'fp_average          5 %'
head -50 alerts | "$tepal" dedup --count 50 --only-misses -q --state once >/dev/null
refused 'what cannot be changed' \
    'once: by average the trigger is retained, not kept, and all keys are inserted; nothing was read' \
    "$tepal" dedup --state once --rule average later
rm once

# A full disk: the limit of a file's size stands in for it. It goes on, and the old state stays.
cp whole state
"$tepal" dedup --state state -q lines >large
cp whole state
(
    ulimit -f 1
    "$tepal" dedup --state state -q lines 2>"$work/err" | cat | wc -l | tr -d ' ' >"$work/out"
    echo "${PIPESTATUS[0]}" >"$work/code"
)
is 'a full disk: it goes on' "$(cat "$work/out")" "$(wc -l <large | tr -d ' ')"
is 'a full disk: told' "$(cat "$work/code") $(cat "$work/err")" \
    '2 tepal: state: the state could not be saved (File too large): the previous one is kept'
same 'a full disk: the old state stays' state whole
is 'a full disk: nothing else stays' "$(ls -A | grep -c '^\.tepal\|\.tmp$\|\.lock$')" 0

# ---- life and death
cat >"$work/life.py" <<'PY'
import json, os, select, signal, subprocess, sys, time
tepal = sys.argv[1]

def start(*more, stdin=subprocess.PIPE):
    return subprocess.Popen([tepal, "dedup", "--memory", "4Ki", "--seed", "7", *more], stdin=stdin,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

def read_some(file, want):
    """At least `want` bytes, if they come within 20 seconds."""
    data = b""
    end = time.monotonic() + 20
    while len(data) < want and select.select([file], [], [], max(0, end - time.monotonic()))[0]:
        piece = os.read(file.fileno(), 65536)
        if not piece:
            break
        data += piece
    return data

def send(child, data):
    child.stdin.write(data)
    child.stdin.flush()

def flows():
    child = start()
    send(child, b"a\nb\na\nc")
    first = read_some(child.stdout, 4)
    send(child, b"d\n")
    second = read_some(child.stdout, 3)
    child.stdin.close()
    return first, second, child.wait(20)

def tells():
    child = start("--json")
    send(child, b"a\nb\na\n")
    read_some(child.stdout, 4)
    child.send_signal(signal.SIGUSR1)
    line = read_some(child.stderr, 10)
    while not line.endswith(b"\n"):
        line += read_some(child.stderr, 1)
    send(child, b"a\n")
    child.stdin.close()
    last = child.stderr.read()
    return json.loads(line)["lines"], json.loads(last)["lines"], child.wait(20)

def tells_early():
    """Asked before it has read its key, let alone per line: it answers later."""
    os.mkfifo("key.pipe")
    child = start("--json", "--key-file", "key.pipe", stdin=subprocess.DEVNULL)
    with open("key.pipe", "wb") as pipe:  # it is there, and waits for the key
        child.send_signal(signal.SIGUSR1)
        time.sleep(0.05)
        pipe.write(b"0123456789abcdef")
    err = child.stderr.read()
    os.remove("key.pipe")
    return [json.loads(line)["lines"] for line in err.splitlines()], child.wait(20)

def ends(number):
    child = start("--state", "ended", "-q")
    send(child, b"a\nb\nhalf a li")
    out = read_some(child.stdout, 4)
    child.send_signal(number)
    code = child.wait(20)
    again = subprocess.run([tepal, "dedup", "-q", "--state", "ended"], input=b"b\nc\nhalf a li\n",
                           stdout=subprocess.PIPE).stdout
    os.remove("ended")
    return out, code, again, os.path.exists("ended.lock")

def second():
    child = start("--state", "busy")
    send(child, b"a\n")
    read_some(child.stdout, 2)
    other = subprocess.run([tepal, "dedup", "--state", "busy"], input=b"b\n",
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    child.stdin.close()
    child.wait(20)
    after = subprocess.run([tepal, "dedup", "-q", "--state", "busy"], input=b"a\nb\n",
                           stdout=subprocess.PIPE)
    return other.returncode, other.stdout, other.stderr.count(b"\n"), \
        other.stderr.endswith(b"busy: another command is changing this file; nothing was read\n"), after.stdout

def saves_when_idle():
    child = start("--state", "idle", "--save-every", "50ms")
    send(child, b"a\nb\n")
    read_some(child.stdout, 4)
    for _ in range(400):
        if os.path.exists("idle"):
            break
        time.sleep(0.05)
    child.kill()
    child.wait()
    left = os.path.exists("idle.lock")
    after = subprocess.run([tepal, "dedup", "-q", "--state", "idle"], input=b"a\nb\nc\n",
                           stdout=subprocess.PIPE)
    return left, after.returncode, after.stdout, os.path.exists("idle.lock")

def forgets():
    """Once an answer is out, a line is gone after the time of all phases, however slow we are."""
    child = start("--every", "100ms")
    send(child, b"a\n")
    first = read_some(child.stdout, 2)
    time.sleep(0.3)
    send(child, b"a\n")
    second = read_some(child.stdout, 2)
    child.stdin.close()
    return first, second, child.wait(20)

def comes_again():
    """A line that keeps coming, for longer than both phases last, comes out again."""
    child = start("--every", "100ms", "--only-misses", "-q")
    send(child, b"a\n")
    out = read_some(child.stdout, 2)
    for _ in range(2000):
        send(child, b"a\n")
        if select.select([child.stdout], [], [], 0.01)[0]:
            out += os.read(child.stdout.fileno(), 2)
            break
    child.stdin.close()
    return out, child.wait(20)

def killed(times):
    """Killed in the middle again and again: the state is sound each time, and goes on."""
    endless = "i=0; while :; do seq $i $((i + 2000)); i=$((i + 1000)); done"
    for _ in range(times):
        feeder = subprocess.Popen(["bash", "-c", endless], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        child = subprocess.Popen([tepal, "dedup", "--memory", "256Ki", "--state", "killed",
                                  "--save-every", "1ms", "-c"], stdin=feeder.stdout,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        feeder.stdout.close()
        for _ in range(400):
            if os.path.exists("killed"):
                break
            time.sleep(0.01)
        time.sleep(0.05)
        alive = child.poll() is None
        child.kill()
        child.wait()
        feeder.kill()
        feeder.wait()
        if not alive or subprocess.run([tepal, "verify", "-q", "killed"]).returncode != 0:
            return False
    for name in os.listdir("."):
        if name.startswith(".tepal"):
            os.remove(name)
    return True

print(flows())
print(tells())
print(tells_early())
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    print(ends(number))
print(second())
print(saves_when_idle())
print(forgets())
print(comes_again())
print(killed(8))
PY
is 'it flows, tells, ends, and is alone' "$(timeout 120 python3 "$work/life.py" "$tepal")" \
"(b'a\\nb\\n', b'cd\\n', 0)
(3, 4, 0)
([0, 0], 0)
(b'a\\nb\\n', 0, b'c\\nhalf a li\\n', False)
(b'a\\nb\\n', 0, b'c\\nhalf a li\\n', False)
(b'a\\nb\\n', 0, b'c\\nhalf a li\\n', False)
(2, b'', 1, True, b'b\\n')
(True, 0, b'c\\n', False)
(b'a\\n', b'a\\n', 0)
(b'a\na\n', 0)
True"
ln -s whole link
cp whole before
"$tepal" dedup --state link -q </dev/null
echo new | "$tepal" dedup --state link -q >/dev/null
is 'through a link' "$(readlink link) $(cmp -s whole before || echo changed)" 'whole changed'

finish
