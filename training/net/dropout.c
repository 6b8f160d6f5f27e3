// SPDX-License-Identifier: GPL-3.0-or-later
// Inverted dropout: in training every number is kept with probability 1 - rate and divided by it.
// Row i of layer l draws from a stream named by seed, step, view and (l, i).
#include "core/random.h"
#include "training/net/layer.h"

#include <string.h>

static const char *size(struct hn_layer *layer) {
    layer->keep_row = layer->in;
    double rate = layer->spec.rate;
    return rate >= 0 && rate < 1 ? NULL : "a rate outside [0, 1)";
}

static void draw_row(const struct hn_layer_run *run, int64_t i) {
    const struct hn_layer *l = run->layer;
    const struct hn_pass *pass = run->pass;
    struct hn_stream stream;
    hn_stream_open(&stream, pass->seed, "training.dropout", pass->step, pass->view,
                   l->number << 40 | i);
    hn_real *scale = run->keep + i * l->in, kept = (hn_real)(1 / (1 - l->spec.rate));
    for (int64_t j = 0; j < l->in; j++)
        scale[j] = hn_stream_uniform(&stream) < l->spec.rate ? 0 : kept;
}

static void forward(const struct hn_layer_run *run) {
    const struct hn_layer *l = run->layer;
    if (!run->pass->training) {
        memcpy(run->y, run->x, (size_t)(run->rows * l->in) * sizeof *run->y);
        return;
    }
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < run->rows; i++) {
        draw_row(run, i);
        for (int64_t j = i * l->in; j < (i + 1) * l->in; j++)
            run->y[j] = run->x[j] * run->keep[j];
    }
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    for (int64_t i = 0; dx && i < run->rows * run->layer->in; i++)
        dx[i] = run->pass->training ? dy[i] * run->keep[i] : dy[i];
}

const struct hn_layer_type hn_layer_dropout = {
    .name = "dropout",
    .summary = "drops numbers at random in training",
    .size = size,
    .forward = forward,
    .backward = backward,
};
