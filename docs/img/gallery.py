#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of docs/guide/gallery.md and tutorial.md, from the shipped series: docs/img/gallery.py PROGRAM DEMO

DEMO is the folder of `make demo`. The tutorial's commands are run as they stand there, in a folder of its own. Needs chromium and
python3-h5py; `make gallery` calls it."""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs/img/gallery"


def picture(name, width, height, address, work):
    out = GALLERY / (name + ".png")
    out.unlink(missing_ok=True)
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
                    "--allow-file-access-from-files", f"--user-data-dir={work}/profile", f"--window-size={width},{height}",
                    f"--screenshot={out}", address], check=True, timeout=120, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not out.exists():
        sys.exit(f"gallery.py: chromium drew no {out}")
    print(out.relative_to(ROOT), out.stat().st_size)


def figures(demo, work):
    """560 pixels wide; fronts, of a row for each measure and file, is for the page, and gc-fig1 is docs/img's."""
    for svg in sorted((demo / "figures").glob("*.svg")):
        if svg.stem not in ("fronts", "gc-fig1"):
            width, height = map(int, re.search(r'viewBox="0 0 (\d+) (\d+)"', svg.read_text()).groups())
            page = work / "one.html"
            page.write_text(f'<body style="margin:0"><img src="{svg}" style="width:560px">')
            picture(svg.stem, 560, round(560 * height / width), page.as_uri(), work)


def tutorial(program, work):
    text = (ROOT / "docs/guide/tutorial.md").read_text()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)
    (work / "mine.yaml").write_text(next(body for kind, body in blocks if kind == "yaml"))
    (work / "build").mkdir()
    (work / "build/hardneg").symlink_to(program)
    (work / "datasets").symlink_to(ROOT / "datasets")
    arrays, training = (body for kind, body in blocks if kind == "python")
    subprocess.run(["/usr/bin/python3", "-c", arrays], cwd=work, check=True)
    for command in re.findall(r"^    (build/hardneg .*)$", text, re.M):
        print(command, flush=True)
        subprocess.run(command.split("  #")[0], cwd=work, check=True, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    compile(training, "tutorial.md", "exec")
    page = (work / "results/mine/index.html").as_uri()
    picture("first-screen", 1100, 560, page, work)
    picture("highlight", 1100, 560, page + "#measure=hardest&highlight=mosaic", work)


def main():
    program, demo = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    GALLERY.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        figures(demo, pathlib.Path(work))
        tutorial(program, pathlib.Path(work))


main()
