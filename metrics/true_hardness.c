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

static bool is_true_negative(const struct hn_label_sets *sets, int32_t a, int32_t b) {
    return a >= 0 && b >= 0 && !hn_same_label(sets, a, b);
}

// Exponentials are of s - 1, so that none overflows at a low temperature.
static void batch(void *self, const struct hn_metric_env *env, const struct hn_pairs *p, int thread,
                  double *record) {
    const struct state *s = self;
    uint32_t *count = s->count + (int64_t)thread * HN_FINE_BINS;
    memset(count, 0, HN_FINE_BINS * sizeof *count);
    for (int32_t a = 0; a < p->n; a++) {
        struct hn_run run[2];
        (void)hn_pairs_runs(p, a, true, run);
        for (int r = 0; r < 2; r++)
            for (int32_t b = 0; b < run[r].count; b++) {
                if (!is_true_negative(p->label_sets, p->label[a], run[r].label[b]))
                    continue;
                double v = (double)run[r].cosine[b];
                record[PAIRS] += 1;
                record[COSINES] += v;
                record[EXPONENTIALS] += exp((v - 1) / env->temperature);
                count[hn_cosine_bin(run[r].cosine[b], HN_FINE_BINS)]++;
            }
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
