// SPDX-License-Identifier: GPL-3.0-or-later
// Hard negatives beside their anchors, the baseline that GCBS is compared with (GC 7.1, "Hard
// Negative (l)"): a batch is B / (1 + l) anchors, each followed by the l items that are most
// similar to it. B stays what it is, so that an epoch, in which every item is an anchor once, has
// (1 + l) times the batches (GC table 5).
//
// Similarity is x1_i . x2_j where there are two views, as in the loss of the paper and in GCBS, and
// x_i . x_j otherwise. The item itself is left out; labels are not read, so what is called a
// negative may be a false one.
//
// The paper says no more; ours are: (1) Items of a batch are distinct. All anchors are put in
// first, then each in turn takes its nearest items that are not in the batch yet. (2) A positions
// of anchors, A = floor(B / (1 + l)), share the batch as evenly as can be: anchor g has positions
// floor(g B / A) to floor((g + 1) B / A) - 1, so that no anchor has fewer than l negatives, and
// where 1 + l does not divide B some have more. (3) The last batch of an epoch holds the anchors
// that are left, and is short.
#include "core/bitset.h"
#include "core/sweep/knn_lists.h"
#include "core/sweep/select.h"
#include "core/text.h"
#include "samplers/sampler.h"

// Neighbours kept beyond those an anchor takes when none of them is in the batch already. One whose
// list is used up, as among duplicates, goes through all items.
enum { SPARE = 32 };

struct params {
    int64_t l;
};

struct state {
    struct hn_matrix x, y;       // what was built on, borrowed
    struct hn_knn_lists nearest; // [n x kept] neighbours, nearest first
    int32_t *order;              // [n] anchors of the epoch
    int64_t anchors;             // of a batch
    uint64_t *marks;        // [threads x words of n] what is in the batch, clear between batches
    struct hn_scored *best; // [threads x batch_size]
};

static enum hn_code check_l(struct hn_context *ctx, int64_t l, int64_t batch_size) {
    if (l < batch_size)
        return HN_OK;
    return hn_fail(ctx, HN_USAGE,
                   "l = %lld negatives and their anchor do not fit a batch of %lld: lower l or "
                   "raise the batch size",
                   (long long)l, (long long)batch_size);
}

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    int64_t l = ((const struct params *)p)->l, size = plan->batch_size;
    enum hn_code code = check_l(ctx, l, size);
    if (!code && size % (1 + l) != 0)
        hn_note_once(
            ctx, "1 + l = %lld does not divide the batch size %lld: some anchors get more than l",
            (long long)(1 + l), (long long)size);
    return code;
}

static enum hn_code open_hard_negative(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    const struct params *params = self->params;
    struct state *state = self->state;
    if (check_l(ctx, params->l, self->batch_size))
        return ctx->code;
    state->anchors = self->batch_size / (1 + params->l);
    bool good = HN_ALLOC(ctx, state->order, n) &&
                HN_ZALLOC(ctx, state->marks, ctx->threads * hn_bitset_words(n)) &&
                HN_ALLOC_ROWS(ctx, state->best, self->batch_size, ctx->threads);
    return good ? HN_OK : ctx->code;
}

static enum hn_code plan(struct hn_context *ctx, struct hn_sampler *self,
                         const struct hn_items *items, int pass, struct hn_sweep *sweep) {
    struct state *state = self->state;
    if (pass > 0)
        return hn_knn_lists_plan(ctx, &state->nearest, pass, sweep);
    bool views = hn_has_positive(items);
    state->x = views ? items->x1 : items->x;
    state->y = views ? items->x2 : items->x;
    int64_t max = (self->batch_size + state->anchors - 1) / state->anchors - 1;
    state->nearest =
        (struct hn_knn_lists){.x = state->x, .y = state->y, .k = max + SPARE, .skip_self = true};
    return hn_knn_lists_plan(ctx, &state->nearest, pass, sweep);
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    (void)ctx;
    const struct state *state = self->state;
    self->build.dot -= state->nearest.again;
    self->build.edge += items->n * state->nearest.kept;
    return HN_OK;
}

