#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Samplers of other programs, in jobs of `hardneg run`: `tests/yours.sh PROGRAM [WORD]`; with a word only tests whose
# name contains it.
. "$(dirname "$0")/lib.sh"
begin yours "${1:-build/hardneg}"
"$hardneg" synth -o s.h5 --n 300 --dim 8 --classes 5 --steps 2 --views 2 --quiet
mapfile -t steps < <("$python" -c "import h5py; print(*h5py.File('s.h5')['step'][:], sep='\n')")
last=${steps[1]}

job() { # SAMPLER...: j.yaml
    printf '%s\n' 'version: 1' 'snapshots: [s.h5]' 'batch_size: 16' 'epochs: 1' 'seeds: [1, 2]' 'samplers:' >j.yaml
    printf '  - %s\n' "$@" >>j.yaml
}
column() { # RESULTS SAMPLER COLUMN
    "$python" -c "import h5py, sys
r = h5py.File(sys.argv[1])['runs']; s = r['sampler'].asstr()[:]
v = r[sys.argv[3]]; v = v.asstr()[:] if v.dtype.kind == 'O' else v[:]
print(*sorted(set(map(str, v[s == sys.argv[2]]))), sep='|')" "$@" 2>>"$work/err"
}
same_attribute() { # RESULTS RESULTS NAME
    "$python" -c "import h5py, sys
one, other = (h5py.File(f).attrs[sys.argv[3]] for f in sys.argv[1:3]); assert one and one == other" "$@"
}
is_column() { [ "$(column "$1" "$2" "$3")" = "$4" ]; } # RESULTS SAMPLER COLUMN VALUE

test_given() {
    with_python "given batches" || return 0
    local s
    "$python" "$here/farthest_first.py" write s.h5 'far-{step}-{seed}' 16 1 2
    job 'given: {file: "far-{step}-{seed}.npy", name: farthest}' 'given: {file: "far-{step}-{seed}.jsonl", name: lines}' uniform
    expect "given: batches" 0 '' run -c j.yaml -o g -q
    check "given: NumPy's measures" "$python" "$here/farthest_first.py" check s.h5 g/results.h5 farthest
    check "given: lines of JSON" same_cells g/results.h5 farthest lines
    check "given: costs are not known" is_column g/results.h5 farthest cost_s nan
    check "given: the page names it" "$hardneg" report g -q -o g.html
    check "given: its row" grep -q 'farthest' g.html
    for s in 1 2; do "$hardneg" sample s.h5 --sampler knn --step "$last" -b 16 --seed $s -o knn-$s.npy -q; done
    job knn 'given: {file: "knn-{seed}.npy", name: my-knn, cost_s: 0.5, cost_g: 6}'
    expect "given: as the sampler itself" 0 '' run -c j.yaml -o k --set "steps=[$last]" -q
    check "given: equal cells" same_cells k/results.h5 knn my-knn
    check "given: costs that are stated" is_column k/results.h5 my-knn cost_s 0.5
    check "given: building over an epoch" is_column k/results.h5 my-knn cost_g_over_t "$("$python" -c 'print(6 / 19)')"
    check "given: no counted work on the page" test "$("$hardneg" report k -q -o k.html && grep -c my-knn k.html)" -gt 0
    check "given: an epoch that misses items" test "$(column k/results.h5 my-knn note | grep -c 'an epoch holds [0-9]* of 300 items')" = 1
}

test_given_negatives() {
    with_python "given negatives" || return 0
    local s
    for s in npy jsonl; do "$hardneg" sample s.h5 --sampler '{mined: {n: 4, R: 20}}' --step "$last" -b 16 -o neg.$s -q; done
    job 'mined: {n: 4, R: 20}' 'given-negatives: {file: neg.npy, name: mine, n: 4}' 'given-negatives: {file: neg.jsonl, name: lines, n: 4}'
    expect "given: negatives" 0 '' run -c j.yaml -o n --set "steps=[$last]" -q
    check "given: equal negatives" same_cells n/results.h5 mined mine
    check "given: negatives on lines" same_cells n/results.h5 mined lines
    expect "given: negatives foreseen" 0 '  mine file=neg.npy, name=mine B=16' run -c j.yaml --dry-run --set "steps=[$last]"
    expect "given: too many negatives" 4 'anchor 0 has 4 numbers, and n is 3' run -c j.yaml -o e --set "steps=[$last]" \
        --set 'samplers=[given-negatives: {file: neg.npy, name: mine, n: 3}]' -q
}

