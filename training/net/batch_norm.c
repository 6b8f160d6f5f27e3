// SPDX-License-Identifier: GPL-3.0-or-later
// Batch norm (Ioffe and Szegedy 2015) per channel, the last axis: y = gamma (x - mean) /
// sqrt(variance + 1e-5) + beta. Training takes mean and (biased) variance of the rows at hand and
// moves the running ones towards them (the variance unbiased) by `momentum`, as PyTorch does;
// evaluation takes the running ones. With spec.relu, y = max(that, 0): one pass over the numbers
// less than a layer of its own, and backward, y > 0 follows from x.
//
// Several positions side by side are a row of `wide` numbers, so that loops over few channels are
// long ones.
#include "training/net/batch_norm.h"

#include "core/clones.h"
#include "training/net/layer.h"

#include <math.h>
#include <string.h>

// Numbers: of a cache line; fetched ahead of use. CHANNELS: whose sums are joined at once.
enum { WIDE = 256, LINE = 16, AHEAD = 4096, CHANNELS = 64 };
static const double epsilon = 1e-5, momentum = 0.1;

static int64_t channels_of(const struct hn_layer *l) {
    return l->spec.channels > 0 ? l->spec.channels : l->in;
}

static int64_t wide_of(int64_t channels) { return channels * hn_max(1, WIDE / channels); }

static const char *size(struct hn_layer *layer) {
    int64_t c = channels_of(layer);
    layer->n_params = layer->n_running = 2 * c;
    // Mean, 1 / deviation, and the rest of hn_norm; of each part, shift, mean and squares.
    layer->keep_fixed = (6 + 3 * HN_PARTS) * wide_of(c);
    return layer->in % c ? "columns that are not a multiple of the channels" : NULL;
}

static void init(const struct hn_layer *layer, hn_real *param, hn_real *running) {
    int64_t c = channels_of(layer);
    for (int64_t j = 0; j < c; j++)
        param[j] = running[c + j] = 1; // gamma, variance; beta and mean are 0
}

// Asks for a row that is read some rows from now, since a processor does not look ahead beyond a
// page by itself. Past the end, nothing happens.
static inline void fetch(const hn_real *x, int64_t wide) {
    for (int64_t j = 0; j < wide; j += LINE)
        __builtin_prefetch(x + AHEAD + j, 0, 2);
}

// Of the numbers x[n] of a part: per column of `wide` the mean of x - shift, and the sum of squares
// about it; the shift being one of them, cancellation costs at most a factor of their number.
HN_CLONES
static void sum_rows(const hn_real *restrict x, int64_t n, int64_t wide,
                     const hn_real *restrict shift, hn_real *restrict mean,
                     hn_real *restrict squares) {
    for (int64_t i = 0; i < n; i += wide)
        for (int64_t j = 0; j < hn_min(wide, n - i); j++) {
            hn_real off = x[i + j] - shift[j];
            mean[j] += off;
            squares[j] += off * off;
        }
    for (int64_t j = 0; j < hn_min(wide, n); j++) {
        int64_t rows = (n - j + wide - 1) / wide;
        hn_real sum = mean[j], rest;
        mean[j] /= (hn_real)rows;
        rest = squares[j] - sum * mean[j];
        squares[j] = rest > 0 ? rest : 0;
    }
}

void hn_norm_sum(const struct hn_norm *norm, int64_t p, const hn_real *shift, const hn_real *x,
                 int64_t n) {
    int64_t wide = norm->wide;
    hn_real *part = norm->sums + 3 * p * wide;
    memcpy(part, shift, (size_t)hn_min(wide, n) * sizeof *part);
    memset(part + wide, 0, (size_t)(2 * wide) * sizeof *part);
    sum_rows(x, n, wide, part, part + wide, part + 2 * wide);
}

// The numbers of part p: [*first, *first + n).
static int64_t part_of(const struct hn_layer_run *run, int64_t p, int64_t *first) {
    int64_t n = hn_part(run->rows, p, first) * run->layer->in;
    *first *= run->layer->in;
    return n;
}

// Adds `more` rows, those of a part, to `count` of n channels: their mean, off `shift`, and the sum
// of squares about it, put together as Chan, Golub and LeVeque (1983) do.
HN_CLONES
static void join(const hn_real *restrict part, int64_t wide, double more, double count, int64_t n,
                 const hn_real *restrict shift, double *restrict mean, double *restrict squares) {
    const double share = more / (count + more);
    for (int64_t j = 0; j < n; j++) {
        double off = (double)part[j] - (double)shift[j] + (double)part[wide + j] - mean[j];
        mean[j] += off * share;
        squares[j] += (double)part[2 * wide + j] + off * off * (share * count);
    }
}

// Of the channels [j, j + n): their columns in all parts, one after the other.
static void join_parts(const struct hn_layer_run *run, const struct hn_norm *norm, int64_t j,
                       int64_t n, double *mean, double *squares) {
    int64_t wide = norm->wide, c = channels_of(run->layer), first;
    const hn_real *part = norm->sums;
    double count = 0;
    for (int64_t p = 0; p < HN_PARTS; p++, part += 3 * wide) {
        int64_t all = part_of(run, p, &first);
        for (int64_t k = j; k < hn_min(wide, all); k += c) {
            int64_t more = (all - k + wide - 1) / wide;
            join(part + k, wide, (double)more, count, n, norm->sums + j, mean, squares);
            count += (double)more;
        }
    }
}

