// SPDX-License-Identifier: GPL-3.0-or-later
// Series of made-up items for studies.
#pragma once

#include "core/random.h"
#include "core/stats.h"
#include "samplers/sampler.h"
#include "tests/studied.h"

#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>

static inline struct studied_series make_series(struct hn_context *ctx, int64_t n, int64_t d,
                                                int classes, bool views, int steps) {
    struct studied_series s = {0};
    for (int i = 0; i < steps; i++) {
        s.step[i] = hn_fixture_items(ctx, n, d, classes, views, 100 + (uint64_t)i);
        s.step[i].step = s.step[i].index = 10 * i;
    }
    return s;
}

static inline void free_series(struct hn_context *ctx, struct studied_series *s) {
    for (int i = 0; i < 4; i++)
        hn_fixture_items_free(ctx, &s->step[i]);
}
