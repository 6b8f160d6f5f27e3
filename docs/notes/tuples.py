#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches of tuples of docstrings and functions: the table of docs/notes/tuples.md.

    tuples.py HARDNEG DATASETS FOLDER

DATASETS: the folder with code/. The set and the results are made in FOLDER. Needs numpy and h5py."""
import csv
import subprocess
import sys

import h5py
import numpy as np

JOB = """version: 1
snapshots: [tuples.h5]
batch_size: 64
epochs: 1
seeds: [1, 2, 3]
metrics: [fn_ratio, duplicates, hardness, true_hardness]
samplers:
  - uniform
  - uniform: {no_duplicates: true}
  - uniform: {keep_apart: true}
  - gcbs: {keep: 64}
  - gcbs: {keep: 64, keep_apart: true}
  - mosaic
  - mosaic: {keep_apart: true}
  - ngame
  - ngame: {keep_apart: true}
  - knn
"""


def pairs_of(path):
    with open(path, encoding="utf-8") as file:
        return [(int(row["query-id"][1:]), int(row["corpus-id"][1:])) for row in csv.DictReader(file, delimiter="\t")]


def make_set(hardneg, data, folder):
    """Queries with several relevant functions, and 6,000 with one; each relevant pair is known with probability a half."""
    rng = np.random.default_rng(1)
    truth = pairs_of(f"{data}/code/truth.tsv")
    count = np.bincount([q for q, _ in truth])
    chosen = set(np.flatnonzero(count > 1)) | set(rng.choice(np.flatnonzero(count == 1), 6000, replace=False))
    truth = [pair for pair in truth if pair[0] in chosen]
    heads = rng.random(len(truth)) < .5
    known = [pair for pair, head in zip(truth, heads) if head]
    known += [pair for pair in truth if pair[0] not in {q for q, _ in known}]
    for name, pairs in ("known", known), ("truth", truth):
        with open(f"{folder}/{name}.txt", "w", encoding="utf-8") as out:
            out.writelines(f"{q} 0 {p} 1\n" for q, p in pairs)
    subprocess.run([hardneg, "import", "--queries", f"{data}/code/trained.q.npy", "--corpus", f"{data}/code/trained.p.npy", "--qrels",
                    f"{folder}/known.txt", "--truth", f"{folder}/truth.txt", "-o", f"{folder}/tuples.h5"], check=True)


def main(hardneg, data, folder):
    make_set(hardneg, data, folder)
    with open(f"{folder}/tuples.yaml", "w", encoding="utf-8") as out:
        out.write(JOB)
    subprocess.run([hardneg, "run", "-c", f"{folder}/tuples.yaml", "-o", f"{folder}/run", "--quiet"], check=True)
    with h5py.File(f"{folder}/run/results.h5") as file:
        runs = file["runs"]
        names = [f"{s} {' '.join(o for o in p.split(', ') if 'apart' in o or 'no_dup' in o)}".strip()
                 for s, p in zip(runs["sampler"].asstr()[:], runs["params"].asstr()[:])]
        print("| sampler | false negatives, % | of equal functions, % | mean cosine of true negatives | hardest true negative | moved | left |\n"
              "| --- | --- | --- | --- | --- | --- | --- |")
        for name in dict.fromkeys(names):
            rows = [i for i, n in enumerate(names) if n == name]
            value = lambda column, scale=1: "%.4g ± %.2g" % (scale * runs[column][rows].mean(), scale * runs[column][rows].std(ddof=1))
            moved = ["" if np.isnan(runs[c][rows]).any() else "%.0f" % runs[c][rows].mean() for c in ("apart_moved", "apart_left")]
            print(f"| {name} | {value('fn_ratio', 100)} | {value('duplicate_ratio', 100)} | {value('true_mean')} | {value('hard_true_mean')} |"
                  f" {moved[0]} | {moved[1]} |")


main(*sys.argv[1:])
