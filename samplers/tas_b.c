// SPDX-License-Identifier: GPL-3.0-or-later
// TAS-Balanced (Hofstaetter et al., "Efficiently Teaching an Effective Dense Retriever with
// Balanced Topic Aware Sampling", SIGIR 2021, section 3.2): the items of a batch are of one topic.
//
// Topics are k-means clusters. A batch takes a random cluster and floor(B / topics) random items of
// it (all, if it has fewer), then another one, until it is full: with `topics` 1, the default, it
// is of one cluster wherever that has B items. The sizes are the paper's: 2,000 clusters of 400,000
// queries, 200 items each.
//
// `within: group` makes the clusters of each group of the items alone, of the data set that they
// come from, say: "Embedding And Clustering Your Data Can Improve Contrastive Pretraining"
// (Merrick, arXiv 2407.18887, 2024). A group of n items has n / cluster of them, at least one. A
// batch that its cluster does not fill goes on with any other.
//
// Deviations. Within a batch no cluster is drawn twice before all were, and no item twice, which
// the authors' code (matchmaker, TASBalancedDatasetLoader) may do. Clusters are those of spherical
// k-means, made for every build or every t steps instead of once before training. The balancing of
// margins chooses, for every query, one of many passages that a teacher has scored: items here have
// one positive and the batch as negatives, so there is nothing to be balanced.
#include "core/bitset.h"
#include "core/text.h"
#include "samplers/clusters.h"

struct params {
    struct hn_kmeans_params means; // first
    int64_t cluster, topics;
};

struct state {
    struct hn_kmeans m; // first
    uint64_t *marks;    // [threads x words of n] what is in the batch, clear between batches
    int32_t *order;     // [threads x k] clusters
    int32_t *left;      // [threads x n] a cluster's items that are not in the batch
};

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    if (params->topics > plan->batch_size)
        return hn_fail(ctx, HN_USAGE,
                       "topics = %lld exceeds the batch size, %d: a batch has one item or more of "
                       "each",
                       (long long)params->topics, plan->batch_size);
    if (params->means.within == HN_WITHIN_GROUP && !plan->has_groups)
        return hn_fail(ctx, HN_NOT_APPLICABLE, HN_WITHIN_NEEDS, "tas-b");
    hn_sampler_limit(ctx, "cluster", params->cluster, plan->n, "there are no more items");
    return hn_space_check(ctx, "tas-b", params->means.space, plan);
}

static enum hn_code open_tas_b(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    const struct params *params = self->params;
    struct state *state = self->state;
    int64_t threads = self->threads, size = hn_min(params->cluster, n), k = hn_max(1, n / size);
    int64_t max_k = params->means.within == HN_WITHIN_GROUP ? n : k; // of clusters
    if (!HN_ZALLOC(ctx, state->marks, threads * hn_bitset_words(n)) ||
        !HN_ALLOC_ROWS(ctx, state->order, max_k, threads) ||
        !HN_ALLOC_ROWS(ctx, state->left, n, threads))
        return ctx->code;
    state->m.k = k;
    state->m.size = size;
    return HN_OK;
}

// Scratch of one thread for drawing a batch.
struct draw {
    const struct hn_kmeans *m;
    struct hn_stream stream;
    uint64_t *marks;
    int32_t *order, *left;
    int64_t draws;
};

// Up to `max` random items of cluster c that are not in the batch. Returns how many.
static int64_t take(struct draw *d, int32_t c, int64_t max, int32_t *ids) {
    const struct hn_kmeans *m = d->m;
    int64_t n = 0;
    for (int64_t i = m->start[c]; i < m->start[c + 1]; i++)
        if (!hn_bitset_has(d->marks, m->member[i]))
            d->left[n++] = m->member[i];
    max = hn_min(max, n);
    for (int64_t k = 0; k < max; k++) {
        ids[k] = hn_stream_take(&d->stream, d->left, k, n);
        hn_bitset_add(d->marks, ids[k]);
    }
    d->draws += max;
    return max;
}

static void fill(struct draw *d, int64_t batch_size, int64_t share, int32_t *ids) {
    int64_t k = d->m->k, count = 0;
    for (int64_t c = 0; c < k; c++)
        d->order[c] = (int32_t)c;
    for (int64_t drawn = 0; count < batch_size; drawn = (drawn + 1) % k) {
        int32_t c = hn_stream_take(&d->stream, d->order, drawn, k);
        d->draws++;
        count += take(d, c, hn_min(share, batch_size - count), ids + count);
    }
    for (int64_t i = 0; i < batch_size; i++)
        hn_bitset_remove(d->marks, ids[i]);
}

static int32_t batch(const struct hn_sampler *self, int64_t number, int thread,
                     struct hn_work *work, int32_t *ids) {
    const struct params *params = self->params;
    const struct state *state = self->state;
    struct draw d = {.m = &state->m,
                     .marks = state->marks + thread * hn_bitset_words(self->n),
                     .order = state->order + thread * state->m.k,
                     .left = state->left + thread * self->n};
    hn_stream_open(&d.stream, self->seed, "tas-b.batch", self->index, self->epoch, number);
    fill(&d, self->batch_size, self->batch_size / params->topics, ids);
    work->draw = d.draws;
    return self->batch_size;
}

static const char *const within_names[] = {"all", "group", NULL};
static const struct hn_option options[] = {
    {HN_SPACE_OPTION(struct hn_kmeans_params, space)},
    {HN_INT_OPTION(struct params, cluster, "cluster", "200", 1, INT32_MAX,
                   "mean number of items of a k-means cluster")},
    {HN_INT_OPTION(struct params, topics, "topics", "1", 1, INT32_MAX,
                   "clusters of a batch, where they have enough items")},
    {HN_CHOICE_OPTION(struct hn_kmeans_params, within, "within", "all", within_names,
                      "clusters of all items, or of the items of each group, such as the data set "
                      "they come from")},
    {HN_KMEANS_ITERATIONS_OPTION},
    {HN_CLUSTERING_INTERVAL_OPTION(struct hn_kmeans_params, t)},
    {0}};

static void grid(const struct hn_sampler_plan *plan, char *text, size_t size) {
    for (int64_t batches = 2; batches <= 8; batches *= 4) // to a cluster
        if (batches == 2 || batches * plan->batch_size < plan->n)
            hn_append(text, size, "%s{tas-b: {cluster: %lld}}", *text ? ", " : "",
                      (long long)hn_min(plan->n, batches * plan->batch_size));
}

const struct hn_sampler_type hn_tas_b_sampler = {
    .name = "tas-b",
    .summary = "random items of one k-means cluster",
    .source = "TAS-Balanced (Hofstaetter et al., SIGIR 2021) 3.2, topic aware sampling; within: "
              "group: Merrick (arXiv 2407.18887, 2024)",
    .note = "the paper's baseline encoder is `space: teacher`; items and clusters of a batch are "
            "distinct, in the authors' code they need not be; clusters are made again for a build; "
            "margins of passages are not balanced, as items have one positive",
    .grid = grid,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_tas_b,
    .rebuild = hn_kmeans_rebuild,
    .batch = batch,
};
