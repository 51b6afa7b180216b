#!/usr/bin/env bash
# receive: filters from strangers: honest ones, every reason to refuse one, what is written and what
# never is. Forged files are made with Python, checksums and all.
source "$(dirname "$0")/lib.sh"

# A filter with other fields or bits, and its header's and blocks' checksums made right again.
cat >"$work/forge.py" <<'PY'
import struct, sys
import xxhash

source, target, *changes = sys.argv[1:]
data = bytearray(open(source, "rb").read())
payload = struct.unpack_from("<Q", data, 200)[0]
for change in changes:
    what, value = change.split("=")
    if what == "keys":
        struct.pack_into("<Q", data, 64, int(value))
    elif what == "bits":  # as if it were that large
        size = (int(value) + 63) // 64 * 8
        struct.pack_into("<Q", data, 32, int(value))
        struct.pack_into("<Q", data, 200, size)
        struct.pack_into("<Q", data, 208, 256 + size + 8 * ((size + 65535) // 65536))
    elif what == "fill":  # every byte of the cells
        data[256:256 + payload] = bytes([int(value, 16)]) * payload
    elif what == "line":  # a line of 512 bits, all ones
        start = 256 + 64 * int(value)
        data[start:start + 64] = b"\xff" * 64
for i in range(0, payload, 65536):
    block = bytes(data[256 + i:256 + min(payload, i + 65536)])
    index = i // 65536
    struct.pack_into("<Q", data, 256 + payload + 8 * index,
                     xxhash.xxh3_64_intdigest(block, seed=index))
struct.pack_into("<Q", data, 248, xxhash.xxh3_64_intdigest(bytes(data[:248])))
open(target, "wb").write(data)
PY
forge() {
    /usr/bin/python3 "$work/forge.py" "$@"
}

seq 4096 >keys
"$tepal" build keys -o ours.tepal --bits 40960 --hashes 7 --seed 1 -q
seq 40960 | "$tepal" build -o blocked.tepal --bits 409600 --hashes 6 --layout blocked --seed 1 -q
seq 5000 9095 | "$tepal" build -o peer.tepal --bits 40960 --hashes 7 --seed 1 -q
printf '0123456789abcdef' >secret
printf 'fedcba9876543210' >other-secret
"$tepal" build keys -o keyed.tepal --bits 40960 --hashes 7 --seed 1 --key-file secret -q

# ---- honest ones
run "$tepal" receive peer.tepal --like ours.tepal
is 'an honest filter: exit status' "$code" 0
like 'an honest filter' "$(cat "$work/out")" \
    '^peer.tepal: accepted: finds 0\.[0-9]+ % of all keys; 50\.[0-9]+ % of its bits are ones; 4096 keys are expected to set 50\.3[0-9]* % \+- 0\.14 %$'
run "$tepal" receive - --like ours.tepal <peer.tepal
like 'from standard input' "$code $(cat "$work/out")" '^0 standard input: accepted'
run "$tepal" receive <peer.tepal
like 'no operand is standard input' "$code $(cat "$work/out")" '^0 standard input: accepted'
expect 'quiet' 0 '' '' "$tepal" receive -q peer.tepal
run "$tepal" receive --json peer.tepal
is 'json: accepted' "$(field "$work/out" accepted) $(field "$work/out" verdict) $(field "$work/out" why)" \
    'True accepted None'
is 'json: keys and bytes' "$(field "$work/out" keys) $(field "$work/out" bytes)" "4096 $(stat -c %s peer.tepal)"
is 'json: no bound for a Bloom filter' "$(field "$work/out" fp_bound)" 1.0
is 'json: all fields' "$(python3 -c 'import json, sys; print(*json.load(open(sys.argv[1])))' "$work/out")" \
    'file accepted verdict bytes keys ones fill fill_expected fill_deviation fill_probability fullest_line fullest_probability fp_now fp_bound fn_told why'

# ---- every reason: refuse NAME REASON FILE OPTION...: exit status 1, and nothing written
refuse() {
    local name=$1 reason=$2 file=$3
    shift 3
    run "$tepal" receive "$file" "$@" -o refused.tepal
    is "$name: exit status" "$code" 1
    like "$name" "$(cat "$work/out")" "^$file: refused: $reason"
    absent "$name: nothing is written" refused.tepal
    run "$tepal" receive "$file" "$@" --json
    is "$name: json" "$code $(field "$work/out" accepted)" '1 False'
}
forge ours.tepal ones.tepal fill=ff
refuse 'all ones' 'it finds 100 % of all keys \(100 % of its bits are ones\); the limit is 10 %$' ones.tepal
refuse 'all ones, any rate' '100 % of its bits are ones, but 4096 keys are expected to set' ones.tepal --max-fp 1
forge ones.tepal claims.tepal keys=100000000
refuse 'a claim that explains all ones' 'it finds 100 %' claims.tepal
refuse 'a claim over the limit' 'it claims 100000000 keys; the limit is 5000$' claims.tepal --max-keys 5000
refuse 'just above the limit' 'it finds 0\.[0-9]* % of all keys .*; the limit is 0.5 %$' peer.tepal --max-fp 0.5%
forge peer.tepal few.tepal keys=3000
refuse 'few keys claimed' '50\.[0-9]* % of its bits are ones, but 3000 keys are expected to set 40.1' few.tepal
forge peer.tepal many.tepal keys=6000
refuse 'many keys claimed' '50\.[0-9]* % of its bits are ones, but 6000 keys are expected to set 64.1' many.tepal
like 'many keys claimed: the remedy is named' "$("$tepal" receive many.tepal)" \
    'the limit is 1e-06; --repeated accepts lists in which keys came more than once$'
like 'and in JSON' "$("$tepal" receive many.tepal --json)" '--repeated accepts lists'
run "$tepal" receive few.tepal
[[ $(cat "$work/out") != *--repeated* ]] && pass || fail 'too full: repeats are no remedy'
run "$tepal" receive many.tepal --repeated
is 'many keys claimed, repeats allowed' "$code" 0
run "$tepal" receive few.tepal --keys 4096
is 'few keys claimed, but the right number is known' "$code" 0
run "$tepal" receive few.tepal --any-fill
is 'few keys claimed, any fill' "$code" 0
forge blocked.tepal hot.tepal line=7
refuse 'a hot line' 'its fullest line has 512 of 512 bits set; among the lines of 40960 keys, the probability of this is [0-9e.-]+; the limit is 1e-06$' hot.tepal --repeated
refuse 'another kind' 'the kind is bloom, but generalized was agreed$' peer.tepal --kind generalized
refuse 'another layout' 'the layout is blocked, but flat was agreed$' blocked.tepal --like ours.tepal
refuse 'another layout, by name' 'the layout is flat, but paired was agreed$' peer.tepal --layout paired
refuse 'other positions' 'the rule for positions is colliding, but distinct was agreed$' peer.tepal --positions distinct
refuse 'another size' 'bits: 40960, but 1000 was agreed$' peer.tepal --bits 1000
refuse 'another number of hashes' 'hashes: 7, but 6 was agreed$' peer.tepal --hashes 6
refuse 'another seed' 'seed: 1, but 2 was agreed$' peer.tepal --seed 2
refuse 'a term over --like' 'seed: 1, but 3 was agreed$' peer.tepal --like ours.tepal --seed 3
refuse 'keyed, but like ours' 'the hash is siphash-128, but xxh3-128 was agreed$' keyed.tepal --like ours.tepal
refuse 'keyed' 'the hash is siphash-128, but xxh3-128 was agreed$' keyed.tepal --unkeyed
refuse 'not keyed' 'it was built without a secret key$' peer.tepal --key-file secret
refuse 'keyed otherwise' 'it was built with another secret key$' keyed.tepal --key-file other-secret
run "$tepal" receive keyed.tepal --key-file secret
is 'keyed as agreed' "$code" 0
run "$tepal" receive keyed.tepal --like keyed.tepal
is 'keyed like ours' "$code" 0
head -c 3000 peer.tepal >cut.tepal
refuse 'cut short' 'the file is shorter than its header says \(byte 3000\)$' cut.tepal
head -c 100 peer.tepal >stub.tepal
refuse 'cut within the header' 'the file ends within the header \(byte 100\)$' stub.tepal
printf 'x' | cat peer.tepal - >longer.tepal
refuse 'too long' 'the file is longer than its header says' longer.tepal
{ head -c 300 peer.tepal; printf '\1\2\3\4'; tail -c +305 peer.tepal; } >damaged.tepal
refuse 'damaged' "a block's checksum does not match \(byte 256\)$" damaged.tepal
refuse 'not a filter' 'the first bytes are not those of a tepal filter' keys
: >empty.tepal
refuse 'nothing at all' 'the file is empty' empty.tepal
refuse 'too large' "according to its header it has $(stat -c %s peer.tepal) bytes; the limit is 5000$" peer.tepal --max-bytes 5000
forge peer.tepal huge.tepal bits=100000000000000
refuse 'a huge header' 'according to its header it has 1250[0-9]* bytes; the limit is 1073741824$' huge.tepal
if { (ulimit -v 400000 && "$tepal" --version); } >/dev/null 2>&1; then # (sanitizers need more)
    (ulimit -v 400000 && "$tepal" receive --max-bytes 100P <huge.tepal) >"$work/out" 2>"$work/err"
    like 'a huge header, no limit, little memory' "$? $(cat "$work/out")" \
        '^1 standard input: refused: the file is shorter than its header says'
fi

# ---- generalized: bounded by construction
"$tepal" build keys -o g.tepal --kind generalized --bits 409600 --reset-hashes 2 --set-hashes 2 \
    --seed 1 -q
run "$tepal" receive g.tepal --kind generalized --reset-hashes 2 --set-hashes 2 --tolerance 0
like 'generalized' "$code $(cat "$work/out")" \
    '^0 g.tepal: accepted: finds [0-9.e-]+ .*of all keys, at most 6\.25[0-9]* % with any bits; '
forge g.tepal g-ones.tepal fill=ff
refuse 'generalized, all ones: not honest' '100 % of its bits are ones, but 4096 keys are expected to set' g-ones.tepal
run "$tepal" receive g-ones.tepal --any-fill
like 'generalized, all ones: harmless' "$code $(cat "$work/out")" '^0 .*at most 6\.25[0-9]* % with any bits'
forge g.tepal g-worst.tepal fill=55
run "$tepal" receive g-worst.tepal --any-fill --json
is 'generalized, the worst: within the bound' \
    "$(python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(r["accepted"], 0.062 < r["fp_now"] <= r["fp_bound"] < 0.063)' "$work/out")" \
    'True True'
refuse 'generalized, other resets' 'hashes: 4, but 5 was agreed' g.tepal --reset-hashes 2 --set-hashes 3
refuse 'generalized, resets for sets' 'hash functions that reset: 2, but 1 was agreed' g.tepal --reset-hashes 1 --set-hashes 3
refuse 'generalized, another tolerance' 'tolerance: 0, but 1 was agreed' g.tepal --tolerance 1
refuse 'generalized, from a Bloom filter' 'the kind is bloom, but generalized was agreed' peer.tepal --tolerance 0

# ---- what is written
run "$tepal" receive peer.tepal --like ours.tepal -o got.tepal
is 'accepted and written: exit status' "$code" 0
same 'accepted and written' peer.tepal got.tepal
cp ours.tepal kept.tepal
run "$tepal" receive ones.tepal -o kept.tepal
same 'refused: what was there stays' ours.tepal kept.tepal
"$tepal" receive peer.tepal -o - >piped.tepal 2>"$work/err"
same 'to standard output' peer.tepal piped.tepal
like 'to standard output: the words go elsewhere' "$(cat "$work/err")" '^peer.tepal: accepted'
mkdir inbox accepted
cp peer.tepal inbox/a.tepal
cp ones.tepal inbox/b.tepal
cp ours.tepal inbox/c.tepal
run "$tepal" receive inbox/a.tepal inbox/b.tepal inbox/c.tepal --like ours.tepal -o accepted
is 'several: exit status' "$code" 1
is 'several: verdicts' "$(cut -d: -f1,2 "$work/out" | xargs)" \
    'inbox/a.tepal: accepted inbox/b.tepal: refused inbox/c.tepal: accepted'
is 'several: what is taken' "$(cd accepted && ls | xargs)" 'a.tepal c.tepal'
same 'several: as it came' accepted/a.tepal peer.tepal
run "$tepal" receive inbox/a.tepal none inbox/b.tepal
is 'trouble outweighs a refusal' "$code" 2
is 'trouble with one does not stop the others' "$(cut -d: -f1,2 "$work/out" | xargs)" \
    'inbox/a.tepal: accepted inbox/b.tepal: refused'

# ---- errors
bad() {
    local name=$1 message=$2
    shift 2
    refused "$name" "$message; nothing was written" "$tepal" receive "$@"
}
bad 'no such file' 'none: No such file or directory' none
bad 'a directory' 'inbox: Is a directory' inbox
bad 'no such model' 'none: No such file or directory' peer.tepal --like none
bad 'several into a file' 'got.tepal: several filters need a directory as the output' peer.tepal ours.tepal -o got.tepal
mkdir twin
cp peer.tepal twin
bad 'two of one name' 'twin/peer.tepal: another of the filters has the same name, for the directory accepted' \
    peer.tepal twin/peer.tepal -o accepted
bad 'no name' 'standard input: it has no file name to use in the directory accepted' -o accepted
bad 'over something else' 'keys: the file exists and is not a filter; use --force to overwrite it' peer.tepal -o keys
bad 'half a pair' 'receive: --reset-hashes and --set-hashes go together: give both' peer.tepal --set-hashes 2
bad 'resets of a Bloom filter' 'receive: --tolerance is not an option of the kind bloom' peer.tepal --kind bloom --tolerance 1
refused 'two contrary terms' 'receive: --key-file and --unkeyed cannot be combined: give one of them' \
    "$tepal" receive peer.tepal --key-file secret --unkeyed
refused 'a rate of nothing' 'receive: --max-fp 0: out of range: a share must be above 0 and at most 1' \
    "$tepal" receive peer.tepal --max-fp 0
is 'no temporary files stay' "$(find . -name '.tepal-*' | wc -l | tr -d ' ')" 0

# Several, one of which cannot be written: the error does not deny those before it.
seq 50 >some.keys
mkdir arrived arrived/second
"$tepal" build some.keys -o first --fp 1% --seed 7 -q
cp first second
run "$tepal" receive first second -o arrived --any-fill
is 'one of several is denied its place' "$code $(cat "$work/err")" \
    '2 tepal: arrived/second: Is a directory; it was not written'
same 'and those before it were written' arrived/first first
mkdir others others/first
run "$tepal" receive first second -o others --any-fill
is 'the first is denied its place' "$code $(cat "$work/err")" \
    '2 tepal: others/first: Is a directory; it was not written'
same 'and those after it were written' others/second second

finish
