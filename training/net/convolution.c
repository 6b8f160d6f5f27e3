// Convolution by im2col: the windows of a few images become rows of a matrix small enough for the
// cache, and one product does the rest. W [kernel * kernel * channels x out], and b [out] where no
// batch norm follows; channels last; zeros around the image. Glorot-uniform with fans
// kernel^2 channels and kernel^2 out, b = 0 at first; by the fan in, b is drawn as well.
//
// Images are cut into a fixed number of groups, each with buffers and weight gradients of its own;
// these are added in the order of groups.
#include "training/net/layer.h"

#include <string.h>

enum { GROUPS = 8, CACHED = 1 << 16 }; // CACHED: numbers of a matrix of windows, at most

struct shape {
    int64_t out_height, out_width, positions, window, chunk; // chunk: images at once
};

static struct shape shape_of(const struct hn_layer *l) {
    const struct hn_layer_spec *s = &l->spec;
    struct shape shape = {.out_height = (s->height + 2 * s->pad - s->kernel) / s->stride + 1,
                          .out_width = (s->width + 2 * s->pad - s->kernel) / s->stride + 1,
                          .window = s->kernel * s->kernel * s->channels};
    shape.positions = shape.out_height * shape.out_width;
    shape.chunk = hn_max(1, CACHED / (shape.positions * shape.window));
    return shape;
}

// Numbers of a group's buffers: windows, their gradient, gradient of the weights.
static int64_t buffers_of(const struct hn_layer *l, const struct shape *shape) {
    return 2 * shape->chunk * shape->positions * shape->window + l->n_params;
}

static const char *size(struct hn_layer *layer) {
    const struct hn_layer_spec *s = &layer->spec;
    if (s->stride < 1 || s->kernel < 1 || s->pad < 0 || s->kernel > s->height + 2 * s->pad ||
        s->kernel > s->width + 2 * s->pad || layer->in != s->height * s->width * s->channels)
        return "an image that does not fit";
    struct shape shape = shape_of(layer);
    layer->out = shape.positions * s->out;
    layer->n_params = shape.window * s->out + (s->bias ? s->out : 0);
    layer->n_random = s->fan_in ? layer->n_params : shape.window * s->out;
    layer->fans_in = shape.window;
    layer->fans_out = s->kernel * s->kernel * s->out;
    layer->work = GROUPS * buffers_of(layer, &shape);
    return s->out < 1 ? "no channels out" : NULL;
}

// The part of a window's row `ky` that lies in the image: columns [from, to) of the kernel.
struct strip {
    int64_t from, to, at; // at: position in the image of column `from`; negative: none
};

static struct strip strip_of(const struct hn_layer_spec *s, int64_t oy, int64_t ox, int64_t ky) {
    int64_t y = oy * s->stride + ky - s->pad, x = ox * s->stride - s->pad;
    struct strip strip = {hn_max(0, -x), hn_min(s->kernel, s->width - x), -1};
    if (y >= 0 && y < s->height && strip.from < strip.to)
        strip.at = (y * s->width + x + strip.from) * s->channels;
    return strip;
}

// windows[positions x window] of one image.
static void to_windows(const struct hn_layer_spec *s, const struct shape *shape, const hn_real *x,
                       hn_real *windows) {
    int64_t row = s->kernel * s->channels;
    for (int64_t p = 0; p < shape->positions; p++)
        for (int64_t ky = 0; ky < s->kernel; ky++, windows += row) {
            struct strip t = strip_of(s, p / shape->out_width, p % shape->out_width, ky);
            int64_t from = t.from * s->channels, to = t.to * s->channels;
            if (t.at < 0 || to - from < row)
                memset(windows, 0, (size_t)row * sizeof *windows);
            if (t.at >= 0)
                memcpy(windows + from, x + t.at, (size_t)(to - from) * sizeof *windows);
        }
}

// Adds the windows' gradients to that of one image.
static void from_windows(const struct hn_layer_spec *s, const struct shape *shape,
                         const hn_real *windows, hn_real *restrict dx) {
    int64_t row = s->kernel * s->channels;
    for (int64_t p = 0; p < shape->positions; p++)
        for (int64_t ky = 0; ky < s->kernel; ky++, windows += row) {
            struct strip t = strip_of(s, p / shape->out_width, p % shape->out_width, ky);
            int64_t from = t.from * s->channels, to = t.to * s->channels;
            for (int64_t k = from; t.at >= 0 && k < to; k++)
                dx[t.at + k - from] += windows[k];
        }
}

