// SPDX-License-Identifier: GPL-3.0-or-later
// Packing: S is cut into square cells. Threads write, into chunks of a pool made beforehand,
// segments: a cell's number, then for every row of the cell that has entries a mark with the row's
// position in the cell and the positions of its columns, all in 16 bits. So an entry takes little
// more than two bytes where others need twelve: first-touch page faults are expensive, more so on a
// virtual machine.
//
// A pool has space for `capacity` entries however threads share it out, as long as the sweep's
// strips have eight rows or more on average; where it has not, more is made (an overflow). So
// overflows depend on the entries alone.
#include "samplers/gcbs_pairs_private.h"

#include <string.h>

enum {
    CELL_MAX = 512, // rows and columns of a cell, a power of two
    CELL_MIN = 16,
    BAND_BYTES = 1 << 24, // most that a band's table takes
    STRIP_MIN = 8,        // rows, as assumed above
    LINE = 64
};

struct writer {
    uint16_t *next, *end; // capacity in the chunk of this thread
    uint16_t *segment;    // the open one, NULL = none
    int64_t cell_row, cell_col;
    struct hn_close_pair *close, *close_end; // likewise
    int32_t *position;                       // [block + slack] what the filter lets through
    int32_t *unsure;                         // [block + slack] of it, what is below `high`
    float *dense;                            // [block + slack] products of a screened row
    int64_t sure, close_count;               // entries, of both orders
    int64_t stored;                          // sure pairs written
    char pad[LINE];
};

// Words that `capacity` entries take at max: each its own, a mark for every row of a piece (what
// lies in one tile and one cell), and a header for every strip of one.
static int64_t words_for(int64_t capacity, const struct hn_sweep_shape *shape, int64_t cell) {
    int64_t piece = shape->screen ? shape->screen->part : shape->block;
    int64_t pieces = shape->cols / piece + shape->cols / cell + 2;
    int64_t marks = hn_min(capacity, shape->rows * pieces);
    // Rows of a screen's part that lies in several cells go from one to the other.
    bool turns = shape->screen && (cell % piece != 0 || shape->block % piece != 0);
    int64_t strips = turns ? shape->rows * pieces : shape->rows * pieces / STRIP_MIN + pieces;
    int64_t headers = hn_min(capacity, strips);
    return capacity + marks + HEADER * headers;
}

static int64_t choose_cell(int64_t rows, int64_t cols) {
    int64_t cell = CELL_MAX;
    while (cell > CELL_MIN && cell * hn_max(rows, cols) / 8 > BAND_BYTES)
        cell /= 2;
    return cell;
}

static enum hn_code pairs_begin(struct hn_context *ctx, void *self,
                                const struct hn_sweep_shape *shape) {
    struct hn_close_pairs *p = self;
    struct work *work = hn_zalloc(ctx, 1, sizeof *work);
    if (!work)
        return HN_MEMORY;
    p->work = work;
    p->sure = p->close = 0;
    p->overflow = false;
    work->threads = shape->threads;
    work->cell = choose_cell(shape->rows, shape->cols);
    work->shift = __builtin_ctzll((uint64_t)work->cell);
    int64_t max = shape->rows * shape->cols;
    p->capacity = hn_max(0, hn_min(p->capacity, max));
    p->close_capacity = hn_max(0, hn_min(p->close_capacity, max));
    // A row that does not fit the rest of a chunk leaves it unused.
    int64_t filled = CHUNK - 2 * HEADER - 1 - work->cell;
    work->chunks = words_for(p->capacity, shape, work->cell) / filled + shape->threads + 1;
    p->chunks = p->close_capacity / HN_CLOSE_CHUNK + shape->threads + 1;
    int64_t positions = shape->block + HN_SCAN_SLACK;
    void *outer = hn_own(ctx, work);
    bool good = HN_ALLOC_ROWS(ctx, work->pool, work->chunks, CHUNK) &&
                HN_ZALLOC(ctx, work->used, work->chunks) &&
                HN_ALLOC_ROWS(ctx, p->pool, p->chunks, HN_CLOSE_CHUNK) &&
                HN_ZALLOC(ctx, p->used, p->chunks) &&
                HN_ALLOC(ctx, work->position, 2 * shape->threads * positions) &&
                HN_ZALLOC(ctx, work->writer, shape->threads);
    if (good && shape->screen)
        good = HN_ALLOC(ctx, work->limit, shape->rows) &&
               HN_ALLOC(ctx, work->dense, shape->threads * positions);
    hn_own(ctx, outer);
    for (int k = 0; k < shape->threads && good; k++) {
        work->writer[k].position = work->position + 2 * k * positions;
        work->writer[k].unsure = work->writer[k].position + positions;
        work->writer[k].dense = work->limit ? work->dense + k * positions : NULL;
    }
    for (int64_t i = 0; i < shape->rows && good && work->limit; i++)
        work->limit[i] = p->low;
    return good ? HN_OK : HN_MEMORY;
}

