// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the front end: ZCA of normalised patches (eigenvalue + 0.1), spherical k-means without signs
// (a patch belongs to the centroid of the largest |product|; a centroid becomes the direction of
// the sum of its patches, each with the sign of its product), and the principal axes of the
// features
// ((eigenvalue + 0.05)^-1/2 of their correlations). Sums that decide are in double, in a fixed
// order.
#include "training/images/patches_fit.h"

#include "core/random.h"
#include "core/sweep/blas.h"
#include "training/images/patches.h"

#include <math.h>
#include <string.h>

enum {
    DIM = HN_PATCH_DIM,
    ROW = 3 * HN_PATCH_SIDE,
    FILTERS = HN_PATCH_FILTERS,
    FEATURES = HN_PATCH_FEATURES,
    PATCHES = 40000,
    ITERATIONS = 10,
    PIECE = 1000, // patches assigned at a time
    SLICE = 2048, // images whose features are held at a time
    STRIPE = 256  // rows of the covariance that a thread works on
};
static const double deviation_floor = 0.1, zca_floor = 0.1, pca_floor = 0.05;

// The patches, their whitening and their centroids.
struct fit {
    float *patch; // [PATCHES x DIM] normalised, then whitened
    double mean[DIM];
    double zca[DIM * DIM];
    float *centroid; // [FILTERS x DIM]
    double *sum;     // [FILTERS x DIM]
    float *score;    // [PATCHES x FILTERS]
    int32_t *own;    // [PATCHES] centroid of each
};

static void normalise_patch(const float *raw, float *out) {
    double sum = 0, square = 0;
    for (int k = 0; k < DIM; k++)
        sum += (double)raw[k];
    double mean = sum / DIM;
    for (int k = 0; k < DIM; k++)
        square += ((double)raw[k] - mean) * ((double)raw[k] - mean);
    double scale = 1 / (sqrt(square / DIM) + deviation_floor);
    for (int k = 0; k < DIM; k++)
        out[k] = (float)(((double)raw[k] - mean) * scale);
}

static void draw_patches(struct hn_context *ctx, const struct hn_image_source *images,
                         uint64_t seed, struct fit *f) {
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < PATCHES; i++) {
        float image[HN_IMAGE_BYTES], raw[DIM];
        struct hn_stream s;
        hn_stream_open(&s, seed, "patches.draw", 0, 0, i);
        const uint32_t positions = HN_IMAGE_SIDE - HN_PATCH_SIDE + 1;
        images->fill(images->self, hn_stream_below(&s, (uint32_t)images->n), image);
        uint32_t row = hn_stream_below(&s, positions), column = hn_stream_below(&s, positions);
        for (uint32_t r = 0; r < HN_PATCH_SIDE; r++)
            memcpy(raw + r * ROW, image + ((row + r) * HN_IMAGE_SIDE + column) * 3,
                   ROW * sizeof *raw);
        normalise_patch(raw, f->patch + i * DIM);
    }
}

// f->mean, f->zca = V (lambda + floor)^-1/2 V^T.
static enum hn_code fit_zca(struct hn_context *ctx, struct fit *f) {
    double value[DIM], *vector, *moment;
    if (!HN_ALLOC(ctx, vector, DIM * DIM) || !HN_ZALLOC(ctx, moment, DIM * DIM))
        return ctx->code;
    memset(f->mean, 0, sizeof f->mean);
    for (int64_t i = 0; i < PATCHES; i++)
        for (int k = 0; k < DIM; k++)
            f->mean[k] += (double)f->patch[i * DIM + k] / PATCHES;
    for (int64_t i = 0; i < PATCHES; i++)
        for (int a = 0; a < DIM; a++) {
            double off = ((double)f->patch[i * DIM + a] - f->mean[a]) / PATCHES;
            for (int b = 0; b < DIM; b++)
                moment[a * DIM + b] += off * ((double)f->patch[i * DIM + b] - f->mean[b]);
        }
    if (hn_eigen_top(ctx, moment, DIM, DIM, value, vector))
        return ctx->code;
    for (int a = 0; a < DIM; a++)
        for (int b = 0; b < DIM; b++) {
            double sum = 0;
            for (int k = 0; k < DIM; k++)
                sum += vector[k * DIM + a] * vector[k * DIM + b] / sqrt(value[k] + zca_floor);
            f->zca[a * DIM + b] = sum;
        }
    return HN_OK;
}

