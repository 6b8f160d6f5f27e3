// y_g = sum of the rows of graph g: rows segment[g] .. segment[g + 1] of the pass.
#include "training/net/layer.h"

#include <string.h>

static const char *size(struct hn_layer *layer) {
    (void)layer; // as many columns out as in
    return NULL;
}

static void forward(const struct hn_layer_run *run) {
    int64_t d = run->layer->in;
    const int64_t *segment = run->pass->segment;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < run->rows_out; g++) {
        hn_real *y = run->y + g * d;
        memset(y, 0, (size_t)d * sizeof *y);
        for (int64_t i = segment[g]; i < segment[g + 1]; i++)
            for (int64_t j = 0; j < d; j++)
                y[j] += run->x[i * d + j];
    }
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    int64_t d = run->layer->in;
    const int64_t *segment = run->pass->segment;
    for (int64_t g = 0; g < run->rows_out && dx; g++)
        for (int64_t i = segment[g]; i < segment[g + 1]; i++)
            memcpy(dx + i * d, dy + g * d, (size_t)d * sizeof *dx);
}

const struct hn_layer_type hn_layer_sum_pool = {
    .name = "sum-pool",
    .summary = "sums the rows of every graph",
    .size = size,
    .forward = forward,
    .backward = backward,
};
