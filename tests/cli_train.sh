#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of `hardneg train`: `tests/cli_train.sh PROGRAM`. Exit codes, messages, interruptions, and that what
# it writes is a series that `hardneg run` takes.
source "$(dirname "$0")/lib.sh"
begin train "$1"

# Documents of three classes, features and links mostly within them.
mkdir -p data/small
awk 'BEGIN { srand(1); print "# features=30"
    for (i = 0; i < 90; i++) {
        line = i " " i % 3
        for (j = 0; j < 30; j++) if (j == i % 30 || rand() < (j % 3 == i % 3 ? .5 : .1)) line = line " " j
        print line } }' >data/small/small.features
awk 'BEGIN { srand(2)
    for (i = 0; i < 90; i++) for (j = i + 1; j < 90; j++)
        if (rand() < (i % 3 == j % 3 ? .15 : .01)) print i, j }' >data/small/small.edges
awk 'BEGIN { for (i = 0; i < 90; i++) print i, (i < 30 ? "train" : i < 45 ? "val" : "test") }' \
    >data/small/small.split
cat >job.yaml <<'YAML'
version: 1
task: {node: {data: data/small, hidden: 16, out: 8}}
samplers: [uniform, knn, {hops: {l: 2}}]
loss: other-view
batch_size: 30
steps: 30
uniform_epochs: 1
rebuild: 10
evaluate: 10
seeds: [1, 2]
adam: {rate: 0.01, weight_decay: 0.001}
snapshots: {every: 15, dense_from: 4, dense_to: 8, dense_every: 2}
YAML
series() { find "$1/runs" -name series.h5 | sort; }
same_series() { # FOLDER [OTHER]: its series are those of the other one, `one`
    local a other=${2:-one}
    for a in $(series "$other"); do
        same_content "$a" "$1/${a#"$other/"}" || return 1
    done
}
two_children() { # of $parent, as soon as there are two: $children
    children=$(children_of "$parent")
    test "$(wc -w <<<"$children")" = 2
}
column() { # FOLDER COLUMN: different values of a column of its runs
    "$hardneg" export "$1" --csv |
        sed 's/"[^"]*"/text/g' | awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR > 1 { print $c }' |
        sort -u
}

expect "dry run" 0 '^6 of 6 runs, about .* one after the other, .*and [0-9]+ [KM]iB of data$' train -c job.yaml --dry-run
check "every run has its time and memory" test "$(grep -cE '^ +[0-9.:]+ (ms|s)? +[0-9]+ [KM]iB  node ' out)" = 6
expect "many settings of many options" 0 '' train -c job.yaml -o narrow --set steps=2 --set evaluate=1 --set 'seeds=[1,2,3]' \
    --set 'samplers=[uniform, batchsampler: {M: [10, 20], K: 4, alpha: [0.2, 0.5], walk: [rwr, bfs]}]'
check "in lines of at most 100 columns" test "$(grep -v 'is not shown to beat' out | awk '{ if (length($0) > n) n = length($0) } END { print n }')" -le 100
check "by name" says '^batchsampler .*M=20.*alpha=0.5.*walk=bfs'
expect "as JSON" 0 '"reused": 27' train -c job.yaml -o narrow --set steps=2 --set evaluate=1 --set 'seeds=[1,2,3]' --json \
    --set 'samplers=[uniform, batchsampler: {M: [10, 20], K: 4, alpha: [0.2, 0.5], walk: [rwr, bfs]}]'
pycheck "accuracies of each setting" "
import json
said = json.load(open('out'))
rows = said['settings']
assert len({r['name'] for r in rows}) == len(rows) > 9 and all(r['seeds'] == 3 for r in rows), rows
assert sum('difference_half' in r for r in rows) == 8, rows"
expect "not of a dry run" 2 '--json is of results' train -c job.yaml --dry-run --json
rm -rf narrow
expect "of those that are wanted" 0 '^2 of 6 runs, about' train -c job.yaml --dry-run --filter knn
check "and leaves nothing" test "$(ls)" = "$(printf 'data\nerr\njob.yaml\nout')"
expect "dry run without the data" 0 'not yet: task node: no .*features' train -c job.yaml --dry-run --data nowhere
check "lists the runs, too" test "$(grep -cE '^ +[?] +[?]  node ' out)" = 6
expect "dry run with a setting that fails" 0 'fails: .* B=200 .*lower batch_size' train -c job.yaml --dry-run \
    --set batch_size=[30,200] --set samplers=[uniform]
