// SPDX-License-Identifier: GPL-3.0-or-later
// Age of BatchSampler's graph (BS table 12, the interval t): batches of the graph of step s_i are
// judged on the embeddings of s_j, for every i <= j.
//
// Batches are those of the sampler `batchsampler` itself, for every seed of the job, through the
// metrics fn_ratio and hardness: a row of age 0 equals the cell of a run with a fresh graph, the
// others that of a t which lets the graph grow so old. graph_overlap: the share of the edges of a
// graph of the same candidates on s_j that the graph of s_i holds.
#include "core/real_text.h"
#include "metrics/measure.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"
#include "samplers/draw.h"
#include "samplers/proximity.h"
#include "samplers/sampler.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct params {
    struct hn_study_graph graph;
    int64_t batches;
    struct hn_schedule alpha;
};

enum { CHUNK = 16, METRICS = 2 };
static const char *const metric_names[METRICS] = {"fn_ratio", "hardness"};

// One row: a graph of `build`, batches judged on env->items.
struct work {
    const struct params *params;
    const struct hn_study_env *env;
    const struct hn_items *build;
    const struct hn_metric_type *metric[METRICS];
    const struct hn_sampler_type *type;
    void *sampler_params;
    uint64_t seed;
    int32_t batch_size;
    double *value; // of all columns of the metrics
    double overlap;
};

static enum hn_code set_number(struct hn_context *ctx, struct work *w, const char *name,
                               int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return hn_options_set(ctx, w->type->options, w->sampler_params, name, text);
}

static enum hn_code set_options(struct hn_context *ctx, struct work *w) {
    char text[80];
    snprintf(text, sizeof text, "%s~%s", hn_real_text(w->params->alpha.from).text,
             hn_real_text(w->params->alpha.to).text);
    if (set_number(ctx, w, "M", w->params->graph.m) || set_number(ctx, w, "K", w->params->graph.k))
        return ctx->code;
    return hn_options_set(ctx, w->type->options, w->sampler_params, "alpha", text);
}

// Draws params->batches batches, epoch after epoch, into an open measurement.
static enum hn_code draw_batches(struct hn_context *ctx, struct work *w, struct hn_sampler *s,
                                 struct hn_measure *measure, struct hn_batches *b) {
    int64_t done = 0, total = w->params->batches;
    for (int64_t epoch = 0; done < total; epoch++) {
        int64_t batches;
        if (hn_sampler_epoch(ctx, s, w->env->items, epoch, &batches))
            return ctx->code;
        for (b->first = 0; b->first < batches && done < total; b->first += b->count) {
            if (hn_batches_draw(ctx, s, hn_min(batches - b->first, total - done), b) ||
                hn_measure_batches(ctx, measure, epoch, b->count, b->size, b->ids))
                return ctx->code;
            done += b->count;
        }
    }
    return HN_OK;
}

static enum hn_code measure_batches(struct hn_context *ctx, struct work *w, struct hn_sampler *s) {
    struct hn_measure_spec spec = {.metrics = w->metric,
                                   .n_metrics = METRICS,
                                   .env = {.items = w->env->items,
                                           .temperature = 1, // neither metric has one
                                           .batch_size = w->batch_size,
                                           .threads = ctx->threads,
                                           .batches = w->params->batches}};
    struct hn_batches b;
    struct hn_measure *measure = NULL;
    struct hn_cell_arrays arrays = {0};
    char why[HN_MESSAGE_MAX];
    HN_SCOPE(ctx);
    enum hn_code code = hn_batches_open(ctx, s, CHUNK, &b);
    code = code ? code : hn_measure_begin(ctx, &spec, &measure);
    if (code == HN_OK)
        code = draw_batches(ctx, w, s, measure, &b);
    if (code == HN_OK)
        code = hn_measure_finish(ctx, measure, 0, w->value, &arrays, why);
    return code;
}

static double find_value(const struct work *w, const char *column) {
    const double *value = w->value;
    for (int m = 0; m < METRICS; m++)
        for (int c = 0; c < w->metric[m]->n_columns; c++, value++)
            if (strcmp(w->metric[m]->columns[c].name, column) == 0)
                return *value;
    return NAN;
}

static enum hn_code add_row(struct hn_context *ctx, const struct work *w, struct hn_table *table) {
    const struct params *p = w->params;
    const struct hn_study_graph graph = hn_study_graph_of(p, w->build->n);
    return HN_TABLE_PUT(
        ctx, table, HN_INT_VALUE("build_step", w->build->step),
        HN_INT_VALUE("age", w->env->items->step - w->build->step), HN_INT_VALUE("seed", w->seed),
        HN_INT_VALUE("M", graph.m), HN_INT_VALUE("K", graph.k),
        HN_REAL_VALUE("alpha", hn_schedule_at(p->alpha, w->env->items->progress)),
        HN_INT_VALUE("batch_size", w->batch_size), HN_INT_VALUE("batches", p->batches),
        HN_REAL_VALUE("fn_ratio", find_value(w, "fn_ratio")),
        HN_REAL_VALUE("fn_ratio_lo", find_value(w, "fn_ratio_lo")),
        HN_REAL_VALUE("fn_ratio_hi", find_value(w, "fn_ratio_hi")),
        HN_REAL_VALUE("cos_mean", find_value(w, "cos_mean")),
        HN_REAL_VALUE("cos_p99", find_value(w, "cos_p99")),
        HN_REAL_VALUE("hardest_mean", find_value(w, "hardest_mean")),
        HN_REAL_VALUE("hard_true_mean", find_value(w, "hard_true_mean")),
        HN_REAL_VALUE("graph_overlap", w->overlap));
}

