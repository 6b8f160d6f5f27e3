// SPDX-License-Identifier: GPL-3.0-or-later
// Views of one graph: edges and features dropped, as sparse matrices.
#include "training/tasks/node_private.h"

#include <math.h>
#include <string.h>

enum hn_code hn_node_edges_open(struct hn_context *ctx, const struct hn_linqs *data,
                                struct hn_node_edges *e) {
    const struct hn_graph *g = &data->graph;
    *e = (struct hn_node_edges){.data = data};
    e->edge = hn_alloc(ctx, hn_graph_edges(g), sizeof *e->edge);
    HN_SCOPE(ctx);
    int64_t *next = hn_alloc(ctx, g->n, sizeof *next);
    if (!next || !e->edge)
        return ctx->code;
    // Rows ascend, and so the entry (v, u), u < v, is the next one of v when u comes by.
    memcpy(next, g->start, (size_t)g->n * sizeof *next);
    for (int64_t u = 0; u < g->n; u++)
        for (int64_t k = g->start[u]; k < g->start[u + 1]; k++)
            if (g->target[k] > u) {
                e->edge[k] = e->edge[next[g->target[k]]++] = (int32_t)e->edges;
                e->edges++;
            }
    return HN_OK;
}

enum hn_code hn_node_view_open(struct hn_context *ctx, const struct hn_node_edges *e,
                               struct hn_node_view *out) {
    const struct hn_linqs *data = e->data;
    int64_t n = data->n, entries = data->start[n], edges = hn_graph_edges(&data->graph) + n;
    if (hn_sparse_open(ctx, n, data->p, entries, &out->input) ||
        hn_sparse_open(ctx, data->p, n, entries, &out->input_t) ||
        hn_sparse_open(ctx, n, n, edges, &out->mean) ||
        hn_sparse_open(ctx, n, n, edges, &out->mean_t) || !HN_ALLOC(ctx, out->inverse, n) ||
        !HN_ALLOC(ctx, out->kept, e->edges))
        return ctx->code;
    return HN_OK;
}

// Ahat of the edges that are kept, and its transpose.
static void fill_mean(const struct hn_node_edges *e, enum hn_node_norm norm,
                      struct hn_node_view *view) {
    const struct hn_graph *g = &e->data->graph;
    struct hn_sparse *a = &view->mean;
    int64_t at = 0;
    for (int64_t u = 0; u < g->n; u++) {
        bool self = false;
        for (int64_t k = g->start[u]; k < g->start[u + 1]; k++) {
            if (!self && g->target[k] > u) {
                a->index[at++] = (int32_t)u;
                self = true;
            }
            if (view->kept[e->edge[k]])
                a->index[at++] = g->target[k];
        }
        if (!self)
            a->index[at++] = (int32_t)u;
        a->start[u + 1] = at;
        double degree = (double)(at - a->start[u]);
        view->inverse[u] = 1 / (norm == HN_NODE_GCN ? sqrt(degree) : degree);
    }
    for (int64_t u = 0; u < g->n; u++)
        for (int64_t k = a->start[u]; k < a->start[u + 1]; k++)
            a->value[k] = (hn_real)(view->inverse[u] *
                                    (norm == HN_NODE_GCN ? view->inverse[a->index[k]] : 1));
    hn_sparse_transpose(a, &view->mean_t);
}

// Features that are kept, each node's divided by their sum and scaled for those dropped.
static void fill_input(const struct hn_node_edges *e, struct hn_stream *stream, double drop,
                       struct hn_node_view *view) {
    const struct hn_linqs *d = e->data;
    struct hn_sparse *x = &view->input;
    int64_t at = 0;
    for (int64_t i = 0; i < d->n; i++) {
        double sum = 0;
        for (int64_t k = d->start[i]; k < d->start[i + 1]; k++)
            sum += (double)d->value[k];
        for (int64_t k = d->start[i]; k < d->start[i + 1]; k++)
            if (drop <= 0 || hn_stream_uniform(stream) >= drop) {
                x->index[at] = d->index[k];
                x->value[at++] = (hn_real)((double)d->value[k] / ((1 - drop) * sum));
            }
        x->start[i + 1] = at;
    }
    hn_sparse_transpose(x, &view->input_t);
}

void hn_node_augment(const struct hn_node_edges *e, enum hn_node_norm norm, double drop_edge,
                     double drop_feature, struct hn_stream *stream, struct hn_node_view *view) {
    for (int64_t i = 0; i < e->edges; i++)
        view->kept[i] = drop_edge <= 0 || hn_stream_uniform(stream) >= drop_edge;
    if (norm != HN_NODE_MLP)
        fill_mean(e, norm, view);
    fill_input(e, stream, drop_feature, view);
}
