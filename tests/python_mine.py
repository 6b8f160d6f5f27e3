# SPDX-License-Identifier: GPL-3.0-or-later
"""mine() with a corpus as people have their data: ids, texts, frames, files, and embeddings that change:
`tests/python_mine.py PROGRAM`. Ends as every suite does."""
import inspect
import json
import os
import re
import sys
import unittest

from python_data import VIEW2, X, program, run_tests, work
import numpy as np
import hardneg

try:
    import pandas
except ImportError:
    pandas = None

n, m = 60, 300
Q, P = X[:n], VIEW2[:m]
KNOWN = np.stack([np.arange(n), np.arange(n) * 7 % m], 1)
QUERY_IDS, CORPUS_IDS = [f"q{i}" for i in range(n)], [f"{i:04d}" for i in range(m)]
QUERIES = {name: f"frage {i} ü" for i, name in enumerate(QUERY_IDS)}  # as BEIR's loader has them
CORPUS = {name: {"title": "" if i % 2 else f"title {i}", "text": f"text {i}"} for i, name in enumerate(CORPUS_IDS)}
QRELS = {QUERY_IDS[q]: {CORPUS_IDS[p]: 1} for q, p in KNOWN}


class Frame:
    """Columns by name, as frames of pandas and polars and data sets of Hugging Face have them."""

    def __init__(self, **columns):
        self.table = {name.replace("__", "-"): list(column) for name, column in columns.items()}
        self.columns = list(self.table)

    def __getitem__(self, name):
        return self.table[name]


