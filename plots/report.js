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
