#!/usr/bin/env bash
# app: the list of applications, and stopset on routes made here: by hand, where every figure can be
# counted on the fingers, and by a generator. If TEPAL_DATA names a folder with measured traceroutes
# (traceroute/planetlab-*.tsv.gz), these are checked too.
source "$(dirname "$0")/lib.sh"

expect 'the list' 0 'stopset          Red stop sets: stop traceroutes just before their destinations.
stopset learn    Red stop sets, at a monitor: what it saw, for the server.
stopset combine  Red stop sets, at the server: make one of what all monitors sent.
stopset trace    Red stop sets, at a monitor: where routes stop, and what is fed back.
route            Paths in packet headers: false links that packets take.
forward          Forward packets by the masks of links: where do they go?
flows            Flow tracking: what removals do to each kind of filter.
digest           Caches that advertise their contents, and one that lies.
traceback        IP traceback: find the path of a packet from a filter of its routers.
peers            Peers that look up objects by filters of their neighbours, and some that lie.
admit            Cache admission: store an object on its second request.
' '' "$tepal" app

# ---- by hand
cat >hand.tsv <<'TSV'
#cycle	monitor	target_as	dst	dst_ttl	pen_transit	hops
1	m1	AS1	9.0.0.1	4	0	1.0.0.1 1.0.0.2 1.0.0.3
1	m1	AS1	9.0.0.2	4	0	1.0.0.1 1.0.0.2 1.0.0.4
1	m2	AS2	9.0.0.3	4	0	2.0.0.1 * 2.0.0.2
1	m2	AS2	9.0.0.4	3	-1	2.0.0.1 *
2	m1	AS1	9.0.0.1	4	0	1.0.0.1 1.0.0.2 1.0.0.3
2	m1	AS1	9.0.0.2	5	0	1.0.0.1 1.0.0.2 1.0.0.4 1.0.0.5
2	m2	AS2	9.0.0.3	3	0	2.0.0.1 2.0.0.9
2	m2	AS2	9.0.0.4	3	-1	2.0.0.1 *
3	m1	AS1	9.0.0.1	4	0	1.0.0.1 1.0.0.2 1.0.0.3
TSV
head='cycle set                  bits ratio    fp     fn success  short  coll. nodes- links-'
expect 'by hand' 0 "$head
2     list                   96  1.00     0      0  0.2500 0.2500 0.5000 0.0000 0.0000
3     list                   96  1.00     0      0  1.0000 0.0000 0.0000 0.0000 0.0000
2     bloom               10000  0.01     0      0  0.2500 0.2500 0.5000 0.0000 0.0000
3     bloom               10000  0.01     0      0  1.0000 0.0000 0.0000 0.0000 0.0000
2     retouched 25 %      10000  0.01     0      0  0.2500 0.2500 0.5000 0.0000 0.0000
3     retouched 25 %      10000  0.01     0      0  1.0000 0.0000 0.0000 0.0000 0.0000
" 'learned    cycle 1: 4 routes of 2 monitors, 6 addresses, 3 of them penultimate
' "$tepal" app stopset hand.tsv --bits 10k --hashes 5 --beta 25%
expect '--max-transit drops what has no penultimate node' 0 "$head
2     list                   96  1.00     0      0  0.3333 0.3333 0.3333 0.0000 0.0000
" '' bash -c '"$0" app stopset hand.tsv --bits 10k --beta 25% --max-transit 0 -q | head -2' "$tepal"
run "$tepal" app stopset hand.tsv --bits 1 --hashes 1 --beta 25% --tsv
is 'tsv: names' "$code $(head -1 "$work/out" | tr '\t' ' ')" \
    '0 cycle set bits hashes compression beta max_fn false_positives troublesome false_negatives routes success stopping_short collision nodes_missed links_missed aimed feedback in_full probes probes_saved hits probing hits_so_far up_lists up_filters down'
is 'a filter of one bit stops every route at its first hop' \
    "$(awk -F'\t' '$1 == 2 && $2 == "bloom"' "$work/out" | cut -f1-16,20-27 | tr '\t' ' ')" \
    '2 bloom 1 1 96   3 0 0 4 0.000000 1.000000 0.000000 0.666667 1.000000 4 11 0.000000 1 0.500000 96 2 2'
