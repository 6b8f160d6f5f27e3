#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Commands that are killed leave nothing half-written, and the next one ends as one that was never disturbed:
# `tests/kills.sh PROGRAM [KILLS [COMMAND...]]` (default 120, over all commands of the table below). Each round begins
# with an empty folder, or with what an earlier command has left, and starts the same command again and again, ended by
# SIGKILL: at a random moment, or at a random one of the calls by which files become whole (fsync, rename; where strace
# is there). After every kill what the command makes is not there, is what stood there before, or is whole. When the
# command gets through, what it made is what an undisturbed one makes, and no temporary file is left. Then two at once
# on one output: each ends well, and one of the two is there. Then interrupts of commands that draw. (tests/torture.sh looks at the cells of runs besides.)
source "$(dirname "$0")/lib.sh"
begin kills "$1"
kills=${2:-120}
RANDOM=${KILLS_SEED:-1}
export HARDNEG_GNUPLOT_SECONDS=300

# --- What the commands work on ---

"$hardneg" synth -o s.h5 --n 200 --dim 8 --classes 4 --steps 2 --views 2 --quiet || exit 1
"$hardneg" synth -o enough.h5 --n 260 --dim 8 --classes 4 --steps 2 --views 1 --quiet || exit 1
job() { # SAMPLERS
    printf 'version: 1\nsnapshots: s.h5\nsamplers: %s\nbatch_size: 16\nbatches: 4\nsteps: [0]\nseeds: [1, 2]\n' "$1"
    printf 'metrics: [fn_ratio, histogram]\nfigures: none\n'
}
job '[uniform, knn, gcbs, hops]' >job.yaml
mkdir graph
awk 'BEGIN { srand(1); print "# features=30"
    for (i = 0; i < 90; i++) {
        line = i " " i % 3
        for (j = 0; j < 30; j++) if (j == i % 30 || rand() < .2) line = line " " j
        print line } }' >graph/graph.features
awk 'BEGIN { srand(2); for (i = 0; i < 90; i++) for (j = i + 1; j < 90; j++) if (rand() < .05) print i, j }' >graph/graph.edges
awk 'BEGIN { for (i = 0; i < 90; i++) print i, (i < 30 ? "train" : i < 45 ? "val" : "test") }' >graph/graph.split
cat >train.yaml <<'END'
version: 1
task: {node: {data: graph, hidden: 8, out: 4}}
samplers: [uniform, knn]
loss: other-view
batch_size: 30
steps: 10
evaluate: 5
seeds: [1, 2]
snapshots: {every: 5}
END
seq 200 >lines.txt
"$hardneg" synth --kind retrieval -o queries.h5 --n 400 --queries 40 --dim 8 --quiet || exit 1
for i in 1 2; do "$hardneg" run -c job.yaml -o part$i --shard $i/2 --threads 1 --quiet || exit 1; done
"$hardneg" run -c job.yaml -o page --threads 1 --quiet || exit 1
"$hardneg" run -c job.yaml -o earlier --threads 1 --quiet --set 'seeds=[3]' || exit 1
"$hardneg" report earlier -o earlier.html --quiet
with_python "kills" || { finish; exit; }
"$python" -c "import numpy as np
for name, k in (('x', 0), ('later', 1)): np.save(name, np.sin(np.arange(800.).reshape(200, 4) + k))
np.save('y', np.arange(200) % 4)"
"$hardneg" import -e x.npy -l y.npy -o first.h5 --quiet || exit 1

# --- The commands: @ is the folder that they work in. Product; what may stand there before ("" = nothing). ---

names=(run train reproduce report merge import append synth sample sheet export compare mine price paper)
declare -A command=(
    [run]='run -c job.yaml -o @ --threads 1'
    [train]='train -c train.yaml -o @ --workers 1 --threads 1'
    [reproduce]='reproduce hc-prop3 --data enough.h5 --quick --seeds 1 --term none -o @ --threads 1'
    [report]='report page -o @/page.html'
    [merge]='merge part1 part2 -o @/results.h5'
    [import]='import -e x.npy -l y.npy --view1 later.npy -o @/s.h5'
    [append]='import -e later.npy --step 7 -o @/s.h5' # to a file that is there
    [synth]='synth -o @/s.h5 --n 3000 --dim 16 --classes 4 --steps 3 --seed 1'
    [sample]='sample s.h5 --sampler gcbs -b 16 --epochs 3 --seed 3 -o @/batches.npy'
    [sheet]='sheet s.h5 --texts lines.txt -b 16 -o @/sheet.html'
    [export]='export page --csv -o @/rows.csv'
    [compare]='compare page page --junit @/junit.xml'
    [mine]='mine queries.h5 -n 2 -o @/mined.jsonl'
    [price]='price queries.h5 --sheet 20 -o @/judge.tsv'
    [paper]='paper page -o @/paper')
