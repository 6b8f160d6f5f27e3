// BS figure 13: accuracy over training, by sampler. Our deviation: the untrained encoder's level
// stands beside, below which nothing has been learnt.
#include "plots/page/training_curves.h"

#include <string.h>

static bool keep(const struct hn_table *runs, int64_t row) {
    return strcmp(hn_table_text(runs, row, "weighting"), "none") == 0;
}

static enum hn_code draw(struct hn_context *ctx, const struct hn_results *r, struct hn_page *page) {
    const struct hn_training_curves curves = {.keep = keep, .least = 1, .untrained = true};
    if (hn_draw_training(page, r, &curves))
        return ctx->code;
    return hn_page_finish(page, "no training without a weighting");
}

static const char *const columns[] = {"run", "step", "loss", "learning_rate", "cost_t", NULL};

const struct hn_figure hn_bs_fig13 = {
    .id = "bs-fig13",
    .title = "accuracy over training, by sampler",
    .caption = "Mean over seeds of the accuracy of evaluation-mode embeddings. Bands are 95 % "
               "intervals of the mean, from three seeds on. The rule is the untrained encoder. "
               "Samplers whose bands overlap are not told apart by these seeds.",
    .source = "BatchSampler (KDD 2023), figure 13",
    .table = "training",
    .columns = columns,
    .page = draw};
