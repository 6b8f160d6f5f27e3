# SPDX-License-Identifier: GPL-3.0-or-later
"""Hard negatives of queries over a corpus."""
from __future__ import annotations

import ctypes
import inspect
import json
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from ._arrays import Array, Matrix, Pair, Rows, array_of, c_text, counted, floats, path_text
from ._aside import Aside
from ._files import check_output, write_file
from ._library import Handle, lib
from ._pairs import Side, groups, pairs, scored, side

FILTERS = 16
CScorer = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_int64,
                           ctypes.POINTER(ctypes.c_float))


class CCorpus(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("queries", ctypes.c_int64), ("passages", ctypes.c_int64), ("d", ctypes.c_int64),
                ("query", ctypes.c_void_p), ("passage", ctypes.c_void_p),
                ("known", ctypes.c_void_p), ("known_pairs", ctypes.c_int64),
                ("truth", ctypes.c_void_p), ("truth_pairs", ctypes.c_int64),
                ("query_group", ctypes.c_void_p), ("passage_group", ctypes.c_void_p),
                ("query_teacher", ctypes.c_void_p), ("passage_teacher", ctypes.c_void_p), ("teacher_d", ctypes.c_int64),
                ("scored", ctypes.c_void_p), ("score", ctypes.c_void_p), ("scored_pairs", ctypes.c_int64),
                ("zero_rows", ctypes.c_int64), ("known_score", ctypes.c_void_p),
                ("scorer", CScorer), ("scorer_data", ctypes.c_void_p)]


class CMining(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("width", ctypes.c_int64), ("fewer", ctypes.c_int64), ("none", ctypes.c_int64),
                ("drawn", ctypes.c_int64), ("filters", ctypes.c_int), ("filter", ctypes.c_char_p * FILTERS),
                ("all", ctypes.c_int64 * FILTERS), ("known", ctypes.c_int64 * FILTERS), ("hidden", ctypes.c_int64 * FILTERS)]


class Lost(NamedTuple):
    """Candidates that end at a filter: all, known positives of their query, and positives by `truth` alone."""
    candidates: int
    known: int
    hidden: int


class Negatives(Pair):
    """ids, scores = mine(queries, corpus, qrels), and
    attrition    what each filter takes away, and what is kept, by name
    fewer, none  queries that filters leave fewer negatives than wanted; none
    drawn        negatives drawn at random to fill up
    note         what mining had to say: candidates or positives without a score, filters that leave nothing
    positives    [m, 2] query and passage of each known positive, sorted
    positive_scores
                 [m] their scores, as of the negatives: those that filters looked at; NaN: not listed"""
    attrition: Dict[str, Lost]
    fewer: int
    none: int
    drawn: int
    note: str
    positives: np.ndarray[Any, Any]
    positive_scores: np.ndarray[Any, Any]

    @property
    def ids(self) -> np.ndarray[Any, Any]:
        """[queries, negatives] rows of the corpus, -1 where there are fewer."""
        return self[0]

    @property
    def scores(self) -> np.ndarray[Any, Any]:
        """Scores that filters looked at, NaN where there are fewer."""
        return self[1]


def _options(options: Dict[str, Any]) -> Any:
    """Names and values in turn, as the library takes them."""
    flat = []
    for name, value in options.items():
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            flat += [c_text(name.replace("_", "-"), "option"), c_text(text, name)]
    return (ctypes.c_char_p * (len(flat) + 1))(*flat, None)


