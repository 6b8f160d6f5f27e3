// SPDX-License-Identifier: GPL-3.0-or-later
// Times kernels and samplers, beside what the machine could do at best.
#include "core/random.h"
#include "core/sweep/knn_lists.h"
#include "core/sweep/sinks.h"
#include "harness/bench/bench.h"
#include "harness/host/host.h"
#include "harness/run/timed.h"
#include "metrics/global.h"
#include "metrics/measure.h"
#include "metrics/metric.h"
#include "retrieval/mine.h"
#include "retrieval/miner.h"
#include "retrieval/ranking.h"
#include "retrieval/take.h"
#include "samplers/gcbs_pairs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { FULL, HALF };         // X Y^T or X X^T
enum { INDEPENDENT, DEALT }; // candidates of a proximity graph
enum { MINE, RANK };

static const double temperature = 0.5;

static enum hn_code make_rows(struct hn_context *ctx, const struct hn_bench_shape *shape,
                              int64_t which, struct hn_matrix *out) {
    const struct hn_random_rows rows = {shape->n, shape->dim, false, 1, "bench.rows", which};
    return hn_random_rows(ctx, &rows, out);
}

// Ten classes.
static enum hn_code make_labels(struct hn_context *ctx, int64_t n, const int32_t **out) {
    int32_t *label = hn_alloc(ctx, n, sizeof *label);
    for (int64_t i = 0; label && i < n; i++)
        label[i] = (int32_t)(i % 10);
    *out = label;
    return label ? HN_OK : ctx->code;
}

static void free_items(struct hn_context *ctx, struct hn_bench *b) {
    hn_free(ctx, (float *)b->items.x.data);
    hn_free(ctx, (float *)b->items.x1.data);
    hn_free(ctx, (float *)b->items.x2.data);
    hn_free(ctx, (float *)b->queries.data);
    b->queries = (struct hn_matrix){0};
    hn_free(ctx, (int32_t *)b->items.labels);
    hn_global_free(ctx, &b->global);
    b->items = (struct hn_items){0};
}

enum hn_code hn_bench_items(struct hn_context *ctx, struct hn_bench *b, enum hn_bench_needs needs) {
    const struct hn_bench_shape *shape = &b->shape;
    struct hn_items *items = &b->items;
    if (needs == HN_BENCH_NO_ROWS || needs == HN_BENCH_TRAINING)
        return HN_OK;
    if (items->n != shape->n || items->d != shape->dim)
        free_items(ctx, b);
    items->n = shape->n;
    items->d = shape->dim;
    if (!items->x.data && make_rows(ctx, shape, 0, &items->x))
        return ctx->code;
    if (!items->labels && make_labels(ctx, shape->n, &items->labels))
        return ctx->code;
    if (needs == HN_BENCH_QUERIES_TOO && b->queries.rows != shape->queries) {
        const struct hn_bench_shape queries = {.n = shape->queries, .dim = shape->dim};
        hn_free(ctx, (float *)b->queries.data);
        b->queries = (struct hn_matrix){0};
        return make_rows(ctx, &queries, 3, &b->queries);
    }
    if (needs == HN_BENCH_VIEWS_TOO && !items->x1.data &&
        (make_rows(ctx, shape, 1, &items->x1) || make_rows(ctx, shape, 2, &items->x2)))
        return ctx->code;
    return HN_OK;
}

// Given as the time of one N x N product at the rate of one product per thread.
static enum hn_code run_sgemm(struct hn_context *ctx, struct hn_bench *b,
                              const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    (void)k;
    double gflops;
    if (hn_host_sgemm(ctx, b->shape.dim, 1, &gflops))
        return ctx->code;
    out->ideal = hn_bench_flop_seconds(b, b->shape.n * b->shape.n);
    out->seconds = out->ideal * b->gflops / gflops;
    return HN_OK;
}

