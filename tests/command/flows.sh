#!/usr/bin/env bash
# flows: packets made here, as lines and as captures: by hand, where every figure can be counted on
# the fingers, and by a generator that removes strangers. If TEPAL_DATA names a folder with real
# packets (flows/packets.tsv.gz), these are run too.
source "$(dirname "$0")/lib.sh"

# ---- by hand: two flows that begin and end, one whose start was never seen, one that goes idle
cat >hand.tsv <<'TSV'
#capture	t	proto	src	sport	dst	dport	flags	len
a	0	tcp	10.0.0.1	1001	10.9.9.9	80	S	60
a	1	tcp	10.9.9.9	80	10.0.0.1	1001	SA	60
a	2	tcp	10.0.0.1	1001	10.9.9.9	80	A	60
a	3	tcp	10.0.0.2	2002	10.9.9.9	80	AF	60
a	4	udp	10.0.0.3	53	10.9.9.9	53	-	60
a	5	tcp	10.0.0.1	1001	10.9.9.9	80	AF	60
a	6	tcp	10.9.9.9	80	10.0.0.1	1001	AF	60
a	90	tcp	10.0.0.4	4004	10.9.9.9	80	S	60
a	91	udp	10.0.0.3	53	10.9.9.9	53	-	60
TSV
run "$tepal" app flows hand.tsv --windows 1 --tsv
is 'by hand: exit status and words' "$code $(cat "$work/err")" \
    '0 packets    9 in 4 flows, over 91.0 s; at most 2 flows at once
unmatched  2 FIN or RST of flows that are not in the table'
is 'by hand: names' "$(head -1 "$work/out" | tr '\t' ' ')" \
    'kind bits window t flows packets_absent false_positives packets_present false_negatives wrong_removals not_removed not_added flows_missing stranger_fp'
# absent: SYN, the unknown FIN, the first UDP, the second FIN, SYN, UDP again after it was idle
is 'by hand: six packets of absent flows, three of present ones, no error' \
    "$(tail -n +2 "$work/out" | cut -f1,3,5-13 | tr '\t' ' ')" \
    'counting 1 2 6 0 3 0 0 0 0 0
multichoice remove 1 2 6 0 3 0 0 0 0 0
multichoice keep 1 2 6 0 3 0 0 0 0 0
multichoice receipt 1 2 6 0 3 0 0 0 0 0
fingerprint 1 2 6 0 3 0 0 0 0 0'
run "$tepal" app flows hand.tsv --windows 1 --tsv --insert first --idle 100 -q
is '--insert first: any packet but the last begins a flow; --idle: it lasts' \
    "$code $(awk -F'\t' '$1 == "fingerprint"' "$work/out" | cut -f5,6,8 | tr '\t' ' ')" '0 2 5 4'
run "$tepal" app flows hand.tsv --windows 1 --tsv --one-way -q
is '--one-way: the answers belong to another flow' \
    "$code $(awk -F'\t' '$1 == "fingerprint"' "$work/out" | cut -f5,6,8 | tr '\t' ' ')" '0 2 7 2'
run "$tepal" app flows hand.tsv
is 'the table has a line a kind' "$code $(wc -l <"$work/out" | tr -d ' ')" '0 7'
run "$tepal" app flows hand.tsv --json -q --windows 3
is 'json: an object a kind, and no words' \
    "$code $(cat "$work/err") $(python3 -c 'import json, sys
for line in open(sys.argv[1]):
    o = json.loads(line)
    print(o["kind"], len(o["windows"]), o["fp"], o["peak_flows"], sum(w["packets_absent"] for w in o["windows"]), o["packets_absent"])' "$work/out")" \
    '0  counting 3 0.0 2 6 6
multichoice remove 3 0.0 2 6 6
multichoice keep 3 0.0 2 6 6
multichoice receipt 3 0.0 2 6 6
fingerprint 3 0.0 2 6 6'