static enum hn_code judge(struct hn_context *ctx, struct work *w, struct hn_table *table) {
    struct hn_sampler sampler;
    w->overlap = 1;
    enum hn_code code = hn_sampler_make(ctx, w->type, w->sampler_params, w->build, w->batch_size,
                                        w->seed, &sampler);
    if (code == HN_OK && w->build->step != w->env->items->step)
        code = hn_sampler_overlap(ctx, &sampler, w->env->items, &w->overlap);
    if (code == HN_OK)
        code = measure_batches(ctx, w, &sampler);
    if (code == HN_OK)
        code = add_row(ctx, w, table);
    hn_sampler_close(ctx, &sampler);
    return code;
}

static enum hn_code judge_all(struct hn_context *ctx, struct work *w, struct hn_table *table) {
    const struct hn_study_env *env = w->env;
    for (int64_t i = 0; i < env->n_steps; i++) {
        w->build = env->items; // the last step
        if (i < env->n_steps - 1 && env->load(ctx, env->series, i, &w->build))
            return ctx->code;
        for (int64_t b = 0; b < env->n_batch_sizes; b++)
            for (int64_t s = 0; s < env->n_seeds; s++) {
                w->batch_size = (int32_t)env->batch_size[b];
                w->seed = (uint64_t)env->seed[s];
                if (judge(ctx, w, table))
                    return ctx->code;
            }
    }
    return HN_OK;
}

static enum hn_code run(struct hn_context *ctx, const void *p, const struct hn_study_env *env,
                        struct hn_table *table) {
    struct work w = {.params = p, .env = env, .type = hn_sampler_find("batchsampler")};
    for (int m = 0; m < METRICS; m++)
        w.metric[m] = hn_metric_find(metric_names[m]);
    w.sampler_params = hn_zalloc(ctx, 1, w.type->params_size);
    if (!w.sampler_params || !HN_ALLOC(ctx, w.value, hn_measure_columns(w.metric, METRICS)) ||
        hn_options_init(ctx, w.type->options, w.sampler_params) || set_options(ctx, &w))
        return ctx->code;
    return judge_all(ctx, &w, table);
}

static const struct hn_option options[] = {
    HN_STUDY_GRAPH_OPTIONS,
    {HN_SCHEDULE_OPTION(struct params, alpha, "alpha", "0.2", 0, 1,
                        "restart probability; a~b runs from a to b over the steps of the series")},
    {HN_INT_OPTION(struct params, batches, "batches", "300", 1, 10000000,
                   "batches judged, for each pair of steps")},
    {0}};

static const struct hn_column columns[] = {
    {"build_step", HN_COLUMN_INT, "optimizer_step", "step that the graph was built on", HN_NEITHER},
    {"age", HN_COLUMN_INT, "optimizer_step", "steps since then", HN_NEITHER},
    {"seed", HN_COLUMN_INT, "1", "seed", HN_NEITHER},
    HN_STUDY_GRAPH_COLUMNS,
    {"alpha", HN_COLUMN_REAL, "1", "restart probability at the judged step", HN_NEITHER},
    {"batch_size", HN_COLUMN_INT, "items", "batch size", HN_NEITHER},
    {"batches", HN_COLUMN_INT, "batches", "batches judged", HN_NEITHER},
    {"fn_ratio", HN_COLUMN_REAL, "1",
     "share of labelled pairs in a batch that share a label; NaN without such pairs", HN_SMALLER},
    {"fn_ratio_lo", HN_COLUMN_REAL, "1",
     "lower end of its 95 % interval over batches; NaN unless two batches have labelled pairs",
     HN_SMALLER},
    {"fn_ratio_hi", HN_COLUMN_REAL, "1",
     "upper end of its 95 % interval over batches; NaN unless two batches have labelled pairs",
     HN_SMALLER},
    {"cos_mean", HN_COLUMN_REAL, "1", "mean cosine of in-batch negatives; NaN without negatives",
     HN_NEITHER},
    {"cos_p99", HN_COLUMN_REAL, "1",
     "99th percentile of the cosines of in-batch negatives; NaN without negatives", HN_NEITHER,
     HN_ROLE_BINNED},
    {"hardest_mean", HN_COLUMN_REAL, "1",
     "cosine of the hardest negative, mean over anchors; NaN without negatives", HN_NEITHER},
    {"hard_true_mean", HN_COLUMN_REAL, "1",
     "cosine of the hardest true negative, mean over anchors; NaN without true negatives",
     HN_LARGER},
    {"graph_overlap", HN_COLUMN_REAL, "1",
     "share of a fresh graph's edges (same candidates) that the graph holds", HN_LARGER},
};

const struct hn_study_type hn_study_staleness = {
    .name = "staleness",
    .summary = "a graph built on one step, its batches judged on every later one",
    .source = "BS table 12, algorithm 1",
    .note = "",
    .uses = HN_STUDY_BATCH_SIZES | HN_STUDY_SEEDS | HN_STUDY_SERIES,
    .options = options,
    .params_size = sizeof(struct params),
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .check = hn_study_check_graph,
    .run = run,
};
