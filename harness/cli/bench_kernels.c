#include "core/random.h"
#include "core/sweep/sinks.h"
#include "harness/cli/bench.h"
#include "harness/host/host.h"
#include "harness/job/job.h"
#include "metrics/global.h"
#include "samplers/gcbs_pairs.h"
#include "samplers/sampler.h"

#include <gsl/gsl_randist.h>
#include <inttypes.h>
#include <math.h>

enum { FULL, HALF };         // X Y^T or X X^T
enum { INDEPENDENT, DEALT }; // candidates of a proximity graph

// Rows in random directions: each from its own stream, so that any number of threads gives the
// same.
static void fill_rows(int threads, float *x, int64_t n, int64_t d, int64_t which) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        struct hn_stream stream;
        hn_stream_open(&stream, 1, "bench.rows", which, 0, i);
        gsl_rng rng = hn_stream_gsl(&stream);
        for (int64_t k = 0; k < d; k++)
            x[i * d + k] = (float)gsl_ran_gaussian_ziggurat(&rng, 1.0);
    }
}

static enum hn_code make_rows(struct hn_context *ctx, const struct hn_bench_shape *shape,
                              int64_t which, struct hn_matrix *out) {
    int64_t n = shape->n, d = shape->dim, size;
    float *x = hn_mul(n, d, &size) ? hn_alloc(ctx, size, sizeof *x) : NULL;
    if (!x)
        return hn_fail(ctx, HN_MEMORY, "no memory for %" PRId64 " x %" PRId64 " embeddings", n, d);
    *out = (struct hn_matrix){x, n, d, d};
    fill_rows(ctx->threads, x, n, d, which);
    return hn_normalize_rows(ctx, x, n, d, "bench");
}

void hn_bench_items_free(struct hn_context *ctx, struct hn_bench *b) {
    hn_free(ctx, (float *)b->items.x.data);
    hn_free(ctx, (float *)b->items.x1.data);
    hn_free(ctx, (float *)b->items.x2.data);
    hn_free(ctx, (int32_t *)b->items.labels);
    b->items = (struct hn_items){0};
}

enum hn_code hn_bench_items(struct hn_context *ctx, struct hn_bench *b, enum hn_bench_needs needs) {
    const struct hn_bench_shape *shape = &b->shape;
    struct hn_items *items = &b->items;
    if (needs != HN_BENCH_ROWS && needs != HN_BENCH_VIEWS_TOO)
        return HN_OK;
    if (items->n != shape->n || items->d != shape->dim)
        hn_bench_items_free(ctx, b);
    items->n = shape->n;
    items->d = shape->dim;
    if (!items->x.data && make_rows(ctx, shape, 0, &items->x))
        return ctx->code;
    if (!items->labels && !(items->labels = hn_zalloc(ctx, shape->n, sizeof(int32_t))))
        return ctx->code;
    if (needs == HN_BENCH_VIEWS_TOO && !items->x1.data &&
        (make_rows(ctx, shape, 1, &items->x1) || make_rows(ctx, shape, 2, &items->x2)))
        return ctx->code;
    return HN_OK;
}

static double seconds_since(int64_t begun) { return (double)(hn_wall_ns() - begun) * 1e-9; }

static double flop_seconds(const struct hn_bench *b, int64_t dots) {
    return 2.0 * (double)b->shape.dim * (double)dots / (b->gflops * 1e9);
}

// Given as the time of one N x N product at the rate of one product per thread.
static enum hn_code run_sgemm(struct hn_context *ctx, struct hn_bench *b,
                              const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    (void)k;
    double gflops;
    if (hn_host_sgemm(ctx, b->shape.dim, 1, &gflops))
        return ctx->code;
    out->ideal = flop_seconds(b, b->shape.n * b->shape.n);
    out->seconds = out->ideal * b->gflops / gflops;
    return HN_OK;
}

static enum hn_code run_knn(struct hn_context *ctx, struct hn_bench *b,
                            const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    (void)k;
    struct hn_topk topk = {.k = b->shape.K, .skip_self = true, .ids_only = true};
    struct hn_sweep sweep = {.x = b->items.x, .y = b->items.x};
    hn_sweep_add(&sweep, &hn_topk_sink, &topk, HN_SIDE_ROWS);
    int64_t begun = hn_wall_ns();
    enum hn_code code = hn_sweep_run(ctx, &sweep);
    out->seconds = seconds_since(begun);
    out->ideal = flop_seconds(b, sweep.n_dot);
    hn_topk_free(ctx, &topk);
    return code;
}

