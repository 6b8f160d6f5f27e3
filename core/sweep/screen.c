// The screen of a sweep: rounding, tiles, survivors.
#include "core/sweep/screen_private.h"

#include "core/clones.h"
#include "core/sweep/simd.h"

#include <math.h>
#include <string.h>

enum {
    SLAB = 128, // rows whose hits are found before their products are computed
    PART_BYTES = 1 << 19,
    PART_LEAST = 4 * HN_PANEL,
    FOUR = 4,
    LINE = 16,       // floats of a cache line
    SECOND_CACHE = 2 // as __builtin_prefetch() counts
};
struct hn_screen_scratch {
    int32_t *row_start, *row_limit, *col_start, *col_limit; // [block]
    uint32_t *hits; // [panels of a slab x panels of a part x HN_PANEL]
    int32_t *at;    // [part + FOUR]
    float *s;       // [part + FOUR]
};

// Columns that are met by all rows of a tile before the next ones, a power of two of them: they
// stay in the second cache.
static int64_t part_size(int64_t d, int64_t block) {
    int64_t part = PART_LEAST;
    while (2 * part * d * (int64_t)sizeof(float) <= PART_BYTES)
        part *= 2;
    return hn_min(block, part);
}

static enum hn_code open_scratch(struct hn_context *ctx, struct hn_screen *s) {
    int64_t block = s->block;
    if (!(s->scratch = hn_zalloc(ctx, ctx->threads, sizeof *s->scratch)))
        return HN_MEMORY;
    void *outer = hn_own(ctx, s->scratch);
    bool good = true;
    for (int t = 0; t < ctx->threads && good; t++) {
        struct hn_screen_scratch *own = &s->scratch[t];
        good = (own->row_start = hn_alloc(ctx, block, sizeof *own->row_start)) &&
               (own->row_limit = hn_alloc(ctx, block, sizeof *own->row_limit)) &&
               (own->col_start = hn_alloc(ctx, block, sizeof *own->col_start)) &&
               (own->col_limit = hn_alloc(ctx, block, sizeof *own->col_limit)) &&
               (own->hits = hn_alloc(ctx, SLAB * hn_panels(s->part), sizeof *own->hits)) &&
               (own->at = hn_alloc(ctx, s->part + FOUR, sizeof *own->at)) &&
               (own->s = hn_alloc(ctx, s->part + FOUR, sizeof *own->s));
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
        hn_free(ctx, s->own[m].panels);
        hn_free(ctx, s->own[m].term);
        hn_free(ctx, s->own[m].id);
        hn_free(ctx, s->own[m].copy);
    }
    hn_free(ctx, s->scratch);
    *s = (struct hn_screen){0};
}

static const int8_t *panel_of(const struct hn_screen *s, const struct hn_screen_rows *rows,
                              int64_t place) {
    return rows->panels + place / HN_PANEL * s->words * HN_WORDS_BYTES;
}

// The least sums, slack included, that products of at least limit[n] can have; none where there is
// no limit.
HN_CLONES
static void round_limits(const struct hn_screen *s, const float *limit, int64_t n, int32_t *out) {
    double off = s->bound + HN_SCREEN_MARGIN, inverse = 1 / s->unit;
    for (int64_t i = 0; i < n; i++) {
        double least = floor(((double)limit[i] - off) * inverse);
        least = least < INT32_MIN ? INT32_MIN : least > INT32_MAX ? INT32_MAX : least;
        out[i] = (int32_t)least;
    }
}

// What n rows bring along, as rows or as columns, and those that fill up their last panel.
static struct hn_screen_edge make_edge(const struct hn_screen *s, const struct hn_screen_rows *rows,
                                       int64_t from, int64_t n, bool columns, const float *limit,
                                       int32_t *start, int32_t *least) {
    int64_t whole = hn_panels(n) * HN_PANEL;
    for (int64_t i = 0; i < whole; i++) {
        const struct hn_screen_term *t = &rows->term[from + i];
        start[i] = (int32_t)((uint32_t)(t->middle + t->slack) - (columns ? 0 : (uint32_t)t->raise));
    }
    if (limit)
        round_limits(s, limit, n, least);
    for (int64_t i = limit ? n : 0; i < whole; i++)
        least[i] = INT32_MAX;
    return (struct hn_screen_edge){start, least};
}

static struct hn_screen_edge edge_from(struct hn_screen_edge edge, int64_t from) {
    return (struct hn_screen_edge){edge.start + from, edge.limit + from};
}

// Places of a row's bits among the tile's columns; their number. hits: of the row in the first
// panel of columns.
static int32_t list_hits(const uint32_t *hits, int64_t cols, int32_t *at) {
    int32_t n = 0;
    for (int64_t j = 0; j < cols; j += HN_PANEL, hits += HN_PANEL) {
        uint32_t bits = *hits;
        if (cols - j < HN_PANEL)
            bits &= (1U << (cols - j)) - 1;
        for (; bits; bits &= bits - 1)
            at[n++] = (int32_t)j + __builtin_ctz(bits);
    }
    return n;
}

