# lib.sh: what the command tests share. A test sources it with the path of tepal as its first
# argument, calls the checks below, and ends with `finish`. Everything happens in a temporary
# directory that is removed at the end.
set -u
export LC_ALL=C TERM=dumb
unset NO_COLOR TMPDIR
# The system's own python3, which has xxhash; another's wrapper takes five times as long to start.
PATH=/usr/bin:/bin:$PATH
# A refused allocation is an answer, not a reason for the sanitizer to stop.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1"

tepal=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/files"
cd "$work/files" || exit 1
passed=0
failed=0

pass() {
    passed=$((passed + 1))
}

fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1" >&2
    shift
    printf '    %s\n' "$@" >&2
}

# run COMMAND...: keeps standard output, standard error and exit status of a command.
run() {
    "$@" >"$work/out" 2>"$work/err"
    code=$?
}

# expect NAME CODE OUT ERR COMMAND...: exact output, exact error text, exact exit status. If $mask
# is set, it is a sed script that first replaces what depends on where the hash puts a key's bits.
mask=
expect() {
    local name=$1 want_code=$2 want_out=$3 want_err=$4
    shift 4
    run "$@"
    if [[ $mask ]]; then
        sed -i "$mask" "$work/out" "$work/err"
    fi
    printf '%s' "$want_out" >"$work/want_out"
    printf '%s' "$want_err" >"$work/want_err"
    if [[ $code != "$want_code" ]]; then
        fail "$name" "exit status $code, not $want_code" "$(head -5 "$work/err")"
    elif ! cmp -s "$work/out" "$work/want_out"; then
        fail "$name" "standard output is not as expected:" \
            "$(diff "$work/want_out" "$work/out" | head -10)"
    elif ! cmp -s "$work/err" "$work/want_err"; then
        fail "$name" "standard error is not as expected:" \
            "$(diff "$work/want_err" "$work/err" | head -10)"
    else
        pass
    fi
}

# refused NAME MESSAGE COMMAND...: exit status 2, nothing on standard output, one line of error.
refused() {
    local name=$1 message=$2
    shift 2
    expect "$name" 2 '' "tepal: $message"$'\n' "$@"
}

# is NAME GOT WANT: two strings are the same.
is() {
    if [[ $2 == "$3" ]]; then
        pass
    else
        fail "$1" "got  '$2'" "want '$3'"
    fi
}

# like NAME TEXT PATTERN: a string matches an extended regular expression.
like() {
    if [[ $2 =~ $3 ]]; then
        pass
    else
        fail "$1" "'$2' does not match '$3'"
    fi
}

# same NAME FILE FILE: two files are equal, byte for byte.
same() {
    if cmp -s "$2" "$3"; then
        pass
    else
        fail "$1" "$2 and $3 differ"
    fi
}

# absent NAME FILE: there is no such file.
absent() {
    if [[ -e $2 ]]; then
        fail "$1" "$2 exists"
    else
        pass
    fi
}

# field FILE NAME: a value of the (only) JSON object in a file, as Python prints it. What is not
# there is equal to nothing, not even to another that is not there.
field() {
    python3 -c 'import json, sys
print(json.loads(open(sys.argv[1]).read())[sys.argv[2]])' "$1" "$2" || echo "no $2 in $1 ($RANDOM)"
}

# on_terminal COMMAND...: runs a command with a terminal for all its descriptors; prints what it
# wrote there. Its exit status is that of the command.
on_terminal() {
    python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" </dev/null
}

# unprivileged ARGUMENT...: runs tepal as somebody whom permissions bind, for at most 20 seconds.
unprivileged() {
    if [[ $(id -u) != 0 ]]; then
        timeout 20 "$tepal" "$@"
        return
    fi
    chmod 711 "$work"
    [[ -x $work/tepal ]] || cp "$tepal" "$work/tepal"
    timeout 20 setpriv --reuid=65534 --regid=65534 --clear-groups "$work/tepal" "$@"
}

finish() {
    echo "$(basename "$0" .sh): $passed passed, $failed failed"
    [[ $failed == 0 && $passed -gt 0 ]]
    exit
}
