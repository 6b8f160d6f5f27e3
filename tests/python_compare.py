# SPDX-License-Identifier: GPL-3.0-or-later
"""compare() and record() against NumPy and the program, and wrong arguments: `tests/python_compare.py PROGRAM`."""
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "python")]
os.environ["HARDNEG_PROGRAM"] = sys.argv[1]
import hardneg
from farthest_first import farthest_first, measures

passed = failed = 0


def check(name, condition):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print(f"  FAILED {name}")


def raises(name, kind, part, call):
    try:
        call()
        check(f"{name}: nothing raised", False)
    except kind as error:
        check(f"{name}: {error}", part in str(error))


rng = np.random.default_rng(5)
y = np.repeat(np.arange(6), 50)
x = rng.normal(size=(300, 8)) + 1.5 * rng.normal(size=(6, 8))[y]
unit = (x.astype("f4").astype("f8") / np.linalg.norm(x.astype("f4").astype("f8"), axis=1, keepdims=True)).astype("f4")
seen = []


def mine(rows, batch_size, seed, epoch):
    seen.append((rows.shape, str(rows.dtype), batch_size, seed, epoch))
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    return farthest_first(rows, batch_size, seed, epoch)


own = tempfile.TemporaryDirectory()
os.environ["TMPDIR"] = tempfile.tempdir = own.name
r = hardneg.compare(x, y, ["uniform", "knn", {"mine": mine}, {"mined": {"n": 3}}], batch_size=16, seeds=3,
                    metrics=["fn_ratio", "hardness", "true_hardness"])
rows = {name: i for i, name in enumerate(r.settings["sampler"])}
found = [measures(unit, y, farthest_first(unit, 16, seed)) for seed in (1, 2, 3)]
check("false negatives are NumPy's", abs(r.settings["fn_ratio"][rows["mine"]] - np.mean([f for f, _ in found])) < 1e-15)
check("cosines are NumPy's", abs(r.settings["cos_mean"][rows["mine"]] - np.mean([c for _, c in found])) < 1e-9)
check("the difference is paired", abs(r.settings["fn_ratio_minus_uniform"][rows["mine"]]
                                      - (r.settings["fn_ratio"][rows["mine"]] - r.settings["fn_ratio"][rows["uniform"]])) < 1e-12)
check("an interval over seeds", r.settings["fn_ratio_lo"][rows["mine"]] < r.settings["fn_ratio"][rows["mine"]])
check("the function's arguments", seen == [((300, 8), "float32", 16, seed, 0) for seed in (1, 2, 3)])
check("its costs are not known", np.isnan(r.settings["cost_g"][rows["mine"]]))
check("the answer", "Uniform" in r.answer and "<" not in r.answer and "\n" in r.answer and "pareto" not in r.answer
      and "\n+2  " in r.answer and len(r.answer) < 4000)
check("tables", "mine" in repr(r) and r._repr_html_().startswith("<table>") and "<th>mine</th>" in r._repr_html_())
with tempfile.TemporaryDirectory() as folder:
    page, saved = os.path.join(folder, "page.html"), os.path.join(folder, "saved")
    r.report(page)
    check("the page", "mine" in open(page, encoding="utf-8").read())
    r.save(saved)
    check("what is saved is the program's", subprocess.run([os.environ["HARDNEG_PROGRAM"], "report", f"{saved}/results", "-q"]).returncode == 0)
    raises("saved twice", FileExistsError, "", lambda: r.save(saved))
    loader, path = farthest_first(unit, 16, 1), os.path.join(folder, "seen-1.jsonl")
    recorder = hardneg.record(path, loader)
    check("record passes through", list(recorder) == loader and len(recorder) == 19)
    check("record writes", [list(map(int, line.strip("[]\n").split(","))) for line in open(path)] == loader)
    list(recorder)
    check("record adds an epoch", len(open(path).readlines()) == 38)
    again = iter(hardneg.record(path, loader))
    next(again)
    again.close()
    check("record leaves an unfinished epoch out", len(open(path).readlines()) == 38)
del r

series = hardneg.compare([x, x + 1], y, ["uniform", {"mine": farthest_first}], batch_size=[16, 32], seeds=[3, 5], steps=[0, 10], epochs=2,
                         view2=[x, x + 1.1], metrics=["fn_ratio", "gap"])
