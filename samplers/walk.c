// SPDX-License-Identifier: GPL-3.0-or-later
// The walks of BS table 6. Random walk with restart (algorithm 3):
//
//   S = {}, v = u;  while |S| < B:  insert v into S;  with probability alpha v = u, else v = a
//   neighbour of v.
//
// A step to a node that is in S already counts as a step and moves the walk; it collects nothing.
//
// Our deviations. (1) A walk that is trapped, or cycles, goes on from a random item that is not in
// S after cap x B steps, and restarts from there from then on (a restart at the old start would
// lead straight back into the trap). (2) alpha = 1 as written never leaves u. With e = 1 - alpha ->
// 0, an excursion of l moves happens at the rate e^l, so that all of level l (the nodes at distance
// l from u) is collected before any of level l + 1; and, everything nearer being collected, each
// excursion of l moves that ends outside S ends at x with probability proportional to p_l(x), where
//
//   p_0 = 1 at u,  p_l(x) = sum over w of level l - 1 of p_(l-1)(w) P(w, x).
//
// So a level is collected by drawing one after the other without replacement, with probabilities
// proportional to p_l: the order of exponential variables divided by p_l. For the neighbours of u
// under law `uniform` this is a random order.
//
// Breadth first: the neighbours of u, then those of its first neighbour, and so on; nothing is
// random. Depth first: from v to a random neighbour that is not in S, by the walk's law among
// those; where there is none, back to where v was reached from. Both come to an end by themselves,
// when all that can be reached is collected; then they go on from a random item that is not in S,
// which counts as a stall as above.
#include "samplers/walk.h"
#include "core/bitset.h"

#include <math.h>
#include <string.h>

// A walk under way.
enum { NO_EDGE = -1 };

struct progress {
    const struct hn_walk *walk;
    struct hn_stream *stream;
    struct hn_walk_scratch *scratch;
    struct hn_walk_tally *tally;
    int32_t *ids;
    int32_t count; // collected
};

enum hn_code hn_walk_scratch_open(struct hn_context *ctx, int64_t n, enum hn_walk_kind kind,
                                  bool limit, struct hn_walk_scratch *s) {
    bool depth = kind == HN_WALK_DEPTH;
    limit = limit && kind == HN_WALK_RESTART;
    *s = (struct hn_walk_scratch){0};
    bool good =
        HN_ZALLOC(ctx, s->collected, HN_WALKS * hn_bitset_words(n)) &&
        (!(limit || depth) || HN_ALLOC(ctx, s->level, n)) &&
        (!limit || (HN_ZALLOC(ctx, s->queued, hn_bitset_words(n)) && HN_ALLOC(ctx, s->deeper, n) &&
                    HN_ALLOC(ctx, s->mass, n) && HN_ALLOC(ctx, s->key, n)));
    return good ? HN_OK : ctx->code;
}

void hn_walk_cumulate(const struct hn_graph *g, double *sum, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t v = 0; v < g->n; v++) {
        double total = 0;
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            sum[e] = total += fmax((double)g->weight[e], 0);
    }
}

static void collect(struct progress *p, int32_t v) {
    if (hn_bitset_has(p->scratch->collected, v))
        return;
    hn_bitset_add(p->scratch->collected, v);
    p->ids[p->count++] = v;
}

int32_t hn_walk_unmarked(const uint64_t *marks, int64_t r) {
    for (int64_t word = 0;; word++) {
        uint64_t vacant = ~marks[word];
        int64_t here = __builtin_popcountll(vacant);
        if (r >= here) {
            r -= here;
            continue;
        }
        while (r-- > 0)
            vacant &= vacant - 1;
        return (int32_t)(word * 64 + __builtin_ctzll(vacant));
    }
}

// Draws an item at which a stalled walk goes on, among those not yet collected.
static int32_t elsewhere(struct progress *p) {
    int64_t left = p->walk->graph->n - p->count;
    p->tally->stalls++;
    p->tally->draw++;
    return hn_walk_unmarked(p->scratch->collected, hn_stream_below(p->stream, (uint32_t)left));
}

