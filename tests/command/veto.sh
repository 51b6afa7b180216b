#!/usr/bin/env bash
# build --kind yesno and cascade, and veto: what is vetoed, what is told, and every wrong input.
source "$(dirname "$0")/lib.sh"

seq 1 1000 >members
seq 2001 12000 >strangers
seq 20001 30000 >others
awk '{ printf "%s\t%.6g\n", $1, 1 / NR }' strangers >weighted

count() {
    "$tepal" query -c "$@" || true
}
has() {
    is "$1" "$(python3 -c 'import json, sys
d = json.loads(open(sys.argv[1]).read())
print(bool(eval(sys.argv[2])))' "$work/out" "$2")" True
}
# refused NAME MESSAGE COMMAND...: exit status 2, one line, and nothing is written.
refused() {
    local name=$1 message=$2
    shift 2
    rm -f x
    expect "$name" 2 '' "tepal: $message"$'\n' "$@"
    is "$name: nothing is written" "$(ls x 2>/dev/null)" ''
}

# ---- yesno
run "$tepal" build members -o y --kind yesno --yes-bits 6000 --no-bits 1000 --no-filters 2 --hashes 4 \
    --no-hashes 6 --avoid strangers --seed 7 --json
is 'yesno --json: exit status and words' "$code $(cat "$work/err")" '0 '
has 'json: the counts' 'd["members"] == 1000 and d["avoid_given"] == 10000 and d["avoid_members"] == 0'
has 'json: the sizes' 'd["bits"] == 8000 and d["yes_bits"] == 6000 and d["no_bits"] == 1000 and d["no_filters"] == 2 and d["no_hashes"] == 6'
has 'json: some are vetoed' '0 <= d["avoid_left"] < d["avoid_positive"] / 2 and d["weight_left"] == d["avoid_left"]'
has 'json: the rest' 'd["method"] == "local-search" and d["proved_optimal"] in (True, False) and d["false_negatives"] == 0 and d["keys_read"] == 1000'
is 'all members are found' "$(count y members)" 1000
is 'what is left, as query counts it' "$(count y strangers)" "$(field "$work/out" avoid_left)"
expect 'it is sound' 0 $'y: OK\n' '' "$tepal" verify y
for method in greedy nextfit bestfit pairs local-search exact; do
    run "$tepal" build members -o z --kind yesno --bits 8000 --no-bits 1000 --no-filters 2 --hashes 4 \
        --no-hashes 6 --avoid strangers --seed 7 --json --method "$method" --time-limit 1
    has "--method $method" "d['method'] == '$method' and d['yes_bits'] == 6000"
    is "--method $method loses nobody" "$(count z members)" 1000
done
run "$tepal" build members -o z --kind yesno --bits-per-key 12 --avoid weighted -w --seed 7 --json
has 'the layout is chosen' 'd["bits"] == 12000 and d["no_filters"] > 0 and d["own_seeds"] and d["avoid_left"] == 0'
has 'weights are added up' '9 < d["avoid_weight"] < 10 and d["weight_left"] == 0'
"$tepal" build members -o again --kind yesno --bits-per-key 12 --avoid weighted -w --seed 7 -q
same 'the same inputs give the same filter' z again
"$tepal" build members -o b --bits 8000 --hashes 5 --seed 7 -q
"$tepal" build members -o r0 --kind yesno --yes-bits 8000 --no-filters 0 --hashes 5 --avoid strangers --seed 7 -q
is 'without no-filters: the cells of the Bloom filter' \
    "$(tail -c +257 r0 | cmp - <(tail -c +257 b) && [[ $(wc -c <b) -ge 1256 ]] && echo same)" same
run "$tepal" build members -o z --kind yesno --yes-bits 4000 --no-bits 300 --no-filters 2 --avoid strangers \
    --seed 7 --tolerate 5 --salts 2 --positions distinct --json
