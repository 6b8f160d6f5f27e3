// All rows are there without this script; it sorts and chooses them.
const make = (tag, text, more) => Object.assign(document.createElement(tag), {textContent: text}, more);

// What is chosen on the page, in its address: "#measure=hardest&step=400&highlight=knn".
const chosen = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
const choose = (key, value) => {
    value === null ? chosen.delete(key) : chosen.set(key, value);
    history.replaceState(null, "", "#" + chosen);
};
const measures = [...document.querySelectorAll("[name=measure]")];
measures.forEach((radio, i) => {
    radio.checked = measures.some(r => r.value === chosen.get("measure")) ? radio.value === chosen.get("measure") : i === 0;
    radio.addEventListener("input", () => choose("measure", i === 0 ? null : radio.value));
});

for (const table of document.querySelectorAll("table.sortable")) {
    const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
        const button = head.querySelector("button");
        if (!button) return;
        button.addEventListener("click", () => {
            const down = head.getAttribute("aria-sort") === "ascending";
            heads.forEach(h => h.removeAttribute("aria-sort"));
            head.setAttribute("aria-sort", down ? "descending" : "ascending");
            const key = row => row.cells[column].dataset.v ?? row.cells[column].textContent;
            const number = head.classList.contains("n");
            const rows = [...body.rows];
            rows.sort((a, b) => {
                let x = key(a), y = key(b);
                if (number) {
                    x = parseFloat(x); y = parseFloat(y);
                    if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
                    return down ? y - x : x - y;
                }
                return (down ? -1 : 1) * x.localeCompare(y, undefined, {numeric: true});
            });
            body.append(...rows);
        });
    });
}

// The axes of the grid in a table of settings, and a row's value of one of them.
const axesOf = table => [...new Set([...table.querySelectorAll("[data-axis]")].map(part => part.dataset.axis))];
const valueOf = (row, axis) => row.querySelector(`[data-axis="${CSS.escape(axis)}"]`)?.dataset.value ?? "–";

// Rows that have a value of each axis of the grid, the last step to begin with, and every word that is typed.
for (const table of document.querySelectorAll("table.sortable")) {
    const rows = [...table.tBodies[0].rows], bar = make("div", "", {className: "filter"});
    const tests = [], controls = [], count = make("output", ""), all = make("button", "all rows", {type: "button"});
    const update = () => {
        for (const row of rows) row.hidden = !tests.every(test => test(row));
        const seen = rows.filter(row => !row.hidden).length;
        count.textContent = seen + " of " + rows.length + " rows";
        all.hidden = seen === rows.length;
    };
    const add = (name, control) => {
        const label = make("label", name + " "), first = control.value;
        const from = chosen.get(name), select = control.tagName === "SELECT";
        if (from !== null) control.value = from;
        if (select && control.selectedIndex < 0) control.value = "=" + from; // a value of the axis
        if (select && control.selectedIndex < 0) control.value = first; // of another page
        control.name = name;
        control.addEventListener("input", () => {
            choose(name, control.value === first ? null : control.value.replace(/^=(?=[-.\d])/, ""));
            update();
        });
        label.append(control);
        controls.push(control);
        bar.append(label);
    };
    all.addEventListener("click", () => {
        for (const control of controls) {
            control.value = control.tagName === "SELECT" ? "all" : "";
            control.dispatchEvent(new Event("input"));
        }
    });
    for (const axis of axesOf(table)) {
        const values = new Set(rows.map(row => valueOf(row, axis)));
        if (values.size < 2 || values.size > 24) continue;
        const select = make("select", ""), last = axis === "step";
        if (last) select.append(make("option", "last", {value: "last"}));
        select.append(make("option", "all", {value: "all"}));
        for (const value of values) select.append(make("option", value, {value: "=" + value}));
        tests.push(row => select.value === "all" || "=" + valueOf(row, axis) === select.value ||
            (select.value === "last" && row.cells[0].dataset.last !== undefined));
        add(axis, select);
    }
    if (rows.length >= 16) {
        const input = make("input", "", {type: "search", placeholder: "words"});
        tests.push(row => input.value.toLowerCase().split(/\s+/).every(word =>
            row.textContent.toLowerCase().includes(word)));
        add("rows with", input);
    }
    if (!tests.length) continue;
    bar.append(count, all);
    table.parentElement.before(bar);
    update();
}

