#!/usr/bin/env bash
# Generalized filters through the command: build, query, add, info, verify, merge, model, retouch.
source "$(dirname "$0")/lib.sh"

seq 1 256 >members
seq 1001 3000 >strangers
number() { # number CONDITION: of Python, over the JSON object in $work/out as d
    python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$work/out" "$1"
}

# ---- build, query, add, info, verify
expect 'build' 0 '' '' \
    "$tepal" build members -o g --kind generalized --bits 64Ki --zeros 1/2 --seed 7 -q
run "$tepal" info g --json
is 'info: what it is' "$(number '[d["kind"], d["reset_hashes"], d["set_hashes"], d["hashes"], d["tolerance"], d["zeros_initial"]]')" \
    "['generalized', 2, 2, 4, 0, 0.5]"
is 'info: the rate is that of half ones' "$(number 'abs(d["fp_now"] - 0.0625) < 0.001 and d["fp_now"] <= d["fp_bound"] < 0.0626')" True
run "$tepal" query -c g members
is 'most members are found' "$(($(<"$work/out") >= 240))" 1
run "$tepal" query -c g strangers
is 'few strangers are found' "$(($(<"$work/out") < 200))" 1
expect 'verify' 0 'g: OK
' '' "$tepal" verify g
"$tepal" build members -o a --kind generalized --bits 64Ki --zeros 1/2 --seed 7 -q
same 'the same input makes the same file' a g
head -100 members >first
tail -156 members >rest
"$tepal" build first -o h --kind generalized --bits 64Ki --zeros 1/2 --seed 7 -q
"$tepal" add h rest -q
same 'adding later is adding in order' h g
for layout in flat blocked; do
    "$tepal" build members -o b --layout $layout --bits 8192 --hashes 5 --seed 3 -q
    "$tepal" build members -o z --kind generalized --layout $layout --bits 8192 --reset-hashes 0 --set-hashes 5 --seed 3 -q
    cmp -s <(tail -c +257 b) <(tail -c +257 z) && pass || fail "$layout: no resets, not the bits of the Bloom filter"
done
run "$tepal" build members -o p --kind generalized --fp 5% --fn 5% --tolerance 1 --seed 1 --json
is 'build by rates' "$(number '[d["reset_hashes"], d["set_hashes"], d["tolerance"], 76 < d["bits"] / 256 < 77]')" '[3, 5, 1, True]'

# ---- refused
refused 'merge: the order matters' \
    'h: generalized filters cannot be merged: the order in which keys were added matters; build one filter from all the keys; nothing was written' \
    "$tepal" merge g h -o x
refused 'no hashes' 'build: --reset-hashes and --set-hashes are both 0: at least one hash function is needed; nothing was written' \
    "$tepal" build members -o x --kind generalized --bits 999 --reset-hashes 0 --set-hashes 0
refused 'zeros above 1' 'build: --zeros 1.5: out of range: a fraction must be within 0..1' \
    "$tepal" build members -o x --kind generalized --bits 999 --zeros 1.5
refused 'zeros below 0' 'build: --zeros -0.1: out of range: a fraction must be within 0..1' \
    "$tepal" build members -o x --kind generalized --bits 999 --zeros -0.1
refused 'tolerance' 'build: --tolerance 4: too large: every key would be found; it must be below --reset-hashes plus --set-hashes; nothing was written' \
    "$tepal" build members -o x --kind generalized --bits 999 --tolerance 4
refused 'partitioned' 'build: a generalized filter cannot be partitioned: slices that are only ever set or reset saturate; use flat or blocked; nothing was written' \
    "$tepal" build members -o x --kind generalized --bits 999 --layout partitioned
refused 'rates and hashes' 'build: --fp and --fn determine the numbers of hash functions: leave out --reset-hashes and --set-hashes, or give --bits; nothing was written' \
    "$tepal" build members -o x --kind generalized --fp 1% --reset-hashes 2
refused 'hashes' 'build: --hashes is not an option of the kind generalized; nothing was written' \
    "$tepal" build members -o x --kind generalized --bits 999 --hashes 3
refused 'not of bloom' 'build: --zeros is not an option of the kind bloom; nothing was written' \
    "$tepal" build members -o x --zeros 1
