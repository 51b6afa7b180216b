#!/usr/bin/env bash
# forward: headers and tables that route writes, read back: packets go where route says, by masks
# alone; the masks as C; parts of long paths; many paths; and every wrong file.
source "$(dirname "$0")/lib.sh"

for i in $(seq 10 39); do
    printf 'town%d\ttown%d\ntown%d\tstreet%d\n' $i $((i + 1)) $i $i
done >road.tsv
ends=(--from town10 --to town40)

# ---- the best that build reaches
left() {
    "$tepal" app route road.tsv "${ends[@]}" --allocations 60 --json "$@" |
        python3 -c 'import json, sys; print(round(json.load(sys.stdin)["yesno"]["false"] * 60))'
}
is 'own seeds, salts and the chosen layout leave less' \
    "$(($(left --seed 1) > 0)) $(left --seed 1 --salts 4) $(left --seed 1 --bits 256)" '1 0 0'
is '--own-seeds leaves less' "$(($(left --own-seeds) < $(left)))" 1
run "$tepal" app route road.tsv "${ends[@]}" --allocations 3 --bits 200 --salts 2
is 'any size; what is told of the hashing' "$(sed -n '8,9p' "$work/out")" \
    'headers    3 of each kind, 200 bits; seeds from 1, time to live 64
hashing    own seeds, the best of up to 2 salts'
run "$tepal" app route road.tsv "${ends[@]}" --allocations 1 --bits 2048 --json
is 'the largest size' "$code $(field "$work/out" yesno | grep -o "'bits': [0-9]*")" "0 'bits': 2048"

# ---- one path: written, and read back
"$tepal" app route road.tsv "${ends[@]}" --allocations 1 --bits 256 --seed 7 \
    --headers headers --tables tables --c tables.c >told
is 'the header is told and written' "$(tail -1 told | tr -d ' ')" "$(tail -1 headers | cut -f4)"
is 'a line a link' "$(grep -vc '^#' tables)" 120
expect 'the packet arrives, and nowhere else' 0 "from       town10
by         town10 > town11 > town12 > town13 > town14 > town15 > town16 > town17 > town18 > town19
           > town20 > town21 > town22 > town23 > town24 > town25 > town26 > town27 > town28 > town29
           > town30 > town31 > town32 > town33 > town34 > town35 > town36 > town37 > town38 > town39
           > town40
ends at    town40
links      30, crossed 30 times
" '' "$tepal" app forward tables headers
header=$(tail -1 headers | cut -f4)
run "$tepal" app forward tables --from town10 --header "$header" --to town40 --json
is 'the same by option' "$code $(field "$work/out" ends) $(field "$work/out" arrived)" "0 ['town40'] 1"
run "$tepal" app forward tables --from town10 --header "$header" --to street10
is 'who is not reached' "$code $(tail -1 "$work/out")" '1 missed     street10 is not reached'
# All ones: every link is in the yes-filter, and in every no-filter. Without these, everything matches.
run "$tepal" app forward tables --from town10 --header "$(printf 'f%.0s' $(seq 64))" --json
is 'all ones are vetoed' "$(field "$work/out" links)" '[]'

# ---- with false links: forward and route see the same ones
"$tepal" app route road.tsv "${ends[@]}" --allocations 1 --yes-bits 64 --no-bits 8 --no-filters 1 --seed 3 \
    --headers h2 --tables t2 --json >told.json
"$tepal" app forward t2 h2 --json >walked.json
is 'forward crosses what route says, no more and no less' "$(python3 - <<'PY'
import json
told, walked = json.load(open("told.json")), json.load(open("walked.json"))
links = sorted(map(tuple, told["path"] + told["yesno"]["false_links"]))
print(sorted(map(tuple, walked["links"])) == links, len(told["yesno"]["false_links"]) > 3,
      abs(walked["crossings"] / (told["yesno"]["wasted"] + told["n"]) - 1) < 1e-9, walked["loop"] == (told["yesno"]["loops"] == 1))
PY
)" 'True True True True'

