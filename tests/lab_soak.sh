#!/usr/bin/env bash
# lab_soak.sh TEPAL: every experiment of the lab, quick, on one core and on two: the same bytes.
set -u
tepal=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
for jobs in 1 2; do
    "$tepal" lab run --all --quick --seed 1 --jobs $jobs --out jobs$jobs >out$jobs || exit 1
done
sed -i 's/jobs[12]$//' out1 out2
if cmp out1 out2 && diff -r jobs1 jobs2; then
    echo '[  PASSED  ] 1 test(s).'
else
    echo '[  FAILED  ] 1 test(s).'
    exit 1
fi
