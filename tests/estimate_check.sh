#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Foreseen against used, by hand on a quiet machine: tests/estimate_check.sh PROGRAM JOB [OPTION...]
# The time foreseen is held to a factor of two, the peak of resident memory to 1.1 times what was foreseen.
# Not part of `make test`: what else runs on the machine decides the first.
set -eu
hardneg=$1 job=$2
shift 2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$hardneg" run -c "$job" --dry-run "$@" 2>&1 >/dev/null | tail -n 1 | tee "$out/foreseen"
/usr/bin/python3 - "$hardneg" "$job" "$out" "$@" <<'PYTHON'
import re, resource, subprocess, sys, time

program, job, out, *options = sys.argv[1:]
line = open(f"{out}/foreseen").read()
duration, size, unit = re.search(r"about (.+?) and .* \(([\d.]+) (\w+) resident", line).groups()
if ":" in duration:
    seconds = 0
    for part in duration.split(":"):
        seconds = 60 * seconds + int(part)
else:
    number, what = duration.split()
    seconds = float(number) * (0.001 if what == "ms" else 1)
foreseen = float(size) * {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}[unit]
begin = time.time()
command = [program, "run", "-c", job, "-o", f"{out}/run", "--quiet", "--set", "figures=none", *options]
code = subprocess.run(command).returncode
wall = time.time() - begin
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
print(f"used: {wall:.1f} s ({wall / seconds:.2f} times), {peak / 2**20:.0f} MiB ({peak / foreseen:.2f} times)")
good = 0.5 <= wall / seconds <= 2 and peak <= 1.1 * foreseen
sys.exit(0 if code in (0, 4) and good else 1)
PYTHON
