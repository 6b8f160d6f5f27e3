// SPDX-License-Identifier: GPL-3.0-or-later
// Quantities of all N x N pairs of the two views, from one sweep, with which batches are compared.
#pragma once

#include "core/sweep/sinks.h"
#include "datasets/items.h"

// For s_ij = x1_i . x2_j, the positive s_ii among the keys (GC definitions 3.1 and 3.2). The
// positive is that of hn_dot_exact(), everywhere; the other products are floats. positive /
// temperature <= lse_row <= max_row / temperature + log n.
struct hn_global {
    int64_t n;
    double temperature;
    double *lse_row; // [n] log sum_j exp(s_ij / temperature)
    double *lse_col; // [n] log sum_i exp(s_ij / temperature), by j
    float *max_row;  // [n] max_j s_ij
    float *positive; // [n] s_ii, rounded to float
};

// out[n] for temperature[n], in one sweep. items must have positives; HN_USAGE for a temperature
// that hn_lse_sink refuses (below 0.003). n_dot gets the inner products of the sweep, and one per
// positive. After a failure out is zeroed.
HN_MUST_USE enum hn_code hn_global_compute(struct hn_context *ctx, const struct hn_items *items,
                                           const double *temperature, int n, struct hn_global *out,
                                           int64_t *n_dot);
void hn_global_free(struct hn_context *ctx, struct hn_global *g); // zeroed is fine

// The same in a sweep over (x1, x2) that others share: _plan adds the sinks to it, _finish takes
// the results after it ran. Zeroed before; what the sinks allocate is the owner's that the sweep
// ran under. temperature[n] is borrowed until then.
struct hn_global_sinks {
    struct hn_lse row, col;
    struct hn_extrema extrema;
};
void hn_global_plan(const double *temperature, int n, struct hn_global_sinks *sinks,
                    struct hn_sweep *sweep);
// out[n], zeroed before; after a failure free what is set.
HN_MUST_USE enum hn_code hn_global_finish(struct hn_context *ctx, const struct hn_items *items,
                                          const struct hn_global_sinks *sinks,
                                          struct hn_global *out);
