# SPDX-License-Identifier: GPL-3.0-or-later
"""Mini-batches and negatives for contrastive learning, and what batches are like.

    sampler = hardneg.BatchSampler(embed(model), "knn", batch_size=256, seed=1)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for ids in sampler:            # lists of places in the data set
            step(model, ids)
        sampler.refresh(embed(model))  # rebuilt on the embeddings of now

docs/guide/python.md has it all; samplers() lists the samplers and their options."""
from __future__ import annotations

import difflib
import inspect
from typing import Any, Dict, Optional, Tuple, Union, overload

import numpy as np

from ._arrays import Array, Matrix, Pair, Rows, counted, padded, path_text, rows_of
from ._compare import Comparison, Recorder, compare, record
from ._epoch import AT_ONCE
from ._files import check_output, read, write_negatives
from ._library import Attrition, Handle, Items, Measures, Option, Sampler, columns, samplers, version
from ._mine import OPTIONS, Lost, Miner, Negatives
from ._sampler import BatchSampler, refuse_unused
from ._trainers import SamplerFactory, sentence_transformers

__all__ = ["BatchSampler", "sentence_transformers", "mine", "measure", "compare", "record", "read", "columns", "samplers",
           "version", "Attrition", "Comparison", "Lost", "Measures", "Mined", "Miner", "Negatives", "Option", "Recorder", "Sampler",
           "SamplerFactory"]
__version__ = version()


class Mined(Pair):
    """ids, scores = mine(...), and
    attrition    (anchor, item) pairs that each filter drops, and that are kept; of `mined` alone
    note         what the build had to say"""
    attrition: Dict[str, Attrition]
    note: str

    @property
    def ids(self) -> np.ndarray[Any, Any]:
        """[n, negatives], -1 where there are fewer."""
        return self[0]

    @property
    def scores(self) -> np.ndarray[Any, Any]:
        """Cosines of anchors and negatives, NaN where there are fewer."""
        return self[1]


def _mine_items(x: Array, sampler: Any, seed: int = 1, batch_size: int = 256, threads: int = 0, output: Any = None,
         force: bool = False, *, view2: Array = None, labels: Matrix = None, edges: Matrix = None,
         features: Array = None, teacher: Array = None, groups: Array = None, progress: float = 0.0,
         zero_rows: str = "refuse") -> Mined:
    """See mine()."""
    if output:
        output = path_text(output, "output")
        check_output(output, force)
    items = Items(x, view2, labels, edges, features, teacher, groups, progress, zero_rows)
    if items.n < 2:
        raise ValueError(f"x: {counted(items.n, 'row')}, of which none has another: give 2 or more")
    handle = Handle(sampler, min(batch_size, items.n), seed, threads)
    refuse_unused(handle, items.given())
    handle.build(items)
    if not handle.capacity:
        raise ValueError(f"{handle.sampler} gives batches: use hardneg.BatchSampler()")
    ids = np.full((handle.n, handle.capacity), -1, np.int64)
    scores = np.full((handle.n, handle.capacity), np.nan, np.float32)
    batches = len(handle.sizes(0))
    for first in range(0, batches, AT_ONCE):
        anchor, negative, score = handle.negatives(0, first, min(AT_ONCE, batches - first))
        there = anchor >= 0
        ids[anchor[there]], scores[anchor[there]] = negative[there], score[there]
    if output:
        write_negatives(output, ids, scores)
    mined = Mined((ids, scores))
    mined.attrition, mined.note = handle.attrition(), handle.note
    return mined


@overload
def mine(x: Array, sampler: Union[str, Dict[str, Any]], seed: int = 1, batch_size: int = 256, threads: int = 0,
         output: Any = None, force: bool = False, *, view2: Array = None, labels: Matrix = None, edges: Matrix = None,
         features: Array = None, teacher: Array = None, groups: Array = None, progress: float = 0.0,
         zero_rows: str = "refuse") -> Mined: ...


@overload
def mine(queries: Array, corpus: Rows, qrels: Matrix, truth: Matrix = None, *, query_ids: Any = None, corpus_ids: Any = None,
         query_texts: Any = None, corpus_texts: Any = None, query_teacher: Array = None, corpus_teacher: Array = None,
         scores: Matrix = None, threads: int = 0, zero_rows: str = "refuse", output: Any = None, force: bool = False,
         preset: Optional[str] = None, negatives: Optional[int] = None, depth: Optional[int] = None,
         min_rank: Optional[int] = None, max_rank: Optional[int] = None, min_grade: Optional[int] = None,
         rank_of: Optional[str] = None, absolute_margin: Optional[float] = None, relative_margin: Optional[float] = None,
         max_score: Optional[float] = None, min_score: Optional[float] = None, guide: Optional[float] = None,
         positive: Optional[str] = None, filter_by: Optional[str] = None, rank_by: Optional[str] = None,
         equal_texts: Optional[str] = None, self: Optional[str] = None, include_positives: Optional[bool] = None,
         judged_negatives: Optional[str] = None, take: Optional[str] = None, fill: Optional[str] = None,
         seed: Optional[int] = None) -> Negatives: ...


