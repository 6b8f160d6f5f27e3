// SPDX-License-Identifier: GPL-3.0-or-later
// The sweep over tiles of S = X Y^T.
#include "core/sweep/sweep.h"

#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

enum {
    BLOCK_MIN = 64,
    BLOCK_MAX = 512,
    BLOCKS_WANTED = 32, // so that a round has tiles for many threads
    BLOCK_SCREENED = 2048,
    SLAB_PACKED = 128,     // rows multiplied at a time: a slab of a tile stays in the second cache
    SLAB_BLAS = BLOCK_MAX, // the library packs the columns anew for each slab
    PAD = 16,              // floats: rows of a tile do not all fall into the same cache sets
    STRIP = 16             // rows that sinks get at a time: they stay in the first cache
};

enum { ALONE = -1 };
static const double copy_max = 1 << 30; // bytes of rows that a screen copies in its order

struct plan {
    struct hn_sweep *sweep;
    bool symmetric;
    bool row_by_row;
    bool transposed;           // some sink needs transposed strips
    int partner[HN_SINKS_MAX]; // X Y^T: the column sink fed with this one; itself: with another
    int64_t block, slab, stride, row_blocks, col_blocks;
    float *buffer; // [threads x (slab + STRIP) x stride]: a slab and a transposed strip each
    struct hn_packed x, y_alone; // y_alone: of X Y^T
    const struct hn_packed *y;
    bool screened;
    struct hn_screen screen;
    int64_t dots;        // of all tiles, those of a sweep without a screen
    int64_t part, parts; // what is swept of it; parts = 0: all
};

int hn_tile_spans(const struct hn_tile *tile, int32_t i, bool skip_self, struct hn_span span[2]) {
    int64_t self = tile->row0 + i - tile->col0;
    if (!skip_self || self < 0 || self >= tile->cols) {
        span[0] = (struct hn_span){0, tile->cols};
        return tile->cols > 0;
    }
    int n = 0;
    if (self > 0)
        span[n++] = (struct hn_span){0, (int32_t)self};
    if (self + 1 < tile->cols)
        span[n++] = (struct hn_span){(int32_t)self + 1, tile->cols};
    return n;
}

void hn_sweep_add(struct hn_sweep *sweep, const struct hn_sink_type *type, void *self,
                  enum hn_side side) {
    if (sweep->n_sinks < HN_SINKS_MAX)
        sweep->sink[sweep->n_sinks] = (struct hn_sink){type, self, side};
    sweep->n_sinks++; // one too many is refused by hn_sweep_run()
}

// From the sizes alone: the number of threads must not change any result.
static int64_t choose_block(int64_t rows, int64_t cols, int64_t max) {
    int64_t block = hn_min(rows, cols) / BLOCKS_WANTED;
    block = hn_panels(block) * HN_PANEL;
    return hn_max(BLOCK_MIN, hn_min(max, block));
}

static int64_t symmetric_dots(int64_t rows, int64_t block) {
    int64_t whole = rows / block, rest = rows % block;
    return (rows * rows + whole * block * block + rest * rest) / 2; // the diagonal in full
}

int64_t hn_sweep_symmetric_dots(int64_t rows) {
    return symmetric_dots(rows, choose_block(rows, rows, BLOCK_MAX));
}

static enum hn_code check(struct hn_context *ctx, const struct hn_sweep *sweep) {
    const struct hn_matrix *x = &sweep->x, *y = &sweep->y;
    if (sweep->n_sinks > HN_SINKS_MAX)
        return hn_fail(ctx, HN_INTERNAL, "a sweep with %d sinks: at most %d fit", sweep->n_sinks,
                       HN_SINKS_MAX);
    if (x->cols != y->cols || x->rows > INT32_MAX || y->rows > INT32_MAX || sweep->block < 0)
        return hn_fail(
            ctx, HN_INTERNAL, "a sweep over %lld x %lld and %lld x %lld embeddings is not possible",
            (long long)x->rows, (long long)x->cols, (long long)y->rows, (long long)y->cols);
    return HN_OK;
}

// Pairs up sinks of both sides of X Y^T that can be fed in one pass.
static void find_partners(struct plan *plan) {
    const struct hn_sweep *sweep = plan->sweep;
    for (int k = 0; k < sweep->n_sinks; k++)
        plan->partner[k] = ALONE;
    for (int k = 0; k < sweep->n_sinks && !plan->symmetric; k++) {
        const struct hn_sink *row = &sweep->sink[k];
        if (row->side != HN_SIDE_ROWS || !row->type->both || !row->type->joins)
            continue;
        for (int l = 0; l < sweep->n_sinks && plan->partner[k] == ALONE; l++) {
            const struct hn_sink *col = &sweep->sink[l];
            if (col->side == HN_SIDE_COLS && col->type == row->type && plan->partner[l] == ALONE &&
                row->type->joins(row->self, col->self)) {
                plan->partner[k] = l;
                plan->partner[l] = l;
            }
        }
    }
}