class Scorer:
    """A function of pairs, for the library, and what it raised."""

    def __init__(self, function: Callable[[List[Any]], Any], sides: Tuple[Side, Side]):
        self._function, self._sides = function, sides
        self.error: Optional[BaseException] = None
        self.c = CScorer(self._call)

    def _names(self, one: Side, rows: Any) -> List[Any]:
        given: Any = one.ids if any(side.texts is None for side in self._sides) else one.texts
        return [row if given is None else given[row] for row in rows.tolist()]

    def _call(self, _: Any, pair: Any, n: int, score: Any) -> int:
        try:
            rows = np.ctypeslib.as_array(pair, (n, 2))
            found = self._function(list(zip(*(self._names(one, rows[:, i]) for i, one in enumerate(self._sides)))))
            scores = array_of(found).astype(np.float32)
            if scores.shape != (n,):
                raise ValueError(f"scores: of {counted(n, 'pair')} the function gave {list(scores.shape)}: one for each is wanted")
            np.ctypeslib.as_array(score, (n,))[:] = scores
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error  # for who called the library
        return self.error is not None


class _Data(NamedTuple):
    """What is mined, as C arrays: rows of queries and corpus, of a teacher, scores of pairs."""
    rows: Tuple[Any, Any]
    teacher: Tuple[Any, Any]
    scored: Tuple[Any, Any]
    scorer: Optional[Scorer]

    def copied(self) -> _Data:
        """With arrays that nobody else writes to."""
        rows, teacher, of_pairs = ((_copy(part[0]), _copy(part[1])) for part in self[:3])
        return _Data(rows, teacher, of_pairs, self.scorer)


def _copy(array: Any) -> Any:
    return None if array is None else array.copy()


