#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What can go wrong outside the program: `tests/faults.sh PROGRAM`. A disk that fills up, folders that cannot be
# written, files that cannot be read, damaged files, files that point elsewhere, texts that try to be commands.
# Always: an exit code of the contract, a sentence for people, and what was there before is there after.
source "$(dirname "$0")/lib.sh"
begin faults "$1"
export LIMIT=120

job() { # SNAPSHOT [SAMPLERS]: a small job on standard output
    printf 'version: 1\nsnapshots: %s\nsamplers: %s\nbatch_size: 8\nbatches: 3\nsteps: [0]\n' "$1" \
        "${2:-[uniform, knn]}"
    printf '%s\n' 'metrics: [fn_ratio, histogram]' 'figures: none'
}
"$hardneg" synth -o s.h5 --n 80 --dim 8 --classes 4 --steps 1 --views 1 --quiet || exit 1
job s.h5 >job.yaml
job "$work/s.h5" >absolute.yaml
"$hardneg" run -c job.yaml -o whole --quiet || exit 1

# A file system of so many KiB of its own at ./disk, for the rest of this shell, which must be one that
# `unshare -rm` started.
make_disk() { mkdir -p disk && mount -t tmpfs -o "size=$1k" tmpfs disk 2>/dev/null; }
may_mount() { unshare -rm sh -c "mkdir -p '$work/disk' && mount -t tmpfs tmpfs '$work/disk'" 2>/dev/null; }

