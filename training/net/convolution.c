// SPDX-License-Identifier: GPL-3.0-or-later
// Convolution as products of windows (windows.h). W [kernel * kernel * channels x out], and b [out]
// where no batch norm follows; channels last. Zeros around the image are not multiplied: positions
// with the same taps in the image are taken together. Glorot-uniform with fans
// kernel^2 channels and kernel^2 out, b = 0 at first; by the fan in, b is drawn as well.
//
// The gradient of the image is a convolution as well, one for each phase of its positions: those
// whose distance from the padded corner leaves the same remainders when divided by the stride have
// the same part of the kernel, flipped, over the same window of dy.
//
// The parts of a pass (hn_part) are dealt to a fixed number of groups, each with weight gradients
// of its own; these are added in the order of groups. A thread computes its groups one after the
// other in buffers that stay in a near cache, where what a batch norm beside sums over images is
// summed, too.
#include "training/net/batch_norm.h"
#include "training/net/layer.h"
#include "training/net/windows.h"

#include <omp.h>
#include <string.h>

enum { GROUPS = 8, CHUNK = HN_PART_ROWS, ALIGNED = 16 }; // CHUNK: images at once

// Along one side of images of `size`: n positions, `stride` apart, the first `pad` before the
// image, each with a window of `taps`.
struct axis {
    int64_t n, stride, pad, taps, size;
};

struct shape {
    struct axis y, x;
    int64_t window, params;
    int64_t panels;          // numbers of the packed weights, which all groups read
    int64_t x_size, dy_size; // numbers of a chunk
    int64_t group;           // numbers of a thread's buffers, x and dy, and a group's gradient
};

// This thread's buffers, of which there are not more than groups.
static hn_real *buffers_of(const struct hn_layer_run *run, const struct shape *shape) {
    return run->work + shape->panels + omp_get_thread_num() * shape->group;
}

static hn_real *gradient_of(const struct hn_layer_run *run, const struct shape *shape, int64_t g) {
    return run->work + shape->panels + g * shape->group + shape->x_size + shape->dy_size;
}

static int64_t aligned(int64_t n) { return (n + ALIGNED - 1) / ALIGNED * ALIGNED; }

static struct axis axis_of(const struct hn_layer_spec *s, int64_t size) {
    return (struct axis){(size + 2 * s->pad - s->kernel) / s->stride + 1, s->stride, s->pad,
                         s->kernel, size};
}

static struct shape shape_of(const struct hn_layer *l) {
    const struct hn_layer_spec *s = &l->spec;
    int64_t taps = s->kernel * s->kernel;
    struct shape shape = {.y = axis_of(s, s->height),
                          .x = axis_of(s, s->width),
                          .window = taps * s->channels,
                          .params = taps * s->channels * s->out + (s->bias ? s->out : 0)};
    shape.x_size = aligned(CHUNK * l->in + HN_WINDOW_SLACK);
    shape.dy_size = aligned(CHUNK * shape.y.n * shape.x.n * s->out + HN_WINDOW_SLACK);
    shape.panels =
        HN_WINDOW_PANEL * taps *
        hn_max(s->channels * hn_window_panels(s->out), s->out * hn_window_panels(s->channels));
    shape.group = shape.x_size + shape.dy_size + aligned(shape.params);
    return shape;
}

static const char *size(struct hn_layer *layer) {
    const struct hn_layer_spec *s = &layer->spec;
    if (s->stride < 1 || s->kernel < 1 || s->pad < 0 || s->kernel > s->height + 2 * s->pad ||
        s->kernel > s->width + 2 * s->pad || layer->in != s->height * s->width * s->channels)
        return "an image that does not fit";
    struct shape shape = shape_of(layer);
    layer->out = shape.y.n * shape.x.n * s->out;
    layer->n_params = shape.params;
    layer->n_random = s->fan_in ? layer->n_params : shape.window * s->out;
    layer->fans_in = shape.window;
    layer->fans_out = s->kernel * s->kernel * s->out;
    layer->work = shape.panels + GROUPS * shape.group;
    return s->out < 1 ? "no channels out" : NULL;
}

