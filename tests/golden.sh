#!/bin/sh
# golden.sh: the golden files through the second reader (read_filter.py), which shares no code with
# the library. Usage: golden.sh [TEPAL]. Every member is found; the payload rebuilt from the members
# is the file's, bit for bit; the answers on 1000 strangers are those that the library gave
# (golden/strangers.txt, which format_unit checks against the library). With the path of the tepal
# command, its answers are compared too. A file that is damaged is refused.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tepal=${1:-}
python=${PYTHON:-/usr/bin/python3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PYTHONDONTWRITEBYTECODE=1

fail()
{
    echo "golden.sh: $*" >&2
    exit 1
}

reader()
{
    "$python" "$here/read_filter.py" "$@"
}

seq -f 'stranger-%.0f' 0 999 >"$scratch/strangers"
printf '000102030405060708090a0b0c0d0e0f' >"$scratch/key"
files=0
while read -r name expected; do
    file=$here/golden/$name.tepal
    files=$((files + 1))
    keyed=
    case $name in
    keyed*) keyed="--key $(cat "$scratch/key")" ;;
    esac
    # shellcheck disable=SC2086 # $keyed is two words or none
    {
        members=$(reader "$file" | sed -n 's/.*"keys_added": \([0-9]*\).*/\1/p')
        seq -f 'golden-%.0f' 0 $((members - 1)) >"$scratch/members"
        reader "$file" $keyed --query-lines <"$scratch/members" >"$scratch/found"
        [ "$(grep -c '^1' "$scratch/found")" = "$members" ] || fail "$name: a member is missing"
        reader "$file" $keyed --rebuild-lines <"$scratch/members" >/dev/null ||
            fail "$name: rebuilt from its members, the payload differs"
        answers=$(reader "$file" $keyed --query-lines <"$scratch/strangers" | cut -c1 | tr -d '\n')
        [ "$answers" = "$expected" ] || fail "$name: other answers on strangers"
    }
    if [ -n "$tepal" ]; then
        code=0
        # shellcheck disable=SC2086
        "$tepal" query --tsv ${keyed:+--key-file "$scratch/key"} "$file" "$scratch/strangers" \
            >"$scratch/ours" || code=$?
        [ $code -le 1 ] || fail "$name: the command failed on it"
        [ "$(cut -f2 "$scratch/ours" | tr -d '\n')" = "$expected" ] ||
            fail "$name: the command answers otherwise"
    fi
    # One bit of the payload.
    "$python" - "$file" "$scratch/damaged" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[256] ^= 1
open(sys.argv[2], "wb").write(data)
END
    if reader "$scratch/damaged" >/dev/null 2>&1; then
        fail "$name: damaged, and still accepted"
    fi
done <"$here/golden/strangers.txt"
# A retouched filter: of its 100 members it gave up 10.
files=$((files + 1))
seq -f 'golden-%.0f' 0 99 | reader "$here/golden/retouched.tepal" --query-lines >"$scratch/found"
[ "$(grep -c '^1' "$scratch/found")" = 90 ] || fail "retouched: other members than it says"
# Recycling filters: replayed from their messages, bits and counts are the same.
for name in recycling recycling-misses recycling-average dedup-0.1.0; do
    files=$((files + 1))
    seq -f 'golden-%.0f' 0 249 | reader "$here/golden/$name.tepal" --rebuild-lines >/dev/null ||
        fail "$name: replayed from its messages, it differs"
    [ -z "$tepal" ] && continue
    seq -f 'golden-%.0f' 0 249 | cat - "$scratch/strangers" >"$scratch/asked"
    reader "$here/golden/$name.tepal" --query-lines <"$scratch/asked" | cut -c1 >"$scratch/theirs"
    "$tepal" query --tsv "$here/golden/$name.tepal" "$scratch/asked" | cut -f2 >"$scratch/ours"
    cmp -s "$scratch/ours" "$scratch/theirs" || fail "$name: the command answers otherwise"
done

