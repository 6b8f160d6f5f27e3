#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Tests of what a run shows: `tests/page.sh PROGRAM`. The table after `run`, the report's page as text and, where
# Chromium is installed, as a browser has it.
source "$(dirname "$0")/lib.sh"
begin page "$1"

# A page whose controls were worked by JavaScript statements, as text in `dom`; what is to be read is left in the
# title with say(): at once, as the page is read when it has loaded. Messages on the console are in `console`.
browse() { # PAGE STATEMENTS
    local page=$1 statements=$2
    sed 's,</body>,,; s,</html>,,' "$page" >driven.html
    printf '<script>{\nconst say = text => { document.title += "[" + text + "]"; };\n%s\n}</script></body></html>\n' \
        "$statements" >>driven.html
    timeout 300 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --enable-logging=stderr \
        --user-data-dir="$work/profile" --window-size="${SIZE:-1280,1600}" --dump-dom "file://$PWD/driven.html${HASH:-}" \
        >dom 2>chromium.log </dev/null
    grep 'CONSOLE' chromium.log >console
    grep -o '<title>[^<]*' dom >out
}
with_browser() { # NAME
    command -v chromium >"$work/out" || { skip "$1" "no chromium"; return 1; }
}

# Two steps, batch sizes, temperatures, settings of a sampler, weightings and seeds.
test_table() {
    run synth -o s.h5 --n 200 --steps 2 --views 2
    cat >grid.yaml <<E
version: 1
title: A <small> grid
snapshots: [s.h5]
samplers: [uniform, knn, batchsampler: {M: [50, 100], K: 20}]
batch_size: [8, 16]
batches: 10
temperature: [0.1, 0.5]
weightings: [none, hcl: {beta: [0.5, 1]}]
seeds: [1, 2, 3]
timing: {reps: 1, warmup: 0}
metrics: [fn_ratio, hardness, loss]
E
    expect "a grid" 0 '' run -c grid.yaml -o grid
    check "its axes head the table" says \
        '^sampler +seeds +fn_ratio .*-uniform .*fn_mass .*ms/batch +front'
    check "its axes are in the name of a setting" says '^batchsampler step=100, M=50, weighting=hcl, beta=0\.5, temperature=0\.1, B=8$'
    check "what does not fit is named" says '^left out for the width: loss_batch, clamp_rate, fn_loss_mass, '
    check "a row a setting, and what is left out is said" says '^not shown: 48 settings of other steps \(--print-step\); `hardneg report` shows all'
    check "the step shown is the last" eval '! grep -q "step=0," out && grep -qE "^batchsampler step=100, " out'
    check "means over three seeds" says '^ +3 +0\.[0-9]{4} '
    check "what all have alike" says '^all: dataset s, loss '
    check "options of a sampler that do not vary" eval 'grep -q "^all of batchsampler: K=20, alpha=0\.2~0\.05, " out && grep -q "walk=rwr" out'
    expect "the report" 0 '' report grid
    check "its pictures are pictures, not their text" test "$(grep -c '&#60;svg' grid/index.html)" = 0 -a "$(grep -c "<svg " grid/index.html)" -gt 2
    check "a setting is one cell, with its value of each axis" grep -q '^<tr><th scope=row [^>]*data-sampler="batchsampler"[^>]*>batchsampler <span data-axis="M" data-value="50">M=50</span><small> <span data-axis="step" data-value="[0-9]*">step [0-9]*</span>, .*data-axis="weighting" data-value="hcl">weighting hcl</span>, <span data-axis="beta" data-value="0.5">beta 0.5</span>.*<span data-axis="batch size" data-value="8">batch size 8</span>' grid/index.html
    check "a row for each setting" test "$(grep -c 'data-sampler=' grid/index.html)" = 96
    check "the lead fits any results" grep -q 'class=lead>Measured by <b>hardneg' grid/index.html
    check "the title is the job's" grep -q '<h1>A &#60;small&#62; grid</h1>' grid/index.html
    check "a small page" test "$(wc -c <grid/index.html)" -lt 2000000
    check "inner products by the thousand, without exponents" grep -q 'Inner products (10³)' grid/index.html
    check "no number of a table has an exponent" test "$(grep -cE '<td class=n[^>]*>[-+.0-9]*e[-+0-9]' grid/index.html)" = 0
    check "the front comes first" grep -q '^<figure id="pareto">' <(grep -E '<figure |<h2' grid/index.html | head -n 1)
    check "options that do not vary stand below" grep -q '<dt>batchsampler</dt><dd>K=20, alpha=' grid/index.html
}

