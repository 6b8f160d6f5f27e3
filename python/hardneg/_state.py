# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a sampler, for checkpoints: what it is, and the batches of the epoch that it is in."""
from __future__ import annotations

import base64
from typing import Any, Dict, Tuple

import numpy as np

from ._arrays import whole

Ids = np.ndarray[Any, Any]
# What a sampler has to have in common with a state that it goes on from.
SAME = ("sampler", "items", "batch_size", "seed", "world_size", "split", "drop_last")
KEYS = {*SAME, "epoch", "batch", "build", "digest", "order", "sizes"}


def text_of(numbers: Ids) -> str:
    """Whole numbers below 2^31 as text: base64 of int32, little-endian."""
    return base64.b64encode(numbers.astype("<i4").tobytes()).decode()


def numbers_of(text: Any, name: str) -> Ids:
    """The numbers of a text."""
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), "<i4").astype(np.int64)
    except (TypeError, ValueError):
        raise ValueError(f"state: {name} is damaged: state_dict() wrote something else") from None


def _refuse_other_than_once(ids: Ids, n: int) -> None:
    """Raises unless every one of n items is there once."""
    times = np.bincount(ids, minlength=n)
    if (times != 1).any():
        item = int(np.argmax(times != 1))
        raise ValueError(f"state: item {item} is {times[item]} times in the order, and the sampler has every item once in an epoch: "
                         "the state was damaged; set_epoch() begins the epoch anew")


class Stored:
    """Batches of a state's epoch, in place of a build that draws them."""

    def __init__(self, state: Dict[str, Any], together: int, partition: bool):
        self.n = whole(state["items"], "state: items", 2, 2**31 - 1)
        self.text: Tuple[str, str] = state["order"], state["sizes"]
        self._ids, self._sizes = (numbers_of(text, name) for text, name in zip(self.text, ("order", "sizes")))
        if (not self._sizes.size or self._sizes.min() < 1 or self._sizes.max() > together or self._sizes.sum() != self._ids.size
                or self._ids.min() < 0 or self._ids.max() >= self.n):
            raise ValueError("state: order and sizes do not fit each other, or the number of items")
        if partition:
            _refuse_other_than_once(self._ids, self.n)
        self._together = together
        self._start = np.append(0, np.cumsum(self._sizes))

    def sizes(self, epoch: int) -> Ids:
        """Of the batches of the epoch."""
        del epoch
        return self._sizes

    def next(self, epoch: int, first: int, count: int) -> Ids:
        """Batches first .. first + count - 1 of it, short ones ending with -1."""
        del epoch
        rows = np.full((count, self._together), -1, np.int64)
        rows[np.arange(self._together) < self._sizes[first:first + count, None]] = self._ids[
            self._start[first]:self._start[first + count]]
        return rows


def check(state: Any, own: Dict[str, Any]) -> None:
    """Raises for what is no state, or one of a sampler other than this, whose differences it names. Items of 0: not known."""
    if not isinstance(state, dict) or not KEYS <= state.keys():
        raise ValueError("state: what state_dict() of this version gave is wanted; of one of an earlier version, set_epoch() begins "
                         "the epoch anew")
    differ = [f"{name} {state[name]!r}, here {own[name]!r}" for name in SAME
              if state[name] != own[name] and not (name == "items" and 0 in (own[name], state[name]))]
    if differ:
        raise ValueError(f"the state is of another sampler: {'; '.join(differ)}")
