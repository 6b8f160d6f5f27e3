// BatchSampler (KDD 2023), table 4: hardness and false negatives by the number of candidates M
#include "plots/page/curves.h"

static enum hn_code draw(struct hn_context *ctx, const struct hn_results *r, struct hn_page *page) {
    (void)ctx;
    const struct hn_curve_value measure[] = {hn_curve_cos, hn_curve_fn};
    const struct hn_option_curves sweep = {.option = "M",
                                           .title = "candidates M",
                                           .rule = "uniform",
                                           .measure = measure,
                                           .n = sizeof measure / sizeof measure[0],
                                           .log = true,
                                           .choice = {.keep = hn_keep_walks_and_uniform},
                                           .paper = "bs-M",
                                           .paper_series = "CIFAR10",
                                           .paper_title = "accuracy, CIFAR-10 (%)"};
    return hn_draw_sweep(page, r, &sweep);
}

static const char *const columns[] = {"dataset",  "step",     "sampler", "params",
                                      "fn_ratio", "cos_mean", NULL};

const struct hn_figure hn_bs_m = {
    .id = "bs-M",
    .title = "hardness and false negatives by the number of candidates M",
    .caption = "Means of in-batch cosines and of same-label pairs against M, a curve per training "
               "step, with 95 % intervals; the rule is uniform sampling at the last step. Right, "
               "as context: what the paper says of its accuracy after training.",
    .source = "BatchSampler (KDD 2023), table 4",
    .columns = columns,
    .page = draw};
