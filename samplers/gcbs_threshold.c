// SPDX-License-Identifier: GPL-3.0-or-later
// An exact quantile of N^2 - N inner products, and the pairs above it, in one sweep.
//
// A random sample gives a value `low` that lies below the wanted one almost surely, and not far:
// with p the share of products at or above the wanted one, the sample holds about p samples above
// it; of independent products a binomial number, so that the sample's product at rank p samples +
// margin standard deviations is above the wanted one with a probability of about 10^-9 (Chernoff;
// the margin squared is added for small means). Likewise `high`, above the wanted one. The sweep
// collects all pairs from `low` on, with their products if below `high`, and selects among them:
// float products decide what they can, exact ones the rest. If a guess was wrong after all, or
// there are more pairs than space (many equal products), the sweep is repeated with a lower or no
// guess or more capacity. If so many products are within float precision of the wanted one that
// they would fill the memory, it gives up.
//
// The sample: groups of up to 32 rows, each times as many columns, both from random permutations.
// So each row is read once for 32 products, by matrix products, and each row and column comes as
// often as any other: that some have more large products than others adds nothing to the variance.
// Pairs of a group depend on each other where a few items are very near to each other, which costs
// another sweep at worst.
#include "samplers/gcbs_threshold.h"
#include "core/sweep/blas.h"
#include "core/sweep/product.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLES = 1 << 24, // at most
    CAPACITY_MIN = 1024,
    GROUP = 32,      // rows of a group of samples
    BINS = 1 << 16,  // of selections
    CROWD = 1 << 24, // about a quarter of a gigabyte
    AHEAD = 4        // exact products whose rows are fetched ahead
};
static const double EVERYTHING = -2; // below every inner product of unit rows

// A number that orders floats as they are ordered.
static uint32_t order_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x80000000U ? ~bits : bits | 0x80000000U;
}

static float from_order_bits(uint32_t bits) {
    float value;
    bits = bits & 0x80000000U ? bits & 0x7fffffffU : ~bits;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Bin from which `rank` entries, counted from the last bin down, begin; rank becomes that within
// it.
static uint32_t find_bin(const int64_t *count, int64_t *rank) {
    uint32_t bin = BINS - 1;
    for (; *rank > count[bin]; bin--)
        *rank -= count[bin];
    return bin;
}

// Adds value[i] to the bin of its upper 16 bits, or, if those are `upper`, of its lower 16 bits.
enum { UPPER = -1 };
static void tally(int64_t *count, float value, int64_t weight, int64_t upper) {
    uint32_t bits = order_bits(value);
    if (upper == UPPER)
        count[bits >> 16] += weight;
    else if (bits >> 16 == (uint32_t)upper)
        count[bits & (BINS - 1)] += weight;
}

static void tally_sample(const struct hn_threshold *t, int64_t upper) {
    memset(t->bins, 0, BINS * sizeof *t->bins);
    for (int64_t i = 0; i < t->samples; i++)
        tally(t->bins, t->sample[i], 1, upper);
}

static void tally_close(const struct hn_threshold *t, int64_t upper) {
    const struct hn_close_pairs *p = &t->pairs;
    memset(t->bins, 0, BINS * sizeof *t->bins);
    for (int64_t c = 0; c < p->chunks; c++)
        for (int64_t e = 0; e < p->used[c]; e++) {
            const struct hn_close_pair *pair = &p->pool[c * HN_CLOSE_CHUNK + e];
            tally(t->bins, pair->score, hn_pair_weight(pair), upper);
        }
}

// The rank-th largest (from 1) of the sample or of the close pairs, by counting their upper, then
// their lower 16 bits: linear, and equal values do not slow it.
static float kth_largest(const struct hn_threshold *t,
                         void (*count)(const struct hn_threshold *, int64_t), int64_t rank) {
    count(t, UPPER);
    uint32_t upper = find_bin(t->bins, &rank);
    count(t, upper);
    return from_order_bits(upper << 16 | find_bin(t->bins, &rank));
}

// Rank of the wanted product from the top, 1 the largest: m - floor((m - 1) q).
static int64_t wanted_rank(int64_t n, double quantile) {
    int64_t m = n * (n - 1);
    double position = floor((double)(m - 1) * quantile);
    return m - hn_min((int64_t)position, m - 1);
}

// Products of distinct items in the sample.
static int64_t sampled(const struct hn_threshold *t) { return t->samples - t->selves; }

// Rows of a group, and groups, for n items.
static int64_t group_size(int64_t n) { return hn_max(1, hn_min(hn_min(GROUP, n), SAMPLES / n)); }
static int64_t group_count(int64_t n) { return hn_min(n / group_size(n), SAMPLES); }

struct groups {
    int64_t size, count;
    int32_t *row, *col; // [n] permutations
    float *copy;        // [threads x 2 size x d]
};

// Products of group k to score[size x size]; how many are of an item with itself.
static int64_t multiply_group(const struct hn_threshold *t, const struct groups *g, int64_t k,
                              float *copy, float *score) {
    const int32_t *row = g->row + k * g->size, *col = g->col + k * g->size;
    int64_t d = t->x.cols, selves = 0;
    hn_gather_rows(&t->x, row, g->size, copy);
    hn_gather_rows(&t->y, col, g->size, copy + g->size * d);
    hn_gemm_nt(copy, d, copy + g->size * d, d, g->size, g->size, d, score, g->size);
    for (int64_t i = 0; i < g->size; i++)
        for (int64_t j = 0; j < g->size; j++)
            if (row[i] == col[j]) {
                score[i * g->size + j] = (float)EVERYTHING;
                selves++;
            }
    return selves;
}

static enum hn_code draw_sample(struct hn_context *ctx, struct hn_threshold *t) {
    int64_t n = t->x.rows, d = t->x.cols, selves = 0;
    struct groups g = {.size = group_size(n), .count = group_count(n)};
    t->samples = g.count * g.size * g.size;
    if (!HN_ALLOC(ctx, t->sample, t->samples))
        return ctx->code;
    HN_SCOPE(ctx);
    if (!HN_ALLOC(ctx, g.row, n) || !HN_ALLOC(ctx, g.col, n) ||
        !HN_ALLOC(ctx, g.copy, ctx->threads * 2 * g.size * d))
        return ctx->code;
    hn_permute(t->seed, "gcbs.sample", t->built_index, 0, 0, g.row, n);
    hn_permute(t->seed, "gcbs.sample", t->built_index, 0, 1, g.col, n);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic) reduction(+ : selves)
    for (int64_t k = 0; k < g.count; k++)
        selves += multiply_group(t, &g, k, g.copy + omp_get_thread_num() * 2 * g.size * d,
                                 t->sample + k * g.size * g.size);
    t->selves = selves;
    return HN_OK;
}

