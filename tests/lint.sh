#!/usr/bin/env bash
# What `make lint` checks besides compiling without warnings: the rules of the design that a program can
# check, formatting, clang-tidy and cppcheck. CPPFLAGS comes from the Makefile.
set -u
cd "$(dirname "$0")/.." || exit 1
shopt -s nullglob
program=(core/*.c datasets/*.c samplers/*.c metrics/*.c training/*.c plots/*.c harness/*.c)
sources=("${program[@]}" tests/*.c tests/fuzz/*.c)
headers=(core/*.h datasets/*.h samplers/*.h metrics/*.h training/*.h plots/*.h harness/*.h tests/*.h tests/fuzz/*.h)
findings=0
complain() {
    echo "$*"
    findings=$((findings + 1))
}

# Which folders a folder may include from, besides itself. core <- datasets <- samplers, metrics <-
# training <- harness; plots sees the results store alone, and is driven by the harness.
declare -A below=(
    [core]="" [datasets]="core" [samplers]="core datasets" [metrics]="core datasets"
    [training]="core datasets samplers metrics" [plots]="core"
    [harness]="core datasets samplers metrics training"
    [tests]="core datasets samplers metrics training harness plots"
)
allowed() { # FILE INCLUDE: whether the file may include that header of ours
    local folder=${1%%/*} from=${2%%/*}
    case $1:$2 in
    plots/*:harness/store.h | harness/*:plots/figure.h | harness/*:plots/paper.h | harness/*:plots/report.h | \
        harness/*:plots/trained.h) return 0 ;;
    harness/main.c:datasets/h5.h | harness/store*:datasets/h5.h) return 0 ;;
    metrics/study_*:samplers/*.h) return 0 ;; # propositions about graphs and walks
    *:datasets/h5.h) [[ $1 == datasets/h5* || $1 == datasets/snapshot* || $1 == tests/* ]]; return ;;
    esac
    [[ $folder == "$from" || " ${below[$folder]} " == *" $from "* ]]
}
includes() { grep -HoE '^#include [<"][^>"]+[>"]' "$@" | sed 's/#include //; s/[<>"]//g'; }

while IFS=: read -r file header; do
    case $header in
    hdf5*.h)
        [[ $file == datasets/h5* || $file == datasets/snapshot* || $file == harness/store* ||
            $file == tests/* ]] || complain "$file: only the stores include $header" ;;
    cblas.h)
        [[ $file == core/blas.c || $file == training/* ]] ||
            complain "$file: only core/blas.c and training/ include $header" ;;
    core/* | datasets/* | samplers/* | metrics/* | training/* | harness/* | plots/* | tests/*)
        allowed "$file" "$header" || complain "$file: may not include $header (layers, DESIGN)" ;;
    */*.h) ;;
    *)
        [ ! -e "${file%/*}/$header" ] || complain "$file: include $header with its folder" ;;
    esac
done < <(includes "${sources[@]}" "${headers[@]}")

while read -r lines file; do
    [ "$file" = total ] || [ "$lines" -le 700 ] || complain "$file: $lines lines; 700 are the limit"
done < <(wc -l "${sources[@]}" "${headers[@]}")

# Threads are counted by who asks for them, never by the environment.
while IFS= read -r place; do
    complain "$place: a parallel region without num_threads"
done < <(grep -nE '#pragma omp parallel' "${sources[@]}" | grep -v num_threads | cut -d: -f1,2)

for file in "${sources[@]}" "${headers[@]}"; do
    clang-format --dry-run -Werror "$file" 2>/dev/null || complain "$file: not as clang-format writes it"
done

read -r -a flags <<<"-std=c17 -fopenmp ${CPPFLAGS:--I. -D_GNU_SOURCE}"
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
export log
# The tests are left to the compilers and the sanitizers.
tidy() {
    local file=$1
    shift
    clang-tidy --quiet "$file" -- "$@" >"$log/${file//\//_}" 2>/dev/null || {
        grep -E ' (error|warning): ' "$log/${file//\//_}"
        : >"$log/failed.${file//\//_}"
    }
}
export -f tidy
printf '%s\0' "${program[@]}" |
    xargs -0 -P "$(nproc)" -I '{}' bash -c 'tidy "$@"' tidy '{}' "${flags[@]}"
for file in "$log"/failed.*; do complain "clang-tidy: ${file##*/failed.}"; done

cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr \
    --suppress=missingIncludeSystem --suppress=uninitvar --suppress=invalidPointerCast \
    --suppress=arrayIndexThenCheck --error-exitcode=1 -j "$(nproc)" -I. -D_GNU_SOURCE \
    -DHN_PRINTF\(a,b\)= --library=posix "${program[@]}" || complain "cppcheck: see above"

[ "$findings" = 0 ] && echo "lint: clean" || echo "lint: $findings findings"
[ "$findings" = 0 ]
