#!/usr/bin/env bash
# growing: growing filters through the command: built for the keys at hand or for a range, grown by
# additions, removals, merges, one key many times, the model; what is refused. docs/growing.md has
# the summaries.
source "$(dirname "$0")/lib.sh"

seq 1000 >keys
seq 1001 50000 >more
seq 50001 150000 >strangers

run "$tepal" build keys -o f.tepal --grow --seed 1 --json
cp "$work/out" json
is 'for the keys at hand' "$code $(field json kind) $(field json capacity) $(field json doublings)" \
    '0 growing 1000000 0.0'
run "$tepal" build keys -o g.tepal --kind growing --seed 1 --json
is 'by its name' "$(cmp f.tepal g.tepal && echo same)" same
run "$tepal" add f.tepal more --json
cp "$work/out" json
is 'it has grown' "$code $(python3 -c '
import json
o = json.load(open("json"))
print(5.5 < o["doublings"] < 6, 14 < o["bits"] / o["keys_added"] < 17, o["fp_now"] < o["fp_at_capacity"] <= 0.01)')" \
    '0 True True True'
is 'no warning within the range' "$(grep -c warning "$work/err")" 0
is 'every key is found' "$("$tepal" query -c f.tepal keys more)" 50000
found=$("$tepal" query -c f.tepal strangers)
# within 6.5 standard deviations of what it says of itself
is 'strangers are found at the rate told' "$(python3 -c '
import json, math
told = 100000 * json.load(open("json"))["fp_now"]
print(abs(int("'"$found"'") - told) < 6.5 * math.sqrt(told))')" True
expect 'it is sound' 0 $'f.tepal: OK\n' '' "$tepal" verify f.tepal
is 'removal' "$("$tepal" remove f.tepal keys 2>/dev/null; "$tepal" info --json f.tepal >json
field json keys_now)" 49000
is 'the others stay' "$("$tepal" query -c f.tepal more)" 49000
run "$tepal" merge f.tepal g.tepal -o h.tepal -q
is 'merge' "$code $("$tepal" query -c h.tepal keys more)" '0 50000'
yes often | head -1000 | "$tepal" add f.tepal -q
"$tepal" info --json f.tepal >json
is 'one key a thousand times' "$(($(field json overflow) >= 992))" 1
yes often | head -1000 | "$tepal" remove f.tepal -q
is 'and out again' "$("$tepal" info --json f.tepal >json; field json overflow)" 0

# Beyond what was planned: it goes on, and says so.
run "$tepal" build keys -o s.tepal --grow --first 900 --capacity 2000 --seed 1 -q
is 'a range' "$code $("$tepal" info --json s.tepal >json; field json capacity)" '0 2000'
run "$tepal" add s.tepal more
rate=$("$tepal" info s.tepal | sed -n 's/^fp_now *//p')
is 'over capacity' "$code $(head -1 "$work/err")" \
    "0 tepal: s.tepal: warning: 50000 keys have been added, but 2000 were planned: false positives are at $rate now, and rise slowly"
like 'info says so' "$("$tepal" info s.tepal)" 'verdict: over capacity; .* planned'
is 'in as many bits per key' "$("$tepal" info --json s.tepal >json; python3 -c '
import json
o = json.load(open("json"))
print(o["bits"] / o["keys_now"] < 15)') $(grep -c copies "$work/err")" 'True 0'
# With two bits for addresses, which no plan has by itself, old entries are in many buckets.
"$tepal" plan --grow --first 1000 --keys 2000 --fp 1% --json >json
python3 -c '
import json
o = json.load(open("json"))
o["plans"] = [p for p in o["plans"] if p["kind"] == "growing"]
p = o["plans"][0]
p["tag_bits"] += p["extension_bits"] - 2
p["extension_bits"] = 2
print(json.dumps(o))' >few
run "$tepal" build keys -o s.tepal -f --plan few --seed 1 -q
run "$tepal" add s.tepal more
like 'copies that take the memory' "$code $(cat "$work/err")" \
    '0 .*warning: [0-9]* % of its entries are copies of old ones, which take memory: build it again with a larger --capacity, or settle it'

