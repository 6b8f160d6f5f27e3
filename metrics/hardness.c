// SPDX-License-Identifier: GPL-3.0-or-later
// Hardness of in-batch negatives: mean and percentiles of the cosines of all unordered pairs of
// distinct items of a batch (false negatives among them: a sampler does not see labels), and the
// mean over anchors of the hardest negative, of all and of the true ones. Every distinct item of a
// batch is an anchor once; an anchor without a (true) negative is left out. With negatives per
// anchor every pair of anchor and negative counts once.
//
// Percentiles come from counts in 2^21 equal bins on [-1, 1]: a percentile between two order
// statistics is interpolated as usual (type 7 of Hyndman and Fan 1996, as GSL and NumPy do), each
// order statistic within the bin that holds it. Error: at most one bin, 2^-20 < 1e-6.
#include "core/clones.h"
#include "metrics/metric.h"

#include <math.h>

enum { BINS = 1 << 21, OVERFLOW = 1 << 8 };
enum { PAIRS, COSINES, ANCHORS, HARDEST, LABELLED, TRUE_ANCHORS, HARD_TRUE, RECORD };
enum { COS_MEAN, COS_P50, COS_P90, COS_P99, HARDEST_MEAN, HARD_TRUE_MEAN, TRUE_SHARE, COLUMNS };

static const struct hn_column columns[COLUMNS] = {
    {"cos_mean", HN_COLUMN_REAL, "cosine",
     "mean cosine of in-batch negatives; NaN without negatives", HN_NEITHER},
    {"cos_p50", HN_COLUMN_REAL, "cosine",
     "median cosine of in-batch negatives; NaN without negatives", HN_NEITHER, HN_ROLE_BINNED},
    {"cos_p90", HN_COLUMN_REAL, "cosine",
     "90th percentile of the cosines of in-batch negatives; NaN without negatives", HN_NEITHER,
     HN_ROLE_BINNED},
    {"cos_p99", HN_COLUMN_REAL, "cosine",
     "99th percentile of the cosines of in-batch negatives; NaN without negatives", HN_NEITHER,
     HN_ROLE_BINNED},
    {"hardest_mean", HN_COLUMN_REAL, "cosine",
     "cosine of the hardest negative, mean over anchors; NaN without negatives", HN_NEITHER},
    {"hard_true_mean", HN_COLUMN_REAL, "cosine",
     "cosine of the hardest true negative, mean over anchors; NaN without true negatives",
     HN_LARGER},
    {"true_anchors", HN_COLUMN_REAL, "share",
     "share of the anchors with labelled negatives that have a true one: hard_true_mean is their "
     "mean; NaN without labelled negatives",
     HN_NEITHER},
};

// Small counters keep a thread's table in cache; the total gets what overflows.
struct state {
    uint8_t *count;  // [threads x BINS]
    uint64_t *total; // [BINS]
};

static enum hn_code open_state(struct hn_context *ctx, void *self,
                               const struct hn_metric_env *env) {
    struct state *s = self;
    bool good =
        HN_ZALLOC(ctx, s->count, (int64_t)env->threads * BINS) && HN_ZALLOC(ctx, s->total, BINS);
    return good ? HN_OK : ctx->code;
}

static void count_bins(const struct state *s, const int32_t *bin, int32_t n, int thread) {
    uint8_t *count = s->count + (int64_t)thread * BINS;
    for (int32_t b = 0; b < n; b++)
        if (++count[bin[b]] == 0) {
#pragma omp atomic
            s->total[bin[b]] += OVERFLOW;
        }
}

HN_CLONES
static double sum_floats(const float *v, int32_t n) {
    double lane[HN_LANES] = {0};
    int32_t j = 0;
    for (; j + HN_LANES <= n; j += HN_LANES)
        for (int l = 0; l < HN_LANES; l++)
            lane[l] += (double)v[j + l];
    for (int l = 0; j < n; j++, l++)
        lane[l] += (double)v[j];
    return hn_add_lanes(lane);
}

// Adds the cosines of the pairs that anchor a brings, and returns their sum.
static double count_once(const struct state *s, const struct hn_pairs *p, int32_t a, int thread,
                         double *pairs) {
    struct hn_run run[2];
    double sum = 0;
    *pairs += (double)hn_pairs_runs(p, a, true, run);
    for (int r = 0; r < 2; r++)
        for (int32_t from = 0; from < run[r].count; from += HN_RUN_BLOCK) {
            int32_t bin[HN_RUN_BLOCK], m = hn_block(run[r].count, from);
            sum += sum_floats(run[r].cosine + from, m);
            hn_cosine_bins(run[r].cosine + from, m, BINS, bin);
            count_bins(s, bin, m, thread);
        }
    return sum;
}

// -INFINITY without a (true) negative.
struct hardest {
    float any, true_negative;
};

