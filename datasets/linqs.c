#include "datasets/linqs.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FEATURES_MAX = 1 << 20 };
static const int64_t bytes_max = (int64_t)1 << 30;

// A text file in memory, read line by line and word by word.
struct reader {
    char *path, *text;
    char *rest; // of the lines
    char *word; // rest of the line in work
    int64_t lines, number;
};

static enum hn_code fail_line(struct hn_context *ctx, const struct reader *r, const char *what) {
    return hn_fail(ctx, HN_DATA, "%s: line %lld: %s", r->path, (long long)r->number, what);
}

static enum hn_code load(struct hn_context *ctx, struct reader *r) {
    struct stat about;
    FILE *file = fopen(r->path, "rb");
    if (!file)
        return hn_fail(ctx, HN_DATA, "%s: cannot be opened: %s; check the path", r->path,
                       strerror(errno));
    enum hn_code code = HN_OK;
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size > bytes_max)
        code = hn_fail(ctx, HN_DATA, "%s: is not a text file of at most 1 GiB", r->path);
    else if (!(r->text = hn_zalloc(ctx, about.st_size + 1, 1)))
        code = ctx->code;
    else if (fread(r->text, 1, (size_t)about.st_size, file) != (size_t)about.st_size)
        code = hn_fail(ctx, HN_DATA, "%s: cannot be read", r->path);
    (void)fclose(file);
    if (code)
        return code;
    if (strlen(r->text) != (size_t)about.st_size)
        return hn_fail(ctx, HN_DATA, "%s: holds a zero byte; it is no text file", r->path);
    r->lines = 1;
    for (const char *c = r->text; *c; c++)
        r->lines += *c == '\n';
    r->rest = r->text;
    return HN_OK;
}

static enum hn_code open_reader(struct hn_context *ctx, const char *folder, const char *name,
                                const char *ending, struct reader *r) {
    *r = (struct reader){.path = hn_format(ctx, "%s/%s%s", folder, name, ending)};
    return r->path ? load(ctx, r) : ctx->code;
}

static void close_reader(struct hn_context *ctx, struct reader *r) {
    hn_free(ctx, r->path);
    hn_free(ctx, r->text);
}

// The next line that holds something; false at the end. Comments are lines for the caller.
static bool next_line(struct reader *r) {
    char *line;
    while ((line = strsep(&r->rest, "\n"))) {
        r->number++;
        line[strcspn(line, "\r")] = 0;
        r->word = line + strspn(line, " \t");
        if (*r->word)
            return true;
    }
    return false;
}

static char *next_word(struct reader *r) {
    char *word = r->word;
    if (!*word)
        return NULL;
    r->word += strcspn(word, " \t");
    if (*r->word)
        *r->word++ = 0;
    r->word += strspn(r->word, " \t");
    return word;
}

// A whole number in [lo, hi], called `what` in messages.
static enum hn_code next_number(struct hn_context *ctx, struct reader *r, const char *what,
                                int64_t lo, int64_t hi, int64_t *out) {
    const char *word = next_word(r);
    char *end;
    *out = lo;
    if (!word)
        return hn_fail(ctx, HN_DATA, "%s: line %lld: the %s is missing", r->path,
                       (long long)r->number, what);
    errno = 0;
    *out = strtoll(word, &end, 10);
    if (end == word || *end || errno == ERANGE || *out < lo || *out > hi)
        return hn_fail(ctx, HN_DATA,
                       "%s: line %lld: the %s is '%.40s', not a whole number from %lld to %lld",
                       r->path, (long long)r->number, what, word, (long long)lo, (long long)hi);
    return HN_OK;
}

static enum hn_code end_line(struct hn_context *ctx, struct reader *r) {
    return *r->word ? fail_line(ctx, r, "there is more than the line should hold") : HN_OK;
}

// features=P of a comment, if it is there.
static void read_comment(const struct reader *r, int64_t *p) {
    const char *found = strstr(r->word, "features=");
    long long value = found ? strtoll(found + strlen("features="), NULL, 10) : 0;
    if (value >= 1 && value <= FEATURES_MAX)
        *p = value;
}

