#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of "Rates and outcomes" in docs/notes/code-search.md, from code-search-rates.csv: a row a run, values in points.

    code-search-rates.py                 prints them
    code-search-rates.py RESULTS...      writes the file anew from results.h5 of trainings

Needs numpy and scipy, and h5py for results."""
import csv
import pathlib
import sys

import numpy as np
from scipy import stats

FILE = pathlib.Path(__file__).with_suffix(".csv")
OUTCOMES = ("true_mrr_10", "mrr_test", "true_recall_100")
SETTINGS = ("gcbs", "mined from rank 31", "mined from rank 101")


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def read_results(path):
    import h5py
    with h5py.File(path) as file:
        runs, training = file["runs"], file["training"]
        rate = float(text(file.attrs["config"]).split("adam:")[1].split("rate:")[1].split()[0].strip("[],"))
        for i in range(len(runs["seed"])):
            task = dict(pair.split("=", 1) for pair in text(runs["task_params"][i]).split(", "))
            name = f"mined from rank {task['min_rank']}" if task["mined"] == "true" else text(runs["sampler"][i])
            name = name if text(runs["weighting"][i]) == "none" else f"{text(runs['weighting'][i])} {runs['beta'][i]:g}, tau_plus {runs['tau_plus'][i]:g}"
            own = training["run"][:] == i
            yield [rate, name, int(runs["seed"][i]), *(f"{100 * training[c][own][-1]:.3f}" for c in OUTCOMES)]


def write(paths):
    with open(FILE, "w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["rate", "setting", "seed", *OUTCOMES])
        rows.writerows(sorted(row for path in paths for row in read_results(path)))


def half(d):
    return stats.t.ppf(.975, len(d) - 1) * d.std(ddof=1) / len(d) ** .5


def holm(p):
    order, out = np.argsort(p), np.empty(len(p))
    out[order] = np.minimum(1, np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1)))
    return out


def show():
    value = {}
    with open(FILE, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            value.setdefault((row["rate"], row["setting"]), []).append([float(row[c]) for c in OUTCOMES])
    value = {key: np.array(rows) for key, rows in value.items()}
    rates = sorted({rate for rate, _ in value}, key=float)
    print("| rate | setting | MRR@10, all functions | MRR, test functions | recall@100 |\n| --- | --- | --- | --- | --- |")
    for rate in rates:
        uniform = value[rate, "uniform"]
        print(f"| {rate} | Uniform, absolute | " + " | ".join(f"{m:.2f} ± {half(c):.2f}" for m, c in zip(uniform.mean(0), uniform.T)) + " |")
        other = [n for n in SETTINGS + tuple(sorted(n for r, n in value if r == rate and n.startswith("hcl")))]
        p = holm([stats.ttest_1samp(d, 0).pvalue for n in SETTINGS for d in (value[rate, n] - uniform).T]).reshape(len(SETTINGS), -1)
        for n in other:
            d = value[rate, n] - uniform
            star = ["*" if n in SETTINGS and q < .05 else "" for q in (p[SETTINGS.index(n)] if n in SETTINGS else OUTCOMES)]
            print(f"| {rate} | {n} | " + " | ".join(f"{m:+.2f} ± {half(c):.2f}{s}" for m, c, s in zip(d.mean(0), d.T, star)) + " |")
    print("\n| at the best rate of each | " + " | ".join(OUTCOMES) + " |\n| --- | --- | --- | --- |")
    for n in SETTINGS:
        cells = []
        for c in range(len(OUTCOMES)):
            best = {m: max(rates, key=lambda r: value[r, m][:, c].mean()) for m in (n, "uniform")}
            d = value[best[n], n][:, c] - value[best["uniform"], "uniform"][:, c]
            cells.append(f"{d.mean():+.2f} ± {half(d):.2f} ({best[n]}, {best['uniform']})")
        print(f"| {n} | " + " | ".join(cells) + " |")


if len(sys.argv) > 1:
    write(sys.argv[1:])
else:
    show()
