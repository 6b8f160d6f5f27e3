"""Mini-batches and negatives for contrastive learning, and what batches are like.

    sampler = hardneg.BatchSampler(embed(model), "knn", batch_size=256, seed=1)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for ids in sampler:            # lists of places in the data set
            step(model, ids)
        sampler.refresh(embed(model))  # rebuilt on the embeddings of now

docs/guide/python.md has it all; `hardneg list samplers` has the samplers and their options."""
import json
import os

import numpy as np

from ._arrays import padded, whole
from ._library import Handle, columns, version

__all__ = ["BatchSampler", "sentence_transformers", "mine", "measure", "read", "columns", "version"]
__version__ = version()

_AT_ONCE = 64  # batches of a call


class BatchSampler:
    """Batches of ids from any sampler, as PyTorch's batch_sampler, for one process or several.

    x            [n, d] embeddings (NumPy, or a tensor); directions count, not lengths
    sampler      "knn", "{batchsampler: {M: 500}}" or {"batchsampler": {"M": 500}}
    batch_size   of a process
    seed         the same seed and embeddings give the same batches
    rank, world_size
                 this process, of how many; all of them give the same x and seed
    split        "deal": whole batches go to the processes in turn: negatives stay in a process;
                 "batch": a batch of world_size * batch_size is cut over them: for losses that
                 gather negatives across processes. A short batch may leave the last processes
                 without ids: set drop_last
    drop_last    leaves out batches that are short, on all processes alike
    threads      0 = all that the process may use; batches do not depend on them
    view2, labels, edges, features, teacher, groups
                 what some samplers need: second views, labels, a graph, raw features, embeddings
                 of another encoder, the source of each item (labels: one an item, or several: see
                 measure())
    progress     training so far, in [0, 1], for options such as alpha=0.2~0.05

    zero_rows    "refuse", or "keep": a row of zeros has a cosine of 0 to every item

    What trainers look for is there: batch_size, drop_last, set_epoch, state_dict.
    """

    def __init__(self, x, sampler="uniform", batch_size=256, seed=1, rank=0, world_size=1,
                 drop_last=False, split="deal", threads=0, **more):
        if split not in ("deal", "batch"):
            raise ValueError(f"split {split!r}: 'deal' or 'batch'")
        self._world = whole(world_size, "world_size", 1, 2**20)
        self._rank, self._split = whole(rank, "rank", 0, self._world - 1), split
        self.batch_size, self.drop_last = whole(batch_size, "batch_size", 1, 2**31 - 1), bool(drop_last)
        together = self.batch_size * (self._world if split == "batch" else 1)
        self._handle = Handle(sampler, together, seed, threads)
        self._built, self._epoch, self._begun, self._wanted = 0, 0, None, None
        self.refresh(x, **more)

    def refresh(self, x, **more):
        """Rebuilds the sampler on new embeddings: x, and what else there was (view2, labels ...)."""
        number = self._built if self._wanted is None else self._wanted
        self._begun = None
        self._handle.build(x, index=number, **more)
        self._built, self._wanted = number + 1, None
        if self._handle.room:
            raise ValueError(f"{self.spec} chooses negatives per anchor: use hardneg.mine()")

    def set_epoch(self, epoch):
        """The epoch that the next iteration draws. Without it every iteration is one further on."""
        self._epoch = whole(epoch, "epoch", 0, 2**62)

    def state_dict(self):
        """For a checkpoint: the epoch that is drawn, or comes next, and the build that it is drawn from."""
        return {"epoch": self._epoch, "build": self._built - 1}

    def load_state_dict(self, state):
        """Goes on at a state. After a later build than the first: refresh(x) comes before batches, with
        the embeddings that the build had."""
        self.set_epoch(state["epoch"])
        build = int(state["build"])
        self._wanted = build if build != self._built - 1 else None

    @property
    def sampler(self):
        """Itself: Lightning and accelerate call batch_sampler.sampler.set_epoch()."""
        return self

    @property
    def spec(self):
        """The sampler with every option."""
        return self._handle.sampler

    @property
    def note(self):
        """What the last build had to say ("M taken as 1999"), or ""."""
        return self._handle.note

    def _begin(self, epoch):
        """Number of batches of the epoch, which the handle is in then."""
        if self._wanted is not None:
            raise ValueError(f"the state is of build {self._wanted}: refresh(x) comes first")
        if self._begun is None or self._begun[0] != epoch:
            self._begun = epoch, self._handle.epoch(epoch)
        return self._begun[1]

    def _rows(self, epoch):
        """How many batches of the epoch this process gets."""
        batches = self._begin(epoch)
        # Only the last batch of an epoch is ever short.
        if self.drop_last and self._handle.next(batches - 1, 1)[0, -1] < 0:
            batches -= 1
        if self._split == "batch" or self._world == 1:
            return batches
        # All processes have to make the same number of steps.
        return batches // self._world

    def __len__(self):
        return self._rows(self._epoch)

    def arrays(self):
        """The batches of the epoch as arrays [up to 64, batch_size], short ones ending with -1."""
        epoch, build = self._epoch, self._built
        rows, step = self._rows(epoch), self._world if self._split == "deal" else 1
        at = slice(None)
        if self._split == "batch":
            at = slice(self._rank * self.batch_size, (self._rank + 1) * self.batch_size)
        first = self._rank if step > 1 else 0
        for done in range(0, rows * step, _AT_ONCE * step):
            count = min(_AT_ONCE * step, rows * step - done)
            if self._built != build:
                raise RuntimeError("refresh() in the middle of an epoch: its batches are gone")
            self._begin(epoch)
            yield self._handle.next(done, count)[first::step, at]

    def __iter__(self):
        epoch = self._epoch
        try:
            for block in self.arrays():
                if (block >= 0).all():
                    yield from block.tolist()
                else:
                    for row in block:
                        yield row[row >= 0].tolist()
        finally:  # an epoch that is left early is over, too
            if self._epoch == epoch:
                self._epoch = epoch + 1

    def measure(self, **how):
        """measure() of the epoch's batches of all processes."""
        return self._handle.measure(self._handle.next(0, self._begin(self._epoch)), **how)


