// SPDX-License-Identifier: GPL-3.0-or-later
// BS proposition 1: how similar the neighbours in a proximity graph are at least.
//
// For an item v with S others of similarity above s, and p = (N - 1 - S) / (N - 1):
//
//   exact     P(all K neighbours of v have similarity > s) = P(H >= K), H hypergeometric: M
//             candidates without replacement among N - 1 others, S of them above s
//   binomial  1 - sum_{k < K} C(M, k) p^(M - k) (1 - p)^k                              (eq. 6)
//   claimed   (1 - p^M)^K                                                              (eq. 5)
//
// The claim is a lower bound "approximately". With q = 1 - p it is near 1 as soon as q M exceeds
// log K by a little, while K candidates above s are to be expected only from q M = K on: in between
// it cannot hold. Measured: in graphs of the program's own builder with independent candidates, so
// that the trials (items x graphs) are independent of each other.
//
// by = similarity: one s for all items; S and p differ from item to item, everything is the mean
// over items. by = rank: every item is given its own s, that of its S-th most similar other; then
// p, and what is claimed, are the same for all. The interval (Wilson 1927) treats the trials as
// equally likely, which gives those that are not a variance too large, never too small.
//
// Deviation: the paper counts v among the N items; here v is not its own candidate, and is left out
// of both counts. holds: yes if the whole interval lies at or above the claim, no if below it, open
// otherwise. holds_exact compares the exact probability with the claim.
#include "core/sweep/sweep.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"
#include "samplers/proximity.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

struct params {
    struct hn_study_graph graph;
    int64_t graphs, points;
};

// Counts, per row, the others of exact similarity above each of the row's thresholds.
struct above {
    struct hn_matrix x, y;
    double bound;
    int thresholds;
    const double *shared; // [n_shared] the first thresholds, of all rows
    int n_shared;
    const double *own; // [rows x (thresholds - n_shared)]
    int32_t *count;    // [rows x thresholds]
};

static enum hn_code begin(struct hn_context *ctx, void *self, const struct hn_sweep_shape *shape) {
    (void)ctx;
    struct above *a = self;
    a->x = shape->x;
    a->y = shape->y;
    return HN_OK;
}

// Entries certainly above, and those that only the exact product decides.
static int32_t count_row(const struct above *a, const struct hn_tile *tile, int32_t i,
                         double threshold) {
    struct hn_span span[2];
    int spans = hn_tile_spans(tile, i, true, span);
    const float *s = tile->s + i * tile->stride;
    float low = (float)(threshold - 2 * a->bound), high = (float)(threshold + 2 * a->bound);
    int32_t certain = 0, possible = 0;
    for (int p = 0; p < spans; p++)
        for (int32_t j = span[p].from; j < span[p].to; j++) {
            certain += s[j] > high;
            possible += s[j] >= low;
        }
    if (certain == possible)
        return certain;
    const float *row = hn_row(&a->x, tile->row0 + i);
    for (int p = 0; p < spans; p++)
        for (int32_t j = span[p].from; j < span[p].to; j++)
            if (s[j] >= low && !(s[j] > high))
                certain += hn_dot_exact(row, hn_row(&a->y, tile->col0 + j), a->x.cols) > threshold;
    return certain;
}

static void tile(void *self, const struct hn_tile *tile, int thread) {
    const struct above *a = self;
    (void)thread;
    for (int32_t i = 0; i < tile->rows; i++) {
        int64_t row = tile->row0 + i;
        const double *own = a->own + row * (a->thresholds - a->n_shared);
        for (int t = 0; t < a->thresholds; t++)
            a->count[row * a->thresholds + t] +=
                count_row(a, tile, i, t < a->n_shared ? a->shared[t] : own[t - a->n_shared]);
    }
}

static const struct hn_sink_type above_sink = {.name = "above", .begin = begin, .tile = tile};

struct work {
    const struct params *params;
    const struct hn_items *items;
    int64_t m, k; // as far as there are others
    int points, graphs, thresholds;
    double *grid;  // [points] similarities
    double *worst; // [n x graphs] exact similarity of the last neighbour
    int32_t *count;
    double *exact, *binomial, *claimed; // [n] by S, NaN = not computed yet
};

static enum hn_code take_memory(struct hn_context *ctx, struct work *w) {
    int64_t n = w->items->n, cells;
    if (!hn_mul(n, w->thresholds, &cells))
        return hn_fail(ctx, HN_MEMORY, "prop1: too many items, points or graphs");
    if (!HN_ALLOC(ctx, w->grid, w->points) || !HN_ALLOC(ctx, w->worst, n * w->graphs) ||
        !HN_ZALLOC(ctx, w->count, cells) || !HN_ALLOC(ctx, w->exact, n) ||
        !HN_ALLOC(ctx, w->binomial, n) || !HN_ALLOC(ctx, w->claimed, n))
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        w->exact[i] = w->binomial[i] = w->claimed[i] = NAN;
    return HN_OK;
}

