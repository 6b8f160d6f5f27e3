# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings that are killed at any batch and go on: what loaders and trainers do with a batch sampler meanwhile, in words
of our own after their sources. `tests/python_resume.py PROGRAM`. Ends as every suite does."""
import collections
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from python_data import run_tests
import numpy as np
import hardneg

N, B, EPOCHS = 95, 10, 3
SPECS = ["uniform", "knn", "{gcbs: {quantile: 0.9}}", "{batchsampler: {M: 30, K: 9, start: unseen}}"]


def embedding(time):
    """What the model says at some time of the training."""
    return np.random.default_rng(100 + time).standard_normal((N, 8)).astype(np.float32)


def make(spec="uniform", seed=2, **how):
    """After a crash nobody has the embeddings that its epoch began with, and none are needed."""
    return hardneg.BatchSampler(None, spec, B, seed, **how)


class Ahead:
    """torch's DataLoader: with workers it draws two batches for each as soon as it is iterated, then one as it hands one out."""

    def __init__(self, sampler, workers):
        self.batch_sampler, self.ahead = sampler, 2 * workers

    def __len__(self):
        return len(self.batch_sampler)

    def __iter__(self):
        drawn = iter(self.batch_sampler)
        return self._hand_out(drawn, collections.deque(itertools.islice(drawn, self.ahead)))

    @staticmethod
    def _hand_out(drawn, queue):
        while True:
            queue.extend(itertools.islice(drawn, 1))
            if not queue:
                return
            yield queue.popleft()


def skipping(sampler, count):
    """What skip_first_batches of accelerate puts between the loader and the sampler."""
    class Skip:
        batch_sampler = sampler

        def __iter__(self):
            return itertools.islice(sampler, count, None)
    return Skip()


class OneAhead:
    """accelerate's DataLoaderShard: looks one batch ahead of a loader, and counts epochs itself."""

    def __init__(self, sampler, workers, iteration=0):
        self.sampler, self.workers, self.iteration = sampler, workers, iteration

    def set_epoch(self, epoch):
        self.iteration = epoch
        getattr(self.sampler, "batch_sampler", self.sampler).sampler.set_epoch(epoch)

    def __iter__(self):
        self.set_epoch(self.iteration)
        batches, last = iter(Ahead(self.sampler, self.workers)), None
        for batch in batches:
            if last is not None:
                yield last
            last = batch
        if last is not None:
            yield last
        self.iteration += 1


class Stateful:
    """torchdata's StatefulDataLoader: keeps the sampler's state beside each batch that it draws."""

    def __init__(self, sampler, workers):
        self.sampler, self.ahead, self.state, self.loaded = sampler, 2 * workers, None, False

    def state_dict(self):
        return self.state

    def load_state_dict(self, state):
        self.sampler.load_state_dict(state)

    def __iter__(self):
        drawn, queue = iter(self.sampler), collections.deque()
        while True:
            for ids in itertools.islice(drawn, self.ahead + 1 - len(queue)):
                queue.append((ids, self.sampler.state_dict()))
            if not queue:
                return
            ids, self.state = queue.popleft()
            yield ids


# Each trains as its trainer does, from the start or from a checkpoint: yields an epoch, a batch, and a function that
# gives the checkpoint after it. The embeddings are new in each epoch.

def plain(sampler, workers, saved):
    first = trained = 0
    if saved:
        sampler.load_state_dict(saved)
        first, trained = saved["epoch"], saved["batch"]
    for epoch in range(first, EPOCHS):
        if epoch > first or not saved:
            sampler.refresh(embedding(epoch))
        for trained, ids in enumerate(Ahead(sampler, workers), trained + 1):
            yield epoch, ids, lambda: sampler.state_dict(batch=trained)
        trained = 0


def without_workers(sampler, workers, saved):
    """Its own loop over the sampler: what was drawn was trained on."""
    del workers
    if saved:
        sampler.load_state_dict(saved)
    for epoch in range(saved["epoch"] if saved else 0, EPOCHS):
        if not saved or epoch > saved["epoch"]:
            sampler.refresh(embedding(epoch))
        for ids in sampler:
            yield epoch, ids, sampler.state_dict


def accelerate_skips(sampler, workers, saved):
    first = trained = 0
    loader = OneAhead(sampler, workers)
    if saved:
        sampler.load_state_dict(saved, batch=0)
        first, trained = saved["epoch"], saved["batch"]
    for epoch in range(first, EPOCHS):
        loader.set_epoch(epoch)
        if epoch > first or not saved:
            sampler.refresh(embedding(epoch))
        batches = OneAhead(skipping(sampler, trained), workers, epoch) if trained else loader
        for trained, ids in enumerate(batches, trained + 1):
            yield epoch, ids, lambda: sampler.state_dict(batch=trained)
        trained = 0


