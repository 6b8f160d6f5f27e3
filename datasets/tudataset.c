// SPDX-License-Identifier: GPL-3.0-or-later
// Reads graphs in the layout of TUDataset.
#include "datasets/tudataset.h"
#include "core/numbers.h"
#include "core/text.h"
#include "datasets/text.h"

#include <string.h>

enum { FOLDS_MAX = 1000 };

// The file NAME<ending>: a line for each node or graph with as many numbers on each.
struct column {
    const char *ending, *what; // `what`: a number in messages
    int64_t lo, hi;            // of whole numbers
    const char *remedy;        // where a line is no such number
    bool several;              // numbers on a line
    bool real;
};
static const char one_class[] =
    "labels are classes, one whole number a line: sort measured values into classes, and keep one "
    "of several columns";
static const char no_class[] =
    "labels are whole numbers; measured values belong in NAME_node_attributes.txt, which task "
    "graph reads with attributes: true";

// Numbers of a file by line; the caller's.
struct numbers {
    int64_t *whole; // [lines x columns], or
    float *real;
    int64_t lines, columns;
};

static enum hn_code read_number(struct hn_context *ctx, struct hn_text *t,
                                const struct column *column, int64_t at, struct numbers *out) {
    double value = 0;
    if (!column->real)
        return hn_text_number(ctx, t, column->what, column->lo, column->hi, out->whole + at);
    enum hn_code code = hn_text_real(ctx, t, column->what, &value);
    out->real[at] = (float)value;
    return code;
}

// One line; the first one says how many numbers there are on each.
static enum hn_code read_numbers(struct hn_context *ctx, struct hn_text *t,
                                 const struct column *column, struct numbers *out) {
    int64_t n = 0;
    do {
        if (read_number(ctx, t, column, out->lines * out->columns + n, out))
            return ctx->code;
        n++;
    } while (*t->word && column->several && (out->lines == 0 || n < out->columns));
    out->columns = out->lines == 0 ? n : out->columns;
    if (n < out->columns)
        return hn_line_fail(ctx, &t->at, "holds %s, line 1 holds %lld",
                            hn_counted(n, "number").text, (long long)out->columns);
    return hn_text_end(ctx, t);
}

// A number takes a character at least, and one between it and the next.
static enum hn_code take_numbers(struct hn_context *ctx, const struct column *column,
                                 const struct hn_text *t, struct numbers *out) {
    int64_t max = column->several ? t->bytes / 2 + 1 : t->lines;
    bool good = column->real ? HN_ALLOC(ctx, out->real, max) : HN_ALLOC(ctx, out->whole, max);
    return good ? HN_OK : ctx->code;
}

static enum hn_code read_column(struct hn_context *ctx, const struct hn_tudataset *set,
                                const char *folder, const struct column *column,
                                struct numbers *out) {
    struct hn_text t;
    HN_SCOPE(ctx);
    *out = (struct numbers){.columns = 1};
    if (hn_text_open(ctx, folder, set->name, column->ending, &t))
        return ctx->code;
    hn_own(ctx, scope.outer);
    if (take_numbers(ctx, column, &t, out))
        return ctx->code;
    for (; hn_text_line(&t); out->lines++)
        if (t.at.number != out->lines + 1) // what comes after an empty line would be another's
            return hn_fail(ctx, HN_DATA, "%s: line %lld is empty; write a %s on each line",
                           t.at.path, (long long)out->lines + 1, column->what);
        else if (read_numbers(ctx, &t, column, out))
            return column->remedy ? hn_fail(ctx, HN_DATA, "%s; %s", ctx->message, column->remedy)
                                  : ctx->code;
    return HN_OK;
}

static enum hn_code fail_count(struct hn_context *ctx, const struct hn_tudataset *set,
                               const char *folder, const char *ending, int64_t n, int64_t wanted,
                               const char *what) {
    return hn_fail(ctx, HN_DATA,
                   "%s/%s%s: holds %lld lines, but %s_graph_indicator.txt has %lld %s", folder,
                   set->name, ending, (long long)n, set->name, (long long)wanted, what);
}

