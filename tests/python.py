"""The module of python/ against the program: `tests/python.py PROGRAM`. Ends as every suite does."""
import json
import os
import pickle
import signal
import subprocess
import sys
import unittest

from python_data import (B, GROUPS, LABELS, N, Quiet, SAMPLERS, TEACHER, VIEW2, X, as_job, program, rng, run_file, run_of, same,
                         shared, snapshot, work)
import numpy as np
import hardneg
from hardneg._library import Handle, lib


class Measures(unittest.TestCase):
    def test_equal_to_run(self):
        for spec in SAMPLERS:
            sampler = hardneg.BatchSampler(X, spec, B, 3, labels=LABELS, view2=VIEW2)
            row = run_of([as_job(spec)], seeds=[3], epochs=1)
            same(self, row, sampler.measure(), 0)
            # The same of lists of ids, as a loader gives them.
            same(self, row, hardneg.measure(list(sampler), X, LABELS, VIEW2), 0)

    def test_teacher_and_groups(self):
        more = {"view2": VIEW2, "labels": LABELS, "teacher": TEACHER, "groups": GROUPS}
        for spec in ("grit", {"tas-b": {"space": "teacher", "cluster": 40}}, {"b3": {"space": "teacher"}}):
            row = run_of([spec], seeds=[4], epochs=1)
            same(self, row, hardneg.BatchSampler(X, spec, B, 4, **more).measure(), 0)
            for name in ("teacher", "groups"):
                if name[:5] in str(spec) or (spec == "grit" and name == "groups"):
                    without = {key: value for key, value in more.items() if key != name}
                    self.assertRaisesRegex(ValueError, f"needs (a )?{name}", hardneg.BatchSampler, X, spec, B, 4, **without)
        for name, bad, why in (("teacher", TEACHER[:-1], "teacher: 1499 rows"), ("groups", GROUPS[:-1], "groups: one for each"),
                               ("groups", GROUPS - 1, "group -1"), ("teacher", TEACHER * np.nan, "teacher")):
            self.assertRaisesRegex(ValueError, why, hardneg.BatchSampler, X, "knn", B, 4, **{**more, name: bad})

    def test_losses_and_weightings(self):
        sampler = hardneg.BatchSampler(X, "knn", B, 1, labels=LABELS, view2=VIEW2)
        row = run_of(["knn"], epochs=1, loss="infonce", weightings=[{"hcl": {"beta": 2}}])
        same(self, row, sampler.measure(loss="infonce", weighting={"hcl": {"beta": 2}}), 0)
        self.assertRaisesRegex(ValueError, "hcl", sampler.measure, weighting="hclx")
        self.assertRaises(ValueError, sampler.measure, loss="contrastive")

    def test_guided_weighting(self):
        guided = {"gist": {"guide": "teacher", "margin": 0.6}}
        batches = list(hardneg.BatchSampler(X, "knn", B, 1, view2=VIEW2))
        value = hardneg.measure(batches, X, LABELS, VIEW2, weighting=guided, teacher=TEACHER)
        same(self, run_of(["knn"], epochs=1, weightings=[guided]), value, 0)
        own = hardneg.measure(batches, X, LABELS, VIEW2, weighting={"gist": {"margin": 0.6}})
        self.assertNotEqual(value["fn_mass"], own["fn_mass"])
        self.assertRaisesRegex(ValueError, "needs a teacher", hardneg.measure, batches, X, LABELS, VIEW2, weighting=guided)

    def test_equal_to_sample(self):
        for spec in ("knn", "{batchsampler: {M: 200, K: 40}}"):
            path = os.path.join(work, "order.npy")
            program("sample", snapshot(), "--sampler", spec, "-b", str(B), "--seed", "9", "--epochs", "2", "-o", path)
            sampler = hardneg.BatchSampler(X, spec, B, 9, view2=VIEW2)
            drawn = list(sampler) + list(sampler)
            self.assertEqual(drawn, [row[row >= 0].tolist() for row in np.load(path)])

    def test_negatives(self):
        sampler = Handle("{mined: {n: 5}}", B, 1)
        sampler.build(X, view2=VIEW2, labels=LABELS)
        anchors, negative, score = sampler.negatives(0, sampler.epoch(0))
        row = run_of([{"mined": {"n": 5}}], epochs=1)
        same(self, row, sampler.measure(anchors, negatives=negative), 0)
        unit = X.astype(np.float64) / np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True)
        there = negative >= 0
        first = np.broadcast_to(anchors[:, :, None], negative.shape)[there]
        np.testing.assert_allclose(score[there], (unit[first] * unit[negative[there]]).sum(1), atol=2e-7)
        self.assertTrue(np.isnan(score[~there]).all())

    def test_batches_of_ones_own(self):
        for bad, why in (([[0, 1], [2, N]], "1500 at place 1"), ([[-1, 1]], "place 0"), ([], "no batches"),
                         (np.array([[0, -1, 3]]), "place 2")):
            self.assertRaisesRegex(ValueError, why, hardneg.measure, bad, X)
        value = hardneg.measure([[0, 1, 2], [3, 4]], X)
        self.assertEqual(value["short_batches"], 0.5 if value["short_batches"] < 1 else 1)
        self.assertTrue(np.isnan(value["fn_ratio"]))


