// SPDX-License-Identifier: GPL-3.0-or-later
// Labels and groups as integers or texts, which are numbered.
#include "core/label_sets.h"
#include "core/text.h"
#include "datasets/import/alike.h"
#include "datasets/import/array.h"
#include "datasets/import/import_private.h"
#include "datasets/import/label_lists.h"
#include "datasets/import/numbering.h"
#include "datasets/text.h"

#include <stdio.h>
#include <string.h>

// Names that are read otherwise than they were written could not be told apart, or found again.
static enum hn_code check_texts(struct hn_context *ctx, const char *path,
                                const struct hn_array *a) {
    for (int64_t i = 0; i < a->shape[0]; i++)
        if (!hn_snapshot_keeps_text(a->text[i]))
            return hn_fail(
                ctx, HN_DATA,
                "%s: the text of row %lld is not printable UTF-8; write labels as UTF-8 without "
                "control characters, or as numbers",
                path, (long long)i);
    return HN_OK;
}

static enum hn_code check_names(struct hn_context *ctx, const char *path, int64_t n) {
    return n <= HN_LABEL_NAMES_MAX
               ? HN_OK
               : hn_fail(ctx, HN_DATA, "%s has %lld names; a snapshot holds at most %d", path,
                         (long long)n, HN_LABEL_NAMES_MAX);
}

// Names of two classes that are the same, or none, could not be told apart.
static enum hn_code check_distinct(struct hn_context *ctx, const char *path, const char **name,
                                   int64_t n) {
    HN_SCOPE(ctx);
    struct hn_named *sorted = hn_alloc(ctx, n, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        if (!name[i][0])
            return hn_fail(ctx, HN_DATA, "%s: the name of class %lld is empty; write one", path,
                           (long long)i);
        sorted[i] = (struct hn_named){name[i], i};
    }
    hn_named_sort(sorted, n);
    for (int64_t i = 1; i < n; i++)
        if (strcmp(sorted[i].text, sorted[i - 1].text) == 0)
            return hn_fail(ctx, HN_DATA,
                           "%s: classes %lld and %lld have the same name, '%s'; write two", path,
                           (long long)sorted[i - 1].number, (long long)sorted[i].number,
                           hn_quote(sorted[i].text).text);
    return HN_OK;
}

static enum hn_code read_names(struct hn_context *ctx, const struct hn_import *o,
                               struct hn_import_input *in) {
    const struct hn_wanted want = {
        .labels = true, .header = HN_HEADER_NO, .lists = true, .alone = true};
    struct hn_array a;
    if (!o->label_names)
        return HN_OK;
    if (hn_format_read(ctx, o->label_names, HN_FORMAT_tsv, &want, &a) ||
        check_texts(ctx, o->label_names, &a))
        return ctx->code;
    in->name = a.text;
    in->n_names = a.shape[0];
    return check_names(ctx, o->label_names, in->n_names) ||
                   check_distinct(ctx, o->label_names, in->name, in->n_names)
               ? ctx->code
               : HN_OK;
}

// The parts of the labels, or of groups, joined; all integers or all texts.
static enum hn_code read_parts(struct hn_context *ctx, const struct hn_import *o, bool groups,
                               struct hn_array *all) {
    const struct hn_text_list *part = groups ? &o->group : &o->labels;
    const struct hn_wanted want = {.labels = true,
                                   .name = groups ? NULL : o->label_tensor,
                                   .snapshots = groups,
                                   .rows = o->rows,
                                   .header = (enum hn_header)o->header,
                                   .otherwise = o->format,
                                   .lists = !groups && o->label_separator};
    *all = (struct hn_array){.rank = 1};
    for (int64_t k = 0; k < part->count; k++) {
        struct hn_array a;
        const char *path = part->item[k];
        if (hn_format_read(ctx, path, HN_FORMAT_auto, &want, &a))
            return ctx->code;
        if (k > 0 && !a.text != !all->text)
            return hn_fail(ctx, HN_DATA, "%s holds %s, %s does not; parts hold the same", path,
                           a.text ? "texts" : "integers", part->item[0]);
        int64_t before = all->shape[0], n = before + a.shape[0];
        void *to = a.text ? (void *)(all->text = hn_resize(ctx, all->text, n, sizeof *a.text))
                          : (all->integer = hn_resize(ctx, all->integer, n, sizeof *a.integer));
        if (!to)
            return ctx->code;
        size_t size = a.text ? sizeof *a.text : sizeof *a.integer;
        memcpy((char *)to + (size_t)before * size, a.text ? (void *)a.text : a.integer,
               (size_t)a.shape[0] * size);
        all->shape[0] = n;
        all->above |= a.above;
        all->named |= a.named;
        all->headed |= a.headed;
    }
    return HN_OK;
}

