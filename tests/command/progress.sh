#!/usr/bin/env bash
# progress: long jobs say how far they are, with the time left: on a terminal, after a second, in one
# line that is taken away again; with TEPAL_PROGRESS=1 anywhere. Ctrl-C ends them at any time, and
# leaves neither a file nor a changed one.
source "$(dirname "$0")/lib.sh"

seq 20000 >keys
seq 100001 120000 >avoid
cat <(seq 500) <(seq 500) >twice
awk 'BEGIN { for (i = 0; i < 2000; i++) { printf "a\t%d\ttcp\t10.0.%d.%d\t1000\t10.255.0.1\t80\t%s\t60\n", i, i / 512, i / 2 % 256, i % 2 ? "AF" : "S" } }' >packets
"$tepal" build keys -o f.tepal --bits-per-key 6 --seed 1 -q
# A search that never finds room for all: it takes the time that it is given.
search=(build keys --kind yesno --avoid avoid --yes-bits 100000 --no-bits 500 --no-filters 2
    --no-hashes 7 --seed 1 -o y.tepal --force)

told() { # told NAME PATTERN COMMAND...: progress is shown if it is wanted, and only then.
    local name=$1 pattern=$2
    shift 2
    run env TEPAL_PROGRESS=1 "$tepal" "$@"
    like "$name" "$code $(cat "$work/err")" "^0 .*$pattern"
    run "$tepal" "$@"
    is "$name: not by itself" "$code $(grep -cE "$pattern" "$work/err")" '0 0'
    run env TEPAL_PROGRESS=1 "$tepal" "$@" -q
    is "$name: quiet" "$code $(grep -cE "$pattern" "$work/err")" '0 0'
}
told 'retouch' 'retouching, [0-9]+ %' retouch f.tepal --members keys --avoid avoid -o r.tepal -f
told 'its curve' 'retouching, [0-9]+ %' retouch f.tepal --members keys --avoid avoid --dry-run
told 'vetoes' 'choosing what is vetoed, [0-9]+ %' "${search[@]}" --time-limit 0.3
told 'a plan that chooses' 'choosing what is avoided, [0-9]+ %' \
    build keys --auto --fn 0 --fp 5% --fp-known 1% --avoid avoid --seed 1 -o a.tepal -f
told 'plan' 'planning, [0-9]+ %' plan --keys 1M --fp 1%
told 'its picture' '[0-9]+ of 13 rates drawn' plan --keys 1M --fp 1% --svg p.svg -f
told 'compare' 'comparing, [0-9]+ %' compare --members twice --negatives avoid --queries avoid --bits-per-key 12
told 'compare streams' 'comparing, [0-9]+ %' compare --endless --members twice --memory 1k
told 'verify' '[0-9] of 2 files' verify f.tepal f.tepal
"$tepal" build avoid -o g.tepal --bits-per-key 6 --seed 1 -q
told 'merge' '[0-9] of 2 filters merged' merge f.tepal g.tepal -o m.tepal -f
told 'measure' 'million per second' measure f.tepal --members keys --negatives avoid
told 'avoid' 'million per second' avoid f.tepal avoid --max-fn 99% -o v.tepal -f
run env TEPAL_PROGRESS=1 "$tepal" query -c f.tepal keys
like 'query' "$code $(cat "$work/err")" '^0 .*million per second'
told 'dedup of a file' 'million per second' dedup keys
"$tepal" build keys -o c.tepal --kind chain --grow --seed 1 -q
told 'settling' 'million per second' convert c.tepal --settle --members keys -o s.tepal -f
offline=(build keys --kind counting --choices 3 --cells 120000 --hashes 4 --seed 1 -o k.tepal -f)
told 'groups chosen for all keys' 'choosing groups, [0-9]+ %' "${offline[@]}" --offline
"$tepal" "${offline[@]}" -q
told 'audit' 'auditing, [0-9]+ %' audit k.tepal --members keys
told 'repair' 'repairing, [0-9]+ %' repair k.tepal --members keys
told 'flows' '[0-9]+ of 100000 packets' app flows packets --repeat 50
told 'lab' '[0-9]+ of 1 experiments' lab run 000-table-4 --out lab

# A terminal of our own: 20 lines of Python are what script(1) and expect would be.
cat >terminal.py <<'PY'
import os, pty, signal, sys, time
stop = float(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
began, text, pressed = time.time(), b"", False
while True:
    if stop > 0 and not pressed and b" s left" in text:
        os.write(fd, b"\x03")
        pressed = True
    try:
        piece = os.read(fd, 4096)
    except OSError:
        piece = b""
    if not piece:
        break
    text += piece
status = os.waitpid(pid, 0)[1]
lines = text.split(b"\r\x1b[K")
print("signal", os.WTERMSIG(status) if os.WIFSIGNALED(status) else "none", "in place", len(lines) > 1,
      "time left", b" s left" in text, "at once", b" s left" in lines[0])
PY
rm -f y.tepal
is 'on a terminal' "$(python3 terminal.py 0 "$tepal" "${search[@]}" --time-limit 2)" \
    'signal none in place True time left True at once False'
cp y.tepal before
ls -A >files
is 'Ctrl-C' "$(python3 terminal.py 1 "$tepal" "${search[@]}" --time-limit 60)" \
    'signal 2 in place True time left True at once False'
is 'nothing is left of it' "$(ls -A | diff - files && cmp y.tepal before && echo same)" same
finish
