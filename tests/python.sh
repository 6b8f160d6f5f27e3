#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The library and its Python module: `tests/python.sh BUILD`. The module against the program (tests/python.py), as it
# is used (tests/python_use.py), in a training loop (tests/python_loop.py), after a kill (tests/python_resume.py), on pairs (tests/python_pairs.py), on collapsed embeddings (tests/python_collapsed.py), with what arrays there are (tests/python_arrays.py), mining over a corpus (tests/python_mine.py), its types, the example in C, the surface of the library, a wheel and its installation without a
# network, and, where python3-torch is there, a training in two processes against the same in one.
source "$(dirname "$0")/lib.sh"
build=$(realpath "$1")
begin python "$build/hardneg"
library=$build/libhardneg.so
export HARDNEG_LIBRARY=$library

test_module() { run_python python.py; }
test_use() { run_python python_use.py; }
test_loop() { run_python python_loop.py; }
test_resume() { run_python python_resume.py; }
test_collapsed() { run_python python_collapsed.py; }
test_pairs() { run_python python_pairs.py; }
test_arrays() { run_python python_arrays.py; }
test_mine() { run_python python_mine.py; }
test_compare() { run_python python_compare.py; }
# What is wrong in a program is found before it runs, and nothing else.
test_types() {
    command -v mypy >/dev/null || { skip "types" "no mypy"; return 0; }
    cat >typed.py <<'P'
import hardneg
import numpy as np

x = np.zeros((3, 3))
sampler = hardneg.BatchSampler(x, {"knn": {}}, batch_size=3, labels=["a", None, "b"])
sampler = hardneg.BatchSampler(x, bach_size=3)  # wrong
sampler = hardneg.BatchSampler(x, view2=x, tuples=(["a", "b", "a"], range(3)))
sampler.refresh(x, lables=[0, 1, 2])  # wrong
compared: hardneg.Comparison = hardneg.compare(x, samplers=["knn", {"mine": lambda x, b, seed, epoch: [[0, 1]]}], batch_size=2)
hardneg.compare(x, seed="1", batch_size="2")  # wrong
like: hardneg.Measures = hardneg.measure([[0, 1]], x, label=[0, 1, 2])  # wrong
mined: hardneg.Mined = hardneg.mine(x, "mined", seed=2)
hardneg.mine(x, "mined", sed=2)  # wrong
found: hardneg.Negatives = hardneg.mine(x, x, [[0], [1], [2]], relative_margin=0.1, take="draw")
hardneg.mine(x, x, [[0], [1], [2]], relative_margn=0.1)  # wrong
miner = hardneg.Miner(x, x, {"a": ["b"]}, query_ids=["a"], relative_margin=0.1, take="draw")
hardneg.Miner(x, x, [[0], [1], [2]], relative_margn=0.1)  # wrong
miner.refresh(x, x, wai=False)  # wrong
again: hardneg.Negatives = miner.mined
rows, scores = found.ids[0], mined.scores[0]
P
    MYPYPATH=$root/python mypy --strict --no-error-summary --cache-dir=/dev/null typed.py >out 2>err
    sed -n 's/^typed.py:\([0-9]*\): error.*/\1/p' out | sort -nu >lines
    grep -n '# wrong' typed.py | cut -d: -f1 >wrong
    check "misspelt arguments are found, and they alone" cmp -s wrong lines
    check "of the module nothing is" eval '! grep -v "^typed" out | grep -q ": error"'
}
run_python() { # FILE
    local total p f s
    with_python "$1" || return 0
    "$python" "$here/$1" "$hardneg" >out 2>err
    total=$(tail -n 1 out)
    read -r p f s < <(tr -c '0-9\n' ' ' <<<"${total#*: }")
    passed=$((passed + ${p:-0})) failed=$((failed + ${f:-1})) skipped=$((skipped + ${s:-0}))
    grep 'skipped: ' out
    [ "${f:-1}" = 0 ] || cat out err
}
# A library of nothing but what a header declares, for abidiff: the real one has types of its own.
surface() { # HEADER OUTPUT
    { echo 'struct hardneg { int unused; };'
        gcc -E -P "$1" | grep -v '^#' | tr '\n' ' ' | sed 's/\(hardneg_[a-z_]*([^;]*)\);/\1 { __builtin_trap(); }\n/g'; } >surface.c
    gcc -w -g -shared -fPIC -o "$2" surface.c
}
test_surface() {
    sed -n 's/^[a-z].*\b\(hardneg_[a-z_]*\)(.*/\1/p' "$root/library/hardneg.h" | sort >declared
    nm -D --defined-only "$library" | sed -n 's/.* T \(hardneg_[a-z_]*\)@@HARDNEG_1/\1/p' | sort >there
    check "what hardneg.h declares is there, and nothing else" cmp -s declared there
    sed -n 's/^ \(hardneg_[a-z_]*\)@HARDNEG_1 .*/\1/p' "$root/debian/libhardneg1.symbols" | sort >packaged
    check "Debian's list of symbols has them, too" cmp -s declared packaged
    nm -D --defined-only "$library" | grep -v ' HARDNEG_1$' | grep -vc '@@HARDNEG_1' >others
    check "no other symbol" grep -qx 0 others
    if [ -n "$(command -v abidiff)" ]; then
        surface "$root/library/hardneg.h" surface.so
        # A change on purpose: raise the version, and write the golden file anew with abidw.
        abidiff "$here/golden/libhardneg.abi" surface.so >out
        check "the surface is what it was" test $? = 0
    else skip "the surface is what it was" "no abigail-tools"; fi
    ldd "$library" >needed
    check "no HDF5, no gnuplot, no LIBSVM" eval '! grep -qE "hdf5|gnuplot|svm|jansson" needed'
}
test_example() {
    local prefix=$work/prefix
    check "make install puts the library" make -C "$root" --no-print-directory -s BUILD="$build" PREFIX="$prefix" install-library >make.out
    check "and builds nothing again" [ ! -s make.out ]
    read -r -a flags < <(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs hardneg)
    check "the example compiles against it" gcc -std=c99 -Wall -Wextra -Werror -o example "$root/library/example/example.c" "${flags[@]}"
    LD_LIBRARY_PATH=$prefix/lib ./example >out 2>err
    rc=$?
    check "and runs" is 0
    check "and says what its batches are like" says '^fn_ratio 0\.'
    [ -z "$(command -v valgrind)" ] || [ -n "${SANITIZED:-}" ] || {
        OMP_NUM_THREADS=1 LD_LIBRARY_PATH=$prefix/lib valgrind -q --leak-check=full --errors-for-leak-kinds=definite \
            --error-exitcode=9 ./example >out 2>err
        rc=$?
        check "without an error of memory" is 0
    }
}
test_wheel() {
    local found
    with_python "the wheel" || return 0
    check "a wheel is made" "$python" "$root/python/build_wheel.py" "$work/wheels" >out
    check "its metadata are of version 2.4, with a licence expression" "$python" -c "import glob, sys, zipfile
w = zipfile.ZipFile(glob.glob(sys.argv[1] + '/*.whl')[0]); n = [f for f in w.namelist() if f.endswith('METADATA')][0]
m = w.read(n).decode(); assert m.startswith('Metadata-Version: 2.4') and '\nLicense-Expression: GPL-3.0-or-later\n' in m, m
assert n.replace('METADATA', 'licenses/LICENSE') in w.namelist()" "$work/wheels"
    check "a source archive holds what a wheel is made of, twice the same" "$python" -c "import sys, tarfile, hashlib
sys.path.insert(0, sys.argv[1] + '/python')
import build_wheel
def made(): return open(sys.argv[2] + '/' + build_wheel.build_sdist(sys.argv[2]), 'rb').read()
assert made() == made()
t = tarfile.open(sys.argv[2] + '/' + build_wheel.build_sdist(sys.argv[2])); names = {n.split('/', 1)[1] for n in t.getnames()}
assert {'PKG-INFO', 'pyproject.toml', 'Makefile', 'core/context.c', 'python/hardneg/__init__.py', 'python/build_wheel.py'} <= names
assert not any(n.startswith('build/') for n in names)" "$root" "$work"
    found=$(echo "$work"/wheels/hardneg-*-py3-none-*.whl)
    cp "$found" first.whl
    "$python" "$root/python/build_wheel.py" "$work/wheels" >out
    check "the same again" cmp -s first.whl "$found"
    check "with the licence, its types and every file of the module" "$python" -c 'import sys, os, zipfile
found = {os.path.basename(name) for name in zipfile.ZipFile(sys.argv[1]).namelist()}
wanted = {"LICENSE", "py.typed", *(n for n in os.listdir(sys.argv[2]) if n.endswith(".py"))}
assert wanted <= found, wanted - found' "$found" "$root/python/hardneg"
    "$python" -c 'import venv, ensurepip' 2>/dev/null || { skip "pip install" "no python3-venv"; return 0; }
    "$python" -m venv --system-site-packages venv
    for what in "$found" "$root/python"; do
        check "pip installs ${what##*/} without a network" venv/bin/pip install -q --no-index --force-reinstall --no-deps "$what"
        (cd / && env -u HARDNEG_LIBRARY "$work/venv/bin/python" -c 'import hardneg, os
print(os.path.exists(os.path.join(os.path.dirname(hardneg.__file__), "libhardneg.so")), hardneg.version())') >out 2>err
        check "and it works with the library inside" says '^True [0-9]'
        check "and brings the program" venv/bin/hardneg --version
    done
}

# What a training ends with is the same, but for the order of sums.
train() { # OUTPUT WORLD ARGUMENT...
    local output=$1 world=$2 rank port
    port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    shift 2
    for ((rank = 0; rank < world; rank++)); do
        OMP_NUM_THREADS=1 MASTER_ADDR=127.0.0.1 MASTER_PORT=$port WORLD_SIZE=$world RANK=$rank PYTHONPATH=$root/python \
            timeout 300 "$python" "$root/python/examples/train.py" --epochs 2 "$@" --output "$output" >"log$rank" 2>&1 &
    done
    wait
}
equal_embeddings() { "$python" -c 'import numpy as np, sys
a, b = (np.load(f) for f in sys.argv[1:])
assert np.abs(a - b).max() < 1e-4, np.abs(a - b).max()' "$@" 2>err || { tail -n 4 log* >>err; false; }; }
test_processes() {
    "$python" -c 'import torch, sklearn' 2>/dev/null || { skip "trainings in two processes" "no python3-torch"; return 0; }
    train deal-one.npy 1 --accumulate 2
    train deal-two.npy 2 --split deal
    check "batches dealt to two processes train as in one" equal_embeddings deal-one.npy deal-two.npy
    train batch-one.npy 1
    train batch-two.npy 2 --split batch --batch-size 32
    check "batches cut over two processes train as in one" equal_embeddings batch-one.npy batch-two.npy
    check "and otherwise than dealt ones" eval '! equal_embeddings batch-one.npy deal-one.npy'
}

run_tests "${2:-}" "" test_module test_use test_loop test_resume test_pairs test_collapsed test_arrays test_mine test_compare test_types test_surface test_example test_wheel test_processes
finish
