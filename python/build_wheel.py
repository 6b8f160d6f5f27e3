"""The build backend of pyproject.toml (PEP 517): a wheel is the module with libhardneg.so inside, and the program
hardneg for the PATH, which `make` has built. `python3 python/build_wheel.py FOLDER` writes it there (`make wheel`)."""
import base64
import ctypes
import hashlib
import os
import sys
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.environ.get("HARDNEG_LIBRARY", os.path.join(HERE, "..", "build", "libhardneg.so"))
MODULE = sorted(name for name in os.listdir(os.path.join(HERE, "hardneg")) if name.endswith((".py", ".typed")))
PROGRAM = os.path.join(os.path.dirname(LIBRARY), "hardneg")


def _version():
    if not os.path.exists(LIBRARY):
        raise SystemExit(f"{os.path.normpath(LIBRARY)} is not there: run `make` first")
    lib = ctypes.CDLL(LIBRARY)
    lib.hardneg_version.restype = ctypes.c_char_p
    return lib.hardneg_version().decode()


def _files(version, tag):
    info = f"hardneg-{version}.dist-info"
    readme = open(os.path.join(HERE, "README.md"), encoding="utf-8").read()
    for name in MODULE:
        yield f"hardneg/{name}", open(os.path.join(HERE, "hardneg", name), "rb").read()
    yield "hardneg/libhardneg.so", open(LIBRARY, "rb").read()
    if os.path.exists(PROGRAM):  # `hardneg` on the PATH, which compare() runs
        yield f"hardneg-{version}.data/scripts/hardneg", open(PROGRAM, "rb").read()
    yield f"{info}/LICENSE", open(os.path.join(HERE, "..", "LICENSE"), "rb").read()
    yield f"{info}/METADATA", (
        "Metadata-Version: 2.1\nName: hardneg\n" f"Version: {version}\n"
        "Summary: Mini-batches and negatives for contrastive learning, and what batches are like\n"
        "License: GPL-3.0-or-later\nLicense-File: LICENSE\nRequires-Python: >=3.8\nRequires-Dist: numpy\n"
        "Classifier: License :: OSI Approved :: GNU General Public License v3 or later (GPLv3+)\n"
        "Classifier: Operating System :: POSIX :: Linux\nClassifier: Programming Language :: Python :: 3\n"
        "Classifier: Topic :: Scientific/Engineering :: Artificial Intelligence\nClassifier: Typing :: Typed\n"
        "Description-Content-Type: text/markdown\n\n" + readme).encode()
    yield f"{info}/WHEEL", (f"Wheel-Version: 1.0\nGenerator: hardneg\nRoot-Is-Purelib: false\nTag: {tag}\n").encode()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
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


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    print(os.path.join(sys.argv[1], build_wheel(sys.argv[1])))
