// The key `metrics` of a job: names from the two registries, of metrics of batches and of those
// that need no sampler.
#include "harness/job_private.h"

#include <string.h>

static enum hn_code unknown(struct hn_context *ctx, const struct hn_yaml *item) {
    struct hn_names names = {.n = 0};
    hn_names_add(&names, "all");
    for (int64_t i = 0; hn_metrics[i]; i++)
        hn_names_add(&names, hn_metrics[i]->name);
    for (int64_t i = 0; hn_snapshot_metrics[i]; i++)
        hn_names_add(&names, hn_snapshot_metrics[i]->name);
    return hn_yaml_fail_unknown(ctx, item, "metric", &names);
}

static enum hn_code add(struct hn_context *ctx, const struct hn_yaml *item, struct hn_job *job) {
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

enum hn_code hn_job_read_metrics(struct hn_context *ctx, const struct hn_yaml *value,
                                 struct hn_job *job) {
    bool all = !value || (value->kind == HN_YAML_SCALAR && strcmp(value->text, "all") == 0);
    const struct hn_yaml *item = NULL;
    int64_t n = 0, batch = 0, snapshot = 0;
    if (!all && hn_job_items(ctx, "metrics", value, &item, &n))
        return ctx->code;
    while (hn_metrics[batch])
        batch++;
    while (hn_snapshot_metrics[snapshot])
        snapshot++;
    job->metric = hn_alloc(ctx, batch, sizeof *job->metric);
    job->snapshot_metric = hn_alloc(ctx, snapshot, sizeof *job->snapshot_metric);
    if (!job->metric || !job->snapshot_metric)
        return ctx->code;
    for (; all && job->n_metrics < batch; job->n_metrics++)
        job->metric[job->n_metrics] = hn_metrics[job->n_metrics];
    for (; all && job->n_snapshot_metrics < snapshot; job->n_snapshot_metrics++)
        job->snapshot_metric[job->n_snapshot_metrics] =
            hn_snapshot_metrics[job->n_snapshot_metrics];
    for (; n > 0; n--, item = item->next)
        if (add(ctx, item, job))
            return ctx->code;
    return HN_OK;
}
