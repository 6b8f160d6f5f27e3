"""libhardneg through ctypes: the structs of hardneg.h, and errors as exceptions."""
import ctypes
import os
import threading

import numpy as np

from ._arrays import compressed, floats, numbers, several, spec_text, whole

OK, USAGE, DATA, INTERRUPTED, MEMORY = 0, 2, 3, 130, 200


class Items(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("n", ctypes.c_int64), ("d", ctypes.c_int64),
                ("x", ctypes.c_void_p), ("view2", ctypes.c_void_p), ("labels", ctypes.c_void_p),
                ("edge_start", ctypes.c_void_p), ("edge", ctypes.c_void_p),
                ("features", ctypes.c_void_p), ("feature_dims", ctypes.c_int64),
                ("index", ctypes.c_int64), ("progress", ctypes.c_double),
                ("label_start", ctypes.c_void_p), ("label", ctypes.c_void_p),
                ("zero_rows", ctypes.c_int64), ("teacher", ctypes.c_void_p),
                ("teacher_dims", ctypes.c_int64), ("group", ctypes.c_void_p)]


class Measure(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("temperature", ctypes.c_double),
                ("loss", ctypes.c_char_p), ("weighting", ctypes.c_char_p),
                ("epoch_batches", ctypes.c_int64), ("negative", ctypes.c_void_p),
                ("room", ctypes.c_int64)]


def _find():
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


