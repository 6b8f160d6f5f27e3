// BatchSampler (KDD 2023), figure 12: hardness and false negatives by the number of neighbours K
#include "plots/page/curves.h"

static enum hn_code draw(struct hn_context *ctx, const struct hn_results *r, struct hn_page *page) {
    (void)ctx;
    const struct hn_curve_value measure[] = {hn_curve_cos, hn_curve_fn};
    const struct hn_option_curves sweep = {.option = "K",
                                           .title = "neighbours K",
                                           .rule = "uniform",
                                           .measure = measure,
                                           .n = sizeof measure / sizeof measure[0],
                                           .log = false,
                                           .choice = {.keep = hn_keep_walks_and_uniform}};
    return hn_draw_sweep(page, r, &sweep);
}

static const char *const columns[] = {"dataset",  "step",     "sampler", "params",
                                      "fn_ratio", "cos_mean", NULL};

const struct hn_figure hn_bs_k = {
    .id = "bs-K",
    .title = "hardness and false negatives by the number of neighbours K",
    .caption = "Means of in-batch cosines and of same-label pairs against K at a fixed M, a curve "
               "per training step; the rule is uniform sampling at the last step. The K best of M "
               "candidates are the nearest share K / M of all items.",
    .source = "BatchSampler (KDD 2023), figure 12",
    .columns = columns,
    .page = draw};
