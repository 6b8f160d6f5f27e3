#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do batches tell what trains better? Of docs/notes/trials.md, for a KIND of its trials: samplers, functions, documents or images.

    trials-batches.py KIND                      prints rank correlations, of trials-KIND.csv and trials-batches-KIND.csv
    trials-batches.py KIND HARDNEG DATA OUT     measures the samplers' batches on Uniform's encoder of each set, and writes trials-batches-KIND.csv
    trials-batches.py --outcome                 prints the trainings of the board's training column as `hardneg board --outcome` reads them

DATA and OUT are those of `trials.py KIND`. Needs numpy and scipy."""
import csv
import io
import pathlib
import subprocess
import sys

import numpy as np
from scipy import stats

HERE = pathlib.Path(__file__).parent
BATCHES = {"true_mean": "mean cosine of true negatives", "true_lme": "their log-mean-exp", "hard_true_mean": "the hardest", "gap": "gap of the loss",
           "cost_s": "seconds a batch", "fn_ratio": "false negatives"}
# Of a kind: the job, what a set is for it, the settings' batch size and loss, outcomes, what batches are measured; apart: not in the board's training column.
KINDS = {
    "samplers": {"job": "train-trials.yaml", "set": ["task.pairs.data=beir/{}", "task.pairs.held=0.2"], "batches": ["batch_size=128"], "data": "set",
                 "outcomes": {"true_mrr_10": "MRR@10, all packages", "mrr_test": "MRR, test packages"}, "measured": list(BATCHES)[:-1]},
    "functions": {"job": "train-trials.yaml", "set": ["task.pairs.data=beir/{}", "task.pairs.held=0.2"], "batches": ["batch_size=128"], "data": "functions-",
                  "outcomes": {"true_mrr_10": "MRR@10, all functions", "mrr_test": "MRR, test functions"}, "measured": list(BATCHES)[:-1], "apart": True},
    "documents": {"job": "train-trials-documents.yaml", "set": ["task.node.data=documents/{}"], "batches": ["batch_size=128"], "data": "documents-",
                  "outcomes": {"probe_acc": "probe, documents"}, "measured": list(BATCHES)},
    "images": {"job": "train-trials-images.yaml", "set": ["task.views-mlp.data=images/{}"], "data": "images-",
               "batches": ["batch_size=256", "samplers=[uniform, knn, gcbs: {keep: 256}, mosaic: {lambda: 0.7}, batchsampler: {M: 1000, K: 100}, hard-negative, stratified]"],
               "outcomes": {"probe_acc": "probe, images"}, "measured": list(BATCHES)},
}
# Settings that are no samplers of their own.
BESIDE = ("uniform", "uniform again", "hcl")
ENTRIES = {"mosaic .5": "mosaic", "mosaic .7": "mosaic", "mosaic .9": "mosaic"}


def read(name):
    with open(HERE / name, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def setting_of(row):
    return f"mosaic {float(row['opt_lambda']):.1f}".replace("0.", ".") if row["sampler"] == "mosaic" else row["sampler"]


def export(program, folder, table):
    return list(csv.DictReader(io.StringIO(subprocess.run([program, "export", folder, "--csv", "--table", table], check=True, capture_output=True, text=True).stdout)))


def measure(name, program, data, out):
    kind, trained = KINDS[name], read(f"trials-{name}.csv")
    found = []
    for part in sorted({row["set"] for row in trained} - {"tune"}):
        first = next(row for row in trained if row["set"] == part and row["setting"] == "uniform")
        folder = pathlib.Path(out, f"batches-{part}")
        folder.mkdir(exist_ok=True)
        sets = [word for option in (*kind["set"], f"adam.rate={first['rate']}", f"temperature={first['temperature']}", f"seeds=[{first['seed']}]", "snapshots={every: 100000}")
                for word in ("--set", option.replace("{}", part))]
        subprocess.run([program, "train", "-q", "-c", HERE / kind["job"], "--data", data, "-o", folder / "train", "--cache", pathlib.Path(out, "cache"),
                        "--threads", "1", "--workers", "1", *sets], check=True, stdout=subprocess.DEVNULL)
        (series,) = (folder / "train").glob("runs/*/series.h5")
        last = export(program, folder / "train", "training")[-1]["step"]
        sets = [word for option in (f"snapshots=[{series.resolve()}]", f"steps=[{last}]", f"temperature={first['temperature']}", *kind["batches"]) for word in ("--set", option)]
        subprocess.run([program, "run", "-q", "-c", HERE / "trials-batches.yaml", "-o", folder / "run", "--threads", "1", *sets], check=True, stdout=subprocess.DEVNULL)
        rows = export(program, folder / "run", "runs")
        for setting in dict.fromkeys(map(setting_of, rows)):
            own = [row for row in rows if setting_of(row) == setting]
            cost = [float(row["cost_s"]) + float(row["cost_g_over_t"] or 0) for row in own]
            value = {c: np.mean([float(row[c]) for row in own]) for c in kind["measured"]} | {"cost_s": np.mean(cost)}
            found.append([part, setting, *(f"{value[c]:.6g}" for c in kind["measured"])])
    with open(HERE / f"trials-batches-{name}.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([["set", "setting", *kind["measured"]], *found])


def outcome():
    kinds = {name: kind for name, kind in KINDS.items() if not kind.get("apart") and (HERE / f"trials-{name}.csv").exists()}
    titles = [title for kind in kinds.values() for title in kind["outcomes"].values()]
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["entry", "data", "seed", *titles])
    for name, kind in kinds.items():
        rows = [row for row in read(f"trials-{name}.csv") if row["set"] != "tune" and row["setting"] not in BESIDE[1:]]
        cells = {}
        for row in rows:
            cells.setdefault((ENTRIES.get(row["setting"], row["setting"]), row["set"].replace("set", kind["data"]), row["seed"]), []).append(row)
        for key, own in cells.items():
            value = {title: f"{np.mean([float(row[c]) for row in own]):.3f}" for c, title in kind["outcomes"].items()}
            writer.writerow([*key, *(value.get(title, "") for title in titles)])


def show(name):
    kind = KINDS[name]
    trained, batches = [row for row in read(f"trials-{name}.csv") if row["set"] != "tune"], read(f"trials-batches-{name}.csv")
    parts = sorted({row["set"] for row in batches})
    settings = [s for s in dict.fromkeys(row["setting"] for row in batches) if s not in BESIDE and any(row["setting"] == s for row in trained)]

    def mean(part, setting, column):
        return np.mean([float(row[column]) for row in trained if row["set"] == part and row["setting"] == setting])
    gains = {c: np.array([[mean(part, s, c) - mean(part, "uniform", c) for s in settings] for part in parts]) for c in kind["outcomes"]}
    values = {b: np.array([[next(float(r[b]) for r in batches if r["set"] == part and r["setting"] == s) for s in settings] for part in parts]) for b in kind["measured"]}
    rho = {(b, c): np.array([stats.spearmanr(x, y)[0] for x, y in zip(values[b], gains[c])]) for b in values for c in gains}
    p = [stats.ttest_1samp(r, 0).pvalue for r in rho.values()]
    order, holm = np.argsort(p), np.empty(len(p))
    holm[order] = np.minimum(1, np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1)))
    print(f"Spearman's correlation over {len(settings)} settings, mean over {len(parts)} sets\n\n| | " + " | ".join(kind["outcomes"].values()) + " |\n| --- |" + " --- |" * len(gains))
    for b in values:
        cells = []
        for c in gains:
            r = rho[b, c]
            cells.append(f"{r.mean():+.2f} ± {stats.t.ppf(.975, len(r) - 1) * r.std(ddof=1) / len(r) ** .5:.2f}" + ("*" if holm[list(rho).index((b, c))] < .05 else ""))
        print(f"| {BATCHES[b]} | " + " | ".join(cells) + " |")


if sys.argv[1:] == ["--outcome"]:
    outcome()
elif len(sys.argv) == 5 and sys.argv[1] in KINDS:
    measure(*sys.argv[1:])
elif len(sys.argv) == 2 and sys.argv[1] in KINDS:
    show(sys.argv[1])
else:
    sys.exit(__doc__)
