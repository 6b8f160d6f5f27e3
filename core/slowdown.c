// The gate on times: a pair counts as slower if (1) the one-sided Mann-Whitney test, corrected by
// Holm for the family, rejects at alpha, and (2) the medians differ by more than the least slowdown
// that is asked for. The test bounds false alarms, the effect keeps what is significant and
// trifling from failing a build. The bootstrap interval is for the reader, it decides nothing.
// Measured rates of both kinds of error: tests/core/test_slowdown.c, docs/reference/compare.md.
#include "core/slowdown.h"
#include "core/random.h"

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

static enum hn_code judge(struct hn_context *ctx, const struct hn_time_pair *pair,
                          struct hn_time_verdict *v, double *faster) {
    double base = NAN, now = NAN;
    *v = (struct hn_time_verdict){.ratio = NAN, .p = NAN, .holm = NAN};
    if (hn_sample_median(ctx, pair->base, &base) || hn_sample_median(ctx, pair->now, &now) ||
        hn_mann_whitney(ctx, pair->base, pair->now, &v->p) ||
        hn_mann_whitney(ctx, pair->now, pair->base, faster))
        return ctx->code;
    v->ratio = base > 0 ? now / base : NAN;
    v->holm = v->p;
    return HN_OK;
}

enum hn_code hn_time_gate(struct hn_context *ctx, const struct hn_time_pair *pair, int64_t n,
                          double alpha, struct hn_time_verdict *verdict) {
    HN_SCOPE(ctx);
    double *slower = hn_alloc(ctx, n, sizeof *slower), *faster = hn_alloc(ctx, n, sizeof *faster);
    if (!slower || !faster)
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        if (judge(ctx, &pair[i], &verdict[i], &faster[i]))
            return ctx->code;
        slower[i] = verdict[i].p;
    }
    if (hn_holm(ctx, slower, n) || hn_holm(ctx, faster, n))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        struct hn_time_verdict *v = &verdict[i];
        v->holm = slower[i];
        v->slower = v->holm <= alpha && v->ratio > 1 + pair[i].min;
        v->faster = faster[i] <= alpha && v->ratio < 1 / (1 + pair[i].min);
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
    double *scratch = hn_alloc(ctx, hn_max(base.n, now.n), sizeof *scratch);
    double *ratio = hn_alloc(ctx, RESAMPLES, sizeof *ratio);
    if (!scratch || !ratio)
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

double hn_quantile(double *value, int64_t n, double q) {
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(value[i]))
            value[kept++] = value[i];
    if (kept == 0)
        return NAN;
    gsl_sort(value, 1, (size_t)kept);
    return gsl_stats_quantile_from_sorted_data(value, 1, (size_t)kept, q);
}