class Shapes(unittest.TestCase):
    wanted = hardneg.mine(Q, P, KNOWN).ids

    def same(self, qrels, **more):
        np.testing.assert_array_equal(hardneg.mine(Q, P, qrels, **more).ids, self.wanted)

    def test_ids(self):
        named = [(QUERY_IDS[q], CORPUS_IDS[p]) for q, p in KNOWN]
        for qrels in (QRELS, named, [(*pair, 1) for pair in named], np.array(named), dict(named), [[p] for _, p in named],
                      Frame(query__id=[q for q, _ in named], corpus__id=[p for _, p in named], score=[1] * n),
                      Frame(iteration=[0] * n, doc_id=[p for _, p in named], relevance=[1] * n, query_id=[q for q, _ in named])):
            self.same(qrels, query_ids=QUERY_IDS, corpus_ids=np.array(CORPUS_IDS))
        self.same(QRELS, query_texts=QUERIES, corpus_texts=CORPUS)
        self.same(KNOWN + [100, 1000], query_ids=range(100, 100 + n), corpus_ids=np.arange(1000, 1000 + m))

    def test_rows(self):
        for qrels in (list(map(tuple, KNOWN.tolist())), [(q, p, 1) for q, p in KNOWN], Frame(a=KNOWN[:, 0], b=KNOWN[:, 1])):
            self.same(qrels)

    @unittest.skipUnless(pandas, "no python3-pandas")
    def test_pandas(self):
        frame = pandas.DataFrame({"query-id": [QUERY_IDS[q] for q, _ in KNOWN], "corpus-id": [CORPUS_IDS[p] for _, p in KNOWN], "score": 1})
        self.same(frame, query_ids=QUERY_IDS, corpus_ids=pandas.Series(CORPUS_IDS))
        found = hardneg.mine(pandas.DataFrame(Q, index=QUERY_IDS), pandas.DataFrame(P), frame, query_ids=QUERY_IDS,
                             corpus_ids=pandas.Index(CORPUS_IDS), query_texts=pandas.Series(QUERIES), corpus_texts=list(CORPUS.values()))
        np.testing.assert_array_equal(found.ids, self.wanted)

    def test_packed_bits(self):
        """Bytes are refused; unpacked they are numbers."""
        bits = [np.packbits(rows > 0, axis=1) for rows in (Q, P)]
        self.assertRaisesRegex(ValueError, "queries: bytes may be packed bits", hardneg.mine, *bits, KNOWN)
        self.assertRaisesRegex(ValueError, "corpus: bytes may be packed bits", hardneg.mine, Q, bits[1], KNOWN)
        found = hardneg.mine(*(np.unpackbits(rows, axis=1)[:, :Q.shape[1]] * 2.0 - 1 for rows in bits), KNOWN)
        np.testing.assert_array_equal(found.ids, hardneg.mine(np.where(Q > 0, 1, -1), np.where(P > 0, 1, -1), KNOWN).ids)

    def test_scores_by_id(self):
        plain = {int(q): {int(p): float(q + p) for p in range(0, m, 3)} for q in range(n)}
        wanted = hardneg.mine(Q, P, KNOWN, scores=plain, rank_by="scores", depth=m).ids
        named = {QUERY_IDS[q]: {CORPUS_IDS[p]: s for p, s in row.items()} for q, row in plain.items()}
        rows = [(q, p, s) for q, row in named.items() for p, s in row.items()]
        frame = Frame(qid=[row[0] for row in rows], docid=[row[1] for row in rows], score=[row[2] for row in rows])
        for scores in (named, rows, frame, {(q, p): s for q, p, s in rows}):
            found = hardneg.mine(Q, P, QRELS, query_ids=QUERY_IDS, corpus_ids=CORPUS_IDS, scores=scores, rank_by="scores", depth=m)
            np.testing.assert_array_equal(found.ids, wanted)

    def test_refused(self):
        ids = {"query_ids": QUERY_IDS, "corpus_ids": CORPUS_IDS}
        for why, qrels, more in (
                ("qrels: 'q99' is no id of queries, of which the first is 'q0'", {"q99": ["0001"]}, ids),
                ("qrels: 7 is no id of corpus", {"q0": [7]}, ids), ("qrels: '7' is no id of corpus", [("q0", "7")], ids),
                ("qrels: .'a'. is no id of queries", [(["a"], "0001")], ids),
                ("query_ids: 'q0' is there twice", QRELS, {**ids, "query_ids": ["q0"] * n}),
                ("corpus_ids: 2 ids for 300 rows", QRELS, {**ids, "corpus_ids": ["a", "b"]}),
                ("query_ids: nan cannot be an id", QRELS, {**ids, "query_ids": [float("nan"), *QUERY_IDS[1:]]}),
                ("corpus_ids are not the keys of corpus_texts", QRELS, {"query_texts": QUERIES, "corpus_texts": CORPUS, "corpus_ids": range(m)}),
                ("query_texts and corpus_texts: give both", QRELS, {"query_texts": QUERIES, "corpus_ids": CORPUS_IDS}),
                ("corpus_texts: item 0 is {'title': 'x'}", KNOWN, {"query_texts": ["a"] * n, "corpus_texts": [{"title": "x"}] * m}),
                ("for ids give query_ids and corpus_ids", QRELS, {}),
                ("of the columns a, b, c, d none is called query-id", Frame(a=[0], b=[0], c=[0], d=[0]), {}),
                ("tuples", [(0, 1, 1, 1)], {}), ("Make pairs tuples", [[q, p] for q, p in KNOWN.tolist()], {})):
            with self.subTest(why):
                self.assertRaisesRegex(ValueError, why, hardneg.mine, Q, P, qrels, **more)


    def test_calls(self):
        """Refused in the words of the call."""
        for why, data, more in (("takes an array and a sampler, or queries, a corpus and qrels", (Q,), {}), ("takes an array and a sampler", (), {}),
                                ("with a corpus: missing a required argument: 'qrels'", (Q, P), {"negatives": 3}),
                                ("with a corpus: too many positional arguments", (Q, P, KNOWN, None, 5), {}),
                                ("with a corpus has no argument 'n'", (Q, P, KNOWN), {"n": 3}),
                                ("of one array: got an unexpected keyword argument 'negatives'", (P, "mined"), {"negatives": 3})):
            with self.subTest(why):
                self.assertRaisesRegex(TypeError, r"^mine\(\) " + re.escape(why), hardneg.mine, *data, **more)