// The numbers of a file with a line for every graph, of those that have nodes.
static enum hn_code read_of_graphs(struct hn_context *ctx, const struct hn_tudataset *set,
                                   const char *folder, const struct column *column, int64_t **value,
                                   int64_t *lines) {
    int64_t last = set->number[set->graphs - 1];
    struct numbers numbers;
    if (read_column(ctx, set, folder, column, &numbers))
        return ctx->code;
    *value = numbers.whole;
    *lines = numbers.lines;
    if (*lines < last)
        return fail_count(ctx, set, folder, column->ending, *lines, last, "graphs");
    for (int64_t g = 0; g < set->graphs; g++)
        (*value)[g] = (*value)[set->number[g] - 1];
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
    if (!HN_ALLOC(ctx, out->start, t.lines + 1) || !HN_ALLOC(ctx, out->number, t.lines))
        return ctx->code;
    for (; hn_text_line(&t); out->nodes++) {
        int64_t before = out->graphs > 0 ? out->number[out->graphs - 1] : 0;
        if (hn_text_number(ctx, &t, "graph", 1, INT32_MAX, &graph) || hn_text_end(ctx, &t))
            return hn_fail(ctx, HN_DATA, "%s; graphs are numbered from 1", ctx->message);
        if (graph < before)
            return hn_line_fail(ctx, &t.at,
                                "a node of graph %lld comes after one of graph %lld; "
                                "number the nodes graph by graph, here and in %s_A.txt",
                                (long long)graph, (long long)before, out->name);
        if (graph > before) {
            out->number[out->graphs] = graph;
            out->start[out->graphs++] = out->nodes;
        }
    }
    if (out->nodes == 0 || out->nodes >= INT32_MAX)
        return hn_fail(ctx, HN_DATA, "%s: holds %lld nodes", t.at.path, (long long)out->nodes);
    out->start[out->graphs] = out->nodes;
    return HN_OK;
}

static int64_t graph_of(const struct hn_tudataset *set, int64_t node) {
    return hn_numbers_upto(set->start, set->graphs, node) - 1;
}

static enum hn_code check_edge(struct hn_context *ctx, const struct hn_text *t, const void *data,
                               int64_t from, int64_t to) {
    const struct hn_tudataset *set = data;
    int64_t own = graph_of(set, from), other = graph_of(set, to);
    return own == other ? HN_OK
                        : hn_line_fail(ctx, &t->at,
                                       "an edge between node %lld of graph %lld and node "
                                       "%lld of graph %lld",
                                       (long long)from + 1, (long long)set->number[own],
                                       (long long)to + 1, (long long)set->number[other]);
}

static enum hn_code read_edges(struct hn_context *ctx, const char *folder,
                               struct hn_tudataset *out) {
    const struct hn_edge_rules rules = {
        .first = 1, .n = out->nodes, .check = check_edge, .data = out};
    return hn_text_edges(ctx, folder, out->name, "_A.txt", &rules, &out->edges);
}

// Labels, numbered from 0.
static enum hn_code read_graph_labels(struct hn_context *ctx, const char *folder,
                                      struct hn_tudataset *out, int64_t *lines) {
    const struct column column = {"_graph_labels.txt", "label", INT64_MIN, INT64_MAX, one_class};
    int64_t *value;
    if (!HN_ALLOC(ctx, out->label, out->graphs))
        return ctx->code;
    HN_SCOPE(ctx);
    if (read_of_graphs(ctx, out, folder, &column, &value, lines) ||
        hn_numbers_rank(ctx, value, out->graphs, out->label, &out->classes))
        return ctx->code;
    if (*lines > out->graphs)
        hn_note(ctx, "%s: %lld of %lld graphs have no nodes, and are left out", folder,
                (long long)(*lines - out->graphs), (long long)*lines);
    return HN_OK;
}

// The numbers of a file with a line for every node.
static enum hn_code read_of_nodes(struct hn_context *ctx, const struct hn_tudataset *set,
                                  const char *folder, const struct column *column,
                                  struct numbers *out) {
    if (read_column(ctx, set, folder, column, out))
        return ctx->code;
    return out->lines == set->nodes
               ? HN_OK
               : fail_count(ctx, set, folder, column->ending, out->lines, set->nodes, "nodes");
}

