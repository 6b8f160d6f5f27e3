// SPDX-License-Identifier: GPL-3.0-or-later
// Spectral clustering for batches of large loss (Cho et al., "Mini-Batch Optimization of
// Contrastive Loss", TMLR 2024, SC; `sc_even` of its code, krafton-ai/mini-batch-cl): of random
// groups of k B items each is cut into k even clusters, which are batches, and the `kept` of them
// with the largest loss are taken. With s_ij = x1_i . x2_j and positives s_ii, the weight of two
// items is
//
//     w_ij = e^(l_ij + l_ji),   l_ij = log(1 + (B - 1) e^((s_ij - s_ii) / tau))
//                                      + log(1 + (B - 1) e^((s_ji - s_ii) / tau)),
//
// the loss of a batch in which all negatives of an item are like the other one; w_ii = 0. Rows of
// the k first eigenvectors of D^-1/2 W D^-1/2, each over the root of its degree, go to k-means, and
// then to the centroids, at most B to each. The loss that batches are ordered by is that of `osgd`.
//
// Deviations. k is lowered so that a group has at most 2,048 items, as its weights take the square
// of them: the paper has B = 32 and k = 40. The code's assignment of items to centroids has
// the least sum of distances; here the closest pair comes first. Without views x takes the place of
// both.
#include "core/clones.h"
#include "core/exp.h"
#include "core/sweep/lanczos.h"
#include "core/sweep/packed.h"
#include "core/text.h"
#include "samplers/sampler.h"
#include "samplers/spectral_even.h"

#include <math.h>
#include <string.h>

enum { MAX_ITEMS = 2048, TILE = 32 };
// Pairs of items in the groups of an epoch from which planning says how long they take: a minute or
// more.
static const int64_t long_work = INT64_C(1) << 30;

struct params {
    int64_t clusters, kept, iterations, starts;
    double tau;
};

struct state {
    struct hn_items items;  // of the last build, borrowed
    int64_t k, kept, m;     // clusters of a group, those that are taken, items of a group
    int32_t *order;         // [n] shuffled: groups of m
    int32_t *batch;         // [groups x kept x B] of the epoch that was selected
    int64_t selected;       // number of that epoch, -1 = none
    struct hn_work took;    // to select it
    float *s;               // [m x m] s_ij, in whole panels
    int64_t stride;         // of its rows
    double *w, *root;       // [m x m], [m] of the degrees
    double *value, *vector; // [k], [k x m]
    double *own;            // [m] s_ii
    struct hn_even even;    // of its rows
};

static int64_t clusters_of(const struct params *p, int64_t n, int64_t batch_size) {
    return hn_max(1, hn_min(p->clusters, hn_min(n, MAX_ITEMS) / batch_size));
}

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    int64_t k = clusters_of(params, plan->n, plan->batch_size);
    int64_t m = k * plan->batch_size, groups = plan->n / m;
    if (k < params->clusters)
        hn_note_once(ctx, "clusters = %lld taken as %lld: a group has at most %d items",
                     (long long)params->clusters, (long long)k, MAX_ITEMS);
    if (groups * m * m > long_work)
        hn_note_once(
            ctx,
            "spectral begins each epoch with the eigenvectors of %lld groups of %lld items, "
            "however few batches are drawn: this takes long",
            (long long)groups, (long long)m);
    return HN_OK;
}

static enum hn_code open_spectral(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    const struct params *params = self->params;
    struct state *state = self->state;
    int64_t k = clusters_of(params, n, self->batch_size), m = k * self->batch_size;
    state->k = k;
    state->m = m;
    state->kept = hn_min(params->kept, k);
    state->stride = hn_panels(m) * HN_PANEL;
    state->selected = -1;
    if (!HN_ALLOC(ctx, state->order, n) ||
        !HN_ALLOC(ctx, state->batch, n / m * state->kept * self->batch_size))
        return ctx->code;
    if (k == 1) // a group is a batch
        return HN_OK;
    bool good = HN_ALLOC_ROWS(ctx, state->s, state->stride, state->stride) &&
                HN_ALLOC_ROWS(ctx, state->w, m, m) && HN_ALLOC(ctx, state->root, m) &&
                HN_ALLOC(ctx, state->value, k) && HN_ALLOC_ROWS(ctx, state->vector, k, m) &&
                HN_ALLOC(ctx, state->own, m) && hn_even_open(ctx, m, k, &state->even) == HN_OK;
    return good ? HN_OK : ctx->code;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    struct state *state = self->state;
    (void)ctx;
    state->items = *items;
    state->selected = -1;
    return HN_OK;
}

