// SPDX-License-Identifier: GPL-3.0-or-later
// Batches, or negatives of anchors, that another program has chosen: lists of item numbers.
#pragma once

#include <stdint.h>

struct hn_given {
    const char *path;  // for messages; borrowed
    int64_t lists;     // batches; of negatives a list for each anchor and epoch
    int64_t per_epoch; // lists of an epoch, 1 or more; the last epoch may have fewer
    int64_t *start;    // [lists + 1] list l is ids[start[l]] to ids[start[l + 1] - 1]
    int32_t *ids;      // [start[lists]]
};

// Epochs that there are lists for.
static inline int64_t hn_given_epochs(const struct hn_given *g) {
    return (g->lists + g->per_epoch - 1) / g->per_epoch;
}