static enum hn_code run_loss(struct hn_context *ctx, struct hn_bench *b,
                             const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    struct hn_global global;
    int64_t dots;
    int64_t begun = hn_wall_ns();
    if (hn_global_compute(ctx, &b->items, k->argument, &global, &dots))
        return ctx->code;
    out->seconds = seconds_since(begun);
    out->ideal = flop_seconds(b, dots);
    hn_global_free(ctx, &global);
    return HN_OK;
}

// Seconds per batch, of a whole epoch; the epoch before warms up.
static enum hn_code draw_epochs(struct hn_context *ctx, struct hn_bench *b,
                                struct hn_sampler *sampler, double *seconds) {
    int64_t room = hn_batches_per_epoch(b->shape.n, sampler->batch_size), count;
    struct hn_batches batches = {.batch_size = sampler->batch_size};
    batches.ids = hn_alloc(ctx, room * batches.batch_size, sizeof *batches.ids);
    batches.size = batches.ids ? hn_alloc(ctx, room, sizeof *batches.size) : NULL;
    enum hn_code code = batches.size ? HN_OK : HN_MEMORY;
    for (int epoch = 0; epoch < 2 && code == HN_OK; epoch++) {
        code = hn_sampler_epoch(ctx, sampler, &b->items, epoch, &count);
        if (code != HN_OK)
            break;
        batches.count = (int32_t)hn_min(count, room);
        int64_t begun = hn_wall_ns();
        code = hn_sampler_next(ctx, sampler, &batches);
        *seconds = seconds_since(begun) / batches.count;
    }
    hn_free(ctx, batches.ids);
    hn_free(ctx, batches.size);
    return code;
}

// Builds a sampler, written as in a job file, and draws its batches if that is what is timed.
// dots: the inner products of the build.
static enum hn_code run_sampler(struct hn_context *ctx, struct hn_bench *b, const char *text,
                                bool draws, double *seconds, int64_t *dots) {
    struct hn_job_sampler chosen = {0};
    struct hn_sampler sampler = {0};
    struct hn_sampler_plan plan = {.n = b->shape.n,
                                   .batch_size = (int32_t)b->shape.batch,
                                   .has_positive = true,
                                   .has_labels = true};
    int32_t batch_size = (int32_t)hn_min(b->shape.batch, b->shape.n);
    enum hn_code code = hn_job_parse_sampler(ctx, text, &chosen);
    if (code == HN_OK && chosen.type->check)
        code = chosen.type->check(ctx, chosen.params, &plan);
    if (code == HN_OK)
        code = hn_sampler_open(ctx, chosen.type, chosen.params, plan.n, batch_size, 1, &sampler);
    int64_t begun = hn_wall_ns();
    if (code == HN_OK)
        code = hn_sampler_build(ctx, &sampler, &b->items, 0);
    *seconds = seconds_since(begun);
    *dots = sampler.build.dot;
    if (code == HN_OK && draws)
        code = draw_epochs(ctx, b, &sampler, seconds);
    hn_sampler_close(ctx, &sampler);
    hn_job_sampler_free(ctx, &chosen);
    return code;
}

// Candidates dealt in tiles are matrix products; independent ones lie anywhere, and the ceiling is
// reading each of their rows from memory once.
static enum hn_code run_graph(struct hn_context *ctx, struct hn_bench *b,
                              const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    char text[256];
    int64_t dots;
    bool dealt = k->argument == DEALT;
    snprintf(text, sizeof text, "{batchsampler: {M: %" PRId64 ", K: %" PRId64 ", candidates: %s}}",
             b->shape.M, b->shape.K, dealt ? "dealt" : "independent");
    if (run_sampler(ctx, b, text, false, &out->seconds, &dots))
        return ctx->code;
    out->ideal =
        dealt ? flop_seconds(b, dots) : (double)dots * (double)b->shape.dim * 4.0 / (b->gbs * 1e9);
    return HN_OK;
}

