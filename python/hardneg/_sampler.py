# SPDX-License-Identifier: GPL-3.0-or-later
"""Batches of a sampler for a training loop."""
from __future__ import annotations

import importlib
import threading
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from ._arrays import Array, Matrix, whole
from ._aside import Aside
from ._epoch import Epoch, Layout
from ._library import KEPT, Handle, Items, Measures
from ._state import Stored, check

MEASURED = ("view2", "labels", "teacher", "tuples")  # parts of the items that measure() looks at


class _Iteration:
    """Where an iteration is: in an epoch, before batch `batch` of this process."""

    def __init__(self, epoch: Epoch, batch: int, last: Optional[_Iteration]):
        self.epoch, self.batch, self.over = epoch, batch, False
        # Of an endless sampler, which goes from one to the next: the epoch before, and the batches up to this one.
        self.before = last.epoch if last else None
        self.passed: int = last.passed + last.epoch.steps if last else 0

    def place(self, batch: Optional[int]) -> Tuple[int, int, Epoch]:
        """An epoch, and where it goes on after so many batches of the iteration; None: those that were drawn."""
        at = self.batch if batch is None else batch - self.passed
        if at < 0 and self.before:
            return self.before.number, at + self.before.steps, self.before
        return self.epoch.number, at, self.epoch


class _Build(NamedTuple):
    """A build that is made aside."""
    handle: Aside[Handle]
    items: Items
    number: int


