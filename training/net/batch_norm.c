// Batch norm (Ioffe and Szegedy 2015) per channel, the last axis: y = gamma (x - mean) /
// sqrt(variance + 1e-5) + beta. Training takes mean and (biased) variance of the rows at hand and
// moves the running ones towards them (the variance unbiased) by `momentum`, as PyTorch does;
// evaluation takes the running ones. With spec.relu, y = max(that, 0): one pass over the numbers
// less than a layer of its own, and backward, y > 0 follows from x.
//
// Sums over rows are made in a fixed number of groups of rows, added in their order.
#include "core/clones.h"
#include "training/net/layer.h"

#include <math.h>
#include <string.h>

enum { GROUPS = 64 };
static const double epsilon = 1e-5;

static int64_t channels_of(const struct hn_layer *l) {
    return l->spec.channels > 0 ? l->spec.channels : l->in;
}

static const char *size(struct hn_layer *layer) {
    int64_t c = channels_of(layer);
    layer->n_params = layer->n_running = 2 * c;
    layer->keep_fixed = 6 * c; // mean, 1 / deviation, and the rest of hn_norm
    layer->work = 2 * GROUPS * c;
    return layer->in % c ? "columns that are not a multiple of the channels" : NULL;
}

static void init(const struct hn_layer *layer, hn_real *param, hn_real *running) {
    int64_t c = channels_of(layer);
    for (int64_t j = 0; j < c; j++)
        param[j] = running[c + j] = 1; // gamma, variance; beta and mean are 0
}

// Of the rows x[n x c] of a group: the mean of x - shift, and the sum of squares about it, for
// which they are read from a near cache.
HN_CLONES
static void sum_rows(const hn_real *restrict x, int64_t n, int64_t c, const hn_real *restrict shift,
                     hn_real *restrict mean, hn_real *restrict squares) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++)
            mean[j] += x[i * c + j] - shift[j];
    for (int64_t j = 0; j < c && n > 0; j++)
        mean[j] /= (hn_real)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) {
            hn_real off = x[i * c + j] - shift[j] - mean[j];
            squares[j] += off * off;
        }
}

// Mean and 1 / deviation per channel. Groups are put together as Chan, Golub and LeVeque (1983) do.
static void take_statistics(const struct hn_layer_run *run, int64_t n, int64_t c) {
    const hn_real *shift = run->x; // the first row: no cancellation
    hn_real *mean = run->keep, *inverse = mean + c, *part = run->work;
    double momentum = run->layer->spec.momentum > 0 ? run->layer->spec.momentum : 0.1;
    int64_t group = (n + GROUPS - 1) / GROUPS;
    memset(part, 0, (size_t)(2 * GROUPS * c) * sizeof *part);
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < GROUPS; g++) {
        int64_t first = hn_min(g * group, n), rows = hn_min(group, n - first);
        sum_rows(run->x + first * c, rows, c, shift, part + 2 * g * c, part + (2 * g + 1) * c);
    }
    for (int64_t j = 0; j < c; j++) {
        double sum = 0, squares = 0;
        for (int64_t g = 0; g * group < n; g++)
            sum += (double)hn_min(group, n - g * group) * (double)part[2 * g * c + j];
        for (int64_t g = 0; g * group < n; g++) {
            double off = (double)part[2 * g * c + j] - sum / (double)n;
            squares += (double)part[(2 * g + 1) * c + j] +
                       (double)hn_min(group, n - g * group) * off * off;
        }
        mean[j] = shift[j] + (hn_real)(sum / (double)n);
        inverse[j] = (hn_real)(1 / sqrt(squares / (double)n + epsilon));
        if (run->pass->frozen)
            continue;
        double unbiased = squares / (double)hn_max(n - 1, 1);
        run->running[j] += (hn_real)(momentum * ((double)mean[j] - (double)run->running[j]));
        run->running[c + j] += (hn_real)(momentum * (unbiased - (double)run->running[c + j]));
    }
}

// y = scale x + offset, or 0 where ReLU leaves nothing.
HN_CLONES
static void normalise(const hn_real *restrict x, int64_t n, int64_t c,
                      const hn_real *restrict scale, const hn_real *restrict offset, bool relu,
                      hn_real *restrict y) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) {
            hn_real to = x[i * c + j] * scale[j] + offset[j];
            y[i * c + j] = !relu || to > 0 ? to : 0;
        }
}

struct hn_norm hn_norm_of(const struct hn_layer *layer, const hn_real *keep) {
    int64_t c = channels_of(layer);
    return (struct hn_norm){.channels = c,
                            .relu = layer->spec.relu,
                            .mean = keep,
                            .scale = keep + 2 * c,
                            .offset = keep + 3 * c,
                            .by_x = keep + 4 * c,
                            .shift = keep + 5 * c};
}

void hn_norm_forward(const struct hn_norm *norm, const hn_real *x, int64_t rows, hn_real *y) {
    normalise(x, rows, norm->channels, norm->scale, norm->offset, norm->relu, y);
}

