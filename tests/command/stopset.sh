#!/usr/bin/env bash
# stopset: the steps of a deployed stop set: learn, combine, trace, and feedback; against what `app
# stopset` computes in one run. Sets kept fresh, the search, Table V, several sizes.
source "$(dirname "$0")/lib.sh"

python3 - >routes.tsv <<'PY'
# Four monitors, five cycles; from cycle 3 on part of the core is new, and destinations have moved.
import random
random.seed(3)
print("#cycle\tmonitor\tdst\thops")
site = [random.randrange(500) for _ in range(1600)]
later = [s if random.random() > .1 else 500 + i for i, s in enumerate(site)]
for cycle in range(1, 6):
    for m in range(4):
        for d in range(400):
            s = (site if cycle < 3 else later)[400 * m + d]
            core = s % 9 + (100 if cycle > 2 and s % 2 else 0)
            last = f"10.3.{s // 200}.{s % 200}" if random.random() > .02 else "*"
            print(cycle, f"m{m}", f"10.9.{m}.{d % 250}.".rstrip(".") if d < 250 else f"10.8.{m}.{d - 250}",
                  f"10.0.0.{m} 10.1.{core}.1 10.2.{s % 50}.1 {last}", sep="\t")
PY
app() { "$tepal" app stopset "$@"; }
number() { # number FIELD: of the JSON object in $work/out
    python3 -c 'import json, sys; print(json.loads(open(sys.argv[1]).readline())[sys.argv[2]])' "$work/out" "$1"
}
# column NAME CYCLE [SET]: of the rows in the file `rows`.
column() {
    python3 -c 'import csv, sys
for r in csv.DictReader(open("rows"), delimiter="\t"):
    if r["cycle"] == sys.argv[2] and (len(sys.argv) < 4 or r["set"] == sys.argv[3]):
        print(r[sys.argv[1]])' "$@"
}

# ---- learn
for m in 0 1 2 3; do
    app learn routes.tsv --cycle 1 --monitor m$m -o m$m.tsv -q
done
is 'learn: what is in a list' "$(head -1 m0.tsv; awk -F'\t' '$1 == "10.0.0.0"' m0.tsv)" \
    "# address	ends	passes
10.0.0.0	0	400"
is 'learn: every route ends somewhere, but for silent ones' \
    "$(awk -F'\t' '!/#/ { n += $2 } END { print (n > 370 && n < 400) }' m0.tsv)" 1
run app learn routes.tsv --cycle 1 -o all.tsv --json
is 'learn --json' "$code $(number routes) $(number bits)" '0 1600 None'
is 'learn: monitors add up' "$(cat m?.tsv | awk -F'\t' '!/#/ { e[$1] += $2; p[$1] += $3 } END { for (a in e) print a "\t" e[a] "\t" p[a] }' | sort | cksum)" \
    "$(grep -v '#' all.tsv | sort | cksum)"
gzip -c m0.tsv >m0.tsv.gz

# ---- combine
run app combine m?.tsv --bits 2500 --beta 100% --least-ends 0 -o stop.tepal --json
members=$(awk '$2 + 0 > 0 { print $1 }' m?.tsv | sort -u | tee list | wc -l)
is 'combine: what it received' "$code $(number lists) $(number filters) $(number penultimate)" "0 4 0 $members"
is 'combine: the bits of all lists' "$(number up)" "$(awk -F'\t' '!/#/ && $2 > 0' m?.tsv | wc -l | awk '{ printf "%.1f", 32 * $1 }')"
is 'combine: lost as query counts' "$(number lost)" "$((members - $("$tepal" query -c stop.tepal list))).0"
is 'combine: no false positive is left' "$(number false_positives) $(number routes_cut)" '0 0.0'
is 'combine: there were some' "$(($(number false_positives_before) > 3))" 1
before=$(number false_positives_before)
"$tepal" build list -o bloom.tepal --bits 2500 --hashes "$(number hashes)" --seed 1 -q
awk '!/#/ && $2 == 0 { print $1 }' all.tsv | sort -u >others
is 'combine: as many as the Bloom filter has' "$("$tepal" query -c bloom.tepal others)" "$before"
app combine m0.tsv.gz m1.tsv m2.tsv m3.tsv --bits 2500 --beta 100% --least-ends 0 -o same.tepal -q
same 'combine: a compressed list is the same' stop.tepal same.tepal
app routes.tsv --bits 2500 --beta 100% --tsv -q >rows
is 'combine: as one run of app stopset' "$(number lost)" "$(column false_negatives 2 retouched).0"

# ---- trace
run app trace routes.tsv --cycle 2 --set stop.tepal --json
is 'trace: as one run of app stopset' "$code $(number success) $(number stopping_short) $(number probes) $(number probes_saved)" \
    "0 $(app routes.tsv --bits 2500 --beta 100% --json -q | python3 -c 'import json, sys
