#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of the command line: `tests/cli.sh PROGRAM`. Exit codes, messages, what a failed or interrupted
# command leaves behind, and that the same job gives the same results however it is run.
source "$(dirname "$0")/lib.sh"
begin cli "$1"

valid_json() { "$python" -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/out"; }
job() { # SNAPSHOT SAMPLERS [LINE...]: a small job on standard output
    printf 'version: 1\nsnapshots: [%s]\nsamplers: %s\n' "$1" "$2"
    shift 2
    printf '%s\n' 'batch_size: 16' 'batches: 10' 'seeds: [1]' 'timing: {reps: 1, warmup: 0}' "$@"
}

test_help() {
    local commands="run plot report sheet list info synth import validate sample choose"
    expect "--version" 0 '' --version
    check "--version names the version" says '^hardneg [0-9]+\.[0-9]+\.[0-9]+'
    expect "--help" 0 '' --help
    for c in $commands; do
        check "--help lists $c" says "^ +$c "
    done
    for c in $commands; do
        expect "$c --help" 0 '' "$c" --help
        check "$c --help: usage" says "hardneg $c"
        check "$c --help: quiet" says "--quiet"
        expect "$c --version" 0 '' "$c" --version
        check "$c --version names the version" says '^hardneg [0-9]+\.[0-9]+\.[0-9]+'
    done
    expect "no command" 2 '.'
    expect "unknown command" 2 "@did-you-mean 'run'" rnu
    expect "unknown option" 2 'threads' run -c j.yaml --thraeds 2
    expect "option without value" 2 '.' run -c
    expect "superfluous argument" 2 'argument' info a.h5 b.h5
    expect "usage of several lines" 2 "unexpected argument 'x.npy'; usage: hardneg import --embeddings .* -o FILE \(--help has more\)$" import x.npy
    expect "list of what is not there" 2 'samplers' list smplers
    expect "help of a command" 0 '' help run
    check "is that of the command" says '^usage: hardneg run '
    expect "help of no command" 2 "@did-you-mean 'run'" help rnu
    expect "help alone" 0 '' help
    check "begins with what to start with" eval 'grep -A 4 "^start here:" "$work/out" | grep -q "^  import "'
    "$hardneg" completion bash | sed -n 's/^_hardneg_commands="\([^"]*\)".*/\1/p' | tr ' ' '\n' | sort >completed
    sed -n '/^exit codes/q; s/^  \([a-z]*\) .*/\1/p' "$work/out" | sort >grouped
    check "every command is in a group" cmp -s completed grouped
    for what in samplers losses train-losses weightings metrics tasks figures formats; do
        expect "list $what" 0 '' list $what
        expect "list $what --json" 0 '' list $what --json
        if [ -n "$python" ]; then check "list $what --json is JSON" valid_json; fi
    done
    "$hardneg" list samplers >/dev/full 2>err
    check "standard output cannot be written: exit code 74" test $? = 74
    expect "one sampler" 0 '' list sampler knn batchsampler
    check "with its options" says '^    alpha .*restart probability'
    check "in lines of a terminal" eval '! grep -q ".\{101\}" "$work/out"'
    expect "one sampler that is not there" 2 "@did-you-mean 'gcbs'" list sampler gbcs
    expect "a sampler without a name" 2 'which sampler' list sampler
    expect "one as JSON" 0 '' list sampler knn --json
    check "is that one alone" test "$(grep -c '"summary"' "$work/out")" = 1
    run list samplers
    check "a list has no line that a terminal breaks" eval '! grep -q ".\{101\}" "$work/out"'
    run list samplers --json
    for name in uniform knn batchsampler gcbs mosaic ngame osgd jest spectral grit tas-b cde b3 hard-negative stratified file-order; do
        check "list samplers names $name" says "\"$name\""
    done
    run list tasks --json
    jq -r '.tasks[].losses[]' "$work/out" | sort -u >trained
    run list train-losses --json
    check "list train-losses names what any task trains with" eval \
        'test -s trained && test -z "$(jq -r ".[][].name" "$work/out" | sort -u | comm -13 - trained)"'
    expect "a loss of train" 0 '' list train-loss siglip
    run list weightings --json
    for name in none debiased hcl gist fnc progcl tau_plus; do
        check "list weightings names $name" says "\"$name\""
    done
}

test_data_commands() {
    expect "synth" 0 '' synth -o s.h5 --n 300 --dim 16 --classes 5 --steps 2 --views 2 --seed 1
    expect "synth again" 0 '' synth -o s2.h5 --n 300 --dim 16 --classes 5 --steps 2 --views 2 --seed 1
    expect "synth with fewer items than classes" 2 'classes|n' synth -o no.h5 --n 3 --classes 5
    expect "validate" 0 '' validate s.h5
    expect "info" 0 '' info s.h5
    check "info: items" says '300'
    check "class sizes" says '^class sizes +smallest [0-9]+, median [0-9]+, largest [0-9]+ \(.+\)$'
    check "base rate of pairs" says '^base rate +[0-9.]+ % of labelled pairs share a class'
    check "no row repeats another" eval '! says "^equal rows"'
    expect "info --json" 0 '' info s.h5 --json
    check "info --json has the base rate" "$python" -c 'import json; i = json.load(open("out"))
assert 0 < i["same_class_pairs"] < 1 and i["equal_rows"] == 0
assert 0 < i["class_sizes"]["smallest"] <= i["class_sizes"]["median"] <= i["class_sizes"]["largest"]'
    [ -z "$python" ] || check "info --json is JSON" valid_json
    expect "validate --quiet" 0 '' validate s.h5 --quiet
    check "validate --quiet is silent" silent
    expect "synth into a missing folder" 2 'no-such' synth -o no-such-folder/s.h5
    expect "synth below a regular file" 2 's\.h5' synth -o s.h5/x.h5
    expect "synth into /proc" 2 '/proc' synth -o /proc/hardneg.h5
    expect "validate a missing file" 3 'missing\.h5' validate missing.h5
    expect "info on a missing file" 3 'missing\.h5' info missing.h5
}

test_validate_json() {
    expect "validate --json" 0 '' validate --json s.h5 s.h5
    [ -z "$python" ] || check "validate --json: what the files hold" "$python" -c "import json
files = json.load(open('$work/out'))['files']
assert len(files) == 2 and files[0]['valid'] and files[0]['items'] > 0, files"
    expect "validate --json of a missing file" 3 'missing.h5' validate --json s.h5 missing.h5
    [ -z "$python" ] || check "validate --json: which is bad, and why" "$python" -c "import json
files = json.load(open('$work/out'))['files']
assert [f['valid'] for f in files] == [True, False] and 'missing.h5' in files[1]['error'], files"
    cp s.h5 "$(printf 'a\377.h5')"
    expect "validate --json of a name that is no text" 0 $'"a\xef\xbf\xbd.h5"' validate --json "$(printf 'a\377.h5')"
    rm "$(printf 'a\377.h5')"
}

test_import() {
    with_python "import" || return
    "$python" -c "import numpy as np
r = np.random.default_rng(1)
np.save('x.npy', r.normal(size=(120, 8)).astype('f4')); np.save('y.npy', np.arange(120) % 4)
np.save('x2.npy', r.normal(size=(120, 8)).astype('f4')); np.save('short.npy', np.arange(119) % 4)
b = r.normal(size=(120, 8)).astype('f4'); b[17, 3] = np.nan; np.save('nan.npy', b)
np.save('flat.npy', b[0])"
    expect "import" 0 '' import --embeddings x.npy --labels y.npy --step 0 -o own.h5
    expect "imported file is valid" 0 '' validate own.h5
    expect "import appends a step" 0 '' import --embeddings x2.npy --labels y.npy --step 10 -o own.h5
    run info own.h5
    check "two steps after the second import" says '10'
    cp own.h5 before.h5
    expect "import of the same step again" 2 'step' import --embeddings x.npy --labels y.npy --step 10 -o own.h5
    check "a failed import changes nothing" cmp -s own.h5 before.h5
    expect "import: labels too short" 3 'labels|short\.npy' import --embeddings x.npy --labels short.npy -o no.h5
    expect "import: NaN is named" 3 'row 17' import --embeddings nan.npy --labels y.npy -o no.h5
    expect "import: wrong rank" 3 'flat\.npy' import --embeddings flat.npy --labels y.npy -o no.h5
    expect "import: missing file" 3 'none\.npy' import --embeddings none.npy --labels y.npy -o no.h5
    expect "import: no npy file" 3 's\.h5' import --embeddings s.h5 --labels y.npy -o no.h5
    check "failed imports leave nothing" test ! -e no.h5
    "$python" -c "import h5py, numpy as np; f = h5py.File('ann.h5', 'w'); f['train'] = f['test'] = np.load('x.npy')"
    expect "import: what is left out is said" 0 'ann\.h5.*test are left out' import --embeddings ann.h5 -o ann-own.h5
    check "failed imports leave no temporary file" nothing_left .
}

# Each file has one fault: `validate` names it, `run` refuses it, and neither leaves anything.
bad_file() { # NAME PATTERN FILE
    expect "validate: $1" 3 "$2" validate "$3"
    job "$3" '[uniform: {}]' >bad.yaml
    rm -rf bad
    expect "run: $1" 3 "$3" run -c bad.yaml -o bad --quiet
    check "run: $1: nothing left" nothing_left bad
}

test_bad_snapshots() {
    bad_file "missing file" 'none\.h5' none.h5
    echo 'this is text' >text.h5
    bad_file "not HDF5" 'HDF5' text.h5
    : >empty.h5
    bad_file "empty file" 'is empty' empty.h5
    head -c 5000 s.h5 >cut.h5
    bad_file "truncated file" 'cut\.h5' cut.h5
    # What a message cannot hold is the middle of a path, not the reason behind it.
    local long
    long=$(printf '/abcdefgh%.0s' {1..500})
    expect "a long path: the reason" 3 '^hardneg info: /abcdefgh.*[.]{3}.*/abcdefgh: cannot be opened: File name too long; check the path$' info "$long"
    expect "two long paths: both reasons" 3 '^hardneg merge: /abcdefgh.*/abcdefgh: cannot be opened: File name too long' merge "$long" "$long" -o none.h5
    expect "a long path of a job" 2 'the job file cannot be opened: File name too long$' run -c "$long" -o none
    expect "a long path to write" 2 '/abcdefgh/s.h5: cannot be written: File name too long; check the folder$' synth -o "$long/s.h5"
    with_python "spoiled snapshots" || return
    spoiled s.h5 schema.h5 "f.attrs['schema'] = 'something-else'"
    bad_file "wrong schema" 'schema' schema.h5
    spoiled s.h5 version.h5 "f.attrs['schema_version'] = 99"
    bad_file "newer version" 'version' version.h5
    spoiled s.h5 nan.h5 "f['embeddings'][1, 37, 5] = np.nan"
    bad_file "NaN row" 'row 37' nan.h5
    spoiled s.h5 inf.h5 "f['view2'][0, 12, 0] = np.inf"
    bad_file "infinite row" 'row 12' inf.h5
    spoiled s.h5 zero.h5 "f['embeddings'][0, 41, :] = 0"
    bad_file "zero row" 'row 41' zero.h5
    spoiled s.h5 short.h5 "l = f['labels'][:299]; del f['labels']; f['labels'] = l"
    bad_file "labels too short" 'labels' short.h5
    spoiled s.h5 rank.h5 "del f['embeddings']; f['embeddings'] = np.ones(300, 'f4')"
    bad_file "wrong rank" 'rank|dimension' rank.h5
    spoiled s.h5 steps.h5 "f['step'][...] = [5, 5]"
    bad_file "steps that do not increase" 'step' steps.h5
    spoiled s.h5 gone.h5 "del f['embeddings']"
    bad_file "no embeddings" 'embeddings' gone.h5
}

test_bad_jobs() {
    expect "run without a job" 2 '.' run
    expect "missing job file" 2 'none\.yaml' run -c none.yaml -o bad
    expect "job file is a folder" 2 '.' run -c . -o bad
    printf 'version: 1\nsnapshots: [s.h5\n' >j.yaml
    expect "broken YAML: line" 2 'j\.yaml:[0-9]+:[0-9]+' run -c j.yaml -o bad
    : >j.yaml
    expect "empty job" 2 'j\.yaml' run -c j.yaml -o bad
    job s.h5 '[uniform: {}]' 'batch_sise: 3' >j.yaml
    expect "unknown key: place and nearest" 2 'j\.yaml:8:1: .*batch_size' run -c j.yaml -o bad
    job s.h5 '[batchsampelr: {}]' >j.yaml
    expect "unknown sampler: place and nearest" 2 'j\.yaml:3:[0-9]+: .*batchsampler' run -c j.yaml -o bad
    job s.h5 '[batchsampler: {M: 50, KK: 5}]' >j.yaml
    expect "unknown option: place" 2 'j\.yaml:3:[0-9]+: .*KK' run -c j.yaml -o bad
    job s.h5 '[batchsampler: {M: many}]' >j.yaml
    expect "wrong type" 2 'j\.yaml:3:[0-9]+: .*M' run -c j.yaml -o bad
    job s.h5 '[gcbs: {quantile: 1.5}]' >j.yaml
    expect "out of range" 2 'j\.yaml:3:[0-9]+: .*quantile' run -c j.yaml -o bad
    job s.h5 '[uniform: {}]' 'metrics: [fn_rato]' >j.yaml
    expect "unknown metric" 2 'j\.yaml:8:[0-9]+' run -c j.yaml -o bad
    job s.h5 '[batchsampler: {M: 10, K: 50}]' >j.yaml
    expect "K > M" 2 'K' run -c j.yaml -o bad
    job s.h5 '[uniform: {}]' 'steps: [12345]' >j.yaml
    expect "a step that is not there" 2 '12345' run -c j.yaml -o bad
    job s.h5 '[uniform: {}]' | sed 's/batch_size: 16/batch_size: 301/' >j.yaml
    expect "B > N" 3 '301' run -c j.yaml -o bad
    job s.h5 '[uniform: {}]' >j.yaml
    cp s.h5 twin.h5
    expect "the same contents under two names" 2 's\.h5 and .*twin\.h5 have the same contents \(SHA-256 [0-9a-f]{16}\)' \
        run -c j.yaml -o bad --set snapshots=[s.h5,twin.h5]
    rm twin.h5
    expect "--set with an unknown key" 2 'batches' run -c j.yaml -o bad --set batchs=3
    expect "--filter that is no expression" 2 'filter' run -c j.yaml -o bad --filter '('
    expect "more threads than OpenBLAS bears" 2 '513 is out of range .1 to 512' run -c j.yaml -o bad --threads 513
    expect "--threads 0 or fewer" 2 'threads' run -c j.yaml -o bad --threads -3
    check "refused jobs leave nothing" nothing_left bad
    expect "output below a regular file" 2 's\.h5' run -c j.yaml -o s.h5/out
    expect "output in /proc" 2 '/proc' run -c j.yaml -o /proc/out
}

test_run() {
    job s.h5 '[uniform: {}, batchsampler: {M: 5000, K: 20}]' >j.yaml
    expect "M > N-1 is a note, not an error" 0 '299' run -c j.yaml -o noted
    check "results are there" test -s noted/results.h5
    expect "--dry-run" 0 '' run -c j.yaml -o dry --dry-run
    check "--dry-run writes no results" test ! -e dry/results.h5
    expect "--quiet" 0 '' run -c j.yaml -o quiet --quiet
    check "--quiet is silent, no progress" silent
    expect "--explain of finished cells" 0 'skipped' run -c j.yaml -o noted --explain
    expect "--filter" 0 '' run -c j.yaml -o filtered --filter uniform --quiet
    OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0 expect "mpirun without --mpi" 0 'note: mpirun started 3 .*--mpi' run -c j.yaml -o noted
    OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=1 expect "mpirun without --mpi: the other ranks" 0 '' run -c j.yaml -o noted
    check "mpirun without --mpi: said once" test "$(grep -c mpirun err)" = 0
    ldd "$hardneg" | grep -q libmpi || {
        for c in run train; do expect "$c --mpi of a program without MPI" 2 'without MPI: make MPI=1' $c --mpi -c j.yaml -o nompi; done
        expect "mine --mpi of a program without MPI" 2 'without MPI: make MPI=1' mine s.h5 --mpi -o nompi.jsonl
    }
    expect "a folder that no rank wants" 2 '--output: only with --mpi' bench sgemm --n 100 -o nompi
    expect "plot" 0 '' plot noted/results.h5 -o noted/figs
    check "figures with data and script" test "$(find noted/figs -name '*.svg' -size +0 | wc -l)" -gt 0
    expect "plot: unknown figure" 2 'figure' plot noted/results.h5 --figure bs-fg4 -o noted/figs
    expect "plot of settings" 0 'settings are drawn, those that were named; left out: ' plot noted/results.h5 --figure bs-fig4 --settings uniform -o noted/figs
    expect "plot of an unknown setting" 2 "--settings: no setting is 'knm'; there are: uniform" plot noted/results.h5 --settings uniform,knm -o noted/figs
    expect "paper of an unknown setting" 2 "--settings: no setting is 'knm'; there are: uniform" paper noted/results.h5 --settings uniform,knm -o noted/paper
    expect "report" 0 '' report noted/results.h5
    check "the report is a page with figures" grep -q '<figure id="bs-fig4">' noted/index.html
    expect "report of a missing file" 3 'none\.h5' report none.h5
    expect "plot: a step" 0 '' plot noted/results.h5 --figure bs-fig4 --step 0 -o noted/figs
    expect "plot: no such step" 2 "no cell is of step '7'; there are 0, .*, and .last" plot noted/results.h5 --step 7 -o noted/figs
    expect "plot: a step that is no number" 2 "no cell is of step '0x'" plot noted/results.h5 --step 0x -o noted/figs
    expect "plot: columns of no style" 2 'columns are those of a style; give --for as well' plot noted/results.h5 --columns 2 -o noted/figs
    expect "plot of a missing file" 3 'none\.h5' plot none.h5 -o figs
    expect "plot of a snapshot" 3 '@not-results' plot s.h5 -o figs
    expect "plot below a regular file" 2 's\.h5' plot noted/results.h5 -o s.h5/figs
    expect "validate of results" 3 'schema|snapshot' validate noted/results.h5
}

# Less than an epoch of batches that come in an order is a random sample of them.
test_part_of_an_epoch() {
    expect "synth" 0 '' synth -o ladder.h5 --n 400 --dim 16 --classes 5 --steps 1 --views 2 --seed 1
    printf '%s\n' 'version: 1' 'snapshots: [ladder.h5]' 'batch_size: 20' 'seeds: [1, 2]' 'samplers: [file-order, gcbs]' \
        'metrics: [fn_ratio]' 'figures: none' 'batches: 6' >part.yaml
    expect "six of twenty batches" 0 '' run -c part.yaml -o part --quiet --save-batches
    expect "an epoch and five batches" 0 '' run -c part.yaml -o more --quiet --save-batches --set batches=25
    pycheck "a part of an epoch is a sample of it" "
import h5py
def batches(path):
    f = h5py.File(path + '/results.h5'); at, ids, runs = (f['order'][k][:] for k in ('splits', 'index', 'run_splits'))
    names, seeds = f['runs']['sampler'].asstr()[:], f['runs']['seed'][:]
    return {(names[r], int(seeds[r])): [tuple(ids[at[b]:at[b + 1]]) for b in range(runs[r], runs[r + 1])] for r in range(len(names))}
part, more = batches('part'), batches('more')
for (name, seed), got in part.items():
    epoch = more[name, seed][:20]
    assert sorted(i for b in epoch for i in b) == list(range(400)), name
    where = [epoch.index(b) for b in got]
    assert len(set(where)) == 6 and where != sorted(where), (name, where)
    if name == 'file-order':
        assert [b[0] for b in epoch] == list(range(0, 400, 20))
        assert len(set(b[0] for b in more[name, seed][20:])) == 5
assert part['file-order', 1] != part['file-order', 2]"
}

# Nothing is replaced without a word: a snapshot not at all, results with a note where their cells stay.
# The table at the end of a run: the last step, settings of every sampler, the rest counted by name.
test_summary() {
    expect "a series" 0 '' synth -o series.h5 --n 90 --dim 8 --classes 3 --steps 3 --views 1
    printf 'version: 1\nsnapshots: series.h5\nbatch_size: [8, 16]\nbatches: 1\nfigures: none\nmetrics: [fn_ratio]\n%s\n' \
        'samplers: [batchsampler: {M: [20, 30, 40, 50, 60, 70], K: [2, 4, 6, 8, 10, 12]}, uniform]' >many.yaml
    expect "222 settings" 0 '148 settings of other steps' run -c many.yaml -o many
    check "the last step is shown" test "$(grep -cE '^(uniform|batchsampler) +200 ' out)" = 60
    check "and no other" eval '! grep -qE "^(uniform|batchsampler) +(0|100) " out'
    check "every sampler is shown" test "$(grep -c '^uniform' out)" = 2
    check "the rest are counted by name" says '^not shown: 14 settings of batchsampler, 148 settings of other steps'
    expect "what was computed is counted" 0 '222 cells \(0 computed, 222 reused\)' run -c many.yaml -o many
    expect "--seed" 0 '74 cells' run -c many.yaml -o seven --seed 7 --set 'steps=[200]'
    check "--seed is in the job that is left" grep -qE '^seeds: \[?7\]?$' seven/job.yaml
    expect "another step" 0 '' run -c many.yaml -o many --print-step 100
    check "that one is shown" test "$(grep -cE '^(uniform|batchsampler) +100 ' out)" = 60
    expect "a step that is not there" 2 'print-step 7: the results have no such step' run -c many.yaml -o many --print-step 7
}

# Lines of at most 100 columns, however many samplers, options and columns there are; a setting has one line in a dry run.
widest() { awk '{ gsub(/[\200-\277]/, ""); if (length($0) > n) n = length($0) } END { print n + 0 }' "$1"; }
test_narrow() {
    expect "two steps" 0 '' synth -o wide.h5 --n 120 --dim 8 --classes 3 --steps 2 --views 1
    printf 'version: 1\nsnapshots: wide.h5\nbatch_size: [8, 16]\nbatches: 2\nseeds: [1, 2]\nfigures: none\n%s\n%s\n' \
        'timing: {reps: 1, warmup: 0}' \
        'samplers: [uniform, stratified, knn, gcbs: {quantile: [0.9, 0.95]}, batchsampler: {M: [20, 30], K: [2, 4], alpha: [0.2, 0.5], walk: [rwr, bfs]}, hard-negative, mosaic: {lambda: [0.5, 0.8]}, b3, ngame, tas-b, ring: {space: embeddings}, mined]' >wide.yaml
    expect "a dry run" 0 '234 of 234 cells' run -c wide.yaml -o wide --dry-run
    check "a line a setting, one of what needs no sampler, and the heading" test "$(wc -l <out)" = 60
    check "with its cells and batches" says '^ +4 +8 .* batchsampler K=4, M=30, alpha=0.5, walk=bfs B=16$'
    check "within 100 columns" test "$(widest out)" -le 100
    expect "-v: a line a cell" 0 '234 of 234 cells' run -c wide.yaml -o wide --dry-run -v
    check "of each" test "$(wc -l <out)" = 234
    expect "the run" 0 '' run -c wide.yaml -o wide
    check "its table is within 100 columns" test "$(widest out)" -le 100
    check "names every setting" says '^batchsampler step=100, walk=bfs, alpha=0.5, K=4, M=30, B=16'
    check "and what it does without" says '^left out for the width: .*cost_s'
}

# What a dry run says of cells that cannot apply, and of figures that the metrics cannot give.
test_foreseen() {
    expect "a file without extras" 0 '' synth -o plain.h5 --n 90 --dim 8 --classes 3 --steps 1 --views 1
    printf 'version: 1\nsnapshots: plain.h5\nbatch_size: 8\nbatches: 2\nmetrics: [fn_ratio]\n%s\n%s\n' \
        'figures: none' 'samplers: [uniform, hops, grit, {b3: {space: teacher}}]' >lacks.yaml
    expect "a dry run of what does not apply" 0 '4 of 4 cells, 3 of them not applicable' run -c lacks.yaml -o lacks --dry-run
    check "and why" says '^ +1 +- +- +- +hops B=8: not applicable: hops needs a graph, which plain.h5 does not have'
    check "with these parameters" says ' b3 .*: not applicable: .*teacher'
    check "as the run says itself" test "$("$hardneg" run -c lacks.yaml -o lacks 2>/dev/null | grep -c not_applicable)" = 3
    expect "some that apply" 0 '' run -c lacks.yaml -o lacks
    expect "none that applies" 4 'none of 2 cells is applicable' run -c lacks.yaml -o none --set 'samplers=[hops, grit]'
    expect "nor when they are reused" 4 'none of 2 cells is applicable' run -c lacks.yaml -o none --set 'samplers=[hops, grit]'
    expect "of a part alone that is no failure" 0 '' run -c lacks.yaml -o part1 --set 'samplers=[hops, grit]' --shard 1/2
    expect "nor of the other" 0 '' run -c lacks.yaml -o part2 --set 'samplers=[hops, grit]' --shard 2/2
    expect "but of both" 4 'none of 2 cells is applicable' merge part1 part2 -o parts.h5
    printf 'version: 1\nsnapshots: plain.h5\nbatch_size: 8\nbatches: 2\nsamplers: uniform\n%s\n%s\n' \
        'metrics: [fn_ratio, hardness]' 'figures: [pareto, bs-fig4]' >needs.yaml
    expect "a figure that the metrics cannot give" 2 'figure bs-fig4 needs histogram: add histogram to metrics' \
        run -c needs.yaml -o needs
    check "nothing was run" test ! -e needs
    expect "nor in a dry run" 2 'add histogram to metrics' run -c needs.yaml -o needs --dry-run
    expect "a study's figure" 2 'figure bs-prop1 needs prop1: add prop1 to metrics' \
        run -c needs.yaml -o needs --set 'figures=[bs-prop1]'
    expect "a figure of a column" 2 'figure bs-fig6 needs fn_ratio: add fn_ratio to metrics' \
        run -c needs.yaml -o needs --set 'figures=[bs-fig6]' --set 'metrics=[hardness]'
    expect "with a study" 0 '2 of 2 cells' run -c needs.yaml -o needs --dry-run --set 'figures=[bs-prop1]' --set 'metrics=[fn_ratio, prop1]'
    expect "another study" 2 'figure bs-prop1 needs prop1' run -c needs.yaml -o needs --dry-run --set 'figures=[bs-prop1]' --set 'metrics=[fn_ratio, purity]'
    expect "beside a metric of the snapshot" 2 'figure bs-fig6 needs histogram' run -c needs.yaml -o needs --dry-run --set 'figures=[bs-fig6]' \
        --set 'metrics=[fn_ratio, uniformity]'
    expect "with its metric" 0 '1 of 1 cell' run -c needs.yaml -o needs --dry-run --set 'metrics=[fn_ratio, hardness, histogram]'
    expect "a figure that its cells cannot give" 3 'figure bs-fig5 cannot be drawn: no finished run' \
        run -c needs.yaml -o needs --set 'metrics=[fn_ratio, hardness, histogram]' --set 'figures=[bs-fig5]'
}

test_replacing() {
    cp s.h5 kept.h5
    expect "synth over a file" 2 's\.h5.*--force' synth -o s.h5 --n 300
    check "leaves it" cmp -s s.h5 kept.h5
    cp s.h5 over.h5
    expect "synth --force" 0 '' synth -o over.h5 --n 50 --force
    run info over.h5
    check "replaces it" says '\b50\b'
    job s.h5 '[uniform: {}, knn: {}]' >one.yaml
    job s.h5 '[gcbs: {quantile: 0.95}]' >two.yaml
    expect "a job" 0 '' run -c one.yaml -o jobs --quiet
    check "without a word" silent
    expect "another job in its folder" 0 'jobs/results\.h5 will be replaced: 4 of its rows.*cells/' run -c two.yaml -o jobs
    expect "part of a job" 0 '' run -c one.yaml -o jobs --quiet --filter ' knn '
    [ -z "$python" ] || check "the cells of all its rows were kept" status_is jobs complete 4
    rm jobs/cells/*
    cp jobs/results.h5 kept.h5
    expect "rows that would be lost" 2 '4 rows .*--force' run -c two.yaml -o jobs --quiet
    head -c 3000 kept.h5 >jobs/results.h5
    expect "results that cannot be read may hold what is nowhere else" 2 'jobs/results\.h5: .*damaged.*; no cell of this run.*--force' run -c two.yaml -o jobs --quiet
    check "and stay" test "$(stat -c %s jobs/results.h5)" = 3000
    expect "beside cells they are made again" 0 '' run -c two.yaml -o again --quiet
    head -c 3000 kept.h5 >again/results.h5
    expect "from these" 0 '' run -c two.yaml -o again --quiet
    cp kept.h5 jobs/results.h5
    expect "rows that a filter leaves out" 2 '4 rows .*--force' run -c one.yaml -o jobs --quiet --filter ' knn '
    check "are not" cmp -s jobs/results.h5 kept.h5
    expect "what is made again is not lost" 0 '' run -c one.yaml -o jobs --quiet
    rm jobs/cells/*
    expect "run --force" 0 '' run -c two.yaml -o jobs --quiet --force
}

# No command replaces what it reads, by whatever name, or writes two things to one file.
test_outputs_apart() {
    job s.h5 '[uniform]' >apart.yaml
    expect "results to keep" 0 '' run -c apart.yaml -o apart --quiet
    expect "queries to keep" 0 '' synth --kind retrieval -o apart/q.h5 --n 60 --queries 8 --dim 4 --quiet
    cp s.h5 apart/s.h5 && ln -s s.h5 apart/link.h5 && ln apart/s.h5 apart/hard.h5
    seq 300 >apart/lines.txt
    tar cf apart.tar apart
    while read -r why words; do
        # shellcheck disable=SC2086 # words are wanted
        expect "one file for two: $words" 2 "apart/[a-z./]*[a-z0-9]: is ${why//_/ }.*another name" $words
        check "which stays: $words" tar df apart.tar
        rm -rf apart && tar xf apart.tar
    done <<'F'
what_is_read sample apart/s.h5 --sampler uniform -b 16 -o apart/s.h5
what_is_read sample apart/s.h5 --sampler uniform -b 16 -o apart/../apart/link.h5
what_is_read sheet apart/hard.h5 --texts apart/lines.txt -b 16 -o apart/s.h5
the_file_of_--texts sheet apart/s.h5 --texts apart/lines.txt -b 16 -o apart/lines.txt
what_is_read export apart/results.h5 --csv -o apart/results.h5
what_is_read export apart --csv -o apart/results.h5
what_is_read report apart -o apart/results.h5
what_is_read merge apart -o apart/results.h5
what_is_read compare apart apart/results.h5 --junit apart/results.h5
what_is_read compare apart apart --markdown apart/results.h5
the_file_of_--junit compare apart apart --markdown apart/new.md --junit apart/./new.md
what_is_read mine apart/q.h5 -o apart/x.npy --scores apart/q.h5
what_is_read mine apart/q.h5 --format jsonl -o apart/q.h5
the_file_of_--output mine apart/q.h5 -o apart/x.npy --scores apart/./x.npy
the_file_of_--judged price apart/q.h5 --judged apart/lines.txt -o apart/lines.txt
F
    # A run writes results.h5 and job.yaml in its folder: of others, say its own input, it replaces neither.
    mkdir mine taken
    job ../s.h5 '[uniform]' | tee mine/job.yaml >mine/kept.yaml
    expect "a job in the folder of its output" 2 'mine/job.yaml: was not written by a run.*-o' run -c mine/job.yaml -o mine
    check "stays" cmp -s mine/job.yaml mine/kept.yaml
    cp s.h5 taken/results.h5
    expect "a snapshot called results.h5" 2 'taken/results.h5: is no results file.*-o' run -c apart.yaml -o taken --set snapshots=taken/results.h5
    check "stays" cmp -s s.h5 taken/results.h5
    expect "the job that a run has left, in its folder" 0 '0 computed' run -c apart/job.yaml --set snapshots=s.h5 -o apart
}

# A filtered run adds to what is there and never takes away.
# A run that is killed leaves what `report` reads: the cells that are finished.
# Some columns of a table, in the order in which they are named; `shown` is what the page shows of settings.
test_some_columns() {
    "$hardneg" synth -o some.h5 --n 200 --dim 8 --steps 1 --views 1 --quiet
    job some.h5 '[uniform, batchsampler: {M: [20, 30], K: 5}]' 'figures: none' 'metrics: all' >some.yaml
    sed -i 's/^seeds:.*/seeds: [1, 2, 3]/' some.yaml
    expect "a job" 0 '' run -c some.yaml -o some --quiet
    for table in settings runs; do "$hardneg" export some --csv --table $table -o all-$table.csv || return; done
    expect "those of the page" 0 '' export some --csv --table settings --columns shown -o shown.csv
    expect "by name and beginning" 0 '' export some --csv --table settings --columns 'opt_M, sampler,fn_ratio*,sampler' -o named.csv
    expect "of cells" 0 '' export some --csv --columns 'seed opt_*' -o cells.csv
    pycheck "which" "
import csv
read = lambda name: list(csv.DictReader(open(name + '.csv', newline='')))
settings, runs, shown, named, cells = map(read, ('all-settings', 'all-runs', 'shown', 'named', 'cells'))
for some, every in (shown, settings), (named, settings), (cells, runs):
    assert len(some) == len(every) > 2
    assert all(row[key] == whole[key] for row, whole in zip(some, every) for key in row), some[0]
assert list(named[0]) == ['opt_M', 'sampler'] + [k for k in settings[0] if k.startswith('fn_ratio')], list(named[0])
assert list(cells[0])[0] == 'seed' and 'opt_M' in cells[0] and all(k.startswith('opt_') for k in list(cells[0])[1:])
assert 3 * len(shown[0]) < len(settings[0]), (len(shown[0]), len(settings[0]))
for key in 'dataset sampler opt_M seeds front cost_batch fn_ratio fn_ratio_hi fn_ratio_minus_uniform_lo cos_mean'.split():
    assert key in shown[0], (key, list(shown[0]))
assert 'cos_mean_minus_uniform' not in shown[0] and 'true_p99' in shown[0] and 'fn_start' not in shown[0], list(shown[0])
assert all(any(row[key] for row in shown) for key in shown[0]), 'empty columns'"
    expect "its cells, counted" 0 'some/results.h5: 10 cells' run -c some.yaml -o some
    expect "its page" 0 '' report some
    check "has the same count" grep -q '<p>9 cells: 9 done.* <code>run</code> counted 1 snapshot, in other tables' some/index.html
    expect "a name that is not there" 2 "table settings has no column 'fn-ratio'" export some --csv --table settings --columns fn-ratio
    expect "shown is of settings" 2 "table runs has no column 'shown'" export some --csv --columns shown
    expect "no name" 2 'names no column' export some --csv --columns ' , '
    expect "not of JSON" 2 'is for CSV' export some --json --columns seed
    expect "nor of a table for people" 2 'is for CSV' export some --latex --columns sampler
    expect "but of any of the file" 0 'sampler.*seed' export some --markdown --table runs --columns sampler,seed
}

# --json of run, report and export: one document, with the numbers of the CSV.
test_json_of_results() {
    "$hardneg" synth -o shaped.h5 --n 200 --dim 8 --steps 1 --quiet
    job shaped.h5 '[uniform, knn]' 'figures: none' 'metrics: [fn_ratio, hardness, true_hardness]' >shaped.yaml
    sed -i 's/^seeds:.*/seeds: [1, 2, 3]/' shaped.yaml
    expect "run --json" 0 '"computed": 6' run -c shaped.yaml -o shaped --json
    cp out run.json
    expect "again" 0 '"reused": 6' run -c shaped.yaml -o shaped --json --quiet
    expect "report --json" 0 '"page": "shaped/index.html"' report shaped --json
    expect "settings as CSV" 0 '' export shaped --csv --table settings -o shaped.csv
    expect "and as JSON" 0 '' export shaped --json --table settings -o settings.json
    expect "runs as CSV" 0 '' export shaped --csv -o runs.csv
    expect "and as JSON" 0 '' export shaped --json -o runs.json
    expect "two formats" 2 'give one of them' export shaped --csv --json
    expect "of a dry run" 2 '--json is of results' run -c shaped.yaml -o shaped --dry-run --json
    pycheck "the same numbers" "
import csv, json
said, settings, runs = (json.load(open(name + '.json')) for name in ('run', 'settings', 'runs'))
assert said['results'] == 'shaped/results.h5' and said['wanted'] == 6 and said['failed'] == said['missing'] == 0, said
assert said['settings'] == settings['rows'] and settings['table'] == 'settings' and runs['table'] == 'runs'
def same(text, value):
    return text == '' if value is None else text == value if isinstance(value, str) else float(text) == float(value)
for name, rows in ('shaped', settings['rows']), ('runs', runs['rows']):
    lines = list(csv.DictReader(open(name + '.csv')))
    assert len(lines) == len(rows) > 1
    for line, row in zip(lines, rows):
        options = [key for key in line if key.startswith('opt_')] if name == 'shaped' else []
        assert len(line) == len(row) + len(options) and list(line)[len(row):] == options, options
        for (key, text), (of, value) in zip(line.items(), row.items()):
            assert key in (of, 'opt_' + of, of + '_2', 'opt_' + of + '_2', 'col_' + of), (key, of)
            assert same(text, value), (key, text, value)"
}

test_unfinished() {
    "$hardneg" synth -o narrow.h5 --n 400 --dim 16 --steps 2 --quiet
    job narrow.h5 '[uniform, knn]' 'figures: none' 'metrics: [fn_ratio, hardness]' >many.yaml
    sed -i "s/^seeds:.*/seeds: [$(seq -s, 1 40)]/" many.yaml
    "$hardneg" run -c many.yaml -o killed --quiet &
    local pid=$! tries=0
    while [ "$(find killed/cells -name '*.cell' 2>/dev/null | wc -l)" -lt 5 ] && [ $((tries++)) -lt 600 ]; do sleep 0.02; done
    kill -KILL $pid
    wait $pid 2>/dev/null
    check "a killed run leaves no results" test ! -e killed/results.h5
    local n
    n=$(find killed/cells -name '*.cell' | wc -l)
    expect "status of it" 0 '' status killed
    check "what is done and left" says "^$n of 160 cells done, $((160 - n)) left"
    check "it was not long ago" says '^  killed: .* done; running'
    touch -d '1 hour ago' killed/cells/*
    mkdir -p among/others && cp "$root/datasets/cifar10-mini.h5" among/others/results.h5 && mv killed among
    expect "status later, beside a file of another kind" 0 'among/others/results.h5 is left out' status --json among
    mv among/killed .
    check "nothing was heard of it" grep -q '"state": "silent"' out
    check "nor is a time foreseen" grep -q '"seconds_left": null' out
    expect "report of it" 0 "$n of 160 cells: its run goes on, or was interrupted" report killed
    check "the page says so, too" grep -q "<strong>$n of 160 cells:</strong>" killed/index.html
    expect "and export" 0 '' export killed --csv -o killed.csv --quiet
    check "a row for each cell of a sampler" test "$(wc -l <killed.csv)" -ge "$n"
    expect "merge names what is missing" 4 "missing: the merged file is partial" merge killed -o killed.h5 --quiet
    expect "the same command goes on" 0 '' run -c many.yaml -o killed --quiet
    expect "then nothing is missing" 0 '' report killed -o whole.html
    check "on the page either" eval '! grep -q "of 160 cells:" whole.html && ! test -s "$work/err"'
    expect "status of the whole" 0 '' status killed
    check "all is done" says '^160 of 160 cells done$'
    expect "status of no run" 3 'begun: no run was begun here' status begun
    for i in 1 2; do "$hardneg" run -c many.yaml -o array/part$i --shard $i/3 --quiet; done
    "$hardneg" run -c many.yaml -o array/again --filter ' knn ' --quiet
    expect "status of an array" 0 '' status array
    check "cells of two parts of three, and knn, once" eval 'says "^146 of 160 cells done, 14 left$" && says "^  array/part2: 53 done; ended$"'
    [ ! -d /sys ] || expect "a folder that cannot be made" 2 '/sys/hardneg: cannot be made in the folder /sys/: .*; name another folder' run -c many.yaml -o /sys/hardneg/run
    mkdir -p begun/cells
    cp killed/results.h5 begun/cells/plan
    expect "a plan that is none" 3 'begun/cells/plan' report begun
}

# Many cells are packed when their run has ended; nothing is made anew for it, and a run that is killed while it
# takes away their files loses nothing.
killed_at_unlink() { strace -qq -f -o /dev/null -e trace=unlink -e inject=unlink:signal=KILL:when="$1" "$hardneg" "${@:2}" >out 2>err </dev/null; }
in_cells() { find "$1/cells" -name "$2" | wc -l; }
test_packed() {
    "$hardneg" synth -o small.h5 --n 60 --dim 8 --steps 2 --quiet
    job small.h5 '[uniform, knn]' 'figures: none' 'metrics: [fn_ratio]' >packed.yaml
    sed -i "s/^seeds:.*/seeds: [$(seq -s, 1 70)]/; s/^batches:.*/batches: 2/" packed.yaml
    expect "a run of many cells" 0 '' run -c packed.yaml -o packed --threads 1 --quiet
    cp packed/results.h5 packed.h5
    check "its cells are in one file" test "$(in_cells packed '*.cell') $(in_cells packed packed)" = '0 1'
    check "which is small" test "$(stat -c %s packed/cells/packed)" -lt 400000
    expect "again: nothing to do" 0 '0 computed, 280 reused' run -c packed.yaml -o packed --threads 1
    check_same "the results are the same" packed.h5 packed/results.h5
    rm packed/results.h5
    expect "without its results" 0 '0 computed, 280 reused' run -c packed.yaml -o packed --threads 1
    check_same "they are made of the pack" packed.h5 packed/results.h5
    expect "one seed more" 0 '4 computed, 280 reused' run -c packed.yaml -o packed --set "seeds=[$(seq -s, 1 71)]" --threads 1
    check "a few cells keep their files" test "$(in_cells packed '*.cell')" = 4
    expect "another job in its folder" 0 'will be replaced: .*cells stay in cells/' run -c packed.yaml -o packed --set batch_size=8 --set 'seeds=[1]'
    expect "whose own job collects them again" 0 '0 computed, 284 reused' run -c packed.yaml -o packed --set "seeds=[$(seq -s, 1 71)]" --threads 1
    expect "cells of another version are looked for there" 0 '0 computed' run -c packed.yaml -o packed --rerun stale --threads 1
    printf x | dd of=packed/cells/packed bs=1 seek=20000 conv=notrunc status=none
    expect "a damaged pack" 0 'cells/packed: the file is damaged' run -c packed.yaml -o packed --threads 1
    check_same "its cells are made again" packed.h5 packed/results.h5
    if can_trace; then
        "$hardneg" run -c packed.yaml -o midway --threads 1 --quiet --set "seeds=[$(seq -s, 1 60)]" # too few
        killed_at_unlink 150 run -c packed.yaml -o midway --threads 1 --quiet 2>/dev/null # the shell says that it was
        rc=$?
        check "killed while files go" test $rc = 137
        check "some have gone, some are there" test "$(in_cells midway '*.cell')" -gt 1 -a "$(in_cells midway '*.cell')" -lt 280
        expect "no cell is lost" 0 '0 computed, 280 reused' run -c packed.yaml -o midway --threads 1
        check_same "and nothing else" packed.h5 midway/results.h5
    fi
}

test_filter() {
    job s.h5 '[uniform: {}, knn: {}]' >f.yaml
    expect "a filtered run" 0 '' run -c f.yaml -o filtered --filter ' uniform '
    if [ -n "$python" ]; then
        check "it says that it is partial" status_is filtered partial 2
        expect "the rest" 0 '' run -c f.yaml -o filtered
        check "now it is complete" status_is filtered complete 4
        expect "filtered again" 0 '' run -c f.yaml -o filtered --filter ' knn '
        check "and nothing was lost" status_is filtered complete 4
    fi
    cp filtered/results.h5 kept.h5
    expect "--filter that matches nothing" 2 '@none-selected' run -c f.yaml -o filtered --filter foo
    check "leaves the results alone" cmp -s filtered/results.h5 kept.h5
}
status_is() { # FOLDER STATUS ROWS: of results.h5
    "$python" -c "import h5py, sys
f = h5py.File(sys.argv[1] + '/results.h5')
sys.exit(f.attrs['status'] != sys.argv[2] or len(f['runs/step']) != int(sys.argv[3]))" "$@"
}

test_studies() {
    job s.h5 '[uniform: {}]' 'metrics: [fn_ratio, purity: {M: [50, 80], K: 20}, prop2: {M: 50, K: 20}]' >t.yaml
    expect "studies: --dry-run" 0 '8 of 8 cells' run -c t.yaml -o st --dry-run
    check "studies: its lines" says 'study purity .K=20, M=80'
    expect "studies: one of them" 0 '' run -c t.yaml -o st --filter 'study prop2' --threads 1 --quiet
    expect "studies: all of them" 0 '6 computed, 2 reused' run -c t.yaml -o st --threads 1
    expect "studies: three threads" 0 '' run -c t.yaml -o st3 --threads 3 --quiet
    check "studies: silent" silent
    if [ -n "$python" ]; then
        check "studies: same results" same_results st/results.h5 st3/results.h5
        check "studies: as documented" "$python" "$here/h5py_results.py" st/results.h5
    fi
    job s.h5 '[uniform: {}]' 'metrics: [purity: {M: 10, K: 20}]' >t.yaml
    expect "studies: K > M" 2 't\.yaml: purity on .*K = 20 exceeds M = 10' run -c t.yaml -o bad
    job s.h5 '[uniform: {}]' 'metrics: [prop_1]' >t.yaml
    expect "studies: the nearest name" 2 't\.yaml:8:[0-9]+: .*prop1' run -c t.yaml -o bad
}

# A job of all samplers there are.
test_every_sampler() {
    local names
    names=$("$hardneg" list samplers | sed -n 's/^  \([a-z][a-z0-9-]*\)  .*/\1/p' | grep -vE '^(given|command)' | paste -sd, )
    check "samplers are listed" test "$(tr -cd , <<<"$names" | wc -c)" -ge 10
    job s.h5 "[$names]" >every.yaml
    expect "a run of every sampler" 0 '' run -c every.yaml -o every --quiet
}

# The jobs that come along fit the data that come along.
test_ready_jobs() {
    for job in "$here"/../harness/jobs/*.yaml "$here"/../docs/notes/*.yaml; do
        case $job in
        */train-*) expect "$(basename "$job")" 0 '^([1-9][0-9]*) of [1-9][0-9]* runs?' train -c "$job" --dry-run ;;
        *) expect "$(basename "$job")" 0 '[1-9][0-9]* of [1-9][0-9]* cells' run -c "$job" --dry-run ;;
        esac
    done
}

