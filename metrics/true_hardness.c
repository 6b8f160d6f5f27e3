// SPDX-License-Identifier: GPL-3.0-or-later
// Hardness of the true negatives of batches by the cosines s of pairs of known, different labels,
// every unordered pair of distinct items of a batch once (with negatives per anchor: every pair of
// anchor and negative), beside `hard_true_mean`, the hardest of each anchor:
//
//   true_mean = mean of s over all pairs
//   true_p99  = mean over batches of the batch's 99th percentile of s
//   true_lme  = tau log(mean of e^{s / tau} over all pairs): what they weigh in a contrastive loss;
//               between the mean (large tau) and the largest (small tau)
//
// No paper. Check value: two pairs with cosines 0 and c have true_lme = tau log((1 + e^{c/tau}) /
// 2).
#include "core/clones.h"
#include "core/exp.h"
#include "metrics/metric.h"

#include <math.h>

enum { PAIRS, COSINES, EXPONENTIALS, P99, RECORD };
enum { TRUE_MEAN, TRUE_P99, TRUE_LME, COLUMNS };

static const struct hn_column columns[COLUMNS] = {
    {"true_mean", HN_COLUMN_REAL, "cosine",
     "mean cosine of true negatives; NaN without true negatives", HN_LARGER},
    {"true_p99", HN_COLUMN_REAL, "cosine",
     "99th percentile of the cosines of a batch's true negatives, mean over batches; NaN without "
     "true negatives",
     HN_LARGER},
    {"true_lme", HN_COLUMN_REAL, "cosine",
     "log-mean-exp of the cosines of true negatives at the temperature, times it; NaN without true "
     "negatives",
     HN_LARGER},
};

// Adds the true negatives of a block, of which power[n] are the exponentials.
HN_CLONES
static void add_true(const float *cosine, const uint8_t *kind, int32_t n, const double *power,
                     double *record) {
    double weight[HN_RUN_BLOCK], value[HN_RUN_BLOCK];
    for (int32_t b = 0; b < n; b++) {
        weight[b] = kind[b] == HN_PAIR_TRUE_NEGATIVE;
        value[b] = (double)cosine[b];
    }
    record[PAIRS] += hn_lane_sum(weight, n);
    record[COSINES] += hn_lane_dot(weight, value, n);
    record[EXPONENTIALS] += hn_lane_dot(weight, power, n);
}

// Exponentials are of s - 1, so that none overflows at a low temperature.
static void add_block(const float *cosine, const uint8_t *kind, int32_t n, double temperature,
                      double *record) {
    double power[HN_RUN_BLOCK];
    hn_exp_each(cosine, n, 1, 1 / temperature, power);
    add_true(cosine, kind, n, power, record);
}

static void batch(void *state, const struct hn_metric_env *env, const struct hn_pairs *p,
                  int thread, double *record) {
    (void)state, (void)thread;
    for (int32_t a = 0; a < p->n; a++) {
        struct hn_run run[2];
        (void)hn_pairs_runs(p, a, true, run);
        for (int r = 0; r < 2; r++)
            for (int32_t from = 0; from < run[r].count; from += HN_RUN_BLOCK)
                add_block(run[r].cosine + from, run[r].kind + from, hn_block(run[r].count, from),
                          env->temperature, record);
    }
    if (record[PAIRS] > 0)
        record[P99] = hn_pairs_percentile(p, true, (uint64_t)record[PAIRS], 0.99);
}

static enum hn_code finish(struct hn_context *ctx, void *state, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays) {
    (void)ctx, (void)state, (void)arrays;
    double sum[RECORD] = {0}, with_pairs = 0;
    for (int64_t b = 0; b < batches; b++) {
        for (int k = 0; k < RECORD; k++)
            sum[k] += record[b * RECORD + k];
        with_pairs += record[b * RECORD + PAIRS] > 0;
    }
    if (with_pairs == 0)
        return HN_OK;
    value[TRUE_MEAN] = sum[COSINES] / sum[PAIRS];
    value[TRUE_P99] = sum[P99] / with_pairs;
    value[TRUE_LME] = 1 + env->temperature * log(sum[EXPONENTIALS] / sum[PAIRS]);
    return HN_OK;
}

const struct hn_metric_type hn_metric_true_hardness = {
    .name = "true_hardness",
    .family = "true_hardness",
    .summary = "Cosines of in-batch true negatives: mean, 99th percentile, log-mean-exp",
    .source = "docs/reference/methods.md",
    .needs = HN_METRIC_NEEDS_LABELS | HN_METRIC_ANY_LOSS,
    .columns = columns,
    .n_columns = COLUMNS,
    .record_size = RECORD,
    .batch = batch,
    .finish = finish,
};
