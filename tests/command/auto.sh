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
is 'auto: known negatives' "$(kind d)" cascade
is 'auto: known negatives: every member is found' "$("$tepal" query d members -c)" 5000
# --fp is of strangers: 0.1 % of 200,000 that nobody named, within six standard errors.
seq -f 'nobody%.0f' 1 200000 >nobody
"$tepal" build --auto -q members -o d -f --avoid strangers --fp 0.1% --seed 1
is 'auto: strangers keep their rate, known negatives are not found' \
    "$(($("$tepal" query d nobody -c) < 200 + 6 * 15)) $("$tepal" query d strangers -c)" '1 0'
"$tepal" build --auto -q members -o d -f --avoid strangers --fp 2% --fp-known 0.5% --fn 0 --seed 1
is 'auto: two rates' \
    "$(($("$tepal" query d nobody -c) < 4000 + 6 * 64)) $(($("$tepal" query d strangers -c) < 100 + 6 * 10))" '1 1'
"$tepal" build --auto -q members -o d -f --avoid strangers --closed-world --seed 1
is 'auto: a closed world' \
    "$(($("$tepal" query d nobody -c) > 20000)) $("$tepal" query d strangers -c)" '1 0'
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
    'build: --fn 0: out of range: a rate must be above 0 and below 1; nothing was written' \
    "$tepal" build members -o h --kind generalized --fn 0
refused '--fn 0 of what forgets' \
    'build: nothing fits: the nearest plan does not satisfy --fn: generalized, flat, 60756 bytes, fp 0.00978; nothing was written' \
    "$tepal" build --auto members -o h --untrusted --endless --fn 0

# Weighted negatives: one in a hundred has nine tenths of the weight, and goes first.
awk '{ printf "%s\t%d\n", $0, NR % 100 == 0 ? 900 : 1 }' strangers >heavy
run "$tepal" build --auto members -o w --seed 1 --avoid heavy --weights --memory 3k
is 'weights: exit status' "$code" 0
like 'weights: the plan tells' "$(cat "$work/err")" 'plan: tepal build .* --avoid NEGATIVES --weights'
like 'weights: strangers are not bounded, and nobody asked' "$(cat "$work/err")" \
    '^tepal: build: warning: strangers .* are not bounded: [0-9.]+ % of them pass; give --fp RATE, or --closed-world if there are none
'
run "$tepal" build --auto members -o w -f --seed 1 --avoid heavy --weights --memory 3k --closed-world
like 'weights: strangers are not bounded, as asked' "$(cat "$work/err")" '^plan: tepal build'
is 'weights: every member is found' "$("$tepal" query w members -c)" 5000
is 'weights: of the heavy ones fewer are left' "$("$tepal" query w strangers | awk -F r '
    { n[$3 % 100 == 0]++ } END { print (n[0] > 500 && 99 * n[1] < 0.7 * n[0]) }')" 1
"$tepal" plan --keys 5000 --known-negatives heavy --weights --memory 3k -q --json >weights.json
"$tepal" build --plan weights.json members -o v --seed 1 --avoid heavy -q
same 'weights: from a saved plan, which knows of them' w v
run "$tepal" build --auto -q members -o x --avoid heavy --weights --memory 2k --fn 2% --cost-fp 50
is 'weights: a retouched plan' "$code $(kind x) $(($("$tepal" query x members -c) >= 4900))" '0 retouched 1'
refused 'weights of nothing' \
    'build: --weights needs a file of negatives: give --avoid FILE; nothing was written' \
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
    'build: the plan needs --avoid NEGATIVES, the keys known not to be in the set; nothing was written' \
    "$tepal" build --plan veto.json members -o f
"$tepal" build --plan veto.json members --avoid strangers -o f -q
is 'a plan with negatives' "$("$tepal" query f members -c)" 5000

