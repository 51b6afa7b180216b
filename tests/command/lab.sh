#!/usr/bin/env bash
# lab: lists, runs and reports; the same bytes on one core or two; verdicts that can turn red.
source "$(dirname "$0")/lib.sh"
data=${TEPAL_DATA:-/nonexistent}
unset TEPAL_DATA # measured data changes rows and pictures: what is said about it has its own lines

"$tepal" lab list >list
is 'list: every paper' "$(sed -n 's/^\([0-9]*\): .*/\1/p' list | xargs)" "$(ls -d "$here"/../../lab/paper[0-9][0-9][0-9] |
    sed 's/.*paper//' | xargs)"
is 'list: an experiment a line, with its times' \
    "$(grep -c '^  [0-9][0-9][0-9]-.* s; --full [0-9]* s)$' list)" "$(grep -c '^  ' list)"
is 'list: as many as in the table of docs/lab.md' \
    "$(sed -nE 's/^\| \[([0-9]{3})\].* \| ([0-9]+)( \| [0-9]+){5} \|$/\2 \1/p' "$here/../../docs/lab.md")" \
    "$(grep -oE '^  [0-9]{3}-' list | tr -d ' -' | uniq -c | sed 's/^ *//')"

# ---- one table
run "$tepal" lab run 000-table-4 --out one --jobs 1
is 'run: it agrees' "$code $(cat "$work/err")" '0 '
is 'run: the last line' "$(tail -1 "$work/out")" \
    '1 experiment: 63 agrees, 0 differs, 1 erratum, 8 paper-only, 0 ours-only; tables and pictures are in one'
is 'run: the columns' "$(head -1 one/000-table-4.tsv)" \
    $'experiment\titem\tpublished\tours\tlow\thigh\tverdict\texpected\tsource\twidth'
is 'run: the rows' "$(awk -f "$here/../lab_rows.awk" one/000-table-4.tsv)" '72 rows, 0 wrong'
run "$tepal" lab run 000-table-4 000-table-1 --out two --jobs 2
same 'the same seed gives the same table on two cores' one/000-table-4.tsv two/000-table-4.tsv
same 'and the same picture' one/000-table-4.svg two/000-table-4.svg
run "$tepal" lab run 000-table-4 --out other --seed 2
if cmp -s one/000-table-4.tsv other/000-table-4.tsv; then
    fail 'another seed gives another table' 'it is the same'
else
    pass
fi

# ---- how a table was made is noted with it, and older pictures go
run "$tepal" lab run 000-fig-14 --out two --seed 7
is 'every table has its own note' "$(cat two/settings.tsv)" \
    $'experiment\tmode\tseed\tmeasured data\n000-table-1\tquick\t1\tno\n000-table-4\tquick\t1\tno\n000-fig-14\tquick\t7\tno'
run "$tepal" lab report two --quiet
is 'the report tells them apart' "$(grep -o 'tepal lab run [^<]*' two/report.html | xargs)" \
    'tepal lab run 000-table-1 --seed 1 tepal lab run 000-table-4 --seed 1 tepal lab run 000-fig-14 --seed 7'
cp two/000-fig-14.svg two/000-fig-14-2.svg
cp two/000-fig-14.svg two/000-fig-14-3.svg
run "$tepal" lab run 000-fig-14 --out two --seed 7
is 'pictures of an older run are removed' "$(ls two/000-fig-14*.svg | xargs)" two/000-fig-14.svg

# ---- several papers; an interrupted run leaves whole files, and nothing else
"$tepal" lab run --paper 001 --paper 003 --out int --jobs 2 >"$work/out" 2>"$work/err" &
child=$!
until ls int/*.tsv >"$work/found" 2>&1 || ! kill -0 $child 2>/dev/null; do
    sleep 0.05
done
kill -TERM $child
wait $child 2>/dev/null
is 'interrupted: by the signal' $? 143
like 'interrupted: of both papers' "$(cat "$work/err")" \
    "^tepal: lab: interrupted: [0-9]+ of $(grep -c '^  00[13]-' list) experiments are finished; their results are in int$"
is 'interrupted: nothing temporary' "$(find int -name '.*' -type f | wc -l | tr -d ' ')" 0
is 'interrupted: tables are whole' "$(ls int/*-*.tsv | while read -r file; do
    tail -n +2 "$file" | awk -F'\t' 'NF != 10' && tail -c 1 "$file" | tr -d '\n'
done)" ''
is 'interrupted: what is there is noted' "$(tail -n +2 int/settings.tsv | wc -l | tr -d ' ')" \
    "$(sed 's/.*interrupted: \([0-9]*\) .*/\1/' "$work/err")"

run "$tepal" lab run 001-table-5 --out zeros
is 'zeros have no sign' "$code $(grep -cE $'\t-0(\t|$)' zeros/001-table-5.tsv)" '0 0'

# ---- a verdict is computed: wrong methods must be noticed
for name in 000-table-4 000-table-1 001-table-5 001-fig-7 001-web 001-universal 003-fig-18 004-fig-7 \
    000-fig-19 001-traceback 002-fig-10 003-fig-7 004-fig-8; do # lab_soak.sh: all
    run "$tepal" lab run $name --sabotage --out red
    is "sabotage of $name: exit status" "$code" 1
    like "sabotage of $name: red rows" "$(cut -f7 red/$name.tsv | sort | uniq -c | xargs)" \
        '[1-9][0-9]* differs'