def _load():
    try:
        lib = ctypes.CDLL(_find())
    except OSError as error:
        raise ImportError(f"{error}. hardneg needs its library, which `make` builds or a wheel holds, and of the system "
                          "GSL, libyaml, OpenMP and OpenBLAS (Debian: libgsl27 libyaml-0-2 libgomp1 "
                          "libopenblas0-openmp)") from None
    handle, integer, text = ctypes.c_void_p, ctypes.c_int64, ctypes.c_char_p
    pointer = ctypes.c_void_p
    for name, result, arguments in (
            ("version", text, []),
            ("open", ctypes.c_int, [text, integer, ctypes.c_uint64, ctypes.c_int, pointer]),
            ("free", None, [handle]),
            ("message", text, [handle]), ("note", text, [handle]), ("sampler", text, [handle]),
            ("build", ctypes.c_int, [handle, pointer]),
            ("epoch", ctypes.c_int, [handle, integer, pointer]),
            ("next", ctypes.c_int, [handle, integer, integer, pointer]),
            ("room", integer, [handle]),
            ("negatives", ctypes.c_int, [handle, integer, integer, pointer, pointer, pointer]),
            ("column", ctypes.c_int, [ctypes.c_int, pointer, pointer, pointer]),
            ("measure_batches", ctypes.c_int,
             [handle, pointer, integer, integer, pointer, pointer]),
            ("stop", None, [handle])):
        function = getattr(lib, "hardneg_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


lib = _load()


def version():
    """Version of the library."""
    return lib.hardneg_version().decode()


def columns():
    """What measure() gives: (name, unit, meaning) of every column."""
    found = []
    text = [ctypes.c_char_p() for _ in range(3)]
    while lib.hardneg_column(len(found), *(ctypes.byref(t) for t in text)):
        found.append(tuple(t.value.decode() for t in text))
    return found


class Handle:
    """A handle of the library. Errors are ValueError, MemoryError, KeyboardInterrupt, RuntimeError."""

    def __init__(self, spec, batch_size, seed, threads=0):
        self._handle = ctypes.c_void_p()
        self.batch_size = whole(batch_size, "batch_size", 2, 2**31 - 1)
        self._check(lib.hardneg_open(spec_text(spec).encode(), self.batch_size, whole(seed, "seed", 0, 2**64 - 1),
                                     whole(threads, "threads", 0, 4096), ctypes.byref(self._handle)))
        self.n = 0

    def __reduce__(self):
        raise TypeError("a sampler that is built cannot be copied or sent to a process: make one there, of the same "
                        "embeddings and seed")

    def __del__(self):
        self.close()

    def close(self):
        """Gives the memory back; the handle cannot be used then."""
        if getattr(self, "_handle", None):
            lib.hardneg_free(self._handle)
            self._handle = ctypes.c_void_p()

    def _check(self, code):
        if code == OK:
            return
        message = lib.hardneg_message(self._handle).decode(errors="replace")
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code == MEMORY:
            raise MemoryError(message if self._handle else "not enough memory for a sampler")
        raise (ValueError if code in (USAGE, DATA) else RuntimeError)(message)

    def _call(self, function, *arguments):
        """A call that may take long: Ctrl-C ends it."""
        if threading.current_thread() is not threading.main_thread():
            self._check(function(self._handle, *arguments))
            return
        result = []
        worker = threading.Thread(target=lambda: result.append(function(self._handle, *arguments)))
        worker.start()
        try:
            while worker.is_alive():
                worker.join(0.1)
        except KeyboardInterrupt:
            while worker.is_alive():  # a call that begins only now forgets earlier stops
                lib.hardneg_stop(self._handle)
                worker.join(0.1)
            raise
        self._check(result[0])

    @property
    def sampler(self):
        """The sampler with every option."""
        return lib.hardneg_sampler(self._handle).decode()

    @property
    def note(self):
        """What the last call had to say ("M taken as 1999"), or ""."""
        return lib.hardneg_note(self._handle).decode(errors="replace")

    def build(self, x, view2=None, labels=None, edges=None, features=None, index=0, progress=0.0,
              zero_rows="refuse", teacher=None, groups=None):
        """Builds the sampler on x[n, d]; the library keeps a copy."""
        if zero_rows not in ("refuse", "keep"):
            raise ValueError(f"zero_rows {zero_rows!r}: 'refuse' or 'keep'")
        x = floats(x, "x")
        items = Items(size=ctypes.sizeof(Items), n=x.shape[0], d=x.shape[1], x=x.ctypes.data,
                      index=int(index), progress=float(progress), zero_rows=zero_rows == "keep")
        keep = [x]
        if view2 is not None:
            keep.append(floats(view2, "view2", x.shape[1]))
            self._rows(keep[-1], x, "view2")
            items.view2 = keep[-1].ctypes.data
        if labels is not None:
            rows = several(labels, x.shape[0])
            keep += rows or [numbers(labels, x.shape[0])]
            if rows:
                items.label_start, items.label = (part.ctypes.data for part in rows)
            else:
                items.labels = keep[-1].ctypes.data
        if edges is not None:
            start, target = compressed(edges, x.shape[0])
            keep += [start, target]
            items.edge_start, items.edge = start.ctypes.data, target.ctypes.data
        if features is not None:
            keep.append(floats(features, "features"))
            self._rows(keep[-1], x, "features")
            items.features, items.feature_dims = keep[-1].ctypes.data, keep[-1].shape[1]
        if teacher is not None:
            keep.append(floats(teacher, "teacher"))
            self._rows(keep[-1], x, "teacher")
            items.teacher, items.teacher_dims = keep[-1].ctypes.data, keep[-1].shape[1]
        if groups is not None:
            keep.append(numbers(groups, x.shape[0], "groups"))
            items.group = keep[-1].ctypes.data
        self.n = 0
        self._call(lib.hardneg_build, ctypes.byref(items))
        self.n = x.shape[0]

    @staticmethod
    def _rows(array, x, name):
        if array.shape[0] != x.shape[0]:
            raise ValueError(f"{name}: {array.shape[0]} rows, x has {x.shape[0]}")

    def epoch(self, number):
        """Begins an epoch; its number of batches."""
        batches = ctypes.c_int64()
        self._call(lib.hardneg_epoch, int(number), ctypes.byref(batches))
        return batches.value

    def next(self, first, count):
        """Batches first .. first + count - 1: int64 [count, batch_size], short ones end with -1."""
        ids = np.empty((count, self.batch_size), np.int64)
        self._check(lib.hardneg_next(self._handle, first, count, ids.ctypes.data))
        return ids

    @property
    def room(self):
        """Most negatives of an anchor; 0 for samplers of batches."""
        return lib.hardneg_room(self._handle)

    def negatives(self, first, count):
        """Anchors [count, batch_size], their negatives and cosines [count, batch_size, room]."""
        shape = (count, self.batch_size, self.room)
        ids = np.empty(shape[:2], np.int64)
        negative, score = np.empty(shape, np.int64), np.empty(shape, np.float32)
        self._check(lib.hardneg_negatives(self._handle, first, count, ids.ctypes.data,
                                          negative.ctypes.data, score.ctypes.data))
        return ids, negative, score

    def measure(self, ids, temperature=0.5, loss=None, weighting=None, epoch_batches=0,
                negatives=None):
        """Columns by name, of batches of the items that this was built on."""
        how = Measure(size=ctypes.sizeof(Measure), temperature=float(temperature),
                      loss=loss.encode() if loss else None, epoch_batches=int(epoch_batches),
                      weighting=spec_text(weighting).encode() if weighting else None)
        if negatives is not None:
            negatives = np.ascontiguousarray(negatives, np.int64)
            if negatives.ndim != 3 or negatives.shape[:2] != ids.shape:
                raise ValueError("negatives: [batches, batch_size, negatives] is wanted")
            how.negative, how.room = negatives.ctypes.data, negatives.shape[2]
        names = [name for name, _, _ in columns()]
        value = np.empty(len(names))
        self._call(lib.hardneg_measure_batches, ids.ctypes.data, *ids.shape, ctypes.byref(how),
                   value.ctypes.data)
        return dict(zip(names, value.tolist()))