// s of a group: views' products with each other.
static enum hn_code multiply(struct hn_context *ctx, struct state *state, const int32_t *id) {
    HN_SCOPE(ctx);
    const struct hn_items *items = &state->items;
    bool views = hn_has_positive(items);
    int64_t m = state->m;
    struct hn_packed rows, columns;
    if (hn_packed_reserve(ctx, m, items->d, &rows) || hn_packed_reserve(ctx, m, items->d, &columns))
        return ctx->code;
    hn_packed_gather(views ? &items->x1 : &items->x, id, m, &rows);
    hn_packed_gather(views ? &items->x2 : &items->x, id, m, &columns);
    hn_packed_multiply(&rows, 0, m, &columns, 0, m, state->s, state->stride);
    return HN_OK;
}

static double s_of(const struct state *state, int64_t i, int64_t j) {
    return (double)state->s[i * state->stride + j];
}

// w[m]: what row i of s adds to the logarithms of w_ij and w_ji; own[m]: s_jj.
HN_CLONES
static void find_losses(const float *s, const double *own, int64_t i, int64_t m, double log_others,
                        double tau, double *w) {
    for (int64_t j = 0; j < m; j++)
        w[j] = hn_softplus(log_others + ((double)s[j] - own[i]) / tau) +
               hn_softplus(log_others + ((double)s[j] - own[j]) / tau);
}

// w[m] becomes e^(w - high); their sum.
HN_CLONES
static double lift(double *w, int64_t m, double high) {
    for (int64_t j = 0; j < m; j++)
        w[j] = hn_exp(w[j] - high);
    return hn_lane_sum(w, m);
}

// w[m] of one item over the roots of its degree and of the others'.
HN_CLONES
static void balance(double *restrict w, int64_t m, double own, const double *restrict root) {
    for (int64_t j = 0; j < m; j++)
        w[j] /= own * root[j];
}

// Rows i .. end of w + w^T, up to the diagonal, whose entries become -infinity; mirrored. Returns
// the largest. By tiles, since columns of w lie far apart.
static double add_mirrored(double *w, int64_t m, int64_t i, int64_t end) {
    double high = -INFINITY;
    for (int64_t tile = 0; tile < end; tile += TILE)
        for (int64_t r = i; r < end; r++)
            for (int64_t j = tile; j < hn_min(tile + TILE, r); j++) {
                double both = w[r * m + j] + w[j * m + r];
                w[r * m + j] = w[j * m + r] = both;
                high = both > high ? both : high;
            }
    for (int64_t r = i; r < end; r++)
        w[r * m + r] = -INFINITY;
    return high;
}

// D^-1/2 W D^-1/2; weights are divided by the largest, which it does not change.
static void weigh(struct state *state, double others, double tau, int threads) {
    int64_t m = state->m;
    double *w = state->w, *own = state->own, high = -INFINITY;
    for (int64_t i = 0; i < m; i++)
        own[i] = s_of(state, i, i);
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (int64_t i = 0; i < m; i++)
            find_losses(state->s + i * state->stride, own, i, m, log(others), tau, w + i * m);
#pragma omp for schedule(dynamic) reduction(max : high)
        for (int64_t i = 0; i < m; i += TILE)
            high = fmax(high, add_mirrored(w, m, i, hn_min(i + TILE, m)));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < m; i++)
            state->root[i] = sqrt(lift(w + i * m, m, high));
#pragma omp for schedule(static)
        for (int64_t i = 0; i < m; i++)
            balance(w + i * m, m, state->root[i], state->root);
    }
}

static enum hn_code embed(struct hn_context *ctx, struct state *state, int threads) {
    int64_t m = state->m, k = state->k;
    if (hn_eigen_few(ctx, state->w, m, k, threads, state->value, state->vector))
        return ctx->code;
    for (int64_t i = 0; i < m; i++)
        for (int64_t c = 0; c < k; c++)
            hn_even_set(&state->even, i, c, state->vector[c * m + i] / state->root[i]);
    return HN_OK;
}

// The loss of a cluster, as osgd's.
static double loss_of(const struct state *state, const int32_t *position, int32_t n, double tau) {
    double loss = 0;
    for (int32_t a = 0; a < n; a++) {
        double rows = 0, columns = 0, own = s_of(state, position[a], position[a]);
        for (int32_t b = 0; b < n; b++) {
            rows += hn_exp((s_of(state, position[a], position[b]) - own) / tau);
            columns += hn_exp((s_of(state, position[b], position[a]) - own) / tau);
        }
        // cppcheck-suppress invalidFunctionArg; b has been a, so both are 1 or more
        loss += log(rows) + log(columns);
    }
    return loss / n;
}

// The kept clusters of a group, in their order, to batch[kept x B].
static void keep(const struct params *p, struct state *state, const int32_t *id, int32_t batch_size,
                 int32_t *batch) {
    int64_t k = state->k;
    for (int64_t c = 0; c < k; c++)
        state->value[c] = loss_of(state, state->even.cluster + c * batch_size, batch_size, p->tau);
    for (int64_t c = 0; c < k; c++) {
        int64_t larger = 0; // clusters that come before it
        for (int64_t o = 0; o < k; o++)
            larger += state->value[o] > state->value[c] ||
                      (o < c && !(state->value[o] < state->value[c]));
        if (larger >= state->kept)
            continue;
        for (int32_t i = 0; i < batch_size; i++)
            batch[i] = id[state->even.cluster[c * batch_size + i]];
        batch += batch_size;
    }
}

