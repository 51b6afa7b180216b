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
printf 'a b\nb c\n' >"net $evil"
run "$tepal" app route "net $evil" --from a --to c
clean 'app route'
finish
