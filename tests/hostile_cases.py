# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of tests/hostile.py: how each kind is made of a seed. A new kind is a function make_* and its name in KINDS."""
import hashlib
import json
import os
import resource
import shutil
import subprocess

import h5py
import numpy as np

import format_files

OLD = b"what stood here before\n"
TEXTS = ["", " ", "a" * 300, "\x1b]0;x\x07\x1b[2J", "<script>alert(1)</script>", "`id`$(id)", "%s%n%p", "\u202eabc",
         "../../etc/passwd", "a\nb\r\nc", "\u00e9\U0001f600", "'; --", "{/Symbol a}", "-", "--help", "NaN", "null", "~"]
NUMBERS = ["0", "-1", "1", "2", "2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808",
           "-9223372036854775808", "1e308", "1e309", "-1e308", "1e-320", "5e-324", ".nan", "nan", ".inf", "inf", "-0.0",
           "0x10", "1_000", "1e9", "0.5", "1.5", "''", "[]", "{}", "[1, 1]", "[[1]]", "{a: 1}", "~", "true", "99999999999999999999"]


SEAL = b"hardneg-seal sha256 "
spoiling = True # False: cases of the same seeds whose files are left whole


def whole(value):
    """Leaves the files of the cases from here on as they are, or spoils them."""
    global spoiling
    spoiling = not value


def seal(path):
    """Gives results, or a cell, a checksum that fits, so that what reads behind it is tried."""
    with open(path, "rb") as f:
        data = f.read()
    data = data[:-85] if data[-85:-65] == SEAL else data
    with open(path, "wb") as f:
        f.write(data + SEAL + hashlib.sha256(data).hexdigest().encode() + b"\n")


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
    with open(f"{folder}/names.txt", "w", encoding="utf-8") as f:
        f.write("a\nb\nc\n")
    # A snapshot with all that one can hold; texts of its items, claims, a training.
    np.save(f"{folder}/t.npy", np.cos(np.arange(120.0).reshape(60, 2)))
    np.save(f"{folder}/rows.npy", np.sin(np.arange(240.0).reshape(60, 4)))
    np.save(f"{folder}/order.npy", np.arange(60)[::-1])
    for name, line in (("groups.txt", "g{a}"), ("several.txt", "l{a}|m{b}"), ("lines.txt", "the text of item {i}")):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
            f.writelines(line.format(a=i % 3, b=i % 2, i=i) + "\n" for i in range(60))
    run("import", "-e", "rows.npy", "-l", "several.txt", "--label-separator", "|", "--teacher", "t.npy", "--group", "groups.txt", "-o", "rich.h5")
    with open(f"{folder}/claims.yaml", "w", encoding="utf-8") as f:
        f.write("paper: me\nentries:\n  - id: mine\n    title: t\n    source: s\n    claims:\n"
                "      - {name: n, statement: s, test: above, of: {column: fn_ratio, rows: {sampler: knn}}, than: {rows: {sampler: uniform}}}\n"
                "    levels:\n      - {what: w, of: {column: fn_ratio}}\n")
    with open(f"{folder}/train.yaml", "w", encoding="utf-8") as f:
        f.write("version: 1\ntask: {node: {data: linqs, hidden: 4, out: 2}}\nsamplers: [uniform]\nloss: other-view\nbatch_size: 2\n"
                "steps: 4\nevaluate: 2\nseeds: [1]\n")
    # Queries and a corpus with texts of variable length.
    for name, n in (("query", 12), ("corpus", 60)):
        with open(f"{folder}/{name}.jsonl", "w", encoding="utf-8") as f:
            f.writelines(json.dumps({"_id": f"{name[0]}{i}", "text": f"the {name} number {i} " + "and more " * (i % 5)}) + "\n" for i in range(n))
    np.save(f"{folder}/queries.npy", np.sin(np.arange(48.0).reshape(12, 4) + 0.1))
    with open(f"{folder}/judged.tsv", "w", encoding="utf-8") as f:
        f.writelines(f"q{i}\tc{i}\t1\n" for i in range(12))
    run("import", "--queries", "queries.npy", "--corpus", "rows.npy", "--query-ids", "query.jsonl", "--corpus-ids", "corpus.jsonl", "--qrels", "judged.tsv", "-o", "q.h5")
    # Words of `import` for every format that there is.
    ways = format_files.write(folder)
    listed = subprocess.run([program, "list", "formats", "--json"], check=True, capture_output=True, timeout=120).stdout
    assert ways.keys() == {f["name"] for f in json.loads(listed)["formats"]}
    with open(f"{folder}/ways.json", "w", encoding="utf-8") as f:
        json.dump([words for kind in ways.values() for words in kind], f)
    os.mkdir(f"{folder}/linqs")
    for ending, text in (("features", "# features=3\n0 0 0 2\n1 1 1\n2 0 0\n3 1 1 2\n"), ("edges", "0 1\n1 2\n3 1\n"), ("split", "0 train\n1 train\n2 test\n3 val\n")):
        with open(f"{folder}/linqs/a.{ending}", "w", encoding="utf-8") as f:
            f.write(text)


