#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `hardneg choose`: `tests/choose.sh PROGRAM [WORD]`; with a word only tests whose name contains it.
. "$(dirname "$0")/lib.sh"
begin choose "${1:-build/hardneg}"
"$hardneg" synth -o s.h5 --n 600 --dim 8 --classes 5 --steps 4 --views 2 --quiet
printf 'samplers:\n  - knn\n  - mosaic: {pool: 300, lambda: [0, 0.9, 2]}\n  - batchsampler: {M: 100, K: 20, alpha: [0.1, 0.9], t: 1}\n' >grid.yaml
quick=(-b 16 --seeds 4 --batches 20)

# The documents are the same but for times.
same_choice() { # FILE FILE
    "$python" -c "import json, sys
def read(path):
    c = json.load(open(path))
    c.pop('work')
    for s in c['settings']: s.pop('seconds')
    return c
assert read(sys.argv[1]) == read(sys.argv[2])" "$1" "$2" 2>"$work/err"
}

test_choice() {
    expect "choose" 0 '' choose s.h5 -c grid.yaml --max-fn 0.3 "${quick[@]}"
    check "choose: an answer in words" says '^(Take|Uniform will do)'
    check "choose: the work" says 'Ran [0-9]+ of the 28 runs of a full grid \([0-9]+ %\), [0-9.:ms ]+ instead of about [0-9.:ms ]+\.'
    check "choose: other steps" says '^Step [0-9]+: '
    expect "choose --quiet" 0 '' choose s.h5 -c grid.yaml --max-fn 0.3 "${quick[@]}" -q
    check "choose --quiet is silent" silent
    expect "choose: the default grid" 0 '' choose s.h5 "${quick[@]}" --seeds 2 --checks 0 --json
    cp out all.json
    pycheck "every sampler of whole batches" "
import json, subprocess
listed = json.loads(subprocess.run(['$hardneg', 'list', 'samplers', '--json'], capture_output=True).stdout)['samplers']
whole = {s['name'] for s in listed if not {'per_anchor', 'needs_groups', 'given'} & set(s['flags'])} - {'file-order'}
assert {s['sampler'] for s in json.load(open('all.json'))['settings']} == whole, whole"
    pycheck "the line of a setting is one of a job" "
import json, subprocess
for s in json.load(open('all.json'))['settings'][::5]:
    subprocess.run(['$hardneg', 'sample', 's.h5', '--sampler', s['job'], '-b', '16', '-o', 'o.npy', '-q'], check=True)"
}

# The guide prints an answer, with dots for what it leaves out; times are those of its machine.
test_guide() {
    expect "choose: the guide's command" 0 '^Take' choose "$root/datasets/cifar10-mini.h5" --max-excess 2 --batch-size 64 --checks 0 -q
    pycheck "the guide's answer" '
import re, sys
words = lambda text: re.sub(r"[0-9.]+ ms", "ms", " ".join(text.split()))
guide, out = (open(path).read() for path in sys.argv[1:])
answer = words(re.search(r"^    Take .*?\n\n", guide, re.M | re.S)[0])
for part in answer.split(" ... "):
    assert part in words(out), part' "$root/docs/guide/choosing.md" "$work/out"
}

# 200 items in batches of 128: a batch a seed, and wide intervals; one setting is shown to be harder.
test_words() {
    local wide=(wide.h5 -c wide.yaml -b 128 --max-excess 0.5 --checks 0)
    "$hardneg" synth -o wide.h5 --n 200 --dim 16 --classes 10 --super-classes 1 --kappa-to 10 --steps 1 --quiet
    printf 'samplers: [gcbs, osgd, {mosaic: {lambda: [0.5, 0.9, 2]}}, {batchsampler: {M: 150, K: 20}}]\n' >wide.yaml
    expect "choose --json of wide intervals" 0 '"open": true' choose "${wide[@]}" --json
    cp out all.json
    expect "choose: the answer in words" 0 'Not determined, .* Ruled out: ' choose "${wide[@]}"
    pycheck "no setting is ruled out that is named as tied, borderline or not determined" "
import json, re
fallen = [s for s in json.load(open('all.json'))['settings'] if s['fate'] not in ('chosen', 'left')]
named = [s for s in fallen if s['tied'] or s['rival'] or s['open']]
said = re.search(' Ruled out: ([^.(]*)', open('out').read()).group(1)
assert named and sum(map(int, re.findall('[0-9]+', said))) == len(fallen) - len(named), (said, len(fallen), len(named))"
}

