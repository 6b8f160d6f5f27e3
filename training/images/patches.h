// SPDX-License-Identifier: GPL-3.0-or-later
// Frozen patch features of CIFAR-10 images: the front end of recipe A, fitted once without labels.
// Filters: 256 centroids of whitened 6 x 6 x 3 patches (Coates, Ng and Lee, AISTATS 2011: spherical
// k-means on ZCA-whitened patches), a convolution with stride 2, two-sided rectification, means
// over four quadrants: 2048 features; then standardised, PCA-whitened and cut to `keep`.
#pragma once

#include "datasets/images.h"

enum {
    HN_PATCH_SIDE = 6,
    HN_PATCH_STRIDE = 2,
    HN_PATCH_DIM = 3 * HN_PATCH_SIDE * HN_PATCH_SIDE,                        // 108
    HN_PATCH_PLACES = (HN_IMAGE_SIDE - HN_PATCH_SIDE) / HN_PATCH_STRIDE + 1, // 14, per axis
    HN_PATCH_FILTERS = 256,
    HN_PATCH_FEATURES = 4 * 2 * HN_PATCH_FILTERS // 2048
};

// Images by number, 32 x 32 x 3, channels last, as hn_plain_image() gives them. `fill` is called by
// several threads at once.
struct hn_image_source {
    void (*fill)(const void *self, int64_t i, float image[HN_IMAGE_BYTES]);
    const void *self;
    int64_t n;
};

struct hn_patches {
    float *filter;  // [HN_PATCH_FILTERS x HN_PATCH_DIM] rows of zero mean: response to a patch x is
                    // filter . x / (deviation of x + 0.1) + bias
    float *bias;    // [HN_PATCH_FILTERS]
    float *mean;    // [HN_PATCH_FEATURES]
    float *project; // [keep x HN_PATCH_FEATURES]
    int64_t keep;   // 0 before hn_patches_fit_projection()
    double objective; // mean |centroid . patch| over the patches at the end of k-means
};

// out[n x keep] of all images, or [n x HN_PATCH_FEATURES] before the projection is fitted. The same
// values for any number of threads. HN_INTERRUPTED.
HN_MUST_USE enum hn_code hn_patches_run(struct hn_context *ctx, const struct hn_patches *p,
                                        const struct hn_image_source *images, float *out);