class Case:
    """One case: how it is made, the words of its command, and the limits it is run under."""

    def __init__(self, rng, folder):
        self.rng, self.folder = rng, folder
        self.words, self.output, self.environment, self.limits = [], None, {}, {}
        self.streams, self.quiet, self.before = {}, False, None
        self.during, self.delay = None, 0 # what is done, so many seconds after the command has begun

    def new(self, name):
        """A path for output that a command does not replace."""
        return self.out(name, 0.1)

    def path(self, name):
        return os.path.join(self.folder, name)

    def out(self, name, there=0.5):
        """A path for output, where something is there so often."""
        self.output = name
        if spoiling and self.rng.random() < there:
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
    if not spoiling:
        return
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
    if not spoiling:
        return
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
    """Half of the time with a digest that fits, or none."""
    (spoil_h5 if rng.random() < 0.75 else spoil_bytes)(rng, path)
    if not spoiling or rng.random() < 0.5:
        return
    if os.path.basename(path) == "r.h5":
        seal(path)
        return
    try:
        with h5py.File(path, "r+") as f:
            f.attrs.pop("content_sha256", None)
    except (OSError, RuntimeError, KeyError):
        pass # no file of HDF5 any more


def use_snapshot(case):
    rng = case.rng
    return rng.choice([["validate", "s.h5"], ["info", "s.h5"], ["run", "-c", "job.yaml", "-o", "new"],
                       ["run", "-c", "job.yaml", "-o", "new", "--dry-run"],
                       ["sample", "s.h5", "--sampler", rng.choice(["uniform", "knn", "gcbs", "mined"]), "-b", "8", "-o", case.out("o.npy")],
                       ["import", "-e", "rows.npy", "--teacher", "s.h5", "-o", case.new("o.h5")],
                       ["import", "-e", "rows.npy", "--view1", "rows.npy", "--view2", "rows.npy", "--step", "900", "-o", "s.h5"]])


def use_results(case):
    return case.rng.choice([["compare", "r.h5", "good.h5"], ["compare", "good.h5", "r.h5", "--junit", case.out("o.xml")],
                            ["export", "r.h5", "-o", case.out("o.csv")], ["merge", "r.h5", "good.h5", "-o", case.out("o.h5")],
                            ["compare", "--history", "."], ["report", "r.h5", "-o", case.out("o.html")]])


def make_snapshot(case):
    spoil_file(case.rng, case.path("s.h5"))
    case.words = use_snapshot(case)


def make_retrieval(case):
    rng = case.rng
    if rng.random() < 0.2:
        spoil_bytes(rng, case.path(rng.choice(["query.jsonl", "corpus.jsonl", "judged.tsv", "queries.npy"])))
        case.words = ["import", "--queries", "queries.npy", "--corpus", "rows.npy", "--query-ids", "query.jsonl", "--corpus-ids", "corpus.jsonl",
                      "--qrels", "judged.tsv", "-o", case.new("o.h5")]
        return
    spoil_file(rng, case.path("q.h5"))
    case.words = rng.choice([["mine", "q.h5", "-n", "2", "-o", case.out("o.jsonl")], ["evaluate", "q.h5", "--k", "1,3"], ["price", "q.h5", "-n", "2"],
                             ["price", "q.h5", "--sheet", "5", "-o", case.out("o.tsv")], ["overlap", "q.h5", "q.h5"], ["validate", "q.h5"],
                             ["info", "q.h5"], ["sample", "q.h5", "--sampler", "knn", "-b", "4", "-o", case.out("o.npy")]])


