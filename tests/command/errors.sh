#!/usr/bin/env bash
# errors: each wrong input gets one line and exit status 2, and leaves every file as it was.
source "$(dirname "$0")/lib.sh"

seq 1 100 >keys
"$tepal" build keys -o f --seed 7 -q
cp f kept
sums() {
    find . -type f ! -name '*.sum' -exec cksum {} + | sort -k3
}
sums >"$work/before"

bad() {
    local name=$1 message=$2
    shift 2
    refused "$name" "$message" "$tepal" "$@"
}

# ---- commands and options
bad 'unknown command' 'unknown command buidl; did you mean build?' buidl
bad 'unknown command, nothing near' "unknown command xyzzy; 'tepal help' lists them" xyzzy
bad 'option before the command' \
    "unknown option --fp; the command comes first: see 'tepal help'" --fp 1% build
bad 'unknown option' 'build: unknown option --layuot; did you mean --layout?' build --layuot flat
bad 'unknown option with a value' 'build: unknown option --ouput; did you mean --output?' \
    build keys --ouput=x
bad 'unknown option, nothing near' \
    "build: unknown option --xyzzy; see 'tepal build --help'" build --xyzzy
bad 'unknown letter' "build: unknown option -Z; see 'tepal build --help'" build -Z
bad 'nearly the version' 'unknown option --verson; did you mean --version?' --verson
bad 'an end of options before the command' \
    "unknown option --; the command comes first: see 'tepal help'" -- build
bad 'a value where none belongs' 'build: --json takes no value' build --json=1 -o x
bad 'no value' 'build: --fp needs a value (RATE)' build keys -o x --fp
bad 'no value, short' 'build: --output needs a value (FILE)' build keys -o
bad 'an empty name' "build: --output '': a file name is needed" build keys -o ''
bad 'no output' 'build: --output FILE is needed' build keys
bad 'an option of another command' \
    "info: unknown option --fp; see 'tepal info --help'" info f --fp 1%
bad 'one word too many' \
    "demo: unexpected argument: now; see 'tepal demo --help'" demo now
bad 'unknown application' "app: unknown application xyzzy; 'tepal app' lists them" app xyzzy
bad 'nearly an application' 'app: unknown application stopst; did you mean stopset?' app stopst
bad 'help for an unknown application' "help: unknown application xyzzy; 'tepal app' lists them" \
    help app xyzzy
bad 'help for two words' 'help: unexpected argument: query' help info query
bad 'a kind that is not built' 'build: --kind retouched: build does not make this kind; nothing was written' \
    build keys -o x --kind retouched
bad 'unknown help' 'help: unknown command infos; did you mean info?' help infos
bad 'unknown shell' 'completion: unknown shell csh: not one of bash, zsh, fish; did you mean zsh?' \
    completion csh
bad 'no shell' "completion: the name of a shell (bash, zsh, fish) is needed; see 'tepal completion --help'" \
    completion

# ---- numbers
for rate in 0 1 2 -0.1 0% 100% 1/1; do
    bad "--fp $rate" "build: --fp $rate: out of range: a rate must be above 0 and below 1" \
        build keys -o x --fp $rate
done
for rate in nan inf abc 1%% 0x1p-2 1/0 '' ' '; do
    bad "--fp '$rate'" "build: --fp ${rate:-''}: not a rate: write 1%, 0.01, 1e-2 or 1/100" \
        build keys -o x --fp "$rate"
done
bad '--bits 0' 'build: --bits 0: too small: the minimum is 1' build keys -o x --bits 0
bad '--bits over the limit' 'build: --bits 2000P: too large: the maximum is 1152921504606846976' \
    build keys -o x --bits 2000P
bad '--bits -5' 'build: --bits -5: negative' build keys -o x --bits -5
bad '--bits 1.5' 'build: --bits 1.5: not a whole number' build keys -o x --bits 1.5
bad '--bits abc' \
    'build: --bits abc: not a number' build keys -o x --bits abc
bad '--bits 10X' \
    'build: --bits 10X: not a number: the suffixes are k M G T P (1000) and Ki Mi Gi Ti Pi (1024)' \
    build keys -o x --bits 10X
bad '--bits 10m' 'build: --bits 10m: not a number: m means minutes; write 10M (millions) or 10Mi' \
    build keys -o x --bits 10m
bad '--bits overflow' \
    'build: --bits 99999999999999999999: too large: the maximum is 18446744073709551615' \
    build keys -o x --bits 99999999999999999999
bad '--hashes 0' 'build: --hashes 0: too small: the minimum is 1' build keys -o x --hashes 0
bad '--hashes 65' 'build: --hashes 65: too large: the maximum is 64' build keys -o x --hashes 65
bad '--capacity 0' 'build: --capacity 0: too small: the minimum is 1' build keys -o x --capacity 0
bad '--capacity overflow' \
    'build: --capacity 1e20: too large: the maximum is 18446744073709551615' \
    build keys -o x --capacity 1e20