test_given_epochs() {
    with_python "given epochs" || return 0
    local s
    for s in 1 2; do "$hardneg" sample s.h5 --sampler uniform --step "$last" -b 16 --epochs 2 --seed $s -o two-$s.npy -q; done
    "$python" -c "import numpy as np
for s in 1, 2:
    a = np.load(f'two-{s}.npy'); np.save(f'three-{s}.npy', a.reshape(2, -1, 16)); np.save(f'fortran-{s}.npy', np.asfortranarray(a.reshape(2, -1, 16).astype('>i4')))"
    job uniform 'given: {file: "two-{seed}.npy", name: per-epoch, per_epoch: 19}' 'given: {file: "three-{seed}.npy", name: three}' \
        'given: {file: "fortran-{seed}.npy", name: fortran}'
    expect "given: two epochs" 0 '' run -c j.yaml -o e --set "steps=[$last]" --set epochs=2 -q
    for s in per-epoch three fortran; do check "given: two epochs, $s" same_cells e/results.h5 uniform $s; done
    expect "given: more than there are" 4 'holds 2 epochs of 19 batches; the cell wants more' run -c j.yaml -o e3 --set "steps=[$last]" --set epochs=3 -q
}

test_given_again() {
    with_python "given files that change" || return 0
    local s
    for s in 1 2; do "$hardneg" sample s.h5 --sampler knn --step "$last" -b 16 --seed $s -o a-$s.npy -q; done
    job uniform 'given: {file: "a-{seed}.npy", name: mine}'
    run run -c j.yaml -o r --set "steps=[$last]" -q
    expect "given: unchanged files" 0 '5 cells .0 computed, 5 reused' run -c j.yaml -o r --set "steps=[$last]"
    "$hardneg" sample s.h5 --sampler uniform --step "$last" -b 16 --seed 7 -o a-2.npy -q
    expect "given: a changed file" 0 '5 cells .1 computed, 4 reused' run -c j.yaml -o r --set "steps=[$last]"
    for s in 1 2; do expect "given: part $s" 0 '' run -c j.yaml -o p$s --shard $s/2 --set "steps=[$last]" -q; done
    expect "given: parts" 0 '' merge p1 p2 -o m.h5
    expect "given: parts are the whole" 0 'no difference' compare m.h5 r
    expect "given: foreseen" 0 '  mine B=16' run -c j.yaml --dry-run --set "steps=[$last]"
    printf '%s\n' '#!/bin/bash' 'cp a-1.npy "$1"; cp a-1.npy a-2.npy' >prog.sh
    chmod +x prog.sh
    job 'command: {run: [./prog.sh, "{out}"], name: first}' 'given: {file: "a-{seed}.npy", name: mine}'
    expect "given: a file that changes during the run" 4 'a-2.npy: has changed since the run began' run -c j.yaml -o w --set "steps=[$last]" -q
    # A file that another process writes anew all the time: a result, or a sentence, and never a mixture of two.
    job 'given: {file: "live.npy", name: mine}'
    for s in 1 2; do "$hardneg" sample s.h5 --sampler uniform --step "$last" -b 16 --seed $s --epochs $((s * s)) -o live-$s.npy -q; done
    cp live-1.npy live.npy
    (while [ ! -e still ]; do cat live-2.npy >live.npy; cat live-1.npy >live.npy; head -c 999 live-1.npy >live.npy; cat live-1.npy >live.npy; done) &
    for s in 1 2 3 4 5 6; do
        rm -rf live
        run run -c j.yaml -o live --set "steps=[$last]" --set 'seeds=[1]' -q
        ended "given: a file that is written meanwhile" '0|3|4'
        check "given: and what it says" eval '[ $rc = 0 ] || complains "live.npy: (has changed|holds|is empty|header|is not)"'
    done
    : >still
    wait
    job uniform 'given: {file: "a-{seed}.npy", name: mine}'
    expect "given: seeds that do not differ" 0 'a-2.npy: has the batches of a-1.npy' run -c j.yaml -o t --set "steps=[$last]"
}

