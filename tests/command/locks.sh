#!/usr/bin/env bash
# Locks: who waits, who refuses, and what a planted FILE.lock can do.
source "$(dirname "$0")/lib.sh"
seq 100 >low
seq 101 200 >high
"$tepal" build low -o base --fp 1e-6 --capacity 10k --seed 7 -q
count() {
    "$tepal" query -c "$1" "$2"
}

# held FILE: another command holds its lock until `let_go`.
held() {
    exec 8>>"$1.lock"
    flock -w 20 8 || fail "the lock of $1 is free"
}
let_go() {
    rm -f "$1.lock"
    exec 8>&-
}

# A command with a lock that does not work may end too early, or never: a test that fails must not
# hang. `ended PID` is its exit status, after 20 seconds that of one that was killed.
ended() {
    local i
    for ((i = 0; i < 1000; i++)); do
        kill -0 "$1" 2>/dev/null || break
        sleep 0.02
    done
    ((i < 1000)) || kill -KILL "$1"
    wait "$1"
}

# meet PID PIPE: descriptor 7 writes to the pipe, once the command reads it or has ended.
meet() {
    local i watch
    rm -f "$work/met"
    {
        for ((i = 0; i < 1000; i++)); do
            [[ ! -e $work/met ]] && kill -0 "$1" 2>/dev/null || break
            sleep 0.02
        done
        : <>"$2" # opens its other end
    } 7>&- 8>&- &
    watch=$!
    exec 7>"$2"
    : >"$work/met"
    wait $watch
    kill -0 "$1" 2>/dev/null || exec 7<>"$2"
}
busy='f: another command is changing this file'
cp base f
cp base before
held f
refused 'add --no-wait' "$busy; nothing was changed" "$tepal" add f high --no-wait
refused 'merge --no-wait' "$busy; nothing was written" \
    "$tepal" merge f base -o f --force --no-wait
refused 'diff --no-wait' "$busy; nothing was written" "$tepal" diff f base -o f --force --no-wait
refused 'convert --no-wait' "$busy; nothing was written" \
    "$tepal" convert f -o f --force --no-wait
refused 'retouch --no-wait' "$busy; nothing was written" \
    "$tepal" retouch f --members low --avoid high -o f --force --no-wait
refused 'receive --no-wait, onto its input' "$busy; nothing was written" \
    "$tepal" receive f -o f --force --no-wait
refused 'split --no-wait' "$busy; nothing was written" "$tepal" split low --parts 2 -o f --no-wait
refused 'dedup does not wait' "$busy; nothing was read" "$tepal" dedup --state f low
refused 'another name of it' "link: another command is changing this file; nothing was changed" \
    bash -c 'ln -s f link; "$0" add link high --no-wait' "$tepal"
same 'nothing was changed' f before
is 'readers do not wait' "$(timeout 20 "$tepal" query -c f low)" 100
is 'nor do those who write elsewhere' "$(timeout 20 "$tepal" add f high -o g --no-wait -q && count g high)" 100

# Those who wait say so after a second, and not before; all of them get their turn.
for command in 'add f high' 'merge f g -o f --force' 'convert f -o f --force' \
    'build high -o f --fp 1e-6 --capacity 10k --seed 7'; do
    cp base f
    [[ $command == convert* ]] && want=0 || want=100
    held f
    "$tepal" $command 2>"$work/waits" 8>&- &
    sleep 0.3
    is "$command: waits without a word" "$(cat "$work/waits")" ''
    for ((i = 0; i < 400; i++)); do
        [[ ! -s $work/waits ]] || break
        sleep 0.05
    done
    is "$command: says that it waits" "$(cat "$work/waits")" \
        'tepal: f: warning: another command is changing this file: waiting for it'
    same "$command: nothing has happened" f base
    let_go f
    ended $!
    is "$command: done" "$? $(count f high)" "0 $want"
done
absent 'no lock is left' f.lock

# Whoever waits for a lock that goes, and then is another's, waits on.
cp base f
held f
"$tepal" add f high 2>"$work/waits" 8>&- &
for ((i = 0; i < 400; i++)); do
    [[ ! -s $work/waits ]] || break
    sleep 0.05
done
exec 9>>next # locked before it has the name: nobody comes in between
flock 9
mv next f.lock
exec 8>&-
sleep 0.5
same 'the next holder of the lock: nothing has happened' f base
rm f.lock
exec 9>&-
ended $!
is 'the next holder of the lock: done' "$? $(count f high)" '0 100'
# And whoever has one removes no other.
cp base f
mkfifo keys
"$tepal" add f keys -q &
child=$!
meet $child keys
for ((i = 0; i < 400; i++)); do
    [[ ! -e f.lock ]] || flock -n f.lock true || break
    sleep 0.02
