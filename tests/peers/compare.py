# SPDX-License-Identifier: GPL-3.0-or-later
"""hardneg beside its peers, alternating, so that both meet the same machine: their ratios.

    compare.py HARDNEG [--rounds R] [--scale S] [KERNEL...]

Sizes are those of docs/notes/performance.md; --scale 0.2 takes a fifth of the items. What is not
installed is named and left out. `goal`: how many times faster hardneg is meant to be.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer.py")
ROWS = [  # kernel, sizes, goal
    ("knn", {"n": 50000, "dim": 128, "K": 100}, 3.5),
    ("proximity-independent", {"n": 50000, "dim": 128, "M": 1000, "K": 100}, 10),
    ("proximity-dealt", {"n": 50000, "dim": 128, "M": 1000, "K": 100}, 60),
    ("walk-0.1", {"n": 50000, "dim": 128, "M": 1000, "K": 100, "batch-size": 256}, 100),
    ("walk-0.7", {"n": 50000, "dim": 128, "M": 1000, "K": 100, "batch-size": 256}, 100),
    ("gcbs", {"n": 25000, "dim": 768, "keep": 512}, 4),
    ("mine", {"n": 100000, "dim": 768, "K": 200, "queries": 20000}, 3.5),
    ("loss", {"n": 25000, "dim": 768}, None),
    ("cell-all", {"n": 10000, "dim": 128, "batch-size": 256}, 5),
    ("cell-products", {"n": 10000, "dim": 128, "batch-size": 256}, 0.62),
]
OURS = {"cell-products": "cell-all"}


def options(sizes):
    return [text for name, value in sizes.items() for text in ("--" + name, str(value))]


def run_ours(program, kernel, sizes):
    command = [program, "bench", OURS.get(kernel, kernel), "--json", "--reps", "1", "--warmup", "1"]
    done = subprocess.run(command + options(sizes), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    row = json.loads(done.stdout)["kernels"][0]
    return row["seconds"]["median"], row["threads"]


def peers_kernels():
    """OpenBLAS takes its oldest kernels on a processor whose model it does not know: peers get those of its instructions."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        flags = file.read().split()
    core = "SkylakeX" if "avx512f" in flags else "Haswell" if "avx2" in flags else None
    return {"OPENBLAS_CORETYPE": core} if core and "OPENBLAS_CORETYPE" not in os.environ else {}


def run_peer(kernel, sizes, threads):
    command = [sys.executable, PEER, kernel, "--threads", str(threads)] + options(sizes)
    done = subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, **peers_kernels(), "OMP_NUM_THREADS": str(threads)})
    if done.returncode:
        print(f"{kernel:<22} left out: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return None
    result = json.loads(done.stdout)
    return result["peer"], statistics.median(result["seconds"]), statistics.median(result["processor_seconds"])


def compare(program, kernel, sizes, goal, rounds):
    ours, theirs, name = [], [], ""
    for _ in range(rounds):
        seconds, threads = run_ours(program, kernel, sizes)
        peer = run_peer(kernel, sizes, threads)
        if peer is None:
            return
        ours.append(seconds)
        theirs.append(peer[1])
        name = peer[0]
    ratios = sorted(t / o for t, o in zip(theirs, ours))
    print(f"{kernel:<22} {sizes['n']:>8} {sizes['dim']:>5} {min(ours):>11.6f} {min(theirs):>11.6f} "
          f"{statistics.median(ratios):>7.1f} {ratios[0]:>7.1f} {ratios[-1]:>7.1f} "
          f"{goal or '-':>6}  {name}", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("kernels", nargs="*", default=[])
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--scale", type=float, default=1)
    a = p.parse_args()
    print(f"{'kernel':<22} {'n':>8} {'dim':>5} {'hardneg s':>11} {'peer s':>11} {'ratio':>7} "
          f"{'least':>7} {'most':>7} {'goal':>6}  peer")
    for kernel, sizes, goal in ROWS:
        if a.kernels and kernel not in a.kernels:
            continue
        n = max(2000, int(sizes["n"] * a.scale))
        compare(a.program, kernel, {**sizes, "n": n}, goal, a.rounds)


if __name__ == "__main__":
    main()
