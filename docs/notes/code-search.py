#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The section Results of docs/notes/code-search.md:

    code-search.py RESULTS... [--batches RESULTS...] [--costs RESULTS...]

RESULTS: of its trainings; seeds count that have all settings at both batch sizes. --batches: of `hardneg run` on the series
of Uniform's runs. --costs: of the same trainings on an idle machine, of fewer epochs. Needs h5py, numpy and scipy."""
import argparse
import itertools
import textwrap

import h5py
import numpy as np
from scipy import stats

OUTCOMES = ("true_mrr_10", "mrr_10")
PREDICTORS = (("cos_mean", "hardness"), ("fn_ratio", "false negatives"), ("gap", "gap"))
UNIFORM, SIZES = "uniform", (64, 256)
# Settings by what they have in common, which is their line.
FAMILIES = {"gcbs": ["gcbs"], "mosaic": [f"mosaic {x}" for x in ("0", "0.5", "0.9")], "knn": ["knn"], "batchsampler": ["batchsampler"],
            "no_duplicates": ["no_duplicates"], "mined from rank": [f"mined from rank {k}" for k in (1, 6, 11, 31)],
            "mined with a margin of": [f"mined with a margin of {m}" for m in ("0", "0.05", "0.1")],
            "hcl": [f"hcl {b}" for b in ("0.5", "1")]}
SETTINGS = [*itertools.chain(*FAMILIES.values())]


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def options(params):
    return dict(pair.split("=", 1) for pair in text(params).split(", ") if "=" in pair)


def setting(row):
    own, name = options(row["params"]), text(row["sampler"])
    task = options(row.get("task_params", ""))
    if task.get("mined") == "true":
        return f"mined with a margin of {task['relative_margin']}" if "relative_margin" in task else f"mined from rank {task['min_rank']}"
    if task and text(row["weighting"]) != "none":
        return f"{text(row['weighting'])} {row['beta']:g}"
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


def number(x, form="+.2f"):
    """Without the 0 before its point."""
    told = f"{x:{form}}".replace("-0.00", "0.00").replace("+0.00", "0.00")
    return told.replace("0.", ".", 1) if abs(x) < 1 else told


def compare(runs, size, seeds):
    """{setting: (mean and half of 95 % of the first outcome's difference, verdicts by all outcomes)}"""
    def column(name, what):
        return np.array([runs[size, name, seed][what] for seed in seeds])

    difference = {c: {n: column(n, c) - column(UNIFORM, c) for n in SETTINGS} for c in OUTCOMES}
    corrected = {c: holm([stats.ttest_1samp(d, 0).pvalue for d in difference[c].values()]) for c in OUTCOMES}
    first = difference[OUTCOMES[0]]
    return {n: (first[n].mean(), half(first[n]), [verdict(difference[c][n], corrected[c][i]) for c in OUTCOMES])
            for i, n in enumerate(SETTINGS)}


def answer(n, found):
    mean, side, verdicts = found[n]
    mark = "*" if verdicts[0] in ("yes", "no") else ""
    return f"{number(mean)} ± {number(side, '.2f')}{mark}" + (" (no difference)" if verdicts[0] == "no difference" else "")


def by_family(line):
    for family, names in FAMILIES.items():
        label = family if " " in family else f"`{family}`"
        print(f"- {label} " + "; ".join(" ".join([*n[len(family):].split(), line(n)]) for n in names))


