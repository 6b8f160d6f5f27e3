
// The front of the first screen, drawn from the rows of the table: by any measure, at any step, against false negatives
// or cost, with numbers where it is pointed at. Without a script the picture in its place stays.
const rowsOf = document.querySelector("table#settings"), first = document.querySelector(".first");
if (first && rowsOf && rowsOf.querySelector("[data-front]")) {
    const heads = [...rowsOf.tHead.rows[0].cells];
    const columnOf = name => heads.findIndex(head => head.dataset.column === name);
    const rows = [...rowsOf.tBodies[0].rows], bySeed = JSON.parse(document.getElementById("by-seed").textContent);
    const own = row => row.cells[0].dataset;
    const valueIn = (row, name) => {
        const cell = row.cells[columnOf(name)]?.dataset ?? {};
        return {value: parseFloat(cell.v), half: parseFloat(cell.h)};
    };
    const measured = bySeed.columns.slice(2);
    const measure = () => Math.max(0, measures.findIndex(radio => radio.checked));
    const digits = (x, n) => x.toFixed(n).replace("-", "−");
    const ms = seconds => isNaN(seconds) ? "–" : Number((1e3 * seconds).toPrecision(3)).toString() + " ms";
    const pm = (m, scale, n) => isNaN(m.value) ? "–" : digits(scale * m.value, n) + (isNaN(m.half) ? "" : " ± " + (scale * m.half).toFixed(n));
    const numbers = row => ({label: own(row).label, hard: valueIn(row, measured[measure()]), fn: valueIn(row, "fn_ratio"),
        cost: valueIn(row, "cost_batch").value});
    const inWords = n => `hardness ${pm(n.hard, 1, 3)}, false negatives ${pm(n.fn, 100, 2)} %, ${ms(n.cost)} a batch`;

    // What is chosen: of which data, at which step, against what, within which budget.
    const bar = make("div", "", {className: "choices"}), takes = [...document.querySelectorAll(".take")];
    const labelled = (text, control) => { const label = make("label", text + " "); label.append(control); return label; };
    const of = make("select", ""), against = make("select", ""), step = make("input", "", {type: "range", min: 0});
    const stepSays = make("output", ""), budgetSays = make("output", "");
    for (const take of takes) of.append(make("option", take.caption.textContent, {value: take.dataset.front}));
    for (const [value, text] of [["fn", "false negatives"], ["log", "ms a batch, log"], ["cost", "ms a batch"]])
        against.append(make("option", text, {value}));
    const restore = (select, key) => {
        if (chosen.has(key)) select.value = chosen.get(key);
        if (select.selectedIndex < 0) select.selectedIndex = 0;
        select.addEventListener("input", () => choose(key, select.selectedIndex === 0 ? null : select.value));
    };
    restore(of, "front");
    restore(against, "against");
    const filter = document.querySelector(".filter select[name=step]");
    const steps = () => [...new Set(rows.filter(row => own(row).front === of.value).map(row => parseFloat(own(row).step)))].sort((a, b) => a - b);
    const stepNow = () => steps()[step.value];
    const budgets = [0, .1, .2, .3, .5, .7, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50];
    const budget = make("input", "", {type: "range", min: 0, max: budgets.length - 1, value: 8});
    const at = budgets.indexOf(parseFloat(chosen.get("budget")));
    if (at >= 0) budget.value = at;
    const wanted = () => budgets[budget.value];
    if (takes.length > 1) bar.append(labelled("of", of));
    bar.append(labelled("against", against));
    const steering = labelled("step", step);
    steering.append(stepSays);
    bar.append(steering);
    const chart = make("div", "", {className: "chart"}), tip = make("div", "", {className: "tip", hidden: true});
    for (const plot of first.querySelectorAll(".plot")) plot.hidden = true;
    first.querySelector("figure").before(chart, bar);
    tip.setAttribute("role", "status");

    // The table's row of any budget, from the hidden rows, which say from which budget on they hold.
    const slide = () => {
        for (const take of takes) for (const body of take.tBodies) {
            body.querySelector(".slid")?.remove();
            const hidden = [...body.rows].filter(row => row.hidden && parseFloat(row.dataset.budget) <= wanted() + 1e-6).pop();
            if (!hidden || !chosen.has("budget")) continue;
            const row = hidden.cloneNode(true);
            row.hidden = false;
            row.className = "slid";
            row.cells[0].textContent = "+" + wanted();
            const asks = row.querySelector("a[data-command]");
            if (asks) asks.dataset.command = asks.dataset.command.replace(/(--max-excess) [^ ]+/, "$1 " + wanted());
            body.append(row);
        }
        budgetSays.textContent = "+" + wanted();
    };
    const sliding = labelled("any budget", budget);
    sliding.append(budgetSays);
    const under = make("div", "", {className: "choices"});
    under.append(sliding);
    first.querySelector(".takes").prepend(under);
    const folded = first.querySelector("details.own");
    if (folded) folded.replaceWith(...[...folded.children].filter(child => child.tagName === "TABLE"));
    // Where nothing was compared no budget has an answer.
    first.querySelector(".takes tr[hidden]") ? first.querySelector(".takes").append(under) : under.remove();

    // To a row and back.
    let picked = null; // the row that was gone to
    const info = make("div", "", {className: "picked", hidden: true}), ticked = [];
    const back = button("back to the front", () => {
        const mark = chart.querySelector(`[data-row="${picked?.cells[0].id}"]`);
        first.scrollIntoView();
        (mark ?? of).focus();
    });
    const tell = () => {
        info.replaceChildren();
        if (ticked.length === 2) info.append(differenceOf(...ticked), " ");
        else if (ticked.length === 1) info.append(own(ticked[0]).label + ": tick another row for their difference. ");
        else if (picked) info.append(own(picked).label + ": " + inWords(numbers(picked)) + " ");
        info.hidden = !info.textContent;
        if (!info.hidden) info.append(back);
    };
    const goTo = (row, scroll) => {
        for (const other of rows) other.classList.toggle("here", other === row);
        picked = row;
        choose("row", row ? row.cells[0].id : null);
        if (row && scroll) {
            for (let up = row.parentElement; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
            if (row.hidden) document.querySelector(".filter button")?.click();
            row.cells[0].tabIndex = -1;
            row.scrollIntoView({block: "center"});
            row.cells[0].focus({preventScroll: true});
        }
        for (const mark of chart.querySelectorAll(".mark")) mark.classList.toggle("on", mark.dataset.row === row?.cells[0].id);
        tell();
    };

    // Student's quantile of a two-sided 95 % interval: exact below five degrees of freedom, else Cornish and Fisher's series.
    const student = n => {
        const z = 1.959963985, few = [12.70620474, 4.30265273, 3.18244631, 2.77644511];
        return few[n - 1] ?? z + (z ** 3 + z) / (4 * n) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * n ** 2) +
            (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * n ** 3);
    };
    // The mean over seeds that both have of a minus b. That to Uniform is the table's, which learns from other settings.
    const paired = (a, b, name) => {
        const to = (row, base) => "s" + own(row).base === base.cells[0].id;
        const difference = heads.findIndex((head, i) => head.dataset.column === name && i > columnOf(name));
        for (const [row, base, sign] of [[a, b, 1], [b, a, -1]])
            if (to(row, base) && difference >= 0) {
                const cell = row.cells[difference].dataset;
                return {value: sign * parseFloat(cell.v), half: parseFloat(cell.h), n: null};
            }
        const at = bySeed.columns.indexOf(name), one = bySeed[a.cells[0].id], two = bySeed[b.cells[0].id];
        const seeds = setting => setting[0] ?? bySeed.s0[0], other = new Map(seeds(two).map((seed, i) => [seed, two[at][i]]));
        const values = seeds(one).map((seed, i) => [one[at][i], other.get(seed) ?? null]).filter(([x, y]) => x !== null && y !== null).map(([x, y]) => x - y);
        const n = values.length, mean = values.reduce((sum, x) => sum + x, 0) / n;
        const spread = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (n - 1));
        return {value: mean, half: n < 3 ? NaN : student(n - 1) * spread / Math.sqrt(n), n};
    };
    const differenceOf = (a, b) => {
        const name = measured[measure()], hard = paired(a, b, name), fn = paired(a, b, "fn_ratio");
        const signed = (m, scale, n) => isNaN(m.value) ? "no seed in common" : (m.value > 0 ? "+" : "") + pm(m, scale, n);
        return `${own(a).label} − ${own(b).label}, paired by seed: hardness ${signed(hard, 1, 4)}, false negatives ` +
            `${signed(fn, 100, 2)} points` + (isNaN(hard.half) ? "; fewer than three seeds give no interval." : " (95 %).");
    };
    for (const row of rows) {
        const tick = make("input", "", {type: "checkbox", className: "tick", ariaLabel: "compare " + own(row).label, title: "tick two rows for their difference"});
        tick.addEventListener("change", () => {
            if (tick.checked) ticked.push(row);
            else ticked.splice(ticked.indexOf(row), 1);
            if (ticked.length > 2) ticked.shift().cells[0].querySelector(".tick").checked = false;
            tell();
        });
        row.cells[0].prepend(tick);
    }
    rowsOf.parentElement.after(info);

    // The picture.
    const palette = ["", "0,0,0", "0,114,178", "196,136,0", "0,158,115", "202,116,164", "213,94,0", "17,154,207", "136,34,85",
        "143,143,46", "51,34,136", "54,163,155", "140,81,10", "216,27,176", "61,90,254", "78,154,6", "224,36,94", "52,80,31", "119,119,119"];
    const shapes = [r => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`, r => `M0,${-1.2 * r}L${1.1 * r},${.8 * r}H${-1.1 * r}Z`,
        r => `M${-.9 * r},${-.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}Z`, r => `M0,${-1.25 * r}L${1.25 * r},0L0,${1.25 * r}L${-1.25 * r},0Z`,
        r => `M0,${1.2 * r}L${1.1 * r},${-.8 * r}H${-1.1 * r}Z`, r => `M0,${-1.15 * r}L${1.1 * r},${-.35 * r}L${.7 * r},${r}H${-.7 * r}L${-1.1 * r},${-.35 * r}Z`];
    const order = [0, 1, 2, 3, 4, 0, 2, 1, 3, 4, 5, 5, 0];
    const svg = (tag, attributes, text) => {
        const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
        for (const key in attributes) element.setAttribute(key, attributes[key]);
        if (text !== undefined) element.textContent = text;
        return element;
    };
    const box = {width: 560, height: 400, left: 52, right: 14, top: 12, bottom: 40};
    const ticsOf = (lo, hi) => {
        const raw = (hi - lo) / 6, power = 10 ** Math.floor(Math.log10(raw)), unit = [1, 2, 5, 10].find(u => u * power >= raw) * power;
        const tics = [];
        for (let x = Math.ceil(lo / unit) * unit; x <= hi + 1e-9 * unit; x += unit) tics.push(Math.abs(x) < 1e-9 * unit ? 0 : x);
        return {tics, text: x => digits(x, Math.max(0, -Math.floor(Math.log10(unit) + 1e-9)))};
    };
    const scaleOf = (values, from, to, log) => {
        const f = log ? Math.log10 : x => x;
        let lo = f(Math.min(...values)), hi = f(Math.max(...values));
        if (!(hi > lo)) { lo -= .5 * (Math.abs(lo) || 1); hi += .5 * (Math.abs(hi) || 1); }
        const pad = .06 * (hi - lo);
        lo -= pad; hi += pad;
        const place = x => from + (f(x) - lo) / (hi - lo) * (to - from);
        if (!log) return {place, ...ticsOf(lo, hi)};
        const tics = [];
        for (let power = Math.ceil(lo); power <= hi; power++) tics.push(10 ** power);
        return {place, tics, text: x => x >= 1 ? String(x) : x.toFixed(Math.round(-Math.log10(x)))};
    };
    // A table whose settings are all on the front has no column of marks.
    const marked = rowsOf.querySelector(".front");
    const markOf = row => marked ? row.querySelector(`.front[data-measure="${measure()}"]`)?.textContent ?? "" : "●";
    const draw = () => {
        const x = against.value, shown = rows.filter(row => own(row).front === of.value && parseFloat(own(row).step) === stepNow());
        const points = shown.map(row => {
            const n = numbers(row);
            return {row, n, x: x === "fn" ? 100 * n.fn.value : 1e3 * n.cost, y: n.hard.value, front: markOf(row)};
        }).filter(p => isFinite(p.x) && isFinite(p.y) && (x !== "log" || p.x > 0));
        chart.replaceChildren(tip);
        if (!points.length) {
            chart.append(make("p", "Nothing is measured in both at this step."));
            return;
        }
        const picture = svg("svg", {viewBox: `0 0 ${box.width} ${box.height}`, role: "group", "aria-label": "front"});
        picture.classList.add("plot");
        chart.append(picture);
        const bottom = box.height - box.bottom, right = box.width - box.right;
        const xs = scaleOf(points.map(p => p.x), box.left, right, x === "log"), ys = scaleOf(points.map(p => p.y), bottom, box.top, false);
        for (const tic of xs.tics) {
            const at = xs.place(tic);
            picture.append(svg("line", {class: "grid", x1: at, x2: at, y1: box.top, y2: bottom}), svg("text", {class: "tic", x: at, y: bottom + 15, "text-anchor": "middle"}, xs.text(tic)));
        }
        for (const tic of ys.tics) {
            const at = ys.place(tic);
            picture.append(svg("line", {class: "grid", x1: box.left, x2: right, y1: at, y2: at}), svg("text", {class: "tic", x: box.left - 6, y: at + 4, "text-anchor": "end"}, ys.text(tic)));
        }
        picture.append(svg("path", {class: "axis", fill: "none", d: `M${box.left},${box.top}V${bottom}H${right}`}));
        const name = x === "fn" ? "false negatives (%)" : "ms a batch, build included" + (x === "log" ? " (logarithmic)" : "");
        picture.append(svg("text", {x: (box.left + right) / 2, y: box.height - 6, "text-anchor": "middle"}, name));
        const radio = measures[measure()];
        picture.append(svg("text", {transform: `translate(13,${(box.top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle"},
            "hardness: " + (radio ? radio.parentElement.title : first.querySelector(".front").dataset.hardness)));
        const base = rows.find(row => row.cells[0].id === "s" + own(points[0].row).base), uniform = base ? 100 * numbers(base).fn.value : NaN;
        if (x === "fn" && isFinite(uniform)) {
            const from = Math.max(box.left, xs.place(uniform)), to = Math.min(right, xs.place(uniform + wanted()));
            if (to > from) picture.append(svg("rect", {class: "budget", x: from, width: to - from, y: box.top, height: bottom - box.top}));
            picture.append(svg("line", {class: "uniform", x1: from, x2: from, y1: box.top, y2: bottom}));
        }
        const stairs = []; // the front's line, as segments
        if (x === "fn") {
            const line = points.filter(p => p.front.startsWith("●")).sort((p, q) => p.x - q.x).map(p => [xs.place(p.x), ys.place(p.y)]);
            line.slice(1).forEach(([px, py], i) => stairs.push([...line[i], px, line[i][1]], [px, line[i][1], px, py]));
            picture.append(svg("path", {class: "stair", d: line.map(([px, py], i) => i ? `H${px}V${py}` : `M${px},${py}`).join("")}));
        }
        const dearest = Math.max(...points.map(p => p.n.cost).filter(isFinite)), taken = [];
        const lines = stairs.map(([x0, y0, x1, y1]) => [Math.min(x0, x1) - 1, Math.min(y0, y1) - 1, Math.max(x0, x1) + 1, Math.max(y0, y1) + 1]);
        for (const p of points) {
            const size = p.n.cost > 0 ? Math.max(0, 1 + Math.log10(p.n.cost / dearest) / 6) : 0;
            const reach = (half, scale) => half > 0 ? Math.abs(scale.place(half) - scale.place(0)) : 0;
            p.at = [xs.place(p.x), ys.place(p.y)];
            p.r = 3.5 + 4.5 * Math.sqrt(size);
            p.wide = x === "fn" ? reach(100 * p.n.fn.half, xs) : 0;
            p.high = reach(p.n.hard.half, ys);
            p.colour = `rgb(${palette[own(p.row).line % 100]})`;
            taken.push([p.at[0] - p.r, p.at[1] - p.r, p.at[0] + p.r, p.at[1] + p.r]);
            lines.push([p.at[0] - p.wide, p.at[1] - 1, p.at[0] + p.wide, p.at[1] + 1], [p.at[0] - 1, p.at[1] - p.high, p.at[0] + 1, p.at[1] + p.high]);
        }
        const ruler = svg("text", {class: "name"});
        picture.append(ruler);
        const widthOf = text => { ruler.textContent = text; return Math.max(ruler.getComputedTextLength(), 5 * text.length) + 2; };
        const meet = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];
        const clear = b => b[0] >= box.left && b[2] <= box.width && b[1] >= 0 && b[3] <= bottom && !taken.some(t => meet(b, t));
        // Clear of whiskers and of the front's line; if no place is, on them rather than nowhere.
        // Of more points than have space for names the table's and those on the line have theirs, and each other sampler its own once.
        const answers = new Set([...document.querySelectorAll(".take:not([hidden]) tr:not([hidden]) a[href^='#s']")].filter(link => link.offsetParent).map(link => link.hash.slice(1)));
        const online = p => p.front.startsWith("●"), rank = p => 4 * answers.has(p.row.cells[0].id) + 2 * online(p) + (p.front !== "");
        const ranked = [...points].sort((a, b) => rank(b) - rank(a));
        const many = points.length > 20, named = new Set();
        const place = (p, text, over) => {
            const width = widthOf(text), [px, py] = p.at, r = p.r + 3, far = Math.max(p.r, p.wide) + 3;
            const spots = [[px + far, py - 7], [px - far - width, py - 7], [px + r, py - r - 13], [px - r - width, py - r - 13], [px + r, py + r - 2],
                [px - r - width, py + r - 2], [px - width / 2, py - Math.max(p.r, p.high) - 17], [px - width / 2, py + Math.max(p.r, p.high) + 3], [px + r, py - 7], [px - r - width, py - 7]];
            const spot = spots.find(([left, top]) => clear([left, top, left + width, top + 14]) && (over || !lines.some(l => meet([left, top + 2, left + width, top + 13], l))));
            if (!spot) return;
            taken.push([spot[0], spot[1], spot[0] + width, spot[1] + 14]);
            p.name = svg("text", {class: "name", x: spot[0], y: spot[1] + 11, "data-own": own(p.row).sampler}, text);
            named.add(own(p.row).sampler);
        };
        for (const over of [false, true]) for (const p of ranked) {
            const {sampler} = own(p.row);
            if (!p.name && (!many || online(p))) place(p, p.n.label, over);
            if (!p.name && many && (over || !online(p)) && !named.has(sampler)) place(p, sampler, over);
        }
        ruler.remove();
        for (const p of points) {
            const mark = svg("g", {class: "mark", tabindex: 0, role: "link", transform: `translate(${p.at})`, "data-own": own(p.row).sampler,
                "data-row": p.row.cells[0].id, "aria-label": p.n.label + ": " + inWords(p.n)});
            const whisker = (length, vertical) => {
                if (!length) return;
                const [px, py] = p.at, [least, most] = vertical ? [box.top - py, bottom - py] : [box.left - px, right - px];
                const from = Math.max(-length, least), to = Math.min(length, most); // within the axes
                mark.append(svg("path", {class: "whisker", stroke: p.colour, d: vertical ? `M0,${from}V${to}` : `M${from},0H${to}`}));
            };
            whisker(p.high, true);
            whisker(p.wide, false);
            const shape = shapes[order[(Math.floor(own(p.row).line / 100) + 12) % 13]](p.r), open = p.front.startsWith("○");
            mark.append(svg("path", open ? {d: shape, fill: "none", stroke: p.colour, "stroke-width": 1.6} : {d: shape, fill: p.colour}), svg("circle", {class: "ring", r: p.r + 5}));
            const open_tip = () => {
                tip.replaceChildren(make("b", p.n.label), make("br", ""), ...inWords(p.n).split(", ").flatMap(line => [line, make("br", "")]));
                tip.hidden = false;
                const scale = chart.clientWidth / box.width, left = p.at[0] * scale + 14;
                tip.style.left = (left + tip.offsetWidth > chart.clientWidth ? Math.max(0, left - 28 - tip.offsetWidth) : left) + "px";
                tip.style.top = Math.max(0, p.at[1] * scale - tip.offsetHeight / 2) + "px";
            };
            for (const type of ["pointerenter", "focus"]) mark.addEventListener(type, open_tip);
            for (const type of ["pointerleave", "blur"]) mark.addEventListener(type, () => { tip.hidden = true; });
            mark.addEventListener("click", () => goTo(p.row, true));
            mark.addEventListener("keydown", event => {
                if (event.key === "Enter" || event.key === " ") { event.preventDefault(); goTo(p.row, true); }
            });
            picture.append(mark);
        }
        for (const p of points) if (p.name) picture.append(p.name);
        lit();
    };
    const update = () => {
        for (const part of [...takes, ...document.querySelectorAll(".why [data-front]")]) part.hidden = part.dataset.front !== of.value;
        const all = steps();
        step.max = all.length - 1;
        const from = filter && filter.value.startsWith("=") ? all.indexOf(parseFloat(filter.value.slice(1))) : -1;
        step.value = from >= 0 ? from : all.length - 1;
        steering.hidden = all.length < 2;
        stepSays.textContent = stepNow();
        draw();
    };
    step.addEventListener("input", () => {
        filter.value = step.value === step.max ? "last" : "=" + stepNow();
        filter.dispatchEvent(new Event("input"));
    });
    for (const control of [...measures, of, against, ...filter ? [filter] : []]) control.addEventListener("input", () => { update(); tell(); });
    budget.addEventListener("input", () => { choose("budget", wanted()); slide(); draw(); });
    slide();
    update();
    const asked = rows.find(row => row.cells[0].id === chosen.get("row"));
    if (asked) goTo(asked, true);
    addEventListener("hashchange", () => {
        const row = rows.find(row => row.cells[0].id === location.hash.slice(1));
        if (row) goTo(row, true);
    });
}
