#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Queries over a corpus, from files of others to what is mined: `tests/retrieval.sh PROGRAM [WORD]`; with a word only
# tests whose name contains it.
. "$(dirname "$0")/lib.sh"
begin retrieval "${1:-build/hardneg}"

# Four queries and six passages of three dimensions, with ids and texts as BEIR has them, and the same as TREC.
make_files() {
    printf '1 0 0\n0 1 0\n0 0 1\n1 1 0\n' >q.tsv
    printf '1 0 .1\n.9 .1 0\n0 1 0\n0 1 0\n0 .1 1\n1 1 1\n' >p.tsv
    printf '{"_id": "%s", "text": "%s"}\n' 7 one 007 two x three y four >q.jsonl
    printf '{"_id": "%s", "title": "%s", "text": "%s"}\n' a '' red b '' blue c '' same d '' same e t x f '' four >p.jsonl
    printf 'query-id\tcorpus-id\tscore\n7\ta\t1\n007\tc\t2\n7\tb\t0\n' >beir.tsv
    printf '007 0 c 1\n7 0 b 0\n7 0 a 1\n007 0 c 2\n' >trec.txt
    printf '7 0 a 1\n7 0 b 1\n007 0 c 2\n' >truth.txt
    files=(--queries q.tsv --corpus p.tsv --query-ids q.jsonl --corpus-ids p.jsonl)
}

test_import() {
    make_files
    expect "import BEIR" 0 '4 queries, 6 passages, 3 dims, 3 judged pairs \(2 relevant\), 2 queries without' import "${files[@]}" --qrels beir.tsv -o r.h5
    expect "import TREC" 0 '3 judged pairs \(2 relevant\)' import "${files[@]}" --qrels trec.txt --truth truth.txt --type float16 --compress 1 -o t.h5
    expect "validate" 0 'valid: .*4 queries' validate r.h5 t.h5
    expect "info" 0 'qrels +3 pairs, 2 relevant, at most 1 a query, 2 queries without' info t.h5
    check "info: equal texts" says '1 with the text of an earlier one'
    check "info: truth" says 'truth +3 pairs, 3 relevant, at most 2 a query'
    expect "info --json" 0 '"equal_passages": 1' info --json t.h5
    pycheck "what a file holds" "import h5py
f = h5py.File('t.h5')
assert f.attrs['schema_version'] == 2 and f.attrs['kind'] == 'retrieval'
assert f['queries'].shape == (1, 4, 3) and f['corpus'].shape == (1, 6, 3) and f['corpus'].dtype == 'f2'
assert list(f['qrels/indptr']) == [0, 2, 3, 3, 3] and list(f['qrels/indices']) == [0, 1, 2] and list(f['qrels/grade']) == [1, 0, 2]
assert f['query_id'].asstr()[:].tolist() == ['7', '007', 'x', 'y']
assert f['corpus_text'].asstr()[:].tolist() == ['red', 'blue', 'same', 'same', 't x', 'four']
q, p = f['query_group'][:], f['corpus_group'][:]
assert p[2] == p[3] and q[3] == p[5] and len(set(q) | set(p)) == 8, (q, p)"
}

