// Hardness of the true negatives of batches by the cosines s of pairs of known, different labels,
// every unordered pair of distinct items of a batch once (with negatives per anchor: every pair of
// anchor and negative), beside `hard_true_mean`, the hardest of each anchor:
//
//   true_mean = mean of s over all pairs
//   true_p99  = mean over batches of the batch's 99th percentile of s, to within 2^-12
//   true_lme  = tau log(mean of e^{s / tau} over all pairs): what they weigh in a contrastive loss;
//               between the mean (large tau) and the largest (small tau)
//
// No paper. Check value: two pairs with cosines 0 and c have true_lme = tau log((1 + e^{c/tau}) /
// 2).
#include "core/clones.h"
#include "core/exp.h"
#include "core/lanes.h"
#include "metrics/block.h"
#include "metrics/metric.h"
#include "metrics/percentile.h"

#include <math.h>
#include <string.h>

enum { PAIRS, COSINES, EXPONENTIALS, P99, RECORD };
enum { TRUE_MEAN, TRUE_P99, TRUE_LME, COLUMNS };

static const struct hn_column columns[COLUMNS] = {
    {"true_mean", HN_COLUMN_REAL, "1", "mean cosine of true negatives", HN_LARGER},
    {"true_p99", HN_COLUMN_REAL, "1",
     "99th percentile of the cosines of a batch's true negatives, mean over batches", HN_LARGER,
     HN_ROLE_BINNED},
    {"true_lme", HN_COLUMN_REAL, "1",
     "log-mean-exp of the cosines of true negatives at the temperature, times it", HN_LARGER},
};

struct state {
    uint32_t *count; // [threads x HN_FINE_BINS] of one batch
};

static enum hn_code open_state(struct hn_context *ctx, void *self,
                               const struct hn_metric_env *env) {
    struct state *s = self;
    s->count = hn_alloc(ctx, (int64_t)env->threads * HN_FINE_BINS, sizeof *s->count);
    return s->count ? HN_OK : ctx->code;
}

// Adds the true negatives of a block, of which power[n] are the exponentials.
HN_CLONES
static void add_true(const float *cosine, const uint8_t *kind, int32_t n, const double *power,
                     double *record) {
    double weight[HN_BLOCK], value[HN_BLOCK];
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
                      uint32_t *count, double *record) {
    double power[HN_BLOCK];
    int32_t bin[HN_BLOCK];
    hn_exp_each(cosine, n, 1, 1 / temperature, power);
    add_true(cosine, kind, n, power, record);
    hn_cosine_bins(cosine, n, HN_FINE_BINS, bin);
    for (int32_t b = 0; b < n; b++)
        count[bin[b]] += kind[b] == HN_PAIR_TRUE_NEGATIVE;
}

static void batch(void *self, const struct hn_metric_env *env, const struct hn_pairs *p, int thread,
                  double *record) {
    const struct state *s = self;
    uint32_t *count = s->count + (int64_t)thread * HN_FINE_BINS;
    memset(count, 0, HN_FINE_BINS * sizeof *count);
    for (int32_t a = 0; a < p->n; a++) {
        struct hn_run run[2];
        (void)hn_pairs_runs(p, a, true, run);
        for (int r = 0; r < 2; r++)
            for (int32_t from = 0; from < run[r].count; from += HN_BLOCK)
                add_block(run[r].cosine + from, run[r].kind + from, hn_block(run[r].count, from),
                          env->temperature, count, record);
    }
    if (record[PAIRS] > 0)
        record[P99] = hn_fine_percentile(count, (uint64_t)record[PAIRS], 0.99);
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
    .needs = HN_METRIC_NEEDS_LABELS,
    .columns = columns,
    .n_columns = COLUMNS,
    .record_size = RECORD,
    .state_size = sizeof(struct state),
    .open = open_state,
    .batch = batch,
    .finish = finish,
};
