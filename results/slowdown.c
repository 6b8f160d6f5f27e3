// SPDX-License-Identifier: GPL-3.0-or-later
// The gate on times: a pair counts as slower if (1) a one-sided test, corrected by Holm for the
// family, rejects at alpha, and (2) the medians differ by more than the least slowdown that is
// asked for, as a share and in seconds. The test bounds false alarms, the effect keeps what is
// significant and trifling from failing a build. The bootstrap interval is for the reader, it
// decides nothing. Measured rates of both kinds of error: tests/results/test_slowdown.c,
// docs/reference/compare.md.

#include "results/slowdown.h"

#include "core/random.h"
#include "core/rank_tests.h"
#include "core/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

enum { RESAMPLES = 1000 };

enum hn_code hn_sample_median(struct hn_context *ctx, struct hn_samples s, double *median) {
    HN_SCOPE(ctx);
    double *copy = hn_alloc(ctx, s.n, sizeof *copy);
    if (!copy)
        return ctx->code;
    if (s.n > 0)
        memcpy(copy, s.value, (size_t)s.n * sizeof *copy);
    *median = hn_median(copy, s.n);
    return HN_OK;
}

int hn_time_size(double seconds) {
    static const double above[HN_TIME_SIZES - 1] = {1e-5, 1e-3};
    int size = 0;
    while (size < HN_TIME_SIZES - 1 && seconds >= above[size])
        size++;
    return size;
}

// Mean and sum of squares about it of the logarithms of a sample.
struct logs {
    double mean, squares;
};

static struct logs logs_of(struct hn_samples s) {
    struct logs out = {0, 0};
    for (int64_t i = 0; i < s.n; i++) { // Welford
        double x = log(s.value[i]), away = x - out.mean;
        out.mean += away / (double)(i + 1);
        out.squares += away * (x - out.mean);
    }
    return out;
}

// A pair at work. base, now: medians.
struct judged {
    double base, now, faster;
    struct logs of_base, of_now;
    double freedom; // degrees of it; 0 or less: no spread is known
    int size;
};

// Variance of the logarithms pooled over the pairs of each size.
static void pool(const struct judged *j, int64_t n, double variance[HN_TIME_SIZES]) {
    double freedom[HN_TIME_SIZES] = {0};
    memset(variance, 0, HN_TIME_SIZES * sizeof *variance);
    for (int64_t i = 0; i < n; i++)
        if (j[i].freedom > 0 && isfinite(j[i].of_base.squares + j[i].of_now.squares)) {
            variance[j[i].size] += j[i].of_base.squares + j[i].of_now.squares;
            freedom[j[i].size] += j[i].freedom;
        }
    for (int size = 0; size < HN_TIME_SIZES; size++)
        variance[size] /= fmax(freedom[size], 1);
}

static void student(const struct hn_time_pair *pair, struct judged *j, double pooled,
                    struct hn_time_verdict *v) {
    v->p = j->faster = NAN;
    double own = (j->of_base.squares + j->of_now.squares) / j->freedom;
    double apart = j->of_now.mean - j->of_base.mean;
    if (!(j->freedom > 0) || !isfinite(apart))
        return;
    double error = sqrt(fmax(own, pooled) * (1 / (double)pair->base.n + 1 / (double)pair->now.n));
    double t = error > 0 ? apart / error : apart * INFINITY;
    t = isnan(t) ? 0 : t; // neither differs nor varies
    v->p = gsl_cdf_tdist_Q(t, j->freedom);
    j->faster = gsl_cdf_tdist_P(t, j->freedom);
}

static enum hn_code open_judged(struct hn_context *ctx, const struct hn_time_pair *pair,
                                struct judged *j) {
    j->freedom = (double)(pair->base.n + pair->now.n - 2);
    j->of_base = logs_of(pair->base);
    j->of_now = logs_of(pair->now);
    if (hn_sample_median(ctx, pair->base, &j->base) || hn_sample_median(ctx, pair->now, &j->now))
        return ctx->code;
    if (pair->base.n == 0 || pair->now.n == 0)
        j->freedom = 0;
    j->size = hn_time_size(j->base);
    return HN_OK;
}

