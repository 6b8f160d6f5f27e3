// SPDX-License-Identifier: GPL-3.0-or-later
// From ids to pairs: gathers the rows of a batch, multiplies them, and relates their labels.
#pragma once

#include "core/sweep/packed.h"
#include "metrics/metric.h"

// Products that only some metrics, losses and weightings ask for.
struct hn_products_wanted {
    bool same[2]; // within either view
    bool guide;   // the teacher's
    bool turned;  // x2_a . x1_b
};

// Scratch of one thread, for batches of at most batch_size items.
struct hn_workspace {
    struct hn_packed x, x1, x2, teacher; // gathered rows, of which products are asked for
    float *cosine, *score;               // [batch_size x batch_size]
    float *score_t, *same[2], *guide;    // likewise, NULL where not wanted
    int32_t *id, *times, *label;         // [batch_size]
    uint8_t *kind;                       // [batch_size x batch_size]
    int32_t *position;                   // [n] of an item in the batch + 1, 0 = not in it
    // Negatives per anchor: [batch_size x capacity], as are the products then; no rows are
    // gathered.
    int32_t *negative, *negative_label;
    int64_t *start;                 // [batch_size + 1]
    float *positive;                // [batch_size]
    int32_t *labelled, *same_label; // [batch_size]
    struct hn_exp_sums_space *sums;
};

// Allocated for the owner of the time. settings: that ask for sums; masked: those with a mask.
HN_MUST_USE enum hn_code hn_workspace_open(struct hn_context *ctx, const struct hn_metric_env *env,
                                           const struct hn_products_wanted *wanted, int settings,
                                           int masked, struct hn_workspace *w);
// The pairs of a batch of ids[size], without products and kinds; lists: NULL for a batch of the
// other shape.
struct hn_pairs hn_workspace_pairs(const struct hn_metric_env *env, const struct hn_workspace *w,
                                   int32_t size, const int32_t *ids,
                                   const struct hn_measure_lists *lists);
// Adds products and kinds.
void hn_workspace_fill(const struct hn_items *items, struct hn_workspace *w, struct hn_pairs *p);