# Of the choice: its budget, and what `run` measures of the same setting and seeds.
test_numbers() {
    expect "choose --json" 0 '' choose s.h5 -c grid.yaml --max-fn 0.3 "${quick[@]}" --json
    cp out c.json
    "$python" -c "import json; c = json.load(open('c.json'))['settings'][0]; assert c['fate'] == 'chosen'
open('j.yaml', 'w').write('snapshots: s.h5\nsteps: [300]\nbatch_size: 16\nepochs: 1\nseeds: [1, 2, 3, 4]\nmetrics: [fn_ratio, hardness]\nsamplers: [%s]\n' % c['job'])"
    expect "run of the choice" 0 '' run -c j.yaml -o r -q
    pycheck "choose and run agree" "
import json, h5py, numpy as np
c = json.load(open('c.json')); s = c['settings'][0]
assert s['sampler'] == 'mosaic' and c['step'] == 300 and s['seeds'] == 4, s
fn = h5py.File('r/results.h5')['runs/fn_ratio'][:]
assert len(fn) == 4 and abs(fn.mean() - s['fn_ratio']['mean']) < 1e-9, (fn, s['fn_ratio'])
assert s['fn_ratio']['mean'] <= c['max_fn'] and s['hardness']['lo'] <= s['hardness']['mean'] <= s['hardness']['hi']"
    expect "choose --goal hardest" 0 'hardest' choose s.h5 -c grid.yaml --goal hardest "${quick[@]}" --json
    cp out h.json
    expect "choose --goal p99" 0 'p99' choose s.h5 -c grid.yaml --goal p99 "${quick[@]}" --json
    expect "choose --goal lme" 0 '"temperature": 0.1' choose s.h5 -c grid.yaml --goal lme --temperature 0.1 "${quick[@]}" --json
    cp out l.json
    expect "and says at which temperature" 0 'log-mean-exp of the cosines of true negatives at temperature 0.1 ' choose s.h5 -c grid.yaml --goal lme --temperature 0.1 "${quick[@]}"
    "$python" -c "import json; c = json.load(open('l.json'))['settings'][0]
open('l.yaml', 'w').write('snapshots: s.h5\nsteps: [300]\nbatch_size: 16\nepochs: 1\nseeds: [1, 2, 3, 4]\ntemperature: 0.1\nmetrics: [fn_ratio, true_hardness]\nsamplers: [%s]\n' % c['job'])"
    expect "run of that choice" 0 '' run -c l.yaml -o rl -q
    # The mean over batches lies between the mean cosine and what all pairs of an epoch give (Jensen).
    pycheck "choose and run agree on what a loss sees" "
import json, h5py
s = json.load(open('l.json'))['settings'][0]; r = h5py.File('rl/results.h5')['runs']
own, lme, mean = s['hardness']['mean'], r['true_lme'][:].mean(), r['true_mean'][:].mean()
assert s['seeds'] == 4 and mean < own < lme, (own, lme, mean)"
}

# mosaic with its default lambda has 19.65 % of false negatives, +- .6.
test_edge_of_the_budget() {
    expect "well within" 0 'within the budget of 27 %' choose s.h5 -c grid.yaml --max-fn 0.27 "${quick[@]}"
    # The budget is Uniform's ratio of the same call and the points; the grid is refined where it lies.
    expect "points over Uniform" 0 '' choose s.h5 --max-excess 4 "${quick[@]}" --checks 0 --json
    check "the budget follows Uniform" "$python" -c 'import json; c = json.load(open("out"))
[u] = [s for s in c["settings"] if s["reference"]]
assert abs(c["budget"] - u["fn_ratio"]["mean"] - 0.04) < 1e-12 and c["max_fn"] is None, c["budget"]
[t] = [s for s in c["settings"] if s["fate"] == "chosen"]
assert t["fn_ratio"]["mean"] <= c["budget"], t
new = [s for s in c["settings"] if s["refined"]]
assert 0 < len(new) <= 6 and all(s["seeds"] > 0 for s in new), new
assert len({s["job"] for s in c["settings"]}) == len(c["settings"])'
    expect "no points: Uniform or its like" 0 '0 points above Uniform|Uniform will do' choose s.h5 -c grid.yaml --max-excess 0 "${quick[@]}"
    expect "one point" 0 "budget of [0-9.]+ %: 1 point above Uniform's" choose s.h5 -c grid.yaml --max-excess 1 "${quick[@]}"
    expect "the answer names the excess" 0 "budget of [0-9.]+ %: 7 points above Uniform's [0-9.]+ \\+- [0-9.]+ %\\)" choose s.h5 -c grid.yaml --max-excess 7 "${quick[@]}"
    expect "on the edge, within" 0 'on the edge of the budget of 20\.1 %' choose s.h5 -c grid.yaml --max-fn 0.201 "${quick[@]}"
    expect "on the edge, above" 0 'borderline false negatives: mosaic: \{pool: 300\} \(19\.' choose s.h5 -c grid.yaml --max-fn 0.192 "${quick[@]}"
    expect "the same as JSON" 0 '' choose s.h5 -c grid.yaml --max-fn 0.192 "${quick[@]}" --json
    cp out e.json
    pycheck "edge and rival" "
import json
c = {s['job']: s for s in json.load(open('e.json'))['settings']}
rival, other = c['{mosaic: {pool: 300}}'], c['{mosaic: {pool: 300, lambda: 2}}']
assert rival['rival'] and rival['edge'] and rival['fn_ratio']['mean'] > .192, rival
assert other['fate'] == 'chosen' and not other['edge'] and not other['rival'], other
assert not any(s['rival'] for s in c.values() if s is not rival)"
}

