#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Formats of `hardneg import`: `tests/import.sh PROGRAM [WORD]`; with a word only tests whose name contains it.
. "$(dirname "$0")/lib.sh"
begin import "${1:-build/hardneg}"

# The rows that a snapshot holds, as directions, are those of tests/format_files.py; so are labels and their names.
same_rows="import h5py, numpy as np, sys
sys.path.insert(0, sys.argv[1])
import format_files as ff
unit = lambda x: x / np.linalg.norm(x.astype('f8'), axis=-1, keepdims=True)
with h5py.File(sys.argv[2]) as f:
    assert np.array_equal(f['labels'], ff.LABELS), f['labels'][:]
    names = f['labels'].attrs.get('label_names')
    assert names is None or list(names) == ff.NAMES, names
    assert f['embeddings'].shape == (1, ff.N, ff.D) and np.abs(unit(f['embeddings'][0]) - unit(ff.rows())).max() < 1e-12"

test_every_format() {
    with_python "formats" || return
    "$python" "$here/format_files.py" . >ways
    run list formats --json
    check "every format has a file" "$python" -c "import json
known = {f['name'] for f in json.load(open('out'))['formats']}
made = {line.split()[0] for line in open('ways')}
assert known == made, known ^ made"
    local kind words n=0
    while read -r kind words; do
        n=$((n + 1))
        # shellcheck disable=SC2086 # words are wanted
        expect "import $words" 0 'step 0, 24 items, 4 dims' import $words -o "way$n.h5"
        check "$kind: $words: rows and labels" "$python" -c "$same_rows" "$here" "way$n.h5" 2>>err
        expect "$kind: $words: valid" 0 '' validate "way$n.h5"
    done <ways
    check "texts have names" "$python" -c "import h5py
assert any('label_names' in h5py.File(f'way{n}.h5')['labels'].attrs for n in range(1, $n + 1))"
    for kind in $("$python" -c "print(*{line.split()[0] for line in open('ways')})"); do
        check "docs name $kind" grep -q "^| \`$kind\` " "$root/docs/guide/importing.md"
    done
}

test_standard_input() {
    with_python "standard input" || return
    local file options
    while read -r file options; do
        # shellcheck disable=SC2086 # words are wanted
        "$hardneg" import -e - $options -l y.npy -o piped.h5 >out 2>err < <(cat "$file")
        check "$file from a pipe" "$python" -c "$same_rows" "$here" piped.h5
        rm -f piped.h5
    done <<'F'
x.npy
vectors.tsv
x.f4 --raw float32 --dim 4
deflated.npz --tensor x
many.safetensors --format safetensors --tensor half
F
    "$hardneg" import -e - -o no.h5 >out 2>err < <(:)
    rc=$?
    ended "standard input: empty" 3 'standard input: is empty'
    expect "standard input: a device" 3 'standard input: cannot be read: it is a device' import -e - -o no.h5
    "$hardneg" import -e - -l y.npy -o no.h5 >out 2>err < <(head -c 200 x.npy)
    rc=$?
    ended "standard input: cut short" 3 'standard input: '
    "$hardneg" import -e - -o no.h5 >out 2>err < <(cat train.hdf5)
    rc=$?
    ended "standard input: HDF5" 3 'standard input: hdf5 cannot be read from a pipe; give the file'
    check "no file came of them" test ! -e no.h5
}

