// SPDX-License-Identifier: GPL-3.0-or-later
// `hardneg sample`: the batches of a sampler, or the negatives that it chooses for each anchor, for
// a training loop elsewhere.
//
// The sampler is built on the step that is asked for, regardless of its option t, which is about
// runs over a series, where graphs grow old between rebuilds: a training under way gives its latest
// embeddings, which are to be used.
#include "core/files.h"
#include "core/label_sets.h"
#include "core/sweep/blas.h"
#include "core/text.h"
#include "datasets/import/format.h"
#include "datasets/import/npy_write.h"
#include "harness/cli/command.h"
#include "harness/host/host.h"
#include "harness/host/memory.h"
#include "harness/job/job.h"
#include "harness/run/plan.h"
#include "samplers/draw.h"
#include "samplers/sampler.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CHUNK = 64 }; // batches drawn at once

struct sample_params {
    char *sampler, *output;
    int64_t step, batch, epochs, seed, threads, memory;
};

#define OPTION(kind, ...) HN_##kind##_OPTION(struct sample_params, __VA_ARGS__)
static const struct hn_option sample_options[] = {
    {OPTION(TEXT, sampler, "sampler", "as in a job file: knn, or '{batchsampler: {M: 500}}'"),
     .metavar = "SAMPLER"},
    {OPTION(INT, step, "step", NULL, 0, INFINITY,
            "step of the series to sample from (default: the last)"),
     .letter = 's', .metavar = "STEP"},
    {OPTION(INT, batch, "batch-size", "256", 2, INT32_MAX, "items of a batch"), .letter = 'b',
     .metavar = "B"},
    {OPTION(INT, epochs, "epochs", "1", 1, 1000000, "epochs, one after the other in the file"),
     .metavar = "E"},
    {OPTION(INT, seed, "seed", "1", 0, INFINITY, "seed of the sampler"), .metavar = "S"},
    {OPTION(THREADS, "; the file does not depend on them")},
    {OPTION(MEMORY, " (default: what the machine has)")},
    {OPTION(OUTPUT, "FILE", "the file of batches (.npy), or of negatives (.npy, .jsonl)")},
    {0},
};

struct work {
    const struct sample_params *p;
    struct hn_job_sampler *chosen;
    struct hn_snapshot *snapshot;
    struct hn_items items;
    struct hn_sampler sampler;
    struct hn_new_file file;
    int64_t batches, short_batches, capacity; // of `order` in batches, or else of `negative`
    int64_t *order;                           // [batches x p->batch]; of per-anchor samplers NULL
    int64_t distinct;                         // items in it, or among the negatives
    // Negatives of per-anchor samplers: of row r, anchor r % n of epoch r / n, there are count[r]
    // from negative[first[r]] on.
    int64_t rows, pairs, longest, without;
    int64_t *first;
    int32_t *count, *negative;
};

static bool is_per_anchor(const struct work *w) {
    return w->chosen->type->flags & HN_SAMPLER_PER_ANCHOR;
}

static enum hn_code check_params(struct hn_context *ctx, const struct sample_params *p) {
    if (!p->sampler)
        return hn_fail(ctx, HN_USAGE, "--sampler is missing: name one, e.g. --sampler knn");
    if (!p->output)
        return hn_fail(ctx, HN_USAGE, "--output is missing: name the file to write");
    return HN_OK;
}

static enum hn_code check_fit(struct hn_context *ctx, const struct work *w) {
    if (!is_per_anchor(w) && hn_ends_in(w->p->output, ".jsonl"))
        return hn_fail(ctx, HN_USAGE, "%s: batches are written as .npy; give another name",
                       w->p->output);
    if (!hn_ends_in(w->p->output, ".npy") && !hn_ends_in(w->p->output, ".jsonl"))
        hn_note(ctx, "%s: is an array of NumPy (.npy) all the same%s", w->p->output,
                is_per_anchor(w) ? "; a name that ends in .jsonl gives lines of JSON" : "");
    return hn_plan_check_sampler(ctx, hn_snapshot_info(w->snapshot), w->chosen, w->p->batch);
}