static void forward(const struct hn_layer_run *run) {
    const struct hn_norm norm = hn_norm_of(run->layer, run->keep);
    int64_t c = norm.channels, n = run->rows * (run->layer->in / c);
    hn_real *mean = run->keep, *inverse = mean + c, *scale = mean + 2 * c, *offset = mean + 3 * c;
    if (run->pass->training)
        take_statistics(run, n, c);
    for (int64_t j = 0; j < c; j++) {
        if (!run->pass->training) {
            mean[j] = run->running[j];
            inverse[j] = (hn_real)(1 / sqrt((double)run->running[c + j] + epsilon));
        }
        scale[j] = run->param[j] * inverse[j];
        offset[j] = run->param[c + j] - mean[j] * scale[j];
    }
    int64_t group = (n + GROUPS - 1) / GROUPS;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < (run->y ? GROUPS : 0); g++) {
        int64_t first = hn_min(g * group, n), rows = hn_min(group, n - first);
        hn_norm_forward(&norm, run->x + first * c, rows, run->y + first * c);
    }
}

// Sums of dy, where ReLU lets it pass, and of dy xhat.
HN_CLONES
static void sum_gradients(const hn_real *restrict x, const hn_real *restrict dy, int64_t n,
                          const struct hn_norm *s, hn_real *restrict sum, hn_real *restrict along) {
    const hn_real *restrict mean = s->mean, *restrict scale = s->scale,
                            *restrict offset = s->offset;
    const bool relu = s->relu;
    const int64_t c = s->channels;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) {
            hn_real at = x[i * c + j];
            hn_real passed = !relu || at * scale[j] + offset[j] > 0 ? dy[i * c + j] : 0;
            sum[j] += passed;
            along[j] += passed * (at - mean[j]);
        }
}

// dx = scale dy - (x - mean) by_x - shift, of the same dy.
HN_CLONES
static void denormalise(const hn_real *restrict x, const hn_real *restrict dy, int64_t n,
                        const struct hn_norm *s, hn_real *restrict dx) {
    const hn_real *restrict mean = s->mean, *restrict scale = s->scale,
                            *restrict offset = s->offset;
    const hn_real *restrict by_x = s->by_x, *restrict shift = s->shift;
    const bool relu = s->relu;
    const int64_t c = s->channels;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) {
            hn_real at = x[i * c + j];
            hn_real passed = !relu || at * scale[j] + offset[j] > 0 ? dy[i * c + j] : 0;
            dx[i * c + j] = scale[j] * passed - (at - mean[j]) * by_x[j] - shift[j];
        }
}

void hn_norm_backward(const struct hn_norm *norm, const hn_real *x, const hn_real *dy, int64_t rows,
                      hn_real *dx) {
    denormalise(x, dy, rows, norm, dx);
}

// Adds to the gradients; by_x and shift of `norm`.
static void gradients(const struct hn_layer_run *run, const struct hn_norm *norm, int64_t n,
                      const hn_real *dy) {
    int64_t c = norm->channels, group = (n + GROUPS - 1) / GROUPS;
    hn_real *inverse = run->keep + c, *by_x = run->keep + 4 * c, *shift = run->keep + 5 * c;
    hn_real *part = run->work;
    memset(part, 0, (size_t)(2 * GROUPS * c) * sizeof *part);
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < GROUPS; g++) {
        int64_t first = hn_min(g * group, n), rows = hn_min(group, n - first);
        sum_gradients(run->x + first * c, dy + first * c, rows, norm, part + 2 * g * c,
                      part + (2 * g + 1) * c);
    }
    for (int64_t j = 0; j < c; j++) {
        double sum = 0, along = 0;
        for (int64_t g = 0; g < GROUPS; g++) {
            sum += (double)part[2 * g * c + j];
            along += (double)part[(2 * g + 1) * c + j];
        }
        along *= (double)inverse[j];
        run->grad[j] += (hn_real)along;
        run->grad[c + j] += (hn_real)sum;
        bool fixed = !run->pass->training; // running statistics do not move with x
        double scale = (double)run->param[j] * (double)inverse[j], rows = (double)n;
        by_x[j] = fixed ? 0 : (hn_real)(scale * along * (double)inverse[j] / rows);
        shift[j] = fixed ? 0 : (hn_real)(scale * sum / rows);
    }
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    const struct hn_norm norm = hn_norm_of(run->layer, run->keep);
    int64_t c = norm.channels, n = run->rows * (run->layer->in / c);
    gradients(run, &norm, n, dy);
    int64_t group = (n + GROUPS - 1) / GROUPS;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < (dx ? GROUPS : 0); g++) {
        int64_t first = hn_min(g * group, n), rows = hn_min(group, n - first);
        hn_norm_backward(&norm, run->x + first * c, dy + first * c, rows, dx + first * c);
    }
}

const struct hn_layer_type hn_layer_batch_norm = {
    .name = "batch-norm",
    .summary = "mean 0 and deviation 1 per channel, scaled and shifted; rectified or not",
    .size = size,
    .init = init,
    .forward = forward,
    .backward = backward,
};
