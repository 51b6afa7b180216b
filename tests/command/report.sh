#!/usr/bin/env bash
# info, verify, model, demo, kinds: what is printed about filters.
source "$(dirname "$0")/lib.sh"

printf 'a\nb\nc\n' >abc
seq 1 1000 >keys
"$tepal" build abc -o f --seed 7 -q

# ---- info
mask='s/^\(keys_estimated\|ones\|fill\|fp_now\)\(  *\)[0-9.]*/\1\2N/; s/; [0-9.]* % false positives now/; N % false positives now/'
expect 'info' 0 'f
kind            bloom
layout          flat
positions       colliding
bits            31
hashes          6
capacity        3
keys_added      3
keys_estimated  N
ones            N
fill            N %
fp_now          N %
fp_at_capacity  0.91 %
fn_now          0 %
hash            xxh3-128
seed            7
keyed           no
bytes           8 bytes
version         0.2.0
verdict: within capacity (100 % used); N % false positives now
' '' "$tepal" info f
mask='s/"\(keys_estimated\|ones\|fill\|fp_now\)": [0-9.]*/"\1": N/g'
expect 'info --json' 0 '{"file": "f", "kind": "bloom", "layout": "flat", "positions": "colliding", "bits": 31, "hashes": 6, "capacity": 3, "keys_added": 3, "keys_estimated": N, "ones": N, "fill": N, "fp_now": N, "fp_at_capacity": 0.00910000119214562, "fn_now": 0.0, "hash": "xxh3-128", "seed": "7", "keyed": false, "bytes": 8, "version": "0.2.0"}
' '' "$tepal" info --json f
mask=
# The masked figures, by their definitions.
run "$tepal" info --json f
is 'info: the figures agree with each other' "$(python3 - "$work/out" <<'PY'
import json, math, sys
d = json.load(open(sys.argv[1]))
fill = d["ones"] / d["bits"]
near = lambda a, b: abs(a - b) <= 1e-9 * abs(b)
print(6 <= d["ones"] <= 18, near(d["fill"], fill), near(d["fp_now"], fill ** d["hashes"]),
      abs(d["keys_estimated"] / (-d["bits"] / d["hashes"] * math.log(1 - fill)) - 1) < 0.05)
PY
)" 'True True True True'
run "$tepal" info --json f f
is 'info --json of two: an object a line' "$(wc -l <"$work/out" | tr -d ' ')" 2
run "$tepal" info f f
is 'info of two: an empty line between' "$(grep -c '^$' "$work/out")" 1
run "$tepal" info - <f
is 'info of standard input' "$(head -1 "$work/out")" 'standard input'
verdict() {
    "$tepal" info "$1" | sed -n 's/^verdict: //p'
}
"$tepal" build -o e --seed 7 -q </dev/null
is 'verdict: empty' "$(verdict e)" 'empty'
"$tepal" build keys -o over --seed 7 --capacity 500 -q
like 'verdict: over capacity' "$(verdict over)" \
    '^over capacity; 1[4-7]\.?[0-9]* % false positives now, 0\.9993 % planned$'
"$tepal" build keys -o half --seed 7 --capacity 2000 -q
like 'verdict: half' "$(verdict half)" '^within capacity \(50 % used\); 0\.02[0-9]* % false positives now$'
"$tepal" build keys -o none --seed 7 --bits 20000 -q
like 'verdict: no capacity' "$(verdict none)" \
    '^0\.0[0-9]* % false positives now; no capacity was planned$'
cat abc abc abc >again
"$tepal" build again -o rep --seed 7 --capacity 4 -q
like 'verdict: repeats' "$(verdict rep)" '^within capacity, because keys were added again; '
"$tepal" build keys -o full --seed 7 --bits 64 -q
is 'verdict: full' "$(verdict full)" 'full; every lookup answers "perhaps"'
run "$tepal" info --json full
is 'an infinite estimate is null' "$(field "$work/out" keys_estimated)" None
big=18446744073709551615
"$tepal" build abc -o b --seed $big -q
run "$tepal" info --json b
is 'the largest seed survives JSON' "$(field "$work/out" seed)" $big
run "$tepal" info f nothing f
is 'info goes on after an error' "$code $(grep -c '^kind' "$work/out") $(cat "$work/err")" \
    '2 2 tepal: nothing: No such file or directory'
