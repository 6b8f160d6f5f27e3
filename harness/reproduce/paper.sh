#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# From pixels to verdicts: `harness/reproduce/paper.sh PROGRAM DATA OUTPUT [quick]`, called by `make paper`. Recipe A is
# trained on CIFAR-10's binary files several times, each time with its own images, patch front end, views and weights;
# what the papers claim of snapshots is judged over these encoders, and over the first alone. Given again, it goes on
# where it was broken off. ENCODERS: how many; IDS: identifiers instead of all that snapshots can show; IMAGES and TRAIN:
# other options of the task and of the training. A setting is measured by 40 batches of 256 of every encoder, which is an
# epoch; more batches or seeds of the sampler would not tell more of encoders.
set -eu
program=$1 data=$2 output=$3 size=${4:-full}
here=$(cd "$(dirname "$0")/.." && pwd)

missing() { # WHAT
    echo "make paper: $1" >&2
    echo "Give the folder that holds cifar10/data_batch_1.bin to data_batch_5.bin and test_batch.bin:" >&2
    echo "    make paper DATA=DIR" >&2
    echo "docs/guide/training-data.md says where these files are to be had; hardneg downloads nothing." >&2
    exit 2
}
[ -n "$data" ] || missing "no data"
for file in data_batch_1.bin test_batch.bin; do
    [ -r "$data/cifar10/$file" ] || missing "$data/cifar10/$file is not there"
done

read -r -a ids <<<"${IDS:---all}"
encoders=${ENCODERS:-8} images='n: 10000, views: 14, dim: 512' every=200 train=()
if [ "$size" = quick ]; then
    encoders=${ENCODERS:-3} images='n: 2000, views: 4, dim: 128' every=30
    train=(--set steps=60 --set evaluate=30)
fi
read -r -a more <<<"${TRAIN:-}"
images=${IMAGES:-$images}

# The series lies in a folder that is named after its run; the cache of views is large and done with.
train_encoder() { # NUMBER
    local series=$output/encoders/encoder-$1.h5 run=$output/train/$1
    [ ! -r "$series" ] || return 0
    "$program" train -c "$here/jobs/train-series.yaml" --data "$data" -o "$run" --set "seeds=[$1]" \
        --set "task={views-mlp: {data: cifar10, $images, data_seed: $1}}" --set "snapshots={every: $every}" \
        ${train[@]+"${train[@]}"} ${more[@]+"${more[@]}"}
    mv "$run"/runs/*/series.h5 "$series"
    rm -rf "$run"/views-*
}

mkdir -p "$output/encoders"
echo "1 of 3: $encoders encoders (recipe A)"
for ((i = 1; i <= encoders; i++)); do train_encoder "$i"; done

# Raw features, for NS, are Cora's.
if [ -d "$data/cora" ]; then ln -sfn "$(cd "$data/cora" && pwd)" "$output/cora"; fi

echo "2 of 3: claims on snapshots, on the first encoder alone"
"$program" reproduce "${ids[@]}" --data "$output/encoders/encoder-1.h5" -o "$output/one" --term none --quick --quiet \
    >"$output/one.txt"

echo "3 of 3: the same over all encoders"
"$program" reproduce "${ids[@]}" --replicates --data "$output/encoders" -o "$output/verdicts" \
    --against "$output/one/results.h5" --quick --seeds 1 >"$output/verdicts.txt"
sed -n '/^id  /,$p' "$output/verdicts.txt"
"$program" report "$output/verdicts" -o "$output/index.html" --quiet
echo "Verdicts: $output/verdicts.txt, of one encoder $output/one.txt"
echo "Report:   $output/index.html"