static void whiten(struct hn_context *ctx, struct fit *f) {
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t i = 0; i < PATCHES; i++) {
        float *patch = f->patch + i * DIM, out[DIM];
        for (int a = 0; a < DIM; a++) {
            double sum = 0;
            for (int b = 0; b < DIM; b++)
                sum += f->zca[a * DIM + b] * ((double)patch[b] - f->mean[b]);
            out[a] = (float)sum;
        }
        memcpy(patch, out, sizeof out);
    }
}

static void set_unit(float *out, const double *in) {
    double square = 0;
    for (int k = 0; k < DIM; k++)
        square += in[k] * in[k];
    for (int k = 0; k < DIM; k++)
        out[k] = (float)(square > 0 ? in[k] / sqrt(square) : 0);
}

// Centroid c starts anew from patch number `at`.
static void set_centroid(struct fit *f, int c, int64_t at) {
    double patch[DIM];
    for (int k = 0; k < DIM; k++)
        patch[k] = (double)f->patch[at * DIM + k];
    set_unit(f->centroid + c * DIM, patch);
}

// f->own and f->score; the mean |product|.
static double assign(struct hn_context *ctx, struct fit *f) {
#pragma omp parallel for num_threads(ctx->threads) schedule(static)
    for (int64_t p = 0; p < PATCHES; p += PIECE) {
        hn_gemm_nt(f->patch + p * DIM, DIM, f->centroid, DIM, PIECE, FILTERS, DIM,
                   f->score + p * FILTERS, FILTERS);
        for (int64_t i = p; i < p + PIECE; i++) {
            const float *score = f->score + i * FILTERS;
            f->own[i] = 0;
            for (int32_t c = 1; c < FILTERS; c++)
                f->own[i] = fabsf(score[c]) > fabsf(score[f->own[i]]) ? c : f->own[i];
        }
    }
    double sum = 0;
    for (int64_t i = 0; i < PATCHES; i++)
        sum += fabs((double)f->score[i * FILTERS + f->own[i]]);
    return sum / PATCHES;
}

static void move_centroids(struct fit *f, struct hn_stream *stream) {
    int64_t count[FILTERS] = {0};
    memset(f->sum, 0, FILTERS * DIM * sizeof *f->sum);
    for (int64_t i = 0; i < PATCHES; i++) {
        double *sum = f->sum + f->own[i] * DIM;
        double sign = f->score[i * FILTERS + f->own[i]] < 0 ? -1 : 1;
        for (int k = 0; k < DIM; k++)
            sum[k] += sign * (double)f->patch[i * DIM + k];
        count[f->own[i]]++;
    }
    for (int c = 0; c < FILTERS; c++)
        if (count[c] > 0)
            set_unit(f->centroid + c * DIM, f->sum + c * DIM);
        else
            set_centroid(f, c, hn_stream_below(stream, PATCHES));
}

static double cluster(struct hn_context *ctx, uint64_t seed, struct fit *f) {
    struct hn_stream stream;
    hn_stream_open(&stream, seed, "patches.centroids", 0, 0, 0);
    for (int c = 0; c < FILTERS; c++)
        set_centroid(f, c, hn_stream_below(&stream, PATCHES));
    for (int k = 0; k < ITERATIONS; k++) {
        (void)assign(ctx, f);
        move_centroids(f, &stream);
    }
    return assign(ctx, f);
}