class Miner:
    """Mines again and again, as every epoch of a training: miner = Miner(queries, corpus, qrels, negatives=5), then
    miner.refresh(queries, corpus) with the embeddings of now. Relevance, texts, ids and options stay.

    mined        the Negatives that were mined last
    changed      share of these that were not there the time before; NaN after the first time

    Arguments are those of mine(); the output is written anew each time."""

    # pylint: disable-next=no-self-argument
    def __init__(miner, queries: Array, corpus: Rows, qrels: Matrix, truth: Matrix = None, *, query_ids: Any = None,
                 corpus_ids: Any = None, query_texts: Any = None, corpus_texts: Any = None, query_teacher: Array = None,
                 corpus_teacher: Array = None, scores: Matrix = None, threads: int = 0, zero_rows: str = "refuse",
                 output: Any = None, force: bool = False, preset: Optional[str] = None, negatives: Optional[int] = None,
                 depth: Optional[int] = None, min_rank: Optional[int] = None, max_rank: Optional[int] = None,
                 min_grade: Optional[int] = None, rank_of: Optional[str] = None, absolute_margin: Optional[float] = None,
                 relative_margin: Optional[float] = None, max_score: Optional[float] = None,
                 min_score: Optional[float] = None, guide: Optional[float] = None, positive: Optional[str] = None,
                 filter_by: Optional[str] = None, rank_by: Optional[str] = None, equal_texts: Optional[str] = None,
                 self: Optional[str] = None, include_positives: Optional[bool] = None,
                 judged_negatives: Optional[str] = None, take: Optional[str] = None, fill: Optional[str] = None,
                 seed: Optional[int] = None):
        given = locals()
        miner._options = {name: given[name] for name in OPTIONS}
        if zero_rows not in ("refuse", "keep"):
            raise ValueError(f"zero_rows {zero_rows!r}: 'refuse' or 'keep'")
        miner._zero_rows, miner._threads = zero_rows, threads
        rows = _rows(queries, corpus)
        miner._sides = (side("queries", len(rows[0]), query_ids, query_texts),
                        side("corpus", len(rows[1]), corpus_ids, corpus_texts))
        miner._groups = groups(miner._sides)
        miner._known = pairs(qrels, "qrels", miner._sides)
        miner._truth = None if truth is None else pairs(truth, "truth", miner._sides)
        miner._last: Optional[Negatives] = None
        miner._aside: Optional[Aside[Negatives]] = None
        miner._output = path_text(output, "output") if output else None
        miner._force = force
        miner.changed = float("nan")
        miner.refresh(rows[0], rows[1], query_teacher, corpus_teacher, scores)

    def refresh(self, queries: Array, corpus: Rows, query_teacher: Array = None, corpus_teacher: Array = None,
                scores: Matrix = None, *, wait: bool = True) -> Optional[Negatives]:
        """Mines with new embeddings, of the same queries and passages in the same order; a teacher and scores are given
        again. If this fails, `mined` is as before. wait=False: in a thread of its own, on copies of the arrays; returns
        None, and `mined` waits for it, or raises what it failed with."""
        self._take()
        rows = _rows(queries, corpus)
        for own, of in zip(rows, self._sides):
            if len(own) != of.n:
                raise ValueError(f"{of.name}: {counted(len(own), 'row')}, there were {of.n}")
        if self._output:
            check_output(self._output, self._force)
        function = callable(scores)
        data = _Data(rows, _teacher(query_teacher, corpus_teacher, self._sides),
                     (None, None) if scores is None or function else scored(scores, self._sides),
                     Scorer(scores, self._sides) if function else None)
        if wait:
            self._put(self._mine(data))
            return self._last
        copies = data.copied()
        self._aside = Aside(lambda: self._mine(copies))
        return None

    @property
    def mined(self) -> Negatives:
        """See above; waits for what is mined aside."""
        self._take()
        assert self._last is not None
        return self._last

    def _take(self) -> None:
        aside = self._aside
        if not aside:
            return
        try:
            found = aside.result()
        except KeyboardInterrupt:
            raise  # it goes on
        except BaseException:
            self._aside = None
            raise
        self._aside = None
        self._put(found)

    def _put(self, found: Negatives) -> None:
        if self._output:
            _write(self._output, found, self._sides)
            self._force = True  # what it wrote itself is replaced
        before, self._last = self._last, found
        if before is not None:
            new = ~np.isin(_keys(found.ids, self._sides[1].n), _keys(before.ids, self._sides[1].n))
            self.changed = float(new.mean()) if new.size else 0.0

    def _mine(self, given: _Data) -> Negatives:
        known, true = self._known, self._truth
        data = CCorpus(size=ctypes.sizeof(CCorpus), queries=self._sides[0].n, passages=self._sides[1].n,
                       d=given.rows[0].shape[1], known_pairs=len(known), truth_pairs=0 if true is None else len(true),
                       teacher_d=0 if given.teacher[0] is None else given.teacher[0].shape[1],
                       scored_pairs=0 if given.scored[0] is None else len(given.scored[0]),
                       zero_rows=self._zero_rows == "keep")
        score = np.empty(len(known))
        for field, array in (("query", given.rows[0]), ("passage", given.rows[1]), ("known", known), ("truth", true),
                             ("query_group", self._groups[0]), ("passage_group", self._groups[1]),
                             ("query_teacher", given.teacher[0]), ("passage_teacher", given.teacher[1]),
                             ("scored", given.scored[0]), ("score", given.scored[1]), ("known_score", score)):
            if array is not None:
                setattr(data, field, array.ctypes.data)
        if given.scorer:
            data.scorer = given.scorer.c
        try:
            found = _run(data, _options(self._options), self._threads)
        except ValueError:
            if given.scorer and given.scorer.error:
                raise given.scorer.error from None
            raise
        found.positives, found.positive_scores = _positives(known, score, self._options["min_grade"] or 1)
        return found


# Of `hardneg mine`, in its words but for _.
OPTIONS = [*inspect.signature(Miner).parameters]
OPTIONS = OPTIONS[OPTIONS.index("preset"):]


def _rows(queries: Array, corpus: Array) -> Pair:
    for array, name in ((queries, "queries"), (corpus, "corpus")):
        if str(getattr(array, "dtype", "")).replace("torch.", "") == "uint8":
            raise ValueError(f"{name}: bytes may be packed bits, which np.unpackbits(x, axis=1) * 2.0 - 1 makes numbers of; numbers "
                             "are taken as floats")
    rows = floats(queries, "queries"), floats(corpus, "corpus")
    if rows[0].shape[1] != rows[1].shape[1]:
        raise ValueError(f"queries have {counted(rows[0].shape[1], 'column')}, the corpus {rows[1].shape[1]}")
    return rows


