#!/usr/bin/env bash
# app traceback: a tree of which everything is known, with plain lookups and with wildcards, against a
# simulation in Python, the model and the bound; a sender who knows the hash functions, against the
# most that can be had; networks that can be followed by hand; measured routes; wrong inputs. If
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
# With a Bloom filter of ones, all of them. With a generalized one and plain lookups hardly ever the
# whole path, unless some inverted bits are tolerated; with wildcards always.
n=1500
tree() { # tree OPTION...
    "$tepal" app traceback --tree 4 --hops 15 --packets $n --tsv -q "$@"
}
tree --bits 256 --hashes 6 --walk plain --max-lookups 60 >out
tree --bits 512 --reset-hashes 5 --set-hashes 5 --tolerance 2 --walk plain --attack worst --max-lookups 1k >wide
is 'header' "$(head -1 out)" \
    $'kind\tattack\twalk\tbits\tpackets\thops\tfull\thops_found\tcandidates\tfalse_branches\tstrays\tfull_expected\thops_found_expected\tfalse_branches_expected\tfalse_branches_bound\tlookups\tcut'
is 'Bloom, all ones: all 32 branches' "$(cell bloom all-ones false_branches) $(cell bloom all-ones candidates)" '32.000000 32.0000'
is 'Bloom, all ones: no end' "$(cell bloom all-ones cut) $(cell bloom all-ones lookups)" '1.000000 60.000000'
is 'Bloom, the worst: the same' "$(cell bloom worst false_branches)" 32.000000
is 'Bloom: the path is always found' "$(cell bloom none full) $(cell bloom all-ones full)" '1.000000 1.000000'
# What is compared closely, at 6.5 standard errors of both, is a simulation in Python with ideal
# hashing: the whole walk, and with wildcards every router asked with the bits ignored that the
# routers between it and the victim have touched.
cat >"$work/tree.py" <<'PY'
import random, sys

m, k0, k1, b, wild, trials = map(int, sys.argv[1:])
random.seed(7)
draw = random.random
def key():
    g = {int(draw() * m) for _ in range(k0)}
    return g, {int(draw() * m) for _ in range(k1)} - g
full = hops = 0
branches, strays = [], []
for _ in range(trials):
    cells = [draw() < 0.5 for _ in range(m)]
    path = [key() for _ in range(15)]
    for g, h in path:
        for i in h:
            cells[i] = True
        for i in g:
            cells[i] = False
    def passes(entry, mask):
        g, h = entry
        return sum(cells[i] for i in g - mask) + sum(not cells[i] for i in h - mask) <= b
    def after(mask, entry):
        return mask | entry[0] | entry[1] if wild else mask
    def wander(mask, depth):  # false routers behind a false one
        return sum(1 + wander(after(mask, x), depth + 1) for x in (key() for _ in range(3))
                   if passes(x, mask)) if depth < 15 else 0
    found, count, far, mask = 0, 0, 0, frozenset()
    for age in range(15):
        if age > 0 and not passes(path[14 - age], mask):
            break
        found += 1
        mask = after(mask, path[14 - age])
        for _ in range(4 - (age > 0) - (age < 14)):
            x = key()
            if passes(x, mask):
                count += 1
                far += 1 + wander(after(mask, x), age + 2)
    full += found == 15
    hops += found
    branches.append(count)
    strays.append(far)
def both(sample):
    mean = sum(sample) / trials
    return mean, sum((c - mean) ** 2 for c in sample) / trials
print(full / trials, hops / trials / 15, *both(branches), *both(strays))
PY
against() { # against NAME FILE M K0 K1 B WILD
    local name=$1 file=$2 full hops branches var strays svar t=500
    read -r full hops branches var strays svar < <(python3 "$work/tree.py" "$3" "$4" "$5" "$6" "$7" $t)
    error() { awk -v v="$1" -v n=$n -v t=$t 'BEGIN { print 6.5 * sqrt(v * (1 / n + 1 / t)) + 1e-9 }'; }
    near "$name: whole paths as in Python" "$(cell generalized worst full "$file")" "$full" \
        "$(error "$(awk -v p="$full" 'BEGIN { print p * (1 - p) }')")"
    near "$name: hops as in Python" "$(cell generalized worst hops_found "$file")" "$hops" "$(error .1)"
    near "$name: branches as in Python" "$(cell generalized worst false_branches "$file")" "$branches" "$(error "$var")"
    near "$name: strays as in Python" "$(cell generalized worst strays "$file")" "$strays" "$(error "$svar")"
}
against '(2, 2)' out 256 2 2 0 0
against '(5, 5), b = 2' wide 512 5 5 2 0
# The model of plain lookups takes the fates of the routers for independent; the branches then follow
# within 3 % (and 6.5 standard errors).
near 'plain: branches of the model' "$(cell generalized worst false_branches)" \
    "$(cell generalized worst false_branches_expected)" "$(awk -v n=$n 'BEGIN { print 6.5 * sqrt(1.5 / n) + .03 }')"
near 'plain: whole paths of the model' "$(cell generalized none full)" "$(cell generalized none full_expected)" "$(awk -v n=$n 'BEGIN { print 6.5 * sqrt(.04 / n) + .005 }')"
near 'Bloom: branches of the model' "$(cell bloom none false_branches)" \
    "$(cell bloom none false_branches_expected)" "$(awk -v n=$n 'BEGIN { print 6.5 * sqrt(.023 / n) }')"

