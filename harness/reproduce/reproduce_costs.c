// SPDX-License-Identifier: GPL-3.0-or-later
// Costs at sizes that no snapshot at hand has (BS table 5, GC tables 11 and 12): a sampler is built
// on random rows of the requested size, and its batches drawn.
//
//   cost_g      seconds of a build
//   cost_s      seconds a batch, over up to 32 batches of one epoch
//   cost_epoch  seconds to begin another epoch on the same embeddings: for gcbs its ordering, which
//               is what a build takes besides the sweep
//   cpu_g, cpu_epoch  processor time of all threads for the same, which a busy machine changes less
//   n_dot_build inner products of the build
//
// Entries are normal (rows in random directions) or uniform on [0, 1), as in GC appendix J, where
// all cosines lie near 3/4. The rows of a repetition are its own. Every repetition is a shard, so
// that an interrupted series goes on where it stopped.
#include "harness/reproduce/reproduce.h"
#include "harness/reproduce/reproduce_private.h"

#include "core/digest.h"
#include "harness/host/host.h"
#include "harness/run/timed.h"
#include "results/cell_file.h"

#include <inttypes.h>
#include <string.h>

enum { BATCHES = 32 };

// Times are those of this machine: the key holds its class.
static void key_of(const struct hn_reproduce *r, const struct hn_claim_cost *c, const char *params,
                   int64_t rep, char key[HN_DIGEST_TEXT]) {
    char text[256];
    struct hn_digest digest;
    snprintf(text, sizeof text, "%.17g %.17g %.17g %.60s %" PRId64 " %d", c->items, c->dims,
             c->batch, c->entries, rep, hn_results_code_version);
    hn_digest_begin(&digest);
    hn_digest_add_text(&digest, "costs, wall, processor and products");
    hn_digest_add_text(&digest, c->sampler);
    hn_digest_add_text(&digest, params);
    hn_digest_add_text(&digest, text);
    hn_digest_add_text(&digest, hn_results_get_env(&r->env, "machine_class"));
    hn_digest_end(&digest, key);
}

static enum hn_code store(struct hn_context *ctx, const struct hn_claim_cost *c,
                          const struct hn_timed *t, const char *key, struct hn_results *out) {
    const struct hn_described cell[] = {
        HN_TEXT_CELL("run_key", "hash of the setting and the machine's class", key),
        HN_TEXT_CELL("name", "setting", c->name),
        HN_TEXT_CELL("sampler", "sampler", t->sampler->type->name),
        HN_TEXT_CELL("params", "all options of the sampler", t->sampler->text),
        HN_INT_CELL("items", "items", "items", c->items),
        HN_INT_CELL("dims", "1", "dimensions", c->dims),
        HN_INT_CELL("batch_size", "items", "batch size", c->batch),
        HN_TEXT_CELL("entries", "law of the entries of the rows", c->entries),
        HN_INT_CELL("seed", "1", "repetition", t->seed),
        HN_REAL_CELL("cost_g", "s", "building the sampler", HN_SMALLER, t->build),
        HN_REAL_CELL("cost_s", "s", "drawing one batch", HN_SMALLER, t->batch),
        HN_REAL_CELL("cost_epoch", "s", "beginning another epoch", HN_SMALLER, t->epoch),
        HN_REAL_CELL("cpu_g", "s", "processor time of the build, all threads", HN_SMALLER,
                     t->build_cpu),
        HN_INT_CELL("n_dot_build", "1", "inner products of the build", (double)t->build_dots),
        HN_REAL_CELL("cpu_epoch", "s", "processor time of beginning another epoch", HN_SMALLER,
                     t->epoch_cpu)};
    if (hn_results_add_row(ctx, out, "costs", cell, (int)(sizeof cell / sizeof cell[0])))
        return ctx->code;
    return hn_results_set(ctx, out, "run_key", key);
}

static enum hn_code measure(struct hn_context *ctx, const struct hn_claim_cost *c,
                            const struct hn_job_sampler *s, const char *key, int64_t rep,
                            struct hn_results *out) {
    struct hn_random_rows rows = {
        (int64_t)c->items, (int64_t)c->dims, strcmp(c->entries, "uniform") == 0,
        (uint64_t)rep,     "reproduce.rows", 0};
    struct hn_items items = {.n = rows.n, .d = rows.d};
    struct hn_timed timed = {
        .sampler = s, .batch_size = (int32_t)c->batch, .seed = (uint64_t)rep, .batches = BATCHES};
    memset(out, 0, sizeof *out);
    HN_SCOPE(ctx);
    if (!HN_ZALLOC(ctx, items.labels, rows.n) || hn_random_rows(ctx, &rows, &items.x) ||
        hn_time_sampler(ctx, &items, &timed))
        return ctx->code;
    hn_own(ctx, scope.outer);
    return store(ctx, c, &timed, key, out);
}

static enum hn_code one_rep(struct hn_context *ctx, const struct hn_reproduce *r,
                            const struct hn_claim_cost *c, const struct hn_job_sampler *s,
                            int64_t rep, struct hn_cell_store *cells, struct hn_results *out) {
    char key[HN_DIGEST_TEXT];
    struct hn_cell_status is;
    struct hn_results shard = {0};
    key_of(r, c, s->text, rep, key);
    if (hn_check_stop(ctx) || hn_cell_store_state(ctx, cells, key, &is))
        return ctx->code;
    if (is.present)
        return hn_cell_store_append(ctx, cells, key, out);
    if (!r->quiet)
        fprintf(stderr, "timing %s, %g items of %g dims, repetition %" PRId64 "\n", c->name,
                c->items, c->dims, rep);
    enum hn_code code = measure(ctx, c, s, key, rep, &shard);
    if (code == HN_OK)
        code = hn_cell_store_write(ctx, r->folder, key, &shard);
    if (code == HN_OK)
        code = hn_results_append(ctx, out, &shard);
    hn_results_free(ctx, &shard);
    return code;
}

enum hn_code hn_reproduce_cost(struct hn_context *ctx, const struct hn_reproduce *r,
                               const struct hn_claim_cost *c, struct hn_results *out) {
    struct hn_job_sampler *sampler;
    struct hn_cell_store cells = {.folder = r->folder};
    HN_SCOPE(ctx);
    if (hn_cell_store_prepare(ctx, r->folder) || hn_job_parse_sampler(ctx, c->sampler, &sampler))
        return ctx->code;
    hn_own(ctx, scope.outer);
    enum hn_code code = HN_OK;
    for (int64_t rep = 1; rep <= (int64_t)c->reps && !code; rep++)
        code = one_rep(ctx, r, c, sampler, rep, &cells, out);
    hn_cell_store_close(ctx, &cells);
    return code;
}