static enum hn_code pack(struct hn_context *ctx, struct plan *plan) {
    enum hn_code code = hn_packed_open(ctx, &plan->sweep->x, plan->block, &plan->x);
    plan->y = plan->symmetric ? &plan->x : &plan->y_alone;
    if (code || plan->symmetric)
        return code;
    return hn_packed_open(ctx, &plan->sweep->y, plan->block, &plan->y_alone);
}

// Checks whether a screen is worth while, and opens it. For one sink, of rows: others see all
// products.
static enum hn_code open_screen(struct hn_context *ctx, struct plan *plan) {
    const struct hn_sweep *sweep = plan->sweep;
    const struct hn_sink *sink = &sweep->sink[0];
    const struct hn_screened *screened = sweep->n_sinks == 1 ? sink->type->screened : NULL;
    const struct hn_screen_kernel *kernel;
    if (!screened || sink->side != HN_SIDE_ROWS)
        return HN_OK;
    double share = screened->share(sink->self, sweep->x.rows, sweep->y.rows);
    enum hn_code code = hn_screen_choose(ctx, &sweep->x, &sweep->y, share, &kernel);
    if (code || !kernel)
        return code;
    int64_t rows = sweep->x.rows, cols = sweep->y.rows;
    bool shuffled = screened->meet != NULL;
    int64_t max = plan->symmetric && shuffled ? BLOCK_SCREENED : BLOCK_MAX;
    double bytes = (double)(rows + cols) * (double)sweep->x.cols * sizeof(float);
    const struct hn_screen_wish wish = {.kernel = kernel,
                                        .block = choose_block(rows, cols, max),
                                        .shuffled = shuffled,
                                        .in_place = bytes > copy_max,
                                        .share = share,
                                        .anyway = ctx->screen != NULL};
    code = hn_screen_open(ctx, &sweep->x, &sweep->y, &wish, &plan->screen, &plan->screened);
    if (plan->screened)
        plan->block = wish.block;
    return code;
}

static void count_blocks(struct plan *plan) {
    plan->row_blocks = (plan->sweep->x.rows + plan->block - 1) / plan->block;
    plan->col_blocks = (plan->sweep->y.rows + plan->block - 1) / plan->block;
}

static enum hn_code make_plan(struct hn_context *ctx, struct hn_sweep *sweep, struct plan *plan) {
    const struct hn_matrix *x = &sweep->x, *y = &sweep->y;
    enum hn_code code = check(ctx, sweep);
    if (code)
        return code;
    plan->symmetric = x->data == y->data && x->rows == y->rows && x->stride == y->stride;
    for (int k = 0; k < sweep->n_sinks; k++)
        plan->transposed |= !sweep->sink[k].type->across &&
                            (plan->symmetric || sweep->sink[k].side == HN_SIDE_COLS);
    find_partners(plan);
    plan->row_by_row = !plan->symmetric;
    for (int k = 0; k < sweep->n_sinks; k++)
        plan->row_by_row &= sweep->sink[k].side == HN_SIDE_ROWS;
    int64_t block = sweep->block > 0 ? sweep->block : choose_block(x->rows, y->rows, BLOCK_MAX);
    plan->block = hn_max(1, hn_min(block, hn_max(x->rows, y->rows)));
    plan->dots = plan->symmetric ? symmetric_dots(x->rows, plan->block) : x->rows * y->rows;
    code = open_screen(ctx, plan);
    count_blocks(plan);
    if (code || plan->screened)
        return code;
    int64_t whole = hn_panels(plan->block) * HN_PANEL;
    plan->slab = hn_min(whole, hn_product_best() ? SLAB_PACKED : SLAB_BLAS);
    plan->stride = whole + PAD;
    int64_t size;
    if (!hn_mul(plan->slab + STRIP, plan->stride, &size) || !hn_mul(size, ctx->threads, &size))
        return hn_fail(ctx, HN_MEMORY, "tiles of %lld rows are too large: take a smaller block",
                       (long long)plan->block);
    if (!HN_ALLOC(ctx, plan->buffer, size))
        return HN_MEMORY;
    return pack(ctx, plan);
}