// Lowest float product of an entry whose exact product is at least low.
static float float_threshold(double low, double bound) {
    return nextafterf((float)(low - bound), -INFINITY);
}

// Space for what has `rank` products of a sample of `samples` of n items.
static int64_t capacity_above(int64_t n, double rank, int64_t samples) {
    double m = (double)n * (double)(n - 1);
    double max = rank + HN_THRESHOLD_MARGIN * (sqrt(rank) + HN_THRESHOLD_MARGIN);
    return (int64_t)fmin(m, m * max / (double)samples + CAPACITY_MIN);
}

static int64_t capacity_for(const struct hn_threshold *t, double rank) {
    return capacity_above(t->x.rows, rank, sampled(t));
}

// Mean number of the sample's products at or above the wanted one.
static double sampled_mean(int64_t n, double quantile, int64_t samples) {
    return (double)samples * (double)wanted_rank(n, quantile) / ((double)n * (double)(n - 1));
}

// The sample's rank that surely lies below the wanted product.
static int64_t low_rank(double mean, double margin) {
    return (int64_t)fmax(1, ceil(mean + margin * sqrt(mean) + margin * fabs(margin)));
}

int64_t hn_threshold_capacity(int64_t n, double quantile) {
    int64_t size = group_size(n), samples = group_count(n) * size * size;
    int64_t rank = low_rank(sampled_mean(n, quantile, samples), HN_THRESHOLD_MARGIN);
    return rank >= samples ? n * (n - 1) : capacity_above(n, (double)rank, samples);
}

double hn_threshold_bytes(int64_t n, double quantile) {
    enum { ENTRY = 2 * sizeof(uint16_t), EDGE = 2 * sizeof(int32_t), ITEM = 192 };
    int64_t size = group_size(n), samples = group_count(n) * size * size;
    double mean = sampled_mean(n, quantile, samples);
    double low = (double)low_rank(mean, HN_THRESHOLD_MARGIN);
    double high = mean - HN_THRESHOLD_MARGIN * (sqrt(mean) + 1);
    double all = (double)hn_threshold_capacity(n, quantile), close = all;
    if (high >= 1 && low < (double)samples)
        close = (double)capacity_above(n, low - floor(high), samples);
    return all * ENTRY + close * (double)sizeof(struct hn_close_pair) +
           (double)wanted_rank(n, quantile) * EDGE + (double)n * ITEM;
}

