// SPDX-License-Identifier: GPL-3.0-or-later
// Linear-probe accuracy of a step: multinomial logistic regression on the clean embeddings (unit
// rows), fitted to the training items, C in {1, 10, 100} by validation, accuracy on the test items.
// The parts are those of the file's split, or drawn (metrics/split.c); items of a validation part
// choose C, without one a tenth of the training items does. Classes of fewer than two training
// items on average have no value: there is little to learn, and a fit takes time by items times
// classes, without bound where each item has a label of its own.
#include "metrics/linear_probe.h"
#include "metrics/metric.h"

static const double strengths[] = {1, 10, 100};

static struct hn_labelled part(const float *rows, const int32_t *label, int64_t from, int64_t count,
                               int64_t d) {
    return (struct hn_labelled){{rows + from * d, count, d, d}, label + from};
}

enum { FEWEST = 2 }; // training items of a class, on average

static enum hn_code classify(struct hn_context *ctx, const struct hn_snapshot_env *env,
                             const struct hn_split *s, double *accuracy) {
    if (s->train < FEWEST * (int64_t)s->classes)
        return HN_OK;
    int64_t d = env->items->d, known = s->train + s->test, n = known + s->validation;
    int32_t *label = hn_alloc(ctx, n, sizeof *label);
    if (!label)
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        label[i] = s->class_of[s->id[i]];
    bool fixed = env->probe_c > 0;
    struct hn_linear_probe probe = {.train = part(s->rows, label, 0, s->train, d),
                                    .test = part(s->rows, label, s->train, s->test, d),
                                    .validation = part(s->rows, label, known, s->validation, d),
                                    .classes = s->classes,
                                    .c = fixed ? &env->probe_c : strengths,
                                    .n_c = fixed ? 1 : sizeof strengths / sizeof *strengths,
                                    .seed = env->seed};
    enum hn_code code = hn_linear_probe_run(ctx, &probe);
    *accuracy = probe.accuracy;
    return code;
}

static enum hn_code finish(struct hn_context *ctx, void *state, const struct hn_snapshot_env *env,
                           int t, double *value) {
    return hn_split_measure(ctx, env, t, classify, state, value);
}

static const struct hn_column columns[] = {
    {"probe_acc", HN_COLUMN_REAL, "share",
     "accuracy of a linear probe on the test items; NaN without test items, and of classes with "
     "fewer than two training items on average",
     HN_LARGER},
};

const struct hn_snapshot_metric_type hn_snapshot_probe_acc = {
    .name = "probe_acc",
    .family = "probe",
    .summary = "linear probe: multinomial logistic regression, C of 1, 10, 100 by validation",
    .source = "linear evaluation: Chen et al. 2020 (SimCLR), section 2",
    .needs = HN_METRIC_NEEDS_LABELS | HN_METRIC_NEEDS_CLASSES,
    .columns = columns,
    .n_columns = 1,
    .state_size = sizeof(double),
    .finish = finish,
};