class BatchSampler:
    """Batches of ids from any sampler, as PyTorch's batch_sampler, for one process or several.

    x            [n, d] embeddings (NumPy, or a tensor); directions count, not lengths. None: refresh(x) gives them later
    sampler      "knn", "{batchsampler: {M: 500}}" or {"batchsampler": {"M": 500}}
    batch_size   of a process
    seed         the same seed and embeddings give the same batches
    rank, world_size
                 this process, of how many; all of them give the same x and seed
    split        "deal": whole batches go to the processes in turn: negatives stay in a process;
                 "batch": a batch of world_size * batch_size is cut evenly over them: for losses that
                 gather negatives across processes. One with fewer items than processes is left out
    group        a process group of torch.distributed (True: all processes): every build is compared
                 over it, as check_ranks() does
    drop_last    leaves out every batch that is short, on all processes alike
    endless      an iteration goes on with the next epoch, of the last build, and never ends
    threads      0 = all that the process may use; batches do not depend on them
    view2, labels, edges, features, teacher, groups
                 what some samplers need: second views, labels, a graph, raw features, embeddings
                 of another encoder, the source of each item (labels: one an item, or several: see
                 measure())
    tuples       (queries, passages): row i of x is a query, row i of view2 a passage that is relevant to it; their
                 texts, or ids, one for each row. A third part: further pairs [(query, passage)] that are relevant; a
                 fourth: a list of the mined negatives of each row, which come to a batch with it. For
                 keep_apart and no_duplicates; measure() counts false negatives by it
    progress     training so far, in [0, 1], for options such as alpha=0.2~0.05
    zero_rows    "refuse", or "keep": a row of zeros has a cosine of 0 to every item
    on_build     called with the seconds so far, twice a second, while the sampler is built

    What trainers look for is there: batch_size, drop_last, set_epoch, state_dict. Threads may share a sampler.
    """

    def __init__(self, x: Array, sampler: Any = "uniform", batch_size: int = 256, seed: int = 1, rank: int = 0,
                 world_size: int = 1, drop_last: bool = False, split: str = "deal", threads: int = 0, *,
                 group: Any = None, endless: bool = False, view2: Array = None, labels: Matrix = None,
                 edges: Matrix = None, features: Array = None, teacher: Array = None, groups: Array = None,
                 progress: float = 0.0, zero_rows: str = "refuse", tuples: Any = None,
                 on_build: Optional[Callable[[float], Any]] = None):
        if split not in ("deal", "batch"):
            raise ValueError(f"split {split!r}: 'deal' or 'batch'")
        world = whole(world_size, "world_size", 1, 2**20)
        least = 1 if split == "batch" and world > 1 else 2  # a batch has two items, of all processes that share it
        self._layout = Layout(whole(batch_size, "batch_size", least, 2**31 - 1), whole(rank, "rank", 0, world - 1), world, split,
                              bool(drop_last))
        self._group, self._endless, self._on_build = group, bool(endless), on_build
        self._arguments = sampler, self._layout.together, seed, threads
        self._lock = threading.Lock()
        self._epoch, self._batch = 0, 0  # that the next iteration begins with
        self._iteration: Optional[_Iteration] = None  # the last one that began
        self._set = False  # the next epoch, since it began
        self._next: Optional[Epoch] = None  # of the build, that the next iteration draws from, once it is asked for
        self._resumed: Optional[Epoch] = None  # of a state, until another epoch begins
        self._state_digest, self._state_note = "", ""
        self._building: Optional[_Build] = None  # that the next iteration takes
        self._handle, self._index = Handle(*self._arguments), -1  # which has no build
        self._items: Optional[Items] = None
        self._given: Dict[str, Any] = {"labels": labels, "edges": edges, "features": features, "teacher": teacher, "groups": groups,
                                       "progress": progress, "zero_rows": zero_rows, "tuples": tuples}
        if x is not None:
            self._build(Items(x, view2, **self._given), True)
        elif view2 is not None:
            raise ValueError("view2 comes with x: give both to refresh()")

    def _build(self, items: Items, wait: bool) -> None:
        """Builds beside the last build: iterations that draw from that go on, and it stays if this fails."""
        # While the epoch of a state has not begun, as one at its begin: the build of that epoch again, for those after it.
        again, layout = bool(self._pending()), self._layout
        if layout.together > max(items.n, layout.batch_size):  # in the words of what was given
            raise ValueError(f"split='batch': batch_size {layout.batch_size} for each of {layout.world} processes exceeds the "
                             f"{items.n} items: take a smaller batch_size")
        handle, index, epoch = Handle(*self._arguments), self._index + (not again), self._epoch + again
        refuse_unused(handle, [name for name in items.given() if name not in MEASURED])

        def make() -> Handle:
            handle.build(items, index, epoch, self._on_build if wait else None)
            if handle.capacity:
                raise ValueError(f"{handle.sampler} chooses negatives per anchor: use hardneg.mine()")
            items.drop_embeddings()  # the library has a copy
            return handle
        if wait:
            self._put(make(), items, index)
        else:
            self._building = _Build(Aside(make), items, index)

    def _put(self, handle: Handle, items: Items, index: int) -> None:
        if self._group:
            _compare(handle.digest, self._group)
        self._handle, self._items, self._index, self._state_note = handle, items, index, ""

    def _take_build(self) -> None:
        """Puts the build that is made aside in place, if there is one."""
        building = self._building
        if not building:
            return
        try:
            if building.handle.lost:
                raise ValueError("the process was forked while a thread built the sampler: refresh(x) comes first")
            self._put(building.handle.result(), building.items, building.number)
        except KeyboardInterrupt:
            raise  # the build goes on
        except BaseException:
            self._building = None
            raise
        self._building = None

    def _items_of(self, x: Array, view2: Array, given: Dict[str, Any]) -> Items:
        """Those of a rebuild: what is not given is as it was."""
        last, parts = self._items, {name: part for name, part in given.items() if part is not KEPT}
        if last is None:
            return Items(x, None if view2 is KEPT else view2, **{**self._given, **parts})
        if view2 is KEPT and last.view2 is not None:
            raise ValueError("the last build had second views, and x is new: give view2=, or view2=None to go on "
                             "without them")
        kept: Dict[str, Any] = {"progress": last.progress, "zero_rows": last.zero_rows}
        items = Items(x, None if view2 is KEPT else view2, **{**kept, **parts})
        items.keep(last, [name for name in given if name not in {**kept, **parts}])
        return items

    def refresh(self, x: Array, view2: Array = KEPT, labels: Matrix = KEPT, edges: Matrix = KEPT, features: Array = KEPT,
                teacher: Array = KEPT, groups: Array = KEPT, progress: float = KEPT, zero_rows: str = KEPT,
                tuples: Any = KEPT, *, wait: bool = True) -> None:
        """Rebuilds the sampler on new embeddings, of as many rows and columns or others. Arguments that you leave out keep
        their values, and None drops one; second views are embeddings, too, so give them again if the last build had any.
        If this fails, the sampler is as before. Needs memory for two builds.
        wait=False: builds in a thread of its own, on a copy of the arrays, while the iteration that has begun goes on; the
        next one waits for it and takes it, or raises what it failed with, and the one after that goes on with the build
        before."""
        self._take_build()
        items = self._items_of(x, view2, {"labels": labels, "edges": edges, "features": features, "teacher": teacher,
                                          "groups": groups, "progress": progress, "zero_rows": zero_rows, "tuples": tuples})
        if not wait:
            items.copy_embeddings()
        self._build(items, wait)

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the next iteration. Otherwise each iteration draws the epoch after the last one."""
        number = whole(epoch, "epoch", 0, 2**62)
        if number != self._epoch or self._iteration:
            self._batch = 0
        self._epoch, self._set = number, True

    def _place(self, batch: Optional[int], epoch: Optional[int]) -> Tuple[int, int, Optional[Epoch]]:
        """Number of an epoch, where it goes on, and its batches if it has begun."""
        run, next_one = self._iteration, not batch and self._over()
        if run and (not next_one if epoch is None else epoch in (run.epoch.number, run.before and run.before.number)):
            return run.place(batch)
        if epoch not in (None, self._epoch):
            raise ValueError(f"epoch {epoch} is neither the last one that began nor {self._epoch}, which comes next")
        return self._epoch, self._batch if batch is None else batch, self._pending()

    def state_dict(self, batch: Optional[int] = None, epoch: Optional[int] = None) -> Dict[str, Any]:
        """For a checkpoint: the place in an epoch, its batches, and what the sampler is; numbers and texts alone.
        batch: how many batches of the epoch this process has trained on; None: as many as were drawn, which a data loader
        does ahead. epoch: None: the one that began last, or, where all its batches were drawn and batch is None or 0, the next.
        Of an endless sampler `batch` counts on from epoch to epoch of an iteration."""
        number, at, begun = self._place(None if batch is None else whole(batch, "batch", 0, 2**62), epoch)
        steps = begun.steps if begun else 0
        if not 0 <= at <= steps:
            raise ValueError(f"batch {batch}: epoch {number} has " + (f"{steps} for this process" if begun else "not begun"))
        order, sizes = begun.text() if begun else ("", "")
        return {"epoch": number, "batch": at, "build": self._index, **self._identity(), "order": order, "sizes": sizes,
                "items": begun.source.n if begun else self._handle.n,
                "digest": self._handle.digest if self._handle.n else self._state_digest}

    def _identity(self) -> Dict[str, Any]:
        """What a state has to be of. items: 0 while nothing is built."""
        layout = self._layout
        return {"sampler": self.spec, "items": self._handle.n, "batch_size": layout.batch_size, "seed": int(self._arguments[2]),
                "world_size": layout.world, "split": layout.split, "drop_last": layout.drop_last}

    def load_state_dict(self, state: Dict[str, Any], batch: Optional[int] = None) -> None:
        """Goes on from a state, that of any process: the next iteration has the rest of its epoch, which needs no embeddings
        (BatchSampler(None, ...) makes a sampler without). batch: where it begins in place of the state's: 0 for trainers that
        skip what was trained on themselves. Later epochs are drawn from the build that there is then. ValueError names what
        this sampler and the state's differ in."""
        self._take_build()
        check(state, self._identity())
        number, build = whole(state["epoch"], "state: epoch", 0, 2**62), whole(state["build"], "state: build", -1, 2**62)
        begun = Epoch(Stored(state, self._layout.together, self._handle.partitions), number, self._layout) if state["order"] else None
        at = whole(state["batch"] if batch is None else batch, "batch", 0, begun.steps if begun else 0)
        self._epoch, self._batch, self._iteration = number, at, None
        self._resumed, self._index, self._state_digest = begun, build, str(state["digest"])
        other = self._handle.n and self._handle.digest != state["digest"]
        self._state_note = (f"the state is of other embeddings: {'epochs after' if begun else 'epochs from'} {number} "
                            f"{'' if begun else 'on '}are drawn from these" if other else "")

    @property
    def epoch(self) -> int:
        """The epoch that began last, or that comes first."""
        return self._iteration.epoch.number if self._iteration else self._epoch

    @property
    def batch_size(self) -> int:
        """Of a process."""
        return self._layout.batch_size

    @property
    def drop_last(self) -> bool:
        """Whether short batches are left out."""
        return self._layout.drop_last

    @property
    def sampler(self) -> BatchSampler:
        """Itself: Lightning and accelerate call batch_sampler.sampler.set_epoch()."""
        return self

    @property
    def spec(self) -> str:
        """The sampler with every option."""
        return self._handle.sampler

    @property
    def note(self) -> str:
        """The note of the last build ("M taken as 1999"), and of a state that was loaded since; or ""."""
        return "; ".join(filter(None, (self._handle.note, self._items.note if self._items else "", self._state_note)))

    @property
    def digest(self) -> str:
        """SHA-256 of sampler, seed, batch size and items of the build: processes with the same one draw the same
        batches."""
        return self._check().digest

    def check_ranks(self, group: Any = True) -> None:
        """Compares the build over all processes, each of which must call this. ValueError if two differ, as they may if
        each process computes the embeddings on its own device. group: a process group of torch.distributed, True for all
        processes, or a function that gives the list of what all processes gave it."""
        _compare(self.digest, group)

    def __reduce__(self) -> Any:
        return self._handle.__reduce__()

    def __repr__(self) -> str:
        epoch, _, _ = self._place(None, None)
        return (f"BatchSampler({self.spec}, {self._handle.n} items, batch_size={self.batch_size}, "
                + (f"rank={self._layout.rank} of {self._layout.world} by {self._layout.split!r}, " if self._layout.world > 1 else "")
                + f"epoch={epoch}, build={self._index})")

    def _check(self) -> Handle:
        if not self._handle.n:
            raise ValueError("nothing is built: refresh(x) comes first")
        return self._handle

    def _over(self) -> bool:
        """Whether the next iteration counts, not the last one."""
        return self._set or not self._iteration or self._iteration.over

    def _pending(self) -> Optional[Epoch]:
        """The epoch of a state, if it is the next one."""
        return self._resumed if self._resumed and self._resumed.number == self._epoch else None

    def _upcoming(self) -> Epoch:
        """The epoch of the next iteration."""
        pending, number = self._pending(), self._epoch
        if pending:
            if self._handle.n not in (0, pending.source.n):
                raise ValueError(f"epoch {number} of the state is of {pending.source.n} items, x has {self._handle.n}")
            return pending
        self._take_build()
        handle, epoch = self._check(), self._next
        if epoch is None or epoch.source is not handle or epoch.number != number:
            epoch = self._next = Epoch(handle, number, self._layout)
        return epoch

    def _current(self) -> Epoch:
        """The epoch of the current iteration, or of the next one."""
        run = self._iteration  # what a state left of an epoch may be drawn already, and nothing built
        return run.epoch if run and (not self._over() or not (self._handle.n or self._pending())) else self._upcoming()

    def __len__(self) -> int:
        if self._endless:
            raise TypeError("an endless sampler has no length")
        return self._current().steps

    def arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        """The batches of the epoch as arrays [up to 64, batch_size], short ones ending with -1. Does not count as
        an iteration."""
        return self._current().blocks()

    def _begin(self, last: Optional[_Iteration] = None) -> _Iteration:
        with self._lock:  # one iteration per epoch
            run = self._iteration = _Iteration(self._upcoming(), self._batch, last)
            self._resumed, self._set = self._pending(), False
            if self._endless and not run.epoch.steps:
                raise ValueError(f"epoch {run.epoch.number} has no batches, so that an endless sampler would never give one")
            self._epoch, self._batch = self._epoch + 1, 0
        return run

    def __iter__(self) -> Iterator[List[int]]:
        run = self._begin()  # with the first batch: an iterator that is never used does not count as an epoch
        try:
            while True:
                for ids in run.epoch.batches(run.batch):
                    run.batch += 1
                    yield ids
                if not self._endless:
                    return
                run.over = True
                run = self._begin(run)
        finally:  # an epoch that is left early is over, too
            run.over = True

    def measure(self, temperature: float = 0.5, loss: Optional[str] = None, weighting: Any = None,
                epoch_batches: int = 0) -> Measures:
        """measure() of the epoch's batches of all processes; with keep_apart also apart_moved and apart_left: tuples that
        were exchanged between batches, and those that found no place."""
        epoch = self._current()
        handle = epoch.source if isinstance(epoch.source, Handle) else self._check()
        found = handle.measure(epoch.everyone(), temperature, loss, weighting, epoch_batches)
        if handle is epoch.source:
            found.update(handle.apart(epoch.number))
        return found


def refuse_unused(handle: Handle, given: List[str]) -> None:
    """Raises for parts of the items that the sampler does not use."""
    for name in given:
        if not handle.needs(name):
            hint = "; exclude: labels leaves out items of the anchor's label" if (
                name == "labels" and handle.sampler.startswith("mined ")) else ""
            raise ValueError(f"{name}: {handle.sampler} does not look at them: leave them out{hint}")


def _compare(digest: str, group: Any) -> None:
    if callable(group):
        digests = list(group(digest))
    else:
        dist: Any = importlib.import_module("torch.distributed")
        group = None if group is True else group
        digests = [""] * dist.get_world_size(group)
        dist.all_gather_object(digests, digest, group=group)
    other = [rank for rank, found in enumerate(digests) if found != digests[0]]
    if other:
        raise ValueError(f"processes {', '.join(map(str, other[:8]))} have other embeddings, options or seeds than process "
                         "0, and would draw batches that do not fit each other: embed in one process and broadcast x")