// The float from which on products are surely above the wanted one, and how many of the sample lie
// below it, but not below `low`.
static double aim_high(struct hn_threshold *t) {
    double mean = sampled_mean(t->x.rows, t->quantile, sampled(t));
    double margin = fabs(t->margin), rank = mean - margin * (sqrt(mean) + 1);
    t->pairs.high = INFINITY;
    if (t->all_close || !(rank >= 1) || rank >= (double)t->rank || t->rank >= sampled(t))
        return (double)t->rank;
    float high = kth_largest(t, tally_sample, (int64_t)rank);
    if ((double)high <= t->low)
        return (double)t->rank;
    t->pairs.high = high;
    return (double)t->rank - floor(rank);
}

// From the rank in the sample: the values to collect from, and the capacity to collect in.
static void aim(struct hn_threshold *t) {
    int64_t m = t->x.rows * (t->x.rows - 1);
    bool everything = !t->given && t->rank >= sampled(t);
    t->foreseen = t->pairs.capacity = everything ? m : capacity_for(t, (double)t->rank);
    if (t->given) {
        t->low = t->value;
        t->pairs.high = nextafterf((float)(t->value + t->bound), INFINITY);
        t->pairs.close_capacity = t->foreseen / 8 + CAPACITY_MIN;
    } else {
        t->low = everything ? EVERYTHING : (double)kth_largest(t, tally_sample, t->rank);
        double close = aim_high(t);
        t->pairs.close_capacity = everything ? m : capacity_for(t, close);
    }
    if (t->capacity > 0)
        t->pairs.capacity = t->pairs.close_capacity = t->capacity;
    t->pairs.low = float_threshold(t->low, t->bound);
}

// Rank in the sample from which on pairs are collected: with a margin for a quantile; for a given
// value, the number that is surely above it.
static int64_t sample_rank(const struct hn_threshold *t) {
    int64_t rank = 0;
    if (!t->given)
        return low_rank(sampled_mean(t->x.rows, t->quantile, sampled(t)), t->margin);
    for (int64_t i = 0; i < t->samples; i++)
        rank += (double)t->sample[i] > t->value + t->bound;
    return rank;
}

static enum hn_code begin(struct hn_context *ctx, struct hn_threshold *t, struct hn_work *work) {
    if (!HN_ALLOC(ctx, t->bins, BINS) || draw_sample(ctx, t))
        return ctx->code;
    t->bound = fmax(hn_product_bound(&t->x, &t->y, ctx->threads), hn_simd_dot_bound(t->x.cols));
    t->rank = sample_rank(t);
    aim(t);
    work->draw += 2 * (t->x.rows - 1);
    work->dot += t->samples;
    work->bytes += 2 * t->x.rows * t->x.cols * (int64_t)sizeof(float);
    return HN_OK;
}

// The close pairs whose float product lies within `width` of `centre`, with exact products.
struct band {
    double centre, width;
    int64_t above, count; // entries surely above (of both orders of a pair); pairs in the band
    int64_t *first; // [chunks + 1] position of a chunk's first pair in the lists below; owns them
    struct exact {
        double value;
        int64_t weight;
    } * exact, *sorted;                // [count] in the order of the pool
    const struct hn_close_pair **pair; // [count]
};

static bool in_band(const struct band *b, const struct hn_close_pair *pair) {
    return fabs((double)pair->score - b->centre) <= b->width;
}

static void fetch_rows(const struct hn_threshold *t, const struct hn_close_pair *pair) {
    enum { FLOATS = 16 }; // of a cache line
    const float *x = hn_row(&t->x, hn_pair_row(pair)), *y = hn_row(&t->y, pair->col);
    for (int64_t k = 0; k < t->x.cols; k += FLOATS) {
        __builtin_prefetch(x + k);
        __builtin_prefetch(y + k);
    }
}

static void band_score(struct hn_context *ctx, const struct hn_threshold *t, struct band *b) {
    int64_t count = b->count;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < count; i++) {
        const struct hn_close_pair *pair = b->pair[i];
        if (i + AHEAD < count)
            fetch_rows(t, b->pair[i + AHEAD]);
        b->exact[i].weight = hn_pair_weight(pair);
        b->exact[i].value =
            hn_dot_exact(hn_row(&t->x, hn_pair_row(pair)), hn_row(&t->y, pair->col), t->x.cols);
    }
}

