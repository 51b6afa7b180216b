#!/usr/bin/env bash
# add, merge, convert: filters made from filters.
source "$(dirname "$0")/lib.sh"

seq 1 500 >low
seq 501 1000 >high
seq 1 1000 >all
build() {
    "$tepal" build "$@" --seed 7 --capacity 1000 -q
}
# The cells and the count, without the file's name.
facts() {
    "$tepal" info --json "$1" | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["bits"], d["hashes"], d["ones"], d["keys_added"])'
}

# ---- add
for layout in flat partitioned blocked paired; do
    build all -o want --layout $layout
    build low -o f --layout $layout
    expect "$layout: add" 0 '' '' "$tepal" add f high -q
    same "$layout: adding gives the filter of all" f want
done
build all -o want
build low -o f
cp f before
expect 'add -o' 0 '' '' "$tepal" add f -o g -q <high
same 'add -o writes the new filter' g want
same 'add -o leaves the old one' f before
"$tepal" add f high -o - -q >g
same 'add to standard output' g want
"$tepal" add - high -o g -q <f
same 'add to a filter from standard input' g want
mask='s/^\(now  *\)[0-9.]* %/\1N %/'
expect 'add: summary' 0 '' 'keys       500
filter     bloom, flat, 9595 bits (9.60 per key), 7 hashes
predicted  0.9999 % false positives with 1000 keys
now        N % false positives with 1000 keys
seed       7
wrote      f, 1464 bytes (1.4 KiB)
' "$tepal" add f high
mask=
same 'add in place' f want
run "$tepal" add f -o g --json high
is 'add --json: keys read' "$(field "$work/out" keys_read)" 500
is 'add --json: keys added' "$(field "$work/out" keys_added)" 1500
run "$tepal" add f high
is 'add over capacity warns' "$(head -1 "$work/err")" \
    'tepal: f: warning: 1500 keys have been added, but 1000 were planned: expect more false positives than predicted; tepal build --grow makes filters that grow with their keys'
cp f before
run "$tepal" add f </dev/null
is 'add nothing' "$code $(head -1 "$work/err")" \
    '0 tepal: f: warning: no keys in the input: the filter is unchanged'
same 'add nothing changes nothing' f before
inode=$(stat -c %i f)
expect 'add nothing writes nothing' 0 '' \
    $'tepal: f: warning: no keys in the input: the filter is unchanged\n' "$tepal" add f </dev/null
is 'the file is the same one' "$(stat -c %i f)" "$inode"
run "$tepal" add f -o g </dev/null
same 'add nothing -o copies' g f
run "$tepal" add f --json -q </dev/null
is 'add nothing --json' "$(field "$work/out" keys_read)" 0
printf '61\0' >hex0
printf 'a\n' >a
build low -o h1
build low -o h2
"$tepal" add h1 --hex -0 hex0 -q
"$tepal" add h2 a -q
same 'add --hex -0' h1 h2
gzip -c a >a.gz
build low -o h3
"$tepal" add h3 a.gz -q
same 'add reads gzip' h3 h2
build low -o h4
"$tepal" add h4 a.gz --plain -q
if cmp -s h4 h2; then fail 'add --plain decompresses'; else pass; fi
chmod 640 f
"$tepal" add f a -q
is 'add keeps the permissions' "$(stat -c %a f)" 640

printf '0123456789abcdef' >key
printf 'fedcba9876543210' >other
"$tepal" build low -o k --seed 7 --capacity 1000 --key-file key -q
"$tepal" build all -o kall --seed 7 --capacity 1000 --key-file key -q
cp k before
refused 'add without the key' \
    'k: this filter was made with a secret key: give --key-file; nothing was changed' \
    "$tepal" add k high
refused 'add with another key' \
    'other: wrong secret key for this filter; nothing was changed' \
    "$tepal" add k high --key-file other
same 'nothing was changed' k before
"$tepal" add k high --key-file key -q
same 'add with the key' k kall

cp f before
refused 'add: the filter as keys' \
    'f: the filter would overwrite the keys; nothing was changed' "$tepal" add f f
refused 'add: keys as output' \
    'high: the filter would overwrite the keys; nothing was changed' \
    "$tepal" add f high -o high --force
refused 'add: not a filter' \
    'low: the first bytes are not those of a tepal filter (byte 0); nothing was changed' \
    "$tepal" add low high
refused 'add: no such filter' 'none: No such file or directory; nothing was changed' \
    "$tepal" add none high
refused 'add: no such keys' \
    'none: No such file or directory (keys are read from files, or from standard input); nothing was changed' \
    "$tepal" add f none
refused 'add: from standard input in place' \
    'standard input: a filter read from there cannot be changed in place: give --output; nothing was changed' \
    "$tepal" add - high <f
