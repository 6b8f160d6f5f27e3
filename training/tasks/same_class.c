// SPDX-License-Identifier: GPL-3.0-or-later
// Draws another item of an item's class.
#include "training/tasks/same_class.h"

enum hn_code hn_same_class_open(struct hn_context *ctx, const int32_t *label, int64_t n,
                                struct hn_same_class *out) {
    int64_t classes = 0;
    for (int64_t i = 0; i < n; i++) {
        if (label[i] < 0)
            return hn_fail(ctx, HN_DATA,
                           "positives: label draws positives of the same label, and item %lld has "
                           "none; take fewer items, or positives: view",
                           (long long)i);
        classes = hn_max(classes, label[i] + 1);
    }
    out->label = label;
    if (!HN_ZALLOC(ctx, out->start, classes + 2) || !HN_ALLOC(ctx, out->member, n))
        return ctx->code;
    for (int64_t i = 0; i < n; i++) // the start of class c stands at c + 2, and moves to c + 1
        out->start[label[i] + 2]++;
    for (int64_t c = 0; c < classes; c++)
        out->start[c + 2] += out->start[c + 1];
    for (int64_t i = 0; i < n; i++)
        out->member[out->start[label[i] + 1]++] = (int32_t)i;
    return HN_OK;
}

int32_t hn_same_class_draw(const struct hn_same_class *s, struct hn_stream *stream, int32_t item) {
    int64_t first = s->start[s->label[item]], last = s->start[s->label[item] + 1];
    return s->member[first + hn_stream_below(stream, (uint32_t)(last - first))];
}
