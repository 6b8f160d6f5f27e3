// SPDX-License-Identifier: GPL-3.0-or-later
// One pool of the sampler `mosaic`: the weights of its pairs, and the search for batches with a
// large sum of them.
//
// Weights are multiples of HN_MOSAIC_STEP, so that sums of them in double are exact (as long as
// they stay below 2^37): the same in whatever order they are taken, ties are ties, and a gain is
// what the sum of weights rises by.
#pragma once

#include "core/random.h"
#include "core/sweep/knn_lists.h"
#include "core/sweep/select.h"
#include "datasets/items.h"

#define HN_MOSAIC_STEP 0x1p-16F
#define HN_MOSAIC_GAIN 1e-3 // a swap has to gain more

// Constants of the weights and of the search; see mosaic.c.
struct hn_mosaic {
    double a, lambda, b, kappa;
    int64_t sweeps;
};

// Numbers of a row of w that were added up.
struct hn_mosaic_row {
    double sum, squares;
    float max;
};

// State of a pool of n items in batches of batch_size, which divides n. Weights are computed on
// `threads` threads.
struct hn_mosaic_pool {
    int64_t n, stride; // of w: whole panels
    int32_t batch_size;
    int threads;
    float *w;         // [stride x stride], n x n of it: weights; symmetric, the diagonal is 0
    float *x, *z, *m; // [n x d] rows of the pool; z may be x, m is NULL where lambda is 0
    struct hn_packed packed;
    struct hn_select_scratch *select;  // [threads]
    float *whole;                      // [threads x HN_PANEL x stride] rows of S
    struct hn_mosaic_row *row;         // [n]
    int32_t *position;                 // [n] 0 .. n - 1
    int32_t *order;                    // [n] items in the order of a sweep
    int32_t *batch;                    // [n] of an item
    int32_t *member;                   // [n] items of batch c: member[c batch_size ..]
    int32_t *slot;                     // [n] of an item among them
    float *lowest;                     // [n] smallest weight of an item, or 0
    const struct hn_mosaic_sums *sums; // how pull and own are kept, mosaic_swap.c
    void *pull;                        // [batches x n] sum of the weights of item j with batch c
    void *own;                         // [n] with its own batch
    double *with;                      // [batches] the pulls of one item
};

// Counts of a search; their sum over pools does not depend on the order.
struct hn_mosaic_tally {
    int64_t swaps, visits, draws; // visits: items whose best exchange was looked for
    double weight;                // of the unordered pairs within batches, at the end
};

// Allocates for pools of up to n items of d dimensions; not in a parallel region. Errors:
// HN_MEMORY.
HN_MUST_USE enum hn_code hn_mosaic_pool_open(struct hn_context *ctx, const struct hn_mosaic *spec,
                                             int64_t n, int64_t d, bool views, int32_t batch_size,
                                             int threads, struct hn_mosaic_pool *pool);

// pool->w of the items id[n]: W = H - lambda Q, each over its mean, rounded to HN_MOSAIC_STEP.
void hn_mosaic_weigh(const struct hn_mosaic *spec, const struct hn_items *items, const int32_t *id,
                     int64_t n, struct hn_mosaic_pool *pool);
// From a random balanced assignment, exchanges items between batches as long as that gains, at most
// spec->sweeps times through all items: pool->member becomes the batches, of positions 0 .. n - 1.
// Stops early when ctx is asked to. The stream is the pool's own.
void hn_mosaic_arrange(const struct hn_context *ctx, const struct hn_mosaic *spec,
                       struct hn_stream *stream, struct hn_mosaic_pool *pool,
                       struct hn_mosaic_tally *tally);

// Makes a random order of n items one of groups: the first item that is still free, and behind it
// the group - 1 nearest of those that are, nearest first, lower index first. near: lists of the
// nearest of every item, of any length; behind their ends all free items are compared. Errors:
// HN_MEMORY.
HN_MUST_USE enum hn_code hn_mosaic_group(struct hn_context *ctx, const struct hn_knn_lists *knn,
                                         int64_t group, int32_t *order);
