#!/usr/bin/env bash
# manners: pipes, terminals, full devices, signals, progress, colours, memory.
source "$(dirname "$0")/lib.sh"

seq 1 200000 >keys
"$tepal" build keys -o f --seed 7 -q

# A reader that goes away ends the command quietly: by SIGPIPE, as it ends cat and grep.
"$tepal" query f keys 2>"$work/err" | head -1 >"$work/out"
is 'query | head: by signal' "${PIPESTATUS[0]}" 141
is 'query | head: the line' "$(cat "$work/out")" 1
is 'query | head: no noise' "$(cat "$work/err")" ''
(
    trap '' PIPE
    "$tepal" query f keys 2>"$work/err"
    echo $? >"$work/code"
) | head -1 >/dev/null
is 'query | head with SIGPIPE ignored: exit status' "$(cat "$work/code")" 2
is 'query | head with SIGPIPE ignored: no noise' "$(cat "$work/err")" ''
"$tepal" build keys -o - --bits 64M -q 2>"$work/err" | true
is 'build -o - | true: by signal' "${PIPESTATUS[0]}" 141
is 'build -o - | true: no noise' "$(cat "$work/err")" ''

# A full device is an error.
full() {
    local name=$1
    shift
    "$tepal" "$@" >/dev/full 2>"$work/err"
    is "$name to a full device: exit status" "$?" 2
    like "$name to a full device" "$(cat "$work/err")" \
        '^tepal: standard output: (cannot write the output: )?No space left on device$'
}
full query query f keys
full 'query -c' query -c f keys
full info info f
full verify verify f
full help help
full 'help --man' help --man
full version --version
full completion completion bash
full 'build -o -' build keys -o - -q
full model model bloom --keys 5 --bits 50
full kinds kinds
rm -f g
"$tepal" build keys -o g --json -q >/dev/full 2>"$work/err"
is 'build --json to a full device: exit status' "$?" 2
is 'build --json to a full device: the filter is there, and that is said' "$(cat "$work/err")" \
    'tepal: standard output: No space left on device; the filter was written'
is 'and it is sound' "$("$tepal" verify g)" 'g: OK'
refused 'standard output is closed' 'standard output: Bad file descriptor' \
    bash -c '"$0" info f >&-' "$tepal"

# Nobody reads standard error any more: the work is done all the same.
rm -f g
python3 - "$tepal" <<'PY'
import os, subprocess, sys
get, put = os.pipe()
os.close(get)
child = subprocess.Popen([sys.argv[1], "build", "keys", "-o", "g"], stderr=put,
                         preexec_fn=lambda: __import__("signal").signal(13, 0))
sys.exit(child.wait())
PY
is 'standard error is a closed pipe: exit status' "$?" 0
is 'and the filter is sound' "$("$tepal" verify g)" 'g: OK'

# Descriptors that somebody has made non-blocking are waited for.
cat >"$work/waiting.py" <<'PY'
import os, subprocess, sys, time
tepal = sys.argv[1]

def slow_input(command):
    get, put = os.pipe()
    os.set_blocking(get, False)
    child = subprocess.Popen([tepal, *command], stdin=get, stdout=subprocess.PIPE)
    os.close(get)
    for piece in (b"1\n2", b"\n3\n"):
        time.sleep(0.2)
        try:
            os.write(put, piece)
        except BrokenPipeError:
            break
    os.close(put)
    return child.communicate()[0]

def slow_output(command, fd):
    get, put = os.pipe()
    os.set_blocking(put, False)
    child = subprocess.Popen([tepal, *command], **{fd: put})
    os.close(put)
    time.sleep(0.3)
    with os.fdopen(get, "rb") as file:
        data = file.read()
    child.wait()
    return data

print(slow_input(["query", "-c", "f"]) == b"3\n")
print(slow_output(["query", "f", "keys"], "stdout") == open("keys", "rb").read())
many = ["none" * 500] * 400
print(slow_output(["verify", *many], "stderr").count(b"\n") == 400)
PY
is 'descriptors that do not block' "$(python3 "$work/waiting.py" "$tepal")" $'True\nTrue\nTrue'

# A filter is never written to a terminal; other output is.
text=$(on_terminal "$tepal" build keys -o - -q)
is 'build -o - on a terminal: exit status' "$?" 2
is 'build -o - on a terminal' "$text" \
    $'tepal: standard output: refusing to write a filter to a terminal; nothing was written\r'
text=$(on_terminal "$tepal" query -c f keys)
is 'query -c on a terminal' "$text" $'200000\r'