static enum hn_code run_knn(struct hn_context *ctx, struct hn_bench *b,
                            const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    (void)k;
    struct hn_knn_lists knn = {
        .x = b->items.x, .y = b->items.x, .k = b->shape.K, .skip_self = true};
    int64_t dots, begun = hn_wall_ns();
    enum hn_code code = hn_knn_lists_run(ctx, &knn, &dots);
    out->seconds = hn_seconds_since(begun);
    out->ideal = hn_bench_flop_seconds(b, dots);
    hn_knn_lists_free(ctx, &knn);
    return code;
}

static enum hn_code run_loss(struct hn_context *ctx, struct hn_bench *b,
                             const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    struct hn_global global;
    int64_t dots;
    int64_t begun = hn_wall_ns();
    if (hn_global_compute(ctx, &b->items, &k->argument, 1, &global, &dots))
        return ctx->code;
    out->seconds = hn_seconds_since(begun);
    out->ideal = hn_bench_flop_seconds(b, dots);
    hn_global_free(ctx, &global);
    return HN_OK;
}

// Builds a sampler, written as in a job file, and draws its batches if that is what is timed: of a
// whole epoch, of which the one before warms up.
static enum hn_code run_sampler(struct hn_context *ctx, struct hn_bench *b, const char *text,
                                bool draws, struct hn_timed *timed) {
    struct hn_job_sampler *chosen;
    int64_t batch_size = hn_min(b->shape.batch, b->shape.n);
    if (hn_job_parse_sampler(ctx, text, &chosen))
        return ctx->code;
    *timed = (struct hn_timed){.sampler = chosen,
                               .batch_size = (int32_t)batch_size,
                               .seed = 1,
                               .batches = draws ? INT32_MAX : 0,
                               .warm_up = true};
    return hn_time_sampler(ctx, &b->items, timed);
}

// Candidates dealt in tiles are matrix products; independent ones lie anywhere, and the ceiling is
// reading each of their rows from memory once.
static enum hn_code run_graph(struct hn_context *ctx, struct hn_bench *b,
                              const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    char text[256];
    struct hn_timed timed;
    bool dealt = k->argument == DEALT;
    snprintf(text, sizeof text, "{batchsampler: {M: %" PRId64 ", K: %" PRId64 ", candidates: %s}}",
             b->shape.M, b->shape.K, dealt ? "dealt" : "independent");
    if (run_sampler(ctx, b, text, false, &timed))
        return ctx->code;
    double bytes = (double)timed.build_dots * (double)b->shape.dim * 4.0;
    out->seconds = timed.build;
    out->ideal = dealt ? hn_bench_flop_seconds(b, timed.build_dots) : bytes / (b->gbs * 1e9);
    return HN_OK;
}

// Walks, on a graph that is made in the quicker way: no ceiling.
static enum hn_code run_walk(struct hn_context *ctx, struct hn_bench *b,
                             const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    char text[256];
    struct hn_timed timed = {0};
    out->ideal = NAN;
    snprintf(text, sizeof text,
             "{batchsampler: {M: %" PRId64 ", K: %" PRId64 ", candidates: dealt, alpha: %g}}",
             b->shape.M, b->shape.K, k->argument);
    enum hn_code code = run_sampler(ctx, b, text, true, &timed);
    out->seconds = timed.batch;
    return code;
}

static enum hn_code run_gcbs(struct hn_context *ctx, struct hn_bench *b,
                             const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    (void)k;
    char text[64];
    struct hn_timed timed = {0};
    snprintf(text, sizeof text, "{gcbs: {keep: %" PRId64 "}}",
             hn_min(b->shape.keep, b->shape.n - 1));
    out->ideal = hn_bench_flop_seconds(b, b->shape.n * b->shape.n);
    enum hn_code code = run_sampler(ctx, b, text, false, &timed);
    out->seconds = timed.build;
    return code;
}

