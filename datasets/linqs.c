// SPDX-License-Identifier: GPL-3.0-or-later
// Reads folders of LINQS: documents with words and labels, and the citations between them.
#include "datasets/linqs.h"
#include "core/real_text.h"
#include "core/text.h"
#include "datasets/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES_MAX = 1 << 20 };

// A folder in work. Names lie in the text of NAME.content.
struct reader {
    const char *folder;
    struct hn_linqs *out;
    struct hn_text nodes;   // NAME.features or NAME.content
    struct hn_named *node;  // [n] by number, then by name; NULL: nodes are numbers
    struct hn_named *label; // [n] of each node
    int64_t stated;         // features, of a comment; 0: it does not say
};

// features=P of a comment, if it is there.
static void read_comment(struct reader *r) {
    const char *found = strstr(r->nodes.word, "features=");
    long long value = found ? strtoll(found + strlen("features="), NULL, 10) : 0;
    if (value >= 1 && value <= FEATURES_MAX)
        r->stated = value;
}

static enum hn_code read_numbers(struct hn_context *ctx, struct reader *r) {
    struct hn_linqs *out = r->out;
    struct hn_text *t = &r->nodes;
    int64_t node, label, last = -1, at = out->start[out->n];
    int64_t max = r->stated ? r->stated - 1 : FEATURES_MAX - 1;
    if (hn_text_number(ctx, t, "node", 0, INT32_MAX - 1, &node))
        return ctx->code;
    if (node != out->n)
        return hn_line_fail(ctx, &t->at,
                            "node %lld where node %lld should be; list them in order, from 0",
                            (long long)node, (long long)out->n);
    if (hn_text_number(ctx, t, "label", -1, INT32_MAX, &label))
        return ctx->code;
    out->labels[node] = (int32_t)label;
    while (*t->word) {
        int64_t feature;
        if (hn_text_number(ctx, t, "feature", 0, max, &feature))
            return ctx->code;
        if (feature <= last)
            return hn_line_fail(ctx, &t->at,
                                "the features do not ascend; list each once, in order");
        out->value[at] = 1;
        out->index[at++] = (int32_t)(last = feature);
    }
    out->p = hn_max(out->p, last + 1);
    out->start[++out->n] = at;
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

static enum hn_code read_feature(struct hn_context *ctx, struct reader *r, int64_t feature,
                                 int64_t *at) {
    const char *word = hn_text_word(&r->nodes);
    char *end;
    double value = word ? strtod(word, &end) : NAN;
    if (!word || end == word || *end || hn_is_hex(word) || !(value >= 0) || value > 1e30)
        return hn_line_fail(ctx, &r->nodes.at, "feature %lld is '%s', not a number from 0",
                            (long long)feature + 1, hn_quote(word ? word : "").text);
    if ((float)value <= 0)
        return HN_OK;
    r->out->index[*at] = (int32_t)feature;
    r->out->value[(*at)++] = (float)value;
    return HN_OK;
}

// A name, as many features as all others, a label.
static enum hn_code read_document(struct hn_context *ctx, struct reader *r) {
    struct hn_linqs *out = r->out;
    struct hn_text *t = &r->nodes;
    int64_t features = count_words(t->word) - 2, at = out->start[out->n];
    if (out->n == 0)
        out->p = features;
    if (features < 1 || features > FEATURES_MAX)
        return hn_line_fail(ctx, &t->at, "wants a name, at least one feature and a label");
    if (features != out->p)
        return hn_line_fail(ctx, &t->at, "holds %lld features, but the first has %lld",
                            (long long)features, (long long)out->p);
    r->node[out->n] = (struct hn_named){hn_text_word(t), out->n};
    for (int64_t k = 0; k < features; k++)
        if (read_feature(ctx, r, k, &at))
            return ctx->code;
    r->label[out->n] = (struct hn_named){hn_text_word(t), out->n};
    out->start[++out->n] = at;
    return HN_OK;
}

// Space for what the file could hold at most: a node takes a line, a feature two bytes.
static enum hn_code ensure_capacity(struct hn_context *ctx, const struct hn_text *t,
                                    struct hn_linqs *out) {
    int64_t entries = t->bytes / 2 + 1;
    bool good = HN_ALLOC(ctx, out->labels, t->lines) && HN_ZALLOC(ctx, out->start, t->lines + 1) &&
                HN_ALLOC(ctx, out->index, entries) && HN_ALLOC(ctx, out->value, entries);
    return good ? HN_OK : ctx->code;
}

static enum hn_code read_nodes(struct hn_context *ctx, struct reader *r) {
    struct hn_linqs *out = r->out;
    struct hn_text *t = &r->nodes;
    int64_t empty = 0;
    while (hn_text_line(t))
        if (*t->word == '#')
            read_comment(r);
        else if (r->node ? read_document(ctx, r) : read_numbers(ctx, r))
            return ctx->code;
    out->p = r->node ? out->p : hn_max(out->p, r->stated);
    if (out->n == 0 || out->start[out->n] == 0)
        return hn_fail(ctx, HN_DATA, "%s: holds no node with a feature", t->at.path);
    for (int64_t i = 0; i < out->n; i++)
        empty += out->start[i + 1] == out->start[i];
    if (empty > 0)
        hn_note_once(ctx, "%s: %lld of %lld nodes have no features: their rows are empty",
                     t->at.path, (long long)empty, (long long)out->n);
    out->features = (struct hn_features){
        .n = out->n, .p = out->p, .start = out->start, .index = out->index, .value = out->value};
    return HN_OK;
}

// Classes are numbered from 0 in the order of their names.
static enum hn_code number_names(struct hn_context *ctx, struct reader *r) {
    int64_t n = r->out->n;
    int32_t label = -1;
    hn_named_sort(r->label, n);
    for (int64_t i = 0; i < n; i++) {
        label += i == 0 || strcmp(r->label[i].text, r->label[i - 1].text) != 0;
        r->out->labels[r->label[i].number] = label;
    }
    hn_named_sort(r->node, n);
    for (int64_t i = 1; i < n; i++)
        if (strcmp(r->node[i].text, r->node[i - 1].text) == 0)
            return hn_fail(ctx, HN_DATA, "%s: document '%s' is there twice", r->nodes.at.path,
                           hn_quote(r->node[i].text).text);
    return HN_OK;
}

// Documents that only the citations name have neither features nor a label: Citeseer has some.
static enum hn_code read_cites(struct hn_context *ctx, const struct reader *r) {
    struct hn_linqs *out = r->out;
    struct hn_text t;
    int64_t edges = 0, unknown = 0;
    HN_SCOPE(ctx);
    if (hn_text_open(ctx, r->folder, out->name, ".cites", &t))
        return ctx->code;
    int32_t *from = hn_alloc(ctx, t.lines, sizeof *from), *to = hn_alloc(ctx, t.lines, sizeof *to);
    if (!from || !to)
        return ctx->code;
    while (hn_text_line(&t)) {
        const char *u = hn_text_word(&t), *v = hn_text_word(&t);
        if (!v)
            return hn_line_fail(ctx, &t.at, "wants two documents");
        if (hn_text_end(ctx, &t))
            return ctx->code;
        int64_t a = hn_named_find(r->node, out->n, u), b = hn_named_find(r->node, out->n, v);
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
            t.at.path, (long long)unknown, (long long)(unknown + edges), out->name);
    hn_own(ctx, scope.outer);
    return hn_graph_symmetric(ctx, out->n, edges, from, to, &out->graph);
}

static enum hn_code read_part(struct hn_context *ctx, struct hn_text *t, int8_t *split) {
    static const char *const part[] = {"none", "train", "val", "test"};
    const char *word = hn_text_word(t);
    for (int k = 0; word && k < 4; k++)
        if (strcmp(word, part[k]) == 0) {
            *split = (int8_t)(k - 1);
            return hn_text_end(ctx, t);
        }
    return hn_line_fail(ctx, &t->at, "after the node comes train, val, test or none");
}

// The node at the begin of a line.
static enum hn_code read_node(struct hn_context *ctx, struct hn_text *t, const struct reader *r,
                              int64_t *node) {
    if (!r->node)
        return hn_text_number(ctx, t, "node", 0, r->out->n - 1, node);
    const char *name = hn_text_word(t);
    *node = hn_named_find(r->node, r->out->n, name);
    return *node >= 0 ? HN_OK
                      : hn_line_fail(ctx, &t->at, "document '%s' is not in %s.content",
                                     hn_quote(name).text, r->out->name);
}

static enum hn_code read_split(struct hn_context *ctx, const struct reader *r) {
    struct hn_linqs *out = r->out;
    struct hn_text t;
    bool there;
    int64_t node;
    if (hn_text_there(ctx, r->folder, out->name, ".split", &there))
        return ctx->code;
    if (!there)
        return HN_OK;
    if (!HN_ALLOC(ctx, out->split, out->n))
        return ctx->code;
    memset(out->split, -1, (size_t)out->n);
    HN_SCOPE(ctx);
    if (hn_text_open(ctx, r->folder, out->name, ".split", &t))
        return ctx->code;
    while (hn_text_line(&t))
        if (*t.word != '#' &&
            (read_node(ctx, &t, r, &node) || read_part(ctx, &t, &out->split[node])))
            return ctx->code;
    return HN_OK;
}

enum hn_code hn_linqs_read(struct hn_context *ctx, const char *folder, struct hn_linqs *out) {
    struct reader r = {.folder = folder, .out = out};
    struct hn_text *t = &r.nodes;
    memset(out, 0, sizeof *out);
    if (hn_text_find(ctx, folder, ".content", true, &out->name))
        return ctx->code;
    bool names = out->name != NULL;
    if (!names && hn_text_find(ctx, folder, ".features", false, &out->name))
        return ctx->code;
    HN_SCOPE(ctx);
    if (hn_text_open(ctx, folder, out->name, names ? ".content" : ".features", t))
        return ctx->code;
    if (names && (!HN_ALLOC(ctx, r.node, t->lines) || !HN_ALLOC(ctx, r.label, t->lines)))
        return ctx->code;
    hn_own(ctx, scope.outer);
    if (ensure_capacity(ctx, t, out) || read_nodes(ctx, &r))
        return ctx->code;
    const struct hn_edge_rules rules = {.n = out->n, .comments = true};
    if (names ? number_names(ctx, &r) || read_cites(ctx, &r)
              : hn_text_edges(ctx, folder, out->name, ".edges", &rules, &out->graph))
        return ctx->code;
    return read_split(ctx, &r);
}
