"""Hard negatives of queries over a corpus."""
from __future__ import annotations

import ctypes
from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from ._arrays import Array, Matrix, Pair, c_text, counted, floats
from ._library import Handle, lib

FILTERS = 16


class CCorpus(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("queries", ctypes.c_int64), ("passages", ctypes.c_int64), ("d", ctypes.c_int64),
                ("query", ctypes.c_void_p), ("passage", ctypes.c_void_p),
                ("known", ctypes.c_void_p), ("known_pairs", ctypes.c_int64),
                ("truth", ctypes.c_void_p), ("truth_pairs", ctypes.c_int64),
                ("query_group", ctypes.c_void_p), ("passage_group", ctypes.c_void_p),
                ("query_teacher", ctypes.c_void_p), ("passage_teacher", ctypes.c_void_p), ("teacher_d", ctypes.c_int64),
                ("scored", ctypes.c_void_p), ("score", ctypes.c_void_p), ("scored_pairs", ctypes.c_int64),
                ("zero_rows", ctypes.c_int64)]


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
    note         what mining had to say: candidates or positives without a score, filters that leave nothing"""
    attrition: Dict[str, Lost]
    fewer: int
    none: int
    drawn: int
    note: str

    @property
    def ids(self) -> np.ndarray[Any, Any]:
        """[queries, negatives] rows of the corpus, -1 where there are fewer."""
        return self[0]

    @property
    def scores(self) -> np.ndarray[Any, Any]:
        """Scores that filters looked at, NaN where there are fewer."""
        return self[1]


def pairs(qrels: Matrix, name: str, n: int) -> np.ndarray[Any, Any]:
    """Judged pairs as int64 rows of query, passage, grade: from such an array, with or without grades, a SciPy
    matrix, a dict {query: passages or {passage: grade}}, or a list of passages for each query."""
    if hasattr(qrels, "tocoo"):
        coo = qrels.tocoo()
        if coo.shape[0] != n:
            raise ValueError(f"{name}: a matrix of {counted(coo.shape[0], 'row')}, there are {n} queries")
        return np.ascontiguousarray(np.stack([coo.row, coo.col, _grades(coo.data, name)], 1), np.int64)
    if isinstance(qrels, dict):
        rows = [(q, p, g) for q, found in qrels.items()
                for p, g in (found.items() if isinstance(found, dict) else ((p, 1) for p in _passages(found)))]
    elif isinstance(qrels, np.ndarray) or hasattr(qrels, "detach"):
        rows = qrels.tolist()
    elif hasattr(qrels, "__iter__"):
        qrels = [_passages(found) for found in qrels]
        if len(qrels) != n:
            raise ValueError(f"{name}: passages of {counted(len(qrels), 'query')}, there are {n}; make pairs an array [m, 2]")
        first = [next(iter(found), None) for found in qrels]
        if {len(found) for found in qrels} in ({2}, {3}) and all(isinstance(q, (int, np.integer)) and 0 <= q < n for q in first):
            raise ValueError(f"{name}: are these pairs, or passages of each query? Make pairs an array [m, 2], passages a dict")
        rows = [(q, p, 1) for q, found in enumerate(qrels) for p in found]
    else:
        rows = [qrels]
    if any(not isinstance(row, (list, tuple)) or len(row) not in (2, 3) for row in rows):
        raise ValueError(f"{name}: an array of pairs [m, 2], or [m, 3] with grades, a dict, or a list of passages for "
                         "each query is wanted")
    table = np.array([tuple(row) + (1,) * (3 - len(row)) for row in rows]).reshape(-1, 3)
    return np.ascontiguousarray(_grades(table, name), np.int64)


def _passages(found: Any) -> Any:
    return found.tolist() if hasattr(found, "tolist") and np.ndim(found) else \
        found if isinstance(found, (list, tuple, set, frozenset)) else [found]


def _grades(values: Any, name: str) -> np.ndarray[Any, Any]:
    values = np.asarray(values)
    large = values.dtype.kind == "O" and all(isinstance(value, int) for value in values.flat)  # beyond 64 bits
    if values.size and not large and (values.dtype.kind not in "iufb" or (values != np.floor(values)).any()):
        raise ValueError(f"{name}: queries and passages are rows from 0, grades whole numbers; ids that are texts go "
                         "through `hardneg import` and `hardneg mine`")
    beyond = values[(values < -2.0**63) | (values >= 2.0**63)]
    if beyond.size:
        raise ValueError(f"{name}: {int(beyond.flat[0])} is neither a row nor a grade")
    found: np.ndarray[Any, Any] = values.astype(np.int64)
    return found


def _scored(scores: Matrix, n: int) -> Pair:
    """Scores of pairs as int64 rows of query, passage, and float32: from an array [m, 3] of query, passage, score, a dict
    {query: {passage: score}} or {(query, passage): score}, or a SciPy matrix."""
    if hasattr(scores, "tocoo"):
        coo = scores.tocoo()
        if coo.shape[0] != n:
            raise ValueError(f"scores: a matrix of {counted(coo.shape[0], 'row')}, there are {n} queries")
        ids, values = np.stack([coo.row, coo.col], 1), coo.data
    else:
        if isinstance(scores, dict):
            rows = [[key, p, s] for key, found in scores.items() if isinstance(found, dict) for p, s in found.items()]
            scores = rows + [[*key, found] for key, found in scores.items() if not isinstance(found, dict)]
        table = np.asarray(scores, float) if len(scores) else np.empty((0, 3))
        if table.ndim != 2 or table.shape[1] != 3:
            raise ValueError("scores: an array of query, passage and score [m, 3], a dict {query: {passage: score}}, or a SciPy "
                             "matrix is wanted")
        ids, values = _grades(table[:, :2], "scores"), table[:, 2]
    with np.errstate(over="ignore"):  # what becomes infinite is refused with its pair
        return np.ascontiguousarray(ids, np.int64), np.ascontiguousarray(values, np.float32)


def _groups(texts: Tuple[Any, Any], n: Tuple[int, int]) -> Tuple[Any, Any]:
    """Numbers of equal texts of both sides."""
    if texts[0] is None and texts[1] is None:
        return None, None
    if texts[0] is None or texts[1] is None:
        raise ValueError("query_texts and corpus_texts: give both, or none")
    sides = [list(side) for side in texts]
    for side, size, name in zip(sides, n, ("query_texts", "corpus_texts")):
        if len(side) != size:
            raise ValueError(f"{name}: {counted(len(side), 'text')} for {counted(size, 'row')}")
        for i, text in enumerate(side):
            if not isinstance(text, str):
                raise ValueError(f"{name}: item {i} is {text!r}: a text is wanted, \"\" is one, too")
    number: Dict[Any, int] = {}
    found = [np.array([number.setdefault(text, len(number)) for text in side], np.int64) for side in sides]
    return found[0], found[1]


def _options(options: Dict[str, Any]) -> Any:
    """Names and values in turn, as the library takes them."""
    flat = []
    for name, value in options.items():
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            flat += [c_text(name.replace("_", "-"), "option"), c_text(text, name)]
    return (ctypes.c_char_p * (len(flat) + 1))(*flat, None)


def mine_corpus(queries: Array, corpus: Array, qrels: Matrix, truth: Matrix = None, *, query_texts: Any = None,
                corpus_texts: Any = None, query_teacher: Array = None, corpus_teacher: Array = None, scores: Matrix = None,
                threads: int = 0, zero_rows: str = "refuse", **options: Any) -> Negatives:
    """See mine()."""
    if zero_rows not in ("refuse", "keep"):
        raise ValueError(f"zero_rows {zero_rows!r}: 'refuse' or 'keep'")
    rows = floats(queries, "queries"), floats(corpus, "corpus")
    if rows[0].shape[1] != rows[1].shape[1]:
        raise ValueError(f"queries have {counted(rows[0].shape[1], 'column')}, the corpus {rows[1].shape[1]}")
    if (query_teacher is None) != (corpus_teacher is None):
        raise ValueError("query_teacher and corpus_teacher: give both, or none")
    n = len(rows[0]), len(rows[1])
    known, groups = pairs(qrels, "qrels", n[0]), _groups((query_texts, corpus_texts), n)
    true = None if truth is None else pairs(truth, "truth", n[0])
    teacher: Tuple[Any, Any] = None, None
    if query_teacher is not None:
        teacher = floats(query_teacher, "query_teacher"), floats(corpus_teacher, "corpus_teacher")
        for own, size, name in zip(teacher, n, ("query_teacher", "corpus_teacher")):
            if len(own) != size or own.shape[1] != teacher[0].shape[1]:
                raise ValueError(f"{name}: rows {list(own.shape)}; {size} are wanted, of one width on both sides")
    scored: Tuple[Any, Any] = (None, None) if scores is None else _scored(scores, n[0])
    data = CCorpus(size=ctypes.sizeof(CCorpus), queries=n[0], passages=n[1], d=rows[0].shape[1], known_pairs=len(known),
                   truth_pairs=0 if true is None else len(true),
                   teacher_d=0 if teacher[0] is None else teacher[0].shape[1],
                   scored_pairs=0 if scored[0] is None else len(scored[0]), zero_rows=zero_rows == "keep")
    for field, array in (("query", rows[0]), ("passage", rows[1]), ("known", known), ("truth", true),
                         ("query_group", groups[0]), ("passage_group", groups[1]),
                         ("query_teacher", teacher[0]), ("passage_teacher", teacher[1]),
                         ("scored", scored[0]), ("score", scored[1])):
        if array is not None:
            setattr(data, field, array.ctypes.data)
    return _run(data, _options(options), threads)


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
