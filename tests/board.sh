#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The board: `tests/board.sh PROGRAM [WORD]`; with a word only tests whose name contains it, and the first.
. "$(dirname "$0")/lib.sh"
begin board "${1:-build/hardneg}"

kinds=(a b c d e f g h)
sha() { "$hardneg" info --json "$1" | sed -n 's/.*"content_sha256": "\(.*\)",/\1/p'; }
suite() { # KEPT...: suite.yaml
    printf '%s\n' 'suite: made-up' 'batch_size: 32' 'batches: 39' 'seeds: [1, 2]' 'reference:' '  - uniform' '  - knn' \
        '  - batchsampler: {M: 100, K: 40, alpha: [0.3, 0.7]}' '  - b3: {p: [0, 10], m: 30, cluster: 8}' 'kinds:'
    local kind i
    for kind in "${kinds[@]}"; do
        printf '  - name: %s\n    kept: %s\n    encoders:\n' "$kind" "$([[ " $* " == *" $kind "* ]] && echo true || echo false)"
        for i in 1 2; do printf '      - {file: enc/%s-%s.h5, sha256: %s}\n' "$kind" "$i" "$(sha "enc/$kind-$i.h5")"; done
    done
}
entry() { # NAME SETTING...
    local name=$1
    shift
    printf '%s\n' "name: $name" 'authors: A. <b>Author</b>' 'chosen_on: nothing' 'settings:'
    printf '  - %s\n' "$@"
}
# Verdict of an entry by the mean against the reference, or of a pair by a measure.
verdict() { "$python" -c "import json, sys
b = json.load(open('out')); print(*[e['mean']['verdict'] for e in b['entries'] if e['entry'] == sys.argv[1]])" "$1"; }
pair() { "$python" -c "import json, sys
print(*[p['verdict'] for p in json.load(open('out'))['pairs']['mean']['pairs'] if [p['a'], p['b']] == sys.argv[1:]])" "$1" "$2"; }

test_made() {
    mkdir enc
    local n=0 kind i
    for kind in "${kinds[@]}"; do
        n=$((n + 1))
        for i in 1 2; do
            "$hardneg" synth -o "enc/$kind-$i.h5" --n 400 --dim 16 --classes $((4 + 3 * n)) --steps 1 --views 1 --kappa-from $((6 + 3 * n)) \
                --seed $((10 * n + i)) --quiet
        done
    done
    suite >suite.yaml
    expect "the reference" 0 '' board --suite suite.yaml -o reference.h5 -q
    entry twin 'uniform: {draw: iid}' >twin.yaml
    entry knn-twin knn >knn-twin.yaml
    for n in twin knn-twin; do expect "an entry: $n" 0 '' board --suite suite.yaml --entry $n.yaml -o $n.h5 -q; done
    check "nothing else is left" test "$(echo *.cells *.tmp*)" = '*.cells *.tmp*'
}

# A reference's own setting lies on its front or behind it, whatever the draw: never ahead.
test_page() {
    with_python "the page of a board" || return 0
    expect "a table" 0 '' board reference.h5 twin.h5 knn-twin.h5 -o board.html
    check "a table: entries" test "$(grep -c '^| .*twin |' out)" = 2
    check "a page: entries" test "$(grep -c '<th scope=row><a href="#e' board.html)" = 6
    check "a page: no markup of others" test "$(grep -c '<b>Author' board.html)" = 0
    check "a page: no network" test "$(grep -cE '(src|href)="?https?:' board.html)" = 0
    expect "a document" 0 '' board reference.h5 twin.h5 knn-twin.h5 --json
    check "knn is on the front" test "$(verdict knn-twin)" != ahead
    cp out whole.json
    expect "an entry alone" 0 '' board reference.h5 twin.h5 --json
    pycheck "no entry moves another" "import json
one, both = json.load(open('out'))['entries'], json.load(open('whole.json'))['entries']
both = [e for e in both if e['entry'] == 'twin']
for e in one + both:
    for m in 'mean', 'lme', 'hardest': del e[m]['rank']
assert one == both"
    expect "other threads" 0 '' board --suite suite.yaml --entry twin.yaml -o again.h5 -q --threads 1
    check_same "other threads: equal cells" twin.h5 again.h5
    expect "a submission, measured again" 0 '^PASS' compare twin.h5 again.h5
    spoiled twin.h5 better.h5 "put('fn_ratio', 3, .9 * r['fn_ratio'][3])"
    expect "a submission whose numbers are others" 1 '^FAIL: fn_ratio in 1 of' compare better.h5 again.h5
}

test_guide() {
    sed -n '/^```yaml/,/^```/p' "$root/docs/board.md" | sed '1d;$d' >guide.yaml
    expect "the entry of docs/board.md" 0 '' board --suite suite.yaml --entry guide.yaml -o guide.h5 -q
    sed 's,enc/a-1,enc/z-1,' suite.yaml >absent.yaml
    for e in "$root"/harness/reproduce/board/*.yaml; do # read before the encoders are missed
        expect "an entry of hardneg: $e" 3 'z-1.h5' board --suite absent.yaml --entry "$e" -o own.h5 -q
        check "its name: $e" grep -q "^name: $(basename "${e%.yaml}")$" "$e"
    done
}

# Batches from files, which are named against the folder of the entry: as hardneg's own, over whole epochs.
test_given() {
    with_python "given batches on a board" || return 0
    local kind i seed
    mkdir sub
    for kind in "${kinds[@]}"; do
        for i in 1 2; do
            for seed in 1 2; do
                "$hardneg" sample "enc/$kind-$i.h5" --sampler knn -b 32 --epochs 3 --seed $seed -o "sub/$kind-$i-$seed.npy" -q
            done
        done
    done
    entry mine 'given: {file: "{dataset}-{seed}.npy", name: mine, per_epoch: 13}' >sub/mine.yaml
    expect "given: an entry" 0 '' board --suite suite.yaml --entry sub/mine.yaml -o mine.h5 -q
    expect "given: a document" 0 '' board reference.h5 knn-twin.h5 mine.h5 --json
    pycheck "given: as hardneg's own" "import json
a, b = json.load(open('out'))['entries']
assert (a['entry'], b['entry']) == ('knn-twin', 'mine')
assert all(a[m][s]['kinds'] == b[m][s]['kinds'] for m in ('mean', 'lme', 'hardest') for s in ('excess', 'gain_2'))"
    rm sub/c-2-1.npy
    expect "given: a file is missing" 3 'c-2-1.npy' board --suite suite.yaml --entry sub/mine.yaml -o missing.h5 -q
    check "given: nothing is written" test ! -e missing.h5
}

# The scores by the sums of docs/board.md, in Python.
test_scores() {
    with_python "scores of a board" || return 0
    expect "scores" 0 '' board reference.h5 twin.h5 knn-twin.h5 --json
    check "scores: as by Python" "$python" "$here/board_scores.py" out reference.h5 twin.h5 knn-twin.h5
}

# What entries were worth in training stands beside their scores, to Uniform by data set and seed.
test_outcome() {
    with_python "trainings beside a board" || return 0
    printf '%s\n' 'data,entry,seed,"acc, <b>%"' x,uniform,1,70 x,twin,1,70.5 x,knn-twin,1,73 y,uniform,1,50 y,twin,1,50.1 y,knn-twin,1,52 >acc.csv
    expect "trainings: a table" 0 "^\| knn-twin \| tied .* \| \+2\.50 \| [0-9.]+ \| " board reference.h5 twin.h5 knn-twin.h5 --outcome acc.csv -o trained.html
    check "trainings: no correlation of two entries" test "$(cat out trained.html | grep -c "Rank correlation")$(grep -c "2 entries are too few" out)" = 01
    check "trainings: in the page" test "$(grep -c '<b>%' trained.html)$(grep -c 'id="*trainings' trained.html)" = 01
    expect "trainings: a document" 0 '' board reference.h5 twin.h5 knn-twin.h5 --outcome acc.csv --json
    pycheck "trainings: differences" "import json
b = json.load(open('out')); m, = b['outcome']['measures']
e = {e['entry']: e['outcome'][m]['mean'] for e in b['entries']}
assert m == 'acc, <b>%' and b['outcome']['data'] == 2 and abs(e['twin'] - .3) < 1e-12 and abs(e['knn-twin'] - 2.5) < 1e-12
assert b['outcome']['correlations']['mean'][m]['share']['entries'] == 2"
    echo x,other,1,1 >>acc.csv
    expect "trainings: of no entry" 0 "acc.csv: 'other' is left out: no entry of this board has the name" board reference.h5 twin.h5 knn-twin.h5 --outcome acc.csv
    printf 'entry,data,seed,acc\nuniform,x,1,0\ntwin,x,1,1e17\nknn-twin,x,1,100000000000000016\n' >large.csv
    expect "trainings: large numbers" 0 '' board reference.h5 twin.h5 knn-twin.h5 --outcome large.csv -o large.html
    check "trainings: and few ticks" test "$(grep -o 'text-anchor=end>' large.html | wc -l)" -lt 400
    printf '\xef\xbb\xbfentry,seed,acc\r\nuniform,1,1\r\ntwin,1,2\r\n' >mark.csv
    expect "trainings: a byte order mark" 0 ' \+1.00 ' board reference.h5 twin.h5 --outcome mark.csv
    printf 'entry,seed,acc\nuniform,1,1\n\0twin,1,2\n' >zero.csv
    expect "trainings: a zero byte" 3 'zero.csv: holds a zero byte' board reference.h5 twin.h5 --outcome zero.csv
    expect "trainings: no file" 3 'absent.csv' board reference.h5 twin.h5 --outcome absent.csv
    expect "trainings: not while measuring" 2 '--outcome are for a page' board --suite suite.yaml -o x.h5 --outcome acc.csv
}

# Uniform under another name is tied, or at least never told apart, and an oracle ahead, on 20 of 20 drawings of kinds.
test_truth() {
    with_python "known truth" || return 0
    entry oracle "command: {run: [$python, $here/board_oracle.py, \"{embeddings}\", \"{labels}\", \"{batch_size}\", \"{seed}\", \"{out}\"], name: oracle, needs: [labels]}" >oracle.yaml
    expect "an oracle" 0 '' board --suite suite.yaml --entry oracle.yaml -o oracle.h5 -q
    "$python" - "${kinds[@]}" >drawings <<'PY'
import itertools, random, sys
drawings = list(itertools.combinations(sys.argv[1:], 6))
print(*[" ".join(d) for d in random.Random(61).sample(drawings, 20)], sep="\n")
PY
    local n=0 ahead=0 tied=0 first=0 line
    while read -r line; do
        n=$((n + 1))
        # shellcheck disable=SC2046 # words are wanted
        run board reference.h5 twin.h5 oracle.h5 --json $(printf -- '--kinds %s ' $line)
        [ "$(verdict oracle)" != ahead ] || ahead=$((ahead + 1))
        [ "$(verdict twin)" != tied ] || tied=$((tied + 1))
        [ "$(pair oracle twin)" != ahead ] || first=$((first + 1))
    done <drawings
    check "drawings" test $n = 20
    check "an oracle is ahead of the reference: $ahead" test $ahead = 20
    check "Uniform's twin is tied: $tied" test $tied = 20
    check "an oracle is ahead of the twin: $first" test $first = 20
}

test_kept() {
    with_python "kinds kept aside" || return 0
    suite c g >kept.yaml
    expect "kept: the reference" 0 '' board --suite kept.yaml -o kept-reference.h5 -q
    expect "kept: an entry" 0 '' board --suite kept.yaml --entry knn-twin.yaml -o kept-knn.h5 -q
    expect "kept: a table" 0 '8 kinds, 2 of them kept aside' board kept-reference.h5 kept-knn.h5
    expect "kept: a document" 0 '' board kept-reference.h5 kept-knn.h5 --json
    pycheck "kept: in no score" "import json
e = json.load(open('out'))['entries'][0]['mean']['excess']; k = e['kinds']
assert abs(e['mean'] - sum(k[n]['mean'] for n in 'abdefh') / 6) < 1e-9 and abs(e['kept'] - (k['c']['mean'] + k['g']['mean']) / 2) < 1e-9"
    expect "kept: another suite" 2 'kept-knn.h5 is of another suite' board reference.h5 kept-knn.h5
}

test_wrong_entries() {
    local many='mosaic: {lambda: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}'
    wrong() { # NAME PATTERN
        expect "wrong: $1" 2 "$2" board --suite suite.yaml --entry wrong.yaml -o wrong.h5 -q
        check "wrong: $1: no file" test ! -e wrong.h5
        rm -rf wrong.h5 wrong.h5.cells
    }
    entry six "$many" >wrong.yaml
    wrong "six settings" 'wrong.yaml:5:3: 6 settings, and an entry has at most 5'
    entry '""' knn >wrong.yaml
    wrong "no name" "an entry has a name of its own, not ''"
    entry reference knn >wrong.yaml
    wrong "the reference's name" "wrong.yaml:1:1: an entry has a name of its own, not 'reference'"
    entry mined mined >wrong.yaml
    wrong "negatives of anchors" 'mined chooses negatives for each anchor'
    entry odd 'knm' >wrong.yaml
    wrong "no such sampler" "unknown sampler 'knm' .did you mean 'knn'"
    printf 'name: x\nsettings: [knn]\n' >wrong.yaml
    wrong "no authors" "'authors'"
    printf 'name: x\nauthor: y\nsettings: [knn]\n' >wrong.yaml
    wrong "an unknown key" "unknown key 'author' .did you mean 'authors'"
    printf '{' >wrong.yaml
    wrong "no YAML" 'wrong.yaml:'
    entry odd 'batchsampler: {M: 20, K: 40}' >wrong.yaml
    wrong "a setting that does not fit" 'K = 40'
    expect "wrong: no entry" 2 'absent.yaml' board --suite suite.yaml --entry absent.yaml -o wrong.h5
}

test_wrong_suites() {
    sed '0,/sha256: ./s//sha256: 0/' suite.yaml | sed '0,/sha256: 0[0-9a-f]/s//sha256: 00/' >wrong-suite.yaml
    expect "wrong: another encoder" 3 'a-1.h5 has the checksum [0-9a-f]{12}, and not 00' board --suite wrong-suite.yaml --entry twin.yaml -o wrong.h5 -q
    sed 's/sha256: .*}/sha256: abc}/' suite.yaml >wrong-suite.yaml
    expect "wrong: no digits" 2 "'sha256' of enc/a-1.h5 is not a checksum" board --suite wrong-suite.yaml -o wrong.h5 -q
    sed 's/sha256: ../sha256: xy/' suite.yaml >wrong-suite.yaml
    expect "wrong: other digits" 2 "'sha256' of enc/a-1.h5 is not a checksum" board --suite wrong-suite.yaml -o wrong.h5 -q
    { sed -n '1,/^kinds:/p' suite.yaml; for i in $(seq 65); do printf '  - {name: k%d, encoders: [{file: a, sha256: %064d}]}\n' "$i" 0; done; } >wrong-suite.yaml
    expect "wrong: too many kinds" 2 'wrong-suite.yaml:1:1: a suite has at most 64 kinds' board --suite wrong-suite.yaml -o wrong.h5 -q
    sed 's/name: b/name: a/' suite.yaml >wrong-suite.yaml
    expect "wrong: a kind twice" 2 "two kinds are called 'a'" board --suite wrong-suite.yaml -o wrong.h5 -q
    sed 's,enc/a-1,enc/z-1,' suite.yaml >wrong-suite.yaml
    expect "wrong: no encoder" 3 'z-1.h5' board --suite wrong-suite.yaml -o wrong.h5 -q
    check "wrong: no results" test ! -e wrong.h5
}

test_wrong_files() {
    with_python "wrong files" || return 0
    expect "wrong: no reference" 2 'no file is the reference of the suite' board twin.h5
    expect "wrong: two references" 2 'both the reference' board reference.h5 reference.h5 twin.h5
    expect "wrong: twice an entry" 2 "both of the entry 'twin'" board reference.h5 twin.h5 twin.h5
    expect "wrong: results of a run" 3 'is no entry of a board' board reference.h5 "$root/results/baseline.h5"
    spoiled twin.h5 changed.h5 "put('fn_ratio', 0, 0.0)"
    expect "wrong: changed results" 3 'changed.h5: has no checksum' board reference.h5 changed.h5
    head -c -100 twin.h5 >cut.h5
    expect "wrong: cut short" 3 'cut.h5' board reference.h5 cut.h5
    expect "wrong: no such kind" 2 "the suite made-up has no kind 'z'" board reference.h5 twin.h5 --kinds z
    expect "wrong: no files" 2 'no files' board
    expect "wrong: an entry without a suite" 2 'entry needs --suite' board --entry twin.yaml reference.h5
}

run_tests "${2:-}" "test_made" test_made test_page test_guide test_given test_scores test_outcome test_truth test_kept test_wrong_entries test_wrong_suites test_wrong_files
finish
