#include "datasets/import/format.h"
#include "core/options/option.h"

#include <string.h>

#define X(name) &hn_format_##name,
const struct hn_format *const hn_formats[] = {HN_FORMATS(X) NULL};
#undef X
#define X(name) #name,
const char *const hn_format_names[] = {"auto", HN_FORMATS(X) NULL};
#undef X

static bool ends_in(const char *path, const char *const *ending) {
    size_t length = strlen(path);
    for (; *ending; ending++)
        if (length > strlen(*ending) && strcmp(path + length - strlen(*ending), *ending) == 0)
            return true;
    return false;
}

// By the first bytes, then by the name. Standard input that begins with nothing known is text.
static enum hn_code find(struct hn_context *ctx, const struct hn_source *s, const char *path,
                         const struct hn_format **out) {
    char first[8] = "";
    size_t n = fread(first, 1, sizeof first, s->file);
    rewind(s->file);
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

static enum hn_code check(struct hn_context *ctx, const struct hn_source *s,
                          const struct hn_wanted *want, const struct hn_array *a) {
    if (want->labels && (a->real || a->rank != 1))
        return hn_fail(
            ctx, HN_DATA,
            "%s: labels are a list of integers or texts, this is an array of %s of %d dimension%s",
            s->path,
            a->real   ? "floats"
            : a->text ? "texts"
                      : "integers",
            a->rank, a->rank == 1 ? "" : "s");
    if (!want->labels && !a->real)
        return hn_fail(ctx, HN_DATA, "%s: holds %s; embeddings are floats", s->path,
                       a->text ? "texts" : "integers");
    if (!want->labels && a->rank != 2)
        return hn_fail(ctx, HN_DATA, "%s: has %d dimensions; embeddings have two, [items, dims]",
                       s->path, a->rank);
    if (!want->labels && a->shape[1] < 1)
        return hn_fail(ctx, HN_DATA, "%s: its rows are empty; embeddings have one value or more",
                       s->path);
    return HN_OK;
}

static enum hn_code read_as(struct hn_context *ctx, const struct hn_format *format,
                            struct hn_source *s, const char *path, const struct hn_wanted *want,
                            struct hn_array *out) {
    if (format->by_name && strcmp(path, "-") == 0)
        return hn_fail(ctx, HN_DATA, "standard input: %s cannot be read from a pipe; give the file",
                       format->name);
    return format->read(ctx, s, want, out);
}

enum hn_code hn_format_read(struct hn_context *ctx, const char *path, enum hn_format_choice choice,
                            const struct hn_wanted *want, struct hn_array *out) {
    struct hn_source s;
    const struct hn_format *format = choice != HN_FORMAT_auto ? hn_formats[choice - 1] : NULL;
    memset(out, 0, sizeof *out);
    bool good = !hn_source_open(ctx, path, &s) && (format || !find(ctx, &s, path, &format)) &&
                !read_as(ctx, format, &s, path, want, out) && !check(ctx, &s, want, out);
    hn_source_close(&s);
    out->named = good && (want->labels ? format->labels_named : format->rows_named);
    return good ? HN_OK : ctx->code;
}

static bool fits(const struct hn_wanted *want, const struct hn_entry *e) {
    return want->labels ? e->rank == 1 && e->kind && strchr("iubSU", e->kind)
                        : e->rank == 2 && e->kind && strchr("fe", e->kind);
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
    for (int64_t i = 0; i < n; i++)
        if (want->name ? strcmp(entry[i].name, want->name) == 0 : fits(want, &entry[i])) {
            *picked = i;
            found++;
        }
    return found == 1 ? HN_OK : fail_pick(ctx, path, want, entry, n, found);
}
