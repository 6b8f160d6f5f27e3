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
                return down ? y.localeCompare(x) : x.localeCompare(y);
            });
            body.append(...rows);
        });
    });
}

// Long tables: rows that have every word that is typed. Without this script all rows are there.
for (const table of document.querySelectorAll("table.sortable")) {
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 16) continue;
    const label = document.createElement("label"), input = document.createElement("input");
    const count = document.createElement("output");
    const show = n => { count.textContent = n + " of " + rows.length + " rows"; };
    label.className = "filter";
    input.type = "search";
    input.placeholder = "words, such as alpha=0.2";
    input.addEventListener("input", () => {
        const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        let n = 0;
        for (const row of rows) {
            const title = row.querySelector("td.options")?.title ?? "";
            const text = (row.textContent + " " + title).toLowerCase();
            row.hidden = !words.every(word => text.includes(word));
            n += !row.hidden;
        }
        show(n);
    });
    show(rows.length);
    label.append("Rows with", input, count);
    table.parentElement.before(label);
}
