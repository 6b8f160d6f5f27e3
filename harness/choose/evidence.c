// SPDX-License-Identifier: GPL-3.0-or-later
// Ratios of a setting's batches or seeds, with their intervals, and differences of two settings.
#include "harness/choose/evidence.h"

#include <math.h>
#include <string.h>

enum { FIELDS = sizeof(struct hn_evidence_batch) / sizeof(double) };

enum hn_code hn_evidence_add(struct hn_context *ctx, struct hn_evidence *e,
                             const struct hn_evidence_batch *batch, int64_t n, double seconds,
                             double dots) {
    if (e->seeds == HN_EVIDENCE_SEEDS)
        return hn_fail(ctx, HN_INTERNAL, "more than %d seeds of a setting", HN_EVIDENCE_SEEDS);
    if (hn_grow(ctx, &e->batch, &e->capacity, e->batches + n, sizeof *e->batch))
        return ctx->code;
    memcpy(e->batch + e->batches, batch, (size_t)n * sizeof *batch);
    e->batches += n;
    e->seconds[e->seeds] = seconds;
    e->dots[e->seeds] = dots;
    e->end[e->seeds++] = e->batches;
    return HN_OK;
}

static void by_seed(const struct hn_evidence *e, struct hn_evidence_batch sum[HN_EVIDENCE_SEEDS]) {
    memset(sum, 0, HN_EVIDENCE_SEEDS * sizeof *sum);
    for (int64_t s = 0, b = 0; s < e->seeds; s++)
        for (; b < e->end[s]; b++) {
            sum[s].same += e->batch[b].same;
            sum[s].labelled += e->batch[b].labelled;
            sum[s].hard += e->batch[b].hard;
            sum[s].counted += e->batch[b].counted;
        }
}

static struct hn_interval ratio(const struct hn_evidence *e, bool hard, enum hn_over by,
                                double level) {
    struct hn_evidence_batch sum[HN_EVIDENCE_SEEDS];
    const struct hn_evidence_batch *of = e->batch;
    int64_t n = e->batches;
    if (n == 0)
        return (struct hn_interval){NAN, NAN, NAN};
    if (by != HN_OVER_BATCHES) {
        by_seed(e, sum);
        of = sum;
        n = e->seeds;
    }
    return hard ? hn_ratio_interval(&of->hard, &of->counted, FIELDS, n, level)
                : hn_ratio_interval(&of->same, &of->labelled, FIELDS, n, level);
}

struct hn_interval hn_evidence_false(const struct hn_evidence *e, enum hn_over by, double level) {
    return ratio(e, false, by, level);
}

struct hn_interval hn_evidence_hard(const struct hn_evidence *e, enum hn_over by, double level) {
    return ratio(e, true, by, level);
}

// The ratio's linearisation: values whose mean is the ratio, and whose variance is that of
// hn_ratio_interval().
static void linearise(const struct hn_evidence_batch *batch, int64_t n, double *value) {
    double hard = 0, counted = 0;
    for (int64_t i = 0; i < n; i++) {
        hard += batch[i].hard;
        counted += batch[i].counted;
    }
    for (int64_t i = 0; i < n; i++)
        value[i] = hard / counted +
                   (batch[i].hard - hard / counted * batch[i].counted) / (counted / (double)n);
}

static bool corresponds(const struct hn_evidence *a, const struct hn_evidence *b, int64_t seeds) {
    for (int64_t s = 0; s < seeds; s++)
        if (a->end[s] != b->end[s])
            return false;
    return true;
}

static struct hn_interval unpaired(const double *a, int64_t n_a, const double *b, int64_t n_b,
                                   double level) {
    struct hn_interval x = hn_mean_interval(a, 1, n_a, level);
    struct hn_interval y = hn_mean_interval(b, 1, n_b, level);
    double mean = x.mean - y.mean, half = hypot(x.hi - x.mean, y.hi - y.mean);
    return (struct hn_interval){mean, mean - half, mean + half};
}

enum hn_code hn_evidence_difference(struct hn_context *ctx, const struct hn_evidence *a,
                                    const struct hn_evidence *b, enum hn_over by, double level,
                                    struct hn_interval *out) {
    HN_SCOPE(ctx);
    struct hn_evidence_batch sum_a[HN_EVIDENCE_SEEDS], sum_b[HN_EVIDENCE_SEEDS];
    int64_t seeds = hn_min(a->seeds, b->seeds), n_a = seeds, n_b = seeds;
    *out = (struct hn_interval){NAN, NAN, NAN};
    if (seeds == 0)
        return HN_OK;
    if (by == HN_OVER_BATCHES) {
        n_a = a->end[seeds - 1];
        n_b = b->end[seeds - 1];
    } else {
        by_seed(a, sum_a);
        by_seed(b, sum_b);
    }
    double *x = hn_alloc(ctx, n_a, sizeof *x), *y = hn_alloc(ctx, n_b, sizeof *y);
    if (!x || !y)
        return ctx->code;
    linearise(by == HN_OVER_SEEDS ? sum_a : a->batch, n_a, x);
    linearise(by == HN_OVER_SEEDS ? sum_b : b->batch, n_b, y);
    if (by == HN_OVER_BATCHES && !corresponds(a, b, seeds)) {
        *out = unpaired(x, n_a, y, n_b, level);
        return HN_OK;
    }
    for (int64_t i = 0; i < n_a; i++)
        x[i] -= y[i];
    *out = hn_mean_interval(x, 1, n_a, level);
    return HN_OK;
}

static double median_of(const double *value, int64_t n) {
    double copy[HN_EVIDENCE_SEEDS];
    memcpy(copy, value, (size_t)n * sizeof *copy);
    return hn_median(copy, n);
}

double hn_evidence_seconds(const struct hn_evidence *e) { return median_of(e->seconds, e->seeds); }
double hn_evidence_dots(const struct hn_evidence *e) { return median_of(e->dots, e->seeds); }
