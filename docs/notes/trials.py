#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments of docs/notes/trials.md.

    trials.py KIND                               prints the tables of a kind of trial (code, packages, samplers, functions, documents, twins, images), of its CSV
    trials.py KIND --figure FILE.svg             draws them, with gnuplot
    trials.py KIND --parts FOLDER DATA           makes the parts of documents (FOLDER: Cora) and images (FOLDER: CIFAR-10) in DATA
    trials.py KIND HARDNEG DATA OUT SEED...      trains what OUT does not hold yet, and writes the CSV anew: a row a run, values in points

DATA holds the parts tune and set1, set2 ... in a folder (beir, documents, images). Needs numpy and scipy."""
import csv
import io
import itertools
import pathlib
import subprocess
import sys

import numpy as np
from scipy import stats

OUTCOMES = {"true_mrr_10": "MRR@10, all FOUND", "mrr_test": "MRR, test FOUND", "true_recall_100": "recall@100"}


def negatives(n, low=None, high=None):
    """n mined negatives a query of the training's own documents, of a window of ranks; random ones without a window."""
    drawn = ["task.pairs.mined=true", f"task.pairs.min_rank={low}", f"task.pairs.max_rank={high}"] if low else ["task.pairs.mined=random"]
    return [*drawn, "task.pairs.among=train", f"task.pairs.negatives={n}", "task.pairs.mine_after=1"]


CODE = {
    "uniform": [],
    "uniform again": ["samplers=[{mosaic: {a: 0, lambda: 0, pool: 256}}]"],
    "gcbs": ["samplers=[gcbs]"],
    "mosaic": ["samplers=[{mosaic: {lambda: 0.5, pool: 2000}}]"],
    "4 mined": negatives(4, 31, 200),
    "4 random": ["task.pairs.mined=random", "task.pairs.negatives=4", "task.pairs.mine_after=1"],
    "hcl": ["weightings=[{hcl: {beta: 0.5, tau_plus: 0}}]"],
    "4 random of train": negatives(4),
}
PACKAGES = {name: CODE[name] for name in ("uniform", "uniform again", "gcbs", "mosaic", "hcl")} | {
    "knn": ["samplers=[knn]"],
    "batchsampler": ["samplers=[batchsampler]"],
    "1 random": negatives(1),
    "1 mined, 31": negatives(1, 31, 200),
    "4 random": negatives(4),
    "4 mined, 11": negatives(4, 11, 100),
    "4 mined, 31": negatives(4, 31, 200),
    "4 mined, 200": negatives(4, 200, 1000),
}
# The entries of the board (harness/reproduce/board/), a setting each.
SAMPLERS = {name: CODE[name] for name in ("uniform", "uniform again")} | {
    "gcbs": ["samplers=[{gcbs: {keep: 256}}]"],
    "mosaic .5": ["samplers=[{mosaic: {lambda: 0.5}}]"],
    "mosaic .7": ["samplers=[{mosaic: {lambda: 0.7}}]"],
    "mosaic .9": ["samplers=[{mosaic: {lambda: 0.9}}]"],
    "batchsampler": ["samplers=[{batchsampler: {M: 1000, K: 100}}]"],
    "jest": ["samplers=[{jest: {score: hard, scale: 20}}]"],
} | {name: [f"samplers=[{name}]"] for name in ("knn", "b3", "cde", "hard-negative", "ngame", "osgd", "stratified", "tas-b")}


HCL = {"hcl": ["weightings=[{hcl: {beta: 1, tau_plus: 0.1}}]"]}
# What the images bear: hard batches, clean ones, easy ones, a weighting.
FEW = {name: SAMPLERS[name] for name in ("uniform", "uniform again", "knn", "gcbs", "mosaic .7", "batchsampler", "hard-negative", "stratified")} | HCL
FEW["uniform again"] = ["samplers=[{mosaic: {a: 0, lambda: 0, pool: 512}}]"]  # a pool is of two batches or more
# On code, what its time bears: of mosaic two, and of what keeps to one cluster one.
OF_CODE = {name: setting for name, setting in SAMPLERS.items() if name not in ("mosaic .7", "tas-b")}
# Uniform under other names: pools of 2 to 21 batches, which cut the 21 of an epoch into 11, 7, 6, 5, 4, 3, 2 groups and one, and so draw otherwise.
TWINS = {"uniform": []} | {f"pool of {n}": [f"samplers=[{{mosaic: {{a: 0, lambda: 0, pool: {128 * n}}}}}]"] for n in (2, 3, 4, 5, 6, 7, 11, 21)}


