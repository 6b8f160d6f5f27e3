#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labelled data from what a Debian system has: `front_data.py KIND SEED FOLDER [ITEMS]`, called by front.sh. ITEMS (10,000): how many at most.

    packages   descriptions of packages (apt's lists, else dpkg's), by section
    functions  functions of Python's standard library, by module
    manuals    paragraphs of manual pages (section 1), by page
    perl       subroutines of Perl's library, by module
    headers    declarations of /usr/include with the comments before them, by file
    glyphs     letters and digits of the TrueType fonts, by character

Texts become rows of TF-IDF over a random half of the words, projected to 128 singular vectors: FOLDER/x.npy, and FOLDER/y.txt.
Glyphs become images as CIFAR-100 has them, FOLDER/train.bin and test.bin, for an encoder that is trained on them. SEED draws
items, words and distortions: the same files for the same packages of Debian. Exits with 3 and a sentence where the
system lacks the material."""
import ast
import glob
import gzip
import os
import re
import string
import subprocess
import sys

import numpy as np

MOST = int(sys.argv[4]) if len(sys.argv) > 4 else 10000
DIM, FEWEST = 128, 1000  # dimensions of a series; fewer items are not worth a front


def lacking(what):
    print(what)
    sys.exit(3)


def packages(_):
    try:
        text = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        text = b""
    if text.count(b"\nSection:") < FEWEST and os.path.exists("/var/lib/dpkg/status"):
        with open("/var/lib/dpkg/status", "rb") as file:
            text = file.read()
    found = {}
    for entry in text.decode("utf-8", "replace").split("\n\n"):
        fields = dict(re.findall(r"^(Package|Section|Description): (.*(?:\n .*)*)", entry, re.M))
        if len(fields) == 3:
            found[fields["Package"]] = (fields["Package"] + " " + fields["Description"], fields["Section"].split("/")[-1])
    return [found[name] for name in sorted(found)]


def functions(_):
    found = []
    for root in sorted(glob.glob("/usr/lib/python3.[0-9]*"))[-1:]:
        for path in sorted(glob.glob(root + "/**/*.py", recursive=True)):
            module = os.path.relpath(path, root).split(os.sep)[0].removesuffix(".py")
            if re.search(r"/(tests?|lib2to3|site-packages|dist-packages)/", path):
                continue
            try:
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                nodes = list(ast.walk(ast.parse(text)))
            except (SyntaxError, UnicodeDecodeError):
                continue
            lines = text.splitlines()
            found += [("\n".join(lines[node.lineno - 1:node.end_lineno]), module) for node in nodes
                      if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno - node.lineno >= 3]
    return found


def pieces(paths, label_of, pattern):
    """What a pattern finds in files, at most 50 pieces of a file, with their labels."""
    for path in sorted(paths):
        with open(path, encoding="utf-8", errors="replace") as file:
            texts = re.findall(pattern, file.read(), re.M | re.S)
        yield from ((text, label_of(path)) for text in texts[:50] if len(words_of(text)) >= 10)


def perl(_):
    root = sorted(glob.glob("/usr/share/perl/5.*"))[-1:]
    paths = glob.glob(root[0] + "/**/*.pm", recursive=True) if root else []
    return list(pieces(paths, lambda path: os.path.relpath(path, root[0]), r"^sub \w+.*?^}"))


def headers(_):
    paths = glob.glob("/usr/include/*.h") + glob.glob("/usr/include/*/*.h")
    return list(pieces(paths, os.path.basename, r"/\*(?:(?!\*/).)*\*/\s+(?:extern |typedef |struct |enum )[^;]*;"))


def paragraphs(path):
    """Those of a page in roff that have ten words or more."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        text = re.sub(r"^[.'](?:B|I|BR|RB|IR|RI|BI|IB)\s", "", file.read(), flags=re.M)
    parts = re.split(r"(?:^[.'].*\n?)+", text, flags=re.M)
    return [part for part in (re.sub(r"\\f.|\\.", " ", part) for part in parts) if len(re.findall(r"[a-z]{2,}", part)) >= 10]


def manuals(rng):
    found = []
    pages = [path for path in sorted(glob.glob("/usr/share/man/man1/*.gz")) if not os.path.islink(path)]
    for number in rng.permutation(len(pages)):
        texts = sorted(set(paragraphs(pages[number])))
        if len(texts) >= 5:
            texts = [texts[i] for i in rng.permutation(len(texts))[:50]]
            found += [(text, os.path.basename(pages[number])) for text in texts]
        if len(found) >= MOST:
            break
    return found


def words_of(text):
    return re.findall(r"[a-z]{2,}", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())


def embed(texts, rng):
    from scipy import sparse
    from scipy.sparse.linalg import svds

    words = [words_of(text) for text in texts]
    vocabulary = {word: i for i, word in enumerate(sorted({word for line in words for word in line}))}
    row = np.repeat(np.arange(len(words)), [len(line) for line in words])
    column = np.array([vocabulary[word] for line in words for word in line])
    counts = sparse.csr_matrix((np.ones(len(row)), (row, column)), shape=(len(words), len(vocabulary)))
    counts.sum_duplicates()
    items = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = np.flatnonzero(items >= 5)
    kept = np.sort(rng.permutation(kept)[:len(kept) // 2])
    x = counts[:, kept]
    x.data = 1 + np.log(x.data)
    x = x @ sparse.diags(np.log(len(words) / items[kept]))
    length = np.sqrt(x.multiply(x).sum(1).A1)
    x = sparse.diags(1 / np.maximum(length, 1e-12)) @ x
    _, _, axes = svds(x, k=DIM, v0=rng.standard_normal(min(x.shape)))
    return np.asarray(x @ axes.T), length > 0


def write_texts(found, rng, folder):
    found = [found[i] for i in rng.permutation(len(found))[:MOST]]
    x, seen = embed([text for text, _ in found], rng)
    np.save(os.path.join(folder, "x.npy"), x[seen].astype(np.float32))
    with open(os.path.join(folder, "y.txt"), "w", encoding="utf-8") as file:
        file.writelines(f"{label}\n" for (_, label), row in zip(found, seen) if row)


def faces():
    """Fonts that draw the letters apart from what stands for a missing one."""
    from PIL import ImageFont

    for path in sorted(glob.glob("/usr/share/fonts/**/*.[to]tf", recursive=True)):
        font = ImageFont.truetype(path, 24)
        absent = font.getmask("\uffff").getbbox(), bytes(font.getmask("\uffff"))
        if all((font.getmask(c).getbbox(), bytes(font.getmask(c))) != absent for c in "aZ9"):
            yield path


def draw(font, character, rng):
    from PIL import Image, ImageDraw

    image = Image.new("L", (64, 64))
    ImageDraw.Draw(image).text((32, 32), character, fill=255, font=font, anchor="mm")
    turn, lean, size = rng.uniform(-.15, .15), rng.uniform(-.2, .2), 64 / 32 * rng.uniform(.8, 1.1)
    turned = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]) @ [[1, lean], [0, 1]] * size
    shift = 32 - turned @ (16 + rng.uniform(-2, 2, 2))
    image = image.transform((32, 32), Image.AFFINE, (*turned[0], shift[0], *turned[1], shift[1]), Image.BILINEAR)
    return np.asarray(image).ravel()


def write_glyphs(rng, folder):
    try:
        from PIL import ImageFont
    except ImportError:
        lacking("letters are drawn by Pillow, which is not here (package python3-pil)")

    characters, paths = string.ascii_letters + string.digits, list(faces())
    most = MOST // len(characters)
    if len(paths) > most:
        paths = [paths[i] for i in np.sort(rng.permutation(len(paths))[:most])]
    fonts = [ImageFont.truetype(path, 40) for path in paths]
    times = min(4, most // max(1, len(fonts)))
    if len(fonts) * len(characters) * times < FEWEST:
        lacking(f"{len(fonts)} fonts in /usr/share/fonts are too few (packages fonts-dejavu, fonts-liberation)")
    records = [bytes([0, label]) + draw(font, character, rng).tobytes() * 3
               for font in fonts for label, character in enumerate(characters) for _ in range(times)]
    records = [records[i] for i in rng.permutation(len(records))]
    for name, part in (("train", records), ("test", records[:500])):
        with open(os.path.join(folder, name + ".bin"), "wb") as file:
            file.write(b"".join(part))


def main():
    kind, seed, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    rng = np.random.default_rng([seed, 42])
    os.makedirs(folder, exist_ok=True)
    if kind == "glyphs":
        write_glyphs(rng, folder)
        return
    found = {"packages": packages, "functions": functions, "manuals": manuals, "perl": perl, "headers": headers}[kind](rng)
    if len(found) < FEWEST:
        lacking(f"this system has {len(found)} texts of this kind; {FEWEST} are needed")
    write_texts(found, rng, folder)


if __name__ == "__main__":
    main()
