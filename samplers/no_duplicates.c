// SPDX-License-Identifier: GPL-3.0-or-later
// A tuple that has to wait stands in a queue of the text that it waits for. When that text's batch
// is full, the first of the queue comes forward alone: the others could not join before it. If it
// has to wait for its other text, the next one comes forward. So a batch looks at about as many
// tuples as it takes, and not at all that wait.
//
// Queues, the tuples that are free among them, are heaps by position (pairing heaps: Fredman et
// al., "The pairing heap", Algorithmica 1, 1986).
#include "samplers/no_duplicates.h"

enum { NONE = -1 };

struct queues {
    const struct hn_tuples *tuples;
    const int32_t *order;  // positions of it are what queues hold
    int32_t *child, *next; // [n] of a position in its heap: its first child, its next sibling
    int32_t *first;        // [texts] of those who wait for a text, NONE: nobody
    int32_t free;          // the first of those who wait for none
    int32_t *held;         // [texts] the number of the batch that has it
};

// The root of two heaps, of which either may be empty.
static int32_t meld(struct queues *q, int32_t a, int32_t b) {
    if (a == NONE || b == NONE)
        return a == NONE ? b : a;
    int32_t root = a < b ? a : b, other = a < b ? b : a;
    q->next[other] = q->child[root];
    q->child[root] = other;
    return root;
}

static void put(struct queues *q, int32_t *queue, int32_t position) {
    q->child[position] = q->next[position] = NONE;
    *queue = meld(q, *queue, position);
}

// Takes the first position out of a queue that has one. Its children are melded in pairs, and the
// pairs from the last one on.
static int32_t take(struct queues *q, int32_t *queue) {
    int32_t first = *queue, pairs = NONE;
    for (int32_t a = q->child[first]; a != NONE;) {
        int32_t b = q->next[a], rest = b == NONE ? NONE : q->next[b];
        int32_t root = meld(q, a, b);
        q->next[root] = pairs;
        pairs = root;
        a = rest;
    }
    *queue = NONE;
    while (pairs != NONE) {
        int32_t rest = q->next[pairs];
        *queue = meld(q, *queue, pairs);
        pairs = rest;
    }
    return first;
}

static int64_t texts_of(const struct queues *q) { return 2 + q->tuples->negatives; }

// Text k of the tuple at a position; NONE: it has fewer.
static int32_t text_of(const struct queues *q, int32_t position, int64_t k) {
    const struct hn_tuples *t = q->tuples;
    int32_t i = q->order[position];
    if (k < 2)
        return k ? t->passage[i] : t->query[i];
    return t->negative[i * t->negatives + k - 2];
}

// The last text of the tuple at a position that a batch has; NONE: it has none.
static int32_t held_text(const struct queues *q, int32_t position, int32_t batch) {
    int32_t found = NONE;
    for (int64_t k = 0; k < texts_of(q); k++) {
        int32_t text = text_of(q, position, k);
        found = text != NONE && q->held[text] == batch ? text : found;
    }
    return found;
}

// Lets, for each text of a tuple but those that batch `except` has, the first who waits for it come
// forward.
static void release(struct queues *q, int32_t position, int32_t except) {
    for (int64_t k = 0; k < texts_of(q); k++) {
        int32_t text = text_of(q, position, k);
        if (text != NONE && q->first[text] != NONE && q->held[text] != except)
            put(q, &q->free, take(q, &q->first[text]));
    }
}

// Fills batch number `batch` into to[batch_size] with positions; returns how many.
static int32_t fill(struct queues *q, int32_t batch, int32_t batch_size, int32_t *to) {
    int32_t size = 0;
    while (size < batch_size && q->free != NONE) {
        int32_t position = take(q, &q->free), waits = held_text(q, position, batch);
        if (waits != NONE) {
            put(q, &q->first[waits], position);
            release(q, position, batch); // it may have kept others behind it
            continue;
        }
        for (int64_t k = 0; k < texts_of(q); k++)
            if (text_of(q, position, k) != NONE)
                q->held[text_of(q, position, k)] = batch;
        to[size++] = position;
    }
    for (int32_t a = 0; a < size; a++)
        release(q, to[a], NONE);
    return size;
}

static enum hn_code open_queues(struct hn_context *ctx, const struct hn_tuples *tuples,
                                const int32_t *order, struct queues *q) {
    *q = (struct queues){.tuples = tuples, .order = order, .free = NONE};
    if (!HN_ALLOC(ctx, q->child, tuples->n) || !HN_ALLOC(ctx, q->next, tuples->n) ||
        !HN_ALLOC(ctx, q->first, tuples->texts) || !HN_ALLOC(ctx, q->held, tuples->texts))
        return ctx->code;
    for (int64_t t = 0; t < tuples->texts; t++)
        q->first[t] = q->held[t] = NONE;
    for (int64_t k = tuples->n - 1; k >= 0; k--)
        put(q, &q->free, (int32_t)k);
    return HN_OK;
}

enum hn_code hn_no_duplicates(struct hn_context *ctx, const struct hn_tuples *tuples,
                              int32_t batch_size, int32_t *order, int64_t *start,
                              int64_t *batches) {
    struct queues q;
    HN_SCOPE(ctx);
    int32_t *taken = hn_alloc(ctx, tuples->n, sizeof *taken);
    if (!taken || open_queues(ctx, tuples, order, &q))
        return ctx->code;
    start[0] = *batches = 0;
    while (start[*batches] < tuples->n) {
        int64_t from = start[*batches];
        if (hn_check_stop(ctx))
            return ctx->code;
        start[*batches + 1] = from + fill(&q, (int32_t)*batches, batch_size, taken + from);
        ++*batches;
    }
    for (int64_t k = 0; k < tuples->n; k++)
        taken[k] = order[taken[k]];
    for (int64_t k = 0; k < tuples->n; k++)
        order[k] = taken[k];
    return HN_OK;
}
