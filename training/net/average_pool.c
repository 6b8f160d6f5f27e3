// Means over windows of kernel x kernel positions, one beside the other; channels last.
#include "training/net/layer.h"

#include <string.h>

static const char *size(struct hn_layer *layer) {
    const struct hn_layer_spec *s = &layer->spec;
    if (s->kernel < 1 || s->height % s->kernel || s->width % s->kernel ||
        layer->in != s->height * s->width * s->channels)
        return "an image that windows do not fill";
    layer->out = s->height / s->kernel * (s->width / s->kernel) * s->channels;
    return NULL;
}

// Position in the output of input position (h, w), first channel.
static int64_t window(const struct hn_layer_spec *s, int64_t h, int64_t w) {
    return (h / s->kernel * (s->width / s->kernel) + w / s->kernel) * s->channels;
}

static void forward(const struct hn_layer_run *run) {
    const struct hn_layer *l = run->layer;
    const struct hn_layer_spec *s = &l->spec;
    hn_real share = (hn_real)(1.0 / (double)(s->kernel * s->kernel));
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < run->rows; i++) {
        const hn_real *x = run->x + i * l->in;
        hn_real *y = run->y + i * l->out;
        memset(y, 0, (size_t)l->out * sizeof *y);
        for (int64_t p = 0; p < s->height * s->width; p++, x += s->channels) {
            hn_real *to = y + window(s, p / s->width, p % s->width);
            for (int64_t c = 0; c < s->channels; c++)
                to[c] += share * x[c];
        }
    }
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
    const struct hn_layer_spec *s = &l->spec;
    hn_real share = (hn_real)(1.0 / (double)(s->kernel * s->kernel));
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t i = 0; i < (dx ? run->rows : 0); i++) {
        hn_real *to = dx + i * l->in;
        for (int64_t p = 0; p < s->height * s->width; p++, to += s->channels) {
            const hn_real *from = dy + i * l->out + window(s, p / s->width, p % s->width);
            for (int64_t c = 0; c < s->channels; c++)
                to[c] = share * from[c];
        }
    }
}

const struct hn_layer_type hn_layer_average_pool = {
    .name = "average-pool",
    .summary = "means over windows",
    .size = size,
    .forward = forward,
    .backward = backward,
};
