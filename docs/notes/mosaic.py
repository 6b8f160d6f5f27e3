#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""False negatives and costs of `mosaic` beside those of the other samplers at equal hardness, from results files of
harness/jobs/mosaic.yaml and, for the samplers since the papers, of harness/jobs/pareto.yaml: the tables of docs/notes/mosaic.md."""
import sys

import h5py
import numpy as np

PER_ANCHOR = ("mined", "ring", "random-negatives", "hops")
PAPERS = ("uniform", "knn", "batchsampler", "gcbs", "hard-negative", "stratified", "file-order", "null") + PER_ANCHOR
HARDNESS = (("mean cosine of true negatives", 0), ("hardest true negative", 1))


def text(column):
    return [value.decode() for value in column]


def cost_of(file):
    """Processor time of a batch of every run, in ms: its share of what builds and begins an epoch among it."""
    timing = file["timing"]
    phase, run, cpu = np.array(text(timing["phase"][:])), timing["run"][:], timing["cpu_ns"][:] * 1e-6
    rep, batches, cost = timing["rep"][:], timing["batches"][:], []
    for i in range(len(file["runs/status"])):
        begun = (run == i) & ((phase == "build") | (phase == "epoch")) & (rep == 0)
        drawn = (run == i) & (phase == "next")
        cost.append(cpu[begun].sum() / batches[begun].sum() + cpu[drawn].sum() / batches[drawn].sum())
    return np.array(cost)


def read(path):
    """One entry per setting: sampler, parameters, [seeds x (mean true cosine, hardest true, false-negative ratio)],
    processor time of a batch in ms (the median over seeds)."""
    with h5py.File(path) as file:
        runs = file["runs"]
        assert all(status == "ok" for status in text(runs["status"][:])), "a cell of the job has failed"
        kind = text(file["hist/kind"][:]).index("true_negative")
        count, middle = file["hist/counts"][:, kind, :].astype(float), file["hist/bin"][:]
        value = np.stack([count @ middle / count.sum(1), runs["hard_true_mean"][:], runs["fn_ratio"][:]], 1)
        cost, found = cost_of(file), {}
        for i, key in enumerate(zip(text(runs["sampler"][:]), text(runs["params"][:]))):
            found.setdefault(key, []).append(i)
        return text(runs["dataset"][:])[0], {key: (value[rows], np.median(cost[rows]))
                                             for key, rows in found.items()}


def front(points):
    """Of (hardness, excess): those with nothing as hard and cleaner."""
    kept, least = [], np.inf
    for hard, excess in sorted(points, reverse=True):
        if excess < least:
            kept.append((hard, excess))
            least = excess
    return kept[::-1]


def hull(points):
    """The lower convex hull of the front."""
    kept = []
    for p in points:
        while len(kept) > 1 and ((kept[-1][1] - kept[-2][1]) * (p[0] - kept[-1][0])
                                 >= (p[1] - kept[-1][1]) * (kept[-1][0] - kept[-2][0])):
            kept.pop()
        kept.append(p)
    return kept


def at(line, hard):
    """The excess of a front at a hardness; NaN beyond its ends."""
    return np.interp(hard, *zip(*line), left=np.nan, right=np.nan)


def short(params):
    said = dict(pair.split("=") for pair in params.split(", "))
    return [said[name] for name in ("pool", "a", "lambda")]


def report(name, found):
    base = next(value for (sampler, _), (value, _) in found.items() if sampler == "uniform")[:, 2].mean()
    unit = next(cost for (sampler, params), (_, cost) in found.items()
                if sampler == "batchsampler" and "M=1000" in params and "alpha=0.2," in params
                and "walk=rwr" in params and "graph=proximity" in params)
    print(f"### {name}\n\nuniform: {100 * base:.2f} %; a batch of BatchSampler, M = 1000, alpha = .2: {unit:.2f} ms\n")
    later = any(sampler not in PAPERS + ("mosaic",) for sampler, _ in found)
    for title, which in HARDNESS:
        def points(counts):
            return [(value[:, which].mean(), 100 * (value[:, 2].mean() - base))
                    for (sampler, _), (value, _) in found.items() if counts(sampler)]

        papers = points(lambda sampler: sampler in PAPERS and sampler not in PER_ANCHOR)
        lines = [front(papers), hull(front(papers)), hull(front(points(lambda sampler: sampler in PAPERS)))]
        names = "settings / mixed / mixed with those per anchor"
        if later:
            batches = points(lambda sampler: sampler not in PER_ANCHOR + ("mosaic",))
            lines += [front(batches), hull(front(batches))]
            names += " / all methods' settings / mixed"
        print(f"| pool | a | lambda | {title} | excess | others: {names} | ratio to each | time |")
        print("|" + " --- |" * 8)
        for (sampler, params), (value, cost) in found.items():
            if sampler != "mosaic":
                continue
            hard, seeds = value[:, which].mean(), 100 * (value[:, 2] - base)
            excess, error = seeds.mean(), seeds.std(ddof=1) / np.sqrt(len(seeds))
            known = [at(line, hard) for line in lines]
            cells = short(params) + [f"{hard:.4f}", f"{excess:.2f} +- {error:.2f}"]
            cells += [" / ".join(f"{k:.2f}" for k in known), " / ".join(f"{excess / k:.2f}" for k in known)]
            cells.append(f"{cost / unit:.2f}")
            print("| " + " | ".join(cells).replace("nan", "-") + " |")
        print()


if __name__ == "__main__":
    data = {}  # parts of a job have files of their own
    for results in sys.argv[1:]:
        dataset, settings = read(results)
        data.setdefault(dataset, {}).update(settings)
    for dataset, settings in data.items():
        report(dataset, settings)