static enum hn_code cut_group(struct hn_context *ctx, struct hn_sampler *self, int64_t epoch,
                              int64_t group) {
    const struct params *params = self->params;
    struct state *state = self->state;
    const int32_t *id = state->order + group * state->m;
    int threads = hn_sampler_threads(ctx, self);
    struct hn_stream stream;
    if (hn_check_stop(ctx))
        return ctx->code;
    if (state->k == 1) {
        memcpy(state->batch + group * state->m, id, (size_t)state->m * sizeof *id);
        return HN_OK;
    }
    if (multiply(ctx, state, id))
        return ctx->code;
    weigh(state, self->batch_size - 1, params->tau, threads);
    if (embed(ctx, state, threads))
        return ctx->code;
    hn_stream_open(&stream, self->seed, "spectral.starts", self->built_index, epoch, group);
    hn_even_cluster(&state->even, params->starts, params->iterations, &stream);
    hn_even_fill(&state->even);
    keep(params, state, id, self->batch_size,
         state->batch + group * state->kept * self->batch_size);
    state->took.dot += state->m * state->m;
    state->took.draw += params->starts * (state->k + 1);
    state->took.bytes += 2 * state->m * state->items.d * (int64_t)sizeof(float);
    return HN_OK;
}

static enum hn_code select_batches(struct hn_context *ctx, struct hn_sampler *self, int64_t epoch,
                                   int64_t groups) {
    struct state *state = self->state;
    struct hn_stream stream;
    state->selected = -1; // until all groups are cut
    hn_stream_open(&stream, self->seed, "spectral.order", self->built_index, epoch, 0);
    for (int64_t i = 0; i < self->n; i++)
        state->order[i] = (int32_t)i;
    for (int64_t i = 0; i + 1 < self->n; i++)
        (void)hn_stream_take(&stream, state->order, i, self->n);
    state->took = (struct hn_work){.draw = self->n - 1};
    for (int64_t g = 0; g < groups; g++)
        if (cut_group(ctx, self, epoch, g))
            return ctx->code;
    state->selected = epoch;
    return HN_OK;
}

// Batches that are still there count as what they took: another cell may have had them selected.
static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)items;
    struct state *state = self->state;
    int64_t groups = self->n / state->m;
    *batches = groups * state->kept;
    if (number != state->selected && select_batches(ctx, self, number, groups))
        return ctx->code;
    self->sampling.dot += state->took.dot;
    self->sampling.draw += state->took.draw;
    self->sampling.bytes += state->took.bytes;
    return HN_OK;
}

static int32_t batch(const struct hn_sampler *self, int64_t number, int thread,
                     struct hn_work *work, int32_t *ids) {
    (void)thread, (void)work;
    const struct state *state = self->state;
    memcpy(ids, state->batch + number * self->batch_size,
           (size_t)self->batch_size * sizeof *state->batch);
    return self->batch_size;
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, clusters, "clusters", "40", 1, 1 << 20,
                   "clusters that a group is cut into (k), as far as they fit")},
    {HN_INT_OPTION(struct params, kept, "kept", "40", 1, 1 << 24,
                   "of them those of the largest loss that are batches (q)")},
    {HN_REAL_OPTION(struct params, tau, "tau", "1", 0.03, 1000,
                    "temperature of the losses of weights and batches")},
    {HN_INT_OPTION(struct params, iterations, "iterations", "100", 1, 1000,
                   "maximum rounds of k-means")},
    {HN_INT_OPTION(struct params, starts, "starts", "10", 1, 1000,
                   "starts of k-means, of which the best counts")},
    {0}};

static void grid(const struct hn_sampler_plan *plan, char *text, size_t size) {
    (void)plan;
    hn_append(text, size, "{spectral: {tau: 0.1}}");
}

const struct hn_sampler_type hn_spectral_sampler = {
    .name = "spectral",
    .summary = "even spectral clusters of random groups, those of the largest loss",
    .source = "Mini-Batch Optimization of Contrastive Loss (Cho et al., TMLR 2024), SC",
    .note =
        "groups have at most 2,048 items, so that k is lowered (the paper: B = 32, k = 40); "
        "items go to the nearest centroid that is not full, the closest pair first, where the code "
        "solves the assignment problem; eigenvectors are the library's: a tie may fall "
        "differently with another one; without views x takes the place of both",
    .grid = grid,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_spectral,
    .rebuild = rebuild,
    .epoch = epoch,
    .batch = batch,
};
