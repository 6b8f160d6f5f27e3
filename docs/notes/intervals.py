#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Coverage of the nominal 95 % interval of fn_ratio: Student's, and the one of core/stats.c (Hall's
transformation with Student's quantile). From long runs, results files of the job intervals.yaml:
their ratio is the truth, 2,000 samples of 50, 100 and 300 of their batches are drawn with replacement.
`--runs` takes consecutive batches instead, which shows what the dependence between the batches of a
partition does. Without a file: synthetic batches."""
import argparse

import numpy as np
from scipy import stats

SIZES = (50, 100, 300)
REPETITIONS = 2000


def intervals(y, x):
    """{method: (lo, hi)} of the ratios of y[rep, n] to x[rep, n]; as core/stats.c."""
    n = y.shape[1]
    ratio = y.sum(1) / x.sum(1)
    e = y - ratio[:, None] * x
    squares, cubes = (e**2).sum(1), (e**3).sum(1)
    se = np.sqrt(squares * n / (n - 1)) / x.sum(1)
    with np.errstate(all="ignore"):
        lean = np.nan_to_num(cubes / squares**1.5)
    q = stats.t.ppf(0.975, n - 1)

    def unbend(v):
        bend = np.where(np.abs(lean) < 3e-9, 1, lean / 3)
        return np.where(np.abs(lean) < 3e-9, v, (np.cbrt(1 + 3 * bend * (v - lean / 6)) - 1) / bend)

    return {"Student": (ratio - q * se, ratio + q * se),
            "Hall": (ratio - se * unbend(q), ratio - se * unbend(-q))}


def report(name, draw, truth, sizes=SIZES):
    for n in sizes:
        y, x = draw(n)
        cells = []
        for lo, hi in intervals(y, x).values():
            held = ((lo <= truth) & (truth <= hi)).mean()
            cells.append(f"{100 * held:.1f} ({100 * (hi < truth).mean():.1f} + {100 * (lo > truth).mean():.1f})")
        print(f"| {name} | {n} | {' | '.join(cells)} |", flush=True)


def synthetic(rng):
    def normal(n):
        x = rng.uniform(50, 100, (REPETITIONS, n))
        return 0.3 * x + rng.normal(0, 5, x.shape), x

    def binomial(n):
        x = rng.integers(20, 100, (REPETITIONS, n))
        return rng.binomial(x, rng.beta(2, 18, x.shape)).astype(float), x.astype(float)

    def beta(n):
        y = 100 * rng.beta(0.8, 7.2, (REPETITIONS, n))
        return y, np.full_like(y, 100)

    def lognormal(n):
        y = 0.1 * np.exp(rng.normal(0, 1, (REPETITIONS, n)) - 0.5)
        return y, np.ones_like(y)

    def rare(n):
        y = 100.0 * (rng.random((REPETITIONS, n)) < 0.1)
        return y, np.full_like(y, 100)

    report("normal errors", normal, 0.3)
    report("beta-binomial, unequal sizes", binomial, 0.1)
    report("Beta(0.8, 7.2), skewness 1.7", beta, 0.1)
    report("log-normal, skewness 6.2", lognormal, 0.1)
    report("all or nothing, one in ten", rare, 0.1)


def cells(path):
    """(name, y[batches], x[batches], skewness) of every cell; x: ordered pairs of a batch."""
    import h5py

    with h5py.File(path) as file:
        runs, splits = file["runs"], file["batch/row_splits"][...]
        for i in range(len(splits) - 1):
            share = file["batch/fn_ratio"][splits[i]:splits[i + 1]]
            sampler, params = runs["sampler"][i].decode(), runs["params"][i].decode()
            size = int(runs["batch_size"][i])
            x = np.full(len(share), size * (size - 1.0))
            if sampler == "gcbs" or "shuffle" in params:  # the last batch of an epoch is short
                items, epoch = 10000, -(-10000 // size)
                left = items - (epoch - 1) * size
                x[epoch - 1::epoch] = left * (left - 1.0)
            draw = " iid" if "draw=iid" in params else ""
            yield f"step {runs['step'][i]:.0f} {sampler}{draw}", share * x, x, stats.skew(share)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="*")
    parser.add_argument("--runs", action="store_true", help="consecutive batches, not a resample")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    print("| batches | n | Student | Hall |\n| --- | ---: | ---: | ---: |")
    if not options.results:
        synthetic(rng)
    for path in options.results:
        for name, y, x, skew in cells(path):
            def resample(n):
                i = rng.integers(0, len(y), (REPETITIONS, n))
                return y[i], x[i]

            def consecutive(n):
                whole = len(y) // n * n
                return y[:whole].reshape(-1, n), x[:whole].reshape(-1, n)

            report(f"{name}, skewness {skew:.1f}", consecutive if options.runs else resample, y.sum() / x.sum())


if __name__ == "__main__":
    main()
