#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `hardneg run --rows i/n`: processes that share long computations through one folder: `tests/rows.sh PROGRAM [NAME]`.
source "$(dirname "$0")/lib.sh"
begin rows "$1"

make_jobs() {
    expect "synth" 0 '' synth -o s.h5 --n 3000 --dim 32 --classes 10 --steps 2 --views 2 --seed 1
    printf '%s\n' 'version: 1' 'snapshots: [s.h5]' 'batch_size: 30' 'batches: 20' 'figures: none' \
        'temperature: [0.07, 0.5]' 'timing: {reps: 1, warmup: 0}' 'metrics: [all, {prop2: {M: 50, K: 10, sweeps: 2}}]' \
        'samplers: [uniform, batchsampler: {M: 1000, K: 20}, batchsampler: {M: 1000, K: 20, candidates: dealt},' \
        '  gcbs: {keep: 30}, mined, hard-negative, hops]' >job.yaml
    printf '%s\n' 'version: 1' 'snapshots: [long.h5]' 'batch_size: 100' 'batches: 20' 'figures: none' \
        'timing: {reps: 1, warmup: 0}' 'metrics: [fn_ratio, uniformity, overlap_label]' \
        'samplers: [batchsampler: {M: 1000, K: 20}, mined, gcbs: {quantile: .999}]' >long.yaml
    expect "in one process" 0 '' run -c job.yaml -o whole --quiet
}

# Parts in turn, again and again until none waits.
in_turn() { # FOLDER PARTS ARGUMENT...
    local folder=$1 parts=$2 i round
    shift 2
    for round in 1 2 3 4 5 6; do
        for i in $(seq "$parts"); do
            run run -o "$folder" --quiet --rows "$i/$parts" "$@"
            [ "$rc" != 0 ] || return 0
            check "part $i of $parts in round $round waits" test "$rc" = 4
        done
    done
    return 1
}
part_files() { find "$1/parts" -type f -not -name "*tmp*" 2>/dev/null | wc -l; } # finished ones

test_same() {
    local n
    for n in 1 2 3 4 7; do
        check "$n parts end" in_turn "of$n" "$n" -c job.yaml
        check_same "$n parts: the same" whole/results.h5 "of$n/results.h5"
        check "$n parts: their files are removed" test ! -e "of$n/parts"
    done
    check "on one thread, without the screen" env HN_SCREEN=off OMP_NUM_THREADS=1 bash -c "$(declare -f in_turn run check pass fail)
        work='$work' hardneg='$hardneg' passed=0 failed=0; in_turn other 3 -c job.yaml"
    check_same "on one thread, without the screen: the same" whole/results.h5 other/results.h5
    expect "what waits is said" 4 'left for parts of other --rows: ' run -c job.yaml -o waits --rows 2/3
    check "a cell that waits leaves no file" test "$(find waits/cells -name '*.cell' | wc -l)" -lt "$(find whole/cells -name '*.cell' | wc -l)"
    expect "what was computed is counted" 4 'rows 1/3: [0-9]+ parts in .* written, .* read, [0-9]+ % waiting' run -c job.yaml -o waits --rows 1/3
    expect "a run without --rows computes the rest" 0 '' run -c job.yaml -o waits --quiet
    check_same "a run without --rows: the same" whole/results.h5 waits/results.h5
    pycheck "builds that others had a part in are not timed" 'import h5py, numpy as np, sys
f = h5py.File(sys.argv[1]); r = f["runs"]; s = r["sampler"].asstr()[:]
assert np.isnan(r["cost_g"][:][s == "mined"]).all()
assert "rows" in f["env"].attrs' of2/results.h5
}

# A part that comes when all is done finds the results, and computes nothing.
cell_times() { find "$1/cells" -type f -printf '%f %T@\n' | sort; } # FOLDER
test_late() {
    local part
    [ -e of2/results.h5 ] || in_turn of2 2 -c job.yaml
    cell_times of2 >before
    check "there are cells" test -s before
    for part in 2/2 1/2 5/7; do
        expect "part $part of what is done ends" 0 '\(0 computed, [1-9][0-9]* reused\)' run -c job.yaml -o of2 --rows $part
        check "part $part of what is done: the cells stay as they were" eval 'cell_times of2 | cmp -s - before'
        check "part $part of what is done leaves no parts" test ! -e of2/parts
        check_same "part $part of what is done: the same" whole/results.h5 of2/results.h5
    done
}

test_together() {
    local i pids=()
    for i in 1 2 3; do
        "$hardneg" run -c job.yaml -o together --quiet --rows "$i/3" --wait 60 >"together.$i" 2>&1 </dev/null &
        pids+=($!)
    done
    for i in 0 1 2; do
        wait "${pids[i]}"
        check "part $((i + 1)) of three at once ends" test $? = 0
    done
    check_same "three at once, waiting for each other: the same" whole/results.h5 together/results.h5
    check "nothing temporary is left" none_temporary together
}