# Generalized filters: rebuilt, first bits and all; the command answers as the second reader does.
for name in generalized generalized-blocked generalized-two-rounds; do
    files=$((files + 1))
    file=$here/golden/$name.tepal
    seq -f 'golden-%.0f' 0 99 >"$scratch/members"
    reader "$file" --rebuild-lines <"$scratch/members" >/dev/null ||
        fail "$name: rebuilt from its members, the payload differs"
    cat "$scratch/members" "$scratch/strangers" >"$scratch/both"
    reader "$file" --query-lines <"$scratch/both" >"$scratch/found"
    [ "$(grep -c '^1.golden-99$' "$scratch/found")" = 1 ] || fail "$name: its last member is missing"
    if [ -n "$tepal" ]; then
        "$tepal" query --tsv "$file" "$scratch/both" | awk -F'\t' '{ print $2 "\t" $1 }' >"$scratch/ours"
        cmp -s "$scratch/ours" "$scratch/found" || fail "$name: the command answers otherwise"
    fi
done

# Counting filters: counters, bits and choices, made again from the members.
for name in counting counting-choices counting-lines counting-bits counting-wide counting-long \
    counting-long-wide; do
    files=$((files + 1))
    file=$here/golden/$name.tepal
    seq -f 'golden-%.0f' 0 299 >"$scratch/members"
    reader "$file" --query-lines <"$scratch/members" >"$scratch/found"
    [ "$(grep -c '^1' "$scratch/found")" = 300 ] || fail "$name: a member is missing"
    reader "$file" --rebuild-lines <"$scratch/members" >/dev/null ||
        fail "$name: rebuilt from its members, the payload differs"
    if [ -n "$tepal" ]; then
        reader "$file" --query-lines <"$scratch/strangers" | cut -f1 >"$scratch/theirs"
        "$tepal" query --tsv "$file" "$scratch/strangers" | cut -f2 >"$scratch/ours"
        cmp -s "$scratch/theirs" "$scratch/ours" || fail "$name: the command answers otherwise"
    fi
done
# Filters that learned: their counters are those of the members, and the 20 keys that they avoid
# (in golden/learned.txt, beside a key that they still find) are absent; the members lost are at
# most as many as the header says.
for name in counting-learned retouched-learned; do
    files=$((files + 1))
    file=$here/golden/$name.tepal
    seq -f 'golden-%.0f' 0 299 >"$scratch/members"
    if [ $name = counting-learned ]; then
        reader "$file" --rebuild-lines <"$scratch/members" >/dev/null ||
            fail "$name: rebuilt from its members, the counters differ"
    fi
    lost=$(reader "$file" --query-lines <"$scratch/members" | grep -c '^0')
    [ "$lost" -gt 0 ] && [ "$lost" -le 40 ] || fail "$name: $lost members are lost"
    sed -n "s/^$name avoided //p" "$here/golden/learned.txt" >"$scratch/avoided"
    [ "$(wc -l <"$scratch/avoided")" = 20 ] || fail "$name: not 20 keys to avoid"
    [ "$(reader "$file" --query-lines <"$scratch/avoided" | grep -c '^0')" = 20 ] ||
        fail "$name: a key that is avoided is found"
    sed -n "s/^$name found //p" "$here/golden/learned.txt" >"$scratch/refused"
    [ "$(reader "$file" --query-lines <"$scratch/refused" | cut -f1)" = 1 ] ||
        fail "$name: a key that is found is absent"
    if [ -n "$tepal" ]; then
        reader "$file" --query-lines <"$scratch/strangers" | cut -f1 >"$scratch/theirs"
        "$tepal" query --tsv "$file" "$scratch/strangers" | cut -f2 >"$scratch/ours"
        cmp -s "$scratch/theirs" "$scratch/ours" || fail "$name: the command answers otherwise"
    fi
done
# A fingerprint filter: of its 100 members 10 were removed again.
files=$((files + 1))
seq -f 'golden-%.0f' 0 89 >"$scratch/held"
reader "$here/golden/fingerprint.tepal" --rebuild-lines <"$scratch/held" >/dev/null ||
    fail "fingerprint: its fingerprints are not those of its members"
reader "$here/golden/fingerprint.tepal" --query-lines <"$scratch/held" >"$scratch/found"
[ "$(grep -c '^1' "$scratch/found")" = 90 ] || fail "fingerprint: a member is missing"
seq -f 'golden-%.0f' 90 2000 >"$scratch/strangers-held"
reader "$here/golden/fingerprint.tepal" --query-lines <"$scratch/strangers-held" >"$scratch/found"
if [ -n "$tepal" ]; then
    "$tepal" query --tsv "$here/golden/fingerprint.tepal" "$scratch/strangers-held" |
        awk -F'\t' '{ print $2 "\t" $1 }' | cmp -s - "$scratch/found" ||
        fail "fingerprint: the command answers otherwise"
