#!/usr/bin/env bash
# Counting filters: build, add, remove, receipts, audit, diff, convert --to, model counting, and all
# that is refused.
source "$(dirname "$0")/lib.sh"
bad() {
    local message=$1
    shift
    refused "$message" "$message" "$tepal" "$@"
}

seq 1 1000 >members
seq 1 500 >half
seq 501 1000 >rest
seq 5001 7000 >strangers
printf '7\n' >seven

# json FILE NAME...: fields of what info --json prints of a filter.
json() {
    "$tepal" info --json "$1" | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(*[d[name] for name in sys.argv[1:]])' "${@:2}"
}

# ---- counters that are stuck are told, by build, add and remove
told() { # told COMMAND...: the line about stuck counters
    "$@" 2>&1 | grep '^stuck' || echo none
}
yes hot | head -20 >hot
is 'build tells no stuck counters if there are none' \
    "$(told "$tepal" build seven -o s.tepal --kind counting --cells 1000 --hashes 4 -s 1 -f)" none
is 'add tells them' "$(told "$tepal" add s.tepal hot)" \
    'stuck      4 counters at the limit of 15, never lowered again; build with --counter-bits 8 for a limit of 255'
is 'remove tells them' "$(told "$tepal" remove s.tepal hot)" \
    'stuck      4 counters at the limit of 15, never lowered again; build with --counter-bits 8 for a limit of 255'
is 'with 8 bits none are' \
    "$(told "$tepal" build hot -o s.tepal --kind counting --cells 1000 --hashes 4 -s 1 -f --counter-bits 8)" none
yes hot | head -300 >hotter
is 'up to 255' \
    "$(told "$tepal" build hotter -o s.tepal --kind counting --cells 1000 --hashes 4 -s 1 -f --counter-bits 8)" \
    'stuck      4 counters at the limit of 255, never lowered again'

# ---- choices, sized by their rate, as options and as a plan
for layout in flat partitioned blocked; do
    "$tepal" build members -o c.tepal --kind counting --choices 4 --fp 0.1% --layout $layout -s 1 -q -f
    is "choices, $layout: the size keeps the rate" \
        "$(json c.tepal choices fp_at_capacity | awk '{ print $1, ($2 <= 0.001 && $2 > 0.0008) }')" '4 1'
done
"$tepal" plan --keys 1000 --fp 0.001% --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
d["plans"].sort(key=lambda p: not (p["kind"] == "counting" and p["layout"] == "blocked"))
json.dump(d, open("choices.json", "w"))
print(d["plans"][0]["command"].replace("KEYS", "members").replace("FILE", "by-options.tepal"))' >command
sed "s|^tepal|\"$tepal\"|" command | sed 's/$/ -s 1 -q/' | bash
"$tepal" build members -o by-plan.tepal --plan choices.json -s 1 -q
is 'a plan with choices, built' "$(json by-plan.tepal choices rule)" '8 least-increase'
is 'as by its options' "$(cmp by-plan.tepal by-options.tepal && echo same)" same
"$tepal" plan --keys 1000 --fp 1% --deletes --counter-bits 8 --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
d["plans"].sort(key=lambda p: not (p["kind"] == "counting" and p["layout"] == "flat"))
json.dump(d, open("wide.json", "w"))'
"$tepal" build members -o wide.tepal --plan wide.json -s 1 -q -f
is 'a plan with wide counters, built' "$(json wide.tepal counter_bits)" 8
sed 's/"counter_bits": 8/"counter_bits": 5/' wide.json >wrong.json
bad 'wrong.json: "counter_bits" is neither 4 nor 8; nothing was written' \
    build members -o x --plan wrong.json

# ---- one choice
build() {
    "$tepal" build "$@" --kind counting --seed 7 -q
}
build members -o all.tepal --fp 1%
build half -o low.tepal --fp 1% --capacity 1000
build rest -o high.tepal --fp 1% --capacity 1000
is 'info: one choice' "$(json all.tepal kind choices rule policy keys_added keys_removed stuck)" \
    'counting 1 none none 1000 0 0'
expect 'every member is found' 0 $'1000\n' '' "$tepal" query -c all.tepal members
expect 'remove: the rest stays' 0 '' '' "$tepal" remove -q all.tepal rest -o left.tepal
is 'remove: as if it had never been added' "$(json left.tepal ones p0 p1 p2)" \
    "$(json low.tepal ones p0 p1 p2)"