static void close_segment(struct writer *w) {
    if (w->segment)
        w->segment[HEADER - 1] = (uint16_t)(w->next - w->segment - HEADER);
    w->segment = NULL;
}

// Notes how far the writer's chunk is filled.
static void close_chunk(struct work *work, struct writer *w) {
    close_segment(w);
    if (!w->end)
        return;
    int64_t chunk = (w->end - work->pool) / CHUNK - 1;
    work->used[chunk] = w->next - (work->pool + chunk * CHUNK);
}

static bool open_chunk(struct work *work, struct writer *w) {
    close_chunk(work, w);
    int64_t chunk = atomic_fetch_add(&work->taken, 1);
    if (chunk >= work->chunks) {
        atomic_store(&work->dry, true);
        w->next = w->end = NULL;
        return false;
    }
    w->next = work->pool + chunk * CHUNK;
    w->end = w->next + CHUNK;
    return true;
}

// Space for a row of n entries in a segment of its cell; false: the pool is dry.
static bool reserve(struct work *work, struct writer *w, int64_t cell_row, int64_t cell_col,
                    int32_t n) {
    bool same = w->segment && w->cell_row == cell_row && w->cell_col == cell_col;
    if (w->end - w->next < n + 1 + HEADER) {
        if (atomic_load(&work->dry) || !open_chunk(work, w))
            return false;
        same = false;
    }
    if (same)
        return true;
    close_segment(w);
    w->segment = w->next;
    w->cell_row = cell_row;
    w->cell_col = cell_col;
    const uint16_t header[HEADER] = {(uint16_t)cell_row, (uint16_t)(cell_row >> 16),
                                     (uint16_t)cell_col, (uint16_t)(cell_col >> 16), 0};
    memcpy(w->next, header, sizeof header);
    w->next += HEADER;
    return true;
}

static void close_close_chunk(struct hn_close_pairs *p, const struct writer *w) {
    if (!w->close_end)
        return;
    int64_t chunk = (w->close_end - p->pool) / HN_CLOSE_CHUNK - 1;
    p->used[chunk] = w->close - (p->pool + chunk * HN_CLOSE_CHUNK);
}

static bool put_close(struct hn_close_pairs *p, struct writer *w, struct hn_close_pair pair) {
    struct work *work = p->work;
    if (w->close == w->close_end) {
        if (atomic_load(&work->dry))
            return false;
        close_close_chunk(p, w);
        int64_t chunk = atomic_fetch_add(&work->close_taken, 1);
        if (chunk >= p->chunks) {
            atomic_store(&work->dry, true);
            w->close = w->close_end = NULL;
            return false;
        }
        w->close = p->pool + chunk * HN_CLOSE_CHUNK;
        w->close_end = w->close + HN_CLOSE_CHUNK;
    }
    *w->close++ = pair;
    return true;
}