fi

# A growing filter: 1500 keys, and one of them so often that the exact table counts it.
files=$((files + 1))
seq -f 'golden-%.0f' 0 1499 >"$scratch/members"
yes golden-0 | head -12 >>"$scratch/members"
reader "$here/golden/growing.tepal" --rebuild-lines <"$scratch/members" >/dev/null ||
    fail "growing: grown again from its members, it differs"
reader "$here/golden/growing.tepal" --query-lines <"$scratch/members" >"$scratch/found"
[ "$(grep -c '^1' "$scratch/found")" = 1512 ] || fail "growing: a member is missing"
reader "$here/golden/growing.tepal" --query-lines <"$scratch/strangers" >"$scratch/found"
if [ -n "$tepal" ]; then
    "$tepal" query --tsv "$here/golden/growing.tepal" "$scratch/strangers" |
        awk -F'\t' '{ print $2 "\t" $1 }' | cmp -s - "$scratch/found" ||
        fail "growing: the command answers otherwise"
fi

# A chain of four parts.
files=$((files + 1))
seq -f 'golden-%.0f' 0 309 >"$scratch/members"
reader "$here/golden/chain.tepal" --rebuild-lines <"$scratch/members" >/dev/null ||
    fail "chain: built again from its members, it differs"
reader "$here/golden/chain.tepal" --query-lines <"$scratch/members" >"$scratch/found"
[ "$(grep -c '^1' "$scratch/found")" = 310 ] || fail "chain: a member is missing"
reader "$here/golden/chain.tepal" --query-lines <"$scratch/strangers" >"$scratch/found"
if [ -n "$tepal" ]; then
    "$tepal" query --tsv "$here/golden/chain.tepal" "$scratch/strangers" |
        awk -F'\t' '{ print $2 "\t" $1 }' | cmp -s - "$scratch/found" ||
        fail "chain: the command answers otherwise"
fi

# Filters of 100 members that know 1000 strangers: all members are found, and no stranger.
for name in yesno cascade; do
    files=$((files + 1))
    seq -f 'golden-%.0f' 0 99 | reader "$here/golden/$name.tepal" --query-lines >"$scratch/found"
    [ "$(grep -c '^1' "$scratch/found")" = 100 ] || fail "$name: members are missing"
    seq -f 'stranger-%.0f' 0 999 | reader "$here/golden/$name.tepal" --query-lines >"$scratch/found"
    [ "$(grep -c '^0' "$scratch/found")" = 1000 ] || fail "$name: known strangers are found"
done
# Filters of the integers 0 .. 99.
for name in integers integers-keyed integers-keyed13; do
    files=$((files + 1))
    reader "$here/golden/$name.tepal" --key "$(cat "$scratch/key")" --rebuild-integers 100 >/dev/null ||
        fail "$name: rebuilt from its integers, the payload differs"
done
# Keyed filters of several parts: each part has a digest of its own of a keyed digest.
if [ -n "$tepal" ]; then
    seq -f 'golden-%.0f' 0 99 >"$scratch/members"
    cat "$scratch/members" "$scratch/strangers" >"$scratch/both"
    tepal=$(realpath "$tepal")
    for options in '--kind yesno --avoid strangers --bits 8192' '--kind cascade --avoid strangers' \
        '--kind chain --capacity 30'; do
        # shellcheck disable=SC2086
        (cd "$scratch" && "$tepal" build members -o parts -f $options --key-file key --seed 3 -q &&
            "$tepal" query --tsv --key-file key parts both >ours) || fail "$options: keyed"
        reader "$scratch/parts" --key "$(cat "$scratch/key")" --query-lines <"$scratch/both" |
            awk -F'\t' '{ print $2 "\t" $1 }' | cmp -s - "$scratch/ours" ||
            fail "$options: keyed, the command answers otherwise"
    done
fi
[ "$files" = "$(find "$here/golden" -name "*.tepal" | wc -l)" ] || fail "golden/ has files that are not tested"
echo "golden.sh: $files files agree"
echo "$files passed, 0 failed"
