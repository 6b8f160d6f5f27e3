#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that are larger than the memory: `tests/memory.sh PROGRAM`. Sparse snapshots of 2^31 - 1 items, of 2^31 - 1
# dimensions and of 2^16 x 2^16, under 256 MiB: every command that reads snapshots refuses them in a sentence, or does
# without, and takes no more than the limit; and texts and results of as many lines, or rows, that no machine holds. And
# of queries over a corpus that is larger: it is read in blocks.
source "$(dirname "$0")/lib.sh"
begin memory "$1"
limit=256MiB
peak_max=$((200 * 1024)) # KiB of the process, of a refusal

with_python "memory" || { finish; exit; }
"$python" - <<'P'
import h5py
import numpy as np


def put(f, path, shape, kind):
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    p.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    h5py.h5d.create(f.id, path.encode(), h5py.h5t.py_create(np.dtype(kind)), h5py.h5s.create_simple(shape), dcpl=p)


for name, n, d in (("tall", 2**31 - 1, 1), ("wide", 2, 2**31 - 1), ("square", 2**16, 2**16), ("some", 2**24, 1)):
    with h5py.File(f"{name}.h5", "w") as f:
        f.attrs["schema"], f.attrs["schema_version"], f["step"] = "hardneg-snapshot", 1, [0]
        put(f, "embeddings", (1, n, d), "f4")
        put(f, "labels", (n,), "i4")
    with h5py.File(f"{name}-array.h5", "w") as f:
        put(f, "x", (n, d), "f4")
    with h5py.File(f"{name}-pairs.h5", "w") as f:
        f.attrs["schema"], f.attrs["schema_version"], f.attrs["kind"], f["step"] = "hardneg-snapshot", 2, "retrieval", [0]
        f["qrels/indptr"], f["qrels/indices"] = [0, 1, 1], [0]
        put(f, "queries", (1, 2, d), "f4")
        put(f, "corpus", (1, n, d), "f4")
with h5py.File("late.h5", "w") as f:
    f.attrs["schema"], f.attrs["schema_version"], f["step"] = "hardneg-snapshot", 1, [0]
    f["embeddings"], f["labels"] = np.ones((1, 2**21, 1), "f4"), np.zeros(2**21, "i4")
    f["embeddings"][0, 2**20 + 5] = 0
np.save("one.npy", np.ones((3, 1), "f4"))
P
[ "$(du -sk . | cut -f 1)" -lt 100000 ] || { skip "memory" "the disk has no sparse files"; finish; exit; }
printf 'version: 1\nsnapshots: @.h5\nsamplers: [uniform, knn]\nbatch_size: 8\nbatches: 3\nsteps: [0]\nmetrics: [fn_ratio]\nfigures: none\n' >job.yaml

# @ is the name of the file.
commands=('info @.h5' 'validate @.h5' 'sample @.h5 --sampler uniform -o new.npy' 'choose @.h5 --max-excess 2' 'run -c @.yaml -o new --dry-run'
    'run -c @.yaml -o new' 'import -e @-array.h5 -o new.h5' 'import -e one.npy -l @.h5 --label-tensor labels -o new.h5'
    'validate @-pairs.h5' 'mine @-pairs.h5 -o new.jsonl' 'evaluate @-pairs.h5' 'price @-pairs.h5' 'overlap @-pairs.h5 @-pairs.h5')
