#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What neighbourhood means of `mosaic` tell of classes, by their share kappa of the items: `kappa.py SERIES.h5 ...`
(docs/notes/front.md). For the last step of each series: purity, the share of neighbours of an item's own class; the area under the curve
by which the cosine S, and the product M of means, tell pairs of one class; lift, the mean repulsion of an item and its 20
nearest over that of all pairs, which needs no labels."""
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import h5py  # noqa: E402
import numpy as np  # noqa: E402
from scipy.stats import rankdata  # noqa: E402

SHARES, ITEMS, NEAR, B = (0.001, 0.003, 0.01, 0.03), 300, 20, 0.75


def read(path):
    with h5py.File(path) as file:
        x, labels = np.asarray(file["embeddings"][-1], np.float32), file["labels"][:]
    return x / np.linalg.norm(x, axis=1, keepdims=True), labels


def area(value, positive):
    rank, n = rankdata(value), positive.sum()
    return (rank[positive].sum() - n * (n + 1) / 2) / (n * (len(value) - n))


def nearest(x, most):
    """The most items nearest to each, itself first."""
    found = np.empty((len(x), most), np.int64)
    for start in range(0, len(x), 500):
        near = x[start:start + 500] @ x.T
        near[np.arange(len(near)), start + np.arange(len(near))] = 2
        part = np.argpartition(-near, most, axis=1)[:, :most]
        order = np.argsort(-np.take_along_axis(near, part, 1), axis=1)
        found[start:start + 500] = np.take_along_axis(part, order, 1)
    return found


def report(path):
    x, labels = read(path)
    near = nearest(x, max(NEAR + 1, round(max(SHARES) * len(x)) + 1))
    items = np.random.default_rng(1).permutation(np.flatnonzero(labels >= 0))[:ITEMS]
    pairs = np.ones((len(items), len(x)), bool)
    pairs[np.arange(len(items)), items] = False
    pairs &= labels >= 0
    same = (labels[items][:, None] == labels)[pairs]
    told = area((x[items] @ x.T)[pairs], same)
    for share in SHARES:
        k = max(2, round(share * len(x)))
        mean = np.stack([x[row[:k]].mean(0) for row in near])
        product = mean[items] @ mean.T
        repulsion = np.exp(B * (product - product.mean()) / product.std())
        purity = (labels[near[items, 1:k]] == labels[items][:, None]).mean()
        lift = np.take_along_axis(repulsion, near[items, 1:NEAR + 1], 1).mean() / repulsion[pairs].mean()
        print(f"| {os.path.basename(path)} | {share:g} | {k} | {purity:.2f} | {told:.3f} | {area(product[pairs], same):.3f} | {lift:.3f} |",
              flush=True)


if __name__ == "__main__":
    print("| series | kappa | neighbours | purity | area by S | by M | lift |\n|" + " --- |" * 7)
    for series in sys.argv[1:]:
        report(series)