class Kind:
    """Settings, grids of tuning (rates and temperatures), and questions: differences with Holm's correction, and beside it. `data` is the
    option that names a part, in `folder`; `alone` has the column of the features alone for each outcome that is measured, of which some
    are cited; `tuned_by` chooses rate and temperature, on the part tune. With `apart`, for parts of one set of data, each has seeds of its own:
    101, 102 ... for set1."""

    def __init__(self, table, sets, settings, grids, pairs, outcomes, alone, job, data, folder, beside=(), tuned_by=None, options=None, apart=True):
        here = pathlib.Path(__file__)
        self.file, self.job = here.with_name(table), here.with_name(job)
        self.sets, self.settings, self.grids, self.pairs, self.beside = sets, settings, grids, pairs, list(beside)
        self.outcomes, self.alone, self.tuned_by = outcomes, alone, tuned_by or list(alone)[0]
        self.data, self.folder, self.options, self.apart = data, folder, options or {"tune": [], "set": []}, apart
        self.columns = ["set", "setting", "rate", "temperature", "seed", *([tuned_by] if tuned_by else []), *alone, *alone.values()]


def of_pairs(table, found, sets, settings, grids, pairs, beside=(), cited=tuple(OUTCOMES)):
    """Trials on pairs of a query and what is FOUND."""
    return Kind(table, sets, settings, grids, pairs, {c: OUTCOMES[c].replace("FOUND", found) for c in cited}, {c: "tfidf_" + c for c in OUTCOMES},
                "train-trials.yaml", "task.pairs.data", "beir", beside, "valid_mrr",
                {"tune": ["task.pairs.held=0.05", "task.pairs.valid=0.2"], "set": ["task.pairs.held=0.2"]}, apart=False)


def of_samplers(task, folder, sets, settings, grids, outcomes, alone, table=None):
    """Trials of samplers on another task: each setting against Uniform."""
    return Kind(f"trials-{table or folder}.csv", sets, settings, [[f"adam.rate={rates}", f"temperature={temperatures}"] for rates, temperatures in grids], [(name, "uniform") for name in list(settings)[1:]],
                outcomes, alone, f"train-trials-{folder}.yaml", f"task.{task}.data", folder)


KINDS = {
    "code": of_pairs("trials.csv", "functions", 5, CODE, (["adam.rate=[0.00025, 0.0005, 0.001]"], ["temperature=[0.03, 0.1]"]),
                 [(name, "uniform") for name in list(CODE)[1:-1]] + [("4 mined", "4 random")],
                 [("4 random of train", "uniform"), ("4 mined", "4 random of train")]),
    "packages": of_pairs("trials-packages.csv", "packages", 8, PACKAGES, (["adam.rate=[0.00025, 0.0005, 0.001]", "temperature=[0.03, 0.05, 0.1]"],),
                     [(name, "uniform") for name in list(PACKAGES)[1:]] + [(f"4 mined, {k}", "4 random") for k in (11, 31, 200)]),
    "samplers": of_pairs("trials-samplers.csv", "packages", 8, SAMPLERS, (["adam.rate=[0.00025, 0.0005, 0.001]", "temperature=[0.03, 0.05, 0.1]"],),
                     [(name, "uniform") for name in list(SAMPLERS)[1:]], cited=("true_mrr_10", "mrr_test")),
    "functions": of_pairs("trials-functions.csv", "functions", 5, OF_CODE, (["adam.rate=[0.00025, 0.0005, 0.001, 0.002]", "temperature=0.03"], ["temperature=[0.02, 0.05]"]),
                          [(name, "uniform") for name in list(OF_CODE)[1:]]),
    "documents": of_samplers("node", "documents", 8, SAMPLERS | HCL, [([0.0003, 0.001, 0.003], [0.3, 0.5, 1])], {"probe_acc": "linear probe"}, {"probe_acc": "averaged_probe_acc"}),
    "twins": of_samplers("node", "documents", 8, TWINS, [([0.0003, 0.001, 0.003], [0.3, 0.5, 1])], {"probe_acc": "linear probe"}, {"probe_acc": "averaged_probe_acc"}, "twins"),
    "images": of_samplers("views-mlp", "images", 5, FEW, [([0.0005, 0.001, 0.002], [0.1, 0.2, 0.5]), (0.004, [0.1, 0.2])],
                          {"probe_acc": "linear probe of h"}, {"probe_acc": "features_probe_acc", "knn_acc": "features_knn_acc"}),
}
kind = KINDS.get((sys.argv + [""])[1]) or sys.exit(__doc__)


