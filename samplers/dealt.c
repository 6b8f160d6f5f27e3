// SPDX-License-Identifier: GPL-3.0-or-later
// The proximity graph with `dealt` candidates: BS algorithm 2 as matrix products.
//
// A random permutation cuts the items into tiles of b rows (sizes differ by one at most). The rows
// of a tile share a pool of M items, so that its inner products are one small matrix product on
// gathered rows. Pools are dealt one after the other from a deck: a random permutation of all
// items, shuffled anew when it is used up. An item that is in the pool already (two decks meet in
// it) stays in the deck for the next pool. So every item is in floor or ceil of M T / N of the T
// pools. A row whose own item is in its pool takes a spare instead, drawn from the items outside
// the pool: each row chooses from exactly M others.
//
// Distribution: the deal treats all items alike and is independent of the tiles, so that the
// candidates of any one row are a uniformly random set of M others, as with `independent` ones:
// ranks of its neighbours are negative hypergeometric. What differs from BS is dependence between
// rows: rows of a tile share their candidates, pools that follow each other in a deck are disjoint.
//
// Streams: (seed, "proximity.tiles", step, 0, 0) shuffles the rows, (seed, "proximity.deal", step,
// 0, 0) deals the pools, in order; so neither depends on threads.
#include "core/bitset.h"
#include "core/parts.h"
#include "core/sweep/blas.h"
#include "core/sweep/select.h"
#include "samplers/proximity.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    GROUP = 64,  // tiles dealt at a time: their pools wait in memory
    BLOCK = 128, // rows of a matrix product, at most
    PANEL = 256, // columns of a matrix product
    AHEAD = 12,  // rows fetched ahead
    LINE = 16    // floats of a cache line
};

struct deck {
    struct hn_stream stream;
    int64_t n, dealt; // items; of which the first so many are dealt
    int32_t *item;    // [n]
    uint64_t *marks;  // [hn_bitset_words(n)] what the pool holds; clear between pools
    int64_t draws;
};

// A thread's own.
struct scratch {
    uint64_t *marks; // [hn_bitset_words(n)] rows of a block; clear between blocks
    int32_t *self;   // [BLOCK] position of a row's own item in its pool, -1: not in it
    float *rows;     // [BLOCK x d]
    float *panel;    // [PANEL x d]
    float *score;    // [block x stride]
    struct hn_select_scratch select; // [m]
};

struct build {
    const struct hn_matrix *x;
    const struct hn_proximity *spec;
    struct hn_graph *out;
    double bound;
    int64_t tiles;  // number of tiles
    int64_t stride; // floats from row to row of the scores
    int32_t *order; // [n] items by tile
    int32_t *pool;  // [GROUP x (m + 1)] the spare comes last
    struct deck deck;
    struct scratch *scratch; // [threads]
    int threads;
    int64_t part, parts; // which tiles are built: every one where parts = 1
};

static bool scratch_open(struct hn_context *ctx, const struct build *b, struct scratch *s) {
    int64_t d = b->x->cols, block = hn_min(BLOCK, b->spec->tile);
    return HN_ZALLOC(ctx, s->marks, hn_bitset_words(b->x->rows)) && HN_ALLOC(ctx, s->self, block) &&
           HN_ALLOC_ROWS(ctx, s->rows, d, block) && HN_ALLOC_ROWS(ctx, s->panel, d, PANEL) &&
           HN_ALLOC_ROWS(ctx, s->score, b->stride, block) &&
           hn_select_scratch_open(ctx, b->spec->m, &s->select) == HN_OK;
}

static enum hn_code build_open(struct hn_context *ctx, struct build *b) {
    int64_t n = b->x->rows, m = b->spec->m;
    b->threads = ctx->threads;
    b->bound = hn_dot_bound(b->x->cols);
    b->tiles = (n - 1) / b->spec->tile + 1;
    b->stride = (m + 1 + LINE - 1) / LINE * LINE;
    b->deck.n = n;
    bool good = HN_ALLOC(ctx, b->order, n) && HN_ALLOC_ROWS(ctx, b->pool, m + 1, GROUP) &&
                HN_ALLOC(ctx, b->deck.item, n) &&
                HN_ZALLOC(ctx, b->deck.marks, hn_bitset_words(n)) &&
                HN_ZALLOC(ctx, b->scratch, b->threads);
    for (int i = 0; i < b->threads && good; i++)
        good = scratch_open(ctx, b, &b->scratch[i]);
    return good ? HN_OK : ctx->code;
}

static void shuffle_tiles(struct build *b) {
    hn_permute(b->spec->seed, "proximity.tiles", b->spec->built_index, 0, 0, b->order, b->x->rows);
    for (int64_t i = 0; i < b->x->rows; i++)
        b->deck.item[i] = (int32_t)i;
    hn_stream_open(&b->deck.stream, b->spec->seed, "proximity.deal", b->spec->built_index, 0, 0);
    b->deck.dealt = b->x->rows;
    b->deck.draws = 0;
}

