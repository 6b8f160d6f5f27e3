#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `hardneg sample`: `tests/sample.sh PROGRAM [WORD]`; with a word only tests whose name contains it.
. "$(dirname "$0")/lib.sh"
begin sample "${1:-build/hardneg}"
"$hardneg" synth -o s.h5 --n 300 --dim 8 --classes 5 --steps 2 --views 2 --quiet
"$hardneg" synth -o e.h5 --n 299 --dim 8 --classes 5 --quiet

same_fn_ratio() { # ORDER RESULTS: what `run` measured is what the batches of the file have
    "$python" -c "import h5py, numpy as np, sys
order, labels = np.load(sys.argv[1]), h5py.File('s.h5')['labels'][:]
same = pairs = 0
for batch in order:
    y = labels[batch[batch >= 0]]
    same += sum(n * (n - 1) for n in np.bincount(y)); pairs += len(y) * (len(y) - 1)
measured = h5py.File(sys.argv[2])['runs/fn_ratio'][:]
assert len(measured) == 1 and abs(measured[0] - same / pairs) < 1e-12, (measured, same / pairs)" \
        "$1" "$2" 2>"$work/err"
}

test_sheet() {
    seq -f "text number %g of <300> & more" 0 299 >lines.txt
    expect "sheet" 0 '' sheet s.h5 --texts lines.txt -b 16 -o t.html
    check "sheet: names its page" grep -qx 't\.html' out
    for s in uniform knn batchsampler; do check "sheet: $s" grep -q "<h2>$s</h2>" t.html; done
    check "sheet: batches begun from the anchor" test "$(grep -c 'begun from the anchor' t.html)" = 2
    check "sheet: texts are escaped" grep -q 'of &#60;300&#62; &#38; more' t.html
    check "sheet: headings" grep -q '<th scope=col>Label</th><th scope=col class=n>Cosine</th><th scope=col>Text</th>' t.html
    pycheck "sheet: labels, cosines, and marks of false negatives" "
import h5py, html, numpy as np, re
f = h5py.File('s.h5'); x = f['embeddings'][-1].astype('f8'); y = f['labels'][:]; x /= np.linalg.norm(x, axis=1)[:, None]
rows = re.findall('<tr( class=same)?><td>([^<]*)</td><td class=n>([^<]*)</td><td class=wrap>text number ([0-9]+) of', open('t.html').read())
anchor = int(rows[0][3])
assert rows[0][0] == '' and rows[0][2] == '\u2013' and len(rows) == 1 + 2 * 3 * 10, rows
for same, label, cosine, item in rows[1:]:
    i = int(item)
    assert bool(same) == (y[i] == y[anchor]) and html.unescape(label) == f['labels'].attrs['label_names'][y[i]], (same, label, item)
    assert abs(float(cosine) - x[i] @ x[anchor]) < .00501, (cosine, x[i] @ x[anchor])
assert any(r[0] for r in rows) and not all(r[0] for r in rows)"
    expect "sheet on other threads" 0 '' sheet s.h5 --texts lines.txt -b 16 --threads 3 -o u.html -q
    check "sheet: the same page" cmp -s t.html u.html
    expect "sheet of one sampler" 0 '' sheet s.h5 --texts lines.txt -b 16 --anchor 7 --sampler uniform -o v.html
    check "sheet: its anchor" grep -q 'text number 7 of' v.html
    expect "sheet of nothing" 2 '--images DIR, or --texts FILE' sheet s.h5 -o no.html
    expect "sheet of both" 2 '--images DIR, or --texts FILE' sheet s.h5 --texts lines.txt --images . -o no.html
    expect "sheet: too few lines" 3 'lines.txt has 300 lines' sheet e.h5 --texts lines.txt -o no.html
    expect "sheet: no such item" 3 'counts them from 0' sheet s.h5 --texts lines.txt --anchor 300 -o no.html
    expect "sheet: B > N" 3 'give a smaller --batch-size' sheet s.h5 --texts lines.txt -b 301 -o no.html
    expect "sheet: no such step" 2 'is not in s.h5, which has [0-9]* steps? from' sheet s.h5 --texts lines.txt -b 16 --step 77 -o no.html
    expect "sheet: no pictures" 3 'data_batch_1' sheet s.h5 --images . -b 16 -o no.html
    expect "sheet: per anchor" 3 'for each anchor' sheet s.h5 --texts lines.txt -b 16 --sampler mined -o no.html
    expect "sheet: K > M" 2 'K' sheet s.h5 --texts lines.txt -b 16 --sampler '{batchsampler: {M: 5, K: 9}}' -o no.html
    expect "sheet into a missing folder" 2 'no-such' sheet s.h5 --texts lines.txt -b 16 -o no-such/t.html
    check "refused sheets leave nothing" test ! -e no.html
}

