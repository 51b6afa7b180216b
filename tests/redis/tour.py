#!/usr/bin/python3
"""The tour of docs/redis.md: every command as it is typed there, on a real server.
Usage: tour.py MODULE COMMAND"""

import os
import re
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.dirname(__file__))
from server import Server, Tests  # noqa: E402

MODULE = os.path.abspath(sys.argv[1])
GUIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "redis.md")


def test_tour(t):
    with open(GUIDE, encoding="utf-8") as f:
        text = f.read()
    blocks = re.findall(r"```redis\n(.*?)```", text, re.S)
    t.check("there is a tour", len(blocks) >= 5, len(blocks))
    with Server(MODULE, arguments=["compat", "yes"]) as s:
        for block in blocks:
            for step in re.split(r"^> ", block, flags=re.M)[1:]:
                command, _, want = step.partition("\n")
                got = subprocess.run(["redis-cli", "--no-raw", "-p", str(s.port)] +
                                     shlex.split(command), capture_output=True, check=False,
                                     text=True, timeout=60).stdout
                t.equal(command, got.strip(), want.strip())


if __name__ == "__main__":
    Tests().run([test_tour])
