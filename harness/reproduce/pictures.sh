#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The pictures of README and docs, from the jobs beside: `harness/reproduce/pictures.sh PROGRAM DATA OUTPUT [FOLDER]`,
# called by `make pictures`. DATA: a folder with cifar10-simclr-10k.h5, a series of 10,000 images (those of docs/notes),
# and tudataset/IMDB-BINARY; a picture whose data are not there is kept, and that is said. Without DATA those of
# snapshots are drawn from the 2,000 images of this repository. Pictures go to FOLDER (docs/img); runs stay in OUTPUT,
# and another call goes on there. A picture that fails costs no other; the status is then 1.
set -u
program=$1 data=$2 output=$3 folder=${4:-docs/img}
here=$(cd "$(dirname "$0")/../.." && pwd)
series=$here/datasets/cifar10-mini.h5 failed=
[ -z "$data" ] || series=$data/cifar10-simclr-10k.h5
mkdir -p "$output" "$folder" || exit 1

kept() { echo "kept: $folder/$1.png ($2)"; }

# Draws FIGURE of RESULTS, if the command before it made these.
picture() { # NAME RESULTS FIGURE
    local name=$1 results=$2 figure=$3 drawn=$output/drawn
    if "$program" plot "$results" --figure "$figure" --term png -o "$drawn" --quiet &&
        mv "$drawn/$figure.png" "$folder/$name.png"; then
        echo "$folder/$name.png: $figure of $results"
    else
        failed="$failed $name"
        kept "$name" "it could not be made"
    fi
}

if [ -r "$series" ]; then
    "$program" reproduce bs-fig4 gc-fig1 --data "$series" --quick --term none -o "$output/claims" >"$output/claims.txt"
    picture bs-fig4 "$output/claims/ids/bs-fig4.h5" bs-fig4
    picture gc-fig1 "$output/claims/ids/gc-fig1.h5" gc-fig1
    "$program" run -c "$here/harness/jobs/pareto.yaml" --set "snapshots=[$series]" -o "$output/pareto" --quiet
    picture pareto "$output/pareto" pareto
else
    for name in bs-fig4 gc-fig1 pareto; do kept "$name" "$series is not there"; done
fi
if [ -d "$data/tudataset/IMDB-BINARY" ]; then
    "$program" train -c "$here/harness/jobs/train-imdb-40.yaml" --data "$data" -o "$output/imdb-40" --quiet
    picture imdb-40 "$output/imdb-40" accuracy
else
    kept imdb-40 "${data:-DATA}/tudataset/IMDB-BINARY is not there"
fi
[ -z "$failed" ] || { echo "not made:$failed" >&2; exit 1; }
