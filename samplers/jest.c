// SPDX-License-Identifier: GPL-3.0-or-later
// JEST (Evans, Parthasarathy, Merzic and Henaff, "Data curation via joint example selection further
// accelerates multimodal learning", NeurIPS 2024, algorithm 1): a batch of B is chosen together
// from B / (1 - ratio) random items, in `chunks` draws. An item's score, given what is chosen, is
//
//     S_ii + sum over chosen j of (S_ij + S_ji),   S = L(learner) - L(reference),
//
// where L_ij is what a pair adds to the sigmoid loss (SigLIP, Zhai et al., ICCV 2023),
//
//     L_ij = log(1 + e^(-z (scale s_ij + offset))),   z = 1 for i = j, else -1,
//
// s_ij = x1_i . x2_j of the learner. A chunk is drawn without replacement, each item with
// probability proportional to exp(score) of those that are left: Gumbel's keys, the largest first.
//
// `score: hard` is the learner's loss alone, `easy` the reference's, negative (the paper's
// ablations).
//
// Deviations. The reference is the file's teacher, which has one view: its positives are all alike,
// and their constant is left out. Items to choose from are drawn anew for every batch, where the
// paper cuts a stream of them. scale and offset are learned there; defaults are what SigLIP begins
// with. Without views x takes the place of both. Batches are independent of each other.
#include "core/bitset.h"
#include "core/clones.h"
#include "core/exp.h"
#include "core/sweep/packed.h"
#include "core/text.h"
#include "samplers/sampler.h"

#include <math.h>

enum { LEARNABLE, HARD, EASY };

struct params {
    int score;
    double ratio, scale, offset;
    int64_t chunks;
};

enum { VIEW1, VIEW2, TEACHER, SIDES };

// Scratch of a thread for choosing a batch.
struct scratch {
    int32_t *id;                               // [candidates] that a batch is chosen from
    struct hn_packed all[SIDES], chunk[SIDES]; // of the candidates, and of the last chunk
    int32_t *position;                         // [B] of what is chosen, among the candidates
    double *score, *key;                       // [candidates]; [largest chunk] in their order
    bool *chosen;                              // [candidates]
    float *s;                                  // [candidates x chunk], whole panels
    uint64_t *marks;                           // [words of n] clear between batches
};

struct state {
    struct hn_items items;           // of the last build, borrowed
    struct scratch *scratch;         // [threads]
    int64_t candidates, chunks, max; // items to choose from; draws; items of one, at most
};

static int64_t candidates_of(const struct params *p, int64_t n, int64_t batch_size) {
    return hn_min(n, llround((double)batch_size / (1 - p->ratio)));
}

static enum hn_code check(struct hn_context *ctx, const void *p,
                          const struct hn_sampler_plan *plan) {
    const struct params *params = p;
    hn_sampler_limit(ctx, "chunks", params->chunks, plan->batch_size,
                     "a chunk has one item or more");
    if (params->score != HARD && !plan->has_teacher)
        return hn_fail(ctx, HN_NOT_APPLICABLE,
                       "jest with score: %s needs a teacher as the reference, which these items "
                       "do not have (score: hard needs none)",
                       params->score == EASY ? "easy" : "learnable");
    if (llround(plan->batch_size / (1 - params->ratio)) > plan->n)
        hn_note_once(ctx, "jest chooses from all %lld items: B / (1 - ratio) is more",
                     (long long)plan->n);
    return HN_OK;
}

// Without views x takes the place of both.
static const struct hn_matrix *rows_of(const struct hn_items *items, int side) {
    if (side == TEACHER)
        return &items->teacher;
    return !hn_has_positive(items) ? &items->x : side == VIEW1 ? &items->x1 : &items->x2;
}

static bool uses(const struct params *p, const struct hn_items *items, int side) {
    if (side == TEACHER)
        return p->score != HARD;
    return p->score != EASY && (side == VIEW1 || hn_has_positive(items));
}