static enum hn_code open_all(struct hn_context *ctx, struct work *w, const char *path) {
    int64_t index;
    if (hn_job_parse_sampler(ctx, w->p->sampler, &w->chosen) ||
        hn_snapshot_open_any(ctx, path, &w->snapshot) || check_fit(ctx, w) ||
        hn_snapshot_check_digest(ctx, w->snapshot) ||
        hn_snapshot_find_step(ctx, hn_snapshot_info(w->snapshot), "--step", w->p->step, &index) ||
        hn_file_begin(ctx, w->p->output, &w->file))
        return ctx->code;
    return hn_snapshot_load(ctx, w->snapshot, index, &w->items);
}

// Puts the batches of one call behind those in w->order, padded.
static void append_batches(struct work *w, const struct hn_batches *b) {
    for (int32_t i = 0; i < b->count; i++) {
        int64_t *row = w->order + (w->batches + i) * b->batch_size;
        for (int32_t k = 0; k < b->batch_size; k++)
            row[k] = k < b->size[i] ? hn_batch_ids(b, i)[k] : -1;
        w->short_batches += b->size[i] < b->batch_size;
    }
}

static enum hn_code append_lists(struct hn_context *ctx, struct work *w, int64_t epoch,
                                 const struct hn_batches *b) {
    for (int64_t p = 0; p < (int64_t)b->count * b->batch_size; p++) {
        if (p % b->batch_size >= b->size[p / b->batch_size])
            continue;
        int64_t row = epoch * w->items.n + b->ids[p];
        int32_t count = w->count[row] = b->negatives[p];
        if (hn_grow(ctx, &w->negative, &w->capacity, w->pairs + count, sizeof *w->negative))
            return ctx->code;
        memcpy(w->negative + w->pairs, hn_batch_negatives(b, p), (size_t)count * sizeof *b->ids);
        w->first[row] = w->pairs;
        w->pairs += count;
        w->longest = hn_max(w->longest, count);
        w->without += count == 0;
    }
    return HN_OK;
}

static enum hn_code draw_epoch(struct hn_context *ctx, struct work *w, int64_t epoch,
                               struct hn_batches *b) {
    int64_t batches;
    if (hn_sampler_epoch(ctx, &w->sampler, &w->items, epoch, &batches) ||
        (!is_per_anchor(w) && hn_grow(ctx, &w->order, &w->capacity, w->batches + batches,
                                      (size_t)w->p->batch * sizeof *w->order)))
        return ctx->code;
    for (b->first = 0; b->first < batches; b->first += b->count) {
        if (hn_batches_draw(ctx, &w->sampler, batches - b->first, b))
            return ctx->code;
        if (!is_per_anchor(w))
            append_batches(w, b);
        else if (append_lists(ctx, w, epoch, b))
            return ctx->code;
        w->batches += b->count;
    }
    return HN_OK;
}

static enum hn_code draw_all(struct hn_context *ctx, struct work *w) {
    const struct hn_sampler_type *type = w->chosen->type;
    struct hn_batches b;
    w->rows = is_per_anchor(w) ? w->p->epochs * w->items.n : 0;
    if (!HN_ZALLOC(ctx, w->first, w->rows) || !HN_ZALLOC(ctx, w->count, w->rows) ||
        hn_sampler_make(ctx, type, w->chosen->params, &w->items, (int32_t)w->p->batch,
                        (uint64_t)w->p->seed, &w->sampler) ||
        hn_batches_open(ctx, &w->sampler, CHUNK, &b))
        return ctx->code;
    for (int64_t epoch = 0; epoch < w->p->epochs; epoch++)
        if (draw_epoch(ctx, w, epoch, &b))
            return ctx->code;
    hn_apart_note(ctx, &w->sampler, w->sampler.apart.left, w->p->epochs);
    return HN_OK;
}