// s[j], j in place[n], of row `row` and columns col0 + j, all in one cell.
static bool put_row(struct hn_close_pairs *p, struct writer *w, int64_t row, int64_t col0,
                    const float *s, int32_t n, int weight) {
    struct work *work = p->work;
    int64_t cell_col = (col0 + w->position[0]) >> work->shift;
    if (!reserve(work, w, row >> work->shift, cell_col, n))
        return false;
    uint16_t *mark = w->next++;
    int32_t offset = (int32_t)(col0 - (cell_col << work->shift));
    uint16_t *out = w->next;
    int32_t *unsure = w->unsure;
    const int32_t *position = w->position;
    float high = p->high;
    for (int32_t k = 0; k < n; k++) { // no branch: it would be guessed wrong too often
        int32_t j = position[k];
        bool sure = s[j] >= high;
        *out = (uint16_t)(offset + j);
        out += sure;
        *unsure = j;
        unsure += !sure;
    }
    int32_t close = (int32_t)(unsure - w->unsure);
    w->next = out;
    *mark = (uint16_t)(MARK | (row & (work->cell - 1)));
    if (close == n)
        w->next = mark;
    w->stored += n - close;
    w->sure += weight * (int64_t)(n - close);
    w->close_count += weight * (int64_t)close;
    uint32_t name = (uint32_t)row | (weight == 2 ? HN_PAIR_TWICE : 0);
    for (int32_t k = 0; k < close; k++)
        if (!put_close(p, w,
                       (struct hn_close_pair){name, (int32_t)col0 + w->unsure[k], s[w->unsure[k]]}))
            return false;
    return true;
}

static void take(struct hn_close_pairs *p, const struct hn_tile *tile, int weight, int thread) {
    struct work *work = p->work;
    struct writer *w = &work->writer[thread];
    const struct hn_simd *scan = hn_simd_best();
    for (int32_t from = 0, to; from < tile->cols; from = to) {
        struct hn_tile piece = *tile; // of one column of cells
        to = (int32_t)hn_min(tile->cols,
                             ((tile->col0 + from) / work->cell + 1) * work->cell - tile->col0);
        piece.s += from;
        piece.col0 += from;
        piece.cols = to - from;
        for (int32_t i = 0; i < piece.rows; i++) {
            struct hn_span span[2];
            int spans = hn_tile_spans(&piece, i, true, span);
            const float *s = piece.s + i * piece.stride;
            for (int k = 0; k < spans; k++) {
                int32_t n = scan->filter(s, span[k].from, span[k].to, p->low, w->position);
                if (n > 0 && !put_row(p, w, piece.row0 + i, piece.col0, s, n, weight))
                    return;
            }
        }
    }
}

static void pairs_tile(void *self, const struct hn_tile *tile, int thread) {
    take(self, tile, 1, thread);
}

// A pair's ends may are swapped: of X X^T the products are the same, bit for bit.
static void pairs_both(void *self, void *other, const struct hn_tile *tile, int thread) {
    (void)other;
    take(self, tile, 2, thread);
}

// The products of a row come by cells, as put_row() wants them.
static void pairs_take(void *self, const struct hn_found *f, int thread) {
    struct hn_close_pairs *p = self;
    struct work *work = p->work;
    struct writer *w = &work->writer[thread];
    for (int32_t k = 0; k < f->n;) {
        int32_t of = f->row[k], n = 0;
        int64_t row = f->row0 + of, cell = (f->col0 + f->col[k]) >> work->shift;
        for (; k < f->n && f->row[k] == of && (f->col0 + f->col[k]) >> work->shift == cell; k++) {
            w->position[n] = f->col[k];
            w->dense[f->col[k]] = f->s[k];
            n += f->s[k] >= p->low && f->col0 + f->col[k] != row;
        }
        if (n > 0 && !put_row(p, w, row, f->col0, w->dense, n, f->mirrored ? 2 : 1))
            return;
    }
}

