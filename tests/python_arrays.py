# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays and labels as programs have them, through the module of python/: read as `import` reads them, or refused.
`tests/python_arrays.py PROGRAM`. Ends as every suite does."""
import ast
import ctypes
import inspect
import os
import pathlib
import re
import sys
import tempfile
import unittest
import warnings

from python_data import program, run_tests, same
import numpy as np
import hardneg

N = 12
X = np.random.default_rng(5).standard_normal((N, 4)).astype(np.float32)
CLASSES = np.arange(N) % 3
BATCHES = [list(range(N)), [0, 5, 7]]
BFLOAT = (X.view(np.uint32) >> 16).astype(np.uint16)


class NA:
    """pandas.NA, which is neither true nor false."""

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")

    def __eq__(self, other):
        return self

    def __ne__(self, other):
        return self

    __hash__ = object.__hash__


def of(*values, kind=object):
    """A value for each class."""
    return np.array([values[k] for k in CLASSES], kind)


class Labels(unittest.TestCase):
    def classes(self, labels, wanted):
        """Which items share a class; wanted: a class of each of CLASSES, -1: none."""
        wanted = np.array(wanted)[CLASSES]
        for given in (labels, list(labels)) if labels.ndim == 1 else (labels,):
            found = hardneg._arrays.numbers(given, N)
            self.assertEqual((found < 0).tolist(), (wanted < 0).tolist(), labels)
            self.assertEqual((found[:, None] == found).tolist(), (wanted[:, None] == wanted).tolist(), labels)
        lists = [[label] for label in labels.tolist()]
        if labels.dtype.kind == "O":  # several labels an item: the same classes
            self.assertEqual(hardneg.measure(BATCHES, X, lists)["fn_ratio"], hardneg.measure(BATCHES, X, wanted)["fn_ratio"])

    def test_classes(self):
        for values, wanted in (((None, "a", "b"), (-1, 0, 1)), ((NA(), "a", "b"), (-1, 0, 1)), ((float("nan"), "a", "nan"), (-1, 0, 1)),
                               ((np.datetime64("NaT"), "a", "b"), (-1, 0, 1)), (("", b"a", "a"), (-1, 0, 0)),
                               (("a\0", "a", "a\0b"), (0, 1, 2)), (("007", "07", "7"), (0, 1, 2)), (("1e3", "+7", "-0"), (0, 1, 2)),
                               (("\u0663", "3", "\uff13"), (0, 1, 2)), (("caf\u00e9", "cafe\u0301", "cafe"), (0, 1, 2)),
                               ((1.0, 1, 2), (0, 0, 1)), ((True, 1, np.int8(0)), (0, 0, 1)), ((np.uint64(2**64 - 1), 3, 2**63), (0, 1, 2)),
                               ((2**63, 2**63 + 1, -2**63), (0, 1, 2)), ((2**70, 2**70 + 1, 5), (0, 1, 2))):
            if max((v for v in values if isinstance(v, int)), default=0) < 2**31:
                self.classes(of(*values), wanted)
            else:
                found = hardneg._arrays.numbers(of(*values), N)
                self.assertEqual(len(set(found.tolist())), 3)
        self.classes(of(0, 1, 2, kind=">u2"), (0, 1, 2))
        self.classes(of(False, True, True, kind=bool)[:, None], (0, 1, 1))
        self.classes(of(b"07", b"7", b"", kind="S2"), (0, 1, -1))

    def test_refused(self):
        one = lambda labels: hardneg.measure(BATCHES, X, labels)
        for labels, why in ((of(7, "7", "x"), "7 is a number and '7' a text"), (of(0, 1.5, 2), "1.5 of item 1 is not a whole number"),
                            (of(0, 1, ("a",))[2::3], "one for each of 12|one or several for each of 12"), (of(1j, 2, 3), "is a complex"),
                            (of(0, 1, 2, kind="c8"), "complex64; labels are integers or texts"),
                            (of(0, 1, 2, kind="M8[D]"), "datetime64.D.; labels are integers or texts"),
                            (np.zeros(N, [("label", "i4")]), "labels are integers or texts"),
                            (np.ma.masked_array(CLASSES, CLASSES == 2), "4 masked values, .*filled")):
            self.assertRaisesRegex(ValueError, why, one, labels)
        for labels, why in (([[7], ["7"]] * 6, "7 is a number and '7' a text"), ([[0.5], [1]] * 6, "0.5 of item 0 is not a whole"),
                            ([[-1], [1]] * 6, "an item whose labels are unknown"), ([[{}], [1]] * 6, "is a dict")):
            self.assertRaisesRegex(ValueError, why, one, labels)

    def test_lists(self):
        """Missing values in a list are no labels; numbers and texts are told as they are alone."""
        for lists, wanted in (([["a", None], ["a"], [float("nan")]], ([["a"], ["a"], []])), ([[1.0, 2], [2.0], [True]], [[1, 2], [2], [1]]),
                              ([[b"x"], ["x", ""], ["07"]], [["x"], ["x"], ["y"]]), ([np.array([3]), (3,), {4}], [[3], [3], [4]])):
            one, other = (hardneg.measure(BATCHES, X, [rows[k] for k in CLASSES])["fn_ratio"] for rows in (lists, wanted))
            self.assertEqual(one, other)
            self.assertGreater(one, 0)


class Arrays(unittest.TestCase):
    def test_read(self):
        wanted = hardneg.measure(BATCHES, X, CLASSES)
        for x in (X.astype(">f8"), np.asfortranarray(X), X.tolist(), np.matrix(X), np.ma.masked_array(X), memoryview(X),
                  np.repeat(X, 3, 1)[:, ::3], X * np.float64(2)**900, X[::-1][::-1]):
            same(self, {name: [value] for name, value in wanted.items()}, hardneg.measure(BATCHES, x, CLASSES), 0)
        wanted = hardneg.measure(BATCHES, (BFLOAT.astype(np.uint32) << 16).view(np.float32))["cos_mean"]
        for half in (BFLOAT.view("V2"), BFLOAT.view("V2").T.copy().T):
            self.assertEqual(hardneg.measure(BATCHES, half)["cos_mean"], wanted)

    def test_refused(self):
        hidden = np.ma.masked_array(X, np.arange(N * 4).reshape(N, 4) == 17)
        for x, why in ((X.astype(object), "object"), (X > 0, "bool"), (X[None], r"float32\[1, 12, 4\]"), (X[:, 0], r"float32\[12\]"),
                       (np.float32(3), "this is float32"), (X.astype("c8"), "complex64"), ("x.npy", "this is str"),
                       (np.zeros(N, [("a", "f4")]), "an array of numbers"), (hidden, "1 masked values"), (X[:0], "give 2 items or more"),
                       (X[:, :0], "of 1 dimension or more"), ((row for row in X), "this is generator")):
            self.assertRaisesRegex(ValueError, why, hardneg.measure, BATCHES, x)
        for batches, why in ((np.array([[0, 2**64 - 1]], np.uint64), "beyond the rows of x"), (np.ma.masked_array([[0, 1]], [[0, 1]]), "masked"),
                             ([[0, -1, 1]], "-1 at the end of a short batch"), ([[True, False]], "ids are integers")):
            self.assertRaisesRegex(ValueError, why, hardneg.measure, batches, X)


class Texts(unittest.TestCase):
    """A text with a NUL is refused: C would read what comes before it."""
    def test_nul(self):
        for call in (lambda: hardneg.BatchSampler(X, "uniform\0: {draw: iid}", 4), lambda: hardneg.BatchSampler(X, {"knn\0": {}}, 4),
                     lambda: hardneg.BatchSampler(X, {"uniform": {"draw": "iid\0"}}, 4), lambda: hardneg.mine(X, "mined\0"),
                     lambda: hardneg.measure(BATCHES, X, loss="infonce\0x"), lambda: hardneg.measure(BATCHES, X, weighting="hcl\0"),
                     lambda: hardneg.mine(X, X, [[0]] * N, negatives="3\0zzz"),
                     lambda: hardneg.compare(X, CLASSES, ["uniform\0"]), lambda: hardneg.compare(X, CLASSES, [{"knn\0": {}}]),
                     lambda: hardneg.compare(X, CLASSES, [{"mine\0": lambda *_: BATCHES}]), lambda: hardneg.compare(X, losses=["infonce\0"]),
                     lambda: hardneg.compare(X, CLASSES, [{"batchsampler": {"M\0": 5}}]), lambda: hardneg.compare(X, CLASSES, **{"metrics\0": []})):
            self.assertRaisesRegex(ValueError, "has a NUL in it", call)

    def test_nul_of_ids(self):
        """What mine() writes for the program, which has no NUL in a text."""
        ids, texts = [f"p{i}" for i in range(N)], [f"text {i}" for i in range(N)]
        for more in ({"query_ids": ["q\0", *ids[1:]], "corpus_ids": ids}, {"query_ids": ids, "corpus_ids": [*ids[1:], "p\0b"]},
                     {"query_texts": ["\0", *texts[1:]], "corpus_texts": texts}, {"query_texts": texts, "corpus_texts": [*texts[1:], "a\0b"]},
                     {"query_texts": texts, "corpus_texts": {i: {"title": "a\0", "text": i} for i in ids}}):
            self.assertRaisesRegex(ValueError, "(query|corpus)_(ids|texts): .*has a NUL in it", hardneg.mine, X, X, [], **more)

    def test_nul_of_labels(self):
        """Labels and tuples are told apart here, whole."""
        wanted = hardneg.measure(BATCHES, X, CLASSES)["fn_ratio"]
        for labels in (list(of("a", "a\0", "a\0b")), [[text] for text in of("a", "a\0", "a\0b")]):
            self.assertEqual(hardneg.measure(BATCHES, X, labels)["fn_ratio"], wanted)

    def test_nul_of_paths(self):
        """The file whose name comes before the NUL is neither read nor written."""
        batches = hardneg.BatchSampler(X, batch_size=4)
        compared = hardneg.compare(X, CLASSES, ["uniform"], batch_size=4, seeds=2)
        with tempfile.TemporaryDirectory() as folder:
            compared.save(os.path.join(folder, "a"))
            for path in (os.path.join(folder, "a\0b"), pathlib.Path(folder, "a\0b"), os.fsencode(os.path.join(folder, "a\0.npy"))):
                for call in (lambda: hardneg.read(path), lambda: hardneg.mine(X, "mined", output=path), lambda: hardneg.record(path, batches),
                             lambda: hardneg.mine(X, X, [[0]] * N, output=path), lambda: hardneg.Miner(X, X, [[0]] * N, output=path),
                             lambda: compared.report(path), lambda: compared.save(path)):
                    self.assertRaisesRegex(ValueError, "^(results|output|path|folder) .*has a NUL in it", call)
            self.assertRaisesRegex(ValueError, "table .*has a NUL in it", hardneg.read, os.path.join(folder, "a", "results"), "runs\0x")
            self.assertEqual(os.listdir(folder), ["a"])

    def test_beyond_64_bits(self):
        for pairs, why in (([[2**63, 1]], 2**63), ([[0, 2**63]], 2**63), ([[0, 1, 2**70]], 2**70), ([[0, -2**63 - 1]], -2**63),
                           (np.array([[0, 2**64 - 1]], np.uint64), 2**64 - 1), (np.array([[0, 1e300]]), int(1e300))):
            with self.subTest(pairs), warnings.catch_warnings():
                warnings.simplefilter("error")
                self.assertRaisesRegex(ValueError, f"qrels: {str(why)[:12]}[0-9]+ is neither a row nor a grade", hardneg.mine, X, X, np.array(pairs))


class Numbers(unittest.TestCase):
    def test_threads(self):
        """One bound, that of the library."""
        for threads in (513, 4097, 10**9, 10**20, -1):
            self.assertRaisesRegex(ValueError, f"threads {threads}: a whole number from 0 to 512 is wanted", hardneg.BatchSampler, X, "uniform", 4, threads=threads)
        for threads, code in ((512, 0), (513, 2)):
            handle = ctypes.c_void_p()
            self.assertEqual(hardneg._library.lib.hardneg_open(b"uniform", 4, 1, threads, ctypes.byref(handle)), code)
            hardneg._library.lib.hardneg_free(handle)

    def test_batch_size(self):
        """A batch has two items; one where several processes share it."""
        for size in (-1, 0, 1):
            for more in ({}, {"rank": 1, "world_size": 2}, {"split": "batch"}):
                self.assertRaisesRegex(ValueError, f"batch_size {size}: a whole number from 2 to", hardneg.BatchSampler, X, "uniform", size, **more)
        self.assertRaisesRegex(ValueError, "batch_size 0: a whole number from 1 to", hardneg.BatchSampler, X, "uniform", 0, world_size=2, split="batch")
        shared = [list(hardneg.BatchSampler(X, "uniform", 1, world_size=2, rank=rank, split="batch")) for rank in (0, 1)]
        self.assertEqual(sorted(sum(sum(shared, []), [])), list(range(N)))


class Types(unittest.TestCase):
    def test_options_of_mine(self):
        """The types of mine() name the options of the command."""
        with open(inspect.getsourcefile(hardneg), encoding="utf-8") as file:
            named = [{arg.arg for arg in node.args.kwonlyargs} for node in ast.parse(file.read()).body
                     if isinstance(node, ast.FunctionDef) and node.name == "mine"][1]
        options = {name.replace("-", "_") for name in re.findall(r"^ .*?--([a-z-]+) ", program("mine", "--help").stdout, re.M)}
        data = {"query_ids", "corpus_ids", "query_texts", "corpus_texts", "query_teacher", "corpus_teacher", "scores", "threads", "zero_rows", "output", "force"}
        files = {"step", "format", "scores", "rows", "wait", "mpi", "threads", "memory", "output", "quiet", "verbose", "help",
                 "version", "json", "certificate", "output_scores", "candidates", "fuse", "quota", "dim", "add_scores", "emit_pairs", "unknown"}
        self.assertEqual(named - data, options - files)
        self.assertEqual(named, {name for name, one in inspect.signature(hardneg.Miner).parameters.items() if one.kind == one.KEYWORD_ONLY})


run_tests("python arrays", sys.modules[__name__])