# Runs the job on disks of many sizes, from one on which nothing fits to one on which all does. Then there is
# room again, and the same command goes on.
full_disks() {
    local size full=0 enough=0
    for size in 4 8 16 24 32 48 64 80 96 112 128 144 160 192 224 256 320 400 512; do
        make_disk $size || { echo "no disk"; return; }
        run run -c absolute.yaml -o disk/r --quiet
        ended "a disk of $size KiB" '0|74'
        if [ $rc = 0 ]; then enough=$((enough + 1)); else full=$((full + 1)); fi
        check "a disk of $size KiB: no temporary file" none_temporary disk
        [ $rc = 0 ] || check "a disk of $size KiB: no results" test ! -e disk/r/results.h5
        mount -o remount,size=20m disk
        run run -c absolute.yaml -o disk/r --quiet
        ended "a disk of $size KiB: with room again" 0
        umount disk
    done
    check "disks were full ($full times) and were not ($enough times)" test $full -gt 3 -a $enough -gt 0
}
# Values that fit into one chunk are written when their data set is closed: they are lost then, or nothing is.
full_disks_of_imports() {
    local size
    awk 'BEGIN { for (i = 0; i < 300; i++) for (k = 0; k < 16; k++) printf "%d.5%s", (7 * i + k * k * (i + 3)) % 19 - 9, k < 15 ? "\t" : "\n" }' >rows.tsv
    for size in 4 8 12 16 20 24 28 32 36 40 44 48; do
        make_disk $size || return
        run import --embeddings rows.tsv -o disk/m.h5
        ended "import to a disk of $size KiB" '0|74'
        check "import to a disk of $size KiB: all or nothing" test $rc = 0 -o -z "$(ls disk)"
        umount disk
    done
}
# Results that are there stay as they are while a larger run fills the disk.
full_disk_keeps() {
    make_disk 2048 || return
    run run -c absolute.yaml -o disk/r --quiet
    ended "a first run" 0
    cp disk/r/results.h5 old.h5
    cp disk/r/job.yaml old.yaml
    # All but a few KiB.
    head -c $(($(df --output=avail -B1 disk | tail -n 1) - ${1:-12288})) /dev/zero >disk/ballast
    run run -c absolute.yaml -o disk/r --quiet --set 'seeds=[2, 3, 4]'
    ended "the disk fills up" 74
    check "the old results are there" cmp -s disk/r/results.h5 old.h5
    check "the old job.yaml is there" cmp -s disk/r/job.yaml old.yaml
    check "no temporary file is" none_temporary disk
    run synth -o disk/s.h5 --n 3000 --dim 16 --quiet
    ended "synth on a full disk" 74
    check "synth on a full disk leaves nothing" test -z "$(find disk -name 's.h5*')"
    run plot disk/r/results.h5 -o disk/figures
    ended "plot on a full disk" '0|2|74'
    check "plot on a full disk leaves no folder of its own" none_temporary disk
    umount disk
}
# A figure is whole or not there, and so is one that is drawn again: gnuplot says nothing of a disk that is full.
full_disks_of_figures() {
    local size figure full=0
    command -v gnuplot >/dev/null || return
    "$hardneg" run -c absolute.yaml -o many --quiet --set 'seeds=[1, 2]' || return
    run plot whole --figure bs-fig4 -o old
    run plot many --figure bs-fig4 -o new
    for size in 28 32 36 40 44 48 52 56 60 64 68 72 76 80 200; do
        make_disk 400 || return
        mkdir disk/f
        cp old/bs-fig4.* disk/f/
        head -c $((400 * 1024 - size * 1024)) /dev/zero >disk/ballast 2>/dev/null
        run plot many --figure bs-fig4 -o disk/f
        ended "a figure, $size KiB free" '0|74'
        [ $rc = 0 ] || full=$((full + 1))
        for figure in tsv gp svg; do
            check "bs-fig4.$figure, $size KiB free: $([ $rc = 0 ] && echo new || echo old)" cmp -s disk/f/bs-fig4.$figure "$([ $rc = 0 ] && echo new || echo old)/bs-fig4.$figure"
        done
        check "a figure, $size KiB free: no temporary file" none_temporary disk
        umount disk
    done
    check "disks were full ($full times) and were not" test $full -gt 3 -a $full -lt 15
}
# Outputs of one command are one: on a disk that has space for the first of two, both stay as they were.
full_disk_keeps_pairs() {
    local spare f mine=(mine pairs.h5 -o disk/ids.npy --scores disk/scores.npy -q)
    "$hardneg" synth --kind retrieval -o pairs.h5 --n 400 --queries 100 --dim 8 --steps 1 --quiet || return
    for spare in 0 4096 16384 28672 36864; do # of two files of 16,128 bytes
        make_disk 256 || return
        run "${mine[@]}" -n 5
        ended "a pair" 0
        cp disk/ids.npy disk/scores.npy .
        head -c $(($(df --output=avail -B1 disk | tail -n 1) - spare)) /dev/zero >disk/ballast
        run "${mine[@]}" -n 20
        ended "a pair, $spare bytes free" "$([ $spare -lt 32768 ] && echo 74 || echo 0)"
        for f in ids.npy scores.npy; do check "$f, $spare bytes free: as it was, or with its twin" test $rc = 0 -o "$(cmp $f disk/$f 2>&1)" = ""; done
        check "a pair, $spare bytes free: no temporary file" none_temporary disk
        umount disk
    done
}
read_only_output() {
    make_disk 2048 || return
    run run -c absolute.yaml -o disk/r --quiet
    ended "a first run" 0
    find disk -type f -exec sha256sum {} + | sort >before
    mount -o remount,ro disk
    for c in "run -c absolute.yaml -o disk/r --quiet" "run -c absolute.yaml -o disk/new --quiet" \
        "synth -o disk/s.h5" "plot disk/r/results.h5 -o disk/figures" \
        "sample s.h5 --sampler uniform --batch-size 8 -o disk/o.npy"; do
        # shellcheck disable=SC2086 # words are wanted
        run $c
        ended "read-only: $c" '2'
    done
    find disk -type f -exec sha256sum {} + | sort >after
    check "read-only: nothing has changed" cmp -s before after
    mount -o remount,rw disk
    umount disk
}
if [ "${2:-}" = mounted ]; then # in a name space of its own, see below
    full_disks
    full_disks_of_imports
    full_disk_keeps
    full_disk_keeps 40960
    full_disk_keeps_pairs
    full_disks_of_figures
    read_only_output
    echo "$passed $failed"
    exit
fi

test_disks() {
    local result
    if ! may_mount; then
        skip "disks" "no file system can be mounted here (unshare -rm)"
        return
    fi
    result=$(unshare -rm bash "$here/faults.sh" "$hardneg" mounted) || true
    sed '$d' <<<"$result"
    read -r p f <<<"$(tail -n 1 <<<"$result")"
    passed=$((passed + ${p:-0}))
    failed=$((failed + ${f:-1}))
}

# Where nothing can be mounted: a limit on the size of files (of which 0 would silence the messages as well).
test_limits_on_files() {
    local blocks
    for blocks in 1 2 4 8 16 32 64; do
        rm -rf limited
        (ulimit -f $blocks; timeout 120 "$hardneg" run -c job.yaml -o limited --quiet >/dev/null 2>err)
        rc=$?
        ended "files of at most $blocks KiB" '0|74'
        check "files of at most $blocks KiB: no temporary file" none_temporary limited
    done
}

