#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of board.md: `board.py`, some two minutes; `board.py scale`, those of its second plan. Boards are drawn as the plans
there say; their statistic is that of results/analysis/board_tests.c."""
import sys

import numpy as np
from scipy import stats

ENCODERS, SEEDS, SEED_DEVIATION = 3, 3, .1
TRUTHS = {"normal": .3, "encoders differ": 1, "heavy tails": .3, "one kind in eight": .3, "skewed": .3}  # deviation of encoders
KINDS = (6, 8, 10)


def deviations(rng, truth, shape):
    if truth == "heavy tails":
        return rng.standard_t(3, shape)
    if truth == "one kind in eight":
        return rng.standard_normal(shape) * np.where(rng.random(shape) < 1 / 8, 5, 1)
    if truth == "skewed":
        return rng.exponential(1, shape) - 1
    return rng.standard_normal(shape)


def draw(rng, truth, boards, entries, kinds):
    """Scores [boards, entries, kinds, encoders, seeds] of entries whose mean is 0."""
    shape = (boards, entries, kinds)
    kind = deviations(rng, truth, shape)[..., None, None]
    encoder = TRUTHS[truth] * rng.standard_normal((*shape, ENCODERS, 1))
    return kind + encoder + SEED_DEVIATION * rng.standard_normal((*shape, ENCODERS, SEEDS))


def student(values):
    """Mean and half of the 95 % interval along the last axis."""
    n = values.shape[-1]
    return values.mean(-1), stats.t.ppf(.975, n - 1) * values.std(-1, ddof=1) / np.sqrt(n)


def covers(mean, half):
    return 100 * (np.abs(mean) <= half).mean()


def bootstrap(rng, x, draws=999):
    kinds = x.shape[0]
    k = rng.integers(0, kinds, (draws, kinds, 1, 1))
    e = rng.integers(0, ENCODERS, (draws, kinds, ENCODERS, 1))
    s = rng.integers(0, SEEDS, (draws, kinds, ENCODERS, SEEDS))
    lo, hi = np.percentile(x[k, e, s].mean((1, 2, 3)), (2.5, 97.5))
    return lo <= 0 <= hi


def holm(p):
    """Along the last axis."""
    order, m = np.argsort(p, -1), p.shape[-1]
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, -1) * np.arange(m, 0, -1), -1)
    out = np.empty_like(p)
    np.put_along_axis(out, order, np.minimum(1, stepped), -1)
    return out


def pairs(scores):
    """Differences of means over kinds and their p after Holm's correction: [boards, pairs]."""
    return pairs_of_kinds(scores.mean((-1, -2)))


def pairs_of_kinds(kind):
    a, b = np.triu_indices(kind.shape[1], 1)
    d = kind[:, a] - kind[:, b]
    mean, half = student(d)
    p = 2 * stats.t.sf(np.abs(mean) / half * stats.t.ppf(.975, d.shape[-1] - 1), d.shape[-1] - 1)
    return mean, half, holm(p)


def ranks_apart(rng, entries, kinds, orders=4000):
    rank = rng.permuted(np.broadcast_to(np.arange(entries), (orders, kinds, entries)), axis=-1).mean(1)
    return np.quantile(np.ptp(rank, axis=-1), .95)


def ranks_tell(rng, scores):
    rank = stats.rankdata(scores.mean((-1, -2)), axis=1).mean(-1)
    return np.ptp(rank, axis=-1) > ranks_apart(rng, scores.shape[1], scores.shape[2]) + 1e-9


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def draw_scaled(rng, truth, boards, entries, kinds, first=0, mean=0):
    """Values of kinds [boards, entries, kinds] in points and as shares: shares deviate by .3 over kinds, whose scales R differ and are
    measured with an error of a tenth; those of the first entry are less by `first`."""
    share = mean + .3 * draw(rng, truth, boards, entries, kinds).mean((-1, -2))
    share[:, 0] -= first
    scale = 3 * np.exp(rng.standard_normal((boards, 1, kinds)))
    return {"points": share * scale, "shares": share / (1 + .1 * rng.standard_normal(scale.shape))}


