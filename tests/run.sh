#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the tests of a build, two at a time, the long ones first: `tests/run.sh BUILD WHAT`. WHAT: `check` the unit
# suites that take less than 1.4 s of a processor, `suites` all unit suites, `all` the command line as well. One line per
# suite with the seconds it took and those of processors, what failed in full, and the totals at the end.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$1
what=$2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/hardneg-run-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export scratch BUILD

# Two suites at a time share the processors: threads that wait must not spin.
export OMP_WAIT_POLICY=passive
export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:${TSAN_OPTIONS:-}"

# The long ones, longest first: scripts of the command line, and unit suites that `check` leaves out.
scripts="inject random_jobs yours board cli import retrieval choose sample regress rows faults strangers memory train page reproduce torture kills guides python hostile install workflows"
long="commands run_memory estimate run run_values age job_hostile figures report images store probe image_tasks topk snapshot_faults study_run every_task training training_memory screen_series screen fuzz text_exact wl weighting page_layout halving judged_pairs captions slowdown fronts compare history report_cases compare_named gcbs_threshold option parts every_study claims_judge spearman"

# The command of a suite.
command_of() {
    case $1 in
    train) echo "tests/cli_train.sh $BUILD/hardneg" ;;
    torture) echo "tests/torture.sh $BUILD/hardneg 10" ;;
    kills) echo "tests/kills.sh $BUILD/hardneg 14" ;;
    guides | install | python) echo "tests/$1.sh $BUILD" ;;
    hostile) echo "tests/hostile.py $BUILD/hardneg --cases 160" ;;
    random_jobs) echo "tests/random_jobs.py $BUILD/hardneg --jobs 25" ;;
    inject) echo "tests/inject.py $BUILD/hardneg --most 1" ;;
    board | cli | import | yours | retrieval | choose | sample | page | regress | rows | faults | strangers | memory | reproduce | workflows) echo "tests/$1.sh $BUILD/hardneg" ;;
    *) find tests -name "test_$1.c" | sed "s,^,$BUILD/,; s,\.c$,," ;; # of a source that is gone a program may be left
    esac
}
# Runs a suite, which ends with "<suite>: N passed, N failed, N skipped"; leaves the counts in a file.
run_suite() {
    local name=$1 log="$scratch/$1.log" rc=0 begin=$SECONDS summary cpu
    TIMEFORMAT='%U %S'
    # shellcheck disable=SC2046 # words are wanted
    { time timeout -k 10 "${SUITE_LIMIT:-1500}" $(command_of "$name") >"$log" 2>&1 </dev/null; } 2>"$log.time" || rc=$?
    cpu=$(awk 'END { printf "%.0f", $1 + $2 }' "$log.time")
    summary=$(grep -E '^[^ ]+: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
    read -r passed failed skipped < <(tr -c '0-9\n' ' ' <<<"${summary##*: }")
    if [ -z "$summary" ] || { [ "$rc" != 0 ] && [ "$failed" = 0 ]; }; then
        echo "    ended with status $rc (124: took too long; above 128: killed by a signal)" >>"$log"
        failed=$((${failed:-0} + 1))
    fi
    echo "${passed:-0} $failed ${skipped:-0}" >"$scratch/$name.counts"
    printf '  %-16s %4d passed, %d failed, %d skipped  (%d s, %s s of a processor)\n' \
        "$name" "${passed:-0}" "$failed" "${skipped:-0}" $((SECONDS - begin)) "$cpu"
    if [ "$failed" -gt 0 ]; then sed "s/^/    $name | /" "$log" | tee "$scratch/$name.failed"; else grep 'skipped: ' "$log"; fi
    return 0
}
export -f run_suite command_of

names() { # each word once, in order
    tr ' ' '\n' | awk 'NF && !seen[$0]++'
}
units=$(find tests -name 'test_*.c' | sed 's,.*/test_,,; s,\.c$,,' | sort | tr '\n' ' ')
# A script and a unit suite of one name, or two unit suites: one of them would not be run.
both=$({ names <<<"$scripts"; tr ' ' '\n' <<<"$units"; } | awk NF | sort | uniq -d | grep .) && { echo "tests/run.sh: two suites are named $both" >&2; exit 2; }
case $what in
check) chosen=$(names <<<"$units" | grep -vxF -f <(names <<<"$long")) ;;
suites) chosen=$(names <<<"$long $units") ;;
all) chosen=$(names <<<"$scripts $long $units") ;;
*) echo "tests/run.sh: check, suites or all, not '$what'" >&2; exit 2 ;;
esac
xargs -r -n 1 -P 2 bash -c 'run_suite "$@"' run <<<"$chosen"

# What failed once more, the ends: the last lines of a long log tell.
find "$scratch" -name '*.failed' -exec sh -c 'grep -B 2 -A 12 "FAIL" "$1" || cat "$1"' - {} \; | tail -n 60
cat "$scratch"/*.counts 2>/dev/null | awk '
    { passed += $1; failed += $2; skipped += $3 }
    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
          exit failed > 0 || passed == 0 }'