class Files(unittest.TestCase):
    def test_as_the_program(self):
        """Lines of mine(output=) are those of `hardneg mine` on the same data."""
        for name, rows in (("mq", Q), ("mp", P)):
            np.save(os.path.join(work, name + ".npy"), rows)
        for name, side in (("mq", {i: {"text": t} for i, t in QUERIES.items()}), ("mp", CORPUS)):
            with open(os.path.join(work, name + ".jsonl"), "w", encoding="utf-8") as file:
                file.writelines(json.dumps({"_id": i, **rest}) + "\n" for i, rest in side.items())
        with open(os.path.join(work, "m.tsv"), "w", encoding="utf-8") as file:
            file.writelines(f"q{q}\t{CORPUS_IDS[p]}\t1\n" for q, p in KNOWN)
        program("import", "--queries", "mq.npy", "--corpus", "mp.npy", "--query-ids", "mq.jsonl", "--corpus-ids", "mp.jsonl",
                "--qrels", "m.tsv", "-o", "m.h5")
        for options in ({"negatives": 4}, {"relative_margin": 0.3, "min_rank": 3}, {"max_score": -0.5}):
            flags = [t for k, v in options.items() for t in ("--" + k.replace("_", "-"), str(v))]
            program("mine", "m.h5", *flags, "-o", "m.jsonl", "--quiet")
            path = os.path.join(work, "own.jsonl")
            found = hardneg.mine(Q, P, QRELS, query_texts=QUERIES, corpus_texts=CORPUS, output=path, force=True, **options)
            with open(path, encoding="utf-8") as own, open(os.path.join(work, "m.jsonl"), encoding="utf-8") as other:
                lines = [*map(json.loads, own)]
                self.assertEqual(lines, [*map(json.loads, other)])
            self.assertEqual("queries left out" in found.note, len(lines) < n)
            np.testing.assert_array_equal(found.positives, KNOWN[np.lexsort(KNOWN.T[::-1])])
            cosine = (Q / np.linalg.norm(Q, axis=1, keepdims=True) * (P / np.linalg.norm(P, axis=1, keepdims=True))[KNOWN[:, 1]]).sum(1)
            np.testing.assert_allclose(found.positive_scores, cosine, atol=1e-6)
        hardneg.mine(Q, P, KNOWN, output=os.path.join(work, "own.npy"))
        np.testing.assert_array_equal(np.load(os.path.join(work, "own.npy")), Shapes.wanted)
        self.assertRaisesRegex(FileExistsError, "force=True", hardneg.mine, Q, P, KNOWN, output=os.path.join(work, "own.npy"))
        self.assertEqual([name for name in os.listdir(work) if ".tmp" in name], [])

    def test_positives(self):
        """The last grade of a pair counts, from min_grade on; scores are those that filters looked at."""
        qrels = np.array([[3, 9, 1], [0, 5, 2], [0, 4, 1], [3, 9, 0], [0, 5, 1], [1, 2, 2]])
        found = hardneg.mine(Q, P, qrels, scores=[(0, 4, 7.5)], filter_by="scores", max_score=9, depth=m, equal_texts="apart")
        self.assertEqual(found.positives.tolist(), [[0, 4], [0, 5], [1, 2]])
        np.testing.assert_array_equal(found.positive_scores, [7.5, np.nan, np.nan])
        self.assertEqual(hardneg.mine(Q, P, qrels, min_grade=2).positives.tolist(), [[1, 2]])