# Of other commands that write: all of them end with a sentence, and leave nothing.
test_limits_on_other_commands() {
    local c
    mkdir small
    for c in "synth -o small/s.h5" "sample s.h5 --sampler uniform --batch-size 8 --epochs 400 -o small/o.npy" "report whole -o small/p.html" \
        "export whole --csv -o small/e.csv" "merge whole -o small/m.h5" "compare whole whole --junit small/j.xml" "plot whole -o small/f"; do
        # shellcheck disable=SC2086 # words are wanted
        (ulimit -f 1; exec timeout 120 "$hardneg" $c >out 2>err </dev/null)
        rc=$?
        ended "files of at most 1 KiB: $c" '2|6|74'
        check "files of at most 1 KiB: $c: no temporary file" none_temporary small
    done
}

# A limit on addresses, as batch systems set it: OpenBLAS would ask for its buffers for ever. What multiplies nothing
# never loads it.
test_limits_on_addresses() {
    local c kib
    for kib in 100000 200000 300000; do
        for c in "--version" "--help" "list metrics" "validate s.h5" "info s.h5" "compare whole whole" "export whole"; do
            # shellcheck disable=SC2086
            (ulimit -v $kib; exec timeout 120 "$hardneg" $c >out 2>err </dev/null)
            rc=$?
            ended "$kib KiB of addresses: $c" 0
        done
        for c in "run -c job.yaml -o new" "sample s.h5 --sampler knn --batch-size 8 -o new.npy" "doctor --no-noise" "bench"; do
            # shellcheck disable=SC2086
            (ulimit -v $kib; exec timeout 120 "$hardneg" $c >out 2>err </dev/null)
            rc=$?
            check "$kib KiB of addresses: $c: refused" test $rc = 70
            check "$kib KiB of addresses: $c: says why" grep -q '^hardneg .*ulimit -v.*raise it' err
        done
    done
    (ulimit -v 800000; exec timeout 120 "$hardneg" run -c job.yaml -o addresses --threads 1 --quiet 2>err)
    check_same "800,000 KiB are enough" whole/results.h5 addresses/results.h5
    check "800,000 KiB: the results are there" test -s addresses/results.h5
}

# A limit of a control group, as of a container or a batch job: refused with a sentence, where the kernel would kill.
test_limits_on_the_stack() {
    (ulimit -s 64; exec timeout 60 "$hardneg" export whole >out 2>err </dev/null)
    rc=$?
    ended "a stack of 64 KiB" 2
    check "a stack of 64 KiB: says so" complains 'the stack is limited to 64 KiB'
    (ulimit -s 256; exec timeout 60 "$hardneg" export whole >out 2>err </dev/null)
    rc=$?
    ended "a stack of 256 KiB" 0
}
test_control_groups() {
    local c
    control_group 81920 || { skip "control groups" "none can be made here"; return; }
    "$hardneg" synth -o large.h5 --n 200000 --dim 64 --steps 1 --quiet
    job large.h5 '[uniform]' >large.yaml
    for c in "run -c large.yaml -o grouped" "run -c large.yaml -o grouped --memory 2GiB" "run -c large.yaml --dry-run" \
        "sample large.h5 --sampler uniform -b 64 -o o.npy" "choose large.h5" "validate large.h5" "info large.h5" \
        "synth -o l.h5 --n 400000 --dim 64 --steps 1"; do
        # shellcheck disable=SC2086 # words are wanted
        in_group "$hardneg" $c
        ended "in 80 MiB: $c" '0|2|3|70'
        check "in 80 MiB: $c: not killed, or says why" test "$rc" = 0 -o -n "$(grep 'control group' err)"
    done
    in_group "$hardneg" run -c absolute.yaml -o grouped --quiet
    ended "in 80 MiB: a small job" 0
    in_group "$hardneg" doctor --no-noise
    check "doctor tells" says '0.0781 GiB, the limit of the control group'
    wait_for 20 rmdir "$group" 2>/dev/null
}

test_unreadable() {
    cp s.h5 closed.h5
    cp job.yaml closed.yaml
    chmod 000 closed.h5 closed.yaml
    if [ -r closed.h5 ]; then # root may read everything, unless it gives that up
        if ! setpriv --bounding-set=-all --inh-caps=-all true 2>/dev/null; then
            skip "unreadable input" "root reads every file"
            return
        fi
        limited() { setpriv --reuid=65534 --regid=65534 --clear-groups "$hardneg" "$@"; }
        chmod 755 "$work"
    else
        limited() { "$hardneg" "$@"; }
    fi
    job closed.h5 >j.yaml
    chmod 644 j.yaml
    local c
    for c in "validate closed.h5" "info closed.h5" "run -c j.yaml -o /tmp/no-such-$$" \
        "sample closed.h5 --sampler uniform -o /tmp/no-such-$$" "plot closed.h5"; do
        # shellcheck disable=SC2086
        limited $c >out 2>err </dev/null
        rc=$?
        ended "unreadable: $c" 3
    done
    limited run -c closed.yaml -o "/tmp/no-such-$$" >out 2>err </dev/null
    rc=$?
    ended "unreadable job" 2
    check "nothing was made" test ! -e "/tmp/no-such-$$"
    chmod 644 closed.h5 closed.yaml
}

