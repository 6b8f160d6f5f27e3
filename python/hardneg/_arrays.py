"""What a caller has at hand, as the C arrays that the library takes."""
from __future__ import annotations

import operator
import re
from typing import Any, Optional, Tuple

import numpy as np

Array = Any  # an array of NumPy, a tensor of any device, a memory map, lists
Matrix = Any  # the same, or a SciPy matrix


def _array(values: Array) -> np.ndarray[Any, Any]:
    """A NumPy array, of a tensor too: on any device, with a gradient, of a type that NumPy lacks."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        narrow = values.is_floating_point() and values.element_size() < 8
        values = (values.float() if narrow else values).numpy()
    values = np.asarray(values)
    if values.dtype.kind == "V" and values.dtype.itemsize == 2 and not values.dtype.names:  # bfloat16, saved by NumPy
        return (np.ascontiguousarray(values).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return values


def floats(array: Array, name: str, columns: Optional[int] = None) -> np.ndarray[Any, Any]:
    """A C array of float32 [n, d], copied only if it has to be."""
    if hasattr(array, "set_epoch") or type(array).__name__.endswith("Sampler"):
        raise ValueError(f"{name} is a {type(array).__name__}: a trainer is about to put a sampler of its own in "
                         "place of this one. With Lightning set Trainer(use_distributed_sampler=False)")
    given = type(array).__name__
    array = _array(array)
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise ValueError(f"{name}: an array of numbers [n, d] is wanted, this is "
                         f"{f'{array.dtype}{list(array.shape)}' if array.ndim else given}")
    if columns is not None and array.shape[1] != columns:
        raise ValueError(f"{name}: {array.shape[1]} columns, x has {columns}")
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
    rows: np.ndarray[Any, Any] = array[used] if hasattr(array, "detach") or isinstance(array, np.ndarray) else _array(array)[used]
    return rows


def numbers(labels: Array, n: int, name: str = "labels") -> np.ndarray[Any, Any]:
    """Labels as int32, -1 for None, NaN and negative ones; other texts and numbers by their order."""
    labels = _array(labels)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (n,):
        raise ValueError(f"{name}: one for each of {n} items is wanted, this is {list(labels.shape)}")
    labels = _classes(labels, name)
    if labels.dtype.kind in "iu":
        known = labels >= 0 if labels.dtype.kind == "i" else np.ones(n, bool)
        if labels.max(initial=0) < 2**31 - 1:
            return np.where(known, labels, -1).astype(np.int32)
    elif labels.dtype.kind == "f":
        known = labels >= 0
    else:
        known = np.array([not _missing(label) for label in labels.tolist()])
    out = np.full(n, -1, np.int32)
    out[known] = _numbered(labels[known])
    return out


def _missing(label: Any) -> bool:
    return bool(label is None or label != label or (isinstance(label, (str, bytes)) and not label))  # None, NaN, ""


def _classes(labels: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """As `import` reads them: numbers where every text is its number's own decimal form, or empty; whole floats."""
    if labels.dtype.kind in "USO":
        texts = [text.decode() if isinstance(text, bytes) else text for text in labels.tolist()]
        known = [text for text in texts if not _missing(text)]
        if not known or not all(isinstance(text, str) and re.fullmatch("0|-?[1-9][0-9]*", text) for text in known):
            return labels
        values = [int(text) for text in known]
        if min(values) < -2**63 or max(values) >= 2**63:
            return labels
        labels = np.array([-1 if _missing(text) else int(text) for text in texts], np.int64)
    if labels.dtype.kind == "f":
        whole = np.isnan(labels) | ((labels == np.floor(labels)) & (np.abs(labels) < 2.0**63))
        if not whole.all():
            raise ValueError(f"{name}: {labels[np.argmin(whole)]} of item {np.argmin(whole)} is not a whole number; labels "
                             "are classes, integers or texts: sort measured values into some")
    below = np.flatnonzero(labels < -1) if labels.dtype.kind in "if" else np.empty(0, np.int64)
    if len(below) and np.nanmax(labels) > 2**31 - 1:
        raise ValueError(f"{name}: {labels[below[0]]} of item {below[0]} is below 0, as labels that are none, and others go "
                         "beyond 2^31 - 1, as hashes do: make hashes unsigned integers or texts")
    return labels


def _numbered(values: Any) -> Any:
    values = values.astype(str) if values.dtype.kind == "O" else values
    return np.unique(values, return_inverse=True)[1]


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset)) or getattr(value, "ndim", 0) == 1


