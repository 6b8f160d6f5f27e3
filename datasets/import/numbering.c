// SPDX-License-Identifier: GPL-3.0-or-later
// Labels and groups as numbers from 0: as they are, or by their order; and what is worth a note.
#include "datasets/import/numbering.h"

#include "core/classes.h"
#include "core/numbers.h"
#include "datasets/import/array.h"
#include "datasets/import/columns.h"
#include "datasets/import/label_lists.h"

enum hn_code hn_numbers_of_texts(struct hn_context *ctx, struct hn_array *a) {
    int64_t n = a->shape[0], values = 0;
    bool below = false, above = false;
    int64_t *value = hn_alloc(ctx, n, sizeof *value);
    if (!value)
        return ctx->code;
    for (int64_t i = 0; i < n; i++) {
        bool large = false;
        value[i] = -1;
        if (a->text[i][0] && !hn_is_decimal(a->text[i], &value[i], &large))
            return HN_OK;
        values += a->text[i][0] != '\0';
        below |= a->text[i][0] == '-';
        above |= large;
    }
    if (values == 0 || (below && above)) // all empty, or more than 64 bits hold
        return HN_OK;
    for (int64_t i = 0; above && i < n; i++)
        if (!a->text[i][0])
            return HN_OK; // no number is left for those
    a->integer = value;
    a->above = above;
    a->text = NULL;
    return HN_OK;
}

// out: rank of each value that is not below 0 among those that there are.
static enum hn_code rank(struct hn_context *ctx, const struct hn_array *a, int32_t *out) {
    int64_t n = a->shape[0], m = 0, lowest = a->above ? INT64_MIN : 0;
    HN_SCOPE(ctx);
    int64_t *sorted = hn_alloc(ctx, n, sizeof *sorted);
    if (!sorted)
        return ctx->code;
    for (int64_t i = 0; i < n; i++) // those above 2^63 - 1 are stored below 0
        if (a->above || a->integer[i] >= 0)
            sorted[m++] = a->integer[i] ^ lowest;
    m = hn_numbers_sort(sorted, m);
    for (int64_t i = 0; i < n; i++)
        out[i] = (int32_t)hn_numbers_find(sorted, m, a->integer[i] ^ lowest);
    return HN_OK;
}

static enum hn_code fail_below(struct hn_context *ctx, const struct hn_numbering *o,
                               const struct hn_array *a, int64_t i, const char *why) {
    return hn_fail(ctx, HN_DATA, "%s: %s %lld of row %lld is out of range; %s", o->path, o->what,
                   (long long)a->integer[i],
                   (long long)(o->lists ? hn_label_lists_item(o->lists, i) : i), why);
}

enum hn_code hn_number_integers(struct hn_context *ctx, const struct hn_numbering *o,
                                const struct hn_array *a, int32_t *out) {
    int64_t n = a->shape[0], below = -1;
    bool wide = a->above;
    for (int64_t i = 0; i < n && !a->above; i++) {
        int64_t value = a->integer[i];
        wide |= value > INT32_MAX;
        if (value < 0 && !o->none)
            return fail_below(ctx, o, a, i, "the lowest is 0");
        if (value < -1 && below < 0)
            below = i;
    }
    if (wide && below >= 0)
        return fail_below(ctx, o, a, below,
                          "labels below 0 are none, but others go beyond 2^31 - 1, as hashes do: "
                          "store hashes as unsigned integers or texts");
    if (below >= 0)
        hn_note(ctx, "%s: every label below 0 is none, not only -1: %lld of row %lld is the first",
                o->path, (long long)a->integer[below], (long long)below);
    if (wide) {
        hn_note(ctx, "%s: %ss go beyond 2^31 - 1, and are numbered in their order", o->path,
                o->what);
        return rank(ctx, a, out);
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = (int32_t)hn_max(-1, a->integer[i]);
    return HN_OK;
}

enum hn_code hn_note_classes(struct hn_context *ctx, const char *path, const int32_t *label,
                             int64_t n) {
    struct hn_classes c;
    HN_SCOPE(ctx);
    if (hn_classes_find(ctx, label, n, &c))
        return ctx->code;
    if (c.labelled > 2 && c.n == c.labelled)
        hn_note(ctx,
                "%s: every item has a class of its own, so that no two have one label: if these "
                "are identifiers, name another column with --label-tensor, or leave out --labels",
                path);
    else if (c.labelled > 2 && c.n == 1)
        hn_note(ctx, "%s: all items have one class, so that there are no negatives of another",
                path);
    return HN_OK;
}
