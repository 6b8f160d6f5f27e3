#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines and branches that tests reached: tests/coverage.py BUILD, after programs of a build with --coverage have run.

Prints what was not reached, a line of code each with its file and number, `line` or `branch`; and on standard error a table
by module. A branch is one way out of a condition; those that only exceptions of calls would take are left out by gcov."""
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile


def read(build):
    """{file: {line: (reached, [ways taken])}} of the sources, over all objects and all clones of a function."""
    found = collections.defaultdict(dict)
    objects = glob.glob(f"{build}/obj/**/*.gcda", recursive=True)
    with tempfile.TemporaryDirectory() as folder:
        for data in objects:
            subprocess.run(["gcov", "--json-format", "--branch-probabilities", os.path.abspath(data)], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for name in os.listdir(folder):
                with gzip.open(f"{folder}/{name}") as f:
                    add(json.load(f), found)
                os.remove(f"{folder}/{name}")
    return found


def add(report, found):
    """The lines of one object."""
    for file in report["files"]:
        name = file["file"]
        if name.startswith(("/", "tests/", "build/")):
            continue
        for line in file["lines"]:
            ways = [branch["count"] > 0 for branch in line["branches"]]
            was = found[name].get(line["line_number"], (False, []))
            longer, other = sorted((ways, was[1]), key=len, reverse=True)
            found[name][line["line_number"]] = (was[0] or line["count"] > 0,
                                                [way or (i < len(other) and other[i]) for i, way in enumerate(longer)])


def main():
    found = read(sys.argv[1])
    sums = collections.defaultdict(collections.Counter)
    for name in sorted(found):
        with open(name) as f:
            text = f.read().splitlines()
        for number, (reached, ways) in sorted(found[name].items()):
            for module in (name.split("/")[0], "all"):
                sums[module].update(lines=1, reached=reached, ways=len(ways), taken=sum(ways))
            if not reached or not all(ways):
                print(f"{name}:{number}: {'branch' if reached else 'line'}: {text[number - 1].strip()}")
    share = lambda part, whole: f"{100 * part / whole:6.1f}" if whole else "     -"
    print(f"{'module':12} {'lines':>7} {'%':>6} {'branches':>9} {'%':>6}", file=sys.stderr)
    for module, n in sums.items():
        if module != "all":
            print(f"{module:12} {n['lines']:7} {share(n['reached'], n['lines'])} {n['ways']:9} {share(n['taken'], n['ways'])}", file=sys.stderr)
    n = sums["all"]
    print(f"{'all':12} {n['lines']:7} {share(n['reached'], n['lines'])} {n['ways']:9} {share(n['taken'], n['ways'])}", file=sys.stderr)


if __name__ == "__main__":
    main()
