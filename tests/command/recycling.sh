#!/usr/bin/env bash
# recycling: the model from sigma and from a rate, build, add, query, info, and every wrong input.
source "$(dirname "$0")/lib.sh"

# has NAME CONDITION: a condition over the JSON object in $work/out, as a Python expression in d.
has() {
    is "$1" "$(python3 -c 'import json, sys
d = json.loads(open(sys.argv[1]).read())
near = lambda a, b, r=1e-9: abs(a / b - 1) < r
print(bool(eval(sys.argv[2])))' "$work/out" "$2")" True
}

# ---- the model
run "$tepal" model recycling --bits 1000 --hashes 5 --sigma 400 --json
is 'model: exit status and words' "$code $(cat "$work/err")" '0 '
has 'f1 and E[N0]' 'near(d["fp_average"], 0.00204770061125) and near(d["messages_per_cycle"], 102.831821049)'
has 'its other rates' 'd["fp_oracle"] < d["fp_actual"] < d["fp_worst"] and near(d["fp_full"], 0.4 ** 5)'
has 'which way of counting' 'd["counting"] == "count-instance"'
run "$tepal" model recycling --bits 1000 --hashes 5 --sigma 400 --retain --json
has 'retaining' 'near(d["fp_average"], 0.00206780926285) and near(d["messages_per_cycle"], 101.831821049)'
run "$tepal" model recycling --bits 1000 --hashes 5 --sigma 400 --phases 2 --json
has 'two phases' 'near(d["fp_average"], 0.0121149722635)'
run "$tepal" model recycling --bits 1000 --hashes 5 --sigma 400 --phases 2 --keep-trigger --json
has 'two phases, trigger kept' 'near(d["fp_average"], 0.0125512235499)'
run "$tepal" model recycling --bits 1000 --hashes 5 --sigma 400 --distinct --json
has 'distinct' 'near(d["fp_average"], 0.00200778113703) and d["positions"] == "distinct"'
run "$tepal" model recycling --bits 100000 --fp 0.01 --json
has 'the inverse' 'd["hashes"] == 6 and d["sigma"] == 60624 and abs(d["capacity"] - 15534.27) < 0.01'
run "$tepal" model recycling --bits 100000 --fp 0.01 --hashes 4 --json
has 'the inverse with a number of hashes' 'd["hashes"] == 4 and 0.00999 < d["fp_average"] <= 0.01'
run "$tepal" model recycling --bits 1Gi --layout blocked --phases 2 --fp 1% --json
has 'the inverse on lines' 'd["layout"] == "blocked" and 0.0099 < d["fp_average"] <= 0.01'
run "$tepal" model recycling --bits 100M --hashes 7 --sigma 50M
is 'large: by closed form' "$code $(awk '$1 == "method" { print $2 }' "$work/out")" '0 closed'

wrong() { # wrong NAME SENTENCE OPTIONS...: the model refuses
    local name=$1 sentence=$2
    shift 2
    expect "model: $name" 2 '' "tepal: model: $sentence
" "$tepal" model recycling "$@"
}
wrong 'no bits' '--bits M is needed, the bits per phase (or --messages and --fp)' --fp 1%
wrong 'neither sigma nor fp' 'give one of --sigma S, --messages N and --fp RATE' --bits 1000
wrong 'both' 'give one of --sigma S, --messages N and --fp RATE' --bits 1000 --sigma 4 --fp 1%
wrong 'no hashes' '--sigma needs --hashes K' --bits 1000 --sigma 400
wrong 'sigma as large as the filter' 'sigma must be less than the bits of a phase' --bits 1000 --hashes 5 --sigma 1000
wrong 'sigma less than k' 'sigma must be at least the number of hash functions' --bits 1000 --hashes 5 --sigma 4
wrong 'not whole lines' 'no such filter: check bits, hash functions and layout' --bits 1000 --layout blocked --fp 1%
wrong 'impossible' 'no sigma achieves this average rate: use more bits or fewer hash functions' --bits 20 --hashes 19 --fp 1e-12
wrong 'an option of others' '--keys is not an option of the model recycling' --bits 1000 --fp 1% --keys 5
expect 'model: no phases' 2 '' 'tepal: model: --phases 0: too small: the minimum is 1
' "$tepal" model recycling --bits 1000 --fp 1% --phases 0
expect 'the others take one of bits and fp' 2 '' 'tepal: model: --fp and --bits cannot be combined: give one of them
' "$tepal" model bloom --keys 5 --bits 1000 --fp 1%
expect 'sigma is of this model only' 2 '' 'tepal: model: --sigma is not an option of the model bloom
' "$tepal" model bloom --keys 5 --bits 1000 --sigma 4

