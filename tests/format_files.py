# SPDX-License-Identifier: GPL-3.0-or-later
"""One set of rows in every format that `hardneg import` reads, for the tests: write(FOLDER) makes the files and
returns, for each format, words of a command line that all import the same: rows(), LABELS and their names."""
import json
import struct
import sys
import unittest.mock

import numpy as np

NAMES = ["ant", "bee", "cow"]
N, D = 24, 4
LABELS = np.arange(N) % 3


def rows():
    """[24, 4] values that float16 and bfloat16 hold."""
    return (np.random.default_rng(5).integers(1, 120, size=(N, D)) / 8).astype("f4")


def safetensors(path, tensors):
    header, at, data = {"__metadata__": {"made": "here"}}, 0, b""
    for name, (kind, array) in tensors.items():
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        data, at = data + array.tobytes(), at + array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def write_bin(path, x):
    with open(path, "wb") as f:
        f.write(struct.pack("<II", *x.shape) + x.tobytes())


def write_text(folder, x, names):
    np.savetxt(f"{folder}/vectors.tsv", x, delimiter="\t", fmt="%.9g")
    with open(f"{folder}/labels.tsv", "w", encoding="utf-8") as f:
        f.write("\n".join(names))  # the last line without its end
    with open(f"{folder}/metadata.tsv", "w", encoding="utf-8") as f:
        f.write("word\tkind\r\n" + "".join(f"w {i}\t{name}\r\n" for i, name in enumerate(names)))


def write_vecs(path, x):
    with open(path, "wb") as f:
        for row in x:
            f.write(struct.pack("<i", len(row)) + row.tobytes())


def write_arrays(folder, x, names):
    np.save(f"{folder}/x.npy", x)
    np.save(f"{folder}/big.npy", x.astype(">f8"))
    np.save(f"{folder}/x0.npy", x[:7])
    np.save(f"{folder}/x1.npy", x[7:].astype("f2"))
    np.save(f"{folder}/y.npy", LABELS.astype("i2"))
    np.save(f"{folder}/y0.npy", LABELS[:10])
    np.save(f"{folder}/y1.npy", LABELS[10:])
    np.save(f"{folder}/texts.npy", np.array(names))
    np.save(f"{folder}/bytes.npy", np.array(names, "S"))
    np.savez(f"{folder}/stored.npz", x=x, y=LABELS)
    np.savez_compressed(f"{folder}/deflated.npz", x=x, narrow=x[:, :2], y=np.array(names), odd=np.array({}, object))
    with unittest.mock.patch("zipfile.ZIP64_LIMIT", 10):  # sizes and places in fields of 64 bits
        np.savez(f"{folder}/wide.npz", x=x, y=LABELS)


def write(folder):
    x, names = rows(), [NAMES[k] for k in LABELS]
    brain = (x.view("u4") >> 16).astype("u2")
    write_arrays(folder, x, names)
    safetensors(f"{folder}/one.safetensors", {"x": ("F32", x), "y": ("I64", LABELS)})
    safetensors(f"{folder}/many.safetensors", {"half": ("F16", x.astype("f2")), "brain": ("BF16", brain), "y": ("I32", LABELS.astype("i4")),
                                               "odd": ("F8_E4M3", np.zeros(3, "u1"))})
    write_bin(f"{folder}/x.fbin", x)
    write_bin(f"{folder}/x.u8bin", (8 * x).astype("u1"))
    write_bin(f"{folder}/x.i8bin", (8 * x).astype("i1"))
    write_vecs(f"{folder}/x.fvecs", x)
    write_vecs(f"{folder}/x.bvecs", (8 * x).astype("u1"))
    write_text(folder, x, names)
    x.tofile(f"{folder}/x.f4")
    brain.tofile(f"{folder}/x.bf2")
    files = {"npy": [["x.npy", "-l", "y.npy"], ["big.npy", "-l", "texts.npy"], ["x0.npy", "-e", "x1.npy", "-l", "y0.npy", "-l", "y1.npy"],
                     ["x.npy", "-l", "bytes.npy"]],
             "npz": [["stored.npz", "-l", "stored.npz"], ["deflated.npz", "--tensor", "x", "-l", "deflated.npz"],
                     ["wide.npz", "-l", "wide.npz"]],
             "safetensors": [["one.safetensors", "-l", "one.safetensors"], ["many.safetensors", "--tensor", "half", "-l", "many.safetensors"],
                             ["many.safetensors", "--tensor", "brain", "-l", "y.npy"]],
             "vecs": [["x.fvecs", "-l", "y.npy"], ["x.bvecs", "-l", "y.npy"]],
             "bin": [["x.fbin", "-l", "y.npy"], ["x.u8bin", "-l", "y.npy"], ["x.i8bin", "-l", "y.npy"]],
             "tsv": [["vectors.tsv", "-l", "labels.tsv"], ["vectors.tsv", "-l", "metadata.tsv", "--label-tensor", "kind"]],
             "raw": [["x.f4", "--raw", "float32", "--dim", "4", "-l", "y.npy"], ["x.bf2", "--raw", "bfloat16", "--dim", "4", "-l", "y.npy"]]}
    try:
        import h5py
        with h5py.File(f"{folder}/train.hdf5", "w") as f:
            f["train"] = x
        files["hdf5"] = [["train.hdf5", "-l", "y.npy"]]
    except ImportError:
        pass
    return files


if __name__ == "__main__":
    for kind, ways in write(sys.argv[1]).items():
        for words in ways:
            print(kind, "-e", *words)
