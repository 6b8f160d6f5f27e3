#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls that fail once: tests/inject.py PROGRAM [--most N] [--kills N] [--only COMMAND] [--seed S].

Every command that leaves files, or reads them, is run again and again, and one call fails each time: a call of the system
(write, pwrite64, ftruncate, fsync, rename; openat, read, pread64 and lseek of the files that it reads; by strace), the first
call or a later one from a place in the program that calls HDF5, or an allocation of the program (by a library that is loaded
before it). With --most N of each command and kind at most N, drawn. With --kills N the commands with several outputs or parts
are killed N times instead, at a random one of those calls; one file may be new and the other old only where that was between
two calls of rename. gnuplot is left alone: it does not tell of what it could not write, and is given memory to write to.

The program ends as its exit codes say, with a sentence that names a file, or memory; with 0 only if all is as it would have
been. Every output is what was there before, or whole; after a kill, too. No temporary file is left but by a kill, and not after
the next start. Without memory a cell may fail, and the others are there."""
import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

SYSTEM = ("write", "pwrite64", "ftruncate", "fsync", "rename")
READING = ("openat", "read", "pread64", "lseek")
# strace follows the processes that the program makes of itself, and no other program.
STRACE = ["strace", "-f", "-b", "execve", "-qq"]
RIGHT = {"system": {2, 3, 70, 74}, "reading": {2, 3, 4, 70, 74}, "hdf5": {2, 3, 4, 70, 74}, "later": {2, 3, 4, 70, 74}, "memory": {4, 70}}
JOB = """version: 1
snapshots: s.h5
samplers: [uniform, knn]
batch_size: 16
batches: 4
steps: [0]
metrics: [fn_ratio, histogram]
figures: none
"""


class Command:
    """Words with @ for the folder that it writes in; outputs there, and what stands there before."""

    def __init__(self, words, outputs=(), before=None):
        self.words, self.outputs, self.before = words.split(), outputs, dict(zip(outputs, before or [None] * len(outputs)))


COMMANDS = {
    "run": Command("run -c job.yaml -o @ --threads 1 -q", ["results.h5"]),
    "run-other": Command("run -c job.yaml -o @ --threads 1 -q", ["results.h5"], ["other.h5"]), # is refused
    "merge": Command("merge part1 part2 -o @/m.h5 -q", ["m.h5"], ["other.h5"]),
    "report": Command("report page -o @/page.html -q", ["page.html"], ["job.yaml"]),
    "plot": Command("plot page --term pdf -o @ -q", ["bs-fig4.pdf", "bs-fig4.gp", "bs-fig4.tsv"], ["job.yaml", "none.md", "job.yaml"]),
    "export": Command("export page --csv -o @/rows.csv", ["rows.csv"], ["job.yaml"]),
    "import": Command("import -e x.npy -l y.npy --view2 x.npy -o @/s.h5 -q", ["s.h5"]),
    "import-hdf5": Command("import -e plain.h5 -l plain.h5 -o @/s.h5 -q", ["s.h5"]),
    "append": Command("import -e x.npy --step 7 -o @/s.h5 -q", ["s.h5"], ["one.h5"]),
    "synth": Command("synth -o @/s.h5 --n 100 --dim 4 --classes 3 --steps 2 --seed 1 -q", ["s.h5"]),
    "sample": Command("sample s.h5 --sampler gcbs -b 16 --seed 3 -o @/b.npy -q", ["b.npy"], ["x.npy"]),
    "mine": Command("mine r.h5 -n 2 -o @/m.npy --scores @/s.npy -q", ["m.npy", "s.npy"], ["x.npy", "y.npy"]),
    "mine-parts": Command("mine r.h5 -n 2 --rows 1/1 -o @/m.jsonl -q", ["m.jsonl"], ["job.yaml"]),
    "price": Command("price r.h5 -o @/p.h5 -q", ["p.h5"], ["other.h5"]),
    "price-sheet": Command("price r.h5 --sheet 10 -o @/judge.tsv -q", ["judge.tsv"], ["job.yaml"]),
    "evaluate": Command("evaluate r.h5 --per-query @/q.tsv -q", ["q.tsv"], ["job.yaml"]),
    "compare": Command("compare page page --junit @/j.xml --markdown @/m.md -q", ["j.xml", "m.md"], ["job.yaml", "none.md"]),
    "train": Command("train -c train.yaml -o @ --workers 1 --threads 1 -q", ["results.h5"], ["other.h5"]),
    "info": Command("info s.h5"), "validate": Command("validate s.h5"), "history": Command("compare page page"),
}


# What a command reads where its words name a folder, or a file that names others.
INPUTS = {"job.yaml": ["job.yaml", "s.h5"], "train.yaml": ["train.yaml", "graph/graph.features", "graph/graph.edges", "graph/graph.split"],
          "page": ["page/results.h5", "page/job.yaml"], "part1": ["part1/results.h5"], "part2": ["part2/results.h5"],
          "@/s.h5": ["out/s.h5"], "@": ["out/results.h5"]}
NAMED = r"[\w/]+\.(h5|npy|jsonl|tsv|csv|html|yaml|xml|md|features|edges|split|gp|svg|pdf)\b|\b(out|page|part[12])(/|:|\b)|memory|standard output"


class Place:
    """The folder with what the commands work on, and the program in it."""

    def __init__(self, program, folder):
        self.program, self.folder, self.shim = program, folder, None
        os.chdir(folder)
        self.environment = {**os.environ, "OMP_WAIT_POLICY": "passive", "TMPDIR": folder}
        with open("job.yaml", "w") as f:
            f.write(JOB)
        with open("none.md", "w") as f:
            f.write("before\n")
        graph()
        for words in ("synth -o s.h5 --n 120 --dim 8 --classes 4 --steps 2 --views 2", "synth --kind retrieval -o r.h5 --n 60 --queries 12 --dim 4",
                      "run -c job.yaml -o page", "run -c job.yaml -o part1 --shard 1/2", "run -c job.yaml -o part2 --shard 2/2",
                      "run -c job.yaml -o earlier --set seeds=[3]", "sample s.h5 --sampler uniform -b 8 --epochs 1 -o x.npy"):
            self.must(words + " -q")
        shutil.copy("earlier/results.h5", "other.h5")
        import numpy as np
        np.save("x.npy", np.sin(np.arange(800.)).reshape(200, 4))
        np.save("y.npy", np.arange(200) % 4)
        plain()
        self.must("import -e x.npy -l y.npy -o one.h5 -q")

    def must(self, words):
        subprocess.run([self.program, *words.split()], check=True, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def start(self, command, out, before=(), environment=()):
        """Makes the folder `out` as it is before the command, and runs it in words of `before`."""
        shutil.rmtree(out, ignore_errors=True)
        os.mkdir(out)
        for name, source in command.before.items():
            if source:
                shutil.copy(source, f"{out}/{name}")
        return self.again(command, out, before, environment)

    def again(self, command, out, before=(), environment=()):
        return subprocess.run([*before, self.program, *[w.replace("@", out) for w in command.words]], env={**self.environment, **dict(environment)},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)

    def content(self, path):
        """What a file says, whatever clocks said while it was made; None: it is not there, or not whole."""
        if not os.path.exists(path):
            return None
        if not path.endswith(".h5"):
            with open(path, "rb") as f:
                return re.sub(rb'[0-9]+(\.[0-9]+)? (ms|s|us|KiB|MiB)\b|time="[^"]*"|timestamp="[^"]*"', b"", f.read())
        for words in (["export", path, "--csv"], ["info", path]):
            done = subprocess.run([self.program, *words], env=self.environment, capture_output=True, text=True)
            if done.returncode == 0:
                return kept_columns(done.stdout) if words[0] == "export" else re.findall("sha256 .*", done.stdout)
        return None


def graph():
    """A citation graph that `train` takes a moment for."""
    os.mkdir("graph")
    rng = random.Random(1)
    with open("graph/graph.features", "w") as f:
        f.write("# features=9\n" + "".join(f"{i} {i % 3} {i % 9}\n" for i in range(45)))
    with open("graph/graph.edges", "w") as f:
        f.write("".join(f"{i} {j}\n" for i in range(45) for j in range(i) if rng.random() < .1))
    with open("graph/graph.split", "w") as f:
        f.write("".join(f"{i} {('train', 'val', 'test')[i % 3]}\n" for i in range(45)))
    with open("train.yaml", "w") as f:
        f.write("version: 1\ntask: {node: {data: graph, hidden: 4, out: 4}}\nsamplers: [uniform]\nloss: other-view\nbatch_size: 15\nsteps: 4\nevaluate: 2\n")


def plain():
    """A file of HDF5 that is no snapshot."""
    try:
        import h5py
        import numpy as np
    except ImportError:
        del COMMANDS["import-hdf5"]
        return
    with h5py.File("plain.h5", "w") as f:
        f["rows"], f["labels"] = np.cos(np.arange(320.)).reshape(80, 4).astype("f4"), [b"ab"[i % 2:i % 2 + 1] for i in range(80)]
        f.attrs["distance"] = "angular"


def kept_columns(csv):
    """The columns of a CSV file that no clock decides."""
    rows = [line.split(",") for line in csv.splitlines()]
    kept = [i for i, name in enumerate(rows[0]) if not re.search("cost|rss|share_|gflops|seconds|_ns|instructions|time", name)]
    return [[row[i] for i in kept if i < len(row)] for row in rows]


def shim(program):
    """A library whose functions are those of HDF5 that the program calls; one fails once, at the place number
    $INJECT_AT, at call number $INJECT_CALL from there; or allocation number $INJECT_LACK of the program does."""
    names = sorted(set(re.findall(r" U (H5[A-Za-z0-9_]+)", subprocess.run(["nm", "-D", program], check=True, capture_output=True, text=True).stdout)))
    names = [n for n in names if not n.endswith("_g") and n not in ("H5open", "H5Eset_auto2", "H5Tget_size")]
    source = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>
void *inject_real[%d];
static const char *const names[] = {%s};
static void *site[4096];
static long calls[4096], wanted = -1, which = 1, lacking = -1, allocations;
static int sites, file = -1;
static char *program;
static void *(*allocate)(size_t, size_t);
static void *base(void *code) {
    Dl_info about;
    return dladdr(code, &about) ? about.dli_fbase : 0;
}
__attribute__((constructor)) static void begin(void) {
    for (int i = 0; i < %d; i++) inject_real[i] = dlsym(RTLD_NEXT, names[i]);
    allocate = dlsym(RTLD_NEXT, "aligned_alloc");
    const char *at = getenv("INJECT_AT"), *log = getenv("INJECT_LOG"), *call = getenv("INJECT_CALL"), *lack = getenv("INJECT_LACK");
    wanted = at ? atol(at) : -1;
    which = call ? atol(call) : 1;
    lacking = lack ? atol(lack) : -1;
    file = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    program = base((void *)getauxval(AT_ENTRY));
    unsetenv("LD_PRELOAD");
}
__attribute__((destructor)) static void end(void) {
    if (file >= 0) dprintf(file, "%%d allocations %%ld\\n", getpid(), allocations);
}
int inject_fails(void *from, int name) {
    int k = 0;
    while (k < sites && site[k] != from) k++;
    if (k == 4096) return 0;
    if (k == sites) site[sites++] = from;
    calls[k]++;
    if (file >= 0 && wanted < 0) dprintf(file, "%%d %%s %%d\\n", getpid(), names[name], k);
    return k == wanted && calls[k] == which;
}
void *aligned_alloc(size_t alignment, size_t size) {
    return base(__builtin_return_address(0)) == program && __sync_add_and_fetch(&allocations, 1) == lacking ? 0 : allocate(alignment, size);
}
""" % (len(names), ", ".join(f'"{n}"' for n in names), len(names))
    for i, n in enumerate(names):
        source += f'''asm(".text\\n.globl {n}\\n.type {n},@function\\n{n}:\\npush %rdi\\npush %rsi\\npush %rdx\\npush %rcx\\npush %r8\\npush %r9\\n"
    "mov 48(%rsp),%rdi\\nmov ${i},%esi\\nsub $8,%rsp\\ncall inject_fails@PLT\\nadd $8,%rsp\\npop %r9\\npop %r8\\npop %rcx\\npop %rdx\\npop %rsi\\npop %rdi\\n"
    "test %eax,%eax\\njnz 1f\\nmov inject_real@GOTPCREL(%rip),%r11\\njmp *{8 * i}(%r11)\\n1: mov $-1,%rax\\nret\\n");
'''
    with open("shim.c", "w") as f:
        f.write(source)
    subprocess.run(["gcc", "-O1", "-w", "-shared", "-fPIC", "-o", "shim.so", "shim.c", "-ldl"], check=True)
    return os.path.abspath("shim.so")