# What is wrong is said with the file, and what there is to choose from.
test_refused() {
    with_python "refused" || return
    local code pattern words
    "$python" -c "import numpy as np, json, struct
np.save('truth.npy', np.eye(4, dtype=bool)); np.save('wide.npy', np.ones((3, 5), 'f4')); np.save('huge.npy', np.ones((600, 600), 'f4'))
np.save('latin.npy', np.array([b'k\xe4se', b'brot'] * 12)); np.save('other.npy', np.array(['ant', 'yak'] * 12)); open('text.xyz', 'w').write('1 2\n'); open('ragged.tsv', 'w').write('1 2\n3\n')
open('words.tsv', 'w').write('1 2\n3 four\n'); open('nul.tsv', 'wb').write(b'1 2\n\0\n'); open('table.tsv', 'w').write('a\tb\n1\n')
open('one.tsv', 'w').write('a\nb\n'); np.save('empty.npy', np.ones((3, 0), 'f4'))
open('empty.npz', 'wb').write(b'PK\5\6' + bytes(18)); data = bytearray(open('stored.npz', 'rb').read()); data[300] ^= 1
open('flipped.npz', 'wb').write(data); open('names.txt', 'w').write('bee\nant\ncow\n'); open('counted.tsv', 'w').write('0\tbee\n1\tant\n2\tcow\n')
open('qrels3.tsv', 'w').write('q1\tp1\t1\nq2\tp2\t1\n'); open('twice.txt', 'w').write('bee\nant\nbee\n'); open('gap.txt', 'w').write('bee\n\ncow\n')
for name, offsets in ('outside', [0, 999]), ('negative', [-4, 0]), ('short', [0, 4]):
    h = json.dumps({'x': {'dtype': 'F32', 'shape': [2, 2], 'data_offsets': offsets}}).encode()
    open(name + '.safetensors', 'wb').write(struct.pack('<Q', len(h)) + h + bytes(16))
open('long.safetensors', 'wb').write(b'\xff' * 40); open('x.u8bin', 'ab').write(b'1')"
    while read -r code pattern words; do
        # shellcheck disable=SC2086 # words are wanted
        expect "import $words" "$code" "${pattern//_/ }" import $words -o no.h5
    done <<'F'
3 deflated.npz:.*--tensor:_x,_narrow$ -e deflated.npz
3 there_is_no_'z'.*x,_y -e stored.npz --tensor z
3 has_1_dimension; -e y.npy
3 checksum -e flipped.npz --tensor x
3 is_an_empty_archive -e empty.npz
3 'odd'_is_none_of -e many.safetensors --tensor odd
3 half,_brain -e many.safetensors
3 'x'_lies_outside -e outside.safetensors
3 'x'_lies_outside -e negative.safetensors
3 another_number -e short.safetensors
3 not_a_safetensors -e long.safetensors
3 says_it_has_24_rows -e x.u8bin
3 line_2:_value_2_is_missing -e ragged.tsv
3 line_2:_value_2_is_not_a_number:_four -e words.tsv
3 there_is_no_column_'b',_as_its_first_line_names_none -e x.npy -l one.tsv --label-tensor b
3 empty.npy:_its_rows_are_empty -e empty.npy
3 zero_byte -e nul.tsv
2 --tensor_x:_x.npy_does_not_hold_several -e x.npy --tensor x
3 there_is_no_'test';_it_holds_train -e train.hdf5 --tensor test
2 does_not_hold_several -e vectors.tsv --view2 x.npy --tensor x
2 --label-tensor_y:_y.npy_does_not_hold_several -e x.npy -l y.npy --label-tensor y
2 --label-tensor_y_names_an_array_in_the_file_of_--labels,_which_is_missing -e x.npy --label-tensor y
3 word,_kind -e x.npy -l metadata.tsv
3 line_2:_has_no_column_2 -e x.npy -l table.tsv --label-tensor b
3 text\.xyz:_neither -e text.xyz
3 not_a_whole_number_of_rows -e x.f4 --raw float32 --dim 5
2 need_--raw -e x.f4 --format raw
2 need_--raw -e x.f4 --raw float32
3 holds_truth_values -e truth.npy
3 rows_of_5_values -e x.npy -e wide.npy
3 y0.npy_has_10_labels -e x.npy -l y0.npy
3 parts_hold_the_same -e x.npy -l y0.npy -l texts.npy
3 latin.npy:_the_text_of_row_0_is_not_printable_UTF-8 -e x.npy -l latin.npy
3 qrels3.tsv:_has_3_columns;_give_a_file_of_names_alone -l texts.npy --label-names qrels3.tsv -e x.npy
3 qrels3.tsv:_has_3_columns;_give_a_file_of_names_alone -l y.npy --label-names qrels3.tsv --label-tensor 2 -e x.npy
3 twice.txt:_classes_0_and_2_have_the_same_name,_'bee' -e x.npy -l y.npy --label-names twice.txt
3 gap.txt:_the_name_of_class_1_is_empty -e x.npy -l y.npy --label-names gap.txt
3 'yak'_of_row_1_is_not_in -e x.npy -l other.npy --label-names names.txt
70 huge.npy:.*memory_limit -e huge.npy --memory 1M
F
    check "nothing came of them" test ! -e no.h5
    expect "views without a name beside rows with one" 0 '' import -e deflated.npz --view2 x.npy --tensor x -o mixed.h5
    expect "texts by a list of names" 0 '' import -e x.npy -l texts.npy --label-names names.txt -o listed.h5
    "$python" -c "import numpy as np; np.save('long.npy', np.array(['a' + 'ж' * 60] * 24))"
    expect "a long text is quoted in whole letters" 3 "'a(ж){28}\.\.\.' of row 0" import -e x.npy -l long.npy --label-names names.txt -o long.h5
    expect "names behind their numbers" 0 "labels are the column '2'" import -e x.npy -l texts.npy --label-names counted.tsv -o counted.h5
    expect "with the same numbers" 0 'bee, ant, cow' info counted.h5
    pycheck "texts are numbered by the list" "import h5py
f = h5py.File('listed.h5')['labels']
assert list(f[:3]) == [1, 0, 2] and list(f.attrs['label_names']) == ['bee', 'ant', 'cow']"
    expect "texts are the same under other numbers" 0 '' import -e x.npy -l texts.npy --step 1 -o listed.h5
    expect "other texts are not" 3 "'yak' of row 1 differs from 'bee'" import -e x.npy -l other.npy --step 2 -o listed.h5
}