is 'with all members lost none stops' \
    "$(awk -F'\t' '$1 == 2 && $2 == "retouched"' "$work/out" | cut -f10,12-16 | tr '\t' ' ')" \
    '3 0.000000 0.000000 1.000000 0.000000 0.000000'
run "$tepal" app stopset hand.tsv --bits 100 --hashes 3 --max-fn 10% --json -q
is 'json: an object a row, and no words' "$code $(wc -l <"$work/out" | tr -d ' ') $(cat "$work/err")" '0 6 '
is 'json: its names' "$(head -1 "$work/out" | python3 -c 'import json, sys
print(*json.loads(sys.stdin.read()))')" \
    'cycle set addresses bits hashes compression method beta max_fn false_positives troublesome false_negatives routes success stopping_short collision nodes_missed links_missed aimed feedback in_full probes probes_saved hits probing hits_so_far up_lists up_filters down'
is 'json: the list' "$(head -1 "$work/out")" \
    '{"cycle": 2, "set": "list", "addresses": 3, "bits": 96, "hashes": 0, "compression": 1.0, "method": null, "beta": null, "max_fn": null, "false_positives": 0, "troublesome": 0, "false_negatives": 0, "routes": 4, "success": 0.25, "stopping_short": 0.25, "collision": 0.5, "nodes_missed": 0.0, "links_missed": 0.0, "aimed": 0, "feedback": 0.0, "in_full": 0, "probes": 12, "probes_saved": 3, "hits": 0.5, "probing": 1, "hits_so_far": 0.75, "up_lists": 96.0, "up_filters": null, "down": 192.0}'
expect '--learn' 0 "$head
3     list                   96  1.00     0      0  1.0000 0.0000 0.0000 0.0000 0.0000
" 'learned    cycle 2: 4 routes of 2 monitors, 7 addresses, 3 of them penultimate
' bash -c '"$0" app stopset hand.tsv --bits 10k --beta 25% --learn 2 | head -2' "$tepal"

# ---- the same routes in other forms
grep -v '^#' hand.tsv >bare.tsv
gzip -c hand.tsv >hand.tsv.gz
awk -F'\t' 'BEGIN { OFS = FS } { print $7, $4, $1, $2 }' bare.tsv | sed $'1i#hops\tdst\tcycle\tmonitor' >few.tsv
sed 's/$/\r/' bare.tsv >dos.tsv
cat >"$work/scamper.py" <<'PY'
# Tab-separated routes as sc_warts2json would print them.
import json, sys
cycle = monitor = None
for line in sys.stdin:
    if line.startswith("#"):
        continue
    c, m, _, dst, ttl, _, hops = line.rstrip("\n").split("\t")
    if (c, m) != (cycle, monitor):
        cycle, monitor = c, m
        print(json.dumps({"type": "cycle-start", "list_name": "x", "id": int(c), "hostname": m}))
    list_ = [{"addr": a, "probe_ttl": i + 1, "icmp_type": 11} for i, a in enumerate(hops.split()) if a != "*"]
    list_ += [{"addr": "99.9.9.9", "probe_ttl": h["probe_ttl"], "probe_id": 2} for h in list_]
    list_.append({"addr": dst, "probe_ttl": int(ttl), "icmp_type": 3})
    print(json.dumps({"type": "trace", "version": "0.1", "src": "5.5.5.5", "dst": dst,
                      "stop_reason": "COMPLETED", "hop_count": int(ttl), "hops": list_}))
print(json.dumps({"type": "cycle-stop", "id": 9, "stop_time": 1}))
PY
python3 "$work/scamper.py" <hand.tsv >hand.json
"$tepal" app stopset hand.tsv --bits 50 --max-transit 0 --tsv -q >want
for form in bare.tsv hand.tsv.gz few.tsv dos.tsv hand.json; do
    expect "the same from $form" 0 "$(cat want)"$'\n' '' \
        "$tepal" app stopset $form --bits 50 --max-transit 0 --tsv -q
