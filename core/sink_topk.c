// The k largest inner products of every row, exactly.
//
// Every row keeps up to `room` candidates by float score f. With F the k-th largest f seen so far
// and b = hn_dot_bound(d), a column with f < F - 2b cannot be among the k best by exact score e: k
// columns have e >= F - b, and its own e is at most f + b < F - b. So columns below F - 2b are
// dropped, with F (or anything slightly below it) brought up to date whenever the room is full.
// Where so many candidates lie within the band that this does not make room (duplicates), they are
// scored exactly and cut to the k best.
#include "core/clones.h"
#include "core/select.h"
#include "core/sinks.h"

#include <math.h>
#include <omp.h>

struct candidate {
    float score;
    int32_t id;
};

struct work {
    struct hn_matrix x, y;
    double bound;
    int64_t room;                // candidates per row
    float *threshold;            // [rows]
    int32_t *used;               // [rows]
    struct candidate *candidate; // [rows x room]
    int32_t *place;              // [threads x block]
    float *value;                // [threads x room]
    struct hn_scored *scored;    // [threads x room]
    int64_t block;
    int threads;
};

static bool allocate(struct hn_context *ctx, struct hn_topk *t, struct work *work) {
    int64_t candidates, kept;
    if (!hn_mul(t->rows, work->room, &candidates) || !hn_mul(t->rows, t->kept, &kept)) {
        (void)hn_fail(ctx, HN_MEMORY, "the %lld nearest of %lld rows are too many",
                      (long long)t->kept, (long long)t->rows);
        return false;
    }
    return (t->id = hn_alloc(ctx, kept, sizeof *t->id)) &&
           (t->score = hn_alloc(ctx, kept, sizeof *t->score)) &&
           (work->threshold = hn_alloc(ctx, t->rows, sizeof *work->threshold)) &&
           (work->used = hn_zalloc(ctx, t->rows, sizeof *work->used)) &&
           (work->candidate = hn_alloc(ctx, candidates, sizeof *work->candidate)) &&
           (work->place = hn_alloc(ctx, work->threads * work->block, sizeof *work->place)) &&
           (work->value = hn_alloc(ctx, work->threads * work->room, sizeof *work->value)) &&
           (work->scored = hn_alloc(ctx, work->threads * work->room, sizeof *work->scored));
}

static enum hn_code topk_begin(struct hn_context *ctx, void *self,
                               const struct hn_sweep_shape *shape) {
    struct hn_topk *t = self;
    struct work *work = hn_zalloc(ctx, 1, sizeof *work);
    if (!work)
        return HN_MEMORY;
    t->work = work;
    int64_t others = hn_max(0, shape->cols - t->skip_self);
    t->rows = shape->rows;
    t->kept = hn_max(0, hn_min(t->k, others));
    work->x = shape->x;
    work->y = shape->y;
    work->bound = hn_dot_bound(shape->x.cols);
    work->room = hn_min(t->kept + t->kept / 2 + 64, shape->cols);
    work->block = shape->block;
    work->threads = shape->threads;
    if (!allocate(ctx, t, work))
        return HN_MEMORY;
    for (int64_t i = 0; i < t->rows; i++)
        work->threshold[i] = -INFINITY;
    return HN_OK;
}

static struct candidate *row_candidates(const struct work *work, int64_t row) {
    return work->candidate + row * work->room;
}

// The k best of a row's candidates by exact score, in order, to the thread's scratch; their number.
static int64_t select_exactly(const struct hn_topk *t, int64_t row, int64_t n, int thread) {
    const struct work *work = t->work;
    const struct candidate *c = row_candidates(work, row);
    struct hn_scored *scored = work->scored + thread * work->room;
    for (int64_t k = 0; k < n; k++)
        scored[k] = (struct hn_scored){.score = c[k].score, .id = c[k].id};
    return hn_select_top(scored, n, t->kept, work->bound, hn_row(&work->x, row), &work->y);
}

