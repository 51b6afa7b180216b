#!/usr/bin/env bash
# push, pull, ask, split: against a server that is made up, and fails in chosen ways; tests/redis/ has
# real ones. What fails leaves the file as it was.
source "$(dirname "$0")/lib.sh"

# serve MODE: a server of that mode; the one before ends.
serve() {
    if [[ ${pipe:-} ]]; then
        exec {pipe}>&-
        wait "$server"
    fi
    rm -f port fifo
    mkfifo fifo
    python3 "$here/fake_server.py" "$1" port.new <fifo &
    server=$!
    exec {pipe}>fifo
    rm -f fifo
    for _ in $(seq 200); do
        [[ -s port.new ]] && break
        sleep 0.05
    done
    port=$(cat port.new)
    rm -f port.new
    at=(--server "127.0.0.1:$port" --key x)
}
keeps='the server keeps what it had'
nothing='nothing was written'

seq 1 1000 >keys
"$tepal" build keys -o f --bits 80M --seed 7 -q # 10 MB: three pieces
cp f old

serve good
expect 'push' 0 '' $'pushed     x: bloom, 10001480 bytes (9.5 MiB), checked by the server\n' \
    "$tepal" push f "${at[@]}"
rm -f g
run "$tepal" pull "${at[@]}" -o g -q
is 'pull' "$code$(cat "$work/out" "$work/err")" 0
same 'and it is the same, byte for byte' f g
run "$tepal" pull "${at[@]}" -o - -q
same 'to standard output, too' f "$work/out"
run "$tepal" push - "${at[@]}" -q <f
is 'push from standard input' "$code" 0
# What a name on the server has in it moves no terminal, on the way either.
for command in 'push f' 'pull -o g2'; do
    run env TEPAL_PROGRESS=1 "$tepal" $command --server "127.0.0.1:$port" --key $'x\n\e[31m\xc2\x9bm'
    is "$command: a name with escape codes" "$code" 0
    like "$command: progress" "$(cat "$work/err")" '^x\\x0a\\x1b\[31m\\x9bm: [0-9]+ bytes'
    if LC_ALL=C grep -qaP '\x1b|\xc2\x9b|^\S*\[31m' <(grep -v '^x.x0a\|^pushed' "$work/err"); then
        fail "$command: escape codes" "$(cat -A "$work/err")"
    else
        pass
    fi
done
expect 'push --if-absent' 1 '' $'x: there is a filter already; nothing was changed\n' \
    "$tepal" push f "${at[@]}" --if-absent
run "$tepal" push f "${at[@]}" --json
is 'push --json' "$(cat "$work/out")" '{"file": "f", "key": "x", "kind": "bloom", "bytes": 10001480}'
refused 'pull what is not there' "nix: the server has no filter of that name; $nothing" \
    "$tepal" pull --server "127.0.0.1:$port" --key nix -o g
same 'the file is as it was' f g
refused 'pull of too much' "x: according to its header the filter is larger than the limit (byte 208); $nothing" \
    "$tepal" pull "${at[@]}" -o g --max-bytes 1M
echo words >words
refused 'pull over something else' \
    "words: the file exists and is not a filter; use --force to overwrite it; $nothing" \
    "$tepal" pull "${at[@]}" -o words
refused 'push what is no filter' "words: the first bytes are not those of a tepal filter (byte 0); $keeps" \
    "$tepal" push words "${at[@]}"
refused 'push what is not there' "nix: No such file or directory; $keeps" \
    "$tepal" push nix "${at[@]}"

# Parts.
expect 'split' 0 '' $'1000 keys to 12 parts of 69 to 100 keys\n' \
    "$tepal" split keys --parts 12 -o part
is 'split: names that sort' "$(echo part.*)" "part.00 part.01 part.02 part.03 part.04 part.05 \
part.06 part.07 part.08 part.09 part.10 part.11"
is 'split: every key once' "$(cat part.* | sort -n | cmp - keys && echo same)" same
is 'split: in order' "$(for i in part.*; do sort -n -c "$i"; done 2>&1)" ''
refused 'split: too many files' "--parts: 12 parts are as many open files, and this system allows 70 (ulimit \
-Hn): raise that limit; $nothing" bash -c 'ulimit -n 70; "$@"' - "$tepal" split keys --parts 12 -o no
refused 'split over files' "part.00: the file exists; use --force to overwrite it; $nothing" \
    "$tepal" split keys --parts 12 -o part