# The sentences, against the numbers in the file.
test_answer() {
    expect "a margin" 0 '' report grid --margin 3 -o margin.html
    check "is the first limit, and no lower one follows" test \
        "$(grep -o 'At most [0-9.]* points' margin.html | sort -u | tr '\n' ',')" = "At most 10 points,At most 3 points,"
    check "clamped anchors have a column" grep -q 'Clamped (%)' grid/index.html
    check "the sentence on weightings names them" grep -q '(clamped): <b>hcl beta=0.5</b> (100 % of the anchors)' grid/index.html
    pycheck "the answer" "
import h5py, numpy as np, re, sys
from scipy import stats
f = h5py.File('grid/results.h5'); r = f['runs']
col = lambda n: r[n].asstr()[:] if r[n].dtype.kind in 'OS' else r[n][:]
page = re.sub('<[^>]*>', '', open('grid/index.html').read().split('class=answer>')[1].split('</section>')[0])
for batch in 8, 16:
    here = (col('step') == col('step').max()) & (col('batch_size') == batch) & (col('temperature') == .1) & (col('weighting') == 'none')
    name = np.array([s + (f' M={m:.0f}' if m == m else '') for s, m in zip(col('sampler'), col('M'))])
    pick = lambda n, c: col(c)[here & (name == n)][np.argsort(col('seed')[here & (name == n)])]
    def interval(v):
        half = stats.t.isf(.025 / len(others), len(v) - 1) * v.std(ddof=1) / np.sqrt(len(v))
        return v.mean(), half
    hardness = 'true_mean' if np.isfinite(col('true_mean')).any() else 'hard_true_mean'
    others = [n for n in dict.fromkeys(name[here]) if n != 'uniform']
    over = {n: {c: pick(n, c) - pick('uniform', c) for c in (hardness, 'fn_ratio')} for n in others}
    told = re.search(f'batches of {batch};(.*?)(batches of|$)', page, re.S).group(1)
    before = None
    for limit in .5, 2, 10:
        fits = [n for n in others if sum(interval(over[n]['fn_ratio'])) <= limit / 100 and np.subtract(*interval(over[n][hardness])) > 0]
        best = max(fits, key=lambda n: pick(n, hardness).mean(), default=None)
        found = re.search(f'At most {limit:g} points more false negatives: (.*)', told)
        if not found: # the next line says the same
            assert best is None and limit < 10, (best, told)
            continue
        line = found.group(1)
        start = ('no sampler within this limit is shown to be harder than Uniform.' if best is None else f'still {best}.' if best == before else f'{best} is the hardest shown to be within: ')
        assert line.startswith(start), (start, line)
        before = best
        if ' is the hardest' in start:
            said = [float(x) for x in re.findall('[-+]?[0-9.]+', line[len(start):].split(';')[0])]
            wanted = [x for c in (hardness, 'fn_ratio') for x in np.multiply([pick(best, c).mean(), *interval(over[best][c])], 100 if c == 'fn_ratio' else 1)]
            assert np.allclose(said, wanted, rtol=.05, atol=.051), (said, wanted, line)
        tied = {n for n in fits if n != best and abs(interval(pick(n, hardness) - pick(best, hardness))[0]) <= interval(pick(n, hardness) - pick(best, hardness))[1]}
        assert all(n in line.split('Not significantly harder than ')[-1] for n in tied) or len(tied) > 6, (tied, line)"
}

# From six settings on intervals of false negatives and hardness learn from one another, here as docs/notes/borrowed.py has it.
test_learned() {
    echo '{version: 1, snapshots: [s.h5], steps: [100], batch_size: 16, batches: 12, seeds: [1, 2, 3], metrics: [fn_ratio, hardness, true_hardness],
samplers: [uniform, knn, gcbs, mosaic, b3, ngame, hard-negative, stratified], timing: {reps: 1, warmup: 0}}' >eight.yaml
    expect "eight samplers" 0 '' run -c eight.yaml -o eight --quiet
    expect "their settings" 0 '' export eight --csv --table settings -o eight.csv
    pycheck "intervals" "
import csv, h5py, numpy as np
from scipy import special, stats
file = h5py.File('eight/results.h5')
r, splits, batch = file['runs'], file['batch/row_splits'][:], file['batch/cos_mean'][:]
name, seed = r['sampler'].asstr()[:], r['seed'][:]
pick = lambda n, c: c[name == n][np.argsort(seed[name == n])]
others = [n for n in dict.fromkeys(name) if n != 'uniform']
rows = {row['sampler']: row for row in csv.DictReader(open('eight.csv'))}
cosine = np.array([stats.t.isf(.025, b - a - 1)**2 * batch[a:b].var(ddof=1) / (b - a) for a, b in zip(splits, splits[1:])])
shares = ((r['fn_ratio_hi'][:] - r['fn_ratio_lo'][:]) / 2)**2
for column, noise in ('fn_ratio', shares), ('true_mean', cosine), ('hard_true_mean', cosine), ('true_p99', cosine):
    v = r[column][:]
    d = np.array([pick(n, v) - pick('uniform', v) for n in others])
    b2 = np.array([pick(n, noise).mean() + pick('uniform', noise).mean() for n in others])
    q = d.var(1, ddof=1) / b2
    e = np.log(q) - special.digamma(1)
    extra = e.var(ddof=1) - special.polygamma(1, 1)
    x = np.geomspace(1e-3, 1e6, 2000001)
    f = 2 if extra <= 0 else min(2, 2 * np.interp(-extra, -special.polygamma(1, x), x))
    ratio = np.exp(e.mean() + (special.digamma(f / 2) - np.log(f / 2) if extra > 0 else 0))
    half = stats.t.isf(.025, f + 2) * np.sqrt((f * ratio + 2 * q) / (f + 2) * b2 / 3)
    told = np.array([[float(rows[n][column + '_minus_uniform_' + end]) for end in ('lo', 'hi')] for n in others])
    assert np.allclose(told[:, 1] - told[:, 0], 2 * half, rtol=1e-4), (column, told, half)
    assert np.allclose(told.mean(1), d.mean(1), atol=1e-9)"
}