# Each damaged copy of a snapshot: refused, or it has the values that were written (a bit of a text attribute).
flipped() { # FILE COPY BYTE: a copy with one bit of this byte changed
    cp "$1" "$2"
    printf "\\x$(printf %02x $((0x$(od -An -tx1 -j "$3" -N 1 "$1" | tr -d " ") ^ (1 << ($3 % 8)))))" |
        dd of="$2" bs=1 seek="$3" conv=notrunc status=none
}
test_truncated() {
    local size percent
    for file in s.h5 whole/results.h5; do
        size=$(stat -c %s $file)
        for ((percent = 0; percent < 100; percent++)); do
            head -c $((size * percent / 100)) $file >cut.h5
            if [ $file = s.h5 ]; then run validate cut.h5; else run plot cut.h5 -o figures; fi
            ended "$file cut at $percent %" 3
        done
    done
}
places() { # SIZE COUNT: bytes spread over a file, the first and the last among them
    local i
    for ((i = 0; i < $2; i++)); do echo $((i * ($1 - 1) / ($2 - 1))); done
}
test_flipped_results() {
    local at size refused=0
    size=$(stat -c %s whole/results.h5)
    for at in $(places $((size - 86)) "$flips") $((size - 1)) $((size - 60)); do
        flipped whole/results.h5 bad.h5 "$at"
        run plot bad.h5 -o figures
        if [ "$at" = $((size - 1)) ]; then # of the seal itself, its last byte is not a digit
            ended "results with byte $at changed" '0|3'
        else
            ended "results with byte $at changed" 3
            refused=$((refused + 1))
        fi
    done
    check "flips in results were tried" test $refused -gt 10
}
# A damaged cell counts as missing.
test_flipped_cells() {
    local cell size at
    rm -rf again
    cp -r whole again
    cell=$(find again/cells -name '*.cell' | sort | head -n 1)
    cp "$cell" sound.h5
    size=$(stat -c %s sound.h5)
    for at in $(places $((size - 86)) "$flips"); do
        flipped sound.h5 "$cell" "$at"
        run run -c job.yaml -o again
        ended "a cell with byte $at changed" 0
        check "a cell with byte $at changed is run again" grep -q '(1 computed, ' err
    done
    check_same "and the results are the same" whole/results.h5 again/results.h5
}
# Bytes that no value depends on may change (there is slack in every HDF5 file); nothing else may.
test_flipped_snapshots() {
    local at size refused=0
    size=$(stat -c %s s.h5)
    job bad.h5 >bad.yaml
    for at in $(places "$size" "$flips"); do
        flipped s.h5 bad.h5 "$at"
        run validate bad.h5
        ended "validate: byte $at of a snapshot changed" '0|3'
        rm -rf bad
        run run -c bad.yaml -o bad --quiet
        ended "run: byte $at of a snapshot changed" '0|3'
        if [ $rc = 3 ]; then
            refused=$((refused + 1))
            check "and leaves no results" test ! -e bad/results.h5
        elif [ -n "$python" ]; then
            check "byte $at: accepted, then with the values that were written" same_values whole/results.h5 bad/results.h5
        fi
    done
    check "flips in snapshots were refused" test $refused -gt $((flips / 5))
}
# Texts of variable length lie in heaps, whose sizes and counts no checksum covers: HDF5 itself breaks down on some.
test_damaged_heaps() {
    local copy n=0
    with_python "heaps" || return 0
    "$python" - <<'P'
import json
import h5py
import numpy as np

x = np.sin(np.arange(120.0).reshape(30, 4)).astype("f4")
np.save("x.npy", x), np.save("q.npy", x[:5] + 0.1)
for name, n in (("q", 5), ("c", 30)):
    with open(f"{name}.jsonl", "w") as f:
        f.writelines(json.dumps({"_id": f"{name}{i}", "text": f"a text {i} " * 3}) + "\n" for i in range(n))
with open("judged.tsv", "w") as f:
    f.writelines(f"q{i}\tc{i}\t1\n" for i in range(5))
with h5py.File("labels.h5", "w") as f:
    f.create_dataset("y", data=["cat", "dog", "eel"] * 10, dtype=h5py.string_dtype())
P
    expect "texts" 0 '' import --queries q.npy --corpus x.npy --query-ids q.jsonl --corpus-ids c.jsonl --qrels judged.tsv -o texts.h5
    "$python" - <<'P'
import random
random.seed(3)
for name in ("texts.h5", "labels.h5"):
    whole = open(name, "rb").read()
    at = whole.index(b"GCOL")
    places = [*range(at + 4, at + 56), *(at + 56 + random.randrange(400) for _ in range(10))]
    for k, place in enumerate(places):
        for value in (1, 255):
            copy = bytearray(whole)
            copy[place] = value
            open(f"heap-{name[0]}-{k:03}-{value}.h5", "wb").write(copy)
P
    for copy in heap-t-*.h5; do
        n=$((n + 1))
        "$hardneg" mine $copy -n 2 -o mined.jsonl >"$work/out" 2>"$work/err"
        rc=$?
        [ $rc = 0 ] || [ $rc = 3 ] || fail "mine $copy" "exit code $rc"
    done
    for copy in heap-l-*.h5; do
        n=$((n + 1))
        "$hardneg" import -e x.npy -l $copy -o labelled.h5 >"$work/out" 2>"$work/err"
        rc=$?
        [ $rc = 0 ] || [ $rc = 3 ] || fail "import $copy" "exit code $rc"
        rm -f labelled.h5
    done
    check "heaps that are damaged: $n" test $n -gt 200
    check "heaps: nothing is left" test -z "$(find . -name '*.tmp-*')"
}
# A snapshot that another program has written to is not used, and not sealed anew.
test_changed_values() {
    local c
    with_python "changed values" || return 0
    "$hardneg" synth -n 60 --dim 4 --steps 1 -o changed.h5 --quiet
    "$python" -c "import h5py, numpy as np
x = np.sin(np.arange(240.).reshape(60, 4)).astype('f4'); np.save('rows.npy', x); np.save('teacher.npy', x[:, :3])
h5py.File('changed.h5', 'r+')['embeddings'][0, 3] = 1"
    seq 60 >lines.txt
    cp changed.h5 kept.h5
    for c in 'validate changed.h5' 'sample changed.h5 --sampler knn -b 8 -o new.npy' 'import --teacher teacher.npy -o changed.h5' \
        'import -e rows.npy --view1 rows.npy --view2 rows.npy --step 900 -o changed.h5' 'import -e rows.npy --teacher changed.h5 -o new.h5' \
        'sheet changed.h5 --texts lines.txt -b 8 -o new.html' 'choose changed.h5 -b 8 --max-excess 5'; do
        # shellcheck disable=SC2086 # words are wanted
        expect "changed values: $c" 3 'changed.h5: the values are not those that were written' $c
    done
    check "changed values: the file is as it was" cmp -s changed.h5 kept.h5
    check "changed values: nothing is made of it" test -z "$(find . -name 'new.*')"
}
same_values() { # of two results of differently named snapshots
    "$python" -c "import h5py, sys
a, b = (h5py.File(p, 'r')['runs'] for p in sys.argv[1:])
assert a['dataset_sha256'][0] == b['dataset_sha256'][0] and (a['fn_ratio'][:] == b['fn_ratio'][:]).all()" "$@" 2>err
}

