#!/usr/bin/env bash
# app traceback: a tree of which everything is known, against a simulation in Python and the figures
# that are known for it; networks that can be followed by hand; measured routes; wrong inputs. If
# TEPAL_DATA names a folder that has networks and routes, these are walked too.
source "$(dirname "$0")/lib.sh"

cell() { # cell KIND ATTACK COLUMN [FILE]
    awk -F'\t' -v k="$1" -v a="$2" -v c="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) n = i }
        $1 == k && $2 == a { print $n }' "${4:-out}"
}
near() { # near NAME GOT WANT TOLERANCE
    is "$1 ($2, $3 +- $4)" "$(awk -v g="$2" -v w="$3" -v t="$4" 'BEGIN { d = g - w; print (g != "" && d < t && -d < t) }')" 1
}

# ---- the tree: 15 routers of 4 neighbours each, so 15 * 2 + 2 = 32 neighbours off the path
# With a Bloom filter of ones, all of them; with a generalized one (2, 2) at its worst about one, but
# hardly ever the whole path; with more bits, more hashes and a tolerance of two, most paths.
n=10000
"$tepal" app traceback --tree 4 --hops 15 --bits 256 --hashes 6 --packets $n --tsv -q >out
"$tepal" app traceback --tree 4 --hops 15 --bits 512 --reset-hashes 5 --set-hashes 5 --tolerance 2 \
    --packets $n --tsv -q >wide
is 'header' "$(head -1 out)" \
    $'kind\tattack\tbits\tpackets\thops\tfull\thops_found\tcandidates\tfalse_branches\tstrays\tfull_expected\thops_found_expected\tfalse_branches_expected'
is 'Bloom, all ones: all 32 branches' "$(cell bloom all-ones false_branches) $(cell bloom all-ones candidates)" '32.000000 32.0000'
is 'Bloom, the worst: the same' "$(cell bloom worst false_branches)" 32.000000
is 'Bloom: the path is always found' "$(cell bloom none full) $(cell bloom all-ones full)" '1.000000 1.000000'
# The round figures are good to some 5 %; what is compared closely, at 6.5 standard errors, is the
# simulation in Python below. (1.65 is 1.56 at the 5.47 % of eq. (19) with a tolerance: keys of which
# a reset and a set meet raise that to 5.79 % in 512 bits.)
near '(2, 2): P(full path)' "$(cell generalized worst full)" .04 .014
near '(2, 2): false branches' "$(cell generalized worst false_branches)" .99 .06
near '(5, 5), b = 2: P(full path)' "$(cell generalized worst full wide)" .60 .035
near '(5, 5), b = 2: false branches' "$(cell generalized worst false_branches wide)" 1.65 .1
# The model takes the fates of the routers for independent; the branches then follow within 2 %.
for file in out wide; do
    near "$file: branches of the model" "$(cell generalized worst false_branches $file)" \
        "$(cell generalized worst false_branches_expected $file)" .06
    near "$file: whole paths of the model" "$(cell generalized none full $file)" \
        "$(cell generalized none full_expected $file)" .024
done
near 'Bloom: branches of the model' "$(cell bloom none false_branches)" \
    "$(cell bloom none false_branches_expected)" "$(awk -v n=$n 'BEGIN { print 6.5 * sqrt(.023 / n) }')"

# The same tree with ideal hashing, written down once more. Compared at 6.5 standard errors of both.
cat >"$work/tree.py" <<'PY'
import math, random, sys

m, k0, k1, b, trials = map(int, sys.argv[1:])
random.seed(7)
full = hops = 0
branches = []
draw = random.random
def key():
    g = {int(draw() * m) for _ in range(k0)}
    return g, {int(draw() * m) for _ in range(k1)} - g
for _ in range(trials):
    cells = [draw() < 0.5 for _ in range(m)]
    path = [key() for _ in range(15)]
    def passes(entry):
        g, h = entry
        return sum(cells[i] for i in g) + sum(not cells[i] for i in h) <= b
    for g, h in path:
        for i in h:
            cells[i] = True
        for i in g:
            cells[i] = False
    found = count = 0
    for age in range(15):
        if not passes(path[14 - age]):
            break
        found += 1
        for _ in range(4 - (age > 0) - (age < 14)):
            count += passes(key())
    full += found == 15
    hops += found
    branches.append(count)
mean = sum(branches) / trials
var = sum((c - mean) ** 2 for c in branches) / trials
print(full / trials, hops / trials / 15, mean, var)
PY
against() { # against NAME FILE M K0 K1 B
    local name=$1 file=$2 full hops branches var
    read -r full hops branches var < <(python3 "$work/tree.py" "$3" "$4" "$5" "$6" 3000)
    near "$name: whole paths as in Python" "$(cell generalized worst full "$file")" "$full" \
        "$(awk -v p="$full" -v n=$n 'BEGIN { print 6.5 * sqrt(p * (1 - p) * (1 / n + 1 / 3000)) }')"
    near "$name: branches as in Python" "$(cell generalized worst false_branches "$file")" "$branches" \
        "$(awk -v v="$var" -v n=$n 'BEGIN { print 6.5 * sqrt(v * (1 / n + 1 / 3000)) }')"
    near "$name: hops as in Python" "$(cell generalized worst hops_found "$file")" "$hops" \
        "$(awk -v n=$n 'BEGIN { print 6.5 * sqrt(.1 * (1 / n + 1 / 3000)) }')"
}
against '(2, 2)' out 256 2 2 0
against '(5, 5), b = 2' wide 512 5 5 2

# ---- by hand: a line of routers, and a ring with spokes
printf '#u\tv\na\tb\nb\tc\nc\td\n' >line.tsv
"$tepal" app traceback line.tsv --hops 4 --bits 4096 --packets 50 --attack all-ones --tsv -q >out
is 'a line: nobody is off the path' "$(cell bloom all-ones candidates) $(cell bloom all-ones false_branches) $(cell bloom all-ones full)" \
    '0.0000 0.000000 1.000000'