test_refused() {
    expect "no part" 2 '--rows ranks: give ranks with --mpi, and i/n' run -c job.yaml -o no --rows ranks
    expect "a part beyond the last" 2 '--rows 3/2: give part i of n' run -c job.yaml -o no --rows 3/2
    expect "not a part" 2 '--rows 1/2x: give part i of n' run -c job.yaml -o no --rows 1/2x
    expect "a long one is cut with a mark" 2 '--rows x{57}[.]{3}: give part i of n' run -c job.yaml -o no --rows "$(printf 'x%.0s' {1..99})"
    expect "parts of two kinds" 2 '--rows and --shard' run -c job.yaml -o no --rows 1/2 --shard 1/2
    check "nothing was written" nothing_left no
}

# Bands of rows take less memory than lists as a whole: a limit between the two is below what one process needs alone.
test_foreseen() {
    expect "synth" 0 '' synth -o wide.h5 --n 16000 --dim 16 --steps 1 --seed 2
    printf '%s\n' 'version: 1' 'snapshots: [wide.h5]' 'batch_size: 30' 'batches: 4' 'figures: none' 'metrics: [fn_ratio]' \
        'timing: {reps: 1, warmup: 0}' 'samplers: [batchsampler: {graph: knn, K: 50}]' >knn.yaml
    expect "one process is foreseen" 0 '1 of 1 cell' run -c knn.yaml -o no --dry-run
    cp "$work/err" alone.txt
    expect "one of those who share is foreseen" 0 '1 of 1 cell' run -c knn.yaml -o no --dry-run --rows 1/2
    cp "$work/err" among.txt
    expect "several settings of those who share are foreseen" 0 '3 of 3 cells' run -c knn.yaml -o no --dry-run --rows 1/2 \
        --set 'samplers=[batchsampler: {graph: knn, K: [20, 50]}, uniform]'
    check "nothing was written" nothing_left no
    pycheck "memory of those who share" 'import re
unit = {"KiB": 1, "MiB": 2**10, "GiB": 2**20}
size = lambda f: next(float(n) * unit[u] for n, u in re.findall(r"and ([\d.]+) (\wiB) of data", open(f).read()))
alone, shared = size("alone.txt"), size("among.txt")
assert 16000 * 16 * 4 / 2**10 < shared < .9 * alone, (shared, alone)
print("%.0fKiB" % ((shared + alone) / 2), file=open("between", "w"))'
    local between=(run -c knn.yaml -o no --dry-run --memory "$(cat between)")
    expect "a limit that one process is above: bands" 0 'in bands of items, and pools' "${between[@]}"
    expect "a limit that one of those who share is below" 0 '' "${between[@]}" --rows 1/2
    check "it takes the quickest way" test "$(grep -c quickest "$work/err")" = 0
}

# A part whose file was damaged is removed, and computed again.
test_damaged() {
    local file
    run run -c job.yaml -o bad --quiet --rows 1/2
    file=$(find bad/parts -type f | sort | head -n 1)
    printf 'x' | dd of="$file" bs=1 seek=200 conv=notrunc 2>/dev/null
    check "a damaged part ends in the same results" in_turn bad 2 -c job.yaml
    check_same "a damaged part: the same" whole/results.h5 bad/results.h5
}

# What another program has computed is not joined.
test_other_program() {
    local mine=$hardneg
    with_python "parts of another program" || return
    make_other_program whole/results.h5
    expect "a part of one program" 4 '' run -c job.yaml -o two --quiet --rows 1/2
    hardneg=$work/other-hardneg
    expect "parts of another program" 4 'parts here were made by program [0-9.]+-[0-9a-f]+: they are not joined with those of this one [(][0-9.]+-f00df00d' \
        run -c job.yaml -o two --rows 2/2
    check "are not read" complains ' 0.0 KiB read'
    hardneg=$mine
    check "it ends with its own" in_turn two 2 -c job.yaml
    check_same "the same" whole/results.h5 two/results.h5
    check "the files of both are removed" test ! -e two/parts
}

