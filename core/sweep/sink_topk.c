// SPDX-License-Identifier: GPL-3.0-or-later
// The k largest inner products of every row, exactly.
//
// Every row keeps up to `capacity` candidates by float score f. With F the k-th largest f seen so
// far and b = hn_product_bound(), a column with f < F - 2b cannot be among the k best by exact
// score e: k columns have e >= F - b, and its own e is at most f + b < F - b. So columns below F -
// 2b are dropped, with F (or anything slightly below it) brought up to date whenever the capacity
// is full. Where so many candidates lie within the band that this does not make capacity
// (duplicates), they are scored exactly and cut to the k best.
//
// Rows do not start from nothing: a sample of the columns gives each a threshold that its k best
// most likely reach (core/sweep/screen.h). A row of which too few do in the end is swept again,
// alone.
//
// Rows of a tile are scanned against one threshold; its columns, where they are rows of the sink,
// against a threshold each: so nothing is transposed.
//
// A screened sweep hands over only what may reach a threshold, row by row; b is then that of its
// products, and thresholds are raised on the way. Rows are numbered as its positions, candidates as
// rows of y.
#include "core/sweep/product.h"
#include "core/sweep/screen.h"
#include "core/sweep/select.h"
#include "core/sweep/sinks.h"
#include "core/sweep/topk_start.h"

#include <math.h>
#include <omp.h>

enum {
    LINE = 16,        // floats of a cache line
    FETCH_ROWS = 128, // strips between are likely to find the ends of columns still near
    FINISHED = 64     // rows that a thread takes at a time at the end
};

// When thresholds of rows are raised in a screened sweep, in parts of the columns.
enum { PARTS = 64, TIGHTENED = 7 };
static const int64_t tightened[TIGHTENED] = {1, 4, 8, 16, 24, 32, 48};

struct work { // its arrays belong to it
    struct hn_matrix x, y;
    const struct hn_packed *x_packed, *y_packed;
    const struct hn_screen *screen; // NULL: none; else rows are numbered as its positions
    double bound;
    int64_t capacity, pitch; // candidates per row; from row to row
    int64_t slots;           // rows with candidates at a time
    float *threshold;        // [rows]
    int32_t *used;           // [rows]
    float *score;            // [slots x pitch]
    int32_t *id;             // [slots x pitch]
    int32_t *position;       // [threads x stride]
    int64_t stride, block;
    struct hn_select_scratch *scratch; // [threads]
    float *again;                      // [threads x whole] a row swept again, a block at a time
    int64_t whole;
    int threads;
    bool row_by_row;
    bool by_thread; // slots are those of a row block a thread, else one for every row
};

static bool allocate(struct hn_context *ctx, struct hn_topk *t, struct work *work) {
    int64_t candidates, kept;
    if (!hn_mul(work->slots, work->pitch, &candidates) || !hn_mul(t->rows, t->kept, &kept)) {
        (void)hn_fail(ctx, HN_MEMORY, "the %lld nearest of %lld rows are too many",
                      (long long)t->kept, (long long)t->rows);
        return false;
    }
    if (!HN_ALLOC(ctx, t->id, kept) || (!t->ids_only && !HN_ALLOC(ctx, t->score, kept)))
        return false;
    void *outer = hn_own(ctx, work);
    bool good = HN_ALLOC(ctx, work->threshold, t->rows) && HN_ZALLOC(ctx, work->used, t->rows) &&
                HN_ALLOC(ctx, work->score, candidates) && HN_ALLOC(ctx, work->id, candidates) &&
                HN_ALLOC(ctx, work->position, work->threads * work->stride) &&
                HN_ALLOC(ctx, work->again, work->threads * work->whole) &&
                HN_ZALLOC(ctx, work->scratch, work->threads);
    for (int i = 0; good && i < work->threads; i++)
        good = !hn_select_scratch_open(ctx, work->pitch, &work->scratch[i]);
    hn_own(ctx, outer);
    return good;
}

// Position of a row's candidates.
static inline int64_t position_of(const struct work *work, int64_t row, int thread) {
    int64_t slot = row;
    if (work->by_thread)
        slot = thread * work->block + (uint32_t)row % (uint32_t)work->block;
    return slot * work->pitch;
}

// A float product of at least this much keeps a column whose exact product reaches `limit`'s.
static float with_margin(const struct work *work, float limit) {
    return nextafterf((float)((double)limit - 2 * work->bound), -INFINITY);
}

// Columns that rows of a screened sweep meet before their thresholds are raised.
static int64_t raised_after(const struct work *work) {
    int64_t blocks = (work->y.rows + work->block - 1) / work->block;
    for (int i = 0; i < TIGHTENED; i++)
        if (blocks * tightened[i] / PARTS > 0)
            return blocks * tightened[i] / PARTS * work->block;
    return work->y.rows;
}

