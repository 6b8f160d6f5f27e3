// BS figures 5 and 9: what the restart probability does to hardness and false negatives over
// training. Our deviation: all constants and schedules of the file, up to eight.
#include "plots/curves.h"
#include "plots/distributions.h"

static const struct hn_distributions what = {
    .id = "bs-fig5", .choice = {.keep = hn_keep_proximity_walks}, .varied = "alpha"};

static enum hn_code data(struct hn_context *ctx, const struct hn_results *r, FILE *tsv,
                         struct hn_figure_size *size) {
    return hn_distributions_data(ctx, r, &what, tsv, size);
}

static enum hn_code script(struct hn_context *ctx, const struct hn_results *r, const char *tsv,
                           FILE *gp) {
    return hn_distributions_script(ctx, r, &what, tsv, gp);
}

static const char *const columns[] = {"dataset", "step", "sampler", "params", "fn_ratio", NULL};

const struct hn_figure hn_bs_fig5 = {
    .id = "bs-fig5",
    .title = "cosine of in-batch pairs and false-negative ratio by restart probability alpha",
    .caption = "As bs-fig4, for values of alpha: the larger, the nearer a batch stays to its "
               "start, so that curves move to the right and false negatives increase.",
    .source = "BatchSampler (KDD 2023), figures 5 and 9",
    .columns = columns,
    .needs_histogram = true,
    .data = data,
    .script = script};