check "which costs no other" test "$(grep -cE '^ +[?] +[?]  node .* B=200' out) $(grep -cE '^ +[0-9.:]+ (ms|s)? .* B=30' out)" = '2 2'
expect "train" 0 'untrained encoder' train -c job.yaml -o one
check "one rate is said" complains 'one learning rate, 0\.01, was tried: at another'
check "an encoder below its features is said" says '^uniform is not shown to beat the frozen features alone \(probe_acc 9[0-9.]+ against 100\.00\)'
check "options of samplers have their columns" grep -qx 2 <(column one opt_l)
check "differences are paired" grep -qE ' [-+][0-9]+[.][0-9]+$' out
check "two seeds give them no p value" eval '! grep -qE ", p [0-9.]" out'
if script -qec true typed.log </dev/null >/dev/null 2>&1; then
    TERM=xterm script -qec "$hardneg train -c job.yaml -o typed --workers 1 --set seeds=[1] --set samplers=[uniform] --set snapshots.every=0 --set steps=15000 --set evaluate=0" \
        typed.log </dev/null >/dev/null
    check "an evaluation is announced" grep -q 'evaluating at step 0, node' typed.log
    check "a step tells the task's measure by its name" grep -qE 'loss [0-9.]+, probe_acc [01][.][0-9]{4}, ' typed.log
    rm -r typed typed.log
else
    skip "an evaluation is announced" "no script(1), or no pseudo-terminals"
fi
check "a series for every run" test "$(series one | wc -l)" = 6
check "an index of their folders" test "$(series one | sed 's,.*runs/,,; s,/.*,,')" = \
    "$(sed 1d one/runs/index.tsv | cut -f 1 | sort)"
check "by data, sampler and seed" grep -qE $'^[0-9a-f]{16}\tnode \\{.*data=.*uniform .*seed 2$' one/runs/index.tsv
check "no checkpoint stays" test -z "$(find one -name 'checkpoint*')"
check "costs of a step are printed" grep -q 'GFLOP' out
mkdir data/links # features that know nothing of the classes
for end in edges split; do cp data/small/small.$end data/links/links.$end; done
awk 'BEGIN { srand(3); print "# features=30"
    for (i = 0; i < 90; i++) { line = i " " i % 3
        for (j = 0; j < 30; j++) if (j == i % 30 || rand() < .2) line = line " " j
        print line } }' >data/links/links.features
expect "train above the features" 0 'frozen features alone' train -c job.yaml -o links --set samplers=[uniform] --set steps=90 \
    --set 'task={node: {data: data/links, hidden: 32, out: 16}}' --set 'seeds=[1,2,3,4,5,6,7,8]'
check "is not said to be below" eval '! says "not shown to beat"'
check "nothing is compared, of rates nothing is said" eval '! complains "learning rate"'
expect "two rates" 0 "^The best learning rate of uniform by probe_acc, 0.01, is the largest that was tried" train -c job.yaml -o rates \
    --set 'samplers=[uniform, knn]' --set 'adam={rate: [0.000000001, 0.01]}' --set snapshots.every=0 --set snapshots.dense_every=0
check "a column of runs" test "$(column rates rate | tr '\n' ' ')" = '0.01 1e-09 '
check "each rate has its table" test "$(grep -cE '^node, .* rate (0\.01|1e-09)' out)" = 2
check "of several rates no warning" eval '! complains "one learning rate"'
expect "three, the middle one best" 0 'rate 0\.02' train -c job.yaml -o rates --set 'samplers=[uniform]' \
    --set 'adam={rate: [0.000000001, 0.02, 1000]}' --set snapshots.every=0 --set snapshots.dense_every=0