# Files that lead to other files. The one they lead to is there, and sound: reading it would go unnoticed.
test_links() {
    with_python "links" || return
    "$python" - <<'END'
import h5py, numpy as np, shutil
def copy(name):
    shutil.copy("s.h5", name)
    return h5py.File(name, "r+")
with copy("link-external.h5") as f:
    del f["embeddings"]; f["embeddings"] = h5py.ExternalLink("s.h5", "/embeddings")
with copy("link-soft.h5") as f:
    f.move("embeddings", "elsewhere"); f["embeddings"] = h5py.SoftLink("/elsewhere")
with copy("link-labels.h5") as f:
    del f["labels"]; f["labels"] = h5py.ExternalLink("s.h5", "/labels")
with copy("link-group.h5") as f:
    f["graph"] = h5py.ExternalLink("s.h5", "/")
x = h5py.File("s.h5", "r")["embeddings"][:]
x.tofile("values.raw")
with copy("storage-external.h5") as f:
    shape, kind = f["embeddings"].shape, f["embeddings"].dtype
    del f["embeddings"]
    f.create_dataset("embeddings", shape, kind, external=[("values.raw", 0, x.nbytes)])
with copy("storage-secret.h5") as f: # the first bytes of a file of the system as labels
    n = len(f["labels"]); del f["labels"]
    f.create_dataset("labels", (n,), "i1", external=[("/etc/passwd", 0, n)])
with copy("storage-virtual.h5") as f:
    shape, kind = f["embeddings"].shape, f["embeddings"].dtype
    del f["embeddings"]
    v = h5py.VirtualLayout(shape, kind); v[...] = h5py.VirtualSource("s.h5", "embeddings", shape)
    f.create_virtual_dataset("embeddings", v)
with h5py.File("ann.hdf5", "w") as f:
    f["train"] = h5py.ExternalLink("s.h5", "/embeddings"); f.attrs["distance"] = "angular"
with copy("huge.h5") as f: # extents without storage
    del f["embeddings"]; f.create_dataset("embeddings", (1, 2**31 - 2, 1 << 20), "f4", chunks=(1, 1024, 64), compression="gzip")
with copy("huge-late.h5") as f:
    del f["embeddings"]; f.create_dataset("embeddings", (1, 2**31 - 2, 1 << 20), "f4")
END
    local f
    for f in link-*.h5 storage-*.h5 ann.hdf5 huge*.h5; do
        run validate "$f"
        ended "validate $f" 3
        job "$f" >j.yaml
        run run -c j.yaml -o linked --quiet
        ended "run on $f" 3
    done
    check "nothing came of them" test ! -e linked/results.h5
    "$python" - <<'END'
import h5py, shutil
# No seal in these: as other programs write them.
def copy(name):
    shutil.copy("whole/results.h5", name)
    return h5py.File(name, "r+")
with copy("results-link.h5") as f:
    del f["runs/fn_ratio"]; f["runs/fn_ratio"] = h5py.ExternalLink("whole/results.h5", "/runs/fn_ratio")
with copy("results-group.h5") as f:
    del f["runs"]; f["runs"] = h5py.ExternalLink("whole/results.h5", "/runs")
with copy("results-storage.h5") as f:
    n = len(f["runs/fn_ratio"]); del f["runs/fn_ratio"]
    f["runs"].create_dataset("fn_ratio", (n,), "f8", external=[("values.raw", 0, 8 * n)])
END
    for f in results-*.h5; do
        run plot "$f" -o figures
        ended "plot $f" 3
        run compare "$f" whole/results.h5
        ended "compare $f" 3
    done
}

