#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of docs/notes/front-and-training.md from the folders of its trainings:

    front-and-training.py [--seeds N] [--runs FILE] [HARDNEG FOLDER...]

HARDNEG: the program, which measures the batches of each run's series and keeps what it found below the first FOLDER/batches.
FOLDERs are of one recipe. N: the number of seeds from 1 on that count (default 8). A place (batch norm, temperature) is
reported when all settings have them there. FILE: a table of runs (CSV), which are taken in, and to which those of the folders
are added. Needs h5py, numpy and scipy."""
import argparse
import csv
import itertools
import os
import subprocess

import h5py
import numpy as np
from scipy import stats

OUTCOMES = (("knn_acc", "kNN on z"), ("probe_acc", "linear probe on h"))
BATCHES = (("fn_ratio", "false-negative ratio"), ("hardness", "mean cosine of true negatives"), ("gap", "gap"))
LAMBDAS = (0, 0.3, 0.7, 0.9)
STEPS = {"views-mlp": 800, "cnn": 2340}
UNIFORM = "uniform"
ORDER = (UNIFORM, "batchsampler", "knn", "gcbs", "mosaic 0", "mosaic 0.3", "mosaic 0.7", "mosaic 0.9",
         "uniform, hcl", "mosaic 0, hcl")


KEY = ("batch_norm", "temperature", "setting", "seed")
VALUES = [c for c, _ in OUTCOMES] + [f"untrained {c}" for c, _ in OUTCOMES] + [c for c, _ in BATCHES]


def read_table(path):
    """What write_table() has written, if anything."""
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8", newline="") as file:
        return {((row["batch_norm"] == "yes", float(row["temperature"])), row["setting"], int(row["seed"])):
                {column: float(row[column]) for column in VALUES} for row in csv.DictReader(file)}


def write_table(path, runs):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([*KEY, *VALUES])
        for ((batch_norm, temperature), name, seed), run in sorted(runs.items()):
            out.writerow(["yes" if batch_norm else "no", f"{temperature:g}", name, seed, *(f"{run[c]:.9g}" for c in VALUES)])


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def percent(share):
    """Of 10,000 images; as a table of runs has it."""
    return round(100 * float(share), 6)


def setting(row):
    name = text(row["sampler"])
    if name == "mosaic":
        name += " " + dict(pair.split("=") for pair in text(row["params"]).split(", "))["lambda"]
    return name + (", hcl" if text(row["weighting"]) == "hcl" else "")


def place(row):
    return "batch_norm=true" in text(row["task_params"]), float(row["temperature"])


def table(group):
    return [dict(zip(group, values)) for values in zip(*(group[name][:] for name in group))]


def read_runs(folder):
    """{(place, setting, seed): run} of the finished cells, whose accuracies are those of the last step, beside those of
    the untrained encoder at the first."""
    found = {}
    with h5py.File(f"{folder}/results.h5") as file:
        runs, steps_of_all = table(file["runs"]), table(file["training"])
    for i, row in enumerate(runs):
        training = [step for step in steps_of_all if step["run"] == i]
        key = text(row["run_key"])
        assert text(row["status"]) == "ok", f"{key}: failed"
        steps = STEPS[text(row["task"])]
        assert training[0]["step"] == 0 and training[-1]["step"] == steps, f"{key}: other steps than the plan's"
        found[place(row), setting(row), int(row["seed"])] = {
            "sampler": text(row["sampler"]), "params": text(row["params"]), "temperature": float(row["temperature"]),
            "steps": steps,
            "series": f"{folder}/runs/{key[:16]}/series.h5",
            **{column: percent(training[-1][column]) for column, _ in OUTCOMES},
            **{f"untrained {column}": percent(training[0][column]) for column, _ in OUTCOMES}}
    return found


def options(params):
    return "{" + params.replace("=", ": ") + "}"


def measure(program, folders, runs):
    """Adds to every run what its own sampler's batches of its own series are like, mean over half of the steps and all."""
    groups = {}
    for key, run in runs.items():
        groups.setdefault((run["sampler"], run["params"], *key[0], key[2]), []).append((key, run))
    for (sampler, params, batch_norm, temperature, seed), members in sorted(groups.items()):
        name = f"{sampler}-{params}-{batch_norm}-{temperature}-{seed}".replace(" ", "")
        target, last = f"{folders[0]}/batches/{name}", members[0][1]["steps"]
        if not os.path.exists(f"{target}/results.h5"):
            os.makedirs(target, exist_ok=True)
            with open(f"{target}/job.in.yaml", "w", encoding="utf-8") as job:
                job.write("version: 1\nsnapshots: [" + ", ".join(os.path.abspath(r["series"]) for _, r in members) + "]\n"
                          f"steps: [{last // 2}, {last}]\nbatch_size: 256\nepochs: 1\nsamplers: [{sampler}: {options(params)}]\n"
                          f"temperature: {temperature}\nmetrics: [fn_ratio, hardness, histogram, gap]\nseeds: {seed}\n")
            subprocess.run([program, "run", "-q", "-c", f"{target}/job.in.yaml", "-o", target], check=True)
        with h5py.File(f"{target}/results.h5") as file:
            table, kind = file["runs"], [text(k) for k in file["hist/kind"][:]].index("true_negative")
            count, middle = file["hist/counts"][:, kind, :].astype(float), file["hist/bin"][:]
            hardness = count @ middle / count.sum(1)
            of = [text(v) for v in table["dataset_sha256"][:]]
            values = {"fn_ratio": 100 * table["fn_ratio"][:], "hardness": hardness, "gap": table["gap"][:]}
        for key, run in members:
            with h5py.File(run["series"]) as series:
                sha = text(series.attrs["content_sha256"])
            rows = [i for i, one in enumerate(of) if one == sha]
            assert len(rows) == 2, f"{run['series']}: {len(rows)} rows"
            run.update({column: float(np.mean(v[rows])) for column, v in values.items()})