// The filters on normalised patches, whitening included; of zero mean over the patch.
static void set_filters(const struct fit *f, struct hn_patches *out) {
    for (int c = 0; c < FILTERS; c++) {
        double filter[DIM] = {0}, mean = 0, bias = 0;
        for (int a = 0; a < DIM; a++)
            for (int b = 0; b < DIM; b++)
                filter[b] += (double)f->centroid[c * DIM + a] * f->zca[a * DIM + b];
        for (int k = 0; k < DIM; k++) {
            mean += filter[k] / DIM;
            bias -= filter[k] * f->mean[k];
        }
        for (int k = 0; k < DIM; k++)
            out->filter[c * DIM + k] = (float)(filter[k] - mean);
        out->bias[c] = (float)bias;
    }
}

static enum hn_code fit_filters(struct hn_context *ctx, const struct hn_image_source *images,
                                uint64_t seed, struct fit *f, struct hn_patches *out) {
    bool good = HN_ALLOC(ctx, f->patch, (int64_t)PATCHES * DIM) &&
                HN_ALLOC(ctx, f->centroid, FILTERS * DIM) && HN_ALLOC(ctx, f->sum, FILTERS * DIM) &&
                HN_ALLOC(ctx, f->score, (int64_t)PATCHES * FILTERS) &&
                HN_ALLOC(ctx, f->own, PATCHES);
    if (!good)
        return ctx->code;
    draw_patches(ctx, images, seed, f);
    if (fit_zca(ctx, f))
        return ctx->code;
    whiten(ctx, f);
    out->objective = cluster(ctx, seed, f);
    set_filters(f, out);
    return HN_OK;
}

enum hn_code hn_patches_fit(struct hn_context *ctx, const struct hn_image_source *images,
                            uint64_t seed, struct hn_patches *out) {
    if (images->n < 1)
        return hn_fail(ctx, HN_DATA, "there are no images to fit the front end to");
    *out = (struct hn_patches){.filter = hn_alloc(ctx, FILTERS * DIM, sizeof *out->filter),
                               .bias = hn_alloc(ctx, FILTERS, sizeof *out->bias)};
    HN_SCOPE(ctx);
    struct fit *f = hn_zalloc(ctx, 1, sizeof *f);
    return f && out->filter && out->bias ? fit_filters(ctx, images, seed, f, out) : ctx->code;
}

// Sums and second moments of features about those of the first image (so that little is lost to
// rounding), and what comes of them.
struct moments {
    float *feature; // [SLICE x FEATURES]
    float *product; // [FEATURES x FEATURES] of a slice
    double *moment; // [FEATURES x FEATURES] rows up to the diagonal's block and beyond: symmetric
    double *vector; // [keep x FEATURES]
    float origin[FEATURES];
    double sum[FEATURES], value[FEATURES], deviation[FEATURES];
};

// A slice of another source.
struct window {
    const struct hn_image_source *whole;
    int64_t first;
};

static void fill_window(const void *self, int64_t i, float image[HN_IMAGE_BYTES]) {
    const struct window *w = self;
    w->whole->fill(w->whole->self, w->first + i, image);
}

static void add_slice(struct hn_context *ctx, struct moments *m, int64_t rows) {
    for (int64_t i = 0; i < rows; i++)
        for (int k = 0; k < FEATURES; k++) {
            m->feature[i * FEATURES + k] -= m->origin[k];
            m->sum[k] += (double)m->feature[i * FEATURES + k];
        }
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
    for (int64_t a = 0; a < FEATURES; a += STRIPE) {
        float *product = m->product + a * FEATURES + a; // columns before the stripe: by symmetry
        for (int64_t i = 0; i < STRIPE; i++)
            memset(product + i * FEATURES, 0, (size_t)(FEATURES - a) * sizeof *product);
        hn_gemm_tn_add(m->feature + a, FEATURES, m->feature + a, FEATURES, STRIPE, FEATURES - a,
                       rows, product, FEATURES);
        for (int64_t i = a; i < a + STRIPE; i++)
            for (int64_t k = i; k < FEATURES; k++)
                m->moment[i * FEATURES + k] += (double)m->product[i * FEATURES + k];
    }
}

