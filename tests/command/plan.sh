#!/usr/bin/env bash
# plan: constraints in, ranked plans out; spellings, refusals, JSON, the picture, the exit status.
source "$(dirname "$0")/lib.sh"

plans() { # plans EXPRESSION ARGUMENT...: of the JSON object o
    local expression=$1
    shift
    "$tepal" plan --json "$@" >json 2>err
    python3 -c 'import json, sys
o = json.load(open("json"))
p = o["plans"]
print(eval(sys.argv[1]))' "$expression"
}

is 'the smallest for ten million keys' \
    "$(plans '(p[0]["kind"], p[0]["layout"], p[0]["bits"], p[0]["hashes"], p[0]["fn"])' \
        --keys 10M --fp 1%)" "('bloom', 'flat', 95929549, 7, 0.0)"
for fp in 1% 0.01 1e-2 1/100; do
    is "--fp $fp" "$(plans 'p[0]["bits"]' --keys 10000000 --fp $fp)" 95929549
done
for keys in 10000000 10000k 10M 0.01G 1e7; do
    is "--keys $keys" "$(plans 'o["keys"]' --keys $keys)" 10000000
done
is '--keys 1Ki' "$(plans 'o["keys"]' --keys 1Ki)" 1024
is 'every kind, feasible or refused' "$(plans 'sorted(set(x["kind"] for x in p))' --keys 1k)" \
    "['bloom', 'cascade', 'counting', 'fingerprint', 'generalized', 'recycling', 'retouched', 'yesno']"
is 'what each plan tells' "$(plans \
    'all(set(x) >= set("kind layout bits bits_per_key hashes fp fn probes feasible reason command".split()) for x in p)' \
    --keys 1k --known-negatives 2k --fn 1%)" True
is 'the best first' \
    "$(plans '[x["bits"] for x in p if x["feasible"]] == sorted(x["bits"] for x in p if x["feasible"])' \
        --keys 1k --fn 1%)" True
is 'deletes' "$(plans '(p[0]["kind"], [x["reason"] for x in p if x["kind"] == "bloom"])' \
    --keys 1M --deletes)" "('fingerprint', ['keys cannot be removed'])"
is 'a memory: the least cost in it' \
    "$(plans '(p[0]["bits"] <= 8 * 2**20, o["fp"], p == sorted(p, key=lambda x: (not x["feasible"], x["cost"] or 0)))' \
        --keys 1M --memory 1Mi --cost-fp 1 --cost-fn 20)" "(True, None, True)"
is 'bits per key' "$(plans 'p[0]["bits"] <= 10 * o["keys"]' --bits-per-key 10)" True
is 'as many keys as fit' "$(plans '833000 < o["keys"] < 834500' --memory 1M --fp 1%)" True
is 'parts for a cluster' "$(plans \
    '[o["cluster"][x] for x in "nodes parts part_reserve part_bytes evened_parts".split()]' \
    --keys 1G --fp 1% --cluster 3)" '[3, 64, 15648718, 18764681, 22]'
is 'no cluster unless asked for' "$(plans '"cluster" in o' --keys 1G)" False
is 'speed' "$(plans 'p[0]["probes"]' --keys 1M --prefer speed)" 1.0
is 'a header' "$(plans '(p[0]["kind"], p[0]["bits"], p[0]["positions"])' \
    --keys 30 --header-bits 256 --known-negatives 100)" "('yesno', 256, 'distinct')"
is 'an endless stream' "$(plans '(p[0]["kind"], p[0]["remembers"] >= 1e6, p[0]["fn"])' \
    --endless --keys 1M --fp-average 1%)" "('recycling', True, None)"
is 'a law of gaps' "$(plans '(p[0]["kind"], p[0]["fn"] <= 0.05)' \
    --endless --fp 1% --fn 5% --stream zipf:0.8,100k)" "('recycling', True)"
is 'bounded for strangers in a stream: the generalized filter' \
    "$(plans '(p[0]["kind"], 95 < p[0]["bits_per_key"] < 99)' \
        --untrusted --endless --keys 1M --fp 1% --fn 1%)" "('generalized', True)"

# Known negatives as a file, gaps as tepal gaps writes them.
seq 1 500 >negatives
is 'negatives are counted' "$(plans '[x["kind"] for x in p if x["feasible"]][0] in ("yesno", "cascade")' \
    --keys 200 --known-negatives negatives)" True