static enum hn_code start(struct hn_context *ctx, const struct hn_topk *t) {
    struct work *work = t->work;
    bool screened = work->screen != NULL;
    int64_t cols = work->y.rows;
    struct hn_topk_sample sample =
        screened ? hn_topk_sample_size(t->kept, cols, raised_after(work), 0, false)
                 : hn_topk_sample_size(t->kept, cols, cols, work->y.cols, work->by_thread);
    if (sample.columns > 0) {
        enum hn_code code =
            screened ? hn_topk_guess_screened(ctx, work->screen, sample, work->threshold)
                     : hn_topk_guess(ctx, work->x_packed, &work->y, sample, work->threshold);
        if (code)
            return code;
    }
    for (int64_t i = 0; i < t->rows; i++)
        work->threshold[i] = sample.columns > 0 ? with_margin(work, work->threshold[i]) : -INFINITY;
    return HN_OK;
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
    work->x_packed = shape->x_packed;
    work->y_packed = shape->y_packed;
    work->screen = shape->screen;
    work->bound = shape->screen ? shape->screen->bound
                                : hn_product_bound(&shape->x, &shape->y, shape->threads);
    work->capacity = hn_min(t->kept + t->kept / 2 + 64, shape->cols);
    int64_t slack = shape->screen ? 1 : HN_SCAN_SLACK; // one at a time or vectors of them
    work->pitch = (work->capacity + slack + LINE - 1) / LINE * LINE;
    work->block = shape->block;
    work->stride = shape->block + HN_SCAN_SLACK;
    work->whole = hn_panels(shape->block) * HN_PANEL;
    work->threads = shape->threads;
    work->row_by_row = shape->row_by_row;
    work->by_thread = shape->row_by_row && shape->threads * shape->block < t->rows;
    work->slots = work->by_thread ? shape->threads * shape->block : t->rows;
    return allocate(ctx, t, work) ? start(ctx, t) : HN_MEMORY;
}

// The row of x that a row of the sweep is.
static int64_t row_of(const struct work *work, int64_t row) {
    return work->screen ? hn_screen_id(work->screen->x, row) : row;
}

// The k best of a row's candidates by exact score, in order, to the thread's scratch; their number.
// all_exact: with that score, each of them.
static int64_t select_exactly(const struct hn_topk *t, int64_t row, int64_t n, bool all_exact,
                              int thread) {
    const struct work *work = t->work;
    int64_t at = position_of(work, row, thread);
    return hn_select_floats(work->score + at, work->id + at, n, t->kept, work->threshold[row],
                            work->bound, hn_row(&work->x, row_of(work, row)), &work->y, all_exact,
                            &work->scratch[thread]);
}

// All of a row's candidates: they are needed next, and nothing of them is near.
static inline void fetch_row(const struct work *work, int64_t row, int thread) {
    int64_t at = position_of(work, row, thread);
    for (int32_t k = 0; k < work->used[row]; k += LINE) {
        __builtin_prefetch(work->score + at + k);
        __builtin_prefetch(work->id + at + k);
    }
}

// Makes capacity in a full row.
static void prune(const struct hn_topk *t, int64_t row, int thread) {
    const struct work *work = t->work;
    const struct hn_select_scratch *scratch = &work->scratch[thread];
    int64_t at = position_of(work, row, thread);
    float *score = work->score + at;
    int32_t *id = work->id + at, used = work->used[row];
    fetch_row(work, row, thread);
    // Its threshold may be above what it has kept so far, where that was raised meanwhile.
    float kth = hn_select_limit(score, used, t->kept, work->threshold[row]);
    float threshold = fmaxf(with_margin(work, kth), work->threshold[row]);
    int64_t n = hn_simd_best()->filter(score, 0, used, threshold, scratch->position);
    if (n - t->kept > (work->capacity - t->kept) / 2) {
        n = select_exactly(t, row, used, true, thread);
        for (int64_t k = 0; k < n; k++) { // the rounded score is still within the bound
            score[k] = (float)scratch->scored[k].score;
            id[k] = scratch->scored[k].id;
        }
    } else {
        for (int64_t k = 0; k < n; k++) { // position[k] >= k
            score[k] = score[scratch->position[k]];
            id[k] = id[scratch->position[k]];
        }
    }
    work->used[row] = (int32_t)n;
    work->threshold[row] = threshold;
}

// Prefetches the end of a row's candidates, which is far from that of the row before it.
static inline void fetch_end(const struct work *work, int64_t row, int thread) {
    int64_t at = position_of(work, row, thread) + work->used[row];
    __builtin_prefetch(work->score + at, 1);
    __builtin_prefetch(work->id + at, 1);
}

