# SPDX-License-Identifier: GPL-3.0-or-later
"""Do harder batches train a better encoder here? Trains encoders of digits with four samplers in PyTorch, writes what they reach to a table,
and makes the page that sets it beside how hard the samplers' batches are.

    python3 outcome.py FOLDER       FOLDER/acc.csv and FOLDER/page.html; a minute of a processor

The table is that of docs/guide/own-training.md: with one of yours, and your embeddings, the last lines are all that is needed."""
import argparse
import csv
import pathlib

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import hardneg
from train import contrastive, knn_accuracy, view

SAMPLERS, BATCH = ["uniform", "knn", "gcbs", "mosaic"], 64


def embed(model, x):
    with torch.no_grad():
        return F.normalize(model(x), dim=1).numpy()


def train(x, own, name, seed, epochs):
    """The embeddings of x before each epoch and at the end of a training on the items `own` with this sampler."""
    torch.manual_seed(seed)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 32))
    adam = torch.optim.Adam(model.parameters(), 1e-3)
    series, step = [embed(model, x)], 0
    sampler = hardneg.BatchSampler(series[0][own], name, BATCH, seed=seed)
    for epoch in range(epochs):
        if epoch:
            sampler.refresh(series[-1][own])
        for ids in sampler:
            z1, z2 = (F.normalize(model(view(x[own], ids, 2 * step + k + 10**6 * seed)), dim=1) for k in (0, 1))
            loss = contrastive(z1, z2)
            adam.zero_grad()
            loss.backward()
            adam.step()
            step += 1
        series.append(embed(model, x))
    return series


parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--seeds", type=int, default=5)
args = parser.parse_args()
folder = args.folder.absolute()
folder.mkdir(parents=True, exist_ok=True)
images, labels = load_digits(return_X_y=True)
images = torch.tensor(images / 16, dtype=torch.float32)
own = np.arange(len(images)) % 5 > 0
first = []  # of Uniform's first training: samplers are measured on one series
with open(folder / "acc.csv", "w", newline="", encoding="utf-8") as out:
    table = csv.writer(out)
    table.writerow(["sampler", "seed", "nearest neighbour (%)", "linear probe (%)"])
    for name in SAMPLERS:
        for seed in range(1, args.seeds + 1):
            series = train(images, own, name, seed, args.epochs)
            first = first or [z[own] for z in series]
            z = series[-1]
            probe = LogisticRegression(max_iter=1000).fit(z[own], labels[own]).score(z[~own], labels[~own])
            table.writerow([name, seed, f"{100 * knn_accuracy(z, labels, own):.2f}", f"{100 * probe:.2f}"])

steps = sorted({0, args.epochs // 2, args.epochs})
r = hardneg.compare([first[s] for s in steps], labels[own], SAMPLERS, batch_size=BATCH, seeds=args.seeds, steps=steps, title="digits",
                    outcome=str(folder / "acc.csv"))
r.report(folder / "page.html")
print(r)
print(folder / "page.html")