def export(program, folder, table):
    return list(csv.DictReader(io.StringIO(subprocess.run([program, "export", folder, "--csv", "--table", table], check=True, capture_output=True, text=True).stdout)))


def train(program, data, folder, setting, part, options):
    """Rows of the trainings of a setting on a part of the data, which are run where they are not there."""
    sets = [f"{kind.data}={kind.folder}/{part}", *kind.settings[setting], *options]
    subprocess.run([program, "train", "-q", "-c", kind.job, "--data", data, "-o", folder, "--cache", pathlib.Path(folder).parent / "cache", "--threads", "1", "--workers", "1",
                    *(word for s in sets for word in ("--set", s))], check=True, stdout=subprocess.DEVNULL)
    runs, rows = export(program, folder, "runs"), export(program, folder, "training")
    for i, run in enumerate(runs):
        own = [row for row in rows if int(row["run"]) == i]
        value = {**own[-1], **{c: own[0][c] for c in kind.alone.values()}}
        yield [part, setting, run["rate"], run["temperature"], run["seed"], *(f"{100 * float(value[c]):.3f}" if value[c] else "" for c in kind.columns[5:])]


def tuned(rows):
    """(rate, temperature) of each setting with the largest value on the part tune."""
    best = {}
    for row in rows:
        if row["set"] == "tune" and float(row[kind.tuned_by]) > float(best.get(row["setting"], {kind.tuned_by: 0})[kind.tuned_by]):
            best[row["setting"]] = row
    return {name: (row["rate"], row["temperature"]) for name, row in best.items()}