declare -A product=([run]=results.h5 [train]=results.h5 [reproduce]=results.h5 [report]=page.html
    [merge]=results.h5 [import]=s.h5 [append]=s.h5 [synth]=s.h5 [sample]=batches.npy [sheet]=sheet.html
    [export]=rows.csv [compare]=junit.xml [mine]=mined.jsonl [price]=judge.tsv [paper]=paper/tables.tex)
declare -A before=([report]=earlier.html [merge]=earlier/results.h5 [append]=first.h5 [sample]=x.npy
    [sheet]=earlier.html [export]=job.yaml [compare]=job.yaml [mine]=job.yaml [price]=job.yaml)
declare -A always=([append]=yes) # not every other time

# Two files of one kind say the same.
same_product() { # FILE FILE
    case $1 in
    *results.h5) same_results "$1" "$2" ;;
    *.h5) same_content "$1" "$2" && "$hardneg" validate "$1" >/dev/null 2>&1 ;;
    *.tex) diff -r "${1%/*}" "${2%/*}" >/dev/null ;; # all files of a paper
    *) cmp -s "$1" "$2" ;;
    esac
}
# The snapshots of a training beside its results.
same_series() { # FOLDER FOLDER
    local file n=0
    while read -r file; do
        same_content "$file" "$2/${file#"$1/"}" || return 1
        n=$((n + 1))
    done < <(find "$1" -name series.h5)
    test $n -gt 0
}
series_whole() { # FOLDER
    local file
    while read -r file; do
        "$hardneg" validate "$file" >/dev/null 2>err || return 1
    done < <(find "$1" -name series.h5)
}
# What a kill may leave: nothing, what stood there, or a whole file.
nothing_half() { # NAME FOLDER
    local file=$2/${product[$1]}
    [ ! -e "$file" ] && [ -z "$stood" ] && return 0
    [ -n "$stood" ] && cmp -s "$file" "$stood" && return 0
    case $file in
    *results.h5) "$hardneg" export "$file" >/dev/null 2>err ;;
    *.h5) "$hardneg" validate "$file" >/dev/null 2>err ;;
    *) cmp -s "$file" "whole-$1/${product[$1]}" ;;
    esac
}

# --- Kills ---