# BEIR's and TREC's files with what published ones have.
test_published() {
    make_files
    printf '{"_id": "%s", "text": "%s", "metadata": {"a": 1}}\n' PLAIN-1 'how?' 'é ü' two 3 x a/b:c '' >odd-q.jsonl
    printf '{"_id": "%s", "title": "%s", "text": "%s"}\n' MED-1 T a 'http://x/a?b=c#d' '' '' 7 '' '' 007 ' ' ' ' p-5 '' z q '' q >odd-p.jsonl
    local odd=(--queries q.tsv --corpus p.tsv --query-ids odd-q.jsonl --corpus-ids odd-p.jsonl) name code why rows
    while IFS='|' read -r name code why rows; do
        printf "$rows" >"$name.tsv"
        rm -f o.h5
        expect "published: $name" "$code" "$why" import "${odd[@]}" --qrels "$name.tsv" -o o.h5
    done <<'F'
ids|0|2 judged pairs \(2 relevant\), 2 queries without|query-id\tcorpus-id\tscore\né ü\thttp://x/a?b=c#d\t1\na/b:c\t007\t2\n
blanks|0|2 judged pairs|3   Q0 7  1\nPLAIN-1 0   MED-1 1\n
grade-0|0|3 judged pairs \(1 relevant\), 3 queries without|3\t7\t0\n3\t007\t-2\n3\tMED-1\t1\n
no-grade-above-0|0|1 judged pair \(0 relevant\), 4 queries without|3\t7\t0\n
repeated|0|2 lines are of a pair that a later line has, too, whose grade counts|3\t7\t1\n3\t7\t0\n3\t7\t2\n
crlf|0|1 judged pair|query-id\tcorpus-id\tscore\r\n3\t7\t1\r\n
two-headers|3|line 2: score is not an integer|query-id\tcorpus-id\tscore\na header\tagain\tscore\n3\t7\t1\n
header-alone|3|holds no pair|query-id\tcorpus-id\tscore\n
unknown|3|line 2: the id 07 of a passage is not in odd-p.jsonl|3\t7\t1\n3\t07\t1\n
real-grade|0|1 judged pair \(1 relevant\)|3\t7\t1.0\n
half-grade|3|line 1: 0.5 is not an integer|3\t7\t0.5\n
large-grade|3|line 1: 99999 is not an integer|3\t7\t99999\n
mixed|3|line 2: has 4 columns|3\t7\t1\n3 0 7 1\n
F
    rm -f o.h5
    expect "published: empty texts" 0 'odd-p.jsonl: 2 passages have an empty text, and count as equal' import "${odd[@]}" --qrels ids.tsv -o o.h5
    expect "published: all unknown" 3 'no line has ids of which both are rows' import "${odd[@]}" --qrels beir.tsv --unknown skip -o no.h5
    local json
    while IFS='|' read -r why json; do
        yes "$json" | head -n 4 >bad.jsonl
        expect "published: $json" 3 "bad.jsonl: $why" import --queries q.tsv --corpus p.tsv --query-ids bad.jsonl --corpus-ids odd-p.jsonl --qrels ids.tsv -o no.h5
    done <<'F'
line 1: lacks "text"|{"_id": 5}
line 1: lacks "text"|{"_id": "a", "title": "t"}
line 1: lacks "_id"|{"text": "t"}
lines 1 and 2 have the same id, 5|{"_id": 5, "text": "t"}
line 1: "text" is not a text|{"_id": "a", "text": ["t"]}
line 1: is not an object of JSON|["a", "t"]
line 1: is not JSON|{"_id": "a"
F
    # A corpus of one passage, the positive of one of four queries.
    head -n 1 p.tsv >one.tsv
    echo '{"_id": "d", "text": "only"}' >one.jsonl
    printf '3\td\t1\n' >one-rel.tsv
    expect "corpus of one" 0 '1 passage,' import --queries q.tsv --corpus one.tsv --query-ids odd-q.jsonl --corpus-ids one.jsonl --qrels one-rel.tsv -o one.h5
    expect "corpus of one: mine" 0 'filters left 4 of 4 with fewer than 10, 1 with none' mine one.h5 -o one-negatives.jsonl
    expect "corpus of one: evaluate" 0 'over 1 query; 3 without' evaluate one.h5
    expect "corpus of one: price" 0 'by the rank model alone' price one.h5
    expect "corpus of one: batches" 3 'a batch of 2 exceeds .* give a smaller --batch-size' sample one.h5 --sampler uniform --batch-size 2 -o no.npy
}

# Lines that Python's json and pandas write.
test_json_dialects() {
    make_files
    local name line
    while IFS='|' read -r name line; do
        { echo "$line"; tail -n 5 p.jsonl; } >odd.jsonl
        run import --queries q.tsv --corpus p.tsv --query-ids q.jsonl --corpus-ids odd.jsonl --qrels beir.tsv --unknown skip -o "odd-$name.h5"
        check "dialect: $name" test "$rc" = 0
        cp err "$name.err"
    done <<'F'
nul|{"_id": "a", "text": "x\u0000y \\u0000"}
half|{"_id": "a", "text": "\ud83d\ude00 \udcb2 \ud800"}
nan|{"_id": "a", "text": "NaN", "metadata": {"score": NaN, "b": [-Infinity, Infinity]}}
null|{"_id": "a", "title": null, "text": null}
big|{"_id": 123456789012345678901234567890, "text": "x", "n": -12345678901234567890}
F
    check "dialect: what stands for a zero is told" grep -q 'odd.jsonl: in 1 line U+FFFD stands for U+0000 or half of' nul.err
    check "dialect: and for half a pair" grep -q 'in 1 line U+FFFD' half.err
    check "dialect: a null text is told" grep -q '1 text is null, and read as empty' null.err
    check "dialect: NaN in what nothing reads is not" eval '! grep -q note nan.err'
    pycheck "dialects: texts and ids" "import h5py
def first(name, of): return h5py.File(f'odd-{name}.h5')[of].asstr()[0]
assert first('nul', 'corpus_text') == 'x\ufffdy \\\\u0000', repr(first('nul', 'corpus_text'))
assert first('half', 'corpus_text') == '\U0001F600 \ufffd \ufffd', repr(first('half', 'corpus_text'))
assert first('nan', 'corpus_text') == 'NaN' and first('null', 'corpus_text') == ''
assert first('big', 'corpus_id') == '123456789012345678901234567890'"
    printf '["a\\u0000", "b"]\n{"query": "q", "positive": null}\n' >odd-pairs.jsonl
    printf '1 0\n0 1\n' >two.tsv
    expect "pairs: the same rules" 0 'note: odd-pairs.jsonl: in 1 line U\+FFFD' import --queries two.tsv --corpus two.tsv --pairs odd-pairs.jsonl -o odd-pairs.h5
}

# A corpus in several files, which are read some rows at a time: named in their order, or by a pattern.
test_parts() {
    pycheck "parts: arrays" "import numpy as np
r = np.random.default_rng(1)
x = r.standard_normal((5000, 24)).astype('f4')
def bin(name, x):
    with open(name, 'wb') as f:
        np.array(x.shape, 'u4').tofile(f)
        x.tofile(f)
np.save('pq.npy', x[:40])
np.save('whole.npy', x)
np.save('fortran.npy', np.asfortranarray(x))
for name, a, b in (('part-7', 0, 1), ('part-8', 1, 1700), ('part-9', 1700, 1701), ('part-10', 1701, 4000), ('part-11', 4000, 5000)):
    np.save(f'{name}.npy', x[a:b])
bin('b1.fbin', x[:3000])
bin('b2.fbin', x[3000:])
h = x.astype('f2')
np.save('half.npy', h)
np.save('half-1.npy', h[:2500])
bin('half-2.f16bin', h[2500:])
np.save('wide.npy', x[:300, :23])
np.save('whole-numbers.npy', np.ones((300, 24), 'i1'))
y = x[3000:3300].copy()
y[17, 3] = np.nan
np.save('nan.npy', y)
y[17] = 0
y[290] = 0
np.save('zero.npy', y)
open('parts.tsv', 'w').write(''.join(f'{i}\\t{i * 120}\\t1\\n' for i in range(40)))"
    local one=(import --queries pq.npy --qrels parts.tsv -o parts.h5) name c
    holds() { "$hardneg" info --json parts.h5 | grep content_sha256; rm -f parts.h5; }
    run "${one[@]}" --corpus whole.npy
    local whole half
    whole=$(holds)
    run "${one[@]}" --corpus half.npy --type float16
    half=$(holds)
    check "parts: float16 is another corpus" test "$whole" != "$half" -a -n "$whole"
    while IFS='|' read -r name c; do
        set -f
        # shellcheck disable=SC2086 # words are wanted, patterns are not
        expect "parts: $name" 0 '40 queries, 5000 passages, 24 dims' "${one[@]}" $c
        set +f
        check "parts: $name: the same corpus" test "$(holds)" = "$whole"
    done <<'F'
a pattern, by the numbers in names|--corpus part-*.npy
named|--corpus part-7.npy --corpus part-8.npy --corpus part-9.npy --corpus part-10.npy --corpus part-11.npy
fbin|--corpus b1.fbin --corpus b2.fbin
in Fortran's order, read whole|--corpus fortran.npy
two patterns|--corpus part-[789].npy --corpus part-1*.npy
F
    expect "parts: what a pattern found is told" 0 'note: part-\*.npy: 5 files, from part-7.npy to part-11.npy' "${one[@]}" --corpus 'part-*.npy'
    rm -f parts.h5
    expect "parts: of two formats" 0 '' "${one[@]}" --corpus half-1.npy --corpus half-2.f16bin --type float16
    check "parts: of two formats: the same corpus" test "$(holds)" = "$half"
    while IFS='|' read -r c name; do
        set -f
        # shellcheck disable=SC2086
        expect "parts: $c" 3 "$name" "${one[@]}" $c
        set +f
    done <<'F'
--corpus no-*.npy|no-\*.npy: no file has this name, or one of this pattern
--corpus b1.fbin --corpus gone.fbin|gone.fbin: cannot be opened: No such file
--corpus b1.fbin --corpus wide.npy|wide.npy has rows of 23 values but b1.fbin has rows of 24
--corpus b1.fbin --corpus whole-numbers.npy|whole-numbers.npy holds integers but b1.fbin holds floats
--corpus b1.fbin --corpus nan.npy --corpus b2.fbin|nan.npy: row 17 holds NaN at column 3
--corpus b1.fbin --corpus zero.npy --corpus b2.fbin|zero.npy: row 17 is all zeros
F
    check "parts: nothing came of these" test ! -e parts.h5
    run "${one[@]}" --corpus b1.fbin --corpus zero.npy --corpus b2.fbin --zero-rows keep
    check "parts: zero rows are told by file" complains 'zero.npy: 2 rows are zero and stay, row 17 the first'
    expect "parts: another step" 0 '5300 passages' import --queries pq.npy --corpus b1.fbin --corpus zero.npy --corpus b2.fbin --zero-rows keep --step 7 -o parts.h5
    pycheck "parts: both steps" "import h5py, numpy as np
f, x = h5py.File('parts.h5'), np.load('whole.npy')
c = f['corpus'][:]
assert f['step'][:].tolist() == [0, 7] and not f.attrs['normalized'] and (c[0] == c[1]).all()
assert (c[0][:3000] == x[:3000]).all() and (c[0][3300:] == x[3000:]).all() and (c[0][3017] == 0).all()"
}

# A further step: rows alone, and all else as it was.
test_step() {
    make_files
    run import "${files[@]}" --qrels trec.txt --truth truth.txt --query-teacher q.tsv --corpus-teacher p.tsv --title T --type float16 --compress 1 --step 5 -o steps.h5
    cp steps.h5 before.h5
    printf '0 1 0\n1 0 0\n0 0 1\n1 -1 0\n' >q2.tsv
    printf '1 2 3\n1 nan 3\n' >bad.tsv
    for side in "q.tsv --corpus p.tsv --corpus bad.tsv" "q.tsv --queries bad.tsv --corpus p.tsv"; do
        expect "a row that is not finite" 3 'bad.tsv: row 1 holds NaN at column 1; remove' import --queries $side --step 90 -o steps.h5
    done
    expect "a step" 0 '4 queries, 6 passages' import --queries q2.tsv --corpus p.tsv --step 100 -o steps.h5
    expect "a step: valid" 0 'valid' validate steps.h5
    expect "a step: info" 0 'steps +2, last: 100' info steps.h5
    pycheck "a step: all else is as it was" "import h5py, numpy as np
a, b = h5py.File('before.h5'), h5py.File('steps.h5')
names = []
a.visititems(lambda n, o: names.append(n) if isinstance(o, h5py.Dataset) else None)
assert b['step'][:].tolist() == [5, 100] and b['queries'].shape == (2, 4, 3) and b['corpus'].shape == (2, 6, 3)
assert b['queries'].dtype == 'f2' and b['queries'].compression == 'gzip' and b.attrs['title'] == 'T'
assert (b['queries'][0] == a['queries'][0]).all() and (b['corpus'][0] == a['corpus'][0]).all() and (b['corpus'][1] == a['corpus'][0]).all()
assert b['queries'][1][0].tolist() == [0, 1, 0]
rest = [n for n in names if n not in ('queries', 'corpus', 'step')]
assert len(rest) >= 12 and all((a[n][:] == b[n][:]).all() and a[n].dtype == b[n].dtype for n in rest), rest
assert bool(a.attrs['normalized']) == bool(b.attrs['normalized'])"
    expect "a step: of the first" 0 '' evaluate steps.h5 --k 1 --step 5
    cp out first
    run evaluate steps.h5 --k 1
    check "a step: it is read" test "$(cmp -s first out; echo $?)" = 1
    cp steps.h5 kept.h5
    expect "a step before the last" 2 '--step 50 does not come after step 100' import --queries q2.tsv --corpus p.tsv --step 50 -o steps.h5
    expect "no step" 2 'steps.h5: exists; give --step' import --queries q2.tsv --corpus p.tsv -o steps.h5
    expect "a step of others" 3 'p.tsv is \[6, 3\] but steps.h5 has 4 queries of 3 dims' import --queries p.tsv --corpus p.tsv --step 200 -o steps.h5
    expect "a step with relevance" 2 'brings rows alone' import --queries q2.tsv --corpus p.tsv --qrels trec.txt --step 200 -o steps.h5
    run synth -o items.h5 --n 50 --force
    expect "a step of a file of items" 2 'items.h5: exists, and is a snapshot of items' import --queries q2.tsv --corpus p.tsv --step 200 -o items.h5
    check "a step that fails changes nothing" cmp -s steps.h5 kept.h5
}

test_refused() {
    make_files
    expect "rows of a snapshot of another kind" 3 'queries and a corpus' import -e r.h5 --labels none -o no.h5
    printf '1 2\n' >flat.tsv
    printf '7\tnone\t1\n7\ta\t1\n' >unknown.tsv
    expect "an unknown id" 3 'unknown.tsv: line 1: the id none of a passage is not in p.jsonl' import "${files[@]}" --qrels unknown.tsv -o no.h5
    expect "an unknown id left out" 0 'unknown.tsv: 1 line left out' import "${files[@]}" --qrels unknown.tsv --unknown skip -o skipped.h5
    expect "no relevance" 2 'either --qrels.*or --pairs' import "${files[@]}" -o no.h5
    expect "one side" 2 '--corpus is missing' import --queries q.tsv --qrels beir.tsv -o no.h5
    expect "both kinds" 2 'another kind' import "${files[@]}" --qrels beir.tsv -e q.tsv -o no.h5
    expect "a file that exists" 2 'r.h5: exists' import "${files[@]}" --qrels beir.tsv -o r.h5
    expect "other dimensions" 3 'rows of 3 values but .* of 2' import --queries q.tsv --corpus flat.tsv --qrels beir.tsv -o no.h5
    expect "too few ids" 3 'q.jsonl: has 4 ids for the rows of 6' import --queries p.tsv --corpus p.tsv --query-ids q.jsonl --qrels beir.tsv -o no.h5
    check "nothing is left" test ! -e no.h5
}

test_pairs() {
    make_files
    printf 'a\tx\nb\tx\na\ty\na\tx\n' >pairs.tsv
    expect "a row for every line" 0 '2 queries, 2 passages, 3 dims, 3 judged pairs' import --queries q.tsv --corpus q.tsv --pairs pairs.tsv -o pairs.h5
    head -n 2 q.tsv >two.tsv
    expect "a row for every text" 0 '2 queries, 2 passages' import --queries two.tsv --corpus two.tsv --pairs pairs.tsv -o texts.h5
    expect "rows of neither" 3 '6 rows; pairs.tsv has 4 lines, with 2 different texts' import --queries p.tsv --corpus p.tsv --pairs pairs.tsv -o no.h5
    pycheck "the first row of a text" "import h5py
f, g = h5py.File('pairs.h5'), h5py.File('texts.h5')
assert f['corpus'][0].tolist() == [[1, 0, 0], [0, 0, 1]] and g['corpus'][0].tolist() == [[1, 0, 0], [0, 1, 0]]"
}

test_synth() {
    expect "synth" 0 '60 queries, 400 passages' synth --kind retrieval -o s.h5 --n 400 --queries 60 --dim 16 --steps 2
    expect "synth: valid" 0 '' validate s.h5
    expect "synth: too few passages" 2 'lower --queries' synth --kind retrieval -o no.h5 --n 60 --queries 60
    OMP_NUM_THREADS=3 run synth --kind retrieval -o s3.h5 --n 400 --queries 60 --dim 16 --steps 2
    pycheck "known pairs are among the true ones; threads do not matter" "import h5py, numpy as np
f, g = h5py.File('s.h5'), h5py.File('s3.h5')
assert f.attrs['content_sha256'] == g.attrs['content_sha256']
t = [set(f['truth/indices'][a:b]) for a, b in zip(f['truth/indptr'][:-1], f['truth/indptr'][1:])]
assert all(k in s for k, s in zip(f['qrels/indices'], t)) and sum(map(len, t)) > 120
q, p = f['queries'][1], f['corpus'][1]
near = [np.mean([q[i] @ p[j] for j in s]) for i, s in enumerate(t)]
assert np.mean(near) > .5 > np.mean(q @ p.T) + .3"
    cp s.h5 changed.h5
    pycheck "a relevant passage is replaced" "import h5py
f = h5py.File('changed.h5', 'r+')
f['truth/indices'][0] = (f['truth/indices'][0] + 1) % 400"
    local command
    for command in 'mine -o changed.jsonl' price evaluate; do
        # shellcheck disable=SC2086 # words of a command
        expect "$command: values that were changed" 3 'the values are not those that were written' $command changed.h5
    done
}

test_mine() {
    make_files
    [ -e t.h5 ] || run import "${files[@]}" --qrels trec.txt --truth truth.txt -o t.h5
    # Known: a of 7, c of 007, and d, which has the text of c. Of 7: a is known, b (judged 0, but true) is the hidden one (0: judged).
    expect "mine" 0 'kept +[0-9]+ +0 +1$' mine t.h5 -n 2 -o n.jsonl
    check "mine: what was taken away" says '^known +3 +3 +0$'
    check "mine: equal texts" says '^duplicate +[1-9]'
    check "mine: memory" says '; [0-9.]+ [KM]iB of data at most$'
    check "mine: the query itself" says '^self +1 '
    check "mine: queries without a positive" says 'n.jsonl: 4 negatives of 2 queries; 2 queries left out'
    expect "mine: nothing is left" 0 'kept +0 ' mine t.h5 --judged-negatives filter --max-score -1.5 -o none.jsonl
    check "mine: no share of nothing" says '4 with none; its scores are'
    pycheck "an object a line" "import json
rows = [json.loads(l) for l in open('n.jsonl')]
assert [r['query_id'] for r in rows] == ['7', '007'], rows
assert rows[0]['query'] == 'one' and rows[0]['pos'] == ['red'] and rows[0]['pos_id'] == ['a'] and rows[0]['neg_id'] == ['b', 'f']
assert rows[0]['neg'] == ['blue', 'four'] and abs(rows[0]['neg_scores'][0] - .9939) < 1e-4
assert not {'c', 'd'} & set(rows[1]['neg_id'])"
    run mine t.h5 -n 2 -o n.trec
    check "a run" grep -qE '^7 Q0 b 1 0\.99[0-9]+ hardneg$' n.trec
    check "a run: every query" test "$(wc -l <n.trec)" = 8
    run mine t.h5 -n 9 -o n.npy --scores s.npy
    pycheck "indices and scores" "import numpy as np
i, s = np.load('n.npy'), np.load('s.npy')
assert i.shape == s.shape == (4, 9) and i.dtype == np.int64 and s.dtype == np.float64
assert ((i < 0) == np.isnan(s)).all() and i[0, 0] == 1 and (np.diff(s[0, :3]) <= 0).all()"
    local format want
    while read -r format want; do
        expect "format $format" 0 '' mine t.h5 -n 2 --format "$format" -o "$format.jsonl"
        check "format $format: the first line" test "$(head -n 1 "$format.jsonl")" = "$want"
    done <<'F'
triplet {"query":"one","positive":"red","negative":"blue"}
n-tuple {"query":"one","positive":"red","negative_1":"blue","negative_2":"four"}
labeled-pair {"query":"one","passage":"red","label":1}
labeled-list {"query":"one","passages":["red","blue","four"],"labels":[1,0,0]}
F
    printf '%s\n' 7 007 x y >bare-q.txt
    printf '%s\n' a b c d e f >bare-p.txt
    run import --queries q.tsv --corpus p.tsv --query-ids bare-q.txt --corpus-ids bare-p.txt --qrels trec.txt -o bare.h5
    for format in triplet n-tuple labeled-pair labeled-list; do
        expect "format $format without texts" 3 "has no texts, which --format $format holds: import it" mine bare.h5 -n 2 --format "$format" -o no.jsonl
    done
    expect "jsonl without texts" 0 'note: bare.h5: has no texts: query, pos and neg hold ids' mine bare.h5 -n 2 -o n.jsonl
    expect "mine --json" 0 '"false_negatives": 0\.[0-9]' mine t.h5 -n 2 -o n.jsonl --json
    expect "no format" 2 'does not tell the format' mine t.h5 -o negatives
    expect "scores of a run" 2 'goes with --format npy' mine t.h5 -o n.trec --scores s.npy
    expect "no teacher" 3 'has no teacher' mine t.h5 --filter-by teacher -o n.jsonl
    expect "a window that is too small" 2 'ranks 3 to 4 hold fewer' mine t.h5 --min-rank 3 --max-rank 4 -n 3 -o n.jsonl
    run synth -o i.h5 --n 50 --force
    expect "of one set of items" 3 'import --queries' mine i.h5 -o n.jsonl
}

# Candidates of other systems: the union of two runs, by the cosines of the rows.
test_candidates() {
    make_encoders
    pycheck "another run" "import numpy as np
r = np.random.default_rng(8)
open('more.run', 'w').writelines(f'q{i} Q0 p{p} 0 {r.random()} x\n' for i in range(5, 60) for p in r.choice(150, 12, replace=False))"
    expect "candidates" 0 'kept' mine enc-a.h5 --candidates enc.trec --candidates more.run -n 7 --min-rank 2 --self none -o cand.jsonl
    cp err cand.err
    expect "candidates: shared" 0 '' mine enc-a.h5 --candidates enc.trec --candidates more.run -n 7 --min-rank 2 --self none --rows 1/1 -o cand-rows.jsonl
    check "candidates: the same bytes in parts" cmp -s cand.jsonl cand-rows.jsonl
    pycheck "candidates: NumPy's" "import json, collections, re, numpy as np
unit = lambda f: (lambda x: x / np.linalg.norm(x, axis=1, keepdims=True))(np.load(f).astype(float))
cos = unit('enc-a-q.npy') @ unit('enc-a-p.npy').T
of, rel = collections.defaultdict(lambda: collections.defaultdict(set)), collections.defaultdict(dict)
for f in 'enc.trec', 'more.run':
    for l in open(f): q, _, p, *_ = l.split(); of[int(q[1:])][int(p[1:])].add(f)
for l in open('enc-rel.tsv'): q, p, g = l.split(); rel[int(q[1:])][int(p[1:])] = int(g)
mined, lines = collections.Counter(), {int(l['query_id'][1:]): l for l in map(json.loads, open('cand.jsonl'))}
for q in range(60):
    best = [p for p in sorted(of[q], key=lambda p: (-cos[q, p], p)) if rel[q].get(p, 0) < 1]
    want = [p for i, p in enumerate(best) if i >= 1 or p in rel[q]][:7] # judged ones pass --min-rank
    got = [int(p[1:]) for p in lines[q]['neg_id']] if q in lines else []
    if any(g > 0 for g in rel[q].values()): assert got == want, (q, got, want)
    if got: assert np.allclose(lines[q]['neg_scores'], cos[q, got], atol=2e-7)
    for p in want: mined.update(of[q][p])
err = open('cand.err').read()
for f in mined: assert f'{f}: {sum(f in s for q in of.values() for s in q.values())} candidates, of which {mined[f]} are mined' in err, (mined, err)
assert len(lines) > 50 and min(mined.values()) > 50"
    check "candidates: a query without any" grep -q 'note: 1 query without any candidate' cand.err
    printf 'q1 Q0 nobody 1 2 x\n' >unknown.run
    expect "candidates: an unknown id" 3 'unknown.run: line 1: the id nobody of a passage is not in enc-a.h5' mine enc-a.h5 --candidates unknown.run -o no.jsonl
    expect "candidates: of others" 0 '' mine enc-a.h5 --candidates more.run -n 7 --min-rank 2 --self none --rows 1/1 -o cand-rows.jsonl
    check "candidates: other ones are mined anew" test "$(cmp -s cand.jsonl cand-rows.jsonl; echo $?)" = 1
    # A copy of a relevant passage under another id: with merged texts it is the passage.
    make_files
    sed 's/"four"/"red"/' p.jsonl >copy-p.jsonl
    run import --queries q.tsv --corpus p.tsv --query-ids q.jsonl --corpus-ids copy-p.jsonl --qrels beir.tsv -o same-texts.h5
    printf '7 Q0 f 1 2 x\n007 Q0 f 1 2 x\n' >copy.run
    expect "a run of copies, merged" 0 '^hit +1 +0\.5000' evaluate same-texts.h5 --run copy.run --k 1 --equal-texts merge
    expect "a run of copies, apart" 0 '^hit +1 +0\.0000' evaluate same-texts.h5 --run copy.run --k 1 --equal-texts apart
    expect "candidates that are copies" 0 'kept +1 ' mine same-texts.h5 --candidates copy.run --equal-texts merge -n 1 -o copies.jsonl
}

# Runs by reciprocal ranks, with quotas, and what is told of each: NumPy's.
test_sources() {
    make_encoders
    pycheck "runs of their own" "import numpy as np
r = np.random.default_rng(9)
open('more.run', 'w').writelines(f'q{i} Q0 p{p} 0 {r.integers(6)} x\n' for i in range(5, 60) for p in r.choice(150, 12, replace=False))
open('truth.tsv', 'w').writelines(open('enc-rel.tsv').readlines() + [f'q{i}\tp{p}\t1\n' for i in range(60) for p in r.choice(150, 9, replace=False)])"
    expect "sources: a file with truth" 0 '' import --queries enc-a-q.npy --corpus enc-a-p.npy --query-ids enc-a-q.txt --corpus-ids enc-a-p.txt --qrels enc-rel.tsv --truth truth.tsv -o both.h5
    local runs=(--candidates enc.trec --candidates more.run --self none --judged-negatives filter) name options
    while IFS='|' read -r name options; do
        read -r -a options <<<"$options"
        run mine both.h5 "${runs[@]}" "${options[@]}" -o "$name.jsonl" --json && cp out "$name.json"
        expect "sources: $name in parts" 0 '' mine both.h5 "${runs[@]}" "${options[@]}" -o "$name-rows.jsonl" --rows 1/1 --threads 3
        check "sources: $name, the same bytes" cmp -s "$name.jsonl" "$name-rows.jsonl"
    done <<'F'
plain|-n 5
fused|-n 5 --fuse --min-rank 2
quota|--quota 3,2
both|--quota 1,4 --fuse --max-score 0.4
F
    pycheck "sources: NumPy's" "import json, collections, numpy as np
unit = lambda f: (lambda x: x / np.linalg.norm(x, axis=1, keepdims=True))(np.load(f).astype(float))
cos = unit('enc-a-q.npy') @ unit('enc-a-p.npy').T
files = ['enc.trec', 'more.run']
score, rel, true = [collections.defaultdict(dict) for _ in files], collections.defaultdict(dict), collections.defaultdict(dict)
for f, of in zip(files, score):
    for l in open(f): q, _, p, _, s, _ = l.split(); of[int(q[1:])][int(p[1:])] = np.float32(s)
for f, to in ('enc-rel.tsv', rel), ('truth.tsv', true):
    for l in open(f): q, p, g = l.split(); to[int(q[1:])][int(p[1:])] = int(g)
for name, n, fuse, first, quota, top in ('plain', 5, 0, 1, None, 9), ('fused', 5, 1, 2, None, 9), ('quota', 5, 0, 1, [3, 2], 9), ('both', 5, 1, 1, [1, 4], .4):
    lines, said = {int(l['query_id'][1:]): l for l in map(json.loads, open(name + '.jsonl'))}, json.load(open(name + '.json'))
    mined, hidden, kept, looked = np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2)
    for q in range(60):
        fused = collections.Counter()
        for of in score:
            for i, p in enumerate(sorted(of[q], key=lambda p: (-of[q][p], p))): fused[p] += 1 / (61 + i)
        order = sorted(fused, key=lambda p: (-(fused[p] if fuse else cos[q, p]), p))
        has = lambda p: [p in of[q] for of in score]
        for p in order: looked += has(p)
        order = [p for p in order if rel[q].get(p, 0) < 1][first - 1:]
        room, want = list(quota or [n, 0]), []
        for p in order:
            if cos[q, p] > top: continue
            s = next((s for s in (0, 1) if has(p)[s] and room[s]), None) if quota else 0
            if len(want) < n and s is not None: room[s] -= quota is not None; want.append(p)
        if q in lines:
            l = lines[q]
            assert [int(p[1:]) for p in l['neg_id']] == want, (name, q, l['neg_id'], want)
            assert l['neg_runs'] == [[f for f, h in zip(files, has(p)) if h] for p in want]
            assert np.allclose(l['neg_scores'], cos[q, want], atol=2e-7)
        for p in want:
            mined += has(p)
            hidden += np.array(has(p)) * (true[q].get(p, 0) > 0)
    for s, o in enumerate(said['sources']):
        assert (o['run'], o['mined'], o['looked_at'], o['candidates']) == (files[s], mined[s], looked[s], looked[s]), (name, o)
        assert abs(o['false_negatives'] - hidden[s] / mined[s]) < 1e-12
        assert o['known'] + o['mined'] + sum(v for k, v in o['lost_to'].items() if k != 'known') == o['looked_at']
        near = np.mean([len(set(np.argsort(-cos[q])[:n]) & set(score[s][q])) / n for q in range(60)])
        assert abs(o['nearest'] - near) < 1e-12 and o['nearest_lo'] < near < o['nearest_hi'], (o, near)
    assert len(lines) > 50"
    expect "sources: told by run" 0 'By run; nearest: those of the 5 nearest passages of 60 queries that it lists' mine both.h5 "${runs[@]}" -n 5 -o told.jsonl
    expect "quota: of more runs" 2 'quota 1,2,3: has 3 numbers, and --candidates is given 2 times' mine both.h5 "${runs[@]}" --quota 1,2,3 -o no.jsonl
    expect "quota: another number" 2 'quota 1,2: makes 3 negatives, --negatives is 4' mine both.h5 "${runs[@]}" --quota 1,2 -n 4 -o no.jsonl
    expect "quota: drawn" 2 'leave out --take draw' mine both.h5 "${runs[@]}" --quota 1,2 --take draw -o no.jsonl
    expect "quota: no runs" 2 'quota goes with --candidates' mine both.h5 --quota 1,2 -o no.jsonl
    local many=("${runs[@]}" "${runs[@]}" "${runs[@]}")
    expect "sources: too many" 2 'candidates: is given 18 times; 16 are read' mine both.h5 "${many[@]}" "${many[@]}" "${many[@]}" -o no.jsonl
    check "sources: nothing is written" test ! -e no.jsonl
}

