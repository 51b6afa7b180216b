#!/usr/bin/env bash
# route: packets that carry their paths: networks of every form, paths and trees by name, figures and
# pictures, and every wrong network.
source "$(dirname "$0")/lib.sh"

# ---- a network by hand: two rings joined by a bridge, and a part of its own
cat >hand.graphml <<'XML'
<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="label" attr.type="string" for="node" id="d0" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d1" />
  <key attr.name="Latitude" attr.type="double" for="node" id="d2" />
  <graph edgedefault="undirected">
    <node id="0"><data key="d0">Arles</data><data key="d1">4.6</data><data key="d2">43.7</data></node>
    <node id="1"><data key="d0">Bern &amp; Thun</data><data key="d1">7.4</data><data key="d2">46.9</data></node>
    <node id="2"><data key="d0">Cork</data><data key="d1">-8.5</data><data key="d2">51.9</data></node>
    <node id="3"><data key="d0">Dax</data><data key="d1">-1.0</data><data key="d2">43.7</data></node>
    <node id="4"><data key="d0">Essen</data></node>
    <node id="5"><data key="d0">Twin</data></node>
    <node id="6"><data key="d0">Twin</data></node>
    <node id="7" />
    <edge source="0" target="1" /><edge source="0" target="1" />
    <edge source="1" target="2" /><edge source="2" target="0" />
    <edge source="2" target="3" /><edge source="3" target="4" />
    <edge source="4" target="5" /><edge source="5" target="3" />
    <edge source="6" target="7" /><edge source="6" target="6" />
  </graph>
</graphml>
XML
text='network    hand: 8 nodes, 9 edges, 1 from a node to itself left out
path       3 links from Arles to Essen
by         Arles > Cork > Dax > Essen
beside     8 other links leave its nodes
headers    50 of each kind, 256 bits; seeds from 1, time to live 64

header                                            false      rate    taken   wasted    loops
Bloom   6 hashes                                 0.0000  0.0000 %   0.0000        0   0.00 %
yes-no  192 bits, 4; 2 of 32, 3; local-search    0.0000  0.0000 %   0.0000        0   0.00 %

false links that the packets of seed 1 take
Bloom      none
yes-no     none
'
expect 'the longest shortest path, the smallest of several' 0 "$text" '' \
    "$tepal" app route hand.graphml --allocations 50
run "$tepal" app route hand.graphml --allocations 5 --from Essen --to Arles --to 'Bern & Thun' --to Twin#5
is 'a tree' "$(sed -n 2,4p "$work/out")" 'tree       5 links from Essen to Arles, Bern & Thun, Twin#5
by         Essen > Dax > Cork > Arles | Cork > Bern & Thun | Essen > Twin#5
beside     11 other links leave its nodes'
run "$tepal" app route hand.graphml --allocations 5 --from '#7' --to '#6'
is 'nodes by id' "$(sed -n 2p "$work/out")" 'path       1 link from 7 to Twin#6'
run "$tepal" app route hand.graphml --allocations 20 --tsv
is 'tsv' "$(tr '\t' ' ' <"$work/out")" 'network nodes edges n t bloom_expected bloom_false bloom_rate bloom_taken bloom_wasted bloom_loops yesno_false yesno_rate yesno_taken yesno_wasted yesno_loops
hand 8 9 3 8 8.12572e-07 0 0 0 0 0 0 0 0 0 0'
run "$tepal" app route hand.graphml --allocations 20 --json
is 'json: its names' "$(python3 -c 'import json, sys
o = json.loads(sys.stdin.read())
print(*o)
print(*o["bloom"])
print(*o["yesno"])
print(o["path"], o["left_out"], o["ttl"])' <"$work/out")" \
    "network nodes edges links left_out from to n t path parts seed allocations ttl bloom yesno
bits hashes expected false standard_error rate taken wasted expired loops clean false_links
bits hashes yes_bits no_bits no_filters no_hashes own_seeds salts method false standard_error rate taken wasted expired loops clean false_links
[['Arles', 'Cork'], ['Cork', 'Dax'], ['Dax', 'Essen']] 1 64"