check "is not at the edge" eval '! says "best learning rate"'
rm -r rates
rm -r links
run info "$(series one | head -n 1)"
mapfile -t all < <(series one)
pycheck "with data set, sampler and seed as attributes" 'import h5py, sys
a = [h5py.File(f).attrs for f in sys.argv[1:]]
assert sorted((x["sampler"], x["seed"]) for x in a) == [(s, n) for s in ("hops", "knn", "uniform") for n in "12"]
assert all(x["dataset"] == "data/small" and len(x["dataset_sha256"]) == 64 for x in a)
assert {x["params"] for x in a if x["sampler"] == "hops"} != {""}' "${all[@]}"
check "a series says what it is of" says '^title +node \{.*data=.*seed [0-9]+$'
expect "the report" 0 '.' report one -o one.html
check "the report has the untrained encoder" grep -q 'untrained encoder' one.html
check "the report has the curves" grep -q 'figure id="bs-fig13"' one.html
check "what a training lacks is not to be asked for in its job" \
    sh -c "grep -q 'needs /hist/counts, which the results lack: .hardneg run. on the snapshots' one.html && grep -q 'pareto needs values of fn_ratio of .runs, which the results lack: .hardneg run. on' one.html && ! grep -q 'job (metrics)\|metrics: all' one.html"
check "the data are named by their contents" test "$(column one dataset_sha256 | tr -d '\n' | wc -c)" = 64
mkdir moved && cp -r data moved/
expect "data elsewhere: nothing to do" 0 '0 trained, 6 reused' train -c job.yaml -o one --data moved
echo '3 4' >>moved/data/small/small.edges
expect "other data: all to do" 0 '6 trained, 0 reused' train -c job.yaml -o other --data moved
expect "again: nothing to do" 0 '0 trained, 6 reused' train -c job.yaml -o one
expect "other threads, one run at a time" 0 'untrained' train -c job.yaml -o two --threads 3 --workers 1
check "the same snapshots from other threads" same_series two
expect "side by side" 0 '6 trained' train -c job.yaml -o side --threads 3 --workers 3
expect "side by side: the same results" 0 'no difference' compare side/results.h5 two/results.h5
check "side by side: the same series" same_series side
check "side by side: said of each run" test "$(column side threads) $(column side beside)" = "1 2"
check "alone: said of each run" test "$(column two threads) $(column two beside)" = "3 0"
first=$(series one | head -n 1)
expect "the series is whole" 0 '.' validate "$first"
printf 'snapshots: %s\nbatch_size: 30\nbatches: 5\nsamplers: [uniform, knn, hops]\n' "$PWD/$first" >run.yaml
expect "and samplers run on it" 0 'cells' run -c run.yaml -o judged

# Interrupted as soon as it has written something, which leaves most of it to do: exit code 130, and said. Two
# signals at once are one request, as those of who signals the process and then its group.
files_in() { find "$1/runs" -type f 2>/dev/null | wc -l; }
interrupt() { # NAME FOLDER OPTION...
    local name=$1 folder=$2 files process rc
    files=$(files_in "$folder")
    shift 2
    env --default-signal=INT,TERM "$hardneg" train -c job.yaml -o "$folder" --set steps=600 --quiet "$@" \
        >out 2>err </dev/null &
    process=$!
    while test "$(files_in "$folder")" = "$files" && kill -0 $process 2>/dev/null; do sleep 0.01; done
    kill -INT $process
    kill -INT $process
    wait $process
    rc=$?
    check "$name: exit code 130, not $rc" test $rc = 130
    check "$name: said" grep -q 'interrupted' err
}

# Broken off again and again, it ends as if it had not been.
expect "long" 0 'untrained' train -c job.yaml -o long --set steps=600 --threads 2
for i in 1 2 3; do interrupt "interrupted, time $i" broken --threads 1; done
expect "goes on" 0 'untrained' train -c job.yaml -o broken --set steps=600
check "interrupted: the same snapshots" same_series broken long

# Side by side: an interruption reaches every process, and one that is killed costs nothing but time.
for i in 1 2; do interrupt "side by side, interrupted, time $i" apart --threads 2 --workers 2; done
expect "side by side, interrupted: goes on" 0 'untrained' train -c job.yaml -o apart --set steps=600 --threads 2
check "side by side, interrupted: the same snapshots" same_series apart long
"$hardneg" train -c job.yaml -o torn --threads 2 --workers 2 --set steps=3000 >out 2>err </dev/null &
parent=$!
has_checkpoint() {
    child=$(children_of $parent | cut -d' ' -f1)
    test -n "$child" && find torn/runs -name 'checkpoint*' 2>/dev/null | grep -q .
}
check "a process has trained" wait_for 60 has_checkpoint
kill -KILL "$child"
wait $parent
rc=$?
check "a killed process: exit code 0, not $rc" test $rc = 0
check "a killed process: said" grep -q 'signal 9 at node .*: it is done again, alone' err
parent=$("$hardneg" train -c job.yaml -o torn --threads 2 --workers 2 --set steps=30000 >out 2>err </dev/null & echo $!)
wait_for 60 two_children
kill -KILL "$parent"
check "there were two processes" test "$(wc -w <<<"$children")" = 2
for child in $children; do
    check "a process ends with the one that began it" wait_for 60 ended_process "$child"
