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

enum { GROUPS = 16 };
static const double epsilon = 1e-5;

static int64_t channels_of(const struct hn_layer *l) {
    return l->spec.channels > 0 ? l->spec.channels : l->in;
}

static const char *size(struct hn_layer *layer) {
    int64_t c = channels_of(layer);
    layer->n_params = layer->n_running = layer->keep_fixed = 2 * c;
    layer->work = (2 * GROUPS + 4) * c;
    return layer->in % c ? "columns that are not a multiple of the channels" : NULL;
}

static void init(const struct hn_layer *layer, hn_real *param, hn_real *running) {
    int64_t c = channels_of(layer);
    for (int64_t j = 0; j < c; j++)
        param[j] = running[c + j] = 1; // gamma, variance; beta and mean are 0
}

// Sums over rows x[n x c] of x - shift (or its square).
HN_CLONES
static void sum_rows(const hn_real *restrict x, int64_t n, int64_t c, const hn_real *restrict shift,
                     hn_real *restrict sum) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++)
            sum[j] += x[i * c + j] - shift[j];
}

HN_CLONES
static void sum_squares(const hn_real *restrict x, int64_t n, int64_t c,
                        const hn_real *restrict shift, hn_real *restrict sum) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) {
            hn_real off = x[i * c + j] - shift[j];
            sum[j] += off * off;
        }
}

// total[c] = sum over all rows, by groups. work[GROUPS x c].
static void over_rows(const struct hn_layer_run *run, int64_t n, int64_t c, const hn_real *shift,
                      bool squares, hn_real *total) {
    int64_t group = (n + GROUPS - 1) / GROUPS;
    hn_real *part = run->work;
    memset(part, 0, (size_t)(GROUPS * c) * sizeof *part);
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < GROUPS; g++) {
        int64_t first = hn_min(g * group, n), rows = hn_min(group, n - first);
        (squares ? sum_squares : sum_rows)(run->x + first * c, rows, c, shift, part + g * c);
    }
    for (int64_t j = 0; j < c; j++) {
        double sum = 0;
        for (int64_t g = 0; g < GROUPS; g++)
            sum += (double)part[g * c + j];
        total[j] = (hn_real)sum;
    }
}

// keep: mean, then 1 / deviation, per channel.
static void take_statistics(const struct hn_layer_run *run, int64_t n, int64_t c) {
    hn_real *mean = run->keep, *inverse = mean + c;
    double momentum = run->layer->spec.momentum > 0 ? run->layer->spec.momentum : 0.1;
    hn_real *total = run->work + (int64_t)2 * GROUPS * c;
    over_rows(run, n, c, run->x, false, total); // the first row as shift: no cancellation
    for (int64_t j = 0; j < c; j++)
        mean[j] = run->x[j] + total[j] / (hn_real)n;
    over_rows(run, n, c, mean, true, total);
    for (int64_t j = 0; j < c; j++) {
        double variance = (double)total[j] / (double)n;
        inverse[j] = (hn_real)(1 / sqrt(variance + epsilon));
        if (run->pass->frozen)
            continue;
        double unbiased = n > 1 ? (double)total[j] / (double)(n - 1) : variance;
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

// Coefficients of normalise(), [c] each.
static void coefficients(const struct hn_layer_run *run, int64_t c, hn_real *scale,
                         hn_real *offset) {
    const hn_real *mean = run->keep, *inverse = mean + c;
    for (int64_t j = 0; j < c; j++) {
        scale[j] = run->param[j] * inverse[j];
        offset[j] = run->param[c + j] - mean[j] * scale[j];
    }
}

static void forward(const struct hn_layer_run *run) {
    int64_t c = channels_of(run->layer), n = run->rows * (run->layer->in / c);
    hn_real *mean = run->keep, *inverse = mean + c;
    if (run->pass->training)
        take_statistics(run, n, c);
    for (int64_t j = 0; j < c && !run->pass->training; j++) {
        mean[j] = run->running[j];
        inverse[j] = (hn_real)(1 / sqrt((double)run->running[c + j] + epsilon));
    }
    hn_real *scale = run->work, *offset = scale + c;
    coefficients(run, c, scale, offset);
    int64_t group = (n + GROUPS - 1) / GROUPS;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < GROUPS; g++) {
        int64_t first = hn_min(g * group, n), rows = hn_min(group, n - first);
        normalise(run->x + first * c, rows, c, scale, offset, run->layer->spec.relu,
                  run->y + first * c);
    }
}

// Per channel: of normalise() and, by the sums over rows, of denormalise(); [c] each.
struct factors {
    const hn_real *mean, *scale, *offset;
    hn_real *by_x, *shift;
    bool relu;
};

// Sums of dy, where ReLU lets it pass, and of dy xhat.
HN_CLONES
static void sum_gradients(const hn_real *restrict x, const hn_real *restrict dy, int64_t n,
                          int64_t c, const struct factors *s, hn_real *restrict sum,
                          hn_real *restrict along) {
    const hn_real *restrict mean = s->mean, *restrict scale = s->scale,
                            *restrict offset = s->offset;
    const bool relu = s->relu;
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
static void denormalise(const hn_real *restrict x, const hn_real *restrict dy, int64_t n, int64_t c,
                        const struct factors *s, hn_real *restrict dx) {
    const hn_real *restrict mean = s->mean, *restrict scale = s->scale,
                            *restrict offset = s->offset;
    const hn_real *restrict by_x = s->by_x, *restrict shift = s->shift;
    const bool relu = s->relu;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < c; j++) {
            hn_real at = x[i * c + j];
            hn_real passed = !relu || at * scale[j] + offset[j] > 0 ? dy[i * c + j] : 0;
            dx[i * c + j] = scale[j] * passed - (at - mean[j]) * by_x[j] - shift[j];
        }
}

// Adds to the gradients; the rest of `s`. part [2 x GROUPS x c].
static void gradients(const struct hn_layer_run *run, int64_t n, int64_t c, const hn_real *dy,
                      const struct factors *s, hn_real *part) {
    const hn_real *inverse = s->mean + c;
    int64_t group = (n + GROUPS - 1) / GROUPS;
    memset(part, 0, (size_t)(2 * GROUPS * c) * sizeof *part);
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < GROUPS; g++) {
        int64_t first = hn_min(g * group, n), rows = hn_min(group, n - first);
        sum_gradients(run->x + first * c, dy + first * c, rows, c, s, part + 2 * g * c,
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
        s->by_x[j] = fixed ? 0 : (hn_real)(scale * along * (double)inverse[j] / rows);
        s->shift[j] = fixed ? 0 : (hn_real)(scale * sum / rows);
    }
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    int64_t c = channels_of(run->layer), n = run->rows * (run->layer->in / c);
    hn_real *scale = run->work, *offset = scale + c, *part = scale + 4 * c;
    const struct factors s = {.mean = run->keep,
                              .scale = scale,
                              .offset = offset,
                              .by_x = scale + 2 * c,
                              .shift = scale + 3 * c,
                              .relu = run->layer->spec.relu};
    coefficients(run, c, scale, offset);
    gradients(run, n, c, dy, &s, part);
    int64_t group = (n + GROUPS - 1) / GROUPS;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < (dx ? GROUPS : 0); g++) {
        int64_t first = hn_min(g * group, n), rows = hn_min(group, n - first);
        denormalise(run->x + first * c, dy + first * c, rows, c, &s, dx + first * c);
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