static enum hn_code collect(struct hn_context *ctx, const struct hn_image_source *images,
                            const struct hn_patches *raw, struct moments *m) {
    enum hn_code code = HN_OK;
    for (int64_t at = 0; code == HN_OK && at < images->n; at += SLICE) {
        struct window window = {images, at};
        struct hn_image_source slice = {fill_window, &window, hn_min(SLICE, images->n - at)};
        code = hn_patches_run(ctx, raw, &slice, m->feature);
        if (code == HN_OK && at == 0)
            memcpy(m->origin, m->feature, sizeof m->origin);
        if (code == HN_OK)
            add_slice(ctx, m, slice.n);
    }
    return code;
}

// Moments become correlations; both triangles.
static void correlate(struct moments *m, int64_t n) {
    for (int64_t i = 0; i < FEATURES; i++) {
        double mean = m->sum[i] / (double)n;
        double variance = m->moment[i * FEATURES + i] / (double)n - mean * mean;
        m->deviation[i] = variance > 1e-12 ? sqrt(variance) : 0;
    }
    for (int64_t i = 0; i < FEATURES; i++)
        for (int64_t k = i; k < FEATURES; k++) {
            double scale = m->deviation[i] * m->deviation[k];
            double covariance = m->moment[i * FEATURES + k] / (double)n -
                                m->sum[i] / (double)n * (m->sum[k] / (double)n);
            m->moment[i * FEATURES + k] = m->moment[k * FEATURES + i] =
                scale > 0 ? covariance / scale : 0;
        }
}

static void set_projection(const struct moments *m, int64_t n, struct hn_patches *p) {
    for (int64_t k = 0; k < FEATURES; k++)
        p->mean[k] = (float)((double)m->origin[k] + m->sum[k] / (double)n);
    for (int64_t i = 0; i < p->keep; i++)
        for (int64_t k = 0; k < FEATURES; k++)
            p->project[i * FEATURES + k] =
                (float)(m->deviation[k] > 0 ? m->vector[i * FEATURES + k] / m->deviation[k] /
                                                  sqrt(fmax(m->value[i], 0) + pca_floor)
                                            : 0);
}

static enum hn_code fit_axes(struct hn_context *ctx, const struct hn_image_source *images,
                             int64_t keep, struct moments *m, struct hn_patches *p) {
    const int64_t square = (int64_t)FEATURES * FEATURES;
    struct hn_patches raw = *p;
    raw.keep = 0;
    bool good = HN_ALLOC(ctx, m->feature, (int64_t)SLICE * FEATURES) &&
                HN_ALLOC(ctx, m->product, square) && HN_ZALLOC(ctx, m->moment, square) &&
                HN_ALLOC(ctx, m->vector, keep * FEATURES);
    if (!good || collect(ctx, images, &raw, m))
        return ctx->code;
    correlate(m, images->n);
    if (hn_eigen_top(ctx, m->moment, FEATURES, keep, m->value, m->vector))
        return ctx->code;
    p->keep = keep;
    set_projection(m, images->n, p);
    return HN_OK;
}

enum hn_code hn_patches_fit_projection(struct hn_context *ctx, const struct hn_image_source *images,
                                       int64_t keep, struct hn_patches *p) {
    if (keep < 1 || keep > FEATURES || images->n < 2)
        return hn_fail(ctx, HN_USAGE, "%lld dimensions cannot be kept of %d, from %lld images",
                       (long long)keep, FEATURES, (long long)images->n);
    p->mean = hn_alloc(ctx, FEATURES, sizeof *p->mean);
    p->project = hn_alloc(ctx, keep * FEATURES, sizeof *p->project);
    HN_SCOPE(ctx);
    struct moments *m = hn_zalloc(ctx, 1, sizeof *m);
    return m && p->mean && p->project ? fit_axes(ctx, images, keep, m, p) : ctx->code;
}
