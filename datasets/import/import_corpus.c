// SPDX-License-Identifier: GPL-3.0-or-later
// Files of rows that are read some at a time: what is imported may be larger than the memory.
#include "core/text.h"
#include "datasets/import/import_private.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// A file whose rows begin at a byte, and are those from `first` on of all files.
struct file {
    const char *path;
    int64_t first, rows, at;
    struct hn_array_type type;
    struct hn_file_state opened; // at first: its rows are read at several times
    struct hn_zero_count zero;
};

struct files {
    struct file *file; // [n]
    int64_t n, d;
    enum hn_undirected zero_rows;
    bool unit; // all rows that were read
};

static int by_name(const void *a, const void *b) {
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static enum hn_code add_file(struct hn_context *ctx, const char *path, struct hn_text_list *out,
                             int64_t *capacity) {
    if (hn_grow(ctx, &out->item, capacity, out->count + 1, sizeof *out->item) ||
        !(out->item[out->count] = hn_strdup(ctx, path)))
        return ctx->code;
    out->count++;
    return HN_OK;
}

static enum hn_code add_fitting(struct hn_context *ctx, const char *pattern,
                                struct hn_text_list *out, int64_t *capacity) {
    glob_t found = {.gl_pathc = 0};
    int64_t from = out->count;
    enum hn_code code = HN_OK;
    if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return hn_fail(ctx, HN_DATA, "%s: no file has this name, or one of this pattern", pattern);
    for (size_t k = 0; k < found.gl_pathc && !code; k++)
        code = add_file(ctx, found.gl_pathv[k], out, capacity);
    globfree(&found);
    if (code)
        return code;
    qsort(out->item + from, (size_t)(out->count - from), sizeof *out->item, by_name);
    hn_note(ctx, "%s: %s, from %s to %s", pattern, hn_counted(out->count - from, "file").text,
            hn_base_name(out->item[from]), hn_base_name(out->item[out->count - 1]));
    return HN_OK;
}

enum hn_code hn_import_files(struct hn_context *ctx, const struct hn_text_list *list,
                             struct hn_text_list *out) {
    struct stat about;
    int64_t capacity = 0;
    *out = (struct hn_text_list){.count = 0};
    for (int64_t k = 0; k < list->count; k++) {
        const char *path = list->item[k];
        bool pattern = strpbrk(path, "*?[") && stat(path, &about) != 0;
        if ((pattern ? add_fitting : add_file)(ctx, path, out, &capacity))
            return ctx->code;
    }
    return HN_OK;
}

// The next file of all; *good: it can be read in blocks.
static enum hn_code open_file(struct hn_context *ctx, const struct hn_import *o, const char *path,
                              struct files *f, bool *good) {
    const struct hn_wanted want = hn_import_wanted(o);
    struct file *file = &f->file[f->n], *before = f->n ? file - 1 : NULL;
    struct hn_source s;
    struct hn_array a;
    *file = (struct file){.path = path, .first = before ? before->first + before->rows : 0};
    if (hn_format_open(ctx, path, hn_import_format(o), &want, &s, &file->type, &a, good) || !*good)
        return ctx->code;
    file->at = (int64_t)ftello(s.file);
    file->rows = a.shape[0];
    file->opened = s.opened;
    hn_source_close(&s);
    f->n++;
    f->d = before ? f->d : a.shape[1];
    if (a.shape[1] != f->d)
        return hn_import_fail_width(ctx, path, a.shape[1], f->file[0].path, f->d);
    bool whole = strchr("iu", file->type.kind) != NULL;
    if (before && whole != (strchr("iu", before->type.kind) != NULL))
        return hn_fail(ctx, HN_DATA, "%s holds %s but %s holds %s; parts are of one kind", path,
                       whole ? "integers" : "floats", before->path, whole ? "floats" : "integers");
    return HN_OK;
}

// Some rows of a file, from row `from` of it on.
static enum hn_code read_file(struct hn_context *ctx, struct files *f, struct file *file,
                              int64_t from, int64_t count, float *out) {
    const struct hn_wanted want = {.name = NULL};
    struct hn_array a = {.rank = 2, .shape = {count, f->d}};
    int64_t row = f->d * file->type.width;
    struct hn_source s;
    HN_SCOPE(ctx);
    if (hn_source_open(ctx, file->path, &s))
        return ctx->code;
    bool good = !hn_source_go(ctx, &s, file->at + from * row, count * row, "the values") &&
                !hn_array_read(ctx, &s, &want, file->type, &a);
    s.opened = file->opened;
    if (hn_source_end(ctx, &s, good ? HN_OK : ctx->code))
        return ctx->code;
    const struct hn_matrix rows = {a.real, count, f->d, f->d};
    if (hn_import_check_rows(ctx, file->path, f->zero_rows, &rows, from, &file->zero))
        return ctx->code;
    memcpy(out, a.real, (size_t)(count * f->d) * sizeof *out);
    f->unit = f->unit && hn_import_is_unit(out, count, f->d);
    if (from + count == file->rows)
        hn_note_zero_rows(ctx, file->path, file->zero.n, file->zero.first);
    return HN_OK;
}

static enum hn_code read_rows(struct hn_context *ctx, void *self, int64_t first, int64_t count,
                              float *out) {
    struct files *f = self;
    for (int64_t k = 0; k < f->n && count > 0; k++) {
        struct file *file = &f->file[k];
        int64_t from = first - file->first, rows = hn_min(file->rows - from, count);
        if (rows <= 0)
            continue;
        if (read_file(ctx, f, file, from, rows, out))
            return ctx->code;
        first += rows;
        count -= rows;
        out += rows * f->d;
    }
    return HN_OK;
}

enum hn_code hn_import_corpus(struct hn_context *ctx, const struct hn_import *o,
                              struct hn_matrix *size, struct hn_row_source *out) {
    enum { FEW_BYTES = 4 << 20 };
    struct files *f;
    struct hn_text_list part;
    bool good = o->rows <= 0 && !o->pairs; // of these some rows are left out
    *out = (struct hn_row_source){.read = NULL};
    if (!good)
        return HN_OK;
    if (hn_import_files(ctx, &o->side[HN_CORPUS], &part) || !HN_ALLOC(ctx, f, 1) ||
        !HN_ALLOC(ctx, f->file, part.count))
        return ctx->code;
    f->n = 0;
    f->unit = true;
    f->zero_rows = (enum hn_undirected)o->zero_rows;
    for (int64_t k = 0; k < part.count && good; k++)
        if (open_file(ctx, o, part.item[k], f, &good))
            return ctx->code;
    if (!good)
        return HN_OK;
    const struct file *last = &f->file[f->n - 1];
    int64_t n = last->first + last->rows;
    hn_import_note_wide(ctx, part.item[0], n, f->d);
    *size = (struct hn_matrix){NULL, n, f->d, f->d};
    *out = (struct hn_row_source){.self = f,
                                  .read = read_rows,
                                  .few = hn_max(1, FEW_BYTES / (f->d * (int64_t)sizeof(float))),
                                  .unit = &f->unit};
    return HN_OK;
}
