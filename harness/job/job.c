// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of a job file. 2^53: what a double, and so JSON, holds exactly.
#include "harness/job/job.h"
#include "core/files.h"
#include "core/options/yaml_file.h"
#include "harness/job/grid.h"
#include "harness/job/list.h"
#include "harness/job/resolve.h"

#include <string.h>

#define TIMING(macro, field, ...)                                                                  \
    .option = {macro(struct hn_job_timing, field, #field, __VA_ARGS__)}
static const struct hn_field timing_fields[] = {
    {TIMING(HN_INT_OPTION, reps, "1", 1, 10000, "timed repetitions")},
    {TIMING(HN_INT_OPTION, warmup, "0", 0, 10000, "repetitions before that are not timed")},
    {TIMING(HN_BOOL_OPTION, interleave, "false", "one repetition of each cell in turn")},
    {TIMING(HN_INT_OPTION, processes, "1", 1, 1000,
            "processes that time every cell, one after the other")},
    {0}};
static const struct hn_fields timing = {timing_fields, .size = sizeof(struct hn_job_timing)};

static const struct hn_field limit_fields[] = {
    {.option = {HN_SIZE_OPTION(struct hn_job, memory_limit, "memory", NULL, 0, 0x1p60,
                               "memory that a run may use")}},
    {0}};
static const struct hn_fields limits = {limit_fields, .size = sizeof(struct hn_job)};

// The key `metrics`: metrics of batches, metrics of snapshots ("all" stands for these two), and
// studies, which may have options.

static enum hn_code fail_metric(struct hn_context *ctx, const struct hn_yaml *item) {
    struct hn_names names = {.n = 0};
    hn_names_add(&names, "all");
    for (int64_t i = 0; hn_metrics[i]; i++)
        hn_names_add(&names, hn_metrics[i]->name);
    for (int64_t i = 0; hn_snapshot_metrics[i]; i++)
        hn_names_add(&names, hn_snapshot_metrics[i]->name);
    for (int64_t i = 0; hn_studies[i]; i++)
        hn_names_add(&names, hn_studies[i]->name);
    return hn_yaml_fail_unknown(ctx, item, "metric", &names);
}

static enum hn_code add_metric(struct hn_context *ctx, const struct hn_yaml *item,
                               struct hn_job *job) {
    const struct hn_yaml *name = item->kind == HN_YAML_MAP && item->count ? item->first : item;
    if (name->kind != HN_YAML_SCALAR)
        return hn_yaml_fail(ctx, item, "'metrics' wants names, not %s", hn_yaml_kind_name(item));
    const struct hn_metric_type *metric = hn_metric_find(name->text);
    const struct hn_snapshot_metric_type *other = hn_snapshot_metric_find(name->text);
    if (hn_study_find(name->text))
        return HN_OK; // read with its options as a grid
    if (!metric && !other)
        return fail_metric(ctx, name);
    if (name != item)
        return hn_yaml_fail(ctx, item, "'%s' has no options", name->text);
    bool twice = false;
    for (int64_t i = 0; metric && i < job->n_metrics; i++)
        twice |= job->metric[i] == metric;
    for (int64_t i = 0; !metric && i < job->n_snapshot_metrics; i++)
        twice |= job->snapshot_metric[i] == other;
    if (twice)
        return hn_yaml_fail(ctx, item, "'%s' is given twice in 'metrics'", item->text);
    if (metric)
        job->metric[job->n_metrics++] = metric;
    else
        job->snapshot_metric[job->n_snapshot_metrics++] = other;
    return HN_OK;
}

static enum hn_code add_all(struct hn_context *ctx, const struct hn_yaml *item,
                            struct hn_job *job) {
    if (job->n_metrics > 0 || job->n_snapshot_metrics > 0)
        return hn_yaml_fail(ctx, item, "'all' holds the metrics before it: give either");
    for (int64_t i = 0; hn_metrics[i]; i++)
        job->metric[job->n_metrics++] = hn_metrics[i];
    for (int64_t i = 0; hn_snapshot_metrics[i]; i++)
        job->snapshot_metric[job->n_snapshot_metrics++] = hn_snapshot_metrics[i];
    return HN_OK;
}

static enum hn_code read_studies(struct hn_context *ctx, const struct hn_yaml *value,
                                 struct hn_job *job) {
    struct hn_list list;
    enum hn_code code = hn_grid_read(ctx, &hn_study_registry, value, true, &list);
    memcpy(&job->study, &list.item, sizeof list.item);
    job->n_studies = list.count;
    return code;
}

static enum hn_code read_metrics(struct hn_context *ctx, const struct hn_yaml *value, void *out) {
    struct hn_job *job = out;
    const struct hn_yaml *item = NULL;
    int64_t n = 0, batch = 0, snapshot = 0;
    if (hn_yaml_items(ctx, "metrics", value, &item, &n))
        return ctx->code;
    while (hn_metrics[batch])
        batch++;
    while (hn_snapshot_metrics[snapshot])
        snapshot++;
    if (!HN_ALLOC(ctx, job->metric, batch) || !HN_ALLOC(ctx, job->snapshot_metric, snapshot))
        return ctx->code;
    for (; n > 0; n--, item = item->next)
        if (hn_yaml_is(item, "all") ? add_all(ctx, item, job) : add_metric(ctx, item, job))
            return ctx->code;
    return read_studies(ctx, value, job);
}

static void write_metrics(struct hn_yaml_text *t, const void *in) {
    const struct hn_job *job = in;
    const char *comma = "metrics: [";
    for (int64_t i = 0; i < job->n_metrics; i++, comma = ", ") {
        hn_yaml_text_put(t, comma);
        hn_yaml_text_name(t, job->metric[i]->name);
    }
    for (int64_t i = 0; i < job->n_snapshot_metrics; i++, comma = ", ") {
        hn_yaml_text_put(t, comma);
        hn_yaml_text_name(t, job->snapshot_metric[i]->name);
    }
    for (int64_t i = 0; i < job->n_studies; i++, comma = ", ") {
        const struct hn_job_study *s = &job->study[i];
        hn_yaml_text_put(t, comma);
        hn_yaml_text_point(t, &hn_study_registry, &(struct hn_point){s->type, s->params, s->text});
    }
    hn_yaml_text_put(t, "]\n");
}

// The key `figures`: all, none, or names. Without it no figures are drawn: gnuplot is needed only
// by those who ask for them.

static const struct hn_option figure_option = {
    .name = "figures", .kind = HN_OPTION_TEXT, .metavar = "names"};

static enum hn_code read_figures(struct hn_context *ctx, const struct hn_yaml *value, void *out) {
    struct hn_job *job = out;
    struct hn_list list;
    job->figures_all = hn_yaml_is(value, "all");
    if (job->figures_all || hn_yaml_is(value, "none"))
        return HN_OK;
    enum hn_code code = hn_list_read(ctx, &figure_option, NULL, value, &list);
    memcpy(&job->figure, &list.item, sizeof list.item);
    job->n_figures = list.count;
    return code;
}

static void write_figures(struct hn_yaml_text *t, const void *in) {
    const struct hn_job *job = in;
    hn_yaml_text_put(t, "figures: ");
    hn_yaml_text_put(t, job->figures_all ? "all" : job->n_figures ? "[" : "none");
    for (int64_t i = 0; i < job->n_figures; i++) {
        hn_yaml_text_put(t, i ? ", " : "");
        hn_yaml_text_name(t, job->figure[i]);
    }
    hn_yaml_text_put(t, job->n_figures ? "]\n" : "\n");
}

static enum hn_code check_figures(struct hn_context *ctx, const struct hn_yaml *value,
                                  const char *(*figure)(int64_t i), const struct hn_job *job) {
    struct hn_names names = {.n = 2, .name = {"all", "none"}};
    const char *id;
    if (job->n_figures == 0)
        return HN_OK;
    for (int64_t i = 0; (id = figure(i)) != NULL; i++)
        hn_names_add(&names, id);
    const struct hn_yaml *item = value->kind == HN_YAML_LIST ? value->first : value;
    for (int64_t i = 0; i < job->n_figures; i++, item = item->next) {
        int64_t k = 0;
        while ((id = figure(k)) != NULL && strcmp(id, item->text) != 0)
            k++;
        if (!id)
            return hn_yaml_fail_unknown(ctx, item, "figure", &names);
    }
    return HN_OK;
}

static enum hn_code check(struct hn_context *ctx, const struct hn_yaml *root, void *out) {
    struct hn_job *job = out;
    const struct hn_yaml *batches = hn_yaml_find(root, "batches");
    const struct hn_yaml *epochs = hn_yaml_find(root, "epochs");
    if (batches && epochs) {
        bool epochs_last = epochs->line > batches->line ||
                           (epochs->line == batches->line && epochs->column > batches->column);
        return hn_yaml_fail(ctx, epochs_last ? epochs : batches,
                            "give either 'batches' or 'epochs', not both");
    }
    if (!batches && !epochs)
        job->batches = 300;
    return HN_OK;
}

#define JOB(macro, field, ...) .option = {macro(struct hn_job, field, #field, __VA_ARGS__)}
static const struct hn_field job_fields[] = {
    {JOB(HN_INT_OPTION, version, "1", 1, 1, "version of the job file's layout")},
    {.option = {HN_TEXT_OPTION(struct hn_job, title, "title",
                               "what reports call it; default: the file's name")}},
    {HN_LIST_FIELD(HN_OPTION_TEXT, char *, struct hn_job, snapshot_written, n_snapshots,
                   "snapshots", "files, relative to the job file's folder",
                   .metavar = "file names"),
     .required = true, .layout = HN_BLOCK},
    {HN_INTS_FIELD(struct hn_job, step, n_steps, "steps", "of the snapshots", .initial = "all",
                   .max = 0x1p53),
     .none = "all"},
    {HN_INTS_FIELD(struct hn_job, batch_size, n_batch_sizes, "batch_size", "items in a batch",
                   .min = 2, .max = INT32_MAX),
     .required = true},
    {JOB(HN_INT_OPTION, batches, NULL, 1, 1e9, "batches per cell; 300 where there are no epochs")},
    {JOB(HN_INT_OPTION, epochs, NULL, 1, 1e6, "epochs per cell")},
    {HN_INTS_FIELD(struct hn_job, seed, n_seeds, "seeds", "of the random streams", .initial = "1",
                   .max = 0x1p53)},
    {HN_GRID_FIELD(struct hn_job, sampler, n_samplers, "samplers", hn_sampler_registry, "compared"),
     .required = true, .layout = HN_BLOCK},
    {HN_NAMES_FIELD(struct hn_job, loss, n_losses, "loss", hn_loss_registry, "losses",
                    .initial = "ntxent"),
     .layout = HN_FLOW_ONE},
    {HN_GRID_FIELD(struct hn_job, weighting, n_weightings, "weightings", hn_weighting_registry,
                   "of negatives", .initial = "none")},
    {HN_REALS_FIELD(struct hn_job, temperature, n_temperatures, "temperature", "of the loss",
                    .initial = "0.5", .min = 0.003, .max = 1000)},
    {.kind = HN_FIELD_OWN,
     .option = {.name = "metrics", .initial = "all"},
     .read = read_metrics,
     .write = write_metrics},
    {HN_GROUP_FIELD(struct hn_job, timing, "timing", timing)},
    {.kind = HN_FIELD_GROUP, .of = &limits, .option = {.name = "limits"}},
    {.kind = HN_FIELD_OWN,
     .option = {.name = "figures", .initial = "none"},
     .read = read_figures,
     .write = write_figures},
    {.option = {HN_TEXT_OPTION(struct hn_job, outcome, "outcome",
                               "table of trainings, which the page sets beside hardness"),
                .metavar = "file name"}},
    {0}};
static const struct hn_fields fields = {job_fields, .size = sizeof(struct hn_job), .check = check,
                                        .max = 1000000, .many = "cells"};

static enum hn_code find_snapshots(struct hn_context *ctx, const char *path, struct hn_job *job) {
    if (!HN_ZALLOC(ctx, job->snapshot, job->n_snapshots))
        return ctx->code;
    for (int64_t i = 0; i < job->n_snapshots; i++) {
        job->snapshot[i] = hn_path_beside(ctx, path, job->snapshot_written[i]);
        if (!job->snapshot[i])
            return ctx->code;
        for (int64_t k = 0; k < i; k++)
            if (hn_same_file(job->snapshot[k], job->snapshot[i]))
                return hn_fail(ctx, HN_USAGE,
                               "%s: '%s' and '%s' in 'snapshots' are the same file: give it once",
                               path, job->snapshot_written[k], job->snapshot_written[i]);
    }
    return HN_OK;
}

// `batches` and `epochs` say the same thing: the override of one replaces the other in the file,
// but not another override.
static void drop_counterpart(struct hn_yaml *root) {
    const struct hn_yaml *batches = hn_yaml_find(root, "batches");
    const struct hn_yaml *epochs = hn_yaml_find(root, "epochs");
    if (batches && epochs && batches->origin.lines != epochs->origin.lines)
        hn_yaml_remove(root, batches->origin.lines ? "batches" : "epochs");
}

static enum hn_code read_root(struct hn_context *ctx, const char *path, const char *text,
                              const struct hn_text_list *set, struct hn_yaml **root) {
    if (!text)
        return hn_yaml_read(ctx, "job file", path, set, root);
    enum hn_code code = hn_yaml_read_text(ctx, "job", path, text, (int64_t)strlen(text), root);
    return code ? code : hn_yaml_override(ctx, set, *root);
}

enum hn_code hn_job_read(struct hn_context *ctx, const char *path, const char *text,
                         const struct hn_text_list *set, const char *(*figure)(int64_t i),
                         struct hn_job *job) {
    struct hn_yaml *root;
    *job = (struct hn_job){.path = hn_strdup(ctx, path), .max_cells = HN_JOB_CELLS};
    HN_SCOPE(ctx);
    if (!job->path || read_root(ctx, job->path, text, set, &root))
        return ctx->code;
    hn_own(ctx, scope.outer);
    drop_counterpart(root);
    if (hn_fields_read(ctx, &fields, root, job) ||
        (figure && check_figures(ctx, hn_yaml_value(root, "figures"), figure, job)) ||
        find_snapshots(ctx, job->path, job) ||
        hn_fields_text(ctx, &fields, job, false, &job->resolved))
        return ctx->code;
    job->batches = hn_max(job->batches, 0); // unset: the other one counts
    job->epochs = hn_max(job->epochs, 0);
    struct hn_digest digest;
    hn_digest_begin(&digest);
    hn_digest_add(&digest, job->resolved, strlen(job->resolved));
    hn_digest_end(&digest, job->resolved_sha256);
    return HN_OK;
}

enum hn_code hn_job_parse_sampler(struct hn_context *ctx, const char *text,
                                  struct hn_job_sampler **out) {
    struct hn_point *point;
    enum hn_code code = hn_grid_read_one(ctx, &hn_sampler_registry, "sampler ", text, &point);
    memcpy(out, &point, sizeof *out);
    return code;
}
