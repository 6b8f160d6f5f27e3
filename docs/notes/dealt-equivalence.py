#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two one-sided tests of `dealt` against `independent` candidates, from a results file of the job
dealt-equivalence.yaml. Cells of the same seed are pairs (they share their start items). The margin of
a quantity is a tenth of its difference between the two ends: uniform batches and the kNN sampler, or,
for what only graphs have, a graph of random neighbours and the exact kNN graph. Equivalent: the 90 %
confidence interval of the mean difference lies within the margin (p < 0.05 on either side)."""
import sys

import h5py
import numpy as np
from scipy import stats

QUANTITIES = {  # column: whether its ends are graphs
    "cos_mean": False,
    "cos_p99": False,
    "fn_ratio": False,
    "coverage": False,
    "steps": True,
    "in_degree_sd": True,
    "in_degree_max": True,
}


def text(values):
    return [v.decode() if isinstance(v, bytes) else v for v in values]


def read(path):
    """{case: {quantity: [value by seed]}}"""
    with h5py.File(path) as file:
        runs = file["runs"]
        names = ["sampler", "params", "status", "graph", "candidates"]
        columns = {name: text(runs[name][...]) for name in names}
        numbers = ["seed", "batches", "n_step", "M", "tile"] + [q for q in QUANTITIES if q != "steps"]
        columns |= {name: np.asarray(runs[name][...], float) for name in numbers}
    cases = {}
    for i in np.argsort(columns["seed"]):
        assert columns["status"][i] == "ok"
        name = columns["sampler"][i]
        if name == "batchsampler":
            name = columns["candidates"][i]
            if columns["graph"][i] == "knn":
                name = "knn graph"
            elif columns["M"][i] == 100:
                name = "random graph"
            elif name == "dealt":
                name = f"dealt {columns['tile'][i]:.0f}"
        case = cases.setdefault(name, {q: [] for q in QUANTITIES})
        for q in QUANTITIES:
            steps = columns["n_step"][i] / columns["batches"][i]
            case[q].append(steps if q == "steps" else columns[q][i])
    return {name: {q: np.array(v) for q, v in case.items()} for name, case in cases.items()}


def main():
    cases = read(sys.argv[1])
    print("| quantity | independent | margin | tile | difference | standard error | p | equivalent |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    tiles = sorted(int(name.split()[1]) for name in cases if name.startswith("dealt"))
    for q, graphs in QUANTITIES.items():
        ends = ("random graph", "knn graph") if graphs else ("uniform", "knn")
        margin = abs(cases[ends[0]][q].mean() - cases[ends[1]][q].mean()) / 10
        base = cases["independent"][q]
        for tile in tiles:
            off = cases[f"dealt {tile}"][q] - base
            n, mean, se = len(off), off.mean(), off.std(ddof=1) / np.sqrt(len(off))
            worst = (margin - abs(mean)) / se if se > 0 else np.inf * np.sign(margin - abs(mean))
            p = stats.t.sf(worst, n - 1)
            print(f"| {q} | {base.mean():.5g} | {margin:.3g} | {tile} | {mean:+.3g} | {se:.2g} | "
                  f"{p:.2g} | {'yes' if p < 0.05 else 'NO'} |")


if __name__ == "__main__":
    main()