// x[wide] from its first c numbers.
static void repeat(hn_real *x, int64_t c) {
    for (int64_t j = c; j < wide_of(c); j++)
        x[j] = x[j - c];
}

static void sum_parts(const struct hn_layer_run *run, const struct hn_norm *norm, int64_t c) {
    hn_real *shift = run->keep;
    memcpy(shift, run->x, (size_t)c * sizeof *shift); // the first row: no cancellation
    repeat(shift, c);
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t p = 0; p < HN_PARTS; p++) {
        int64_t first, n = part_of(run, p, &first);
        hn_norm_sum(norm, p, shift, run->x + first, n);
    }
}

static void take_statistics(const struct hn_layer_run *run, const struct hn_norm *norm,
                            int64_t rows, int64_t c) {
    hn_real *to = run->keep, *inverse = to + norm->wide;
    if (!run->summed)
        sum_parts(run, norm, c);
    for (int64_t at = 0; at < c; at += CHANNELS) {
        double mean[CHANNELS] = {0}, squares[CHANNELS] = {0};
        int64_t n = hn_min(CHANNELS, c - at);
        join_parts(run, norm, at, n, mean, squares);
        for (int64_t k = 0, j = at; k < n; k++, j++) {
            to[j] = norm->sums[j] + (hn_real)mean[k];
            inverse[j] = (hn_real)(1 / sqrt(squares[k] / (double)rows + epsilon));
            double unbiased = squares[k] / (double)hn_max(rows - 1, 1);
            run->running[j] += (hn_real)(momentum * ((double)to[j] - (double)run->running[j]));
            run->running[c + j] += (hn_real)(momentum * (unbiased - (double)run->running[c + j]));
        }
    }
}

// y = scale x + offset, or 0 where ReLU leaves nothing; x[n].
HN_CLONES
static void normalise(const hn_real *restrict x, int64_t n, const struct hn_norm *s,
                      hn_real *restrict y) {
    const hn_real *restrict scale = s->scale, *restrict offset = s->offset;
    const bool relu = s->relu;
    for (int64_t i = 0; i < n; i += s->wide) {
        fetch(x + i, s->wide);
        for (int64_t j = 0; j < hn_min(s->wide, n - i); j++) {
            hn_real to = x[i + j] * scale[j] + offset[j];
            y[i + j] = !relu || to > 0 ? to : 0;
        }
    }
}

struct hn_norm hn_norm_of(const struct hn_layer *layer, hn_real *keep) {
    int64_t wide = wide_of(channels_of(layer));
    return (struct hn_norm){.wide = wide,
                            .relu = layer->spec.relu,
                            .mean = keep,
                            .scale = keep + 2 * wide,
                            .offset = keep + 3 * wide,
                            .by_x = keep + 4 * wide,
                            .shift = keep + 5 * wide,
                            .sums = keep + 6 * wide};
}

void hn_norm_forward(const struct hn_norm *norm, const hn_real *x, int64_t n, hn_real *y) {
    normalise(x, n, norm, y);
}

static void forward(const struct hn_layer_run *run) {
    const struct hn_norm norm = hn_norm_of(run->layer, run->keep);
    int64_t c = channels_of(run->layer), rows = run->rows * (run->layer->in / c);
    hn_real *mean = run->keep, *inverse = mean + norm.wide;
    hn_real *scale = inverse + norm.wide, *offset = scale + norm.wide;
    if (run->pass->training)
        take_statistics(run, &norm, rows, c);
    for (int64_t j = 0; j < c; j++) {
        if (!run->pass->training) {
            mean[j] = run->running[j];
            inverse[j] = (hn_real)(1 / sqrt((double)run->running[c + j] + epsilon));
        }
        scale[j] = run->param[j] * inverse[j];
        offset[j] = run->param[c + j] - mean[j] * scale[j];
    }
    repeat(mean, c);
    repeat(scale, c);
    repeat(offset, c);
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t p = 0; p < (run->y ? HN_PARTS : 0); p++) {
        int64_t first, n = part_of(run, p, &first);
        hn_norm_forward(&norm, run->x + first, n, run->y + first);
    }
}

// Sums of dy, where ReLU lets it pass, and of dy xhat, per column; and y again, rows `step` apart.
HN_CLONES
static void sum_gradients(const hn_real *restrict x, const hn_real *restrict dy, int64_t n,
                          const struct hn_norm *s, hn_real *restrict sum, hn_real *restrict along,
                          hn_real *restrict y, int64_t step) {
    const hn_real *restrict mean = s->mean, *restrict scale = s->scale,
                            *restrict offset = s->offset;
    const bool relu = s->relu;
    for (int64_t i = 0; i < n; i += s->wide, y += step) {
        fetch(x + i, s->wide);
        for (int64_t j = 0; j < hn_min(s->wide, n - i); j++) {
            hn_real at = x[i + j], to = at * scale[j] + offset[j];
            const bool passes = !relu || to > 0;
            hn_real passed = passes ? dy[i + j] : 0;
            sum[j] += passed;
            along[j] += passed * (at - mean[j]);
            y[j] = passes ? to : 0;
        }
    }
}

