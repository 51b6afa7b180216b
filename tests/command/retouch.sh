#!/usr/bin/env bash
# retouch: the trade, the budget, the lists, the curve and its picture, and every wrong input.
source "$(dirname "$0")/lib.sh"

seq 1 1000 >members
seq 2001 12000 >strangers
awk '{ printf "%s\t%.6g\n", $1, 1 / NR }' strangers >weighted
"$tepal" build members -o f --bits 6000 --seed 7 -q
cp f kept

# count FILTER KEYS: how many of the keys are found.
count() {
    "$tepal" query -c "$@" || true
}
# has NAME CONDITION: a condition over the JSON object in $work/out, as a Python expression in d.
has() {
    is "$1" "$(python3 -c 'import json, sys
d = json.loads(open(sys.argv[1]).read())
print(bool(eval(sys.argv[2])))' "$work/out" "$2")" True
}

# ---- the trade
run "$tepal" retouch f --members members --avoid strangers --max-fn 2% -o r --json
is 'retouch --json: exit status and words' "$code $(cat "$work/err")" '0 '
has 'json: the counts' 'd["members"] == 1000 and d["avoid_given"] == 10000 and d["members_absent"] == 0'
has 'json: the budget is kept, and used' '18 <= d["false_negatives"] <= 20'
has 'json: what is removed' '0 < d["avoid_left"] < d["avoid_positive"]'
has 'json: without weights every key weighs 1' \
    'd["removed_weight"] == d["avoid_positive"] - d["avoid_left"] and d["avoid_weight"] == d["avoid_positive"]'
has 'json: chi is the ratio of its shares' \
    'abs(d["chi"] - d["delta_fp"] / d["delta_fn"]) < 1e-9 and d["chi"] > 3'
has 'json: bits' 'd["ones_before"] - d["ones_after"] == d["bits_cleared"] > 0'
has 'json: method and seconds' 'd["method"] == "sacrifice" and d["seconds"] >= 0'
is 'json: its names' "$(python3 -c 'import json, sys
print(*json.loads(open(sys.argv[1]).read()))' "$work/out")" \
    'file method order basis max_fn max_fn_count members members_absent avoid_given avoid_members avoid_positive avoid_left removed_beyond avoid_weight removed_weight false_negatives lost_weight expected lost_expected lost_low lost_high lost_most bits_cleared ones_before ones_after delta_fp delta_fn chi seconds'
is 'positives before, as query counts them' "$(field "$work/out" avoid_positive)" "$(count f strangers)"
is 'positives after, as query counts them' "$(field "$work/out" avoid_left)" "$(count r strangers)"
is 'lost members, as query counts them' "$((1000 - $(count r members)))" \
    "$(field "$work/out" false_negatives)"
same 'the filter that was read is what it was' f kept
is 'the size stays' "$(stat -c %s r)" "$(stat -c %s f)"
expect 'the new filter is sound' 0 $'r: OK\n' '' "$tepal" verify r
"$tepal" retouch f --members members --avoid strangers --max-fn 2% -o again -q
same 'the same inputs give the same filter' r again

mask='s/keys: [0-9]*/keys: N/; 4,9s/[+-]\{0,1\}[0-9][0-9.]*/N/g; s/  */ /g'
expect 'the summary' 0 '' 'members 1000
avoid 10000 keys: N are false positives
method sacrifice, at most 20 lost (2 % of the members)
 before after change
false positives to avoid N N N %
members lost N N N %
false positives, any key N % N % N %
bits set N N N %
chi N (share of false positives removed / share of members lost)
wrote r, 1016 bytes
' "$tepal" retouch f --members members --avoid strangers --max-fn 2% -o r
mask=
run "$tepal" retouch f --members members --avoid weighted -w --max-fn 2% -o r
like 'the summary with weights' "$(grep '^their weight' "$work/err")" \
    '^their weight +[0-9.]+ +[0-9.]+ +-[0-9.]+ %$'
like 'the summary says how many' "$(sed -n 2p "$work/err")" \
    '^avoid      10000 keys: [0-9]+ are false positives$'
expect '-q' 0 '' '' "$tepal" retouch f --members members --avoid strangers --max-fn 2% -o r -q

