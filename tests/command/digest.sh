#!/usr/bin/env bash
# app digest: proxies that advertise their caches, and one that lies; on a log that can be followed
# by hand, on a long one against a replay in Python, and on wrong logs. If TEPAL_DATA names a folder
# that has requests, they are replayed too.
source "$(dirname "$0")/lib.sh"

# ---- by hand: two proxies; what one has fetched the other finds with it
printf 'a x\nb x\nb y\na y\na x\nb z\na z\n' >hand
"$tepal" app digest hand --cache-size 10 --refresh 1 --bits 100k --attack none --tsv -q >out
is 'header' "$(head -1 out)" \
    $'kind\tattack\tbits\trequests\thits\tforeign\tfound\tmissed\tasked\twrong\tattracted\tdeceived\tattracted_share\tdeceived_share\tbound\trefused'
# a asks for x (nobody has it), y (b has it), x (a hit), z (b has it)
is 'by hand' "$(sed -n 2p out)" \
    $'bloom\tnone\t100000\t4\t1\t3\t2\t0\t0\t0\t2\t0\t0.666667\t0.000000\t1\t0'
is 'by hand, generalized' "$(sed -n 3p out | cut -f1-12)" \
    $'generalized\tnone\t100000\t4\t1\t3\t2\t0\t0\t0\t2\t0'
"$tepal" app digest hand --cache-size 10 --refresh 1 --bits 100k --attack all-ones --tsv -q >out
is 'all ones attract all' "$(sed -n 2p out | cut -f1-14)" \
    $'bloom\tall-ones\t100000\t4\t1\t3\t2\t0\t0\t0\t3\t1\t1.000000\t0.333333'
is 'all ones attract nothing' "$(sed -n 3p out | cut -f1,2,11,12)" $'generalized\tall-ones\t0\t0'
# a cache of one object: it is gone when it is asked for again
"$tepal" app digest hand --cache-size 1 --refresh 1 --bits 100k --attack none --tsv -q >out
is 'a small cache' "$(sed -n 2p out | cut -f4-8)" $'4\t0\t4\t2\t0'

# ---- a long one: 40000 requests to 4 proxies, popular objects and rare ones
python3 - >long.tsv <<'PY'
import random
random.seed(1)
print("#time\tclient\turl\tbytes")
for i in range(40000):
    key = int(3000 * random.random() ** 3) if random.random() < 0.7 else 3000 + i
    print(i, f"c{random.randrange(50)}", f"/page/{key}", random.randrange(1, 5000), sep="\t")
PY
"$tepal" app digest long.tsv --client-field client -P 4 --cache-size 400 --tsv -q >out
"$tepal" app digest long.tsv --client-field client -P 4 --cache-size 400 --json -q >out.json
row() { # row KIND ATTACK COLUMN
    awk -F'\t' -v k="$1" -v a="$2" -v c="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) n = i }
        $1 == k && $2 == a { print $n }' "${4:-out}"
}
is 'six rows' "$(cut -f1,2 out | tail -n +2 | xargs)" \
    'bloom none bloom all-ones bloom worst generalized none generalized all-ones generalized worst'
is 'a Bloom filter of ones attracts everything' "$(row bloom all-ones attracted_share)" 1.000000
is 'and nothing is worse' "$(row bloom worst attracted_share)" 1.000000
foreign=$(row bloom none foreign)
for kind in bloom generalized; do
    for attack in none all-ones worst; do
        is "$kind, $attack: the requests are the same" "$(row $kind $attack foreign)" "$foreign"
        is "$kind, $attack: hits and foreign requests are all" \
            "$(($(row $kind $attack hits) + $(row $kind $attack foreign)))" "$(row $kind $attack requests)"
    done
done
is 'generalized: ones attract nothing' "$(row generalized all-ones attracted)" 0
is 'generalized: bounded' "$(row generalized worst bound | cut -c1-6)" 0.0625
# Found and missed together are what siblings have: the same for every kind of filter and attack.
is 'found and missed' "$(for k in bloom generalized; do for a in none all-ones worst; do
    echo $(($(row $k $a found) + $(row $k $a missed))); done; done | sort -u | wc -l | tr -d ' ')" 1
is 'json has the same numbers' "$(python3 -c 'import json, sys
for line in open("out.json"):
    r = json.loads(line)
    print(r["kind"], r["attack"], r["foreign"], r["found"], r["missed"], r["attracted"], sep="\t")')" \
    "$(tail -n +2 out | cut -f1,2,6,7,8,11)"

# The caches, replayed in Python: hits and what the siblings hold do not depend on any filter.
# (Who goes where is by hash; with a proxy column it is by name.)
cut -f2,3 long.tsv | sed 1d | sed 's/^c[0-9]*\([0-9]\)\t/\1\t/' | awk -F'\t' '{ print $1 % 4 "\t" $2 }' >named.tsv
"$tepal" app digest named.tsv --cache-size 400 --attack none --tsv -q >out.named
python3 - >want <<'PY'
from collections import OrderedDict
caches, order = {}, []
lines = [line.rstrip("\n").split("\t") for line in open("named.tsv")]
for who, _ in lines:
    if who not in order:
        order.append(who)
caches = {who: OrderedDict() for who in order}
requests = hits = foreign = there = 0
for who, key in lines:
    counts = who != order[-1]
    cache = caches[who]
    requests += counts
    if key in cache:
        cache.move_to_end(key)
        hits += counts
        continue
    if counts:
        foreign += 1
        there += any(key in caches[w] for w in order if w != who)
    cache[key] = True
    if len(cache) > 400:
        cache.popitem(last=False)
