#!/usr/bin/env python3
"""picture.py: the rows of tepal_bars (TSV, any number of files or standard input) as an SVG: one line
for each bar, a dot for each number of keys at ratio / bound. What is left of the line is kept.

    tepal_bars --only one | bench/picture.py > docs/performance.svg
"""
import fileinput
import math
from xml.sax.saxutils import escape

LEFT, WIDTH, STEP, TOP = 430, 360, 18, 46
LOW, HIGH = 0.25, 4.0  # of ratio / bound
COLORS = {100000: "#2b7bba", 10000000: "#e08214", 100000000: "#7b3294"}
NAMES = {100000: "10⁵ keys", 10000000: "10⁷ keys", 100000000: "10⁸ keys"}


def at(share):
    share = min(max(share, LOW), HIGH)
    return LEFT + WIDTH * math.log(share / LOW) / math.log(HIGH / LOW)


def read(lines):
    rows = {}
    for line in lines:
        cell = line.rstrip("\n").split("\t")
        if len(cell) < 6 or cell[0] == "bar" or cell[5] == "-":
            continue
        share = float(cell[4]) / float(cell[5])
        rows.setdefault(cell[0], {})[int(cell[1])] = share
    return rows


def draw(rows):
    height = TOP + STEP * len(rows) + 10
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 20} {height}" '
           'font-family="sans-serif" font-size="12">')
    yield f'<rect width="{LEFT + WIDTH + 20}" height="{height}" fill="#fff"/>'
    for i, (n, color) in enumerate(COLORS.items()):
        yield f'<circle cx="{20 + 100 * i}" cy="16" r="5" fill="{color}"/>'
        yield f'<text x="{30 + 100 * i}" y="20">{NAMES[n]}</text>'
    for share in (0.25, 0.5, 1, 2, 4):
        color = "#444" if share == 1 else "#ddd"
        yield f'<path d="M{at(share):.1f} {TOP - 10}V{height - 8}" stroke="{color}"/>'
        name = "bound" if share == 1 else f"{share:g} x"
        yield f'<text x="{at(share):.1f}" y="{TOP - 14}" text-anchor="middle">{name}</text>'
    for i, (name, shares) in enumerate(rows.items()):
        y = TOP + STEP * i + 4
        yield f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(name)}</text>'
        for n, share in shares.items():
            color = COLORS.get(n, "#666")
            yield f'<circle cx="{at(share):.1f}" cy="{y}" r="5" fill="{color}" fill-opacity=".8"/>'
    yield "</svg>"


print("\n".join(draw(read(fileinput.input()))))
