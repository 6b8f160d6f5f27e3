// SPDX-License-Identifier: GPL-3.0-or-later
// Overlap of the cosine histograms of positive and negative pairs: sum over 200 bins of min(p, q),
// both normalised; 1 = the same histogram, 0 = apart.
//
//   overlap_view:  positives x1_i . x2_i, negatives x1_i . x2_j, i != j  (BS figure 10)
//   overlap_label: positives x_i . x_j of the same label, negatives of different ones  (HC figure
//   5)
#include "core/classes.h"
#include "core/label_sets.h"
#include "metrics/metric.h"

#include <math.h>

// NaN if one of the two is empty. Rounding of the shares does not take it above 1.
static double overlap(const uint64_t *a, const uint64_t *b, int64_t bins) {
    double total_a = 0, total_b = 0, sum = 0;
    for (int64_t i = 0; i < bins; i++) {
        total_a += (double)a[i];
        total_b += (double)b[i];
    }
    for (int64_t i = 0; i < bins; i++)
        sum += fmin((double)a[i] / total_a, (double)b[i] / total_b);
    return total_a > 0 && total_b > 0 ? fmin(sum, 1) : NAN;
}

// True if a label comes twice; one below 0 does not count.
static enum hn_code comes_twice(struct hn_context *ctx, const int32_t *label, int64_t n,
                                bool *out) {
    struct hn_classes c;
    HN_SCOPE(ctx);
    if (hn_classes_find(ctx, label, n, &c))
        return ctx->code;
    *out = c.n < c.labelled;
    return HN_OK;
}

static enum hn_code plan_label(struct hn_context *ctx, void *state,
                               const struct hn_snapshot_env *env, struct hn_sweep *within,
                               struct hn_sweep *between) {
    (void)between;
    struct hn_sweep_histogram *h = state;
    const struct hn_label_sets *sets = env->items->label_sets;
    bool pairs = false;
    if (comes_twice(ctx, env->items->labels, env->items->n, &pairs) ||
        (!pairs && sets && comes_twice(ctx, sets->label, sets->start[sets->n], &pairs)))
        return ctx->code;
    if (!pairs) // of one label: nothing overlaps, and no cosine is needed
        return HN_OK;
    *h = (struct hn_sweep_histogram){.bins = HN_HISTOGRAM_BINS,
                                     .row_label = env->items->labels,
                                     .col_label = env->items->labels,
                                     .label_sets = sets,
                                     .skip_self = true};
    hn_sweep_add(within, &hn_histogram_sink, h, HN_SIDE_ROWS);
    return HN_OK;
}

static enum hn_code finish_label(struct hn_context *ctx, void *state,
                                 const struct hn_snapshot_env *env, int t, double *value) {
    (void)ctx, (void)env, (void)t;
    const uint64_t *count = ((struct hn_sweep_histogram *)state)->count;
    if (count) // NULL: no pair was looked for
        *value = overlap(count + HN_REL_SAME * HN_HISTOGRAM_BINS,
                         count + HN_REL_DIFFERENT * HN_HISTOGRAM_BINS, HN_HISTOGRAM_BINS);
    return HN_OK;
}

static enum hn_code plan_view(struct hn_context *ctx, void *state,
                              const struct hn_snapshot_env *env, struct hn_sweep *within,
                              struct hn_sweep *between) {
    (void)ctx, (void)env, (void)within;
    struct hn_sweep_histogram *h = state;
    *h = (struct hn_sweep_histogram){.bins = HN_HISTOGRAM_BINS, .skip_self = true};
    hn_sweep_add(between, &hn_histogram_sink, h, HN_SIDE_ROWS);
    return HN_OK;
}

static enum hn_code finish_view(struct hn_context *ctx, void *state,
                                const struct hn_snapshot_env *env, int t, double *value) {
    (void)ctx;
    const struct hn_sweep_histogram *h = state;
    uint64_t positive[HN_HISTOGRAM_BINS] = {0};
    for (int64_t i = 0; i < env->items->n; i++)
        positive[hn_cosine_bin(env->global[t].positive[i], HN_HISTOGRAM_BINS)]++;
    *value = overlap(positive, h->count + HN_REL_UNKNOWN * HN_HISTOGRAM_BINS, HN_HISTOGRAM_BINS);
    return HN_OK;
}

static const struct hn_column label_columns[] = {
    {"overlap_label", HN_COLUMN_REAL, "share",
     "overlap of same-label and different-label cosines; NaN unless there are pairs of both",
     HN_SMALLER, HN_ROLE_BINNED},
};
static const struct hn_column view_columns[] = {
    {"overlap_view", HN_COLUMN_REAL, "share",
     "overlap of positive and negative cosines of two views", HN_SMALLER, HN_ROLE_BINNED},
};

const struct hn_snapshot_metric_type hn_snapshot_overlap_label = {
    .name = "overlap_label",
    .family = "overlap",
    .summary = "overlap of the cosine histograms of same-label and different-label pairs",
    .source = "HC figures 5 and 8 to 10",
    .needs = HN_METRIC_NEEDS_LABELS,
    .columns = label_columns,
    .n_columns = 1,
    .state_size = sizeof(struct hn_sweep_histogram),
    .all_pairs = true,
    .plan = plan_label,
    .finish = finish_label,
};

const struct hn_snapshot_metric_type hn_snapshot_overlap_view = {
    .name = "overlap_view",
    .family = "overlap",
    .summary = "overlap of the cosine histograms of positive and negative pairs of the two views",
    .source = "BS figure 10",
    .needs = HN_METRIC_NEEDS_POSITIVE,
    .columns = view_columns,
    .n_columns = 1,
    .state_size = sizeof(struct hn_sweep_histogram),
    .all_pairs = true,
    .plan = plan_view,
    .finish = finish_view,
};