is 'remove: counted' "$(json left.tepal keys_added keys_removed keys_now)" '1000 500 500'
"$tepal" merge low.tepal high.tepal -o both.tepal -q
is 'merge: counters add up' "$(json both.tepal ones p1 max_count)" "$(json all.tepal ones p1 max_count)"
run "$tepal" remove all.tepal strangers -o harmed.tepal --json
is 'remove --json: exit status' "$code" 0
is 'remove --json: removed and not' \
    "$(($(field "$work/out" removed) + $(field "$work/out" not_removed)))" 2000
printf 'nobody\n' >nobody
cp low.tepal same.tepal
run "$tepal" remove same.tepal nobody
is 'remove what is not there: exit status 1' "$code" 1
like 'remove what is not there: told' "$(head -1 "$work/err")" '^removed    0 of 1 key$'
is 'remove what is not there: counted, and no counter changed' \
    "$(json same.tepal refused_removals ones p1)" "1 $(json low.tepal ones p1)"
expect 'remove nothing' 0 '' $'tepal: low.tepal: warning: no keys in the input: the filter is unchanged\n' \
    bash -c "'$tepal' remove low.tepal /dev/null 2>&1 >/dev/null | head -1 >&2"

# ---- snapshots and sending
"$tepal" add low.tepal rest -o later.tepal -q
expect 'diff' 0 '' '' "$tepal" diff later.tepal low.tepal -o since.tepal -q
is 'diff: the filter of what was added' "$(json since.tepal ones p1 keys_added)" \
    "$(json high.tepal ones p1 keys_added)"
run "$tepal" diff low.tepal later.tepal -o gone.tepal
like 'diff: a warning if counters fell' "$(head -1 "$work/err")" \
    '^tepal: gone.tepal: warning: [0-9]+ counters fell'
"$tepal" convert all.tepal -o sent.tepal --to bloom -q
"$tepal" build members -o bloom.tepal --fp 1% --seed 7 -q
is 'convert --to bloom: the same Bloom filter' "$(json sent.tepal kind bits hashes ones)" \
    "$(json bloom.tepal kind bits hashes ones)"
"$tepal" query sent.tepal strangers >theirs
"$tepal" query bloom.tepal strangers >ours
same 'convert --to bloom: the same answers' theirs ours

# ---- choices and receipts
build half -o c.tepal --cells 16000 --hashes 11 --choices 4 --rule improved-greedy --receipts c.tsv
is 'receipts: one a key' "$(cut -f1 c.tsv | cmp - half && cut -f2 c.tsv | sort -un | xargs)" '0 1 2 3'
"$tepal" add c.tepal rest --receipts more.tsv -q
cat c.tsv more.tsv >every.tsv
run "$tepal" audit c.tepal --receipts every.tsv --json
is 'audit: nothing lacks' "$(field "$work/out" exposed) $(field "$work/out" deficit)" '0 0'
expect 'remove --receipts' 0 '' '' "$tepal" remove c.tepal --receipts every.tsv -q
is 'remove --receipts: empty again' "$(json c.tepal ones keys_now)" '0 0'
build members -o bits.tepal --cells 16000 --hashes 5 --choices 3 --policy remove
"$tepal" convert bits.tepal -o stripped.tepal --to bits -q
"$tepal" query bits.tepal members strangers >with
"$tepal" query stripped.tepal members strangers >without
same 'convert --to bits: the same answers' with without
is 'blocked: its rule' "$(build members -o lines.tepal --cells 16384 --layout blocked --choices 2 &&
    json lines.tepal rule policy line_cells)" 'least-increase keep 512'
is 'blocked: the lines of 0.1.0' "$(build members -o lines.tepal --cells 16000 --layout blocked \
    --choices 2 --line-cells 128 && json lines.tepal rule policy line_cells)" 'least-increase keep 128'

