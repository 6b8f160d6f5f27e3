# SPDX-License-Identifier: GPL-3.0-or-later
"""Relevance and scores of pairs of queries and passages, from the shapes in which they are at hand."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from ._arrays import Matrix, Pair, checked_text, counted

QUERY = ("query-id", "query_id", "qid", "query")  # names of columns, as BEIR, ir_datasets and others have them
PASSAGE = ("corpus-id", "corpus_id", "doc_id", "docid", "passage_id", "pid", "passage")
VALUE = ("score", "relevance", "grade", "label", "rel")


class Side(NamedTuple):
    """Queries, or passages: how many, their ids by row and texts, if there are any."""
    name: str
    n: int
    ids: Optional[List[Any]]
    texts: Optional[List[str]]
    row: Dict[Any, int]  # of an id

    def rows(self, given: Sequence[Any], name: str) -> Any:
        """Rows of ids, where there are ids: what is none is refused."""
        if self.ids is None:
            return given
        try:
            return [self.row[one] for one in given]
        except (KeyError, TypeError):
            wrong = next(one for one in given if not _hashable(one) or one not in self.row)
            raise ValueError(f"{name}: {wrong!r} is no id of {self.name}, of which the first is {self.ids[0]!r}") from None

    def id_text(self, row: int) -> str:
        """The id of a row, its number where there are none."""
        return str(row if self.ids is None else self.ids[row])

    def text(self, row: int) -> str:
        """The text of a row, its id where there are none."""
        return self.id_text(row) if self.texts is None else self.texts[row]


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _text(value: Any, where: str) -> str:
    """A text, or the title and text of a passage of BEIR as `hardneg import` joins them."""
    if isinstance(value, Mapping) and isinstance(value.get("text"), str):
        title = value.get("title")
        value = f"{title} {value['text']}" if title else str(value["text"])
    if not isinstance(value, str):
        raise ValueError(f"{where} is {value!r}: a text is wanted, \"\" is one, too")
    return checked_text(value, where)


def side(name: str, n: int, ids: Any, texts: Any) -> Side:
    """From lists in the order of the rows; texts may be a dict {id: text} in that order, as BEIR's queries and corpus are."""
    found = None
    one = "query" if name == "queries" else "corpus"
    if isinstance(texts, Mapping):
        if ids is not None and list(ids) != list(texts):
            raise ValueError(f"{one}_ids are not the keys of {one}_texts: give one of them")
        ids, texts = list(texts), list(texts.values())
    if texts is not None:
        found = [_text(text, f"{one}_texts: item {i}") for i, text in enumerate(texts)]
        if len(found) != n:
            raise ValueError(f"{one}_texts: {counted(len(found), 'text')} for {counted(n, 'row')}")
    ids = None if ids is None else ids.tolist() if hasattr(ids, "tolist") else list(ids)
    row: Dict[Any, int] = {}
    if ids is not None:
        if len(ids) != n:
            raise ValueError(f"{one}_ids: {counted(len(ids), 'id')} for {counted(n, 'row')}")
        wrong = next((value for value in ids if not _hashable(value) or value != value), None)
        if wrong is not None:
            raise ValueError(f"{one}_ids: {wrong!r} cannot be an id: texts or whole numbers are wanted")
        row = {value: i for i, value in enumerate(ids)}
        for value in ids:
            if isinstance(value, str):
                checked_text(value, f"{one}_ids:")
        if len(row) < n:
            twice = next(value for i, value in enumerate(ids) if row[value] != i)
            raise ValueError(f"{one}_ids: {twice!r} is there twice")
    return Side(name, n, ids, found, row)


def groups(sides: Tuple[Side, Side]) -> Tuple[Any, Any]:
    """Numbers of equal texts of both sides."""
    if sides[0].texts is None and sides[1].texts is None:
        return None, None
    if sides[0].texts is None or sides[1].texts is None:
        raise ValueError("query_texts and corpus_texts: give both, or none")
    number: Dict[str, int] = {}
    found = [np.array([number.setdefault(text, len(number)) for text in one.texts or ()], np.int64) for one in sides]
    return found[0], found[1]


def _table(given: Any, name: str) -> Optional[List[List[Any]]]:
    """Queries, passages and values, or none of these, of a data frame or a Dataset; None: it is neither."""
    if isinstance(given, Mapping) or not hasattr(given, "__getitem__"):
        return None
    columns = getattr(given, "column_names", None)
    columns = getattr(given, "columns", None) if columns is None else columns
    if columns is None or callable(columns):
        return None
    columns = list(columns)
    known = [next((column for column in names if column in columns), None) for names in (QUERY, PASSAGE, VALUE)]
    if known[0] is None or known[1] is None:
        if len(columns) not in (2, 3):
            raise ValueError(f"{name}: of the columns {', '.join(map(str, columns))} none is called query-id, or none corpus-id: "
                             "give these two, and a third of grades or scores")
        known = columns + [None] * (3 - len(columns))
    return [[] if column is None else _listed(given[column]) for column in known]


def _listed(values: Any) -> List[Any]:
    return list(values.tolist() if hasattr(values, "tolist") else values)


def _passages(found: Any) -> Any:
    return found.tolist() if hasattr(found, "tolist") and np.ndim(found) else \
        found if isinstance(found, (list, tuple, set, frozenset)) else [found]


