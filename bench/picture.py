#!/usr/bin/env python3
"""picture.py: the rows of tepal_bars (TSV) as SVG. `bars`: one line for each bar, a dot for each number
of keys at ratio / bound, so that what is left of the line is kept. `growth`: what a query costs by the
number of keys, and what a second thread gains.

    tepal_bars | bench/picture.py bars > bars.svg
"""
import math
import sys
from xml.sax.saxutils import escape

COLORS = {100000: "#2b7bba", 10000000: "#e08214", 100000000: "#7b3294"}
NAMES = {100000: "10⁵ keys", 10000000: "10⁷ keys", 100000000: "10⁸ keys"}
GROUPS = {"one key": "One key at a time", "batch": "Batches", "": "Other kinds and counting bits (10⁷ keys)"}
LAYOUTS = {"blocked": "#2b7bba", "paired": "#3a9a4c", "flat": "#c23b22"}
CACHES = {"L2": 1 << 20, "L3": 32 << 20}  # of the machine of docs/performance.md, in bytes
WIDTH = 820


def read(lines):
    """name -> {number of keys: (ns, ratio, bound or None)}, in the order of the run."""
    rows = {}
    for line in lines:
        cell = line.rstrip("\n").split("\t")
        if len(cell) == 9 and cell[1].isdigit() and ": " in cell[0]:
            bound = None if cell[5] == "-" else float(cell[5])
            rows.setdefault(cell[0], {})[int(cell[1])] = (float(cell[2]), float(cell[4]), bound)
    return rows


def svg(height, parts):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', *parts, "</svg>"]) + "\n"


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(words)}</text>'


def dot(x, y, color):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{color}" fill-opacity=".8"/>'


def scale(low, high, first, last):
    """A logarithmic scale; what is beyond its ends is drawn at them."""
    return lambda x: first + (last - first) * math.log(min(max(x, low), high) / low) / math.log(high / low)


def legend(y):
    for i, (n, color) in enumerate(COLORS.items()):
        yield dot(20 + 100 * i, y, color)
        yield text(30 + 100 * i, y + 4, NAMES[n])


def bars(lines):
    """Every bar as a share of its bound; None if there are none."""
    groups = {}
    for name, sizes in read(lines).items():
        shares = {n: ratio / bound for n, (_, ratio, bound) in sizes.items() if bound}
        group, rest = name.split(": ", 1)
        if shares and group in GROUPS:
            groups.setdefault(group, []).append((rest, shares))
        elif shares:
            groups.setdefault("", []).append((name, shares))
    if not groups:
        return None
    left, step, top = 400, 18, 74
    height = top + sum(30 + step * len(rows) for rows in groups.values()) + 6
    at = scale(0.2, 6, left, WIDTH - 20)
    out = [f'<rect x="{left}" y="{top - 8}" width="{at(1) - left:.1f}" height="{height - top}" fill="#edf6ed"/>',
           f'<rect x="{at(1):.1f}" y="{top - 8}" width="{WIDTH - 20 - at(1):.1f}" height="{height - top}" '
           'fill="#fbeeec"/>',
           text(left, 20, "time beside the reference, as a share of its bound", more='font-weight="bold"'),
           text((left + at(1)) / 2, 40, "kept", "middle", 'fill="#2e7d32"'),
           text((WIDTH - 20 + at(1)) / 2, 40, "missed", "middle", 'fill="#b23b2e"'), *legend(16)]
    for share in (0.25, 0.5, 1, 2, 4):
        out.append(f'<path d="M{at(share):.1f} {top - 8}V{height - 8}" stroke="{"#444" if share == 1 else "#ddd"}"/>')
        out.append(text(at(share), top - 14, "bound" if share == 1 else f"{share:g} x", "middle"))
    y = top
    for group, rows in groups.items():
        out.append(text(20, y + 14, GROUPS[group], more='font-weight="bold"'))
        y += 30
        for name, shares in rows:
            out.append(text(left - 10, y + 4, name, "end"))
            out += [dot(at(share), y, COLORS.get(n, "#666")) for n, share in shares.items()]
            y += step
    return svg(height, out)


def growth(lines):
    """Time by keys, and what a second thread gains; None if the run has no such rows."""
    rows = read(lines)
    curves = {name[len("growth: "):].split(" / ")[0]: sizes for name, sizes in rows.items()
              if name.startswith("growth: ")}
    pairs = {name[len("threads: "):-len(", two / one")]: sizes for name, sizes in rows.items()
             if name.startswith("threads: ")}
    if not curves:
        return None
    left, right, top, bottom = 60, WIDTH - 180, 40, 400
    x = scale(1e4, 1e8, left, right)
    y = scale(0.5, 100, bottom, top)
    out = [text(left, 20, "ns a query of an absent key, one thread, 10 bits a key", more='font-weight="bold"')]
    for ns in (0.5, 1, 2, 5, 10, 20, 50, 100):
        out.append(f'<path d="M{left} {y(ns):.1f}H{right}" stroke="#ddd"/>')
        out.append(text(left - 8, y(ns) + 4, f"{ns:g}", "end"))
    for power, digit in zip(range(4, 9), "⁴⁵⁶⁷⁸"):
        out.append(text(x(10**power), bottom + 18, f"10{digit} keys", "middle"))
    for name, size in CACHES.items():
        keys = size * 8 / 10
        out.append(f'<path d="M{x(keys):.1f} {top}V{bottom}" stroke="#999" stroke-dasharray="3 4"/>')
        out.append(text(x(keys) + 4, top + 12, f"{name} is full", more='fill="#666"'))
    ends = []
    for name, sizes in curves.items():
        way, layout = name.split(", ")
        dash = "" if way == "batch" else 'stroke-dasharray="7 4"'
        points = " ".join(f"{x(n):.1f},{y(ns):.1f}" for n, (ns, _, _) in sizes.items())
        out.append(f'<polyline points="{points}" fill="none" stroke="{LAYOUTS[layout]}" stroke-width="2" {dash}/>')
        ends.append((y(sizes[max(sizes)][0]), name, LAYOUTS[layout]))
    last = -math.inf
    for height, name, color in sorted(ends):  # labels keep their distance
        last = max(height + 4, last + 14)
        out.append(text(right + 8, last, name, more=f'fill="{color}"'))
    if not pairs:
        return svg(bottom + 30, out)
    line, step = bottom + 56, 20
    at = scale(0.5, 4, 260, right)
    out.append(text(left, line, "Two threads share a blocked filter: times as fast as one", more='font-weight="bold"'))
    low = line + 30 + step * len(pairs)
    for gain in (0.5, 1, 2, 4):
        out.append(f'<path d="M{at(gain):.1f} {line + 26}V{low - 8}" stroke="{"#444" if gain == 1 else "#ddd"}"/>')
        out.append(text(at(gain), line + 20, f"{gain:g} x", "middle"))
    for i, (name, sizes) in enumerate(pairs.items()):
        height = line + 36 + step * i
        out.append(text(250, height + 4, name, "end"))
        out += [dot(at(1 / ratio), height, COLORS.get(n, "#666")) for n, (_, ratio, _) in sizes.items()]
    out += legend(low + 12)
    return svg(low + 30, out)


if __name__ == "__main__":
    if sys.argv[1:] not in (["bars"], ["growth"]):
        sys.exit(__doc__)
    sys.stdout.write((bars if sys.argv[1] == "bars" else growth)(sys.stdin) or sys.exit("no such rows"))
