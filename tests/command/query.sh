#!/usr/bin/env bash
# query: selection, counts, tables, exit statuses.
source "$(dirname "$0")/lib.sh"

printf 'apple\nbanana\ncherry\n' >fruit
printf 'banana\nstone\napple\niron\n' >asked
"$tepal" build fruit -o f --seed 7 --fp 1e-9 -q

expect 'present keys, in order' 0 $'banana\napple\n' '' "$tepal" query f asked
expect '-v: the others' 0 $'stone\niron\n' '' "$tepal" query -v f asked
expect '--invert' 0 $'stone\niron\n' '' "$tepal" query --invert f asked
expect '-c' 0 $'2\n' '' "$tepal" query -c f asked
expect '-vc' 0 $'2\n' '' "$tepal" query -vc f asked
expect '-c of none' 1 $'0\n' '' "$tepal" query --count f <<<'stone'
expect '-q: yes' 0 '' '' "$tepal" query -q f asked
expect '-q: no' 1 '' '' "$tepal" query -q f <<<'stone'
expect '-qv: yes' 0 '' '' "$tepal" query -qv f <<<'stone'
expect '-qv: no' 1 '' '' "$tepal" query -qv f <<<'apple'
expect '--tsv' 0 $'banana\t1\nstone\t0\napple\t1\niron\t0\n' '' "$tepal" query --tsv f asked
expect '--tsv of none' 1 $'stone\t0\n' '' "$tepal" query -t f <<<'stone'
expect 'none' 1 '' '' "$tepal" query f <<<'stone'
expect 'no keys at all' 1 '' '' "$tepal" query f </dev/null
expect '-v when all are present' 1 '' '' "$tepal" query -v f fruit
expect '--json' 0 '{"file": "f", "keys": 4, "present": 2, "absent": 2}'$'\n' '' \
    "$tepal" query --json f asked
expect '--json of none' 1 '{"file": "f", "keys": 1, "present": 0, "absent": 1}'$'\n' '' \
    "$tepal" query --json f <<<'stone'
expect '--json -v' 1 '{"file": "f", "keys": 1, "present": 1, "absent": 0}'$'\n' '' \
    "$tepal" query --json -v f <<<'apple'
expect '--lazy' 0 $'banana\napple\n' '' "$tepal" query --lazy f asked
expect 'several files' 0 $'apple\nbanana\ncherry\nbanana\napple\n' '' "$tepal" query f fruit asked
expect 'keys from - and a file' 0 $'cherry\nbanana\napple\n' '' "$tepal" query f - asked <<<'cherry'
expect 'the filter from standard input' 0 $'banana\napple\n' '' "$tepal" query - asked <f
expect 'the filter from a pipe' 0 $'banana\napple\n' '' "$tepal" query <(cat f) asked

# By a field of each line: the line is printed whole.
printf 'GET apple 1\nPUT stone 2\n  GET  cherry\nshort\n' >log
expect '--field' 0 $'GET apple 1\n  GET  cherry\n' '' "$tepal" query f log --field 2
expect '--field -v' 0 $'PUT stone 2\nshort\n' '' "$tepal" query f log --field 2 -v
expect '--field -c' 0 $'2\n' '' "$tepal" query f log --field 2 -c
expect '--field --tsv' 0 $'GET apple 1\t1\nPUT stone 2\t0\n  GET  cherry\t1\nshort\t0\n' '' \
    "$tepal" query f log --field 2 --tsv
expect '--delimiter' 0 $'a,,banana\n' '' "$tepal" query f --field 3 --delimiter , <<<$'a,,banana\nb,banana'
expect '--hex by a field' 0 $'x 6170706c65\n' '' "$tepal" query f --field 2 -x <<<$'x 6170706c65\ny 00'
refused '--delimiter alone' 'query: --delimiter needs --field: which field is the key?' \
    "$tepal" query f asked --delimiter ,

# Runs of selected keys, in all patterns of three batches, against grep.
seq 1 20000 >all
awk 'NR % 3 != 0 || NR % 7 == 0' all >some
for layout in flat partitioned blocked paired; do
    "$tepal" build some -o s --seed 7 --fp 1e-9 --layout $layout -q
    grep -xFf some all >want_in
    grep -vxFf some all >want_out
    "$tepal" query s all >got
    same "$layout: the keys that are in" got want_in
    "$tepal" query -v s all >got
    same "$layout: the keys that are not" got want_out
    is "$layout: the count" "$("$tepal" query -c s all)" "$(wc -l <want_in | tr -d ' ')"