check("a series", sorted(set(series.settings["step"])) == [0, 10] and len(series.settings["step"]) == 8)
lines = repr(series).splitlines()
check("its table says which row is which", lines[0].split()[:4] == ["Sampler", "Step", "Batch", "size"]
      and sorted(tuple(line.split()[:3]) for line in lines[1:]) == sorted((s, t, b) for s in ("uniform", "mine") for t in ("0", "10") for b in ("16", "32")))
check("views", np.isfinite(series.settings["gap"][0]))
del series
check("no folder is left", os.listdir(own.name) == [])
holed = x.copy()
holed[3] = 0
raises("a row of zeros", ValueError, 'x: row 3 is all zeros, so that cosine is undefined: mend it, leave it out, or give zero_rows="keep"',
       lambda: hardneg.compare(holed, y, ["uniform"], batch_size=30, seeds=1))
raises("a batch that is too large", ValueError, "batch_size 301 exceeds the 300 items", lambda: hardneg.compare(x, y, batch_size=[30, 301]))
raises("zero_rows", ValueError, "zero_rows 'skip': 'refuse' or 'keep'", lambda: hardneg.compare(holed, y, zero_rows="skip"))
zero = []
kept = hardneg.compare(holed, y, ["uniform", {"again": lambda rows, size, seed, epoch: zero.append(rows[3]) or np.arange(300).reshape(-1, size)}],
                       batch_size=30, seeds=1, zero_rows="keep", metrics=["hardness"])
check("a row of zeros is kept", len(zero) == 1 and not zero[0].any() and np.isfinite(kept.settings["cos_mean"]).all())

raises("a key of no job", ValueError, "unknown key", lambda: hardneg.compare(x, y, batch_size=16, temprature=1))
raises("ids out of range", ValueError, "batch 0, position 0: item 300", lambda: hardneg.compare(
    x, y, [{"bad": lambda *_: [[300] * 16]}], batch_size=16, seeds=1))
raises("a name that is taken", ValueError, "is a sampler of hardneg", lambda: hardneg.compare(x, y, [{"knn": farthest_first}], batch_size=16, seeds=1))
try:
    hardneg.compare(x, y, ["knnn"], batch_size=16)
except ValueError as error:
    check(f"no job file is named that nobody wrote: {error}", str(error).startswith("unknown sampler 'knnn'"))
for what, message, batches in (("batches too short", "mine(x, 16, 1, 0): its batches hold up to 3 items", [[0, 1, 2]]), ("no ids", "ids are integers", np.arange(304.).reshape(-1, 16)),
                               ("no batches", "lists of places in x", None), ("one batch", "lists of places in x", list(range(16))), ("an item twice", "item 0 twice", [[0] * 16])):
    raises(what, ValueError, message, lambda batches=batches: hardneg.compare(x, y, [{"mine": lambda *_: batches}], batch_size=16, seeds=1))
check("options of one's own sampler", hardneg.compare(x, y, [{"mine": lambda *_: [[0] * 8 + list(range(8))], "repeats": True}], batch_size=16, seeds=1, metrics=["fn_ratio"]).settings["sampler"][0] == "mine")
for what, message, row in (("a zero row", "x: row 299 is all zeros", 0), ("a NaN", "x: row 299 holds numbers that are not finite", np.nan)):
    raises(what, ValueError, message, lambda row=row: hardneg.compare(np.vstack([x[:-1], row * x[:1]]), y, batch_size=16))
raises("no rows", ValueError, "x holds no rows", lambda: hardneg.compare(x[:0], y[:0], batch_size=16))
ratios = [hardneg.compare(x, labels, ["uniform", "knn"], batch_size=16, seeds=2, batches=7, metrics=["fn_ratio"]).settings["fn_ratio"]
          for labels in (y, y[:, None] == np.arange(y.max() + 1), [[i] for i in y.tolist()])]
check("several labels an item, and batches instead of epochs", all(np.array_equal(ratios[0], other) for other in ratios[1:]))
raises("steps", ValueError, "steps", lambda: hardneg.compare([x, x], y, batch_size=16, steps=[1]))
raises("labels", ValueError, "labels", lambda: hardneg.compare(x, y[:5], batch_size=16))
raises("a function that fails", ZeroDivisionError, "division", lambda: hardneg.compare(x, y, [{"bad": lambda *_: 1 / 0}], batch_size=16))
os.environ["HARDNEG_PROGRAM"] = "/no/such"
raises("no program", FileNotFoundError, "HARDNEG_PROGRAM", lambda: hardneg.compare(x, y, batch_size=16))
print(f"python_compare: {passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
