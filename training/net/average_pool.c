// SPDX-License-Identifier: GPL-3.0-or-later
// Means over windows of kernel x kernel positions, one beside the other; channels last.
#include "training/net/batch_norm.h"
#include "training/net/layer.h"

#include <string.h>

static const char *size(struct hn_layer *layer) {
    const struct hn_layer_spec *s = &layer->spec;
    if (s->kernel < 1 || s->height % s->kernel || s->width % s->kernel ||
        layer->in != s->height * s->width * s->channels)
        return "an image that windows do not fill";
    layer->out = s->height / s->kernel * (s->width / s->kernel) * s->channels;
    layer->work = HN_PARTS * layer->in;
    return NULL;
}

// Position in the output of input position (h, w), first channel.
static int64_t window(const struct hn_layer_spec *s, int64_t h, int64_t w) {
    return (h / s->kernel * (s->width / s->kernel) + w / s->kernel) * s->channels;
}

static void pool(const struct hn_layer *l, const hn_real *x, hn_real *y) {
    const struct hn_layer_spec *s = &l->spec;
    hn_real share = (hn_real)(1.0 / (double)(s->kernel * s->kernel));
    memset(y, 0, (size_t)l->out * sizeof *y);
    for (int64_t p = 0; p < s->height * s->width; p++, x += s->channels) {
        hn_real *to = y + window(s, p / s->width, p % s->width);
        for (int64_t c = 0; c < s->channels; c++)
            to[c] += share * x[c];
    }
}

static void spread(const struct hn_layer *l, const hn_real *dy, hn_real *dx) {
    const struct hn_layer_spec *s = &l->spec;
    hn_real share = (hn_real)(1.0 / (double)(s->kernel * s->kernel));
    for (int64_t p = 0; p < s->height * s->width; p++, dx += s->channels) {
        const hn_real *from = dy + window(s, p / s->width, p % s->width);
        for (int64_t c = 0; c < s->channels; c++)
            dx[c] = share * from[c];
    }
}

static void forward(const struct hn_layer_run *run) {
    const struct hn_layer *l = run->layer;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t p = 0; p < HN_PARTS; p++) {
        int64_t first, rows = hn_part(run->rows, p, &first);
        hn_real *normal = run->work + p * l->in;
        for (int64_t i = first; i < first + rows; i++) {
            const hn_real *x = run->x + i * l->in;
            if (run->before.wide > 0)
                hn_norm_forward(&run->before, x, l->in, normal);
            pool(l, run->before.wide > 0 ? normal : x, run->y + i * l->out);
        }
    }
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t p = 0; p < (dx ? HN_PARTS : 0); p++) {
        int64_t first, rows = hn_part(run->rows, p, &first);
        for (int64_t i = first; i < first + rows; i++) {
            spread(l, dy + i * l->out, dx + i * l->in);
            if (run->before.wide > 0)
                hn_norm_sum_back(&run->before, p, i == first, run->x + i * l->in, dx + i * l->in,
                                 l->in, NULL);
        }
    }
}

const struct hn_layer_type hn_layer_average_pool = {
    .name = "average-pool",
    .summary = "means over windows",
    .applies_norms = true,
    .size = size,
    .forward = forward,
    .backward = backward,
};
