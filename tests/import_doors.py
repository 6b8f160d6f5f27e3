# SPDX-License-Identifier: GPL-3.0-or-later
"""The same arrays and labels through every door of the program: `import_doors.py PROGRAM [--table]` in an empty folder.
.npy, .npz, text, HDF5, safetensors, .fbin and Python give one digest, or one refusal, for each; a door that does not hold
such values is left out ("-")."""
import os
import re
import struct
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import hardneg  # noqa: E402
from format_files import safetensors  # noqa: E402

N, D = 12, 4
BASE = (np.random.default_rng(7).integers(1, 120, size=(N, D)) / 8).astype("f4")
CLASSES = np.arange(N) % 3
TENSORS = {"f2": "F16", "f4": "F32", "f8": "F64", "i1": "I8", "i2": "I16", "i4": "I32", "i8": "I64", "u1": "U8", "u2": "U16",
           "u4": "U32", "u8": "U64", "b1": "BOOL"}
BINS = {"f2": "f16bin", "f4": "fbin", "u1": "u8bin", "i1": "i8bin"}


def but(row, value):
    x = BASE.astype("f8")
    x[row] = value
    return x


# name: array; True: it is read, else what the refusal says
ROWS = {
    "float32": (BASE, True), "float64": (BASE.astype("f8"), True), "float16": (BASE.astype("f2"), True),
    "big-endian float32": (BASE.astype(">f4"), True), "big-endian float16": (BASE.astype(">f2"), True),
    "Fortran order": (np.asfortranarray(BASE), True), "Fortran order float64": (np.asfortranarray(BASE.astype("f8")), True),
    "transposed": (np.ascontiguousarray(BASE.T).T, True), "every other column": (np.repeat(BASE, 2, axis=1)[:, ::2], True),
    "int8": ((BASE * 8 - 60).astype("i1"), True), "uint8": ((BASE * 8).astype("u1"), True),
    "int16": ((BASE * 8).astype("i2"), True), "int64": ((BASE * 8).astype("i8"), True), "uint32": ((BASE * 8).astype("u4"), True),
    "one column": (BASE[:, :1], True), "a tiny row": (but(3, [1e-300, 3e-300, -2e-300, 0]), True),
    "a huge row": (but(3, [1e300, 3e300, -2e300, 0]), True), "denormal float32": (but(3, [2**-140, 3 * 2**-140, 0, 0]).astype("f4"), True),
    "bfloat16": ((BASE.view("u4") >> 16).astype("u2").view("V2"), True),
    "truth values": (BASE > 7, "truth values|bool|no array that could be|not a number: True"), "one dimension": (BASE[:, 0], r"1 dimension|\[n, d\]|no array that could be"),
    "three dimensions": (BASE[None], r"3 dimension|\[n, d\]|no array that could be"), "a row of zeros": (but(5, 0), "all zeros|is zero"),
    "NaN": (but(5, np.nan), "NaN|not a number"), "an infinity": (but(5, np.inf), "infinity|infinite"),
}
LABELS = {
    "int64": (CLASSES, True), "int8": (CLASSES.astype("i1"), True), "uint64": (CLASSES.astype("u8"), True),
    "truth values": (CLASSES == 1, True), "a column": (CLASSES[:, None], True), "big-endian": (CLASSES.astype(">i4"), True),
    "whole floats": (CLASSES.astype("f8"), True), "NaN is none": (np.where(CLASSES == 2, np.nan, CLASSES), True),
    "-100 is none": (np.where(CLASSES == 2, -100, CLASSES), True), "beyond 2^31": (CLASSES + 2**40, True),
    "beyond 2^63": (CLASSES.astype("u8") + np.uint64(2**63 + 5), True),
    "texts": (np.array(["cow", "ant", "bee"])[CLASSES], True), "bytes": (np.array([b"cow", b"ant", b"bee"])[CLASSES], True),
    "an empty text": (np.array(["cow", "", "bee"])[CLASSES], True), "accents": (np.array(["ko\u017e", "\u00e9t\u00e9", "\u4eba"])[CLASSES], True),
    "zeros in front": (np.array(["007", "07", "7"])[CLASSES], True), "numbers as texts": (np.array(["10", "9", "-1"])[CLASSES], True),
    "a blank": (np.array(["a", "a ", "b"])[CLASSES], True),
    "halves": (CLASSES / 2, "whole number"), "hashes": (np.where(CLASSES == 2, -7, CLASSES + 2**40), "hashes"),
    "too few": (CLASSES[:-1], "agree|one for each of"),
}
# name: array that is not read, whether it is labels, what the refusal of .npy says; HDF5 holds some of them, too
ODD = {
    "a single value": (np.float32(3), False, "plain array of 1 to 4 dimensions"),
    "Fortran order in three dimensions": (np.asfortranarray(BASE[None]), False, "3 dimensions; embeddings have two"),
    "five dimensions": (BASE[None, None, None], False, "plain array of 1 to 4 dimensions"),
    "no rows": (BASE[:0], False, "holds no rows"), "empty rows": (BASE[:, :0], False, "rows are empty"),
    "fields": (np.zeros(N, [("x", "f4"), ("y", "f4")]), False, "plain array"), "objects": (BASE.astype(object), False, r"'\|O' are not read"),
    "complex numbers": (BASE.astype("c8"), False, "'<c8' are not read"), "long doubles": (BASE.astype("g"), False, "'<f16' are not read"),
    "single bytes": (BASE.view("V1"), False, r"'\|V1' are not read"), "texts as rows": (BASE.astype("U"), False, "holds texts; embeddings are numbers"),
    "dates": (CLASSES.astype("M8[D]"), True, "'<M8.D.' are not read"), "a row of labels": (CLASSES[None], True, "2 dimensions; save one label for each row"),
    "fields of labels": (np.zeros(N, [("label", "i4")]), True, "plain array"), "an infinite label": (np.where(CLASSES, 1, np.inf), True, "is not a whole number"),
    "a label beyond 2^63": (CLASSES * 1e20, True, "is beyond 64 bits"), "objects as labels": (np.array(["a", None] * 6), True, r"'\|O' are not read"),
    # Texts that would be cut, or be one.
    "a zero in a text": (np.array(["a\0b", "a\0c", "a"])[CLASSES], True, "text of row 0 holds a zero"),
    "a zero in bytes": (np.array([b"a", b"b\0c", b"b\0d"])[CLASSES], True, "text of row 1 holds a zero"),
    "half a character": (np.array([0x61, 0xd800, 0xdfff], "u4").view("U1")[CLASSES], True, "row 1 holds .* Unicode does not have"),
    "no character": (np.array([0x61, 0x62, 0x110000], "u4").view("U1")[CLASSES], True, "row 2 holds .* Unicode does not have"),
    "a control character": (np.array(["a", "b\r", "b"])[CLASSES], True, "row 1 is not printable UTF-8"),
}