# Rows without direction: refused, or left out of everything; a later step takes the rows that the file has.
test_zero_rows() {
    with_python "zero rows" || return
    "$python" -c "import numpy as np
x = np.load('x.npy'); np.save('x2.npy', x); np.save('first.npy', x[:2]); x[3] = 0; np.save('last.npy', x[2:]); x[7, 2] = np.nan; np.save('holes.npy', x); np.save('none.npy', 0 * x)
v = np.load('x2.npy'); v[5, 0] = np.inf; np.save('view.npy', v)"
    expect "zero rows: refused" 3 'holes.npy: row 3 is all zeros, so cosine is undefined; .*--zero-rows skip' import -e holes.npy -l y.npy -o holes.h5
    expect "zero rows: of one part of several" 3 'last.npy: row 1 is all zeros' import -e first.npy -e last.npy -l y.npy -o holes.h5
    expect "zero rows: of a view" 3 'view.npy: row 5 holds infinity' import -e x.npy -l y.npy --view2 view.npy -o holes.h5
    expect "zero rows: left out" 0 '3 of 24 rows have no direction .*row 3 the first' \
        import -e holes.npy -l texts.npy --view2 view.npy --zero-rows skip -o holes.h5
    expect "zero rows: the same rows again" 0 '' import -e x.npy -l texts.npy --view2 x.npy --zero-rows skip --step 5 -o holes.h5
    pycheck "zero rows: the others are in their places" "import h5py, numpy as np
f, x, y, stay = h5py.File('holes.h5'), np.load('x.npy'), np.load('y.npy'), np.delete(np.arange(24), [3, 5, 7])
assert list(f['sample']) == list(stay) and list(f['labels']) == list(y[stay])
for name in 'embeddings', 'view2': assert np.array_equal(f[name][:], [x[stay]] * 2)"
    expect "zero rows: not all" 3 'no row has a direction' import -e none.npy -l y.npy --zero-rows skip -o no.h5
    expect "zero rows: no other ones in a series" 3 'none.npy: row 0 is all zeros' import -e holes.npy -l texts.npy --view2 none.npy --zero-rows skip --step 9 -o holes.h5
    # Item 10 of the series is row 13 of the file, item 9 row 12: messages count as the file does.
    "$python" -c "import numpy as np
x = np.load('x2.npy'); x[13] = 0; np.save('later.npy', x)
y = np.load('texts.npy').copy(); y[12] = 'yak'; np.save('yak.npy', y)"
    expect "zero rows: a row by its number in the file" 3 'later.npy: row 13 is all zeros, so cosine is undefined; .*the same items' \
        import -e later.npy -l texts.npy --view2 x.npy --zero-rows skip --step 9 -o holes.h5
    expect "zero rows: a label, too" 3 "'yak' of row 12 differs" \
        import -e x.npy -l yak.npy --view2 x.npy --zero-rows skip --step 9 -o holes.h5
    mkdir -p g
    printf '# features=3\n0 1 0 2\n1 0\n2 1 1\n3 0 0 1\n' >g/a.features
    printf '0 1\n1 2\n2 3\n0 3\n' >g/a.edges
    printf '0 train\n1 val\n2 test\n3 none\n' >g/a.split
    expect "a node without features" 3 'g: row 1 is all zeros' import --linqs g -o g.h5
    expect "is left out" 0 '1 of 4 rows' import --linqs g --zero-rows skip -o g.h5
    pycheck "of graph, split and features too" "import h5py
f = h5py.File('g.h5'); l = lambda name: list(f[name][:])
assert l('sample') == [0, 2, 3] and l('labels') == [1, 1, 0] and l('split') == [0, 2, -1]
assert l('graph/indptr') == [0, 1, 2, 4] and l('graph/indices') == [2, 2, 0, 1]
assert l('features_csr/indptr') == [0, 2, 3, 5] and l('features_csr/indices') == [0, 2, 1, 0, 1]"
    expect "what is left is valid" 0 '' validate g.h5
    # Kept: their cosines are all 0.
    "$python" -c "import numpy as np
x = np.load('x2.npy'); np.save('nil.npy', 0 * x); x[::3] = 0; np.save('zeros.npy', x)"
    expect "zero rows: of NaN are not kept" 3 'row 7 holds NaN .*--zero-rows skip$' import -e holes.npy -l y.npy --zero-rows keep -o no.h5
    expect "zero rows: kept" 0 '8 rows are zero and stay, row 0 the first' import -e zeros.npy -l y.npy --view2 x.npy --zero-rows keep -o kept.h5
    "$python" -c "import numpy as np; x = np.load('x.npy'); x[5] = 0; np.save('zero.npy', x)"
    expect "one zero row: kept" 0 '1 row is zero and stays, row 5 the first' import -e zero.npy -l y.npy --zero-rows keep -o kept1.h5
    expect "zero rows: of a view, by its file" 0 'zeros.npy: 8 rows are zero and stay, row 0 the first' import -e x.npy -l y.npy --view2 zeros.npy --zero-rows keep -o kept2.h5
    expect "zero rows: of a part, by its file" 0 'zero.npy: 1 row is zero and stays, row 5 the first' import -e x.npy -e zero.npy --zero-rows keep -o kept3.h5
    expect "a file without zero rows" 0 '' import -e x.npy -l y.npy --view2 x.npy -o nonzero.h5
    expect "zero rows: of a later step" 0 'zeros.npy: 8 rows are zero' import -e zeros.npy -l y.npy --step 5 -o kept1.h5
    expect "zero rows: of a step of a file without" 3 'row 0 is all zeros.*; the file was made without --zero-rows keep' import -e zeros.npy -l y.npy --view2 x.npy --zero-rows keep --step 9 -o nonzero.h5
    expect "zero rows: of a teacher are refused" 3 'zeros.npy: row 0 is all zeros' import -e x.npy -l y.npy --teacher zeros.npy -o taught.h5
    expect "zero rows: of a teacher" 0 'zeros.npy: 8 rows are zero' import -e x.npy -l y.npy --teacher zeros.npy --zero-rows keep -o taught.h5
    expect "zero rows: of a teacher, read" 0 'taught.h5: valid' validate taught.h5
    expect "zero rows: of a teacher, sampled" 0 '' sample taught.h5 --sampler '{jest: {chunks: 2}}' -b 4 -o jest.npy
    expect "zero rows: of a teacher of a file without" 2 'was made without --zero-rows keep' import --teacher zeros.npy --zero-rows keep -o nonzero.h5
    expect "rows left out: by the file of the view" 0 'zeros.npy: 8 of 24 rows have no direction and are left out, row 0 the first' \
        import -e x.npy -l y.npy --view2 zeros.npy --zero-rows skip -o fewer.h5
    expect "rows left out: a teacher of all rows" 3 'x.npy has 24 rows but fewer.h5 has 16 items; .*--zero-rows skip again' import --teacher x.npy -o fewer.h5
    expect "rows left out: of a teacher, too" 0 'teacher added' import --teacher x.npy --zero-rows skip -o fewer.h5
    pycheck "and it has those that stay" "import h5py, numpy as np
f = h5py.File('fewer.h5'); x = np.load('x.npy')[f['sample'][:]]; t = np.reshape(f['teacher'], x.shape); assert np.allclose(t, x, rtol=1e-6)"
    expect "rows left out: a later step of all rows" 3 'has 16 items of .*--zero-rows skip again' import -e x.npy -l y.npy --view2 x.npy --step 9 -o fewer.h5
    expect "rows left out: a teacher without a direction" 3 'rows counted without those left out' import -e zero.npy -l y.npy --teacher zeros.npy --zero-rows skip -o fewest.h5
    expect "zero rows: all of a later step" 0 '' import -e nil.npy --view2 x.npy --step 3 -o kept.h5
    expect "zero rows: a file that keeps them is valid" 0 '' validate kept.h5
    expect "zero rows: and says so" 0 'zero rows *may be there' info kept.h5
    pycheck "zero rows: stored as they are" "import h5py, numpy as np
f = h5py.File('kept.h5'); assert f.attrs['zero_rows'] and np.array_equal(f['embeddings'][0], np.load('zeros.npy')) and not f['embeddings'][1].any()"
    printf '%s\n' 'version: 1' 'snapshots: kept.h5' 'batch_size: 4' 'batches: 6' 'samplers: [uniform, knn, {batchsampler: {M: 9, K: 4}}, gcbs,' \
        '  hard-negative, stratified, mosaic, {ngame: {cluster: 4}}, {osgd: {drawn: 9, kept: 3}}, {jest: {score: hard}}, {spectral: {clusters: 4}}, {mined: {n: 3}}, {ring: {space: embeddings}}]' >keeps.yaml
    expect "zero rows: every sampler has batches of them" 0 '' run -c keeps.yaml -o keeps --quiet
    expect "results of a run are no rows" 3 'keeps/results.h5: holds results of hardneg run, and is no snapshot; give it to report or compare' import -e keeps/results.h5 -o no.h5
    expect "nor a snapshot" 3 "holds results of hardneg run" sample keeps/results.h5 --sampler knn -b 4 -o no.npy
    pycheck "zero rows: and cosines of 0" "import h5py, numpy as np
f = h5py.File('keeps/results.h5')['runs']; last = f['step'][:] == 3
assert (f['status'][:] == b'ok').all(), f['error'][:]; assert (f['cos_mean'][:][last] == 0).all(), f['cos_mean'][:]; s = f['sampler'][:] != b'jest'  # its hardest items are the rows of zeros
assert (f['cos_mean'][:][~last & s] != 0).all(), f['cos_mean'][:]"
    expect "a node without features is kept" 0 '1 row is zero' import --linqs g --zero-rows keep -o nodes.h5
    expect "and is valid" 0 '4 items' validate nodes.h5
    check "no temporary file" none_temporary .
}