// The distinct texts, sorted, as names; the empty text is not a label.
static enum hn_code name_classes(struct hn_context *ctx, const char *path, const struct hn_array *a,
                                 struct hn_import_input *in) {
    int64_t n = a->shape[0], m = 0;
    if (!HN_ALLOC(ctx, in->name, n) || check_texts(ctx, path, a))
        return ctx->code;
    HN_SCOPE(ctx);
    struct hn_named *sorted = hn_alloc(ctx, n, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        if (a->text[i][0])
            sorted[m++] = (struct hn_named){a->text[i], i};
    hn_named_sort(sorted, m);
    for (int64_t i = 0; i < m; i++)
        if (i == 0 || strcmp(sorted[i].text, sorted[i - 1].text) != 0)
            in->name[in->n_names++] = sorted[i].text;
    return check_names(ctx, path, in->n_names);
}

// out[a->shape[0]]. lists: whose entries these are, or NULL: rows'.
static enum hn_code number_texts(struct hn_context *ctx, const struct hn_import *o,
                                 const struct hn_array *a, const struct hn_label_lists *lists,
                                 struct hn_import_input *in, int32_t *out) {
    HN_SCOPE(ctx);
    struct hn_named *sorted = hn_alloc(ctx, in->n_names, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    for (int64_t i = 0; i < in->n_names; i++)
        sorted[i] = (struct hn_named){in->name[i], i};
    hn_named_sort(sorted, in->n_names);
    for (int64_t i = 0; i < a->shape[0]; i++) {
        const char *text = a->text[i];
        out[i] = text[0] ? (int32_t)hn_named_find(sorted, in->n_names, text) : -1;
        if (text[0] && out[i] < 0)
            return hn_fail(ctx, HN_DATA, "%s: the label '%s' of row %lld is not in %s",
                           o->labels.item[0], hn_quote(text).text,
                           (long long)(lists ? hn_label_lists_item(lists, i) : i), o->label_names);
    }
    in->label_texts = true;
    return HN_OK;
}

static enum hn_code number_labels(struct hn_context *ctx, const struct hn_import *o,
                                  struct hn_array *a, const struct hn_label_lists *lists,
                                  struct hn_import_input *in, int32_t *out) {
    const char *path = o->labels.item[0];
    if (a->text && hn_numbers_of_texts(ctx, a))
        return ctx->code;
    if (a->integer)
        return hn_number_integers(ctx, &(struct hn_numbering){path, "label", lists, lists == NULL},
                                  a, out);
    if (!in->name) {
        if (name_classes(ctx, path, a, in))
            return ctx->code;
        hn_note_missing(ctx, path, in->name, in->n_names);
        hn_note_lists(ctx, path, in->name, in->n_names);
    }
    return hn_note_alike(ctx, path, in->name, in->n_names) ||
                   number_texts(ctx, o, a, lists, in, out)
               ? ctx->code
               : HN_OK;
}

static enum hn_code take_several(struct hn_context *ctx, const struct hn_import *o,
                                 struct hn_label_lists *lists, struct hn_import_input *in) {
    int32_t *label = hn_alloc(ctx, lists->entry.shape[0], sizeof *label);
    in->several_labels = true;
    if (!label || number_labels(ctx, o, &lists->entry, lists, in, label))
        return ctx->code;
    return hn_label_sets_make(ctx, in->n, lists->start, label, in->labels, &in->label_sets);
}

// A first line too many, or too few, may be a header that was taken for a label, or the reverse.
static enum hn_code fail_rows(struct hn_context *ctx, const struct hn_import *o,
                              const struct hn_import_input *in, const struct hn_array *a,
                              int64_t rows) {
    char hint[128] = "";
    int64_t last = rows;
    while (a->text && last > in->n && !a->text[last - 1][0])
        last--;
    if (rows > in->n && last == in->n)
        snprintf(hint, sizeof hint, "; the %lld beyond are empty: delete them",
                 (long long)(rows - last));
    else if (a->text && o->header != HN_HEADER_YES && rows == in->n + 1)
        snprintf(hint, sizeof hint, "; if '%s' is the name of a column, give --header yes",
                 hn_quote(a->text[0]).text);
    else if (a->headed && rows == in->n - 1)
        snprintf(hint, sizeof hint, "; if the first line is a label, give --header no");
    else if (rows == in->d && !o->transpose && !o->linqs)
        snprintf(hint, sizeof hint,
                 "; its rows have %lld values: if items are its columns, give --transpose",
                 (long long)in->d);
    return hn_fail(ctx, HN_DATA, "%s has %lld labels but %s has %lld rows; they must agree%s",
                   o->labels.item[0], (long long)rows, in->from, (long long)in->n, hint);
}

static enum hn_code take_labels(struct hn_context *ctx, const struct hn_import *o,
                                struct hn_import_input *in) {
    struct hn_array a = {.rank = 1};
    struct hn_label_lists lists = {.n = 0};
    bool several = hn_label_lists_wanted(o);
    if (several && !o->label_separator) {
        if (hn_label_lists_read(ctx, o, &lists))
            return ctx->code;
    } else if (read_parts(ctx, o, false, &a) ||
               (several && hn_label_lists_cut(ctx, o, &a, &lists))) {
        return ctx->code;
    }
    in->labels_named = a.named || lists.entry.named;
    int64_t rows = several ? lists.n : a.shape[0];
    if (rows != in->n)
        return fail_rows(ctx, o, in, &a, rows);
    if (!HN_ALLOC(ctx, in->labels, in->n))
        return ctx->code;
    if (several)
        return take_several(ctx, o, &lists, in);
    return number_labels(ctx, o, &a, NULL, in, in->labels) ||
                   hn_note_classes(ctx, o->labels.item[0], in->labels, in->n)
               ? ctx->code
               : HN_OK;
}

// Every label needs a name, where there are names.
static enum hn_code check_named(struct hn_context *ctx, const struct hn_import *o,
                                const struct hn_import_input *in) {
    for (int64_t i = 0; in->labels && in->name && i < in->n; i++) {
        int32_t label = in->labels[i];
        if (in->several_labels && label >= 0)
            label = in->label_sets.label[in->label_sets.start[label + 1] - 1];
        if (label >= in->n_names)
            return hn_fail(ctx, HN_DATA,
                           "%s has %lld names but row %lld has label %d; name every class",
                           o->label_names, (long long)in->n_names, (long long)i, (int)label);
    }
    return HN_OK;
}

enum hn_code hn_import_labels(struct hn_context *ctx, const struct hn_import *o,
                              struct hn_import_input *in) {
    if (read_names(ctx, o, in) || (o->labels.count > 0 && take_labels(ctx, o, in)))
        return ctx->code;
    return check_named(ctx, o, in);
}

// The position of each text among the distinct ones in order.
static enum hn_code number_groups(struct hn_context *ctx, const struct hn_array *a,
                                  int32_t *group) {
    int64_t n = a->shape[0], m = 0;
    HN_SCOPE(ctx);
    struct hn_named *sorted = hn_alloc(ctx, n, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        sorted[i] = (struct hn_named){a->text[i], 0};
    hn_named_sort(sorted, n);
    for (int64_t i = 0; i < n; i++)
        sorted[i].number = m += i > 0 && strcmp(sorted[i].text, sorted[i - 1].text) != 0;
    for (int64_t i = 0; i < n; i++)
        group[i] = (int32_t)hn_named_find(sorted, n, a->text[i]);
    return HN_OK;
}

enum hn_code hn_import_groups(struct hn_context *ctx, const struct hn_import *o,
                              struct hn_import_input *in) {
    struct hn_array a;
    if (o->group.count == 0)
        return HN_OK;
    const char *path = o->group.item[0];
    if (read_parts(ctx, o, true, &a))
        return ctx->code;
    int64_t n = a.shape[0];
    if (in->n > 0 && n != in->n)
        return hn_fail(ctx, HN_DATA, "%s has %lld groups but %s has %lld rows; they must agree",
                       path, (long long)n, in->from, (long long)in->n);
    in->n = n;
    if (!HN_ALLOC(ctx, in->group, n))
        return ctx->code;
    if (a.text && hn_numbers_of_texts(ctx, &a))
        return ctx->code;
    if (a.text)
        return number_groups(ctx, &a, in->group);
    return hn_number_integers(ctx, &(struct hn_numbering){path, "group", NULL, false}, &a,
                              in->group);
}
