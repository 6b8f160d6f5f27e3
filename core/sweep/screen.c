// SPDX-License-Identifier: GPL-3.0-or-later
// The screen of a sweep: rounding, tiles, survivors.
#include "core/sweep/screen_private.h"

#include "core/clones.h"
#include "core/sweep/simd.h"

#include <math.h>
#include <string.h>

enum {
    SLAB = 128, // rows whose hits are found before their products are computed
    PART_BYTES = 1 << 19,
    PART_MIN = 4 * HN_PANEL,
    PAIRS = 512, // that are handed on at a time, and those of one row more
    FOUR = 4
};
struct hn_screen_scratch {
    int32_t *row_start, *row_limit, *col_start, *col_limit; // [block]
    uint32_t *hits;     // [panels of a slab x panels of a part x HN_PANEL]
    uint32_t *any;      // [groups of a part x HN_PANEL]
    int32_t *row, *col; // [PAIRS + part]
    float *s;           // [PAIRS + part + FOUR]
};

// Panels of a part come in groups of as many as a word has bits.
static int64_t groups_of(int64_t panels) { return (panels + HN_PANEL - 1) / HN_PANEL; }

// Columns that are met by all rows of a tile before the next ones, a power of two of them: they
// stay in the second cache.
static int64_t part_size(int64_t d, int64_t block) {
    int64_t part = PART_MIN;
    while (2 * part * d * (int64_t)sizeof(float) <= PART_BYTES)
        part *= 2;
    return hn_min(block, part);
}

static enum hn_code open_scratch(struct hn_context *ctx, struct hn_screen *s) {
    int64_t block = s->block;
    if (!HN_ZALLOC(ctx, s->scratch, ctx->threads))
        return HN_MEMORY;
    void *outer = hn_own(ctx, s->scratch);
    bool good = true;
    for (int t = 0; t < ctx->threads && good; t++) {
        struct hn_screen_scratch *own = &s->scratch[t];
        good = HN_ALLOC(ctx, own->row_start, block) && HN_ALLOC(ctx, own->row_limit, block) &&
               HN_ALLOC(ctx, own->col_start, block) && HN_ALLOC(ctx, own->col_limit, block) &&
               HN_ALLOC(ctx, own->hits, SLAB * hn_panels(s->part)) &&
               HN_ALLOC(ctx, own->any, groups_of(hn_panels(s->part)) * HN_PANEL) &&
               HN_ALLOC(ctx, own->row, PAIRS + s->part) &&
               HN_ALLOC(ctx, own->col, PAIRS + s->part) &&
               HN_ALLOC(ctx, own->s, PAIRS + s->part + FOUR);
    }
    hn_own(ctx, outer);
    return good ? HN_OK : HN_MEMORY;
}

enum hn_code hn_screen_open(struct hn_context *ctx, const struct hn_matrix *x,
                            const struct hn_matrix *y, const struct hn_screen_wish *wish,
                            struct hn_screen *s, bool *good) {
    int two = y->data != x->data || y->rows != x->rows || y->stride != x->stride;
    const struct hn_matrix *const matrix[2] = {x, y};
    *s = (struct hn_screen){.kernel = wish->kernel,
                            .bound = hn_simd_dot_bound(x->cols),
                            .block = wish->block,
                            .part = part_size(x->cols, wish->block),
                            .x = &s->own[0],
                            .y = &s->own[two]};
    *good = false;
    enum hn_code code = hn_screen_round(ctx, s, matrix, two + 1, wish, good);
    if (!code && *good && !wish->anyway)
        code = hn_screen_pays(ctx, s, wish->share, good);
    if (!code && *good)
        code = open_scratch(ctx, s);
    if (code || !*good)
        hn_screen_free(ctx, s);
    return code;
}