# ---- the same network in other forms
printf '#u\tv\nArles\tBern & Thun\nArles\tBern & Thun\nBern & Thun\tCork\nCork\tArles\nCork\tDax\nDax\tEssen\nEssen\tTwin\nTwin\tDax\nx\ty\nz\tz\n' >hand.tsv
tail -n +2 hand.tsv | awk -F'\t' 'BEGIN { OFS = FS } { print; print $2, $1 }' |
    sed $'1i#v\tweight\tu' | awk -F'\t' 'BEGIN { OFS = FS } NR > 1 { $3 = $2; $2 = 9 } { print }' >both.tsv
gzip -c hand.graphml >packed.graphml.gz
zstd -q hand.graphml -o packed.graphml.zst
figures() { sed 's/^[a-z]*//; 1d' | cut -f 4-; }
"$tepal" app route hand.graphml --tsv --allocations 20 -k 1 --bloom-hashes 1 | figures >want
for form in packed.graphml.gz packed.graphml.zst; do
    "$tepal" app route $form --tsv --allocations 20 -k 1 --bloom-hashes 1 | figures >got
    same "$form" got want
done
"$tepal" app route - --tsv --allocations 20 -k 1 --bloom-hashes 1 <hand.graphml | figures >got
same 'standard input' got want
"$tepal" app route hand.tsv --json --allocations 20 -k 1 | sed 's/"network": "[a-z]*"/"network": ""/' >want
"$tepal" app route both.tsv --json --allocations 20 -k 1 | sed 's/"network": "[a-z]*"/"network": ""/' >got
is 'edges in one direction or in both' "$(field got n) $(field got t) $(field got edges)" \
    "$(field want n) $(field want t) $(field want edges)"

# ---- headers that err: one hash a link, a long path
python3 - >long.tsv <<'PY'
for i in range(40):
    print(f"n{i:02}\tn{i+1:02}")
    print(f"n{i:02}\tx{i:02}")
PY
"$tepal" app route long.tsv --json --allocations 400 --from n00 --to n40 >long.json
is 'yes-no errs less, members are always found, sums agree' "$(python3 - <<'PY'
import json
o = json.load(open("long.json"))
b, y = o["bloom"], o["yesno"]
print(o["n"], o["t"], y["false"] < b["false"] / 4, b["loops"] > 0.3 > y["loops"],
      abs(b["false"] - b["expected"]) < 6.5 * b["standard_error"],
      abs(b["rate"] * o["t"] - b["false"]) < 1e-9, b["taken"] >= b["false"],
      b["wasted"] > b["taken"])
PY
)" '40 80 True True True True True True'
for method in greedy nextfit bestfit pairs local-search exact; do
    "$tepal" app route long.tsv --json --allocations 60 --from n00 --to n40 --method $method >m.json
    is "--method $method" "$(python3 -c 'import json
o = json.load(open("m.json"))
print(o["yesno"]["method"], 0 < o["yesno"]["false"] < o["bloom"]["false"])')" "$method True"
done
"$tepal" app route long.tsv --json --allocations 100 --no-filters 0 --yes-bits 256 -k 6 >same.json
is 'without no-filters it is the Bloom header' "$(python3 - <<'PY'
import json
o = json.load(open("same.json"))
drop = lambda k: [o[k][n] for n in ("false", "taken", "wasted", "expired", "loops", "false_links")]
print(drop("bloom") == drop("yesno"), o["bloom"]["false"] > 0)
PY
)" 'True True'
"$tepal" app route long.tsv --tsv --allocations 200 --yes-bits 96 --no-bits 16 --no-filters 2 | tail -1 | cut -f7 >f128
"$tepal" app route long.tsv --tsv --allocations 200 --yes-bits 448 --no-bits 32 --no-filters 2 | tail -1 | cut -f7 >f512
is 'headers of 128 and 512 bits' "$(awk '{ print ($1 > 5) }' f128) $(awk '{ print ($1 < 0.6) }' f512)" '1 1'
a=$("$tepal" app route long.tsv --tsv --allocations 100 --positions distinct)
b=$("$tepal" app route long.tsv --tsv --allocations 100)
if [[ $a == "$b" ]]; then fail '--positions distinct changes nothing'; else pass; fi
a=$("$tepal" app route long.tsv --tsv --allocations 100 --seed 1000)
if [[ $a == "$b" ]]; then fail 'another seed gives the same'; else pass; fi
is 'the same seed gives the same' "$("$tepal" app route long.tsv --tsv --allocations 100)" "$b"
"$tepal" app route long.tsv --json --allocations 200 --ttl 60 >short.json
"$tepal" app route long.tsv --json --allocations 200 --ttl 255 >far.json
is 'a longer life wastes more' "$(python3 -c 'import json
a, b = (json.load(open(n))["bloom"] for n in ("short.json", "far.json"))
print(a["false"] == b["false"], a["wasted"] < b["wasted"], a["expired"] > 0)')" 'True True True'

