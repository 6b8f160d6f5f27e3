# SPDX-License-Identifier: GPL-3.0-or-later
"""What others do, restated as plainly as they do it: one kernel per call, timed after a warm-up.

    peer.py KERNEL --n N --dim D --M M --K K --batch-size B --keep k --reps R --threads T [--data FILE]
            [--device cuda]

prints one JSON object: {"peer", "seconds": [...], "processor_seconds": [...]}, the latter of all threads. Exit code 3: a package is missing, named on
standard error. Data are random unit rows, as in `hardneg bench`, or (knn) the last step of a snapshot.
"""

import argparse
import json
import random
import sys
import time


def unit_rows(n, d, seed):
    import numpy as np

    x = np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x


def rows_of(path):
    import h5py
    import numpy as np

    with h5py.File(path, "r") as f:
        x = f["embeddings"][-1].astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x


def knn(a):
    """Faiss, exact inner products."""
    import faiss

    faiss.omp_set_num_threads(a.threads)
    x = rows_of(a.data) if a.data else unit_rows(a.n, a.dim, 0)

    def run():
        index = faiss.IndexFlatIP(x.shape[1])
        index.add(x)
        index.search(x, a.K + 1)  # the row itself is found too

    return "Faiss IndexFlatIP", run


def mine(a):
    """The best K passages of each query, before any filter: Faiss, exact inner products."""
    import faiss

    faiss.omp_set_num_threads(a.threads)
    queries, passages = unit_rows(a.queries, a.dim, 1), unit_rows(a.n, a.dim, 0)

    def run():
        index = faiss.IndexFlatIP(a.dim)
        index.add(passages)
        index.search(queries, a.K)

    return "Faiss IndexFlatIP", run


def topk(a):
    """The graph, or with --queries the best of each query, by products and topk: from host memory to host memory."""
    import torch

    torch.set_num_threads(a.threads)
    x = torch.from_numpy(unit_rows(a.n, a.dim, 0))
    queries = torch.from_numpy(unit_rows(a.queries, a.dim, 1)) if a.queries else x
    block = max(1, 1 << 29 >> a.n.bit_length())  # 1 to 2 GiB of products

    def run():
        keys, rows, found = x.to(a.device), queries.to(a.device), []
        for i in range(0, len(rows), block):
            scores = rows[i : i + block] @ keys.T
            if not a.queries:
                scores[range(len(scores)), range(i, i + len(scores))] = -2
            found.append(scores.topk(a.K, dim=1).indices.int().cpu())
        return torch.cat(found)

    return "PyTorch, products and topk", run


def proximity(a):
    """BatchSampler, algorithm 2: M random candidates per row, the K most similar kept."""
    import torch

    torch.set_num_threads(a.threads)
    x = torch.from_numpy(unit_rows(a.n, a.dim, 0))
    generator = torch.Generator().manual_seed(1)

    def run():
        graph = torch.empty((a.n, a.K), dtype=torch.int64)
        for i in range(0, a.n, 256):
            rows = x[i : i + 256]
            candidates = torch.randint(a.n, (len(rows), a.M), generator=generator)
            similarity = torch.bmm(x[candidates], rows.unsqueeze(2)).squeeze(2)
            best = similarity.topk(a.K, dim=1).indices
            graph[i : i + 256] = candidates.gather(1, best)

    return "PyTorch", run


def walk(a, alpha):
    """BatchSampler, algorithm 3, in Python; per batch. The graph is random: only its shape counts."""
    rng = random.Random(1)
    graph = [rng.sample(range(a.n), a.K) for _ in range(a.n)]
    batches = 20

    def run():
        for _ in range(batches):
            start = node = rng.randrange(a.n)
            batch, seen = [start], {start}
            while len(batch) < a.batch_size:
                if rng.random() < alpha:
                    node = start
                else:
                    node = rng.choice(graph[node])
                if node not in seen:
                    seen.add(node)
                    batch.append(node)

    return "Python", run, batches


def gcbs(a):
    """GCBS, algorithm 1: a quantile estimated from chunks of rows, a sparse graph, SciPy's order."""
    import numpy as np
    import torch
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    torch.set_num_threads(a.threads)
    x, y = (torch.from_numpy(unit_rows(a.n, a.dim, s)) for s in (1, 2))
    chunk = 1000

    def run():
        level = 1 - min(a.keep, a.n - 1) / a.n
        estimates = [
            np.quantile((x[i : i + chunk] @ y.T).numpy(), level) for i in range(0, a.n, chunk)
        ]
        threshold = float(np.median(estimates))
        rows, cols = [], []
        for i in range(0, a.n, chunk):
            r, c = ((x[i : i + chunk] @ y.T).numpy() > threshold).nonzero()
            rows.append(r + i)
            cols.append(c)
        row, col = np.concatenate(rows), np.concatenate(cols)
        graph = coo_matrix((np.ones(len(row), np.int8), (row, col)), (a.n, a.n)).tocsr()
        reverse_cuthill_mckee((graph + graph.T).tocsr(), symmetric_mode=True)

    return "PyTorch and SciPy", run


