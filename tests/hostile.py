#!/usr/bin/python3
"""Hostile inputs: tests/hostile.py PROGRAM [--cases N] [--seed S] [--only I] [--processes P].

Makes files, jobs, command lines and environments that are wrong in ways drawn from a seed, and runs the program
on each. Every case has to end within ten seconds (more on a machine that is busy) with an exit code of the list and, where that is an error, a
sentence that begins with "hardneg"; what stood where output was asked for stands there still, and no temporary
file is left. With ASAN_OPTIONS set, limits are left out: the sanitizer takes more. The last lines are a table by kind and exit code, and the totals for tests/run.sh."""
import argparse
import collections
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np

    import format_files
except ImportError:
    print("    skipped: no python3-h5py\nhostile: 0 passed, 0 failed, 1 skipped")
    sys.exit(0)

SECONDS = 10
# A case that takes longer may go on for as many times what a tiny run takes at that moment: half a second on an idle
# machine, where this allows no more than the ten.
TINY_RUNS = 20
CODES = {0, 1, 2, 3, 4, 5, 6, 70, 74, 130}
ERRORS = {2, 3, 6, 70, 74}
OLD = b"what stood here before\n"
TEXTS = ["", " ", "a" * 300, "\x1b]0;x\x07\x1b[2J", "<script>alert(1)</script>", "`id`$(id)", "%s%n%p", "\u202eabc",
         "../../etc/passwd", "a\nb\r\nc", "\u00e9\U0001f600", "'; --", "{/Symbol a}", "-", "--help", "NaN", "null", "~"]
NUMBERS = ["0", "-1", "1", "2", "2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808",
           "-9223372036854775808", "1e308", "1e309", "-1e308", "1e-320", "5e-324", ".nan", "nan", ".inf", "inf", "-0.0",
           "0x10", "1_000", "1e9", "0.5", "1.5", "''", "[]", "{}", "[1, 1]", "[[1]]", "{a: 1}", "~", "true", "99999999999999999999"]


def prepare(program, folder):
    """What all cases begin with: a snapshot, results, arrays, a folder of texts, a job."""
    def run(*words):
        subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, timeout=120)
    run("synth", "-o", "s.h5", "--n", "60", "--dim", "4", "--classes", "3", "--steps", "2", "--views", "2")
    with open(f"{folder}/job.yaml", "w", encoding="utf-8") as f:
        f.write("version: 1\nsnapshots: [s.h5]\nbatch_size: 8\nbatches: 2\nseeds: [1]\nsamplers: [uniform, knn]\n"
                "metrics: [fn_ratio, histogram]\nfigures: none\n")
    run("run", "-c", "job.yaml", "-o", "r")
    shutil.copy(f"{folder}/r/results.h5", f"{folder}/r.h5")
    shutil.rmtree(f"{folder}/r")
    with open(f"{folder}/names.txt", "w", encoding="utf-8") as f:
        f.write("a\nb\nc\n")
    # Words of `import` for every format that there is.
    ways = format_files.write(folder)
    listed = subprocess.run([program, "list", "formats", "--json"], check=True, capture_output=True, timeout=120).stdout
    assert ways.keys() == {f["name"] for f in json.loads(listed)["formats"]}
    with open(f"{folder}/ways.json", "w", encoding="utf-8") as f:
        json.dump([words for kind in ways.values() for words in kind], f)
    os.mkdir(f"{folder}/linqs")
    for ending, text in (("features", "0 0:1 2:1\n1 1:1\n2 0:1\n"), ("edges", "0 1\n1 2\n"), ("split", "0\n1\n2\n")):
        with open(f"{folder}/linqs/a.{ending}", "w", encoding="utf-8") as f:
            f.write(text)


class Case:
    """One case: how it is made, the words of its command, and the limits it is run under."""

    def __init__(self, rng, folder):
        self.rng, self.folder = rng, folder
        self.words, self.output, self.environment, self.limits = [], None, {}, {}
        self.streams, self.quiet, self.before = {}, False, None

    def path(self, name):
        return os.path.join(self.folder, name)

    def out(self, name):
        """A path for output; half of the time something is there."""
        self.output = name
        if self.rng.random() < 0.5:
            with open(self.path(name), "wb") as f:
                f.write(OLD)
        return name


def objects(f):
    found = []
    f.visit(found.append)
    return found


