// y = max(x, 0).
#include "core/clones.h"
#include "training/net/layer.h"

enum { CHUNK = 1 << 14 };

static const char *size(struct hn_layer *layer) {
    (void)layer; // as many columns out as in
    return NULL;
}

HN_CLONES
static void forward_some(const hn_real *restrict x, hn_real *restrict y, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
}

HN_CLONES
static void backward_some(const hn_real *restrict y, const hn_real *restrict dy,
                          hn_real *restrict dx, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        dx[i] = y[i] > 0 ? dy[i] : 0;
}

static void forward(const struct hn_layer_run *run) {
    int64_t n = run->rows * run->layer->in;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < n; i += CHUNK)
        forward_some(run->x + i, run->y + i, hn_min(CHUNK, n - i));
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    int64_t n = dx ? run->rows * run->layer->in : 0;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < n; i += CHUNK)
        backward_some(run->y + i, dy + i, dx + i, hn_min(CHUNK, n - i));
}

const struct hn_layer_type hn_layer_relu = {
    .name = "relu",
    .summary = "y = max(x, 0)",
    .size = size,
    .forward = forward,
    .backward = backward,
};
