// BS figures 4 and 8: how similar the pairs of a batch are, and how many of them are false
// negatives, by sampler over training. Our deviation: every setting of the file, up to eight.
#include "plots/distributions.h"

static const struct hn_distributions what = {.id = "bs-fig4"};

static enum hn_code data(struct hn_context *ctx, const struct hn_results *r, FILE *tsv,
                         struct hn_figure_size *size) {
    return hn_distributions_data(ctx, r, &what, tsv, size);
}

static enum hn_code script(struct hn_context *ctx, const struct hn_results *r, const char *tsv,
                           FILE *gp) {
    return hn_distributions_script(ctx, r, &what, tsv, gp);
}

static const char *const columns[] = {"dataset", "step", "sampler", "params", "fn_ratio", NULL};

const struct hn_figure hn_bs_fig4 = {
    .id = "bs-fig4",
    .title = "cosine of in-batch pairs and false-negative ratio by sampler over training",
    .caption =
        "Left: density of the cosine of all pairs of items in a batch, by training step; further "
        "right is harder; a step with a far narrower peak has a scale of its own. Right: share "
        "of same-label pairs, with 95 % intervals over batches; Uniform shows its expectation.",
    .source = "BatchSampler (KDD 2023), figures 4 and 8",
    .columns = columns,
    .needs_histogram = true,
    .data = data,
    .script = script};