for i in 1 2 3 4 5 6; do
    printf 'r%d\tr%d\nr%d\ts%d\n' "$i" "$((i % 6 + 1))" "$i" "$i"
done >ring.tsv
# From a spoke to the opposite one (6 routers): spokes of 2 routers between, and 2 of the ring beside
# the ends of the half ring; the other spokes are reached by the walk, which takes the whole ring.
"$tepal" app traceback ring.tsv --hops 6 --bits 4096 --packets 50 --attack all-ones --tsv -q >out
is 'a ring: branches' "$(cell bloom all-ones candidates) $(cell bloom all-ones false_branches)" '4.0000 4.000000'
is 'a ring: all others' "$(cell bloom all-ones strays)" 6.000000
is 'a ring: nothing is found by mistake' "$(cell generalized all-ones strays)" 0.000000
"$tepal" app traceback ring.tsv --bits 4096 --packets 50 --attack none --json -q >out.json
is 'json' "$(python3 -c 'import json
for line in open("out.json"):
    r = json.loads(line)
    print(r["kind"], r["attack"], r["packets"], r["full"])' | xargs)" 'bloom none 50 1.0 generalized none 50 1.0'

# GraphML, and one of several networks in a file
cat >star.graphml <<'XML'
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">
<node id="0"/><node id="1"/><node id="2"/><node id="3"/>
<edge source="0" target="1"/><edge source="0" target="2"/><edge source="0" target="3"/>
</graph></graphml>
XML
"$tepal" app traceback star.graphml --hops 3 --bits 1024 --packets 20 --attack all-ones --tsv -q >out
is 'GraphML' "$(cell bloom all-ones false_branches)" 1.000000
printf '#asn\tu\tv\n1\ta\tb\n1\tb\tc\n2\tx\ty\n2\tx\tz\n2\tx\tw\n' >two.tsv
"$tepal" app traceback two.tsv --network 2 --hops 3 --bits 1024 --packets 20 --attack all-ones --tsv -q >out
is 'one of two networks' "$(cell bloom all-ones false_branches)" 1.000000

# ---- measured routes: gaps and repeats are left out
printf '#cycle\tmonitor\tdst\thops\n1\tm\t9.0.0.1\t1.0.0.1 1.0.0.2 1.0.0.3\n1\tm\t9.0.0.2\t1.0.0.1 1.0.0.4 1.0.0.5\n1\tm\t9.0.0.3\t1.0.0.1 * 1.0.0.6\n1\tm\t9.0.0.4\t1.0.0.1 1.0.0.2 1.0.0.1\n' >routes.tsv
"$tepal" app traceback --routes routes.tsv --bits 1024 --packets 40 --attack all-ones --tsv >out 2>err
is 'routes: which' "$(head -1 err)" 'network    10 routers on 4 routes, 2 of them complete'
is 'routes: branches' "$(cell bloom all-ones hops) $(cell bloom all-ones false_branches) $(cell bloom all-ones strays)" \
    '3.0000 1.000000 2.000000'
like 'a table' "$("$tepal" app traceback --tree 4 --packets 5 -q | sed -n 3p)" '^bloom +all-ones +100\.00 % +100\.00 % +100\.00 % +32\.000 +32\.000 +-$'

# ---- wrong inputs
bad() {
    local name=$1 message=$2
    shift 2
    refused "$name" "$message" "$tepal" app traceback "$@"
}
bad 'nothing' "app traceback: a network is needed, or --tree N; see 'tepal app traceback --help'"
bad 'two networks' 'app traceback: give only one network (or --routes with several files of routes)' line.tsv ring.tsv
bad 'a tree and a network' 'app traceback: --tree and the network line.tsv cannot be combined: give one of them' line.tsv --tree 4
bad 'a tree of one' 'app traceback: --tree 1: a router on a path has at least 2 neighbours' --tree 1
bad 'no such file' 'none: No such file or directory' none
bad 'no such path' 'app traceback: no path of 9 routers was found' line.tsv --hops 9 -q
bad 'no such route' 'app traceback: no route of 7 routers, all of which answered and none twice' --routes routes.tsv --hops 7
printf '#u\tv\na\ta\n' >loop.tsv
bad 'no links' 'loop.tsv: a network without links has no paths' loop.tsv
bad 'too tolerant' 'app traceback: the tolerance must be below the number of hash functions: otherwise every key is found' --tree 4 --tolerance 4
bad 'routes of a tree' 'app traceback: --tree and --routes cannot be combined: give one of them' --tree 4 --routes
bad 'two forms' 'app traceback: --tsv and --json cannot be combined: give one of them' --tree 4 --tsv --json

# ---- measured networks
if [[ -n ${TEPAL_DATA:-} && -r $TEPAL_DATA/topology-zoo/Cogentco.graphml ]]; then
    "$tepal" app traceback "$TEPAL_DATA/topology-zoo/Cogentco.graphml" --bits 512 --reset-hashes 5 \
        --set-hashes 5 --tolerance 2 --tsv -q >out
    is 'a measured network: Bloom and ones' "$(cell bloom all-ones false_branches)" "$(cell bloom all-ones candidates | sed 's/$/00/')"
    near 'a measured network: whole paths' "$(cell generalized worst full)" "$(cell generalized worst full_expected)" .1
    "$tepal" app traceback --routes "$TEPAL_DATA/traceroute/planetlab-2cycles.tsv.gz" --tsv -q >out
    near 'measured routes: whole paths' "$(cell generalized worst full)" "$(cell generalized worst full_expected)" .07
fi

finish