# Wildcards: never a path that is not found whole; the branches of the model, and never more than the
# bound, at 6.5 standard errors of a count of that mean; with the worst bits the bound is reached.
for at in '256 2 2 0' '256 5 5 0' '512 5 5 0' '256 2 5 0' '512 5 5 1'; do
    read -r m k0 k1 b <<<"$at"
    tree --bits "$m" --reset-hashes "$k0" --set-hashes "$k1" --tolerance "$b" --max-lookups 300 >wild
    for attack in none all-ones worst; do
        name="wildcards $at, $attack"
        is "$name: walk" "$(cell generalized $attack walk wild)" wildcards
        is "$name: every path is found whole" "$(cell generalized $attack full wild) $(cell generalized $attack hops_found wild)" '1.000000 1.000000'
        got=$(cell generalized $attack false_branches wild)
        model=$(cell generalized $attack false_branches_expected wild)
        bound=$(cell generalized $attack false_branches_bound wild)
        # a walk's branches are sums of chances below 1/3, that vary with the share of ignored bits
        near "$name: branches of the model" "$got" "$model" "$(awk -v v="$model" -v n=$n 'BEGIN { print 6.5 * sqrt(1.5 * v / n) + .01 * v }')"
        is "$name: the model is below the bound ($model, $bound)" "$(awk -v m="$model" -v b="$bound" 'BEGIN { print (m <= b * 1.0000001) }')" 1
        is "$name: the bound holds ($got, $bound)" "$(awk -v g="$got" -v b="$bound" -v n=$n 'BEGIN { print (g <= b + 6.5 * sqrt(1.5 * b / n)) }')" 1
    done
    is "wildcards $at: the worst bits reach the bound ($model, $bound)" "$(awk -v m="$model" -v b="$bound" 'BEGIN { print (m > .97 * b) }')" 1
    if [[ $b = 0 && $k0 = "$k1" ]]; then
        against "wildcards $at" wild "$m" "$k0" "$k1" 0 1
    fi
done

# A sender who knows the hash functions gets many of the 32, and nearly as many as can be had: routers
# exclude each other if they want different values of a bit, and a bit that an earlier router of the
# path has written is lost; in Python the largest set without such a pair, by branch and bound.
cat >"$work/forger.py" <<'PY'
import random, sys

m, k, trials = map(int, sys.argv[1:])
sizes = []
for trial in range(trials):
    draw = random.Random(trial).random
    def key():
        g = {int(draw() * m) for _ in range(k)}
        h = {int(draw() * m) for _ in range(k)} - g
        return {**{c: 0 for c in g}, **{c: 1 for c in h}}
    path, final, mask, free = [key() for _ in range(15)], {}, set(), []
    for router in path:
        final.update(router)
    for age in range(15):
        mask |= set(path[14 - age])
        for _ in range(4 - (age > 0) - (age < 14)):
            need = {c: v for c, v in key().items() if c not in mask}
            if all(final.get(c, v) == v for c, v in need.items()):
                free.append({c: v for c, v in need.items() if c not in final})
    clash = [sum(1 << j for j, y in enumerate(free) if any(y.get(c, v) != v for c, v in x.items()))
             for x in free]
    def largest(left):
        worst = max((i for i in range(len(free)) if left >> i & 1),
                    key=lambda i: bin(clash[i] & left).count("1"), default=None)
        if worst is None or clash[worst] & left == 0:
            return bin(left).count("1")
        rest = left & ~(1 << worst)
        return max(1 + largest(rest & ~clash[worst]), largest(rest))
    sizes.append(largest((1 << len(free)) - 1))
mean = sum(sizes) / trials
print(mean, sum((s - mean) ** 2 for s in sizes) / trials)
PY
"$tepal" app traceback --tree 4 --bits 512 --reset-hashes 5 --set-hashes 5 --attack forger --packets 200 --max-lookups 1k --tsv -q >forged
read -r most var < <(python3 "$work/forger.py" 512 5 100)
got=$(cell generalized forger false_branches forged)
slack=$(awk -v v="$var" 'BEGIN { print 6.5 * sqrt(v * (1 / 200 + 1 / 100)) }')
is "a forger: 85 % of what can be had ($got of $most), and no more" \
    "$(awk -v g="$got" -v m="$most" -v s="$slack" 'BEGIN { print (g > .85 * m - s), (g < m + s + .2) }')" '1 1'
is 'a forger: the path is still found' "$(cell generalized forger full forged)" 1.000000
is 'a forger and a Bloom filter' "$(cell bloom forger false_branches forged)" 32.000000

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
is 'a ring: nothing is found by mistake' "$(cell generalized all-ones strays) $(cell generalized all-ones full)" '0.000000 1.000000'
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
    '3.0000 1.000000 1.000000'
"$tepal" app traceback --routes routes.tsv --bits 1024 --packets 40 --attack all-ones --max-hops 4 --tsv -q >out
is 'routes: one more hop' "$(cell bloom all-ones strays)" 2.000000
like 'a table' "$("$tepal" app traceback --tree 4 --packets 5 -q | sed -n 3p)" '^bloom +all-ones +100\.00 % +100\.00 % +100\.00 % +32\.000 +32\.000 +32\.000 +9986\.000$'

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