def sentence_transformers(x, sampler="uniform", **more):
    """A batch sampler for SentenceTransformerTrainingArguments(batch_sampler=...): a factory that the trainer
    calls with a data set, for training and for evaluation. x: a function that embeds a data set, or the
    embeddings of the only one. `factory.made` lists the samplers that it made, for refresh()."""
    def factory(dataset, batch_size, drop_last=False, valid_label_columns=None, generator=None,
                seed=0):
        del valid_label_columns
        rows = x(dataset) if callable(x) else x
        if len(dataset) != len(rows):
            raise ValueError(f"the data set has {len(dataset)} rows, x has {len(rows)}: for several data sets, or "
                             "one for evaluation, give a function that embeds a data set")
        if generator is not None and not seed:
            seed = generator.initial_seed() % 2**63
        made = BatchSampler(rows, sampler, batch_size, seed, drop_last=drop_last, **more)
        factory.made.append(made)
        return made
    factory.made = []
    return factory


def mine(x, sampler, seed=1, batch_size=256, threads=0, output=None, force=False, **more):
    """Negatives of every item by a sampler that chooses them per anchor: "mined", "ring", "hops" ...
    ids[n, negatives] (-1 where there are fewer) and their cosines (NaN there). output: a file of JSON lines,
    {"anchor": 0, "negatives": [...], "scores": [...]}, or .npy for the ids; force: it may be there already."""
    if output and os.path.exists(output) and not force:
        raise FileExistsError(f"{output} is there already: give another name, or force=True to replace it")
    handle = Handle(sampler, min(batch_size, len(x)), seed, threads)
    handle.build(x, **more)
    if not handle.room:
        raise ValueError(f"{handle.sampler} gives batches: use hardneg.BatchSampler()")
    ids = np.full((handle.n, handle.room), -1, np.int64)
    scores = np.full((handle.n, handle.room), np.nan, np.float32)
    batches = handle.epoch(0)
    for first in range(0, batches, _AT_ONCE):
        anchor, negative, score = handle.negatives(first, min(_AT_ONCE, batches - first))
        there = anchor >= 0
        ids[anchor[there]], scores[anchor[there]] = negative[there], score[there]
    if output:
        _write(os.fspath(output), ids, scores)
    return ids, scores


def _write(path, ids, scores):
    """Whole or not at all."""
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise FileNotFoundError(f"{path}: there is no folder {os.path.dirname(path)}")
    temporary = f"{path}.tmp-{os.getpid()}"
    try:
        with open(temporary, "wb") as file:
            if path.endswith(".npy"):
                np.save(file, ids)
            else:
                for i, (row, score) in enumerate(zip(ids, scores)):
                    known = row >= 0
                    line = {"anchor": i, "negatives": row[known].tolist(),
                            "scores": [round(float(s), 7) for s in score[known]]}
                    file.write((json.dumps(line) + "\n").encode())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def measure(batches, x, labels=None, view2=None, temperature=0.5, loss=None, weighting=None,
            epoch_batches=0, negatives=None, threads=0, zero_rows="refuse", teacher=None):
    """What any batches are like: false negatives, hardness, coverage, and with view2 the gap to the
    global loss, by name (columns() explains them; NaN where something is missing). batches: lists
    of places in x, or an array padded with -1: `measure(loader.batch_sampler, x, labels)`.
    labels: one for each item, a number or a text (-1, None or NaN: unknown); or several, as lists, as a
    matrix of truth values [n, classes], as a SciPy matrix or as (indptr, indices): a pair is a false
    negative if it shares one. teacher: rows of another encoder, for weightings that ask for one. `hardneg
    run` gives the same numbers for the same batches."""
    ids = padded(batches)
    handle = Handle("uniform", max(2, min(ids.shape[1], len(x))), 1, threads)
    handle.build(x, view2=view2, labels=labels, zero_rows=zero_rows, teacher=teacher)
    return handle.measure(ids, temperature, loss, weighting, epoch_batches, negatives)


def read(results, table="runs", frame=False):
    """A table of a results file (or of the folder of a run) as NumPy columns by name; frame: as a
    pandas DataFrame. Needs h5py."""
    import h5py
    if os.path.isdir(results):
        results = os.path.join(results, "results.h5")
    with h5py.File(results, "r") as file:
        path = table if table in file else f"tables/{table}"
        if path not in file:
            names = [n for n in file if isinstance(file[n], h5py.Group) and n not in ("tables", "env")]
            names += list(file.get("tables", ()))
            raise ValueError(f"{results}: no table {table!r}; there are {', '.join(names)}" if names else
                             f"{results}: is no results file")
        found = {name: column.asstr()[()] if column.dtype.kind == "O" else column[()]
                 for name, column in file[path].items() if isinstance(column, h5py.Dataset)}
    if not frame:
        return found
    import pandas
    return pandas.DataFrame(found)
