#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of `hardneg reproduce`: `tests/reproduce.sh PROGRAM`, on the committed small series.
source "$(dirname "$0")/lib.sh"
begin reproduce "$1"
mkdir data
cp "$here"/../datasets/cifar10-mini.h5 data/
reproduce() { run reproduce "$@"; } # ARGUMENT...

reproduce --list --data data
check "--list ends well" is 0
# What the list says of an identifier, in one line.
listed() { awk -v id="$1" '$1 == id { on = 1 } on && /^  [^ ]/ && $1 != id { on = 0 } !NF { on = 0 } on' out | tr -s ' \n' ' '; }
says_of() { listed "$1" | grep -qE -- "$2"; } # ID PATTERN
check "--list groups by paper" eval '[ "$(grep -E "^[A-Z]" out | tr "\n" " ")" = "BS GC HC NS PS " ]'
check "--list is readable on a terminal" eval '[ "$(awk "{ if (length > n) n = length } END { print n }" out)" -le 100 ]'
check "--list names snapshot rows" says_of bs-fig4 'ready snapshots BS figure 4 on other data: your snapshots'
check "what is covered" says_of bs-limits 'bs-limits ready snapshots BS section 4.3 \(M = N, M = 1\) $'
check "what needs data" says_of bs-table1 '- listed BS table 1 needs data: ImageNet'
check "what needs code" says_of bs-table6-other '- listed .*needs code: jobs and claims for CIFAR-100'
check "what needs none of ours" says_of gc-table12 '- listed .*needs another machine: seven GPUs'
check "what another identifier shows" says_of ps-fig4 'ready listed PS figure 4 as bs-fig4: on other data: your'
check "as far as that one" says_of ps-table1 ' - .*as bs-table1: needs data: ImageNet'
check "--list names training rows" says_of bs-table3 'lacks data training .*needs the folder tudataset/MUTAG'
check "--list names what cannot be had" says_of gc-table3 'Imagenette'
check "--list says what the data lack" says_of ns-ring 'lacks data .*needs a snapshot file with labels, raw features'
check "--list leaves nothing" test ! -e results
reproduce --list --json --data data
check "--list --json" says '"id": "hc-mass"'
check "what data are missing is told once" \
    "$python" -c 'import json; [e] = [e for e in json.load(open("out"))["entries"] if e["id"] == "ns-ring"]
