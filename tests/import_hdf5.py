# SPDX-License-Identifier: GPL-3.0-or-later
"""HDF5 as other programs write it: `import_hdf5.py PROGRAM` in an empty folder. Each shape is read as the values that
were written, with the note, or refused in words that say what is there."""
import os
import re
import subprocess
import sys

import h5py
import numpy as np

N, D = 30, 4
RNG = np.random.default_rng(3)
X = RNG.standard_normal((N, D)).astype("f4")
SMALL = RNG.integers(0, 255, (N, D)).astype("u1")
Y = np.arange(N) % 3
NAMES = ["ant", "bee", "cow"]
ENUM = h5py.enum_dtype({name: k for k, name in enumerate(NAMES)}, "i2")


def linked(f):
    f["deep/a/X"] = X
    f["soft"] = h5py.SoftLink("/deep/a/X")
    f["deep/b"] = h5py.SoftLink("a")  # a group, by a name beside it
    f["loop"] = h5py.SoftLink("/loop")
    f["nowhere"] = h5py.SoftLink("/deep/none")


def external(f):
    f["X"] = h5py.ExternalLink("linked.h5", "/soft")
    f["Y"] = h5py.ExternalLink("missing.h5", "/X")
    f["group"] = h5py.ExternalLink("linked.h5", "/deep")


def virtual(f):
    layout = h5py.VirtualLayout((N, D), "f4")
    for k in range(2):
        with h5py.File(f"part{k}.h5", "w") as part:
            part["x"] = X[k * 15:(k + 1) * 15]
        layout[k * 15:(k + 1) * 15] = h5py.VirtualSource(f"part{k}.h5", "x", (15, D))
    f.create_virtual_dataset("X", layout)


def lost(f):
    layout = h5py.VirtualLayout((N, D), "f4")
    layout[:] = h5py.VirtualSource("gone.h5", "x", (N, D))
    f.create_virtual_dataset("X", layout)


def huge(f):
    layout = h5py.VirtualLayout((2**40, D), "f4")
    layout[:15] = h5py.VirtualSource("part0.h5", "x", (15, D))
    f.create_virtual_dataset("X", layout)


def own(f):
    """Mapped from the file itself."""
    f["x"] = X
    layout = h5py.VirtualLayout((N, D), "f4")
    layout[:] = h5py.VirtualSource(".", "x", (N, D))
    f.create_virtual_dataset("X", layout)


def pieces(f):
    layout = h5py.VirtualLayout((1025, D), "f4")
    for k in range(1025):
        layout[k] = h5py.VirtualSource("part0.h5", "x", (15, D))[k % 15]
    f.create_virtual_dataset("X", layout)


def filtered(f):
    """Chunks of a filter that nobody has here, which HDF5 lets be made as long as it is optional."""
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk((N, D))
    how.set_filter(32666, h5py.h5z.FLAG_OPTIONAL, (1,))
    data = h5py.h5d.create(f.id, b"X", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((N, D)), how)
    data.write(h5py.h5s.ALL, h5py.h5s.ALL, X)


def padded(f):
    """Attributes of texts that are padded with blanks."""
    f["X"] = X
    text = h5py.h5t.C_S1.copy()
    text.set_size(12)
    text.set_strpad(h5py.h5t.STR_SPACEPAD)
    for name, value in (b"distance", b"cosine      "), (b"metric", b" " * 12):
        h5py.h5a.create(f.id, name, text, h5py.h5s.create(h5py.h5s.SCALAR)).write(np.array(value, "S12"), text)
    h5py.h5a.create(f.id, b"never", h5py.h5t.py_create(h5py.string_dtype(), logical=True), h5py.h5s.create(h5py.h5s.SCALAR))


def names(f):
    """Names and depths of all lengths."""
    f["n" * 300], f["g/" + "n" * 254] = X, X
    f["/".join("abcdefghi") + "/X"] = X
    f["far"] = h5py.SoftLink("/x" * 3000)
    f["near/X"] = X


def more(f):
    """One set more than are listed, of which two could be meant."""
    f["a"], f["y"] = X, Y
    for k in range(4096 - 2):
        f.create_dataset(f"l{k:04}", data=1)
    f["z"] = X


def circles(f):
    """Groups that hold one another, twice."""
    f["g/X"] = X
    f["g/one"] = f["g/two"] = f["g"]


