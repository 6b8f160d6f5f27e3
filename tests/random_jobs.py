#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small jobs at random: tests/random_jobs.py PROGRAM [--jobs N] [--seed S] [--only I] [--keep FOLDER].

Every sampler, weighting and loss on 2 to 64 rows that are odd: equal, opposite, tiny, huge, zero, of one class, of a
class each, unlabelled; with some studies, or with few metrics. A job runs on one thread and on three. Its results are to be
equal but for times; every NaN of a cell that is ok has its reason in the cell's note, or its column says when it is NaN
and so it is; no share is outside [0, 1], and no value outside the range of its unit; a cell that is not ok says why; and
where the program ends with 0, every cell of the job is there and none has failed, else it ends with a sentence."""
import argparse
import collections
import functools
import itertools
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError:
    print("    skipped: no python3-h5py\nrandom_jobs: 0 passed, 0 failed, 1 skipped")
    sys.exit(0)

# Cosines are sums of float32, of rows that are units but for their rounding.
RANGES = {"share": (0, 1), "cosine": (-1 - 1e-6, 1 + 1e-6), "correlation": (-1, 1)}
# What a cell's note says where a need of a metric is not met, by the name of the need in `list metrics --json`.
REASONS = {"labels": "no labels", "positive": "no positive", "unweighted": "{}: weighting none only",
           "classes": "several labels an item"}
MEASURED = {"quality", "binned", "counter", "derived"}
NOT_COMPARED = {"time", "machine", "derived"}
SECONDS = 60  # of the processor; a busy machine may take many times as long

# Options of samplers and weightings that small data allows, drawn by name.
OPTIONS = {
    "uniform": {"draw": ["shuffle", "iid"], "no_duplicates": [True]},
    "batchsampler": {"M": [9, 15, 70], "K": [1, 3, 9], "graph": ["proximity", "knn"], "walk": ["rwr", "rw", "bfs", "dfs"], "law": ["uniform", "weight"],
                     "candidates": ["independent", "dealt"], "start": ["uniform", "unseen"], "t": [1, 3]},
    "gcbs": {"quantile": [0, .5, .999, 1], "root": ["min-degree", "george-liu"], "reverse": [True, False]},
    "mosaic": {"pool": [2, 7, 90], "lambda": [0, 5], "kappa": [0, 1], "group": [1, 4]},
    "ngame": {"cluster": [1, 3, 40]}, "osgd": {"drawn": [5, 20], "kept": [1, 3], "tau": [.05, 1]},
    "jest": {"score": ["hard", "easy", "learnable"], "chunks": [1, 2], "scale": [0, 1000]},
    "spectral": {"clusters": [1, 2, 3], "kept": [1, 2], "starts": [1]},
    "tas-b": {"cluster": [1, 4, 200], "topics": [1, 2]}, "cde": {"cluster": [1, 5], "pack": ["random", "tsp"]},
    "b3": {"p": [0, 1, 5], "m": [1, 3], "cluster": [1, 3]}, "hard-negative": {"l": [1, 3]}, "stratified": {"clusters": [1, 3]},
    "random-negatives": {"n": [1, 5, "all"]}, "hops": {"l": [1, 2], "at_least": [True, False]},
    "ring": {"space": ["embeddings"], "lo": [0, 45], "hi": [60, 100], "n": [2, "all"]},
    "mined": {"R": [1, 5, 40], "n": [1, 3], "take": ["top", "draw"], "relative_margin": [.05], "max_score": [-.5, .9], "exclude": ["none", "labels", "copies"]},
    "debiased": {"tau_plus": [0, .99]}, "hcl": {"tau_plus": [0, .5], "beta": [0, 1000], "form": ["equation", "figure13"]},
    "gist": {"margin": [-2, 0, .1], "strategy": ["absolute", "relative"], "guide": ["encoder", "teacher"]},
    "fnc": {"eliminate": ["threshold", "top"], "threshold": [-1, .7, 1]}, "progcl": {"prior": [.0001, .5]}}
STUDIES = {
    "random_assignments": {"count": [1, 2, 50]}, "prop1": {"M": [3, 5, 100], "K": [1, 3], "graphs": [1, 2], "points": [2, 9]},
    "prop2": {"M": [3, 9, 100], "K": [1, 3], "alpha": [.001, .5, 1], "sweeps": [0, 2]}, "prop3": {"anchors": [1, 5, "all"]},
    "lemmas": {"trials": [1, 5]}, "staleness": {"M": [2, 100], "K": [1, 2], "alpha": [0, "1~0"], "batches": [1, 4]},
    "purity": {"M": [4, 7, 100], "K": [1, 4]}, "heatmap": {"size": [1, 2, 9], "quantile": [.5, .9]}, "global_histogram": {"bins": [1, 7]}}


def draw_rows(rng, n, d):
    """Float32 rows, one of the shapes that embeddings have where something went wrong."""
    normal = rng.standard_normal((n, d))
    shape = rng.integers(8)
    if shape == 1:
        normal[:] = normal[0]
    elif shape == 2:
        normal = normal[:1] * np.where(rng.random((n, 1)) < .5, -1, 1)
    elif shape == 3:
        normal = np.eye(d)[np.arange(n) % d]
    elif shape == 4:
        normal *= 1e-37
    elif shape == 5:
        normal *= 1e37 / np.abs(normal).max()
    elif shape == 6:
        normal = normal[rng.integers(0, n, n)] # copies
    elif shape == 7:
        normal = np.where(normal > 0, 1.0, -0.0)
        normal[:, 0] = 1
    return normal.astype("f4")


def draw_labels(rng, n):
    return [rng.integers(0, 3, n), np.zeros(n), np.arange(n), np.full(n, -1), rng.integers(-1, 2, n)][rng.integers(5)].astype("i8")


def write_rows(f, rng, n):
    """A graph and such of n items, each there or not."""
    if rng.random() < .7:
        graph = [rng.choice(n, rng.integers(0, min(n, 4)), replace=False) for _ in range(n)]
        f["graph/indptr"] = np.cumsum([0] + [len(g) for g in graph])
        f["graph/indices"] = np.concatenate(graph).astype("i8")
    if rng.random() < .5:
        f["group"] = rng.integers(0, 2, n)
    if rng.random() < .3:
        f["features"] = draw_rows(rng, n, 3)
    if rng.random() < .5:
        f["split"] = rng.integers(-1, 3, n).astype("i1")


def write_items(path, rng, steps=1):
    """Writes a snapshot of items, at so many steps, and returns how many items."""
    n, d = int(rng.integers(2, 65)), int(rng.integers(1, 9))
    with h5py.File(path, "w") as f:
        f.attrs.update(schema="hardneg-snapshot", schema_version=1)
        if steps > 1:
            f["embeddings"], f["step"] = np.stack([draw_rows(rng, n, d) for _ in range(steps)]), np.arange(steps) * 10
            f["labels"] = draw_labels(rng, n)
            return n
        x = draw_rows(rng, n, d)
        if rng.random() < .1:
            x[rng.random(n) < .3] = 0
            f.attrs["zero_rows"] = 1
        f["embeddings"] = x
        if rng.random() < .6:
            f["view2"] = x if rng.random() < .2 else draw_rows(rng, n, d)
        if rng.random() < .85:
            f["labels"] = draw_labels(rng, n)
        else:
            f["labels_csr/indptr"] = np.cumsum([0] + [i % 3 for i in range(n)])
            f["labels_csr/indices"] = np.concatenate([np.arange(i % 3) for i in range(n)]).astype("i8")
        if rng.random() < .5:
            f["teacher"] = draw_rows(rng, n, 4)
        write_rows(f, rng, n)
    return n


def write_retrieval(path, rng):
    """Writes queries and a corpus, and returns the number of their known pairs."""
    q, p, d = int(rng.integers(2, 25)), int(rng.integers(2, 41)), int(rng.integers(2, 9))
    relevant = [np.sort(rng.choice(p, rng.integers(1, min(p, 4)), replace=False)) for _ in range(q)]
    with h5py.File(path, "w") as f:
        f.attrs.update(schema="hardneg-snapshot", schema_version=2, kind="retrieval")
        f["queries"], f["corpus"] = draw_rows(rng, q, d), draw_rows(rng, p, d)
        f["qrels/indptr"] = np.cumsum([0] + [len(r) for r in relevant])
        f["qrels/indices"] = np.concatenate(relevant).astype("i8")
        if rng.random() < .5:
            f["truth/indptr"] = np.arange(q + 1) * p
            f["truth/indices"] = np.tile(np.arange(p), q)
        if rng.random() < .5:
            f["query_group"], f["corpus_group"] = np.arange(q), q + rng.integers(0, p, p)
    return sum(map(len, relevant))


def draw_entries(random_, names, most):
    """Some of the samplers or weightings, with options."""
    entries = []
    for name in random_.sample(names, random_.randint(1, most)):
        options = {key: random_.choice(values) for key, values in OPTIONS.get(name, {}).items() if random_.random() < .5}
        entries.append({name: options} if options else name)
    return entries


def draw_metrics(random_, names):
    """What the job says of metrics: nothing, some of them, or studies, alone or with all."""
    kind = random_.random()
    if kind < .5:
        return {}
    if kind < .65:
        return {"metrics": random_.sample(names["metrics"], random_.randint(1, 4))}
    studies = [{name: {key: random_.choice(values) for key, values in STUDIES[name].items()}} for name in random_.sample(list(STUDIES), 2)]
    return {"metrics": (["all"] if kind < .85 else []) + studies}


def make_job(folder, seed, number, names):
    """Writes a snapshot and a job into the folder; returns the number of cells of samplers, and of studies."""
    rng, random_ = np.random.default_rng([seed, number]), random.Random(f"{seed}-{number}")
    kind, steps = rng.random(), 1
    if kind < .25:
        n = write_retrieval(f"{folder}/s.h5", rng)
    else:
        steps = 1 if kind < .9 else 2
        n = write_items(f"{folder}/s.h5", rng, steps)
    samplers, weightings = draw_entries(random_, names["samplers"], 4), draw_entries(random_, names["weightings"], 2)
    batch = random_.choice([2, 3, max(2, n // 2), n, random_.randint(2, max(2, n))])
    job = {"version": 1, "snapshots": ["s.h5"], "batch_size": min(max(2, batch), max(2, n)), "samplers": samplers, "weightings": weightings,
           "loss": random_.choice(names["losses"]), "temperature": random_.choice([.02, .5, 5]), "seeds": [random_.randint(0, 9)],
           random_.choice(["batches", "epochs"]): random_.randint(1, 3), **draw_metrics(random_, names)}
    with open(f"{folder}/job.yaml", "w") as f:
        json.dump(job, f) # which is YAML
    studies = sum(isinstance(m, dict) for m in job.get("metrics", []))
    return len(samplers) * len(weightings) * steps, studies * steps, job


def read(path):
    """Columns {(table, name): (values, attributes)} of every table, and the arrays beside them."""
    columns = {}
    with h5py.File(path) as f:
        def take(name, x):
            if isinstance(x, h5py.Dataset) and not name.startswith("env"):
                values = x.asstr()[()] if h5py.check_string_dtype(x.dtype) else x[()]
                columns[name] = values, {k: x.attrs[k] for k in ("role", "units", "long_name") if k in x.attrs}
        f.visititems(take)
    return columns


def same(a, b):
    return a.shape == b.shape and bool(np.all((a == b) | ((a != a) & (b != b))))


def differences(one, three):
    """Arrays that are not equal on one thread and on three."""
    if one.keys() != three.keys():
        return [f"arrays {sorted(one.keys() ^ three.keys())}"]
    skipped = lambda name: name.startswith("timing/") or one[name][1].get("role") in NOT_COMPARED
    return [name + " differs between threads" for name in one if not skipped(name) and not same(one[name][0], three[name][0])]


def batches_of(columns, run):
    """Items of each batch of a row of /runs."""
    runs, splits, index = (columns["order/" + name][0] for name in ("run_splits", "splits", "index"))
    return [index[splits[b]:splits[b + 1]] for b in range(runs[run], runs[run + 1])]


def label_sets(path):
    """The labels of every item; None of queries and a corpus."""
    with h5py.File(path) as f:
        if "labels_csr" in f:
            ends, index = f["labels_csr/indptr"][()], f["labels_csr/indices"][()]
            return [set(index[i:j]) for i, j in zip(ends, ends[1:])]
        return [{label} - {-1} for label in f["labels"][()].tolist()] if "labels" in f else None


class Cell:
    """What decides whether a value of a cell may be NaN."""

    def __init__(self, columns, run, labels, per_anchor, job):
        self.sampler, self.weighting = (columns["runs/" + name][0][run] for name in ("sampler", "weighting"))
        self.lists, self.whole, self.known = self.sampler in per_anchor, "epochs" in job, labels is not None
        self.batches = [sorted(set(b.tolist())) for b in batches_of(columns, run)]
        self.labels = labels or []

    def pairs(self, labelled=False, true=False):
        """Batches in which two items make a pair: labelled ones, or ones without a common label."""
        items = self.labels
        good = lambda i, j: not labelled or items[i] and items[j] and not (true and items[i] & items[j])
        return sum(any(good(i, j) for i, j in itertools.combinations(b, 2)) for b in self.batches)


# By how a column says when it is NaN: whether that may be so in a cell, where that can be told. Others are believed.
ITEMS = {"without such pairs": lambda c: not c.pairs(labelled=True),
         "unless two batches have labelled pairs": lambda c: c.pairs(labelled=True) < 2,
         "without negatives": lambda c: not c.pairs(),
         "without labelled negatives": lambda c: not c.pairs(labelled=True),
         "without true negatives": lambda c: not c.pairs(labelled=True, true=True),
         "without weight on labelled pairs": lambda c: c.weighting != "none" or not c.pairs(labelled=True)}
CONDITIONS = {**{words: lambda c, so=so: c.lists or not c.known or so(c) for words, so in ITEMS.items()},
              "for batches": lambda c: not c.lists,
              "with fewer than two labelled items": lambda c: not c.known or sum(map(bool, c.labels)) < 2,
              "of less than an epoch": lambda c: not c.whole,
              "without visits": lambda c: c.lists or not any(c.batches),
              "without pairs, for lists of negatives, and of more than 2^28 ids": lambda c: c.lists or not c.pairs(),
              **{f"of other samplers than {s}": lambda c, s=s: c.sampler != s for s in ("gcbs", "mosaic", "batchsampler")}}


def explained(name, attributes, note, metrics, cell):
    """True if a NaN has its reason: the column says when, or the note has a need of its metric."""
    metric = metrics.get(name)
    needs = metric["needs"] if metric else []
    if any(REASONS[need].format(metric["name"]) in note for need in needs if need in REASONS):
        return True
    when = re.search("NaN ([^;]*)$", attributes["long_name"])
    return bool(when) and (cell is None or CONDITIONS.get(when[1], lambda c: True)(cell))


def not_measured(name, metrics, job):
    """True of columns of a metric that the job does not name."""
    asked = job.get("metrics", ["all"])
    return name in metrics and "all" not in asked and metrics[name]["name"] not in asked


def limits(attributes):
    if attributes["units"] == "1" and re.match("(its|their|the)? ?(share|probability|purity)", attributes["long_name"]):
        return 0, 1
    return RANGES.get(attributes["units"], (-np.inf, np.inf))


def judge_column(name, values, attributes, rows, metrics):
    """What is wrong with the values of a column, the first only; rows: (row, note, cell) of those that are ok."""
    low, high = limits(attributes)
    for row, note, cell in rows:
        if np.isnan(values[row]) and not explained(name, attributes, note, metrics, cell and cell()):
            yield f"{name}: NaN without a word, or against it, in row {row}, note '{note}'"
            return
        if np.isinf(values[row]) or values[row] < low or values[row] > high:
            yield f"{name}: {values[row]} is not in [{low}, {high}]"
            return


def judge_values(columns, metrics, make_cell, job):
    """What is wrong with the values of /runs, /snapshots and the tables of studies; the first of each column."""
    for name, (values, attributes) in columns.items():
        table = name.rpartition("/")[0]
        study = f"{table}/study_row" in columns
        if values.dtype.kind != "f" or attributes.get("role") not in MEASURED or not (study or table in ("runs", "snapshots")):
            continue
        if not_measured(name, metrics, job):
            if not np.all(np.isnan(values)):
                yield f"{name} has values, though the job does not ask for it"
            continue
        if study:
            notes = columns["tables/studies/note"][0]
            rows = [(row, notes[at], None) for row, at in enumerate(columns[f"{table}/study_row"][0])]
        else:
            cells = [(lambda row=row: make_cell(row)) if table == "runs" else None for row in range(len(values))]
            status, notes = columns[table + "/status"][0], columns[table + "/note"][0]
            rows = [(row, notes[row], cells[row]) for row in range(len(values)) if status[row] == "ok"]
        yield from judge_column(name, values, attributes, rows, metrics)


def judge_cells(columns, wanted, code):
    """What is wrong with how cells ended; wanted: how many are to be in each table."""
    ended = collections.Counter()
    for table, count in wanted.items():
        status = list(columns[table + "/status"][0]) if table + "/status" in columns else []
        if len(status) != count:
            yield f"{len(status)} cells of {table}, not {count}"
        if any((s == "ok") == bool(why) for s, why in zip(status, columns[table + "/error"][0] if status else [])):
            yield f"{table}: a cell that is not ok does not say why, or one that is does"
        ended.update(status)
    alone = not any(name.startswith("snapshots/") for name in columns) # no cell is without a sampler
    partly = ended["failed"] > 0 or alone and list(ended) == ["not_applicable"]
    if (code == 0) == partly:
        yield f"exit code {code} with {dict(ended)}"


def judge(path, codes, messages, job, wanted, names, metrics):
    """What is wrong with the results of one job; codes: exit codes on one thread and on three."""
    if codes[0] != codes[1]:
        return [f"exit codes {codes}"]
    if codes[0] not in (0, 2, 4):
        return [f"exit code {codes[0]}"]
    if codes[0] and not re.search("^hardneg run: .{20,}", messages, re.M):
        return [f"exit code {codes[0]} without a sentence"]
    if codes[0] == 2:
        return []
    one, three = read(f"{path}/1/results.h5"), read(f"{path}/3/results.h5")
    labels = label_sets(f"{path}/s.h5")
    make_cell = functools.cache(lambda run: Cell(one, run, labels, names["per_anchor"], job))
    return differences(one, three) + list(judge_values(one, metrics, make_cell, job)) + list(judge_cells(one, wanted, codes[0]))


def run_job(program, seed, number, names, metrics, folder):
    """What is wrong, the outcome for the tally, and the messages."""
    cells, studies, job = make_job(folder, seed, number, names)
    codes, messages = [], ""
    for threads in 1, 3:
        done = subprocess.run([program, "run", "-c", f"{folder}/job.yaml", "-o", f"{folder}/{threads}", "--threads", str(threads), "--save-batches", "--quiet"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
        codes.append(done.returncode)
        messages = done.stderr
    wanted = {"runs": cells, **({"tables/studies": studies} if studies else {})}
    return judge(folder, codes, messages, job, wanted, names, metrics), codes[0], messages


def registered(program):
    lists = json.loads(subprocess.run([program, "list", "--json"], check=True, capture_output=True).stdout)
    names = {kind: [e["name"] for e in lists[kind] if "given" not in e.get("flags", [])] for kind in ("samplers", "weightings", "losses")}
    names["per_anchor"] = {e["name"] for e in lists["samplers"] if "per_anchor" in e["flags"]}
    names["metrics"] = [m["name"] for m in lists["metrics"] if m["family"] != "study"]
    return names, {f"{m['table']}/{c['name']}": m for m in lists["metrics"] if m["family"] != "study" for c in m["columns"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--keep", help="folder where jobs that failed are left")
    a = parser.parse_args()
    program, (names, metrics) = os.path.realpath(a.program), registered(a.program)
    numbers = range(a.jobs) if a.only is None else [a.only]
    tally, failed = collections.Counter(), 0
    for number in numbers:
        with tempfile.TemporaryDirectory(prefix="hardneg-job-") as folder:
            wrong, code, messages = run_job(program, a.seed, number, names, metrics, folder)
            tally[code] += 1
            if wrong:
                failed += 1
                print(f"  FAILED job {number} of seed {a.seed}: " + "; ".join(itertools.islice(wrong, 40)), flush=True)
            if a.only is not None:
                print(messages)
            if (wrong or a.only is not None) and a.keep:
                os.makedirs(a.keep, exist_ok=True)
                subprocess.run(["cp", "-r", folder, f"{a.keep}/{number}"], check=True)
    if tally[0] + tally[4] < .6 * len(numbers) and a.only is None:
        failed += 1
        print(f"  FAILED most jobs are refused, which tries nothing: {dict(tally)}")
    print(f"    exit codes of {len(numbers)} jobs: {dict(tally)}")
    print(f"random_jobs: {len(numbers) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