refused 'a range that is none' \
    'build: --first 3000: more keys than --capacity 2000 plans for; nothing was written' \
    "$tepal" build keys -o x.tepal --grow --first 3000 --capacity 2000
refused 'growth of another kind' 'build: --grow is not an option of the kind bloom; nothing was written' \
    "$tepal" build keys -o x.tepal --grow --kind bloom
# Plans: growing filters are smaller, chains cannot remove but keep their rate.
run "$tepal" plan --grow --first 1000 --keys 1M --fp 1% --json
cp "$work/out" json
is 'a plan' "$code $(python3 -c '
import json
plans = json.load(open("json"))["plans"]
can = [p for p in plans if p["feasible"]]
print([p["kind"] for p in can], all(p["fp"] <= 0.01 for p in can), {p["blocked_by"] for p in plans if not p["feasible"]})
print(can[0]["bits_per_key"] < 18, can[0]["probes"] < 3, min(p["bits_per_key"] for p in can[1:]) < 15.3)')" \
    "0 ['growing', 'chain', 'chain', 'chain', 'chain'] True {'grow'}
True True True"
run "$tepal" build keys -o p.tepal --plan json --seed 1 -q
is 'is built' "$code $("$tepal" info --json p.tepal >info; field info kind) $("$tepal" query -c p.tepal keys)" \
    '0 growing 1000'
for kind in growing chain; do
    python3 -c '