def write_tensor(path, array):
    kind = "BF16" if array.dtype.kind == "V" else TENSORS.get(array.dtype.str[1:])
    if not kind or array.dtype.str[0] == ">":
        return False
    safetensors(path, {"x": (kind, np.ascontiguousarray(array))})
    return True


def write_text(path, array):
    if array.dtype.kind == "V" or array.ndim > 2:
        return False
    rows = array.tolist() if array.dtype.kind != "b" else array.astype("U").tolist()
    if array.dtype.kind == "b" and array.ndim == 1:
        rows = array.astype(int).tolist()  # labels: texts would be classes of that name, with names
    if array.dtype.kind == "f" and array.ndim == 1:
        return False  # 0.0 is a text, not its number's own form
    cell = lambda v: v.decode() if isinstance(v, bytes) else str(v)  # noqa: E731
    with open(path, "w", encoding="utf-8") as f:
        f.writelines("\t".join(map(cell, row if isinstance(row, list) else [row])) + "\n" for row in rows)
    return True


def write_h5(path, array):
    if array.dtype.kind == "V":
        return False
    with h5py.File(path, "w") as f:
        f["x"] = array.astype(object) if array.dtype.kind == "U" else array
    return True


def write_bin(path, array):
    kind = BINS.get(array.dtype.str[1:])
    if array.ndim != 2 or array.dtype.str[0] == ">" or not kind:
        return False
    with open(path, "wb") as f:
        f.write(struct.pack("<II", *array.shape) + np.ascontiguousarray(array).tobytes())
    os.rename(path, f"{path}.{kind}")
    return f"{path}.{kind}"


