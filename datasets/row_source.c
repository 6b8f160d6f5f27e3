// SPDX-License-Identifier: GPL-3.0-or-later
// Some rows of a source: a few are read at once, and those that are meant are kept.
#include "datasets/row_source.h"

#include <string.h>

enum hn_code hn_row_source_read(struct hn_context *ctx, const struct hn_row_source *s, int64_t cols,
                                int64_t first, int64_t count, float *out) {
    int64_t end = first + count;
    if (!s->id)
        return s->read(ctx, s->self, first, count, out);
    HN_SCOPE(ctx);
    float *x = hn_alloc(ctx, s->few * cols, sizeof *x);
    if (!x)
        return ctx->code;
    for (int64_t k = first; k < end;) {
        int64_t from = s->id[k], rows = hn_min(s->few, s->id[end - 1] - from + 1);
        if (s->read(ctx, s->self, from, rows, x))
            return ctx->code;
        for (; k < end && s->id[k] < from + rows; k++)
            memcpy(out + (k - first) * cols, x + (s->id[k] - from) * cols,
                   (size_t)cols * sizeof *x);
    }
    return HN_OK;
}