def interval(values):
    """Mean and half of its 95 % interval."""
    values = np.asarray(values)
    return values.mean(), stats.t.ppf(.975, len(values) - 1) * values.std(ddof=1) / len(values) ** .5


def holm(p):
    order, worst, out = np.argsort(p), 0, np.empty(len(p))
    for rank, i in enumerate(order):
        worst = max(worst, min(1, p[i] * (len(p) - rank)))
        out[i] = worst
    return out


def say(values, digits=2):
    mean, half = interval(values)
    return f"{mean:+.{digits}f} ± {half:.{digits}f}"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("folders", nargs="*")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--runs")
    given, runs = parser.parse_args(), {}
    for folder in given.folders:
        runs = {**read_runs(folder), **runs}
    measure(given.program, given.folders, runs)
    runs = {**read_table(given.runs), **runs}
    if given.runs and given.folders:
        write_table(given.runs, runs)
    seeds = range(1, 1 + given.seeds)
    names = [name for name in ORDER if any(key[1] == name for key in runs)]
    lambdas = [value for value in LAMBDAS if f"mosaic {value:g}" in names]
    places = [at for at in sorted({key[0] for key in runs}, reverse=True)
              if all((at, *key) in runs for key in itertools.product(names, seeds))]
    runs = {key: run for key, run in runs.items() if key[0] in places and key[2] in seeds}
    print(f"{len(runs)} runs, {len(seeds)} seeds\n")

    def column(at, name, what):
        return np.array([runs[at, name, seed][what] for seed in seeds])

    for at in places:
        print(f"### {'With' if at[0] else 'Without'} batch norm, temperature {at[1]:g}\n")
        gained = [say(column(at, UNIFORM, c) - column(at, UNIFORM, f"untrained {c}")) for c, _ in OUTCOMES]
        print("Uniform's training gains " + ", ".join(f"{g} ({label})" for g, (_, label) in zip(gained, OUTCOMES)) + ".\n")
        others = [name for name in names if name != UNIFORM]
        tested = {}
        for c, _ in OUTCOMES:
            p = [stats.ttest_rel(column(at, name, c), column(at, UNIFORM, c)).pvalue for name in others]
            tested[c] = dict(zip(others, holm(p)))
        rows = []
        for name in names:
            row = [name]
            for c, _ in OUTCOMES:
                row.append(f"{column(at, name, c).mean():.2f}")
                row.append("" if name == UNIFORM else say(column(at, name, c) - column(at, UNIFORM, c))
                           + ("*" if tested[c][name] < .05 else ""))
            row += [f"{column(at, name, 'fn_ratio').mean():.2f}", f"{column(at, name, 'hardness').mean():.3f}",
                    f"{column(at, name, 'gap').mean():.3f}"]
            rows.append(row)
        table(["setting", "kNN on z (%)", "– Uniform", "linear probe (%)", "– Uniform", "false negatives (%)",
               "mean cosine of true negatives", "gap (nat)"], rows)

    print("### Slope over lambda (points per unit), mean and 95 % interval over seeds\n")
    rows = []
    for at in places:
        row = [f"{'with' if at[0] else 'without'}, {at[1]:g}"]
        for c, _ in OUTCOMES:
            y = np.array([column(at, f"mosaic {value:g}", c) for value in lambdas])
            row.append(say([np.polyfit(lambdas, y[:, i], 1)[0] for i in range(len(seeds))]))
        rows.append(row)
    table(["batch norm, temperature"] + [label for _, label in OUTCOMES], rows)

    print("### Rank correlation over the settings, mean and 95 % interval over seeds\n")
    rows = []
    for at in places:
        for c, label in OUTCOMES:
            row = [f"{'with' if at[0] else 'without'}, {at[1]:g}", label]
            for what, _ in BATCHES:
                row.append(say([stats.spearmanr([runs[at, n, s][what] for n in names],
                                                [runs[at, n, s][c] for n in names])[0] for s in seeds]))
            rows.append(row)
    table(["batch norm, temperature", "outcome"] + [label for _, label in BATCHES], rows)


main()