# ---- pictures
expect '--svg' 0 "${text/50 of/20 of}" '' "$tepal" app route hand.graphml --allocations 20 --svg hand.svg
is 'the picture: a line an edge, the path, a dot a node and again on the path' "$(python3 - <<'PY'
import xml.etree.ElementTree as ET
root = ET.parse("hand.svg").getroot()
space = "{http://www.w3.org/2000/svg}"
count = lambda tag, name: sum(e.get("class") == name for e in root.iter(space + tag))
print(count("path", "link"), count("path", "path") - 1, count("circle", "node"), count("circle", "on"),
      sorted(e.text for e in root.iter(space + "text"))[0])
PY
)" '9 3 8 4 Arles'
is 'its title' "$(grep -o '<title>[^<]*' hand.svg | head -1)" '<title>hand: 3 links from Arles to Essen'
cp hand.svg first.svg
refused 'an existing picture is kept' \
    'hand.svg: the file exists; use --force to overwrite it' \
    "$tepal" app route hand.graphml --allocations 20 --svg hand.svg
run "$tepal" app route hand.graphml --allocations 20 --svg hand.svg --force
same 'the same picture again' hand.svg first.svg
run "$tepal" app route long.tsv --allocations 1 --seed 3 --svg long.svg --from n00 --to n40 -k 1 --bloom-hashes 1
is 'a picture without places, with false links' \
    "$code $(python3 -c 'import xml.etree.ElementTree as ET
r = ET.parse("long.svg").getroot()
print(sum(e.get("class") == "bloom" for e in r.iter("{http://www.w3.org/2000/svg}path")) > 1)')" '0 True'

# ---- many networks
mkdir zoo
cp hand.graphml zoo/b.graphml
cp long.tsv zoo/a.tsv
printf '#asn\tu\tv\n7\ta\tb\n7\tb\tc\n9\tc\td\n' >zoo/several.tsv
printf '<graphml><graph><node id="only"/></graph></graphml>' >zoo/c.graphml
echo 'not a network' >zoo/readme.txt
run "$tepal" app route zoo --allocations 50 --figures out
is 'a folder: a line a network' "$(tail -n +3 "$work/out" | awk '{ print $1, $2, $3, $4 }')" \
    'a 81 41 80
b 8 3 8
several:7 3 2 2
several:9 2 1 1'
is 'a folder: what was left out' "$(cat "$work/err")" 'left out   c: it has no links'
run "$tepal" app route zoo --allocations 50 --tsv -q
is 'a folder: tsv' "$(cut -f1,4,5 "$work/out" | tr '\t' ' ')" 'network n t
a 41 80
b 3 8
several:7 2 2
several:9 1 1'
is 'quiet' "$(cat "$work/err")" ''
is 'the figures' "$(ls out | xargs)" 'fig16.svg fig16.tsv fig17.svg fig17.tsv fig18.svg fig18.tsv'
is 'the figures say what the rows say' "$(python3 - "$work/out" <<'PY'
import csv, sys
read = lambda name: list(csv.DictReader(open(name), delimiter="\t"))
rows, f16, f17, f18 = read(sys.argv[1]), read("out/fig16.tsv"), read("out/fig17.tsv"), read("out/fig18.tsv")
print([(r["network"], r["bloom"], r["yesno"]) for r in f16] ==
      [(r["network"], r["bloom_false"], r["yesno_false"]) for r in rows],
      [r["n"] for r in f17], [r["networks"] for r in f17],
      f17[-1]["bloom_rate"] == rows[0]["bloom_rate"],
      abs(float(f18[-1]["ratio"]) - float(rows[0]["yesno_rate"]) / float(rows[0]["bloom_rate"])) < 1e-4)
