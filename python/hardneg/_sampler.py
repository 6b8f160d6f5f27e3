"""Batches of a sampler for a training loop."""
from __future__ import annotations

import importlib
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import numpy as np

from ._arrays import Array, Matrix, whole
from ._epoch import Epoch, Layout
from ._library import KEPT, Handle, Items, Measures

MEASURED = ("view2", "labels", "teacher", "tuples")  # parts of the items that measure() looks at


class _Iteration:
    """Where an iteration is: in an epoch, before batch `batch` of this process."""

    def __init__(self, epoch: Epoch, batch: int):
        self.epoch, self.batch, self.over = epoch, batch, False


class BatchSampler:
    """Batches of ids from any sampler, as PyTorch's batch_sampler, for one process or several.

    x            [n, d] embeddings (NumPy, or a tensor); directions count, not lengths
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
                 texts, or ids, one for each row. Or with a third part, further pairs [(query, passage)] that are
                 relevant. For keep_apart and no_duplicates; measure() counts false negatives by it
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
        self._layout = Layout(whole(batch_size, "batch_size", 1, 2**31 - 1), whole(rank, "rank", 0, world - 1), world, split,
                              bool(drop_last))
        self._group, self._endless, self._on_build = group, bool(endless), on_build
        self._arguments = sampler, self._layout.together, seed, threads
        self._lock = threading.Lock()
        self._epoch, self._batch = 0, 0  # that the next iteration begins with
        self._iteration: Optional[_Iteration] = None  # the last one that began, unless an epoch was set since
        self._next: Optional[Epoch] = None  # of the build, that the next iteration draws from, once it is asked for
        self._wanted: Optional[int] = None  # the build that a state asks for
        self._build(Items(x, view2, labels, edges, features, teacher, groups, progress, zero_rows, tuples), 0)

    def _build(self, items: Items, index: int) -> None:
        """Builds beside the last build: iterations that draw from that go on, and it stays if this fails."""
        handle = Handle(*self._arguments)
        refuse_unused(handle, [name for name in items.given() if name not in MEASURED])
        handle.build(items, index, self._epoch, self._on_build)
        if handle.capacity:
            raise ValueError(f"{handle.sampler} chooses negatives per anchor: use hardneg.mine()")
        if self._group:
            _compare(handle.digest, self._group)
        items.drop_embeddings()  # the library has a copy
        self._handle, self._items, self._index, self._wanted = handle, items, index, None

    def refresh(self, x: Array, view2: Array = KEPT, labels: Matrix = KEPT, edges: Matrix = KEPT, features: Array = KEPT,
                teacher: Array = KEPT, groups: Array = KEPT, progress: float = KEPT, zero_rows: str = KEPT,
                tuples: Any = KEPT) -> None:
        """Rebuilds the sampler on new embeddings, of as many rows and columns or others. Arguments that you leave out keep
        their values, and None drops one; second views are embeddings, too, so give them again if the last build had any.
        If this fails, the sampler is as before. Needs memory for two builds."""
        if view2 is KEPT and self._items.view2 is not None:
            raise ValueError("the last build had second views, and x is new: give view2=, or view2=None to go on "
                             "without them")
        last, given = self._items, {"labels": labels, "edges": edges, "features": features, "teacher": teacher,
                                    "groups": groups, "tuples": tuples}
        items = Items(x, None if view2 is KEPT else view2, progress=last.progress if progress is KEPT else progress,
                      zero_rows=last.zero_rows if zero_rows is KEPT else zero_rows,
                      **{name: part for name, part in given.items() if part is not KEPT})
        items.keep(last, [name for name, part in given.items() if part is KEPT])
        self._build(items, self._index + 1 if self._wanted is None else self._wanted)

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch of the next iteration. Otherwise each iteration draws the epoch after the last one."""
        number = whole(epoch, "epoch", 0, 2**62)
        if number != self._epoch or self._iteration:
            self._batch = 0
        self._epoch, self._iteration = number, None

    def state_dict(self) -> Dict[str, int]:
        """For a checkpoint: the epoch, the batch of this process that comes next in it, and the build."""
        run = self._iteration
        epoch, batch = (run.epoch.number, run.batch) if run and not run.over else (self._epoch, self._batch)
        return {"epoch": epoch, "batch": batch, "build": self._index if self._wanted is None else self._wanted}

    def load_state_dict(self, state: Dict[str, int]) -> None:
        """Resumes at a state: the next iteration begins with the batch that follows it. If the state is of a later build
        than the first, call refresh(x) with the embeddings of that build before you draw batches."""
        if not isinstance(state, dict) or not {"build", "epoch"} <= state.keys():
            raise ValueError("state: what state_dict() gave is wanted")
        build = whole(state["build"], "build", 0, 2**62)
        self.set_epoch(state["epoch"])
        self._batch = whole(state.get("batch", 0), "batch", 0, 2**62)
        self._wanted = build if build != self._index else None

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
        """The note of the last build ("M taken as 1999"), or ""."""
        return self._handle.note

    @property
    def digest(self) -> str:
        """SHA-256 of sampler, seed, batch size and items of the build: processes with the same one draw the same
        batches."""
        return self._handle.digest

    def check_ranks(self, group: Any = True) -> None:
        """Compares the build over all processes, each of which must call this. ValueError if two differ, as they may if
        each process computes the embeddings on its own device. group: a process group of torch.distributed, True for all
        processes, or a function that gives the list of what all processes gave it."""
        _compare(self.digest, group)

    def __reduce__(self) -> Any:
        return self._handle.__reduce__()

    def __repr__(self) -> str:
        state = self.state_dict()
        return (f"BatchSampler({self.spec}, {self._handle.n} items, batch_size={self.batch_size}, "
                + (f"rank={self._layout.rank} of {self._layout.world} by {self._layout.split!r}, " if self._layout.world > 1 else "")
                + f"epoch={state['epoch']}, build={state['build']})")

    def _check(self) -> Handle:
        if self._wanted is not None:
            raise ValueError(f"the state is of build {self._wanted}: refresh(x) comes first")
        return self._handle

    def _upcoming(self) -> Epoch:
        """The epoch of the next iteration."""
        handle, number = self._check(), self._epoch
        epoch = self._next
        if epoch is None or epoch.source is not handle or epoch.number != number:
            epoch = self._next = Epoch(handle, number, self._layout)
        return epoch

    def _current(self) -> Epoch:
        """The epoch of the current iteration, or of the next one."""
        run = self._iteration
        return run.epoch if run and not run.over else self._upcoming()

    def __len__(self) -> int:
        if self._endless:
            raise TypeError("an endless sampler has no length")
        return self._current().steps

    def arrays(self) -> Iterator[np.ndarray[Any, Any]]:
        """The batches of the epoch as arrays [up to 64, batch_size], short ones ending with -1. Does not count as
        an iteration."""
        return self._current().blocks(0)

    def _begin(self) -> _Iteration:
        with self._lock:  # one iteration per epoch
            run = self._iteration = _Iteration(self._upcoming(), self._batch)
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
                run = self._begin()
        finally:  # an epoch that is left early is over, too
            run.over = True

    def measure(self, temperature: float = 0.5, loss: Optional[str] = None, weighting: Any = None,
                epoch_batches: int = 0) -> Measures:
        """measure() of the epoch's batches of all processes."""
        epoch = self._current()
        return epoch.source.measure(epoch.everyone(), temperature, loss, weighting, epoch_batches)


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
