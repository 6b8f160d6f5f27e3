# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches as a training loop gets them: their sizes on several processes, and no work for nothing.
`tests/python_loop.py PROGRAM`. Ends as every suite does."""
import base64
import itertools
import os
import signal
import sys
import threading
import time
import unittest
from unittest import mock
import warnings

from python_data import program, run_tests, work
import numpy as np
import hardneg
from hardneg._library import Handle

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


class Once(unittest.TestCase):
    """A state has every item once where the sampler does, and is refused otherwise."""

    @staticmethod
    def spoil(state, change):
        """The state with other numbers in its order."""
        ids = np.frombuffer(base64.b64decode(state["order"]), "<i4").copy()
        change(ids)
        return {**state, "order": base64.b64encode(ids.tobytes()).decode()}

    def test_once(self):
        def twice(ids):
            ids[0] = ids[-1]

        def most(ids):
            ids[:] = ids[0]

        partitions = set()
        for name, arguments in samplers():
            for how in ({}, {"world_size": 3}, {"world_size": 3, "split": "batch", "drop_last": True}):
                with self.subTest(sampler=name, how=how):
                    sampler = hardneg.BatchSampler(X, batch_size=B, seed=3, **how, **arguments)
                    if not len(sampler):
                        continue
                    next(iter(sampler))
                    state, again = sampler.state_dict(batch=1), hardneg.BatchSampler(None, arguments["sampler"], B, 3, **how)
                    again.load_state_dict(state)
                    drawn = sorted(sum(hardneg.BatchSampler(X, batch_size=B, seed=3, **arguments), []))
                    if drawn == list(range(N)):
                        partitions.add(name)
                        for change, what in ((twice, "item [0-9]+ is [02] times"), (most, "is (0|203) times in the order")):
                            self.assertRaisesRegex(ValueError, what, again.load_state_dict, self.spoil(state, change))
                        again.load_state_dict(state)  # which is as before
                    elif name != "jest":
                        again.load_state_dict(self.spoil(state, twice))
        self.assertGreater(len(partitions), 18)


class Apart(unittest.TestCase):
    """keep_apart says what it could not do, and unknown ids are not passed over."""

    @staticmethod
    def left_of(batches, queries, passages):
        """Tuples that clash with one of their batch, by the definition."""
        known = set(zip(queries, passages))
        clash = lambda i, j: i != j and ((queries[i], passages[j]) in known or (queries[j], passages[i]) in known)
        return sum(any(clash(i, j) for j in ids) for ids in batches for i in ids)

    def test_left(self):
        for spec, texts in itertools.product(("{mosaic: {keep_apart: true}}", "{uniform: {keep_apart: true}}"), (1, 4, 50)):
            tuples = [f"q{i}" for i in range(N)], [f"p{i % texts}" for i in range(N)]
            sampler = hardneg.BatchSampler(X, spec, B, 3, view2=PARTS["view2"], tuples=tuples, threads=1)
            lefts = []
            for epoch in range(3):
                sampler.set_epoch(epoch)
                measured, left = sampler.measure(), self.left_of(list(sampler), *tuples)
                self.assertEqual(measured["apart_left"], left)
                lefts.append(left)
            self.assertTrue(measured["apart_moved"] > 0 or texts < 50)
            if lefts[0]:
                self.assertRegex(sampler.note, rf"keep_apart: {lefts[0]} of {N} tuples found no place")
            self.assertEqual(bool(lefts[0]), "keep_apart" in sampler.note)
        self.assertEqual(lefts, [0] * 3)
        self.assertNotIn("apart_left", hardneg.BatchSampler(X, "mosaic", B).measure())

    def test_sample(self):
        np.save(f"{work}/q.npy", X[:60])
        np.save(f"{work}/p.npy", PARTS["view2"][:60])
        with open(f"{work}/r.tsv", "w", encoding="ascii") as file:
            file.writelines(f"{i}\t0\t1\n" for i in range(60))
        program("import", "-q", "--queries", "q.npy", "--corpus", "p.npy", "--qrels", "r.tsv", "-o", "apart.h5")
        done = program("sample", "apart.h5", "--sampler", "{mosaic: {keep_apart: true}}", "-b", "16", "--epochs", "2", "-o", "o.npy")
        self.assertRegex(done.stderr, "keep_apart: 120 of 120 tuples found no place .*, over all epochs")

    def test_unknown_ids(self):
        make = lambda tuples, **how: hardneg.BatchSampler(X, "{uniform: {keep_apart: true}}", B, tuples=tuples, **{"view2": X, **how})
        queries, passages = [f"q{i}" for i in range(N)], [f"p{i}" for i in range(N)]
        for pairs in ([(0, 1)], [("p1", "q0")], [("q0", 1)]):
            self.assertRaisesRegex(ValueError, "none of 1 pair has .*row 0 has 'q0' and 'p0'", make, (queries, passages, pairs))
        pairs = [("q0", "p1"), ("q0", "p9999"), (3, "p1")]
        self.assertIn("tuples: 2 of 3 pairs have", make((queries, passages, pairs)).note)
        self.assertIn("tuples: 2 of 3 pairs have", hardneg.measure([[0, 1]], X, view2=X, tuples=(queries, passages, pairs)).note)
        self.assertEqual(make((queries, passages, pairs[:1])).note, "")
        self.assertRaisesRegex(ValueError, r"queries\[1\] is None", make, ([queries[0], None, *queries[2:]], passages))
        self.assertRaisesRegex(ValueError, "give view2=", make, (queries, passages), view2=None)


class Waiting(unittest.TestCase):
    """No epoch is arranged for nothing, and builds need not be waited for."""

    def setUp(self):
        self.new = np.ascontiguousarray(X[::-1])

    def make(self, x=X, spec="{mosaic: {pool: 100}}", **how):
        return hardneg.BatchSampler(x, spec, B, seed=3, **how)

    def test_length(self):
        """len() draws nothing, in an epoch and between epochs."""
        for spec in ("uniform", "{mosaic: {pool: 100}}", "{gcbs: {quantile: 0.9}}", "hard-negative"):
            sampler = self.make(spec=spec)
            with mock.patch.object(Handle, "_draw") as drawn:
                lengths = [len(sampler)]
                sampler.set_epoch(9)
                lengths.append(len(sampler))
            drawn.assert_not_called()
            self.assertEqual(lengths, [len(list(sampler))] * 2)

    def test_aside(self):
        """What has begun goes on, the next iteration has the new build; the arrays are the caller's again at once."""
        wanted = self.make()
        whole = [list(wanted)]
        wanted.refresh(self.new)
        whole.append(list(wanted))
        sampler, given = self.make(), self.new.copy()
        drawn = iter(sampler)
        first = next(drawn)
        sampler.refresh(given, wait=False)
        given[:] = 1
        self.assertEqual([first, *drawn], whole[0])
        self.assertEqual(list(sampler), whole[1])
        self.assertEqual(sampler.state_dict(), wanted.state_dict())
        # Two builds one after the other; and a resumed epoch, which a build does not replace.
        sampler.refresh(X, wait=False)
        sampler.refresh(self.new, wait=False)
        self.assertEqual((len(sampler), sampler.state_dict()["build"]), (len(whole[0]), 3))
        drawn = iter(sampler)
        trained = next(drawn)
        state = sampler.state_dict(batch=1)
        again = self.make(None)
        again.load_state_dict(state)
        again.refresh(X, wait=False)
        self.assertEqual(sorted(sum(again, trained)), list(range(N)))
        self.assertEqual(again.state_dict()["build"], 3)
        self.assertEqual(sorted(sum(again, [])), list(range(N)))
        self.assertEqual(again.state_dict()["build"], 3)  # as if it had come before that epoch

    def test_ahead(self):
        """Batches that take long are drawn before the loop asks for them, and are the same."""
        whole = list(self.make(spec="knn"))
        with mock.patch.object(hardneg._epoch, "SLOW", 0):
            self.assertEqual(list(self.make(spec="knn")), whole)
            asked, sampler = [], self.make(spec="uniform")
            draw = Handle.next
            with mock.patch.object(Handle, "next", lambda self, *which: asked.append(which) or draw(self, *which)):
                drawn = iter(sampler)
                next(drawn)
                end = time.time() + 10
                while len(asked) < 2 and time.time() < end:
                    time.sleep(0.001)
            self.assertEqual([which[1:] for which in asked], [(0, 1), (1, 2)])  # the second is not asked for yet
            self.assertEqual(sum(len(ids) for ids in drawn), N - B)

    def test_fails(self):
        """It is said where the build would be taken, once; the last one stays."""
        for ask in (lambda sampler: list(sampler), lambda sampler: len(sampler), lambda sampler: sampler.refresh(X),
                    lambda sampler: sampler.measure()):
            sampler = self.make()
            list(sampler)
            sampler.refresh(X * np.nan, wait=False)
            self.assertRaisesRegex(ValueError, "x row 0 is not finite", ask, sampler)
            self.assertEqual(sorted(sum(sampler, [])), list(range(N)))
        asked = []
        sampler = self.make(group=lambda own: asked.append(own) or [own] * 2)
        sampler.refresh(self.new, wait=False)
        self.assertEqual(len(asked), 1)  # processes are compared where all of them are
        list(sampler)
        self.assertEqual(asked[1:], [sampler.digest])

    def test_fork(self):
        """A child has no thread that builds."""
        sampler = self.make(rng.standard_normal((3000, 32)).astype(np.float32), "mosaic")
        sampler.refresh(rng.standard_normal((3000, 32)).astype(np.float32), wait=False)
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                list(sampler)
            except ValueError as error:
                os._exit(0 if "was forked" in str(error) else 2)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(sorted(sum(sampler, [])), list(range(3000)))

    def test_interrupt(self):
        """Ctrl-C ends the waiting, not the build."""
        sampler = self.make(rng.standard_normal((6000, 32)).astype(np.float32), "mosaic", threads=1)
        for after in (0.2, 0.05, 0.0):
            sampler.refresh(rng.standard_normal((6000, 32)).astype(np.float32), wait=False)
            index = sampler.state_dict()["build"]
            timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
            try:
                timer.start()
                list(sampler)
                timer.join()
            except KeyboardInterrupt:
                self.assertEqual(sampler.state_dict()["build"], index)
            self.assertEqual(sorted(sum(sampler, [])), list(range(6000)))
            self.assertEqual(sampler.state_dict()["build"], index + 1)


run_tests("python in the loop", sys.modules[__name__])