# Scores in every format are NumPy's cosines of the rows, the teacher's, or those listed.
test_output_scores() {
    pycheck "files of scores" "import numpy as np, json
r = np.random.default_rng(3)
for side, n in ('q', 20), ('p', 90):
    np.save(side + 's.npy', r.normal(size=(n, 6)).astype('f4')); np.save(side + 't.npy', r.normal(size=(n, 9)).astype('f4'))
    with open(side + 's.jsonl', 'w') as f:
        for i in range(n): print(json.dumps({'_id': f'{side}{i}', 'text': f'text {side} {i}'}), file=f)
open('rel.tsv', 'w').writelines(f'q{i}\tp{p}\t1\n' for i in range(20) for p in r.choice(90, 1 + i % 3, replace=False))
open('ce.tsv', 'w').writelines(f'q{i}\tp{p}\t{r.normal():.4f}\n' for i in range(20) for p in range(90))"
    expect "output scores: the file" 0 "20 queries" import --queries qs.npy --corpus ps.npy --query-teacher qt.npy --corpus-teacher pt.npy --query-ids qs.jsonl --corpus-ids ps.jsonl \
        --qrels rel.tsv --scores ce.tsv -o sc.h5
    local by format whose
    while IFS='|' read -r by whose; do
        for format in jsonl triplet n-tuple labeled-pair labeled-list pylate; do
            expect "output scores: $by $format" 0 "its scores are $whose" mine sc.h5 -n 3 --filter-by "$by" --max-score .3 --format "$format" --output-scores -o "sc-$by-$format"
        done
    done <<'F'
model|cosines of the encoder's rows
teacher|cosines of the teacher's rows
scores|those of import --scores
F
    pycheck "output scores: NumPy's" "import numpy as np, json
unit = lambda f: (lambda x: x / np.linalg.norm(x, axis=1, keepdims=True))(np.load(f).astype(float))
want = {'model': unit('qs.npy') @ unit('ps.npy').T, 'teacher': unit('qt.npy') @ unit('pt.npy').T, 'scores': np.zeros((20, 90))}
for l in open('ce.tsv'): q, p, s = l.split(); want['scores'][int(q[1:]), int(p[1:])] = s
of = lambda text: int(text.split()[-1])
total = 0
for by, s in want.items():
    for form in 'jsonl', 'triplet', 'n-tuple', 'labeled-pair', 'labeled-list', 'pylate':
        for line in map(json.loads, open(f'sc-{by}-{form}')):
            if form == 'jsonl': passages, own = line['pos'] + line['neg'], line['pos_scores'] + line['neg_scores']
            if form == 'triplet': passages, own = [line['positive'], line['negative']], line['scores']
            if form == 'n-tuple': passages, own = [line['positive']] + [line[f'negative_{k}'] for k in (1, 2, 3)], line['scores']
            if form == 'labeled-pair': passages, own = [line['passage']], [line['score']]
            if form == 'labeled-list': passages, own = line['passages'], line['scores']
            if form == 'pylate':
                passages, own, line['query'] = [p.replace('p', 'p ') for p in line['document_ids']], line['scores'], line['query_id'].replace('q', 'q ')
                assert [line['query_id'], line['document_ids'][0]] in [l.split()[:2] for l in open('rel.tsv')]
            assert not {'label', 'labels'} & set(line) and len(own) == len(passages)
            assert np.allclose(own, [s[of(line['query']), of(p)] for p in passages], rtol=0, atol=2e-7), (by, form, line)
            total += len(own)
assert total > 1000, total"
    expect "output scores: whose, in JSON" 0 '"scores_by": "teacher"' mine sc.h5 --filter-by teacher -o x.trec --json
    expect "output scores: none in the file" 0 '"scores_by": null' mine sc.h5 --format triplet -o x.jsonl --json
    expect "output scores: of indices" 2 'does not go with --format npy: name a file of scores with --scores' mine sc.h5 --output-scores -o x.npy
    check "output scores: the dialect's are the model's without a margin" eval 'run mine sc.h5 --preset sentence-transformers --filter-by scores -o x.jsonl && says "cosines of the encoder"'
    head -n 600 ce.tsv >part.tsv
    run import --queries qs.npy --corpus ps.npy --qrels rel.tsv --query-ids qs.jsonl --corpus-ids ps.jsonl --scores part.tsv -o part.h5
    expect "output scores: missing ones are told" 0 'note: x.jsonl: [0-9]+ scores of pairs without a listed score: written as null' \
        mine part.h5 -n 3 --filter-by scores --format n-tuple --output-scores -o x.jsonl
}

# Listed scores: a pair that has none is no candidate where ranks go by them, and is counted.
test_listed_scores() {
    make_files
    printf '7\te\t3\n7\tb\t5\n7\td\t4\n7\ta\t9\n' >scores.tsv
    run import "${files[@]}" --qrels beir.tsv --scores scores.tsv -o scored.h5
    expect "ranks by scores" 0 'note: scored.h5: of 24 candidates looked at 4 have a listed score; of 2 known positives 1 have none, for 1 query all' \
        mine scored.h5 --rank-by scores -n 3 -o n.jsonl
    check "ranks by scores: those listed, by their scores" test "$(grep -o '"neg_id":[^]]*' n.jsonl)" = '"neg_id":["b","d","e"'
    check "ranks by scores: what is lost" says '^no score +20 +2 '
    printf 'x\ta\t3\n' >scores.tsv
    run import "${files[@]}" --qrels beir.tsv --scores scores.tsv -o other.h5
    expect "no candidate has a score" 3 'none of the 4 candidates looked at has a listed score.*raise --depth \(1\)' mine other.h5 --depth 1 -n 1 --rank-by scores -o no.jsonl
    check "nothing is written" test ! -e no.jsonl
    expect "no positive has a score" 3 'none of the 2 known positives has a listed score, with which --relative-margin' \
        mine other.h5 --filter-by scores --relative-margin .1 -o no.jsonl
    expect "no line is left" 0 'note: n.jsonl: is empty: no query has a positive and a negative' mine other.h5 --rank-by scores -n 1 -o n.jsonl
    expect "no negative is left" 0 'note: scored.h5: filters leave no negative: of 24 candidates looked at, 1[0-9] are lost to max_score' \
        mine scored.h5 --judged-negatives filter --max-score -2 -o n.jsonl
}

# Scores by need: pairs are written and scored until none is left, and what is mined is then as if all had scores.
test_emit_pairs() {
    pycheck "files of scores by need" "import numpy as np, json
r = np.random.default_rng(6)
for side, n in ('q', 25), ('p', 120):
    np.save(side + 'w.npy', r.normal(size=(n, 5)).astype('f4')); np.save(side + 'wt.npy', r.normal(size=(n, 5)).astype('f4'))
    with open(side + 'w.jsonl', 'w') as f:
        for i in range(n): print(json.dumps({'_id': f'{side}{i}', 'text': f'text {i // 2 if side == \"p\" and i < 40 else i} \"a\"\tb'}), file=f)
open('w.tsv', 'w').writelines(f'q{i}\tp{p}\t{[1, 1, 2, 0][p % 4]}\n' for i in range(24) for p in r.choice(120, 1 + i % 4, replace=False))
ce = r.normal(size=(25, 120))
ce[:, 1:40:2] = ce[:, 0:40:2] # of equal texts
open('wce.tsv', 'w').writelines(f'q{i}\tp{p}\t{ce[i, p]:.4f}\n' for i in range(25) for p in range(120))"
    local files=(--queries qw.npy --corpus pw.npy --query-ids qw.jsonl --corpus-ids pw.jsonl --qrels w.tsv) options added rounds
    expect "by need: all scores" 0 '' import "${files[@]}" --scores wce.tsv -o wall.h5
    expect "by need: no scores" 0 '' import "${files[@]}" -o wnone.h5
    while read -r options; do
        rounds=0
        read -r -a options <<<"$options"
        : >known.tsv
        added=()
        while run mine wnone.h5 "${options[@]}" "${added[@]}" --emit-pairs todo.tsv && says ' to be scored' && [ $rounds -lt 9 ]; do
            rounds=$((rounds + 1))
            # Each pair is new.
            awk -F'\t' 'NR == FNR { s[$1 FS $2] = $3; next } FILENAME == "known.tsv" { known[$1 FS $2]; next }
                FNR > 1 { if ($1 FS $2 in known) exit 1; print $1 FS $2 FS s[$1 FS $2] }' wce.tsv known.tsv todo.tsv >more.tsv || break
            cat more.tsv >>known.tsv
            added=(--add-scores known.tsv)
        done
        check "by need: ${options[*]}: ends after some rounds" eval '[ $rounds -gt 0 ] && says "no pair is left"'
        run mine wall.h5 "${options[@]}" -o wall.jsonl
        expect "by need: ${options[*]}: mined" 0 'kept' mine wnone.h5 "${options[@]}" "${added[@]}" -o wneed.jsonl
        check "by need: ${options[*]}: as if all had scores" cmp -s wall.jsonl wneed.jsonl
        check "by need: ${options[*]}: something is mined" test -s wall.jsonl
        wc -l <known.tsv >>counts
    done <<'F'
-n 3 --filter-by scores --relative-margin 0.1
-n 3 --filter-by scores --absolute-margin 0.2 --min-rank 4 --max-rank 40 --positive max
-n 4 --filter-by scores --max-score 0 --judged-negatives filter
-n 2 --guide 0.3 --min-rank 2
-n 3 --filter-by scores --relative-margin 0 --rank-of survivors --min-rank 3
-n 3 --filter-by scores --max-score 0.1 --take draw --depth 30
-n 3 --rank-by scores --filter-by scores --absolute-margin 0.1 --depth 40
-n 3 --preset sentence-transformers --filter-by scores --relative-margin 0.05
-n 3 --preset flagembedding --filter-by scores --max-score 0.2 --max-rank 60
-n 3 --filter-by scores --min-score 0 --equal-texts apart
F
    check "by need: few pairs are scored" awk 'NR == 1 && $1 > 25 * 30 { exit 1 } { sum += $1 } END { exit sum > 10 * 25 * 60 }' counts
    # Pieces, parts and threads write the same pairs; texts are whole as objects.
    options=(--filter-by scores --relative-margin 0.1 -n 3)
    run mine wnone.h5 "${options[@]}" --emit-pairs todo.tsv --json
    check "by need: told" grep -q "\"pairs\": $(($(wc -l <todo.tsv) - 1))," out
    expect "by need: in parts" 0 '' mine wnone.h5 "${options[@]}" --emit-pairs parts.tsv --rows 1/1 --threads 3
    check "by need: the same pairs" cmp -s todo.tsv parts.tsv
    expect "by need: with texts" 0 'to be scored' mine wnone.h5 "${options[@]}" --emit-pairs todo.jsonl
    pycheck "by need: texts" "import json
rows = [l.rstrip('\n').split('\t') for l in open('todo.tsv')][1:]
text = {s: {o['_id']: o['text'] for o in map(json.loads, open(s + 'w.jsonl'))} for s in 'qp'}
assert [(o['query_id'], o['passage_id'], o['query'], o['passage']) for o in map(json.loads, open('todo.jsonl'))] == [(q, p, text['q'][q], text['p'][p]) for q, p in rows] and rows"
    expect "by need: what looks at no scores" 2 'these options look at no scores of pairs' mine wnone.h5 --relative-margin .1 --emit-pairs no.tsv
    expect "by need: with an output" 2 'writes pairs in place of negatives' mine wnone.h5 "${options[@]}" --emit-pairs no.tsv -o no.jsonl
    printf 'q1\tnobody\t1\n' >wrong.tsv
    expect "by need: an unknown id" 3 'wrong.tsv: line 1: the id nobody' mine wnone.h5 "${options[@]}" --add-scores wrong.tsv -o no.jsonl
    check "by need: nothing is written" test ! -e no.tsv -a ! -e no.jsonl
    # The last score of a pair counts, also over those of the file; other scores are mined anew.
    sed 's/\t[^\t]*$/\t-5/' wce.tsv >low.tsv
    run mine wall.h5 "${options[@]}" -o first.jsonl --rows 1/1
    expect "added scores: whose" 0 'its scores are those of --add-scores' mine wall.h5 "${options[@]}" --add-scores low.tsv --add-scores wce.tsv -o again.jsonl
    check "added scores: the last count" cmp -s first.jsonl again.jsonl
    local priced
    for priced in "" '-n 3 --filter-by scores --relative-margin 0.1' '-n 2 --guide 0.3'; do
        run price wall.h5 --json ${priced:+--for "$priced"}
        sed 's/wall\.h5/wnone.h5/' out >all.json
        expect "added scores: price $priced" 0 '' price wnone.h5 --json --add-scores wce.tsv ${priced:+--for "$priced"}
        check "added scores: price $priced: the same" cmp -s all.json out
    done
    expect "added scores: price without them" 3 'has no scores of pairs' price wnone.h5 --for '-n 3 --filter-by scores --max-score 0'
    expect "added scores: other ones" 0 '' mine wall.h5 "${options[@]}" --add-scores low.tsv -o first.jsonl --rows 1/1
    check "added scores: others are mined" test "$(cmp -s first.jsonl again.jsonl; echo $?)" = 1
}