# Names and texts that would be commands if somebody let them: of the snapshot's file, its title and label
# names, of an unknown sampler, and, in results, of samplers, data sets and parameters.
test_commands_in_texts() {
    with_python "commands in texts" || return
    command -v gnuplot >/dev/null || { skip "commands in texts" "no gnuplot"; return; }
    "$python" - "$work/ran" <<'END'
import h5py, shutil, sys
touch = "touch " + sys.argv[1]
evil = ['`%s`' % touch, '$(%s)' % touch, '"; system("%s"); print "' % touch, "'; system('%s') #" % touch,
        "x\n!%s\n" % touch, "a', system '%s', 'b" % touch, "@{`%s`}" % touch, '\\"`%s`' % touch,
        '%s|' % touch, '"<%s"' % touch, "{/Symbol `%s`}" % touch, "\x1b]0;x\x07`%s`" % touch, "\r\n!%s" % touch,
        "';`%s`;'" % touch, "<script>alert(1)</script><img src=x onerror=alert(1)>&amp;</svg>", "$SHELL -c '%s'" % touch, "\u2028!%s" % touch]
texts = ("dataset", "sampler", "params", "weighting", "loss", "note", "error", "space", "draw")
for i, text in enumerate(evil):
    shutil.copy("whole/results.h5", "evil%d.h5" % i)
    with h5py.File("evil%d.h5" % i, "r+") as f:
        n = 0
        for name in texts:
            if "runs/" + name in f and f["runs/" + name].dtype.kind == "O":
                f["runs/" + name][...] = [text.encode()] * len(f["runs/" + name])
                f["runs/" + name].attrs["long_name"] = text
                n += 1
        assert n >= 4, n
        f.attrs["argv"] = f.attrs["config"] = text
        for name in f["env"].attrs:
            f["env"].attrs[name] = text
END
    local f n=0 term
    for f in evil*.h5; do
        for term in svg dumb; do
            run plot "$f" -o "figures-$f" --term $term
            ended "plot $f --term $term" '0|2|3'
        done
        n=$((n + $(find "figures-$f" -name '*.svg' | wc -l)))
        run report "$f" -o "report-$f"
        ended "report on $f" '0|2|3'
        run compare "$f" whole/results.h5
    done
    check "pages and figures hold no markup of theirs" test -z "$(grep -rlE --include='*.svg' --include='report-*' '<(script>alert|img src=x)' . 2>/dev/null)"
    check "figures were drawn of them ($n)" test $n -gt 8
    local name
    for name in '`touch ran`' '$(touch ran)' "x'; touch ran; '" '"; system "touch ran"; "' '-o ran' '!touch ran'; do
        cp s.h5 "./$name.h5"
        "$python" -c "import json, sys; print('version: 1\nsnapshots: [' + json.dumps('./' + sys.argv[1] + '.h5') + \
            ']\nsamplers: [uniform, knn]\nbatch_size: 8\nbatches: 3\nmetrics: [fn_ratio, histogram]\nfigures: [bs-fig4]')" \
            "$name" >evil.yaml
        run run -c evil.yaml -o "out $name"
        ended "a snapshot called $name" 0
    done
    check "nothing of it was run" test ! -e ran
    check "nor elsewhere" test -z "$(find . -name ran)"
    # The test can fail: gnuplot does run what stands in a script as it is.
    echo 'set label "`touch could`"' | gnuplot 2>/dev/null
    check "gnuplot runs backticks that are not escaped" test -e could
}