# Several labels an item: the same from texts, from numbers and from compressed rows; names; a further step.
test_several_labels() {
    with_python "several labels an item" || return 0
    "$python" - <<'END'
import numpy as np
rng = np.random.default_rng(3)
n, names = 40, np.array(["ant", "bee", "cat", "dog"])
x = rng.standard_normal((n, 4)).astype(np.float32)
rows = [sorted(rng.choice(4, k, replace=False)) for k in rng.integers(0, 4, n)]
rows[0] = [3]  # without the first row no other number
np.save("several.npy", x)
x[7] = 0
np.save("zero.npy", x)
start = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
np.savez("csr.npz", indptr=start, indices=np.concatenate(rows).astype(int), data=np.ones(start[-1]))
item = np.concatenate(rows).astype(int)
zeros = dict(indptr=2 * start, indices=np.stack([item, 3 - item], 1).ravel())  # an entry that is none behind each
for kind in ("f4", "u1", "b1", "f2"):
    np.savez(f"zeros-{kind}.npz", data=np.tile([0, 2][::-1], start[-1]).astype(kind), format=np.array(b"csr"), **zeros)
import h5py
with h5py.File("sparse.h5ad", "w") as f:
    for name, how, data in ("csr", "csr_matrix", zeros), ("truth", "csr_matrix", zeros), ("csc", "csc_matrix", zeros), ("other", "csr", zeros):
        for part, values in data.items():
            f[f"{name}/{part}"] = values
        f[name].attrs["h5sparse_format" if name == "other" else "encoding-type"] = how
        f[name + "/data"] = {"csr": np.tile([1.5, 0], start[-1]), "other": np.ones((3, 3, 3))}.get(name, np.tile([True, False], start[-1]))
for name in ("csc", "coo", "bsr", "dia"):
    np.savez(name + ".npz", indptr=start, indices=item, format=np.array(name if name == "bsr" else name.encode()))
np.savez("cooed.npz", row=item, col=item, data=item, format=np.array(b"coo"))
np.savez("words.npz", indptr=start, indices=item, data=np.array(["0"] * len(item)), format=np.array(b"csr"))
np.savez("bad.npz", indptr=start[::-1], indices=np.concatenate(rows).astype(int))
np.savez("short39.npz", indptr=start[:-1], indices=np.concatenate(rows).astype(int)[:start[-2]])
np.save("start.npy", start)
open("texts.tsv", "w").writelines(" | ".join(names[r][::-1]) + "\n" for r in rows)
open("numbers.tsv", "w").writelines(";".join(str(k) for k in r) + "\n" for r in rows)
open("four.txt", "w").writelines(name + "\n" for name in names)
open("three.txt", "w").writelines(name + "\n" for name in names[:3])
open("ones.tsv", "w").writelines("1\n" for r in rows)
open("below.tsv", "w").writelines("-1;2\n" for r in rows)
END
    local kind code pattern words
    expect "texts" 0 '' import -e several.npy -l texts.tsv --label-separator '|' -o texts.h5
    expect "numbers, with names" 0 '' import -e several.npy -l numbers.tsv --label-separator ';' --label-names four.txt -o numbers.h5
    expect "compressed rows" 0 '' import -e several.npy -l csr.npz --label-tensor indptr,indices -o csr.h5
    for kind in f4 u1 b1 f2; do
        expect "entries that are zero, $kind" 0 '' import -e several.npy -l "zeros-$kind.npz" --label-tensor indptr,indices -o "zeros-$kind.h5"
    done
    expect "entries of AnnData that are zero" 0 '' import -e several.npy -l sparse.h5ad --label-tensor csr/indptr,csr/indices -o anndata.h5
    expect "entries of truth values" 0 '' import -e several.npy -l sparse.h5ad --label-tensor /truth/indptr,/truth/indices -o truth.h5
    expect "a cube named data" 0 '' import -e several.npy -l sparse.h5ad --label-tensor other/indptr,other/indices -o other.h5
    expect "texts named data" 0 '' import -e several.npy -l words.npz --label-tensor indptr,indices -o words.h5
    expect "without a row" 0 '' import -e zero.npy -l texts.tsv --label-separator '|' --zero-rows skip -o zero.h5
    expect "a further step" 0 '' import -e several.npy -l texts.tsv --label-separator '|' -s 5 -o texts.h5
    expect "a further step of a part" 0 '' import -e zero.npy -l texts.tsv --label-separator '|' --zero-rows skip -s 5 -o zero.h5
    for kind in texts numbers csr zero zeros-f4 zeros-u1 zeros-b1 zeros-f2 anndata truth words; do
        expect "$kind: valid" 0 '4 classes and [0-9]* unlabelled' validate $kind.h5
    done
    pycheck "files hold the labels of every item, and their names" "import h5py, numpy as np
csr = np.load('csr.npz')
rows = [csr['indices'][a:b].tolist() for a, b in zip(csr['indptr'], csr['indptr'][1:])]
for name in ('texts', 'numbers', 'csr', 'zero', 'zeros-f4', 'zeros-u1', 'zeros-b1', 'zeros-f2', 'anndata', 'truth', 'words'):
    file = h5py.File(name + '.h5')
    start, label = file['labels_csr/indptr'][()], file['labels_csr/indices']
    kept = rows if name != 'zero' else rows[:7] + rows[8:]
    assert 'labels' not in file and [label[a:b].tolist() for a, b in zip(start, start[1:])] == kept, name
    assert name not in ('texts', 'numbers', 'zero') or list(label.attrs['label_names']) == ['ant', 'bee', 'cat', 'dog'], name"
    expect "info says it" 0 'classes *4, [0-9]* items unlabelled, several an item: ant, bee, cat, dog' info texts.h5
    expect "negatives are counted by any label" 0 "of them have the anchor's label" sample csr.h5 --sampler mined -b 8 -o order.npy
    while read -r code pattern words; do
        # shellcheck disable=SC2086 # words are wanted
        expect "import $words" "$code" "${pattern//_/ }" import -e several.npy $words -o no.h5
    done <<'F'
3 offsets_of_the_labels -l bad.npz --label-tensor indptr,indices
3 csc.npz:_holds_a_sparse_matrix_in_the_layout_csc;_labels_are_those_of_its_rows,_in_csr:_save_it_with_.tocsr -l csc.npz --label-tensor indptr,indices
3 layout_coo;.*tocsr -l coo.npz --label-tensor indptr,indices
3 layout_coo;.*tocsr -l cooed.npz --label-tensor indptr,indices
3 layout_bsr;.*tocsr -l bsr.npz --label-tensor indptr,indices
3 layout_dia;.*tocsr -l dia.npz --label-tensor indptr,indices
3 sparse.h5ad:_.*layout_csc;.*tocsr -l sparse.h5ad --label-tensor csc/indptr,csc/indices
3 has_39_labels -l short39.npz --label-tensor indptr,indices
2 in_one_file -l csr.npz -l csr.npz --label-tensor indptr,indices
3 there_is_no_'nothing' -l csr.npz --label-tensor indptr,nothing
3 one_for_each_row -l start.npy --label-separator ;
3 label_-1_of_row_0 -l below.tsv --label-separator ;
3 name_every_class -l numbers.tsv --label-separator ; --label-names three.txt
3 'dog'_of_row_0_is_not_in -l texts.tsv --label-separator | --label-names three.txt
F
    check "nothing came of them" test ! -e no.h5
    expect "other labels at a later step" 3 'labels of row 0 differ' import -e several.npy -l ones.tsv -s 9 -o texts.h5
    pycheck "a file of both kinds" "import h5py, numpy as np
with h5py.File('csr.h5', 'a') as file: file['labels'] = np.zeros(40, int)"
    expect "is refused" 3 'both /labels and /labels_csr' validate csr.h5
}

