#!/usr/bin/env bash
# build --auto and --plan: the keys are counted, the plan is made, the filter is what it says.
source "$(dirname "$0")/lib.sh"
mkdir "$work/temporary"
export TMPDIR=$work/temporary # of its own: other tests run at the same time

seq -f 'member%.0f' 1 5000 >members
seq -f 'stranger%.0f' 1 20000 >strangers

run "$tepal" build --auto members -o a --seed 1 --fp 1%
is 'auto: exit status' "$code" 0
like 'auto: the plan is told' "$(cat "$work/err")" '^plan: tepal build KEYS -o FILE --kind bloom'
"$tepal" build members -o b --seed 1 --fp 1% -q
same 'auto with a rate alone: what build does with it' a b
"$tepal" build --auto -q -o c --seed 1 --fp 1% <members
same 'auto from standard input' a c
head -2000 members >first
tail -3000 members >second
"$tepal" build --auto -q -o c --seed 1 --fp 1% first - <second
same 'auto from a file and standard input' a c
gzip -c members >members.gz
"$tepal" build --auto -q -o c --seed 1 --fp 1% members.gz
same 'auto from a compressed file' a c

kind() {
    "$tepal" info --json "$1" >json
    field json kind
}
"$tepal" build --auto -q members -o d --deletes --fp 0.1%
is 'auto: deletes' "$(kind d)" fingerprint
"$tepal" build --auto -q members -o d --untrusted --endless --fp 5% --fn 5%
is 'auto: strangers' "$(kind d)" generalized
"$tepal" build --auto -q members -o d --endless --fp 1%
is 'auto: a stream' "$(kind d)" recycling
"$tepal" build --auto -q members -o d --avoid strangers --fp 0.1%
like 'auto: known negatives' "$(kind d)" 'cascade|yesno'
is 'auto: known negatives: every member is found' "$("$tepal" query d members -c)" 5000
"$tepal" build --auto -q members -o d --memory 6k
is 'auto: a memory' "$(kind d) $(($(wc -c <d) < 6600))" 'bloom 1'
"$tepal" build --auto -q members -o d --memory 6k --avoid strangers --cost-fp 100 --cost-fn 0.01 -f
is 'auto: a memory and negatives' "$code" 0

# A saved plan.
"$tepal" plan --keys 5000 --fp 1% --json >plan.json
"$tepal" build --plan plan.json members -o e -q --seed 1
same 'a saved plan' a e
"$tepal" plan --keys 5000 --known-negatives 20000 --fp 0.1% --json >veto.json
refused 'a plan that needs negatives' \
    'build: the plan needs --avoid NEGATIVES: what is known not to be in the set; nothing was written' \
    "$tepal" build --plan veto.json members -o f
"$tepal" build --plan veto.json members --avoid strangers -o f -q
is 'a plan with negatives' "$("$tepal" query f members -c)" 5000
# A retouched plan is a build and a retouch.
python3 - <<'PY'
import json
o = json.load(open("plan.json"))
o["plans"] = [{"feasible": True, "command":
    "tepal build KEYS -o FILE --bits 40000 --hashes 6 --capacity 5000 && tepal retouch FILE "
    "-o FILE --force --members KEYS --avoid NEGATIVES --max-fn 0.02"}]
json.dump(o, open("retouch.json", "w"))
PY
"$tepal" build --plan retouch.json members --avoid strangers -o g -q
is 'a retouched plan' "$(kind g) $(($("$tepal" query g members -c) >= 4900))" 'retouched 1'

refused 'nothing fits' \
    'build: nothing fits: --memory is in the way; the nearest is bloom, flat, 5996 bytes, fp 0.01; nothing was written' \
    "$tepal" build --auto members -o h --fp 1% --memory 1k
absent 'nothing fits: nothing is written' h
refused 'constraints need --auto' 'build: --memory is a constraint: it needs --auto; nothing was written' \
    "$tepal" build members -o h --memory 1k
refused 'the plan decides' 'build: --kind contradicts --auto: the plan decides; nothing was written' \
    "$tepal" build --auto members -o h --kind bloom
refused 'one of the two' 'build: --plan contradicts --auto: the plan decides; nothing was written' \
    "$tepal" build --plan plan.json members -o h --auto
: >empty
refused 'no keys' 'build: no keys came: there is nothing to plan for; nothing was written' \
    "$tepal" build --auto empty -o h
refused 'keys that are the output' \
    'members: the keys would be overwritten by the filter; nothing was written' \
    "$tepal" build --auto members -o members
echo '{' >broken
refused 'a plan that is none' 'broken: not a plan: tepal plan --json writes them; nothing was written' \
    "$tepal" build --plan broken members -o h
refused 'a plan that is not there' 'nowhere: No such file or directory; nothing was written' \
    "$tepal" build --plan nowhere members -o h
for command in 'tepal build KEYS -o FILE --output other' 'rm -rf x' \
    'tepal build KEYS -o FILE --key-file /etc/passwd' 'tepal build KEYS -o FILE --bits' \
    'tepal build KEYS -o FILE && rm x'; do
    printf '{"plans": [{"feasible": true, "command": "%s"}]}' "$command" >evil
    refused "a plan that says $command" \
        'evil: the plan has no command that tepal plan would have written; nothing was written' \
        "$tepal" build --plan evil members -o h
done
"$tepal" plan --keys 1M --memory 1k --fp 1% --json >none.json
refused 'a plan that nothing fits' 'none.json: no plan in it is feasible; nothing was written' \
    "$tepal" build --plan none.json members -o h
absent 'nothing stays' h
is 'no temporary file stays' "$(ls -A "$TMPDIR")" ''
finish