// Many results: what a setting has in each of them, one measure at a time.
const compared = document.getElementById("compare"), all = document.querySelector("table#settings");
const several = all && axesOf(all).includes("result");
if (compared && !several) compared.append(make("p", "Fewer than two of the results have finished cells."));
if (compared && several) {
    const heads = [...all.tHead.rows[0].cells];
    const measures = [...heads.keys()].filter(i => heads[i].classList.contains("n") && heads[i].textContent !== "Seeds");
    const names = [...new Set([...all.tBodies[0].rows].map(row => valueOf(row, "result")))];
    const settings = new Map();
    for (const row of all.tBodies[0].rows) {
        const parts = [...row.cells[0].querySelectorAll("[data-axis]")].filter(part => part.dataset.axis !== "result");
        const name = row.cells[0].dataset.sampler + " " + parts.map(part => part.textContent).join(", ");
        const key = row.cells[0].dataset.file + " " + name; // files of one name may have other contents
        if (!settings.has(key)) settings.set(key, {name, rows: new Map()});
        settings.get(key).rows.set(valueOf(row, "result"), row);
    }
    const select = (title, texts, chosen) => {
        const label = make("label", title + " "), control = make("select", "");
        texts.forEach((text, i) => control.append(make("option", text, {value: i, selected: i === chosen})));
        control.addEventListener("input", () => draw());
        label.append(control);
        bar.append(label);
        return control;
    };
    const bar = make("div", "", {className: "filter"}), frame = make("div", "", {className: "scroll", tabIndex: 0});
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", "Side by side");
    const measure = select("measure", measures.map(i => heads[i].textContent), 0);
    const from = select("from", names, names.length - 2), to = select("to", names, names.length - 1);
    const steps = select("step", ["last", "all"], 0);
    const draw = () => {
        const m = measures[measure.value], table = make("table", ""), head = table.createTHead().insertRow();
        const titles = ["Setting", ...names, names[to.value] + " − " + names[from.value]];
        titles.forEach((title, i) => head.append(make("th", title, {scope: "col", className: i ? "n" : ""})));
        const body = table.createTBody();
        for (const {name: setting, rows} of settings.values()) {
            const last = [...rows.values()].some(row => row.cells[0].dataset.last !== undefined);
            if (rows.size < 2 || !(last || steps.value === "1")) continue;
            const row = body.insertRow(), value = name => parseFloat(rows.get(name)?.cells[m].dataset.v) * (heads[m].dataset.scale ?? 1);
            row.append(make("th", setting, {scope: "row"}));
            for (const name of names) row.append(make("td", rows.get(name)?.cells[m].textContent ?? "–", {className: "n"}));
            const difference = value(names[to.value]) - value(names[from.value]);
            const digits = Math.max(...[...rows.values()].map(row => /\.(\d+)/.exec(row.cells[m].textContent)?.[1].length ?? 0));
            row.append(make("td", isNaN(difference) ? "–" : (difference < 0 ? "−" : "+") + Math.abs(difference).toFixed(digits), {className: "n"}));
        }
        frame.replaceChildren(body.rows.length ? table : make("p", "No setting is measured on the same file in two of the results."));
    };
    compared.append(bar, frame);
    draw();
}

