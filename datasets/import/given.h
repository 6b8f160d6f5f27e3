// SPDX-License-Identifier: GPL-3.0-or-later
// Files of batches, or of the negatives of anchors, that other programs have written.
#pragma once

#include "core/context.h"
#include "core/digest.h"
#include "datasets/given.h"

// Rules that a file has to fit.
struct hn_given_rules {
    int64_t n;         // items; a list holds numbers from 0 to n - 1
    int64_t longest;   // batch size, which the longest batch has; or most negatives of an anchor
    int64_t per_epoch; // batches of an epoch, 0 = all of a file, or what its first dimension says
    const char *title; // of the file in messages, NULL: its path
    bool negatives;    // list l is of anchor l % n; else lists are batches
    bool repeats;      // an item may come twice in a batch
};

// Reads a .npy file of whole numbers, [lists, length] or [epochs, lists, length], in which -1 fills
// up short lists; or lines of JSON (.jsonl), each a list of numbers or an object with `negatives`
// and, to be checked, `anchor`. sha256: of the bytes that are expected, NULL: any. path stays
// borrowed. HN_DATA with the place: no such file, other bytes, lists
// that do not fit the rules.
HN_MUST_USE enum hn_code hn_given_read(struct hn_context *ctx, const char *path, const char *sha256,
                                       const struct hn_given_rules *rules, struct hn_given *out);
// SHA-256 of a file's bytes. HN_DATA: it cannot be read.
HN_MUST_USE enum hn_code hn_given_digest(struct hn_context *ctx, const char *path,
                                         char sha256[HN_DIGEST_TEXT]);