def make_results(case):
    shutil.copy(case.path("r.h5"), case.path("good.h5"))
    spoil_file(case.rng, case.path("r.h5"))
    case.words = use_results(case)


def make_cells(case):
    """Cells of a run that is given again, with checksums that fit most of the time."""
    rng = case.rng
    cells = sorted(os.listdir(case.path("r/cells")))
    for name in rng.sample(cells, rng.randint(1, min(2, len(cells)))):
        spoil_bytes(rng, case.path(f"r/cells/{name}"))
        if rng.random() < 0.8:
            seal(case.path(f"r/cells/{name}"))
    case.words = rng.choice([["run", "-c", "job.yaml", "-o", "r"], ["run", "-c", "job.yaml", "-o", "r", "--dry-run"], ["status", "r"],
                             ["run", "-c", "job.yaml", "-o", "r", "--shard", "1/2"]])


def odd_text(rng, text):
    """A text of YAML that is wrong, deep, long, or odd."""
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(TEXTS)
    if kind == 1:
        return "[" * rng.choice([3, 300, 30000])
    if kind == 2:
        return "a: &a [x, x, x, x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [" + ", ".join([f"*{chr(97 + i)}"] * 9) + "]\n" for i in range(12))
    if kind == 3:
        return text.replace("uniform", rng.choice(["nope", "hops", "{given: {file: /dev/zero}}", "{command: {run: [sh, -c, 'touch ran']}}"]))
    lines = text.splitlines(keepends=True)
    if kind == 4:
        at = rng.randrange(len(lines))
        lines[at] = lines[at].split(":")[0] + ": " + draw_value(rng) + "\n"
        return "".join(lines)
    rng.shuffle(lines)
    return "".join(lines)


def make_config(case):
    """Results whose stored job is odd."""
    rng = case.rng
    shutil.copy(case.path("r.h5"), case.path("good.h5"))
    if spoiling:
        with h5py.File(case.path("r.h5"), "r+") as f:
            name = rng.choice(["config", "config", "config", "title", "argv", "status"])
            f.attrs[name] = odd_text(rng, f.attrs[name]).replace("\0", "")
        seal(case.path("r.h5"))
    case.words = rng.choice([["reproduce", "--all", "--results", "r.h5"], ["reproduce", "mine", "--results", "r.h5", "--claims", "claims.yaml", "--json"],
                             ["reproduce", "--all", "--results", "r.h5", "--against", "good.h5"], ["report", "r.h5", "-o", case.out("o.html")],
                             ["plot", "r.h5", "-o", "new"], ["merge", "r.h5", "good.h5", "-o", case.out("o.h5")],
                             ["compare", "r.h5", "good.h5"], ["export", "r.h5", "--csv"], ["paper", "r.h5", "-o", "new"]])


def same_job(rng, text):
    """The same job in another dress of YAML."""
    if not spoiling:
        return text
    lines = text.splitlines()
    for _ in range(rng.randint(1, 3)):
        change, at = rng.randrange(9), rng.randrange(len(lines))
        key, _, value = lines[at].partition(": ")
        if change == 0:
            lines[at] = f'"{key}": {value}'
        elif change == 1:
            lines[at] = f"{key}:   {value}   # a note: with {{signs}} [and] 'quotes'"
        elif change == 2:
            lines.insert(at, rng.choice(["", "   ", "# nothing", "#\ttab"]))
        elif change == 3 and value:
            lines[at] = f"{key}: &n{at} {value}"
        elif change == 4:
            rng.shuffle(lines)
        elif change == 5 and value and not value.startswith("["):
            lines[at] = f"{key}:\n  {value}"
        elif change == 6:
            lines[at] = f"? {key}\n: {value}" if value and "\n" not in lines[at] and not lines[at].startswith(("#", "?")) else lines[at]
        elif change == 7 and key == "version":
            lines[at] = rng.choice(["version: !!int 1", "version: \"1\"", "version: 0x1", "version: 1.0", "version: +1"])
        elif change == 8 and value.startswith("["):
            lines[at] = f"{key}:" + "".join(f"\n- {word.strip()}" for word in value.strip("[]").split(","))
    text = "\n".join(lines) + rng.choice(["", "\n", "\n\n...\n", "\n# end"])
    text = rng.choice([text, text, text.replace("\n", "\r\n"), "\ufeff" + text, "---\n" + text, "%YAML 1.1\n---\n" + text, "{" + ", ".join(text.split("\n")) + "}"])
    return text


