#!/usr/bin/env bash
# measure: both errors with their intervals, and whether the plan held.
source "$(dirname "$0")/lib.sh"

seq -f 'member%.0f' 1 20000 >members
seq -f 'stranger%.0f' 1 100000 >strangers
"$tepal" build members -o good --fp 1% --seed 3 -q
run "$tepal" measure good --members members --strangers strangers
is 'held: exit status' "$code" 0
is 'members' "$(sed -n 1p "$work/out")" 'members    20000 looked up, 0 missed'
is 'no false negatives' "$(sed -n 2p "$work/out")" \
    'fn         0 %, 99 % interval: 0 % to 0.03316 %; promised 0 %: held'
like 'strangers' "$(sed -n 3p "$work/out")" '^strangers  100000 looked up, [0-9]+ found$'
is 'the verdict' "$(tail -1 "$work/out")" 'plan       held'

# The interval is Wilson's: computed again.
"$tepal" measure good --members members --strangers strangers --json >json
is 'Wilson' "$(python3 - <<'PY'
import json, math
o = json.load(open("json"))
e = o["fp"]
z, n, x = 2.5758293035489004, e["asked"], e["wrong"]
p = x / n
mid = (p + z * z / (2 * n)) / (1 + z * z / n)
half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
print(abs(e["low"] - mid + half) < 1e-12, abs(e["high"] - mid - half) < 1e-12, e["rate"] == p,
      o["held"], o["fn"]["wrong"], abs(e["promised"] - 0.01) < 1e-4)
PY
)" 'True True True True 0 True'
is 'what query says' "$(python3 -c 'import json; print(json.load(open("json"))["fp"]["wrong"])')" \
    "$("$tepal" query good strangers -c)"

# A plan that did not hold: ten times the keys it was planned for; another set's members.
cat members strangers >all
"$tepal" build all -o crowded --bits 200000 --hashes 7 --capacity 20000 --seed 3 -q 2>/dev/null
seq -f 'other%.0f' 1 50000 >others
run "$tepal" measure crowded --strangers others
is 'too many keys: exit status' "$code" 1
like 'too many keys' "$(cat "$work/out")" 'not held'
run "$tepal" measure good --members others
is 'wrong members: exit status' "$code" 1
is 'wrong members' "$(tail -1 "$work/out")" 'plan       not held'

# Members among the strangers do not count.
head -1000 members >mixed
head -5000 strangers >>mixed
"$tepal" measure good --members members --strangers mixed --json >json
is 'members among strangers' "$(field json members_among_strangers)" 1000

# Against a saved plan.
"$tepal" plan --keys 20000 --fp 1% --json >plan.json
run "$tepal" measure good --members members --strangers strangers --plan plan.json
is 'a saved plan that held' "$code" 0
"$tepal" plan --keys 20000 --fp 1e-4 --json >strict.json
run "$tepal" measure good --members members --strangers strangers --plan strict.json
is 'a saved plan that did not hold' "$code" 1

# By weight, against a plan that counts so.
awk '{ printf "%s\t%.9g\n", $0, 1 / NR }' strangers >heavy
"$tepal" plan --keys 20000 --known-negatives heavy --weights --closed-world --fp-known 1% --json >weighted.json
"$tepal" build --plan weighted.json members --avoid heavy -o light -q --seed 3
run "$tepal" measure light --members members --negatives heavy --weights --plan weighted.json --json
is 'by weight: held' "$code" 0
cp "$work/out" json
"$tepal" query light strangers | sed 's/stranger//' >found
is 'by weight: counted again' "$(python3 - <<'PY'
import json
e = json.load(open("json"))["fp_known"]
total = sum(1 / i for i in range(1, 100001))
found = sum(1 / int(x) for x in open("found")) / total
print(abs(e["rate"] - found) < 1e-8, e["low"] <= e["rate"] <= e["high"], e["rate"] < e["wrong"] / e["asked"])
PY
)" 'True True True'
run "$tepal" measure light --negatives heavy --weights
like 'by weight: told' "$(sed -n 2p "$work/out")" \
    '^fp known +[0-9.e-]+.* of the weight, 99 % interval: .*; nothing was promised$'
refused 'a weighted plan needs weights' \
    'weighted.json: this plan counts by weight: give --weights, and --negatives with weights' \
    "$tepal" measure light --negatives strangers --plan weighted.json
refused 'weights of strangers' \
    'measure: --weights needs --negatives KEYS, with weights' \
    "$tepal" measure light --members members --weights

# Known negatives have a promise of their own, strangers have theirs.
"$tepal" build members --auto --avoid strangers --fp 1% -o both -q --seed 3
run "$tepal" measure both --members members --strangers others --negatives strangers
is 'two promises: held' "$code" 0
like 'two promises: strangers' "$(sed -n 4p "$work/out")" '^fp  .* promised (1|0\.99[0-9]*|1\.00[0-9]*) %: held$'
is 'two promises: known negatives' "$(sed -n 5,6p "$work/out")" \
    'negatives  100000 looked up, 0 found
fp known   0 %, 99 % interval: 0 % to 0.006634 % (1 in 15100); promised 0 %: held'
run "$tepal" measure both --negatives others
is 'negatives that it does not know: exit status' "$code" 1
like 'negatives that it does not know' "$(sed -n 2p "$work/out")" 'promised 0 %: not held$'
run "$tepal" measure good --negatives others
is 'to a Bloom filter they are strangers' "$code" 0
"$tepal" plan --keys 20000 --known-negatives 100000 --fp 1% --json >both.json
run "$tepal" measure both --strangers others --negatives strangers --plan both.json
is 'two promises: a plan' "$code" 0
# A plan of 0.1.0 promised fp to the known negatives: the two are told apart.
sed 's/"keys": 5000/"keys": 20000/' "$here/../golden/plans/cascade.json" >old.json
run "$tepal" measure both --strangers others --negatives strangers --plan old.json --json
is 'a plan of 0.1.0' "$(python3 -c '
import json, sys
o = json.loads(sys.argv[1])
print(o["fp"]["promised"] > 0.1, o["fp_known"]["promised"])' "$(cat "$work/out")")" 'True 0.0'

refused 'nothing to ask' \
    'measure: --members KEYS, --strangers KEYS or --negatives KEYS is needed, or all' \
    "$tepal" measure good
# Nothing holds because nobody looked.
for keys in members strangers negatives; do
    refused "no $keys" '/dev/null: no keys in the input: there is nothing to measure' \
        "$tepal" measure good --$keys /dev/null
done
refused 'strangers that are all members' \
    'members: all keys in the input are members: there is nothing to measure' \
    "$tepal" measure good --members members --strangers members
refused 'no filter' 'members: the first bytes are not those of a tepal filter (byte 0)' "$tepal" measure members --members members
echo '[]' >broken
refused 'a plan that is none' 'broken: not a plan, as written by tepal plan --json' \
    "$tepal" measure good --members members --plan broken
finish
