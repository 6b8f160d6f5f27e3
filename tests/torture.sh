#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A run that is killed loses nothing, runs nothing twice and leaves nothing behind:
# `tests/torture.sh PROGRAM [KILLS]` (default 200). Each round begins with an empty folder and starts the same
# small job again and again, ended by SIGKILL: at a random moment, or at a random one of the calls by which
# files become whole (fsync, rename; where strace is there). After every kill each finished cell has to be the
# very file that it was before: name, inode, time of change, contents. When a run gets through, it says that it
# ran what was missing and no more, its results are those of an undisturbed run, and no temporary file is left.
# Then a kill at every rename of a run that has its cells and draws its figures, one after the other; and in the
# end the same with SIGINT, which has to give exit code 130.
source "$(dirname "$0")/lib.sh"
begin torture "$1"
kills=${2:-200}
RANDOM=${TORTURE_SEED:-1}
can_trace && tracing=yes || tracing=
command -v gnuplot >/dev/null && figures='[bs-fig4]' || figures=none
# The finished cells of a folder: name, inode and time of change; and their contents.
cells_of() {
    (cd "$1/cells" 2>/dev/null && ls | grep -q 'cell$' && stat -c '%n %i %y' ./*.cell && sha256sum ./*.cell) | sort
}
count() { grep -c '^\./' "$1"; } # FILE: cells in what cells_of() has written

"$hardneg" synth -o s.h5 --n 200 --dim 8 --classes 4 --steps 2 --views 2 --quiet || exit 1
cat >job.yaml <<END
version: 1
snapshots: s.h5
samplers: [uniform, knn, batchsampler: {M: [40, 80], K: 10}, gcbs: {quantile: 0.9}, hops]
batch_size: 16
batches: 10
seeds: [1, 2]
metrics: [fn_ratio, histogram, loss, purity: {M: 40, K: 10}]
figures: $figures
END
go() { # FOLDER [COMMAND PREFIX...]: the run, its pid in $!
    local folder=$1
    shift
    env --default-signal=INT "$@" "$hardneg" run -c job.yaml -o "$folder" --threads 1 >out 2>err </dev/null
}
go whole || { cat err; exit 1; } # the first may be slow: gnuplot looks for fonts
begin=$(milliseconds)
go timed || { cat err; exit 1; }
whole_ms=$(($(milliseconds) - begin))
cells_of whole >after
cells=$(count after)
pictures=$(find whole/figures -name '*.svg' 2>/dev/null | wc -l)
check "the undisturbed run leaves nothing behind" none_temporary whole
whole_calls=
if [ -n "$tracing" ]; then
    strace --seccomp-bpf -qq -f -c -o calls -e trace=fsync,rename "$hardneg" run -c job.yaml -o counted --threads 1 --quiet 2>err
    whole_calls=$(awk '/fsync|rename/ { n[$NF] = $4 } END { print n["fsync"] + 0, n["rename"] + 0 }' calls)
fi

# Starts the run in $1 and ends it with signal $2 after a random part of the time that a whole run takes. One that
# got through took less.
after_a_while() { # FOLDER SIGNAL
    start run -c job.yaml -o "$1" --threads 1
    random "$whole_ms"
    sleep "$((drawn / 1000)).$(printf %03d $((drawn % 1000)))"
    stop $! "$2"
    [ $rc != 0 ] || whole_ms=$((drawn + 1))
    return $rc
}
# The same with SIGKILL as one of its calls of fsync or rename is entered.
at_a_call() { # FOLDER
    local call=fsync n
    read -r fsyncs renames <<<"$whole_calls"
    random $((fsyncs / 3))
    n=$((1 + drawn))
    if [ $((RANDOM % 2)) = 0 ]; then
        call=rename
        random $((renames / 3))
        n=$((1 + drawn))
    fi
    go "$1" strace -qq -f -o /dev/null -e trace=$call -e inject=$call:signal=KILL:when=$n
}
# That every cell of file $1 is in file $2 as it was.
kept() { [ -z "$(comm -23 "$1" "$2")" ]; }
said() { sed -n 's/.* cells (\([0-9]*\) computed, \([0-9]*\) reused).*/\1 \2/p' err; } # "RUN THERE"
# Looks at what a run that got through has left: it ran what file `before` lacks and no more.
finished() { # FOLDER
    local there
    there=$(count before)
    check "what was missing is run and no more" test "$(said)" = "$((cells - there)) $there"
    check "no cell is missing" test "$(count after)" = "$cells"
    check "nothing is left behind" none_temporary "$1"
    check "all figures are drawn" test "$(find "$1/figures" -name '*.svg' 2>/dev/null | wc -l)" = "$pictures"
    check_same "the results are those of an undisturbed run" whole/results.h5 "$1/results.h5"
}
# One start of the run in $1, by command $2..., with a look at the cells before and after.
attempt() { # FOLDER COMMAND...
    local folder=$1
    shift
    cells_of "$folder" >before
    "$@" 2>/dev/null # the shell says that it was killed
    rc=$?
    cells_of "$folder" >after
    check "finished cells stay as they are" kept before after
}

n=0 rounds=0 at_calls=0 early=0
while [ $n -lt "$kills" ]; do
    folder=round$rounds rc=137
    rounds=$((rounds + 1))
    while [ $rc = 137 ] && [ $n -lt "$kills" ]; do
        if [ -n "$whole_calls" ] && [ $((RANDOM % 2)) = 0 ]; then
            attempt $folder at_a_call $folder
            [ $rc != 137 ] || at_calls=$((at_calls + 1))
        else
            attempt $folder after_a_while $folder KILL
        fi
        [ $rc = 137 ] || break
        n=$((n + 1))
        [ -s after ] || early=$((early + 1))
    done
    [ $rc != 137 ] || attempt $folder go $folder
    check "the run gets through" test $rc = 0
    finished $folder
    rm -rf "$folder"
done
echo "    $n kills ($at_calls at a call, $early before the first cell was finished) in $rounds rounds of $cells cells"

# Every rename after the cells: what is half drawn or half named is swept by the next run.
if [ -n "$tracing" ]; then
    rc=137 at=0
    while [ $rc = 137 ]; do
        at=$((at + 1))
        rm -rf drawn
        cp -a whole drawn
        rm -rf drawn/figures
        go drawn strace -qq -f -o /dev/null -e trace=rename -e inject=rename:signal=KILL:when=$at 2>/dev/null
        rc=$?
        [ $rc = 137 ] || break
        cells_of drawn >before
        go drawn
        check "after a kill at rename $at the run gets through" test $? = 0
        cells_of drawn >after
        finished drawn
    done
    check "the figures were drawn meanwhile" test $at -gt 3
    echo "    $((at - 1)) kills at the renames of a run that has its cells"
fi

# Eight runs of the job in one folder, and reports on it meanwhile: each ends with the results of one run.
processes=()
for i in 1 2 3 4 5 6 7 8; do
    "$hardneg" run -c job.yaml -o shared --threads 1 --quiet >"out$i" 2>"err$i" </dev/null &
    processes+=($!)
done
for ((i = 0; i < 10; i++)); do
    run report shared -o shared.html
    ended "a report while runs go on" '0|3|6'
done
for ((i = 0; i < 8; i++)); do
    wait "${processes[i]}"
    check "run $((i + 1)) of eight in one folder" test $? = 0
    cat "err$((i + 1))" >>err
done
check "eight runs in one folder leave nothing behind" none_temporary shared
check_same "eight runs in one folder: the results of one" whole/results.h5 shared/results.h5

interrupts=$(((kills + 9) / 10)) rounds=0 n=0
[ $interrupts -ge 3 ] || interrupts=3
while [ $n -lt $interrupts ] && [ $rounds -lt $((10 * interrupts)) ]; do
    folder=stopped$rounds
    rounds=$((rounds + 1))
    attempt $folder after_a_while $folder INT
    if [ $rc != 0 ]; then
        n=$((n + 1))
        check "SIGINT: exit code 130" test $rc = 130
        if [ -d $folder ]; then check "SIGINT: no temporary file" none_temporary $folder; fi
        attempt $folder go $folder
        check "after SIGINT the run gets through" test $rc = 0
    fi
    finished $folder
    rm -rf "$folder"
done
check "the run was interrupted" test $n = $interrupts
[ -n "$tracing" ] || skip "kills at a call" "strace is missing or may not trace here"
with_python "same results"
finish