# ---- audit
"$tepal" remove all.tepal strangers -q
run "$tepal" audit all.tepal --members members --svg load.svg
is 'audit: exit status' "$code" 0
like 'audit: a picture' "$(cat "$work/out")" 'load: counters at each value'
like 'audit: bars' "$(grep -c '#' "$work/out")" '^[2-9]'
is 'audit --svg' "$(head -c 4 load.svg)" '<svg'
python3 -c 'import sys, xml.dom.minidom as x; x.parse("load.svg")' && pass || fail 'audit --svg: XML'
run "$tepal" audit all.tepal --members members --json
is 'audit: exposed are those that query -v prints' "$(field "$work/out" exposed)" \
    "$("$tepal" query -v -c all.tepal members)"
is 'audit: no more exposed than potential' \
    "$(($(field "$work/out" exposed) <= $(field "$work/out" potential)))" 1

# ---- the model
run "$tepal" model counting --cells 1600 --keys 100 --hashes 11 --json
for name in fp p0 p1 p2 potential_mean potential_mean_printed exposed_mean exposed_mean_printed \
    multi_address_bound stuck_chance; do
    field "$work/out" "$name" >/dev/null && pass || fail "model counting has $name"
done
is 'model: Theorem 4 as printed, and right' \
    "$(python3 -c "print('%.3f %.2f' % ($(field "$work/out" exposed_mean_printed), $(field "$work/out" exposed_mean)))")" \
    '5.568 7.39'
run "$tepal" model counting --cells 80000 --keys 10000 --hashes 5 --choices 4 --json
is 'model: Theorem 5 as printed, and right' \
    "$(python3 -c "print('%.3f %.3f' % ($(field "$work/out" wrong_address_printed), $(field "$work/out" wrong_address)))")" \
    '0.030 0.501'
run "$tepal" model counting --cells 80000 --keys 10000 --hashes 5 --p0 0.62 --p1 0.2 --json
is 'model: measured shares' "$(field "$work/out" measured) $(field "$work/out" p0)" 'True 0.62'

run "$tepal" model counting --layout blocked --cells 128000 --keys 8000 --hashes 11 --line-cells 128 --json
is 'model: counters in short lines' "$(python3 -c "print('%.4f' % $(field "$work/out" fp))")" 0.0031
run "$tepal" model counting --layout blocked --cells 128000 --keys 8000 --hashes 11 --json
is 'model: counters in lines, as a Bloom filter' "$(python3 -c "print('%.9f' % $(field "$work/out" fp))")" \
    "$("$tepal" model bloom --layout blocked --bits 128000 --keys 8000 --hashes 11 --json >"$work/out" &&
        python3 -c "print('%.9f' % $(field "$work/out" fp))")"
"$tepal" build members -o bits.tepal --layout blocked --bits 128000 --hashes 6 --seed 1 -q
"$tepal" build members -o lined.tepal --kind counting --layout blocked --cells 128000 --hashes 6 \
    --seed 1 -q
"$tepal" convert lined.tepal -o converted.tepal --to bloom -q
"$tepal" query bits.tepal members strangers >with
"$tepal" query converted.tepal members strangers >without
same 'long lines have the positions of a Bloom filter' with without
bad 'build: --line-cells is for the blocked and paired layouts; nothing was written' \
    build members -o x --kind counting --seed 1 --cells 1000 --line-cells 512
"$tepal" build members -o lined.tepal --kind counting --layout blocked --fp 1% --seed 1 \
    --line-cells 128 -q
"$tepal" info --json lined.tepal >"$work/out"
is 'counters in lines are sized by a rate' \
    "$(python3 -c "f = $(field "$work/out" fp_at_capacity); print(0.009 < f <= 0.01)")" True

# ---- refused
kind='--kind counting --seed 1'
bad 'build: --choices 0: too small: the minimum is 1' build members -o x $kind --choices 0
bad 'build: --choices 65: too large: the maximum is 64' build members -o x $kind --choices 65
bad 'build: on blocked and paired layouts the rule must be least-increase: (improved) greedy would fill the fullest lines; nothing was written' \
    build members -o x $kind --cells 12800 --layout blocked --choices 2 --rule greedy
bad 'build: the rule least-increase needs a blocked or paired layout; nothing was written' \
    build members -o x $kind --cells 12800 --choices 2 --rule least-increase
bad 'build: --rule is for filters with more than one choice: give --choices C; nothing was written' \
    build members -o x $kind --rule greedy
bad 'build: --cells 1000: the blocked layout needs a multiple of 512; the next is 1024; nothing was written' \
    build members -o x $kind --cells 1000 --layout blocked
