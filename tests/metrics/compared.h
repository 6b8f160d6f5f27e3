// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of metrics.
#pragma once

#include "core/stats.h"
#include "tests/measured.h"
#include "tests/numpy_oracle.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <stdio.h>
#include <stdlib.h>

static inline struct hn_context context(void) {
    struct hn_context ctx;
    hn_context_init(&ctx, 2);
    return ctx;
}

// The oracle: everything from its definition, one pair at a time, in double.
struct oracle {
    const struct hn_items *items;
    const struct drawn *d;
    double tau;
    double *cosine; // [pairs] of all batches
    int64_t pairs;
    int64_t same, labelled;
    double start, starts;
    double hardest, anchors, hard_true, true_anchors, labelled_anchors;
    double weight, gap, gap_cols, loss, bound_36, bound_37, pos_prob;
    uint64_t histogram[HN_PAIR_KINDS * HN_HISTOGRAM_BINS];
};

static inline double dot(const struct hn_matrix *x, int32_t i, const struct hn_matrix *y,
                         int32_t j) {
    return hn_dot_exact(hn_row(x, i), hn_row(y, j), x->cols);
}

static inline double lse(const struct oracle *o, int32_t anchor, const int32_t *key, int32_t keys,
                         bool rows) {
    const struct hn_matrix *x = rows ? &o->items->x1 : &o->items->x2;
    const struct hn_matrix *y = rows ? &o->items->x2 : &o->items->x1;
    double high = -INFINITY, sum = 0;
    for (int32_t k = 0; k < keys; k++)
        high = fmax(high, dot(x, anchor, y, key ? key[k] : k));
    if (keys < 1)
        return -INFINITY;
    for (int32_t k = 0; k < keys; k++)
        sum += exp((dot(x, anchor, y, key ? key[k] : k) - high) / o->tau);
    return high / o->tau + log(sum);
}

static inline double extreme(const struct oracle *o, int32_t anchor, const int32_t *key,
                             int32_t keys, double sign) {
    double most = -INFINITY;
    for (int32_t k = 0; k < keys; k++)
        most = fmax(most, sign * dot(&o->items->x1, anchor, &o->items->x2, key ? key[k] : k));
    return sign * most;
}

static inline void oracle_gap(struct oracle *o, const int32_t *id, int32_t n, int32_t anchor) {
    int32_t all = (int32_t)o->items->n;
    double global = lse(o, anchor, NULL, all, true), train = lse(o, anchor, id, n, true);
    double positive = dot(&o->items->x1, anchor, &o->items->x2, anchor) / o->tau;
    double max = extreme(o, anchor, NULL, all, 1);
    o->weight++;
    o->gap += global - train;
    o->gap_cols += lse(o, anchor, NULL, all, false) - lse(o, anchor, id, n, false);
    o->loss += train - positive;
    o->pos_prob += exp(positive - train);
    o->bound_36 += (max - extreme(o, anchor, id, n, -1)) / o->tau + log((double)all / n);
    o->bound_37 += (max - extreme(o, anchor, id, n, 1)) / o->tau + log((double)all);
}

static inline void oracle_anchor(struct oracle *o, const int32_t *id, int32_t n, int32_t a) {
    const int32_t *label = o->items->labels;
    double high = -INFINITY, high_true = -INFINITY;
    bool labelled = false;
    for (int32_t b = 0; b < n; b++) {
        if (b == a)
            continue;
        double s = dot(&o->items->x, id[a], &o->items->x, id[b]);
        int32_t la = label[id[a]], lb = label[id[b]];
        high = fmax(high, s);
        o->labelled += la >= 0 && lb >= 0;
        labelled |= la >= 0 && lb >= 0;
        o->same += la >= 0 && la == lb;
        if (la >= 0 && lb >= 0 && la != lb)
            high_true = fmax(high_true, s);
        if (b < a)
            continue;
        int kind = la < 0 || lb < 0 ? HN_PAIR_UNLABELLED
                   : la == lb       ? HN_PAIR_FALSE_NEGATIVE
                                    : HN_PAIR_TRUE_NEGATIVE;
        o->histogram[kind * HN_HISTOGRAM_BINS + hn_cosine_bin((float)s, HN_HISTOGRAM_BINS)]++;
        o->cosine[o->pairs++] = s;
    }
    if (isfinite(high)) {
        o->hardest += high;
        o->anchors++;
    }
    if (isfinite(high_true)) {
        o->hard_true += high_true;
        o->true_anchors++;
    }
    o->labelled_anchors += labelled;
}