// Room for what the file could hold at most: a node takes a line, a feature two bytes.
static enum hn_code take_rows(struct hn_context *ctx, const struct reader *r,
                              struct hn_linqs *out) {
    int64_t entries = (int64_t)strlen(r->text) / 2 + 1;
    out->labels = hn_alloc(ctx, r->lines, sizeof *out->labels);
    out->start = hn_zalloc(ctx, r->lines + 1, sizeof *out->start);
    out->index = hn_alloc(ctx, entries, sizeof *out->index);
    return out->labels && out->start && out->index ? HN_OK : ctx->code;
}

static enum hn_code read_node(struct hn_context *ctx, struct reader *r, struct hn_linqs *out,
                              int64_t stated) {
    int64_t node, label, last = -1, at = out->start[out->n];
    int64_t most = stated ? stated - 1 : FEATURES_MAX - 1;
    if (next_number(ctx, r, "node", 0, INT32_MAX - 1, &node))
        return ctx->code;
    if (node != out->n)
        return hn_fail(
            ctx, HN_DATA,
            "%s: line %lld: node %lld where node %lld should be; list them in order, from "
            "0",
            r->path, (long long)r->number, (long long)node, (long long)out->n);
    if (next_number(ctx, r, "label", -1, INT32_MAX, &label))
        return ctx->code;
    out->labels[node] = (int32_t)label;
    while (*r->word) {
        int64_t feature;
        if (next_number(ctx, r, "feature", 0, most, &feature))
            return ctx->code;
        if (feature <= last)
            return fail_line(ctx, r, "the features do not ascend; list each once, in order");
        out->index[at++] = (int32_t)(last = feature);
    }
    out->p = hn_max(out->p, last + 1);
    out->start[++out->n] = at;
    return HN_OK;
}

static enum hn_code finish_rows(struct hn_context *ctx, const struct reader *r, int64_t stated,
                                struct hn_linqs *out) {
    if (out->n == 0 || out->p == 0)
        return hn_fail(ctx, HN_DATA, "%s: holds no node with a feature", r->path);
    out->p = hn_max(out->p, stated);
    int64_t entries = out->start[out->n];
    out->value = hn_alloc(ctx, entries, sizeof *out->value);
    if (!out->value)
        return ctx->code;
    for (int64_t k = 0; k < entries; k++)
        out->value[k] = 1;
    out->features = (struct hn_features){
        .n = out->n, .p = out->p, .start = out->start, .index = out->index, .value = out->value};
    return HN_OK;
}

static enum hn_code read_features(struct hn_context *ctx, const char *folder,
                                  struct hn_linqs *out) {
    struct reader r;
    int64_t stated = 0;
    enum hn_code code = open_reader(ctx, folder, out->name, ".features", &r);
    if (!code)
        code = take_rows(ctx, &r, out);
    while (!code && next_line(&r)) {
        if (*r.word == '#')
            read_comment(&r, &stated);
        else
            code = read_node(ctx, &r, out, stated);
    }
    if (!code)
        code = finish_rows(ctx, &r, stated, out);
    close_reader(ctx, &r);
    return code;
}

static enum hn_code read_ends(struct hn_context *ctx, struct reader *r, int64_t n, int32_t *from,
                              int32_t *to) {
    int64_t u, v;
    if (next_number(ctx, r, "first node", 0, n - 1, &u) ||
        next_number(ctx, r, "second node", 0, n - 1, &v) || end_line(ctx, r))
        return ctx->code;
    *from = (int32_t)u;
    *to = (int32_t)v;
    return HN_OK;
}