// A random item of item[from .. n) that the pool does not hold yet; its position.
static int64_t draw_new(struct deck *deck, int64_t from) {
    int64_t at;
    do {
        at = from + hn_stream_below(&deck->stream, (uint32_t)(deck->n - from));
        deck->draws++;
    } while (hn_bitset_has(deck->marks, deck->item[at]));
    return at;
}

// pool[m + 1]: m distinct items off the deck, and a spare that stays in it. Taking a random one of
// the rest is a shuffle that is done as far as it is needed. m < n - 1, so that there always is
// one: a pool meets two decks at most.
static void deal_pool(struct deck *deck, int64_t m, int32_t *pool) {
    for (int64_t i = 0; i < m; i++) {
        if (deck->dealt == deck->n)
            deck->dealt = 0;
        int64_t at = draw_new(deck, deck->dealt);
        pool[i] = deck->item[at];
        deck->item[at] = deck->item[deck->dealt];
        deck->item[deck->dealt++] = pool[i];
        hn_bitset_add(deck->marks, pool[i]);
    }
    pool[m] = deck->item[draw_new(deck, 0)];
    for (int64_t i = 0; i < m; i++)
        hn_bitset_remove(deck->marks, pool[i]);
}

static void copy_rows(const struct hn_matrix *x, const int32_t *id, int64_t count, float *to) {
    size_t row = (size_t)x->cols * sizeof *to;
    for (int64_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            for (int64_t k = 0; k < x->cols; k += LINE)
                __builtin_prefetch(hn_row(x, id[i + AHEAD]) + k);
        memcpy(to + i * x->cols, hn_row(x, id[i]), row);
    }
}

// score[count x stride]: inner products of rows of a tile with its pool.
static void score_block(const struct build *b, const int32_t *row, int64_t count,
                        const int32_t *pool, struct scratch *s) {
    const struct hn_matrix *x = b->x;
    copy_rows(x, row, count, s->rows);
    for (int64_t from = 0; from <= b->spec->m; from += PANEL) {
        int64_t columns = hn_min(PANEL, b->spec->m + 1 - from);
        copy_rows(x, pool + from, columns, s->panel);
        hn_gemm_nt(s->rows, x->cols, s->panel, x->cols, count, columns, x->cols, s->score + from,
                   b->stride);
    }
}

// self[count]: where the pool holds the rows' own items.
static void find_selves(const int32_t *row, int64_t count, const int32_t *pool, int64_t m,
                        struct scratch *s) {
    for (int64_t r = 0; r < count; r++) {
        hn_bitset_add(s->marks, row[r]);
        s->self[r] = -1;
    }
    for (int64_t i = 0; i < m; i++) {
        if (!hn_bitset_has(s->marks, pool[i]))
            continue;
        int64_t r = 0;
        while (row[r] != pool[i])
            r++;
        s->self[r] = (int32_t)i;
    }
    for (int64_t r = 0; r < count; r++)
        hn_bitset_remove(s->marks, row[r]);
}

// target[k]: the neighbours of item v, from score[m] of its candidates pool[m].
static void choose_neighbours(const struct build *b, int32_t v, const float *score,
                              const int32_t *pool, struct scratch *s, int32_t *target) {
    int64_t k = hn_select_floats(score, pool, b->spec->m, b->spec->k, -INFINITY, b->bound,
                                 hn_row(b->x, v), b->x, false, &s->select);
    for (int64_t i = 0; i < k; i++)
        target[i] = s->select.scored[i].id;
}

static void swap_ids(int32_t *a, int32_t *b) {
    int32_t t = *a;
    *a = *b;
    *b = t;
}

// Rows of one tile, at most BLOCK of them.
static void build_block(const struct build *b, const int32_t *row, int64_t count, int32_t *pool,
                        struct scratch *s) {
    int64_t m = b->spec->m;
    score_block(b, row, count, pool, s);
    find_selves(row, count, pool, m, s);
    for (int64_t r = 0; r < count; r++) {
        float *score = s->score + r * b->stride;
        int32_t self = s->self[r];
        if (self >= 0) { // the spare in its place
            score[self] = score[m];
            swap_ids(&pool[self], &pool[m]);
        }
        choose_neighbours(b, row[r], score, pool, s, b->out->target + b->out->start[row[r]]);
        if (self >= 0)
            swap_ids(&pool[self], &pool[m]);
    }
}

static int64_t tile_from(const struct build *b, int64_t tile) {
    return tile * b->x->rows / b->tiles;
}