def labelled(f):
    f["X"], f["labels"], f["y"] = X, Y, Y + 5
    f["kind"] = np.array(Y == 1, h5py.enum_dtype({"no": 0, "yes": 1}, "i1"))
    f["wide"] = np.array(Y == 1, h5py.enum_dtype({"FALSE": 0, "TRUE": 1}, "i2"))
    f["cube"] = Y[:, None, None]
    f["holes"] = np.empty((0, D), "f4")
    partly = f.create_dataset("partly", (N,), h5py.string_dtype())
    partly[::2] = [NAMES[k] for k in Y[::2]]


def sparse_group(f):
    f["obsm/X_pca"] = X
    f["obsm/X_umap"] = X[:, :2]
    f["obs/leiden"] = np.array(Y, ENUM)
    f["obs/batch"] = Y == 1


def types(f):
    """What is no array of numbers, and labels that are no classes."""
    f["X"], f["wide"], f["complex"] = X, X.astype(np.longdouble), X.astype("c8")
    f["table"] = np.zeros(N, [("a", "f4"), ("b", "f4")])
    lists = f.create_dataset("lists", (N,), h5py.vlen_dtype("f4"))
    lists[0] = X[0]
    f["one"], f["none"], f["raw"] = np.float32(3), h5py.Empty("f4"), np.void(b"abc")
    f["half"], f["order"] = X.astype(">f2"), (X * 1000).astype(">i8")
    f["above"] = np.array([2**63 + 5 + int(y) for y in Y], "u8")
    f["far"], f["endless"], f["broken"] = Y * 2.0**70, np.where(Y == 1, np.inf, 0), Y + 0.5
    f["holes"], f["below"] = np.where(Y == 1, np.nan, Y), Y - 3


def categories(f):
    """A column of AnnData's obs: codes and what they stand for, -1 for none."""
    f["X"] = X

    def column(name, codes, values):
        f[f"obs/{name}/codes"] = codes
        f.create_dataset(f"obs/{name}/categories", data=values, dtype=h5py.string_dtype() if isinstance(values[0], str) else None)

    column("type", np.where(np.arange(N) == 4, -1, Y).astype("i1"), NAMES)
    column("batch", Y.astype("i2"), [30, 20, 10, 40, 50])
    column("beyond", Y + 4, NAMES)
    column("words", [NAMES[y] for y in Y], NAMES)
    column("square", Y, [NAMES[:2], NAMES[:2]])
    f["soft"] = h5py.SoftLink("/obs/type")
    f["obs/half/codes"] = Y
    hole = np.arange(N) % 7 == 2

    def masked(name, values, mask=hole):
        f.create_dataset(f"obs/{name}/values", data=values, dtype=h5py.string_dtype() if isinstance(values[0], str) else None)
        f[f"obs/{name}/mask"] = mask

    masked("whole", np.where(hole, 1, Y))
    masked("above", np.where(hole, 1, Y).astype("u8") + np.uint64(2**63))
    masked("truth", np.where(hole, False, Y == 1))
    masked("texts", [NAMES[0 if h else y] for y, h in zip(Y, hole)])
    masked("bare", Y, mask=hole[:5])
    masked("strange", Y, mask=np.where(hole, "x", "y").astype("S1"))
    f["obs/open/values"] = Y
    # Before version 0.8: codes, and what they stand for beside all.
    f["obs/old"], f["obs/oldest"], f["obs/plain"] = np.where(hole, -1, Y).astype("i1"), Y, Y
    f.create_dataset("obs/__categories/old", data=NAMES, dtype=h5py.string_dtype())
    f.create_dataset("obs/__categories/oldest", data=NAMES[:2], dtype=h5py.string_dtype())


def write(name, fill, **how):
    with h5py.File(name, "w", **how) as f:
        fill(f)


def table(f):
    """Tables of records, as PyTables and AnnData before 0.7 have them."""
    f["X"] = X
    f["df/table"] = np.zeros(N, [("index", "i8"), ("values_block_0", "f8", (D,))])
    f["obs"] = np.zeros(N, [("type", "i1"), ("n", "f4")])


def left_open(name, multiple, **how):
    """A copy of a file while it is written: as a program leaves it that ends without closing it."""
    with h5py.File("written.h5", "w", libver="latest", **how) as f:
        f["X"] = X
        if multiple:
            f.swmr_mode = True
        f.flush()
        with open("written.h5", "rb") as written, open(name, "wb") as out:
            out.write(written.read())