# ---- filters
seq 1 3000 >messages
run "$tepal" build messages --kind recycling --bits 8192 --seed 1 -o f --json
is 'build: exit status' "$code" 0
run "$tepal" info f --json
has 'info: planned for 1 %' 'd["hashes"] == 7 and d["rule"] == "sigma" and 0.0099 < d["fp_average"] <= 0.01'
has 'info: it has recycled' 'd["cycles"] == 3 and d["keys_added"] == 3000 and d["phases"] == 2 and d["retain"]'
has 'info: fresh messages' '2940 < d["fresh"] <= 3000 and d["keys_estimated"] is None'
run "$tepal" info f
is 'info: a verdict' "$(grep -c '^verdict: endless; .* false positives now, .* on average$' "$work/out")" 1
is 'the latest messages are there' "$(tail -500 messages | "$tepal" query -c f)" 500
is 'the first are forgotten' "$(($(head -500 messages | "$tepal" query -c f) < 20))" 1
expect 'verify' 0 'f: OK
' '' "$tepal" verify f
head -1500 messages | "$tepal" build --kind recycling --bits 8192 --seed 1 -o g -q
tail -1500 messages | "$tepal" add g -q
cp g h
run "$tepal" add h messages
is 'more than were planned is no matter' "$code $(grep -c warning "$work/err")" '0 0'
is 'added to in two parts: the same bytes' "$(cmp f g && echo same)" same
for layout in flat partitioned blocked paired; do
    "$tepal" build messages --kind recycling --bits 8192 --layout $layout --phases 3 --fp 1/1000 -o f -q --seed 2
    run "$tepal" info f --json
    has "$layout: by rate" 'd["phases"] == 3 and 0.00095 < d["fp_average"] <= 0.001 and d["cycles"] > 3'
done
run "$tepal" build messages --kind recycling --bits 8192 --hashes 3 --messages 100 --forget-trigger --keep-trigger --only-misses -o f -q --seed 2
run "$tepal" info f --json
has 'by messages, all options' 'd["rule"] == "count" and d["limit"] == 100 and not d["retain"] and d["keep_trigger"] and d["only_misses"]'
has 'by messages: no model' 'd["fp_average"] is None and 28 <= d["cycles"] <= 30'

"$tepal" build messages --kind recycling --rule average --bits 8192 --fp 2% --seed 1 -o f -q -f
"$tepal" info --json f >about
is 'by average' "$(python3 -c '
import json
d = json.load(open("about"))
print(d["rule"], d["limit"], d["phases"], round(d["fp_average"], 9), d["retain"])')" \
    'average 368934881474191040 2 0.02 True'

refused() { # refused NAME SENTENCE OPTIONS...: build refuses, and writes nothing
    local name=$1 sentence=$2
    shift 2
    expect "build: $name" 2 '' "tepal: build: $sentence; nothing was written
" "$tepal" build messages --kind recycling -o no "$@"
    is "build: $name: nothing is there" "$(ls no 2>/dev/null)" ''
}
refused 'no bits' '--kind recycling needs --bits M, the bits per phase'
refused 'sigma too large' 'sigma must be less than the bits of a phase' --bits 1000 --hashes 5 --sigma 1000
refused 'sigma too small' 'sigma must be at least the number of hash functions' --bits 1000 --hashes 5 --sigma 4
refused 'less than a line' 'this layout needs whole cache lines: a multiple of 512 bits' --bits 500 --layout blocked
refused 'no hashes' '--sigma needs --hashes K' --bits 1000 --sigma 500
refused 'fp and sigma' '--fp and --sigma cannot be combined: give one of them' --bits 1000 --sigma 500 --fp 1%
refused 'messages alone' '--messages needs one of --bits M and --fp RATE' --messages 5
refused 'messages, bits and fp' '--messages needs one of --bits M and --fp RATE' --messages 5 --bits 1000 --fp 1%
refused 'messages and fp, in lines' '--messages with --fp is for --layout flat: give --bits M' \
    --messages 5 --fp 1% --layout blocked
refused 'a rule of another kind' '--rule greedy is for --kind counting' --bits 1000 --rule greedy
refused 'average forgets no trigger' \
    'by average the trigger is retained, not kept, and not only misses are inserted' \
    --bits 1000 --rule average --forget-trigger
refused 'too small' 'no sigma keeps this average rate: give more --bits or fewer --hashes' --bits 8 --fp 1e-9
expect 'build: sigma and messages' 2 '' 'tepal: build: --sigma and --messages cannot be combined: give one of them
' "$tepal" build messages --kind recycling -o no --bits 1000 --sigma 5 --messages 5

