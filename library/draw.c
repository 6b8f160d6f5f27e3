// SPDX-License-Identifier: GPL-3.0-or-later
// Batches and negatives of the epochs of a build.
//
// Threads that share a handle may be in different epochs: each draws from the one that it began
// last, and a call begins that again if another thread has begun its own since.
#include "samplers/draw.h"
#include "core/text.h"
#include "library/library_private.h"
#include "samplers/sampler.h"

#include <math.h>

enum { CHUNK = 64 }; // batches that are drawn at once

// The epoch that this thread began last, of any handle.
static _Thread_local struct {
    const hardneg *h;
    int64_t made, epoch; // of the build
} own_epoch;

enum hn_code hn_library_begin(struct hn_library_build *b, int64_t epoch) {
    int64_t batches;
    if (b->sampler.batches > 0 && b->sampler.epoch == epoch)
        return HN_OK;
    if (hn_sampler_epoch(&b->ctx, &b->sampler, &b->items, epoch, &batches))
        return b->ctx.code;
    hn_apart_note(&b->ctx, &b->sampler, b->sampler.apart.left_now, 1);
    return HN_OK;
}

// The size of a batch of the epoch that is begun.
static enum hn_code find_size(struct hn_library_build *b, int64_t number, int64_t *size) {
    struct hn_batches one;
    *size = hn_sampler_size(&b->sampler, number);
    if (*size > 0)
        return HN_OK;
    HN_SCOPE(&b->ctx);
    if (hn_batches_open(&b->ctx, &b->sampler, 1, &one))
        return b->ctx.code;
    one.first = number;
    if (hn_batches_draw(&b->ctx, &b->sampler, 1, &one))
        return b->ctx.code;
    *size = *one.size;
    return HN_OK;
}

enum hn_code hn_library_begin_first(struct hn_library_build *b) {
    if (hn_library_begin(b, b->sampler.first_epoch))
        return b->ctx.code;
    b->batches = b->sampler.batches;
    return find_size(b, b->batches - 1, &b->last);
}

// Sizes of an epoch that has to be begun for that; what was begun before is begun again.
static enum hn_code list_sizes(struct hn_library_build *b, int64_t epoch, int64_t capacity,
                               int64_t *size, int64_t *batches) {
    int64_t before = b->sampler.batches > 0 ? b->sampler.epoch : epoch;
    if (hn_library_begin(b, epoch))
        return b->ctx.code;
    *batches = b->sampler.batches;
    for (int64_t k = 0; k < hn_min(capacity, *batches); k++)
        if (find_size(b, k, &size[k]))
            return b->ctx.code;
    return hn_library_begin(b, before);
}

int hardneg_sizes(hardneg *h, int64_t epoch, int64_t capacity, int64_t *size, int64_t *batches) {
    int code;
    struct hn_library_build *b = hn_library_enter(h, &code);
    if (!b)
        return code;
    if (!batches || epoch < 0 || capacity < 0 || (capacity > 0 && !size))
        return hn_library_leave(h, hn_fail(&b->ctx, HN_USAGE,
                                           "an epoch is numbered from 0, batches is not NULL, and "
                                           "size has space for `capacity` numbers"));
    if (b->sampler.start || b->sampler.varies)
        return hn_library_leave(h, list_sizes(b, epoch, capacity, size, batches));
    *batches = b->batches;
    for (int64_t k = 0; k < hn_min(capacity, b->batches); k++)
        size[k] = k < b->batches - 1 ? b->sampler.batch_size : b->last;
    return hn_library_leave(h, HN_OK);
}

int hardneg_epoch(hardneg *h, int64_t epoch, int64_t *batches) {
    int code;
    struct hn_library_build *b = hn_library_enter(h, &code);
    if (!b)
        return code;
    if (!batches || epoch < 0)
        return hn_library_leave(
            h, hn_fail(&b->ctx, HN_USAGE, "an epoch is numbered from 0, and batches is not NULL"));
    if (b->begun && b->sampler.epoch != epoch && !pthread_equal(b->by, pthread_self()))
        b->shared = true;
    b->begun = false;
    if (hn_library_begin(b, epoch))
        return hn_library_leave(h, b->ctx.code);
    b->begun = true;
    b->by = pthread_self();
    own_epoch.h = h;
    own_epoch.made = b->made;
    own_epoch.epoch = epoch;
    *batches = b->sampler.batches;
    return hn_library_leave(h, HN_OK);
}

// Puts the build into the epoch that this thread draws from.
static enum hn_code resume_epoch(const hardneg *h, struct hn_library_build *b) {
    bool own = own_epoch.h == h && own_epoch.made == b->made;
    if (own_epoch.h == h ? !own : !b->begun)
        return hn_fail(&b->ctx, HN_USAGE,
                       "no epoch of this build is begun: hardneg_epoch() comes first");
    if (!own && b->shared)
        return hn_fail(&b->ctx, HN_USAGE,
                       "threads have begun several epochs of this sampler: each thread that draws "
                       "calls hardneg_epoch() first");
    return own ? hn_library_begin(b, own_epoch.epoch) : HN_OK;
}

