// Convolution as products of windows (windows.h). W [kernel * kernel * channels x out], and b [out]
// where no batch norm follows; channels last; zeros around the image. Glorot-uniform with fans
// kernel^2 channels and kernel^2 out, b = 0 at first; by the fan in, b is drawn as well.
//
// The gradient of the image is a convolution as well, one for each phase of its positions: those
// whose distance from the padded corner leaves the same remainders when divided by the stride have
// the same part of the kernel, flipped, over the same window of dy.
//
// Images are cut into a fixed number of groups, each with buffers and weight gradients of its own;
// these are added in the order of groups.
#include "training/net/layer.h"
#include "training/net/windows.h"

#include <string.h>

enum { GROUPS = 8, POSITIONS = 128, ALIGNED = 16 }; // POSITIONS: of a chunk, at least

// An image with `lead` zeros before the first row and column, and some behind the last.
struct padded {
    int64_t height, width, channels, lead;
};

struct shape {
    int64_t out_height, out_width, positions, window, chunk; // chunk: images at once
    int64_t taps;                                            // kernel / stride, rounded up
    struct padded x, dy;
    int64_t params;
    int64_t panels;          // numbers of the packed weights, which all groups read
    int64_t x_size, dy_size; // numbers of a chunk
    int64_t group;           // numbers of a group's buffers: x, dy, gradient of the weights
};

static int64_t aligned(int64_t n) { return (n + ALIGNED - 1) / ALIGNED * ALIGNED; }

static int64_t numbers(struct padded p) { return p.height * p.width * p.channels; }

static struct shape shape_of(const struct hn_layer *l) {
    const struct hn_layer_spec *s = &l->spec;
    struct shape shape = {.out_height = (s->height + 2 * s->pad - s->kernel) / s->stride + 1,
                          .out_width = (s->width + 2 * s->pad - s->kernel) / s->stride + 1,
                          .window = s->kernel * s->kernel * s->channels,
                          .taps = (s->kernel + s->stride - 1) / s->stride};
    shape.positions = shape.out_height * shape.out_width;
    shape.chunk = (POSITIONS + shape.positions - 1) / shape.positions;
    shape.x = (struct padded){s->height + 2 * s->pad, s->width + 2 * s->pad, s->channels, s->pad};
    int64_t rows = hn_max(shape.out_height, (s->height - 1 + s->pad) / s->stride + 1);
    int64_t columns = hn_max(shape.out_width, (s->width - 1 + s->pad) / s->stride + 1);
    shape.dy =
        (struct padded){rows + shape.taps - 1, columns + shape.taps - 1, s->out, shape.taps - 1};
    shape.x_size = aligned(shape.chunk * numbers(shape.x) + HN_WINDOW_SLACK);
    shape.dy_size = aligned(shape.chunk * numbers(shape.dy) + HN_WINDOW_SLACK);
    shape.panels =
        HN_WINDOW_PANEL * hn_max(shape.window * hn_window_panels(s->out),
                                 s->kernel * s->kernel * s->out * hn_window_panels(s->channels));
    shape.params = shape.window * s->out + (s->bias ? s->out : 0);
    shape.group = shape.x_size + shape.dy_size + aligned(shape.params);
    return shape;
}

static const char *size(struct hn_layer *layer) {
    const struct hn_layer_spec *s = &layer->spec;
    if (s->stride < 1 || s->kernel < 1 || s->pad < 0 || s->kernel > s->height + 2 * s->pad ||
        s->kernel > s->width + 2 * s->pad || layer->in != s->height * s->width * s->channels)
        return "an image that does not fit";
    struct shape shape = shape_of(layer);
    layer->out = shape.positions * s->out;
    layer->n_params = shape.params;
    layer->n_random = s->fan_in ? layer->n_params : shape.window * s->out;
    layer->fans_in = shape.window;
    layer->fans_out = s->kernel * s->kernel * s->out;
    layer->work = shape.panels + GROUPS * shape.group;
    return s->out < 1 ? "no channels out" : NULL;
}

// Images of group g: [*first, *last).
static void group_range(int64_t rows, int64_t g, int64_t *first, int64_t *last) {
    int64_t group = (rows + GROUPS - 1) / GROUPS;
    *first = hn_min(g * group, rows);
    *last = hn_min(*first + group, rows);
}

