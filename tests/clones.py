#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions that have vectors with AVX-512 and none with AVX2: tests/clones.py PROGRAM, of an optimised build. What HN_CLONES
marks is compiled for both (core/clones.h), and a condition in a loop may cost the narrower clone its vectors, which no result
shows. Prints a line for each such function; exit status 1 if there is one."""
import re
import subprocess
import sys

CLONE = re.compile(r"^[0-9a-f]+ <(\w+)\.arch_x86_64_v([34])[^>]*>:$")
# AVX2 has no conversion to unsigned integers; two to signed ones took longer than none in vectors.
ALLOWED = {"find_bins"}
ARITHMETIC = re.compile(r"^v(add|sub|mul|div|max|min|sqrt|cvt)\w*$")


def count_vectors(program):
    """For each clone how many of its instructions compute with wide vectors, by name and level."""
    count = {}
    clone = None
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        if line.endswith(">:"):
            begun = CLONE.match(line)
            clone = begun.groups() if begun else None
            if clone:
                count.setdefault(clone, 0)
        elif clone and "\t" in line:
            operation, _, operands = line.split("\t")[1].partition(" ")
            count[clone] += bool(ARITHMETIC.match(operation)) and ("ymm" in operands or "zmm" in operands)
    return count


def main():
    count = count_vectors(sys.argv[1])
    if not any(count.values()):
        sys.exit(f"{sys.argv[1]} has no clones with vectors: is it optimised, for x86-64?")
    bad = [name for name, level in count if level == "4" and count[name, level] > 4 * count.get((name, "3"), 0) and name not in ALLOWED]
    for name in sorted(bad):
        print(f"{name}: {count[name, '4']} vector operations with AVX-512, {count.get((name, '3'), 0)} with AVX2")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
