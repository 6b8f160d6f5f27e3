#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Regression gates on the command line: `tests/regress.sh PROGRAM [NAME]`. The smoke job against the
# committed baseline; then compare, shards and merge, export, ab and doctor, on results as they are and
# on spoiled ones.
source "$(dirname "$0")/lib.sh"
begin regress "$1"

job() { # LINE...: a small job on standard output
    printf '%s\n' 'version: 1' 'snapshots: [s.h5]' 'batch_size: 16' 'batches: 10' 'figures: none' "$@"
}

# What `make test` holds this project to: counters, ids and histograms exactly, floats to 1e-6, on any
# processor, with any BLAS kernel and any number of threads.
test_baseline() {
    local smoke="$root/harness/jobs/smoke.yaml" baseline="$root/results/baseline.h5"
    expect "the smoke job" 0 '' run -c "$smoke" -o smoke --quiet
    expect "the smoke job against the baseline" 0 '^PASS' compare "$baseline" smoke \
        --gate counters:=0 --gate quality:=0
    check "all cells of the baseline were compared" grep -qE '^PASS: 254 cells' out
    run export "$baseline" --csv -o baseline.csv
    run list samplers weightings --json
    pycheck "the baseline holds every sampler and weighting that is registered" "
import csv, json
rows, registered = list(csv.DictReader(open('baseline.csv', newline=''))), json.load(open('out'))
for kind in 'sampler', 'weighting':
    names, held = {e['name'] for e in registered[kind + 's'] if 'given' not in e.get('flags', [])}, {row[kind] for row in rows}
    assert names and held == names, (kind, 'missing; make baseline: ', names - held, 'unknown: ', held - names)"
    pycheck "a build without t is shared by the batches of an epoch" "
import h5py, numpy as np
f = h5py.File('smoke/results.h5'); r = f['runs']
gcbs = np.flatnonzero(r['sampler'].asstr()[:] == 'gcbs')
assert len(gcbs)
items = h5py.File('$root/datasets/cifar10-mini.h5')['embeddings'].shape[1]
assert np.allclose(r['cost_g_over_t'][:][gcbs] * -(-items // 64), r['cost_g'][:][gcbs]), items
assert np.isnan(r['cost_g_over_t'][:][r['sampler'].asstr()[:] == 'uniform']).all()"
    OPENBLAS_CORETYPE=PRESCOTT expect "with the generic kernel" 0 '' run -c "$smoke" -o generic --quiet
    expect "the generic kernel's results" 0 '^PASS' compare "$baseline" generic \
        --gate counters:=0 --gate quality:=0
    expect "times of other kernels are shown, not gated" 5 'NOTHING.*@other-machine' \
        compare smoke generic --gate cost_s:5%
    check "once for both" test "$(grep -c '^cost_s, cost_g: shown, not gated: ' out)" = 1 -a "$(grep -c 'shown, not gated' out)" = 1
}

make_results() {
    expect "synth" 0 '' synth -o s.h5 --n 300 --dim 16 --classes 5 --steps 2 --views 2 --seed 1
    job 'seeds: [1, 2]' 'timing: {reps: 21, warmup: 2, interleave: true}' \
        'samplers: [uniform, knn, batchsampler: {M: 50, K: 20}, mined: {n: 4, R: 20}, hops]' >job.yaml
    job 'seeds: [1, 2]' 'samplers: [uniform, knn, batchsampler: {M: 50, K: 20}, mined: {n: 4, R: 20}, hops]' >quick.yaml
    expect "run" 0 '' run -c job.yaml -o a --quiet
}

# No baseline is a name that is not there yet, in a folder that is: everything else is a mistake.
no_baseline() {
    mkdir -p closed
    ln -sfn nowhere dangling.h5
    expect "no baseline: NEW is read first" 3 'nonew' compare none.h5 nonew --if-no-baseline=ok
    expect "no baseline: its folder is not there" 3 'nodir/base.h5: its folder is not there' compare nodir/base.h5 a --if-no-baseline=ok
    expect "no baseline: a dangling link" 3 'dangling.h5' compare dangling.h5 a --if-no-baseline=ok
    expect "no baseline: a part of the path is a file" 3 's.h5/base' compare s.h5/base.h5 a --if-no-baseline=ok
    for allowed in fail ok; do
        rm -f none.xml none.md
        run compare none.h5 a --if-no-baseline=$allowed --junit none.xml --markdown none.md --json
        check "no baseline, $allowed: exit code $rc" test $rc = $([ $allowed = ok ] && echo 0 || echo 5)
        check "no baseline, $allowed: Markdown says so" grep -q 'there is no baseline yet' none.md
        pycheck "no baseline, $allowed: JUnit and JSON say so" "import json, sys, xml.etree.ElementTree as x
t = x.parse('none.xml').getroot(); c = t.find('testcase')
kind = 'skipped' if sys.argv[1] == 'ok' else 'failure'
assert (t.get('tests'), t.get(kind if kind == 'skipped' else 'failures')) == ('1', '1'), t.attrib
assert 'no baseline' in c.find(kind).get('message')
d = json.load(open('out')); assert d['verdict'] == 'nothing' and d['cells']['matched'] == 0" $allowed
    done
}

# Cells of a baseline that an older program wrote: an option that came since, at its default, changes no cell.
test_older_baseline() {
    with_python "an older baseline" || return
    spoiled a/results.h5 older.h5 "k = r['cell_key'].asstr()[:]; p = r['params'].asstr()[:]
assert any('at_least=false' in t for t in p)
for i in range(len(k)):
    if 'at_least' in p[i]: p[i] = ', '.join(t for t in p[i].split(', ') if not t.startswith('at_least')); k[i] = '%064x' % i
r['cell_key'][...] = k; r['params'][...] = p; del r['at_least']"
    expect "an option that came since" 0 '^PASS: 22 cells' compare older.h5 a --gate counters:=0
    spoiled older.h5 other.h5 "p = r['params'].asstr()[:]
for i in range(len(p)):
    if r['sampler'].asstr()[i] == 'hops': p[i] += ', extra=1'
r['params'][...] = p"
    expect "another value is another cell" 1 '@base-cells-missing' compare other.h5 a --gate counters:=0
    check "cells that are missing are named" grep -qE '^- s.h5 step 0 hops .*extra=1' out
    run compare other.h5 a --gate counters:=0 -v --json
    check "and in JSON" "$python" -c "import json
d = json.load(open('out'))['cells']; assert len(d['missing']) == d['only_base'] == 4 and 'extra=1' in d['missing'][0], d"
}

# Results of the programs of b6fee8d and 8146726 (results versions 7 and 11), as these wrote them, beside today's.
test_older_programs() {
    local v file newest
    with_python "older programs" || return
    mkdir -p older/line
    for file in s v7 v11; do gzip -dc "$here/older/$file.h5.gz" >older/$file.h5; done
    job 'seeds: [1]' 'samplers: [uniform, knn, mined: {n: 4, R: 20}]' 'metrics: [fn_ratio, hardness]' | sed 's|s\.h5|older/s.h5|' >older.yaml
    expect "today's results" 0 '' run -c older.yaml -o today --quiet
    for v in 7 11; do
        file=older/v$v.h5
        expect "version $v with today's" 0 '^PASS: 3 cells, 1[0-9]{2} values, no difference' compare $file today --gate counters:=0 --gate quality:=0
        check "what changed since is said" says '^- version 15: '
        expect "today's with version $v" 0 '^PASS: 3 cells, 1[0-9]{2} values, no difference' compare today $file --gate counters:=0 --gate quality:=0
        check "what it did not know is named" says 'not judged:.* runs\.true_mean;.* attrition\.copies;'
        spoiled $file older/spoiled.h5 "put('n_dot', ok[1], 7)"
        expect "a difference is one" 1 'n_dot in 1 of' compare today older/spoiled.h5 --gate counters:=0
        pycheck "it is exported as today's" "import csv, subprocess, sys
old, new = ([[row[c] for c in ('sampler', 'n_dot', 'fn_ratio', 'cos_mean')] for row in csv.DictReader(
    subprocess.run(['$hardneg', 'export', f, '--csv'], capture_output=True, text=True, check=True).stdout.splitlines())] for f in ('$file', 'today'))
assert len(old) == 3 and all(a[:2] == b[:2] and all(abs(float(x) - float(y)) < 1e-6 for x, y in zip(a[2:], b[2:])) for a, b in zip(old, new)), (old, new)"
        expect "a page of it" '0|6' '' report $file -o older/v$v.html
        expect "a figure of it" '0|6' '' plot $file --figure bs-table5 -o older
        expect "it is merged" 0 '3 of 3 cells' merge $file -o older/merged.h5
        expect "but not with another program's" 3 'made by different programs' merge $file today -o older/no.h5
        cp $file older/line
    done
    cp today/results.h5 older/line/today.h5
    newest=$(sed -n 's/^const int hn_results_code_version = \([0-9]*\);$/\1/p' "$here/../results/programs.c")
    expect "a line of all versions, which is said" '0|6' "results versions [0-9]+ to ${newest:?} are in one line" compare --history older/line --metric fn_ratio
}

test_compare() {
    local a=a/results.h5
    expect "a file with itself" 0 '^PASS' compare a a
    expect "a file with itself, by gates" 0 '^PASS.*no difference' compare a a --gate n_dot:0% \
        --gate fn_ratio:+0.002 --gate cost_s:5%
    expect "no baseline" 5 '@no-baseline' compare none.h5 a
    expect "no baseline, allowed" 0 '@no-baseline' compare none.h5 a --if-no-baseline=ok
    expect "no results" 3 'none\.h5' compare a none.h5
    no_baseline
    expect "one file alone" 2 '@two-results' compare a
    expect "a snapshot is no results file" 3 '@not-results' compare s.h5 a
    expect "unknown metric: the nearest" 2 "@did-you-mean 'n_dot'" compare a a --gate n_dt:0%
    expect "a gate without limit" 2 '@a-gate' compare a a --gate n_dot
    expect "a limit that is no number" 2 '@not-a-number' compare a a --gate n_dot:five
    expect "a limit that is not decimal" 2 '@not-a-number' compare a a --gate n_dot:+0x10
    expect "a negative limit" 2 '@a-negative-gate' compare a a --gate fn_ratio:-0.1
    expect "a time without percent" 2 'percent' compare a a --gate cost_s:5
    expect "what names the cell" 2 '@not-a-measurement' compare a a --gate step:1%
    expect "what is derived" 2 'gate cost_g' compare a a --gate share_of_limit:1%
    expect "other seeds: nothing comparable" 0 '' run -c quick.yaml -o other --quiet --set 'seeds=[8]'
    expect "is no pass" 5 'NOTHING COMPARABLE' compare a other
    check "other seeds are of the same data" eval '! complains "other contents" && ! says "other contents"'
    mkdir -p changed && "$hardneg" synth -o changed/s.h5 --n 300 --dim 16 --classes 5 --steps 2 --views 2 --seed 99 --quiet
    cp quick.yaml changed/
    expect "other contents under one name" 0 '' run -c changed/quick.yaml -o other-contents --quiet
    expect "are named" 5 'has other contents in NEW .SHA-256 [0-9a-f]{12}' compare a other-contents
    with_python "spoiled results" || return
    spoiled $a dot.h5 "put('n_dot', ok[0], r['n_dot'][ok[0]] + 1)"
    expect "a counter is off by one" 1 'n_dot in 1 of' compare a dot.h5
    expect "its own gate" 1 'n_dot' compare a dot.h5 --gate n_dot:0%
    expect "another gate does not mind" 0 '^PASS' compare a dot.h5 --gate fn_ratio:+0.1
    expect "fewer are no failure of a gate on more" 0 '^PASS' compare dot.h5 a --gate n_dot:0%
    expect "but a change" 1 'n_dot' compare dot.h5 a --gate n_dot:=0
    spoiled $a fn.h5 "put('fn_ratio', ok[1], r['fn_ratio'][ok[1]] + 0.0025)"
    expect "fn_ratio beyond" 1 'fn_ratio in 1' compare a fn.h5 --gate fn_ratio:+0.002
    expect "fn_ratio within" 0 '^PASS.*within' compare a fn.h5 --gate fn_ratio:+0.003
    expect "without gates it is held to 1e-6" 1 'fn_ratio' compare a fn.h5
    spoiled $a tiny.h5 "put('fn_ratio', ok[1], r['fn_ratio'][ok[1]] * (1 + 5e-7))"
    expect "and 5e-7 is within" 0 '^PASS' compare a tiny.h5 --gate quality:=0
    spoiled $a nan.h5 "put('gap', ok[0], np.nan)"
    expect "a value that was lost" 1 'gap in 1' compare a nan.h5 --gate quality:=0
    expect "a value that was gained" 0 '' compare nan.h5 a --gate quality:=0
    spoiled $a hist.h5 "c = f['hist/counts'][:]; c[ok[0], 1, 100] += 1; f['hist/counts'][...] = c"
    expect "one pair in another bin" 1 'counts' compare a hist.h5 --gate counters:=0
    spoiled $a status.h5 "v = r['status'].asstr()[:]; v[ok[0]] = 'failed'; r['status'][...] = v"
    expect "a cell that failed, whatever the gate" 1 'status in 1' compare a status.h5 --gate n_dot:0%
    spoiled $a column.h5 "del r['n_draw']"
    expect "a column that is gone" 1 'n_draw' compare a column.h5 --gate counters:=0
    spoiled $a table.h5 "v = f['tables/attrition/true_negatives']; w = v[:]; w[3] += 1; v[...] = w"
    expect "a further table" 1 'true_negatives' compare a table.h5 --gate counters:=0
    spoiled $a less.h5 "v = r['cell_key'].asstr()[:]; v[0] = 'x' * 64; r['cell_key'][...] = v; put('seed', 0, 77)"
    expect "a cell is missing" 1 '@base-cells-missing' compare a less.h5 --gate counters:=0
    expect "allowed to" 0 '@not-in-new' compare a less.h5 --gate counters:=0 --allow-missing
    expect "a metric that was never measured" 5 '@nothing-held' compare a a --gate bandwidth_after:1%
}

test_times() {
    local a=a/results.h5
    with_python "times" || return
    # The same samples with noise of 2 %, and two of the cells slower by half.
    noisy="g = np.random.default_rng(SEED)
t = f['timing']; w = t['wall_ns'][:].astype(float); run = t['run'][:]
base = np.array([1e6 * (1 + i) for i in run]) * np.maximum(1, t['batches'][:])
base[t['phase'].asstr()[:] == 'epoch'] = 1
t['wall_ns'][...] = (base * np.exp(0.02 * g.standard_normal(len(w))) * FACTOR).astype(np.int64)
f['env'].attrs['sgemm_gflops'] = 100.0; f['env'].attrs['read_gbs'] = 10.0"
    spoiled $a t0.h5 "$(sed 's/SEED/1/; s/FACTOR/1/' <<<"$noisy")"
    spoiled $a t1.h5 "$(sed 's/SEED/2/; s/FACTOR/1/' <<<"$noisy")"
    spoiled $a t2.h5 "$(sed 's/SEED/2/; s/FACTOR/np.where(np.isin(run, ok[:2]), 1.2, 1)/' <<<"$noisy")"
    expect "the same times with noise" 0 'none slower .one process each: timing.processes times several' compare t0.h5 t1.h5
    expect "two cells are slower" 1 'times slower' compare t0.h5 t2.h5
    expect "faster is no failure" 0 'none slower' compare t2.h5 t0.h5
    spoiled t0.h5 b0.h5 "t = f['timing']; w = t['wall_ns'][:]; t['wall_ns'][...] = w // 10000"
    spoiled t2.h5 b2.h5 "t = f['timing']; w = t['wall_ns'][:]; t['wall_ns'][...] = w // 10000"
    expect "a fifth of less than a microsecond counts for nothing" 0 'none slower' compare b0.h5 b2.h5
    expect "no gate on times: nothing is said of them" 0 'times: not judged: no gate is on them' compare t0.h5 t2.h5 --gate counters:=0
    expect "beyond 30 % they are not" 0 'none slower' compare t0.h5 t2.h5 --gate times:30%
    expect "nor beyond the noise of the host" 0 'none slower' compare t0.h5 t2.h5 --noise-floor 25
    expect "cost_s alone" 1 'times slower' compare t0.h5 t2.h5 --gate cost_s:5%
    expect "the verdict counts the times that were judged" 0 ' [0-9]+ of [0-9]+ times judged, none slower' \
        compare t0.h5 t1.h5 --gate cost_s:5%
    # Fourfold slower among samples that differ fourfold from themselves.
    spoiled t0.h5 wild.h5 "t = f['timing']; w = t['wall_ns'][:]; w[::2] *= 4; t['wall_ns'][...] = w"
    spoiled wild.h5 wilder.h5 "t = f['timing']; t['wall_ns'][...] = t['wall_ns'][:] * 4"
    expect "noise hides any slowdown" 0 'PASS.*times: not judged: the host.s noise is [0-9]{3} %' compare wild.h5 wilder.h5
    expect "a gate on times holds nothing then" 5 'no value to hold; times: the host.s noise' \
        compare wild.h5 wilder.h5 --gate cost_s:5%
    spoiled t0.h5 part0.h5 "t = f['timing']; w = t['wall_ns'][:]; m = t['run'][:] == ok[0]; w[m] //= 200; i = np.flatnonzero(m); w[i[::2]] *= 4; t['wall_ns'][...] = w"
    spoiled part0.h5 part1.h5 "t = f['timing']; w = t['wall_ns'][:]; m = np.isin(t['run'][:], ok[:1]); w[m] *= 4; t['wall_ns'][...] = w"
    expect "noise of small costs leaves the large ones judged" 0 'PASS.*[0-9]+ of 28 times judged, none slower' compare part0.h5 part1.h5
    check "and says which are not" says 'of [0-9]+ are not gated: the host.s noise at their size is above 50 %'
    expect "a gate beyond the noise does" 0 '28 times, none slower' compare wild.h5 wilder.h5 --gate times:2000%
    spoiled t2.h5 t3.h5 "f['env'].attrs['machine_class'] = 'another'"
    expect "another kind of machine: shown, not judged" 0 'times: not judged: other kinds' compare t0.h5 t3.h5
    expect "a gate on times alone has nothing to hold then" 5 'other kinds' compare t0.h5 t3.h5 --gate times:5%
    expect "with a counter it has" 0 '^PASS' compare t0.h5 t3.h5 --gate times:5% --gate counters:0
    spoiled t2.h5 t4.h5 "f['env'].attrs['sgemm_gflops'] = 70.0"
    expect "the machine itself was slower" 0 'none slower' compare t0.h5 t4.h5
}

# timing.processes: further processes time the same cells, and the file keeps what each of them measured.
interrupted_in() { [ -d "$1/processes/2" ]; } # FOLDER: its third process has begun
test_processes() {
    local process i
    with_python "processes" || return
    job 'samplers: [uniform, knn]' 'timing: {reps: 3, processes: 3}' >timed.yaml
    expect "processes" 0 'timed in process 3 of 3' run -c timed.yaml -o timed --threads 1
    by_process="import h5py, sys
def by_process(path): # samples of each process and run
    f = h5py.File(path); t = f['timing']; ok = [s == 'ok' for s in f['runs/status'].asstr()[:]]
    keys = sorted(zip(t['run'][:].tolist(), t['process'][:].tolist(), t['phase'].asstr()[:]))
    return ok, {k: keys.count(k) for k in keys}
def same_in_each(path, n):
    ok, count = by_process(path)
    for run in range(len(ok)):
        for phase in 'build', 'epoch', 'next':
            samples = [count.get((run, p, phase), 0) for p in range(n + 1)]
            assert samples[:n] == [samples[0]] * n and samples[n] == 0 and (samples[0] > 2) == ok[run], (path, run, samples)
"
    pycheck "each process timed each cell" "$by_process
same_in_each('timed/results.h5', 3)"
    find timed -name '*.cell' -path '*/cells/*' -exec touch -d '2001-01-01' {} +
    expect "two more: the others are kept" 0 '6 cells .0 computed, 6 reused' run -c timed.yaml -o timed --threads 1 --set timing.processes=5
    check "no cell was made anew" test "$(find timed -path '*/cells/*.cell' -newermt 2002-01-01 | wc -l)" = 8
    pycheck "and five are in the file" "$by_process
same_in_each('timed/results.h5', 5)"
    expect "another file of five" 0 '' run -c timed.yaml -o timed2 --threads 1 --set timing.processes=5 --quiet
    run compare timed timed2 --json
    pycheck "two such files are compared by processes" "import json
d = json.load(open('out')); t = d['times']
assert t['samples'] == 'processes' and t['clock'] == 'processor' and all(o['base_samples'] == o['new_samples'] == 5 for o in t['of']), t
assert d['values']['failed'] == 0 and 'one process' not in d['message'], d['message']"
    run compare timed a --gate times:5% --json
    check "a file of one process: its repetitions" says '"samples": *"repetitions"'
    for i in 1 2; do run run -c timed.yaml -o "t$i" --shard $i/2 --quiet; done
    expect "parts of several processes" 0 '' merge t1 t2 -o timed.h5
    pycheck "merged: each process of each cell" "$by_process
same_in_each('timed.h5', 3)"
    expect "processes and --rows" 2 'timing.processes is 3, which --rows cannot have: give --set timing.processes=1' run -c timed.yaml -o no --rows 1/2
    expect "the dry run says what it leaves out" 0 '2 more time the same cells' run -c timed.yaml -o no --dry-run
    expect "a process too few" 2 'processes' run -c timed.yaml -o no --set timing.processes=0
    expect "items that are all the same" 0 '' synth -o same.h5 --n 7000 --dim 4 --classes 1 --super-classes 1 --steps 1 --views 1 --kappa-from 1e9 --kappa-to 1e9
    expect "cells fail in each process" 4 '@cells-failed' run -c timed.yaml -o failing --threads 1 --quiet --set 'snapshots=[same.h5]' --set 'samplers=[uniform, gcbs]' --memory 64MiB
    pycheck "those that do not fail are timed in each" "$by_process
assert by_process('failing/results.h5')[0] == [True, False]
same_in_each('failing/results.h5', 3)"
    "$hardneg" run -c timed.yaml -o stopped --quiet --set timing.processes=500 >out 2>err </dev/null &
    process=$!
    check "a third process" wait_for 60 interrupted_in stopped
    kill -TERM $process
    wait $process
    rc=$?
    ended "an interrupt ends the process that times, too" 130 'interrupted'
    check "and leaves no results" test ! -e stopped/results.h5 -a "$(find stopped/processes -name '*.err' | wc -l)" = 0
    check "nothing goes on" none_runs_in "$work/stopped"
}

test_reports() {
    with_python "reports" || return
    # A name that would do harm in each of the formats.
    spoiled a/results.h5 evil.h5 "put('n_dot', ok[0], 7)
v = r['params'].asstr()[:]; v[ok[0]] = '\`touch x\` | <script>&\"\\'\$(touch x)\n@all'; r['params'][...] = v"
    cp evil.h5 base.h5
    "$python" -c "import h5py
f = h5py.File('base.h5', 'r+'); v = f['runs/n_dot'][:]; v[:] += 3; f['runs/n_dot'][...] = v"
    run compare base.h5 evil.h5 --json --junit j.xml --markdown m.md --gate n_dot:=0
    check "exit code 1" test $rc = 1
    check "JSON, JUnit and Markdown" "$python" -c "import json, re, xml.etree.ElementTree as x
d = json.load(open('out'))
assert d['schema'] == 'hardneg-compare' and d['verdict'] == 'fail' and d['changes'] and d['columns']
t = x.parse('j.xml').getroot()
assert int(t.get('failures')) == len(t.findall('.//failure')) >= 2
assert int(t.get('tests')) == len(t.findall('testcase'))
assert int(t.get('skipped')) == len(t.findall('.//skipped'))
cells = [f for f in t.iter('failure') if f.text][0].text.splitlines()
failed = [c for c in d['columns'] if c['name'] == 'n_dot'][0]['failed']
assert len(cells) == failed == sum(c['failed'] for c in d['changes']), cells
m = open('m.md').read()
assert t.get('timestamp') == d['new']['created'][:19] and t.get('hostname') == d['new']['machine_class']
assert len(re.findall(r'(?m)^- [-+]', m)) == failed and f'<summary>{failed - 3} more</summary>' in m, m
shares = [abs(float(c.split()[0])) for c in cells]
assert shares == sorted(shares, reverse=True), shares
assert '<script' not in m and '\`touch' not in m.replace('\\\\\`', '') and 'FAIL' in m"
    check "nothing was run" test ! -e x
    check "which files, and that another program wrote them" "$python" -c "import xml.etree.ElementTree as x
m, t = open('m.md').read(), x.parse('j.xml').getroot()
made = {p.get('name'): p.get('value') for p in t.findall('properties/property')}
for key in 'base', 'new':
    assert f'- {key.upper()}: program ' in m and f'**{key.upper()} has no checksum' in m, m
    assert f'{key.upper()} has no checksum' in t.find('system-out').text and 'no checksum' in made[key]
    assert ', commit ' in made[key] or ', 20' in made[key], made"
    run compare base.h5 evil.h5 --gate n_dot:=0 --gate fn_ratio:=0 --bmf b.json --benchmark g.json
    check "services get the values of NEW that are gated" "$python" -c "import h5py, json
b, g, r = json.load(open('b.json')), json.load(open('g.json')), h5py.File('evil.h5')['runs']
ok = r['status'].asstr()[:] == 'ok'
for name in 'n_dot', 'fn_ratio':
    assert sorted(c[name]['value'] for c in b.values() if name in c) == sorted(r[name][ok]), name
assert len(b) == ok.sum() and {m for c in b.values() for m in c} <= {'n_dot', 'fn_ratio', 'cost_s', 'cost_g'}
assert len([p for p in g if p['name'].startswith('fn_ratio ') and p['unit'] == 'share']) == ok.sum() == len({p['name'] for p in g if p['name'].startswith('fn_ratio')})"
    run compare a a --junit j.xml --markdown own.md --gate n_dot:=0
    check "an untouched file has no such note, and no noise that nobody measured" test -z "$(grep -l 'checksum\|Noise' own.md j.xml)"
    check "nor costs that no gate holds" test -z "$(grep '^| cost_' own.md)"
    mkdir -p past/one
    cp a/results.h5 past/first.h5
    cp evil.h5 past/one/results.h5
    cp s.h5 past/data.h5
    spoiled past/first.h5 past/bad.h5 "v = r['sampler'].asstr()[:]; v[:] = '\`touch x\`\"\n'; r['sampler'][...] = v"
    run compare --history past --metric n_dot
    if [ "$rc" = 6 ]; then
        skip "history" "no gnuplot"
    else
        check "history: exit code" test $rc = 0
        run compare a a --gate quality:=0 --gate n_dot:0% --history past -o drawn
        check "history: a group is not drawn" grep -q 'n_dot' drawn/history.svg
        check "history: a drawing" test -s past/history.svg
        check "history: a snapshot is left out" grep -q 'left out.*data.h5' err
        check "history: nothing was run" test ! -e x -a ! -e past/x
    fi
    expect "history of a metric that is not there" 2 '@did-you-mean fn_ratio' compare --history past --metric fn_rato
    expect "history of nothing" 3 '@two-files' compare --history past/one --metric n_dot
    # Gates are held first, and what drawing lacks takes no verdict away.
    expect "a first night: the verdict" 0 '^warning: no drawing: .*@two-files' compare a a --gate n_dot:0% --history past/one -o drawn
    check "a first night: it passes" says '^PASS'
    expect "a gate fails, and there is no history" 1 '@two-files' compare base.h5 evil.h5 --gate n_dot:=0 --history past/one
    check "the last word is the verdict" grep -q '^hardneg compare: n_dot in' <(tail -n 1 err)
    expect "a folder for the drawing is made" '0|6' '' compare --history past --metric n_dot -o drawn

    (PATH=/nowhere; exec "$hardneg" compare base.h5 evil.h5 --gate n_dot:=0 --history past >out 2>err </dev/null)
    rc=$?
    ended "without gnuplot the verdict stays" 1 'warning: no drawing: '
    expect "a report that cannot be written" 2 'no-such' compare a a --markdown no-such/m.md --gate n_dot:0%
}

# Whatever is damaged: an exit code with a message, never a crash.
test_damaged() {
    with_python "damaged results" || return
    local i bad=0
    for i in $(seq 1 40); do
        "$python" -c "import random, sys
r = random.Random($i); d = bytearray(open('a/results.h5', 'rb').read())
if $i % 4 == 0: d = d[:r.randrange(len(d))]
else:
    for _ in range(1 + 8 * ($i % 3)): d[r.randrange(min(len(d), 20000 if $i % 2 else len(d)))] = r.randrange(256)
open('d.h5', 'wb').write(d)"
        case $((i % 3)) in
        0) run compare a d.h5 ;;
        1) run merge d.h5 -o merged.h5 ;;
        2) run export d.h5 --csv ;;
        esac
        case $rc in 0 | 1 | 3 | 4 | 5) ;; *) bad=$((bad + 1)); echo "    damage $i: exit code $rc" ;; esac
    done
    check "40 damaged files: a code and no crash" test $bad = 0
}

