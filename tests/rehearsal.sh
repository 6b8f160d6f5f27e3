#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# CI as a repository's owner has it, after docs/guide/ci/github-actions.yml: `make rehearsal`, or `tests/rehearsal.sh BUILD` with
# the compiler in COMPILE and the libraries in LINK. A git repository with a job and its committed baseline; main, and three
# pull requests with programs of their own: no change, a sampler that is worse by 1 %, a draw that is slower by 20 %. Prints of each
# step its exit code, the last line of its log, its JUnit report and its Markdown.
source "$(dirname "$0")/lib.sh"
build=$(realpath "$1")
begin rehearsal "$build/hardneg"
read -r -a compile <<<"$COMPILE"
read -r -a link <<<"$LINK"
with_python "the rehearsal" || { finish; exit; }

# Programs of other sources: what hn_sampler_next() gives is changed by code at its end.
make_program() { # NAME DIGITS [CODE]
    cd "$root" || exit 1
    awk -v code="${3:-}" '/^enum hn_code hn_sampler_next\(/ { inside = 1
            print "#include <time.h>\nstatic int64_t now_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000 + t.tv_nsec; }" }
        inside && /int64_t end, capacity/ { print; print "    int64_t begun = now_ns();"; next }
        inside && /^    return HN_OK;/ { print "    (void)begun;\n    {\n" code "\n    }"; inside = 0 }
        { print }' samplers/sampler.c >"$work/sampler.c"
    "${compile[@]}" -c -o "$work/$1.o" "$work/sampler.c" && "${compile[@]}" -o "$work/$1.raw" "$build/obj/harness/cli/main.o" "$work/$1.o" \
        "$build/libhardneg.a" "${link[@]}" || exit 1
    cd "$work" || exit 1
    "$build/hardneg" run -c job.yaml -o one --quiet --set batches=1 --set 'samplers=[uniform]'
    mkdir -p "$1"
    known_as "$2" "$(digest_in one/results.h5)" "$1.raw" >"$1/hardneg"
    chmod +x "$1/hardneg"
}

# A step of a job; what its owner sees of it.
step() { # NAME CODES WORDS OF hardneg...
    local name=$1 codes=$2
    shift 2
    rm -f compare.xml summary.md
    run "$@"
    check "$name: exit code $rc" in_list "$rc" "$codes"
    printf '%s\n    exit code %d; log: %s\n' "$name" "$rc" "$(cat out err | grep -v '^$' | tail -n 1 | cut -c 1-230)"
    grep '^note:' err | cut -c 1-230 | sed 's/^/    /'
    [ ! -e compare.xml ] || printf '    JUnit: %s\n' "$(grep -o '<testsuite [^>]*' compare.xml | head -n 1 | cut -c 1-160) $(grep -o '<failure[^>]*' compare.xml | head -n 1 | cut -c 1-200)"
    [ ! -e summary.md ] || printf '    Markdown: %s\n' "$(grep -v '^$' summary.md | sed -n 2p | cut -c 1-200)"
}
in_list() { [[ $1 =~ ^($2)$ ]]; }
gates=(--gate counters:=0 --gate quality:=0 --markdown summary.md --junit compare.xml)
reports() { [ -s compare.xml ] && [ -s summary.md ]; }
on() { hardneg=$work/$1/hardneg; }

"$hardneg" synth -o data.h5 --n 2000 --dim 32 --classes 10 --steps 2 --views 2 --seed 1 --quiet
printf '%s\n' 'version: 1' 'snapshots: [data.h5]' 'steps: [0]' 'batch_size: 64' 'batches: 100' 'figures: none' \
    'samplers: [uniform, knn, gcbs, batchsampler: {M: 200, K: 20}]' >job.yaml
make_program main aaaaaaaa
make_program same bbbbbbbb
make_program worse cccccccc 'for (int32_t b = 0; b < out->count && strcmp(self->type->name, "knn") == 0; b++)
        if ((out->first + b) % 100 < 64) { int32_t *id = out->ids + (int64_t)b * out->batch_size; id[out->size[b] - 1] = (int32_t)((id[0] + 1) % self->n); }'
