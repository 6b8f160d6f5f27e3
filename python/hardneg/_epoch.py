# SPDX-License-Identifier: GPL-3.0-or-later
"""The batches of an epoch, as they come to processes."""
from __future__ import annotations

import functools
import time
import warnings
from typing import Any, Iterator, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from ._arrays import counted
from ._aside import Aside
from ._library import Handle
from ._state import Stored, text_of

AT_ONCE = 64  # batches of a call
SLOW = 0.002  # seconds that a loop may wait for some
Ids = np.ndarray[Any, Any]


class Layout(NamedTuple):
    """How batches come to processes."""
    batch_size: int  # of a process
    rank: int
    world: int
    split: str
    drop_last: bool

    @property
    def together(self) -> int:
        """Items of a batch that the sampler draws."""
        return self.batch_size * (self.world if self.split == "batch" else 1)


class Epoch:
    """An epoch of a build, or of a state, as a process gets it. Batches that are not kept are left out on all processes."""

    def __init__(self, source: Union[Handle, Stored], number: int, layout: Layout):
        self.source, self.number, self._layout = source, number, layout
        self._text = source.text if isinstance(source, Stored) else None
        self.sizes = sizes = source.sizes(number)
        self._step = 1 if layout.split == "batch" else layout.world  # batches of one step of all processes
        least = layout.together if layout.drop_last else layout.world // self._step
        kept = np.flatnonzero(sizes >= least)
        self._kept = kept[:len(kept) // self._step * self._step]
        self.steps = len(self._kept) // self._step  # of each process
        if not self.steps:
            warnings.warn(self._why_none(len(kept)), stacklevel=5)

    def _why_none(self, kept: int) -> str:
        layout, largest = self._layout, int(self.sizes.max())
        if kept:
            return (f"epoch {self.number} is empty: it has {counted(kept, 'batch')} for {layout.world} processes: take a smaller "
                    "batch_size, or split='batch'")
        if layout.drop_last:
            return (f"epoch {self.number} is empty: drop_last leaves no batch, as they have up to {largest} of "
                    f"{layout.together} items: take a smaller batch_size, or drop_last=False")
        return f"epoch {self.number} is empty: its batches have up to {counted(largest, 'item')} for {layout.world} processes"

    def _rows(self, first: int, end: int) -> Ids:
        """Batches that are kept, first .. end - 1 of them."""
        number = self._kept[first:end]
        rows: Ids = self.source.next(self.number, int(number[0]), int(number[-1] - number[0]) + 1)
        kept: Ids = rows[number - number[0]]
        return kept

    def _own(self, rows: Ids, first: int) -> Ids:
        """What is this process's of some rows."""
        layout = self._layout
        if self._step == layout.world:
            return rows[layout.rank::layout.world]
        own = np.full((len(rows), layout.batch_size), -1, rows.dtype)
        for to, row, size in zip(own, rows, self.sizes[self._kept[first:]].tolist()):
            part = row[layout.rank * size // layout.world:(layout.rank + 1) * size // layout.world]
            to[:len(part)] = part
        return own

    def _block(self, first: int, count: int) -> Ids:
        begin, end = first * self._step, min(first + count, self.steps) * self._step
        return self._own(self._rows(begin, end), begin)

    def blocks(self) -> Iterator[Ids]:
        """This process's batches, up to AT_ONCE at a time."""
        return (self._block(step, AT_ONCE) for step in range(0, self.steps, AT_ONCE))

    def batches(self, first: int) -> Iterator[List[int]]:
        """This process's batches from `first` on, as lists. The first ones are drawn by few, as they are waited for, and where
        drawing is slow further ones aside, while those before them are trained on."""
        count = 1
        ahead: Optional[Aside[Ids]] = None
        while first < self.steps:
            begun = time.monotonic()
            block = ahead.result() if ahead else self._block(first, count)
            slow = ahead or time.monotonic() - begun > SLOW
            first, count = first + count, min(2 * count, AT_ONCE)
            ahead = Aside(functools.partial(self._block, first, count)) if slow and first < self.steps else None
            for row in block:
                yield row[row >= 0].tolist() if row[-1] < 0 else row.tolist()

    def text(self) -> Tuple[str, str]:
        """Order and sizes of all its batches, for a state."""
        if self._text is None:
            rows = self.source.next(self.number, 0, len(self.sizes))
            self._text = text_of(rows[rows >= 0]), text_of(self.sizes)
        return self._text

    def everyone(self) -> Ids:
        """The batches of all processes, those of split="batch" before they are cut."""
        if not self.steps:
            raise ValueError(f"epoch {self.number} has no batches")
        return self._rows(0, len(self._kept))