def damage(name):
    """Overwrites the header of the data set `first`."""
    with h5py.File(name) as f:
        at = h5py.h5o.get_info(f["first"].id).addr
    with open(name, "r+b") as f:
        f.seek(at)
        f.write(b"\xff" * 16)


def files():
    write("group.h5", lambda f: f.__setitem__("a/b/c/X", X))
    write("ann.h5", sparse_group)
    write("linked.h5", linked)
    write("external.h5", external)
    write("near.h5", lambda f: (f.__setitem__("X", X), f.__setitem__("cube", X[None])))
    write("only.h5", lambda f: f.__setitem__("X", h5py.ExternalLink("group.h5", "a/b/c/X")))
    write("virtual.h5", virtual)
    write("lost.h5", lost)
    write("huge.h5", huge)
    write("own.h5", own)
    write("pieces.h5", pieces, libver="latest")
    write("filtered.h5", filtered)
    write("filtered2.h5", lambda f: (filtered(f), f.__setitem__("Z", X)))
    write("elsewhere.h5", lambda f: f.create_dataset("X", (N, D), "f4", external=[("x.raw", 0, N * D * 4)]))
    write("padded.h5", padded)
    write("names.h5", names)
    write("more.h5", more)
    write("circles.h5", circles)
    write("deep.h5", lambda f: (f.__setitem__("X", X), f.__setitem__("a/b/c/d/e/f/g/h/Z", X)))
    write("eight.h5", lambda f: (f.__setitem__("X", X), f.create_group("a/b/c/d/e/f/g/h"), f.__setitem__("y", Y)))
    write("many.h5", lambda f: [f.__setitem__(f"x{k:03}", Y) for k in range(260)])
    write("labelled.h5", labelled)
    write("never.h5", lambda f: f.create_dataset("X", (N, D), "f4"))
    write("chunks.h5", lambda f: f.create_dataset("X", (N, D), "f8", chunks=(5, D), compression="gzip"))
    write("categories.h5ad", categories)
    write("turned.h5", lambda f: (f.__setitem__("X", X.T), f.__setitem__("y", Y[None, :])))
    write("text.h5", lambda f: (f.__setitem__("X", X), f.create_dataset("y", data=[[NAMES[k] for k in Y]], dtype=h5py.string_dtype())))
    write("block.mat", lambda f: (f.__setitem__("X", X.T), f.__setitem__("y", (Y + 1.0)[:, None])), userblock_size=1024)
    write("odd.h5", lambda f: (f.__setitem__("X", X), f.__setitem__("y", np.array(np.where(Y == 2, 7, Y), ENUM))))
    def told(f):
        f["deep/euclidean"] = f["cosine"] = SMALL
        f["deep/euclidean"].attrs["metric_type"], f["cosine"].attrs["similarity"] = "L2", "Cosine"

    write("told.h5", told)
    write("bench.h5", lambda f: (f.__setitem__("train", SMALL), f.__setitem__("test", SMALL[:5]), f.attrs.__setitem__("distance", "euclidean")))
    write("angular.h5", lambda f: (f.__setitem__("train", X), f.attrs.__setitem__("distance", "angular")))
    write("l2.h5", lambda f: (f.__setitem__("x", X), f.attrs.__setitem__("metric", "l2")))
    write("types.h5", types)
    write("damaged.h5", lambda f: (f.__setitem__("first", 2 * X), f.__setitem__("second", X)))
    damage("damaged.h5")
    write("table.h5", table)
    write("foreign.h5", lambda f: (f.__setitem__("X", X), f.attrs.__setitem__("schema", "of another program")))
    write("trained.h5", lambda f: (f.__setitem__("train", X), f.__setitem__("Z", X), f.attrs.__setitem__("schema", "of another program")))
    write("results.h5", lambda f: (f.__setitem__("runs/X", X), f.attrs.__setitem__("schema", "hardneg-results"), f.attrs.__setitem__("schema_version", 1)))
    left_open("left.h5", False)
    left_open("several.h5", True)
    left_open("block.h5", False, userblock_size=2048)
    write("cut.h5", lambda f: f.__setitem__("X", X), libver="latest")
    os.truncate("cut.h5", 200)
    np.savetxt("x.dat", X)
    np.savetxt("turned.csv", X.T, delimiter=",")
    np.save("turned.npy", np.asfortranarray(X.T))
    np.save("x.npy", X)
    with open("y.dat", "w", encoding="utf-8") as f:
        f.write("".join(f"{NAMES[k]}\n" for k in Y))
    with open("old.mat", "wb") as f:
        f.write(b"MATLAB 5.0 MAT-file, written by Octave".ljust(124) + b"\0\1IM" + bytes(200))