// Counts the band, chunk by chunk: b->first, count and above.
static void band_count(struct hn_context *ctx, const struct hn_close_pairs *p, struct band *b) {
    int64_t above = 0;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) reduction(+ : above)
    for (int64_t c = 0; c < p->chunks; c++) {
        const struct hn_close_pair *pair = p->pool + c * HN_CLOSE_CHUNK;
        int64_t count = 0;
        for (int64_t e = 0; e < p->used[c]; e++) {
            bool in = in_band(b, &pair[e]);
            count += in;
            above += !in && (double)pair[e].score > b->centre ? hn_pair_weight(&pair[e]) : 0;
        }
        b->first[c + 1] = count;
    }
    b->above = p->sure + above;
    b->first[0] = 0;
    for (int64_t c = 0; c < p->chunks; c++)
        b->first[c + 1] += b->first[c];
    b->count = b->first[p->chunks];
}

static enum hn_code band_fill(struct hn_context *ctx, const struct hn_threshold *t, double centre,
                              double width, struct band *b) {
    const struct hn_close_pairs *p = &t->pairs;
    *b = (struct band){.centre = centre, .width = width};
    if (!HN_ALLOC(ctx, b->first, p->chunks + 1))
        return ctx->code;
    band_count(ctx, p, b);
    if (!HN_ALLOC(ctx, b->exact, b->count) || !HN_ALLOC(ctx, b->sorted, b->count) ||
        !HN_ALLOC(ctx, b->pair, b->count))
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t c = 0; c < p->chunks; c++) {
        const struct hn_close_pair *pair = p->pool + c * HN_CLOSE_CHUNK;
        int64_t position = b->first[c];
        for (int64_t e = 0; e < p->used[c]; e++)
            if (in_band(b, &pair[e]))
                b->pair[position++] = &pair[e];
    }
    band_score(ctx, t, b);
    return HN_OK;
}

static int descending(const void *a, const void *b) {
    double x = ((const struct exact *)a)->value, y = ((const struct exact *)b)->value;
    return (x < y) - (x > y);
}

// *value: the exact product at position `rank` from the top of all that is collected, if it lies
// within `slack` of the centre; whether it does.
static bool band_select(const struct band *b, int64_t rank, double slack, double *value) {
    int64_t left = rank - b->above, candidates = 0;
    for (int64_t i = 0; i < b->count; i++) {
        double from = b->exact[i].value - b->centre;
        if (from > slack)
            left -= b->exact[i].weight;
        else if (from >= -slack)
            b->sorted[candidates++] = b->exact[i];
    }
    if (left < 1)
        return false;
    qsort(b->sorted, (size_t)candidates, sizeof *b->sorted, descending);
    for (int64_t i = 0; i < candidates; i++) {
        *value = b->sorted[i].value;
        left -= b->sorted[i].weight;
        if (left <= 0)
            return true;
    }
    return false;
}

// Keeps the close pairs above t->value, moved to the front of their chunks.
static void keep_above(struct hn_context *ctx, struct hn_threshold *t, const struct band *b) {
    struct hn_close_pairs *p = &t->pairs;
    int64_t count = 0;
#pragma omp parallel for num_threads(ctx->threads) schedule(static) reduction(+ : count)
    for (int64_t c = 0; c < p->chunks; c++) {
        struct hn_close_pair *pair = p->pool + c * HN_CLOSE_CHUNK;
        int64_t kept = 0, next = b->first[c];
        for (int64_t e = 0; e < p->used[c]; e++) {
            bool above = in_band(b, &pair[e]) ? b->exact[next++].value > t->value
                                              : (double)pair[e].score > b->centre;
            pair[kept] = pair[e];
            kept += above;
            count += above ? hn_pair_weight(&pair[e]) : 0;
        }
        p->used[c] = kept;
    }
    t->count = p->sure + count;
}

// Selects the pairs above a given value; *found is false if there was no space for all.
static enum hn_code select_given(struct hn_context *ctx, struct hn_threshold *t, bool *found) {
    struct band band;
    *found = !t->pairs.overflow;
    if (!*found)
        return HN_OK;
    HN_SCOPE(ctx);
    if (band_fill(ctx, t, t->value, t->bound, &band))
        return ctx->code;
    keep_above(ctx, t, &band);
    return HN_OK;
}

