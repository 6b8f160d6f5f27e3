#include "training/glorot.h"
#include "core/random.h"

#include <math.h>

void hn_glorot_fans(uint64_t seed, int64_t place, int64_t fan_in, int64_t fan_out, int64_t n,
                    hn_real *w) {
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "training.init", 0, 0, place);
    double a = sqrt(6.0 / (double)(fan_in + fan_out));
    for (int64_t i = 0; i < n; i++)
        w[i] = (hn_real)(a * (2 * hn_stream_uniform(&stream) - 1));
}

void hn_glorot(uint64_t seed, int64_t place, int64_t in, int64_t out, hn_real *w) {
    hn_glorot_fans(seed, place, in, out, in * out, w);
}