static enum hn_code count_distinct(struct hn_context *ctx, struct work *w) {
    int64_t slots = is_per_anchor(w) ? w->pairs : w->batches * w->p->batch;
    bool *seen = hn_zalloc(ctx, w->items.n, sizeof *seen);
    for (int64_t i = 0; seen && i < slots; i++) {
        int64_t id = is_per_anchor(w) ? w->negative[i] : w->order[i];
        if (id >= 0 && !seen[id]) {
            seen[id] = true;
            w->distinct++;
        }
    }
    return seen ? HN_OK : ctx->code;
}

// Lists as an array, as long as the longest one.
static enum hn_code write_lists(struct hn_context *ctx, struct work *w) {
    const int64_t shape[] = {w->rows, w->longest};
    int64_t *value = hn_alloc(ctx, w->rows, (size_t)w->longest * sizeof *value);
    if (!value)
        return hn_fail_in(ctx, "%s: .jsonl takes less", w->p->output);
    for (int64_t i = 0; i < w->rows * w->longest; i++) {
        int64_t row = i / w->longest, k = i % w->longest;
        value[i] = k < w->count[row] ? w->negative[w->first[row] + k] : -1;
    }
    return hn_npy_write(ctx, &w->file, 2, shape, value);
}

static enum hn_code write_json(struct hn_context *ctx, struct work *w) {
    FILE *out = w->file.out; // what fails is seen when the file is committed
    const struct hn_matrix *y = hn_negative_rows(&w->items);
    for (int64_t row = 0; row < w->rows; row++) {
        int64_t anchor = row % w->items.n;
        const int32_t *negative = w->negative + w->first[row];
        fprintf(out, "{\"anchor\": %" PRId64 ", \"negatives\": [", anchor);
        for (int32_t k = 0; k < w->count[row]; k++)
            fprintf(out, k ? ", %d" : "%d", (int)negative[k]);
        fputs("], \"scores\": [", out);
        for (int32_t k = 0; k < w->count[row]; k++)
            fprintf(out, k ? ", %.7f" : "%.7f",
                    hn_dot_exact(hn_row(&w->items.x, anchor), hn_row(y, negative[k]), w->items.d));
        fputs("]}\n", out);
        if (row % CHUNK == 0 && hn_check_stop(ctx))
            return ctx->code;
    }
    return hn_file_commit(ctx, &w->file);
}

static enum hn_code write_file(struct hn_context *ctx, struct work *w) {
    const int64_t shape[] = {w->batches, w->p->batch};
    if (is_per_anchor(w))
        return hn_ends_in(w->p->output, ".jsonl") ? write_json(ctx, w) : write_lists(ctx, w);
    return hn_npy_write(ctx, &w->file, 2, shape, w->order);
}

// Prints the values at this step of options that run over a series.
static void print_schedules(const struct work *w) {
    for (const struct hn_option *o = w->chosen->type->options; o && o->name; o++) {
        struct hn_schedule s;
        if (o->kind != HN_OPTION_SCHEDULE)
            continue;
        memcpy(&s, (const char *)w->chosen->params + o->offset, sizeof s);
        fprintf(stderr, ", %s %.4g here", o->name, hn_schedule_at(s, w->items.progress));
    }
}

// The share of negatives that have a label of their anchor, among pairs with two labels.
static void print_false(const struct work *w) {
    const int32_t *label = w->items.labels;
    int64_t labelled = 0, same = 0;
    for (int64_t row = 0; label && row < w->rows; row++) {
        int32_t own = label[row % w->items.n];
        const int32_t *negative = w->negative + w->first[row];
        for (int32_t k = 0; own >= 0 && k < w->count[row]; k++) {
            labelled += label[negative[k]] >= 0;
            same += hn_same_label(w->items.label_sets, own, label[negative[k]]);
        }
    }
    if (labelled > 0)
        fprintf(stderr, "; %.1f %% of them have the anchor's label",
                100.0 * (double)same / (double)labelled);
}