import json
o = json.load(open("json"))
o["plans"] = [p for p in o["plans"] if p["kind"] == "'$kind'"][:1]
print(json.dumps(o))' >one
    run "$tepal" build keys -o p.tepal -f --plan one --seed 1 -q
    command=$(python3 -c 'import json; print(json.load(open("one"))["plans"][0]["command"])')
    command=${command#tepal}
    command=${command/KEYS/keys}
    # shellcheck disable=SC2086
    run "$tepal" ${command/FILE/q.tepal} -f --seed 1 -q
    is "$kind as its command does" "$(cmp p.tepal q.tepal && echo same)" same
done
run "$tepal" build keys -o p.tepal -f --auto --grow --deletes --fp 1% --seed 1
is 'from the keys at hand' "$code $(sed -n 1p "$work/err") $("$tepal" info --json p.tepal >info; field info kind) $(field info capacity)" \
    '0 plan: tepal build KEYS -o FILE --kind growing --first 1001 --capacity 1000000 --fp 0.0080133818580166143 growing 1000000'
"$tepal" build keys -o q.tepal -f --grow --first 1000 --capacity 1M --seed 1 -q
is 'the filter that --grow makes' "$(cmp p.tepal q.tepal && echo same)" same
run "$tepal" plan --grow --keys 1M --fp 1% --explain
like 'explained' "$(cat "$work/out")" 'together at most F = 0.01 at any size'
refused 'growth to nowhere' 'plan: --grow needs --keys N, the number that it grows to' \
    "$tepal" plan --grow --memory 1M
refused 'growth backwards' 'plan: it cannot grow from 1000 keys to 10' "$tepal" plan --grow --first 1000 --keys 10
refused 'a range without growth' 'build: --capacity cannot be combined with --auto: the plan decides; nothing was written' \
    "$tepal" build keys -o x.tepal --auto --capacity 10

# ---- settled
for kind in growing chain; do
    run "$tepal" build keys more -o g.tepal -f --grow --kind $kind --first 1000 --capacity 1M --layout flat --seed 1 -q
    [ $kind = chain ] || run "$tepal" build keys more -o g.tepal -f --grow --first 1000 --capacity 1M --seed 1 -q
    cat keys more >all
    run "$tepal" convert g.tepal -o fixed.tepal -f --settle --members all
    is "$kind settles" "$code $(grep -c '^saved      .* bytes .* of ' "$work/err") $("$tepal" query -c fixed.tepal all) $("$tepal" info --json fixed.tepal >info; field info kind)" \
        "0 1 50000 $([ $kind = chain ] && echo bloom || echo fingerprint)"
    is 'in fewer bytes' "$(($(stat -c %s fixed.tepal) < $(stat -c %s g.tepal)))" 1
    run "$tepal" convert g.tepal -o fixed.tepal -f --settle --members keys
    like 'keys that are missing' "$(cat "$work/err")" 'g.tepal: warning: it has .* keys, and 1000 were given: the others are lost'
    run "$tepal" convert g.tepal -o fixed.tepal -f --settle --members strangers
    like 'keys of others' "$code $(cat "$work/err")" '2 tepal: strangers: .* of these keys are not in the filter: are they its members'
done
# A stranger's chain may say that its parts have any number of keys.
"$tepal" build keys -o many.tepal --kind chain --first 1000 --capacity 1M --seed 1 -q
python3 - <<'end'
import struct, xxhash
b = bytearray(open("many.tepal", "rb").read())
payload, parts = struct.unpack_from("<Q", b, 200)[0], struct.unpack_from("<8Q", b, 72)[5]
struct.pack_into("<Q", b, 256 + payload - 32 * parts + 24, 2 ** 64 - 1)
for i in range(0, payload, 65536):
    struct.pack_into("<Q", b, 256 + payload + i // 8192,
                     xxhash.xxh3_64_intdigest(bytes(b[256 + i:256 + min(i + 65536, payload)]), i // 65536))
open("many.tepal", "wb").write(b)
end
for command in verify info; do
    run "$tepal" $command many.tepal
    is "$command: 2^64 keys" "$code" 0
done
run "$tepal" add many.tepal more
like 'add: 2^64 keys' "$code $(cat "$work/err")" '^0 .* with 18446744073709551615 keys'
refused 'nothing to settle with' 'convert: --settle needs the keys: --members KEYS; nothing was written' \
    "$tepal" convert g.tepal -o x.tepal -f --settle
refused 'members of nothing' 'convert: --members belongs to --settle; nothing was written' \
    "$tepal" convert g.tepal -o x.tepal -f --members keys
"$tepal" build keys -o b.tepal --seed 1 -q
refused 'what does not grow' 'b.tepal: only filters that grow can be settled, and this one is bloom; nothing was written' \
    "$tepal" convert b.tepal -o x.tepal -f --settle --members keys
refused 'a rate out of reach' \
    'build: no growing filter keeps this rate up to 1000000 keys; nothing was written' \
    "$tepal" build keys -o x.tepal --grow --fp 1e-12
refused 'other sizes' 'build: --bits is not an option of the kind growing; nothing was written' \
    "$tepal" build keys -o x.tepal --grow --bits 10000
run "$tepal" model growing --keys 1G --first 1M --json
cp "$work/out" json
is 'the model' "$code $(python3 -c '
import json
o = json.load(open("json"))
print(o["bits_per_key"] < 18, o["fp"] <= 0.01, 9.9 < o["doublings"] < 10.1)')" '0 True True True'
refused 'no model without keys' 'model: --keys N is needed, at least 1' "$tepal" model growing --fp 1%
refused 'no model of less than nothing' 'model: no growing filter keeps this rate from 5000 to 1000 keys' \
    "$tepal" model growing --keys 1000 --first 5000

# ---- chains
for layout in flat partitioned blocked paired; do
    run "$tepal" build keys -o c.tepal --grow --kind chain --layout $layout --seed 1 -q
    run "$tepal" add c.tepal more --json
    cp "$work/out" json
    found=$("$tepal" query -c c.tepal strangers)
    is "a chain, $layout" "$code $(grep -c warning "$work/err") $("$tepal" query -c c.tepal keys more) $(python3 -c '
import json, math
o = json.load(open("json"))
told = 100000 * o["fp_now"]
print(o["parts"], abs(int("'"$found"'") - told) < 6.5 * math.sqrt(told), o["fp_now"] < o["fp_at_capacity"] < o["fp_any_size"],
      sum(o["part_keys"]) == o["keys_now"], sum(o["part_bits"]) == o["bits"])')" \
        '0 0 50000 7 True True True True'
done
rm -f c.tepal
"$tepal" build keys -o c.tepal --grow --kind chain --seed 1 -q
cp c.tepal d.tepal
"$tepal" add c.tepal more -q
"$tepal" add d.tepal more -q
cp c.tepal e.tepal
run "$tepal" add c.tepal more -q
is 'keys that are found need no room' "$(cmp <("$tepal" info c.tepal | sed 1d | grep -v keys_added) \
    <("$tepal" info e.tepal | sed 1d | grep -v keys_added) && echo same)" same
run "$tepal" merge d.tepal e.tepal -o both.tepal -q
is 'replicas merge to themselves' "$("$tepal" info both.tepal | grep fp_now)" \
    "$("$tepal" info d.tepal | grep fp_now)"
like 'and are told to be crowded' "$("$tepal" info both.tepal)" \
    'verdict: merged parts have more keys than room; .* false positives now, 1 % planned'
"$tepal" build strangers -o other.tepal --grow --kind chain --first 1000 --seed 1 -q
run "$tepal" merge c.tepal other.tepal -o both.tepal -q
is 'others too' "$code $("$tepal" query -c both.tepal keys more strangers)" '0 150000'
"$tepal" build keys -o x.tepal --grow --kind chain --first 999 --seed 1 -q
run "$tepal" merge c.tepal x.tepal -o both.tepal
is 'not with other sizes' "$code" 2
"$tepal" build keys -o s.tepal --grow --kind chain --capacity 1500 --first 1000 --seed 1 -q
run "$tepal" add s.tepal more
is 'beyond the plan the rate holds' "$code $(head -1 "$work/err") $("$tepal" info --json s.tepal >json
python3 -c 'import json; print(json.load(open("json"))["fp_now"] < 0.01)')" \
    '0 tepal: s.tepal: warning: it has 49620 keys, and 1500 were planned: the rate holds, and further keys take more memory True'
like 'info says so' "$("$tepal" info s.tepal)" 'verdict: beyond the plan .* at most 1 % at any size'
run "$tepal" build keys -o s.tepal --grow --kind chain --capacity 500 --seed 1
like 'and at once' "$(cat "$work/err")" '1000 keys were added, but 500 were planned: the rate holds, with more memory than predicted'
run "$tepal" model chain --keys 1M --first 1000 --json
cp "$work/out" json
run "$tepal" model chain --keys 1M --first 1000 --series halving --json
is 'even shares take fewer bits' "$(python3 -c '
import json
a, b = json.load(open("json")), json.load(open("'"$work/out"'"))
print(a["bits_per_key"] < 15.3, b["bits_per_key"] > 23, a["fp"] <= a["fp_bound"] <= 0.01, b["fp"] <= b["fp_bound"] <= 0.01)')" \
    'True True True True'
refused 'a chain that does not grow' 'build: --growth 1: must be above 1 (by 1/256 at least); nothing was written' \
    "$tepal" build keys -o x.tepal -f --grow --kind chain --growth 1
refused 'nor by too much' 'build: --growth 70000: at most 65536; nothing was written' \
    "$tepal" build keys -o x.tepal -f --grow --kind chain --growth 70000
refused 'growth of a growing filter' 'build: --growth is not an option of the kind growing; nothing was written' \
    "$tepal" build keys -o x.tepal -f --grow --growth 3

finish