# A teacher's rows and groups: with a new file, and added to one.
test_extras() {
    with_python "a teacher and groups" || return
    "$python" -c "import numpy as np
r = np.random.default_rng(1); t = r.normal(size=(24, 3)).astype('f4'); np.save('t.npy', t); np.save('few.npy', t[:9])
t[4] = 0; np.save('t0.npy', t); x = np.load('x.npy'); x[2] = 0; np.save('hole.npy', x)
open('group.txt', 'w').write('web\nbook\nnews\nbook\n' * 6); np.save('minus.npy', np.arange(-1, 23))
np.save('alone.npy', np.repeat([0, 1, 2], [1, 11, 12]))"
    expect "with a class of one item" 0 '' import -e x.npy -l alone.npy -o alone.h5
    check "says that it is never a false negative" complains 'an item alone in its class is never a false negative'
    "$python" -c "
import numpy as np
y = np.load('y.npy').astype('f8'); y[3:9] = np.nan; np.save('unknown.npy', y)"
    expect "labels that are unknown" 0 '' import -e x.npy -l unknown.npy -o unknown.h5
    check "import tells how many" complains '^classes +[0-9]+, 6 items unlabelled$'
    expect "with a new file" 0 '' import -e x.npy -l y.npy --teacher t.npy --group group.txt -o extra.h5
    check "import tells sizes of classes" complains '^class sizes +smallest'
    check "and of no item alone" eval '! complains "alone in its class"'
    expect "info names them" 0 '' info extra.h5
    check "with dimensions" grep -q 'also holds.* group, teacher (3 dims)' out
    expect "valid" 0 '' validate extra.h5
    expect "rows left out" 0 'left out' import -e hole.npy -l y.npy --teacher t.npy --group group.txt --zero-rows skip -o hole.h5
    expect "a file without" 0 '' import -e x.npy -l y.npy -o plain.h5
    expect "gets groups" 0 'groups added' import --group group.txt -o plain.h5
    expect "and a teacher" 0 'teacher added' import --teacher t.npy -o plain.h5
    expect "once" 2 'has a /teacher already' import --teacher t.npy -o plain.h5
    expect "not with a step" 2 'with a new file, or alone' import -e x.npy --step 1 --teacher t.npy -o plain.h5
    expect "a step keeps them" 0 '' import -e x.npy --step 1 -o plain.h5
    pycheck "what was given" "import h5py, numpy as np
t = np.load('t.npy')
for name in 'extra.h5', 'plain.h5':
    f = h5py.File(name); assert np.array_equal(f['teacher'][:], t) and list(f['group'][:4]) == [2, 0, 1, 0]
f = h5py.File('hole.h5'); assert np.array_equal(f['teacher'][:], np.delete(t, 2, 0)) and list(f['group'][:3]) == [2, 0, 0]"
    expect "a snapshot as a teacher" 0 'has 2 steps, of which the last, 1, is read' import -e t.npy -l y.npy --teacher plain.h5 -o by-snapshot.h5
    pycheck "its last step" "import h5py, numpy as np
assert np.array_equal(h5py.File('by-snapshot.h5')['teacher'][:], np.load('x.npy'))"
    expect "no snapshot as embeddings" 3 'is a snapshot already' import -e plain.h5 -o no.h5
    expect "too few rows" 3 'few.npy has 9 rows but x.npy has 24' import -e x.npy -l y.npy --teacher few.npy -o no.h5
    expect "too few for the file" 3 'few.npy has 9 rows but hole.h5 has 23' import --teacher few.npy -o hole.h5
    expect "a zero row" 3 't0.npy: row 4 is all zeros' import -e x.npy -l y.npy --teacher t0.npy -o no.h5
    expect "a negative group" 3 'minus.npy: group -1 of row 0' import -e x.npy -l y.npy --group minus.npy -o no.h5
    expect "no file to add to" 2 'embeddings is missing' import --teacher t.npy -o no.h5
    check "no file is left" test ! -e no.h5
    check "no temporary file" none_temporary .
}