def spoil_values(rng, data):
    """Writes an odd value into a data set that has values."""
    if data.size == 0 or data.shape == ():
        return
    at = tuple(rng.randrange(n) for n in data.shape)
    if data.dtype.kind == "f":
        data[at] = rng.choice([np.nan, np.inf, -np.inf, 1e38, 5e-324, 0.0])
    elif data.dtype.kind in "iu":
        info = np.iinfo(data.dtype)
        data[at] = rng.choice([info.min, info.max, 0, info.max // 2])
    else:
        data[at] = rng.choice(TEXTS)


def spoil_h5(rng, path):
    """One to three changes: values, shapes, types, storage, links, attributes, names."""
    with h5py.File(path, "r+") as f:
        for _ in range(rng.randint(1, 3)):
            names = objects(f)
            name = rng.choice(names or ["r.h5"])
            thing = f.get(name)
            change = rng.randrange(9)
            if thing is None:
                continue
            if change == 0 and isinstance(thing, h5py.Dataset):
                spoil_values(rng, thing)
            elif change == 1:
                del f[name]
            elif change in (2, 3) and isinstance(thing, h5py.Dataset):
                kind = rng.choice(["f2", "f4", "f8", "i1", "u8", "S5", ">i4", "c8", "V3", h5py.string_dtype()])
                shape = rng.choice([(), (0,), (1,), (60,), (2, 60, 4), (1, 2, 3, 4, 5), (2**31,), (2**40, 2**20), thing.shape])
                chunks = tuple(min(n, 64) or 1 for n in shape) if np.prod(shape, dtype=float) > 1e6 else None
                del f[name]
                f.create_dataset(name, shape, kind, chunks=chunks, compression="gzip" if chunks else None)
            elif change == 4:
                del f[name]
                f[name] = rng.choice([h5py.SoftLink("/" + name), h5py.SoftLink("/nowhere"), h5py.ExternalLink("s.h5", "/labels")])
            elif change == 5:
                key = rng.choice(list(f.attrs) + list(thing.attrs) + ["new"])
                (f if rng.random() < 0.5 else thing).attrs[key] = rng.choice(
                    TEXTS[:9] + [0, -1, 2**62, 1e308, np.zeros(5), np.zeros((2, 2), "i1"), h5py.Empty("f4")])
            elif change == 6:
                f.create_group(name + rng.choice(["x", "\x07", "%s"]))
            elif change == 7:
                f.move(name, rng.choice(["moved", "a/b/c", "embeddings2", "runs/x"]) + str(rng.randrange(99)))
            elif isinstance(thing, h5py.Dataset) and thing.shape:
                kind, shape = thing.dtype, thing.shape
                del f[name]
                f.create_dataset(name, tuple(max(0, n + rng.choice([-1, 1, n])) for n in shape), kind)


def spoil_bytes(rng, path):
    with open(path, "rb") as f:
        data = bytearray(f.read())
    for _ in range(rng.randint(1, 4)):
        change, at = rng.randrange(5), rng.randrange(max(1, len(data)))
        if change == 0 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del data[at:]
        elif change == 2:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 40)))
        elif change == 3:
            data[at:at] = rng.choice(NUMBERS + TEXTS).encode()
        else:
            data[at:at + rng.randint(1, 30)] = b""
    with open(path, "wb") as f:
        f.write(data)


def spoil_file(rng, path):
    (spoil_h5 if rng.random() < 0.75 else spoil_bytes)(rng, path)


def use_snapshot(case):
    rng = case.rng
    return rng.choice([["validate", "s.h5"], ["info", "s.h5"], ["run", "-c", "job.yaml", "-o", "new"],
                       ["run", "-c", "job.yaml", "-o", "new", "--dry-run"],
                       ["sample", "s.h5", "--sampler", rng.choice(["uniform", "knn", "gcbs", "mined"]), "-b", "8", "-o", case.out("o.npy")],
                       ["import", "-e", "s.h5", "-o", case.out("o.h5")],
                       ["import", "-e", "x.npy", "--step", "900", "-o", "s.h5"]])


def use_results(case):
    return case.rng.choice([["compare", "r.h5", "good.h5"], ["compare", "good.h5", "r.h5", "--junit", case.out("o.xml")],
                            ["export", "r.h5", "-o", case.out("o.csv")], ["merge", "r.h5", "good.h5", "-o", case.out("o.h5")],
                            ["compare", "--history", "."], ["info", "r.h5"], ["report", "r.h5", "-o", case.out("o.html")]])


