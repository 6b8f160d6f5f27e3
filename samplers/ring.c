// SPDX-License-Identifier: GPL-3.0-or-later
// Negatives that are neither too close nor too far (NS 3.2, feature-based sampling): for every
// anchor the other items by ascending cosine, and of these the positions from `lo` to `hi` percent.
//
// Of m = n - 1 others these are the positions [round(lo m / 100), round(hi m / 100)), counted from
// 0, so that rings whose percentiles meet share nothing and leave nothing out. Cosines are those of
// raw features (the paper's, which need no encoder) or of the embeddings. Items with the anchor's
// very same cosine (39 % of Cora's are exactly 0) come in random order, drawn anew for every anchor
// and epoch. A feature row of zeros has cosine 0 with all.
//
// Positions are decided by the inner product in double. Float products, or exact ones rounded to
// float, say which items lie within twice their error bound of a percentile: only those are
// compared in double.
#include "core/sweep/blas.h"
#include "core/sweep/simd.h"
#include "samplers/sampler.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum { SPACE_FEATURES, SPACE_EMBEDDINGS };
enum { GROUP = 16 }; // anchors whose products are computed at once

struct params {
    double lo, hi;
    int64_t n;
    int space;
};

// An item near a percentile: ordered by cosine, then at random.
struct candidate {
    double cosine;
    uint64_t lot;
    int32_t id;
};

// Scratch of one thread.
struct scratch {
    float *query;                // [GROUP x d] dense: the anchors' rows
    float *product;              // [GROUP x n], of compressed rows [n]
    double *cosine;              // [n] exact, of compressed rows
    struct candidate *candidate; // [n]
    uint8_t *below; // [n] bit 0: before the ring's first position, bit 1: before its end
};

// An item that has a feature.
struct posting {
    int32_t id;
    float value;
};

struct state {
    struct hn_matrix x, y;              // dense rows of the space
    const struct hn_features *features; // compressed rows, else NULL
    struct posting *posting;            // of these, by feature: [start[n]]
    int64_t *first;                     // [p + 1] of each feature
    double bound;                       // error of a product, or of its rounding
    struct scratch *scratch;            // [threads]
};

static int64_t position_of(double percentile, int64_t others) {
    return llround(percentile * (double)others / 100);
}

static int64_t capacity(const void *p, int64_t n) {
    const struct params *params = p;
    int64_t ring = hn_max(0, position_of(params->hi, n - 1) - position_of(params->lo, n - 1));
    return params->n == 0 ? ring : hn_min(params->n, ring);
}

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    if (params->lo >= params->hi)
        return hn_fail(ctx, HN_USAGE, "lo = %g is not below hi = %g: a ring has lo < hi",
                       params->lo, params->hi);
    if (params->space == SPACE_FEATURES && !plan->has_features)
        return hn_fail(ctx, HN_NOT_APPLICABLE,
                       "ring needs raw features, which the items do not have (space: embeddings "
                       "needs none)");
    if (capacity(params, plan->n) == 0)
        hn_note_once(ctx, "no item lies between lo = %g and hi = %g percent of %lld", params->lo,
                     params->hi, (long long)plan->n - 1);
    return HN_OK;
}

static enum hn_code open_ring(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *state = self->state;
    if (!HN_ZALLOC(ctx, state->scratch, self->threads))
        return ctx->code;
    for (int t = 0; t < self->threads; t++) {
        struct scratch *s = &state->scratch[t];
        if (!HN_ALLOC(ctx, s->candidate, n) || !HN_ALLOC(ctx, s->below, n))
            return ctx->code;
    }
    return HN_OK;
}

