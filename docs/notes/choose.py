#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`hardneg choose` held against the full grid, whose every setting is measured with all seeds: the tables of
docs/notes/choose.md.

    choose.py [--seeds N] HARDNEG FILE BATCH FOLDER BUDGET...

FILE: a snapshot; BATCH: items of a batch; BUDGET: shares of false negatives. N: seeds of the full grid (20); with fewer its cost is multiplied up to
20, which is what `choose` has at the end. What was run is kept in FOLDER and not run again.
Needs h5py, numpy and scipy."""
import json
import os
import re
import resource
import subprocess
import sys

import h5py
import numpy as np
from scipy import stats

SEEDS = 20         # of the settings that choose has left at the end
FIRST = 101        # of the full grid; choose begins at 1
DRAWN = 64         # batches of a seed, where an epoch is no partition: choose's default
GOALS = (("hardness", "mean cosine of true negatives"), ("hardest", "hardest true negative"))


def spent(folder, name, command):
    """The output of a command, and the processor time that it took: run once."""
    path = f"{folder}/{name}.json"
    if not os.path.exists(path):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"seconds": seconds, "out": out}, file)
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)
    return kept["out"], kept["seconds"]


def choose(program, file, batch, folder, goal, budget):
    out, seconds = spent(folder, f"choose-{goal}-{budget}",
                         [program, "choose", file, "-b", str(batch), "--goal", goal, "--max-fn", str(budget),
                          "--seeds", str(SEEDS), "--checks", "0", "--json", "-q"])
    found = json.loads(out)
    found["seconds"] = seconds
    found["dots"] = sum(s["dots"] * s["batches"] for s in found["settings"] if s["dots"])
    return found


def partitions(program):
    out = subprocess.run([program, "list", "samplers", "--json"], check=True, stdout=subprocess.PIPE).stdout
    return {s["name"] for s in json.loads(out)["samplers"] if "partition" in s["flags"]}


def job(file, batch, length, lines, seeds):
    return (f"version: 1\nsnapshots: {os.path.abspath(file)}\nbatch_size: {batch}\n{length}\n"
            f"seeds: [{', '.join(str(FIRST + s) for s in range(seeds))}]\n"
            "metrics: [fn_ratio, histogram, hardness]\nfigures: none\n"
            "samplers:\n" + "".join(f"  - {line}\n" for line in lines))


def last_step(file):
    with h5py.File(file) as f:
        return int(f["step"][-1]) if "step" in f else 0


def run_grid(program, file, batch, folder, settings, seeds):
    """Per line of a job: [seeds x (mean, hardest, false negatives)]; processor time and products of all of it."""
    value, seconds, dots = {}, 0.0, 0.0
    whole = partitions(program)
    for name, length, some in (("epochs", "epochs: 1", [s for s in settings if s["sampler"] in whole]),
                               ("batches", f"batches: {DRAWN}", [s for s in settings if s["sampler"] not in whole])):
        path = f"{folder}/{name}.yaml"
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as out:
                out.write(job(file, batch, length, [s["job"] for s in some], seeds) + f"steps: [{last_step(file)}]\n")
        with open(path, encoding="utf-8") as kept:
            lines = [line[4:-1] for line in kept if line.startswith("  - ")]
        assert sorted(lines) == sorted(s["job"] for s in some), f"{path} is of another grid"
        some = [next(s for s in some if s["job"] == line) for line in lines]
        seconds += spent(folder, name, [program, "run", "-c", path, "-o", f"{folder}/{name}", "-q"])[1]
        with h5py.File(f"{folder}/{name}/results.h5") as f:
            runs, kind = f["runs"], [k.decode() for k in f["hist/kind"][:]].index("true_negative")
            count, middle = f["hist/counts"][:, kind, :].astype(float), f["hist/bin"][:]
            sampler, params, seed = [[v.decode() if isinstance(v, bytes) else v for v in runs[c][:]]
                                     for c in ("sampler", "params", "seed")]
            assert all(status == b"ok" for status in runs["status"][:]), f"{name}: a cell has failed"
            rows = np.stack([count @ middle / count.sum(1), runs["hard_true_mean"][:], runs["fn_ratio"][:]], 1)
            dots += runs["n_dot"][:].sum()
        assert len(rows) == len(some) * seeds, f"{name}: {len(rows)} cells"
        for i, s in enumerate(some):  # cells come in the order of the job
            at = slice(i * seeds, (i + 1) * seeds)
            assert set(sampler[at]) == {s["sampler"]} and len(set(params[at])) == 1
            assert list(seed[at]) == list(range(FIRST, FIRST + seeds))
            given = re.findall(r"(\w+): ([\w.]+)", s["job"].partition(": ")[2])
            assert all(f"{k}={v}" in params[at][0].split(", ") for k, v in given), (s["job"], params[at][0])
            value[s["job"]] = rows[at]
    return value, seconds * SEEDS / seeds, dots * SEEDS / seeds


def interval(x):
    return x.mean(), stats.t.ppf(0.975, len(x) - 1) * x.std(ddof=1) / np.sqrt(len(x))


def compare(value, found, which, budget):
    """Line of the table, and whether the choice is within the interval of the grid's best: "yes", "no", or "on the edge"
    where the best lies on the edge of the budget by the grid's own interval and choose names it so."""
    chosen = next(s["job"] for s in found["settings"] if s["fate"] == "chosen") if found["found"] else None
    inside = {line: rows for line, rows in value.items() if rows[:, 2].mean() <= budget}
    best = max(inside, key=lambda line: inside[line][:, which].mean())
    if chosen is None:
        return [budget, best, "none", "", "", "no"]
    behind, half = interval(value[best][:, which] - value[chosen][:, which])
    fn, fn_half = interval(100 * value[chosen][:, 2])
    far = value[best][:, which].mean() - value["uniform"][:, which].mean()
    within = chosen == best or (behind - half <= 0 and fn - fn_half <= 100 * budget)
    best_fn, best_half = interval(100 * value[best][:, 2])
    named = any(s["job"] == best and s["rival"] for s in found["settings"]) and best_fn + best_half > 100 * budget
    return [budget, best, "the same" if chosen == best else chosen,
            "0" if chosen == best else f"{behind:.4f} ± {half:.4f}, {100 * behind / far:.1f} %",
            f"{fn:.2f} ± {fn_half:.2f}", "yes" if within else "on the edge" if named else "no"]


