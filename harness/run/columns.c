// The columns of /runs and /timing. Options, metrics and reports bring their own from the
// registries, so that a new one needs no line here.
#include "harness/run/runner.h"
#include "metrics/metric.h"

#include <string.h>

#define TEXT(name, long_name)                                                                      \
    { name, HN_COLUMN_TEXT, "", long_name, HN_NEITHER }
#define INT(name, units, long_name, direction)                                                     \
    { name, HN_COLUMN_INT, units, long_name, direction }
#define REAL(name, units, long_name, direction)                                                    \
    { name, HN_COLUMN_REAL, units, long_name, direction }

static const struct hn_column base_columns[] = {
    TEXT("cell_key", "hash of data, parameters and seed"),
    TEXT("run_key", "hash of cell_key, what is measured and the version of the code"),
    TEXT("dataset", "snapshot file"),
    TEXT("dataset_sha256", "content of the snapshot file"),
    INT("step", "optimizer_step", "training step of the embeddings", HN_NEITHER),
    TEXT("sampler", "sampler"),
    TEXT("params", "all options of the sampler, canonical text"),
};

static const struct hn_column loss_columns[] = {
    TEXT("loss", "denominator of the loss"),
    TEXT("weighting", "weighting of the negatives"),
};

static const struct hn_column setting_columns[] = {
    REAL("temperature", "1", "temperature of the loss", HN_NEITHER),
    INT("batch_size", "items", "batch size", HN_NEITHER),
    INT("batches", "batches", "batches measured", HN_NEITHER),
    INT("seed", "1", "seed", HN_NEITHER),
    TEXT("tool_version", "version of the program"),
    TEXT("status", "ok, failed or not_applicable"),
    TEXT("error", "why the cell failed or does not apply"),
    TEXT("note", "what was taken otherwise, and why columns are NaN"),
};

static const struct hn_column cost_columns[] = {
    REAL("graph_age", "optimizer_step", "age of the embeddings that the sampler was built on",
         HN_SMALLER),
    REAL("graph_overlap", "1", "share of a fresh graph's edges that the sampler's graph holds",
         HN_LARGER),
    REAL("negatives_mean", "1", "negatives per anchor, mean; NaN for batches", HN_NEITHER),
    REAL("anchors_without", "anchors", "anchors drawn that have no negative; NaN for batches",
         HN_SMALLER),
    INT("stalls", "walks", "walks that had to go on from a random item", HN_SMALLER),
    REAL("cost_s", "s", "Cost_S: drawing one batch, median", HN_SMALLER),
    REAL("cost_g", "s", "Cost_G: building the sampler on new embeddings, median", HN_SMALLER),
    REAL("cost_g_over_t", "s", "Cost_G / t: building, per training step", HN_SMALLER),
    INT("n_dot", "1", "inner products, build and batches", HN_SMALLER),
    INT("n_dot_build", "1", "inner products of the build alone", HN_SMALLER),
    INT("n_draw", "1", "random numbers drawn", HN_SMALLER),
    INT("n_step", "1", "walk steps", HN_SMALLER),
    INT("n_edge", "1", "graph edges written or followed", HN_SMALLER),
    INT("bytes_touched", "B", "bytes of embeddings and graphs touched, by count", HN_SMALLER),
    INT("peak_rss", "B", "largest resident memory of the process so far", HN_SMALLER),
    REAL("share_of_limit", "1", "inner products of the build against the machine's sgemm rate",
         HN_LARGER),
};

static const struct hn_column snapshot_columns[] = {
    TEXT("cell_key", "hash of data, temperatures and seed"),
    TEXT("run_key", "hash of cell_key, what is measured and the version of the code"),
    TEXT("dataset", "snapshot file"),
    TEXT("dataset_sha256", "content of the snapshot file"),
    INT("step", "optimizer_step", "training step of the embeddings", HN_NEITHER),
    REAL("temperature", "1", "temperature of the loss", HN_NEITHER),
    INT("seed", "1", "seed of what is drawn (a split)", HN_NEITHER),
    TEXT("tool_version", "version of the program"),
    TEXT("status", "ok or failed"),
    TEXT("error", "why it failed"),
    TEXT("note", "why columns are NaN"),
    INT("n_dot", "1", "inner products of the shared sweeps", HN_SMALLER),
    INT("sweeps", "1", "sweeps shared by all metrics", HN_SMALLER),
};

static const struct hn_column study_columns[] = {
    TEXT("cell_key", "hash of data, parameters and seeds"),
    TEXT("run_key", "hash of cell_key and the version of the code"),
    TEXT("dataset", "snapshot file"),
    TEXT("dataset_sha256", "content of the snapshot file"),
    INT("step", "optimizer_step", "training step of the embeddings", HN_NEITHER),
    TEXT("study", "study, and name of its table"),
    TEXT("params", "all options of the study, canonical text"),
    INT("seed", "1", "the first seed", HN_NEITHER),
    TEXT("tool_version", "version of the program"),
    TEXT("status", "ok, failed or not_applicable"),
    TEXT("error", "why it failed or does not apply"),
    TEXT("note", "what was taken otherwise"),
};

