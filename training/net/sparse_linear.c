// y = X W for sparse inputs X [rows x in] in compressed rows; W as in linear. The pass brings X
// and, for gradients, its transpose.
#include "training/net/layer.h"

static const char *size(struct hn_layer *layer) {
    layer->out = layer->spec.out;
    layer->n_params = layer->n_random = layer->in * layer->out;
    layer->fans_in = layer->in;
    layer->fans_out = layer->out;
    return layer->out < 1 ? "no columns out" : layer->number > 0 ? "does not stand first" : NULL;
}

static void forward(const struct hn_layer_run *run) {
    const struct hn_layer *l = run->layer;
    hn_sparse_times(run->pass->workers.threads, run->pass->input, run->param, l->out, l->out, false,
                    run->y, l->out);
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
    (void)dx; // inputs are data
    hn_sparse_times(run->pass->workers.threads, run->pass->input_t, dy, l->out, l->out, true,
                    run->grad, l->out);
}

const struct hn_layer_type hn_layer_sparse_linear = {
    .name = "sparse-linear",
    .summary = "y = X W, X in compressed rows",
    .size = size,
    .forward = forward,
    .backward = backward,
};
