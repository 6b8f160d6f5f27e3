"""What the screen brings, beside peers and beside the same without it: medians of rounds that alternate.

    screen_goals.py HARDNEG [CASE...] [--rounds R] [--threads T] [--data FILE]

Seconds on the clock, and of the processor, all threads together: where other work runs beside it, the latter tell more.
A round of a case times, one after the other, the sweep with its screen, without (--screen off), one product of floats
(GCBS) and the peer. A ratio is a median of those of the rounds, with the least and the most; `goal` is what it is
meant to be at least (a share of a product: at most).
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

import compare

CASES = [  # name, kernel, sizes, goals against the peer, without the screen, as a share of a product (None: reported)
    ("knn-50k", "knn", {"n": 50000, "dim": 128, "K": 100}, 8, 2.4, None),
    ("knn-trained", "knn", {"K": 100, "data": None}, 10, None, None),
    ("knn-200k", "knn", {"n": 200000, "dim": 128, "K": 100}, 8, None, None),
    ("knn-768", "knn", {"n": 50000, "dim": 768, "K": 100}, 4.5, None, None),
    ("knn-K500", "knn", {"n": 50000, "dim": 128, "K": 500}, 6, None, None),
    ("gcbs-25k", "gcbs", {"n": 25000, "dim": 768, "keep": 25}, 7.5, None, 0.55),
    ("gcbs-50k", "gcbs", {"n": 50000, "dim": 768, "keep": 50}, None, None, 0.55),
    ("gcbs-keep512", "gcbs", {"n": 25000, "dim": 768, "keep": 512}, None, None, None),
]


def ours(program, kernel, sizes, threads, more=()):
    command = [program, "bench", kernel, "--json", "--reps", "1", "--warmup", "0", "--threads", str(threads)]
    done = subprocess.run(command + compare.options(sizes) + list(more), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    row = json.loads(done.stdout)["kernels"][0]
    return row["seconds"]["median"], row["processor_seconds"][0]


def one_round(a, case):
    """(Seconds, those of the processor) by what was timed."""
    _, kernel, sizes, peer_goal, _, _ = case
    times = {"with": ours(a.program, kernel, sizes, a.threads)}
    times["without"] = ours(a.program, kernel, sizes, a.threads, ["--screen", "off"])
    if kernel == "gcbs":
        times["product"] = ours(a.program, "product", {k: sizes[k] for k in ("n", "dim")}, a.threads)
    if peer_goal and not a.no_peer:
        result = compare.run_peer(kernel, sizes, a.threads)
        if result:
            times["peer"] = result[1:]
    return times


def spread(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def show(case, rounds):
    name, _, _, *goals = case
    for clock, unit in enumerate(("on the clock", "of the processor")):
        mine = [r["with"][clock] for r in rounds]
        print(f"{name:<13} {spread(mine)} s {unit}")
        for what, goal in zip(("peer", "without", "product"), goals):
            if not all(what in r for r in rounds):
                continue
            theirs = [r[what][clock] for r in rounds]
            share = what == "product"
            ratios = [m / t if share else t / m for t, m in zip(theirs, mine)]
            print(f"    {what:<8} {spread(theirs):>24} s   {'share' if share else 'ratio'} {spread(ratios):>22}"
                  f"   goal {goal or '-'}")
    sys.stdout.flush()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("cases", nargs="*", metavar="CASE")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--data", help="a snapshot for knn-trained, which is left out without")
    p.add_argument("--no-peer", action="store_true")
    a = p.parse_args()
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait in a loop use the processor
    for case in CASES:
        name, _, sizes, *_ = case
        if (a.cases and name not in a.cases) or ("data" in sizes and not a.data):
            continue
        if "data" in sizes:
            sizes["data"] = a.data
        show(case, [one_round(a, case) for _ in range(a.rounds)])


if __name__ == "__main__":
    main()