def make_snapshot(case):
    spoil_file(case.rng, case.path("s.h5"))
    case.words = use_snapshot(case)


def make_results(case):
    shutil.copy(case.path("r.h5"), case.path("good.h5"))
    spoil_file(case.rng, case.path("r.h5"))
    case.words = use_results(case)


def make_array(case):
    rng = case.rng
    name = rng.choice(["x.npy", "y.npy"])
    if rng.random() < 0.5:
        shape = rng.choice([(), (0,), (24,), (24, 4), (0, 4), (24, 0), (3, 2, 2), (1, 1, 1, 1, 1), (24, 5), (23, 4)])
        kind = rng.choice(["f2", "f4", "f8", ">f4", "i1", "i8", "u8", "b1", "c8", "U3", "S2"])
        np.save(case.path(name), np.full(shape, rng.choice([0, 1]), kind))
    else:
        spoil_bytes(rng, case.path(name))
    case.words = ["import", "-e", "x.npy", "-l", "y.npy", "-o", case.out("o.h5"), *rng.choice([[], ["--view2", "x.npy"], ["--type", "float16"]])]


def make_format(case):
    rng = case.rng
    with open(case.path("ways.json"), encoding="utf-8") as f:
        words = rng.choice(json.load(f))
    name = rng.choice([w for w in words if os.path.exists(case.path(w))])
    for _ in range(rng.randint(1, 2)):
        spoil_bytes(rng, case.path(name))
    more = rng.choice([[], [], ["--zero-rows", "skip"], ["--tensor", rng.choice(TEXTS[1:])], ["--format", rng.choice(["tsv", "npz", "bin"])],
                       ["--raw", "float16", "--dim", rng.choice(["1", "3", "1048576"])], ["--view2", words[0]], ["--memory", "1M"]])
    case.words = ["import", "-e", *words, *more, "-o", case.out("o.h5")]


def make_text(case):
    rng = case.rng
    name = rng.choice(["linqs/a.features", "linqs/a.edges", "linqs/a.split", "names.txt"])
    for _ in range(rng.randint(1, 3)):
        spoil_bytes(rng, case.path(name))
    if rng.random() < 0.2:
        os.remove(case.path(name))
        rng.choice([os.mkfifo, os.mkdir])(case.path(name))
    case.words = (["import", "-e", "x.npy", "-l", "y.npy", "--label-names", "names.txt", "-o", case.out("o.h5"), "--title",
                   rng.choice(TEXTS[1:])] if name == "names.txt" else ["import", "--linqs", "linqs", "-o", case.out("o.h5")])


KEYS = ["version", "snapshots", "batch_size", "batches", "epochs", "seeds", "samplers", "metrics", "figures", "steps", "loss",
        "weightings", "temperature", "timing", "timing.reps", "timing.warmup", "limits.memory", "limits", "unknown"]
SAMPLERS = {"uniform": ["draw"], "knn": [], "batchsampler": ["M", "K", "alpha", "t", "cap", "tile", "walk", "start", "graph"],
            "gcbs": ["quantile", "keep", "t"], "hard-negative": [], "stratified": [], "mined": [], "hops": [], "ring": ["n", "space"],
            "random-negatives": ["n"]}


def draw_value(rng):
    if rng.random() < 0.3:
        name = rng.choice(list(SAMPLERS))
        options = rng.sample(SAMPLERS[name], min(len(SAMPLERS[name]), rng.randint(0, 2)))
        return "[" + name + ": {" + ", ".join(f"{o}: {rng.choice(NUMBERS)}" for o in options) + "}]"
    return rng.choice(NUMBERS + [repr(t) for t in TEXTS])


def make_job(case):
    rng = case.rng
    if rng.random() < 0.4:
        spoil_bytes(rng, case.path("job.yaml"))
    case.words = ["run", "-c", "job.yaml", "-o", "new"]
    for _ in range(rng.randint(0, 3)):
        key = rng.choice(KEYS)
        case.words += ["--set", f"{key}={draw_value(rng)}".replace("\0", "")]
    if rng.random() < 0.7:
        case.words.append("--dry-run")


