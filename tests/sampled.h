// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of samplers: a sampler opened by name with options as text, and all batches of an
// epoch.
#pragma once

#include "samplers/sampler.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Owned: sampled_close().
struct sampled {
    struct hn_sampler sampler;
    void *params;
    int64_t batches;
    int32_t *size;      // [batches]
    int32_t *ids;       // [batches x batch_size]
    int64_t capacity;   // most negatives per anchor, 0 for samplers of batches
    int32_t *negatives; // [batches x batch_size]
    int32_t *negative;  // [batches x batch_size x capacity]
};

static inline enum hn_code sampled_set(struct hn_context *ctx, const struct hn_sampler_type *type,
                                       const char *settings, void *params) {
    char text[256];
    enum hn_code code = HN_OK;
    snprintf(text, sizeof text, "%s", settings ? settings : "");
    for (char *save, *word = strtok_r(text, " ", &save); word && !code;
         word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        code = hn_options_set(ctx, type->options, params, word, value);
    }
    return code;
}

// settings: "M=5 K=3", blank-separated; NULL or "" for defaults. They win over a preset's.
static inline enum hn_code sampled_params(struct hn_context *ctx,
                                          const struct hn_sampler_type *type, const char *settings,
                                          void *params) {
    enum hn_code code = hn_options_init(ctx, type->options, params);
    if (!code)
        code = sampled_set(ctx, type, settings, params);
    if (!code)
        code = hn_sampler_preset(ctx, type, params);
    return code ? code : sampled_set(ctx, type, settings, params);
}

// Batches [first, first + count) of the current epoch to their places in s->size and s->ids.
static inline enum hn_code sampled_some(struct hn_context *ctx, struct sampled *s, int64_t first,
                                        int64_t count) {
    struct hn_batches out = {.first = first,
                             .count = (int32_t)count,
                             .batch_size = s->sampler.batch_size,
                             .size = s->size + first,
                             .ids = s->ids + first * s->sampler.batch_size,
                             .capacity = s->capacity,
                             .negatives = s->negatives + first * s->sampler.batch_size,
                             .negative = s->negative + first * s->sampler.batch_size * s->capacity};
    return hn_sampler_next(ctx, &s->sampler, &out);
}

// Begins epoch `number` and draws all its batches at once.
static inline enum hn_code sampled_epoch(struct hn_context *ctx, struct sampled *s,
                                         const struct hn_items *items, int64_t number) {
    enum hn_code code = hn_sampler_epoch(ctx, &s->sampler, items, number, &s->batches);
    if (code)
        return code;
    hn_free(ctx, s->size);
    hn_free(ctx, s->ids);
    hn_free(ctx, s->negatives);
    hn_free(ctx, s->negative);
    int64_t places = s->batches * s->sampler.batch_size;
    s->capacity = hn_sampler_capacity(s->sampler.type, s->params, items->n);
    s->size = hn_alloc(ctx, s->batches, sizeof *s->size);
    s->ids = hn_alloc(ctx, places, sizeof *s->ids);
    s->negatives = hn_zalloc(ctx, places, sizeof *s->negatives);
    s->negative = hn_zalloc(ctx, places * s->capacity, sizeof *s->negative);
    bool taken = s->size && s->ids && s->negatives && s->negative;
    return taken ? sampled_some(ctx, s, 0, s->batches) : HN_MEMORY;
}

static inline void sampled_close(struct hn_context *ctx, struct sampled *s) {
    hn_sampler_close(ctx, &s->sampler);
    if (s->params)
        hn_options_free(ctx, s->sampler.type->options, s->params);
    hn_free(ctx, s->params);
    hn_free(ctx, s->size);
    hn_free(ctx, s->ids);
    hn_free(ctx, s->negatives);
    hn_free(ctx, s->negative);
    memset(s, 0, sizeof *s);
}

// Opens, builds on `items` and draws epoch 0. After a failure everything is closed.
static inline enum hn_code sampled_open(struct hn_context *ctx, const struct hn_sampler_type *type,
                                        const char *settings, const struct hn_items *items,
                                        int32_t batch_size, uint64_t seed, struct sampled *s) {
    memset(s, 0, sizeof *s);
    s->sampler.type = type;
    s->params = hn_zalloc(ctx, 1, type->params_size);
    if (!s->params)
        return ctx->code;
    enum hn_code code = sampled_params(ctx, type, settings, s->params);
    if (!code)
        code = hn_sampler_open(ctx, type, s->params, items->n, batch_size, seed, &s->sampler);
    if (!code)
        code = hn_sampler_build(ctx, &s->sampler, items, items->index);
    if (!code)
        code = sampled_epoch(ctx, s, items, 0);
    if (code)
        sampled_close(ctx, s);
    return code;
}

static inline const int32_t *sampled_batch(const struct sampled *s, int64_t b) {
    return s->ids + b * s->sampler.batch_size;
}

// Negatives of the anchor at place p of the epoch.
static inline const int32_t *sampled_negatives(const struct sampled *s, int64_t p) {
    return s->negative + p * s->capacity;
}

// Inner product by the definition, in double.
static inline double naive_dot(const float *x, const float *y, int64_t d) {
    double sum = 0;
    for (int64_t k = 0; k < d; k++)
        sum += (double)x[k] * (double)y[k];
    return sum;
}

// By descending score, then ascending id.
struct other {
    double score;
    int32_t id;
};

static inline int nearer(const void *a, const void *b) {
    const struct other *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->id - y->id;
}

// Sorts ids[m] by descending inner product with item v, then ascending id.
static inline void naive_sort(const struct hn_matrix *x, int32_t v, int32_t *ids, int64_t m) {
    struct other *other = malloc((size_t)m * sizeof *other);
    CU_ASSERT_PTR_NOT_NULL_FATAL(other);
    for (int64_t i = 0; i < m; i++)
        other[i] = (struct other){naive_dot(hn_row(x, v), hn_row(x, ids[i]), x->cols), ids[i]};
    qsort(other, (size_t)m, sizeof *other, nearer);
    for (int64_t i = 0; i < m; i++)
        ids[i] = other[i].id;
    free(other);
}

// Whether a chi-square statistic with `dof` degrees of freedom is as probable as what lies within
// three standard deviations of a normal law. Prints it if not.
static inline bool chi_square_fits(double statistic, double dof) {
    double tail = gsl_cdf_ugaussian_Q(3);
    bool fits = gsl_cdf_chisq_P(statistic, dof) > tail && gsl_cdf_chisq_Q(statistic, dof) > tail;
    if (!fits)
        fprintf(stderr, "    chi-square %.1f with %g degrees of freedom\n", statistic, dof);
    return fits;
}

// sum (count - expected)^2 / expected for equal expectations.
static inline double chi_square_equal(const int64_t *count, int64_t cells) {
    double total = 0, statistic = 0;
    for (int64_t i = 0; i < cells; i++)
        total += (double)count[i];
    for (int64_t i = 0; i < cells; i++) {
        double off = (double)count[i] - total / (double)cells;
        statistic += off * off / (total / (double)cells);
    }
    return statistic;
}

// Anchor at place p of the epoch, or -1 behind a short batch.
static inline int32_t sampled_anchor_at(const struct sampled *s, int64_t p) {
    int32_t size = s->sampler.batch_size;
    return p % size < s->size[p / size] ? s->ids[p] : -1;
}
static inline int64_t sampled_places(const struct sampled *s) {
    return s->batches * s->sampler.batch_size;
}