def main():
    words, seeds = sys.argv[1:], SEEDS
    if words[0] == "--seeds":
        seeds, words = int(words[1]), words[2:]
    program, file, batch, folder = words[0], words[1], int(words[2]), words[3]
    budgets = [float(b) for b in words[4:]]
    os.makedirs(folder, exist_ok=True)
    found = {(goal, b): choose(program, file, batch, folder, goal, b) for goal, _ in GOALS for b in budgets}
    settings = [s for s in next(iter(found.values()))["settings"] if s["fate"] != "failed"]
    value, seconds, dots = run_grid(program, file, batch, folder, settings, seeds)
    print(f"### {os.path.basename(file)}, B = {batch}\n\n{len(settings)} settings, {seeds} seeds; for {SEEDS} seeds {seconds:.0f} s "
          f"of processor time, {dots:.3g} products; uniform {100 * value['uniform'][:, 2].mean():.2f} % false negatives\n")
    print("| goal | budget | the grid's best | choose's | behind, of what the best is over Uniform | its false negatives (%) "
          "| within | time | products | seeds |\n" + "|" + " --- |" * 10)
    for which, (goal, title) in enumerate(GOALS):
        for b in budgets:
            f = found[goal, b]
            cells = [title] + compare(value, f, which, b)
            cells += [f"{100 * f['seconds'] / seconds:.1f} %", f"{100 * f['dots'] / dots:.1f} %", f["work"]["units"]]
            print("| " + " | ".join(str(c) for c in cells) + " |")
    print()


if __name__ == "__main__":
    main()
