#!/usr/bin/env python3
"""avoid.py TEPAL DATA [SEEDS]: the tables "told one by one" of docs/retouching.md.

Filters of 5 % false positives that are told of each of them when it is first requested (tepal
avoid), beside filters that are retouched with all of them and their numbers of requests at hand
(tepal retouch): the share of the requests for false positives that is answered "absent" afterwards,
and the members lost when all of them are removed. Means over the seeds 1 to SEEDS (5). DATA has the
folders `domains` and `requests`.
"""
import collections
import gzip
import itertools
import os
import random
import subprocess
import sys
import tempfile

BITS_PER_KEY = 6.24
HASHES = 4
METHODS = "random", "min-fn", "max-fp", "ratio"
ORDERS = {"given": "by first request", "weight": "heaviest first"}
ALL = "all"


def lines(*path):
    name = os.path.join(*path)
    with (gzip.open if name.endswith(".gz") else open)(name, "rt") as file:
        return file.read().split()


def worlds(data):
    """Name, members, and the requests for other keys."""
    members = lines(data, "domains", "blocklist.txt.gz")
    top = lines(data, "domains", "opendns-top.txt")
    ranks = [1 / rank for rank in range(1, len(top) + 1)]
    drawn = random.Random(1).choices(top, ranks, k=200000)
    yield "blocklist", members, drawn, ["0.1%"]
    for name, file in (("recommendations", "recs-500k.txt.gz"), ("shop", "orm-busy-2m.txt.gz")):
        log = lines(data, "requests", file)
        yield name, list(dict.fromkeys(log[: len(log) // 2])), log[len(log) // 2 :], ["0.1%", "1%"]


def run(tepal, *words):
    done = subprocess.run([tepal, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode > 1:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def write(name, keys):
    with open(name, "w") as file:
        file.writelines(f"{key}\n" for key in keys)


def outcome(tepal, members, wrong):
    """The share of the requests that is answered rightly now, and the members lost."""
    left = run(tepal, "query", "now.tepal", "wrong").split()
    lost = members - int(run(tepal, "query", "-c", "now.tepal", "members"))
    return 1 - sum(wrong[key] for key in left) / sum(wrong.values()), lost


def figures(tepal, members, requests, budgets, seed):
    """{(method, budget): (share, lost)}, and the number of false positives."""
    cells = str(round(BITS_PER_KEY * len(members)))
    counts = collections.Counter(requests)  # in the order of their first request
    known = set(members)
    write("members", members)
    write("others", (key for key in counts if key not in known))
    common = ("--hashes", str(HASHES), "--seed", str(seed), "-q", "-f")
    run(tepal, "build", "members", "-o", "bloom.tepal", "--bits", cells, *common)
    run(tepal, "build", "members", "-o", "counting.tepal", "--kind", "counting", "--cells", cells, *common)
    wrong = {key: counts[key] for key in run(tepal, "query", "bloom.tepal", "others").split()}
    write("wrong", wrong)
    write("weighted", (f"{key}\t{count}" for key, count in wrong.items()))
    found = {}
    for budget in [*budgets, ALL]:
        most = ("--max-fn", "99%" if budget == ALL else budget)
        for kind in "bloom", "counting":
            run(tepal, "avoid", f"{kind}.tepal", "wrong", *most, "-o", "now.tepal", "-q", "-f")
            found[f"avoid, {kind} filter", budget] = outcome(tepal, len(members), wrong)
        for order, method in itertools.product(("given", "weight"), METHODS):
            run(tepal, "retouch", "bloom.tepal", "--members", "members", "--avoid", "weighted", "-w", *most,
                "--method", method, "--order", order, "-o", "now.tepal", "-q", "-f")
            found[f"retouch, {method}, {ORDERS[order]}", budget] = outcome(tepal, len(members), wrong)
        run(tepal, "retouch", "bloom.tepal", "--members", "members", "--avoid", "weighted", "-w", *most,
            "-o", "now.tepal", "-q", "-f")
        found["retouch, sacrifice", budget] = outcome(tepal, len(members), wrong)
    return found, len(wrong)


def main():
    tepal, data = map(os.path.realpath, sys.argv[1:3])
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name, members, requests, budgets in worlds(data):
            runs = [figures(tepal, members, requests, budgets, seed + 1) for seed in range(seeds)]
            mean = sum(wrong for _, wrong in runs) / seeds
            print(f"{name}: {len(members)} members, {len(set(requests) - set(members))} other keys, "
                  f"{mean:.1f} of them false positives")
            print("method", *budgets, "all removed: members lost", sep="\t")
            for method in dict.fromkeys(method for method, _ in runs[0][0]):
                shares = [sum(found[method, budget][0] for found, _ in runs) / seeds for budget in budgets]
                every = [found[method, ALL] for found, _ in runs]
                assert all(share == 1 for share, _ in every), f"{method} has not removed all"
                print(method, *(f"{100 * share:.1f} %" for share in shares),
                      f"{sum(lost for _, lost in every) / seeds:.1f}", sep="\t")


main()