def _teacher(queries: Array, corpus: Array, sides: Tuple[Side, Side]) -> Tuple[Any, Any]:
    if (queries is None) != (corpus is None):
        raise ValueError("query_teacher and corpus_teacher: give both, or none")
    if queries is None:
        return None, None
    teacher = floats(queries, "query_teacher"), floats(corpus, "corpus_teacher")
    for own, of, name in zip(teacher, sides, ("query_teacher", "corpus_teacher")):
        if len(own) != of.n or own.shape[1] != teacher[0].shape[1]:
            raise ValueError(f"{name}: rows {list(own.shape)}; {of.n} are wanted, of one width on both sides")
    return teacher


def _positives(known: Any, score: Any, min_grade: int) -> Pair:
    """Relevant pairs, each once, by query and passage, and their scores. The last grade of a pair counts."""
    last = len(known) - 1 - np.unique(known[::-1, :2], axis=0, return_index=True)[1] if len(known) else np.empty(0, np.int64)
    last = last[known[last, 2] >= min_grade]
    return known[last, :2], score[last]


def _keys(ids: Any, passages: int) -> Any:
    """A number for each negative of each query."""
    query, place = np.nonzero(ids >= 0)
    return query * passages + ids[query, place]


def _lines(found: Negatives, sides: Tuple[Side, Side]) -> Iterator[Dict[str, Any]]:
    """Of queries with a positive and a negative, with the keys of `hardneg mine`."""
    queries, passages = sides
    start = np.searchsorted(found.positives[:, 0], np.arange(queries.n + 1))
    for q in range(queries.n):
        there = found.ids[q] >= 0
        own, negative = found.positives[start[q]:start[q + 1], 1].tolist(), found.ids[q][there].tolist()
        if own and negative:
            yield {"query": queries.text(q), "pos": [*map(passages.text, own)], "neg": [*map(passages.text, negative)],
                   "query_id": queries.id_text(q), "pos_id": [*map(passages.id_text, own)],
                   "neg_id": [*map(passages.id_text, negative)],
                   "pos_scores": _numbers(found.positive_scores[start[q]:start[q + 1]]),
                   "neg_scores": _numbers(found.scores[q][there])}


def _numbers(scores: Any) -> Any:
    return [None if score != score else score for score in scores.tolist()]  # JSON has no NaN


def _write(path: str, found: Negatives, sides: Tuple[Side, Side]) -> None:
    written = 0

    def put(file: Any) -> None:
        nonlocal written
        if path.endswith(".npy"):
            np.save(file, found.ids)
            return
        for line in _lines(found, sides):
            file.write((json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode())
            written += 1
    write_file(path, put)
    left = 0 if path.endswith(".npy") else sides[0].n - written
    if left:
        found.note = "; ".join(filter(None, (found.note, f"{path}: {counted(left, 'query')} left out, for want of a positive or of "
                                             "negatives")))


def _run(data: CCorpus, options: Any, threads: int) -> Negatives:
    handle = Handle("uniform", 2, 1, threads)  # of any sampler: it has the threads, and hears Ctrl-C
    out = CMining(size=ctypes.sizeof(CMining))

    def call(ids: Optional[int], scores: Optional[int]) -> str:
        return handle.call((lib.hardneg_mine, ctypes.byref(data), options, ids, scores, ctypes.byref(out)))
    call(None, None)
    ids = np.empty((data.queries, out.width), np.int64)
    scores = np.empty(ids.shape)
    note = call(ids.ctypes.data, scores.ctypes.data)
    found = Negatives((ids, scores))
    found.note = note
    found.fewer, found.none, found.drawn = out.fewer, out.none, out.drawn
    found.attrition = {out.filter[i].decode(): Lost(out.all[i], out.known[i], out.hidden[i]) for i in range(out.filters)}
    return found
