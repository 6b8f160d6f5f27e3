// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers the sets of labels that items have, by sorting items by their labels.
#include "core/label_sets.h"

#include <gsl/gsl_sort_int.h>
#include <stdlib.h>
#include <string.h>

// The labels of an item, ascending, each once.
struct item {
    const int32_t *label;
    int64_t count;
    int64_t number;
};

static int by_labels(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    for (int64_t k = 0; k < x->count && k < y->count; k++)
        if (x->label[k] != y->label[k])
            return x->label[k] < y->label[k] ? -1 : 1;
    return (x->count > y->count) - (x->count < y->count);
}

// Sorts the labels of every item in place, and its repeats away.
static void sort_items(int64_t n, const int64_t *start, int32_t *label, struct item *item) {
    for (int64_t i = 0; i < n; i++) {
        int32_t *own = label + start[i];
        int64_t count = start[i + 1] - start[i], kept = 0;
        gsl_sort_int(own, 1, (size_t)count);
        for (int64_t k = 0; k < count; k++)
            if (k == 0 || own[k] != own[kept - 1])
                own[kept++] = own[k];
        item[i] = (struct item){own, kept, i};
    }
}

static void add_set(const struct item *item, struct hn_label_sets *out) {
    int64_t at = out->start[out->n];
    memcpy(out->label + at, item->label, (size_t)item->count * sizeof *out->label);
    out->mask[out->n] = 0;
    for (int64_t k = 0; k < item->count; k++)
        out->mask[out->n] |= UINT64_C(1) << (item->label[k] % 64);
    int32_t last = item->label[item->count - 1];
    out->largest_label = last > out->largest_label ? last : out->largest_label;
    out->start[++out->n] = at + item->count;
}

// Items come sorted: those with the same labels follow each other, those without come first.
static void number_sets(int64_t n, const struct item *item, int32_t *set,
                        struct hn_label_sets *out) {
    out->start[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (item[i].count > 0 && (i == 0 || by_labels(&item[i - 1], &item[i]) != 0))
            add_set(&item[i], out);
        set[item[i].number] = item[i].count > 0 ? out->n - 1 : -1;
    }
}

// all[count]: changed.
static int32_t count_classes(int32_t *all, int64_t count) {
    int32_t classes = 0;
    gsl_sort_int(all, 1, (size_t)count);
    for (int64_t k = 0; k < count; k++)
        classes += k == 0 || all[k] != all[k - 1];
    return classes;
}

enum hn_code hn_label_sets_make(struct hn_context *ctx, int64_t n, const int64_t *start,
                                const int32_t *label, int32_t *set, struct hn_label_sets *out) {
    int64_t entries = start[n];
    *out = (struct hn_label_sets){.start = hn_alloc(ctx, n + 1, sizeof *out->start),
                                  .label = hn_alloc(ctx, entries, sizeof *out->label),
                                  .mask = hn_alloc(ctx, n, sizeof *out->mask)};
    if (!out->start || !out->label || !out->mask)
        return ctx->code;
    HN_SCOPE(ctx);
    int32_t *own = hn_alloc(ctx, entries, sizeof *own);
    struct item *item = hn_alloc(ctx, n, sizeof *item);
    if (!own || !item)
        return ctx->code;
    if (entries > 0)
        memcpy(own, label, (size_t)entries * sizeof *own);
    sort_items(n, start, own, item);
    qsort(item, (size_t)n, sizeof *item, by_labels);
    number_sets(n, item, set, out);
    entries = out->start[out->n];
    memcpy(own, out->label, (size_t)entries * sizeof *own);
    out->classes = count_classes(own, entries);
    return HN_OK;
}

bool hn_label_sets_meet(const struct hn_label_sets *sets, int32_t a, int32_t b) {
    int64_t i = sets->start[a], j = sets->start[b];
    while (i < sets->start[a + 1] && j < sets->start[b + 1]) {
        int32_t x = sets->label[i], y = sets->label[j];
        if (x == y)
            return true;
        i += x < y;
        j += y < x;
    }
    return false;
}
