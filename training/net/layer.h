// SPDX-License-Identifier: GPL-3.0-or-later
// Layers with forward and backward passes, and networks that are sequences of them.
//
// Activations are row-major matrices, a row per item. An image is a row of height x width x
// channels, channels last, so that batch norm sees a matrix of [rows * height * width x channels].
// A task owns one hn_weights; its networks (encoder, head, predictor) take their parameters from
// it. What a forward pass leaves for the backward one is in a tape, so that several passes of
// one network (two views) can be open at once.
//
// Gradients add up in weights->grad; results are the same bit for bit for any number of threads.
#pragma once

#include "training/net/product.h"
#include "training/net/sparse.h"

// Parameters of a task in one array, so that the optimiser and checkpoints need no structure.
struct hn_weights {
    int64_t n, n_running; // counted while networks are built
    hn_real *value;       // [n]
    hn_real *grad;        // [n - table * width] behind the table's, 0 before a step
    hn_real *running;     // [n_running] running means and variances of batch norms

    // Set before hn_weights_open(), > 0: the first parameters are a large table, of which a step
    // has gradients of some rows, named here: that of row touched[k] is row k of input_t dy, of the
    // last backward pass, and is computed where it is used.
    int64_t table, width;
    int32_t *touched; // [table] rows, each once
    int64_t n_touched;
    const struct hn_sparse *input_t; // borrowed, as dy [rows x width], until the next pass
    const hn_real *dy;
};

// One pass. Everything is borrowed.
struct hn_pass {
    struct hn_workers workers;
    bool training; // batch norm takes the statistics of the rows at hand, dropout drops
    uint64_t seed; // with step and view names the streams of dropout
    int64_t step, view;
    const struct hn_sparse *input, *input_t; // of `sparse-linear`, which stands first: x is unused
    const struct hn_sparse *mean, *mean_t;   // of `aggregate`: Ahat and its transpose
};

// Parameters of a layer when it is added; those that its type does not use are 0.
struct hn_layer_spec {
    int64_t out;                     // columns out: linear; channels out: convolution
    int64_t height, width, channels; // images in: convolution, average pool
    int64_t kernel, stride, pad;     // convolution; pool: kernel = stride
    bool bias;                       // linear, sparse-linear, convolution
    bool fan_in;                     // linear, convolution: first weights by the fan in alone
    double rate;                     // dropout
    bool relu;                       // batch norm: and ReLU of what it gives
};

struct hn_layer {
    const struct hn_layer_type *type;
    struct hn_layer_spec spec;
    int64_t number;               // of the layer in its network
    int64_t in, out;              // columns
    int64_t param, n_params;      // index in weights
    int64_t running, n_running;   // index in weights->running
    int64_t n_random;             // parameters, the first ones, that begin as random weights
    int64_t fans_in, fans_out;    // of these
    int64_t keep_row, keep_fixed; // numbers that backward reads: per row, and besides
    int64_t work;                 // numbers of scratch that a pass needs (one at a time)
};

// The batch norm of a pass, for a layer beside it that applies it to what it reads: it saves a pass
// through memory. [wide] each, the channels' one after the other and again; the last two once batch
// norm's backward pass has been.
struct hn_norm {
    int64_t wide; // 0: none
    bool relu;
    const hn_real *mean, *scale, *offset; // y = scale x + offset
    const hn_real *by_x, *shift;          // dx = scale dy - (x - mean) by_x - shift
    hn_real *sums;                        // of the rows of each part of a pass
};

// One pass through one layer, for its hooks. x[rows x in], y[rows x out],
// keep[keep_row * rows + keep_fixed], work as asked for.
struct hn_layer_run {
    const struct hn_layer *layer;
    const struct hn_pass *pass;
    const hn_real *param; // [n_params]
    hn_real *grad;        // [n_params] added to by backward
    hn_real *running;     // [n_running]
    int64_t rows;
    const hn_real *x;
    hn_real *y; // NULL: the next layer applies this batch norm
    hn_real *keep, *work;
    struct hn_norm before; // to be applied to x; backward, sums of dx to be taken
    struct hn_norm after;  // whose x is y: sums to be taken; backward, to be applied to dy
    bool summed;           // the layer beside this batch norm has taken its sums
};

// Rows [first, first + the result) are part p of a pass. Sums over rows are taken by parts, and
// added in their order.
enum { HN_PARTS = 32, HN_PART_ROWS = 8 }; // rows: at least
static inline int64_t hn_part(int64_t rows, int64_t p, int64_t *first) {
    int64_t size = hn_max((rows + HN_PARTS - 1) / HN_PARTS, HN_PART_ROWS);
    *first = hn_min(p * size, rows);
    return hn_min(size, rows - *first);
}

struct hn_layer_type {
    const char *name;
    const char *summary; // one line
    bool applies_norms;  // those before and after it
    bool in_place;       // backward's dx may be dy
    // Optional. From spec and in: sets out, n_params, n_running, n_random, fans_*, keep_*, work (as
    // many columns out as in, and 0). NULL, or an error message.
    const char *(*size)(struct hn_layer *layer);
    // Optional. Initial parameters (random weights are there, others 0) and running values (0).
    void (*init)(const struct hn_layer *layer, hn_real *param, hn_real *running);
    // Required. y from x.
    void (*forward)(const struct hn_layer_run *run);
    // Required. dx[rows x in] (NULL: not wanted) from dy[rows x out], and adds to grad. dy may be
    // overwritten.
    void (*backward)(const struct hn_layer_run *run, hn_real *dy, hn_real *dx);
};

// The list of layers: a new one is one file and one line here.
#define HN_LAYERS(X)                                                                               \
    X(linear)                                                                                      \
    X(batch_norm)                                                                                  \
    X(relu)                                                                                        \
    X(elu)                                                                                         \
    X(dropout)                                                                                     \
    X(unit)                                                                                        \
    X(convolution)                                                                                 \
    X(average_pool)                                                                                \
    X(aggregate)                                                                                   \
    X(sparse_linear)

#define HN_LAYER_DECLARE(name) extern const struct hn_layer_type hn_layer_##name;
HN_LAYERS(HN_LAYER_DECLARE)
