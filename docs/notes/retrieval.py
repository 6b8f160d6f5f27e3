#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error and coverage of `hardneg price --judged`, and what windows, margins and guides cost at equal hardness: the tables of
docs/notes/retrieval.md.

    retrieval.py HARDNEG DATASETS FOLDER [--sheets N] [--pairs J,J,...] [--queries N]

DATASETS: the folder with code/, sts/ and cora/. Sets are made in FOLDER, where what was run is kept and not run again.
Needs numpy, scipy and scikit-learn."""
import argparse
import csv
import glob
import gzip
import json
import os
import re
import subprocess

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
import scipy.sparse as sp

GRADE = 4.0        # of a pair of sentences from which on it is relevant
CHAIN = 12         # sentences that such pairs connect; longer chains are left out
SHOWN = ("--min-rank 1", "--min-rank 11", "--relative-margin 0", "--relative-margin 0.1")


def write_set(folder, name, queries, passages, known, truth, teacher=None):
    """The file of a set; known, truth: (query, passage) of row numbers."""
    path = f"{folder}/{name}"
    arrays = {"q": queries, "p": passages}
    if teacher:
        arrays.update(tq=teacher[0], tp=teacher[1])
    for key, array in arrays.items():
        np.save(f"{path}.{key}.npy", array.astype(np.float32))
    for key, pairs in (("known", known), ("truth", truth)):
        with open(f"{path}.{key}.txt", "w", encoding="utf-8") as out:
            out.writelines(f"{q} 0 {p} 1\n" for q, p in sorted(set(pairs)))
    options = ["--query-teacher", f"{path}.tq.npy", "--corpus-teacher", f"{path}.tp.npy"] if teacher else []
    subprocess.run([HARDNEG, "import", "--queries", f"{path}.q.npy", "--corpus", f"{path}.p.npy", "--qrels", f"{path}.known.txt",
                    "--truth", f"{path}.truth.txt", "-o", f"{path}.h5", "--quiet", *options], check=True)
    for key in arrays:
        os.remove(f"{path}.{key}.npy")


def read_pairs(path):
    with open(path, encoding="utf-8") as file:
        return [(int(row["query-id"][1:]), int(row["corpus-id"][1:])) for row in csv.DictReader(file, delimiter="\t")]


def make_code(data, folder, name, most=None, hidden=False, teacher=False):
    """Queries that the encoder was not trained on; hidden: with a further relevant function."""
    known, truth = read_pairs(f"{data}/code/train.tsv"), read_pairs(f"{data}/code/truth.tsv")
    split = np.load(f"{data}/code/split.npy")
    relevant = np.bincount([q for q, _ in truth], minlength=len(split))
    chosen = np.array([q for q, _ in known if split[q] == 0 and (relevant[q] > 1 or not hidden)])
    if most:
        chosen = np.sort(np.random.default_rng(1).choice(chosen, most, replace=False))
    row = {q: i for i, q in enumerate(chosen)}
    load = lambda which: np.load(f"{data}/code/{which}.npy")
    write_set(folder, name, load("trained.q")[chosen], load("trained.p"),
              [(row[q], p) for q, p in known if q in row], [(row[q], p) for q, p in truth if q in row],
              (load("words.q")[chosen], load("words.p")) if teacher else None)


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def make_cora(data, folder, name, by_class):
    """A third of the papers ask for the others; known is one citation."""
    rng = np.random.default_rng(2)
    with open(f"{data}/cora/cora.features", encoding="utf-8") as file:
        rows = [[int(word) for word in line.split()] for line in file if line[0] != "#"]
    label = np.array([row[1] for row in rows])
    at = [(row[0], word) for row in rows for word in row[2:]]
    words = sp.csr_matrix((np.ones(len(at)), tuple(zip(*at))))
    x = unit(TruncatedSVD(64, random_state=1).fit_transform(TfidfTransformer().fit_transform(words)))
    order = rng.permutation(len(rows))
    asks = np.zeros(len(rows), bool)
    asks[order[:len(rows) // 3]] = True
    passage = np.cumsum(~asks) - 1
    cited = {}
    with open(f"{data}/cora/cora.edges", encoding="utf-8") as file:
        for a, b in (map(int, line.split()) for line in file):
            for q, p in ((a, b), (b, a)):
                if asks[q] and not asks[p]:
                    cited.setdefault(q, []).append(p)
    queries = sorted(cited)
    known = [(i, passage[rng.choice(cited[q])]) for i, q in enumerate(queries)]
    corpus = np.flatnonzero(~asks)
    truth = [(i, passage[p]) for i, q in enumerate(queries)
             for p in (corpus[label[corpus] == label[q]] if by_class else cited[q])]
    write_set(folder, name, x[queries], x[~asks], known, truth + known)


def make_sentences(data, folder, name):
    """Sentences of STS and SICK: relevant are those that a chain of pairs of a grade of 4 or more connects."""
    rng = np.random.default_rng(3)
    grade = {}
    for path in sorted(glob.glob(f"{data}/sts/*.tsv")):
        with open(path, encoding="utf-8") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                a, b = (" ".join(row[k].strip().strip('"').lower().split()).rstrip(" .") for k in ("sentence1", "sentence2"))
                if a != b and row["score"]:
                    grade[a, b] = float(row["score"])
    texts = sorted({text for pair in grade for text in pair})
    at = {text: i for i, text in enumerate(texts)}
    near = [(at[a], at[b]) for (a, b), g in grade.items() if g >= GRADE]
    links = sp.csr_matrix((np.ones(len(near)), tuple(zip(*near))), shape=(len(texts), len(texts)))
    chain = sp.csgraph.connected_components(links, directed=False)[1]
    long = np.bincount(chain) > CHAIN
    direct = {}
    for a, b in near:
        direct.setdefault(a, set()).add(b)
        direct.setdefault(b, set()).add(a)
    asks = np.zeros(len(texts), bool)
    asks[[i for i in sorted(direct) if not long[chain[i]] and rng.random() < .5]] = True
    queries = [q for q in np.flatnonzero(asks) if any(not asks[p] for p in direct[q])]
    corpus = np.flatnonzero(~asks)
    passage = np.cumsum(~asks) - 1
    known = [(i, passage[rng.choice(sorted(p for p in direct[q] if not asks[p]))]) for i, q in enumerate(queries)]
    truth = [(i, passage[p]) for i, q in enumerate(queries) for p in corpus[chain[corpus] == chain[q]]]
    words = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    x = TruncatedSVD(256, random_state=1).fit_transform(words)
    empty = np.linalg.norm(x, axis=1) < 1e-6
    x[empty, 0] = 1
    write_set(folder, name, unit(x)[queries], unit(x)[~asks], known, truth)


def read_page(path):
    """Name, what it is for, and paragraphs of a page of the manual, without its macros; None: it has no such parts."""
    try:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            lines = file.read(200000).splitlines()
    except OSError:
        return None
    section, parts = "", {}
    for line in lines:
        macro = re.match(r"[.']\s*(\w+)\s*(.*)", line)
        if macro and macro[1] in ("SH", "Sh"):
            section = macro[2].strip('" ').upper()
            parts.setdefault(section, [""])
        elif macro and macro[1] in ("PP", "P", "LP", "TP", "IP", "Pp", "It", "SS", "Ss"):
            parts.setdefault(section, [""]).append("")
        elif not line.startswith((".\\", "'\\")):
            text = macro[2] if macro else line
            text = re.sub(r"\\f(\[.*?\]|\(..|.)|\\s[-+]?\d|\\[&|^/,]", "", text).replace("\\-", "-").replace("\\(aq", "'")
            parts.setdefault(section, [""])[-1] += re.sub(r"\\.", " ", text) + " "
    name = " ".join(" ".join(parts.get("NAME", [""])).split())
    paragraphs = [" ".join(p.split()) for key, ps in parts.items() if key not in ("NAME", "", "AUTHOR", "COPYRIGHT") for p in ps]
    paragraphs = list(dict.fromkeys(p for p in paragraphs if len(p) >= 80))[:12]
    what = re.split(r"\s-+\s", name, maxsplit=1)
    return (what[1], paragraphs) if len(what) == 2 and len(what[1]) >= 20 and len(paragraphs) > 1 else None


def make_manual(_, folder, name, most=1500):
    """What a page of the manual is for asks for its paragraphs, of which one is known; the pages of this machine."""
    rng = np.random.default_rng(4)
    paths = sorted(glob.glob("/usr/share/man/man[1-8]/*.gz"))
    pages = {}
    for k in rng.permutation(len(paths)):
        page = read_page(paths[k]) if len(pages) < most else None
        if page:
            pages.setdefault(page[0], page[1])
    texts, truth, known = [], [], []
    for i, paragraphs in enumerate(pages.values()):
        truth += [(i, len(texts) + k) for k in range(len(paragraphs))]
        known.append((i, len(texts) + int(rng.integers(len(paragraphs)))))
        texts += paragraphs
    words = TfidfVectorizer(sublinear_tf=True).fit(texts)
    reduce = TruncatedSVD(128, random_state=1)
    p = reduce.fit_transform(words.transform(texts))
    q = reduce.transform(words.transform(pages))
    for x in (p, q):
        x[np.linalg.norm(x, axis=1) < 1e-6, 0] = 1
    write_set(folder, name, unit(q), unit(p), known, truth)


def priced(folder, name, options=()):
    """What `hardneg price` says of a set, and of its settings by name."""
    path = f"{folder}/{'_'.join([name, *options]).replace('--', '')}.json"
    if not os.path.exists(path):
        out = subprocess.run([HARDNEG, "price", f"{folder}/{name}.h5", "-n", "10", "--depth", "200", "--json", *options],
                             check=True, stdout=subprocess.PIPE).stdout
        with open(path + ".new", "wb") as file:
            file.write(out)
        os.rename(path + ".new", path)
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    return found, {row["setting"]: row for row in found["settings"]}


def write_table(path, heads, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(heads.split())
        table.writerows(rows)


def coverage(folder, sets, pairs, sheets):
    """Shares in per cent; errors over the truth."""
    rows = []
    for name, title in sets:
        for judged in pairs:
            _, row = priced(folder, name, ("--sheet", str(judged), "--trials", str(sheets)))
            for setting in SHOWN:
                r = row[setting]
                rows.append([title, setting, f"{100 * r['truth']:.2f}", judged, f"{100 * r['mean']:.2f}", f"{r['error'] / r['truth']:.2f}",
                             f"{r['model'] / r['truth']:.2f}", f"{100 * r['lo']:.2f}", f"{100 * r['hi']:.2f}", f"{100 * r['holds']:.0f}"])
    write_table(f"{folder}/retrieval-judged.csv", "set setting truth judged mean error model_error lo hi holds", rows)


def recommendations(folder, sets, pairs, sheets):
    """How often --recommend names a setting, and one that is above the limit, in per cent of the sheets."""
    rows = []
    for name, title in sets:
        for judged in pairs:
            found, _ = priced(folder, name, ("--sheet", str(judged), "--trials", str(sheets)))
            for r in found["limits"]:
                number = lambda value: "" if value is None else f"{value:.2f}"
                rows.append([title, judged, f"{100 * r['max_fn']:.3f}", f"{100 * r['recommended']:.1f}", f"{100 * r['above']:.1f}",
                             number(r["hardness"]), r["hardest_within"], number(r["hardest_within_hardness"])])
    write_table(f"{folder}/retrieval-recommended.csv", "set pairs limit recommended above hardness hardest_within hardest_hardness", rows)


def at_hardness(windows, hardness):
    """Two windows mixed to a hardness: share of false negatives, and its interval's ends mixed likewise."""
    windows = sorted(windows, key=lambda w: w["hardness"])
    for a, b in zip(windows, windows[1:]):
        if a["hardness"] <= hardness <= b["hardness"]:
            part = (hardness - a["hardness"]) / (b["hardness"] - a["hardness"])
            return [(1 - part) * a[k] + part * b[k] for k in ("false_negatives", "false_lo", "false_hi")]
    return None


