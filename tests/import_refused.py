# SPDX-License-Identifier: GPL-3.0-or-later
"""Input that importers and readers refuse, or take with a note: `import_refused.py PROGRAM` in an empty folder. Each case
ends with its exit code and says what is wrong, and a refused file is not written."""
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile

import h5py
import numpy as np

N, D = 12, 4
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, D)).astype("f4")
Y = np.arange(N) % 3


def put(name, data):
    with open(name, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def npy(array, more=b""):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue() + more


def zipped(name, members, change=None):
    """An archive of (name, bytes), whose directory `change` alters: it is given all bytes and where an entry begins."""
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as z:
        for member, data in members:
            z.writestr(member, data)
    if change:
        with open(name, "rb") as f:
            data = bytearray(f.read())
        change(data, 0, data.index(b"PK\1\2"))
        put(name, bytes(data))


def encrypted(data, local, central):
    data[local + 6] |= 1
    data[central + 8] |= 1


def sized(size):
    def change(data, local, central):
        data[local + 22:local + 26] = data[central + 24:central + 28] = struct.pack("<I", size)
    return change


def archives():
    zipped("encrypted.npz", [("x.npy", npy(X))], encrypted)
    zipped("impossible.npz", [("x.npy", npy(X))], sized(1 << 30))
    zipped("longer.npz", [("x.npy", npy(X, b"more"))], sized(len(npy(X))))
    zipped("nothing.npz", [("read.me", "text"), ("x.np", "text"), ("npy", "text")])
    zipped("short-names.npz", [("a", "text"), (".npy", "text"), ("x.npy", npy(X))])
    zipped("readme.npz", [("read.me", "text"), ("x.npy", npy(X))])


def snapshot(name, change=lambda f: None, **attributes):
    with h5py.File(name, "w") as f:
        f.attrs.update({"schema": "hardneg-snapshot", "schema_version": 1, **attributes})
        f["embeddings"], f["labels"] = X, Y
        f["embeddings"].attrs["normalized"] = False
        change(f)


def of_text(value, padding):
    """A list of texts of one length, padded as other programs pad theirs."""
    text = h5py.h5t.C_S1.copy()
    text.set_size(6)
    text.set_strpad(padding)
    def write(f, name="y"):
        data = np.array(value, "S6")
        h5py.h5d.create(f.id, name.encode(), text, h5py.h5s.create_simple(data.shape)).write(h5py.h5s.ALL, h5py.h5s.ALL, data, text)
    return write


def hdf5():
    with h5py.File("plain.h5", "w") as f:
        f["X"] = X
    with h5py.File("spaces.h5", "w") as f:
        f["X"] = X
        of_text([["ant   ", "bee   ", "cow   "][k] for k in Y], h5py.h5t.STR_SPACEPAD)(f)
    with h5py.File("opaque.h5", "w") as f:
        f["X"] = np.frombuffer(X.tobytes(), "V4").reshape(N, D)
    with h5py.File("ann.h5", "w") as f:
        f["train"] = X
        f.attrs["distance"] = "angular"
    with h5py.File("lists.h5", "w") as f:
        f["start"], f["item"] = [str(k) for k in range(N + 1)], np.arange(N)
    with h5py.File("links.h5", "w") as f:
        f["X"] = h5py.ExternalLink("between.h5", "/X")
    with h5py.File("between.h5", "w") as f:
        f["X"] = h5py.ExternalLink("plain.h5", "/X")
    snapshot("names.h5", lambda f: f["labels"].attrs.__setitem__("label_names", np.arange(3)))
    snapshot("digest.h5", content_sha256=[1, 2])
    snapshot("features.h5", lambda f: f.__setitem__("features", np.where(np.arange(N * 2).reshape(N, 2) == 5, np.nan, 1)))
    snapshot("group.h5", lambda f: f.__setitem__("group", Y))
    snapshot("no-group.h5")


def retrieval(name, change=lambda f: None, **attributes):
    with h5py.File(name, "w") as f:
        f.attrs.update({"schema": "hardneg-snapshot", "schema_version": 2, "kind": "retrieval", **attributes})
        f["queries"], f["corpus"] = X[:3], X[3:]
        f["qrels/indptr"], f["qrels/indices"] = np.arange(4), np.arange(3)
        change(f)


def replaced(path, value):
    def change(f):
        if path in f:
            del f[path]
        if value is not None:
            f[path] = value
    return change


def filtered(f):
    """Rows that are compressed by a filter that nobody has here, which HDF5 lets be made as long as it is optional."""
    del f["embeddings"]
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk((N, D))
    how.set_filter(32666, h5py.h5z.FLAG_OPTIONAL, (1,))
    h5py.h5d.create(f.id, b"embeddings", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((N, D)), how).write(h5py.h5s.ALL, h5py.h5s.ALL, X)


def unwritten(f):
    h5py.h5a.create(f["labels"].id, b"label_names", h5py.h5t.py_create(h5py.string_dtype(), logical=True), h5py.h5s.create_simple((3,)))


def chunked(name, shape):
    """A data set of any size, of which nothing is stored."""
    def change(f):
        del f[name]
        f.create_dataset(name, shape, "f4", chunks=tuple(1 for _ in shape))
    return change


def names(value):
    return lambda f: f["labels"].attrs.__setitem__("label_names", value)


def of_parts():
    """Rows in several files, and names that look like patterns."""
    np.save("part1.npy", X[:6])
    np.save("part2.npy", X[6:])
    np.save("whole.npy", np.arange(1, 6 * D + 1).reshape(6, D))
    np.save("x[1].npy", X)
    np.save("narrow.npy", X[:, :2])
    put("ids9.jsonl", "".join(f'{{"_id": {k}, "text": "t"}}\n' for k in range(N + 1)))
    for name, change in ("hole", np.nan), ("zero", 0), ("endless", np.inf):
        x = X.copy()
        x[2] = change
        np.save(f"{name}.npy", x)
    np.save("f2.npy", np.where(np.arange(N * D).reshape(N, D) == 9, np.inf, X).astype("f2"))
    np.save("cube.npy", X[None])
    np.save("brain.npy", (X.view("u4") >> 16).astype("u2").view("V2"))
    np.savez("qs.npz", a=X[:3], b=X[:3])
    np.save("unit.npy", X / np.linalg.norm(X, axis=1, keepdims=True))
    np.save("unit-q.npy", X[:3] / np.linalg.norm(X[:3], axis=1, keepdims=True))
    np.save("more.npy", np.concatenate([X[:2], 0 * X[:1], X[2:]]))
    np.savez("cubes.npz", a=X[None], b=X[None])
    os.mkdir("g")
    for name, text in (("features", "# features=3\n0 1 0 2\n1 0 1\n2 1 1\n3 0 0 1\n"), ("edges", "# from to\n0 1\n1 2\n2 3\n0 3\n")):
        put(f"g/a.{name}", text)
    np.savez("own.npz", a=X, y=Y)
    put("turned.txt", "".join(f"c{k}\n" for k in Y[::-1]))
    put("four.txt", "a\nb\nc\nd\n")
    put("thirteen.txt", "label\n" + "".join(f"c{k}\n" for k in Y) + "c0\n")
    put("several.txt", "".join(f"c{k}|d\n" for k in Y))
    put("other.txt", "".join(f"c{k}|d\n" if i != 9 else "d\n" for i, k in enumerate(Y)))
    put("more.txt", "".join(f"c{k}|d\n" for k in [*Y[:2], 0, *Y[2:]]))
    put("moved.txt", "".join(f"c{k}|d\n" if i != 9 else "d\n" for i, k in enumerate([*Y[:2], 0, *Y[2:]])))
    for name, start in ("none", []), ("late", [1, *range(2, N + 2)]), ("short", [*range(N), N + 3]):
        np.savez(f"lists-{name}.npz", start=np.array(start, int), item=np.arange(N) % 3)


def tensors():
    """Headers of safetensors that are no headers."""
    good = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    for name, header in (("list", [1]), ("flat", {"x": {**good, "shape": []}}), ("deep", {"x": {**good, "shape": [1, 1, 1, 2, 2]}}),
                         ("words", {"x": {**good, "shape": ["2", 2]}}), ("one", {"x": {**good, "data_offsets": [0]}}),
                         ("back", {"x": {**good, "data_offsets": [8, 4]}}), ("about", {"__metadata__": {"by": "me"}, "x": good})):
        text = json.dumps(header).encode()
        put(f"{name}.safetensors", struct.pack("<Q", len(text)) + text + np.arange(1, 5, dtype="f4").tobytes())
    put("broken.safetensors", struct.pack("<Q", 4) + b"{'x'" + bytes(16))


def snapshots():
    """Snapshots with one fault, or with something rare."""
    snapshot("fixed.h5", names(np.array(["ant", "bee", "cow"], "S8")))
    snapshot("unwritten.h5", unwritten)
    snapshot("square.h5", names([["ant"], ["bee"]]))
    snapshot("long-name.h5", names(np.array(["a" * 5000], "S5000")))
    snapshot("word-version.h5", schema_version="one")
    for name, shape in ("none", (0, D)), ("flat", (N, 0)), ("stepless", (0, N, D)):
        snapshot(f"{name}.h5", replaced("embeddings", np.zeros(shape, "f4")))
    for name, shape in ("many", (2**33, 1)), ("wide", (1, 2**21)), ("lasting", (2**33, 1, 1)):
        snapshot(f"{name}.h5", chunked("embeddings", shape))
    for name, shape in ("rows", (N - 1, D)), ("cols", (N, D - 1)), ("steps", (2, N, D)), ("empty", (N, 0)):
        snapshot(f"view-{name}.h5", replaced("view2", np.ones(shape, "f4")))
    for name, shape in ("flat", (N,)), ("few", (N - 1, 3)), ("steps", (2, N, 3)), ("empty", (N, 0)):
        snapshot(f"teach-{name}.h5", replaced("teacher", np.ones(shape, "f4")))
    for name, data in ("few", np.ones(N - 1, "f4")), ("square", np.ones((N, 1), "f4")):
        snapshot(f"sparse-{name}.h5", lambda f, data=data: (replaced("features_csr/indptr", np.arange(N + 1))(f), replaced("features_csr/indices", np.zeros(N, int))(f),
                                                            replaced("features_csr/data", data)(f)))
    snapshot("late.h5", lambda f: (replaced("graph/indptr", [1, *range(2, N + 2)])(f), replaced("graph/indices", (np.arange(N + 1) + 1) % N)(f)))
    snapshot("alone.h5", replaced("positive", [1, 0] + [-1] * (N - 2)))
    snapshot("alone-view.h5", lambda f: (replaced("positive", [1, 0] + [-1] * (N - 2))(f), replaced("view2", X)(f)))
    snapshot("filtered.h5", filtered)
    for name, title in ("delete", "a\x7fb"), ("bell", "a\x07b"), ("next", "a\u0085b"), ("pound", "a\u00a3\nb"):
        snapshot(f"title-{name}.h5", title=title)
    for name, sample in ("far", [*range(N - 1), 99]), ("back", [1, 0, *range(2, N)]), ("few", range(N - 1)):
        snapshot(f"sample-{name}.h5", replaced("sample", np.array(sample)))
    snapshot("kept.h5", zero_rows=True)


def scores(value, items=(0, 1, 2)):
    def change(f):
        f["scores/indptr"], f["scores/indices"], f["scores/score"] = np.arange(4), np.array(items, "i8"), np.array(value, "f4")
    return change


def teachers(queries, corpus):
    def change(f):
        f["query_teacher"], f["corpus_teacher"] = queries, corpus
    return change


def retrievals():
    retrieval("whole.h5")
    retrieval("newer.h5", schema_version=99)
    retrieval("no-queries.h5", replaced("queries", None))
    retrieval("flat.h5", replaced("corpus", X[0]))
    retrieval("steps.h5", lambda f: (replaced("queries", np.stack([X[:3]] * 2))(f), replaced("corpus", np.stack([X[3:]] * 3))(f)))
    retrieval("scores-short.h5", scores([1, 2]))
    retrieval("scores-nan.h5", scores([1, np.nan, 2]))
    retrieval("teacher-rows.h5", teachers(X[:2], X[3:]))
    retrieval("teacher-dims.h5", teachers(X[:3], X[3:, :2]))
    retrieval("still.h5", lambda f: (replaced("corpus", np.stack([X[3:]] * 3))(f), replaced("step", np.arange(3))(f)))
    retrieval("moving.h5", lambda f: (replaced("queries", np.stack([X[:3]] * 3))(f), replaced("step", np.arange(3))(f)))
    retrieval("no-rows.h5", replaced("queries", np.zeros((0, D), "f4")))
    retrieval("no-dims.h5", lambda f: (replaced("queries", np.zeros((3, 0), "f4"))(f), replaced("corpus", np.zeros((9, 0), "f4"))(f)))
    retrieval("no-steps.h5", replaced("corpus", np.zeros((0, 9, D), "f4")))
    retrieval("dims.h5", replaced("corpus", X[3:, :2]))
    retrieval("scores-none.h5", lambda f: (scores([1, 2, 3])(f), replaced("scores/score", None)(f)))
    retrieval("scores-square.h5", lambda f: (scores([1, 2, 3])(f), replaced("scores/score", np.ones((3, 1), "f4"))(f)))
    retrieval("scores-whole.h5", lambda f: (scores([1, 2, 3])(f), replaced("scores/score", np.ones(3, int))(f)))
    retrieval("teacher-flat.h5", teachers(X[:3, 0], X[3:, 0]))
    retrieval("teacher-steps.h5", teachers(np.stack([X[:3]] * 2), X[3:]))
    retrieval("teacher-whole.h5", teachers(np.ones((3, 2), int), X[3:]))
    retrieval("word-pairs.h5", schema_version="two")
    for name, text in (("few", ["a"] * 8), ("latin", [b"caf\xe9"] * 9), ("square", [["a"]] * 9), ("good", ["a\nb"] * 9)):
        retrieval(f"text-{name}.h5", lambda f, text=text: (f.create_dataset("query_text", data=["q"] * 3, dtype=h5py.string_dtype()),
                                                           f.create_dataset("corpus_text", data=text, dtype=h5py.string_dtype())))
    retrieval("text-whole.h5", lambda f: (f.create_dataset("query_text", data=["q"] * 3, dtype=h5py.string_dtype()), replaced("corpus_text", np.arange(9))(f)))
    retrieval("text-never.h5", lambda f: f.create_dataset("corpus_text", (9,), h5py.string_dtype()))


def files():
    np.save("x.npy", X)
    np.save("turned.npy", np.asfortranarray(X))
    np.save("q.npy", X[:3])
    np.save("short.npy", X[:2])
    np.savetxt("tiny.csv", X.astype("f8") * 1e-200, delimiter=",")
    np.save("y.npy", Y)
    put("y.txt", "".join(f"c{k}\n" for k in Y))
    put("few.txt", "a\nb\n")
    put("x.fvecs", b"".join(struct.pack(f"<i{D}f", D, *row) for row in X))
    put("x.values", struct.pack("<ii", N, D) + X.tobytes())
    put("wide.txt", "1 " * ((1 << 20) + 1) + "\n")
    put("latin.txt", "caf\xe9\nb\nc\n".encode("latin-1"))
    for name, line in (("tab", '{"_id": "a\\tb", "text": "t"}'), ("title", '{"_id": "a", "title": 3, "text": "t"}')):
        put(f"{name}.jsonl", f"{line}\n" * 3)
    put("qrels.tsv", "0\t1\t1\n1\t2\t1\n2\t3\t1\n")
    put("far.tsv", "0\t1\t1\n1\t99\t1\n")
    put("pairs.tsv", "a dog\ta cat\na cow\ta hen\n")
    put("ids.txt", "p\nq\nr\n")
    put("itself.jsonl", "".join(f"[{k}]\n" for k in range(N)))
    put("swapped.jsonl", "".join(f'{{"anchor": {(k + 1) % N}, "negatives": [{(k + 2) % N}]}}\n' for k in range(N)))
    put("rest.jsonl", "".join(f"[{(k + 1) % N}]\n" for k in range(N + 1)))
    for name in ("itself", "swapped", "rest"):
        put(f"{name}.yaml", "version: 1\nsnapshots: no-group.h5\nbatch_size: 4\nbatches: 2\nsamplers: "
                            f"[given-negatives: {{file: {name}.jsonl, name: mine, n: 1}}]\n")
    archives()
    hdf5()
    of_parts()
    tensors()
    snapshots()
    retrievals()


QUERIES = "import --queries q.npy --corpus x.npy "
PER_ANCHOR = "run -o FILE -c FILE.yaml"

# words (OUT: the file to write), exit code, what is said
CASES = [
    ("import -e encrypted.npz -o OUT", 3, "encrypted.npz: is encrypted; save the arrays again"),
    ("import -e impossible.npz -o OUT", 3, "impossible.npz: its directory is damaged: sizes are impossible"),
    ("import -e longer.npz -o OUT", 3, "longer.npz: x: is longer than its directory says"),
    ("import -e readme.npz -o OUT", 0, "12 items"),
    ("import -e x.npy -l lists.h5 --label-tensor start,item -o OUT", 3, "lists.h5: start holds no integers"),
    ("import -e nothing.npz --tensor x -o OUT", 3, "nothing.npz: there is no 'x'; it holds nothing"),
    ("import -e short-names.npz -o OUT", 0, "12 items"),
    ("import -e x.npy --rows 13 -o OUT", 3, "x.npy: has 12 rows, fewer than the 13 of --rows"),
    ("import -e x.npy --rows 7 -o OUT", 0, "7 items"),
    ("import -e turned.npy --rows 7 -o OUT", 0, "7 items"),
    ("import -e x.fvecs --rows 13 -o OUT", 3, "x.fvecs: has 12 rows, fewer than the 13 of --rows"),
    ("import -e x.fvecs --rows 7 -o OUT", 0, "7 items"),
    ("import -e plain.h5 --rows 13 -o OUT", 3, "plain.h5: has 12 rows, fewer than the 13 of --rows"),
    ("import -e plain.h5 --rows 7 -o OUT", 0, "7 items"),
    ("import -e ann.h5 --rows 13 -o OUT", 3, "ann.h5: has 12 rows, fewer than the 13 of --rows"),
    ("import -e x.npy --rows 7 -l few.txt -o OUT", 3, "few.txt: has 2 labels, fewer than the 7 of --rows"),
    ("import -e x.npy -e x.npy --rows 7 -o OUT", 2, "--rows takes the first rows of one file, not of 2 parts"),
    ("import -e x.values --format bin -o OUT", 2, "x.values: its name does not say what its values are; give --raw"),
    ("import -e x.values --format bin --raw float32 -o OUT", 0, "12 items"),
    ("import -e x.npy -l x.fvecs -o OUT", 3, "x.fvecs: a file of the format .*holds no labels"),
    ("import -e tiny.csv --transpose -o OUT", 3, "tiny.csv: holds values beyond 2.100, or rows below 2.-100, which --transpose does not take"),
    ("import -e wide.txt -o OUT", 3, "wide.txt: line 1: holds more than 2.20 values"),
    ("import -e x.npy -l y.txt --label-separator= -o OUT", 2, "option '--label-separator' is empty: leave it out, or give TEXT"),
    ("import -e x.npy -l y.npy --label-separator | -o OUT", 3, "y.npy: labels are integers, one for each row"),
    ("import -e x.npy --group few.txt -o OUT", 3, "few.txt has 2 groups but x.npy has 12 rows; they must agree"),
    ("import -e x.npy --group group.h5 -o OUT", 0, "12 items"),
    ("import -e x.npy --group no-group.h5 -o OUT", 3, "no-group.h5: has no groups"),
    ("import -e links.h5 -o OUT", 0, "12 items"),
    ("import -e opaque.h5 --tensor X -o OUT", 3, "X holds no numbers or texts"),
    ("import -e spaces.h5 --tensor X -l spaces.h5 --label-tensor y -o OUT", 0, "12 items"),
    (QUERIES + "-o OUT", 2, "give either --qrels, .* or --pairs"),
    (QUERIES + "--pairs pairs.tsv --query-ids ids.txt -o OUT", 2, "--pairs brings texts, and numbers as ids: leave out --query-ids"),
    (QUERIES + "--qrels qrels.tsv --query-teacher q.npy -o OUT", 2, "--corpus-teacher is missing: a teacher has rows of both sides"),
    (QUERIES + "--qrels qrels.tsv --query-teacher short.npy --corpus-teacher x.npy -o OUT", 3, "short.npy has 2 rows but q.npy has 3; they must agree"),
    (QUERIES + "--qrels qrels.tsv --tensor X -o OUT", 2, "--tensor X: q.npy does not hold several arrays by name"),
    (QUERIES + "--qrels far.tsv -o OUT", 3, "far.tsv: line 2: the id 99 of a passage is not a row from 0 to 11; name the ids of the rows with --corpus-ids"),
    (QUERIES + "--qrels qrels.tsv --query-ids latin.txt -o OUT", 3, "latin.txt: line 1: is not UTF-8"),
    (QUERIES + "--qrels qrels.tsv --query-ids tab.jsonl -o OUT", 3, "tab.jsonl: line 1: the id a.b holds a tab"),
    (QUERIES + "--qrels qrels.tsv --query-ids title.jsonl -o OUT", 3, 'title.jsonl: line 1: "title" is not a text'),
    (QUERIES + "--zero-rows skip --qrels qrels.tsv -o OUT", 2, "--zero-rows skip: ids, texts and relevance go by the rows"),
    ("info newer.h5", 3, "newer.h5: the attribute schema_version is 99, this program reads version 2"),
    ("info no-queries.h5", 3, "no-queries.h5: there is no data set /queries; add it"),
    ("info flat.h5", 3, "flat.h5: data set /corpus must be .steps, .*none of them 0"),
    ("info steps.h5", 3, "steps.h5: queries have 2 steps, the corpus has 3; they must agree, or one of them be 1"),
    ("info scores-short.h5", 3, "scores-short.h5: data set /scores/score must have a value for each of the 3 indices"),
    ("info scores-nan.h5", 3, "scores-nan.h5: data set /scores/score, index 1 is not finite"),
    ("info teacher-rows.h5", 3, "teacher-rows.h5: .*query_teacher"),
    ("info teacher-dims.h5", 3, "teacher-dims.h5: /query_teacher and /corpus_teacher must be .* with the same dimensions"),
    ("info whole.h5", 0, "queries"),
    ("info still.h5", 0, "queries"), ("info moving.h5", 0, "queries"),
    ("info no-rows.h5", 3, "no-rows.h5: data set /queries must be .*none of them 0"),
    ("info no-dims.h5", 3, "no-dims.h5: data set /queries must be .*none of them 0"),
    ("info no-steps.h5", 3, "no-steps.h5: data set /corpus must be .*none of them 0"),
    ("info dims.h5", 3, "dims.h5: queries have 4 dimensions, the corpus has 2"),
    ("info scores-none.h5", 3, "scores-none.h5: data set /scores/score must have a value for each of the 3"),
    ("info scores-square.h5", 3, "scores-square.h5: data set /scores/score must have a value for each of the 3"),
    ("info scores-whole.h5", 3, "scores-whole.h5: data set /scores/score does not hold IEEE floats"),
    ("info teacher-flat.h5", 3, "teacher-flat.h5: /query_teacher and /corpus_teacher must be"),
    ("info teacher-steps.h5", 3, "teacher-steps.h5: .*query_teacher"),
    ("info teacher-whole.h5", 3, "teacher-whole.h5: data set /query_teacher does not hold IEEE floats"),
    ("info word-pairs.h5", 3, "word-pairs.h5: the attribute schema_version is -1, this program reads version 2"),
    ("validate text-good.h5", 0, "valid"),
    ("validate text-few.h5", 3, "text-few.h5: data set /corpus_text: it has 8 texts, not 9"),
    ("validate text-latin.h5", 3, "text-latin.h5: data set /corpus_text: the text of row 0 is not UTF-8; import it so"),
    ("validate text-square.h5", 3, "text-square.h5: data set /corpus_text: it is not a list of texts"),
    ("validate text-whole.h5", 3, "text-whole.h5: data set /corpus_text: it is not a list of texts"),
    ("validate text-never.h5", 3, "text-never.h5: data set /corpus_text: it is not a list of texts, or damaged"),
    ("info fixed.h5", 0, "ant, bee, cow"),
    ("info unwritten.h5", 0, "classes *3"),
    ("info square.h5", 3, "square.h5: attribute label_names of the labels is not a list of at most"),
    ("info long-name.h5", 3, "long-name.h5: attribute label_names of the labels is not a list of at most"),
    ("info word-version.h5", 3, "word-version.h5: the attribute schema_version is -1, this program reads version 1"),
    ("info none.h5", 3, "none.h5: data set /embeddings is empty: .1, 0, 4"),
    ("info flat.h5", 3, "flat.h5: data set"),
    ("info stepless.h5", 3, "stepless.h5: data set /embeddings is empty: .0, 12, 4"),
    ("info many.h5", 3, "many.h5: data set /embeddings"),
    ("info wide.h5", 3, "wide.h5: data set /embeddings"),
    ("info lasting.h5", 3, "lasting.h5: data set /embeddings"),
    ("info view-rows.h5", 3, "view-rows.h5: data set /view2 is .1, 11, 4. but /embeddings is .1, 12, 4"),
    ("info view-cols.h5", 3, "view-cols.h5: data set /view2 is .1, 12, 3. but /embeddings is .1, 12, 4"),
    ("info view-steps.h5", 3, "view-steps.h5: data set /view2 is .2, 12, 4. but /embeddings is .1, 12, 4"),
    ("info view-empty.h5", 3, "view-empty.h5: data set /view2 is empty"),
    ("info teach-flat.h5", 3, "teach-flat.h5: data set /teacher has the wrong rank: 1"),
    ("info teach-few.h5", 3, "teach-few.h5: data set /teacher has 11 values for 12 items"),
    ("info teach-steps.h5", 3, "teach-steps.h5: data set /teacher is .2, 12, 3.; it must have one dimension or more, and 1 step or the 1"),
    ("info teach-empty.h5", 3, "teach-empty.h5: data set /teacher is .1, 12, 0.; it must have one dimension or more"),
    ("info sparse-few.h5", 3, "sparse-few.h5: data set /features_csr/data has 11 values for 12 indices"),
    ("info sparse-square.h5", 3, "sparse-square.h5: data set /features_csr/data"),
    ("info late.h5", 3, "late.h5: data set /graph/indptr goes from 1 to 13, it must go from 0 to the 13 indices"),
    ("info alone.h5", 0, "/positive names no partner for 10 of 12 items: taken as no positive"),
    ("info alone-view.h5", 0, "12 items|items *12|/view2|view2"),
    ("info filtered.h5", 3, "filtered.h5: data set /embeddings is compressed by filter 32666, which HDF5 does not have here"),
    ("info title-delete.h5", 0, "items"), ("info title-bell.h5", 0, "items"), ("info title-next.h5", 0, "items"), ("info title-pound.h5", 0, "items"),
    ("import -e more.npy --zero-rows skip --step 1 -o sample-far.h5", 3, "sample-far.h5: its item 11 has number 99 in /sample, which is not a row of more.npy"),
    ("import -e more.npy --zero-rows skip --step 1 -o sample-back.h5", 3, "sample-back.h5: its item 1 has number 0 in /sample, which is not a row of more.npy behind"),
    ("import -e more.npy --zero-rows skip --step 1 -o sample-few.h5", 3, "sample-few.h5: data set /sample has 11 values for 12 items"),
    ("import -e hole.npy --step 1 -o kept.h5", 3, "hole.npy: row 2 holds NaN"),
    ("import -e zero.npy --step 1 -o kept.h5", 0, ""),
    ("import -e endless.npy --zero-rows keep --step 2 -o kept.h5", 3, "endless.npy: row 2 holds infinity"),
    ("import -e x.npy -l turned.txt --step 1 -o alone-view.h5 --view2 x.npy", 3, "turned.txt: label 2 of row 0 differs from 0 in alone-view.h5"),
    ("import -e own.npz --tensor a --label-tensor y -o OUT", 2, "--label-tensor y names an array in the file of --labels, which is missing"),
    ("import -e x.npy -l several.txt --label-separator | -o several.h5", 0, "12 items"),
    ("import -e x.npy -l other.txt --label-separator | --step 1 -o several.h5", 3, "other.txt: the labels of row 9 differ from those in several.h5"),
    ("import -e x.npy -l y.txt --step 1 -o several.h5", 3, "y.txt: the labels of row 0 differ from those in several.h5"),
    ("import -e more.npy -l more.txt --label-separator | --zero-rows skip -o skipped.h5", 0, "1 of 13 rows"),
    ("import -e more.npy -l moved.txt --label-separator | --zero-rows skip --step 1 -o skipped.h5", 3, "moved.txt: the labels of row 9 differ from those in skipped.h5"),
    ("import --linqs g --encoder words --title t --source s -o OUT", 0, "4 items"),
    ("import --linqs g -l four.txt -o OUT", 2, "--linqs"),
    ("import --linqs nowhere -o OUT", 3, "nowhere"),
    ("import -e x.npy --view2 narrow.npy -o OUT", 3, "narrow.npy is .12, 2. but x.npy is .12, 4.; they must agree"),
    ("import -e x.npy --view2 part1.npy -o OUT", 3, "part1.npy is .6, 4. but x.npy is .12, 4.; they must agree"),
    ("import -e x[1].npy -o OUT", 0, "12 items"),
    ("import -e f2.npy -o OUT", 3, "f2.npy: row 2 holds infinity"),
    ("import -e cubes.npz -o OUT", 3, "no array that could be embeddings"),
    ("import -e x.npy -l cubes.npz -o OUT", 3, "no array that could be labels"),
    ("import -e x.npy --transpose -l y.npy -o OUT", 3, "y.npy has 12 labels but x.npy has 4 rows; they must agree *$"),
    ("import -e x.npy -l thirteen.txt --header yes -o OUT", 3, "thirteen.txt has 13 labels but x.npy has 12 rows; they must agree *$"),
    ("import -e x.npy -l lists-none.npz --label-tensor start,item -o OUT", 3, "lists-none.npz"),
    ("import -e x.npy -l lists-late.npz --label-tensor start,item -o OUT", 3, "lists-late.npz: .*offsets of the labels"),
    ("import -e x.npy -l lists-short.npz --label-tensor start,item -o OUT", 3, "lists-short.npz: .*offsets of the labels"),
    ("import -e x.npy -l y.txt -l y.npy -o OUT", 3, "y.npy holds integers, y.txt does not; parts hold the same"),
    ("import -e list.safetensors -o OUT", 3, "list.safetensors: the header is not a JSON object: another value"),
    ("import -e broken.safetensors -o OUT", 3, "broken.safetensors: the header is not a JSON object: "),
    ("import -e flat.safetensors --tensor x -o OUT", 3, "flat.safetensors: tensor 'x' is none of 1 to 4 dimensions"),
    ("import -e deep.safetensors --tensor x -o OUT", 3, "deep.safetensors: tensor 'x' is none of 1 to 4 dimensions"),
    ("import -e words.safetensors --tensor x -o OUT", 3, "words.safetensors: tensor 'x' is none of 1 to 4 dimensions"),
    ("import -e one.safetensors --tensor x -o OUT", 3, "one.safetensors: tensor 'x' lies outside"),
    ("import -e back.safetensors --tensor x -o OUT", 3, "back.safetensors: tensor 'x' lies outside"),
    ("import -e about.safetensors -o OUT", 0, "2 items"),
    ("import --queries q.npy --corpus part1.npy --corpus part2.npy --qrels qrels.tsv -o OUT", 0, "9 passages|12 passages"),
    ("import --queries q.npy --corpus part?.npy --qrels qrels.tsv -o OUT", 0, "part.*: 2 files, from part1.npy to part2.npy"),
    ("import --queries q.npy --corpus x[1].npy --qrels qrels.tsv -o OUT", 0, "12 passages"),
    ("import --queries q.npy --corpus part1.npy --corpus whole.npy --qrels qrels.tsv -o OUT", 3, "whole.npy holds integers but part1.npy holds floats; parts are of one kind"),
    ("import --queries q.npy --corpus whole.npy --corpus part1.npy --qrels qrels.tsv -o OUT", 3, "part1.npy holds floats but whole.npy holds integers; parts are of one kind"),
    ("import --queries q.npy --corpus x.npy --qrels qrels.tsv --corpus-ids ids9.jsonl -o OUT", 3, "ids9.jsonl: has 13 ids for the rows of 12 passages; they must agree *$"),
    ("import --queries q.npy --corpus hole.npy --qrels qrels.tsv -o OUT", 3, "hole.npy: row 2 holds NaN"),
    ("import --queries q.npy --corpus x.npy --format npy --qrels qrels.tsv -o OUT", 0, "12 passages"),
    ("import --queries q.npy --corpus x.npy --transpose --qrels qrels.tsv -o OUT", 3, "q.npy|x.npy"),
    ("import --queries q.npy --corpus turned.npy --qrels qrels.tsv -o OUT", 0, "12 passages"),
    ("import --queries q.npy --corpus brain.npy --qrels qrels.tsv -o OUT", 0, "bfloat16"),
    ("import --queries qs.npz --corpus own.npz --tensor a --qrels qrels.tsv -o OUT", 0, "12 passages"),
    ("import --queries short.npy --corpus short.npy --pairs pairs.tsv -o OUT", 0, "2 passages"),
    ("import --queries unit-q.npy --corpus unit.npy --qrels qrels.tsv -o unit.h5", 0, "12 passages"),
    ("import --queries unit-q.npy --corpus unit.npy --step 1 -o unit.h5", 0, ""),
    ("import --queries unit-q.npy --corpus unit.npy --qrels qrels.tsv -o later.h5", 0, "12 passages"),
    ("import --queries unit-q.npy --corpus x.npy --step 1 -o later.h5", 0, ""),
    ("import --queries unit-q.npy --corpus x.npy --qrels qrels.tsv -o mixed.h5", 0, "12 passages"),
    ("import --queries q.npy --corpus unit.npy --qrels qrels.tsv -o queries.h5", 0, "12 passages"),
    ("import --queries q.npy --corpus nowhere.npy --qrels qrels.tsv -o OUT", 3, "nowhere.npy"),
    ("import --queries q.npy --corpus cube.npy --qrels qrels.tsv -o OUT", 3, "cube.npy: .*3 dimensions"),
    ("import --queries q.npy --corpus narrow.npy --qrels qrels.tsv -o OUT", 3, "they must agree"),
    ("info names.h5", 3, "names.h5: attribute label_names of the labels is not a list of at most"),
    ("info digest.h5", 3, "digest.h5: the attribute content_sha256 is not one text"),
    ("info features.h5", 3, "features.h5: data set /features, row 2 is not finite; mend the features"),
    (PER_ANCHOR.replace("FILE", "itself"), 4, "itself.jsonl: the list of anchor 0 holds the anchor itself"),
    (PER_ANCHOR.replace("FILE", "swapped"), 4, "swapped.jsonl: line 1: is of anchor 1 where that of anchor 0 is due"),
    (PER_ANCHOR.replace("FILE", "rest"), 4, "rest.jsonl: holds 13 lists, and the snapshot has 12 items: a list for each"),
]

# A snapshot that is there: what is added to it.
APPENDED = [
    ("import -e x.npy -o OUT --step 0", 0, ""),
    ("import -e x.npy -o OUT --step 1 --title other", 0, "OUT: exists; its title, source, license, encoder and label names stay"),
    ("import -e x.npy -o OUT --step 2 --source other", 0, "OUT: exists; its title, source, license, encoder and label names stay"),
    ("import -e x.npy -o OUT --step 3 --license other", 0, "OUT: exists; its title, source, license, encoder and label names stay"),
    ("import -e x.npy -o OUT --step 4 --encoder other", 0, "OUT: exists; its title, source, license, encoder and label names stay"),
    ("import -e x.npy -o OUT --step 5 -l y.npy --label-names ids.txt", 3, "y.npy: label 0 of row 0 differs from|OUT"),
    ("import -e x.npy -o OUT --step 6 --zero-rows skip", 0, ""),
    ("import --queries q.npy --corpus x.npy --qrels qrels.tsv -o PAIRS --step 0", 0, ""),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 1 --title other", 0, "PAIRS: exists; its title, source, license and encoder stay"),
    ("import --queries q.npy --corpus narrow.npy -o PAIRS --step 2", 3, "they must agree"),
    ("import --queries q.npy --corpus part1.npy -o PAIRS --step 2", 3, "part1.npy is .6, 4. but PAIRS has 12 passages of 4 dims; they must agree"),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 2 --zero-rows keep", 2, "PAIRS: was made without --zero-rows keep, and holds no zero rows"),
    ("import --queries short.npy --corpus x.npy -o PAIRS --step 2", 3, "short.npy is .2, 4. but PAIRS has 3 queries of 4 dims; they must agree"),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 1", 2, "--step 1 does not come after step 1, the last of PAIRS"),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 2 --query-ids ids.txt", 2, "PAIRS: exists, and a further step brings rows alone"),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 3 --source other", 0, "PAIRS: exists; its title, source, license and encoder stay"),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 4 --license other", 0, "PAIRS: exists; its title, source, license and encoder stay"),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 5 --encoder other", 0, "PAIRS: exists; its title, source, license and encoder stay"),
    ("import --teacher x.npy -o ann.h5", 2, "ann.h5: is in the layout ann-benchmarks; import it first"),
]


