#!/usr/bin/env bash
# build: every option, the summary, what lands in the file.
source "$(dirname "$0")/lib.sh"

seq 1 1000 >keys
printf 'a\nb\nc\n' >abc

# The summary.
mask='s/^\(now  *\)[0-9.]* %/\1N %/'
expect 'summary' 0 '' 'keys       3
filter     bloom, flat, 31 bits (10.33 per key), 6 hashes
predicted  0.91 % false positives with 3 keys
now        N % false positives
seed       7
wrote      f, 272 bytes
' "$tepal" build abc -o f --seed 7
mask=
expect 'quiet' 0 '' '' "$tepal" build abc -o g --seed 7 -q
same 'the same keys and seed give the same file' f g
expect 'operands after options, joined letters, attached values' 0 '' '' \
    "$tepal" build -qog -s7 -- abc
same 'the same file again' f g
expect '--name=value' 0 '' '' "$tepal" build --output=g --seed=7 --quiet abc
same 'the same file once more' f g
expect 'a seed in hexadecimal' 0 '' '' "$tepal" build abc -o g --seed 0x7 -q
same 'the same seed' f g

# Keys from standard input, by default and as "-", and from several files.
"$tepal" build -o g --seed 7 -q <abc
same 'standard input by default' f g
"$tepal" build - -o g --seed 7 -q <abc
same 'standard input as -' f g
printf 'a\n' >a1
printf 'b\nc' >a2
"$tepal" build a1 a2 -o g --seed 7 -q
same 'several files' f g
"$tepal" build a1 - -o g --seed 7 -q <a2
same 'a file and standard input' f g
"$tepal" build abc -o - --seed 7 -q >g
same 'to standard output' f g

# Sizes. 1000 keys at 1 % need 9.6 bits each; the file says what was chosen.
json() {
    run "$tepal" build keys -o g --seed 1 --json "$@"
}
json
is 'no words with --json' "$(cat "$work/err")" ''
is 'default kind' "$(field "$work/out" kind)" bloom
is 'default layout' "$(field "$work/out" layout)" flat
is 'default positions' "$(field "$work/out" positions)" colliding
is 'keys read' "$(field "$work/out" keys_read)" 1000
is 'capacity is the count' "$(field "$work/out" capacity)" 1000
is 'seed is a string' "$(field "$work/out" seed)" 1
is 'file' "$(field "$work/out" file)" g
rate=$(field "$work/out" fp_at_capacity)
is 'the default rate is 1 %' "$(python3 -c "print(0.0098 < $rate <= 0.01)")" True
bits=$(field "$work/out" bits)
for fp in 1% 0.01 1e-2 1/100; do
    json --fp $fp
    is "--fp $fp" "$(field "$work/out" bits)" "$bits"
done
json --fp 1/1000
rate=$(field "$work/out" fp_at_capacity)
is '--fp 1/1000' "$(python3 -c "print(0.00098 < $rate <= 0.001)")" True
json --fp 1% --hashes 3
is '--fp with --hashes' "$(field "$work/out" hashes)" 3
rate=$(field "$work/out" fp_at_capacity)
is '--fp with --hashes keeps the rate' "$(python3 -c "print(0.0098 < $rate <= 0.01)")" True
json --bits-per-key 12
is '--bits-per-key' "$(field "$work/out" bits)" 12000
json --bits-per-key 12 -k 5
is '--bits-per-key with --hashes' "$(field "$work/out" hashes)" 5
json --bits-per-key 12 --layout blocked
is '--bits-per-key in whole lines' "$(field "$work/out" bits)" 12288
json --bits 16Ki
is '--bits' "$(field "$work/out" bits)" 16384
is '--bits alone takes 7 hashes' "$(field "$work/out" hashes)" 7
is '--bits alone knows no capacity' "$(field "$work/out" capacity)" None
is '--bits alone predicts nothing' "$(field "$work/out" fp_at_capacity)" None
json --bits 16Ki --hashes 4
is '--bits with --hashes' "$(field "$work/out" hashes)" 4
json --bits 16Ki --capacity 1000
is '--bits with --capacity takes the best hashes' "$(field "$work/out" hashes)" 11
json --capacity 5k
is '--capacity' "$(field "$work/out" capacity)" 5000
for layout in flat partitioned blocked paired; do
    json --layout $layout
    is "--layout $layout" "$(field "$work/out" layout)" $layout
    run "$tepal" query -c g keys
    is "$layout finds every key" "$(cat "$work/out")" 1000
