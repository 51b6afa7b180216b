#!/usr/bin/env bash
# help: texts against golden files, the manual page, the completions, the version.
source "$(dirname "$0")/lib.sh"

names='build query add remove merge info verify convert retouch veto avoid receive split push pull ask audit repair diff plan measure compare model dedup gaps app lab demo kinds completion help'
apps='stopset route forward flows digest traceback peers admit'
steps='learn combine trace' # of stopset

# Golden texts. After a wanted change: tests/command/help.sh TEPAL --update
golden() {
    local file=$here/golden/$1.txt
    shift
    run "$@"
    if [[ ${update:-} ]]; then
        cp "$work/out" "$file"
    fi
    is "$*: exit status" "$code" 0
    is "$*: no words" "$(cat "$work/err")" ''
    if cmp -s "$work/out" "$file"; then
        pass
    else
        fail "$* differs from golden/$(basename "$file")" "$(diff "$file" "$work/out" | head -10)"
    fi
}
[[ ${2:-} == --update ]] && update=yes
golden overview "$tepal" help
for name in $names; do
    golden "$name" "$tepal" help "$name"
    run "$tepal" "$name" --help
    same "tepal $name --help is tepal help $name" "$work/out" "$here/golden/$name.txt"
done
for name in $apps; do
    golden "app-$name" "$tepal" help app "$name"
    run "$tepal" app "$name" --help
    same "tepal app $name --help is tepal help app $name" "$work/out" "$here/golden/app-$name.txt"
done
for step in $steps; do
    golden "app-stopset-$step" "$tepal" help app stopset "$step"
    run "$tepal" app stopset "$step" --help
    same "tepal app stopset $step --help" "$work/out" "$here/golden/app-stopset-$step.txt"
done
refused 'help of no step' 'help: unexpected argument: lern' "$tepal" help app stopset lern
run "$tepal" app
is 'tepal app lists the applications' "$(sed 's/ .*//' "$work/out" | uniq | xargs)" "$apps"
is 'and their steps' "$(sed -n 's/^stopset \([a-z]*\) .*/\1/p' "$work/out" | xargs)" "$steps"
run "$tepal" --help
same 'tepal --help is tepal help' "$work/out" "$here/golden/overview.txt"
run "$tepal" -h
same 'tepal -h is tepal help' "$work/out" "$here/golden/overview.txt"
run "$tepal"
is 'tepal alone: an error' "$code $(wc -c <"$work/out" | tr -d ' ')" '2 0'
same 'tepal alone: the overview, as an error' "$work/err" "$here/golden/overview.txt"
is 'help lists every command' "$(sed -n 's/^  \([a-z]*\)  .*/\1/p' "$here/golden/overview.txt" | xargs)" \
    "$names"
is 'no line is wider than 80 columns, but for examples' \
    "$(cat "$here"/golden/*.txt | grep -v '^  tepal\|^  zcat' | awk 'length > 80' | wc -l | tr -d ' ')" 0
run "$tepal" build --fp 1% --help
same '--help wins over what is missing' "$work/out" "$here/golden/build.txt"
expect '--version' 0 $'tepal 0.2.0\n' '' "$tepal" --version
expect '-V' 0 $'tepal 0.2.0\n' '' "$tepal" -V

# ---- the manual page
"$tepal" help --man >page
is 'man: title' "$(head -1 page)" '.TH TEPAL 1 "" "tepal 0.2.0" "User Commands"'
is 'man: sections' "$(sed -n 's/^\.SH //p' page | xargs)" \
    'NAME SYNOPSIS DESCRIPTION COMMANDS NUMBERS EXIT STATUS ENVIRONMENT'
is 'man: commands' "$(sed -n 's/^\.SS //p' page | grep -v 'app stopset .' | xargs)" "$names $(printf 'app %s ' $apps | xargs)"
is 'man: only known requests' \
    "$(grep '^[.'"'"']' page | cut -d' ' -f1 | sort -u | xargs)" '.B .PP .RE .RS .SH .SS .TH .TP .fi .nf'
is 'man: .nf and .fi are paired' "$(grep -c '^\.nf' page)" "$(grep -c '^\.fi' page)"
is 'man: every example is there' "$(grep -c '^\.nf' page)" \
    "$(for n in $names $(printf "app-%s " $apps) $(printf "app-stopset-%s " $steps); do sed -n '/^Examples:/,$p' "$here/golden/$n.txt"; done | grep -c '^  [^ ]')"
