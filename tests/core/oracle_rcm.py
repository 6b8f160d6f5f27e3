# SPDX-License-Identifier: GPL-3.0-or-later
"""Orders graphs by SciPy's reverse Cuthill-McKee.

Reads graphs from standard input, one after the other: a line "n m", then m lines "u v", each edge
once. Writes one line per graph: the order, separated by blanks.
"""

import sys

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import reverse_cuthill_mckee


def order(n, edges):
    rows = np.concatenate([edges[:, 0], edges[:, 1]])
    columns = np.concatenate([edges[:, 1], edges[:, 0]])
    graph = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    graph.sort_indices()
    return reverse_cuthill_mckee(graph, symmetric_mode=True)


def main():
    numbers = np.array(sys.stdin.read().split(), dtype=np.int64)
    at = 0
    while at < len(numbers):
        n, m = numbers[at : at + 2]
        at += 2
        edges = numbers[at : at + 2 * m].reshape(m, 2)
        at += 2 * m
        print(*order(int(n), edges))


if __name__ == "__main__":
    main()
