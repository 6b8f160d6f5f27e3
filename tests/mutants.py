#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes one operator, constant or line of a source at a time, and says which changes no test sees.

    tests/mutants.py samplers/knn.c retrieval [--sample 50] [--seed 1] [--seconds 4]
        [--suites tests/samplers/test_knn.c ...]

A name is a source or a folder of them. Each change is compiled by itself and linked before the library, so that
neither the tree nor build/ changes. Suites are those of the mirrored folder (of a sampler those of all samplers and
those that name it), of the source's name first, then the quick ones; --seconds leaves out those of another name that
take longer. A change is caught once one of them fails, dies or takes ten times as long. What the compiler refuses, or
makes the same code of, does not count. Prints the changes that survive, then shares. Build first: make everything."""
import argparse
import glob
import os
import random
import re
import subprocess
import sys
import tempfile

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "/": "*",
         "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "|=": "&=", "|": "&"}
# Operators with blanks around them (clang-format puts them there, and none around unary ones), and numbers.
TOKEN = re.compile(r"(?<= )(<=?|>=?|[=!]=|&&|\|\|?|[-+*/]|[-+|]=)(?= )|(?<![\w.\"'])(\d+\.?\d*(?:e-?\d+)?)(?![\w.\"'])")
STATEMENT = re.compile(r"^\s+(?!return|break|continue|case|default|goto|(?:const |static |struct |enum |unsigned )?\w+ \**\w+( =|;|\[|,))"
                       r"[\w(*+-].*;$")


def blank(text):
    """The text with comments and strings blanked out, of the same length."""
    hide = lambda m: re.sub(r"[^\n]", " ", m.group())
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'", hide, text, flags=re.S)


def changed(token):
    if token in SWAPS:
        return SWAPS[token]
    return str(int(token) + 1) if token.isdigit() else f"({token} * 1.5 + 1)"


def mutants(path):
    """(line number, what, mutated text) for every change."""
    text = open(path, encoding="utf-8").read()
    code, lines = blank(text).split("\n"), text.split("\n")
    for i, line in enumerate(code):
        if line.lstrip().startswith("#") or "_OPTION(" in line:
            continue
        found = [(m.start(), m.end(), changed(m.group())) for m in TOKEN.finditer(line)]
        if STATEMENT.match(line) and line.count("(") == line.count(")") and code[i - 1].rstrip()[-1:] in "{};":
            found.append((len(line) - len(line.lstrip()), len(line), ";"))
        for start, end, new in found:
            own = lines[i][:start] + new + lines[i][end:]
            what = f"{lines[i][start:end]}  ->  {new if new != ';' else 'nothing'}"
            yield i + 1, what, "\n".join(lines[:i] + [own] + lines[i + 1:])


def command(target, since):
    """The command that makes a target of the Makefile when `since` is newer."""
    out = subprocess.run(["make", "-n", "Q=", "-W", since, target], capture_output=True, text=True, check=True).stdout
    lines = [line for line in out.replace("\\\n", " ").split("\n") if f"-o {target} " in line]
    if not lines:
        sys.exit(f"mutants: make does not say how {target} is made; run make everything first")
    return lines[-1]


def suites_of(path, named):
    folder = os.path.dirname(path)
    found = named or glob.glob(f"tests/{folder}/test_*.c")
    if folder == "samplers" and not named:  # others are of single samplers
        every = {"samplers", "every_decision", "sampler_misuse", "parts", "draw"}
        stem = os.path.splitext(os.path.basename(path))[0]
        own = stem.split("_")[0]
        asks = re.compile(f'"({own}|{stem.replace("_", "-")})["( ]')
        found = [f for f in found if f[:-2].split("test_")[1] in every or own in f
                 or asks.search(open(f, encoding="utf-8").read())]
    return sorted(found)


def quick_first(path, sources, suites, seconds):
    """Suites that have the source's name, then the others, each from the shortest to the longest."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return sorted((s for s in sources if stem in s or suites[s].seconds <= seconds),
                  key=lambda s: (stem not in s, suites[s].seconds))


class Suite:
    def __init__(self, source, work):
        self.name = source[6:-2]
        target = f"build/tests/{self.name}"
        self.program = os.path.join(work, "suite")
        line = command(target, f"build/obj/tests/{self.name}.o").replace(f"-o {target} ", f"-o {self.program} ")
        self.link = line.replace("build/libhardneg.a", f"{work}/mutant.o build/libhardneg.a", 1)
        begin = os.times().children_user
        if subprocess.run([target], capture_output=True).returncode != 0:
            sys.exit(f"mutants: {target} fails without any change")
        self.seconds = os.times().children_user - begin

    def catches(self):
        if subprocess.run(self.link, shell=True, capture_output=True).returncode != 0:
            return True
        try:
            return subprocess.run([self.program], capture_output=True, timeout=10 * self.seconds + 60).returncode != 0
        except subprocess.TimeoutExpired:
            return True


def code_of(line, source, path, work):
    """Compiles `source` in place of `path`; the object's code, None if the compiler refuses."""
    mutant = os.path.join(work, "mutant.c")
    with open(mutant, "w", encoding="utf-8") as f:
        f.write(f'#line 1 "{path}"\n{source}')
    target = f"build/obj/{path[:-2]}.o"
    own = line.replace(f"-o {target} ", f"-o {work}/mutant.o ").replace("-MMD -MP", "").replace(f" {path}", f" {mutant}")
    if subprocess.run(own, shell=True, capture_output=True).returncode != 0:
        return None
    return subprocess.run(["objdump", "-d", "-s", "-j", ".text", "-j", ".rodata", f"{work}/mutant.o"],
                          capture_output=True).stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="+")
    parser.add_argument("--sample", type=int, default=50, help="changes in all (default 50)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suites", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of a processor, at most, of a suite")
    a = parser.parse_args()
    paths = [p for n in a.name for p in (sorted(glob.glob(n.rstrip("/") + "/*.c")) if os.path.isdir(n) else [n])]
    found = [(p, *m) for p in paths for m in mutants(p)]
    random.Random(a.seed).shuffle(found)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait take no time from others
    lines, plain, suites, counted, survivors = {}, {}, {}, 0, 0
    with tempfile.TemporaryDirectory() as work:
        for path, number, what, text in found:
            if counted == a.sample:
                break
            if path not in lines:
                lines[path] = command(f"build/obj/{path[:-2]}.o", path)
                plain[path] = code_of(lines[path], open(path, encoding="utf-8").read(), path, work)
            if code_of(lines[path], text, path, work) in (None, plain[path]):
                continue
            counted += 1
            wanted = suites_of(path, a.suites)
            for source in wanted:
                if source not in suites:
                    suites[source] = Suite(source, work)
            if not any(suites[source].catches() for source in quick_first(path, wanted, suites, a.seconds)):
                survivors += 1
                print(f"{path}:{number}: {what}", flush=True)
    print(f"{counted} changes of {len(found)}: {counted - survivors} caught, {survivors} survive")


if __name__ == "__main__":
    main()
