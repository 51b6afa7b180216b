#!/usr/bin/env bash
# json: every field that a command prints with --json is in docs/json.md, in the command's own table
# and with its type; and every field of a table is printed by some run below.
source "$(dirname "$0")/lib.sh"

# say SECTION COMMAND...: what a command prints, kept under the name of its section.
say() {
    local section=$1
    shift
    "$@" >"$work/out" 2>"$work/err"
    if [[ ! -s $work/out ]]; then
        fail "$section prints nothing" "$*" "$(head -3 "$work/err")"
    fi
    sed "s/^/$section\t/" "$work/out" >>all
}

seq 1 2000 >keys
seq 10001 12000 >others
seq 1 100 >few
seq 20001 22000 >few2
head -c 300 /dev/zero >broken
for kind in bloom counting fingerprint; do
    say build "$tepal" build keys -o "$kind" --kind "$kind" -n 2000 -s 1 --json
done
say build "$tepal" build keys -o generalized --kind generalized --bits 40000 -n 2000 -s 1 --json
say build "$tepal" build keys -o choices --kind counting --cells 32768 --layout blocked --choices 4 -s 1 --json
say build "$tepal" build keys -o recycling --kind recycling --bits 20000 --fp 1% -s 1 --json
say build "$tepal" build keys -o yesno --kind yesno --bits 20000 --avoid others -s 1 --json
say build "$tepal" build keys -o cascade --kind cascade --avoid others -s 1 --json
say build "$tepal" build keys -o growing --grow -s 1 --json
say build "$tepal" build keys -o chain --grow --kind chain -s 1 --json
say build "$tepal" build keys -o blocked -l blocked -n 2000 -s 1 --json
say build "$tepal" build keys -o lists --comments --unique -s 1 --json
say add "$tepal" add lists keys --comments --unique --json
say build "$tepal" build keys -o planned --auto --fp 1% -s 1 --json
"$tepal" plan -n 2000 --known-negatives 5000 --closed-world --fp-known 3% --fn 3% --json | python3 -c 'import json, sys
o = json.load(sys.stdin)
o["plans"] = [p for p in o["plans"] if p["kind"] == "retouched"]
print(json.dumps(o))' >plan
say build "$tepal" build keys -o planned -f --plan plan --avoid others -s 1 --json
say retouch "$tepal" retouch bloom --members keys --avoid others -o retouched --json
say retouch "$tepal" retouch generalized --members keys --avoid others -o inverted --json
say retouch "$tepal" retouch bloom --members keys --avoid others --dry-run --json
say convert "$tepal" convert counting -o bits --to bits --json
say convert "$tepal" convert chain -o settled --settle --members keys --json
for kind in bloom retouched generalized counting choices bits fingerprint recycling yesno cascade growing chain; do
    say info "$tepal" info --json "$kind"
done
"$tepal" build keys -o learning --kind counting --cells 16000 --hashes 4 -s 1 --max-fn 1% -q
say avoid "$tepal" avoid learning others --json
say avoid "$tepal" avoid bloom others -o taught --max-fn-count 9 --json
say info "$tepal" info --json learning
say audit "$tepal" audit learning --members keys --json
say add "$tepal" add learning few -o learned --json
say merge "$tepal" merge bloom bloom -o merged --json
say add "$tepal" add bloom few --json
say remove "$tepal" remove counting few --json
say add "$tepal" add choices others --kept kept --json
say repair "$tepal" repair counting --members keys --json
say diff "$tepal" diff counting counting -o gain --json
say audit "$tepal" audit counting --members keys --json
say query "$tepal" query --json bloom keys
say verify "$tepal" verify --json bloom broken
say receive "$tepal" receive --json blocked fingerprint counting broken
mkfifo fifo
python3 "$here/fake_server.py" good port <fifo &
exec {server}>fifo # which ends when this is closed
until [[ -s port ]]; do sleep 0.05; done
at=(--server "127.0.0.1:$(cat port)" --key x)
say push "$tepal" push bloom "${at[@]}" --json
say pull "$tepal" pull "${at[@]}" -o pulled --json
say ask "$tepal" ask keys "${at[@]}" --json
exec {server}>&-
say split "$tepal" split keys --parts 3 -o part --json
say measure "$tepal" measure bloom --members keys --strangers others --json
say kinds "$tepal" kinds --json
say demo "$tepal" demo -n 2000 --json
say plan "$tepal" plan -n 2000 --fp 1% --json
say plan "$tepal" plan -n 2000 --fp 1% --memory 1 --json
say plan "$tepal" plan -n 2000 --memory 1k --json
say plan "$tepal" plan -n 2000 --cluster 3 --json
say 'plan, cluster' bash -c '"$1" plan -n 2000 --cluster 3 --json |
    python3 -c "import json, sys; print(json.dumps(json.load(sys.stdin)[\"cluster\"]))"' - "$tepal"
each() { # each OPTION...: the plans one by one
    "$tepal" plan "$@" --json | python3 -c 'import json, sys
for plan in json.load(sys.stdin)["plans"]: print(json.dumps(plan))'
}
say 'Each of plans' each -n 2000 --fp 1%
say 'Each of plans' each -n 2000 --closed-world --fp-known 1% --known-negatives 5000 --fn 1%
say plan "$tepal" plan -n 2000 --fp 1% --known-negatives 5000 --json
say 'Each of plans' each -n 2000 --memory 1k --known-negatives 5000
say 'Each of plans' each --endless --memory 1k
say 'Each of plans' each -n 2000 --grow --first 100 --fp 1%
say compare "$tepal" compare --members keys --negatives others --bits-per-key 10 -s 1 --json
for model in bloom partitioned blocked paired fingerprint growing chain; do
    say "model $model" "$tepal" model $model --keys 1000 --fp 1% --json
