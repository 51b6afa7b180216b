#!/usr/bin/env bash
# guide: every command in the console blocks of the documents named below is run, in order and in one
# directory each, and must print what the document says. After a wanted change: tests/command/guide.sh TEPAL --update
source "$(dirname "$0")/lib.sh"

mkdir "$work/bin"
ln -s "$tepal" "$work/bin/tepal"
export PATH="$work/bin:$PATH"

cat >"$work/guide.py" <<'PY'
import subprocess, sys

path, update = sys.argv[1], "--update" in sys.argv[2:]
lines = open(path, encoding="utf-8").read().split("\n")
result, failures, checked = [], 0, 0
inside = False
i = 0
while i < len(lines):
    line = lines[i]
    if line.startswith("```"):
        inside = line == "```console"
    result.append(line)
    i += 1
    if not (inside and line.startswith("$ ")):
        continue
    command = line[2:]
    while lines[i].startswith("> "):
        command += "\n" + lines[i][2:]
        result.append(lines[i])
        i += 1
    expected = []
    while not lines[i].startswith("$ ") and lines[i] != "```":
        expected.append(lines[i])
        i += 1
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    got = done.stdout.decode("utf-8", "replace").split("\n")
    if got[-1] == "":
        got.pop()
    result += got
    checked += 1
    if got != expected and not update:
        failures += 1
        print(f"$ {command}", *[f"- {e}" for e in expected], *[f"+ {g}" for g in got], sep="\n",
              file=sys.stderr)
if update:
    open(path, "w", encoding="utf-8").write("\n".join(result))
print(checked, failures)
PY
# document NAME LEAST [FILE]: at least so many commands, all of them as printed.
document() {
    local checked failures file=${3:-docs/$1.md}
    mkdir "$work/$1"
    [[ $1 != readme ]] || ln -s "$work/bin" "$work/$1/build" # there it is called where make puts it
    read -r checked failures < <(cd "$work/$1" &&
        python3 "$work/guide.py" "$here/../../$file" "$update")
    is "every command of $file prints what it says" "${failures:-none ran}" 0
    is "$file has commands" "$((${checked:-0} >= $2))" 1
    echo "$1: $((checked - failures)) of $checked commands as printed"
}
update=${2:-}
document readme 3 README.md
document guide 31
document retouching 10
document planning 12
document deletes 20
document growing 19
document flows 4
document vetoes 15
document forwarding 8
document untrusted 20
document peers 20
document streams 18
document lab 6
document stopset 18

finish