bad 'build: --fp does not size a filter with several choices on the paired layout: give --cells M or --bits-per-key B, or another layout; nothing was written' \
    build members -o x $kind --choices 2 --layout paired
bad 'build: --receipts needs to know the size in advance: give --cells M or --capacity N; nothing was written' \
    build members -o x $kind --receipts r
bad 'build: --cells is not an option of the kind bloom; nothing was written' build members -o x --cells 5
bad 'members: the output would overwrite another file of this command; nothing was written' \
    build members -o x $kind --cells 5000 --receipts members
absent 'nothing was written' x
bad 'bloom.tepal: keys cannot be removed from a filter of the kind bloom; `tepal kinds` lists the kinds that are deletable; nothing was changed' \
    remove bloom.tepal seven
bad 'stripped.tepal: its counters were dropped (convert --to bits), so keys cannot be removed; nothing was changed' \
    remove stripped.tepal seven
printf '7\t4\n' >wrong.tsv
build members -o d.tepal --cells 16000 --choices 4
cp d.tepal d.before
bad 'wrong.tsv: line 1: no such group: this filter has 4, numbered from 0; nothing was changed' \
    remove d.tepal --receipts wrong.tsv
bad 'seven: line 1: not a receipt: a key, a tab and its group are needed; nothing was changed' \
    remove d.tepal --receipts seven
printf '7\t1\n8\tx\n' >wrong.tsv
bad 'wrong.tsv: line 2: the group after the tab is missing or not a number; nothing was changed' \
    remove d.tepal --receipts wrong.tsv
printf '7\t\n' >wrong.tsv
bad 'wrong.tsv: line 1: the group after the tab is missing or not a number; nothing was changed' \
    remove d.tepal --receipts wrong.tsv
bad 'wrong.tsv: line 1: the group after the tab is missing or not a number' \
    audit d.tepal --receipts wrong.tsv
bad 'remove: --receipts names the keys: do not give KEYS as well; nothing was changed' \
    remove d.tepal seven --receipts wrong.tsv
same 'and the filter is as it was' d.tepal d.before
bad 'add: this filter cannot do that; nothing was changed' add stripped.tepal seven
bad '--receipts: only filters of the kind counting have receipts, and this one is bloom; nothing was changed' \
    add bloom.tepal seven --receipts r
bad 'audit: the members are needed: --members KEYS, or --receipts FILE' audit d.tepal
bad 'bloom.tepal: only counting filters can be audited, and this one is of the kind bloom' \
    audit bloom.tepal --members members
bad 'stripped.tepal: its counters were dropped (convert --to bits), so it cannot be audited' audit stripped.tepal --members half
bad 'bloom.tepal: only counting filters can be subtracted, and this one is of the kind bloom; nothing was written' \
    diff d.tepal bloom.tepal -o x
bad 'low.tepal: is not a snapshot of d.tepal: their parameters differ; nothing was written' \
    diff d.tepal low.tepal -o x
bad 'd.tepal: a Bloom filter needs one choice and no lines of 128 counters; --to bits works with any; nothing was written' \
    convert d.tepal -o x --to bloom
bad 'bloom.tepal: only counting filters have counters to drop, and this one is bloom; nothing was written' \
    convert bloom.tepal -o x --to bits
bad 'model: counting: --cells M and --keys N are needed' model counting --keys 5
bad 'model: --p0 and --p1 go together: give both' model counting --keys 5 --cells 50 --p0 0.5
absent 'nothing was written' x
# A counter changed behind the header's back, with every checksum made right.
/usr/bin/python3 - d.tepal lie.tepal <<'PY'
import sys, xxhash
data = bytearray(open(sys.argv[1], "rb").read())
payload = int.from_bytes(data[200:208], "little")
at = next(i for i in range(256, 256 + 8000) if data[i] & 15 == 1)
data[at] += 1
block = bytes(data[256:256 + payload])
data[256 + payload:264 + payload] = xxhash.xxh3_64_intdigest(block, 0).to_bytes(8, "little")
open(sys.argv[2], "wb").write(data)
PY
run "$tepal" verify lie.tepal
is 'a file whose counters disagree with its counts is refused' "$code $(cat "$work/err")" \
    '2 tepal: lie.tepal: the counters disagree with the counts in the header (byte 0)'

finish
