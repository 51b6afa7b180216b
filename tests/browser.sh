#!/usr/bin/env bash
# browser.sh TEPAL: the experiments that take a second (lab_soak.sh: all), and the report of them in a
# real browser: it loads without a complaint, every picture, table and row is there and has a size,
# nothing sticks out on a phone of 390 points, nor is a column of a table cut off, in light and in
# dark. The quickest experiments give the same bytes on one core as on two.
set -u
tepal=$(realpath "$1")
rows=$(dirname "$(realpath "$0")")/lab_rows.awk
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
passed=0
failed=0
is() { # is NAME GOT WANT
    if [[ $2 == "$3" ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'not ok: %s\n    got  %s\n    want %s\n' "$@"
    fi
}

# shellcheck disable=SC2046 # names are words
"$tepal" lab run $("$tepal" lab list | sed -nE 's/^  ([0-9]{3}-[^ ]+) .*\(1 s;.*/\1/p') --quick --seed 1 --jobs 2 \
    --out all >out 2>err
is 'nothing differs' "$? $(cat err)" '0 '
is 'of every paper' "$(cd all && ls *-*.tsv | cut -c1-3 | uniq | xargs)" '000 001 002 003 004'
grep -h differs all/*.tsv
is 'every row is judged by what it prints' \
    "$(awk -f "$rows" all/*-*.tsv | sed 's/^[0-9]* rows, 0 wrong$//')" ''

"$tepal" lab run 000-fig-14 001-table-5 001-fig-7 002-fig-9 003-fig-7 003-fig-11 004-fig-6 004-fig-8 \
    --quick --seed 1 --jobs 1 --out one >/dev/null 2>&1
is 'one core or two: as many files' "$(ls one/*-* | wc -l | tr -d ' ')" \
    "$(ls one/*-* | sed 's/^one/all/' | xargs ls | wc -l | tr -d ' ')"
for file in one/*-*; do
    is "one core or two: $file" "$(cmp "$file" "all/${file#one/}" 2>&1)" ''
done

"$tepal" lab report all --quiet
rm all/settings.tsv
tables=$(for file in all/*.tsv; do tail -n +2 "$file" | awk -F'\t' '{ print $3 $8 != "" }' | sort -u; done |
    wc -l | tr -d ' ')
rows=$(tail -q -n +2 all/*.tsv | wc -l | tr -d ' ')
pictures=$(ls all/*.svg | wc -l | tr -d ' ')

# The page opens what is folded and measures itself; what it finds is read off its title.
sed 's#</body>#<style>body{width:390px}</style><script>\
const all = (s) => [...document.querySelectorAll(s)];\
all("details").forEach((d) => { d.open = true; });\
const sized = (e) => { const r = e.getBoundingClientRect(); return r.width > 100 \&\& r.height > 20; };\
document.title = [all("body svg").filter(sized).length, all("table").filter(sized).length,\
    all("tbody tr").filter((r) => r.getBoundingClientRect().height > 10).length,\
    document.documentElement.scrollWidth <= innerWidth,\
    all(".wide").filter((w) => w.scrollWidth > w.clientWidth).length,\
    all("svg text").filter((t) => Math.hypot(t.getScreenCTM().a, t.getScreenCTM().b) *\
        parseFloat(getComputedStyle(t).fontSize) < 10).length,\
    getComputedStyle(document.body).backgroundColor].join(" ");\
</script></body>#' all/report.html >page.html

look() { # look OPTION...: the title that the page gives itself
    chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
        --user-data-dir="$work/profile" --enable-logging=stderr --window-size=500,900 "$@" \
        --dump-dom "file://$work/page.html" 2>complaints | sed -n 's#.*<head>.*##; s#^<title>\(.*\)</title>$#\1#p' | head -n 1
    grep CONSOLE complaints >&2
}
is 'in light' "$(look 2>&1)" "$pictures $tables $rows true 0 0 rgb(255, 255, 255)"
is 'in dark' "$(look --blink-settings=preferredColorScheme=0 2>&1)" \
    "$pictures $tables $rows true 0 0 rgb(22, 24, 28)"
echo "browser: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