refused 'add: both from standard input' \
    'standard input: the filter is read from there, so the keys must come from files; nothing was changed' \
    "$tepal" add - -o g <f
refused 'add: over something else' \
    'low: the file exists and is not a filter; use --force to overwrite it; nothing was changed' \
    "$tepal" add f high -o low
mkfifo endless
exec 9<>endless
refused 'add: what cannot be rewritten is refused before keys are read' \
    '/dev/fd/8: not a regular file, so it cannot be changed in place: give --output; nothing was changed' \
    timeout 20 "$tepal" add /dev/fd/8 8< <(cat f) <endless
refused 'add: nor is a FIFO waited for' \
    'endless: not a regular file, so it cannot be changed in place: give --output; nothing was changed' \
    timeout 20 "$tepal" add endless high
exec 9>&-
rm endless
# shellcheck disable=SC2094 # that is what is refused
refused 'add: keys from the filter itself' \
    'standard input: the filter would overwrite the keys; nothing was changed' \
    "$tepal" add f <f
same 'after all these errors the filter is what it was' f before
absent 'no file was made' none

# ---- two at a time: the second waits for the first, and no key is lost
slow() {
    sleep 0.6
    echo "$1"
}
count() {
    printf '%s\n' "$@" | "$tepal" query -c f
}
build low -o f --fp 1e-9
ln -s f link
for key in one two three; do
    slow $key | "$tepal" add f -q &
done
slow four | "$tepal" add link -o ./f -q &
wait
is 'keys of concurrent additions are all there' "$(count one two three four)" 4
build high -o g --fp 1e-9
slow five | "$tepal" add f -q &
sleep 0.2
"$tepal" merge g f -o f --force -q
wait
is 'an addition and a merge' "$(count five 501)" 2
build low -o f --bits 64Ki
slow six | "$tepal" add f -q &
sleep 0.2
"$tepal" convert f -o f --fold 2 --force -q
wait
is 'an addition and a conversion' "$(count six)" 1
is 'the conversion is there' "$("$tepal" info f | sed -n 's/^bits *//p')" 32768
mkfifo to
"$tepal" add f -q <to &
exec 7>to
for ((i = 0; i < 200; i++)); do
    [[ ! -e f.lock ]] || flock -n f.lock true || break
    sleep 0.05
done
"$tepal" add f 7>&- 2>"$work/waiting" <<<eight &
for ((i = 0; i < 200; i++)); do
    [[ ! -s $work/waiting ]] || break
    sleep 0.05
done
is 'the second tells that it waits' "$(head -1 "$work/waiting")" \
    'tepal: f: warning: another command is changing this file: waiting for it'
is 'others may ask meanwhile' "$(count six eight)" 1
echo seven >&7
exec 7>&-
wait
is 'both are there in the end' "$(count seven eight)" 2
rm to link

# ---- merge
for layout in flat partitioned blocked paired; do
    build low -o l --layout $layout
    build high -o h --layout $layout
    build all -o want --layout $layout
    expect "$layout: merge" 0 '' '' "$tepal" merge l h -o m -q
    is "$layout: the union is the filter of all" "$(facts m)" "$(facts want)"
done
build low -o l
build high -o h
build all -o want
"$tepal" merge l h h l -o m -q
run "$tepal" query -c m all
is 'merge of four' "$(cat "$work/out")" 1000
"$tepal" merge l - -o m -q <h
is 'merge with standard input' "$(facts m)" "$(facts want)"
"$tepal" merge l h -o - -q >m
is 'merge to standard output' "$(facts m)" "$(facts want)"
run "$tepal" merge l h -o m --json
is 'merge --json' "$(field "$work/out" keys_added)" 1000
build all -o both
"$tepal" merge both l -o m --intersect -q
run "$tepal" query -c m low
is 'an intersection keeps what is common' "$(cat "$work/out")" 500
mask='s/^\(now  *\)[0-9.]* %/\1N %/'
expect 'merge: summary' 0 '' 'filter     bloom, flat, 9595 bits (9.60 per key), 7 hashes
predicted  0.9999 % false positives with 1000 keys
now        N % false positives with 1000 keys
seed       7
wrote      m, 1464 bytes (1.4 KiB)
' "$tepal" merge l h -o m
mask=
cp l before
refused 'merge over an input' \
    'l: the output is one of the input filters; use --force to replace it; nothing was written' \
    "$tepal" merge l h -o l
same 'the input is what it was' l before
expect 'merge --force over an input' 0 '' '' "$tepal" merge l h -o l --force -q
is 'and it is the union' "$(facts l)" "$(facts want)"
refused 'merge of one' "merge: two filters or more are needed; see 'tepal merge --help'" \
    "$tepal" merge l -o m
refused 'merge without -o' 'merge: --output FILE is needed' "$tepal" merge l h

