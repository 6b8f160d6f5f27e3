# SPDX-License-Identifier: GPL-3.0-or-later
"""The module of python/ against the program: `tests/python.py PROGRAM`. Ends as every suite does."""
import json
import os
import stat
import subprocess
import sys
import unittest

from python_data import (B, GROUPS, LABELS, N, SAMPLERS, TEACHER, VIEW2, X, as_job, program, rng, run_of, run_tests, same,
                         shared, snapshot, work)
import numpy as np
import hardneg
from hardneg._library import Handle, Items


class Measures(unittest.TestCase):
    def test_equal_to_run(self):
        for spec in SAMPLERS:
            sampler = hardneg.BatchSampler(X, spec, B, 3, labels=LABELS, view2=VIEW2)
            row = run_of([as_job(spec)], seeds=[3], epochs=1)
            same(self, row, sampler.measure(), 0)
            # The same of lists of ids, as a loader gives them.
            same(self, row, hardneg.measure(list(sampler), X, LABELS, VIEW2), 0)

    def test_teacher_and_groups(self):
        for spec in ("grit", {"tas-b": {"space": "teacher", "cluster": 40}}, {"b3": {"space": "teacher"}}):
            row, more = run_of([spec], seeds=[4], epochs=1), {"view2": VIEW2, "labels": LABELS, "teacher": TEACHER}
            if spec != "grit":
                refused = {**more, "groups": GROUPS}
                self.assertRaisesRegex(ValueError, "groups: .* does not look at them", hardneg.BatchSampler, X, spec, B, 4, **refused)
            else:
                more["groups"] = GROUPS
            same(self, row, hardneg.BatchSampler(X, spec, B, 4, **more).measure(), 0)
            for name in more:
                if name[:5] in str(spec) or (spec == "grit" and name == "groups"):
                    without = {key: value for key, value in more.items() if key != name}
                    self.assertRaisesRegex(ValueError, f"needs (a )?{name}", hardneg.BatchSampler, X, spec, B, 4, **without)
        for name, bad, why in (("teacher", TEACHER[:-1], "teacher: 1499 rows"), ("groups", GROUPS[:-1], "groups: one for each"),
                               ("groups", GROUPS - 1, "group -1"), ("teacher", TEACHER * np.nan, "teacher")):
            self.assertRaisesRegex(ValueError, why, hardneg.BatchSampler, X, "grit", B, 4,
                                   **{**more, "groups": GROUPS, name: bad})

    def test_tuples(self):
        queries, passages = 120, 200
        pairs = sorted({(int(q), int(p)) for q, p in zip(rng.integers(0, queries, 300), rng.integers(0, passages, 300))})
        texts = [f"q{i % 100}" for i in range(queries)], [f"p{i % 170}" for i in range(passages)]
        for side, rows, own in (("q", X[:queries], texts[0]), ("p", VIEW2[:passages], texts[1])):
            np.save(os.path.join(work, side + "-rows.npy"), rows)
            with open(os.path.join(work, side + ".jsonl"), "w", encoding="utf-8") as file:
                file.writelines(json.dumps({"_id": f"{side}-{i}", "text": text}) + "\n" for i, text in enumerate(own))
        with open(os.path.join(work, "qrels.tsv"), "w", encoding="utf-8") as file:
            file.writelines(f"q-{q}\tp-{p}\t1\n" for q, p in pairs)
        program("import", "--queries", "q-rows.npy", "--corpus", "p-rows.npy", "--query-ids", "q.jsonl", "--corpus-ids",
                "p.jsonl", "--qrels", "qrels.tsv", "-o", "tuples.h5", "--quiet")
        q, p = (list(side) for side in zip(*pairs))
        x, view2, tuples = X[q], VIEW2[p], ([texts[0][i] for i in q], [texts[1][i] for i in p])
        for spec in ("uniform", {"uniform": {"no_duplicates": True}}, {"gcbs": {"keep_apart": True}}, "knn"):
            row = run_of([spec], seeds=[3], epochs=1, snapshots="tuples.h5", batch_size=16)
            sampler = hardneg.BatchSampler(x, spec, 16, 3, view2=view2, tuples=tuples)
            same(self, row, sampler.measure(), 0)
            same(self, row, hardneg.measure(list(sampler), x, view2=view2, tuples=tuples), 0)
            sampler.refresh(x, view2)
            self.assertFalse(np.isnan(sampler.measure()["duplicate_ratio"]))  # they are kept
        # A pair more that is known to be relevant: batches with it have a false negative more.
        batches = [[0, 1], [2, 3]]
        before = hardneg.measure(batches, x, view2=view2, tuples=(range(len(x)), range(len(x))))
        after = hardneg.measure(batches, x, view2=view2, tuples=(range(len(x)), range(len(x)), [(0, 1), (7, 5000)]))
        self.assertEqual((before["fn_ratio"], after["fn_ratio"]), (0, 0.25))  # and ids of one side are not those of the other
        self.assertNotEqual(*(hardneg.BatchSampler(x, "uniform", 16, view2=view2, tuples=(own, tuples[1])).digest
                              for own in (tuples[0], tuples[0][::-1])))
        apart = {"gcbs": {"keep_apart": True}}
        for given, why in (({"view2": view2}, "pairs of queries and passages"), ({"tuples": tuples}, "view2"),
                           ({"view2": view2, "tuples": tuples[:1]}, "tuples: .*1 part, of"),
                           ({"view2": view2, "tuples": (*tuples, [(0, 1, 2)])}, "pairs, a query and a passage"),
                           ({"view2": view2, "tuples": tuples, "labels": np.zeros(len(x), int)}, "neither labels nor a teacher")):
            self.assertRaisesRegex(ValueError, why, hardneg.BatchSampler, x, apart, 16, **given)

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
        sampler.build(Items(X, view2=VIEW2, labels=LABELS))
        anchors, negative, score = sampler.negatives(0, 0, len(sampler.sizes(0)))
        row = run_of([{"mined": {"n": 5}}], epochs=1)
        same(self, row, sampler.measure(anchors, negatives=negative), 0)
        unit = X.astype(np.float64) / np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True)
        there = negative >= 0
        first = np.broadcast_to(anchors[:, :, None], negative.shape)[there]
        np.testing.assert_allclose(score[there], (unit[first] * unit[negative[there]]).sum(1), atol=2e-7)
        self.assertTrue(np.isnan(score[~there]).all())

    def test_batches_of_ones_own(self):
        for bad, why in (([[0, 1], [2, N]], "1500 at index 1"), ([[-1, 1]], "index 0"), ([], "no batches"),
                         (np.array([[0, -1, 3]]), "index 2")):
            self.assertRaisesRegex(ValueError, why, hardneg.measure, bad, X)
        value = hardneg.measure([[0, 1, 2], [3, 4]], X)
        self.assertEqual(value["short_batches"], 0.5 if value["short_batches"] < 1 else 1)
        self.assertTrue(np.isnan(value["fn_ratio"]))