has_parts() { [ "$(part_files "$1")" -ge "$2" ]; }
# Killed at moments of their own, each run loses what was in flight: at most one part.
# Embeddings that processes of one machine map, once they are larger than a mebibyte.
test_shared() {
    local rows made
    expect "synth of larger embeddings" 0 '' synth -o large.h5 --n 12000 --dim 32 --classes 10 --steps 1 --views 2 --seed 3
    sed 's/long.h5/large.h5/' long.yaml >large.yaml
    expect "larger embeddings in one process" 0 '' run -c large.yaml -o large --quiet
    expect "the first process makes their file" 4 '' run -c large.yaml -o shared --quiet --rows 1/3
    rows=$(find shared/parts/rows -type f | sort | head -n 1)
    check "it is there" test -s "$rows"
    check "with both views" test "$(find shared/parts/rows -type f | wc -l)" = 3
    made=$(stat -c %i.%Y "$rows")
    expect "the second process maps it" 4 '' run -c large.yaml -o shared --quiet --rows 2/3
    check "and does not make it again" test "$(stat -c %i.%Y "$rows")" = "$made"
    printf 'xyz' | dd of="$rows" bs=1 seek=70001 conv=notrunc 2>/dev/null
    expect "a damaged one" 4 '' run -c large.yaml -o shared --quiet --rows 1/3
    check "is made again" test "$(stat -c %i "$rows")" != "${made%.*}"
    check "all end" in_turn shared 3 -c large.yaml
    check_same "shared embeddings: the same" large/results.h5 shared/results.h5
    check "their files are removed" test ! -e shared/parts
}
test_kills() {
    local round=0 before after kept=1 pid
    expect "synth of the long job" 0 '' synth -o long.h5 --n 16000 --dim 64 --classes 10 --steps 1 --views 2 --seed 2
    expect "the long job in one process" 0 '' run -c long.yaml -o long --quiet
    while [ $round -lt 10 ]; do
        round=$((round + 1))
        before=$(part_files killed)
        "$hardneg" run -c long.yaml -o killed --quiet --rows 1/1 >out 2>err </dev/null &
        pid=$!
        sleep "0.$((RANDOM % 9))$((RANDOM % 10))"
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
        after=$(part_files killed)
        [ "$after" -ge "$before" ] || [ -e killed/results.h5 ] || kept=0
        [ ! -e killed/results.h5 ] || break
    done
    check "parts that were finished are kept" test $kept = 1
    expect "it goes on" 0 '' run -c long.yaml -o killed --quiet --rows 1/1
    check_same "killed $round times: the same" long/results.h5 killed/results.h5
    check "nothing temporary is left" none_temporary killed
}

