// SPDX-License-Identifier: GPL-3.0-or-later
// NumPy's .npz: a zip archive of .npy files, read by libzip.
#include "datasets/import/array.h"
#include "datasets/import/columns.h"
#include "datasets/import/format.h"
#include "datasets/import/npy.h"
#include "datasets/import/source.h"

#include <string.h>
#include <zip.h>

enum { MEMBERS_MAX = 1 << 18, RATIO_MAX = 1032 }; // the latter of deflate

static enum hn_code bad(struct hn_context *ctx, const struct hn_source *s, const char *what) {
    return hn_fail(ctx, HN_DATA, "%s: %s; save the arrays again with numpy.savez", s->path, what);
}

static enum hn_code open_archive(struct hn_context *ctx, struct hn_source *s, zip_t **out) {
    bool in_memory = fileno(s->file) < 0; // standard input
    int64_t bytes = in_memory ? s->left : 0;
    char *all = hn_alloc(ctx, bytes, 1);
    if (!all || hn_source_take(ctx, s, all, bytes, "the archive"))
        return ctx->code;
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *from = in_memory ? zip_source_buffer_create(all, (zip_uint64_t)bytes, 0, &error)
                                   : zip_source_file_create(s->path, 0, -1, &error);
    *out = from ? zip_open_from_source(from, ZIP_RDONLY, &error) : NULL;
    if (!*out) {
        zip_source_free(from);
        (void)hn_fail(ctx, zip_error_code_zip(&error) == ZIP_ER_MEMORY ? HN_MEMORY : HN_DATA,
                      "%s: is not a whole zip archive (%s); save the arrays again with numpy.savez",
                      s->path, zip_error_strerror(&error));
    }
    zip_error_fini(&error);
    return *out ? HN_OK : ctx->code;
}

// An array of the archive; name: without ".npy".
struct member {
    zip_uint64_t index;
    const char *name;
    int64_t size; // unpacked
};

// Lists the members that are arrays.
static enum hn_code list(struct hn_context *ctx, const struct hn_source *s, zip_t *z,
                         struct member **out, int64_t *n) {
    int64_t all = zip_get_num_entries(z, 0);
    if (all > MEMBERS_MAX)
        return bad(ctx, s, "has more than 262144 members");
    *n = 0;
    *out = hn_alloc(ctx, all, sizeof **out);
    for (int64_t i = 0; *out && i < all; i++) {
        zip_stat_t about;
        if (zip_stat_index(z, (zip_uint64_t)i, 0, &about) != 0)
            return bad(ctx, s, "its directory is damaged");
        size_t length = strlen(about.name);
        if (length <= 4 || strcmp(about.name + length - 4, ".npy") != 0)
            continue;
        if (about.encryption_method != ZIP_EM_NONE)
            return bad(ctx, s, "is encrypted");
        if (about.size / RATIO_MAX > about.comp_size)
            return bad(ctx, s, "its directory is damaged: sizes are impossible");
        struct member *m = &(*out)[(*n)++];
        *m = (struct member){(zip_uint64_t)i, hn_format(ctx, "%.*s", (int)length - 4, about.name),
                             (int64_t)about.size};
        if (!m->name)
            return ctx->code;
    }
    return *out ? HN_OK : ctx->code;
}

static ssize_t read_some(void *file, char *to, size_t bytes) { return zip_fread(file, to, bytes); }