void hn_screen_free(struct hn_context *ctx, struct hn_screen *s) {
    for (int m = 0; m < 2; m++) {
        if (s->own[m].left != s->own[m].columns)
            hn_free(ctx, s->own[m].left);
        hn_free(ctx, s->own[m].columns);
        hn_free(ctx, s->own[m].term);
        hn_free(ctx, s->own[m].id);
        hn_free(ctx, s->own[m].copy);
    }
    hn_free(ctx, s->scratch);
    *s = (struct hn_screen){0};
}

// The least sums, slack included, that products of at least limit[n] can have; none where there is
// no limit.
HN_CLONES
static void round_limits(const struct hn_screen *s, const float *limit, int64_t n, int32_t *out) {
    double off = s->bound + HN_SCREEN_MARGIN, inverse = 1 / s->unit;
    for (int64_t i = 0; i < n; i++) {
        double min = floor(((double)limit[i] - off) * inverse);
        min = min < INT32_MIN ? INT32_MIN : min > INT32_MAX ? INT32_MAX : min;
        out[i] = (int32_t)min;
    }
}

// Starts and limits of n rows, used as rows or as columns, and of the rows that fill their last
// panel.
static struct hn_screen_edge make_edge(const struct hn_screen *s, const struct hn_screen_rows *rows,
                                       int64_t from, int64_t n, bool columns, const float *limit,
                                       int32_t *start, int32_t *min) {
    int64_t whole = hn_panels(n) * HN_PANEL;
    for (int64_t i = 0; i < whole; i++) {
        const struct hn_screen_term *t = &rows->term[from + i];
        start[i] = (int32_t)((uint32_t)(t->middle + t->slack) - (columns ? 0 : (uint32_t)t->raise));
    }
    if (limit)
        round_limits(s, limit, n, min);
    for (int64_t i = limit ? n : 0; i < whole; i++)
        min[i] = INT32_MAX;
    return (struct hn_screen_edge){start, min};
}

static struct hn_screen_edge edge_from(struct hn_screen_edge edge, int64_t from) {
    return (struct hn_screen_edge){edge.start + from, edge.limit + from};
}

// Bit q of any[g * HN_PANEL + i]: row i of a panel has hits in panel g * HN_PANEL + q of columns.
HN_CLONES
static void mark_hits(const uint32_t *hits, int64_t panels, uint32_t *any) {
    memset(any, 0, (size_t)groups_of(panels) * HN_PANEL * sizeof *any);
    for (int64_t p = 0; p < panels; p++) {
        uint32_t *group = any + p / HN_PANEL * HN_PANEL, bit = 1U << p % HN_PANEL;
        for (int64_t i = 0; i < HN_PANEL; i++)
            group[i] |= hits[p * HN_PANEL + i] ? bit : 0;
    }
}

// Columns of the bits of row i of a panel, ascending; their number.
static int32_t list_columns(const uint32_t *hits, const uint32_t *any, int64_t i, int64_t cols,
                            int32_t *col) {
    int32_t n = 0;
    for (int64_t g = 0; g < groups_of(hn_panels(cols)); g++)
        for (uint32_t left = any[g * HN_PANEL + i]; left; left &= left - 1) {
            int64_t panel = g * HN_PANEL + __builtin_ctz(left);
            uint32_t bits = hits[panel * HN_PANEL + i];
            if (cols - panel * HN_PANEL < HN_PANEL)
                bits &= (1U << (cols - panel * HN_PANEL)) - 1;
            for (; bits; bits &= bits - 1)
                col[n++] = (int32_t)(panel * HN_PANEL) + __builtin_ctz(bits);
        }
    return n;
}

// s[found->n] of the pairs of rows that were found.
static void multiply(const struct hn_screen *screen, const struct hn_found *found, float *s) {
    int32_t n = found->n;
    const struct hn_simd *scan = hn_simd_best();
    for (int32_t k = 0; k < n; k += FOUR) {
        const float *left[FOUR], *right[FOUR];
        for (int l = 0; l < FOUR; l++) {
            int32_t pair = k + l < n ? k + l : n - 1;
            left[l] = hn_screen_row(screen->x, found->row0 + found->row[pair]);
            right[l] = hn_screen_row(screen->y, found->col0 + found->col[pair]);
        }
        scan->dot_4(left, right, screen->x->rows.cols, s + k);
    }
}

