# SPDX-License-Identifier: GPL-3.0-or-later
"""A sampler that knows the labels: `board_oracle.py EMBEDDINGS LABELS BATCH_SIZE SEED OUT`, for tests/board.sh. A batch is a random item
and its nearest, of each class no more than its share of a batch: as hard as neighbours can be with no more false negatives than
classes make unavoidable."""
import math
import sys

import numpy as np

x, y = np.load(sys.argv[1]), np.load(sys.argv[2])
size, seed = int(sys.argv[3]), int(sys.argv[4])
rng = np.random.default_rng(seed)
share = {c: math.ceil(n * size / len(y)) if len(np.unique(y)) < size else 1 for c, n in zip(*np.unique(y, return_counts=True))}
batches = []
for _ in range(40):
    taken, count = [], {}
    for i in np.argsort(-x @ x[rng.integers(len(y))], kind="stable"):
        if count.get(y[i], 0) < share[y[i]]:
            taken.append(i)
            count[y[i]] = count.get(y[i], 0) + 1
        if len(taken) == size:
            break
    batches.append(taken)
np.save(sys.argv[5], np.array(batches))
