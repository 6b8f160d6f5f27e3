// Facts of a plan that its items ask for: what its data have, and how they share draws.
#include "harness/run/plan.h"

#include <inttypes.h>

bool hn_plan_has_relation(const struct hn_snapshot_info *info) {
    return info->has_tuples || info->unlabelled < info->n;
}

struct hn_sampler_plan hn_plan_sampler_plan(const struct hn_snapshot_info *info,
                                            int32_t batch_size) {
    return (struct hn_sampler_plan){.n = info->n,
                                    .batch_size = batch_size,
                                    .has_positive = info->has_view2 || info->has_positive,
                                    .has_labels = hn_plan_has_relation(info),
                                    .has_tuples = info->has_tuples,
                                    .has_graph = info->has_graph,
                                    .has_features = info->has_features,
                                    .has_teacher = (info->teacher_d > 0),
                                    .has_groups = info->group};
}

const char *hn_plan_missing(const struct hn_snapshot_info *info,
                            const struct hn_sampler_type *type) {
    struct hn_sampler_plan plan = hn_plan_sampler_plan(info, 2);
    return hn_sampler_missing(type, &plan);
}

enum hn_code hn_plan_check_sampler(struct hn_context *ctx, const struct hn_snapshot_info *info,
                                   const struct hn_job_sampler *sampler, int64_t batch_size) {
    const char *missing = hn_plan_missing(info, sampler->type);
    struct hn_sampler_plan plan = hn_plan_sampler_plan(info, (int32_t)batch_size);
    if (batch_size > info->n)
        return hn_fail(ctx, HN_DATA,
                       "%s: a batch of %" PRId64 " exceeds the file's %" PRId64
                       " items: lower --batch-size",
                       info->path, batch_size, info->n);
    if (missing)
        return hn_fail(
            ctx, HN_DATA,
            "%s: %s needs %s and the file has none: add it (hardneg import) or use another sampler",
            info->path, sampler->type->name, missing);
    if (hn_sampler_check(ctx, sampler->type, sampler->params, &plan))
        return hn_fail_in(ctx, "%s {%s} on %s", sampler->type->name, sampler->text, info->path);
    return HN_OK;
}

const struct hn_plan_data *hn_plan_data_of(const struct hn_item *item) {
    return &((const struct hn_plan *)item->plan)->data[item->step->data];
}

int64_t hn_plan_series(const struct hn_plan *plan, const struct hn_plan_step *step) {
    int64_t n = 0;
    for (const struct hn_plan_step *s = plan->step; s < plan->step + plan->n_steps; s++)
        n += s->data == step->data && s->step_index <= step->step_index;
    return n;
}

enum hn_code hn_plan_add_row(struct hn_context *ctx, const struct hn_item *item,
                             struct hn_table *t) {
    const struct hn_plan_data *data = hn_plan_data_of(item);
    return hn_item_add_row(ctx, item, data->name, data->sha256, item->step->number, t);
}

bool hn_plan_shares(const struct hn_job *job) {
    bool timed = job->timing.reps > 1 || job->timing.warmup > 0;
    return !timed && job->n_temperatures * job->n_losses * job->n_weightings > 1;
}
