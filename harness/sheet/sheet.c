// SPDX-License-Identifier: GPL-3.0-or-later
// Contents of items, and the batch that a sampler puts around one.
#include "harness/sheet/sheet.h"
#include "core/random.h"
#include "core/text.h"
#include "datasets/import/array.h"
#include "datasets/import/format.h"
#include "datasets/import/source.h"
#include "samplers/draw.h"
#include "training/images/augment.h"

#include <inttypes.h>
#include <math.h>
#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>

// Numbers of records from a file.
static enum hn_code read_order(struct hn_context *ctx, const char *path, int64_t n,
                               const int64_t **record) {
    const struct hn_wanted want = {.labels = true};
    struct hn_array array;
    if (hn_format_read(ctx, path, HN_FORMAT_npy, &want, &array))
        return ctx->code;
    if (!array.integer || array.shape[0] != n)
        return hn_fail(ctx, HN_DATA,
                       "%s: the order of %" PRId64 " items is an array of as many integers, the "
                       "number of each item's picture",
                       path, n);
    *record = array.integer;
    return HN_OK;
}

static enum hn_code take_order(struct hn_context *ctx, const char *order, uint64_t seed, int64_t n,
                               struct hn_sheet_source *out) {
    bool views = strcmp(order, "views-mlp") == 0, cnn = strcmp(order, "cnn") == 0;
    if (hn_ends_in(order, ".npy"))
        return read_order(ctx, order, n, &out->record);
    if (!views && !cnn && strcmp(order, "file") != 0)
        return hn_fail(ctx, HN_USAGE, "--order '%s' is not file, views-mlp, cnn or a .npy file",
                       order);
    int64_t *record = hn_alloc(ctx, n, sizeof *record);
    int32_t *drawn = views || cnn ? hn_image_order(ctx, &out->images, n, seed,
                                                   views ? "views.order" : "cnn.order")
                                  : NULL;
    if (!record || ((views || cnn) && !drawn))
        return ctx->code;
    for (int64_t i = 0; i < n; i++)
        record[i] = drawn ? drawn[i] : i;
    hn_free(ctx, drawn);
    out->record = record;
    return HN_OK;
}

static enum hn_code check_records(struct hn_context *ctx, const char *folder,
                                  const struct hn_items *items,
                                  const struct hn_sheet_source *source) {
    int64_t all = source->images.n + source->images.test;
    for (int64_t i = 0; i < items->n; i++) {
        int64_t record = source->record[i];
        if (record < 0 || record >= all)
            return hn_fail(ctx, HN_DATA,
                           "item %" PRId64 " is said to be picture %" PRId64 ", and %s has 0 to "
                           "%" PRId64,
                           i, record, folder, all - 1);
        int32_t label = items->labels ? items->labels[i] : -1, own = source->images.label[record];
        if (label >= 0 && own >= 0 && label != own)
            return hn_fail(ctx, HN_DATA,
                           "item %" PRId64 " has label %" PRId32 " and picture %" PRId64
                           " of %s label %" PRId32 ": items are in another order; name it with "
                           "--order",
                           i, label, record, folder, own);
    }
    return HN_OK;
}

enum hn_code hn_sheet_pictures(struct hn_context *ctx, const char *folder, const char *order,
                               uint64_t seed, const struct hn_items *items,
                               struct hn_sheet_source *out) {
    if (hn_images_read(ctx, folder, &out->images))
        return ctx->code;
    if (items->n > out->images.n + out->images.test)
        return hn_fail(ctx, HN_DATA,
                       "%s holds %" PRId64 " pictures, the snapshot %" PRId64
                       " items: it is of other data",
                       folder, out->images.n + out->images.test, items->n);
    out->label = out->images.label_name;
    out->labels = out->images.n_label_names;
    return take_order(ctx, order, seed, items->n, out) || check_records(ctx, folder, items, out)
               ? ctx->code
               : HN_OK;
}

enum hn_code hn_sheet_texts(struct hn_context *ctx, const char *path, int64_t n,
                            struct hn_sheet_source *out) {
    struct hn_source source;
    char *text;
    if (hn_source_open(ctx, path, &source))
        return ctx->code;
    enum hn_code code = hn_source_text(ctx, &source, &text);
    hn_source_close(&source);
    const char **line = code ? NULL : hn_alloc(ctx, n, sizeof *line);
    if (!line)
        return ctx->code;
    int64_t lines = 0;
    for (char *at = text; *at; lines++) {
        char *end = at + strcspn(at, "\n");
        if (lines < n)
            line[lines] = at;
        at = *end ? end + 1 : end;
        *end = '\0';
    }
    if (lines != n)
        return hn_fail(ctx, HN_DATA,
                       "%s has %" PRId64 " lines, the snapshot %" PRId64
                       " items: one line for each, in their order",
                       path, lines, n);
    out->text = line;
    return HN_OK;
}