def make_yaml(case):
    with open(case.path("job.yaml"), encoding="utf-8") as f:
        text = f.read()
    with open(case.path("job.yaml"), "w", encoding="utf-8", newline="") as f:
        f.write(same_job(case.rng, text))
    case.words = ["run", "-c", "job.yaml", "-o", "new", "--dry-run"]


def make_race(case):
    """Something befalls a folder or file while the command runs."""
    rng = case.rng
    os.mkdir(case.path("other"))
    with open(case.path("other/mine"), "wb") as f:
        f.write(OLD)
    case.words = rng.choice([["run", "-c", "job.yaml", "-o", "new", "--set", "batches=40", "--set", "seeds=[1, 2, 3, 4, 5, 6]", "--set", "figures=[]"],
                             ["report", "r.h5", "-o", "new.html"], ["plot", "r.h5", "-o", "new"], ["run", "-c", "job.yaml", "-o", "r", "--fresh"],
                             ["import", "-e", "rows.npy", "--view1", "rows.npy", "--view2", "rows.npy", "--step", "900", "-o", "s.h5"], ["train", "-c", "train.yaml", "-o", "new"],
                             ["sample", "s.h5", "--sampler", "knn", "-b", "8", "--epochs", "300", "-o", "new.npy"]])
    target = case.path(rng.choice(["new", "new", "new/cells", "r", "r/cells", "s.h5", "r.h5", "job.yaml"]))
    deed = rng.randrange(5)

    def befall():
        if deed == 0:
            shutil.rmtree(target) if os.path.isdir(target) else os.remove(target)
        elif deed == 1:
            os.rename(target, target + "-gone")
        elif deed == 2:
            os.rename(target, target + "-gone")
            os.symlink(case.path("other"), target)
        elif deed == 3 and os.path.isfile(target):
            os.truncate(target, os.path.getsize(target) // 2)
        else:
            os.chmod(target, 0)
    case.during, case.delay = befall, rng.choice([0.005, 0.02, 0.05, 0.1])


def make_array(case):
    rng = case.rng
    name = rng.choice(["x.npy", "y.npy"])
    if spoiling and rng.random() < 0.5:
        shape = rng.choice([(), (0,), (24,), (24, 4), (0, 4), (24, 0), (3, 2, 2), (1, 1, 1, 1, 1), (24, 5), (23, 4)])
        kind = rng.choice(["f2", "f4", "f8", ">f4", "i1", "i8", "u8", "b1", "c8", "U3", "S2"])
        np.save(case.path(name), np.full(shape, rng.choice([0, 1]), kind))
    else:
        spoil_bytes(rng, case.path(name))
    case.words = ["import", "-e", "x.npy", "-l", "y.npy", *rng.choice([[], ["--view2", "x.npy"], ["--type", "float16"]]), "-o", case.new("o.h5")]


def make_format(case):
    rng = case.rng
    with open(case.path("ways.json"), encoding="utf-8") as f:
        words = rng.choice(json.load(f))
    name = rng.choice([w for w in words if os.path.exists(case.path(w))])
    for _ in range(rng.randint(1, 2)):
        spoil_bytes(rng, case.path(name))
    more = [] if not spoiling else rng.choice([[], [], [], ["--zero-rows", "skip"], ["--tensor", rng.choice(TEXTS[1:])], ["--format", rng.choice(["tsv", "npz", "bin"])],
                       ["--raw", "float16", "--dim", rng.choice(["1", "3", "1048576"])], ["--view2", words[0]], ["--memory", "1M"]])
    case.words = ["import", "-e", *words, *more, "-o", case.new("o.h5")]


def make_text(case):
    rng = case.rng
    name = rng.choice(["linqs/a.features", "linqs/a.edges", "linqs/a.split", "names.txt"])
    for _ in range(rng.randint(1, 3)):
        spoil_bytes(rng, case.path(name))
    if spoiling and rng.random() < 0.2:
        os.remove(case.path(name))
        rng.choice([os.mkfifo, os.mkdir])(case.path(name))
    case.words = (["import", "-e", "x.npy", "-l", "y.npy", "--label-names", "names.txt", "--title", rng.choice(TEXTS[1:]), "-o",
                   case.new("o.h5")] if name == "names.txt" else ["import", "--linqs", "linqs", "-o", case.new("o.h5")])


def make_extras(case):
    """Labels, several of them an item, their names, groups, a teacher: of a new file, or added to one."""
    rng = case.rng
    files = ["t.npy", "groups.txt", "several.txt"]
    for name in rng.sample(files, rng.randint(1, 2)):
        spoil_bytes(rng, case.path(name))
    extras = [["--teacher", "t.npy"], ["--group", "groups.txt"], ["--teacher", rng.choice(["groups.txt", "rich.h5", "rows.npy"])],
              ["--group", rng.choice(["t.npy", "several.txt", "rows.npy"])]]
    more = sum(rng.sample(extras, rng.randint(1, 2)), [])
    if not spoiling:
        case.words = ["import", "-e", "rows.npy", "-l", "several.txt", "--label-separator", "|", "--teacher", "t.npy", "--group", "groups.txt", "-o", case.out("o.h5", 0)]
        return
    if rng.random() < 0.3:
        case.words = ["import", *more, "-o", "s.h5"]
        return
    separator = rng.choice(["|", "|", "|", "|", "|", "", " ", "||", "l", "\n", "\u202e", "a" * 300])
    case.words = ["import", "-e", "rows.npy", "-l", rng.choice(["several.txt", "groups.txt", "rows.npy"]), "--label-separator", separator, *more,
                  *rng.choice([[], ["--zero-rows", "skip"], ["--label-tensor", rng.choice(["a,b", ",", "a,", TEXTS[2]])],
                               ["--label-names", "groups.txt"]]), "-o", case.new("o.h5")]


def make_rich(case):
    """A snapshot with a teacher, groups and label sets, and samplers that want them."""
    rng = case.rng
    spoil_file(rng, case.path("rich.h5"))
    sampler = rng.choice(["grit", "{tas-b: {space: teacher, cluster: 6}}", "{b3: {space: teacher, cluster: 4, p: 2, m: 4}}", "cde", "mosaic",
                          "{ngame: {cluster: 4}}", "{osgd: {drawn: 6, kept: 2}}", "stratified", "hard-negative", "{mined: {R: 8, n: 2}}"])
    case.words = rng.choice([["sample", "rich.h5", "--sampler", sampler, "-b", "8", "-o", case.out("o.npy")], ["validate", "rich.h5"],
                             ["info", "rich.h5"], ["import", "-e", "rows.npy", "--step", "9", "-o", "rich.h5"],
                             ["run", "-c", "job.yaml", "--set", "snapshots=rich.h5", "--set", f"samplers=[{sampler}]", "-o", "new"]])


def make_sheet(case):
    rng = case.rng
    name = rng.choice(["lines.txt", "order.npy", "rich.h5"])
    spoil_file(rng, case.path(name)) if name == "rich.h5" else spoil_bytes(rng, case.path(name))
    where = ["--texts", "lines.txt"] if not spoiling else rng.choice(
        [["--texts", "lines.txt"], ["--texts", "lines.txt"], ["--images", "linqs", "--order", "order.npy"], ["--texts", "rich.h5"]])
    more = [] if not spoiling else rng.choice([[], [], ["--anchor", rng.choice(NUMBERS)], ["--top", rng.choice(NUMBERS)], ["--sampler", draw_value(rng)],
                       ["--step", rng.choice(NUMBERS)], ["-b", rng.choice(NUMBERS)], ["--seed", rng.choice(NUMBERS)]])
    case.words = ["sheet", "rich.h5", *where, "-b", "8", *more, "-o", case.out("o.html")]


def make_choose(case):
    rng = case.rng
    if rng.random() < 0.5:
        spoil_file(rng, case.path("rich.h5"))
    case.words = ["choose", "rich.h5", "--batch-size", "8", "--seeds", "1", "--batches", "4", "--checks", "0"]
    for _ in range(rng.randint(0, 2) if spoiling else 0):
        option = rng.choice(["--max-fn", "--max-cost", "--step-ms", "--goal", "--classes", "--prior", "--step", "--checks", "--seed", "--threads"])
        case.words += [option, rng.choice(NUMBERS if option != "--threads" else ["0", "-1", "2", "x", "1.5"])]
    if spoiling and rng.random() < 0.3:
        with open(case.path("grid.yaml"), "w", encoding="utf-8") as f:
            f.write(f"version: 1\nsamplers: {draw_value(rng)}\n")
        spoil_bytes(rng, case.path("grid.yaml"))
        case.words += ["-c", "grid.yaml"]


def make_claims(case):
    rng = case.rng
    if rng.random() < 0.7:
        spoil_bytes(rng, case.path("claims.yaml"))
    if rng.random() < 0.5:
        spoil_file(rng, case.path("r.h5"))
    case.words = ["reproduce", "mine", "--results", "r.h5", "--claims", "claims.yaml", *rng.choice([[], ["--json"], ["--against", "r.h5"]])]


def make_training(case):
    rng = case.rng
    spoil_bytes(rng, case.path(rng.choice(["train.yaml", "linqs/a.features", "linqs/a.edges", "linqs/a.split"])))
    case.words = ["train", "-c", "train.yaml", "-o", "new", "--workers", "1"]
    for _ in range(rng.randint(0, 2) if spoiling else 0):
        key = rng.choice(["batch_size", "loss", "temperature", "rebuild", "seeds", "samplers", "weightings", "adam.rate", "snapshots.every", "unknown"])
        case.words += ["--set", f"{key}={draw_value(rng)}".replace("\0", "")]
    if rng.random() < 0.6:
        case.words.append("--dry-run")


KEYS = ["version", "snapshots", "batch_size", "batches", "epochs", "seeds", "samplers", "metrics", "figures", "steps", "loss",
        "weightings", "temperature", "timing", "timing.reps", "timing.warmup", "limits.memory", "limits", "unknown"]
SAMPLERS = {"uniform": ["draw"], "knn": [], "batchsampler": ["M", "K", "alpha", "t", "cap", "tile", "walk", "start", "graph"],
            "gcbs": ["quantile", "keep", "t"], "hard-negative": [], "stratified": [], "mined": [], "hops": [], "ring": ["n", "space"],
            "random-negatives": ["n"], "mosaic": ["pool", "a", "lambda", "b", "kappa", "sweeps", "group"], "ngame": ["cluster", "iterations", "t"],
            "osgd": ["drawn", "kept", "tau"], "grit": [], "tas-b": ["space", "cluster", "topics", "iterations", "t"],
            "cde": ["space", "cluster", "pack", "iterations"], "b3": ["space", "p", "m", "edges", "cluster", "sweeps"]}


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
    for _ in range(rng.randint(0, 3) if spoiling else 0):
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


KINDS = {"snapshot": make_snapshot, "retrieval": make_retrieval, "results": make_results, "array": make_array, "format": make_format, "text": make_text, "job": make_job,
         "extras": make_extras, "rich": make_rich, "sheet": make_sheet, "choose": make_choose, "claims": make_claims, "training": make_training,
         "cells": make_cells, "config": make_config, "yaml": make_yaml, "race": make_race,
         "command": make_command, "environment": make_environment, "place": make_place}
NO_BASE = {"race", "command", "environment", "place"} # of all others every case is accepted whose files are left whole