test_refused() {
    with_python "given files that do not fit" || return 0
    local s no=(run -c j.yaml -o no --set "seeds=[1]" --set "steps=[$last]" -q)
    job uniform
    "$python" -c "
import numpy as np
good = np.random.default_rng(1).permutation(304).reshape(19, 16); good[good >= 300] = -1
good = np.array([sorted(b, key=lambda i: i < 0) for b in good])
def save(name, change):
    a = good.copy().astype(object); change(a); np.save(name, a.astype('i8'))
def put(b, i, v): return lambda a: a[b].__setitem__(i, v)
save('good.npy', lambda a: None)
save('beyond.npy', put(3, 5, 300)); save('wide.npy', put(3, 5, 2 ** 31)); np.save('wide-u4.npy', np.full((19, 16), 2 ** 31, 'u4')); np.save('low-i4.npy', np.full((19, 16), -2 ** 31, 'i4'))
open('wide.jsonl', 'w').write('[0, 2147483648]\n'); open('long.jsonl', 'w').write('[0, 99999999999999999999]\n')
save('huge.npy', put(3, 5, 2 ** 40 + 7)); save('minus.npy', put(3, 5, -2)); save('hole.npy', put(3, 0, -1))
save('empty-batch.npy', put(4, slice(None), -1))
a = good.copy(); a[2, 1] = a[2, 0]; np.save('twice.npy', a)
np.save('floats.npy', good.astype('f8')); np.save('flat.npy', good.ravel()); np.save('none.npy', good[:0]); np.save('narrow.npy', good[:, :8][good[:, 7] >= 0])
np.save('texts.npy', good.astype('U4')); np.save('unsigned.npy', np.full((2, 16), 2 ** 64 - 1, 'u8')); np.save('four.npy', good[None, None])
open('short.npy', 'wb').write(open('good.npy', 'rb').read()[:700]); open('empty.npy', 'w')
open('header.npy', 'wb').write(open('good.npy', 'rb').read()[:128].replace(b'(19, 16)', b'(9000000000000000, 9000)'.ljust(8))[:200])
open('deep.jsonl', 'w').write('[[1, 2]]\n'); open('half.jsonl', 'w').write('[1, 2\n'); open('real.jsonl', 'w').write('[1.5]\n')
open('second.jsonl', 'w').write(str([int(i) for i in good[0]]) + '\n\n[1, \"a\"]\n'); open('anchor.jsonl', 'w').write('{\"anchor\": 1, \"negatives\": [3]}\n')"
    for s in "beyond.npy:batch 3, position 5: item 300" "wide.npy:batch 3, position 5: item 2147483648" "wide-u4.npy:batch 0, position 0: item 2147483648" \
        "low-i4.npy:position 0: item -2147483648" "wide.jsonl:batch 0, position 1: item 2147483648" "long.jsonl:line 1: " "huge.npy:batch 3, position 5: item 1099511627783" "minus.npy:item -2" "hole.npy:position 0: item -1" \
        "empty-batch.npy:batch 4 is empty" "twice.npy:batch 2 holds item [0-9]* twice" "floats.npy:whole numbers" "flat.npy:1 dimension" \
        "none.npy:holds no batch" "narrow.npy:up to 8 items, and batch_size is 16" "texts.npy:whole numbers" "unsigned.npy:beyond 2.63" "four.npy:4 dimensions" \
        "short.npy:holds [0-9]* bytes" "empty.npy:is empty" "header.npy:header" "deep.jsonl:line 1: wants a list" "half.jsonl:line 1: wants a list" \
        "real.jsonl:line 1: wants a list" "second.jsonl:line 3: wants a list" "anchor.jsonl:line 1: wants a list"; do
        expect "given: ${s%%:*}" 4 "${s%%:*}: .*${s#*:}" "${no[@]}" --set "samplers=[given: {file: ${s%%:*}, name: a}]"
        rm -rf no
    done
    expect "given: drawn with replacement" 0 '' "${no[@]}" --set 'samplers=[given: {file: twice.npy, name: a, repeats: true}]'
    rm -rf no
    for s in "given|wants .file." "given: {file: good.npy}|wants .name." "given: {file: good.npy, name: knn}|is a sampler of hardneg" \
        "given: {file: good.npy, name: given}|is a sampler of hardneg" "given: {file: good.npy, name: a/b}|may hold letters" \
        'given: {file: "{what}.npy", name: a}|.what. is not known; .step.' 'given: {file: "a, b.npy", name: a}|separates options'; do
        expect "given: ${s%%|*}" 2 "${s#*|}" "${no[@]}" --set "samplers=[${s%%|*}]"
    done
    expect "given: no such file" 3 'a: no.npy: cannot be opened' "${no[@]}" --set 'samplers=[given: {file: no.npy, name: a}]'
    expect "given: a folder" 3 'it is a folder' "${no[@]}" --set 'samplers=[given: {file: ., name: a}]'
    expect "given: one file for two seeds" 2 'put .seed. into its name' "${no[@]}" --set 'samplers=[given: {file: good.npy, name: a}]' --set 'seeds=[1, 2]'
    check "given: what is refused leaves nothing" test ! -e no
    expect "given: sample" 2 'only .hardneg run. measures them' sample s.h5 --sampler '{given: {file: good.npy, name: a}}' -b 16 -o x.npy
    job 'given: {file: good.npy, name: a}'
    expect "given: choose" 2 'choose draws more of those that do well' choose s.h5 --samplers j.yaml --max-excess 2 -b 16
    printf '%s\n' 'version: 1' 'task: [{node: {data: cora}}]' 'samplers: [{given: {file: good.npy, name: a}}]' 'batch_size: 16' 'steps: 2' >t.yaml
    check "given: train" test "$("$hardneg" train -c t.yaml -o t -q >out 2>err; echo $?)" != 0
}