class Injector:
    def __init__(self, place, most, rng):
        self.place, self.most, self.rng = place, most, rng
        self.tally, self.failed, self.told = collections.Counter(), 0, 0
        self.said = 0, 0

    def chosen(self, n):
        return range(n) if not self.most or n <= self.most else sorted(self.rng.sample(range(n), self.most))

    def judge(self, name, kind, what, done, want):
        """Counts how a disturbed command ended; want: its outputs and its standard output where nothing fails."""
        command, text = COMMANDS[name], done.stderr
        wrong = []
        now = {o: self.place.content(f"out/{o}") for o in command.outputs}
        partly = done.returncode == 4 and name in ("run", "train") # cells that failed are among the results
        old = {o: self.place.content(b) if b else None for o, b in command.before.items()}
        whole = now == want["outputs"]
        if done.returncode == 0 and not whole:
            wrong.append(f"exit code 0, but not whole: {[o for o in now if now[o] != want['outputs'][o]]}")
        elif done.returncode == 0 and not command.outputs and done.stdout != want["stdout"]:
            wrong.append("exit code 0, but another output")
        elif done.returncode != want["code"] and done.returncode not in RIGHT[kind]:
            wrong.append(f"exit code {done.returncode}")
        if done.returncode not in (0, want["code"]) and not re.search(r"^hardneg[ :].{8,}", text, re.M):
            wrong.append("no sentence")
        elif done.returncode not in (0, 70, want["code"]) and not re.search(NAMED, text):
            wrong.append("a sentence that names no file")
        if re.search(r"HDF5-DIAG|\(null\)|Sanitizer", text):
            wrong.append("a message not meant for people")
        if partly and None in now.values():
            wrong.append("results that cannot be read")
        if not whole and not partly and now != old and what != "rename":
            wrong.append(f"neither the old files nor the new ones: {[o for o in now if now[o] != old[o]]}")
        if what == "rename" and any(now[o] not in (old[o], want["outputs"][o]) for o in now):
            wrong.append("a file is neither the old one nor the new one")
        left = [f for _, _, files in os.walk("out") for f in files if ".tmp-" in f]
        if left:
            wrong.append(f"left {left[0]}")
        self.tally[kind, done.returncode] += 1
        self.told += not wrong
        if wrong:
            self.failed += 1
            print(f"  FAILED {name}, {what}: {'; '.join(wrong)}; {text.strip()[-160:]}", flush=True)

    def say(self, name):
        """How many starts of one command ended right, of how many, where there were any."""
        told, failed = self.told - self.said[0], self.failed - self.said[1]
        self.said = self.told, self.failed
        if told + failed:
            print(f"    {name}: {told} of {told + failed} ended right", flush=True)

    def undisturbed(self, name):
        done = self.place.start(COMMANDS[name], "out")
        return {"code": done.returncode, "stdout": done.stdout, "outputs": {o: self.place.content(f"out/{o}") for o in COMMANDS[name].outputs}}

    def system_calls(self, name, calls=SYSTEM, paths=()):
        """Calls of each kind in an undisturbed start."""
        self.place.start(COMMANDS[name], "out", [*STRACE, "-o", "calls", "-e", "trace=" + ",".join(calls), *paths])
        with open("calls") as f:
            return collections.Counter(re.findall(r"^\d+ +(\w+)\(", f.read(), re.M))

    def fail_calls(self, name, want, kind, calls, paths=()):
        for call, n in self.system_calls(name, calls, paths).items():
            for k in self.chosen(n):
                inject = f"inject={call}:error={'ENOSPC' if 'write' in call else 'EIO'}:when={k + 1}"
                done = self.place.start(COMMANDS[name], "out", [*STRACE, "-o", "/dev/null", "-e", f"trace={call}", "-e", inject, *paths])
                self.judge(name, kind, call, done, want)

    def fail_system(self, name, want):
        self.fail_calls(name, want, "system", SYSTEM)
        inputs = [f for word in COMMANDS[name].words for f in INPUTS.get(word, [word] if os.path.isfile(word) else [])]
        self.fail_calls(name, want, "reading", READING, [word for f in inputs for word in ("-P", os.path.abspath(f))])

    def fail_hdf5(self, name, want):
        shimmed = lambda **more: self.place.start(COMMANDS[name], "out", (), {"LD_PRELOAD": self.place.shim, "INJECT_LOG": "sites", **more})
        if os.path.exists("sites"):
            os.remove("sites")
        shimmed()
        sites, allocations = self.sites()
        for k in self.chosen(len(sites)):
            self.judge(name, "hdf5", f"{sites[k][0]} at place {k}", shimmed(INJECT_AT=str(k)), want)
        often = [k for k in range(len(sites)) if sites[k][1] > 1]
        for k in (often[i] for i in self.chosen(len(often))):
            call = self.rng.randint(2, sites[k][1])
            self.judge(name, "later", f"call {call} of {sites[k][0]} at place {k}", shimmed(INJECT_AT=str(k), INJECT_CALL=str(call)), want)
        for k in self.chosen(allocations):
            self.judge(name, "memory", f"allocation {k + 1}", shimmed(INJECT_LACK=str(k + 1)), want)

    @staticmethod
    def sites():
        """Functions of HDF5 and numbers of calls by place, and the number of allocations, of the process that came to most places:
        children begin with those of their parent."""
        with open("sites") as f:
            lines = [line.split() for line in f]
        processes, allocations = collections.defaultdict(dict), collections.Counter()
        for process, name, number in lines:
            if name == "allocations":
                allocations[process] = int(number)
            else:
                site = processes[process].setdefault(int(number), [name, 0])
                site[1] += 1
        sites = max(processes.values(), key=len, default={})
        return [sites[k] for k in range(len(sites))], max(allocations.values(), default=0)

    def kill(self, name, want, kills):
        """Kills a command with several outputs, and starts it again."""
        command, calls = COMMANDS[name], self.system_calls(name)
        for _ in range(kills):
            call = self.rng.choices(list(calls), calls.values())[0]
            done = self.place.start(command, "out", [*STRACE, "-o", "/dev/null", "-e", f"trace={call}", "-e",
                                                     f"inject={call}:signal=KILL:when={self.rng.randint(1, calls[call])}"])
            now = {o: self.place.content(f"out/{o}") for o in command.outputs}
            old = {o: self.place.content(b) if b else None for o, b in command.before.items()}
            good = done.returncode in (-9, 137, want["code"]) and all(now[o] in (old[o], want["outputs"][o]) for o in now)
            mixed = good and now not in (old, want["outputs"])
            good = good and (not mixed or call == "rename") # between two of them there is no other call
            after = self.place.again(command, "out")
            again = {o: self.place.content(f"out/{o}") for o in command.outputs}
            left = [f for _, _, files in os.walk("out") for f in files if ".tmp-" in f]
            ends = after.returncode == want["code"] and (again == want["outputs"] or name in ("compare", "import", "synth", "append"))
            self.tally["kills", "mixed" if mixed else "whole" if now == want["outputs"] else "old"] += 1
            if good and not left and (ends or after.returncode == 2):
                self.told += 1
            else:
                self.failed += 1
                print(f"  FAILED {name}, killed at {call}: {done.returncode}, good {good}, then {after.returncode} {after.stderr[-120:]}, left {left}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    if not shutil.which("strace") or not shutil.which("gcc"):
        print("    skipped: no strace or no gcc\ninject: 0 passed, 0 failed, 1 skipped")
        return
    with tempfile.TemporaryDirectory(prefix="hardneg-inject-") as folder:
        program = os.path.realpath(a.program)
        place = Place(program, folder)
        place.shim = shim(program)
        injector = Injector(place, a.most, random.Random(a.seed))
        for name in [a.only] if a.only else COMMANDS:
            want = injector.undisturbed(name)
            if a.kills:
                if len(COMMANDS[name].outputs) > 1 or name == "mine-parts":
                    injector.kill(name, want, a.kills)
            else:
                injector.fail_system(name, want)
                injector.fail_hdf5(name, want)
            injector.say(name)
        os.chdir("/")
    print("    how they ended: " + ", ".join(f"{kind} {code}: {n}" for (kind, code), n in sorted(injector.tally.items(), key=str)))
    print(f"inject: {injector.told} passed, {injector.failed} failed, 0 skipped")
    sys.exit(injector.failed > 0)


if __name__ == "__main__":
    main()