# Every plan, of every kind on every layout: --plan makes, to the byte, what the plan's command
# makes, whatever stands in the place of the command; and that is what the plan says.
head -400 members >few
head -7 members >>few # some come twice
head -800 strangers >others
awk '{ printf "%s\t%d\n", $0, 1 + NR % 17 }' others >others.tsv
mkdir bin && ln -s "$tepal" bin/tepal
cat >commands.py <<'PY'
import json, os, subprocess, sys

def run(command):
    for name in ("theirs", "ours"):
        if name in command and os.path.exists(name):
            os.remove(name)
    subprocess.run(command, shell=True, check=True, stderr=subprocess.DEVNULL)

made = {}
for words, negatives in (("--keys 407 --known-negatives 800 --closed-world --fp-known 3% --fn 3%", "others"),
                         ("--keys 407 --known-negatives 800 --fp 3% --fp-known 1% --fn 3%", "others"),
                         ("--keys 407 --known-negatives 800 --memory 400 --cost-fp 3", "others"),
                         ("--keys 407 --known-negatives others.tsv --weights --memory 300 --fn 3%", "others.tsv"),
                         ("--keys 407 --known-negatives 800 --header-bits 2048", "others"),
                         ("--keys 407 --endless --fp 3%", None)):
    all = json.loads(os.popen("tepal plan -q --json " + words).read())
    for at, p in enumerate(all["plans"]):
        if not p["feasible"]:
            continue
        key = " --key-file key" if at % 2 else ""
        command = p["command"].replace("KEYS", "few").replace("FILE", "theirs")
        command = command.replace("NEGATIVES", negatives or "")
        command = command.replace("-o theirs", "-o theirs --seed 5" + key, 1)
        command = command.replace("--force", "--force" + key, 1)
        run(command)
        json.dump(dict(all, plans=[dict(p, command="not a command")]), open("one.json", "w"))
        needed = " --avoid " + negatives if "NEGATIVES" in p["command"] else ""
        run("tepal build few -o ours --seed 5 -q --plan one.json" + needed + key)
        if open("ours", "rb").read() != open("theirs", "rb").read():
            sys.exit("--plan makes something else than " + command)
        is_ = json.loads(os.popen("tepal info --json ours").read())
        # A cascade's size is an expectation; a counter's bit and other phases are not in info's.
        p["bits"] = {"counting": 4 * p.get("cells", 0), "recycling": p.get("phase_bits"),
                     "cascade": is_["bits"]}.get(p["kind"], p["bits"])
        if p.get("max_bits") is not None:
            del p["hashes"] # those of the first level, which fills what the others leave
        for name in set(p) & set(is_) - {"fp", "fn", "fp_known", "messages_per_cycle"}:
            if p[name] != is_[name]:
                sys.exit("%s: planned %s, built %s: %s" % (name, p[name], is_[name], command))
        made[p["kind"]] = made.get(p["kind"], 0) + 1
print(" ".join("%s %d" % kind for kind in sorted(made.items())))
PY
is 'a plan and its command make the same filter' "$(PATH=$PWD/bin:$PATH python3 commands.py 2>&1)" \
    'bloom 20 cascade 14 counting 16 fingerprint 4 generalized 9 recycling 4 retouched 16 yesno 14'