# A page of trainings; the miner's filters.
test_other_pages() {
    job='{version: 1, snapshots: [s.h5], samplers: [uniform, mined: {n: 5, max_score: 0.9}], batch_size: 8, batches: 5, metrics: [fn_ratio, true_hardness]}'
    echo "$job" >mined.yaml
    expect "mined" 0 'true_mean .*-uniform' run -c mined.yaml -o mined
    expect "its report" 0 '' report mined
    mkdir -p killed/cells
    expect "the report of a run that was killed" 3 '@unfinished' report killed/
    check "the title is the name of the job's file" grep -q '<h1>mined</h1>' mined/index.html
    check "what a loss sees of hardness stands beside the mean" \
        grep -q 'mean cosine of true negatives;.*log-mean-exp of the cosines of true negatives at the temperature' mined/index.html
    check "a column shows under its measure of hardness" \
        grep -q 'class="n by" data-measure=1[^>]*><button type=button>P99 true neg' mined/index.html
    check "what the filters drop" grep -qE '<th scope=row data-sampler="mined"[^>]*>mined\*.*</th><td>score</td><td class=n data-v="[0-9]+">' mined/index.html
    pycheck "as the file has it" "
import h5py, re
t = h5py.File('mined/results.h5')['tables/attrition']
last = len(set(t['run'][:])) - 1
rows = [i for i, run in enumerate(t['run'][:]) if run == max(t['run'][:])]
page = open('mined/index.html').read()
for i in rows:
    row = f'<td>{t[\"filter\"].asstr()[i]}</td><td class=n data-v=\"{t[\"true_negatives\"][i]}\">'
    assert row in page, row"
}

# More settings than have their names in a figure, at two batch sizes; nothing measured that could be ranked.
test_many_settings() {
    run synth -o one.h5 --n 200 --steps 1
    cat >many.yaml <<'E'
{version: 1, snapshots: [one.h5], samplers: [uniform, batchsampler: {M: [20, 30, 40], K: [5, 6, 7], alpha: [0.1, 0.5], t: [1, 500]}],
 batch_size: [8, 16], batches: 2, metrics: [fn_ratio, hardness]}
E
    run run -c many.yaml -o many --quiet
    expect "many settings" 0 '' report many
    check "a caption says once which are named" test "$(grep -o 'those on the line are named' many/index.html | wc -l)" = 1
    check "settings without a difference share a mark" test "$(grep -o 'Settings with the same values share a mark' many/index.html | wc -l)" = 1
    check "the front names its measure of hardness" grep -q 'class=front data-hardness="[^"]*cosine of ' many/index.html
    check "and the name of the first" test "$(awk '/id="pareto"/, /<.svg>/' many/index.html | grep -c 't=500<')" = 0
    cat >ratio.yaml <<'E'
{version: 1, snapshots: [s.h5], samplers: [uniform], batch_size: 8, batches: 2, metrics: [fn_ratio]}
E
    run run -c ratio.yaml -o ratio --quiet
    expect "no hardness" 0 '' report ratio
    check "is the reason that there is no front" grep -q 'pareto.*no run has both hardness and labels' ratio/index.html
}

# On a wide screen captions stand beside their pictures, and words without a front have two columns.
# A sweep over an option draws each series at its own last step.
test_unequal_series() {
    "$hardneg" synth -o long.h5 --n 120 --dim 8 --classes 6 --steps 3 --views 1 --quiet
    "$hardneg" synth -o short.h5 --n 120 --dim 8 --classes 6 --steps 1 --views 1 --seed 2 --quiet
    printf '%s\n' 'version: 1' 'snapshots: [long.h5, short.h5]' 'batch_size: 16' 'batches: 4' 'seeds: [1, 2]' 'figures: none' \
        'samplers: [uniform, batchsampler: {M: [30, 60], K: [10, 20], alpha: [0.2, 0.5]}]' 'metrics: [fn_ratio, hardness]' >unequal.yaml
    expect "unequal series: a run" 0 '' run -c unequal.yaml -o unequal --quiet
    expect "unequal series: a figure" '0|6' '' plot unequal --figure bs-K -o unequal-figures
    check "unequal series: both are drawn" test "$(grep -oE '^# (long|short): batchsampler' unequal-figures/bs-K.tsv | sort -u | wc -l)" = 2
}

test_wide_screens() {
    with_browser "wide screens" || return
    local places='const places = [...document.querySelectorAll("#figures figure")].map(figure => [[...figure.querySelectorAll(".plot svg")].find(p => p.checkVisibility()), figure.querySelector("figcaption")].map(e => e.getBoundingClientRect()));
say(places.length > 1 && places.every(([plot, caption]) => caption.left >= plot.right && caption.top < plot.bottom) ? "beside" : "not beside");
say(places.every(([plot, caption]) => caption.top >= plot.bottom - 1) ? "below" : "not below");
say(document.documentElement.scrollWidth <= innerWidth ? "fits" : "too wide");
say("columns " + getComputedStyle(document.querySelector(".answer")).columnCount);'
    SIZE=1920,1080 browse grid/index.html "$places"
    check "captions beside pictures" says '\[beside\]\[not below\]\[fits\]\[columns auto\]'
    browse grid/index.html "$places"
    check "else below" says '\[not beside\]\[below\]\[fits\]'
    SIZE=1920,1080 browse ratio/index.html "$places"
    check "words in two columns" says '\[fits\]\[columns 2\]'
    browse mined/index.html 'say(document.querySelectorAll(".takes input[type=range]").length + " sliders");'
    check "no slider of budgets where nothing is compared" says '\[0 sliders\]'
    browse grid/index.html 'say(document.querySelectorAll(".takes input[type=range]").length + " sliders");'
    check "one where there are answers" says '\[1 sliders\]'
}