static int64_t negative_capacity(const struct hn_library_build *b) {
    return hn_sampler_capacity(b->sampler.type, b->sampler.params, b->items.n);
}

int64_t hardneg_capacity(hardneg *h) {
    int code;
    struct hn_library_build *b = hn_library_enter(h, &code);
    int64_t found = b ? negative_capacity(b) : 0;
    if (b)
        (void)hn_library_leave(h, HN_OK);
    return found;
}

int hardneg_apart(hardneg *h, int64_t *moved, int64_t *left) {
    int code;
    struct hn_library_build *b = hn_library_enter(h, &code);
    if (!b)
        return code;
    if (!moved || !left)
        return hn_library_leave(h, hn_fail(&b->ctx, HN_USAGE, "moved or left is NULL"));
    if (resume_epoch(h, b))
        return hn_library_leave(h, b->ctx.code);
    const struct hn_apart *apart = &b->sampler.apart;
    *moved = apart->order ? apart->moved_now : -1;
    *left = apart->order ? apart->left_now : -1;
    return hn_library_leave(h, HN_OK);
}

// Arrays of the caller to be filled.
struct output {
    int64_t *ids, *negative;
    float *score;
};

static enum hn_code check_range(struct hn_library_build *b, int64_t first, int64_t count,
                                const struct output *out, bool lists) {
    struct hn_context *ctx = &b->ctx;
    if (!out->ids)
        return hn_fail(ctx, HN_USAGE, "ids is NULL: [count x batch_size] is wanted");
    if (first < 0 || count < 0 || count > b->sampler.batches - first)
        return hn_fail(ctx, HN_USAGE, "%s from %lld on: the epoch has 0 to %lld",
                       hn_counted(count, "batch").text, (long long)first,
                       (long long)b->sampler.batches - 1);
    if (lists != (negative_capacity(b) > 0))
        return hn_fail(ctx, HN_USAGE,
                       lists ? "%s gives batches: call hardneg_next()"
                             : "%s gives negatives per anchor: call hardneg_negatives()",
                       b->sampler.type->name);
    if (lists && !out->negative)
        return hn_fail(ctx, HN_USAGE,
                       "negative is NULL: [count x batch_size x capacity] is wanted");
    return HN_OK;
}

// Negatives of anchor p of the batches, and their cosines with it.
static void put_negatives(const struct hn_items *items, const struct hn_batches *b, int64_t p,
                          int32_t anchor, int64_t *negative, float *score) {
    const struct hn_matrix *x = &items->x, *to = hn_negative_rows(items);
    int32_t n = anchor < 0 ? 0 : b->negatives[p];
    for (int64_t k = 0; k < b->capacity; k++) {
        int32_t id = k < n ? hn_batch_negatives(b, p)[k] : -1;
        negative[k] = id;
        if (score)
            score[k] =
                id < 0 ? NAN : (float)hn_dot_exact(hn_row(x, anchor), hn_row(to, id), x->cols);
    }
}

static enum hn_code draw_batches(struct hn_library_build *b, int64_t first, int64_t count,
                                 const struct output *out) {
    struct hn_batches next;
    HN_SCOPE(&b->ctx);
    if (hn_batches_open(&b->ctx, &b->sampler, hn_min(CHUNK, count), &next))
        return b->ctx.code;
    for (int64_t done = 0; done < count; done += next.count) {
        next.first = first + done;
        if (hn_batches_draw(&b->ctx, &b->sampler, count - done, &next))
            return b->ctx.code;
        for (int64_t p = 0; p < next.count * (int64_t)next.batch_size; p++) {
            int64_t at = done * next.batch_size + p;
            bool there = p % next.batch_size < next.size[p / next.batch_size];
            out->ids[at] = there ? next.ids[p] : -1;
            if (out->negative)
                put_negatives(&b->items, &next, p, (int32_t)out->ids[at],
                              out->negative + at * next.capacity,
                              out->score ? out->score + at * next.capacity : NULL);
        }
    }
    return HN_OK;
}

static int draw(hardneg *h, int64_t first, int64_t count, struct output out, bool lists) {
    int code;
    struct hn_library_build *b = hn_library_enter(h, &code);
    if (!b)
        return code;
    if (resume_epoch(h, b) || check_range(b, first, count, &out, lists) ||
        draw_batches(b, first, count, &out))
        return hn_library_leave(h, b->ctx.code);
    return hn_library_leave(h, HN_OK);
}

int hardneg_next(hardneg *h, int64_t first, int64_t count, int64_t *ids) {
    return draw(h, first, count, (struct output){.ids = ids}, false);
}

int hardneg_negatives(hardneg *h, int64_t first, int64_t count, int64_t *ids, int64_t *negative,
                      float *score) {
    return draw(h, first, count, (struct output){ids, negative, score}, true);
}