# ---- the masks as C, against the masks as text
cat >main.c <<'C'
#include "tables.c"
#include <stdio.h>
#include <string.h>
int main(int count, char **word)
{
    uint64_t header[TEPAL_WORDS] = {0};
    for (int i = 0; count == 3 && i < TEPAL_BITS / 8; i++) {
        unsigned byte;
        sscanf(word[2] + 2 * i, "%2x", &byte);
        header[i / 8] |= (uint64_t)byte << i % 8 * 8;
    }
    uint32_t at = 0;
    while (strcmp(tepal_node[at].name, word[1]) != 0) {
        at++;
    }
    for (uint32_t hops = 0, next = at; hops < 64; hops++, at = next) {
        for (uint32_t l = 0; l < tepal_node[at].links; l++) {
            if (tepal_matches(header, tepal_node[at].link[l].mask[0])) {
                next = tepal_node[at].link[l].to;
                printf("%s ", tepal_node[next].name);
            }
        }
        if (next == at) {
            return 0;
        }
    }
    return 1;
}
C
is 'the C compiles without a warning' "$(${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Werror main.c -o main 2>&1)" ''
is 'and forwards the same' "$(./main town10 "$header" | wc -w | tr -d ' ') $(./main town10 "$header" | awk '{ print $NF }')" '30 town40'
printf '<graphml><graph><node id="a&quot;\\?"/><node id="ü"/><edge source="ü" target="a&quot;\\?"/></graph></graphml>' >odd.graphml
run "$tepal" app route odd.graphml --allocations 1 --c odd.c --tables odd --headers odd.h
is 'odd names as C' "$(echo 'int main(void) { return (int)tepal_node[0].links - 1; }' | cat odd.c - >odd2.c
${CC:-cc} -std=c11 -Wall -Wextra -Werror -Wno-unused-function odd2.c -o odd2 2>&1 && ./odd2 && echo runs)" runs
expect 'odd names in tables' 0 $'from       a"\\?\nby         a"\\? > ü\nends at    ü\nlinks      1, crossed once\n' '' \
    "$tepal" app forward odd odd.h

# ---- paths that are too long for a header
"$tepal" app route road.tsv "${ends[@]}" --allocations 20 --bits 96 --split --json --headers parts --tables t3 >split.json
is 'parts: one after the other, none with a false link' "$(python3 - <<'PY'
import json
o = json.load(open("split.json"))
parts = o["parts"]
ends = [p["from"] for p in parts] + o["to"]
at = 10
for p in parts:
    assert p["from"] == f"town{at}", p
    at += p["n"]
print(len(parts) > 1, at, sum(p["false"] for p in parts), o["yesno"]["false"], o["bloom"]["false"] > 0)
PY
)" 'True 40 0 0.0 True'
run "$tepal" app forward t3 parts --tsv
is 'every part arrives, and nowhere else' "$code $(tail -n +2 "$work/out" | awk -F'\t' '$5 != 1 || $7 != 1' | wc -l | tr -d ' ') $(($(wc -l <"$work/out") > 2))" '0 0 1'
is 'the last one at the end of the path' "$(tail -1 "$work/out" | cut -f2)" town40

# ---- many paths
"$tepal" app route road.tsv --all-pairs --bits 256 --split --headers all --tables t4 --svg all.svg --json >all.json
"$tepal" app forward t4 all --tsv -q >all.tsv
is 'all pairs, by their headers' "$(python3 - <<'PY'
import csv, json
o = json.load(open("all.json"))
rows = list(csv.DictReader(open("all.tsv"), delimiter="\t"))
print(o["paths"], o["headers"] == len(rows), o["yesno"]["clean"], o["yesno"]["false"],
      all(r["arrived"] == "1" and r["ends"] == "1" for r in rows),
      sum(int(r["links"]) for r in rows) == o["n"], o["longest"])
PY
)" '3660 True 1.0 0.0 True True 31'
is 'the picture of the worst path' "$(grep -c 'the worst path' all.svg)" 2
printf '#from\tto\ntown10\ttown40\nstreet12\tstreet20\tstreet11\n' >demands
run "$tepal" app route road.tsv --demands demands --tsv
is 'demands: a row a path' "$(cut -f1-6 "$work/out" | tr '\t' ' ')" 'from to receivers n t parts
town10 town40 1 30 60 1
street12 street20 2 12 21 1'
"$tepal" app route road.tsv --demands demands --tsv --allocations 50 --bloom-hashes 1 --seed 5 >rows
"$tepal" app route road.tsv --demands demands --json --allocations 50 --bloom-hashes 1 --seed 5 >totals
"$tepal" app route road.tsv "${ends[@]}" --json --allocations 50 --bloom-hashes 1 --seed 5 >alone
is 'totals are the sums of the rows, and a row is the path alone' "$(python3 - <<'PY'
import csv, json
rows = list(csv.DictReader(open("rows"), delimiter="\t"))
o, one = json.load(open("totals")), json.load(open("alone"))
worst = max(rows, key=lambda r: float(r["bloom_false"]))
print(all(abs(sum(float(r[f"{k}_{f}"]) for r in rows) - o[k][f]) < 1e-3 * (1 + o[k][f])
          for k in ("bloom", "yesno") for f in ("false", "taken")),
      abs(float(rows[0]["bloom_false"]) - one["bloom"]["false"]) < 1e-3,
      o["worst"]["bloom"]["from"] == worst["from"], o["n"], o["t"], o["bloom"]["false"] > 1)
