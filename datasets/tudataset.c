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
    HN_SCOPE(ctx);
    if (hn_text_open(ctx, folder, set->name, column->ending, &t))
        return ctx->code;
    hn_own(ctx, scope.outer);
    *value = hn_alloc(ctx, t.lines, sizeof **value);
    if (!*value)
        return ctx->code;
    for (; hn_text_line(&t); n++)
        if (hn_text_number(ctx, &t, column->what, column->lo, column->hi, *value + n) ||
            hn_text_end(ctx, &t))
            return ctx->code;
    if (n == column->wanted)
        return HN_OK;
    return hn_fail(ctx, HN_DATA, "%s: holds %lld numbers, but %s_graph_indicator.txt has %lld %s",
                   t.path, (long long)n, set->name, (long long)column->wanted,
                   column->wanted == set->graphs ? "graphs" : "nodes");
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// place[count] = rank of each value among the *distinct ones.
static enum hn_code number(struct hn_context *ctx, const int64_t *value, int64_t count,
                           int32_t *place, int32_t *distinct) {
    int64_t *sorted = hn_alloc(ctx, count, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    memcpy(sorted, value, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    *distinct = 0;
    for (int64_t i = 0; i < count; i++)
        if (*distinct == 0 || sorted[i] != sorted[*distinct - 1])
            sorted[(*distinct)++] = sorted[i];
    for (int64_t i = 0; i < count; i++) {
        const int64_t *found =
            bsearch(&value[i], sorted, (size_t)*distinct, sizeof *sorted, compare);
        place[i] = found ? (int32_t)(found - sorted) : 0;
    }
    return HN_OK;
}

static enum hn_code read_indicator(struct hn_context *ctx, const char *folder,
                                   struct hn_tudataset *out) {
    struct hn_text t;
    int64_t graph;
    HN_SCOPE(ctx);
    if (hn_text_open(ctx, folder, out->name, "_graph_indicator.txt", &t))
        return ctx->code;
    hn_own(ctx, scope.outer);
    if (!(out->start = hn_alloc(ctx, t.lines + 1, sizeof *out->start)))
        return ctx->code;
    for (; hn_text_line(&t); out->nodes++) {
        // The graph of the node before, or the next one: so that no graph is without nodes.
        if (hn_text_number(ctx, &t, "graph", hn_max(1, out->graphs), out->graphs + 1, &graph) ||
            hn_text_end(ctx, &t))
            return ctx->code;
        if (graph > out->graphs)
            out->start[out->graphs++] = out->nodes;
    }
    if (out->nodes == 0 || out->nodes >= INT32_MAX)
        return hn_fail(ctx, HN_DATA, "%s: holds %lld nodes", t.path, (long long)out->nodes);
    out->start[out->graphs] = out->nodes;
    return HN_OK;
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

// Labels, numbered from 0.
static enum hn_code read_labels(struct hn_context *ctx, const struct hn_tudataset *set,
                                const char *folder, const char *ending, int64_t wanted,
                                int32_t **label, int32_t *distinct) {
    const struct column column = {ending, "label", INT64_MIN, INT64_MAX, wanted};
    int64_t *value;
    if (!(*label = hn_alloc(ctx, wanted, sizeof **label)))
        return ctx->code;
    HN_SCOPE(ctx);
    return read_column(ctx, set, folder, &column, &value) ||
                   number(ctx, value, wanted, *label, distinct)
               ? ctx->code
               : HN_OK;
}

static enum hn_code read_folds(struct hn_context *ctx, const char *folder,
                               struct hn_tudataset *out) {
    const struct column column = {"_folds.txt", "fold", 0, FOLDS_MAX, out->graphs};
    int64_t *value;
    if (!(out->fold = hn_alloc(ctx, out->graphs, sizeof *out->fold)))
        return ctx->code;
    HN_SCOPE(ctx);
    if (read_column(ctx, out, folder, &column, &value))
        return ctx->code;
    for (int64_t i = 0; i < out->graphs; i++) {
        out->fold[i] = (int32_t)value[i] - 1;
        out->folds = value[i] > out->folds ? (int32_t)value[i] : out->folds;
    }
    return HN_OK;
}

enum hn_code hn_tudataset_read(struct hn_context *ctx, const char *folder,
                               struct hn_tudataset *out) {
    memset(out, 0, sizeof *out);
    bool node_labels = false, folds = false;
    if (hn_text_find(ctx, folder, "_A.txt", &out->name) || read_indicator(ctx, folder, out) ||
        read_edges(ctx, folder, out) ||
        read_labels(ctx, out, folder, "_graph_labels.txt", out->graphs, &out->label,
                    &out->classes) ||
        hn_text_there(ctx, folder, out->name, "_node_labels.txt", &node_labels) ||
        (node_labels && read_labels(ctx, out, folder, "_node_labels.txt", out->nodes,
                                    &out->node_label, &out->node_labels)) ||
        hn_text_there(ctx, folder, out->name, "_folds.txt", &folds) ||
        (folds && read_folds(ctx, folder, out)))
        return ctx->code;
    return HN_OK;
}
