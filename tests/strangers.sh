#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Files that are not what they should be: `tests/strangers.sh PROGRAM`. Every command that reads a file says what it got
# instead, in the same words, with the remedy, and writes nothing.
source "$(dirname "$0")/lib.sh"
begin strangers "$1"

printf 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n' >lfs
printf '\037\213\010\000\000\000\000\000rest' >gzip
printf '\050\265\057\375\004\000rest of a frame' >zstd
printf '\3757zXZ\000\000\004rest' >xz
printf 'BZh91AY&SYrest' >bzip2
printf 'PK\003\004rest of an archive' >zip
printf '7z\274\257\047\034rest' >seven
printf '\004\042\115\030rest' >lz4
printf 'PAR1\025\004rest' >parquet
printf 'ARROW1\000\000rest' >arrow
printf 'SQLite format 3\000rest' >sqlite
printf '%%PDF-1.5\nrest' >pdf
printf '\200\004\225\020\001\000\000\000\000\000\000rest' >pickle
printf 'PK\003\004\000\000\000\010\000\000\000\000\000\000\001\000\000\000\001\000\000\000\001\000\000\000\015\000\000\000x/data.pklrest' >torch
: >empty
printf '<!DOCTYPE html>\n<html><body>Sign in</body></html>\n' >page
printf '<HTML><head><title>403</title>' >error
mkdir folder
printf 'some text\n' >text
"$hardneg" synth --kind retrieval -o r.h5 --n 60 --queries 10 --dim 4 --quiet || exit 1
"$hardneg" synth -o s.h5 --n 60 --dim 4 --steps 1 --quiet || exit 1
printf 'version: 1\nsnapshots: s.h5\nsamplers: [uniform]\nbatch_size: 8\nbatches: 3\nsteps: [0]\nmetrics: [fn_ratio]\nfigures: none\n' >job.yaml
"$hardneg" run -c job.yaml -o whole --quiet || exit 1

declare -A words=([lfs]='lfs: is a pointer of Git LFS, not the file itself; get it with git lfs pull'
    [gzip]='gzip: is compressed \(gzip\): unpack it, with gunzip -k' [zstd]='zstd: is compressed \(zstd\): unpack it, with unzstd'
    [xz]='xz: is compressed \(xz\): unpack it, with unxz -k' [bzip2]='bzip2: is compressed \(bzip2\): unpack it'
    [zip]='zip: (is compressed \(zip\): unpack it, with unzip|is not a whole zip archive)' [empty]='empty: is empty; make or copy it again'
    [seven]='seven: is compressed \(7z\)' [lz4]='lz4: is compressed \(lz4\): unpack it, with unlz4' [parquet]='parquet: is a table of columns .*numpy.save'
    [arrow]='arrow: is a table of columns' [sqlite]='sqlite: is a data base' [pdf]='pdf: is a PDF' [pickle]='pickle: is a pickle .*numpy.save'
    [torch]='torch: is a file of PyTorch.*numpy.save'
    [page]='page: is a web page' [error]='error: is a web page' [folder]='folder(/results.h5)?: (is|cannot be opened: it is) a folder|folder/results.h5: cannot be opened: No such file'
    [text]='text: (is not an HDF5 file; other formats are read by import|neither its name nor its first bytes)')

# @ is the file.
binary=('compare @ whole' 'compare whole @' 'info @' 'validate @' 'report @' 'plot @ -o new' 'paper @ -o new' 'export @ --csv' 'evaluate @'
    'mine @ -o new.jsonl' 'price @' 'choose @ --max-excess 2' 'overlap @ r.h5' 'merge @ whole -o new.h5' 'sample @ --sampler uniform -o new.npy'
    'run -c job.yaml -o new --set snapshots=@' 'reproduce bs-fig4 --data @ -o new' 'import -e @ -o new.h5' 'board @' 'board @ -o new.html' 'sheet @ --texts text -b 8 -o new.html')
text=('run -c @ -o new' 'train -c @ -o new' 'import -e s.npy -l @ -o new.h5' 'import --queries q.npy --corpus p.npy --qrels @ -o new.h5'
    'import --format npy -e @ -o new.h5' 'price r.h5 --judged @' 'mine r.h5 -o new.jsonl --certificate @'
    'mine r.h5 --candidates @ -o new.jsonl' 'evaluate r.h5 --run @')
# Job files, whose reader knows what else there is.
job=('run -c @ -o new' 'train -c @ -o new' 'run -c @ --dry-run')

told() { # FILE COMMAND: refused, with the words of the file
    # shellcheck disable=SC2086 # words are wanted
    run ${2//@/$1}
    check "$1: $2: exit code $rc" test "$rc" = 3 -o "$rc" = 2
    check "$1: $2: in words" complains "${words[$1]}"
}
test_binary() {
    local file c
    for file in lfs gzip zstd xz bzip2 seven lz4 parquet arrow sqlite pdf pickle torch zip empty page error folder text; do
        for c in "${binary[@]}"; do
            case $file:$c in folder:reproduce*) ;; *) told $file "$c" ;; esac # which takes a folder of data
        done
    done
    check "nothing came of them" test -z "$(find . -path './new*' -type f)"
}
test_text() {
    local file c
    with_python "texts" || return 0
    "$python" -c "import numpy as np
for name, n in (('s', 6), ('q', 4), ('p', 9)): np.save(name, np.eye(n, 5, dtype='f4') + 1)"
    for file in lfs gzip zstd xz bzip2; do
        for c in "${text[@]}"; do told $file "$c"; done
    done
    check "nothing came of them" test -z "$(find . -path './new*' -type f)"
}

test_jobs() {
    local file c
    printf '\211HDF\r\n\032\nrest of a file' >hdf5
    words[hdf5]='hdf5: is an HDF5 file, not text; a job names snapshots under'
    words[empty]='empty:1:1: the job file is empty'
    words[folder]='folder: the job file cannot be opened: it is a folder; give a regular file'
    for file in page error empty folder hdf5 parquet arrow sqlite pdf pickle torch zip seven lz4; do
        for c in "${job[@]}"; do told $file "$c"; done
    done
    check "nothing came of them" test -z "$(find . -path './new*' -type f)"
}
# Tables of pairs: what is none is refused at its first line, or as a whole.
test_pairs() {
    local file c
    words[page]='page: line 1: has 2 columns; wanted are query, passage and score'
    words[empty]='empty: holds no pair'
    words[folder]='folder: cannot be opened: it is a folder'
    words[text]='text: line 1: has 2 columns; wanted are query, passage and score'
    for file in page empty folder text; do
        for c in 'mine r.h5 --candidates @ -o new.jsonl' 'evaluate r.h5 --run @'; do told $file "$c"; done
    done
    check "nothing came of them" test -z "$(find . -path './new*' -type f)"
}

run_tests "${2:-}" "" test_binary test_text test_jobs test_pairs
finish
