#include "training/net/glorot.h"
#include "core/random.h"

#include <math.h>

void hn_glorot(const struct hn_layer *layer, uint64_t seed, int64_t fan_in, int64_t fan_out,
               int64_t n, hn_real *w) {
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "training.init", 0, 0, layer->param);
    double a =
        layer->spec.fan_in ? 1 / sqrt((double)fan_in) : sqrt(6.0 / (double)(fan_in + fan_out));
    for (int64_t i = 0; i < n; i++)
        w[i] = (hn_real)(a * (2 * hn_stream_uniform(&stream) - 1));
}