PY
)" "True ['1', '2', '3', '41'] ['1', '1', '1', '1'] True True"
is 'rates are shares, and there is a line for 0' "$(grep -c '>1 %</text>' out/fig17.svg) $(grep -c '>0 %</text>' out/fig17.svg)" '1 1'
for figure in 16 17 18; do
    expect "fig$figure.svg is XML" 0 '' '' python3 -c "import xml.etree.ElementTree as ET
ET.parse('out/fig$figure.svg')"
done
run "$tepal" app route zoo/several.tsv --network 7 --tsv --allocations 5
is '--network' "$(tail -1 "$work/out" | cut -f1,4)" $'several:7\t2'
run "$tepal" app route zoo/a.tsv zoo/b.graphml --json --allocations 5
is 'several operands' "$code $(wc -l <"$work/out" | tr -d ' ')" '0 2'

# ---- wrong input
bad() {
    local name=$1 message=$2
    shift 2
    refused "$name" "$message" "$tepal" app route "$@"
}
echo 'this is not XML' >text.graphml
bad 'GraphML that is not XML' 'text.graphml: line 1: not XML: syntax error' text.graphml
head -c 900 hand.graphml >cut.graphml
like 'GraphML cut short' "$("$tepal" app route cut.graphml 2>&1)" '^tepal: cut.graphml: line [0-9]+: not XML: '
cat >laughs.graphml <<'XML'
<?xml version="1.0"?>
<!DOCTYPE lolz [
 <!ENTITY l0 "lol">
 <!ENTITY l1 "&l0;&l0;&l0;&l0;&l0;&l0;&l0;&l0;&l0;&l0;">
 <!ENTITY l2 "&l1;&l1;&l1;&l1;&l1;&l1;&l1;&l1;&l1;&l1;">
 <!ENTITY l3 "&l2;&l2;&l2;&l2;&l2;&l2;&l2;&l2;&l2;&l2;">
 <!ENTITY l4 "&l3;&l3;&l3;&l3;&l3;&l3;&l3;&l3;&l3;&l3;">
]>
<graphml><graph><node id="&l4;"/></graph></graphml>
XML
bad 'a billion laughs' 'laughs.graphml: line 2: a document type (<!DOCTYPE): it can declare entities, so it is refused' laughs.graphml
sed 's/target="7"/target="70"/' hand.graphml >missing.graphml
bad 'an edge to a node that is missing' "missing.graphml: line 19: the edge leads to node '70', which does not exist" missing.graphml
echo '<html/>' >page.graphml
bad 'another document' 'page.graphml: line 1: the document is <html>, not <graphml>' page.graphml
printf 'a\tb\nc d\n' >spaces.tsv
bad 'a line without a tab' 'spaces.tsv: line 2: column 2 is missing (columns are separated by tabs)' spaces.tsv
: >empty.tsv
bad 'an empty file' 'empty.tsv: it contains no nodes' empty.tsv
mkdir empty
bad 'an empty folder' 'empty: it contains no networks: no file name ends in .graphml, .xml or .tsv' empty
bad 'no such file' 'nowhere.graphml: No such file or directory' nowhere.graphml
bad 'no network' "app route: a network is needed; see 'tepal app route --help'"
bad 'a network without links' 'c: there is no path: the network has no links' zoo/c.graphml
bad 'no path' 'hand: there is no path from Arles to 7' hand.graphml --from Arles --to 7
bad 'no such node' "hand: there is no node 'Corc'; did you mean Cork?" hand.graphml --from Corc --to Dax
bad 'a shared label' "hand: 2 nodes are called 'Twin': choose one, as Twin#5" hand.graphml --from Twin --to Dax
bad 'from itself' 'hand: --from and --to are the same node: #2' hand.graphml --from Cork --to '#2'
bad 'from without to' 'app route: --from and --to belong together: give both' hand.graphml --from Cork
bad 'two senders' 'app route: --from and --network can be given once only' hand.graphml --from Cork --from Dax --to Arles
bad 'an empty name' "app route: --to '': a name is needed" hand.graphml --from Cork --to ''
bad 'a short life' 'hand: --ttl 2: the path has 3 links' hand.graphml --ttl 2
bad 'a size that no header has' 'app route: Bloom header of 2112 bits: a header has at most 2048 bits' hand.graphml --yes-bits 2048
bad 'sizes twice' 'app route: --bits and --yes-bits cannot be combined: give one of them' hand.graphml --bits 256 --yes-bits 192
bad 'more hashes than bits of distinct positions' \
    'app route: yes-no header of 256 bits: distinct positions need at least one bit per hash function in a no-filter' \
    hand.graphml --yes-bits 248 --no-bits 4 --no-hashes 5 --positions distinct
