#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of `make front`: `front.py OUTPUT`, of the encoders and results that front.sh left there (docs/notes/front.md)."""
import copy
import glob
import json
import os
import re
import sys

import h5py
import numpy as np
from scipy import stats

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "notes"))
from mosaic import at, cost_of, front, text  # noqa: E402

MEASURES = ("mean cosine", "log-mean-exp, .2", "log-mean-exp, .1", "99th percentile", "hardest")
MOSAICS = [({"a": "0.5", "lambda": value}, f"lambda {value}") for value in ("0.5", "0.7", "0.9")]
MOSAICS += [({"a": "3", "lambda": value}, f"a 3, lambda {value}") for value in ("8", "16")]
LEAST = 0.05  # points of excess of the others below which a ratio says nothing


def read(path, found):
    """found[encoder][sampler, parameters]: rows of (a hardness by each measure, false negatives in percent, ms a batch)."""
    with h5py.File(path) as file:
        runs = file["runs"]
        assert all(status == "ok" for status in text(runs["status"][:])), f"{path}: a cell has failed"
        kind = text(file["hist/kind"][:]).index("true_negative")
        count, middle = file["hist/counts"][:, kind, :].astype(float), file["hist/bin"][:]
        lme = 0.1 * np.log((count * np.exp(middle / 0.1)).sum(1) / count.sum(1))
        columns = [runs["true_mean"][:], runs["true_lme"][:], lme, runs["true_p99"][:], runs["hard_true_mean"][:],
                   100 * runs["fn_ratio"][:], cost_of(file)]
        names = zip(text(runs["dataset_sha256"][:]), text(runs["sampler"][:]), text(runs["params"][:]))
        for (encoder, sampler, params), row in zip(names, np.stack(columns, 1)):
            found.setdefault(encoder, {}).setdefault((sampler, params), []).append(row)


class Encoder:
    """Its settings, with the excess of false negatives over Uniform's mean."""

    def __init__(self, found):
        self.setting = {key: np.mean(rows, 0) for key, rows in found.items()}
        uniform = [rows for (sampler, _), rows in found.items() if sampler == "uniform"][0]
        self.uniform = np.mean(uniform, 0)
        self.others = [key for key in self.setting if key[0] != "mosaic"]

    def keep(self, samplers):
        """The same, with these as the others."""
        kept = copy.copy(self)
        kept.others = [key for key in self.others if key[0] in samplers]
        return kept

    def find(self, pool, kappa, wanted):
        """The row of a setting of mosaic."""
        for (sampler, params), row in self.setting.items():
            said = dict(pair.split("=") for pair in params.split(", ")) if sampler == "mosaic" else {}
            if said and {"pool": pool, "kappa": kappa, **wanted}.items() <= said.items():
                return row
        return None

    def against(self, row, measure):
        """(excess, least excess of the others at this hardness or above): NaN where no other is as hard."""
        line = front([(self.setting[key][measure], self.setting[key][5] - self.uniform[5]) for key in self.others])
        return row[5] - self.uniform[5], at(line, max(row[measure], line[0][0]))


def interval(values):
    values = np.asarray(values)
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return values.mean(), half


def said(values, unit=""):
    return re.sub(r"(?<!\d)0\.", ".", "{:.2f} ± {:.2f}".format(*interval(values))) + unit


def cell(encoders, pool, kappa, wanted, measure):
    """Ratio to the others' excess; a difference in points where theirs is next to nothing; "beyond" where none is as hard."""
    rows = [encoder.find(pool, kappa, wanted) for encoder in encoders]
    if any(row is None for row in rows):
        return "-"
    pairs = np.array([encoder.against(row, measure) for encoder, row in zip(encoders, rows)])
    if np.isnan(pairs).any():
        return "beyond"
    softer = all(row[measure] < encoder.uniform[measure] for encoder, row in zip(encoders, rows))
    if pairs[:, 1].min() < LEAST:
        return ("softer, " if softer else "") + said(pairs[:, 0] - pairs[:, 1], " pt")
    return said(pairs[:, 0] / pairs[:, 1])


