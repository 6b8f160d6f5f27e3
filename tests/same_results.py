#!/usr/bin/env python3
"""Whether two results files hold the same results: `same_results.py A B`. Everything is compared bit
for bit but what measures time or memory (cost columns, /timing) and what describes the run (/env, when
and with which command line). Prints the first differences; exit status 1 if there are any."""
import sys

import h5py

MEASURED = {"cost_s", "cost_g", "cost_g_over_t", "share_of_limit", "peak_rss"}
PROVENANCE = {"created", "argv"}
SKIPPED = ("env", "timing")


def value_bytes(value):
    """A value as something whose equality is equality of bits (NaN equals itself)."""
    if hasattr(value, "dtype") and value.dtype.kind not in "OSU":
        return str(value.dtype), value.shape, value.tobytes()
    return repr(value.tolist() if hasattr(value, "tolist") else value)


def attributes(item, skip):
    """Attributes by name, without the references that tie data sets to dimension scales."""
    found = {}
    for name in item.attrs:
        # Files of earlier versions have no roles: compare's own tests look at these.
        if name in skip or name in ("DIMENSION_LIST", "REFERENCE_LIST", "role"):
            continue
        found[name] = value_bytes(item.attrs[name])
    return found


def contents(path):
    """Every object of the file: name -> (kind, attributes, values)."""
    found = {}
    with h5py.File(path, "r") as file:
        found["/"] = ("group", attributes(file, PROVENANCE), sorted(file.keys()))

        def visit(name, item):
            if name.split("/")[0] in SKIPPED or name.split("/")[-1] in MEASURED:
                return
            if isinstance(item, h5py.Dataset):
                found[name] = ("data set", attributes(item, ()), value_bytes(item[()]))
            else:
                found[name] = ("group", attributes(item, ()), list(item.keys()))

        file.visititems(visit)
    return found


def main():
    a, b = contents(sys.argv[1]), contents(sys.argv[2])
    differing = [name for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]
    for name in differing[:10]:
        left, right = a.get(name), b.get(name)
        what = "missing in one file" if left is None or right is None else (
            "attributes differ" if left[1] != right[1] else "values differ")
        print(f"{name}: {what}", file=sys.stderr)
    if "runs" not in a:
        print("no /runs: nothing was compared", file=sys.stderr)
        return 1
    return 1 if differing else 0


sys.exit(main())