static inline void oracle_batch(struct oracle *o, int32_t b) {
    const int32_t *ids = o->d->ids + (int64_t)b * o->d->batch_size, *label = o->items->labels;
    int32_t id[64] = {0}, n = 0, same = 0, labelled = 0;
    CU_ASSERT_FATAL(o->d->batch_size <= 64);
    for (int32_t k = 0; k < o->d->size[b]; k++) {
        bool seen = false;
        for (int32_t a = 0; a < n; a++)
            seen |= id[a] == ids[k];
        if (!seen)
            id[n++] = ids[k];
    }
    for (int32_t a = 0; a < n; a++) {
        oracle_anchor(o, id, n, a);
        double s = dot(&o->items->x1, id[a], &o->items->x2, id[a]);
        o->histogram[HN_PAIR_POSITIVE * HN_HISTOGRAM_BINS +
                     hn_cosine_bin((float)s, HN_HISTOGRAM_BINS)]++;
        labelled += a > 0 && label[id[a]] >= 0;
        same += a > 0 && label[id[a]] == label[id[0]];
    }
    if (label[id[0]] >= 0 && labelled > 0) {
        o->start += (double)same / labelled;
        o->starts++;
    }
    for (int32_t k = 0; k < o->d->size[b]; k++)
        oracle_gap(o, id, n, ids[k]);
}

static inline void expect(const struct measured *m, const char *name, double wanted,
                          double tolerance) {
    double got = column_of(m, name);
    if (!(fabs(got - wanted) <= tolerance))
        fprintf(stderr, "    %s is %.12g, wanted %.12g\n", name, got, wanted);
    CU_ASSERT(fabs(got - wanted) <= tolerance);
}

static inline void compare_with_oracle(struct hn_context *ctx, const struct hn_items *items,
                                       const struct drawn *d, double tau) {
    struct oracle o = {.items = items, .d = d, .tau = tau};
    o.cosine = hn_alloc(ctx, (int64_t)d->count * d->batch_size * d->batch_size, sizeof(double));
    CU_ASSERT_PTR_NOT_NULL_FATAL(o.cosine);
    for (int32_t b = 0; b < d->count; b++)
        oracle_batch(&o, b);
    struct measured m = measure_all(ctx, items, d, tau);
    size_t pairs = (size_t)o.pairs;
    gsl_sort(o.cosine, 1, pairs);
    expect(&m, "fn_ratio", (double)o.same / (double)o.labelled, 1e-15);
    expect(&m, "fn_start", o.start / o.starts, 1e-13);
    expect(&m, "cos_mean", gsl_stats_mean(o.cosine, 1, pairs), 1e-6);
    // One bin, and the rounding of float products.
    double off = 0x1p-20 + hn_dot_bound(items->d);
    expect(&m, "cos_p50", gsl_stats_quantile_from_sorted_data(o.cosine, 1, pairs, 0.5), off);
    expect(&m, "cos_p90", gsl_stats_quantile_from_sorted_data(o.cosine, 1, pairs, 0.9), off);
    expect(&m, "cos_p99", gsl_stats_quantile_from_sorted_data(o.cosine, 1, pairs, 0.99), off);
    expect(&m, "hardest_mean", o.hardest / o.anchors, 1e-6);
    expect(&m, "hard_true_mean", o.hard_true / o.true_anchors, 1e-6);
    expect(&m, "true_anchors", o.true_anchors / o.labelled_anchors, 1e-15);
    expect(&m, "gap", o.gap / o.weight, 1e-6);
    expect(&m, "gap_cols", o.gap_cols / o.weight, 1e-6);
    expect(&m, "loss_train", o.loss / o.weight, 1e-6);
    expect(&m, "bound_36", o.bound_36 / o.weight, 1e-6);
    expect(&m, "bound_37", o.bound_37 / o.weight, 1e-6);
    expect(&m, "pos_prob", o.pos_prob / o.weight, 1e-6);
    // Exactly: counts do not depend on float products.
    CU_ASSERT_EQUAL(memcmp(m.arrays.histogram, o.histogram, sizeof o.histogram), 0);
    measured_free(ctx, &m);
    hn_free(ctx, o.cosine);
}
