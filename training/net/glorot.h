// First weights: Glorot-uniform (Glorot and Bengio 2010, equation 16), U(-a, a) with a = sqrt(6 /
// (fan in + fan out)); or by the fan in alone, a = 1 / sqrt(fan in), as PyTorch's layers begin,
// which is what recipes A and B were measured with.
#ifndef HN_TRAINING_NET_GLOROT_H
#define HN_TRAINING_NET_GLOROT_H

#include "training/net/layer.h"

// w[n] of the layer, from a stream named by seed and the layer's place in the weights.
void hn_glorot(const struct hn_layer *layer, uint64_t seed, int64_t fan_in, int64_t fan_out,
               int64_t n, hn_real *w);

#endif