static enum hn_code open_scratch(struct hn_context *ctx, const struct hn_sampler *self,
                                 struct scratch *s) {
    const struct state *state = self->state;
    const struct hn_items *items = &state->items;
    int64_t n = state->candidates, panels = hn_panels(n) * HN_PANEL;
    bool good = HN_ALLOC(ctx, s->id, n) && HN_ALLOC(ctx, s->position, self->batch_size) &&
                HN_ALLOC(ctx, s->score, n) && HN_ALLOC(ctx, s->key, state->max) &&
                HN_ALLOC(ctx, s->chosen, n) &&
                HN_ALLOC_ROWS(ctx, s->s, panels, hn_panels(state->max) * HN_PANEL) &&
                HN_ZALLOC(ctx, s->marks, hn_bitset_words(self->n));
    for (int k = 0; k < SIDES && good; k++)
        if (uses(self->params, items, k)) {
            int64_t d = rows_of(items, k)->cols;
            good = !hn_packed_reserve(ctx, n, d, &s->all[k]) &&
                   !hn_packed_reserve(ctx, state->max, d, &s->chunk[k]);
        }
    return good ? HN_OK : ctx->code;
}

static enum hn_code open_jest(struct hn_context *ctx, struct hn_sampler *self, int64_t n) {
    (void)ctx;
    const struct params *params = self->params;
    struct state *state = self->state;
    state->candidates = candidates_of(params, n, self->batch_size);
    state->chunks = hn_min(params->chunks, self->batch_size);
    state->max = (self->batch_size + state->chunks - 1) / state->chunks;
    return HN_OK;
}

static enum hn_code rebuild(struct hn_context *ctx, struct hn_sampler *self,
                            const struct hn_items *items) {
    const struct params *params = self->params;
    struct state *state = self->state;
    state->items = *items;
    if (params->score != HARD && !items->teacher.data)
        return hn_fail(ctx, HN_NOT_APPLICABLE,
                       "jest needs a teacher as the reference, which these items do not have");
    if (!HN_ZALLOC(ctx, state->scratch, self->threads))
        return ctx->code;
    for (int t = 0; t < self->threads; t++)
        if (open_scratch(ctx, self, &state->scratch[t]))
            return ctx->code;
    return HN_OK;
}

// Scores before anything is chosen: what an item's own pair adds.
static void begin_scores(const struct params *p, const struct state *state, struct scratch *s) {
    const struct hn_items *items = &state->items;
    bool views = hn_has_positive(items);
    for (int64_t i = 0; i < state->candidates; i++) {
        double own = 1;
        if (views)
            own =
                hn_dot_exact(hn_row(&items->x1, s->id[i]), hn_row(&items->x2, s->id[i]), items->d);
        s->score[i] = p->score == EASY ? 0 : hn_softplus(-(p->scale * own + p->offset));
        s->chosen[i] = false;
    }
}

// The losses of an item's pairs.
HN_CLONES
static double pair_losses(const float *s, int64_t n, double scale, double offset) {
    double lane[HN_LANES] = {0};
    int64_t j = 0;
    for (; j + HN_LANES <= n; j += HN_LANES)
        for (int l = 0; l < HN_LANES; l++)
            lane[l] += hn_softplus(scale * (double)s[j + l] + offset);
    for (int l = 0; j < n; j++, l++)
        lane[l] += hn_softplus(scale * (double)s[j] + offset);
    return hn_add_lanes(lane);
}

// Adds `times` the losses of all candidates' pairs with the n items of a chunk.
static void add_pairs(const struct params *p, const struct hn_packed *all,
                      const struct hn_packed *chunk, double times, struct scratch *s) {
    int64_t rows = all->rows.rows, n = chunk->rows.rows;
    int64_t stride = hn_panels(n) * HN_PANEL;
    hn_packed_multiply(all, 0, rows, chunk, 0, n, s->s, stride);
    for (int64_t i = 0; i < rows; i++)
        if (!s->chosen[i])
            s->score[i] += times * pair_losses(s->s + i * stride, n, p->scale, p->offset);
}

// The next `count` items, by the scores given those chosen before: their positions.
static void draw_chunk(const struct state *state, struct scratch *s, int64_t count,
                       struct hn_stream *stream, int32_t *position) {
    int64_t n = 0;
    for (int64_t i = 0; i < state->candidates; i++) {
        double key = s->score[i] - log(-log1p(-hn_stream_uniform(stream)));
        if (s->chosen[i] || (n == count && key <= s->key[n - 1]))
            continue;
        int64_t at = n < count ? n++ : n - 1;
        for (; at > 0 && s->key[at - 1] < key; at--) {
            s->key[at] = s->key[at - 1];
            position[at] = position[at - 1];
        }
        s->key[at] = key;
        position[at] = (int32_t)i;
    }
    for (int64_t k = 0; k < count; k++)
        s->chosen[position[k]] = true;
}

