#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a training loop waits for: the table of docs/notes/performance.md.

    loop.py X.npy VIEW2.npy [--batch-size 64] [--epochs 3] [--step 0.02] [--samplers uniform,knn]

For every sampler of batches: refresh(x), the first batch of the epoch after it, and all its batches; then the guide's loop with
refresh(x, wait=False), whose steps sleep: the share of its time that is spent in calls of the sampler. `PYTHONPATH` and
`HARDNEG_LIBRARY` say of which build."""
import argparse
import inspect
import time

import numpy as np
import hardneg

OF_FILES = ("given", "command", "file-order")
OPTIONS = {"jest": "{jest: {score: hard}}"}


def times_of(sampler, x, view2):
    """Seconds of processor and clock of refresh, first batch, epoch."""
    list(sampler)  # the first build and its epoch: memory is there
    marks = []

    def mark():
        marks.append((time.process_time(), time.monotonic()))
    mark()
    sampler.refresh(x, view2=view2)
    mark()
    drawn = iter(sampler)
    next(drawn)
    mark()
    for _ in drawn:
        pass
    mark()
    return [(b[0] - a[0], b[1] - a[1]) for a, b in zip(marks, marks[1:])]


def waiting_of(sampler, x, view2, epochs, step):
    """Share of a loop of `epochs` behind a build that is spent waiting."""
    waited = 0.0
    sampler.refresh(x, view2=view2)
    begun = time.monotonic()
    for epoch in range(epochs):
        asked = time.monotonic()
        for k, _ in enumerate(sampler):
            if k == 0 and epoch + 1 < epochs:
                sampler.refresh(x, view2=view2, wait=False)
            waited += time.monotonic() - asked
            time.sleep(step)
            asked = time.monotonic()
        waited += time.monotonic() - asked
    return waited / (time.monotonic() - begun)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("x")
    parser.add_argument("view2")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--step", type=float, default=0.02)
    parser.add_argument("--samplers", default="")
    parser.add_argument("--threads", type=int, default=0)
    how = parser.parse_args()
    x, view2 = np.load(how.x), np.load(how.view2)
    names = how.samplers.split(",") if how.samplers else [name for name, sampler in hardneg.samplers().items()
                                                         if not sampler.per_anchor and name not in OF_FILES]
    print("sampler,refresh_cpu,refresh,first_cpu,first,epoch_cpu,epoch,waiting")
    for name in names:
        more = {"groups": np.arange(len(x)) % 3} if name == "grit" else {}
        sampler = hardneg.BatchSampler(x, OPTIONS.get(name, name), how.batch_size, view2=view2, threads=how.threads, **more)
        cells = [f"{value:.4f}" for pair in times_of(sampler, x, view2) for value in pair]
        waits = how.step > 0 and "wait" in inspect.signature(sampler.refresh).parameters
        print(",".join([name, *cells, f"{waiting_of(sampler, x, view2, how.epochs, how.step):.4f}" if waits else ""]), flush=True)


main()