// The x of `images` images from the first on, or the dy of what came of them, to where zeros
// surround them.
static void pad_x(const struct hn_layer_run *run, struct padded p, int64_t first, int64_t images,
                  hn_real *to) {
    const struct hn_layer_spec *s = &run->layer->spec;
    int64_t row = s->width * s->channels, pitch = p.width * s->channels;
    const hn_real *x = run->x + first * run->layer->in;
    to += p.lead * (pitch + s->channels);
    for (int64_t i = 0; i < images; i++, to += p.height * pitch)
        for (int64_t y = 0; y < s->height; y++, x += row)
            if (run->before.wide > 0)
                hn_norm_forward(&run->before, x, row, to + y * pitch);
            else
                memcpy(to + y * pitch, x, (size_t)row * sizeof *to);
}

static void pad_dy(const struct hn_layer_run *run, const struct shape *shape, int64_t first,
                   int64_t images, const hn_real *dy, hn_real *to) {
    int64_t row = shape->out_width * run->layer->spec.out;
    int64_t pitch = shape->dy.width * run->layer->spec.out;
    dy += first * run->layer->out;
    const hn_real *y = run->y + first * run->layer->out;
    to += shape->dy.lead * (pitch + run->layer->spec.out);
    for (int64_t i = 0; i < images; i++, to += shape->dy.height * pitch)
        for (int64_t r = 0; r < shape->out_height; r++, dy += row, y += row)
            if (run->after.wide > 0)
                hn_norm_backward(&run->after, y, dy, row, to + r * pitch);
            else
                memcpy(to + r * pitch, dy, (size_t)row * sizeof *to);
}

// Rows of W, or of its part for a phase transposed, [rows x n], as panels.
static void pack_row(const hn_real *row, int64_t stride, int64_t n, int64_t number, int64_t rows,
                     hn_real *panels) {
    for (int64_t j = 0; j < hn_window_panels(n) * HN_WINDOW_PANEL; j++)
        panels[(j / HN_WINDOW_PANEL * rows + number) * HN_WINDOW_PANEL + j % HN_WINDOW_PANEL] =
            j < n ? row[j * stride] : 0;
}

static void forward_group(const struct hn_layer_run *run, const struct shape *shape, int64_t g) {
    const struct hn_layer *l = run->layer;
    const struct hn_layer_spec *s = &l->spec;
    const hn_real *bias = run->param + shape->window * s->out;
    hn_real *x = run->work + shape->panels + g * shape->group;
    int64_t pitch = shape->x.width * s->channels, first, last;
    const struct hn_window window = {s->kernel, pitch, s->kernel * s->channels};
    const struct hn_positions from = {x, shape->x.height * pitch, s->stride * pitch,
                                      s->stride * s->channels};
    memset(x, 0, (size_t)shape->x_size * sizeof *x);
    group_range(run->rows, g, &first, &last);
    for (int64_t i = first; i < last; i += shape->chunk) {
        int64_t images = hn_min(shape->chunk, last - i);
        hn_real *y = run->y + i * l->out;
        pad_x(run, shape->x, i, images, x);
        hn_windows_multiply((struct hn_grid){images, shape->out_height, shape->out_width}, window,
                            from, run->work, s->out,
                            (struct hn_positions){y, l->out, shape->out_width * s->out, s->out});
        for (int64_t k = 0; k < images * shape->positions && s->bias; k++)
            for (int64_t j = 0; j < s->out; j++)
                y[k * s->out + j] += bias[j];
    }
}

static void count(const struct hn_layer_run *run, const struct shape *shape) {
    hn_count_product(run->pass->workers, run->rows * shape->positions, run->layer->spec.out,
                     shape->window);
}

static void forward(const struct hn_layer_run *run) {
    struct shape shape = shape_of(run->layer);
    int64_t out = run->layer->spec.out;
    count(run, &shape);
    for (int64_t w = 0; w < shape.window; w++)
        pack_row(run->param + w * out, 1, out, w, shape.window, run->work);
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < GROUPS; g++)
        forward_group(run, &shape, g);
}

// One phase: the positions of an image whose gradient has one part of the kernel.
struct phase {
    int64_t y, x;             // the remainders
    int64_t taps_y, taps_x;   // of the kernel
    int64_t first_y, first_x; // position in the image
    int64_t height, width;    // positions
};

static struct phase phase_of(const struct hn_layer_spec *s, int64_t number) {
    struct phase p = {.y = number / s->stride, .x = number % s->stride};
    p.taps_y = hn_max(0, (s->kernel - p.y + s->stride - 1) / s->stride);
    p.taps_x = hn_max(0, (s->kernel - p.x + s->stride - 1) / s->stride);
    p.first_y = ((p.y - s->pad) % s->stride + s->stride) % s->stride;
    p.first_x = ((p.x - s->pad) % s->stride + s->stride) % s->stride;
    p.height = hn_max(0, (s->height - p.first_y + s->stride - 1) / s->stride);
    p.width = hn_max(0, (s->width - p.first_x + s->stride - 1) / s->stride);
    return p;
}