done

# Two signals at once leave it waiting for processes that stand still; one that comes later does not.
env --default-signal=INT,TERM "$hardneg" train -c job.yaml -o still --threads 2 --workers 2 --set steps=30000 \
    >out 2>err </dev/null &
parent=$!
wait_for 60 two_children
# shellcheck disable=SC2086
kill -STOP $children
kill -INT $parent $parent
sleep 0.7
check "two signals at once are one request" test -e "/proc/$parent/exe"
for _ in 1 2 3 4 5; do # one that is handled late counts as one of those
    kill -INT $parent
    wait_for 10 ended_process $parent && break
done
wait $parent
rc=$?
check "a later signal ends it at once: $rc" test $rc = 130
check "a later signal: nothing to say" test ! -s err
for child in $children; do check "and its processes" wait_for 60 ended_process "$child"; done
expect "side by side: goes on" 0 'untrained' train -c job.yaml -o torn --workers 2 --threads 2
check "side by side, torn: the same snapshots" same_series torn

mkdir -p half/data/small wrong/data
cp data/small/small.features half/data/small/
cp -r data/small wrong/data/ && echo '3 four' >>wrong/data/small/small.edges
# Files for samplers that want a teacher or groups, named relative to the job, and known by their contents.
mkdir -p extra
awk 'BEGIN { srand(4); for (i = 0; i < 90; i++) print rand() - .5 "\t" rand() - .5 "\t" rand() }' >extra/t.tsv
awk 'BEGIN { for (i = 0; i < 90; i++) print i % 2 }' >extra/g.tsv
sed -e 's/^samplers:.*/samplers: [{b3: {space: teacher, p: 5, m: 10, cluster: 10}}, grit]/' -e 's,data/small,../data/small,' \
    -e 's/^seeds:.*/seeds: [1]/' job.yaml >extra/job.yaml
expect "no teacher, no groups" 4 "not_applicable: .*b3 with space: teacher needs a teacher, .* the job's key 'teacher'" \
    train -c extra/job.yaml -o untaught
check "which is no success" complains 'none of 2 runs is applicable'
check "said of groups, too" says "grit needs groups, .* the job's key 'groups'"
sed -e 's/^samplers:.*/samplers: [uniform]\nweightings: [gist: {guide: teacher, margin: 0.6}]/' \
    extra/job.yaml >extra/guided.yaml
expect "no teacher for a loss" 4 "not_applicable: .*gist with guide: teacher needs a teacher: .* the job's key 'teacher'" \
    train -c extra/guided.yaml -o unguided
printf 'teacher: t.tsv\n' >>extra/guided.yaml
expect "a teacher for a loss" 0 '1 trained' train -c extra/guided.yaml -o guided
printf 'teacher: t.tsv\ngroups: g.tsv\n' >>extra/job.yaml
expect "a teacher and groups" 0 '2 trained' train -c extra/job.yaml -o taught
expect "again: nothing to do" 0 '0 trained, 2 reused' train -c extra/job.yaml -o taught
expect "samplers run on its series" 0 'cells' run -o taught-run -c <(printf \
    'snapshots: %s\nbatch_size: 30\nepochs: 1\nsamplers: [grit, {b3: {space: teacher, p: 5, m: 10, cluster: 10}}]\nmetrics: [fn_ratio]\n' \
    "$PWD/$(series taught | head -n 1)")
check "none of these lacks anything" test "$(column taught-run status | sort -u)" = ok
sed -i '1s/^/-/' extra/t.tsv
expect "other contents: all to do" 0 '2 trained, 0 reused' train -c extra/job.yaml -o taught2
sed -i '3d' extra/t.tsv
expect "a row too few" 4 't\.tsv has 89 rows but the data of task node has 90' train -c extra/job.yaml -o taught3
rm extra/t.tsv
expect "no such file" 3 "extra/t\.tsv, which the job's key 'teacher' names, cannot be read" train -c extra/job.yaml -o taught4
check "and nothing is made" test ! -e taught4

