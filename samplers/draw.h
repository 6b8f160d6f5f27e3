// SPDX-License-Identifier: GPL-3.0-or-later
// Samplers at work: built on items, and asked for batches in steps of bounded memory.
#pragma once

#include "samplers/sampler.h"

enum { HN_DRAW_BYTES = 1 << 26 }; // of the arrays of one step, unless a single batch takes more

// Opens a sampler and builds it on `items`. Close *self in any case.
HN_MUST_USE enum hn_code hn_sampler_make(struct hn_context *ctx, const struct hn_sampler_type *type,
                                         const void *params, const struct hn_items *items,
                                         int32_t batch_size, uint64_t seed,
                                         struct hn_sampler *self);

// Arrays for up to `max` batches of an open sampler, fewer where these would take more than
// HN_DRAW_BYTES, at least one.
HN_MUST_USE enum hn_code hn_batches_open(struct hn_context *ctx, const struct hn_sampler *sampler,
                                         int64_t max, struct hn_batches *out);

// Draws batches from b->first on: `left` of them, or as many as there are arrays for (b->count).
// HN_INTERRUPTED.
HN_MUST_USE enum hn_code hn_batches_draw(struct hn_context *ctx, struct hn_sampler *sampler,
                                         int64_t left, struct hn_batches *b);

// Share of the edges of stale's graph that the graph of the same candidates on `items` has too; NaN
// if the sampler has no graph.
HN_MUST_USE enum hn_code hn_sampler_overlap(struct hn_context *ctx, const struct hn_sampler *stale,
                                            const struct hn_items *items, double *share);
