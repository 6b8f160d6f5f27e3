"""The module of python/ against the program: `tests/python.py PROGRAM`. Ends as every suite does."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import numpy as np  # noqa: E402
import hardneg  # noqa: E402
from hardneg._library import Handle, lib  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
N, D, B, CLASSES = 1500, 24, 100, 7
SAMPLERS = ["uniform", "knn", "{batchsampler: {M: 200, K: 40, alpha: 0.3}}", {"gcbs": {"quantile": 0.99}},
            {"stratified": {}}, "hard-negative"]
rng = np.random.default_rng(5)
LABELS = rng.integers(0, CLASSES, N).astype(np.int32)
LABELS[::50] = -1
X = (rng.standard_normal((CLASSES, D))[LABELS] + rng.standard_normal((N, D))).astype(np.float32)
VIEW2 = (X + 0.3 * rng.standard_normal((N, D))).astype(np.float32)
work = tempfile.mkdtemp(prefix="hardneg-python-")


def program(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=work)
    assert done.returncode == code, done.stderr
    return done


def snapshot():
    path = os.path.join(work, "s.h5")
    if not os.path.exists(path):
        for name, array in (("x", X), ("v", VIEW2), ("l", LABELS)):
            np.save(os.path.join(work, name + ".npy"), array)
        program("import", "-e", "x.npy", "-l", "l.npy", "--view2", "v.npy", "-s", "0", "-o", path, "--quiet")
    return path


def run_of(samplers, seeds=(1,), **job):
    """The rows of `hardneg run`."""
    folder = os.path.join(work, f"run{len(os.listdir(work))}")
    text = {"version": 1, "snapshots": snapshot(), "samplers": samplers, "seeds": list(seeds), "batch_size": B,
            "temperature": 0.5, "metrics": "all", **job}
    with open(folder + ".yaml", "w", encoding="utf-8") as file:
        json.dump(text, file)  # which is YAML
    program("run", "-c", folder + ".yaml", "-o", folder, "--quiet")
    return hardneg.read(folder)


def as_job(spec):
    if isinstance(spec, dict):
        return spec
    if spec.startswith("{"):
        name, _, options = spec[1:-1].partition(":")
        return {name: {k.strip(): float(v) if "." in v else int(v) for k, v in
                       (pair.split(":") for pair in options.strip()[1:-1].split(","))}}
    return spec


def same(test, row, measured, i):
    compared = 0
    for name, value in measured.items():
        if name in row:
            compared += 1
            test.assertTrue(value == row[name][i] or (np.isnan(value) and np.isnan(row[name][i])),
                            f"{name}: {value!r} against {row[name][i]!r}")
    test.assertGreater(compared, 20)


class Measures(unittest.TestCase):
    def test_equal_to_run(self):
        for spec in SAMPLERS:
            sampler = hardneg.BatchSampler(X, spec, B, 3, labels=LABELS, view2=VIEW2)
            row = run_of([as_job(spec)], seeds=[3], epochs=1)
            same(self, row, sampler.measure(), 0)
            # The same of lists of ids, as a loader gives them.
            same(self, row, hardneg.measure(list(sampler), X, LABELS, VIEW2), 0)

    def test_losses_and_weightings(self):
        sampler = hardneg.BatchSampler(X, "knn", B, 1, labels=LABELS, view2=VIEW2)
        row = run_of(["knn"], epochs=1, loss="infonce", weightings=[{"hcl": {"beta": 2}}])
        same(self, row, sampler.measure(loss="infonce", weighting={"hcl": {"beta": 2}}), 0)
        self.assertRaisesRegex(ValueError, "hcl", sampler.measure, weighting="hclx")
        self.assertRaises(ValueError, sampler.measure, loss="contrastive")

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
        self.assertIn(b"NULL", lib.hardneg_message(None))
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
        half = torch.from_numpy(X).bfloat16()  # as models are often run
        self.assertEqual(list(hardneg.BatchSampler(half, "knn", B)),
                         list(hardneg.BatchSampler(half.float(), "knn", B)))

    def test_sentence_transformers(self):
        """As SentenceTransformerTrainer calls a batch sampler that is a function."""
        factory = hardneg.sentence_transformers(X, "knn")
        made = factory([None] * N, batch_size=B, drop_last=True, valid_label_columns=["label"], generator=None, seed=3)
        made.set_epoch(1)
        self.assertEqual(len(list(made)), len(made))
        self.assertIs(factory.made, made)
        self.assertRaisesRegex(ValueError, "rows", factory, [None], batch_size=B)


class Quiet(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        Quiet.passed += 1

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"    skipped: {test}: {reason}")


result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0, resultclass=Quiet).run(
    unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__]))
bad = len(result.failures) + len(result.errors)
subprocess.run(["rm", "-rf", work], check=True)
print(f"python: {Quiet.passed} passed, {bad} failed, {len(result.skipped)} skipped")
sys.exit(bad > 0)