// Everything that sinks collect but histograms, or nothing.
static enum hn_code sweep_seconds(struct hn_context *ctx, const struct hn_bench *b, bool half,
                                  bool sinks, double *seconds) {
    // The upper 0.1 % of products of random rows, which are nearly normal with variance 1 / d.
    float threshold = (float)(3.09 / sqrt((double)b->shape.dim));
    struct hn_topk topk = {.k = b->shape.K, .skip_self = true, .ids_only = true};
    struct hn_lse lse = {.temperature = &temperature, .n = 1, .skip_self = true};
    struct hn_extrema extrema = {.skip_self = true};
    struct hn_close_pairs pairs = {
        .low = threshold, .high = threshold, .capacity = b->shape.n * b->shape.n / 400 + 64};
    struct hn_sweep sweep = {.x = b->items.x1, .y = half ? b->items.x1 : b->items.x2};
    if (sinks) {
        hn_sweep_add(&sweep, &hn_topk_sink, &topk, HN_SIDE_ROWS);
        hn_sweep_add(&sweep, &hn_lse_sink, &lse, HN_SIDE_ROWS);
        hn_sweep_add(&sweep, &hn_extrema_sink, &extrema, HN_SIDE_ROWS);
        hn_sweep_add(&sweep, &hn_close_pairs_sink, &pairs, HN_SIDE_ROWS);
    }
    int64_t begun = hn_wall_ns();
    enum hn_code code = hn_sweep_run(ctx, &sweep);
    *seconds = hn_seconds_since(begun);
    hn_topk_free(ctx, &topk);
    hn_lse_free(ctx, &lse);
    hn_extrema_free(ctx, &extrema);
    hn_close_pairs_free(ctx, &pairs);
    return code;
}

// The sweep with no sink at all: what is left to win or lose over the library's product.
static enum hn_code run_product(struct hn_context *ctx, struct hn_bench *b,
                                const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    int64_t n = b->shape.n;
    out->ideal = hn_bench_flop_seconds(b, k->argument == HALF ? n * (n + 1) / 2 : n * n);
    return sweep_seconds(ctx, b, k->argument == HALF, false, &out->seconds);
}

// All sinks together; the ceiling is the same sweep without any, run just before.
static enum hn_code run_sinks(struct hn_context *ctx, struct hn_bench *b,
                              const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    bool half = k->argument == HALF;
    enum hn_code code = sweep_seconds(ctx, b, half, false, &out->ideal);
    return code ? code : sweep_seconds(ctx, b, half, true, &out->seconds);
}

enum { BATCHES = 300, CHUNK = 16 }; // as a job has them

// "cell-NAME": that metric, "cell-all": all; ended by NULL.
static int choose_metrics(const char *name, const struct hn_metric_type *one[2],
                          const struct hn_metric_type *const **out) {
    one[0] = hn_metric_find(name + strlen("cell-"));
    *out = one[0] ? one : hn_metrics;
    int n = 0;
    while ((*out)[n])
        n++;
    return n;
}

// Batches of permutations of the items, one after the other.
static enum hn_code draw_batches(struct hn_context *ctx, int64_t n, int64_t batch_size,
                                 int32_t **ids) {
    int64_t wanted = BATCHES * batch_size;
    if (!HN_ALLOC(ctx, *ids, wanted + n))
        return ctx->code;
    for (int64_t at = 0, epoch = 0; at < wanted; at += n - n % batch_size, epoch++)
        hn_permute(1, "bench.cell", 0, epoch, 0, *ids + at, n);
    return HN_OK;
}

static enum hn_code measure_batches(struct hn_context *ctx, const struct hn_measure_spec *spec,
                                    const int32_t *ids, double *value) {
    struct hn_measure *m;
    struct hn_cell_arrays arrays = {0};
    char why[HN_MESSAGE_MAX];
    int32_t size[CHUNK];
    for (int i = 0; i < CHUNK; i++)
        size[i] = spec->env.batch_size;
    enum hn_code code = hn_measure_begin(ctx, spec, &m);
    for (int64_t b = 0; b < BATCHES && !code; b += CHUNK)
        code = hn_measure_batches(ctx, m, 0, (int32_t)hn_min(CHUNK, BATCHES - b), size,
                                  ids + b * spec->env.batch_size);
    if (!code)
        code = hn_measure_finish(ctx, m, 0, value, &arrays, why);
    hn_cell_arrays_free(ctx, &arrays);
    hn_measure_close(ctx, m);
    return code;
}