class Parts(unittest.TestCase):
    """measure() of a few batches looks at their rows alone, and gives what it gives with all of them."""
    sets = [[int(i) % 5, 5 + int(i) % 3] if i % 4 else [] for i in range(N)]

    def both(self, batches, labels, **more):
        """Of the rows of batches, and of all, with the others spoiled for the first."""
        ids = hardneg._arrays.padded(batches)
        used = np.unique(ids)
        if "negatives" in more:
            used = np.union1d(used, more["negatives"])
        spoiled = np.full_like(X, np.nan)
        spoiled[used[used >= 0]] = X[used[used >= 0]]
        handle = Handle("uniform", max(2, ids.shape[1]), 1)
        handle.build(Items(X, labels=labels))
        part, whole = hardneg.measure(batches, spoiled, labels, **more), handle.measure(ids, **more)
        np.testing.assert_equal(dict(part), dict(whole))
        self.assertEqual(part.note, whole.note)
        return part

    def test_equal(self):
        for labels in (None, LABELS, self.sets, [f"class {label}" for label in LABELS]):
            found = self.both([[3, 900, 17], [1499, 4], [17, 3, 5]], labels)
            self.assertEqual(found["coverage"], 6 / N)
            self.assertRegex(found.note, "no positive")
            self.both([list(range(k, N, 30)) for k in range(9)], labels, epoch_batches=4, temperature=0.1)
            negatives = np.array([[[9, 1200, -1], [7, 3, 8], [30, 31, -1]]])
            self.both([[0, 77, 1001]], labels, negatives=negatives)
        self.both([[5, 5], [6, 5], [5, 5]], LABELS)
        for dtype in (np.float16, np.float64):
            self.assertEqual(hardneg.measure([[1, 8, 40]], X.astype(dtype), LABELS)["cos_mean"],
                             hardneg.measure([[0, 1, 2]], X.astype(dtype)[[1, 8, 40]])["cos_mean"])

    def test_memory(self):
        """Of a memory map only pages of rows in a batch are read, and copied."""
        path = os.path.join(work, "map.npy")
        code = ("import numpy as np, hardneg, resource, sys\n"
                "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
                "hardneg.measure([[0, 1]], np.eye(3))\n"
                "x = np.load(sys.argv[1], mmap_mode='r'); start = peak()\n"
                "hardneg.measure([np.arange(0, len(x), 500)], x); print((peak() - start) / x.nbytes)")
        np.save(path, np.ones((200000, 100), np.float16))
        done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True,
                              env={**os.environ, "PYTHONPATH": sys.path[0]})
        self.assertLess(float(done.stdout), 0.6)