# ---- budgets
for n in 1 7 50; do
    run "$tepal" retouch f --members members --avoid strangers --max-fn-count $n -o r --json
    has "--max-fn-count $n" "0 < d['false_negatives'] <= $n and d['max_fn_count'] == $n"
done
run "$tepal" retouch f --members members --avoid strangers -o r --json
has 'without a limit all are removed' 'd["avoid_left"] == 0 and d["max_fn"] is None'
is 'and none is found' "$(count r strangers)" 0
run "$tepal" retouch f --members members --avoid strangers --max-fn 1 -o r --json
has 'a budget of everything' 'd["avoid_left"] == 0'
for method in random min-fn max-fp ratio improved-min-fn improved-max-fp improved-ratio sacrifice; do
    run "$tepal" retouch f --members members --avoid strangers --method $method --max-fn 5% -o r --json
    has "$method keeps the budget" "d['method'] == '$method' and 0 < d['false_negatives'] <= 50"
    plain=$(field "$work/out" false_negatives)
    run "$tepal" retouch f --members members --avoid strangers --method $method --max-fn 5% -o s --json --sweep
    has "$method --sweep costs nothing" "d['false_negatives'] == $plain"
    "$tepal" query s members >survivors
    "$tepal" build survivors -o clean --bits 6000 --hashes "$("$tepal" info --json f |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["hashes"])')" --seed 7 -q
    is "$method --sweep leaves the filter of the survivors" \
        "$("$tepal" info --json s | python3 -c 'import json, sys; print(json.load(sys.stdin)["ones"])')" \
        "$("$tepal" info --json clean | python3 -c 'import json, sys; print(json.load(sys.stdin)["ones"])')"
done
run "$tepal" retouch f --members members --avoid strangers --method random-bits --clear-bits 10 -o r --json
has 'random-bits --clear-bits' 'd["bits_cleared"] == 10'
run "$tepal" retouch f --members members --avoid strangers --method random-bits --max-fn 5% -o r --json
has 'random-bits up to the budget' '0 < d["false_negatives"] <= 50'
run "$tepal" retouch f --members members --avoid strangers --method random --max-fn 5% -o r1 --seed 5 -q
run "$tepal" retouch f --members members --avoid strangers --method random --max-fn 5% -o r2 --seed 6 -q
if cmp -s r1 r2; then fail 'two seeds draw the same'; else pass; fi
run "$tepal" retouch f --members members --avoid weighted -w --method ratio --order weight --max-fn 1% -o r --json
heavy=$(field "$work/out" removed_weight)
run "$tepal" retouch f --members members --avoid weighted -w --method ratio --max-fn 1% -o r --json
has '--order weight takes the heaviest first' "d['removed_weight'] <= $heavy and d['order'] == 'given'"
seq 2001 40000 >more
run "$tepal" retouch f --members members --avoid strangers --known more --basis all --method ratio --max-fn 5% -o r --json
has '--basis all: beyond the keys to avoid' 'd["basis"] == "all" and d["removed_beyond"] > 0'

# ---- weights
run "$tepal" retouch f --members members --avoid weighted -w --max-fn 2% -o r --json
has 'weights: most of the weight goes first' \
    'd["removed_weight"] / d["avoid_weight"] > 1.5 * (d["avoid_positive"] - d["avoid_left"]) / d["avoid_positive"]'
cat weighted weighted >twice
run "$tepal" retouch f --members members --avoid twice -w --max-fn 2% -o r --json
has 'weights of a repeated key are added, and it is one key' 'd["avoid_given"] == 10000'
cat strangers strangers >twice
run "$tepal" retouch f --members members --avoid twice --max-fn 2% -o r --json
has 'a repeated key without weights weighs 1' \
    'd["avoid_given"] == 10000 and d["avoid_weight"] == d["avoid_positive"]'
awk '{ printf "%s\t%d\n", $1, $1 <= 500 ? 1000 : 1 }' members >valued
run "$tepal" retouch f --members valued --member-weights --avoid strangers --max-fn 1% -o r --json
has 'member weights: the budget is a share of their weight' \
    '0 < d["lost_weight"] <= 0.01 * (500 * 1000 + 500) and d["members"] == 1000'