r = [json.loads(l) for l in sys.stdin]
r = next(x for x in r if x["set"] == "retouched" and x["cycle"] == 2)
print(r["success"], r["stopping_short"], r["probes"], r["probes_saved"])')"
run app trace routes.tsv --cycle 2 --set stop.tepal --each --tsv
is 'trace --each: a row for each route' "$(sed 1d "$work/out" | wc -l)" 1600
is 'trace --each: what it adds up to' "$(awk -F'\t' 'NR > 1 { n[$4]++; p += $5; s += $6 } END { print n["success"] / 1600, p, s }' "$work/out")" \
    "$(app trace routes.tsv --cycle 2 --set stop.tepal --tsv | awk -F'\t' 'NR > 1 { print $4 + 0, $7, $8 }')"
is 'trace: a monitor alone' "$(app trace routes.tsv --cycle 2 --set stop.tepal --monitor m1 --tsv | awk -F'\t' 'NR > 1 { print $2 }')" 400
app trace routes.tsv --set bloom.tepal --tsv >rows
bloom=$(column success 2)
app trace routes.tsv --set stop.tepal --tsv >rows
is 'trace: retouching rescues' "$(awk "BEGIN { print ($bloom + .05 < $(column success 2)) }")" 1

# ---- kept fresh
app trace routes.tsv --cycle 3 --set stop.tepal --in-full 10% -o back.tsv --tsv >rows
is 'feedback: about a tenth is traced in full, and hits' \
    "$(awk "BEGIN { print (100 < $(column in_full 3) && $(column in_full 3) < 220 && $(column hits 3) > .06) }")" 1
is 'feedback: each route stands for ten' "$(awk -F'\t' '!/#/ { if ($3 % 10) bad++ } END { print bad + 0 }' back.tsv)" 0
app combine m?.tsv back.tsv --bits 2500 --beta 100% -o next.tepal -q
app trace routes.tsv --cycle 4 --set stop.tepal --tsv >rows
old=$(column success 4)
app trace routes.tsv --cycle 4 --set next.tepal --tsv >rows
is 'feedback: the new set is better' "$(awk "BEGIN { print ($old + .02 < $(column success 4)) }")" 1
app routes.tsv --bits 2500 --beta 100% --feedback 10% --tsv -q >rows
is 'fresh: a row for each cycle' "$(grep -c 'fresh' rows)" 4
is 'fresh: better than what was learned once' \
    "$(awk "BEGIN { print ($(column success 5 retouched) + .02 < $(column success 5 fresh)) }")" 1
is 'fresh: routes traced in full are not in the rates, but hit' "$(awk "BEGIN { print ($(column routes 4 fresh) + $(column in_full 4 fresh)) }")" 1600

# ---- filters instead of lists
for m in 0 1 2 3; do
    app learn routes.tsv --cycle 1 --monitor m$m -o m$m.tepal --bits 2500 --hashes 3 --seen s$m.tsv -q
done
is 'filters: the others do not name the members' "$(awk -F'\t' '$2 + 0 > 0' s?.tsv | wc -l)" 0
run app combine m?.tepal s?.tsv -o blind.tepal --max-fn 10% --json
is 'filters: received' "$code $(number filters) $(number lists) $(number up) $(number expected)" '0 4 4 10000.0 True'
is 'filters: the truth is in the interval' \
    "$(awk "BEGIN { l = $members - $("$tepal" query -c blind.tepal list); print ($(number lost_low) <= l && l <= $(number lost_high) && $(number lost) <= .1 * $(number penultimate)) }")" 1
"$tepal" merge m?.tepal -o merged -q
"$tepal" build list -o whole --bits 2500 --hashes 3 --seed 1 -q
is 'filters: united they are the filter of all' "$("$tepal" info --json merged | python3 -c 'import json, sys; print(json.load(sys.stdin)["ones"])')" \
    "$("$tepal" info --json whole | python3 -c 'import json, sys; print(json.load(sys.stdin)["ones"])')"

# ---- several sizes, the best of them, Table V
app routes.tsv --bits 1k --bits 2k --bits 4k --beta 50% --tsv -q >rows
is 'several sizes' "$(awk -F'\t' '$1 == 2 { print $2 $3 }' rows | xargs | sed 's/list[0-9]*/list/')" \
    'list bloom1000 retouched1000 bloom2000 retouched2000 bloom4000 retouched4000'