assert "needs" not in e["coverage"] and "raw features" in e["missing"], e'
mkdir empty
reproduce --list --data empty
check "an item without conditions" says_of bs-prop1 'lacks data .*needs a snapshot file; empty has none'
check "theorems on graphs of their own need no snapshot" says_of bs-theorem1 'bs-theorem1 ready'
mkdir "$(printf 'e\377')"
reproduce --list --data "$(printf 'e\377')"
check "a folder whose name is not UTF-8" says_of bs-prop1 'lacks data .*needs a snapshot file'
reproduce --list --ready --data empty
check "--ready" says_of hc-theorems 'hc-theorems ready'
check "--ready names nothing else" eval '! grep -q "lacks data\|needs data" out'
mkdir -p folder/snapshots
cp data/*.h5 folder/snapshots/
reproduce --list bs-limits --data folder
check "snapshots in a folder of that name" says_of bs-limits 'bs-limits ready'
reproduce --ready bs-limits --data data
check "--ready alone" is 2
reproduce bs-fig4 --training --data data
check "an identifier and --training" is 2
check "which is said" complains '@ids-and-all'
{
    printf 'paper: many\nentries:\n'
    for i in $(seq 600); do printf '  - {id: many-%d, title: t, source: s, kind: listed, missing: m}\n' "$i"; done
} >many.yaml
reproduce --list many-600 --claims many.yaml --data data
check "more than 512 entries" says_of many-600 'needs data: m'
reproduce --list
check "--list in any folder" is 0
check "--list says where it looked" complains 'datasets: is not there; --data names'
reproduce --list --data nowhere
check "a missing folder" is 2
check "a missing folder is named" complains 'data nowhere: cannot be opened'

reproduce bs-fig44 --data data
check "a wrong identifier" is 2
check "the nearest name" complains "@unknown-identifier 'bs-fig44' \(@did-you-mean 'bs-fig4'\?\)"
reproduce
check "nothing asked for" is 2
reproduce bs-fig4 --quick --full
check "quick and full" is 2
reproduce bs-fig4 --data "$here/cli.sh" -o r0
check "a file that is no snapshot" is 3

# Encoders as replicates: alike in all but their values.
mkdir family
for seed in 1 2; do "$hardneg" synth -o family/e$seed.h5 --n 300 --dim 8 --classes 3 --steps 2 --seed $seed --quiet; done
reproduce gc-theorem4 --replicates --data family --quick --seeds 1 -o f1 --term none
check "replicates" says 'verdict: fails, on 2 encoders of 1 data set'
reproduce gc-theorem4 --data family --quick --seeds 1 -o f2 --term none
check "without: one of them" says 'verdict: fails, on one encoder of one data set'
reproduce gc-theorem4 --results f1/results.h5 --against f2/results.h5
check "judged again over encoders" says 'on 2 encoders of 1 data set'
reproduce gc-bounds --data family --quick --seeds 1 -o f5 --term none
check "an order of batches is judged by its whole epoch" grep -q '^epochs: 1$' f5/jobs/gc.yaml
reproduce bs-prop1 bs-limits --data data --quick --seeds 1 -o both --term none
"$hardneg" export both --csv --table runs >runs.csv 2>err
rc=$?
check "cells of two identifiers that measure other things of them can be read" is 0
check "every cell once" eval '[ -z "$(tail -n +2 runs.csv | cut -d, -f1 | sort | uniq -d)" ]'
reproduce bs-theorem1 --quick --seeds 1 -o f4 --term none
check "a statement about graphs rests on no encoder, and needs no data" says 'verdict: fails$'
reproduce gc-theorem4 --results f1/results.h5 --against f2/results.h5
check "beside earlier verdicts" says '^0 of 1 verdicts differ from those of f2/results.h5'
cp out of-files
reproduce gc-theorem4 --results f1/ --against f2
check "folders of runs in place of files" is 0
check "with what the files say" cmp -s out <(sed 's,f2/results.h5,f2,' of-files)
mkdir begun begun/cells
reproduce gc-theorem4 --results begun
check "a folder whose run has not ended" is 3
check "is named" complains 'begun: has no results.h5: its run @unfinished'
reproduce gc-theorem4 --replicates --data data -o f3
check "one file is no family" is 2
check "that is said" complains 'data: --replicates wants a folder of at least two'
"$hardneg" synth -o family/other.h5 --n 301 --dim 8 --classes 3 --steps 2 --quiet
reproduce gc-theorem4 --replicates --data family -o f3
check "other sizes are no family" is 2
check "which files" complains 'e1.h5 and other.h5 are not replicates'
"$hardneg" synth -o family/other.h5 --n 300 --dim 8 --classes 3 --steps 2 --step-gap 7 --force --quiet
reproduce gc-theorem4 --replicates --data family -o f3
check "other steps are no family" is 2

# A claim of one's own on a small job; everything else from the same cells.
cat >own.yaml <<'YAML'
paper: me
entries:
  - id: mine
    title: kNN against Uniform
    source: nowhere
    jobs: [{job: bs-fig7, labels: true, last_step: true}]
    claims:
      - name: above
        statement: the kNN graph is above the proximity graph
        test: above
        of: {column: fn_ratio, rows: {graph: knn}}
        than: {rows: {graph: proximity}}
      - name: below
        statement: and below it
        test: below
        of: {column: fn_ratio, rows: {graph: knn}}
        than: {rows: {graph: proximity}}
      - name: lacking
        statement: of a column that is not there
        test: below
        of: {column: no_such}
        than: {value: 1}
  - id: lost
    title: a job that is not there
    source: nowhere
    jobs: [{job: no-such-job}]
    claims: [{name: any, statement: any, test: above, of: {column: gap}, than: {value: 0}}]
  - id: timed
    title: costs of a small sampler
    source: nowhere
    costs:
      - {name: small, sampler: "{gcbs: {keep: 8}}", items: 300, dims: 8, batch: 32, entries: uniform}
    claims:
      - name: fast
        statement: a build takes less than an hour
        test: below
        of: {table: costs, column: cost_g, rows: {sampler: gcbs}}
        than: {value: 3600}
  - {id: same, kind: listed, title: the same, source: nowhere, as: mine}
  - {id: astray, kind: listed, title: none, source: nowhere, as: nobody}
YAML
reproduce mine --claims own.yaml --data data -o r1 --quick --term none
check "a claim that fails is no failure" is 0
check "holds" says '^  holds +the kNN graph is above'
check "fails" says '^  fails +and below it'
check "not tested, with the column" says "column 'no_such' @column-missing 'runs'"
check "the identifier's verdict" says 'verdict: fails'
check "no library's own messages" readable
for file in results.h5 ids/mine.h5 jobs/bs-fig7.yaml; do
    check "left: $file" test -s "r1/$file"
done
before=$(find r1/cells -name '*.cell' -newer own.yaml | wc -l)
touch mark
reproduce mine --claims own.yaml --data data/cifar10-mini.h5 -o r1 --quick --term none --json
check "again" is 0
check "JSON" says '"verdict": "fails"'
check "with the parts of claims" says '"detectable": [0-9]'
check "nothing ran again" test "$(find r1/cells -name '*.cell' -newer mark | wc -l)" = 0
check "cells were there" test "$before" = 6
reproduce lost --claims own.yaml --data data -o r3 --term none
check "a job that is not there" says "not tested; @job-missing 'no-such-job'"
reproduce timed --claims own.yaml -o r3 --term none
check "costs" is 0
check "costs are judged" says '^  holds +a build takes less than an hour'
check "costs are kept" test "$(find r3/cells -name '*.cell' | wc -l)" = 3
touch mark
reproduce timed --claims own.yaml -o r3 --term none
check "costs again" says 'verdict: holds'
check "nothing timed again" test "$(find r3/cells -name '*.cell' -newer mark | wc -l)" = 0
if type gnuplot >/dev/null 2>&1; then
    "$hardneg" plot r3/ids/timed.h5 --figure bs-table5 -o drawn >out 2>err
    rc=$?
    check "costs alone are drawn" is 0
    check "with their size" grep -q 'small: gcbs, N=300' drawn/bs-table5.tsv
else
    skip "a figure of costs" "gnuplot is not there (gnuplot-nox)"
fi
reproduce mine --claims own.yaml --results r1/ids/mine.h5
check "results that are there" says 'verdict: fails'
reproduce same --claims own.yaml --results r1/ids/mine.h5
check "the same by another name" says '^mine  kNN against Uniform'
check "with its verdict" says 'verdict: fails'
reproduce ps-fig10 --results r1/ids/mine.h5
check "a figure of ProSampler's" says '^bs-fig7  kNN graph against proximity graph'
reproduce astray --claims own.yaml --results r1/ids/mine.h5
check "a reference to nothing" is 2
check "is named" complains "astray.* 'nobody'"
reproduce mine --claims own.yaml --results "$here/cli.sh"
check "results that are none" is 3
echo 'paper: [' >bad.yaml
reproduce mine --claims bad.yaml
check "a bad claim file" is 2
check "its place" complains 'bad.yaml:'

reproduce ns-ring bs-table3 gc-table3 --data data -o r2 --term none
check "not tested is no failure" is 0
check "data missing" says 'not tested; needs a snapshot file with labels, raw features'
check "training missing" says 'not tested; needs the folder tudataset/MUTAG below --data data'
check "a listed one" says 'Imagenette'
check "the table of verdicts" says '^0 hold, 0 fail, 0 inconclusive, 3 not tested'

# A folder of odd files, and of an odd name: what is no snapshot, or is there twice, is left out.
graph() { # FOLDER ITEMS
    mkdir -p "$1/cora"
    awk -v n="$2" 'BEGIN { print "# features=5"; for (i = 0; i < n; i++) print i, i % 3, i % 5 }' >"$1/cora/cora.features"
    awk -v n="$2" 'BEGIN { for (i = 1; i < n; i++) print i - 1, i }' >"$1/cora/cora.edges"
    awk -v n="$2" 'BEGIN { for (i = 0; i < n; i++) print i, "train" }' >"$1/cora/cora.split"
}
odd='odd "d\d[1]'
mkdir -p "$odd/snapshots"
"$hardneg" synth -o "$odd/a.h5" --n 300 --dim 8 --classes 3 --steps 3 --views 2 --quiet
"$hardneg" synth -o "$odd/b.h5" --n 400 --dim 8 --classes 3 --steps 1 --quiet
cp "$odd/a.h5" "$odd/copy.h5"
cp "$odd/b.h5" "$odd/snapshots/b.h5"
cp "$here/cli.sh" "$odd/wrong.h5"
graph "$odd" 60
printf 'snapshots: [none]\nbatch_size: 8\nsamplers: [uniform]\nmetrics: [fn_ratio]\nbatches: 20\n' >plain-job.yaml
cat >odd.yaml <<'YAML'
paper: odd
entries:
  - {id: large, title: l, source: s, jobs: [{job: plain-job.yaml, items: 1e6}], claims: [CLAIM]}
  - {id: graph, title: l, source: s, jobs: [{job: plain-job.yaml, features: true, items: 1000}], claims: [CLAIM]}
  - {id: steps, title: l, source: s, jobs: [{job: plain-job.yaml, prefer: steps, views: true, each_seed: true, last_step: true}], claims: [CLAIM]}
  - {id: items, title: l, source: s, jobs: [{job: plain-job.yaml}], claims: [CLAIM],
     costs: [{name: small, full: true, sampler: uniform, items: 300, dims: 8, batch: 32, reps: 1}]}
  - {id: planned, kind: training, title: l, source: s, claims: [CLAIM]}
YAML
sed -i 's/CLAIM/{name: any, statement: any, test: below, of: {column: fn_ratio}, than: {value: 1}}/' odd.yaml
reproduce large graph steps items planned large --claims odd.yaml --data "$odd" -o several --seeds 2 --term none
check "odd files" is 0
check "an identifier given twice" test "$(grep -c '^large  l' out)" = 1
check "the same contents" complains 'left out: .*/copy.h5 has the contents of .*/a.h5'
check "the same name" complains 'left out: .*/snapshots/b.h5: .* has a file of that name'
check "no snapshot" complains 'left out: .*/wrong.h5: is not an HDF5 file'
check "too few items" says 'not tested; needs a snapshot file with at least 1e\+06 items; odd'
check "a graph of too few items" says 'not tested; needs a snapshot file with raw features .*, at least 1000 items'
check "the most steps" says 'at a.h5, step 200: .* over 2 seeds'
check "the most items" says 'at b.h5, step 0: .* over 2 seeds'
check "a training that is planned" says 'verdict: not tested; no training measures it yet'
check "each seed once" test "$(find several/cells -name '*.cell' | wc -l)" = 4
reproduce items --claims odd.yaml --data "$odd/b.h5" -o full --seeds 2 --full --term none
check "costs of a full reproduction" test "$(find full/cells -name '*.cell' | wc -l)" = 3
mkdir -p barred/data/cora.h5
reproduce graph --claims odd.yaml --data "$odd" -o barred --term none
check "an import that cannot be made anew" says 'not tested; barred/data/cora.h5 cannot be replaced: Is a directory'
rm -r "$odd"/*.h5 "$odd/snapshots"
"$hardneg" synth -o "$odd/a.h5" --n 300 --dim 8 --classes 3 --steps 1 --views 1 --quiet
"$hardneg" synth -o "$odd/b.h5" --n 300 --dim 8 --classes 3 --steps 1 --quiet
reproduce steps --replicates --claims odd.yaml --data "$odd" -o never
check "views of one alone are no family" complains 'a.h5 and b.h5 are not replicates'

# A graph is imported anew: that of another --data is another one.
cat >graph.yaml <<'YAML'
paper: me
entries:
  - id: graph
    title: items of a graph
    source: nowhere
    jobs: [{job: graph-job.yaml, features: true}]
    claims: [{name: any, statement: any, test: above, of: {column: fn_ratio}, than: {value: 0}}]
YAML
printf 'snapshots: [none]\nbatch_size: 8\nsamplers: [uniform]\nmetrics: [fn_ratio]\n' >graph-job.yaml
for n in 60 80; do
    graph g$n $n
    reproduce graph --claims graph.yaml --data g$n -o graphs --quick --term none
    check "the graph of $n" is 0
    pycheck "has $n items" "import h5py; assert list(h5py.File('graphs/ids/graph.h5')['tables/datasets/items']) == [$n]"
done

# A small training for real.
cat >small.yaml <<'YAML'
paper: me
entries:
  - id: small
    kind: training
    title: two samplers on MUTAG
    source: nowhere
    jobs: [{job: train-mutag-losses, data: tudataset/MUTAG, set: ["samplers=[uniform, knn]", "weightings=[none]", "epochs=1", "expected_loss=true", "cosines=true"]}]
    claims:
      - name: any
        statement: either is above chance
        test: above
        steps: end
        of: {table: training, column: svm_acc, rows: {sampler: [uniform, knn]}}
        than: {value: 0.5}
      - name: pairs
        statement: kNN far above Uniform
        test: above
        steps: end
        of: {table: training, column: svm_acc, rows: {sampler: knn}}
        than: {factor: 2, rows: {sampler: uniform}}
      - name: ahead
        statement: the loss falls within the only epoch
        test: below
        steps: end
        of: {table: training, column: loss / loss_expected, rows: {sampler: uniform}}
        than: {value: 1}
      - name: apart
        statement: cosines of the two kinds do not coincide
        test: below
        steps: end
        of: {table: training, column: overlap_label, rows: {sampler: [uniform, knn]}}
        than: {value: 0.999}
YAML
# Folders of any data, of odd shapes, run by being there; what one lacks stops no other.
/usr/bin/python3 "$here/odd_folders.py" odd
cat >graphs.yaml <<'YAML'
task: {graph: {data: tudataset/MUTAG, width: 4, layers: 1}}
samplers: [uniform, {batchsampler: {M: 100, K: 50}}]
loss: other-view
temperature: 0.2
batch_size: 20
epochs: 1
adam: {rate: 0.01}
YAML
cat >documents.yaml <<'YAML'
task: {node: {data: cora, hidden: 8, out: 8}}
samplers: [uniform, {ring: {lo: 20, hi: 60}}, {hops: {l: 2}}]
loss: other-view
batch_size: all
steps: 3
YAML
cat >any.yaml <<'YAML'
paper: odd
entries:
  - id: any-graphs
    kind: training
    title: any graphs
    source: here
    jobs:
      - {job: graphs.yaml, data: "tudataset/*", set: ["task={graph: {data: tudataset/*, width: 4, layers: 1}}"]}
    levels:
      - {what: counts, scale: 100, unit: percent, steps: start, of: {table: training, column: features_svm_acc, rows: {sampler: uniform}}}
      - {what: averaged, scale: 100, unit: percent, steps: start, of: {table: training, column: averaged_svm_acc, rows: {sampler: uniform}}}
      - {what: trained, scale: 100, unit: percent, steps: end, of: {table: training, column: svm_acc, rows: {sampler: uniform}}}
  - id: any-documents
    kind: training
    title: any documents
    source: here
    jobs:
      - {job: documents.yaml, data: "linqs/*", set: ["task={node: {data: linqs/*, layers: 1, hidden: 8, out: 8}}"]}
    levels:
      - {what: raw, scale: 100, unit: percent, steps: start, of: {table: training, column: features_probe_acc, rows: {sampler: uniform}}}
      - {what: averaged, scale: 100, unit: percent, steps: start, of: {table: training, column: averaged_probe_acc, rows: {sampler: uniform}}}
      - {what: trained, scale: 100, unit: percent, steps: end, of: {table: training, column: probe_acc, rows: {sampler: uniform}}}
YAML
reproduce any-graphs any-documents --claims any.yaml --data odd -o any --seeds 1 --dry-run
check "a dry run" is 0
check "by identifier" says '^any-graphs +12 +12 +[0-9.:]+ m?s? .*[KM]iB'
# one folder has too few graphs to be trained on, so the total is a lower bound
check "and in all" complains '^33 runs to train, more than .*; of some nothing is known: not tried in time, or they fail'
check "leaves nothing" test ! -e any
reproduce any-graphs any-documents --claims any.yaml --data odd -o any --seeds 1 --term none
check "any data" is 0
for name in ONECLASS NOEDGES GAPS SINGLES RARE; do
    check "graphs: $name" says "level +trained, tudataset/$name: [0-9.]+ percent"
    check "with counts: $name" says "level +counts, tudataset/$name: [0-9.]+ percent"
done
check "too few graphs" complains 'any-graphs: without tudataset/TINY: a run failed: .* has 6 graphs: lower batch_size'
for name in plain oneclass noedges empty gaps unlabelled named; do
    check "documents: $name" says "level +trained, linqs/$name: [0-9.]+ percent"
    check "with raw features: $name" says "level +raw, linqs/$name: [0-9.]+ percent"
done
check "one class is always right" says 'level +raw, linqs/oneclass: 100 percent'
check "empty rows are said once" test "$(grep -c 'empty.features: 18 of 90 nodes have no features' err)" = 1
check "and citations of nothing" complains 'named.cites: 1 of [0-9]+ citations name documents that named.content lacks'
reproduce any-graphs any-documents --claims any.yaml --data odd -o any --seeds 1 --dry-run --json
check "what is there is not trained again" says '"left": 0'
reproduce any-graphs --claims any.yaml --data odd/tudataset/GAPS -o one --seeds 1 --term none
check "a folder by its name" says 'level +trained, tudataset/GAPS: [0-9.]+ percent'
rm odd/tudataset/GAPS/GAPS_graph_labels.txt
reproduce any-graphs --claims any.yaml --data odd/tudataset/GAPS -o two --seeds 1 --term none
check "a file that is missing" says 'not tested; task graph: no \*_graph_labels.txt in the folder .*GAPS: put there'
reproduce --list any-graphs any-documents --claims any.yaml --data odd/linqs/named
check "no folder of that kind" says_of any-graphs 'lacks data .*needs a folder that no other row names, tudataset/\*'
check "one of the other" says_of any-documents 'any-documents ready'
# Entries that share runs, one that judges costs, and what stands in the way of a link.
cat >shared.yaml <<'YAML'
paper: shared
entries:
  - {id: docs, kind: training, title: t, source: s, jobs: [JOB], claims: [{name: any, statement: any, test: below, steps: end, of: {table: training, column: loss}, than: {column: loss, value: 99}}],
     levels: [{what: ratio, as: ratio, of: {column: cost_t}, than: {column: share_s}}]}
  - {id: again, kind: training, title: t, source: s, jobs: [JOB], claims: [{name: any, statement: any, test: below, of: {column: cost_t}, than: {value: 3600}}]}
  - {id: apart, title: t, source: s, jobs: [{job: plain-job.yaml}]}
YAML
sed -i 's,JOB,{job: documents.yaml\, data: linqs/plain\, full: ["samplers=[uniform\, knn]"]\, full_seeds: 2\, set: ["task={node: {data: linqs/plain\, layers: 1\, hidden: 8\, out: 8}}"\, "samplers=[uniform]"]},' shared.yaml
reproduce docs again apart --claims shared.yaml --data odd -o shared --full --dry-run
check "a dry run of runs that are shared" says '^again +4 '
check "told once" complains '^4 runs to train'
check "and what trains nothing" complains 'note: 1 identifier without trainings: no estimate'
reproduce docs again --claims shared.yaml --data odd -o shared --seeds 2 --term none
check "costs that are judged" says '^  (holds|fails|inconclusive) +any'
check "runs that are shared are trained once" test "$(find shared/cells -name '*.cell' | wc -l)" = 2
# Of every setting that differs in something a step costs one run is tried, and of seeds none but the first.
cat >numbers.yaml <<'YAML'
task: {node: {data: linqs/plain, layers: 1, hidden: 8, out: 8}}
samplers: [uniform]
loss: other-view
batch_size: 30
epochs: 1
YAML
sed 's/epochs: 1/steps: 3/' numbers.yaml >steps.yaml
{
    printf 'paper: numbers\nentries:\n  - {id: numbers, kind: training, title: t, source: s, jobs: [{job: steps.yaml, data: linqs/plain}'
    for set in epochs=1 epochs=2 rebuild=1 evaluate=2 embeddings=stored drop_last=true expected_loss=true cosines=true 'batch_size=[20]' 'samplers=[knn]' \
        'samplers=[{ring: {lo: 20, hi: 60}}]' 'samplers=[{ring: {lo: 30, hi: 60}}]' 'loss=[ntxent]' 'weightings=[debiased]' 'weightings=[{debiased: {tau_plus: 0.2}}]'; do
        printf ', {job: numbers.yaml, data: linqs/plain, set: ["%s"]}' "$set"
    done
    printf '],\n     claims: [{name: any, statement: any, test: below, of: {column: cost_t}, than: {value: 3600}}]}\n'
} >numbers-claims.yaml
reproduce numbers --claims numbers-claims.yaml --data odd -o numbers --seeds 2 --dry-run
check "settings that differ" complains 'to train: 32 of 32 runs; each setting is tried for some steps'
check "all are known" says '^numbers +32 +32 +[0-9.]+ m?s +[0-9.]+ [KM]iB'
mkdir -p walled/data/linqs/plain
reproduce docs --claims shared.yaml --data odd -o walled --term none
check "a link that cannot be made" says 'not tested; walled/data/linqs/plain cannot be made: Is a directory'
mkdir -p twice/linqs
cp -r odd/linqs/plain twice/linqs/plain
cp -r odd/linqs/plain twice/plain
reproduce any-documents --claims any.yaml --data twice -o twice-out --seeds 1 --dry-run
check "a folder at two places is one" says '^any-documents +3 '
for i in $(seq 64); do
    mkdir "twice/linqs/p$i"
    ln -s ../plain/plain.features "twice/linqs/p$i/p$i.features"
done
reproduce --list any-documents --claims any.yaml --data twice
check "more folders than are run" complains 'twice: more than 64 folders for linqs/\*: others are left out'

mutag=${HN_SHARED:-$here/../../shared}/datasets/tudataset/MUTAG
if [ -r "$mutag/MUTAG_A.txt" ]; then
    mkdir -p sets && ln -s "$(realpath "$mutag")" sets/MUTAG # not where the job looks for it
    reproduce small --claims small.yaml --data sets -o r4 --seeds 2 --term none
    check "a small training" is 0
    check "judged" says '^  holds +either is above chance'
    check "one epoch shows nothing" says '^  inconclusive +kNN far above Uniform'
    check "and the reason says so" says 'assay insensitive'
    check "a loss and its estimate are judged" says '^  (holds|fails|inconclusive) +the loss falls within'
    check "the overlap is judged" says '^  holds +cosines of the two kinds'
    check "pairs by seed, with a test" says 'over 2 trained encoders|se [0-9.]+, p'
    check "the untrained row" says '^untrained encoder +2 '
    check "one file a run" test "$(find r4/cells -name '*.cell' | wc -l)" = 4
    touch mark
    reproduce small --claims small.yaml --data sets -o r4 --seeds 2
    check "trained again" test "$(find r4/cells -name '*.cell' -newer mark | wc -l)" = 0
    if type gnuplot >/dev/null 2>&1; then
        check "accuracies under the name of the identifier" test -s r4/figures/small.svg
        check "with the untrained encoder" grep -q 'untrained encoder' r4/figures/small.tsv
        "$hardneg" report r4 >out 2>err
        check "the report shows them" grep -q '<figure id="small">' r4/index.html
        check "with the title of the identifier" grep -q 'small: two samplers on MUTAG' r4/index.html
        check "and a link from its claims" grep -q '<a href="#small">' r4/index.html
    fi
    reproduce small --claims small.yaml --results r4/results.h5
    check "trainings that are there" says '^  holds +either is above chance'
    "$hardneg" plot r4/results.h5 --figure gc-fig7 --figure hc-fig5 -o plots --term svg >out 2>err
    rc=$?
    check "figures of the two" is 0
    check "with same-label pairs" grep -q 'same label' plots/hc-fig5.svg
else
    skip "a small training" "$mutag is not there"
fi

# Fronts on data of several kinds: the tables' arithmetic, a kind that cannot be made, one whose encoders are there.
fronts() { KINDS=$1 ENCODERS=2 JOB=$PWD/$2 "$here"/../harness/reproduce/front.sh "$hardneg" "${data:-}" "$PWD/fronts" >out 2>err; rc=$?; } # KINDS JOB
printf 'snapshots: none.h5\nbatches: 4\nbatch_size: 64\nmetrics: [fn_ratio, histogram, hardness, true_hardness]\nsamplers: [uniform, knn]\n' >plain.yaml
sed 's/knn]/knn, {mosaic: {lambda: [0.5, 0.7, 0.9]}}, {mosaic: {a: 3, lambda: [8, 16]}}]/' plain.yaml >mosaic.yaml
check "tables of fronts" "$python" "$here"/front_tables.py
mkdir -p fronts/encoders
cp "$here"/../datasets/cifar10-mini.h5 fronts/encoders/mini-1.h5
"$hardneg" synth -o fronts/encoders/mini-2.h5 --n 300 --dim 8 --classes 3 --steps 1 --quiet
fronts "cifar10 sentences mini" mosaic.yaml
check "fronts are made of what there is" is 0
check "what is missing is said" says '^cifar10: left out: DATA/cifar10 is not there'
check "of every kind" says '^sentences: left out: DATA/sts is not there'
check "a row of both encoders" says '^\| mini \| 2000 \| 10 \| 200 \| 2 \|'
check "judged by every measure" says '^\| mini( \| (leads|behind|open) \(.*\)){5} \|'
check "tables are kept" cmp out <(sed -n '1,2p' out; cat fronts/front.md)
rm -r fronts/mini
mkdir -p broken/sts && touch broken/sts/sick-train.tsv
data=$PWD/broken fronts "sentences mini" plain.yaml
check "a training that fails ends it" eval '[ $rc = 1 ] && ! grep -q "^| mini" out && grep -q "sick-train.tsv" err'
fronts mini plain.yaml
check "without a mosaic nothing is judged" says '^\| mini( \| -){5} \|'

finish