# ---- the same packets in other forms
"$tepal" app flows hand.tsv --tsv -q >want
gzip -c hand.tsv >hand.tsv.gz
run "$tepal" app flows hand.tsv.gz --tsv -q
same 'compressed' want "$work/out"
run bash -c '"$0" app flows --tsv -q <hand.tsv' "$tepal"
same 'from standard input' want "$work/out"
cat >pcap.py <<'PYTHON'
import socket, struct, sys
link = int(sys.argv[2])
out = open(sys.argv[1], "wb")
out.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, link))
before = {1: b"\xff" * 6 + b"\0" * 6 + b"\x08\0", 101: b"", 113: b"\0\0\0\1\0\6" + b"\0" * 8 + b"\x08\0"}[link]
for line in sys.stdin:
    if line[0] == "#":
        continue
    _, t, proto, src, sport, dst, dport, flags, _ = line.rstrip("\n").split("\t")
    bits = sum({"S": 2, "A": 16, "F": 1, "R": 4}.get(f, 0) for f in flags)
    ports = struct.pack(">HH", int(sport), int(dport))
    tcp = proto == "tcp"
    body = ports + (struct.pack(">IIBBHHH", 0, 0, 80, bits, 0, 0, 0) if tcp else struct.pack(">HH", 8, 0))
    ip = struct.pack(">BBHHHBBH4s4s", 69, 0, 20 + len(body), 0, 0, 64, 6 if tcp else 17, 0,
                     socket.inet_aton(src), socket.inet_aton(dst))
    frame = before + ip + body
    seconds = float(t)
    out.write(struct.pack("<IIII", int(seconds), round(seconds % 1 * 1e6), len(frame), len(frame)) + frame)
PYTHON
for link in 1 101 113; do
    python3 pcap.py "$link.pcap" "$link" <hand.tsv
    run "$tepal" app flows "$link.pcap" --tsv -q
    same "a capture of link type $link" want "$work/out"
done
zstd -q 1.pcap
run bash -c '"$0" app flows --tsv -q <1.pcap.zst' "$tepal"
same 'a compressed capture from standard input' want "$work/out"
grep -v '^#' hand.tsv | tail -n 4 >late.tsv
grep -v '^#' hand.tsv | head -n 5 >early.tsv
run "$tepal" app flows late.tsv early.tsv --tsv -q
same 'files are merged by time' want "$work/out"
head -c -3 101.pcap >cut.pcap
run "$tepal" app flows cut.pcap --tsv
is 'a capture that ends within a packet: a warning' "$code $(head -1 "$work/err")" \
    '0 tepal: cut.pcap: warning: the capture ends within a packet; the packets before it are used'

# ---- wrong input
sed 's/\t1001\t/\t99999\t/' hand.tsv >port.tsv
refused 'a port' "port.tsv: line 2: not a port: '99999'" "$tepal" app flows port.tsv
printf 'hello\n' >hello.tsv
refused 'not packets' 'hello.tsv: line 1: 1 field where 9 are needed' "$tepal" app flows hello.tsv
head -c 10 101.pcap >short.pcap
run "$tepal" app flows short.pcap
like 'a capture without its header' "$code $(cat "$work/err")" '^2 tepal: short.pcap: truncated'
printf '\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\0\0\x04\0\x69\0\0\0' >wifi.pcap
refused 'a link type' 'wifi.pcap: link type 105 is not supported' "$tepal" app flows wifi.pcap
: >empty
refused 'nothing' 'app flows: no TCP or UDP packets in the input' "$tepal" app flows empty
grep $'\tAF\t' hand.tsv >ends.tsv
refused 'nothing begins' 'app flows: no flow begins in these packets: try --insert first' \
    "$tepal" app flows ends.tsv
refused 'no such file' 'none.pcap: No such file or directory' "$tepal" app flows none.pcap
refused 'two sizes' 'app flows: --bits and --bits-per-flow cannot be combined: give one of them' \
    "$tepal" app flows hand.tsv --bits 1000 --bits-per-flow 3

# ---- one bad file of several costs neither the others nor its exit status
python3 - <<'PYTHON'
import struct
def block(kind, body):
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)
capture = open("1.pcap", "rb").read()
size = struct.unpack("<I", capture[32:36])[0]
frame = capture[40:40 + size] + b"\0" * (-size % 4)
section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
port = lambda snap: block(1, struct.pack("<HHI", 1, 0, snap))
packet = block(6, struct.pack("<IIIII", 0, 0, 0, size, size) + frame)
open("snap.pcapng", "wb").write(section + port(65535) + packet + port(100) + packet)
PYTHON
run "$tepal" app flows early.tsv wifi.pcap late.tsv --tsv -q
is 'a link type among others: skipped, told, exit status 2' "$code $(cat "$work/err")" \
    '2 tepal: wifi.pcap: warning: link type 105 is not supported; the file is skipped
