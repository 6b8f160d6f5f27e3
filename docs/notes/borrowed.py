#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often do intervals that borrow the ratio of variances miss, and how wide are they? docs/notes/intervals.md
tells. Without a file: synthetic families of settings whose differences to Uniform are 0. With results of many
seeds: draws of few of them, against the mean over all.

    /usr/bin/python3 docs/notes/borrowed.py
    /usr/bin/python3 docs/notes/borrowed.py --further                          # pairs and single numbers
    /usr/bin/python3 docs/notes/borrowed.py results/many/results.h5
    /usr/bin/python3 docs/notes/borrowed.py --further results/many/results.h5  # and hardness
"""
import collections
import sys

import numpy as np
from scipy import special, stats

CAPS = (0, 2, 4)  # 0: each setting's own variance
FAMILIES = 2000
MIN_SETTINGS = 6
PAIRS_CAP = 1
REGIMES = ("equal ratios", "scattered ratios", "unrelated", "one varies 3 times as much", "one varies 10 times as much",
           "seeds correlated by .7", "heavy tails (t of 3)", "skewed up", "skewed down", "a seed in seven 6 sd off", "grid of 1/80")


def inverse_trigamma(y):
    """Newton's method of Smyth (2004), appendix."""
    x = 0.5 + 1 / y
    for _ in range(50):
        t = special.polygamma(1, x)
        x += t * (1 - t / y) / special.polygamma(2, x)
    return x


def fit(q, d, cap):
    """Ratio and degrees of freedom for families q[families, settings], of those above 0; 0 degrees for too few."""
    with np.errstate(all="ignore"):
        e = np.where(q > 0, np.log(q), np.nan) - special.digamma(d / 2) + np.log(d / 2)
        extra = np.nanvar(e, 1, ddof=1) - special.polygamma(1, d / 2)
        some = (q > 0).sum(1) >= MIN_SETTINGS
        f = np.where(some, np.minimum(2 * inverse_trigamma(np.maximum(np.nan_to_num(extra), 1e-9)), cap), 0)
        r = np.exp(np.nanmean(e, 1) + np.where(extra > 0, special.digamma(f / 2) - np.log(f / 2), 0))
    return np.where(some, r, 0)[:, None], f[:, None]


def half(x, b2, cap):
    """Half of the intervals of x[families, settings, seeds] that hold together with 95 %."""
    m, n = x.shape[1:]
    s2, d = x.var(2, ddof=1), n - 1
    if cap == 0 or m < MIN_SETTINGS:
        return stats.t.isf(.025 / m, d) * np.sqrt(s2 / n)
    q = s2 / b2
    r, f = fit(q, d, cap)
    return stats.t.isf(.025 / m, d + f) * np.sqrt((f * r + d * q) / (f + d) * b2 / n)


def family(regime, m, n, rng):
    """x[families, m, n] around 0, b2[families, m], in points."""
    shape = (FAMILIES, m, n)
    b = np.exp(rng.uniform(np.log(.09), np.log(1.2), shape[:2]))
    sd = .8 * b * np.exp(rng.normal(0, 0 if regime == "equal ratios" else .4, shape[:2]))
    z = rng.standard_normal(shape)
    if regime == "unrelated":
        sd = np.exp(rng.uniform(np.log(.05), np.log(1.2), shape[:2]))
    elif regime == "one varies 3 times as much":
        sd[:, 0] *= 3
    elif regime == "one varies 10 times as much":
        sd[:, 0] *= 10
    elif regime == "seeds correlated by .7":
        z = np.sqrt(.3) * z + np.sqrt(.7) * rng.standard_normal((FAMILIES, 1, n))
    elif regime == "heavy tails (t of 3)":
        z = rng.standard_t(3, shape) / np.sqrt(3)
    elif regime == "skewed up":
        z = (rng.lognormal(0, 1, shape) - np.exp(.5)) / np.sqrt((np.e - 1) * np.e)
    elif regime == "skewed down":
        z = (np.exp(.5) - rng.lognormal(0, 1, shape)) / np.sqrt((np.e - 1) * np.e)
    elif regime == "a seed in seven 6 sd off":
        z += 6 * (rng.random(shape) < 1 / 7) - 6 / 7
    x = sd[..., None] * z
    if regime == "grid of 1/80":  # the truth stays 0: rounding is symmetric
        x = np.round(x * .8) / .8
    return x, b * b * np.exp(rng.normal(0, .1, shape[:2]))


def told(x, b2, truth):
    """"misses above / misses, half" of each cap."""
    cells = []
    for cap in CAPS:
        h, mean = half(x, b2, cap), x.mean(2)
        above = (mean + h < truth).any(1).mean()
        missed = (np.abs(mean - truth) > h).any(1).mean()
        cells.append(f"{100 * above:.1f} / {100 * missed:.1f}, {np.median(h):.2f}")
    return " | ".join(cells)