mismatch() {
    local name=$1 why=$2
    shift 2
    "$tepal" build low -q --capacity 1000 "$@"
    rm -f no
    refused "merge: $name" "x: cannot be merged with h: $why; nothing was written" \
        "$tepal" merge h x -o no
    absent "merge: $name writes nothing" no
}
mismatch 'another seed' 'the seeds differ (build with the same --seed)' -o x --seed 8
mismatch 'another size' 'the numbers of bits differ (convert --fold may help)' -o x --seed 7 --bits 9596
mismatch 'another k' 'the numbers of hashes differ' -o x --seed 7 --bits 9595 -k 6
mismatch 'another layout' 'the layouts differ' -o x --seed 7 -l blocked
mismatch 'other positions' 'the positions (colliding, distinct) differ' -o x --seed 7 --bits 9595 -k 7 \
    --positions distinct
mismatch 'keyed' 'one has a secret key and the other does not' -o x --seed 7 --key-file key
"$tepal" build low -o k1 --seed 7 --capacity 1000 --key-file key -q
"$tepal" build low -o k2 --seed 7 --capacity 1000 --key-file other -q
refused 'merge: another secret key' \
    'k2: cannot be merged with k1: the secret keys differ; nothing was written' \
    "$tepal" merge k1 k2 -o no
expect 'merge needs no key' 0 '' '' "$tepal" merge k1 k1 -o m -q

# ---- convert
build low -o f --bits 16Ki
expect 'convert rewrites' 0 '' '' "$tepal" convert f -o c -q
same 'and changes nothing' c f
for layout in flat blocked paired; do
    build low -o f --bits 16Ki -k 4 -l $layout
    build low -o want --bits 4Ki -k 4 -l $layout
    expect "$layout: --fold" 0 '' '' "$tepal" convert f -o c --fold 4 -q
    is "$layout: folding is exact" "$(facts c)" "$(facts want)"
    run "$tepal" query -c c low
    is "$layout: every key is still there" "$(cat "$work/out")" 500
    "$tepal" convert f -o d --bits 4Ki -q
    same "$layout: --bits is the same fold" c d
done
build low -o f --bits 16Ki -k 4
"$tepal" convert - -o - --fold 2 -q <f >c
run "$tepal" query -c c low
is 'convert in a pipe' "$(cat "$work/out")" 500
run "$tepal" convert f -o c --fold 2 --json
is 'convert --json' "$(field "$work/out" bits)" 8192
rm -f no
refused 'fold by what does not divide' \
    'f: cannot be folded by 3; it can be by 2, 4, 8, 16, 32, 64, 128, 256, ...; nothing was written' \
    "$tepal" convert f -o no --fold 3
seq 9 | "$tepal" build -o prime --bits 9973 --hashes 3 -q
refused 'fold a prime' \
    'prime: cannot be folded by 2, nor by any other divisor: it has 9973 bits, flat layout, colliding positions; nothing was written' \
    "$tepal" convert prime -o no --fold 2
refused 'bits that do not divide' \
    'f: cannot be shrunk to 5000 bits, which does not divide its 16384; it can be to 8192, 4096, 2048, 1024, 512, 256, 128, 64, ...; nothing was written' \
    "$tepal" convert f -o no --bits 5000
refused 'more bits' \
    'f: cannot be shrunk to 32768 bits, which does not divide its 16384; it can be to 8192, 4096, 2048, 1024, 512, 256, 128, 64, ...; nothing was written' \
    "$tepal" convert f -o no --bits 32Ki
refused 'another layout' \
    'f: flat to blocked: these layouts put the bits of a key at different positions; rebuild the filter from its keys; nothing was written' \
    "$tepal" convert f -o no --layout blocked
seq 100 | "$tepal" build -o one -q --seed 1 --bits 5120 --hashes 1 --layout flat
seq 100 | "$tepal" build -o want -q --seed 1 --bits 5120 --hashes 1 --layout partitioned
expect 'one hash: flat is partitioned' 0 '' '' "$tepal" convert one -o c --layout partitioned -q
same 'and it is what one would build' c want
expect 'the same layout' 0 '' '' "$tepal" convert f -o c --layout flat -q
same 'changes nothing' c f
refused 'two changes' 'convert: --fold and --bits cannot be combined: give one of them' \
    "$tepal" convert f -o no --fold 2 --bits 5
refused 'fold by 0' 'convert: --fold 0: too small: the minimum is 1' "$tepal" convert f -o no --fold 0
refused 'convert onto itself' \
    'f: the output is the input filter; use --force to replace it; nothing was written' \
    "$tepal" convert f -o f --fold 2
expect 'convert --force onto itself' 0 '' '' "$tepal" convert f -o f --fold 2 -f -q
refused 'convert needs one filter' \
    "convert: unexpected argument: c; see 'tepal convert --help'" "$tepal" convert f c -o no
absent 'no error wrote anything' no

finish
