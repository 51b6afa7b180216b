#!/usr/bin/env bash
# app admit: a log counted on the fingers, a made one against a naive cache, and measured ones if
# TEPAL_DATA names a folder that has them.
source "$(dirname "$0")/lib.sh"

# A cache of 2: a b a c a a. Everything stored: a, b, c written, 3 hits. On the second request: a at
# its second (third line), then hits at lines 5 and 6.
printf 'a\nb\na\nc\na\na\n' >six
run "$tepal" app admit six --cache-size 2 --tsv
is 'six requests, all' "$(sed -n 2p "$work/out" | cut -f1-7)" "$(printf 'all\t\t6\t3\t0.500000\t3\t1.000000')"
is 'six requests, exact' "$(sed -n 3p "$work/out" | cut -f1-7)" "$(printf 'exact\t\t6\t2\t0.333333\t1\t0.333333')"
is 'six requests, filter' "$(sed -n '4,$p' "$work/out" | cut -f1,3-7 | sort -u)" \
    "$(printf 'filter\t6\t2\t0.333333\t1\t0.333333')"
is 'no sizes, no bytes' "$(cut -f8-9 "$work/out" | tail -n +2 | sort -u)" "$(printf '\t')"

# With sizes: a cache of 100 bytes; what is larger than the cache is never written.
cat >sized <<'LOG'
# a comment
GET a 60
GET b 50
GET a 60
GET big 500
GET a 60
GET nothing -
LOG
run "$tepal" app admit sized --field 2 --size-field 3 --cache-size 100 --json
is 'sizes, all' "$(head -1 "$work/out" | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["requests"], r["hits"], r["writes"], r["bytes_written"], round(r["byte_hit_ratio"], 6))')" \
    "6 1 4 170 $(python3 -c 'print(round(60 / 730, 6))')"
refused 'a size that is none' 'sized: line 2: the size is not a whole number' \
    "$tepal" app admit sized --field 3 --size-field 2 --cache-size 100
refused 'no such field' 'sized: line 2: no size: the line has too few fields' \
    "$tepal" app admit sized --size-field 4 --cache-size 100
refused 'no cache' 'app admit: --cache-size SIZE is needed' "$tepal" app admit six
refused 'a cache of nothing' 'app admit: --cache-size 0: too small: the minimum is 1' \
    "$tepal" app admit six --cache-size 0
refused 'no requests' 'app admit: no requests in the input' "$tepal" app admit --cache-size 5 </dev/null
refused 'no such file' 'none: No such file or directory' "$tepal" app admit none --cache-size 5
refused 'too little memory' 'app admit: --memory 3: too little for this rate' \
    bash -c '"$0" app admit six --cache-size 5 --memory 3 >/dev/null' "$tepal"

# A made log against a naive cache: popular keys that shift, and many that come once.
awk 'BEGIN { srand(8); for (i = 0; i < 40000; i++)
    print rand() < 0.4 ? "once" i : "hot" int(i / 10000) "-" int(500 * rand() * rand()) }' >log
cat >"$work/naive.py" <<'PY'
import sys
from collections import OrderedDict
for mode in ("all", "exact"):
    cache, seen, hits, writes = OrderedDict(), set(), 0, 0
    for key in open("log"):
        if key in cache:
            cache.move_to_end(key)
            hits += 1
            continue
        if mode == "exact" and key not in seen:
            seen.add(key)
            continue
        writes += 1
        cache[key] = True
        if len(cache) > 300:
            cache.popitem(last=False)
    print(mode, hits, writes)
PY
"$tepal" app admit log --cache-size 300 --tsv >rows
is 'as a naive cache' "$(sed -n 2,3p rows | cut -f1,4,6 | tr '\t' ' ')" "$(python3 "$work/naive.py")"
# A filter that remembers enough for all keys is nearly exact: 1 % of first requests get in.
"$tepal" app admit log --cache-size 300 --memory 1Mi --fp 1/1000 --json >large
is 'a large filter is nearly exact' "$(tail -1 large | python3 -c '
import json, sys
row, rows = json.load(sys.stdin), [l.split("\t") for l in open("rows")]
print(abs(row["hits"] / int(rows[2][3]) - 1) < 0.01, abs(row["writes"] / int(rows[2][5]) - 1) < 0.01)')" \
    'True True'
is 'four sizes of filters' "$(cut -f1 rows | tail -n +4 | sort | uniq -c | xargs)" '4 filter'
is 'each remembers more, and writes more' \
    "$(awk -F'\t' '$1 == "filter" { if ($2 <= m || $6 < w) bad++; m = $2; w = $6; n++ } END { print bad + 0, n }' rows)" '0 4'