static const struct hn_column timing_columns[] = {
    INT("run", "1", "row of /runs", HN_NEITHER),
    TEXT("phase", "build, epoch or next"),
    INT("rep", "1", "repetition within the phase", HN_NEITHER),
    INT("order", "1", "order of execution", HN_NEITHER),
    INT("warmup", "1", "1 = not counted", HN_NEITHER),
    INT("batches", "batches", "batches drawn in this sample, 0 for a build", HN_NEITHER),
    INT("wall_ns", "ns", "wall-clock time", HN_SMALLER),
    INT("cpu_ns", "ns", "processor time of all threads", HN_SMALLER),
    INT("shared", "1", "1 = the build of another cell of the step, which this cell drew from",
        HN_NEITHER),
    REAL("instructions", "1", "instructions of all threads; NaN where the host does not count them",
         HN_SMALLER),
};

static enum hn_code add_all(struct hn_context *ctx, struct hn_table *t,
                            const struct hn_column *column, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (hn_table_find(t, column[i].name) < 0 && hn_table_add_column(ctx, t, &column[i]))
            return ctx->code;
    return HN_OK;
}

// Options of the same name are the same column (M of two samplers, say).
static enum hn_code add_options(struct hn_context *ctx, struct hn_table *t,
                                const struct hn_option *options) {
    for (const struct hn_option *o = options; o->name; o++) {
        bool number = o->kind == HN_OPTION_INT || o->kind == HN_OPTION_REAL;
        struct hn_column column = {.name = o->name,
                                   .kind = number ? HN_COLUMN_REAL : HN_COLUMN_TEXT,
                                   .units = number ? "1" : "",
                                   .long_name = o->help};
        column.direction = HN_NEITHER;
        if (add_all(ctx, t, &column, 1))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code add_sampler_options(struct hn_context *ctx, struct hn_table *t) {
    for (const struct hn_sampler_type *const *type = hn_samplers; *type; type++)
        if (add_options(ctx, t, (*type)->options))
            return ctx->code;
    return HN_OK;
}

static enum hn_code add_weighting_options(struct hn_context *ctx, struct hn_table *t) {
    for (const struct hn_weighting_type *const *type = hn_weightings; *type; type++)
        if (add_options(ctx, t, (*type)->options))
            return ctx->code;
    return HN_OK;
}

static enum hn_code add_metrics(struct hn_context *ctx, struct hn_table *t) {
    for (const struct hn_metric_type *const *metric = hn_metrics; *metric; metric++)
        if (add_all(ctx, t, (*metric)->columns, (size_t)(*metric)->n_columns))
            return ctx->code;
    return HN_OK;
}

static enum hn_code add_reports(struct hn_context *ctx, struct hn_table *t) {
    for (const struct hn_sampler_type *const *type = hn_samplers; *type; type++)
        if (add_all(ctx, t, (*type)->reports, (size_t)(*type)->n_reports))
            return ctx->code;
    return HN_OK;
}

static enum hn_code add_snapshot_metrics(struct hn_context *ctx, struct hn_table *t) {
    for (const struct hn_snapshot_metric_type *const *m = hn_snapshot_metrics; *m; m++)
        if (add_all(ctx, t, (*m)->columns, (size_t)(*m)->n_columns))
            return ctx->code;
    return HN_OK;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum hn_code hn_runs_table(struct hn_context *ctx, struct hn_table *out) {
    if (hn_table_init(ctx, out, "runs") || add_all(ctx, out, base_columns, COUNT(base_columns)) ||
        add_sampler_options(ctx, out) || add_all(ctx, out, loss_columns, COUNT(loss_columns)) ||
        add_weighting_options(ctx, out) ||
        add_all(ctx, out, setting_columns, COUNT(setting_columns)) || add_metrics(ctx, out) ||
        add_reports(ctx, out) || add_all(ctx, out, cost_columns, COUNT(cost_columns))) {
        hn_table_free(ctx, out);
        return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_snapshots_table(struct hn_context *ctx, struct hn_table *out) {
    if (hn_table_init(ctx, out, "snapshots") ||
        add_all(ctx, out, snapshot_columns, COUNT(snapshot_columns)) ||
        add_snapshot_metrics(ctx, out)) {
        hn_table_free(ctx, out);
        return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_studies_table(struct hn_context *ctx, struct hn_table *out) {
    if (hn_table_init(ctx, out, "studies") ||
        add_all(ctx, out, study_columns, COUNT(study_columns))) {
        hn_table_free(ctx, out);
        return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_timing_table(struct hn_context *ctx, struct hn_table *out) {
    if (hn_table_init(ctx, out, "timing") ||
        add_all(ctx, out, timing_columns, COUNT(timing_columns))) {
        hn_table_free(ctx, out);
        return ctx->code;
    }
    return HN_OK;
}