// What is saved: the rows and columns of a table that are seen, and figures in the colours of print.
const save = (name, type, text) => {
    const link = make("a", "", {download: name, href: URL.createObjectURL(new Blob([text], {type}))});
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
const button = (text, action) => {
    const b = make("button", text, {type: "button"});
    b.addEventListener("click", action);
    return b;
};
const seen = node => node.nodeType === Node.TEXT_NODE ? node.data
    : node.matches(".sr") || getComputedStyle(node).display === "none" ? "" : [...node.childNodes].map(seen).join("");
const plain = cell => seen(cell).replace(/\s+/g, " ").trim();
const cells = table => [table.tHead.rows[0], ...[...table.tBodies[0].rows].filter(row => !row.hidden)]
    .map(row => [...row.cells].filter(cell => getComputedStyle(cell).display !== "none"));
const quoted = text => /[",\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
// A column of numbers with ± is three: the value, and the ends of its interval. What is missing is empty.
const csv = table => {
    const rows = cells(table).map(row => row.map(plain).map(text => text === "–" ? "" : text)), interval = /^([-+−]?[\d.]+) ± ([\d.]+)/;
    const number = text => text.replace("−", "-");
    const wide = rows[0].map((_, i) => rows.some(row => interval.test(row[i])));
    return rows.map((row, r) => row.flatMap((text, i) => {
        if (!wide[i]) return [text];
        if (r === 0) return [text, text + " low", text + " high"];
        const found = interval.exec(text), digits = found?.[2].split(".")[1]?.length ?? 0;
        const end = sign => (parseFloat(number(found[1])) + sign * parseFloat(found[2])).toFixed(digits);
        return found ? [number(found[1]), end(-1), end(1)] : [number(text), "", ""];
    }).map(quoted).join(",") + "\n").join("");
};
const raised = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const tex = text => text.replace(/[\\{}]/g, "").replace(/[#$%&_]/g, "\\$&").replace(/[~^]/g, "\\$&{}")
    .replace(/[<>|]/g, "$$$&$$").replace(/\[/g, "{[}").replace(/×/g, "$\\times$").replace(/○/g, "$\\circ$")
    .replace(/[⁰¹²³⁴-⁹⁻]+/g, power => "$^{" + [...power].map(c => c === "⁻" ? "-" : raised.indexOf(c)).join("") + "}$")
    .replace(/±/g, "$\\pm$").replace(/●/g, "$\\bullet$").replace(/[–−]/g, "--").replace(/µ/g, "$\\mu$");
for (const table of document.querySelectorAll("table.sortable")) {
    const name = table.id || table.closest("[id]").id, bar = make("p", "", {className: "downloads"});
    bar.append("Save these rows: ", button("CSV", () => save(name + ".csv", "text/csv", csv(table))), " ", button("LaTeX", () => {
        const [heads] = cells(table), [head, ...rows] = cells(table).map(row => row.map(cell => tex(plain(cell))).join(" & ") + " \\\\\n");
        const columns = heads.map(h => h.classList.contains("n") ? "r" : "l").join("");
        save(name + ".tex", "text/x-tex", "% \\usepackage{booktabs}\n\\begin{tabular}{" + columns + "}\n\\toprule\n" +
            head + "\\midrule\n" + rows.join("") + "\\bottomrule\n\\end{tabular}\n");
    }));
    table.parentElement.after(bar);
}
for (const figure of document.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg");
    if (svg) figure.querySelector(".downloads").prepend(button("SVG", () => {
        const seen = [...figure.querySelectorAll("svg")].find(one => one.checkVisibility()); // of the measure chosen
        const copy = (seen ?? svg).cloneNode(true);
        copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
        copy.setAttribute("xmlns:xlink", "http://www.w3.org/1999/xlink");
        for (const mark of copy.querySelectorAll(".off")) mark.classList.remove("off");
        save(figure.id + ".svg", "image/svg+xml", new XMLSerializer().serializeToString(copy));
    }), " ");
}

// A setting as an item of a job, or the command that decides, copied by a click.
const copy = async (link) => {
    const text = link.dataset.command ?? "- " + link.dataset.yaml, before = [...link.childNodes];
    try { await navigator.clipboard.writeText(text); } catch {
        const area = make("textarea", text);
        link.after(area);
        area.select();
        document.execCommand("copy");
        area.remove();
    }
    if (link.dataset.copied) return;
    link.dataset.copied = text;
    link.textContent = link.dataset.command ? "command copied" : "copied as YAML";
    setTimeout(() => { link.replaceChildren(...before); delete link.dataset.copied; }, 1200);
};
document.querySelector(".takes")?.addEventListener("click", event => {
    const link = event.target.closest("a[data-yaml], a[data-command]");
    if (!link) return;
    event.preventDefault();
    copy(link);
});
for (const link of document.querySelectorAll(".takes a[data-yaml]")) link.title = "copy as YAML of a job: " + link.dataset.yaml;
for (const link of document.querySelectorAll(".takes a[data-command]")) link.title = "copy: " + link.dataset.command;

// Lights again what is drawn anew.
let lit = () => {};
// A sampler in all figures and rows at once: pointed at, or chosen by its button.
const samplers = [...new Set([...document.querySelectorAll("[data-sampler]")].map(head => head.dataset.sampler))];
if (samplers.length > 1) {
    const sampler = text => {
        const first = text.replace(/\\/g, "").split(" ")[0];
        return samplers.includes(first) ? first : null;
    };
    const marks = []; // [element, its sampler]
    for (const title of document.querySelectorAll(".plot g > title")) marks.push([title.parentElement, sampler(title.textContent)]);
    for (const text of document.querySelectorAll(".plot text")) marks.push([text, sampler(text.textContent.trim())]);
    // In a figure with a row for each setting and a series for each value a mark is of the row that it is in.
    const height = g => parseFloat(/translate\([^,]*,([\d.]+)/.exec(g?.getAttribute("transform"))?.[1]);
    for (const plot of document.querySelectorAll(".plot svg")) {
        const names = [...plot.querySelectorAll('g[text-anchor="end"] > text')].map(text => [height(text.parentElement), sampler(text.textContent.trim())]).filter(([, own]) => own);
        for (const use of names.length > 1 ? plot.querySelectorAll("use") : []) {
            const series = use.closest("g[id]").querySelector("title");
            const row = names.find(([at]) => Math.abs(at - 3.7 - height(use)) < 3);
            if (series && !sampler(series.textContent) && row) marks.push([use, row[1]]);
        }
    }
    for (const head of document.querySelectorAll("[data-sampler]")) marks.push([head.parentElement, head.dataset.sampler]);
    let pinned = null;
    const show = name => {
        for (const [element, own] of marks) if (own) element.classList.toggle("off", name !== null && own !== name);
        for (const mark of document.querySelectorAll("[data-own]")) mark.classList.toggle("off", name !== null && mark.dataset.own !== name);
    };
    lit = () => show(pinned);
    const chips = make("div", "", {className: "chips"}), buttons = samplers.map(name => button(name, () => {
        pinned = pinned === name ? null : name;
        choose("highlight", pinned);
        for (const b of buttons) b.setAttribute("aria-pressed", b.textContent === pinned);
        show(pinned);
    }));
    for (const b of buttons) b.setAttribute("aria-pressed", "false");
    chips.setAttribute("role", "group");
    chips.setAttribute("aria-label", "Highlight a sampler");
    chips.append("Highlight: ", ...buttons);
    (document.querySelector("main > nav") ?? document.querySelector(".answer")).after(chips);
    buttons.find(b => b.textContent === chosen.get("highlight"))?.click();
    for (const [element, own] of [...marks, ...buttons.map(b => [b, b.textContent])]) {
        if (!own) continue;
        element.addEventListener("pointerenter", () => show(own));
        element.addEventListener("pointerleave", () => show(pinned));
    }
}

// All figures, small, as a list of where they are.
const drawn = [...document.querySelectorAll("#figures figure")].filter(figure => figure.querySelector("svg"));
if (drawn.length > 2) {
    const list = make("ul", "", {className: "thumbs"});
    for (const figure of drawn) {
        const picture = figure.querySelector("svg"), link = make("a", "", {href: "#" + figure.id}), item = make("li", "");
        picture.id = figure.id + "-picture";
        const small = picture.cloneNode(false), use = document.createElementNS(small.namespaceURI, "use");
        for (const name of ["id", "style", "width", "height", "role", "aria-label"]) small.removeAttribute(name);
        use.setAttribute("href", "#" + picture.id);
        small.setAttribute("aria-hidden", true);
        small.append(use);
        link.title = figure.querySelector("h3").textContent;
        link.append(small, figure.id);
        item.append(link);
        list.append(item);
    }
    drawn[0].before(list);
}

// Links into what is folded open it; on paper all of it is open.
const unfold = () => {
    for (let at = document.getElementById(location.hash.slice(1)); at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
};
addEventListener("hashchange", unfold);
unfold();
addEventListener("beforeprint", () => {
    for (const mark of document.querySelectorAll(".off")) mark.classList.remove("off");
    for (const part of document.querySelectorAll("details")) part.open = true;
});
addEventListener("afterprint", () => lit());