// The first of sum[n] that exceeds r, 0 <= r < sum[n - 1].
static int64_t find_sum(const double *sum, int64_t n, double r) {
    int64_t lo = 0, hi = n - 1;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (sum[mid] > r)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

// The edge to a neighbour of v, by the walk's law; NO_EDGE if there is none.
static int64_t draw_edge(struct progress *p, int32_t v) {
    const struct hn_graph *g = p->walk->graph;
    int64_t first = g->start[v], degree = g->start[v + 1] - first;
    if (degree == 0)
        return NO_EDGE;
    p->tally->draw++;
    p->tally->edge++;
    const double *sum = p->walk->cumulative ? p->walk->cumulative + first : NULL;
    if (!sum || sum[degree - 1] <= 0)
        return first + hn_stream_below(p->stream, (uint32_t)degree);
    double r = hn_stream_uniform(p->stream) * sum[degree - 1];
    return first + find_sum(sum, degree, r);
}

// A walk with restart between two of its steps. Its next node is in a far part of memory: it is
// prefetched, and other walks proceed until it has arrived.
struct walker {
    struct progress p;
    int32_t start, at;
    int64_t left; // steps until the walk goes on elsewhere
    int64_t edge; // to be walked along; NO_EDGE: `at` is where the walk is
};

static void set_out(struct walker *w, int32_t start) {
    w->start = w->at = start;
    w->left = w->p.walk->cap * w->p.walk->batch_size;
    w->edge = NO_EDGE;
}

// Steps until an edge has been drawn (restarts stay where memory is near); false: the batch is
// full.
static bool draw_step(struct walker *w) {
    struct progress *p = &w->p;
    const struct hn_walk *walk = p->walk;
    collect(p, w->at);
    while (p->count < walk->batch_size) {
        if (w->left-- == 0) {
            set_out(w, elsewhere(p));
            collect(p, w->at);
            continue;
        }
        bool restart = walk->alpha > 0 && hn_stream_uniform(p->stream) < walk->alpha;
        p->tally->draw += walk->alpha > 0;
        p->tally->step++;
        if (restart) {
            w->at = w->start;
            continue;
        }
        w->edge = draw_edge(p, w->at);
        if (w->edge != NO_EDGE) {
            __builtin_prefetch(&walk->graph->target[w->edge]);
            return true;
        }
    }
    return false;
}

static void take_step(struct walker *w) {
    const struct hn_walk *walk = w->p.walk;
    w->at = walk->graph->target[w->edge];
    w->edge = NO_EDGE;
    __builtin_prefetch(&walk->graph->start[w->at]);
    __builtin_prefetch(&w->p.scratch->collected[w->at >> 6]);
}

// Walks in turns until all batches are full. None of them knows of the others.
static void walk_with_restart(struct walker *walker, int count) {
    struct walker *waiting[HN_WALKS];
    for (int i = 0; i < count; i++)
        waiting[i] = &walker[i];
    while (count > 0)
        for (int i = 0; i < count; i++) {
            struct walker *w = waiting[i];
            if (w->edge != NO_EDGE)
                take_step(w);
            else if (!draw_step(w))
                waiting[i--] = waiting[--count];
        }
}

// Weight of edge e of v under the walk's law, of which only proportions matter.
static double edge_weight(const struct hn_walk *walk, int32_t v, int64_t e) {
    int64_t first = walk->graph->start[v];
    return walk->cumulative[e] - (e > first ? walk->cumulative[e - 1] : 0);
}

// Probability of the move along edge e of v.
static double move_probability(const struct hn_walk *walk, int32_t v, int64_t e) {
    int64_t first = walk->graph->start[v], last = walk->graph->start[v + 1] - 1;
    if (!walk->cumulative || walk->cumulative[last] <= 0)
        return 1.0 / (double)(last - first + 1);
    return edge_weight(walk, v, e) / walk->cumulative[last];
}

// From level[count] with its masses to the level behind it in `deeper`; returns its size. A node
// gets no mass from its own level or nearer ones: those are collected.
static int32_t next_level(struct progress *p, int32_t count) {
    struct hn_walk_scratch *s = p->scratch;
    const struct hn_graph *g = p->walk->graph;
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t v = s->level[i];
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++) {
            int32_t x = g->target[e];
            double mass = s->mass[v] * move_probability(p->walk, v, e);
            if (mass <= 0 || hn_bitset_has(s->collected, x))
                continue;
            if (!hn_bitset_has(s->queued, x)) {
                hn_bitset_add(s->queued, x);
                s->deeper[found++] = x;
                s->mass[x] = 0;
            }
            s->mass[x] += mass;
        }
        p->tally->edge += g->start[v + 1] - g->start[v];
    }
    return found;
}