// Rows of W, or of its part for a phase transposed, [rows x n], as panels.
static void pack_row(const hn_real *row, int64_t stride, int64_t n, int64_t number, int64_t rows,
                     hn_real *panels) {
    for (int64_t j = 0; j < hn_window_panels(n) * HN_WINDOW_PANEL; j++)
        panels[(j / HN_WINDOW_PANEL * rows + number) * HN_WINDOW_PANEL + j % HN_WINDOW_PANEL] =
            j < n ? row[j * stride] : 0;
}

// Positions [from, to) and taps [first, last) that meet in the image.
struct span {
    int64_t from, to, first, last;
};

// The numbers [first, last) of n that lie in the image, where number k is at `at` + k * step.
static void find_inside(int64_t size, int64_t at, int64_t step, int64_t n, int64_t *first,
                        int64_t *last) {
    *first = hn_min((hn_max(0, -at) + step - 1) / step, n);
    *last = hn_max(*first, hn_min(n, (hn_max(0, size - at) + step - 1) / step));
}

// The positions from *next on that have the same taps, or the taps that have the same positions.
static bool next_span(struct axis a, bool by_tap, int64_t *next, struct span *s) {
    int64_t from = *next, first, last;
    for (; *next < (by_tap ? a.taps : a.n); ++*next) {
        if (by_tap)
            find_inside(a.size, *next - a.pad, a.stride, a.n, &first, &last);
        else
            find_inside(a.size, *next * a.stride - a.pad, 1, a.taps, &first, &last);
        if (*next > from &&
            (by_tap ? first != s->from || last != s->to : first != s->first || last != s->last))
            break;
        *s = by_tap ? (struct span){first, last, from, *next + 1}
                    : (struct span){from, *next + 1, first, last};
    }
    return *next > from;
}

// The windows of some images.
struct windows {
    struct axis y, x;
    int64_t channels, images;
    hn_real *image; // [images][y.size][x.size][channels]
};

// The products of positions with the panels go to `to` (their n columns); or, with `sum`, their
// sums times what is there are added to that. Positions with the same taps in the image are taken
// together; of sums, taps with the same positions, which are more products, unless their few
// channels do not fill a tile.
static void multiply(const struct windows *w, const hn_real *panels, struct hn_positions to,
                     int64_t n, hn_real *sum) {
    const int64_t row = w->x.size * w->channels, pitch = w->x.taps * w->channels;
    const bool by_tap = sum && w->channels % HN_WINDOW_FEW == 0;
    struct span v, h;
    for (int64_t i = 0; next_span(w->y, by_tap, &i, &v);)
        for (int64_t j = 0; next_span(w->x, by_tap, &j, &h);) {
            const struct hn_grid grid = {w->images, v.to - v.from, h.to - h.from};
            const struct hn_window window = {
                v.last - v.first, row, (h.last - h.first) * w->channels, pitch, w->y.taps * pitch};
            int64_t y = v.from * w->y.stride - w->y.pad + v.first;
            int64_t x = h.from * w->x.stride - w->x.pad + h.first;
            int64_t tap = v.first * pitch + h.first * w->channels;
            const struct hn_positions from = {w->image + y * row + x * w->channels, w->y.size * row,
                                              w->y.stride * row, w->x.stride * w->channels};
            struct hn_positions at = to;
            at.data += v.from * to.row + h.from * to.column;
            if (sum && grid.height > 0 && grid.width > 0)
                hn_windows_correlate(grid, window, from, at, n, sum + tap * n);
            if (!sum)
                hn_windows_multiply(grid, window, from, panels + tap * HN_WINDOW_PANEL, n, at);
        }
}

static struct windows windows_of(const struct hn_layer *l, const struct shape *shape,
                                 int64_t images, hn_real *x) {
    return (struct windows){shape->y, shape->x, l->spec.channels, images, x};
}

// Positions of y, dy or their copies.
static struct hn_positions outputs(const struct hn_layer *l, const struct shape *shape,
                                   hn_real *data) {
    return (struct hn_positions){data, l->out, shape->x.n * l->spec.out, l->spec.out};
}