# 200 items in batches of 128: a seed has one batch, and four do not show the setting that is harder.
test_few_items() {
    local few=(few.h5 -c few.yaml -b 128 --max-excess 0.5 --checks 0)
    "$hardneg" synth -o few.h5 --n 200 --dim 16 --classes 10 --super-classes 1 --kappa-to 10 --steps 1 --quiet
    printf 'samplers: [gcbs, osgd, {mosaic: {lambda: [0.5, 0.9, 2]}}, cde]\n' >few.yaml
    expect "seeds that are allowed are used" 0 '^Take osgd: ' choose "${few[@]}"
    expect "what seeds do not show is not denied" 0 \
        '^Not decided: no setting within the budget is shown to be harder than Uniform, and [1-6] may be by 0\.02 or more\. About [0-9]+ seeds would tell' \
        choose "${few[@]}" --seeds 3
    expect "of one seed nothing is said" 0 '^Not decided: .* or more\. The hardest' choose "${few[@]}" --seeds 1
    expect "the same as JSON" 0 '"decided": false' choose "${few[@]}" --seeds 3 --json
    check "Uniform is not said to do" says '"uniform_will_do": false'
}

test_same_for_any_threads() {
    for threads in 1 2; do
        expect "choose, $threads threads" 0 '' choose s.h5 --max-fn 0.3 "${quick[@]}" --threads $threads --json
        cp out "t$threads.json"
    done
    [ -z "$python" ] || check "choose: the same for 2 threads" same_choice t1.json t2.json
    expect "choose, another seed" 0 '' choose s.h5 --max-fn 0.3 "${quick[@]}" --seed 7 --json
    cp out t3.json
    [ -z "$python" ] || check "choose: another seed, other numbers" eval '! same_choice t1.json t3.json'
}

test_budgets() {
    expect "nothing is within the budget" 0 'No setting is within the budget.*Raise' choose s.h5 -c grid.yaml --max-fn 0.01 "${quick[@]}"
    check "and one budget was given" says 'Raise --max-fn\. Intervals .*\. Ruled out: '
    printf 'samplers: [uniform, {uniform: {draw: iid}}]\n' >u.yaml
    expect "Uniform will do" 0 'Uniform will do' choose s.h5 -c u.yaml "${quick[@]}"
    expect "two budgets for nothing" 0 'No setting is within the budget: .*\. Raise --max-fn or --max-cost\.' \
        choose s.h5 -c grid.yaml --max-fn 0.001 --max-cost 1e-9 --step-ms 1 "${quick[@]}"
    expect "an excess, and no time" 0 'Raise --max-excess or --max-cost\.' choose s.h5 -c grid.yaml --max-excess 0 --max-cost 1e-9 --step-ms 1 "${quick[@]}"
    expect "no time for anything" 0 'No setting is within the budget\. Raise --max-cost\.' choose s.h5 -c grid.yaml --max-cost 1e-9 --step-ms 1 "${quick[@]}"
    if with_python "one class"; then
        "$python" -c "import numpy as np
np.save('x.npy', np.random.default_rng(1).normal(size=(300, 8))); np.save('y.npy', np.zeros(300, int))"
        run import -e x.npy -l y.npy -o class.h5
        printf 'samplers: [{mosaic: {lambda: 0}}]\n' >m.yaml
        expect "all negatives are false" 0 'No setting could be measured\. Ruled out: .* failed \(one of them mosaic: \{lambda: 0\}: its batches hold hardly any true negative' choose class.h5 -c m.yaml "${quick[@]}"
        "$python" -c "import numpy as np
np.save('x.npy', np.random.default_rng(1).normal(size=(20, 8))); np.save('y.npy', np.arange(20) == 19)"
        run import -e x.npy -l y.npy -o rare.h5
        expect "Uniform lacks true negatives" 3 'Uniform could not be measured, .*hardly any true negative; raise --batch-size' \
            choose rare.h5 --max-excess 2 --batch-size 8 --seeds 3 --batches 5
    fi
    expect "time enough" 0 'of a step' choose s.h5 -c grid.yaml --max-cost 1000 --step-ms 1e6 "${quick[@]}"
}

