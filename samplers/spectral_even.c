// SPDX-License-Identifier: GPL-3.0-or-later
// k-means, of which only what has changed is computed again: an item's distances are summed in the
// order of its row, so that they are the same whenever they are.
#include "samplers/spectral_even.h"

#include "core/clones.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32 }; // items whose distances are computed at a time

struct hn_even_match {
    double distance;
    int32_t item, cluster;
};

enum hn_code hn_even_open(struct hn_context *ctx, int64_t m, int64_t k, struct hn_even *e) {
    *e = (struct hn_even){.m = m, .k = k, .lanes = (m + LANES - 1) / LANES * LANES};
    bool good = HN_ALLOC_ROWS(ctx, e->row, k, m) &&
                (e->across = hn_zalloc(ctx, k * e->lanes, sizeof *e->across)) &&
                HN_ALLOC_ROWS(ctx, e->centroid, k, k) && HN_ALLOC_ROWS(ctx, e->sum, k, k) &&
                HN_ALLOC_ROWS(ctx, e->best, k, k) && HN_ALLOC(ctx, e->far, m) &&
                HN_ALLOC_ROWS(ctx, e->squared, k, e->lanes) && HN_ALLOC(ctx, e->nearest, m) &&
                HN_ALLOC(ctx, e->last, m) && HN_ALLOC(ctx, e->changed, k) &&
                HN_ALLOC(ctx, e->size, k) && HN_ALLOC_ROWS(ctx, e->match, m, k) &&
                HN_ALLOC(ctx, e->cluster, m);
    return good ? HN_OK : ctx->code;
}

void hn_even_set(const struct hn_even *e, int64_t item, int64_t c, double value) {
    e->row[item * e->k + c] = e->across[c * e->lanes + item] = value;
}

// squared[n]: distances to a centroid. across: column i is an item's row of k, n in whole LANES.
HN_CLONES
static void measure(const double *restrict across, int64_t n, const double *restrict centroid,
                    int64_t k, double *restrict squared) {
    for (int64_t i = 0; i < n; i += LANES) {
        double sum[LANES] = {0};
        for (int64_t c = 0; c < k; c++)
#pragma omp simd
            for (int l = 0; l < LANES; l++) {
                double gap = across[c * n + i + l] - centroid[c];
                sum[l] += gap * gap;
            }
        memcpy(squared + i, sum, sizeof sum);
    }
}

static double *squared_of(const struct hn_even *e, int64_t c) { return e->squared + c * e->lanes; }

static void measure_one(const struct hn_even *e, const double *centroid, int64_t c) {
    measure(e->across, e->lanes, centroid + c * e->k, e->k, squared_of(e, c));
}

// Items that are nearer to centroid c than to those before it become its own.
HN_CLONES
static void approach(const double *restrict squared, int64_t m, int32_t c, double *restrict far,
                     int32_t *restrict nearest) {
    for (int64_t i = 0; i < m; i++) {
        bool nearer = squared[i] < far[i];
        far[i] = nearer ? squared[i] : far[i];
        nearest[i] = nearer ? c : nearest[i];
    }
}

static void leave_all(const struct hn_even *e) {
    for (int64_t i = 0; i < e->m; i++) {
        e->far[i] = INFINITY;
        e->nearest[i] = 0;
    }
}

// Sum of squared distances to the nearest centroids.
static double total_of(const struct hn_even *e) {
    double total = 0;
    for (int64_t i = 0; i < e->m; i++)
        total += e->far[i];
    return total;
}

