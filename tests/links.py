#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks what the documentation refers to: relative links and headings in every Markdown file, paths in
backticks that begin with a folder of the program, and every docs/... path in sources, scripts and job files.
Prints one line per reference that leads nowhere; the last line counts (`links: N checked, N broken`)."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("core", "datasets", "samplers", "metrics", "training", "retrieval", "results", "plots", "harness", "python", "tests",
           "docs")
TEXT = (".md", ".c", ".h", ".sh", ".py", ".yaml", ".yml", ".txt", ".gp")
LINK = re.compile(r"\]\(([^()\s]+)\)")
DOCS = re.compile(r"(?:\$root/|(?<![\w./-]))(docs/[\w./*-]*)")
PATH = re.compile(r"`((?:core|datasets|samplers|metrics|training|plots|harness|tests)/[\w./*-]+)`")


def files():
    """Text files of the tree, without what was built and without results."""
    for name in sorted(os.listdir(ROOT)):
        if name == "Makefile" or name.endswith(TEXT):
            yield name
    for folder in FOLDERS:
        for at, below, names in os.walk(os.path.join(ROOT, folder)):
            below.sort()
            if os.path.relpath(at, ROOT) == "results":
                below.clear()
            for name in sorted(names):
                if name.endswith(TEXT):
                    yield os.path.relpath(os.path.join(at, name), ROOT)


def anchors(path):
    """Fragments that the headings of a Markdown file can be reached by."""
    found, fenced = set(), False
    with open(path, encoding="utf-8") as f:
        for line in f:
            fenced ^= line.startswith("```")
            if not fenced and line.startswith("#"):
                text = re.sub(r"[^\w\s-]", "", line.lstrip("#").strip().lower())
                found.add(text.replace(" ", "-"))
    return found


def link_is_broken(name, target):
    if re.match(r"[a-z]+:", target):
        return False
    target, _, fragment = target.partition("#")
    path = os.path.join(ROOT, os.path.dirname(name), target) if target else os.path.join(ROOT, name)
    if not os.path.exists(path):
        return True
    return bool(fragment) and path.endswith(".md") and fragment not in anchors(path)


def path_is_broken(path):
    return not glob.glob(os.path.join(ROOT, path.rstrip(".")))


def references(name, line, fenced):
    """Pairs (reference, broken) of a line."""
    if name.endswith(".md"):
        if not fenced:
            yield from ((t, link_is_broken(name, t)) for t in LINK.findall(line))
        yield from ((p, path_is_broken(p)) for p in PATH.findall(line))
    yield from ((p, path_is_broken(p)) for p in DOCS.findall(LINK.sub("", line)))


def main():
    checked = broken = 0
    for name in files():
        if name == "tests/links.py":
            continue
        fenced = False
        with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as f:
            for number, line in enumerate(f, 1):
                fenced ^= line.startswith("```")
                for reference, wrong in references(name, line, fenced):
                    checked += 1
                    if wrong:
                        broken += 1
                        print(f"{name}:{number}: {reference} does not exist")
    print(f"links: {checked} checked, {broken} broken")
    return broken > 0


if __name__ == "__main__":
    sys.exit(main())
