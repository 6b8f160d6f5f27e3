// Measuring the batches of a cell, beside the matrix products that it cannot do without.
#include "core/random.h"
#include "harness/bench/bench.h"
#include "harness/host/host.h"
#include "harness/run/timed.h"
#include "metrics/metric.h"

#include <string.h>

enum { BATCHES = 300, CHUNK = 16 }; // as a job has them
static const double temperature = 0.5;

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
static enum hn_code draw(struct hn_context *ctx, int64_t n, int64_t batch_size, int32_t **ids) {
    int64_t wanted = BATCHES * batch_size;
    *ids = hn_alloc(ctx, wanted + n, sizeof **ids);
    if (!*ids)
        return ctx->code;
    for (int64_t at = 0, epoch = 0; at < wanted; at += n - n % batch_size, epoch++)
        hn_permute(1, "bench.cell", 0, epoch, 0, *ids + at, n);
    return HN_OK;
}

static enum hn_code measure(struct hn_context *ctx, const struct hn_measure_spec *spec,
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
        code = hn_measure_finish(ctx, m, value, &arrays, why);
    hn_cell_arrays_free(ctx, &arrays);
    hn_measure_close(ctx, m);
    return code;
}

enum hn_code hn_bench_cell(struct hn_context *ctx, struct hn_bench *b,
                           const struct hn_bench_kernel *k, struct hn_bench_time *out) {
    const struct hn_metric_type *one[2] = {NULL, NULL}, *const * metrics;
    int n = choose_metrics(k->name, one, &metrics);
    int64_t batch_size = hn_min(b->shape.batch, b->shape.n), dots;
    unsigned needs = hn_measure_needs(metrics, n);
    if (needs & HN_METRIC_NEEDS_GLOBAL && !b->global.n &&
        hn_global_compute(ctx, &b->items, temperature, &b->global, &dots))
        return ctx->code;
    HN_SCOPE(ctx);
    int32_t *ids;
    double *value = hn_alloc(ctx, hn_measure_columns(metrics, n), sizeof *value);
    if (!value || draw(ctx, b->shape.n, batch_size, &ids))
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
    enum hn_code code = measure(ctx, &spec, ids, value);
    out->seconds = hn_seconds_since(begun);
    // Cosines and scores, and those within either view.
    double products = needs & HN_METRIC_NEEDS_VIEWS ? 4 : 2;
    out->ideal = products * BATCHES * 2.0 * (double)b->shape.dim *
                 (double)(batch_size * batch_size) / (b->gflops * 1e9);
    return code;
}