cp f $'na\xffme'
run "$tepal" info --json $'na\xffme'
is 'a name that is not UTF-8' "$(field "$work/out" file | od -An -c | tr -d ' \n')" 'na357277275me\n'

# ---- verify
expect 'verify' 0 $'f: OK\nover: OK\n' '' "$tepal" verify f over
expect 'verify -q' 0 '' '' "$tepal" verify -q f
expect 'verify standard input' 0 $'standard input: OK\n' '' "$tepal" verify - <f
expect 'verify --json' 0 '{"file": "f", "ok": true, "status": "OK"}'$'\n' '' "$tepal" verify --json f
# Every single damaged byte is found, every cut, a byte too many: all in one run, a line for each.
cat >"$work/damage.py" <<'PY'
import os, subprocess, sys
tepal, path = sys.argv[1:]
good = open(path, "rb").read()
damaged = []
for i in range(len(good)):
    bad = bytearray(good)
    bad[i] ^= 1 << (i % 8)
    damaged.append(bad)
damaged += [good[:cut] for cut in list(range(0, len(good), 17)) + [len(good) - 1]] + [good + b"x"]
os.mkdir("damaged")
names = [f"damaged/{i}" for i in range(len(damaged))]
for name, data in zip(names, damaged):
    open(name, "wb").write(data)
done = subprocess.run([tepal, "verify", *names], capture_output=True)
lines = done.stderr.decode().splitlines()
told = [line.startswith(f"tepal: {name}: ") for name, line in zip(names, lines)]
print(done.returncode, done.stdout.decode(), len(names) - sum(told), len(lines) - len(names))
PY
is 'every damaged byte, cut and surplus is found' "$(python3 "$work/damage.py" "$tepal" f)" '2  0 0'
python3 - <<'PY'
data = bytearray(open("f", "rb").read())
data[20] ^= 1
open("header", "wb").write(data)
PY
expect 'verify goes on after an error' 2 $'f: OK\nover: OK\n' \
    $'tepal: header: the header\'s checksum does not match (byte 248)\n' \
    "$tepal" verify f header over
run "$tepal" verify --json header f
is 'verify --json of damage' "$code $(head -1 "$work/out")" \
    '2 {"file": "header", "ok": false, "status": "BAD_CHECKSUM", "offset": 248, "why": "the header'\''s checksum does not match"}'
run "$tepal" verify --json nothing
is 'verify --json of nothing' "$code $(cat "$work/out")" \
    '2 {"file": "nothing", "ok": false, "status": "IO", "offset": 0, "why": "No such file or directory"}'
refused 'verify a directory' '.: Is a directory' "$tepal" verify .
refused 'a damaged filter is not queried' \
    "header: the header's checksum does not match (byte 248)" "$tepal" query header abc
refused 'nor changed' \
    "header: the header's checksum does not match (byte 248); nothing was changed" \
    "$tepal" add header abc

# ---- model
run "$tepal" model bloom --keys 1M --bits 10M --json
is 'model: name' "$(field "$work/out" model)" bloom
is 'model: best hashes' "$(field "$work/out" hashes)" 7
is 'model: the textbook rate' \
    "$(python3 -c "print(abs($(field "$work/out" fp_exact) / 0.008193716 - 1) < 1e-5)")" True
run "$tepal" model bloom --keys 1M --bits 10M --hashes 4 --json
is 'model --hashes' "$(field "$work/out" hashes)" 4
run "$tepal" model bloom --keys 1M --bits 10M
is 'model: text has a line a quantity' "$(grep -c '^fp_exact  *0.8194 %  ' "$work/out")" 1
for name in bloom partitioned blocked paired; do
    run "$tepal" model $name --keys 1M --fp 1% --json
    rate=$(field "$work/out" fp)
    is "model $name --fp" "$(python3 -c "print(0.0099 < $rate <= 0.01)")" True