test_without_gnuplot() {
    mkdir -p empty
    env PATH="$work/empty" "$hardneg" plot noted/results.h5 -o bare >out 2>err </dev/null
    rc=$?
    check "no gnuplot: exit code 6" test "$rc" = 6
    check "no gnuplot: the message names it" grep -q gnuplot err
    check "no gnuplot: scripts are left" test -n "$(find bare -name '*.gp')"
    check "no gnuplot: data are left" test -n "$(find bare -name '*.tsv')"
}

# A job of some seconds, for what happens in its middle.
long_job() {
    job s.h5 '[uniform: {}, knn: {}, batchsampler: {M: [20, 50, 100], K: 20}, gcbs: {quantile: 0.95}]' \
        'figures: none' | sed 's/^seeds.*/seeds: [1, 2, 3, 4]/; s/^batches.*/batches: 40/'
}
shards() { find "$1/cells" -name '*.cell' 2>/dev/null | wc -l; }
# Starts the job in folder $1, sends it signal $2 once some cells are finished, sets $rc, and notes in
# $1.kept what was finished by then.
has_some() { [ "$(shards "$1")" -ge 2 ]; }
break_off() {
    for _ in 1 2 3 4 5; do # where the machine is busy, all may be finished before this is noticed
        rm -rf "$1"
        start run -c long.yaml -o "$1" --threads 1
        wait_for 60 has_some "$1"
        stop $! "$2"
        [ "$(shards "$1")" = "$(shards whole)" ] || break
    done
    find "$1/cells" -name '*.cell' -exec stat -c '%n %i %Y' {} + | sort >"$1.kept"
}
# That the job goes on after break_off(), leaves finished cells alone, and ends as if never broken off.
goes_on() { # NAME FOLDER
    check "$1: some cells were finished" test "$(wc -l <"$2.kept")" -ge 2
    check "$1: not all were" test "$(wc -l <"$2.kept")" -lt "$(shards whole)"
    expect "$1: run again" 0 '' run -c long.yaml -o "$2" --threads 1
    find "$2/cells" -name '*.cell' -exec stat -c '%n %i %Y' {} + | sort >"$2.after"
    check "$1: finished cells were skipped" test -z "$(comm -23 "$2.kept" "$2.after")"
    check_same "$1: same results" whole/results.h5 "$2/results.h5"
}