tepal: app flows: 1 of 3 files could not be read: its warning is above'
same 'and the figures are those of the others' want "$work/out"
run "$tepal" app flows early.tsv none.pcap late.tsv snap.pcapng port.tsv --tsv -q
is 'several bad files' "$code $(wc -l <"$work/out") $(tail -1 "$work/err")" \
    "2 $(wc -l <want) tepal: app flows: 3 of 5 files could not be read: see the warnings"
like 'differing snap lengths: what came before is used' "$(grep snap.pcapng "$work/err")" \
    '^tepal: snap.pcapng: warning: .*snapshot length.*; the packets before that are used$'
run "$tepal" app flows wifi.pcap none.pcap
is 'none can be read' "$code $(cat "$work/out")$(tail -1 "$work/err")" \
    '2 tepal: none of the 2 files could be read'

# ---- a long run: half of the FINs are of flows that never began
python3 - >many.tsv <<'PYTHON'
import random
random.seed(1)
t = 0
live = []
def packet(n, flags):
    print(f"a\t{t:.3f}\ttcp\t10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}\t1000\t10.255.0.1\t80\t{flags}\t60")
for n in range(6000):
    t += 0.01
    packet(n, "S")
    live.append(n)
    packet(random.choice(live), "A")
    if len(live) > 1000:
        packet(live.pop(random.randrange(len(live))), "AF")
        packet(1000000 + n, "AF")
PYTHON
run "$tepal" app flows many.tsv --bits-per-flow 16 --repeat 4 --json --svg drift.svg --idle 60
is 'a long run: exit status and words' "$code $(cat "$work/err")" \
    '0 packets    22000 in 11000 flows, over 60.0 s; at most 2001 flows at once
repeated   4 times, each time as other flows
unmatched  20000 FIN or RST of flows that are not in the table'
cp "$work/out" many.json
# What the figures must be like, whatever the hash: a removal takes something where a stranger is
# found; what `keep` keeps piles up; fingerprints do better than counters of the same memory.
is 'a long run: what removals do' "$(python3 - <<'PYTHON'
import json
kinds = {o["kind"]: o for o in map(json.loads, open("many.json"))}
c, r, k, t, f = (kinds[name] for name in ("counting", "multichoice remove", "multichoice keep",
                                          "multichoice receipt", "fingerprint"))
print("same questions", len({(o["packets_absent"], o["packets_present"]) for o in kinds.values()}) == 1)
print("equal memory", all(0.97 * c["bits"] < o["bits"] <= 16 * 2001 for o in kinds.values()))
print("four windows", all(len(o["windows"]) == 4 for o in kinds.values()))
print("strangers are removed where they are found",
      all(o["wrong_removals"] > 20 for o in (c, r, k, t)) and f["wrong_removals"] < 20)
print("and then flows are missed", all(o["false_negatives"] > 0 for o in (c, r, k, t)))
print("keep keeps", k["not_removed"] > 100 and k["windows"][-1]["stranger_fp"] > k["windows"][0]["stranger_fp"])
print("a receipt always finds its group, or wrong removals took it",
      t["not_removed"] <= 8 * t["wrong_removals"] and t["not_removed"] < r["not_removed"])
print("fingerprints", all(f["fp"] < o["fp"] / 10 and f["fn"] < o["fn"] / 10 for o in (c, r, k, t)))
print("everything was added", all(o["not_added"] == 0 for o in kinds.values()))
PYTHON
)" 'same questions True
equal memory True
four windows True
strangers are removed where they are found True
and then flows are missed True
keep keeps True
a receipt always finds its group, or wrong removals took it True
fingerprints True
everything was added True'
like 'the drift is drawn' "$(head -c 4 drift.svg) $(grep -c 'class="curve' drift.svg)" '^<svg [1-9][0-9]*$'
is 'windows without errors are drawn as 0' "$(grep -c '>0 %</text>' drift.svg)" 1
refused 'a picture is not overwritten' 'drift.svg: the file exists; use --force to overwrite it' \
    "$tepal" app flows hand.tsv --svg drift.svg