// Lists the items of each feature, ascending.
static enum hn_code list_features(struct hn_context *ctx, struct state *state) {
    const struct hn_features *f = state->features;
    if (!HN_ALLOC(ctx, state->posting, f->start[f->n]) || !HN_ZALLOC(ctx, state->first, f->p + 1))
        return ctx->code;
    int64_t *end = state->first;
    for (int64_t k = 0; k < f->start[f->n]; k++)
        end[f->index[k] + 1]++;
    for (int64_t j = 0; j < f->p; j++)
        end[j + 1] += end[j];
    for (int64_t i = f->n - 1; i >= 0; i--) // ends move down to where the lists begin
        for (int64_t k = f->start[i]; k < f->start[i + 1]; k++)
            state->posting[--end[f->index[k] + 1]] = (struct posting){(int32_t)i, f->value[k]};
    for (int64_t j = 0; j < f->p; j++)
        end[j] = end[j + 1];
    end[f->p] = f->start[f->n];
    return HN_OK;
}

// Space for products. Only dense rows are multiplied as a group.
static enum hn_code take_rows(struct hn_context *ctx, const struct hn_sampler *self) {
    const struct state *state = self->state;
    for (int t = 0; t < self->threads; t++) {
        struct scratch *s = &state->scratch[t];
        bool ok = state->features
                      ? HN_ALLOC(ctx, s->cosine, self->n) && HN_ALLOC(ctx, s->product, self->n)
                      : HN_ALLOC_ROWS(ctx, s->query, state->x.cols, GROUP) &&
                            HN_ALLOC_ROWS(ctx, s->product, self->n, GROUP);
        if (!ok)
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    const struct params *params = self->params;
    struct state *state = self->state;
    state->x = items->x;
    state->y = *hn_negative_rows(items);
    state->features = NULL;
    if (params->space == SPACE_FEATURES) {
        if (!items->features)
            return hn_fail(ctx, HN_NOT_APPLICABLE,
                           "ring needs raw features, which these items do not have");
        state->x = state->y = items->features->dense;
        state->features = state->x.data ? NULL : items->features;
    }
    state->bound = state->features ? FLT_EPSILON : hn_dot_bound(state->x.cols);
    if (state->features && list_features(ctx, state))
        return ctx->code;
    return take_rows(ctx, self);
}

// The ring of one anchor.
struct ring {
    int32_t anchor;
    int64_t others, from, to; // positions [from, to) of the others
    uint64_t lots;            // item j's lot among equals is number j of this SplitMix64 sequence
    struct hn_stream stream;
};

static uint64_t lot_of(const struct ring *ring, int32_t id) {
    return hn_mix(ring->lots + ((uint64_t)id + 1) * 0x9e3779b97f4a7c15U);
}

// Cosines with all items, summed in the order of the features: the same for (i, j) and (j, i).
static void sparse_cosines(const struct state *state, int32_t anchor, struct scratch *s) {
    const struct hn_features *f = state->features;
    memset(s->cosine, 0, (size_t)f->n * sizeof *s->cosine);
    for (int64_t k = f->start[anchor]; k < f->start[anchor + 1]; k++) {
        const int64_t *first = state->first + f->index[k];
        for (int64_t l = first[0]; l < first[1]; l++)
            s->cosine[state->posting[l].id] +=
                (double)f->value[k] * (double)state->posting[l].value;
    }
    for (int64_t j = 0; j < f->n; j++)
        s->product[j] = (float)s->cosine[j];
}

static double exact_cosine(const struct state *state, const struct scratch *s, int32_t anchor,
                           int32_t id) {
    if (state->features)
        return s->cosine[id];
    return hn_dot_exact(hn_row(&state->x, anchor), hn_row(&state->y, id), state->x.cols);
}

static bool comes_before(const struct candidate *a, const struct candidate *b) {
    if (a->cosine < b->cosine || a->cosine > b->cosine)
        return a->cosine < b->cosine;
    return a->lot != b->lot ? a->lot < b->lot : a->id < b->id;
}

// Puts the k first of c[n] in front, in no particular order. Lots are random, so that splits are
// even.
static void bring_first(struct candidate *c, int64_t n, int64_t k) {
    while (k > 0 && k < n) {
        const struct candidate middle = c[n / 2];
        int64_t i = 0, j = n - 1;
        while (i <= j) {
            while (comes_before(&c[i], &middle))
                i++;
            while (comes_before(&middle, &c[j]))
                j--;
            if (i <= j) {
                struct candidate swapped = c[i];
                c[i++] = c[j];
                c[j--] = swapped;
            }
        }
        if (k <= j + 1) {
            n = j + 1;
        } else if (k >= i) {
            c += i;
            n -= i;
            k -= i;
        } else {
            return;
        }
    }
}

// A number that k of the others' products are below, or that the k-th lies at most `bound` above.
static double edge_of(const struct ring *ring, const float *product, int64_t k, double bound) {
    const struct hn_simd *scan = hn_simd_best();
    int64_t n = ring->others + 1;
    float low = INFINITY, high = -INFINITY;
    if (k == 0 || k == ring->others)
        return k == 0 ? -INFINITY : INFINITY;
    scan->widen(product, n, &low, &high);
    while ((double)high - (double)low > bound) {
        float edge = low + 0.5F * (high - low);
        int64_t below = n - scan->count(product, n, edge) - (product[ring->anchor] < edge);
        if (below == k)
            return (double)edge;
        if (below < k)
            low = edge;
        else
            high = edge;
    }
    return (double)low;
}

// Sets `bit` of below[j] where product[j] is below `low`; their number.
static int64_t mark_below(const float *restrict product, int64_t n, float low, uint8_t bit,
                          uint8_t *restrict below) {
    int32_t marked = 0;
    for (int64_t j = 0; j < n; j++) {
        below[j] |= product[j] < low ? bit : 0;
        marked += product[j] < low;
    }
    return marked;
}

// Sets `bit` of below[j] for the first k others in ascending order. What is more than two bounds
// from the k-th product cannot be on the other side of the k-th cosine.
static void mark_first(const struct state *state, const struct ring *ring, struct scratch *s,
                       const float *product, int64_t k, uint8_t bit) {
    int64_t n = ring->others + 1, candidates = 0;
    double edge = edge_of(ring, product, k, state->bound);
    float low = nextafterf((float)(edge - 2 * state->bound), -INFINITY),
          high = nextafterf((float)(edge + 3 * state->bound), INFINITY);
    int64_t sure = mark_below(product, n, low, bit, s->below) - (product[ring->anchor] < low);
    struct candidate *candidate = s->candidate;
    for (int32_t j = 0; j < n; j++) { // without a branch that every second item takes
        candidate[candidates].id = j;
        candidates += (product[j] >= low) & (product[j] <= high) & (j != ring->anchor);
    }
    for (int64_t i = 0; i < candidates; i++) {
        candidate[i].cosine = exact_cosine(state, s, ring->anchor, candidate[i].id);
        candidate[i].lot = lot_of(ring, candidate[i].id);
    }
    bring_first(candidate, candidates, k - sure);
    for (int64_t i = 0; i < candidates && sure < k; i++, sure++)
        s->below[candidate[i].id] |= bit;
}

// The first `capacity` of the ring's items, in random order; or all of them, by ascending id.
static int32_t collect(struct ring *ring, const struct scratch *s, int64_t capacity, int32_t *all,
                       int32_t *negative) {
    const uint8_t *below = s->below;
    int32_t count = 0;
    for (int32_t j = 0; j < ring->others + 1; j++) {
        all[count] = j;
        count += below[j] == 2;
    }
    for (int64_t i = 0; i < capacity && capacity < count; i++)
        (void)hn_stream_take(&ring->stream, all, i, count);
    count = (int32_t)hn_min(count, capacity);
    memcpy(negative, all, (size_t)count * sizeof *negative);
    return count;
}

static int32_t find_ring(const struct hn_sampler *self, int32_t anchor, int64_t position,
                         struct scratch *s, const float *product, int64_t capacity,
                         int32_t *negative) {
    const struct params *params = self->params;
    const struct state *state = self->state;
    int64_t others = self->n - 1;
    struct ring ring = {.anchor = anchor,
                        .others = others,
                        .from = position_of(params->lo, others),
                        .to = position_of(params->hi, others)};
    hn_stream_open(&ring.stream, self->seed, "ring", self->index, self->epoch, position);
    ring.lots = (uint64_t)hn_stream_word(&ring.stream) << 32;
    ring.lots |= hn_stream_word(&ring.stream);
    memset(s->below, 0, (size_t)self->n * sizeof *s->below);
    mark_first(state, &ring, s, product, ring.from, 1);
    mark_first(state, &ring, s, product, ring.to, 2);
    s->below[anchor] = 1;
    // Items before the ring are before its end as well, and have both bits. The ids reuse the
    // scratch of the selection, which is done.
    return collect(&ring, s, capacity, (int32_t *)(void *)s->candidate, negative);
}

// Anchors at the positions [p, p + count) of the batches.
static void fill_group(const struct hn_sampler *self, const struct hn_batches *out, int64_t p,
                       int64_t count, struct scratch *s) {
    const struct state *state = self->state;
    const struct hn_matrix *x = &state->x, *y = &state->y;
    if (!state->features) {
        hn_gather_rows(x, out->ids + p, count, s->query);
        hn_gemm_nt(s->query, x->cols, y->data, y->stride, count, y->rows, x->cols, s->product,
                   y->rows);
    }
    for (int64_t g = 0; g < count; g++) {
        int32_t anchor = out->ids[p + g];
        if (state->features)
            sparse_cosines(state, anchor, s);
        out->negatives[p + g] = find_ring(self, anchor, out->first * out->batch_size + p + g, s,
                                          s->product + (state->features ? 0 : g * self->n),
                                          out->capacity, hn_batch_negatives(out, p + g));
    }
}

static enum hn_code next(struct hn_context *ctx, struct hn_sampler *self, struct hn_batches *out) {
    struct state *state = self->state;
    int64_t groups = (out->batch_size + GROUP - 1) / GROUP, anchors = 0;
#pragma omp parallel for num_threads(hn_sampler_threads(ctx, self)) schedule(dynamic)
    for (int64_t k = 0; k < out->count * groups; k++) {
        int64_t b = k / groups, a = k % groups * GROUP;
        int64_t count = hn_min(GROUP, out->size[b] - a);
        if (count > 0)
            fill_group(self, out, b * out->batch_size + a, count,
                       &state->scratch[omp_get_thread_num()]);
    }
    for (int32_t b = 0; b < out->count; b++)
        anchors += out->size[b];
    const struct params *params = self->params;
    int64_t others = self->n - 1;
    int64_t ring = position_of(params->hi, others) - position_of(params->lo, others);
    int64_t row = state->features ? state->features->start[self->n] / self->n : state->x.cols;
    self->sampling.dot += anchors * self->n;
    self->sampling.draw += anchors * (2 + (out->capacity < ring ? out->capacity : 0));
    self->sampling.bytes += anchors * self->n * row * (int64_t)sizeof(float);
    return HN_OK;
}

static const char *const spaces[] = {"features", "embeddings", NULL};
static const char *const words[] = {"all", NULL};
static const struct hn_option options[] = {
    {HN_REAL_OPTION(struct params, lo, "lo", "50", 0, 100,
                    "percentile of ascending similarity that the ring begins at")},
    {HN_REAL_OPTION(struct params, hi, "hi", "90", 0, 100,
                    "percentile of ascending similarity that the ring ends at")},
    {HN_INT_OPTION(struct params, n, "n", "all", 1, INT32_MAX,
                   "negatives per anchor, drawn from its ring without replacement"),
     .choices = words},
    {HN_CHOICE_OPTION(struct params, space, "space", "features", spaces,
                      "whose cosines: raw features, or embeddings")},
    {0}};

const struct hn_sampler_type hn_ring_sampler = {
    .name = "ring",
    .summary = "items between two percentiles of similarity to the anchor as its negatives",
    .source = "NS 3.2, feature-based sampling",
    .note = "equal similarities come in random order; the paper does not say",
    .flags = HN_SAMPLER_PER_ANCHOR,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_ring,
    .rebuild = rebuild,
    .next = next,
    .capacity = capacity,
};
