// The Makefile makes paper.inc from plots/paper/ and harness/jobs/reproduce/: pairs of a name and a
// text.
#include "plots/page/paper.h"

#include <math.h>
#include <stdbool.h>
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

// Field number `which` (from 0) of a line of tab-separated fields; its length.
static size_t field(const char *line, int which, const char **begin) {
    for (; which > 0; which--) {
        line += strcspn(line, "\t\n");
        line += *line == '\t';
    }
    *begin = line;
    return strcspn(line, "\t\n");
}

static bool field_is(const char *line, int which, const char *text) {
    const char *begin;
    size_t length = field(line, which, &begin);
    return length == strlen(text) && memcmp(begin, text, length) == 0;
}

static double field_real(const char *line, int which) {
    const char *begin;
    return field(line, which, &begin) ? strtod(begin, NULL) : NAN;
}

static void field_text(const char *line, int which, char *text, size_t size) {
    const char *begin;
    size_t length = field(line, which, &begin);
    snprintf(text, size, "%.*s", (int)length, begin);
}

bool hn_paper_number(const char *id, const char *series, const char *x, struct hn_published *out) {
    enum { SERIES, X, VALUE, UNIT, TABLE, DEVIATION };
    char name[64];
    snprintf(name, sizeof name, "%s.tsv", id);
    for (const char *line = hn_paper_text(name); line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line == '#' || !field_is(line, SERIES, series) || !field_is(line, X, x))
            continue;
        out->value = field_real(line, VALUE);
        out->deviation = field_real(line, DEVIATION);
        field_text(line, UNIT, out->unit, sizeof out->unit);
        field_text(line, TABLE, out->table, sizeof out->table);
        return true;
    }
    return false;
}
