# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the Python module share: items, and what the program makes of them."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import numpy as np  # noqa: E402
import hardneg  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
N, D, B, CLASSES = 1500, 24, 100, 7
SAMPLERS = ["uniform", "knn", "{batchsampler: {M: 200, K: 40, alpha: 0.3}}", {"gcbs": {"quantile": 0.99}},
            {"stratified": {}}, "hard-negative"]
rng = np.random.default_rng(5)
LABELS = rng.integers(0, CLASSES, N).astype(np.int32)
LABELS[::50] = -1
X = (rng.standard_normal((CLASSES, D))[LABELS] + rng.standard_normal((N, D))).astype(np.float32)
VIEW2 = (X + 0.3 * rng.standard_normal((N, D))).astype(np.float32)
TEACHER = (X[:, :9] + rng.standard_normal((N, 9))).astype(np.float32)
GROUPS = rng.integers(0, 3, N).astype(np.int32)
work = tempfile.mkdtemp(prefix="hardneg-python-")


def program(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=work)
    assert done.returncode == code, done.stderr
    return done


def snapshot():
    path = os.path.join(work, "s.h5")
    if not os.path.exists(path):
        for name, array in (("x", X), ("v", VIEW2), ("l", LABELS), ("t", TEACHER), ("g", GROUPS)):
            np.save(os.path.join(work, name + ".npy"), array)
        program("import", "-e", "x.npy", "-l", "l.npy", "--view2", "v.npy", "--teacher", "t.npy", "--group", "g.npy", "-s", "0",
                "-o", path, "--quiet")
    return path


def run_of(samplers, seeds=(1,), **job):
    """The rows of `hardneg run`."""
    folder = os.path.join(work, f"run{len(os.listdir(work))}")
    text = {"version": 1, "snapshots": snapshot(), "samplers": samplers, "seeds": list(seeds), "batch_size": B,
            "temperature": 0.5, "metrics": "all", **job}
    with open(folder + ".yaml", "w", encoding="utf-8") as file:
        json.dump(text, file)  # which is YAML
    program("run", "-c", folder + ".yaml", "-o", folder, "--quiet")
    return hardneg.read(folder)


def run_file():
    """A results file, of any run."""
    run_of(["uniform"], epochs=1)
    return max((os.path.join(work, name, "results.h5") for name in os.listdir(work)
                if os.path.exists(os.path.join(work, name, "results.h5"))), key=os.path.getmtime)


def as_job(spec):
    if isinstance(spec, dict):
        return spec
    if spec.startswith("{"):
        name, _, options = spec[1:-1].partition(":")
        return {name: {k.strip(): float(v) if "." in v else int(v) for k, v in
                       (pair.split(":") for pair in options.strip()[1:-1].split(","))}}
    return spec


def same(test, row, measured, i):
    compared = 0
    for name, value in measured.items():
        if name in row:
            compared += 1
            test.assertTrue(value == row[name][i] or (np.isnan(value) and np.isnan(row[name][i])),
                            f"{name}: {value!r} against {row[name][i]!r}")
    test.assertGreater(compared, 20)


def shared(labels):
    """[n, n]: whether two items share a label; and which items have any."""
    rows = [set(row) for row in labels]
    return np.array([[bool(a & b) for b in rows] for a in rows]), np.array([bool(row) for row in rows])


class Quiet(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        Quiet.passed += 1

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"    skipped: {test}: {reason}")


def run_tests(name, module):
    """Ends the process as every suite does."""
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0, resultclass=Quiet).run(
        unittest.defaultTestLoader.loadTestsFromModule(module))
    bad = len(result.failures) + len(result.errors)
    shutil.rmtree(work)
    print(f"{name}: {Quiet.passed} passed, {bad} failed, {len(result.skipped)} skipped")
    sys.exit(bad > 0)
