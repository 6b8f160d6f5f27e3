#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the commands in the documentation, as a reader types them in a clone: the program is build/hardneg, which is
there without being installed, and what a command writes is not seen by git. Prints one line per command that is
otherwise; the last line counts (`commands: N checked, N wrong`)."""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMMAND = re.compile(r" {4,}(?:\w+=\S+ +|for .* do |mpirun (?:-\S+ \S+ )*)*((?:build/)?hardneg) ")
OUTPUT = re.compile(r" (?:-o|--output|>) ([^\s;|&]+)")


def commands():
    """File, line number, program and outputs of every indented command of the program."""
    for path in ["README.md"] + sorted(glob.glob("docs/**/*.md", recursive=True, root_dir=ROOT)):
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                command = COMMAND.match(line)
                if command:
                    yield path, number, command[1], OUTPUT.findall(line.split("#")[0])


def ignored(names):
    """Those of the names that git ignores; all of them where this is no repository."""
    found = subprocess.run(["git", "check-ignore", "--no-index", "--stdin"], cwd=ROOT, input="\n".join(names), text=True,
                           capture_output=True, check=False)
    return set(names) if found.returncode > 1 else set(found.stdout.split("\n"))


def main():
    all_commands, wrong = list(commands()), 0
    kept = ignored(sorted({o for c in all_commands for o in c[3] if not o.startswith(("/", "$", "..", "-"))}))
    for path, number, program, outputs in all_commands:
        faults = ["hardneg is build/hardneg in a clone"] * (program == "hardneg")
        faults += [f"{o} is left in the clone, seen by git: write below results/, or add it to .gitignore" for o in outputs
                   if not o.startswith(("/", "$", "..", "-")) and o not in kept]
        for fault in faults:
            print(f"{path}:{number}: {fault}")
        wrong += len(faults)
    print(f"commands: {len(all_commands)} checked, {wrong} wrong")
    return wrong > 0 or not all_commands


if __name__ == "__main__":
    sys.exit(main())
