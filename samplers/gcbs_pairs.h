// SPDX-License-Identifier: GPL-3.0-or-later
// Pairs of items with a large product, packed while a sweep finds them, and the graph they make.
#pragma once

#include "core/sweep/sweep.h"

// A pair whose product is not yet decided on.
struct hn_close_pair {
    uint32_t row; // HN_PAIR_TWICE: stands for both orders of the pair (X X^T)
    int32_t col;
    float score; // float product
};
#define HN_PAIR_TWICE 0x80000000U
static inline int64_t hn_pair_row(const struct hn_close_pair *p) { return p->row & ~HN_PAIR_TWICE; }
static inline int64_t hn_pair_weight(const struct hn_close_pair *p) {
    return p->row & HN_PAIR_TWICE ? 2 : 1;
}

enum { HN_CLOSE_CHUNK = 1024 };

// Off-diagonal entries of S with float products >= low. Those from `high` on are only remembered as
// pairs, two bytes each and a little; those below are kept with their products, for a decision.
struct hn_close_pairs {
    float low, high;                  // in: high may be infinite
    int64_t capacity, close_capacity; // in: most entries of each kind
    int64_t sure;                     // out: entries >= high, of both orders of a pair
    int64_t close;                    // out: entries below, likewise
    bool overflow;              // out: more than `capacity` or `close_capacity`; nothing is kept
    struct hn_close_pair *pool; // out: [chunks x HN_CLOSE_CHUNK]
    int64_t *used;              // out: [chunks] pairs in each; a caller may drop some
    int64_t chunks;             // out
    void *work;                 // private
};
extern const struct hn_sink_type hn_close_pairs_sink;
void hn_close_pairs_free(struct hn_context *ctx, struct hn_close_pairs *p); // zeroed is fine

// The symmetric graph of n nodes that joins the ends of every pair: the sure ones, and what is left
// of the close ones. Neighbours ascend.
HN_MUST_USE enum hn_code hn_close_pairs_graph(struct hn_context *ctx,
                                              const struct hn_close_pairs *p, int64_t n,
                                              struct hn_graph *out);