bad '--bits-per-key 0' 'build: --bits-per-key 0: must be above 0' build keys -o x --bits-per-key 0
bad '--bits-per-key nan' 'build: --bits-per-key nan: not a number' build keys -o x --bits-per-key nan
bad '--seed -1' 'build: --seed -1: not a seed: a whole number, decimal or 0x...' \
    build keys -o x --seed -1
bad '--seed too large' \
    'build: --seed 18446744073709551616: too large: the maximum is 18446744073709551615' \
    build keys -o x --seed 18446744073709551616
bad '--layout' \
    'build: --layout block: not one of flat, partitioned, blocked, paired; did you mean blocked?' \
    build keys -o x --layout block
bad '--positions' 'build: --positions any: not one of colliding, distinct' \
    build keys -o x --positions any
bad '--kind' 'build: --kind blom: not one of bloom, retouched, generalized, counting, fingerprint, yesno, recycling, cascade, growing, chain; did you mean bloom?' build keys -o x --kind blom

# ---- numbers that only contradict each other
bad '--fp and --bits' 'build: --fp and --bits cannot be combined: give one of them' \
    build keys -o x --fp 1% --bits 1000
bad '--fp and --bits-per-key' 'build: --fp and --bits-per-key cannot be combined: give one of them' \
    build keys -o x --bits-per-key 5 --fp 1%
bad '--bits-per-key and --bits' \
    'build: --bits-per-key and --bits cannot be combined: give one of them' \
    build keys -o x --bits-per-key 5 --bits 1000
bad 'blocked: whole lines' \
    'build: --bits 1000: the blocked layout needs a multiple of 512; the next is 1024; nothing was written' \
    build keys -o x --bits 1000 --layout blocked
bad 'blocked: 17 hashes' \
    "build: --hashes 17: the number of hash functions is over the blocked layout's limit of 16; nothing was written" \
    build keys -o x --hashes 17 --layout blocked
bad 'paired: 33 hashes' \
    "build: --hashes 33: the number of hash functions is over the paired layout's limit of 32; nothing was written" \
    build keys -o x --hashes 33 --layout paired
bad 'partitioned: more hashes than bits' \
    'build: the partitioned layout needs at least one cell per hash function; nothing was written' \
    build keys -o x --bits 5 --hashes 6 --layout partitioned
bad 'a capacity beyond all sizes' \
    'build: no size up to 2^60 bits holds this many keys at this rate with the flat layout; nothing was written' \
    build keys -o x --capacity 1e18
bad 'bits per key beyond all sizes' \
    'build: the filter would be larger than the limit of 2^60 bits; nothing was written' \
    build keys -o x --bits-per-key 1e30
run "$tepal" build keys -o x --capacity 1e15
is 'a filter beyond memory: exit status' "$code" 2
is 'a filter beyond memory' "$(tail -1 "$work/err" | sed 's/take .* bytes/take N bytes/')" \
    'tepal: build: out of memory: the filter would take N bytes (1.1 PiB); nothing was written'

# ---- key files
bad 'no such keys' 'none: No such file or directory; nothing was written' build none -o x
bad 'the second file is missing' 'none: No such file or directory; nothing was written' \
    build keys none -o x
bad 'a name that is empty' "'': No such file or directory; nothing was written" build '' -o x
bad 'keys in a directory' '.: Is a directory; nothing was written' build . -o x
refused 'standard input is a directory' 'standard input: Is a directory; nothing was written' \
    "$tepal" build -o x <.
refused 'standard input is closed' 'standard input: Bad file descriptor; nothing was written' \
    "$tepal" build -o x <&-
bad 'standard input twice' \
    'standard input: given twice, but it can be read only once; nothing was written' \
    build - - -o x
if [[ $(id -u) != 0 ]]; then
    touch secret
    chmod 000 secret
    bad 'unreadable keys' 'secret: Permission denied; nothing was written' build secret -o x
    rm -f secret
fi
refused 'a name with a newline stays on one line' \
    'a\x0ab: No such file or directory; nothing was written' "$tepal" build $'a\nb' -o x

# ---- outputs
bad 'the output is the input' \
    'keys: the filter would overwrite the keys; nothing was written' build keys -o keys
bad 'even with --force' \
    'keys: the filter would overwrite the keys; nothing was written' \
    build keys -o ./keys --force
ln keys hard
bad 'by another name' 'hard: the filter would overwrite the keys; nothing was written' \
    build hard -o keys
