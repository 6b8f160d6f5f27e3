// SPDX-License-Identifier: GPL-3.0-or-later
// GC figure 7: the loss that batches are trained with, and that before their epoch began.
#include "plots/page/curves.h"

static enum hn_code draw(const struct hn_results *r, struct hn_page *page) {
    const struct hn_table *t = hn_results_table(r, "training");
    bool measured = false;
    for (int64_t row = 0; t && row < t->rows && !measured; row++)
        measured = hn_table_real(t, row, "loss_expected") > 0;
    if (!measured)
        return hn_fail(page->ctx, HN_NOT_APPLICABLE,
                       "no training measured its loss ahead: give the job expected_loss: true");
    const struct hn_training_curves curves = {.column = "loss",
                                              .unit = "nats",
                                              .min = 1,
                                              .beside = "loss_expected",
                                              .nothing = "no training has a loss"};
    return hn_draw_training(page, r, &curves);
}

const struct hn_figure hn_gc_fig7 = {
    .id = "gc-fig7",
    .title = "training loss, and what it was before the epoch",
    .caption = "Mean over seeds of the training loss between evaluations. Dotted: the loss of the "
               "same batches before their epoch began. A dotted line above its curve means that "
               "batches chosen as hard are easier by the time they are trained on.",
    .source = "Global Contrastive Batch Sampling (ICML 2023), figure 7",
    .table = "training",
    .columns = HN_COLUMNS("run", "step", "loss", "loss_expected", "learning_rate", "cost_t"),
    .page = draw};
