// The batch around an anchor: epochs are drawn until one of their batches holds it.
#include "core/random.h"
#include "harness/sheet/sheet.h"
#include "samplers/sampler.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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

static void summarise(const struct hn_items *items, int32_t anchor, const struct similar *other,
                      int32_t n, struct hn_sheet_batch *out) {
    int64_t labelled = 0, same = 0;
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t label = items->labels ? items->labels[other[i].id] : -1;
        sum += other[i].cosine;
        labelled += label >= 0;
        same += label >= 0 && label == items->labels[anchor];
    }
    bool known = items->labels && items->labels[anchor] >= 0 && labelled > 0;
    out->mean = n > 0 ? sum / n : NAN;
    out->same = known ? (double)same / (double)labelled : NAN;
}

// Both lists of the others in ids[out->size].
static enum hn_code choose(struct hn_context *ctx, const struct hn_items *items, int32_t anchor,
                           const int32_t *ids, uint64_t seed, int32_t max,
                           struct hn_sheet_batch *out) {
    struct hn_stream stream;
    int32_t n = 0;
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
    for (int32_t i = 0; i < n; i++)
        out->similar[i] = other[i].id;
    out->shown = max < n ? max : n;
    summarise(items, anchor, other, n, out);
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
