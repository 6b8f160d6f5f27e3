# SPDX-License-Identifier: GPL-3.0-or-later
"""What trainers ask for that make their samplers themselves."""
from __future__ import annotations

import pickle
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from ._arrays import Array, counted
from ._sampler import BatchSampler

OF_DATASET = ("view2", "labels", "edges", "features", "teacher", "groups", "tuples")  # may be functions of a data set
NO_TEXTS = ("dataset_name",)  # columns of sentence-transformers' own


def tuples_of(dataset: Any, labels: Sequence[str] = ()) -> Any:
    """Of a data set of pairs its columns of texts, all but labels: queries, passages, mined negatives. None: it has fewer than
    two."""
    columns = [dataset[name] for name in getattr(dataset, "column_names", ()) if name not in (*labels, *NO_TEXTS)]
    first = [next((value for value in column if value is not None), None) for column in columns]
    texts = [list(column) for column, value in zip(columns, first) if isinstance(value, (str, list, tuple))]
    if len(texts) < 2 or not all(text is None or isinstance(text, str) for column in texts[:2] for text in column):
        return None
    negatives = [[text for column in row for text in ([column] if isinstance(column, str) else column or ())]
                 for row in zip(*texts[2:])] if texts[2:] else [[]] * len(texts[0])
    return texts[0], texts[1], None, negatives


class SamplerFactory:
    """Makes a batch sampler of a data set. Pickled, as trainers do with their arguments at every checkpoint, it keeps
    the function that embeds and the options as far as they can be pickled, and no arrays."""

    def __init__(self, x: Any, sampler: Any, options: Dict[str, Any]):
        self._x, self._sampler, self._options = x, sampler, options
        self._made: Dict[int, weakref.ref[BatchSampler]] = {}  # by the order in which they were made
        self._count = 0
        self._states: Dict[str, Any] = {}

    @property
    def made(self) -> List[BatchSampler]:
        """The samplers that it made, and that are still used."""
        return list(self._used().values())

    def _used(self) -> Dict[int, BatchSampler]:
        found = {number: reference() for number, reference in self._made.items()}
        return {number: sampler for number, sampler in found.items() if sampler is not None}

    def state_dict(self) -> Dict[str, Any]:
        """For a checkpoint: the states of samplers that are in an epoch, by the order in which they were made."""
        states = {str(number): sampler.state_dict(epoch=sampler.epoch) for number, sampler in self._used().items()}
        return {number: state for number, state in states.items() if state["order"]}

    def load_state_dict(self, states: Dict[str, Any]) -> None:
        """Samplers that are made from now on draw the epochs of these states again, from their begin: trainers skip what was
        trained on themselves."""
        self._states = dict(states)
        self._count = 0

    def __call__(self, dataset: Any, batch_size: int, drop_last: bool = False, valid_label_columns: Any = None,
                 generator: Any = None, seed: int = 0) -> BatchSampler:
        if self._x is None:
            raise ValueError("this factory is from a checkpoint, which has no embeddings: make one anew")
        options = {name: value(dataset) if name in OF_DATASET and callable(value) else value
                   for name, value in self._options.items()}
        x = self._x(dataset) if callable(self._x) else self._x
        if isinstance(x, tuple) and len(x) == 2:
            if options["view2"] is not None:
                raise ValueError("view2: embed(dataset) returns (queries, passages) already")
            x, options["view2"] = x
        if len(dataset) != len(x):
            raise ValueError(f"the data set has {counted(len(dataset), 'row')}, x has {len(x)}: for several data sets, or "
                             "one for evaluation, give a function that embeds a data set")
        if options["tuples"] == "columns":
            plain = options["view2"] is not None and options["labels"] is None and options["teacher"] is None
            options["tuples"] = tuples_of(dataset, valid_label_columns or ()) if plain else None
        if not drop_last:  # a data set of fewer rows is one batch, as trainers evaluate small ones with the batch_size of all
            batch_size = min(batch_size, max(len(x), 2) // (options["world_size"] if options["split"] == "batch" else 1)) or batch_size
        own = options.pop("seed")
        if own is None:
            own = generator.initial_seed() % 2**63 if generator is not None and not seed else seed
        made = BatchSampler(x, self._sampler, batch_size, own, drop_last=drop_last, **options)
        state = self._states.pop(str(self._count), None)
        if state:
            made.load_state_dict(state, batch=0)
        self._made = {number: self._made[number] for number in self._used() if number != self._count}
        self._made[self._count] = weakref.ref(made)
        self._count += 1
        return made

    def __getstate__(self) -> Dict[str, Any]:
        options = {name: _stored(value) for name, value in self._options.items()}
        return {"_x": _stored(self._x) if callable(self._x) else None, "_sampler": self._sampler, "_options": options,
                "_made": {}, "_count": 0, "_states": {}}


def _stored(value: Any) -> Any:
    """A value for a checkpoint; None for arrays, and for what cannot be pickled."""
    if hasattr(value, "__len__") and not isinstance(value, str):
        return None
    try:
        pickle.dumps(value)
    except Exception:  # pylint: disable=broad-except
        return None  # whatever its type raises
    return value


Part = Union[Array, Callable[[Any], Any]]


def sentence_transformers(x: Part, sampler: Any = "uniform", *, seed: Optional[int] = None, rank: int = 0, world_size: int = 1,
                          split: str = "deal", threads: int = 0, view2: Part = None, labels: Any = None, edges: Any = None,
                          features: Part = None, teacher: Part = None, groups: Part = None, tuples: Any = "columns",
                          progress: float = 0.0, zero_rows: str = "refuse", endless: bool = False) -> SamplerFactory:
    """A batch sampler for SentenceTransformerTrainingArguments(batch_sampler=...): a factory that the trainer
    calls with a data set, for training and for evaluation. x: a function of a data set that gives the embeddings of its
    rows, or (queries, passages); or the embeddings of the only one. view2, labels, edges, features, teacher, groups and
    tuples may be functions of a data set as well. tuples: "columns": of data sets of pairs all columns of texts: queries,
    passages, mined negatives; None: none. seed: None: the trainer's. `factory.made` lists the samplers that it made, for
    refresh(); factory.state_dict() is for a checkpoint, factory.load_state_dict() comes before the trainer resumes."""
    given = {name: value for name, value in locals().items() if name not in ("x", "sampler")}
    return SamplerFactory(x, sampler, given)