static enum hn_code begin_sinks(struct hn_context *ctx, const struct plan *plan) {
    struct hn_sweep *sweep = plan->sweep;
    for (int k = 0; k < sweep->n_sinks; k++) {
        const struct hn_sink *sink = &sweep->sink[k];
        bool exchanged = sink->side == HN_SIDE_COLS;
        struct hn_sweep_shape shape = {
            .x = exchanged ? sweep->y : sweep->x,
            .y = exchanged ? sweep->x : sweep->y,
            .x_packed = exchanged ? plan->y : &plan->x,
            .y_packed = exchanged ? &plan->x : plan->y,
            .screen = plan->screened ? &plan->screen : NULL,
            .threads = ctx->threads,
            .block = plan->block,
            .row_by_row = plan->row_by_row,
        };
        shape.rows = shape.x.rows;
        shape.cols = shape.y.rows;
        if (sink->type->begin && sink->type->begin(ctx, sink->self, &shape))
            return hn_failure(ctx);
    }
    return HN_OK;
}

static enum hn_code end_sinks(struct hn_context *ctx, const struct plan *plan) {
    for (int k = 0; k < plan->sweep->n_sinks; k++) {
        const struct hn_sink *sink = &plan->sweep->sink[k];
        if (sink->type->end && sink->type->end(ctx, sink->self))
            return hn_failure(ctx);
    }
    return HN_OK;
}

// Feeds a strip to sink number k. rows, cols: in which orientations the sink is to see it.
static void feed_sink(const struct plan *plan, int k, const struct hn_tile *tile, bool rows,
                      bool cols, int thread) {
    const struct hn_sink *sink = &plan->sweep->sink[k];
    const struct hn_sink_type *type = sink->type;
    int partner = plan->partner[k];
    if (partner == k)
        return;
    if (partner != ALONE) {
        type->both(sink->self, plan->sweep->sink[partner].self, tile, thread);
    } else if (rows && cols && type->both) {
        type->both(sink->self, sink->self, tile, thread);
    } else {
        if (rows)
            type->tile(sink->self, tile, thread);
        if (cols && type->across)
            type->across(sink->self, tile, thread);
    }
}

// Sinks get strips of a slab, few enough rows to stay in the nearest cache from sink to sink.
// mirrored: S is symmetric, and the other half of the pair of blocks is not computed.
static void feed_strips(const struct plan *plan, const struct hn_tile *slab, bool mirrored,
                        int thread) {
    for (int32_t i = 0; i < slab->rows; i += STRIP) {
        struct hn_tile strip = *slab;
        strip.s += i * slab->stride;
        strip.row0 += i;
        strip.rows = (int32_t)hn_min(STRIP, slab->rows - i);
        for (int k = 0; k < plan->sweep->n_sinks; k++) {
            bool rows = plan->symmetric || plan->sweep->sink[k].side == HN_SIDE_ROWS;
            feed_sink(plan, k, &strip, rows, plan->symmetric ? mirrored : !rows, thread);
        }
    }
}

// For sinks that cannot take the columns of a slab as they are.
static void feed_transposed(const struct plan *plan, const struct hn_tile *slab, float *buffer,
                            int thread) {
    for (int32_t j = 0; j < slab->cols; j += STRIP) {
        int32_t n = (int32_t)hn_min(STRIP, slab->cols - j);
        struct hn_tile strip = {buffer, slab->stride, slab->col0 + j, slab->row0, n, slab->rows};
        hn_transpose(slab->s + j, slab->stride, slab->rows, n, buffer, slab->stride);
        for (int k = 0; k < plan->sweep->n_sinks; k++) {
            const struct hn_sink *sink = &plan->sweep->sink[k];
            if (!sink->type->across && (plan->symmetric || sink->side == HN_SIDE_COLS))
                sink->type->tile(sink->self, &strip, thread);
        }
    }
}

// The same tile, of which the sink takes what the screen finds.
static void screen_tile(const struct plan *plan, struct hn_screen_tile *tile, bool mirrored,
                        int64_t round, int thread) {
    const struct hn_sink *sink = &plan->sweep->sink[0];
    const struct hn_screened *screened = sink->type->screened;
    if (screened->meet) {
        screened->meet(sink->self, tile->row0, tile->rows, round, plan->col_blocks, thread);
        if (mirrored)
            screened->meet(sink->self, tile->col0, tile->cols, round, plan->col_blocks, thread);
    }
    const float *limits = screened->limits(sink->self);
    tile->row_limit = limits + tile->row0;
    tile->col_limit = mirrored ? limits + tile->col0 : NULL;
    hn_screen_find(&plan->screen, tile, screened->take, sink->self, thread);
}

