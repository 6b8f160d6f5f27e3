#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes the examples out of the guides (docs/**/adding-*.md): `guides.py FOLDER`. Writes the file that each
guide shows and the registry with the line that it names below FOLDER, in their places of the source tree, and
prints for each "ENTRY FILE...": the name of the entry and the C files that have to be compiled for it."""
import pathlib
import re
import sys

EXAMPLE = re.compile(r"^`(\w+\.c)` in `([\w/]+/)`.*?^```c\n(.*?)^```$", re.M | re.S)
LINE = re.compile(r"[Ii]n `([\w/]+\.[ch])` (?:goes )?the line `(X\(\w+\))`\s+in\s+`(\w+)`")
NAME = re.compile(r'^    \.(?:name|id) = "([\w-]+)"', re.M)


def with_line(text, line, name, where):
    """The registry with one more line in its list `name`."""
    begin = re.search(rf"^#define {name}\(X\) *\\\n", text, re.M)
    if not begin:
        sys.exit(f"{where}: there is no list {name}")
    return text[: begin.end()] + f"    {line} \\\n" + text[begin.end():]


def users(header, name):
    """The C files that read a list of a header, a longer list there which holds it, or the enumerators of either."""
    if header.endswith(".c"):
        return [header]
    text = pathlib.Path(header).read_text()
    longer = re.findall(rf"^#define (\w+)\(X\) *\\\n(?:.*\\\n)* +{name}\(X\)", text, re.M)
    numbered = re.findall(r"^#define X\(name\) (\w+_)##name,", text, re.M)  # enumerators, in the order of the list
    read = re.compile(rf"\b({'|'.join([name, *longer])})\(" + "".join(rf"|\b{prefix}\w" for prefix in numbered))
    rooms = {line.split(":")[0] for line in pathlib.Path("tests/modules.txt").read_text().splitlines() if line[0] != "#"}
    files = sorted(file for room in rooms for file in pathlib.Path(room).glob("*.c"))
    found = [str(file) for file in files if read.search(file.read_text())]
    return found or sys.exit(f"{header}: no file reads {name}")


def main():
    out = pathlib.Path(sys.argv[1])
    guides = sorted(pathlib.Path("docs").rglob("adding-*.md"))
    for guide in guides:
        text = guide.read_text()
        example, line = EXAMPLE.search(text), LINE.search(text)
        if not example or not line:
            sys.exit(f"{guide}: no example, or no line of a registry")
        path, (registry, entry, name) = example[2] + example[1], line.groups()
        known = out / registry
        source = known if known.exists() else pathlib.Path(registry)
        changed = with_line(source.read_text(), entry, name, registry)
        for file, content in ((path, example[3]), (registry, changed)):
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            (out / file).write_text(content)
        print(NAME.search(example[3])[1], path, *users(registry, name))


main()