"$tepal" query r members >survivors
is 'member weights: what is dear is kept' \
    "$(($(awk '$1 <= 500' survivors | wc -l) > $(awk '$1 > 500' survivors | wc -l)))" 1
printf 'a\tb\t3\n' >tabbed
printf 'a\tb\n' >tab
"$tepal" build tab -o t --bits 64 --seed 7 -q
run "$tepal" retouch t --members tab --avoid tabbed -w -o r --json
has 'the key is what stands before the last tab' 'd["avoid_members"] == 1'

# ---- members among the keys to avoid
cat strangers <(seq 1 30) >mixed
run "$tepal" retouch f --members members --avoid mixed --max-fn 2% -o r
is 'members to avoid are told' "$(sed -n 3p "$work/err")" '           30 are members: left alone'
run "$tepal" retouch f --members members --avoid <(seq 1 30) --max-fn 50% -o r --json
has 'and left alone' \
    'd["avoid_members"] == 30 and d["avoid_positive"] == 0 and d["false_negatives"] == 0 and d["chi"] is None'
is 'all members are found' "$(count r members)" 1000
run "$tepal" retouch f --members members --avoid mixed --remove-members -o r
is 'unless asked' "$(sed -n 3p "$work/err")" '           30 are members: removed as requested'
is 'then they are gone' "$(seq 1 30 | count r)" 0

# ---- victims and exceptions
run "$tepal" retouch f --members members --avoid strangers --max-fn 2% -o r --victims lost --exceptions list --json
lost=$(field "$work/out" false_negatives)
is 'victims: one per line' "$(wc -l <lost | tr -d ' ')" "$lost"
is 'victims: all are members' "$(grep -cxFf members lost)" "$lost"
is 'victims: none is found' "$(count r lost)" 0
is 'victims: the others are' "$(grep -vxFf lost members | count r)" $((1000 - lost))
is 'exceptions: 16 bytes each' "$(stat -c %s list)" $((48 + 16 * lost))
is 'exceptions: with them every member is found' "$(count r --exceptions list members)" 1000
is 'exceptions: and no stranger more' "$(count r --exceptions list strangers)" "$(count r strangers)"
"$tepal" query r --exceptions list -t lost >table
is 'exceptions: in the table' "$(grep -c '	1$' table)" "$lost"
"$tepal" build members -o other --bits 6000 --seed 8 -q
refused 'exceptions of another filter' 'list: this exception list belongs to another filter' \
    "$tepal" query other --exceptions list members
refused 'exceptions: not a list' 'members: not an exception list' \
    "$tepal" query r --exceptions members members
head -c 100 list >short
refused 'exceptions: cut short' 'short: the length does not match the parameters' \
    "$tepal" query r --exceptions short members
{ head -c 60 list && printf '\xff' && tail -c +62 list; } >damaged
refused 'exceptions: damaged' 'damaged: a checksum does not match: the data is damaged' \
    "$tepal" query r --exceptions damaged members
refused 'exceptions: no such file' 'none: No such file or directory' \
    "$tepal" query r --exceptions none members
refused 'victims are not written over a file' \
    'lost: the file exists; use --force to overwrite it; nothing was written' \
    "$tepal" retouch f --members members --avoid strangers --max-fn 2% -o new --victims lost
absent 'and then no filter is' new
expect '--force does' 0 '' '' \
    "$tepal" retouch f --members members --avoid strangers --max-fn 2% -o r --victims lost -q --force
run "$tepal" retouch f --members members --avoid strangers --max-fn 2% -o new --victims nowhere/lost
is 'victims into no directory' "$code $(cat "$work/err")" \
    '2 tepal: nowhere/lost: No such file or directory; nothing was written'
absent 'no filter either' new

# ---- again
run "$tepal" retouch f --members members --avoid strangers --max-fn 2% -o once --json
first=$(field "$work/out" false_negatives)
"$tepal" query -v once strangers >removed
seq 20001 30000 >later
run "$tepal" retouch once --members members --avoid later --max-fn 4% -o twice.tepal --json
has 'again: earlier victims are known' "d['members_absent'] == $first"
has 'again: and count' "$first <= d['false_negatives'] <= 40"
is 'again: what was removed stays removed' "$(count twice.tepal removed)" 0
run "$tepal" retouch once --members members --avoid later --max-fn 4% -o twice.tepal
is 'again: no warning, and it is told' "$(head -1 "$work/err")" \
    "members    1000, $first of them lost before"