is 'man: every option of every command is there' "$(grep -c '^\.TP' page)" \
    "$(($(for n in $names $(printf "app-%s " $apps) $(printf "app-stopset-%s " $steps); do grep -E '^  (-.,|   ) --' "$here/golden/$n.txt"; done | wc -l) + 6))"
is 'man: no bare hyphen in options' "$(grep -c '^\\fB-' page)" 0
if command -v groff >/dev/null; then
    is 'man: groff has no complaint' "$(groff -man -ww -z page 2>&1)" ''
fi

# ---- completions
"$tepal" completion bash >c.bash
expect 'bash: it parses' 0 '' '' bash -n c.bash
# What the script offers for a line, as the shell would call it.
offered() {
    bash -c 'source ./c.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_tepal 2>/dev/null
echo "${COMPREPLY[@]}"' bash "$@"
}
is 'bash: commands' "$(offered tepal '')" "$names --help --version"
is 'bash: a command' "$(offered tepal co)" 'convert compare completion'
is 'bash: an option' "$(offered tepal build --pos)" '--positions'
is 'bash: options of one command only' "$(offered tepal info --)" '--max-bytes --json --help'
is 'bash: layouts' "$(offered tepal build keys --layout '')" 'flat partitioned blocked paired'
is 'bash: layouts after the letter' "$(offered tepal build -l p)" 'partitioned paired'
is 'bash: kinds' "$(offered tepal build --kind '')" 'bloom retouched generalized counting fingerprint yesno recycling cascade growing chain'
is 'bash: models' "$(offered tepal model b)" 'bloom blocked'
is 'bash: applications' "$(offered tepal app '')" "$apps"
is 'bash: options of a step' "$(offered tepal app stopset trace --in)" '--in-full'
is 'bash: options of an application' "$(offered tepal app stopset --bet)" '--beta'
is 'bash: words of its options' "$(offered tepal app stopset --method max)" 'max-fp'
is 'bash: its files are left to the shell' "$(offered tepal app stopset '')" ''
is 'bash: shells' "$(offered tepal completion '')" 'bash zsh fish'
is 'bash: help' "$(offered tepal help ver)" verify
is 'bash: files are left to the shell' "$(offered tepal query '')" ''
is 'bash: files of options too' "$(offered tepal build -o '')" ''
is 'bash: nothing for numbers' "$(offered tepal build --fp '')" ''
"$tepal" completion zsh >c.zsh
is 'zsh: first line' "$(head -1 c.zsh)" '#compdef tepal'
is 'zsh: commands' "$(sed -n "s/^        '\([a-z]*\):.*'\$/\1/p" c.zsh | xargs)" "$names"
is 'zsh: a case for every command' "$(sed -n 's/^    \([a-z]*\))$/\1/p' c.zsh | xargs)" "$names"
is 'zsh: layouts' "$(grep -c ':LAYOUT:(flat partitioned blocked paired)' c.zsh)" 7
is 'zsh: quotes are paired' "$(($(tr -cd "'" <c.zsh | wc -c) % 2))" 0
if command -v zsh >/dev/null; then
    expect 'zsh: it parses' 0 '' '' zsh -n c.zsh
fi
"$tepal" completion fish >c.fish
is 'fish: only complete and comments' "$(grep -cv '^complete -c tepal -n \|^#' c.fish)" 0
is 'fish: commands' \
    "$(sed -n 's/^complete -c tepal -n __fish_use_subcommand -f -a \([a-z]*\) .*/\1/p' c.fish | xargs)" \
    "$names"
is 'fish: quotes are paired' "$(awk -F"'" 'NF % 2 == 0' c.fish | wc -l | tr -d ' ')" 0
is 'fish: layouts' "$(grep -c -- "-l layout -s l -x -a 'flat partitioned blocked paired'" c.fish)" 7
if command -v fish >/dev/null; then
    expect 'fish: it parses' 0 '' '' fish -n c.fish
fi
# Every option of the help is in all three.
for name in $names; do
    for option in $(sed -n 's/^  .*--\([a-z-]*\).*/\1/p' "$here/golden/$name.txt" | sort -u); do
        grep -q -- "--$option" c.bash && grep -q -- "--$option" c.zsh &&
            grep -q -- "from $name' -l $option" c.fish || fail "completion of $name --$option"
    done
done
for name in $apps; do
    for option in $(sed -n 's/^  .*--\([a-z-]*\).*/\1/p' "$here/golden/app-$name.txt" | sort -u); do
        grep -q -- "--$option" c.bash && grep -q -- "--$option" c.zsh &&
            grep -q -- "from $name' -l $option" c.fish || fail "completion of app $name --$option"
    done
done
pass

finish
