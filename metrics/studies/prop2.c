// SPDX-License-Identifier: GPL-3.0-or-later
// BS proposition 2: how likely a walk with restart is to be found outside a set it starts in.
//
// On an undirected graph with adjacency A and degrees D, the lazy walk M = (I + A D^-1) / 2 with
// restart at u has the stationary distribution p_u = alpha 1_u + (1 - alpha) M p_u (eq. 13). With
// the conductance of a set S, Phi(S) = edges out of S / min(vol(S), vol(V - S)) (eq. 12):
//
//   claimed   for every u in S:  sum over v outside S of p_u(v) <= (1 - alpha) / (2 alpha) Phi(S)
//
// The proof takes its lemma (q^(K)(V - S) <= K Phi(S) / 2) for every start u; Spielman and Teng
// (2013, proposition 2.5) prove it for a start drawn by degree within S, and for a part of the
// starts only. For a start by degree the bound therefore must hold, and a failure is a bug; for
// every u it need not, and the table says for how many it does not.
//
// All starts at once: with h(u) the mass outside S of p_u, h = alpha 1_(V - S) + (1 - alpha) M^T h,
// so that one power iteration gives the escape from every start, without a sample of them. The
// iteration begins at 1_(V - S) and shrinks the error by 1 - alpha a turn, to 1e-10 at most.
//
// The graph is the union of both directions of the proximity graph (independent candidates), every
// edge of weight 1, as the walk of algorithm 3 takes neighbours uniformly. Sets: `class`, the items
// of a label; `sweep`, the prefix of least conductance, of at most half the volume, when the items
// are sorted by p_u(v) / d(v) for a random u; `ball`, its first B items (the first batch size).
#include "core/classes.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"
#include "samplers/proximity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct params {
    struct hn_study_graph graph;
    double alpha;
    int64_t sweeps;
};

static const double tolerance = 1e-10;

struct work {
    const struct params *params;
    const struct hn_study_env *env;
    int64_t n;
    struct hn_graph graph; // symmetric
    double *now, *next;    // [n] of an iteration
    double *rank;          // [n] p_u(v) / d(v)
    int32_t *order;        // [n] items by it
    uint8_t *inside;       // [n] the set
    int64_t iterations;    // of the last solution
};

static double degree(const struct work *w, int64_t v) {
    return (double)(w->graph.start[v + 1] - w->graph.start[v]);
}

// The symmetric graph.
static enum hn_code build(struct hn_context *ctx, struct work *w) {
    const struct hn_items *items = w->env->items;
    const struct hn_study_graph graph = hn_study_graph_of(w->params, w->n);
    struct hn_proximity spec = {
        .m = graph.m, .k = graph.k, .seed = (uint64_t)w->env->seed[0], .built_index = items->index};
    struct hn_work counted = {0};
    struct hn_graph directed = {0};
    if (hn_proximity_build(ctx, items, &spec, &counted, &directed))
        return ctx->code;
    int64_t edges = hn_graph_edges(&directed);
    int32_t *from = hn_alloc(ctx, edges, sizeof *from);
    if (!from)
        return ctx->code;
    for (int64_t v = 0; v < w->n; v++)
        for (int64_t e = directed.start[v]; e < directed.start[v + 1]; e++)
            from[e] = (int32_t)v;
    if (hn_graph_symmetric(ctx, w->n, edges, from, directed.target, &w->graph))
        return ctx->code;
    hn_free(ctx, from);
    hn_graph_free(ctx, &directed);
    return HN_OK;
}

