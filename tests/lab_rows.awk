# lab_rows.awk: what every row of the lab's tables must keep: the verdict follows from the numbers
# that the row prints, and the interval from what it gives as the reasons for its width.
#     awk -f lab_rows.awk TABLE.tsv...
# Prints the rows that do not, and how many there are; exit status 1 if any.
BEGIN {
    FS = "\t"
}

FNR == 1 {
    next
}

function wrong(why)
{
    print FILENAME ":" FNR ": " why ": " $0
    bad++
}

# An end that is not printed is not known (a crossing beyond what was tried).
function inside(value)
{
    return ($5 == "" || $5 + 0 <= value + 0) && ($6 == "" || value + 0 <= $6 + 0)
}

function larger(a, b)
{
    return a > b ? a : b
}

# How far two numbers are apart, beyond the three digits that reasons have.
function off(a, b)
{
    return larger(a - b, b - a) - 0.01 * b
}

# The longer side of the interval, from its reasons: two samples add as squares.
function reasoned(    part, count, i, word, half)
{
    count = split($10, part, ", ")
    for (i = 1; i <= count; i++) {
        split(part[i], word, " ")
        half[word[1]] = word[2]
    }
    return sqrt(half["ours"] ^ 2 + half["sampling"] ^ 2) + half["rounding"] + half["words"] + \
        half["leeway"]
}

{
    rows++
    side = larger($6 - $4, $4 - $5)
    if (NF != 10) {
        wrong("ten columns are needed")
    } else if ($4 != "" && !inside($4)) {
        wrong("ours is outside of its interval")
    } else if ($10 !~ /^(exact|((ours|sampling|rounding|words|leeway) [0-9.e+-]+(, )?)+)$/) {
        wrong("no reason for the width")
    } else if ($4 != "" && $5 != "" && $6 != "" && off(side, reasoned()) > 2e-5 * larger($4, -$4)) {
        wrong("the reasons do not make this width, but " reasoned())
    } else if (($3 == "") != ($9 == "")) {
        wrong("a published number has a source, and only that")
    } else if ($7 == "agrees" && (!inside($3) || $9 !~ /^(printed|formula|words)$/)) {
        wrong("does not agree")
    } else if ($7 == "paper-only" && (!inside($3) || $9 != "itself")) {
        wrong("not the paper\047s own arithmetic")
    } else if ($7 == "erratum" && ($8 == "" || !inside($8) || (inside($3) && $9 != "misprint"))) {
        wrong("not an erratum")
    } else if ($7 == "ours-only" && (($3 != "" && $9 != "elsewhere") || ($8 != "" && !inside($8)))) {
        wrong("not ours alone")
    } else if ($7 == "differs" && $4 != "" && ($3 == "" || $9 == "misprint" ? inside($8) : inside($3))) {
        wrong("does not differ")
    } else if ($7 !~ /^(agrees|paper-only|erratum|ours-only|differs)$/) {
        wrong("unknown verdict")
    }
}

END {
    print rows + 0 " rows, " bad + 0 " wrong"
    exit(rows == 0 || bad > 0)
}