test_sample() {
    local walk='{batchsampler: {M: 50, K: 20}}' s
    expect "sample: another ending" 0 'o.txt: is an array of NumPy \(.npy\) all the same$' sample s.h5 --sampler uniform -b 16 -o o.txt
    expect "sample: another ending of negatives" 0 'a name that ends in .jsonl gives lines' sample s.h5 --sampler mined -b 16 -o o.txt
    expect "sample" 0 '19 batches of 16 .1 short.*seed 1; the batches hold 300 of 300 items .100\.0 %' sample s.h5 --sampler uniform --batch-size 16 -o o.npy
    check "sample: nothing on standard output" test ! -s out
    expect "sample with defaults" 0 'alpha=0\.2~0\.05.*alpha 0\.2 here; the batches hold [0-9]+ of 300' \
        sample s.h5 --sampler "$walk" --step 0 --batch-size 16 -o w.npy
    expect "sample at the last step" 0 'alpha 0\.05 here' sample s.h5 --sampler "$walk" --batch-size 16 -o w.npy
    cp err said
    pycheck "as many items as it says" "
import numpy as np, re
n = len(set(np.load('w.npy').ravel()) - {-1}); assert f'hold {n} of 300 items ({n / 3:.1f} %)' in open('said').read()"
    expect "sample --quiet" 0 '' sample s.h5 --sampler uniform -b 16 --epochs 3 -o e.npy -q
    check "sample --quiet is silent" silent
    for s in uniform "$walk" '{gcbs: {quantile: 0.98}}' '{hard-negative: {l: 2}}' stratified knn; do
        for threads in 1 2 4; do
            expect "sample $s, $threads threads" 0 '' sample s.h5 --sampler "$s" --batch-size 16 \
                --epochs 2 --seed 7 --threads $threads -o "o$threads.npy"
        done
        check "sample $s: same file for 2 threads" cmp -s o1.npy o2.npy
        check "sample $s: same file for 4 threads" cmp -s o1.npy o4.npy
    done
    expect "sample: another seed" 0 '' sample s.h5 --sampler uniform -b 16 --epochs 3 --seed 2 -o f.npy
    check "sample: another seed, other batches" eval '! cmp -s e.npy f.npy'
    expect "sample replaces a file" 0 '' sample s.h5 --sampler uniform --batch-size 16 -o f.npy
    check "sample: the same again" cmp -s o.npy f.npy
    expect "sample without a sampler" 2 'sampler' sample s.h5 -o no.npy
    expect "sample without an output" 2 'output' sample s.h5 --sampler knn
    expect "sample without a snapshot" 2 'argument' sample --sampler knn -o no.npy
    expect "sample: unknown sampler" 2 'knn' sample s.h5 --sampler knm -o no.npy
    expect "sample: unknown option" 2 'KK' sample s.h5 --sampler '{batchsampler: {KK: 3}}' -o no.npy
    expect "sample: a grid" 2 '@one-sampler' sample s.h5 --sampler '{uniform: {draw: [iid, shuffle]}}' -o no.npy
    expect "sample: broken YAML" 2 'sampler' sample s.h5 --sampler '{knn' -o no.npy
    expect "sample: K > M" 2 'K' sample s.h5 --sampler '{batchsampler: {M: 5, K: 9}}' -b 16 -o no.npy
    expect "sample: l too large" 2 'l = 16' sample s.h5 --sampler '{hard-negative: {l: 16}}' -b 16 -o no.npy
    expect "sample: a step that is not there" 2 '12345' sample s.h5 --sampler knn -b 16 --step 12345 -o no.npy
    expect "sample: B < 2" 2 'batch' sample s.h5 --sampler knn -b 1 -o no.npy
    expect "sample: B > N" 3 '301' sample s.h5 --sampler knn --batch-size 301 -o no.npy
    expect "sample: missing file" 3 'none\.h5' sample none.h5 --sampler knn -o no.npy
    expect "sample into a missing folder" 2 'no-such' sample s.h5 --sampler knn -b 16 -o no-such/o.npy
    expect "sample below a regular file" 2 's\.h5' sample s.h5 --sampler knn -b 16 -o s.h5/o.npy
    expect "sample into a folder" 2 'regular' sample s.h5 --sampler knn -b 16 -o .
    expect "sample into /proc" 2 '/proc' sample s.h5 --sampler knn -b 16 -o /proc/o.npy
    check "refused samples leave nothing" test ! -e no.npy
    (trap '' XFSZ; ulimit -f 1; "$hardneg" sample s.h5 --sampler uniform --epochs 9 -o f.npy >out 2>err)
    check "sample, the disk is full: exit code 74" test $? = 74
    check "sample, the disk is full: a message" grep -q 'f\.npy' err
    check "sample, the disk is full: the old file stays" cmp -s o.npy f.npy
    check "sample leaves no temporary file" test -z "$(find . -name '*.npy.tmp*')"
    with_python "contents of samples" || return
    "$python" -c "import numpy as np
a, e = np.load('o.npy'), np.load('e.npy')
assert a.dtype == np.int64 and a.shape == (19, 16) and e.shape == (57, 16)
for k in range(3):
    ids = e[19 * k:19 * (k + 1)]
    assert (ids[-1, 12:] == -1).all() and (np.sort(ids[ids >= 0]) == np.arange(300)).all()
assert (a == e[:19]).all() and (e[:19] != e[19:38]).any()" 2>err
    check "sample: contents" test $? = 0
    for s in uniform '{gcbs: {quantile: 0.98}}' hard-negative stratified; do
        printf 'version: 1\nsnapshots: [s.h5]\nsamplers: [%s]\nbatch_size: 16\nepochs: 2\n%s\n' "$s" \
            'steps: [0]
seeds: [7]
timing: {reps: 1, warmup: 0}
figures: none' >j.yaml
        rm -rf sampled
        expect "run $s" 0 '' run -c j.yaml -o sampled --quiet
        expect "sample $s" 0 '' sample s.h5 --sampler "$s" -b 16 --epochs 2 --seed 7 --step 0 -o o.npy
        check "sample $s: the batches that run measures" same_fn_ratio o.npy sampled/results.h5
    done
}