expect "no job" 2 '@no-job' train
expect "no folder" 2 '@no-output' train -c job.yaml
expect "unknown key" 2 'set sampler.*@did-you-mean' train -c job.yaml -o x --set sampler=[knn]
sed 's/^steps/step/' job.yaml >bad.yaml
expect "a misspelt key" 2 'bad.yaml:6:1: @unknown-key.*@did-you-mean .steps' train -c bad.yaml -o x
expect "unknown task" 2 "@unknown-task 'nod'" train -c job.yaml -o x --set 'task=[nod]'
expect "unknown loss" 2 '@unknown-loss' train -c job.yaml -o x --set loss=infonc
expect "ambiguous loss" 2 'decoupled' train -c job.yaml -o x --set loss=dcl
expect "steps and epochs" 2 "@steps-or-epochs" train -c job.yaml -o x --set epochs=3
expect "a rate out of range" 2 'rate' train -c job.yaml -o x --set adam.rate=-1
expect "a loss that one sampler does not suit" 0 'not_applicable: seed 1 of hops: .*other-view' train -c job.yaml -o unfit --set loss=infonce
check "the others are trained" says '^knn '
expect "data that are not there" 3 'task node: no .*features in the folder nowhere/data/small: @put-there NAME.features' \
    train -c job.yaml -o gone --data nowhere
check "said once" test "$(wc -l <err)" = 1
check "with where to get them" grep -q 'https://linqs.org/datasets' err
check "and nothing is left" test ! -e gone
expect "half of the data" 3 'no .*edges in the folder half/data/small' train -c job.yaml -o gone --data half
for task in cnn views-mlp; do
    expect "no images for $task" 3 'test_batch.bin of cifar-10-binary.tar.gz, from https' train -c job.yaml -o gone \
        --data nowhere --set "task={$task: {}}"
    check "$task: said once" test "$(wc -l <err)" = 1
done
expect "no graphs" 3 'NAME_graph_indicator.txt.* from https' train -c job.yaml -o gone --data nowhere --set 'task={graph: {}}'
expect "data that are there, but wrong" 4 '6 @runs-failed' train -c job.yaml -o wrong --data wrong
expect "divergence" 4 'step [0-9]*: @diverged' train -c job.yaml -o far --set adam.rate=1e38 --set seeds=1
# What a frozen front end holds by itself stands beside what was learnt on it.
noise() { # FOLDER IMAGES
    mkdir -p "$1"
    for file in data_batch_1 test_batch; do
        for i in $(seq "$2"); do
            # shellcheck disable=SC2059
            printf "\\x$((i % 10))"
            head -c 3072 /dev/urandom
        done >"$1/$file.bin"
    done
}
noise data/noise 40
expect "frozen features" 0 '^frozen features alone +1 +[0-9.]+ +- +[0-9.]+' train -c job.yaml -o frozen --set seeds=1 \
    --set 'task={views-mlp: {data: data/noise, n: 40, views: 2, dim: 8, hidden: 16}}' --set loss=ntxent \
    --set samplers=uniform --set batch_size=20
# Data that another process makes ready all the time, and data that are ready.
mkdir waits
flock "waits/$(basename frozen/views-*).lock" sleep 60 &
views="task={views-mlp: {data: data/noise, n: 40, views: 2, dim: 8, hidden: 16}}"
expect "a dry run whose data are not ready" 0 '^ +\? .* views-mlp' train -c job.yaml --cache waits --dry-run --set seeds=1 \
    --set "$views" --set loss=ntxent --set samplers=uniform --set batch_size=20
check "says what to do" grep -q 'data were made ready.*earlier run as --cache' err
kill $!
expect "a dry run whose data are ready" 0 '[0-9] ?m?s +[0-9.]+ .iB .*views-mlp' train -c job.yaml --cache frozen --dry-run --set seeds=1 \
    --set "$views" --set loss=ntxent --set samplers=uniform --set batch_size=20
