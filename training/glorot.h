// Glorot-uniform first weights.
#ifndef HN_TRAINING_GLOROT_H
#define HN_TRAINING_GLOROT_H

#include "training/real.h"

// w[in x out] = U(-a, a), a = sqrt(6 / (in + out)); the stream is named by seed and `place` (of
// the parameters in the task's weights).
void hn_glorot(uint64_t seed, int64_t place, int64_t in, int64_t out, hn_real *w);
// The same with a fan of its own (convolution: kernel^2 channels).
void hn_glorot_fans(uint64_t seed, int64_t place, int64_t fan_in, int64_t fan_out, int64_t n,
                    hn_real *w);

#endif
