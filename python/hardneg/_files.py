# SPDX-License-Identifier: GPL-3.0-or-later
"""Negatives as files, and tables of results."""
from __future__ import annotations

import importlib
import json
import os
import threading
from typing import Any, Callable, Dict

import numpy as np

from ._arrays import checked_text, path_text


def check_output(path: str, force: bool) -> None:
    """Raises unless a file can be renamed over path. Pipes, devices and folders are never replaced."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise ValueError(f"{path} is not a regular file: give the name of a file; pipes and devices are "
                         "not replaced")
    if os.path.lexists(path) and not force:
        raise FileExistsError(f"{path} is there already: give another name, or force=True to replace it")
    if not os.path.isdir(os.path.dirname(path) or "."):
        raise FileNotFoundError(f"{path}: there is no folder {os.path.dirname(path)}")


def write_file(path: str, put: Callable[[Any], None]) -> None:
    """Writes the whole file, by put(file), or nothing."""
    temporary = f"{path}.tmp-{os.getpid()}-{threading.get_ident()}"
    try:
        with open(temporary, "wb") as file:
            put(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.remove(temporary)
        raise


def write_negatives(path: str, ids: np.ndarray[Any, Any], scores: np.ndarray[Any, Any]) -> None:
    """Negatives of items, a line each, or their ids as .npy."""
    def put(file: Any) -> None:
        if path.endswith(".npy"):
            np.save(file, ids)
            return
        for i, (row, score) in enumerate(zip(ids, scores)):
            known = row >= 0
            line = {"anchor": i, "negatives": row[known].tolist(), "scores": [round(float(s), 7) for s in score[known]]}
            file.write((json.dumps(line) + "\n").encode())
    write_file(path, put)


def read(results: Any, table: str = "runs", frame: bool = False) -> Any:
    """A table of a results file (or of the folder of a run) as NumPy columns by name; frame: as a
    pandas DataFrame. Needs h5py."""
    h5py: Any = importlib.import_module("h5py")
    results, table = path_text(results, "results"), checked_text(table, "table")
    if os.path.isdir(results):
        results = os.path.join(results, "results.h5")
    with h5py.File(results, "r") as file:
        path = table if table in file else f"tables/{table}"
        if path not in file:
            names = [n for n in file if isinstance(file[n], h5py.Group) and n not in ("tables", "env")]
            names += list(file.get("tables", ()))
            raise ValueError(f"{results}: no table {table!r}; there are {', '.join(names)}" if names else
                             f"{results}: is not a results file")
        found = {name: column.asstr()[()] if column.dtype.kind == "O" else column[()]
                 for name, column in file[path].items() if isinstance(column, h5py.Dataset)}
    if not frame:
        return found
    pandas: Any = importlib.import_module("pandas")
    return pandas.DataFrame(found)