def accelerate(sampler, workers, saved):
    first = trained = 0
    loader = OneAhead(sampler, workers)
    if saved:
        sampler.load_state_dict(saved)
        first, trained = saved["epoch"], saved["batch"]
        loader.set_epoch(first)
    for epoch in range(first, EPOCHS):
        if epoch > first or not saved:
            sampler.refresh(embedding(epoch))
        for trained, ids in enumerate(loader, trained + 1):
            yield epoch, ids, lambda: sampler.state_dict(batch=trained)
        trained = 0


def torchdata(sampler, workers, saved):
    loader = Stateful(sampler, workers)
    if saved:
        loader.load_state_dict(saved["loader"])
    for epoch in range(saved["epoch"] if saved else 0, EPOCHS):
        if not saved or epoch > saved["epoch"]:
            sampler.refresh(embedding(epoch))
        for ids in loader:
            yield epoch, ids, lambda: {"loader": loader.state_dict(), "epoch": epoch}


def lightning(sampler, workers, saved):
    """The first iterator is made before the epoch is set, and none in place of it; batches are counted from where it was."""
    first = trained = 0
    if saved:
        sampler.load_state_dict(saved)
        first, trained = saved["epoch"], saved["batch"]
    else:
        sampler.refresh(embedding(0))
    loader = Ahead(sampler, workers)
    batches, length = iter(loader), len(loader)
    for epoch in range(first, EPOCHS):
        sampler.sampler.set_epoch(epoch)
        if epoch > first:
            sampler.refresh(embedding(epoch))  # on_train_epoch_start
            batches, length = iter(loader), len(loader)
        while trained < length:
            ids = next(batches)
            trained += 1
            yield epoch, ids, lambda: sampler.state_dict(batch=trained, epoch=epoch)
        trained = 0


TRAINERS = [plain, without_workers, accelerate, accelerate_skips, torchdata, lightning]


def epochs_of(steps):
    found = collections.defaultdict(list)
    for epoch, ids, _ in steps:
        found[epoch].append(ids)
    return dict(found)


class Killed(unittest.TestCase):
    def check(self, trainer, spec, workers, places):
        wanted = epochs_of(trainer(make(spec), workers, None))
        self.assertEqual(sorted(wanted), list(range(EPOCHS)))
        if "batchsampler" not in spec and spec != "knn":
            for batches in wanted.values():
                self.assertEqual(sorted(sum(batches, [])), list(range(N)))
        found, saved, state = [], None, None
        for place in places:  # how many batches a process lives
            steps = trainer(make(spec), workers, saved)
            for epoch, ids, save in itertools.islice(steps, place):
                found.append((epoch, ids, None))
                saved = state = json.loads(json.dumps(save()))
        found += trainer(make(spec), workers, saved)
        self.assertEqual(epochs_of(found), wanted, state)

    def test_every_trainer(self):
        draw, specs = random.Random(4), itertools.cycle(SPECS)
        for trainer, workers in itertools.product(TRAINERS, (0, 2, 4)):
            for places in [[1], [9], [10], [11], [28]] + [[draw.randrange(1, 9) for _ in range(3)] for _ in range(3)]:
                spec = next(specs)
                with self.subTest(trainer=trainer.__name__, spec=spec, workers=workers, places=places):
                    self.check(trainer, spec, workers, places)

    def test_processes(self):
        """The state of one process serves all, which stay together."""
        for split in ("deal", "batch"):
            ranks = [make("knn", rank=rank, world_size=3, split=split) for rank in range(3)]
            for sampler in ranks:
                sampler.refresh(embedding(0))
            wanted = [list(sampler) for sampler in ranks]
            ranks[1].set_epoch(0)
            drawn = iter(ranks[1])
            next(drawn), next(drawn)
            state = ranks[1].state_dict(batch=1)
            resumed = [make("knn", rank=rank, world_size=3, split=split) for rank in range(3)]
            for sampler in resumed:
                sampler.load_state_dict(state)
            self.assertEqual([list(sampler) for sampler in resumed], [batches[1:] for batches in wanted])

    def test_short_batches(self):
        """Sizes are kept: of a sampler without duplicates, with and without those that are short."""
        view2, tuples = embedding(9), ([f"q{i % 9}" for i in range(N)], range(N))
        for drop_last in (False, True):
            how = {"spec": "{uniform: {no_duplicates: true}}", "drop_last": drop_last, "tuples": tuples}
            sampler = hardneg.BatchSampler(embedding(0), how["spec"], 8, view2=view2, tuples=tuples, drop_last=drop_last)
            wanted = list(sampler)
            sampler.set_epoch(0)
            next(iter(sampler))
            again = hardneg.BatchSampler(None, how["spec"], 8, tuples=tuples, drop_last=drop_last)
            again.load_state_dict(sampler.state_dict(batch=2, epoch=0))
            self.assertEqual(len(again), len(wanted))
            self.assertEqual(list(again), wanted[2:])

    def test_endless(self):
        """Batches count on from epoch to epoch, and a loader may be in the next one already."""
        def fresh():
            sampler = make(endless=True)
            sampler.refresh(embedding(0))
            return sampler
        wanted = list(itertools.islice(fresh(), 40))
        for workers, trained in itertools.product((0, 2, 4), (1, 7, 9, 10, 11, 15, 20, 25)):
            sampler = fresh()
            for _ in itertools.islice(Ahead(sampler, workers), trained):
                pass
            again = fresh()
            again.load_state_dict(sampler.state_dict(batch=trained))
            self.assertEqual(list(itertools.islice(again, 40 - trained)), wanted[trained:], (workers, trained))