// Makes room in a full row.
static void prune(const struct hn_topk *t, int64_t row, int thread) {
    const struct work *work = t->work;
    struct candidate *c = row_candidates(work, row);
    float *value = work->value + thread * work->room;
    for (int64_t k = 0; k < work->room; k++)
        value[k] = c[k].score;
    float kth = hn_select_limit(value, work->room, t->kept, work->threshold[row]);
    float threshold = nextafterf((float)((double)kth - 2 * work->bound), -INFINITY);
    int64_t n = 0;
    for (int64_t k = 0; k < work->room; k++) {
        c[n] = c[k];
        n += value[k] >= threshold;
    }
    if (n - t->kept > (work->room - t->kept) / 2) {
        const struct hn_scored *scored = work->scored + thread * work->room;
        n = select_exactly(t, row, n, thread);
        for (int64_t k = 0; k < n; k++) // the rounded score is still within the bound
            c[k] = (struct candidate){(float)scored[k].score, scored[k].id};
    }
    work->used[row] = (int32_t)n;
    work->threshold[row] = fmaxf(threshold, work->threshold[row]);
}

static void topk_row(const struct hn_topk *t, const struct hn_tile *tile, int32_t i, int thread) {
    const struct work *work = t->work;
    const float *s = tile->s + i * tile->stride;
    int64_t row = tile->row0 + i;
    struct candidate *c = row_candidates(work, row);
    int32_t *place = work->place + thread * work->block;
    struct hn_span span[2];
    int spans = hn_tile_spans(tile, i, t->skip_self, span);
    for (int p = 0; p < spans; p++) {
        int32_t n = hn_tile_filter(s, span[p], work->threshold[row], place);
        int32_t used = work->used[row];
        for (int32_t k = 0; k < n; k++) {
            int32_t j = place[k];
            if (used == work->room) {
                prune(t, row, thread);
                used = work->used[row];
            }
            c[used] = (struct candidate){s[j], (int32_t)tile->col0 + j};
            used += s[j] >= work->threshold[row]; // it may have risen
        }
        work->used[row] = used;
    }
}

static void topk_tile(void *self, const struct hn_tile *tile, int thread) {
    const struct hn_topk *t = self;
    const struct work *work = t->work;
    if (t->kept == 0)
        return;
    for (int64_t row = tile->row0; row < tile->row0 + tile->rows; row++)
        __builtin_prefetch(row_candidates(work, row) + work->used[row], 1);
    for (int32_t i = 0; i < tile->rows; i++)
        topk_row(t, tile, i, thread);
}

static void finish_row(const struct hn_topk *t, int64_t row, int thread) {
    const struct work *work = t->work;
    const float *x = hn_row(&work->x, row);
    const struct hn_scored *scored = work->scored + thread * work->room;
    int64_t n = select_exactly(t, row, work->used[row], thread);
    for (int64_t k = 0; k < n; k++) {
        double score = scored[k].exact
                           ? scored[k].score
                           : hn_dot_exact(x, hn_row(&work->y, scored[k].id), work->y.cols);
        t->id[row * t->kept + k] = scored[k].id;
        t->score[row * t->kept + k] = (float)score;
    }
}

static void free_work(struct hn_context *ctx, struct hn_topk *t) {
    struct work *work = t->work;
    if (work) {
        hn_free(ctx, work->threshold);
        hn_free(ctx, work->used);
        hn_free(ctx, work->candidate);
        hn_free(ctx, work->place);
        hn_free(ctx, work->value);
        hn_free(ctx, work->scored);
    }
    hn_free(ctx, work);
    t->work = NULL;
}

static enum hn_code topk_end(struct hn_context *ctx, void *self) {
    struct hn_topk *t = self;
#pragma omp parallel for num_threads(((struct work *)t->work)->threads) schedule(dynamic, 64)
    for (int64_t row = 0; row < t->rows; row++)
        finish_row(t, row, omp_get_thread_num());
    free_work(ctx, t);
    return HN_OK;
}

void hn_topk_free(struct hn_context *ctx, struct hn_topk *t) {
    free_work(ctx, t);
    hn_free(ctx, t->id);
    hn_free(ctx, t->score);
    t->id = NULL;
    t->score = NULL;
}

const struct hn_sink_type hn_topk_sink = {"topk", topk_begin, topk_tile, topk_end};
