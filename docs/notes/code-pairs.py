#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs for code search from the Python packages of a system: the first sentence of a function's docstring, and its code without it.
Or, of Debian's packages, the first line in one language, and the description in another.

    code-pairs.py FOLDER [ROOT...] [--most N] [--skip N]      (ROOT: /usr/lib/python3/dist-packages, where none is given)
    code-pairs.py FOLDER --packages Translation-en Translation-it AVAILABLE [--most N] [--skip N]      (AVAILABLE: of `apt-cache dumpavail`)

Writes queries.jsonl, corpus.jsonl, qrels/train.tsv (a function for each query), qrels/truth.tsv (every function with the same
sentence or the same code) and groups.txt (a package and the module below it for each query; of packages the source), as the task `pairs` reads
them. --most keeps that many functions, module by module in an order drawn by a fixed seed, after the --skip first: sets apart. Standard library only."""
import argparse
import ast
import json
import pathlib
import random
import re
import warnings

ROOT = "/usr/lib/python3/dist-packages"
WORDS = 4          # of a sentence at least
LINES = 3          # of a function at least, without its docstring
DESCRIBED = 12     # words of a description at least
warnings.simplefilter("ignore")


def functions(path):
    """(sentence, code) of the functions of a file."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError, ValueError, RecursionError, OSError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not (text := ast.get_docstring(node)):
            continue
        sentence = " ".join(re.split(r"\n\s*\n|(?<=[.!?])\s", text.strip())[0].split())
        node.body = node.body[1:] or [ast.Pass()]
        code = ast.unparse(node)
        if len(sentence.split()) >= WORDS and code.count("\n") + 1 >= LINES:
            yield sentence, code


def modules(roots):
    found = {}
    for root in map(pathlib.Path, roots):
        for path in sorted(root.rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            if "tests" not in parts and "test" not in parts:
                found.setdefault(".".join(parts[:2]), []).extend(functions(path))
    return {name: pairs for name, pairs in found.items() if pairs}


def stanzas(path):
    """(package, text) of a file of Debian's packages."""
    for text in path.read_text(encoding="utf-8").split("\n\n"):
        if name := re.search(r"^Package: (.*)$", text, re.M):
            yield name[1], text


def described(path):
    """{package: (first line, description)} of a file of Debian's descriptions in one language."""
    found = {}
    for name, text in stanzas(path):
        first, _, rest = re.split(r"\nDescription-[a-zA-Z_]+: ", text)[-1].partition("\n")
        found[name] = " ".join(first.split()), " ".join(line.strip() for line in rest.split("\n") if line.strip() != ".")
    return found


def packages(of_queries, of_documents, available):
    """{source: [(first line, description)]} of the packages that are described in both."""
    source = {name: found[1] if (found := re.search(r"^Source: (\S+)", text, re.M)) else name for name, text in stanzas(available)}
    queries, documents = described(of_queries), described(of_documents)
    found = {}
    for name in sorted(source.keys() & queries.keys() & documents.keys()):
        first, description = queries[name][0], documents[name][1]
        if len(first.split()) >= WORDS and len(description.split()) >= DESCRIBED:
            found.setdefault(source[name], []).append((first, description))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("roots", nargs="*", default=[ROOT])
    parser.add_argument("--packages", type=pathlib.Path, nargs=3)
    parser.add_argument("--most", type=int)
    parser.add_argument("--skip", type=int, default=0)
    o = parser.parse_args()
    found = packages(*o.packages) if o.packages else modules(o.roots)
    names = sorted(found)
    random.Random(1).shuffle(names)
    rows, seen = [], set()
    for name in names:
        for sentence, code in found[name]:
            if (sentence, code) not in seen:
                seen.add((sentence, code))
                rows.append((name, sentence, code))
    rows = rows[o.skip:o.skip + o.most] if o.most else rows[o.skip:]
    (o.folder / "qrels").mkdir(parents=True, exist_ok=True)
    by_sentence, by_code = {}, {}
    for i, (_, sentence, code) in enumerate(rows):
        by_sentence.setdefault(sentence.lower(), []).append(i)
        by_code.setdefault(code, []).append(i)
    with (open(o.folder / "queries.jsonl", "w", encoding="utf-8") as queries, open(o.folder / "corpus.jsonl", "w", encoding="utf-8") as corpus,
          open(o.folder / "groups.txt", "w", encoding="utf-8") as groups, open(o.folder / "qrels/train.tsv", "w", encoding="utf-8") as train,
          open(o.folder / "qrels/truth.tsv", "w", encoding="utf-8") as truth):
        for file in (train, truth):
            file.write("query-id\tcorpus-id\tscore\n")
        for i, (name, sentence, code) in enumerate(rows):
            queries.write(json.dumps({"_id": f"q{i}", "text": sentence}) + "\n")
            corpus.write(json.dumps({"_id": f"d{i}", "title": "", "text": code}) + "\n")
            groups.write(name + "\n")
            train.write(f"q{i}\td{i}\t1\n")
            truth.writelines(f"q{i}\td{k}\t1\n" for k in sorted({*by_sentence[sentence.lower()], *by_code[code]}))
    print(f"{len(rows)} pairs of {len({name for name, _, _ in rows})} groups, {len(by_sentence)} queries that differ, {len(by_code)} documents")


main()
