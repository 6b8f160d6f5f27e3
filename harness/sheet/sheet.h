// SPDX-License-Identifier: GPL-3.0-or-later
// Contact sheets (BS figures 14, 15; PS figure 13; HC figure 12): an anchor, and of the batch that
// each sampler puts around it the items that are most similar to it and some at random, as pictures
// or as texts of one HTML page.
#pragma once

#include "datasets/images.h"
#include "datasets/items.h"
#include "harness/job/job.h"

// Contents of the items: records of pictures, or texts.
struct hn_sheet_source {
    struct hn_images images;
    const int64_t *record;    // [n] of pictures; NULL: texts
    const char *const *text;  // [n]
    const char *const *label; // names of labels, or NULL
    int64_t labels;
};

// The pictures of a folder (CIFAR-10 and its like). order: "file" (item i is record i, training
// files first), "views-mlp" or "cnn" (as these tasks draw items by `seed`), or a .npy file of
// record numbers. HN_DATA: fewer pictures than items, a record that is not there, or a label that
// is not the item's, which shows that the order is another one.
HN_MUST_USE enum hn_code hn_sheet_pictures(struct hn_context *ctx, const char *folder,
                                           const char *order, uint64_t seed,
                                           const struct hn_items *items,
                                           struct hn_sheet_source *out);
// Texts of a file, one item in each line. HN_DATA: lines that are not as many as items.
HN_MUST_USE enum hn_code hn_sheet_texts(struct hn_context *ctx, const char *path, int64_t n,
                                        struct hn_sheet_source *out);

// A batch that holds the anchor, seen from it.
struct hn_sheet_batch {
    int32_t size;            // items, the anchor among them
    int64_t epoch, number;   // where it was found
    bool starts;             // it begins with the anchor, as batches of walks and neighbours do
    int32_t shown;           // entries of both lists, at most size - 1
    int32_t *similar, *some; // [shown] the most similar first (ties: lower index); at random
    double mean;             // cosine with the anchor, of all others
    double same;             // share of its label among others with a label; NaN without any
};
enum { HN_SHEET_EPOCHS = 100 }; // searched at most
// The item that the first batch of every sampler with start items begins with, under this seed.
int32_t hn_sheet_anchor(const struct hn_items *items, uint64_t seed);

// The first batch with the anchor, of a sampler that is built on the items. HN_DATA: none in
// HN_SHEET_EPOCHS epochs, or the sampler chooses negatives for each anchor instead.
HN_MUST_USE enum hn_code hn_sheet_draw(struct hn_context *ctx, const struct hn_job_sampler *sampler,
                                       const struct hn_items *items, int32_t batch_size,
                                       uint64_t seed, int32_t anchor, int32_t max,
                                       struct hn_sheet_batch *out);
