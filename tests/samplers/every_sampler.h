// SPDX-License-Identifier: GPL-3.0-or-later
// Every sampler of the registry, and the template, with each of its choices.
#pragma once

#include "datasets/snapshot.h"
#include "tests/sampled.h"

#include <ctype.h>

extern const struct hn_sampler_type hn_skeleton_sampler;

enum { N = 61, D = 8, TYPES_MAX = 64, CASES_MAX = 512 };

static inline int all_types(const struct hn_sampler_type *types[TYPES_MAX]) {
    int n = 0;
    while (hn_samplers[n] && n < TYPES_MAX - 1) {
        types[n] = hn_samplers[n];
        n++;
    }
    CU_ASSERT_PTR_NULL_FATAL(hn_samplers[n]);
    types[n++] = &hn_skeleton_sampler;
    return n;
}

// Items with a graph (a ring with chords; the last item has no edge), a few binary features, a
// teacher of other dimensions and groups, so that every sampler applies. Owned:
// anchored_items_free().
struct anchored {
    struct hn_graph graph;
    struct hn_features features;
    int32_t *group;
};

static inline struct hn_items anchored_items(struct hn_context *ctx, int64_t n, int64_t d,
                                             int classes, bool views, uint64_t seed) {
    struct hn_items items = hn_fixture_items(ctx, n, d, classes, views, seed);
    struct anchored *extra = hn_zalloc(ctx, 1, sizeof *extra);
    int32_t *from = hn_alloc(ctx, 2 * n, sizeof *from), *to = hn_alloc(ctx, 2 * n, sizeof *to);
    float *feature = hn_zalloc(ctx, n * 4, sizeof *feature);
    CU_ASSERT_FATAL(extra && from && to && feature);
    int64_t m = 0;
    for (int32_t v = 0; v + 2 < n; v++) {
        from[m] = v;
        to[m++] = v + 1;
        from[m] = v;
        to[m++] = (int32_t)((v * 7) % (n - 1));
    }
    HN_CHECK(ctx, hn_graph_symmetric(ctx, n, m, from, to, &extra->graph));
    for (int64_t i = 0; i < n; i++)
        feature[4 * i + i % 4] = 1;
    extra->features = (struct hn_features){.n = n, .p = 4, .dense = {feature, n, 4, 4}};
    items.graph = &extra->graph;
    items.features = &extra->features;
    extra->group = hn_alloc(ctx, n, sizeof *extra->group);
    CU_ASSERT_PTR_NOT_NULL_FATAL(extra->group);
    hn_fixture_teacher(ctx, &items, d + 3, seed + 100);
    for (int64_t i = 0; i < n; i++)
        extra->group[i] = (int32_t)(i * i % 5);
    items.group = extra->group;
    hn_free(ctx, from);
    hn_free(ctx, to);
    return items;
}

// The graph is the first member of what is owned.
static inline void anchored_items_free(struct hn_context *ctx, struct hn_items *items) {
    struct anchored *extra = (struct anchored *)(void *)items->graph;
    hn_free(ctx, (void *)extra->features.dense.data);
    hn_graph_free(ctx, &extra->graph);
    hn_free(ctx, extra->group);
    hn_free(ctx, extra);
    hn_fixture_items_free(ctx, items);
}

// Options that suit N items, where the defaults do not.
static const char *settings_for(const struct hn_sampler_type *type) {
    if (strcmp(type->name, "batchsampler") == 0)
        return "M=20 K=5 tile=4";
    if (strcmp(type->name, "gcbs") == 0)
        return "quantile=0.9";
    if (strcmp(type->name, "mosaic") == 0)
        return "pool=20 kappa=0.2 group=2";
    if (strcmp(type->name, "ngame") == 0)
        return "cluster=4";
    if (strcmp(type->name, "osgd") == 0)
        return "drawn=30 kept=9";
    if (strcmp(type->name, "b3") == 0)
        return "p=5 m=10 cluster=4";
    if (strcmp(type->name, "tas-b") == 0)
        return "cluster=9";
    return "";
}

// A sampler with settings.
struct sampler_case {
    const struct hn_sampler_type *type;
    char settings[128];
};

// Every sampler as it is, and with every choice of every option that has choices, `views`: those
// that look at the positive, too. `fit`: with options that suit N items.
static inline int all_cases(bool fit, bool views, struct sampler_case cases[CASES_MAX]) {
    const struct hn_sampler_type *types[TYPES_MAX];
    int n_types = all_types(types), n = 0;
    for (int i = 0; i < n_types; i++) {
        const char *base = fit ? settings_for(types[i]) : "";
        for (const struct hn_option *o = types[i]->options; o->name; o++) {
            for (int k = 0; o->kind == HN_OPTION_CHOICE && o->choices[k]; k++) {
                bool ambiguous = strcmp(o->choices[k], "ambiguous") == 0;
                bool positive = ambiguous || strcmp(o->choices[k], "marginpos") == 0 ||
                                strcmp(o->choices[k], "percpos") == 0;
                if (strcmp(o->choices[k], o->initial) == 0 || (positive && !views))
                    continue;
                CU_ASSERT_FATAL(n < CASES_MAX);
                cases[n].type = types[i];
                snprintf(cases[n].settings, sizeof cases[n].settings, "%s %s=%s%s", base, o->name,
                         o->choices[k], ambiguous ? " sharpness=30" : "");
                n++;
            }
        }
        CU_ASSERT_FATAL(n < CASES_MAX);
        cases[n].type = types[i];
        snprintf(cases[n].settings, sizeof cases[n].settings, "%s", base);
        n++;
    }
    return n;
}
