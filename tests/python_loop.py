"""Batches as a training loop gets them: their sizes on several processes, and no work for nothing.
`tests/python_loop.py PROGRAM`. Ends as every suite does."""
import itertools
import sys
import unittest
import warnings

from python_data import run_tests
import numpy as np
import hardneg

N, B = 203, 10
rng = np.random.default_rng(8)
X = rng.standard_normal((N, 16)).astype(np.float32)
PARTS = {"view2": X + 0.3 * rng.standard_normal(X.shape).astype(np.float32), "groups": np.arange(N) % 3}
# Samplers of batches with defaults, and settings whose batches are of other numbers or sizes.
QUICK = {"osgd": "{osgd: {drawn: 30, kept: 7}}", "spectral": "{spectral: {clusters: 3, kept: 2, starts: 1}}",
         "jest": "{jest: {score: hard}}"}
SPECS = [QUICK.get(name, name) for name, sampler in hardneg.samplers().items() if not sampler.per_anchor] + [
    "{batchsampler: {M: 30, K: 9, start: unseen}}", "{hard-negative: {l: 3}}", "{uniform: {draw: iid}}",
    "{gcbs: {relabel: false, quantile: 0.9}}"]
# Tuples of so many texts: a batch has none twice, so that batches may be short before the last one.
TEXTS = (N, 25, 7, 1)
OF_TUPLES = ["{uniform: {no_duplicates: true}}", "{gcbs: {keep_apart: true, quantile: 0.9}}", "{mosaic: {keep_apart: true}}"]


def tuples_of(texts):
    return [f"q{i % texts}" for i in range(N)], [f"p{i % 40}" for i in range(N)]


def samplers():
    """(name, arguments) of every sampler, with what it needs and looks at."""
    for spec in SPECS:
        yield spec, {"sampler": spec, "view2": PARTS["view2"], "threads": 1, **({"groups": PARTS["groups"]} if "grit" in spec else {})}
    for spec, texts in itertools.product(OF_TUPLES, TEXTS):
        yield f"{spec}, {texts} texts", {"sampler": spec, "view2": PARTS["view2"], "threads": 1, "tuples": tuples_of(texts)}


class Sizes(unittest.TestCase):
    """Every sampler x drop_last x split x processes."""

    def check(self, what, world, split, drop_last):
        name, arguments = what
        whole = hardneg.BatchSampler(X, batch_size=B * world if split == "batch" else B, seed=3, **arguments)
        processes = [hardneg.BatchSampler(X, batch_size=B, seed=3, rank=rank, world_size=world, split=split,
                                          drop_last=drop_last, **arguments) for rank in range(world)]
        for epoch in range(2):
            wanted = list(whole)
            if drop_last:
                wanted = [ids for ids in wanted if len(ids) == whole.batch_size]
            wanted = ([ids for ids in wanted if len(ids) >= world] if split == "batch"
                      else wanted[:len(wanted) // world * world])
            promised = [len(process) for process in processes]
            drawn = [list(process) for process in processes]
            self.assertEqual(promised, [len(batches) for batches in drawn])
            self.assertEqual(len(set(promised)), 1)  # as many steps on all
            self.assertEqual(promised[0], len(wanted) if split == "batch" else len(wanted) // world)
            for step in zip(*drawn):
                sizes = [len(ids) for ids in step]
                self.assertTrue(all(size == B if drop_last else 0 < size <= B for size in sizes), sizes)
                if split == "batch":
                    self.assertLessEqual(max(sizes) - min(sizes), 1)
            together = [sum(step, []) for step in zip(*drawn)] if split == "batch" else [ids for step in zip(*drawn) for ids in step]
            self.assertEqual(together, wanted)

    def test_sizes(self):
        for what in samplers():
            for world, split, drop_last in itertools.product((1, 2, 3, 8), ("deal", "batch"), (False, True)):
                if world == 1 and split == "batch":
                    continue
                with self.subTest(sampler=what[0], world=world, split=split, drop_last=drop_last), warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # epochs that are empty: below
                    self.check(what, world, split, drop_last)

    def test_empty(self):
        """An epoch that drop_last or processes leave no batch of says so."""
        make = lambda **how: hardneg.BatchSampler(X, "{uniform: {no_duplicates: true}}", B, view2=PARTS["view2"],
                                                  tuples=tuples_of(7), **how)
        sampler = make(drop_last=True)
        with self.assertWarnsRegex(UserWarning, "drop_last leaves no batch, as they have up to 7 of 10 items"):
            self.assertEqual(list(sampler), [])
        self.assertRaisesRegex(ValueError, "never give one", next, iter(make(drop_last=True, endless=True)))
        with self.assertWarnsRegex(UserWarning, "has 21 batches for 50 processes"):
            self.assertEqual(len(hardneg.BatchSampler(X, "uniform", B, world_size=50)), 0)

    def test_measured(self):
        """What is left out is not measured."""
        sampler = hardneg.BatchSampler(X, "uniform", B, 3, labels=np.arange(N) % 5, drop_last=True)
        full = [ids for ids in hardneg.BatchSampler(X, "uniform", B, 3)][:-1]
        self.assertEqual(dict(sampler.measure()).get("fn_ratio"), hardneg.measure(full, X, np.arange(N) % 5)["fn_ratio"])


run_tests("python in the loop", sys.modules[__name__])