// Walks, on a graph that is made in the quicker way: no ceiling.
static enum hn_code run_walk(struct hn_context *ctx, struct hn_bench *b,
                             const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    char text[256];
    int64_t dots;
    out->ideal = NAN;
    snprintf(text, sizeof text,
             "{batchsampler: {M: %" PRId64 ", K: %" PRId64 ", candidates: dealt, alpha: %g}}",
             b->shape.M, b->shape.K, k->argument);
    return run_sampler(ctx, b, text, true, &out->seconds, &dots);
}

static enum hn_code run_gcbs(struct hn_context *ctx, struct hn_bench *b,
                             const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    (void)k;
    char text[64];
    int64_t dots;
    snprintf(text, sizeof text, "{gcbs: {keep: %" PRId64 "}}",
             hn_min(b->shape.keep, b->shape.n - 1));
    out->ideal = flop_seconds(b, b->shape.n * b->shape.n);
    return run_sampler(ctx, b, text, false, &out->seconds, &dots);
}

// Everything that sinks collect but histograms, or nothing.
static enum hn_code sweep_seconds(struct hn_context *ctx, const struct hn_bench *b, bool half,
                                  bool sinks, double *seconds) {
    const double temperature = 0.5;
    // The upper 0.1 % of products of random rows, which are nearly normal with variance 1 / d.
    float threshold = (float)(3.09 / sqrt((double)b->shape.dim));
    struct hn_topk topk = {.k = b->shape.K, .skip_self = true, .ids_only = true};
    struct hn_lse lse = {.temperature = &temperature, .n = 1, .skip_self = true};
    struct hn_extrema extrema = {.skip_self = true};
    struct hn_close_pairs pairs = {
        .low = threshold, .high = threshold, .room = b->shape.n * b->shape.n / 400 + 64};
    struct hn_sweep sweep = {.x = b->items.x1, .y = half ? b->items.x1 : b->items.x2};
    if (sinks) {
        hn_sweep_add(&sweep, &hn_topk_sink, &topk, HN_SIDE_ROWS);
        hn_sweep_add(&sweep, &hn_lse_sink, &lse, HN_SIDE_ROWS);
        hn_sweep_add(&sweep, &hn_extrema_sink, &extrema, HN_SIDE_ROWS);
        hn_sweep_add(&sweep, &hn_close_pairs_sink, &pairs, HN_SIDE_ROWS);
    }
    int64_t begun = hn_wall_ns();
    enum hn_code code = hn_sweep_run(ctx, &sweep);
    *seconds = seconds_since(begun);
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
    out->ideal = flop_seconds(b, k->argument == HALF ? n * (n + 1) / 2 : n * n);
    return sweep_seconds(ctx, b, k->argument == HALF, false, &out->seconds);
}

// All sinks together; the ceiling is the same sweep without any, run just before.
static enum hn_code run_sinks(struct hn_context *ctx, struct hn_bench *b,
                              const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    bool half = k->argument == HALF;
    enum hn_code code = sweep_seconds(ctx, b, half, false, &out->ideal);
    return code ? code : sweep_seconds(ctx, b, half, true, &out->seconds);
}

// A step of training, or an epoch; the ceiling is that of its products.
static enum hn_code run_training(struct hn_context *ctx, struct hn_bench *b,
                                 const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    struct hn_bench_step step;
    if (hn_bench_training(ctx, (enum hn_bench_recipe)k->argument, &b->training, &step))
        return ctx->code;
    b->shape = (struct hn_bench_shape){step.n, step.dim, 0, 0, step.batch_size, 0};
    out->seconds = step.seconds;
    out->ideal = step.flops / (b->gflops * 1e9);
    return HN_OK;
}

const struct hn_bench_kernel hn_bench_kernels[] = {
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
    {"train", "train-views", HN_BENCH_TRAINING, HN_BENCH_VIEWS, run_training},
    {"train", "train-cnn", HN_BENCH_TRAINING, HN_BENCH_CNN, run_training},
    {"train", "train-node", HN_BENCH_TRAINING, HN_BENCH_NODE, run_training},
    {"train", "train-graph", HN_BENCH_TRAINING, HN_BENCH_GRAPH, run_training},
    {.name = NULL},
};