def run(program, data, out, seeds):
    rows = []
    for name in kind.settings:
        for i, grid in enumerate(kind.grids):
            rows += train(program, data, f"{out}/tune{i}-{name.replace(' ', '-')}", name, "tune", [*kind.options["tune"], *grid])
    chosen = tuned(dict(zip(kind.columns, row)) for row in rows)
    for seed in map(int, seeds):
        for k in range(1, kind.sets + 1):
            part, own = f"set{k}", seed + 100 * k * kind.apart
            for name, (rate, temperature) in chosen.items():
                rows += train(program, data, f"{out}/{part}-{seed}-{name.replace(' ', '-')}", name, part,
                              [*kind.options["set"], f"adam.rate={rate}", f"temperature={temperature}", f"seeds=[{own}]"])
            with open(kind.file, "w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([kind.columns, *rows])


def write_parts(source, data):
    """Of documents: tune is evaluated on the 500 that the source's split validates by, each set on 1,000 others; 20 of each class train the
    probe. Of images: tune is evaluated on the last batch of training, each set on one of the five other files; the other four train."""
    source, target = pathlib.Path(source), pathlib.Path(data, kind.folder)
    if kind.folder == "images":
        files = [source / name for name in ("test_batch.bin", *(f"data_batch_{i}.bin" for i in range(1, 6)))]
        for k in range(kind.sets + 1):
            part = target / (f"set{k}" if k else "tune")
            part.mkdir(parents=True, exist_ok=True)
            held = files[k - 1 if k else 5]
            for name, file in zip(("test_batch.bin", *(f"data_batch_{i}.bin" for i in range(1, 5))), (held, *(f for f in (files[:5] if k else files[1:5]) if f != held))):
                (part / name).unlink(missing_ok=True)
                (part / name).symlink_to(file.resolve())
        return

    def table(suffix):
        return [line.split() for line in (source / f"cora.{suffix}").read_text().splitlines() if not line.startswith("#")]
    label = np.array([int(words[1]) for words in table("features")])
    held = np.array([int(item) for item, name in table("split") if name == "val"])
    others = np.setdiff1d(np.arange(len(label)), held)
    for k in range(kind.sets + 1):
        draw = np.random.default_rng(k)
        fit = np.concatenate([draw.permutation(others[label[others] == c])[:20] for c in np.unique(label)])
        part = target / (f"set{k}" if k else "tune")
        part.mkdir(parents=True, exist_ok=True)
        for suffix in ("features", "edges"):
            (part / f"documents.{suffix}").write_text((source / f"cora.{suffix}").read_text())
        name = np.full(len(label), "none", dtype=object)
        name[fit], name[held if k == 0 else draw.permutation(np.setdiff1d(others, fit))[:1000]] = "train", "test"
        (part / "documents.split").write_text("".join(f"{i} {n}\n" for i, n in enumerate(name)))


def holm(p):
    order, out = np.argsort(p), np.empty(len(p))
    out[order] = np.minimum(1, np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1)))
    return out


def half(d):
    return stats.t.ppf(.975, len(d) - 1) * d.std(ddof=1) / len(d) ** .5


def cells(values, form):
    return " | ".join(f"{m:{form}} ± {half(c):.2f}" for m, c in zip(values.mean(0), values.T))


def show_tuning(rows):
    value = {(row["setting"], row["rate"], row["temperature"]): row[kind.tuned_by] for row in rows if row["set"] == "tune"}
    points = sorted({key[1:] for key in value}, key=lambda point: [float(x) for x in reversed(point)])
    print(f"| {kind.tuned_by} at rate, temperature | " + " | ".join(map(", ".join, points)) + " |\n| --- |" + " --- |" * len(points))
    for name in kind.settings:
        mark = [f"**{float(value[name, *point]):.2f}**" if point == tuned(rows)[name] else f"{float(value[name, *point]):.2f}" for point in points]
        print(f"| {name} | " + " | ".join(mark) + " |")
    print()


def load():
    """Rows, sets, seeds that all of them have, and values(name, columns): [sets, columns], means over these seeds."""
    with open(kind.file, encoding="utf-8") as file:
        rows = [{**row, "seed": str(int(row["seed"]) % 100)} for row in csv.DictReader(file)]
    seeds, parts = [sorted({row[c] for row in rows if row["set"] != "tune"}) for c in ("seed", "set")]
    whole = [s for s in seeds if sum(row["seed"] == s and row["set"] != "tune" for row in rows) == len(parts) * len(kind.settings)]

    def values(name, columns):
        return np.array([[np.mean([float(row[c]) for row in rows if row["setting"] == name and row["set"] == part and row["seed"] in whole])
                          for c in columns] for part in parts])
    return rows, parts, whole, values