test_evaluate() {
    make_files
    [ -e t.h5 ] || run import "${files[@]}" --qrels trec.txt --truth truth.txt -o t.h5
    expect "evaluate" 0 'by /truth, convention expected, over 2 queries; 2 without' evaluate t.h5 --k 1,2
    check "evaluate: values" says '^mrr +1 +1\.0000'
    expect "evaluate by what is known" 0 'by /qrels' evaluate t.h5 --by qrels
    expect "evaluate: no cutoff" 2 'whole numbers from 1' evaluate t.h5 --k 1,x
    expect "evaluate: no truth" 3 'has no /truth' evaluate r.h5 --by truth
    expect "evaluate --json" 0 '"convention": "st"' evaluate t.h5 --convention st --json
    # Of three queries two are passages themselves: one of them is relevant to itself.
    printf '{"_id": "a", "text": "one"}\n{"_id": "b", "text": "two"}\n{"_id": "c", "text": "three"}\n' >own-q.jsonl
    printf '{"_id": "x", "text": "one"}\n{"_id": "b", "text": "two"}\n{"_id": "z", "text": "four"}\n' >own-p.jsonl
    printf 'a 0 z 1\nb 0 b 1\nc 0 z 1\n' >own.txt
    printf '1\t0\n0\t1\n.6\t.8\n' >own-q.tsv
    printf '1\t0\n0\t1\n.6\t.8\n' >own-p.tsv
    run import --queries own-q.tsv --corpus own-p.tsv --qrels own.txt --query-ids own-q.jsonl --corpus-ids own-p.jsonl -o own.h5
    expect "evaluate: own text" 0 "note: a passage with the query's own text, not relevant by /qrels, is ranked for 1 query" evaluate own.h5 --k 1
    check "own text: two of three" says '^hit +1 +0\.6667 +0\.0[0-9]+ +0\.9[0-9]+'
    expect "evaluate --self text" 0 '^hit +1 +1\.0000 +0\.1395 +1\.0000' evaluate own.h5 --k 1 --self text
    check "own text left out: no note" eval '! grep -q note: "$work/err"'
    expect "evaluate --self id" 0 '"queries_own_text": 1' evaluate own.h5 --k 1 --self id --json
}

# Texts that two files share.
# The mean of what each query has is what is printed, by its id, without those to which nothing is relevant.
test_per_query() {
    make_files
    run import "${files[@]}" --qrels beir.tsv -o r.h5 --force
    expect "evaluate --per-query" 0 '' evaluate r.h5 --k 1,10 --per-query each.tsv --json
    check "per query: a line for each" test "$(wc -l <each.tsv)" = 5
    cp out mean.json
    pycheck "per query: their means" "import json, csv
rows = list(csv.DictReader(open('each.tsv'), delimiter='\t'))
assert [r['query'] for r in rows] == ['7', '007', 'x', 'y'] and rows[2]['mrr@10'] == ''
for v in json.load(open('mean.json'))['values']:
    own = [float(r['%s@%d' % (v['metric'], v['k'])]) for r in rows if r['mrr@1']]
    assert len(own) == 2 and abs(sum(own) / 2 - v['value']) < 1e-12, v"
    expect "per query: no such folder" 2 'none/each.tsv' evaluate r.h5 --per-query none/each.tsv
}

# Queries, passages with ids in another order, and relevance with grades, of two encoders and a run.
make_encoders() {
    [ -e enc-a.h5 ] && return
    pycheck "files of two encoders" "import numpy as np
r = np.random.default_rng(5)
n, m = 60, 150
rel = {(i, p): int(g) for i in range(n) for p, g in zip(r.choice(m, 4, replace=False), r.choice([0, 1, 1, 2, 3], 4))}
open('enc-rel.tsv', 'w').writelines(f'q{i}\tp{p}\t{g}\n' for (i, p), g in rel.items())
base = r.normal(size=(m, 8))
for name, noise in ('a', .6), ('b', 1.2):
    q = np.array([sum((base[p] for (j, p), g in rel.items() if j == i and g > 0), np.zeros(8)) for i in range(n)]) + noise * r.normal(size=(n, 8))
    for side, x in ('q', q), ('p', base + noise * r.normal(size=base.shape)):
        order = r.permutation(len(x)) if name == 'b' else np.arange(len(x))
        np.save(f'enc-{name}-{side}.npy', x[order].astype('f4'))
        open(f'enc-{name}-{side}.txt', 'w').writelines(f'{side}{i}\n' for i in order)
# A run: few scores, so that many are equal; a query that it lacks; ranks that lie.
with open('enc.trec', 'w') as f:
    for i in range(1, n):
        for k, p in enumerate(r.choice(m, int(r.integers(1, 60)), replace=False)):
            print(f'q{i} Q0 p{p} {k} {r.integers(8) / 4 + (rel.get((i, p), 0) > 0)} bm25', file=f)"
    local e
    for e in a b; do
        expect "encoder $e" 0 '60 queries' import --queries enc-$e-q.npy --corpus enc-$e-p.npy --query-ids enc-$e-q.txt --corpus-ids enc-$e-p.txt --qrels enc-rel.tsv -o enc-$e.h5
    done
}

# Two encoders over the same queries: differences are those of the values that each has alone, and their intervals SciPy's.
test_against() {
    make_encoders
    expect "against" 0 'differences are its values less those of enc-b.h5, of [0-9]+ queries' evaluate enc-a.h5 --against enc-b.h5 --k 5,20 --per-query both.tsv
    check "against: no notes" silent
    run evaluate enc-a.h5 --against enc-b.h5 --k 5,20 --json
    cp out both.json
    run evaluate enc-b.h5 --k 5,20 --per-query b.tsv
    run evaluate enc-a.h5 --k 5,20 --per-query a.tsv
    pycheck "against: values, differences and intervals" "import csv, json, numpy as np
from scipy.stats import t
read = lambda f: {r['query']: r for r in csv.DictReader(open(f), delimiter='\t')}
a, b, both, doc = read('a.tsv'), read('b.tsv'), read('both.tsv'), json.load(open('both.json'))
assert doc['against'] == 'enc-b.h5' and list(a) == list(both) and list(a) != list(b) and set(a) == set(b)
def share(x):
    n, m, v = len(x), x.mean(), x.var()
    q = t.ppf(.975, n - 1) ** 2 / n * (v / (m * (1 - m)) if v > 1e-24 else 1)
    half = np.sqrt(q * m * (1 - m) + q * q / 4) / (1 + q)
    return m, max(0, (m + q / 2) / (1 + q) - half), min(1, (m + q / 2) / (1 + q) + half)
for v in doc['values']:
    name = '%s@%d' % (v['metric'], v['k'])
    assert all(both[q][name] == a[q][name] and both[q]['against_' + name] == b[q][name] for q in a)
    x, y = (np.array([float(f[q][name]) for q in a if a[q][name]]) for f in (a, b))
    d = x - y
    assert len(d) == doc['queries_paired'] > 50 and abs(v['against'] - y.mean()) < 1e-12 and abs(v['difference'] - d.mean()) < 1e-12
    up, down = np.maximum(d, 0), np.maximum(-d, 0)
    g, l, r = share(up), share(down), np.corrcoef(up, down)[0, 1] if up.any() and down.any() else 0
    of = lambda p, q: np.sqrt(p * p - 2 * r * p * q + q * q)
    assert abs(v['difference_lo'] - max(-1, d.mean() - of(g[0] - g[1], l[2] - l[0]))) < 1e-9, v
    assert abs(v['difference_hi'] - min(1, d.mean() + of(g[2] - g[0], l[0] - l[1]))) < 1e-9, v
    if v['metric'] == 'ndcg':
        student = 2 * t.ppf(.975, len(d) - 1) * d.std(ddof=1) / np.sqrt(len(d))
        assert abs(v['difference_hi'] - v['difference_lo'] - student) < .1 * student, (v, student)"
    expect "against itself" 0 '^hit +20 .* 0\.0000 +-0\.0[0-9]+ +0\.0' evaluate enc-a.h5 --against enc-a.h5 --k 20
    head -n 59 enc-b-q.txt >some.txt
    pycheck "a file of fewer queries" "import numpy as np
np.save('some.npy', np.load('enc-b-q.npy')[:59])
other = open('enc-b-q.txt').read().split(); other[3] = 'qx'
open('other.txt', 'w').write('\n'.join(other))"
    run import --queries some.npy --corpus enc-b-p.npy --query-ids some.txt --corpus-ids enc-b-p.txt --qrels enc-rel.tsv --unknown skip -o some.h5
    expect "against fewer queries" 3 "the query $(tail -n 1 enc-b-q.txt) of enc-a.h5 is not in some.h5" evaluate enc-a.h5 --against some.h5
    expect "against more queries" 3 "the query $(tail -n 1 enc-b-q.txt) of enc-a.h5 is not in some.h5" evaluate some.h5 --against enc-a.h5
    grep -v '	p7	' enc-rel.tsv >less.tsv
    run import --queries enc-b-q.npy --corpus enc-b-p.npy --query-ids enc-b-q.txt --corpus-ids enc-b-p.txt --qrels less.tsv -o less.h5
    expect "against other relevance" 0 "note: enc-a.h5 and less.h5 have other relevance for $(grep -c '	p7	' enc-rel.tsv) quer" evaluate enc-a.h5 --against less.h5
    run import --queries enc-b-q.npy --corpus enc-b-p.npy --query-ids enc-b-q.txt --corpus-ids enc-b-p.txt --qrels enc-rel.tsv --truth enc-rel.tsv -o true.h5
    expect "against another measure" 3 'is measured by /qrels, true.h5 by /truth: give --by qrels' evaluate enc-a.h5 --against true.h5
    expect "against: the same measure" 0 '' evaluate enc-a.h5 --against true.h5 --by qrels
}

# A run of another system: what trec_eval's rules say of it, computed in Python; and of the program's own.
test_evaluate_run() {
    make_encoders
    local convention
    for convention in trec expected; do
        expect "a run: $convention" 0 'note: enc.trec: lacks 1 query: their values are 0' evaluate enc-a.h5 --run enc.trec --convention $convention --k 3,10,100 --per-query "run-$convention.tsv"
    done
    awk '{ $1 = $1; print $0, "of", NR }' enc.trec >tag.trec
    expect "a run: a tag with blanks, as trec_eval takes it" 0 '' evaluate enc-a.h5 --run tag.trec --convention trec --k 3,10,100 --per-query tag.tsv
    check "a run: a tag with blanks changes nothing" cmp -s tag.tsv run-trec.tsv
    pycheck "a run: values" "import csv, collections, itertools, math, random
rel, ranked = collections.defaultdict(dict), collections.defaultdict(list)
for l in open('enc-rel.tsv'): q, p, g = l.split(); rel[q][p] = int(g)
for l in open('enc.trec'): q, _, p, _, s, _ = l.split(); ranked[q].append((float(s), p))
def values(order, rel, k):
    g = [rel.get(p, 0) for p in order]
    dcg = lambda g: sum(x / math.log2(i + 2) for i, x in enumerate(g[:k]))
    found = [i for i, x in enumerate(g[:k]) if x > 0]
    n = sum(x > 0 for x in rel.values())
    return dict(recall=len(found) / n, hit=float(bool(found)), mrr=1 / (found[0] + 1) if found else 0.,
        ndcg=dcg(g) / dcg(sorted(rel.values(), reverse=True)), map=sum((j + 1) / (i + 1) for j, i in enumerate(found)) / n)
rows = {c: {r['query']: r for r in csv.DictReader(open(f'run-{c}.tsv'), delimiter='\t')} for c in ('trec', 'expected')}
random.seed(1)
seen = 0
for q in rel:
    if not any(x > 0 for x in rel[q].values()): continue
    best = [p for s, p in sorted(ranked[q], reverse=True)]
    for k in 3, 10, 100:
        want = values(best, rel[q], k)
        for m, v in want.items(): assert abs(float(rows['trec'][q][f'{m}@{k}']) - v) < 1e-12, (q, m, k)
    orders = [[p for s, p in sorted(ranked[q], key=lambda e: (-e[0], random.random()))] for _ in range(400)]
    for m in ('recall', 'mrr', 'ndcg', 'map'):
        v = [values(o, rel[q], 10)[m] for o in orders]
        mean = sum(v) / 400; error = (sum((x - mean) ** 2 for x in v) / 400 / 400) ** .5
        assert abs(float(rows['expected'][q][f'{m}@10']) - mean) < 4.5 * error + 1e-9, (q, m)
    seen += 1
assert seen > 50 and float(rows['trec']['q0']['recall@100'] or 0) == 0"
    expect "a run of mine" 0 'its scores are cosines' mine enc-a.h5 -n 150 --depth 150 --include-positives --self none --equal-texts apart -o own.trec
    run evaluate enc-a.h5 --convention trec --k 1,10,100 --per-query own-rows.tsv
    expect "a run of mine: evaluated" 0 '"queries_not_in_run": 0' evaluate enc-a.h5 --run own.trec --convention trec --k 1,10,100 --per-query own-run.tsv --json
    check "a run of mine: the same values" cmp -s own-rows.tsv own-run.tsv
    expect "against a run" 0 'enc-a.h5: by /qrels.*less those of enc.trec' evaluate enc-a.h5 --against enc.trec --k 10 --per-query against.tsv
    pycheck "against a run: its values" "import csv
read = lambda f: {r['query']: r for r in csv.DictReader(open(f), delimiter='\t')}
a, b = read('against.tsv'), read('run-expected.tsv')
assert len(a) == 60 and all(a[q]['against_ndcg@10'] == b[q]['ndcg@10'] for q in a)"
    expect "a run against a run" 0 'enc.trec: by /qrels.*less those of own.trec' evaluate enc-a.h5 --run enc.trec --against own.trec --k 10
    printf 'q1 Q0 p5 1 2.5 x\nq1 Q0 nobody 2 1.5 x\n' >unknown.run
    expect "a run: an unknown passage" 3 'unknown.run: line 2: the id nobody of a passage is not in enc-a.h5' evaluate enc-a.h5 --run unknown.run
    expect "a run: unknown ones left out" 0 'unknown.run: 1 line left out' evaluate enc-a.h5 --run unknown.run --unknown skip
    printf 'qx Q0 p5 1 2.5 x\n' >unknown.run
    expect "a run: an unknown query" 3 'unknown.run: line 1: the id qx of a query is not in enc-a.h5' evaluate enc-a.h5 --run unknown.run
    printf 'q1 Q0 p5 1 nan x\n' >unknown.run
    expect "a run: a score that is no number" 3 'line 1: nan is not a finite number' evaluate enc-a.h5 --run unknown.run
}