def _of_queries(qrels: Any, name: str, sides: Tuple[Side, Side]) -> List[Any]:
    """Rows of pairs: tuples are pairs, lists and the like are passages of each query."""
    rows, n = list(qrels), sides[0].n
    if rows and all(isinstance(pair, tuple) for pair in rows):
        return rows
    rows = [_passages(found) for found in rows]
    if len(rows) != n:
        raise ValueError(f"{name}: passages of {counted(len(rows), 'query')}, there are {n}; make pairs tuples, or an array [m, 2]")
    first = [next(iter(found), None) for found in rows]
    if {len(found) for found in rows} in ({2}, {3}) and all(isinstance(q, (int, np.integer)) and 0 <= q < n for q in first):
        raise ValueError(f"{name}: are these pairs, or passages of each query? Make pairs tuples or an array [m, 2], passages a dict")
    ids = range(n) if sides[0].ids is None else sides[0].ids
    return [(q, p, 1) for q, found in zip(ids, rows) for p in found]


def _columns(given: Matrix, name: str, sides: Tuple[Side, Side]) -> List[Sequence[Any]]:
    """Queries, passages and values; no values: there are none."""
    table = _table(given, name)
    if table is not None:
        return [*table]
    if isinstance(given, Mapping):
        rows = [(*key, found) if isinstance(key, tuple) and not isinstance(found, Mapping) else (key, p, g)
                for key, found in given.items()
                for p, g in (found.items() if isinstance(found, Mapping) else ((p, 1) for p in _passages(found)))]
    elif isinstance(given, np.ndarray) or hasattr(given, "detach"):
        rows = given.tolist()
    elif hasattr(given, "__iter__") and not isinstance(given, str):
        rows = _of_queries(given, name, sides)
    else:
        rows = [given]
    if any(not isinstance(row, (list, tuple)) or len(row) not in (2, 3) for row in rows):
        raise ValueError(f"{name}: pairs as an array [m, 2], or [m, 3] with grades, tuples, a data frame, a dict, or a list of "
                         "passages for each query are wanted")
    return [[row[0] for row in rows], [row[1] for row in rows], [row[2] if len(row) > 2 else 1 for row in rows]]


def _sparse(given: Any, name: str, sides: Tuple[Side, Side]) -> Tuple[Any, Any, Any]:
    coo = given.tocoo()
    if coo.shape[0] != sides[0].n:
        raise ValueError(f"{name}: a matrix of {counted(coo.shape[0], 'row')}, there are {sides[0].n} queries")
    return coo.row, coo.col, coo.data


def pairs(qrels: Matrix, name: str, sides: Tuple[Side, Side]) -> np.ndarray[Any, Any]:
    """Judged pairs as int64 rows of query, passage, grade: from such an array, with or without grades, a SciPy
    matrix, a data frame, tuples, a dict {query: passages or {passage: grade}}, or a list of passages for each query."""
    if hasattr(qrels, "tocoo"):
        query, passage, grade = _sparse(qrels, name, sides)
    else:
        query, passage, grade = _columns(qrels, name, sides)
        query, passage = sides[0].rows(query, name), sides[1].rows(passage, name)
        grade = grade if len(grade) else [1] * len(query)
    columns = [whole_numbers(np.asarray(column), name) for column in (query, passage, grade)]
    return np.ascontiguousarray(np.stack(columns, 1), np.int64)


def whole_numbers(values: Any, name: str) -> np.ndarray[Any, Any]:
    large = values.dtype.kind == "O" and all(isinstance(value, int) for value in values.flat)  # beyond 64 bits
    if values.size and not large and (values.dtype.kind not in "iufb" or (values != np.floor(values)).any()):
        raise ValueError(f"{name}: queries and passages are rows from 0, grades whole numbers; for ids give query_ids and "
                         "corpus_ids")
    beyond = values[(values < -2.0**63) | (values >= 2.0**63)]
    if beyond.size:
        raise ValueError(f"{name}: {int(beyond.flat[0])} is neither a row nor a grade")
    found: np.ndarray[Any, Any] = values.astype(np.int64)
    return found


def scored(scores: Matrix, sides: Tuple[Side, Side]) -> Pair:
    """Scores of pairs as int64 rows of query, passage, and float32: from an array [m, 3] of query, passage, score, a dict
    {query: {passage: score}} or {(query, passage): score}, tuples, a data frame, or a SciPy matrix."""
    if hasattr(scores, "tocoo"):
        query, passage, value = _sparse(scores, "scores", sides)
    else:
        query, passage, value = _triples(scores, sides)
        query, passage = sides[0].rows(query, "scores"), sides[1].rows(passage, "scores")
    ids = np.stack([whole_numbers(np.asarray(rows), "scores") for rows in (query, passage)], 1)
    with np.errstate(over="ignore"):  # what becomes infinite is refused with its pair
        return np.ascontiguousarray(ids, np.int64), np.ascontiguousarray(np.asarray(value, float), np.float32)


def _triples(scores: Any, sides: Tuple[Side, Side]) -> Any:
    wanted = ValueError("scores: an array of query, passage and score [m, 3], tuples of these, a data frame, a dict "
                        "{query: {passage: score}}, a SciPy matrix, or a function of pairs is wanted")
    table: Any = _table(scores, "scores")
    if table is None:
        if not isinstance(scores, Mapping):
            scores = scores.tolist() if hasattr(scores, "tolist") else list(scores)
            if any(not isinstance(row, (list, tuple)) or len(row) != 3 for row in scores):
                raise wanted
            return [[row[i] for row in scores] for i in range(3)]
        if any(not isinstance(found, Mapping) and not (isinstance(key, tuple) and len(key) == 2) for key, found in scores.items()):
            raise wanted
        table = _columns(scores, "scores", sides)
    if len(table[2]) != len(table[0]):
        raise wanted
    return table