# Labels, rows and groups in texts as many programs write them.
test_texts() {
    with_python "texts" || return
    mkdir -p texts && cd texts || return
    check "texts of other programs" "$python" "$here/import_texts.py" "$hardneg"
    cd ..
}

# Groups, links, enumerations, arrays the other way round.
test_hdf5() {
    with_python "HDF5" || return
    mkdir -p hdf5 && cd hdf5 || return
    check "HDF5 of other programs" "$python" "$here/import_hdf5.py" "$hardneg"
    cd ..
}

# Data sets of a snapshot that are elsewhere: refused, and the remedy for links helps.
test_elsewhere() {
    with_python "data sets elsewhere" || return
    expect "a snapshot" 0 '' import -e x.npy -l texts.npy -o whole.h5
    "$python" -c "import h5py, shutil
for name, link in ('soft', lambda f: h5py.SoftLink('/kept')), ('far', lambda f: h5py.ExternalLink('whole.h5', 'labels')):
    shutil.copy('whole.h5', name + '.h5')
    with h5py.File(name + '.h5', 'a') as f:
        f.move('labels', 'kept')
        f['labels'] = link(f)
with h5py.File('raw.h5', 'w') as f, h5py.File('whole.h5') as g:
    for name in g.attrs: f.attrs[name] = g.attrs[name]
    for name in g: g.copy(name, f)
    del f['labels']
    f.create_dataset('labels', (24,), 'i4', external=[('raw.i4', 0, 96)])[:] = g['labels'][:]
shutil.copy('whole.h5', 'inside.h5')
with h5py.File('inside.h5', 'a') as f:
    f['graph'] = [1, 2]"
    local name
    for name in soft far; do
        expect "$name: a link" 3 "$name.h5: data set /labels is a soft or external link.* f.copy\(f\[name\], 'new'\), del f\[name\], f.move\('new', name\)" validate $name.h5
        "$python" -c "import h5py
with h5py.File('$name.h5', 'a') as f:
    name = 'labels'
    f.copy(f[name], 'new'); del f[name]; f.move('new', name)"
        expect "$name: put in its place" 0 'valid' validate $name.h5
    done
    expect "values in a file of their own" 3 'raw.h5: data set /labels keeps its values in other files.*; h5repack -l /labels:CONTI' validate raw.h5
    [ -z "$(command -v h5repack)" ] || check "h5repack brings them in" eval 'h5repack -l /labels:CONTI raw.h5 in.h5 && "$hardneg" validate in.h5'
    expect "a data set in the place of a group" 3 'data set /graph/ind[a-z]* cannot be there: what is to be its group is a data set' validate inside.h5
}

# What importers and readers refuse, or take with a note.
test_refusals() {
    with_python "refusals" || return
    mkdir -p refused && cd refused || return
    check "every refusal says what is wrong" "$python" "$here/import_refused.py" "$hardneg"
    cd ..
}

# The same arrays and labels through every format, and through Python.
test_doors() {
    with_python "formats and Python" || return
    local library
    library=$(dirname "$hardneg")/libhardneg.so
    [ -e "$library" ] || { skip "formats and Python" "no libhardneg.so beside the program"; return; }
    mkdir -p doors && cd doors || return
    check "one digest, or one refusal" env HARDNEG_LIBRARY="$library" "$python" "$here/import_doors.py" "$hardneg"
    cd ..
}

run_tests "${2:-}" test_every_format test_every_format test_standard_input test_refused test_zero_rows test_several_labels test_extras test_texts test_hdf5 test_elsewhere test_refusals test_doors
finish