absent 'nothing was written' x
run "$tepal" build members -o w --kind generalized --bits 999 --tolerance 2
is 'a tolerance that bounds nothing' "$code $(head -1 "$work/err")" \
    '0 tepal: build: warning: with a tolerance of min(K0, K1) or more the false-positive rate has no bound: a filter of all zeros or all ones would accept every key'
python3 - <<'PY'
data = bytearray(open("g", "rb").read())
data[-1] ^= 1
open("damaged", "wb").write(data)
PY
run "$tepal" verify damaged
is 'a wrong tail' "$code" 2
run "$tepal" query damaged members
is 'a wrong tail is not asked' "$code $(wc -l <"$work/err")" '2 1'

# ---- model
run "$tepal" model generalized --bits 32Ki --keys 256 --reset-hashes 2 --set-hashes 2 --zeros 0.25 --json
is 'model: the numbers of the paper' \
    "$(number '[round(100 * d[x], 1) for x in ("fp", "fn", "fp_bound", "fn_bound")]')" '[3.7, 3.0, 6.2, 6.0]'
is 'model: finite bound, zeros, ages' \
    "$(number '[d["fp_bound"] < d["fp_bound_finite"] < 0.0626, 0.25 < d["zeros"] < 0.26, len(d["fn_by_age"]), d["fn_by_age"][0], d["ages"][-1], d["exact"]]')" \
    '[True, True, 101, 0.0, 255.0, True]'
for b in 0:2386 1:355 2:200 3:149.7; do
    run "$tepal" model generalized --keys 1M --fp 1% --fn 1% --tolerance ${b%:*} --json
    is "model: solver, tolerance ${b%:*}" "$(number "abs(d['bits_per_key'] / ${b#*:} - 1) < 0.005")" True
done
refused 'model: what is needed' 'model: --bits M is needed, or --fp and --fn RATE' "$tepal" model generalized --keys 5
refused 'model: both' 'model: --fn and --bits cannot be combined: give one of them' \
    "$tepal" model generalized --keys 5 --bits 5 --fn 1%

# ---- retouch
"$tepal" build members -o f --kind generalized --bits 8192 --zeros 0.5 --seed 1 -q
run "$tepal" query -c f strangers
before=$(<"$work/out")
run "$tepal" query -c f members
kept=$(<"$work/out")
run "$tepal" retouch f --members members --avoid strangers -o r --json
is 'retouch: method' "$(number 'd["method"]')" net-effect
is 'retouch: before' "$(number 'd["avoid_positive"]')" "$before"
is 'retouch: nearly all go' "$(number 'd["avoid_left"] * 20 < d["avoid_positive"]')" True
left=$(number 'd["avoid_left"]')
lost=$(number 'd["false_negatives"]')
run "$tepal" query -c r strangers
is 'retouch: what is left is found' "$(<"$work/out")" "$left"
run "$tepal" query -c r members
is 'retouch: members' "$((256 - $(<"$work/out")))" "$lost"
expect 'retouch: verify' 0 'r: OK
' '' "$tepal" verify r
run "$tepal" retouch f --members members --avoid strangers -o r2 --method least-fn --max-fn-count $((256 - kept)) --victims v --exceptions e -q
is 'retouch: least-fn' "$code" 0
run "$tepal" query -c r2 members --exceptions e
is 'retouch: exceptions bring all members back' "$(<"$work/out")" 256
run "$tepal" query -c r2 v
is 'retouch: victims are not found' "$code" 1
refused 'retouch: a method of Bloom filters' \
    'f: --method sacrifice is for Bloom filters, and this is a generalized filter: use net-effect or least-fn; nothing was written' \
    "$tepal" retouch f --members members --avoid strangers -o x --method sacrifice
refused 'retouch: a method of generalized filters' \
    'b: --method net-effect is for generalized filters, and this is not one; nothing was written' \
    "$tepal" retouch b --members members --avoid strangers -o x --method net-effect
refused 'retouch: members are needed' 'retouch: --members KEYS is needed for a generalized filter' \
    "$tepal" retouch f --avoid strangers -o x
run "$tepal" retouch f --members members --avoid strangers --dry-run
is 'retouch: the curve' "$code $(sed -n '1p;2p' "$work/out" | cut -f1,4 | xargs)" '0 lost removed 29 0'
refused 'retouch: not its members' 'f: most of the given members are not in the filter: they cannot be its members; nothing was written' \
    "$tepal" retouch f --members strangers --avoid members -o x

finish
