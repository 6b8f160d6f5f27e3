// SPDX-License-Identifier: GPL-3.0-or-later
// Nearest neighbours as lists, by a sweep of their own.
#pragma once

#include "core/sweep/sinks.h"

enum { HN_KNN_BANDS = 8 }; // where memory is short

struct hn_knn_lists {
    struct hn_matrix x, y; // in: the same data twice: one view
    int64_t k;             // in: at most the number of other rows, else cut to it
    bool skip_self;        // in: leave out row i of y for row i of x
    int64_t kept;          // out: min(k, rows of y - skip_self), at least 0
    int32_t *id;        // out: [rows of x x kept] by descending hn_dot_exact(), lower index first
    int64_t again;      // out: products of the sweeps asked for that one sweep would not have
                        // computed; negative where they are run here, in parts
    struct hn_topk top; // private, as is the rest
    int64_t band, bands;
    bool shared; // bands are parts
};

// For plan hooks: asks for the sweeps, one a pass, from pass 0 on; none is asked for once id holds
// the result. ctx->memory.mode decides whether there are bands.
HN_MUST_USE enum hn_code hn_knn_lists_plan(struct hn_context *ctx, struct hn_knn_lists *knn,
                                           int pass, struct hn_sweep *sweep);

// All of it. *n_dot: the products of one sweep.
HN_MUST_USE enum hn_code hn_knn_lists_run(struct hn_context *ctx, struct hn_knn_lists *knn,
                                          int64_t *n_dot);
void hn_knn_lists_free(struct hn_context *ctx, struct hn_knn_lists *knn); // zeroed is fine