// One turn of h = alpha f + (1 - alpha) (h + mean of h over the neighbours) / 2; the change. Every
// row is summed by one thread, so that the order is the same for any number of them.
static double turn(const struct hn_context *ctx, struct work *w, double alpha,
                   const double *source) {
    const struct hn_graph *g = &w->graph;
    double change = 0;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 256) reduction(max : change)
    for (int64_t v = 0; v < w->n; v++) {
        double sum = 0;
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            sum += w->now[g->target[e]];
        int64_t neighbours = g->start[v + 1] - g->start[v];
        double stay = neighbours ? sum / (double)neighbours : w->now[v];
        w->next[v] = alpha * source[v] + (1 - alpha) * (w->now[v] + stay) / 2;
        change = fmax(change, fabs(w->next[v] - w->now[v]));
    }
    double *swap = w->now;
    w->now = w->next;
    w->next = swap;
    return change;
}

// Solves it from w->now on: the error is at most (1 - alpha) / alpha times the last change.
static enum hn_code solve(struct hn_context *ctx, struct work *w, const double *source) {
    double alpha = w->params->alpha, change = INFINITY;
    w->iterations = 0;
    while (change * (1 - alpha) / alpha > tolerance) {
        if (hn_check_stop(ctx))
            return ctx->code;
        change = turn(ctx, w, alpha, source);
        w->iterations++;
    }
    return HN_OK;
}

// Measurements of a set.
struct set {
    const char *kind;
    int64_t name; // label, or start of the sweep
    double size, volume, conductance, bound;
    double mean, max, violating, by_degree;
};

static double total_volume(const struct work *w) { return (double)hn_graph_edges(&w->graph); }

static void measure_edges(const struct work *w, struct set *s) {
    const struct hn_graph *g = &w->graph;
    double cut = 0, all = total_volume(w), alpha = w->params->alpha;
    s->size = s->volume = 0;
    for (int64_t v = 0; v < w->n; v++) {
        if (!w->inside[v])
            continue;
        s->size++;
        s->volume += degree(w, v);
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            cut += !w->inside[g->target[e]];
    }
    s->conductance = cut / fmin(s->volume, all - s->volume);
    s->bound = (1 - alpha) / (2 * alpha) * s->conductance;
}

// True if above the bound by more than rounding and the end of the iteration explain.
static bool above(double escape, double bound) { return escape > bound + 10 * tolerance; }

static void measure_escape(const struct work *w, const double *escape, struct set *s) {
    s->mean = s->max = s->violating = s->by_degree = 0;
    for (int64_t v = 0; v < w->n; v++) {
        if (!w->inside[v])
            continue;
        s->mean += escape[v];
        s->max = fmax(s->max, escape[v]);
        s->violating += above(escape[v], s->bound);
        s->by_degree += degree(w, v) / s->volume * escape[v];
    }
    s->mean /= s->size;
    s->violating /= s->size;
}

static enum hn_code add_row(struct hn_context *ctx, const struct work *w, const struct set *s,
                            struct hn_table *table) {
    const struct hn_study_graph graph = hn_study_graph_of(w->params, w->n);
    return HN_TABLE_PUT(
        ctx, table, HN_REAL_VALUE("alpha", w->params->alpha), HN_INT_VALUE("M", graph.m),
        HN_INT_VALUE("K", graph.k), HN_TEXT_VALUE("set_kind", s->kind),
        HN_INT_VALUE("set", s->name), HN_INT_VALUE("size", (int64_t)s->size),
        HN_REAL_VALUE("volume", s->volume / total_volume(w)),
        HN_REAL_VALUE("conductance", s->conductance), HN_REAL_VALUE("bound", s->bound),
        HN_REAL_VALUE("escape_mean", s->mean), HN_REAL_VALUE("escape_max", s->max),
        HN_REAL_VALUE("violating", s->violating), HN_REAL_VALUE("escape_by_degree", s->by_degree),
        HN_TEXT_VALUE("holds", above(s->max, s->bound) ? "no" : "yes"),
        HN_TEXT_VALUE("holds_by_degree", above(s->by_degree, s->bound) ? "no" : "yes"),
        HN_INT_VALUE("iterations", w->iterations));
}

