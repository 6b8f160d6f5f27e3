# SPDX-License-Identifier: GPL-3.0-or-later
"""libhardneg through ctypes: the structs of hardneg.h, and errors as exceptions."""
from __future__ import annotations

import _thread
import ctypes
import os
import threading
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from ._arrays import Array, Matrix, Pair, c_text, compressed, counted, floats, numbers, several, spec_text, texts, whole

OK, USAGE, DATA, INTERRUPTED, MEMORY = 0, 2, 3, 130, 200
THREADS_MAX = 512  # of the library


class CItems(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("n", ctypes.c_int64), ("d", ctypes.c_int64),
                ("x", ctypes.c_void_p), ("view2", ctypes.c_void_p), ("labels", ctypes.c_void_p),
                ("edge_start", ctypes.c_void_p), ("edge", ctypes.c_void_p),
                ("features", ctypes.c_void_p), ("feature_dims", ctypes.c_int64),
                ("index", ctypes.c_int64), ("progress", ctypes.c_double),
                ("label_start", ctypes.c_void_p), ("label", ctypes.c_void_p),
                ("zero_rows", ctypes.c_int64), ("teacher", ctypes.c_void_p),
                ("teacher_dims", ctypes.c_int64), ("group", ctypes.c_void_p),
                ("query_text", ctypes.c_void_p), ("passage_text", ctypes.c_void_p),
                ("relevant", ctypes.c_void_p), ("relevant_pairs", ctypes.c_int64),
                ("epoch", ctypes.c_int64), ("negative_text", ctypes.c_void_p), ("negative_texts", ctypes.c_int64)]


class CMeasure(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("temperature", ctypes.c_double),
                ("loss", ctypes.c_char_p), ("weighting", ctypes.c_char_p),
                ("epoch_batches", ctypes.c_int64), ("negative", ctypes.c_void_p),
                ("capacity", ctypes.c_int64), ("population", ctypes.c_int64)]


class CAttrition(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("filter", ctypes.c_char * 32), ("other_label", ctypes.c_int64),
                ("same_label", ctypes.c_int64), ("unlabelled", ctypes.c_int64)]


class COption(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("help", ctypes.c_char_p),
                ("initial", ctypes.c_char_p), ("range", ctypes.c_char * 256)]


def _find() -> str:
    """Beside this file (a wheel), in the build folder of a checkout, or where the system looks."""
    here = os.path.dirname(os.path.abspath(__file__))
    wanted = os.environ.get("HARDNEG_LIBRARY")
    places = [wanted] if wanted else [
        os.path.join(here, "libhardneg.so"),
        os.path.join(here, "..", "..", "build", "libhardneg.so")]
    for place in places:
        if os.path.exists(place):
            return place
    return wanted or "libhardneg.so.1"


