// SPDX-License-Identifier: GPL-3.0-or-later
// One item per cluster: the control whose batches are easier than uniform ones, since items of one
// k-means cluster, the near ones, are kept apart.
//
// Clusters are those of spherical k-means (clusters.h).
//
// A batch is drawn in rounds. In a round every cluster, in random order, gives one random item that
// is not in the batch yet, until the batch is full. With as many clusters as positions (the
// default) that is one round: one item of every cluster. With more clusters, a random B of them
// give one each; with fewer, each gives floor(B / clusters) or one more as long as it has any.
//
// Batches are independent of each other: an epoch is not a partition, and items of small clusters
// come more often than others.
#include "core/bitset.h"
#include "samplers/clusters.h"

#include <string.h>

struct params {
    struct hn_kmeans_params means; // first
    int64_t clusters;              // INT64_MIN: unset
};

struct state {
    struct hn_kmeans m; // first
    uint64_t *marks;    // [threads x words of n] what is in the batch, clear between batches
    int32_t *order;     // [threads x k] clusters that have items left
    int32_t *taken;     // [threads x k] items that a cluster has given
};

static int64_t clusters_of(const struct params *params, int64_t n, int64_t batch_size) {
    return hn_min(params->clusters == INT64_MIN ? batch_size : params->clusters, n);
}

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    hn_sampler_limit(ctx, "clusters", params->clusters, plan->n, "there are no more items");
    return HN_OK;
}

static enum hn_code open_stratified(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    int64_t threads = self->threads, k = clusters_of(self->params, n, self->batch_size);
    if (!HN_ZALLOC(ctx, state->marks, threads * hn_bitset_words(n)) ||
        !HN_ALLOC_ROWS(ctx, state->order, k, threads) ||
        !HN_ALLOC_ROWS(ctx, state->taken, k, threads))
        return ctx->code;
    state->m.k = k;
    return HN_OK;
}

// Scratch of one thread for drawing a batch.
struct draw {
    const struct hn_kmeans *m;
    struct hn_stream stream;
    uint64_t *marks;
    int32_t *order, *taken;
    int64_t draws;
};

// A random item of cluster c that is not in the batch; there is one. A cluster of s items is used
// up after s (1 + 1/2 + ... + 1/s) draws in the mean.
static int32_t draw_item(struct draw *d, int32_t c) {
    uint32_t size = (uint32_t)hn_kmeans_size(d->m, c);
    int32_t item;
    do {
        item = d->m->member[d->m->start[c] + hn_stream_below(&d->stream, size)];
        d->draws++;
    } while (hn_bitset_has(d->marks, item));
    hn_bitset_add(d->marks, item);
    d->taken[c]++;
    return item;
}

static void fill(struct draw *d, int32_t batch_size, int32_t *ids) {
    int64_t left = d->m->k; // clusters
    int32_t count = 0;
    memset(d->taken, 0, (size_t)d->m->k * sizeof *d->taken);
    for (int64_t c = 0; c < d->m->k; c++)
        d->order[c] = (int32_t)c;
    while (count < batch_size) {
        for (int64_t t = 0; t < left && count < batch_size; t++) {
            d->draws++;
            ids[count++] = draw_item(d, hn_stream_take(&d->stream, d->order, t, left));
        }
        int64_t kept = 0;
        for (int64_t t = 0; t < left; t++)
            if (d->taken[d->order[t]] < hn_kmeans_size(d->m, d->order[t]))
                d->order[kept++] = d->order[t];
        left = kept;
    }
    for (int32_t i = 0; i < batch_size; i++)
        hn_bitset_remove(d->marks, ids[i]);
}

static int32_t batch(const struct hn_sampler *self, int64_t number, int thread,
                     struct hn_work *work, int32_t *ids) {
    const struct state *state = self->state;
    struct draw d = {.m = &state->m,
                     .marks = state->marks + thread * hn_bitset_words(self->n),
                     .order = state->order + thread * state->m.k,
                     .taken = state->taken + thread * state->m.k};
    hn_stream_open(&d.stream, self->seed, "stratified.batch", self->index, self->epoch, number);
    fill(&d, self->batch_size, ids);
    work->draw = d.draws;
    return self->batch_size;
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, clusters, "clusters", NULL, 1, INT32_MAX,
                   "k-means clusters (default: the batch size, one item of each per batch)")},
    {HN_KMEANS_ITERATIONS_OPTION},
    {0}};

const struct hn_sampler_type hn_stratified_sampler = {
    .name = "stratified",
    .summary = "one random item of every k-means cluster: a control with easy batches",
    .source = "control; spherical k-means of Dhillon and Modha 2001",
    .note =
        "an epoch is not a partition: batches are drawn independently, and items of small clusters "
        "come more often",
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_stratified,
    .rebuild = hn_kmeans_rebuild,
    .batch = batch,
};