class States(unittest.TestCase):
    def test_other_embeddings(self):
        """Each item once in the epoch, whatever there is now; what follows is of that, and the note says so."""
        sampler = make("{gcbs: {quantile: 0.9}}")
        sampler.refresh(embedding(0))
        drawn = iter(sampler)
        trained = [next(drawn) for _ in range(4)]
        other = hardneg.BatchSampler(embedding(0) + 0.5, "{gcbs: {quantile: 0.9}}", B, 2)
        whole = [list(other) for _ in range(2)]
        other.load_state_dict(sampler.state_dict())
        self.assertIn("epochs after 0 are drawn from these", other.note)
        self.assertEqual(sorted(sum(trained + list(other), [])), list(range(N)))
        self.assertEqual(list(other), whole[1])
        same = hardneg.BatchSampler(embedding(0), "{gcbs: {quantile: 0.9}}", B, 2)
        same.load_state_dict(sampler.state_dict(batch=4))
        self.assertEqual(same.note, sampler.note)

    def test_refused(self):
        sampler = hardneg.BatchSampler(embedding(0), "knn", B, 1)
        next(iter(sampler))
        state = sampler.state_dict(batch=1)
        x = np.concatenate([embedding(0), embedding(1)])
        for why, other in (("items 95, here 190", hardneg.BatchSampler(x, "knn", B, 1)),
                           ("sampler 'knn {}', here 'uniform {draw=shuffle}'", make(seed=1)),
                           ("seed 1, here 9", make("knn", 9)), ("batch_size 10, here 7", hardneg.BatchSampler(None, "knn", 7, 1)),
                           ("world_size 1, here 2", make("knn", 1, world_size=2)), ("drop_last False, here True", make("knn", 1, drop_last=True)),
                           ("split 'deal', here 'batch'", make("knn", 1, split="batch"))):
            before = other.state_dict()
            with self.assertRaisesRegex(ValueError, "of another sampler") as raised:
                other.load_state_dict(state)
            self.assertIn(why, str(raised.exception))
            self.assertEqual(other.state_dict(), before)
        for key, wrong in (("order", "AAAA"), ("order", 7), ("order", "no text"), ("sizes", ""), ("sizes", state["order"]), ("batch", 11), ("batch", -1),
                           ("epoch", "3"), ("epoch", 2**63), ("build", None), ("items", 2**40)):
            spoiled = {**state, key: wrong}
            again = make("knn", 1)
            self.assertRaises(ValueError, again.load_state_dict, spoiled)
            self.assertRaisesRegex(ValueError, "nothing is built", list, again)
        for wrong in (None, {}, {"epoch": 0, "batch": 1, "build": 0}, [state]):
            self.assertRaisesRegex(ValueError, "of this version", make("knn", 1).load_state_dict, wrong)

    def test_places(self):
        """What batch= and epoch= may be."""
        sampler = hardneg.BatchSampler(embedding(0), "uniform", B, 1)
        self.assertRaisesRegex(ValueError, "epoch 0 has not begun", sampler.state_dict, 1)
        list(sampler)
        places = lambda **how: tuple(sampler.state_dict(**how)[key] for key in ("epoch", "batch"))
        self.assertEqual([places(), places(batch=0), places(batch=3), places(batch=0, epoch=0), places(batch=10)],
                         [(1, 0), (1, 0), (0, 3), (0, 0), (0, 10)])
        self.assertRaisesRegex(ValueError, "epoch 0 has 10", sampler.state_dict, 11)
        self.assertRaisesRegex(ValueError, "epoch 2 is neither", sampler.state_dict, 0, 2)
        again = make(seed=1)
        again.load_state_dict(sampler.state_dict(batch=10))
        self.assertEqual(list(again), [])  # nothing is left of it
        again.refresh(embedding(0))
        self.assertEqual(again.state_dict()["epoch"], 1)
        again.load_state_dict(sampler.state_dict(batch=4))
        again.refresh(embedding(1)[:80])
        self.assertRaisesRegex(ValueError, "of 95 items, x has 80", list, again)
        again.set_epoch(1)  # another epoch is asked for
        self.assertEqual(sorted(sum(again, [])), list(range(80)))

    def test_not_built(self):
        sampler = make("knn", seed=3, labels=np.arange(N) % 4)
        for use in (lambda: list(sampler), lambda: len(sampler), sampler.measure, lambda: sampler.digest):
            self.assertRaisesRegex(ValueError, "nothing is built: refresh", use)
        self.assertRaisesRegex(ValueError, "view2 comes with x", make, view2=embedding(0))
        sampler.refresh(embedding(0))
        like = hardneg.BatchSampler(embedding(0), "knn", B, 3, labels=np.arange(N) % 4)
        self.assertEqual((list(sampler), sampler.digest), (list(like), like.digest))
        np.testing.assert_equal(dict(sampler.measure()), dict(like.measure()))


