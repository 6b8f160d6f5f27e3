# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens a results file with h5py, as a user would, and checks it against the schema
`hardneg-results` version 1. Exit status 0: as it should be; 1: not; 77: there is no h5py.
Usage: h5py_results.py RESULTS"""
import sys

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

KINDS = ["positive", "true_negative", "false_negative", "unlabelled"]
AT_ROOT = {"env", "runs", "hist", "batch", "order", "timing", "snapshots", "training", "tables"}


def check(truth, what):
    if not truth:
        sys.exit(f"{sys.argv[1]}: {what}")


def is_text(attribute):
    """A scalar, variable-length UTF-8 string attribute reads as str."""
    return isinstance(attribute, str)


def check_attributes(f):
    check(f.attrs["schema"] == "hardneg-results", "schema")
    check(f.attrs["schema_version"] == 1, "schema_version")
    for name, value in f.attrs.items():
        check(name == "schema_version" or is_text(value), f"attribute {name}")
    for name, value in f["env"].attrs.items():
        number = name.startswith("n_") or name.endswith(("_gflops", "_gbs", "_bytes"))
        check(is_text(value) or isinstance(value, (np.int64, np.float64)), f"env {name}")
        check(not number or not is_text(value), f"env {name} is no number")


def check_array(d):
    """What every dataset has: a description, built-in filters, a scale on every axis."""
    for name in ("units", "long_name", "direction"):
        check(is_text(d.attrs[name]), f"{d.name}: attribute {name}")
    check(d.attrs["direction"] in ("smaller", "larger", "none"), f"{d.name}: direction")
    check(d.compression in (None, "gzip"), f"{d.name}: filter")
    if h5py.h5ds.is_scale(d.id):
        return
    for axis, dim in enumerate(d.dims):
        check(len(dim) == 1 and len(dim[0]) == d.shape[axis], f"{d.name}: scale of axis {axis}")


def check_table(g):
    created = g.id.get_create_plist().get_link_creation_order()
    check(created & h5py.h5p.CRT_ORDER_TRACKED, f"{g.name}: creation order")
    rows = len(g["row"])
    check(list(g["row"]) == list(range(rows)), f"{g.name}/row")
    for name, d in g.items():
        check(d.shape == (rows,), f"{d.name}: shape")
        text = h5py.check_string_dtype(d.dtype)
        if text:
            check(text.encoding == "utf-8", f"{d.name}: text")
            check(text.length is None or rows * 16 >= 16384, f"{d.name}: of one length in a small table")
            check(all(isinstance(v, str) for v in d.asstr()[()]), f"{d.name}: values")
        else:
            check(d.dtype in (np.dtype("<i8"), np.dtype("<f8")), f"{d.name}: {d.dtype}")
        check(name == "row" or d.dims[0][0] == g["row"], f"{d.name}: scale")
    return rows


def check_histogram(f, rows):
    counts, edges = f["hist/counts"], f["hist/bin_edge"][()]
    check(counts.dtype == np.uint64 and counts.shape == (rows, 4, len(edges) - 1), "hist/counts")
    check(np.all(np.diff(edges) > 0), "hist/bin_edge")
    check(list(f["hist/kind"].asstr()[()]) == KINDS, "hist/kind")
    check(np.allclose(f["hist/bin"], (edges[1:] + edges[:-1]) / 2), "hist/bin")
    check([d[0].name for d in counts.dims] == ["/runs/row", "/hist/kind", "/hist/bin"],
          "scales of hist/counts")


def check_batches(f, rows):
    splits = f["batch/row_splits"][()]
    check(splits.shape == (rows + 1,) and splits[0] == 0 and np.all(np.diff(splits) >= 0),
          "batch/row_splits")
    for name in ("fn_ratio", "cos_mean", "batch"):
        check(f["batch"][name].shape == (splits[-1],), f"batch/{name}")


def check_timing(f, rows):
    check_table(f["timing"])
    run = f["timing/run"][()]
    check(np.all((run >= 0) & (run < rows)), "timing/run")


def check_file(f):
    check_attributes(f)
    check(set(f) <= AT_ROOT, f"groups {sorted(set(f) - AT_ROOT)}")
    f.visititems(lambda _, o: check_array(o) if isinstance(o, h5py.Dataset) else None)
    rows = check_table(f["runs"])
    if "hist" in f:
        check_histogram(f, rows)
    if "batch" in f:
        check_batches(f, rows)
    if "timing" in f:
        check_timing(f, rows)
    for name in ("snapshots", "training"):
        if name in f:
            check_table(f[name])
    for table in f.get("tables", {}).values():
        check_table(table)


with h5py.File(sys.argv[1], "r") as results:
    check_file(results)