done
expect 'the same from standard input' 0 "$(cat want)"$'\n' '' \
    bash -c '"$0" app stopset --bits 50 --max-transit 0 --tsv -q <hand.tsv' "$tepal"
grep $'^1\t' hand.tsv >one.tsv
grep $'^[23]\t' hand.tsv >rest.tsv
expect 'the same from two files' 0 "$(cat want)"$'\n' '' \
    "$tepal" app stopset rest.tsv one.tsv --bits 50 --max-transit 0 --tsv -q
for n in 1 2; do
    grep "^$n" hand.tsv | python3 "$work/scamper.py" | grep -v cycle >c$n.json
done
run "$tepal" app stopset c1.json c2.json --bits 10k --hashes 5 --beta 25%
is 'JSON without cycles: a cycle a file, the source is the monitor' "$(sed -n 1p "$work/err"; sed -n 2p "$work/out")" \
    'learned    cycle 1: 4 routes of 1 monitor, 6 addresses, 3 of them penultimate
2     list                   96  1.00     0      0  0.2500 0.2500 0.5000 0.0000 0.0000'
{
    cat c1.json
    echo '{"type": "trace", "src": "5.5.5.5", "dst": "9.9.9.9", "stop_reason": "GAPLIMIT", "hops": [{"addr": "1.0.0.1", "probe_ttl": 1}]}'
} >gap.json
run "$tepal" app stopset gap.json c2.json --bits 10k --beta 25%
is 'routes that do not arrive are left out' "$(sed -n 2p "$work/err")" \
    'left out   1 route that does not reach its destination'
printf '%s\n' $'1\tm\tx\t2001:DB8:0:0::9\t3\t0\t2001:db8::1 2001:0db8::2' \
    $'2\tm\tx\t2001:db8::9\t3\t0\t2001:db8::1 2001:db8::2' >six.tsv
run "$tepal" app stopset six.tsv --bits 10k --beta 25% -q
is 'IPv6, in whatever spelling' "$(sed -n 2p "$work/out")" \
    '2     list                  128  1.00     0      0  1.0000 0.0000 0.0000 0.0000 0.0000'

# ---- generated: a core that all routes pass, and many leaves
python3 - >big.tsv <<'PY'
import random
random.seed(5)
print("#cycle\tmonitor\ttarget_as\tdst\tdst_ttl\thops")
leaf = [f"20.{i >> 8}.{i & 255}.1" for i in range(1500)]
for cycle in (1, 2, 3):
    for m in range(3):
        for d in range(1500):
            route = [f"10.{m}.0.{i}" for i in range(1, 4)]
            route += [f"11.0.{d % 7}.{i}" for i in range(1, 4)] + [f"12.{d % 97}.{d % 5}.1"]
            last = leaf[d] if cycle == 1 or random.random() > 0.05 * cycle else f"21.{d >> 8}.{d & 255}.{cycle}"
            route.append(last if random.random() > 0.03 else "*")
            print(cycle, f"m{m}", "AS1", f"30.{d >> 8}.{d & 255}.9", len(route) + 1, " ".join(route), sep="\t")
PY
"$tepal" app stopset big.tsv --tsv -q >rows
is 'the sizes and shares of the paper' \
    "$(cut -f3 rows | sed 1d | sort -nu | grep -vx 48000 | xargs) $(cut -f6 rows | sed 1d | sort -nu | xargs)" \
    '10000 20000 30000 40000 50000 60000 70000 80000 90000 100000 0.01 0.05 0.1 0.25'
is 'two cycles of a list, ten filters, four shares of each' "$(sed 1d rows | wc -l | tr -d ' ')" $((2 * (1 + 10 * 5)))
is 'rates add up to one, the list misses nothing, a compression ratio is a ratio of sizes' "$(python3 - <<'PY'
import csv
ok = len(open("rows").readlines()) > 2
for r in csv.DictReader(open("rows"), delimiter="\t"):
    f = {k: float(v) for k, v in r.items() if k not in ("set", "beta", "max_fn", "up_filters")}
    ok &= abs(f["success"] + f["stopping_short"] + f["collision"] - 1) < 3e-6
    ok &= abs(f["compression"] - 48000 / f["bits"]) < 1e-4 and f["routes"] == 4500
    ok &= r["set"] != "list" or f["nodes_missed"] == f["links_missed"] == 0