static void forward_part(const struct hn_layer_run *run, const struct shape *shape, int64_t p) {
    const struct hn_layer *l = run->layer;
    const hn_real *bias = run->param + shape->window * l->spec.out;
    int64_t first, rows = hn_part(run->rows, p, &first), out = l->spec.out;
    hn_real *all = run->y + first * l->out;
    for (int64_t i = 0; i < rows; i += CHUNK) {
        int64_t images = hn_min(CHUNK, rows - i);
        hn_real *x = (hn_real *)run->x + (first + i) * l->in, *y = all + i * l->out;
        if (run->before.wide > 0) {
            hn_norm_forward(&run->before, x, images * l->in, buffers_of(run, shape));
            x = buffers_of(run, shape);
        }
        const struct windows windows = windows_of(l, shape, images, x);
        multiply(&windows, run->work, outputs(l, shape, y), out, NULL);
        for (int64_t k = 0; k < images * l->out && l->spec.bias; k += out)
            for (int64_t j = 0; j < out; j++)
                y[k + j] += bias[j];
    }
    if (run->after.wide > 0 && run->pass->training)
        hn_norm_sum(&run->after, p, all, all, rows * l->out);
}

static void count(const struct hn_layer_run *run, const struct shape *shape) {
    hn_count_product(run->pass->workers, run->rows * shape->y.n * shape->x.n, run->layer->spec.out,
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
        for (int64_t p = g; p < HN_PARTS; p += GROUPS)
            forward_part(run, &shape, p);
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

// dx of a chunk from its dy.
static void spread(const struct hn_layer_run *run, const struct shape *shape, int64_t images,
                   hn_real *dy, hn_real *dx) {
    const struct hn_layer_spec *s = &run->layer->spec;
    const hn_real *panels = run->work;
    int64_t column = s->stride * s->channels;
    for (int64_t number = 0; number < s->stride * s->stride; number++) {
        struct phase p = phase_of(s, number);
        int64_t y = (p.first_y + s->pad) / s->stride, x = (p.first_x + s->pad) / s->stride;
        const struct windows windows = {.y = {p.height, 1, p.taps_y - 1 - y, p.taps_y, shape->y.n},
                                        .x = {p.width, 1, p.taps_x - 1 - x, p.taps_x, shape->x.n},
                                        .channels = s->out,
                                        .images = images,
                                        .image = dy};
        const struct hn_positions to = {dx + (p.first_y * s->width + p.first_x) * s->channels,
                                        run->layer->in, s->width * column, column};
        multiply(&windows, panels, to, s->channels, NULL);
        panels += p.taps_y * p.taps_x * s->out * hn_window_panels(s->channels) * HN_WINDOW_PANEL;
    }
}

// Of a chunk, dx comes before x, since what is summed of both is summed as x is normalised.
static void backward_part(const struct hn_layer_run *run, const struct shape *shape, int64_t p,
                          const hn_real *dy, hn_real *dx) {
    const struct hn_layer *l = run->layer;
    int64_t first, rows = hn_part(run->rows, p, &first), out = l->spec.out;
    hn_real *x = buffers_of(run, shape), *by = x + shape->x_size;
    hn_real *grad = gradient_of(run, shape, p % GROUPS);
    for (int64_t i = first; i < first + rows; i += CHUNK) {
        int64_t images = hn_min(CHUNK, first + rows - i), n = images * l->out;
        int64_t at = i * l->in, n_x = images * l->in;
        if (run->after.wide > 0)
            hn_norm_backward(&run->after, run->y + i * l->out, dy + i * l->out, n, by);
        else
            memcpy(by, dy + i * l->out, (size_t)n * sizeof *by);
        if (dx)
            spread(run, shape, images, by, dx + at);
        if (run->before.wide > 0)
            hn_norm_sum_back(&run->before, p, i == first, run->x + at, dx + at, n_x, x);
        else
            memcpy(x, run->x + at, (size_t)n_x * sizeof *x);
        const struct windows windows = windows_of(l, shape, images, x);
        multiply(&windows, NULL, outputs(l, shape, by), out, grad);
        for (int64_t k = 0; k < n && l->spec.bias; k += out)
            for (int64_t j = 0; j < out; j++)
                grad[shape->window * out + j] += by[k + j];
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
    for (int64_t g = 0; g < GROUPS; g++) {
        hn_real *grad = gradient_of(run, &shape, g);
        memset(grad, 0, (size_t)l->n_params * sizeof *grad);
        for (int64_t p = g; p < HN_PARTS; p += GROUPS)
            backward_part(run, &shape, p, dy, dx);
    }
    for (int64_t g = 0; g < GROUPS; g++) {
        const hn_real *grad = gradient_of(run, &shape, g);
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
