#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `hardneg run --mpi` and `train --mpi` over ranks on this machine: `tests/mpi.sh PROGRAM [NAME]` with a program that was built with
# MPI=1 (make mpi). Skipped where Open MPI is not installed.
source "$(dirname "$0")/lib.sh"
begin mpi "$1"
if ! command -v mpirun >/dev/null; then
    skip "MPI" "no mpirun (make mpi installs Open MPI)"
    finish
    exit
fi
# More ranks than processors, and root, as in a container.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpi=(mpirun --oversubscribe)

over() { # ARGUMENT OF mpirun...
    timeout -k 5 120 "${mpi[@]}" "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
}
ranks() { # COUNT ARGUMENT OF run...
    local count=$1
    shift
    over -n "$count" "$hardneg" run --mpi "$@"
}
said_once() { [ "$(grep -cE -- "$(in_words "$1")" "$work/err")" = 1 ]; } # PATTERN
# The sentence of one rank, once, and its exit code.
fails() { # NAME CODE PATTERN
    ended "$1" "$2"
    check "$1: says why, once" said_once "$3"
    check "$1: and nothing else" test "$(grep -c '^hardneg' "$work/err")" = 1
}
cells_in() { find "$1/cells" -name '*.cell' 2>/dev/null | wc -l; }
has_cells() { [ "$(cells_in "$1")" -ge "$2" ]; }
environment() { # FILE NAME: an attribute of /env
    "$python" -c 'import h5py, sys; print(h5py.File(sys.argv[1], "r")["env"].attrs[sys.argv[2]])' "$1" "$2"
}

make_jobs() {
    expect "synth" 0 '' synth -o s.h5 --n 300 --dim 16 --classes 5 --steps 2 --views 2 --seed 1
    printf '%s\n' 'version: 1' 'snapshots: [s.h5]' 'batch_size: 16' 'batches: 10' 'figures: none' 'seeds: [1, 2]' \
        'metrics: [all, {prop2: {M: 50, K: 10, sweeps: 2}}]' 'weightings: [none, {hcl: {beta: 1}}]' \
        'samplers: [uniform, knn, batchsampler: {M: 50, K: 20}, hops]' >job.yaml
    sed 's/batches: 10/batches: 4000/' job.yaml >long.yaml
    expect "in one process" 0 '' run -c job.yaml -o whole --quiet
    expect "the long job in one process" 0 '' run -c long.yaml -o long --quiet
}

test_same() {
    local n
    for n in 1 2 3; do
        ranks $n -c job.yaml -o "over$n" --quiet
        check "$n ranks" test "$rc" = 0
        check "$n ranks: no message" silent
        check_same "$n ranks: the same" whole/results.h5 "over$n/results.h5"
        with_python "ranks of /env" && check "$n ranks: /env says so" test "$(environment "over$n/results.h5" n_ranks)" = $n
    done
    ranks 2 -c job.yaml -o over2
    check "again: nothing to do" complains 'over2/results.h5: .*\(0 computed, '
    check "rank 0 alone speaks" said_once 'over2/results.h5'
    ranks 2 -c job.yaml -o timed --quiet --set 'timing={reps: 3, warmup: 1, interleave: true}'
    expect "timed in one process" 0 '' run -c job.yaml -o timed1 --quiet --set 'timing={reps: 3, warmup: 1, interleave: true}'
    check_same "repetitions timed in turn: the same" timed1/results.h5 timed/results.h5
    ranks 2 -c job.yaml -o part1 --quiet --shard 1/2
    ranks 3 -c job.yaml -o part2 --quiet --shard 2/2
    expect "parts over ranks" 0 '' merge part1 part2 -o parts.h5 --quiet
    check_same "parts over ranks: the same" whole/results.h5 parts.h5
}