has '--tolerate' 'd["false_negatives"] <= 5'
is '--tolerate, as query counts' "$((1000 - $(count z members)))" "$(field "$work/out" false_negatives)"
small=(--kind yesno --yes-bits 5000 --no-bits 400 --no-filters 2 --avoid strangers --seed 7 --force)
"$tepal" build members -o first "${small[@]}" -q
"$tepal" build members -o z "${small[@]}" --fp-known 1 -q
same '--fp-known: the first re-hashing will do' first z
run "$tepal" build members -o best "${small[@]}" --salts 6 --json
best=$(field "$work/out" avoid_left)
is 'six leave fewer than one' "$((best < $(count first strangers)))" 1
"$tepal" build members -o z "${small[@]}" --fp-known "$best/10000" -q
same '--fp-known: tried until so few are left' best z
cat members strangers >both
run "$tepal" build members -o z --kind yesno --bits 8000 --avoid both --seed 7 --json
has 'members among the negatives are reported' 'd["avoid_members"] == 1000 and d["avoid_given"] == 11000'
is 'and stay members' "$(count z members)" 1000
run "$tepal" build members -o z --kind yesno --bits 8000 --avoid both --seed 7
is 'the summary tells of them' "$(grep -c '1000 are members, not vetoed' "$work/err")" 1
"$tepal" add z strangers -q
is 'additions are found' "$(count z strangers) $(count z members)" '10000 1000'
head -c 16 /dev/zero >key
"$tepal" build members -o k --kind yesno --bits 8192 --layout blocked --avoid strangers --key-file key -q
is 'keyed, and blocked' "$(count k members --key-file key)" 1000
run "$tepal" info y
is 'info: both rates' "$(grep -c '^rates: .* on the negatives it was built for, .* on all others$' "$work/out")" 1

# ---- yesno by rate: strangers are kept at --fp, within 6.5 standard errors of 10^6 lookups, by
# a filter that is no larger than it has to be: one with 1 % fewer bits is predicted to exceed it.
seq 100001 1100000 | sed 's/^/unknown-/' >unknown
seq 20000 >many
seq 30001 70000 >named
for layout in flat blocked; do
    run "$tepal" build many -o z --kind yesno --fp 1% --avoid named --layout $layout --seed 7 --json
    bits=$(field "$work/out" bits)
    found=$(count z unknown)
    is "--fp, $layout: as few strangers" "$((found <= 10000 + 650)) $((found >= 10000 - 1000))" '1 1'
    is "--fp, $layout: no member is lost" "$(count z many)" 20000
    has "--fp, $layout: few known negatives" 'd["avoid_left"] <= 4 and d["avoid_positive"] > 300'
    "$tepal" build many -o less --kind yesno --bits $((bits * 99 / 100 / 512 * 512)) --avoid named \
        --layout $layout --seed 7 -q
    run "$tepal" info less --json
    has "--fp, $layout: fewer bits do not keep it" 'd["fp_at_capacity"] > 0.01'
done

# ---- cascade
run "$tepal" build members -o c --kind cascade --avoid strangers --seed 7 --json
has 'cascade: the counts' 'd["avoid_left"] == 0 and d["false_negatives"] == 0 and d["levels"] > 2 and d["fp_known"] == 0'
is 'cascade: no error at all' "$(count c members) $(count c strangers)" '1000 0'
run "$tepal" build members -o c --kind cascade --avoid strangers --bits 11000 --seed 7 --json
has 'cascade: so many bits at most' '10000 < d["bits"] <= 11000'
is 'cascade: no error with a limit either' "$(count c members) $(count c strangers)" '1000 0'
run "$tepal" build members -o c --kind cascade --avoid strangers --fp 1% --seed 7 --json
has 'cascade: a rate for others' '0.003 < d["fp_unknown"] < 0.011'
"$tepal" build members -o c --kind cascade --avoid both --bits-per-key 12 -q
is 'cascade: members win' "$(count c members) $(count c strangers)" '1000 0'
expect 'cascade: sound' 0 $'c: OK\n' '' "$tepal" verify c

