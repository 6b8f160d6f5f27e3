// SPDX-License-Identifier: GPL-3.0-or-later
// For tests of studies: a study run by name with options as text, its table in memory.
#pragma once

#include "metrics/metric.h"
#include "metrics/studies/study.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A series of up to four steps; the last is judged.
struct studied_series {
    struct hn_items step[4];
};

static inline enum hn_code studied_load(struct hn_context *ctx, void *series, int64_t number,
                                        const struct hn_items **items) {
    (void)ctx;
    *items = &((struct studied_series *)series)->step[number];
    return HN_OK;
}

static const double studied_temperature[] = {0.5, 0.07};
static const int64_t studied_batch_size[] = {8, 16};
static const int64_t studied_seed[] = {11, 12};

// All of the above; narrow it as needed.
static inline struct hn_study_env studied_env(struct studied_series *series, int64_t steps) {
    return (struct hn_study_env){.items = &series->step[steps - 1],
                                 .temperature = studied_temperature,
                                 .n_temperatures = 2,
                                 .batch_size = studied_batch_size,
                                 .n_batch_sizes = 2,
                                 .seed = studied_seed,
                                 .n_seeds = 2,
                                 .n_steps = steps,
                                 .load = studied_load,
                                 .series = series};
}

// settings: "M=5 K=3". The table is the caller's, also after a failure.
static inline enum hn_code studied_run(struct hn_context *ctx, const char *name,
                                       const char *settings, const struct hn_study_env *env,
                                       struct hn_table *table) {
    const struct hn_study_type *type = hn_study_find(name);
    CU_ASSERT_PTR_NOT_NULL_FATAL(type);
    char text[256];
    snprintf(text, sizeof text, "%s", settings);
    memset(table, 0, sizeof *table);
    void *params = hn_zalloc(ctx, 1, type->params_size);
    if (!params)
        return ctx->code;
    enum hn_code code = hn_options_init(ctx, type->options, params);
    for (char *save, *word = strtok_r(text, " ", &save); word && !code;
         word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        *value++ = '\0';
        code = hn_options_set(ctx, type->options, params, word, value);
    }
    if (!code && type->check)
        code = type->check(ctx, params, env->items->n);
    if (!code)
        code = hn_study_table(ctx, type, table);
    if (!code)
        code = hn_study_run(ctx, type, params, env, table);
    hn_options_free(ctx, type->options, params);
    hn_free(ctx, params);
    return code;
}

static inline double studied_dot(const struct hn_matrix *a, int64_t i, const struct hn_matrix *b,
                                 int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < a->cols; k++)
        sum += (double)hn_row(a, i)[k] * (double)hn_row(b, j)[k];
    return sum;
}

// |a - b| within 1e-6 of the larger, or both NaN.
static inline bool studied_close(double a, double b) {
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-6 * fmax(1e-3, fmax(fabs(a), fabs(b)));
}
#define STUDIED_CLOSE(a, b)                                                                        \
    do {                                                                                           \
        double studied_a = (a), studied_b = (b);                                                   \
        if (!studied_close(studied_a, studied_b))                                                  \
            fprintf(stderr, "    %s:%d: %.12g, not %.12g\n", __FILE__, __LINE__, studied_a,        \
                    studied_b);                                                                    \
        CU_ASSERT(studied_close(studied_a, studied_b));                                            \
    } while (0)