// The header of a member, and, where something is wanted of it, the values as well.
static enum hn_code read_member(struct hn_context *ctx, const struct hn_source *s, zip_t *z,
                                const struct member *m, const struct hn_wanted *want,
                                struct hn_array_type *type, struct hn_array *out) {
    HN_SCOPE(ctx);
    struct hn_source in = {.path = hn_format(ctx, "%s: %s", s->path, m->name), .left = m->size};
    zip_file_t *file = in.path ? zip_fopen_index(z, m->index, 0) : NULL;
    if (!file)
        return in.path ? bad(ctx, &in, zip_strerror(z)) : ctx->code;
    in.file = fopencookie(file, "rb", (cookie_io_functions_t){.read = read_some});
    enum hn_code code = in.file ? hn_npy_head(ctx, &in, type, out)
                                : hn_fail(ctx, HN_MEMORY, "%s: out of memory", in.path);
    hn_own(ctx, scope.outer);
    if (!code && want)
        code = hn_npy_values(ctx, &in, want, *type, out);
    if (!code && want && in.left == 0 && fgetc(in.file) != EOF) // the checksum is that of the end
        code = bad(ctx, &in, "is longer than its directory says");
    if (in.file && ferror(in.file))
        code = zip_error_code_zip(zip_file_get_error(file)) == ZIP_ER_CRC
                   ? hn_fail(ctx, HN_DATA, "%s: its checksum is wrong; copy or make the file again",
                             in.path)
                   : bad(ctx, &in, zip_file_strerror(file));
    hn_source_close(&in);
    (void)zip_fclose(file);
    return code;
}

static enum hn_code pick(struct hn_context *ctx, const struct hn_source *s, zip_t *z,
                         const struct hn_wanted *want, const struct member *m, int64_t n,
                         int64_t *picked) {
    HN_SCOPE(ctx);
    struct hn_entry *entry = hn_alloc(ctx, n, sizeof *entry);
    if (!entry)
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        struct hn_array_type type = {.kind = 0};
        struct hn_array head = {.rank = 0};
        // Members that cannot be read, such as pickled ones, are not offered.
        enum hn_code code = read_member(ctx, s, z, &m[i], NULL, &type, &head);
        if (code && code != HN_DATA)
            return code;
        entry[i] = (struct hn_entry){m[i].name, head.rank, code ? 0 : type.kind, head.shape[1]};
    }
    return hn_entry_pick(ctx, s->path, want, entry, n, false, picked);
}

// SciPy stores the layout of a sparse matrix as one text, `format`: what follows the header's line,
// of one byte a letter or of four.
static enum hn_code find_layout(struct hn_context *ctx, zip_t *z, const struct member *m, int64_t n,
                                const char **out) {
    enum { BYTES = 512 };
    char bytes[BYTES], layout[BYTES];
    while (n > 0 && strcmp(m->name, "format") != 0) {
        m++;
        n--;
    }
    zip_file_t *file = n > 0 ? zip_fopen_index(z, m->index, 0) : NULL;
    int64_t got = file ? zip_fread(file, bytes, BYTES) : 0, length = 0;
    if (file)
        (void)zip_fclose(file);
    const char *end = got > 0 ? memchr(bytes, '\n', (size_t)got) : NULL;
    if (!end)
        return HN_OK;
    for (const char *c = end + 1; c < bytes + got; c++)
        if (*c)
            layout[length++] = *c;
    layout[length] = '\0';
    *out = hn_strdup(ctx, layout);
    return *out ? HN_OK : ctx->code;
}

static enum hn_code read_array(struct hn_context *ctx, struct hn_source *s,
                               const struct hn_wanted *want, struct hn_array *out) {
    zip_t *z;
    struct member *m = NULL;
    struct hn_array_type type;
    int64_t n = 0, picked = 0;
    if (open_archive(ctx, s, &z))
        return ctx->code;
    bool good = !list(ctx, s, z, &m, &n) &&
                (!want->sparse || !find_layout(ctx, z, m, n, &out->layout)) &&
                !pick(ctx, s, z, want, m, n, &picked) &&
                (picked < 0 || !read_member(ctx, s, z, &m[picked], want, &type, out));
    zip_discard(z);
    return good ? HN_OK : ctx->code;
}

static const char *const endings[] = {".npz", NULL};

const struct hn_format hn_format_npz = {
    .name = "npz",
    .summary = "arrays by name in an archive of NumPy (numpy.savez, numpy.savez_compressed)",
    .endings = endings,
    .has_labels = true,
    .magic = "PK\3\4",
    .magic_bytes = 4,
    .rows_named = true,
    .labels_named = true,
    .read = read_array,
};