# The program alone, and beside one whose calls are counted.
test_shared_out() {
    command -v strace >/dev/null || { skip "work is shared out" "no strace"; return; }
    over -n 1 "$hardneg" run --mpi -c long.yaml -o shared --quiet : \
        -n 1 strace -f -e trace=rename,renameat,renameat2 -o trace "$hardneg" run --mpi -c long.yaml -o shared --quiet
    local second all
    second=$(grep -c 'shared/cells/[0-9a-f]*\.cell".* = 0$' trace)
    all=$(cells_in shared)
    check "rank 1 wrote some of the cells" test "$second" -ge 1
    check "and not all of them" test "$second" -lt "$all"
    check_same "shared out: the same" long/results.h5 shared/results.h5
}

test_threads() {
    with_python "threads" || return
    over --bind-to none -n 2 "$hardneg" run --mpi -c job.yaml -o threads --quiet
    local usable
    usable=$(nproc)
    check "ranks divide the processors that they share" \
        test "$(environment threads/results.h5 threads)" = $((usable > 2 ? usable / 2 : 1))
    over -n 2 "$hardneg" run --mpi -c job.yaml -o threads --quiet --threads 3 --rerun all
    check "--threads is for each rank" test "$(environment threads/results.h5 threads)" = 3
}

test_failures() {
    ranks 3 -c none.yaml -o no
    fails "no job" 2 'none.yaml: the job file cannot be opened'
    ranks 3 -c job.yaml -o no --set batch_size=3000
    fails "a batch larger than the data" 3 's.h5: batch_size 3000'
    ranks 3 -c job.yaml -o no --filter nothing
    fails "a filter that matches nothing" 2 '@none-selected'
    check "nothing was written" nothing_left no
    over -n 2 "$hardneg" run --mpi -c job.yaml -o no : -n 1 "$hardneg" run --mpi -c job.yaml -o no --seed 9
    fails "another job on one rank" 3 'rank 2 plans other cells than rank 0'
    over -n 2 "$hardneg" run --mpi -c job.yaml -o no : -n 1 "$hardneg" run --mpi -c none.yaml -o no
    fails "no job on one rank" 2 'none.yaml'
    expect "items that are all the same" 0 '' synth -o same.h5 --n 7000 --dim 4 --classes 1 \
        --super-classes 1 --steps 2 --views 1 --kappa-from 1e9 --kappa-to 1e9
    printf '%s\n' 'version: 1' 'snapshots: [same.h5]' 'batch_size: 16' 'batches: 10' 'figures: none' 'samplers: [uniform, gcbs]' \
        'limits: {memory: 64MiB}' 'metrics: [fn_ratio]' >some.yaml
    ranks 2 -c some.yaml -o some --quiet
    fails "cells that fail" 4 '@cells-failed'
    check "cells that fail are named, each once" test "$(grep -c '^failed: same.h5 step [0-9]* gcbs' err)" = 2
    command -v strace >/dev/null || { skip "a full disk" "no strace"; return; }
    local full=(strace -f -o trace -e trace=fsync -e inject=fsync:error=ENOSPC)
    over -n 2 "$hardneg" run --mpi -c long.yaml -o full1 --quiet : -n 1 "${full[@]}" "$hardneg" run --mpi -c long.yaml -o full1 --quiet
    fails "the disk of one rank is full" 74 'writing failed: No space left'
    over -n 1 "${full[@]}" "$hardneg" run --mpi -c long.yaml -o full0 --quiet : -n 2 "$hardneg" run --mpi -c long.yaml -o full0 --quiet
    fails "the disk of rank 0 is full" 74 'writing failed: No space left'
    check "no results of it" nothing_left full0
}

