// BatchSampler (KDD 2023), table 11: false negatives and hardness by batch size
#include "plots/page/curves.h"

static enum hn_code draw(struct hn_context *ctx, const struct hn_results *r, struct hn_page *page) {
    (void)ctx;
    const struct hn_curve_value measure[] = {hn_curve_fn, hn_curve_cos};
    const struct hn_option_curves sweep = {.option = "batch_size",
                                           .title = "batch size B",
                                           .rule = NULL,
                                           .measure = measure,
                                           .n = sizeof measure / sizeof measure[0],
                                           .log = true,
                                           .choice = {.keep = NULL},
                                           .paper = "bs-B",
                                           .paper_series = "CIFAR10",
                                           .paper_title = "accuracy, CIFAR-10 (%)"};
    return hn_draw_sweep(page, r, &sweep);
}

static const char *const columns[] = {"dataset",  "step",     "sampler", "params",
                                      "fn_ratio", "cos_mean", NULL};

const struct hn_figure hn_bs_b = {
    .id = "bs-B",
    .title = "false negatives and hardness by batch size",
    .caption = "Same-label pairs and mean in-batch cosines at the last step against the batch "
               "size, with 95 % intervals. Right, as context: the paper's accuracy after training.",
    .source = "BatchSampler (KDD 2023), table 11",
    .columns = columns,
    .page = draw};
