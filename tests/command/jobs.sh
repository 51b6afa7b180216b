#!/usr/bin/env bash
# jobs: the same bytes, the same words and the same exit status on 1, 2 and 7 cores, whatever the
# input looks like.
source "$(dirname "$0")/lib.sh"

# each NAME COMMAND...: runs it with --jobs 1, 2 and 7 and compares all that comes out with 1's; a
# file `out` that it writes belongs to that.
each() {
    local name=$1 jobs
    shift
    for jobs in 1 2 7; do
        rm -f out
        run "$@" --jobs "$jobs"
        echo "status $code" >>"$work/err"
        [ -e out ] || : >out
        cat "$work/out" "$work/err" out >"$work/got.$jobs"
        [ "$jobs" = 1 ] || same "$name: --jobs $jobs as --jobs 1" "$work/got.$jobs" "$work/got.1"
    done
}

# Some 600 kB, so that every thread has something to do; half of it is looked up with success.
seq 100000 160000 >members
seq 130000 200000 >asked
printf 'no newline at the end' >>asked
seq 1 3 | tr '\n' '\r' | sed 's/\r/\r\n/g' >crlf
seq 300000 350000 | sed 's/$/\r/' >>crlf
seq 400000 450000 | tr '\n' '\0' >nul
: >empty
{ head -c 700000 /dev/zero | tr '\0' l; echo; seq 1 9; head -c 300000 /dev/zero | tr '\0' m; } >huge
gzip -kc members >members.gz
zstd -qc asked >asked.zst
printf '%s\n' {1..200000} | sed 's/.*//' >blank

for layout in flat blocked paired; do
    each "build, $layout" "$tepal" build members -o out --seed 1 --layout $layout
done
each 'build, capacity known' "$tepal" build members -o out --seed 1 -n 70000
for file in crlf empty huge blank members.gz asked.zst; do
    each "build $file" "$tepal" build "$file" -o out --seed 1
done
each 'build, several files' "$tepal" build members empty asked.zst huge crlf -o out --seed 1
each 'build, NUL' "$tepal" build nul -0 -o out --seed 1
for kind in counting 'counting --choices 4' generalized fingerprint recycling growing; do
    case $kind in
    counting*) more='--bits-per-key 60' ;;
    generalized) more='--fp 1% --fn 1%' ;;
    recycling) more='--bits 1048576' ;;
    growing) more='--grow' ;;
    *) more= ;;
    esac
    [ "$kind" = growing ] || more="--kind $kind $more"
    # shellcheck disable=SC2086
    each "build, $kind" "$tepal" build members -o out --seed 1 $more
done

"$tepal" build members -o set --seed 1 -q
"$tepal" build members -o lines --seed 1 --layout blocked -q
for filter in set lines; do
    each "query $filter" "$tepal" query $filter asked
    each "query -v $filter" "$tepal" query -v $filter asked crlf huge
    each "query -c $filter" "$tepal" query -c $filter asked members.gz asked.zst
done
each 'query --tsv' "$tepal" query --tsv set asked huge
each 'query -q' "$tepal" query -q set asked
each 'query -q, nothing' "$tepal" query -q set nul
each 'query, NUL' "$tepal" query -0 set nul
each 'query, empty' "$tepal" query set empty
each 'query --json' "$tepal" query --json set asked
each 'query --field' "$tepal" measure set --members members --negatives asked
each 'dedup' "$tepal" dedup asked members asked --seed 1
each 'dedup, fields' "$tepal" dedup crlf crlf --field 1 --delimiter 3 --seed 1
each 'gaps' "$tepal" gaps asked members
each 'add' "$tepal" add set asked -o out
each 'add, compressed' "$tepal" add lines asked.zst members.gz -o out

"$tepal" build members -o same --seed 1 -q --bits 600064 -k 7
for name in one two three four five; do
    "$tepal" build <(seq 1 5000) -o $name --seed 1 -q --bits 600064 -k 7
done
cp three broken
printf 'x' | dd of=broken bs=1 seek=5000 conv=notrunc status=none
each 'verify' "$tepal" verify set lines one two three
each 'verify, damaged' "$tepal" verify one broken missing two empty lines
each 'verify --json' "$tepal" verify one broken missing two --json
each 'merge' "$tepal" merge same one two three four five -o out
each 'merge, one damaged' "$tepal" merge same one broken missing four -o out
each 'merge, one other' "$tepal" merge same one set missing -o out
each 'intersect' "$tepal" merge same one two --intersect -o out

# What is wrong is told as by one thread: after all that is before it, with the right number.
{ seq -f %08.0f 1 80000; echo 12x4; seq -f %08.0f 1 80000; echo zz; } >hex
each 'a wrong key' "$tepal" build --hex hex -o out --seed 1
"$tepal" build --hex <(seq -f %08.0f 1 5000) -o hexes --seed 1 -q
each 'a wrong key, after answers' "$tepal" query --hex hexes hex
each 'a missing file, after answers' "$tepal" query set asked missing members
head -c 100000 members.gz >cut.gz
each 'a file that is cut short' "$tepal" build cut.gz -o out --seed 1
each 'a file that is cut short, after answers' "$tepal" query set members cut.gz asked
expect 'no such number' 2 '' $'tepal: query: --jobs 0: too small: the minimum is 1\n' \
    "$tepal" query set asked --jobs 0

# Standard input: a pipe is answered before it ends, and left early without waiting for its end.
"$tepal" build members -o sure --seed 1 --fp 1e-9 -q
mkfifo pipe
for jobs in 1 2 7; do
    "$tepal" query sure --jobs $jobs <pipe >answers &
    child=$!
    exec 9>pipe
    for key in 130000 130001 130002; do
        seq 1 5000 >&9
        echo $key >&9
        for ((i = 0; i < 200; i++)); do
            [ "$(tail -n 1 answers)" = $key ] && break
            sleep 0.1
        done
        is "a pipe is answered at once, --jobs $jobs" "$(tail -n 1 answers)" $key
    done
    exec 9>&-
    wait $child
    is "its end, --jobs $jobs" "$?" 0
    timeout 60 "$tepal" query -q sure --jobs $jobs <pipe &
    child=$!
    exec 9>pipe
    seq 1 30000 >&9
    echo 130000 >&9
    wait $child
    is "the first match ends it, --jobs $jobs" "$?" 0
    exec 9>&-
    cat members | "$tepal" build - -o out --seed 1 -q --jobs $jobs
    same "build from a pipe, --jobs $jobs" out set
done

# Interrupted: nothing is written, whatever the threads are doing.
for jobs in 1 2 7; do
    rm -f out
    "$tepal" build - -o out --seed 1 --jobs $jobs <pipe 2>"$work/err" &
    child=$!
    exec 9>pipe
    cat members asked >&9
    sleep 0.2
    kill -TERM $child
    wait $child
    is "an interrupted build, --jobs $jobs" "$? $(ls out 2>/dev/null)" '143 '
    exec 9>&-
done

finish