# A program for `command`, in a folder of its own; its arguments are the cell's.
command_job() { # LINE...: prog.sh; j.yaml
    printf '%s\n' '#!/bin/bash' "$@" >prog.sh
    chmod +x prog.sh
    job 'command: {run: [./prog.sh, "{out}", "{embeddings}", "{seed}", "{batch_size}"], name: mine}'
}
test_command() {
    with_python "commands" || return 0
    cat >mine.py <<P
import json, sys
import numpy as np
sys.path.insert(0, "$here")
from farthest_first import farthest_first
x = np.load(sys.argv[1])
assert x.dtype == "f4" and len(sys.argv) == 5, sys.argv
open("ran", "a").write(".")
open(sys.argv[4], "w").writelines(json.dumps(b) + "\n" for b in farthest_first(x, int(sys.argv[3]), int(sys.argv[2])))
P
    job uniform "command: {run: [$python, mine.py, '{embeddings}', '{seed}', '{batch_size}', '{out}'], name: farthest}"
    local one=(--set "steps=[$last]" --set 'temperature=[0.5, 1]')
    expect "command: foreseen" 0 'farthest' run -c j.yaml --dry-run "${one[@]}"
    check "command: a dry run does not run it" test ! -e ran
    expect "command" 0 '' run -c j.yaml -o c -q "${one[@]}"
    check "command: NumPy's measures" "$python" "$here/farthest_first.py" check s.h5 c/results.h5 farthest
    check "command: once a seed, for both temperatures" test "$(cat ran)" = ..
    check "command: its time is the cost" "$python" -c "import h5py
r = h5py.File('c/results.h5')['runs']; g = r['cost_g'][:][r['sampler'].asstr()[:] == 'farthest']
assert len(g) == 4 and (g > .02).all() and (g < 300).all(), g"
    check "command: reports do not run it" test "$("$hardneg" report c -q -o c.html; "$hardneg" export c --csv >/dev/null; cat ran)" = ..
    expect "command: again" 0 '0 computed, 9 reused' run -c j.yaml -o c "${one[@]}"
    echo '# changed' >>mine.py
    expect "command: a changed program" 0 '4 computed, 5 reused' run -c j.yaml -o c "${one[@]}"
    job "command: {run: [$python, mine.py, '{embeddings}', '{seed}', '{batch_size}', '{out}'], name: farthest, version: 2}"
    run run -c j.yaml -o v -q --set "steps=[$last]"
    echo '# changed' >>mine.py
    expect "command: with a version" 0 '0 computed, 3 reused' run -c j.yaml -o v --set "steps=[$last]"
    cat >needs.py <<'P'
import sys
import numpy as np
x, y, u, v, out = sys.argv[1:6]
x, y, u, v = (np.load(f) for f in (x, y, u, v))
assert y.dtype == "i8" and y.shape == (300,) and u.shape == v.shape == (300, 8) and not np.array_equal(u, v) and not np.array_equal(x, u)
np.save(out, np.resize(np.argsort(y, kind="stable"), (19, 16)))
P
    job "command: {run: [$python, needs.py, '{embeddings}', '{labels}', '{view1}', '{view2}', '{out}'], name: by-label, needs: [labels, view1, view2], repeats: true}"
    expect "command: labels and views" 0 '' run -c j.yaml -o l -q --set 'seeds=[1]'
    echo 'import sys; open(sys.argv[1], "w").writelines("[%d]\n" % ((i + 1) % 300) for i in range(300))' >next.py
    job "command-negatives: {run: [$python, next.py, '{out}'], name: next, n: 2}"
    expect "command: negatives" 0 '' run -c j.yaml -o ng -q --set "steps=[$last]"
    check "command: one negative each" is_column ng/results.h5 next negatives_mean 1.0
}

