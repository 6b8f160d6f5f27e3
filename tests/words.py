#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Phrases and names that are not to come back: tests/words.txt says which, where, and the better word. Prints a line for each
that a tracked file holds, and for each long line that stands twice in a page; the last line counts (`words: N rules, M found`). `words.py FILE...` looks at these files only."""
import re
import subprocess
import sys

SCOPES = {"docs": (".md",), "code": (".c", ".h"), "comment": (".c", ".h"), "text": (".c", ".h")}
TOKEN = re.compile(r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\\n])*")|\'(?:\\.|[^\'\\\n])*\'', re.S)
LONG = 60
SKIPPED = re.compile(r"^(CHANGELOG\.md|tests/)")


def rules():
    """(scopes, folders, expression, better word) of every line of tests/words.txt."""
    with open("tests/words.txt", encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if not line.strip() or line.startswith("#"):
                continue
            fields = line.rstrip("\n").split("\t")
            scopes, *folders = fields[0].split()
            if len(fields) != 3 or not set(scopes.split(",")) <= set(SCOPES):
                sys.exit(f"tests/words.txt:{number}: want scopes, an expression and a better word, with tabs between them")
            yield set(scopes.split(",")), tuple(folders), re.compile(fields[1]), fields[2]


def blanked(text, keep):
    """The text with everything but comments ("comment"), strings ("text") or the rest ("code") blanked, line by line."""
    out, at = [], 0
    for m in TOKEN.finditer(text):
        out += [text[at:m.start()] if keep == "code" else re.sub(r"[^\n]", " ", text[at:m.start()])]
        out += [m.group() if m.lastgroup == keep else re.sub(r"[^\n]", " ", m.group())]
        at = m.end()
    out += [text[at:] if keep == "code" else ""]
    return "".join(out)


def repeated(text):
    """(line, where it stands already) of the long lines of a page that stand twice, as a paragraph that was merged twice does."""
    fenced, seen = False, {}
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.startswith("```")
        if len(line) < LONG or fenced:
            continue
        if line in seen:
            yield number, seen[line]
        else:
            seen[line] = number


def main():
    found, every = 0, list(rules())
    for name in sys.argv[1:] or subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n"):
        wanted = {scope for scope, ends in SCOPES.items() if name.endswith(ends)}
        if not wanted or SKIPPED.match(name):
            continue
        with open(name, encoding="utf-8") as f:
            text = f.read()
        for number, first in repeated(text) if "docs" in wanted else ():
            print(f"{name}:{number}: the line stands at {first} already")
            found += 1
        views = {scope: text if scope == "docs" else blanked(text, scope) for scope in wanted}
        for scopes, folders, expression, better in every:
            for scope in sorted(scopes & wanted) if not folders or name.startswith(folders) else ():
                for m in expression.finditer(views[scope]):
                    print(f"{name}:{text.count(chr(10), 0, m.start()) + 1}: \"{m.group()}\": write {better}")
                    found += 1
    print(f"words: {len(every)} rules, {found} found")
    sys.exit(found > 0)


main()
