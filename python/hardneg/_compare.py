# SPDX-License-Identifier: GPL-3.0-or-later
"""compare() and record(): samplers of one's own beside hardneg's. The statistics are those of the program, which is run."""
from __future__ import annotations

import csv
import html
import html.parser
import importlib
import io
import json
import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Union

import numpy as np

from ._arrays import Array, Matrix, checked_texts, floats, numbers, padded, path_text, several

Batches = Callable[[Any, int, int, int], Any]  # of x, batch_size, seed, epoch: lists of places in x
SHOWN = {"fn_ratio": "False negatives", "fn_ratio_minus_uniform": "– Uniform", "true_mean": "Mean true negative",
         "hard_true_mean": "Hardest true negative", "cost_g": "Cost_G (s)"}

AXES = {"step": "Step", "batch_size": "Batch size", "loss": "Loss", "weighting": "Weighting", "temperature": "Temperature"}  # shown where they vary


def program() -> str:
    """In a wheel beside the interpreter, in the build folder of a checkout, or on the PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    wanted = os.environ.get("HARDNEG_PROGRAM")
    places: List[Optional[str]] = [wanted] if wanted else [
        os.path.join(here, "..", "..", "build", "hardneg"), os.path.join(sysconfig.get_path("scripts"), "hardneg"),
        shutil.which("hardneg")]
    for place in places:
        if place and os.access(place, os.X_OK):
            return os.path.abspath(place)
    raise FileNotFoundError("compare() runs the program hardneg, which is not on the PATH: install it (make install, or a "
                            "wheel), or name it in HARDNEG_PROGRAM")


def _run(folder: str, *arguments: str) -> str:
    done = subprocess.run([program(), *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode:
        lines = [re.sub(r"^hardneg \w+: (data\.h5: |job\.yaml:\d+:\d+: )?", "", line) for line in done.stderr.splitlines()
                 if not line.startswith("note: ")]
        raise ValueError("\n".join(lines) or f"hardneg {arguments[0]} ended with code {done.returncode}")
    return done.stdout


class _Answer(html.parser.HTMLParser):
    """The first section of a report, for its first measure of hardness, as lines of text."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.left_out = 0  # open elements of what is left out
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        have = dict(attrs)
        if tag == "section":
            self.inside, self.left_out = have.get("class") == "answer", 0
        elif self.inside and tag not in ("br", "input", "img"):
            other = (have.get("data-measure") not in (None, "0") or have.get("class") in ("measure", "front")
                     or "hidden" in have)
            self.left_out += 1 if self.left_out or other else 0
        if tag in ("p", "li", "tr"):
            self.text += "\n"
        if tag in ("td", "th"):
            self.text += "  "

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "section"
        self.left_out = max(0, self.left_out - 1)

    def handle_data(self, data: str) -> None:
        if self.inside and not self.left_out:
            self.text += data


class Comparison:
    """settings    columns by name, a row for each setting: means, intervals, differences to Uniform (a DataFrame where
                pandas is there)
    answer      what the report says first
    report(path), save(folder)    the page; results.h5, the job and the data, for the command line"""

    def __init__(self, folder: "tempfile.TemporaryDirectory[str]") -> None:
        self._folder = folder
        rows = list(csv.DictReader(io.StringIO(_run(folder.name, "export", "results", "--csv", "--table", "settings"))))
        columns: Dict[str, List[Any]] = {name: [_value(row[name]) for row in rows] for name in (rows[0] if rows else {})}
        try:
            self.settings: Any = importlib.import_module("pandas").DataFrame(columns)
        except ImportError:
            self.settings = columns

    @property
    def answer(self) -> str:
        parser, path = _Answer(), os.path.join(self._folder.name, "answer.html")
        self.report(path)
        with open(path, encoding="utf-8") as page:
            parser.feed(page.read())
        return "\n".join(re.sub(r"\s{2,}", "  ", line.strip()) for line in parser.text.splitlines() if line.strip())

    def report(self, path: Any) -> None:
        _run(self._folder.name, "report", "results", "-q", "-o", os.path.abspath(path_text(path, "path")))

    def save(self, folder: Any) -> None:
        """The folder must not be there yet. `hardneg report FOLDER/results` reads what is in it."""
        shutil.copytree(self._folder.name, path_text(folder, "folder"), ignore=shutil.ignore_patterns("answer.html"))

    def _table(self) -> List[List[str]]:
        names = list(self.settings["sampler"])
        options = [text if isinstance(text, str) else "" for text in self.settings["params"]]
        kinds = {name: {o for n, o in zip(names, options) if n == name} for name in names}
        first = [f"{n} {o}" if len(kinds[n]) > 1 else n for n, o in zip(names, options)]
        axes = {name: list(self.settings[name]) for name in AXES if name in self.settings}
        axes = {name: values for name, values in axes.items() if any(value != values[0] for value in values)}
        shown = {name: list(self.settings[name]) for name in SHOWN if name in self.settings}
        return [["Sampler", *(AXES[name] for name in axes), *(SHOWN[name] for name in shown)]] + [
            [first[i], *(_shown(values[i]) for values in (*axes.values(), *shown.values()))] for i in range(len(first))]

    def __repr__(self) -> str:
        table = self._table()
        widths = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
        return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip() for row in table)

    def _repr_html_(self) -> str:
        head, *rows = [[html.escape(text) for text in row] for row in self._table()]
        lines = "".join(f"<tr><th>{row[0]}</th>" + "".join(f"<td>{text}</td>" for text in row[1:]) + "</tr>" for row in rows)
        return "<table><tr>" + "".join(f"<th>{text}</th>" for text in head) + f"</tr>{lines}</table>"


