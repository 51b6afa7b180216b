#!/usr/bin/env bash
# Filters that travel compressed: written with --compress, read by their first bytes, from files and
# pipes; limits on what they unpack to; damaged, truncated and hostile ones.
source "$(dirname "$0")/lib.sh"

attempt() { # attempt COMMAND...: as run, with the two texts
    run "$@"
    out=$(<"$work/out")
    err=$(<"$work/err")
}

seq 1 500 >keys
seq 400 900 >asked
"$tepal" build keys -o f --kind generalized --bits 256k --reset-hashes 2 --set-hashes 2 --seed 7 -q
"$tepal" query f asked >want
"$tepal" info f --json | sed 's/"file": "[^"]*"/"file": "x"/' >want_info
for form in gzip zstd; do
    "$tepal" build keys -o f.$form --kind generalized --bits 256k --reset-hashes 2 --set-hashes 2 --seed 7 \
        --compress $form >/dev/null 2>err
    is "$form: the size told is that of the file" "$(grep -cE "^wrote      f.$form, $(stat -c %s f.$form) bytes( |\$)" err)" 1
    is "$form: it is smaller by far" "$(($(stat -c %s f.$form) * 4 < $(stat -c %s f)))" 1
    "$tepal" convert f.$form -o back -q
    same "$form: nothing is lost" back f
    "$tepal" convert f -o again.$form --compress $form -q
    same "$form: the same bytes every time" again.$form f.$form
    "$tepal" convert f --compress $form -o - -q >piped.$form
    same "$form: to standard output too" piped.$form f.$form
    for how in "f.$form" "- <f.$form" "<(cat f.$form)"; do
        eval "\"$tepal\" query ${how/- </- asked <} $([[ $how == -* ]] || echo asked) >got"
        same "$form: query $how" got want
    done
    "$tepal" info f.$form --json | sed 's/"file": "[^"]*"/"file": "x"/' >got
    same "$form: info" got want_info
    expect "$form: verify" 0 '' '' "$tepal" verify -q f.$form
    # receive says the same of it, and writes the same
    "$tepal" receive f.$form --like f -o taken >got
    "$tepal" receive f --like f >plain
    is "$form: receive" "$(sed "s/^f.$form:/f:/" got)" "$(cat plain)"
    same "$form: what was received" taken f
    "$tepal" receive - --like f.$form -o taken.$form --compress $form --force <f.$form >got
    is "$form: receive from a pipe" "$(sed 's/^standard input:/f:/' got)" "$(cat plain)"
    same "$form: received and compressed" taken.$form f.$form
    # the limit is on what it unpacks to
    bytes=$(stat -c %s f)
    attempt "$tepal" receive f.$form --max-bytes $((bytes - 1))
    is "$form: receive, a byte too much" "$code $out" "1 f.$form: refused: according to its header it has $bytes bytes; the limit is $((bytes - 1))"
    attempt "$tepal" receive f.$form --max-bytes $bytes
    is "$form: receive, just right" "$code" 0
    refused "$form: query, a byte too much" "f.$form: according to its header the filter is larger than the limit (byte 208)" \
        "$tepal" query f.$form asked --max-bytes $((bytes - 1))
    expect "$form: query, just right" 0 "$(cat want)"$'\n' '' "$tepal" query f.$form asked --max-bytes $bytes
    refused "$form: info, a byte too much" "f.$form: according to its header the filter is larger than the limit (byte 208)" \
        "$tepal" info f.$form --max-bytes $((bytes - 1))
    # in place it would change its form
    refused "$form: not in place" "f.$form: compressed, so it cannot be changed in place: give --output; nothing was changed" \
        "$tepal" add f.$form asked
    "$tepal" add f.$form asked -o more -q
    "$tepal" add f asked -o more_plain -q
    same "$form: changed with --output" more more_plain
    # truncated anywhere, or with a byte changed anywhere: never accepted with other bits
    size=$(stat -c %s f.$form)
    for cut in 0 1 2 3 5 20 $((size / 2)) $((size - 9)) $((size - 1)); do
        head -c "$cut" f.$form >cut
        attempt "$tepal" receive cut --like f
        is "$form: truncated at $cut is refused" "$code" 1
        attempt "$tepal" query cut asked
        is "$form: truncated at $cut cannot be queried" "$code $out" '2 '
    done
    for at in 0 3 11 30 $((size / 3)) $((size / 2)) $((size - 5)); do
        python3 -c 'import sys
