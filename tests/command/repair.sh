#!/usr/bin/env bash
# Deletes that can be repaired: the lists of remove and audit, kept keys that come back, repair,
# query --groups, counters of 8 bits, and all that is refused.
source "$(dirname "$0")/lib.sh"

seq 1 3000 >members
seq 3001 6000 >others
seq 10001 40000 >strangers
head -5 members >five

json() {
    "$tepal" info --json "$1" | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(*[d[name] for name in sys.argv[1:]])' "${@:2}"
}
# audit FILE NAME...: fields of what audit --json prints.
audit() {
    "$tepal" audit "$1" "$2" "$3" --json | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(*[d[name] for name in sys.argv[1:]])' "${@:4}"
}
build() {
    "$tepal" build "$@" --kind counting --seed 3 -q -f
}

# ---- what was not removed, and why
build members -o four.tepal --cells 24000 --hashes 5 --choices 4 --receipts members.tsv
"$tepal" query four.tepal strangers >found
"$tepal" query -v four.tepal strangers >absent
"$tepal" query --groups four.tepal members >groups
is 'query --groups: every member once' "$(cut -f1 groups | cmp - members && echo same)" same
is 'query --groups: the group of the receipt is one of them' "$(paste groups members.tsv |
    awk -F'\t' '{ n = split($2, g, ","); yes = 0; for (i = 1; i <= n; i++) yes += g[i] == $4; bad += yes != 1 }
    END { print bad + 0 }')" 0
awk -F'\t' '$2 ~ /,/ { print $1 }' groups >several
is 'there are members with several addresses' "$(($(wc -l <several) > 5))" 1
cp four.tepal all.tepal
cat members absent >mixed
run "$tepal" remove four.tepal mixed --refused refused --kept kept --json
is 'remove: what was not found is listed' "$(tail -n "$(wc -l <absent)" refused | cmp - absent && echo same)" same
is 'remove --json: refused, kept and removed are all' "$(($(field "$work/out" refused_now) + \
    $(field "$work/out" kept_now) + $(field "$work/out" removed)))" "$(wc -l <mixed)"
is 'remove: the lists have them' "$(wc -l <refused) $(wc -l <kept)" \
    "$(field "$work/out" refused_now) $(field "$work/out" kept_now)"
is 'remove: kept keys had several addresses' "$(grep -cvxFf several kept)" 0
is 'remove: the filter counts the same' "$(json four.tepal refused_removals kept)" \
    "$(field "$work/out" refused_now) $(field "$work/out" kept_now)"
cp all.tepal batch.tepal
run "$tepal" remove batch.tepal mixed
like 'without lists: refused told' "$(sed -n 2p "$work/err")" "^refused    $(wc -l <refused), "
like 'without lists: kept told' "$(sed -n 3p "$work/err")" "^kept       $(wc -l <kept), "
same 'without lists: the same filter' batch.tepal four.tepal

# ---- kept keys that come back change nothing; those that can go by now leave the list
cp kept kept.before
cp four.tepal before.tepal
expect 'kept keys come back' 0 '' '' "$tepal" add four.tepal kept.before --kept kept -q
same 'and change nothing' four.tepal before.tepal
is 'and are off the list' "$(wc -c <kept)" 0
cp kept.before kept
run "$tepal" add four.tepal kept.before others --kept kept
like 'how many came back is told' "$(cat "$work/err")" "returned   $(wc -l <kept.before) kept keys"
"$tepal" add before.tepal others -q
same 'the others are added' four.tepal before.tepal
cp kept.before kept
run "$tepal" remove four.tepal kept.before --kept kept
is 'another attempt: what was removed is off the list' \
    "$(($(wc -l <kept) + $(sed -n 's/^removed *\([0-9]*\) .*/\1/p' "$work/err")))" "$(wc -l <kept.before)"
is 'and keeps every member' "$("$tepal" query -c four.tepal others)" 3000

# ---- a filter that was harmed: who, and back
build members -o one.tepal --cells 24000 --hashes 5
"$tepal" remove one.tepal strangers -o harmed.tepal -q
expect 'audit: lists' 0 '' '' bash -c "'$tepal' audit harmed.tepal --members members --exposed exposed \
    --potential potential --several more >/dev/null"
"$tepal" query -v harmed.tepal members >missing
same 'exposed: those that are not found' exposed missing
is 'the lists are as long as the figures' "$(wc -l <exposed) $(wc -l <potential) $(wc -l <more)" \
    "$(audit harmed.tepal --members members exposed potential several)"
