#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a nominal 95 % interval of a mean over three seeds holds the truth: over seeds, over the batches of
these seeds, and by a pre-test that takes the batches unless seeds vary significantly more (p < .25).

    docs/notes/seeds.py

A seed has a build, of deviation `build`, and 60 batches, whose mean has deviation 1."""
import numpy as np
from scipy import stats

SEEDS, BATCHES, DRAWS = 3, 60, 200000
random = np.random.default_rng(1)
print("build / batches | over seeds | over batches | pre-test | half-width over seeds")
for build in 0, 0.5, 1, 2:
    value = random.normal(0, build, (DRAWS, SEEDS)) + random.normal(0, 1, (DRAWS, SEEDS))
    within = random.chisquare(SEEDS * (BATCHES - 1), DRAWS) / (SEEDS * (BATCHES - 1))  # estimates 1
    between = value.var(axis=1, ddof=1)
    mean = value.mean(axis=1)
    seeds = stats.t.ppf(.975, SEEDS - 1) * np.sqrt(between / SEEDS)
    batches = stats.t.ppf(.975, SEEDS * (BATCHES - 1)) * np.sqrt(within / SEEDS)
    differ = stats.f.sf(between / within, SEEDS - 1, SEEDS * (BATCHES - 1)) < .25
    cover = [100 * (np.abs(mean) <= half).mean() for half in (seeds, batches, np.where(differ, seeds, batches))]
    print(f"{build} | " + " | ".join(f"{c:.1f}" for c in cover) + f" | {seeds.mean():.2f} (batches {batches.mean():.2f})")