// Both directions of every pair with what has just been chosen: without views they are the same.
static void add_chunk(const struct params *p, const struct state *state, struct scratch *s,
                      const int32_t *id, int64_t n) {
    bool views = hn_has_positive(&state->items);
    for (int k = 0; k < SIDES; k++)
        if (uses(p, &state->items, k))
            hn_packed_gather(rows_of(&state->items, k), id, n, &s->chunk[k]);
    if (p->score != EASY) {
        add_pairs(p, &s->all[VIEW1], &s->chunk[views ? VIEW2 : VIEW1], views ? 1 : 2, s);
        if (views)
            add_pairs(p, &s->all[VIEW2], &s->chunk[VIEW1], 1, s);
    }
    if (p->score != HARD)
        add_pairs(p, &s->all[TEACHER], &s->chunk[TEACHER], -2, s);
}

static void count_work(const struct hn_sampler *self, struct hn_work *work) {
    const struct params *params = self->params;
    const struct state *state = self->state;
    int64_t last = self->batch_size - (state->chunks - 1) * self->batch_size / state->chunks;
    int64_t pairs = state->candidates * (self->batch_size - last), bytes = 0, dot = 0;
    for (int k = 0; k < SIDES; k++)
        if (uses(params, &state->items, k)) {
            dot += pairs;
            bytes +=
                state->candidates * (k == TEACHER ? state->items.teacher.cols : state->items.d);
        }
    if (hn_has_positive(&state->items))
        dot += state->candidates;
    work->dot = dot;
    work->bytes = bytes * (int64_t)sizeof(float);
    work->draw = state->candidates * (1 + state->chunks);
}

static int32_t batch(const struct hn_sampler *self, int64_t number, int thread,
                     struct hn_work *work, int32_t *id) {
    const struct params *params = self->params;
    const struct state *state = self->state;
    struct scratch *s = &state->scratch[thread];
    struct hn_stream stream;
    hn_stream_open(&stream, self->seed, "jest.batch", self->index, self->epoch, number);
    hn_stream_distinct(&stream, self->n, state->candidates, s->marks, s->id);
    begin_scores(params, state, s);
    for (int k = 0; k < SIDES; k++)
        if (uses(params, &state->items, k))
            hn_packed_gather(rows_of(&state->items, k), s->id, state->candidates, &s->all[k]);
    for (int64_t c = 0, from = 0; c < state->chunks; c++) {
        int64_t to = (c + 1) * self->batch_size / state->chunks;
        draw_chunk(state, s, to - from, &stream, s->position + from);
        for (int64_t i = from; i < to; i++)
            id[i] = s->id[s->position[i]];
        if (c + 1 < state->chunks)
            add_chunk(params, state, s, id + from, to - from);
        from = to;
    }
    count_work(self, work);
    return self->batch_size;
}

static const char *const scores[] = {"learnable", "hard", "easy", NULL};

static const struct hn_option options[] = {
    {HN_CHOICE_OPTION(struct params, score, "score", "learnable", scores,
                      "learnable: the loss less the teacher's; hard: the loss; easy: less the "
                      "teacher's")},
    {HN_REAL_OPTION(struct params, ratio, "ratio", "0.8", 0, 0.999,
                    "share of the items to choose from that is left out: f")},
    {HN_INT_OPTION(struct params, chunks, "chunks", "16", 1, INT32_MAX,
                   "draws that make a batch, each given those before: n")},
    {HN_REAL_OPTION(struct params, scale, "scale", "10", 0, 1000,
                    "of cosines in the sigmoid loss: 1 / temperature")},
    {HN_REAL_OPTION(struct params, offset, "offset", "-10", -1000, 1000,
                    "added to them there: SigLIP's bias")},
    {0}};

static void grid(const struct hn_sampler_plan *plan, char *text, size_t size) {
    hn_append(text, size, "{jest: {score: [%shard], scale: [10, 20]}}",
              plan->has_teacher ? "learnable, " : "");
}

const struct hn_sampler_type hn_jest_sampler = {
    .name = "jest",
    .summary = "batches chosen together by loss less that of a teacher",
    .source = "JEST (Evans et al., NeurIPS 2024), algorithm 1",
    .note = "the reference is the file's teacher, with one view; items to choose from are drawn "
            "anew for every batch, the paper cuts a stream; scale and offset are learned there; "
            "without views x takes the place of both",
    .grid = grid,
    .options = options,
    .params_size = sizeof(struct params),
    .state_size = sizeof(struct state),
    .check = check,
    .open = open_jest,
    .rebuild = rebuild,
    .batch = batch,
};