PY
)" 'True True True 42 81 True'
run "$tepal" app route road.tsv --demands demands
is 'totals in words' "$(sed -n '2,4p' "$work/out")" 'paths      2, of 21 links on average, 30 at most; 2 headers
beside     81 other links leave their nodes
headers    1 of each kind per path, 256 bits; seeds from 1, time to live 64'
like 'the worst path in words' "$(tail -2 "$work/out")" '^Bloom +.* links from .* to .*: .* false, .* wasted'

# ---- wrong input
bad() {
    local name=$1 message=$2
    shift 2
    refused "$name" "$message" "$tepal" app forward "$@"
}
bad 'not tables' 'road.tsv: line 1: these are not tables of `tepal app route`: the first line is not #tepal-tables' road.tsv headers
: >nothing
bad 'an empty file' 'nothing: it is empty' nothing headers
head -1 tables >none
bad 'no links' 'none: it contains no nodes' none headers
sed '1s/bits=256/bits=4096/' tables >large
bad 'a header that is too large' 'large: line 1: the sizes in the first line do not make a header' large headers
sed '1s/\tsalts=1//' tables >unsalted
bad 'a size is missing' 'unsalted: line 1: the first line must have bits, no_bits, no_filters and salts' unsalted headers
sed '1s/salts=1/salts=x/' tables >letters
bad 'a size is no number' 'letters: line 1: a number of the first line is wrong' letters headers
sed '5s/..$//' tables >short
bad 'a mask is too short' 'short: line 5: a header or mask has not as many digits as the tables say: two for each byte' short headers
sed '5s/.$/g/' tables >hex
bad 'a mask is not hexadecimal' 'hex: line 5: a header or mask is not hexadecimal' hex headers
sed '5s/\t[^\t]*$//' tables >columns
bad 'a mask is missing' 'columns: line 5: a line has two nodes and a mask for each salt, with tabs between them' columns headers
sed $'5s/^[^\t]*\t[^\t]*/a\ta/' tables >self
bad 'from a node to itself' 'self: line 5: a link leads from a node to itself' self headers
bad 'no header' "app forward: give HEADERS, or --from NODE and --header HEX" tables
bad 'both' "app forward: HEADERS says where packets go: do not give --from, --header or --to as well" tables headers --from town10
bad 'no such node' "app forward: the tables have no such node: 'Oslo'" tables --from Oslo --header "$header"
bad 'no such salt' "app forward: salt 3, but the tables have 1 salt" tables --from town10 --header "3:$header"
bad 'a header that is cut' "app forward: a header or mask has not as many digits as the tables say: two for each byte" tables --from town10 --header "${header%??}"
printf 'town10\t1\t0\t%s\n' "$header" >nowhere
bad 'a header without a receiver' 'nowhere: line 1: a line has a sender, a part, a salt, a header and 1 to 60 receivers, with tabs between them' tables nowhere
bad 'a file without headers' 'nothing: it contains no headers' tables nothing
refused 'a demand without a receiver' 'one: line 1: a sender and a receiver are needed, with a tab between them' \
    bash -c 'echo town10 >one; "$0" app route road.tsv --demands one' "$tepal"
refused 'a demand of nobody' "two: line 2: there is no node 'town99'; did you mean town19?" \
    bash -c 'printf "town10\ttown11\ntown10\ttown99\n" >two; "$0" app route road.tsv --demands two' "$tepal"
refused 'no demands' 'nothing: it names no paths' "$tepal" app route road.tsv --demands nothing
refused 'a tree is not split' 'road: --split: a tree cannot be split, only a path' \
    "$tepal" app route road.tsv --from town20 --to street15 --to street25 --split
refused 'tables of many networks' 'app route: --tables is for one network, and there are 2' \
    "$tepal" app route road.tsv road.tsv --tables many
refused 'headers are kept' 'headers: the file exists; use --force to overwrite it' \
    "$tepal" app route road.tsv --headers headers
absent 'nothing was written' many
finish
