#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether two results files hold the same results, of samplers, studies and trainings: `same_results.py A B`.
Everything is compared bit for bit but what measures time, memory or the machine and what describes the run
(/env, /timing, when and with which command line). Which columns those are, their role says; files from before
roles are read by units. Prints the first differences, with key and values of the first row that differs; exit
status 1 if there are any."""
import sys

import h5py
import numpy as np

PROVENANCE = {"created", "argv"}
SKIPPED = ("env", "timing")
NOT_COMPARED = {"time", "machine", "derived"}  # roles
MEASURED_UNITS = {"s", "ns", "GFLOP/s"}
# Without roles, in files of before: measured, though their units do not say so.
MEASURED = {"peak_rss", "share_of_limit", "share_of_floor", "share_s", "share_g", "share_e", "threads", "beside"}
LABELS = ("cell_key", "run", "study_row", "dataset", "sampler", "params", "task", "step", "seed", "row")


def text_of(item, name):
    value = item.attrs.get(name, "")
    return value.decode() if isinstance(value, bytes) else str(value)


def is_measured(name, columns):
    """Whether a column is left out: columns are those of this name in the files that have it."""
    roles = {text_of(c, "role") for c in columns} - {""}
    if roles:
        return bool(roles & NOT_COMPARED)
    return name in MEASURED or any(text_of(c, "units") in MEASURED_UNITS for c in columns)


def bits(value):
    """A value as something whose equality is equality of bits (NaN equals itself)."""
    if hasattr(value, "dtype") and value.dtype.kind not in "OSU":
        return str(value.dtype), value.shape, value.tobytes()
    return repr(value.tolist() if hasattr(value, "tolist") else value)


def attributes(item, skip=frozenset(("DIMENSION_LIST", "REFERENCE_LIST", "role"))):
    return {name: bits(item.attrs[name]) for name in item.attrs if name not in skip}


def objects(file):
    """Names of the groups and data sets that are compared."""
    names = []
    file.visit(names.append)
    return {name for name in names if name.split("/")[0] not in SKIPPED}


def key_of(dataset, row):
    """What names a row: the columns beside this one."""
    table = dataset.parent
    found = []
    for label in LABELS:
        if label in table and table[label].shape and row < len(table[label]):
            value = table[label][row]
            value = value.decode() if isinstance(value, bytes) else value
            found.append(f"{label} {str(value)[:16] if label == 'cell_key' else value}")
    return ", ".join(found) or f"row {row}"


def first_difference(a, b):
    """In words: where two data sets differ first."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype} {a.shape}, not {b.dtype} {b.shape}"
    if not a.shape:
        return f"{a[()]!r}, not {b[()]!r}"
    x, y = a[()], b[()]
    rows = (i for i in range(len(x)) if bits(np.asarray(x[i])) != bits(np.asarray(y[i])))
    row = next(rows)
    more = sum(1 for _ in rows)
    left, right = np.asarray(x[row]), np.asarray(y[row])
    if left.shape:
        places = [i for i in np.ndindex(left.shape) if bits(np.asarray(left[i])) != bits(np.asarray(right[i]))]
        left, right = left[places[0]], right[places[0]]
    return f"{left!r}, not {right!r}, at {key_of(a, row)}" + (f"; and {more} further rows" if more else "")


def difference(name, a, b):
    """In words, or None."""
    if name not in a or name not in b:
        return "is in one file only"
    left, right = a[name], b[name]
    if isinstance(left, h5py.Dataset) != isinstance(right, h5py.Dataset):
        return "is a group in one file and a data set in the other"
    if attributes(left) != attributes(right):
        return "has other attributes"
    if isinstance(left, h5py.Dataset):
        return None if bits(left[()]) == bits(right[()]) else first_difference(left, right)
    return None if list(left) == list(right) else "has its members in another order"


def main():
    with h5py.File(sys.argv[1], "r") as a, h5py.File(sys.argv[2], "r") as b:
        found, compared = [], 0
        if attributes(a, PROVENANCE) != attributes(b, PROVENANCE):
            found.append("/: has other attributes")
        for name in sorted(objects(a) | objects(b)):
            columns = [f[name] for f in (a, b) if name in f and isinstance(f[name], h5py.Dataset)]
            if columns and is_measured(name.split("/")[-1], columns):
                continue
            compared += 1
            what = difference(name, a, b)
            if what:
                found.append(f"{name}: {what}")
        for line in found[:10]:
            print(line, file=sys.stderr)
        if len(found) > 10:
            print(f"and {len(found) - 10} more", file=sys.stderr)
        if "runs" not in a:
            print("no /runs: nothing was compared", file=sys.stderr)
        return 1 if found or "runs" not in a or compared < 2 else 0


sys.exit(main())
