#!/usr/bin/env bash
# keys: separators, hexadecimal, compression, long and strange keys, byte for byte.
source "$(dirname "$0")/lib.sh"

# A filter of all of a file's keys gives them all back, exactly.
round_trip() {
    local name=$1 file=$2
    shift 2
    "$tepal" build "$file" -o "$work/rt" --seed 5 --fp 1e-9 -q "$@"
    run "$tepal" query "$work/rt" "$file" "$@"
    is "$name: exit status" "$code" 0
    same "$name: every key comes back as it was" "$work/out" "$file"
}

seq 1 5000 >plain
round_trip 'lines' plain
printf '\n' >one_empty
round_trip 'an empty key' one_empty
printf 'a\n\n\nb\n' >empties
round_trip 'empty keys between others' empties
printf 'a b\n\ttab\n trailing \n' >spaces
round_trip 'spaces and tabs' spaces
printf 'a\0b\nc\0\n' >nuls
round_trip 'NUL bytes in lines' nuls
printf 'a\0b\nc\0\0' >nul_separated
round_trip 'NUL separated' nul_separated -0
printf '\xff\xfe\n\x80\n' >bytes
round_trip 'bytes that are not text' bytes
head -c 3000000 /dev/zero | tr '\0' k >long
printf '\nshort\n' >>long
round_trip 'a key of three million bytes' long

printf 'a\nb' >unfinished
"$tepal" build unfinished -o u --seed 5 --fp 1e-9 -q
expect 'the last line without a newline is a key, and gets one' 0 $'a\nb\n' '' \
    "$tepal" query u unfinished
printf 'alone' >alone
"$tepal" build alone -o al --seed 5 --fp 1e-9 -q
expect 'a single line without a newline' 0 $'alone\n' '' "$tepal" query al alone
printf 'a\0b' >unfinished0
"$tepal" build unfinished0 -o u0 -0 --seed 5 --fp 1e-9 -q
same 'with -0 the same keys' u u0
run "$tepal" query -0 u unfinished0
printf 'a\0b\0' >"$work/want"
same 'the last key gets its NUL' "$work/out" "$work/want"
run "$tepal" query -0 --tsv u unfinished0
printf 'a\t1\0b\t1\0' >"$work/want"
same '--tsv with -0' "$work/out" "$work/want"

# A carriage return belongs to the key.
printf 'a\r\n' >crlf
"$tepal" build crlf -o c --seed 5 --fp 1e-9 -q
expect 'a carriage return counts' 1 '' '' "$tepal" query c <<<'a'
expect 'and is given back, with a warning' 0 $'a\r\n' \
    $'tepal: crlf: warning: 1 of 1 line ends with a carriage return, which is part of the key: --crlf takes it off\n' \
    "$tepal" query c crlf

# Hexadecimal keys are the bytes they stand for; query prints the text.
printf '61\n6A6b\n\n' >hex
printf 'a\njk\n\n' >text
"$tepal" build hex -o h1 --hex --seed 5 -q
"$tepal" build text -o h2 --seed 5 -q
same 'hexadecimal keys are bytes' h1 h2
expect 'query --hex prints what it read' 0 $'61\n6A6b\n\n' '' "$tepal" query --hex h2 hex
printf '61\0006162' >hex0
"$tepal" build hex0 -o h3 --hex -0 --seed 5 -q
printf 'a\nab\n' >text3
"$tepal" build text3 -o h4 --seed 5 -q
same '--hex with -0' h3 h4

# gzip and zstd are recognised by their first bytes, in files, in pipes and in pieces.
"$tepal" build plain -o want --seed 5 -q
gzip -k -c plain >packed.txt
"$tepal" build packed.txt -o got --seed 5 -q
same 'gzip' got want
zstd -q -c plain >packed2.txt
"$tepal" build packed2.txt -o got --seed 5 -q
same 'zstd' got want
gzip -c plain | "$tepal" build -o got --seed 5 -q
same 'gzip from a pipe' got want
zstd -q -c plain | "$tepal" build -o got --seed 5 -q
same 'zstd from a pipe' got want
head -2500 plain >first
tail -2500 plain >second
{ gzip -c first; gzip -c second; } >two.gz
"$tepal" build two.gz -o got --seed 5 -q
same 'two gzip members' got want
{ zstd -q -c first; zstd -q -c second; } >two.zst
"$tepal" build two.zst -o got --seed 5 -q
same 'two zstd frames' got want
gzip -c first >first.gz
"$tepal" build first.gz second -o got --seed 5 -q
same 'a compressed and a plain file' got want
: | gzip -c >none.gz
run "$tepal" build none.gz -o got --seed 5
is 'gzip of nothing' "$code $(head -1 "$work/err")" \
    '0 tepal: got: warning: no keys in the input: the filter is empty'
