# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches of tuples against NumPy: tuples.py PROGRAM, in a folder of its own. Random queries, passages, equal texts, known
and hidden relevance; for every sampler the measures of its saved batches, made again from the definitions."""
import json, subprocess, sys
import h5py, numpy as np

Q, P, DIMS, B = 70, 110, 12, 8
SAMPLERS = ["uniform: {no_duplicates: true}", "uniform", "uniform: {keep_apart: true}", "knn", "gcbs", "gcbs: {keep_apart: true}",
            "mosaic: {keep_apart: true}", "b3: {p: 5, m: 10, cluster: 4, keep_apart: true}", "cde: {keep_apart: true}",
            "ngame: {cluster: 4, keep_apart: true}", "batchsampler: {M: 60, K: 20}", "spectral", "osgd", "hard-negative"]


def run(*words):
    done = subprocess.run([sys.argv[1], *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout


def make_data(rng):
    """Texts by number: the first queries are asked twice, and passages repeat."""
    ask, say = np.r_[np.arange(Q - 6), np.arange(6)], np.r_[np.arange(P - 15), rng.integers(0, P - 15, 15)]
    for name, x in ("q", rng.normal(size=(Q, DIMS))), ("p", rng.normal(size=(P, DIMS))):
        np.save(f"{name}.npy", x.astype(np.float32))
    with open("q.jsonl", "w") as out:
        out.writelines(json.dumps({"_id": f"q{i}", "text": f"question {t}"}) + "\n" for i, t in enumerate(ask))
    with open("p.jsonl", "w") as out:
        out.writelines(json.dumps({"_id": f"p{i}", "text": f"answer {t}"}) + "\n" for i, t in enumerate(say))
    pairs = sorted({(int(q), int(p)) for q, p in zip(rng.integers(0, Q, 400), rng.integers(0, P, 400))})
    grade = rng.integers(0, 3, len(pairs))
    known = [(q, p) for (q, p), g in zip(pairs, grade) if g > 0]
    hidden = sorted({(int(q), int(p)) for q, p in zip(rng.integers(0, Q, 300), rng.integers(0, P, 300))})
    with open("qrels.tsv", "w") as out:
        out.writelines(f"q{q}\tp{p}\t{g}\n" for (q, p), g in zip(pairs, grade))
    with open("truth.tsv", "w") as out:
        out.writelines(f"q{q}\tp{p}\t1\n" for q, p in sorted(set(known) | set(hidden)))
    return ask, say, known, hidden


def rows(name):
    x = np.load(name).astype(np.float64)
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def close(a, b, what):
    assert abs(a - b) < 2e-6 or (np.isnan(a) and np.isnan(b)), (what, a, b)


def check(path, tuples, text, relevant, known, x, y):
    with h5py.File(path) as f:
        r = f["runs"]
        ask = lambda name, i: r[name].asstr()[i] if r[name].dtype.kind == "O" else r[name][i]
        ids, splits, run_splits = (f[f"order/{name}"][:] for name in ("index", "splits", "run_splits"))
        for i in range(len(r["status"])):
            name = f'{ask("sampler", i)} {{{ask("params", i)}}}'
            assert ask("status", i) == "ok", (name, ask("error", i))
            mine = [ids[splits[b]:splits[b + 1]] for b in range(run_splits[i], run_splits[i + 1])]
            false = equal = pairs = total = 0
            hardest = []
            for b in mine:
                b = np.array(list(dict.fromkeys(b)))
                s = x[b] @ y[b].T
                rel = np.array([[relevant[i, j] for j in b] for i in b])
                same = text[b][:, None] == text[b][None, :]
                off = ~np.eye(len(b), dtype=bool)
                false, equal, pairs, total = false + (rel & off).sum(), equal + (same & off).sum(), pairs + off.sum(), total + s[off].sum()
                hardest += [s[k][~rel[k] & off[k]].max() for k in range(len(b)) if (~rel[k] & off[k]).any()]
            close(r["fn_ratio"][i], false / pairs, name + " fn_ratio")
            close(r["duplicate_ratio"][i], equal / pairs, name + " duplicate_ratio")
            close(r["cos_mean"][i], total / pairs, name + " cos_mean")
            close(r["hard_true_mean"][i], np.mean(hardest), name + " hard_true_mean")
            if "keep_apart" in name:
                left = sum(any(known[i, j] or known[j, i] for j in b if j != i) for b in mine for i in b)
                assert r["apart_left"][i] == left and left < len(tuples) / 20, (name, r["apart_left"][i], left)
                assert sorted(np.concatenate(mine)) == list(range(len(tuples))), name
            else:
                assert np.isnan(r["apart_left"][i]), name


def main():
    rng = np.random.default_rng(1)
    ask, say, known_pairs, hidden_pairs = make_data(rng)
    tuples = np.array(sorted(known_pairs))
    by_text = {(ask[q], say[p]) for q, p in known_pairs}
    all_texts = by_text | {(ask[q], say[p]) for q, p in hidden_pairs}
    texts = np.c_[ask[tuples[:, 0]], say[tuples[:, 1]]]
    known = np.array([[(q, p) in by_text for p in texts[:, 1]] for q in texts[:, 0]])
    relevant = np.array([[(q, p) in all_texts for p in texts[:, 1]] for q in texts[:, 0]])
    x, y = rows("q.npy")[tuples[:, 0]], rows("p.npy")[tuples[:, 1]]
    files = ["--queries", "q.npy", "--corpus", "p.npy", "--query-ids", "q.jsonl", "--corpus-ids", "p.jsonl", "--qrels", "qrels.tsv"]
    run("import", *files, "--truth", "truth.tsv", "-o", "all.h5")
    run("import", *files, "-o", "known.h5")
    job = {"version": 1, "batch_size": B, "epochs": 1, "seeds": [1], "metrics": ["fn_ratio", "duplicates", "hardness"]}
    for file, truth in ("all", relevant), ("known", known):
        with open(f"{file}.yaml", "w") as out:
            text = "".join(f"{k}: {json.dumps(v)}\n" for k, v in job.items())
            out.write(f"{text}snapshots: [{file}.h5]\nsamplers:\n" + "".join(f"  - {s}\n" for s in SAMPLERS))
        run("run", "-c", f"{file}.yaml", "-o", file, "--save-batches", "--quiet")
        check(f"{file}/results.h5", tuples, texts[:, 1], truth, known, x, y)
    print("ok")


main()
