// Rows of the published values, which are part of the program (plots/page/paper.h).
#include "plots/page/curves.h"
#include "plots/page/paper.h"

#include <stdlib.h>
#include <string.h>

const char *hn_published_text(const char *id) {
    char name[HN_LABEL_SIZE];
    snprintf(name, sizeof name, "%s.tsv", id);
    const char *text = hn_paper_text(name);
    return text ? text : "";
}

// Copies a cell and returns where the next begins, NULL at the end of the line.
static const char *take_cell(const char *at, const char *end, char *cell, size_t size) {
    size_t length = (size_t)(end - at);
    const char *tab = memchr(at, '\t', length);
    if (tab)
        length = (size_t)(tab - at);
    snprintf(cell, size, "%.*s", (int)length, at);
    return tab ? tab + 1 : NULL;
}

static bool read_row(const char *line, const char *end, struct hn_published_row *out) {
    char value[64], *stop;
    char *const cell[] = {out->series, out->x, value, out->unit, out->table};
    const size_t size[] = {sizeof out->series, sizeof out->x, sizeof value, sizeof out->unit,
                           sizeof out->table};
    for (int i = 0; i < 5; i++) {
        if (!line)
            return false;
        line = take_cell(line, end, cell[i], size[i]);
    }
    out->value = strtod(value, &stop);
    return stop > value && *stop == '\0';
}

bool hn_published_next(const char **rest, struct hn_published_row *out) {
    while (**rest) {
        const char *line = *rest, *end = strchr(line, '\n');
        end = end ? end : line + strlen(line);
        *rest = *end ? end + 1 : end;
        if (*line != '#' && read_row(line, end, out)) // the header has no number
            return true;
    }
    return false;
}
