// y = x where x > 0, exp(x) - 1 elsewhere (Clevert et al. 2016, alpha = 1). Its slope below 0 is
// y + 1.
#include "core/clones.h"
#include "training/net/exp.h"
#include "training/net/layer.h"

enum { CHUNK = 1 << 14 };

static const char *size(struct hn_layer *layer) {
    (void)layer; // as many columns out as in
    return NULL;
}

HN_CLONES
static void forward_elu(const hn_real *restrict x, hn_real *restrict y, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : hn_exp(x[i] < 0 ? x[i] : 0) - 1;
}

HN_CLONES
static void backward_elu(const hn_real *restrict y, const hn_real *restrict dy,
                         hn_real *restrict dx, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        dx[i] = y[i] > 0 ? dy[i] : dy[i] * (y[i] + 1);
}

static void forward(const struct hn_layer_run *run) {
    int64_t n = run->rows * run->layer->in;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < n; i += CHUNK)
        forward_elu(run->x + i, run->y + i, hn_min(CHUNK, n - i));
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    int64_t n = dx ? run->rows * run->layer->in : 0;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < n; i += CHUNK)
        backward_elu(run->y + i, dy + i, dx + i, hn_min(CHUNK, n - i));
}

const struct hn_layer_type hn_layer_elu = {
    .name = "elu",
    .summary = "y = x above 0, exp(x) - 1 below",
    .size = size,
    .forward = forward,
    .backward = backward,
};
