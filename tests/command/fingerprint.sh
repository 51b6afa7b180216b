#!/usr/bin/env bash
# fingerprint: fingerprint filters through the command: built by rate, by bits per key and by bits;
# removal, full filters, keys that come too often, the model, and what the kind cannot do.
source "$(dirname "$0")/lib.sh"

seq 20000 >keys
seq 20001 40000 >strangers

expect 'by rate' 0 '' 'keys       20000
filter     fingerprint, flat, 252864 bits (12.64 per key), 2 hashes
predicted  0.1853 % false positives with 20000 keys
now        0.1853 % false positives
seed       1
wrote      f.tepal, 31880 bytes (31.1 KiB)
' "$tepal" build keys -o f.tepal --kind fingerprint --fp 0.3% --seed 1
is 'every key is found' "$("$tepal" query -c f.tepal keys)" 20000
found=$("$tepal" query -c f.tepal strangers)
# 37 expected; 6.5 standard deviations are 40
is 'few strangers are' "$((found > 0 && found < 77))" 1
expect 'it is sound' 0 'f.tepal: OK
' '' "$tepal" verify f.tepal

"$tepal" build keys -o g.tepal --kind fingerprint --bits-per-key 12 --seed 1 --json >json 2>/dev/null
is 'by bits per key' "$(field json fingerprint_bits) $(field json slots) $(field json ones)" '11 21824 20000'
"$tepal" build keys -o g.tepal --kind fingerprint --bits 300k --fingerprint-bits 13 --seed 1 --json >json 2>/dev/null
is 'by bits' "$(field json fingerprint_bits) $(field json bits)" '13 299936'
"$tepal" build keys -o g.tepal --kind fingerprint --bits 300k --capacity 20k --seed 1 --json >json 2>/dev/null
is 'by bits for a capacity' "$(field json fingerprint_bits)" 14
"$tepal" build keys -o g.tepal --kind fingerprint --fp 1% --fingerprint-bits 9 --seed 1 --json >json 2>/dev/null
is 'shorter fingerprints in an emptier filter' "$(field json fingerprint_bits) $(python3 -c '
import json; o = json.load(open("json")); print(o["fill"] < 0.7, o["fp_now"] <= 0.01)')" '9 True True'

# ---- removal
head -n 5000 keys >leaving
tail -n +5001 keys >staying
cp f.tepal h.tepal
run "$tepal" remove h.tepal leaving
is 'removal' "$code $(head -1 "$work/err")" '0 removed    5000 of 5000 keys'
is 'who stays is found' "$("$tepal" query -c h.tepal staying)" 15000
is 'who left is a stranger' "$(($("$tepal" query -c h.tepal leaving) < 60))" 1
run "$tepal" add h.tepal leaving
is 'and may come back' "$code $("$tepal" query -c h.tepal keys)" '0 20000'
"$tepal" info --json h.tepal >json
is 'info' "$(field json keys_added) $(field json removed) $(field json keys_estimated) $(field json fn_now)" \
    '25000 5000 20000.0 0.0'

# ---- full
cp f.tepal before.tepal
full=$("$tepal" add f.tepal strangers -o x.tepal 2>&1 | sed -n 's/.*line \([0-9]*\):.*/\1/p')
"$tepal" add f.tepal <(head -n $((full - 1)) strangers) -o x.tepal -q
is 'the keys before the one that is named fit' "$?" 0
refused 'a full filter is left as it is' \
    "strangers: line $full: '$(sed -n "${full}p" strangers)': no room is left for it: build a larger filter; nothing was changed" \
    "$tepal" add f.tepal strangers
same 'byte for byte' f.tepal before.tepal
yes same | head -n 8 | "$tepal" build -o eight.tepal --kind fingerprint -q
is 'eight times the same key' "$(echo same | "$tepal" query -c eight.tepal)" 1
yes same | head -n 9 >nine
(head -n 3000 keys && cat nine && tail -n 3000 keys) >mixed
often='it came more than 8 times, and a fingerprint filter holds a key 8 times at most; --unique takes each key once, and filters of the kind growing count them'
refused 'nine times are once too often' \
    "nine: line 9: 'same': $often; nothing was written" \
    "$tepal" build nine -o nine.tepal --kind fingerprint
refused 'among others' "mixed: line 3009: 'same': $often; nothing was written" \
    "$tepal" build mixed -o nine.tepal --kind fingerprint -q
refused 'from a pipe, whose keys are counted first' "build: key 3009 of the input: $often; nothing was written" \
    bash -c 'cat mixed | "$0" build -o nine.tepal --kind fingerprint -q' "$tepal"
absent 'and nothing was written' nine.tepal

# ---- wrong options
refused 'hashes' 'build: --hashes is not an option of the kind fingerprint; nothing was written' \
    "$tepal" build keys -o x.tepal --kind fingerprint --hashes 3
run "$tepal" build keys -o flat.tepal --kind fingerprint --layout flat --seed 1 -q
is 'flat, as plans call it' "$code" 0
refused 'another layout' 'build: --layout blocked: this kind has one layout, flat; nothing was written' \
    "$tepal" build keys -o x.tepal --kind fingerprint --layout blocked
refused 'too few bits per key' \
    'build: --bits-per-key 3: too few: fingerprints of 4 bits need 4.5 bits per key; nothing was written' \
    "$tepal" build keys -o x.tepal --kind fingerprint --bits-per-key 3
refused 'too few bits' 'build: --bits 1000: too few for 20000 keys with fingerprints of 4 bits; nothing was written' \
    "$tepal" build keys -o x.tepal --kind fingerprint --bits 1000 --capacity 20000
refused 'fingerprints of other kinds' \
    'build: --fingerprint-bits is not an option of the kind bloom; nothing was written' \
    "$tepal" build keys -o x.tepal --fingerprint-bits 8
run "$tepal" build keys -o x.tepal --kind fingerprint --fingerprint-bits 33
like 'bits of a fingerprint' "$code $(cat "$work/err")" '^2 tepal: build: --fingerprint-bits 33: '
refused 'union' 'h.tepal: fingerprint filters cannot be merged; build one filter from all the keys; nothing was written' \
    "$tepal" merge f.tepal h.tepal -o x.tepal

# ---- the model
run "$tepal" model fingerprint --keys 1M --bits 12M --json
cp "$work/out" json
is 'the model' "$code $(field json fingerprint_bits) $(field json fits) $(python3 -c '
import json; o = json.load(open("json")); print(round(o["fp"], 6), round(o["load"], 4))')" '0 11 True 0.003578 0.9167'
refused 'the model needs keys' 'model: --keys N is needed, at least 1' \
    "$tepal" model fingerprint --bits 100
refused 'and a size' 'model: --bits M or --fp RATE is needed' "$tepal" model fingerprint --keys 100

finish
