// Sequential ids: batch b holds items b B .. b B + B - 1. It does nothing, so what it costs is what
// the harness costs.
#include "samplers/sampler.h"

static enum hn_code next(struct hn_context *ctx, struct hn_sampler *self, struct hn_batches *out) {
    (void)ctx;
    for (int32_t b = 0; b < out->count; b++) {
        int64_t first = (out->first + b) * self->batch_size;
        out->size[b] = (int32_t)hn_min(self->batch_size, self->n - first);
        int32_t *ids = hn_batch_ids(out, b);
        for (int32_t i = 0; i < out->size[b]; i++)
            ids[i] = (int32_t)(first + i);
    }
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
    .flags = HN_SAMPLER_PARTITION,
    .grid = grid,
    .options = options,
    .next = next,
};