// Some columns of a tile, and what all rows and these bring along.
struct part {
    struct hn_screen_tile tile;
    struct hn_screen_edge x, y;
};

// Hits of a slab, from row `from` of the tile on, for every panel of columns.
static void find_slab(const struct hn_screen *s, const struct part *part, int64_t from,
                      uint32_t *hits) {
    const struct hn_screen_tile *tile = &part->tile;
    const int8_t *a = hn_screen_panel(s, s->x->left, tile->row0 + from);
    const int8_t *b = hn_screen_panel(s, s->y->columns, tile->col0);
    int64_t panel = s->words * HN_WORDS_BYTES, across = hn_panels(tile->cols);
    int64_t down = hn_panels(hn_min(SLAB, tile->rows - from));
    if (s->kernel->enter)
        s->kernel->enter();
    for (int64_t q = 0; q < across; q++)
        for (int64_t p = 0; p < down; p++)
            s->kernel->hits(a + p * panel, b + q * panel, s->words,
                            edge_from(part->x, from + p * HN_PANEL),
                            edge_from(part->y, q * HN_PANEL), hits + (p * across + q) * HN_PANEL);
    if (s->kernel->leave)
        s->kernel->leave();
}

static void find_part(const struct hn_screen *s, const struct part *part,
                      void (*take)(void *self, const struct hn_found *found, int thread),
                      void *self, int thread) {
    const struct hn_screen_scratch *own = &s->scratch[thread];
    const struct hn_screen_tile *tile = &part->tile;
    struct hn_found found = {tile->row0, tile->col0, own->row,
                             own->col,   own->s,     .mirrored = tile->col_limit != NULL};
    int64_t panels = hn_panels(tile->cols);
    for (int64_t i = 0; i < tile->rows; i++) {
        const uint32_t *hits = own->hits + i % SLAB / HN_PANEL * panels * HN_PANEL;
        if (i % SLAB == 0)
            find_slab(s, part, i, own->hits);
        if (i % HN_PANEL == 0)
            mark_hits(hits, panels, own->any);
        int32_t n = list_columns(hits, own->any, i % HN_PANEL, tile->cols, own->col + found.n);
        for (int32_t end = found.n + n; found.n < end; found.n++)
            own->row[found.n] = (int32_t)i;
        if (found.n < PAIRS && i + 1 < tile->rows)
            continue;
        multiply(s, &found, own->s);
        take(self, &found, thread);
        found.n = 0;
    }
}

void hn_screen_find(const struct hn_screen *s, const struct hn_screen_tile *tile,
                    void (*take)(void *self, const struct hn_found *found, int thread), void *self,
                    int thread) {
    const struct hn_screen_scratch *own = &s->scratch[thread];
    struct hn_screen_edge x = make_edge(s, s->x, tile->row0, tile->rows, false, tile->row_limit,
                                        own->row_start, own->row_limit);
    struct hn_screen_edge y = make_edge(s, s->y, tile->col0, tile->cols, true, tile->col_limit,
                                        own->col_start, own->col_limit);
    for (int64_t from = 0; from < tile->cols; from += s->part) {
        struct part part = {*tile, x, edge_from(y, from)};
        part.tile.col0 += from;
        part.tile.cols = hn_min(s->part, tile->cols - from);
        find_part(s, &part, take, self, thread);
    }
}

void hn_screen_multiply_row(const struct hn_screen *s, int64_t row, int64_t col0, int64_t cols,
                            float *out) {
    const float *own = hn_screen_row(s->x, row);
    for (int64_t j = 0; j < cols; j += FOUR) {
        const float *const rows[FOUR] = {own, own, own, own}, *column[FOUR];
        for (int64_t l = 0; l < FOUR; l++)
            column[l] = hn_screen_row(s->y, col0 + hn_min(j + l, cols - 1));
        hn_simd_best()->dot_4(rows, column, s->y->rows.cols, out + j);
    }
}