// Measuring the batches of a cell with the metric that the kernel is named after, or with all,
// beside the matrix products that it cannot do without.
static enum hn_code run_cell(struct hn_context *ctx, struct hn_bench *b,
                             const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    const struct hn_metric_type *one[2] = {NULL, NULL}, *const * metrics;
    int n = choose_metrics(k->name, one, &metrics);
    int64_t batch_size = hn_min(b->shape.batch, b->shape.n), dots;
    unsigned needs = hn_measure_needs(metrics, n);
    if (needs & HN_METRIC_NEEDS_GLOBAL && !b->global.n &&
        hn_global_compute(ctx, &b->items, &temperature, 1, &b->global, &dots))
        return ctx->code;
    HN_SCOPE(ctx);
    int32_t *ids;
    double *value = hn_alloc(ctx, hn_measure_columns(metrics, n), sizeof *value);
    if (!value || draw_batches(ctx, b->shape.n, batch_size, &ids))
        return ctx->code;
    const struct hn_measure_spec spec = {.metrics = metrics,
                                         .n_metrics = n,
                                         .env = {.items = &b->items,
                                                 .global = b->global.n ? &b->global : NULL,
                                                 .temperature = temperature,
                                                 .batch_size = (int32_t)batch_size,
                                                 .threads = ctx->threads,
                                                 .batches = BATCHES}};
    int64_t begun = hn_wall_ns();
    enum hn_code code = measure_batches(ctx, &spec, ids, value);
    out->seconds = hn_seconds_since(begun);
    // Cosines and scores, and those within either view.
    double products = needs & HN_METRIC_NEEDS_VIEWS ? 4 : 2;
    out->ideal = products * BATCHES * 2.0 * (double)b->shape.dim *
                 (double)(batch_size * batch_size) / (b->gflops * 1e9);
    return code;
}

// A positive of each query.
static enum hn_code make_qrels(struct hn_context *ctx, int64_t queries, int64_t passages,
                               struct hn_qrels *out) {
    struct hn_judgement *list = hn_alloc(ctx, queries, sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t i = 0; i < queries; i++)
        list[i] = (struct hn_judgement){(int32_t)i, (int32_t)(i * passages / queries), 1};
    return hn_qrels_build(ctx, list, queries, queries, out);
}