refused() { # NAME COMMAND
    local peak
    # shellcheck disable=SC2086 # words are wanted
    timeout -k 5 10 /usr/bin/time -f %M -o peak "$hardneg" ${2//@/$1} --memory "$limit" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
    peak=$(tail -n 1 peak)
    check "$1: $2: refused with $rc" test $rc = 2 -o $rc = 3 -o $rc = 70
    check "$1: $2: in words" complains 'memory limit|limit is 256 MiB|the extent|must be|labels but|too many|no step|more than|is all zeros|has no texts'
    check "$1: $2: $peak KiB" test "$peak" -lt $peak_max
}
test_refused() {
    local name c
    [ -x /usr/bin/time ] || { skip "peaks" "no /usr/bin/time"; return 0; }
    for name in tall wide square; do
        sed "s/@/$name/" job.yaml >$name.yaml
        for c in "${commands[@]}"; do
            [ "$name:$c" = "square:info @.h5" ] || refused $name "$c" # it says what it can
        done
    done
    check "nothing came of them" test -z "$(find . -path './new*' -type f)"
}
# Texts of 8 GiB that are holes: their first line never ends.
test_texts() {
    local c
    truncate -s 8G text.tsv text.jsonl
    "$python" -c "import numpy as np; np.save('ones.npy', np.ones((4, 3), 'f4'))"
    printf '0\t1\t1\n' >qrels.tsv
    for c in '--qrels text.tsv' '--qrels text.jsonl' '--pairs text.jsonl' '--pairs text.tsv' '--qrels qrels.tsv --query-ids text.jsonl' \
        '--qrels qrels.tsv --corpus-ids text.tsv' '--qrels qrels.tsv --scores text.tsv'; do
        # shellcheck disable=SC2086 # words are wanted
        /usr/bin/time -f %M -o peak "$hardneg" import --queries ones.npy --corpus ones.npy $c -o new.h5 >"$work/out" 2>"$work/err"
        rc=$?
        check "$c: refused with $rc" test $rc = 3
        check "$c: in words" complains 'text.(tsv|jsonl): (line 1: )?(holds a zero byte|.*MiB)'
        check "$c: $(tail -n 1 peak) KiB" test "$(tail -n 1 peak)" -lt $peak_max
    done
}
# Results whose tables say that they have 2^31 - 1 rows: all columns are held against the limit before one is read.
test_results() {
    local c
    [ -x /usr/bin/time ] || { skip "peaks" "no /usr/bin/time"; return 0; }
    expect "data" 0 '' synth -n 60 --dim 4 --steps 1 -o few.h5
    printf 'version: 1\nsnapshots: few.h5\nsamplers: [uniform, knn]\nbatch_size: 8\nbatches: 3\nmetrics: [fn_ratio]\nfigures: none\n' >few.yaml
    expect "results" 0 '' run -c few.yaml -o few
    "$python" - <<'P'
import h5py

with h5py.File("few/results.h5") as few, h5py.File("vast.h5", "w") as vast:
    def enlarge(name, item):
        if isinstance(item, h5py.Group):
            made = vast.require_group(name)
        elif item.shape and item.dtype.kind in "fi":
            p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            p.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
            p.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
            shape = (2**31 - 1, *item.shape[1:])
            made = h5py.Dataset(h5py.h5d.create(vast[item.parent.name].id, name.split("/")[-1].encode(), item.id.get_type(), h5py.h5s.create_simple(shape), p))
        else:
            made = vast.create_dataset(name, data=item[()], dtype=item.dtype)
        made.attrs.update(item.attrs)

    vast.attrs.update(few.attrs)
    few.visititems(enlarge)
P
    for c in 'compare vast.h5 few/results.h5' 'compare few/results.h5 vast.h5' 'report vast.h5 -o new.html' 'export vast.h5 --csv -o new.csv' 'plot vast.h5 -o new' \
        'merge vast.h5 few/results.h5 -o new.h5' 'board vast.h5' "board vast.h5 --memory $limit" 'paper vast.h5 -o new' \
        'reproduce --all --results vast.h5 -o new'; do
        # shellcheck disable=SC2086 # words are wanted
        timeout -k 5 20 /usr/bin/time -f %M -o peak "$hardneg" $c >"$work/out" 2>"$work/err" </dev/null
        rc=$?
        check "$c: refused with $rc" test $rc = 70
        check "$c: in words" complains 'memory limit of .* does not allow .*(what this machine has|control group|raise --memory)'
        check "$c: $(tail -n 1 peak) KiB" test "$(tail -n 1 peak)" -lt $peak_max
    done
    check "nothing came of them" test -z "$(find . -path './new*' -type f)"
}
# 16.8 million equal items: their rows are counted where memory allows it.
test_equal_rows() {
    expect "info counts none where it may not" 0 'equal rows are not counted, for want of memory' info some.h5 --memory 500MiB
    expect "info --json" 0 '' info some.h5 --memory 500MiB --json
    check "and gives null" says '"equal_rows": *null'
}
# Rows are read in blocks of 4 MiB.
test_rows() {
    expect "info stops at a row that is none" 0 'square.h5: row 0 is all zeros' info square.h5 --memory "$limit"
    expect "validate names one of a later block" 3 'late.h5: .* row 1048581 is all zeros' validate late.h5
}

# A corpus of 98 MiB as floats under 96 MiB, of the whole process: it is read in blocks, and what comes of it is the same.
make_corpus() {
    "$python" - <<'P'
import h5py
import numpy as np

r = np.random.default_rng(7)
q, p = 300, 200000
x = r.standard_normal((p, 128), "f4").astype("f2")
x[p // 2 :: 5000] = x[: p // 2 : 5000]  # equal scores, far from each other
x[17] = 0
for name in ("large", "nan", "zero"):
    with h5py.File(f"{name}.h5", "w") as f:
        f.attrs["schema"], f.attrs["schema_version"], f.attrs["kind"], f["step"] = "hardneg-snapshot", 2, "retrieval", [0]
        f.attrs["zero_rows"] = np.int8(name != "zero")
        f["queries"] = (x[100 : 100 + q].astype("f4") + r.standard_normal((q, 128), "f4"))[None].astype("f2")
        f.create_dataset("corpus", data=x[None], **({"chunks": (1, 1000, 128)} if name == "large" else {}))
        f["qrels/indptr"], f["qrels/indices"] = np.arange(q + 1), r.permutation(p)[:q]
        if name == "nan":
            f["corpus"][0, 150017, 5] = np.nan
with open("bm25.trec", "w") as f:
    for i in range(q):
        for k, passage in enumerate(r.choice(p, 20, replace=False)):
            f.write(f"{i} Q0 {passage} {k + 1} {20 - k} x\n")
P
}
blocks=('mine large.h5 -n 5 --relative-margin .2 --fill draw -o @.jsonl' 'mine large.h5 --dim 96 --filter-by model -o @.npy --scores @.scores'
    'mine large.h5 -n 3 --candidates bm25.trec --quota 3 -o @.trec --seed 2' 'evaluate large.h5 --k 1,10 --self id --per-query @.tsv --json' 'price large.h5 -n 3 --json'
    'price large.h5 --for "-n 2 --min-rank 4" --json --sheet 9 -o @.sheet')
in_blocks() { # NAME MEMORY...: the outputs of all commands, and the largest peak
    local name=$1 c i=0 peak=0
    shift
    for c in "${blocks[@]}"; do
        i=$((i + 1))
        c="${c//@/same}"
        rm -rf same.*
        eval "/usr/bin/time -f %M -o peak \"$hardneg\" $c --threads 2 $*" >"$work/out" 2>"$work/err" </dev/null
        rc=$?
        check "$name: $c: done" test $rc = 0
        [ "$(tail -n 1 peak)" -le "$peak" ] || peak=$(tail -n 1 peak)
        cat <(sed 's/; [^;]* of data at most//' out) same.* 2>/dev/null | sha256sum >"$name.$i"
    done
    echo "$peak" >"$name.peak"
}
test_blocks() {
    local i
    [ -x /usr/bin/time ] || { skip "peaks" "no /usr/bin/time"; return 0; }
    make_corpus
    in_blocks whole
    in_blocks blocks --memory 96MiB
    for i in $(seq ${#blocks[@]}); do
        check "${blocks[i - 1]}: the same in blocks" cmp -s "whole.$i" "blocks.$i"
    done
    check "in blocks: at most 96 MiB: $(cat blocks.peak) KiB" test "$(cat blocks.peak)" -le $((96 * 1024))
    check "in memory it is more: $(cat whole.peak) KiB" test "$(cat whole.peak)" -gt $((96 * 1024))
    expect "a row that is not finite" 3 'nan.h5: data set /corpus, .* row 150017 is not finite \(NaN at column 5\)' mine nan.h5 -o no.jsonl --memory 96MiB
    expect "a zero row" 3 'zero.h5: data set /corpus, .* row 17 is all zeros' evaluate zero.h5 --memory 96MiB
    expect "no place for anything" 2 'the program itself takes up to 40 MiB with 2 threads' price large.h5 --memory 40MiB --threads 2
    expect "too little" 70 'raise --memory, of which the program itself has a part' mine large.h5 --memory 41MiB --threads 2 -o no.jsonl
    check "nothing came of them" test ! -e no.jsonl
}
# The same corpus in parts is imported in blocks.
test_import() {
    local same="import h5py, sys
a, b = (h5py.File(f'{name}.h5')['corpus'] for name in ('large', 'new'))
assert a.dtype == b.dtype and (a[:] == b[:]).all()"
    [ -x /usr/bin/time ] || { skip "peaks" "no /usr/bin/time"; return 0; }
    make_corpus
    "$python" -c "import h5py, numpy as np
with h5py.File('large.h5') as f:
    np.save('queries.npy', f['queries'][0])
    for k in range(12):
        np.save(f'corpus-{k}.npy', f['corpus'][0][k * 17000 : (k + 1) * 17000])
open('qrels.tsv', 'w').write('0\\t5\\t1\\n')"
    /usr/bin/time -f %M -o peak "$hardneg" import --queries queries.npy --corpus 'corpus-*.npy' --qrels qrels.tsv --zero-rows keep --type float16 \
        --memory 64MiB -o new.h5 >"$work/out" 2>"$work/err"
    check "import in blocks" test $? = 0
    check "import in blocks: $(tail -n 1 peak) KiB" test "$(tail -n 1 peak)" -le $((64 * 1024))
    check "import in blocks: the same corpus" "$python" -c "$same"
}

run_tests "${2:-}" "" test_refused test_texts test_results test_equal_rows test_rows test_blocks test_import
finish
