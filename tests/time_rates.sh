#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How often times are judged wrongly on this machine, as it is loaded now: the same program against itself,
# then against itself slowed down by 10 and 20 %. Not part of `make test`: it takes minutes to hours.
#
#   tests/time_rates.sh ab|files PROGRAM [PAIRS] [PROCESSES] [SLOW]
#
# ab: by `hardneg ab`; files: by `compare` of two files of timing: {processes: PROCESSES}, made one after the other.
# SLOW: a program built from this tree with, at the beginning of since() in harness/run/cell_draw.c,
#   const char *slow = getenv("HN_SLOW"); // percent
#   for (int64_t took = hn_cpu_ns() - begun.cpu, end = hn_cpu_ns() + (slow ? took * atoi(slow) / 100 : 0);
#        hn_cpu_ns() < end;) {}
# Prints, for each slowdown: pairs, pairs that failed, and of the costs above 10 us those found slower; pairs that were not
# judged, since the host was too noisy, are counted apart.
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
how=$1 program=$(readlink -f "${5:-$2}") pairs=${3:-60} processes=${4:-11} percents="0${5:+ 10 20}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
cd "$work" || exit 1
cat >job.yaml <<END
snapshots: $root/datasets/cifar10-mini.h5
steps: [400]
batch_size: 64
batches: 20
samplers: [uniform, knn, batchsampler: {M: 200, K: 50}, gcbs, mined, hard-negative, stratified]
metrics: [fn_ratio]
timing: {reps: 5, warmup: 1, interleave: true}
figures: none
END
for percent in $percents; do
    printf '#!/bin/sh\nHN_SLOW=%s exec "%s" "$@"\n' "$percent" "$program" >"slowed-$percent"
    chmod +x "slowed-$percent"
done
run() { # PERCENT FILE
    HN_SLOW=$1 "$program" run -c job.yaml --set timing.processes="$processes" -o run -q && mv run/results.h5 "$2" && rm -r run
}
judge() { # PERCENT PAIR COMMAND...
    "$program" "${@:3}" --gate times:5% -q --json >"$1-$2.json" 2>err
    case $? in
    0 | 1) ;;
    *)
        grep -q "the host's noise is" err || { cat err >&2; exit 1; }
        echo "$2" >>"$1.refused"
        rm "$1-$2.json"
        ;;
    esac
}
[ "$how" != files ] || run 0 before.h5 || exit 1
for i in $(seq "$pairs"); do
    for percent in $percents; do
        if [ "$how" = ab ]; then
            judge "$percent" "$i" ab ./slowed-0 "./slowed-$percent" -c job.yaml --rounds "$processes"
        else
            run "$percent" "after-$percent.h5" || exit 1
            judge "$percent" "$i" compare before.h5 "after-$percent.h5"
        fi
    done
    [ "$how" != files ] || mv after-0.h5 before.h5
done
for percent in $percents; do
    jq -s -r --arg percent "$percent" '[.[].times.of[] | select(.base > 1e-5 and .tested)] as $costs
        | "\($percent) % slower: \(length) pairs, \([.[] | select(.times.slower > 0)] | length) failed; costs above 10 us: \([$costs[] | select(.slower)] | length) of \($costs | length) found slower"' \
        "$percent"-*.json
    [ ! -f "$percent.refused" ] || echo "$(wc -l <"$percent.refused") pairs not judged: the host was too noisy"
done
cat /proc/loadavg