class Lists(unittest.TestCase):
    def test_samplers(self):
        """What `hardneg list samplers` says."""
        listed = json.loads(program("list", "samplers", "--json").stdout)
        listed = listed.get("samplers", listed) if isinstance(listed, dict) else listed
        listed = [sampler for sampler in listed if "given" not in sampler["flags"]]  # by another program, for `run` alone
        found = hardneg.samplers()
        self.assertEqual(list(found), [sampler["name"] for sampler in listed])
        for sampler in listed:
            own = found[sampler["name"]]
            self.assertEqual((own.summary, own.source, own.per_anchor),
                             (sampler["summary"], sampler["paper"], "per_anchor" in sampler["flags"]))
            self.assertEqual([(name, *option) for name, option in own.options.items()],
                             [(o["name"], o["default"], o["range"], o["help"]) for o in sampler["parameters"]])

    def test_digest_of_another_shape(self):
        """A file whose digest is no text is not taken for one without."""
        try:
            import h5py
        except ImportError:
            self.skipTest("no python3-h5py")
        path = os.path.join(work, "digest.h5")
        for value in (["a" * 64] * 2, np.zeros(4), ""):
            with open(snapshot(), "rb") as source, open(path, "wb") as copy:
                copy.write(source.read())
            with h5py.File(path, "r+") as file:
                file.attrs["content_sha256"] = value
            self.assertIn("content_sha256 is not one text", program("info", path, code=3).stderr)

    def test_repr(self):
        sampler = hardneg.BatchSampler(X, "{gcbs: {quantile: 0.999}}", 64, rank=1, world_size=2)
        list(sampler)
        for part in (sampler.spec, "quantile=0.999", "1500 items", "batch_size=64", "rank=1 of 2", "epoch=1", "build=0"):
            self.assertIn(part, repr(sampler))


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
        mined.build(Items(X, view2=VIEW2, labels=self.labels))
        anchors, negative, _ = mined.negatives(0, 0, len(mined.sizes(0)))
        same(self, rows, mined.measure(anchors, negatives=negative), list(rows["sampler"]).index("mined"))
        self.assertGreater(rows["fn_ratio"].min(), 0)

    def test_wrong(self):
        for labels, why in ((self.labels[:5], "a list of 5"), ([[-3]] * N, "0 to 2"), ([[2**31]] * N, "0 to 2"),
                            (np.full((N, 3), 7), "truth values"), (np.zeros((5, 3), bool), "truth values"),
                            ((np.arange(N), np.arange(3)), "indptr"), ((np.arange(N + 1), np.arange(3)), "indptr"),
                            ((np.arange(N + 1)[::-1], np.arange(0)), "label_start"),
                            ((np.arange(N + 1), -np.arange(N)), "0 and up")):
            self.assertRaisesRegex(ValueError, why, hardneg.measure, [[0, 1]], X, labels)
        wide = np.arange(N, dtype=np.int64)
        for value in (2**32 + 3, -2**32 + 3, 2**31, -1):
            wide[9] = value
            self.assertRaisesRegex(ValueError, "0 and up, to 2.31 - 1", hardneg.measure, [[0, 1]], X, (np.arange(N + 1), wide))


