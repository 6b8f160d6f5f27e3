# SPDX-License-Identifier: GPL-3.0-or-later
"""Task `pairs` by dictionaries and loops. oracle_pairs.py make FOLDER: a small folder as CodeSearchNet is published;
oracle_pairs.py check FOLDER RESULTS [plain]: the features' columns at step 0, by the definitions, or with
tf: plain and joint."""
import json, math, random, re, sys
from collections import Counter

NAMES = "train", "test", "valid", "codebase"


def make(folder):
    rng = random.Random(4)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(1, 7))) for _ in range(70)]
    for name, n in zip(NAMES, (90, 30, 10, 25)):
        with open(f"{folder}/{name}.jsonl", "w") as out:
            for i in range(n):
                own = rng.choices(words, k=rng.randint(3, 8))
                code = "def " + own[0] + "".join(w.capitalize() for w in own[1:3]) + "_2x(HTTPServer):\n" + " ".join(own[2:])
                row = {"repo": "a/b", "func_name": own[0], "docstring": " ".join(own) + f" {i % 7}", "code": code, "partition": name}
                if i % 9 == 1: row["docstring"] = rng.choice(["", " \n", None])
                if i % 9 == 2: del row["docstring"]
                if i % 9 == 3: row["docstring"] = "Return the name."
                if i % 9 == 4: row.update(code_tokens=re.findall(r"\w+|\S", code), docstring_tokens=own[:2])
                if i % 9 == 5: row["docstring"] += " \U0001f600\ud83d\u2028\u00c4rger\0x"
                if i % 9 == 6: row["code"] = rng.choice(["{}", "\ud800", "((" + own[0]])
                line = json.dumps(row) + "\n"
                out.write(line if i % 9 else 2 * line)


def text(row, tokens, plain):
    value = " ".join(row[tokens]) if tokens in row else row.get(plain) or ""
    return re.sub("[\0\ud800-\udfff]", "\ufffd", value).encode()


WORD = re.compile(rb"[A-Z]+(?=[A-Z][a-z\x80-\xff])|[A-Z]*[a-z\x80-\xff]+|[A-Z]+|[0-9]+")


def fnv(space, data):
    h = ((2166136261 ^ space) * 16777619) & 0xffffffff
    for byte in data: h = ((h ^ byte) * 16777619) & 0xffffffff
    return h


def fold(h, bits): return ((h >> bits) ^ h) & ((1 << bits) - 1)


def bag(data):
    own = [w.lower() for w in WORD.findall(data)][:128] or [b"?"]
    rest = [(3, m[i:i + k]) for m in (b"<" + w + b">" for w in own) for k in (3, 4, 5) for i in range(len(m) - k + 1)]
    rest += [(2, a + b" " + b) for a, b in zip(own, own[1:])]
    return Counter(fold(fnv(1, w), 15) for w in own), Counter(32768 + fold(fnv(*r), 16) for r in rest)


def first(ties, wanted):
    """The mean of 1 / rank of the first that is wanted."""
    rank, missing, mean = 0, 1, 0
    for tie in ties:
        r, left = sum(d in wanted for d in tie), len(tie)
        for _ in tie:
            rank += 1
            if rank <= 1000 and left and r: mean += missing * r / left / rank
            missing *= max(left - r, 0) / left
            left -= 1
    return mean


def within(ties, wanted, k):
    """The mean share of the wanted among the first k."""
    found = 0
    for tie in ties:
        ranks = min(len(tie), k)
        found += sum(d in wanted for d in tie) * ranks / len(tie) if tie else 0
        k -= ranks
    return found / len(wanted)


def check(folder, results, tf="log"):
    import h5py, numpy as np
    rows = {name: [json.loads(line) for line in open(f"{folder}/{name}.jsonl")] for name in NAMES}
    pairs = {name: [(text(r, "docstring_tokens", "docstring"), text(r, "code_tokens", "code")) for r in rows[name]] for name in NAMES}
    documents = list(dict.fromkeys(d for name in NAMES for _, d in pairs[name]))
    test = {}
    for q, d in pairs["test"]:
        if q.strip(): test.setdefault(q, set()).add(d)
    trained = {q for q, _ in pairs["train"] if q.strip()}
    fit = list(trained) + documents
    bags = {t: bag(t) for t in set(fit) | set(test)}
    df = Counter(b for t in fit for half in bags[t] for b in half)

    def weights(t):
        out = {}
        for half in bags[t]:
            w = {b: (n if tf == "plain" else 1 + math.log(n)) * (1 + math.log((1 + len(fit)) / (1 + df[b]))) for b, n in half.items()}
            length = 1 if tf == "plain" else math.sqrt(sum(x * x for x in w.values()))
            out.update((b, x / length) for b, x in w.items())
        length = math.sqrt(sum(x * x for x in out.values()))
        return {b: x / length for b, x in out.items()}

    # As stored, in single precision.
    all_weights = {t: {b: float(np.float32(x)) for b, x in weights(t).items()} for t in bags}
    sums = np.zeros(3)
    own = {d for wanted in test.values() for d in wanted}
    for q, wanted in test.items():
        score = {d: sum(x * all_weights[d].get(b, 0) for b, x in all_weights[q].items()) for d in documents}
        # Documents of equal score are in every order alike.
        ties = [[d for d in documents if score[d] == s] for s in sorted(set(score.values()), reverse=True)]
        sums += [first(ties, wanted), first([[d for d in t if d in own] for t in ties], wanted), within(ties, wanted, 100)]
    told = [h5py.File(f"{results}/results.h5")["training"][c][0] for c in ("tfidf_mrr", "tfidf_mrr_test", "tfidf_recall_100")]
    print(sums / len(test), told)
    assert np.allclose(sums / len(test), told, atol=1e-9) and sums[0] < sums[1]


make(sys.argv[2]) if sys.argv[1] == "make" else check(*sys.argv[2:])