def make_command(case):
    rng = case.rng
    command = rng.choice(["run", "validate", "info", "compare", "merge", "export", "sample", "import", "synth", "list", "plot", "man",
                          "completion", "reproduce", "train", "report", "help", "", "runn", "--version"])
    options = ["-o", "-c", "--set", "--threads", "--memory", "--seed", "--shard", "--filter", "--rerun", "--gate", "--table", "--n", "--dim",
               "--steps", "-b", "--sampler", "--epochs", "--max-cells", "-q", "--json", "--list", "--term", "--step", "-e", "-l"]
    case.words = [command]
    for _ in range(rng.randint(0, 4)):
        case.words.append(rng.choice(options))
        case.words.append(rng.choice(NUMBERS[:24] + TEXTS + ["s.h5", "r.h5", "job.yaml", "uniform", "(", "1/2", "2/1", "n_dot:0%"]))
    sizes = {"--n", "--dim", "--steps", "--epochs"}
    if command in ("synth", "sample"):  # what is asked for may rightly take its time
        case.words = [w for i, w in enumerate(case.words) if w not in sizes and (i == 0 or case.words[i - 1] not in sizes)]
    case.words = [w.replace("\0", "") for w in case.words]


def any_use(case):
    shutil.copy(case.path("r.h5"), case.path("good.h5"))
    return case.rng.choice([use_snapshot, use_results])(case)


def make_environment(case):
    rng = case.rng
    case.words = any_use(case)
    what = rng.randrange(8)
    if what == 0:
        case.limits = {resource.RLIMIT_AS: rng.choice([60, 100, 200, 300, 400, 600, 900]) << 20}
    elif what == 1:
        case.limits = {resource.RLIMIT_FSIZE: rng.choice([1, 1000, 5000, 20000, 60000])}
    elif what == 2:
        case.limits = {resource.RLIMIT_NOFILE: rng.randint(5, 14)}
    elif what == 3:
        case.streams = {rng.choice([0, 1, 2]): rng.choice([None, "/dev/full"])}
    elif what == 4:
        case.environment = {"LC_ALL": rng.choice(["tr_TR.UTF-8", "de_DE.UTF-8", "C", "xx"]), "LANG": "de_DE", "TZ": rng.choice(TEXTS[:6])}
    elif what == 5:
        case.environment = {rng.choice(["TMPDIR", "HOME", "PATH", "OMP_NUM_THREADS", "OPENBLAS_CORETYPE", "HARDNEG_DATA"]):
                            rng.choice(NUMBERS + [t for t in TEXTS if "\0" not in t])}
    elif what == 6:
        case.words = [w.replace("s.h5", "./" + "/".join(["."] * 2000) + "/s.h5") for w in case.words]
    else:
        case.words = [w.replace("r.h5", "a" * 300 + "/r.h5") if rng.random() < 0.5 else w for w in case.words]


def make_place(case):
    rng = case.rng
    case.words = any_use(case)
    names = [w for w in case.words if "." in w and w != "." and not w.startswith("-")]
    name = rng.choice(names or ["r.h5"])
    path = case.path(name)
    if os.path.exists(path):
        os.remove(path)
    kind = rng.randrange(5)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        os.symlink("/dev/null", path)
    elif kind == 2:
        os.mkdir(path)
    elif kind == 3:
        os.symlink(name, path)
    case.output = name if kind < 3 else None


KINDS = {"snapshot": make_snapshot, "results": make_results, "array": make_array, "format": make_format, "text": make_text, "job": make_job,
         "command": make_command, "environment": make_environment, "place": make_place}


def state(path):
    """What stands at a path, as far as a case may not change it."""
    if not os.path.lexists(path):
        return None
    about = os.lstat(path)
    if not os.path.isfile(path) or os.path.islink(path):
        return about.st_mode
    with open(path, "rb") as f:
        return f.read()