check "has nothing to say of it" test "$(grep -c 'made ready' err)" = 0
expect "frozen features in the report" 0 '.' report frozen -o frozen.html
check "the report has the frozen features" grep -q 'frozen features alone' frozen.html
check "node tables have them too, and averaged" grep -q "features averaged twice" one.html
expect_paper() { # PATTERN ARGUMENT...
    local pattern=$1
    shift
    "$root/harness/reproduce/paper.sh" "$hardneg" "$@" >out 2>err
    rc=$?
    check "make paper without data: exit code 2, not $rc" test $rc = 2
    check "make paper without data: says '$pattern'" grep -q -- "$pattern" err
}
expect_paper 'no data' '' paper
# The layouts of CIFAR-100 and STL-10.
pycheck "pictures of other sizes" 'import numpy as np, os
rng = np.random.default_rng(1)
for folder in "stl10", "cifar100": os.makedirs("pictures/" + folder)
def put(name, n, side): rng.integers(0, 256, (n, 3 * side * side), np.uint8).tofile("pictures/stl10/" + name + "_X.bin")
for name, n in ("train", 30), ("test", 12):
    put(name, n, 96)
    (np.arange(n, dtype=np.uint8) % 10 + 1).tofile("pictures/stl10/" + name + "_y.bin")
    labels = np.stack([np.zeros(n, np.uint8), np.arange(n, dtype=np.uint8)], 1)
    np.hstack([labels, rng.integers(0, 256, (n, 3072), np.uint8)]).tofile("pictures/cifar100/" + name + ".bin")
put("unlabeled", 20, 96)'
if [ -d pictures ]; then
    for folder in stl10 cifar100; do
        expect "a training on $folder" 0 'untrained encoder' train -c job.yaml --data pictures -o "of-$folder" --set seeds=[1] \
            --set "task={views-mlp: {data: $folder, n: 30, views: 2, dim: 8, hidden: 16, out: 8, probe_c: 1}}" \
            --set loss=ntxent --set samplers=[uniform] --set batch_size=10 --set steps=4
    done
    expect "more pictures than there are" 4 '' train -c job.yaml --data pictures -o of-more --set seeds=[1] \
        --set 'task={views-mlp: {data: stl10, n: 51, views: 2, dim: 8, hidden: 16, out: 8}}' --set loss=ntxent \
        --set samplers=[uniform] --set batch_size=10 --set steps=4
    check "says how many" grep -q 'holds 50 training images, fewer than n = 51' out err
    rm pictures/stl10/train_y.bin
    expect "without labels" 3 'no train_y.bin in the folder pictures/stl10: put there the files of stl10_binary' train -c job.yaml \
        --data pictures -o of-none --set 'task={cnn: {data: stl10, n: 30, out: 8}}'
fi
expect_paper 'nowhere/cifar10/data_batch_1.bin is not there' nowhere paper
noise noisy/cifar10 256
ENCODERS=2 IDS="gc-theorem4 bs-theorem1" IMAGES='n: 256, views: 2, dim: 8, hidden: 16' \
    TRAIN='--set steps=4 --set evaluate=4 --set batch_size=64' \
    "$root/harness/reproduce/paper.sh" "$hardneg" noisy paper quick >out 2>err
check "make paper" test $? = 0
check "make paper: verdicts over the encoders" grep -q 'on 2 encoders of 1 data set' paper/verdicts.txt
check "make paper: beside those of one" grep -q 'verdicts differ from those of' out
check "make paper: the page" test -s paper/index.html

# Sentences: seven tables of pairs, of made-up words; the score says how many both have.
mkdir -p words/sts
for set in sick-train sick-test sts12-train sts12-test sts13-test sts14-test sts16-test; do
    awk -v set=$set 'BEGIN { srand(length(set)); sick = set ~ /sick/
        print "set\tsubset\tscore\tsentence1\tsentence2" (sick ? "\tentailment" : "")
        for (i = 0; i < 48; i++) { a = b = ""
            for (k = 0; k < 5; k++) { w = sprintf("%c%c%d", 97 + rand() * 26, 97 + rand() * 26, rand() * 10)
                a = a w " "; b = (k < i % 6 ? w : w "x" k) " " b }
            print set "\tall\t" i % 6 "\t" a "\t" b (sick ? "\t" (i % 6 > 3 ? "ENTAILMENT" : i % 6 ? "NEUTRAL" : "CONTRADICTION") : "") } }' \
        >words/sts/$set.tsv
