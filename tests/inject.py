#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls that fail once: tests/inject.py PROGRAM [--most N] [--kinds K,K] [--kills N] [--only COMMAND,COMMAND]
[--seed S].

Every command that leaves files, or reads them, is run again and again, and one call fails each time: a call of the system
("system": write, pwrite64, ftruncate, fsync, rename; "reading": openat, read, pread64 and lseek of the files that it reads; by
strace), the first call ("hdf5", "libc": of libc and other libraries) or a "later" one with each stack of callers in the program,
or an allocation of the program ("memory"; these by a library that is loaded before it). With --most N of each command and kind
at most N, drawn. With --kills N the commands with several outputs or parts are killed N times instead, at a random one of those
calls; one file may be new and the other old only where that was between two calls of rename. gnuplot is left alone: it does not tell of what it could not write, and is given memory to write to.

The program ends as its exit codes say, with a sentence that names a file, or memory; with 0 only if all is as it would have
been. Every output is what was there before, or whole; after a kill, too. No temporary file is left but by a kill, and not after
the next start. Without memory a cell may fail, and the others are there."""
import argparse
import collections
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SYSTEM = ("write", "pwrite64", "ftruncate", "fsync", "rename")
READING = ("openat", "read", "pread64", "lseek")
# strace follows the processes that the program makes of itself, and no other program.
STRACE = ["strace", "-f", "-b", "execve", "-qq"]
RIGHT = {"system": {2, 3, 70, 74}, "reading": {2, 3, 4, 70, 74}, "hdf5": {2, 3, 4, 70, 74}, "libc": {2, 3, 4, 6, 70, 74},
         "later": {2, 3, 4, 6, 70, 74}, "memory": {4, 70}}
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
        self.words, self.outputs, self.before = shlex.split(words), outputs, dict(zip(outputs, before or [None] * len(outputs)))


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
    "info-retrieval": Command("info t.h5 --json"), "status": Command("status page part1 --json"), "overlap": Command("overlap t.h5 t.h5 --list 3"),
    "import-texts": Command("import --queries x.npy --corpus x.npy --pairs pairs.tsv -o @/t.h5 -q", ["t.h5"]),
    "import-qrels": Command("import --queries x.npy --corpus x.npy --query-ids ids.txt --corpus-ids ids.txt --qrels qrels.tsv "
                            "--scores qrels.tsv -o @/t.h5 -q", ["t.h5"]),
    "import-npz": Command("import -e z.npz -l z.npz:y -o @/z.h5 -q", ["z.h5"]), "import-linqs": Command("import --linqs graph -o @/g.h5 -q", ["g.h5"]),
    "sheet": Command("sheet s.h5 --texts texts.txt -b 16 -o @/sheet.html -q", ["sheet.html"]),
    "sample-jsonl": Command("sample s.h5 --sampler '{mined: {n: 3}}' -b 16 -o @/b.jsonl -q", ["b.jsonl"]),
    "price-judged": Command("price r.h5 -n 2 --judged judged.tsv --json"), "price-trials": Command("price r.h5 --sheet 10 --trials 3"),
    "certificate": Command("price r.h5 --for='-n 2' --judged drawn.tsv --max-fn 0.99 --certificate @/c.json -q", ["c.json"]),
    "evaluate-against": Command("evaluate r.h5 --against r.h5 --json"), "evaluate-dim": Command("evaluate r.h5 --dim 2"),
    "choose": Command("choose s.h5 --max-excess 5 -b 8 --seeds 2 --batches 4 --threads 1"), "plan": Command("run -c job.yaml -o @ --dry-run -v"),
    "board": Command("board reference.h5 mine.h5 -o @/board.html -q", ["board.html"]),
    "board-entry": Command("board --suite suite.yaml --entry entry.yaml -o @/e.h5 -q", ["e.h5"]),
    "reproduce": Command("reproduce mine --claims claims.yaml --results page/results.h5 --against page/results.h5 --json"),
    "reproduce-run": Command("reproduce bs-fig4 --data s.h5 --quick -o @ --threads 1 -q", ["results.h5"]),
    "paper": Command("paper page -o @/paper -q", ["paper/tables.tex"]), "report-trained": Command("report trained -o @/t.html -q", ["t.html"]),
    "report-many": Command("report page earlier -o @/m.html -q", ["m.html"]), "plot-history": Command("compare --history page -o @ -q"),
    "export-json": Command("export trained --json -o @/t.json", ["t.json"]), "export-latex": Command("export page --latex --table settings -o @/t.tex", ["t.tex"]),
    "doctor": Command("doctor --no-noise --json"), "bench": Command("bench walk --n 200 --dim 4 --M 20 --K 5 --batch-size 8 --reps 1 --warmup 0"),
    "train-plan": Command("train -c train.yaml -o @ --dry-run --workers 1 --threads 1"),
}


TIMED = "plan", "evaluate-dim", "choose", "doctor", "bench", "train-plan" # what these say is of the moment

# What a command reads where its words name a folder, or a file that names others.
INPUTS = {"job.yaml": ["job.yaml", "s.h5"], "train.yaml": ["train.yaml", "graph/graph.features", "graph/graph.edges", "graph/graph.split"],
          "page": ["page/results.h5", "page/job.yaml"], "part1": ["part1/results.h5"], "part2": ["part2/results.h5"],
          "@/s.h5": ["out/s.h5"], "@": ["out/results.h5"], "trained": ["trained/results.h5", "trained/job.yaml"], "earlier": ["earlier/results.h5"],
          "suite.yaml": ["suite.yaml", "s.h5", "s2.h5"], "z.npz:y": ["z.npz"], "--data=s.h5": ["s.h5"],
          "graph": ["graph/graph.features", "graph/graph.edges", "graph/graph.split"]}
NAMED = r"[\w/]+\.(h5|npy|jsonl|tsv|csv|html|yaml|xml|md|tex|json|txt|npz|cell|features|edges|split|gp|svg|pdf)\b|\b(out|page|part[12]|graph)(/|:|\b)|memory|standard output"


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
        np.savez("z.npz", x=np.load("x.npy"), y=np.load("y.npy"))
        plain()
        self.must("import -e x.npy -l y.npy -o one.h5 -q")
        texts()
        for words in ("import --queries x.npy --corpus x.npy --pairs pairs.tsv -o t.h5", "price r.h5 -n 2 --sheet 40 -o sheet.tsv",
                      "price r.h5 --for='-n 2' --sheet 40 -o drawn0.tsv", "train -c train.yaml -o trained --workers 1 --threads 1"):
            self.must(words + " -q")
        for sheet, judged in (("sheet.tsv", "judged.tsv"), ("drawn0.tsv", "drawn.tsv")):
            with open(sheet) as f, open(judged, "w") as to:
                to.write(f.readline() + "".join(line.rstrip("\n") + "0\n" for line in f))
        self.suite()

    def suite(self):
        """A suite of the board of two kinds, of an encoder each, its reference, and an entry."""
        self.must("synth -o s2.h5 --n 90 --dim 6 --classes 3 --seed 2 -q")
        kinds = ""
        for name in ("s", "s2"):
            about = subprocess.run([self.program, "info", f"{name}.h5", "--json"], check=True, capture_output=True, text=True).stdout
            kinds += f"  - name: {name}\n    encoders: [{{file: {name}.h5, sha256: {json.loads(about)['content_sha256']}}}]\n"
        with open("suite.yaml", "w") as f:
            f.write(f"suite: made-up\nbatch_size: 8\nbatches: 4\nseeds: [1]\nreference: [uniform, knn, {{gcbs: {{keep: 8}}}}]\nkinds:\n{kinds}")
        with open("entry.yaml", "w") as f:
            f.write("name: mine\nauthors: A\nchosen_on: nothing\nsettings: [jest]\n")
        self.must("board --suite suite.yaml -o reference.h5 -q")
        self.must("board --suite suite.yaml --entry entry.yaml -o mine.h5 -q")

    def must(self, words):
        subprocess.run([self.program, *shlex.split(words)], check=True, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

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


def said(done):
    """What a command said, but for the numbers of clocks, loads and processes."""
    return re.sub(r" *[0-9]+([.:][0-9]+)*(e[-+]?[0-9]+)?( (ms|s|us|ns|min|KiB|MiB|GiB|TiB|%))*\\b *", "#", done.stdout)


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


def texts():
    """Texts of pairs, ids, judgements and claims."""
    files = {"pairs.tsv": "".join(f"a dog {i}\tit barks at {i % 7}\n" for i in range(200)), "ids.txt": "".join(f"id {i}\n" for i in range(200)),
             "qrels.tsv": "".join(f"id {i}\tid {(3 * i) % 200}\t1\n" for i in range(200)), "texts.txt": "".join(f"text {i}\n" for i in range(120)),
             "claims.yaml": "paper: T\nentries:\n  - id: mine\n    title: t\n    source: s\n    jobs: [{job: bs-fig4}]\n    claims:\n"
                            "      - {name: n, statement: s, test: above, of: {column: fn_ratio, rows: {sampler: knn}}, "
                            "than: {rows: {sampler: uniform}}}\n"}
    for name, text in files.items():
        with open(name, "w") as f:
            f.write(text)


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


# Calls of libc and other libraries that the shim fails, and with what. Those that write to a stream are left out: what a stream
# could not write, its fclose() tells; clocks, sleeping and the ends of things have no answer that a program waits for. malloc()
# is what jansson's allocations come to.
FAILING = {"-1": """__getdelim access chdir chmod close dup2 fclose fcntl fflush flock fork fseek fseeko fstat fstatat fsync ftell
                    ftello gethostname getloadavg getrlimit getrusage getxattr lstat memfd_create mkdir mmap open openat
                    pipe2 poll pread read readlink remove rename rmdir scandir sched_getaffinity setpgid setrlimit setxattr stat
                    symlink sysconf truncate uname unlink unlinkat waitid waitpid write zip_fclose zip_fread zip_stat_index""",
           "0": """fdopen fdopendir fgets fmemopen fopen fopencookie fread gmtime_r malloc mkdtemp open_memstream opendir readdir
                   realpath yaml_parser_initialize zip_fopen_index zip_open_from_source zip_source_buffer_create
                   zip_source_file_create""",
           "5": "posix_spawnp", "12": "regcomp", "2": "glob", "-4": "deflateInit2_ inflateInit2_"}


def shim(program):
    """A library whose functions are those of HDF5, libc and others that the program calls; one fails once: the call number
    $INJECT_CALL with the stack of callers $INJECT_AT, as its digest stands in the log; or allocation number $INJECT_LACK of the
    program does."""
    imported = subprocess.run(["nm", "-D", program], check=True, capture_output=True, text=True).stdout
    answers = {name: int(answer) for answer, names in FAILING.items() for name in names.split()}
    answers.update((name, -1) for name in re.findall(r" U (H5[A-Za-z0-9_]+)", imported)
                   if not name.endswith("_g") and name not in ("H5open", "H5Eset_auto2", "H5Tget_size"))
    names = sorted(set(re.findall(r" U (\w+)", imported)) & set(answers))
    # The counts of a build with --coverage are no part of the program.
    counting = [(int(at, 16), int(size, 16)) for at, size in re.findall(
        r"^([0-9a-f]+) ([0-9a-f]+) [tT] \w*gcov\w*", subprocess.run(["nm", "-S", program], capture_output=True, text=True).stdout, re.M)]
    source = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void *__libc_malloc(size_t size);
enum { NAMES = %d, SITES = 1 << 16, DEEP = 48 };
void *inject_real[NAMES];
static const char *const names[] = {%s};
static const struct { uintptr_t at, size; } counting[] = {%s{0, 0}};
static uintptr_t site[SITES], wanted, begins, ends;
static long calls[SITES], which = 1, lacking = -1, allocations;
static int file = -1;
static void *(*allocate)(size_t, size_t);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static __thread int inside;
static int see(struct dl_phdr_info *about, size_t size, void *data) {
    begins = about->dlpi_addr;
    for (int i = 0; i < about->dlpi_phnum; i++)
        if (about->dlpi_phdr[i].p_type == PT_LOAD) ends = begins + about->dlpi_phdr[i].p_vaddr + about->dlpi_phdr[i].p_memsz;
    return 1; /* the first is the program */
}
__attribute__((constructor)) static void begin(void) {
    void *one[1];
    inside = 1;
    allocate = dlsym(RTLD_NEXT, "aligned_alloc");
    backtrace(one, 1); /* loads what it needs */
    const char *at = getenv("INJECT_AT"), *log = getenv("INJECT_LOG"), *call = getenv("INJECT_CALL"), *lack = getenv("INJECT_LACK");
    wanted = at ? strtoull(at, 0, 16) : 0;
    which = call ? atol(call) : 1;
    lacking = lack ? atol(lack) : -1;
    file = log ? (int)syscall(2, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    dl_iterate_phdr(see, 0);
    unsetenv("LD_PRELOAD");
    inside = 0;
}
static void say(const char *name, uintptr_t digest, long n) {
    char line[160];
    int length = snprintf(line, sizeof line, "%%d %%s %%zx %%ld\\n", getpid(), name, (size_t)digest, n);
    syscall(1, file, line, length);
}
__attribute__((destructor)) static void end(void) {
    if (file >= 0) say("allocations", 0, allocations);
}
/* The digest of the stack as far as it is the program's; 0: the call is one of the counting. */
static uintptr_t stack(void) {
    void *frame[DEEP];
    uintptr_t digest = 1469598103934665603u;
    for (int i = 0, n = backtrace(frame, DEEP); i < n; i++) {
        uintptr_t at = (uintptr_t)frame[i] - begins;
        if ((uintptr_t)frame[i] < begins || (uintptr_t)frame[i] >= ends) continue;
        for (int k = 0; counting[k].size; k++)
            if (at - counting[k].at < counting[k].size) return 0;
        digest = (digest ^ at) * 1099511628211u;
    }
    return digest | 1;
}
int inject_fails(uintptr_t from, int name, FILE **stream) {
    /* dlsym() itself allocates */
    if (!inject_real[name]) inject_real[name] = strcmp(names[name], "malloc") ? dlsym(RTLD_NEXT, names[name]) : (void *)__libc_malloc;
    if (inside || from < begins || from >= ends) return 0;
    inside = 1;
    uintptr_t digest = stack();
    long n = 0;
    pthread_mutex_lock(&mutex);
    if (digest) {
        uintptr_t k = digest >> 1 & (SITES - 1);
        while (site[k] && site[k] != digest) k = (k + 1) & (SITES - 1);
        site[k] = digest;
        n = ++calls[k];
    }
    pthread_mutex_unlock(&mutex);
    if (digest && file >= 0 && !wanted) say(names[name], digest, n);
    inside = 0;
    int fails = digest && digest == wanted && n == which;
    /* as libc does, which drops what it could not write */
    if (fails && *stream && (!strcmp(names[name], "fflush") || !strcmp(names[name], "fclose"))) __fpurge(*stream);
    if (fails && !strcmp(names[name], "fclose")) ((int (*)(FILE *))inject_real[name])(*stream);
    if (fails) errno = EIO;
    return fails;
}
void *aligned_alloc(size_t alignment, size_t size) {
    uintptr_t from = (uintptr_t)__builtin_return_address(0);
    return from >= begins && from < ends && __sync_add_and_fetch(&allocations, 1) == lacking ? 0 : allocate(alignment, size);
}
""" % (len(names), ", ".join(f'"{n}"' for n in names), "".join(f"{{{at}, {size}}}, " for at, size in counting))
    kept, floats = ["rax", "rdi", "rsi", "rdx", "rcx", "r8", "r9"], range(8)
    for i, n in enumerate(names):
        lines = [".text", f".globl {n}", f".type {n},@function", f"{n}:", ".cfi_startproc", "push %rbp", ".cfi_def_cfa_offset 16",
                 ".cfi_offset %rbp,-16", "mov %rsp,%rbp", ".cfi_def_cfa_register %rbp", *[f"push %{r}" for r in kept], "sub $136,%rsp",
                 *[f"movups %xmm{k},{16 * k}(%rsp)" for k in floats], "mov 8(%rbp),%rdi", f"mov ${i},%esi",
                 "lea -16(%rbp),%rdx", "call inject_fails@PLT",
                 "mov %eax,%r11d", *[f"movups {16 * k}(%rsp),%xmm{k}" for k in floats], "add $136,%rsp",
                 *[f"pop %{r}" for r in reversed(kept)], ".cfi_remember_state", "leave", ".cfi_def_cfa %rsp,8", "test %r11d,%r11d", "jnz 1f",
                 "mov inject_real@GOTPCREL(%rip),%r11", f"jmp *{8 * i}(%r11)", f"1: mov ${answers[n]},%rax", "ret", ".cfi_endproc"]
        source += 'asm("' + "\\n".join(lines) + '\\n");\n'
    with open("shim.c", "w") as f:
        f.write(source)
    subprocess.run(["gcc", "-O1", "-w", "-shared", "-fPIC", "-ftls-model=initial-exec", "-o", "shim.so", "shim.c", "-ldl"], check=True)
    return os.path.abspath("shim.so")


