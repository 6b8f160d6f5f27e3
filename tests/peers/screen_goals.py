# SPDX-License-Identifier: GPL-3.0-or-later
"""What the screen brings, beside peers and beside the same without it: medians of rounds that alternate.

    screen_goals.py HARDNEG [CASE...] [--rounds R] [--threads T] [--data FILE] [--log FILE] [--minutes M] [--table]

Seconds on the clock, and of the processor, all threads together: where other work runs beside it, the latter tell more.
A round of a case times, one after the other, the sweep with its screen, without (--screen off), one product of floats
(GCBS, mining) and the peer. A ratio is a median of those of the rounds, with the least and the most; `goal` is what it is
meant to be at least (a share of a product: at most).

--log keeps one line of JSON a round, and counts those of this very program: the same command goes on where it stopped.
--minutes begins no round that would end later, by the longest of its kind. --table times nothing.
"""

import argparse
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import time

import compare

CASES = [  # name, kernel, sizes, goals against the peer, without the screen, as a share of a product (None: reported)
    ("knn-50k", "knn", {"n": 50000, "dim": 128, "K": 100}, 8, 2.4, None),
    ("knn-trained", "knn", {"K": 100, "data": None}, 10, None, None),
    ("knn-200k", "knn", {"n": 200000, "dim": 128, "K": 100}, 8, None, None),
    ("knn-768", "knn", {"n": 50000, "dim": 768, "K": 100}, 4.5, None, None),
    ("knn-K500", "knn", {"n": 50000, "dim": 128, "K": 500}, 6, None, None),
    ("gcbs-25k", "gcbs", {"n": 25000, "dim": 768, "keep": 25}, 7.5, None, 0.55),
    ("gcbs-50k", "gcbs", {"n": 50000, "dim": 768, "keep": 50}, None, None, 0.55),
    ("mine", "mine", {"n": 100000, "dim": 768, "K": 200, "queries": 20000}, 3.5, None, 0.45),
    ("gcbs-keep512", "gcbs", {"n": 25000, "dim": 768, "keep": 512}, None, None, None),
]
NO_PEER = {"gcbs-50k"}  # its matrix, chunk by chunk, takes minutes and is no goal


def ours(program, kernel, sizes, threads, more=()):
    command = [program, "bench", kernel, "--json", "--reps", "1", "--warmup", "0", "--threads", str(threads)]
    done = subprocess.run(command + compare.options(sizes) + list(more), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    row = json.loads(done.stdout)["kernels"][0]
    return row["seconds"]["median"], row["processor_seconds"][0]


def one_round(a, case):
    """[Seconds, those of the processor] by what was timed."""
    name, kernel, sizes, *_ = case
    times = {"with": ours(a.program, kernel, sizes, a.threads)}
    if not a.no_without:
        times["without"] = ours(a.program, kernel, sizes, a.threads, ["--screen", "off"])
    if kernel in ("gcbs", "mine"):  # of as many rows on both sides
        n = round(math.sqrt(sizes["n"] * sizes.get("queries", sizes["n"])))
        times["product"] = ours(a.program, "product", {"n": n, "dim": sizes["dim"]}, a.threads)
    if name not in NO_PEER and not a.no_peer:
        result = compare.run_peer(kernel, sizes, a.threads)
        if result:
            times["peer"] = result[1:]
    return times


class Log:
    """Rounds by case and threads: those of the file, where there is one, that this program took."""

    def __init__(self, path, program):
        self.path, self.rounds = path, {}
        with open(program, "rb") as f:
            self.program = hashlib.sha256(f.read()).hexdigest()[:16]
        if path and os.path.exists(path):
            with open(path) as f:
                lines = [json.loads(line) for line in f if line.endswith("\n")]
            for line in lines:
                if line["program"] == self.program:
                    self.rounds.setdefault((line["case"], line["threads"]), []).append(line)
            others = sum(line["program"] != self.program for line in lines)
            if others:
                print(f"{path}: {others} rounds of other programs are left out")

    def of(self, name, threads):
        return self.rounds.setdefault((name, threads), [])

    def add(self, name, threads, begun, times):
        line = {"case": name, "threads": threads, "at": time.strftime("%F %T", time.gmtime()), "load": os.getloadavg()[0],
                "took": time.monotonic() - begun, "program": self.program, "times": times}
        self.of(name, threads).append(line)
        if self.path:
            with open(self.path, "a") as f:
                f.write(json.dumps(line) + "\n")


def spread(values):
    return f"{statistics.median(values):.3g} ({min(values):.3g} to {max(values):.3g})"


def show(case, threads, lines):
    name, _, _, *goals = case
    load = max(line["load"] for line in lines)
    for clock, unit in enumerate(("on the clock", "of the processor")):
        rounds = [line["times"] for line in lines]
        print(f"{name}, {threads} thread{'s' if threads > 1 else ''}, {len(rounds)} rounds, load up to {load:.0f}: "
              f"{spread([r['with'][clock] for r in rounds])} s {unit}")
        for what, goal in zip(("peer", "without", "product"), goals):
            pairs = [(r[what][clock], r["with"][clock]) for r in rounds if what in r]
            if not pairs:
                continue
            share = what == "product"
            ratios = [mine / theirs if share else theirs / mine for theirs, mine in pairs]
            print(f"    {what:<8} {spread([theirs for theirs, _ in pairs]):>24} s   {'share' if share else 'ratio'} "
                  f"{spread(ratios):>22}   goal {goal or '-'}{f'   ({len(pairs)} rounds)' if len(pairs) < len(rounds) else ''}")
    sys.stdout.flush()


def run(a, log, cases):
    """Round by round through all cases, so that each has some early. False: no time for all of them."""
    begun, whole = time.monotonic(), True
    for turn in range(a.rounds):
        for case in cases:
            lines = log.of(case[0], a.threads)
            if len(lines) > turn:
                continue
            left = begun + a.minutes * 60 - time.monotonic()
            if left < max([line["took"] for line in lines], default=1):
                whole = False
                continue
            start = time.monotonic()
            log.add(case[0], a.threads, start, one_round(a, case))
    return whole


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("cases", nargs="*", metavar="CASE")
    p.add_argument("--rounds", type=int, default=7)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--data", help="a snapshot for knn-trained, which is left out without")
    p.add_argument("--log", help="one line a round; the same command goes on where it stopped")
    p.add_argument("--minutes", type=float, default=float("inf"))
    p.add_argument("--table", action="store_true")
    p.add_argument("--no-peer", action="store_true")
    p.add_argument("--no-without", action="store_true")
    a = p.parse_intermixed_args()
    unknown = set(a.cases) - {case[0] for case in CASES}
    if unknown:
        p.error(f"no such case: {', '.join(sorted(unknown))} (there are {', '.join(case[0] for case in CASES)})")
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait in a loop use the processor
    log = Log(a.log, a.program)
    wanted = [case for case in CASES if not a.cases or case[0] in a.cases]
    for case in wanted:
        if "data" in case[2]:
            case[2]["data"] = a.data
    whole = a.table or run(a, log, [case for case in wanted if case[2].get("data", True)])
    for case in wanted:
        for (name, threads), lines in sorted(log.rounds.items()):
            if name == case[0] and lines:
                show(case, threads, lines)
    if not whole:
        print("stopped: the same command goes on")


if __name__ == "__main__":
    main()