def _value(text: str) -> Any:
    try:
        return float(text) if text else float("nan")
    except ValueError:
        return text


def _shown(value: Any) -> str:
    return "" if value != value else f"{value:.4g}" if isinstance(value, float) else str(value)


def _lists(batches: Any) -> List[List[int]]:
    found = [np.asarray(batch).tolist() for batch in batches]
    return [[i for i in batch if i != -1] for batch in found]


def _draw(path: str, name: str, draw: Batches, x: Any, batch_size: int, seed: int, epochs: int) -> None:
    """Writes the batches of all epochs, [epochs, batches, batch_size]."""
    drawn = []
    for epoch in range(epochs):
        ids, call = draw(x, batch_size, seed, epoch), f"{name}(x, {batch_size}, {seed}, {epoch})"
        try:
            ids = padded(ids)
        except (TypeError, ValueError) as why:
            raise ValueError(f"{call}: an epoch's batches are wanted, lists of places in x: {why}") from None
        if ids.shape[1] != batch_size:
            raise ValueError(f"{call}: its batches hold up to {ids.shape[1]} items, and batch_size is {batch_size}")
        drawn.append(ids)
    if len({len(epoch) for epoch in drawn}) > 1:
        raise ValueError(f"{name}: epochs of {', '.join(str(len(epoch)) for epoch in drawn)} batches: epochs have as many batches each")
    np.save(path, np.stack(drawn))


def _series(x: Any) -> List[Any]:
    if getattr(x, "ndim", 2) == 3:
        return list(x)
    return list(x) if isinstance(x, (list, tuple)) and len(x) and getattr(x[0], "ndim", 1) == 2 else [x]


def _write_data(folder: str, x: List[Any], labels: Matrix, view2: List[Any], steps: Sequence[int], zero_rows: str) -> None:
    for i, rows in enumerate(x):
        np.save(os.path.join(folder, "x.npy"), rows)
        arguments = ["--embeddings", "x.npy", "--step", str(int(steps[i]))]
        if view2:
            np.save(os.path.join(folder, "view2.npy"), floats(view2[i], "view2", rows.shape[1]))
            arguments += ["--view2", "view2.npy"]
        lists = several(labels, len(rows)) if labels is not None and i == 0 else None
        if lists:
            np.savez(os.path.join(folder, "labels.npz"), indptr=lists[0], indices=lists[1])
            arguments += ["--labels", "labels.npz", "--label-tensor", "indptr,indices"]
        elif labels is not None and i == 0:
            np.save(os.path.join(folder, "labels.npy"), numbers(labels, len(rows)).astype(np.int64))
            arguments += ["--labels", "labels.npy"]
        _run(folder, "import", *arguments, "--zero-rows", zero_rows, "-o", "data.h5", "-q")