// The set in w->inside; one that is empty or everything has no conductance, and no row.
static enum hn_code judge(struct hn_context *ctx, struct work *w, const char *kind, int64_t name,
                          struct hn_table *table) {
    struct set s = {.kind = kind, .name = name};
    measure_edges(w, &s);
    if (s.volume <= 0 || s.volume >= total_volume(w))
        return HN_OK;
    HN_SCOPE(ctx);
    double *outside = hn_alloc(ctx, w->n, sizeof *outside);
    if (!outside)
        return ctx->code;
    for (int64_t v = 0; v < w->n; v++)
        outside[v] = w->now[v] = !w->inside[v];
    if (solve(ctx, w, outside))
        return ctx->code;
    measure_escape(w, w->now, &s);
    return add_row(ctx, w, &s, table);
}

static enum hn_code judge_classes(struct hn_context *ctx, struct work *w, struct hn_table *table) {
    const int32_t *label = w->env->items->labels;
    struct hn_classes classes;
    if (hn_classes_find(ctx, label, w->n, &classes))
        return ctx->code;
    for (int64_t c = 0; c < classes.n; c++) {
        for (int64_t v = 0; v < w->n; v++)
            w->inside[v] = label[v] == classes.label[c];
        if (judge(ctx, w, "class", classes.label[c], table))
            return ctx->code;
    }
    return HN_OK;
}

// Items by falling rank, then number.
static int compare_ranks(const void *a, const void *b, void *rank) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    double p = ((const double *)rank)[x], q = ((const double *)rank)[y];
    return p > q ? -1 : p < q ? 1 : (x > y) - (x < y);
}

// Sorts the items by p_u(v) / d(v) into w->order. With f = 1_u the equation gives p_v(u), and the
// walk is reversible: p_v(u) / d(u) = p_u(v) / d(v).
static enum hn_code sort_around(struct hn_context *ctx, struct work *w, int32_t u) {
    HN_SCOPE(ctx);
    double *source = hn_zalloc(ctx, w->n, sizeof *source);
    if (!source)
        return ctx->code;
    source[u] = 1;
    memcpy(w->now, source, (size_t)w->n * sizeof *source);
    if (solve(ctx, w, source))
        return ctx->code;
    memcpy(w->rank, w->now, (size_t)w->n * sizeof *w->rank);
    for (int32_t v = 0; v < (int32_t)w->n; v++)
        w->order[v] = v;
    qsort_r(w->order, (size_t)w->n, sizeof *w->order, compare_ranks, w->rank);
    return HN_OK;
}

static void take_prefix(struct work *w, int64_t length) {
    for (int64_t i = 0; i < w->n; i++)
        w->inside[w->order[i]] = i < length;
}

// Length of the prefix of w->order of least conductance among those of at most half the volume.
static int64_t best_prefix(struct work *w) {
    const struct hn_graph *g = &w->graph;
    double volume = 0, cut = 0, best = INFINITY, all = total_volume(w);
    int64_t length = 1;
    take_prefix(w, 0);
    for (int64_t i = 0; i < w->n; i++) {
        int32_t v = w->order[i];
        volume += degree(w, v);
        if (volume > all / 2)
            break;
        for (int64_t e = g->start[v]; e < g->start[v + 1]; e++)
            cut += w->inside[g->target[e]] ? -1 : 1;
        w->inside[v] = 1;
        if (cut / volume < best) {
            best = cut / volume;
            length = i + 1;
        }
    }
    return length;
}

static enum hn_code judge_around(struct hn_context *ctx, struct work *w, int32_t u,
                                 struct hn_table *table) {
    if (sort_around(ctx, w, u))
        return ctx->code;
    take_prefix(w, best_prefix(w));
    if (judge(ctx, w, "sweep", u, table))
        return ctx->code;
    take_prefix(w, w->env->batch_size[0]);
    return judge(ctx, w, "ball", u, table);
}

