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
is 'over capacity' "$code $(head -1 "$work/err")" \
    '0 tepal: s.tepal: warning: 50000 keys have been added, but 2000 were planned: expect more false positives than predicted'
like 'info says so' "$("$tepal" info s.tepal)" 'verdict: over capacity; .* planned'

refused 'a range that is none' \
    'build: --first 3000: more keys than --capacity 2000 plans for; nothing was written' \
    "$tepal" build keys -o x.tepal --grow --first 3000 --capacity 2000
refused 'growth of another kind' 'build: --grow is not an option of the kind bloom; nothing was written' \
    "$tepal" build keys -o x.tepal --grow --kind bloom
refused 'a plan decides' 'build: --grow cannot be combined with --auto: the plan decides; nothing was written' \
    "$tepal" build keys -o x.tepal --grow --auto
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

finish
