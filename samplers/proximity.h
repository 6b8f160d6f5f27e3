// SPDX-License-Identifier: GPL-3.0-or-later
// The proximity graph of BatchSampler (BS algorithm 2): M random candidates per item, the K most
// similar kept. Neighbours come by descending exact similarity, ties by lower index; weights are
// the exact similarities, rounded.
#pragma once

#include "samplers/sampler.h"

enum hn_candidate_kind {
    HN_CANDIDATES_INDEPENDENT, // of every item its own. m and k above n - 1 are taken as n - 1:
                               // with m >= n - 1 this is the exact kNN graph (and is built as one)
    HN_CANDIDATES_DEALT,       // the same, but rows of a tile choose from one pool (dealt.c)
    HN_CANDIDATES_REFERENCE,   // with replacement, any m; similarity is that of the two views side
                               // by side where there are two (half the sum of both inner products),
                               // else of x. The K best of the list are kept as they are: an item
                               // that was drawn twice may be a neighbour twice, and v its own
    HN_CANDIDATES_ALL // the exact kNN graph: m plays no part, k above n - 1 is taken as n - 1
};

struct hn_proximity {
    int64_t m, k; // candidates and neighbours per item, 1 <= k <= m
    uint64_t seed;
    int64_t built_index; // names the streams of the candidates
    bool weighted;       // whether the graph gets weights
    int64_t tile;        // `dealt`: rows that share a pool, at least 1
    enum hn_candidate_kind candidates;
};

// Adds to *work. HN_USAGE if k > m.
HN_MUST_USE enum hn_code hn_proximity_build(struct hn_context *ctx, const struct hn_items *items,
                                            const struct hn_proximity *spec, struct hn_work *work,
                                            struct hn_graph *out);

// `independent` candidates of item v among n: min(m, n - 1) distinct items other than v, from the
// stream (seed, "proximity.candidates", built_index, 0, v). With m < n - 1 they are
// hn_stream_distinct() of n - 1, where t >= v stands for item t + 1. candidate[m] gets them in the
// order they were drawn; marks[hn_bitset_words(n)] must be clear and is left clear.
void hn_proximity_candidates(const struct hn_proximity *spec, int64_t n, int32_t v, uint64_t *marks,
                             int32_t *candidate);

// `reference` candidates of item v among n: m draws with replacement, v itself among them, from
// the stream (seed, "proximity.reference", built_index, 0, v).
void hn_proximity_draws(const struct hn_proximity *spec, int64_t n, int32_t v, int32_t *candidate);

// For `dealt`: the targets of a regular graph of x's rows, m < n - 1. Adds to *work.
HN_MUST_USE enum hn_code hn_proximity_deal(struct hn_context *ctx, const struct hn_matrix *x,
                                           const struct hn_proximity *spec, struct hn_work *work,
                                           struct hn_graph *out);

// Share of the edges of `fresh` that `stale` holds too (same n); NaN if fresh has no edges.
HN_MUST_USE enum hn_code hn_graph_overlap(struct hn_context *ctx, const struct hn_graph *fresh,
                                          const struct hn_graph *stale, double *share);