// Items to their nearest centroids, of which the changed ones are elsewhere now. Returns whether
// any item went to another.
static bool assign(struct hn_even *e) {
    int32_t *last = e->nearest;
    bool moved = false;
    e->nearest = e->last;
    e->last = last;
    leave_all(e);
    for (int32_t c = 0; c < e->k; c++) {
        if (e->changed[c])
            measure_one(e, e->centroid, c);
        approach(squared_of(e, c), e->m, c, e->far, e->nearest);
    }
    memset(e->changed, 0, (size_t)e->k * sizeof *e->changed);
    for (int64_t i = 0; i < e->m; i++)
        if (e->nearest[i] != last[i])
            moved = e->changed[e->nearest[i]] = e->changed[last[i]] = true;
    return moved;
}

HN_CLONES
static void add_row(double *restrict sum, const double *restrict row, int64_t k) {
    for (int64_t c = 0; c < k; c++)
        sum[c] += row[c];
}

// Centroids of other items than before become their means; one without any stays.
static void average(const struct hn_even *e) {
    int64_t k = e->k;
    memset(e->sum, 0, (size_t)(k * k) * sizeof *e->sum);
    memset(e->size, 0, (size_t)k * sizeof *e->size);
    for (int64_t i = 0; i < e->m; i++) {
        int32_t a = e->nearest[i];
        e->size[a]++;
        if (e->changed[a])
            add_row(e->sum + a * k, e->row + i * k, k);
    }
    for (int64_t a = 0; a < k; a++)
        for (int64_t c = 0; c < k && e->changed[a] && e->size[a] > 0; c++)
            e->centroid[a * k + c] = e->sum[a * k + c] / e->size[a];
}

// k-means++ (Arthur and Vassilvitskii, SODA 2007): each next centroid is an item with probability
// in its squared distance to those before. Items are at their nearest ones then.
static void seed(const struct hn_even *e, struct hn_stream *stream) {
    int64_t k = e->k, m = e->m, item = hn_stream_below(stream, (uint32_t)m);
    leave_all(e);
    for (int32_t c = 0; c < k; c++) {
        memcpy(e->centroid + c * k, e->row + item * k, (size_t)k * sizeof *e->row);
        measure_one(e, e->centroid, c);
        approach(squared_of(e, c), m, c, e->far, e->nearest);
        double left = hn_stream_uniform(stream) * total_of(e);
        for (item = 0; item + 1 < m && left >= e->far[item]; item++)
            left -= e->far[item];
    }
    memset(e->changed, true, (size_t)k * sizeof *e->changed);
}

void hn_even_cluster(struct hn_even *e, int64_t starts, int64_t iterations,
                     struct hn_stream *stream) {
    double min = INFINITY;
    for (int64_t start = 0; start < starts; start++) {
        bool moved = true;
        seed(e, stream);
        for (int64_t t = 0; t < iterations && moved; t++) {
            average(e);
            moved = assign(e);
        }
        double total = total_of(e);
        if (total < min) {
            min = total;
            memcpy(e->best, e->centroid, (size_t)(e->k * e->k) * sizeof *e->best);
        }
    }
}

static int by_distance(const void *a, const void *b) {
    const struct hn_even_match *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->item != y->item ? x->item - y->item : x->cluster - y->cluster;
}

void hn_even_fill(struct hn_even *e) {
    int64_t k = e->k, m = e->m, each = m / k;
    for (int64_t c = 0; c < k; c++)
        measure_one(e, e->best, c);
    for (int64_t i = 0; i < m; i++) {
        e->nearest[i] = -1;
        for (int64_t c = 0; c < k; c++)
            e->match[i * k + c] =
                (struct hn_even_match){squared_of(e, c)[i], (int32_t)i, (int32_t)c};
    }
    qsort(e->match, (size_t)(m * k), sizeof *e->match, by_distance);
    memset(e->size, 0, (size_t)k * sizeof *e->size);
    for (int64_t a = 0; a < m * k; a++) {
        const struct hn_even_match *match = &e->match[a];
        int32_t c = match->cluster;
        if (e->nearest[match->item] >= 0 || e->size[c] == each)
            continue;
        e->nearest[match->item] = c;
        e->cluster[c * each + e->size[c]++] = match->item;
    }
}
