# SPDX-License-Identifier: GPL-3.0-or-later
"""Farthest-first batches, as docs/guide/your-sampler.md has them, and their measures by NumPy: an oracle of tests/yours.sh. As `command` of a job it
draws the random order of its twin in C, farthest_first.c."""
import json
import sys

import h5py
import numpy as np


def farthest_first(x, batch_size, seed, epoch=0, left=None):
    left = np.random.default_rng([seed, epoch]).permutation(len(x)) if left is None else left
    batches = []
    while len(left):
        chosen, nearest = [0], x[left] @ x[left[0]]
        while len(chosen) < min(batch_size, len(left)):
            nearest[chosen] = np.inf
            chosen.append(int(nearest.argmin()))
            nearest = np.maximum(nearest, x[left] @ x[left[chosen[-1]]])
        batches.append([int(i) for i in left[chosen]])
        left = np.delete(left, chosen)
    return batches


def mix(z):
    """The finaliser of SplitMix64."""
    z = np.atleast_1d(np.asarray(z, dtype=np.uint64))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
    return z ^ (z >> np.uint64(31))


def draw_as_twin(x, batch_size, seed, epochs, out):
    """Writes the batches that farthest_first.c draws; like it decides by products in double precision."""
    x = np.load(x).astype("f8")
    drawn = [farthest_first(x, batch_size, seed, e, np.argsort(mix(mix(seed << 20 | e) + np.arange(len(x), dtype=np.uint64))))
             for e in range(epochs)]
    np.save(out, np.array([padded(batches, batch_size) for batches in drawn]))


def items(path, step):
    with h5py.File(path) as f:
        at = list(f["step"][:]).index(step) if f["embeddings"].ndim == 3 else ...
        x = f["embeddings"][at].astype("f8")
        return (x / np.linalg.norm(x, axis=1, keepdims=True)).astype("f4"), f["labels"][:]


def padded(batches, width):
    return np.array([b + [-1] * (width - len(b)) for b in batches])


def measures(x, y, batches):
    same = pairs = total = 0
    for b in batches:
        c, eq = x[b].astype("f8") @ x[b].astype("f8").T, y[b][:, None] == y[b][None, :]
        off = ~np.eye(len(b), dtype=bool)
        same, pairs, total = same + int(eq[off].sum()), pairs + int(off.sum()), total + c[off].sum()
    return same / pairs, total / pairs


def write(path, name, batch_size, seeds):
    for step in [int(s) for s in h5py.File(path)["step"][:]]:
        x, _ = items(path, step)
        for seed in seeds:
            batches = farthest_first(x, batch_size, seed)
            stem = name.format(step=step, seed=seed)
            np.save(stem + ".npy", padded(batches, batch_size))
            with open(stem + ".jsonl", "w") as out:
                out.writelines(json.dumps(b) + "\n" for b in batches)


def check(path, results, sampler):
    with h5py.File(results) as f:
        r = f["runs"]
        text = lambda k: [v.decode() if isinstance(v, bytes) else v for v in r[k][:]]
        rows = [i for i, s in enumerate(text("sampler")) if s == sampler]
        assert rows, set(text("sampler"))
        for i in rows:
            assert text("status")[i] == "ok", text("error")[i]
            x, y = items(path, int(r["step"][i]))
            batches = farthest_first(x, int(r["batch_size"][i]), int(r["seed"][i]))
            fn, cosine = measures(x, y, batches)
            assert r["fn_ratio"][i] == fn and abs(r["cos_mean"][i] - cosine) < 1e-9, (r["fn_ratio"][i], fn, r["cos_mean"][i], cosine)
            assert r["batches"][i] == len(batches) and r["coverage"][i] == 1


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2], sys.argv[3], int(sys.argv[4]), [int(s) for s in sys.argv[5:]])
    elif sys.argv[1] == "twin":
        draw_as_twin(sys.argv[2], *map(int, sys.argv[3:6]), sys.argv[6])
    else:
        check(*sys.argv[2:5])
