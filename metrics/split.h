// Training and test items of the measures that classify: those of the file's split, or drawn.
#ifndef HN_METRICS_SPLIT_H
#define HN_METRICS_SPLIT_H

#include "metrics/snapshot_metric.h"

// The labelled items of env->split's parts, if both train and test have some; else a fifth of the
// labelled items, drawn by seed, is tested: the same items at every step of a series and for every
// measure. train = test = 0 if there are too few labelled items.
struct hn_split {
    int32_t *id;         // [n] training items, then test items, then validation items
    int64_t train, test; // their numbers
    int64_t validation;  // 0 where the split is drawn
    int32_t *class_of;   // [n] index of an item's label among the distinct ones, ascending; -1
    int32_t classes;
    float *rows; // [train + test + validation x d] the embeddings of id
};

// Accuracy of a classifier on the test items, for the finish of such a measure: it does not depend
// on the loss's temperature, so the first one's value is kept in *known. NaN without test items.
// Allocations of classify() are freed with the split.
HN_MUST_USE enum hn_code
hn_split_measure(struct hn_context *ctx, const struct hn_snapshot_env *env, int temperature,
                 enum hn_code (*classify)(struct hn_context *ctx, const struct hn_snapshot_env *env,
                                          const struct hn_split *split, double *accuracy),
                 double *known, double *value);

#endif