test_hostile_jobs() {
    local i text
    { # each alias doubles: 2^40 nodes if followed
        echo 'a0: &a0 [x, x]'
        for ((i = 1; i < 40; i++)); do echo "a$i: &a$i [*a$((i - 1)), *a$((i - 1))]"; done
    } >bomb.yaml
    run run -c bomb.yaml -o bad
    ended "a job of aliases" 2
    printf '%s' 'samplers: ' "$(printf '[%.0s' {1..100000})" >deep.yaml
    run run -c deep.yaml -o bad
    ended "a deep job" 2
    head -c 20000000 /dev/zero | tr '\0' 'a' >large.yaml
    run run -c large.yaml -o bad
    ended "a job of 20 MB" 2
    head -c 100000 /dev/urandom >noise.yaml
    run run -c noise.yaml -o bad
    ended "a job of noise" 2
    for text in 'batches: 99999999999999999999' 'batches: -1' 'batch_size: 9223372036854775807' 'seeds: [1e400]' \
        'batches: 9223372036854775807' 'temperature: [nan]' 'temperature: [1e-320]' 'epochs: 9223372036854775807' \
        'samplers: [batchsampler: {M: 9223372036854775807}]' 'steps: [9223372036854775808]' \
        'timing: {reps: 9223372036854775807}' 'limits: {memory: 99999999999TiB}' \
        'samplers: [uniform, uniform: {draw: [shuffle, iid, shuffle]}]'; do
        { job s.h5 | grep -v "^${text%%:*}:"; echo "$text"; } >j.yaml
        run run -c j.yaml -o bad --dry-run
        ended "a job with $text" '0|2|3'
    done
    check "nothing came of them" test ! -e bad/results.h5
}

