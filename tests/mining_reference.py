# SPDX-License-Identifier: GPL-3.0-or-later
"""Mining as sentence-transformers does it, held to a reimplementation of its function in plain Python: random cases, text in,
text out. Equal scores come by place in the corpus on both sides; the library itself leaves their order open.

    mining_reference.py FOLDER [CASES [FIRST]]

FOLDER: the one with st_reference.py. FIRST: seed of the first case. HARDNEG_LIBRARY names the library."""
import os
import sys

import numpy as np

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"), sys.argv[1]]
import hardneg  # noqa: E402
import st_reference  # noqa: E402

CASES = int(sys.argv[2]) if len(sys.argv) > 2 else 600
FIRST = int(sys.argv[3]) if len(sys.argv) > 3 else 0
COUNTED = ("absolute_margin", "relative_margin", "max_score")  # min_score counts there what others took, too


def vectors(rng, n, exact):
    """Unit rows; exact: with entries of 1/4, whose products are exact and often equal."""
    if exact:
        return rng.choice(np.float32([-.25, .25]), (n, 16))
    x = rng.normal(size=(n, int(rng.integers(4, 25)))).astype(np.float32)
    return (x / np.linalg.norm(x.astype(float), axis=1, keepdims=True)).astype(np.float32)


class Case:
    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        queries, passages = int(rng.integers(1, 9)), int(rng.integers(6, 70))
        x = vectors(rng, queries + passages, seed % 3 == 0)
        self.query = {f"query {i}": x[i] for i in range(queries)}
        self.passage = {f"passage {i}": x[queries + i] for i in range(passages)}
        if rng.random() < .3:  # a passage that is the query
            self.passage["query 0"] = self.query["query 0"]
        texts = list(self.passage)
        # Each pair once; the corpus holds some texts twice and leaves out some of the positives.
        self.rows = [(q, texts[p]) for q in self.query
                     for p in rng.choice(len(texts), int(rng.integers(1, 5)), replace=False)]
        self.corpus = [texts[p] for p in rng.integers(0, len(texts), int(rng.integers(len(texts) // 2, 2 * len(texts))))]
        n, first = int(rng.integers(1, 6)), int(rng.choice([0, 0, 1, 3]))
        self.n, self.options = n, {"num_negatives": n, "range_min": first}
        if rng.random() < .5:
            self.options["range_max"] = first + n + int(rng.integers(0, 25))
        for name, values in (("absolute_margin", (0, .05, .125, .3)), ("relative_margin", (0, .05, .25, .5)),
                             ("max_score", (.125, .3, .6)), ("min_score", (-.25, -.1, 0))):
            if rng.random() < .35:
                self.options[name] = float(rng.choice(values))
        if rng.random() < .15:
            self.options["include_positives"] = True

    def wanted(self):
        out, skipped = st_reference.reference(self.rows, self.query, self.passage, self.corpus, output_format="labeled-pair", **self.options)
        negatives = {q: [] for q in self.query}
        for q, p, label in out:
            if label == 0:
                negatives[q].append(p)
        return negatives, skipped

    def found(self):
        texts = self.corpus + [p for _, p in self.rows]
        queries = list(self.query)
        place = {}
        for i, text in enumerate(texts):
            place.setdefault(text, i)
        o = self.options
        given = {name: o[name] for name in COUNTED + ("min_score", "include_positives") if name in o}
        if "range_max" in o:
            given["max_rank"] = o["range_max"]
        mined = hardneg.mine(np.stack([self.query[q] for q in queries]), np.stack([self.passage[t] for t in texts]),
                             np.array([(queries.index(q), place[p]) for q, p in self.rows]), query_texts=queries, corpus_texts=texts,
                             preset="sentence-transformers", negatives=self.n, min_rank=o["range_min"] + 1, threads=1, **given)
        return {q: [texts[i] for i in row if i >= 0] for q, row in zip(queries, mined.ids)}, mined.attrition


def main():
    negatives = 0
    for seed in range(FIRST, FIRST + CASES):
        case = Case(seed)
        (wanted, skipped), (found, lost) = case.wanted(), case.found()
        for q in wanted:
            if wanted[q] != found[q]:
                sys.exit(f"case {seed}, {case.options}: {q} has {found[q]} instead of {wanted[q]}")
        for name in COUNTED:
            count = lost[name].candidates if name in lost else 0
            if count != skipped[name]:
                sys.exit(f"case {seed}, {case.options}: {name} took away {count} passages instead of {skipped[name]}")
        negatives += sum(map(len, found.values()))
    print(f"{CASES} cases, {negatives} negatives: all the same")
    if negatives < 4 * CASES:
        sys.exit("too few negatives for this to say much")


if __name__ == "__main__":
    main()
