// Sequential ids: batch b holds items b B .. b B + B - 1. It does nothing, so what it costs is what
// the harness costs.
#include "samplers/sampler.h"

static int32_t batch(const struct hn_sampler *self, int64_t number, int thread,
                     struct hn_work *work, int32_t *ids) {
    (void)thread, (void)work;
    int64_t first = hn_sampler_begins(self, number), end = hn_sampler_begins(self, number + 1);
    for (int64_t i = first; i < end; i++)
        ids[i - first] = (int32_t)i;
    return (int32_t)(end - first);
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
    .batch = batch,
};