def _load() -> Any:
    try:
        lib = ctypes.CDLL(_find())
    except OSError as error:
        raise ImportError(f"{error}. hardneg needs its library, which `make` builds or a wheel holds, and of the system "
                          "GSL, libyaml, nettle, OpenMP and OpenBLAS (Debian 12: libgsl27 libyaml-0-2 libnettle8 libgomp1 "
                          "libopenblas0-openmp; Debian 13 has libgsl28). A wheel runs on the release that it was built on: "
                          "elsewhere build it again") from None
    handle, integer, text = ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p
    pointer = ctypes.c_void_p
    for name, result, arguments in (
            ("version", text, []),
            ("open", ctypes.c_int, [text, integer, ctypes.c_uint64, ctypes.c_int, pointer]),
            ("free", None, [handle]),
            ("message", text, [handle]), ("note", text, [handle]), ("sampler", text, [handle]),
            ("build", ctypes.c_int, [handle, pointer]),
            ("epoch", ctypes.c_int, [handle, integer, pointer]),
            ("sizes", ctypes.c_int, [handle, integer, integer, pointer, pointer]),
            ("next", ctypes.c_int, [handle, integer, integer, pointer]),
            ("apart", ctypes.c_int, [handle, pointer, pointer]),
            ("capacity", integer, [handle]), ("needs", ctypes.c_int, [handle, text]), ("partitions", ctypes.c_int, [handle]),
            ("digest", ctypes.c_int, [handle, pointer]),
            ("attrition", ctypes.c_int, [handle, ctypes.c_int, pointer]),
            ("type", ctypes.c_int, [ctypes.c_int, pointer, pointer, pointer, pointer]),
            ("option", ctypes.c_int, [ctypes.c_int, ctypes.c_int, pointer]),
            ("negatives", ctypes.c_int, [handle, integer, integer, pointer, pointer, pointer]),
            ("column", ctypes.c_int, [ctypes.c_int, pointer, pointer, pointer]),
            ("measure_batches", ctypes.c_int,
             [handle, pointer, integer, integer, pointer, pointer]),
            ("mine", ctypes.c_int, [handle, pointer, pointer, pointer, pointer, pointer]),
            ("stop", None, [handle])):
        function = getattr(lib, "hardneg_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


lib = _load()


def version() -> str:
    """Version of the library."""
    return str(lib.hardneg_version().decode())


def columns() -> List[Tuple[str, str, str]]:
    """What measure() gives: (name, unit, meaning) of every column."""
    found: List[Tuple[str, str, str]] = []
    text = [ctypes.c_char_p() for _ in range(3)]
    while lib.hardneg_column(len(found), *(ctypes.byref(t) for t in text)):
        name, unit, meaning = ((t.value or b"").decode() for t in text)
        found.append((name, unit, meaning))
    return found


class Option(NamedTuple):
    """An option of a sampler: its default as text (None: unset), the values that it takes, its meaning."""
    default: Optional[str]
    range: str
    help: str


class Sampler(NamedTuple):
    """A sampler. per_anchor: it chooses negatives for each anchor, for mine()."""
    summary: str
    source: str
    per_anchor: bool
    options: Dict[str, Option]


def samplers() -> Dict[str, Sampler]:
    """All samplers, by name, with their options."""
    found: Dict[str, Sampler] = {}
    text, per_anchor = [ctypes.c_char_p() for _ in range(3)], ctypes.c_int()
    while lib.hardneg_type(len(found), *(ctypes.byref(t) for t in text), ctypes.byref(per_anchor)):
        options: Dict[str, Option] = {}
        option = COption(size=ctypes.sizeof(COption))
        while lib.hardneg_option(len(found), len(options), ctypes.byref(option)):
            options[option.name.decode()] = Option(option.initial and option.initial.decode(),
                                                   option.range.decode(), option.help.decode())
        name, summary, source = ((t.value or b"").decode() for t in text)
        found[name] = Sampler(summary, source, bool(per_anchor.value), options)
    return found


class Attrition(NamedTuple):
    """(anchor, item) pairs that end at a filter, by whether the item has another label, the same or one is unknown."""
    other_label: int
    same_label: int
    unlabelled: int


class Measures(Dict[str, float]):
    """Columns by name. note: why some are NaN, or ""."""
    note = ""


class Kept:
    """Stands for an argument that is not given: what there was is kept."""

    def __repr__(self) -> str:
        return "KEPT"


KEPT: Any = Kept()
PARTS = ("view2", "labels", "edges", "features", "teacher", "groups", "tuples")  # of items, which not every sampler needs


class Items:
    """What a sampler is built on, as C arrays."""

    def __init__(self, x: Array, view2: Array = None, labels: Matrix = None, edges: Matrix = None,
                 features: Array = None, teacher: Array = None, groups: Array = None, progress: float = 0.0,
                 zero_rows: str = "refuse", tuples: Any = None):
        if zero_rows not in ("refuse", "keep"):
            raise ValueError(f"zero_rows {zero_rows!r}: 'refuse' or 'keep'")
        self.x, self.zero_rows, self.progress = floats(x, "x"), zero_rows, float(progress)
        self.n, d = self.x.shape
        self.view2 = None if view2 is None else self._rows(view2, "view2", d)
        self.features = None if features is None else self._rows(features, "features")
        self.teacher = None if teacher is None else self._rows(teacher, "teacher")
        self.groups = None if groups is None else numbers(groups, self.n, "groups")
        self.edges = None if edges is None else compressed(edges, self.n)
        self.tuples = None if tuples is None else texts(tuples, self.n)
        if self.tuples is not None and self.view2 is None:
            raise ValueError("tuples: row i of x is a query and row i of view2 its passage: give view2=, the passages' rows")
        self.label_sets: Optional[Pair] = None
        self.labels: Optional[np.ndarray[Any, Any]] = None
        if labels is not None:
            self.take_labels(labels, self.n, np.arange(self.n))

    def take_labels(self, labels: Matrix, n: int, used: np.ndarray[Any, Any]) -> None:
        """Of n items those that are used."""
        sets = several(labels, n)
        if sets is None:
            self.labels = numbers(labels, n)[used]
            return
        if len(used) == n:
            self.label_sets = sets
            return
        start, label = sets
        count = np.diff(start)[used]
        own = np.arange(count.sum()) + np.repeat(start[used] - (np.cumsum(count) - count), count)
        self.label_sets = np.append(0, np.cumsum(count)), label[own]

    def copy_embeddings(self) -> None:
        """For a build that the caller does not wait for: the arrays may be written to meanwhile."""
        for name in ("x", "view2", "features", "teacher"):
            array = getattr(self, name)
            setattr(self, name, None if array is None else array.copy())

    def drop_embeddings(self) -> None:
        """Leaves what a later build may keep, and whether there were second views."""
        self.x = np.empty((0, self.x.shape[1]), np.float32)
        self.view2 = None if self.view2 is None else self.x

    def keep(self, last: Items, names: List[str]) -> None:
        """Takes parts of the items of before."""
        for name in names:
            for field in ("labels", "label_sets") if name == "labels" else (name,):
                setattr(self, field, getattr(last, field))
            if name in last.given() and last.n != self.n:
                raise ValueError(f"x has {counted(self.n, 'row')}, the {name} of the last build are of {counted(last.n, 'item')}: give "
                                 f"{name}= with x, or {name}=None")

    def _rows(self, array: Array, name: str, columns: Optional[int] = None) -> np.ndarray[Any, Any]:
        found = floats(array, name, columns)
        if found.shape[0] != self.n:
            raise ValueError(f"{name}: {counted(found.shape[0], 'row')}, x has {self.n}")
        return found

    @property
    def note(self) -> str:
        """What of them is used in part, or ""."""
        return self.tuples.note if self.tuples else ""

    def given(self) -> List[str]:
        """Names of the parts that there are."""
        return [name for name in PARTS if getattr(self, name) is not None or name == "labels" and self.label_sets]

    def c(self, index: int, epoch: int) -> CItems:
        """Borrows the arrays."""
        items = CItems(size=ctypes.sizeof(CItems), n=self.n, d=self.x.shape[1], index=index, progress=self.progress,
                       zero_rows=self.zero_rows == "keep", epoch=epoch)
        for field, array in (("x", self.x), ("view2", self.view2), ("features", self.features),
                             ("teacher", self.teacher), ("group", self.groups), ("labels", self.labels)):
            if array is not None:
                setattr(items, field, array.ctypes.data)
        if self.features is not None:
            items.feature_dims = self.features.shape[1]
        if self.teacher is not None:
            items.teacher_dims = self.teacher.shape[1]
        if self.tuples is not None:
            for field, part in zip(("query_text", "passage_text", "relevant", "negative_text"), self.tuples[:4]):
                setattr(items, field, part.ctypes.data)
            items.relevant_pairs, items.negative_texts = len(self.tuples.pairs), self.tuples.negatives.shape[1]
        for field, pair in (("edge", self.edges), ("label", self.label_sets)):
            if pair is not None:
                setattr(items, field + "_start", pair[0].ctypes.data)
                setattr(items, field, pair[1].ctypes.data)
        return items


class _Call:
    """Calls of the library one after the other, on one thread, up to the first that fails."""

    def __init__(self, handle: Handle, calls: Tuple[Tuple[Any, ...], ...]):
        self.handle, self.calls = handle, calls
        self.claim, self.done, self.over = threading.Lock(), threading.Lock(), False
        self.done.acquire()  # until the calls are over
        self.code, self.message, self.note = INTERRUPTED, "", ""

    def run(self) -> None:
        if not self.claim.acquire(blocking=False):
            return  # Ctrl-C came before this began
        raw = self.handle.raw
        try:
            for function, *arguments in self.calls:
                self.code = function(raw, *arguments)
                self.message = lib.hardneg_message(raw).decode(errors="replace")
                self.note = lib.hardneg_note(raw).decode(errors="replace")
                if self.code != OK:
                    break
        finally:
            self.over = True
            self.done.release()

    def run_aside(self, tick: Optional[Callable[[float], Any]]) -> None:
        """In a thread of its own, so that Ctrl-C is seen, and ends the call before it is raised here. By locks alone:
        Thread.start(), Thread.join(), Event and Condition may be left half-way by Ctrl-C."""
        begun = time.monotonic()
        try:
            _thread.start_new_thread(self.run, ())
            while not self.over and not self.done.acquire(timeout=0.5 if tick else -1):
                if tick:
                    tick(time.monotonic() - begun)
        except BaseException:
            while not self.over and not self.claim.acquire(blocking=False):
                try:  # a call that begins only now does not heed earlier stops
                    lib.hardneg_stop(self.handle.raw)
                    self.done.acquire(timeout=0.02)
                except KeyboardInterrupt:
                    pass  # another one: the call is about to end
            raise


class Handle:
    """A handle of the library, which any thread may use. Errors are ValueError, MemoryError, KeyboardInterrupt,
    RuntimeError."""

    def __init__(self, spec: Any, batch_size: int, seed: int, threads: int = 0):
        self.raw = ctypes.c_void_p()
        self.batch_size = whole(batch_size, "batch_size", 2, 2**31 - 1)
        self.n, self.capacity, self.note, self._digest = 0, 0, "", ""
        code = lib.hardneg_open(c_text(spec_text(spec), "sampler"), self.batch_size, whole(seed, "seed", 0, 2**64 - 1),
                                whole(threads, "threads", 0, THREADS_MAX), ctypes.byref(self.raw))
        message = lib.hardneg_message(self.raw).decode(errors="replace")
        self._raise(code, message if self.raw else "not enough memory for a sampler")

    def __reduce__(self) -> Any:
        raise TypeError("a sampler that is built cannot be copied or sent to a process: make one there, of the same "
                        "embeddings and seed")

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Gives the memory back; the handle cannot be used then."""
        if getattr(self, "raw", None):
            lib.hardneg_free(self.raw)
            self.raw = ctypes.c_void_p()

    @staticmethod
    def _raise(code: int, message: str) -> None:
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code == MEMORY:
            raise MemoryError(message)
        if code != OK:
            raise (ValueError if code in (USAGE, DATA) else RuntimeError)(message)

    def call(self, *calls: Tuple[Any, ...], tick: Optional[Callable[[float], Any]] = None) -> str:
        """The note of the last of some calls. On the main thread Ctrl-C ends them."""
        call = _Call(self, calls)
        if threading.current_thread() is threading.main_thread() or tick:
            call.run_aside(tick)
        else:
            call.run()
        self._raise(call.code, call.message)
        return call.note

    @property
    def sampler(self) -> str:
        """The sampler with every option."""
        return str(lib.hardneg_sampler(self.raw).decode())

    def build(self, items: Items, index: int = 0, epoch: int = 0, tick: Optional[Callable[[float], Any]] = None) -> None:
        """Builds the sampler and arranges an epoch; the library keeps a copy of the items."""
        self.note = self.call((lib.hardneg_build, ctypes.byref(items.c(index, epoch))), tick=tick)
        self.n, self.capacity, self._digest = items.n, lib.hardneg_capacity(self.raw), ""

    def needs(self, part: str) -> bool:
        """Whether the sampler needs a part of the items that it was built on."""
        return bool(lib.hardneg_needs(self.raw, c_text(part, "part")))

    @property
    def partitions(self) -> bool:
        """Whether an epoch has every item once."""
        return bool(lib.hardneg_partitions(self.raw))

    @property
    def digest(self) -> str:
        """Of the sampler and its items."""
        if not self._digest:
            text = ctypes.create_string_buffer(65)
            self.call((lib.hardneg_digest, text))
            self._digest = text.value.decode()
        return self._digest

    def sizes(self, epoch: int) -> np.ndarray[Any, Any]:
        """Of the batches of an epoch, which are not drawn."""
        batches, size = ctypes.c_int64(-(-self.n // self.batch_size)), np.empty(0, np.int64)
        while batches.value > len(size):
            size = np.empty(batches.value, np.int64)
            self.call((lib.hardneg_sizes, epoch, len(size), size.ctypes.data, ctypes.byref(batches)))
        return size[:batches.value]

    def _draw(self, epoch: int, function: Any, *arguments: Any) -> None:
        self.call((lib.hardneg_epoch, epoch, ctypes.byref(ctypes.c_int64())), (function, *arguments))

    def next(self, epoch: int, first: int, count: int) -> np.ndarray[Any, Any]:
        """Batches first .. first + count - 1 of an epoch: int64 [count, batch_size], short ones end with -1."""
        ids = np.empty((count, self.batch_size), np.int64)
        self._draw(epoch, lib.hardneg_next, first, count, ids.ctypes.data)
        return ids

    def apart(self, epoch: int) -> Dict[str, float]:
        """Of an epoch with keep_apart: tuples that were exchanged, and that found no place; else nothing."""
        moved, left = ctypes.c_int64(), ctypes.c_int64()
        self._draw(epoch, lib.hardneg_apart, ctypes.byref(moved), ctypes.byref(left))
        return {} if left.value < 0 else {"apart_moved": float(moved.value), "apart_left": float(left.value)}

    def negatives(self, epoch: int, first: int, count: int) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Anchors [count, batch_size], their negatives and cosines [count, batch_size, capacity]."""
        shape = (count, self.batch_size, self.capacity)
        ids = np.empty(shape[:2], np.int64)
        negative, score = np.empty(shape, np.int64), np.empty(shape, np.float32)
        self._draw(epoch, lib.hardneg_negatives, first, count, ids.ctypes.data, negative.ctypes.data, score.ctypes.data)
        return ids, negative, score

    def attrition(self) -> Dict[str, Attrition]:
        """What the filters of the sampler drop, by filter; empty for samplers without filters."""
        found: Dict[str, Attrition] = {}
        row = CAttrition(size=ctypes.sizeof(CAttrition))
        while lib.hardneg_attrition(self.raw, len(found), ctypes.byref(row)):
            found[row.filter.decode()] = Attrition(row.other_label, row.same_label, row.unlabelled)
        return found

    def measure(self, ids: np.ndarray[Any, Any], temperature: float = 0.5, loss: Optional[str] = None, weighting: Any = None,
                epoch_batches: int = 0, negatives: Optional[np.ndarray[Any, Any]] = None, population: int = 0) -> Measures:
        """Columns by name, of batches of the items that this was built on."""
        how = CMeasure(size=ctypes.sizeof(CMeasure), temperature=float(temperature),
                       loss=c_text(loss, "loss") if loss else None, population=population,
                       epoch_batches=whole(epoch_batches, "epoch_batches", 0, 2**63 - 1),
                       weighting=c_text(spec_text(weighting), "weighting") if weighting else None)
        if negatives is not None:
            negatives = np.ascontiguousarray(negatives, np.int64)
            if negatives.ndim != 3 or negatives.shape[:2] != ids.shape:
                raise ValueError("negatives: [batches, batch_size, negatives] is wanted")
            how.negative, how.capacity = negatives.ctypes.data, negatives.shape[2]
        names = [name for name, _, _ in columns()]
        value = np.empty(len(names))
        note = self.call((lib.hardneg_measure_batches, ids.ctypes.data, *ids.shape, ctypes.byref(how),
                           value.ctypes.data))
        found = Measures(zip(names, value.tolist()))
        found.note = note
        return found
