#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Fuzzes one target, or all: `[MINUTES=60] tests/fuzz/run.sh [RUNS] [TARGET...]`: a million executions of each or, with
# MINUTES, an equal part of this time. Needs clang. New inputs go to build/fuzz/corpus, of which those stay
# that reach something of their own; what breaks a promise to build/fuzz/found: mend it, then put the file into
# tests/fuzz/corpus/TARGET, where the tests replay it for ever.
set -eu
cd "$(dirname "$0")/../.."
runs=${1:-${MINUTES:+-1}}
runs=${runs:-1000000}
shift || true
out=build/fuzz
mkdir -p build
# Without the process that looks at HDF5 files first, which costs a hundred times more than the rest.
# Comparisons of numbers are not traced: that takes a third of the time, and texts are compared by functions that
# are seen all the same.
make --no-print-directory -s "$out/fuzzer" BUILD="$out" CC=clang OMP=-fopenmp=libomp CFLAGS="-O2 -g" DEPS=0 \
    CPPFLAGS=-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION \
    SANITIZE="-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined -fno-sanitize-coverage=trace-cmp" >"$out.log" 2>&1 ||
    { tail "$out.log"; exit 1; }
# As users have it: every reader, that process included.
make --no-print-directory -s build/hardneg DEPS=0
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(ls tests/fuzz/corpus)

limit=(-runs="$runs")
[ -z "${MINUTES:-}" ] || limit+=(-max_total_time=$((MINUTES * 60 / ${#targets[@]})))

# The sanitizer's memory is kept small and used again: fresh pages cost more than most readers.
small=quarantine_size_mb=1:thread_local_quarantine_size_kb=16
fuzz() { # TARGET OPTION...
    local target=$1
    shift
    local most=4096 # long inputs cost more than they find
    case $target in
    tu | cifar10 | library | labels | words | tables) most=400 ;;
    job | train | claims) most=1024 ;;
    snapshot | results | cell | hdf5) most=24000 ;;
    esac
    local seeds=("tests/fuzz/corpus/$target")
    case $target in job | train) seeds+=(harness/jobs) ;; esac
    mkdir -p "$out/corpus/$target" "$out/found/$target"
    rm -f "$out/$target.tally"
    ASAN_OPTIONS=${ASAN_OPTIONS:-$small} HN_FUZZ=$target HN_FUZZ_TALLY="$out/$target.tally" "$out/fuzzer" "${limit[@]}" -max_len="${MAX_LEN:-$most}" \
        -rss_limit_mb=2048 -timeout="${SECONDS_EACH:-20}" -entropic=0 \
        -artifact_prefix="$out/found/$target/" -print_final_stats=1 "$@" \
        "$out/corpus/$target" "${seeds[@]}" >"$out/$target.log" 2>&1
}
# Of inputs that reach the same, the shortest stays.
minimise() { # TARGET
    local target=$1 least=$out/corpus/$1.least
    rm -rf "$least"
    mkdir "$least"
    ASAN_OPTIONS=$small:allocator_may_return_null=1 HN_FUZZ=$target "$out/fuzzer" -merge=1 -detect_leaks=0 -timeout=20 -rss_limit_mb=2048 \
        "$least" "$out/corpus/$target" >>"$out/$target.log" 2>&1
    rm -r "$out/corpus/$target"
    mv "$least" "$out/corpus/$target"
}
# HDF5 itself breaks down on damaged files: fuzzing goes on, and in the end each such input is looked at. Where
# the first frame that is neither the sanitizer's nor the C library's is in HDF5, it is HDF5's; the whole program
# has to refuse the file in good order all the same.
where() { # TARGET FILE: that frame
    HN_FUZZ=$1 "$out/fuzzer" -timeout=20 -detect_leaks=0 -rss_limit_mb=2048 "$2" 2>&1 |
        grep -E '^ +#[0-9]+ ' | grep -vE 'compiler-rt|sanitizer|libclang_rt|/libc\.so|sysdeps|fuzzer::| in (__[a-z_]*|malloc|calloc|realloc|free|mem[a-z]+|str[a-z]+) ' | head -n 1
}
fuzz_library() { # TARGET COMMAND: of the program, that reads such a file
    local target=$1 command=$2 bad=0 n=0 ended=0 file frame
    # It leaks what it refuses, too; our own memory is accounted for by the target. Stacks are not named: starting
    # anew is frequent.
    ASAN_OPTIONS=symbolize=0:$small:malloc_context_size=0:allocator_may_return_null=1:allocator_release_to_os_interval_ms=-1 \
        fuzz "$target" -detect_leaks=0 -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 || true
    for file in "$out/found/$target"/*; do
        [ -e "$file" ] || continue
        n=$((n + 1))
        frame=$(ASAN_OPTIONS=allocator_may_return_null=1 where "$target" "$file")
        case $frame in
        '') ended=$((ended + 1)) ;; # not again, by itself
        *libhdf5*) ;;
        *) echo "$target: $file: $frame"; bad=1 ;;
        esac
        rc=0
        build/hardneg "$command" "$file" >/dev/null 2>"$out/refused" || rc=$?
        [ "$rc" = 3 ] || [ "$rc" = 0 ] || { echo "$target: $file: exit code $rc"; bad=1; }
    done
    echo "$target: $n inputs on which HDF5 broke down ($ended only in the course of many)"
    return $bad
}
for target in "${targets[@]}"; do
    echo "$target: $runs executions"
    case $target in
    snapshot) fuzz_library snapshot validate || exit 1 ;;
    hdf5) fuzz_library hdf5 info || exit 1 ;;
    results) fuzz_library results export || exit 1 ;;
    *) fuzz "$target" || { tail -n 40 "$out/$target.log"; echo "$target: see $out/$target.log"; exit 1; } ;;
    esac
    grep -E '^#[0-9]+.*(DONE|cov)' "$out/$target.log" | tail -n 1
    # In the child processes of HDF5's targets each counts its own; sentences are of the process that saw most.
    awk -v target="$target" '{ n += $1; taken += $2; most = $3 > most ? $3 : most }
        END { printf "%s: %d inputs, of which %d were taken; at least %d sentences refused the others\n", target, n, taken, most; exit !taken }' \
        "$out/$target.tally" || { echo "$target: nothing got past the refusals"; exit 1; }
    minimise "$target"
    echo "$target: $(ls "$out/corpus/$target" | wc -l) inputs reach something of their own"
done