test_without_labels() {
    with_python "choose without labels" || return 0
    spoiled s.h5 n.h5 "f['labels'][...] = -1; f.attrs.pop('content_sha256', None)"
    expect "no labels, no prior" 2 'no labels.*--classes' choose n.h5 -c grid.yaml --max-fn 0.3 "${quick[@]}"
    expect "no labels, and an excess" 2 'no labels.*--classes' choose n.h5 -c grid.yaml --max-excess 3 "${quick[@]}"
    expect "no labels, no budget" 0 'mean cosine of negatives' choose n.h5 -c grid.yaml "${quick[@]}"
    expect "a bound by the prior" 0 'as a bound, assuming 5 classes of equal size and that pairs of higher cosine' choose n.h5 --max-fn 0.6 --classes 5 "${quick[@]}" --checks 1
    check "unequal classes are not bounded" says 'Classes of unequal size .*the bound is too low'
    check "nor is it said" eval '! says "at most"'
    check "the column says so" says '% false, bound'
    expect "a prior is named, too" 0 'assuming that 20 % of pairs share a class' choose n.h5 -c grid.yaml --max-fn 0.6 --prior 0.2 "${quick[@]}" --checks 0
    expect "the bound as JSON" 0 '"bound"' choose n.h5 -c grid.yaml --prior 0.2 "${quick[@]}" --json
    cp out b.json
    expect "the same with labels" 0 'counted' choose s.h5 -c grid.yaml "${quick[@]}" --json
    cp out l.json
    pycheck "the bound is above what is counted" "
import json
bound, true = ({s['job']: s for s in json.load(open(f))['settings']} for f in ('b.json', 'l.json'))
for job, s in true.items():
    assert bound[job]['fn_ratio']['mean'] >= .2 - 1e-9
    if s['fn_ratio']['mean'] is not None:
        # It is tight here, and what pairs share besides their cosine may go beyond it by a little.
        assert bound[job]['fn_ratio']['mean'] > s['fn_ratio']['mean'] - .04, job"
}

test_wrong_input() {
    run synth -o five.h5 --n 6 --dim 4 --classes 3 --steps 1
    run choose five.h5 -b 2 --seeds 2
    check "settings that do not fit are named" complains 'left out: .*hard-negative: .*l: 3.*l: 7'
    check "a note of several settings is told" complains 'note: chunks = '
    check "and one of a setting whose fit was tried before" complains 'note: M = 250 taken as 5'
    check "once" eval '[ -z "$(sort "$work/err" | uniq -d)" ]'
    expect "choose without a file" 2 'argument' choose
    expect "choose: missing file" 3 'none\.h5' choose none.h5
    expect "choose: max-fn above 1" 2 '12 % is --max-fn 0\.12' choose s.h5 --max-fn 12
    expect "choose: two budgets" 2 'give one budget' choose s.h5 --max-fn 0.2 --max-excess 2
    expect "choose: max-fn is no number" 2 'max-fn' choose s.h5 --max-fn many
    expect "choose: no time of a step" 2 'step-ms' choose s.h5 --max-cost 0.05
    expect "choose: unknown goal" 2 'hardest' choose s.h5 --goal hardst
    expect "choose: B > N" 3 'batch of 601.*--batch-size' choose s.h5 -b 601
    expect "choose: a step that is not there" 2 '12345' choose s.h5 --step 12345
    expect "choose: seeds out of range" 2 'seeds' choose s.h5 --seeds 1000
    expect "choose: labels and a prior" 2 'has labels' choose s.h5 --prior 0.1
    expect "choose: classes and a prior" 2 'give one' choose s.h5 --prior 0.1 --classes 4
    expect "choose: no such grid" 2 'none\.yaml' choose s.h5 -c none.yaml
    printf 'samplers: [knm]\n' >bad.yaml
    expect "choose: a grid with an unknown sampler" 2 'bad.yaml:1.*knn' choose s.h5 -c bad.yaml
    printf 'samplers: [mined]\n' >bad.yaml
    expect "choose: negatives per anchor" 2 'mined.*each anchor' choose s.h5 -c bad.yaml
    printf 'samplers: [batchsampler: {M: 5, K: 9}]\n' >bad.yaml
    expect "choose: K > M" 2 'K = 9' choose s.h5 -c bad.yaml -b 16
    expect "choose: as many items as a batch" 0 'Uniform|Take' choose s.h5 -b 600 --seeds 2 --batches 4
}

run_tests "${2:-}" "" $(declare -F | sed -n 's/^declare -f \(test_.*\)/\1/p')
finish