# Queries over a corpus: `mine --rows`, whose parts lie beside the file.
make_queries() {
    [ -e q.h5 ] || expect "synth of queries" 0 '' synth --kind retrieval -o q.h5 --n 32000 --queries 30000 --relevant 1 --dim 32 --seed 3
    mine=(mine q.h5 -n 5 --relative-margin .02 --take draw --fill draw)
    [ -e mined.jsonl ] && return
    expect "mined in one process" 0 '' "${mine[@]}" -o mined.jsonl --json
    mv "$work/out" mined.json
}
mined_in() { # PARTS ARGUMENT...: the last part writes the file
    local parts=$1 i
    shift
    for i in $(seq "$parts"); do
        expect "mine: part $i of $parts" "$([ "$i" -lt "$parts" ] && echo 4 || echo 0)" '' "${mine[@]}" -o "mined$parts.jsonl" --rows "$i/$parts" "$@"
    done
    check "mined in $parts parts: the same bytes" cmp -s mined.jsonl "mined$parts.jsonl"
    check "mined in $parts parts: nothing else is left" test "$(echo mined"$parts".*)" = "mined$parts.jsonl"
}
test_mine() {
    local i pids=()
    make_queries
    mined_in 1 --json --quiet
    check "what filters took away is counted over all parts" cmp -s <(sed 's/mined1\.jsonl/mined.jsonl/' out) mined.json
    mined_in 3 --threads 1
    mined_in 7 --threads 4
    expect "mined in little memory" 0 '' "${mine[@]}" -o little.jsonl --memory 64MiB --threads 2
    check "mined in little memory: the same bytes" cmp -s mined.jsonl little.jsonl
    for i in 1 2; do # each with a limit of its own
        run "${mine[@]}" -o mixed.jsonl --rows "$i/2" --memory "$((i * 64))MiB" --threads 2
    done
    check "mined in parts, one in little memory: the same bytes" cmp -s mined.jsonl mixed.jsonl
    for i in 1 2 3; do
        "$hardneg" "${mine[@]}" -o at-once.jsonl --rows "$i/3" --wait 60 >"at-once-$i" 2>&1 </dev/null &
        pids+=($!)
    done
    for i in 0 1 2; do
        wait "${pids[i]}"
        check "mined by three at once: part $((i + 1)) ends" test $? = 0
    done
    check "mined by three at once: the same bytes" cmp -s mined.jsonl at-once.jsonl
    check "mined by three at once: nothing else is left" test "$(echo at-once.*)" = at-once.jsonl
    expect "other settings are other parts" 4 'parts of a computation are missing' "${mine[@]}" -o other.jsonl --rows 2/3
    run mine q.h5 -o plain.jsonl -q
    expect "other settings: the first part" 4 '' mine q.h5 -o other.jsonl --rows 1/3
    expect "other settings: mined whole" 0 '' mine q.h5 -o other.jsonl --rows 1/1
    check "other settings: of them alone" cmp -s plain.jsonl other.jsonl
    expect "mine: no part" 2 '--rows 0/3: give part i of n' "${mine[@]}" -o no.jsonl --rows 0/3
    touch way.jsonl.parts
    expect "mine: a file is in the way of parts" 2 'way.jsonl.parts.*; a file is where a folder is needed: move it, or' mine q.h5 -o way.jsonl --rows 1/1
    expect "mine: rows and ranks" 2 '--rows and --mpi' "${mine[@]}" -o no.jsonl --rows 1/3 --mpi
    check "mine: nothing was written" test ! -e no.jsonl -a ! -e no.jsonl.parts
}
# A task of an array that starts when the file is there ends well, and leaves nothing; of another file it has a part.
test_mine_late() {
    local other
    expect "synth of few queries" 0 '' synth --kind retrieval -o few.h5 --n 300 --queries 40 --dim 8 --steps 1
    attributes . || { skip "tasks that start late" "the disk has no attributes"; return; }
    late=(mine few.h5 -n 4 --seed 2 -o few.jsonl)
    expect "an array: its first task mines all" 0 '' "${late[@]}" --rows 1/3
    cp few.jsonl kept.jsonl
    for i in 2 3 1; do
        expect "an array: task $i starts late" 0 'few.jsonl was written by another process' "${late[@]}" --rows "$i/3" --wait 600
    done
    check "an array: the file stays" cmp -s few.jsonl kept.jsonl
    check "an array: nothing else is left" test "$(echo few.*)" = 'few.h5 few.jsonl'
    for other in '-n 5' '--seed 3' '--relative-margin 0.1' '--format trec'; do
        # shellcheck disable=SC2086 # words are wanted
        expect "another file: $other" 4 'parts of a computation are missing' "${late[@]}" $other --rows 2/3
    done
    echo >>few.jsonl
    expect "a file that was changed" 4 'parts of a computation are missing' "${late[@]}" --rows 2/3
    expect "it is mined again" 0 '' "${late[@]}" --rows 1/1
    check "it is as it was" cmp -s few.jsonl kept.jsonl
    expect "mined without --rows" 0 '' mine few.h5 -o ids.npy --scores scores.npy
    expect "a task after that" 0 'written by another process' mine few.h5 -o ids.npy --scores scores.npy --rows 2/2
    rm scores.npy
    expect "one of two files is missing" 4 '' mine few.h5 -o ids.npy --scores scores.npy --rows 2/2
}
attributes() { # FOLDER: whether its files can have attributes
    "$python" -c 'import os, sys; p = sys.argv[1] + "/attr"; open(p, "w").close(); os.setxattr(p, "user.x", b"1"); os.remove(p)' "$1" 2>/dev/null
}
mined_parts() { find killed.jsonl.parts -type f -not -name '*tmp*' 2>/dev/null | wc -l; }
test_mine_killed() {
    local round=0 before pid
    make_queries
    while [ $round -lt 6 ] && [ ! -e killed.jsonl ]; do
        round=$((round + 1))
        before=$(mined_parts)
        "$hardneg" "${mine[@]}" -o killed.jsonl --threads 1 --quiet --rows 1/1 >out 2>err </dev/null &
        pid=$!
        more_parts() { [ "$(mined_parts)" -gt "$before" ] || [ -e killed.jsonl ]; }
        check "killed, round $round: it goes on" wait_for 60 more_parts
        sleep "0.0$((RANDOM % 10))"
        kill -KILL $pid 2>/dev/null
        wait $pid 2>/dev/null
        check "killed, round $round: parts that were finished are kept" more_parts
    done
    expect "killed $round times: it ends" 0 '' "${mine[@]}" -o killed.jsonl --rows 1/1
    check "killed $round times: the same bytes" cmp -s mined.jsonl killed.jsonl
    check "killed $round times: nothing else is left" test "$(echo killed.jsonl*)" = killed.jsonl
    run "${mine[@]}" -o bad.jsonl --rows 1/2
    printf 'x' | dd of="$(find bad.jsonl.parts -type f | sort | head -n 1)" bs=1 seek=200 conv=notrunc 2>/dev/null
    expect "a damaged part" 4 'the file is damaged, and was removed: run again' "${mine[@]}" -o bad.jsonl --rows 2/2
    expect "a damaged part: again" 0 '' "${mine[@]}" -o bad.jsonl --rows 1/1
    check "a damaged part: the same bytes" cmp -s mined.jsonl bad.jsonl
}

make_jobs
run_tests "${2:-}" "" test_same test_late test_together test_refused test_foreseen test_damaged test_other_program test_shared test_kills test_mine test_mine_late test_mine_killed
finish