def sentences(found, uniform, seeds):
    """The first sentence and README's, if they hold."""
    hard, cost = [n for n in SETTINGS if n.startswith(("mosaic", "knn"))], [n for n in SETTINGS if n.startswith("mined")]
    said = [(64, n, "yes") for n in ("gcbs", *hard)] + [(256, "gcbs", "yes")] + \
        [(size, n, "no") for size in SIZES for n in SETTINGS if n.startswith(("mined", "hcl", "batchsampler"))]
    false = [f"{n} at {size}" for size, n, wanted in said if found[size][n][2][0] != wanted]
    assert not false, f"the first sentence is not true of {', '.join(false)}"

    def pm(size, n):
        return " ± ".join(number(x, ".1f") for x in found[size][n][:2])

    def span(of, sizes=SIZES):
        means = sorted(abs(found[size][n][0]) for size in sizes for n in of)
        return " to ".join(dict.fromkeys(number(x, ".1f") for x in (means[0], means[-1])))
    for told in (f"**By MRR@10 over all functions, at a learning rate of .003, from random tables: with 64 pairs a batch GCBS ended {pm(64, 'gcbs')} "
                 f"points above Uniform's {uniform[0]}, `mosaic` and kNN {span(hard, [64])}; with 256 GCBS {pm(256, 'gcbs')} above {uniform[1]}. "
                 f"BatchSampler ended {span(['batchsampler'])} below, one mined negative a query from ranks 1 to 31 {span(cost)} below.** {seeds} seeds, 8 epochs.",
                 f"README: GCBS ended {pm(64, 'gcbs')} points above Uniform, `mosaic` {span(FAMILIES['mosaic'], [64])}, one mined negative a "
                 f"query from ranks 1 to 31 {span(cost)} below."):
        print(textwrap.fill(told, 160) + "\n")


def correlate(paths, found):
    """Over the samplers that have batches, Uniform's gain being 0."""
    at = {}
    for row, _ in itertools.chain(*map(read, paths)):
        for c, _ in PREDICTORS:
            at.setdefault((int(row["batch_size"]), setting(row), c), []).append(float(row[c]))
    for size in (size for size in SIZES if (size, UNIFORM, "gap") in at):
        names = [n for n in (UNIFORM, *SETTINGS) if (size, n, "gap") in at]
        gain = [found[size][n][0] if n != UNIFORM else 0 for n in names]
        told = []
        for c, label in PREDICTORS:
            x = [np.mean(at[size, n, c]) for n in names]
            told.append(f"{label} " + (number(stats.spearmanr(x, gain)[0]) if len(set(x)) > 1 else f"{x[0]:g} in all"))
        print(f"At {size}, rank correlations of the gain over {len(names)} samplers: {', '.join(told)}.")


def price(paths):
    cost = {}
    for row, _ in itertools.chain(*map(read, paths)):
        cost.setdefault((int(row["batch_size"]), setting(row)), []).append(float(row["cost_step"]) * 1000)

    def line(n):
        return ", ".join(f"{np.median(cost[size, n]):.1f} ({min(cost[size, n]):.1f} to {max(cost[size, n]):.1f})"
                         for size in SIZES if (size, n) in cost)
    print(f"\nMilliseconds a step, building and mining included; Uniform {line(UNIFORM)}:\n")
    by_family(line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="*")
    parser.add_argument("--batches", nargs="+", default=[])
    parser.add_argument("--costs", nargs="+")
    given = parser.parse_args()
    if given.results:
        runs = read_runs(given.results)
        seeds = [s for s in sorted({key[2] for key in runs})
                 if all((size, n, s) in runs for size in SIZES for n in (UNIFORM, *SETTINGS))]
        found = {size: compare(runs, size, seeds) for size in SIZES}
        uniform = [f"{np.mean([runs[size, UNIFORM, s][OUTCOMES[0]] for s in seeds]):.1f}" for size in SIZES]
        sentences(found, uniform, len(seeds))
        print("Difference to Uniform in points of MRR@10 by complete relevance, at 64 and 256 pairs a batch, ± half of 95 %; * after Holm:\n")
        by_family(lambda n: ", ".join(answer(n, found[size]) for size in SIZES))
        other = [f"{n} at {size} ({', then '.join(v)})" for size in SIZES for n, (_, _, v) in found[size].items() if len(set(v)) > 1]
        print("\nBy the labels alone " + ("other answers: " + ", ".join(other) if other else "every answer is the same") + ".")
        correlate(given.batches, found)
    if given.costs:
        price(given.costs)


main()