ln -s keys soft
bad 'through a link' 'keys: the filter would overwrite the keys; nothing was written' \
    build keys -o soft
refused 'by standard input' \
    'standard input: the filter would overwrite the keys; nothing was written' \
    "$tepal" build - -o keys <keys
rm hard soft
bad 'the output is a directory' '.: Is a directory; nothing was written' build keys -o .
bad 'the output has a slash at its end' 'x/: Is a directory; nothing was written' build keys -o x/
bad 'no such directory' \
    'no/x: cannot write to the directory no: No such file or directory; nothing was written' \
    build keys -o no/x
bad 'a directory that is a file' \
    'keys/x: cannot write to the directory keys: Not a directory; nothing was written' \
    build keys -o keys/x
bad 'a device' \
    '/dev/full: not a regular file (write to - and redirect instead); nothing was written' \
    build keys -o /dev/full
if [[ $(id -u) != 0 ]]; then
    mkdir locked
    chmod 555 locked
    bad 'an unwritable directory' \
        'locked/x: cannot write to the directory locked: Permission denied; nothing was written' \
        build keys -o locked/x
    rmdir locked
fi
# shellcheck disable=SC2094 # that is what is refused
refused 'by standard input, not named' \
    'standard input: the filter would overwrite the keys; nothing was written' \
    "$tepal" build -o keys --force <keys
ln -s nowhere dangling
bad 'a link to nothing' \
    'dangling: the symbolic link cannot be followed: No such file or directory; nothing was written' \
    build keys -o dangling
rm dangling

# Permissions are looked at before the keys are read: these keys never end.
if unprivileged --version >/dev/null; then
    mkfifo endless
    exec 9<>endless
    mkdir drop shut
    chmod 333 drop
    chmod 777 .
    early() {
        local name=$1 message=$2
        shift 2
        refused "$name" "$message; nothing was written" \
            unprivileged build -o "$@" <endless
    }
    early 'a directory that cannot be opened' \
        'drop/x: cannot write to the directory drop: Permission denied' drop/x
    cp f shut/f
    chmod 555 shut
    ln -s shut/f soft
    early 'the directory of what a link leads to' \
        "soft: cannot write to the directory $PWD/shut: Permission denied" soft
    rm soft
    chmod 755 shut
    cp f unread
    chmod 000 unread
    early 'an output that cannot be read' 'unread: cannot open the file: Permission denied' unread
    rm -f unread
    cp f shut/f
    mkdir open
    cp f open/f
    chmod 777 open
    ln -s ../open/f shut/link
    chmod 555 shut
    expect 'a link in a directory that cannot be written to' 0 '' '' \
        unprivileged build keys -o shut/link -q
    chmod 755 shut .
    rm -rf drop shut open endless
    exec 9>&-
fi
run "$tepal" build keys -o /proc/tepal-test
is 'a place where no file can be made' "$code $(wc -l <"$work/err" | tr -d ' ')" '2 1'
like 'and why' "$(cat "$work/err")" '^tepal: /proc/tepal-test: .*; nothing was written$'
bad '-o - with --json' \
    'build: --output - and --json cannot be combined: both go to standard output' \
    build keys -o - --json

# A full disk: the limit of a file's size stands in for it. The old file survives.
limited() {
    (
        ulimit -f 8
        "$tepal" "$@"
    )
}
run limited build keys -o f --bits 1M -q
is 'a file too large: exit status' "$code" 2
like 'a file too large' "$(cat "$work/err")" '^tepal: f: .*: File too large; nothing was written$'
same 'the old filter is still there' f kept
run limited add f keys -o x --force -q
is 'a small one fits' "$code" 0
rm -f x

# ---- secret keys
printf 'short' >short.key
printf '0123456789abcdef0' >long.key
printf '0123456789abcdef0123456789abcdeg' >bad.key
head -c 100 /dev/zero >huge.key
secret() {
    local name=$1 message=$2 file=$3
    bad "$name" "$file: $message; nothing was written" build keys -o x --key-file "$file"
}
want='not a secret key: 16 raw bytes or 32 hexadecimal digits are needed, and the file has'
secret 'a short key' "$want 5 bytes" short.key
secret 'a long key' "$want 17 bytes" long.key
secret 'a huge key' "$want at least 64 bytes" huge.key
secret 'not hexadecimal' 'not a secret key: character 32 is not a hexadecimal digit' bad.key
secret 'no key file' 'No such file or directory' none.key
secret 'a key file that is a directory' 'Is a directory' .
rm -f ./*.key

# ---- nothing has happened to any file
absent 'no filter was written' x
sums >"$work/after"
same 'all files are as they were' "$work/before" "$work/after"
is 'no other file was left' "$(find . -name '.tepal*' | wc -l | tr -d ' ')" 0

finish