begin_folder() { # NAME FOLDER EARLIER: "yes" for what stands there before
    stood=
    mkdir -p "$2"
    [ "$3" = yes ] && [ -n "${before[$1]:-}" ] || return 0
    stood=${before[$1]}
    cp "$stood" "$2/${product[$1]}"
}
go() { # NAME FOLDER [COMMAND PREFIX...]
    local words=${command[$1]//@/$2}
    shift 2
    # shellcheck disable=SC2086 # words are wanted
    prlimit --cpu=120 "$@" "$hardneg" $words >out 2>err </dev/null
}
after_a_while() { # NAME FOLDER
    # shellcheck disable=SC2086
    "$hardneg" ${command[$1]//@/$2} >out 2>err </dev/null &
    random "$whole_ms"
    sleep "$((drawn / 1000)).$(printf %03d $((drawn % 1000)))"
    stop $! KILL
    [ $rc != 0 ] || whole_ms=$((drawn + 1))
}
at_a_call() { # NAME FOLDER
    local call=fsync most=$fsyncs
    if [ $((RANDOM % 2)) = 0 ]; then call=rename most=$renames; fi
    random "$most"
    go "$1" "$2" strace -qq -f -o /dev/null -e trace=$call -e inject=$call:signal=KILL:when=$((drawn + 1)) 2>/dev/null
    rc=$?
}
kill_once() { # NAME FOLDER: one start that is to be killed; $rc is 137 if it was
    if [ -n "$tracing" ] && [ $((RANDOM % 2)) = 0 ]; then
        at_a_call "$1" "$2"
        [ $rc != 137 ] || at_calls=$((at_calls + 1))
    else
        after_a_while "$1" "$2" 2>/dev/null # the shell says that it was killed
    fi
    [ $rc = 137 ] || return 0
    n=$((n + 1))
    [ -n "$(find "$2" -type f -newer marker ! -path '*.tmp-*')" ] || early=$((early + 1))
    check "$1: nothing half-written" nothing_half "$1" "$2"
    [ "$1" != train ] || check "$1: no half snapshots" series_whole "$2"
}
# Until the command gets through, or there were enough kills.
round() { # NAME FOLDER KILLS
    local tries=0
    begin_folder "$1" "$2" "${always[$1]:-$([ $((RANDOM % 2)) = 0 ] && echo yes)}"
    touch marker
    rc=137
    while [ $rc = 137 ] && [ $n -lt "$3" ] && [ $tries -lt 40 ]; do
        kill_once "$1" "$2"
        tries=$((tries + 1))
    done
    if [ $rc = 137 ]; then
        go "$1" "$2"
        rc=$?
    fi
    # An import or synth that was killed when its file was whole finds it there.
    if [ $rc = 2 ] && [ "${product[$1]}" = s.h5 ] && grep -qE 'exists, up to|does not come after|is there already' err; then rc=0; fi
    check "$1: gets through after kills" test $rc = 0
    check "$1: ends as one that was not disturbed" same_product "whole-$1/${product[$1]}" "$2/${product[$1]}"
    [ "$1" != train ] || check "$1: its snapshots, too" same_series "whole-$1" "$2"
    check "$1: leaves nothing behind" none_temporary "$2"
}
kill_command() { # NAME KILLS
    local folder begun
    n=0 rounds=0 at_calls=0 early=0
    begin_folder "$1" "whole-$1" "${always[$1]:-}"
    go "$1" "whole-$1" || { cat err; fail "$1" "does not get through undisturbed"; return; }
    begin_folder "$1" timed "${always[$1]:-}"
    begun=$(milliseconds)
    go "$1" timed
    whole_ms=$(($(milliseconds) - begun))
    rm -r timed
    if [ -n "$tracing" ]; then
        begin_folder "$1" timed "${always[$1]:-}"
        go "$1" timed strace -qq -f -c -o calls -e trace=fsync,rename
        read -r fsyncs renames < <(awk '/fsync|rename/ { n[$NF] = $4 } END { print n["fsync"] + 0, n["rename"] + 0 }' calls)
        rm -r timed
        check "$1: calls at which to kill" test "$fsyncs" -gt 0 -a "$renames" -gt 0
    fi
    while [ $n -lt "$2" ] && [ $rounds -lt $((10 * $2)) ]; do
        folder=round-$1-$rounds
        rounds=$((rounds + 1))
        round "$1" "$folder" "$2"
        rm -rf "$folder"
    done
    check "$1: as many kills as asked for" test $n = "$2"
    printf '    %-10s %4d kills (%d at a call of fsync or rename, %d before anything was finished) in %d rounds\n' \
        "$1" $n $at_calls $early $rounds
    all=$((all + n)) all_at_calls=$((all_at_calls + at_calls)) all_early=$((all_early + early))
}

# --- Two at once on one output ---

# One of two results, or what both together make; neither process fails but as it is said here.
both() { # CODES COMMAND COMMAND: codes of either; they are in $rc1 and $rc2
    local words
    words="$2"
    # shellcheck disable=SC2086 # words are wanted
    "$hardneg" $words >out1 2>err1 </dev/null &
    local other=$!
    words="$3"
    # shellcheck disable=SC2086
    "$hardneg" $words >out 2>err </dev/null
    rc2=$?
    wait $other
    rc1=$?
    [[ $rc1 =~ ^($1)$ && $rc2 =~ ^($1)$ ]] || { cat err1 err; return 1; }
}
one_of() { same_product "$1" "$2" || same_product "$1" "$3"; } # FILE FILE FILE
headings() { grep -c '^### ' "$1"; }
steps_of() { "$hardneg" info "$1" 2>/dev/null | awk '/^steps/ { print $2 + 0 }'; }
two_at_once() { # ROUNDS
    local i rounds=$1
    mkdir -p two
    "$hardneg" report page -o a.html --quiet && "$hardneg" report earlier -o b.html --quiet
    "$hardneg" merge part1 part2 -o a-results.h5 --quiet && "$hardneg" merge earlier -o b-results.h5 --quiet
    "$hardneg" export page --csv -o a.csv && "$hardneg" export earlier --csv -o b.csv
    "$hardneg" sheet s.h5 --texts lines.txt -b 16 -o a-sheet.html --quiet && "$hardneg" sheet s.h5 --texts lines.txt -b 16 --seed 9 -o b-sheet.html --quiet
    for ((i = 0; i < rounds; i++)); do
        rm -rf two/*
        check "report: two at once" both 0 'report page -o two/p.html -q' 'report earlier -o two/p.html -q'
        check "report: one of the two" one_of two/p.html a.html b.html
        check "merge: two at once" both 0 'merge part1 part2 -o two/results.h5 -q' 'merge earlier -o two/results.h5 -q'
        check "merge: one of the two" one_of two/results.h5 a-results.h5 b-results.h5
        check "export: two at once" both 0 'export page --csv -o two/r.csv' 'export earlier --csv -o two/r.csv'
        check "export: one of the two" eval 'cmp -s two/r.csv a.csv || cmp -s two/r.csv b.csv'
        check "sheet: two at once" both 0 'sheet s.h5 --texts lines.txt -b 16 -o two/s.html -q' 'sheet s.h5 --texts lines.txt -b 16 --seed 9 -o two/s.html -q'
        check "sheet: one of the two" one_of two/s.html a-sheet.html b-sheet.html
        check "compare --markdown: two at once" both '0|1|5' 'compare page page -q --markdown two/m.md' 'compare page earlier -q --markdown two/m.md'
        check "compare --markdown: both are there" test "$(headings two/m.md)" = 2
        # A file that is there is never replaced by an import: the later one is told that it exists.
        check "import: two at once" both '0|2' 'import -e x.npy -l y.npy -o two/s.h5 -q' 'import -e later.npy -l y.npy -o two/s.h5 -q'
        check "import: one is refused" test "$((rc1 + rc2))" = 2 -a "$rc1" != "$rc2"
        check "import: it is said" grep -q 'two/s.h5: exists, up to step 0' err1 err
        # Steps that are added at once: in their order, or the lower one is refused; none is lost.
        check "steps: two at once" both '0|2' 'import -e x.npy --step 7 -o two/s.h5 -q' 'import -e later.npy --step 9 -o two/s.h5 -q'
        check "steps: none is lost" test "$(steps_of two/s.h5)" = "$((1 + (rc1 == 0) + (rc2 == 0)))"
        check "two at once: nothing is left behind" none_temporary two
    done
    echo "    two at once: $rounds rounds of report, merge, export, sheet, compare --markdown, import, import --step"
}

# --- Ctrl-C: it reaches all processes of a group, while gnuplot draws as well ---

stops=(INT TERM HUP)
# Every file is whole: as it was, or as the undisturbed command makes it.
old_or_new() { # FOLDER WHOLE EARLIER
    local file
    while read -r file; do
        cmp -s "$1/$file" "$2/$file" || cmp -s "$1/$file" "$3/$file" || { echo "$file is neither the old nor the new one" >err; return 1; }
    done < <(cd "$1" && find . -type f ! -name run.log)
}
# Until the program has its handler of SIGTERM: before that the signal ends whatever the process still is.
until_caught() { # PROCESS
    local caught tries
    for ((tries = 0; tries < 1000; tries++)); do
        caught=$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status" 2>/dev/null)
        [ "$(cat "/proc/$1/comm" 2>/dev/null)" = hardneg ] && ((0x${caught:-0} & 0x4000)) && return
        kill -0 "$1" 2>/dev/null || return
        sleep 0.001
    done
}
# Starts of gnuplot are counted, and that number $SIGNAL_AT sends the signal to the program that started it, which draws
# while it comes.
make_signalling_gnuplot() {
    mkdir -p signalling
    printf '%s\n' '#!/bin/sh' "echo >>'$work/starts'" "[ \"\$(wc -l <'$work/starts')\" != \"\$SIGNAL_AT\" ] || kill -s \"\$SIGNAL\" \$PPID" \
        "exec '$(command -v gnuplot)' \"\$@\"" >signalling/gnuplot
    chmod +x signalling/gnuplot
}
interrupt_at_gnuplot() { # COUNT COMMAND RESULTS WORDS: @ is the folder that it writes
    local name=$2 words=${*:4} i folder starts ended=0
    : >starts
    rm -rf "whole-$name"
    mkdir -p "whole-$name"
    # shellcheck disable=SC2086 # words are wanted
    SIGNAL_AT=0 PATH=$work/signalling:$PATH run $name $3 ${words//@/whole-$name}
    starts=$(wc -l <starts)
    for ((i = 0; i < $1; i++)); do
        folder=interrupted-$name
        rm -rf "$folder"
        [ $((i % 4)) = 3 ] && mkdir "$folder" || cp -r "earlier-$name" "$folder"
        : >starts
        random "$starts"
        SIGNAL_AT=$((drawn + 1)) SIGNAL=${stops[i % 3]} PATH=$work/signalling:$PATH \
            run $name $3 ${words//@/$folder} --quiet
        ended=$((ended + (rc == 130)))
        check "$name: an interrupt while gnuplot draws ends with 130" test $rc = 130
        check "$name: while gnuplot draws: files are the old or the new ones" old_or_new "$folder" "whole-$name" "earlier-$name"
        check "$name: while gnuplot draws: nothing is left behind" none_temporary "$folder"
    done
    printf '    %-10s %4d interrupts at one of %d starts of gnuplot, %d ended by it\n' "$name" "$1" "$starts" $ended
}
interrupt_command() { # COUNT COMMAND RESULTS WORDS: @ is the folder that it writes
    local name=$2 words=${*:4} i folder begun whole_ms ended=0
    rm -rf "whole-$name" "earlier-$name" # of the kills
    mkdir -p "whole-$name" "earlier-$name"
    begun=$(milliseconds)
    # shellcheck disable=SC2086 # words are wanted
    run $name $3 ${words//@/whole-$name}
    whole_ms=$(($(milliseconds) - begun))
    run $name earlier ${words//@/earlier-$name} --quiet
    for ((i = 0; i < $1; i++)); do
        folder=interrupted-$name
        rm -rf "$folder"
        [ $((i % 4)) = 3 ] && mkdir "$folder" || cp -r "earlier-$name" "$folder"
        setsid "$hardneg" $name $3 ${words//@/$folder} --quiet >out 2>err </dev/null &
        until_caught $!
        random "$((1 + whole_ms))"
        sleep "$((drawn / 1000)).$(printf %03d $((drawn % 1000)))"
        kill -s "${stops[i % 3]}" -- "-$!" 2>/dev/null
        wait $!
        rc=$?
        ended=$((ended + (rc == 130)))
        [ $rc != 0 ] || whole_ms=$((drawn + 1))
        check "$name: an interrupt ends with 130, or too late with 0 ($rc)" test $rc = 130 -o $rc = 0
        check "$name: files are the old or the new ones" old_or_new "$folder" "whole-$name" "earlier-$name"
        [ $rc = 130 ] || check "$name: all are there" diff -rq -x run.log "$folder" "whole-$name"
        check "$name: nothing is left behind" none_temporary "$folder"
    done
    printf '    %-10s %4d interrupts of the group, %d of them in time\n' "$name" "$1" $ended
    interrupts=$((interrupts + $1)) in_time=$((in_time + ended))
}
interrupt_all() { # COUNT of each
    type gnuplot >/dev/null 2>&1 || { skip "interrupts" "no gnuplot"; return; }
    interrupts=0 in_time=0
    interrupt_command "$1" report page -o @/page.html
    interrupt_command "$1" plot page -o @
    interrupt_command "$1" paper page -o @
    interrupt_command "$1" sheet s.h5 --texts lines.txt -b 16 -o @/s.html
    echo "    $interrupts interrupts in all, $in_time in time"
    check "some came in time" test $in_time -gt 0
    make_signalling_gnuplot
    interrupt_at_gnuplot "$1" report page -o @/page.html
    interrupt_at_gnuplot "$1" plot page -o @
    interrupt_at_gnuplot "$1" paper page -o @
}

can_trace && tracing=yes || tracing=
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] && names=("$@")
all=0 all_at_calls=0 all_early=0
for i in "${!names[@]}"; do # as many for each, the first ones take what is left over
    kill_command "${names[i]}" $((kills / ${#names[@]} + (i < kills % ${#names[@]})))
done
echo "    $all kills in all ($all_at_calls at a call, $all_early before anything was finished)"
[ $# -gt 0 ] || { two_at_once 3 && interrupt_all $(((kills + 3) / 4)); }
[ -n "$tracing" ] || skip "kills at a call" "strace is missing or may not trace here"
finish
