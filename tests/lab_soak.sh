#!/usr/bin/env bash
# lab_soak.sh TEPAL: every experiment of the lab, quick. On one core and on two: the same bytes. Each
# row is judged by what it prints; and each experiment notices a library that is broken on purpose.
set -u
tepal=$(realpath "$1")
rows=$(dirname "$(realpath "$0")")/lab_rows.awk
docs=$(dirname "$(realpath "$0")")/../docs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
trouble() { # trouble WHAT
    printf 'not ok: %s\n' "$1"
    failed=$((failed + 1))
}

for jobs in 1 2; do
    "$tepal" lab run --all --quick --seed 1 --jobs $jobs --out jobs$jobs >out$jobs || exit 1
done
sed -i 's/jobs[12]$//' out1 out2
cmp out1 out2 && diff -r jobs1 jobs2 || trouble 'one core or two: the same bytes'
if [ -z "${TEPAL_DATA:-}" ]; then
    [ "$(sed -n 's/^| all | \(.*\) |$/\1/p' "$docs/lab.md" | tr -d '|' | xargs)" = \
        "$(tail -1 out1 | sed 's/;.*//' | grep -oE '[0-9]+' | xargs)" ] ||
        trouble 'docs/lab.md counts the same verdicts'
fi

"$tepal" lab run --all --quick --seed 1 --sabotage --out red >/dev/null
[ $? -eq 1 ] || trouble 'sabotage: exit status 1'
for table in red/*-*.tsv; do
    cut -f7 "$table" | grep -q '^differs$' || trouble "sabotage of $(basename "$table" .tsv): no row is red"
done
[ "$(ls red/*-*.tsv | wc -l)" -eq "$("$tepal" lab list | grep -c '^  ')" ] || trouble 'sabotage: all experiments'
for folder in jobs1 red; do
    awk -f "$rows" $folder/*-*.tsv || trouble "$folder: rows are judged by what they print"
done

if [ $failed -eq 0 ]; then
    echo '[  PASSED  ] 1 test(s).'
else
    echo '[  FAILED  ] 1 test(s).'
    exit 1
fi