class Injector:
    def __init__(self, place, most, kinds, rng):
        self.place, self.most, self.kinds, self.rng = place, most, kinds, rng
        self.tally, self.failed, self.told = collections.Counter(), 0, 0
        self.said = 0, 0

    def chosen(self, kind, n):
        return () if kind not in self.kinds else range(n) if not self.most or n <= self.most else sorted(self.rng.sample(range(n), self.most))

    def judge(self, name, kind, what, done, want):
        """Counts how a disturbed command ended; want: its outputs and its standard output where nothing fails."""
        command, text = COMMANDS[name], done.stderr
        wrong = []
        now = {o: self.place.content(f"out/{o}") for o in command.outputs}
        # Cells that failed are among the results; a page is without what gnuplot failed on.
        partly = done.returncode == 4 and name in ("run", "train") or done.returncode == 6
        old = {o: self.place.content(b) if b else None for o, b in command.before.items()}
        whole = now == want["outputs"]
        if done.returncode == 0 and not whole:
            wrong.append(f"exit code 0, but not whole: {[o for o in now if now[o] != want['outputs'][o]]}")
        elif done.returncode == 0 and not command.outputs and want["stdout"] not in (said(done), None):
            wrong.append("exit code 0, but another output")
        elif done.returncode != want["code"] and done.returncode not in RIGHT[kind]:
            wrong.append(f"exit code {done.returncode}")
        if done.returncode not in (0, want["code"]) and not re.search(r"^hardneg[ :].{8,}", text, re.M):
            wrong.append("no sentence")
        elif done.returncode not in (0, 70, want["code"]) and not re.search(NAMED, text):
            wrong.append("a sentence that names no file")
        if re.search(r"HDF5-DIAG|\(null\)|Sanitizer", text):
            wrong.append("a message not meant for people")
        if done.returncode == 4 and partly and None in now.values():
            wrong.append("results that cannot be read")
        if not whole and not partly and now != old and "rename" not in what:
            wrong.append(f"neither the old files nor the new ones: {[o for o in now if now[o] != old[o]]}")
        if "rename" in what and any(now[o] not in (old[o], want["outputs"][o]) for o in now):
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
        done, again = (self.place.start(COMMANDS[name], "out") for _ in range(2))
        same = said(done) == said(again) and name not in TIMED
        return {"code": done.returncode, "stdout": said(done) if same else None,
                "outputs": {o: self.place.content(f"out/{o}") for o in COMMANDS[name].outputs}}

    def system_calls(self, name, calls=SYSTEM, paths=()):
        """Calls of each kind in an undisturbed start."""
        self.place.start(COMMANDS[name], "out", [*STRACE, "-o", "calls", "-e", "trace=" + ",".join(calls), *paths])
        with open("calls") as f:
            return collections.Counter(re.findall(r"^\d+ +(\w+)\(", f.read(), re.M))

    def fail_calls(self, name, want, kind, calls, paths=()):
        for call, n in self.system_calls(name, calls, paths).items() if kind in self.kinds else ():
            for k in self.chosen(kind, n):
                inject = f"inject={call}:error={'ENOSPC' if 'write' in call else 'EIO'}:when={k + 1}"
                done = self.place.start(COMMANDS[name], "out", [*STRACE, "-o", "/dev/null", "-e", f"trace={call}", "-e", inject, *paths])
                self.judge(name, kind, call, done, want)

    def fail_system(self, name, want):
        self.fail_calls(name, want, "system", SYSTEM)
        inputs = [f for word in COMMANDS[name].words for f in INPUTS.get(word, [word] if os.path.isfile(word) else [])]
        if inputs:
            self.fail_calls(name, want, "reading", READING, [word for f in inputs for word in ("-P", os.path.abspath(f))])

    def fail_libraries(self, name, want):
        shimmed = lambda **more: self.place.start(COMMANDS[name], "out", (), {"LD_PRELOAD": self.place.shim, "INJECT_LOG": "sites", **more})
        if os.path.exists("sites"):
            os.remove("sites")
        shimmed()
        sites, allocations = self.sites()
        for kind, chosen in (("hdf5", [s for s in sites if s[0].startswith("H5")]), ("libc", [s for s in sites if not s[0].startswith("H5")])):
            for function, digest, _ in (chosen[k] for k in self.chosen(kind, len(chosen))):
                self.judge(name, kind, f"{function} at {digest}", shimmed(INJECT_AT=digest), want)
            often = [s for s in chosen if s[2] > 1]
            for function, digest, calls in (often[k] for k in self.chosen("later", len(often))):
                call = self.rng.randint(2, calls)
                self.judge(name, "later", f"call {call} of {function} at {digest}", shimmed(INJECT_AT=digest, INJECT_CALL=str(call)), want)
        for k in self.chosen("memory", allocations):
            self.judge(name, "memory", f"allocation {k + 1}", shimmed(INJECT_LACK=str(k + 1)), want)

    @staticmethod
    def sites():
        """[function, digest of the stack of callers, calls] in the order of their first calls, and the number of allocations of
        the process with most."""
        found, allocations = {}, 0
        with open("sites") as f:
            for line in f:
                _, name, digest, n = line.split()
                if name == "allocations":
                    allocations = max(allocations, int(n))
                else:
                    site = found.setdefault(digest, [name, digest, 0])
                    site[2] = max(site[2], int(n))
        return list(found.values()), allocations

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
    parser.add_argument("--kinds", default="system,reading,hdf5,libc,later,memory")
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
        injector = Injector(place, a.most, a.kinds.split(","), random.Random(a.seed))
        for name in a.only.split(",") if a.only else COMMANDS:
            want = injector.undisturbed(name)
            if a.kills:
                if len(COMMANDS[name].outputs) > 1 or name == "mine-parts":
                    injector.kill(name, want, a.kills)
            else:
                injector.fail_system(name, want)
                injector.fail_libraries(name, want)
            injector.say(name)
        os.chdir("/")
    print("    how they ended: " + ", ".join(f"{kind} {code}: {n}" for (kind, code), n in sorted(injector.tally.items(), key=str)))
    print(f"inject: {injector.told} passed, {injector.failed} failed, 0 skipped")
    sys.exit(injector.failed > 0)


if __name__ == "__main__":
    main()
