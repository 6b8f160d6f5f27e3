# SPDX-License-Identifier: GPL-3.0-or-later
"""The scores of docs/board.md by NumPy: `board_scores.py DOCUMENT REFERENCE ENTRY...`, of `hardneg board --json`, for tests/board.sh."""
import json
import sys

import h5py
import numpy as np
from scipy import stats

MEASURES = {"mean": "true_mean", "lme": "true_lme", "hardest": "hard_true_mean"}
BUDGETS = {"gain_half": .5, "gain_2": 2, "gain_10": 10}


def read(path, column):
    """[encoder][setting]: (hardness, false negatives in percent), means over seeds; and the encoders of each kind."""
    with h5py.File(path) as f:
        runs, board = f["runs"], f["tables/board"]
        rows = zip(runs["dataset_sha256"].asstr()[:], runs["sampler"].asstr()[:], runs["params"].asstr()[:], runs[column][:], runs["fn_ratio"][:])
        found = {}
        for encoder, sampler, params, hard, false in rows:
            found.setdefault(encoder, {}).setdefault((sampler, params), []).append((hard, 100 * false))
        kinds = {}
        for kind, encoder in zip(board["kind"].asstr()[:], board["sha256"].asstr()[:]):
            kinds.setdefault(kind, []).append(encoder)
        return {e: {k: np.mean(v, 0) for k, v in s.items()} for e, s in found.items()}, kinds, f.attrs["board_entry"]


def front(points):
    kept, least = [], np.inf
    for hard, false in sorted(map(tuple, points), key=lambda p: (-p[0], p[1])):
        if false < least:
            kept.append((hard, false))
            least = false
    return np.array(kept[::-1]).T


def at_hardness(line, hard, false):
    """Beyond the reference's; below its setting of lowest hardness the line is mirrored."""
    x, y = line
    return false - np.interp(hard, [*(2 * x[0] - x[:0:-1]), *x], [*(2 * y[0] - y[:0:-1]), *y])


def scores(own, reference):
    base = next(v for (sampler, _), v in reference.items() if sampler == "uniform")
    line, mine = front(reference.values()), front([*own.values(), base])
    out = {"excess": np.mean([at_hardness(line, *p) for p in own.values()])}
    hard, false = line
    out["share"] = 100 * out["excess"] / max(.5, np.trapz(false - base[1], hard) / (hard[-1] - hard[0]))
    for name, budget in BUDGETS.items():
        out[name] = np.interp(base[1] + budget, *mine[::-1]) - np.interp(base[1] + budget, *line[::-1])
    return out


document = {e["entry"]: e for e in json.load(open(sys.argv[1]))["entries"]}
checked = 0
for path in sys.argv[3:]:
    for measure, column in MEASURES.items():
        reference, kinds, _ = read(sys.argv[2], column)
        own, _, name = read(path, column)
        name = name if isinstance(name, str) else name.decode()
        for score in ("share", "excess", *BUDGETS):
            said = document[name][measure][score]
            found = {k: np.array([scores(own[e], reference[e])[score] for e in es]) for k, es in kinds.items()}
            for kind, value in found.items():
                assert abs(said["kinds"][kind]["mean"] - value.mean()) < 1e-6, (name, measure, score, kind, said["kinds"][kind], value)
                checked += 1
            values = np.array([value.mean() for value in found.values()])
            half = stats.t.ppf(.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
            assert abs(said["mean"] - values.mean()) < 1e-6 and abs(said["half"] - half) < 1e-6, (name, measure, score)
assert checked > 100
