// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes of classes, and rows that are equal, by their digests.
#include "core/classes.h"
#include "core/digest.h"
#include "core/label_sets.h"
#include "datasets/snapshot_private.h"

#include <gsl/gsl_sort_long.h>
#include <stdlib.h>
#include <string.h>

// Classes by label: of the items' own labels, or of each label of their sets.
static enum hn_code classes_of(struct hn_context *ctx, const struct hn_snapshot *s,
                               struct hn_classes *out) {
    const struct hn_label_sets *sets = s->info.label_sets;
    const int32_t *label = s->info.labels;
    int64_t n = s->info.n, all = 0;
    if (!sets)
        return hn_classes_find(ctx, label, n, out);
    for (int64_t i = 0; i < n; i++)
        all += label[i] < 0 ? 0 : sets->start[label[i] + 1] - sets->start[label[i]];
    int32_t *each = hn_alloc(ctx, all, sizeof *each);
    if (!each)
        return ctx->code;
    all = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = label[i] < 0 ? 0 : sets->start[label[i]];
             label[i] >= 0 && k < sets->start[label[i] + 1]; k++)
            each[all++] = sets->label[k];
    return hn_classes_find(ctx, each, all, out);
}

static void measure_sizes(struct hn_classes *c, struct hn_composition *out) {
    out->classes = c->n;
    for (int64_t k = 0; k < c->n; k++)
        if (c->count[k] > out->largest) {
            out->largest = c->count[k];
            out->largest_label = c->label[k];
        }
    gsl_sort_long(c->count, 1, (size_t)c->n);
    out->smallest = c->n ? c->count[0] : 0;
    int64_t low = (c->n - 1) / 2, high = c->n / 2; // one of an odd number
    out->median = c->n ? 0.5 * (double)(c->count[low] + c->count[high]) : 0;
}

static enum hn_code describe_classes(struct hn_context *ctx, const struct hn_snapshot *s,
                                     struct hn_composition *out) {
    struct hn_classes sets = {0}, single = {0};
    HN_SCOPE(ctx);
    if (hn_classes_find(ctx, s->info.labels, s->info.n, &sets) || classes_of(ctx, s, &single))
        return ctx->code;
    out->labelled = sets.labelled;
    out->same_class = hn_classes_chance(&sets, s->info.label_sets);
    measure_sizes(&single, out);
    return HN_OK;
}

// Rows are equal if their digests are.
struct row_digest {
    unsigned char byte[16];
};

static int by_digest(const void *a, const void *b) {
    return memcmp(a, b, sizeof(struct row_digest));
}

static void digest_rows(const float *x, int64_t rows, int64_t cols, struct row_digest *out) {
    for (int64_t i = 0; i < rows; i++) {
        struct sha256_ctx sha;
        sha256_init(&sha);
        sha256_update(&sha, (size_t)cols * sizeof *x, (const uint8_t *)(x + i * cols));
        sha256_digest(&sha, sizeof out[i].byte, out[i].byte);
    }
}

// HN_NOT_APPLICABLE: a row has no direction.
static enum hn_code digest_step(struct hn_context *ctx, const struct hn_snapshot *s,
                                const struct hn_data *data, struct row_digest *digest) {
    uint16_t *halves;
    float *x = hn_alloc(ctx, data->block * data->cols, sizeof *x);
    char *what = hn_format(ctx, "%s:", s->path);
    if (!x || !what || hn_data_halves(ctx, data, data->block, &halves))
        return ctx->code;
    for (int64_t first = 0; first < data->rows; first += data->block) {
        int64_t count = hn_min(data->block, data->rows - first);
        if (hn_check_stop(ctx) ||
            hn_data_read_rows(ctx, s, data, data->steps - 1, first, count, halves, x))
            return ctx->code;
        for (int64_t i = 0; i < count * data->cols; i++)
            x[i] += 0.0f; // -0 is 0
        digest_rows(x, count, data->cols, digest + first);
        if (hn_unit_rows_from(ctx, x, first, count, data->cols, data->zero_rows, what))
            return HN_NOT_APPLICABLE;
    }
    return HN_OK;
}

// Notes why, after a failure. The first block of a large file that was never written ends the
// count.
static enum hn_code not_counted(struct hn_context *ctx, const char *why,
                                struct hn_composition *out) {
    hn_note(ctx, "equal rows are not counted%s: %s", why, ctx->message);
    out->repeated = -1;
    ctx->code = HN_OK;
    return HN_OK;
}

static enum hn_code count_repeated(struct hn_context *ctx, struct hn_snapshot *s,
                                   struct hn_composition *out) {
    HN_SCOPE(ctx);
    int64_t n = s->info.n;
    struct row_digest *digest = hn_alloc(ctx, n, 2 * sizeof *digest); // qsort() takes as much again
    if (!digest)
        return not_counted(ctx, ", for want of memory", out);
    enum hn_code code = digest_step(ctx, s, &s->series[0], digest);
    if (code)
        return code == HN_NOT_APPLICABLE ? not_counted(ctx, "", out) : code;
    qsort(digest, (size_t)n, sizeof *digest, by_digest);
    for (int64_t i = 1; i < n; i++)
        out->repeated += by_digest(&digest[i - 1], &digest[i]) == 0;
    return HN_OK;
}

enum hn_code hn_composition_find(struct hn_context *ctx, struct hn_snapshot *s,
                                 struct hn_composition *out) {
    *out = (struct hn_composition){.largest_label = -1};
    return describe_classes(ctx, s, out) ? ctx->code : count_repeated(ctx, s, out);
}