done
json --positions distinct
is '--positions' "$(field "$work/out" positions)" distinct
json --kind bloom
is '--kind' "$(field "$work/out" kind)" bloom

# Counting first and streaming give the same cells.
"$tepal" build keys -o counted --seed 3 -q
"$tepal" build keys -o streamed --seed 3 -q --capacity 1000
same 'counted first or streamed' counted streamed

# A random seed differs from run to run and is told.
"$tepal" build abc -o r1 2>"$work/e1"
"$tepal" build abc -o r2 2>"$work/e2"
s1=$(sed -n 's/^seed *//p' "$work/e1")
s2=$(sed -n 's/^seed *//p' "$work/e2")
like 'the random seed is told' "$s1" '^[0-9]+$'
if [[ $s1 == "$s2" ]]; then fail 'two random seeds are equal' "$s1"; else pass; fi
"$tepal" build abc -o r3 --seed "$s1" -q
same 'the seed that was told repeats the filter' r1 r3

# More keys than planned: works, and warns; -q does not.
run "$tepal" build keys -o g --seed 1 --capacity 100
is 'over capacity' "$code" 0
is 'over capacity warns' "$(head -1 "$work/err")" \
    'tepal: g: warning: 1000 keys were added, but 100 were planned: there are more false positives than predicted'
expect 'over capacity, quiet' 0 '' '' "$tepal" build keys -o g --seed 1 --capacity 100 -q
run "$tepal" query -c g keys
is 'over capacity finds every key' "$(cat "$work/out")" 1000

# No keys at all.
run "$tepal" build -o empty --seed 1 </dev/null
is 'no keys' "$code" 0
is 'no keys warns' "$(head -1 "$work/err")" 'tepal: empty: warning: no keys in the input: the filter is empty'
run "$tepal" query -c empty keys
is 'an empty filter holds nothing' "$code $(cat "$work/out")" '1 0'

# Rates that digests cannot keep, for as many keys as there are.
refused 'a rate that digests cannot keep' \
    'build: --fp 1e-60: too low: digests of 128 bits keep 7.5e-34 or more for 1000 keys; nothing was written' \
    "$tepal" build keys -o low --fp 1e-60
refused 'nor in a cascade' \
    'build: --fp 1e-60: too low: digests of 128 bits keep 7.5e-34 or more for 1000 keys; nothing was written' \
    "$tepal" build keys -o low --kind cascade --avoid abc --fp 1e-60
expect 'the lowest rate' 0 '' '' "$tepal" build keys -o low --fp 7.6e-34 -q

# Repeats are counted as read and change nothing else.
cat abc abc >twice
"$tepal" build abc -o once --seed 1 -q --capacity 100
run "$tepal" build twice -o g --seed 1 --capacity 100 --json
is 'repeats are read' "$(field "$work/out" keys_read)" 6
is 'repeats set no new bits' "$(field "$work/out" ones)" \
    "$("$tepal" info --json once | python3 -c 'import json,sys; print(json.load(sys.stdin)["ones"])')"

# What is overwritten, and what is not.
"$tepal" build keys -o f --seed 9 -q
run "$tepal" query -c f keys
is 'an existing filter is replaced' "$(cat "$work/out")" 1000
refused 'something else is not overwritten' \
    'abc: the file exists and is not a filter; use --force to overwrite it; nothing was written' \
    "$tepal" build keys -o abc