# --settings: figures draw those that it names; the answer and the table have all.
test_named_settings() {
    expect "a setting that is not there" 2 'knnn' report grid --settings 'uniform, knnn' -o named.html
    expect "of several results" 2 '--settings is for one results file' report grid first --settings knn -o named.html
    expect "two settings" 0 '' report grid --settings 'uniform, knn' -o named.html
    pycheck "are drawn alone" '
import re
for name, samplers in ("grid/index.html", {"uniform", "knn", "batchsampler"}), ("named.html", {"uniform", "knn"}):
    page = open(name).read()
    figure = re.search("<figure id=\"bs-B\">.*?</figure>", page, re.S)[0]
    assert {s for s in ("uniform", "knn", "batchsampler") if s in re.sub("<figcaption.*", "", figure, flags=re.S)} == samplers, (name, samplers)
    assert page.count("data-sampler=\"batchsampler\"") == 48, name
    assert "batchsampler" in re.search("<figure id=\"pareto\">.*?<figcaption", page, re.S)[0], name'
}

# Where all settings are on the front, a sentence says so in place of a column of marks.
test_all_on_front() {
    sed 's/^samplers.*/samplers: [uniform, knn]/; s/, loss\]/]/; s/^temperature.*//; s/^weightings.*/weightings: [none, hcl: {beta: 1}]/; s/^metrics.*/metrics: [fn_ratio, hardness, loss]/' grid.yaml >marked.yaml
    expect "two samplers" 0 '' run -c marked.yaml -o marked --quiet
    expect "their report" 0 '' report marked
    check "no column of marks" test "$(grep -c 'Front</button>' marked/index.html)" = 0
    check "but a sentence" grep -q 'All settings are on the front: none is better' marked/index.html
    check "where some are not, a column" grep -q 'Front</button>' grid/index.html
    check "and no sentence" test "$(grep -c 'All settings are on the front' grid/index.html)" = 0
    with_browser "the line through all of them" || return
    browse marked/index.html 'say(document.querySelector(".first .stair").getAttribute("d").replace(/[-.0-9]+/g, ""));'
    check "is drawn" says '\[M,HV\]'
}