print(ok)
PY
)" True
"$tepal" app stopset big.tsv --bits 6000 --beta 100% --tsv -q >rows
is 'a small filter: retouching rescues, and loses a few' "$(python3 - <<'PY'
import csv
rows = [r for r in csv.DictReader(open("rows"), delimiter="\t") if r["cycle"] == "2"]
listed, bloom, retouched = rows
value = lambda r, name: float(r[name])
print([r["set"] for r in rows] == ["list", "bloom", "retouched"],
      value(bloom, "success") < value(retouched, "success") <= value(listed, "success"),
      value(bloom, "nodes_missed") > value(retouched, "nodes_missed"),
      value(bloom, "stopping_short") > value(retouched, "stopping_short"),
      0 < value(retouched, "false_negatives") < 150, int(bloom["false_positives"]) > 5,
      bloom["false_negatives"] == "0")
PY
)" 'True True True True True True True'
sed 's/\tm[0-9]\t/\tm0\t/' big.tsv >single.tsv
"$tepal" app stopset single.tsv --bits 6000 --tsv -q >single
"$tepal" app stopset big.tsv --bits 6000 --tsv -q >merged
same 'the filter of three monitors is that of one that saw it all' <(cut -f1-22 single) <(cut -f1-22 merged)
for method in random min-fn max-fp ratio improved-min-fn improved-max-fp improved-ratio; do
    run "$tepal" app stopset big.tsv --bits 6000 --beta 100% --method $method --tsv -q
    is "--method $method" "$code $(awk -F'\t' '$2 == "retouched" && $1 == 2 && $10 > 0' "$work/out" | wc -l | tr -d ' ')" '0 1'
done
"$tepal" app stopset big.tsv --bits 6000 --seed 2 --tsv -q >other
if cmp -s other merged; then fail 'another seed gives the same'; else pass; fi
python3 "$work/scamper.py" < <(awk -F'\t' 'BEGIN { OFS = FS } { print $1, $2, $3, $4, $5, 0, $6 }' big.tsv) >big.json
"$tepal" app stopset big.json --bits 6000 --max-transit 5 --tsv -q >json
"$tepal" app stopset big.tsv --bits 6000 --max-transit 5 --tsv -q >tsv
same 'JSON and TSV: the same, transit counted' json tsv

# ---- measured routes, if there are any
routes=${TEPAL_DATA:-/nonexistent}/traceroute/planetlab-2cycles.tsv.gz
if [[ -r $routes ]]; then
    for row in '0 0.8706 0.0039 0.1255' '5 0.7946 0.1147 0.0907' '10 0.7442 0.1565 0.0993' '50 0.6102 0.3169 0.0729'; do
        is "measured routes, transit up to ${row%% *}" \
            "${row%% *} $("$tepal" app stopset "$routes" --bits 10k --beta 1% --max-transit "${row%% *}" -q |
                awk '$2 == "list" { print $7, $8, $9 }')" "$row"
    done
    # The column that came with the routes says the same as counting.
    zcat "$routes" | cut -f1-5,7 >uncounted.tsv
    "$tepal" app stopset "$routes" --bits 20k --max-transit 5 --tsv -q >given
    "$tepal" app stopset uncounted.tsv --bits 20k --max-transit 5 --tsv -q >counted
    same 'measured routes: pen_transit as counted' given counted
fi

