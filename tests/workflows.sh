#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The workflows of docs/guide/ci/ for repositories of others, line by line: `tests/workflows.sh PROGRAM [WORD]`. What they download is a
# source archive whose `make` takes PROGRAM (tests/install.sh builds the real one).
. "$(dirname "$0")/lib.sh"
begin workflows "${1:-build/hardneg}"

archive() { # FILE FOLDER: its checksum in $sum
    tar -czf "$1" "$2"
    sum=$(sha256sum "$1" | cut -d' ' -f1)
}
workflow() { "$python" "$here/workflow.py" "$root/docs/guide/ci/$1" "HARDNEG_ARCHIVE=file://$PWD/../hardneg.tar.gz" "HARDNEG_SHA256=$release" "${@:2}" >out 2>err; }
steps() { check "$1" test "$(grep -E '^[A-Z].*: [0-9]+$|^hardneg: ' out | tr '\n' ' ')" = "$2 "; } # NAME STEPS: those that ran

make_release() {
    mkdir hardneg
    printf '#!/bin/sh\ntest "$*" = build\n' >hardneg/deps.sh
    printf 'all:\n\tmkdir build && cp "%s" build/hardneg\n' "$hardneg" >hardneg/Makefile
    chmod +x hardneg/deps.sh
    archive hardneg.tar.gz hardneg
    release=$sum
}

checkpoint() { # KAPPA SEED: embeddings.npy and labels.npy of a checkpoint, clusters of this width
    rm -rf new history compare.xml summary.md snapshot.h5
    "$python" - "$@" <<'PY'
import sys
import numpy as np
kappa, r = float(sys.argv[1]), np.random.default_rng(int(sys.argv[2]))
labels = np.repeat(np.arange(12), 25)
x = r.normal(size=(12, 16))[labels] + kappa * r.normal(size=(300, 16))
np.save("embeddings.npy", x.astype("f4")), np.save("labels.npy", labels)
PY
}

# A repository that trains an encoder: the first checkpoint, one that is accepted, and one that is worse.
test_checkpoint() {
    mkdir encoder && cd encoder || return
    printf '%s\n' 'version: 1' 'snapshots: [snapshot.h5]' 'batch_size: 32' 'seeds: [1, 2, 3, 4, 5]' 'samplers: [knn]' 'metrics: [fn_ratio, hardness]' 'figures: none' >job.yaml
    checkpoint 1 1
    workflow your-repository.yml
    check "checkpoint: the first passes" test $? = 0
    steps "checkpoint: the first: steps" 'hardneg: 0 Snapshot: 0 Run the job: 0 Compare with the last checkpoint: 0 Draw the checkpoints: 0'
    cp new/results.h5 last.h5
    checkpoint 1 1
    workflow your-repository.yml
    check "checkpoint: the same again passes" test $? = 0
    check "checkpoint: a summary" grep -q '^|' summary.md
    check "checkpoint: junit" grep -q '<testsuite' compare.xml
    mkdir accepted && cp last.h5 accepted/2026-01-01.h5
    checkpoint .3 1
    workflow your-repository.yml
    check "checkpoint: another encoder fails" test $? = 1
    steps "checkpoint: another encoder: steps" 'hardneg: 0 Snapshot: 0 Run the job: 0 Compare with the last checkpoint: 1 Draw the checkpoints: 0'
    [ -z "$(command -v gnuplot)" ] || check "checkpoint: a drawing" test -s history/history.svg
    rm -r history new
    workflow your-repository.yml HARDNEG_SHA256=0000
    check "checkpoint: another archive fails" test $? = 1
    steps "checkpoint: another archive: steps" 'hardneg: 1 Draw the checkpoints: 1'
    cd ..
}

entry() { printf '%s\n' "name: $1" 'authors: A' 'chosen_on: nothing' 'settings:' "  - $2"; } # NAME SETTING

# A repository that keeps a board: an entry, and one whose numbers are not what is measured.
test_board() {
    mkdir -p suite/enc board/entries/mine && cd suite || return
    local i
    for i in 1 2 3; do "$hardneg" synth -o enc/$i.h5 --n 200 --dim 8 --classes $((3 * i)) --steps 1 --views 1 --seed $i --quiet; done
    {
        printf '%s\n' 'suite: small' 'batch_size: 32' 'batches: 12' 'seeds: [1]' 'reference:' '  - uniform' '  - knn' '  - b3' 'kinds:'
        for i in 1 2 3; do
            printf '  - name: k%s\n    kept: false\n    encoders:\n      - {file: enc/%s.h5, sha256: %s}\n' $i $i \
                "$("$hardneg" info --json enc/$i.h5 | sed -n 's/.*"content_sha256": "\(.*\)",/\1/p')"
        done
    } >suite.yaml
    "$hardneg" board --suite suite.yaml -o reference.h5 -q
    entry mine 'batchsampler: {M: 60, K: 20}' >../board/entries/mine/entry.yaml
    entry other knn >../other.yaml
    "$hardneg" board --suite suite.yaml --entry ../board/entries/mine/entry.yaml -o ../board/entries/mine/entry.h5 -q
    "$hardneg" board --suite suite.yaml --entry ../other.yaml -o ../other.h5 -q
    cd ..
    archive suite.tar.gz suite
    cd board || return
    git init -q -b main . && git config user.email a@b && git config user.name A
    git commit -q --allow-empty -m first && git update-ref refs/remotes/origin/main HEAD
    git add entries && git commit -q -m mine
    board_workflow() { HOME=$PWD workflow board.yml "SUITE_ARCHIVE=file://$PWD/../suite.tar.gz" "SUITE_SHA256=$sum" GITHUB_BASE_REF=main; }
    board_workflow
    check "board: an entry passes" test $? = 0
    check "board: on the page" grep -q '>mine</a>' board.html
    check "board: in the summary" grep -q '^| mine ' summary.md
    mkdir entries/other && cp ../other.yaml entries/other/entry.yaml && cp entries/mine/entry.h5 entries/other/entry.h5
    git add entries && git commit -q -m other
    board_workflow
    check "board: the numbers of another sampler fail" test $? = 1
    steps "board: and no board is made" 'hardneg: 0 The suite: 0 Measure again what is new: 5'
    (cd ../suite && "$hardneg" board --suite suite.yaml --entry ../other.yaml -o ../board/entries/other/entry.h5 -q)
    rm summary.md
    git commit -q -a -m 'other, measured'
    board_workflow
    check "board: measured, it passes" test $? = 0
    check "board: both in the summary" test "$(grep -c '^| mine \|^| other ' summary.md)" = 2
    cd ..
}

if [ -z "$python" ] || ! "$python" -c 'import numpy, yaml' 2>/dev/null || [ -z "$(command -v git)" ] || [ -z "$(command -v curl)" ]; then
    skip "workflows" "no python3 with numpy and yaml, git or curl"
else
    run_tests "${2:-}" make_release make_release test_checkpoint test_board
fi
finish
