# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches of a DataLoader in worker processes against those without: `tests/python_loader.py METHOD WORKERS...`.
The workers use the module as well, after this process used it and OpenMP. Prints a line, or fails."""
import sys

import numpy as np
import torch

import hardneg

X = np.random.default_rng(2).standard_normal((600, 16)).astype(np.float32)


class Mining(torch.utils.data.Dataset):
    """Items are those of X, and the sum of ids that the module draws where the item is made."""
    drawn = None

    def __len__(self):
        return len(X)

    def __getitem__(self, i):
        if Mining.drawn is None:
            sampler = hardneg.BatchSampler(X, "{batchsampler: {M: 50, K: 20}}", 32, 5, threads=2)
            Mining.drawn = [ids[0] for ids in sampler]
        return i, Mining.drawn[i % len(Mining.drawn)]


def epochs(method, workers, persistent):
    sampler = hardneg.BatchSampler(X, "knn", 50, 1, threads=2)
    how = {"multiprocessing_context": method, "persistent_workers": persistent} if workers else {}
    loader = torch.utils.data.DataLoader(Mining(), batch_sampler=sampler, num_workers=workers, **how)
    found = [[part.tolist() for part in batch] for _ in range(2) for batch in loader]
    sampler.refresh(X[::-1])
    return found + [[part.tolist() for part in batch] for batch in loader]


if __name__ == "__main__":
    torch.set_num_threads(2)
    assert float((torch.ones(300, 300) @ torch.ones(300, 300)).sum()) > 0
    wanted = epochs(None, 0, False)
    for count in sys.argv[2:]:
        for persistent in (False, True):
            assert epochs(sys.argv[1], int(count), persistent) == wanted, (count, persistent)
    print("the same", len(wanted))
