// SPDX-License-Identifier: GPL-3.0-or-later
// Augmentation of CIFAR-10 images for contrastive views (SimCLR's, cut to 32 x 32; RECIPES A).
#pragma once

#include "core/random.h"
#include "datasets/images.h"

// Augmentation of one image, drawn by hn_augment_draw(). The crop is a rectangle in units of the
// image and lies in it; beyond the outermost pixels' centres it has their colours.
struct hn_augmentation {
    double width, height; // of the crop, 1 = the image
    double x, y;          // its centre
    bool flip;            // left to right
    bool jitter;          // the next four apply
    double brightness;    // factor
    double contrast;      // factor of the distance to the crop's mean grey
    double saturation;    // factor of the distance to the pixel's own grey
    double hue;           // turns about the grey axis
    bool grey;            // then only the grey of each pixel stays
};

// area U(.2, 1), log aspect U(+-log 4/3), sides longer than the image cut off to it, anywhere in
// the image, as RandomResizedCrop (torchvision) and hence the papers; flip .5; with p .8 factors
// U(.6, 1.4) and hue U(-.1, .1); grey .2. The same number of draws every time.
void hn_augment_draw(struct hn_stream *stream, struct hn_augmentation *out);

// image: planes as in the file. out[32 x 32 x 3], channels last: (pixel / 255 - mean) / deviation
// with the training set's published (.4914, .4822, .4465) and (.2023, .1994, .2010). Bilinear
// sampling at pixel centres; colours are changed in the order of the struct, without rounding, and
// clamped to [0, 1] once, at the end.
void hn_augment_apply(const struct hn_augmentation *a, const uint8_t image[HN_IMAGE_BYTES],
                      float out[HN_IMAGE_BYTES]);
// Draw and apply.
void hn_augment_image(const uint8_t image[HN_IMAGE_BYTES], struct hn_stream *stream,
                      float out[HN_IMAGE_BYTES]);
// The image as it is, normalised likewise.
void hn_plain_image(const uint8_t image[HN_IMAGE_BYTES], float out[HN_IMAGE_BYTES]);

// Records of the images that are taken, of data->n + data->test entries: the first n training ones
// of an order drawn by seed and purpose (files may be sorted by class), then the test ones. Owned;
// NULL: HN_MEMORY.
HN_MUST_USE int32_t *hn_image_order(struct hn_context *ctx, const struct hn_images *data, int64_t n,
                                    uint64_t seed, const char *purpose);