rank_of() { # MPIRUN NUMBER: its process
    local p
    for p in $(children_of "$1"); do
        if tr '\0' '\n' <"/proc/$p/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$2"; then echo "$p"; fi
    done
}
# Ends a run when some cells are there, and runs the job again with other ranks.
interrupt() { # NAME SIGNAL RANK|mpirun CODE...
    local name=$1 signal=$2 whom=$3 folder="$2-$3" all cells
    shift 3
    "${mpi[@]}" -n 3 "$hardneg" run --mpi -c long.yaml -o "$folder" --quiet >"$work/out" 2>"$work/err" </dev/null &
    all=$!
    check "$name: some cells are done" wait_for 60 has_cells "$folder" 3
    [ "$whom" = mpirun ] || whom=$(rank_of $all "$whom")
    [ "$whom" != mpirun ] || whom=$all
    kill -s "$signal" "$whom"
    wait $all
    rc=$?
    ended "$name" "$1"
    cells=$(cells_in "$folder")
    check "$name: finished cells are kept" test "$cells" -ge 3
    check "$name: there are no results yet" test ! -e "$folder/results.h5"
    ranks 2 -c long.yaml -o "$folder"
    check "$name: it goes on" complains "\(.* computed, $cells reused\)"
    check_same "$name: the same" long/results.h5 "$folder/results.h5"
    check "$name: nothing temporary is left" none_temporary "$folder"
}

test_interrupts() {
    interrupt "a rank is killed" KILL 1 137
    interrupt "rank 0 is killed" KILL 0 137
    interrupt "SIGTERM of one rank reaches all" TERM 1 130
    interrupt "SIGTERM of mpirun reaches all" TERM mpirun '[1-9][0-9]*'
}

# All ranks at one computation.
make_shared() {
    expect "synth of a job of long computations" 0 '' synth -o l.h5 --n 12000 --dim 64 --classes 10 --steps 1 --views 2 --seed 2
    printf '%s\n' 'version: 1' 'snapshots: [l.h5]' 'batch_size: 100' 'batches: 20' 'figures: none' \
        'timing: {reps: 1, warmup: 0}' 'metrics: all' 'samplers: [uniform, batchsampler: {M: 1000, K: 20},' \
        '  batchsampler: {M: 1000, K: 20, candidates: dealt}, mined, hard-negative, gcbs: {quantile: .999}, hops]' >shared.yaml
    expect "long computations in one process" 0 '' run -c shared.yaml -o base --quiet
}

# What ranks did is said of each and of all, and stands in /env: every part was computed once and read by all.
told_shares() { # RANKS
    local lines=$1
    [ "$1" != 1 ] || lines=0
    check "$1 ranks: what each did is said" test "$(grep -cE '^rank [0-9]+: [0-9]+ parts? in .* written, .* read, [0-9]+ % waiting' err)" = "$lines"
    [ "$1" != 1 ] || check "one rank: what it did is said" complains '^rows ranks: [0-9]+ parts in .* written'
    [ "$1" = 1 ] || check "$1 ranks: and of all" complains "^$1 ranks: [0-9]+ parts, .* largest time of computing"
    pycheck "$1 ranks: counters of /env" 'import csv, h5py, sys
env, n = h5py.File(sys.argv[1])["env"].attrs, int(sys.argv[2])
rows = list(csv.DictReader(env["parts"].splitlines()))
total = lambda name: sum(float(r[name]) for r in rows)
assert [r["rank"] for r in rows] == [str(i) for i in range(n)]
assert total("parts_there") == 0 and total("parts_computed") > 20
for r in rows:
    assert float(r["parts_read"]) >= total("parts_computed") and float(r["bytes_read"]) >= total("bytes_written") > 1e6
    assert float(r["computing_s"]) >= 0 and 0 <= float(r["waiting_s"]) <= float(r["clock_s"])
    assert float(r["peak_bytes"]) > 12000 * 64 * 4
assert len({(r["parts_read"], r["bytes_read"]) for r in rows}) == 1
most = max(float(r["computing_s"]) for r in rows)
assert abs(float(env["parts_balance"]) - most * n / total("computing_s")) < 1e-3' "rows$1/results.h5" "$1"
}

