// SPDX-License-Identifier: GPL-3.0-or-later
// Colours: brightness b, contrast c, saturation s and a turn of the hue are all linear in the pixel
// and leave greys grey, so that together they are one matrix M and one offset (1 - c) b m, m the
// mean grey of the crop:  p -> H S (c b p + (1 - c) b m 1),  H S 1 = 1.
// H turns about the axis (1, 1, 1) by Rodrigues' formula; S = s I + (1 - s) 1 g^T, g the weights of
// grey (ITU-R BT.601, as in Pillow and torchvision). Our deviations from torchvision: its hue shift
// goes through HSV, it clamps and rounds after every change, and takes the four in random order; of
// a crop that is wider or higher than the image it draws another one, where ours is cut off.
#include "training/images/augment.h"
#include "core/clones.h"
#include "core/matrix.h"

#include <math.h>
#include <string.h>

enum { SIDE = HN_IMAGE_SIDE, PLANE = SIDE * SIDE, CHANNELS = 3, LANES = 16, BRIGHTEST = 255 };
static const float channel_mean[CHANNELS] = {0.4914F, 0.4822F, 0.4465F};
static const float per_deviation[CHANNELS] = {1 / 0.2023F, 1 / 0.1994F, 1 / 0.2010F};
static const double grey_weight[CHANNELS] = {0.299, 0.587, 0.114};

static double draw_between(struct hn_stream *stream, double lo, double hi) {
    return lo + (hi - lo) * hn_stream_uniform(stream);
}

void hn_augment_draw(struct hn_stream *stream, struct hn_augmentation *out) {
    double area = draw_between(stream, 0.2, 1);
    double aspect = exp(draw_between(stream, -log(4.0 / 3), log(4.0 / 3)));
    out->width = fmin(sqrt(area * aspect), 1);
    out->height = fmin(sqrt(area / aspect), 1);
    out->x = 0.5 + (1 - out->width) * draw_between(stream, -0.5, 0.5);
    out->y = 0.5 + (1 - out->height) * draw_between(stream, -0.5, 0.5);
    out->flip = hn_stream_uniform(stream) < 0.5;
    out->jitter = hn_stream_uniform(stream) < 0.8;
    out->brightness = draw_between(stream, 0.6, 1.4);
    out->contrast = draw_between(stream, 0.6, 1.4);
    out->saturation = draw_between(stream, 0.6, 1.4);
    out->hue = draw_between(stream, -0.1, 0.1);
    out->grey = hn_stream_uniform(stream) < 0.2;
}

// Sources of the samples along one axis: two pixels and the weight of the second.
struct axis {
    int32_t from[SIDE], to[SIDE];
    float weight[SIDE];
};

static void place_samples(double centre, double width, bool flip, struct axis *out) {
    for (int k = 0; k < SIDE; k++) {
        double along = ((flip ? SIDE - 1 - k : k) + 0.5) / SIDE - 0.5;
        double at = fmin(fmax((centre + width * along) * SIDE - 0.5, 0), SIDE - 1);
        out->from[k] = (int32_t)at;
        out->to[k] = out->from[k] + (out->from[k] < SIDE - 1);
        out->weight[k] = (float)(at - out->from[k]);
    }
}

// Rows of a plane from two rows of it each.
HN_CLONES
static void sample_rows(const uint8_t *plane, const struct axis *y, float *out) {
    for (int i = 0; i < SIDE; i++) {
        const uint8_t *upper = plane + y->from[i] * SIDE, *lower = plane + y->to[i] * SIDE;
        for (int k = 0; k < SIDE; k++)
            out[i * SIDE + k] =
                (float)upper[k] + y->weight[i] * ((float)lower[k] - (float)upper[k]);
    }
}

HN_CLONES
static void sample_columns(const float *column, const struct axis *x, float *out) {
    for (int k = 0; k < SIDE; k++) {
        const float *left = column + x->from[k] * SIDE, *right = column + x->to[k] * SIDE;
        for (int i = 0; i < SIDE; i++)
            out[k * SIDE + i] = left[i] + x->weight[k] * (right[i] - left[i]);
    }
}

// One plane of the crop. Columns are rows of the transpose.
static void sample_plane(const uint8_t *plane, const struct axis *x, const struct axis *y,
                         float *out) {
    float turned[PLANE], sampled[PLANE];
    sample_rows(plane, y, out);
    hn_transpose(out, SIDE, SIDE, SIDE, turned, SIDE);
    sample_columns(turned, x, sampled);
    hn_transpose(sampled, SIDE, SIDE, SIDE, out, SIDE);
}