run "$tepal" info twice.tepal
like 'info of a retouched filter' "$(xargs <"$work/out")" 'kind retouched .* false_negatives [0-9]+ '
like 'info of false negatives' "$(tail -1 "$work/out")" \
    '^false negatives: at most [0-9]+ of [0-9]+ members; any of them that were added again are found$'

# ---- the curve
run "$tepal" retouch f --members members --avoid weighted -w --dry-run --svg curve.svg
is 'dry run: exit status' "$code" 0
is 'dry run: names' "$(head -1 "$work/out")" \
    $'lost\tlost_share\tlost_weight\tremoved\tremoved_weight\tremoved_share'
is 'dry run: from nothing' "$(sed -n 2p "$work/out")" $'0\t0\t0\t0\t0\t0'
is 'dry run: to everything' "$(tail -1 "$work/out" | cut -f4,6)" "$(count f strangers)	1"
is 'dry run: it only grows' "$(tail -n +2 "$work/out" |
    awk '$1 < a || $5 < b { bad++ } { a = $1; b = $5 } END { print bad + 0, (NR > 20) }')" '0 1'
like 'dry run: words' "$(cat "$work/err")" '^members    1000
avoid      10000 keys: [0-9]+ are false positives$'
same 'dry run: nothing was changed' f kept
cat >"$work/picture.py" <<'PY'
import re, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
name = lambda e: e.tag.split("}")[1]
texts = [e.text for e in root.iter() if name(e) == "text"]
curve = [e for e in root.iter() if name(e) == "path" and "curve" in e.get("class").split()]
points, at = [], (0, 0)
for x, y in re.findall(r"[Ml](-?[\d.]+) ?(-?[\d.]+)", curve[0].get("d")):  # the first, then moves
    at = round(at[0] + float(x), 1), round(at[1] + float(y), 1)
    points.append(at)
inside = all(84 <= x <= 696 and 52 <= y <= 376 for x, y in points)
rises = all(a[0] <= b[0] and a[1] >= b[1] for a, b in zip(points, points[1:]))
style = next(e.text for e in root.iter() if name(e) == "style")
print(name(root), len(curve), len(points) > 20, inside, rises, "members lost" in texts,
      "weight of false positives removed" in texts, "prefers-color-scheme:dark" in style)
PY
is 'svg: a picture with labelled axes, for light and dark' \
    "$(python3 "$work/picture.py" curve.svg)" 'svg 1 True True True True True True'
cp "$work/out" curve
for n in 5 20 80; do
    promised=$(awk -v n=$n 'NR > 1 && $1 <= n { w = $5 } END { print w }' curve)
    run "$tepal" retouch f --members members --avoid weighted -w --max-fn-count $n -o r --json
    has "a run with $n lost keeps what the curve promised" "d['removed_weight'] >= 0.98 * $promised > 0"
done
run "$tepal" retouch f --members valued --member-weights --avoid strangers --dry-run
is 'dry run with weights of members: to everything' "$(tail -1 "$work/out" | cut -f4)" "$(count f strangers)"
run "$tepal" retouch f --members members --avoid strangers --dry-run --max-fn 2% --json
has 'dry run --json' \
    'len(d["curve"]) > 5 and d["curve"][0]["removed"] == 0 and d["curve"][-1]["lost"] <= 20'
has 'dry run: the limit ends it' 'd["curve"][-1]["removed"] < d["avoid_positive"]'