done
say 'model generalized' "$tepal" model generalized --keys 256 --bits 64Ki --reset-hashes 2 --set-hashes 2 --json
say 'model retouched' "$tepal" model retouched --keys 10k --bits 100k --hashes 5 --universe 2M --beta 10% --json
say 'model counting' "$tepal" model counting --keys 10k --cells 160k --hashes 11 --choices 8 --json
say 'model yesno' "$tepal" model yesno --keys 30 --negatives 100 --yes-bits 160 --no-bits 32 --no-filters 1 \
    --no-hashes 2 --json
say 'model recycling' "$tepal" model recycling --bits 100k --fp 1% --json
say 'model recycling' "$tepal" model recycling --bits 100k --fp 1% --phases 2 --json
say 'model recycling' "$tepal" model recycling --bits 16Ki --fp 1% --stream geometric:4290,0.02 --json
say 'model recycling' "$tepal" model recycling --bits 16Ki --fp 1% --rule average --stream zipf:0,100 --json
say 'model counting' "$tepal" model counting --keys 10k --cells 160k --hashes 11 --json
say 'model counting' "$tepal" model counting --keys 10k --cells 160256 --hashes 11 --layout blocked --json
say 'model cascade' "$tepal" model cascade --keys 20k --negatives 100k --json
say dedup "$tepal" dedup keys few -c --json
say gaps "$tepal" gaps keys keys --memory 1Ki --json

cp yesno vetoed
say veto "$tepal" veto vetoed --members keys --avoid few2 --json

# ---- applications
printf 'a x 9\nb x 9\nb y 9\na y 9\n' >log
say 'app digest' "$tepal" app digest log --field 2 --proxy-field 1 --cache-size 10 --bits 1000 --json -q
say 'app admit' "$tepal" app admit log --field 2 --size-field 3 --cache-size 100 --json
say 'app admit' "$tepal" app admit log --field 2 --time-field 3 --within 1m --cache-size 100 --json
{
    printf '#cycle\tmonitor\ttarget_as\tdst\tdst_ttl\tpen_transit\thops\n'
    printf '1\tm1\tAS1\t9.0.0.1\t4\t0\t1.0.0.1 1.0.0.2 1.0.0.3\n'
    printf '2\tm1\tAS1\t9.0.0.1\t4\t0\t1.0.0.1 1.0.0.2 1.0.0.3\n'
} >routes
say 'app stopset' "$tepal" app stopset routes --bits 100 --hashes 3 --max-fn 10% --json -q
say 'app stopset --table' "$tepal" app stopset routes --bits 100 --table --json -q
say 'app stopset learn' "$tepal" app stopset learn routes --cycle 1 -o sightings --json
say 'app stopset learn' "$tepal" app stopset learn routes --cycle 1 -o sightings.tepal --bits 100 --json
say 'app stopset combine' "$tepal" app stopset combine sightings --bits 100 -o stop.tepal --json
say 'app stopset trace' "$tepal" app stopset trace routes --set stop.tepal --json
say 'app stopset trace --each' "$tepal" app stopset trace routes --set stop.tepal --each --json
printf 'a\t%d\ttcp\t10.0.0.1\t1001\t10.9.9.9\t80\t%s\t60\n' 0 S 1 A 2 AF >packets
say 'app flows' "$tepal" app flows packets --json -q
say 'app flows' "$tepal" app flows packets --states --attack 10% --json -q
printf '1\t2\n2\t3\n3\t4\n1\t4\n4\t5\n5\t6\n' >edges
say 'app route' "$tepal" app route edges --allocations 5 --json
say 'app route' "$tepal" app route edges edges --allocations 5 --json
say 'app peers' "$tepal" app peers edges --lookups 50 --json -q
"$tepal" app route edges --all-pairs --json --tables tables --headers headers >"$work/many"
say 'app route, many paths' cat "$work/many"
say 'app forward' "$tepal" app forward tables headers --json -q
say 'app traceback' "$tepal" app traceback --tree 4 --packets 5 --json -q

# ---- against the document
python3 - "$here/../../docs/json.md" all >verdict <<'PY'
import json, re, sys
tables, section, shared = {}, None, set()
for line in open(sys.argv[1]):
    heading = re.match(r"## (.*)", line)
    row = re.match(r"\| (`.*`) \| ([^|]*) \|", line)
    if heading:
        section = heading.group(1).replace("`", "").replace("tepal ", "")
    elif line.startswith("All fields of [info]"):
        tables[section] = dict(tables["info"])
        shared.add(section)
    elif row:
        for name in re.findall(r"`(\w+)`", row.group(1)):
            tables.setdefault(section, {})[name] = row.group(2).strip()
WORDS = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array",
         dict: "object", type(None): "null"}
seen = {}
for line in open(sys.argv[2]):
    section, text = line.rstrip("\n").split("\t", 1)
    table = tables.get(section, {})
    for name, value in json.loads(text).items():
        seen.setdefault(section, set()).add(name)
        types = re.split(" or ", table[name]) if name in table else None
        word = WORDS[type(value)]
        if types is None:
            print(f"{section}: {name} is not documented ({word})")
        elif word not in types and not (word == "integer" and "number" in types):
            print(f"{section}: {name} is {word}, documented as {table[name]}")
for section, table in tables.items():
    for name in table:
        own = section not in shared or name not in tables["info"]
        if own and name not in seen.get(section, ()):
            print(f"{section}: {name} is documented, and nothing here prints it")
PY
is 'every field is documented, with its type' "$(sort -u verdict | head -40)" ''
is 'and there are many' "$(($(wc -l <all) > 60))" 1
finish
