#include "datasets/import/format.h"
#include "core/options/option.h"

#include <string.h>

#define X(name) &hn_format_##name,
const struct hn_format *const hn_formats[] = {HN_FORMATS(X) NULL};
#undef X
#define X(name) #name,
const char *const hn_format_names[] = {"auto", HN_FORMATS(X) NULL};
#undef X

bool hn_path_ends(const char *path, const char *ending) {
    const char *crop = strstr(path, ".crop_nb_");
    bool cropped = crop && strspn(crop + 9, "0123456789") == strlen(crop + 9);
    size_t length = cropped ? (size_t)(crop - path) : strlen(path), own = strlen(ending);
    return length > own && strncmp(path + length - own, ending, own) == 0;
}

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
    char first[HN_FORMAT_MAGIC_MAX];
    size_t n = fread(first, 1, sizeof first, s->file);
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

// True if the entry can be meant (strict), or at least be read as such where the file has nothing
// else: labels as floats or as a column, rows of integers.
static bool fits(const struct hn_wanted *want, const struct hn_entry *e, bool strict) {
    if (!e->kind)
        return false;
    if (want->labels)
        return (e->rank == 1 && (!strict || strchr("iubSU", e->kind))) ||
               (!strict && e->rank == 2 && e->columns == 1);
    return e->rank == 2 && strchr(strict ? "fe" : "feiu", e->kind);
}

static enum hn_code fail_pick(struct hn_context *ctx, const char *path,
                              const struct hn_wanted *want, const struct hn_entry *entry, int64_t n,
                              int64_t found) {
    char names[256] = "";
    for (int64_t i = 0; i < n; i++)
        hn_append(names, sizeof names, "%s%.60s", i ? ", " : "", entry[i].name);
    if (want->name)
        return hn_fail(ctx, HN_DATA, "%s: there is no '%.60s'; it holds %s", path, want->name,
                       *names ? names : "nothing");
    const char *what = want->labels ? "labels (one dimension of integers or texts)"
                                    : "embeddings (two dimensions of floats)";
    if (found == 0)
        return hn_fail(ctx, HN_DATA, "%s: holds no array that could be %s; it holds %s", path, what,
                       *names ? names : "nothing");
    return hn_fail(ctx, HN_DATA, "%s: holds %lld arrays that could be %s; name one with %s: %s",
                   path, (long long)found, what, want->labels ? "--label-tensor" : "--tensor",
                   names);
}

enum hn_code hn_entry_pick(struct hn_context *ctx, const char *path, const struct hn_wanted *want,
                           const struct hn_entry *entry, int64_t n, int64_t *picked) {
    int64_t found = 0;
    for (int strict = 1; strict >= 0 && found == 0; strict--)
        for (int64_t i = 0; i < n; i++)
            if (want->name ? strcmp(entry[i].name, want->name) == 0
                           : fits(want, &entry[i], strict)) {
                *picked = i;
                found++;
            }
    return found == 1 ? HN_OK : fail_pick(ctx, path, want, entry, n, found);
}