// 10 negatives by a margin, or the K there are, as hardneg_mine() takes them.
static enum hn_code mine(struct hn_context *ctx, const struct hn_miner *m, int64_t queries) {
    int64_t part = hn_ranking_rows(queries, &m->data.rows[HN_CORPUS], m->o.depth), count;
    struct hn_mined sum = {0};
    for (int64_t from = 0; from < queries; from += count) {
        struct hn_pool pool;
        HN_SCOPE(ctx);
        count = hn_min(part, queries - from);
        if (hn_miner_pool(ctx, m, from, count, false, &pool) || hn_miner_take(ctx, m, &pool, &sum))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code rank(struct hn_context *ctx, const struct hn_bench *b) {
    struct hn_ranking ranking;
    return hn_ranking_run(ctx, &b->queries, &b->items.x, b->shape.K, &ranking);
}

// Mining hard negatives of queries over a corpus, or (RANK) finding the best K of each alone, whose
// remainder is what filters take.
static enum hn_code run_mining(struct hn_context *ctx, struct hn_bench *b,
                               const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    struct hn_retrieval_data data = {.rows = {b->queries, b->items.x}};
    struct hn_mine_options options;
    struct hn_miner miner;
    int64_t queries = b->shape.queries;
    HN_SCOPE(ctx);
    if (hn_options_init(ctx, hn_mine_table, &options) ||
        make_qrels(ctx, queries, b->shape.n, &data.qrels))
        return ctx->code;
    options.depth = b->shape.K;
    options.n = hn_min(10, b->shape.K);
    options.relative_margin = .05;
    if (hn_miner_open(ctx, &data, &options, "random rows", &miner))
        return ctx->code;
    int64_t begun = hn_wall_ns();
    enum hn_code code = k->argument == MINE ? mine(ctx, &miner, queries) : rank(ctx, b);
    out->seconds = hn_seconds_since(begun);
    out->ideal = hn_bench_flop_seconds(b, queries * b->shape.n);
    return code;
}

static const struct hn_bench_kernel kernels[] = {
    {"sgemm", "sgemm", HN_BENCH_NO_ROWS, 0, run_sgemm},
    {"product", "product", HN_BENCH_VIEWS_TOO, FULL, run_product},
    {"product", "product-half", HN_BENCH_VIEWS_TOO, HALF, run_product},
    {"knn", "knn", HN_BENCH_ROWS, 0, run_knn},
    {"proximity", "proximity-independent", HN_BENCH_ROWS, INDEPENDENT, run_graph},
    {"proximity", "proximity-dealt", HN_BENCH_ROWS, DEALT, run_graph},
    {"walk", "walk-0.1", HN_BENCH_ROWS, 0.1, run_walk},
    {"walk", "walk-0.7", HN_BENCH_ROWS, 0.7, run_walk},
    {"gcbs", "gcbs", HN_BENCH_VIEWS_TOO, 0, run_gcbs},
    {"loss", "loss", HN_BENCH_VIEWS_TOO, 0.5, run_loss},
    {"sinks", "sinks", HN_BENCH_VIEWS_TOO, FULL, run_sinks},
    {"sinks", "sinks-half", HN_BENCH_VIEWS_TOO, HALF, run_sinks},
    {"mining", "mine", HN_BENCH_QUERIES_TOO, MINE, run_mining},
    {"mining", "mine-ranking", HN_BENCH_QUERIES_TOO, RANK, run_mining},
    {"cell", "cell-all", HN_BENCH_VIEWS_TOO, 0, run_cell},
    {"train", "train-views", HN_BENCH_TRAINING, HN_BENCH_VIEWS, hn_bench_training},
    {"train", "train-cnn", HN_BENCH_TRAINING, HN_BENCH_CNN, hn_bench_training},
    {"train", "train-node", HN_BENCH_TRAINING, HN_BENCH_NODE, hn_bench_training},
    {"train", "train-graph", HN_BENCH_TRAINING, HN_BENCH_GRAPH, hn_bench_training},
    {"train", "train-text", HN_BENCH_TRAINING, HN_BENCH_TEXT, hn_bench_training},
    {"train", "train-pairs", HN_BENCH_TRAINING, HN_BENCH_PAIRS, hn_bench_training},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

enum hn_code hn_bench_list(struct hn_context *ctx, const struct hn_bench_kernel **out) {
    int64_t metrics = 0;
    while (hn_metrics[metrics])
        metrics++;
    struct hn_bench_kernel *list = hn_alloc(ctx, KERNELS + metrics + 1, sizeof *list);
    if (!list)
        return ctx->code;
    memcpy(list, kernels, sizeof kernels);
    for (int64_t i = 0; i < metrics; i++) {
        struct hn_bench_kernel *cell = list + KERNELS + i;
        *cell = (struct hn_bench_kernel){"cell", NULL, HN_BENCH_VIEWS_TOO, 0, run_cell};
        if (!(cell->name = hn_format(ctx, "cell-%s", hn_metrics[i]->name)))
            return ctx->code;
    }
    list[KERNELS + metrics] = (struct hn_bench_kernel){.name = NULL};
    *out = list;
    return HN_OK;
}
