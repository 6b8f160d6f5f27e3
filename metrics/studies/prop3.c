// SPDX-License-Identifier: GPL-3.0-or-later
// HC proposition 3: tilted by beta, true negatives tend to the hardest one.
//
// For an anchor x and its true negatives (items of another label), with s their cosines:
//
//   q_beta proportional to e^(beta s / tau)
//   ratio(beta) = E_{q_beta}[e^(s / tau)] / max e^(s / tau)
//               = sum e^((beta + 1) s / tau) / (sum e^(beta s / tau) * e^(max s / tau))
//
// in (0, 1]; the proposition says that it tends to 1. It does so monotonely for every anchor: the
// derivative of the expectation is a covariance of two increasing functions of s. beta = 0 is the
// uniform distribution over true negatives, as in debiased losses without hardness. Sums are taken
// relative to the maximum, in double, over exact products: at beta = 64 a float's rounding would
// show.
//
// Deviation: q_beta is that of the loss (docs/reference/methods.md), beta times s / tau, as in HC's
// code; the anchors are a random sample, drawn by seed (all of them if there are no more).
#include "core/random.h"
#include "core/stats.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

struct params {
    int64_t anchors;
};

static const double betas[] = {0, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64};
enum { BETAS = sizeof betas / sizeof betas[0] };
enum { RATIO, EXPECTATION, COSINE, VALUES }; // of an anchor at one beta

struct work {
    const struct hn_study_env *env;
    int32_t *anchor; // [n] those that have a true negative come first
    int64_t anchors;
    double *cosine; // [threads x n] of the true negatives
    double *value;  // [anchors x BETAS x VALUES]
    double *max;    // [anchors]
};

// An anchor needs a label, and a labelled item of another one.
static int64_t find_anchors(const struct hn_items *items, int32_t *anchor) {
    int64_t n = 0;
    bool several = false;
    for (int64_t i = 0; i < items->n; i++)
        if (items->labels[i] >= 0) {
            anchor[n] = (int32_t)i;
            several |= items->labels[i] != items->labels[anchor[0]];
            n++;
        }
    return several ? n : 0;
}

// Cosines of an anchor's true negatives into cosine[]; their number.
static int64_t true_negatives(const struct hn_items *items, int32_t a, double *cosine) {
    int64_t n = 0;
    for (int64_t j = 0; j < items->n; j++)
        if (items->labels[j] >= 0 && items->labels[j] != items->labels[a])
            cosine[n++] = hn_dot_exact(hn_row(&items->x, a), hn_row(&items->x, j), items->d);
    return n;
}

static void measure_anchor(const double *cosine, int64_t n, double tau, double *max,
                           double *value) {
    double high = cosine[0];
    for (int64_t j = 1; j < n; j++)
        high = fmax(high, cosine[j]);
    for (int b = 0; b < BETAS; b++, value += VALUES) {
        double mass = 0, tilted = 0, weighted = 0;
        for (int64_t j = 0; j < n; j++) {
            double below = (cosine[j] - high) / tau, weight = exp(betas[b] * below);
            mass += weight;
            tilted += weight * exp(below);
            weighted += weight * cosine[j];
        }
        value[RATIO] = tilted / mass;
        value[EXPECTATION] = tilted / mass * exp(high / tau);
        value[COSINE] = weighted / mass;
    }
    *max = high;
}

static void measure_all(const struct hn_context *ctx, struct work *w, double tau, int64_t from,
                        int64_t to) {
    const struct hn_items *items = w->env->items;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 4)
    for (int64_t i = from; i < to; i++) {
        double *cosine = w->cosine + (int64_t)omp_get_thread_num() * items->n;
        int64_t n = true_negatives(items, w->anchor[i], cosine);
        measure_anchor(cosine, n, tau, &w->max[i], w->value + i * BETAS * VALUES);
    }
}

static double mean(const double *value, int64_t stride, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += value[i * stride];
    return sum / (double)n;
}

// Share of the anchors whose ratio is no lower than at the beta before, but for rounding.
static double rising(const struct work *w, int b) {
    int64_t count = 0;
    for (int64_t i = 0; i < w->anchors; i++) {
        const double *value = w->value + i * BETAS * VALUES + (int64_t)b * VALUES;
        count += value[RATIO] >= value[RATIO - VALUES] * (1 - 1e-12);
    }
    return (double)count / (double)w->anchors;
}