test_outcome() {
    with_python "outcomes" || return 0
    job uniform knn 'batchsampler: {M: 50, K: 20, alpha: [0.1, 0.5]}' ngame 'mosaic: {lambda: 0.5, pool: 50}'
    expect "outcome: results" 0 '' run -c j.yaml -o oc -q --set 'seeds=[1, 2, 3]' --set 'metrics=[fn_ratio, true_hardness]'
    "$python" -c "import random
random.seed(4)
rows = [('uniform', '', 70), ('knn', '', 66), ('batchsampler', 'alpha=0.1', 71), ('batchsampler', '\"M=50, alpha=0.5\"', 69), ('ngame', '', 72), ('mosaic', '', 70.5)]
with open('acc.csv', 'w') as f:
    f.write('sampler,params,seed,accuracy,loss\r\n')
    for s, p, a in rows:
        for seed in 1, 2, 3: f.write(f'{s},{p},{seed},{a + random.gauss(0, .3) + seed:.3f},{100 - a if seed < 3 else \"\"}\r\n')"
    expect "outcome: the page" 0 '' report oc --outcome acc.csv -o oc.html -q
    check "outcome: means, differences and correlations are SciPy's" "$python" -c "import csv, h5py, html, numpy as np, re
from scipy import stats
page = open('oc.html', encoding='utf-8').read(); part = page[page.index('id=\"outcome\"'):]
table = {html.unescape(h): [float(v) if v else None for v in re.findall('data-v=\"?([^\" >]*)', r)] for h, r in re.findall('<tr><th scope=row>(.*?)</th>(.*?)</tr>', part[:part.index('</table>')])}
assert len(table) == 6, table
rows = list(csv.DictReader(open('acc.csv')))
def of(s, p=''): return np.array([float(r['accuracy']) for r in rows if r['sampler'] == s and r['params'].endswith(p)])
r = h5py.File('oc/results.h5')['runs']; s, p = r['sampler'].asstr()[:], r['params'].asstr()[:]; last = r['step'][:] == $last
base = of('uniform'); x, e, y = [], [], []
for name, option in ('uniform', ''), ('knn', ''), ('batchsampler', 'alpha=0.1'), ('batchsampler', 'alpha=0.5'), ('ngame', ''), ('mosaic', ''):
    mine = [v for k, v in table.items() if k.startswith(name) and option in k]
    assert len(mine) == 1, (name, table); mine = mine[0]; v = of(name, option)
    assert mine[0] == 3 and abs(mine[1] - v.mean()) < 1e-6, (name, mine, v)
    assert mine[2] is None if name == 'uniform' else abs(mine[2] - (v - base).mean()) < 1e-6, (name, mine)
    rows_of = last & (s == name) & np.array([option in o for o in p])
    fn = lambda w: r['fn_ratio'][:][w]
    y.append(v.mean()); x.append(r['true_mean'][:][rows_of].mean()); e.append((fn(rows_of) - fn(last & (s == 'uniform'))).mean())
said = [(float(rho), float(lo), float(hi), int(n)) for rho, n, lo, hi in re.findall(r'correlation ([+-][0-9][.][0-9]+) over ([0-9]) settings, 95 % interval ([+-][0-9][.][0-9]+) to ([+-][0-9][.][0-9]+)', part)]
for k, values in enumerate(map(np.array, (x, e))):
    has = np.isfinite(values); n = has.sum(); assert n >= 5
    rho = stats.spearmanr(values[has], np.array(y)[has])[0]; half = 1.959964 * np.sqrt((1 + rho * rho / 2) / (n - 3))
    wanted = rho, np.tanh(np.arctanh(rho) - half), np.tanh(np.arctanh(rho) + half), n
    assert n == 6 or 'Not drawn, as some of their batches have no such value: knn' in part
    assert np.abs(np.subtract(said[k], wanted)).max() < .0051, (said[k], wanted)
half = stats.t.ppf(.975, 2) * (of('knn') - base).std(ddof=1) / 3 ** .5
assert f'± {half:.2f}' in part or f'± {half:.1f}' in part or f'± {half:.3f}' in part, half" 2>"$work/err"
    check "outcome: no two labels of a picture overlap" "$python" -c "import re
page = open('oc.html', encoding='utf-8').read(); part = page[page.index('id=\"outcome\"'):]
pictures = re.findall('<svg.*?</svg>', part[:part.index('</details>')], re.S)
assert len(pictures) == 4, len(pictures)
for picture in pictures:
    boxes = [(float(x) - 6 * len(t) * (a == 'end'), float(y), 6 * len(t)) for x, y, a, t in re.findall('<text x=\"([^\"]*)\" y=\"([^\"]*)\" text-anchor=([a-z]*) font-size=10[^>]*>([^<]*)</text>', picture)]
    assert len(boxes) >= 5, boxes
    for i, (x, y, w) in enumerate(boxes):
        for u, v, z in boxes[:i]: assert not (x < u + z and u < x + w and abs(y - v) < 11), (boxes, picture)" 2>"$work/err"
    check "outcome: a link to it" grep -q '<a href="#outcome">' oc.html
    local s
    for s in "sampler,acc\nknm,1|line 2: is of no setting" "sampler,acc\nbatchsampler,1|line 2: is of several settings" "sampler,acc\nknn,x|line 2, column acc: 'x' is no number" \
        "sampler,seed\nknn,1|line 1 names no measure" "sampler,acc\nknn|has 1 fields" "sampler,seed,acc\nknn,1,2\n\nknn,1,3|lines 2 and 4 are of one" "sampler,acc\n|holds no row" \
        "sampler,acc\nknn,inf|is no number" "|is empty" ",acc\nknn,1|a column has no name"; do
        printf "${s%%|*}" >bad.csv
        expect "outcome: ${s#*|}" 3 "bad.csv: .*${s#*|}" report oc --outcome bad.csv -o bad.html -q
    done
    expect "outcome: no file" 3 'no.csv' report oc --outcome no.csv -o bad.html -q
    truncate -s $(((16 << 20) + 1)) large.csv
    expect "outcome: too large" 3 'large.csv: is not a table of at most 16 MiB' report oc --outcome large.csv -o bad.html -q
    # A job that names the table: the page of its results is that of --outcome, wherever they are.
    local named=(run -c j.yaml -o named -q --set 'seeds=[1, 2, 3]' --set 'metrics=[fn_ratio, true_hardness]')
    expect "outcome: of a job" 0 '' "${named[@]}" --set outcome=acc.csv
    mkdir -p elsewhere && cp named/results.h5 elsewhere
    expect "outcome: its page" 0 '' report elsewhere -q
    outcome_of() { sed -n '/<details[^>]*id="\{0,1\}outcome/,/<\/details>/p' "$1"; }
    check "outcome: is that of the option" test -n "$(outcome_of oc.html)" -a "$(outcome_of elsewhere/index.html)" = "$(outcome_of oc.html)"
    printf 'sampler,acc\nuniform,9\n' >other.csv
    expect "outcome: the option goes first" 0 '' report elsewhere --outcome other.csv -q
    check "outcome: and is another" test "$(outcome_of elsewhere/index.html)" != "$(outcome_of oc.html)"
    expect "outcome: added to finished cells" 0 '0 computed' run -c j.yaml -o oc --set 'seeds=[1, 2, 3]' --set 'metrics=[fn_ratio, true_hardness]' --set outcome=acc.csv
    for s in 1 2; do
        expect "outcome: of part $s" 0 'acc.csv: kept for the whole job' "${named[@]/-q/-v}" -o part$s --set outcome=acc.csv --shard $s/2
    done
    expect "outcome: the page of a part" 0 'acc.csv: left out, as cells are missing' report part1
    expect "outcome: merged" 0 '' merge part1 part2 -o merged.h5 -q
    expect "outcome: its page" 0 '' report merged.h5 -o merged.html -q
    check "outcome: of merged parts is that of the whole job" test "$(outcome_of oc.html)" = "$(outcome_of merged.html)"
    expect "outcome: a part alone" 4 '' merge part1 -o alone.h5 -q
    expect "outcome: merged again" 0 '' merge alone.h5 part2 -o again.h5 -q
    check "outcome: is kept" same_attribute merged.h5 again.h5 outcome
    expect "outcome: of a part, another" 0 '' "${named[@]}" -o part2 --set outcome=other.csv --shard 2/2
    expect "outcome: two tables" 0 'different tables of outcomes: none is kept' merge part1 part2 -o two.h5
    check "outcome: are none" "$python" -c "import h5py; assert 'outcome' not in h5py.File('two.h5').attrs"
    printf 'sampler,acc\nknm,1\n' >bad.csv
    expect "outcome: a wrong table" 3 'bad.csv: line 2: is of no setting' "${named[@]}" --set outcome=bad.csv -o wrong
    expect "outcome: costs no cell" 0 '0 computed' run -c j.yaml -o wrong --set 'seeds=[1, 2, 3]' --set 'metrics=[fn_ratio, true_hardness]'
    expect "outcome: a table that is not there" 3 'none.csv: cannot be opened' "${named[@]}" --set outcome=none.csv -o none
    check "outcome: nothing is begun" test ! -e none
    "$python" -c "open('large.csv', 'w').write(open('acc.csv').read() + '\n' * 300000)"
    expect "outcome: a large table" 0 '' "${named[@]}" --set outcome=large.csv
    expect "outcome: its page" 0 '' report named -q
    expect "outcome: of several results" 2 'for one results file' report oc g --outcome acc.csv -o bad.html -q
    check "outcome: refused ones leave no page" test ! -e bad.html
}

