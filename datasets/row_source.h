// SPDX-License-Identifier: GPL-3.0-or-later
// Rows that memory does not hold: they are read again for each pass over them.
#pragma once

#include "core/context.h"

struct hn_row_source {
    void *self; // borrowed
    // out[count x columns]: rows from `first` on. NULL: the rows are in memory.
    HN_MUST_USE enum hn_code (*read)(struct hn_context *ctx, void *self, int64_t first,
                                     int64_t count, float *out);
    const int32_t *id; // [rows] ascending: those that are meant; NULL: all. Borrowed
    int64_t few;       // rows that are read at once where single ones are wanted
    int64_t block;     // rows that are ranked at once; 0: as many as memory allows
    const bool *unit;  // whether those that were read are of unit length; NULL: all are. Borrowed
};

// out[count x cols]: rows from `first` on of those that are meant.
HN_MUST_USE enum hn_code hn_row_source_read(struct hn_context *ctx, const struct hn_row_source *s,
                                            int64_t cols, int64_t first, int64_t count, float *out);
