#!/usr/bin/env bash
# How often `hardneg ab` errs on this machine, as it is loaded now: the same program against itself, then
# against itself slowed down by 10 and 20 %. Not part of `make test`: it takes an hour.
#
#   tests/time_rates.sh PROGRAM [PAIRS] [ROUNDS] [SLOW]
#
# SLOW: a program built from this tree with, at the beginning of since() in harness/run/cell_draw.c,
#   const char *slow = getenv("HN_SLOW"); // percent
#   for (int64_t took = hn_cpu_ns() - begun.cpu, end = hn_cpu_ns() + (slow ? took * atoi(slow) / 100 : 0);
#        hn_cpu_ns() < end;) {}
# Prints, for each slowdown: pairs, pairs that failed, and of the costs above 10 us those found slower.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
program=$(readlink -f "$1") pairs=${2:-60} rounds=${3:-11} slow=${4:+$(readlink -f "$4")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
cat >"$work/job.yaml" <<END
snapshots: $root/datasets/cifar10-mini.h5
steps: [400]
batch_size: 64
batches: 20
samplers: [uniform, knn, batchsampler: {M: 200, K: 50}, gcbs, mined, hard-negative, stratified]
metrics: [fn_ratio]
timing: {reps: 5, warmup: 1, interleave: true}
figures: none
END
for percent in 0 ${slow:+10 20}; do
    new=$program
    if [ "$percent" != 0 ]; then
        new=$work/slowed
        printf '#!/bin/sh\nHN_SLOW=%s exec "%s" "$@"\n' "$percent" "$slow" >"$new"
        chmod +x "$new"
    fi
    for i in $(seq "$pairs"); do
        "$program" ab "${slow:-$program}" "$new" -c "$work/job.yaml" --rounds "$rounds" --gate times:5% -q --json \
            >"$work/$percent-$i.json" 2>"$work/err"
        case $? in 0 | 1) ;; *) cat "$work/err" >&2; exit 1 ;; esac
    done
    jq -s -r --arg percent "$percent" '[.[].times.of[] | select(.base > 1e-5 and .tested)] as $costs
        | "\($percent) % slower: \(length) pairs, \([.[] | select(.times.slower > 0)] | length) failed; costs above 10 us: \([$costs[] | select(.slower)] | length) of \($costs | length) found slower"' \
        "$work/$percent"-*.json
    cat /proc/loadavg
done