for i in part.*; do "$tepal" build "$i" -o "$i.tepal" -q; done
expect 'push --parts: as many files' 2 '' \
    "tepal: push: 11 filters for 12 parts: a file for each part is needed, in their order \
(--parts); $keeps"$'\n' \
    "$tepal" push part.0?.tepal part.11.tepal "${at[@]}" --parts 12
run "$tepal" push part.*.tepal "${at[@]}" --parts 12
is 'push --parts' "$code$(sed -n 's/^pushed *\(.*\): .*/\1/p' "$work/err" | xargs)" \
    "0$(seq 0 11 | sed 's/.*/{x:&}/' | xargs)"
mkdir got.02
refused 'pull --parts, one of them denied' 'got.02: Is a directory; the parts before it were written' \
    "$tepal" pull "${at[@]}" --parts 12 -o got -q
is 'and they were' "$(cmp got.00 part.00.tepal && cmp got.01 part.01.tepal && ls -d got.*)" $'got.00\ngot.01\ngot.02'
rm -r got.*
run "$tepal" pull "${at[@]}" --parts 12 -o back -q
for i in part.*.tepal; do
    n=${i#part.}
    same "pull --parts: $n" "$i" "back.${n%.tepal}"
done

# Servers that fail.
cp old g
fails() { # fails MODE COMMAND MESSAGE [TIMEOUT]
    serve "$1"
    if [[ $2 == pull ]]; then
        refused "$1: pull" "${3//PORT/$port}; $nothing" "$tepal" pull "${at[@]}" -o g --timeout "${4:-30s}"
    else
        refused "$1: push" "${3//PORT/$port}; $keeps" "$tepal" push f "${at[@]}" --timeout "${4:-30s}"
    fi
    same "$1: the file is as it was" g old
}
fails 'no module' push 'x: the server has no tepal module (load tepal-redis.so into it)'
fails 'no module' pull 'x: the server has no tepal module (load tepal-redis.so into it)'
fails garbage push "x: 127.0.0.1:PORT: not the answer of a Redis or Valkey server: Protocol error, \
got \"H\" as reply type byte" 1s
fails silent push "x: 127.0.0.1:PORT: no answer within 1 s (--timeout)" 1s
fails 'lost for good' push "x: 127.0.0.1:PORT: the server closed the connection" 1s
for mode in lost 'answer lost'; do
    serve "$mode"
    rm -f g
    run "$tepal" push f "${at[@]}" -q
    run "$tepal" pull "${at[@]}" -o g -q
    same "$mode: push goes on, and all has come" f g
done
cp old g
serve 'lost last'
refused 'lost at the end: push' "x: 127.0.0.1:$port: the server closed the connection; the server \
may have the new filter or the old one" "$tepal" push f "${at[@]}"
fails memory push 'x: the server has no memory left for it (maxmemory)'
fails expired push 'x: the transfer was broken off: another client pushes to the same name, or '\
'the server dropped the parts (tepal.part-timeout)'
fails miscounts push 'x: the server has another number of bytes than were sent'
fails circle push 'x: the nodes send each other in a circle' 1s
fails nowhere push 'x: MOVED x y'
fails escapes push 'x: \x1b[31mred\x07'
fails password pull 'x: the server wants a password: give --password-file, or set TEPAL_PASSWORD'
pulls() { # pulls MODE MESSAGE: of a filter that the server has
    serve "$1"
    run "$tepal" push f "${at[@]}" -q
    is "$1: pushed" "$code" 0
    refused "$1: pull" "$2; $nothing" "$tepal" pull "${at[@]}" -o g
    same "$1: the file is as it was" g old
}
misunderstood="x: the server's answer was not understood"
pulls changes 'x: the filter is being changed, and was each of the 5 times that it was read: pull a '\
'copy (COPY on the server), or stop its writers'
pulls grows "$misunderstood"
pulls empty "$misunderstood"
pulls 'too much' "$misunderstood"
serve flips
run "$tepal" push f "${at[@]}" -q
run "$tepal" pull "${at[@]}" -o g
is 'a flipped bit: an error' "$code" 2
like 'a flipped bit is seen' "$(cat "$work/err")" '^tepal: x: .*checksum.*; nothing was written$'
same 'a flipped bit: the file is as it was' g old
serve 'changes once'
run "$tepal" push f "${at[@]}" -q
rm g
run "$tepal" pull "${at[@]}" -o g -q
is 'changed once: begins again' "$code" 0
same 'and has all of it' f g
serve endless
run "$tepal" pull "${at[@]}" -o g --timeout 500ms
is 'an endless answer: an error' "$code" 2
same 'an endless answer: the file is as it was' g old

# Lookups and additions.
serve good
seq 991 1010 >some
expect 'ask' 0 "$(seq 991 1000)"$'\n' '' "$tepal" ask some "${at[@]}"
expect 'ask -v' 0 "$(seq 1001 1010)"$'\n' '' "$tepal" ask some "${at[@]}" -v
expect 'ask -c' 0 $'10\n' '' "$tepal" ask "${at[@]}" -c <some
expect 'ask --tsv' 0 $'1\t1\n2000\t0\n' '' "$tepal" ask "${at[@]}" --tsv <<<$'1\n2000'
expect 'ask: none' 1 '' '' "$tepal" ask "${at[@]}" <<<2000
expect 'ask -q' 0 '' '' "$tepal" ask "${at[@]}" -q <some
seq 1 100000 >lots
expect 'ask: many batches of parts' 0 "$(seq 1 1000)"$'\n' '' \
    "$tepal" ask lots "${at[@]}" --parts 300
expect 'ask --add' 0 '' $'added 20 keys: 10 were not found before\n' \
    "$tepal" ask --add some "${at[@]}" --parts 7
run "$tepal" ask some "${at[@]}" --json
is 'ask --json' "$(cat "$work/out")" \
    '{"key": "x", "nodes": 1, "keys": 20, "present": 10, "absent": 10}'
serve 'too few'
refused 'ask: an answer that is too short' "x: the server's answer was not understood" \
    "$tepal" ask some "${at[@]}"
serve 'no module'
refused 'ask: no module' 'x: the server has no tepal module (load tepal-redis.so into it)' \
    "$tepal" ask some "${at[@]}"

# Passwords: from a file or the environment, and only there.
serve password
printf 'secret\nmore\n' >pw
: >none
run env TEPAL_PASSWORD=wrong "$tepal" push f "${at[@]}"
is 'a wrong password' "$code $(cat "$work/err")" "2 tepal: 127.0.0.1:$port: the login was refused: \
WRONGPASS invalid username-password pair or user is disabled.; $keeps"
refused 'no password in the file' "none: there is no password: the first line is empty; $keeps" \
    "$tepal" push f "${at[@]}" --password-file none
refused 'no file of a password' "nix: No such file or directory; $keeps" \
    "$tepal" push f "${at[@]}" --password-file nix
refused 'a user without a password' \
    "push: --user needs a password: --password-file or TEPAL_PASSWORD; $keeps" \
    "$tepal" push f "${at[@]}" --user ops

# Command lines.
refused 'no server' "push: --server HOST:PORT and --key NAME are needed; $keeps" "$tepal" push f
refused 'no port' "push: --server: host is not HOST:PORT, [ADDRESS]:PORT or unix:PATH; $keeps" \
    "$tepal" push f --server host --key x
refused '--cacert alone' "push: --cacert needs --tls; $keeps" \
    "$tepal" push f --server h:1 --key x --cacert f
refused '--cert alone' "push: --cert and --cert-key belong together; $keeps" \
    "$tepal" push f --server h:1 --key x --tls --cert f
refused 'no such socket' "unix:nix: No such file or directory; $keeps" \
    "$tepal" push f --server unix:nix --key x
finish
