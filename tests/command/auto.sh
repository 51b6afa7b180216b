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
# A stream whose gaps or memory are told need not be remembered whole.
awk 'BEGIN { srand(5); for (i = 0; i < 20000; i++) print int(2000 * rand() ^ 3) }' >log
"$tepal" gaps log --save gaps.tsv -q >/dev/null
for told in '--gaps gaps.tsv' '--memory 1Ki' '--stream geometric:300 --memory 1Ki'; do
    # shellcheck disable=SC2086
    "$tepal" plan --endless --fp 1% $told --json >plan.json
    # shellcheck disable=SC2086
    run "$tepal" build --auto -q log -o d -f --seed 1 --endless --fp 1% $told
    "$tepal" build --plan plan.json -q log -o e -f --seed 1
    is "auto: a stream, $told" "$code $(kind d)" '0 recycling'
    same "auto: a stream, $told: the plan" d e
done
"$tepal" build --auto -q members -o d --avoid strangers --fp 0.1%
like 'auto: known negatives' "$(kind d)" 'cascade|yesno'
is 'auto: known negatives: every member is found' "$("$tepal" query d members -c)" 5000
"$tepal" build --auto -q members -o d --memory 6k
is 'auto: a memory' "$(kind d) $(($(wc -c <d) < 6600))" 'bloom 1'
run "$tepal" build --auto -q members -o d --memory 6k --avoid strangers --cost-fp 100 --cost-fn 0.01 -f
is 'auto: a memory and negatives' "$code $(kind d) $("$tepal" query d strangers -c)" '0 cascade 0'

# No false negatives at all.
run "$tepal" build --auto members -o d -f --seed 1 --fn 0 --fp 1% -q
is '--fn 0: none, so a Bloom filter' "$code $(kind d)" '0 bloom'
same '--fn 0: the same as without' a d
run "$tepal" build --auto -q members -o d -f --avoid strangers --fp 1% --fn 0 --cost-fp 100
is '--fn 0: not retouched' "$code $("$tepal" query d members -c)" '0 5000'
refused '--fn 0 without --auto' \
    'build: --fn 0: outside the limits: a rate is above 0 and below 1; nothing was written' \
    "$tepal" build members -o h --kind generalized --fn 0
refused '--fn 0 of what forgets' \
    'build: nothing fits: --fn is in the way; the nearest is generalized, flat, 60756 bytes, fp 0.00978; nothing was written' \
    "$tepal" build --auto members -o h --untrusted --endless --fn 0

# Weighted negatives: one in a hundred has nine tenths of the weight, and goes first.
awk '{ printf "%s\t%d\n", $0, NR % 100 == 0 ? 900 : 1 }' strangers >heavy
run "$tepal" build --auto members -o w --seed 1 --avoid heavy --weights --memory 3k
is 'weights: exit status' "$code" 0
like 'weights: the plan tells' "$(cat "$work/err")" '^plan: tepal build .* --avoid NEGATIVES --weights'
is 'weights: every member is found' "$("$tepal" query w members -c)" 5000
is 'weights: of the heavy ones fewer are left' "$("$tepal" query w strangers | awk -F r '
    { n[$3 % 100 == 0]++ } END { print (n[0] > 500 && 99 * n[1] < 0.7 * n[0]) }')" 1
"$tepal" plan --keys 5000 --known-negatives heavy --weights --memory 3k --json >weights.json
"$tepal" build --plan weights.json members -o v --seed 1 --avoid heavy -q
same 'weights: from a saved plan, which knows of them' w v
run "$tepal" build --auto -q members -o x --avoid heavy --weights --memory 2k --fn 2% --cost-fp 50
is 'weights: a retouched plan' "$code $(kind x) $(($("$tepal" query x members -c) >= 4900))" '0 retouched 1'
refused 'weights of nothing' \
    'build: --weights are those of a file of negatives: give one with --avoid FILE; nothing was written' \
    "$tepal" build --auto members -o h --weights
refused 'weights that are not there' \
    'strangers: line 1: no weight: a key, a tab and a weight are needed; nothing was written' \
    "$tepal" build --auto members -o h --avoid strangers --weights
"$tepal" build --auto -q members -o y --seed 1 --avoid - --weights --memory 3k <heavy
same 'negatives from standard input' w y
refused 'both from standard input' \
    'build: standard input cannot be both the keys and the negatives; nothing was written' \
    "$tepal" build --auto - -o h --avoid - --fp 1% </dev/null

# Other forms of keys.
tr '\n' '\0' <members | "$tepal" build --auto --null -q -o c -f --seed 1 --fp 1%
same 'auto with --null' a c
od -An -v -tx1 -w1 members | tr -d ' \n' | sed 's/0a/\n/g' >hex
"$tepal" build --auto --hex -q -o c -f --seed 1 --fp 1% hex
same 'auto with --hex' a c
"$tepal" build --auto -q -o c -f --seed 1 --fp 1% first second
same 'auto with several files' a c
head -c 16 /dev/zero >key
"$tepal" build --auto -q -o k --fp 1% --seed 1 --key-file key members
is 'auto with a key' "$("$tepal" query k members -c --key-file key)" 5000

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

# Every plan's command, of every kind on every layout, makes what the plan says.
head -400 members >few
head -800 strangers >others
mkdir bin && ln -s "$tepal" bin/tepal
cat >commands.py <<'PY'
import json, os, subprocess, sys
made = 0
for words in ("--keys 400 --known-negatives 800 --fp 3% --fn 3%", "--keys 400 --endless --fp 3%"):
    plans = json.loads(os.popen("tepal plan --json " + words).read())["plans"]
    for p in plans:
        if not p["feasible"]:
            continue
        if os.path.exists("it"):
            os.remove("it")
        c = p["command"].replace("KEYS", "few").replace("NEGATIVES", "others").replace("FILE", "it")
        subprocess.run(c, shell=True, check=True, stderr=subprocess.DEVNULL)
        is_ = json.loads(os.popen("tepal info --json it").read())
        # A cascade's size is an expectation; a counter's bit and other phases are not in info's.
        p["bits"] = {"counting": 4 * p.get("cells", 0), "recycling": p.get("phase_bits"),
                     "cascade": is_["bits"]}.get(p["kind"], p["bits"])
        for name in set(p) & set(is_) - {"fp", "fn", "fp_unknown", "messages_per_cycle"}:
            if p[name] != is_[name]:
                sys.exit("%s: planned %s, built %s: %s" % (name, p[name], is_[name], c))
        made += 1
print(made)
PY
is 'the command of every plan makes what it says' "$(PATH=$PWD/bin:$PATH python3 commands.py 2>&1)" 29

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
mkdir room
TMPDIR=$PWD/room run "$tepal" build --auto -q -o c -f --fp 1% <members
is 'no temporary file stays' "$code $(find room | wc -l)" '0 1'
finish
