#!/usr/bin/env bash
# app peers: networks that can be followed by hand; attenuated filters and the bound on what they
# claim, against a simulation of the same lookups in Python; wrong inputs. If TEPAL_DATA names a
# folder with networks, one of them is used too.
source "$(dirname "$0")/lib.sh"

cell() { # cell KIND ATTACK COLUMN [FILE]
    awk -F'\t' -v k="$1" -v a="$2" -v c="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) n = i }
        $1 == k && $2 == a { print $n }' "${4:-out}"
}
holds() { # holds NAME AWK-CONDITION
    is "$1 ($2)" "$(awk "BEGIN { print ($2) }")" 1
}

# ---- a line of five: with filters large enough, lookups go straight to where the object is
printf '#u\tv\na\tb\nb\tc\nc\td\nd\te\n' >line.tsv
printf 'a\tone\nb\ttwo\nc\tthree\nd\tfour\ne\tfive\n' >five.tsv
"$tepal" app peers line.tsv --objects five.tsv --depth 4 --bits 64k --liars 0 --lookups 3000 --tsv -q >out
is 'header' "$(head -1 out)" $'kind\tattack\tbits\tdepth\tlookups\tfound\thops\tmessages\twrong\tcaptured\tabsent_believed\tabsent_bound\tfp_bound\tfilters_sent\tbits_sent'
for kind in bloom generalized; do
    is "$kind: all are found, without detours" "$(cell $kind none found) $(cell $kind none wrong)" '1.000000 0.000000'
    # the mean distance of two of five in a line is 8/5; its standard deviation is 1.2
    holds "$kind: hops" "($(cell $kind none hops) - 1.6) ^ 2 < (6.5 * 1.2) ^ 2 / 3000"
done
# A Bloom level is one filter; generalized filters are passed on one by one: of a, 4 peers within 3
# hops, to its one neighbour; of b and d 5 to two, of c 5 to two, of e 4 to one.
is 'Bloom: filters sent' "$(cell bloom none filters_sent)" $((4 * 8))
is 'generalized: filters sent' "$(cell generalized none filters_sent)" $((4 + 5 * 2 + 5 * 2 + 5 * 2 + 4))
is 'bits sent' "$(cell generalized none bits_sent)" $((38 * 64000))
"$tepal" app peers line.tsv --objects five.tsv --depth 1 --bits 64k --liars 0 --lookups 3000 --tsv -q >out
# With a depth of one only neighbours are known: 5 + 8 of the 25 pairs.
holds 'depth 1: neighbours alone' "($(cell generalized none found) - 13 / 25) ^ 2 < 6.5 ^ 2 * .25 / 3000"

# ---- a grid with liars: what is united with ones is ones; the bound of c filters holds
python3 - >grid.tsv <<'PY'
print("#u\tv")
for x in range(10):
    for y in range(10):
        print(f"{x}.{y}\t{(x + 1) % 10}.{y}")
        print(f"{x}.{y}\t{x}.{(y + 1) % 10}")
PY
"$tepal" app peers grid.tsv --liars 1 --lookups 3000 --tsv -q >out
# Within three hops of a peer on a torus there are 24 others; a liar is one of 99 for each.
holds 'Bloom: of 99 peers 24 are near the liar' "($(cell bloom all-ones absent_believed) - 24 / 99) ^ 2 < 6.5 ^ 2 * .19 / 3000 + .02 ^ 2"
# ones are not believed; what is captured had to pass the liar on its way to others
holds 'generalized: ones capture little' "$(cell generalized all-ones captured) < .02 && $(cell bloom all-ones captured) > .1"
for attack in none all-ones worst; do
    # c filters: the four neighbours, the 12 ways to those behind them, and so on: 4 (1 + 4 + 8)
    c=$((4 * (1 + 4 + 8)))
    holds "generalized, $attack: the bound is 1 - (1 - F_p)^c" \
        "($(cell generalized $attack absent_bound) - (1 - (1 - $(cell generalized $attack fp_bound)) ^ $c)) ^ 2 < 1e-9"
    holds "generalized, $attack: it holds" "$(cell generalized $attack absent_believed) <= $(cell generalized $attack absent_bound)"
done
holds 'generalized: the worst bits are believed more often' "$(cell generalized worst absent_believed) > $(cell generalized all-ones absent_believed)"
holds 'generalized: most are found' "$(cell generalized worst found) > .9 * $(cell bloom none found)"
holds 'Bloom: fewer bits' "$(cell bloom none bits_sent) < $(cell generalized none bits_sent)"
is 'the same again' "$("$tepal" app peers grid.tsv --liars 1 --lookups 3000 --tsv -q | cmp - out && echo same)" same
"$tepal" app peers grid.tsv --depth 2 --lookups 200 --attack worst --json -q >out.json
is 'json' "$(python3 -c 'import json
for line in open("out.json"):
    r = json.loads(line)
    print(r["kind"], r["attack"], r["depth"], r["fp_bound"] < .1)' | xargs)" 'bloom worst 2 False generalized worst 2 True'

# With liars everywhere a peer's own filters are at their worst: the believed share is near the bound.
"$tepal" app peers grid.tsv --liars 99 --depth 1 --bits 8192 --lookups 20000 --attack worst --tsv -q >out
holds 'all lie: the bound is reached' "($(cell generalized worst absent_believed) - $(cell generalized worst absent_bound)) ^ 2 < (6.5 ^ 2 * .2) / 200 + .05 ^ 2"

# ---- wrong inputs
bad() {
    local name=$1 message=$2
    shift 2
    refused "$name" "$message" "$tepal" app peers "$@"
}
bad 'no network' "app peers: a network is needed; see 'tepal app peers --help'"
bad 'no such file' 'none: No such file or directory' none
printf '#u\tv\na\ta\n' >loop.tsv
bad 'no links' 'loop.tsv: a network without links has no neighbours to ask' loop.tsv
printf 'z\tone\n' >stranger.tsv
bad 'no such peer' "stranger.tsv: 'z' is not a peer of the network" line.tsv --objects stranger.tsv
printf 'a\n' >alone.tsv
bad 'no peer' 'alone.tsv: a line needs two fields: the peer and the object' line.tsv --objects alone.tsv
: >empty.tsv
bad 'no objects' 'empty.tsv: no objects' line.tsv --objects empty.tsv
bad 'all lie' 'app peers: --liars 5: there are only 5 peers' line.tsv --liars 5
bad 'two sources' 'app peers: --objects and --per-peer cannot be combined: give one of them' line.tsv --objects five.tsv --per-peer 3
bad 'too tolerant' 'app peers: the tolerance must be below the number of hash functions: otherwise every key is found' line.tsv --tolerance 4

if [[ -n ${TEPAL_DATA:-} && -r $TEPAL_DATA/topology-zoo/Cogentco.graphml ]]; then
    "$tepal" app peers "$TEPAL_DATA/topology-zoo/Cogentco.graphml" --tsv -q >out
    holds 'a measured network: the bound' "$(cell generalized worst absent_believed) <= $(cell generalized worst absent_bound)"
fi

finish
