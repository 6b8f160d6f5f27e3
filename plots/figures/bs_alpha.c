// BatchSampler (KDD 2023), table 4 and proposition 2: hardness, false negatives and nearness to the
// start by restart probability
#include "plots/page/curves.h"

#include <string.h>

static bool keep(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "sampler"), "uniform") == 0 ||
           hn_keep_proximity_walks(runs, row);
}

static enum hn_code draw(struct hn_context *ctx, const struct hn_results *r, struct hn_page *page) {
    (void)ctx;
    const struct hn_curve_value measure[] = {hn_curve_cos, hn_curve_fn, hn_curve_start};
    const struct hn_option_curves sweep = {.option = "alpha",
                                           .title = "restart probability alpha",
                                           .rule = "uniform",
                                           .measure = measure,
                                           .n = sizeof measure / sizeof measure[0],
                                           .log = false,
                                           .choice = {.keep = keep},
                                           .paper = "bs-alpha",
                                           .paper_series = "CIFAR10",
                                           .paper_title = "accuracy, CIFAR-10 (%)"};
    return hn_draw_sweep(page, r, &sweep);
}

static const char *const columns[] = {"dataset",  "step",     "sampler", "params",
                                      "fn_ratio", "cos_mean", NULL};

const struct hn_figure hn_bs_alpha = {
    .id = "bs-alpha",
    .title = "hardness, false negatives and nearness to the start by restart probability",
    .caption = "Against alpha, a curve per training step, with 95 % intervals: mean in-batch "
               "cosine, same-label pairs, and the share of the batch that has the start item's "
               "label. Right, as context: the paper's accuracy after training.",
    .source = "BatchSampler (KDD 2023), table 4 and proposition 2",
    .columns = columns,
    .page = draw};
