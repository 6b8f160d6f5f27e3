// SPDX-License-Identifier: GPL-3.0-or-later
// Several labels an item: texts that are cut apart, or compressed rows.
#include "datasets/import/label_lists.h"

#include "core/numbers.h"
#include "datasets/import/array.h"
#include "datasets/import/format.h"

#include <string.h>

// "indptr,indices"
static bool names_rows(const struct hn_import *o) {
    return o->label_tensor && strchr(o->label_tensor, ',') != NULL;
}

bool hn_label_lists_wanted(const struct hn_import *o) {
    return o->label_separator || names_rows(o);
}

int64_t hn_label_lists_item(const struct hn_label_lists *lists, int64_t entry) {
    return hn_numbers_upto(lists->start, lists->n, entry) - 1;
}

static char *trim(char *text) {
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t", text[length - 1]))
        text[--length] = '\0';
    return text;
}

// Cuts one text, which is changed, into labels and appends them; empty ones are left out.
static enum hn_code cut(struct hn_context *ctx, char *text, const char *separator,
                        struct hn_array *to, int64_t *capacity) {
    for (char *next; text; text = next) {
        next = strstr(text, separator);
        if (next) {
            *next = '\0';
            next += strlen(separator);
        }
        text = trim(text);
        if (hn_grow(ctx, &to->text, capacity, to->shape[0] + 1, sizeof *to->text))
            return ctx->code;
        to->text[to->shape[0]] = text;
        to->shape[0] += *text != '\0';
    }
    return HN_OK;
}

enum hn_code hn_label_lists_cut(struct hn_context *ctx, const struct hn_import *o,
                                const struct hn_array *texts, struct hn_label_lists *out) {
    int64_t n = texts->shape[0], capacity = 0;
    if (!*o->label_separator)
        return hn_fail(ctx, HN_USAGE,
                       "--label-separator is empty: give the text between two labels, e.g. '|'");
    if (!texts->text)
        return hn_fail(ctx, HN_DATA,
                       "%s: labels are integers, one for each row; without --label-separator",
                       o->labels.item[0]);
    *out = (struct hn_label_lists){
        .n = n, .start = hn_zalloc(ctx, n + 1, sizeof *out->start), .entry = {.rank = 1}};
    if (!out->start || hn_grow(ctx, &out->entry.text, &capacity, n, sizeof *out->entry.text))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        char *text = hn_strdup(ctx, texts->text[i]);
        if (!text || cut(ctx, text, o->label_separator, &out->entry, &capacity))
            return ctx->code;
        out->start[i + 1] = out->entry.shape[0];
    }
    return HN_OK;
}

static enum hn_code check_rows(struct hn_context *ctx, const char *path,
                               const struct hn_label_lists *lists) {
    int64_t entries = lists->entry.shape[0];
    bool good = lists->n >= 0 && lists->start[0] == 0 && lists->start[lists->n] == entries;
    for (int64_t i = 0; good && i < lists->n; i++)
        good = lists->start[i] <= lists->start[i + 1];
    return good ? HN_OK
                : hn_fail(
                      ctx, HN_DATA,
                      "%s: offsets of the labels go from 0 to their number, %lld, and never fall",
                      path, (long long)entries);
}

// Of the layouts of SciPy only csr lists the columns of each row; AnnData's are those of matrices.
static enum hn_code check_layout(struct hn_context *ctx, const char *path, const char *layout) {
    static const char *const other[] = {"csc", "coo", "bsr", "dia", "dok", "lil"};
    for (size_t i = 0; layout && i < sizeof other / sizeof *other; i++)
        if (strncmp(layout, other[i], strlen(other[i])) == 0)
            return hn_fail(ctx, HN_DATA,
                           "%s: holds a sparse matrix in the layout %s; labels are those of its "
                           "rows, in csr: save it with .tocsr()",
                           path, other[i]);
    return HN_OK;
}

// Entries that are stored, but are zero, are no labels.
static void drop_zeros(const struct hn_array *weight, struct hn_label_lists *lists) {
    int64_t kept = 0, next = 0;
    for (int64_t i = 0; i < lists->n; i++) {
        int64_t k = next;
        next = lists->start[i + 1];
        for (; k < next; k++)
            if (weight->real ? weight->real[k] != 0 : weight->integer[k] != 0)
                lists->entry.integer[kept++] = lists->entry.integer[k];
        lists->start[i + 1] = kept;
    }
    lists->entry.shape[0] = kept;
}

// The values of a sparse matrix, which stand beside its offsets, as `data`.
static enum hn_code read_weights(struct hn_context *ctx, const struct hn_import *o,
                                 const char *offsets, struct hn_label_lists *lists) {
    const char *last = strrchr(offsets, '/');
    int folder = last ? (int)(last + 1 - offsets) : 0;
    struct hn_wanted want = {.weights = true, .otherwise = o->format};
    struct hn_array weight;
    want.name = hn_format(ctx, "%.*sdata", folder, offsets);
    if (!want.name || hn_format_read(ctx, o->labels.item[0], HN_FORMAT_auto, &want, &weight))
        return ctx->code;
    bool there = weight.real || weight.integer;
    if (there && weight.rank == 2 && weight.shape[0] == lists->entry.shape[0])
        drop_zeros(&weight, lists);
    return HN_OK;
}

// Offsets, columns and values of the rows.
static enum hn_code read_rows(struct hn_context *ctx, const struct hn_import *o,
                              struct hn_label_lists *out) {
    const char *path = o->labels.item[0];
    size_t first = (size_t)(strchr(o->label_tensor, ',') - o->label_tensor);
    const char *name[2] = {hn_format(ctx, "%.*s", (int)first, o->label_tensor),
                           o->label_tensor + first + 1};
    struct hn_array array[2];
    for (int k = 0; k < 2; k++) {
        const struct hn_wanted want = {
            .labels = true, .name = name[k], .otherwise = o->format, .sparse = true};
        if (!name[k])
            return ctx->code;
        enum hn_code code = hn_format_read(ctx, path, HN_FORMAT_auto, &want, &array[k]);
        if (check_layout(ctx, path, array[k].layout) || code)
            return ctx->code;
        if (!array[k].integer)
            return hn_fail(ctx, HN_DATA, "%s: %s holds no integers", path, name[k]);
    }
    *out = (struct hn_label_lists){
        .n = array[0].shape[0] - 1, .start = array[0].integer, .entry = array[1]};
    if (check_rows(ctx, path, out))
        return ctx->code;
    return array[0].named ? read_weights(ctx, o, name[0], out) : HN_OK;
}

enum hn_code hn_label_lists_read(struct hn_context *ctx, const struct hn_import *o,
                                 struct hn_label_lists *out) {
    struct hn_source s; // the file of all its parts
    if (o->labels.count > 1)
        return hn_fail(ctx, HN_USAGE,
                       "--label-tensor %s: labels in compressed rows are in one file",
                       o->label_tensor);
    return hn_source_open(ctx, o->labels.item[0], &s)
               ? ctx->code
               : hn_source_end(ctx, &s, read_rows(ctx, o, out));
}
