#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that call each other in a circle: tests/circles.py OBJECTS, by the symbols of the objects below that folder. A registry
lists its members, which call what it shares: its calls do not count. Prints a line for each circle; exit status 1 if there is one."""
import os
import subprocess
import sys

REGISTRIES = {"harness/cli/command", "training/tasks/task"}


def read_calls(root):
    """For each object the objects whose symbols it takes."""
    owner, wanted = {}, {}
    for folder, inner, files in os.walk(root):
        if folder == root and "tests" in inner:
            inner.remove("tests")  # stands in for parts of libraries
        for path in (os.path.join(folder, f) for f in files if f.endswith(".o")):
            name = os.path.relpath(path, root)[:-2]
            wanted[name] = set()
            for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
                *_, kind, symbol = line.split()
                if kind in "TDRBV":
                    owner[symbol] = name
                elif kind == "U":
                    wanted[name].add(symbol)
    return {name: {owner[s] for s in symbols if owner.get(s, name) != name} if name not in REGISTRIES else set()
            for name, symbols in wanted.items()}


def reach(calls, start):
    """All that `start` calls, and what these call."""
    found, left = set(), [start]
    while left:
        left += calls[left.pop()] - found
        found |= set(left)
    return found


def main():
    calls = read_calls(sys.argv[1])
    if not calls:
        sys.exit(f"circles.py: no objects below {sys.argv[1]}")
    reached = {name: reach(calls, name) for name in calls}
    circles = {tuple(sorted(other for other in reached[name] if name in reached[other])) for name in calls if name in reached[name]}
    for circle in sorted(circles):
        print("circle of files by calls: " + " ".join(circle))
    return 1 if circles else 0


sys.exit(main())
