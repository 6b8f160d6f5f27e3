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
raises("a key of no job", ValueError, "unknown key", lambda: hardneg.compare(x, y, batch_size=16, temprature=1))
raises("ids out of range", ValueError, "batch 0, position 0: item 300", lambda: hardneg.compare(
    x, y, [{"bad": lambda *_: [[300] * 16]}], batch_size=16, seeds=1))
raises("a name that is taken", ValueError, "is a sampler of hardneg", lambda: hardneg.compare(x, y, [{"knn": farthest_first}], batch_size=16, seeds=1))
raises("steps", ValueError, "steps", lambda: hardneg.compare([x, x], y, batch_size=16, steps=[1]))
raises("labels", ValueError, "labels", lambda: hardneg.compare(x, y[:5], batch_size=16))
raises("a function that fails", ZeroDivisionError, "division", lambda: hardneg.compare(x, y, [{"bad": lambda *_: 1 / 0}], batch_size=16))
os.environ["HARDNEG_PROGRAM"] = "/no/such"
raises("no program", FileNotFoundError, "HARDNEG_PROGRAM", lambda: hardneg.compare(x, y, batch_size=16))
print(f"python_compare: {passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