class Again(unittest.TestCase):
    def test_refresh(self):
        """As mine() with the embeddings of the time, aside or not."""
        miner = hardneg.Miner(Q, P, QRELS, query_texts=QUERIES, corpus_texts=CORPUS, negatives=5, min_rank=2)
        first = miner.mined
        np.testing.assert_array_equal(first.ids, hardneg.mine(Q, P, KNOWN, negatives=5, min_rank=2).ids)
        self.assertTrue(np.isnan(miner.changed))
        rows = np.random.default_rng(1).normal(size=(2, m, P.shape[1])).astype(np.float32)
        q, p = Q + rows[0, :n], P + rows[1]
        wanted = hardneg.mine(q, p, KNOWN, negatives=5, min_rank=2)
        for wait in (True, False):
            miner.refresh(Q, P)
            given = q.copy(), p.copy()
            found = miner.refresh(*given, wait=wait)
            for array in given:
                array[:] = 1  # nobody looks at them any more
            self.assertEqual(found is None, not wait)
            np.testing.assert_array_equal(miner.mined.ids, wanted.ids)
            np.testing.assert_array_equal(miner.mined.positive_scores, wanted.positive_scores)
            new = [set(now) - set(then) for now, then in zip(wanted.ids.tolist(), first.ids.tolist())]
            self.assertAlmostEqual(miner.changed, sum(map(len, new)) / wanted.ids.size)
        miner.refresh(q, p)
        self.assertEqual(miner.changed, 0)

    def test_failure(self):
        """What fails leaves the last negatives; their file too."""
        path = os.path.join(work, "again.jsonl")
        miner = hardneg.Miner(Q, P, KNOWN, output=path)
        before, text = miner.mined, open(path, "rb").read()
        for q, p, why in ((Q[1:], P, "queries: 59 rows, there were 60"), (Q, P[:, :3], "queries have 24 columns, the corpus 3")):
            self.assertRaisesRegex(ValueError, why, miner.refresh, q, p)
        self.assertRaisesRegex(ValueError, "is all zeros", miner.refresh, Q * 0, P)
        self.assertIsNone(miner.refresh(Q * 0, P, wait=False))
        self.assertRaisesRegex(ValueError, "is all zeros", lambda: miner.mined)
        self.assertIs(miner.mined, before)
        self.assertEqual(open(path, "rb").read(), text)
        miner.refresh(Q[::-1].copy(), P)
        self.assertNotEqual(open(path, "rb").read(), text)


class Scorer(unittest.TestCase):
    """scores=function: asked for few pairs, each once, and what is mined is as if all had scores."""
    OPTIONS = ({"filter_by": "scores", "relative_margin": 0.2, "negatives": 3}, {"guide": 0.1, "min_rank": 3},
               {"filter_by": "scores", "absolute_margin": 0.1, "preset": "sentence-transformers"},
               {"rank_by": "scores", "filter_by": "scores", "max_score": 0.5, "depth": 50},
               {"filter_by": "scores", "max_score": 0.1, "take": "draw", "depth": 60, "fill": "draw"})
    table = np.random.default_rng(4).normal(size=(n, m)).astype(np.float32)

    def test_as_all(self):
        every = [(q, p, float(self.table[q, p])) for q in range(n) for p in range(m)]
        for options in self.OPTIONS:
            wanted = hardneg.mine(Q, P, KNOWN, scores=every, **options)
            for threads, named in ((1, False), (3, True)):
                asked = []

                def score(pairs):
                    rows = [(QUERY_IDS.index(q), CORPUS_IDS.index(p)) for q, p in pairs] if named else pairs
                    asked.extend(rows)
                    return [self.table[row] for row in rows]
                ids = {"query_ids": QUERY_IDS, "corpus_ids": CORPUS_IDS} if named else {}
                found = hardneg.mine(Q, P, QRELS if named else KNOWN, scores=score, threads=threads, **ids, **options)
                np.testing.assert_array_equal(found.ids, wanted.ids)
                np.testing.assert_array_equal(found.positive_scores, wanted.positive_scores)
                if options.get("fill") is None:
                    np.testing.assert_array_equal(found.scores, wanted.scores)
                self.assertEqual(len(set(asked)), len(asked))
                self.assertLess(len(asked), n * 62)
                self.assertEqual(found.note, "")

    def test_texts_and_given(self):
        """The function gets texts where there are some, and is not asked for what is given."""
        texts = {"query_texts": QUERIES, "corpus_texts": CORPUS}
        of = {text: i for i, text in enumerate(QUERIES.values())}, {f"{one['title']} {one['text']}".strip(): i for i, one in enumerate(CORPUS.values())}
        asked = []

        def score(pairs):
            asked.append(len(pairs))
            return np.array([self.table[of[0][q], of[1][p]] for q, p in pairs])
        miner = hardneg.Miner(Q, P, QRELS, scores=score, **texts, **self.OPTIONS[0])
        np.testing.assert_array_equal(miner.mined.ids, hardneg.mine(Q, P, KNOWN, scores=[(q, p, self.table[q, p]) for q in range(n) for p in range(m)],
                                                                    **self.OPTIONS[0]).ids)
        self.assertLess(len(asked), 12)
        before = miner.mined.ids
        miner.refresh(Q, P, scores=score, wait=False)
        np.testing.assert_array_equal(miner.mined.ids, before)

    def test_wrong(self):
        for function, error, why in ((lambda pairs: 1 / 0, ZeroDivisionError, "division"), (lambda pairs: pairs[1:], ValueError, ""),
                                     (lambda pairs: [0.0], ValueError, r"scores: of [0-9]+ pairs the function gave \[1\]"),
                                     (lambda pairs: [np.nan] * len(pairs), ValueError, "query 0, passage [0-9]+ is nan: scores are finite")):
            self.assertRaisesRegex(error, why, hardneg.mine, Q, P, KNOWN, scores=function, filter_by="scores", max_score=1)
        self.assertRaisesRegex(ValueError, "these options look at no scores of pairs", hardneg.mine, Q, P, KNOWN, scores=len, max_score=1)