# ---- later additions: what was counted at build time is not told any more
for kind in yesno cascade; do
    rm -f a grown
    "$tepal" build members -o a --kind $kind --bits-per-key 10 --avoid strangers --seed 3 -q
    run "$tepal" add a others -o grown
    is "$kind: add warns" "$code $(grep -c 'warning: known negatives .* may be found again' "$work/err")" '0 1'
    run "$tepal" add a others -o grown -q
    is "$kind: add --quiet does not" "$code $(cat "$work/err")" '0 '
    run "$tepal" info grown
    is "$kind: info: an estimate" "$(grep -c '^rates: up to .* (estimated: keys were added since), ' "$work/out")" 1
    run "$tepal" info grown --json
    has "$kind: what is unknown" 'd["avoid_left"] is None and d["added_later"] == 10000'
    has "$kind: from above" "d['fp_known'] > $(count grown strangers) / 10000 - .03"
    is "$kind: known negatives are back" "$(($(count grown strangers) > 1000))" 1
    run "$tepal" info a --json
    has "$kind: what is predicted is what it does" 'abs(d["fp_at_capacity"] / d["fp_now"] - 1) < .25'
done
run "$tepal" build members -o c --kind cascade --avoid strangers --seed 7 --json
has 'the smallest cascade too' 'abs(d["fp_at_capacity"] / d["fp_now"] - 1) < .1'

# ---- the model
run "$tepal" model yesno --keys 30 --negatives 100 --yes-bits 160 --no-bits 32 --no-filters 3 --hashes 4 \
    --no-hashes 5 --json