static double pairs_share(const void *self, int64_t rows, int64_t cols) {
    return (double)((const struct hn_close_pairs *)self)->capacity / ((double)rows * (double)cols);
}

static const float *pairs_limits(const void *self) {
    return ((const struct work *)((const struct hn_close_pairs *)self)->work)->limit;
}

static enum hn_code pairs_end(struct hn_context *ctx, void *self) {
    (void)ctx;
    struct hn_close_pairs *p = self;
    struct work *work = p->work;
    for (int k = 0; k < work->threads; k++) {
        struct writer *w = &work->writer[k];
        close_chunk(work, w);
        close_close_chunk(p, w);
        p->sure += w->sure;
        p->close += w->close_count;
        work->stored += w->stored;
    }
    int64_t close = 0;
    for (int64_t c = 0; c < p->chunks; c++)
        close += p->used[c];
    p->overflow =
        atomic_load(&work->dry) || work->stored > p->capacity || close > p->close_capacity;
    return HN_OK;
}

static void pairs_key(const void *self, struct hn_digest *key) {
    const struct hn_close_pairs *p = self;
    hn_digest_add_real(key, (double)p->low);
    hn_digest_add_real(key, (double)p->high);
    hn_digest_add_int(key, p->capacity);
    hn_digest_add_int(key, p->close_capacity);
}

// Header of a part's bytes, before its words and its close pairs.
struct told {
    int64_t words, pairs, sure, close, stored, dry;
};

static struct told tell(struct hn_close_pairs *p) {
    struct work *work = p->work;
    struct told told = {.dry = atomic_load(&work->dry)};
    for (int k = 0; k < work->threads; k++) {
        struct writer *w = &work->writer[k];
        close_chunk(work, w);
        close_close_chunk(p, w);
        told.sure += w->sure;
        told.close += w->close_count;
        told.stored += w->stored;
        w->sure = w->close_count = w->stored = 0;
        w->next = w->end = NULL;
        w->close = w->close_end = NULL;
    }
    for (int64_t c = 0; c < work->chunks; c++)
        told.words += work->used[c];
    for (int64_t c = 0; c < p->chunks; c++)
        told.pairs += p->used[c];
    return told;
}

static enum hn_code pairs_save(struct hn_context *ctx, void *self, struct hn_bytes *out) {
    struct hn_close_pairs *p = self;
    struct work *work = p->work;
    const struct told told = tell(p);
    enum hn_code code = hn_bytes_append(ctx, out, &told, sizeof told);
    for (int64_t c = 0; c < work->chunks && !code; c++) {
        code = hn_bytes_append(ctx, out, work->pool + c * CHUNK,
                               work->used[c] * (int64_t)sizeof *work->pool);
        work->used[c] = 0;
    }
    for (int64_t c = 0; c < p->chunks && !code; c++) {
        code = hn_bytes_append(ctx, out, p->pool + c * HN_CLOSE_CHUNK,
                               p->used[c] * (int64_t)sizeof *p->pool);
        p->used[c] = 0;
    }
    atomic_store(&work->taken, 0);
    atomic_store(&work->close_taken, 0);
    atomic_store(&work->dry, false);
    return code;
}

// Space for one more chunk: parts leave more of them half empty than threads do.
static enum hn_code add_chunks(struct hn_context *ctx, struct hn_close_pairs *p) {
    struct work *work = p->work;
    void *grown;
    if (work->taken == work->chunks) {
        int64_t chunks = 2 * work->chunks;
        if (!(grown = hn_resize(ctx, work->pool, chunks, CHUNK * sizeof *work->pool)))
            return HN_MEMORY;
        work->pool = grown;
        if (!(grown = hn_resize(ctx, work->used, chunks, sizeof *work->used)))
            return HN_MEMORY;
        work->used = grown;
        memset(work->used + work->chunks, 0, (size_t)work->chunks * sizeof *work->used);
        work->chunks = chunks;
    }
    if (work->close_taken == p->chunks) {
        int64_t chunks = 2 * p->chunks;
        if (!(grown = hn_resize(ctx, p->pool, chunks, HN_CLOSE_CHUNK * sizeof *p->pool)))
            return HN_MEMORY;
        p->pool = grown;
        if (!(grown = hn_resize(ctx, p->used, chunks, sizeof *p->used)))
            return HN_MEMORY;
        p->used = grown;
        memset(p->used + p->chunks, 0, (size_t)p->chunks * sizeof *p->used);
        p->chunks = chunks;
    }
    return HN_OK;
}