run "$tepal" plan --keys 200 --known-negatives negatives
like 'the command names the file' "$(grep '^build' "$work/out")" '--avoid negatives'
awk 'BEGIN { srand(5); for (i = 0; i < 20000; i++) print int(2000 * rand() ^ 3) }' >stream
"$tepal" gaps stream --save gaps.tsv -q >/dev/null
is 'a gap file' "$(plans '(p[0]["kind"], 0 <= p[0]["fn"] <= 0.02)' \
    --endless --fp 1% --fn 2% --gaps gaps.tsv)" "('recycling', True)"

# The text: choice, runner-up, refusals, assumptions, equations.
run "$tepal" plan --keys 1M --explain
is 'exit status of a plan' "$code" 0
for word in '^plan       bloom, flat' '^fp ' '^fn         none' '^memory ' '^probes ' \
    '^build      tepal build KEYS' 'runner-up' '^refused' 'yesno: no negatives are known' \
    '^assumptions' '1 % false positives' '^equations' 'fill = '; do
    grep -qE -- "$word" "$work/out" && pass || fail "the text has $word" "$(cat "$work/out")"
done

# The table: the choice's layouts and the best of each other kind; with --all as many as in JSON.
rows() {
    "$tepal" plan --keys 1M --known-negatives 10k --closed-world --fp-known 1% "$@" | sed -n '/^kind/,/^$/p' | grep -E '^[a-z]+ +[a-z]+ +[0-9]'
}
is 'the table: one of each other kind' "$(rows | awk '
    NR == 1 { best = $1 } { n[$1]++ } END { for (k in n) if (k != best) print n[k] }' | sort -u)" 1
is 'the table: every layout of the choice' "$(rows | grep -c '^cascade')" 4
is 'the table: --all' "$(rows --all | wc -l)" \
    "$(plans 'sum(x["feasible"] for x in p)' --keys 1M --known-negatives 10k --closed-world --fp-known 1%)"
like 'the table: the note counts the others' "$("$tepal" plan --keys 1M --known-negatives 10k --closed-world --fp-known 1%)" \
    "and $(($(rows --all | wc -l) - $(rows | wc -l))) other layouts of these kinds \\(--all lists them\\)"
is 'the table: no note if there are no others' "$("$tepal" plan --keys 1M --all | grep -c -- '--all')" 0
is 'the table: strangers, and known negatives' "$(rows | awk '$1 == "cascade" { print ($5 > 0.5), ($6 == 0); exit }')" '1 1'
run "$tepal" plan --keys 30 --header-bits 256
like 'layouts that share a reason share a line' "$(cat "$work/out")" \
    '  bloom, blocked, paired: a header of cache lines needs a multiple of 512 bits'

# Equations of every kind that is feasible, with weights too, and of the nearest if nothing is.
awk 'BEGIN { for (i = 1; i <= 3000; i++) printf "negative%d\t%.9g\n", i, 1 / i }' >heavy
run "$tepal" plan --keys 1k --known-negatives heavy --weights --closed-world --fp-known 1% --fn 1% --explain
for kind in bloom fingerprint counting yesno cascade retouched generalized; do
    grep -A2 "^$kind, [a-z]*$" "$work/out" | grep -qE '^  [a-z0-9]+ (=|<=) ' && pass ||
        fail "equations of $kind" "$(cat "$work/out")"
done
like 'equations with weights' "$(cat "$work/out")" 'of the weight'
is 'of strangers in a closed world' "$(sed -n 2p "$work/out" | cut -d% -f2)" ' of strangers, which are not bounded'
like 'fp known is by weight' "$(sed -n 3p "$work/out")" '^fp known .* of the weight$'
run "$tepal" plan --keys 1M --fp 1% --memory 1M --explain
like 'equations of the nearest' "$(tail -4 "$work/out" | head -1)" '^  m = '
run "$tepal" plan --endless --keys 1k --explain
like 'equations of a stream' "$(cat "$work/out")" 'recycling, flat
  M = '