done

# The measured error of a full filter is near the stated one: 5 standard deviations.
seq 1 20000 >members
seq 100001 300000 >strangers
"$tepal" build members -o m --seed 7 --fp 1% -q
hits=$("$tepal" query -c m strangers)
is 'false positives are near 1 %' "$(python3 -c "print(abs($hits - 2000) < 5 * 44.5)")" True

# -q stops at the first match: it does not read what comes after.
mkfifo endless
exec 9<>endless
cat fruit >&9
if timeout 20 "$tepal" query -q f <endless; then
    pass
else
    fail '-q waits for more than the first match'
fi
exec 9>&-

# Answers to a pipe come before more is asked for.
mkfifo to from
"$tepal" query f <to >from &
exec 7>to 8<from
printf 'stone\napple\n' >&7
answer=
read -r -t 20 answer <&8
is 'an answer comes at once' "$answer" apple
printf 'cherry\n' >&7
answer=
read -r -t 20 answer <&8
is 'and the next' "$answer" cherry
exec 7>&- 8<&-
wait

# Keys that are printed to where they are read would never end.
same_file() {
    local name=$1 subject=$2
    shift 2
    cp fruit both
    timeout 20 "$tepal" query "$@" >>both 2>"$work/err"
    is "$name: exit status" "$?" 2
    is "$name" "$(cat "$work/err")" "tepal: $subject: the keys are also the output"
    same "$name: nothing is printed" both fruit
}
same_file 'the output is the keys' both f both
same_file 'the output is one of the keys' both --tsv f asked both
same_file 'the output is standard input' 'standard input' f - <both
cp fruit both
same_file 'the output is standard input, not named' 'standard input' -v f <both
cp fruit both
# shellcheck disable=SC2094 # one line, at the end
"$tepal" query -c f both >>both
is '-c may add its line to the keys' "$(tail -1 both)" 3
# shellcheck disable=SC2094
"$tepal" query --json f asked both >>both
like '--json may too' "$(tail -1 both)" '"keys": 8, "present": 5'

# Errors.
refused 'a filter is needed' "query: a filter is needed; see 'tepal query --help'" "$tepal" query
refused 'no such filter' 'none: No such file or directory' "$tepal" query none asked
refused 'a key in place of a file of keys' \
    'none: No such file or directory (keys are read from files, or from standard input)' "$tepal" query f none
refused 'keys in a directory' '.: Is a directory' "$tepal" query f .
refused 'not a filter' \
    'asked: the first bytes are not those of a tepal filter (byte 0)' "$tepal" query asked fruit
refused 'filter and keys from standard input' \
    'standard input: the filter is read from there, so the keys must come from files' \
    "$tepal" query - <f
refused 'filter and keys from standard input, said' \
    'standard input: the filter is read from there, so the keys must come from files' \
    "$tepal" query - - <f
refused 'standard input twice' \
    'standard input: given twice, but it can be read only once' "$tepal" query f - - <asked
refused '--tsv with -v' 'query: --tsv and --invert cannot be combined: give one of them' \
    "$tepal" query --tsv -v f asked
refused '--tsv with -c' 'query: --tsv and --count cannot be combined: give one of them' \
    "$tepal" query --tsv -c f asked
refused '--tsv with -q' 'query: --tsv and --quiet cannot be combined: give one of them' \
    "$tepal" query --tsv -q f asked
refused '-q with -c' 'query: --quiet and --count cannot be combined: give one of them' \
    "$tepal" query -qc f asked
refused '-q with --json' 'query: --quiet and --json cannot be combined: give one of them' \
    "$tepal" query -q --json f asked

# Keyed filters need their key.
printf '0123456789abcdef' >key
printf '0123456789abcdeX' >other
"$tepal" build fruit -o k --seed 7 --fp 1e-9 --key-file key -q
expect 'with the key' 0 $'banana\napple\n' '' "$tepal" query --key-file key k asked
refused 'without the key' 'k: this filter was made with a secret key: give --key-file' \
    "$tepal" query k asked
refused 'with another key' 'other: wrong secret key for this filter' \
    "$tepal" query --key-file other k asked
refused 'a key where there is none' \
    'f: this filter was made without a secret key: leave out --key-file' \
    "$tepal" query --key-file key f asked

finish
