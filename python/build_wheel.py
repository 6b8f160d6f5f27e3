# SPDX-License-Identifier: GPL-3.0-or-later
"""The build backend of pyproject.toml (PEP 517): a wheel is the module with libhardneg.so inside, and the program
hardneg for the PATH, which `make` has built or is asked to; a source archive is the tree, to build a wheel of.
`python3 python/build_wheel.py FOLDER` writes the wheel there (`make wheel`). Libraries are the system's: hardneg needs
GSL, nettle, OpenBLAS and OpenMP of the release that the wheel was built on."""
import base64
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
LIBRARY = os.environ.get("HARDNEG_LIBRARY", os.path.join(ROOT, "build", "libhardneg.so"))
MODULE = sorted(name for name in os.listdir(os.path.join(HERE, "hardneg")) if name.endswith((".py", ".typed")))
PROGRAM = os.path.join(os.path.dirname(LIBRARY), "hardneg")


def _read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def _version():
    return re.search(r'hn_version\[\] = "(.*)";', _read(ROOT, "core", "context.c").decode()).group(1)


def _metadata(version):
    return (f"""Metadata-Version: 2.4
Name: hardneg
Version: {version}
Summary: Mini-batches and negatives for contrastive learning, and what batches are like
Author: The hardneg authors
License-Expression: GPL-3.0-or-later
License-File: LICENSE
Requires-Python: >=3.8
Requires-Dist: numpy
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

""").encode() + _read(HERE, "README.md")


def _files(version, tag):
    info = f"hardneg-{version}.dist-info"
    for name in MODULE:
        yield f"hardneg/{name}", _read(HERE, "hardneg", name)
    yield "hardneg/libhardneg.so", _read(LIBRARY)
    yield f"hardneg-{version}.data/scripts/hardneg", _read(PROGRAM)  # on the PATH, which compare() runs
    yield f"{info}/licenses/LICENSE", _read(ROOT, "LICENSE")
    yield f"{info}/METADATA", _metadata(version)
    yield f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: hardneg\nRoot-Is-Purelib: false\nTag: {tag}\n").encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    if not os.path.exists(LIBRARY) or not os.path.exists(PROGRAM):
        subprocess.run(["make", "-C", ROOT, f"-j{os.cpu_count()}", "DEPS=0", "build/libhardneg.so", "build/hardneg"],
                       check=True, stdout=sys.stderr)
    version = _version()
    tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    name = f"hardneg-{version}-{tag}.whl"
    record = ""
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in _files(version, tag):
            # The same files give the same wheel: no dates.
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if "/scripts/" in path else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
        path = f"hardneg-{version}.dist-info/RECORD"
        wheel.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), record + f"{path},,\n")
    return name


def _sources():
    """Of the tree: what git has, else all but what was built."""
    listed = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "ls-files", "-z", "."],
                            capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return sorted(os.fsdecode(f) for f in listed.stdout.split(b"\0") if f)
    kept = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f != "__pycache__" and not (folder == ROOT and f.startswith("build"))]
        kept += [os.path.relpath(os.path.join(folder, f), ROOT) for f in files]
    return sorted(kept)


def build_sdist(sdist_directory, config_settings=None):
    """The tree, with this pyproject.toml and the metadata at its top. The same sources give the same bytes."""
    version = _version()
    top, packed = f"hardneg-{version}", io.BytesIO()
    project = _read(HERE, "pyproject.toml").replace(b'backend-path = ["."]', b'backend-path = ["python"]')
    project = project.replace(b'readme = "README.md"', b'readme = "python/README.md"')
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as stream, \
            tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        files = [(f, _read(ROOT, f), os.access(os.path.join(ROOT, f), os.X_OK)) for f in _sources()
                 if os.path.isfile(os.path.join(ROOT, f)) and f not in ("PKG-INFO", "pyproject.toml")]
        for path, data, executable in [("PKG-INFO", _metadata(version), False), ("pyproject.toml", project, False)] + files:
            entry = tarfile.TarInfo(f"{top}/{path}")
            entry.size, entry.mode = len(data), 0o755 if executable else 0o644
            tar.addfile(entry, io.BytesIO(data))
    with open(os.path.join(sdist_directory, top + ".tar.gz"), "wb") as out:
        out.write(packed.getvalue())
    return top + ".tar.gz"


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
