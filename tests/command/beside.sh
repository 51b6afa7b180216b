#!/usr/bin/env bash
# Files that are written beside a filter: mode, owner and links stay as they are with filters; what
# is denied says so, and interrupts leave nothing.
source "$(dirname "$0")/lib.sh"
seq 100 >keys
counting() {
    "$tepal" build keys -o "$1" --kind counting --capacity 1000 --seed 7 -q "${@:2}"
}
about() {
    stat -c '%a %h' "$1"
}
umask 022
counting f --receipts r
is 'a new file: what umask leaves' "$(about r)" '644 1'
chmod 600 r
counting f --receipts r --force
is 'an old one keeps its mode' "$(about r)" '600 1'
cp r want
: >secret
chmod 640 secret
ln -s secret link
counting f --receipts link --force
is 'a link stays a link' "$(readlink link)" secret
is 'and its target its mode' "$(about secret)" '640 1'
same 'and has the contents' secret want
ln -s nowhere astray
refused 'a link that leads nowhere' 'astray: Too many levels of symbolic links; nothing was written' \
    counting g --receipts astray
absent 'nothing is created through it' nowhere
absent 'nor is there a filter' g
"$tepal" convert f -o packed --compress gzip -q
chmod 600 packed
ln -s packed packed.link
"$tepal" convert f -o packed.link --compress zstd -q --force
is 'a compressed filter, too' "$(about packed) $(readlink packed.link)" '600 1 packed'
if [[ $(id -u) == 0 ]]; then
    chown 65534:65534 r
    counting f --receipts r --force
    is 'root keeps the owner' "$(stat -c '%u %g %a' r)" '65534 65534 600'
    # Whoever cannot keep the group gives its own no more than everybody has.
    mkdir shared
    counting shared/f --receipts shared/r
    chmod 777 shared
    for file in f r; do
        chown 65534:0 shared/$file
        chmod 674 shared/$file
    done
    run unprivileged build keys -o shared/f --kind counting --capacity 1000 --seed 7 -q \
        --receipts shared/r --force
    is 'the group cannot be kept' "$code $(stat -c '%u %g %a' shared/f shared/r | xargs)" \
        '0 65534 65534 644 65534 65534 644'
    rm -r shared
else
    pass
fi

# An interrupt while keys are read: neither the filter nor the receipts, nor anything else.
counting f
cp f before
rm r
mkfifo pipe
for signal in INT TERM HUP; do
    env --default-signal=$signal "$tepal" add f pipe --receipts r -q &
    child=$!
    exec 7>pipe
    echo 999 >&7
    for ((i = 0; i < 400; i++)); do
        ! ls -A | grep -q '^\.tepal' || break
        sleep 0.02
    done
    kill -$signal $child
    wait $child 2>/dev/null
    exec 7>&-
    is "SIG$signal: nothing is left" "$(ls -A | grep -c '^\.tepal\|lock')" 0
    absent "SIG$signal: no receipts" r
    same "SIG$signal: the filter is as it was" f before
done
# Nor do keys from standard input that are read twice stay in their temporary file.
mkdir spool
env --default-signal=TERM TMPDIR="$PWD/spool" "$tepal" build --auto --fp 1% -o new <pipe &
child=$!
exec 7>pipe
echo 999 >&7
for ((i = 0; i < 400; i++)); do
    [[ -z $(ls -A spool) ]] || break
    sleep 0.02
done
like 'build --auto: keys are kept' "$(ls -A spool)" '^tepal-keys-'
kill -TERM $child
wait $child 2>/dev/null
exec 7>&-
is 'build --auto: nothing is left' "$(ls -A spool | wc -l)" 0
# More files than a few: an interrupted split leaves none of a hundred.
mkdir parts
env --default-signal=TERM "$tepal" split pipe --parts 100 -o parts/p -q &
child=$!
exec 7>pipe
for ((i = 0; i < 400; i++)); do
    [[ $(ls -A parts | grep -c tmp) -lt 100 ]] || break
    sleep 0.02
done
is 'split: all parts are open' "$(ls -A parts | grep -c tmp)" 100
kill -TERM $child
wait $child 2>/dev/null
exec 7>&-
is 'split: nothing is left' "$(ls -A parts | wc -l)" 0

# Nobody reads what is printed: that ends a command, too.
printf 'a\tb\nb\tc\nb\td\n' >net
for i in 1 2 3; do
    "$tepal" app route net --all-pairs --allocations 500 --headers h | true
done
is 'a closed pipe: nothing is left' "$(ls -A | grep -c '^\.tepal')" 0
# Two outputs in one place, by two names of a file that is not there yet.
counting c
refused 'two lists in one' 'new: the output would overwrite another file of this command; nothing was changed' \
    "$tepal" remove c keys --refused new --kept ./new
refused 'receipts over the new filter' './new: the output would overwrite another file of this command; nothing was written' \
    counting new --receipts ./new
run "$tepal" app route net --from a --to d --headers new --svg ./new
is 'a header and a picture in one' "$code $(cat "$work/err")" '2 tepal: ./new: the output would overwrite another file of this command'
absent 'none of them is written' new
# What a command reads is not what it writes, whatever it is told.
own='the output would overwrite another file of this command'
cp keys part.0
ln part.0 other
printf '#cycle\tmonitor\tdst\thops\n1\tm\t10.9.0.1\t10.0.0.1 10.1.0.1 10.3.0.1\n' >routes
"$tepal" app stopset learn routes -o stops --bits 512 -q
"$tepal" plan --keys 100 --fp 1% --json >plan
printf 'a\t0\ttcp\t10.0.0.1\t1001\t10.9.9.9\t80\tS\t60\n' >packets
kept() { # kept NAME FILE STAYS COMMAND...: refused because of FILE, which is as it was
    cp "$2" before
    refused "$1" "$2: $own$3" "$tepal" "${@:4}" --force
    same "$1: it is as it was" "$2" before
}
kept 'split: a part is the input' part.0 '; nothing was written' split part.0 --parts 1 -o part
kept 'split: by another name' part.0 '; nothing was written' split other --parts 1 -o part
kept 'split: standard input' part.0 '; nothing was written' split --parts 1 -o part <part.0
kept 'compare' keys '' compare --members keys --svg keys
kept 'audit' c '' audit c --members keys --svg c
kept 'gaps' keys '; nothing was written' gaps keys --save keys
kept 'flows' packets '' app flows packets --svg packets
kept 'route' net '' app route net --from a --to d --tables net
kept 'learn' routes '; nothing was written' app stopset learn routes -o routes
kept 'learn, beside a filter' routes '; nothing was written' \
    app stopset learn routes --bits 512 -o x --seen routes
kept 'trace' stops '; nothing was written' app stopset trace routes --set stops --in-full 50% -o stops
kept 'build' plan '; nothing was written' build keys --plan plan -o plan
refused 'learn: a filter over the routes' 'routes: the filter would overwrite the routes; nothing was written' \
    "$tepal" app stopset learn routes --bits 512 -o routes --force
"$tepal" receive stops --like stops -o stops --any-fill --max-fp 1 --force -q
is 'but the filter of --like may be replaced' $? 0
finish
