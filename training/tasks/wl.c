// SPDX-License-Identifier: GPL-3.0-or-later
// The Weisfeiler-Lehman kernel by sorting nodes by the labels of their neighbourhoods.
#include "training/tasks/wl.h"

#include "core/numbers.h"

#include <gsl/gsl_sort_int.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A node with its own label and the sorted ones of its neighbours, from which it is named anew.
struct named {
    const int32_t *name; // [length]
    int64_t length;
    int32_t node;
};

struct work {
    const struct hn_tudataset *data;
    int32_t *label, *graph; // [nodes]
    int64_t *tuple;         // [nodes]
    int32_t *text;          // [nodes + entries of the edges]
    struct named *named;    // [nodes]
    int64_t *count;         // [graphs] of one label
    int32_t *met;           // [graphs] that have it
};

static int compare_names(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return memcmp(x->name, y->name, (size_t)x->length * sizeof *x->name);
}

// Nodes in the order of their names, graph by graph among equals.
static int compare_nodes(const void *a, const void *b) {
    const struct named *x = a, *y = b;
    int names = compare_names(a, b);
    return names ? names : (x->node > y->node) - (x->node < y->node);
}

// Nodes have one label where they had one before and have one in the column.
static enum hn_code add_column(struct hn_context *ctx, int64_t column, struct work *w) {
    const struct hn_tudataset *d = w->data;
    int64_t distinct;
    for (int64_t v = 0; v < d->nodes; v++)
        w->tuple[v] = w->label[v] * d->node_labels + d->node_label[v * d->label_columns + column];
    return hn_numbers_rank(ctx, w->tuple, d->nodes, w->label, &distinct);
}

static enum hn_code open_work(struct hn_context *ctx, struct work *w) {
    const struct hn_tudataset *d = w->data;
    int64_t entries = d->edges.start[d->nodes];
    bool good = HN_ZALLOC(ctx, w->label, d->nodes) && HN_ALLOC(ctx, w->graph, d->nodes) &&
                HN_ALLOC(ctx, w->tuple, d->nodes) && HN_ALLOC(ctx, w->text, d->nodes + entries) &&
                HN_ALLOC(ctx, w->named, d->nodes) && HN_ZALLOC(ctx, w->count, d->graphs) &&
                HN_ALLOC(ctx, w->met, d->graphs);
    if (!good)
        return ctx->code;
    for (int64_t c = 0; c < d->label_columns; c++)
        if (add_column(ctx, c, w))
            return ctx->code;
    for (int64_t g = 0; g < d->graphs; g++)
        for (int64_t i = d->start[g]; i < d->start[g + 1]; i++)
            w->graph[i] = (int32_t)g;
    return HN_OK;
}

// Sorts nodes by their own label alone (round 0), or by it and those of their neighbours.
static void name_nodes(struct work *w, bool neighbours) {
    const struct hn_graph *edges = &w->data->edges;
    int32_t *text = w->text;
    for (int64_t i = 0; i < w->data->nodes; i++) {
        int64_t n = 1;
        text[0] = w->label[i];
        for (int64_t e = edges->start[i]; neighbours && e < edges->start[i + 1]; e++)
            text[n++] = w->label[edges->target[e]];
        gsl_sort_int(text + 1, 1, (size_t)(n - 1));
        w->named[i] = (struct named){text, n, (int32_t)i};
        text += n;
    }
    qsort(w->named, (size_t)w->data->nodes, sizeof *w->named, compare_nodes);
}

// Adds the products of the numbers of nodes first .. last of w->named, which have one label.
static void add_products(struct work *w, int64_t first, int64_t last, double *kernel) {
    int64_t met = 0, n = w->data->graphs;
    for (int64_t k = first; k < last; k++) {
        int32_t g = w->graph[w->named[k].node];
        if (w->count[g]++ == 0)
            w->met[met++] = g;
    }
    for (int64_t i = 0; i < met; i++)
        for (int64_t j = 0; j < met; j++)
            kernel[w->met[i] * n + w->met[j]] +=
                (double)w->count[w->met[i]] * (double)w->count[w->met[j]];
    for (int64_t i = 0; i < met; i++)
        w->count[w->met[i]] = 0;
}

// Labels are numbers of groups of equal names; sums are whole numbers, and exact.
static void add_round(struct work *w, bool neighbours, double *kernel) {
    int64_t nodes = w->data->nodes;
    int32_t label = 0;
    name_nodes(w, neighbours);
    for (int64_t first = 0, last; first < nodes; first = last, label++) {
        for (last = first; last < nodes && !compare_names(&w->named[first], &w->named[last]);)
            w->label[w->named[last++].node] = label;
        add_products(w, first, last, kernel);
    }
}

enum hn_code hn_wl_kernel(struct hn_context *ctx, const struct hn_tudataset *data, int64_t rounds,
                          double *kernel) {
    struct work w = {.data = data};
    int64_t n = data->graphs;
    HN_SCOPE(ctx);
    if (open_work(ctx, &w))
        return ctx->code;
    memset(kernel, 0, (size_t)(n * n) * sizeof *kernel);
    for (int64_t r = 0; r <= rounds; r++) {
        add_round(&w, r > 0, kernel);
        if (hn_check_stop(ctx))
            return ctx->code;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            if (i != j)
                kernel[i * n + j] /= sqrt(kernel[i * n + i] * kernel[j * n + j]);
    for (int64_t i = 0; i < n; i++)
        kernel[i * n + i] = 1;
    return HN_OK;
}