is 'it is what it was' "$(cat abc)" $'a\nb\nc'
expect '--force overwrites it' 0 '' '' "$tepal" build keys -o abc -f -q
: >touched
expect 'an empty file is overwritten' 0 '' '' "$tepal" build keys -o touched -q
ln -s f link
expect 'a symbolic link is followed' 0 '' '' "$tepal" build keys -o link -q --seed 4
is 'and stays a link' "$(readlink link)" f

# Keyed filters.
printf '0123456789abcdef' >raw.key
printf '30313233343536373839616263646566\n' >hex.key
printf 'x\ny\n' >xy
"$tepal" build xy -o k1 --seed 1 --key-file raw.key -q
"$tepal" build xy -o k2 --seed 1 --key-file hex.key -q
same 'raw and hexadecimal key files' k1 k2
printf '\xef\xbb\xbf\r\n 30313233343536373839616263646566\t\r\n\r\n' >edited.key
"$tepal" build xy -o k2 --seed 1 --key-file edited.key -q
same 'and one that an editor has been at' k1 k2
printf '\r\n3031323334353637383961626364656g\r\n' >wrong.key
refused 'a wrong digit has its place in the file' \
    'wrong.key: not a secret key: character 34 is not a hexadecimal digit; nothing was written' \
    "$tepal" build xy -o k2 --seed 1 --key-file wrong.key
printf '3031323334353637 3839616263646566\n' >wrong.key
refused 'blanks within are not left out' \
    'wrong.key: not a secret key: 16 raw bytes or 32 hexadecimal digits are needed, and the file has 34 bytes; nothing was written' \
    "$tepal" build xy -o k2 --seed 1 --key-file wrong.key
"$tepal" build xy -o unkeyed --seed 1 -q
if cmp -s k1 unkeyed; then fail 'a keyed filter equals one without a key'; else pass; fi
run "$tepal" build xy -o k1 --seed 1 --key-file raw.key
like 'the summary tells of the key' "$(cat "$work/err")" 'seed       1, and a secret key'
if grep -q 0123456789abcdef k1; then fail 'the secret key is in the file'; else pass; fi
expect 'siphash is the default' 0 '' '' "$tepal" build xy -o k3 --seed 1 --key-file raw.key --hash siphash -q
same 'by name' k3 k2
expect 'siphash13' 0 '' '' "$tepal" build xy -o k13 --seed 1 --key-file raw.key --hash siphash13 -q
if cmp -s k13 k1; then fail 'siphash13 is siphash'; else pass; fi
is 'info names it' "$("$tepal" info k13 --json | grep -o '"hash": *"[^"]*"')" '"hash": "siphash13-128"'
expect 'its members are found' 0 $'x\ny\n' '' "$tepal" query k13 xy --key-file raw.key
"$tepal" build xy -o k14 --auto --fp 1% --seed 1 --key-file raw.key --hash siphash13 -q
is 'by a plan, too' "$("$tepal" query k14 xy --key-file raw.key -c)" 2
printf 'z\n' >known
for kind in yesno cascade; do
    "$tepal" build xy -o k15 --kind $kind --avoid known --fp 1% --seed 1 --force \
        --key-file raw.key --hash siphash13 -q
    is "$kind, too" "$("$tepal" query k15 xy known --key-file raw.key)" $'x\ny'
done
run "$tepal" merge k1 k13 -o k4
like 'the two do not merge' "$(cat "$work/err")" 'their keyed hashes differ'
refused '--hash alone' 'build: --hash needs --key-file; nothing was written' \
    "$tepal" build xy -o k4 --hash siphash13
refused '--hash of a plan alone' 'build: --hash needs --key-file; nothing was written' \
    "$tepal" build xy -o k4 --auto --fp 1% --hash siphash13

finish