// Computes the tile of row block i and column block j and feeds it to all sinks; S is symmetric in
// X X^T, so there both orientations are tiles for sinks of either side.
static void do_tile(const struct plan *plan, int64_t i, int64_t j, int64_t round, int thread) {
    const struct hn_matrix *x = &plan->sweep->x, *y = &plan->sweep->y;
    int64_t col0 = j * plan->block, cols = hn_min(plan->block, y->rows - col0);
    int64_t from = i * plan->block, to = hn_min(from + plan->block, x->rows);
    bool mirrored = plan->symmetric && i != j;
    if (plan->screened) {
        struct hn_screen_tile tile = {from, col0, to - from, cols};
        screen_tile(plan, &tile, mirrored, round, thread);
        return;
    }
    float *s = plan->buffer + thread * (plan->slab + STRIP) * plan->stride;
    for (int64_t row0 = from; row0 < to; row0 += plan->slab) {
        struct hn_tile slab = {
            s, plan->stride, row0, col0, (int32_t)hn_min(plan->slab, to - row0), (int32_t)cols};
        hn_packed_multiply(&plan->x, row0, slab.rows, plan->y, col0, cols, s, plan->stride);
        feed_strips(plan, &slab, mirrored, thread);
        if (plan->transposed && (mirrored || !plan->symmetric))
            feed_transposed(plan, &slab, s + plan->slab * plan->stride, thread);
    }
}

// True if the pair of blocks belongs to the part. Of X X^T a block meets about half of the others
// as its own.
static bool in_part(const struct plan *plan, int64_t i, int64_t j) {
    int64_t owner = !plan->symmetric ? i : (i + j) % 2 ? hn_max(i, j) : hn_min(i, j);
    return plan->parts == 0 || owner * plan->parts / plan->row_blocks == plan->part;
}

// Rounds that blocks of rows and of columns have been through. Threads take tiles in the order of
// rounds, and wait for those of earlier rounds that share a block, but not for all of a round: with
// 25 tiles a round, 16 threads would be idle for a fifth of the time.
struct progress {
    _Atomic int64_t next;         // position in the list of all rounds
    _Atomic int64_t *rows, *cols; // [rounds] of each block; X X^T: the same
};

// True if the block is through; false: asked to stop.
static bool wait_for(const struct hn_context *ctx, const _Atomic int64_t *block, int64_t round) {
    while (atomic_load_explicit(block, memory_order_acquire) < round) {
        if (hn_stop_asked(ctx))
            return false;
        sched_yield();
    }
    return true;
}

// A thread's share. Within a round each block of rows and each of columns comes once: whatever a
// tile waits for is ahead of it in the list, so one thread at least can go on.
static void do_share(const struct hn_context *ctx, const struct plan *plan, struct progress *p,
                     int64_t rounds, int thread) {
    int64_t at;
    while (!hn_stop_asked(ctx) && (at = atomic_fetch_add(&p->next, 1)) < rounds * rounds) {
        int64_t round = at / rounds, i = at % rounds;
        int64_t j = plan->symmetric ? (round - i + rounds) % rounds : (i + round) % rounds;
        if (plan->symmetric && j < i)
            continue;
        if (!wait_for(ctx, &p->rows[i], round) || !wait_for(ctx, &p->cols[j], round))
            break;
        if (i < plan->row_blocks && j < plan->col_blocks && in_part(plan, i, j))
            do_tile(plan, i, j, round, thread);
        atomic_store_explicit(&p->rows[i], round + 1, memory_order_release);
        atomic_store_explicit(&p->cols[j], round + 1, memory_order_release);
    }
}

static enum hn_code do_rounds(struct hn_context *ctx, const struct plan *plan) {
    int64_t rounds = hn_max(plan->row_blocks, plan->col_blocks);
    struct progress p = {.rows = hn_zalloc(ctx, 2 * rounds, sizeof *p.rows)};
    if (!p.rows)
        return HN_MEMORY;
    p.cols = plan->symmetric ? p.rows : p.rows + rounds;
#pragma omp parallel num_threads(ctx->threads)
    do_share(ctx, plan, &p, rounds, omp_get_thread_num());
    hn_free(ctx, p.rows);
    return hn_check_stop(ctx);
}