bad 'a picture of many' 'app route: --svg draws one network, and there are 5' zoo --svg many.svg
absent 'and none is drawn' many.svg
bad 'no such network' "zoo/several.tsv: it contains no network '8'" zoo/several.tsv --network 8
bad 'a network of GraphML' 'hand.graphml: GraphML has one network per file, so none can be selected by name' hand.graphml --network 8
bad 'a folder that cannot be made' 'none/out: No such file or directory' hand.graphml --figures none/out
bad 'figures are kept' 'out/fig16.svg: the file exists; use --force to overwrite it' hand.graphml --figures out
seq 1 20 | sed 's/.*/k&\tv&/' >pairs.tsv
bad 'a table of keys and values' 'pairs.tsv: no two of its 20 edges have a node in common: it is not a list of edges, or its columns must be named in a first line: #u, a tab, v' pairs.tsv
printf 'a\tb\tand more text\nb\tc\tof another sort\n' >table.tsv
bad 'a table of another sort' 'table.tsv: 88 % of it is not understood: it is beyond the second column; if it is a list of edges, name the columns in a first line: #u, a tab, v' table.tsv
printf 'Arles\tBern\t7\nBern\tCork\t12\n' >weights.tsv
run "$tepal" app route weights.tsv --allocations 1
is 'a column more: a warning' "$code $(cat "$work/err")" '0 tepal: weights.tsv: warning: 15 % of it is beyond the second column and not used: name the columns in a first line, #u, a tab, v and so on'
run "$tepal" app route weights.tsv --allocations 1 -q
is 'and none with --quiet' "$code $(cat "$work/err")" '0 '
seq 1 20 | awk '{ print "p" int($1 / 3) "\ta" $1 % 7 }' >papers.tsv
run "$tepal" app route papers.tsv --allocations 1
is 'columns of two sorts: a warning' "$code $(cat "$work/err")" '0 tepal: papers.tsv: warning: no name of its first column is in the second, too: both are taken as nodes, and each line as an edge; a list of pairs of two sorts, as authors and papers, is no network; if this is one, say so in a first line: #u, a tab, v'
run "$tepal" app route papers.tsv --allocations 1 -q
is 'not with --quiet' "$code $(cat "$work/err")" '0 '
{ printf '#u\tv\n' && cat papers.tsv; } >bipartite.tsv
run "$tepal" app route bipartite.tsv --allocations 1
is 'nor if the columns are named' "$code $(cat "$work/err")" '0 '
{ cat papers.tsv && printf 'a1\ta2\n'; } >joined.tsv
run "$tepal" app route joined.tsv --allocations 1
is 'nor if one name is in both' "$code $(cat "$work/err")" '0 '
seq 1 20 | sed 's/^/hub\t/' >star.tsv
run "$tepal" app route star.tsv --allocations 1
is 'nor of a star' "$code $(cat "$work/err")" '0 '
{ printf '#u\tv\tweight\n' && cat table.tsv; } >named.tsv
run "$tepal" app route named.tsv --allocations 1
is 'columns that are named are not counted' "$code $(cat "$work/err")" '0 '
printf 'a\tb\n' >zoo/z.tsv
echo 'broken' >>zoo/z.tsv
run "$tepal" app route zoo --allocations 5 --figures fresh
is 'one wrong network in a folder: an error that names it' "$code $(tail -1 "$work/err")" \
    '2 tepal: zoo/z.tsv: line 2: column 2 is missing (columns are separated by tabs)'
is 'and no figures' "$(ls fresh | wc -l | tr -d ' ')" 0

finish
