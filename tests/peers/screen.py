# SPDX-License-Identifier: GPL-3.0-or-later
"""The sweep with its screen beside the same without, alternating: ratios of times, with intervals.

    screen.py HARDNEG [CASE...] [--rounds R] [--most N] [--threads T] [--processor]

`ratio` is the time without over the time with, the median of R pairs; the interval is of their geometric mean (95 %,
Student's t of logarithms). `slower` marks a case that is slower with the screen by more than 2 %, the whole interval.
Exits with 1 if one is. --processor: seconds of the processor, all threads together, which other work beside it lengthens
far less than those on the clock. Where the screen does not pay, it is not used, and both times are of one thing.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys

CASES = [  # kernel, n, dim, option, value
    ("knn", 2000, 128, "K", 100), ("knn", 5000, 128, "K", 100), ("knn", 10000, 128, "K", 100),
    ("knn", 20000, 128, "K", 100), ("knn", 50000, 128, "K", 100), ("knn", 50000, 128, "K", 10),
    ("knn", 50000, 128, "K", 500), ("knn", 25000, 128, "K", 500), ("knn", 5000, 32, "K", 10), ("knn", 5000, 32, "K", 100),
    ("knn", 5000, 128, "K", 10), ("knn", 10000, 128, "K", 200), ("knn", 20000, 32, "K", 100), ("knn", 20000, 64, "K", 100),
    ("knn", 20000, 256, "K", 100), ("knn", 5000, 768, "K", 100), ("knn", 20000, 768, "K", 100),
    ("knn", 20000, 768, "K", 500), ("gcbs", 5000, 128, "keep", 64), ("gcbs", 10000, 128, "keep", 512),
    ("gcbs", 10000, 768, "keep", 512), ("gcbs", 25000, 768, "keep", 25), ("gcbs", 25000, 768, "keep", 512),
]
T_975 = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]


def seconds(program, case, threads, processor, screen):
    kernel, n, dim, option, value = case
    command = [program, "bench", kernel, "--json", "--reps", "1", "--warmup", "0", "--n", str(n), "--dim", str(dim),
               "--" + option, str(value)]
    command += ["--threads", str(threads)] if threads else []
    done = subprocess.run(command + screen, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    row = json.loads(done.stdout)["kernels"][0]
    return row["processor_seconds"][0] if processor else row["seconds"]["median"]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("cases", nargs="*", metavar="CASE", help="words: only cases that hold one of them, as in knn-50000-128-K100")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--most", type=int, default=10 ** 9, help="no case of more items")
    p.add_argument("--threads", type=int)
    p.add_argument("--processor", action="store_true")
    a = p.parse_args()
    slower = 0
    if not 2 <= a.rounds <= len(T_975):
        sys.exit(f"--rounds: 2 to {len(T_975)}")
    print(f"{'case':<24} {'without s':>10} {'with s':>10} {'ratio':>7} {'from':>7} {'to':>7}")
    for case in CASES:
        name = "{}-{}-{}-{}{}".format(*case)
        if case[1] > a.most or (a.cases and not any(word in name for word in a.cases)):
            continue
        pairs = []
        for turn in range(a.rounds):
            screens = [["--screen", "off"], []]
            times = [seconds(a.program, case, a.threads, a.processor, s) for s in (screens if turn % 2 else screens[::-1])]
            pairs.append(times if turn % 2 else times[::-1])
        logs = [math.log(off / on) for off, on in pairs]
        half = T_975[a.rounds - 1] * statistics.stdev(logs) / math.sqrt(a.rounds)
        low, high = (math.exp(statistics.mean(logs) + sign * half) for sign in (-1, 1))
        slower += high < 1 / 1.02
        print(f"{name:<24} {min(off for off, _ in pairs):>10.4f} {min(on for _, on in pairs):>10.4f} "
              f"{math.exp(statistics.median(logs)):>7.2f} {low:>7.2f} {high:>7.2f}"
              f"{'  slower' if high < 1 / 1.02 else ''}", flush=True)
    sys.exit(slower > 0)


if __name__ == "__main__":
    main()
