# SPDX-License-Identifier: GPL-3.0-or-later
"""What a caller has at hand, as the C arrays that the library takes."""
from __future__ import annotations

import operator
import os
import re
from typing import Any, Dict, List, NamedTuple, Optional, Protocol, Tuple, Union

import numpy as np

Array = Any  # an array of NumPy, a tensor of any device, a memory map, lists
Matrix = Any  # the same, or a SciPy matrix


class Shaped(Protocol):
    """Arrays, tensors, data frames."""

    @property
    def shape(self) -> Any: ...


Rows = Union[Shaped, List[Any], Tuple[Any, ...]]  # an Array, told from the name of a sampler
Pair = Tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]


def array_of(values: Array) -> np.ndarray[Any, Any]:
    """A NumPy array, of a tensor too: on any device, with a gradient, of a type that NumPy lacks."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        narrow = values.is_floating_point() and values.element_size() < 8
        values = (values.float() if narrow else values).numpy()
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise ValueError(f"an array has {np.count_nonzero(values.mask)} masked values, which are no numbers: fill them, "
                         "labels and batches with -1 (array.filled(-1))")
    values = np.asarray(values)
    if values.dtype.kind == "V" and values.dtype.itemsize == 2 and not values.dtype.names:  # bfloat16, saved by NumPy
        values = (np.ascontiguousarray(values).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    found: np.ndarray[Any, Any] = values
    return found


def counted(n: int, one: str) -> str:
    """"1 row", "2 rows", "2 queries", "2 batches"."""
    many = one[:-1] + "ies" if one.endswith("y") else one + ("es" if one.endswith("ch") else "s")
    return f"{n} {one if n == 1 else many}"


def floats(array: Array, name: str, columns: Optional[int] = None) -> np.ndarray[Any, Any]:
    """A C array of float32 [n, d], copied only if it has to be."""
    if hasattr(array, "set_epoch") or type(array).__name__.endswith("Sampler"):
        raise ValueError(f"{name} is a {type(array).__name__}: a trainer is about to put a sampler of its own in "
                         "place of this one. With Lightning set Trainer(use_distributed_sampler=False)")
    given = type(array).__name__
    array = array_of(array)
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise ValueError(f"{name}: an array of numbers [n, d] is wanted, this is "
                         f"{f'{array.dtype}{list(array.shape)}' if array.ndim else given}")
    if columns is not None and array.shape[1] != columns:
        raise ValueError(f"{name}: {counted(array.shape[1], 'column')}, x has {columns}")
    if array.dtype.kind == "f" and array.dtype.itemsize > 4:
        array = _scaled(array)
    with np.errstate(over="ignore"):  # what becomes infinite is refused with its row
        return np.ascontiguousarray(array, dtype=np.float32)


def _scaled(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rows that float32 cannot hold times a power of two: their direction is what counts."""
    with np.errstate(invalid="ignore"):
        largest = np.maximum(array.max(axis=1, initial=0), -array.min(axis=1, initial=0))
    far = np.isfinite(largest) & (largest > 0) & ((largest < 2.0**-100) | (largest > 2.0**100))
    if far.any():
        array = np.array(array)
        array[far] = np.ldexp(array[far], -np.frexp(largest[far])[1][:, None])
    return array