is 'writes fall by half and more, hits stay' \
    "$(awk -F'\t' '$1 == "all" { h = $4 } $1 == "filter" && $7 < 0.5 && $4 > 0.95 * h { n++ } END { print (n > 0) }' rows)" 1
cp rows before
"$tepal" app admit log --cache-size 300 --tsv >rows
same 'the same seed, the same figures' rows before
run "$tepal" app admit log --cache-size 300 --phases 1 --seed 9
like 'a table' "$(head -1 "$work/out")" '^admit +memory +hits +hit ratio +writes +share$'

# Twice within a time frame: as a naive cache whose filter has phases; what is asked for within the
# frame is never missed, and what is late was within one phase more.
awk 'BEGIN { srand(9); for (i = 0; i < 20000; i++) { t += rand() / 5
    printf "%.2f %s\n", t, rand() < 0.4 ? "once" i : "hot" int(i / 5000) "-" int(500 * rand() * rand()) } }' >timed
cat >"$work/frames.py" <<'PY'
from collections import OrderedDict
frame = 60000
for phases in (0, 2, 4, 8): # 0: exactly
    every = -(-frame // (phases - 1)) if phases else 1
    cache, last, hits, writes, late, start = OrderedDict(), {}, 0, 0, 0, None
    for line in open("timed"):
        time, key = line.split()
        ms = int(time.replace(".", "")) * 10
        start = ms if start is None else start
        if key in cache:
            cache.move_to_end(key)
            hits += 1
            continue
        within = key in last and ms - last[key] <= frame
        seen = key in last and (ms - start) // every - (last[key] - start) // every < phases if phases else within
        late += seen and not within
        last[key] = ms
        if not seen:
            continue
        writes += 1
        cache[key] = True
        if len(cache) > 100:
            cache.popitem(last=False)
    print("within" if phases == 0 else "filter", phases or "", hits, writes, *((0, late) if phases else ("", "")))
PY
run "$tepal" app admit timed --field 2 --time-field 1 --within 1m --cache-size 100 --fp 1e-9 --tsv
is 'within a time frame: as a naive cache' \
    "$(awk -F'\t' '$1 == "within" || $1 == "filter" { print $1, $10, $4, $6, $11, $12 }' "$work/out")" \
    "$(python3 "$work/frames.py")"
run "$tepal" app admit timed --field 2 --time-field 1 --within 1m --cache-size 100 --tsv
is 'within a time frame, at 1 %: nothing is missed; more phases, less that is late' \
    "$(awk -F'\t' '$1 == "filter" { if ($11 != 0 || (n++ && $12 >= late)) bad++; late = $12 } END { print bad + 0, n }' "$work/out")" '0 3'
run "$tepal" app admit timed --field 2 --time-field 1 --within 1m --cache-size 100 --phases 3 --memory 4Ki --tsv
is 'within: phases and memory as given' "$(tail -1 "$work/out" | cut -f2,10 | tr '\t' ' ')" '4080 3'
refused 'a frame without times' 'app admit: --within and --time-field are needed together' \
    "$tepal" app admit timed --within 1m --cache-size 5
refused 'times without a frame' 'app admit: --within and --time-field are needed together' \
    "$tepal" app admit timed --time-field 1 --cache-size 5
refused 'a frame of one phase' 'app admit: --within needs 2 phases at least' \
    "$tepal" app admit timed --within 1m --time-field 1 --phases 1 --cache-size 5
refused 'a time that is none' 'timed: line 1: the time is not a number of seconds' \
    "$tepal" app admit timed --within 1m --time-field 2 --cache-size 5
like 'times that go backwards' "$(tac timed | "$tepal" app admit --within 1m --time-field 1 --cache-size 5 2>&1 >/dev/null)" \
    'warning: the times of the log go backwards'

# Measured logs: the writes fall by half or more.
folder=${TEPAL_DATA:-/nonexistent}/requests
for name in web12 orm-busy-2m; do
    [[ -r $folder/$name.txt.gz ]] || continue
    "$tepal" app admit "$folder/$name.txt.gz" --cache-size 1000 --tsv >rows
    is "$name: writes fall by half" "$(awk -F'\t' '$1 == "filter" && $7 <= 0.5 { n++ } END { print (n > 0) }' rows)" 1
    is "$name: the hit ratio is told" "$(awk -F'\t' 'NR > 1 && !($5 > 0.5 && $5 < 0.8)' rows | wc -l | tr -d ' ')" 0
done

finish