# Colours: on a terminal that has them, unless NO_COLOR or a plain terminal says otherwise.
red=$'\033[1;31mtepal:\033[0m none: No such file or directory\r'
none=$'tepal: none: No such file or directory\r'
is 'colour on a terminal' "$(TERM=xterm on_terminal "$tepal" info none)" "$red"
is 'no colour with NO_COLOR' "$(TERM=xterm NO_COLOR=1 on_terminal "$tepal" info none)" "$none"
is 'an empty NO_COLOR is none' "$(TERM=xterm NO_COLOR='' on_terminal "$tepal" info none)" "$red"
is 'no colour on a plain terminal' "$(TERM=dumb on_terminal "$tepal" info none)" "$none"
run env TERM=xterm "$tepal" info none
is 'no colour in a file' "$(cat "$work/err")" 'tepal: none: No such file or directory'

# Progress: on a terminal, after a second, not with -q; and it is taken away again.
slow='{ seq 1 10; sleep 1.2; seq 11 5000; sleep 0.3; seq 5001 9000; }'
text=$(on_terminal sh -c "$slow | '$tepal' build -o g --seed 1")
like 'progress on a terminal' "$text" $'\r\033\\[K0\\.0[0-9] million keys, 0\\.0[0-9] million per second'
like 'progress is taken away' "$text" $'\r\033\\[Kkeys       9000'
text=$(on_terminal sh -c "$slow | '$tepal' build -o g --seed 1 -q")
is 'no progress with -q' "$text" ''
text=$(on_terminal sh -c "seq 1 9000 | '$tepal' build -o g --seed 1")
if [[ $text == *million* ]]; then fail 'progress within the first second' "$text"; else pass; fi
run sh -c "$slow | '$tepal' build -o g --seed 1"
if grep -q million "$work/err"; then fail 'progress without a terminal'; else pass; fi

# Signals. While it reads: it ends by the signal and leaves nothing. While it saves: the save is
# finished or undone, and no temporary file stays.
cat >"$work/signals.py" <<'PY'
import os, signal, subprocess, sys, time
tepal = sys.argv[1]

def leftovers():
    return [n for n in os.listdir(".") if n.startswith(".tepal") or n.endswith(".tmp")]

def while_reading(number):
    child = subprocess.Popen([tepal, "build", "-o", "new", "--seed", "1"], stdin=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    child.stdin.write(b"key\n" * 100000)
    child.stdin.flush()
    child.send_signal(number)
    child.wait(20)
    child.stdin.close()
    child.stderr.close()
    return child.returncode == -number and not os.path.exists("new") and not leftovers()

def while_saving(number):
    child = subprocess.Popen([tepal, "build", "keys", "-o", "big", "--bits", "512Mi", "-q"])
    caught = False
    while child.poll() is None:
        if leftovers():
            child.send_signal(number)
            caught = True
            break
    child.wait(60)
    sound = not os.path.exists("big") or subprocess.run([tepal, "verify", "-q", "big"]).returncode == 0
    clean = not leftovers()
    if os.path.exists("big"):
        os.remove("big")
    return caught and sound and clean

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    print(while_reading(number), while_saving(number))
PY
is 'signals' "$(python3 "$work/signals.py" "$tepal")" $'True True\nTrue True\nTrue True'

# A filter that somebody cuts short while it is mapped: an error, not a crash. A small one that is
# not mapped (--lazy) is in memory: nothing happens to it.
mkfifo to from
for lazy in --lazy ''; do
    cp f cut
    "$tepal" query cut $lazy <to >from 2>"$work/err" &
    child=$!
    exec 7>to 8<from
    echo 5 >&7
    read -r -t 20 answer <&8
    truncate -s 0 cut
    echo 6 >&7
    exec 7>&-
    wait $child
    status=$?
    read -r -t 20 second <&8
    exec 8<&-
    if [ -n "$lazy" ]; then
        is 'a mapped filter that is cut short: exit status' "$status $answer" '2 5'
        is 'a mapped filter that is cut short' "$(cat "$work/err")" \
            'tepal: a filter file was truncated while it was being read'
    else
        is 'a loaded filter that is cut short' "$status $answer $second $(cat "$work/err")" '0 5 6 '
    fi
done

# The error line of a long name is one line.
long=$(printf 'n%.0s' {1..5000})
run "$tepal" info "$long"
is 'a very long name' "$code $(wc -l <"$work/err" | tr -d ' ')" '2 1'

finish