test_browser() {
    with_browser "the page in a browser" || return
    browse grid/index.html 'const shown = () => document.querySelectorAll("#settings tbody tr:not([hidden])").length;
const choose = (name, value) => {
    const label = [...document.querySelectorAll(".filter label")].find(l => l.textContent.startsWith(name + " "));
    label.lastElementChild.value = value;
    label.lastElementChild.dispatchEvent(new Event("input"));
};
say("last " + shown()); choose("step", "all"); say("all " + shown()); choose("weighting", "=hcl"); say("hcl " + shown());
choose("rows with", "knn"); say("knn " + shown()); choose("step", "last"); say("knn last " + shown());
const head = document.querySelector("#settings th");
head.firstElementChild.click(); say(head.getAttribute("aria-sort"));
head.firstElementChild.click(); say([...document.querySelectorAll("#settings tbody th")].map(h => h.textContent).filter(t => t.startsWith("batchs")).slice(0, 8).map(t => /M=(\d+)/.exec(t)[1]).join());
say(document.documentElement.scrollWidth <= innerWidth ? "fits" : "too wide");
{ const frame = document.querySelector("#settings").parentElement; say(frame.scrollWidth <= frame.clientWidth ? "all columns" : "some columns"); }
say([...document.querySelectorAll("input,select,button,a")].every(e => e.labels?.length || e.ariaLabel || e.textContent)
    ? "named" : "nameless");'
    check "rows of the last step, then of all, then chosen by value and words" says \
        '\[last 48\]\[all 96\]\[hcl 64\]\[knn 16\]\[knn last 8\]'
    check "sorting, by the numbers in names" says '\[ascending\]\[100,100,100,100,100,100,100,100\]'
    check "every column is seen without scrolling" says '\[all columns\]'
    check "no wider than the window" says '\[fits\]'
    check "every control has a name" says '\[named\]'
    check "no message on the console" test ! -s console
    browse grid/index.html 'const chip = [...document.querySelectorAll(".chips button")].find(b => b.textContent === "knn");
const off = () => [".plot g.off", ".plot text.off", "tr.off"].map(s => document.querySelectorAll(s).length > 0).join();
const lit = () => [...document.querySelectorAll(".plot g:not(.off) > title")].map(t => t.textContent).filter(t => /uniform|batchs/.test(t)).length;
say("off " + off()); chip.click(); say("off " + off() + " lit " + lit() + " " + chip.ariaPressed); chip.click(); say("off " + off());
const row = document.querySelector("tr:has([data-sampler=uniform])");
row.dispatchEvent(new Event("pointerenter")); say("row " + off()); row.dispatchEvent(new Event("pointerleave")); say("row " + off());
const saved = {}; window.Blob = function ([text], {type}) { saved[type] = text; }; URL.createObjectURL = () => "about:blank";
HTMLAnchorElement.prototype.click = function () { say(this.download); };
for (const name of ["CSV", "LaTeX", "SVG"]) [...document.querySelectorAll(".downloads button")].find(b => b.textContent === name).click();
const rows = saved["text/csv"].split("\n"), heads = rows[0].split(",");
say("csv " + rows.length + " " + rows[1].split(",")[0] + " " + heads.slice(0, 9).map(h => h.replace(/[^a-z ]/gi, "")).join("; "));
say("as wide " + rows.slice(1, -1).every(row => row.replace(/"[^"]*"/g, "").split(",").length === heads.length));
say("hidden ones " + /on the front/.test(saved["text/csv"]));
say("tex in ASCII " + /^[\x00-\x7f]*$/.test(saved["text/x-tex"]));
const tex = saved["text/x-tex"], svg = saved["image/svg+xml"];
say("tex " + /^% .*\n\\begin\{tabular\}\{llr+\}\n\\toprule\n[^]*\\midrule\n(.* \\\\\n){48}\\bottomrule\n\\end/.test(tex) + /[^\\]%/.test(tex.slice(3)));
say("svg " + (new DOMParser().parseFromString(svg, "image/svg+xml").querySelector("parsererror") === null));
say("pdf " + [...document.querySelectorAll("a[download$=pdf]")].every(a => atob(a.href.split(",")[1]).startsWith("%PDF")));
const fold = document.querySelector("#run"); say("open " + fold.open); location.hash = "#run"; dispatchEvent(new Event("hashchange")); say("open " + fold.open);'
    check "a sampler is highlighted by its button, in figures and rows" says '\[off false,false,false\]\[off true,true,true lit 0 true\]\[off false,false,false\]'
    check "and by pointing at a row" says '\[row true,true,true\]\[row false,false,false\]'
    check "files are saved" says '\[settings\.csv\]\[settings\.tex\]\[pareto\.svg\]'
    check "the rows as CSV, values with the ends of their intervals" says '\[csv 50 "uniform step [0-9]+ .*Weight on false neg ; Weight on false neg low; Weight on false neg high'
    check "as many cells in each row" says '\[as wide true\]'
    check "and what is seen alone" says '\[hidden ones false\]'
    check "without letters that LaTeX lacks" says '\[tex in ASCII true\]'
    check "and as LaTeX" says '\[tex truefalse\]'
    check "SVG that can be read" says '\[svg true\]'
    check "PDF of each figure" says '\[pdf true\]'
    check "what is linked to unfolds" says '\[open false\]\[open true\]'
    check "still no message" test ! -s console
    timeout 300 chromium --headless --no-sandbox --disable-gpu --disable-background-networking --user-data-dir="$work/profile" \
        --no-pdf-header-footer --print-to-pdf="$work/grid.pdf" "file://$PWD/grid/index.html" >out 2>err </dev/null
    if [ -n "$(command -v pdftotext)" ]; then
        pdftotext -layout grid.pdf out
        check "printed, all of it is there" eval 'says "^ *Samplers" && says "What was run" && says "How to do it again" && says "config_sha256"'
        check "without controls" eval '! says "Highlight:|(^| )rows with( |$)"'
    else
        check "it prints" test "$(head -c 4 grid.pdf)" = %PDF
    fi
    SIZE=500,900 browse grid/index.html 'say(document.documentElement.scrollWidth <= innerWidth ? "fits" : "too wide");'
    check "nor on a narrow screen" says '\[fits\]'
    expect "a page with a choice of measures" 0 '' report eight --quiet
    HASH='#measure=hardest&highlight=knn' browse eight/index.html 'const rows = () => document.querySelectorAll("#settings tbody tr:not([hidden])").length;
say("measure " + document.querySelector("[name=measure]:checked").value + " " + document.querySelector(".chips [aria-pressed=true]").textContent);
document.querySelector("[name=measure]").click(); say("then " + location.hash);'
    check "what is chosen is in the address" says '\[measure hardest knn\]\[then #highlight=knn\]'
    check "no message of these" test ! -s console
    HASH='#step=all' browse grid/index.html 'const rows = () => document.querySelectorAll("#settings tbody tr:not([hidden])").length;
const words = document.querySelector(".filter input"), all = document.querySelector(".filter button");
say("rows " + rows() + " " + all.hidden); words.value = "no such row"; words.dispatchEvent(new Event("input")); say("none " + rows() + " " + decodeURIComponent(location.hash));
all.click(); say("all " + rows() + " " + all.hidden);'
    check "rows are chosen by it, too" says '\[rows 96 true\]\[none 0 #step=all&(amp;)?rows\+with=no\+such\+row\]'
    check "and all come back by a button" says '\[all 96 true\]'
    check "no message of these, either" test ! -s console
}

# The first screen's controls, by mouse and keys; what is copied from it is a job's sampler.
test_first_screen() {
    expect "a page of two batch sizes and two steps" 0 '' run -c grid.yaml -o first --quiet --set batch_size=[16,20] --set temperature=0.1 --set weightings=none
    expect "its page" 0 '' report first --quiet
    pycheck "settings are copied" '
import html, re, sys
items = sorted(set(re.findall("data-yaml=\"([^\"]*)\"", open("first/index.html").read())))
assert items
with open("copied.yaml", "w") as f:
    f.write("version: 1\nsnapshots: [s.h5]\nbatch_size: 16\nbatches: 10\ntemperature: 0.1\nseeds: [1, 2, 3]\n"
            "timing: {reps: 1, warmup: 0}\nmetrics: [fn_ratio, hardness, loss]\nsamplers:\n")
    f.writelines("  - " + html.unescape(item) + "\n" for item in items)'
    cp -r first copied
    expect "and are samplers of a job, with the cells that they had" 0 '\(0 computed, [1-9][0-9]* reused\)' run -c copied.yaml -o copied --force
    local command
    command=$(grep -oE 'data-command="[^"]*"' first/index.html | head -1 | sed 's/data-command="hardneg //; s/"$//')
    check "a budget that is not decided has a command" test -n "$command"
    expect "which is one" 0 'Take|Uniform will do|[Nn]ot decided|No setting' $command
    with_browser "the first screen" || return
    pycheck "its controls" '
import subprocess, sys
driven = subprocess.run([sys.executable, sys.argv[1], "first/index.html"], capture_output=True, text=True)
bad = [line for line in driven.stdout.splitlines() if not line.startswith("ok ")]
assert driven.returncode == 0 and not bad, "\n".join(bad) + driven.stderr' "$here/browser.py"
}

# Figures and tables for a paper, from one job by one command; main.tex is the user's.
test_paper() {
    local dir
    command -v gnuplot >out || { skip "a paper" "no gnuplot"; return; }
    expect "a paper" 0 'main\.tex' paper grid
    check "its table" grep -q 'batchsampler.*& \$.*\\pm' grid/paper/results.tex
    check "as many settings as it has rows" test "$(grep -oE '^[0-9]+ settings' grid/paper/results.tex)" = \
        "$(sed -n '/midrule/,/bottomrule/p' grid/paper/results.tex | grep -c '.*&.*\\\\$') settings"
    check "every figure in it is there" test "$(grep -oE 'figures/[^}]+' grid/paper/results.tex | sort)" = \
        "$(cd grid/paper && find figures -name '*.pdf' | sort)"
    check "all six" test "$(grep -c '^.begin{figure' grid/paper/results.tex)" = 6
    check "no wider than the text" grep -qE 'size (3\.250|6\.750)in' grid/paper/figures/pareto.gp
    echo '% mine' >>grid/paper/main.tex
    expect "again" 0 'main\.tex is there and stays' paper grid
    check "what was written stays" grep -q '^% mine' grid/paper/main.tex
    expect "with texts for LaTeX" 0 '' paper grid --term cairolatex --for acl -o tex
    check "they are read" grep -q 'input{figures/pareto}' tex/results.tex
    expect "no folder, no paper" 2 'is what is read' paper grid -o grid/results.h5
    expect "a report whose PDFs are for a style" 0 '' report grid --for acl -o acl.html
    pycheck "they have its widths" "
import base64, re
boxes = [re.search(rb'MediaBox \[ 0 0 ([0-9.]+)', base64.b64decode(p)).group(1)
         for p in re.findall(r'application/pdf;base64,([^\"]*)', open('acl.html').read())]
assert len(boxes) > 3 and all(min(abs(float(b) / 72 - w) for w in (3.03, 6.3)) < .02 for b in boxes), boxes"
    expect "a table" 0 '' export grid --latex -o settings.tex
    check "in LaTeX" grep -q 'toprule' settings.tex
    expect "one format" 2 'not both' export grid --latex --csv
    expect "any table" 0 '' export grid --latex --table timing
    check "as it is" says 'begin.tabular'
    cat >one.yaml <<E
version: 1
snapshots: [s.h5]
samplers: [uniform, knn]
weightings: [none, hcl]
batch_size: 8
batches: 10
metrics: [fn_ratio, hardness]
E
    expect "one seed, and no loss" 0 '' run -c one.yaml -o one
    expect "its paper" 0 'main\.tex' paper one
    check "claims no letters" grep -q 'caption{Last step: means over 1 seed, with' one/paper/results.tex
    check "and has none" eval '! grep "^.caption{Last" one/paper/results.tex | grep -q "share a letter"'
    expect "its page" 0 '' report one
    check "says why weightings are not compared" grep -q 'Weightings are not compared: no loss was measured' one/index.html
    check "and of none that there are more" eval '! grep -q "with other samplers and losses" one/index.html'
    # shellcheck disable=SC2015 # either may be missing
    kpsewhich ptmr8t.tfm >out 2>/dev/null && command -v pdflatex >out || { skip "LaTeX" "no pdflatex, or no Times (texlive-fonts-recommended)"; return; }
    for dir in grid/paper tex one/paper; do
        # shellcheck disable=SC2015 # either may fail
        (cd $dir && pdflatex -interaction=nonstopmode -halt-on-error main >log 2>&1 &&
            pdflatex -interaction=nonstopmode -halt-on-error main >log 2>&1)
        check "$dir is set" test -s $dir/main.pdf
        check "$dir: nothing sticks out" test -z "$(grep -E '^Overfull .hbox|Float too large' $dir/main.log)"
    done
}

figures_of() { find "$1" -name '*.svg' | sed 's,.*/,,; s,\.svg$,,' | sort | tr '\n' ' '; } # FOLDER

# Files with and without labels in one job, and numbers that no axis can be drawn with, where the reader takes them:
# every figure is drawn.
test_odd_numbers() {
    command -v gnuplot >out || { skip "odd numbers" "no gnuplot"; return; }
    with_python "odd numbers" || return
    spoiled s.h5 unlabelled.h5 "f['labels'][...] = -1; del f.attrs['content_sha256']"
    printf '%s\n' 'version: 1' 'snapshots: [unlabelled.h5, s.h5]' 'samplers: [uniform, knn, gcbs]' 'batch_size: 16' \
        'batches: 10' 'figures: all' 'timing: {reps: 1, warmup: 0}' 'metrics: all' >both.yaml
    expect "files with and without labels" 0 '' run -c both.yaml -o both
    local all value
    all=$(figures_of both)
    check "have their figures" test "$(wc -w <<<"$all")" -ge 7
    for value in np.inf -np.inf 1e308 1e300 5e-324 1e-310 -1; do
        mkdir -p odd
        check "values of $value: written" spoiled both/results.h5 odd/results.h5 "
for name in r:
    about = r[name].attrs
    bounded = about.get('units') in ('share', 'cosine') or about.get('role') == 'time'
    if r[name].dtype.kind == 'f' and name not in ('temperature', 'alpha', 'quantile') and (0 <= $value <= 1 or not bounded):
        put(name, ok[::2], $value)"
        expect "values of $value" 0 '' plot odd
        # Fronts need numbers of Uniform in every file, which half of the infinite ones leave without; options of
        # weightings that differ have a figure more.
        check "values of $value: every figure" test "$(figures_of odd | sed 's/fronts //; s/hc-mass //')" = "${all/fronts /}"
        check "values of $value: none in a script" test -z "$(grep -lE '[ :[](nan|-?inf)[]: ,]' odd/figures/*.gp)"
        rm -r odd
    done
}

# One figure that gnuplot fails on, or never ends, is named; the others are drawn.
test_failed_figure() {
    local real
    real=$(command -v gnuplot) || { skip "a failed figure" "no gnuplot"; return; }
    mkdir -p fake
    # shellcheck disable=SC2016 # for the script that it writes
    printf '#!/bin/sh\n[ "$2" != bs-table5.gp ] || { %s; }\nexec %s "$@"\n' 'echo no such style >&2; exit 1' "$real" >fake/gnuplot
    chmod +x fake/gnuplot
    expect "figures that need other runs" 0 'need other runs are left out .*: .*accuracy' plot grid -o whole
    check "are left out in one note" test "$(grep -c 'other runs are left out' err):$(grep -c 'is left out' err)" = 1:0
    expect "each with its reason" 0 'figure accuracy is left out: .*hardneg train' plot grid -o whole -v
    PATH=$PWD/fake:$PATH expect "a figure that fails" 6 'no such style' plot grid -o failed
    check "costs no other" test "$(figures_of failed)" = "$(figures_of whole | sed 's/bs-table5 //')"
    check "and leaves its script" test -s failed/bs-table5.gp
    PATH=$PWD/fake:$PATH expect "on the page, too" 6 'no such style' report grid -o failed.html
    check "which names it" grep -q '<li><b>bs-table5</b>: gnuplot failed' failed.html
    check "and has the others" grep -q '<figure id="pareto">' failed.html
    PATH=$PWD/fake:$PATH expect "after a run" 6 'no such style' run -c grid.yaml -o grid --set figures=all --quiet
    check "the others are drawn" test "$(figures_of grid)" = "$(figures_of failed)"
    # shellcheck disable=SC2016
    printf '#!/bin/sh\n! grep -q "set terminal pdf" "$2" || exit 1\nexec %s "$@"\n' "$real" >no-pdf
    chmod +x no-pdf && mkdir -p print && mv no-pdf print/gnuplot
    PATH=$PWD/print:$PATH expect "a page without PDFs" 0 '' report grid -o no-pdf.html
    check "which says so" grep -q '<span>PDF: gnuplot failed on it</span>' no-pdf.html
    # A warning is no failure.
    printf '#!/bin/sh\necho "(process:7): Pango-WARNING **: no font" >&2\nexec %s "$@"\n' "$real" >warns
    chmod +x warns && mkdir -p warning && mv warns warning/gnuplot
    PATH=$PWD/warning:$PATH expect "a figure with a warning" 0 'gnuplot warns of warned/bs-table5.gp: .*Pango-WARNING' plot grid --figure bs-table5 -o warned
    check "is drawn" cmp whole/bs-table5.svg warned/bs-table5.svg
    printf '#!/bin/sh\nsleep 1000 &\nexec %s "$@"\n' "$real" >leaves
    chmod +x leaves && mkdir -p leaving && mv leaves leaving/gnuplot
    check "what gnuplot leaves running does not keep standard output open" env PATH="$PWD/leaving:$PATH" timeout 100 bash -c \
        "set -o pipefail; '$hardneg' plot grid --figure bs-table5 -o left | cat >out"
    # Long enough for the other figures, on a machine that is slow and busy, too.
    sed -i 's/echo no such style.*exit 1/exec sleep 1000/' fake/gnuplot
    PATH=$PWD/fake:$PATH HARDNEG_GNUPLOT_SECONDS=10 expect "a figure without end" 6 'more than 10 s on .*bs-table5' \
        plot grid -o endless
    check "costs no other, either" test "$(figures_of endless)" = "$(figures_of failed)"
    check "and leaves no folder" none_temporary endless
}

# Several results on one page: ranks against an oracle, and the same settings side by side.
test_many_results() {
    local seed
    for seed in 3 4; do
        run synth -o "t$seed.h5" --n 150 --steps 2 --views 2 --seed $seed
        run run -c grid.yaml -o "many/$seed" --quiet --set "snapshots=[t$seed.h5]" --set temperature=[0.1] --set weightings=none
    done
    run run -c grid.yaml -o many/again --quiet --set "snapshots=[t4.h5]" --set temperature=[0.1] --set weightings=none --set seeds=[7]
    expect "without a name" 2 'a page of several results needs a name: add -o FILE' report many/3 many/4
    expect "the same twice" 2 'many/3/results.h5 is named twice$' report many/3 many/3 -o many.html
    ln -s 3 many/link
    ln many/3/results.h5 many/hard.h5
    expect "the same by another path" 2 'named twice, also as many/4/../3/' report many/3 many/4/../3 -o many.html
    expect "by a link" 2 'named twice, also as many/link/' report many/4 many/3 many/link -o many.html
    expect "by another name" 2 'named twice, also as many/hard.h5' report many/3 many/hard.h5 -o many.html
    cp many/3/results.h5 many/copy.h5
    expect "a copy" 2 'named twice, also as many/copy.h5' report many/3 many/copy.h5 -o many.html
    rm many/link many/hard.h5 many/copy.h5
    expect "one that is not there" 3 'many/5' report many/3 many/5 -o many.html
    check "leaves no page" test ! -e many.html
    expect "several results" 0 'many.html' report many/again many/3 many/4 -o many.html
    check "each has a name of its own" test "$(grep -oE 'scope=row>A &#60;small&#62; grid \([a-z0-9]+\)' many.html | sort -u | wc -l)" = 3
    check "all settings" test "$(grep -c 'data-sampler=' many.html)" = 48
    expect "one of them alone" 0 '' report many/3
    intervals() { grep -oE '>[-+0-9.]+ <small>±[^<]*' "$1" | sort -u; }
    check "a number has the same interval on its own page and among others" \
        eval 'test "$(intervals many/3/index.html | wc -l)" -gt 20 && test -z "$(comm -23 <(intervals many/3/index.html) <(intervals many.html))"'
    pycheck "ranks over data sets" '
import h5py, re, sys, numpy as np
from html.parser import HTMLParser
place, names = {}, set()
for f in sys.argv[2:]:
    r = h5py.File(f)["runs"]
    text = lambda c: r[c].asstr()[:]
    for sampler, params, data, step, B, fn in zip(text("sampler"), text("params"), text("dataset_sha256"), r["step"], r["batch_size"], r["fn_ratio"]):
        M = re.search("(?:^|, )M=([0-9]+)", params)
        name = sampler + (" M=" + M[1] if M else "")
        names.add(name)
        if step == max(r["step"]): place.setdefault((data, f, B), {}).setdefault(name, []).append(fn)
of_data = {}
for (data, _, _), fn in place.items():
    v = {n: np.mean(fn[n]) for n in names}
    rank = {n: sum(v[m] < v[n] for m in names) + (1 + sum(v[m] == v[n] for m in names)) / 2 for n in names}
    of_data.setdefault(data, []).append(rank)
want = {n: np.mean([np.mean([x[n] for x in ranks]) for ranks in of_data.values()]) for n in names}
table = re.search("<table id=ranks.*?</table>", open(sys.argv[1]).read(), re.S)[0]
# Hardness of those with at most 2 points more false negatives than Uniform, others last together.
measure = re.search("data-column=(?:\"|)([a-z0-9_]*true_mean)", open(sys.argv[1]).read())[1]
hard = {}
for f in sys.argv[2:]:
    r = h5py.File(f)["runs"]
    for sampler, params, data, step, B, fn, h in zip(r["sampler"].asstr(), r["params"].asstr(), r["dataset_sha256"].asstr(), r["step"], r["batch_size"], r["fn_ratio"], r[measure]):
        M = re.search("(?:^|, )M=([0-9]+)", params)
        if step == max(r["step"]): hard.setdefault((data, f, B), {}).setdefault(sampler + (" M=" + M[1] if M else ""), []).append((fn, h))
of_data = {}
for (data, _, _), cells in hard.items():
    v = {n: np.mean(cells[n], 0) for n in names}
    v = {n: v[n][1] if v[n][0] - v["uniform"][0] <= .02 else -np.inf for n in names}
    rank = {n: sum(v[m] > v[n] for m in names) + (1 + sum(v[m] == v[n] for m in names)) / 2 for n in names}
    of_data.setdefault(data, []).append(rank)
wanted = {n: np.mean([np.mean([x[n] for x in ranks]) for ranks in of_data.values()]) for n in names}
told = {n: float(v) for n, v in re.findall("<th scope=row>(.*?)</th><td class=n data-v=.*?</td><td class=n data-v=\"(.*?)\"", table)}
assert all(abs(told[n] - wanted[n]) < 1e-6 for n in names), (told, wanted)
assert len(set(wanted.values())) > 1, wanted
have = {n: float(v) for n, v in re.findall("<th scope=row>(.*?)</th><td class=n data-v=\"(.*?)\"", table)}
assert len(want) == 4 and set(have) == set(want), (have, want)
assert all(abs(have[n] - want[n]) < 1e-6 for n in want), (have, want)' many.html many/3/results.h5 many/4/results.h5 many/again/results.h5
    run reproduce bs-theorem1 --data t3.h5 --quick --seeds 1 -o theory --term none
    expect "which have no setting in common" 0 '' report theory many/3 -o half.html
    with_browser "several results in a browser" || return
    browse half.html 'say(document.querySelector("#compare, nav a[href=\"#side\"]") ? "a section" : "no section");
say(document.querySelectorAll(".downloads button").length > 0 ? "buttons" : "none");'
    check "nothing to compare: no section, and the rest works" says '\[no section\]\[buttons\]'
    check "without a message" test ! -s console
    browse many.html '{ const table = document.querySelector("#compare table");
say([...table.tHead.rows[0].cells].length + " columns"); say(table.tBodies[0].rows.length + " rows");
const row = [...table.tBodies[0].rows].find(row => row.cells[0].textContent.startsWith("knn ")), cells = [...row.cells].slice(-3);
const [a, b, c] = cells.map(cell => parseFloat(cell.textContent.replace("−", "-")));
say(Math.abs(b - a - c) < 0.011 ? "difference" : a + " " + b + " " + c);
say(document.documentElement.scrollWidth <= innerWidth ? "fits" : "too wide"); }'
    check "side by side" says '\[5 columns\]\[8 rows\]'
    check "with the difference" says '\[difference\]'
    check "within the window" says '\[fits\]'
    check "and no message" test ! -s console
}

run_tests "${2:-}" "test_table test_learned" test_table test_answer test_learned test_other_pages test_many_settings test_wide_screens test_unequal_series test_named_settings test_all_on_front test_paper test_browser test_first_screen test_many_results test_odd_numbers test_failed_figure
finish