HN_CLONES
static double mean_grey(const float *planes) {
    double sum = 0, lane[LANES] = {0};
    for (int c = 0; c < CHANNELS; c++)
        for (int k = 0; k < PLANE; k += LANES)
            for (int j = 0; j < LANES; j++)
                lane[j] += grey_weight[c] * (double)planes[c * PLANE + k + j];
    for (int j = 0; j < LANES; j++)
        sum += lane[j];
    return sum / PLANE;
}

static void multiply(const double a[CHANNELS][CHANNELS], double m[CHANNELS][CHANNELS]) {
    double out[CHANNELS][CHANNELS];
    for (int i = 0; i < CHANNELS; i++)
        for (int j = 0; j < CHANNELS; j++)
            out[i][j] = a[i][0] * m[0][j] + a[i][1] * m[1][j] + a[i][2] * m[2][j];
    memcpy(m, out, sizeof out);
}

// m = what the colours of the crop become, without the offset, which is returned.
static double colour_matrix(const struct hn_augmentation *a, const float *planes,
                            double m[CHANNELS][CHANNELS]) {
    double offset = 0, saturate[CHANNELS][CHANNELS], turn[CHANNELS][CHANNELS],
           grey[CHANNELS][CHANNELS];
    const double angle = 2 * M_PI * a->hue, along = cos(angle), across = sin(angle) / sqrt(3);
    const double s = a->saturation;
    for (int i = 0; i < CHANNELS; i++)
        for (int j = 0; j < CHANNELS; j++) {
            double cross = i == j ? 0 : (j - i + CHANNELS) % CHANNELS == 1 ? -1 : 1;
            m[i][j] = i == j;
            grey[i][j] = grey_weight[j];
            saturate[i][j] = s * (i == j) + (1 - s) * grey_weight[j];
            turn[i][j] = along * (i == j) + (1 - along) / 3 + across * cross;
        }
    if (a->jitter) {
        for (int i = 0; i < CHANNELS; i++)
            m[i][i] = a->brightness * a->contrast;
        offset = (1 - a->contrast) * a->brightness * mean_grey(planes);
        multiply(saturate, m);
        multiply(turn, m);
    }
    if (a->grey)
        multiply(grey, m);
    return offset;
}

static inline float clamp_unit(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

// v in [0, 1].
static inline float normalise(float v, int channel) {
    return (v - channel_mean[channel]) * per_deviation[channel];
}

// Colours, which m takes to [0, 1], clamping, normalisation, and channels last.
HN_CLONES
static void finish(const float *planes, const float m[CHANNELS][CHANNELS], float offset,
                   float *out) {
    for (int k = 0; k < PLANE; k++)
        for (int c = 0; c < CHANNELS; c++) {
            float v = m[c][0] * planes[k] + m[c][1] * planes[PLANE + k] +
                      m[c][2] * planes[2 * PLANE + k] + offset;
            out[k * CHANNELS + c] = normalise(clamp_unit(v), c);
        }
}

void hn_augment_apply(const struct hn_augmentation *a, const uint8_t image[HN_IMAGE_BYTES],
                      float out[HN_IMAGE_BYTES]) {
    struct axis ax, ay;
    float planes[HN_IMAGE_BYTES], rounded[CHANNELS][CHANNELS];
    double m[CHANNELS][CHANNELS];
    place_samples(a->x, a->width, a->flip, &ax);
    place_samples(a->y, a->height, false, &ay);
    for (int c = 0; c < CHANNELS; c++)
        sample_plane(image + c * PLANE, &ax, &ay, planes + c * PLANE);
    double offset = colour_matrix(a, planes, m);
    for (int i = 0; i < CHANNELS; i++)
        for (int j = 0; j < CHANNELS; j++)
            rounded[i][j] = (float)(m[i][j] / BRIGHTEST);
    finish(planes, rounded, (float)(offset / BRIGHTEST), out);
}

void hn_augment_image(const uint8_t image[HN_IMAGE_BYTES], struct hn_stream *stream,
                      float out[HN_IMAGE_BYTES]) {
    struct hn_augmentation a;
    hn_augment_draw(stream, &a);
    hn_augment_apply(&a, image, out);
}

void hn_plain_image(const uint8_t image[HN_IMAGE_BYTES], float out[HN_IMAGE_BYTES]) {
    for (int c = 0; c < CHANNELS; c++)
        for (int k = 0; k < PLANE; k++)
            out[k * CHANNELS + c] = normalise((float)image[c * PLANE + k] / BRIGHTEST, c);
}

int32_t *hn_image_order(struct hn_context *ctx, const struct hn_images *data, int64_t n,
                        uint64_t seed, const char *purpose) {
    int32_t *order = hn_alloc(ctx, data->n + data->test, sizeof *order);
    if (order)
        hn_permute(seed, purpose, 0, 0, 0, order, data->n);
    for (int64_t i = 0; order && i < data->test; i++)
        order[n + i] = (int32_t)(data->n + i);
    return order;
}