# --auto makes what the command that it tells makes.
same_as_told() { # same_as_told DESCRIPTION KIND OPTION...: of --auto
    local told=$1 kind=$2
    shift 2
    rm -f ours theirs
    run "$tepal" build --auto members -o ours --seed 9 "$@"
    local command
    command=$(sed -n 's/^plan: //p' "$work/err")
    command=${command//KEYS/members}
    command=${command//NEGATIVES/$negatives}
    command=${command/FILE/theirs --seed 9}
    PATH=$PWD/bin:$PATH bash -c "${command//FILE/theirs}" 2>/dev/null
    is "$told: exit status and kind" "$code $(kind ours)" "0 $kind"
    same "$told: what its command makes" ours theirs
}
negatives=
same_as_told 'auto, bloom' bloom --fp 1%
same_as_told 'auto, fingerprint' fingerprint --deletes --fp 0.1%
same_as_told 'auto, counting' counting --deletes --fp 2% --prefer speed
same_as_told 'auto, generalized' generalized --untrusted --endless --fp 5% --fn 5%
same_as_told 'auto, recycling' recycling --endless --fp 1%
negatives=strangers
same_as_told 'auto, cascade' cascade --avoid strangers --fp 0.1%
same_as_told 'auto, cascade in a memory' cascade --avoid strangers --memory 6k --cost-fp 100
negatives=heavy
same_as_told 'auto, yesno' yesno --avoid heavy --weights --memory 3k
same_as_told 'auto, retouched' retouched --avoid heavy --weights --memory 2k --fn 2% --cost-fp 50

# A retouched plan needs no more than others do: several files, and a pipe to write to.
rm -f x
retouched=(--avoid heavy --weights --memory 2k --fn 2% --cost-fp 50 --seed 9 -q)
"$tepal" build --auto first second -o - "${retouched[@]}" >x
same 'a retouched plan from two files to standard output' x ours
"$tepal" build --auto -o x -f "${retouched[@]}" <members
same 'a retouched plan from standard input' x ours
run "$tepal" build --auto members -o x -f "${retouched[@]:0:9}" --seed 9
is 'a retouched plan: the summary' "$(grep -E '^(avoid|weight|lost|filter)' "$work/err")" \
    'avoid      20000 keys: 4286 found by the Bloom filter, 3807 left
weight     41145 found, 3807 left
lost       100 of 5000 members, as planned
filter     retouched, flat, 16000 bits (3.20 per key), 2 hashes'

# Plans that 0.1.0 saved: what says all that is built from works, the others say what to do.
for kind in bloom fingerprint counting generalized recycling yesno; do
    run "$tepal" build --plan "$here/../golden/plans/$kind.json" members -o x -f --avoid heavy --seed 9 -q
    is "a plan of 0.1.0, $kind" "$code $(kind x)" "0 $kind"
done
for kind in cascade:max_bits retouched:max_fn; do
    refused "a plan of 0.1.0, $kind" \
        "$here/../golden/plans/${kind%:*}.json: \"${kind#*:}\" is missing: write the plan again with tepal plan --json; nothing was written" \
        "$tepal" build --plan "$here/../golden/plans/${kind%:*}.json" members -o h --avoid heavy
done
run "$tepal" build --plan "$here/../golden/plans/yesno.json" members -o x -f --avoid heavy --seed 9
like 'a plan of 0.1.0: what its fp was' "$(cat "$work/err")" \
    'warning: the plan is of an older tepal, whose fp was that of known negatives: [0-9.]+ % of strangers pass'
absent 'a plan of 0.1.0 that lacks something: nothing is written' h

# Plans that somebody changed: every field that is read is checked.
"$tepal" plan --keys 5000 --known-negatives 20000 --closed-world --fp-known 0.1% --fn 1% --json >tampered.json
cat >tamper.py <<'PY'
import json, sys
kind, name, value = sys.argv[1:]
o = json.load(open("tampered.json"))
plans = [p for p in o["plans"] if p["kind"] == kind and p["feasible"]] or sys.exit("no " + kind)
(o if name in ("keys", "weighted") else plans[0])[name] = json.loads(value)
json.dump(dict(o, plans=plans[:1]), open("tampered", "w"))
PY
tampered() { # tampered KIND FIELD VALUE REASON
    python3 tamper.py "$1" "$2" "$3"
    refused "a plan whose $2 is $3" "tampered: $4; nothing was written" \
        "$tepal" build --plan tampered members -o h --avoid strangers
}
tampered bloom kind '"blume"' '"kind" is unknown'
tampered bloom kind 7 '"kind" is unknown'
tampered bloom kind '"cascade"' '"first_level_bits" is missing: write the plan again with tepal plan --json'
tampered bloom layout null '"layout" is unknown'
tampered bloom positions '"sideways"' '"positions" is unknown'
tampered bloom hashes 4294967303 '"hashes" is not a whole number in the valid range'
tampered bloom hashes -1 '"hashes" is not a whole number in the valid range'
tampered bloom hashes 65 'impossible plan: the number of hash functions is over the limit of 64'
tampered bloom bits 0 'impossible plan: the size must be at least 1 bit'
tampered bloom bits '"many"' '"bits" is not a whole number in the valid range'
tampered bloom keys 1.5 '"keys" is not a whole number in the valid range'
tampered bloom feasible false 'it contains no feasible plan'
tampered yesno weighted 1 '"weighted" is neither true nor false'
tampered yesno no_filters 9223372036854775807 '"yes_bits" and the bits of the no-filters are too large'
tampered yesno own_seeds '"no"' '"own_seeds" is neither true nor false'
tampered cascade first_level_bits null '"first_level_bits" is not a whole number in the valid range'
tampered cascade keys 0 'impossible plan: a cascade'"'"'s plan needs bits, or a rate of the first level above 0 and below 1'
tampered cascade max_bits -5 '"max_bits" is not a whole number in the valid range'
tampered generalized set_hashes 0 '"set_hashes" and "reset_hashes" do not add up to "hashes"'
tampered retouched max_fn 2 '"max_fn" is not a rate above 0 and below 1'
tampered retouched max_fn '"1%"' '"max_fn" is not a rate above 0 and below 1'

refused 'nothing fits' \
    'build: nothing fits: the nearest plan does not satisfy --memory: bloom, flat, 5996 bytes, fp 0.01; nothing was written' \
    "$tepal" build --auto members -o h --fp 1% --memory 1k
absent 'nothing fits: nothing is written' h
refused 'constraints need --auto' 'build: --memory is a constraint for a plan: it needs --auto; nothing was written' \
    "$tepal" build members -o h --memory 1k
refused 'a closed world, too' 'build: --closed-world is a constraint for a plan: it needs --auto; nothing was written' \
    "$tepal" build members -o h --closed-world
refused 'a closed world of nothing' 'build: --closed-world needs known negatives: give --avoid FILE; nothing was written' \
    "$tepal" build --auto members -o h --closed-world

# How keys are read, and how the filter is written, is not the plan's business.
printf '# colours\r\nred\r\nblue\r\nred\r\n' >windows
printf 'blue\ngreen\n' >unix
run "$tepal" build --auto windows -o mixed
is 'what may be meant otherwise is told once' "$(grep -c 'warning: 4 of 4 lines end' "$work/err")" 1
run "$tepal" build --auto windows unix -o mixed --crlf --comments --unique --seed 1
is 'planned for the keys that are left' "$code $(grep '^plan:' "$work/err")" \
    '0 plan: tepal build KEYS -o FILE --kind bloom --layout flat --bits 29 --hashes 6 --capacity 3 --positions distinct'
is 'and they are in it' "$(printf 'red\nblue\ngreen\n' | "$tepal" query -c mixed) $("$tepal" info mixed | grep "^keys_added")" "3 keys_added      3"
"$tepal" plan --keys 3 --json >three
"$tepal" build --plan three windows unix -o saved --crlf --comments --unique --seed 1 -q
same 'by a plan in a file' mixed saved
"$tepal" build --auto windows unix -o packed --crlf --comments --unique --seed 1 --jobs 2 --compress gzip -q
is 'compressed' "$(gzip -dc packed | cmp - mixed && echo same)" same

refused 'the plan decides' 'build: --kind cannot be combined with --auto: the plan decides; nothing was written' \
    "$tepal" build --auto members -o h --kind bloom
refused 'one of the two' 'build: --plan cannot be combined with --auto: the plan decides; nothing was written' \
    "$tepal" build --plan plan.json members -o h --auto
: >empty
echo one >one
refused 'no keys' 'build: no keys in the input: there is nothing to plan for; nothing was written' \
    "$tepal" build --auto empty -o h
refused 'a rate that digests cannot keep' \
    "build: --fp 1e-60: too low: digests of 128 bits keep 7.5e-37 or more for 1 key; nothing was written" \
    "$tepal" build --auto one -o h --fp 1e-60
refused 'keys that are the output' \
    'members: the filter would overwrite the keys; nothing was written' \
    "$tepal" build --auto members -o members
echo '{' >broken
refused 'a plan that is none' 'broken: not a plan, as written by tepal plan --json; nothing was written' \
    "$tepal" build --plan broken members -o h
refused 'a plan that is not there' 'nowhere: No such file or directory; nothing was written' \
    "$tepal" build --plan nowhere members -o h
printf '{"plans": [{"feasible": true, "command": "rm -rf x"}]}' >evil
refused 'a plan that has a command alone' \
    'evil: "keys" is missing: write the plan again with tepal plan --json; nothing was written' \
    "$tepal" build --plan evil members -o h
for none in '[]' '{"plans": 5}' '{"plans": []}' '{"plans": [3]}' 'null' ''; do
    printf '%s' "$none" >broken
    refused "a plan that is $none" 'broken: not a plan, as written by tepal plan --json; nothing was written' \
        "$tepal" build --plan broken members -o h
done
"$tepal" plan --keys 1M --memory 1k --fp 1% --json >none.json
refused 'a plan that nothing fits' 'none.json: it contains no feasible plan; nothing was written' \
    "$tepal" build --plan none.json members -o h
absent 'nothing stays' h

# Likely plans: with one seed they may not fit, with several they do.
seq -f 'key%.0f' 1 200 >few
refused 'a likely plan' "build: the plan is likely, not sure: its 338 bytes have room for the keys \
with 92.3 % of all seeds; --try N tries N of them; nothing was written" \
    "$tepal" build --auto -q few -o h --deletes --fp 0.1% --memory 350
refused 'tries without a plan' 'build: --try is a constraint for a plan: it needs --auto; nothing was written' \
    "$tepal" build few -o h --try 2
seed=0 # the first that does not work
while "$tepal" build -q -f few -o h --kind fingerprint --bits 2704 --fingerprint-bits 13 \
    --capacity 200 --seed $((++seed)) 2>/dev/null; do :; done
rm -f h
refused 'one try' \
    "few: line 199: 'key199': no room is left for it: build a larger filter; nothing was written" \
    "$tepal" build --auto -q few -o h --deletes --fp 0.1% --memory 350 --try 1 --seed $seed
absent 'one try: nothing is written' h
run "$tepal" build --auto few -o h --deletes --fp 0.1% --memory 350 --try 9 --seed $seed
is 'several tries: exit status' "$code" 0
worked=$(sed -n 's/^try [0-9]* of 9: seed \([0-9]*\) has room for the keys$/\1/p' "$work/err")
is 'several tries: the seed after those that do not work' "$((worked > seed))" 1
"$tepal" build few -o i -q --kind fingerprint --bits 2704 --fingerprint-bits 13 --capacity 200 \
    --seed "$worked"
same 'several tries: the filter of that seed' h i
"$tepal" plan --keys 200 --deletes --fp 0.1% --memory 350 --json >likely.json
"$tepal" build --plan likely.json -q few -o i -f --try 9 --seed $seed
same 'a likely plan that was saved' h i
"$tepal" build --auto -q -o i -f --deletes --fp 0.1% --memory 350 --try 9 --seed $seed <few
same 'tries of standard input' h i
refused 'a likely plan that was saved, without tries' "build: the plan is likely, not sure: its \
338 bytes have room for the keys with 92.3 % of all seeds; --try N tries N of them; nothing was written" \
    "$tepal" build --plan likely.json few -o j
seq 1 209 >more # hopeless
refused 'no seed has room' 'build: 4 seeds were tried: none has room for the keys; nothing was written' \
    "$tepal" build --plan likely.json -q more -o j --try 4 --seed 1
absent 'no seed has room: nothing is written' j

mkdir room
TMPDIR=$PWD/room run "$tepal" build --auto -q -o c -f --fp 1% <members
is 'no temporary file stays' "$code $(find room | wc -l)" '0 1'
finish