class SeveralLabels(unittest.TestCase):
    """Items with any number of labels, against NumPy and against the program."""
    labels = [rng.choice(90, size, replace=False).tolist() for size in rng.integers(0, 4, N)]

    def truth(self):
        matrix = np.zeros((N, 90), bool)
        for row, own in zip(matrix, self.labels):
            row[own] = True
        return matrix

    def test_oracle(self):
        batches = list(hardneg.BatchSampler(X, "knn", B, 1))
        value = hardneg.measure(batches, X, self.labels)
        same, known = shared(self.labels)
        unit = X.astype(np.float64) / np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True)
        pairs = false = 0
        hardest = []
        for ids in map(np.array, batches):
            off = ~np.eye(len(ids), dtype=bool)
            both = known[ids][:, None] & known[ids] & off
            pairs, false = pairs + both.sum(), false + (same[np.ix_(ids, ids)] & both).sum()
            true = np.where(both & ~same[np.ix_(ids, ids)], unit[ids] @ unit[ids].T, -np.inf).max(1)
            hardest += true[np.isfinite(true)].tolist()
        self.assertEqual(value["fn_ratio"], false / pairs)
        self.assertAlmostEqual(value["hard_true_mean"], np.mean(hardest), places=6)

    def test_shapes(self):
        ids = list(hardneg.BatchSampler(X, "knn", B, 1))
        wanted = hardneg.measure(ids, X, self.labels)
        start = np.concatenate([[0], np.cumsum([len(row) for row in self.labels])])
        self.assertEqual(hardneg.measure(ids, X, LABELS[:, None])["fn_ratio"], hardneg.measure(ids, X, LABELS)["fn_ratio"])
        forms = [(start, np.concatenate([np.array(row, int) for row in self.labels])), self.truth(),
                 self.truth().astype(int), [{f"class {k}" for k in row} for row in self.labels],
                 [row or None for row in self.labels], np.array([*self.labels, None], object)[:-1]]
        try:
            import scipy.sparse
            forms += [scipy.sparse.csr_matrix(self.truth()), scipy.sparse.coo_matrix(self.truth().astype(float))]
        except ImportError:
            print("    skipped: labels as a SciPy matrix: no python3-scipy")
        for form in forms:
            value = hardneg.measure(ids, X, form)
            self.assertTrue(all(v == wanted[k] or np.isnan([v, wanted[k]]).all() for k, v in value.items()))
        one = [[] if label < 0 else [label] for label in LABELS.tolist()]
        single = hardneg.measure(ids, X, LABELS, VIEW2, weighting={"hcl": {"beta": 1}})
        value = hardneg.measure(ids, X, one, VIEW2, weighting={"hcl": {"beta": 1}})
        self.assertTrue(all(v == single[k] or np.isnan([v, single[k]]).all() for k, v in value.items()))
        self.assertGreater(single["fn_mass"], 0)

    def test_equal_to_run(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("no python3-h5py")
        path = os.path.join(work, "several.h5")
        with h5py.File(snapshot(), "r") as source, h5py.File(path, "w") as file:
            for name in ("embeddings", "view2", "step"):
                file[name] = source[name][()]
            for name in ("schema", "schema_version"):
                file.attrs[name] = source.attrs[name]
            file["labels_csr/indptr"] = np.concatenate([[0], np.cumsum([len(row) for row in self.labels])])
            file["labels_csr/indices"] = np.concatenate([np.array(row, np.int32) for row in self.labels])
        self.assertIn("several an item", program("info", path).stdout)
        program("validate", path)
        rows = run_of(["knn", {"mined": {"n": 5}}], snapshots=path, epochs=1, metrics=[
            "fn_ratio", "histogram", "hardness", "true_hardness", "coverage", "gap", "loss", "overlap_label", "knn_acc", "probe_acc",
            "purity", "prop2", "prop3"])
        sampler = hardneg.BatchSampler(X, "knn", B, 1, labels=self.labels, view2=VIEW2)
        same(self, rows, sampler.measure(), list(rows["sampler"]).index("knn"))
        mined = Handle("{mined: {n: 5}}", B, 1)
        mined.build(X, view2=VIEW2, labels=self.labels)
        anchors, negative, _ = mined.negatives(0, mined.epoch(0))
        same(self, rows, mined.measure(anchors, negatives=negative), list(rows["sampler"]).index("mined"))
        self.assertGreater(rows["fn_ratio"].min(), 0)

    def test_wrong(self):
        for labels, why in ((self.labels[:5], "a list of 5"), ([[-3]] * N, "0 to 2"), ([[2**31]] * N, "0 to 2"),
                            (np.full((N, 3), 7), "truth values"), (np.zeros((5, 3), bool), "truth values"),
                            ((np.arange(N), np.arange(3)), "indptr"), ((np.arange(N + 1), np.arange(3)), "indptr"),
                            ((np.arange(N + 1)[::-1], np.arange(0)), "label_start"),
                            ((np.arange(N + 1), -np.arange(N)), "0 and up")):
            self.assertRaisesRegex(ValueError, why, hardneg.measure, [[0, 1]], X, labels)


class Batches(unittest.TestCase):
    def test_partition_and_padding(self):
        sampler = hardneg.BatchSampler(X, "uniform", 64, 1)
        rows = list(sampler)
        self.assertEqual(len(rows), len(sampler))
        self.assertEqual(sorted(sum(rows, [])), list(range(N)))
        self.assertEqual(len(rows[-1]), N % 64)
        short = hardneg.BatchSampler(X, "uniform", 64, 1, drop_last=True)
        self.assertEqual(list(short), rows[:-1])
        # Short is what is short, whatever the number of items says.
        full = hardneg.BatchSampler(X[:20], "{osgd: {drawn: 9, kept: 3}}", 8, 1, drop_last=True)
        self.assertEqual([len(row) for row in full], [8] * 3)
        anchors = hardneg.BatchSampler(X[:50], "hard-negative", 8, 1, drop_last=True)
        rows = list(anchors)
        self.assertEqual(len(rows), len(anchors))
        self.assertEqual({len(set(row)) for row in rows}, {8})
        self.assertGreaterEqual(min(map(min, rows)), 0)

    def test_epochs(self):
        sampler = hardneg.BatchSampler(X, "knn", B, 1)
        first, second = list(sampler), list(sampler)
        self.assertNotEqual(first, second)
        sampler.set_epoch(0)
        self.assertEqual(list(sampler), first)
        self.assertEqual(list(sampler), second)
        sampler.refresh(X[::-1])
        sampler.set_epoch(0)
        self.assertNotEqual(list(sampler), first)

    def test_threads(self):
        for spec in SAMPLERS:
            one, four = (list(hardneg.BatchSampler(X, spec, B, 2, threads=t)) for t in (1, 4))
            self.assertEqual(one, four)

    def test_processes(self):
        for spec in SAMPLERS:
            for world in (2, 3):
                whole = list(hardneg.BatchSampler(X, spec, B, 4))
                parts = [list(hardneg.BatchSampler(X, spec, B, 4, rank=r, world_size=world)) for r in range(world)]
                steps = len(whole) // world
                self.assertEqual([len(p) for p in parts], [steps] * world)
                self.assertEqual([p[s] for s in range(steps) for p in parts], whole[:steps * world])
                each = B // world
                whole = list(hardneg.BatchSampler(X, spec, each * world, 4))
                parts = [list(hardneg.BatchSampler(X, spec, each, 4, rank=r, world_size=world, split="batch"))
                         for r in range(world)]
                self.assertEqual([sum((p[s] for p in parts), []) for s in range(len(whole))], whole)

    def test_more_items(self):
        sampler = hardneg.BatchSampler(X[:400], "knn", 50, 1)
        self.assertEqual(len(sampler), 8)
        sampler.refresh(X)
        self.assertEqual(len(sampler), 30)

    def test_one_copy(self):
        """The library keeps a copy of x, and a refresh writes into it."""
        code = ("import numpy as np, hardneg, resource\n"
                "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
                "hardneg.BatchSampler(np.ones((9, 2)), 'uniform', 2)\n"
                "x = np.ones((200000, 128), np.float32); start = peak()\n"
                "s = hardneg.BatchSampler(x, 'uniform', 256); built = peak()\n"
                "for _ in range(3): s.refresh(x)\n"
                "print((built - start) / x.nbytes, (peak() - built) / x.nbytes)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": sys.path[0]})
        built, refreshed = map(float, done.stdout.split())
        self.assertLess(built, 1.2)
        self.assertLess(refreshed, 0.1)

    def test_kinds_of_arrays(self):
        wanted = list(hardneg.BatchSampler(X, "knn", B, 1))
        self.assertEqual(list(hardneg.BatchSampler(np.asfortranarray(X), "knn", B, 1)), wanted)
        self.assertEqual(list(hardneg.BatchSampler(X.astype(np.float64), "knn", B, 1)), wanted)
        self.assertEqual(list(hardneg.BatchSampler(np.repeat(X, 2, 0)[::2], "knn", B, 1)), wanted)

    def test_graph_and_features(self):
        edges = np.stack([np.arange(N - 1), np.arange(1, N)], 1)
        ids, _ = hardneg.mine(X, "{hops: {l: 2}}", edges=edges)
        for i in (0, 1, 700, N - 1):
            self.assertEqual(set(ids[i][ids[i] >= 0]), {j for j in (i - 2, i + 2) if 0 <= j < N})
        ring, _ = hardneg.mine(X, "{ring: {lo: 90, hi: 100, n: 8}}", features=np.abs(X))
        self.assertEqual(ring.shape, (N, 8))
        self.assertRaisesRegex(ValueError, "needs a graph", hardneg.mine, X, "hops")
        self.assertRaisesRegex(ValueError, "edges", hardneg.mine, X, "hops", edges=[[0, N]])

    def test_mine_files(self):
        path = os.path.join(work, "mined.jsonl")
        ids, scores = hardneg.mine(X, "{mined: {n: 3}}", labels=LABELS, output=path)
        lines = [json.loads(line) for line in open(path, encoding="utf-8")]
        self.assertEqual([line["anchor"] for line in lines], list(range(N)))
        self.assertEqual(lines[5]["negatives"], ids[5][ids[5] >= 0].tolist())
        self.assertTrue((np.diff(scores, axis=1) <= 0).all())
        hardneg.mine(X, "{mined: {n: 3}}", output=os.path.join(work, "m.npy"))
        self.assertTrue((np.load(os.path.join(work, "m.npy")) == ids).all())
        # Nothing is replaced unless it is said, and nothing is left of what fails.
        self.assertRaisesRegex(FileExistsError, "force=True", hardneg.mine, X, "{mined: {n: 3}}", output=path)
        hardneg.mine(X[:50], "{mined: {n: 3}}", output=path, force=True)
        self.assertEqual(len(open(path, encoding="utf-8").readlines()), 50)
        self.assertRaises(OSError, hardneg.mine, X[:50], "mined", output=os.path.join(work, "none", "m.npy"))
        self.assertEqual([name for name in os.listdir(work) if ".tmp" in name], [])


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
        sampler = hardneg.BatchSampler(np.repeat(X, 6, 0), "uniform", B, 1)
        drawn = iter(sampler)
        next(drawn)
        sampler.refresh(X)
        self.assertRaisesRegex(RuntimeError, "in the middle", list, drawn)

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
        self.assertRaisesRegex(ValueError, "refresh", list, again)
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
        # Too large for float32; no positive; a batch that is no list of ids; an id that comes twice.
        self.assertRaisesRegex(ValueError, "x row 0 is not finite", hardneg.BatchSampler, np.full((9, 2), 1e300), "knn", 2)
        self.assertRaisesRegex(ValueError, "the items do not have", hardneg.mine, X, "{mined: {relative_margin: 0.1}}")
        for batches in ([[0.5, 1]], [["a"]], np.zeros(3, int), np.zeros((2, 2)), [[[1, 2], [3, 4]]], [object()]):
            self.assertRaisesRegex(ValueError, "batches", hardneg.measure, batches, X)
        for batches in ([1, 2, 3], [[], [1, 2]]):
            self.assertRaisesRegex(ValueError, "batch 0 is", hardneg.measure, batches, X)
        for wrong in ({"batch_size": 2.5}, {"batch_size": "9"}, {"seed": None}, {"seed": 1.0}, {"threads": -1},
                      {"rank": 0.5}, {"world_size": 0}):
            self.assertRaisesRegex(ValueError, f"{[*wrong][0]} .*whole number", hardneg.BatchSampler, X, "knn", **wrong)
        self.assertRaisesRegex(TypeError, "make one there", pickle.dumps, hardneg.BatchSampler(X, "uniform", 9))
        self.assertRaisesRegex(ValueError, "this is NoneType", hardneg.BatchSampler, None, "knn")
        self.assertRaisesRegex(ValueError, "is no results file", hardneg.read, snapshot())
        self.assertRaisesRegex(ValueError, "there are .*snapshots", hardneg.read, os.path.dirname(run_file()), "none")
        self.assertEqual(hardneg.measure([[0, 1, 1]], X, LABELS)["cos_mean"], hardneg.measure([[0, 1]], X, LABELS)["cos_mean"])
        self.assertEqual(hardneg.measure(([i, i + 1] for i in range(3)), X)["cos_mean"],
                         hardneg.measure([[0, 1], [1, 2], [2, 3]], X)["cos_mean"])

    def test_zero_rows(self):
        x = X.copy()
        x[::5] = 0
        self.assertRaisesRegex(ValueError, "x row 0 is zero", hardneg.BatchSampler, x, "knn", B)
        self.assertRaisesRegex(ValueError, "zero_rows", hardneg.BatchSampler, x, "knn", B, zero_rows="yes")
        self.assertRaisesRegex(ValueError, "row 3 is not finite", hardneg.measure, [[0, 1]],
                               np.where(np.arange(N)[:, None] == 3, np.nan, x), zero_rows="keep")
        rows = hardneg.BatchSampler(x, "uniform", B, 1, zero_rows="keep")
        self.assertEqual(sorted(sum(rows, [])), list(range(N)))
        unit = x / np.maximum(np.linalg.norm(x.astype(np.float64), axis=1, keepdims=True), 1e-30)
        rows = list(hardneg.BatchSampler(x, "knn", B, 1, zero_rows="keep"))
        pairs = [(unit[ids] @ unit[ids].T)[~np.eye(len(ids), dtype=bool)] for ids in rows]
        self.assertAlmostEqual(hardneg.measure(rows, x, zero_rows="keep")["cos_mean"], np.concatenate(pairs).mean(), places=7)

    def test_failed_build(self):
        sampler = hardneg.BatchSampler(X, "{batchsampler: {M: 200, K: 40}}", B, 1)
        wanted = list(sampler)
        self.assertRaises(ValueError, sampler.refresh, X * np.nan)
        self.assertRaisesRegex(ValueError, "nothing is built", list, sampler)
        sampler.refresh(X)
        again = hardneg.BatchSampler(X, "{batchsampler: {M: 200, K: 40}}", B, 1)
        again.refresh(X)
        sampler.set_epoch(0)
        again.set_epoch(0)
        self.assertEqual(len(list(sampler)), len(wanted))

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
        self.assertEqual(lib.hardneg_room(None), 0)
        self.assertIn(b"no handle", lib.hardneg_message(None))
        self.assertEqual(lib.hardneg_column(-1, None, None, None), 0)
        handle = Handle("knn", B, 1)
        raw = handle._handle
        self.assertEqual(lib.hardneg_build(raw, None), 2)
        self.assertEqual(lib.hardneg_epoch(raw, 0, None), 2)
        handle.build(X)
        batches = handle.epoch(0)
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

    def test_interrupt(self):
        code = ("import numpy as np, hardneg, sys; x = np.random.default_rng(0).standard_normal((20000, 64))\n"
                "print('go', flush=True)\nwhile True: hardneg.BatchSampler(x, '{gcbs: {quantile: 0.99}}', 100)")
        started = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env={**os.environ, "PYTHONPATH": sys.path[0]})
        started.stdout.readline()
        try:
            started.wait(0.7)
        except subprocess.TimeoutExpired:
            started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", err)


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
        same(self, run_of(["null"], epochs=1), hardneg.measure(loader.batch_sampler, X, LABELS, VIEW2), 0)
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
        for rows in (X, X[:300]):
            made = factory(rows, batch_size=B, drop_last=False, valid_label_columns=None, generator=None, seed=0)
            self.assertEqual(sorted(sum(made, [])), list(range(len(rows))))
        self.assertEqual(len(factory.made), 2)


result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0, resultclass=Quiet).run(
    unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
bad = len(result.failures) + len(result.errors)
subprocess.run(["rm", "-rf", work], check=True)
print(f"python: {Quiet.passed} passed, {bad} failed, {len(result.skipped)} skipped")
sys.exit(bad > 0)