run "$tepal" app flows many.tsv --bits-per-flow 16 --repeat 4 --json --idle 60 -q
same 'the same again' many.json "$work/out"
run "$tepal" app flows many.tsv --bits 4000 -q
is 'too little memory is refused' "$code $(cat "$work/err")" \
    '2 tepal: app flows: 4000 bits are too few for 1001 flows: give more --bits-per-flow'

# ---- states, by hand: the first flow opens, is answered, talks, closes and ends; the second is reset;
# the third is UDP; the FIN of the fourth is its only packet; the fifth is answered late.
cat >states.tsv <<'TSV'
a	0	tcp	10.0.0.1	1001	10.9.9.9	80	S	60
a	1	tcp	10.9.9.9	80	10.0.0.1	1001	SA	60
a	2	tcp	10.0.0.2	2002	10.9.9.9	80	S	60
a	3	tcp	10.0.0.1	1001	10.9.9.9	80	A	60
a	4	tcp	10.0.0.1	1001	10.9.9.9	80	A	60
a	5	tcp	10.9.9.9	80	10.0.0.2	2002	AR	60
a	6	udp	10.0.0.3	53	10.9.9.9	53	-	60
a	7	udp	10.9.9.9	53	10.0.0.3	53	-	60
a	8	tcp	10.0.0.4	4004	10.9.9.9	80	AF	60
a	9	tcp	10.0.0.1	1001	10.9.9.9	80	AF	60
a	10	tcp	10.9.9.9	80	10.0.0.1	1001	A	60
a	11	tcp	10.9.9.9	80	10.0.0.1	1001	AF	60
a	12	tcp	10.0.0.5	5005	10.9.9.9	80	S	60
a	13	tcp	10.0.0.5	5005	10.9.9.9	80	A	60
a	14	tcp	10.9.9.9	80	10.0.0.5	5005	SA	60
TSV
run "$tepal" app flows states.tsv --states --windows 1 --tsv --bits 20000
is 'states by hand: words' "$code $(cat "$work/err")" \
    '0 packets    15 in 5 flows, over 14.0 s; at most 2 flows at once
unmatched  1 FIN or RST of flows that are not in the table
changes    5 changes of state, of flows that go on'
is 'states by hand: names' "$(head -1 "$work/out" | tr '\t' ' ')" \
    'kind bits window t flows packets_absent false_positives packets_present false_negatives wrong_removals not_removed not_added flows_missing stranger_fp several wrong_state'
is 'states by hand: five packets of absent flows, ten of present ones, no error' \
    "$(tail -n +2 "$work/out" | cut -f1,3,5-13,15,16 | tr '\t' ' ')" \
    "$(for kind in counting fingerprint; do for rule in keep one all told; do
        echo "$kind $rule 1 2 5 0 10 0 0 0 0 0 0 0"
    done; done)"
run "$tepal" app flows states.tsv --states --windows 1 --tsv --bits 20000 --insert first --one-way -q
is 'states: an answer alone is a flow of its own' \
    "$code $(awk -F'\t' '$1 == "counting told"' "$work/out" | cut -f5,6,8 | tr '\t' ' ')" '0 7 9 6'

# ---- states in a crowded filter: every kind of error, and who makes it
python3 - >crowd.tsv <<'PYTHON'
import random
random.seed(2)
live, t = {}, 0
def packet(n, flags):
    print(f"a\t{t:.3f}\ttcp\t10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}\t1000\t10.255.0.1\t80\t{flags}\t60")
for n in range(4000):
    t += 0.01
    packet(n, "S")
    live[n] = ["FA", "FA", "A", "A", "SA"]
    for m in random.sample(sorted(live), 5) if len(live) > 400 else []:
        packet(m, live[m].pop())
        if not live[m]:
            del live[m]
PYTHON
run "$tepal" app flows crowd.tsv --states --bits-per-flow 30 --json -q --idle 1000
is 'states: what each rule does' "$(python3 - "$work/out" <<'PYTHON'
import json, sys
rules = {o["kind"]: o for o in map(json.loads, open(sys.argv[1]))}
keep, one, every, told = (rules["counting " + name] for name in ("keep", "one", "all", "told"))
first = lambda o: o["windows"][0]
print("same questions", len({(o["packets_absent"], o["packets_present"]) for o in rules.values()}) == 1)
print("told: nobody is lost or wrong, nothing removed wrongly",
      told["false_negatives"] == told["wrong_state"] == told["wrong_removals"] == told["not_removed"] == 0)