// Numbers the labels of a column behind those of the columns before; value, rank: [nodes] of work.
static enum hn_code rank_column(struct hn_context *ctx, const struct numbers *from, int64_t column,
                                int64_t *value, int32_t *rank, struct hn_tudataset *out) {
    int64_t distinct = 0;
    for (int64_t v = 0; v < out->nodes; v++)
        value[v] = from->whole[v * from->columns + column];
    if (hn_numbers_rank(ctx, value, out->nodes, rank, &distinct))
        return ctx->code;
    for (int64_t v = 0; v < out->nodes; v++)
        out->node_label[v * from->columns + column] = (int32_t)out->node_labels + rank[v];
    out->node_labels += distinct;
    return HN_OK;
}

static enum hn_code read_node_labels(struct hn_context *ctx, const char *folder,
                                     struct hn_tudataset *out) {
    const struct column column = {"_node_labels.txt", "label",  INT64_MIN,
                                  INT64_MAX,          no_class, .several = true};
    struct numbers from;
    HN_SCOPE(ctx);
    if (read_of_nodes(ctx, out, folder, &column, &from))
        return ctx->code;
    int64_t *value = hn_alloc(ctx, out->nodes, sizeof *value);
    int32_t *rank = hn_alloc(ctx, out->nodes, sizeof *rank);
    hn_own(ctx, scope.outer);
    if (!value || !rank || !HN_ALLOC(ctx, out->node_label, out->nodes * from.columns))
        return ctx->code;
    out->label_columns = from.columns;
    for (int64_t c = 0; c < from.columns; c++)
        if (rank_column(ctx, &from, c, value, rank, out))
            return ctx->code;
    return HN_OK;
}

static enum hn_code read_folds(struct hn_context *ctx, const char *folder, int64_t graphs,
                               struct hn_tudataset *out) {
    const struct column column = {"_folds.txt", "fold", 0, FOLDS_MAX, NULL};
    int64_t *value, lines;
    if (!HN_ALLOC(ctx, out->fold, out->graphs))
        return ctx->code;
    HN_SCOPE(ctx);
    if (read_of_graphs(ctx, out, folder, &column, &value, &lines))
        return ctx->code;
    if (lines != graphs)
        return hn_fail(ctx, HN_DATA, "%s/%s_folds.txt: holds %lld lines, for %lld graphs", folder,
                       out->name, (long long)lines, (long long)graphs);
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
    int64_t graphs = 0;
    if (hn_text_find(ctx, folder, "_A.txt", false, &out->name) ||
        read_indicator(ctx, folder, out) || read_edges(ctx, folder, out) ||
        read_graph_labels(ctx, folder, out, &graphs) ||
        hn_text_there(ctx, folder, out->name, "_node_labels.txt", &node_labels) ||
        (node_labels && read_node_labels(ctx, folder, out)) ||
        hn_text_there(ctx, folder, out->name, "_folds.txt", &folds) ||
        (folds && read_folds(ctx, folder, graphs, out)))
        return ctx->code;
    return HN_OK;
}

enum hn_code hn_tudataset_read_attributes(struct hn_context *ctx, const char *folder,
                                          struct hn_tudataset *set) {
    const struct column column = {"_node_attributes.txt", "attribute", .several = true,
                                  .real = true};
    struct numbers numbers;
    if (read_of_nodes(ctx, set, folder, &column, &numbers))
        return ctx->code;
    set->attribute = numbers.real;
    set->attributes = numbers.columns;
    return HN_OK;
}

int64_t hn_tudataset_features(const struct hn_tudataset *set) {
    return set->attributes + set->node_labels;
}

double hn_tudataset_feature(const struct hn_tudataset *set, int64_t node, int64_t feature) {
    if (feature < set->attributes)
        return (double)set->attribute[node * set->attributes + feature];
    const int32_t *label = set->node_label + node * set->label_columns;
    for (int64_t c = 0; c < set->label_columns; c++)
        if (label[c] == feature - set->attributes)
            return 1;
    return 0;
}
