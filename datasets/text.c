// SPDX-License-Identifier: GPL-3.0-or-later
// Text files by line and word, with errors that name file and line.
#include "core/text.h"
#include "core/files.h"
#include "core/real_text.h"
#include "datasets/text.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const int64_t bytes_max = (int64_t)1 << 30;
static const char blanks[] = " \t,";

enum hn_code hn_line_fail(struct hn_context *ctx, const struct hn_line *at, const char *fmt, ...) {
    char text[HN_MESSAGE_MAX];
    va_list args;
    va_start(args, fmt);
    hn_vput_message(text, sizeof text, fmt, args);
    va_end(args);
    return hn_fail(ctx, HN_DATA, "%s: line %lld: %s", at->path, (long long)at->number, text);
}

FILE *hn_input_open(struct hn_context *ctx, const char *path, int64_t max, const char *what,
                    const char *remedy, int64_t *bytes) {
    const char *why;
    FILE *file = hn_file_open(path, bytes, &why);
    if (!file) {
        (void)hn_fail(ctx, HN_DATA, "%s: cannot be opened: %s; %s", path, why, remedy);
        return NULL;
    }
    if (!hn_file_check_packed(ctx, path, file)) {
        if (*bytes <= max)
            return file;
        (void)hn_fail(ctx, HN_DATA, "%s: is not %s", path, what);
    }
    (void)fclose(file);
    return NULL;
}

char *hn_input_text(struct hn_context *ctx, const char *path, int64_t max, const char *what,
                    const char *remedy, int64_t *bytes) {
    struct hn_file_state opened = {.known = false};
    FILE *file = hn_input_open(ctx, path, max, what, remedy, bytes);
    if (file)
        hn_file_look(file, &opened);
    char *text = file ? hn_zalloc(ctx, *bytes + 1, 1) : NULL;
    enum hn_code code = HN_OK;
    if (text && fread(text, 1, (size_t)*bytes, file) != (size_t)*bytes)
        code = hn_fail_reading(ctx, path, ferror(file) ? errno : 0);
    if (text && (hn_file_check_same(ctx, path, &opened) || code)) {
        hn_free(ctx, text);
        text = NULL;
    }
    if (file)
        (void)fclose(file);
    return text;
}