test_bench() {
    mkdir bench
    over -n 2 "$hardneg" bench knn walk --n 4000 --dim 32 --reps 2 --warmup 0 --mpi -o bench --json
    check "sweeps of a bench are shared" test "$rc" = 0
    check "each rank says what it did" complains '2 ranks: 24 parts'
    pycheck "rank 0 alone prints" 'import json, sys
assert len(json.load(open(sys.argv[1]))["kernels"]) == 3' "$work/out"
    check "no part is left" test -z "$(ls -A bench)"
    over -n 1 "$hardneg" bench knn --n 4000 --mpi -o bench : -n 1 "$hardneg" bench kn --n 4000 --mpi -o bench
    fails "a rank that knows no such kernel" 2 "kernel 'kn'"
    check "after a failure no part is left" test -z "$(ls -A bench)"
    over -n 2 "$hardneg" bench knn --n 4000 --mpi -o none/such
    fails "no folder for the parts" 2 'none/such'
}

# Memory that --dry-run foresees of a process that shares, against what ranks counted.
foreseen() { # RANKS
    pycheck "$1 ranks: memory as foreseen" 'import csv, h5py, re, sys
rows = list(csv.DictReader(h5py.File(sys.argv[1])["env"].attrs["parts"].splitlines()))
unit = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
number, name = re.search(r"and ([\d.]+) (\wiB) of data", open("foreseen").read()).groups()
assert 1 < float(number) * unit[name] / max(float(x["peak_bytes"]) for x in rows) < 1.6' "rows$1/results.h5"
}

test_rows() {
    local n
    make_shared
    expect "a process that shares is foreseen" 0 'of data' run -c shared.yaml -o dry --dry-run --rows 1/2
    cp "$work/err" foreseen
    for n in 1 2 3 4 7; do
        ranks $n -c shared.yaml -o "rows$n" --rows ranks -v
        check "$n ranks at one computation" test "$rc" = 0
        told_shares $n
        foreseen $n
        check_same "$n ranks at one computation: the same" base/results.h5 "rows$n/results.h5"
        check "$n ranks: files of parts are removed" test ! -e "rows$n/parts"
    done
    ranks 2 -c shared.yaml -o screen --rows ranks --quiet --threads 2
    check_same "two threads a rank: the same" base/results.h5 screen/results.h5
    over -n 3 -x HN_SCREEN=off "$hardneg" run --mpi -c shared.yaml -o screen-off --rows ranks --quiet
    check_same "without the screen: the same" base/results.h5 screen-off/results.h5
    ranks 2 -c shared.yaml -o no --rows 1/2
    fails "a part, with --mpi" 2 '--rows 1/2: give ranks with --mpi'
    over -n 2 "$hardneg" run --mpi -c shared.yaml -o no --rows ranks : -n 1 "$hardneg" run --mpi -c none.yaml -o no --rows ranks
    fails "no job on one rank of --rows" 2 'none.yaml'
    command -v strace >/dev/null || { skip "a full disk under --rows" "no strace"; return; }
    local full=(strace -f -o trace -e trace=fsync -e inject=fsync:error=ENOSPC)
    over -n 2 "$hardneg" run --mpi -c shared.yaml -o full2 --rows ranks --quiet : -n 1 "${full[@]}" "$hardneg" run --mpi -c shared.yaml -o full2 --rows ranks --quiet
    fails "the disk of one rank of --rows is full" 74 'writing failed: No space left'
}

count_parts() { find "$1/parts" -type f -not -name '*tmp*' -not -path '*/rows/*' 2>/dev/null | wc -l; }
has_parts() { [ "$(count_parts "$1")" -ge "$2" ]; }
# Killed at ten moments, a rank of its own each time: what was stored is there, and used.
test_rows_killed() {
    local round all victim before
    [ -e shared.yaml ] || make_shared
    expect "synth of a longer one" 0 '' synth -o k.h5 --n 60000 --dim 64 --classes 10 --steps 1 --views 2 --seed 3
    sed 's/l\.h5/k.h5/; s/metrics: all/metrics: [fn_ratio, uniformity]/; s/hard-negative, //' shared.yaml >kills.yaml
    expect "it in one process" 0 '' run -c kills.yaml -o base-kills --quiet
    for round in 1 2 3 4 5 6 7 8 9 10; do
        before=$(count_parts kills)
        "${mpi[@]}" -n 3 "$hardneg" run --mpi -c kills.yaml -o kills --rows ranks --quiet >"$work/out" 2>"$work/err" </dev/null &
        all=$!
        wait_for 60 has_parts kills $((before + 1)) || true
        sleep "0.0$((RANDOM % 10))"
        before=$(count_parts kills)
        victim=$(rank_of $all $((round % 3)))
        [ -z "$victim" ] || kill -s KILL "$victim" 2>/dev/null
        wait $all
        [ ! -e kills/results.h5 ] || break
        check "kill $round: parts that were stored are kept" test "$(count_parts kills)" -ge "$before"
    done
    check "ranks were killed ten times before the end" test "$round" = 10 -a ! -e kills/results.h5
    ranks 2 -c kills.yaml -o kills --rows ranks -v
    check "after $round kills: it goes on" complains '^rank [01]: .*\([1-9][0-9]* reused\)'
    check_same "after $round kills: the same" base-kills/results.h5 kills/results.h5
    check "after $round kills: nothing temporary is left" none_temporary kills
}

