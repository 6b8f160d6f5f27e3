// The layout in which LINQS gives Cora and Citeseer, documents and classes by name; and what both
// layouts have.
#include "datasets/linqs_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A name, and the number of what has it.
struct named {
    const char *name;
    int64_t number;
};

// Names lie in the text of NAME.content.
struct hn_linqs_names {
    struct hn_text text;
    struct named *node;  // [n] by number, then by name
    struct named *label; // [n] of each node
};

static int by_name(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    return names ? names : (x->number > y->number) - (x->number < y->number);
}

static int is_name(const void *a, const void *b) {
    return strcmp(a, ((const struct named *)b)->name);
}

enum hn_code hn_linqs_capacity(struct hn_context *ctx, const struct hn_text *r,
                               struct hn_linqs *out) {
    int64_t entries = r->bytes / 2 + 1;
    out->labels = hn_alloc(ctx, r->lines, sizeof *out->labels);
    out->start = hn_zalloc(ctx, r->lines + 1, sizeof *out->start);
    out->index = hn_alloc(ctx, entries, sizeof *out->index);
    out->value = hn_alloc(ctx, entries, sizeof *out->value);
    return out->labels && out->start && out->index && out->value ? HN_OK : ctx->code;
}

enum hn_code hn_linqs_finish(struct hn_context *ctx, const struct hn_text *r,
                             struct hn_linqs *out) {
    if (out->n == 0 || out->start[out->n] == 0)
        return hn_fail(ctx, HN_DATA, "%s: holds no node with a feature", r->path);
    int64_t empty = 0;
    for (int64_t i = 0; i < out->n; i++)
        empty += out->start[i + 1] == out->start[i];
    if (empty > 0)
        hn_note_once(ctx, "%s: %lld of %lld nodes have no features: their rows are empty", r->path,
                     (long long)empty, (long long)out->n);
    out->features = (struct hn_features){
        .n = out->n, .p = out->p, .start = out->start, .index = out->index, .value = out->value};
    return HN_OK;
}

static int64_t count_words(const char *line) {
    static const char blanks[] = " \t,";
    int64_t words = 0;
    while (*(line += strspn(line, blanks))) {
        words++;
        line += strcspn(line, blanks);
    }
    return words;
}

static enum hn_code read_feature(struct hn_context *ctx, struct hn_text *r, int64_t feature,
                                 int64_t *at, struct hn_linqs *out) {
    const char *word = hn_text_word(r);
    char *end;
    double value = word ? strtod(word, &end) : NAN;
    if (!word || end == word || *end || !(value >= 0) || value > 1e30)
        return hn_fail(ctx, HN_DATA, "%s: line %lld: feature %lld is '%.40s', not a number from 0",
                       r->path, (long long)r->number, (long long)feature + 1, word ? word : "");
    if ((float)value <= 0)
        return HN_OK;
    out->index[*at] = (int32_t)feature;
    out->value[(*at)++] = (float)value;
    return HN_OK;
}

// A name, as many features as all others, a label.
static enum hn_code read_document(struct hn_context *ctx, struct hn_linqs_names *names,
                                  struct hn_linqs *out) {
    struct hn_text *r = &names->text;
    int64_t features = count_words(r->word) - 2, at = out->start[out->n];
    if (out->n == 0)
        out->p = features;
    if (features < 1 || features > HN_LINQS_FEATURES_MAX)
        return hn_text_fail(ctx, r, "wants a name, at least one feature and a label");
    if (features != out->p)
        return hn_fail(ctx, HN_DATA, "%s: line %lld: holds %lld features, but the first has %lld",
                       r->path, (long long)r->number, (long long)features, (long long)out->p);
    names->node[out->n] = (struct named){hn_text_word(r), out->n};
    for (int64_t k = 0; k < features; k++)
        if (read_feature(ctx, r, k, &at, out))
            return ctx->code;
    names->label[out->n] = (struct named){hn_text_word(r), out->n};
    out->start[++out->n] = at;
    return HN_OK;
}

// Classes are numbered from 0 in the order of their names.
static enum hn_code number_names(struct hn_context *ctx, struct hn_linqs_names *names,
                                 struct hn_linqs *out) {
    int32_t label = -1;
    qsort(names->label, (size_t)out->n, sizeof *names->label, by_name);
    for (int64_t i = 0; i < out->n; i++) {
        label += i == 0 || strcmp(names->label[i].name, names->label[i - 1].name) != 0;
        out->labels[names->label[i].number] = label;
    }
    qsort(names->node, (size_t)out->n, sizeof *names->node, by_name);
    for (int64_t i = 1; i < out->n; i++)
        if (strcmp(names->node[i].name, names->node[i - 1].name) == 0)
            return hn_fail(ctx, HN_DATA, "%s: document '%.40s' is there twice", names->text.path,
                           names->node[i].name);
    return HN_OK;
}

