// SPDX-License-Identifier: GPL-3.0-or-later
// Cached views of CIFAR-10 images as frozen patch features (recipe A): V augmented views of every
// training image, and the clean ones of training and test images. Made once, kept in a file whose
// name and header hold a digest of all that it depends on, and mapped read-only: any number of
// seeds, samplers and processes share it.
#pragma once

#include "datasets/images.h"

// Settings of cached views. They take the first n training images of a fixed order drawn by seed
// (files may be sorted by class). Filters are fitted to the clean images of these, the projection
// to them and to one view of each.
struct hn_views_spec {
    const char *data;  // folder of the binary files
    const char *cache; // folder of the cached file, made if missing
    int64_t n;         // training images, at most those there are
    int64_t views;     // V >= 1 of each
    int64_t dim;       // features kept, 1 to 2048
    uint64_t seed;     // of order, patches and augmentation
};

// Owned: hn_views_free(). Arrays are mapped and must not be written to.
struct hn_views {
    int64_t n, test, v, p;
    const float *view;     // [n x v x p]
    const float *clean;    // [(n + test) x p] training images first
    const int32_t *label;  // [n + test]
    char *path;            // of the cached file
    struct hn_images data; // without its images
    void *map;
    size_t bytes;
};

// Opens the cached file, or makes it first (a note says so, and how many views). The values do not
// depend on the number of threads; those of other BLAS kernels, which differ in the last bits, get
// files of their own. HN_DATA: the data set, more images asked for than there are; HN_USAGE: the
// cache cannot be written to; HN_IO; HN_INTERRUPTED. A file that does not hold what its name says,
// by its header or its size, is made again.
HN_MUST_USE enum hn_code hn_views_open(struct hn_context *ctx, const struct hn_views_spec *spec,
                                       struct hn_views *out);
void hn_views_free(struct hn_context *ctx, struct hn_views *v); // zeroed is fine