static enum hn_code test_all(struct hn_context *ctx, const struct hn_time_pair *pair, int64_t n,
                             enum hn_time_unit unit, struct judged *j,
                             struct hn_time_verdict *verdict) {
    double pooled[HN_TIME_SIZES];
    for (int64_t i = 0; i < n; i++)
        if (open_judged(ctx, &pair[i], &j[i]))
            return ctx->code;
    pool(j, n, pooled);
    for (int64_t i = 0; i < n; i++) {
        double ratio = j[i].base > 0 ? j[i].now / j[i].base : NAN;
        verdict[i] = (struct hn_time_verdict){.ratio = ratio};
        if (unit == HN_TIME_PROCESSES)
            student(&pair[i], &j[i], pooled[j[i].size], &verdict[i]);
        else if (hn_mann_whitney(ctx, pair[i].base, pair[i].now, &verdict[i].p) ||
                 hn_mann_whitney(ctx, pair[i].now, pair[i].base, &j[i].faster))
            return ctx->code;
    }
    return HN_OK;
}

enum hn_code hn_time_gate(struct hn_context *ctx, const struct hn_time_pair *pair, int64_t n,
                          enum hn_time_unit unit, double alpha, struct hn_time_verdict *verdict) {
    HN_SCOPE(ctx);
    double *slower = hn_alloc(ctx, n, sizeof *slower), *faster = hn_alloc(ctx, n, sizeof *faster);
    struct judged *j = hn_zalloc(ctx, n, sizeof *j);
    if (!slower || !faster || !j || test_all(ctx, pair, n, unit, j, verdict))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        slower[i] = verdict[i].p;
        faster[i] = j[i].faster;
    }
    if (hn_holm(ctx, slower, n) || hn_holm(ctx, faster, n))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        struct hn_time_verdict *v = &verdict[i];
        bool counts = fabs(j[i].now - j[i].base) > pair[i].min_seconds;
        v->holm = slower[i];
        v->slower = counts && v->holm <= alpha && v->ratio > 1 + pair[i].min;
        v->faster = counts && faster[i] <= alpha && v->ratio < 1 / (1 + pair[i].min);
    }
    return HN_OK;
}

// Median of n values drawn with replacement; scratch[n].
static double resampled(struct hn_stream *stream, struct hn_samples s, double *scratch) {
    for (int64_t i = 0; i < s.n; i++)
        scratch[i] = s.value[hn_stream_below(stream, (uint32_t)s.n)];
    return hn_median(scratch, s.n);
}

enum hn_code hn_median_ratio(struct hn_context *ctx, struct hn_samples base, struct hn_samples now,
                             double level, int64_t index, struct hn_interval *out) {
    double from = NAN, to = NAN;
    *out = (struct hn_interval){NAN, NAN, NAN};
    if (hn_sample_median(ctx, base, &from) || hn_sample_median(ctx, now, &to))
        return ctx->code;
    out->mean = from > 0 ? to / from : NAN;
    if (base.n < 2 || now.n < 2 || base.n > INT32_MAX || now.n > INT32_MAX || isnan(out->mean))
        return HN_OK;
    HN_SCOPE(ctx);
    double *scratch, *ratio;
    if (!HN_ALLOC(ctx, scratch, hn_max(base.n, now.n)) || !HN_ALLOC(ctx, ratio, RESAMPLES))
        return ctx->code;
    struct hn_stream stream;
    hn_stream_open(&stream, 0, "slowdown.bootstrap", 0, 0, index);
    for (int i = 0; i < RESAMPLES; i++) {
        double below = resampled(&stream, base, scratch);
        ratio[i] = resampled(&stream, now, scratch) / below;
    }
    out->lo = hn_quantile(ratio, RESAMPLES, (1 - level) / 2);
    out->hi = hn_quantile(ratio, RESAMPLES, (1 + level) / 2);
    return HN_OK;
}

enum hn_code hn_split_noise(struct hn_context *ctx, struct hn_samples s, double *noise) {
    *noise = NAN;
    if (s.n < 4)
        return HN_OK;
    int64_t odd = s.n / 2, even = s.n - odd;
    HN_SCOPE(ctx);
    double *half = hn_alloc(ctx, s.n, sizeof *half);
    if (!half)
        return ctx->code;
    for (int64_t i = 0; i < s.n; i++)
        half[i % 2 ? even + i / 2 : i / 2] = s.value[i];
    double a = hn_median(half, even), b = hn_median(half + even, odd);
    if (a > 0)
        *noise = fabs(b / a - 1) / M_SQRT2; // halves are noisier than the whole
    return HN_OK;
}