# Shortened vectors: as a file of the cut rows, whole and cut paired by query.
test_dim() {
    make_encoders
    pycheck "rows that are cut" "import numpy as np
for side in 'qp': np.save(f'cut-{side}.npy', np.load(f'enc-a-{side}.npy')[:, :5])"
    expect "dim: a file of cut rows" 0 '' import --queries cut-q.npy --corpus cut-p.npy --query-ids enc-a-q.txt --corpus-ids enc-a-p.txt --qrels enc-rel.tsv -o cut.h5
    run evaluate enc-a.h5 --k 1,10 --dim 5,8 --json && cp out dim.json
    run evaluate cut.h5 --against enc-a.h5 --k 1,10 --json && cp out apart.json
    run evaluate enc-a.h5 --k 1,10 --json && cp out whole.json
    pycheck "dim: as the file of cut rows" "import json
dim, apart, whole = (json.load(open(f + '.json')) for f in ('dim', 'apart', 'whole'))
rows = {d: [{k: v for k, v in r.items() if k != 'dim'} for r in dim['values'] if r['dim'] == d] for d in (5, 8)}
assert rows[8] == whole['values'] and len(dim['values']) == 2 * len(whole['values'])
for a, b in zip(rows[5], apart['values']):
    assert a.keys() == b.keys() and all(a[k] == b[k] or abs(a[k] - b[k]) < 1e-9 for k in a), (a, b)
assert [w['dim'] for w in dim['widths']] == [8, 5] and abs(dim['widths'][1]['mib'] - 150 * 5 * 4 / 2**20) < 1e-6"
    expect "dim: told" 0 'cut to the first dim columns and normalized again' evaluate enc-a.h5 --k 10 --dim 5
    run mine enc-a.h5 --dim 5 -n 4 -o dim.npy
    run mine cut.h5 -n 4 -o apart.npy
    check "dim: mined as from the file of cut rows" cmp -s dim.npy apart.npy
    expect "dim: mined in parts" 0 '' mine enc-a.h5 --dim 5 -n 4 -o dim-rows.npy --rows 1/1
    check "dim: the same" cmp -s dim.npy dim-rows.npy
    run mine enc-a.h5 -n 4 -o dim-rows.npy --rows 1/1
    check "dim: another width is mined anew" test "$(cmp -s dim.npy dim-rows.npy; echo $?)" = 1
    run price enc-a.h5 --dim 5 -n 4 --depth 60 --json && cp out dim.json
    run price cut.h5 -n 4 --depth 60 --json && cp out apart.json
    pycheck "dim: priced as the file of cut rows" "import json
a, b = (json.load(open(f + '.json'))['settings'] for f in ('dim', 'apart'))
assert len(a) == len(b) > 10
for x, y in zip(a, b): assert x['negatives'] == y['negatives'] and abs(x['hardness'] - y['hardness']) < 1e-4, (x, y)"
    expect "dim: the next command has it" 0 'price enc-a.h5 -n 4 --depth 60 --dim 5 --judged dim.tsv' price enc-a.h5 --dim 5 -n 4 --depth 60 --sheet 40 -o dim.tsv
    expect "dim: too many" 2 'dim 9: enc-a.h5 has 8 dimensions' evaluate enc-a.h5 --dim 9
    expect "dim: none" 2 '' evaluate enc-a.h5 --dim 0
    expect "dim: with a run" 2 'goes without --run, --against and --per-query' evaluate enc-a.h5 --dim 5 --against enc-b.h5
    printf "0\t3\n1\t2\n" >hollow.tsv
    printf "0 0 1 1\n" >hollow.txt
    run import --queries hollow.tsv --corpus hollow.tsv --qrels hollow.txt -o hollow.h5
    expect "dim: nothing is left of a row" 3 'the cut queries row 0 is all zeros' evaluate hollow.h5 --dim 1 --k 1
}

test_overlap() {
    make_files
    printf '{"_id": "%s", "text": "%s"}\n' 1 'How do I bake a cake' 2 two 3 three 4 four >train-q.jsonl
    printf '{"_id": "%s", "text": "%s"}\n' t1 ' how  do I bake a CAKE' t2 'how do I bake a pie' t3 other t4 '' >test-q.jsonl
    printf '1\ta\t1\n' >one-a.tsv
    printf 't1\ta\t1\n' >t1-a.tsv
    printf '0\t0\t1\n' >rows.tsv
    run import --queries q.tsv --corpus p.tsv --query-ids train-q.jsonl --corpus-ids p.jsonl --qrels one-a.tsv -o train.h5
    run import --queries q.tsv --corpus p.tsv --query-ids test-q.jsonl --corpus-ids p.jsonl --qrels t1-a.tsv -o test.h5
    expect "overlap" 0 '^queries +4 +1 +0 +25\.00' overlap train.h5 test.h5
    check "overlap: passages" says '^passages +6 +6 +0 +100\.00'
    check "overlap: the pair" says '^queries +1 +t1 +1\.00 +equal'
    expect "nearly equal" 0 '"near": 1' overlap train.h5 test.h5 --min-likeness 0.7 --json
    expect "a gate" 1 'test.h5: 1 query of 4 queries shared with train.h5' overlap train.h5 test.h5 --gate
    run import --queries q.tsv --corpus p.tsv --qrels rows.tsv -o bare.h5
    expect "no texts" 3 'bare.h5: has no texts to compare' overlap train.h5 bare.h5
}

# Equal scores, and equal texts under other ids.
test_evaluate_ties() {
    make_files
    # Five rows of one direction; the relevant passage is the last of all, or the first.
    yes '1 0 0' | head -n 4 >flat-q.tsv
    yes '1 0 0' | head -n 5 >flat-p.tsv
    printf '7 0 e 1\n007 0 e 1\nx 0 e 1\ny 0 a 0\n' >flat.txt
    printf '%s\n' 7 007 x y >flat-q.txt
    printf '%s\n' e d c b a >flat-p.txt
    run import --queries flat-q.tsv --corpus flat-p.tsv --query-ids flat-q.txt --corpus-ids flat-p.txt --qrels flat.txt -o flat.h5
    expect "equal scores: the mean of all orders" 0 'recall +1 +0\.2000 .* 0\.0000 +1\.0000' evaluate flat.h5 --k 1
    check "equal scores: a note" grep -q 'note: equal scores: by their order recall at 1 is between 0.0000 and 1.0000; shown is the mean' err
    expect "trec: the higher id first, judged queries count" 0 'mrr +10 +0\.7500' evaluate flat.h5 --k 10 --convention trec
    check "trec: all four queries" says 'over 4 queries$'
    expect "st: equal scores have no order there either" 0 'mrr +10 +0\.4567' evaluate flat.h5 --k 10 --convention st
    # Passages c and d have one text: 007 finds the copy.
    printf '007 0 d 2\n007 0 f 1\n' >copies.txt
    run import "${files[@]}" --qrels copies.txt -o copies.h5
    expect "a copy of what is relevant is relevant" 0 'recall +1 +0\.5000' evaluate copies.h5 --k 1
    expect "of ids alone it is in doubt" 0 'recall +1 +0\.2500' evaluate copies.h5 --k 1 --equal-texts apart
    expect "grades below --min-grade are not relevant" 0 'recall +1 +1\.0000' evaluate copies.h5 --k 1 --min-grade 2
    expect "they are no negatives either" 0 '^known +3 ' mine copies.h5 -n 3 --min-grade 2 -o n.jsonl
    check "and no positives" eval '! grep -q "\"f\"" n.jsonl'
}

