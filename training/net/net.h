// SPDX-License-Identifier: GPL-3.0-or-later
// Networks: sequences of layers, their parameters, and their passes.
#pragma once

#include "training/net/layer.h"

extern const struct hn_layer_type *const hn_layers[]; // all of them, NULL-terminated

enum { HN_NET_LAYERS = 24 };

struct hn_net {
    int64_t in, out; // columns; out of the layers so far
    int n;
    struct hn_layer layer[HN_NET_LAYERS];
};

// Building: begin, add layers in order. HN_INTERNAL for what does not fit (a bug of the task).
void hn_net_begin(struct hn_net *net, int64_t in);
HN_MUST_USE enum hn_code hn_net_add(struct hn_context *ctx, struct hn_net *net,
                                    struct hn_weights *weights, const struct hn_layer_type *type,
                                    struct hn_layer_spec spec);

// Batch norm of `channels` (0: all columns) and ReLU, or ReLU alone.
HN_MUST_USE enum hn_code hn_net_add_relu(struct hn_context *ctx, struct hn_net *net,
                                         struct hn_weights *weights, int64_t channels,
                                         bool batch_norm);

// Linear, batch norm (or a bias instead), ReLU, linear with bias, unit rows: a projection head.
// First weights by the fan in.
HN_MUST_USE enum hn_code hn_net_add_head(struct hn_context *ctx, struct hn_net *net,
                                         struct hn_weights *weights, int64_t hidden, int64_t out,
                                         bool batch_norm);

// After all networks are built: allocates (zeroed). Init sets first parameters, each layer's random
// weights from a stream named by seed and index: Glorot-uniform (Glorot and Bengio 2010, equation
// 16), U(-a, a) with a = sqrt(6 / (fan in + fan out)); or by the fan in alone, a = 1 / sqrt(fan
// in), as in PyTorch's layers, with which recipes A and B were measured.
HN_MUST_USE enum hn_code hn_weights_open(struct hn_context *ctx, struct hn_weights *weights);

// After a step whose gradients nobody takes: all become 0, and no row is touched.
void hn_weights_clear(struct hn_weights *weights);
void hn_net_init(const struct hn_net *net, struct hn_weights *weights, uint64_t seed);

// A network and its activations of a pass of up to `capacity` rows.
struct hn_tape {
    const struct hn_net *net; // borrowed
    int64_t capacity, rows;
    const hn_real *x;          // the input of the pass, borrowed until backward
    hn_real *y[HN_NET_LAYERS]; // outputs of the layers
    hn_real *keep[HN_NET_LAYERS];
    hn_real *work, *delta[2];
};

// backward: whether gradients will be asked for; without, passes take less memory.
HN_MUST_USE enum hn_code hn_tape_open(struct hn_context *ctx, const struct hn_net *net,
                                      int64_t rows, bool backward, struct hn_tape *tape);

// y[rows x out], owned by the tape, valid until its next pass. Output of layer i: tape->y[i].
hn_real *hn_net_forward(struct hn_weights *weights, struct hn_tape *tape,
                        const struct hn_pass *pass, const hn_real *x, int64_t rows);

// Gradients of the last forward pass of the tape: dy[rows x out] is overwritten, gradients are
// added to weights->grad, dx[rows x in] is filled unless NULL. A table ends it: see hn_weights.
void hn_net_backward(struct hn_weights *weights, struct hn_tape *tape, const struct hn_pass *pass,
                     hn_real *dy, hn_real *dx);
