#include "datasets/tudataset.h"
#include "datasets/text.h"

#include <stdlib.h>
#include <string.h>

enum { FOLDS_MAX = 1000 };

// The file NAME<ending>, one number per line, each in [lo, hi] and called `what`: `wanted` of them,
// one for each graph or node. *value [wanted] is the caller's.
struct column {
    const char *ending, *what;
    int64_t lo, hi, wanted;
};

static enum hn_code read_column(struct hn_context *ctx, const struct hn_tudataset *set,
                                const char *folder, const struct column *column, int64_t **value) {
    struct hn_text t;
    int64_t n = 0;
    *value = NULL;
    enum hn_code code = hn_text_open(ctx, folder, set->name, column->ending, &t);
    if (code == HN_OK && !(*value = hn_alloc(ctx, t.lines, sizeof **value)))
        code = ctx->code;
    for (; code == HN_OK && hn_text_line(&t); n++)
        if (hn_text_number(ctx, &t, column->what, column->lo, column->hi, *value + n) ||
            hn_text_end(ctx, &t))
            code = ctx->code;
    if (code == HN_OK && n != column->wanted)
        code =
            hn_fail(ctx, HN_DATA, "%s: holds %lld numbers, but %s_graph_indicator.txt has %lld %s",
                    t.path, (long long)n, set->name, (long long)column->wanted,
                    column->wanted == set->graphs ? "graphs" : "nodes");
    hn_text_close(ctx, &t);
    return code;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// place[count] = rank of each value among the distinct ones, *distinct of them in *sorted.
static enum hn_code number(struct hn_context *ctx, const int64_t *value, int64_t count,
                           int32_t **place, int64_t **sorted, int32_t *distinct) {
    *place = hn_alloc(ctx, count, sizeof **place);
    *sorted = hn_alloc(ctx, count, sizeof **sorted);
    if (!*place || !*sorted)
        return ctx->code;
    memcpy(*sorted, value, (size_t)count * sizeof **sorted);
    qsort(*sorted, (size_t)count, sizeof **sorted, compare);
    *distinct = 0;
    for (int64_t i = 0; i < count; i++)
        if (*distinct == 0 || (*sorted)[i] != (*sorted)[*distinct - 1])
            (*sorted)[(*distinct)++] = (*sorted)[i];
    for (int64_t i = 0; i < count; i++) {
        const int64_t *found =
            bsearch(&value[i], *sorted, (size_t)*distinct, sizeof **sorted, compare);
        (*place)[i] = found ? (int32_t)(found - *sorted) : 0;
    }
    return HN_OK;
}

static enum hn_code read_indicator(struct hn_context *ctx, const char *folder,
                                   struct hn_tudataset *out) {
    struct hn_text t;
    int64_t graph;
    enum hn_code code = hn_text_open(ctx, folder, out->name, "_graph_indicator.txt", &t);
    if (code == HN_OK && !(out->start = hn_alloc(ctx, t.lines + 1, sizeof *out->start)))
        code = ctx->code;
    while (code == HN_OK && hn_text_line(&t)) {
        // The graph of the node before, or the next one: so that no graph is without nodes.
        code = hn_text_number(ctx, &t, "graph", hn_max(1, out->graphs), out->graphs + 1, &graph);
        if (code == HN_OK && graph > out->graphs)
            out->start[out->graphs++] = out->nodes;
        if (code == HN_OK)
            code = hn_text_end(ctx, &t);
        out->nodes++;
    }
    if (code == HN_OK && (out->nodes == 0 || out->nodes >= INT32_MAX))
        code = hn_fail(ctx, HN_DATA, "%s: holds %lld nodes", t.path, (long long)out->nodes);
    if (code == HN_OK)
        out->start[out->graphs] = out->nodes;
    hn_text_close(ctx, &t);
    return code;
}

static int64_t graph_of(const struct hn_tudataset *set, int64_t node) {
    int64_t lo = 0, hi = set->graphs;
    while (hi - lo > 1) {
        int64_t middle = lo + (hi - lo) / 2;
        if (set->start[middle] <= node)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

static enum hn_code check_edge(struct hn_context *ctx, const struct hn_text *t, const void *data,
                               int64_t from, int64_t to) {
    int64_t own = graph_of(data, from), other = graph_of(data, to);
    return own == other ? HN_OK
                        : hn_fail(ctx, HN_DATA,
                                  "%s: line %lld: an edge between node %lld of graph %lld and node "
                                  "%lld of graph %lld",
                                  t->path, (long long)t->number, (long long)from + 1,
                                  (long long)own + 1, (long long)to + 1, (long long)other + 1);
}

static enum hn_code read_edges(struct hn_context *ctx, const char *folder,
                               struct hn_tudataset *out) {
    const struct hn_edge_rules rules = {
        .first = 1, .n = out->nodes, .check = check_edge, .data = out};
    return hn_text_edges(ctx, folder, out->name, "_A.txt", &rules, &out->edges);
}

// Labels, numbered from 0; *value: those in the file.
static enum hn_code read_labels(struct hn_context *ctx, const struct hn_tudataset *set,
                                const char *folder, const char *ending, int64_t wanted,
                                int32_t **label, int64_t **value, int32_t *distinct) {
    const struct column column = {ending, "label", INT64_MIN, INT64_MAX, wanted};
    int64_t *each;
    enum hn_code code = read_column(ctx, set, folder, &column, &each);
    if (code == HN_OK)
        code = number(ctx, each, wanted, label, value, distinct);
    hn_free(ctx, each);
    return code;
}

static enum hn_code read_node_labels(struct hn_context *ctx, const char *folder,
                                     struct hn_tudataset *out) {
    int64_t *value = NULL;
    enum hn_code code = read_labels(ctx, out, folder, "_node_labels.txt", out->nodes,
                                    &out->node_label, &value, &out->node_labels);
    hn_free(ctx, value);
    return code;
}

static enum hn_code read_folds(struct hn_context *ctx, const char *folder,
                               struct hn_tudataset *out) {
    const struct column column = {"_folds.txt", "fold", 0, FOLDS_MAX, out->graphs};
    int64_t *value;
    enum hn_code code = read_column(ctx, out, folder, &column, &value);
    if (code == HN_OK && !(out->fold = hn_alloc(ctx, out->graphs, sizeof *out->fold)))
        code = ctx->code;
    for (int64_t i = 0; code == HN_OK && i < out->graphs; i++) {
        out->fold[i] = (int32_t)value[i] - 1;
        out->folds = value[i] > out->folds ? (int32_t)value[i] : out->folds;
    }
    hn_free(ctx, value);
    return code;
}

enum hn_code hn_tudataset_read(struct hn_context *ctx, const char *folder,
                               struct hn_tudataset *out) {
    memset(out, 0, sizeof *out);
    bool node_labels = false, folds = false;
    if (!hn_text_find(ctx, folder, "_A.txt", &out->name) && !read_indicator(ctx, folder, out) &&
        !read_edges(ctx, folder, out) &&
        !read_labels(ctx, out, folder, "_graph_labels.txt", out->graphs, &out->label,
                     &out->label_value, &out->classes) &&
        !hn_text_there(ctx, folder, out->name, "_node_labels.txt", &node_labels) &&
        !(node_labels && read_node_labels(ctx, folder, out)) &&
        !hn_text_there(ctx, folder, out->name, "_folds.txt", &folds) &&
        !(folds && read_folds(ctx, folder, out)))
        return HN_OK;
    hn_tudataset_free(ctx, out);
    return ctx->code;
}

void hn_tudataset_free(struct hn_context *ctx, struct hn_tudataset *in) {
    hn_free(ctx, in->name);
    hn_free(ctx, in->start);
    hn_graph_free(ctx, &in->edges);
    hn_free(ctx, in->label);
    hn_free(ctx, in->label_value);
    hn_free(ctx, in->node_label);
    hn_free(ctx, in->fold);
    memset(in, 0, sizeof *in);
}
