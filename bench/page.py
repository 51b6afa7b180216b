#!/usr/bin/env python3
"""page.py: what a run of the benchmarks printed, as the tables and pictures of docs/performance.md.

    make bench > run.tsv
    bench/page.py run.tsv            # writes docs/performance.md, performance.svg and growth.svg

Of the page only what stands between `<!-- table: NAME -->` and `<!-- end -->` is replaced. A table
whose rows the run does not have stays as it is.
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the sources
import picture

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"


def size(n):
    """100000 as 10⁵."""
    digits = str(n)
    power = "10" + str(len(digits) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if digits[0] == "1" else f"{digits[0]}·{power}"


def short(x):
    """Two or three digits, as a reader compares them."""
    return "" if x is None else f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def table(head, rows):
    """Markdown with aligned columns: words to the left, all others to the right."""
    cells = [head] + [[str(cell) for cell in row] for row in rows]
    width = [max(len(row[i]) for row in cells) for i in range(len(head))]
    line = lambda row: "| " + " | ".join(
        cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, width))) + " |"
    rule = "|" + "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":"
                          for i, w in enumerate(width)) + "|"
    return [line(cells[0]), rule] + [line(row) for row in cells[1:]]


class Run:
    """The rows of a run: bars[name][n] has ns, reference, ratio, at_most and met."""

    def __init__(self, lines):
        self.bars, self.commands, self.others = {}, {}, {}
        head = []
        for line in lines:
            cell = line.rstrip("\n").split("\t")
            if cell[0].startswith(("bar: command: ", "bar: library: ")):
                self.commands[cell[0][len("bar: "):]] = self.bar(cell[1:])
            elif len(cell) == 9 and re.match(r"[\w -]+: ", cell[0]) and cell[1].isdigit():
                self.bars.setdefault(cell[0], {})[int(cell[1])] = self.bar(cell[2:])
            elif not cell[0][:1].isdigit() and len(cell) > 2 and not re.search(r"\d\.\d", line):
                head = cell
                if head[0] != "bar":  # a later run of the same program counts
                    self.others.pop(tuple(head), None)
            elif head and len(head) == len(cell):
                self.others.setdefault(tuple(head), []).append(dict(zip(head, cell)))

    @staticmethod
    def bar(cell):
        ours, reference, ratio = (float(x) for x in cell[:3])
        at_most = None if cell[3] == "-" else float(cell[3])
        return {"ours": ours, "reference": reference, "ratio": ratio, "at_most": at_most,
                "met": cell[4] == "yes"}

    def group(self, prefix):
        return {name[len(prefix):]: rows for name, rows in self.bars.items()
                if name.startswith(prefix)}


def of_sizes(rows, field):
    """One cell: a figure for each size; ratios that miss their bound are bold."""
    out = []
    for n in sorted(rows):
        text = short(rows[n][field])
        missed = field == "ratio" and rows[n]["at_most"] is not None and not rows[n]["met"]
        out.append(f"**{text}**" if missed else text)
    return " / ".join(out)


def bound(rows):
    bounds = {n: row["at_most"] for n, row in rows.items() if row["at_most"] is not None}
    if not bounds:
        return ""
    text = f"{next(iter(bounds.values())):.3g}"
    return text if len(bounds) == len(rows) else f"{text} at {size(max(bounds))}"


def kept(rows):
    judged = [n for n in sorted(rows) if rows[n]["at_most"] is not None]
    met = [n for n in judged if rows[n]["met"]]
    if not judged:
        return ""
    return "yes" if met == judged else "no" if not met else ", ".join(size(n) for n in met)


def one_times(run):
    """Every subject of the bars of single calls, ours and theirs, once."""
    times = {}
    for name, rows in run.group("one key: ").items():
        operation, pair = name.split(", ", 1)
        for subject, field in zip(pair.split(" / "), ("ours", "reference")):
            times.setdefault(subject, {})[operation] = of_sizes(rows, field)
    order = sorted(times, key=lambda name: ("limit", "empty", "split", "blocked", "paired", "classic", "flat",
                                            "cuckoo", "fingerprint").index(name.split()[0]))
    return table(["one key", "query", "addition"],
                 [[name + ("" if re.search("inline|atomic|limit|empty|split|classic|cuckoo", name) else
                           ", handle"), times[name].get("query", ""), times[name].get("add", "")]
                  for name in order])


def one_bars(run):
    rows = []
    for name, bars in run.group("one key: ").items():
        if any(bar["at_most"] is not None for bar in bars.values()):
            operation, pair = name.split(", ", 1)
            rows.append([f"{pair}, {operation}", bound(bars), of_sizes(bars, "ratio"), kept(bars)])
    return table(["bar", "at most", "ratio", "kept"], rows)


def bars(run, prefix, wanted=lambda name: True, unit="ns"):
    rows = [[name, of_sizes(b, "ours"), of_sizes(b, "reference"), of_sizes(b, "ratio"), bound(b),
             kept(b)] for name, b in run.group(prefix).items() if wanted(name)]
    return table(["ours / reference", unit, "reference", "ratio", "at most", "kept"], rows)


def kinds(run):
    return bars(run, "", lambda name: not name.startswith(("one key", "batch", "growth", "threads")))


def growth(run):
    group = run.group("growth: ")
    sizes = [n for n in sorted(next(iter(group.values()))) if str(n)[0] == "1"]
    return table(["query, absent"] + [size(n) for n in sizes],
                 [[name.split(" / ")[0]] + [short(rows[n]["ours"]) for n in sizes]
                  for name, rows in group.items()])


def threads(run):
    return table(["blocked filter", "one thread", "two threads", "faster by"],
                 [[name[:-len(", two / one")], of_sizes(rows, "reference"), of_sizes(rows, "ours"),
                   " / ".join(f"{1 / rows[n]['ratio']:.1f}" for n in sorted(rows))]
                  for name, rows in run.group("threads: ").items()])


def command(run, prefix, unit, scale):
    return table(["ours / reference", unit, "reference", "ratio", "at most", "kept"],
                 [[name[len(prefix):], short(bar["ours"] * scale), short(bar["reference"] * scale),
                   of_sizes({0: bar}, "ratio"), bound({0: bar}), kept({0: bar})]
                  for name, bar in run.commands.items() if name.startswith(prefix)])


def rows_of(run, *fields):
    return [row for head, rows in run.others.items() if set(fields) <= set(head) for row in rows]


def growths(run, what):
    rows = {row["bar"]: row for row in rows_of(run, "decades_of_time")}
    return [(float(row["decades_of_time"]), row["met"] == "yes")
            for name, row in rows.items() if name.startswith(what)]


def per_decade(run, what, rows):
    """Beside each size, the power of ten by which time grew since the size before; at most 1.1."""
    steps = [""] + [f"{x:.2f}" if met else f"**{x:.2f}**" for x, met in growths(run, what)]
    return [row + [step] for row, step in zip(rows, steps)]


def retouch(run):
    rows = [row for row in rows_of(run, "ns_per_avoid") if row["method"] == "sacrifice"]
    return table(["members", "ms", "beside improved-ratio", "bytes a member", "growth, log₁₀"],
                 per_decade(run, "retouch", [
                     [size(int(row["members"])),
                      short(float(row["ns_per_member"]) * int(row["members"]) / 1e6),
                      short(float(row["times_improved_ratio"])), short(float(row["bytes_per_member"]))]
                     for row in rows]))


def yesno(run):
    rows = rows_of(run, "ns_per_member", "avoid_positive")
    return table(["members", "ms", "ns a member", "growth, log₁₀"], per_decade(run, "yes-no", [
        [size(int(row["members"])),
         short(float(row["ns_per_member"]) * int(row["members"]) / 1e6),
         short(float(row["ns_per_member"]))] for row in rows]))


def summary(run):
    """How many bounds each part of the page keeps."""
    one = run.group("one key: ")
    parts = {
        "one key, inline": [rows for name, rows in one.items() if "inline /" in name],
        "one key, by handle": [rows for name, rows in one.items() if "inline /" not in name],
        "batches": run.group("batch: ").values(),
        "other kinds, counting bits": [rows for name, rows in run.bars.items() if not name.startswith(
            ("one key", "batch", "growth", "threads"))],
        "command, files, start-up, size": [{0: bar} for bar in run.commands.values()],
        "growth of retouching and yes-no building": [
            {0: {"at_most": 1.1, "met": met}} for _, met in growths(run, "")],
    }
    out = []
    for part, groups in parts.items():
        judged = [row for rows in groups for row in rows.values() if row["at_most"] is not None]
        out.append([part, f"{sum(row['met'] for row in judged)} of {len(judged)}"])
        if not judged:
            return []  # part of a run cannot say
    return table(["part", "bounds kept"], out)


TABLES = {
    "one key, times": one_times,
    "one key, bars": one_bars,
    "batches": lambda run: bars(run, "batch: ", lambda name: "strings" not in name and
                                "packed" not in name),
    "strings": lambda run: bars(run, "batch: ", lambda name: "strings" in name or "packed" in name),
    "growth": growth,
    "threads": threads,
    "kinds": kinds,
    "command": lambda run: command(run, "command: ", "ms", 1e3),
    "size": lambda run: command(run, "library: ", "KB", 1e-3),
    "retouching": retouch,
    "yes-no": yesno,
    "summary": summary,
}


def filled(page, run):
    def fill(match):
        try:
            lines = TABLES[match[1]](run)
        except StopIteration:  # the run has no such rows
            lines = []
        if len(lines) <= 2:
            print(f"{match[1]}: not in this run, left as it was", file=sys.stderr)
            return match[0]
        return f"<!-- table: {match[1]} -->\n\n" + "\n".join(lines) + "\n\n<!-- end -->"
    return re.sub(r"<!-- table: (.*?) -->\n.*?<!-- end -->", fill, page, flags=re.S)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    lines = pathlib.Path(sys.argv[1]).read_text().splitlines()
    run = Run(lines)
    page = DOCS / "performance.md"
    page.write_text(filled(page.read_text(), run))
    for name, draw in (("performance", picture.bars), ("growth", picture.growth)):
        rows = draw(lines)
        if rows:
            (DOCS / f"{name}.svg").write_text(rows)


if __name__ == "__main__":
    main()