// A row block through all its columns, in the order of rounds. Ends early when asked to stop.
static void do_row_block(const struct hn_context *ctx, const struct plan *plan, int64_t i,
                         int thread) {
    int64_t rounds = hn_max(plan->row_blocks, plan->col_blocks);
    for (int64_t round = 0; round < rounds; round++) {
        if (hn_stop_asked(ctx))
            return;
        int64_t j = (i + round) % rounds;
        if (j < plan->col_blocks)
            do_tile(plan, i, j, round, thread);
    }
    int64_t row0 = i * plan->block, rows = hn_min(plan->block, plan->sweep->x.rows - row0);
    for (int k = 0; k < plan->sweep->n_sinks; k++) {
        const struct hn_sink *sink = &plan->sweep->sink[k];
        if (sink->type->done)
            sink->type->done(sink->self, row0, rows, thread);
    }
}

static enum hn_code do_row_blocks(struct hn_context *ctx, const struct plan *plan) {
#pragma omp parallel for num_threads(ctx->threads) schedule(dynamic)
    for (int64_t i = 0; i < plan->row_blocks; i++)
        if (in_part(plan, i, i))
            do_row_block(ctx, plan, i, omp_get_thread_num());
    return hn_check_stop(ctx);
}

static enum hn_code do_tiles(struct hn_context *ctx, const struct plan *plan) {
    return plan->row_by_row ? do_row_blocks(ctx, plan) : do_rounds(ctx, plan);
}

static enum hn_code sweep_part(struct hn_context *ctx, void *data, int64_t part,
                               struct hn_bytes *found) {
    struct plan *plan = data;
    plan->part = part;
    enum hn_code code = do_tiles(ctx, plan);
    for (int k = 0; !code && k < plan->sweep->n_sinks; k++) {
        const struct hn_sink *sink = &plan->sweep->sink[k];
        code = sink->type->parted->save(ctx, sink->self, found);
    }
    return code;
}

static enum hn_code take_part(struct hn_context *ctx, void *data, int64_t part,
                              struct hn_cursor *found) {
    const struct plan *plan = data;
    enum hn_code code = HN_OK;
    (void)part;
    for (int k = 0; !code && k < plan->sweep->n_sinks; k++) {
        const struct hn_sink *sink = &plan->sweep->sink[k];
        code = sink->type->parted->load(ctx, sink->self, found);
    }
    return code;
}

// In how many parts it is swept, 0: as a whole.
static int64_t count_parts(const struct hn_context *ctx, const struct plan *plan) {
    bool able = ctx->parts != NULL;
    for (int k = 0; k < plan->sweep->n_sinks; k++)
        able = able && plan->sweep->sink[k].type->parted;
    const struct hn_cut cut = {.multiplications = (double)plan->dots * (double)plan->sweep->x.cols,
                               .coarse = 1,
                               .rows = plan->sweep->x.rows,
                               .block = plan->block};
    int64_t parts = able ? hn_parts_count(ctx, &cut) : 1;
    return parts > 1 ? parts : 0;
}

static enum hn_code do_parts(struct hn_context *ctx, struct plan *plan) {
    const struct hn_sweep *sweep = plan->sweep;
    struct hn_digest key;
    hn_parts_key(&key, "sweep", &sweep->x, &sweep->y);
    hn_digest_add_int(&key, plan->block);
    for (int k = 0; k < sweep->n_sinks; k++) {
        hn_digest_add_text(&key, sweep->sink[k].type->name);
        hn_digest_add_int(&key, sweep->sink[k].side);
        sweep->sink[k].type->parted->key(sweep->sink[k].self, &key);
    }
    const struct hn_parts_work work = {
        .key = &key, .parts = plan->parts, .data = plan, .compute = sweep_part, .take = take_part};
    return hn_parts_run(ctx, &work);
}

enum hn_code hn_sweep_run(struct hn_context *ctx, struct hn_sweep *sweep) {
    struct plan plan = {.sweep = sweep};
    sweep->n_dot = 0;
    bool good = !make_plan(ctx, sweep, &plan) && !begin_sinks(ctx, &plan);
    plan.parts = good ? count_parts(ctx, &plan) : 0;
    good = good && !(plan.parts > 0 ? do_parts(ctx, &plan) : do_tiles(ctx, &plan)) &&
           !end_sinks(ctx, &plan);
    sweep->n_dot = plan.dots;
    hn_free(ctx, plan.buffer);
    hn_packed_free(ctx, &plan.x);
    hn_packed_free(ctx, &plan.y_alone);
    hn_screen_free(ctx, &plan.screen);
    return good ? HN_OK : hn_failure(ctx);
}
