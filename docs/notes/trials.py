#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The experiments of docs/notes/trials.md.

    trials.py KIND                               prints the tables of a kind of trial (code, packages, samplers), of its CSV
    trials.py KIND --figure FILE.svg             draws them, with gnuplot
    trials.py KIND HARDNEG DATA OUT SEED...      trains what OUT does not hold yet, and writes the CSV anew: a row a run, values in points

DATA holds beir/tune and beir/set1, beir/set2 ... Needs numpy and scipy."""
import csv
import io
import pathlib
import subprocess
import sys

import numpy as np
from scipy import stats

JOB = pathlib.Path(__file__).with_name("train-trials.yaml")
OUTCOMES = {"true_mrr_10": "MRR@10, all FOUND", "mrr_test": "MRR, test FOUND", "true_recall_100": "recall@100"}
COLUMNS = ["set", "setting", "rate", "temperature", "seed", "valid_mrr", *OUTCOMES, *("tfidf_" + c for c in OUTCOMES)]


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


class Kind:
    """Settings, grids of tuning (rates and temperatures), and questions: differences with Holm's correction, and beside it."""

    def __init__(self, name, found, sets, settings, grids, pairs, beside=(), cited=tuple(OUTCOMES)):
        self.file = pathlib.Path(__file__).with_name(name)
        self.outcomes = {c: OUTCOMES[c].replace("FOUND", found) for c in cited}
        self.sets, self.settings, self.grids, self.pairs, self.beside = sets, settings, grids, pairs, list(beside)


KINDS = {
    "code": Kind("trials.csv", "functions", 5, CODE, (["adam.rate=[0.00025, 0.0005, 0.001]"], ["temperature=[0.03, 0.1]"]),
                 [(name, "uniform") for name in list(CODE)[1:-1]] + [("4 mined", "4 random")],
                 [("4 random of train", "uniform"), ("4 mined", "4 random of train")]),
    "packages": Kind("trials-packages.csv", "packages", 8, PACKAGES, (["adam.rate=[0.00025, 0.0005, 0.001]", "temperature=[0.03, 0.05, 0.1]"],),
                     [(name, "uniform") for name in list(PACKAGES)[1:]] + [(f"4 mined, {k}", "4 random") for k in (11, 31, 200)]),
    "samplers": Kind("trials-samplers.csv", "packages", 8, SAMPLERS, (["adam.rate=[0.00025, 0.0005, 0.001]", "temperature=[0.03, 0.05, 0.1]"],),
                     [(name, "uniform") for name in list(SAMPLERS)[1:]], cited=("true_mrr_10", "mrr_test")),
}
kind = KINDS.get((sys.argv + [""])[1]) or sys.exit(__doc__)


def export(program, folder, table):
    return list(csv.DictReader(io.StringIO(subprocess.run([program, "export", folder, "--csv", "--table", table], check=True, capture_output=True, text=True).stdout)))


def train(program, data, folder, setting, part, options):
    """Rows of the trainings of a setting on a part of the data, which are run where they are not there."""
    sets = [f"task.pairs.data=beir/{part}", *kind.settings[setting], *options]
    subprocess.run([program, "train", "-q", "-c", JOB, "--data", data, "-o", folder, "--threads", "1", "--workers", "1",
                    *(word for s in sets for word in ("--set", s))], check=True, stdout=subprocess.DEVNULL)
    runs, rows = export(program, folder, "runs"), export(program, folder, "training")
    for i, run in enumerate(runs):
        own = [row for row in rows if int(row["run"]) == i]
        value = {**own[-1], **{c: own[0][c] for c in COLUMNS if c.startswith("tfidf_")}}
        yield [part, setting, own[-1]["learning_rate"], run["temperature"], run["seed"], *(f"{100 * float(value[c]):.3f}" if value[c] else "" for c in COLUMNS[5:])]


