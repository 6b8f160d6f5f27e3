# SPDX-License-Identifier: GPL-3.0-or-later
"""Input that importers and readers refuse, or take with a note: `import_refused.py PROGRAM` in an empty folder. Each case
ends with its exit code and says what is wrong, and a refused file is not written."""
import io
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
    retrieval("text.h5", lambda f: f.create_dataset("corpus_text", data=[b"a"] * 8, dtype=h5py.string_dtype()))


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
    ("import --queries q.npy --corpus x.npy --qrels qrels.tsv -o PAIRS --step 0", 0, ""),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 1 --title other", 0, "PAIRS: exists; its title, source, license and encoder stay"),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 2 --zero-rows keep", 2, "PAIRS: was made without --zero-rows keep, and holds no zero rows"),
    ("import --queries short.npy --corpus x.npy -o PAIRS --step 2", 3, "short.npy is .2, 4. but PAIRS has 3 queries of 4 dims; they must agree"),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 1", 2, "--step 1 does not come after step 1, the last of PAIRS"),
    ("import --queries q.npy --corpus x.npy -o PAIRS --step 2 --query-ids ids.txt", 2, "PAIRS: exists, and a further step brings rows alone"),
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
    print(f"{len(CASES) + len(APPENDED)} cases, {failed} failed")
    return bool(failed)


sys.exit(main())