test_shards() {
    expect "the whole" 0 '' run -c quick.yaml -o whole --quiet
    local n i parts
    for n in 2 3 7; do
        parts=()
        for i in $(seq 1 $n); do
            "$hardneg" run -c quick.yaml -o "p$n-$i" --shard "$i/$n" --quiet >out 2>err ||
                fail "shard $i/$n" "exit code $?"
            parts=("p$n-$i" "${parts[@]}")
        done
        expect "merge of $n" 0 '' merge "${parts[@]}" -o "m$n.h5"
        check_same "merge of $n: the tables of one run" whole/results.h5 "m$n.h5"
    done
    # Cells of a grid share batches; in each part those that it has do.
    local grid=(-c quick.yaml --quiet --set 'loss=[ntxent, other-view]' --set 'temperature=[0.2, 0.5]')
    expect "a grid" 0 '' run "${grid[@]}" -o grid
    for i in 1 2 3; do run run "${grid[@]}" -o "g$i" --shard $i/3; done
    expect "merge of its parts" 0 '' merge g1 g2 g3 -o grid.h5
    check_same "a grid in parts: the tables of one run" grid/results.h5 grid.h5
    expect "in one folder" 0 '' run -c quick.yaml -o one --shard 1/2 --quiet
    expect "and its other half" 0 '' run -c quick.yaml -o one --shard 2/2 --quiet
    check_same "in one folder: the same" whole/results.h5 one/results.h5
    expect "a part is missing" 4 'missing: s\.h5 step' merge p3-1 p3-3 -o gap.h5
    expect "and comes later" 0 '' merge gap.h5 p3-2 -o full.h5
    check_same "then it is the whole" whole/results.h5 full.h5
    expect "parts that overlap" 0 '@overlapping-parts' merge p3-1 whole p3-2 p3-3 -o over.h5
    check_same "overlaps: the whole" whole/results.h5 over.h5
    expect "another job" 3 '@different-jobs' merge p3-1 a -o no.h5
    run run -c quick.yaml -o reseeded --shard 2/3 --seed 9 --quiet
    expect "the same job with other seeds" 3 '@other-seeds|@different-jobs' merge p3-1 reseeded -o no.h5
    mkdir -p empty/cells
    expect "a folder without results" 3 '@unfinished' merge p3-1 empty -o no.h5
    expect "no output" 2 '-o' merge p3-1
    check "refused merges leave nothing" test ! -e no.h5
    if [ -n "$python" ]; then
        spoiled p2-1/results.h5 lies.h5 "put('n_dot', ok[0], 1)"
        expect "parts that contradict each other" 3 '@other-values' merge lies.h5 whole -o no.h5
    fi
    for i in 0/3 4/3 1 a/b 1/0 1/2x; do
        expect "--shard $i" 2 'i/n' run -c quick.yaml -o no --shard $i
    done
    if ! command -v parallel >/dev/null; then
        skip "GNU parallel" "parallel is not installed"
    else
        cp "$root/docs/guide/ci/parallel.sh" .
        PATH="$(dirname "$hardneg"):$PATH" PARTS=4 JOBS=2 bash parallel.sh quick.yaml byparallel >out 2>err
        check "docs/guide/ci/parallel.sh" test $? = 0
        check_same "GNU parallel: the same" whole/results.h5 byparallel/results.h5
    fi
    over_slurm
    array_of_parts
}