// Starts are distinct.
static enum hn_code judge_sweeps(struct hn_context *ctx, struct work *w, struct hn_table *table) {
    int32_t *start = hn_alloc(ctx, w->n, sizeof *start);
    if (!start)
        return ctx->code;
    hn_permute((uint64_t)w->env->seed[0], "prop2.sweep", w->env->items->index, 0, 0, start, w->n);
    for (int64_t i = 0; i < hn_min(w->params->sweeps, w->n); i++)
        if (judge_around(ctx, w, start[i], table))
            return ctx->code;
    return HN_OK;
}

static enum hn_code run(struct hn_context *ctx, const void *p, const struct hn_study_env *env,
                        struct hn_table *table) {
    int64_t n = env->items->n;
    struct work w = {.params = p, .env = env, .n = n};
    if (!HN_ALLOC(ctx, w.now, n) || !HN_ALLOC(ctx, w.next, n) || !HN_ALLOC(ctx, w.rank, n) ||
        !HN_ALLOC(ctx, w.order, n) || !HN_ALLOC(ctx, w.inside, n) || build(ctx, &w) ||
        judge_classes(ctx, &w, table))
        return ctx->code;
    return judge_sweeps(ctx, &w, table);
}

static const struct hn_option options[] = {
    {HN_REAL_OPTION(struct params, alpha, "alpha", "0.2", 0.001, 1, "restart probability")},
    HN_STUDY_GRAPH_OPTIONS,
    {HN_INT_OPTION(struct params, sweeps, "sweeps", "8", 0, 100000, "random starts of sweep cuts")},
    {0}};

static const struct hn_column columns[] = {
    {"alpha", HN_COLUMN_REAL, "1", "restart probability", HN_NEITHER},
    HN_STUDY_GRAPH_COLUMNS,
    {"set_kind", HN_COLUMN_TEXT, "", "class, sweep or ball", HN_NEITHER},
    {"set", HN_COLUMN_INT, "1", "label of the class, or start of the sweep", HN_NEITHER},
    {"size", HN_COLUMN_INT, "items", "items of the set", HN_NEITHER},
    {"volume", HN_COLUMN_REAL, "1", "its share of the degrees", HN_NEITHER},
    {"conductance", HN_COLUMN_REAL, "1", "its conductance", HN_NEITHER},
    {"bound", HN_COLUMN_REAL, "1", "claimed upper bound, (1 - alpha) / (2 alpha) conductance",
     HN_NEITHER},
    {"escape_mean", HN_COLUMN_REAL, "1", "mass outside the set, mean over all starts in it",
     HN_NEITHER},
    {"escape_max", HN_COLUMN_REAL, "1", "the most over all starts in it", HN_NEITHER},
    {"violating", HN_COLUMN_REAL, "1", "share of its starts with more mass outside than claimed",
     HN_SMALLER},
    {"escape_by_degree", HN_COLUMN_REAL, "1", "mass outside for a start drawn by degree",
     HN_NEITHER},
    {"holds", HN_COLUMN_TEXT, "", "yes or no: for every start, as claimed", HN_NEITHER},
    {"holds_by_degree", HN_COLUMN_TEXT, "", "yes or no: for a start drawn by degree, as proved",
     HN_NEITHER},
    {"iterations", HN_COLUMN_INT, "1", "turns of the power iteration", HN_NEITHER},
};

const struct hn_study_type hn_study_prop2 = {
    .name = "prop2",
    .summary = "how often a walk with restart is outside a set it starts in, and the claimed bound",
    .source = "BS proposition 2, equations 12 to 15",
    .note = "the bound is proved for a start drawn by degree; it is judged for that and, as "
            "claimed, for every start",
    .needs = HN_METRIC_NEEDS_CLASSES,
    .uses = HN_STUDY_BATCH_SIZES,
    .options = options,
    .params_size = sizeof(struct params),
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .check = hn_study_check_graph,
    .run = run,
};