// Gives every node of deeper[count] its key, and scales the masses to a sum of 1, lest they vanish
// many levels down.
static void draw_keys(struct progress *p, int32_t count) {
    struct hn_walk_scratch *s = p->scratch;
    double total = 0;
    for (int32_t i = 0; i < count; i++)
        total += s->mass[s->deeper[i]];
    for (int32_t i = 0; i < count; i++) {
        int32_t x = s->deeper[i];
        hn_bitset_remove(s->queued, x);
        s->mass[x] /= total;
        s->key[x] = -log1p(-hn_stream_uniform(p->stream)) / s->mass[x];
    }
    p->tally->draw += count;
}

// Restores the heap order of the `count` nodes of heap, least key on top, from position i down.
static void sift(int32_t *heap, const double *key, int32_t i, int32_t count) {
    for (int32_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && key[heap[child + 1]] < key[heap[child]])
            child++;
        if (key[heap[i]] <= key[heap[child]])
            return;
        int32_t t = heap[i];
        heap[i] = heap[child];
        heap[child] = t;
    }
}

// Collects deeper[count] by ascending key until the batch is full. A heap: a level may be far
// larger than what is still wanted.
static void collect_level(struct progress *p, int32_t count) {
    struct hn_walk_scratch *s = p->scratch;
    int32_t *heap = s->deeper;
    for (int32_t i = count / 2 - 1; i >= 0; i--)
        sift(heap, s->key, i, count);
    while (count > 0 && p->count < p->walk->batch_size) {
        int32_t top = heap[0];
        heap[0] = heap[--count];
        heap[count] = top;
        sift(heap, s->key, 0, count);
        collect(p, top);
        p->tally->step++;
    }
}

static void walk_by_levels(struct progress *p, int32_t u) {
    struct hn_walk_scratch *s = p->scratch;
    int32_t count = 1;
    s->level[0] = u;
    s->mass[u] = 1;
    collect(p, u);
    while (p->count < p->walk->batch_size) {
        count = next_level(p, count);
        if (count == 0) { // everything that can be reached is collected
            s->deeper[0] = elsewhere(p);
            s->mass[s->deeper[0]] = 1;
            count = 1;
            collect(p, s->deeper[0]);
        } else {
            draw_keys(p, count);
            collect_level(p, count);
        }
        int32_t *nearer = s->level;
        s->level = s->deeper;
        s->deeper = nearer;
    }
}

// The batch itself is the queue.
static void walk_breadth_first(struct progress *p, int32_t u) {
    const struct hn_graph *g = p->walk->graph;
    int32_t wanted = p->walk->batch_size;
    collect(p, u);
    for (int32_t at = 0; p->count < wanted; at++) {
        if (at == p->count)
            collect(p, elsewhere(p));
        int32_t v = p->ids[at];
        int64_t e = g->start[v];
        for (; e < g->start[v + 1] && p->count < wanted; e++)
            collect(p, g->target[e]);
        p->tally->edge += e - g->start[v];
        p->tally->step++;
    }
}

