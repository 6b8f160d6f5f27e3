// SPDX-License-Identifier: GPL-3.0-or-later
// Synthetic queries and passages. Queries are items about class means; a query has relevant
// passages near it, of which one, drawn at random, is known: the others are the hidden positives
// that a miner takes for negatives. The rest of the corpus are items about the same means.
#include "retrieval/synth.h"
#include "core/random.h"
#include "datasets/retrieval.h"

#include <math.h>

struct corpus {
    const struct hn_synth *options;
    float *mean;       // [classes x dim]
    float *q, *p;      // [steps x queries x dim], [steps x n x dim]
    int32_t *query;    // [n] that a passage is relevant to, -1: none
    int64_t *first;    // [queries + 1] positions of a query's passages in `position`
    int32_t *position; // [n] passages in random order, those of queries first
    int32_t *labelled; // [queries] the known one
};

static enum hn_code deal(struct hn_context *ctx, struct corpus *c) {
    const struct hn_synth *o = c->options;
    int64_t used = 0;
    hn_permute((uint64_t)o->seed, "synth.place", 0, 0, 0, c->position, o->n);
    for (int64_t i = 0; i < o->n; i++)
        c->query[i] = -1;
    for (int64_t i = 0; i < o->queries; i++) {
        struct hn_stream stream;
        hn_stream_open(&stream, (uint64_t)o->seed, "synth.relevant", 0, 0, i);
        int64_t count = 1 + hn_stream_below(&stream, (uint32_t)(2 * o->relevant - 1));
        if (count > o->n - used)
            return hn_fail(ctx, HN_USAGE,
                           "--n %lld is too few for %lld queries with %lld relevant passages each: "
                           "raise it, or lower --queries or --relevant",
                           (long long)o->n, (long long)o->queries, (long long)o->relevant);
        c->first[i] = used;
        c->labelled[i] = c->position[used + hn_stream_below(&stream, (uint32_t)count)];
        for (int64_t k = 0; k < count; k++)
            c->query[c->position[used + k]] = (int32_t)i;
        used += count;
    }
    c->first[o->queries] = used;
    return HN_OK;
}

// Rows of one step: what a row is drawn from is the same at all steps, but for the shift.
static enum hn_code make_rows(struct hn_context *ctx, const struct corpus *c, int64_t index) {
    const struct hn_synth *o = c->options;
    int64_t d = o->dim;
    float shift = hn_synth_shift(o, index), scale = (float)(o->view_noise / sqrt((double)d));
    float *q = c->q + index * o->queries * d, *p = c->p + index * o->n * d;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < o->queries; i++)
        hn_synth_row(o, "synth.query", 0, 0, i, c->mean + i % o->classes * d, shift, 1, q + i * d);
    if (hn_normalize_rows(ctx, q, o->queries, d, "synthetic query,"))
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < o->n; i++) {
        int64_t of = c->query[i];
        const float *base = of >= 0 ? q + of * d : c->mean + i % o->classes * d;
        float noise = of >= 0 ? scale : 1, along = of >= 0 ? 1 : shift;
        hn_synth_row(o, "synth.passage", 0, 0, i, base, along, noise, p + i * d);
    }
    return hn_normalize_rows(ctx, p, o->n, d, "synthetic passage,");
}

static enum hn_code make_relevance(struct hn_context *ctx, const struct corpus *c,
                                   struct hn_qrels *known, struct hn_qrels *all) {
    int64_t queries = c->options->queries, count = c->first[queries];
    struct hn_judgement *list = hn_alloc(ctx, hn_max(count, queries), sizeof *list);
    if (!list)
        return ctx->code;
    for (int64_t i = 0; i < queries; i++)
        list[i] = (struct hn_judgement){(int32_t)i, c->labelled[i], 1};
    if (hn_qrels_build(ctx, list, queries, queries, known))
        return ctx->code;
    for (int64_t k = 0; k < count; k++)
        list[k] = (struct hn_judgement){c->query[c->position[k]], c->position[k], 1};
    return hn_qrels_build(ctx, list, count, queries, all);
}

static enum hn_code write_corpus(struct hn_context *ctx, const struct corpus *c) {
    const struct hn_synth *o = c->options;
    struct hn_qrels known, all;
    int64_t *step = hn_alloc(ctx, o->steps, sizeof *step);
    if (!step || make_relevance(ctx, c, &known, &all))
        return ctx->code;
    for (int64_t i = 0; i < o->steps; i++)
        step[i] = i * o->step_gap;
    const struct hn_retrieval_spec spec = {
        .about = {"synthetic queries with hidden positives", "hardneg synth", "CC0-1.0",
                  "none: projected normal mixture"},
        .tool_version = o->tool_version,
        .steps = o->steps,
        .step = step,
        .data = {.rows = {{c->q, o->queries, o->dim, o->dim}, {c->p, o->n, o->dim, o->dim}},
                 .qrels = known,
                 .truth = all},
        .normalized = true,
        .type = (enum hn_float_type)o->type,
        .compress = (int)o->compress};
    return hn_retrieval_write(ctx, o->output, &spec);
}

enum hn_code hn_synth_retrieval(struct hn_context *ctx, const struct hn_synth *o) {
    struct corpus c = {.options = o};
    int64_t q, p;
    if (hn_synth_check(ctx, o))
        return ctx->code;
    if (!hn_mul(o->steps * o->queries, o->dim, &q) || !hn_mul(o->steps * o->n, o->dim, &p))
        return hn_fail(ctx, HN_USAGE, "--steps, --n and --dim are too many together");
    HN_SCOPE(ctx);
    bool good = (c.mean = hn_alloc(ctx, o->classes * o->dim, sizeof *c.mean)) &&
                (c.q = hn_alloc(ctx, q, sizeof *c.q)) && (c.p = hn_alloc(ctx, p, sizeof *c.p)) &&
                (c.query = hn_alloc(ctx, o->n, sizeof *c.query)) &&
                (c.first = hn_alloc(ctx, o->queries + 1, sizeof *c.first)) &&
                (c.position = hn_alloc(ctx, o->n, sizeof *c.position)) &&
                (c.labelled = hn_alloc(ctx, o->queries, sizeof *c.labelled));
    if (!good || deal(ctx, &c) || hn_synth_means(ctx, o, c.mean))
        return ctx->code;
    for (int64_t i = 0; i < o->steps; i++)
        if (hn_check_stop(ctx) || make_rows(ctx, &c, i))
            return ctx->code;
    return write_corpus(ctx, &c);
}