static enum hn_code add_rows(struct hn_context *ctx, const struct work *w, double tau,
                             struct hn_table *table) {
    enum { STRIDE = BETAS * VALUES };
    double worst = 0;
    for (int64_t i = 0; i < w->anchors; i++)
        worst += exp(w->max[i] / tau) / (double)w->anchors;
    for (int b = 0; b < BETAS; b++) {
        const double *value = w->value + (int64_t)b * VALUES;
        struct hn_interval ratio = hn_mean_interval(value + RATIO, STRIDE, w->anchors, 0.95);
        double low = 1;
        for (int64_t i = 0; i < w->anchors; i++)
            low = fmin(low, value[i * STRIDE + RATIO]);
        if (HN_TABLE_PUT(
                ctx, table, HN_REAL_VALUE("temperature", tau), HN_REAL_VALUE("beta", betas[b]),
                HN_INT_VALUE("anchors", w->anchors), HN_REAL_VALUE("ratio", ratio.mean),
                HN_REAL_VALUE("ratio_lo", ratio.lo), HN_REAL_VALUE("ratio_hi", ratio.hi),
                HN_REAL_VALUE("ratio_min", low), HN_REAL_VALUE("rising", b ? rising(w, b) : NAN),
                HN_REAL_VALUE("expectation", mean(value + EXPECTATION, STRIDE, w->anchors)),
                HN_REAL_VALUE("worst", worst),
                HN_REAL_VALUE("cos_mean", mean(value + COSINE, STRIDE, w->anchors)),
                HN_REAL_VALUE("cos_max", mean(w->max, 1, w->anchors))))
            return ctx->code;
    }
    return HN_OK;
}

enum { LOOK = 256 }; // anchors between two looks at the stop flag

static enum hn_code measure(struct hn_context *ctx, struct work *w, struct hn_table *table) {
    for (int64_t t = 0; t < w->env->n_temperatures; t++) {
        double tau = w->env->temperature[t];
        for (int64_t from = 0; from < w->anchors; from += LOOK) {
            if (hn_check_stop(ctx))
                return ctx->code;
            measure_all(ctx, w, tau, from, hn_min(from + LOOK, w->anchors));
        }
        if (add_rows(ctx, w, tau, table))
            return ctx->code;
    }
    return HN_OK;
}

static enum hn_code run(struct hn_context *ctx, const void *p, const struct hn_study_env *env,
                        struct hn_table *table) {
    const struct params *params = p;
    int64_t n = env->items->n, capacity;
    struct work w = {.env = env};
    if (!HN_ALLOC(ctx, w.anchor, n))
        return ctx->code;
    int64_t found = find_anchors(env->items, w.anchor);
    struct hn_stream stream;
    hn_stream_open(&stream, (uint64_t)env->seed[0], "prop3.anchors", env->items->index, 0, 0);
    hn_stream_shuffle(&stream, w.anchor, found);
    w.anchors = params->anchors ? hn_min(found, params->anchors) : found;
    if (!hn_mul(w.anchors, BETAS * VALUES, &capacity))
        return hn_fail(ctx, HN_MEMORY, "prop3: too many anchors");
    if (found == 0)
        return hn_fail(ctx, HN_NOT_APPLICABLE, "prop3 needs labels of two classes at least");
    bool taken = HN_ALLOC(ctx, w.cosine, ctx->threads * n) && HN_ALLOC(ctx, w.value, capacity) &&
                 HN_ALLOC(ctx, w.max, w.anchors);
    return taken ? measure(ctx, &w, table) : HN_MEMORY;
}

static const char *const all[] = {"all", NULL};
static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, anchors, "anchors", "1000", 1, INT32_MAX,
                   "anchors, drawn at random, or all"),
     .choices = all},
    {0}};

static const struct hn_column columns[] = {
    {"temperature", HN_COLUMN_REAL, "1", "temperature of the loss", HN_NEITHER},
    {"beta", HN_COLUMN_REAL, "1", "concentration of q_beta", HN_NEITHER},
    {"anchors", HN_COLUMN_INT, "items", "anchors measured", HN_NEITHER},
    {"ratio", HN_COLUMN_REAL, "1", "expectation over q_beta / worst case, mean over anchors",
     HN_NEITHER},
    {"ratio_lo", HN_COLUMN_REAL, "1",
     "lower end of its 95 % interval over anchors; NaN of one anchor", HN_NEITHER},
    {"ratio_hi", HN_COLUMN_REAL, "1",
     "upper end of its 95 % interval over anchors; NaN of one anchor", HN_NEITHER},
    {"ratio_min", HN_COLUMN_REAL, "1", "the lowest of the anchors", HN_NEITHER},
    {"rising", HN_COLUMN_REAL, "1",
     "share of anchors no lower than at the beta before; NaN at the first", HN_NEITHER},
    {"expectation", HN_COLUMN_REAL, "1", "E over q_beta of e^(s / tau), mean over anchors",
     HN_NEITHER},
    {"worst", HN_COLUMN_REAL, "1", "largest e^(s / tau), mean over anchors", HN_NEITHER},
    {"cos_mean", HN_COLUMN_REAL, "1", "E over q_beta of the cosine, mean over anchors", HN_NEITHER},
    {"cos_max", HN_COLUMN_REAL, "1", "largest cosine, mean over anchors", HN_NEITHER},
};

const struct hn_study_type hn_study_prop3 = {
    .name = "prop3",
    .summary = "hardness of true negatives tilted by beta, against the hardest one",
    .source = "HC proposition 3",
    .note = "",
    .needs = HN_METRIC_NEEDS_LABELS | HN_METRIC_NEEDS_CLASSES,
    .uses = HN_STUDY_TEMPERATURES,
    .options = options,
    .params_size = sizeof(struct params),
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .run = run,
};
