// SPDX-License-Identifier: GPL-3.0-or-later
// The convolution is one matrix product per few images: their patches side by side (im2col), 196
// per image, times the filters. CHUNK images at a time, so that patches and responses stay in a
// second-level cache of a megabyte or two; the projection takes BLOCK images at a time. Both are
// fixed, so that results do not depend on the number of threads.
//
// As filters have zero mean over the patch, local normalisation only divides the response:
//   c . Z ((x - mean x) / (dev x + .1) - m) = f . x / (dev x + .1) - c . Z m,   f = Z c, centred,
// with Z the whitening, m the mean of the normalised patches and c the centroid.
#include "training/images/patches.h"
#include "core/clones.h"
#include "core/sweep/blas.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    SIDE = HN_IMAGE_SIDE,
    DIM = HN_PATCH_DIM,
    ROW = 3 * HN_PATCH_SIDE, // floats of a row of a patch, which lie side by side
    PLACES = HN_PATCH_PLACES * HN_PATCH_PLACES,
    HALF = HN_PATCH_PLACES / 2,
    FILTERS = HN_PATCH_FILTERS,
    FEATURES = HN_PATCH_FEATURES,
    CHUNK = 4,
    BLOCK = 64
};
static const float deviation_floor = 0.1F, threshold = 0.5F;

// Scratch of a thread.
struct scratch {
    float image[HN_IMAGE_BYTES];
    float patch[CHUNK * PLACES * DIM];
    float response[CHUNK * PLACES * FILTERS];
    float scale[CHUNK * PLACES]; // 1 / (deviation + floor) of each patch
    float feature[BLOCK * FEATURES];
};

// 1 / (deviation + floor) of a patch.
HN_CLONES
static float patch_scale(const float *patch) {
    float sum[ROW] = {0}, square[ROW] = {0}, total = 0, spread = 0;
    for (int i = 0; i < DIM; i += ROW)
        for (int k = 0; k < ROW; k++)
            sum[k] += patch[i + k];
    for (int k = 0; k < ROW; k++)
        total += sum[k];
    float mean = total / DIM;
    for (int i = 0; i < DIM; i += ROW)
        for (int k = 0; k < ROW; k++)
            square[k] += (patch[i + k] - mean) * (patch[i + k] - mean);
    for (int k = 0; k < ROW; k++)
        spread += square[k];
    return 1 / (sqrtf(spread / DIM) + deviation_floor);
}

static void take_patch(const float *image, int i, int j, float *patch) {
    for (int r = 0; r < HN_PATCH_SIDE; r++)
        memcpy(patch + r * ROW, image + ((i + r) * SIDE + j) * 3, ROW * sizeof *patch);
}

// Adds the rectified responses of one position to the sums of its quadrant.
HN_CLONES
static void add_position(const float *response, float scale, const float *bias, float *sum) {
    for (int k = 0; k < FILTERS; k++) {
        float r = response[k] * scale + bias[k];
        float above = r - threshold, below = -r - threshold;
        sum[k] += above > 0 ? above : 0;
        sum[FILTERS + k] += below > 0 ? below : 0;
    }
}

static void pool(const struct hn_patches *p, const float *response, const float *scale,
                 float *feature) {
    const float share = 1.0F / (HALF * HALF);
    memset(feature, 0, FEATURES * sizeof *feature);
    for (int i = 0; i < PLACES; i++) {
        int quadrant = 2 * (i / HN_PATCH_PLACES / HALF) + i % HN_PATCH_PLACES / HALF;
        add_position(response + i * FILTERS, scale[i], p->bias,
                     feature + quadrant * (FEATURES / 4));
    }
    for (int k = 0; k < FEATURES; k++)
        feature[k] *= share;
}

// Features of `count` <= CHUNK images from number `first` on.
static void run_chunk(const struct hn_patches *p, const struct hn_image_source *images,
                      int64_t first, int64_t count, struct scratch *s, float *feature) {
    for (int64_t c = 0; c < count; c++) {
        images->fill(images->self, first + c, s->image);
        for (int i = 0; i < PLACES; i++) {
            float *patch = s->patch + (c * PLACES + i) * DIM;
            take_patch(s->image, i / HN_PATCH_PLACES * HN_PATCH_STRIDE,
                       i % HN_PATCH_PLACES * HN_PATCH_STRIDE, patch);
            s->scale[c * PLACES + i] = patch_scale(patch);
        }
    }
    hn_gemm_nt(s->patch, DIM, p->filter, DIM, count * PLACES, FILTERS, DIM, s->response, FILTERS);
    for (int64_t c = 0; c < count; c++)
        pool(p, s->response + c * PLACES * FILTERS, s->scale + c * PLACES, feature + c * FEATURES);
}

// Raw features of `count` <= BLOCK images into s->feature.
static void run_block(const struct hn_patches *p, const struct hn_image_source *images,
                      int64_t first, int64_t count, struct scratch *s) {
    for (int64_t at = 0; at < count; at += CHUNK)
        run_chunk(p, images, first + at, hn_min(CHUNK, count - at), s, s->feature + at * FEATURES);
}

static void centre_rows(float *feature, int64_t rows, const float *mean) {
    for (int64_t i = 0; i < rows; i++)
        for (int k = 0; k < FEATURES; k++)
            feature[i * FEATURES + k] -= mean[k];
}

static void write_block(const struct hn_patches *p, int64_t count, struct scratch *s, float *out) {
    if (p->keep == 0) {
        memcpy(out, s->feature, (size_t)(count * FEATURES) * sizeof *out);
        return;
    }
    centre_rows(s->feature, count, p->mean);
    hn_gemm_nt(s->feature, FEATURES, p->project, FEATURES, count, p->keep, FEATURES, out, p->keep);
}

enum hn_code hn_patches_run(struct hn_context *ctx, const struct hn_patches *p,
                            const struct hn_image_source *images, float *out) {
    int64_t width = p->keep ? p->keep : FEATURES, blocks = (images->n + BLOCK - 1) / BLOCK;
    HN_SCOPE(ctx);
    struct scratch *scratch = hn_alloc(ctx, ctx->threads, sizeof *scratch);
    if (!scratch)
        return ctx->code;
    int64_t wave = 16 * (int64_t)ctx->threads; // between looks at the stop flag
    for (int64_t from = 0; from < blocks; from += wave) {
        int64_t to = hn_min(blocks, from + wave);
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 1)
        for (int64_t b = from; b < to; b++) {
            struct scratch *own = scratch + omp_get_thread_num();
            int64_t count = hn_min(BLOCK, images->n - b * BLOCK);
            run_block(p, images, b * BLOCK, count, own);
            write_block(p, count, own, out + b * BLOCK * width);
        }
        if (hn_check_stop(ctx))
            return ctx->code;
    }
    return HN_OK;
}