// s[n] of row x and the rows at places col0 + at[n]; room for FOUR more.
static void multiply(const struct hn_screen_rows *y, const float *x, int64_t col0, int32_t *at,
                     int32_t n, float *s) {
    const struct hn_simd *scan = hn_simd_best();
    for (int k = 0; k < FOUR; k++)
        at[n + k] = at[0];
    for (int32_t k = 0; k < n; k += FOUR) {
        const float *row[FOUR];
        for (int l = 0; l < FOUR; l++)
            row[l] = hn_row(&y->rows, col0 + at[k + l]);
        scan->dot_4(x, row, y->rows.cols, s + k);
    }
}

// Share `part` of `parts` of the rows at places from .. from + n: floats that are needed soon.
static void fetch(const struct hn_screen_rows *rows, int64_t from, int64_t n, int64_t part,
                  int64_t parts) {
    for (int64_t i = n * part / parts; i < n * (part + 1) / parts; i++) {
        const float *row = hn_row(&rows->rows, from + i);
        for (int64_t k = 0; k < rows->rows.cols; k += LINE)
            __builtin_prefetch(row + k, 0, SECOND_CACHE);
    }
}

// Some columns of a tile, and what all rows and these bring along.
struct part {
    struct hn_screen_tile tile;
    struct hn_screen_edge x, y;
};

// Hits of a slab, from row `from` of the tile on, for every panel of columns. Rows are fetched
// meanwhile, as products of bytes leave the memory idle; columns by the first slab.
static void find_slab(const struct hn_screen *s, const struct part *part, int64_t from,
                      uint32_t *hits) {
    const struct hn_screen_tile *tile = &part->tile;
    const int8_t *a = panel_of(s, s->x, tile->row0 + from), *b = panel_of(s, s->y, tile->col0);
    int64_t rows = hn_min(SLAB, tile->rows - from), panel = s->words * HN_WORDS_BYTES, done = 0;
    int64_t down = hn_panels(rows), across = hn_panels(tile->cols);
    for (int64_t q = 0; q < across; q++)
        for (int64_t p = 0; p < down; p++, done++) {
            fetch(s->x, tile->row0 + from, rows, done, down * across);
            if (from == 0)
                fetch(s->y, tile->col0, tile->cols, done, down * across);
            s->kernel->hits(a + p * panel, b + q * panel, s->words,
                            edge_from(part->x, from + p * HN_PANEL),
                            edge_from(part->y, q * HN_PANEL), hits + (p * across + q) * HN_PANEL);
        }
}

static void find_part(const struct hn_screen *s, const struct part *part,
                      void (*take)(void *self, const struct hn_found *found, int thread),
                      void *self, int thread) {
    const struct hn_screen_scratch *own = &s->scratch[thread];
    const struct hn_screen_tile *tile = &part->tile;
    struct hn_found found = {
        .col0 = tile->col0, .at = own->at, .s = own->s, .mirrored = tile->col_limit != NULL};
    int64_t panels = hn_panels(tile->cols);
    for (int64_t i = 0; i < tile->rows; i++) {
        if (i % SLAB == 0)
            find_slab(s, part, i, own->hits);
        const uint32_t *hits = own->hits + i % SLAB / HN_PANEL * panels * HN_PANEL + i % HN_PANEL;
        found.n = list_hits(hits, tile->cols, own->at);
        if (found.n == 0)
            continue;
        found.row = tile->row0 + i;
        multiply(s->y, hn_row(&s->x->rows, found.row), tile->col0, own->at, found.n, own->s);
        take(self, &found, thread);
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
    for (int64_t j = 0; j < cols; j += FOUR) {
        const float *column[FOUR];
        for (int64_t l = 0; l < FOUR; l++)
            column[l] = hn_row(&s->y->rows, col0 + hn_min(j + l, cols - 1));
        hn_simd_best()->dot_4(hn_row(&s->x->rows, row), column, s->y->rows.cols, out + j);
    }
}

void hn_screen_guess(const struct hn_screen *s, int64_t row0, int64_t col0, float *out,
                     int64_t stride) {
    _Alignas(64) int32_t row[HN_PANEL], col[HN_PANEL], sum[HN_PANEL * HN_PANEL];
    for (int64_t i = 0; i < HN_PANEL; i++) {
        const struct hn_screen_term *t = &s->x->term[row0 + i];
        row[i] = (int32_t)((uint32_t)t->middle - (uint32_t)t->raise);
        col[i] = s->y->term[col0 + i].middle;
    }
    s->kernel->sums(panel_of(s, s->x, row0), panel_of(s, s->y, col0), s->words,
                    (struct hn_screen_edge){row, row}, (struct hn_screen_edge){col, col}, sum,
                    HN_PANEL);
    for (int64_t i = 0; i < HN_PANEL; i++)
        for (int64_t j = 0; j < HN_PANEL; j++)
            out[i * stride + j] = (float)sum[i * HN_PANEL + j] * (float)s->unit;
}
