#!/usr/bin/env bash
# gaps: the distribution of a stream's gaps, and what it predicts for dedup.
source "$(dirname "$0")/lib.sh"

# Counted on the fingers: a b a a c b: gaps 2 (a), 1 (a), 4 (b).
printf 'a\nb\na\na\nc\nb\n' >six
run "$tepal" gaps six --save six.tsv
is 'six lines' "$code $(sed -n 1,4p "$work/out" | tr '\n' '|')" \
    '0 lines    6|keys     3|new      50 % of the lines|gaps     median 2, 90 % up to 4, 99 % up to 4, longest 4|'
is 'six lines: saved' "$(cat six.tsv)" "$(printf '# arrivals 6\n# watched 6\n# keys 3\n# sample 1\n# fresh 0.5\ngap\trepeats\tsurvival\n1\t1\t0.666666667\n2\t1\t0.333333333\n4\t1\t0')"
run "$tepal" gaps --json <six
is '--json: arrivals, keys, share of new ones' \
    "$(field "$work/out" arrivals) $(field "$work/out" keys) $(field "$work/out" fresh)" '6 3.0 0.5'
printf 'x a\ny b\nz a\n' >fields
run "$tepal" gaps --field 2 --json fields
is '--field' "$(field "$work/out" keys) $(field "$work/out" gap_longest)" '2.0 2.0'
printf 'a\0b\0a\0' >nulls
run "$tepal" gaps -0 --json nulls
is '-0' "$(field "$work/out" arrivals) $(field "$work/out" keys)" '3 2.0'
seq 1 1000 >fresh
run "$tepal" gaps fresh --tsv
is 'no repeats at all: nothing to forget' "$code $(awk -F'\t' 'NR > 1 && $8 != 0' "$work/out" | wc -l | tr -d ' ')" '0 0'
run "$tepal" gaps fresh --memory 256 --json
"$tepal" dedup fresh --memory 256 -c -q --json >measured
# All lines are new, so that keys and lines are one; dedup recycles as often, to a cycle.
is 'no repeats at all: it recycles all the same' "$code $(python3 - "$work/out" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
got = json.load(open("measured"))["cycles"]
print(all(abs(r["arrivals_per_cycle"] - r["messages_per_cycle"]) <= 1 for r in rows),
      abs(1000 / rows[1]["arrivals_per_cycle"] - got) <= 1)
PY
)" '0 True True'
expect 'a sample of nothing' 0 $'lines    6\n' \
    $'tepal: gaps: warning: no key was sampled: give a larger --sample; no rates can be predicted\n' \
    "$tepal" gaps --sample 1e-9 six
run "$tepal" gaps --sample 1e-9 six --json -q
is 'a sample of nothing: --json' "$(python3 -c '
import json, sys
d = json.load(open(sys.argv[1])); print(d["arrivals"], d["keys"], d["fresh"], d["rows"])' "$work/out")" \
    '6 None None []'
refused 'a sample of nothing: no files' \
    'gaps: no key was sampled: give a larger --sample; nothing was written' \
    "$tepal" gaps --sample 1e-9 six --save nothing
absent 'a sample of nothing: no file' nothing
refused 'two files in one' 'both: the output would overwrite another file of this command; nothing was written' \
    "$tepal" gaps six --save both --svg both
refused 'two names of one file' 'both: the output would overwrite another file of this command; nothing was written' \
    "$tepal" gaps six --save both --svg ./both
absent 'two files in one: no file' both

# What it predicts is what dedup does: geometric gaps with a mean of 2000, a fifth of the lines new.
awk 'BEGIN { srand(3); for (i = 0; i < 200000; i++) {
    g = 1 + int(-2000 * log(1 - rand()))
    k[i] = rand() < 0.2 || g > i ? i : k[i - g]
    print "key" k[i] } }' >stream
"$tepal" gaps stream --memory 2Ki --json >predicted
is 'a row for 1 and one for 2 phases' "$(python3 -c '
import json
rows = json.load(open("predicted"))["rows"]
print([(r["memory"], r["phases"]) for r in rows], all(0.0095 < r["fp"] <= 0.01 for r in rows))')" \
    '[(2048, 1), (2048, 2)] True'
for phases in 1 2; do
    "$tepal" dedup stream --memory 2Ki --phases $phases --seed 7 -q -c --json >measured
    # The first of some 20 cycles forgets nothing, and dedup watches a sample with some 4000 misses
    # (2.5 %, as they come in bunches): 5 % and four times 2.5 %.
    is "$phases phases: as predicted" "$(python3 - $phases <<'PY'
import json, sys
row = json.load(open("predicted"))["rows"][int(sys.argv[1]) - 1]
got = json.load(open("measured"))
print(abs(got["fn_estimated"] / row["fn"] - 1) < 0.15, abs(got["fp_average"] / row["fp"] - 1) < 0.1,
      got["hashes"] == row["hashes"])
PY
)" 'True True True'
done
# By sigma, what new lines lose on a stream that repeats a lot: more than is asked for.
awk 'BEGIN { srand(9); for (i = 0; i < 400000; i++)
    print rand() < 0.02 ? "new" i : int(1430 * rand()) }' >repeats
for rule in sigma average; do
    "$tepal" gaps repeats --rule $rule --memory 2Ki --layout flat --json >by
    "$tepal" dedup repeats --rule $rule --memory 2Ki --layout flat --phases 1 --seed 7 -q |
        grep -c new >printed
    # 8000 new lines: the standard error of 1 % is 0.11 %, and of 2 % 0.16 %; 6.5 of them.
    is "$rule: new lines lost as predicted" "$(python3 - $rule <<'PY'
