// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes of a regular file or of standard input, taken with their bounds checked.
#include "datasets/import/source.h"

#include "core/files.h"
#include "datasets/text.h"

#include <errno.h>
#include <string.h>

enum { AT_ONCE = 1 << 16 };

// All of standard input, as a file in memory.
static enum hn_code open_standard(struct hn_context *ctx, struct hn_source *out) {
    const char *why;
    char *text = NULL;
    int64_t capacity = 0, got = 0;
    size_t n = 0;
    FILE *in = hn_file_open("/dev/stdin", NULL, &why);
    if (!in)
        return hn_fail(ctx, HN_DATA, "standard input: cannot be read: %s", why);
    enum hn_code code;
    do {
        code = hn_grow(ctx, &text, &capacity, got + AT_ONCE, 1);
        n = code == HN_OK ? fread(text + got, 1, AT_ONCE, in) : 0;
        got += (int64_t)n;
    } while (n > 0 && hn_check_stop(ctx) == HN_OK);
    int failed = ferror(in) ? errno : 0;
    (void)fclose(in);
    if (code != HN_OK || hn_check_stop(ctx))
        return ctx->code;
    if (failed)
        return hn_fail_reading(ctx, "standard input", failed);
    if (got == 0)
        return hn_fail(ctx, HN_DATA, "standard input: is empty; pipe a file into it");
    *out = (struct hn_source){
        .path = "standard input", .file = fmemopen(text, (size_t)got, "rb"), .left = got};
    return out->file ? HN_OK : hn_fail(ctx, HN_MEMORY, "standard input: out of memory");
}

enum hn_code hn_source_open(struct hn_context *ctx, const char *path, struct hn_source *out) {
    *out = (struct hn_source){.path = path};
    if (strcmp(path, "-") == 0)
        return open_standard(ctx, out);
    out->file = hn_input_open(ctx, path, INT64_MAX, "a file", "check the path", &out->left);
    if (!out->file)
        return ctx->code;
    hn_file_look(out->file, &out->opened);
    return HN_OK;
}

void hn_source_close(struct hn_source *s) {
    if (s->file)
        (void)fclose(s->file);
    s->file = NULL;
}

enum hn_code hn_source_end(struct hn_context *ctx, struct hn_source *s, enum hn_code code) {
    hn_source_close(s);
    return (code == HN_OK || code == HN_DATA) && hn_file_check_same(ctx, s->path, &s->opened)
               ? ctx->code
               : code;
}

static enum hn_code fail_short(struct hn_context *ctx, const struct hn_source *s,
                               const char *what) {
    return hn_fail(ctx, HN_DATA, "%s: ends within %s; copy or make it again", s->path, what);
}

enum hn_code hn_source_take(struct hn_context *ctx, struct hn_source *s, void *to, int64_t bytes,
                            const char *what) {
    if (bytes > s->left || fread(to, 1, (size_t)bytes, s->file) != (size_t)bytes)
        return ferror(s->file) ? hn_fail_reading(ctx, s->path, errno) : fail_short(ctx, s, what);
    s->left -= bytes;
    return HN_OK;
}

enum hn_code hn_source_go(struct hn_context *ctx, struct hn_source *s, int64_t at, int64_t bytes,
                          const char *what) {
    if (fseeko(s->file, 0, SEEK_END) != 0)
        return hn_fail_reading(ctx, s->path, errno);
    if (at < 0 || bytes < 0 || at > (int64_t)ftello(s->file) - bytes)
        return fail_short(ctx, s, what);
    if (fseeko(s->file, at, SEEK_SET) != 0)
        return hn_fail_reading(ctx, s->path, errno);
    s->left = bytes;
    return HN_OK;
}

enum hn_code hn_source_text(struct hn_context *ctx, struct hn_source *s, char **text) {
    int64_t bytes = s->left;
    *text = hn_zalloc(ctx, bytes + 1, 1);
    if (!*text || hn_source_take(ctx, s, *text, bytes, "the text"))
        return ctx->code;
    if (hn_text_check(ctx, s->path, *text, bytes))
        return ctx->code;
    *text = hn_text_whole(*text);
    return HN_OK;
}

bool hn_path_ends(const char *path, const char *ending) {
    const char *crop = strstr(path, ".crop_nb_");
    bool cropped = crop && strspn(crop + 9, "0123456789") == strlen(crop + 9);
    size_t length = cropped ? (size_t)(crop - path) : strlen(path), own = strlen(ending);
    return length > own && strncmp(path + length - own, ending, own) == 0;
}