# ---- keys as elsewhere
"$tepal" retouch f --members members --avoid strangers --max-fn 2% -o want -q
gzip -c members >members.gz
"$tepal" retouch f --members members.gz --avoid - --max-fn 2% -o r -q <strangers
same 'gzip and standard input' r want
tr '\n' '\0' <members >members0
tr '\n' '\0' <strangers >strangers0
"$tepal" retouch f --members members0 --avoid strangers0 -0 --max-fn 2% -o r -q --victims lost0
same '-0' r want
is '-0: victims too' "$(tr '\0' '\n' <lost0 | cksum)" "$(cksum <lost)"
hex() { while read -r line; do printf '%s' "$line" | od -An -tx1 | tr -d ' \n'; echo; done; }
head -50 members >m50
head -200 strangers >s200
"$tepal" build m50 -o f50 --bits 200 --seed 7 -q
"$tepal" retouch f50 --members m50 --avoid s200 -o want50 -q
"$tepal" retouch f50 --members <(hex <m50) --avoid <(hex <s200) -x -o r -q
same '--hex' r want50
"$tepal" retouch - --members members --avoid strangers --max-fn 2% -o - -q <f >r
same 'from standard input to standard output' r want
printf '0123456789abcdef' >key
"$tepal" build members -o keyed --bits 6000 --seed 7 --key-file key -q
refused 'keyed: the key is needed' \
    'keyed: this filter was made with a secret key: give --key-file; nothing was written' \
    "$tepal" retouch keyed --members members --avoid strangers -o r
run "$tepal" retouch keyed --members members --avoid strangers --max-fn 2% -o r --key-file key --json
has 'keyed' '0 < d["false_negatives"] <= 20 and d["avoid_left"] < d["avoid_positive"]'
for layout in partitioned blocked paired; do
    "$tepal" build members -o l --bits 6144 --layout $layout --seed 7 -q
    run "$tepal" retouch l --members members --avoid strangers --max-fn 2% -o r --json
    has "$layout" '0 < d["false_negatives"] <= 20 and d["avoid_left"] < d["avoid_positive"]'
    is "$layout: as query counts" "$(field "$work/out" avoid_left) $(count r members)" \
        "$(count r strangers) $((1000 - $(field "$work/out" false_negatives)))"
done
expect '--force replaces the filter' 0 '' '' "$tepal" retouch l --members members --avoid strangers \
    --max-fn 2% -o l -q --force
same 'in place' l r

# ---- without the members
run "$tepal" retouch f --avoid strangers --max-fn 2% -o r --json
has 'blind: expected, within the budget, and used' \
    'd["expected"] and d["method"] == "max-fp" and 15 < d["lost_expected"] <= 0.02 * d["members"] + 1e-9'
has 'blind: the interval' 'd["lost_low"] < d["lost_expected"] < d["lost_high"] <= d["lost_most"] == d["members"]'
has 'blind: the members are estimated' 'abs(d["members"] - 1000) < 40 and d["members_absent"] == 0'
has 'blind: the truth is in the interval' \
    "d['lost_low'] <= $((1000 - $(count r members))) <= d['lost_high'] and d['avoid_left'] < d['avoid_positive']"
"$tepal" build members -o c --kind counting --cells 6000 --seed 7 -q
for method in random max-fp min-fn ratio; do
    run "$tepal" retouch c --avoid strangers --method $method --max-fn 5% -o s --json
    has "$method of a counting filter keeps the budget" \
        'd["expected"] and 40 < d["lost_expected"] <= 50 and d["members"] == 1000'
    has "$method: what is at most, and the truth" \
        "d['lost_low'] <= $((1000 - $(count s members))) <= d['lost_high'] <= d['lost_most'] and $((1000 - $(count s members))) <= d['lost_most']"
done
run "$tepal" retouch c --avoid strangers --max-fn 5% -o s --json
has 'the best with counters is ratio' 'd["method"] == "ratio"'
is 'a counting filter becomes a retouched one' \
    "$("$tepal" info --json s | python3 -c 'import json, sys; print(json.load(sys.stdin)["kind"])')" retouched
mask='3,$s/[+-]\{0,1\}[0-9][0-9.]*/N/g; 1,2s/[0-9][0-9]*/N/g; s/  */ /g'
expect 'blind: the summary' 0 '' 'members about N, by the bits; they were not given
avoid N keys: N are false positives
method max-fp, at most N lost (N % of the members), expected
 before after change
false positives to avoid N N N %
members lost, expected N N N %
 with probability N % N .. N -
false positives, any key N % N % N %
bits set N N N %
chi N (share of false positives removed / share of members lost)
wrote r, N bytes
' "$tepal" retouch f --avoid strangers --max-fn 2% -o r
mask=
run "$tepal" info r
like 'blind: info' "$(tail -1 "$work/out")" \
    '^false negatives: about [0-9]+ of about [0-9]+ members, expected: it was retouched without its members$'