HN_CLONES
static void add_block(struct hardest *high, const float *v, const uint8_t *kind, int32_t n) {
    float of_true[HN_RUN_BLOCK];
    for (int32_t b = 0; b < n; b++)
        of_true[b] = kind[b] == HN_PAIR_TRUE_NEGATIVE ? v[b] : -INFINITY;
    high->any = hn_lane_max(v, n, high->any);
    high->true_negative = hn_lane_max(of_true, n, high->true_negative);
}

static struct hardest find_hardest(const struct hn_pairs *p, int32_t a) {
    struct hn_run run[2];
    (void)hn_pairs_runs(p, a, false, run);
    struct hardest high = {-INFINITY, -INFINITY};
    for (int r = 0; r < 2; r++)
        for (int32_t from = 0; from < run[r].count; from += HN_RUN_BLOCK)
            add_block(&high, run[r].cosine + from, run[r].kind + from,
                      hn_block(run[r].count, from));
    return high;
}

static void batch(void *self, const struct hn_metric_env *env, const struct hn_pairs *p, int thread,
                  double *record) {
    (void)env;
    for (int32_t a = 0; a < p->n; a++) {
        record[COSINES] += count_once(self, p, a, thread, &record[PAIRS]);
        struct hardest high = find_hardest(p, a);
        if (isfinite(high.any)) {
            record[ANCHORS] += 1;
            record[HARDEST] += (double)high.any;
        }
        if (isfinite(high.true_negative)) {
            record[LABELLED] += 1;
            record[TRUE_ANCHORS] += 1;
            record[HARD_TRUE] += (double)high.true_negative;
        } else {
            record[LABELLED] += p->same[a] > 0;
        }
    }
}

// A position in the counts, for ranks in ascending order: the table is scanned once.
struct cursor {
    const uint64_t *count;
    int64_t bin;
    uint64_t below; // counts in the bins before
};

// Order statistic `rank` (from 0, below the number of counts), taken as spread evenly over its bin.
static double order_statistic(struct cursor *c, uint64_t rank) {
    while (c->below + c->count[c->bin] <= rank)
        c->below += c->count[c->bin++];
    double within = ((double)(rank - c->below) + 0.5) / (double)c->count[c->bin];
    return -1 + 2 * ((double)c->bin + within) / BINS;
}

static double percentile(struct cursor *c, uint64_t pairs, double q) {
    double position = q * (double)(pairs - 1);
    uint64_t rank = (uint64_t)position;
    struct cursor here = *c; // the next percentile may need this rank again
    double low = order_statistic(&here, rank);
    *c = here;
    double high = order_statistic(&here, rank + 1 < pairs ? rank + 1 : rank);
    return low + (position - (double)rank) * (high - low);
}

static enum hn_code finish(struct hn_context *ctx, void *self, const struct hn_metric_env *env,
                           const double *record, int64_t batches, double *value,
                           struct hn_cell_arrays *arrays) {
    (void)ctx;
    const struct state *s = self;
    for (int64_t i = 0; i < env->threads * (int64_t)BINS; i++)
        if (s->count[i] > 0) {
            s->total[i % BINS] += s->count[i];
            s->count[i] = 0; // another setting may ask again
        }
    double sum[RECORD] = {0};
    for (int64_t b = 0; b < batches; b++) {
        const double *r = record + b * RECORD;
        for (int k = 0; k < RECORD; k++)
            sum[k] += r[k];
        if (r[PAIRS] > 0)
            arrays->batch_cos_mean[b] = r[COSINES] / r[PAIRS];
    }
    if (sum[PAIRS] > 0) {
        value[COS_MEAN] = sum[COSINES] / sum[PAIRS];
        struct cursor cursor = {.count = s->total};
        value[COS_P50] = percentile(&cursor, (uint64_t)sum[PAIRS], 0.5);
        value[COS_P90] = percentile(&cursor, (uint64_t)sum[PAIRS], 0.9);
        value[COS_P99] = percentile(&cursor, (uint64_t)sum[PAIRS], 0.99);
        value[HARDEST_MEAN] = sum[HARDEST] / sum[ANCHORS];
    }
    if (sum[TRUE_ANCHORS] > 0)
        value[HARD_TRUE_MEAN] = sum[HARD_TRUE] / sum[TRUE_ANCHORS];
    if (sum[LABELLED] > 0)
        value[TRUE_SHARE] = sum[TRUE_ANCHORS] / sum[LABELLED];
    return HN_OK;
}

const struct hn_metric_type hn_metric_hardness = {
    .name = "hardness",
    .family = "hardness",
    .summary = "Cosines of in-batch negatives: mean, percentiles, hardest, hardest true negative",
    .source = "BS 3 and figure 4; HC 3",
    .needs = HN_METRIC_USES_LABELS | HN_METRIC_ANY,
    .columns = columns,
    .n_columns = COLUMNS,
    .record_size = RECORD,
    .state_size = sizeof(struct state),
    .open = open_state,
    .batch = batch,
    .finish = finish,
};