// Images of group g: [*first, *last).
static void group_range(int64_t rows, int64_t g, int64_t *first, int64_t *last) {
    int64_t group = (rows + GROUPS - 1) / GROUPS;
    *first = hn_min(g * group, rows);
    *last = hn_min(*first + group, rows);
}

static void forward(const struct hn_layer_run *run) {
    const struct hn_layer *l = run->layer;
    const struct hn_layer_spec *s = &l->spec;
    struct shape shape = shape_of(l);
    const struct hn_workers alone = {1, run->pass->workers.flops};
    const hn_real *bias = run->param + shape.window * s->out;
    int64_t image = shape.positions * shape.window;
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < GROUPS; g++) {
        hn_real *windows = run->work + g * buffers_of(l, &shape);
        int64_t first, last;
        group_range(run->rows, g, &first, &last);
        for (int64_t i = first; i < last; i += shape.chunk) {
            int64_t images = hn_min(shape.chunk, last - i);
            for (int64_t k = 0; k < images; k++)
                to_windows(s, &shape, run->x + (i + k) * l->in, windows + k * image);
            hn_real *y = run->y + i * l->out;
            for (int64_t k = 0; k < images * shape.positions && s->bias; k++)
                memcpy(y + k * s->out, bias, (size_t)s->out * sizeof *y);
            hn_product(alone, (struct hn_factor){windows, shape.window, false},
                       (struct hn_factor){run->param, s->out, false}, images * shape.positions,
                       s->out, shape.window, s->bias, y, s->out);
        }
    }
}

static void backward_group(const struct hn_layer_run *run, const struct shape *shape, int64_t g,
                           const hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
    const struct hn_layer_spec *s = &l->spec;
    const struct hn_workers alone = {1, run->pass->workers.flops};
    int64_t image = shape->positions * shape->window, first, last;
    hn_real *windows = run->work + g * buffers_of(l, shape);
    hn_real *back = windows + shape->chunk * image, *grad = back + shape->chunk * image;
    memset(grad, 0, (size_t)l->n_params * sizeof *grad);
    group_range(run->rows, g, &first, &last);
    for (int64_t i = first; i < last; i += shape->chunk) {
        int64_t images = hn_min(shape->chunk, last - i), rows = images * shape->positions;
        struct hn_factor gradient = {dy + i * l->out, s->out, false};
        for (int64_t k = 0; k < images; k++)
            to_windows(s, shape, run->x + (i + k) * l->in, windows + k * image);
        hn_product(alone, (struct hn_factor){windows, shape->window, true}, gradient, shape->window,
                   s->out, rows, true, grad, s->out);
        for (int64_t k = 0; k < rows && s->bias; k++)
            for (int64_t j = 0; j < s->out; j++)
                grad[shape->window * s->out + j] += gradient.data[k * s->out + j];
        if (!dx)
            continue;
        hn_product(alone, gradient, (struct hn_factor){run->param, s->out, true}, rows,
                   shape->window, s->out, false, back, shape->window);
        memset(dx + i * l->in, 0, (size_t)(images * l->in) * sizeof *dx);
        for (int64_t k = 0; k < images; k++)
            from_windows(s, shape, back + k * image, dx + (i + k) * l->in);
    }
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
    struct shape shape = shape_of(l);
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < GROUPS; g++)
        backward_group(run, &shape, g, dy, dx);
    int64_t gradients = 2 * shape.chunk * shape.positions * shape.window;
    for (int64_t g = 0; g < GROUPS; g++) {
        const hn_real *grad = run->work + g * buffers_of(l, &shape) + gradients;
        for (int64_t k = 0; k < l->n_params; k++)
            run->grad[k] += grad[k];
    }
}

const struct hn_layer_type hn_layer_convolution = {
    .name = "convolution",
    .summary = "convolution, channels last",
    .size = size,
    .forward = forward,
    .backward = backward,
};
