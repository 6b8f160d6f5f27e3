// SPDX-License-Identifier: GPL-3.0-or-later
// Sparse graphs in compressed rows: building and measuring them.
#include "core/graph.h"

#include <string.h>

static enum hn_code check_nodes(struct hn_context *ctx, int64_t n) {
    if (n >= 0 && n <= INT32_MAX)
        return HN_OK;
    return hn_fail(ctx, HN_INTERNAL, "a graph of %lld nodes: at most %d are possible", (long long)n,
                   INT32_MAX);
}

enum hn_code hn_graph_around(struct hn_context *ctx, int64_t n, int64_t degree, bool weighted,
                             int32_t **target, struct hn_graph *out) {
    *out = (struct hn_graph){.n = n};
    int64_t edges;
    if (check_nodes(ctx, n))
        return ctx->code;
    if (degree < 0 || !hn_mul(n, degree, &edges))
        return hn_fail(ctx, HN_INTERNAL, "a graph of degree %lld", (long long)degree);
    out->start = hn_alloc(ctx, n + 1, sizeof *out->start);
    if (weighted && out->start)
        out->weight = hn_alloc(ctx, edges, sizeof *out->weight);
    if (!out->start || (weighted && !out->weight)) {
        hn_graph_free(ctx, out);
        return ctx->code;
    }
    for (int64_t v = 0; v <= n; v++)
        out->start[v] = v * degree;
    out->target = *target;
    *target = NULL;
    return HN_OK;
}

enum hn_code hn_graph_regular(struct hn_context *ctx, int64_t n, int64_t degree, bool weighted,
                              struct hn_graph *out) {
    int32_t *target = NULL;
    int64_t edges;
    enum hn_code code = hn_graph_around(ctx, n, degree, weighted, &target, out);
    if (code == HN_OK && hn_mul(n, degree, &edges))
        out->target = hn_alloc(ctx, edges, sizeof *out->target);
    if (code == HN_OK && !out->target) {
        hn_graph_free(ctx, out);
        code = ctx->code;
    }
    return code;
}

void hn_graph_free(struct hn_context *ctx, struct hn_graph *g) {
    hn_free(ctx, g->start);
    hn_free(ctx, g->target);
    hn_free(ctx, g->weight);
    *g = (struct hn_graph){0};
}

static enum hn_code check_edges(struct hn_context *ctx, int64_t n, int64_t m, const int32_t *from,
                                const int32_t *to) {
    for (int64_t e = 0; e < m; e++)
        if (from[e] < 0 || from[e] >= n || to[e] < 0 || to[e] >= n)
            return hn_fail(ctx, HN_INTERNAL, "edge %lld joins %d and %d, but there are %lld nodes",
                           (long long)e, from[e], to[e], (long long)n);
    return HN_OK;
}

// start[v] becomes the position of row v among the entries of both directions, self loops left out.
static void count_rows(struct hn_graph *g, int64_t m, const int32_t *from, const int32_t *to) {
    memset(g->start, 0, ((size_t)g->n + 1) * sizeof *g->start);
    for (int64_t e = 0; e < m; e++)
        if (from[e] != to[e]) {
            g->start[from[e] + 1]++;
            g->start[to[e] + 1]++;
        }
    for (int64_t v = 0; v < g->n; v++)
        g->start[v + 1] += g->start[v];
}

static void scatter(const struct hn_graph *g, int64_t m, const int32_t *from, const int32_t *to,
                    int64_t *next, int32_t *entry) {
    memcpy(next, g->start, (size_t)g->n * sizeof *next);
    for (int64_t e = 0; e < m; e++)
        if (from[e] != to[e]) {
            entry[next[from[e]]++] = to[e];
            entry[next[to[e]]++] = from[e];
        }
}

// A symmetric pattern is its own transpose; writing the transpose row by row sorts every row.
static void transpose(const struct hn_graph *g, const int32_t *entry, int64_t *next) {
    memcpy(next, g->start, (size_t)g->n * sizeof *next);
    for (int64_t v = 0; v < g->n; v++)
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            g->target[next[entry[e]]++] = (int32_t)v;
}

static void drop_repeats(struct hn_graph *g) {
    int64_t kept = 0, row = 0;
    for (int64_t v = 0; v < g->n; v++) {
        int64_t end = g->start[v + 1], first = kept;
        for (int64_t e = row; e < end; e++)
            if (kept == first || g->target[kept - 1] != g->target[e])
                g->target[kept++] = g->target[e];
        g->start[v] = first;
        row = end;
    }
    g->start[g->n] = kept;
}

enum hn_code hn_graph_symmetric(struct hn_context *ctx, int64_t n, int64_t m, const int32_t *from,
                                const int32_t *to, struct hn_graph *out) {
    *out = (struct hn_graph){.n = n};
    if (check_nodes(ctx, n) || check_edges(ctx, n, m, from, to) ||
        !HN_ALLOC(ctx, out->start, n + 1))
        return ctx->code;
    count_rows(out, m, from, to);
    int64_t entries = out->start[n];
    bool good = HN_ALLOC(ctx, out->target, entries);
    HN_SCOPE(ctx);
    int64_t *next = good ? hn_alloc(ctx, n, sizeof *next) : NULL;
    int32_t *entry = next ? hn_alloc(ctx, entries, sizeof *entry) : NULL;
    if (!entry) {
        hn_graph_free(ctx, out);
        return ctx->code;
    }
    scatter(out, m, from, to, next, entry);
    transpose(out, entry, next);
    drop_repeats(out);
    return HN_OK;
}