b = bytearray(open(sys.argv[1], "rb").read()); b[int(sys.argv[2])] ^= 0x41
open("bent", "wb").write(b)' f.$form "$at"
        attempt "$tepal" receive bent --like f -o bent_out --force
        is "$form: changed at $at" "$([[ $code = 1 ]] || cmp -s bent_out f && echo fine)" fine
    done
    head -c $((size / 2)) f.$form >cut
    attempt "$tepal" receive cut
    like "$form: truncated, and why" "$out" "^cut: refused: truncated $form data: the file ends too early \(after [0-9]+ bytes\)"
    attempt "$tepal" query cut asked
    like "$form: truncated, and why" "$err" "^tepal: cut: truncated $form data: the file ends too early \(byte [0-9]+\)"
done

# Sanitizers need more memory than this.
limit=:
if { (ulimit -v 400000 && "$tepal" --version); } >/dev/null 2>&1; then
    limit='ulimit -v 400000'
fi

# A gigabyte of zeros, and a filter with a hundred megabytes behind it, in little memory.
python3 - <<'PY'
import gzip
with gzip.GzipFile("zeros.gz", "wb", 1) as out:
    for _ in range(256):
        out.write(bytes(1 << 22))
with gzip.GzipFile("tail.gz", "wb", 1) as out:
    out.write(open("f", "rb").read())
    for _ in range(25):
        out.write(bytes(1 << 22))
PY
attempt bash -c "$limit; exec \"\$@\"" - "$tepal" receive zeros.gz
like 'zeros are no filter' "$code $out" '^1 zeros.gz: refused: the first bytes are not those of a tepal filter'
attempt bash -c "$limit; exec \"\$@\"" - "$tepal" query zeros.gz asked
is 'zeros cannot be queried' "$code $out" '2 '
attempt bash -c "$limit; exec \"\$@\"" - "$tepal" receive tail.gz
like 'a filter with something behind it' "$code $out" '^1 tail.gz: refused: .*longer'
attempt bash -c "$limit; exec \"\$@\"" - "$tepal" query tail.gz asked
like 'the same for query' "$code $err" '^2 .*longer'
# A header that claims much is believed up to the limit only.
"$tepal" build keys -o big.gz --bits 400M --hashes 3 --seed 7 --compress gzip -q
is 'a large filter is a small file' "$(($(stat -c %s big.gz) < 2000000))" 1
attempt bash -c "$limit; exec \"\$@\"" - "$tepal" receive big.gz --max-bytes 1M
like 'refused by its header' "$code $out" '^1 big.gz: refused: according to its header it has [0-9]+ bytes; the limit is 1000000'

# What is at the output: a compressed filter may be replaced, other compressed things may not.
"$tepal" build keys -o f.gzip --seed 1 --compress gzip -q
is 'replaced' "$?" 0
gzip -c keys >other.gz
refused 'not a filter' 'other.gz: the file exists and is not a filter; use --force to overwrite it; nothing was written' \
    "$tepal" build keys -o other.gz --compress gzip -q
refused 'no such form' "build: --compress lzma: not one of gzip, zstd" "$tepal" build keys -o x --compress lzma
rm -rf none
refused 'no such directory' 'none/x: cannot write to the directory none: No such file or directory; nothing was written' \
    "$tepal" build keys -o none/x --compress gzip
is 'nothing is left behind' "$(ls -A | grep -c '^.tepal-')" 0

finish
