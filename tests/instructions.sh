#!/usr/bin/env bash
# The instructions that the hot calls take, loop included: time is noisy, this is not. Bounds have
# a tenth to spare over gcc 12's count, for other compilers. Argument: the program that makes calls.
set -u
program=$1
if ! command -v valgrind >/dev/null || ! command -v callgrind_annotate >/dev/null; then
    echo "valgrind is not here: instructions were not counted"
    exit 0
fi
if ! grep -qw avx2 /proc/cpuinfo; then
    echo "this machine has no AVX2: the bounds are for machines that have"
    exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! valgrind --tool=callgrind --callgrind-out-file="$dir/out" "$program" >"$dir/log" 2>&1; then
    cat "$dir/log"
    exit 1
fi
callgrind_annotate --inclusive=yes --threshold=100 "$dir/out" >"$dir/calls"
failed=0
while read -r call most; do
    count=$(sed -nE "s/^ *([0-9,]+) .*[:/]loop_$call( \[.*)?$/\1/p" "$dir/calls" | head -n 1 | tr -d ,)
    if [ -z "$count" ]; then
        echo "not ok: $call was not counted"
        failed=1
        continue
    fi
    each=$((count / 1000))
    echo "$call: $each instructions, at most $most"
    [ "$each" -le "$most" ] || { echo "not ok: $call takes more than it should"; failed=1; }
done <<'BOUNDS'
flat_query 52
flat_add 122
blocked_query 57
blocked_add 61
blocked_inline 50
blocked_atomic 46
paired_query 70
paired_add 102
fingerprint_query 80
fingerprint_inline 70
BOUNDS
exit $failed
