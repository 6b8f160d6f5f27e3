// SPDX-License-Identifier: GPL-3.0-or-later
// Filters of patches, fitted to images.
#pragma once

#include "training/images/patches.h"

// Filters from 40,000 patches at random positions of random images, 10 iterations of k-means.
HN_MUST_USE enum hn_code hn_patches_fit(struct hn_context *ctx,
                                        const struct hn_image_source *images, uint64_t seed,
                                        struct hn_patches *out);

// Mean, deviation and principal axes of the features of all images of the source; keep <=
// HN_PATCH_FEATURES. Features that do not vary become zero.
HN_MUST_USE enum hn_code hn_patches_fit_projection(struct hn_context *ctx,
                                                   const struct hn_image_source *images,
                                                   int64_t keep, struct hn_patches *p);