test_price() {
    run synth --kind retrieval -o many.h5 --n 3000 --queries 700 --dim 24 --steps 1 --force
    expect "price" 0 '700 queries; false ones by /truth' price many.h5
    check "price: windows, margins, ceilings" test "$(grep -cE '^--(min-rank|relative-margin|absolute-margin|max-score) ' out)" -ge 25
    expect "price --recommend" 0 'The hardest that is shown to have at most 40 % false.*hardness [0-9.]+; 0.0 % of the queries get none' price many.h5 --recommend --max-fn 0.4
    local line
    line=$(grep '^hardneg mine' out)
    # shellcheck disable=SC2086 # words are wanted
    expect "what is recommended can be run" 0 'are false negatives' ${line#hardneg }
    check "it costs what was said" test "$(grep -oE '[0-9.]+ % are false' out | head -n 1)" = "$("$hardneg" price many.h5 --recommend --max-fn 0.4 | sed -n 's/.*false negatives: \([0-9.]*\) %.*/\1/p') % are false"
    cp many.h5 "it's many.h5"
    expect "commands name file and step as a shell wants them" 0 "^hardneg price 'it'.''s many.h5' -n 3 --depth 200 --step 0 --judged j.tsv" price "it's many.h5" -n 3 --step 0 --sheet 20 -o j.tsv
    expect "ties are named" 0 '"ties": \[' price many.h5 --recommend --max-fn 0.4 --json
    expect "nothing is within" 5 'no setting is shown to have at most 0 %' price many.h5 --recommend --max-fn 0
    expect "no limit" 2 'needs --max-fn' price many.h5 --recommend
    expect "price --json" 0 '"by": "truth"' price many.h5 --json
}

# The page says what the table says; the numbers are those of --json.
test_price_page() {
    run synth --kind retrieval -o many.h5 --n 3000 --queries 700 --dim 24 --steps 1 --force
    run price many.h5 --json
    cp out price.json
    expect "price -o" 0 'by /truth' price many.h5 -o price.h5
    expect "merge of what price left" 3 'price.h5: has no cell to join' merge price.h5 price.h5 -o joined.h5
    check "joins nothing" test ! -e joined.h5
    expect "price -o: not its own input" 2 'many.h5: is what is read' price many.h5 -o ./many.h5
    expect "price -o: a sheet needs a name" 2 '--sheet needs --output' price many.h5 --sheet 5
    expect "plot" 0 '' plot price.h5 --figure price -o figures
    expect "report" 0 'price.html' report price.h5 -o price.html
    run price many.h5 -n 4 --self id --dim 12 -o cut.h5
    run report cut.h5 -o cut.html
    check "its commands mine as it priced" grep -q 'data-command="hardneg mine many.h5 -n 4 --depth 200 --self id --dim 12 --min-rank 1 -o ' cut.html
    expect "validate the snapshot still" 0 'valid' validate many.h5
    pycheck "table and page of a price" "import h5py, json, re, subprocess
want, t = json.load(open('price.json')), h5py.File('price.h5')['tables/price']
text = lambda name: t[name].asstr()[:]
assert list(text('setting')) == [s['setting'] for s in want['settings']] and set(text('by')) == {'truth'}
for name in 'hardness', 'false_negatives', 'false_lo', 'false_hi', 'fewer', 'none':
    assert all(v == s[name] or s[name] is None for v, s in zip(t[name][:], want['settings'])), name
a = h5py.File('price.h5')['tables/price_attrition']
kept = {s: (n, h) for s, f, n, h in zip(a['setting'].asstr()[:], a['filter'].asstr()[:], a['candidates'][:], a['hidden'][:]) if f == 'kept'}
assert all(kept.get(s['setting'], (0, 0))[0] == s['negatives'] for s in want['settings'])
assert all(abs(kept[s['setting']][1] / s['negatives'] - s['false_negatives']) < 1e-12 for s in want['settings'] if s['negatives'])
total = {s: sum(n for x, n in zip(a['setting'].asstr()[:], a['candidates'][:]) if x == s) for s in text('setting')}
assert set(total.values()) == {700 * 200}, total
page, top = open('price.html').read(), want['settings'][0]
assert re.search(r'the 10 best</small></td><td class=n>%.2f</td><td class=n>%.3g ' % (top['hardness'], 100 * top['false_negatives']), page)
for words, part in ('half', .5), ('a fifth', .2), ('a twentieth', .05):
    said = re.search(r'<tr><th scope=row>[0-9.]+ .%s.</th><td(.*)</tr>' % words, page).group(1)
    run = subprocess.run(['$hardneg', 'price', 'many.h5', '--recommend', '--json', '--max-fn', repr(part * top['false_negatives'])], capture_output=True)
    best = json.loads(run.stdout)['recommended'] or 'no setting is shown'
    assert best in said, (words, best, said)
    command = re.search('data-command=.hardneg (.*?) -o ', said)
    assert not command or command[1].endswith(best) and subprocess.run(['$hardneg', *command[1].split(), '-o', 'taken.jsonl']).returncode == 0, said
empty = sum(s['none'] > .1 for s in want['settings'])
assert '<p>Not named, as more than 10 %% of the queries are left without a negative: %d of %d settings' % (empty, len(want['settings'])) in page
assert '<svg' in page"
    make_files
    [ -e r.h5 ] || run import "${files[@]}" --qrels beir.tsv -o r.h5
    run price r.h5 -n 2 --depth 4 -o places.h5
    expect "report: no pair is judged" 0 '' report places.h5 -o places.html
    check "report: the rank model names no setting" grep -q 'no setting is named' places.html
}

# Results of price have no runs: every format names the tables that have rows.
test_price_export() {
    local format
    run synth --kind retrieval -o some.h5 --n 300 --queries 40 --dim 8 --steps 1 --force
    run price some.h5 -n 3 -o some-price.h5
    for format in csv json markdown latex html; do
        expect "export --$format of prices" 2 'some-price.h5: table (runs|settings) has no row; give --table and one that has: price, price_attrition$' \
            export some-price.h5 --$format
        expect "export --$format of prices to a file" 2 'has no row' export some-price.h5 --$format -o "prices.$format"
        check "export --$format: no file" test ! -e "prices.$format"
        expect "export --$format of a named table" 0 'min-rank' export some-price.h5 --$format --table price
    done
    expect "export of runs by name" 2 'table runs has no row' export some-price.h5 --csv --table runs
    expect "export of settings by name" 2 'table settings has no row' export some-price.h5 --csv --table settings
}

# Fills in a sheet from /truth of many.h5: SHEET OUT.
judge() {
    "$python" - "$1" "$2" <<'P'
import sys, h5py
f = h5py.File('many.h5')
at, ids = f['truth/indptr'][:], f['truth/indices'][:]
head, *rows = open(sys.argv[1]).read().splitlines()
true = lambda q, p: p in ids[at[q]:at[q + 1]]
with open(sys.argv[2], 'w') as out:
    print(head, *(r + str(int(true(*map(int, r.split('\t')[1:3])))) for r in rows), sep='\n', file=out)
P
}

test_sheet() {
    run synth --kind retrieval -o many.h5 --n 3000 --queries 700 --dim 24 --steps 1 --force
    expect "price --sheet" 0 '^sheet.tsv: 400 pairs of 139300' price many.h5 --sheet 400 -o sheet.tsv
    check "sheet: a row for each pair" test "$(wc -l <sheet.tsv)" = 401
    check "sheet: no pair twice" test "$(cut -f 2,3 sheet.tsv | sort -u | wc -l)" = 401
    run price many.h5 --sheet 400 -o again.tsv --threads 4
    check "sheet: the same for any threads" cmp -s sheet.tsv again.tsv
    run price many.h5 --sheet 300 -o other.tsv --seed 2
    expect "sheet: too many pairs" 2 'at most [0-9]+ pairs' price many.h5 --sheet 100000 -o no.tsv
    check "sheet: nothing is written then" test ! -e no.tsv
    expect "sheet: not filled in" 3 'sheet.tsv: line 2: column 5, relevant, is empty' price many.h5 --judged sheet.tsv
    make_files
    [ -e r.h5 ] || run import "${files[@]}" --qrels beir.tsv -o r.h5
    expect "no truth, no sheet: the rank model" 0 'by the rank model alone, since no pair is judged' price r.h5
    expect "sheet: texts" 0 '' price r.h5 -n 2 --depth 3 --sheet 2 -o texts.tsv
    check "sheet: texts of both" grep -qE '^[0-9]+	[^	]+	[^	]+	[0-9.e-]+	[^	]+	[^	]+	$' texts.tsv
    with_python "judged sheets" || return 0
    judge sheet.tsv judged.tsv
    judge other.tsv second.tsv
    expect "price --judged" 0 'estimated from 400 judged pairs \(b = [0-9.]+\)' price many.h5 --judged judged.tsv
    run price many.h5 --json
    cp out truth.json
    run price many.h5 --judged judged.tsv --judged second.tsv --json
    cp out one.json
    run price many.h5 --judged second.tsv --judged judged.tsv --json --threads 4
    check "judged: order of sheets and threads do not matter" cmp -s out one.json
    pycheck "judged: the truth is near, in its intervals" "import json
t, j = (json.load(open(f)) for f in ('truth.json', 'one.json'))
assert t['by'] == 'truth' and j['by'] == 'judged' and 690 <= j['judged'] <= 700
pairs = [(a, b) for a, b in zip(t['settings'], j['settings']) if a['negatives']]
assert len(pairs) > 20 and all(a['negatives'] == b['negatives'] and a['hardness'] == b['hardness'] for a, b in pairs)
held = sum(b['false_lo'] <= a['false_negatives'] <= b['false_hi'] for a, b in pairs)
assert held >= .8 * len(pairs), held
first = pairs[0]
assert abs(first[0]['false_negatives'] - first[1]['false_negatives']) < .06 and first[1]['false_hi'] - first[1]['false_lo'] < .12"
    run price many.h5 --judged judged.tsv -o judged.h5
    run report judged.h5 -o judged.html
    pycheck "page of judged pairs: names what --recommend does" "import json, re, subprocess
page = open('judged.html').read()
run = lambda *more: json.loads(subprocess.run(['$hardneg', 'price', 'many.h5', '--judged', 'judged.tsv', '--json', *more], capture_output=True).stdout)
top = run()['settings'][0]['false_negatives']
for words, part in ('half', .5), ('a fifth', .2), ('a twentieth', .05):
    said = re.search(r'<tr><th scope=row>[0-9.]+ .%s.</th><td(.*)</tr>' % words, page).group(1)
    best = run('--recommend', '--max-fn', repr(part * top))['recommended'] or 'no setting is shown'
    assert best in said, (words, best, said)"
    # A second judge, in a copy and in a column of its own: the same numbers.
    awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "relevant_2" : $5 }' judged.tsv >two.tsv
    cp judged.tsv copy.tsv
    run price many.h5 --judged judged.tsv --json
    cp out one.json
    run price many.h5 --judged two.tsv --json
    check "judged: a column of a second judge" cmp -s out one.json
    run price many.h5 --judged judged.tsv --judged copy.tsv --json
    pycheck "judged: a copy of a second judge" "import json
a, b = json.load(open('one.json')), json.load(open('out'))
assert all(abs(x['false_hi'] - y['false_hi']) < 1e-9 for x, y in zip(a['settings'], b['settings']) if x['negatives'])"
    # Windows line ends, quotes, rounded numbers with a comma and another order of columns, as spreadsheets write them.
    awk -F '\t' -v OFS='\t' '{ p = NR == 1 ? $4 : sprintf("%.2E", $4); sub("[.]", ",", p); print $5, "\"" $2 "\"", p, $3, $1 "\r" } END { print "\t\t\t\t\r" }' judged.tsv >moved.tsv
    run price many.h5 --judged moved.tsv --json
    check "judged: as spreadsheets write it" cmp -s out one.json
    head -n 101 judged.tsv >part.tsv
    expect "judged: the first rows" 0 'from 100 judged pairs' price many.h5 --judged part.tsv
    expect "judged: another depth" 3 'line 2: the pair was not drawn with this probability .* --depth' price many.h5 --judged judged.tsv --depth 150
    local script why
    while IFS='|' read -r script why; do
        sed "$script" judged.tsv >bad.tsv
        expect "judged: $script" 3 "bad.tsv: $why" price many.h5 --judged bad.tsv
    done <<'F'
5s/.$/2/|line 5: column 5, relevant, is 2
7s/.$/maybe/|line 7: column 5, relevant, is maybe
7s/.$/0.5/|line 7: column 5, relevant, is 0.5
9s/.$//|line 9: column 5, relevant, is empty
3s/\t[0-9]*/\tx7/|line 3: the id x7 of a query is not in many.h5
4s/\t[0-9]*\t[0-9]\.e/\t99999\t1.e/;4s/\t\([0-9]*\)\t[0-9]*\t/\t\1\t99999\t/|line 4: the id 99999 of a passage
6p|line 7: the pair of line 6 again
8s/$/	1/|line 8: has 6 columns, and the first line 5
5s/^4/0/|line 5: 0 is no number of a row
5d|row 4 is missing before others
2d|row 1 is missing before others
1s/passage/p/|line 1: has no column passage
1s/probability/p/|line 2: the pair was not drawn
F
    # As some spreadsheets save it; and objects a line, of other judges.
    tr '\t' ',' <judged.tsv >judged.csv
    run price many.h5 --judged judged.csv --json
    check "judged: between commas" cmp -s out one.json
    expect "sheet: objects" 0 '' price many.h5 --sheet 400 -o sheet.jsonl
    expect "judged objects: by whom" 3 'sheet.jsonl: line 1: does not say who judged' price many.h5 --judged sheet.jsonl
    pycheck "sheet: objects are filled in" "import json
rows = [json.loads(line) for line in open('sheet.jsonl')]
table = [line.rstrip('\\n').split('\\t') for line in open('judged.tsv')][1:]
assert [[str(r['row']), r['query'], r['passage']] for r in rows] == [t[:3] for t in table] and 'prompt' not in rows[0]
def write(name, lines): open(name, 'w').writelines(json.dumps(r) + '\\n' for r in lines)
write('empty.jsonl', [dict(r, judge='person') for r in rows])
yes, no = ['yes', 'True', 'RELEVANT', '1', 1, True, 1.0], ['No.', 'false', 'not relevant', ' 0 ', 0, False, 0.0]
for i, (r, t) in enumerate(zip(rows, table)):
    r.update(judge='person ' + str(i % 2), relevant=(yes if t[4] == '1' else no)[i % 7])
write('judged.jsonl', rows)
write('short.jsonl', [{'id': r['id'], 'judge': 'person', 'verdict': r['relevant']} for r in rows])
# A model errs in one of ten, and has a probability in place of one verdict.
for i, (r, t) in enumerate(zip(rows, table)):
    r.update(judge='gpt-x', relevant=(t[4] == '1') != (i % 10 == 3))
rows[5]['relevant'] = .25
write('model.jsonl', rows)
write('refused.jsonl', rows[:6] + [dict(rows[6], relevant='I cannot say.')] + rows[7:])
write('other.jsonl', [{'id': '1-0-99999-0.1', 'judge': 'gpt-x', 'answer': 1}])"
    expect "judged objects: no answer" 3 'empty.jsonl: line 1: column 6, relevant, is empty' price many.h5 --judged empty.jsonl
    run price many.h5 --judged judged.jsonl --json
    check "judged: objects" cmp -s out one.json
    run price many.h5 --judged short.jsonl --json
    check "judged: objects by their id" cmp -s out one.json
    expect "judged: a model refuses" 3 'refused.jsonl: line 7: column 6 is I cannot say.: no verdict of gpt-x; ask it again' price many.h5 --judged refused.jsonl
    expect "judged: another's id" 3 'other.jsonl: line 1: the id 1-0-99999-0.1 is not one that' price many.h5 --judged other.jsonl
    expect "judged: by a model alone" 3 '0 pairs are judged by people, and nobody knows how often a model is wrong' price many.h5 --judged model.jsonl
    head -n 101 judged.tsv >part.tsv
    expect "judged: by a model, and in part by people" 0 'from 100 judged pairs and 400 that gpt-x judged, whose errors these show' price many.h5 --judged model.jsonl --judged part.tsv
    run price many.h5 --judged model.jsonl --judged part.tsv --json
    cp out both.json
    run price many.h5 --judged part.tsv --judged model.jsonl --json --threads 4
    check "judged: order of judges and threads do not matter" cmp -s out both.json
    pycheck "judged: a model narrows the interval" "import json
t, m = (json.load(open(f)) for f in ('truth.json', 'both.json'))
assert m['judged'] == 100 and m['answered'] == 400 and m['models'] == 'gpt-x'
held = [b['false_lo'] <= a['false_negatives'] <= b['false_hi'] for a, b in zip(t['settings'], m['settings']) if a['negatives']]
assert sum(held) >= .8 * len(held), held"
    head -n 80 model.jsonl >less.jsonl
    expect "judged: a model has not judged all of people's" 3 'gpt-x has not judged passage [0-9]+ of query [0-9]+, which people have' price many.h5 --judged less.jsonl --judged part.tsv
    head -n 5 judged.tsv >few.tsv
    expect "judged: too few" 3 '4 pairs are judged; judge at least 10' price many.h5 --judged few.tsv
    expect "recommend by judged pairs" 0 'The hardest that is shown to have at most 30 %' price many.h5 --judged judged.tsv --recommend --max-fn 0.3
    expect "recommend: how many more" 5 '^Some [0-9]+ more judged pairs would show a setting with at most 0.5 %' price many.h5 --judged judged.tsv --recommend --max-fn 0.005
    expect "recommend without judged pairs" 5 'without judged pairs there is no interval' price r.h5 --recommend --max-fn 0.3 --max-none 1
}

# Negatives of one setting: priced as they are mined, and certified by rounds of judged pairs.
test_certify() {
    run synth --kind retrieval -o many.h5 --n 3000 --queries 700 --dim 24 --steps 1 --force
    local mine='--max-rank 12 -n 4 --max-score 0.9 --take draw --fill draw --seed 3'
    expect "price --for: mine's own errors" 2 "--for: unknown option '--min-rnk'" price many.h5 --for '--min-rnk 3'
    expect "price --for: a file" 2 'x.h5 is no option of mine' price many.h5 --for '-n 3 x.h5'
    expect "price --for: options outside" 2 'give -n and --depth within it' price many.h5 -n 3 --for '-n 3'
    expect "price --for: by the truth, above" 1 'more than 1 % of these negatives' price many.h5 --for "$mine" --max-fn 0.01
    expect "price --for: by the truth, within" 0 'Shown: at most 90 %' price many.h5 --for "$mine" --max-fn 0.9
    with_python "certificates" || return 0
    run price many.h5 --for "$mine" --json
    cp out for.json
    # shellcheck disable=SC2086 # words are wanted
    run mine many.h5 $mine -o certified.jsonl
    pycheck "price --for: what is written" "import json, h5py
f = h5py.File('many.h5')
of = lambda name, q: set(f[name + '/indices'][f[name + '/indptr'][q]:f[name + '/indptr'][q + 1]].tolist())
lines = [json.loads(line) for line in open('certified.jsonl')]
pairs = [(int(l['query_id']), int(p)) for l in lines for p in l['neg_id']]
false = sum(p in of('truth', q) - of('qrels', q) for q, p in pairs)
want = json.load(open('for.json'))
assert want['negatives'] == len(pairs) and abs(want['truth'] - false / len(pairs)) < 1e-12"
    local truth
    truth=$("$python" -c "import json; print(json.load(open('for.json'))['truth'])")
    expect "certify: a first sheet" 0 'c1.tsv: rows 1 to 40 of 2800' price many.h5 --for "$mine" --sheet 40 -o c1.tsv
    judge c1.tsv j1.tsv
    expect "certify: undecided, and the next sheet" 5 'rows 41 to 140 of' price many.h5 --for "$mine" --max-fn "$truth" --judged j1.tsv --sheet 100 -o c2.tsv
    judge c2.tsv j2.tsv
    expect "certify: a sheet is missing" 3 'row 1 is in no sheet' price many.h5 --for "$mine" --judged j2.tsv
    expect "certify: other negatives" 3 'j1.tsv: line [0-9]+: the pair is not row [0-9]+ of the negatives' price many.h5 --for "$mine --min-rank 2" --judged j1.tsv
    expect "certify: another order" 3 'give the --for, --seed' price many.h5 --for "$mine" --judged j1.tsv --seed 2
    expect "certify: passed" 1 'more than 0.5 %' price many.h5 --for "$mine" --max-fn 0.005 --judged j1.tsv --judged j2.tsv --certificate no.json
    check "certify: no certificate of that" test ! -e no.json
    expect "certify: shown" 0 'Shown: at most 90 %' price many.h5 --for "$mine" --max-fn 0.9 --judged j2.tsv --judged j1.tsv --certificate cert.json
    # shellcheck disable=SC2086 # words are wanted
    expect "mine --certificate" 0 '' mine many.h5 $mine -o certified.jsonl --certificate cert.json --threads 3
    pycheck "certificate: of the file" "import hashlib, json
c = json.load(open('certified.jsonl.certificate.json'))
assert c['file_sha256'] == hashlib.sha256(open('certified.jsonl', 'rb').read()).hexdigest() and c['judged'] == 140 and c['max_fn'] == .9 and c['scores_by'] == 'model'
assert 'max-rank=12' in c['options'] and c['share_hi'] <= .9 and c['negatives'] == 2800"
    expect "certificate of others" 3 'cert.json: certifies other negatives' mine many.h5 -n 4 -o others.jsonl --certificate cert.json
    check "certificate of others: nothing is written" test ! -e others.jsonl
    expect "no certificate" 3 'is no certificate' mine many.h5 -n 4 -o others.jsonl --certificate for.json
    expect "a folder is no certificate" 3 'it is a folder' mine many.h5 -n 4 -o others.jsonl --certificate .
    sed 's/"negatives": [0-9]*/"negatives": 7/' cert.json >seven.json
    sed 's/"negatives_sha256"/"negatives_sha"/' cert.json >without.json
    # shellcheck disable=SC2086 # words are wanted
    expect "certificate of another number" 3 'seven.json: certifies 7 negatives, and this format holds 2800' mine many.h5 $mine -o others.jsonl --certificate seven.json
    # shellcheck disable=SC2086 # words are wanted
    expect "certificate without a digest" 3 'without.json: certifies other negatives' mine many.h5 $mine -o others.jsonl --certificate without.json
}