done
cat >text.yaml <<'YAML'
version: 1
task: {text: {items: [single, pairs], out: 16, svd: 8}}
samplers: [uniform, knn]
loss: other-view
batch_size: 20
drop_last: true
epochs: 2
snapshots: {every: 2}
adam: {schedule: linear}
YAML
expect "sentences" 0 '^singular vectors of these features' train -c text.yaml --data words -o text
check "two epochs of full batches, of 192 sentences and of 64 pairs" test "$(column text step | tr '\n' ' ')" = "18 6 "
printf 'snapshots: %s\nbatch_size: 20\nbatches: 3\nsamplers: [uniform, knn, gcbs]\nmetrics: [fn_ratio]\n' \
    "$PWD/$(series text | head -n 1)" >text-run.yaml
expect "sentences: samplers run on the series" 0 'cells' run -c text-run.yaml -o text-judged
expect "sentences: a loss without hard negatives" 2 'take loss other-view, both-ways or siglip, not ntxent' \
    train -c text.yaml --data words -o text --set loss=ntxent --set 'task={text: {items: pairs}}'
expect "sentences: a guide and hard negatives" 2 'guide: teacher compares items of the batch' \
    train -c text.yaml --data words -o text --set loss=other-view --set 'task={text: {items: pairs}}' \
    --set 'weightings=[gist: {guide: teacher}]'
mv words/sts/sts13-test.tsv aside
expect "sentences: a file is missing" 3 'no sts13-test.tsv in the folder words/sts' train -c text.yaml --data words -o none
sed '3s/all\t[0-9]/all\tsix/' aside >words/sts/sts13-test.tsv
expect "sentences: a score is none" 4 "sts13-test.tsv: line 3: the score is 'six'" train -c text.yaml --data words -o bad

mkdir -p code/codesearchnet/ruby code/none
oracle=$here/training/oracle_pairs.py
pycheck "functions as CodeSearchNet has them" 'import subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], check=True)' "$oracle" make code/codesearchnet/ruby
cp "$here/../harness/jobs/train-pairs.yaml" pairs.yaml
if [ -s code/codesearchnet/ruby/train.jsonl ]; then
    expect "queries and documents" 0 '^singular vectors of these features' train -c pairs.yaml --data code -o pairs \
        --set batch_size=20 --set epochs=2 --set seeds=[1] --set task.pairs.svd=8 \
        --set 'samplers=[{uniform: {no_duplicates: true}}, {gcbs: {keep_apart: true}}]'
    check "a difference of MRR has the digits of MRR" grep -qE '^gcbs .* [-+]?0\.[0-9]{3}$' out
    expect "mined negatives take a loss that knows them" 2 'take loss other-view, both-ways or siglip, not infonce: set mined and mask' \
        train -c pairs.yaml --data code -o x --set batch_size=20 --set task.pairs.mined=true --set loss=infonce
    pycheck "the features' MRR is that of a script" 'import subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], check=True)' "$oracle" check code/codesearchnet/ruby pairs
    expect "features weighed by their number" 0 'sparse features alone' train -c pairs.yaml --data code -o plain --set batch_size=20 \
        --set epochs=1 --set seeds=[1] --set samplers=[uniform] --set task.pairs.tf=plain --set task.pairs.joint=true
    pycheck "the MRR of such features" 'import subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], check=True)' "$oracle" check code/codesearchnet/ruby plain plain
fi
expect "queries and documents: a file is missing" 3 'no train.jsonl in the folder code/none: put there .*CodeSearchNet' \
    train -c pairs.yaml --data code -o none --set task.pairs.data=none
mkdir -p code/some/qrels
touch code/some/qrels/train.tsv code/some/queries.jsonl
expect "queries and documents: of the layout that is begun" 3 'no corpus.jsonl in the folder code/some: put there queries.jsonl, corpus.jsonl' \
    train -c pairs.yaml --data code -o none --set task.pairs.data=some
