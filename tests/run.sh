#!/usr/bin/env bash
# Runs the suites of a build, two at a time: `tests/run.sh BUILD suites` the unit tests, `all` the command
# line and the results file as well. One line per suite, what failed in full, and the totals at the end.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$1
what=$2
scratch=$(mktemp -d "${TMPDIR:-/tmp}/hardneg-run-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
export scratch

# Two suites at a time share the processors: threads that wait must not spin.
export OMP_WAIT_POLICY=passive
export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"
export TSAN_OPTIONS="ignore_noninstrumented_modules=1:${TSAN_OPTIONS:-}"

# Runs a command that ends with "<suite>: N passed, N failed, N skipped"; leaves the counts in a file.
run_suite() {
    local name=$1 log="$scratch/$1.log" rc=0 begin=$SECONDS summary
    shift
    timeout -k 10 "${SUITE_SECONDS:-600}" "$@" >"$log" 2>&1 </dev/null || rc=$?
    summary=$(grep -E '^[^ ]+: [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
    read -r passed failed skipped < <(tr -c '0-9\n' ' ' <<<"${summary##*: }")
    if [ -z "$summary" ] || { [ "$rc" != 0 ] && [ "$failed" = 0 ]; }; then
        echo "    ended with status $rc (124: took too long; above 128: killed by a signal)" >>"$log"
        failed=$((${failed:-0} + 1))
    fi
    echo "${passed:-0} $failed ${skipped:-0}" >"$scratch/$name.counts"
    printf '  %-14s %4d passed, %d failed, %d skipped  (%d s)\n' \
        "$name" "${passed:-0}" "$failed" "${skipped:-0}" $((SECONDS - begin))
    if [ "$failed" -gt 0 ]; then sed 's/^/    | /' "$log"; else grep 'skipped: ' "$log"; fi
    return 0
}
export -f run_suite

find tests -name 'test_*.c' | sort | while IFS= read -r suite; do
    name=${suite%.c}
    printf '%s\0%s\0' "$(basename "${name/test_/}")" "$BUILD/$name"
done | xargs -0 -r -n 2 -P 2 bash -c 'run_suite "$@"' run

if [ "$what" = all ]; then
    run_suite cli tests/cli.sh "$BUILD/hardneg"
    run_suite install tests/install.sh "$BUILD"
    run_suite regress tests/regress.sh "$BUILD/hardneg"
    run_suite reproduce tests/reproduce.sh "$BUILD/hardneg"
    run_suite train tests/cli_train.sh "$BUILD/hardneg"
    run_suite torture tests/torture.sh "$BUILD/hardneg" 10
    run_suite faults tests/faults.sh "$BUILD/hardneg"
fi
cat "$scratch"/*.counts 2>/dev/null | awk '
    { passed += $1; failed += $2; skipped += $3 }
    END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
          exit failed > 0 || passed == 0 }'
