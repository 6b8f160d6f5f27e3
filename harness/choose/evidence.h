// SPDX-License-Identifier: GPL-3.0-or-later
// Measurements of a setting so far, and the intervals that follow from them.
#pragma once

#include "core/stats.h"
#include "results/analysis/replicates.h"

// Both numbers of a setting are ratios of sums over batches.
struct hn_evidence_batch {
    double same, labelled; // false negatives: pairs of one class among pairs of known classes
    double hard, counted;  // hardness: sum, and over how many
};

enum { HN_EVIDENCE_SEEDS = 64 };

// Zeroed is empty. Owns its batches.
struct hn_evidence {
    struct hn_evidence_batch *batch; // [batches], seed after seed
    int64_t batches, capacity;
    int64_t seeds;
    int64_t end[HN_EVIDENCE_SEEDS];    // the batches of seed s end before batch[end[s]]
    double seconds[HN_EVIDENCE_SEEDS]; // that a batch took, the build's share included
    double dots[HN_EVIDENCE_SEEDS];    // inner products of a batch, the same way
};

// Appends a seed's batches.
HN_MUST_USE enum hn_code hn_evidence_add(struct hn_context *ctx, struct hn_evidence *e,
                                         const struct hn_evidence_batch *batch, int64_t n,
                                         double seconds, double dots);

// Ratios with their intervals over seeds, or over batches; NaN ends where there are fewer than two
// replicates.
struct hn_interval hn_evidence_false(const struct hn_evidence *e, enum hn_over by, double level);
struct hn_interval hn_evidence_hard(const struct hn_evidence *e, enum hn_over by, double level);

// Hardness of a less that of b, over the seeds that both have. Paired where replicates correspond:
// seeds always (start items are common), batches where every seed has as many of both. Otherwise
// half of the interval is the root of the sum of squares of both halves.
HN_MUST_USE enum hn_code hn_evidence_difference(struct hn_context *ctx, const struct hn_evidence *a,
                                                const struct hn_evidence *b, enum hn_over by,
                                                double level, struct hn_interval *out);

// Medians over seeds; NaN without any.
double hn_evidence_seconds(const struct hn_evidence *e);
double hn_evidence_dots(const struct hn_evidence *e);