# A training of one's own: its table, and the page that has it.
test_example() {
    local build=${hardneg%/*}
    "${python:-false}" -c 'import torch, sklearn' 2>/dev/null && [ -e "$build/libhardneg.so" ] || { skip "an example in PyTorch" "no torch, sklearn or library"; return 0; }
    check "example: four samplers in PyTorch" env PYTHONPATH="$root/python" HARDNEG_LIBRARY="$build/libhardneg.so" HARDNEG_PROGRAM="$hardneg" \
        "$python" "$root/python/examples/outcome.py" own --epochs 1 --seeds 3 >out 2>err
    check "example: its table" test "$(wc -l <own/acc.csv)" = 13
    check "example: the terminal has a row for each sampler and step" test "$(grep -cE '^(uniform|knn|gcbs|mosaic) +[01] ' out)" = 8
    check "example: its page" grep -q 'nearest neighbour (%) over mean cosine of true negatives' own/page.html
}

# docs/guide/your-sampler.md from top to bottom as it stands: the same numbers by every door, which are NumPy's, and those of the
# same sampler in C.
test_guide() {
    with_python "the guide" || return 0
    local build=${hardneg%/*}
    [ -e "$build/libhardneg.so" ] || { skip "the guide" "no library"; return 0; }
    mkdir -p guide/bin && cd guide || return 1
    ln -s "$build" build && cp -r "$root/python" python && ln -s "$python" bin/python3
    "$python" -c "import re, sys
for name, code, lines in re.findall(r'\x60([\w.]+)\x60:\n\n\x60{3}(?:python|yaml)\n((?:.*\n)*?)\x60{3}|^((?:    \S.*\n)+)', open(sys.argv[1]).read(), re.M):
    if name: open(name, 'w').write(code); print('test -s', name)
    else: print(*(l.strip() for l in lines.splitlines() if l.strip()), sep='\n')" "$root/docs/guide/your-sampler.md" >follow.sh
    check "guide: files and commands" test "$(grep -c '^test' follow.sh)-$(grep -vc '^test' follow.sh)" = 8-8
    check "guide: followed to the end" env PATH="$PWD/bin:$PATH" bash -eux follow.sh >"$work/out" 2>"$work/err"
    check "guide: what is recorded" test "$(cat seen-1.jsonl)" = $'[0, 1, 2, 3]\n[4, 5, 6, 7]'
    check "guide: the same numbers by every door" "$python" -c "import h5py, numpy as np, sys
sys.path.insert(0, sys.argv[1])
from farthest_first import measures
from mine import farthest_first
x, y = np.load('x.npy'), np.load('y.npy'); x = x.astype('f8'); x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype('f4')
found = [measures(x, y, farthest_first(x, 64, s)) for s in (1, 2, 3)]
aside = {'cell_key', 'run_key', 'dataset', 'snapshot', 'snapshot_sha256', 'params', 'note', 'cost_s', 'cost_g', 'cost_g_over_t', 'share_of_limit', 'peak_rss', 'stalls', 'row'}
doors = []
for path in 'results/mine', 'results/program', 'results/mine-py/results':
    r = h5py.File(path + '/results.h5')['runs']
    rows = (r['sampler'].asstr()[:] == 'farthest-first') & (r['batch_size'][:] == 64)
    assert list(r['seed'][:][rows]) == [1, 2, 3], path
    assert list(r['fn_ratio'][:][rows]) == [f for f, _ in found], path
    assert np.abs(r['cos_mean'][:][rows] - [c for _, c in found]).max() < 1e-9, path
    doors.append({k: r[k][:][rows] for k in sorted(set(r) - aside)})
for other in doors[1:]:
    for k in doors[0].keys() & other.keys(): assert np.array_equal(doors[0][k], other[k], equal_nan=other[k].dtype.kind == 'f'), (k, doors[0][k], other[k])" "$here" 2>"$work/err"
    cd .. || return 1
}

nothing_runs() { ! grep -lsa "hostile-$$" /proc/[0-9]*/cmdline; } # of the processes that tests here start
no_scratch() { [ -z "$(ls -A tmp)" ]; }
test_hostile() {
    local one=(run -c j.yaml -q --set "steps=[$last]" --set 'seeds=[1]') s begun child
    export -n OMP_WAIT_POLICY
    mkdir -p tmp
    export TMPDIR=$work/tmp
    refused() { # NAME PATTERN [ARGUMENT...]: the cell of prog.sh fails with that
        local name=$1 pattern=$2
        shift 2
        rm -rf no
        expect "command: $name" 4 "mine: .*$pattern" "${one[@]}" -o no "$@"
        check "command: $name leaves nothing running" nothing_runs
        check "command: $name leaves no file" no_scratch
    }
    command_job 'echo first >&2; echo "ValueError: of mine" >&2; exit 3'
    refused "that fails" 'ended with code 3: ValueError: of mine$'
    command_job 'true'
    refused "that writes nothing" 'wrote no .out'
    command_job 'echo "[0, 1, 2]" >"$1"'
    refused "other sizes" 'its output: its batches hold up to 3 items, and batch_size is 16: give the program .batch_size'
    command_job 'echo call >>calls; n=$((17 - $(wc -l <calls))); seq 0 299 | while mapfile -t -n $n b && [ ${#b[@]} -gt 0 ]; do (IFS=,; echo "[${b[*]}]"); done >"$1"'
    refused "other sizes each time" 'its batches hold up to 15 items, and batch_size is 16' --set 'timing={reps: 3, warmup: 1}'
    check "command: the second call is refused" test "$(wc -l <calls)" = 2
    command_job 'echo x >"$1"'
    refused "no array" 'its output: is not a .npy file'
    command_job 'rm -f "$1"; mkfifo "$1"'
    refused "a pipe" 'cannot be opened'
    command_job "exec -a hostile-$$ sleep 100"
    refused "that hangs" 'took more than 1 s' --set "samplers=[command: {run: [./prog.sh, '{out}'], name: mine, timeout: 1}]"
    command_job "(exec -a hostile-$$ sleep 100) & setsid bash -c '(exec -a hostile-$$ sleep 100) & (exec -a hostile-$$ sleep 100)' & exit 4"
    refused "that forks" 'ended with code 4'
    command_job 'yes | head -c 300000000 >&2; yes | head -c 1000000000; exit 5'
    refused "that prints much" 'ended with code 5: y$'
    command_job 'exec head -c 2000000000 /dev/zero >"$1"'
    refused "that writes without end" 'wrote a file of more than 1024 MiB'
    command_job 'kill -SEGV $$'
    refused "that crashes" 'ended by signal 11'
    command_job 'printf "no end of a line" >&2; exit 6'
    refused "without a line's end" 'code 6: no end of a line$'
    job 'command: {run: [./no-such, "{out}"], name: mine}'
    refused "that is not there" 'cannot be started: No such file'
    for s in INT KILL; do
        command_job "echo started >began; exec -a hostile-$$ sleep 100"
        rm -rf no began
        "$hardneg" "${one[@]}" -o no >out 2>err &
        child=$!
        check "command: begins ($s)" wait_for 60 test -e began
        kill -$s $child
        wait $child
        rc=$?
        check "command: $s" test $rc = $([ $s = INT ] && echo 130 || echo 137)
        check "command: $s leaves nothing running" wait_for 20 nothing_runs
    done
    unset TMPDIR
    for s in "command|wants .run." "command: {run: [a], name: b}|no argument has .out." "command: {run: ['{out}'], name: b, needs: [x]}|none of labels" \
        "command: {run: ['{out}', '{labels}'], name: b}|run: .labels. is not known" "command: {run: [{out}], name: b}|stands in quotes"; do
        job uniform
        expect "command: ${s%%|*}" 2 "${s#*|}" run -c j.yaml -o no2 --set "samplers=[${s%%|*}]"
    done
}

run_tests "${2:-}" "" $(declare -F | sed -n 's/^declare -f \(test_.*\)/\1/p')
finish