# arguments, values of the rows or the refusal, classes of the labels, what a note says
CASES = [
    ("-e group.h5", X, None, None), ("-e group.h5 --tensor a/b/c/X", X, None, None), ("-e group.h5 --tensor /a/b/c/X", X, None, None),
    ("-e group.h5 --tensor a/b", "a/b is a group; name a data set in it", None, None),
    ("-e group.h5 --tensor a/X", "there is no 'a/X'; it holds a/b/c/X", None, None),
    ("-e ann.h5", "2 arrays that could be embeddings .*--tensor: obsm/X_pca, obsm/X_umap$", None, None),
    ("-e ann.h5 --tensor obsm/X_pca -l ann.h5", "2 arrays that could be labels .*--label-tensor: obs/batch, obs/leiden$", None, None),
    ("-e ann.h5 --tensor obsm/X_pca -l ann.h5 --label-tensor obs/leiden", X, Y, None),
    ("-e ann.h5 --tensor obsm/X_umap -l ann.h5 --label-tensor obs/batch", X[:, :2], Y == 1, None),
    ("-e linked.h5", X, None, None), ("-e linked.h5 --tensor soft", X, None, None), ("-e linked.h5 --tensor deep/b/X", X, None, None),
    ("-e linked.h5 --tensor loop", "its links go in circles", None, None),
    ("-e linked.h5 --tensor nowhere", "there is no 'deep/none'|there is no 'nowhere'", None, None),
    ("-e external.h5 --tensor X", X, None, None), ("-e external.h5 --tensor group/a/X", X, None, None),
    ("-e external.h5 --tensor Y", "the link Y: missing.h5: cannot be opened", None, None), ("-e only.h5", X, None, None),
    ("-e virtual.h5", X, None, None), ("-e lost.h5", "lies in gone.h5, which is not there", None, None),
    ("-e damaged.h5", "first cannot be read; the file is damaged", None, None), ("-e damaged.h5 --tensor second", X, None, None),
    ("-e huge.h5", "holds fewer values than it says", None, None),
    ("-e own.h5 --tensor X", X, None, None), ("-e pieces.h5", "a data set of it lies in pieces of 1025 others, more than 1024: copy its values", None, None),
    ("-e filtered.h5", "X is compressed by a filter that is not installed; write it with gzip", None, None),
    ("-e filtered.h5 --tensor X", "X is compressed by a filter that is not installed", None, None),
    ("-e filtered2.h5", "2 arrays that could be embeddings .*--tensor: X, Z", None, None), ("-e filtered2.h5 --tensor Z", X, None, None),
    ("-e elsewhere.h5", "X keeps its values in files of another format; read it with h5py, and write it anew", None, None),
    ("-e padded.h5", X, None, None),
    ("-e names.h5", "names.h5: holds more arrays than are looked at, so that none is chosen; name the one of the embeddings with --tensor: near/X and more$", None, None),
    ("-e names.h5 --tensor none", "there is no 'none'; it holds near/X and more$", None, None), ("-e names.h5 --tensor near/X", X, None, None),
    ("-e names.h5 --tensor far", "the link far cannot be read", None, None),
    ("-e names.h5 --tensor a/b/c/d/e/f/g/h/i/X", X, None, None), ("-e names.h5 --tensor " + "n" * 300, X, None, None),
    ("-e names.h5 --tensor " + "n" * 600, "there is no 'nn.*'; it holds near/X and more", None, None),
    ("-e more.h5", "holds more arrays than .* with --tensor: a and more$", None, None), ("-e more.h5 --tensor z -l more.h5 --label-tensor y", X, Y, None),
    ("-e more.h5 --tensor a -l more.h5", "more.h5: holds more arrays than .*the one of the labels with --label-tensor: y and more$", None, None),
    ("-e circles.h5", "holds more arrays than .*--tensor: g/X, g/one/X, ", None, None), ("-e circles.h5 --tensor g/X", X, None, None),
    ("-e deep.h5", "holds more arrays than .*--tensor: X and more$", None, None), ("-e deep.h5 --tensor a/b/c/d/e/f/g/h/Z", X, None, None), ("-e eight.h5", X, None, None),
    ("-e many.h5", "no array that could be embeddings", None, None),
    ("-e labelled.h5 --tensor X -l labelled.h5", X, Y, None),
    ("-e labelled.h5 --tensor X -l labelled.h5 --label-tensor kind", X, Y == 1, None),
    ("-e labelled.h5 --tensor X -l labelled.h5 --label-tensor wide", X, Y == 1, None),
    ("-e labelled.h5 --tensor X -l labelled.h5 --label-tensor partly", X, [k if i % 2 == 0 else -1 for i, k in enumerate(Y)], None),
    ("-e labelled.h5 --tensor X -l labelled.h5 --label-tensor cube", "this is an array of integers of 3 dimensions", None, None),
    ("-e labelled.h5 --tensor X -l near.h5", "array that could be labels", None, None),
    ("-e labelled.h5 --tensor holes", "holds no rows", None, None),
    ("-e never.h5", "data set X was created, and never written", None, None),
    ("-e chunks.h5", "data set X was created, and never written", None, None),
    ("-e turned.h5 --tensor X", X.T, None, "4 rows of 30 values: if items are its columns, .*--transpose"),
    ("-e turned.h5 --tensor X -l turned.h5 --label-tensor y", "30 labels but turned.h5 has 4 rows; .*give --transpose", None, None),
    ("-e turned.h5 --tensor X -l turned.h5 --label-tensor y --transpose", X, Y, None),
    ("-e turned.h5 --tensor X --transpose --rows 7", X[:7], None, None),
    ("-e turned.h5 --tensor X --transpose --rows 31", "has 30 rows, fewer than the 31 of --rows", None, None),
    ("-e turned.csv --transpose", X, None, None), ("-e turned.npy --transpose", X, None, None),
    ("-e text.h5 --tensor X -l text.h5 --label-tensor y", X, Y, None),
    ("-e block.mat --tensor X -l block.mat --label-tensor y --transpose", X, Y, None),
    ("-e block.mat --tensor X --format hdf5 -l y.dat --transpose", "is not an HDF5 file", None, None),
    ("-e odd.h5 --tensor X -l odd.h5 --label-tensor y", "the label of row 2 is no value of its enumeration", None, None),
    ("-e bench.h5", SMALL, None, "data set test are left out(.|\n)*|distance of the file says euclidean; rows are compared by their cosines"),
    ("-e told.h5 --tensor deep/euclidean", SMALL, None, "metric_type of deep/euclidean says L2; rows are compared by their cosines"),
    ("-e told.h5 --tensor cosine", SMALL, None, ""),
    ("-e angular.h5", X, None, None), ("-e l2.h5", X, None, "attribute metric of the file says l2"),
    ("-e x.dat --format tsv -l y.dat", X, Y, None), ("-e x.npy --format npy -l y.dat", "y.dat: is not a .npy file", None, None),
    ("-e x.dat -l y.dat", "neither its name nor its first bytes", None, None),
    ("-e types.h5 --tensor wide", "data set wide has numbers of more than 8 bytes; write float64", None, None),
    ("-e types.h5 --tensor complex", "data set complex holds records .* as tables and complex numbers are", None, None),
    ("-e types.h5 --tensor table", "data set table holds records", None, None),
    ("-e types.h5 --tensor lists", "data set lists holds lists of several lengths", None, None),
    ("-e types.h5 --tensor one", "data set one is one value, or empty", None, None),
    ("-e types.h5 --tensor none", "data set none is one value, or empty", None, None),
    ("-e types.h5 --tensor raw", "data set raw is one value, or empty", None, None),
    ("-e types.h5 --tensor half", X.astype("f2").astype("f4"), None, None),
    ("-e types.h5 --tensor order", (X * 1000).astype("i8").astype("f4"), None, None),
    ("-e types.h5 --tensor X -l types.h5 --label-tensor above", X, Y, "labels go beyond 2.31 - 1"),
    ("-e types.h5 --tensor X -l types.h5 --label-tensor far", "label 1.18059e[+]21 of row 1 is beyond 64 bits", None, None),
    ("-e types.h5 --tensor X -l types.h5 --label-tensor endless", "label inf of row 1 is not a whole number", None, None),
    ("-e types.h5 --tensor X -l types.h5 --label-tensor broken", "label 0.5 of row 0 is not a whole number", None, None),
    ("-e types.h5 --tensor X -l types.h5 --label-tensor holes", X, np.where(Y == 1, -1, Y), None),
    ("-e types.h5 --tensor X -l types.h5 --label-tensor below", X, np.full(N, -1), "every label below 0 is none, not only -1: -3 of row 0"),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/type", X, [NAMES[y] if k != 4 else -1 for k, y in enumerate(Y)], None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor soft", X, [NAMES[y] if k != 4 else -1 for k, y in enumerate(Y)], None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/batch", X, Y, None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/beyond", "code 4 of row 0 is none of the 3 of obs/beyond/categories", None, None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/words", "obs/words are no categories", None, None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/square", "labels are a list of integers or texts", None, None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/half", "obs/half is a group; name a data set in it", None, None),
    *[(f"-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/{name}", X, [k if i % 7 != 2 else -1 for i, k in enumerate(y)], None)
      for name, y in (("whole", Y), ("truth", Y == 1), ("texts", [NAMES[k] for k in Y]), ("old", [NAMES[k] for k in Y]))],
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/above", X, [k if i % 7 != 2 else -1 for i, k in enumerate(Y)], None),
    ("-e categories.h5ad --tensor X --rows 9 -l categories.h5ad --label-tensor obs/texts", X[:9], [NAMES[k] if i % 7 != 2 else -1 for i, k in enumerate(Y[:9])], None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/plain", X, Y, None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/oldest", "code 2 of row 2 is none of the 2 of obs/__categories/oldest", None, None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/bare", "obs/bare/mask is no mask of the 30 values beside it", None, None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/strange", "obs/strange/mask is no mask of the 30 values", None, None),
    ("-e categories.h5ad --tensor X -l categories.h5ad --label-tensor obs/open", "obs/open is a group; name a data set in it", None, None),
    ("-e results.h5", "results.h5: holds results of hardneg run, and is no snapshot; give it to report or compare$", None, None),
    ("-e foreign.h5", X, None, None), ("-e trained.h5", X, None, None),
    ("-e table.h5 --tensor df/table/values_block_0", "df/table/values_block_0 is behind a data set, which is no group: columns of tables are not read; write it with h5py", None, None),
    ("-e table.h5 --tensor X -l table.h5 --label-tensor obs/type", "obs/type is behind a data set", None, None),
    ("-e table.h5 --tensor X -l table.h5 --label-tensor obs", "data set obs holds records", None, None), ("-e table.h5 --tensor //X", X, None, None),
    ("-e table.h5 --tensor X/Y", "X/Y is behind a data set", None, None), ("-e table.h5 --tensor none/Y", "there is no 'none/Y'; it holds ", None, None),
    ("-e table.h5 --tensor /", "table.h5: / is a group; name a data set in it", None, None),
    ("-e left.h5", "left.h5: is marked as open: a program writes it, or ended before it closed it; .*run h5clear -s left.h5$", None, None),
    ("-e several.h5", "several.h5: is marked as open", None, None), ("-e block.h5", "block.h5: is marked as open", None, None),
    ("-e cut.h5", "cut.h5: HDF5 cannot open it: truncated or damaged", None, None),
    ("-e old.mat", "is a .mat of MATLAB before version 7.3: save it with -v7.3", None, None),
]