def verdict(encoders, measure, cases, pool="10000"):
    """By the mean over cases of what mosaic has beyond the others, in points: its interval over encoders."""
    values, beyond = [], 0
    for encoder in encoders:
        rows = [encoder.find(pool, "0.01", wanted) for wanted, _ in cases]
        if any(row is None for row in rows):
            return "-"
        pairs = np.array([encoder.against(row, measure) for row in rows])
        kept = ~np.isnan(pairs[:, 1])
        beyond += (~kept).sum()
        if kept.any():
            values.append((pairs[kept, 0] - pairs[kept, 1]).mean())
    if not values:
        return "leads (beyond)"
    mean, half = interval(values)  # of one encoder NaN, which decides nothing
    word = "leads" if mean + half < 0 else "behind" if mean - half > 0 else "open"
    return f"{word} ({said(values)}" + (f"; {beyond} beyond)" if beyond else ")")


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def describe(path):
    with h5py.File(path) as file:
        labels = file["labels"][:]
    sizes = np.sort(np.bincount(labels[labels >= 0]))
    return [str(len(labels)), str((sizes > 0).sum()), f"{np.median(sizes[sizes > 0]):.0f}"]


def main():
    output, kinds, about = sys.argv[1], {}, {}
    for folder in sorted({os.path.dirname(os.path.dirname(path)) for path in glob.glob(output + "/*/*/results.h5")}):
        found, kind = {}, os.path.basename(folder)
        for path in sorted(glob.glob(folder + "/*/results.h5")):
            read(path, found)
        kinds[kind] = [Encoder(settings) for settings in found.values()]
        about[kind] = describe(f"{output}/encoders/{kind}-1.h5")
    print("## Data\n")
    table(["kind", "items", "classes", "median class", "encoders", "Uniform's false negatives (%)"],
          [[kind, *about[kind], str(len(encoders)), said([encoder.uniform[5] for encoder in encoders])]
           for kind, encoders in kinds.items()])
    print("## Verdicts: excess less that of the others, in points, pool 10,000\n")
    with open(f"{output}/samplers.json", encoding="utf-8") as file:
        partitions = {sampler["name"] for sampler in json.load(file)["samplers"] if "partition" in sampler["flags"]}
    for others in ("", ", against those that take every item once an epoch"):
        for title, cases in (("lambda .5, .7 and .9", MOSAICS[:3]), ("a 3, lambda 8 and 16", MOSAICS[3:])):
            table([title + others, *MEASURES],
                  [[kind, *(verdict([e.keep(partitions) if others else e for e in encoders], m, cases)
                            for m in range(len(MEASURES)))] for kind, encoders in kinds.items()])
    for m, measure in enumerate(MEASURES):
        print(f"## At equal {measure}: excess over that of the others, pools of 3,300 / 10,000\n")
        table(["kind", *(name for _, name in MOSAICS)],
              [[kind, *(" / ".join(cell(encoders, pool, "0.01", wanted, m) for pool in ("3300", "10000"))
                        for wanted, _ in MOSAICS)] for kind, encoders in kinds.items()])
    print("## Kappa: pool 10,000, lambda .5 / .9\n")
    for m in (0, 4):
        table([f"kind ({MEASURES[m]})", "kappa .001", ".003", ".01", ".03"],
              [[kind, *(" / ".join(cell(encoders, "10000", kappa, MOSAICS[i][0], m) for i in (0, 2))
                        for kappa in ("0.001", "0.003", "0.01", "0.03"))] for kind, encoders in kinds.items()])
    print("## Processor time of a batch, builds among it, in ms: median, least and most over encoders and settings\n")
    names = sorted({sampler for encoders in kinds.values() for e in encoders for sampler, _ in e.setting})
    rows = []
    for name in names:
        cost = [row[6] for encoders in kinds.values() for e in encoders for (s, _), row in e.setting.items() if s == name]
        rows.append([name, f"{np.median(cost):.2f}", f"{min(cost):.2f}", f"{max(cost):.2f}"])
    table(["sampler", "median", "least", "most"], rows)


if __name__ == "__main__":
    main()
