# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of TUDataset and of documents in odd shapes: odd_folders.py DIR"""
import os
import random
import sys

root = sys.argv[1]


def write(path, lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as file:
        file.write(''.join(f'{line}\n' for line in lines))


def graphs(name, n, nodes, label, node_label=None, edge=.3):
    r = random.Random(1)
    pairs, indicator, node_labels, first = [], [], [], 1
    for g in range(n):
        for i in range(nodes(g)):
            indicator.append(g + 1)
            if node_label:
                node_labels.append(node_label(g, r))
            pairs += [f'{first + a}, {first + b}' for j in range(i) if r.random() < edge * (1 + g % 2)
                      for a, b in ((i, j), (j, i))]
        first += nodes(g)
    path = f'{root}/tudataset/{name}/{name}'
    write(path + '_A.txt', pairs)
    write(path + '_graph_indicator.txt', indicator)
    write(path + '_graph_labels.txt', [label(g) for g in range(n)])
    if node_label:
        write(path + '_node_labels.txt', node_labels)


def documents(name, label, edge=.05, empty=0, split=True, content=False):
    n, p, r = 90, 30, random.Random(1)
    rows, edges, parts = [], [], []
    for i in range(n):
        on = [] if i % 10 < empty else [j for j in range(p) if r.random() < (.4 if j % 3 == i % 3 else .1)] or [i % p]
        d = f'd{i}' if content else str(i)
        if content:
            rows.append(d + ''.join(f'\t{int(j in on)}' for j in range(p)) + f'\tclass_{label(i)}')
        else:
            rows.append(f'{d} {label(i)} ' + ' '.join(map(str, on)))
        edges += [f'{d} {d[:len(d) - len(str(i))]}{j}' for j in range(i)  # every seventh is isolated
                  if i % 7 and j % 7 and r.random() < edge * (3 if i % 3 == j % 3 else .3)]
        parts.append(d + ' ' + ['train', 'val', 'test'][3 * i // n])
    path = f'{root}/linqs/{name}/{name}'
    write(path + ('.content' if content else '.features'), rows)
    write(path + ('.cites' if content else '.edges'), edges + (['ghost d1'] if content else []))
    if split:
        write(path + '.split', parts)


graphs('ONECLASS', 40, lambda g: 5 + g % 4, lambda g: 1)
graphs('NOEDGES', 40, lambda g: 3 + g % 5, lambda g: g % 2, edge=0)
graphs('GAPS', 60, lambda g: 4 + g % 7, lambda g: (-7, 100, 3)[g % 3], lambda g, r: r.choice([-3, 0, 900]))
graphs('SINGLES', 50, lambda g: 1 + (g % 3 == 0) * 4, lambda g: g % 2, lambda g, r: g % 2)
graphs('RARE', 40, lambda g: 4 + g % 5, lambda g: int(g == 3))
graphs('TINY', 6, lambda g: 3, lambda g: g % 2)
documents('plain', lambda i: i % 3)
documents('oneclass', lambda i: 0)
documents('noedges', lambda i: i % 3, edge=0)
documents('empty', lambda i: i % 3, empty=2)
documents('gaps', lambda i: (0, 7, 40)[i % 3], split=False)
documents('unlabelled', lambda i: (-1, 7, 40)[i % 3], split=False)
documents('named', lambda i: 'abc'[i % 3], empty=1, content=True)