is 'exposed members are potential' "$(grep -cvxFf potential exposed)" 0
is 'something was lost' "$(($(wc -l <exposed) > 10))" 1
expect 'repair' 0 '' '' "$tepal" repair harmed.tepal --members members -o mended.tepal -q
is 'repair: every member is found' "$("$tepal" query -c mended.tepal members)" 3000
is 'repair: nothing is missing' "$(audit mended.tepal --members members exposed potential deficit)" '0 0 0'
"$tepal" diff one.tepal mended.tepal -o gone.tepal -q
is 'repair: no counter is below what it was' "$(json gone.tepal ones)" 0
run "$tepal" repair harmed.tepal --members members --json -o mended.tepal -f
is 'repair --json' "$(field "$work/out" exposed_before) $(field "$work/out" members)" "$(wc -l <exposed) 3000"
cp mended.tepal again.tepal
expect 'repair: once more, nothing to do' 0 '' '' "$tepal" repair mended.tepal --members members -q
same 'repair: and nothing done' mended.tepal again.tepal
# ---- a list of other keys
cp again.tepal ours.tepal
run "$tepal" repair ours.tepal --members others
like 'repair: other keys are refused' "$code $(cat "$work/err")" \
    '^2 tepal: others: 2[0-9]* of these 3000 keys are not found, as many as if none was a member of this filter .*--force.*nothing was changed$'
same 'repair: and change nothing' ours.tepal again.tepal
"$tepal" build others -o theirs.tepal --cells 24000 --hashes 5 --receipts theirs.tsv --kind counting -q
run "$tepal" repair ours.tepal --receipts theirs.tsv
like 'repair: nor are their receipts taken' "$code $(cat "$work/err")" \
    '^2 tepal: theirs.tsv: 2[0-9]* of these 3000 keys are not found'
cat others five <(head -300 members) >some # of strangers 1 % are found, with these 10 %
run "$tepal" repair ours.tepal --members some -o some.tepal -q
is 'repair: some members among them are enough' "$code $("$tepal" query -c some.tepal some)" '0 3305'
run "$tepal" repair ours.tepal --members others --force -q
is 'repair --force: if one insists' "$code $("$tepal" query -c ours.tepal others)" '0 3000'
: >empty
expect 'repair: an empty list is nothing to do' 0 '' '' "$tepal" repair again.tepal --members empty -q
# with several choices: exactly with receipts, and without by an estimate
is 'audit without receipts: no false alarm' \
    "$(audit all.tepal --members members estimated exposed potential deficit surplus)" 'True 0 0 0 0'
run "$tepal" audit all.tepal --members members
like 'and its caveat names the remedy' "$(cat "$work/err")" \
    '^tepal: all.tepal: warning: which group .* was estimated.*: more may be; --receipts FILE'
run "$tepal" audit all.tepal --receipts members.tsv
is 'receipts need no caveat' "$code $(cat "$work/err")" '0 '
cut -f1 members.tsv >plain
"$tepal" remove all.tepal found --refused nobody --kept nothing -q
is 'audit: receipts are no estimate' "$(audit all.tepal --receipts members.tsv estimated)" False
"$tepal" repair all.tepal --receipts members.tsv -o exact.tepal -q
"$tepal" remove exact.tepal --receipts members.tsv --refused left -q
is 'repair by receipts: every receipt is good' "$(wc -c <left)" 0
"$tepal" repair all.tepal --members plain -o guessed.tepal -q
is 'repair without receipts: every member is found' "$("$tepal" query -c guessed.tepal members)" 3000

# ---- counters of 8 bits
for i in $(seq 200); do cat five; done >often
build often -o narrow.tepal --cells 1000 --hashes 4
build often -o wide.tepal --cells 1000 --hashes 4 --counter-bits 8
is 'narrow counters stick, wide ones do not' \
    "$(($(json narrow.tepal stuck) > 0)) $(json wide.tepal stuck max_count counter_bits counter_bytes)" \
    '1 0 200 8 1000'
"$tepal" remove wide.tepal often -q
is 'wide: all of them removed' "$(json wide.tepal ones keys_now)" '0 0'
build members -o wide.tepal --bits-per-key 90 --counter-bits 8
is 'wide: nine bits per counter' "$(json wide.tepal counters)" 30000
expect 'wide: verify' 0 $'wide.tepal: OK\n' '' "$tepal" verify wide.tepal
is 'model: saturation by width' "$("$tepal" model counting --keys 100 --cells 10 --hashes 2 --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["stuck_mean"] > 5)') $("$tepal" model counting \
    --keys 100 --cells 10 --hashes 2 --counter-bits 8 --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["stuck_mean"] < 1e-9)')" 'True True'