def rows_of(array: Array, used: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Some rows, of arrays that can give them without the others."""
    rows: np.ndarray[Any, Any] = array[used] if hasattr(array, "detach") or isinstance(array, np.ndarray) else array_of(array)[used]
    return rows


def numbers(labels: Array, n: int, name: str = "labels") -> np.ndarray[Any, Any]:
    """Labels as int32, -1 for None, NaN and negative ones; other texts and numbers by their order."""
    given, labels = labels, array_of(labels)
    if isinstance(given, (list, tuple)) and labels.dtype.kind in "US" and labels.ndim == 1:
        labels = np.array(given, object)  # NumPy makes one text of 7 and "7", and "nan" of NaN
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (n,):
        raise ValueError(f"{name}: one for each of {n} items is wanted, this is {list(labels.shape)}")
    if labels.dtype.kind not in "USO":
        return _numbered(labels, name)
    known = np.array([not _missing(label) for label in labels.tolist()], bool)
    found = _alike(labels[known].tolist(), name)
    if isinstance(found, list):
        out = np.full(n, -1, np.int32)
        out[known] = _by_order(found)
        return out
    values = np.full(n, -1, found.dtype if found.size else np.int64)
    values[known] = found
    return _numbered(values, name)


class Texts(NamedTuple):
    """Texts of tuples by number, equal ones by the same: of queries, passages [n], of pairs that are relevant besides [m, 2],
    of mined negatives [n, most], -1 where there are fewer. note: pairs that are of no row, or ""."""
    queries: np.ndarray[Any, Any]
    passages: np.ndarray[Any, Any]
    pairs: np.ndarray[Any, Any]
    negatives: np.ndarray[Any, Any]
    note: str


def texts(tuples: Any, n: int) -> Texts:
    """Ids that are no texts are of their own side."""
    parts = [part.tolist() if hasattr(part, "tolist") else list(part) for part in (part if part is not None else () for part in tuples)]
    if len(parts) not in (2, 3, 4) or len(parts[0]) != n or len(parts[1]) != n or len(parts) == 4 and len(parts[3]) != n:
        raise ValueError(f"tuples: (queries, passages), a text or id for each row of x, {n} in all, and perhaps a list of pairs of "
                         "them, and a list of the mined negatives of each row; this is "
                         f"{counted(len(parts), 'part')}, of {', '.join(str(len(part)) for part in parts)}")
    more = [list(row) for row in parts[3]] if len(parts) == 4 else [[]] * n
    for name, side in zip(("queries", "passages"), parts):
        if any(text is None for text in side):
            raise ValueError(f"tuples: {name}[{[*side].index(None)}] is None: a text or an id for each row is wanted")
    number: Dict[Any, int] = {}

    def numbered(side: int, text: Any) -> int:
        return number.setdefault(text if isinstance(text, str) else (side, text), len(number))
    rows = [np.array([numbered(side, text) for text in parts[side]], np.int32) for side in (0, 1)]
    negatives = np.full((n, max(map(len, more), default=0)), -1, np.int32)
    for own, row in zip(negatives, more):
        own[:len(row)] = [-1 if _missing(text) else numbered(1, text) for text in row]
    given = list(parts[2] or ()) if len(parts) > 2 else []
    pairs = [[number.get(text if isinstance(text, str) else (side, text), -1) for side, text in enumerate(pair)] for pair in given]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError("tuples: its third part is a list of pairs, a query and a passage")
    there = set(rows[0].tolist()), {*rows[1].tolist(), *negatives.ravel().tolist()} - {-1}
    known = [pair for pair in pairs if pair[0] in there[0] and pair[1] in there[1]]  # others are in no batch
    if pairs and not known:
        raise ValueError(f"tuples: none of {counted(len(pairs), 'pair')} has a query and a passage of the rows: the first is "
                         f"{tuple(given[0])!r}, row 0 has {parts[0][0]!r} and {parts[1][0]!r}")
    unknown = len(pairs) - len(known)
    note = f"tuples: {unknown} of {counted(len(pairs), 'pair')} have a query or a passage that no row has" if unknown else ""
    return Texts(rows[0], rows[1], np.array(known, np.int32).reshape(-1, 2), negatives, note)


def _missing(label: Any) -> bool:
    """None, NaN, NaT, pandas.NA, ""."""
    if label is None or isinstance(label, (str, bytes)):
        return not label
    try:
        return bool(label != label)
    except TypeError:
        return True


def _alike(values: List[Any], name: str) -> Any:
    """Labels that are there, as `import` reads them: an array of numbers, where all are, or all are texts in their
    number's own decimal form; else a list of texts."""
    values = [value.decode() if isinstance(value, bytes) else value for value in values]
    texts = [isinstance(value, str) for value in values]
    if all(texts):
        whole_numbers = [int(text) for text in values if re.fullmatch("0|-?[1-9][0-9]*", text)]
        fit = len(whole_numbers) == len(values) and all(-2**63 <= value < 2**63 for value in whole_numbers)
        return np.array(whole_numbers, np.int64) if fit else values
    for i, value in enumerate(values):
        if not texts[i] and not isinstance(value, (bool, int, float, np.number, np.bool_)):
            raise ValueError(f"{name}: {value!r} is a {type(value).__name__}; labels are numbers or texts")
    if any(texts):
        raise ValueError(f"{name}: {values[texts.index(False)]!r} is a number and {values[texts.index(True)]!r} a text: "
                         "make all of them numbers, or all texts")
    array = np.array(values)
    wide = array.dtype.kind == "f" and all(isinstance(value, (int, np.integer)) for value in values)
    return [str(value) for value in values] if wide or array.dtype.kind == "O" else array


def _by_order(values: List[Any]) -> List[int]:
    number = {value: i for i, value in enumerate(sorted(set(values)))}
    return [number[value] for value in values]


def _check_whole(labels: np.ndarray[Any, Any], name: str) -> None:
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"{name}: these are {labels.dtype}; labels are integers or texts")
    if labels.dtype.kind == "f":
        whole_or_none = np.isnan(labels) | ((labels == np.floor(labels)) & (np.abs(labels) < 2.0**63))
        if not whole_or_none.all():
            i = np.argmin(whole_or_none)
            raise ValueError(f"{name}: {labels[i]} of item {i} is not a whole number; labels are classes, integers or texts: "
                             "sort measured values into some")


