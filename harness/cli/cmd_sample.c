// `hardneg sample`: the batches of a sampler, for a training loop elsewhere.
//
// The sampler is built on the step that is asked for, regardless of its option t: t is about runs
// over a series, where graphs grow old between rebuilds; who samples for a training under way gives
// its latest embeddings and wants them used.
#include "core/files.h"
#include "datasets/npy.h"
#include "harness/cli/command.h"
#include "harness/job/job.h"
#include "harness/run/plan.h"

#include <inttypes.h>
#include <math.h>

enum { CHUNK = 64 }; // batches drawn at once

struct sample_params {
    char *sampler, *output;
    int64_t step, batch, epochs, seed, threads;
};

static const struct hn_option sample_options[] = {
    {HN_TEXT_OPTION(struct sample_params, sampler, "sampler",
                    "as in a job file: knn, or '{batchsampler: {M: 500}}'"),
     .metavar = "SAMPLER"},
    {HN_INT_OPTION(struct sample_params, step, "step", NULL, 0, INFINITY,
                   "step of the series to sample from (default: the last)"),
     .letter = 's', .metavar = "STEP"},
    {HN_INT_OPTION(struct sample_params, batch, "batch", "256", 2, INT32_MAX, "items of a batch"),
     .letter = 'b', .metavar = "B"},
    {HN_INT_OPTION(struct sample_params, epochs, "epochs", "1", 1, 1000000,
                   "epochs, one after the other in the file"),
     .metavar = "E"},
    {HN_INT_OPTION(struct sample_params, seed, "seed", "1", 0, INFINITY, "seed of the sampler"),
     .metavar = "S"},
    {HN_THREADS_OPTION(struct sample_params, "; the file does not depend on them")},
    {HN_OUTPUT_OPTION(struct sample_params, "FILE", "the file of batches (.npy)")},
    {0},
};

// Everything that is open while batches are drawn.
struct work {
    const struct sample_params *p;
    struct hn_job_sampler *chosen;
    struct hn_snapshot *snapshot;
    struct hn_items items;
    struct hn_sampler sampler;
    struct hn_new_file file;
    int64_t batches, short_batches;
    int64_t *order; // [batches x p->batch]
};

static enum hn_code check_params(struct hn_context *ctx, const struct sample_params *p) {
    if (!p->sampler)
        return hn_fail(ctx, HN_USAGE, "--sampler is missing: name one, e.g. --sampler knn");
    if (!p->output)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name the file to write");
    return HN_OK;
}

// Whether sampler, file and batch size fit each other.
static enum hn_code check_fit(struct hn_context *ctx, const struct work *w) {
    const struct hn_snapshot_info *info = hn_snapshot_info(w->snapshot);
    const struct hn_sampler_type *type = w->chosen->type;
    const char *missing = hn_plan_missing(info, type);
    if (w->p->batch > info->n)
        return hn_fail(ctx, HN_DATA,
                       "%s: a batch of %" PRId64 " exceeds the file's %" PRId64
                       " items: lower --batch",
                       info->path, w->p->batch, info->n);
    if (missing)
        return hn_fail(ctx, HN_DATA,
                       "%s: has no %s, which %s needs: add it, or take another sampler", info->path,
                       missing, type->name);
    struct hn_sampler_plan plan = hn_plan_sampler_plan(info, (int32_t)w->p->batch);
    if (type->check && type->check(ctx, w->chosen->params, &plan))
        return hn_fail_in(ctx, "%s {%s} on %s", type->name, w->chosen->text, info->path);
    return HN_OK;
}

static enum hn_code find_step(struct hn_context *ctx, const struct work *w, int64_t *index) {
    const struct hn_snapshot_info *info = hn_snapshot_info(w->snapshot);
    *index = info->steps - 1;
    if (w->p->step == INT64_MIN)
        return HN_OK;
    for (*index = 0; *index < info->steps; ++*index)
        if (info->step[*index] == w->p->step)
            return HN_OK;
    return hn_fail(ctx, HN_USAGE,
                   "--step %" PRId64 " is not in %s, which has %" PRId64 " steps from %" PRId64
                   " to %" PRId64,
                   w->p->step, info->path, info->steps, info->step[0], info->step[info->steps - 1]);
}

static enum hn_code open_all(struct hn_context *ctx, struct work *w, const char *path) {
    int64_t index;
    if (hn_job_parse_sampler(ctx, w->p->sampler, &w->chosen) ||
        hn_snapshot_open(ctx, path, &w->snapshot) || check_fit(ctx, w) ||
        find_step(ctx, w, &index) || hn_file_begin(ctx, w->p->output, &w->file))
        return ctx->code;
    return hn_snapshot_load(ctx, w->snapshot, index, &w->items);
}

