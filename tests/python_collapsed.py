# SPDX-License-Identifier: GPL-3.0-or-later
"""Every sampler on embeddings that have collapsed, with kernels of several processors: `tests/python_collapsed.py PROGRAM`.
Ends as every suite does."""
import os
import subprocess
import sys
import unittest

from python_data import run_tests

# LAPACK's first way fails on some of these sets with AVX2 kernels, of one thread.
CODE = """if True:
    import numpy as np, hardneg
    N = 120
    collapsed = {"antipodes": np.repeat([[1.0] * 4, [-1.0] * 4], 60, 0), "two": np.repeat(np.eye(2, 8), 60, 0),
                 "three": np.repeat(np.eye(3, 8), 40, 0), "one": np.ones((N, 4)), "line": np.repeat([[1.0], [-1.0]], 60, 0),
                 "opposite": np.repeat(np.r_[np.eye(3), -np.eye(3)], 20, 0)}
    specs = ["{spectral: {clusters: 4, kept: 4}}", "{osgd: {drawn: 30, kept: 7}}", "{mosaic: {group: 3}}"] + [
        name for name, sampler in hardneg.samplers().items() if not sampler.per_anchor and name not in ("osgd", "jest", "spectral")]
    for name, x in collapsed.items():
        for spec in specs:
            for seed in (1, 26) if "spectral" in spec else (1,):
                parts = {"groups": np.arange(N) % 3} if spec == "grit" else {}
                sampler = hardneg.BatchSampler(x, spec, 16, seed=seed, threads=1, view2=x, **parts)
                for epoch in range(2):
                    batches = list(sampler)
                    assert batches and all(0 < len(ids) <= 16 and 0 <= min(ids) <= max(ids) < N for ids in batches), (name, spec)
        mined = hardneg.mine(x, "{mined: {n: 5}}", threads=1).ids
        assert mined.shape == (N, 5) and mined.max() < N, name
    print("all")
"""


class Collapsed(unittest.TestCase):
    def test_kernels(self):
        for core in ("Haswell", "SkylakeX", "Sandybridge"):  # where the processor lacks one, OpenBLAS takes another
            with self.subTest(core=core):
                done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False, timeout=600,
                                      env={**os.environ, "PYTHONPATH": sys.path[0], "OPENBLAS_CORETYPE": core, "OMP_NUM_THREADS": "1"})
                self.assertEqual(done.stdout, "all\n", done.stderr)


run_tests("python, collapsed", sys.modules[__name__])