print("told: several states, all the same", told["several"] > 100)
print("keep: nobody is lost, nothing removed wrongly, and it fills up",
      keep["false_negatives"] == keep["wrong_removals"] == 0 and keep["not_removed"] > 100 and
      keep["windows"][-1]["stranger_fp"] > 4 * first(keep)["stranger_fp"])
print("one and all: states of others are removed, and others are lost",
      all(o["wrong_removals"] > 50 and o["false_negatives"] > 50 for o in (one, every)))
print("one is sometimes wrong about its own", one["not_removed"] > 50)
print("sums", all(o["several"] + o["wrong_state"] + o["false_negatives"] <= o["packets_present"] and
                  abs(o["several_share"] - o["several"] / o["packets_present"]) < 1e-12 for o in rules.values()))
PYTHON
)" 'same questions True
told: nobody is lost or wrong, nothing removed wrongly True
told: several states, all the same True
keep: nobody is lost, nothing removed wrongly, and it fills up True
one and all: states of others are removed, and others are lost True
one is sometimes wrong about its own True
sums True'

# ---- somebody means harm
attacked() { # attacked SHARE: counting filters and fingerprints, as JSON
    "$tepal" app flows crowd.tsv --idle 1000 --bits-per-flow 14 --attack "$1" --json -q
}
attacked 10% >harm
is 'an attacker: what he removes, and what it costs' "$(python3 - <<'PYTHON'
import json
kinds = {o["kind"]: o for o in map(json.loads, open("harm"))}
f, c = kinds["fingerprint"], kinds["counting"]
# Flows end at their first FIN; for each ten that do a delete is due. He rests when few are there.
ends = len({line.split("\t")[3] for line in open("crowd.tsv") if "\tFA\t" in line})
print("one for every ten that end, but at the start", 0.8 * ends // 10 < f["attacks"] <= ends // 10)
print("nothing else is removed wrongly but unmatched FINs", f["attacks"] <= f["wrong_removals"])
print("he looks up 1 / rate strangers for each", 0.5 < f["attack_tries"] * f["windows"][-1]["stranger_fp"] / f["attacks"] < 2)
print("a fingerprint filter loses one flow at most for each",
      sum(w["flows_missing"] for w in f["windows"][-1:]) <= f["wrong_removals"])
print("windows add up", all(sum(w["attacks"] for w in o["windows"]) == o["attacks"] for o in kinds.values()))
PYTHON
)" 'one for every ten that end, but at the start True
nothing else is removed wrongly but unmatched FINs True
he looks up 1 / rate strangers for each True
a fingerprint filter loses one flow at most for each True
windows add up True'
run attacked 10%
same 'an attacker: the same again' harm "$work/out"
run "$tepal" app flows states.tsv --states --attack 100% --bits 20000 --tsv --windows 1 -q
is 'a filter without false positives: he looks up 10,000 and rests' \
    "$code $(awk -F'\t' '$1 == "fingerprint told" { print $17, $18 }' "$work/out")" '0 0 10000'
refused 'an attack of nothing' 'app flows: --attack 0: out of range: a share must be above 0 and at most 1' \
    "$tepal" app flows hand.tsv --attack 0

# ---- real packets
if [[ -r ${TEPAL_DATA:-}/flows/packets.tsv.gz ]]; then
    run "$tepal" app flows "$TEPAL_DATA/flows/packets.tsv.gz" --bits-per-flow 12 --repeat 10 --json
    is 'real packets' "$code $(head -1 "$work/err")" \
        '0 packets    99799 in 7843 flows, over 1722426235.0 s; at most 3531 flows at once'
    is 'real packets: fingerprints do best' "$(python3 - "$work/out" <<'PYTHON'
import json, sys
kinds = {o["kind"]: o for o in map(json.loads, open(sys.argv[1]))}
f = kinds["fingerprint"]
print(f["fp"] <= 0.004, f["fn"] <= 0.0005,
      all(f["fp"] < o["fp"] and f["fn"] < o["fn"] for n, o in kinds.items() if n != "fingerprint"))
PYTHON
)" 'True True True'
fi

finish
