// No paper: the loss that training went down.
#include "plots/page/training_curves.h"

static enum hn_code draw(struct hn_context *ctx, const struct hn_results *r, struct hn_page *page) {
    const struct hn_training_curves curves = {.column = "loss", .unit = "nat", .least = 1};
    if (hn_draw_training(page, r, &curves))
        return ctx->code;
    return hn_page_finish(page, "no training has a loss");
}

static const char *const columns[] = {"run", "step", "loss", "learning_rate", "cost_t", NULL};

const struct hn_figure hn_train_loss = {
    .id = "train-loss",
    .title = "training loss, by sampler and weighting",
    .caption = "Mean of the loss between evaluations, over seeds. Bands are 95 % intervals of the "
               "mean, from three seeds on. Harder batches have a higher loss by themselves: curves "
               "of samplers say how training went, not which is better.",
    .source = "none",
    .table = "training",
    .columns = columns,
    .page = draw};
