// SPDX-License-Identifier: GPL-3.0-or-later
// A table with an option of each kind.
#pragma once

#include "core/options/option.h"
#include "core/random.h"
#include "tests/fixture.h"
#include "tests/test.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct hn_context ctx;

struct params {
    int64_t K, M, step, size;
    double quantile, scale;
    bool verbose, quiet;
    int graph;
    struct hn_schedule alpha;
    char *output;
    struct hn_text_list set;
};

static const char *const graphs[] = {"proximity", "knn", "random", NULL};

#define AT(field) offsetof(struct params, field)
static const struct hn_option table[] = {
    {"M", HN_OPTION_INT, AT(M), "1000", 1, 1e6, NULL, "candidates", 0, NULL},
    {"K", HN_OPTION_INT, AT(K), "100", 1, INFINITY, NULL, "neighbours", 0, NULL},
    {"step", HN_OPTION_INT, AT(step), NULL, 0, 0, NULL, "step", 's', "N"},
    {"quantile", HN_OPTION_REAL, AT(quantile), NULL, 0, 1, NULL, "share left out", 0, NULL},
    {"scale", HN_OPTION_REAL, AT(scale), "1", -INFINITY, INFINITY, NULL, "scale", 'x', "X"},
    {"graph", HN_OPTION_CHOICE, AT(graph), "knn", 0, 0, graphs, "which graph", 'g', "GRAPH"},
    {"alpha", HN_OPTION_SCHEDULE, AT(alpha), "0.2~0.05", 0, 1, NULL, "restart probability", 0,
     NULL},
    {"output", HN_OPTION_TEXT, AT(output), NULL, 0, 0, NULL, "folder for the results", 'o', "DIR"},
    {"set", HN_OPTION_LIST, AT(set), NULL, 0, 0, NULL, "overrides a key of the job", 0,
     "KEY=VALUE"},
    {"verbose", HN_OPTION_BOOL, AT(verbose), NULL, 0, 0, NULL, "says more", 'v', NULL},
    {"quiet", HN_OPTION_BOOL, AT(quiet), NULL, 0, 0, NULL, "says less", 'q', NULL},
    {"size", HN_OPTION_SIZE, AT(size), "4GiB", 1 << 20, 0x1p63, NULL, "memory", 0, "SIZE"},
    {0}};

static inline struct params opened(void) {
    struct params p;
    memset(&p, 0x5a, sizeof p); // whatever was there before
    hn_context_init(&ctx, 1);
    HN_CHECK(&ctx, hn_options_init(&ctx, table, &p));
    return p;
}

static inline void closed(struct params *p) {
    hn_options_free(&ctx, table, p);
    hn_options_free(&ctx, table, p); // twice does no harm
    CU_ASSERT_EQUAL(ctx.memory.live, 0);
}