static void build_tile(const struct build *b, int64_t tile, int32_t *pool, struct scratch *s) {
    int64_t from = tile_from(b, tile), to = tile_from(b, tile + 1);
    for (; from < to; from += BLOCK)
        build_block(b, b->order + from, hn_min(BLOCK, to - from), pool, s);
}

static bool in_part(const struct build *b, int64_t tile) {
    return tile * b->parts / b->tiles == b->part;
}

// Pools are dealt for all tiles: the deck goes from one to the next.
static enum hn_code build_tiles(struct hn_context *ctx, struct build *b) {
    int64_t m = b->spec->m;
    shuffle_tiles(b);
    for (int64_t first = 0; first < b->tiles; first += GROUP) {
        int64_t count = hn_min(GROUP, b->tiles - first);
        if (hn_check_stop(ctx))
            return ctx->code;
        for (int64_t t = 0; t < count; t++)
            deal_pool(&b->deck, m, b->pool + t * (m + 1));
#pragma omp parallel for num_threads(b->threads) schedule(dynamic)
        for (int64_t t = 0; t < count; t++)
            if (in_part(b, first + t))
                build_tile(b, first + t, b->pool + t * (m + 1), &b->scratch[omp_get_thread_num()]);
    }
    return HN_OK;
}

// Rows of the permutation that are a part's.
static void part_rows(const struct build *b, int64_t part, int64_t range[2]) {
    int64_t tile = 0;
    while (tile < b->tiles && tile * b->parts / b->tiles < part)
        tile++;
    range[0] = tile_from(b, tile);
    while (tile < b->tiles && tile * b->parts / b->tiles == part)
        tile++;
    range[1] = tile_from(b, tile);
}

static enum hn_code compute_part(struct hn_context *ctx, void *data, int64_t part,
                                 struct hn_bytes *found) {
    struct build *b = data;
    int64_t range[2];
    b->part = part;
    enum hn_code code = build_tiles(ctx, b);
    part_rows(b, part, range);
    for (int64_t r = range[0]; r < range[1] && !code; r++)
        code = hn_bytes_append(ctx, found, b->out->target + b->out->start[b->order[r]],
                               b->spec->k * (int64_t)sizeof(int32_t));
    return code;
}

static enum hn_code take_part(struct hn_context *ctx, void *data, int64_t part,
                              struct hn_cursor *found) {
    const struct build *b = data;
    int64_t range[2];
    part_rows(b, part, range);
    for (int64_t r = range[0]; r < range[1]; r++)
        if (!hn_cursor_take(found, b->out->target + b->out->start[b->order[r]],
                            b->spec->k * (int64_t)sizeof(int32_t)))
            return hn_cursor_fail(ctx);
    return HN_OK;
}

static enum hn_code build_all(struct hn_context *ctx, struct build *b) {
    double products = (double)b->x->rows * (double)(b->spec->m + 1) * (double)b->x->cols;
    int64_t tile = hn_max(1, b->x->rows / hn_max(1, b->tiles));
    const struct hn_cut cut = {
        .multiplications = products, .coarse = 1, .dealt = true, .rows = b->x->rows, .block = tile};
    b->parts = hn_min(hn_parts_count(ctx, &cut), b->tiles);
    if (b->parts == 1)
        return build_tiles(ctx, b);
    const int64_t number[] = {b->spec->m, b->spec->k, b->spec->tile, (int64_t)b->spec->seed,
                              b->spec->built_index};
    struct hn_digest key;
    hn_parts_key(&key, "dealt", b->x, b->x);
    hn_digest_add_ints(&key, number, sizeof number / sizeof *number);
    const struct hn_parts_work work = {
        .key = &key, .parts = b->parts, .data = b, .compute = compute_part, .take = take_part};
    shuffle_tiles(b); // parts are by its order, in any process
    if (hn_parts_run(ctx, &work))
        return ctx->code;
    b->part = HN_PARTS_NONE; // the draws of all pools are counted
    return build_tiles(ctx, b);
}

static void count_work(const struct build *b, struct hn_work *work) {
    int64_t row = b->x->cols * (int64_t)sizeof(float), pooled = b->tiles * (b->spec->m + 1);
    work->dot += b->x->rows * (b->spec->m + 1);
    work->draw += b->x->rows - 1 + b->deck.draws;
    work->bytes += (b->x->rows + pooled) * row;
}

enum hn_code hn_proximity_deal(struct hn_context *ctx, const struct hn_matrix *x,
                               const struct hn_proximity *spec, struct hn_work *work,
                               struct hn_graph *out) {
    struct build build = {.x = x, .spec = spec, .out = out};
    HN_SCOPE(ctx);
    if (build_open(ctx, &build) || build_all(ctx, &build))
        return ctx->code;
    count_work(&build, work);
    return HN_OK;
}