has 'model: eq. (5) and the true rate' 'abs(100 * d["fp_classic"] - 7.816) < .001 and abs(100 * d["fp_yes"] - 7.902) < .001 and 7.6 < 100 * d["fp_unknown"] < 7.9'
has 'model: what is left' '.01 < d["avoid_left"] < .03'
# Vetoes spare strangers too: the model and the filter agree, where every third key is vetoed.
seq -f 'many%.0f' 1 10000 >many
seq -f 'known%.0f' 1 40000 >known
"$tepal" build many -o dense --kind yesno --avoid known --bits-per-key 5 --seed 7 -q --json >dense.json
# shellcheck disable=SC2046
run "$tepal" model yesno --keys 10000 --negatives 40000 --json $(python3 -c '
import json
d = json.load(open("dense.json"))
print(*("--%s %d" % (x.replace("_", "-"), d[x]) for x in ("yes_bits", "hashes", "no_bits", "no_filters", "no_hashes")),
      "--own-seeds" if d["own_seeds"] else "")')
cp "$work/out" told.json
is 'model: strangers, with the vetoes' "$(python3 -c '
import json
d, m = json.load(open("dense.json")), json.load(open("told.json"))
print(m["fp_yes"] > 1.15 * d["fp_now"], abs(m["fp_unknown"] / d["fp_now"] - 1) < 0.03)')" 'True True'
run "$tepal" model yesno --keys 30 --negatives 100 --bits 256 --json
has 'model: a layout is chosen' 'd["bits"] == 256 and d["no_filters"] > 1 and d["avoid_left"] < .001'
run "$tepal" model cascade --keys 20k --negatives 100k --json
has 'model cascade: size' "151000 < d['bits'] < 151500 and d['levels'] == len(d['stored']) == 29"
has 'model cascade: no errors' "d['fp_known'] == d['fn'] == 0 and 0.09 < d['fp_unknown'] < 0.1"
run "$tepal" model cascade --keys 20k --negatives 100k --bits 200k --json
has 'model cascade: within bits' "199000 < d['bits'] <= 200000 and d['fp_unknown'] < 0.02"
refused 'model cascade: negatives' \
    'model: --negatives T is needed: the number of known negatives' "$tepal" model cascade --keys 5
refused 'model cascade: few bits' \
    'model: no cascade with this many bits and hash functions is expected to exist; leave out --bits for the smallest one' \
    "$tepal" model cascade --keys 50 --negatives 100 --bits 10
refused 'model: no keys' 'model: --keys N is needed, at least 1' "$tepal" model yesno --bits 256
refused 'model: no size' 'model: --bits M or --yes-bits P is needed' "$tepal" model yesno --keys 3

# ---- what is wrong
y=("$tepal" build members -o x --kind yesno --seed 1)
refused 'no list' 'build: --avoid NEGATIVES is needed: the keys known not to be in the set; nothing was written' \
    "${y[@]}" --bits 256
refused 'no size' 'build: a size is needed: --fp RATE, --bits M, --bits-per-key B, or --yes-bits P with --no-bits Q and --no-filters R; nothing was written' \
    "${y[@]}" --avoid strangers
refused 'half a layout' 'build: --yes-bits P needs --no-bits Q and --no-filters R; nothing was written' \
    "${y[@]}" --avoid strangers --yes-bits 100
refused 'r without q' 'build: --no-bits Q and --no-filters R go together; nothing was written' \
    "${y[@]}" --avoid strangers --bits 100 --no-filters 2
refused 'r q >= m' 'build: 4 no-filters of 64 bits leave nothing of --bits 256 for the yes-filter; nothing was written' \
    "${y[@]}" --avoid strangers --bits 256 --no-bits 64 --no-filters 4
run "${y[@]}" --avoid strangers --yes-bits 0 --no-bits 64 --no-filters 4
is 'p = 0' "$code $(wc -l <"$work/err")" '2 1'
run "${y[@]}" --avoid strangers --yes-bits 100 --no-bits 0 --no-filters 4
is 'q = 0' "$code $(wc -l <"$work/err")" '2 1'
refused 'not whole lines' 'build: this layout needs whole cache lines: a multiple of 512 bits; nothing was written' \
    "${y[@]}" --avoid strangers --bits 1000 --layout blocked
run "${y[@]}" --avoid nowhere --bits 256
is 'a list that is not there' "$code $(cat "$work/err")" '2 tepal: nowhere: No such file or directory; nothing was written'
run "${y[@]}" --avoid strangers -w --bits 256
is 'weights that are not there' "$code $(wc -l <"$work/err")" '2 1'
refused 'no members' 'build: no keys in the input: there is nothing to build a filter from; nothing was written' \
    "$tepal" build /dev/null -o x --kind yesno --bits 256 --avoid strangers
refused 'standard input twice' 'standard input: given twice, but it can be read only once; nothing was written' \
    "$tepal" build -o x --kind yesno --bits 256 --avoid -
refused 'an option of the other kind' 'build: --capacity is not an option of the kind yesno; nothing was written' \
    "${y[@]}" --avoid strangers --bits 256 --capacity 100
for other in '--bits 256' '--bits-per-key 8' '--yes-bits 100' '--no-filters 0'; do
    run "${y[@]}" --avoid strangers --fp 1% $other
    is "--fp and $other" "$code $(grep -c -- "--fp.*${other% *}\|${other% *}.*--fp" "$work/err")" '2 1'
done
run "${y[@]}" --avoid strangers --fp 1e-60
is '--fp below what digests keep' "$code $(wc -l <"$work/err")" '2 1'
refused 'an option of this kind alone' 'build: --no-bits is not an option of the kind bloom; nothing was written' \
    "$tepal" build members -o x --no-bits 3
refused 'a cascade that cannot be' 'build: no cascade this small was found: give more bits, or no limit; nothing was written' \
    "$tepal" build members -o x --kind cascade --avoid strangers --bits 500
cp strangers kept
run "$tepal" build members -o strangers --kind yesno --bits 256 --avoid strangers
is 'the list is not overwritten' "$code" 2
same 'it is what it was' strangers kept

# ---- veto: false positives seen later
head -3000 strangers >known
tail -n +3001 strangers >unknown
new() {
    "$tepal" build members -o v --kind yesno --yes-bits 5000 --no-bits 600 --no-filters 3 --no-hashes 8 \
        --avoid known --seed 7 -q --force
}
new
before=$(count v unknown)
known=$(count v known)
run "$tepal" veto v --members members --avoid unknown
is 'veto: the exit status, nothing on standard output' "$code $(cat "$work/out")" '0 '
like 'veto: what it tells' "$(head -1 "$work/err")" "^avoid      7000 keys: $before found, [0-9]+ left$"
left=$(sed -n '1s/.* \([0-9]*\) left$/\1/p' "$work/err")
is 'veto: as query counts' "$(count v unknown) $(count v members)" "$left 1000"
is 'veto: fewer than before; what was vetoed stays so' "$((left < before)) $((before > 20)) $(($(count v known) <= known))" '1 1 1'
run "$tepal" info v --json
has 'veto: the filter counts them' "d['avoid'] == 3000 + $before and d['added_later'] == 0"
new
cp v w
"$tepal" veto v --members members --avoid unknown -o out -q
same 'veto -o: the input stays' v w
"$tepal" veto v --members members --avoid unknown -q
same 'veto: in place or not, the same' v out
new
awk '{ printf "%s\t%d\n", $0, NR % 10 == 0 ? 100 : 1 }' unknown >weighted.new
cp v w
run "$tepal" veto w --members members --avoid weighted.new -w --method greedy --json
greedy=$(field "$work/out" weight_left)
run "$tepal" veto v --members members --avoid weighted.new -w --json
has 'veto -w: heavier ones go' "d['weight_left'] < 0.95 * $greedy and d['weight_found'] > d['found']"
awk '{ printf "%s\t%s\n", $0, NR % 2 == 0 ? 5 : 0.5 }' members >weighted.members
"$tepal" build members -o v --kind yesno --yes-bits 3000 --no-bits 120 --no-filters 2 --no-hashes 5 --avoid known --seed 7 -q --force
cp v w
run "$tepal" veto v --members weighted.members --member-weights --tolerate-weight 4 --avoid unknown --json
has 'veto: members given up by weight' '0 < d["weight_lost"] <= 4 and d["members_lost"] >= d["weight_lost"] / 5'
is 'veto: as query counts them' "$((1000 - $(count v members)))" "$(field "$work/out" members_lost)"
cp w v
run "$tepal" veto v --members members --tolerate 3 --avoid unknown --json
has 'veto --tolerate' '0 < d["members_lost"] <= 3'
run "$tepal" build weighted.members -o z --kind yesno --yes-bits 3000 --no-bits 120 --no-filters 2 --no-hashes 5 \
    --avoid known --seed 7 --member-weights --tolerate-weight 4 --json --force
has 'build --tolerate-weight' '0 < d["weight_lost"] <= 4 and d["keys_read"] == 1000'
"$tepal" build members -o k2 --kind yesno --bits 8192 --avoid known --key-file key -q
expect 'veto: keyed' 0 '' '' "$tepal" veto k2 --members members --avoid unknown --key-file key -q

new
cp v w
refused 'veto: without members' "veto: --members KEYS is needed" "$tepal" veto v --avoid unknown
refused 'veto: nothing to avoid' 'veto: --avoid NEW is needed: the keys that were found and should not be; nothing was changed' "$tepal" veto v --members members
refused 'veto: another kind' 'b: only yes-no filters can veto keys, and this one is of the kind bloom; nothing was changed' "$tepal" veto b --members members --avoid unknown
refused 'veto: another kind, whatever the members' 'b: only yes-no filters can veto keys, and this one is of the kind bloom; nothing was changed' "$tepal" veto b --members unknown --avoid unknown
refused 'veto: not the members' 'v: a member is not in the filter: give its members, and all of them; nothing was changed' "$tepal" veto v --members unknown --avoid known
head -900 members >fewer
refused 'veto: not all members' 'fewer: 900 keys, but 1000 were added to the filter: give all of them, or the others may be lost; nothing was changed' "$tepal" veto v --members fewer --avoid unknown
: >none
refused 'veto: an empty list' 'none: no keys in the input; nothing was changed' "$tepal" veto v --members members --avoid none
refused 'veto: no such list' 'nowhere: No such file or directory; nothing was changed' "$tepal" veto v --members members --avoid nowhere
refused 'veto: over its keys' 'members: the filter would overwrite the keys; nothing was changed' "$tepal" veto v --members members --avoid unknown -o members --force
refused 'veto: a weight without weights' 'veto: --tolerate-weight needs the weights of members: --member-weights; nothing was changed' "$tepal" veto v --members members --avoid unknown --tolerate-weight 2
refused 'veto: one standard input for two' 'standard input: given twice, but it can be read only once; nothing was changed' "$tepal" veto v --members - --avoid -
same 'veto: the filter stays as it was' v w

finish
