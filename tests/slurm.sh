#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# docs/guide/ci/slurm.sh with the Slurm of the distribution, on this machine alone: `tests/slurm.sh PROGRAM [NAME]`
# (make slurm). Skipped where Slurm is not installed.
source "$(dirname "$0")/lib.sh"
source "$here/slurm_cluster.sh"
begin slurm "$1"
trap 'cluster_stop; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
missing=$(cluster_missing)
if [ -n "$missing" ]; then
    skip "Slurm" "not installed: ${missing% } (make slurm installs slurm-wlm and munge)"
    finish
    exit
fi
script="$root/docs/guide/ci/slurm.sh"
PATH="$(dirname "$hardneg"):$PATH"
export WAIT_SECONDS=0.5
small=(--cpus-per-task=1 --mem=1G --time=5)

# Submits, with the environment of the call: PARTS and WAIT.
slurm() { # JOB FOLDER [OPTION]...
    timeout -k 5 120 "$script" "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
}
array_of() { cat "$1/array"; } # FOLDER
task_state() { scontrol -o show job "$1" | sed -n 's/.* JobState=\([A-Z]*\).*/\1/p'; }
restarts() { scontrol -o show job "$1" | sed -n 's/.* Restarts=\([0-9]*\).*/\1/p'; }
in_state() { [ "$(task_state "$1")" = "$2" ]; }
queue_is_empty() { local jobs; jobs=$(squeue -h) && [ -z "$jobs" ]; }
cells_in() { find "$1/cells" -name '*.cell' 2>/dev/null | wc -l; }
has_cells() { [ "$(cells_in "$1")" -ge "$2" ]; } # FOLDER COUNT
argv_has() { # FILE WORDS
    "$python" -c 'import h5py, sys
argv = h5py.File(sys.argv[1], "r").attrs["argv"]
sys.exit(sys.argv[2] not in (argv if isinstance(argv, str) else argv.decode()))' "$1" "$2"
}
# A task that waits after it was requeued starts soon, not after the two minutes that Slurm gives it; in the same second
# Slurm would hold it for the task that it has just ended ("Job credential revoked").
hurry() { # JOB
    wait_for 40 in_state "$1" PENDING && scontrol update "JobId=$1" StartTime=now+3
}

make_jobs() {
    expect "synth" 0 '' synth -o s.h5 --n 300 --dim 16 --classes 5 --steps 2 --views 2 --seed 1
    printf '%s\n' 'version: 1' 'snapshots: [s.h5]' 'batch_size: 16' 'batches: 10' 'figures: none' 'seeds: [1, 2]' \
        'timing: {reps: 3, warmup: 0}' 'samplers: [uniform, knn, batchsampler: {M: 50, K: 20}, hops]' >job.yaml
    # Cells of a tenth of a second and more, so that a task can be interrupted between them.
    sed 's/seeds: .*/seeds: [1, 2, 3, 4, 5, 6]/; s/batches: 10/batches: 3000/' job.yaml >long.yaml
    expect "in one process" 0 '' run -c job.yaml -o whole --quiet
    expect "the long job in one process" 0 '' run -c long.yaml -o long --quiet
}

test_array() {
    PARTS=3 WAIT=1 slurm job.yaml array "${small[@]}"
    check "an array of 3" test "$rc" = 0
    check "has 3 parts" test "$(find array -maxdepth 1 -name 'part*' | wc -l)" = 3
    check_same "Slurm: the same" whole/results.h5 array/results.h5
    with_python "the request" || return
    check "processors and memory are those of the task" argv_has array/part2/results.h5 '--threads 1 --memory 768MiB'
    PARTS=2 WAIT=1 slurm job.yaml percpu --cpus-per-task=2 --mem-per-cpu=512M --time=5
    check "memory of each processor" argv_has percpu/part1/results.h5 '--threads 2 --memory 768MiB'
    sbatch --parsable -o first.txt --mem=100 --wrap "sleep 3; touch first" >first.job
    PARTS=2 WAIT=1 slurm job.yaml later "${small[@]}" "--dependency=afterok:$(cat first.job)"
    check "an array after another job" test "$rc" = 0 -a later/part1/job.yaml -nt first
    check_same "after another job: the same" whole/results.h5 later/results.h5
    PARTS=20 WAIT=1 slurm job.yaml many "${small[@]}"
    check "more parts than steps" test "$rc" = 0
    check_same "more parts than steps: the same" whole/results.h5 many/results.h5
}