def mine(*data: Any, **more: Any) -> Any:
    """mine(queries, corpus, qrels): hard negatives of each query among the rows of another array, as `hardneg mine`
    takes them: ids[queries, negatives] (-1 where there are fewer) and scores (NaN there).

    qrels        known relevance: an array [m, 2] of query and passage or [m, 3] with a grade, tuples of these, a data frame, a
                 dict {query: passages or {passage: grade}}, a list of passages for each query, or a SciPy matrix
    truth        complete relevance, only counted
    query_ids, corpus_ids
                 ids of the rows, by which qrels, truth and scores name them; without, these hold row numbers
    query_texts, corpus_texts
                 texts of the rows, by which equal ones are found; a dict {id: text} of BEIR gives the ids, too
    query_teacher, corpus_teacher
                 rows of another encoder
    scores       of another program for some pairs, for filter_by="scores" and the like: an array [m, 3] of query, passage and
                 score, tuples, a data frame, a dict {query: {passage: score}}, or a SciPy matrix; or a function of a list of
                 pairs, as CrossEncoder.predict, which is asked for those alone that could change what is mined: pairs of texts,
                 or, without texts, of ids or rows
    output       a file of the lines of `hardneg mine`, or .npy for the ids; force: it may be there already

    Options are those of the command: negatives=5, min_rank=11, relative_margin=0.05, preset="sentence-transformers" ...
    (docs/reference/mining.md).

    mine(x, sampler): negatives of every item of one array by a sampler that chooses them per anchor: "mined", "ring",
    "hops" ... ids[n, negatives] and their cosines. output: a file of JSON lines,
    {"anchor": 0, "negatives": [...], "scores": [...]}, or .npy for the ids. view2, labels, edges, features, teacher, groups,
    batch_size and progress are of it alone."""
    second = data[1] if len(data) > 1 else more.get("sampler", more.get("corpus"))
    if second is None:
        raise TypeError("mine() takes an array and a sampler, or queries, a corpus and qrels")
    if isinstance(second, (str, dict)):
        _check_call("mine() of one array", _mine_items, data, more)
        return _mine_items(*data, **more)
    for name in more.keys() - inspect.signature(Miner).parameters.keys():
        close = difflib.get_close_matches(name, OPTIONS, 1)
        raise TypeError(f"mine() with a corpus has no argument {name!r}" + (f": did you mean {close[0]!r}?" if close else ""))
    _check_call("mine() with a corpus", Miner, data, more)
    return Miner(*data, **more).mined


def _check_call(name: str, function: Any, data: Tuple[Any, ...], more: Dict[str, Any]) -> None:
    """Refuses arguments in the words of the call that was made."""
    try:
        inspect.signature(function).bind(*data, **more)
    except TypeError as why:
        raise TypeError(f"{name}: {why}") from None


def _signature_of_both() -> inspect.Signature:
    """For help and completion: of mine() with a corpus, then what it takes besides for items."""
    with_corpus = [*inspect.signature(Miner).parameters.values()]
    names = {one.name for one in with_corpus} | {"x", "sampler"}
    of_items = [one.replace(kind=one.KEYWORD_ONLY) for one in inspect.signature(_mine_items).parameters.values()
                if one.name not in names]
    parameters = [one.replace(default=None) if one.name == "qrels" else one for one in with_corpus]
    return inspect.Signature(parameters + of_items, return_annotation="Union[Negatives, Mined]")


mine.__signature__ = _signature_of_both()  # type: ignore[attr-defined]


def measure(batches: Any, x: Array, labels: Matrix = None, view2: Array = None, temperature: float = 0.5,
            loss: Optional[str] = None, weighting: Any = None, epoch_batches: int = 0,
            negatives: Optional[np.ndarray[Any, Any]] = None, threads: int = 0, zero_rows: str = "refuse",
            teacher: Array = None, tuples: Any = None) -> Measures:
    """What any batches are like: false negatives, hardness, coverage, and with view2 the gap to the
    global loss, by name (columns() explains them; NaN where something is missing, and .note says what). batches:
    lists of places in x, or an array padded with -1: `measure(loader.batch_sampler, x, labels)`.
    labels: one for each item, a number or a text (-1, None or NaN: unknown); or several, as lists, as a
    matrix of truth values [n, classes], as a SciPy matrix or as (indptr, indices): a pair is a false
    negative if it shares one. teacher: rows of another encoder, for weightings that ask for one. tuples: as of
    BatchSampler, in place of labels. `hardneg run` gives the same numbers for the same batches. Without view2 only rows of the batches are looked at."""
    ids = padded(batches)
    how = temperature, loss, weighting, epoch_batches
    if view2 is None and tuples is None:
        try:
            found = _measure_part(ids, x, labels, negatives, how, threads, zero_rows)
        except (TypeError, ValueError):
            found = None  # of all items, so that the error has their numbers
        if found is not None:
            return found
    items = Items(x, view2, labels, teacher=teacher, zero_rows=zero_rows, tuples=tuples)
    handle = Handle("uniform", max(2, min(ids.shape[1], items.n)), 1, threads)
    handle.build(items)
    found = handle.measure(ids, *how, negatives)
    found.note = "; ".join(filter(None, (found.note, items.note)))
    return found


def _measure_part(ids: np.ndarray[Any, Any], x: Array, labels: Matrix, negatives: Optional[np.ndarray[Any, Any]],
                  how: Tuple[float, Optional[str], Any, int], threads: int, zero_rows: str) -> Optional[Measures]:
    """measure() on the rows that are in a batch; None if these are too few, or not rows of x."""
    n, listed = len(x), [ids.ravel()] + ([] if negatives is None else [np.asarray(negatives).ravel()])
    used = np.unique(np.concatenate(listed))
    used = used[used >= 0]
    if used.dtype.kind != "i" or len(used) < 2 or used[-1] >= n or min(int(part.min()) for part in listed) < -1:
        return None
    items = Items(rows_of(x, used), zero_rows=zero_rows)
    if labels is not None:
        items.take_labels(labels, n, used)
    handle = Handle("uniform", 2, 1, threads)
    handle.build(items)
    number = np.full(n + 1, -1, np.int64)  # of -1: -1
    number[used] = np.arange(len(used))
    return handle.measure(number[ids], *how, None if negatives is None else number[negatives], population=n)