// The similarity of each item's last neighbour in graph number g.
static enum hn_code build(struct hn_context *ctx, struct work *w, uint64_t seed, int g) {
    const struct hn_matrix *x = &w->items->x;
    struct hn_proximity spec = {.m = w->m, .k = w->k, .seed = seed, .built_index = w->items->index};
    struct hn_work counted = {0};
    struct hn_graph graph;
    if (hn_proximity_build(ctx, w->items, &spec, &counted, &graph))
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t v = 0; v < graph.n; v++)
        w->worst[v * w->graphs + g] =
            hn_dot_exact(hn_row(x, v), hn_row(x, graph.target[graph.start[v + 1] - 1]), x->cols);
    hn_graph_free(ctx, &graph);
    return HN_OK;
}

// Every graph has a seed of its own, drawn from a stream of the job's.
static enum hn_code build_all(struct hn_context *ctx, struct work *w, int64_t seed) {
    struct hn_stream stream;
    hn_stream_open(&stream, (uint64_t)seed, "prop1.graphs", w->items->index, 0, 0);
    for (int g = 0; g < w->graphs; g++) {
        uint64_t high = hn_stream_word(&stream);
        if (hn_check_stop(ctx) || build(ctx, w, high << 32 | hn_stream_word(&stream), g))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code count_above(struct hn_context *ctx, struct work *w) {
    struct hn_sweep sweep = {.x = w->items->x, .y = w->items->x};
    struct above above = {.bound = hn_dot_bound(w->items->d),
                          .thresholds = w->thresholds,
                          .shared = w->grid,
                          .n_shared = w->points,
                          .own = w->worst,
                          .count = w->count};
    hn_sweep_add(&sweep, &above_sink, &above, HN_SIDE_ROWS);
    return hn_sweep_run(ctx, &sweep);
}

// The three probabilities for S others above s, each computed once.
static void look_up(struct work *w, int64_t above, double p[3]) {
    int64_t others = w->items->n - 1;
    if (isnan(w->exact[above])) {
        double below = (double)(others - above) / (double)others;
        w->exact[above] = gsl_cdf_hypergeometric_Q((unsigned)(w->k - 1), (unsigned)above,
                                                   (unsigned)(others - above), (unsigned)w->m);
        w->binomial[above] = gsl_cdf_binomial_Q((unsigned)(w->k - 1), 1 - below, (unsigned)w->m);
        w->claimed[above] = exp((double)w->k * log1p(-pow(below, (double)w->m)));
    }
    p[0] = w->exact[above];
    p[1] = w->binomial[above];
    p[2] = w->claimed[above];
}

struct point {
    const char *by;
    double s, above, p[3];
    int64_t hits;
};

// Sums of probabilities, and means, come out above 1 by rounding.
static double probability(double sum) { return fmax(0, fmin(sum, 1)); }

static enum hn_code add_row(struct hn_context *ctx, const struct work *w, const struct point *p,
                            struct hn_table *table) {
    double exact = probability(p->p[0]), binomial = probability(p->p[1]);
    double trials = (double)w->items->n * w->graphs, hits = (double)p->hits;
    double others = (double)(w->items->n - 1);
    double z = gsl_cdf_ugaussian_Pinv(0.975), centre = (hits + z * z / 2) / (trials + z * z);
    double half = z / (trials + z * z) * sqrt(hits * (trials - hits) / trials + z * z / 4);
    double lo = hits > 0 ? centre - half : 0, hi = hits < trials ? centre + half : 1;
    const char *holds = lo >= p->p[2] ? "yes" : hi < p->p[2] ? "no" : "open";
    // The probabilities carry the rounding of their sums.
    const char *holds_exact = exact >= p->p[2] - 1e-9 ? "yes" : "no";
    return HN_TABLE_PUT(ctx, table, HN_TEXT_VALUE("by", p->by), HN_INT_VALUE("M", w->m),
                        HN_INT_VALUE("K", w->k), HN_INT_VALUE("graphs", w->graphs),
                        HN_INT_VALUE("trials", (int64_t)trials), HN_REAL_VALUE("s", p->s),
                        HN_REAL_VALUE("above", p->above),
                        HN_REAL_VALUE("p", (others - p->above) / others),
                        HN_REAL_VALUE("measured", hits / trials), HN_REAL_VALUE("measured_lo", lo),
                        HN_REAL_VALUE("measured_hi", hi), HN_REAL_VALUE("exact", exact),
                        HN_REAL_VALUE("binomial", binomial), HN_REAL_VALUE("claimed", p->p[2]),
                        HN_TEXT_VALUE("holds", holds), HN_TEXT_VALUE("holds_exact", holds_exact));
}

// One s for all items.
static enum hn_code by_similarity(struct hn_context *ctx, struct work *w, struct hn_table *table) {
    int64_t n = w->items->n;
    for (int t = 0; t < w->points; t++) {
        struct point point = {.by = "similarity", .s = w->grid[t]};
        int64_t all = 0;
        for (int64_t v = 0; v < n; v++) {
            int32_t above = w->count[v * w->thresholds + t];
            double p[3];
            look_up(w, above, p);
            for (int i = 0; i < 3; i++)
                point.p[i] += p[i] / (double)n;
            all += above;
            for (int g = 0; g < w->graphs; g++)
                point.hits += w->worst[v * w->graphs + g] > w->grid[t];
        }
        point.above = (double)all / (double)n;
        if (add_row(ctx, w, &point, table))
            return ctx->code;
    }
    return HN_OK;
}

// S in equal steps of the logarithm, from a thousandth of the others to all of them.
static int64_t rank_at(const struct work *w, int t) {
    double others = (double)(w->items->n - 1);
    double share = pow(0.001, 1 - (double)t / (w->points - 1));
    return (int64_t)fmax(1, floor(share * others + 0.5));
}

// All K neighbours are among the S most similar others exactly if fewer than S others are more
// similar than the last neighbour.
static enum hn_code by_rank(struct hn_context *ctx, struct work *w, struct hn_table *table) {
    int64_t n = w->items->n, before = 0;
    for (int t = 0; t < w->points; t++) {
        int64_t rank = rank_at(w, t);
        struct point point = {.by = "rank", .s = NAN, .above = (double)rank};
        if (rank == before)
            continue;
        before = rank;
        look_up(w, rank, point.p);
        for (int64_t v = 0; v < n; v++)
            for (int g = 0; g < w->graphs; g++)
                point.hits += w->count[v * w->thresholds + w->points + g] < rank;
        if (add_row(ctx, w, &point, table))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code run(struct hn_context *ctx, const void *p, const struct hn_study_env *env,
                        struct hn_table *table) {
    const struct params *params = p;
    const struct hn_study_graph graph = hn_study_graph_of(p, env->items->n);
    struct work w = {.params = params,
                     .items = env->items,
                     .m = graph.m,
                     .k = graph.k,
                     .points = (int)params->points,
                     .graphs = (int)params->graphs,
                     .thresholds = (int)(params->points + params->graphs)};
    if (take_memory(ctx, &w))
        return ctx->code;
    for (int t = 0; t < w.points; t++)
        w.grid[t] = (2.0 * t - (w.points - 1)) / (w.points - 1);
    if (build_all(ctx, &w, env->seed[0]) || count_above(ctx, &w) || by_similarity(ctx, &w, table))
        return ctx->code;
    return by_rank(ctx, &w, table);
}

static const struct hn_option options[] = {
    HN_STUDY_GRAPH_OPTIONS,
    {HN_INT_OPTION(struct params, graphs, "graphs", "5", 1, 10000,
                   "graphs drawn; each gives one trial per item")},
    {HN_INT_OPTION(struct params, points, "points", "81", 2, 10000,
                   "values of s on [-1, 1], and of the rank S")},
    {0}};

static const struct hn_column columns[] = {
    {"by", HN_COLUMN_TEXT, "", "similarity: one s for all items; rank: that of each item's S-th",
     HN_NEITHER},
    HN_STUDY_GRAPH_COLUMNS,
    {"graphs", HN_COLUMN_INT, "graphs", "graphs drawn", HN_NEITHER},
    {"trials", HN_COLUMN_INT, "1", "items times graphs", HN_NEITHER},
    {"s", HN_COLUMN_REAL, "1", "similarity; NaN by rank", HN_NEITHER},
    {"above", HN_COLUMN_REAL, "items", "S: others of similarity above s, mean over items",
     HN_NEITHER},
    {"p", HN_COLUMN_REAL, "1", "share of the others that are not above s", HN_NEITHER},
    {"measured", HN_COLUMN_REAL, "1", "share of items with all K neighbours above s", HN_NEITHER},
    {"measured_lo", HN_COLUMN_REAL, "1", "lower end of its 95 % interval", HN_NEITHER},
    {"measured_hi", HN_COLUMN_REAL, "1", "upper end of its 95 % interval", HN_NEITHER},
    {"exact", HN_COLUMN_REAL, "1", "the probability, hypergeometric", HN_NEITHER},
    {"binomial", HN_COLUMN_REAL, "1", "its binomial form, BS equation 6", HN_NEITHER},
    {"claimed", HN_COLUMN_REAL, "1", "claimed lower bound, BS equation 5", HN_NEITHER},
    {"holds", HN_COLUMN_TEXT, "", "yes, no or open: the interval against the claim", HN_NEITHER},
    {"holds_exact", HN_COLUMN_TEXT, "", "yes or no: the exact probability against the claim",
     HN_NEITHER},
};

const struct hn_study_type hn_study_prop1 = {
    .name = "prop1",
    .summary = "probability that all neighbours in a proximity graph are more similar than s",
    .source = "BS proposition 1, equations 4 to 6",
    .note = "an item is not its own candidate, so that N - 1 stands for the paper's N",
    .options = options,
    .params_size = sizeof(struct params),
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .check = hn_study_check_graph,
    .run = run,
};
