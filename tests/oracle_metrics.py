# SPDX-License-Identifier: GPL-3.0-or-later
"""NumPy oracle of the metrics: oracle_metrics.py FOLDER DIM BATCH_SIZE BATCHES_PER_EPOCH TEMPERATURE
[LOSS WEIGHTING TAU_PLUS BETA FORM CLIP]. With the last six, the columns of the loss alone.

FOLDER holds raw arrays: x, x1, x2 and, where items have one, teacher (float32), labels, ids, size
(int32), histogram (uint64), and the text file `columns` (name value) that is to be checked. Exit
status 1 if a column is off by more than 1e-6 absolutely or relatively, or a count by anything.
"""
import math
import os
import sys

import numpy as np


def log_sum_exp(s):
    high = s.max(axis=1)
    return high + np.log(np.exp(s - high[:, None]).sum(axis=1))


def relation(labels, batches, out):
    same = labelled = 0
    start = []
    for ids in batches:
        c = labels[ids]
        known = (c[:, None] >= 0) & (c[None, :] >= 0)
        np.fill_diagonal(known, False)
        labelled += known.sum()
        same += (known & (c[:, None] == c[None, :])).sum()
        if known[0].any():
            start.append((c[1:] == c[0]).sum() / known[0].sum())
    out["fn_ratio"] = same / labelled
    out["fn_start"] = np.mean(start)
    out["duplicate_ratio"] = np.nan


def hardness(x, labels, batches, tau, out):
    cosines, hardest, hard_true, true_cosines, high, labelled_anchors = [], [], [], [], [], 0
    for ids in batches:
        s = x[ids] @ x[ids].T
        c = labels[ids]
        cosines.append(s[np.triu_indices(len(ids), 1)])
        off = np.where(np.eye(len(ids), dtype=bool), -np.inf, s)
        hardest += list(off.max(axis=1))
        true = (c[:, None] >= 0) & (c[None, :] >= 0) & (c[:, None] != c[None, :])
        hard_true += list(np.where(true, s, -np.inf).max(axis=1)[true.any(axis=1)])
        known = (c[:, None] >= 0) & (c[None, :] >= 0) & ~np.eye(len(ids), dtype=bool)
        labelled_anchors += known.any(axis=1).sum()
        of_batch = s[np.triu(true)]
        true_cosines.append(of_batch)
        if len(of_batch):
            high.append(np.percentile(of_batch, 99))
    cosines = np.concatenate(cosines)
    out["cos_mean"] = cosines.mean()
    for q in (50, 90, 99):
        out[f"cos_p{q}"] = np.percentile(cosines, q)
    out["hardest_mean"] = np.mean(hardest)
    out["hard_true_mean"] = np.mean(hard_true)
    out["true_anchors"] = len(hard_true) / labelled_anchors
    true_cosines = np.concatenate(true_cosines)
    out["true_mean"] = true_cosines.mean()
    out["true_p99"] = np.mean(high)
    out["true_lme"] = tau * np.log(np.mean(np.exp(true_cosines / tau)))


