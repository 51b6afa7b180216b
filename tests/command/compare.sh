#!/usr/bin/env bash
# compare: every kind on the user's own keys at the same memory, predicted beside measured.
source "$(dirname "$0")/lib.sh"

seq -f 'member%.0f' 1 20000 >members
seq -f 'negative%.0f' 1 40000 >negatives
seq -f 'unknown%.0f' 1 40000 >unknown

run "$tepal" compare --members members --negatives negatives --bits-per-key 10 --json
is 'exit status' "$code" 0
cp "$work/out" json
# Measured errors are within six standard errors of the predicted ones (or below: yesno and
# retouched promise less than they do, the generalized kind promises a bound).
is 'predicted and measured' "$(python3 - <<'PY'
import json
o = json.load(open("json"))
bad = []
for r in o["rows"]:
    p = r["fp_predicted"]
    se = (max(p, 1e-5) / o["strangers"]) ** 0.5
    if r["fp"] > p + 6 * se:
        bad.append((r["kind"], r["layout"], "fp", p, r["fp"]))
    if r["kind"] in ("bloom", "fingerprint", "counting") and r["fp"] < p - 6 * se:
        bad.append((r["kind"], r["layout"], "low", p, r["fp"]))
    if r["fn"] > r["fn_predicted"] + 6 * (max(r["fn_predicted"], 0) / 20000) ** 0.5:
        bad.append((r["kind"], r["layout"], "fn", r["fn_predicted"], r["fn"]))
    if r["bytes"] > 25000 + 600:
        bad.append((r["kind"], r["layout"], "bytes", r["bytes"]))
    if not r["ns_per_query"] > 0:
        bad.append((r["kind"], "time"))
print(bad)
PY
)" '[]'
is 'the kinds' "$(python3 -c '
import json
print(sorted(set(r["kind"] for r in json.load(open("json"))["rows"])))')" \
    "['bloom', 'cascade', 'counting', 'fingerprint', 'generalized', 'retouched', 'yesno']"

# Queries that are neither: the prediction is that for unknown keys.
cat members unknown >queries
run "$tepal" compare --members members --negatives negatives --queries queries --memory 25k --json
cp "$work/out" json
is 'unknown queries' "$(python3 - <<'PY'
import json
o = json.load(open("json"))
bad = [r["kind"] for r in o["rows"] if r["fp"] >
       r["fp_predicted"] + 6 * (max(r["fp_predicted"], 1e-5) / o["strangers"]) ** 0.5]
print(o["queries"], o["strangers"], bad)
PY
)" '60000 40000 []'

run "$tepal" compare --members members --bits-per-key 8 --svg picture.svg
is 'without negatives: exit status' "$code" 0
is 'the head of the table' "$(sed -n 3p "$work/out" | xargs)" \
    'kind layout bytes fp planned fp fn planned fn cost ns/query'
is 'a million strangers are drawn' "$(head -1 "$work/out")" \
    '20000 members, 0 negatives, 1000000 queries (1000000 of strangers)'
python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("picture.svg")' && pass || fail 'not XML'

refused 'no members' 'compare: --members KEYS is needed' "$tepal" compare --memory 1k
refused 'no memory' 'compare: the memory is needed: --memory SIZE or --bits-per-key B' \
    "$tepal" compare --members members
: >empty
refused 'empty members' 'compare: no members came: there is nothing to build from' \
    "$tepal" compare --members empty --memory 1k
refused 'a file that is not there' 'nowhere: No such file or directory' \
    "$tepal" compare --members nowhere --memory 1k
finish