# Negatives for each anchor: against an exhaustive search, as text and array alike, for any number of threads.
test_anchors() {
    local s threads
    expect "mined" 0 '300 anchors with up to 10 negatives, .*mined .R=40, .*n=10.* at step 100, seed 1; the negatives hold [0-9]+ of 300 items .*have the anchor.s label' \
        sample s.h5 --sampler '{mined: {R: 40, n: 10}}' -b 16 -o m.npy
    cp err said
    pycheck "mined: the nearest, nearest first, and what is said of them" "
import h5py, numpy as np, re
f = h5py.File('s.h5'); x = f['embeddings'][-1].astype('f8'); y = f['labels'][:]; x /= np.linalg.norm(x, axis=1)[:, None]
cos = x @ x.T; np.fill_diagonal(cos, -2); m = np.load('m.npy')
assert m.dtype == np.int64 and (m == np.argsort(-cos, kind='stable')[:, :10]).all()
said = open('said').read(); n, same = len(set(m.ravel())), (y[m] == y[:, None]).mean()
assert f'hold {n} of 300 items ({n / 3:.1f} %); {100 * same:.1f} % of them' in said, said"
    check "mined: what becomes of the candidates" grep -qx 'candidates by the filter that drops them: kept 12000' said
    expect "mined: no items of the anchor's label" 0 '' \
        sample s.h5 --sampler '{mined: {R: 40, n: all, min_rank: 3, exclude: labels}}' -b 16 -o m.npy
    cp err said
    pycheck "mined: what labels drop, against an exhaustive search" "
import h5py, numpy as np
f = h5py.File('s.h5'); x = f['embeddings'][-1].astype('f8'); y = f['labels'][:]; x /= np.linalg.norm(x, axis=1)[:, None]
cos = x @ x.T; np.fill_diagonal(cos, -2); m = np.load('m.npy'); found = np.argsort(-cos, kind='stable')[:, 2:40]
other = y[found] != y[:, None]
assert all((row[row >= 0] == ids[keep]).all() for row, ids, keep in zip(m, found, other))
assert f'drops them: rank 600, labels {(~other).sum()}, kept {other.sum()}\n' in open('said').read(), open('said').read()"
    mkdir -p g
    printf '0 0 0\n1 0 1\n2 1 0 2\n3 1 3\n4 1 0 3\n5 0 4\n' >g/a.features
    printf '0 1\n1 2\n2 3\n3 4\n' >g/a.edges
    "$hardneg" import --linqs g -o g.h5 --quiet
    for s in '{mined: {n: 7}}' '{random-negatives: {n: 9}}' '{ring: {space: embeddings, n: 20}}' '{hops: {}}'; do
        local file=s.h5 b=16
        [[ $s != *hops* ]] || file=g.h5 b=2
        for threads in 1 4; do
            expect "$s, $threads threads" 0 'negatives hold' sample $file --sampler "$s" -b $b --epochs 2 --seed 7 --threads $threads -o "n$threads.npy"
            expect "$s, $threads threads, JSON" 0 'negatives hold' sample $file --sampler "$s" -b $b --epochs 2 --seed 7 --threads $threads -o "n$threads.jsonl"
        done
        check "$s: same array for 4 threads" cmp -s n1.npy n4.npy
        check "$s: same text for 4 threads" cmp -s n1.jsonl n4.jsonl
        pycheck "$s: array and text are the same, and negatives are others" "
import h5py, json, numpy as np
x = h5py.File('$file')['embeddings'][-1].astype('f8'); x /= np.linalg.norm(x, axis=1)[:, None]
a, lines = np.load('n1.npy'), [json.loads(line) for line in open('n1.jsonl')]
assert len(a) == len(lines) == 2 * len(x) and max(len(d['negatives']) for d in lines) == a.shape[1]
for i, (row, d) in enumerate(zip(a, lines)):
    ids = d['negatives']; assert d['anchor'] == i % len(x) and list(row) == ids + [-1] * (a.shape[1] - len(ids))
    assert i % len(x) not in ids and len(set(ids)) == len(ids)
    assert len(ids) == 0 or np.abs(x[ids] @ x[i % len(x)] - d['scores']).max() < 1e-6"
    done
    expect "an anchor without any" 0 'without any' sample g.h5 --sampler hops -b 2 -o n.npy
    expect "hops without a graph" 3 's.h5: hops needs a graph and the file has none' sample s.h5 --sampler hops -b 16 -o no.npy
    expect "batches are no JSON lines" 2 'no.jsonl: batches are written as .npy' sample s.h5 --sampler knn -b 16 -o no.jsonl
    check "refused negatives leave nothing" eval 'test ! -e no.npy && test ! -e no.jsonl'
    (trap '' XFSZ; ulimit -f 1; "$hardneg" sample s.h5 --sampler mined -b 16 -o full.jsonl >out 2>err)
    check "negatives, the disk is full: exit code 74" test $? = 74
    check "no temporary file" none_temporary .
}

run_tests "${2:-}" '' test_sample test_anchors test_sheet
finish