# ---- wrong inputs
bad() {
    local name=$1 message=$2
    shift 2
    refused "$name" "$message" "$tepal" app stopset "$@"
}
wrong() { # NAME LINE MESSAGE: as the third line
    printf '%s\n%s\n' "$(head -2 hand.tsv)" "$2" >wrong.tsv
    bad "$1" "wrong.tsv: line 3: $3" wrong.tsv
}
wrong 'cut short' $'1\tm1\tAS1\t9.0.0' '4 fields, but 7 are needed'
wrong 'a field too many' $'1\tm1\tAS1\t9.0.0.1\t2\t0\t1.0.0.1\tx' '8 fields, but 7 are needed'
wrong 'no destination' $'1\tm1\tAS1\t\t2\t0\t1.0.0.1' "not an address: ''"
wrong 'a bad destination' $'1\tm1\tAS1\t9.0.0.256\t2\t0\t1.0.0.1' "not an address: '9.0.0.256'"
wrong 'a bad hop' $'1\tm1\tAS1\t9.0.0.1\t2\t0\tnode' "not an address: 'node'"
wrong 'a route cut short' $'1\tm1\tAS1\t9.0.0.1\t9\t0\t1.0.0.1 1.0.0.2' 'dst_ttl is 9, but there are 2 hops'
wrong 'a bad TTL' $'1\tm1\tAS1\t9.0.0.1\t300\t0\t1.0.0.1' "dst_ttl is not a number from 1 to 255: '300'"
wrong 'a bad cycle' $'one\tm1\tAS1\t9.0.0.1\t2\t0\t1.0.0.1' "the cycle is not a whole number: 'one'"
wrong 'a negative cycle' $'-1\tm1\tAS1\t9.0.0.1\t2\t0\t1.0.0.1' "the cycle is not a whole number: '-1'"
wrong 'no monitor' $'1\t\tAS1\t9.0.0.1\t2\t0\t1.0.0.1' 'the monitor has no name'
wrong 'a bad transit' $'1\tm1\tAS1\t9.0.0.1\t2\tx\t1.0.0.1' "pen_transit is not a whole number: 'x'"
wrong 'half an object' '{"type": "trace", "dst": ' "not JSON: unexpected token near end of file"
wrong 'no type' '{"kind": "trace"}' 'not an object with a "type"'
wrong 'no dst' '{"type": "trace"}' 'a trace without a "dst"'
wrong 'no src' '{"type": "trace", "dst": "9.0.0.1"}' 'a trace without a "src"'
wrong 'hops of another type' '{"type": "trace", "src": "5.5.5.5", "dst": "9.0.0.1", "hops": 5}' \
    'a trace whose "hops" are not a list'
wrong 'a hop without TTL' '{"type": "trace", "src": "5.5.5.5", "dst": "9.0.0.1", "hops": [{"addr": "1.1.1.1"}]}' \
    'a hop without a "probe_ttl" from 1 to 255'
wrong 'a TTL out of range' '{"type": "trace", "src": "5.5.5.5", "dst": "9.0.0.1", "hops": [{"addr": "1.1.1.1", "probe_ttl": 256}]}' \
    'a hop without a "probe_ttl" from 1 to 255'
wrong 'a cycle without id' '{"type": "cycle-start"}' 'a cycle-start without a whole number as its "id"'
printf '#cycle\tmonitor\tdst\n' >wrong.tsv
bad 'a header without hops' "wrong.tsv: line 1: the header has no column 'hops'" wrong.tsv
: >empty
bad 'nothing' 'app stopset: no routes that reach their destination' empty
bad 'no such file' 'none: No such file or directory' none
bad 'one cycle' 'app stopset: no cycle after cycle 1: there is nothing to replay' one.tsv
bad 'no such cycle' 'app stopset: --learn 7: there is no such cycle' hand.tsv --learn 7
printf '1\tm\tx\t9.0.0.1\t2\t0\t*\n2\tm\tx\t9.0.0.1\t2\t0\t*\n' >silent.tsv
bad 'nothing learned' 'app stopset: cycle 1 has no penultimate nodes to learn' silent.tsv
bad 'two aims' 'app stopset: --beta and --max-fn cannot be combined: give one of them' \
    hand.tsv --beta 1% --max-fn 1%
bad 'two forms' 'app stopset: --tsv and --json cannot be combined: give one of them' \
    hand.tsv --tsv --json
bad 'beta' 'app stopset: --beta 0: out of range: a share must be above 0 and at most 1' hand.tsv --beta 0
bad 'random-bits' 'app stopset: --method random-bits needs --max-fn R' hand.tsv --method random-bits
bad 'an option of another command' \
    "app stopset: unknown option --fp; see 'tepal app stopset --help'" hand.tsv --fp 1%

finish
