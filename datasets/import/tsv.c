// Text of the embedding projector: vectors.tsv, a row of numbers on each line, between tabs, blanks
// or commas; metadata.tsv, a label on each line, or, where there are several columns, between tabs
// with their names on the first line.
#include "datasets/import/format.h"
#include "datasets/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DIM_MAX = 1 << 20 };

static int64_t count_lines(const char *text) {
    int64_t lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n' || !c[1];
    return lines;
}

static int64_t count_words(struct hn_text t) {
    int64_t words = 0;
    for (const char *c = t.word; *c; words++) {
        c += strcspn(c, " \t,");
        c += strspn(c, " \t,");
    }
    return words;
}

// The numbers of one line into row[d].
static enum hn_code read_row(struct hn_context *ctx, struct hn_text *t, int64_t d, float *row) {
    for (int64_t k = 0; k < d; k++) {
        char *end, *word = hn_text_word(t);
        row[k] = word ? strtof(word, &end) : 0;
        if (!word || end == word || *end)
            return hn_fail(ctx, HN_DATA, "%s: line %lld: value %lld is %s%.40s", t->path,
                           (long long)t->number, (long long)k + 1, word ? "no number: " : "missing",
                           word ? word : "");
    }
    return hn_text_end(ctx, t);
}

// Every value takes two bytes at least, the last one of a text aside: so many lines of d values
// there can be.
static enum hn_code read_rows(struct hn_context *ctx, const char *path, char *text,
                              struct hn_array *out) {
    int64_t bytes = (int64_t)strlen(text), n = count_lines(text), d = 0, i = 0;
    struct hn_text t = {.path = (char *)path, .text = text, .rest = text, .bytes = bytes};
    for (; hn_text_line(&t); i++) {
        if (i == 0) {
            d = hn_max(1, count_words(t)); // a line that holds something
            n = hn_min(n, (bytes + 1) / (2 * d));
            if (d > DIM_MAX || !(out->real = hn_alloc(ctx, n * d, sizeof *out->real)))
                return d > DIM_MAX ? hn_text_fail(ctx, &t, "holds more than 2^20 values")
                                   : hn_fail_in(ctx, "%s", path);
        }
        if (read_row(ctx, &t, d, out->real + i * d))
            return ctx->code;
    }
    if (i == 0)
        return hn_fail(ctx, HN_DATA, "%s: holds no line with numbers", path);
    out->rank = 2;
    out->shape[0] = i;
    out->shape[1] = d;
    return HN_OK;
}

// The cell at place `column` of a line, which becomes texts; NULL: there are fewer.
static char *cell_of(char *line, int64_t column) {
    char *cell = NULL;
    for (int64_t k = 0; k <= column; k++)
        if (!(cell = strsep(&line, "\t")))
            return NULL;
    return cell;
}

// The column that is wanted, by the names on the first line, which becomes texts.
static enum hn_code pick_column(struct hn_context *ctx, const char *path,
                                const struct hn_wanted *want, char *line, int64_t *column) {
    int64_t n = 1;
    for (const char *c = line; *c; c++)
        n += *c == '\t';
    HN_SCOPE(ctx);
    struct hn_entry *entry = hn_alloc(ctx, n, sizeof *entry);
    if (!entry)
        return ctx->code;
    for (int64_t k = 0; k < n; k++)
        entry[k] = (struct hn_entry){strsep(&line, "\t"), 1, 'S'};
    return hn_entry_pick(ctx, path, want, entry, n, column);
}

static char *next_line(char **rest) {
    char *line = strsep(rest, "\n");
    if (!line || (!*rest && !*line)) // the last line has its end
        return NULL;
    line[strcspn(line, "\r")] = 0;
    return line;
}

static enum hn_code read_labels(struct hn_context *ctx, const char *path,
                                const struct hn_wanted *want, char *text, struct hn_array *out) {
    int64_t column = 0, n = 0;
    char *rest = text, *line;
    bool table = strchr(text, '\t') && strchr(text, '\t') < text + strcspn(text, "\n");
    out->text = hn_alloc(ctx, count_lines(text), sizeof *out->text);
    if (!out->text)
        return ctx->code;
    if (!table && want->name)
        return hn_fail(ctx, HN_DATA,
                       "%s: has no tabs on its first line, and so no columns with names; leave out "
                       "--label-tensor",
                       path);
    if (table && pick_column(ctx, path, want, next_line(&rest), &column))
        return ctx->code;
    while ((line = next_line(&rest)))
        if (!(out->text[n++] = cell_of(line, column)))
            return hn_fail(ctx, HN_DATA, "%s: line %lld has no column %lld", path,
                           (long long)n + table, (long long)column + 1);
    out->rank = 1;
    out->shape[0] = n;
    return HN_OK;
}

static enum hn_code read_array(struct hn_context *ctx, struct hn_source *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    char *text;
    if (hn_source_text(ctx, s, &text))
        return ctx->code;
    return want->labels ? read_labels(ctx, s->path, want, text, out)
                        : read_rows(ctx, s->path, text, out);
}

static const char *const endings[] = {".tsv", ".txt", ".csv", NULL};

const struct hn_format hn_format_tsv = {
    .name = "tsv",
    .summary = "text: a row of numbers, or a label, on each line (embedding projector)",
    .endings = endings,
    .labels_named = true,
    .read = read_array,
};