is 'counts after retouching' "$(awk "BEGIN { print ($(column false_positives 2 retouched | tail -1) < $(column false_positives 2 bloom | tail -1)) }") $(column troublesome 2 retouched | xargs)" '1 0 0 0'
is 'what is sent' "$(column up_filters 2 bloom | xargs) $(column down 2 bloom | xargs)" '4000 8000 16000 4000 8000 16000'
app routes.tsv --bits 1500 --bits 3000 --best --tsv >rows 2>words
for bits in 1500 3000; do
    best=$(awk -F'\t' -v b=$bits '$1 == 2 && $3 == b { print $12 }' rows)
    for beta in 5% 50% 100%; do
        found=$(app routes.tsv --bits $bits --beta $beta --tsv -q | awk -F'\t' '$1 == 2 && $2 == "retouched" { print $12 }')
        is "the best of $bits bits is no worse than $beta" "$(awk "BEGIN { print ($best >= $found) }")" 1
    done
done
like 'the smallest size' "$(tail -1 words)" '^smallest   (1500|3000) bits \(ratio [0-9.]+\) have 95 % of the list.s success or more$'
expect 'Table V' 0 'set           bits success discovery compression no_collision    missed      load collision
list         15360       X         X                        X                   X          
bloom         2500                             X            X         X                    
retouched     2500       X         X           X                                          X
' '' app routes.tsv --bits 2500 --beta 100% --table -q

# ---- measured routes, if there are any
measured=${TEPAL_DATA:-/nonexistent}/traceroute/planetlab-10cycles.tsv.gz
if [[ -r $measured ]]; then
    app "$measured" --max-transit 10 --bits 8k --max-fn 2% --feedback 5% --tsv -q >rows
    fresh=$(column success 10 fresh)
    is 'measured routes: fresh sets beat those learned once, and the list' \
        "$(awk "BEGIN { print ($(column success 10 retouched) < $fresh && $(column success 10 list) < $fresh) }")" 1
fi

# ---- wrong inputs
bad() {
    local name=$1 message=$2
    shift 2
    rm -f no
    refused "$name" "$message" "$tepal" app stopset "$@"
    absent "$name: nothing was written" no
}
bad 'learn: no output' 'app stopset learn: --output FILE is needed' learn routes.tsv
bad 'learn: no such monitor' 'app stopset learn: no routes that reach their destination, of this cycle and monitor; nothing was written' \
    learn routes.tsv --monitor m9 -o no
bad 'learn: not over a list' 'm0.tsv: the file exists; use --force to overwrite it; nothing was written' learn routes.tsv -o m0.tsv
bad 'learn: --seen of a list' 'app stopset learn: --hashes and --seen are for filters: give --bits M, too' \
    learn routes.tsv --seen x -o no
bad 'combine: no size' 'app stopset combine: --bits M is needed: no monitor sent a filter' combine m0.tsv -o no
bad 'combine: nothing' "app stopset combine: a file of a monitor is needed; see 'tepal app stopset combine --help'" combine -o no
bad 'combine: another size' 'app stopset combine: --bits, --hashes and --seed are those of the filters sent: 2500 bits, 3 hashes, seed 1' \
    combine m0.tepal -o no --bits 2000
app learn routes.tsv --monitor m1 -o other.tepal --bits 2000 --hashes 3 -q
bad 'combine: filters that do not match' \
    'other.tepal: its size, hash functions or seed are not those of the filters before it; nothing was written' \
    combine m0.tepal other.tepal -o no
bad 'combine: a retouched filter' 'stop.tepal: a filter of the kind retouched: a monitor sends a Bloom filter, or a list; nothing was written' \
    combine stop.tepal -o no
printf '10.0.0.1\t5\t3\n' >wrong
bad 'combine: impossible counts' 'wrong: line 1: more routes end at the address than pass it' combine wrong --bits 100 -o no
printf '10.0.0.1\t5\n' >wrong
bad 'combine: not a list' 'wrong: line 1: not an address, a tab, and two counts of routes (ends and passes)' combine wrong --bits 100 -o no
printf '10.0.0.1\t0\t3\n' >wrong
bad 'combine: nobody' 'app stopset combine: no penultimate nodes in what the monitors sent; nothing was written' combine wrong --bits 100 -o no
bad 'combine: the output is an input' 'm0.tsv: the stop set would overwrite what a monitor sent; nothing was written' combine m0.tsv --bits 100 -o m0.tsv
bad 'trace: no set' 'app stopset trace: --set FILE is needed' trace routes.tsv
bad 'trace: feedback to nowhere' 'app stopset trace: --in-full R and --output FILE go together: give both' trace routes.tsv --set stop.tepal --in-full 5%
bad 'trace: not a set' 'list: the first bytes are not those of a tepal filter (byte 0); nothing was written' trace routes.tsv --set list
bad 'table: which size' 'app stopset: --table needs one --bits M' routes.tsv --table
bad 'enough for nothing' 'app stopset: --enough needs --best' routes.tsv --enough 90%
bad 'no such step' 'lern: No such file or directory' lern

finish