def coverage(n, drawn, batches, batch_size, per_epoch, out):
    visits = np.bincount(np.concatenate(drawn), minlength=n)
    sets = [frozenset(b) for b in batches]
    pairs = {(i, j) for b in batches for i in b for j in b if i < j}
    out["coverage"] = len(set(np.concatenate(drawn[:per_epoch]))) / n
    out["duplicates"] = sum(len(d) - len(b) for d, b in zip(drawn, batches))
    out["duplicate_batches"] = len(sets) - len(set(sets))
    out["short_batches"] = sum(len(d) < batch_size for d in drawn)
    out["visits_cv"] = visits.std() / visits.mean()
    out["pairs_distinct"] = len(pairs) / sum(len(b) * (len(b) - 1) // 2 for b in batches)


def gap(x1, x2, drawn, batches, tau, out):
    s = x1 @ x2.T / tau
    n, positive = len(s), np.diag(s)
    rows, cols = log_sum_exp(s), log_sum_exp(s.T)
    out["loss_global"] = (rows - positive).mean()
    out["pos_prob_global"] = np.exp(positive - rows).mean()
    found = {k: [] for k in ("loss_train", "gap", "gap_cols", "bound_36", "bound_37", "pos_prob")}
    for ids, keys in zip(drawn, batches):
        r = s[np.ix_(ids, keys)]
        lse = log_sum_exp(r)
        high = s[ids].max(axis=1)
        found["loss_train"] += list(lse - positive[ids])
        found["gap"] += list(rows[ids] - lse)
        found["gap_cols"] += list(cols[ids] - log_sum_exp(s.T[np.ix_(ids, keys)]))
        found["bound_36"] += list(high - r.min(axis=1) + np.log(n / len(keys)))
        found["bound_37"] += list(high - r.max(axis=1) + np.log(n))
        found["pos_prob"] += list(np.exp(positive[ids] - lse))
    out.update({k: np.mean(v) for k, v in found.items()})


def masked(s, positive, negative, by, form):
    """Negatives that `gist` or `fnc` leaves; s: what they look at."""
    if form == "top":
        order = np.sort(np.where(negative, s, -np.inf), axis=1)[:, ::-1]
        return negative & (s < order[:, int(by) - 1][:, None])
    limit = {"absolute": positive - by, "relative": positive * (1 - by), "threshold": np.full(len(s), by),
             "teacher": np.full(len(s), 1 - by)}[form]
    return negative & (s <= limit[:, None])


def mixture(scores, prior, rounds):
    """P(true negative | s) u of ProGCL, fitted to the middles of 400 bins."""
    count = np.histogram(scores, bins=400, range=(-1, 1))[0]
    u, shares = (np.arange(400) + 0.5) / 400, np.array([1 - prior, prior])
    shape = np.array([[1.0, 2.0], [2.0, 1.0]])  # alpha, beta of the lower and the upper one

    def density(u):
        rows = []
        for share, (a, b) in zip(shares, shape):
            log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
            rows.append(share * np.exp((a - 1) * np.log(u) + (b - 1) * np.log(1 - u) - log_beta))
        return np.array(rows)

    for _ in range(rounds):
        r = np.maximum(density(u), 1e-12)
        r = r / r.sum(axis=0) * count
        mean = (r * u).sum(axis=1) / r.sum(axis=1)
        variance = (r * (u - mean[:, None]) ** 2).sum(axis=1) / r.sum(axis=1)
        alpha = mean * (mean * (1 - mean) / variance - 1)
        shape = np.stack([alpha, alpha * (1 - mean) / mean], axis=1)
        if shape[1, 1] < 1:
            shape[1, 1] = 1.01
        shares = r.sum(axis=1) / r.sum()

    def weight(s):
        u = np.clip((s + 1) / 2, 1e-12, 1 - 1e-12)
        p = density(u.ravel()).reshape(2, *u.shape)
        return p[0] / p.sum(axis=0) * u

    return weight


def loss(x1, x2, teacher, labels, drawn, batches, tau, setting, out):
    """Directly, by exponentials: the tests' temperatures are far from overflow."""
    name, weighting, tau_plus, beta, form, clip = setting
    tau_plus, beta, clip = float(tau_plus), float(beta), float(clip)
    if weighting == "none":
        tau_plus = 0
    by, masks, mixes = tau_plus, weighting in ("gist", "fnc"), weighting == "progcl"
    rounds = int(beta)
    if masks or mixes:
        tau_plus = 0
    if weighting != "hcl":
        beta = 0
    losses, clamped, shares, same_weight, all_weight = [], [], [], 0, 0
    for ids, keys in zip(drawn, batches):
        a, b, c, n = x1[keys], x2[keys], labels[keys], len(keys)
        off = ~np.eye(n, dtype=bool)
        blocks = {
            "ntxent": [np.hstack([a @ a.T, a @ b.T]), np.hstack([b @ b.T, b @ a.T])],
            "infonce": [a @ a.T],
            "other-view": [a @ b.T],
        }[name]
        wide = 2 if name == "ntxent" else 1
        negative = np.hstack([off] * wide)
        known = negative & np.hstack([(c[:, None] >= 0) & (c[None, :] >= 0)] * wide)
        same = known & np.hstack([c[:, None] == c[None, :]] * wide)
        times = np.array([(ids == k).sum() for k in keys])
        most = max(np.abs(s[negative]).max() for s in blocks)
        everyone, every_known, every_same, positive = negative, known, same, (a * b).sum(axis=1)
        if mixes:
            weight = mixture(np.concatenate([s[everyone] for s in blocks]), by, rounds)
        for s in blocks:
            if masks:
                shown = np.hstack([teacher[keys] @ teacher[keys].T] * wide) if form == "teacher" else s
                negative = masked(shown, positive, everyone, by, form)
                known, same = every_known & negative, every_same & negative
            count = negative.sum(axis=1)
            neg = np.where(negative, np.exp(s / tau), 0)
            slope = clip / most if clip > 0 else 1 / tau
            power = 1 if form == "figure13" else beta
            v = np.where(negative, np.exp(power * slope * s), 0)
            if mixes:
                v = np.where(negative, weight(s), 0)
            v /= v.sum(axis=1)[:, None] / count[:, None]
            w = beta * v if form == "figure13" else v
            pos = np.exp((a * b).sum(axis=1) / tau)
            least = np.exp(-1 / tau) * (1 if form == "figure13" else count)
            ng = ((w * neg).sum(axis=1) - count * tau_plus * pos) / (1 - tau_plus)
            clamp = (ng < least) & (weighting in ("debiased", "hcl"))
            ng = np.where(clamp, least, ng)
            losses += list(np.repeat(-np.log(pos / (pos + ng)), times))
            clamped += list(np.repeat(clamp, times))
            part = np.maximum(0, (w * neg * same).sum(axis=1) - count * tau_plus * pos)
            in_it = known.any(axis=1)
            shares += list(np.repeat((part / ((1 - tau_plus) * ng))[in_it], times[in_it]))
            same_weight += v[same].sum()
            all_weight += v[known].sum()
    out["loss_batch"] = np.mean(losses)
    out["clamp_rate"] = np.mean(clamped)
    out["fn_mass"] = same_weight / all_weight
    out["fn_loss_mass"] = np.mean(shares)


def histogram(x, x1, x2, labels, batches):
    """Counts by kind, and those of pairs so near an edge that a last bit could move them."""
    count = np.zeros((4, 200), dtype=np.int64)
    near = np.zeros(4, dtype=np.int64)

    def add(kind, s):
        place = (s + 1) * 100
        near[kind] += (np.abs(place - np.rint(place)) < 1e-5).sum()
        np.add.at(count[kind], np.clip(place.astype(np.int64), 0, 199), 1)

    for ids in batches:
        i, j = np.triu_indices(len(ids), 1)
        s, a, b = (x[ids] @ x[ids].T)[i, j], labels[ids][i], labels[ids][j]
        unknown = (a < 0) | (b < 0)
        add(0, (x1[ids] * x2[ids]).sum(axis=1))
        add(1, s[~unknown & (a != b)])
        add(2, s[~unknown & (a == b)])
        add(3, s[unknown])
    return count, near


def main():
    folder, dim, batch_size, per_epoch = sys.argv[1], *map(int, sys.argv[2:5])
    tau = float(sys.argv[5])
    read = lambda name, kind: np.fromfile(f"{folder}/{name}", kind)
    x, x1, x2 = (read(f, np.float32).astype(float).reshape(-1, dim) for f in ("x", "x1", "x2"))
    labels, size = read("labels", np.int32), read("size", np.int32)
    drawn = [b[:k] for b, k in zip(read("ids", np.int32).reshape(-1, batch_size), size)]
    batches = [np.array(list(dict.fromkeys(b.tolist()))) for b in drawn]
    out = {}
    setting = sys.argv[6:] or ["ntxent", "none", "0", "0", "equation", "0"]
    teacher = None
    if os.path.exists(f"{folder}/teacher"):
        teacher = read("teacher", np.float32).astype(float).reshape(len(x), -1)
    loss(x1, x2, teacher, labels, drawn, batches, tau, setting, out)
    if len(sys.argv) == 6:
        relation(labels, batches, out)
        hardness(x, labels, batches, tau, out)
        coverage(len(x), drawn, batches, batch_size, per_epoch, out)
        gap(x1, x2, drawn, batches, tau, out)
    got = dict(line.split() for line in open(f"{folder}/columns"))
    bad = 0
    for name, wanted in out.items():
        absent = np.isnan(wanted) and np.isnan(float(got[name]))
        if not absent and not abs(float(got[name]) - wanted) <= 1e-6 * max(1, abs(wanted)):
            print(f"    {name}: {got[name]}, NumPy {wanted!r}")
            bad = 1
    unchecked = set(got) - set(out) - {"fn_ratio_lo", "fn_ratio_hi"}
    if unchecked:
        print(f"    no oracle for {sorted(unchecked)}")
        bad = 1
    if len(sys.argv) > 6:
        return bad
    count, near = histogram(x, x1, x2, labels, batches)
    off = np.abs(read("histogram", np.uint64).reshape(4, 200).astype(np.int64) - count).sum(axis=1)
    if (off > 2 * near).any():
        print(f"    histogram off by {off.tolist()}, at most {(2 * near).tolist()} allowed")
        bad = 1
    return bad


sys.exit(main())
