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
    if LC_ALL=C grep -qaP '[\x01-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\x80-\xf4])[\x80-\x9f]' \
        "$work/out" "$work/err"; then
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

# C1 alone, as a terminal without UTF-8 understands it; letters that have such bytes stay.
name=$'\x9b31m\xffm\xc4\x9b\xe2\x82\xac\xf0\x9f\x98\x80'
cp good "$name"
expect 'a byte of C1 alone' 0 '\x9b31m'$'\xffm\xc4\x9b\xe2\x82\xac\xf0\x9f\x98\x80: OK\n' '' \
    "$tepal" verify "$name"
run "$tepal" info --json "$name"
is 'as JSON it is UTF-8' "$(field "$work/out" file)" \
    $'\xef\xbf\xbd31m\xef\xbf\xbdm'"$(printf '\xef\xbf\xbd%.0s' {1..9})"

# Nodes of networks, in words and in pictures, which are XML whatever the names are.
for node in $'a\xc2\x9bm' $'a\x9bm' $'K\xf6ln' $'a\xed\xa0\x80' $'a\xef\xbf\xbf' $'a\xf4\x90\x80\x80' 'x<a&">' $'K\xc3\xb6ln'; do
    printf '%s\tb\nb\tc\nc\t%s2\nb\te\n' "$node" "$node" >net
    run "$tepal" app route net --from "$node" --to "${node}2" --svg net.svg --force
    is "app route: $node" "$code" 0
    clean "app route: $node"
    expect "app route --svg: $node" 0 '' '' python3 -c "import xml.dom.minidom as x; x.parse('net.svg')"
    if LC_ALL=C grep -qaP '\xc2[\x80-\x9f]' net.svg; then fail "app route --svg: $node, C1"; else pass; fi
done
like 'letters are as they were' "$(cat net.svg)" $'<title>K\xc3\xb6ln</title>'
finish
