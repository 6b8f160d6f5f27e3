// SPDX-License-Identifier: GPL-3.0-or-later
// Queries that are evaluated though their text is trained on: counted, and left out of one side.
#pragma once

#include "datasets/import/collection.h"

// The side that such queries are left out of.
enum hn_pairs_side { HN_PAIRS_KEEP, HN_PAIRS_OUT_OF_TRAIN, HN_PAIRS_OUT_OF_TEST };
extern const char *const hn_pairs_overlaps[];

struct hn_pairs_overlap {
    int64_t evaluated; // queries
    int64_t queries;   // of them with the text of one that is trained on
};
// Counts them, with a note, and leaves them out of data->train or data->test, which get new
// arrays. HN_DATA: no pair is left.
HN_MUST_USE enum hn_code hn_pairs_overlap_find(struct hn_context *ctx, const char *path,
                                               enum hn_pairs_side out_of,
                                               struct hn_pair_folder *data,
                                               struct hn_pairs_overlap *out);