static void topk_row(const struct hn_topk *t, const struct hn_tile *tile, int32_t i, int thread) {
    const struct work *work = t->work;
    const struct hn_simd *scan = hn_simd_best();
    const float *s = tile->s + i * tile->stride;
    int64_t row = tile->row0 + i, at = position_of(work, row, thread);
    struct hn_survivors to = {.score = work->score + at,
                              .id = work->id + at,
                              .used = work->used[row],
                              .capacity = (int32_t)work->capacity};
    struct hn_span span[2];
    int spans = hn_tile_spans(tile, i, t->skip_self, span);
    for (int p = 0; p < spans; p++)
        for (int32_t j = span[p].from; j < span[p].to;) {
            j = scan->collect(s, j, span[p].to, work->threshold[row], (int32_t)tile->col0, &to);
            work->used[row] = to.used;
            if (to.used >= work->capacity && work->capacity > t->kept) {
                prune(t, row, thread);
                to.used = work->used[row];
            }
        }
}

static void topk_tile(void *self, const struct hn_tile *tile, int thread) {
    const struct hn_topk *t = self;
    if (t->kept == 0)
        return;
    const struct work *work = t->work;
    int64_t after = tile->row0 + tile->rows; // the strip after this one, if it is of this block
    int64_t block_end = hn_min((tile->row0 / work->block + 1) * work->block, t->rows);
    for (int64_t row = after; row < hn_min(after + tile->rows, block_end); row++)
        fetch_end(work, row, thread);
    for (int32_t i = 0; i < tile->rows; i++)
        topk_row(t, tile, i, thread);
}

// Row i of the tile is one more column for the rows col0 + position.
static void topk_column(const struct hn_topk *t, const struct hn_tile *tile, int32_t i,
                        int thread) {
    const struct work *work = t->work;
    const float *s = tile->s + i * tile->stride;
    int32_t *position = work->position + thread * work->stride;
    struct hn_span span[2];
    int spans = hn_tile_spans(tile, i, t->skip_self, span);
    for (int p = 0; p < spans; p++) {
        int32_t n = hn_simd_best()->filter_each(s, span[p].from, span[p].to,
                                                work->threshold + tile->col0, position);
        for (int32_t k = 0; k < n; k++) {
            int64_t row = tile->col0 + position[k];
            int32_t at = work->used[row]++;
            work->score[row * work->pitch + at] = s[position[k]];
            work->id[row * work->pitch + at] = (int32_t)tile->row0 + i;
            if (at + 1 >= work->capacity && work->capacity > t->kept)
                prune(t, row, thread);
        }
    }
}

static void topk_across(void *self, const struct hn_tile *tile, int thread) {
    const struct hn_topk *t = self;
    if (t->kept == 0)
        return;
    if (tile->row0 % FETCH_ROWS == 0)
        for (int32_t j = 0; j < tile->cols; j++)
            fetch_end(t->work, tile->col0 + j, thread);
    for (int32_t i = 0; i < tile->rows; i++)
        topk_column(t, tile, i, thread);
}

// True if the threshold that a row started from was low enough: k candidates are as good as the
// product it was made of, so that nothing dropped since can be among the k best.
static bool complete(const struct hn_topk *t, int64_t row, int thread) {
    const struct work *work = t->work;
    float made_of = (float)((double)work->threshold[row] + 2 * work->bound);
    return work->threshold[row] == -INFINITY ||
           hn_simd_best()->count(work->score + position_of(work, row, thread), work->used[row],
                                 made_of) >= t->kept;
}

// One more candidate of a screened sweep, which is numbered as in y. It is written first: whether
// it counts is hard to foresee.
static inline void keep(const struct hn_topk *t, int64_t row, int64_t at, float score, int64_t id,
                        bool wanted, int thread) {
    const struct work *work = t->work;
    int32_t used = work->used[row];
    work->score[at + used] = score;
    work->id[at + used] = (int32_t)id;
    used += wanted && score >= work->threshold[row];
    work->used[row] = used;
    if (used >= work->capacity && work->capacity > t->kept)
        prune(t, row, thread);
}

static inline void keep_column(const struct hn_topk *t, int64_t row, int64_t col, float score,
                               int thread) {
    const struct work *work = t->work;
    int64_t id = hn_screen_id(work->screen->y, col);
    keep(t, row, position_of(work, row, thread), score, id,
         !t->skip_self || id != row_of(work, row), thread);
}

static void topk_take(void *self, const struct hn_found *f, int thread) {
    const struct hn_topk *t = self;
    const struct work *work = t->work;
    for (int32_t k = 0; k < f->n && t->kept > 0; k++) {
        int64_t row = f->row0 + f->row[k], col = f->col0 + f->col[k];
        keep_column(t, row, col, f->s[k], thread);
        if (f->mirrored)
            keep(t, col, col * work->pitch, f->s[k], row_of(work, row), true, thread);
    }
}