"$tepal" query want packed.txt >"$work/out"
same 'query reads gzip too' "$work/out" plain
gzip -c plain >g.gz
"$tepal" build --plain g.gz -o got --seed 5 -q
if cmp -s got want; then fail '--plain decompresses'; else pass; fi
run "$tepal" query -c --plain got g.gz
is '--plain reads the bytes' "$code" 0

# xz, whole, in two streams, from a pipe in pieces.
xz -k -c plain >packed3.txt
"$tepal" build packed3.txt -o got --seed 5 -q
same 'xz' got want
{ xz -c first; xz -c second; } >two.xz
"$tepal" build two.xz -o got --seed 5 -q
same 'two xz streams' got want
python3 -c 'import sys
for byte in open("packed3.txt", "rb").read():
    sys.stdout.buffer.write(bytes([byte]))
    sys.stdout.flush()' | "$tepal" build -o got --seed 5 -q
same 'xz from a pipe, byte by byte' got want

# What is no list of keys says so, unless it is taken as it is.
python3 -c 'import bz2; open("packed.bz2", "wb").write(bz2.compress(open("plain", "rb").read()))
open("none.bz2", "wb").write(bz2.compress(b""))'
for file in packed.bz2 none.bz2; do
    refused "bzip2: $file" "$file: compressed with bzip2, which is not read: decompress it into a \
pipe, as in bzcat FILE | tepal ... - (--plain takes any bytes as keys); nothing was written" \
        "$tepal" build "$file" -o broken
done
printf 'BZh9 is a key\n' >bz_key
round_trip 'a key that begins as bzip2 does' bz_key
refused 'a filter as keys' "want: a tepal filter, not a list of keys (--plain takes any bytes as \
keys); nothing was written" "$tepal" build want -o broken
gzip -c want >want.gz
refused 'a compressed filter as keys' "want.gz: a tepal filter, not a list of keys (--plain takes \
any bytes as keys); nothing was written" "$tepal" build plain want.gz -o broken
refused 'a filter as keys of -0' "standard input: a tepal filter, not a list of keys (--plain \
takes any bytes as keys); nothing was written" "$tepal" build -0 -o broken <want
expect '--plain takes it' 0 '' '' "$tepal" build --plain want packed.bz2 -o got -q
printf '\x89TEPAL\rx\n' >nearly
round_trip 'a key that begins as filters do' nearly
printf '\x89TEP' >short
expect 'a shorter one' 0 $'1\n' '' "$tepal" query -vc u short
absent 'none of these wrote anything' broken

# Damage: an error that names the file, and no filter.
head -c 2000 g.gz >cut.gz
refused 'truncated gzip' \
    'cut.gz: truncated gzip data: the file ends too early; nothing was written' \
    "$tepal" build cut.gz -o broken
absent 'truncated gzip writes nothing' broken
head -c 3000 packed2.txt >cut.zst
refused 'truncated zstd' \
    'cut.zst: truncated zstd data: the file ends too early; nothing was written' \
    "$tepal" build plain cut.zst -o broken --capacity 10
absent 'truncated zstd writes nothing' broken
head -c 1500 packed3.txt >cut.xz
refused 'truncated xz' \
    'cut.xz: truncated xz data: the file ends too early; nothing was written' \
    "$tepal" build plain cut.xz -o broken
refused 'truncated gzip on standard input' \
    'standard input: truncated gzip data: the file ends too early; nothing was written' \
    "$tepal" build -o broken <cut.gz
{ cat g.gz; echo x; } >tail.gz
refused 'bytes after gzip' \
    'tail.gz: damaged gzip data: unexpected bytes after its end; nothing was written' \
    "$tepal" build tail.gz -o broken
{ cat packed2.txt; echo "not a frame"; } >tail.zst
refused 'bytes after zstd' \
    'tail.zst: damaged zstd data: unexpected bytes after its end; nothing was written' \
    "$tepal" build tail.zst -o broken