def tuned(rows):
    """(rate, temperature) of each setting with the largest valid_mrr."""
    best = {}
    for row in rows:
        if row["valid_mrr"] and float(row["valid_mrr"]) > float(best.get(row["setting"], {"valid_mrr": 0})["valid_mrr"]):
            best[row["setting"]] = row
    return {name: (row["rate"], row["temperature"]) for name, row in best.items()}


def run(program, data, out, seeds):
    rows = []
    for name in kind.settings:
        for i, grid in enumerate(kind.grids):
            rows += train(program, data, f"{out}/tune{i}-{name.replace(' ', '-')}", name, "tune", ["task.pairs.held=0.05", "task.pairs.valid=0.2", *grid])
    chosen = tuned(dict(zip(COLUMNS, row)) for row in rows)
    for seed in seeds:
        for part in [f"set{k + 1}" for k in range(kind.sets)]:
            for name, (rate, temperature) in chosen.items():
                rows += train(program, data, f"{out}/{part}-{seed}-{name.replace(' ', '-')}", name, part,
                              ["task.pairs.held=0.2", f"adam.rate={rate}", f"temperature={temperature}", f"seeds=[{seed}]"])
            with open(kind.file, "w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])


def holm(p):
    order, out = np.argsort(p), np.empty(len(p))
    out[order] = np.minimum(1, np.maximum.accumulate(np.asarray(p)[order] * np.arange(len(p), 0, -1)))
    return out


def half(d):
    return stats.t.ppf(.975, len(d) - 1) * d.std(ddof=1) / len(d) ** .5


def cells(values, form):
    return " | ".join(f"{m:{form}} ± {half(c):.2f}" for m, c in zip(values.mean(0), values.T))


def show_tuning(rows):
    value = {(row["setting"], row["rate"], row["temperature"]): row["valid_mrr"] for row in rows if row["set"] == "tune"}
    points = sorted({key[1:] for key in value}, key=lambda point: [float(x) for x in reversed(point)])
    print("| valid_mrr at rate, temperature | " + " | ".join(map(", ".join, points)) + " |\n| --- |" + " --- |" * len(points))
    for name in kind.settings:
        mark = [f"**{float(value[name, *point]):.2f}**" if point == tuned(rows)[name] else f"{float(value[name, *point]):.2f}" for point in points]
        print(f"| {name} | " + " | ".join(mark) + " |")
    print()


def load():
    """Rows, sets, seeds that all of them have, and values(name, columns): [sets, columns], means over these seeds."""
    with open(kind.file, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
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
    features = values("uniform", ["tfidf_" + c for c in kind.outcomes])
    print(f"| cosine of the features | {cells(features, '.2f')} |\n| Uniform | {cells(values('uniform', kind.outcomes), '.2f')} |")
    print(f"| Uniform, beyond its features | {cells(values('uniform', kind.outcomes) - features, '+.2f')} |\n")
    print("| difference | rate, temperature | " + " | ".join(kind.outcomes.values()) + " |\n| --- | --- |" + " --- |" * len(kind.outcomes))
    chosen = tuned(rows)
    print(f"| Uniform | {', '.join(chosen['uniform'])} |" + " |" * len(kind.outcomes))
    d = [values(a, kind.outcomes) - values(b, kind.outcomes) for a, b in kind.pairs + kind.beside]
    p = holm([stats.ttest_1samp(c, 0).pvalue for x in d[:len(kind.pairs)] for c in x.T]).reshape(len(kind.pairs), -1)
    for (a, b), x, q in zip(kind.pairs + kind.beside, d, [*p, *np.ones((len(kind.beside), len(kind.outcomes)))]):
        text = [f"{m:+.2f} ± {half(c):.2f}" + ("*" if r < .05 else " =" if abs(m) + half(c) <= .5 else "") for m, c, r in zip(x.mean(0), x.T, q)]
        print(f"| {a} to {b} | {', '.join(chosen[a])} | " + " | ".join(text) + " |")


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
elif len(sys.argv) > 2:
    run(*sys.argv[2:5], sys.argv[5:] or ["1"])
else:
    show()