enum { CHUNK = 64 }; // batches drawn at once

int32_t hn_sheet_anchor(const struct hn_items *items, uint64_t seed) {
    const struct hn_sampler any = {.n = items->n, .seed = seed, .index = items->index};
    return hn_sampler_start(&any, 0);
}

static bool holds(const int32_t *ids, int32_t size, int32_t anchor) {
    for (int32_t i = 0; i < size; i++)
        if (ids[i] == anchor)
            return true;
    return false;
}

// *ids: of the batch, within b.
static enum hn_code find(struct hn_context *ctx, struct hn_sampler *sampler,
                         const struct hn_items *items, int32_t anchor, struct hn_batches *b,
                         struct hn_sheet_batch *out, const int32_t **ids) {
    for (out->epoch = 0; out->epoch < HN_SHEET_EPOCHS; out->epoch++) {
        int64_t batches;
        if (hn_sampler_epoch(ctx, sampler, items, out->epoch, &batches))
            return ctx->code;
        for (b->first = 0; b->first < batches; b->first += b->count) {
            if (hn_batches_draw(ctx, sampler, batches - b->first, b))
                return ctx->code;
            for (int32_t i = 0; i < b->count; i++)
                if (holds(hn_batch_ids(b, i), b->size[i], anchor)) {
                    out->number = b->first + i;
                    out->size = b->size[i];
                    *ids = hn_batch_ids(b, i);
                    out->starts = (*ids)[0] == anchor;
                    return HN_OK;
                }
        }
    }
    return hn_fail(ctx, HN_DATA,
                   "%s: no batch of %d epochs holds item %" PRId32 "; take another --anchor",
                   sampler->type->name, HN_SHEET_EPOCHS, anchor);
}

struct similar {
    double cosine;
    int32_t id;
};

static int compare(const void *a, const void *b) {
    const struct similar *x = a, *y = b;
    if (x->cosine != y->cosine)
        return x->cosine > y->cosine ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// Both lists of the others in ids[out->size], and what they have in common with the anchor.
static enum hn_code choose(struct hn_context *ctx, const struct hn_items *items, int32_t anchor,
                           const int32_t *ids, uint64_t seed, int32_t max,
                           struct hn_sheet_batch *out) {
    struct hn_stream stream;
    int32_t n = 0, own = items->labels ? items->labels[anchor] : -1;
    int64_t labelled = 0, same = 0;
    double sum = 0;
    struct similar *other = hn_alloc(ctx, out->size, sizeof *other);
    if (!other || !HN_ALLOC(ctx, out->similar, out->size) || !HN_ALLOC(ctx, out->some, out->size))
        return ctx->code;
    for (int32_t i = 0; i < out->size; i++) {
        if (ids[i] == anchor)
            continue;
        out->some[n] = ids[i];
        other[n++] = (struct similar){
            hn_dot_exact(hn_row(&items->x, anchor), hn_row(&items->x, ids[i]), items->d), ids[i]};
    }
    hn_stream_open(&stream, seed, "sheet.random", 0, 0, anchor);
    hn_stream_shuffle(&stream, out->some, n);
    qsort(other, (size_t)n, sizeof *other, compare);
    for (int32_t i = 0; i < n; i++) {
        out->similar[i] = other[i].id;
        sum += other[i].cosine;
        labelled += own >= 0 && items->labels[other[i].id] >= 0;
        same += own >= 0 && items->labels[other[i].id] == own;
    }
    out->shown = max < n ? max : n;
    out->mean = n > 0 ? sum / n : NAN;
    out->same = labelled > 0 ? (double)same / (double)labelled : NAN;
    hn_free(ctx, other);
    return HN_OK;
}

enum hn_code hn_sheet_draw(struct hn_context *ctx, const struct hn_job_sampler *chosen,
                           const struct hn_items *items, int32_t batch_size, uint64_t seed,
                           int32_t anchor, int32_t max, struct hn_sheet_batch *out) {
    struct hn_sampler sampler = {0};
    struct hn_batches b;
    const int32_t *ids = NULL;
    if (chosen->type->flags & HN_SAMPLER_PER_ANCHOR)
        return hn_fail(ctx, HN_DATA,
                       "%s chooses negatives for each anchor, not batches: sample writes them",
                       chosen->type->name);
    HN_SCOPE(ctx);
    bool failed =
        hn_sampler_make(ctx, chosen->type, chosen->params, items, batch_size, seed, &sampler) ||
        hn_batches_open(ctx, &sampler, CHUNK, &b);
    hn_own(ctx, scope.outer);
    failed = failed || find(ctx, &sampler, items, anchor, &b, out, &ids) ||
             choose(ctx, items, anchor, ids, seed, max, out);
    hn_sampler_close(ctx, &sampler);
    return failed ? ctx->code : HN_OK;
}