// A sorted list of exact products lies position by position within the bound of the sorted floats,
// and mostly much nearer. With `wanted` the float at the wanted position, exact products of all
// pairs within bound + slack of it settle the matter if their result is within slack of it: none of
// the others can be on the wrong side. A slack of one bound always does.
static enum hn_code settle(struct hn_context *ctx, struct hn_threshold *t, double wanted,
                           int64_t rank, double slack, bool *settled) {
    double bound = t->bound;
    struct band band;
    HN_SCOPE(ctx);
    if (band_fill(ctx, t, wanted, bound + slack, &band))
        return ctx->code;
    *settled = band_select(&band, rank, slack < bound ? slack : INFINITY, &t->value);
    if (*settled && t->value >= t->low)
        keep_above(ctx, t, &band);
    return HN_OK;
}

// *found: whether the wanted product is among the close ones; then the selection is done. It is
// certain only from `low` on: below, not everything was collected; and where none of the sure ones
// is near.
static enum hn_code select_quantile(struct hn_context *ctx, struct hn_threshold *t, bool *found) {
    const struct hn_close_pairs *p = &t->pairs;
    double bound = t->bound;
    int64_t rank = wanted_rank(t->x.rows, t->quantile);
    bool settled = *found = false;
    if (p->overflow)
        return HN_OK;
    t->all_close = p->sure >= rank;
    if (t->all_close || p->sure + p->close < rank)
        return HN_OK;
    double wanted = (double)kth_largest(t, tally_close, rank - p->sure);
    t->all_close = (double)p->high <= wanted + 2 * bound;
    if (t->all_close)
        return HN_OK;
    for (double slack = bound / 16; !settled; slack *= 16) {
        enum hn_code code = settle(ctx, t, wanted, rank, slack, &settled);
        if (code)
            return code;
    }
    *found = t->value >= t->low;
    return HN_OK;
}

static enum hn_code fail_crowd(struct hn_context *ctx, const struct hn_threshold *t) {
    return hn_fail(
        ctx, HN_DATA,
        "more than %lld of the %lld inner products lie above the threshold, or too close "
        "to it for floats to decide: many items are almost the same, as in a "
        "collapsed representation; leave this step out, or use another sampler",
        (long long)hn_max(t->pairs.capacity, t->pairs.close_capacity),
        (long long)(t->x.rows * (t->x.rows - 1)));
}

// After a sweep that did not do: more capacity, up to a limit, a lower value, or no guess above.
static enum hn_code aim_again(struct hn_context *ctx, struct hn_threshold *t) {
    int64_t m = t->x.rows * (t->x.rows - 1);
    int64_t capacity = hn_max(t->pairs.capacity, t->pairs.close_capacity);
    int64_t limit = hn_min(m, t->foreseen + (t->crowd > 0 ? t->crowd : CROWD));
    bool overflow = t->pairs.overflow;
    if (overflow && hn_min(t->pairs.capacity, t->pairs.close_capacity) >= limit)
        return fail_crowd(ctx, t);
    hn_close_pairs_free(ctx, &t->pairs);
    t->capacity = !overflow ? 0 : capacity > limit / 8 ? limit : 8 * capacity;
    if (!overflow && !t->all_close)
        t->rank = 4 * t->rank + HN_THRESHOLD_MARGIN * HN_THRESHOLD_MARGIN;
    aim(t);
    return HN_OK;
}

enum hn_code hn_threshold_plan(struct hn_context *ctx, struct hn_threshold *t, int pass,
                               struct hn_sweep *sweep, struct hn_work *work) {
    bool found = false;
    enum hn_code code = pass == 0  ? begin(ctx, t, work)
                        : t->given ? select_given(ctx, t, &found)
                                   : select_quantile(ctx, t, &found);
    if (!code && !found && pass > 0)
        code = aim_again(ctx, t);
    if (code || found)
        return code;
    t->passes++;
    sweep->x = t->x;
    sweep->y = t->y;
    hn_sweep_add(sweep, &hn_close_pairs_sink, &t->pairs, HN_SIDE_ROWS);
    return HN_OK;
}

void hn_threshold_free(struct hn_context *ctx, struct hn_threshold *t) {
    hn_close_pairs_free(ctx, &t->pairs);
    hn_free(ctx, t->sample);
    hn_free(ctx, t->bins);
    *t = (struct hn_threshold){0};
}