// Puts the batches of one call behind those in w->order, padded.
static void append(struct work *w, const struct hn_batches *b) {
    for (int32_t i = 0; i < b->count; i++) {
        int64_t *row = w->order + (w->batches + i) * b->batch_size;
        for (int32_t k = 0; k < b->batch_size; k++)
            row[k] = k < b->size[i] ? hn_batch_ids(b, i)[k] : -1;
        w->short_batches += b->size[i] < b->batch_size;
    }
    w->batches += b->count;
}

static enum hn_code draw_epoch(struct hn_context *ctx, struct work *w, int64_t epoch,
                               struct hn_batches *b) {
    int64_t batches, total;
    if (hn_sampler_epoch(ctx, &w->sampler, &w->items, epoch, &batches))
        return ctx->code;
    if (!hn_add(w->batches, batches, &total) || !hn_mul(total, b->batch_size, &total))
        return hn_fail(ctx, HN_USAGE, "--epochs %" PRId64 " is too many", w->p->epochs);
    int64_t *longer = hn_resize(ctx, w->order, total, sizeof *w->order);
    if (!longer)
        return ctx->code;
    w->order = longer;
    for (b->first = 0; b->first < batches; b->first += b->count) {
        b->count = (int32_t)hn_min(CHUNK, batches - b->first);
        if (hn_check_stop(ctx) || hn_sampler_next(ctx, &w->sampler, b))
            return ctx->code;
        append(w, b);
    }
    return HN_OK;
}

static enum hn_code draw_all(struct hn_context *ctx, struct work *w) {
    struct hn_batches b = {.batch_size = (int32_t)w->p->batch};
    if (w->chosen->type->flags & HN_SAMPLER_PER_ANCHOR)
        return hn_fail(ctx, HN_USAGE,
                       "%s gives negatives per anchor, not batches: an order of items cannot hold "
                       "them",
                       w->chosen->type->name);
    if (hn_sampler_open(ctx, w->chosen->type, w->chosen->params, w->items.n, b.batch_size,
                        (uint64_t)w->p->seed, &w->sampler) ||
        hn_sampler_build(ctx, &w->sampler, &w->items, w->items.index))
        return ctx->code;
    b.size = hn_alloc(ctx, CHUNK, sizeof *b.size);
    b.ids = hn_alloc(ctx, w->p->batch, CHUNK * sizeof *b.ids);
    if (!b.size || !b.ids)
        return ctx->code;
    for (int64_t epoch = 0; epoch < w->p->epochs; epoch++)
        if (draw_epoch(ctx, w, epoch, &b))
            return ctx->code;
    return HN_OK;
}

static void print_summary(const struct work *w) {
    fprintf(stderr, "%s: %" PRId64 " batches of %" PRId64, w->p->output, w->batches, w->p->batch);
    if (w->short_batches > 0)
        fprintf(stderr, " (%" PRId64 " short, padded with -1)", w->short_batches);
    fprintf(stderr, ", %" PRId64 " epoch%s, %s {%s} at step %" PRId64 "\n", w->p->epochs,
            w->p->epochs == 1 ? "" : "s", w->chosen->type->name, w->chosen->text, w->items.step);
}

static enum hn_code run_sample(struct hn_context *ctx, const struct hn_call *call) {
    struct work w = {.p = call->params};
    if (check_params(ctx, w.p))
        return ctx->code;
    ctx->threads = (int)hn_given(w.p->threads, ctx->threads);
    enum hn_code code = open_all(ctx, &w, call->args[0]);
    if (!code)
        code = draw_all(ctx, &w);
    if (!code) {
        const int64_t shape[] = {w.batches, w.p->batch};
        code = hn_npy_write(ctx, &w.file, 2, shape, w.order);
    }
    if (!code && !call->quiet)
        print_summary(&w);
    hn_file_abort(ctx, &w.file);
    hn_snapshot_close(ctx, w.snapshot);
    return code;
}

const struct hn_command hn_cmd_sample = {
    .name = "sample",
    .usage = "hardneg sample SNAPSHOT --sampler SAMPLER [--step S] [--batch B] [--epochs E] "
             "[--seed S] -o FILE",
    .summary = "write the batches of a sampler, for your own training",
    .details = "The file is an array of NumPy, int64 [batches, B], of places in the snapshot "
               "(0-based), a batch in each row; short batches, which may end an epoch, are filled "
               "up with -1. The sampler is built on the step itself, whatever its option t says. "
               "The same seed gives the same file for any number of threads.",
    .examples = "hardneg sample mine.h5 --sampler '{batchsampler: {M: 500, K: 300}}' -o order.npy",
    .options = sample_options,
    .params_size = sizeof(struct sample_params),
    .min_args = 1,
    .max_args = 1,
    .run = run_sample};