def loss(a):
    """Global NT-Xent: log-sum-exp of every row and column."""
    import torch

    torch.set_num_threads(a.threads)
    x, y = (torch.from_numpy(unit_rows(a.n, a.dim, s)) for s in (1, 2))

    def run():
        columns = torch.full((a.n,), -float("inf"))
        total = 0.0
        for i in range(0, a.n, 1000):
            logits = x[i : i + 1000] @ y.T / 0.5
            total += float(torch.logsumexp(logits, 1).sum())
            columns = torch.logaddexp(columns, torch.logsumexp(logits, 0))
        return total + float(columns.sum())

    return "PyTorch", run


BATCHES = 300  # as `hardneg bench cell` has them


def cell(a):
    """All metrics of batches under NT-Xent, as `hardneg bench cell-all`: one batch after the other, vectorised."""
    import numpy as np
    import torch

    torch.set_num_threads(a.threads)
    there = {"device": a.device}
    tau, rng, n = 0.5, np.random.default_rng(4), a.batch_size
    x, x1, x2 = (torch.tensor(unit_rows(a.n, a.dim, s), **there) for s in (0, 1, 2))
    labels = torch.tensor(rng.integers(0, 10, a.n), **there)
    batches = torch.tensor(np.stack([rng.permutation(a.n)[:n] for _ in range(BATCHES)]), **there)
    lse_row, lse_col, most = (torch.tensor(rng.random(a.n), **there) for _ in range(3))
    diagonal, upper = torch.eye(n, dtype=torch.bool, **there), torch.triu_indices(n, n, 1, **there)

    def run():
        out, cosines, histogram, visits = [], [], torch.zeros(200, **there), torch.zeros(a.n, **there)
        for ids in batches:
            same = labels[ids, None] == labels[None, ids]
            cosine, score = x[ids] @ x[ids].T, x1[ids] @ x2[ids].T
            positive = score.diagonal().double()
            powers = (score.double() / tau).exp()
            row, column = powers.sum(1).log(), powers.sum(0).log()
            out.append((lse_row[ids] - row).mean() + (lse_col[ids] - column).mean())
            out.append(((most[ids] - score.min(1).values) / tau).mean() + ((most[ids] - score.max(1).values) / tau).mean())
            out.append((positive / tau - row).exp().mean())
            for own, other in ((x1[ids] @ x1[ids].T, powers), (x2[ids] @ x2[ids].T, powers.T)):
                mass = (own.double() / tau).exp() + other
                mass[diagonal] = 0
                total, false = mass.sum(1), (mass * same).sum(1)
                out.append((torch.log(total + (positive / tau).exp()) - positive / tau).mean() + (false / total).mean())
            pairs, equal = cosine[upper[0], upper[1]], same[upper[0], upper[1]]
            true = pairs[~equal].double()
            out.append(true.mean() + torch.quantile(true, 0.99) + tau * torch.log((true / tau).exp().mean()))
            histogram += torch.histc(true, 200, -1, 1) + torch.histc(pairs[equal], 200, -1, 1)
            out.append(cosine.masked_fill(diagonal, -2).max(1).values.mean() + cosine.masked_fill(same, -2).max(1).values.mean())
            out.append(equal.double().mean())
            cosines.append(pairs)
            visits[ids] += 1
        return out, np.percentile(torch.cat(cosines).cpu().numpy(), (50, 90, 99)), histogram, visits.std()

    return "PyTorch", run


def cell_products(a):
    """The four matrix products of each of these batches, and nothing else."""
    import numpy as np

    x, x1, x2 = (unit_rows(a.n, a.dim, s) for s in (0, 1, 2))
    batches = [np.random.default_rng(b).permutation(a.n)[: a.batch_size] for b in range(BATCHES)]

    def run():
        for ids in batches:
            p, p1, p2 = x[ids], x1[ids], x2[ids]
            p @ p.T, p1 @ p2.T, p1 @ p1.T, p2 @ p2.T

    return "NumPy, products alone", run


KERNELS = {
    "cell-all": cell,
    "cell-products": cell_products,
    "knn": knn,
    "mine": mine,
    "topk": topk,
    "proximity-independent": proximity,
    "proximity-dealt": proximity,
    "walk-0.1": lambda a: walk(a, 0.1),
    "walk-0.7": lambda a: walk(a, 0.7),
    "gcbs": gcbs,
    "loss": loss,
}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("kernel", choices=KERNELS)
    for name, value in (("n", 10000), ("dim", 128), ("M", 1000), ("K", 100), ("batch-size", 256),
                        ("keep", 512), ("queries", 0), ("reps", 1), ("threads", 1)):
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--data")
    p.add_argument("--device", default="cpu")  # of topk and cell-all
    a = p.parse_args()
    try:
        name, run, *times = KERNELS[a.kernel](a)
    except ImportError as missing:
        sys.exit(print(f"{a.kernel}: {missing}", file=sys.stderr) or 3)
    seconds, processor = [], []
    for rep in range(a.reps + (a.n <= 20000 or a.device != "cpu")):  # large ones warm up within themselves
        begun, used = time.perf_counter(), time.process_time()
        run()
        seconds.append((time.perf_counter() - begun) / (times[0] if times else 1))
        processor.append((time.process_time() - used) / (times[0] if times else 1))
    print(json.dumps({"peer": name, "seconds": seconds[-a.reps :], "processor_seconds": processor[-a.reps :]}))


if __name__ == "__main__":
    main()
