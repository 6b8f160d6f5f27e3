#!/usr/bin/env bash
# From pixels to figures: `harness/reproduce/paper.sh PROGRAM DATA OUTPUT [quick]`, called by `make paper`. Recipe A is trained
# on CIFAR-10's binary files and leaves a series of snapshots, on which BatchSampler's figures 4 to 7 are reproduced;
# a report of the training and one of the figures stand at the end. Given again, it goes on where it was broken off.
set -eu
program=$1 data=$2 output=$3 size=${4:-full}
here=$(cd "$(dirname "$0")" && pwd)

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

# Only the figures' own steps are kept: the dense ones of the job are for staleness.
train=(--set 'snapshots={every: 100}')
reproduce=()
if [ "$size" = quick ]; then
    train=(--set 'task={views-mlp: {data: cifar10, n: 2000, views: 4, dim: 128}}' --set steps=60 --set evaluate=30
        --set 'snapshots={every: 30}')
    reproduce=(--quick)
fi
echo "1 of 3: training (recipe A)"
"$program" train -c "$here/jobs/train-series.yaml" --data "$data" -o "$output/train" "${train[@]}"
"$program" report "$output/train" -o "$output/training.html" --quiet

# The series of the run that these results tell of, not one that an earlier size has left.
key=$("$program" export "$output/train" --csv |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "run_key") c = i } NR == 2 { print substr($c, 1, 16) }')
series=$output/train/runs/$key/series.h5
[ -r "$series" ] || { echo "make paper: $series is not there; the training says why" >&2 && exit 3; }

echo "2 of 3: figures 4 to 7 of BatchSampler, on $series"
"$program" reproduce bs-fig4 bs-fig5 bs-fig6 bs-fig7 --data "$series" -o "$output/figures" "${reproduce[@]}"

echo "3 of 3: report"
"$program" report "$output/figures" -o "$output/index.html" --quiet
echo "Training: $output/training.html"
echo "Figures:  $output/index.html"
