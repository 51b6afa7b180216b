#!/usr/bin/env bash
# Filters that learn: avoid on counting, multichoice, Bloom and retouched filters; the budget; what
# additions, removals, unions, conversions, audits and repairs do to it; and all that is refused.
source "$(dirname "$0")/lib.sh"

seq 1 3000 >members
seq 10001 40000 >strangers

json() {
    "$tepal" info --json "$1" | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(*[d[name] for name in sys.argv[1:]])' "${@:2}"
}
count() { # count FILE KEYS: how many are found
    "$tepal" query -c "$1" "$2"
}
lost() {
    echo $((3000 - $(count "$1" members)))
}

for choices in 1 3; do
    f=c$choices.tepal
    "$tepal" build members -o $f --kind counting --cells 24000 --hashes 5 --choices $choices --seed 3 -q
    "$tepal" query $f strangers | head -60 >wrong
    refused "$choices: without a budget" \
        "$f: nobody has said yet how many members it may lose: give --max-fn R or --max-fn-count N; nothing was changed" \
        "$tepal" avoid $f wrong
    cp $f before.tepal
    rm -f refused
    run "$tepal" avoid $f wrong --max-fn 1% --refused refused --json
    read -r avoided absent not lost_all most < <(python3 -c 'import json
d = json.load(open("'"$work/out"'"))
print(d["avoided"], d["absent"], d["refused"], int(d["lost_all"]), d["most_lost"])')
    is "$choices: every key is accounted for" $((avoided + absent + not)) 60
    is "$choices: the exit status tells refusals" "$code" "$((not > 0))"
    is "$choices: the budget is the share" "$most" 30
    is "$choices: it is kept" "$((lost_all <= 30))" 1
    is "$choices: what is refused is listed, and found" "$(wc -l <refused) $(cat wrong refused | "$tepal" query $f | sort -u | cmp -s - <(sort refused) && echo same)" "$not same"
    is "$choices: no more members are lost than told" "$(($(lost $f) <= lost_all && $(lost $f) > 0))" 1
    is "$choices: info agrees" "$(json $f lost most_lost)" "$lost_all 30"
    run "$tepal" audit $f --members members --json
    is "$choices: the audit counts the members given up" \
        "$(python3 -c 'import json; d = json.load(open("'"$work/out"'")); print(d["exposed"], d["given_up"], d["deficit"])')" \
        "$(lost $f) $(lost $f) 0"
    # one at a time, with a new process and a new file each: the same
    cp before.tepal single.tepal
    "$tepal" avoid single.tepal /dev/null --max-fn 1% -q
    while read -r key; do
        echo "$key" | "$tepal" avoid single.tepal -q
    done <wrong
    is "$choices: one by one it is the same file" "$(cmp single.tepal $f && echo same)" same
    # spent: nothing changes
    cp $f spent.tepal
    "$tepal" query $f strangers >still
    "$tepal" avoid spent.tepal --max-fn-count "$lost_all" still -q
    is "$choices: a spent budget changes nothing" "$(count spent.tepal still)" "$(wc -l <still)"
    cp spent.tepal same.tepal
    "$tepal" avoid spent.tepal still -q
    is "$choices: not a byte" "$? $(cmp spent.tepal same.tepal && echo same)" '1 same'
    "$tepal" verify -q $f || fail "$choices: it is sound"
    # merge, convert, repair
    "$tepal" merge $f before.tepal -o merged.tepal -q
    is "$choices: a union finds what either finds" "$(count merged.tepal members) $(json merged.tepal most_lost)" "3000 30"
    "$tepal" convert $f --to bits -o bits.tepal -q -f
    is "$choices: its bits alone answer alike" "$(count bits.tepal strangers) $(lost bits.tepal)" "$(count $f strangers) $(lost $f)"
    run "$tepal" avoid bits.tepal wrong
    is "$choices: but cannot learn" "$code" 2
    cp $f repaired.tepal
    "$tepal" repair repaired.tepal --members members -q
    is "$choices: a repair leaves cleared bits" "$(cmp repaired.tepal $f && echo same)" same
    # adding sets bits again
    cp $f added.tepal
    run "$tepal" add added.tepal <(grep -vxF -f refused wrong)
    like "$choices: add tells it" "$(cat "$work/err")" 'set again  bits of at most [0-9]+ lost member'
    is "$choices: what is added is found" "$(count added.tepal wrong)" 60
    # removing asks the counters
    "$tepal" remove $f members -q
    is "$choices: every member can be removed" "$(json $f refused_removals)" 0
done
is 'with one choice nothing is left' "$(json c1.tepal ones lost keys_now)" "0 0 0"
is 'the keys kept by remove are told from those refused' "$(
    cp before.tepal kept.tepal
    "$tepal" avoid kept.tepal wrong --max-fn 2% -q
    "$tepal" remove kept.tepal members --kept kept.txt --refused none.txt -q
    wc -l <none.txt)" 0