# docs/guide/ci/slurm.sh by the command that stands at its top, with a stand-in for Slurm that runs tasks in turn,
# the second of them killed and started again, as one that was pre-empted. tests/slurm.sh has Slurm itself.
over_slurm() {
    mkdir -p slurm/bin slurm/docs/guide/ci
    cp "$root/docs/guide/ci/slurm.sh" slurm/docs/guide/ci
    cat >slurm/bin/sbatch <<'END'
#!/usr/bin/env bash
set -eu
last=0
while [[ $1 == --* ]]; do
    case $1 in
    --array=1-*) last=${1#*-*-*-} ;;
    --dependency=afterok:*) [ "$1" = --dependency=afterok:77 ] ;;
    esac
    shift
done
echo $((77 + (last == 0)))
exec >&2
[ "$last" != 0 ] || exec bash "$@"
export SLURM_CPUS_PER_TASK=2 SLURM_MEM_PER_NODE=2048 SLURM_ARRAY_TASK_ID
for SLURM_ARRAY_TASK_ID in $(seq "$last"); do
    [ "$SLURM_ARRAY_TASK_ID" != 2 ] || timeout -s KILL 0.2 bash "$@" || true
    bash "$@"
done
END
    printf '#!/bin/sh\n' | tee slurm/bin/squeue >slurm/bin/scancel
    chmod +x slurm/bin/*
    sed -n 's/^#   //p' slurm/docs/guide/ci/slurm.sh |
        sed 's/=16/=3/; s/JOB.yaml/..\/quick.yaml/; s/FOLDER.*/parts --mem=2G/' >slurm/command
    check "docs/guide/ci/slurm.sh says how it is used" test "$(grep -c slurm.sh slurm/command)" = 1
    (cd slurm && PATH="$PWD/bin:$(dirname "$hardneg"):$PATH" bash -eu command >../out 2>../err)
    check "docs/guide/ci/slurm.sh with a stand-in for Slurm" test $? = 0
    check "a Slurm array of 3 has 3 parts" test "$(find slurm/parts -name "part[0-9]*" | wc -l)" = 3
    check_same "Slurm: the same" whole/results.h5 slurm/parts/results.h5
}

