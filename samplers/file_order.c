// SPDX-License-Identifier: GPL-3.0-or-later
// Sequential ids: batch b holds items b B .. b B + B - 1. It does nothing, so what it costs is what
// the harness costs.
#include "samplers/sampler.h"

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)ctx, (void)items, (void)number, (void)batches;
    for (int64_t i = 0; i < self->n; i++)
        self->order[i] = (int32_t)i;
    return HN_OK;
}

static const struct hn_option options[] = {{0}};

static void grid(const struct hn_sampler_plan *plan, char *text, size_t size) {
    (void)plan, (void)text, (void)size; // it is not a sampler to choose
}

const struct hn_sampler_type hn_file_order_sampler = {
    .name = "file-order",
    .former = "null",
    .summary = "items in file order: measures the harness itself",
    .source = "control",
    .note = "",
    .flags = HN_SAMPLER_PARTITION | HN_SAMPLER_ORDERED,
    .grid = grid,
    .options = options,
    .epoch = epoch,
};