# What is mined from runs of others is priced and certified as it is mined, each run by itself.
test_certify_runs() {
    run synth --kind retrieval -o many.h5 --n 3000 --queries 700 --dim 24 --steps 1 --force
    run mine many.h5 -n 30 --format trec -o near.trec
    run mine many.h5 -n 30 --min-rank 41 --format trec -o far.trec
    local mine='--candidates near.trec --candidates far.trec --quota 1,2'
    with_python "certificates of runs" || return 0
    # shellcheck disable=SC2086 # words are wanted
    run mine many.h5 $mine -o mined.jsonl --json
    cp out mined.json
    expect "runs: priced" 0 '' price many.h5 --for "$mine" --json
    pycheck "runs: as they are mined" "import json
a, b = json.load(open('mined.json')), json.load(open('out'))
lines = [json.loads(line) for line in open('mined.jsonl')]
assert b['negatives'] == sum(len(l['neg_id']) for l in lines) == 2100
assert a['sources'] == b['sources'] and [s['mined'] for s in b['sources']] == [700, 1400]
assert abs(b['truth'] - sum(s['mined'] * s['false_negatives'] for s in b['sources']) / 2100) < 1e-12"
    run price many.h5 --for "$mine" --sheet 200 -o c1.tsv
    judge c1.tsv j1.tsv
    expect "runs: shown, by run" 0 '^far.trec +21000 .*' price many.h5 --for "$mine" --max-fn 0.9 --judged j1.tsv --certificate cert.json --step 0
    # shellcheck disable=SC2086 # words are wanted
    expect "runs: certified" 0 '' mine many.h5 $mine -o certified.jsonl --certificate cert.json
    pycheck "runs: certificate" "import json; assert len(json.load(open('certified.jsonl.certificate.json'))['candidates_sha256']) == 64"
    expect "runs: certificate of others" 3 'certifies other negatives' mine many.h5 --candidates far.trec -n 3 -o others.jsonl --certificate cert.json
    expect "runs: quota without" 2 'quota goes with --candidates' price many.h5 --for '--quota 1,2'
    expect "runs: another number" 2 'makes 3 negatives, --negatives is 4' price many.h5 --for "$mine -n 4"
}

# A certificate by few verdicts of people, and those of a model on all pairs.
test_certify_model() {
    run synth --kind retrieval -o many.h5 --n 3000 --queries 700 --dim 24 --steps 1 --force
    local mine='--min-rank 4 -n 4' truth
    with_python "certificates with a model" || return 0
    run price many.h5 --for "$mine" --json
    truth=$("$python" -c "import json; print(json.load(open('out'))['truth'])" 2>err)
    expect "model: all pairs" 0 'all.jsonl: rows 1 to 2800 of 2800. Write the answer to prompt .* judge' price many.h5 --for "$mine" --sheet 100000 -o all.jsonl
    run price many.h5 --for "$mine" --sheet 300 -o c1.tsv
    judge c1.tsv j1.tsv
    pycheck "model: it answers" "import json, h5py
f = h5py.File('many.h5')
at, ids = f['truth/indptr'][:], f['truth/indices'][:]
with open('model.jsonl', 'w') as out, open('part.jsonl', 'w') as part:
    for i, line in enumerate(open('all.jsonl')):
        r = json.loads(line)
        q = int(r['query'])
        line = json.dumps({'id': r['id'], 'judge': 'gpt-x', 'verdict': ['no', 'yes'][bool(int(r['passage']) in ids[at[q]:at[q + 1]]) != (i % 50 == 7)]}) + '\\n'
        out.write(line)
        if i < 2000: part.write(line)"
    expect "model: alone it shows nothing" 5 'undecided: nobody knows how often gpt-x is wrong' price many.h5 --for "$mine" --max-fn 0.5 --judged model.jsonl --certificate no.json
    check "model: no certificate of that" test ! -e no.json
    expect "model: alone, told plainly" 0 'gpt-x judged all 2800, and calls [0-9.]+ % relevant; nobody knows how often it is wrong' price many.h5 --for "$mine" --judged model.jsonl
    expect "model: it is to judge all" 3 'gpt-x judged the first 2000 of 2800 pairs' price many.h5 --for "$mine" --judged part.jsonl --judged j1.tsv
    run price many.h5 --for "$mine" --judged j1.tsv --json
    cp out people.json
    expect "model: with people" 0 'of the 300 that people judged, too, [0-9]+ are relevant by both' price many.h5 --for "$mine" --judged model.jsonl --judged j1.tsv
    run price many.h5 --for "$mine" --judged model.jsonl --judged j1.tsv --json
    cp out both.json
    pycheck "model: the truth is within, and the interval is narrower" "import json
a, b = (json.load(open(f)) for f in ('people.json', 'both.json'))
truth = $truth
assert b['answered'] == 2800 and b['models'] == 'gpt-x' and b['judged'] == 300
assert b['share_lo'] <= truth <= b['share_hi'], (b['share_lo'], truth, b['share_hi'])
assert b['share_hi'] - b['share_lo'] < .9 * (a['share_hi'] - a['share_lo']), (a, b)"
    expect "model: shown" 0 'Shown: at most' price many.h5 --for "$mine" --max-fn 0.5 --judged model.jsonl --judged j1.tsv --certificate cert.json
    # shellcheck disable=SC2086 # words are wanted
    expect "model: certified" 0 '' mine many.h5 $mine -o certified.jsonl --certificate cert.json
    pycheck "certificate: names the model" "import json
c = json.load(open('certified.jsonl.certificate.json'))
assert c['models'] == 'gpt-x' and c['answered'] == 2800 and c['judged'] == 300"
    # A prompt that holds both texts.
    make_files
    [ -e r.h5 ] || run import "${files[@]}" --qrels beir.tsv -o r.h5
    run price r.h5 --for '-n 1' --sheet 2 -o prompts.jsonl
    pycheck "model: prompts" "import json
for line in open('prompts.jsonl'):
    r = json.loads(line)
    assert r['query_text'] in r['prompt'] and r['passage_text'] in r['prompt'] and r['relevant'] is None and r['judge'] is None"
}

# A sheet that somebody has begun to fill in is not replaced.
test_sheet_filled() {
    local name
    run synth --kind retrieval -o some.h5 --n 300 --queries 40 --dim 8 --steps 1 --force
    expect "sheet: a first one" 0 '' price some.h5 --sheet 20 -o kept.tsv
    expect "sheet: an empty one is replaced" 0 '' price some.h5 --sheet 15 -o kept.tsv
    check "sheet: it is the new one" test "$(wc -l <kept.tsv)" = 16
    sed '2s/$/1/;3s/$/0/' kept.tsv >two.tsv
    sed '2s/$/1/;3s/$/0/' kept.tsv | tr '\t' , >comma.tsv
    awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "relevant_2" : NR == 5 ? " maybe " : " " }' kept.tsv >second.tsv
    sed '2s/$/"1/' kept.tsv >quote.tsv
    run price some.h5 --sheet 15 -o kept.jsonl
    expect "sheet: objects without a verdict are replaced" 0 '' price some.h5 --sheet 15 -o kept.jsonl
    sed '4s/"relevant":null/"relevant":0/' kept.jsonl >one.jsonl
    sed '5s/}$/,"answer":"yes"}/;6s/"relevant":null/"relevant":"  "/' kept.jsonl >answer.jsonl
    sed '5s/}$//' kept.jsonl >broken.jsonl
    while IFS='|' read -r name why; do
        cp "$name" before
        expect "sheet: $name is not replaced" 2 "$name: $why.*give another name, or move it" price some.h5 --sheet 15 --seed 3 -o "$name"
        expect "sheet: $name is not replaced by --for" 2 "$name: $why" price some.h5 --for '-n 2' --sheet 15 -o "$name"
        check "sheet: $name is as it was" cmp -s before "$name"
    done <<'F'
two.tsv|holds 2 judgements
comma.tsv|holds 2 judgements
second.tsv|holds 1 judgement,
one.jsonl|holds 1 judgement,
answer.jsonl|holds 1 judgement,
quote.tsv|line 2: .*quote
broken.jsonl|line 5: 
F
    cp two.tsv before
    expect "sheet: results do not replace it" 2 'two.tsv: holds 2 judgements' price some.h5 -o two.tsv
    expect "sheet: a certificate does not replace it" 2 'two.tsv: holds 2 judgements' price some.h5 --for '-n 2' --max-fn 0.5 --judged kept.tsv --certificate two.tsv
    check "sheet: it is still there" cmp -s before two.tsv
    run price some.h5 -o twice.h5
    expect "results replace results" 0 '' price some.h5 -o twice.h5
    expect "a sheet does not replace results" 2 'twice.h5: .*give another name, or move it' price some.h5 --sheet 15 -o twice.h5
    cp two.tsv moved.tsv && : >two.tsv
    expect "sheet: it was moved" 0 '' price some.h5 --sheet 15 -o two.tsv
}

# The options of relevance are those of mine, for the settings, the sheet and what follows from it; what was judged before is in no sheet.
test_relevance() {
    with_python "relevance" || return 0
    "$python" - <<'P'
import json, random
r = random.Random(5)
with open('rq.tsv', 'w') as f: f.writelines(f'{r.gauss(0, 1)} {r.gauss(0, 1)} {r.gauss(0, 1)}\n' for _ in range(60))
rows = [[r.gauss(0, 1) for _ in range(3)] for _ in range(150)]
rows += rows[:50]  # copies under other ids
with open('rp.tsv', 'w') as f: f.writelines(' '.join(map(str, x)) + '\n' for x in rows)
with open('rq.jsonl', 'w') as f: f.writelines(json.dumps({'_id': f'q{i}', 'text': f'ask {i}'}) + '\n' for i in range(60))
with open('rp.jsonl', 'w') as f: f.writelines(json.dumps({'_id': f'p{i}', 'text': f'text {i % 150}'}) + '\n' for i in range(200))
with open('rk.txt', 'w') as f:
    for q in range(60):
        chosen = r.sample(range(200), 60)
        f.writelines(f'q{q} 0 p{p} {2 if k == 0 else 1 if k < 4 else 0}\n' for k, p in enumerate(chosen))
P
    expect "relevance: import" 0 '' import --queries rq.tsv --corpus rp.tsv --query-ids rq.jsonl --corpus-ids rp.jsonl --qrels rk.txt --truth rk.txt -o rel.h5
    local options
    while read -r options; do
        run price rel.h5 -n 3 --depth 60 --sheet 60 -o rel.tsv $options
        cp out said
        check "relevance $options: pairs without a verdict" "$python" - $options <<'P'
import collections, csv, sys
grade = {tuple(line.split()[::2][:2]): int(line.split()[3]) for line in open('rk.txt')}
best = collections.defaultdict(lambda: -1)
apart = 'apart' in sys.argv
key = lambda p: p if apart else f'p{int(p[1:]) % 150}'
for (q, p), g in grade.items(): best[q, key(p)] = max(best[q, key(p)], g)
rows = list(csv.DictReader(open('rel.tsv'), delimiter='\t'))
assert len(rows) == 60 and not any((r['query'], key(r['passage'])) in best for r in rows)
if 'merge' in sys.argv: assert all(int(r['passage'][1:]) < 150 for r in rows)
said = open('said').read()
assert 'more were judged not relevant before and need no verdict' in said and ' '.join(sys.argv[1:]) in said, said
P
        sed '1!s/$/0/' rel.tsv >rel0.tsv
        expect "relevance $options: the sheet is read again" 0 'estimated from 60 judged pairs .*; [0-9]+ more were judged not relevant before' \
            price rel.h5 -n 3 --depth 60 --judged rel0.tsv $options
    done <<'F'
--equal-texts filter
--equal-texts merge --min-grade 2
--equal-texts apart --self both
F
    expect "relevance: of another sheet" 3 'give the --depth, --step and options of relevance of the sheet' price rel.h5 -n 3 --depth 60 --judged rel0.tsv --min-grade 2
    expect "relevance: --for has its own" 2 'as all options of mine' price rel.h5 --for '-n 3' --min-grade 2
    # Every negative of rank 1 to 3 that a verdict decides needs none, and counts as not false.
    run price rel.h5 --for '-n 3 --min-grade 2' --json
    cp out for.json
    expect "certify: what was judged before" 0 'Of them [0-9]+ were judged before and need no verdict, [0-9]+ were not' price rel.h5 --for '-n 3 --min-grade 2' --sheet 30 -o forsheet.tsv
    run mine rel.h5 -n 3 --min-grade 2 -o rel.jsonl
    pycheck "certify: known pairs are in no sheet, and in the number" "import json, csv
said = json.load(open('for.json'))
grade = {tuple(line.split()[::2][:2]): int(line.split()[3]) for line in open('rk.txt')}
judged = {(q, f'p{int(p[1:]) % 150}') for q, p in grade}
pairs = [(l['query_id'], p) for l in map(json.loads, open('rel.jsonl')) for p in l['neg_id']]
known = sum((q, f'p{int(p[1:]) % 150}') in judged for q, p in pairs)
assert said['decided'] == known > 20 and said['negatives'] == len(pairs), (said, known, len(pairs))
assert not any((r['query'], f'p{int(r[\"passage\"][1:]) % 150}') in judged for r in csv.DictReader(open('forsheet.tsv'), delimiter='\t'))"
    sed '1!s/$/0/' forsheet.tsv >for0.tsv
    expect "certify: the limit is of all negatives" 0 'Shown: at most 30 %' price rel.h5 --for '-n 3 --min-grade 2' --judged for0.tsv --max-fn 0.3 --certificate rel.json
    expect "certify: nothing is left to judge" 0 'No more pairs are to be judged: next.tsv is not written' price rel.h5 --for '-n 3 --min-grade 2' --judged for0.tsv --max-fn 0.3 --sheet 30 -o next.tsv
    check "certify: no empty sheet" test ! -e next.tsv
    expect "certify: what was judged before alone shows it" 0 'Shown: at most 99 %' price rel.h5 --for '-n 3 --min-grade 2' --max-fn 0.99
    run mine rel.h5 -n 3 --min-grade 2 -o rel.jsonl --certificate rel.json
    check "certify: mine finds the same negatives" test -e rel.jsonl.certificate.json
}

# Nothing in a sheet is a formula for a spreadsheet, and what is marked is found again.
test_sheet_formulas() {
    with_python "formulas" || return 0
    "$python" - <<'P'
import json, numpy as np
g = np.random.default_rng(1)
np.save('fq.npy', g.standard_normal((4, 8)).astype('f4'))
np.save('fp.npy', g.standard_normal((12, 8)).astype('f4'))
texts = ['=HYPERLINK(1)', '+1+cmd', '@SUM(1)', ' -1+1', '\x07+2', '\x1b[2J\x9bx', '\x1b=1+1', '\x85\t-2']
open('fp.jsonl', 'w').write(''.join(json.dumps({'_id': f'=p{i}', 'text': texts[i % len(texts)] + str(i)}) + '\n' for i in range(12)))
open('fr.tsv', 'w').write(''.join(f'{i}\t=p{2 * i}\t1\n' for i in range(4)))
P
    run import --queries fq.npy --corpus fp.npy --corpus-ids fp.jsonl --qrels fr.tsv -o formulas.h5
    expect "sheet of formulas" 0 '' price formulas.h5 -n 2 --sheet 12 -o formulas.tsv
    pycheck "no cell is a formula, or holds a control character" "
import re
for line in open('formulas.tsv', encoding='utf-8').read().split('\\n')[1:-1]:
    for cell in line.split('\\t'):
        assert not re.match(r'\"? *[=+@-]', cell) and not re.search('[\\x00-\\x1f\\x7f-\\x9f]', cell), line"
    sed '2,$s/$/0/' formulas.tsv >filled.tsv
    expect "marked ids are found" 0 'from 12 judged pairs' price formulas.h5 -n 2 --judged filled.tsv
}

