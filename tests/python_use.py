# SPDX-License-Identifier: GPL-3.0-or-later
"""The module of python/ as programs use it: trainers, threads, processes, wrong arguments. `tests/python_use.py
PROGRAM`. Ends as every suite does."""
import ctypes
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

from python_data import B, GROUPS, LABELS, N, SAMPLERS, TEACHER, VIEW2, X, program, rng, run_file, run_of, run_tests, same, snapshot, work
import numpy as np
import hardneg
from hardneg._library import Handle, Items, lib


def environment():
    return {**os.environ, "PYTHONPATH": sys.path[0]}


class Trainers(unittest.TestCase):
    """What Lightning, accelerate and transformers do with a batch sampler, as read in their sources."""

    def test_epochs_reach_the_sampler(self):
        """lightning.fabric.utilities.data._set_sampler_epoch, accelerate's DataLoaderShard.set_epoch."""
        sampler = hardneg.BatchSampler(X, "knn", B, 1)
        wanted = [list(sampler) for _ in range(3)]
        sampler.sampler.set_epoch(1)
        self.assertEqual(list(sampler), wanted[1])
        self.assertRaises(ValueError, sampler.set_epoch, -1)

    def test_left_early(self):
        sampler = hardneg.BatchSampler(X, "knn", B, 1)
        wanted = [list(sampler) for _ in range(2)]
        sampler.set_epoch(0)
        for ids in sampler:
            break
        self.assertEqual(list(sampler), wanted[1])
        # Another epoch is asked for while one is drawn: each gets its own.
        sampler.set_epoch(0)
        drawn = iter(sampler)
        first = next(drawn)
        sampler.set_epoch(1)
        self.assertEqual(len(sampler), len(wanted[1]))
        self.assertEqual([first, *drawn], wanted[0])
        self.assertEqual(list(sampler), wanted[1])

    def test_refresh_in_between(self):
        """An iteration goes on with the build that it began with, the next one has the new build."""
        sampler = hardneg.BatchSampler(np.repeat(X, 6, 0), "uniform", B, 1)
        wanted = list(sampler)
        sampler.set_epoch(0)
        drawn = iter(sampler)
        first = next(drawn)
        sampler.refresh(X)
        self.assertEqual(len(sampler), len(wanted))
        self.assertEqual([first, *drawn], wanted)
        self.assertEqual(sorted(sum(sampler, [])), list(range(N)))

    def test_overlapping(self):
        """Each iteration is an epoch of its own, also while the one before is alive."""
        for spec in ("uniform", "knn"):
            sampler = hardneg.BatchSampler(X, spec, B, 1)
            wanted = []
            for epoch in range(4):
                sampler.set_epoch(epoch)
                wanted.append(list(sampler))
            sampler.set_epoch(0)
            runs = [iter(sampler) for _ in range(4)]
            rows = [[next(run)] for run in runs]
            for run, row in zip(reversed(runs), reversed(rows)):
                row.extend(run)
            self.assertEqual(rows, wanted)
            sampler.set_epoch(1)
            iter(sampler)  # nothing is drawn from it
            self.assertEqual(list(sampler), wanted[1])

    def test_endless(self):
        sampler = hardneg.BatchSampler(X[:250], "uniform", B, 1, endless=True)
        plain = hardneg.BatchSampler(X[:250], "uniform", B, 1)
        wanted = [*plain, *plain, *plain]
        drawn = iter(sampler)
        self.assertEqual([next(drawn) for _ in range(5)], wanted[:5])
        state = sampler.state_dict()
        self.assertEqual([state[key] for key in ("epoch", "batch", "build")], [1, 2, 0])
        self.assertRaises(TypeError, len, sampler)
        again = hardneg.BatchSampler(X[:250], "uniform", B, 1, endless=True)
        again.load_state_dict(sampler.state_dict())
        drawn = iter(again)
        self.assertEqual([next(drawn) for _ in range(4)], wanted[5:])
        again.refresh(X[:150])  # the next epoch is of the new build
        self.assertEqual(len({i for _ in range(4) for i in next(drawn)}), 150)

    def test_goes_on(self):
        """A state holds the batch that comes next, of this process."""
        for how in ({}, {"rank": 1, "world_size": 2}, {"rank": 2, "world_size": 3, "split": "batch", "batch_size": 20},
                    {"drop_last": True, "batch_size": 7}):
            make = lambda: hardneg.BatchSampler(X, "knn", **{"batch_size": 64, "seed": 2, **how})
            whole = make()
            wanted = list(whole), list(whole)
            for left in (0, 1, 5, len(wanted[0]) - 1, len(wanted[0])):
                sampler = make()
                drawn = iter(sampler)
                for _ in range(left):
                    next(drawn)
                state = json.loads(json.dumps(sampler.state_dict()))
                self.assertEqual((state["epoch"], state["batch"]), (0, left))
                again = make()
                again.load_state_dict(state)
                again.set_epoch(0)  # as trainers do: it is the epoch of the state
                self.assertEqual(again.state_dict(), state)
                self.assertEqual(len(again), len(wanted[0]))
                self.assertEqual(list(again), wanted[0][left:])
                self.assertEqual(list(again), wanted[1])
                again.load_state_dict(state)
                again.set_epoch(1)  # another epoch is drawn from its begin
                self.assertEqual(list(again), wanted[1])
        self.assertRaises(ValueError, again.load_state_dict, {"epoch": 0, "batch": -1, "build": 0})
        self.assertRaises(ValueError, again.load_state_dict, {"epoch": 0, "batch": 0, "build": 2**64})
        self.assertRaises(ValueError, again.load_state_dict, {"epoch": 0})
        self.assertRaisesRegex(ValueError, "set_epoch", again.load_state_dict, {"epoch": 1, "build": 0})  # of earlier versions

    def test_refresh_keeps(self):
        """What does not come with the embeddings is kept, what does is asked for."""
        new = np.ascontiguousarray(X[::-1])
        sampler = hardneg.BatchSampler(X, "knn", B, 1, view2=VIEW2, labels=LABELS, teacher=TEACHER)
        self.assertRaisesRegex(ValueError, "give view2=", sampler.refresh, new)
        for second in (None, VIEW2):
            sampler.refresh(new, view2=second)
            batches = np.concatenate(list(sampler.arrays()))
            np.testing.assert_equal(dict(sampler.measure()), dict(hardneg.measure(batches, new, LABELS, second)))
            sampler = hardneg.BatchSampler(X, "knn", B, 1, view2=VIEW2, labels=LABELS, teacher=TEACHER)
        parts = {"teacher": TEACHER, "groups": GROUPS}
        given = hardneg.BatchSampler(X, "grit", B, 1, view2=VIEW2, **parts)
        given.refresh(X, view2=VIEW2, **parts)
        self.assertEqual(given.measure()["cos_mean"], self.refreshed("grit", view2=VIEW2, **parts).measure()["cos_mean"])
        sets = [[int(label), 90] if label >= 0 else [] for label in LABELS]
        for labels in (LABELS, sets):
            kept = self.refreshed("uniform", labels=labels)
            self.assertEqual(kept.measure()["fn_ratio"], hardneg.measure(list(kept.arrays())[0], X, labels)["fn_ratio"])
            kept.refresh(X, labels=None)
            self.assertTrue(np.isnan(kept.measure()["fn_ratio"]))
        self.assertRaisesRegex(ValueError, "labels of the last build are of 1500 items", sampler.refresh, X[:300], view2=None)
        half = hardneg.BatchSampler(X, "{batchsampler: {M: 200, K: 40, alpha: 0.9~0.1}}", B, 1, progress=1)
        half.refresh(X)
        again = hardneg.BatchSampler(X, "{batchsampler: {M: 200, K: 40, alpha: 0.9~0.1}}", B, 1, progress=1)
        again.refresh(X, progress=1)
        self.assertEqual(list(half), list(again))
        again.refresh(X, progress=0)
        half.refresh(X)
        self.assertNotEqual(list(half), list(again))

    @staticmethod
    def refreshed(spec, view2=None, **parts):
        """Of other embeddings, and then of X."""
        sampler = hardneg.BatchSampler(X[::-1], spec, B, 1, view2=None if view2 is None else view2[::-1], **parts)
        sampler.refresh(X, view2=view2)
        return sampler

    def test_state(self):
        sampler = hardneg.BatchSampler(X, "knn", B, 1)
        list(sampler)
        start = sampler.state_dict()
        sampler.refresh(X[::-1])
        for ids in sampler:
            state = sampler.state_dict()  # of the epoch that is drawn: trainers skip its batches themselves
        wanted, later = list(sampler), sampler.state_dict()
        again = hardneg.BatchSampler(X, "knn", B, 1)
        again.load_state_dict(start)
        self.assertEqual(again.state_dict(), start)
        again.load_state_dict(state)
        self.assertEqual(list(again), [])  # of that epoch
        self.assertNotEqual(list(again), wanted)  # of these embeddings, not of those
        again.load_state_dict(start)
        again.refresh(X[::-1])
        list(again)
        self.assertEqual(list(again), wanted)
        self.assertEqual(again.state_dict(), later)
        self.assertEqual(json.loads(json.dumps(later)), later)

    def test_lightning_injects(self):
        """Without use_distributed_sampler=False Lightning calls type(batch_sampler)(sampler, batch_size=,
        drop_last=) with a sampler of its own: that is refused, and says what to do."""
        class DistributedSampler:
            pass
        sampler = hardneg.BatchSampler(X, "knn", B, 1)
        self.assertRaisesRegex(ValueError, "use_distributed_sampler=False", type(sampler), DistributedSampler(),
                               batch_size=sampler.batch_size, drop_last=sampler.drop_last)

    def test_accelerate_shards(self):
        """accelerate.data_loader.BatchSamplerShard reads batch_size, drop_last, len() and lists of ids, and
        appends to them: a part for each process is what `split` gives."""
        for processes in (2, 4):
            whole = hardneg.BatchSampler(X, "knn", B, 1, drop_last=True)
            self.assertEqual((whole.batch_size, whole.drop_last), (B, True))
            for rank in range(processes):
                # split_batches=True
                each = B // processes
                whole.set_epoch(0)
                cut = [ids[each * rank:each * (rank + 1)] for ids in whole]
                own = hardneg.BatchSampler(X, "knn", each, 1, rank, processes, True, "batch")
                self.assertEqual(list(own), cut)
                # split_batches=False
                whole.set_epoch(0)
                dealt = list(whole)[rank:len(whole) // processes * processes:processes]
                own = hardneg.BatchSampler(X, "knn", B, 1, rank, processes, True)
                self.assertEqual(list(own), dealt)
        self.assertIsInstance(next(iter(whole)) + [1], list)


class Errors(unittest.TestCase):
    def test_arguments(self):
        for spec, why in (("knnn", "did you mean 'knn'"), ("{batchsampler: {N: 3}}", "option"),
                          ("{batchsampler: {M: 10, K: 20}}", "K = 20"), ("{knn: [1, 2]}", "mapping"),
                          ("{batchsampler: {M: [200, 300]}}", "one sampler"), ("", "a name is missing"), (7, "a name"),
                          ("mined", "per anchor"), ("\x1b[31m", "control characters"), ("[" * 40, "")):
            self.assertRaisesRegex(ValueError, why, hardneg.BatchSampler, X, spec, B)
        for batch_size in (0, 1, -5, N + 1, 2**40):
            self.assertRaises(ValueError, hardneg.BatchSampler, X, "knn", batch_size)
        for seed in (-1, 2**64):
            self.assertRaises(ValueError, hardneg.BatchSampler, X, "knn", B, seed)
        self.assertRaises(ValueError, hardneg.BatchSampler, X, "knn", B, split="both")
        self.assertRaises(ValueError, hardneg.BatchSampler, X, "knn", B, rank=2, world_size=2)

    def test_arrays(self):
        for x in (X[0], X[:, :, None], X.astype(str), np.zeros((0, 4)), np.zeros((4, 0)), X * 0):
            self.assertRaises(ValueError, hardneg.BatchSampler, x, "knn", 2)
        spoiled = X.copy()
        spoiled[77, 3] = np.nan
        self.assertRaisesRegex(ValueError, "x row 77", hardneg.BatchSampler, spoiled, "knn", B)
        self.assertRaisesRegex(ValueError, "view2", hardneg.BatchSampler, X, "knn", B, view2=X[:5])
        self.assertRaisesRegex(ValueError, "labels", hardneg.BatchSampler, X, "knn", B, labels=LABELS[:5])
        # Not finite; no positive; a batch that is no list of ids; an id that comes twice.
        self.assertRaisesRegex(ValueError, "x row 0 is not finite", hardneg.BatchSampler, np.full((9, 2), np.inf), "knn", 2)
        self.assertRaisesRegex(ValueError, "the items do not have", hardneg.mine, X, "{mined: {relative_margin: 0.1}}")
        for batches in ([[0.5, 1]], [["a"]], np.zeros(3, int), np.zeros((2, 2)), [[[1, 2], [3, 4]]], [object()]):
            self.assertRaisesRegex(ValueError, "batches", hardneg.measure, batches, X)
        for batches in ([1, 2, 3], [[], [1, 2]]):
            self.assertRaisesRegex(ValueError, "batch 0 is", hardneg.measure, batches, X)
        for wrong in ({"batch_size": 2.5}, {"batch_size": "9"}, {"seed": None}, {"seed": 1.0}, {"threads": -1},
                      {"rank": 0.5}, {"world_size": 0}):
            self.assertRaisesRegex(ValueError, f"{[*wrong][0]} .*whole number", hardneg.BatchSampler, X, "knn", **wrong)
        self.assertRaisesRegex(TypeError, "make one there", pickle.dumps, hardneg.BatchSampler(X, "uniform", 9))
        self.assertRaisesRegex(ValueError, "nothing is built", list, hardneg.BatchSampler(None, "knn"))
        self.assertRaisesRegex(ValueError, "epoch_batches", hardneg.measure, [[0, 1]], X, epoch_batches=2**64)
        self.assertRaisesRegex(ValueError, "is not a results file", hardneg.read, snapshot())
        self.assertRaisesRegex(ValueError, "there are .*snapshots", hardneg.read, os.path.dirname(run_file()), "none")
        self.assertEqual(hardneg.measure([[0, 1, 1]], X, LABELS)["cos_mean"], hardneg.measure([[0, 1]], X, LABELS)["cos_mean"])
        self.assertEqual(hardneg.measure(([i, i + 1] for i in range(3)), X)["cos_mean"],
                         hardneg.measure([[0, 1], [1, 2], [2, 3]], X)["cos_mean"])

    def test_refresh_other_shape(self):
        sampler = hardneg.BatchSampler(X, "knn", B, 1)
        sampler.refresh(np.tile(X, (2, 1))[: N + B, :2])
        self.assertEqual(len(sampler), (N + B) // B)
        self.assertGreaterEqual(max(max(batch) for batch in sampler), N)
        labelled = hardneg.BatchSampler(X, "knn", B, 1, labels=LABELS)
        self.assertRaisesRegex(ValueError, "give labels= with x", labelled.refresh, np.tile(X, (2, 1)))

    def test_too_large(self):
        for size, world in ((N, 8), (N + 1, 2), (N // 2 + 1, 2)):
            self.assertRaisesRegex(ValueError, f"batch_size {size} for each of {world} processes exceeds the {N} items",
                                   hardneg.BatchSampler, X, "knn", size, 1, 0, world, split="batch")
        self.assertRaisesRegex(ValueError, f"^batch_size {N + 1} exceeds the {N} items", hardneg.BatchSampler, X, "knn", N + 1)
        self.assertEqual(len(hardneg.BatchSampler(X, "knn", N // 2, 1, 0, 2, split="batch")), 1)

    def test_zero_rows(self):
        x = X.copy()
        x[::5] = 0
        self.assertRaisesRegex(ValueError, "x row 0 is all zeros", hardneg.BatchSampler, x, "knn", B)
        self.assertRaisesRegex(ValueError, "zero_rows", hardneg.BatchSampler, x, "knn", B, zero_rows="yes")
        self.assertRaisesRegex(ValueError, "row 3 is not finite", hardneg.measure, [[0, 1], [9, 3]],
                               np.where(np.arange(N)[:, None] == 3, np.nan, x), zero_rows="keep")
        rows = hardneg.BatchSampler(x, "uniform", B, 1, zero_rows="keep")
        self.assertEqual(sorted(sum(rows, [])), list(range(N)))
        unit = x / np.maximum(np.linalg.norm(x.astype(np.float64), axis=1, keepdims=True), 1e-30)
        rows = hardneg.BatchSampler(x, "uniform", B, 1, zero_rows="keep")
        self.assertEqual(rows.note, f"x: {len(x[::5])} rows are zero and stay, row 0 the first: the cosine to every item is 0")
        self.assertEqual(hardneg.BatchSampler(X, "uniform", B, 1, zero_rows="keep").note, "")
        self.assertEqual(hardneg.mine(x, "mined", zero_rows="keep").note, rows.note)
        both = hardneg.BatchSampler(X, "uniform", B, 1, view2=x, teacher=np.where(np.arange(N)[:, None] == 4, 0, X), zero_rows="keep")
        self.assertRegex(both.note, "^view2: [0-9]+ rows are zero and stay, row 0 the first: .*; teacher: 1 row is zero and stays, row 4 the first: the cosine")
        rows = list(hardneg.BatchSampler(x, "knn", B, 1, zero_rows="keep"))
        pairs = [(unit[ids] @ unit[ids].T)[~np.eye(len(ids), dtype=bool)] for ids in rows]
        self.assertAlmostEqual(hardneg.measure(rows, x, zero_rows="keep")["cos_mean"], np.concatenate(pairs).mean(), places=7)

    def test_failed_build(self):
        sampler = hardneg.BatchSampler(X, "{batchsampler: {M: 200, K: 40}}", B, 1)
        wanted, state = list(sampler), sampler.state_dict()
        for wrong in ({"x": X * np.nan}, {"x": X[:50]}, {"x": X, "labels": LABELS[:5]}, {"x": X, "groups": GROUPS}):
            self.assertRaises(ValueError, sampler.refresh, **wrong)
            self.assertEqual(sampler.state_dict(), state)
        sampler.set_epoch(0)
        self.assertEqual(list(sampler), wanted)

    def test_library(self):
        """Every function with NULL, wrong sizes and numbers: a code, never a crash."""
        self.assertEqual(lib.hardneg_open(b"knn", 10, 1, 0, None), 2)
        for call in (lambda: lib.hardneg_build(None, None), lambda: lib.hardneg_epoch(None, 0, None),
                     lambda: lib.hardneg_next(None, 0, 0, None),
                     lambda: lib.hardneg_negatives(None, 0, 0, None, None, None),
                     lambda: lib.hardneg_measure_batches(None, None, 0, 0, None, None)):
            self.assertEqual(call(), 2)
        lib.hardneg_free(None)
        lib.hardneg_stop(None)
        self.assertEqual(lib.hardneg_capacity(None), 0)
        self.assertIn(b"no handle", lib.hardneg_message(None))
        self.assertEqual(lib.hardneg_column(-1, None, None, None), 0)
        handle = Handle("knn", B, 1)
        raw = handle.raw
        self.assertEqual(lib.hardneg_build(raw, None), 2)
        self.assertEqual(lib.hardneg_epoch(raw, 0, None), 2)
        handle.build(Items(X))
        batches = ctypes.c_int64()
        self.assertEqual(lib.hardneg_epoch(raw, 0, ctypes.byref(batches)), 0)
        batches = batches.value
        for first, count in ((-1, 1), (0, batches + 1), (batches, 1), (0, -1), (2**62, 2**62)):
            self.assertEqual(lib.hardneg_next(raw, first, count, X.ctypes.data), 2)
        self.assertEqual(lib.hardneg_next(raw, 0, 1, None), 2)
        self.assertEqual(lib.hardneg_negatives(raw, 0, 1, X.ctypes.data, X.ctypes.data, None), 2)
        for rows, width in ((0, 5), (5, 0), (-1, 5), (2**40, 2**40)):
            self.assertEqual(lib.hardneg_measure_batches(raw, X.ctypes.data, rows, width, None, X.ctypes.data), 2)
        handle.close()
        handle.close()

    def test_no_library(self):
        done = subprocess.run([sys.executable, "-c", "import hardneg"], capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONPATH": sys.path[0], "HARDNEG_LIBRARY": "/none/libhardneg.so"})
        self.assertRegex(done.stderr, "ImportError: /none/libhardneg.so: .*GSL")


class Interrupts(unittest.TestCase):
    """After KeyboardInterrupt a sampler is as before the call, and the call is over."""
    code = """if True:
        import os, signal, sys, threading, time
        import numpy as np, hardneg
        x = np.random.default_rng(0).standard_normal((20000, 64)).astype(np.float32)
        spec, what, after = sys.argv[1], sys.argv[2], float(sys.argv[3])
        sampler = hardneg.BatchSampler(x[:2000], spec, 100, threads=1)
        wanted, state = list(sampler), sampler.state_dict()
        call = {"refresh": lambda: sampler.refresh(x), "new": lambda: hardneg.BatchSampler(x, spec, 100, threads=1),
                "measure": lambda: hardneg.measure(np.arange(20000)[None], x, view2=x, threads=1),
                "mine": lambda: hardneg.mine(x, x, [[0]] * 20000, threads=1)}[what]
        tasks = len(os.listdir("/proc/self/task"))
        threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            call()
            sys.exit("was not interrupted")
        except KeyboardInterrupt:
            pass
        used = time.process_time(); time.sleep(0.3); used = time.process_time() - used
        assert used < 0.1, used
        working = len(os.listdir("/proc/self/task"))
        assert working <= tasks, (working, tasks)
        assert sampler.state_dict() == state
        sampler.set_epoch(0)
        assert list(sampler) == wanted
        sampler.refresh(x[:1500])
        other = hardneg.BatchSampler(x[:1500], spec, 100, threads=1)
        other.refresh(x[:1500])
        sampler.set_epoch(0)
        assert list(sampler) == list(other)
        print("as before")
    """

    def test_state(self):
        for spec, what, after in (("{gcbs: {quantile: 0.99}}", "refresh", 0.2), ("mosaic", "refresh", 0.15),
                                  ("mosaic", "new", 0.1), ("knn", "measure", 0.1), ("knn", "mine", 0.2)):
            for again in range(6):  # sooner where the machine was faster
                done = subprocess.run([sys.executable, "-c", self.code, spec, what, str(after / 2**again)],
                                      capture_output=True, text=True, check=False, timeout=120, env=environment())
                if "was not interrupted" not in done.stderr:
                    break
            self.assertEqual(done.stdout, "as before\n", f"{spec}, {what}: {done.stderr}")


class Sharing(unittest.TestCase):
    """Threads with one sampler, and children of fork()."""

    def test_threads(self):
        for spec in ("uniform", "{gcbs: {quantile: 0.99}}"):  # whose epochs are partitions
            sampler, wrong, end = hardneg.BatchSampler(X, spec, B, 1, threads=1), [], time.time() + 1.5

            def watched(work):
                while time.time() < end and not wrong:
                    try:
                        work()
                    except Exception as error:  # pylint: disable=broad-except
                        wrong.append(error)

            def read():
                drawn = sorted(sum(sampler, []))
                if drawn not in (list(range(N)), list(range(700))):
                    wrong.append(drawn)
            turn = iter(range(10**6))
            works = (read, read, lambda: sampler.refresh(X[:700] if next(turn) % 2 else X), lambda: len(sampler) or sampler.measure())
            threads = [threading.Thread(target=watched, args=(work,)) for work in works]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])

    def test_fork(self):
        """In a child batches are those of the parent, of a sampler of the parent and of a new one."""
        for spec in ("knn", "{batchsampler: {M: 50, K: 20}}"):
            sampler = hardneg.BatchSampler(X, spec, B, 1, threads=2)
            wanted = list(sampler)
            hardneg.mine(X, "{mined: {n: 3}}", threads=2)
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                sampler.set_epoch(0)
                right = list(sampler) == wanted and list(hardneg.BatchSampler(X, spec, B, 1, threads=2)) == wanted
                os._exit(0 if right else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0, spec)


class Ranks(unittest.TestCase):
    """Processes whose embeddings differ draw batches that do not fit each other."""

    def test_digest(self):
        make = lambda x=X, spec="knn", seed=1, **parts: hardneg.BatchSampler(x, spec, B, seed, **parts)
        same_one = make()
        self.assertEqual(same_one.digest, make(np.asfortranarray(X.astype(np.float64)), threads=1).digest)
        self.assertEqual(same_one.digest, make(X * np.float32(4)).digest)  # directions count
        self.assertEqual(len(same_one.digest), 64)
        off = X.copy()
        off[77, 3] *= 1.001
        others = [make(off), make(seed=2), make(spec="{batchsampler: {M: 50, K: 20}}"), make(labels=LABELS), make(view2=VIEW2),
                  make(labels=[[0], [1]] * (N // 2)), make(x=X[::-1])]
        digests = {sampler.digest for sampler in [same_one, *others]}
        self.assertEqual(len(digests), 1 + len(others))
        same_one.refresh(X)
        self.assertNotIn(same_one.digest, digests)

    def test_check(self):
        off = X * (1 + 1e-3 * rng.standard_normal(X.shape)).astype(np.float32)
        ranks = [hardneg.BatchSampler(x, "{gcbs: {quantile: 0.99}}", B, 1, rank=rank, world_size=3)
                 for rank, x in enumerate((X, X, off))]
        drawn = sum(sum(zip(*ranks), ()), [])
        self.assertLess(len(set(drawn)), len(drawn))  # items come twice
        self.assertRaisesRegex(ValueError, "processes 2 have other embeddings", ranks[0].check_ranks,
                               lambda own: [rank.digest for rank in ranks])
        asked = []
        group = lambda own: asked.append(own) or [own, own, own]
        sampler = hardneg.BatchSampler(X, "knn", B, 1, rank=1, world_size=3, group=group)
        sampler.refresh(off)
        self.assertEqual((len(set(asked)), asked[1]), (2, sampler.digest))
        sampler = hardneg.BatchSampler(X, "knn", B, 1, group=lambda own: [own, own])
        wanted = sampler.digest
        sampler._group = lambda own: [own, "other"]
        self.assertRaisesRegex(ValueError, "processes 1 have", sampler.refresh, off)
        self.assertEqual(sampler.digest, wanted)


class Loaders(unittest.TestCase):
    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no python3-torch")
        data = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.arange(N))
        sampler = hardneg.BatchSampler(torch.from_numpy(X), "knn", B, 1)
        wanted = list(sampler)
        sampler.set_epoch(0)
        loader = torch.utils.data.DataLoader(data, batch_sampler=sampler)
        self.assertEqual(len(loader), len(wanted))
        self.assertEqual([ids.tolist() for _, ids in loader], wanted)
        # Batches of a loader are measured as the program measures the same: in order, and shuffled.
        loader = torch.utils.data.DataLoader(data, batch_size=B)
        same(self, run_of(["file-order"], epochs=1), hardneg.measure(loader.batch_sampler, X, LABELS, VIEW2), 0)
        order = np.concatenate(list(hardneg.BatchSampler(X, "uniform", B, 7))).tolist()
        loader = torch.utils.data.DataLoader(data, batch_size=B, sampler=order)
        same(self, run_of(["uniform"], seeds=[7], epochs=1),
             hardneg.measure(loader.batch_sampler, X, LABELS, VIEW2), 0)
        with_gradient = torch.from_numpy(X).requires_grad_() * 1
        self.assertEqual(list(hardneg.BatchSampler(with_gradient, "knn", B, 1)), wanted)
        self.assertEqual(hardneg.measure([torch.arange(9)], with_gradient, torch.arange(N) % 5)["fn_ratio"],
                         hardneg.measure([range(9)], X, np.arange(N) % 5)["fn_ratio"])
        half = torch.from_numpy(X).bfloat16()  # as models are often run
        self.assertEqual(list(hardneg.BatchSampler(half, "knn", B)),
                         list(hardneg.BatchSampler(half.float(), "knn", B)))

    def test_sentence_transformers(self):
        """As SentenceTransformerTrainer calls a batch sampler that is a function."""
        factory = hardneg.sentence_transformers(X, "knn")
        made = factory([None] * N, batch_size=B, drop_last=True, valid_label_columns=["label"], generator=None, seed=3)
        made.set_epoch(1)
        self.assertEqual(len(list(made)), len(made))
        self.assertEqual(factory.made, [made])
        self.assertRaisesRegex(ValueError, "a function that embeds", factory, [None], batch_size=B)
        # One for training and one for evaluation, which are embedded as they come.
        factory = hardneg.sentence_transformers(np.asarray, "uniform")
        used = []
        for rows in (X, X[:300]):
            used.append(factory(rows, batch_size=B, drop_last=False, valid_label_columns=None, generator=None, seed=0))
            self.assertEqual(sorted(sum(used[-1], [])), list(range(len(rows))))
        self.assertEqual(factory.made, used)
        del used[0]  # an evaluation that is over
        self.assertEqual([len(list(made)) for made in factory.made], [3])

    def test_factory_pickles(self):
        """Trainers save their arguments with every checkpoint."""
        factory = hardneg.sentence_transformers(np.asarray, {"knn": {}}, zero_rows="keep", labels=LABELS)
        made = factory(X, batch_size=B, seed=3)
        again = pickle.loads(pickle.dumps({"batch_sampler": factory}))["batch_sampler"]
        self.assertEqual(again.made, [])
        self.assertEqual(list(again(X, batch_size=B, seed=3)), list(made))
        for x in (X, lambda rows: rows):
            stored = pickle.dumps(hardneg.sentence_transformers(x, "knn"))
            self.assertLess(len(stored), 1000)
            self.assertRaisesRegex(ValueError, "from a checkpoint", pickle.loads(stored), X, batch_size=B)

    def test_workers(self):
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("no python3-torch")
        for method, *workers in (("fork", "2", "4"), ("spawn", "2"), ("forkserver", "2")):
            done = subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "python_loader.py"), method, *workers],
                                  capture_output=True, text=True, check=False, timeout=240, env=environment())
            self.assertEqual(done.stdout, "the same 36\n", method + done.stderr)


run_tests("python in use", sys.modules[__name__])