run "$tepal" retouch f --avoid weighted -w --dry-run
is 'blind: the curve only grows' "$(tail -n +2 "$work/out" |
    awk '$3 < a || $5 < b { bad++ } { a = $3; b = $5 } END { print bad + 0, (NR > 20) }')" '0 1'
run "$tepal" receive r --like f --kind retouched
like 'a retouched filter is received' "$code $(cat "$work/out")" \
    '^0 r: accepted: finds .* it says that it gave up [0-9.]+ % of its members$'
"$tepal" build members -o g --kind generalized --bits 60000 --reset-hashes 2 --set-hashes 2 --seed 7 -q
run "$tepal" retouch g --members members --avoid strangers --dry-run
is 'a generalized filter: the curve grows' "$code $(tail -n +2 "$work/out" |
    awk '$1 < a || $5 < b { bad++ } { a = $1; b = $5 } END { print bad + 0, (NR > 1) }')" '0 0 1'

# ---- warnings
cat members <(seq 900001 900100) >extra
run "$tepal" retouch f --members extra --avoid strangers --max-fn 20% -o r
like 'some members are absent' "$(head -1 "$work/err")" \
    '^tepal: extra: warning: [0-9]+ of 1100 keys are not in the filter; they count as lost members$'
head -900 members >fewer
run "$tepal" retouch f --members fewer --avoid strangers --max-fn 2% -o r
is 'members are missing' "$(head -1 "$work/err")" \
    'tepal: fewer: warning: 900 keys, but 1000 were added to the filter: the others may be lost without being counted'

# ---- wrong inputs: one line, exit status 2, nothing written
bad() {
    local name=$1 message=$2
    shift 2
    rm -f no
    refused "$name" "$message" "$tepal" retouch "$@"
    absent "$name: nothing was written" no
}
bad 'no filter' "retouch: a filter is needed; see 'tepal retouch --help'" --members members --avoid strangers -o no
bad 'a sweep without members' 'retouch: --sweep needs --members KEYS' f --avoid strangers --sweep -o no
bad 'victims without members' 'retouch: --victims needs --members KEYS' f --avoid strangers --victims x -o no
bad 'a method that needs members' \
    'f: this method needs the members; without them there are random-bits, random, max-fp, improved-max-fp and, of a counting filter, min-fn and ratio; nothing was written' \
    f --avoid strangers --method sacrifice -o no
bad 'a method that needs members or counters' \
    'f: min-fn and ratio need the members, or a counting filter, whose counters say how many members each bit has; nothing was written' \
    f --avoid strangers --method ratio -o no
bad 'nothing to avoid' 'retouch: --avoid NEGATIVES is needed' f --members members -o no
bad 'no output' 'retouch: --output FILE is needed, or --dry-run' f --members members --avoid strangers
bad 'two filters' \
    "retouch: unexpected argument: g; see 'tepal retouch --help'" f g --members members --avoid strangers -o no
for r in 0 0% -0.1 1.5 101% 2; do
    bad "--max-fn $r" "retouch: --max-fn $r: out of range: a share must be above 0 and at most 1" \
        f --members members --avoid strangers --max-fn $r -o no
done
for r in nan inf x ''; do
    bad "--max-fn '$r'" "retouch: --max-fn ${r:-''}: not a share: write 1%, 0.01, 1e-2 or 1/100" \
        f --members members --avoid strangers --max-fn "$r" -o no
done
bad '--max-fn-count 0' 'retouch: --max-fn-count 0: too small: the minimum is 1' \
    f --members members --avoid strangers --max-fn-count 0 -o no
bad 'two budgets' 'retouch: --max-fn and --max-fn-count cannot be combined: give one of them' \
    f --members members --avoid strangers --max-fn 1% --max-fn-count 3 -o no
bad 'dry run with output' 'retouch: --dry-run and --output cannot be combined: give one of them' \
    f --members members --avoid strangers --dry-run -o no
bad 'dry run with victims' 'retouch: --dry-run and --victims cannot be combined: give one of them' \
    f --members members --avoid strangers --dry-run --victims no
bad 'a picture without a curve' 'retouch: --svg draws the curve of --dry-run: give both' \
    f --members members --avoid strangers --svg x.svg -o no
