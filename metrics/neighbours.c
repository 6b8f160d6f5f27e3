// SPDX-License-Identifier: GPL-3.0-or-later
// Weighted nearest-neighbour accuracy: every test item is given the label with the largest sum of
// weights exp(cos / 0.5) among its k = 200 nearest training items (Wu et al. 2018; the temperature
// is that of the published accuracies of the CIFAR-10 series).
//
// Test and training items are those of the file's split, or drawn (metrics/split.c). The products
// are test x training, in a sweep of their own.
#include "core/sweep/knn_lists.h"
#include "metrics/metric.h"

#include <math.h>

enum { NEIGHBOURS = 200 };
static const double temperature = 0.5;

// The label with the largest vote, the lower one if two are equal. Only labels of neighbours are
// looked at: there may be as many labels as items. vote[classes] is zero before and after.
static int32_t elect(const struct hn_split *s, const struct hn_knn_lists *knn, int64_t row,
                     double *vote) {
    const int32_t *id = knn->id + row * knn->kept;
    for (int64_t k = 0; k < knn->kept; k++) {
        float score =
            (float)hn_dot_exact(hn_row(&knn->x, row), hn_row(&knn->y, id[k]), knn->x.cols);
        vote[s->class_of[s->id[id[k]]]] += exp((double)score / temperature);
    }
    int32_t best = s->class_of[s->id[id[0]]];
    for (int64_t k = 1; k < knn->kept; k++) {
        int32_t l = s->class_of[s->id[id[k]]];
        best = vote[l] > vote[best] || (l < best && vote[l] >= vote[best]) ? l : best;
    }
    for (int64_t k = 0; k < knn->kept; k++)
        vote[s->class_of[s->id[id[k]]]] = 0;
    return best;
}

static enum hn_code classify(struct hn_context *ctx, const struct hn_snapshot_env *env,
                             const struct hn_split *s, double *accuracy) {
    int64_t d = env->items->d, right = 0, n_dot;
    struct hn_knn_lists knn = {.x = {s->rows + s->train * d, s->test, d, d},
                               .y = {s->rows, s->train, d, d},
                               .k = NEIGHBOURS};
    double *vote = hn_zalloc(ctx, s->classes, sizeof *vote);
    if (!vote || hn_knn_lists_run(ctx, &knn, &n_dot))
        return ctx->code;
    for (int64_t i = 0; i < s->test; i++)
        right += elect(s, &knn, i, vote) == s->class_of[s->id[s->train + i]];
    *accuracy = (double)right / (double)s->test;
    return HN_OK;
}

static enum hn_code finish(struct hn_context *ctx, void *state, const struct hn_snapshot_env *env,
                           int t, double *value) {
    return hn_split_measure(ctx, env, t, classify, state, value);
}

static const struct hn_column columns[] = {
    {"knn_acc", HN_COLUMN_REAL, "share",
     "weighted 200-nearest-neighbour accuracy on the test items; NaN without test items: a fifth "
     "of fewer than five",
     HN_LARGER},
};

const struct hn_snapshot_metric_type hn_snapshot_knn_acc = {
    .name = "knn_acc",
    .family = "neighbours",
    .summary = "weighted nearest-neighbour accuracy, k = 200, weights exp(cos / 0.5)",
    .source = "Wu et al. 2018; used by GC table 4 and BS table 8",
    .needs = HN_METRIC_NEEDS_LABELS | HN_METRIC_NEEDS_CLASSES,
    .columns = columns,
    .n_columns = 1,
    .state_size = sizeof(double),
    .all_pairs = true,
    .finish = finish,
};
