#!/usr/bin/env bash
# Names of files with line ends, tabs and escape codes: nothing of them reaches a terminal raw.
source "$(dirname "$0")/lib.sh"
seq 50 >keys
"$tepal" build keys -o good --capacity 100 --seed 7 -q
head -c 100 good >damaged
evil=$'peer\nours.tepal: accepted: finds 0 % of all keys\n\e[31mred\x7f\xc2\x9b2J\tend'
plain='peer\x0aours.tepal: accepted: finds 0 % of all keys\x0a\x1b[31mred\x7f\x9b2J\x09end'
cp good "$evil"
cp damaged "bad $evil"

# clean NAME: what was printed has lines of printable characters alone.
clean() {
    if LC_ALL=C grep -qaP '[\x01-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$work/out" "$work/err"; then
        fail "$1" "$(cat -A "$work/out" "$work/err" | head -5)"
    else
        pass
    fi
}
expect 'verify' 0 "$plain: OK"$'\n' '' "$tepal" verify "$evil"
run "$tepal" verify "bad $evil"
is 'verify: refused' "$code $(wc -l <"$work/err")" '2 1'
clean 'verify: refused'
run "$tepal" info "$evil"
is 'info' "$(head -1 "$work/out")" "$plain"
clean 'info'
run "$tepal" receive "bad $evil" "$evil" --any-fill
is 'receive: one line each' "$code $(wc -l <"$work/out")" '1 2'
like 'receive: the refused one' "$(head -1 "$work/out")" "^bad peer.x0aours.tepal: .*: refused: "
clean 'receive'
for command in 'verify --json' 'info --json' 'receive --any-fill --json'; do
    run "$tepal" $command "$evil"
    clean "$command"
    is "$command: the name itself" "$(field "$work/out" file)" "$(printf '%s' "$evil")"
done
run "$tepal" build keys -o "$evil" --capacity 100 --force
like 'build: summary' "$(tail -1 "$work/err")" '^wrote      peer.x0aours'
clean 'build'
run "$tepal" add "$evil" keys
clean 'add'
run "$tepal" dedup --state "$evil" keys
is 'dedup: refused' "$code $(wc -l <"$work/err")" '2 1'
clean 'dedup'
run "$tepal" query "no $evil" keys
is 'query: refused' "$code $(wc -l <"$work/err")" '2 1'
clean 'query'

# Every command that names a file, in words and as JSON: made to work, and made to fail.
"$tepal" build keys -o counted --kind counting --cells 4096 --seed 7 -q
"$tepal" build keys -o pair --kind yesno --avoid <(seq 60 70) --bits 900 --seed 7 -q
"$tepal" dedup --memory 2Ki --state stream -q keys >/dev/null
cp keys "keys $evil"
for file in counted pair stream; do cp $file "$file $evil"; done
while read -r words; do
    for json in '' --json; do
        arguments=()
        for word in $words $json; do
            case $word in
            *@) arguments+=("${word%@} $evil") ;;
            *) arguments+=("$word") ;;
            esac
        done
        run "$tepal" "${arguments[@]}" </dev/null
        clean "$words $json"
        [[ -s $work/out || -s $work/err ]] && pass || fail "$words $json" 'nothing is printed'
    done
done <<'end'
build keys@ -o new@ --capacity 100 --force
build bad@ nowhere@ -o new@
build keys -o nowhere@/x --capacity 100
build keys -o new --capacity 100 --key-file nowhere@
build keys -o counted@ --kind counting --cells 4096 --receipts counted@
query counted@ nowhere@
add counted@ nowhere@
add pair@ keys -o keys@
remove counted@ keys@ --kept nowhere@/k
remove pair@ keys
merge counted@ good@ -o new@
merge counted@ counted@ -o new@ --force
info counted@ bad@
verify counted@ pair@ bad@
convert counted@ -o new@ --to bits --force
convert pair@ -o new@ --fold 2
retouch good --members keys@ --avoid nowhere@ -o new@ --force
retouch counted@ --avoid keys@ -o new@ --force
veto pair@ --members keys@ --avoid nowhere@
veto counted@ --members keys --avoid keys
avoid counted@ keys@ --max-fn 50%
avoid stream@ keys
receive bad@ counted@ nowhere@
receive good --like nowhere@
split nowhere@ --parts 2 -o new@
split keys@ --parts 1 -o nowhere@/x
push nowhere@ --server 127.0.0.1:1 --key x
pull --server 127.0.0.1:1 --key x@ -o new@ --force
pull --server 127.0.0.1:1 --key x -o nowhere@/x
ask nowhere@ --server 127.0.0.1:1 --key x@
audit counted@ --members keys@
audit counted@ --members nowhere@
repair counted@ --members keys@
repair pair@ --members keys
diff counted@ good -o new@
diff counted@ counted@ -o new@ --force
plan --keys 100 --known-negatives nowhere@
plan --endless --fp 1% --memory 1Ki --gaps keys@
measure counted@ --members keys@ --strangers nowhere@
measure counted@ --members nowhere@ --strangers keys
compare --members nowhere@ --memory 1Ki
model recycling --bits 8192 --phases 2 --hashes 4 --gaps keys@
dedup --state stream@ nowhere@
gaps nowhere@
gaps keys@ --save nowhere@/x
app stopset nowhere@
app stopset keys@
app forward nowhere@ keys@
app flows keys@
app digest keys@
app peers keys@
app traceback keys@
app admit keys@ --time-field 9
lab report nowhere@
nonsense@
help nonsense@
end
printf 'a b\nb c\n' >"net $evil"
run "$tepal" app route "net $evil" --from a --to c
clean 'app route'
finish