bad 'unknown method' \
    'retouch: --method ration: not one of random-bits, random, min-fn, max-fp, ratio, improved-min-fn, improved-max-fp, improved-ratio, sacrifice, net-effect, least-fn; did you mean ratio?' \
    f --members members --avoid strangers --method ration -o no
bad 'unknown order' 'retouch: --order up: not one of given, weight' \
    f --members members --avoid strangers --order up -o no
bad '--basis all alone' 'retouch: --basis all needs --known FILE' \
    f --members members --avoid strangers --basis all -o no
bad '--clear-bits elsewhere' 'retouch: --clear-bits needs --method random-bits' \
    f --members members --avoid strangers --clear-bits 5 -o no
bad 'random-bits without end' 'retouch: --method random-bits needs --clear-bits S or a limit' \
    f --members members --avoid strangers --method random-bits -o no
: >empty
bad 'no members in the file' 'empty: no keys in the input: the members of the filter are needed; nothing was written' \
    f --members empty --avoid strangers -o no
bad 'nothing to avoid in the file' 'empty: no keys in the input: there is nothing to avoid; nothing was written' \
    f --members members --avoid empty -o no
bad 'the members of another filter' \
    "later: $((10000 - $(count f later))) of 10000 keys are not in the filter: these are not its members; nothing was written" \
    f --members later --avoid strangers -o no
weights() {
    printf '2001\t1\n2002\t1\n%b\n' "$2" >w
    bad "weights: $1" "w: line 3: $3; nothing was written" f --members members --avoid w -w -o no
}
weights 'missing' '2003' 'no weight: a key, a tab and a weight are needed'
weights 'empty' '2003\t' 'no weight after the tab'
weights 'negative' '2003\t-1' 'the weight is negative'
weights 'not a number' '2003\tnan' 'the weight is not a number'
weights 'infinite' '2003\tinf' 'the weight is not a number'
weights 'too large' '2003\t1e999' 'the weight is not a number'
weights 'words' '2003\theavy' 'the weight is not a number'
weights 'two numbers' '2003\t1 2' 'the weight is not a number'
printf '1\t1\n2\n' >w
bad 'member weights: missing' \
    'w: line 2: no weight: a key, a tab and a weight are needed; nothing was written' \
    f --members w --member-weights --avoid strangers -o no
bad 'no such filter' 'none: No such file or directory; nothing was written' \
    none --members members --avoid strangers -o no
bad 'no such members' 'none: No such file or directory; nothing was written' \
    f --members none --avoid strangers -o no
bad 'no such negatives' 'none: No such file or directory; nothing was written' \
    f --members members --avoid none -o no
bad 'not a filter' \
    'members: the first bytes are not those of a tepal filter (byte 0); nothing was written' \
    members --members members --avoid strangers -o no
bad 'two from standard input' \
    'standard input: given twice, but it can be read only once; nothing was written' \
    f --members - --avoid - -o no
bad 'over the members' 'members: the filter would overwrite the keys; nothing was written' \
    f --members members --avoid strangers -o members --force
bad 'over the negatives' 'strangers: the filter would overwrite the keys; nothing was written' \
    f --members members --avoid strangers -o strangers --force
bad 'over the filter' 'f: the output is the input filter; use --force to replace it; nothing was written' \
    f --members members --avoid strangers -o f
bad 'victims over the members' 'members: the output would overwrite another file of this command; nothing was written' \
    f --members members --avoid strangers -o no --victims members --force
bad 'victims over the output' 'no: the output would overwrite another file of this command; nothing was written' \
    f --members members --avoid strangers -o no --victims no
bad 'victims over the exceptions' 'x1: the output would overwrite another file of this command; nothing was written' \
    f --members members --avoid strangers -o no --victims x1 --exceptions x1
bad 'a directory as victims' '.: Is a directory; nothing was written' \
    f --members members --avoid strangers -o no --victims .
bad 'json and filter both to standard output' \
    'retouch: --output - and --json cannot be combined: both go to standard output' \
    f --members members --avoid strangers -o - --json
same 'after all this the filter is what it was' f kept
is 'no temporary files are left' "$(find . -name '.tepal*' | wc -l | tr -d ' ')" 0

finish
