// SPDX-License-Identifier: GPL-3.0-or-later
// Measures batches with a set of metrics: the one way from ids to numbers, for harness and tests.
#pragma once

#include "metrics/metric.h"

// Measures batches with a set of metrics: the one way from ids to numbers, for harness and tests.
// A metric whose needs are not met is not run: its columns are NaN.
struct hn_measure; // open measurement

struct hn_measure_setting {
    const struct hn_global *global;
    double temperature;
    enum hn_loss loss;
    struct hn_weighting_params weighting;
};

struct hn_measure_spec {
    const struct hn_metric_type *const *metrics; // [n_metrics]
    int n_metrics;
    struct hn_metric_env env; // setting 0 among other things
    // Settings 1 and up, of which the same batches are measured: they share products and sums.
    const struct hn_measure_setting *other; // [n_others]
    int n_others;
};

// env.batches bounds the batches to come, which then take no more memory. HN_INTERNAL if a
// metric needs env.global and it is missing, or of other items or another temperature.
HN_MUST_USE enum hn_code hn_measure_begin(struct hn_context *ctx,
                                          const struct hn_measure_spec *spec,
                                          struct hn_measure **out);

// ids[count x batch_size] and size[count] as a sampler gives them, for the next `count` batches of
// the cell, all of one epoch. Runs in parallel over batches; the result does not depend on threads.
// HN_INTERNAL for a size, an id or a number of batches that is out of range: nothing is measured.
HN_MUST_USE enum hn_code hn_measure_batches(struct hn_context *ctx, struct hn_measure *m,
                                            int64_t epoch, int32_t count, const int32_t *size,
                                            const int32_t *ids);

// The same for negatives per anchor (env.capacity > 0): the anchor at position p = b * batch_size +
// a of ids has negative[p * capacity ..], negatives[p] of them. A negative that comes twice counts
// once.
HN_MUST_USE enum hn_code hn_measure_anchors(struct hn_context *ctx, struct hn_measure *m,
                                            int64_t epoch, int32_t count, const int32_t *size,
                                            const int32_t *ids, struct hn_measure_lists lists);

// The settings are finished in any order, once each. value: the columns of all metrics one after
// the other (hn_measure_columns); arrays filled, owned by the caller (hn_cell_arrays_free). `why`
// [HN_MESSAGE_MAX] gets the reasons for NaN, joined by "; " ("no positive", "no labels",
// "gap: weighting none only"), or "".
HN_MUST_USE enum hn_code hn_measure_finish(struct hn_context *ctx, struct hn_measure *m,
                                           int setting, double *value,
                                           struct hn_cell_arrays *arrays, char *why);
void hn_measure_close(struct hn_context *ctx, struct hn_measure *m); // NULL is fine
void hn_cell_arrays_free(struct hn_context *ctx, struct hn_cell_arrays *arrays);