# The equations that are printed give the numbers beside them; none is nan.
"$tepal" plan --keys 10 --header-bits 256 --explain >distinct.txt
"$tepal" plan --endless --keys 1k --explain >stream.txt
is 'equations of a header and of a stream' "$(python3 - <<'PY'
import math, re
header, stream = open("distinct.txt").read(), open("stream.txt").read()
m, n, k = map(int, re.search(r"m = (\d+) bits, n = (\d+) keys, k = (\d+)", header).groups())
fill = float(re.search(r"fill = 1 - \(1 - k/m\)\^n = (\S+)", header)[1])
p = int(re.search(r"p = (\d+) phases", stream)[1])
bits, hashes = map(int, re.search(r"M = (\d+) bits.*, k = (\d+)", stream).groups())
fp = float(re.search(r"fp = f = ([^,]+),", stream)[1])
known = int(re.search(r"= (\d+) are remembered on any stream", stream)[1])
# The keys with which a phase alone has the rate f / (2 p), flat.
share = (fp / (2 * p)) ** (1 / hashes) - hashes / bits  # the trigger is not in it
held = math.log1p(-share) / math.log1p(-1 / bits) / hashes
print(abs(fill - (1 - (1 - k / m) ** n)) < 1e-6,
      p > 1 and abs(known / ((p - 1) * (held - 1.5 * held ** 0.5)) - 1) < 0.002)
PY
)" 'True True'
run "$tepal" plan --keys 1M --prefer speed --known-negatives 10k --fp 30% --fp-known 30% --explain
like 'equations on lines' "$(cat "$work/out")" 'counting, blocked
  m = [0-9]+ counters.*
  fp would be .*, flat; blocked: 0\.'
is 'equations on lines: numbers' "$(grep -c 'nan' "$work/out")" 0

# Weights: told in JSON and in the command; the more skew the less memory; a number has none.
sed 's/\t.*/\t1/' heavy >even
cut -f1 heavy >bare
is 'weights, in JSON' "$(plans '(o["weighted"], o["known_negatives"], "--avoid NEGATIVES --weights" in p[0]["command"])' \
    --keys 1k --known-negatives heavy -w)" '(True, 3000, True)'
is 'no weights, in JSON' "$(plans '(o["weighted"], o["known_negatives"], "--weights" in p[0]["command"])' \
    --keys 1k --known-negatives bare)" '(False, 3000, False)'
yesno='[x["bits"] for x in p if x["kind"] == "yesno"][0]'
is 'skew saves memory' "$(($(plans "$yesno" --keys 1k --known-negatives heavy -w --closed-world --fp-known 0.1%) <
    $(plans "$yesno" --keys 1k --known-negatives even -w --closed-world --fp-known 0.1%)))" 1
run "$tepal" plan --keys 1k --known-negatives heavy -w
like 'weights: the command names the file' "$(grep '^build' "$work/out")" '--avoid heavy --weights'
refused 'a number has no weights' \
    'plan: --weights needs a file of negatives: give --known-negatives FILE' \
    "$tepal" plan --keys 1k --known-negatives 3000 --weights
refused 'no weights in the file' 'bare: line 1: no weight: a key, a tab and a weight are needed' \
    "$tepal" plan --keys 1k --known-negatives bare --weights
sed 's/\t.*/\t0/' heavy >none
refused 'weights of 0' 'none: all weights are 0: give at least one key a weight' \
    "$tepal" plan --keys 1k --known-negatives none --weights

# --fp is of strangers, --fp-known of known negatives; a closed world has no strangers.
is 'a rate of strangers' "$(plans '(p[0]["kind"], p[0]["fp"] <= 0.001, p[0]["fp_known"], o["fp"], o["fp_known"], o["closed_world"])' \
    --keys 5k --known-negatives 20k --fp 0.1%)" "('cascade', True, 0.0, 0.001, 0.0, False)"
is 'a rate of known negatives' "$(plans '[all(x["fp"] <= 0.05 and x["fp_known"] <= 0.001 for x in p if x["feasible"]), sum(x["feasible"] for x in p) > 15]' \
    --keys 5k --known-negatives 20k --fp 5% --fp-known 0.1% --fn 1%)" '[True, True]'
is 'a closed world' "$(plans '(p[0]["fp"] > 0.1, p[0]["fp_known"], o["fp"], o["closed_world"])' \
    --keys 5k --known-negatives 20k --closed-world)" "(True, 0.0, None, True)"