def on_one_scale():
    rng = np.random.default_rng(62)
    ways = "points", "shares"
    true = {"points": -.5 * 3 * np.exp(.5), "shares": -.5}
    cover, told, power = [], [], []
    for truth in TRUTHS:
        for kinds in KINDS:
            x = draw_scaled(rng, truth, 10000, 1, kinds, mean=-.5)
            cover.append([truth, str(kinds), *(f"{covers(student(x[w][:, 0])[0] - true[w], student(x[w][:, 0])[1]):.1f}" for w in ways)])
            x = [draw_scaled(rng, truth, 1000, n, kinds) for n in (2, 5, 20)]
            told.append([truth, str(kinds), *(" / ".join(f"{100 * (pairs_of_kinds(v[w])[2] <= .05).any(-1).mean():.1f}" for v in x) for w in ways)])
            better = {w: [] for w in ways}
            for first in (.25, .5, 1):
                x = draw_scaled(rng, truth, 1000, 5, kinds, first)
                for w in ways:
                    mean, _, p = pairs_of_kinds(x[w])
                    better[w].append(f"{100 * ((p[:, 0] <= .05) & (mean[:, 0] < 0)).mean():.0f}")
            power.append([truth, str(kinds), *(" / ".join(better[w]) for w in ways)])
    for title, rows in (("Coverage of a mean of -50 %, %", cover), ("Boards of 2 / 5 / 20 equal entries on which some pair is told apart, %", told),
                        ("Boards that tell an entry, better by 25 / 50 / 100 % than four equal ones, from a given one, %", power)):
        print(title + "\n")
        table(["truth", "kinds", *ways], rows)


def main():
    rng = np.random.default_rng(61)
    rows = []
    for truth in TRUTHS:
        for kinds in KINDS:
            x = draw(rng, truth, 10000, 1, kinds)[:, 0]
            boot = 100 * np.mean([bootstrap(rng, one) for one in x[:1000]])
            rows.append([truth, str(kinds), f"{covers(*student(x.mean((-1, -2)))):.1f}",
                         f"{covers(*student(x.mean(-1).reshape(len(x), -1))):.1f}", f"{boot:.1f}"])
    print("Coverage, %\n")
    table(["truth", "kinds", "over kinds", "over encoders", "bootstrap"], rows)
    rows = []
    for truth in TRUTHS:
        for kinds in KINDS:
            told, ranks = [], []
            for entries in (2, 5, 20):
                x = draw(rng, truth, 1000, entries, kinds)
                told.append(f"{100 * (pairs(x)[2] <= .05).any(-1).mean():.1f}")
                ranks.append(f"{100 * ranks_tell(rng, x).mean():.1f}")
            rows.append([truth, str(kinds), " / ".join(told), " / ".join(ranks)])
    print("Boards of 2 / 5 / 20 equal entries on which some pair is told apart, %\n")
    table(["truth", "kinds", "by tests", "by mean ranks"], rows)
    rows = []
    for truth in TRUTHS:
        for kinds in KINDS:
            power = []
            for gain in (.5, 1, 2, 4):
                x = draw(rng, truth, 1000, 5, kinds)
                x[:, 0] -= gain
                mean, _, p = pairs(x)
                power.append(f"{100 * ((p[:, 0] <= .05) & (mean[:, 0] < 0)).mean():.0f}")
            rows.append([truth, str(kinds), " / ".join(power)])
    print("Boards that tell an entry, better by .5 / 1 / 2 / 4 points than four equal ones, from a given one, %\n")
    table(["truth", "kinds", "told"], rows)
    rows = []
    for kinds in KINDS:
        x = np.repeat(draw(rng, "normal", 10000, 1, kinds).mean(-1, keepdims=True), 2, 1)
        x = x + SEED_DEVIATION * rng.standard_normal((*x.shape[:-1], SEEDS))
        mean, half, p = pairs(x)
        within = np.abs(mean) + half <= .25
        rows.append([str(kinds), *(f"{100 * share.mean():.1f}" for share in (within & (p > .05), p <= .05, within))])
    print("Boards of an entry and its twin, %\n")
    table(["kinds", "tied as planned", "apart", "within a quarter of a point"], rows)


if __name__ == "__main__":
    on_one_scale() if "scale" in sys.argv[1:] else main()
