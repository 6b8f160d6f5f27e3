// SPDX-License-Identifier: GPL-3.0-or-later
// Farthest-first as a sampler of the program: the twin of farthest_first() in farthest_first.py and
// in docs/guide/your-sampler.md. tests/guides.sh links it into a program of its own and compares
// cells.
//
// An epoch is a partition. Each batch begins with the first item left of a random order, and grows
// by the item whose largest cosine to the batch is smallest; of equal ones by the first of the
// order. No paper; the greedy of Gonzalez 1985.
#include "core/matrix.h"
#include "samplers/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct keyed {
    uint64_t key;
    int32_t id;
};
struct state {
    struct keyed *keyed; // [n]
    int32_t *left;       // [n] items that no batch has yet
    double *nearest;     // [n] largest cosine of left[i] to the batch; infinite once it is in it
};

static enum hn_code open_twin(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    struct state *s = self->state;
    return HN_ALLOC(ctx, s->keyed, n) && HN_ALLOC(ctx, s->left, n) && HN_ALLOC(ctx, s->nearest, n)
               ? HN_OK
               : ctx->code;
}

static int by_key(const void *a, const void *b) {
    const struct keyed *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

// A random order that NumPy can repeat: items by a hash of seed, epoch and number.
static void permute(struct hn_sampler *self, int64_t epoch) {
    struct state *s = self->state;
    uint64_t name = hn_mix(self->seed << 20 | (uint64_t)epoch);
    for (int64_t i = 0; i < self->n; i++)
        s->keyed[i] = (struct keyed){hn_mix(name + (uint64_t)i), (int32_t)i};
    qsort(s->keyed, (size_t)self->n, sizeof *s->keyed, by_key);
    for (int64_t i = 0; i < self->n; i++)
        s->left[i] = s->keyed[i].id;
    self->sampling.draw += self->n;
}

// Takes left[at] into the batch.
static void take(struct hn_sampler *self, const struct hn_items *items, int64_t left, int64_t at) {
    struct state *s = self->state;
    const float *chosen = hn_row(&items->x, s->left[at]);
    for (int64_t i = 0; i < left; i++)
        s->nearest[i] =
            fmax(s->nearest[i], hn_dot_exact(hn_row(&items->x, s->left[i]), chosen, items->d));
    s->nearest[at] = INFINITY;
    self->sampling.dot += left;
}

static int64_t farthest(const double *nearest, int64_t n) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        best = nearest[i] < nearest[best] ? i : best;
    return best;
}

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    struct state *s = self->state;
    (void)ctx, (void)batches;
    permute(self, number);
    for (int64_t done = 0, left; (left = self->n - done) > 0;) {
        int64_t size = hn_min(self->batch_size, left), kept = 0;
        for (int64_t i = 0; i < left; i++)
            s->nearest[i] = -INFINITY;
        for (int64_t k = 0; k < size; k++) {
            int64_t at = farthest(s->nearest, left);
            self->order[done++] = s->left[at];
            take(self, items, left, at);
        }
        for (int64_t i = 0; i < left; i++)
            if (s->nearest[i] < INFINITY)
                s->left[kept++] = s->left[i];
    }
    return HN_OK;
}

static const struct hn_option options[] = {{0}};

extern const struct hn_sampler_type hn_farthest_first_sampler;
const struct hn_sampler_type hn_farthest_first_sampler = {
    .name = "farthest-first",
    .summary = "batches grown by the item that is farthest from all in them",
    .source = "none: an example",
    .note = "",
    .flags = HN_SAMPLER_PARTITION,
    .options = options,
    .state_size = sizeof(struct state),
    .open = open_twin,
    .epoch = epoch,
};
