#!/usr/bin/env python3
"""The tables of docs/notes/code-search.md from the folder of its trainings:

    code-search.py RESULTS... [--batches RESULTS...]

Seeds count that have all settings at both batch sizes. --batches: of `hardneg run` on the series of Uniform's runs.
Needs h5py, numpy and scipy."""
import itertools
import sys

import h5py
import numpy as np
from scipy import stats

OUTCOMES = ("true_mrr_10", "mrr_10")
PREDICTORS = (("cos_mean", "hardness"), ("fn_ratio", "false negatives"), ("gap", "gap"))
UNIFORM, SIZES = "uniform", (64, 256)
SETTINGS = ("no_duplicates", "gcbs", "knn", "batchsampler", "mosaic 0", "mosaic 0.5", "mosaic 0.9",
            *(f"mined from rank {k}" for k in (1, 6, 11, 31)), *(f"mined, margin {m}" for m in ("0", "0.05", "0.1")),
            "hcl, beta 0.5", "hcl, beta 1")


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def options(params):
    return dict(pair.split("=", 1) for pair in text(params).split(", ") if "=" in pair)


def setting(row):
    own, name = options(row["params"]), text(row["sampler"])
    task = options(row.get("task_params", ""))
    if task.get("mined") == "true":
        return f"mined, margin {task['relative_margin']}" if "relative_margin" in task else f"mined from rank {task['min_rank']}"
    if task and text(row["weighting"]) != "none":
        return f"{text(row['weighting'])}, beta {row['beta']:g}"
    if own.get("no_duplicates") == "true":
        return "no_duplicates"
    return f"{name} {own['lambda']}" if name == "mosaic" else name


def read(path):
    """Rows of /runs, and those of /training behind their runs."""
    with h5py.File(path) as file:
        runs, training = ({name: column[:] for name, column in file[table].items()} if table in file else {}
                          for table in ("runs", "training"))
    status = [text(value) for value in runs["status"]]
    assert set(status) <= {"ok", "not_applicable"}, f"{path}: a run failed"
    for i in (i for i, value in enumerate(status) if value == "ok"):
        yield ({name: column[i] for name, column in runs.items()},
               {name: column[training["run"] == i] for name, column in training.items()})


def read_runs(paths):
    """{(batch size, setting, seed): outcomes of the last step in points, cost of a step}"""
    return {(int(row["batch_size"]), setting(row), int(row["seed"])):
            {**{c: 100 * training[c][-1] for c in OUTCOMES}, "cost_step": row["cost_step"]}
            for row, training in itertools.chain(*map(read, paths))}


def holm(p):
    order = np.argsort(p)
    out = np.empty(len(p))
    out[order] = np.minimum(1, np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1)))
    return out


def half(values):
    return stats.t.ppf(.975, len(values) - 1) * values.std(ddof=1) / len(values) ** .5


def verdict(difference, p):
    mean, side = difference.mean(), half(difference)
    if p < .05:
        return "yes" if mean > 0 else "no"
    return "no difference" if abs(mean) <= side < .25 else "open"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def compare(runs, size, names, seeds):
    def column(name, what):
        return np.array([runs[size, name, seed][what] for seed in seeds])

    difference = {(n, c): column(n, c) - column(UNIFORM, c) for n in names for c in OUTCOMES}
    corrected = {c: dict(zip(names, holm([stats.ttest_1samp(difference[n, c], 0).pvalue for n in names]))) for c in OUTCOMES}
    rows = [[UNIFORM, *itertools.chain(*((f"{column(UNIFORM, c).mean():.2f}", "") for c in OUTCOMES)), "1"]]
    for n in names:
        row = [n]
        for c in OUTCOMES:
            d = difference[n, c]
            row += [f"{d.mean():+.2f} ± {half(d):.2f}", verdict(d, corrected[c][n])]
        rows.append(row + [f"{np.median(column(n, 'cost_step') / column(UNIFORM, 'cost_step')):.2f}"])
    print(f"### B = {size}, {len(seeds)} seeds\n")
    table(["setting", "MRR@10, complete relevance", "pays", "MRR@10, labels", "pays", "time of a step"], rows)
    return {n: {c: difference[n, c].mean() for c in OUTCOMES} for n in names}


def correlate(paths, gained):
    """Rank correlations over the samplers that have batches, Uniform's gain being 0."""
    at = {}
    for row, _ in itertools.chain(*map(read, paths)):
        for c, _ in PREDICTORS:
            at.setdefault((int(row["batch_size"]), setting(row), c), []).append(float(row[c]))
    rows, gained = [], {size: gain for size, gain in gained.items() if (size, UNIFORM, "gap") in at}
    for size, gain in gained.items():
        names = [n for n in [UNIFORM, *gain] if (size, n, "gap") in at]
        for c in OUTCOMES:
            y = [gain.get(n, {c: 0})[c] for n in names]
            rows.append([f"B = {size}, {c}", str(len(names))] + [
                f"{stats.spearmanr([np.mean(at[size, n, what]) for n in names], y)[0]:+.2f}" for what, _ in PREDICTORS])
    table(["rank correlation with the difference", "samplers", *(label for _, label in PREDICTORS)], rows)
    rows = [[n, *(f"{np.mean(at[size, n, what]):.4f}" for size in gained for what, _ in PREDICTORS)] for n in names]
    table(["sampler", *(f"{label}, B = {size}" for size in gained for _, label in PREDICTORS)], rows)


def main():
    given = sys.argv[1:] + ["--batches"]
    at = given.index("--batches")
    runs = read_runs(given[:at])
    seeds = [s for s in sorted({key[2] for key in runs})
             if all((size, n, s) in runs for size in SIZES for n in (UNIFORM, *SETTINGS))]
    gained = {size: compare(runs, size, SETTINGS, seeds) for size in SIZES}
    if given[at + 1:-1]:
        correlate(given[at + 1:-1], gained)


main()
