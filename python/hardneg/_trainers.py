"""What trainers ask for that make their samplers themselves."""
from __future__ import annotations

import pickle
import weakref
from typing import Any, Dict, List, Optional

from ._arrays import Array, counted
from ._sampler import BatchSampler


class SamplerFactory:
    """Makes a batch sampler of a data set. Pickled, as trainers do with their arguments at every checkpoint, it keeps
    the function that embeds and the options as far as they can be pickled, and no arrays."""

    def __init__(self, x: Any, sampler: Any, options: Dict[str, Any]):
        self._x, self._sampler, self._options = x, sampler, options
        self._made: List[weakref.ref[BatchSampler]] = []

    @property
    def made(self) -> List[BatchSampler]:
        """The samplers that it made, and that are still used."""
        return [sampler for sampler in (reference() for reference in self._made) if sampler is not None]

    def __call__(self, dataset: Any, batch_size: int, drop_last: bool = False, valid_label_columns: Any = None,
                 generator: Any = None, seed: int = 0) -> BatchSampler:
        del valid_label_columns
        if self._x is None:
            raise ValueError("this factory is from a checkpoint, which has no embeddings: make one anew")
        x = self._x(dataset) if callable(self._x) else self._x
        if len(dataset) != len(x):
            raise ValueError(f"the data set has {counted(len(dataset), 'row')}, x has {len(x)}: for several data sets, or "
                             "one for evaluation, give a function that embeds a data set")
        if generator is not None and not seed:
            seed = generator.initial_seed() % 2**63
        made = BatchSampler(x, self._sampler, batch_size, seed, drop_last=drop_last, **self._options)
        self._made = [reference for reference in self._made if reference() is not None] + [weakref.ref(made)]
        return made

    def __getstate__(self) -> Dict[str, Any]:
        options = {name: _stored(value) for name, value in self._options.items()}
        return {"_x": _stored(self._x) if callable(self._x) else None, "_sampler": self._sampler,
                "_options": {name: value for name, value in options.items() if value is not None}, "_made": []}


def _stored(value: Any) -> Any:
    """A value for a checkpoint; None for arrays, and for what cannot be pickled."""
    if hasattr(value, "__len__") and not isinstance(value, str):
        return None
    try:
        pickle.dumps(value)
    except Exception:  # pylint: disable=broad-except
        return None  # whatever its type raises
    return value


def sentence_transformers(x: Array, sampler: Any = "uniform", *, rank: int = 0, world_size: int = 1, split: str = "deal",
                          threads: int = 0, view2: Array = None, labels: Any = None, edges: Any = None,
                          features: Array = None, teacher: Array = None, groups: Optional[Array] = None,
                          progress: float = 0.0, zero_rows: str = "refuse", endless: bool = False) -> SamplerFactory:
    """A batch sampler for SentenceTransformerTrainingArguments(batch_sampler=...): a factory that the trainer
    calls with a data set, for training and for evaluation. x: a function that embeds a data set, or the
    embeddings of the only one. `factory.made` lists the samplers that it made, for refresh()."""
    return SamplerFactory(x, sampler, {
        "rank": rank, "world_size": world_size, "split": split, "threads": threads, "view2": view2, "labels": labels,
        "edges": edges, "features": features, "teacher": teacher, "groups": groups, "progress": progress,
        "zero_rows": zero_rows, "endless": endless})