done
rm red/settings.tsv
like 'sabotage: rows are judged by what they print' "$(awk -f "$here/../lab_rows.awk" red/*.tsv)" \
    '^[0-9]+ rows, 0 wrong$'

# ---- misprints are errata, however wide the interval; the paper's own arithmetic is counted apart
run "$tepal" lab run 000-table-1 000-table-2 --out sums
is 'misprints' "$(grep -hP "^000-table-[12]\tbeta (5|25) %, (.B . B'.|the parts' sum)\t" sums/*-*.tsv |
    cut -f2,3,7-9 | grep erratum | tr '\t' '|')" "beta 5 %, |B + B'||2826|erratum|2866|misprint
beta 5 %, the parts' sum|2826|erratum|2866|itself
beta 25 %, |B + B'||10045|erratum|10005|misprint
beta 25 %, the parts' sum|10045|erratum|10005|itself"
is 'the other sums' "$(cut -f7,9 sums/*-*.tsv | grep -c $'paper-only\titself')" 14

# ---- yes-no filters: published and ours, with and without measured networks
run "$tepal" lab run 003-fig-16 --out veto
is 'generated networks agree' "$code $(cat "$work/err")" '0 '
is 'generated networks: the printed numbers' "$(cut -f3 veto/003-fig-16.tsv | grep -c '[0-9]')" 9
if [ -d "$data/topology-zoo" ]; then
    run env TEPAL_DATA="$data" "$tepal" lab run 003-fig-16 --out zoo
    is 'measured networks agree' "$code $(cat "$work/err")" '0 '
    is 'measured networks: all of them' "$(grep -c $'\tnetworks\t261\t261\t' zoo/003-fig-16.tsv)" 1
fi

# ---- the report
run "$tepal" lab report one
is 'report' "$code $(cat "$work/err")" '0 wrote one/report.html: 1 experiment, 0 rows differ'
is 'report: what it holds' "$(grep -c '<svg \|<table>' one/report.html) $(grep -c '^<tr>' one/report.html)" '2 72'
like 'report: the verdicts are counted before the tables' "$(sed '/<h2>/q' one/report.html)" \
    "Retouched Bloom Filters</a>: <span class=agrees>$(grep -cP '\tagrees\t' one/000-table-4.tsv) agrees<"
like 'report: how to make it again' "$(cat one/report.html)" 'tepal lab run 000-table-4 --seed 1'
is 'report: nothing is loaded from elsewhere' \
    "$(grep -oE '(src|href)="[^#][^"]*"|url\(|@import|<script' one/report.html | wc -l | tr -d ' ')" 0
cp -r one hostile
sed -i 's/beta 1 %/<script>/' hostile/000-table-4.tsv
run "$tepal" lab report hostile --quiet
is 'report: texts are escaped' "$(grep -c '<script>' hostile/report.html) $(grep -c '&lt;script&gt;' hostile/report.html)" \
    '0 1'

# ---- bad input
refused 'nothing to do' "lab: list, run or report is needed; see 'tepal lab --help'" "$tepal" lab
refused 'what?' "lab: walk: not one of list, run, report; see 'tepal lab --help'" "$tepal" lab walk
refused 'run what?' 'lab run: nothing to run: give NAMES, --paper NUMBER or --all' "$tepal" lab run
refused 'unknown experiment' 'lab: unknown experiment 000-table-9; did you mean 000-table-1?' \
    "$tepal" lab run 000-table-9
refused 'unknown paper' "lab: --paper 999: not one of 000, 001, 002, 003, 004" "$tepal" lab run --paper 999
mkdir empty
refused 'an empty folder' "empty: no tables in this directory; 'tepal lab run --all --out DIR' writes them" \
    "$tepal" lab report empty
refused 'a report of no folder' "nowhere: no tables in this directory; 'tepal lab run --all --out DIR' writes them" \
    "$tepal" lab report nowhere
is 'and no page' "$(ls empty)" ''
# Tables, pictures and notes that were cut anywhere are refused or shown, and never more.
cp -r two cut
for name in 000-fig-14.tsv 000-fig-14.svg settings.tsv; do
    for share in 1 4 6; do
        head -c $(($(wc -c <two/$name) * share / 8)) two/$name >cut/$name
        printf 'x\t\0\n\n' >>cut/$name
        run "$tepal" lab report cut --quiet
        like "$name cut at $share eighths" "$code $(head -c 300 "$work/err")" '^(0 |2 tepal: cut/000-fig-14)'
    done
    cp two/$name cut/$name
done
echo hello >one/000-table-4.tsv
refused 'a table of something else' \
    'one/000-table-4.tsv: not a table written by tepal lab: its header differs' "$tepal" lab report one
printf 'experiment\titem\tpublished\tours\tlow\thigh\tverdict\texpected\tsource\twidth\na\tb\n' >one/000-table-4.tsv
refused 'a table cut short' 'one/000-table-4.tsv: line 2: 10 columns are needed' "$tepal" lab report one
echo '<html>' >two/000-table-4.svg
refused 'a picture of something else' 'two/000-table-4.svg: not a picture written by tepal lab' \
    "$tepal" lab report two
echo x >file
mkdir locked
chmod 555 locked
if [ -w locked ]; then
    pass # root may write anywhere
else
    refused 'a folder that cannot be written' 'locked: Permission denied' \
        "$tepal" lab run 000-table-4 --out locked
fi
refused 'a folder in none' 'none/lab: No such file or directory' "$tepal" lab run 000-table-4 --out none/lab
refused 'a folder that is a file' 'file: Not a directory' "$tepal" lab run 000-table-4 --out file
finish
