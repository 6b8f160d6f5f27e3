// SPDX-License-Identifier: GPL-3.0-or-later
// The Makefile makes paper.inc of plots/paper/ and harness/jobs/reproduce/: pairs of name and text.
#include "plots/page/paper.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct file {
    const char *name, *text;
} files[] = {
#include "paper.inc"
    {NULL, NULL},
};

const char *hn_paper_text(const char *name) {
    for (const struct file *f = files; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f->text;
    return NULL;
}

const char *hn_paper_name(int64_t i) {
    const struct file *f = files;
    while (f->name && i-- > 0)
        f++;
    return f->name;
}

const char *hn_published_text(const char *id) {
    char name[64];
    snprintf(name, sizeof name, "%s.tsv", id);
    const char *text = hn_paper_text(name), *part = strrchr(id, '-');
    if (!text && part) { // a part of a table: bs-table4-text
        snprintf(name, sizeof name, "%.*s.tsv", (int)(part - id), id);
        text = hn_paper_text(name);
    }
    return text ? text : "";
}

// Copies a cell and returns where the next begins; an empty one stands behind the last of a line.
static const char *take_cell(const char *at, char *cell, size_t size) {
    size_t length = strcspn(at, "\t\n");
    snprintf(cell, size, "%.*s", (int)length, at);
    return at + length + (at[length] == '\t');
}

bool hn_published_next(const char **rest, struct hn_published *out) {
    while (**rest) {
        char value[64], deviation[64], *stop;
        char *const cell[] = {out->series, out->x, value, out->unit, out->table, deviation};
        const size_t size[] = {sizeof out->series, sizeof out->x,     sizeof value,
                               sizeof out->unit,   sizeof out->table, sizeof deviation};
        bool comment = **rest == '#';
        for (int i = 0; i < 6; i++)
            *rest = take_cell(*rest, cell[i], size[i]);
        *rest += strcspn(*rest, "\n");
        *rest += **rest == '\n';
        out->value = strtod(value, &stop);
        out->deviation = *deviation ? strtod(deviation, NULL) : NAN;
        if (!comment && stop > value && *stop == '\0') // the header has no number
            return true;
    }
    return false;
}

bool hn_paper_number(const char *id, const char *series, const char *x, struct hn_published *out) {
    const char *rest = hn_published_text(id);
    while (hn_published_next(&rest, out))
        if (strcmp(out->series, series) == 0 && strcmp(out->x, x) == 0)
            return true;
    return false;
}
