// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the format of a file by its first bytes, its name or what was asked for, and reads it.
#include "datasets/import/format.h"
#include "core/files.h"
#include "core/options/option.h"
#include "datasets/import/array.h"
#include "datasets/import/source.h"
#include "datasets/text.h"

#include <errno.h>
#include <string.h>

#define X(name) &hn_format_##name,
const struct hn_format *const hn_formats[] = {HN_FORMATS(X) NULL};
#undef X
#define X(name) #name,
const char *const hn_format_names[] = {"auto", HN_FORMATS(X) NULL};
#undef X

static bool ends_in(const char *path, const char *const *ending) {
    for (; *ending; ending++)
        if (hn_path_ends(path, *ending))
            return true;
    return false;
}

// True if HDF5 begins behind a block of another program's, as in MATLAB's .mat of version 7.3: at
// 512 bytes, or twice, four times ... as many.
static bool is_behind_block(const struct hn_source *s) {
    const struct hn_format *h = &hn_format_hdf5;
    char first[HN_FILE_HEAD];
    bool found = false;
    for (int64_t at = 512; !found && at < s->left && at <= 1 << 20; at *= 2)
        found = fseeko(s->file, at, SEEK_SET) == 0 &&
                fread(first, 1, h->magic_bytes, s->file) == h->magic_bytes &&
                memcmp(first, h->magic, h->magic_bytes) == 0;
    rewind(s->file);
    return found;
}

// By the first bytes, then by the name. Standard input that begins with nothing known is text.
static enum hn_code find(struct hn_context *ctx, const struct hn_source *s, const char *path,
                         int otherwise, const struct hn_format **out) {
    char first[HN_FILE_HEAD];
    size_t n = fread(first, 1, sizeof first, s->file);
    if (ferror(s->file))
        return hn_fail_reading(ctx, path, errno);
    rewind(s->file);
    const char *other = hn_file_pickled(first, n);
    for (const struct hn_format *const *f = hn_formats; *f && !other; f++)
        if ((*f)->magic && n >= (*f)->magic_bytes &&
            memcmp(first, (*f)->magic, (*f)->magic_bytes) == 0) {
            *out = *f;
            return HN_OK;
        }
    if (!other && is_behind_block(s)) {
        *out = &hn_format_hdf5;
        return HN_OK;
    }
    other = other ? other : hn_file_other(first, n);
    if (other)
        return hn_fail(ctx, HN_DATA, "%s: %s", path, other);
    *out = &hn_format_tsv;
    if (strcmp(path, "-") == 0)
        return HN_OK;
    for (const struct hn_format *const *f = hn_formats; *f; f++)
        if (ends_in(path, (*f)->endings)) {
            *out = *f;
            return HN_OK;
        }
    if (otherwise != HN_FORMAT_auto) {
        *out = hn_formats[otherwise - 1];
        return HN_OK;
    }
    return hn_fail(ctx, HN_DATA,
                   "%s: neither its name nor its first bytes are those of a format; name it with "
                   "--format (hardneg list formats)",
                   path);
}

static enum hn_code read_as(struct hn_context *ctx, const struct hn_format *format,
                            struct hn_source *s, const char *path, const struct hn_wanted *want,
                            struct hn_array *out) {
    if (format->by_name && strcmp(path, "-") == 0)
        return hn_fail(ctx, HN_DATA, "standard input: %s cannot be read from a pipe; give the file",
                       format->name);
    if (want->labels && !format->has_labels)
        return hn_fail(ctx, HN_DATA,
                       "%s: a file of the format %s holds no labels; give them in another one",
                       s->path, format->name);
    return format->read(ctx, s, want, out);
}

// [n x d] as [d x n]; and the first rows of that which are wanted.
static enum hn_code transpose(struct hn_context *ctx, const char *path,
                              const struct hn_wanted *want, struct hn_array *a) {
    int64_t n = a->shape[1], d = a->shape[0];
    float *to;
    if (a->scaled)
        return hn_fail(ctx, HN_DATA,
                       "%s: holds values beyond 2^100, or rows below 2^-100, which --transpose "
                       "does not take: scale them, or save the array the other way round",
                       path);
    if (want->rows > n)
        return hn_fail(ctx, HN_DATA, "%s: has %lld rows, fewer than the %lld of --rows", path,
                       (long long)n, (long long)want->rows);
    if (!HN_ALLOC(ctx, to, n * d))
        return hn_fail_in(ctx, "%s", path);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < d; k++)
            to[i * d + k] = a->real[k * n + i];
    hn_free(ctx, a->real);
    a->real = to;
    a->shape[0] = want->rows > 0 ? want->rows : n;
    a->shape[1] = d;
    return HN_OK;
}

enum hn_code hn_format_read(struct hn_context *ctx, const char *path, enum hn_format_choice choice,
                            const struct hn_wanted *want, struct hn_array *out) {
    struct hn_source s;
    const struct hn_format *format = choice != HN_FORMAT_auto ? hn_formats[choice - 1] : NULL;
    struct hn_wanted all = *want;
    if (want->transpose)
        all.rows = 0;
    memset(out, 0, sizeof *out);
    bool good = !hn_source_open(ctx, path, &s) &&
                (format || !find(ctx, &s, path, want->otherwise, &format)) &&
                !read_as(ctx, format, &s, path, &all, out) &&
                (!want->transpose || !transpose(ctx, path, want, out));
    enum hn_code code = hn_source_end(ctx, &s, good ? HN_OK : ctx->code);
    out->named = !code && (want->labels ? format->labels_named : format->rows_named);
    return code;
}

static enum hn_code read_head(struct hn_context *ctx, const struct hn_format *format,
                              struct hn_source *s, const struct hn_wanted *want,
                              struct hn_array_type *type, struct hn_array *out) {
    int64_t count;
    return format->head(ctx, s, want, type, out) || hn_array_check(ctx, s, want, type->kind, out) ||
                   hn_array_bound(ctx, s, want, *type, out, &count)
               ? ctx->code
               : HN_OK;
}

enum hn_code hn_format_open(struct hn_context *ctx, const char *path, enum hn_format_choice choice,
                            const struct hn_wanted *want, struct hn_source *s,
                            struct hn_array_type *type, struct hn_array *out, bool *good) {
    const struct hn_format *format = choice != HN_FORMAT_auto ? hn_formats[choice - 1] : NULL;
    *out = (struct hn_array){.rank = 0};
    *type = (struct hn_array_type){.kind = 0};
    *good = strcmp(path, "-") != 0 && !want->transpose;
    if (!*good)
        return HN_OK;
    enum hn_code code = hn_source_open(ctx, path, s);
    if (!code && !format)
        code = find(ctx, s, path, want->otherwise, &format);
    *good = !code && format->head;
    if (*good)
        code = read_head(ctx, format, s, want, type, out);
    *good = *good && !code && !type->fortran;
    return *good ? HN_OK : hn_source_end(ctx, s, code);
}
