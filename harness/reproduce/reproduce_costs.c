// Costs at sizes that no snapshot at hand has (BS table 5, GC tables 11 and 12): a sampler is built
// on random rows of the requested size, and its batches drawn.
//
//   cost_g      seconds of a build
//   cost_s      seconds a batch, over up to 32 batches of one epoch
//   cost_epoch  seconds to begin another epoch on the same embeddings: for gcbs its ordering, which
//               is what a build takes besides the sweep
//   cpu_g, cpu_epoch  processor time of all threads for the same: what exponents are judged by,
//               as a busy machine changes it less
//
// Entries are normal (rows in random directions) or uniform on [0, 1), as in GC appendix J, where
// all cosines lie near 3/4. The rows of a repetition are its own. Every repetition is a shard, so
// that an interrupted series goes on where it stopped.
#include "harness/reproduce/reproduce.h"

#include "core/digest.h"
#include "harness/host/host.h"
#include "harness/job/job.h"
#include "results/cell_file.h"
#include "samplers/sampler.h"

#include <gsl/gsl_randist.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BATCHES = 32 };

struct measured {
    double cost_g, cost_s, cost_epoch, cpu_g, cpu_epoch;
};

static void fill_rows(int threads, float *x, int64_t n, int64_t d, bool uniform, int64_t rep) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        struct hn_stream stream;
        hn_stream_open(&stream, (uint64_t)rep, "reproduce.rows", 0, 0, i);
        gsl_rng rng = hn_stream_gsl(&stream);
        for (int64_t k = 0; k < d; k++)
            x[i * d + k] =
                (float)(uniform ? gsl_rng_uniform(&rng) : gsl_ran_gaussian_ziggurat(&rng, 1.0));
    }
}

static enum hn_code make_items(struct hn_context *ctx, const struct hn_claim_cost *c, int64_t rep,
                               struct hn_items *items) {
    int64_t n = (int64_t)c->items, d = (int64_t)c->dims, size;
    float *x = hn_mul(n, d, &size) ? hn_alloc(ctx, size, sizeof *x) : NULL;
    if (!x)
        return hn_fail(ctx, HN_MEMORY, "no memory for %" PRId64 " x %" PRId64 " embeddings", n, d);
    *items = (struct hn_items){.n = n, .d = d, .x = {x, n, d, d}};
    items->labels = hn_zalloc(ctx, n, sizeof(int32_t));
    if (!items->labels)
        return ctx->code;
    fill_rows(ctx->threads, x, n, d, strcmp(c->entries, "uniform") == 0, rep);
    return hn_normalize_rows(ctx, x, n, d, c->name);
}

static double seconds_since(int64_t begun) { return (double)(hn_wall_ns() - begun) * 1e-9; }

static enum hn_code draw(struct hn_context *ctx, struct hn_sampler *sampler,
                         const struct hn_items *items, struct measured *out) {
    int32_t size[BATCHES];
    int64_t in_epoch;
    struct hn_batches batches = {.count = BATCHES, .batch_size = sampler->batch_size, .size = size};
    batches.ids = hn_alloc(ctx, (int64_t)BATCHES * batches.batch_size, sizeof(int32_t));
    enum hn_code code = batches.ids ? HN_OK : HN_MEMORY;
    for (int64_t epoch = 0; epoch < 2 && code == HN_OK; epoch++) {
        int64_t begun = hn_wall_ns(), cpu = hn_cpu_ns();
        code = hn_sampler_epoch(ctx, sampler, items, epoch, &in_epoch);
        out->cost_epoch = seconds_since(begun);
        out->cpu_epoch = (double)(hn_cpu_ns() - cpu) * 1e-9;
    }
    if (code == HN_OK) {
        batches.count = (int32_t)hn_min(in_epoch, BATCHES);
        int64_t begun = hn_wall_ns();
        code = hn_sampler_next(ctx, sampler, &batches);
        out->cost_s = seconds_since(begun) / batches.count;
    }
    hn_free(ctx, batches.ids);
    return code;
}

static enum hn_code time_sampler(struct hn_context *ctx, const struct hn_job_sampler *s,
                                 const struct hn_items *items, int32_t batch_size, int64_t rep,
                                 struct measured *out) {
    struct hn_sampler sampler;
    const struct hn_sampler_plan plan = {
        .n = items->n, .batch_size = batch_size, .has_labels = true};
    enum hn_code code = hn_sampler_check(ctx, s->type, s->params, &plan);
    if (code == HN_OK)
        code =
            hn_sampler_open(ctx, s->type, s->params, items->n, batch_size, (uint64_t)rep, &sampler);
    if (code)
        return code;
    int64_t begun = hn_wall_ns(), cpu = hn_cpu_ns();
    code = hn_sampler_build(ctx, &sampler, items, 0);
    out->cost_g = seconds_since(begun);
    out->cpu_g = (double)(hn_cpu_ns() - cpu) * 1e-9;
    if (code == HN_OK)
        code = draw(ctx, &sampler, items, out);
    hn_sampler_close(ctx, &sampler);
    return code;
}

