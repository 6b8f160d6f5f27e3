#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The guides of docs/ hold what they promise: `tests/guides.sh BUILD`. The example of each guide and the line that
# it adds to a registry are compiled (tests/guides.py) and linked before the library, into the program and into the
# suites whose tests loop over a registry (tests called every_...). Compiler and libraries come from the
# Makefile, in COMPILE and LINK.
source "$(dirname "$0")/lib.sh"
build=$(realpath "$1")
begin guides "$build/hardneg"
cd "$root" || exit 1
read -r -a compile <<<"${COMPILE/ -I. / -I$work/src -I. }" # headers with the lines of the guides come first
read -r -a link <<<"$LINK"
common=("$build"/obj/tests/{test,fixture,skeleton_sampler}.o)
library=$build/libhardneg.a

objects=() doubles=() entries=() replaced=()
compile_file() { # OBJECT FILE FLAG...
    local object=$1 file=$2
    shift 2
    mkdir -p "${object%/*}"
    "${compile[@]}" -Werror "$@" -c -o "$object" "$file"
}
compile_example() { # ENTRY FILE...
    local file source
    entries+=("$1")
    shift
    for file in "$@"; do
        source=$work/src/$file
        [ -e "$source" ] || source=$file
        [[ " ${replaced[*]} " != *" $file "* ]] || continue
        replaced+=("$file")
        compile_file "$work/obj/${file%.c}.o" "$source" || return 1
        objects+=("$work/obj/${file%.c}.o")
        [[ $file == training/net/* ]] || continue
        compile_file "$work/obj64/${file%.c}.o" "$source" -DHN_REAL_DOUBLE || return 1
        doubles+=("$work/obj64/${file%.c}.o")
    done
}
link_suite() { # SUITE: with the examples; gradients are tested in double precision, as in the Makefile
    local parts=("$build/obj/tests/$1.o" "${common[@]}" "${objects[@]}") object source
    if [ "$1" = training/test_gradients ]; then
        parts=("$build/obj64/tests/$1.o" "${doubles[@]}" "${common[@]}")
        for object in "$build"/obj64/training/net/*.o; do
            source=training/net/$(basename "$object" .o).c # an older build has objects of files that are gone
            [ -e "$work/${object#"$build"/}" ] || [ ! -e "$source" ] || parts+=("$object")
        done
    fi
    "${compile[@]}" -o "$work/${1##*/}" "${parts[@]}" "$library" "${link[@]}"
}
run_suite() { # SUITE: counts its tests
    local name=${1##*/} total more
    check "$name: links" link_suite "$1"
    "$work/$name" every >"$work/out" 2>"$work/err" </dev/null
    rc=$?
    total=$(tail -n 1 "$work/out")
    read -r more _ < <(tr -c '0-9\n' ' ' <<<"${total#*: }")
    if [ $rc = 0 ] && [ "${more:-0}" -gt 0 ]; then passed=$((passed + more)); else
        fail "$name with the examples of the guides" "status $rc"
        cat "$work/err"
    fi
}

tests/guides.py "$work/src" >"$work/examples"
check "every guide has an example and a line" test $? = 0
while read -r -a words; do
    check "the example ${words[0]} compiles" compile_example "${words[@]}"
done <"$work/examples"
check "there are examples" test ${#entries[@]} -ge 3
for name in samplers/test_samplers samplers/test_sampler_misuse metrics/test_measure metrics/studies/test_every_study plots/test_figures \
    training/test_gradients training/test_every_task results/test_every_format harness/job/test_job_errors datasets/import/test_every_import; do
    run_suite "$name"
done

# The program with the examples: it lists, runs and draws them.
check "the program links" "${compile[@]}" -o "$work/hardneg" "$build/obj/harness/cli/main.o" "${objects[@]}" "$library" "${link[@]}"
hardneg=$work/hardneg
cd "$work" || exit 1
for kind in samplers weightings metrics figures formats; do "$hardneg" list $kind; done >listed 2>err
for entry in "${entries[@]}"; do
    [[ $entry = @(softsign|pixels|csv) ]] || check "$entry is listed" grep -q "^  $entry  " listed
done
expect "synth" 0 '' synth -o s.h5 --n 60 --dim 8 --classes 3 --steps 2 --views 1 --quiet
printf '%s\n' 'version: 1' 'snapshots: s.h5' 'samplers: [uniform, window]' 'batch_size: 8' 'epochs: 1' \
    'metrics: [coverage, loss, variety, classes]' 'weightings: [none, {ceiling: {cut: [0.2, 0.5]}}]' 'figures: [coverage]' >job.yaml
expect "a job of the examples" 0 '' run -c job.yaml -o out-of-examples --quiet
expect "the console has sampler and metric" 0 '^window .* [1-3]\.[0-9]{3} ' run -c job.yaml -o out-of-examples
check "under its heading" grep -Eq '^sampler .* classes_mean ' "$work/out"
check "the console has the weighting and its option" grep -Eq '^window +[0-9]+ +ceiling +0\.5 ' "$work/out"
expect "the page" 0 '' report out-of-examples --quiet
check "has sampler and metric" eval 'grep -q "data-sampler=\"window\"" out-of-examples/index.html && grep -q "Classes</button>" out-of-examples/index.html'
check "and the weighting" grep -q 'weighting ceiling' out-of-examples/index.html
! command -v gnuplot >/dev/null || check "and the figure" grep -q '<figcaption><h3>coverage: ' out-of-examples/index.html
expect "the LaTeX has the metric" 0 '& Classes &' export out-of-examples --latex
check "and the sampler" grep -Eq '^window & .*\$[1-3]\.[0-9]{3}' "$work/out"
check "with the weighting" grep -Eq '^window & ceiling & 0\.5 &' "$work/out"
expect "the job of the baseline has the sampler" 0 '' run -c "$root/harness/jobs/smoke.yaml" -o smoke --filter ' window ' \
    --set batches=2 --set 'steps=[0]' --quiet
expect "in its results" 0 ',window,' export smoke --csv
expect "the weighting" 0 '' run -c "$root/harness/jobs/smoke.yaml" -o smoke --filter ' uniform .* ceiling ' --set batches=2 --set 'steps=[0]' --quiet
expect "in its results" 0 ',ceiling,' export smoke --csv
expect "a baseline with both" 0 '' compare out-of-examples out-of-examples --quiet --json
check "has compared the metric" grep -q '"classes_mean"' "$work/out"
expect "choose compares the sampler" 0 '"sampler": "window"' choose s.h5 --batch-size 8 --batches 3 --seeds 2 --checks 0 --json --quiet
expect "the metric's column" 0 'classes_mean' export out-of-examples --csv
expect "the study's table" 0 '^study_row,dataset,step,class,items' export out-of-examples --csv --table classes
expect "a comparison in the format of the example" 0 '' compare out-of-examples out-of-examples --quiet --csv changes.csv
check "its file" grep -q '^runs,coverage,[1-9]' changes.csv
for file in data_batch_1 test_batch; do # of 40 images
    for i in {1..40}; do printf "\\$((i % 4))" && head -c 3072 "$hardneg"; done >$file.bin
done
printf '%s\n' 'version: 1' 'task: {pixels: {data: ., hidden: 8, out: 4}}' 'samplers: [uniform]' 'batch_size: 8' 'steps: 2' \
    'seeds: [1]' 'temperature: 0.5' >train.yaml
expect "a training of the example" 0 '' train -c train.yaml -o trained --quiet
expect "its table" 0 'knn_h_acc' export trained --csv --table training
expect "the console has the task" 0 '^pixels.*temperature 0.5' train -c train.yaml -o trained
expect "its page" 0 '' report trained --quiet
check "has the task" grep -q '<caption>pixels' trained/index.html
expect "its LaTeX" 0 '^% pixels' export trained --latex --table accuracies
expect "a baseline of trainings" 0 '^PASS' compare trained trained
printf '%s\n' '%%MatrixMarket matrix array real general' '3 2' 1 0 1 0 1 1 >rows.mtx
expect "an import of the example's format" 0 '' import --embeddings rows.mtx -o imported.h5
expect "its rows" 0 '^items +3' info imported.h5
! command -v gnuplot >/dev/null || check "the figure is drawn" test -s out-of-examples/figures/coverage.svg

# A sampler in Python (docs/guide/your-sampler.md) and its twin in C: equal cells.
twin() {
    sed 's/^#define SAMPLERS(X) .*/&\n    X(farthest_first) \\/' "$root/samplers/registry.c" >"$work/registry.c"
    cd "$root" && compile_file "$work/twin/registry.o" "$work/registry.c" && compile_file "$work/twin/farthest_first.o" tests/farthest_first.c &&
        "${compile[@]}" -o "$work/twin/hardneg" "$build/obj/harness/cli/main.o" "$work"/twin/*.o "$library" "${link[@]}"
}
if with_python "a sampler and its twin in C"; then
    check "the twin compiles" eval "(twin)"
    hardneg=$work/twin/hardneg
    "$hardneg" synth -o t.h5 --n 331 --dim 9 --classes 5 --steps 2 --views 2 --quiet
    printf '%s\n' 'version: 1' 'snapshots: t.h5' 'batch_size: [16, 50]' 'epochs: 2' 'seeds: [1, 2, 3]' 'samplers:' '  - uniform' '  - farthest-first' \
        "  - command: {run: [$python, $here/farthest_first.py, twin, '{embeddings}', '{batch_size}', '{seed}', '{epochs}', '{out}'], name: in-python}" >twin.yaml
    expect "a job of both" 0 '' run -c twin.yaml -o twins --quiet
    check "a sampler and its twin in C: equal cells" same_cells twins/results.h5 farthest-first in-python
    check "which are not uniform's" eval '! same_cells twins/results.h5 farthest-first uniform'
fi
finish