def several(labels: Matrix, n: int) -> Optional[Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Several labels an item as (start, label), in any of four shapes: lists of labels, a matrix of truth
    values [n, classes], a SciPy matrix, or a tuple (indptr, indices). None: one label an item at most."""
    if hasattr(labels, "tocsr"):
        return _matrix(labels.tocsr(), n)
    if isinstance(labels, tuple) and len(labels) == 2 and all(np.ndim(part) == 1 for part in labels):
        return _compressed(labels[0], labels[1], n)
    shape = getattr(labels, "shape", None)
    if shape is not None and len(shape) == 2:
        # A column is one label an item, unless it holds truth values.
        column = shape[1] == 1 and _array(labels).dtype.kind != "b"
        return None if column else _truth(_array(labels), n)
    rows = list(labels) if shape is None or _array(labels).dtype.kind == "O" else ()
    if not any(_is_list(row) for row in rows):
        return None
    return _lists(rows, n)


def _wrong(n: int, shape: Any) -> ValueError:
    return ValueError(f"labels: one or several for each of {n} items are wanted, this is {shape}")


def _checked(matrix: Any, name: str) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Offsets and columns of a compressed matrix, which SciPy lets anyone change."""
    start, column = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    if (len(start) != matrix.shape[0] + 1 or start[0] != 0 or (start[1:] < start[:-1]).any() or start[-1] > len(column)
            or (column < 0).any() or (column >= matrix.shape[1]).any() or column.max(initial=0) >= 2**31):
        raise ValueError(f"{name}: indptr and indices of the matrix do not fit each other or its shape "
                         f"{tuple(matrix.shape)}: matrix.check_format() finds where")
    return start.astype(np.int64), column[:start[-1]].astype(np.int32)


def _matrix(matrix: Any, n: int) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if matrix.shape[0] != n:
        raise _wrong(n, list(matrix.shape))
    _checked(matrix, "labels")
    matrix = matrix.copy()
    matrix.eliminate_zeros()
    return _checked(matrix, "labels")


def _truth(matrix: Any, n: int) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if matrix.shape[0] != n or not np.isin(matrix, (0, 1)).all():
        raise ValueError(f"labels: a matrix holds truth values [{n}, classes], this is "
                         f"{matrix.dtype}{list(matrix.shape)}; lists of labels may be of any length")
    item, label = np.nonzero(matrix)
    return _starts(np.bincount(item, minlength=n)), label.astype(np.int32)


def _compressed(start: Any, label: Any, n: int) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    start, label = _array(start), _array(label)
    if start.dtype.kind not in "iu" or label.dtype.kind not in "iu" or len(start) != n + 1 or start[-1] != len(label):
        raise ValueError(f"labels: (indptr, indices) are integers, {n + 1} and as many as the last of these; "
                         f"these are {start.dtype}{list(start.shape)} and {label.dtype}{list(label.shape)}")
    if label.size and not 0 <= label.min() <= label.max() < 2**31:
        raise ValueError("labels: indices are 0 and up, to 2^31 - 1")
    return np.ascontiguousarray(start, np.int64), np.ascontiguousarray(label, np.int32)


def _lists(rows: Any, n: int) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    if len(rows) != n:
        raise _wrong(n, f"a list of {len(rows)}")
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in rows]
    rows = [[] if not _is_list(row) and _missing(row) else list(row) if _is_list(row) else [row] for row in rows]
    start = _starts(np.array([len(row) for row in rows]))
    labels = [label for row in rows for label in row]
    if all(isinstance(label, (int, np.integer)) for label in labels):
        label = np.array(labels, dtype=object)
        if all(0 <= value < 2**31 for value in label):
            return start, label.astype(np.int32)
        raise ValueError("labels: numbers are 0 to 2^31 - 1; an item whose labels are unknown has an empty list")
    return start, _numbered(np.array([str(label) for label in labels])).astype(np.int32)


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


def _ids(values: Any) -> np.ndarray[Any, Any]:
    items = isinstance(values, (list, tuple)) and any(getattr(value, "ndim", 0) > 0 for value in values)
    values = np.empty(1, object) if items else _array(values)
    if values.dtype.kind not in "iu" and values.size:
        raise ValueError("batches: ids are integers, places in x; a data loader gives items, its batch_sampler ids")
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
        batches = _array(batches)
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


def compressed(edges: Matrix, n: int) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Edges [m, 2], or a SciPy matrix, as offsets and targets."""
    if hasattr(edges, "tocsr"):
        edges = edges.tocsr()
        if edges.shape != (n, n):
            raise ValueError(f"edges: a matrix of {n} x {n} is wanted, this is {edges.shape}")
        return _checked(edges, "edges")
    edges = _array(edges)
    if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
        raise ValueError("edges: an array of integers [m, 2] is wanted")
    if edges.size and (edges.min() < 0 or edges.max() >= n):
        raise ValueError(f"edges: ids are 0 to {n - 1}")
    edges = edges.astype(np.int64)[np.argsort(edges[:, 0], kind="stable")]
    return _starts(np.bincount(edges[:, 0], minlength=n)), np.ascontiguousarray(edges[:, 1], np.int32)
