// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of a graph with few edges between them, grown and then improved by exchanges.
#include "samplers/clusters.h"

#include <gsl/gsl_sort_int.h>
#include <string.h>

enum { STOP_EVERY = 1024 }; // nodes between two looks at an interrupt

struct state {
    const struct hn_graph *g;
    struct hn_graph_parts *p;
    int64_t parts;
    int32_t *part;     // [n] of a node, -1: none
    int32_t *position; // [n] in member
    int32_t *inside;   // [n] edges to its own part
    int32_t *edges;    // [n] growing: edges to the part; exchanging: edges to part A; else 0
    int32_t *to;       // [parts] edges of a node to a part, else 0
    int32_t *seen;     // [n] nodes, or parts, with edges
    bool *next_to;     // [n] neighbours of a node, else false
};

static enum hn_code open_state(struct hn_context *ctx, const struct hn_graph *g,
                               struct hn_graph_parts *p, struct state *s) {
    int64_t n = g->n, parts = (n + p->size - 1) / p->size;
    *s = (struct state){.g = g, .p = p, .parts = parts};
    bool good = HN_ALLOC(ctx, s->part, n) && HN_ALLOC(ctx, s->position, n) &&
                HN_ZALLOC(ctx, s->inside, n) && HN_ZALLOC(ctx, s->edges, n) &&
                HN_ZALLOC(ctx, s->to, parts) && HN_ALLOC(ctx, s->seen, n) &&
                HN_ZALLOC(ctx, s->next_to, n);
    return good ? HN_OK : ctx->code;
}

static int64_t size_of(const struct state *s, int64_t part) {
    return hn_min(s->p->size, s->g->n - part * s->p->size);
}

// The free node with the most edges to the part that grows, of seen[*count], which loses those that
// are no longer free; -1: none.
static int32_t pick(const struct state *s, int64_t *count) {
    int32_t best = -1;
    int64_t kept = 0;
    for (int64_t k = 0; k < *count; k++) {
        int32_t v = s->seen[k];
        if (s->part[v] >= 0)
            continue;
        s->seen[kept++] = v;
        if (best < 0 || s->edges[v] > s->edges[best] || (s->edges[v] == s->edges[best] && v < best))
            best = v;
    }
    *count = kept;
    return best;
}

static void grow(struct state *s, int64_t part, int64_t *free) {
    const struct hn_graph *g = s->g;
    int64_t count = 0, size = size_of(s, part);
    for (int64_t k = 0; k < size; k++) {
        int32_t v = pick(s, &count);
        while (v < 0) {
            int32_t other = s->p->order[(*free)++];
            v = s->part[other] < 0 ? other : -1;
        }
        s->part[v] = (int32_t)part;
        s->position[v] = (int32_t)(part * s->p->size + k);
        s->p->member[part * s->p->size + k] = v;
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            if (s->part[g->target[e]] < 0 && s->edges[g->target[e]]++ == 0)
                s->seen[count++] = g->target[e];
    }
    for (int64_t k = 0; k < size; k++) { // counts of all that were seen go back to 0
        int32_t v = s->p->member[part * s->p->size + k];
        s->edges[v] = 0;
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            s->edges[g->target[e]] = 0;
    }
}

// Puts v, which is in no part, into one, or takes it out of its own.
static void move(struct state *s, int32_t v, int32_t part) {
    const struct hn_graph *g = s->g;
    int32_t own = part < 0 ? s->part[v] : part, step = part < 0 ? -1 : 1;
    s->inside[v] = 0;
    for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
        if (s->part[g->target[e]] == own) {
            s->inside[g->target[e]] += step;
            s->inside[v] += part >= 0;
        }
    s->part[v] = part;
}

static void exchange(struct state *s, int32_t i, int32_t j) {
    int32_t a = s->part[i], b = s->part[j], position = s->position[i];
    move(s, i, -1);
    move(s, j, -1);
    move(s, i, b);
    move(s, j, a);
    s->position[i] = s->position[j];
    s->position[j] = position;
    s->p->member[s->position[i]] = i;
    s->p->member[s->position[j]] = j;
    s->p->exchanged++;
}