static enum hn_code read_edges(struct hn_context *ctx, const char *folder, struct hn_linqs *out) {
    struct reader r;
    int32_t *from = NULL, *to = NULL;
    int64_t edges = 0;
    enum hn_code code = open_reader(ctx, folder, out->name, ".edges", &r);
    if (!code && (!(from = hn_alloc(ctx, r.lines, sizeof *from)) ||
                  !(to = hn_alloc(ctx, r.lines, sizeof *to))))
        code = ctx->code;
    while (!code && next_line(&r)) {
        if (*r.word == '#')
            continue;
        code = read_ends(ctx, &r, out->n, from + edges, to + edges);
        edges++;
    }
    if (!code)
        code = hn_graph_symmetric(ctx, out->n, edges, from, to, &out->graph);
    hn_free(ctx, from);
    hn_free(ctx, to);
    close_reader(ctx, &r);
    return code;
}

static enum hn_code read_part(struct hn_context *ctx, struct reader *r, struct hn_linqs *out) {
    static const char *const part[] = {"none", "train", "val", "test"};
    int64_t node;
    if (next_number(ctx, r, "node", 0, out->n - 1, &node))
        return ctx->code;
    const char *word = next_word(r);
    for (int k = 0; word && k < 4; k++)
        if (strcmp(word, part[k]) == 0) {
            out->split[node] = (int8_t)(k - 1);
            return end_line(ctx, r);
        }
    return fail_line(ctx, r, "after the node comes train, val, test or none");
}

static enum hn_code read_split(struct hn_context *ctx, const char *folder, struct hn_linqs *out) {
    struct stat about;
    char *path = hn_format(ctx, "%s/%s.split", folder, out->name);
    if (!path)
        return ctx->code;
    bool there = stat(path, &about) == 0;
    hn_free(ctx, path);
    if (!there)
        return HN_OK;
    struct reader r;
    enum hn_code code = open_reader(ctx, folder, out->name, ".split", &r);
    if (!code && !(out->split = hn_alloc(ctx, out->n, sizeof *out->split)))
        code = ctx->code;
    if (!code)
        memset(out->split, -1, (size_t)out->n);
    while (!code && next_line(&r))
        if (*r.word != '#')
            code = read_part(ctx, &r, out);
    close_reader(ctx, &r);
    return code;
}

// The one NAME.features of the folder.
static enum hn_code find_name(struct hn_context *ctx, const char *folder, char **name) {
    glob_t found;
    char *pattern = hn_format(ctx, "%s/*.features", folder);
    if (!pattern)
        return ctx->code;
    enum hn_code code = HN_OK;
    int status = glob(pattern, 0, NULL, &found);
    hn_free(ctx, pattern);
    if (status != 0 && status != GLOB_NOMATCH)
        return hn_fail(ctx, HN_DATA, "%s: cannot be searched", folder);
    size_t n = status == 0 ? found.gl_pathc : 0;
    if (n == 1) {
        const char *slash = strrchr(found.gl_pathv[0], '/');
        const char *file = slash ? slash + 1 : found.gl_pathv[0];
        *name = hn_format(ctx, "%.*s", (int)(strlen(file) - strlen(".features")), file);
        code = *name ? HN_OK : ctx->code;
    } else {
        code = hn_fail(ctx, HN_DATA, "%s: holds %zu files NAME.features; it should hold one",
                       folder, n);
    }
    if (status == 0)
        globfree(&found);
    return code;
}

enum hn_code hn_linqs_read(struct hn_context *ctx, const char *folder, struct hn_linqs *out) {
    memset(out, 0, sizeof *out);
    enum hn_code code = find_name(ctx, folder, &out->name);
    if (!code)
        code = read_features(ctx, folder, out);
    if (!code)
        code = read_edges(ctx, folder, out);
    if (!code)
        code = read_split(ctx, folder, out);
    if (code)
        hn_linqs_free(ctx, out);
    return code;
}

void hn_linqs_free(struct hn_context *ctx, struct hn_linqs *in) {
    hn_free(ctx, in->name);
    hn_free(ctx, in->labels);
    hn_free(ctx, in->split);
    hn_graph_free(ctx, &in->graph);
    hn_free(ctx, in->start);
    hn_free(ctx, in->index);
    hn_free(ctx, in->value);
    memset(in, 0, sizeof *in);
}