// Packs the part of the kernel of every phase, one after the other.
static void pack_phases(const struct hn_layer_spec *s, const hn_real *param, hn_real *panels) {
    for (int64_t number = 0; number < s->stride * s->stride; number++) {
        struct phase p = phase_of(s, number);
        int64_t rows = p.taps_y * p.taps_x * s->out;
        for (int64_t r = 0; r < rows; r++) {
            int64_t ky = p.y + (p.taps_y - 1 - r / s->out / p.taps_x) * s->stride;
            int64_t kx = p.x + (p.taps_x - 1 - r / s->out % p.taps_x) * s->stride;
            pack_row(param + (ky * s->kernel + kx) * s->channels * s->out + r % s->out, s->out,
                     s->channels, r, rows, panels);
        }
        panels += rows * hn_window_panels(s->channels) * HN_WINDOW_PANEL;
    }
}

// dx of a chunk from its padded dy.
static void spread(const struct hn_layer_run *run, const struct shape *shape, int64_t images,
                   const hn_real *dy, hn_real *dx) {
    const struct hn_layer_spec *s = &run->layer->spec;
    const hn_real *panels = run->work;
    int64_t pitch = shape->dy.width * s->out, column = s->stride * s->channels;
    for (int64_t number = 0; number < s->stride * s->stride; number++) {
        struct phase p = phase_of(s, number);
        int64_t y = (p.first_y + s->pad) / s->stride + shape->taps - p.taps_y;
        int64_t x = (p.first_x + s->pad) / s->stride + shape->taps - p.taps_x;
        const struct hn_window window = {p.taps_y, pitch, p.taps_x * s->out};
        const struct hn_positions from = {(hn_real *)dy + y * pitch + x * s->out,
                                          shape->dy.height * pitch, pitch, s->out};
        const struct hn_positions to = {dx + (p.first_y * s->width + p.first_x) * s->channels,
                                        run->layer->in, s->width * column, column};
        hn_windows_multiply((struct hn_grid){images, p.height, p.width}, window, from, panels,
                            s->channels, to);
        panels += p.taps_y * p.taps_x * s->out * hn_window_panels(s->channels) * HN_WINDOW_PANEL;
    }
}

static void backward_group(const struct hn_layer_run *run, const struct shape *shape, int64_t g,
                           const hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
    const struct hn_layer_spec *s = &l->spec;
    hn_real *x = run->work + shape->panels + g * shape->group, *y = x + shape->x_size;
    hn_real *grad = y + shape->dy_size;
    int64_t pitch = shape->x.width * s->channels, row = shape->dy.width * s->out, first, last;
    const struct hn_window window = {s->kernel, pitch, s->kernel * s->channels};
    const struct hn_positions from = {x, shape->x.height * pitch, s->stride * pitch,
                                      s->stride * s->channels};
    const struct hn_positions by = {y + shape->dy.lead * (row + s->out), shape->dy.height * row,
                                    row, s->out};
    memset(x, 0, (size_t)(shape->x_size + shape->dy_size + l->n_params) * sizeof *x);
    group_range(run->rows, g, &first, &last);
    for (int64_t i = first; i < last; i += shape->chunk) {
        int64_t images = hn_min(shape->chunk, last - i);
        pad_x(run, shape->x, i, images, x);
        pad_dy(run, shape, i, images, dy, y);
        hn_windows_correlate((struct hn_grid){images, shape->out_height, shape->out_width}, window,
                             from, by, s->out, grad);
        for (int64_t k = 0; k < images * numbers(shape->dy) && s->bias; k++)
            grad[shape->window * s->out + k % s->out] += y[k];
        if (dx)
            spread(run, shape, images, y, dx + i * l->in);
    }
}

static void backward(const struct hn_layer_run *run, hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
    struct shape shape = shape_of(l);
    count(run, &shape);
    if (dx) {
        count(run, &shape);
        pack_phases(&l->spec, run->param, run->work);
    }
#pragma omp parallel for num_threads(run->pass->workers.threads) schedule(static)
    for (int64_t g = 0; g < GROUPS; g++)
        backward_group(run, &shape, g, dy, dx);
    for (int64_t g = 0; g < GROUPS; g++) {
        const hn_real *grad =
            run->work + shape.panels + g * shape.group + shape.x_size + shape.dy_size;
        for (int64_t k = 0; k < l->n_params; k++)
            run->grad[k] += grad[k];
    }
}

const struct hn_layer_type hn_layer_convolution = {
    .name = "convolution",
    .summary = "convolution, channels last",
    .applies_norms = true,
    .size = size,
    .forward = forward,
    .backward = backward,
};