# a budget from the start; a plain counting filter is what it was
"$tepal" build members -o early.tepal --kind counting --cells 24000 --hashes 5 --seed 3 --max-fn 1% -q
is 'build --max-fn' "$(json early.tepal most_lost lost)" "30 0"
"$tepal" avoid early.tepal wrong -q
is 'and avoid needs no option' "$(($(json early.tepal lost) > 0))" 1
refused 'build: not for other kinds' \
    "build: --max-fn is not an option of the kind fingerprint; nothing was written" \
    "$tepal" build members -o no.tepal --kind fingerprint --max-fn 1%

# Bloom filters become retouched ones
"$tepal" build members -o bloom.tepal --bits 24000 --seed 3 -q
"$tepal" query bloom.tepal strangers | head -20 >wrong
run "$tepal" avoid bloom.tepal wrong --max-fn 1%
like 'what a Bloom filter loses is predicted' "$(cat "$work/err")" 'lost       about [0-9.]+ members, [0-9.]+ in all'
is 'it is a retouched filter' "$(json bloom.tepal kind expected most_lost)" "retouched True 30"
run "$tepal" avoid bloom.tepal wrong --max-fn 2%
is 'the budget may be raised' "$(json bloom.tepal most_lost)" 60
refused 'but not below what is lost' \
    "bloom.tepal: more members than that are lost already; nothing was changed" \
    "$tepal" avoid bloom.tepal wrong --max-fn-count 1
run "$tepal" add bloom.tepal strangers
like 'adding to it warns' "$(cat "$work/err")" 'may be found again after additions'
"$tepal" build members -o planned.tepal --capacity 3000 --seed 3 -q
"$tepal" query planned.tepal strangers | head -20 >wrong
"$tepal" retouch planned.tepal --members members --avoid wrong -o retouched.tepal -q
head -10 strangers | "$tepal" add retouched.tepal -q
like 'info does not say that keys were added again' "$("$tepal" info retouched.tepal)" \
    'verdict: more keys were added than planned'

# planned and built with a budget: the plan, its command and its file build the same filter
seq 1 3000 >keys
run "$tepal" plan --keys 3000 --fp 1% --max-fn 1%
like 'the plan tells what may be lost' "$(cat "$work/out")" \
    'fn         none, and at most 1 % lost to keys that it avoids'
command=$(sed -n 's/^build *//p' "$work/out")
"$tepal" build keys -o auto.tepal --auto --fp 1% --max-fn 1% --seed 3 -q
"$tepal" plan --keys 3000 --fp 1% --max-fn 1% --json >learns.json
"$tepal" build keys -o plan.tepal --plan learns.json --seed 3 -q
(set -- ${command//tepal build KEYS -o FILE/} && "$tepal" build keys -o command.tepal --seed 3 -q "$@")
is 'a Bloom filter that may learn' "$(json auto.tepal kind most_lost)" 'retouched 30'
is 'by the plan in a file, and by its command' \
    "$(cmp auto.tepal plan.tepal && cmp auto.tepal command.tepal && echo same)" same
"$tepal" query auto.tepal strangers | head -20 >wrong
run "$tepal" avoid auto.tepal wrong
is 'it learns without a further word' "$((code < 2)) $(($(count auto.tepal wrong) < 20))" '1 1'
"$tepal" build keys -o counts.tepal --auto --fp 1% --max-fn 1% --deletes --seed 3 -q
is 'one from which keys are removed, too' "$(json counts.tepal kind most_lost)" 'counting 30'
refused 'a plan decides about its budget' 'build: --max-fn cannot be combined with --plan: the plan decides; nothing was written' \
    "$tepal" build keys -o no.tepal --plan learns.json --max-fn 1%
refused 'a share and a number' 'build: --max-fn and --max-fn-count cannot be combined: give one of them' \
    "$tepal" build keys -o no.tepal --max-fn 1% --max-fn-count 3

run "$tepal" info counts.tepal
is 'no false negatives yet' "$(grep -c '^false negatives' "$work/out")" 0
"$tepal" query counts.tepal strangers | head -20 >wrong
"$tepal" avoid counts.tepal wrong -q
like 'info says in words what may be lost' "$("$tepal" info counts.tepal)" \
    "false negatives: at most $(json counts.tepal lost) of 3000 members, lost to keys that it avoids"

# others, and what is not a filter
"$tepal" build members -o print.tepal --kind fingerprint --seed 3 -q
refused 'other kinds' \
    "print.tepal: filters of this kind cannot avoid keys: the kind must be counting, bloom or retouched; nothing was changed" \
    "$tepal" avoid print.tepal wrong --max-fn 1%
refused 'a list that is a filter' "bloom.tepal: the list would overwrite another file of this command; nothing was changed" \
    "$tepal" avoid bloom.tepal wrong --refused bloom.tepal

finish