make_program slower dddddddd 'for (int64_t took = now_ns() - begun; now_ns() - begun < took + took / 5;) {}'

# The baseline is committed; the folder of results is a cache that main leaves.
git init -q . 2>/dev/null
on main
CI=true step "main: run" 0 run -c job.yaml -o new --quiet
step "main: the first time, without a baseline" 0 compare baseline.h5 new --if-no-baseline=ok "${gates[@]}"
check "and with reports" reports
step "main: a mistyped path to the baseline" 3 compare nowhere/baseline.h5 new --if-no-baseline=ok "${gates[@]}"
cp new/results.h5 baseline.h5
cp -r new cache
git add job.yaml baseline.h5 && git -c user.name=owner -c user.email=owner@example.org commit -qm baseline

for program in same worse; do
    on $program
    for ci in true ''; do
        rm -rf new && cp -r cache new
        CI=$ci step "$program, results restored${ci:+, CI=true}: run" 0 run -c job.yaml -o new --quiet
        [ -n "$ci" ] || check "the run says that cells are of another program" complains 'made by another program'
        code=$([ "$program$ci" = worsetrue ] && echo 1 || echo 0)
        step "$program, results restored${ci:+, CI=true}: compare" "$code" compare baseline.h5 new "${gates[@]}"
        check "with reports" reports
        [ -n "$ci" ] || check "and so does the comparison" grep -q 'NEW was made by program [0-9.]*-aaaaaaaa' summary.md
    done
done
on worse
rm -rf new && cp -r cache new
step "worse, results restored, --fresh: run" 0 run -c job.yaml -o new --quiet --fresh
step "worse, results restored, --fresh: compare" 1 compare baseline.h5 new "${gates[@]}"
check "knn is named" grep -q knn summary.md
on slower
rm -rf new
step "slower: run" 0 run -c job.yaml -o new --quiet
step "slower: compare" 0 compare baseline.h5 new "${gates[@]}"
# 5: the host's noise is above the gate, so that nothing is held. Not a pass.
step "slower: ab" '1|5' ab main/hardneg slower/hardneg -c job.yaml --gate times:10% --threads 1 --set 'timing={reps: 21, warmup: 2, interleave: true}' -q
step "same: ab" '0|5' ab main/hardneg same/hardneg -c job.yaml --gate times:10% --threads 1 --set 'timing={reps: 21, warmup: 2, interleave: true}' -q

on main && run run -c job.yaml -o part1 --shard 1/2 --quiet
on same && run run -c job.yaml -o part2 --shard 2/2 --quiet
step "merge of shards of two programs" 3 merge part1 part2 -o merged.h5
check "nothing was joined" test ! -e merged.h5
step "the same, asked for" 0 merge part1 part2 -o merged.h5 --allow-mixed
step "and compared" 0 compare baseline.h5 merged.h5 "${gates[@]}"
check "which says first that there are two programs" grep -q '2 programs' out

mkdir nightly
step "first night: an empty folder of history" 0 compare baseline.h5 merged.h5 "${gates[@]}" --history nightly -o pictures
check "the verdict is there" says '^PASS'
cp baseline.h5 nightly/1.h5 && cp merged.h5 nightly/2.h5
step "later nights" 0 compare baseline.h5 merged.h5 "${gates[@]}" --history nightly -o pictures
mkdir bin && ln -s /usr/bin/* /bin/* bin/ 2>/dev/null
rm -f bin/gnuplot*
PATH=$work/bin step "gnuplot is missing: history" '0|6' compare baseline.h5 merged.h5 "${gates[@]}" --history nightly -o pictures
check "gnuplot is missing: the verdict is there" says '^PASS'
check "gnuplot is missing: the reports are there" reports
PATH=$work/bin step "gnuplot is missing: a page" 6 report merged.h5 -o page.html
finish
