// SPDX-License-Identifier: GPL-3.0-or-later
// Views of small graphs: nodes, edges or features dropped, edges replaced, subgraphs grown.
#include "training/tasks/graph_augment.h"

#include "core/numbers.h"

#include <string.h>

enum { SHARE = 5, TRIES = 20 }; // a fifth

enum hn_code hn_graph_view_open(struct hn_context *ctx, const struct hn_tudataset *set,
                                struct hn_graph_view *out) {
    int64_t nodes = 0, edges = 0; // directed edges: twice what is there, so that the added ones fit
    for (int64_t g = 0; g < set->graphs; g++) {
        int64_t first = set->start[g], last = set->start[g + 1];
        nodes = hn_max(nodes, last - first);
        edges = hn_max(edges, set->edges.start[last] - set->edges.start[first]);
    }
    memset(out, 0, sizeof *out);
    bool good = HN_ALLOC(ctx, out->node, nodes) && HN_ALLOC(ctx, out->masked, nodes) &&
                HN_ALLOC(ctx, out->from, edges) && HN_ALLOC(ctx, out->to, edges) &&
                HN_ALLOC(ctx, out->order, nodes) && HN_ALLOC(ctx, out->position, nodes);
    return good ? HN_OK : ctx->code;
}

enum hn_graph_change hn_graph_change_draw(struct hn_stream *stream, bool features) {
    return (enum hn_graph_change)hn_stream_below(stream, features ? 4 : 3);
}

static int32_t size_of(const struct hn_tudataset *set, int64_t graph) {
    return (int32_t)(set->start[graph + 1] - set->start[graph]);
}

// Puts `count` of the graph's n positions, drawn, to the front of view->order.
static void draw_positions(struct hn_stream *stream, int32_t n, int32_t count,
                           struct hn_graph_view *view) {
    for (int32_t i = 0; i < n; i++)
        view->order[i] = i;
    for (int32_t i = 0; i < count; i++)
        (void)hn_stream_take(stream, view->order, i, n);
}

// Grows a set of `count` positions, or as many as can be reached, at the front of view->order:
// behind them stand the neighbours that are not in it yet. Their number.
static int32_t grow(const struct hn_tudataset *set, int64_t graph, int32_t count,
                    struct hn_stream *stream, struct hn_graph_view *view) {
    int64_t first = set->start[graph];
    int32_t taken = 0, seen = 1, n = size_of(set, graph);
    memset(view->position, 0, (size_t)n * sizeof *view->position); // 1: in view->order
    view->order[0] = (int32_t)hn_stream_below(stream, (uint32_t)n);
    view->position[view->order[0]] = 1;
    while (taken < count && taken < seen) {
        int32_t next = hn_stream_take(stream, view->order, taken++, seen);
        for (int64_t e = set->edges.start[first + next]; e < set->edges.start[first + next + 1];
             e++) {
            int32_t neighbour = (int32_t)(set->edges.target[e] - first);
            if (view->position[neighbour])
                continue;
            view->position[neighbour] = 1;
            view->order[seen++] = neighbour;
        }
    }
    return taken;
}

// The view of the nodes whose `position` is not negative.
static void take_nodes(const struct hn_tudataset *set, int64_t graph, struct hn_graph_view *view) {
    int64_t first = set->start[graph];
    int32_t n = size_of(set, graph);
    view->n = 0;
    view->edges = 0;
    for (int32_t i = 0; i < n; i++)
        if (view->position[i] >= 0) {
            view->position[i] = view->n;
            view->masked[view->n] = 0;
            view->node[view->n++] = (int32_t)(first + i);
        }
    for (int32_t i = 0; i < view->n; i++)
        for (int64_t e = set->edges.start[view->node[i]]; e < set->edges.start[view->node[i] + 1];
             e++) {
            int32_t to = view->position[set->edges.target[e] - first];
            if (to <= i)
                continue;
            view->from[view->edges] = i;
            view->to[view->edges++] = to;
        }
}