static enum hn_code print_attrition(struct hn_context *ctx, const struct work *w) {
    struct hn_table t = {.name = NULL};
    const struct hn_sampler_type *type = w->chosen->type;
    HN_SCOPE(ctx);
    if (!type->table)
        return HN_OK;
    if (type->table(ctx, &w->sampler, &t))
        return ctx->code;
    const char *separator = "candidates by the filter that drops them: ";
    for (int64_t r = 0; r < t.rows; r++) {
        double count = hn_table_real(&t, r, "true_negatives") +
                       hn_table_real(&t, r, "false_negatives") + hn_table_real(&t, r, "unlabelled");
        if (count > 0) {
            fprintf(stderr, "%s%s %.0f", separator, hn_table_text(&t, r, "filter"), count);
            separator = ", ";
        }
    }
    fputc('\n', stderr);
    return HN_OK;
}

static enum hn_code print_summary(struct hn_context *ctx, const struct work *w) {
    bool lists = is_per_anchor(w);
    fprintf(stderr, "%s: ", w->p->output);
    if (lists)
        fprintf(stderr, "%s with up to %s", hn_counted(w->items.n, "anchor").text,
                hn_counted(w->longest, "negative").text);
    else
        fprintf(stderr, "%s of %" PRId64, hn_counted(w->batches, "batch").text, w->p->batch);
    if (w->short_batches > 0)
        fprintf(stderr, " (%" PRId64 " short, padded with -1)", w->short_batches);
    if (w->without > 0)
        fprintf(stderr, " (%" PRId64 " without any)", w->without);
    fprintf(stderr, ", %s, %s {%s} at step %" PRId64 ", seed %" PRId64,
            hn_counted(w->p->epochs, "epoch").text, w->chosen->type->name, w->chosen->text,
            w->items.step, w->p->seed);
    print_schedules(w);
    fprintf(stderr, "; the %s hold %" PRId64 " of %s (%.1f %%)", lists ? "negatives" : "batches",
            w->distinct, hn_counted(w->items.n, "item").text,
            100.0 * (double)w->distinct / (double)w->items.n);
    print_false(w);
    fputc('\n', stderr);
    return print_attrition(ctx, w);
}

static enum hn_code run_sample(struct hn_context *ctx, const struct hn_call *call) {
    struct work w = {.p = call->params};
    if (check_params(ctx, w.p))
        return ctx->code;
    ctx->threads = (int)hn_given(w.p->threads, ctx->threads);
    hn_host_limit_data(ctx, w.p->memory, 1);
    if (hn_blas_open(ctx))
        return ctx->code;
    bool failed = open_all(ctx, &w, call->args[0]) || draw_all(ctx, &w) ||
                  count_distinct(ctx, &w) || write_file(ctx, &w) ||
                  (!call->quiet && print_summary(ctx, &w));
    hn_file_abort(ctx, &w.file);
    hn_snapshot_close(ctx, w.snapshot);
    return failed ? ctx->code : HN_OK;
}

const struct hn_command hn_cmd_sample = {
    .name = "sample",
    .group = HN_GROUP_TRAINING,
    .usage = "hardneg sample SNAPSHOT --sampler SAMPLER [--step S] [--batch-size B] [--epochs E] "
             "[--seed S] -o FILE",
    .summary = "write the batches of a sampler, or its negatives, for your own training",
    .details = "The file is an array of NumPy, int64 [batches, B], of row numbers of the snapshot "
               "(0-based; of queries and a corpus numbers of the known pairs, by query, then "
               "passage), a batch in each row; short batches, which may end an epoch, are filled "
               "up with -1. Samplers that choose negatives for each anchor (mined, ring, hops, "
               "random-negatives) write int64 [anchors, K], where K is the length of the longest "
               "list and shorter ones are filled up with -1; or, to a name that ends in .jsonl, an "
               "object for each anchor on a line, with the cosines. The sampler is built on the "
               "step itself, whatever its option t says. The same seed gives the same file for any "
               "number of threads.",
    .examples = "hardneg sample mine.h5 --sampler '{batchsampler: {M: 500, K: 300}}' -o order.npy\n"
                "hardneg sample mine.h5 --sampler '{mined: {n: 10}}' -o negatives.jsonl",
    .options = sample_options,
    .params_size = sizeof(struct sample_params),
    .min_args = 1,
    .max_args = 1,
    .run = run_sample};