def patience(program, base):
    """Seconds that a case may take on this machine as it is now."""
    with tempfile.TemporaryDirectory(prefix="hardneg-tiny-") as folder:
        begin = time.monotonic()
        try:
            subprocess.run([program, "run", "-c", f"{base}/job.yaml", "-o", f"{folder}/r", "--quiet"], check=True,
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
        except subprocess.TimeoutExpired:
            pass
        return max(SECONDS, TINY_RUNS * (time.monotonic() - begin))


def execute(program, base, case):
    """Exit code, output, messages, and the seconds that were allowed; code None: it took longer."""
    def child():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for what, limit in ({} if "ASAN_OPTIONS" in os.environ else case.limits).items():
            resource.setrlimit(what, (limit, limit))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for number, path in case.streams.items():
            os.close(number)
            if path:
                os.open(path, os.O_RDWR)
    environment = {**os.environ, "OMP_WAIT_POLICY": "passive", **case.environment}
    process = subprocess.Popen([program, *case.words], cwd=case.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment, preexec_fn=child, start_new_session=True)
    begin, allowed = time.monotonic(), SECONDS
    while True:
        try:
            out, err = process.communicate(timeout=max(0.0, begin + allowed - time.monotonic()))
            return process.returncode, out, err, allowed
        except subprocess.TimeoutExpired:
            allowed = max(allowed, patience(program, base)) # the machine may be busy since a moment ago
            if time.monotonic() < begin + allowed:
                continue
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return None, out, err, allowed


def judge(case, code, err, before, allowed):
    """What is wrong with how the case ended; empty if nothing is."""
    text = err.decode("utf-8", "replace")
    if code is None:
        return f"took more than {allowed:.0f} s"
    if code not in CODES:
        return f"exit code {code}"
    if re.search("Sanitizer|runtime error|HDF5-DIAG|\\(null\\)", text):
        return "a message not meant for people"
    if code in ERRORS and 2 not in case.streams and not re.search(r"^hardneg[ :].{8,}", text, re.M):
        return f"exit code {code} without a sentence"
    if code == 70 and not re.search("memory|addresses|threads|process", text):
        return "an internal error"
    if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text.replace("\x1b[K", "")):
        return "control characters in a message"
    left = [n for n in os.listdir(case.folder) if ".tmp-" in n or n.startswith(".drawing")]
    if left:
        return f"left {left[0]}"
    if 1 in case.streams or code == 6: # the file is whole by then; 6: a page without its figures
        return ""
    if case.output and code in ERRORS and state(case.path(case.output)) != before:
        return f"{case.output} is not as it was"
    if code in ERRORS and os.path.exists(case.path("new/results.h5")):
        return "results of a run that was refused"
    return ""


def run_case(job):
    program, base, seed, number = job
    rng = random.Random(f"{seed}-{number}")
    kind = list(KINDS)[number % len(KINDS)]
    with tempfile.TemporaryDirectory(prefix="hardneg-case-") as folder:
        shutil.copytree(base, folder, dirs_exist_ok=True)
        case = Case(rng, folder)
        try:
            KINDS[kind](case)
        except (OSError, ValueError, TypeError, KeyError, RuntimeError, OverflowError) as error:
            return kind, "not made", 0.0, "", number, [str(error)], b""
        before = state(case.path(case.output)) if case.output else None
        begin = time.monotonic()
        code, _, err, allowed = execute(program, base, case)
        wrong = judge(case, code, err, before, allowed)
        return kind, code, time.monotonic() - begin, wrong, number, case.words, err[-300:]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--cases", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", type=int)
    options.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    given = options.parse_args()
    program = os.path.realpath(given.program)
    counts, slowest, failed, unmade = collections.defaultdict(collections.Counter), dict.fromkeys(KINDS, (0, 0)), 0, 0
    with tempfile.TemporaryDirectory(prefix="hardneg-hostile-") as base, multiprocessing.Pool(given.processes) as pool:
        prepare(program, base)
        numbers = range(given.cases) if given.only is None else [given.only]
        jobs = [(program, base, given.seed, i) for i in numbers]
        for kind, code, seconds, wrong, number, words, err in pool.imap_unordered(run_case, jobs, 4):
            counts[kind][code] += 1
            slowest[kind] = max(slowest[kind], (seconds, number))
            unmade += code == "not made"
            if wrong:
                failed += 1
                print(f"  FAILED case {number} ({kind}): {wrong}: {' '.join(words)[:300]}\n    {err!r}")
            elif given.only is not None:
                print(code, words, err)
    codes = sorted({c for k in counts.values() for c in k}, key=str)
    print("| kind | cases | " + " | ".join(str(c) for c in codes) + " | longest, s (case) |")
    print("| --- " * (len(codes) + 3) + "|")
    for kind, found in counts.items():
        print(f"| {kind} | {sum(found.values())} | " + " | ".join(str(found[c]) for c in codes) + " | %.1f (%d) |" % slowest[kind])
    total = sum(sum(k.values()) for k in counts.values())
    print(f"hostile: {total - failed - unmade} passed, {failed} failed, {unmade} skipped")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