test_determinism() {
    long_job >long.yaml
    expect "one thread" 0 '' run -c long.yaml -o whole --threads 1
    for threads in 2 4; do
        expect "$threads threads" 0 '' run -c long.yaml -o "threads$threads" --threads $threads
        check_same "$threads threads: same results" whole/results.h5 "threads$threads/results.h5"
    done
    if [ -n "$python" ]; then
        expect "another seed" 0 '' run -c long.yaml -o other --threads 1 --set 'seeds=[5, 6, 7, 8]'
        check "another seed: other results" eval '! same_results whole/results.h5 other/results.h5'
    else
        skip "same results" "no python3-h5py to compare with"
    fi
    truncate -s 3000 "$(find threads2/cells -name '*.cell' | head -n 1)"
    expect "a damaged cell" 0 '1 computed' run -c long.yaml -o threads2
    check_same "a damaged cell is made again" whole/results.h5 threads2/results.h5
    break_off killed KILL
    check "killed: by the signal" test "$rc" = 137
    check "killed: no half results" test ! -e killed/results.h5
    goes_on "killed" killed
    for signal in INT TERM; do
        break_off "$signal" $signal
        check "$signal: exit code 130" test "$rc" = 130
        check "$signal: says what is kept" grep -qE "interrupted: [0-9]+ of [0-9]+ cells are kept" err
        goes_on "$signal" "$signal"
    done
}