// Adds `step` to edges[] of every node for each of its edges to a part.
static void count_edges(const struct state *s, int64_t part, bool set) {
    const struct hn_graph *g = s->g;
    for (int64_t k = 0; k < size_of(s, part); k++) {
        int32_t v = s->p->member[part * s->p->size + k];
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            s->edges[g->target[e]] = set ? s->edges[g->target[e]] + 1 : 0;
    }
}

// The best exchange for i: the node j of another part with the largest gain above 0, or -1. Of two
// exchanged nodes at least one has more edges to the other's part than to its own, so that looking
// at the parts to which i has more finds all that gain, from one side or the other.
static int32_t best_for(const struct state *s, int32_t i, int64_t count) {
    int32_t own = s->inside[i], best = -1;
    int64_t max = 0;
    for (int64_t k = 0; k < count; k++) {
        int32_t part = s->seen[k];
        if (part == s->part[i] || s->to[part] <= own)
            continue;
        for (int64_t m = 0; m < size_of(s, part); m++) {
            int32_t j = s->p->member[part * s->p->size + m];
            int64_t gain = s->to[part] - own + s->edges[j] - s->inside[j] - (s->next_to[j] ? 2 : 0);
            if (gain > max) {
                max = gain;
                best = j;
            }
        }
    }
    return best;
}

static bool improve(struct state *s, int32_t i) {
    const struct hn_graph *g = s->g;
    int64_t count = 0;
    int32_t a = s->part[i], more = 0;
    for (int64_t e = g->start[i]; e < g->start[i + 1]; e++) {
        int32_t part = s->part[g->target[e]];
        s->next_to[g->target[e]] = true;
        if (s->to[part]++ == 0)
            s->seen[count++] = part;
        more |= part != a && s->to[part] > s->inside[i];
    }
    int32_t j = -1;
    if (more) {
        count_edges(s, a, true);
        j = best_for(s, i, count);
        count_edges(s, a, false);
    }
    for (int64_t k = 0; k < count; k++)
        s->to[s->seen[k]] = 0;
    for (int64_t e = g->start[i]; e < g->start[i + 1]; e++)
        s->next_to[g->target[e]] = false;
    if (j >= 0)
        exchange(s, i, j);
    return j >= 0;
}

static void finish(struct state *s) {
    s->p->inside = 0;
    for (int64_t v = 0; v < s->g->n; v++)
        s->p->inside += s->inside[v];
    s->p->inside /= 2;
    for (int64_t c = 0; c < s->parts; c++)
        gsl_sort_int(s->p->member + c * s->p->size, 1, (size_t)size_of(s, c));
}

enum hn_code hn_graph_part(struct hn_context *ctx, const struct hn_graph *g,
                           struct hn_graph_parts *parts) {
    struct state s;
    HN_SCOPE(ctx);
    if (open_state(ctx, g, parts, &s))
        return ctx->code;
    parts->exchanged = 0;
    memset(s.part, -1, (size_t)g->n * sizeof *s.part);
    for (int64_t c = 0, free = 0; c < s.parts; c++) {
        if (c % STOP_EVERY == 0 && hn_check_stop(ctx))
            return ctx->code;
        grow(&s, c, &free);
    }
    for (int64_t v = 0; v < g->n; v++)
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            s.inside[v] += s.part[g->target[e]] == s.part[v];
    bool changed = true;
    for (int64_t sweep = 0; sweep < parts->sweeps && changed; sweep++) {
        changed = false;
        for (int64_t k = 0; k < g->n; k++) {
            if (k % STOP_EVERY == 0 && hn_check_stop(ctx))
                return ctx->code;
            changed |= improve(&s, parts->order[k]);
        }
    }
    finish(&s);
    return HN_OK;
}