# What is trained is a list of items, in one file with the sampler's place: a batch is in both, or in neither.
TRAINING = """if True:
    import os, sys
    import numpy as np, torch, hardneg
    x, state, workers = np.load(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    data = torch.utils.data.TensorDataset(torch.arange(len(x)))
    sampler = hardneg.BatchSampler(None, "{gcbs: {quantile: 0.99}}", 10, seed=5)
    loader = torch.utils.data.DataLoader(data, batch_sampler=sampler, num_workers=workers)
    saved = torch.load(state) if os.path.exists(state) else {"done": [], "place": None}
    first = trained = 0
    if saved["place"]:
        sampler.load_state_dict(saved["place"])
        first, trained = saved["place"]["epoch"], saved["place"]["batch"]
    for epoch in range(first, 2):
        if epoch > first or not saved["place"]:
            sampler.refresh(x + epoch)
        for trained, (ids,) in enumerate(loader, trained + 1):
            saved["done"] += [(epoch, i) for i in ids.tolist()]
            torch.save({**saved, "place": sampler.state_dict(batch=trained)}, state + ".new")
            os.rename(state + ".new", state)
            print(epoch, flush=True)
        trained = 0
    np.save(state + ".npy", saved["done"])
"""


class Torch(unittest.TestCase):
    def test_killed(self):
        """Processes that are killed by a signal at any moment, with torch's own loader: KILLS of them (3) for each number of workers, on
        the rows of ROWS.npy (400 at random)."""
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("no python3-torch")
        draw, kills = random.Random(1), int(os.environ.get("KILLS", 3))
        environment = {**os.environ, "PYTHONPATH": sys.path[0], "OMP_NUM_THREADS": "1"}
        with tempfile.TemporaryDirectory() as folder:
            rows = os.environ.get("ROWS", f"{folder}/x.npy")
            np.save(f"{folder}/x.npy", np.random.default_rng(1).standard_normal((400, 8)).astype(np.float32))
            n, killed = len(np.load(rows)), 0
            for workers in (0, 2, 4):
                state = f"{folder}/state{workers}"
                arguments = [sys.executable, "-c", TRAINING, rows, state, str(workers)]
                for _ in range(kills):
                    with subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
                        for _ in range(draw.randrange(1, n // 5 // kills)):
                            process.stdout.readline()
                        time.sleep(draw.random() * 0.02)
                        killed += process.poll() is None
                        process.send_signal(signal.SIGKILL)
                subprocess.run(arguments, env=environment, check=True, timeout=300, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                trained = collections.Counter(map(tuple, np.load(f"{state}.npy").tolist()))
                self.assertEqual(trained, {(epoch, i): 1 for epoch in range(2) for i in range(n)})
            self.assertEqual(killed, 3 * kills)


run_tests("python resumes", sys.modules[__name__])