char *hn_text_begin(char *text) {
    while (strncmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    return text;
}

char *hn_text_whole(char *text) {
    if (!strchr(text, '\n'))
        for (char *end = text; (end = strchr(end, '\r')); end++)
            *end = '\n';
    return hn_text_begin(text);
}

enum hn_code hn_text_check(struct hn_context *ctx, const char *path, const char *bytes,
                           int64_t length) {
    const char *packed = hn_file_packed(bytes, (size_t)length);
    if (packed || strlen(bytes) == (size_t)length)
        return packed ? hn_fail(ctx, HN_DATA, "%s: %s", path, packed) : HN_OK;
    bool wide = strncmp(bytes, "\xff\xfe", 2) == 0 || strncmp(bytes, "\xfe\xff", 2) == 0;
    return hn_fail(ctx, HN_DATA, "%s: %s", path,
                   wide
                       ? "is text in UTF-16 or UTF-32; save it as UTF-8"
                       : "holds a zero byte, as text in UTF-16 or UTF-32 does: save text as UTF-8");
}

char *hn_input_table(struct hn_context *ctx, const char *path, int64_t max) {
    int64_t bytes;
    char what[64];
    snprintf(what, sizeof what, "a table of at most %lld MiB", (long long)max >> 20);
    char *text = hn_input_text(ctx, path, max, what, "name a .csv", &bytes);
    return text && hn_text_check(ctx, path, text, bytes) == HN_OK ? hn_text_whole(text) : NULL;
}

static enum hn_code load(struct hn_context *ctx, struct hn_text *t) {
    t->rest = t->text = hn_input_text(ctx, t->at.path, bytes_max, "a text file of at most 1 GiB",
                                      "check the path", &t->bytes);
    if (!t->text)
        return ctx->code;
    if (hn_text_check(ctx, t->at.path, t->text, t->bytes))
        return ctx->code;
    t->rest = hn_text_whole(t->text);
    t->lines = 1;
    for (const char *c = t->text; *c; c++)
        t->lines += *c == '\n';
    return HN_OK;
}

enum hn_code hn_text_open(struct hn_context *ctx, const char *folder, const char *name,
                          const char *ending, struct hn_text *t) {
    *t = (struct hn_text){.at.path = hn_format(ctx, "%s/%s%s", folder, name, ending)};
    return t->at.path ? load(ctx, t) : ctx->code;
}

bool hn_text_line(struct hn_text *t) {
    char *line;
    while ((line = strsep(&t->rest, "\n"))) {
        t->at.number++;
        for (char *end = line + strlen(line); end > line && end[-1] == '\r';)
            *--end = 0;
        t->word = line + strspn(line, blanks);
        if (*t->word)
            return true;
    }
    return false;
}

char *hn_text_word(struct hn_text *t) {
    char *word = t->word;
    if (!*word)
        return NULL;
    t->word += strcspn(word, blanks);
    if (*t->word)
        *t->word++ = 0;
    t->word += strspn(t->word, blanks);
    return word;
}

enum hn_code hn_text_number(struct hn_context *ctx, struct hn_text *t, const char *what, int64_t lo,
                            int64_t hi, int64_t *out) {
    const char *word = hn_text_word(t);
    char *end;
    *out = lo;
    if (!word)
        return hn_line_fail(ctx, &t->at, "the %s is missing", what);
    errno = 0;
    *out = strtoll(word, &end, 10);
    if (end == word || *end || errno == ERANGE || *out < lo || *out > hi)
        return hn_line_fail(ctx, &t->at, "the %s is '%s', not a whole number from %lld to %lld",
                            what, hn_quote(word).text, (long long)lo, (long long)hi);
    return HN_OK;
}

enum hn_code hn_text_real(struct hn_context *ctx, struct hn_text *t, const char *what,
                          double *out) {
    const char *word = hn_text_word(t);
    char *end;
    *out = 0;
    if (!word)
        return hn_line_fail(ctx, &t->at, "the %s is missing", what);
    double value = strtod(word, &end);
    if (end == word || *end || hn_is_hex(word) || !(fabs(value) <= 1e30))
        return hn_line_fail(ctx, &t->at, "the %s is '%s', not a number from -1e30 to 1e30", what,
                            hn_quote(word).text);
    *out = value;
    return HN_OK;
}

enum hn_code hn_text_end(struct hn_context *ctx, struct hn_text *t) {
    return *t->word ? hn_line_fail(ctx, &t->at, "there is more than the line should hold") : HN_OK;
}

static enum hn_code read_ends(struct hn_context *ctx, struct hn_text *t,
                              const struct hn_edge_rules *rules, int32_t *from, int32_t *to) {
    int64_t u, v, last = rules->first + rules->n - 1;
    if (hn_text_number(ctx, t, "first node", rules->first, last, &u) ||
        hn_text_number(ctx, t, "second node", rules->first, last, &v) || hn_text_end(ctx, t))
        return ctx->code;
    *from = (int32_t)(u - rules->first);
    *to = (int32_t)(v - rules->first);
    return rules->check ? rules->check(ctx, t, rules->data, *from, *to) : HN_OK;
}

enum hn_code hn_text_edges(struct hn_context *ctx, const char *folder, const char *name,
                           const char *ending, const struct hn_edge_rules *rules,
                           struct hn_graph *out) {
    struct hn_text t;
    int64_t edges = 0;
    HN_SCOPE(ctx);
    if (hn_text_open(ctx, folder, name, ending, &t))
        return ctx->code;
    int32_t *from = hn_alloc(ctx, t.lines, sizeof *from), *to = hn_alloc(ctx, t.lines, sizeof *to);
    if (!from || !to)
        return ctx->code;
    while (hn_text_line(&t)) {
        if (rules->comments && *t.word == '#')
            continue;
        if (read_ends(ctx, &t, rules, from + edges, to + edges))
            return ctx->code;
        edges++;
    }
    hn_own(ctx, scope.outer);
    return hn_graph_symmetric(ctx, rules->n, edges, from, to, out);
}

enum hn_code hn_text_there(struct hn_context *ctx, const char *folder, const char *name,
                           const char *ending, bool *there) {
    struct stat about;
    HN_SCOPE(ctx);
    char *path = hn_format(ctx, "%s/%s%s", folder, name, ending);
    *there = path && stat(path, &about) == 0;
    return path ? HN_OK : ctx->code;
}

enum hn_code hn_text_find(struct hn_context *ctx, const char *folder, const char *ending,
                          bool optional, char **name) {
    char found[NAME_MAX + 1];
    size_t n = 0;
    errno = 0;
    DIR *files = opendir(folder);
    *name = NULL;
    for (struct dirent *entry; files && (entry = readdir(files)) != NULL;)
        if (*entry->d_name != '.' && hn_ends_in(entry->d_name, ending)) {
            size_t length = strlen(entry->d_name) - strlen(ending);
            snprintf(found, sizeof found, "%.*s", (int)length, entry->d_name);
            n++;
        }
    int reason = errno;
    if (files)
        (void)closedir(files);
    if (reason && reason != ENOENT && reason != ENOTDIR)
        return hn_fail(ctx, HN_DATA, "%s: cannot be searched: %s", folder, strerror(reason));
    if (n == 1)
        return (*name = hn_strdup(ctx, found)) ? HN_OK : ctx->code;
    if (n == 0 && optional)
        return HN_OK;
    return hn_fail(ctx, HN_DATA, "%s: holds %zu files NAME%s; it should hold one", folder, n,
                   ending);
}