// The number of a document, or -1.
static int64_t find_node(const struct hn_linqs_names *names, int64_t n, const char *name) {
    const struct named *found = bsearch(name, names->node, (size_t)n, sizeof *names->node, is_name);
    return found ? found->number : -1;
}

// Documents that only the citations name have neither features nor a label: Citeseer has some.
static enum hn_code read_cites(struct hn_context *ctx, const char *folder,
                               const struct hn_linqs_names *names, struct hn_linqs *out) {
    struct hn_text r;
    int64_t edges = 0, unknown = 0;
    HN_SCOPE(ctx);
    if (hn_text_open(ctx, folder, out->name, ".cites", &r))
        return ctx->code;
    int32_t *from = hn_alloc(ctx, r.lines, sizeof *from), *to = hn_alloc(ctx, r.lines, sizeof *to);
    if (!from || !to)
        return ctx->code;
    while (hn_text_line(&r)) {
        const char *u = hn_text_word(&r), *v = hn_text_word(&r);
        if (!v)
            return hn_text_fail(ctx, &r, "wants two documents");
        if (hn_text_end(ctx, &r))
            return ctx->code;
        int64_t a = find_node(names, out->n, u), b = find_node(names, out->n, v);
        unknown += a < 0 || b < 0;
        if (a < 0 || b < 0)
            continue;
        from[edges] = (int32_t)a;
        to[edges++] = (int32_t)b;
    }
    if (unknown > 0)
        hn_note_once(
            ctx,
            "%s: %lld of %lld citations name documents that %s.content lacks; they are left out",
            r.path, (long long)unknown, (long long)(unknown + edges), out->name);
    hn_own(ctx, scope.outer);
    return hn_graph_symmetric(ctx, out->n, edges, from, to, &out->graph);
}

static enum hn_code read_part(struct hn_context *ctx, struct hn_text *r, int64_t node,
                              struct hn_linqs *out) {
    static const char *const part[] = {"none", "train", "val", "test"};
    const char *word = hn_text_word(r);
    for (int k = 0; word && k < 4; k++)
        if (strcmp(word, part[k]) == 0) {
            out->split[node] = (int8_t)(k - 1);
            return hn_text_end(ctx, r);
        }
    return hn_text_fail(ctx, r, "after the node comes train, val, test or none");
}

// The node at the begin of a line.
static enum hn_code read_node(struct hn_context *ctx, struct hn_text *r,
                              const struct hn_linqs_names *names, const struct hn_linqs *out,
                              int64_t *node) {
    if (!names)
        return hn_text_number(ctx, r, "node", 0, out->n - 1, node);
    const char *name = hn_text_word(r);
    *node = find_node(names, out->n, name);
    return *node >= 0
               ? HN_OK
               : hn_fail(ctx, HN_DATA, "%s: line %lld: document '%.40s' is not in %s.content",
                         r->path, (long long)r->number, name, out->name);
}

enum hn_code hn_linqs_read_split(struct hn_context *ctx, const char *folder,
                                 const struct hn_linqs_names *names, struct hn_linqs *out) {
    struct hn_text r;
    bool there;
    int64_t node;
    if (hn_text_there(ctx, folder, out->name, ".split", &there))
        return ctx->code;
    if (!there)
        return HN_OK;
    if (!(out->split = hn_alloc(ctx, out->n, sizeof *out->split)))
        return ctx->code;
    memset(out->split, -1, (size_t)out->n);
    HN_SCOPE(ctx);
    if (hn_text_open(ctx, folder, out->name, ".split", &r))
        return ctx->code;
    while (hn_text_line(&r))
        if (*r.word != '#' &&
            (read_node(ctx, &r, names, out, &node) || read_part(ctx, &r, node, out)))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_linqs_read_content(struct hn_context *ctx, const char *folder,
                                   struct hn_linqs *out) {
    struct hn_linqs_names names;
    struct hn_text *r = &names.text;
    HN_SCOPE(ctx);
    if (hn_text_open(ctx, folder, out->name, ".content", r))
        return ctx->code;
    names.node = hn_alloc(ctx, r->lines, sizeof *names.node);
    names.label = hn_alloc(ctx, r->lines, sizeof *names.label);
    hn_own(ctx, scope.outer);
    if (!names.node || !names.label || hn_linqs_capacity(ctx, r, out))
        return ctx->code;
    while (hn_text_line(r))
        if (*r->word != '#' && read_document(ctx, &names, out))
            return ctx->code;
    if (hn_linqs_finish(ctx, r, out) || number_names(ctx, &names, out) ||
        read_cites(ctx, folder, &names, out))
        return ctx->code;
    return hn_linqs_read_split(ctx, folder, &names, out);
}
