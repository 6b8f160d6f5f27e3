# SPDX-License-Identifier: GPL-3.0-or-later
"""Data sets of pairs in sentence-transformers, in words of our own after its trainer: `tests/python_pairs.py PROGRAM`.
Ends as every suite does."""
import itertools
import json
import pickle
import sys
import unittest

from python_data import run_tests
import numpy as np
import hardneg

B = 8


class Data:
    """As a data set of `datasets`: columns by name, rows by number."""

    def __init__(self, n, seed, **more):
        draw = np.random.default_rng(seed)
        self.columns = {"anchor": [f"question {i}" for i in draw.integers(0, max(n // 8, 1), n)],
                        "positive": [f"passage {i}" for i in draw.integers(0, max(n // 8, 1), n)], **more}
        self.column_names, self.seed = list(self.columns), seed

    def __len__(self):
        return len(self.columns["anchor"])

    def __getitem__(self, key):
        return self.columns[key] if isinstance(key, str) else {name: column[key] for name, column in self.columns.items()}


def mined(n, seed, texts=20):
    draw = np.random.default_rng(seed)
    return {"negative_1": [f"passage {i}" for i in draw.integers(0, texts, n)],
            "negative_2": [[f"passage {i}", f"other {i}"] if i % 3 else None for i in draw.integers(0, 2 * texts, n)],
            "score": [0.5] * n, "dataset_name": ["one"] * n}


def embed(dataset, time=0):
    draw = np.random.default_rng(dataset.seed + 1000 * time)
    queries, passages = draw.standard_normal((2, len(dataset), 8)).astype(np.float32)
    return queries, passages


def texts_of(dataset, i):
    """All texts of a row."""
    found = [dataset[i][name] for name in dataset.column_names if name not in ("score", "dataset_name")]
    return {text for value in found for text in ([value] if isinstance(value, str) else value or [])}


def make(factory, dataset, seed=0, drop_last=False, batch_size=B):
    return factory(dataset, batch_size=batch_size, drop_last=drop_last, valid_label_columns=["label", "score"], generator=None, seed=seed)


class Pairs(unittest.TestCase):
    def test_no_duplicates(self):
        """No text twice in a batch, of any column, by the plain loop over an order."""
        for columns in ({}, mined(120, 4)):
            data = Data(120, 3, **columns)
            factory = hardneg.sentence_transformers(embed, "{uniform: {no_duplicates: true}}")
            sampler = make(factory, data)
            order = sum(make(hardneg.sentence_transformers(embed, "uniform"), data), [])
            wanted = []
            while order:
                ids, texts = [], set()
                for i in order:
                    if len(ids) < B and not texts & texts_of(data, i):
                        ids.append(i)
                        texts |= texts_of(data, i)
                order = [i for i in order if i not in ids]
                wanted.append(ids)
            self.assertEqual(list(sampler), wanted)
            self.assertTrue(any(len(ids) < B for ids in wanted[:-1]))

    def test_keep_apart(self):
        """Mined negatives that are relevant to a query of the batch count as its passages do."""
        n = 200
        data = Data(n, 5, **{"anchor": [f"q{i}" for i in range(n)], "positive": [f"passage {i % 90}" for i in range(n)], **mined(n, 6, 90)})
        known = {(row["anchor"], row["positive"]) for row in map(data.__getitem__, range(n))}

        def clashes(i, j):
            return any((data[i]["anchor"], text) in known for text in texts_of(data, j) - {data[j]["anchor"]})
        for spec in ("{uniform: {keep_apart: true}}", "{gcbs: {keep_apart: true, quantile: 0.9}}"):
            sampler = make(hardneg.sentence_transformers(embed, spec), data)
            batches = list(sampler)
            left = sum(any(i != j and (clashes(i, j) or clashes(j, i)) for j in ids) for ids in batches for i in ids)
            sampler.set_epoch(0)
            self.assertEqual(sampler.measure()["apart_left"], left)
            self.assertEqual(sorted(sum(batches, [])), list(range(n)))
            plain = list(make(hardneg.sentence_transformers(embed, spec.replace("keep_apart: true", "keep_apart: false")), data))
            before = sum(any(i != j and (clashes(i, j) or clashes(j, i)) for j in ids) for ids in plain for i in ids)
            self.assertLess(left, before / 4)

    def test_own_parts(self):
        """Functions of a data set, a seed, and data sets for evaluation, which have their own."""
        data, other = Data(100, 1), Data(40, 2)
        factory = hardneg.sentence_transformers(lambda rows: embed(rows)[0], "{uniform: {no_duplicates: true}}", seed=7,
                                                view2=lambda rows: embed(rows)[1])
        made = [make(factory, rows) for rows in (data, other)]
        for sampler, rows in zip(made, (data, other)):
            like = hardneg.BatchSampler(embed(rows)[0], "{uniform: {no_duplicates: true}}", B, 7, view2=embed(rows)[1],
                                        tuples=(rows["anchor"], rows["positive"]))
            self.assertEqual((list(sampler), sampler.digest), (list(like), like.digest))
        self.assertEqual(factory.made, made)
        few = make(factory, Data(8, 2), batch_size=20)  # an evaluation's batches are larger
        self.assertEqual(sorted(sum(few, [])), list(range(8)))
        for n, sizes in ((2, [[1], [1]]), (5, [[2], [2]]), (9, [[4], [4]])):
            ranks = [hardneg.sentence_transformers(embed, "uniform", rank=rank, world_size=2, split="batch") for rank in range(2)]
            self.assertEqual([list(map(len, make(rank, Data(n, 2, anchor=["q"] * n, positive=["p"] * n)))) for rank in ranks], sizes)
        self.assertRaisesRegex(ValueError, "batch_size 20 exceeds the 8 items", make, factory, Data(8, 2), 0, True, 20)
        self.assertRaisesRegex(ValueError, "1 item", make, factory, Data(1, 2, anchor=["q"], positive=["p"]))
        unknown = Data(100, 1)
        unknown.columns["positive"][7] = None
        self.assertRaisesRegex(ValueError, r"tuples: passages\[7\] is None", make, factory, unknown)
        labelled = hardneg.sentence_transformers(embed, "uniform", labels=lambda rows: range(len(rows)))
        self.assertEqual(make(labelled, other).measure()["fn_ratio"], 0)
        without = hardneg.sentence_transformers(embed, "{uniform: {no_duplicates: true}}", tuples=None)
        self.assertRaisesRegex(ValueError, "pairs of queries and passages", make, without, data)
        both = hardneg.sentence_transformers(embed, "uniform", view2=embed(data)[1])
        self.assertRaisesRegex(ValueError, "view2: embed", make, both, data)
        again = pickle.loads(pickle.dumps(hardneg.sentence_transformers(embed, "{uniform: {no_duplicates: true}}", seed=7)))
        self.assertEqual(list(make(again, data)), list(make(hardneg.sentence_transformers(embed, "{uniform: {no_duplicates: true}}", seed=7), data)))


class Trainer:
    """What SentenceTransformerTrainer does: loaders of the data sets, epochs that are set, batches that it skips on resume
    itself, a sampler for evaluation now and then; round robin over several data sets."""

    def __init__(self, factory, sets, embed_now):
        self.factory, self.sets, self.embed_now = factory, sets, embed_now

    def batches(self, samplers):
        runs = [iter(sampler) for sampler in samplers]
        for which in itertools.cycle(range(len(runs))):
            ids = next(runs[which], None)
            if ids is None:
                return
            yield which, ids

    def train(self, epochs, epoch=0, step=0):
        samplers = [make(self.factory, rows, seed=3) for rows in self.sets]
        for number in range(epoch, epochs):
            if len(samplers) == 1:
                samplers[0].sampler.set_epoch(number)
            for sampler, rows in zip(samplers, self.sets):  # on_epoch_begin
                sampler.refresh(*self.embed_now(rows, number))
            ahead = None  # accelerate looks one batch ahead
            for k, found in enumerate(itertools.chain(self.batches(samplers), [None])):
                if ahead is not None and k > step:
                    yield number, k, ahead
                ahead = found
                if k == 5:
                    list(make(self.factory, Data(30, 9)))  # an evaluation
            step = 0


class Resumed(unittest.TestCase):
    def test_killed(self):
        for sets, places in itertools.product(([Data(90, 1)], [Data(90, 1), Data(70, 2)]), ([1], [4], [11], [15], [3, 2, 9])):
            spec = "{uniform: {no_duplicates: true}}" if len(sets) == 1 else "{gcbs: {quantile: 0.9}}"
            now = lambda rows, epoch: embed(rows, epoch + 1)
            wanted = list(Trainer(hardneg.sentence_transformers(embed, spec), sets, now).train(2))
            found, saved, place = [], {}, (0, 0)
            for lived, life in enumerate([*places, len(wanted)]):
                crashed = lambda rows, lived=lived: embed(rows, 50 + lived)  # the model is another then
                factory = hardneg.sentence_transformers(crashed, spec)
                factory.load_state_dict(saved)
                for epoch, step, ids in itertools.islice(Trainer(factory, sets, now).train(2, *place), life):
                    found.append((epoch, step, ids))
                    place, saved = (epoch, step), json.loads(json.dumps(factory.state_dict()))
            if len(sets) == 1:
                self.assertEqual(found, wanted)
            # Each item once in an epoch, also of several data sets.
            for epoch in range(2):
                drawn = [(which, i) for number, _, (which, ids) in found if number == epoch for i in ids]
                self.assertEqual(len(drawn), len(set(drawn)), (places, epoch))


run_tests("python, pairs", sys.modules[__name__])