static enum hn_code epoch(struct hn_context *ctx, struct hn_sampler *self,
                          const struct hn_items *items, int64_t number, int64_t *batches) {
    (void)ctx;
    struct state *state = self->state;
    *batches = (self->n + state->anchors - 1) / state->anchors;
    hn_permute(self->seed, "hard-negative.shuffle", items->index, number, 0, state->order, self->n);
    self->sampling.draw += self->n - 1;
    return HN_OK;
}

// The `wanted` items most similar to the anchor among those that are not marked, by exact products,
// to best[wanted], nearest first.
static void scan(const struct state *state, int32_t anchor, const uint64_t *marks, int64_t wanted,
                 struct hn_scored *best, struct hn_work *work) {
    const float *x = hn_row(&state->x, anchor);
    int64_t count = 0;
    for (int32_t j = 0; j < (int32_t)state->y.rows; j++) {
        if (hn_bitset_has(marks, j))
            continue;
        double score = hn_dot_exact(x, hn_row(&state->y, j), state->y.cols);
        work->dot++;
        if (count == wanted && score <= best[count - 1].score)
            continue;
        int64_t position = count < wanted ? count++ : count - 1;
        for (; position > 0 && best[position - 1].score < score; position--)
            best[position] = best[position - 1];
        best[position] = (struct hn_scored){.score = score, .id = j};
    }
}

// Puts `wanted` negatives behind the anchor ids[0].
static void take_nearest(const struct state *state, int32_t *ids, int64_t wanted, uint64_t *marks,
                         struct hn_scored *best, struct hn_work *work) {
    const struct hn_knn_lists *nearest = &state->nearest;
    const int32_t *list = nearest->id + ids[0] * nearest->kept;
    int64_t taken = 0;
    for (int64_t k = 0; k < nearest->kept && taken < wanted; k++) {
        work->edge++;
        if (hn_bitset_has(marks, list[k]))
            continue;
        hn_bitset_add(marks, list[k]);
        ids[1 + taken++] = list[k];
    }
    if (taken == wanted)
        return;
    scan(state, ids[0], marks, wanted - taken, best, work);
    for (int64_t k = 0; taken < wanted; k++) {
        hn_bitset_add(marks, best[k].id);
        ids[1 + taken++] = best[k].id;
    }
}

static int32_t batch(const struct hn_sampler *self, int64_t number, int thread,
                     struct hn_work *work, int32_t *ids) {
    const struct state *state = self->state;
    uint64_t *marks = state->marks + thread * hn_bitset_words(self->n);
    struct hn_scored *best = state->best + (int64_t)thread * self->batch_size;
    int64_t first = number * state->anchors, size = self->batch_size;
    int64_t anchors = hn_min(state->anchors, self->n - first);
    for (int64_t g = 0; g < anchors; g++) {
        int32_t anchor = state->order[first + g];
        ids[g * size / state->anchors] = anchor;
        hn_bitset_add(marks, anchor);
    }
    for (int64_t g = 0; g < anchors; g++) {
        int64_t from = g * size / state->anchors, to = (g + 1) * size / state->anchors;
        take_nearest(state, ids + from, to - from - 1, marks, best, work);
    }
    int32_t filled = (int32_t)(anchors * size / state->anchors);
    for (int32_t i = 0; i < filled; i++)
        hn_bitset_remove(marks, ids[i]);
    work->bytes = work->dot * state->y.cols * (int64_t)sizeof(float);
    return filled;
}

static const struct hn_option options[] = {
    {HN_INT_OPTION(struct params, l, "l", "1", 1, INT32_MAX, "hard negatives of each anchor")},
    {0}};

static void grid(const struct hn_sampler_plan *plan, char *text, size_t size) {
    (void)plan;
    hn_append(text, size, "{hard-negative: {l: [1, 3, 7, 15]}}");
}

const struct hn_sampler_type hn_hard_negative_sampler = {
    .name = "hard-negative",
    .summary = "shuffled anchors, each followed by its l nearest items; (1 + l) times the batches",
    .source = "GC 7.1 and table 5, Hard Negative (l)",
    .note = "a neighbour that is in the batch already is passed over for the next nearest; where "
            "1 + l does not divide B some anchors get more than l; the last batch of an epoch may "
            "be short",
    .grid = grid,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_hard_negative,
    .plan = plan,
    .rebuild = rebuild,
    .epoch = epoch,
    .batch = batch,
};