test_threads_and_memory() {
    job s.h5 '[knn: {}]' 'limits: {memory: 1KiB}' >j.yaml
    expect "a memory limit too small for the data" 2 '@needs-memory .* limit is 1.0 KiB: .*knn' run -c j.yaml -o small --quiet
    check "memory limit: nothing left" nothing_left small
    expect "nor is it listed without a word" 2 '@needs-memory' run -c j.yaml -o small --dry-run
    expect "many items" 0 '' synth -o pairs.h5 --n 100000 --dim 2 --classes 4 --steps 1 --quiet
    job pairs.h5 '[uniform]' 'metrics: [fn_ratio, uniformity, probe_acc]' >pairs.yaml
    expect "what looks at all pairs is said" 0 'grows with the square of the number: uniformity; .without a sampler. takes ' run -c pairs.yaml --dry-run
    expect "and not where nothing does" 0 '' run -c pairs.yaml --dry-run --set 'metrics=[fn_ratio, probe_acc]'
    check "without a note" test "$(grep -c 'square of the number' err)" = 0
    expect "what --filter leaves has to fit" 0 '' run -c j.yaml -o small --filter 'step 0 ' --memory 64MiB
    # Nobody can know before that all items are the same, and what a graph of all pairs needs.
    expect "items that are all the same" 0 '' synth -o same.h5 --n 7000 --dim 4 --classes 1 \
        --super-classes 1 --steps 2 --views 1 --kappa-from 1e9 --kappa-to 1e9
    job many.h5 '[mined]' 'metrics: [fn_ratio]' >j.yaml
    "$hardneg" synth -o many.h5 --n 3000 --dim 8 --steps 1 --quiet
    "$hardneg" run -c j.yaml -o quick --quiet >out 2>err
    expect "a job that fits the lean way alone" 0 '' run -c j.yaml -o lean --memory 4MiB
    check_same "its results are the same" quick/results.h5 lean/results.h5
    expect "what fits no way" 2 '@never-fits.*limit is 1.5 MiB.*limits.memory to [0-9]*MiB' run -c j.yaml -o small --memory 1536KiB
    job same.h5 '[uniform, gcbs]' 'limits: {memory: 64MiB}' 'metrics: [fn_ratio]' >j.yaml
    expect "some cells fail" 4 '@cells-failed' run -c j.yaml -o some --quiet
    if [ -n "$python" ]; then
        check "the results hold all cells" status_is some complete 4
        check "and say which failed" "$python" -c "import h5py
r = h5py.File('some/results.h5')['runs']
assert list(r['status'].asstr()[:]) == ['ok', 'failed'] * 2, r['status'][:]
assert 'memory limit' in r['error'].asstr()[1]"
    fi
    expect "failed cells stay failed" 4 '.' run -c j.yaml -o some --quiet
    expect "and are tried again when asked" 4 '4 cells .0 computed, 2 reused' \
        run -c j.yaml -o some --rerun failed
}