# docs/guide/ci/array.sh, by the variables that schedulers set.
array_of_parts() {
    local script="$root/docs/guide/ci/array.sh" path
    path="$(dirname "$hardneg"):$PATH"
    env PATH="$path" PBS_ARRAY_INDEX=1 NCPUS=2 bash "$script" quick.yaml array 3 >out 2>err
    check "a task of PBS" test $? = 0
    env PATH="$path" LSB_JOBINDEX=2 LSB_DJOB_NUMPROC=1 bash "$script" quick.yaml array 3 >out 2>err
    check "a task of LSF" test $? = 0
    env PATH="$path" SGE_TASK_ID=3 NSLOTS=1 bash "$script" quick.yaml array 3 >out 2>err
    check "a task of Grid Engine" test $? = 0
    env PATH="$path" SGE_TASK_ID=undefined bash "$script" quick.yaml array 3 >out 2>err
    check "no array" test $? = 2
    expect "status" 0 '' status array
    check "all parts are there" says '^([0-9]+) of \1 cells done'
    expect "joined" 0 '' merge array/part1 array/part2 array/part3 -o array/results.h5
    check_same "an array: the same" whole/results.h5 array/results.h5
}

# A folder that is kept while the program changes: what it holds, and what is claimed of it.
programs() { "$python" -c "import h5py, sys
f = h5py.File(sys.argv[1]); print(len(set(f['runs/program'].asstr()[:])), 'git_commit' in f['env'].attrs, 'sgemm_gflops' in f['env'].attrs)" "$1"; }
test_kept_folder() {
    local mine=$hardneg
    with_python "a kept folder" || return
    expect "kept: a run" 0 '' run -c quick.yaml -o kept --quiet
    make_other_program kept/results.h5
    check "one program" test "$(programs kept/results.h5)" = '1 True True'
    hardneg=$work/other-hardneg
    expect "kept: said first" 0 'note: 2[0-9] of 2[0-9] cells here were made by another program' run -c quick.yaml -o kept
    check "kept: they are kept" complains '--fresh makes them anew'
    expect "kept: said with --quiet, too" 0 '^note: 2[0-9] of 2[0-9] cells here were made by another program' run -c quick.yaml -o kept --quiet
    check "kept: and nothing else is" test "$(wc -l <err)" = 1
    pycheck "kept: /env has no version of it" 'import h5py, sys; assert "tool_version" not in h5py.File(sys.argv[1])["env"].attrs' kept/results.h5
    check "kept: /env does not name the one that made nothing" test "$(programs kept/results.h5)" = '1 False False'
    CI=no expect "not in CI" 0 '0 computed' run -c quick.yaml -o kept
    cp -r kept kept-part
    CI=1 expect "in CI, a part" 0 'uniform .*: to run again: its result is of another program' run -c quick.yaml -o kept-part --filter ' uniform ' --explain --force
    check "in CI, a part: skipped else" test "$(grep -c 'to run again' err)" = 4
    CI=true expect "in CI" 0 'they are made anew' run -c quick.yaml -o kept
    check "in CI: they are" complains '2[0-9] computed, 0 reused'
    check "in CI: one program" test "$(programs kept/results.h5)" = '1 True True'
    expect "again" 0 '\(0 computed' run -c quick.yaml -o kept
    expect "a part of the other" 0 '' run -c quick.yaml -o mixed2 --shard 2/2 --quiet
    hardneg=$mine
    expect "--fresh" 0 '2[0-9] computed, 0 reused' run -c quick.yaml -o kept --fresh
    expect "a part of this one" 0 '' run -c quick.yaml -o mixed1 --shard 1/2 --quiet
    expect "parts of two programs" 3 'mixed1 and mixed2: made by different programs' merge mixed1 mixed2 -o mixed.h5
    check "are not joined" test ! -e mixed.h5
    expect "unless asked for" 0 '' merge mixed1 mixed2 -o mixed.h5 --allow-mixed
    check "and each row says which" test "$(programs mixed.h5)" = '2 False False'
    expect "compare says it first" 0 '^NEW holds rows of 2 programs: ' compare kept mixed.h5 --gate counters:=0
}

# Files of programs whose numbers were others: said first, with what changed; a newer one is refused by name.
test_versions() {
    with_python "versions" || return
    spoiled a/results.h5 v8.h5 "f['env'].attrs['results_version'] = '8'; f['env'].attrs.pop('program')"
    spoiled a/results.h5 v0.h5 "del f['env'].attrs['results_version']; del r['program']"
    spoiled a/results.h5 v99.h5 "f['env'].attrs['results_version'] = '99'; f['env'].attrs['program'] = 'feedc0de0000'"
    expect "versions between" 0 '^BASE is of results version 8, NEW of [0-9]*[.] Numbers that changed between:' compare v8.h5 a --gate counters:=0 --junit v.xml --markdown v.md
    check "which changes" says '^- version 9: random streams'
    check "no others" test -z "$(grep '^- version 8' out)"
    check "and that none of them shows" says '^None of these changes shows'
    check "so that nothing is to be made again" test -z "$(grep 'make BASE again' out)"
    spoiled v8.h5 other8.h5 "put('n_draw', ok[0], r['n_draw'][ok[0]] + 1)"
    expect "where numbers differ" 1 'make BASE again' compare other8.h5 a --gate counters:=0
    check "nothing else is said of them" test -z "$(grep 'None of these' out)"
    check "in JUnit and Markdown" test "$(grep -l 'version 9: random streams' v.xml v.md | wc -l)" = 2
    expect "a file that does not say" 0 '^BASE is from before files said' compare v0.h5 a --gate counters:=0
    spoiled v8.h5 less8.h5 "del r['n_draw']"
    expect "an older program lacks columns" 0 '^PASS' compare a less8.h5 --gate counters:=0
    for c in "compare v99.h5 a" "compare a v99.h5" "plot v99.h5" "export v99.h5" "merge a v99.h5 -o v.h5"; do
        # shellcheck disable=SC2086
        expect "a newer file: $c" 3 'v99.h5: is of results version 99, made by program feedc0de0000' $c
    done
    spoiled a/results.h5 two.h5 "p = r['program'].asstr()[:]; p[:3] = '77ab00000000'; r['program'][...] = p"
    expect "a page of two programs" '0|6' '' report two.h5 -o two.html
    check "says so before the answer" grep -qzP '(?s)Rows were made by 2 programs:.*77ab00000000 \(3 rows\).*class=answer' two.html
    expect "a page of two versions" '0|6' '' report v8.h5 a/results.h5 -o versions.html
    check "says what changed, before all else" grep -qzP '(?s)versions 8 to [0-9]+,.*<li>version 9: random streams.*The answer' versions.html
    check "and a page of one of neither" test -z "$(run report a -o one.html; grep -lE 'Rows were made by|Results are of versions' one.html)"
    mkdir -p versions && cp v0.h5 v8.h5 a/results.h5 versions
    expect "history over versions" '0|6' 'results versions 0 to' compare --history versions --metric n_dot -o drawn
}

# Names and numbers that are not what they seem.
test_names() {
    local odd=$'odd\e[31m\n.h5'
    cp s.h5 "$odd"
    for c in info validate; do
        expect "$c of a name with control characters" 0 'odd +\[31m' $c "$odd"
        check "$c: a space stands for each" test -z "$(tr -d '\n[:print:]' <out)"
    done
    for other in ./s.h5 .//s.h5 link.h5; do
        ln -sf s.h5 link.h5
        job 'samplers: [uniform]' | sed "s#snapshots: .*#snapshots: [s.h5, $other]#" >twice.yaml
        expect "a file given twice, as $other" 2 "'s.h5' and '$other' in 'snapshots' are the same file" run -c twice.yaml -n
    done
    with_python "steps" || return
    for step in 18446744073709551615 9223372036854775807; do
        spoiled s.h5 step.h5 "del f['step']; f['step'] = np.array([0, $step], 'u8')"
        expect "step $step" 3 '/step, index 1: the value .* is out of range' info step.h5
    done
}

# Cells of studies and their tables: in parts as in one piece, and compared like the others. The file
# one.h5 has a single view, so that one study does not apply and its table is empty.
test_studies() {
    local n i parts study
    expect "one view" 0 '' synth -o one.h5 --n 200 --dim 16 --classes 5 --steps 1 --views 1 --seed 2
    job 'samplers: [uniform, mined: {n: 4, R: 20}]' 'metrics:' '  - fn_ratio' '  - alignment' \
        '  - {prop1: {M: [50, 60], K: 4, graphs: 2, points: 9}}' '  - {prop2: {M: 50, K: 10, sweeps: 2}}' \
        '  - prop3' '  - {random_assignments: {count: 20}}' '  - {staleness: {M: 50, K: 10, batches: 20}}' \
        '  - {purity: {M: 50, K: 10}}' '  - {heatmap: {size: 5}}' '  - {global_histogram: {bins: 200}}' |
        sed 's/\[s.h5\]/[s.h5, one.h5]/' >studies.yaml
    expect "studies: the whole" 0 '' run -c studies.yaml -o st --quiet
    for n in 2 9; do # 6 cells, so that some of 9 parts are empty
        parts=()
        for i in $(seq 1 $n); do
            "$hardneg" run -c studies.yaml -o "st$n-$i" --shard "$i/$n" --quiet >out 2>err ||
                fail "studies: shard $i/$n" "exit code $?"
            parts=("st$n-$i" "${parts[@]}")
        done
        expect "studies: merge of $n" 0 '36 of 36 cells' merge "${parts[@]}" -o "st$n.h5"
        check_same "studies: merge of $n: the tables of one run" st/results.h5 "st$n.h5"
    done
    expect "studies: parts that overlap" 0 '@overlapping-parts' merge st2-1 st st2-2 -o st-over.h5
    check_same "studies: overlaps: the whole" st/results.h5 st-over.h5
    expect "studies: a missing part" 4 '23 of 36 @cells-missing' merge st2-2 -o st-gap.h5
    expect "studies: which is partial" 1 '@base-cells-missing' compare st st-gap.h5
    expect "studies: compare" 0 '^PASS: 36 cells.*no difference' compare st st2.h5
    OPENBLAS_CORETYPE=PRESCOTT expect "studies: the generic kernel" 0 '' run -c studies.yaml -o st-generic --quiet
    expect "studies: no difference that counts" 0 '^PASS: 36 cells' compare st st-generic \
        --gate counters:=0 --gate quality:=0
    expect "studies: --dry-run" 0 '23 of 36 cells' run -c studies.yaml --dry-run --shard 1/2
    check "studies: --dry-run keeps to the part" test "$(awk '/ study /{n += $1} END{print n}' out)" = 18 -a "$(grep -c one.h5 out)" = 0
    with_python "spoiled studies" || return
    for study in prop1 prop2 prop3 random_assignments staleness purity heatmap global_histogram; do
        expect "export $study" 0 "^study_row,dataset,step" export st --csv --table $study
        check "export $study: all rows" "$python" -c "import csv, h5py, sys
f = h5py.File('st/results.h5')['tables/$study']; rows = list(csv.DictReader(open('out', newline='')))
assert len(rows) == len(f['study_row']) > 0 and [int(r['study_row']) for r in rows] == list(f['study_row'])"
    done
    studied() { spoiled st/results.h5 spoiled.h5 "t = f['tables/$1']; v = t['$2'][:]; v[3] $3; t['$2'][...] = v"; }
    studied prop1 measured '+= 1e-4'
    expect "a row of prop1" 1 'measured in 1 of' compare st spoiled.h5
    expect "and by a group" 1 'measured in 1 of' compare st spoiled.h5 --gate quality:=0
    check "and where" grep -q 'prop1\.measured.*s\.h5 step 0 study prop1 {K=4, M=50' out
    expect "but not by a column of /runs" 0 '^PASS' compare st spoiled.h5 --gate fn_ratio:0
    studied prop1 measured '*= 1 + 5e-7'
    expect "5e-7 is within" 0 '^PASS' compare st spoiled.h5
    studied global_histogram count '+= 1'
    expect "a count" 1 'count in 1 of' compare st spoiled.h5 --gate counters:=0
    studied staleness batch_size '+= 1'
    expect "a batch size" 1 'batch_size in 1 of' compare st spoiled.h5 --gate counters:=0
    studied staleness fn_ratio '+= 0.1'
    expect "fn_ratio of a study is no column of /runs" 0 '^PASS' compare st spoiled.h5 --gate fn_ratio:0
    spoiled st/results.h5 spoiled.h5 "t = f['tables/prop1']; v = t['holds'].asstr()[:]; v[0] = '?'; t['holds'][...] = v"
    expect "a text" 1 'holds in 1 of' compare st spoiled.h5 --json
    check "a text has no amount" "$python" -c "import json
c = json.load(open('out'))['changes']; assert len(c) == 1 and c[0]['base'] is c[0]['new'] is None and len(c[0]['cell_key']) == 64"
    spoiled st/results.h5 spoiled.h5 "t = f['tables/studies']; v = t['status'].asstr()[:]; v[0] = 'failed'; t['status'][...] = v"
    expect "a study that failed" 1 '^hardneg compare: status in 1 of' compare st spoiled.h5
    expect "is taken from the part where it did not" 0 '' merge spoiled.h5 st -o mended.h5
    check "and the whole is whole" same_results st/results.h5 mended.h5
    studied prop1 measured '+= 1e-4'
    expect "parts with other rows of a study" 3 '@other-values' merge spoiled.h5 st -o no.h5
}

# Whether a process is the program, and waits: for its reader, as there is nothing else.
blocked() {
    local state
    [ "$(cat "/proc/$1/comm")" = "$(basename "$hardneg" | cut -c 1-15)" ] || return
    for _ in 1 2 3 4 5; do
        read -r _ _ state _ <"/proc/$1/stat"
        [ "$state" = S ] || return
        sleep 0.05
    done
}
# Interrupted while nobody reads what it has to say: that, and not that the disk is full.
stopped_at_a_full_pipe() {
    local process
    mkfifo pipe
    exec 8<>pipe
    head -c 65536 /dev/zero >&8
    env --default-signal=INT "$hardneg" --help >pipe 2>err &
    process=$!
    wait_for 60 blocked $process
    kill -INT $process
    wait $process
    rc=$?
    exec 8>&-
    check "a full pipe: exit code 130, not $rc" test $rc = 130
    check "a full pipe: interrupted" grep -q interrupted err
}

# What a reader leaves unread is no error, and ends a program as it ends others (141: SIGPIPE). The
# status is that of the program, not of the pipe.
into_closed_pipe() { # COMMAND...: its status in $rc
    exec 8<>gone
    exec 9>gone 8>&-
    "$hardneg" "$@" >&9 2>err
    rc=$?
    exec 9>&-
}
test_closed_pipe() {
    local what
    mkfifo gone
    for what in "export a" "list metrics --json" "man" "--help" "compare a a"; do
        # shellcheck disable=SC2086
        into_closed_pipe $what
        check "closed pipe: $what: SIGPIPE ($rc)" test "$rc" = 141
        check "closed pipe: $what: quiet" test ! -s err
    done
    into_closed_pipe run -c quick.yaml -o piped
    check "closed pipe: the run is whole" test -s piped/results.h5
    stopped_at_a_full_pipe
    "$hardneg" export a >&- 2>err
    rc=$?
    check "closed output: code 74 ($rc)" test $rc = 74
    check "closed output: says so" complains 'standard output is closed: send it to'
    # Of a file under the number of a closed stream, messages would become a part.
    mkdir -p spy
    printf '#!/bin/sh\nreadlink /proc/$PPID/fd/[012] >>%s/held\n' "$work" >spy/gnuplot
    chmod +x spy/gnuplot
    PATH="$work/spy:$PATH" "$hardneg" report a -o unheard.html <&- >&- 2>&-
    check "closed streams: no file takes their numbers" test "$(sort -u held)" = /dev/null
    [ -e /dev/full ] || { skip "a full disk" "no /dev/full"; return; }
    for what in "export a" "list metrics --json" "man" "--help" "--version"; do
        # shellcheck disable=SC2086
        "$hardneg" $what >/dev/full 2>err
        rc=$?
        check "a full disk: $what: code 74 ($rc)" test $rc = 74
        check "a full disk: $what: says so" complains @disk-full
    done
}

test_rerun() {
    run run -c quick.yaml -o stale --quiet
    expect "stale: nothing is" 0 '0 computed' run -c quick.yaml -o stale --rerun stale
    job 'seeds: [1, 2]' 'metrics: [fn_ratio]' 'samplers: [uniform, stratified]' >stale.yaml
    expect "stale: only what has a result" 0 'never run' run -c stale.yaml -o stale --rerun stale --explain
    check "stale: what it did" grep -q 'of another version, metrics or timing' err
    expect "missing: the rest" 0 'stratified .*: to run .no result of these parameters' run -c stale.yaml -o stale --explain
    job 'seeds: [1]' 'metrics: [fn_ratio]' 'samplers: [uniform, command: {run: [false, "{out}"], name: no}]' >fails.yaml
    expect "failed: first" 4 '' run -c fails.yaml -o fails --quiet
    expect "failed: left" 4 'skipped: it failed before .--rerun failed tries again' run -c fails.yaml -o fails --explain
    expect "failed: tried again" 4 'to run again, as --rerun asks' run -c fails.yaml -o fails --rerun failed --explain
    expect "all: once more" 4 'uniform .*: to run again, as --rerun asks' run -c fails.yaml -o fails --rerun all --explain
}

test_export() {
    expect "export" 0 '^cell_key,run_key' export whole --csv
    expect "export: an unknown table" 2 'there are runs' export whole --csv --table runns
    expect "export: a long name is cut with a mark" 2 'no table x{57}[.]{3}; there are runs' export whole --csv --table "$(printf 'x%.0s' {1..99})"
    expect "export: a missing file" 3 'none' export none.h5 --csv
    with_python "export" || return
    for table in runs timing snapshots attrition; do
        expect "export $table" 0 '' export a --csv --table $table -o t.csv
        check "export $table: all values" "$python" -c "import csv, h5py, math, sys
f = h5py.File('a/results.h5'); g = f['tables/' + sys.argv[1]] if sys.argv[1] == 'attrition' else f[sys.argv[1]]
rows = list(csv.DictReader(open('t.csv', newline='')))
names = [n for n in g if n != 'row']
plain = [c.removeprefix('opt_').removeprefix('col_').removesuffix('_2') for c in rows[0]]
assert plain == names and len(rows) == len(g[names[0]]), plain
assert len({c.lower() for c in rows[0]}) == len(rows[0]) and 'lambda' not in rows[0] and 'from' not in rows[0]
for n, c in zip(names, list(rows[0])):
    text = h5py.check_string_dtype(g[n].dtype)
    for got, want in zip((r[c] for r in rows), g[n].asstr()[:] if text else g[n][:]):
        assert got == want if text else (got == '' and math.isnan(want)) or float(got) == want, (n, got, want)" $table
    done
}

# A row a setting: means over seeds, their intervals, paired differences.
test_export_settings() {
    with_python "export: settings" || return
    job 'seeds: [1, 2, 3]' 'samplers: [uniform, knn, file-order, batchsampler: {M: [20, 30], K: 8}]' 'metrics: [fn_ratio, hardness]' >three.yaml
    expect "export: settings: run" 0 '' run -c three.yaml -o three -q
    expect "export: settings" 0 '' export three --csv --table settings -o t.csv
    check "export: settings: values" "$python" -c "import csv, h5py, numpy as np, math
rows = list(csv.DictReader(open('t.csv', newline=''))); r = h5py.File('three/results.h5')['runs']
assert [x['sampler'] for x in rows] == ['uniform', 'knn', 'file-order', 'batchsampler', 'batchsampler'] * 2, rows
# A column of each option that is in use, at the end, as in the table of runs.
options = [c for c in rows[0] if c.startswith('opt_')]
assert options == list(rows[0])[-len(options):] and 'opt_quantile' not in options, options
assert [x['opt_M'] for x in rows[:5]] == ['', '', '', '20', '30'] and [x['opt_walk'] for x in rows[:5]] == [''] * 3 + ['rwr'] * 2, rows
assert all(f'M={x[\"opt_M\"]},' in x['params'] + ',' for x in rows[3:5])
step = r['step'][:]; name = r['sampler'].asstr()[:]
def of(s, t): return r['fn_ratio'][:][(name == s) & (step == t)]
def near(got, want): assert abs(float(got) - want) < 1e-12, (got, want)
for x in (x for x in rows if x['sampler'] != 'batchsampler'):
    v = of(x['sampler'], float(x['step'])); n = len(v)
    assert int(x['seeds']) == 3
    near(x['fn_ratio'], v.mean())
    if x['sampler'] != 'knn': continue
    d = v - of('uniform', float(x['step']))
    near(x['fn_ratio_minus_uniform'], d.mean())
    half = 4.302652729749464 * d.std(ddof=1) / math.sqrt(3)
    near(x['fn_ratio_minus_uniform_lo'], d.mean() - half)
    near(x['fn_ratio_minus_uniform_hi'], d.mean() + half)
    assert x['no_more_false_negatives'] == ('yes' if d.mean() + half <= .005 else 'no' if d.mean() - half > .005 else 'not determined')
    assert x['fn_ratio_against_uniform'] == ('more' if d.mean() > half else 'less' if d.mean() < -half else 'not determined')"
    spoiled three/results.h5 null.h5 "s = r['sampler'].asstr()[:]; s[s == 'file-order'] = 'null'; r['sampler'][...] = s"
    expect "the sampler null of earlier builds has today's name" 0 ',file-order,' export null.h5 --csv
    expect "in comparisons, too" 0 '^PASS: .*no difference' compare three null.h5
}

# A spreadsheet runs texts that begin as formulas.
test_export_formulas() {
    with_python "export: formulas" || return
    spoiled a/results.h5 formula.h5 "v = r['dataset'].asstr()[:]; v[0] = '=cmd|\'/c x\'!A1'; v[1] = '@SUM(1)'; v[2] = '-\"x'; v[3] = '+1+cmd'; v[4] = '\x1b\x85 =1\tx'; v[5] = 'a\x07\x7fb'; r['dataset'][...] = v"
    expect "export: formulas" 0 '' export formula.h5 --csv -o formula.csv
    check "export: formulas are texts, control characters blanks" "$python" -c "import csv
d = [r['dataset'] for r in csv.DictReader(open('formula.csv', newline=''))]
assert d[:6] == ['\'=cmd|\'/c x\'!A1', '\'@SUM(1)', '\'-\"x', '\'+1+cmd', '\'   =1 x', 'a  b'] and d[6] == 's.h5', d[:7]"
}

# What a killed command left below TMPDIR goes with the next one. The run that it had started ends by itself.
scratch_in_use() { [ -n "$(find scratch -path '*/cells/*.cell' -print -quit)" ]; }
none_runs_in() { ! pgrep -f "$1" >/dev/null; } # FOLDER
test_ab_scratch() {
    local process
    mkdir -p scratch
    TMPDIR=$work/scratch "$hardneg" ab "$hardneg" "$hardneg" -c quick.yaml --rounds 50 -q >out 2>err </dev/null &
    process=$!
    check "ab: a scratch folder" wait_for 60 scratch_in_use
    kill -KILL $process
    wait $process 2>/dev/null
    check "ab, killed: its folder stays" test "$(find scratch -maxdepth 1 -name 'hardneg*' | wc -l)" = 1
    wait_for 60 none_runs_in "$work/scratch"
    TMPDIR=$work/scratch expect "ab after one that was killed" 0 '^PASS' ab "$hardneg" "$hardneg" -c quick.yaml --rounds 1 -q --gate counters:=0
    check "ab: no scratch folder is left" test -z "$(ls scratch)"
}

test_ab() {
    expect "ab" 0 '^PASS' ab "$hardneg" "$hardneg" -c quick.yaml --rounds 2 -q --gate counters:=0
    expect "ab: one round gates no times" 0 '[0-9]+ of [0-9]+ @few-rounds' \
        ab "$hardneg" "$hardneg" -c quick.yaml --rounds 1 -q --set batches=300
    expect "ab: rounds and reports are kept" 0 '^PASS' ab "$hardneg" "$hardneg" -c quick.yaml --rounds 2 -q --gate counters:=0 -o rounds --markdown ab.md --junit ab.xml
    check "ab: the rounds" test "$(echo rounds/*)" = "rounds/1-new.h5 rounds/1-old.h5 rounds/2-new.h5 rounds/2-old.h5"
    check "ab: the reports" grep -q 'PASS' ab.md
    check "ab: JUnit" grep -q '<testsuite ' ab.xml
    expect "ab: a round is a results file" 0 '^PASS' compare rounds/1-old.h5 rounds/2-new.h5 --gate counters:=0
    expect "ab: a program that fails" 2 '@program-failed 1' ab "$hardneg" /bin/false -c quick.yaml --rounds 1 -q
    printf '#!/bin/sh\nkill -TERM $PPID\nexit 143\n' >stopped.sh && chmod +x stopped.sh
    expect "ab: a stop that its program was too young to catch" 130 'interrupted' ab "$hardneg" ./stopped.sh -c quick.yaml --rounds 1 -q
    expect "ab: no program" 2 '@program-missing' ab "$hardneg" ./none -c quick.yaml --rounds 1 -q
    expect "ab: no job" 2 'job' ab "$hardneg" "$hardneg"
    expect "ab: a job that is wrong" 2 'none\.yaml' ab "$hardneg" "$hardneg" -c none.yaml --rounds 1 -q
    cat >other.sh <<'END'
#!/bin/sh
exec "$HARDNEG" "$@" --set 'seeds=[77]'
END
    chmod +x other.sh
    HARDNEG=$hardneg expect "ab: a program that does something else" 5 'NOTHING' \
        ab "$hardneg" ./other.sh -c quick.yaml --rounds 1 -q
}

test_doctor() {
    expect "doctor" 0 'BLAS kernels' doctor --no-noise
    check "doctor: clock, pages, counters" grep -cqE 'clock|huge pages|instructions' out
    (ulimit -f 20; "$hardneg" doctor --rounds 1 >out 2>err)
    rc=$?
    check "doctor: a file for the noise that cannot be written" is 2
    check "doctor: with the reason" complains 'ended with code 74: .*s\.h5: writing failed'
    with_python "doctor --json" || return
    run doctor --rounds 1 --json
    check "doctor --json" "$python" -c "import json
d = json.load(open('out')); assert d['noise_floor'] >= 0 and len(d['checks']) > 10"
    # Instructions are counted where the host allows it, and absent, not zero, where it does not.
    check "instructions: as doctor says" "$python" -c "import h5py, json, numpy as np
f = h5py.File('a/results.h5'); v = f['timing/instructions'][:]; said = f['env'].attrs['instructions']
state = [c['state'] for c in json.load(open('out'))['checks'] if c['name'] == 'instructions'][0]
assert (np.all(v > 0) and said == 'counted') if state == 'ok' else (np.all(np.isnan(v)) and 'perf_event_open' in said), (state, said)"
}

test_batches() {
    expect "--save-batches" 0 '' run -c quick.yaml -o saved --quiet --save-batches
    with_python "saved batches" || return
    check "saved batches: all items of an epoch" "$python" -c "import h5py, numpy as np
f = h5py.File('saved/results.h5'); r = f['runs']; o = f['order']
runs, splits, index = o['run_splits'][:], o['splits'][:], o['index'][:]
assert len(runs) == len(r['step']) + 1 and splits[-1] == len(index) and runs[-1] + 1 == len(splits)
for i, s in enumerate(r['status'].asstr()[:]):
    n = runs[i + 1] - runs[i]
    assert n == (10 if s == 'ok' else 0), (i, s, n)
    for b in range(runs[i], runs[i + 1]):
        ids = index[splits[b]:splits[b + 1]]
        assert len(ids) == 16 and ids.min() >= 0 and ids.max() < 300
        if r['sampler'].asstr()[i] == 'uniform': assert len(set(ids)) == 16"
    [ -d whole ] || run run -c quick.yaml -o whole --quiet
    expect "the rest is as without" 0 '^PASS' compare whole saved --gate counters:=0 --gate quality:=0
    spoiled saved/results.h5 order.h5 "v = f['order/index'][:]; v[5] += 1; f['order/index'][...] = v"
    expect "one id is another" 1 'order' compare saved order.h5 --gate counters:=0
    for i in 1 2; do run run -c quick.yaml -o "s$i" --shard $i/2 --save-batches --quiet; done
    expect "merge of saved batches" 0 '' merge s1 s2 -o sm.h5
    check "merge: the same batches" same_results saved/results.h5 sm.h5
}

# The workflow files are YAML; this project's own has a job for each thing that `make` can check.
test_ci_files() {
    [ -n "$python" ] && "$python" -c 'import yaml' 2>/dev/null || { skip "docs/guide/ci" "no python3-yaml"; return; }
    check "docs/guide/ci/github-actions.yml is a workflow" "$python" -c "import yaml
w = yaml.safe_load(open('$root/docs/guide/ci/github-actions.yml'))
steps = [s for j in w['jobs'].values() for s in j['steps']]
assert any('hardneg compare' in s.get('run', '') for s in steps)
assert all('uses' in s or 'run' in s for s in steps)"
    check ".github/workflows/ci.yml is a workflow" "$python" -c "import yaml
ci = yaml.safe_load(open('$root/.github/workflows/ci.yml'))
jobs = ci['jobs']
assert set(jobs) == {'test', 'systems', 'kernels', 'checks', 'fuzz', 'release'}, set(jobs)
assert [m['compiler'] for m in jobs['test']['strategy']['matrix']['include']] == ['gcc', 'clang']
assert jobs['checks']['strategy']['matrix']['target'] == ['lint', 'asan', 'tsan']
assert all(any('make ' in s.get('run', '') for s in j['steps'][1:]) and 0 < j['timeout-minutes'] <= 90 for j in jobs.values())
assert ci['permissions'] == {'contents': 'read'} and ci['concurrency']
assert [n for n, j in jobs.items() if 'permissions' in j] == ['release'] and set(jobs['release']['needs']) == set(jobs) - {'fuzz', 'release'}
import re
assert all(re.fullmatch('[a-z/-]+@[0-9a-f]{40}', s['uses']) for j in jobs.values() for s in j['steps'] if 'uses' in s)"
    check "docs/guide/ci/slurm.sh is a script" bash -n "$root/docs/guide/ci/slurm.sh"
    check "docs/guide/ci/array.sh is a script" bash -n "$root/docs/guide/ci/array.sh"
    check "docs/guide/ci/parallel.sh is a script" bash -n "$root/docs/guide/ci/parallel.sh"
}

run_tests "${2:-}" make_results make_results test_baseline test_compare test_times test_processes test_older_baseline test_older_programs test_reports test_damaged test_shards test_kept_folder test_versions test_names \
    test_studies test_closed_pipe test_rerun test_export test_export_settings test_export_formulas test_ab test_ab_scratch test_batches test_doctor test_ci_files
finish