print(requests, hits, foreign, there)
PY
is 'caches as in Python' "$(row bloom none requests out.named) $(row bloom none hits out.named) $(row bloom none foreign out.named) $(($(row bloom none found out.named) + $(row bloom none missed out.named)))" \
    "$(cat want)"

# ---- the bound: k0 = k1 = 2, worst bits, drawn anew for every advertisement. A request passes with
# the chance 6.25 % (1 + k0 (k0 + k1) / m); requests for different objects do so independently, those
# for one object under the same bits do not, which raises the standard deviation of a round's share
# from sqrt(.0627 .9373 / 21973) = .00164 to .00171 (60 seeds). Eight rounds: .0006; 6 of these.
"$tepal" app digest long.tsv --client-field client -P 4 --cache-size 400 --rounds 8 --attack worst --tsv -q >out
worst=$(row generalized worst attracted_share)
is "generalized: the worst attracts 6.3 % ($worst)" "$(awk -v w="$worst" 'BEGIN { print (w > 0.0590 && w < 0.0665) }')" 1
is 'Bloom: all' "$(row bloom worst attracted_share)" 1.000000

# ---- looked at first
"$tepal" app digest long.tsv --client-field client -P 4 --cache-size 400 --judge --tsv -q >out
is 'judged: a Bloom filter of ones is not taken' "$(row bloom all-ones attracted)" 0
is 'judged: nor are other forged ones' "$(row generalized all-ones attracted) $(row generalized worst attracted)" '0 0'
is 'judged: honest ones are' "$(row bloom none refused) $(row generalized none refused)" '0 0'

# ---- forms of logs
awk -F'\t' 'NR > 1 { print $2 " - - [01/Aug/1995:00:00:01 -0400] \"GET " $3 " HTTP/1.0\" 200 " $4 }' long.tsv >common.log
"$tepal" app digest common.log --field 7 --client-field 1 --size-field 10 -P 4 --cache-bytes 1M --bits 25600 --attack none --tsv -q >a
"$tepal" app digest long.tsv --field url --client-field 2 --size-field bytes -P 4 --cache-bytes 1M --bits 25600 --attack none --tsv -q >b
same 'the common log format' a b
gzip -k long.tsv
"$tepal" app digest - --client-field client -P 4 --cache-size 400 --attack none --tsv -q <long.tsv.gz >a
"$tepal" app digest long.tsv --client-field client -P 4 --cache-size 400 --attack none --tsv -q >b
same 'compressed, from standard input' a b
cut -f3 long.tsv | sed 1d >keys
"$tepal" app digest keys -P 3 --attack none --tsv >a 2>err
is 'in turns' "$(head -1 err)" "requests   40000 for $(sort -u keys | wc -l | tr -d ' ') objects, to 3 proxies; the last one is malicious"
is 'in turns: two of three count' "$(row bloom none requests a)" 26667
like 'a table' "$("$tepal" app digest hand -q | head -2 | tail -1)" '^bloom +none +3 +0\.00 % '

# ---- wrong inputs
bad() {
    local name=$1 message=$2
    shift 2
    refused "$name" "$message" "$tepal" app digest "$@"
}
: >empty
bad 'nothing' 'app digest: no requests in the input' empty
bad 'no such file' 'none: No such file or directory' none
printf 'a b c\n' >three
bad 'fields without names' 'three: line 1: 3 fields without names: give --field, the field with the requested object' three
bad 'no such name' "long.tsv: line 1: no field is called 'uri'" long.tsv --field uri
bad 'no names at all' "three: line 1: no field is called 'url': the first line names none" three --field url
printf 'a b\nc\n' >short
bad 'a field too few' 'short: line 2: 1 field, but 2 are needed' short
printf 'a\tb\nc\t\n' >blank
bad 'an empty key' 'blank: line 2: the requested object is empty' blank
printf 'a\0b\n' >nul
bad 'a NUL' 'nul: line 1: a NUL byte: this is not a log' nul
printf 'a b x\n' >sizes
bad 'a size' "sizes: line 1: the size is not a number: 'x'" sizes --field 2 --size-field 3
printf 'a b\na c\n' >alone
bad 'one proxy' 'app digest: 1 proxies: 2 to 4096 are needed; give --proxies P' alone
bad 'bytes without sizes' 'app digest: --cache-bytes needs --size-field, the sizes of the objects' hand --cache-bytes 1M
bad 'bytes without bits' 'app digest: --cache-bytes needs --bits, the size of the filters' hand --cache-bytes 1M --size-field 1
bad 'no hashes' 'app digest: the number of hash functions must be at least 1' hand --reset-hashes 0 --set-hashes 0
bad 'too tolerant' 'app digest: the tolerance must be below the number of hash functions: otherwise every key is found' hand --tolerance 4
bad 'two fields' 'app digest: --proxy-field and --client-field cannot be combined: give one of them' hand --proxy-field 1 --client-field 1
bad 'an attack' "app digest: --attack all-one: not one of none, all-ones, worst; did you mean all-ones?" hand --attack all-one

# ---- measured requests
log=${TEPAL_DATA:-}/requests/nasa-19950801.tsv.gz
if [[ -n ${TEPAL_DATA:-} && -r $log ]]; then
    "$tepal" app digest "$log" --cache-size 300 --rounds 20 --tsv -q >out
    is 'measured requests: Bloom' "$(row bloom all-ones attracted_share)" 1.000000
    worst=$(row generalized worst attracted_share)
    is "measured requests: generalized ($worst)" "$(awk -v w="$worst" 'BEGIN { print (w > 0.0590 && w < 0.0665) }')" 1
fi

finish