class Retrieval(unittest.TestCase):
    """mine(queries, corpus, qrels) against NumPy and against `hardneg mine`."""
    Q, P = X[:80], VIEW2[100:600]
    KNOWN = np.stack([np.arange(80), np.arange(80) * 3 % 500], 1)
    TRUTH = np.concatenate([KNOWN, np.stack([np.arange(80), np.arange(80) * 7 % 500], 1)])

    @classmethod
    def scores(cls):
        q, p = (a.astype(float) / np.linalg.norm(a.astype(float), axis=1, keepdims=True) for a in (cls.Q, cls.P))
        return q @ p.T

    def test_ranks_and_margins(self):
        scores = self.scores()
        for margin in (None, 0.2):
            mined = hardneg.mine(self.Q, self.P, self.KNOWN, negatives=4, min_rank=3, relative_margin=margin)
            for q, label in self.KNOWN:
                order = [p for p in np.argsort(-scores[q]) if p != label][:199]
                limit = np.inf if margin is None else scores[q, label] - abs(scores[q, label]) * margin
                wanted = [p for p in order[2:] if scores[q, p] <= limit][:4]
                self.assertEqual([p for p in mined.ids[q] if p >= 0], wanted)
                np.testing.assert_allclose(mined.scores[q][:len(wanted)], scores[q, wanted], atol=1e-6)
                self.assertTrue(np.isnan(mined.scores[q][len(wanted):]).all())
            self.assertEqual(mined.attrition["kept"].candidates, (mined.ids >= 0).sum())
            self.assertEqual(mined.fewer, (mined.ids < 0).any(1).sum())
            self.assertEqual(mined.none, (mined.ids < 0).all(1).sum())

    def test_as_the_program(self):
        for name, array in (("q", self.Q), ("p", self.P)):
            np.save(os.path.join(work, name + ".npy"), array)
        for name, rows in (("known", self.KNOWN), ("truth", self.TRUTH)):
            np.savetxt(os.path.join(work, name + ".tsv"), np.insert(rows, 2, 1, 1), "%d", "\t")
        program("import", "--queries", "q.npy", "--corpus", "p.npy", "--qrels", "known.tsv", "--truth", "truth.tsv", "-o", "r.h5")
        for options in ({"negatives": 7}, {"preset": "sentence-transformers", "relative_margin": 0.05},
                        {"preset": "flagembedding", "seed": 4}, {"min_score": 0.6, "take": "draw", "fill": "draw", "negatives": 6}):
            flags = [t for k, v in options.items() for t in ("--" + k.replace("_", "-"), str(v))]
            said = json.loads(program("mine", "r.h5", *flags, "-o", "n.npy", "--json").stdout)
            mined = hardneg.mine(self.Q, self.P, self.KNOWN, self.TRUTH, threads=2, **options)
            np.testing.assert_array_equal(mined.ids, np.load(os.path.join(work, "n.npy")))
            self.assertEqual((mined.fewer, mined.none, mined.drawn),
                             (said["queries_with_fewer"], said["queries_with_none"], said["drawn_to_fill"]))
            self.assertEqual({k: tuple(v) for k, v in mined.attrition.items()},
                             {r["stage"]: (r["candidates"], r["known"], r["hidden"]) for r in said["attrition"]})
        self.assertGreater(mined.drawn, 0)

    def test_shapes_of_qrels(self):
        wanted = hardneg.mine(self.Q, self.P, self.KNOWN).ids
        lists = [[int(p)] for _, p in self.KNOWN]
        graded = np.concatenate([np.insert(self.KNOWN, 2, 2, 1), [[0, 9, 0]]])  # judged, and not relevant
        shapes = [lists, dict(enumerate(lists)), {q: {p[0]: 1} for q, p in enumerate(lists)}, graded]
        try:
            import scipy.sparse
            shapes.append(scipy.sparse.csr_matrix((np.ones(80), self.KNOWN.T), shape=(80, 500)))
            self.assertRaisesRegex(ValueError, "a matrix of 500 rows, there are 80", hardneg.mine, self.Q, self.P, shapes[-1].T)
        except ImportError:
            pass
        for shape in shapes:
            np.testing.assert_array_equal(hardneg.mine(self.Q, self.P, shape).ids, wanted)

    def test_texts_and_teacher(self):
        texts = [f"p{i}" for i in range(500)]
        best = hardneg.mine(self.Q, self.P, self.KNOWN, negatives=1).ids[5, 0]
        texts[best] = texts[self.KNOWN[5, 1]]  # the text of the positive
        mined = hardneg.mine(self.Q, self.P, self.KNOWN, query_texts=np.array([f"q{i}" for i in range(80)]),
                             corpus_texts=np.array(texts))
        self.assertNotIn(best, mined.ids[5])
        self.assertEqual(mined.attrition["known"].known, mined.attrition["known"].candidates)
        guided = hardneg.mine(self.Q, self.P, self.KNOWN, query_teacher=self.Q, corpus_teacher=self.P, guide=0.1)
        margin = hardneg.mine(self.Q, self.P, self.KNOWN, absolute_margin=0.1)
        np.testing.assert_array_equal(guided.ids, margin.ids)

    def test_scores(self):
        """Ranks and filters by listed scores; what lacks one is no candidate, and is counted."""
        rng = np.random.default_rng(3)
        listed = {q: {int(p): float(rng.normal()) for p in rng.choice(500, 60, replace=False)} for q in range(80)}
        label = {int(q): int(p) for q, p in self.KNOWN}
        best = {q: [p for p in sorted(found, key=lambda p: (-np.float32(found[p]), p)) if p != label[q]] for q, found in listed.items()}
        rows = [(q, p, s) for q, found in listed.items() for p, s in found.items()]
        for scores in (listed, np.array(rows), rows, {(q, p): s for q, p, s in rows}):
            mined = hardneg.mine(self.Q, self.P, self.KNOWN, scores=scores, rank_by="scores", depth=500, negatives=5)
            self.assertEqual([list(row) for row in mined.ids], [best[q][:5] for q in range(80)])
        self.assertEqual(mined.attrition["no score"].candidates, 80 * 440)
        self.assertIn("of 40000 candidates looked at 4800 have a listed score", mined.note)
        few = {0: {label[0]: 1.0, best[0][0]: 2.0}}
        mined = hardneg.mine(self.Q, self.P, self.KNOWN, scores=few, rank_by="scores", depth=500)
        self.assertEqual(([p for p in mined.ids[0] if p >= 0], mined.none), ([best[0][0]], 79))
        self.assertRegex(mined.note, "of 80 known positives 79 have none, for 79 queries all of theirs")
        for scores, options, why in (({}, {"rank_by": "scores"}, "none of the 800 candidates looked at has a listed score"),
                                     ({0: {best[0][0]: 1.0}}, {"filter_by": "scores", "relative_margin": .1, "depth": 500},
                                      "none of the 80 known positives has a listed score, with which --relative-margin"),
                                     ([[0, 500, 1.0]], {}, "passage 500"), ([[0, 1, np.inf]], {}, "scores are finite"),
                                     ([[0, 1]], {}, "query, passage and score")):
            self.assertRaisesRegex(ValueError, why, hardneg.mine, self.Q, self.P, self.KNOWN, scores=scores,
                                   **{"depth": 10, **options})
        mined = hardneg.mine(self.Q, self.P, self.KNOWN, max_score=-2)
        self.assertIn("filters leave no negative: of 16000 candidates looked at, 15", mined.note)

    def test_refused(self):
        def refused(why, *data, **more):
            self.assertRaisesRegex(ValueError, why, hardneg.mine, *data, **more)
        refused("passage 500", self.Q, self.P, [[0, 500]] * 1 + [[0]] * 79)
        refused("passages of 2 queries, there are 80", self.Q, self.P, [[0], [1]])
        refused("whole numbers", self.Q, self.P, np.array([[0, 1.5]]))
        refused("queries have 24 columns, the corpus 9", self.Q, TEACHER, self.KNOWN)
        refused("has no teacher", self.Q, self.P, self.KNOWN, filter_by="teacher")
        refused("hold fewer than the 10", self.Q, self.P, self.KNOWN, max_rank=4)
        refused("give both", self.Q, self.P, self.KNOWN, corpus_texts=["a"] * 500)
        # 80 pairs for 80 queries could be passages 0 and p of query 0 ...
        refused("are these pairs, or passages", self.Q, self.P, self.KNOWN.tolist())
        refused("are wanted", self.Q, self.P, None)
        refused("corpus_texts: item 3 is None", self.Q, self.P, self.KNOWN, query_texts=["q"] * 80,
                corpus_texts=["a"] * 3 + [None] * 497)
        spoiled = self.P.copy()
        spoiled[7] = 0
        refused("corpus row 7", self.Q, spoiled, self.KNOWN)


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
        """The library keeps a copy of x, and a refresh makes its own before that goes."""
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
        self.assertLess(refreshed, 1.2)

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
        again, _ = hardneg.mine(X, "{hops: {l: 2}}", edges=edges.astype(np.uint64))
        self.assertTrue((again == ids).all())
        for wrong in (np.array([[0, 2**64 - 1]], np.uint64), [[2**63, 1]], [[-1, 0]], [[0.5, 1]], [[2**64, 0]]):
            self.assertRaisesRegex(ValueError, "edges", hardneg.mine, X, "hops", edges=wrong)

    def test_inconsistent_matrices(self):
        try:
            import scipy.sparse
        except ImportError:
            self.skipTest("no python3-scipy")
        for change in (lambda m: m.indptr.__setitem__(-1, 10**8), lambda m: m.indptr.__setitem__(0, 1),
                       lambda m: m.indices.__setitem__(7, N), lambda m: m.indices.__setitem__(7, -1),
                       lambda m: m.indptr.__setitem__(5, 900), lambda m: setattr(m, "indices", m.indices[:-3])):
            matrix = scipy.sparse.csr_matrix(scipy.sparse.eye(N))
            change(matrix)
            self.assertRaisesRegex(ValueError, "edges: .*check_format", hardneg.mine, X, "hops", edges=matrix)
            self.assertRaisesRegex(ValueError, "labels: .*check_format", hardneg.measure, [[0, 1]], X, matrix)
        longer = scipy.sparse.csr_matrix((np.ones(9), np.zeros(9, int), np.minimum(np.arange(N + 1), 4)), shape=(N, 2))
        self.assertEqual(hardneg.measure([[0, 3], [1, 2]], X, longer)["fn_ratio"], 1)

    def test_mine_files(self):
        path = os.path.join(work, "mined.jsonl")
        ids, scores = hardneg.mine(X, "{mined: {n: 3}}", output=path)
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
        # As the program, it makes files, and does not replace what is none.
        pipe, target = os.path.join(work, "pipe"), os.path.join(work, "to-null")
        os.mkfifo(pipe)
        os.symlink("/dev/null", target)
        for name in (pipe, target, "/dev/null", work):
            for force in (False, True):
                self.assertRaisesRegex(ValueError, "not a regular file", hardneg.mine, X[:50], "mined", output=name, force=force)
            self.assertEqual(program("sample", snapshot(), "--sampler", "mined", "-o", name, code=2).stdout, "")
        self.assertTrue(stat.S_ISFIFO(os.lstat(pipe).st_mode) and os.path.islink(target))
        self.assertEqual([name for name in os.listdir(work) if ".tmp" in name], [])

    def test_exclusions(self):
        """Items that share a label with the anchor, and copies of it, against NumPy."""
        x = X[:300].copy()
        x[200:220], x[220:240] = x[:20], 3 * x[20:40]
        unit = x.astype(np.float64) / np.linalg.norm(x.astype(np.float64), axis=1, keepdims=True)
        cosine = np.minimum(unit @ unit.T, 1)
        sets = [[int(i) % 4, 4 + int(i) % 9] if i % 5 else [] for i in range(300)]
        one, (several, _) = np.where(LABELS[:300] < 0, np.arange(300) + 100, LABELS[:300]), shared(sets)
        for labels, together in ((LABELS[:300], one[:, None] == one), (sets, several)):
            for exclude in ("labels", "copies", "both"):
                out = np.eye(300, dtype=bool)
                out |= together if exclude != "copies" else False
                out |= cosine > 1 - 1e-6 if exclude != "labels" else False
                wanted = [np.flatnonzero(~row) for row in out]
                given = {} if exclude == "copies" else {"labels": labels}
                mined = hardneg.mine(x, {"mined": {"R": 299, "n": "all", "exclude": exclude}}, **given)
                self.assertTrue(all((np.sort(ids[ids >= 0]) == row).all() for ids, row in zip(mined.ids, wanted)))
                self.assertIs(mined[0], mined.ids)
                total = np.array([*mined.attrition.values()]).sum()
                self.assertEqual((total, sum(mined.attrition["kept"])), (300 * 299, sum(map(len, wanted))))
                if exclude == "labels":
                    self.assertEqual(mined.attrition["labels"], (0, together.sum() - np.trace(together), 0))
        # Rounding leaves the cosine of a copy above 1, which limits of 1 do not drop.
        kept = hardneg.mine(x, "{mined: {n: 1, max_score: 1}}").ids[:40, 0]
        self.assertEqual(kept.tolist(), list(range(200, 240)))

    def test_unused(self):
        for spec, parts in (("mined", {"labels": LABELS}), ("mined", {"view2": VIEW2}), ("{mined: {exclude: copies}}", {"labels": LABELS}),
                            ("random-negatives", {"features": X}), ("{ring: {space: embeddings}}", {"features": X})):
            self.assertRaisesRegex(ValueError, f"{[*parts][0]}: .* does not look at them", hardneg.mine, X, spec, **parts)
        for name, part in (("edges", [[0, 1]]), ("features", X), ("groups", GROUPS)):
            self.assertRaisesRegex(ValueError, name, hardneg.BatchSampler, X, "knn", B, **{name: part})
        self.assertRaises(TypeError, hardneg.mine, X, "mined", label=LABELS)
        self.assertRaises(TypeError, hardneg.BatchSampler, X, "knn", bach_size=3)

    def test_relative_margin(self):
        """A larger margin drops at least as much, also where the positive has a negative score."""
        def row(cos, axis):
            x = np.zeros(9)
            x[0], x[axis] = cos, np.sqrt(1 - cos * cos)
            return x
        for positive, near in ((-0.3, -0.31), (-0.7, -0.705), (0.4, 0.39)):
            x = np.array([row(1, 1), row(near, 2), row(-0.9, 3), row(-0.95, 4)])
            view2 = x.copy()
            view2[0] = row(positive, 5)
            weight = [hardneg.measure([[0, 1, 2, 3]], x, [0, 0, 1, 2], view2, loss="infonce",
                                      weighting={"gist": {"margin": margin, "strategy": "relative"}})["fn_mass"]
                      for margin in (0, 0.02, 0.05)]
            self.assertGreater(weight[0], 0)
            self.assertEqual(weight, sorted(weight, reverse=True))
            self.assertLess(weight[2], weight[0])


run_tests("python", sys.modules[__name__])
