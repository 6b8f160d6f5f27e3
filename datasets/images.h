// SPDX-License-Identifier: GPL-3.0-or-later
// Small pictures with classes, in the binary layouts of CIFAR-10, CIFAR-100 (Krizhevsky 2009) and
// STL-10 (Coates 2011): which one is told by the names of the files in a folder.
//
// CIFAR-10: data_batch_1.bin, data_batch_2.bin and so on, test_batch.bin, batches.meta.txt; records
// of a byte with the label, then the red, the green and the blue plane, 32 rows of 32 bytes each.
// CIFAR-100: train.bin, test.bin, fine_label_names.txt; records begin with two labels, of which the
// second, of 100 classes, is taken. STL-10: train_X.bin, train_y.bin, test_X.bin, test_y.bin, and
// unlabeled_X.bin and class_names.txt where they are there; planes of 96 columns of 96 bytes,
// labels from 1. Its pictures become means of 3 x 3 pixels, so that all are of one size.
#pragma once

#include "core/context.h"

enum { HN_IMAGE_SIDE = 32, HN_IMAGE_BYTES = 3 * HN_IMAGE_SIDE * HN_IMAGE_SIDE };

// Owned: hn_images_free(). Training images first, in the order of the files, those without a label
// behind the others.
struct hn_images {
    int64_t n, test;
    uint8_t *image;          // [(n + test) x HN_IMAGE_BYTES] planes of rows
    int32_t *label;          // [n + test]; -1: none
    const char **label_name; // [n_label_names]
    int64_t n_label_names;   // 0 where the folder has no file of names
    void *memory;            // owns all of it
};

// HN_DATA names file and record (or line of the names) and what is wrong: a file that is missing or
// cut short, a label beyond the classes, names that are not as many. Memory is bounded by the
// files.
HN_MUST_USE enum hn_code hn_images_read(struct hn_context *ctx, const char *folder,
                                        struct hn_images *out);
void hn_images_free(struct hn_context *ctx, struct hn_images *images); // zeroed is fine
