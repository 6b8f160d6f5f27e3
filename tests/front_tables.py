# SPDX-License-Identifier: GPL-3.0-or-later
"""The arithmetic of harness/reproduce/front.py on made-up settings: called by tests/reproduce.sh."""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness", "reproduce"))
import front  # noqa: E402


def row(hardness, false):
    return np.array([hardness] * 5 + [false, 1.0])


def mosaic(a, value, pool="10000"):
    return "mosaic", f"a={a}, b=0.75, kappa=0.01, lambda={value}, pool={pool}"


def encoder(shift, hard=0.4, false=11.0):
    """Others: (0, 10), (.3, 12), (.5, 20) and a setting behind these; excess over Uniform's 10 % at .4 is 6."""
    found = {("uniform", ""): [row(0, 9.5), row(0, 10.5)], ("knn", ""): [row(.5, 20)],
             ("gcbs", "keep=64"): [row(.3, 12)], ("gcbs", "keep=256"): [row(.2, 15)]}
    for wanted, _ in front.MOSAICS:
        found[mosaic(wanted["a"], wanted["lambda"])] = [row(hard, false + shift)]
    return front.Encoder(found)


three = [encoder(shift) for shift in (-.1, 0, .1)]
default = three[1].find("10000", "0.01", {"a": "0.5", "lambda": "0.7"})
assert default[5] == 11 and three[1].find("3300", "0.01", {}) is None
assert np.allclose(three[1].against(default, 0), (1, 6))
assert np.allclose(three[1].against(row(-.2, 12), 0), (2, 0))  # softer than all: the others' cleanest
assert np.isnan(three[1].against(row(.6, 12), 0)[1])
assert np.allclose(three[1].keep({"uniform", "knn"}).against(default, 0), (1, 8)) and len(three[1].others) == 4
half = 4.30265 * .1 / 3 ** .5
assert front.said([10, 10.4, 9.6]) == "10.00 ± .99", front.said([10, 10.4, 9.6])
assert front.cell(three, "10000", "0.01", front.MOSAICS[0][0], 4) == ".17 ± .04"
assert front.cell(three, "3300", "0.01", front.MOSAICS[0][0], 0) == "-"
assert front.verdict(three, 0, front.MOSAICS[:3]) == "leads (-5.00 ± .25)"
assert front.verdict([encoder(shift, false=18) for shift in (-.1, 0, .1)], 0, front.MOSAICS[:3]).startswith("behind (2.00")
assert front.verdict([encoder(shift, false=16.05) for shift in (-.1, 0, .1)], 0, front.MOSAICS[:3]).startswith("open")
assert front.verdict(three[:1], 0, front.MOSAICS[:3]).startswith("open")
assert front.verdict([encoder(0, hard=.6)] * 3, 0, front.MOSAICS[3:]) == "leads (beyond)"
assert front.cell([encoder(0, hard=.6)] * 3, "10000", "0.01", front.MOSAICS[0][0], 0) == "beyond"
softer = front.cell([encoder(s, hard=-.1) for s in (-.1, 0, .1)], "10000", "0.01", front.MOSAICS[0][0], 0)
assert softer.startswith("softer, 1.00 ±") and softer.endswith(" pt"), softer
