#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small jobs at random: tests/random_jobs.py PROGRAM [--jobs N] [--seed S] [--only I] [--keep FOLDER].

Every sampler, weighting and loss on 2 to 64 rows that are odd: equal, opposite, tiny, huge, zero, of one class, of a
class each, unlabelled. A job runs on one thread and on three. Its results are to be equal but for times; every NaN of a
cell that is ok has its reason in the cell's note, or its column says when it is NaN; no value is outside the range of its
unit; and where the program ends with 0, every cell of the job is there and none has failed."""
import argparse
import collections
import itertools
import json
import os
import random
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
    "batchsampler": {"M": [1, 5, 70], "K": [1, 3, 9], "graph": ["proximity", "knn"], "walk": ["rwr", "rw", "bfs", "dfs"], "law": ["uniform", "weight"],
                     "candidates": ["independent", "dealt"], "start": ["uniform", "unseen"], "t": [1, 3]},
    "gcbs": {"quantile": [0, .5, .999, 1], "root": ["min-degree", "george-liu"], "reverse": [True, False]},
    "mosaic": {"pool": [2, 7, 90], "lambda": [0, 5], "kappa": [0, 1], "group": [1, 4]},
    "ngame": {"cluster": [1, 3, 40]}, "osgd": {"drawn": [3, 20], "kept": [1, 3], "tau": [.05, 1]},
    "jest": {"score": ["hard", "easy", "learnable"], "chunks": [1, 2], "scale": [0, 1000]},
    "spectral": {"clusters": [1, 2, 3], "kept": [1, 2], "starts": [1]},
    "tas-b": {"cluster": [1, 4, 200], "topics": [1, 2]}, "cde": {"cluster": [1, 5], "pack": ["random", "tsp"]},
    "b3": {"p": [0, 1, 5], "m": [1, 3], "cluster": [1, 3]}, "hard-negative": {"l": [1, 3]}, "stratified": {"clusters": [1, 3]},
    "random-negatives": {"n": [1, 5, "all"]}, "hops": {"l": [1, 2], "at_least": [True, False]},
    "ring": {"space": ["embeddings"], "lo": [0, 50], "hi": [50, 100], "n": [2, "all"]},
    "mined": {"R": [1, 5, 40], "n": [1, 3], "take": ["top", "draw"], "relative_margin": [.05], "max_score": [-.5, .9], "exclude": ["none", "labels", "copies"]},
    "debiased": {"tau_plus": [0, .99]}, "hcl": {"tau_plus": [0, .5], "beta": [0, 1000], "form": ["equation", "figure13"]},
    "gist": {"margin": [-2, 0, .1], "strategy": ["absolute", "relative"], "guide": ["encoder", "teacher"]},
    "fnc": {"eliminate": ["threshold", "top"], "threshold": [-1, .7, 1]}, "progcl": {"prior": [.0001, .5]}}


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


def write_items(path, rng):
    """Writes a snapshot of items and returns how many."""
    n, d = int(rng.integers(2, 65)), int(rng.integers(1, 9))
    with h5py.File(path, "w") as f:
        f.attrs.update(schema="hardneg-snapshot", schema_version=1)
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


def make_job(folder, seed, number, names):
    """Writes a snapshot and a job into the folder; returns the number of cells."""
    rng, random_ = np.random.default_rng([seed, number]), random.Random(f"{seed}-{number}")
    pairs = rng.random() < .25
    n = (write_retrieval if pairs else write_items)(f"{folder}/s.h5", rng)
    samplers, weightings = draw_entries(random_, names["samplers"], 4), draw_entries(random_, names["weightings"], 2)
    batch = random_.choice([2, 3, max(2, n // 2), n, random_.randint(2, max(2, n))])
    job = {"version": 1, "snapshots": ["s.h5"], "batch_size": min(max(2, batch), max(2, n)), "samplers": samplers, "weightings": weightings,
           "loss": random_.choice(names["losses"]), "temperature": random_.choice([.02, .5, 5]), "seeds": [random_.randint(0, 9)],
           random_.choice(["batches", "epochs"]): random_.randint(1, 3)}
    with open(f"{folder}/job.yaml", "w") as f:
        json.dump(job, f) # which is YAML
    return len(samplers) * len(weightings)


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


def explained(name, attributes, note, metrics):
    """True if a NaN has its reason: the column says when, or the note has a need of its metric."""
    metric = metrics.get(name)
    needs = metric["needs"] if metric else []
    return "NaN" in attributes["long_name"] or any(REASONS[need].format(metric["name"]) in note for need in needs if need in REASONS)


def judge_values(columns, metrics):
    """What is wrong with the values of /runs and /snapshots; the first of each column."""
    for name, (values, attributes) in columns.items():
        table = name.partition("/")[0]
        if table not in ("runs", "snapshots") or values.dtype.kind != "f" or attributes.get("role") not in MEASURED:
            continue
        status, notes = columns[table + "/status"][0], columns[table + "/note"][0]
        low, high = RANGES.get(attributes["units"], (-np.inf, np.inf))
        for value, note in [(v, n) for v, n, s in zip(values, notes, status) if s == "ok"]:
            if np.isnan(value) and not explained(name, attributes, note, metrics):
                yield f"{name}: NaN without a word, note '{note}'"
                break
            if np.isinf(value) or value < low or value > high:
                yield f"{name}: {value} is not in [{low}, {high}]"
                break


def judge(path, codes, cells, metrics):
    """What is wrong with the results of one job; codes: exit codes on one thread and on three."""
    if codes[0] != codes[1]:
        return [f"exit codes {codes}"]
    if codes[0] not in (0, 2, 4):
        return [f"exit code {codes[0]}"]
    if codes[0] == 2:
        return []
    one, three = read(f"{path}/1/results.h5"), read(f"{path}/3/results.h5")
    wrong = differences(one, three) + list(judge_values(one, metrics))
    status = list(one["runs/status"][0])
    if len(status) != cells or (codes[0] == 0) != ("failed" not in status):
        wrong.append(f"exit code {codes[0]} with cells {collections.Counter(status)} of {cells}")
    return wrong


def run_job(program, seed, number, names, metrics, folder):
    """What is wrong, the outcome for the tally, and the messages."""
    cells = make_job(folder, seed, number, names)
    codes, messages = [], ""
    for threads in 1, 3:
        done = subprocess.run([program, "run", "-c", f"{folder}/job.yaml", "-o", f"{folder}/{threads}", "--threads", str(threads), "--save-batches", "--quiet"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
        codes.append(done.returncode)
        messages = done.stderr
    return judge(folder, codes, cells, metrics), codes[0], messages


def registered(program):
    lists = json.loads(subprocess.run([program, "list", "--json"], check=True, capture_output=True).stdout)
    names = {kind: [e["name"] for e in lists[kind] if "given" not in e.get("flags", [])] for kind in ("samplers", "weightings", "losses")}
    return names, {f"{m['table']}/{c['name']}": m for m in lists["metrics"] for c in m["columns"]}


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
                subprocess.run(["cp", "-r", folder, f"{a.keep}/{number}"], check=True)
    if tally[0] + tally[4] < .6 * len(numbers) and a.only is None:
        failed += 1
        print(f"  FAILED most jobs are refused, which tries nothing: {dict(tally)}")
    print(f"    exit codes of {len(numbers)} jobs: {dict(tally)}")
    print(f"random_jobs: {len(numbers) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