done
is 'model paired: layout' "$(field "$work/out" layout)" paired
run "$tepal" model bloom --layout blocked --keys 1M --fp 1% --json
cp "$work/out" a.json
run "$tepal" model blocked --keys 1M --fp 1% --json
is 'model bloom --layout blocked is model blocked' "$(field a.json bits)" "$(field "$work/out" bits)"
run "$tepal" model bloom --keys 10 --bits 100 --positions distinct --json
is 'model --positions' "$(field "$work/out" positions)" distinct
refused 'model: which' \
    "model: the name of a model is needed; see 'tepal model --help'" \
    "$tepal" model
refused 'model: unknown' 'model: unknown model blom; did you mean bloom?' \
    "$tepal" model blom --keys 1 --bits 1
refused 'model: no keys' 'model: --keys N is needed' "$tepal" model bloom --bits 1
refused 'model: neither' 'model: --bits M or --fp RATE is needed' "$tepal" model bloom --keys 1
refused 'model: both' 'model: --fp and --bits cannot be combined: give one of them' \
    "$tepal" model bloom --keys 1 --bits 1 --fp 1%
refused 'model: nothing to solve' 'model: --fp needs at least one key: --keys is 0' \
    "$tepal" model bloom --keys 0 --fp 1%
run "$tepal" model blocked --keys 1 --bits 100
is 'model: bits that are no lines' "$code $(wc -l <"$work/err" | tr -d ' ')" '2 1'

# ---- the size that the model solves is the size that build takes
"$tepal" build keys -o s --seed 1 -q
run "$tepal" info --json s
bits=$(field "$work/out" bits)
run "$tepal" model bloom --keys 1000 --fp 1% --json
is 'model and build agree' "$(field "$work/out" bits)" "$bits"

# ---- demo
run "$tepal" demo --keys 50k --json
is 'demo' "$code $(wc -l <"$work/out" | tr -d ' ')" '0 3'
is 'demo: prediction inside the interval, no false negatives' "$(python3 - "$work/out" <<'PY'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
print([r["layout"] for r in rows],
      all(r["fp_low"] <= r["fp_predicted"] <= r["fp_high"] for r in rows),
      all(r["fp_low"] <= r["fp_measured"] <= r["fp_high"] for r in rows),
      all(r["fp_predicted"] <= 0.01 for r in rows),
      [r["false_negatives"] for r in rows], rows[0]["seed"], rows[0]["strangers"])
PY
)" "['flat', 'blocked', 'paired'] True True True [0, 0, 0] 1 500000"
run "$tepal" demo --keys 20k --fp 1/1000 --layout paired --seed 5
is 'demo: text' "$code $(head -1 "$work/out")" \
    '0 20000 keys for 0.1 % false positives; 200000 non-members looked up'
is 'demo: one layout' "$(grep -c '^paired ' "$work/out") $(wc -l <"$work/out" | tr -d ' ')" '1 4'
is 'demo is quiet' "$(cat "$work/err")" ''

run "$tepal" model retouched --keys 10k --bits 100k --hashes 5 --universe 2M --beta 10% --json
is 'model retouched: the closed form of random selection' \
    "$(printf '%.0f %.0f %.3f' "$(field "$work/out" random_false_negatives)" \
        "$(field "$work/out" random_beyond)" "$(field "$work/out" random_chi)")" '1961 3312 1.410'
run "$tepal" model retouched --keys 10k --bits 100k --hashes 5 --universe 2M --clear-bits 1000 --json
is 'model retouched: bits cleared at random give chi = 1' \
    "$(printf '%.6f' "$(field "$work/out" random_bits_chi)")" '1.000000'