DOORS = {
    ".npy": lambda p, a: np.save(p + ".npy", a) or p + ".npy", ".npz": lambda p, a: np.savez_compressed(p + ".npz", x=a) or p + ".npz",
    "text": lambda p, a: write_text(p + ".tsv", a) and p + ".tsv", "HDF5": lambda p, a: write_h5(p + ".hdf5", a) and p + ".hdf5",
    "safetensors": lambda p, a: write_tensor(p + ".safetensors", a) and p + ".safetensors", ".fbin": write_bin,
}


def read_file(words):
    done = subprocess.run([sys.argv[1], "import", *words, "-o", "out.h5"], capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    with h5py.File("out.h5") as f:
        digest, x, y = f.attrs["content_sha256"], f["embeddings"][0], f["labels"][:]
    os.remove("out.h5")
    return (digest, x, y), done.stderr


def alike(x, y, rows, labels):
    """Whether Python takes these for the rows and the classes that were read: it has no digest of them."""
    part = lambda values: np.unique(values, return_inverse=True)[1].tolist() + (values < 0).tolist()  # noqa: E731
    if part(hardneg._arrays.numbers(y, N)) != part(labels):
        return False
    batches = [list(range(N)), list(range(0, N, 2))]
    a, b = (hardneg.measure(batches, *both) for both in ((x, y), (rows, labels)))
    return a == b or all(a[k] == b[k] or (np.isnan(a[k]) and np.isnan(b[k])) for k in a)


def python(array, what, read):
    x, y = (array, CLASSES) if what == "rows" else (BASE, array)
    try:
        if read is None:
            hardneg.measure([list(range(N))], x, y)
            return "read", ""
        return ("equal" if alike(x, y, read[1], read[2]) else "other"), ""
    except (ValueError, RuntimeError) as error:
        return "refused", str(error)


def through_all(name, array, wanted, what):
    row, first = {}, None
    for door, write in DOORS.items():
        path = write("a", array)
        if not path or (door == ".fbin" and what == "labels"):
            row[door] = "-"
            continue
        named = ["--tensor" if what == "rows" else "--label-tensor", "x"] if door in ("HDF5", "safetensors") else []
        words = ["-e", path, *named, "-l", "y.npy"] if what == "rows" else ["-e", "x.npy", "-l", path, *named]
        read, text = read_file(words)
        os.remove(path)
        if read is None:
            row[door] = "refused" if wanted is not True and re.search(wanted, text) else "REFUSED: " + text.strip()
        elif first is None:
            first, row[door] = read, read[0][:8]
        else:
            row[door] = read[0][:8]
    row["Python"], text = python(array, what, first)
    if row["Python"] == "refused" and (wanted is True or not re.search(wanted, text)):
        row["Python"] = "REFUSED: " + text
    wanted = {"refused"} if wanted is not True else {first[0][:8], "equal"} if first else {"?"}
    good = {v for v in row.values() if v != "-"} == wanted
    if "--table" in sys.argv:
        print(f"| {name} |", " | ".join(row.values()), "|")
    elif not good:
        print(f"{what}, {name}: {row}", file=sys.stderr)
    return good


def refused(name, array, labels, wanted):
    """.npy, and HDF5 where that has bytes of a width."""
    np.save("odd.npy", array)
    files = [("odd.npy", [])]
    if array.dtype.kind == "S":
        write_h5("odd.hdf5", array)
        files.append(("odd.hdf5", ["--label-tensor", "x"]))
    good = True
    for path, words in files:
        read, text = read_file(["-e", "x.npy", "-l", path, *words] if labels else ["-e", path])
        if read is not None or not re.search(wanted, text):
            print(f"{path}: {name}: {text or 'is read'}", file=sys.stderr)
            good = False
    return good


def main():
    np.save("x.npy", BASE)
    np.save("y.npy", CLASSES)
    good = [through_all(name, *case, "rows") for name, case in ROWS.items()]
    good += [through_all(name, *case, "labels") for name, case in LABELS.items()]
    print(f"{len(good)} arrays through {len(DOORS) + 1} doors, {good.count(False)} differ")
    odd = [refused(name, *case) for name, case in ODD.items()]
    print(f"{len(odd)} that are not read, {odd.count(False)} otherwise")
    return not all(good + odd)


sys.exit(main())