def _unit(x: Any, name: str, zero_rows: str) -> Any:
    if not len(x):
        raise ValueError(f"{name} holds no rows")
    wide = x.astype(np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    if zero_rows == "keep":
        length[length == 0] = 1
    for row in np.flatnonzero(~np.isfinite(length) | (length == 0))[:1]:
        raise ValueError(f"{name}: row {row} " + ("is all zeros, so that cosine is undefined: mend it, leave it out, or give zero_rows=\"keep\""
                                                  if length[row] == 0 else "holds numbers that are not finite: mend it or leave it out"))
    return (wide / length).astype(np.float32)


def compare(x: Array, labels: Matrix = None, samplers: Sequence[Any] = ("uniform", "knn"), *,
            batch_size: Union[int, Sequence[int]] = 256, seeds: Union[int, Sequence[int]] = 5, epochs: int = 1,
            view2: Array = None, steps: Optional[Sequence[int]] = None, zero_rows: str = "refuse", **job: Any) -> Comparison:
    """Compares samplers as `hardneg run` does, with its statistics: the program is run in a temporary folder.

    samplers: names, {name: options}, or {name: function}, a function (x, batch_size, seed, epoch) that returns an epoch's
    batches as lists of places in x, whose rows it gets at unit length; {name: function, "repeats": True} has options of the
    sampler `given`. labels: one an item, or several, in any form that Sampler takes. seeds: a number of seeds, or the seeds. x may be a
    list of arrays, a series over training, whose steps are 0, 1, ... or steps=. zero_rows: "refuse", or "keep": a row of
    zeros has a cosine of 0 to every item. job: other keys of a job file
    (docs/reference/job-file.md): temperature=, weightings=, metrics=, batches= (of a cell, instead of whole epochs) ..."""
    if zero_rows not in ("refuse", "keep"):
        raise ValueError(f"zero_rows {zero_rows!r}: 'refuse' or 'keep'")
    checked_texts({"samplers": samplers, **job}, "compare()")
    series = [floats(rows, "x") for rows in _series(x)]
    views = [] if view2 is None else _series(view2)
    steps = list(range(len(series))) if steps is None else [int(step) for step in steps]
    if len(steps) != len(series) or (views and len(views) != len(series)):
        raise ValueError(f"x has {len(series)} steps, steps= {len(steps)} and view2 {len(views) or 'none'}")
    sizes = [batch_size] if isinstance(batch_size, int) else list(batch_size)
    numbered = list(range(1, seeds + 1)) if isinstance(seeds, int) else list(seeds)
    folder = tempfile.TemporaryDirectory(prefix="hardneg-")
    units = [_unit(rows, "x", zero_rows) for rows in series]
    for size in sizes:
        if isinstance(size, int) and size > len(series[0]):
            raise ValueError(f"batch_size {size} exceeds the {len(series[0])} items")
    _write_data(folder.name, series, labels, views, steps, zero_rows)
    listed: List[Any] = []
    for sampler in samplers:
        own = {name: f for name, f in sampler.items() if callable(f)} if isinstance(sampler, dict) else {}
        options = {key: value for key, value in sampler.items() if key not in own} if own else {}
        listed += [] if own else [sampler]
        for name, draw in own.items():
            for rows, step in zip(units, steps):
                for size in sizes:
                    for seed in numbered:
                        _draw(os.path.join(folder.name, f"{name}-{step}-{size}-{seed}.npy"), name, draw, rows, size, seed, epochs)
            listed.append({"given": {"file": name + "-{step}-{batch_size}-{seed}.npy", "name": name, **options}})
    spec = {"version": 1, "snapshots": ["data.h5"], "batch_size": sizes, **({} if "batches" in job else {"epochs": epochs}),
            "seeds": numbered, "samplers": listed, **job}
    with open(os.path.join(folder.name, "job.yaml"), "w", encoding="utf-8") as out:
        json.dump(spec, out)
    _run(folder.name, "run", "-c", "job.yaml", "-o", "results", "-q")
    return Comparison(folder)


class Recorder:
    """Passes batches through, and writes them to a file of lines that a job takes as `given`; every iteration adds an
    epoch. An epoch that is not finished is left out."""

    def __init__(self, path: Any, batches: Any) -> None:
        self._path, self._batches, self._begun = path_text(path, "path"), batches, False

    def __getattr__(self, name: str) -> Any:  # set_epoch() and others of a batch sampler
        return getattr(self._batches, name)

    def __len__(self) -> int:
        return len(self._batches)

    def __iter__(self) -> Iterator[Any]:
        lines = []
        for batch in self._batches:
            lines.append(json.dumps(_lists([batch])[0]) + "\n")
            yield batch
        with open(self._path, "a" if self._begun else "w", encoding="utf-8") as out:
            out.writelines(lines)
        self._begun = True


def record(path: Any, batches: Any) -> Recorder:
    """for ids in record("mine-1.jsonl", batch_sampler): the same batches, which are written to the file, to be measured by
    `hardneg run` as `given: {file: "mine-{seed}.jsonl", name: mine, per_epoch: ...}`."""
    return Recorder(path, batches)