run "$tepal" model retouched --keys 10k --fp 1% --universe 2M
is 'model retouched: with --fp the size is found first' "$code $(cat "$work/err")" '0 '
refused 'model retouched: no universe' 'model: retouched: --universe N is needed' \
    "$tepal" model retouched --keys 10 --bits 100
refused 'model retouched: a universe of members' \
    'model: --universe 10: too small: it must be larger than the number of members' \
    "$tepal" model retouched --keys 10 --bits 100 --universe 10
refused 'model retouched: another layout' \
    'model: retouched: the formulas hold for the flat layout with colliding positions only' \
    "$tepal" model retouched --keys 10 --bits 512 --universe 100 --layout blocked
refused 'model retouched: more bits than are set' \
    'model: more bits to clear than are set in the filter' "$tepal" model retouched --keys 10 --bits 100 --universe 1000 --clear-bits 101
refused 'model retouched: beta' \
    'model: --beta 2: out of range: a share must be above 0 and at most 1' \
    "$tepal" model retouched --keys 10 --bits 100 --universe 1000 --beta 2
refused 'model bloom --universe' 'model: --universe is not an option of the model bloom' \
    "$tepal" model bloom --keys 10 --bits 100 --universe 1000

# ---- kinds
expect 'kinds' 0 'bloom: the Bloom filter: no false negatives, a chosen false-positive rate
    promises: no-false-negatives, mergeable, order-free
retouched: a Bloom filter with chosen false positives removed, for a few false negatives
    promises: order-free
generalized: a Bloom filter that also resets bits: both error rates bounded, even if others fill it
    promises: bounded-false-positives, endless
counting: counters instead of bits, so keys can be removed; c choices of address
    promises: deletable, mergeable
fingerprint: a cuckoo filter: keys can be removed, about 12 bits per key for 0.3 %
    promises: no-false-negatives, bounded-false-positives, deletable
yesno: a Bloom filter that vetoes known negatives, without false negatives
    promises: no-false-negatives
recycling: for endless streams: fixed memory, a chosen average false-positive rate
    promises: endless
cascade: filters of each other'\''s errors: no errors on the keys it was built from
    promises: no-false-negatives
growing: a fingerprint filter that grows with its keys; keys can be removed
    promises: no-false-negatives, bounded-false-positives, deletable, mergeable
chain: Bloom filters in a row that grow with their keys and keep their rate
    promises: no-false-negatives, mergeable
' '' "$tepal" kinds
expect 'kinds --json' 0 '{"kind": "bloom", "summary": "the Bloom filter: no false negatives, a chosen false-positive rate", "promises": ["no-false-negatives", "mergeable", "order-free"]}
{"kind": "retouched", "summary": "a Bloom filter with chosen false positives removed, for a few false negatives", "promises": ["order-free"]}
{"kind": "generalized", "summary": "a Bloom filter that also resets bits: both error rates bounded, even if others fill it", "promises": ["bounded-false-positives", "endless"]}
{"kind": "counting", "summary": "counters instead of bits, so keys can be removed; c choices of address", "promises": ["deletable", "mergeable"]}
{"kind": "fingerprint", "summary": "a cuckoo filter: keys can be removed, about 12 bits per key for 0.3 %", "promises": ["no-false-negatives", "bounded-false-positives", "deletable"]}
{"kind": "yesno", "summary": "a Bloom filter that vetoes known negatives, without false negatives", "promises": ["no-false-negatives"]}
{"kind": "recycling", "summary": "for endless streams: fixed memory, a chosen average false-positive rate", "promises": ["endless"]}
{"kind": "cascade", "summary": "filters of each other'\''s errors: no errors on the keys it was built from", "promises": ["no-false-negatives"]}
{"kind": "growing", "summary": "a fingerprint filter that grows with its keys; keys can be removed", "promises": ["no-false-negatives", "bounded-false-positives", "deletable", "mergeable"]}
{"kind": "chain", "summary": "Bloom filters in a row that grow with their keys and keep their rate", "promises": ["no-false-negatives", "mergeable"]}
' '' "$tepal" kinds --json

finish