# The second run of a folder with fewer parts, of a job that has less in it.
test_older_array() {
    sed 's/seeds: .*/seeds: [1, 2, 3]/' job.yaml >older.yaml
    PARTS=4 WAIT=1 slurm older.yaml older "${small[@]}"
    check "an older array" test "$rc" = 0
    echo "no results" >older/part4/results.h5
    PARTS=3 WAIT=1 slurm job.yaml older "${small[@]}"
    check "parts of an older array are not joined" test "$rc" = 0
    check_same "after an older array: the same" whole/results.h5 older/results.h5
}

test_requeue() {
    local task first
    PARTS=2 slurm long.yaml requeue "${small[@]}"
    task=$(array_of requeue)_2
    check "a task runs" wait_for 60 has_cells requeue/part2 2
    first=$(find requeue/part2/cells -name '*.cell' | head -n 1)
    first=$(stat -c '%i %n' "$first")
    PARTS=2 slurm long.yaml requeue "${small[@]}"
    check "a second array of the folder is refused" test "$rc" = 1
    check "a second array: says why" complains 'has not ended: wait, or scancel'
    scontrol requeue "$task"
    check "it is requeued" hurry "$task"
    check "it runs again, and parts are joined" wait_for 120 queue_is_empty
    check "it was started twice" test "$(restarts "$task")" = 1
    check "cells that were finished are kept" test "$(stat -c '%i %n' "${first#* }")" = "$first"
    check_same "requeued: the same" long/results.h5 requeue/results.h5
}

# What Slurm sends before the time limit.
test_time_limit() {
    local task
    PARTS=2 slurm long.yaml limit "${small[@]}"
    task=$(array_of limit)_1
    check "a task runs" wait_for 60 has_cells limit/part1 2
    scancel --batch --signal=USR1 "$task"
    check "it asks for a further run" hurry "$task"
    check "parts are joined after it" wait_for 120 queue_is_empty
    check "it says so" grep -q 'part 1 goes on in a further run' limit/log/part1.txt
    check "it was started twice" test "$(restarts "$task")" = 1
    check_same "near the time limit: the same" long/results.h5 limit/results.h5
}

test_failed_part() {
    mkdir failed
    echo "in the way" >failed/part2
    PARTS=3 WAIT=1 slurm job.yaml failed "${small[@]}"
    check "a failed part is a failure" test "$rc" = 1
    check "a failed part: says where to look" complains 'nothing was joined: failed/log says why'
    check "a failed part: says why" grep -q 'part2' failed/log/part2.txt
    check "nothing is joined" test ! -e failed/results.h5
    check "nothing waits for it" wait_for 10 queue_is_empty
    rm failed/part2
    PARTS=3 WAIT=1 slurm job.yaml failed "${small[@]}"
    check_same "the same command again" whole/results.h5 failed/results.h5
}

refused() { # NAME PATTERN FOLDER
    check "$1: an error" test "$rc" = 1
    check "$1: says so" complains "$2"
    check "$1: nothing waits" wait_for 10 queue_is_empty
}

test_requests() {
    PARTS=2 slurm job.yaml no "${small[@]}" --mem=100G
    refused "more memory than any node has" 'Slurm refuses this request'
    PARTS=2 slurm job.yaml no "${small[@]}" --cpus-per-task=8
    refused "more processors than any node has" 'never start this .PartitionConfig'
    PARTS=2 slurm job.yaml no "${small[@]}" --time=10:00:00
    refused "more time than allowed" 'never start this .Partition'
    PARTS=100000 slurm job.yaml no "${small[@]}"
    refused "more tasks than an array may have" 'Slurm refuses this request'
    PARTS=some slurm job.yaml no "${small[@]}"
    refused "a number of parts" 'PARTS=some'
    PARTS=2 slurm none.yaml no "${small[@]}"
    refused "no job file" 'none.yaml: no such job file'
    PARTS=2 WAIT=1 slurm job.yaml little --cpus-per-task=1 --mem=8M --time=5
    refused "too little memory for the job" 'nothing was joined'
    check "hardneg says how much it needs" grep -q 'raise --memory' little/log/part1.txt
}

cluster_start "$work/cluster" || {
    fail "Slurm starts" "it does not"
    tail -n 5 "$work"/cluster/*.log "$work"/cluster/*.out
    finish
    exit
}
run_tests "${2:-}" make_jobs make_jobs test_array test_older_array test_requeue test_time_limit test_failed_part test_requests
finish