# Named pipes, a device, a folder where a file belongs: nothing is waited for, and they are left as they are. @ in
# a command is the path.
kind_of() { stat -c %F "$1"; }
at_place() { # KIND PATH COMMAND: the command is refused at once, not waited for
    local before command=${3//@/$2}
    before=$(kind_of "$2")
    # shellcheck disable=SC2086 # words are wanted
    run $command
    ended "$1: $3" '2|3'
    check "$1: $3: names it" grep -qF "${2%/}" err
    check "$1: $3: is as it was" test "$(kind_of "$2")" = "$before"
}
inputs=('run -c @ -o new' 'run -c job.yaml -o new --set snapshots=@' 'train -c @ -o new' 'validate @' 'info @'
    'reproduce bs-fig4 --data s.h5 -o new --claims @' 'reproduce bs-fig4 --data @ -o new' 'reproduce bs-fig4 --results @'
    'compare @ whole/results.h5' 'compare whole/results.h5 @' 'plot @' 'plot whole/results.h5 -o new --style @' 'report @'
    'merge @ -o new.h5' 'export @' 'sample @ --sampler uniform -o new.npy' 'import -e @ -o new.h5' 'import -e x.npy -l @ -o new.h5'
    'import -e x.npy -l y.npy --label-names @ -o new.h5' 'import -e x.npy --view1 @ -o new.h5')
outputs=('synth -o @ --n 20 --dim 4 --steps 1' 'import -e x.npy -o @' 'export whole -o @' 'compare whole whole --junit @'
    'compare whole whole --markdown @' 'merge whole -o @' 'report whole -o @' 'sample s.h5 --sampler uniform --batch-size 8 -o @')
folders=('run -c job.yaml -o @' 'plot whole -o @' 'reproduce bs-fig4 --data s.h5 --quick -o @')
test_places() {
    local c place
    with_python "places" || return
    "$python" -c "import numpy as np; np.save('x.npy', np.eye(6, 4, dtype='f4')); np.save('y.npy', np.arange(6))"
    mkfifo pipe
    ln -sf /dev/null device
    mkdir -p folder
    for place in pipe device; do
        for c in "${inputs[@]}" "${outputs[@]}" "${folders[@]}"; do at_place "a $place" "$work/$place" "$c"; done
    done
    for c in "${outputs[@]}"; do at_place "a folder" "$work/folder" "$c"; done
    check "nothing came of them" test -z "$(find new* -type f)"
    check "nothing is in the folder" test -z "$(ls folder)"
    for c in "${outputs[@]}" "${folders[@]}"; do
        # shellcheck disable=SC2086 # words are wanted
        run ${c//@/-}
        ended "as output '-': $c" 2 "'-' is not standard output"
    done
    check "nothing is called -" test ! -e ./-
    # Of a shell, which has opened them, they are read.
    "$hardneg" run -c <(cat absolute.yaml) -o streamed --quiet 2>err
    check "a job from a pipe that is open" test -s streamed/results.h5
    "$hardneg" run -c /dev/stdin -o piped --quiet <absolute.yaml 2>err
    check "a job from standard input" test -s piped/results.h5
    echo before >summary.md
    run compare whole whole --markdown summary.md --quiet
    run compare whole whole --markdown summary.md --quiet
    check "a summary is added to" test "$(grep -c before summary.md) $(grep -c '^### ' summary.md)" = '1 2'
}

# 800 MB of values in 1.2 MB: said before they are read, and held against the limit.
test_packed() {
    with_python "packed" || return
    "$python" -c "import h5py, numpy as np
with h5py.File('packed.h5', 'w') as f:
    f.attrs['schema'] = 'hardneg-snapshot'; f.attrs['schema_version'] = 1
    f['step'] = [0]; f['labels'] = np.arange(100000, dtype='i4') % 4
    e = f.create_dataset('embeddings', (1, 100000, 2000), 'f4', chunks=(1, 4000, 2000), compression='gzip')
    for i in range(0, 100000, 4000): e[0, i:i + 4000] = np.ones((4000, 2000), 'f4')"
    job packed.h5 >packed.yaml
    expect "packed: beyond the limit" 2 'takes 762 MiB of memory, and the limit is 500' \
        run -c packed.yaml -o packed --memory 500M
    check "packed: said first" grep -q 'note: packed.h5: holds 763 MiB of values in 1' err
    rm packed.h5
}

# Estimates end in time, whatever is estimated; folders that hold no results are said to.
test_bounded_time() {
    "$hardneg" synth -o pairs.h5 --n 80 --dim 8 --steps 1 --quiet
    job pairs.h5 | sed 's/^metrics:.*/metrics: [random_assignments: {count: 100000000}]/' >endless.yaml
    LIMIT=200 expect "the estimate of an endless study" 0 '[?]: not estimated' run -c endless.yaml --dry-run
    job s.h5 | sed 's/^metrics:.*/metrics: [fn_ratio]/' >tiny.yaml
    local seeds
    seeds=$(seq -s , 1 4000)
    LIMIT=200 expect "a dry run of 80,000 cells" 0 '^note: 80000 cells; ' run -c tiny.yaml --dry-run --set "seeds=[$seeds]" \
        --set 'samplers=[batchsampler: {M: [10, 20, 30, 40], K: [2, 3, 4, 5, 6]}]'
    check "all of them are estimated" grep -q '^80000 of 80000 cells, .* of data ([^)]*)$' err
    expect "more cells than allowed" 2 '80000 cells, and --max-cells allows 79999' run -c tiny.yaml --dry-run \
        --set "seeds=[$seeds]" --set 'samplers=[batchsampler: {M: [10, 20, 30, 40], K: [2, 3, 4, 5, 6]}]' --max-cells 79999
    mkdir -p empty
    expect "no history in a folder" 3 '0 results files' compare --history empty
    expect "no history at the root" 3 '0 results files' compare --history /
}

# Files on which HDF5 broke down in the process itself, after one that looked at them first had got through.
test_found() {
    local file
    for file in "$here"/fuzz/corpus/snapshot/broken-*.h5; do
        run validate "$file"
        check "${file##*/} is refused" test "$rc" = 3
    done
}

flips=${FLIPS:-24}
run_tests "${2:-}" '' test_disks test_limits_on_files test_limits_on_other_commands test_limits_on_addresses test_limits_on_the_stack test_control_groups test_unreadable test_truncated test_flipped_results test_flipped_cells \
    test_flipped_snapshots test_damaged_heaps test_changed_values test_links test_commands_in_texts test_hostile_jobs test_places test_packed test_bounded_time test_found
finish