# ---- by count: new messages alone, so that all that are not fresh are false positives. 400,000 at
# 1 %: a standard error of 1.6 %; five of them, and up to 1 % for the variance of the bits.
for positions in colliding distinct; do
    for phases in 1 2; do
        seq 400000 | "$tepal" build --kind recycling --messages 500 --fp 1% --phases $phases \
            --positions $positions --seed 3 -o counts -q -f
        run "$tepal" info counts --json
        has "by count, $positions, $phases: the rate of messages, as told" \
            'abs((1 - d["fresh"] / 4e5) / d["fp_average"] - 1) < 0.09 and 0.0099 < d["fp_average"] <= 0.01'
        has "by count, $positions, $phases: a cycle" '(d["rule"] == "count" and d["limit"] == 500 and
            abs(4e5 / d["cycles"] / d["messages_per_cycle"] - 1) < 0.01)'
    done
done
seq 100 | "$tepal" build --kind recycling --messages 500 --bits 8192 --layout blocked -o counts -q -f
run "$tepal" info counts --json
has 'by count, blocked: an average is told' '0 < d["fp_average"] < 0.01 and d["hashes"] > 3'
run "$tepal" model recycling --bits 1000 --messages 100 --hashes 5 --json
has 'model: by count' '(d["n"] == d["messages"] == 100 and d["sigma"] is None and d["capacity_actual"] == 100 and
    near(d["fp_worst"], (1 - 0.999 ** 500) ** 5) and
    d["fp_actual"] < d["fp_average"] < 1.01 * d["fp_actual"])'
# On a stream that repeats: by sigma 2 % new and 4290 keys lose 1.30 % of the new ones (streams.md), by average 1 %.
run "$tepal" model recycling --bits 16Ki --hashes 6 --sigma 9932 --retain --stream geometric:4378,0.02 --json
has 'model: by sigma, on a stream' '(d["rule"] == "sigma" and 0.0127 < d["fp_new"] < 0.0135 and
    0 < d["fn"] < 1 and d["arrivals_per_cycle"] > d["messages_on_stream"] > 2000)'
run "$tepal" model recycling --bits 16Ki --hashes 6 --fp 1% --rule average --stream geometric:4378,0.02 --json
has 'model: by average, on a stream' '(d["rule"] == "average" and near(d["fp_new"], 0.01) and d["hashes"] == 6 and
    0 < d["fn"] < 1 and d["arrivals_per_cycle"] > d["messages_on_stream"] > d["messages_least"])'
run "$tepal" model recycling --bits 16Ki --fp 1% --rule average --json
has 'model: by average, all new' 'd["fn"] == 0 and d["arrivals_per_cycle"] == d["messages_on_stream"] or near(d["arrivals_per_cycle"], d["messages_on_stream"])'
run "$tepal" model recycling --bits 16Ki --fp 1% --rule average --stream zipf:0,100 --json
has 'model: by average, never full' 'd["arrivals_per_cycle"] is None and d["fn"] == 0 and d["fp_new"] < 0.01'
printf '# fresh 0.02\n10\t5\t0.5\n5000\t5\t0\n' >gaps
run "$tepal" model recycling --bits 16Ki --fp 1% --rule average --gaps gaps --phases 2 --json
has 'model: by average, of gaps' 'd["phases"] == 2 and near(d["fp_new"], 0.01) and 0 < d["fn"] < 0.98'
for bad in '--bits 1000 --fp 1% --rule average --sigma 5|--rule average needs --bits M and --fp RATE, and no other limit' \
    '--bits 1000 --rule average|--rule average needs --bits M and --fp RATE, and no other limit' \
    '--bits 1000 --fp 1% --rule greedy|--rule greedy is for counting filters' \
    '--bits 1000 --fp 1% --rule average --keep-trigger|by average the trigger opens the new phase' \
    '--bits 1000 --messages 10 --stream zipf:1,100|a stream needs a filter that recycles by sigma or by average'; do
    run "$tepal" model recycling ${bad%|*}
    is "model: ${bad%|*}" "$code $(cat "$work/err")" "2 tepal: model: ${bad#*|}"
done
run "$tepal" model counting --keys 100 --cells 1000 --hashes 3 --choices 2 --rule sigma
is 'model counting: a rule of others' "$code $(cat "$work/err")" \
    '2 tepal: model: --rule sigma is for recycling filters'
run "$tepal" model recycling --bits 100000 --fp 1% --json
has 'model: capacities' 'd["capacity_worst"] == 10424 and d["capacity_worst"] < d["capacity_actual"] <= d["capacity_oracle"]'
run "$tepal" model recycling --bits 1000 --fp 1% --messages 10
is 'model: all three of bits, messages and fp' "$code $(cat "$work/err")" \
    '2 tepal: model: give two of --bits M, --messages N and --fp RATE'

"$tepal" build messages --kind recycling --bits 8192 --seed 1 -o f -q -f
"$tepal" build messages --kind recycling --bits 8192 --seed 1 -o g -q -f
expect 'they cannot be merged' 2 '' 'tepal: g: recycling filters cannot be merged: the order in which keys were added matters; build one filter from all the keys; nothing was written
' "$tepal" merge f g -o h
finish
