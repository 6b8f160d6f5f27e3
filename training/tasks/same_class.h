// SPDX-License-Identifier: GPL-3.0-or-later
// Positives drawn by label ("true positives", HC section 6.1): a random item of the anchor's class,
// the anchor among them. Negatives know nothing of labels.
#pragma once

#include "core/context.h"
#include "core/random.h"

// Items by class. Arrays belong to the context's scope or owner.
struct hn_same_class {
    int64_t *start;       // [classes + 1] class c has the members start[c] .. start[c + 1]
    int32_t *member;      // [n]
    const int32_t *label; // [n] borrowed
};

// label[n]: >= 0. HN_DATA names the first item without one, and the option that wants it.
HN_MUST_USE enum hn_code hn_same_class_open(struct hn_context *ctx, const int32_t *label, int64_t n,
                                            struct hn_same_class *out);
int32_t hn_same_class_draw(const struct hn_same_class *s, struct hn_stream *stream, int32_t item);
