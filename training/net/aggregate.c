// SPDX-License-Identifier: GPL-3.0-or-later
// y = Ahat x: mean pooling (D^-1 (A + I)), GCN (D^-1/2 (A + I) D^-1/2) or the sum of GIN (A + I),
// as the pass has it. Gradients take the transpose, which for mean pooling is another matrix.
#include "training/net/layer.h"

static void forward(const struct hn_layer_run *run) {
    const struct hn_layer *l = run->layer;
    hn_sparse_times(run->pass->workers.threads, run->pass->mean, run->x, l->in, l->in, false,
                    run->y, l->in);
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
    if (dx)
        hn_sparse_times(run->pass->workers.threads, run->pass->mean_t, dy, l->in, l->in, false, dx,
                        l->in);
}

const struct hn_layer_type hn_layer_aggregate = {
    .name = "aggregate",
    .summary = "y = Ahat x over the neighbours of every row",
    .forward = forward,
    .backward = backward,
};