def front(folder, name):
    """Shares in per cent. No windows stand beside what none is as hard, or as easy, as."""
    found, row = priced(folder, name)
    windows = [r for r in row.values() if r["family"] == "min-rank"]
    percent = lambda values: [f"{100 * v:.3f}" for v in values]
    rows = []
    for r in row.values():
        mixed = None if r["family"] == "min-rank" else at_hardness(windows, r["hardness"])
        rows.append([r["setting"], f"{r['hardness']:.2f}", *percent([r["false_negatives"], r["false_lo"], r["false_hi"]]),
                     *(percent(mixed) if mixed else [""] * 3), f"{100 * r['fewer']:.1f}", f"{100 * r['none']:.1f}"])
    write_table(f"{folder}/retrieval-settings.csv",
                "setting hardness false false_lo false_hi windows windows_lo windows_hi fewer none", rows)
    print(found["queries"], "queries")


def main():
    global HARDNEG
    p = argparse.ArgumentParser()
    p.add_argument("hardneg")
    p.add_argument("datasets")
    p.add_argument("folder")
    p.add_argument("--sheets", type=int, default=200)
    p.add_argument("--pairs", default="100,300,1000")
    p.add_argument("--queries", type=int, default=1000, help="of the code sets of the first table")
    a = p.parse_args()
    HARDNEG = a.hardneg
    os.makedirs(a.folder, exist_ok=True)
    sets = [("cora-class", "Cora, class", lambda n: make_cora(a.datasets, a.folder, n, True)),
            ("cora-citations", "Cora, citations", lambda n: make_cora(a.datasets, a.folder, n, False)),
            ("sentences", "sentences, by grade", lambda n: make_sentences(a.datasets, a.folder, n)),
            ("manual", "pages of the manual", lambda n: make_manual(a.datasets, a.folder, n)),
            ("code-hidden", "code, with hidden positives", lambda n: make_code(a.datasets, a.folder, n, a.queries, hidden=True)),
            ("code", "code", lambda n: make_code(a.datasets, a.folder, n, a.queries)),
            ("code-held", "", lambda n: make_code(a.datasets, a.folder, n, teacher=True))]
    for name, _, make in sets:
        if not os.path.exists(f"{a.folder}/{name}.h5"):
            make(name)
    pairs = [int(j) for j in a.pairs.split(",")]
    coverage(a.folder, [s[:2] for s in sets[:-1]], pairs, a.sheets)
    recommendations(a.folder, [s[:2] for s in sets[:-1]], pairs, a.sheets)
    front(a.folder, "code-held")


if __name__ == "__main__":
    main()
