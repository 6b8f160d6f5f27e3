// SPDX-License-Identifier: GPL-3.0-or-later
// Histograms of all cosines of a step, for every step of a series (BS figure 10; by label HC
// figures 5 and 8 to 10): what the columns overlap_view and overlap_label sum up.
//
// With two views, positives are x1_i . x2_i and negatives x1_i . x2_j, i != j (ordered pairs);
// without, there are no positives, and negatives are those of the clean embeddings. Negatives are
// split into true ones, false ones (same label) and those of which a label is unknown.
#include "core/stats.h"
#include "core/sweep/sinks.h"
#include "metrics/metric.h"
#include "metrics/studies/study.h"

struct params {
    int64_t bins;
};

static enum hn_code add_rows(struct hn_context *ctx, const char *kind, const uint64_t *count,
                             int64_t bins, struct hn_table *table) {
    for (int64_t b = 0; b < bins; b++)
        if (HN_TABLE_PUT(ctx, table, HN_TEXT_VALUE("kind", kind),
                         HN_REAL_VALUE("bin_lo", -1 + 2 * (double)b / (double)bins),
                         HN_REAL_VALUE("bin_hi", -1 + 2 * (double)(b + 1) / (double)bins),
                         HN_INT_VALUE("count", (int64_t)count[b])))
            return ctx->code;
    return HN_OK;
}

static enum hn_code add_positives(struct hn_context *ctx, const struct hn_items *items,
                                  int64_t bins, struct hn_table *table) {
    uint64_t *count = hn_zalloc(ctx, bins, sizeof *count);
    if (!count)
        return ctx->code;
    for (int64_t i = 0; i < items->n; i++) {
        double s = hn_dot_exact(hn_row(&items->x1, i), hn_row(&items->x2, i), items->d);
        count[hn_cosine_bin((float)s, bins)]++;
    }
    return add_rows(ctx, "positive", count, bins, table);
}

static enum hn_code run(struct hn_context *ctx, const void *p, const struct hn_study_env *env,
                        struct hn_table *table) {
    const struct params *params = p;
    const struct hn_items *items = env->items;
    bool views = hn_has_positive(items);
    int64_t bins = params->bins;
    struct hn_sweep sweep = {.x = views ? items->x1 : items->x, .y = views ? items->x2 : items->x};
    struct hn_sweep_histogram histogram = {.bins = bins,
                                           .row_label = items->labels,
                                           .col_label = items->labels,
                                           .label_sets = items->label_sets,
                                           .skip_self = true,
                                           .exact = true};
    hn_sweep_add(&sweep, &hn_histogram_sink, &histogram, HN_SIDE_ROWS);
    enum hn_code code = hn_sweep_run(ctx, &sweep);
    if (code == HN_OK && views)
        code = add_positives(ctx, items, bins, table);
    static const char *const kind[HN_REL_COUNT] = {[HN_REL_SAME] = "false_negative",
                                                   [HN_REL_DIFFERENT] = "true_negative",
                                                   [HN_REL_UNKNOWN] = "unlabelled"};
    for (int r = 0; code == HN_OK && r < HN_REL_COUNT; r++)
        code = add_rows(ctx, kind[r], histogram.count + r * bins, bins, table);
    return code;
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, bins, "bins", "200", 1, 100000, "equal bins on [-1, 1]")}, {0}};

static const struct hn_column columns[] = {
    {"kind", HN_COLUMN_TEXT, "", "positive, true_negative, false_negative or unlabelled",
     HN_NEITHER},
    {"bin_lo", HN_COLUMN_REAL, "1", "lower end of the bin", HN_NEITHER},
    {"bin_hi", HN_COLUMN_REAL, "1", "upper end of the bin", HN_NEITHER},
    {"count", HN_COLUMN_INT, "pairs", "ordered pairs", HN_NEITHER},
};

const struct hn_study_type hn_study_global_histogram = {
    .name = "global_histogram",
    .summary = "histograms of the cosines of all positive and negative pairs",
    .source = "BS figure 10; HC figures 5 and 8 to 10",
    .note = "",
    .options = options,
    .params_size = sizeof(struct params),
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .run = run,
};
