#include "datasets/tudataset.h"
#include "datasets/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLDS_MAX = 1000 };

// A whole number per line, each in [lo, hi], called `what`; no more than `most` of them.
static enum hn_code read_column(struct hn_context *ctx, struct hn_text *t, const char *what,
                                int64_t lo, int64_t hi, int64_t *value, int64_t *count) {
    enum hn_code code = HN_OK;
    for (*count = 0; code == HN_OK && hn_text_line(t); ++*count) {
        code = hn_text_number(ctx, t, what, lo, hi, &value[*count]);
        if (code == HN_OK)
            code = hn_text_end(ctx, t);
    }
    return code;
}

// The file NAME<ending>, one number per line. *value [count] is the caller's.
static enum hn_code read_file(struct hn_context *ctx, const char *folder, const char *name,
                              const char *ending, const char *what, int64_t lo, int64_t hi,
                              int64_t **value, int64_t *count) {
    struct hn_text t;
    *value = NULL;
    enum hn_code code = hn_text_open(ctx, folder, name, ending, &t);
    if (code == HN_OK && !(*value = hn_alloc(ctx, t.lines, sizeof **value)))
        code = ctx->code;
    if (code == HN_OK)
        code = read_column(ctx, &t, what, lo, hi, *value, count);
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

static enum hn_code read_edge(struct hn_context *ctx, struct hn_text *t,
                              const struct hn_tudataset *set, int32_t *from, int32_t *to) {
    int64_t u, v;
    if (hn_text_number(ctx, t, "first node", 1, set->nodes, &u) ||
        hn_text_number(ctx, t, "second node", 1, set->nodes, &v) || hn_text_end(ctx, t))
        return ctx->code;
    *from = (int32_t)(u - 1);
    *to = (int32_t)(v - 1);
    int64_t own = graph_of(set, u - 1), other = graph_of(set, v - 1);
    return own == other ? HN_OK
                        : hn_fail(ctx, HN_DATA,
                                  "%s: line %lld: an edge between node %lld of graph %lld and node "
                                  "%lld of graph %lld",
                                  t->path, (long long)t->number, (long long)u, (long long)own + 1,
                                  (long long)v, (long long)other + 1);
}

static enum hn_code read_edges(struct hn_context *ctx, const char *folder,
                               struct hn_tudataset *out) {
    struct hn_text t;
    int32_t *from = NULL, *to = NULL;
    int64_t count = 0;
    enum hn_code code = hn_text_open(ctx, folder, out->name, "_A.txt", &t);
    if (code == HN_OK && (!(from = hn_alloc(ctx, t.lines, sizeof *from)) ||
                          !(to = hn_alloc(ctx, t.lines, sizeof *to))))
        code = hn_failure(ctx);
    while (code == HN_OK && hn_text_line(&t)) {
        code = read_edge(ctx, &t, out, &from[count], &to[count]);
        count++;
    }
    if (code == HN_OK)
        code = hn_graph_symmetric(ctx, out->nodes, count, from, to, &out->edges);
    hn_free(ctx, from);
    hn_free(ctx, to);
    hn_text_close(ctx, &t);
    return code;
}

static enum hn_code check_count(struct hn_context *ctx, const struct hn_tudataset *set,
                                const char *folder, const char *ending, int64_t count,
                                int64_t wanted) {
    return count == wanted ? HN_OK
                           : hn_fail(ctx, HN_DATA,
                                     "%s/%s%s: holds %lld numbers, but %s_graph_indicator.txt has "
                                     "%lld %s",
                                     folder, set->name, ending, (long long)count, set->name,
                                     (long long)wanted, wanted == set->graphs ? "graphs" : "nodes");
}

static enum hn_code read_labels(struct hn_context *ctx, const char *folder,
                                struct hn_tudataset *out) {
    static const char ending[] = "_graph_labels.txt";
    int64_t *value, count = 0;
    enum hn_code code =
        read_file(ctx, folder, out->name, ending, "label", INT64_MIN, INT64_MAX, &value, &count);
    if (code == HN_OK)
        code = check_count(ctx, out, folder, ending, count, out->graphs);
    if (code == HN_OK)
        code = number(ctx, value, count, &out->label, &out->label_value, &out->classes);
    hn_free(ctx, value);
    return code;
}

// Reads an optional file if it is there.
static enum hn_code read_optional(struct hn_context *ctx, const char *folder, const char *ending,
                                  enum hn_code (*read)(struct hn_context *ctx, const char *folder,
                                                       struct hn_tudataset *out),
                                  struct hn_tudataset *out) {
    struct stat about;
    char *path = hn_format(ctx, "%s/%s%s", folder, out->name, ending);
    if (!path)
        return ctx->code;
    bool there = stat(path, &about) == 0;
    hn_free(ctx, path);
    return there ? read(ctx, folder, out) : HN_OK;
}

static enum hn_code read_node_labels(struct hn_context *ctx, const char *folder,
                                     struct hn_tudataset *out) {
    static const char ending[] = "_node_labels.txt";
    int64_t *value, *sorted = NULL, count = 0;
    enum hn_code code =
        read_file(ctx, folder, out->name, ending, "label", INT64_MIN, INT64_MAX, &value, &count);
    if (code == HN_OK)
        code = check_count(ctx, out, folder, ending, count, out->nodes);
    if (code == HN_OK)
        code = number(ctx, value, count, &out->node_label, &sorted, &out->node_labels);
    hn_free(ctx, value);
    hn_free(ctx, sorted);
    return code;
}

static enum hn_code read_folds(struct hn_context *ctx, const char *folder,
                               struct hn_tudataset *out) {
    static const char ending[] = "_folds.txt";
    int64_t *value, count = 0;
    enum hn_code code =
        read_file(ctx, folder, out->name, ending, "fold", 0, FOLDS_MAX, &value, &count);
    if (code == HN_OK)
        code = check_count(ctx, out, folder, ending, count, out->graphs);
    if (code == HN_OK && !(out->fold = hn_alloc(ctx, count, sizeof *out->fold)))
        code = ctx->code;
    for (int64_t i = 0; code == HN_OK && i < count; i++) {
        out->fold[i] = (int32_t)value[i] - 1;
        out->folds = value[i] > out->folds ? (int32_t)value[i] : out->folds;
    }
    hn_free(ctx, value);
    return code;
}

enum hn_code hn_tudataset_read(struct hn_context *ctx, const char *folder,
                               struct hn_tudataset *out) {
    memset(out, 0, sizeof *out);
    enum hn_code code = hn_text_find(ctx, folder, "_A.txt", &out->name);
    if (code == HN_OK)
        code = read_indicator(ctx, folder, out);
    if (code == HN_OK)
        code = read_edges(ctx, folder, out);
    if (code == HN_OK)
        code = read_labels(ctx, folder, out);
    if (code == HN_OK)
        code = read_optional(ctx, folder, "_node_labels.txt", read_node_labels, out);
    if (code == HN_OK)
        code = read_optional(ctx, folder, "_folds.txt", read_folds, out);
    if (code != HN_OK)
        hn_tudataset_free(ctx, out);
    return code;
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
