// SPDX-License-Identifier: GPL-3.0-or-later
// Orders of Cuthill and McKee (1969), which bring the ends of every edge near to each other.
//
// From a root, nodes are numbered as breadth-first search finds them, the new neighbours of a node
// by ascending degree. Roots: the unvisited node of least degree (as in SciPy's
// reverse_cuthill_mckee), or the pseudo-peripheral node that George and Liu (1979, ACM Trans. Math.
// Softw. 5, 284-295) reach from it: build the level structure, go to a node of least degree in its
// last level, and repeat while the structure gets longer. The reversed order has the same bandwidth
// and no larger profile (Liu and Sherman 1976; Chan and George 1980 for its linear time).
//
// Orders and queues hold ranks instead of nodes: rank k is the k-th node by (degree, index). So the
// next root is the first rank not yet visited, and children are sorted by sorting integers. Time:
// O(nodes + edges) for each level structure, and the sorting of every node once, among its
// siblings. Edges are read until every node is reached: in a dense graph that takes few of them.
//
// Our deviation: SciPy takes roots of equal degree in no particular order; here the lower index
// comes first. With children they agree.
#include "core/graph.h"
#include <gsl/gsl_sort_int.h>
#include <string.h>

_Static_assert(sizeof(int) == sizeof(int32_t), "gsl_sort_int sorts int32_t");

struct search {
    const struct hn_graph *g;
    const int32_t *item; // [n] node of an index, NULL: itself
    int32_t *node;       // [n] node of a rank
    int32_t *rank;       // [n] rank of a node
    uint8_t *seen;       // [n] by node: placed, or reached by the search under way
    int32_t *order; // [n] caller's: ranks, placed ones first; the rest serves searches as queue
    int64_t placed;
};

static int64_t degree_of(const struct hn_graph *g, int64_t v) {
    return g->start[v + 1] - g->start[v];
}

// Counting sort of the nodes by degree; nodes of one degree stay in order. count[n + 2] is scratch:
// degrees above n, which repeated edges can give, count as n.
static void rank_nodes(struct search *s, int64_t *count) {
    int64_t n = s->g->n;
    memset(count, 0, ((size_t)n + 2) * sizeof *count);
    for (int64_t v = 0; v < n; v++)
        count[hn_min(degree_of(s->g, v), n) + 1]++;
    for (int64_t d = 0; d <= n; d++)
        count[d + 1] += count[d];
    for (int64_t i = 0; i < n; i++) {
        int32_t v = s->item ? s->item[i] : (int32_t)i;
        int64_t k = count[hn_min(degree_of(s->g, v), n)]++;
        s->node[k] = v;
        s->rank[v] = (int32_t)k;
    }
}

// Appends the ranks of the neighbours of rank r that were not seen yet to queue; their number.
static int64_t reach(struct search *s, int32_t r, int32_t *queue) {
    const struct hn_graph *g = s->g;
    int32_t v = s->node[r];
    int64_t found = 0;
    for (int64_t e = g->start[v]; e < g->start[v + 1]; e++) {
        int32_t u = g->target[e];
        if (s->seen[u])
            continue;
        s->seen[u] = 1;
        queue[found++] = s->rank[u];
    }
    return found;
}

// Breadth-first search from root; queue gets the ranks found, *last where the last level begins and
// *levels their number. Returns how many were found.
static int64_t level_structure(struct search *s, int32_t root, int64_t *last, int64_t *levels) {
    int32_t *queue = s->order + s->placed;
    int64_t found = 1, level = 0, all = s->g->n - s->placed;
    queue[0] = root;
    s->seen[s->node[root]] = 1;
    *levels = 0;
    while (level < found) {
        int64_t end = found;
        *last = level;
        ++*levels;
        for (; level < end && found < all; level++)
            found += reach(s, queue[level], queue + found);
        level = end;
    }
    for (int64_t k = 0; k < found; k++)
        s->seen[s->node[queue[k]]] = 0;
    return found;
}

// George and Liu's node: each step lengthens the level structure, so at most n steps are made; a
// few in practice.
static int32_t pseudo_peripheral(struct search *s, int32_t root) {
    if (degree_of(s->g, s->node[root]) == 0)
        return root;
    int64_t last, levels, longer, found = level_structure(s, root, &last, &levels);
    for (;;) {
        const int32_t *queue = s->order + s->placed;
        int32_t best = queue[last];
        for (int64_t k = last + 1; k < found; k++)
            if (queue[k] < best) // ranks: least degree, then lower index
                best = queue[k];
        found = level_structure(s, best, &last, &longer);
        if (longer <= levels)
            return best;
        levels = longer;
    }
}

static void place_component(struct search *s, int32_t root) {
    int64_t next = s->placed;
    s->order[s->placed++] = root;
    s->seen[s->node[root]] = 1;
    for (; next < s->placed && s->placed < s->g->n; next++) {
        int32_t *children = s->order + s->placed;
        int64_t found = reach(s, s->order[next], children);
        gsl_sort_int(children, 1, (size_t)found);
        s->placed += found;
    }
}

static void finish(struct search *s, bool reverse) {
    int64_t n = s->g->n;
    for (int64_t k = 0; k < n; k++)
        s->order[k] = s->node[s->order[k]];
    for (int64_t k = 0; reverse && k < n / 2; k++) {
        int32_t v = s->order[k];
        s->order[k] = s->order[n - 1 - k];
        s->order[n - 1 - k] = v;
    }
}

enum hn_code hn_graph_cuthill_mckee(struct hn_context *ctx, const struct hn_graph *g,
                                    const int32_t *item, enum hn_root root, bool reverse,
                                    int32_t *order) {
    struct search s = {.g = g, .item = item, .order = order};
    HN_SCOPE(ctx);
    int64_t *count = hn_alloc(ctx, g->n + 2, sizeof *count);
    if (!count || !HN_ALLOC(ctx, s.node, g->n) || !HN_ALLOC(ctx, s.rank, g->n) ||
        !HN_ZALLOC(ctx, s.seen, g->n))
        return ctx->code;
    rank_nodes(&s, count);
    for (int32_t r = 0; r < g->n; r++)
        if (!s.seen[s.node[r]])
            place_component(&s, root == HN_ROOT_GEORGE_LIU ? pseudo_peripheral(&s, r) : r);
    finish(&s, reverse);
    return HN_OK;
}