static void keep_all(const struct hn_tudataset *set, int64_t graph, struct hn_graph_view *view) {
    memset(view->position, 0, (size_t)size_of(set, graph) * sizeof *view->position);
    take_nodes(set, graph, view);
}

static void drop_nodes(const struct hn_tudataset *set, int64_t graph, struct hn_stream *stream,
                       struct hn_graph_view *view) {
    int32_t n = size_of(set, graph), gone = n / SHARE;
    draw_positions(stream, n, gone, view);
    for (int32_t i = 0; i < n; i++)
        view->position[view->order[i]] = i < gone ? -1 : 0;
    take_nodes(set, graph, view);
}

static void take_subgraph(const struct hn_tudataset *set, int64_t graph, struct hn_stream *stream,
                          struct hn_graph_view *view) {
    int32_t n = size_of(set, graph), kept = grow(set, graph, n - n / SHARE, stream, view);
    memset(view->position, -1, (size_t)n * sizeof *view->position);
    for (int32_t i = 0; i < kept; i++)
        view->position[view->order[i]] = 0;
    take_nodes(set, graph, view);
}

static void mask_nodes(const struct hn_tudataset *set, int64_t graph, struct hn_stream *stream,
                       struct hn_graph_view *view) {
    int32_t n = size_of(set, graph);
    keep_all(set, graph, view);
    draw_positions(stream, n, n / SHARE, view);
    for (int32_t i = 0; i < n / SHARE; i++)
        view->masked[view->order[i]] = 1;
}

static bool is_edge(const struct hn_graph *g, int32_t u, int32_t v) {
    return hn_indices_find(g->target, g->start[u], g->start[u + 1], v) >= 0;
}

// A pair of positions that is not an edge of the graph and not among the edges from number `added`
// on.
static bool draw_pair(const struct hn_tudataset *set, struct hn_stream *stream,
                      const struct hn_graph_view *view, int64_t added, int32_t *from, int32_t *to) {
    for (int k = 0; k < TRIES; k++) {
        int32_t u = (int32_t)hn_stream_below(stream, (uint32_t)view->n);
        int32_t v = (int32_t)hn_stream_below(stream, (uint32_t)view->n);
        *from = u < v ? u : v;
        *to = u < v ? v : u;
        bool known = u == v || is_edge(&set->edges, view->node[u], view->node[v]);
        for (int64_t e = added; e < view->edges && !known; e++)
            known = view->from[e] == *from && view->to[e] == *to;
        if (!known)
            return true;
    }
    return false;
}

static void perturb_edges(const struct hn_tudataset *set, int64_t graph, struct hn_stream *stream,
                          struct hn_graph_view *view) {
    keep_all(set, graph, view);
    int64_t gone = view->edges / SHARE, added = view->edges - gone;
    for (int64_t k = 0; k < gone; k++) { // the last edge takes the place of a drawn one
        int64_t e = hn_stream_below(stream, (uint32_t)view->edges);
        view->edges--;
        view->from[e] = view->from[view->edges];
        view->to[e] = view->to[view->edges];
    }
    for (int64_t k = 0; k < gone; k++) {
        int32_t from, to;
        if (!draw_pair(set, stream, view, added, &from, &to))
            continue;
        view->from[view->edges] = from;
        view->to[view->edges++] = to;
    }
}

void hn_graph_augment(const struct hn_tudataset *set, int64_t graph, enum hn_graph_change change,
                      struct hn_stream *stream, struct hn_graph_view *view) {
    switch (change) {
    case HN_GRAPH_DROP: drop_nodes(set, graph, stream, view); return;
    case HN_GRAPH_PERTURB: perturb_edges(set, graph, stream, view); return;
    case HN_GRAPH_SUBGRAPH: take_subgraph(set, graph, stream, view); return;
    case HN_GRAPH_MASK: mask_nodes(set, graph, stream, view); return;
    case HN_GRAPH_SAME: break;
    }
    keep_all(set, graph, view);
}