// A neighbour of v that is not collected, by weight, -1 if there is none; uniform if no weight of
// theirs is above zero.
static int32_t new_neighbour_by_weight(struct progress *p, int32_t v, int64_t vacant) {
    const struct hn_graph *g = p->walk->graph;
    double total = 0;
    for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
        if (!hn_bitset_has(p->scratch->collected, g->target[e]))
            total += edge_weight(p->walk, v, e);
    bool uniform = total <= 0;
    double left = hn_stream_uniform(p->stream) * (uniform ? (double)vacant : total);
    int32_t last = -1;
    for (int64_t e = g->start[v]; e < g->start[v + 1] && left >= 0; e++) {
        double weight = uniform ? 1 : edge_weight(p->walk, v, e);
        if (weight <= 0 || hn_bitset_has(p->scratch->collected, g->target[e]))
            continue;
        last = g->target[e];
        left -= weight;
    }
    return last;
}

static int32_t new_neighbour(struct progress *p, int32_t v) {
    const struct hn_graph *g = p->walk->graph;
    int64_t vacant = 0, e = g->start[v];
    for (int64_t i = e; i < g->start[v + 1]; i++)
        vacant += !hn_bitset_has(p->scratch->collected, g->target[i]);
    p->tally->edge += g->start[v + 1] - e;
    if (vacant == 0)
        return -1;
    p->tally->draw++;
    if (p->walk->cumulative)
        return new_neighbour_by_weight(p, v, vacant);
    int64_t r = hn_stream_below(p->stream, (uint32_t)vacant);
    for (;; e++)
        if (!hn_bitset_has(p->scratch->collected, g->target[e]) && r-- == 0)
            return g->target[e];
}

static void walk_depth_first(struct progress *p, int32_t u) {
    int32_t *branch = p->scratch->level, depth = 0;
    branch[depth++] = u;
    collect(p, u);
    while (p->count < p->walk->batch_size) {
        if (depth == 0) {
            branch[depth++] = elsewhere(p);
            collect(p, branch[0]);
            continue;
        }
        int32_t next = new_neighbour(p, branch[depth - 1]);
        p->tally->step++;
        if (next < 0) {
            depth--;
            continue;
        }
        branch[depth++] = next;
        collect(p, next);
    }
}

static void clear_marks(struct progress *p) {
    for (int32_t i = 0; i < p->count; i++)
        hn_bitset_remove(p->scratch->collected, p->ids[i]);
}

static void walk_alone(struct progress *p, int32_t start) {
    if (p->walk->kind == HN_WALK_BREADTH)
        walk_breadth_first(p, start);
    else if (p->walk->kind == HN_WALK_DEPTH)
        walk_depth_first(p, start);
    else
        walk_by_levels(p, start);
    clear_marks(p);
}

void hn_walk_run_many(const struct hn_walk *walk, int count, const int32_t *start,
                      struct hn_stream *stream, struct hn_walk_scratch *s, int32_t *ids,
                      struct hn_walk_tally *tally) {
    struct walker walker[HN_WALKS];
    struct hn_walk_scratch own[HN_WALKS]; // marks of its own for each
    bool turns = walk->kind == HN_WALK_RESTART && walk->alpha < 1;
    for (int i = 0; i < count; i++) {
        own[i] = (struct hn_walk_scratch){.collected =
                                              s->collected + i * hn_bitset_words(walk->graph->n)};
        walker[i].p = (struct progress){.walk = walk,
                                        .stream = &stream[i],
                                        .scratch = turns ? &own[i] : s,
                                        .tally = tally,
                                        .ids = ids + (int64_t)i * walk->batch_size};
        set_out(&walker[i], start[i]);
        if (!turns)
            walk_alone(&walker[i].p, start[i]);
    }
    if (!turns)
        return;
    walk_with_restart(walker, count);
    for (int i = 0; i < count; i++)
        clear_marks(&walker[i].p);
}