// A segment goes whole into a chunk, behind those that are there.
static enum hn_code load_segment(struct hn_context *ctx, struct hn_close_pairs *p,
                                 struct hn_cursor *from, int64_t *words) {
    struct work *work = p->work;
    uint16_t header[HEADER];
    if (!hn_cursor_take(from, header, sizeof header))
        return hn_cursor_fail(ctx);
    int64_t length = header[HEADER - 1], size = HEADER + length, last = work->taken - 1;
    if (size > *words || size > CHUNK)
        return hn_cursor_fail(ctx);
    if (last < 0 || work->used[last] + size > CHUNK) {
        if (add_chunks(ctx, p))
            return HN_MEMORY;
        last = work->taken++;
    }
    uint16_t *to = work->pool + last * CHUNK + work->used[last];
    memcpy(to, header, sizeof header);
    if (!hn_cursor_take(from, to + HEADER, length * (int64_t)sizeof *to))
        return hn_cursor_fail(ctx);
    work->used[last] += size;
    *words -= size;
    return HN_OK;
}

static enum hn_code load_close(struct hn_context *ctx, struct hn_close_pairs *p,
                               struct hn_cursor *from, int64_t *pairs) {
    struct work *work = p->work;
    int64_t last = work->close_taken - 1;
    if (last < 0 || p->used[last] == HN_CLOSE_CHUNK) {
        if (add_chunks(ctx, p))
            return HN_MEMORY;
        last = work->close_taken++;
    }
    int64_t n = hn_min(*pairs, HN_CLOSE_CHUNK - p->used[last]);
    struct hn_close_pair *to = p->pool + last * HN_CLOSE_CHUNK + p->used[last];
    if (!hn_cursor_take(from, to, n * (int64_t)sizeof *to))
        return hn_cursor_fail(ctx);
    p->used[last] += n;
    *pairs -= n;
    return HN_OK;
}

static enum hn_code pairs_load(struct hn_context *ctx, void *self, struct hn_cursor *from) {
    struct hn_close_pairs *p = self;
    struct work *work = p->work;
    struct told told;
    if (!hn_cursor_take(from, &told, sizeof told))
        return hn_cursor_fail(ctx);
    p->sure += told.sure;
    p->close += told.close;
    work->stored += told.stored;
    if (told.dry)
        atomic_store(&work->dry, true);
    enum hn_code code = HN_OK;
    while (!code && told.words > 0)
        code = load_segment(ctx, p, from, &told.words);
    while (!code && told.pairs > 0)
        code = load_close(ctx, p, from, &told.pairs);
    return code;
}

static const struct hn_parted pairs_parted = {pairs_key, pairs_save, pairs_load};

void hn_close_pairs_free(struct hn_context *ctx, struct hn_close_pairs *p) {
    hn_free(ctx, p->work); // and what belongs to it
    *p = (struct hn_close_pairs){0};
}

static const struct hn_screened pairs_screened = {
    .share = pairs_share, .limits = pairs_limits, .take = pairs_take};

const struct hn_sink_type hn_close_pairs_sink = {.name = "pairs",
                                                 .begin = pairs_begin,
                                                 .tile = pairs_tile,
                                                 .end = pairs_end,
                                                 .across = pairs_tile,
                                                 .both = pairs_both,
                                                 .screened = &pairs_screened,
                                                 .parted = &pairs_parted};