is 'a memory: known negatives first' "$(plans '(p[0]["kind"], p[0]["fp_known"], o["fp"], o["fp_known"])' \
    --keys 5k --known-negatives 20k --memory 6k)" "('cascade', 0.0, None, None)"
run "$tepal" plan --keys 5k --known-negatives 20k --memory 6k
like 'a memory: strangers are not bounded' "$(cat "$work/err")" \
    '^tepal: plan: warning: strangers .* are not bounded: [0-9.]+ % of them pass; give --fp RATE, or --closed-world'
run "$tepal" plan --keys 5k --known-negatives 20k --memory 6k --closed-world
is 'a closed world: no warning' "$(cat "$work/err")" ''
is 'a header is a closed world' "$(plans 'o["closed_world"]' --keys 30 --header-bits 256 --known-negatives 100)" True
is 'no known negative may be found' "$(plans '(o["blocked_by"], o["nearest"]["kind"])' \
    --keys 5k --known-negatives 20k --deletes)" "('fp-known', 'fingerprint')"
refused 'a closed world with strangers' \
    'plan: a closed world has no strangers: give their rate, or a closed world' \
    "$tepal" plan --keys 10 --known-negatives 10 --closed-world --fp 1%
refused 'a closed world of nothing' \
    'plan: --closed-world needs known negatives: give --known-negatives N' \
    "$tepal" plan --keys 10 --closed-world
refused 'a rate of no known negatives' \
    'plan: --fp-known needs known negatives: give --known-negatives N' \
    "$tepal" plan --keys 10 --fp-known 1%

# Nothing fits.
run "$tepal" plan --keys 1M --fp 1% --memory 1M
is 'nothing fits: exit status' "$code" 1
like 'nothing fits: what is in the way' "$(head -1 "$work/out")" '^nothing fits: the nearest plan does not satisfy --memory'
is 'nothing fits: the nearest' "$(sed -n 2p "$work/out")" 'plan       bloom, flat'
is 'nothing fits, in JSON' "$(plans '(o["feasible"], o["blocked_by"], o["nearest"]["kind"])' \
    --keys 1M --fp 1% --memory 1M)" "(False, 'memory', 'bloom')"

# Likely, not sure: the keys find room with most seeds.
run "$tepal" plan --keys 200 --deletes --fp 0.1% --memory 350
is 'likely: exit status' "$code" 1
is 'likely: told' "$(head -2 "$work/out")" \
    'nothing fits with every seed: this plan is likely, 92.3 % of all seeds build it
plan       fingerprint, flat'
like 'likely: listed' "$(cat "$work/out")" '338 .* likely, 92\.3 %'
is 'likely: how to build it' "$(grep '^try' "$work/out")" \
    'try        tepal build --auto --try 3: some seed of 3 builds it with probability 99.9549 %'
is 'likely, in JSON' "$(plans '(o["feasible"], o["blocked_by"], round(o["plans"][0]["likely"], 3))' \
    --keys 200 --deletes --fp 0.1% --memory 350)" "(False, 'memory', 0.923)"

is 'a memory in which everything passes' \
    "$(plans '(o["feasible"], o["blocked_by"], o["nearest"]["kind"], o["nearest"]["fp"] <= 0.01)' \
        --keys 1M --memory 1Ki)" "(False, 'memory', 'bloom', True)"
is 'deletes from an endless stream' "$(plans 'o["blocked_by"]' --keys 1k --deletes --endless)" \
    deletes

# The picture.
run "$tepal" plan --keys 10k --svg plan.svg
is 'the picture: exit status' "$code" 0
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("plan.svg")' && pass || fail 'not XML'
"$tepal" plan --keys 10k --known-negatives 10k --closed-world --svg cascade.svg >/dev/null
is 'the picture has one cascade' "$(grep -c 'cascade, no error' cascade.svg)" 1
for told in '--gaps gaps.tsv --memory 1Ki' '--memory 1Ki' '--keys 1k'; do
    # shellcheck disable=SC2086
    "$tepal" plan --endless --fp 1% $told --svg stream.svg -f >/dev/null
    is "the picture of a stream, $told: memory for each rate" "$(python3 - <<'PY'
