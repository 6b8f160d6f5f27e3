// The key `metrics` of a job: names from the registries, of metrics of batches and of those that
// need no sampler ("all" stands for them), and studies, which may have options and are expanded as
// samplers are.
#include "harness/job/job_private.h"

#include <string.h>

static enum hn_code unknown(struct hn_context *ctx, const struct hn_yaml *item) {
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

static bool study_type(int64_t i, struct hn_grid_type *out) {
    const struct hn_study_type *type = hn_studies[i];
    if (type)
        *out = (struct hn_grid_type){type->name, type->options, type->params_size, type};
    return type;
}

static const struct hn_grid_family studies = {"study", "studies", study_type, NULL, NULL};

void hn_job_study_free(struct hn_context *ctx, struct hn_job_study *s) {
    if (s->type)
        hn_options_free(ctx, s->type->options, s->params);
    hn_free(ctx, s->params);
    hn_free(ctx, s->text);
    memset(s, 0, sizeof *s);
}

static bool is_twin(const struct hn_job *job, const struct hn_grid_point *point) {
    for (int64_t i = 0; i < job->n_studies; i++)
        if (job->study[i].type == point->type.type && !strcmp(job->study[i].text, point->text))
            return true;
    return false;
}

// Moves the points of one entry into the job.
static enum hn_code take_points(struct hn_context *ctx, const struct hn_yaml *item,
                                struct hn_grid_point *point, int64_t n, struct hn_job *job) {
    if (n > HN_JOB_STUDIES_MAX - job->n_studies)
        return hn_yaml_fail(ctx, item, "the studies have more than %d points: split the job",
                            HN_JOB_STUDIES_MAX);
    for (int64_t i = 0; i < n; i++)
        if (is_twin(job, &point[i]))
            return hn_yaml_fail(ctx, item, "%s {%s} is given twice in 'metrics'",
                                point[i].type.name, point[i].text);
    struct hn_job_study *longer = hn_resize(ctx, job->study, job->n_studies + n, sizeof *longer);
    if (!longer)
        return ctx->code;
    job->study = longer;
    for (int64_t i = 0; i < n; i++) {
        longer[job->n_studies++] =
            (struct hn_job_study){point[i].type.type, point[i].params, point[i].text};
        memset(&point[i], 0, sizeof point[i]); // what it owned has moved
    }
    return HN_OK;
}

static enum hn_code add_study(struct hn_context *ctx, const struct hn_yaml *item,
                              struct hn_job *job) {
    struct hn_grid_point *point;
    int64_t n;
    if (hn_grid_read(ctx, &studies, item, &point, &n))
        return ctx->code;
    enum hn_code code = take_points(ctx, item, point, n, job);
    hn_grid_free(ctx, point, n);
    return code;
}

// The name before the options, or the item itself.
static const struct hn_yaml *name_of(const struct hn_yaml *item) {
    bool map = item->kind == HN_YAML_MAP && item->count > 0;
    return map ? item->first : item;
}

static bool is_study(const struct hn_yaml *item) {
    const struct hn_yaml *name = name_of(item);
    return name->kind == HN_YAML_SCALAR && hn_study_find(name->text);
}

static enum hn_code add(struct hn_context *ctx, const struct hn_yaml *item, struct hn_job *job) {
    if (is_study(item))
        return add_study(ctx, item, job);
    if (item->kind == HN_YAML_MAP && name_of(item)->kind == HN_YAML_SCALAR &&
        (hn_metric_find(name_of(item)->text) || hn_snapshot_metric_find(name_of(item)->text)))
        return hn_yaml_fail(ctx, item, "'%s' has no options", name_of(item)->text);
    if (item->kind == HN_YAML_MAP && item->count > 0)
        return unknown(ctx, name_of(item));
    if (item->kind != HN_YAML_SCALAR)
        return hn_yaml_fail(ctx, item, "'metrics' wants names, not %s", hn_yaml_kind_name(item));
    const struct hn_metric_type *metric = hn_metric_find(item->text);
    const struct hn_snapshot_metric_type *other = hn_snapshot_metric_find(item->text);
    if (!metric && !other)
        return unknown(ctx, item);
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

// "all" is every metric but the studies.
static enum hn_code add_all(struct hn_context *ctx, const struct hn_yaml *item,
                            struct hn_job *job) {
    if (item && (job->n_metrics > 0 || job->n_snapshot_metrics > 0))
        return hn_yaml_fail(ctx, item, "'all' holds the metrics before it: give either");
    for (int64_t i = 0; hn_metrics[i]; i++)
        job->metric[job->n_metrics++] = hn_metrics[i];
    for (int64_t i = 0; hn_snapshot_metrics[i]; i++)
        job->snapshot_metric[job->n_snapshot_metrics++] = hn_snapshot_metrics[i];
    return HN_OK;
}

enum hn_code hn_job_read_metrics(struct hn_context *ctx, const struct hn_yaml *value,
                                 struct hn_job *job) {
    const struct hn_yaml *item = NULL;
    int64_t n = 0, batch = 0, snapshot = 0;
    if (value && hn_job_items(ctx, "metrics", value, &item, &n))
        return ctx->code;
    while (hn_metrics[batch])
        batch++;
    while (hn_snapshot_metrics[snapshot])
        snapshot++;
    job->metric = hn_alloc(ctx, batch, sizeof *job->metric);
    job->snapshot_metric = hn_alloc(ctx, snapshot, sizeof *job->snapshot_metric);
    if (!job->metric || !job->snapshot_metric)
        return ctx->code;
    if (!value)
        return add_all(ctx, NULL, job);
    for (; n > 0; n--, item = item->next) {
        bool all = item->kind == HN_YAML_SCALAR && strcmp(item->text, "all") == 0;
        if (all ? add_all(ctx, item, job) : add(ctx, item, job))
            return ctx->code;
    }
    return HN_OK;
}