# ---- the model of several choices in lines takes its own rule
run "$tepal" model counting --layout blocked --choices 3 --cells 160256 --keys 10k --hashes 11 --json
is 'model: blocked, three choices' "$code $(field "$work/out" choices)" '0 3'
build members -o lines.tepal --layout blocked --choices 3 --cells 49152 --hashes 11 --capacity 3000
is 'info: predicted near what it is' "$("$tepal" info --json lines.tepal | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(abs(d["fp_at_capacity"] / d["fp_now"] - 1) < 0.2) # 10 %, and what one filter varies by')" True
is 'model: Sec. 4.3 in numbers' "$("$tepal" model counting --choices 4 --cells 80k --keys 10k --hashes 5 --json |
    python3 -c 'import json, sys
d = json.load(sys.stdin)
print(*["%.0f" % d[k] for k in ("multi_address_keys", "multi_potential", "multi_exposed")])')" '233 583 309'

# ---- groups chosen offline: fewer false positives, and receipts that hold
build members -o online.tepal --cells 36000 --hashes 8 --choices 4
build members -o offline.tepal --cells 36000 --hashes 8 --choices 4 --offline --receipts offline.tsv
is 'offline: fewer false positives' "$(awk "BEGIN { print ($(json offline.tepal fp_now) < 0.85 * $(json \
    online.tepal fp_now)) }")" 1
is 'offline: every member' "$("$tepal" query -c offline.tepal members) $(json offline.tepal keys_added)" '3000 3000'
build members -o again.tepal --cells 36000 --hashes 8 --choices 4 --offline
same 'offline: the same file again' again.tepal offline.tepal
"$tepal" remove offline.tepal --receipts offline.tsv -q
is 'offline: the receipts empty it' "$(json offline.tepal ones)" 0
cat members members >twice
build twice -o twice.tepal --cells 36000 --hashes 8 --choices 4 --offline
is 'offline: a key that comes twice counts twice' "$(json twice.tepal keys_added)" 6000

# ---- refused, with nothing lost
bad() {
    refused "$1" "$1" "$tepal" "${@:2}"
}
cp one.tepal one.before
printf 'old\n' >full
bad 'full: the file exists; use --force to overwrite it; nothing was changed' \
    remove one.tepal members --refused full
bad 'one.tepal: the list would overwrite another file of this command; nothing was changed' \
    remove one.tepal members --refused one.tepal
bad 'members: the output would overwrite another file of this command; nothing was changed' \
    remove one.tepal members --refused members -f
bad 'l: the output would overwrite another file of this command; nothing was changed' \
    remove one.tepal members --refused l --kept l
bad '-: a list of keys needs a file of its own; nothing was changed' remove one.tepal members --kept -
bad 'members: the list would overwrite another file of this command; nothing was changed' \
    add one.tepal members --kept members
bad 'add: --receipts and --kept cannot be combined: give one of them' \
    add one.tepal members --kept l --receipts r
"$tepal" build members -o bloom.tepal -s 1 -q
bad '--kept: only filters of the kind counting keep keys, and this one is bloom; nothing was changed' \
    add bloom.tepal members --kept l
bad '--groups: only filters of the kind counting have groups, and this one is bloom' \
    query --groups bloom.tepal members
bad 'bloom.tepal: only counting filters can be repaired, and this one is of the kind bloom; nothing was changed' \
    repair bloom.tepal --members members
bad 'repair: the members are needed: --members KEYS, or --receipts FILE' repair one.tepal
"$tepal" convert one.tepal -o bits.tepal --to bits -q
bad 'bits.tepal: its counters were dropped (convert --to bits), so it cannot be repaired; nothing was changed' \
    repair bits.tepal --members members
bad 'one.tepal: the list would overwrite another file of this command' \
    audit one.tepal --members members --exposed one.tepal
bad 'e: the output would overwrite another file of this command' \
    audit one.tepal --members members --exposed e --several e
refused 'offline: one choice' 'build: --offline chooses between groups: give --choices C, C above 1; nothing was written' \
    "$tepal" build members -o x --kind counting --cells 1000 --offline
refused 'offline: another kind' 'build: --offline is not an option of the kind bloom; nothing was written' \
    "$tepal" build members -o x --offline
absent 'nothing was written' x
printf '7\t9\n' >wrong.tsv
bad 'wrong.tsv: line 1: no such group: this filter has 1, numbered from 0; nothing was changed' \
    repair one.tepal --receipts wrong.tsv
bad 'model: with several choices there is no model of the paired layout' \
    model counting --layout paired --choices 3 --cells 12800 --keys 100
same 'the filter is as it was' one.tepal one.before
is 'the list is as it was' "$(cat full)" old
is 'the keys are as they were' "$(seq 1 3000 | cmp - members && echo same)" same
for file in l e r; do
    absent 'no list was left' "$file"
done

finish