// Times are those of this machine: the key holds its class.
static void key_of(const struct hn_reproduce *r, const struct hn_claim_cost *c, const char *params,
                   int64_t rep, char key[HN_DIGEST_TEXT]) {
    char text[256];
    struct hn_digest digest;
    snprintf(text, sizeof text, "%.17g %.17g %.17g %.60s %" PRId64 " %d", c->items, c->dims,
             c->batch, c->entries, rep, hn_results_code_version);
    hn_digest_begin(&digest);
    hn_digest_add_text(&digest, "costs, wall and processor");
    hn_digest_add_text(&digest, c->sampler);
    hn_digest_add_text(&digest, params);
    hn_digest_add_text(&digest, text);
    hn_digest_add_text(&digest, hn_results_get_env(&r->env, "machine_class"));
    hn_digest_end(&digest, key);
}

#define TEXT(name, what, text)                                                                     \
    { {name, HN_COLUMN_TEXT, "", what, HN_NEITHER}, HN_TEXT_VALUE(name, text) }
#define COUNT(name, units, what, n)                                                                \
    { {name, HN_COLUMN_INT, units, what, HN_NEITHER}, HN_INT_VALUE(name, (int64_t)(n)) }
#define SECONDS(name, what, s)                                                                     \
    { {name, HN_COLUMN_REAL, "s", what, HN_SMALLER}, HN_REAL_VALUE(name, s) }

static enum hn_code store(struct hn_context *ctx, const struct hn_claim_cost *c,
                          const struct hn_job_sampler *s, const char *key, int64_t rep,
                          const struct measured *m, struct hn_results *out) {
    const struct hn_described cell[] = {
        TEXT("run_key", "hash of the setting and the machine's class", key),
        TEXT("name", "setting", c->name),
        TEXT("sampler", "sampler", s->type->name),
        TEXT("params", "all options of the sampler", s->text),
        COUNT("items", "items", "items", c->items),
        COUNT("dims", "1", "dimensions", c->dims),
        COUNT("batch_size", "items", "batch size", c->batch),
        TEXT("entries", "law of the entries of the rows", c->entries),
        COUNT("seed", "1", "repetition", rep),
        SECONDS("cost_g", "building the sampler", m->cost_g),
        SECONDS("cost_s", "drawing one batch", m->cost_s),
        SECONDS("cost_epoch", "beginning another epoch", m->cost_epoch),
        SECONDS("cpu_g", "processor time of the build, all threads", m->cpu_g),
        SECONDS("cpu_epoch", "processor time of beginning another epoch", m->cpu_epoch)};
    if (hn_results_add_row(ctx, out, "costs", cell, (int)(sizeof cell / sizeof cell[0])))
        return ctx->code;
    return hn_results_set(ctx, out, "run_key", key);
}

static enum hn_code measure(struct hn_context *ctx, const struct hn_claim_cost *c,
                            const struct hn_job_sampler *s, const char *key, int64_t rep,
                            struct hn_results *out) {
    struct hn_items items = {.n = 0};
    struct measured m = {NAN, NAN, NAN, NAN, NAN};
    memset(out, 0, sizeof *out);
    enum hn_code code = make_items(ctx, c, rep, &items);
    if (code == HN_OK)
        code = time_sampler(ctx, s, &items, (int32_t)c->batch, rep, &m);
    if (code == HN_OK)
        code = store(ctx, c, s, key, rep, &m, out);
    hn_free(ctx, (float *)items.x.data);
    hn_free(ctx, (int32_t *)items.labels);
    return code;
}

static enum hn_code one_rep(struct hn_context *ctx, const struct hn_reproduce *r,
                            const struct hn_claim_cost *c, const struct hn_job_sampler *s,
                            int64_t rep, struct hn_results *out) {
    char key[HN_DIGEST_TEXT];
    bool present, failed;
    struct hn_results shard = {0};
    key_of(r, c, s->text, rep, key);
    if (hn_check_stop(ctx) || hn_cell_file_state(ctx, r->folder, key, &present, &failed))
        return ctx->code;
    if (!present && !r->quiet)
        fprintf(stderr, "timing %s, %g items of %g dims, repetition %" PRId64 "\n", c->name,
                c->items, c->dims, rep);
    enum hn_code code = present ? hn_cell_file_read(ctx, r->folder, key, &shard)
                                : measure(ctx, c, s, key, rep, &shard);
    if (code == HN_OK && !present)
        code = hn_cell_file_write(ctx, r->folder, key, &shard);
    if (code == HN_OK)
        code = hn_results_append(ctx, out, &shard);
    hn_results_free(ctx, &shard);
    return code;
}

enum hn_code hn_reproduce_cost(struct hn_context *ctx, const struct hn_reproduce *r,
                               const struct hn_claim_cost *c, struct hn_results *out) {
    struct hn_job_sampler sampler;
    if (hn_cell_files_prepare(ctx, r->folder) || hn_job_parse_sampler(ctx, c->sampler, &sampler))
        return ctx->code;
    enum hn_code code = HN_OK;
    for (int64_t rep = 1; rep <= (int64_t)c->reps && !code; rep++)
        code = one_rep(ctx, r, c, &sampler, rep, out);
    hn_job_sampler_free(ctx, &sampler);
    return code;
}