def main():
    files()
    failed = 0
    for k, (words, code, said) in enumerate(CASES + APPENDED):
        fresh = k < len(CASES)
        names = {"OUT": f"out{k}.h5" if fresh else "steps-of.h5", "PAIRS": "pairs-of.h5"}
        for name, path in names.items():
            said = said.replace(name, path)
        done = subprocess.run([sys.argv[1], *[names.get(w, w) for w in words.split()]], capture_output=True, text=True, errors="replace")
        text = done.stdout + done.stderr
        good = done.returncode == code and re.search(said, text.replace("\n", " ")) and not re.search(r"HDF5-DIAG|\(null\)", text)
        if not good or (fresh and "OUT" in words.split() and os.path.exists(names["OUT"]) != (code == 0)):
            failed += 1
            print(f"{words}: exit code {done.returncode}: {text}", file=sys.stderr)
    for name in "unit", "later", "mixed", "queries":  # rows that all are of unit length are said to be
        with h5py.File(f"{name}.h5") as f:
            if bool(f.attrs["normalized"]) != (name == "unit"):
                failed += 1
                print(f"{name}.h5: normalized is {f.attrs['normalized']}", file=sys.stderr)
    print(f"{len(CASES) + len(APPENDED)} cases, {failed} failed")
    return bool(failed)


sys.exit(main())