// dx = scale dy - (x - mean) by_x - shift, of the same dy.
HN_CLONES
static void denormalise(const hn_real *restrict x, const hn_real *dy, int64_t n,
                        const struct hn_norm *s, hn_real *dx) {
    const hn_real *restrict mean = s->mean, *restrict scale = s->scale,
                            *restrict offset = s->offset;
    const hn_real *restrict by_x = s->by_x, *restrict shift = s->shift;
    const bool relu = s->relu;
    for (int64_t i = 0; i < n; i += s->wide) {
        fetch(x + i, s->wide);
        fetch(dy + i, s->wide);
#pragma omp simd
        for (int64_t j = 0; j < hn_min(s->wide, n - i); j++) {
            hn_real at = x[i + j];
            hn_real passed = !relu || at * scale[j] + offset[j] > 0 ? dy[i + j] : 0;
            dx[i + j] = scale[j] * passed - (at - mean[j]) * by_x[j] - shift[j];
        }
    }
}

void hn_norm_backward(const struct hn_norm *norm, const hn_real *x, const hn_real *dy, int64_t n,
                      hn_real *dx) {
    denormalise(x, dy, n, norm, dx);
}

void hn_norm_sum_back(const struct hn_norm *norm, int64_t p, bool first, const hn_real *x,
                      const hn_real *dy, int64_t n, hn_real *y) {
    hn_real *part = norm->sums + 3 * p * norm->wide;
    if (first)
        memset(part, 0, (size_t)(2 * norm->wide) * sizeof *part);
    // Without y all rows go to one that nobody reads: a condition would keep the loop from vectors.
    sum_gradients(x, dy, n, norm, part, part + norm->wide, y ? y : part + 2 * norm->wide,
                  y ? norm->wide : 0);
}

HN_CLONES
static void add(const hn_real *restrict part, int64_t wide, int64_t n, double *restrict sum,
                double *restrict along) {
    for (int64_t j = 0; j < n; j++) {
        sum[j] += (double)part[j];
        along[j] += (double)part[wide + j];
    }
}

// As join_parts().
static void add_parts(const struct hn_layer_run *run, const struct hn_norm *norm, int64_t j,
                      int64_t n, double *sum, double *along) {
    int64_t wide = norm->wide, c = channels_of(run->layer), first;
    const hn_real *part = norm->sums;
    for (int64_t p = 0; p < HN_PARTS; p++, part += 3 * wide)
        for (int64_t k = j; k < hn_min(wide, part_of(run, p, &first)); k += c)
            add(part + k, wide, n, sum, along);
}

// Adds to the gradients; by_x and shift of `norm`.
static void gradients(const struct hn_layer_run *run, const struct hn_norm *norm, int64_t rows,
                      int64_t c, const hn_real *dy) {
    int64_t wide = norm->wide;
    hn_real *inverse = run->keep + wide, *by_x = run->keep + 4 * wide, *shift = by_x + wide;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t p = 0; p < (run->summed ? 0 : HN_PARTS); p++) {
        int64_t first, n = part_of(run, p, &first);
        hn_norm_sum_back(norm, p, true, run->x + first, dy + first, n, NULL);
    }
    for (int64_t at = 0; at < c; at += CHANNELS) {
        double sum[CHANNELS] = {0}, along[CHANNELS] = {0};
        int64_t n = hn_min(CHANNELS, c - at);
        add_parts(run, norm, at, n, sum, along);
        for (int64_t k = 0, j = at; k < n; k++, j++) {
            along[k] *= (double)inverse[j];
            run->grad[j] += (hn_real)along[k];
            run->grad[c + j] += (hn_real)sum[k];
            bool fixed = !run->pass->training; // running statistics do not move with x
            double scale = (double)run->param[j] * (double)inverse[j];
            by_x[j] = fixed ? 0 : (hn_real)(scale * along[k] * (double)inverse[j] / (double)rows);
            shift[j] = fixed ? 0 : (hn_real)(scale * sum[k] / (double)rows);
        }
    }
    repeat(by_x, c);
    repeat(shift, c);
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    const struct hn_norm norm = hn_norm_of(run->layer, run->keep);
    int64_t c = channels_of(run->layer), rows = run->rows * (run->layer->in / c);
    gradients(run, &norm, rows, c, dy);
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t p = 0; p < (dx ? HN_PARTS : 0); p++) {
        int64_t first, n = part_of(run, p, &first);
        hn_norm_backward(&norm, run->x + first, dy + first, n, dx + first);
    }
}

const struct hn_layer_type hn_layer_batch_norm = {
    .name = "batch-norm",
    .summary = "mean 0 and deviation 1 per channel, scaled and shifted; rectified or not",
    .size = size,
    .init = init,
    .in_place = true,
    .forward = forward,
    .backward = backward,
};