import re
curve = re.findall(r'class="curve c0" d="M\S+ \S+?((?:l\S+ \S+?)+)"', open("stream.svg").read())[0]
steps = re.findall(r"l(-?[\d.]+)", curve)
print(len(steps) >= 8, all(float(x) > 0 for x in steps), "What 0" in open("stream.svg").read())
PY
)" 'True True False'
done
is 'the picture names each curve beside it, in its colour' \
    "$(grep -c 'class="curve' plan.svg) $(grep -cE '<text class="n[0-7]"[^>]*>[a-z]+, [a-z]+<' plan.svg)" \
    '7 7'
refused 'a picture is not overwritten' \
    'plan.svg: the file exists; use --force to overwrite it' \
    "$tepal" plan --keys 10k --svg plan.svg

# Nonsense.
refused 'no keys' 'plan: the number of keys or a memory is needed' "$tepal" plan
refused 'fp of 1' 'plan: --fp 1: out of range: a rate must be above 0 and below 1' \
    "$tepal" plan --keys 1k --fp 1
refused 'a rate that digests cannot keep' \
    'plan: --fp 1e-60: too low: digests of 128 bits keep 7.5e-34 or more for 1000 keys' \
    "$tepal" plan --keys 1k --fp 1e-60
refused 'an average that digests cannot keep' \
    'plan: --fp-average 1e-37: too low: digests of 128 bits keep 7.5e-37 or more for 1 key' \
    "$tepal" plan --endless --memory 1k --fp-average 1e-37
refused 'a rate that digests cannot keep for the keys that fit' \
    'plan: a false-positive rate below keys * 2^-120 cannot be kept: digests of 128 bits are too short' \
    "$tepal" plan --memory 1M --fp 1e-36
is 'the lowest rate' "$(plans 'p[0]["fp"] <= 7.6e-34' --keys 1k --fp 7.6e-34)" True
refused 'negative sizes' 'plan: --keys -5: negative' "$tepal" plan --keys -5
refused 'units' \
    'plan: --keys 10q: not a number: the suffixes are k M G T P (1000) and Ki Mi Gi Ti Pi (1024)' \
    "$tepal" plan --keys 10q
refused 'deletes from a header' \
    'plan: deletes and a header cannot be combined: counters and fingerprints do not fit into a header' \
    "$tepal" plan --keys 10 --deletes --header-bits 32
refused 'wrong deletes without deletes' 'plan: wrong deletes need deletes' \
    "$tepal" plan --keys 10 --wrong-deletes 1%
refused 'an average of what ends' 'plan: an average over time needs an endless stream' \
    "$tepal" plan --keys 10 --fp-average 1%
refused 'a law that is none' \
    'plan: --stream foo:1: not one of geometric:MEAN[,NEW], pareto:SHAPE,SCALE[,NEW], zipf:EXPONENT,KEYS' \
    "$tepal" plan --endless --stream foo:1
printf '# fresh 0.5\n1\tx\t0.5\n' >broken
refused 'a gap file that is none' \
    'broken: not a gap file: lines must be gap, repeats and survival, separated by tabs' \
    "$tepal" plan --endless --gaps broken
refused 'a gap file that is not there' 'nowhere: No such file or directory' \
    "$tepal" plan --endless --gaps nowhere
refused 'two sizes' 'plan: --memory and --header-bits cannot be combined: give one of them' \
    "$tepal" plan --keys 10 --memory 10 --header-bits 10
# ---- a range of keys is a wish for growth
"$tepal" plan --grow --first 1000 --keys 1M --fp 1% --json >grow.json
run "$tepal" plan --keys 1k..1M --fp 1% --json
same 'a range of keys' grow.json "$work/out"
refused 'a range that shrinks' 'plan: --keys 1M..1k: a range goes from a number to a larger one, as 1M..1G' \
    "$tepal" plan --keys 1M..1k
refused 'half a range' 'plan: --keys ..1k: not a number' \
    "$tepal" plan --keys ..1k
refused 'two beginnings' 'plan: --keys 1k..1M says where it begins: --first is one too many' \
    "$tepal" plan --keys 1k..1M --first 5
refused 'no range elsewhere' 'model: --keys 1k..1M: not a number: the suffixes are k M G T P (1000) and Ki Mi Gi Ti Pi (1024)' \
    "$tepal" model growing --keys 1k..1M

run "$tepal" plan --keys 100 --memory 350 --fp 1e-9
like 'the memory as it was given' "$(cat "$work/out")" 'bloom, flat, partitioned: needs 544 bytes, but only 350 are allowed'

finish
