#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do batches tell what trains better? The third experiment of docs/notes/trials.md.

    trials-batches.py                      prints rank correlations, of trials-samplers.csv and trials-batches.csv
    trials-batches.py --outcome            prints the trainings as `hardneg board --outcome` reads them
    trials-batches.py HARDNEG DATA OUT     measures the samplers' batches on Uniform's encoder of each set, and writes trials-batches.csv

DATA and OUT are those of `trials.py samplers`. Needs numpy and scipy."""
import csv
import io
import pathlib
import subprocess
import sys

import numpy as np
from scipy import stats

HERE = pathlib.Path(__file__).parent
OUTCOMES = {"true_mrr_10": "MRR@10, all packages", "mrr_test": "MRR, test packages"}
BATCHES = {"true_mean": "mean cosine of true negatives", "true_lme": "their log-mean-exp", "hard_true_mean": "the hardest", "gap": "gap of the loss",
           "cost_s": "seconds a batch"}
ENTRIES = {"mosaic .5": "mosaic", "mosaic .7": "mosaic", "mosaic .9": "mosaic"}


def read(name):
    with open(HERE / name, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def setting_of(row):
    return f"mosaic {float(row['opt_lambda']):.1f}".replace("0.", ".") if row["sampler"] == "mosaic" else row["sampler"]


def export(program, folder, table):
    return list(csv.DictReader(io.StringIO(subprocess.run([program, "export", folder, "--csv", "--table", table], check=True, capture_output=True, text=True).stdout)))


def measure(program, data, out):
    trained = read("trials-samplers.csv")
    found = []
    for part in sorted({row["set"] for row in trained} - {"tune"}):
        rate, temperature = next((row["rate"], row["temperature"]) for row in trained if row["set"] == part and row["setting"] == "uniform")
        folder = pathlib.Path(out, f"batches-{part}")
        folder.mkdir(exist_ok=True)
        subprocess.run([program, "train", "-q", "-c", HERE / "train-trials.yaml", "--data", data, "-o", folder / "train", "--threads", "1", "--workers", "1", "--set",
                        f"task.pairs.data=beir/{part}", "--set", "task.pairs.held=0.2", "--set", f"adam.rate={rate}", "--set", f"temperature={temperature}",
                        "--set", "snapshots={every: 1000}"], check=True, stdout=subprocess.DEVNULL)
        (series,) = (folder / "train").glob("runs/*/series.h5")
        last = export(program, folder / "train", "training")[-1]["step"]
        subprocess.run([program, "run", "-q", "-c", HERE / "trials-batches.yaml", "-o", folder / "run", "--threads", "1", "--set", f"snapshots=[{series.resolve()}]",
                        "--set", f"steps=[{last}]", "--set", f"temperature={temperature}"], check=True, stdout=subprocess.DEVNULL)
        rows = export(program, folder / "run", "runs")
        for setting in dict.fromkeys(map(setting_of, rows)):
            own = [row for row in rows if setting_of(row) == setting]
            cost = [float(row["cost_s"]) + float(row["cost_g_over_t"] or 0) for row in own]
            value = {c: np.mean([float(row[c]) for row in own]) for c in BATCHES} | {"cost_s": np.mean(cost)}
            found.append([part, setting, *(f"{value[c]:.6g}" for c in BATCHES)])
    with open(HERE / "trials-batches.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([["set", "setting", *BATCHES], *found])


def outcome():
    rows = [row for row in read("trials-samplers.csv") if row["set"] != "tune" and row["setting"] != "uniform again"]
    entry = {name: ENTRIES.get(name, name) for name in {row["setting"] for row in rows}}
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["entry", "data", "seed", *OUTCOMES.values()])
    for key in dict.fromkeys((entry[row["setting"]], row["set"], row["seed"]) for row in rows):
        own = [row for row in rows if (entry[row["setting"]], row["set"], row["seed"]) == key]
        writer.writerow([*key, *(f"{np.mean([float(row[c]) for row in own]):.3f}" for c in OUTCOMES)])


def show():
    trained, batches = [row for row in read("trials-samplers.csv") if row["set"] != "tune"], read("trials-batches.csv")
    parts, settings = sorted({row["set"] for row in batches}), [s for s in dict.fromkeys(row["setting"] for row in batches) if s != "uniform"]
    gains = {c: np.array([[np.mean([float(r[c]) for r in trained if r["set"] == part and r["setting"] == s]) -
                           np.mean([float(r[c]) for r in trained if r["set"] == part and r["setting"] == "uniform"]) for s in settings] for part in parts]) for c in OUTCOMES}
    values = {b: np.array([[next(float(r[b]) for r in batches if r["set"] == part and r["setting"] == s) for s in settings] for part in parts]) for b in BATCHES}
    rho = {(b, c): np.array([stats.spearmanr(x, y)[0] for x, y in zip(values[b], gains[c])]) for b in BATCHES for c in OUTCOMES}
    p = [stats.ttest_1samp(r, 0).pvalue for r in rho.values()]
    order, holm = np.argsort(p), np.empty(len(p))
    holm[order] = np.minimum(1, np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1)))
    print(f"Spearman's correlation over {len(settings)} settings, mean over {len(parts)} sets\n\n| | " + " | ".join(OUTCOMES.values()) + " |\n| --- | --- | --- |")
    for b, title in BATCHES.items():
        cells = []
        for c in OUTCOMES:
            r = rho[b, c]
            cells.append(f"{r.mean():+.2f} ± {stats.t.ppf(.975, len(r) - 1) * r.std(ddof=1) / len(r) ** .5:.2f}" + ("*" if holm[list(rho).index((b, c))] < .05 else ""))
        print(f"| {title} | " + " | ".join(cells) + " |")


if sys.argv[1:] == ["--outcome"]:
    outcome()
elif len(sys.argv) == 4:
    measure(*sys.argv[1:])
else:
    show()