def same_labels(read, wanted):
    """The same items unlabelled (-1), the others in the same classes."""
    classes = [[[a == b for b in y] for a in y] for y in (list(read), list(wanted))]
    return [y == -1 for y in read] == [y == -1 for y in wanted] and classes[0] == classes[1]


def main():
    files()
    failed = 0
    for k, (words, wanted, labels, said) in enumerate(CASES):
        out = f"out{k}.h5"
        done = subprocess.run([sys.argv[1], "import", *words.split(), "-o", out], capture_output=True, text=True, errors="replace")
        notes = "\n".join(line for line in done.stderr.splitlines() if line.startswith("note:") and "without --labels" not in line)
        if isinstance(wanted, str):
            good = done.returncode == 3 and re.search(wanted, done.stderr) and not os.path.exists(out)
        else:
            good = done.returncode == 0 and (bool(re.search(said, notes)) if said else not notes)
            if good:
                with h5py.File(out) as f:
                    read = f["embeddings"][0]
                    good = read.shape == wanted.shape and np.allclose(read, wanted, rtol=1e-6, atol=0)
                    good = good and (labels is None or same_labels(f["labels"][:], labels))
        if not good:
            failed += 1
            print(f"{words}: exit code {done.returncode}: {done.stderr}", file=sys.stderr)
    print(f"{len(CASES)} shapes, {failed} failed")
    return bool(failed)


sys.exit(main())
