// SPDX-License-Identifier: GPL-3.0-or-later
// Label purity of an item's neighbours (BS figures 7 and 16), in the proximity graph and in the
// exact kNN graph:
//
//   purity = pairs (item, neighbour) of the same label / pairs of which both are labelled
//
// by the neighbour's rank, in bins that double (1, 2-3, 4-7, ...), and over all K. What one item's
// batches see as false negatives, its graph holds as pure neighbours. The interval is that of a
// ratio over items. `item` follows one item besides, as figure 16 does. chance is the purity of
// neighbours drawn at random: sum_c n_c (n_c - 1) / (L (L - 1)) over the L labelled items.
#include "core/classes.h"
#include "core/label_sets.h"
#include "core/stats.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"
#include "samplers/proximity.h"

#include <inttypes.h>
#include <stdlib.h>

struct params {
    struct hn_study_graph graph;
    int64_t item;
};

struct work {
    const struct params *params;
    const struct hn_study_env *env;
    int64_t m, k; // as far as there are others
    double chance;
    double *same, *pairs; // [n] of one bin of ranks
};

static enum hn_code find_chance(struct hn_context *ctx, struct work *w) {
    struct hn_classes classes;
    HN_SCOPE(ctx);
    if (hn_classes_find(ctx, w->env->items->labels, w->env->items->n, &classes))
        return ctx->code;
    w->chance = hn_classes_chance(&classes, w->env->items->label_sets);
    return HN_OK;
}

// Neighbours of ranks [lo, hi] (from 1) of items [from, to).
struct bin {
    int64_t from, to, lo, hi;
};

// Counts pairs per item into w->same and w->pairs; returns the sum of the cosines of all of them.
static double count_pairs(const struct work *w, const struct hn_graph *g, const struct bin *bin) {
    const int32_t *label = w->env->items->labels;
    const struct hn_label_sets *sets = w->env->items->label_sets;
    double cosines = 0;
    for (int64_t v = bin->from; v < bin->to; v++) {
        w->same[v - bin->from] = w->pairs[v - bin->from] = 0;
        for (int64_t e = g->start[v] + bin->lo - 1; e < g->start[v] + bin->hi; e++) {
            cosines += (double)g->weight[e];
            if (label[v] < 0 || label[g->target[e]] < 0)
                continue;
            w->pairs[v - bin->from]++;
            w->same[v - bin->from] += hn_same_label(sets, label[v], label[g->target[e]]);
        }
    }
    return cosines;
}

static enum hn_code add_row(struct hn_context *ctx, const struct work *w, const char *kind,
                            const struct hn_graph *g, const struct bin *bin,
                            struct hn_table *table) {
    int64_t items = bin->to - bin->from;
    double cosines = count_pairs(w, g, bin), pairs = 0;
    for (int64_t i = 0; i < items; i++)
        pairs += w->pairs[i];
    struct hn_interval purity = hn_ratio_interval(w->same, w->pairs, 1, items, 0.95);
    return HN_TABLE_PUT(
        ctx, table, HN_TEXT_VALUE("graph", kind), HN_INT_VALUE("M", w->m), HN_INT_VALUE("K", w->k),
        HN_INT_VALUE("item", items == w->env->items->n ? -1 : bin->from),
        HN_INT_VALUE("rank_lo", bin->lo), HN_INT_VALUE("rank_hi", bin->hi),
        HN_INT_VALUE("pairs", (int64_t)pairs), HN_REAL_VALUE("purity", purity.mean),
        HN_REAL_VALUE("purity_lo", purity.lo), HN_REAL_VALUE("purity_hi", purity.hi),
        HN_REAL_VALUE("cos_mean", cosines / (double)(items * (bin->hi - bin->lo + 1))),
        HN_REAL_VALUE("chance", w->chance));
}

// All ranks, then bins of ranks, of the items [from, to).
static enum hn_code add_rows(struct hn_context *ctx, const struct work *w, const char *kind,
                             const struct hn_graph *g, int64_t from, int64_t to,
                             struct hn_table *table) {
    struct bin bin = {from, to, 1, w->k};
    enum hn_code code = add_row(ctx, w, kind, g, &bin, table);
    for (int64_t lo = 1; code == HN_OK && w->k > 1 && lo <= w->k; lo *= 2) {
        bin.lo = lo;
        bin.hi = hn_min(2 * lo - 1, w->k);
        code = add_row(ctx, w, kind, g, &bin, table);
    }
    return code;
}

