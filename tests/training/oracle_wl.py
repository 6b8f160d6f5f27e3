# SPDX-License-Identifier: GPL-3.0-or-later
"""The Weisfeiler-Lehman subtree kernel by dictionaries of nested tuples: oracle_wl.py FOLDER NAME ROUNDS KERNEL"""
import sys
from collections import Counter

import numpy as np

folder, name, rounds, kernel = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]


def read(what):
    with open(f"{folder}/{name}_{what}.txt") as f:
        return [line.strip() for line in f if line.strip()]


graph = [int(line) - 1 for line in read("graph_indicator")]
neighbours = [set() for _ in graph]
for line in read("A"):
    u, v = (int(x) - 1 for x in line.split(","))
    if u != v:
        neighbours[u].add(v)
        neighbours[v].add(u)
try:
    label = [tuple(map(int, line.split(","))) for line in read("node_labels")]
except FileNotFoundError:
    label = [0] * len(graph)
n = max(graph) + 1
counts = [Counter() for _ in range(n)]
for r in range(rounds + 1):
    for node, g in enumerate(graph):
        counts[g][r, label[node]] += 1
    names = {}
    label = [names.setdefault((label[v], tuple(sorted(label[u] for u in neighbours[v]))), len(names))
             for v in range(len(graph))]
k = np.array([[float(sum(c * b[x] for x, c in a.items())) for b in counts] for a in counts])
k /= np.sqrt(np.outer(np.diag(k), np.diag(k)))
mine = np.fromfile(kernel).reshape(n, n)
off = np.abs(k - mine).max()
print("off by", off)
sys.exit(not off < 1e-12)
