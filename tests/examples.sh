#!/usr/bin/env bash
# The examples: every one compiles without a warning against the headers and the library, runs, and
# prints what its file in tests/examples says. Arguments: the library, and the compiler.
set -u
library=$1
compiler=$2
here=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0

check() { # check NAME COMMAND...: does it print what is expected?
    local name=$1
    shift
    if diff "$here/tests/examples/$name.txt" <("$@" 2>&1) >"$name.diff"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: the example %s prints something else:\n' "$name"
        cat "$name.diff"
    fi
}

for source in "$here"/examples/*.c; do
    name=$(basename "$source" .c)
    # shellcheck disable=SC2086 # the sanitizers' flags are several words
    if ! $compiler -std=c11 -Wall -Wextra -Wpedantic -Werror ${TEPAL_EXAMPLE_FLAGS:-} \
        -I"$here/include" "$source" "$library" -lm -o "$name"; then
        failed=$((failed + 1))
        printf 'not ok: the example %s does not compile\n' "$name"
    elif [ "$name" != load ]; then
        check "$name" "./$name"
    fi
done
check load ./load words.tepal begonia # that bloom has saved

# Whole programs in the documents compile and run, too.
cat "$here"/README.md "$here"/docs/*.md |
    awk '/^```c$/ { inside = 1; text = ""; next }
         /^```/ { if (inside && text ~ /int main\(/) { printf "%s", text > "doc" ++n ".c" } inside = 0 }
         inside { text = text $0 "\n" }'
for source in doc*.c; do
    # shellcheck disable=SC2086
    if $compiler -std=c11 -Wall -Wextra -Wpedantic -Werror ${TEPAL_EXAMPLE_FLAGS:-} \
        -I"$here/include" "$source" "$library" -lm -o doc && ./doc >/dev/null; then
        documented=$((${documented:-0} + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: a program in the documents does not work:\n'
        cat "$source"
    fi
done
[ "${documented:-0}" -ge 2 ] || { failed=$((failed + 1)) && echo "no program in the documents"; }

[ "$(find "$here/examples" -name '*.c' | wc -l)" -eq "$((passed + failed))" ] || failed=$((failed + 1))
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