def _numbered(labels: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """Numbers as they are, or, beyond 2^31 - 1, in their order; -1 for those below 0 and NaN."""
    _check_whole(labels, name)
    signed = labels.dtype.kind in "if"
    below = np.flatnonzero(labels < -1) if signed else np.empty(0, np.int64)
    if len(below) and np.nanmax(labels) > 2**31 - 1:
        raise ValueError(f"{name}: {labels[below[0]]} of item {below[0]} is below 0, as labels that are none, and others go "
                         "beyond 2^31 - 1, as hashes do: make hashes unsigned integers or texts")
    known = labels >= 0 if signed else np.ones(len(labels), bool)
    out = np.full(len(labels), -1, np.int32)
    out[known] = labels[known] if labels[known].max(initial=0) < 2**31 else np.unique(labels[known], return_inverse=True)[1]
    return out


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset)) or getattr(value, "ndim", 0) == 1


def several(labels: Matrix, n: int) -> Optional[Pair]:
    """Several labels an item as (start, label), in any of four shapes: lists of labels, a matrix of truth
    values [n, classes], a SciPy matrix, or a tuple (indptr, indices). None: one label an item at most."""
    if hasattr(labels, "tocsr"):
        return _matrix(labels.tocsr(), n)
    if isinstance(labels, tuple) and len(labels) == 2 and all(np.ndim(part) == 1 for part in labels):
        return _compressed(labels[0], labels[1], n)
    shape = getattr(labels, "shape", None)
    if shape is not None and len(shape) == 2:
        return None if shape[1] == 1 else _truth(array_of(labels), n)  # a column is one label an item
    rows = list(labels) if shape is None or array_of(labels).dtype.kind == "O" else ()
    if not any(_is_list(row) for row in rows):
        return None
    return _lists(rows, n)


def _wrong(n: int, shape: Any) -> ValueError:
    return ValueError(f"labels: one or several for each of {n} items are wanted, this is {shape}")


def _checked(matrix: Any, name: str) -> Pair:
    """Offsets and columns of a compressed matrix, which SciPy lets anyone change."""
    start, column = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    if (len(start) != matrix.shape[0] + 1 or start[0] != 0 or (start[1:] < start[:-1]).any() or start[-1] > len(column)
            or (column < 0).any() or (column >= matrix.shape[1]).any() or column.max(initial=0) >= 2**31):
        raise ValueError(f"{name}: indptr and indices of the matrix do not fit each other or its shape "
                         f"{tuple(matrix.shape)}: matrix.check_format() finds where")
    return start.astype(np.int64), column[:start[-1]].astype(np.int32)


def _matrix(matrix: Any, n: int) -> Pair:
    if matrix.shape[0] != n:
        raise _wrong(n, list(matrix.shape))
    _checked(matrix, "labels")
    matrix = matrix.copy()
    matrix.eliminate_zeros()
    return _checked(matrix, "labels")


def _truth(matrix: Any, n: int) -> Pair:
    if matrix.shape[0] != n or not np.isin(matrix, (0, 1)).all():
        raise ValueError(f"labels: a matrix holds truth values [{n}, classes], this is "
                         f"{matrix.dtype}{list(matrix.shape)}; lists of labels may be of any length")
    item, label = np.nonzero(matrix)
    return _starts(np.bincount(item, minlength=n)), label.astype(np.int32)


def _compressed(start: Any, label: Any, n: int) -> Pair:
    start, label = array_of(start), array_of(label)
    if start.dtype.kind not in "iu" or label.dtype.kind not in "iu" or len(start) != n + 1 or start[-1] != len(label):
        raise ValueError(f"labels: (indptr, indices) are integers, {n + 1} and as many as the last of these; "
                         f"these are {start.dtype}{list(start.shape)} and {label.dtype}{list(label.shape)}")
    if label.size and not 0 <= label.min() <= label.max() < 2**31:
        raise ValueError("labels: indices are 0 and up, to 2^31 - 1")
    return np.ascontiguousarray(start, np.int64), np.ascontiguousarray(label, np.int32)


def _lists(rows: Any, n: int) -> Pair:
    if len(rows) != n:
        raise _wrong(n, f"a list of {len(rows)}")
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in rows]
    rows = [[label for label in (row if _is_list(row) else [row]) if not _missing(label)] for row in rows]
    start, found = _starts(np.array([len(row) for row in rows])), _alike([label for row in rows for label in row], "labels")
    if isinstance(found, list):
        return start, np.array(_by_order(found), np.int32)
    _check_whole(found, "labels")
    if found.size and not 0 <= found.min() <= found.max() < 2**31:
        raise ValueError("labels: numbers are 0 to 2^31 - 1; an item whose labels are unknown has an empty list")
    return start, found.astype(np.int32)


