#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The modules of the program: what each may include, and what it does include.

    tests/modules.py            checks the tree against tests/modules.txt; exit status 1 with findings
    tests/modules.py --print    the modules with files, lines and arrows
    tests/modules.py --elsewhere  functions that are not defined in the source of their header

Checked: an include is of the same module or of one that the table names; private headers stay within
their module; no circle of modules, and none of files within a module; a tag stands for one type;
sizes of folders and files; the libraries that few may use; a function that x.h declares is defined in x.c,
or in an x_*.c where x_private.h joins them, but for a few (--elsewhere lists them)."""
import os
import re
import subprocess
import sys

TABLE = "tests/modules.txt"
# Members of a registry: folders that grow with it.
FAMILIES = {"samplers", "plots/figures", "training/net", "training/tasks", "harness/cli"}
MOST_FILES = 30
MOST_LINES = 1200
MOST_ELSEWHERE = 0.07  # of the functions that headers declare
DECLARED = re.compile(r"^(?!static|typedef|#)[\w *]+?\b(hn_\w+)\s*\([^;{]*\)\s*;", re.M)
DEFINED = re.compile(r"^(?!static|typedef|#)[A-Za-z_][\w *]*?\b(hn_\w+)\s*\([^;{]*\)\s*\{", re.M)
# Headers of libraries, and the files that may include them; tests, too.
LIBRARIES = {
    "hdf5.h": r"datasets/hdf5_api\.h",
    "hdf5_hl.h": r"datasets/hdf5_api\.h",
    "cblas.h": r"core/sweep/blas\.c",
    "mpi.h": r"harness/host/ranks\.c",
}


def read_table():
    """Modules in order, and for each the set of modules it may include."""
    may, order = {}, []
    for line in open(TABLE, encoding="utf-8"):
        line = line.split("#")[0].strip()
        if line:
            name, _, rest = line.partition(":")
            order.append(name.strip())
            may[name.strip()] = rest.split()
    for name, wanted in may.items():
        full = set()
        for word in wanted:
            stem = word[:-2] if word.endswith("/*") else None
            full |= {m for m in order if m == word or (stem and (m == stem or m.startswith(stem + "/")))}
        may[name] = full - {name}
    return order, may


def sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.c", "*.h"], check=True,
                            capture_output=True, text=True).stdout.split()
    return sorted(f for f in listed if os.path.exists(f))


def read_source(path):
    """Its includes, the tags of the types it defines, and its lines."""
    text = open(path, encoding="utf-8").read()
    tags = re.findall(r"^(?:struct|union|enum) (hn_\w+) \{", text, re.M)
    return re.findall(r'^#include ([<"])([^>"]+)[>"]', text, re.M), tags, text.count("\n")


def circle(graph):
    """A circle of the graph as a list of its nodes, or None."""
    state, path = {}, []

    def visit(node):
        state[node] = 1
        path.append(node)
        for following in sorted(graph.get(node, ())):
            if state.get(following) == 1:
                return path[path.index(following):] + [following]
            if following not in state:
                found = visit(following)
                if found:
                    return found
        state[node] = 2
        path.pop()
        return None

    for node in sorted(graph):
        if node not in state:
            found = visit(node)
            if found:
                return found
    return None


def find_pairs(paths):
    """(function, header, source) of all that a header declares and a source defines."""
    declared, defined = {}, {}
    for path in paths:
        text = open(path, encoding="utf-8").read()
        if path.endswith(".h"):
            text = re.sub(r"//[^\n]*", "", text)
        for name in (DECLARED if path.endswith(".h") else DEFINED).findall(text):
            (declared if path.endswith(".h") else defined).setdefault(name, path)
    return [(name, header, defined[name]) for name, header in declared.items() if name in defined]


def is_pair(header, source, paths):
    stem = header[:-2].removesuffix("_private")
    return source == stem + ".c" or (source.startswith(stem + "_") and stem + "_private.h" in paths)


class House:
    def __init__(self):
        self.order, self.may = read_table()
        self.lines, self.uses, self.arrows, self.findings = {}, {}, {m: set() for m in self.order}, []
        self.tags = {}
        for path in sources():
            found, tags, self.lines[path] = read_source(path)
            for tag in tags:
                self.tags.setdefault(tag, []).append(path)
            self.uses[path] = [name for mark, name in found if mark == '"']
            self.libraries = [name for mark, name in found if mark == "<"]
            self.check_libraries(path)

    def module(self, path):
        folder = os.path.dirname(path)
        return folder if folder in self.may else None

    def check_libraries(self, path):
        for name in self.libraries:
            if name in LIBRARIES and not re.fullmatch(LIBRARIES[name], path):
                self.findings.append(f"{path}: may not include {name}")

    def check_include(self, path, header):
        own, other = self.module(path), self.module(header)
        if header not in self.lines:
            if os.path.exists(os.path.join(os.path.dirname(path), header)):
                self.findings.append(f"{path}: include {header} with its folder")
            return
        if path.startswith("tests/"):
            return
        if other is None:
            self.findings.append(f"{path}: includes {header}, which is of no module")
        elif other != own:
            self.arrows[own].add(other)
            if other not in self.may[own]:
                self.findings.append(f"{path}: may not include {header} ({TABLE})")
            if header.endswith("_private.h"):
                self.findings.append(f"{path}: includes {header}, which is private to {other}")

    def check(self):
        for path, headers in self.uses.items():
            if not path.startswith(("tests/", "library/example/")) and self.module(path) is None:
                self.findings.append(f"{path}: lies in no module of {TABLE}")
                continue
            for header in headers:
                self.check_include(path, header)
            if self.lines[path] > MOST_LINES:
                self.findings.append(f"{path}: {self.lines[path]} lines; {MOST_LINES} are the limit")
        for module in self.order:
            files = [f for f in self.lines if self.module(f) == module and f.endswith(".c")]
            if len(files) > MOST_FILES and module not in FAMILIES:
                self.findings.append(f"{module}: {len(files)} C files; {MOST_FILES} are the limit")
            self.check_files(module)
        for tag, files in sorted(self.tags.items()):
            if len(files) > 1:
                self.findings.append(f"tag {tag} stands for a type in each of {', '.join(files)}")
        self.check_pairs()
        found = circle(self.arrows)
        if found:
            self.findings.append("circle of modules: " + " -> ".join(found))

    def check_pairs(self):
        paths = {f for f in self.lines if self.module(f)}
        pairs = find_pairs(paths)
        self.elsewhere = [p for p in pairs if not is_pair(p[1], p[2], paths)]
        if len(self.elsewhere) > MOST_ELSEWHERE * len(pairs):
            self.findings.append(f"{len(self.elsewhere)} of {len(pairs)} functions are not defined in the source of "
                                 f"their header ({MOST_ELSEWHERE:.0%} may be): tests/modules.py --elsewhere")

    def check_files(self, module):
        """Circles among the files of a module, where a source and its headers count as one."""
        def unit(path):
            return path.rsplit(".", 1)[0].removesuffix("_private")

        graph = {}
        for path in self.lines:
            if self.module(path) == module:
                graph.setdefault(unit(path), set()).update(
                    unit(h) for h in self.uses[path] if self.module(h) == module and unit(h) != unit(path))
        found = circle(graph)
        if found:
            self.findings.append("circle of files: " + " -> ".join(found))

    def show(self):
        total = [0, 0, 0]
        print(f"{'module':<18} {'.c':>4} {'.h':>4} {'lines':>7}  includes")
        for module in self.order:
            files = [f for f in self.lines if self.module(f) == module]
            count = [sum(f.endswith(".c") for f in files), sum(f.endswith(".h") for f in files),
                     sum(self.lines[f] for f in files)]
            total = [a + b for a, b in zip(total, count)]
            arrows = " ".join(m for m in self.order if m in self.arrows[module])
            print(f"{module:<18} {count[0]:>4} {count[1]:>4} {count[2]:>7}  {arrows}")
        print(f"{'all':<18} {total[0]:>4} {total[1]:>4} {total[2]:>7}")


def main():
    house = House()
    house.check()
    if sys.argv[1:] == ["--print"]:
        house.show()
    if sys.argv[1:] == ["--elsewhere"]:
        for name, header, source in sorted(house.elsewhere, key=lambda p: p[1:]):
            print(f"{header}: {name} in {source}")
    for finding in house.findings:
        print(finding, file=sys.stderr)
    return 1 if house.findings else 0


sys.exit(main())