class Signatures(unittest.TestCase):
    def test_public(self):
        """Every public function and class says what it takes."""
        for name in hardneg.__all__:
            one = getattr(hardneg, name)
            if isinstance(one, type) and issubclass(one, (tuple, dict)):
                continue  # of what is returned
            kinds = {p.kind for p in inspect.signature(one).parameters.values()}
            allowed = {inspect.Parameter.VAR_KEYWORD} if name == "compare" else set()  # keys of a job
            self.assertFalse(kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD} - allowed, name)

    def test_mine(self):
        """What the signature allows is what mine() takes."""
        signature = inspect.signature(hardneg.mine)
        self.assertIn("relative_margin", signature.parameters)
        self.assertTrue({*inspect.signature(hardneg.Miner).parameters} < {*signature.parameters})
        for data, more in (((Q, P, KNOWN), {"negatives": 3, "self": "none"}), ((X, "{mined: {n: 3}}"), {"seed": 2, "labels": None}),
                           ((X,), {"corpus": P, "qrels": [[0]] * len(X), "take": "draw"})):
            signature.bind(*data, **more)
            hardneg.mine(*data, **more)
        self.assertRaises(TypeError, signature.bind, Q, P, KNOWN, relative_margn=1)
        self.assertRaisesRegex(TypeError, "no argument 'relative_margn': did you mean 'relative_margin'", hardneg.mine, Q, P, KNOWN,
                               relative_margn=1)


class FewRows(unittest.TestCase):
    def test_one_array(self):
        """An item of one array has its negatives among the others; a corpus of one passage may have none."""
        for rows, named in ((0, "0 rows"), (1, "1 row")):
            self.assertRaisesRegex(ValueError, f"^x: {named}, of which none has another: give 2 or more$", hardneg.mine, Q[:rows], "mined")
        np.testing.assert_array_equal(hardneg.mine(Q[:2], {"mined": {"n": 1}}).ids, [[1], [0]])
        self.assertEqual(hardneg.mine(Q[:1], P[:1], np.array([[0, 0]]), negatives=1).ids.tolist(), [[-1]])


class ZeroRows(unittest.TestCase):
    def test_told(self):
        """Those that stay are counted, of every array."""
        holed = lambda rows, *zero: np.where(np.isin(np.arange(len(rows)), zero)[:, None], 0, rows)
        wanted = "{}: {} zero and {}, row {} the first: the cosine to every item is 0".format
        for more, told in (({"queries": holed(Q, 3, 9)}, wanted("queries", "2 rows are", "stay", 3)),
                           ({"corpus": holed(P, 200)}, wanted("corpus", "1 row is", "stays", 200)),
                           ({"query_teacher": holed(Q, 5), "corpus_teacher": holed(P, 1, 2)},
                            wanted("query teacher", "1 row is", "stays", 5) + "; " + wanted("corpus teacher", "2 rows are", "stay", 1)), ({}, "")):
            found = hardneg.mine(**{"queries": Q, "corpus": P, "qrels": KNOWN, "zero_rows": "keep", **more})
            self.assertEqual(found.note, told)


run_tests("python mine", sys.modules[__name__])
