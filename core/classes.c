// SPDX-License-Identifier: GPL-3.0-or-later
// Classes of labels by sorting; the chance that two labelled items share one.
#include "core/classes.h"
#include "core/label_sets.h"
#include "core/numbers.h"

#include <gsl/gsl_sort_int.h>
#include <math.h>
#include <string.h>

enum hn_code hn_classes_find(struct hn_context *ctx, const int32_t *label, int64_t items,
                             struct hn_classes *out) {
    *out = (struct hn_classes){.label = hn_alloc(ctx, items, sizeof *out->label),
                               .count = hn_alloc(ctx, items, sizeof *out->count)};
    if (!out->label || !out->count)
        return ctx->code;
    if (items > 0)
        memcpy(out->label, label, (size_t)items * sizeof *label);
    gsl_sort_int(out->label, 1, (size_t)items);
    for (int64_t i = 0; i < items; i++) {
        int32_t next = out->label[i];
        if (next < 0)
            continue;
        if (out->n == 0 || next != out->label[out->n - 1]) {
            out->label[out->n] = next;
            out->count[out->n++] = 0;
        }
        out->count[out->n - 1]++;
        out->labelled++;
    }
    return HN_OK;
}

int32_t hn_classes_index(const struct hn_classes *c, int32_t label) {
    return (int32_t)hn_indices_find(c->label, 0, c->n, label);
}

double hn_classes_chance(const struct hn_classes *c, const struct hn_label_sets *sets) {
    double same = 0, labelled = (double)c->labelled;
    for (int64_t k = 0; k < c->n; k++) {
        same += (double)c->count[k] * (double)(c->count[k] - 1);
        for (int64_t m = 0; sets && m < k; m++)
            if (hn_same_label(sets, c->label[k], c->label[m]))
                same += 2 * (double)c->count[k] * (double)c->count[m];
    }
    return labelled > 1 ? same / (labelled * (labelled - 1)) : NAN;
}