static enum hn_code judge(struct hn_context *ctx, const struct work *w, bool knn,
                          struct hn_table *table) {
    const struct hn_items *items = w->env->items;
    const char *kind = knn ? "knn" : "proximity";
    int64_t item = w->params->item;
    struct hn_proximity spec = {.m = w->m,
                                .k = w->k,
                                .seed = (uint64_t)w->env->seed[0],
                                .built_index = items->index,
                                .weighted = true,
                                .candidates = knn ? HN_CANDIDATES_ALL : HN_CANDIDATES_INDEPENDENT};
    struct hn_work counted = {0};
    struct hn_graph graph = {0};
    if (hn_proximity_build(ctx, items, &spec, &counted, &graph))
        return ctx->code;
    enum hn_code code = add_rows(ctx, w, kind, &graph, 0, items->n, table);
    if (code == HN_OK && item >= 0)
        code = add_rows(ctx, w, kind, &graph, item, item + 1, table);
    hn_graph_free(ctx, &graph);
    return code;
}

static enum hn_code run(struct hn_context *ctx, const void *p, const struct hn_study_env *env,
                        struct hn_table *table) {
    int64_t n = env->items->n;
    const struct hn_study_graph graph = hn_study_graph_of(p, n);
    struct work w = {.params = p, .env = env, .m = graph.m, .k = graph.k};
    if (!HN_ALLOC(ctx, w.same, n) || !HN_ALLOC(ctx, w.pairs, n) || find_chance(ctx, &w) ||
        judge(ctx, &w, false, table))
        return ctx->code;
    return judge(ctx, &w, true, table);
}

static enum hn_code check(struct hn_context *ctx, const void *p, int64_t n) {
    const struct params *params = p;
    if (params->item >= n)
        return hn_fail(ctx, HN_USAGE, "item %" PRId64 " is not among the %" PRId64 " items, from 0",
                       params->item, n);
    return hn_study_check_graph(ctx, params, n);
}

static const struct hn_option options[] = {
    HN_STUDY_GRAPH_OPTIONS,
    {HN_INT_OPTION(struct params, item, "item", NULL, 0, INT32_MAX,
                   "an item to follow by itself (its index in the file, from 0)")},
    {0}};

static const struct hn_column columns[] = {
    {"graph", HN_COLUMN_TEXT, "", "proximity or knn", HN_NEITHER},
    HN_STUDY_GRAPH_COLUMNS,
    {"item", HN_COLUMN_INT, "1", "the item that is followed, -1 = all items", HN_NEITHER},
    {"rank_lo", HN_COLUMN_INT, "1", "nearest neighbour counted, from 1", HN_NEITHER},
    {"rank_hi", HN_COLUMN_INT, "1", "farthest neighbour counted", HN_NEITHER},
    {"pairs", HN_COLUMN_INT, "pairs", "pairs of labelled items", HN_NEITHER},
    {"purity", HN_COLUMN_REAL, "1", "share of them of the same label; NaN without such pairs",
     HN_NEITHER},
    {"purity_lo", HN_COLUMN_REAL, "1",
     "lower end of its 95 % interval over items; NaN without such pairs", HN_NEITHER},
    {"purity_hi", HN_COLUMN_REAL, "1",
     "upper end of its 95 % interval over items; NaN without such pairs", HN_NEITHER},
    {"cos_mean", HN_COLUMN_REAL, "1", "mean cosine of items and neighbours", HN_NEITHER},
    {"chance", HN_COLUMN_REAL, "1",
     "purity of neighbours drawn at random; NaN with fewer than two labelled items", HN_NEITHER},
};

const struct hn_study_type hn_study_purity = {
    .name = "purity",
    .summary = "label purity of neighbours in the proximity and the kNN graph, by rank",
    .source = "BS figures 7 and 16",
    .note = "",
    .needs = HN_METRIC_NEEDS_LABELS,
    .options = options,
    .params_size = sizeof(struct params),
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .check = check,
    .run = run,
};