python3 - <<'PY'
data = bytearray(open("g.gz", "rb").read())
data[-7] ^= 0x40
open("bad.gz", "wb").write(data)
PY
refused 'a wrong gzip checksum' 'bad.gz: damaged gzip data; nothing was written' \
    "$tepal" build bad.gz -o broken
python3 - <<'PY'
data = bytearray(open("packed3.txt", "rb").read())
data[len(data) // 2] ^= 0x40
open("bad.xz", "wb").write(data)
PY
refused 'a changed byte of xz' 'bad.xz: damaged xz data; nothing was written' \
    "$tepal" build bad.xz -o broken
absent 'damage writes nothing' broken

# Hexadecimal that is not.
printf '61\n616\n' >odd
refused 'odd hexadecimal' \
    'odd: line 2, character 3: an odd number of hexadecimal digits; nothing was written' \
    "$tepal" build --hex odd -o broken
printf '61\n62\n6x\n' >wrong
refused 'wrong hexadecimal' \
    'wrong: line 3, character 2: not a hexadecimal digit; nothing was written' \
    "$tepal" build --hex wrong -o broken
refused 'wrong hexadecimal, NUL separated' \
    'standard input: key 2, character 1: not a hexadecimal digit; nothing was written' \
    "$tepal" build --hex -0 -o broken < <(printf '61\0zz\0')
seq 1 9999 | sed 's/.*/6162/' >far
echo 616 >>far
refused 'the line number counts from the start' \
    'far: line 10000, character 3: an odd number of hexadecimal digits; nothing was written' \
    "$tepal" build --hex far -q -o broken
absent 'wrong hexadecimal writes nothing' broken
run "$tepal" query --hex h2 wrong
is 'query --hex stops with an error' "$code $(cat "$work/err")" \
    '2 tepal: wrong: line 3, character 2: not a hexadecimal digit'

# ---- lists as others write them: a warning with counts that names the remedy, and the remedy
printf '# a list\r\none\r\ntwo\r\none\r\n\r\n' >crlf
printf 'one\ntwo\n' >lf
run "$tepal" build crlf -o crlf.tepal --seed 1
is 'a list with carriage returns, comments and repeats' "$code $(grep warning "$work/err")" \
    '0 tepal: crlf: warning: 5 of 5 lines end with a carriage return, which is part of the key: --crlf takes it off
tepal: crlf: warning: 1 of 5 lines begins with # and is taken as a key: --comments leaves such lines out
tepal: crlf: warning: 1 of 5 keys came before: a key counts as often as it comes; --unique takes each once'
"$tepal" build lf -o lf.tepal --seed 1 -q
run "$tepal" build crlf -o crlf.tepal --seed 1 --crlf --comments --unique
is 'the remedies' "$code $(grep -E 'warning|comments|repeats' "$work/err")" \
    '0 comments   2 lines left out
repeats    1 key left out'
same 'give the filter of the plain list' lf.tepal crlf.tepal
for jobs in 1 3; do
    run bash -c '"$0" build -o - --seed 1 -q --crlf --comments --unique --jobs "$1" <crlf >out.tepal' "$tepal" $jobs
    same "from a pipe, $jobs jobs" lf.tepal out.tepal
done
expect 'query prints lines as they stand, and no comment' 0 $'one\r\ntwo\r\none\r\n' '' \
    "$tepal" query lf.tepal crlf --crlf --comments
run "$tepal" query lf.tepal crlf
like 'query warns, too' "$code $(cat "$work/err")" '^1 tepal: crlf: warning: 5 of 5 lines end with a carriage'
expect 'unless it is quiet' 1 '' '' "$tepal" query lf.tepal crlf -q
printf '\xef\xbb\xbfone\ntwo\n' >marked
run "$tepal" build marked -o marked.tepal --seed 1
is 'a byte order mark' "$code $(grep warning "$work/err")" \
    '0 tepal: marked: warning: the list begins with a byte order mark, which is left out: --plain takes it for a part of the first key'
same 'gives the filter of the plain list' lf.tepal marked.tepal
for jobs in 1 3; do
    run bash -c '"$0" build -o - --seed 1 -q --jobs "$1" < <(cat marked) >out.tepal' "$tepal" $jobs
    same "from a pipe too, $jobs jobs" lf.tepal out.tepal
done
is 'of each file' "$("$tepal" query lf.tepal marked marked 2>&1 | tr '\n' ' ' | sed 's/tepal: marked: warning: [^:]*: [^:]* first key/warned/g')" \
    'warned warned one two one two '
expect 'and nowhere else' 0 $'one\n' '' "$tepal" query lf.tepal < <(printf 'one\n\xef\xbb\xbftwo\n')
expect 'with --plain it is part of the key' 0 $'two\n' '' "$tepal" query lf.tepal marked --plain
expect 'lines are numbered and hexadecimal as ever' 2 '' \
    $'tepal: standard input: line 1, character 2: not a hexadecimal digit\n' \
    "$tepal" query lf.tepal --hex -q < <(printf '\xef\xbb\xbf6g\n')
expect 'dedup prints no mark' 0 $'one\ntwo\n' '' "$tepal" dedup marked -q --seed 1
printf '\xef\xbb\xbf' >only
run "$tepal" dedup only -c --seed 1 -q
like 'a mark alone is no key' "$code $(cat "$work/out")" '^0 0'
printf '\xef\xbb\xbf\n' >empty_line
is 'before an empty line it is an empty key' "$("$tepal" dedup empty_line -q --seed 1 | od -An -c)" \
    "$(printf '\n' | od -An -c)"
printf '\xef\xbb' >half
is 'half of one is a key' "$("$tepal" dedup half -q --seed 1 | od -An -tx1)" ' ef bb 0a'
seq -f $'host-%.0f.example.net\r' 4000 >long_crlf # more than one reading, and fewer lines than are looked at
run "$tepal" query lf.tepal long_crlf
like 'a long list is looked at in part, and that is said' "$(cat "$work/err")" \
    '^tepal: long_crlf: warning: ([0-9]+) of the first \1 lines end with a carriage'
printf 'a one\r\n' >fields
expect 'the last field ends before the carriage return' 0 $'a one\r\n' '' \
    "$tepal" query lf.tepal fields --field 2 --crlf
expect 'another field does not need it' 1 '' '' "$tepal" query lf.tepal fields --field 1
printf '#a\n#b\n' >tags
expect 'lists in which all begin with # have no comments' 1 '' '' "$tepal" query lf.tepal tags
printf '\r\n61\r\n#no\r\n6' >hex
refused 'lines that are left out are counted where a place is told' \
    'hex: line 4, character 1: an odd number of hexadecimal digits; nothing was written' \
    "$tepal" build hex -o x.tepal --hex --crlf --comments
printf 'k\t1\r\n# no\nj\t2\r\n' >weighted
run "$tepal" build lf -o yes.tepal --kind yesno --bits 400 --avoid weighted --weights --crlf --comments --seed 1 --json
is 'weights before a carriage return' "$code $(field "$work/out" avoid_given)" '0 2'
(seq 100000 && seq 100000) >twice
run "$tepal" build twice -o twice.tepal --seed 1
like 'repeats far behind the first keys: the filter tells' "$code $(grep warning "$work/err")" \
    '^0 tepal: twice.tepal: warning: about 50 % of the keys came before, as far as the filter tells: a key counts'
run "$tepal" build twice -o twice.tepal --seed 1 --unique --json
is 'and --unique counts' "$(field "$work/out" repeats) $(field "$work/out" keys_read)" '100000 100000'
"$tepal" build <(seq 100000) -o once.tepal --seed 1 -q
same 'which is the same filter' once.tepal twice.tepal
run "$tepal" add twice.tepal twice --unique --json -o more.tepal
is 'add --unique' "$(field "$work/out" repeats)" 100000
(seq 4095 && echo 1 && seq 5000 6000) >late
run "$tepal" build late -o late.tepal --kind counting --fp 1%
like 'a repeat among the first' "$(cat "$work/err")" \
    '^tepal: late: warning: 1 of the first 4096 keys came before'

finish
