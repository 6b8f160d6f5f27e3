// SPDX-License-Identifier: GPL-3.0-or-later
// y = x W + b, W [in x out]; Glorot-uniform W and b = 0 at first. Of sparse inputs, x [rows x in]
// in compressed rows, y = x W: the pass brings x and, for gradients, its transpose.
#include "training/net/layer.h"

#include <string.h>

enum { COLUMNS = 16 }; // of a line of the cache

static const char *size(struct hn_layer *layer) {
    layer->out = layer->spec.out;
    layer->n_params = layer->in * layer->out + (layer->spec.bias ? layer->out : 0);
    // By the fan in, biases are drawn as well, as PyTorch does.
    layer->n_random = layer->spec.fan_in ? layer->n_params : layer->in * layer->out;
    layer->fans_in = layer->in;
    layer->fans_out = layer->out;
    return layer->out < 1 ? "no columns out" : NULL;
}

static void forward(const struct hn_layer_run *run) {
    const struct hn_layer *l = run->layer;
    const hn_real *bias = run->param + l->in * l->out;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < (l->spec.bias ? run->rows : 0); i++)
        memcpy(run->y + i * l->out, bias, (size_t)l->out * sizeof *bias);
    hn_product(run->pass->workers, (struct hn_factor){run->x, l->in, false},
               (struct hn_factor){run->param, l->out, false}, run->rows, l->out, l->in,
               l->spec.bias, run->y, l->out);
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
    hn_product(run->pass->workers, (struct hn_factor){run->x, l->in, true},
               (struct hn_factor){dy, l->out, false}, l->in, l->out, run->rows, true, run->grad,
               l->out);
    hn_real *bias = run->grad + l->in * l->out;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t j0 = 0; j0 < (l->spec.bias ? l->out : 0); j0 += COLUMNS)
        for (int64_t i = 0; i < run->rows; i++)
            for (int64_t j = j0; j < hn_min(j0 + COLUMNS, l->out); j++)
                bias[j] += dy[i * l->out + j];
    if (dx)
        hn_product(run->pass->workers, (struct hn_factor){dy, l->out, false},
                   (struct hn_factor){run->param, l->out, true}, run->rows, l->in, l->out, false,
                   dx, l->in);
}

const struct hn_layer_type hn_layer_linear = {
    .name = "linear",
    .summary = "y = x W + b",
    .size = size,
    .forward = forward,
    .backward = backward,
};

static const char *sparse_size(struct hn_layer *layer) {
    return layer->number > 0 ? "does not stand first" : size(layer);
}

static void sparse_forward(const struct hn_layer_run *run) {
    const struct hn_layer *l = run->layer;
    hn_sparse_times(run->pass->workers.threads, run->pass->input, run->param, l->out, l->out, false,
                    run->y, l->out);
}

static void sparse_backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
    (void)dx; // inputs are data
    hn_sparse_times(run->pass->workers.threads, run->pass->input_t, dy, l->out, l->out, true,
                    run->grad, l->out);
}

const struct hn_layer_type hn_layer_sparse_linear = {
    .name = "sparse-linear",
    .summary = "y = X W, X in compressed rows",
    .size = sparse_size,
    .forward = sparse_forward,
    .backward = sparse_backward,
};