def show():
    rows, parts, whole, values = load()
    show_tuning(rows)
    print(f"{len(parts)} sets, seeds {', '.join(whole)}\n")
    print("| | " + " | ".join(kind.outcomes.values()) + " |\n| --- |" + " --- |" * len(kind.outcomes))
    features = values("uniform", [kind.alone[c] for c in kind.outcomes])
    print(f"| {'cosine of the features' if kind.folder == 'beir' else 'the features alone'} | {cells(features, '.2f')} |\n| Uniform | {cells(values('uniform', kind.outcomes), '.2f')} |")
    print(f"| Uniform, beyond its features | {cells(values('uniform', kind.outcomes) - features, '+.2f')} |\n")
    print("| difference | rate, temperature | " + " | ".join(kind.outcomes.values()) + " |\n| --- | --- |" + " --- |" * len(kind.outcomes))
    chosen = tuned(rows)
    print(f"| Uniform | {', '.join(chosen['uniform'])} |" + " |" * len(kind.outcomes))
    d = [values(a, kind.outcomes) - values(b, kind.outcomes) for a, b in kind.pairs + kind.beside]
    p = holm([stats.ttest_1samp(c, 0).pvalue for x in d[:len(kind.pairs)] for c in x.T]).reshape(len(kind.pairs), -1)
    for (a, b), x, q in zip(kind.pairs + kind.beside, d, [*p, *np.ones((len(kind.beside), len(kind.outcomes)))]):
        text = [f"{m:+.2f} ± {half(c):.2f}" + ("*" if r < .05 else " =" if abs(m) + half(c) <= .5 else "") for m, c, r in zip(x.mean(0), x.T, q)]
        print(f"| {a} to {b} | {', '.join(chosen[a])} | " + " | ".join(text) + " |")


def show_rounds():
    """Of twins, each round by itself: how many 95 % intervals leave out 0, to Uniform and of all pairs."""
    rows, parts, whole, _ = load()
    (column,) = kind.outcomes
    value = {(row["setting"], row["set"], row["seed"]): float(row[column]) for row in rows if row["set"] != "tune"}
    for seed in whole:
        of = {name: np.array([value[name, part, seed] for part in parts]) for name in kind.settings}
        apart = {(a, b): abs((of[a] - of[b]).mean()) > half(of[a] - of[b]) for a, b in itertools.combinations(kind.settings, 2)}
        p = holm([stats.ttest_1samp(of[name] - of["uniform"], 0).pvalue for name in list(kind.settings)[1:]])
        print(f"\nround {seed}: 0 is left out by {sum(v for (a, _), v in apart.items() if a == 'uniform')} of {len(of) - 1} intervals to uniform, "
              f"{sum(apart.values())} of {len(apart)} of pairs; after Holm {sum(p < .05)} differ")


def draw(target):
    """Differences of every set, with means and intervals."""
    values = load()[3]
    pairs = kind.pairs + kind.beside
    names = [f"{a} to {b}" for a, b in pairs]
    script = [f"set terminal svg size 1100,400 noenhanced font 'sans,13' background '#ffffff'; set output '{target}'", "set multiplot",
              f"set yrange [{len(pairs) - .5}:-.5]; set border 1; set tics nomirror; set xtics 1; set bmargin 3.5; set key off", "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#999999'"]
    for k, (column, title) in enumerate(kind.outcomes.items()):
        d = [(values(a, [column]) - values(b, [column]))[:, 0] for a, b in pairs]
        script += [f"$m{k} << EOD", *(f"{x.mean()} {y} {half(x)}" for y, x in enumerate(d)), "EOD", f"$p{k} << EOD", *(f"{v} {y + .22}" for y, x in enumerate(d) for v in x), "EOD",
                   f"set xlabel 'points of {title}'; set lmargin {27 if k == 0 else 2}; set rmargin 2; set origin {(0, .45, .725)[k]},0; set size {(.45, .275, .275)[k]},1",
                   "set ytics scale 0 (" + ", ".join(f"'{n if k == 0 else ''}' {y}" for y, n in enumerate(names)) + ")",
                   f"plot $p{k} with points pt 6 ps .5 lc rgb '#888888', $m{k} using 1:2:3 with xerrorbars pt 7 ps .8 lw 2 lc rgb '#0072b2'"]
    subprocess.run(["gnuplot"], input="\n".join(script + ["unset multiplot"]), text=True, check=True)


if sys.argv[2:3] == ["--figure"]:
    draw(sys.argv[3])
elif sys.argv[2:3] == ["--parts"]:
    write_parts(*sys.argv[3:5])
elif len(sys.argv) > 2:
    run(*sys.argv[2:5], sys.argv[5:] or ["1"])
else:
    show()
    if sys.argv[1] == "twins":
        show_rounds()