# Documents of two classes, and trainings on them.
make_trainings() {
    mkdir -p data/small
    awk 'BEGIN { print "# features=20"
        for (i = 0; i < 60; i++) print i, i % 2, i % 10, 10 + i * 7 % 10 }' >data/small/small.features
    awk 'BEGIN { for (i = 0; i < 58; i++) print i, i + 2 }' >data/small/small.edges
    awk 'BEGIN { for (i = 0; i < 60; i++) print i, (i < 20 ? "train" : i < 30 ? "val" : "test") }' >data/small/small.split
    printf '%s\n' 'version: 1' 'task: {node: {data: data/small, hidden: 8, out: 4}}' 'samplers: [uniform, knn]' \
        'loss: other-view' 'batch_size: 20' 'steps: 40' 'rebuild: 10' 'evaluate: 20' 'seeds: [1, 2, 3]' \
        'snapshots: {every: 20}' >train.yaml
    sed 's/steps: 40/steps: 20000/; s/evaluate: 20/evaluate: 10000/; s/every: 20/every: 10000/' train.yaml >longer.yaml
}
trainings() { # COUNT ARGUMENT OF train...
    local count=$1
    shift
    over -n "$count" "$hardneg" train --mpi "$@"
}
series_sums() { # FOLDER: what its series hold
    local one
    find "$1/runs" -name series.h5 | sort | while read -r one; do content_of "$one" || return; done
}

test_train() {
    local n
    make_trainings
    expect "trainings in one process" 0 '' train -c train.yaml -o train1 --workers 1 --quiet
    for n in 1 2 3; do
        trainings $n -c train.yaml -o "train-$n" --quiet
        check "trainings over $n ranks" test "$rc" = 0
        check_same "trainings over $n ranks: the same" train1/results.h5 "train-$n/results.h5"
        check "trainings over $n ranks: series" test "$(series_sums train1)" = "$(series_sums "train-$n")"
        with_python "ranks of a training's /env" &&
            check "trainings over $n ranks: /env says so" test "$(environment "train-$n/results.h5" n_ranks)" = $n
    done
    trainings 2 -c train.yaml -o train-2
    check "trained already: nothing to do" complains 'train-2/results.h5: 6 runs \(0 trained, 6 reused\)'
    check "rank 0 alone speaks of trainings" said_once 'train-2/results.h5'
    trainings 2 -c train.yaml -o train-2 --dry-run
    check "a dry run lists each training once" test "$(grep -c ' node ' out)" = 6
    trainings 2 -c train.yaml -o no --workers 2
    fails "workers and ranks" 2 '--workers shares one machine out'
    trainings 2 -c train.yaml -o no --data nowhere
    fails "no data" 3 'task node: no '
    check "nothing was trained" nothing_left no
}