printf '{"_id": %s, "text": "word%s"}\n' 1 a 2 b 3 c 4 d >code/some/queries.jsonl
printf '{"_id": %s, "text": "word%s of"}\n' 1 a 2 b 3 c 4 d >code/some/corpus.jsonl
printf '%s\t%s\t1\n' 1 1 2 2 3 3 >code/some/qrels/train.tsv
printf '%s\t%s\t1\n' 4 4 >code/some/qrels/test.tsv
expect "queries and documents as BEIR has them" 0 'untrained encoder' train -c pairs.yaml --data code -o beir \
    --set batch_size=2 --set epochs=1 --set seeds=[1] --set samplers=[uniform] --set task.pairs.data=some
digest=$(column beir dataset_sha256)
printf '4\t3\t1\n' >>code/some/qrels/test.tsv
expect "other judgements" 0 '1 trained, 0 reused' train -c pairs.yaml --data code -o beir2 \
    --set batch_size=2 --set epochs=1 --set seeds=[1] --set samplers=[uniform] --set task.pairs.data=some
check "are other data" test "$digest" != "$(column beir2 dataset_sha256)"
printf '4\t9\t1\n' >>code/some/qrels/test.tsv
expect "a judgement of no document" 4 'qrels/test.tsv: line 3: .*some/corpus.jsonl; --unknown skip \(in a job: unknown: skip\) leaves out' train -c pairs.yaml --data code -o beir3 \
    --set batch_size=2 --set epochs=1 --set seeds=[1] --set samplers=[uniform] --set task.pairs.data=some
check "a run that failed was not trained" complains 'beir3/results.h5: 1 run \(0 trained, 0 reused\)'
expect "relevance by the words of mine" 0 'test.tsv: 1 line left out, with an id that is unknown' train -c pairs.yaml --data code -o beir4 \
    --set batch_size=2 --set epochs=1 --set seeds=[1] --set samplers=[uniform] --set task.pairs.data=some --set task.pairs.unknown=skip \
    --set task.pairs.self=id --set task.pairs.equal_texts=merge --set task.pairs.min_grade=1 --set task.pairs.mined=true

for i in {1..60}; do
    echo "{\"_id\": \"$i\", \"text\": \"word$((i % 7)) of$((i % 5)) $i\"}" >>code/queries.jsonl
    echo "{\"_id\": \"$i\", \"text\": \"word$((i % 7)) by$((i % 3)) $i\"}" >>code/corpus.jsonl
    printf '%s\t%s\t1\n' "$i" "$i" >>code/pairs.tsv
    echo "group $((i / 4))" >>code/groups.txt
done
mkdir -p code/tuned/qrels
mv code/queries.jsonl code/corpus.jsonl code/groups.txt code/tuned
mv code/pairs.tsv code/tuned/qrels/train.tsv
expect "recipes at what the validation part chooses" 0 'Each at the learning rate and temperature that valid_mrr chooses' \
    train -c pairs.yaml --data code -o tuned --set batch_size=8 --set epochs=1 --set 'seeds=[1, 2, 3]' --set 'samplers=[uniform, knn]' \
    --set 'adam.rate=[0.01, 0.1]' --set task.pairs.data=tuned --set task.pairs.valid=0.3 --set task.pairs.split=group --set 'task.pairs.mined=[false, random]'
check "the best rate is the validation's" says '^The best learning rate of .* by valid_mrr, 0\.0?1, is the'
check "and no test outcome's" eval '! says "best learning rate of .* by mrr"'
check "each of its recipe" test "$(grep '^The best learning rate' out | sort | uniq -d | wc -l) $(grep -c '^The best learning rate.* mined=' out)" = "0 $(grep -c '^The best learning rate' out)"
check "a row for each recipe" test "$(sed '1,/valid_mrr chooses/d' out | grep -cE '^(uniform|knn), mined=(false|random), rate 0.1?.*')" = 4
run report tuned
check "the page has the same" grep -q 'valid_mrr chooses' tuned/index.html
check "and as many rows" test "$(sed -n '/id=tuned/,/Costs/p' tuned/index.html | grep -c '<th scope=row')" = 4
expect "a window that is none" 2 'max_rank 5 is not above min_rank 5' train -c pairs.yaml --data code -o window --set batch_size=8 --set epochs=1 \
    --set 'seeds=[1]' --set 'samplers=[uniform]' --set task.pairs.data=tuned --set 'task.pairs.mined=true' --set task.pairs.min_rank=5 --set task.pairs.max_rank=5

finish
