#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes datasets/cifar10-mini.h5 out of a series of 10,000 CIFAR-10 embeddings: the first 200 items of
# each class in file order, steps 0, 100, 400 and 1000, /embeddings and /view2, float16.
#
#   datasets/make-cifar10-mini.sh SERIES.h5 [PROGRAM]     (PROGRAM: build/hardneg)
#
# Python with h5py takes the series apart into .npy files; `hardneg import` puts it together again.
set -eu
cd "$(dirname "$0")/.."
[ $# -ge 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
series=$1
program=${2:-build/hardneg}
output=datasets/cifar10-mini.h5
scratch=$(mktemp -d "${TMPDIR:-/tmp}/hardneg-mini-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

/usr/bin/python3 - "$series" "$scratch" <<'PYTHON'
import sys
import h5py
import numpy as np

series, scratch = sys.argv[1:]
with h5py.File(series, "r") as f:
    labels, steps = f["labels"][:], list(f["step"][:])
    first = [np.flatnonzero(labels == c)[:200] for c in range(10)]
    assert all(len(ids) == 200 for ids in first)
    ids = np.sort(np.concatenate(first))
    np.save(f"{scratch}/labels.npy", labels[ids])
    with open(f"{scratch}/names.txt", "w") as out:
        out.writelines(f"{name}\n" for name in f["labels"].attrs["label_names"])
    for step in (0, 100, 400, 1000):
        for name in ("embeddings", "view2"):
            np.save(f"{scratch}/{name}-{step}.npy", f[name][steps.index(step)][ids])
PYTHON

# import STEP OPTION...: the step of that number, into a new file or after the steps of an old one
import() {
    local step=$1
    shift
    "$program" import --quiet --output "$scratch/mini.h5" --step "$step" \
        --embeddings "$scratch/embeddings-$step.npy" --view2 "$scratch/view2-$step.npy" \
        --labels "$scratch/labels.npy" "$@"
}
import 0 --type float16 --compress 9 --label-names "$scratch/names.txt" \
    --title "CIFAR-10 mini series: 2,000 items, 128 dims, SimCLR-style training" \
    --source "computed from training images of CIFAR-10 (Krizhevsky 2009): the first 200 items of each \
class of a series of 10,000; embeddings only, no image data" \
    --license "computed embeddings, for research use" \
    --encoder "MLP 512-128 on frozen whitened patch features, NT-Xent, temperature 0.5, batches of 256"
for step in 100 400 1000; do
    import "$step"
done
"$program" validate "$scratch/mini.h5"
mv "$scratch/mini.h5" "$output"
chmod 644 "$output"
ls -l "$output"