# Goes on within a run, too: its checkpoint is there.
test_train_interrupted() {
    local all
    make_trainings
    expect "long trainings in one process" 0 '' train -c longer.yaml -o long1 --workers 1 --quiet
    "${mpi[@]}" -n 2 "$hardneg" train --mpi -c longer.yaml -o stopped --quiet >"$work/out" 2>"$work/err" </dev/null &
    all=$!
    check "a training has begun" wait_for 60 test -d stopped/runs
    kill -s TERM "$(rank_of $all 1)"
    wait $all
    rc=$?
    ended "SIGTERM of one rank ends trainings" 130
    trainings 3 -c longer.yaml -o stopped --quiet
    check "trainings go on" test "$rc" = 0
    check_same "trainings that went on: the same" long1/results.h5 stopped/results.h5
    check "and their series" test "$(series_sums long1)" = "$(series_sums stopped)"
}

test_mine() {
    local n
    expect "synth of queries" 0 '' synth --kind retrieval -o q.h5 --n 32000 --queries 30000 --relevant 1 --dim 32 --seed 3
    expect "mined in one process" 0 '' mine q.h5 --relative-margin .02 --take draw --fill draw -o mined.jsonl --json
    mv "$work/out" mined.json
    for n in 1 2 3; do
        over -n "$n" "$hardneg" mine q.h5 --relative-margin .02 --take draw --fill draw -o "mined$n.jsonl" --mpi --json
        ended "mined by $n ranks" 0
        check "mined by $n ranks: the same bytes" cmp -s mined.jsonl "mined$n.jsonl"
        check "mined by $n ranks: the same counts, once" cmp -s <(sed "s/mined$n/mined/" "$work/out") mined.json
        check "mined by $n ranks: nothing else is left" test "$(echo mined"$n".*)" = "mined$n.jsonl"
    done
    check "what each rank did" complains 'rank 1: [0-9]+ parts in'
    # A corpus that does not fit with all ranks' shares is read in blocks by each.
    expect "synth of a large corpus" 0 '' synth --kind retrieval -o corpus.h5 --n 120000 --queries 1500 --relevant 1 --dim 96 --steps 1 --seed 3
    expect "mined in memory" 0 '' mine corpus.h5 -n 3 --take draw -o large.jsonl
    over -n 2 "$hardneg" mine corpus.h5 -n 3 --take draw -o blocks.jsonl --mpi --memory 70MiB --threads 1
    ended "mined in blocks by 2 ranks" 0
    check "mined in blocks by 2 ranks: the same bytes" cmp -s large.jsonl blocks.jsonl
    over -n 2 "$hardneg" mine q.h5 --filter-by teacher -o no.jsonl --mpi
    fails "mined by ranks: no teacher" 3 'has no teacher'
    check "mined by ranks: no file" test ! -e no.jsonl
}

make_jobs
if ! "$hardneg" run --mpi -c job.yaml -o alone --quiet 2>err; then
    check "the program is one with MPI, or says that it is not" complains 'make MPI=1'
    skip "MPI" "$hardneg was built without it (make mpi builds one with it)"
    finish
    exit
fi
check_same "without mpirun: the same" whole/results.h5 alone/results.h5
# What a control group leaves is that of all ranks of the machine.
test_control_group() {
    control_group 327680 || { skip "ranks in a control group" "none can be made here"; return; }
    expect "synth of larger embeddings" 0 '' synth -o large.h5 --n 300000 --dim 64 --classes 10 --steps 1 --seed 3
    printf '%s\n' 'version: 1' 'snapshots: [large.h5]' 'batch_size: 64' 'batches: 4' 'figures: none' 'metrics: [fn_ratio]' \
        'samplers: [uniform]' >large.yaml
    in_group "${mpi[@]}" -n 1 "$hardneg" run --mpi -c large.yaml -o grouped --threads 1 --quiet
    ended "one rank in 320 MiB" 0
    in_group "${mpi[@]}" -n 3 "$hardneg" run --mpi -c large.yaml -o grouped3 --threads 1 --quiet
    fails "three ranks in 320 MiB" 2 'the limit is [67][0-9] MiB: that is what the control group'
    wait_for 20 rmdir "$group" 2>/dev/null
}

run_tests "${2:-}" '' test_same test_control_group test_shared_out test_threads test_failures test_interrupts test_rows test_rows_killed test_bench test_mine test_train test_train_interrupted
finish