def _starts(counts: Any) -> np.ndarray[Any, Any]:
    start = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=start[1:])
    return start


def spec_text(spec: Any) -> str:
    """A sampler as job files have it, from a text or from {"batchsampler": {"M": 500}}."""
    def scalar(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(spec, str):
        return spec
    if not isinstance(spec, dict) or len(spec) != 1:
        raise ValueError('a sampler is a name, a text of YAML, or a dict such as '
                         '{"batchsampler": {"M": 500}}')
    (name, options), = spec.items()
    inner = ", ".join(f"{key}: {scalar(value)}" for key, value in (options or {}).items())
    return f"{{{name}: {{{inner}}}}}"


def checked_text(text: str, name: str) -> str:
    """Refuses a text that C, and all that is written in it, would end early."""
    if "\0" in text:
        raise ValueError(f"{name} {text!r} has a NUL in it, at which C would end the text")
    return text


def checked_texts(value: Any, name: str) -> Any:
    """The same for every text of nested lists and dicts."""
    if isinstance(value, str):
        checked_text(value, name)
    elif isinstance(value, dict):
        for key, one in value.items():
            checked_texts(key, name)
            checked_texts(one, str(key))
    elif isinstance(value, (list, tuple)):
        for one in value:
            checked_texts(one, name)
    return value


def c_text(text: str, name: str) -> bytes:
    """A text as C has it, which ends at its first NUL."""
    return checked_text(text, name).encode()


def path_text(path: Any, name: str) -> str:
    """The text of a path, of what os.PathLike or bytes hold."""
    return checked_text(os.fsdecode(path), name)


def _ids(values: Any) -> np.ndarray[Any, Any]:
    items = isinstance(values, (list, tuple)) and any(getattr(value, "ndim", 0) > 0 for value in values)
    values = np.empty(1, object) if items else array_of(values)
    if values.dtype.kind not in "iu" and values.size:
        raise ValueError("batches: ids are integers, indices into x; a data loader gives items, its batch_sampler ids")
    if values.dtype.kind == "u" and values.size and values.max() >= 2**63:
        raise ValueError(f"batches: {values.max()} is beyond the rows of x")
    ids: np.ndarray[Any, Any] = values.astype(np.int64, order="C", copy=False)
    return ids


def whole(value: Any, name: str, least: int, most: int) -> int:
    """A whole number, also NumPy's."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or not least <= number <= most:
        raise ValueError(f"{name} {value!r}: a whole number from {least} to {most} is wanted")
    return number


def padded(batches: Any) -> np.ndarray[Any, Any]:
    """Lists of ids, or an array that is padded with -1, as int64 [batches, longest]."""
    if hasattr(batches, "detach") or isinstance(batches, np.ndarray) and batches.dtype.kind != "O":
        batches = array_of(batches)
        if batches.ndim != 2:
            raise ValueError(f"batches: ids [batches, batch_size] are wanted, this is {list(batches.shape)}")
        return _ids(batches)
    rows = [_ids(batch) for batch in batches]
    if not rows:
        raise ValueError("no batches")
    for i, row in enumerate(rows):
        if row.ndim != 1 or not row.size:
            raise ValueError(f"batches: batch {i} is {'empty' if row.ndim == 1 else 'no list of ids'}; a data loader "
                             "gives items, its batch_sampler lists of ids")
    out = np.full((len(rows), max(len(row) for row in rows)), -1, np.int64)
    for row, batch in zip(out, rows):
        row[:len(batch)] = batch
    return out


def compressed(edges: Matrix, n: int) -> Pair:
    """Edges [m, 2], or a SciPy matrix, as offsets and targets."""
    if hasattr(edges, "tocsr"):
        edges = edges.tocsr()
        if edges.shape != (n, n):
            raise ValueError(f"edges: a matrix of {n} x {n} is wanted, this is {edges.shape}")
        return _checked(edges, "edges")
    edges = array_of(edges)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError("edges: an array of integers [m, 2] is wanted")
    if edges.size and (edges.min() < 0 or edges.max() >= n):
        raise ValueError(f"edges: ids are 0 to {n - 1}")
    edges = edges.astype(np.int64)[np.argsort(edges[:, 0], kind="stable")]
    return _starts(np.bincount(edges[:, 0], minlength=n)), np.ascontiguousarray(edges[:, 1], np.int32)