// Raises a row's threshold. The columns that it has met so far, in no particular order, are a
// sample of all: the value at a rank that the k best of all reach in the sample only once in ten
// thousand rows is below all of them. (Hypergeometric; checked against its tail for k from 5 to
// 500.)
static void tighten(const struct hn_topk *t, int64_t row, double share, int thread) {
    const struct work *work = t->work;
    double mean = share * (double)t->kept;
    double position = mean + 3.5 * sqrt(mean * (1 - share)) + 2 * (1 - share) + 1;
    float limit = hn_select_limit(work->score + position_of(work, row, thread), work->used[row],
                                  (int64_t)ceil(position), work->threshold[row]);
    work->threshold[row] = fmaxf(with_margin(work, limit), work->threshold[row]);
}

static void topk_meet(void *self, int64_t row0, int64_t rows, int64_t done, int64_t all,
                      int thread) {
    const struct hn_topk *t = self;
    bool due = false;
    for (int i = 0; i < TIGHTENED; i++)
        due |= done > 0 && done == all * tightened[i] / PARTS;
    for (int64_t row = row0; row < row0 + rows; row++) {
        if (due)
            tighten(t, row, (double)done / (double)all, thread);
        fetch_end(t->work, row, thread);
    }
}

static double topk_share(const void *self, int64_t rows, int64_t cols) {
    (void)rows;
    return (double)((const struct hn_topk *)self)->k / (double)cols;
}

static const float *topk_limits(const void *self) {
    return ((const struct work *)((const struct hn_topk *)self)->work)->threshold;
}

// All columns again, for a row that started from too much: the same products.
static void sweep_again(const struct hn_topk *t, int64_t row, int thread) {
    const struct work *work = t->work;
    float *s = work->again + thread * work->whole;
    work->used[row] = 0;
    work->threshold[row] = -INFINITY;
    for (int64_t col0 = 0; col0 < work->y.rows; col0 += work->block) {
        int64_t cols = hn_min(work->block, work->y.rows - col0);
        if (work->screen) {
            hn_screen_multiply_row(work->screen, row, col0, cols, s);
            for (int64_t j = 0; j < cols; j++)
                keep_column(t, row, col0 + j, s[j], thread);
        } else {
            struct hn_tile tile = {s, work->whole, row, col0, 1, (int32_t)cols};
            hn_packed_multiply_row(work->x_packed, row, work->y_packed, col0, cols, s);
            topk_row(t, &tile, 0, thread);
        }
    }
}

static void finish_row(const struct hn_topk *t, int64_t row, int thread) {
    const struct work *work = t->work;
    const struct hn_select_scratch *scratch = &work->scratch[thread];
    if (!work->row_by_row && (row + 1) % FINISHED != 0 && row + 1 < t->rows)
        fetch_row(work, row + 1, thread); // another thread's may be swept again by now
    if (!complete(t, row, thread))
        sweep_again(t, row, thread);
    int64_t n = select_exactly(t, row, work->used[row], !t->ids_only, thread);
    int64_t out = row_of(work, row) * t->kept;
    for (int64_t k = 0; k < n; k++) {
        t->id[out + k] = scratch->scored[k].id;
        if (t->score)
            t->score[out + k] = (float)scratch->scored[k].score;
    }
}

static void topk_done(void *self, int64_t row0, int64_t rows, int thread) {
    const struct hn_topk *t = self;
    for (int64_t row = row0; row < row0 + rows; row++)
        finish_row(t, row, thread);
}

static enum hn_code topk_end(struct hn_context *ctx, void *self) {
    struct hn_topk *t = self;
    const struct work *work = t->work;
    int64_t left = work->row_by_row ? 0 : t->rows;
#pragma omp parallel for num_threads(work->threads) schedule(dynamic, FINISHED)
    for (int64_t row = 0; row < left; row++)
        finish_row(t, row, omp_get_thread_num());
    hn_free(ctx, t->work);
    t->work = NULL;
    return HN_OK;
}

void hn_topk_free(struct hn_context *ctx, struct hn_topk *t) {
    hn_free(ctx, t->work);
    t->work = NULL;
    hn_free(ctx, t->id);
    hn_free(ctx, t->score);
    t->id = NULL;
    t->score = NULL;
}

static const struct hn_screened topk_screened = {
    .share = topk_share, .limits = topk_limits, .take = topk_take, .meet = topk_meet};

const struct hn_sink_type hn_topk_sink = {.name = "topk",
                                          .begin = topk_begin,
                                          .tile = topk_tile,
                                          .end = topk_end,
                                          .done = topk_done,
                                          .across = topk_across,
                                          .screened = &topk_screened};
