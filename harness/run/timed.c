// SPDX-License-Identifier: GPL-3.0-or-later
// Times a sampler on random rows.
#include "harness/run/timed.h"
#include "core/random.h"
#include "samplers/draw.h"
#include "samplers/sampler.h"

#include <gsl/gsl_randist.h>
#include <inttypes.h>

enum hn_code hn_random_rows(struct hn_context *ctx, const struct hn_random_rows *rows,
                            struct hn_matrix *out) {
    int64_t n = rows->n, d = rows->d, size;
    float *x = hn_mul(n, d, &size) ? hn_alloc(ctx, size, sizeof *x) : NULL;
    if (!x)
        return hn_fail(ctx, HN_MEMORY, "no memory for %" PRId64 " x %" PRId64 " embeddings", n, d);
    *out = (struct hn_matrix){x, n, d, d};
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        struct hn_stream stream;
        hn_stream_open(&stream, rows->seed, rows->purpose, rows->which, 0, i);
        gsl_rng rng = hn_stream_gsl(&stream);
        for (int64_t k = 0; k < d; k++)
            x[i * d + k] = (float)(rows->uniform ? gsl_rng_uniform(&rng)
                                                 : gsl_ran_gaussian_ziggurat(&rng, 1.0));
    }
    return hn_normalize_rows(ctx, x, n, d, rows->purpose);
}

static enum hn_code time_epoch(struct hn_context *ctx, struct hn_sampler *sampler,
                               const struct hn_items *items, int64_t epoch, struct hn_timed *t) {
    struct hn_batches batches;
    int64_t count, begun = hn_wall_ns(), cpu = hn_cpu_ns(ctx->threads);
    if (hn_sampler_epoch(ctx, sampler, items, epoch, &count))
        return ctx->code;
    t->epoch = hn_seconds_since(begun);
    t->epoch_cpu = (double)(hn_cpu_ns(ctx->threads) - cpu) * 1e-9;
    if (epoch == 0 && !t->warm_up)
        return HN_OK;
    HN_SCOPE(ctx);
    int64_t wanted = hn_min(count, t->batches);
    if (hn_batches_open(ctx, sampler, wanted, &batches))
        return ctx->code;
    begun = hn_wall_ns();
    if (hn_batches_draw(ctx, sampler, wanted, &batches))
        return ctx->code;
    t->batch = hn_seconds_since(begun) / batches.count;
    return HN_OK;
}

enum hn_code hn_time_sampler(struct hn_context *ctx, const struct hn_items *items,
                             struct hn_timed *t) {
    const struct hn_job_sampler *s = t->sampler;
    const struct hn_sampler_plan plan = {.n = items->n,
                                         .batch_size = t->batch_size,
                                         .has_positive = hn_has_positive(items),
                                         .has_labels = true};
    struct hn_sampler sampler;
    if (hn_sampler_check(ctx, s->type, s->params, &plan) ||
        hn_sampler_open(ctx, s->type, s->params, items->n, t->batch_size, t->seed, &sampler))
        return ctx->code;
    int64_t begun = hn_wall_ns(), cpu = hn_cpu_ns(ctx->threads);
    enum hn_code code = hn_sampler_build(ctx, &sampler, items, 0);
    t->build = hn_seconds_since(begun);
    t->build_cpu = (double)(hn_cpu_ns(ctx->threads) - cpu) * 1e-9;
    t->build_dots = sampler.build.dot;
    for (int64_t epoch = 0; epoch < 2 && t->batches > 0 && !code; epoch++)
        code = time_epoch(ctx, &sampler, items, epoch, t);
    hn_sampler_close(ctx, &sampler);
    return code;
}