import json, sys
d = json.load(open("by"))
row = d["rows"][0]
new = sum("new" in line for line in open("repeats"))
lost = 1 - int(open("printed").read()) / new
print(d["rule"] == sys.argv[1], abs(lost - row["fp"]) < 6.5 * (row["fp"] / new) ** 0.5,
      row["fp"] > 0.018 if sys.argv[1] == "sigma" else abs(row["fp"] - 0.01) < 1e-7,
      (row["sigma"] is None) == (sys.argv[1] == "average"))
PY
)" 'True True True True'
done
# The ways of counting false positives: as predicted, and as dedup measures them.
"$tepal" gaps stream --memory 2Ki --json >predicted
"$tepal" dedup stream --memory 2Ki --phases 2 --seed 7 -c -q --json >measured
is 'count-first, count-each, count-instance' "$(python3 - <<'PY'
import collections, json
row = json.load(open("predicted"))["rows"][1]
got = json.load(open("measured"))
lines = open("stream").read().split("\n")[:-1]
eta = collections.Counter(lines)
n = len(lines)
near = lambda a, b, most: abs(a / b - 1) < most
# At most 2^14 keys are watched, of which 1 % are taken: five standard errors of at least 80.
print(near(got["fp_instance"], row["fp"], 0.55), near(got["fp_first"], row["fp_first"], 0.55),
      got["fp_first"] <= got["fp_instance"], got["fp_first"] <= got["fp_each"],
      near(row["fp_first"], row["fp"] * len(eta) / n, 0.02), row["fp_each"] == row["fp"])
PY
)" 'True True True True True True'
# A sample of the keys predicts the same.
"$tepal" gaps stream --memory 2Ki --json --sample 1/4 >sampled
is '--sample' "$(python3 -c '
import json
a, b = (json.load(open(f)) for f in ("predicted", "sampled"))
print(b["sample"], a["arrivals"] == b["arrivals"], abs(b["keys"] / a["keys"] - 1) < 0.05,
      all(abs(y["fn"] / x["fn"] - 1) < 0.05 for x, y in zip(a["rows"], b["rows"])))')" '0.25 True True True'

# The table: more memory forgets less, and the last line forgets nothing with two phases.
"$tepal" gaps stream --tsv >table
is '--tsv: names' "$(head -1 table)" \
    "$(printf 'memory\tphases\thashes\tsigma\tmessages_per_cycle\tarrivals_per_cycle\tfp\tfn\tfp_each\tfp_first')"
is 'more memory forgets less' "$(awk -F'\t' 'NR > 1 { if (($2 in last) && $8 > last[$2]) bad++; last[$2] = $8; n++ } END { print bad + 0, (n >= 10) }' table)" '0 1'
is 'memory doubles' "$(awk -F'\t' 'NR > 1 && $2 == 1 { if (m && $1 != 2 * m) bad++; m = $1; n++ } END { print bad + 0, (n >= 5) }' table)" '0 1'
is 'every rate is kept' "$(awk -F'\t' 'NR > 1 { n++; bad += $7 > 0.01 } END { print bad + 0, (n >= 10) }' table)" '0 1'
"$tepal" gaps stream --fp 1e-4 --layout flat --tsv >table
is '--fp is kept' "$(awk -F'\t' 'NR > 1 { n++; bad += $7 > 1e-4 || $7 < 9e-5 } END { print bad + 0, (n >= 10) }' table)" '0 1'

# ---- files beside it
expect '--svg' 0 "$("$tepal" gaps six)"$'\n' '' "$tepal" gaps six --svg six.svg
is '--svg: XML with two curves' "$(python3 -c '
import xml.dom.minidom
d = xml.dom.minidom.parse("six.svg")
text = "".join(t.firstChild.data for t in d.getElementsByTagName("text"))
print(d.documentElement.tagName, "1 phase" in text, "2 phases" in text, "1 kB" in text)')" \
    'svg True True True'
"$tepal" gaps stream --svg curves.svg >/dev/null
is 'the names stand beside the curves, in their colours' \
    "$(grep -cE '<text class="n[01]"[^>]*>[12] phases?</text>' curves.svg)" 2
cp six.svg before
refused '--svg: not over a file' \
    'six.svg: the file exists; use --force to overwrite it; nothing was written' \
    "$tepal" gaps six --svg six.svg
same 'it stays' six.svg before
run "$tepal" gaps six --svg six.svg --save six.tsv --force
is '--force' "$code" 0
cp six before
refused 'not over the lines' 'six: the output would overwrite another file of this command; nothing was written' \
    "$tepal" gaps six --save six --force
same 'they stay' six before
refused 'no lines' 'gaps: no lines in the input; nothing was written' "$tepal" gaps --save none </dev/null
absent 'no lines: no file' none
refused 'a rate that cannot be kept' 'gaps: too little memory for this rate; nothing was written' \
    "$tepal" gaps six --memory 8
refused '--tsv --json' 'gaps: --tsv and --json cannot be combined: give one of them' \
    "$tepal" gaps --tsv --json six
refused '--sample 0' 'gaps: --sample 0: out of range: a share must be above 0 and at most 1' \
    "$tepal" gaps --sample 0 six
refused 'no such file' 'none: No such file or directory; nothing was written' "$tepal" gaps none
"$tepal" gaps six >/dev/full 2>"$work/err"
is 'a full device' "$? $(cat "$work/err")" '2 tepal: standard output: No space left on device'

finish