done
rm f.lock
held f
echo 150 >&7
exec 7>&-
ended $child
is "another's lock: done" "$? $(ls f.lock)" '0 f.lock'
let_go f
rm keys

# A lock that a killed command left means nothing.
cp base f
: >f.lock
expect 'a lock without a holder' 0 '' '' "$tepal" add f high -q --no-wait
absent 'it goes with the next one' f.lock
is 'and its keys are there' "$(count f high)" 100

# What is planted in its place is not followed, not opened, not changed.
cp base f
ln -s target f.lock
refused 'a link in the place of the lock' \
    "f: its lock $PWD/f.lock is a symbolic link: remove it; nothing was changed" \
    timeout 20 "$tepal" add f high
absent 'nothing is created through it' target
rm f.lock
mkfifo f.lock
refused 'a pipe in the place of the lock' "f: its lock $PWD/f.lock is not a regular file; nothing was changed" \
    timeout 20 "$tepal" add f high
rm f.lock
mkdir f.lock
refused 'a folder in the place of the lock' "f: its lock $PWD/f.lock is not a regular file; nothing was read" \
    timeout 20 "$tepal" dedup --state f low
rmdir f.lock
same 'and the filter is as it was' f base
# What has contents is somebody else's file, not a lock.
echo theirs >f.lock
refused 'a file with contents in the place of the lock' \
    "f: its lock would be $PWD/f.lock, but that has contents: move it, or give the filter another name; nothing was changed" \
    "$tepal" add f high
refused 'nor is a new filter made beside it' \
    "new: its lock would be new.lock, but that has contents: move it, or give the filter another name; nothing was written" \
    bash -c 'mv f.lock new.lock; "$0" build high -o new -q' "$tepal"
is 'it is still there' "$(cat new.lock)" theirs
absent 'nothing was written' new
rm new.lock
long=$(printf 'n%.0s' {1..255})
cp base "$long"
expect 'the longest name there is' 0 '' '' "$tepal" add "$long" high -q
is 'no lock is left beside it' "$(ls | grep -c lock)" 0

# A link that leads elsewhere meanwhile: what was locked is written, and nothing else.
cp base one
cp base two
cp base before
ln -s one current
mkfifo keys
for command in 'add current keys' 'dedup --state current keys'; do
    if [[ $command == dedup* ]]; then
        rm one
        "$tepal" dedup --state one --memory 2Ki --seed 7 -q low >/dev/null
    fi
    ln -sfn one current
    "$tepal" $command -q >/dev/null &
    child=$!
    meet $child keys
    for ((i = 0; i < 400; i++)); do
        [[ ! -e one.lock ]] || flock -n one.lock true || break
        sleep 0.02
    done
    ln -sfn two current
    echo 150 >&7
    exec 7>&-
    ended $child
    is "$command: the key is where the link led" "$? $(echo 150 | "$tepal" query -c one)" '0 1'
    same "$command: where it leads now is as it was" two before
done
absent 'no lock stays there' one.lock
rm keys

# An interrupt leaves nothing behind.
for signal in INT TERM HUP; do
    cp base f
    mkfifo keys
    env --default-signal=$signal "$tepal" add f keys -q &
    child=$!
    meet $child keys
    for ((i = 0; i < 400; i++)); do
        [[ ! -e f.lock ]] || flock -n f.lock true || break
        sleep 0.02
    done
    echo 999 >&7
    kill -$signal $child
    ended $child 2>/dev/null
    exec 7>&-
    absent "SIG$signal: no lock is left" f.lock
    is "SIG$signal: no other file is left" "$(ls -A | grep -c '^\.tepal')" 0
    same "SIG$signal: the filter is as it was" f base
    rm keys
done
# Nor does the second one, which ends a dedup that cannot get rid of its lines.
mkfifo keys lines
env --default-signal=INT "$tepal" dedup --state s --memory 2Ki keys >lines &
child=$!
exec 6<lines
meet $child keys
seq 200000 >&7 2>/dev/null &
writer=$!
for ((i = 0; i < 400; i++)); do
    [[ ! -e s.lock ]] || flock -n s.lock true || break
    sleep 0.02
done
sleep 0.3 # both pipes are full
kill -INT $child
sleep 0.2
is 'the first one waits for the lines' "$(ls s.lock)" s.lock
kill -INT $child
ended $child
is 'the second one does not' $? 130
exec 6<&- 7>&-
kill $writer 2>/dev/null
wait $writer
absent 'no lock is left' s.lock
finish
