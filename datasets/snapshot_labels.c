// SPDX-License-Identifier: GPL-3.0-or-later
// The labels of a snapshot, one an item or several, and their names.
#include "core/classes.h"
#include "core/label_sets.h"
#include "datasets/snapshot_private.h"

#include <string.h>

enum { NAME_BYTES_MAX = 4096 };

// Readers index the names by label: too few of them are as good as none.
static void check_names(struct hn_context *ctx, struct hn_snapshot *s, int64_t needed) {
    if (!s->info.label_name || s->info.n_label_names >= needed)
        return;
    hn_note_once(ctx, "%s: label_names has %lld names but labels go up to %lld; names are not used",
                 s->path, (long long)s->info.n_label_names, (long long)needed - 1);
    s->info.label_name = NULL;
    s->info.n_label_names = 0;
}

static enum hn_code count_classes(struct hn_context *ctx, struct hn_snapshot *s) {
    struct hn_classes c;
    HN_SCOPE(ctx);
    if (hn_classes_find(ctx, s->info.labels, s->info.n, &c))
        return ctx->code;
    s->info.classes = c.n;
    s->info.unlabelled = s->info.n - c.labelled;
    check_names(ctx, s, c.n ? (int64_t)c.label[c.n - 1] + 1 : 0);
    return HN_OK;
}

// Copies count texts out of what H5Aread() delivered: pointers if size is 0, else fields of `size`.
static enum hn_code copy_names(struct hn_context *ctx, struct hn_snapshot *s, const void *read,
                               int64_t count, size_t size) {
    char **name;
    if (!HN_ALLOC(ctx, name, count))
        return ctx->code;
    for (int64_t i = 0; i < count; i++) {
        const char *text = size ? (const char *)read + (size_t)i * size : ((char *const *)read)[i];
        int length = text ? (int)strnlen(text, size ? size : NAME_BYTES_MAX) : 0;
        name[i] = hn_format(ctx, "%.*s", length, text ? text : "");
        if (!name[i])
            return ctx->code;
        hn_snapshot_clean(name[i]);
    }
    s->info.n_label_names = count;
    s->info.label_name = (const char *const *)name;
    return HN_OK;
}

static enum hn_code read_names(struct hn_context *ctx, struct hn_snapshot *s, hid_t attribute,
                               hid_t type, hid_t space) {
    int64_t count = H5Sget_simple_extent_npoints(space);
    const htri_t variable = H5Tis_variable_str(type);
    int64_t size = variable ? (int64_t)sizeof(char *) : (int64_t)H5Tget_size(type);
    if (H5Tget_class(type) != H5T_STRING || count < 1 || count > HN_LABEL_NAMES_MAX || size < 1 ||
        size > NAME_BYTES_MAX || H5Sget_simple_extent_ndims(space) != 1)
        return hn_fail(ctx, HN_DATA,
                       "%s: attribute label_names of the labels is not a list of at most %d texts",
                       s->path, HN_LABEL_NAMES_MAX);
    void *read = hn_zalloc(ctx, count, (size_t)size);
    if (!read)
        return ctx->code;
    enum hn_code code;
    if (variable < 0 || H5Aread(attribute, type, read) < 0)
        code = hn_fail(ctx, HN_DATA,
                       "%s: attribute label_names of the labels cannot be read; the file is "
                       "damaged: make or copy it again",
                       s->path);
    else
        code = copy_names(ctx, s, read, count, variable ? 0 : (size_t)size);
    if (variable > 0)
        (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, read);
    hn_free(ctx, read);
    return code;
}

static enum hn_code read_label_names(struct hn_context *ctx, struct hn_snapshot *s,
                                     const char *path) {
    hid_t labels = H5Dopen2(s->file, path, H5P_DEFAULT);
    enum hn_code code = HN_OK;
    const htri_t named = H5Aexists(labels, "label_names");
    if (named < 0)
        code = hn_fail(
            ctx, HN_DATA,
            "%s: the labels' attributes cannot be read; the file is damaged: make or copy it again",
            s->path);
    else if (named > 0) {
        hid_t attribute = H5Aopen(labels, "label_names", H5P_DEFAULT);
        hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
        if (type < 0 || space < 0)
            code = hn_fail(ctx, HN_DATA,
                           "%s: attribute label_names of the labels cannot be read; the file is "
                           "damaged: make or copy it again",
                           s->path);
        else
            code = read_names(ctx, s, attribute, type, space);
        hn_h5_close(space, type, attribute);
    }
    hn_h5_close(labels);
    return code;
}

enum hn_code hn_snapshot_unlabelled(struct hn_context *ctx, struct hn_snapshot *s) {
    int32_t *label;
    if (!HN_ALLOC(ctx, label, s->info.n))
        return ctx->code;
    memset(label, -1, (size_t)s->info.n * sizeof *label);
    s->info.labels = label;
    s->info.unlabelled = s->info.n;
    return HN_OK;
}

// Several labels an item: its label becomes the number of their set.
static enum hn_code read_sets(struct hn_context *ctx, struct hn_snapshot *s) {
    const struct hn_sparse_rows rows = {"/labels_csr/indptr", "/labels_csr/indices",
                                        (int64_t)INT32_MAX + 1};
    struct hn_graph given;
    int32_t *label;
    enum hn_code code = hn_snapshot_read_rows(ctx, s, &rows, &given);
    if (code || !given.start)
        return code;
    if (!HN_ALLOC(ctx, label, s->info.n) ||
        hn_label_sets_make(ctx, s->info.n, given.start, given.target, label, &s->label_sets))
        return ctx->code;
    hn_graph_free(ctx, &given);
    s->info.labels = label;
    s->info.label_sets = &s->label_sets;
    s->info.classes = s->label_sets.classes;
    s->info.unlabelled = 0;
    for (int64_t i = 0; i < s->info.n; i++)
        s->info.unlabelled += label[i] < 0;
    if (read_label_names(ctx, s, rows.indices))
        return ctx->code;
    check_names(ctx, s, (int64_t)s->label_sets.largest_label + 1);
    return HN_OK;
}

enum hn_code hn_snapshot_read_labels(struct hn_context *ctx, struct hn_snapshot *s, bool bare) {
    const struct hn_snapshot_column column = {
        "/labels", "items", s->info.n, {-1, INT32_MAX, sizeof(int32_t)}};
    const int32_t *single;
    if (hn_check_memory(ctx, s->info.n, sizeof *single + HN_CLASSES_BYTES) ||
        hn_snapshot_read_column(ctx, s, &column, &single) || (!bare && read_sets(ctx, s)))
        return ctx->code;
    if (single && s->info.labels)
        return hn_fail(ctx, HN_DATA,
                       "%s: there are both /labels and /labels_csr; keep the one that holds",
                       s->path);
    if (single) {
        s->info.labels = single;
        return read_label_names(ctx, s, "/labels") ? ctx->code : count_classes(ctx, s);
    }
    if (!s->info.labels && !bare)
        return hn_fail(
            ctx, HN_DATA,
            "%s: there is no data set /labels; add it, with -1 for items without a label", s->path);
    return s->info.labels ? HN_OK : hn_snapshot_unlabelled(ctx, s);
}
