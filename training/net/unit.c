// SPDX-License-Identifier: GPL-3.0-or-later
// y = x / |x|, rows; dx = (dy - (dy . y) y) / |x|. A row of length below 1e-12 is divided by that,
// as PyTorch's normalize does.
#include "core/clones.h"
#include "training/net/layer.h"

#include <math.h>

static const double min_length = 1e-12;

static const char *size(struct hn_layer *layer) {
    layer->keep_row = 1;
    return NULL;
}

HN_CLONES
static double inner(const hn_real *x, const hn_real *y, int64_t n) {
    double lane[HN_LANES] = {0};
    int64_t j = 0;
    for (; j + HN_LANES <= n; j += HN_LANES)
        for (int l = 0; l < HN_LANES; l++)
            lane[l] += (double)x[j + l] * (double)y[j + l];
    for (int l = 0; j < n; j++, l++)
        lane[l] += (double)x[j] * (double)y[j];
    return hn_add_lanes(lane);
}

static void forward(const struct hn_layer_run *run) {
    int64_t d = run->layer->in;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < run->rows; i++) {
        const hn_real *x = run->x + i * d;
        double length = fmax(sqrt(inner(x, x, d)), min_length);
        run->keep[i] = (hn_real)(1 / length);
        for (int64_t j = 0; j < d; j++)
            run->y[i * d + j] = x[j] * run->keep[i];
    }
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    int64_t d = run->layer->in;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < (dx ? run->rows : 0); i++) {
        const hn_real *y = run->y + i * d;
        hn_real along = (hn_real)inner(dy + i * d, y, d);
        for (int64_t j = 0; j < d; j++)
            dx[i * d + j] = (dy[i * d + j] - along * y[j]) * run->keep[i];
    }
}

const struct hn_layer_type hn_layer_unit = {
    .name = "unit",
    .summary = "rows of unit length",
    .size = size,
    .forward = forward,
    .backward = backward,
};