def simulate():
    rng = np.random.default_rng(2026)
    print("| regime | settings | seeds | own | cap 2 | cap 4 |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for regime in REGIMES:
        for m, n in ((4, 3), (6, 3), (8, 3), (18, 3), (200, 3), (8, 5), (18, 5), (18, 8)):
            print(f"| {regime} | {m} | {n} | {told(*family(regime, m, n, rng), 0)} |", flush=True)


def draw(path):
    import h5py

    value, error = collections.defaultdict(dict), collections.defaultdict(dict)
    with h5py.File(path) as file:
        r = file["runs"]
        columns = [r[c][:] for c in ("sampler", "params", "seed", "fn_ratio", "fn_ratio_lo", "fn_ratio_hi")]
    for sampler, params, seed, v, lo, hi in zip(*columns):
        value[sampler.decode(), params.decode()][seed] = 100 * v
        error[sampler.decode(), params.decode()][seed] = 50 * (hi - lo)
    uniform = [k for k in value if k[0] == "uniform"][0]
    seeds = sorted(value[uniform])
    keys = [k for k in value if k != uniform and np.isfinite(list(value[k].values())).all()]
    x = np.array([[value[k][z] - value[uniform][z] for z in seeds] for k in keys])
    b2 = np.array([[error[k][z]**2 + error[uniform][z]**2 for z in seeds] for k in keys])
    ratio = x.std(1, ddof=1) / np.sqrt(b2.mean(1)) * 1.98
    print(f"{len(keys)} settings, {len(seeds)} seeds, ratios {ratio.min():.2f} to {ratio.max():.2f}")
    rng = np.random.default_rng(1)
    for n in (3, 5):
        c = np.array([rng.choice(len(seeds), n, replace=False) for _ in range(FAMILIES)])
        picked = np.moveaxis(x[:, c], 0, 1)
        print(f"| {n} | {told(picked, np.moveaxis(b2[:, c], 0, 1).mean(2), x.mean(1))} |")


def widths(s2, b2, n, level, learned, cap):
    """Half of intervals of variances s2, own and borrowed from the families' learned = (q[families, settings])."""
    d = n - 1
    r, f = fit(learned, d, cap)
    own = stats.t.isf(level, d) * np.sqrt(s2 / n)
    with np.errstate(all="ignore"):
        w = np.where(f > 0, (f * r * b2 + d * s2) / (f + d), s2)
    return own, stats.t.isf(level, d + f) * np.sqrt(w / n)


def rates(e, h, families):
    """Shares of families (or intervals) missed below, above, at all, and the median half. e: estimate less truth."""
    low, high = e - h > 0, e + h < 0
    every = (lambda a: a.any(1).mean()) if families else np.mean
    return f"{100 * every(low):.1f} / {100 * every(high):.1f} / {100 * every(low | high):.1f}, {np.median(h):.3g}"


def further(x, b2, truth, to_uniform, pairs):
    """x[families, m, n], b2[families, m], truth[m], of settings; the first is Uniform. Lines of a table."""
    m, n = x.shape[1:]
    e = x.mean(2) - truth
    d, db, de = x[:, 1:] - x[:, :1], b2[:, 1:] + b2[:, :1], e[:, 1:] - e[:, :1]
    ds = d.var(2, ddof=1)
    with np.errstate(all="ignore"):
        q, single = ds / db, x.var(2, ddof=1) / b2
    if to_uniform:
        for h in widths(ds, db, n, .025 / (m - 1), q, 2):
            yield "to Uniform", rates(de, h, True)
    if pairs:
        i, k = np.triu_indices(m, 1)
        s2 = (x[:, i] - x[:, k]).var(2, ddof=1)
        for h in widths(s2, b2[:, i] + b2[:, k], n, .025 / len(i), q, PAIRS_CAP):
            yield "pairs", rates(e[:, i] - e[:, k], h, True)
    for h in widths(x.var(2, ddof=1), b2, n, .025, single, 2):
        yield "single", rates(e, h, False)


def show(what, m, n, lines):
    lines = list(lines)
    for (kind, own), (_, borrowed) in zip(lines[::2], lines[1::2]):
        print(f"| {what} | {kind} | {m} | {n} | {own} | {borrowed} |", flush=True)


def simulate_further():
    rng = np.random.default_rng(2028)
    for regime in REGIMES:
        for m, n in ((8, 3), (18, 3), (18, 5)):
            show(regime, m, n, further(*family(regime, m, n, rng), np.zeros(m), False, True))


def draw_further(path):
    import h5py

    rng = np.random.default_rng(3)
    with h5py.File(path) as file:
        r = {k: v[:] for k, v in file["runs"].items()}
        splits, batch = file["batch/row_splits"][:], file["batch/cos_mean"][:]
    names = [a + b" " + b for a, b in zip(r["sampler"], r["params"])]
    order = sorted(set(names), key=lambda k: (not k.startswith(b"uniform"), k))
    seeds = sorted(set(r["seed"]))
    cell = {(k, z): i for i, (k, z) in enumerate(zip(names, r["seed"]))}
    at = np.array([[cell[k, z] for z in seeds] for k in order])
    cosine = np.array([np.nanvar(batch[a:b], ddof=1) / (b - a) for a, b in zip(splits, splits[1:])])
    for column in ("fn_ratio", "true_mean", "hard_true_mean", "true_p99"):
        b2 = ((r["fn_ratio_hi"] - r["fn_ratio_lo"]) / 2)**2 if column == "fn_ratio" else cosine
        x, b2 = r[column][at], b2[at]
        keep = np.isfinite(x).all(1)
        x, b2 = x[keep], b2[keep]
        for n in (3, 5):
            c = np.array([rng.choice(len(seeds), n, replace=False) for _ in range(FAMILIES)])
            show(f"{column}, {len(seeds)} seeds", len(x), n,
                 further(np.moveaxis(x[:, c], 0, 1), np.moveaxis(b2[:, c], 0, 1).mean(2), x.mean(1), True, True))


if sys.argv[1:2] == ["--further"]:
    print("| regime or measure | interval | settings | seeds | own: below / above / all, half | borrowed |\n"
          "| --- | --- | ---: | ---: | ---: | ---: |")
    draw_further(sys.argv[2]) if len(sys.argv) > 2 else simulate_further()
elif len(sys.argv) > 1:
    draw(sys.argv[1])
else:
    simulate()
