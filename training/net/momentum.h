// SPDX-License-Identifier: GPL-3.0-or-later
// A momentum encoder and its queue of keys (MoCo, He et al. 2020, algorithm 1). The copy of all
// parameters, its running values and the queue live behind the running values of the weights, where
// checkpoints find them.
//
// Before every step the copy follows the trained parameters, copy = rate copy + (1 - rate) value;
// after it the keys of the batch replace the oldest of the queue.
#pragma once

#include "training/net/layer.h"

struct hn_momentum {
    double rate;         // 0 to 1
    int64_t rows, d;     // of the queue
    int64_t n, first;    // parameters; where the copy begins within weights->running
    int64_t n_running;   // running values of the networks, which are copied behind it
    int64_t queue, next; // where the queue begins, and the position that is replaced next
};

enum { HN_MOMENTUM_ROWS_MAX = 1 << 20 }; // the position is kept as a hn_real, exactly

// After all networks are built on the weights, before hn_weights_open(): takes its numbers.
HN_MUST_USE enum hn_code hn_momentum_open(struct hn_context *ctx, struct hn_weights *weights,
                                          double rate, int64_t rows, int64_t d,
                                          struct hn_momentum *out);
// After the networks have their first parameters: the copy is alike, and the queue holds random
// directions drawn by seed.
void hn_momentum_init(const struct hn_momentum *m, struct hn_weights *weights, uint64_t seed);

// The weights that a forward pass of the copy takes; they borrow from `weights`.
struct hn_weights hn_momentum_weights(const struct hn_momentum *m,
                                      const struct hn_weights *weights);
void hn_momentum_follow(const struct hn_momentum *m, struct hn_weights *weights);
const hn_real *hn_momentum_queue(const struct hn_momentum *m, const struct hn_weights *weights);
// key[n x d], n <= rows.
void hn_momentum_push(const struct hn_momentum *m, struct hn_weights *weights, const hn_real *key,
                      int64_t n);