# Ids and texts with quotes, blanks and control characters, and texts of one side alone.
test_odd_texts() {
    with_python "odd texts" || return 0
    "$python" - <<'P'
import json, numpy as np
g = np.random.default_rng(3)
np.save('oq.npy', g.standard_normal((4, 8)).astype('f4'))
np.save('op.npy', g.standard_normal((12, 8)).astype('f4'))
def put(name, ids, texts):
    open(name + '.jsonl', 'w').write(''.join(json.dumps({'_id': i, 'text': t}) + '\n' for i, t in zip(ids, texts)))
for name, form in ('quotes', 'p"%d"'), ('blanks', 'p %d'), ('bells', 'p\a%d'):
    ids = [form % i for i in range(12)]
    put(name, ids, [['a "quoted" text', 'plain', 'tab\tand\nline'][i % 3] + str(i) for i in range(12)])
    open(name + '.tsv', 'w').write(''.join(f'{i}\t{ids[2 * i]}\t1\n' for i in range(4)))
put('queries', ['q 0', 'q 1', 'q 2', 'q 3'], 'abcd')
open('plain.tsv', 'w').write(''.join(f'q {i}\t{2 * i}\t1\n' for i in range(4)))
P
    local name
    for name in quotes blanks bells; do
        run import --queries oq.npy --corpus op.npy --corpus-ids $name.jsonl --qrels $name.tsv -o $name.h5
    done
    run import --queries oq.npy --corpus op.npy --query-ids queries.jsonl --qrels plain.tsv -o plain.h5
    run price quotes.h5 -n 2 --sheet 12 -o quotes.tsv
    pycheck "sheet: quotes are doubled, and line ends are blanks" "
import csv
rows = list(csv.reader(open('quotes.tsv', newline=''), delimiter='\t'))
texts = {f'p\"{i}\"': ['a \"quoted\" text', 'plain', 'tab and line'][i % 3] + str(i) for i in range(12)}
assert len(rows) == 13 and all(r[5] == texts[r[2]] for r in rows[1:]) and {len(r) for r in rows} == {7}
assert '\"a \"\"quoted\"\" text' in open('quotes.tsv').read()"
    sed '2,$s/$/0/' quotes.tsv >filled.tsv
    expect "quoted ids are found" 0 'from 12 judged pairs' price quotes.h5 -n 2 --judged filled.tsv
    expect "sheet: no control character in an id" 3 'bells.h5: the id .* has a tab, a line end or another control character' \
        price bells.h5 -n 2 --sheet 12 -o bells-sheet.tsv
    check "sheet: none is written then" test ! -e bells-sheet.tsv
    expect "run: no blank in a passage" 3 'none.run: the id "p [0-9]+" holds a blank, which a run of TREC cannot' mine blanks.h5 -n 2 -o none.run
    expect "run: no blank in a query" 3 'none.trec: the id "q 0" holds a blank' mine plain.h5 -n 2 -o none.trec
    check "run: none is written then" test ! -e none.run -a ! -e none.trec
    expect "texts of passages alone" 0 'quotes.h5: has no texts of queries: query holds ids' mine quotes.h5 -n 2 -o one.jsonl
    expect "texts of queries alone" 0 'plain.h5: has no texts of passages: pos and neg hold ids' mine plain.h5 -n 2 -o other.jsonl
    expect "format that wants both" 3 'plain.h5: has no texts of passages, which --format triplet holds' mine plain.h5 -n 2 --format triplet -o no.jsonl
    expect "pairs: texts of queries alone" 0 'has no texts of passages: passage holds ids' mine plain.h5 --filter-by scores --relative-margin 0.05 --emit-pairs pairs.jsonl
    expect "pairs in place of negatives" 2 'emit-pairs writes pairs in place of negatives' mine plain.h5 --emit-pairs no.jsonl --scores s.npy
    expect "pairs without a certificate" 2 'emit-pairs writes pairs in place of negatives' mine plain.h5 --emit-pairs no.jsonl --certificate c.json
    expect "pairs without scores" 2 'emit-pairs writes pairs in place of negatives' mine plain.h5 --emit-pairs no.jsonl --output-scores
    printf '0 Q0 %s 1 .5 x\n' 'p"1"' >run.trec
    printf '0\t%s\t.5\n' 'p"1"' >added.tsv
    expect "fuse or rank" 2 'fuse and --rank-by both order candidates' mine quotes.h5 -n 2 --candidates run.trec --fuse --rank-by scores --add-scores added.tsv -o no.jsonl
    expect "fuse what" 2 'fuse goes with --candidates' mine quotes.h5 -n 2 --fuse -o no.jsonl
    # A query without a positive has no tuple, and a blank in an id is none in a run.
    printf 'q 0\tp"0"\t1\n' >few.tsv
    run import --queries oq.npy --corpus op.npy --query-ids queries.jsonl --corpus-ids quotes.jsonl --qrels few.tsv -o few.h5
    printf '%s Q0 p"3" 1 .5 x\n' q_0 q_1 >few.trec
    expect "tuples of queries with positives" 0 'tuples.jsonl: 2 negatives of 1 query; 3 queries left out' mine few.h5 -n 2 --format n-tuple -o tuples.jsonl
    expect "queries that the run spells otherwise" 3 'few.trec: line 1: .*q_0' mine few.h5 -n 2 --candidates few.trec -o no.jsonl
    expect "quota of no number" 2 'quota' mine quotes.h5 --candidates run.trec --quota x -o no.jsonl
}

# A passage without words has a row of zeros: refused, or kept with a cosine of 0 to every query, at every door.
test_zero_rows() {
    with_python "zero rows" || return 0
    "$python" - <<'P'
import json, numpy as np
g = np.random.default_rng(2)
q, p = g.standard_normal((12, 6)).astype('f4'), g.standard_normal((40, 6)).astype('f4')
p[[7, 31]] = 0
q[4] = 0
for name, x in (('zq', q), ('zp', p), ('later', p[::-1].copy()), ('bad', np.where(np.arange(240).reshape(40, 6) == 9, np.nan, p).astype('f4'))):
    np.save(name, x)
open('zr.tsv', 'w').write(''.join(f'{i}\t{i + 2}\t1\n' for i in range(12)))
P
    local from=(import --queries zq.npy --corpus zp.npy --qrels zr.tsv)
    expect "zero rows: refused" 3 'zq.npy: row 4 is all zeros, .*--zero-rows keep' "${from[@]}" -o zero.h5
    expect "zero rows: are not left out" 2 'give --zero-rows keep' "${from[@]}" --zero-rows skip -o zero.h5
    expect "zero rows: NaN is not kept" 3 'bad.npy: row 1 holds NaN' import --queries zq.npy --corpus bad.npy --qrels zr.tsv --zero-rows keep -o zero.h5
    expect "zero rows: kept" 0 'zp.npy: 2 rows are zero and stay, row 7 the first' "${from[@]}" --zero-rows keep -o zero.h5
    check "zero rows: those of queries are counted, too" complains 'zq.npy: 1 row is zero and stays, row 4'
    expect "zero rows: validated" 0 '' validate zero.h5
    expect "zero rows: a further step" 0 '2 rows are zero' import --queries zq.npy --corpus later.npy --zero-rows keep --step 5 -o zero.h5
    "${hardneg}" "${from[@]}" --zero-rows keep -o first.h5 -q
    expect "zero rows: mined" 0 '' mine first.h5 -n 30 --depth 40 -o zero.npy --scores zero-scores.npy
    expect "zero rows: evaluated" 0 '' evaluate first.h5
    expect "zero rows: priced" 0 '' price first.h5 -n 5
    expect "zero rows: batches are drawn" 0 '' sample first.h5 --sampler uniform --batch-size 4 -o zero-batches.npy
    HARDNEG_LIBRARY=$(dirname "$hardneg")/libhardneg.so PYTHONPATH=$root/python pycheck "zero rows: NumPy and Python agree" "import numpy as np, hardneg
q, p, known = np.load('zq.npy'), np.load('zp.npy'), [[i + 2] for i in range(12)]
unit = lambda x: x / np.maximum(np.linalg.norm(x.astype('f8'), axis=1, keepdims=True), 1e-300)
cos = unit(q) @ unit(p).T
ids, scores = np.load('zero.npy'), np.load('zero-scores.npy')
for i in range(12):
    cos[i, i + 2] = -9
    assert np.allclose(np.sort(cos[i])[::-1][:30], scores[i], atol=1e-6), i
    assert set(scores[i][np.isin(ids[i], [7, 31])]) <= {0.0}
found = hardneg.mine(q, p, known, zero_rows='keep', negatives=30, depth=40)
assert (found.ids == ids).all() and (found.scores == scores).all()
for zero in ('refuse', 'skip'):
    try: hardneg.mine(q, p, known, zero_rows=zero)
    except ValueError as e: assert 'row 4 is all zeros' in str(e) or 'refuse' in str(e), e
    else: raise AssertionError"
}

# Batches of tuples, against NumPy and in every command that draws some.
test_tuples() {
    run synth --kind retrieval -o many.h5 --n 3000 --queries 700 --dim 24 --steps 2 --force
    expect "sample" 0 '11 batches of 64 \(1 short.*, 1 epoch, uniform' sample many.h5 --sampler '{uniform: {no_duplicates: true}}' --batch-size 64 -o order.npy
    expect "sample: negatives" 0 'anchors with up to 3 negatives' sample many.h5 --sampler '{mined: {n: 3, exclude: labels}}' -o lists.jsonl
    expect "choose" 0 'false negatives' choose many.h5 --batch-size 32 --max-fn 0.5 --seeds 1 --checks 1
    expect "choose: relevance is known" 2 'has relevance, and false negatives are counted' choose many.h5 --batch-size 32 --max-fn 0.5 --classes 5
    make_files
    printf '7 0 b 0\n' >none.txt
    run import "${files[@]}" --qrels none.txt -o none.h5
    expect "no known pair" 3 'none.h5: no pair .* is known to be relevant' sample none.h5 --sampler uniform --batch-size 2 -o no.npy
    run synth -o i.h5 --n 50 --force
    expect "items are no tuples" 4 'pairs of queries and passages' sample i.h5 --sampler '{gcbs: {keep_apart: true}}' --batch-size 8 -o no.npy
    printf 'version: 1\nsnapshots: [many.h5]\nsteps: [100]\nsamplers: [uniform, {gcbs: {keep_apart: true}}, mined, jest]\nbatch_size: 32\nbatches: 20\nseeds: [1, 2]\nmetrics: [all, prop1, heatmap]\n' >job.yaml
    local t
    for t in 1 3; do expect "run, $t threads" 0 '' run -c job.yaml -o "run$t" --threads $t; done
    check_same "run: the same for any threads" run1/results.h5 run3/results.h5
    expect "report" 0 '' report run1 -o tuples.html
    with_python "batches of tuples against NumPy" || return 0
    mkdir -p numpy && cd numpy || return
    check "batches of tuples against NumPy" "$python" "$here/tuples.py" "$hardneg" 2>"$work/err"
    expect "report: relevance is complete" 0 '' report all -o all.html
    expect "report: known relevance" 0 '' report known -o known.html
    pycheck "the page: plain Uniform is the baseline; known relevance is said" "import h5py, re
r, all, known = h5py.File('all/results.h5')['runs'], open('all.html').read(), open('known.html').read()
plain = [i for i, p in enumerate(r['params'].asstr()[:]) if p == 'draw=shuffle']
said = float(re.search(r'Uniform</b>: hardness [^,]*, false negatives ([0-9.]+)', all).group(1))
assert abs(said - 100 * r['fn_ratio'][plain[0]]) < .06, (said, r['fn_ratio'][plain[0]])
assert 'known positives alone' in known and 'known positives alone' not in all"
    cd ..
}

# Two trials are what two sheets, drawn, filled in and read, give.
test_trials() {
    run synth --kind retrieval -o many.h5 --n 3000 --queries 700 --dim 24 --steps 1 --force
    local seed
    expect "trials without a sheet" 2 '--trials goes with --sheet N' price many.h5 --trials 2
    expect "trials to a file" 2 '--trials goes with --sheet N' price many.h5 --trials 2 --sheet 200 -o no.tsv
    expect "trials without the truth" 3 'has no /truth' price r.h5 -n 1 --depth 3 --trials 2 --sheet 10
    expect "trials" 0 'estimates from 2 sheets of 200 pairs' price many.h5 --trials 2 --sheet 200 --seed 5
    expect "trials of one limit" 0 ' 90.000  +100.0  +0.0' price many.h5 --trials 2 --sheet 200 --seed 5 --max-fn 0.9
    with_python "trials" || return 0
    run price many.h5 --trials 2 --sheet 200 --seed 5 --threads 1 --json
    mv out trials.json
    run price many.h5 --trials 2 --sheet 200 --seed 5 --threads 4 --json
    check "trials: threads do not matter" cmp -s out trials.json
    for seed in 5 6; do
        run price many.h5 --sheet 200 --seed $seed -o "drawn$seed.tsv"
        judge "drawn$seed.tsv" "filled$seed.tsv"
        run price many.h5 --judged "filled$seed.tsv" --seed $seed --json
        mv out "by$seed.json"
    done
    run price many.h5 --json
    pycheck "trials: as by two sheets" "import json
read = lambda name: {s['setting']: s for s in json.load(open(name))['settings']}
for limit in json.load(open('trials.json'))['limits']:
    assert 0 <= limit['above'] <= limit['recommended'] <= 1 and (limit['hardness'] is None) == (limit['recommended'] == 0)
trials, truth, one, two = map(read, ('trials.json', 'out', 'by5.json', 'by6.json'))
assert set(trials) == set(truth) and any(t['holds'] == 1 for t in trials.values())
near = lambda a, b: abs(a - b) < 1e-12
for name, t in trials.items():
    p, a, b = truth[name]['false_negatives'], one[name], two[name]
    assert t['truth'] == p
    if p is None:
        assert t['mean'] is None and t['holds'] is None
        continue
    assert near(t['mean'], (a['false_negatives'] + b['false_negatives']) / 2)
    for key, of in (('error', 'false_negatives'), ('model', 'model')):
        assert near(t[key], (((a[of] - p) ** 2 + (b[of] - p) ** 2) / 2) ** .5), (name, key)
    for end in ('lo', 'hi'):
        assert near(t[end], (a['false_' + end] + b['false_' + end]) / 2)
    assert t['holds'] == sum(s['false_lo'] <= p <= s['false_hi'] for s in (a, b)) / 2"
}

# sentence-transformers' function as somebody else wrote it again, on random cases.
test_reference() {
    local folder=$root/../shared/retrieval library
    library=$(dirname "$hardneg")/libhardneg.so
    with_python "sentence-transformers' function" || return 0
    [ -e "$folder/st_reference.py" ] && [ -e "$library" ] ||
        { skip "sentence-transformers' function" "no ../shared/retrieval or no $library"; return 0; }
    check "600 cases of sentence-transformers' function" env OMP_NUM_THREADS=1 HARDNEG_LIBRARY="$library" \
        "$python" "$here/mining_reference.py" "$folder" 600 >out 2>err
}

test_threads() {
    run synth --kind retrieval -o many.h5 --n 3000 --queries 700 --dim 24 --steps 1 --force
    local t
    for t in 1 2 4; do
        run mine many.h5 --preset flagembedding --threads $t -o "t$t.trec" --quiet
    done
    check "threads: the same bytes" cmp -s t1.trec t2.trec
    check "four threads: the same bytes" cmp -s t1.trec t4.trec
    check "other seeds draw others" test "$("$hardneg" mine many.h5 --preset flagembedding --seed 2 -o u.trec -q; cmp -s t1.trec u.trec; echo $?)" = 1
}

run_tests "${2:-}" test_import test_import test_published test_json_dialects test_parts test_step test_refused test_pairs test_synth test_mine test_candidates test_sources test_output_scores test_listed_scores test_emit_pairs test_evaluate test_evaluate_ties test_per_query test_against test_evaluate_run test_dim test_overlap test_price test_price_page test_price_export test_sheet test_sheet_filled test_certify test_certify_runs test_certify_model test_relevance test_sheet_formulas test_odd_texts test_zero_rows test_trials test_tuples test_reference test_threads
finish