# Every kernel once, small; what is printed is for programs.
test_bench() {
    local small="--n 900 --dim 16 --M 700 --K 10 --batch-size 16 --keep 20 --reps 2 --warmup 0"
    expect "metrics to bench" 0 '' list metrics --json
    cp "$work/out" "$work/metrics.json"
    # shellcheck disable=SC2086
    expect "bench" 0 '' bench all $small --json
    check "bench says nothing else" silent
    if [ -n "$python" ]; then
        check "bench --json as documented" "$python" -c "import json
rows = json.load(open('$work/out'))['kernels']
cells = {'cell-' + m['name'] for m in json.load(open('$work/metrics.json'))['metrics'] if m['table'] == 'runs'}
assert {r['name'] for r in rows} == {'sgemm', 'product', 'product-half', 'knn', 'proximity-independent', 'proximity-dealt',
    'walk-0.1', 'walk-0.7', 'gcbs', 'loss', 'sinks', 'sinks-half', 'mine', 'mine-ranking', 'cell-all', *cells}
for r in rows:
    s = r['seconds']
    assert len(s['all']) == 2 and 0 < s['min'] <= s['median'] <= s['max'], r
    assert len(r['processor_seconds']) == 2 and min(r['processor_seconds']) > 0, r
    assert r['ceiling']['sgemm_gflops'] > 0 and r['ceiling']['read_gbs'] > 0, r
    assert (r['share_of_limit'] is None) == r['name'].startswith('walk'), r"
    fi
    mkdir "$work/scratch"
    TMPDIR=$work/scratch expect "bench of training" 0 '' bench train-node train-graph train-text train-pairs train-cnn --reps 1 --warmup 0
    check "bench of training: Cora's shape" grep -qE '^train-node +2708 +512 .*% +[0-9.]+$' "$work/out"
    check "bench of training: a table's floor" grep -qE '^train-text +7[01][0-9]{2} +256 .*% +[0-9.]+$' "$work/out"
    check "bench of training: a row each" test "$(grep -c '^train-' "$work/out")" = 5
    check "bench of training leaves nothing" rmdir "$work/scratch"
    expect "a kernel that is near none" 2 "unknown kernel 'xyzzy'; there are all, table, linear, .*knn.*, train-pairs" bench xyzzy
    expect "one with a long name is cut with a mark" 2 "unknown kernel 'x{57}[.]{3}'; there are" bench "$(printf 'x%.0s' {1..99})"
    expect "an unknown kernel" 2 '@did-you-mean .table' bench tabel
    expect "no such screen" 2 'not a kernel.*: unset it, or set it to off(, [a-z0-9-]+)*$' bench knn --n 300 --reps 1 --screen nonsense
    HN_SCREEN=nonsense expect "no such screen, though nothing is swept" 2 "is 'nonsense'.*off" bench walk-0.1 $small
    HN_SCREEN=test-only expect "a kernel that only tests run" 2 "is 'test-only'" bench walk-0.1 $small
    HN_SCREEN=nonsense expect "a wrong screen does not matter to --help" 0 '' bench --help
    HN_SCREEN=off expect "no screen at all" 0 '' bench knn --n 300 --reps 1
    expect "a table has its own sizes" 2 'table.*knn' bench table knn
    expect "a file to bench" 0 '' synth -o bench.h5 --n 700 --dim 24 --views 1 --steps 2
    expect "bench on a file" 0 '' bench knn --data bench.h5 --reps 1
    check "bench on a file: its shape" grep -qE '^knn +700 +24 ' "$work/out"
    expect "bench on a file without views" 3 'bench.h5.*no views.*gcbs' bench knn gcbs --data bench.h5 --reps 1
    expect "a table has its own rows" 2 'leave --data out' bench table --data bench.h5
    expect "bench on no file" 3 'nowhere.h5' bench knn --data nowhere.h5
}

run_tests "${2:-}" test_data_commands test_help test_data_commands test_validate_json test_import test_bad_snapshots \
    test_bad_jobs test_run test_summary test_narrow test_foreseen test_replacing test_outputs_apart test_some_columns test_json_of_results test_unfinished test_packed test_filter test_part_of_an_epoch test_studies test_every_sampler test_ready_jobs test_without_gnuplot \
    test_determinism test_threads_and_memory test_bench
if [ ! -e noted/results.h5 ]; then
    skip "results in h5py" "test_run was left out"
elif with_python "results in h5py"; then
    "$python" "$here/h5py_results.py" noted/results.h5 >out 2>err
    check "results open in h5py as documented" test $? = 0
fi
finish
