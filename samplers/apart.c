// SPDX-License-Identifier: GPL-3.0-or-later
// Two tuples clash if the passage of one, or a mined negative of it, is known to be relevant to the
// query of the other. A tuple
// that clashes with one of its batch changes positions with a random tuple of another batch, if
// neither clashes where it comes to; up to TRIES are looked at. What cannot be placed stays. No
// exchange makes a new clash, so one pass is enough.

#include "core/text.h"
#include "samplers/sampler.h"

#include <string.h>

enum { TRIES = 50, PASSES = 10 };

struct exchange {
    const struct hn_tuples *tuples;
    int32_t *order;
    const int64_t *start; // [batches + 1]
    int64_t batches;
};

bool hn_sampler_keeps_apart(const struct hn_sampler_type *type, const void *params) {
    const struct hn_option *o = hn_options_find(type->options, "keep_apart");
    return o && *(const bool *)((const char *)params + o->offset);
}

// True if a text that tuple j brings to a batch is known to be relevant to the query of tuple i.
static bool is_false_to(const struct hn_tuples *t, int32_t i, int32_t j) {
    const int32_t *negative = t->negative ? t->negative + j * t->negatives : NULL;
    for (int64_t k = 0; k < t->negatives; k++)
        if (negative[k] >= 0 && hn_qrels_find(&t->known, t->query[i], negative[k]) >= 0)
            return true;
    return hn_tuples_known(t, i, j);
}

// True if item i clashes with one of batch b that is at another position than `without`.
static bool clashes(const struct exchange *x, int32_t i, int64_t b, int64_t without) {
    for (int64_t k = x->start[b]; k < x->start[b + 1]; k++)
        if (k != without &&
            (is_false_to(x->tuples, i, x->order[k]) || is_false_to(x->tuples, x->order[k], i)))
            return true;
    return false;
}

// The batch of a position.
static int64_t batch_of(const struct exchange *x, int64_t position) {
    int64_t low = 0, high = x->batches;
    while (low + 1 < high) {
        int64_t mid = low + (high - low) / 2;
        if (x->start[mid] <= position)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static enum hn_code mark(struct hn_context *ctx, const struct exchange *x, bool *marked) {
    if (hn_check_stop(ctx))
        return ctx->code;
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic, 16)
    for (int64_t b = 0; b < x->batches; b++)
        for (int64_t k = x->start[b]; k < x->start[b + 1]; k++)
            marked[k] = clashes(x, x->order[k], b, k);
    return HN_OK;
}

// Finds another position for the item at `position` of batch b.
static bool move(const struct exchange *x, int64_t position, int64_t b, struct hn_stream *stream,
                 int64_t *draws) {
    int32_t i = x->order[position];
    for (int t = 0; t < TRIES; t++) {
        int64_t to = hn_stream_below(stream, (uint32_t)x->start[x->batches]);
        int64_t c = batch_of(x, to);
        ++*draws;
        if (c == b || clashes(x, i, c, to) || clashes(x, x->order[to], b, position))
            continue;
        x->order[position] = x->order[to];
        x->order[to] = i;
        return true;
    }
    return false;
}

// Offers every marked item that clashes another position; marked[] keeps those that found none.
// *left: how many; returns how many moved, or -1 where it is stopped.
static int64_t pass(struct hn_context *ctx, const struct exchange *x, bool *marked,
                    struct hn_stream *stream, int64_t *draws, int64_t *left) {
    int64_t moved = 0;
    *left = 0;
    for (int64_t b = 0; b < x->batches; b++) {
        if (hn_check_stop(ctx))
            return -1;
        for (int64_t k = x->start[b]; k < x->start[b + 1]; k++) {
            marked[k] = marked[k] && clashes(x, x->order[k], b, k);
            bool found = marked[k] && move(x, k, b, stream, draws);
            moved += found;
            marked[k] &= !found;
            *left += marked[k];
        }
    }
    return moved;
}

static enum hn_code exchange(struct hn_context *ctx, struct hn_sampler *self,
                             const struct exchange *x) {
    struct hn_apart *apart = &self->apart;
    struct hn_stream stream;
    int64_t left = 1, moved = 1;
    apart->moved_now = apart->left_now = 0;
    HN_SCOPE(ctx);
    bool *marked = hn_zalloc(ctx, self->n, sizeof *marked);
    if (!marked || mark(ctx, x, marked))
        return ctx->code;
    hn_stream_open(&stream, self->seed, "apart.exchange", self->index, self->epoch, 0);
    for (int p = 0; p < PASSES && left > 0 && moved > 0; p++) {
        moved = pass(ctx, x, marked, &stream, &self->sampling.draw, &left);
        if (moved < 0)
            return ctx->code;
        apart->moved_now += 2 * moved;
    }
    for (int64_t b = 0; b < x->batches; b++) // an exchange may have helped items before it
        for (int64_t k = x->start[b]; k < x->start[b + 1]; k++)
            apart->left_now += marked[k] && clashes(x, x->order[k], b, k);
    apart->moved += apart->moved_now;
    apart->left += apart->left_now;
    return HN_OK;
}

void hn_apart_note(struct hn_context *ctx, const struct hn_sampler *self, int64_t left,
                   int64_t epochs) {
    if (left > 0)
        hn_note(ctx,
                "keep_apart: %lld of %s found no place in a batch without a passage that is known "
                "to be relevant to another query of it%s",
                (long long)left, hn_counted(self->n * epochs, "tuple").text,
                epochs > 1 ? ", over all epochs" : "");
}

enum hn_code hn_apart_epoch(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    struct hn_apart *apart = &self->apart;
    if (!items->tuples)
        return hn_fail(ctx, HN_NOT_APPLICABLE, HN_APART_NEEDS, self->type->name);
    if (!self->order || hn_sampler_begins(self, self->batches) != self->n)
        return hn_fail(ctx, HN_INTERNAL, "%s: its batches are not a partition", self->type->name);
    HN_SCOPE(ctx);
    int64_t *start = hn_alloc(ctx, self->batches + 1, sizeof *start);
    hn_own(ctx, scope.outer);
    if (!start || (!apart->order && !HN_ALLOC(ctx, apart->order, self->n)))
        return ctx->code;
    memcpy(apart->order, self->order, (size_t)self->n * sizeof *apart->order);
    for (int64_t b = 0; b <= self->batches; b++)
        start[b] = hn_sampler_begins(self, b);
    const struct exchange x = {items->tuples, apart->order, start, self->batches};
    return exchange(ctx, self, &x);
}
