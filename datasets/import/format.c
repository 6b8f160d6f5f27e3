// Finds the format of a file by its first bytes, its name or what was asked for, and reads it.
#include "datasets/import/format.h"
#include "core/options/option.h"
#include "datasets/import/array.h"
#include "datasets/import/source.h"
#include "datasets/text.h"

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

// By the first bytes, then by the name. Standard input that begins with nothing known is text.
static enum hn_code find(struct hn_context *ctx, const struct hn_source *s, const char *path,
                         const struct hn_format **out) {
    static const char pointer[] = "version https://git-lfs";
    char first[HN_FORMAT_MAGIC_MAX + 1] = "";
    size_t n = fread(first, 1, HN_FORMAT_MAGIC_MAX, s->file);
    rewind(s->file);
    if (n >= sizeof pointer - 1 && memcmp(first, pointer, sizeof pointer - 1) == 0)
        return hn_fail(ctx, HN_DATA,
                       "%s: is a pointer of Git LFS, not the file itself; get it with git lfs pull",
                       path);
    for (const struct hn_format *const *f = hn_formats; *f; f++)
        if ((*f)->magic && n >= (*f)->magic_bytes &&
            memcmp(first, (*f)->magic, (*f)->magic_bytes) == 0) {
            *out = *f;
            return HN_OK;
        }
    if (hn_text_unpacked(ctx, path, first))
        return ctx->code;
    *out = &hn_format_tsv;
    if (strcmp(path, "-") == 0)
        return HN_OK;
    for (const struct hn_format *const *f = hn_formats; *f; f++)
        if (ends_in(path, (*f)->endings)) {
            *out = *f;
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

enum hn_code hn_format_read(struct hn_context *ctx, const char *path, enum hn_format_choice choice,
                            const struct hn_wanted *want, struct hn_array *out) {
    struct hn_source s;
    const struct hn_format *format = choice != HN_FORMAT_auto ? hn_formats[choice - 1] : NULL;
    memset(out, 0, sizeof *out);
    bool good = !hn_source_open(ctx, path, &s) && (format || !find(ctx, &s, path, &format)) &&
                !read_as(ctx, format, &s, path, want, out);
    hn_source_close(&s);
    out->named = good && (want->labels ? format->labels_named : format->rows_named);
    return good ? HN_OK : ctx->code;
}
