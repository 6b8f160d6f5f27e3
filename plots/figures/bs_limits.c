// SPDX-License-Identifier: GPL-3.0-or-later
// BS 4.3: BatchSampler's limits. With all items as candidates (the kNN graph) and alpha towards 1
// it is to be the kNN sampler, with one candidate and alpha = 0 the uniform one.
#include "plots/page/curves.h"

#include <string.h>

static bool keep(const struct hn_table *runs, int64_t row) {
    const char *sampler = hn_table_text(runs, row, "sampler");
    const char *params = hn_table_text(runs, row, "params");
    bool limit = hn_option_number(params, "alpha") >= 0.99 || hn_option_number(params, "M") <= 1;
    return hn_is_named_uniform(sampler) || strcmp(sampler, "knn") == 0 ||
           (strcmp(sampler, "batchsampler") == 0 && limit);
}

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_curve_value measure[] = {hn_curve_fn, hn_curve_cos};
    struct hn_groups g;
    bool any = false;
    if (hn_page_groups(page, r, (struct hn_choice){.keep = keep}, &g))
        return page->ctx->code;
    for (int i = 0; i < g.settings; i++)
        any |= strcmp(g.setting[i].sampler, "batchsampler") == 0;
    if (any)
        hn_draw_over_steps(page, &g, measure, 2, false);
    return hn_page_finish(page, "no run has M = 1 or alpha = 1");
}

const struct hn_figure hn_bs_limits = {
    .id = "bs-limits",
    .title = "BatchSampler at its limits, against the kNN and the uniform sampler",
    .caption =
        "Left: false negatives. Right: hardness, the mean in-batch cosine. Where a limit holds, its"
        " curve covers that of the sampler it should become.",
    .source = "BatchSampler (KDD 2023), section 4.3",
    .columns = HN_COLUMNS("dataset", "step", "sampler", "params", "fn_ratio", "cos_mean"),
    .page = draw};
