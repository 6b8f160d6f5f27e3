// SPDX-License-Identifier: GPL-3.0-or-later
// Layers that map every number by itself.
//
// relu: y = max(x, 0). elu: y = x where x > 0, exp(x) - 1 elsewhere (Clevert et al. 2016, alpha =
// 1), whose derivative below 0 is y + 1.
#include "core/clones.h"
#include "training/net/exp.h"
#include "training/net/layer.h"

enum { CHUNK = 1 << 14 };

HN_CLONES
static void relu(const hn_real *restrict x, hn_real *restrict y, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
}

HN_CLONES
static void relu_back(const hn_real *restrict y, const hn_real *restrict dy, hn_real *restrict dx,
                      int64_t n) {
    for (int64_t i = 0; i < n; i++)
        dx[i] = y[i] > 0 ? dy[i] : 0;
}

HN_CLONES
static void elu(const hn_real *restrict x, hn_real *restrict y, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : hn_real_exp(x[i] < 0 ? x[i] : 0) - 1;
}

HN_CLONES
static void elu_back(const hn_real *restrict y, const hn_real *restrict dy, hn_real *restrict dx,
                     int64_t n) {
    for (int64_t i = 0; i < n; i++)
        dx[i] = y[i] > 0 ? dy[i] : dy[i] * (y[i] + 1);
}

static void forward(const struct hn_layer_run *run) {
    bool is_elu = run->layer->type == &hn_layer_elu;
    int64_t n = run->rows * run->layer->in;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < n; i += CHUNK)
        (is_elu ? elu : relu)(run->x + i, run->y + i, hn_min(CHUNK, n - i));
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    bool is_elu = run->layer->type == &hn_layer_elu;
    int64_t n = dx ? run->rows * run->layer->in : 0;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < n; i += CHUNK)
        (is_elu ? elu_back : relu_back)(run->y + i, dy + i, dx + i, hn_min(CHUNK, n - i));
}

const struct hn_layer_type hn_layer_relu = {
    .name = "relu",
    .summary = "y = max(x, 0)",
    .forward = forward,
    .backward = backward,
};

const struct hn_layer_type hn_layer_elu = {
    .name = "elu",
    .summary = "y = x above 0, exp(x) - 1 below",
    .forward = forward,
    .backward = backward,
};
